/* Het2Hom (Zhang, Cheung and Zeng 2022): every attribute of more than two values is projected onto the lines
 * through each pair of its values; the weights of the lines are learned during clustering.
 *
 * All lines of one attribute depend on the same cell of a row, so their squared distances to a cluster's
 * modes sum to one score per value. The pass is therefore the usual one over the table's own columns. */
#include "variation.h"

#include <assert.h>
#include <math.h>

#define RATE   0.05  /* learning rate; it is divided by the number of rows */
#define STEADY 0.001 /* learning ends if the relative change of the objective is below this */

enum { MOST_INNER = 200, MOST_OUTER = 1000 };

typedef struct h2h {
    size_t n_lines;
    /* n_attrs + 1: first line of attribute r; an attribute of two values has one line */
    size_t *first_line;
    size_t *position_at; /* per line: where the positions of its values begin */
    double *position;
    /* per flat id: it occurs in a row of positive weight; lines go only through such values */
    uint8_t *present;
    double *weight;    /* per line */
    double *error;     /* per line and cluster: summed squared distance to the mode */
    uint32_t *mode;    /* [j][line] */
    double *adjust;    /* k: factor of each cluster's distance in the launch */
    double *frequency; /* k: summed weight of the rows assigned so far; never reset */
    double *raw;       /* [g][stride]: scores before scaling */
} h2h;

/* ---- Projection --------------------------------------------------------------------------------- */

/* Positions of all values on every line, by the law of cosines on base distances. */
static void project_all(const cofi_fit *fit, const cofi_distances *d, h2h *s)
{
    const cofi_problem *p = fit->problem;
    size_t line = 0;
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++)
            for (uint32_t b = a + 1; b < p->n_values[r]; b++) {
                const double *from_a = cofi_distances_of(fit, d, r, a),
                             *from_b = cofi_distances_of(fit, d, r, b);
                double ab = from_a[b];
                if (!s->present[p->first[r] + a] || !s->present[p->first[r] + b]) continue;
                double *position = s->position + s->position_at[line++];
                for (uint32_t m = 0; m < p->n_values[r]; m++)
                    position[m] =
                        ab > 0 ? (from_a[m] * from_a[m] - from_b[m] * from_b[m] + ab * ab) / (2 * ab) : 0;
            }
    assert(line == s->n_lines);
}

static size_t lay_out_lines(const cofi_fit *fit, h2h *s)
{
    const cofi_problem *p = fit->problem;
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

static double mean_variation(const cofi_pair_sum *sum, double n_attrs, const double *share, uint32_t o_r,
                             uint32_t a, uint32_t b)
{
    return cofi_total_variation(share, o_r, a, b) / n_attrs;
}

/* Base distances: the mean total variation over all attributes; in scratch memory. */
static cof_status base_distances(cofi_fit *fit, cofi_distances *d, cof_error *err)
{
    cofi_pair_sum sum = {.fit = fit, .d = d, .factor = cofi_to_shares, .term = mean_variation};
    COFI_TRY(cofi_distances_open(fit, &fit->scratch, d, err));
    return cofi_pair_sum_make(&sum, err);
}

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    cofi_blocks *own = &fit->own;
    uint32_t k = fit->partition.k;
    cofi_distances base;
    uint8_t *present;
    h2h *s = *state = cofi_blocks_add_zero(own, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    s->first_line = cofi_blocks_add(own, p->n_attrs + 1, sizeof *s->first_line);
    s->present = cofi_blocks_add(own, cofi_n_flat(p), 1);
    COFI_TRY(cofi_blocks_status(own, err));
    COFI_TRY(cofi_present_values(fit, &present, err));
    memcpy(s->present, present, cofi_n_flat(p));
    lay_out_lines(fit, s);
    s->position_at = cofi_blocks_add(own, s->n_lines, sizeof *s->position_at);
    if (s->position_at == NULL) return cofi_no_memory(err);
    s->position = cofi_blocks_add(own, lay_out_lines(fit, s), sizeof *s->position);
    s->weight = cofi_blocks_add(own, s->n_lines, sizeof *s->weight);
    s->error = cofi_blocks_add(own, s->n_lines * k, sizeof *s->error);
    s->mode = cofi_blocks_add(own, s->n_lines * k, sizeof *s->mode);
    s->adjust = cofi_blocks_add(own, k, sizeof *s->adjust);
    s->frequency = cofi_blocks_add(own, k, sizeof *s->frequency);
    s->raw = cofi_blocks_add_zero(own, (size_t)p->first[p->n_attrs] * fit->scores.stride, sizeof *s->raw);
    COFI_TRY(cofi_blocks_status(own, err));
    COFI_TRY(base_distances(fit, &base, err));
    project_all(fit, &base, s);
    return COF_OK;
}

/* ---- Scores and modes on the lines -------------------------------------------------------------- */

static double square_apart(const h2h *s, size_t line, uint32_t u, uint32_t v)
{
    const double *position = s->position + s->position_at[line];
    return (position[u] - position[v]) * (position[u] - position[v]);
}

/* `adjust` scales the clusters' distances during the launch. NULL: the learned line weights are used
 * instead. */
static void set_scores(cofi_fit *fit, h2h *s, const double *adjust)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride;
    double largest = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        double most = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            for (uint32_t j = 0; j < fit->partition.k; j++) {
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
    cofi_scores_from(fit, s->raw, largest);
}

static uint32_t line_median(const cofi_fit *fit, const h2h *s, size_t r, size_t line, uint32_t j)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride, best = 0, o = p->n_values[r];
    const uint64_t *count = fit->partition.count + (size_t)p->first[r] * stride + j;
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

static void update_modes(const cofi_fit *fit, h2h *s)
{
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        if (fit->partition.size[j] == 0) continue;
        for (size_t r = 0; r < fit->problem->n_attrs; r++)
            for (size_t t = s->first_line[r]; t < s->first_line[r + 1]; t++)
                s->mode[j * s->n_lines + t] = line_median(fit, s, r, t, j);
    }
}

/* ---- Launch and learning ------------------------------------------------------------------------ */

static cof_status one_pass(cofi_fit *fit, uint64_t *moved, cof_error *err)
{
    COFI_TRY(cofi_fit_pass(fit, COF_PHASE_FIT, moved, err));
    fit->log.objective = cofi_objective(&fit->partition, &fit->scores);
    cofi_log_stopped(&fit->host, &fit->log);
    return cofi_log_record(&fit->host, &fit->log, *moved, err);
}

/* Finds good first modes: the distances of clusters that were assigned many rows so far are increased. */
static cof_status launch(cofi_fit *fit, h2h *s, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    double total = 0;
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        s->adjust[j] = 1.0 / fit->partition.k;
        s->frequency[j] = 0;
        for (size_t r = 0; r < p->n_attrs; r++)
            for (size_t t = s->first_line[r]; t < s->first_line[r + 1]; t++)
                s->mode[j * s->n_lines + t] = fit->seeds.mode[j * p->n_attrs + r] < p->n_values[r]
                                                  ? fit->seeds.mode[j * p->n_attrs + r]
                                                  : 0;
    }
    for (uint32_t pass = 0; pass < fit->host.o.max_passes && !fit->log.stopped; pass++) {
        uint64_t moved;
        set_scores(fit, s, s->adjust);
        cof_status status = one_pass(fit, &moved, err);
        if (status != COF_OK || moved == 0) return status;
        for (uint32_t j = 0; j < fit->partition.k; j++) s->frequency[j] += (double)fit->partition.size[j];
        total += (double)p->total_weight;
        for (uint32_t j = 0; j < fit->partition.k; j++) s->adjust[j] = s->frequency[j] / total;
        update_modes(fit, s);
    }
    return COF_OK;
}

static void measure_errors(const cofi_fit *fit, h2h *s)
{
    const cofi_problem *p = fit->problem;
    uint32_t stride = fit->scores.stride;
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (size_t t = s->first_line[r]; t < s->first_line[r + 1]; t++) {
            for (uint32_t j = 0; j < fit->partition.k; j++) {
                double sum = 0;
                for (uint32_t v = 0; v < p->n_values[r]; v++)
                    sum += (double)fit->partition.count[(size_t)(p->first[r] + v) * stride + j] *
                           square_apart(s, t, v, s->mode[j * s->n_lines + t]);
                s->error[t * fit->partition.k + j] = sum / p->unit;
            }
        }
    }
}

static double line_error(const cofi_fit *fit, const h2h *s, size_t t)
{
    double sum = 0;
    for (uint32_t j = 0; j < fit->partition.k; j++) sum += s->error[t * fit->partition.k + j];
    return sum;
}

/* Variance between this line and the other lines of the attribute in how their errors are distributed over
 * the clusters. NaN if a cluster has no error. */
static double line_variance(const cofi_fit *fit, const h2h *s, size_t first, size_t last, size_t t)
{
    double sum = 0;
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        double total = 0;
        for (size_t u = first; u < last; u++) total += s->error[u * fit->partition.k + j];
        for (size_t u = first; u < last; u++)
            sum +=
                fabs(s->error[u * fit->partition.k + j] / total - s->error[t * fit->partition.k + j] / total);
    }
    return sum;
}

static size_t pick_line(const cofi_fit *fit, const h2h *s, size_t first, size_t last)
{
    size_t pick = first;
    double least = INFINITY;
    bool any = false;
    for (size_t t = first; t < last; t++) {
        double merit = line_variance(fit, s, first, last, t) / line_error(fit, s, t);
        if (isnan(merit) || (any && !(merit < least))) continue;
        least = merit;
        pick = t;
        any = true;
    }
    return pick;
}

static void learn_weights(const cofi_fit *fit, h2h *s)
{
    const cofi_problem *p = fit->problem;
    double share = 1.0 / (double)p->n_attrs, rate = RATE / ((double)p->total_weight / p->unit);
    for (size_t r = 0; r < p->n_attrs; r++) {
        size_t first = s->first_line[r], last = s->first_line[r + 1];
        double sum = 0;
        if (last - first > 1) {
            size_t t = pick_line(fit, s, first, last);
            s->weight[t] = fmax(s->weight[t] - rate * line_error(fit, s, t), 0);
        }
        for (size_t t = first; t < last; t++) sum += s->weight[t];
        for (size_t t = first; t < last; t++)
            s->weight[t] = sum > 0 ? s->weight[t] * share / sum : share / (double)(last - first);
    }
}

static cof_status settle_lines(cofi_fit *fit, h2h *s, cof_error *err)
{
    fit->log.stop = COF_STOP_CAP;
    for (uint32_t pass = 0; pass < MOST_INNER && !fit->log.stopped; pass++) {
        uint64_t moved;
        set_scores(fit, s, NULL);
        COFI_TRY(one_pass(fit, &moved, err));
        if (moved == 0 && pass > 0) { /* the first pass is always followed by another */
            fit->log.stop = COF_STOP_CONVERGED;
            return COF_OK;
        }
        update_modes(fit, s);
    }
    return COF_OK;
}

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    h2h *s = state;
    double before = 0;
    memset(fit->profiles.alive, 1, fit->partition.k);
    fit->log.rebuild = 0;
    cof_status status = launch(fit, s, err);
    for (size_t t = 0; t < s->n_lines; t++) s->weight[t] = 1.0 / (double)s->n_lines;
    for (uint32_t round = 0; status == COF_OK && !fit->log.stopped; round++) {
        status = settle_lines(fit, s, err);
        bool steady = before > 0 && fabs(before - fit->log.objective) / before < STEADY;
        if (status != COF_OK || steady || (round > 0 && before == 0 && fit->log.objective == 0)) break;
        if (round + 1 == MOST_OUTER) {
            fit->log.stop = COF_STOP_CAP;
            break;
        }
        before = fit->log.objective;
        measure_errors(fit, s);
        learn_weights(fit, s);
        fit->log.rebuild++;
    }
    if (fit->log.stopped) fit->log.stop = COF_STOP_STOPPED;
    return status;
}

const cofi_method cofi_method_h2h = {.name = "h2h",
                                     .title = "Het2Hom (Zhang, Cheung and Zeng 2022)",
                                     .flags = COFI_METHOD_PAIRS,
                                     .open = open,
                                     .run = run};
