/* Three ways to fill the score table S: one-hot distance, likelihood, and distance along the trees; and L, their sum. */
#include "scores.h"

#include "../core/real.h"

#include "likelihood.h"

#include <assert.h>
#include <math.h>

enum { LANES = 8 };

/* ---- Profiles ----------------------------------------------------------------------------------- */

void cofi_profile_clear(cofi_fit *fit)
{
    size_t n = fit->problem->n_attrs * fit->scores.stride;
    memset(fit->profiles.alive, 0, fit->partition.k);
    memset(fit->profiles.whole, 0, n * sizeof *fit->profiles.whole);
    cofi_value_sums_forget(fit);
}

/* A task is one attribute and one group of LANES clusters. The entries of a group for one value fill a cache line, so each
 * line is read once, and threads share a column of very many values. */
static size_t n_groups(const cofi_fit *fit)
{
    return (fit->scores.stride + LANES - 1) / LANES;
}

/* If all rows of a cluster have an ignored cell in this attribute, its profile is that of the whole table. */
static void hold_like_all(const cofi_fit *fit, size_t r, uint32_t j)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride;
    uint64_t *whole = &fit->profiles.whole[r * stride + j];
    *whole = 0;
    for (uint32_t g = p->first[r]; g < p->first[r] + p->n_values[r]; g++) {
        uint64_t n = 0;
        for (uint32_t x = 0; x < fit->partition.k; x++) n += fit->partition.count[(size_t)g * stride + x];
        fit->profiles.held[(size_t)g * stride + j] = n;
        *whole += n;
    }
}

/* Sets `whole` of each cluster that has rows, and mask[j] to all bits if its counts are to be held, else to 0. */
static inline void measure_wholes(cofi_fit *fit, size_t r, uint32_t first, uint32_t lanes, uint64_t *mask)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride, ignored = p->first[r] + p->n_values[r];
    for (uint32_t j = first; j < first + lanes; j++) {
        uint64_t size = j < fit->partition.k ? fit->partition.size[j] : 0, n = size;
        if (ignored < p->first[r + 1]) n -= fit->partition.count[(size_t)ignored * stride + j];
        mask[j - first] = n > 0 ? UINT64_MAX : 0;
        if (n > 0) fit->profiles.whole[r * stride + j] = n;
        if (n == 0 && size > 0) hold_like_all(fit, r, j);
    }
}

static void profile_task(void *ctx, uint32_t worker, size_t task)
{
    cofi_fit *fit = ctx;
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride, first = (uint32_t)(task % n_groups(fit)) * LANES;
    uint32_t lanes = stride - first < LANES ? stride - first : LANES;
    size_t r = task / n_groups(fit), begin = (size_t)p->first[r] * stride + first;
    const uint64_t *count = fit->partition.count + begin;
    uint64_t *held = fit->profiles.held + begin, mask[LANES];
    measure_wholes(fit, r, first, lanes, mask);
    for (size_t at = 0; at < (size_t)p->n_values[r] * stride; at += stride)
        for (uint32_t j = 0; j < lanes; j++)
            held[at + j] = (count[at + j] & mask[j]) | (held[at + j] & ~mask[j]);
}

static void mark_alive(cofi_fit *fit)
{
    for (uint32_t j = 0; j < fit->partition.k; j++) fit->profiles.alive[j] |= fit->partition.size[j] > 0;
}

void cofi_profile_update(cofi_fit *fit)
{
    cofi_value_sums_forget(fit);
    cofi_team_run(fit->host.team, profile_task, fit, fit->problem->n_attrs * n_groups(fit));
    mark_alive(fit);
}

/* ---- Scale -------------------------------------------------------------------------------------- */

double cofi_scores_scale(double largest_sum)
{
    int exponent = 0;
    assert(isfinite(largest_sum) && largest_sum >= 0);
    if (largest_sum > 0) frexp(largest_sum, &exponent); /* largest_sum < 2^exponent */
    return ldexp(1.0, COFI_SUM_BITS - 1 - exponent);
}

void cofi_scores_open(cofi_fit *fit, double largest_sum)
{
    fit->scores.scale = cofi_scores_scale(largest_sum);
    fit->scores.plain = NULL;
    fit->scores.same_as = NULL;
    for (uint32_t j = 0; j < fit->scores.stride; j++)
        fit->scores.base[j] = j < fit->partition.k && fit->profiles.alive[j] ? 0 : COFI_NEVER;
}

int64_t cofi_fixed_point(double score, double scale)
{
    return score > 0 ? llrint(score * scale) : 0; /* only rounding makes a score negative */
}

/* ---- One-hot k-means ---------------------------------------------------------------------------- */

/* Half the squared Euclidean distance between a one-hot cell and the cluster mean is (1 - 2 p(v) + sum
 * p^2) / 2. Adding 1/2 keeps scores positive and changes all clusters equally. The memory of the scores has p(v) at first. */
static void onehot_task(void *ctx, uint32_t worker, size_t r)
{
    cofi_fit *fit = ctx;
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride, n_values = p->n_values[r];
    int64_t *value = fit->scores.value + (size_t)p->first[r] * stride;
    double *profile = (double *)(void *)value, weight = cofi_column_weight(p, r);
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        double squares = 0;
        for (uint32_t v = 0; v < n_values; v++) {
            double share = profile[(size_t)v * stride + j] = cofi_profile_of(fit, r, v, j);
            squares += share * share;
        }
        for (uint32_t v = 0; v < n_values; v++)
            value[(size_t)v * stride + j] = cofi_fixed_point(
                weight * (1.0 - profile[(size_t)v * stride + j] + 0.5 * squares), fit->scores.scale);
        if (p->first[r] + n_values < p->first[r + 1]) value[(size_t)n_values * stride + j] = 0;
    }
}

void cofi_scores_onehot(cofi_fit *fit)
{
    double weights = 0;
    for (size_t r = 0; r < fit->problem->n_attrs; r++) weights += cofi_column_weight(fit->problem, r);
    cofi_scores_open(fit, 1.5 * weights);
    cofi_team_run(fit->host.team, onehot_task, fit, fit->problem->n_attrs);
}

/* ---- Likelihood ---------------------------------------------------------------------------------- */

typedef struct likelihood_job {
    cofi_fit *fit;
    const cofi_partition *from;
} likelihood_job;

static void likelihood_task(void *ctx, uint32_t worker, size_t r)
{
    const likelihood_job *job = ctx;
    cofi_fit *fit = job->fit;
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride, n_values = p->n_values[r];
    int64_t *value = fit->scores.value + (size_t)p->first[r] * stride;
    cofi_value_counts counts = {.count = job->from->count + (size_t)p->first[r] * stride,
                                .stride = stride,
                                .k = fit->partition.k,
                                .n_values = n_values,
                                .n_bins = p->n_bins[r],
                                .n_present = p->n_present[r],
                                .unit = p->unit,
                                .weight = cofi_column_weight(p, r)};
    cofi_value_surprises(&counts, fit->scores.scale, stride, value);
    for (uint32_t j = 0; j < fit->partition.k && p->first[r] + n_values < p->first[r + 1]; j++)
        value[(size_t)n_values * stride + j] = 0;
}

void cofi_scores_likelihood(cofi_fit *fit, const cofi_partition *from)
{
    likelihood_job job = {.fit = fit, .from = from};
    const cofi_problem *p = fit->problem;
    double n = (double)p->total_weight / p->unit, largest = cofi_ln(2 * n + fit->partition.k);
    for (size_t r = 0; r < p->n_attrs; r++)
        largest += cofi_column_weight(p, r) * cofi_ln(2 * n + p->n_present[r]);
    memset(fit->profiles.alive, 1, fit->partition.k);
    cofi_scores_open(fit, largest);
    for (uint32_t j = 0; j < fit->partition.k; j++)
        fit->scores.base[j] = cofi_fixed_point(cofi_ln(n + 0.5 * fit->partition.k) -
                                                   cofi_ln((double)from->size[j] / p->unit + 0.5),
                                               fit->scores.scale);
    cofi_team_run(fit->host.team, likelihood_task, &job, p->n_attrs);
}

/* ---- Trace distances along the forest ------------------------------------------------------------ */

static double attribute_factor(const cofi_fit *fit, size_t r)
{
    double weight = cofi_column_weight(fit->problem, r);
    return fit->host.o.variant == COF_VARIANT_AUTHORS ? weight / cofi_problem_n_gaps(fit->problem, r)
                                                      : weight;
}

/* How many values or edges ahead lines are prefetched: values lie in no order along the tree. */
enum { AHEAD = 16 };

/* One tree and up to LANES clusters. `work` begins with the tree's first value. */
typedef struct tree_sums {
    const cof_edge *edge;
    const uint32_t *inner; /* places of the edges to values that are no equal leaves */
    uint32_t n_inner, root;
    uint32_t first, n_slots, stride;
    const uint32_t *same_as; /* as in cofi_forest, from the first value on */
    double *work;
} tree_sums;

/* An equal leaf has the sums of its neighbour, and needs none of its own. */
static inline bool is_equal_leaf(const tree_sums *t, uint32_t v)
{
    return t->same_as[v] != t->first + v;
}

/* Brings the profiles up to date, and sets `work` of every value but equal leaves to p(v|C_j), that of its equal leaves
 * included. Until the last step its memory has counts. */
static inline void gather_shares(cofi_fit *fit, const tree_sums *t, size_t r, uint32_t first, uint32_t lanes)
{
    uint32_t stride = t->stride, n_values = fit->problem->n_values[r];
    const uint64_t *count = fit->partition.count + (size_t)t->first * stride + first;
    uint64_t *held = fit->profiles.held + (size_t)t->first * stride + first;
    const uint64_t *whole = fit->profiles.whole + r * stride + first;
    uint64_t *mass = (uint64_t *)(void *)t->work, mask[LANES];
    measure_wholes(fit, r, first, lanes, mask);
    for (uint32_t v = 0; v < t->n_slots; v++)
        for (uint32_t j = 0; !is_equal_leaf(t, v) && j < lanes; j++) mass[(size_t)v * stride + j] = 0;
    for (uint32_t v = 0; v < n_values; v++) {
        size_t at = (size_t)v * stride, to = (size_t)(t->same_as[v] - t->first) * stride;
        __builtin_prefetch(count + at + AHEAD * stride);
        __builtin_prefetch(held + at + AHEAD * stride);
        if (v + AHEAD < n_values)
            __builtin_prefetch(mass + (size_t)(t->same_as[v + AHEAD] - t->first) * stride, 1);
        uint64_t now[LANES], old[LANES], sum[LANES], changed = 0;
        memcpy(now, count + at, lanes * sizeof *now); /* the tables may overlap for all that compilers know */
        memcpy(old, held + at, lanes * sizeof *old);
        memcpy(sum, mass + to, lanes * sizeof *sum);
        for (uint32_t j = 0; j < lanes; j++) now[j] = (now[j] & mask[j]) | (old[j] & ~mask[j]);
        for (uint32_t j = 0; j < lanes; j++) changed |= now[j] ^ old[j];
        for (uint32_t j = 0; j < lanes; j++) sum[j] += now[j];
        memcpy(mass + to, sum, lanes * sizeof *sum);
        if (changed != 0) memcpy(held + at, now, lanes * sizeof *now);
    }
    for (uint32_t v = 0; v < t->n_slots; v++) {
        for (uint32_t j = 0; !is_equal_leaf(t, v) && j < lanes; j++) {
            size_t at = (size_t)v * stride + j;
            t->work[at] = cofi_share(mass[at], whole[j]);
        }
    }
}

/* Equation (6), sum_v p(v|C_j) d(g,v), for all values g but equal leaves; equation (5), d(g,v), is the length of the path from g
 * to v. `work` holds p(v|C_j) at first, with that of equal leaves, then the mass of the subtree below each value, then the sums.
 * When the root moves across an edge, the mass below the edge comes nearer by the edge's length, and the remaining mass goes
 * farther away by the same length. */
static inline void reroot(const tree_sums *t, uint32_t lanes)
{
    uint32_t stride = t->stride;
    double *work = t->work, total[LANES], sum[LANES] = {0};
    for (uint32_t e = t->n_inner; e-- > 0;) {
        const cof_edge *edge = &t->edge[t->inner[e]];
        double *above = work + (size_t)edge->u * stride, *below = work + (size_t)edge->v * stride;
        if (e >= AHEAD) __builtin_prefetch(work + (size_t)t->edge[t->inner[e - AHEAD]].v * stride);
        for (uint32_t j = 0; j < lanes; j++) above[j] += below[j];
        for (uint32_t j = 0; j < lanes; j++) sum[j] += edge->length * below[j];
    }
    for (uint32_t j = 0; j < lanes; j++) {
        total[j] = work[(size_t)t->root * stride + j];
        work[(size_t)t->root * stride + j] = sum[j];
    }
    for (uint32_t e = 0; e < t->n_inner; e++) {
        const cof_edge *edge = &t->edge[t->inner[e]];
        const double *above = work + (size_t)edge->u * stride;
        double *below = work + (size_t)edge->v * stride;
        if (e + AHEAD < t->n_inner)
            __builtin_prefetch(work + (size_t)t->edge[t->inner[e + AHEAD]].v * stride, 1);
        for (uint32_t j = 0; j < lanes; j++) below[j] = above[j] + edge->length * (total[j] - 2 * below[j]);
    }
}

/* The sums are computed in the memory of the scores. C allows that: allocated memory has the type of what was last
 * written to it. */
static inline void trace_group(cofi_fit *fit, size_t r, uint32_t first, uint32_t lanes)
{
    const cofi_problem *p = fit->problem;
    const cofi_forest *f = &fit->forest;
    uint32_t stride = fit->scores.stride, g = p->first[r];
    double factor = attribute_factor(fit, r), scale = fit->scores.scale;
    int64_t *value = fit->scores.value + (size_t)g * stride + first;
    tree_sums t = {.edge = f->edge + g,
                   .inner = f->inner + g,
                   .n_inner = f->n_inner[r],
                   .root = f->root[r],
                   .first = g,
                   .n_slots = p->first[r + 1] - g,
                   .stride = stride,
                   .same_as = f->same_as + g,
                   .work = (double *)(void *)value};
    const cofi_value_sums *sums = &fit->value_sums;
    if (!sums->known) gather_shares(fit, &t, r, first, lanes);
    for (uint32_t x = sums->known ? sums->first[r] : 0, end = sums->known ? sums->first[r + 1] : 0; x < end;
         x++)
        for (uint32_t j = 0; j < lanes; j++)
            t.work[(size_t)(sums->value[x] - g) * stride + j] = cofi_share(
                sums->count[(size_t)x * stride + first + j], fit->profiles.whole[r * stride + first + j]);
    reroot(&t, lanes);
    for (uint32_t v = 0; v < t.n_slots; v++)
        for (uint32_t j = 0; !is_equal_leaf(&t, v) && j < lanes; j++)
            value[(size_t)v * stride + j] = cofi_fixed_point(factor * t.work[(size_t)v * stride + j], scale);
}

static void trace_task(void *ctx, uint32_t worker, size_t task)
{
    cofi_fit *fit = ctx;
    uint32_t first = (uint32_t)(task % n_groups(fit)) * LANES, left = fit->scores.stride - first;
    size_t r = task / n_groups(fit);
    if (left >= LANES) trace_group(fit, r, first, LANES);
    if (left == 6) trace_group(fit, r, first, 6); /* a constant, so that the loops need no counter */
    if (left == 4) trace_group(fit, r, first, 4);
    if (left == 2) trace_group(fit, r, first, 2);
}

/* The same sums in the authors' order of operations: values in ascending order, then the division. */
static void plain_task(void *ctx, uint32_t worker, size_t r)
{
    cofi_fit *fit = ctx;
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride, n_values = p->n_values[r];
    const uint64_t *held = fit->profiles.held + (size_t)p->first[r] * stride;
    double *plain = fit->exact + (size_t)p->first[r] * stride;
    for (uint32_t u = 0; u < n_values; u++) {
        for (uint32_t j = 0; j < fit->partition.k; j++) {
            size_t at = (size_t)u * stride + j;
            if (fit->forest.trace_at[r] ==
                SIZE_MAX) { /* too many values for a distance matrix: use our sum */
                plain[at] = (double)cofi_score_of(&fit->scores, p->first[r] + u)[j] / fit->scores.scale;
                continue;
            }
            const double *d = fit->forest.trace + fit->forest.trace_at[r] + (size_t)u * n_values;
            uint64_t whole = fit->profiles.whole[r * stride + j];
            double sum = 0;
            for (uint32_t v = 0; v < n_values; v++)
                if (v != u) sum += d[v] * cofi_share(held[(size_t)v * stride + j], whole);
            plain[at] = cofi_column_weight(p, r) * (sum / cofi_problem_n_gaps(p, r));
        }
    }
}

/* Equation (7), the distance of a row, is the sum of its entries over the attributes, which a pass over the rows adds. */
void cofi_scores_trace(cofi_fit *fit)
{
    double largest = 0;
    mark_alive(fit);
    if (!cofi_value_sums_update(fit)) cofi_value_sums_forget(fit);
    for (size_t r = 0; r < fit->problem->n_attrs; r++)
        largest += attribute_factor(fit, r) * fit->forest.reach[r];
    cofi_scores_open(fit, largest);
    fit->scores.same_as = fit->forest.same_as;
    cofi_team_run(fit->host.team, trace_task, fit, fit->problem->n_attrs * n_groups(fit));
    if (fit->exact == NULL) return;
    cofi_team_run(fit->host.team, plain_task, fit, fit->problem->n_attrs);
    fit->scores.plain = fit->exact;
}

/* ---- L ------------------------------------------------------------------------------------------- */

/* Equation (8) from the counts: N[j][g] rows of cluster j have the score of value g in their sums. */
double cofi_objective(const cofi_partition *q, const cofi_scores *s)
{
    const cofi_problem *p = q->rows->problem;
    double sum = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (uint32_t g = p->first[r]; g < p->first[r] + p->n_values[r]; g++) {
            const uint64_t *count = q->count + (size_t)g * q->stride;
            const int64_t *value = cofi_score_of(s, g);
            for (uint32_t j = 0; j < q->k; j++) /* most values of a large column occur in few clusters */
                if (count[j] > 0) sum += (double)(int64_t)count[j] * (double)value[j];
        }
    }
    for (uint32_t j = 0; j < q->k; j++)
        if (s->base[j] < COFI_NEVER) sum += (double)q->size[j] * (double)s->base[j];
    return sum / s->scale / p->unit;
}
