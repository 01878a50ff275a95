/* Rows that need no look: exact skipping.
 *
 * When a row is scored, its cluster leads by some amount. From one table of scores to the next that lead can
 * shrink by no more than the sum, over the attributes, of how differently any value's scores moved for any
 * two clusters. As long as these sums have not used the lead up, the row's label is the same, unread. */
#ifndef COFI_SKIP_H
#define COFI_SKIP_H

#include "plan.h"

typedef struct cofi_skip {
    cof_env env;
    const cofi_cells *rows;
    uint16_t *key;  /* per row: its lead when it was scored, plus `moved` then, in `unit`; NULL: never skip */
    int64_t *value; /* the last scores, with base and scale */
    int64_t *base;
    double scale;
    double moved;  /* how much leads can have shrunk since the keys began, added up */
    double unit;   /* of the keys, in the scores' unit: their range is that of the leads, and room to move */
    uint16_t need; /* a row with a greater key keeps its label */
    bool keeps;    /* this pass leaves keys */
    bool valid;    /* every row has a key */
} cofi_skip;

/* Is the bookkeeping cheaper than what it saves? Where it is not, rows are all scored. */
bool cofi_skip_pays(const cofi_cells *rows, uint32_t k);
cof_status cofi_skip_open(const cof_env *env, const cofi_cells *rows, uint32_t k, cofi_skip *skip);
void cofi_skip_close(cofi_skip *skip);  /* no row is skipped from now on */
void cofi_skip_forget(cofi_skip *skip); /* labels changed by other means: all rows must be scored */
/* Before every pass that leaves keys; tells the plan how. */
void cofi_skip_advance(cofi_skip *skip, cofi_plan *plan);

#endif
