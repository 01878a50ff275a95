/* Counts of values that share their scores, added up.
 *
 * After a few forests most values of a large column share their scores with others (cofi_forest.same_as), and a pass changes
 * the counts of few values. The sums over values with equal scores then follow the changes, so that a pass needs not read all
 * counts to find the scores of the next, nor to find L. */
#include "scores.h"

#include <assert.h>

enum {
    LEAST_VALUES = 4096, /* of all attributes; fewer are read in no time */
    MOST_SHARE = 4       /* at most one value in so many may have scores of its own */
};

cof_status cofi_value_sums_open(cofi_fit *fit, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    cofi_value_sums *m = &fit->value_sums;
    uint32_t n_flat = cofi_n_flat(p), n_values = 0;
    for (size_t r = 0; r < p->n_attrs; r++) n_values += p->n_values[r];
    /* with ignored cells, the profile of a cluster can depend on the counts of others */
    if (n_flat < LEAST_VALUES || n_values < n_flat || fit->partition.changed == NULL) return COF_OK;
    m->most = n_flat / MOST_SHARE;
    m->value = cofi_blocks_add(&fit->own, m->most, sizeof *m->value);
    m->sum_of = cofi_blocks_add(&fit->own, n_flat, sizeof *m->sum_of);
    m->first = cofi_blocks_add(&fit->own, p->n_attrs + 1, sizeof *m->first);
    m->count = cofi_blocks_add(&fit->own, (size_t)m->most * fit->partition.stride, sizeof *m->count);
    m->had_rows = cofi_blocks_add(&fit->own, fit->partition.k, sizeof *m->had_rows);
    return cofi_blocks_status(&fit->own, err);
}

void cofi_value_sums_forget(cofi_fit *fit)
{
    fit->value_sums.known = false;
}

/* Lists the values that have scores of their own. */
static void group_values(cofi_fit *fit)
{
    const cofi_problem *p = fit->problem;
    const uint32_t *same_as = fit->forest.same_as;
    cofi_value_sums *m = &fit->value_sums;
    uint32_t n_flat = cofi_n_flat(p), n = 0;
    m->of_trees = fit->forest.n_built;
    m->known = false;
    m->n = 0;
    for (uint32_t g = 0; g < n_flat; g++) n += same_as[g] == g;
    if (n > m->most) return;
    for (size_t r = 0; r < p->n_attrs; r++) {
        m->first[r] = m->n;
        for (uint32_t g = p->first[r]; g < p->first[r + 1]; g++) {
            if (same_as[g] != g) continue;
            m->sum_of[g] = m->n;
            m->value[m->n++] = g;
        }
    }
    m->first[p->n_attrs] = m->n;
    assert(m->n == n);
    for (uint32_t g = 0; g < n_flat; g++) m->sum_of[g] = m->sum_of[same_as[g]];
}

/* The sums of all values anew. Where there is no profile yet, what is held means nothing. */
static void add_up_all(cofi_fit *fit)
{
    const cofi_problem *p = fit->problem;
    const cofi_partition *q = &fit->partition;
    cofi_value_sums *m = &fit->value_sums;
    memset(m->count, 0, (size_t)m->n * q->stride * sizeof *m->count);
    for (size_t r = 0; r < p->n_attrs; r++) {
        const uint64_t *whole = fit->profiles.whole + r * q->stride;
        for (uint32_t g = p->first[r]; g < p->first[r + 1]; g++) {
            const uint64_t *count = q->count + (size_t)g * q->stride;
            uint64_t *held = fit->profiles.held + (size_t)g * q->stride;
            uint64_t *sum = m->count + (size_t)m->sum_of[g] * q->stride;
            for (uint32_t j = 0; j < q->k; j++) {
                held[j] = q->size[j] > 0 ? count[j] : whole[j] > 0 ? held[j] : 0;
                sum[j] += held[j];
            }
        }
    }
}

bool cofi_value_sums_update(cofi_fit *fit)
{
    const cofi_problem *p = fit->problem;
    const cofi_partition *q = &fit->partition;
    cofi_value_sums *m = &fit->value_sums;
    if (m->most == 0) return false;
    if (m->of_trees != fit->forest.n_built) group_values(fit);
    if (m->n == 0) return false;
    bool all = false; /* a cluster that has rows again holds an old profile, whatever changed */
    for (uint32_t j = 0; m->known && j < q->k; j++) all = all || (q->size[j] > 0 && !m->had_rows[j]);
    if (!m->known)
        add_up_all(fit);
    else
        for (uint32_t g = 0; g < cofi_n_flat(p); g++) {
            const uint64_t *count = q->count + (size_t)g * q->stride;
            uint64_t *held = fit->profiles.held + (size_t)g * q->stride;
            uint64_t *sum = m->count + (size_t)m->sum_of[g] * q->stride;
            for (uint32_t j = 0; (all || q->changed[g]) && j < q->k; j++) {
                if (q->size[j] == 0) continue; /* it keeps its profile */
                sum[j] += count[j] - held[j];  /* may wrap around on the way */
                held[j] = count[j];
            }
        }
    memset(q->changed, 0, cofi_n_flat(p));
    m->known = true;
    for (uint32_t j = 0; j < q->k; j++) {
        m->had_rows[j] = q->size[j] > 0;
        for (size_t r = 0; r < p->n_attrs && q->size[j] > 0; r++)
            fit->profiles.whole[r * q->stride + j] = q->size[j];
    }
    return true;
}

double cofi_trace_objective(cofi_fit *fit)
{
    const cofi_partition *q = &fit->partition;
    const cofi_value_sums *m = &fit->value_sums;
    const cofi_scores *s = &fit->scores;
    if (s->same_as == NULL || !cofi_value_sums_update(fit)) return cofi_objective(q, s);
    double sum = 0;
    for (uint32_t x = 0; x < m->n; x++) {
        const int64_t *value = s->value + (size_t)m->value[x] * s->stride;
        for (uint32_t j = 0; j < q->k; j++)
            if (q->size[j] > 0)
                sum += (double)(int64_t)m->count[(size_t)x * q->stride + j] * (double)value[j];
    }
    return sum / s->scale / fit->problem->unit; /* the base of clusters with rows is 0 */
}
