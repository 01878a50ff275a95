/* JDM (Jia, Cheung and Liu 2016): rows differ the more, the more frequent their differing values are; an
 * attribute also counts those it depends on.
 *
 * D(x,y) = sum_r w_r t_r / sum_r w_r, w_r the chance that two rows differ in r where x and y agree, and that they
 * agree where x and y differ; t_r adds over the attributes s that go together with r. A quotient of sums is no
 * sum over attributes, so there is no table of scores: numerators and denominators are added up attribute by
 * attribute for all rows, and pair tables are counted when needed instead of kept. */
#include "km.h"
#include "methods.h"

#include <math.h>

typedef struct jdm {
    bool full;
    double n_pairs;                  /* of rows, n (n - 1) */
    uint64_t *total;                 /* rows that hold each value, by weight */
    double *agree;                   /* per attribute: chance that two rows have the same value */
    double *relation;                /* full: R(r, s) of the pairs kept */
    uint32_t *related;               /* full: the attributes s of S_r, r itself among them */
    size_t *related_at;              /* n_attrs + 1 */
    double *numerator, *denominator; /* n_rows x k */
    int32_t *label;
    double *pair; /* one pair table */
    double beta;
} jdm;

static void jdm_close(cofi_engine *e, void *state)
{
    jdm *s = state;
    if (s == NULL) return;
    void *owned[] = {s->total,     s->agree,       s->relation, s->related, s->related_at,
                     s->numerator, s->denominator, s->label,    s->pair,    s};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&e->env, owned[b]);
}

/* I(r;s) / H(r,s) */
static double dependence(const double *count, uint32_t o_r, uint32_t o_s)
{
    double total = 0, joint = 0, own = 0, other = 0;
    for (size_t at = 0; at < (size_t)o_r * o_s; at++) total += count[at];
    for (uint32_t a = 0; a < o_r; a++) {
        double n = cofi_pair_total(count, o_s, a);
        own -= n > 0 ? n / total * log2(n / total) : 0;
    }
    for (uint32_t b = 0; b < o_s; b++) {
        double n = 0;
        for (uint32_t a = 0; a < o_r; a++) {
            double c = count[(size_t)a * o_s + b];
            joint -= c > 0 ? c / total * log2(c / total) : 0;
            n += c;
        }
        other -= n > 0 ? n / total * log2(n / total) : 0;
    }
    return joint > 0 ? (own + other - joint) / joint : 0;
}

/* First sweep: the mean of R. Second: who is above it. */
typedef struct relate_work {
    cofi_engine *e;
    jdm *s;
    double *sum; /* per target, so that adding them up later has one order */
    double *row; /* per worker: R of its target with every attribute */
    uint32_t *n_above;
    bool fill;
} relate_work;

static void relate_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    relate_work *w = ctx;
    const cofi_problem *p = w->e->problem;
    w->row[worker * p->n_attrs + r] = t == r ? 1 : dependence(count, p->n_values[t], p->n_values[r]);
}

static void relate_end(void *ctx, uint32_t worker, size_t t)
{
    relate_work *w = ctx;
    size_t n = w->e->problem->n_attrs, at = w->fill ? w->s->related_at[t] : 0;
    const double *row = w->row + worker * n;
    w->sum[t] = 0;
    w->n_above[t] = 0;
    for (size_t r = 0; r < n; r++) {
        w->sum[t] += row[r];
        /* all attributes equivalent: beta is 1 and each one stands for itself */
        if (!(row[r] > w->s->beta || r == t)) continue;
        w->n_above[t]++;
        if (!w->fill) continue;
        w->s->related[at] = (uint32_t)r;
        w->s->relation[at++] = row[r];
    }
}

static cof_status relate(relate_work *w, cof_error *err)
{
    jdm *s = w->s;
    size_t n = w->e->problem->n_attrs;
    cofi_pair_visitor visitor = {.ctx = w, .pair = relate_pair, .end = relate_end};
    cof_status status = cofi_pairs_visit(w->e, &visitor, err); /* for the mean */
    double sum = 0;
    for (size_t t = 0; status == COF_OK && t < n; t++) sum += w->sum[t];
    s->beta = sum / ((double)n * (double)n);
    if (status == COF_OK) status = cofi_pairs_visit(w->e, &visitor, err); /* for the numbers above it */
    size_t at = 0;
    for (size_t t = 0; status == COF_OK && t < n; t++) {
        s->related_at[t] = at;
        at += w->n_above[t];
    }
    if (status != COF_OK) return status;
    s->related_at[n] = at;
    s->related = cofi_alloc(&w->e->env, at, sizeof *s->related);
    s->relation = cofi_alloc(&w->e->env, at, sizeof *s->relation);
    if (s->related == NULL || s->relation == NULL) return cofi_no_memory(err);
    w->fill = true;
    return cofi_pairs_visit(w->e, &visitor, err);
}

static cof_status find_related(cofi_engine *e, jdm *s, cof_error *err)
{
    size_t n = e->problem->n_attrs;
    relate_work w = {.e = e, .s = s};
    w.sum = cofi_alloc(&e->env, n, sizeof *w.sum);
    w.n_above = cofi_alloc(&e->env, n, sizeof *w.n_above);
    w.row = cofi_alloc(&e->env, n * cofi_team_size(e->team), sizeof *w.row);
    cof_status status = COF_OK;
    if (w.sum == NULL || w.n_above == NULL || w.row == NULL)
        status = cofi_no_memory(err);
    else
        status = relate(&w, err);
    cofi_release(&e->env, w.sum);
    cofi_release(&e->env, w.n_above);
    cofi_release(&e->env, w.row);
    return status;
}

/* Each attribute on its own: S_r = {r}. */
static cof_status relate_self(cofi_engine *e, jdm *s, cof_error *err)
{
    size_t n = e->problem->n_attrs;
    s->related = cofi_alloc(&e->env, n, sizeof *s->related);
    s->relation = cofi_alloc(&e->env, n, sizeof *s->relation);
    if (s->related == NULL || s->relation == NULL) return cofi_no_memory(err);
    for (size_t r = 0; r <= n; r++) s->related_at[r] = r;
    for (size_t r = 0; r < n; r++) {
        s->related[r] = (uint32_t)r;
        s->relation[r] = 1;
    }
    return COF_OK;
}

static void set_agreement(cofi_engine *e, jdm *s)
{
    const cofi_problem *p = e->problem;
    for (size_t r = 0; r < p->n_attrs; r++) {
        s->agree[r] = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double n = (double)s->total[p->first[r] + v] / p->unit;
            s->agree[r] += n * (n - 1) / s->n_pairs;
        }
    }
}

static cof_status jdm_open(cofi_engine *e, void **state, bool full, cof_error *err)
{
    const cofi_problem *p = e->problem;
    uint32_t largest = 0;
    jdm *s = cofi_alloc_zero(&e->env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    *state = s;
    s->full = full;
    double n = (double)p->total_weight / p->unit;
    s->n_pairs = n * (n - 1);
    if (!(n > 1))
        return cofi_fail(err, COF_ERR_FEW_ROWS, "jdm compares pairs of rows, so it needs at least two");
    for (size_t r = 0; r < p->n_attrs; r++) largest = p->n_values[r] > largest ? p->n_values[r] : largest;
    size_t n_cells = p->rows.n_rows * e->o.k;
    s->total = cofi_alloc(&e->env, p->first[p->n_attrs], sizeof *s->total);
    s->agree = cofi_alloc(&e->env, p->n_attrs, sizeof *s->agree);
    s->related_at = cofi_alloc(&e->env, p->n_attrs + 1, sizeof *s->related_at);
    s->numerator = cofi_alloc(&e->env, n_cells, sizeof *s->numerator);
    s->denominator = cofi_alloc(&e->env, n_cells, sizeof *s->denominator);
    s->label = cofi_alloc(&e->env, p->rows.n_rows, sizeof *s->label);
    s->pair = full ? cofi_alloc(&e->env, (size_t)largest * largest, sizeof *s->pair)
                   : cofi_alloc(&e->env, largest, sizeof *s->pair);
    bool ok = s->total != NULL && s->agree != NULL && s->related_at != NULL && s->numerator != NULL &&
              s->denominator != NULL && s->label != NULL && s->pair != NULL;
    if (!ok) return cofi_no_memory(err);
    cofi_value_totals(e, s->total);
    set_agreement(e, s);
    return full ? find_related(e, s, err) : relate_self(e, s, err);
}

static cof_status open_self(cofi_engine *e, void **state, cof_error *err)
{
    return jdm_open(e, state, false, err);
}

static cof_status open_full(cofi_engine *e, void **state, cof_error *err)
{
    return jdm_open(e, state, true, err);
}

/* ---- One pass: numerators and denominators of all rows and modes --------------------------------- */

typedef struct add_job {
    cofi_engine *e;
    jdm *s;
    size_t r;       /* the attribute being added */
    uint32_t other; /* an attribute related to it */
    double relation;
} add_job;

/* s(r, a, s, b): chance that two rows both hold a in r and b in s. */
static double joint_chance(const add_job *job, uint32_t a, uint32_t b)
{
    const cofi_problem *p = job->e->problem;
    double n = job->other == job->r ? job->s->pair[a] : job->s->pair[(size_t)a * p->n_values[job->other] + b];
    return n * (n - 1) / job->s->n_pairs;
}

static void add_task(void *ctx, uint32_t worker, size_t block)
{
    const add_job *job = ctx;
    (void)worker;
    const cofi_problem *p = job->e->problem;
    const cofi_rows *rows = &p->rows;
    size_t begin = block * COFI_BLOCK_ROWS, end = begin + COFI_BLOCK_ROWS;
    uint32_t k = job->e->o.k;
    for (size_t i = begin; i < (end < rows->n_rows ? end : rows->n_rows); i++) {
        uint32_t x = cofi_id(rows->ids[job->r], i), xs = cofi_id(rows->ids[job->other], i);
        if (x >= p->n_values[job->r] || xs >= p->n_values[job->other]) continue;
        for (uint32_t j = 0; j < k; j++) {
            uint32_t y = job->e->mode[j * p->n_attrs + job->r],
                     ys = job->e->mode[j * p->n_attrs + job->other];
            double weight = x != y ? job->s->agree[job->r] : 1 - job->s->agree[job->r];
            if (job->other == job->r) job->s->denominator[i * k + j] += weight;
            if (x == y && xs == ys) continue;
            if (y >= p->n_values[job->r] || ys >= p->n_values[job->other]) continue;
            job->s->numerator[i * k + j] +=
                weight * job->relation * (joint_chance(job, x, xs) + joint_chance(job, y, ys));
        }
    }
}

static void choose_task(void *ctx, uint32_t worker, size_t block)
{
    const add_job *job = ctx;
    (void)worker;
    size_t n_rows = job->e->problem->rows.n_rows, begin = block * COFI_BLOCK_ROWS,
           end = begin + COFI_BLOCK_ROWS;
    uint32_t k = job->e->o.k;
    for (size_t i = begin; i < (end < n_rows ? end : n_rows); i++) {
        double least = INFINITY;
        for (uint32_t j = 0; j < k; j++) {
            double w = job->s->denominator[i * k + j], *d = &job->s->numerator[i * k + j];
            *d = w > 0 ? *d / w : 0;
            if (isfinite(least) && *d >= least - 1e-12 * fmax(*d, least)) continue;
            least = *d;
            job->s->label[i] = (int32_t)j;
        }
    }
}

static void count_pair(cofi_engine *e, jdm *s, size_t r, uint32_t other)
{
    const cofi_problem *p = e->problem;
    if (other != r) {
        cofi_pairs_count(e, r, other, s->pair);
        return;
    }
    for (uint32_t v = 0; v < p->n_values[r]; v++) s->pair[v] = (double)s->total[p->first[r] + v] / p->unit;
}

static double assign(cofi_engine *e, jdm *s)
{
    const cofi_problem *p = e->problem;
    size_t n_blocks = (p->rows.n_rows + COFI_BLOCK_ROWS - 1) / COFI_BLOCK_ROWS, n = p->rows.n_rows * e->o.k;
    add_job job = {.e = e, .s = s};
    memset(s->numerator, 0, n * sizeof *s->numerator);
    memset(s->denominator, 0, n * sizeof *s->denominator);
    for (size_t r = 0; r < p->n_attrs; r++) {
        for (size_t at = s->related_at[r]; at < s->related_at[r + 1]; at++) {
            count_pair(e, s, r, s->related[at]);
            job.r = r;
            job.other = s->related[at];
            job.relation = s->relation[at];
            cofi_team_run(e->team, add_task, &job, n_blocks);
        }
    }
    cofi_team_run(e->team, choose_task, &job, n_blocks);
    double sum = 0;
    for (size_t i = 0; i < p->rows.n_rows; i++)
        sum += s->numerator[i * e->o.k + (uint32_t)s->label[i]] *
               (p->rows.weight != NULL ? (double)p->rows.weight[i] / p->unit : 1.0);
    return sum;
}

static cof_status run(cofi_engine *e, void *state, cof_error *err)
{
    jdm *s = state;
    cof_status status = COF_OK;
    e->stop = COF_STOP_CAP;
    for (uint32_t pass = 0; pass < e->o.max_passes && status == COF_OK && !e->stopped; pass++) {
        if (pass > 0) cofi_modes_frequent(e);
        e->objective = assign(e, s);
        e->n_passes++;
        e->pass.visits += e->problem->rows.n_rows;
        uint64_t moved = cofi_pass_take(&e->pass, s->label);
        status = cofi_engine_record(e, moved, err);
        if (moved == 0) e->stop = COF_STOP_CONVERGED;
        if (moved == 0) break;
        e->stopped = cofi_should_stop(&e->env);
        if (e->stopped) e->stop = COF_STOP_STOPPED;
    }
    return status;
}

const cofi_method cofi_method_jdm = {"jdm",
                                     "Jia, Cheung and Liu 2016, each attribute for itself",
                                     COFI_METHOD_NO_SCORES,
                                     open_self,
                                     run,
                                     jdm_close,
                                     NULL};
const cofi_method cofi_method_jdm_full = {"jdm:full",
                                          "Jia, Cheung and Liu 2016, with dependent attributes",
                                          COFI_METHOD_NO_SCORES | COFI_METHOD_PAIRS,
                                          open_full,
                                          run,
                                          jdm_close,
                                          NULL};
