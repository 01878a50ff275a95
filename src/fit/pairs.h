/* Counts of value pairs, attribute by attribute, never all at once. */
#ifndef COFI_PAIRS_H
#define COFI_PAIRS_H

#include "engine.h"

#include <math.h>

/* What to do with the pair counts of a target attribute t. All calls for one target come from one worker, in
 * order: begin, pair for every attribute r (t itself too), end. Targets are shared out over the team. */
typedef struct cofi_pair_visitor {
    void *ctx;
    void (*begin)(void *ctx, uint32_t worker, size_t t); /* may be NULL */
    /* count[a * o_r + b]: summed weight of the rows with value a in t and b in r; for r = t a diagonal. The
     * table may be overwritten. */
    void (*pair)(void *ctx, uint32_t worker, size_t t, size_t r, double *count);
    void (*end)(void *ctx, uint32_t worker, size_t t); /* may be NULL */
    bool before_only; /* just the attributes r < t: for what is the same both ways */
} cofi_pair_visitor;

/* COF_ERR_STOPPED if the host said so. */
cof_status cofi_pairs_visit(cofi_engine *engine, const cofi_pair_visitor *visitor, cof_error *err);

/* Pair counts of just one pair, into count[o_t * o_r]. */
void cofi_pairs_count(const cofi_engine *engine, size_t t, size_t r, double *count);

/* x log2 x, looked up for whole x below n: entropies of counts are sums of it. */
typedef struct cofi_logs {
    double *of; /* NULL: nothing is looked up */
    size_t n;
} cofi_logs;

cof_status cofi_logs_open(const cofi_engine *engine, cofi_logs *logs, cof_error *err);
void cofi_logs_close(const cofi_engine *engine, cofi_logs *logs); /* fine after a failed open */

static inline double cofi_x_log_x(const cofi_logs *logs, double x)
{
    if (x < (double)logs->n) return logs->of[(size_t)x];
    return x > 0 ? x * log2(x) : 0;
}

/* What two attributes share, in bits, from their pair table. */
typedef struct cofi_shared {
    double own, other; /* entropies of the target and of the other */
    double joint;
} cofi_shared;

cofi_shared cofi_entropies(const cofi_logs *logs, const double *count, uint32_t o_t, uint32_t o_r);

/* n_t(a) of the target from its own pair table. */
static inline double cofi_pair_total(const double *count, uint32_t o_r, uint32_t a)
{
    double total = 0;
    for (uint32_t b = 0; b < o_r; b++) total += count[(size_t)a * o_r + b];
    return total;
}

#endif
