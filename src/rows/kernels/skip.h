/* Exact skipping: rows whose label cannot have changed are not scored.
 *
 * When a row is scored, its cluster has a lead: the difference between the second least sum and the least.
 * If the scores change, the lead can shrink by no more than the sum, over the attributes, of the largest
 * difference between the changes of two clusters' scores for one value. While the accumulated bound is
 * below the lead, the row keeps its label. */
#pragma once

#include "plan.h"

typedef struct cofi_skip {
    cofi_blocks own;
    const cofi_cells *rows;
    uint16_t *key;  /* per row: lead plus `moved` when it was scored, in `unit`; NULL: never skip */
    int64_t *value; /* the scores of the previous pass, with base and scale; entries as in cofi_scores */
    int64_t *base;
    uint32_t *same_as; /* per flat id */
    double scale;
    double moved;  /* upper bound of how much a lead can have shrunk since the keys were last reset */
    double unit;   /* one unit of the keys, in the scores' unit */
    uint16_t need; /* a row with a greater key keeps its label without scoring */
    bool keeps;    /* this pass stores keys */
    bool valid;    /* every row has a key */
} cofi_skip;

/* Whether skipping saves more time than it costs. If not, every pass scores all rows. */
bool cofi_skip_saves_time(const cofi_cells *rows, uint32_t k);
cof_status cofi_skip_open(const cof_env *env, const cofi_cells *rows, uint32_t k, cofi_skip *skip);
void cofi_skip_close(cofi_skip *skip); /* allowed after a failed open; no row is skipped afterwards */
/* call it when labels changed by other means: the next pass scores all rows */
void cofi_skip_forget(cofi_skip *skip);
/* Call it before every pass that stores keys; sets the plan's parameters of the keys. */
void cofi_skip_advance(cofi_skip *skip, cofi_plan *plan);
