/* Counts of value pairs, attribute by attribute, never all at once. */
#ifndef COFI_PAIRS_H
#define COFI_PAIRS_H

#include "engine.h"

/* What to do with the pair counts of a target attribute t. All calls for one target come from one worker, in
 * order: begin, pair for every attribute r (t itself too), end. Targets are shared out over the team. */
typedef struct cofi_pair_visitor {
    void *ctx;
    void (*begin)(void *ctx, uint32_t worker, size_t t); /* may be NULL */
    /* count[a * o_r + b]: summed weight of the rows with value a in t and b in r; for r = t a diagonal */
    void (*pair)(void *ctx, uint32_t worker, size_t t, size_t r, const double *count);
    void (*end)(void *ctx, uint32_t worker, size_t t); /* may be NULL */
} cofi_pair_visitor;

/* COF_ERR_STOPPED if the host said so. */
cof_status cofi_pairs_visit(cofi_engine *engine, const cofi_pair_visitor *visitor, cof_error *err);

/* Pair counts of just one pair, into count[o_t * o_r]. */
void cofi_pairs_count(const cofi_engine *engine, size_t t, size_t r, double *count);

/* n_t(a) of the target from its own pair table. */
static inline double cofi_pair_total(const double *count, uint32_t o_r, uint32_t a)
{
    double total = 0;
    for (uint32_t b = 0; b < o_r; b++) total += count[(size_t)a * o_r + b];
    return total;
}

#endif
