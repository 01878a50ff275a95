/* Exact skipping: rows whose label cannot have changed are not scored.
 *
 * A row that is scored has a lead: the difference between the second least sum and the least. If the scores change, the lead
 * shrinks by no more than the sum, over the attributes, of the largest difference between the changes of two clusters' scores
 * for one value. While what was added up since then is below the lead, the row keeps its label.
 *
 * A pass that scores most rows, as on noisy tables, ends skipping until the next start. */
#pragma once

#include "plan.h"

typedef struct cofi_skip {
    cofi_blocks own;
    uint16_t *key; /* per row: `moved` plus its lead when it was scored, in units; NULL: no row is skipped */
    int64_t *value, *base; /* the scores of the previous pass */
    double scale;          /* theirs */
    int shift;             /* that of the plan then; a unit is two of its steps */
    int64_t moved;         /* upper bound of how much a lead can have shrunk since all rows were scored */
    uint16_t need;         /* a row with a greater key keeps its label */
    bool valid;            /* every row has a key */
    bool off;              /* too few rows were skipped */
} cofi_skip;

/* Whether skipping can save time with this plan. */
bool cofi_skip_saves_time(const cofi_plan *plan);
cof_status cofi_skip_open(const cof_env *env, const cofi_plan *plan, cofi_skip *skip);
void cofi_skip_close(cofi_skip *skip); /* allowed after a failed open */
/* Call it before a pass, after cofi_plan_prepare: decides which rows are skipped, and whether the plan keeps keys. */
void cofi_skip_advance(cofi_skip *skip, cofi_plan *plan);
/* Scores the rows of a group whose key is too small one by one; `sum` has room for a row's sums. */
void cofi_skip_score(const cofi_skip *skip, const cofi_plan *plan, size_t begin, size_t n, cofi_label *label,
                     int64_t *sum);
