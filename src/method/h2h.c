/* Het2Hom (Zhang, Cheung and Zeng 2022): every attribute of more than two values is projected onto the lines
 * through each pair of its values; which lines count how much is learned while clustering.
 *
 * All lines of one attribute see the same value of a row, so their squared distances to a cluster's modes add up
 * to one score per value: the pass stays the one over the table's own columns. */
#include "methods.h"
#include "variation.h"

#include <math.h>

#define RATE   0.05  /* learning rate, over the number of rows */
#define STEADY 0.001 /* relative change of the objective that ends learning */

enum { MOST_INNER = 200, MOST_OUTER = 1000 };

typedef struct h2h {
    size_t n_lines;
    size_t *first_line;  /* n_attrs + 1: lines of attribute r; a single one if it has two values */
    size_t *position_at; /* per line: where its values' positions begin */
    double *position;
    uint8_t *present;  /* per flat id: a weighted row holds it; no line goes through the others */
    double *weight;    /* per line */
    double *error;     /* per line and cluster: summed squared distance to the mode */
    uint32_t *mode;    /* [j][line] */
    double *adjust;    /* k, for the launch */
    double *frequency; /* k: rows won so far, never reset */
    double *raw;       /* [g][stride]: scores before scaling */
} h2h;

static void h2h_close(cofi_engine *e, void *state)
{
    h2h *s = state;
    if (s == NULL) return;
    void *owned[] = {s->present, s->first_line, s->position_at, s->position, s->weight, s->error,
                     s->mode,    s->adjust,     s->frequency,   s->raw,      s};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&e->env, owned[b]);
}

/* ---- Projection --------------------------------------------------------------------------------- */

/* Where values fall on the line through a and b: by the cosine rule on base distances. */
static void project(const cofi_engine *e, const cofi_distances *d, size_t r, uint32_t a, uint32_t b,
                    double *position)
{
    const double *from_a = cofi_distances_of(e, d, r, a), *from_b = cofi_distances_of(e, d, r, b);
    double ab = from_a[b];
    for (uint32_t m = 0; m < e->problem->n_values[r]; m++)
        position[m] = ab > 0 ? (from_a[m] * from_a[m] - from_b[m] * from_b[m] + ab * ab) / (2 * ab) : 0;
}

static void project_all(const cofi_engine *e, const cofi_distances *d, h2h *s)
{
    const cofi_problem *p = e->problem;
    size_t line = 0;
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++)
            for (uint32_t b = a + 1; b < p->n_values[r]; b++)
                if (s->present[p->first[r] + a] && s->present[p->first[r] + b])
                    project(e, d, r, a, b, s->position + s->position_at[line++]);
}

static size_t lay_out_lines(const cofi_engine *e, h2h *s)
{
    const cofi_problem *p = e->problem;
    size_t line = 0, at = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        s->first_line[r] = line;
        size_t n = (size_t)p->n_present[r] * (p->n_present[r] - 1) / 2; /* pairs of values */
        for (; n > 0; n--, line++, at += p->n_values[r])
            if (s->position_at != NULL) s->position_at[line] = at;
    }
    s->first_line[p->n_attrs] = s->n_lines = line;
    return at;
}

static cof_status open(cofi_engine *e, void **state, cof_error *err)
{
    const cofi_problem *p = e->problem;
    uint32_t k = e->o.k;
    cofi_distances base = {NULL, NULL};
    h2h *s = cofi_alloc_zero(&e->env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    *state = s;
    s->first_line = cofi_alloc(&e->env, p->n_attrs + 1, sizeof *s->first_line);
    s->present = cofi_present_values(e);
    if (s->first_line == NULL || s->present == NULL) return cofi_no_memory(err);
    lay_out_lines(e, s);
    s->position_at = cofi_alloc(&e->env, s->n_lines, sizeof *s->position_at);
    if (s->position_at == NULL) return cofi_no_memory(err);
    s->position = cofi_alloc(&e->env, lay_out_lines(e, s), sizeof *s->position);
    s->weight = cofi_alloc(&e->env, s->n_lines, sizeof *s->weight);
    s->error = cofi_alloc(&e->env, s->n_lines * k, sizeof *s->error);
    s->mode = cofi_alloc(&e->env, s->n_lines * k, sizeof *s->mode);
    s->adjust = cofi_alloc(&e->env, k, sizeof *s->adjust);
    s->frequency = cofi_alloc(&e->env, k, sizeof *s->frequency);
    s->raw = cofi_alloc_zero(&e->env, (size_t)p->first[p->n_attrs] * e->scores.stride, sizeof *s->raw);
    bool ok = s->position != NULL && s->weight != NULL && s->error != NULL && s->mode != NULL &&
              s->adjust != NULL && s->frequency != NULL && s->raw != NULL;
    if (!ok) return cofi_no_memory(err);
    cof_status status = cofi_distances_open(e, &base, err);
    if (status == COF_OK) status = cofi_base_distances(e, &base, err);
    if (status == COF_OK) project_all(e, &base, s);
    cofi_distances_close(e, &base);
    return status;
}

/* ---- Scores and modes on the lines -------------------------------------------------------------- */

static double square_apart(const h2h *s, size_t line, uint32_t u, uint32_t v)
{
    const double *position = s->position + s->position_at[line];
    return (position[u] - position[v]) * (position[u] - position[v]);
}

/* `adjust` scales clusters during the launch; NULL: by the learned line weights instead. */
static void set_scores(cofi_engine *e, h2h *s, const double *adjust)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    double largest = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double most = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            for (uint32_t j = 0; j < e->o.k; j++) {
                double sum = 0;
                for (size_t t = s->first_line[r]; t < s->first_line[r + 1]; t++)
                    sum += (adjust != NULL ? adjust[j] : s->weight[t]) *
                           square_apart(s, t, v, s->mode[j * s->n_lines + t]);
                s->raw[(size_t)(p->first[r] + v) * stride + j] = sum;
                most = fmax(most, sum);
            }
        }
        largest += most;
    }
    cofi_scores_from(e, s->raw, largest);
}

static uint32_t line_median(const cofi_engine *e, const h2h *s, size_t r, size_t line, uint32_t j)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride, best = 0, o = p->n_values[r];
    const uint64_t *count = e->pass.count + (size_t)p->first[r] * stride + j;
    const double *position = s->position + s->position_at[line];
    double least = INFINITY;
    for (uint32_t v = 0; v < o; v++) {
        double cost = 0;
        if (!s->present[p->first[r] + v]) continue;
        for (uint32_t u = 0; u < o; u++)
            cost += fabs(position[v] - position[u]) * (double)count[(size_t)u * stride];
        if (!cofi_clearly_larger(least, cost)) continue;
        least = cost;
        best = v;
    }
    return best;
}

static void update_modes(const cofi_engine *e, h2h *s)
{
    for (uint32_t j = 0; j < e->o.k; j++) {
        if (e->pass.size[j] == 0) continue;
        for (size_t r = 0; r < e->problem->n_attrs; r++)
            for (size_t t = s->first_line[r]; t < s->first_line[r + 1]; t++)
                s->mode[j * s->n_lines + t] = line_median(e, s, r, t, j);
    }
}

/* ---- Launch and learning ------------------------------------------------------------------------ */

static cof_status one_pass(cofi_engine *e, uint64_t *moved, cof_error *err)
{
    *moved = cofi_engine_pass(e, COF_PHASE_FIT);
    e->objective = cofi_objective(e);
    e->stopped = e->stopped || cofi_should_stop(&e->env);
    return cofi_engine_record(e, *moved, err);
}

/* Good modes to learn from: clusters that have won many rows so far have to be nearer to win more. */
static cof_status launch(cofi_engine *e, h2h *s, cof_error *err)
{
    const cofi_problem *p = e->problem;
    double total = 0;
    for (uint32_t j = 0; j < e->o.k; j++) {
        s->adjust[j] = 1.0 / e->o.k;
        s->frequency[j] = 0;
        for (size_t r = 0; r < p->n_attrs; r++)
            for (size_t t = s->first_line[r]; t < s->first_line[r + 1]; t++)
                s->mode[j * s->n_lines + t] =
                    e->mode[j * p->n_attrs + r] < p->n_values[r] ? e->mode[j * p->n_attrs + r] : 0;
    }
    for (uint32_t pass = 0; pass < e->o.max_passes && !e->stopped; pass++) {
        uint64_t moved;
        set_scores(e, s, s->adjust);
        cof_status status = one_pass(e, &moved, err);
        if (status != COF_OK || moved == 0) return status;
        for (uint32_t j = 0; j < e->o.k; j++) s->frequency[j] += (double)e->pass.size[j];
        total += (double)p->total_weight;
        for (uint32_t j = 0; j < e->o.k; j++) s->adjust[j] = s->frequency[j] / total;
        update_modes(e, s);
    }
    return COF_OK;
}

static void measure_errors(const cofi_engine *e, h2h *s)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (size_t t = s->first_line[r]; t < s->first_line[r + 1]; t++) {
            for (uint32_t j = 0; j < e->o.k; j++) {
                double sum = 0;
                for (uint32_t v = 0; v < p->n_values[r]; v++)
                    sum += (double)e->pass.count[(size_t)(p->first[r] + v) * stride + j] *
                           square_apart(s, t, v, s->mode[j * s->n_lines + t]);
                s->error[t * e->o.k + j] = sum / p->unit;
            }
        }
    }
}

static double line_error(const cofi_engine *e, const h2h *s, size_t t)
{
    double sum = 0;
    for (uint32_t j = 0; j < e->o.k; j++) sum += s->error[t * e->o.k + j];
    return sum;
}

/* How unlike its sister lines this one spreads its error over the clusters. NaN where a cluster has none. */
static double line_variance(const cofi_engine *e, const h2h *s, size_t first, size_t last, size_t t)
{
    double sum = 0;
    for (uint32_t j = 0; j < e->o.k; j++) {
        double total = 0;
        for (size_t u = first; u < last; u++) total += s->error[u * e->o.k + j];
        for (size_t u = first; u < last; u++)
            sum += fabs(s->error[u * e->o.k + j] / total - s->error[t * e->o.k + j] / total);
    }
    return sum;
}

static size_t pick_line(const cofi_engine *e, const h2h *s, size_t first, size_t last)
{
    size_t pick = first;
    double least = INFINITY;
    bool any = false;
    for (size_t t = first; t < last; t++) {
        double merit = line_variance(e, s, first, last, t) / line_error(e, s, t);
        if (isnan(merit) || (any && !(merit < least))) continue;
        least = merit;
        pick = t;
        any = true;
    }
    return pick;
}

static void learn_weights(const cofi_engine *e, h2h *s)
{
    const cofi_problem *p = e->problem;
    double share = 1.0 / (double)p->n_attrs, rate = RATE / ((double)p->total_weight / p->unit);
    for (size_t r = 0; r < p->n_attrs; r++) {
        size_t first = s->first_line[r], last = s->first_line[r + 1];
        double sum = 0;
        if (last - first > 1) {
            size_t t = pick_line(e, s, first, last);
            s->weight[t] = fmax(s->weight[t] - rate * line_error(e, s, t), 0);
        }
        for (size_t t = first; t < last; t++) sum += s->weight[t];
        for (size_t t = first; t < last; t++)
            s->weight[t] = sum > 0 ? s->weight[t] * share / sum : share / (double)(last - first);
    }
}

static cof_status settle_lines(cofi_engine *e, h2h *s, cof_error *err)
{
    e->stop = COF_STOP_CAP;
    for (uint32_t pass = 0; pass < MOST_INNER && !e->stopped; pass++) {
        uint64_t moved;
        set_scores(e, s, NULL);
        cof_status status = one_pass(e, &moved, err);
        if (status != COF_OK) return status;
        if (moved == 0 && pass > 0) { /* the first comparison always differs */
            e->stop = COF_STOP_CONVERGED;
            return COF_OK;
        }
        update_modes(e, s);
    }
    return COF_OK;
}

static cof_status run(cofi_engine *e, void *state, cof_error *err)
{
    h2h *s = state;
    double before = 0;
    memset(e->alive, 1, e->o.k);
    e->rebuild = 0;
    cof_status status = launch(e, s, err);
    for (size_t t = 0; t < s->n_lines; t++) s->weight[t] = 1.0 / (double)s->n_lines;
    for (uint32_t round = 0; status == COF_OK && !e->stopped; round++) {
        status = settle_lines(e, s, err);
        bool steady = before > 0 && fabs(before - e->objective) / before < STEADY;
        if (status != COF_OK || steady || (round > 0 && before == 0 && e->objective == 0)) break;
        if (round + 1 == MOST_OUTER) {
            e->stop = COF_STOP_CAP;
            break;
        }
        before = e->objective;
        measure_errors(e, s);
        learn_weights(e, s);
        e->rebuild++;
    }
    if (e->stopped) e->stop = COF_STOP_STOPPED;
    return status;
}

const cofi_method cofi_method_h2h = {
    "h2h", "Het2Hom (Zhang, Cheung and Zeng 2022)", COFI_METHOD_PAIRS, open, run, h2h_close, NULL};
