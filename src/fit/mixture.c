/* EM for classes within which attributes are independent, smoothed by one row's worth of the overall distribution in
 * every class.
 *
 * Memberships are rounded to whole units before they are added up, so that sums do not depend on who adds them. */
#include "mixture.h"

#include <math.h>

enum {
    MOST_OWN_BYTES = 1 << 28, /* of all parts together */
    FEW = 8                   /* classes */
};

struct cofi_mixture {
    double *log_theta; /* [g][stride]: log p(v | class) */
    double *log_pi;    /* stride */
    uint64_t *count;   /* [g][stride]: memberships of rows holding g, in units */
    uint64_t *size;    /* stride */
    uint64_t **own;    /* per part of the rows: count, then size */
    uint32_t n_parts;
    double *block_sum; /* per block of rows: its log-likelihood, added up in order */
    double *overall;   /* [g]: share of each value in the table */
    double *share;     /* per part: memberships of one row */
    uint64_t *units;   /* the same in units, 0 past the last class */
    double membership; /* units of a whole membership of weight one unit: all rows' fit 62 bits */
    double walked;     /* weight of the rows walked */
    size_t step;       /* every step-th row is walked */
    size_t n_entries;
};

void cofi_mixture_close(cofi_engine *e, cofi_mixture *s)
{
    if (s == NULL) return;
    for (uint32_t t = 0; s->own != NULL && t < s->n_parts; t++) cofi_release(&e->env, s->own[t]);
    void *owned[] = {s->log_theta, s->log_pi,  s->count, s->size,  s->own,
                     s->block_sum, s->overall, s->share, s->units, s};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&e->env, owned[b]);
}

static cof_status set_overall(cofi_engine *e, cofi_mixture *s, cof_error *err)
{
    const cofi_problem *p = e->problem;
    uint64_t *total = cofi_alloc(&e->env, p->first[p->n_attrs], sizeof *total);
    if (total == NULL) return cofi_no_memory(err);
    cofi_value_totals(e, total);
    for (size_t r = 0; r < p->n_attrs; r++) {
        double n = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) n += (double)total[p->first[r] + v];
        for (uint32_t v = 0; v < p->n_values[r]; v++)
            s->overall[p->first[r] + v] = (double)total[p->first[r] + v] / n;
    }
    cofi_release(&e->env, total);
    return COF_OK;
}

/* As many as there are threads, unless each would have little to do or tables of its own too large. */
static uint32_t choose_parts(const cofi_engine *e, size_t n_entries, size_t n_walked)
{
    size_t most = MOST_OWN_BYTES / ((n_entries + e->scores.stride) * sizeof(uint64_t));
    size_t blocks = (n_walked + COFI_BLOCK_ROWS - 1) / COFI_BLOCK_ROWS, n = cofi_team_size(e->team);
    n = n < most ? n : most;
    n = n < blocks ? n : blocks;
    return n > 0 ? (uint32_t)n : 1;
}

static void choose_rows(const cofi_engine *e, cofi_mixture *s, size_t most_rows)
{
    const cofi_rows *rows = &e->problem->rows;
    uint64_t weight = 0;
    s->step = rows->n_rows <= most_rows ? 1 : (rows->n_rows + most_rows - 1) / most_rows;
    for (size_t i = 0; i < rows->n_rows; i += s->step) weight += rows->weight != NULL ? rows->weight[i] : 1;
    s->walked = (double)weight / e->problem->unit;
    s->n_parts = choose_parts(e, s->n_entries, rows->n_rows / s->step);
}

cof_status cofi_mixture_open(cofi_engine *e, size_t most_rows, cofi_mixture **out, cof_error *err)
{
    const cofi_problem *p = e->problem;
    cofi_mixture *s = cofi_alloc_zero(&e->env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    *out = s;
    s->n_entries = (size_t)p->first[p->n_attrs] * e->scores.stride;
    choose_rows(e, s, most_rows);
    s->membership = ldexp(1.0, 61 - ilogb((double)p->total_weight));
    s->log_theta = cofi_alloc_zero(&e->env, s->n_entries, sizeof *s->log_theta);
    s->log_pi = cofi_alloc_zero(&e->env, e->scores.stride, sizeof *s->log_pi);
    s->count = cofi_alloc(&e->env, s->n_entries, sizeof *s->count);
    s->size = cofi_alloc(&e->env, e->scores.stride, sizeof *s->size);
    s->own = cofi_alloc_zero(&e->env, s->n_parts, sizeof *s->own);
    s->block_sum = cofi_alloc(&e->env, p->rows.n_rows / COFI_BLOCK_ROWS + 1, sizeof *s->block_sum);
    s->overall = cofi_alloc_zero(&e->env, p->first[p->n_attrs], sizeof *s->overall);
    s->share = cofi_alloc(&e->env, (size_t)s->n_parts * e->scores.stride, sizeof *s->share);
    s->units = cofi_alloc_zero(&e->env, (size_t)s->n_parts * e->scores.stride, sizeof *s->units);
    bool ok = s->share != NULL && s->units != NULL && s->log_theta != NULL && s->log_pi != NULL &&
              s->count != NULL && s->size != NULL && s->own != NULL && s->block_sum != NULL &&
              s->overall != NULL;
    for (uint32_t t = 0; ok && t < s->n_parts; t++) {
        s->own[t] = cofi_alloc(&e->env, s->n_entries + e->scores.stride, sizeof **s->own);
        ok = s->own[t] != NULL;
    }
    return ok ? set_overall(e, s, err) : cofi_no_memory(err);
}

/* M step: `unit` of the counts is one whole row, n of them in all. */
static void maximise(const cofi_engine *e, cofi_mixture *s, const uint64_t *count, const uint64_t *size,
                     double unit, double n)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    for (uint32_t j = 0; j < e->o.k; j++)
        s->log_pi[j] = log(((double)size[j] / unit + 1.0 / e->o.k) / (n + 1));
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (uint32_t j = 0; j < e->o.k; j++) {
            double total = 0;
            for (uint32_t v = 0; v < p->n_values[r]; v++)
                total += (double)count[(size_t)(p->first[r] + v) * stride + j];
            for (uint32_t v = 0; v < p->n_values[r]; v++) {
                size_t g = p->first[r] + v;
                double share = ((double)count[g * stride + j] / unit + s->overall[g]) / (total / unit + 1);
                s->log_theta[g * stride + j] =
                    share > 0 ? log(share) : 0; /* a value that no weighted row holds */
            }
        }
    }
}

void cofi_mixture_begin(const cofi_engine *e, cofi_mixture *s)
{
    const cofi_problem *p = e->problem;
    maximise(e, s, e->pass.count, e->pass.size, p->unit, (double)p->total_weight / p->unit);
}

void cofi_mixture_maximise(const cofi_engine *e, cofi_mixture *s)
{
    maximise(e, s, s->count, s->size, s->membership * e->problem->unit, s->walked);
}

typedef struct expect_job {
    cofi_engine *e;
    cofi_mixture *s;
} expect_job;

/* exp(x) for x <= 0, to about 1e-13: whole powers of two through the exponent, the rest by a polynomial. Plain
 * arithmetic gives the same bits on every processor; the C library's does not. */
static void exp_all(double *x, uint32_t n)
{
    static const double ln2_power[] = {1,
                                       0.69314718055994530942,
                                       0.24022650695910071233,
                                       0.055504108664821579953,
                                       0.0096181291076284771620,
                                       0.0013333558146428443423,
                                       1.5403530393381609954e-4,
                                       1.5252733804059840281e-5,
                                       1.3215486790144309489e-6,
                                       1.0178086009239699728e-7,
                                       7.0549116208011233299e-9,
                                       4.4455382718708114976e-10};
    const double to_whole = 0x1.8p52; /* adding it leaves a whole number in the lowest bits */
    for (uint32_t i = 0; i < n; i++) {
        double y = (x[i] > -700 ? x[i] : -700) * 1.4426950408889634074, shifted = y + to_whole;
        double rest = y - (shifted - to_whole), sum = 0, power;
        uint64_t bits;
        for (int at = sizeof ln2_power / sizeof *ln2_power; at-- > 0;) sum = sum * rest + ln2_power[at];
        memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + 1023) << 52;
        memcpy(&power, &bits, sizeof power);
        x[i] = sum * power;
    }
}

/* Log-likelihood of a row; its class memberships into share[], anything past the last class. */
static inline __attribute__((always_inline)) double row_memberships(const cofi_engine *e,
                                                                    const cofi_mixture *s, size_t row,
                                                                    uint32_t stride, uint32_t lanes,
                                                                    double *share)
{
    const cofi_rows *rows = &e->problem->rows;
    uint32_t k = e->o.k;
    double most = -INFINITY, sum = 0;
    /* Few classes are added up in registers: in memory every addition would wait for a store. */
    double few[FEW], *here = stride <= FEW ? few : share;
    for (uint32_t j = 0; j < lanes; j++) here[j] = s->log_pi[j];
    for (size_t r = 0; r < rows->n_attrs; r++) {
        const double *theta = s->log_theta + (size_t)(rows->first[r] + cofi_id(rows->ids[r], row)) * stride;
        for (uint32_t j = 0; j < lanes; j++) here[j] += theta[j];
    }
    if (here != share) memcpy(share, here, lanes * sizeof *share);
    for (uint32_t j = 0; j < k; j++) most = share[j] > most ? share[j] : most;
    for (uint32_t j = 0; j < lanes; j++) share[j] -= most;
    exp_all(share, lanes);
    for (uint32_t j = 0; j < k; j++) sum += share[j];
    for (uint32_t j = 0; j < k; j++) share[j] /= sum;
    return most + log(fmax(sum, 1)); /* the likeliest class alone gives 1 */
}

/* Adds a row's memberships, in whole units, to those of the values it holds. */
static inline __attribute__((always_inline)) void expect_row(const expect_job *job, uint64_t *restrict count,
                                                             uint64_t *restrict size, size_t row,
                                                             uint32_t stride, uint32_t lanes,
                                                             const double *share, uint64_t *restrict units)
{
    const cofi_engine *e = job->e;
    const cofi_rows *rows = &e->problem->rows;
    double whole = job->s->membership * (rows->weight != NULL ? (double)rows->weight[row] : 1.0);
    for (uint32_t j = 0; j < e->o.k; j++) units[j] = (uint64_t)llrint(share[j] * whole);
    for (uint32_t j = 0; j < lanes; j++) size[j] += units[j];
    for (size_t r = 0; r < rows->n_attrs; r++) {
        uint64_t *to = count + (size_t)(rows->first[r] + cofi_id(rows->ids[r], row)) * stride;
        for (uint32_t j = 0; j < lanes; j++) to[j] += units[j];
    }
}

/* `stride`, and `lanes`, the classes to be added up, are constants where this is inlined for few of them. */
static inline __attribute__((always_inline)) double
expect_rows(const expect_job *job, uint32_t part, size_t begin, size_t end, uint32_t stride, uint32_t lanes)
{
    const cofi_engine *e = job->e;
    const cofi_problem *p = e->problem;
    cofi_mixture *s = job->s;
    uint64_t *count = s->own[part], *size = count + s->n_entries, *units = s->units + (size_t)part * stride;
    double *share = s->share + (size_t)part * stride, sum = 0;
    for (size_t i = begin; i < end; i += s->step) {
        double weight = p->rows.weight != NULL ? (double)p->rows.weight[i] / p->unit : 1.0;
        if (weight == 0) continue;
        sum += weight * row_memberships(e, s, i, stride, lanes, share);
        expect_row(job, count, size, i, stride, lanes, share, units);
    }
    return sum;
}

static double expect_block(const expect_job *job, uint32_t part, size_t block)
{
    const cofi_rows *rows = &job->e->problem->rows;
    size_t step = job->s->step, begin = block * COFI_BLOCK_ROWS, end = begin + COFI_BLOCK_ROWS;
    begin = (begin + step - 1) / step * step;
    end = end < rows->n_rows ? end : rows->n_rows;
    switch (job->e->scores.stride) {
    case 2:
        return expect_rows(job, part, begin, end, 2, 2);
    case 4:
        return expect_rows(job, part, begin, end, 4, 4);
    case 6:
        return expect_rows(job, part, begin, end, 6, 6);
    case 8:
        return expect_rows(job, part, begin, end, 8, 8);
    default:
        return expect_rows(job, part, begin, end, job->e->scores.stride, (job->e->o.k + 1) & ~1u);
    }
}

static size_t n_blocks(const cofi_engine *e)
{
    return (e->problem->rows.n_rows + COFI_BLOCK_ROWS - 1) / COFI_BLOCK_ROWS;
}

static void expect_task(void *ctx, uint32_t worker, size_t part)
{
    const expect_job *job = ctx;
    cofi_mixture *s = job->s;
    (void)worker;
    memset(s->own[part], 0, (s->n_entries + job->e->scores.stride) * sizeof **s->own);
    size_t begin = part * n_blocks(job->e) / s->n_parts, end = (part + 1) * n_blocks(job->e) / s->n_parts;
    for (size_t b = begin; b < end; b++) s->block_sum[b] = expect_block(job, (uint32_t)part, b);
}

double cofi_mixture_expect(cofi_engine *e, cofi_mixture *s)
{
    expect_job job = {e, s};
    uint32_t stride = e->scores.stride;
    double sum = 0;
    cofi_team_run(e->team, expect_task, &job, s->n_parts);
    memset(s->count, 0, s->n_entries * sizeof *s->count);
    memset(s->size, 0, stride * sizeof *s->size);
    for (uint32_t t = 0; t < s->n_parts; t++) {
        for (size_t at = 0; at < s->n_entries; at++) s->count[at] += s->own[t][at];
        for (uint32_t j = 0; j < stride; j++) s->size[j] += s->own[t][s->n_entries + j];
    }
    for (size_t b = 0; b < n_blocks(e); b++) sum += s->block_sum[b];
    e->pass.visits += (e->problem->rows.n_rows + s->step - 1) / s->step;
    return sum;
}

double cofi_mixture_smoothing(const cofi_engine *e, const cofi_mixture *s)
{
    const cofi_problem *p = e->problem;
    double sum = 0;
    for (uint32_t j = 0; j < e->o.k; j++) {
        sum += s->log_pi[j] / e->o.k;
        for (uint32_t g = 0; g < p->first[p->n_attrs]; g++)
            sum += s->overall[g] * s->log_theta[(size_t)g * e->scores.stride + j];
    }
    return sum;
}

void cofi_mixture_scores(cofi_engine *e, const cofi_mixture *s)
{
    const cofi_problem *p = e->problem;
    uint32_t stride = e->scores.stride;
    double largest = 0;
    for (uint32_t j = 0; j < e->o.k; j++) largest = fmax(largest, -s->log_pi[j]);
    for (size_t r = 0; r < p->n_attrs; r++) {
        double most = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++)
            for (uint32_t j = 0; j < e->o.k; j++)
                most = fmax(most, -s->log_theta[(size_t)(p->first[r] + v) * stride + j]);
        largest += most;
    }
    memset(e->alive, 1, e->o.k);
    cofi_scores_open(e, largest);
    for (size_t at = 0; at < s->n_entries; at++)
        e->scores.value[at] = cofi_fixed_point(-s->log_theta[at], e->scores.scale);
    for (uint32_t j = 0; j < e->o.k; j++)
        e->scores.base[j] = cofi_fixed_point(-s->log_pi[j], e->scores.scale);
}

double cofi_mixture_parameters(const cofi_engine *e)
{
    double n = e->o.k - 1;
    for (size_t r = 0; r < e->problem->n_attrs; r++) n += (double)e->o.k * (e->problem->n_present[r] - 1);
    return n;
}
