/* A start from a partition into one cluster less: the cluster that describes its rows worst becomes two. */
#include "split.h"

#include "../core/real.h"
#include "../core/rng.h"
#include "../fit/scores.h"

#include <math.h>

/* Entropy of a cluster's rows, in nats. */
static double entropy(const cofi_problem *p, const cofi_coarser *from, uint32_t j)
{
    double sum = 0;
    const uint64_t *count = from->count + j;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double n = 0, own = 0, weight = cofi_column_weight(p, r);
        for (uint32_t v = 0; v < p->n_values[r]; v++, count += from->k) {
            if (*count == 0) continue;
            n += (double)*count;
            own -= (double)*count * cofi_ln((double)*count);
        }
        if (n > 0) sum += weight * (own + n * cofi_ln(n));
    }
    return sum;
}

/* The cluster whose entropy is the rank-th greatest, from 0; of clusters with equal entropy only the first counts. */
static uint32_t choose_cluster(const cofi_problem *p, const cofi_coarser *from, uint32_t rank)
{
    uint32_t chosen = 0;
    double limit = INFINITY;
    for (uint32_t place = 0; place <= rank && place < from->k; place++) {
        double most = -1;
        for (uint32_t j = 0; j < from->k; j++) {
            double own = entropy(p, from, j);
            if (own >= limit || own <= most) continue;
            most = own;
            chosen = j;
        }
        limit = most;
    }
    return chosen;
}

/* The counts of value g; those of the chosen cluster are shared between it and the last one. Counts of the whole table are
 * scaled to a sample. */
static void set_counts(cofi_fit *fit, const cofi_coarser *from, const uint64_t *count, size_t g,
                       uint32_t chosen, double scale)
{
    uint64_t *own = fit->partition.count + g * fit->partition.stride;
    double part = cofi_rng_below(&fit->rng, 2) == 0 ? 0.25 : 0.75;
    for (uint32_t j = 0; j < from->k; j++) own[j] = (uint64_t)((double)count[j] * scale);
    own[from->k] = (uint64_t)((double)count[chosen] * scale * part);
    own[chosen] -= own[from->k];
}

void cofi_split_cluster(cofi_fit *fit, const cofi_coarser *from, uint32_t rank)
{
    const cofi_problem *p = fit->problem;
    cofi_partition *q = &fit->partition;
    uint32_t chosen = choose_cluster(p, from, rank);
    const uint64_t *count = from->count;
    double n = 0;
    for (uint32_t j = 0; j < from->k; j++) n += from->size[j];
    double scale = (double)p->total_weight / p->unit / n;
    for (uint32_t j = 0; j < from->k; j++) q->size[j] = (uint64_t)(from->size[j] * scale * p->unit);
    q->size[from->k] = q->size[chosen] /= 2;
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t v = 0; v < p->n_values[r]; v++, count += from->k)
            set_counts(fit, from, count, p->first[r] + v, chosen, scale);
    cofi_scores_likelihood(fit, q);
    cofi_partition_forget(q);
}
