/* The E step over rows in memory.
 *
 * Memberships and log-likelihoods of every row of the table are rounded to whole units before they are added
 * up, so that sums do not depend on the number of threads nor on folding. The surprise of a row is minus its log-likelihood. */
#include "local.h"

#include <math.h>

enum {
    MOST_OWN_BYTES = 1 << 28, /* limit for all parts together */
    FEW = 8,                  /* so many classes are summed in registers */
    LINE = 64                 /* bytes of a cache line: parts must not share one */
};

typedef struct expect_job {
    const cofi_expectation *e;
    const cofi_cells *cells;
    /* What is visited: n rows of the table, or, if copies can be counted instead, n rows of `cells`. */
    size_t n;
    const uint32_t *group;  /* row of the table -> row of `cells`; NULL: the identity */
    const uint64_t *weight; /* NULL: 1 each */
    const uint32_t *copies; /* NULL: 1 each */
    uint64_t first_row;     /* number of the first one in the whole table */
    cofi_labels *s;
    size_t n_entries;
    double surprise_scale; /* units in a surprise of 1 of a row of weight 1 unit */
} expect_job;

/* ---- Parts of the rows --------------------------------------------------------------------------- */

/* One part per thread, unless a part would have too few rows or the tables would take too much memory. */
static uint32_t choose_parts(const cofi_labels *s, const cofi_expectation *e, size_t n_entries,
                             size_t n_visited)
{
    size_t most = MOST_OWN_BYTES / ((n_entries + e->stride) * sizeof(uint64_t));
    size_t n = cofi_team_size(s->pass.team), blocks = cofi_n_blocks(n_visited);
    n = n < most ? n : most;
    n = n < blocks ? n : blocks;
    return n > 0 ? (uint32_t)n : 1;
}

void cofi_local_expect_close(const cof_env *env, cofi_labels *s)
{
    for (uint32_t t = 0; s->part != NULL && t < s->n_parts; t++) cofi_release(env, s->part[t].count);
    cofi_release(env, s->part);
    s->part = NULL;
}

/* Allocates one block per part, with an unused cache line at its end. */
static cof_status open_parts(const cof_env *env, cofi_labels *s, const cofi_expectation *e, size_t n_entries,
                             size_t n_visited, cof_error *err)
{
    s->n_parts = choose_parts(s, e, n_entries, n_visited);
    s->part = cofi_alloc_zero(env, s->n_parts, sizeof *s->part);
    if (s->part == NULL) return cofi_no_memory(err);
    for (uint32_t t = 0; t < s->n_parts; t++) {
        size_t n = n_entries + 3 * (size_t)e->stride + LINE / sizeof(uint64_t);
        s->part[t].count = cofi_alloc_zero(env, n, sizeof(uint64_t));
        if (s->part[t].count == NULL) return cofi_no_memory(err);
        /* allocated memory takes the type last written to it */
        s->part[t].share = (double *)(void *)(s->part[t].count + n_entries + 2 * (size_t)e->stride);
    }
    return COF_OK;
}

/* ---- One row ------------------------------------------------------------------------------------- */

/* exp(x) for x <= 0 with a relative error of about 1e-13. Powers of two go through the exponent bits, the
 * rest through a polynomial. Plain arithmetic gives the same bits on every processor; the exp of C
 * libraries does not. */
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

/* Returns the log-likelihood of a row and writes its class memberships to share[]; entries past the last
 * class are undefined. */
static inline __attribute__((always_inline)) double
row_memberships(const expect_job *job, size_t row, uint32_t stride, uint32_t lanes, double *share)
{
    const cofi_cells *c = job->cells;
    uint32_t k = job->e->k;
    double most = -INFINITY, sum = 0;
    /* With few classes the sums stay in registers; in memory every addition would wait for the previous
     * store. */
    double few[FEW], *here = stride <= FEW ? few : share;
    for (uint32_t j = 0; j < lanes; j++) here[j] = job->e->log_pi[j];
    for (size_t r = 0; r < c->n_attrs; r++) {
        const double *theta = job->e->log_theta + (size_t)(c->first[r] + cofi_id(c->ids[r], row)) * stride;
        for (uint32_t j = 0; j < lanes; j++) here[j] += theta[j];
    }
    if (here != share) memcpy(share, here, lanes * sizeof *share);
    for (uint32_t j = 0; j < k; j++) most = share[j] > most ? share[j] : most;
    for (uint32_t j = 0; j < lanes; j++) share[j] -= most;
    exp_all(share, lanes);
    for (uint32_t j = 0; j < k; j++) sum += share[j];
    for (uint32_t j = 0; j < k; j++) share[j] /= sum;
    if (job->surprise_scale == 0) return 0; /* nobody asks for it */
    return most + log(sum > 1 ? sum : 1);   /* the likeliest class contributes 1; rounding may lower it */
}

/* Adds the memberships of equal rows, in whole units, to the counts of their values. */
static inline __attribute__((always_inline)) void add_row(const expect_job *job, uint64_t *restrict count,
                                                          size_t row, uint64_t weight, uint64_t copies,
                                                          uint32_t stride, uint32_t lanes,
                                                          const double *share)
{
    const cofi_cells *c = job->cells;
    uint64_t *restrict size = count + job->n_entries, *restrict units = size + stride;
    double whole = job->e->membership * (double)weight;
    for (uint32_t j = 0; j < job->e->k; j++) units[j] = copies * (uint64_t)llrint(share[j] * whole);
    for (uint32_t j = 0; j < lanes; j++) size[j] += units[j];
    for (size_t r = 0; r < c->n_attrs; r++) {
        uint64_t *to = count + (size_t)(c->first[r] + cofi_id(c->ids[r], row)) * stride;
        for (uint32_t j = 0; j < lanes; j++) to[j] += units[j];
    }
}

/* ---- All rows ------------------------------------------------------------------------------------ */

/* `stride` and `lanes`, the number of classes to add up, are constants in the inlined versions for few
 * classes. */
static inline __attribute__((always_inline)) void expect_rows(const expect_job *job, cofi_expect_part *sums,
                                                              size_t begin, size_t end, uint32_t stride,
                                                              uint32_t lanes)
{
    cofi_expect_part own = *sums;
    for (size_t i = begin; i < end; i += job->e->step) {
        uint64_t weight = job->weight != NULL ? job->weight[i] : 1;
        uint64_t copies = job->copies != NULL ? job->copies[i] : 1;
        size_t row = job->group != NULL ? job->group[i] : i;
        if (weight == 0) continue;
        double log_likelihood = row_memberships(job, row, stride, lanes, own.share);
        own.weight += copies * weight;
        double surprise = log_likelihood < 0 ? -log_likelihood : 0;
        own.surprise += copies * (uint64_t)llrint(surprise * (double)weight * job->surprise_scale);
        add_row(job, own.count, row, weight, copies, stride, lanes, own.share);
    }
    *sums = own;
}

static void expect_block(const expect_job *job, cofi_expect_part *part, size_t block)
{
    size_t step = job->e->step, begin = block * COFI_BLOCK_ROWS, end = begin + COFI_BLOCK_ROWS;
    begin += (step - (size_t)((job->first_row + begin) % step)) % step;
    end = end < job->n ? end : job->n;
    switch (job->e->stride) {
    case 2:
        expect_rows(job, part, begin, end, 2, 2);
        break;
    case 4:
        expect_rows(job, part, begin, end, 4, 4);
        break;
    case 6:
        expect_rows(job, part, begin, end, 6, 6);
        break;
    case 8:
        expect_rows(job, part, begin, end, 8, 8);
        break;
    default:
        expect_rows(job, part, begin, end, job->e->stride, (job->e->k + 1) & ~1u);
    }
}

static void expect_task(void *ctx, uint32_t worker, size_t part)
{
    const expect_job *job = ctx;
    cofi_expect_part *own = &job->s->part[part];
    size_t n = cofi_n_blocks(job->n);
    (void)worker;
    own->surprise = own->weight = 0;
    memset(own->count, 0, (job->n_entries + job->e->stride) * sizeof *own->count);
    for (size_t b = part * n / job->s->n_parts; b < (part + 1) * n / job->s->n_parts; b++)
        expect_block(job, own, b);
}

/* The largest power of two that keeps the surprise of all rows below 2^62. */
static double surprise_scale(double surprise, uint64_t total_weight)
{
    int exponent = 61 - ilogb(fmax(surprise, 1)) - ilogb((double)total_weight);
    return ldexp(1.0, exponent - 1);
}

/* Equal rows of equal weight are visited once, unless only some rows of the table are visited. */
static void set_rows(expect_job *job, const cofi_local *l)
{
    if (l->group != NULL && l->table_weight == NULL && job->e->step == 1) {
        job->n = l->cells.n_rows;
        job->copies = l->copies;
        return;
    }
    job->n = l->n_rows;
    job->group = l->group;
    job->weight = l->table_weight;
    job->first_row = l->first_row;
}

cof_status cofi_local_expect(cofi_partition *p, cofi_expectation *e, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    const cofi_problem *problem = p->rows->problem;
    cofi_labels *s = p->labels;
    expect_job job = {.e = e,
                      .cells = &l->cells,
                      .s = s,
                      .n_entries = (size_t)cofi_n_flat(problem) * e->stride,
                      .surprise_scale =
                          e->surprise > 0 ? surprise_scale(e->surprise, problem->total_weight) : 0};
    cof_status status = COF_OK;
    uint64_t surprise = 0;
    set_rows(&job, l);
    if (s->part == NULL) status = open_parts(&l->env, s, e, job.n_entries, job.n / e->step, err);
    if (status != COF_OK) return status;
    cofi_team_run(s->pass.team, expect_task, &job, s->n_parts);
    memset(e->count, 0, job.n_entries * sizeof *e->count);
    memset(e->size, 0, e->stride * sizeof *e->size);
    e->weight = 0;
    for (uint32_t t = 0; t < s->n_parts; t++) {
        for (size_t at = 0; at < job.n_entries; at++) e->count[at] += s->part[t].count[at];
        for (uint32_t j = 0; j < e->stride; j++) e->size[j] += s->part[t].count[job.n_entries + j];
        surprise += s->part[t].surprise;
        e->weight += s->part[t].weight;
    }
    e->log_likelihood =
        e->surprise > 0 ? -(double)surprise / job.surprise_scale / problem->unit : (double)NAN;
    return COF_OK;
}
