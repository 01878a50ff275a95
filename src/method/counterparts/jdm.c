/* JDM (Jia, Cheung and Liu 2016): the distance of two rows grows with the frequency of the values in which
 * they differ; a term of an attribute also includes related attributes.
 *
 * D(x,y) = sum_r w_r t_r / sum_r w_r. If x and y agree in r, w_r is the probability that two rows differ in
 * r; otherwise it is the probability that they agree. t_r is the sum of R(r,s) [s(x) + s(y)] over the
 * attributes s related to r, where s(x) is the probability that two rows both hold x's values of r and s;
 * terms in which x and y agree in both r and s are omitted.
 *
 * The quotient is not a sum over attributes, so there is no score table. Instead t_r = own(x, r) + own(y,
 * r) - 2 * (terms in which x and y agree). own(x, r) is the whole sum for one row and is computed once;
 * the agreeing terms come from bitmaps of the rows that agree with a mode. All terms are rounded to
 * multiples of one power of two, so that sums are exact: equal terms cancel to 0, and the result does not
 * depend on the number of threads. */
#include "../km.h"
#include "../whole_rows.h"
#include "entropy.h"

enum { BLOCK = 512, RELATED_AT_ONCE = 256 }; /* rows, and related attributes, per task */

typedef struct jdm {
    cofi_whole rows;
    bool weighted; /* some row has a weight other than 1 unit */
    bool full;
    double n_pairs;   /* number of ordered pairs of rows, n (n - 1) */
    double scale;     /* terms are multiples of 1 / scale */
    double *agree;    /* per attribute: probability that two rows have the same value */
    double *alone;    /* only self: per flat id, the probability that two rows both hold it */
    double *row_own;  /* only full: [r][row], own(x, r) */
    double *relation; /* only full: R(t, r) for r < t, at t (t - 1) / 2 + r */
    double beta;      /* only full: the mean of R; attributes with a greater R are related */
    size_t words;
    uint64_t *match;  /* [j][r][words]: rows that agree with the mode of cluster j in r */
    uint64_t *absent; /* [r][words]: rows whose cell in r is ignored; NULL: no row */
    /* the members below belong to the attribute r being added */
    uint32_t *related; /* S_r: the attributes related to r, including r */
    double *strength;  /* R(r, s) of each related attribute */
    /* [related][j]: R(r, s) times the probability of the mode's values of r and s */
    double *shared;
    double **block;      /* per worker: BLOCK x k */
    double *numerator;   /* n_rows x k; finally the distances */
    double *denominator; /* n_rows x k */
    double *mode_own;    /* k: own(y, r) of the modes y */
} jdm;

static double round_term(const jdm *s, double term)
{
    return rint(term * s->scale) / s->scale;
}

/* R times the probability that two rows are both among n rows. */
static double chance_term(const jdm *s, double related, double n)
{
    return n > 1 ? round_term(s, related * n * (n - 1) / s->n_pairs) : 0;
}

/* ---- Related attributes -------------------------------------------------------------------------- */

/* I(r;s) / H(r,s) */
static double dependence(const cofi_logs *logs, const double *count, uint32_t o_r, uint32_t o_s)
{
    cofi_shared h = cofi_entropies(logs, count, o_r, o_s);
    return h.joint > 0 ? (h.own + h.other - h.joint) / h.joint : 0;
}

static double relation_of(const jdm *s, size_t t, size_t r)
{
    if (t == r) return 1;
    return t > r ? s->relation[t * (t - 1) / 2 + r] : s->relation[r * (r - 1) / 2 + t];
}

/* Sets s->related to S_r. If all attributes are equivalent, beta is 1 and each attribute is related only
 * to itself. */
static size_t find_related(const cofi_fit *fit, jdm *s, size_t r)
{
    size_t n = 0;
    for (size_t other = 0; s->full && other < fit->problem->n_attrs; other++) {
        double related = relation_of(s, r, other);
        if (!(related > s->beta || other == r)) continue;
        s->related[n] = (uint32_t)other;
        s->strength[n++] = related;
    }
    if (s->full) return n;
    s->related[0] = (uint32_t)r;
    s->strength[0] = 1;
    return 1;
}

typedef struct relate_work {
    cofi_fit *fit;
    jdm *s;
    cofi_logs logs;
} relate_work;

static void relate_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    relate_work *w = ctx;
    const cofi_problem *p = w->fit->problem;
    if (r >= t) return;
    w->s->relation[t * (t - 1) / 2 + r] = dependence(&w->logs, count, p->n_values[t], p->n_values[r]);
}

/* Sets beta to the mean of R. Returns the largest sum of R over the attributes related to one, which is an
 * upper bound of own(x, r). */
static double average_relations(const cofi_fit *fit, jdm *s)
{
    size_t n = fit->problem->n_attrs;
    double sum = (double)n, most = 1;
    for (size_t at = 0; at < n * (n - 1) / 2; at++) sum += 2 * s->relation[at];
    s->beta = sum / ((double)n * (double)n);
    for (size_t r = 0; r < n; r++) {
        double related = 0;
        for (size_t at = find_related(fit, s, r); at-- > 0;) related += s->strength[at];
        most = fmax(most, related);
    }
    return most;
}

/* Adds the terms of this pair of attributes to own(x, t) of every row. */
static void add_own(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    relate_work *w = ctx;
    const cofi_problem *p = w->fit->problem;
    double related = relation_of(w->s, t, r), *own = w->s->row_own + t * w->s->rows.n_rows;
    uint32_t o_t = p->n_values[t], o_r = p->n_values[r];
    if (!(related > w->s->beta || t == r)) return;
    for (size_t at = 0; at < (size_t)o_t * o_r; at++) count[at] = chance_term(w->s, related, count[at]);
    for (size_t i = 0; i < w->s->rows.n_rows; i++) {
        const uint32_t *cell = cofi_whole_row(&w->s->rows, i);
        uint32_t a = cell[t], b = cell[r];
        if (a < o_t && b < o_r) own[i] += count[(size_t)a * o_r + b];
    }
}

static void set_scale(jdm *s, double largest)
{
    int exponent;
    frexp(largest, &exponent);
    /* sums of two such terms stay below 2^53, so they are exact */
    s->scale = ldexp(1.0, 51 - exponent);
}

static cof_status relate(cofi_fit *fit, jdm *s, cof_error *err)
{
    relate_work w = {.fit = fit, .s = s};
    cofi_pair_visitor first = {.ctx = &w, .pair = relate_pair, .before_only = true};
    cofi_pair_visitor second = {.ctx = &w, .pair = add_own};
    COFI_TRY(cofi_logs_open(fit, &w.logs, err));
    COFI_TRY(cofi_rows_pairs(fit->partition.rows, fit->host.team, &first, err));
    set_scale(s, average_relations(fit, s));
    return cofi_rows_pairs(fit->partition.rows, fit->host.team, &second, err);
}

/* ---- Opening ------------------------------------------------------------------------------------- */

static cof_status alloc_state(cofi_fit *fit, jdm *s, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    cofi_blocks *own = &fit->own;
    size_t l = p->n_attrs, n_cells = s->rows.n_rows * fit->partition.k, n_related = s->full ? l : 1;
    uint32_t n_workers = cofi_team_size(fit->host.team);
    s->words = (s->rows.n_rows + 63) / 64;
    s->agree = cofi_blocks_add(own, l, sizeof *s->agree);
    s->alone = cofi_blocks_add_zero(own, p->first[l], sizeof *s->alone);
    s->match = cofi_blocks_add(own, s->words * l * fit->partition.k, sizeof *s->match);
    s->related = cofi_blocks_add(own, n_related, sizeof *s->related);
    s->strength = cofi_blocks_add(own, n_related, sizeof *s->strength);
    s->shared = cofi_blocks_add(own, n_related * fit->partition.k, sizeof *s->shared);
    s->numerator = cofi_blocks_add(own, n_cells, sizeof *s->numerator);
    s->denominator = cofi_blocks_add(own, n_cells, sizeof *s->denominator);
    s->mode_own = cofi_blocks_add(own, fit->partition.k, sizeof *s->mode_own);
    s->block = cofi_blocks_add_zero(own, n_workers, sizeof *s->block);
    for (uint32_t t = 0; s->block != NULL && t < n_workers; t++)
        s->block[t] = cofi_blocks_add(own, (size_t)BLOCK * fit->partition.k, sizeof **s->block);
    bool ignored = false;
    for (size_t r = 0; r < l; r++) ignored |= p->first[r] + p->n_values[r] < p->first[r + 1];
    if (ignored) s->absent = cofi_blocks_add_zero(own, s->words * l, sizeof *s->absent);
    if (s->full) {
        s->relation = cofi_blocks_add(own, l * (l - 1) / 2, sizeof *s->relation);
        s->row_own = cofi_blocks_add_zero(own, l * s->rows.n_rows, sizeof *s->row_own);
    }
    return cofi_blocks_status(own, err);
}

static cof_status open(cofi_fit *fit, void **state, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    const uint64_t *total;
    jdm *s = *state = cofi_blocks_add_zero(&fit->own, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    s->full = (fit->method->flags & COFI_METHOD_PAIRS) != 0;
    double n = (double)p->total_weight / p->unit;
    s->n_pairs = n * (n - 1);
    if (!(n > 1))
        return cofi_fail(err, COF_ERR_FEW_ROWS, "jdm compares pairs of rows, so it needs at least two rows");
    COFI_TRY(cofi_whole_open(fit, &fit->own, &s->rows, err));
    for (size_t i = 0; i < s->rows.n_rows; i++) s->weighted |= s->rows.weight[i] != 1;
    COFI_TRY(alloc_state(fit, s, err));
    for (size_t r = 0; s->absent != NULL && r < p->n_attrs; r++)
        for (size_t i = 0; i < s->rows.n_rows; i++)
            if (cofi_whole_row(&s->rows, i)[r] >= p->n_values[r])
                s->absent[r * s->words + i / 64] |= UINT64_C(1) << (i % 64);
    set_scale(s, 1);
    COFI_TRY(cofi_fit_totals(fit, &total, err));
    for (size_t r = 0; r < p->n_attrs; r++) {
        s->agree[r] = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double holders = (double)total[p->first[r] + v] / p->unit;
            s->agree[r] += holders > 1 ? holders * (holders - 1) / s->n_pairs : 0;
            s->alone[p->first[r] + v] = chance_term(s, 1, holders);
        }
    }
    return s->full ? relate(fit, s, err) : COF_OK;
}

/* ---- One pass: numerators and denominators of all rows and modes --------------------------------- */

typedef struct add_job {
    cofi_fit *fit;
    jdm *s;
    size_t r; /* the attribute being added */
    size_t n_related;
} add_job;

static uint64_t *matches(const add_job *job, uint32_t j, size_t r)
{
    return job->s->match + (j * job->fit->problem->n_attrs + r) * job->s->words;
}

static void match_task(void *ctx, uint32_t worker, size_t r)
{
    const add_job *job = ctx;
    const cofi_problem *p = job->fit->problem;
    const cofi_whole *rows = &job->s->rows;
    for (uint32_t j = 0; j < job->fit->partition.k; j++) {
        uint64_t *bits = matches(job, j, r);
        uint32_t mode = job->fit->seeds.mode[j * p->n_attrs + r];
        for (size_t w = 0; w < job->s->words; w++) {
            size_t n = rows->n_rows - 64 * w < 64 ? rows->n_rows - 64 * w : 64;
            uint64_t word = 0;
            for (size_t i = 0; i < n; i++)
                word |= (uint64_t)(cofi_whole_row(rows, 64 * w + i)[r] == mode) << i;
            bits[w] = word;
        }
    }
}

/* Summed weight of the rows in both bitmaps. */
static double weigh_common(const add_job *job, const uint64_t *a, const uint64_t *b)
{
    const cofi_problem *p = job->fit->problem;
    uint64_t sum = 0;
    for (size_t w = 0; w < job->s->words; w++) {
        uint64_t word = a[w] & b[w];
        if (!job->s->weighted) {
            sum += (uint64_t)__builtin_popcountll(word);
            continue;
        }
        for (; word != 0; word &= word - 1)
            sum += job->s->rows.weight[64 * w + (size_t)__builtin_ctzll(word)];
    }
    return (double)sum / p->unit;
}

static void share_task(void *ctx, uint32_t worker, size_t task)
{
    const add_job *job = ctx;
    jdm *s = job->s;
    uint32_t k = job->fit->partition.k;
    for (size_t at = task * RELATED_AT_ONCE; at < job->n_related && at < (task + 1) * RELATED_AT_ONCE; at++)
        for (uint32_t j = 0; j < k; j++)
            s->shared[at * k + j] =
                chance_term(s, s->strength[at],
                            weigh_common(job, matches(job, j, job->r), matches(job, j, s->related[at])));
}

/* Adds twice the terms in which the rows of a block and the modes agree, and the terms that a row with an
 * ignored cell does not have. */
static void add_agreement(const add_job *job, size_t first_word, size_t n_words, double *agreed)
{
    const jdm *s = job->s;
    uint32_t k = job->fit->partition.k;
    memset(agreed, 0, (size_t)BLOCK * k * sizeof *agreed);
    for (size_t at = 0; at < job->n_related; at++) {
        const uint64_t *absent = s->absent != NULL ? s->absent + s->related[at] * s->words : NULL;
        for (uint32_t j = 0; j < k; j++) {
            const uint64_t *mine = matches(job, j, job->r), *other = matches(job, j, s->related[at]);
            double shared = s->shared[at * k + j];
            if (shared == 0) continue;
            for (size_t w = 0; w < n_words; w++) {
                double *to = agreed + 64 * w * k + j;
                for (uint64_t word = mine[first_word + w] & other[first_word + w]; word != 0;
                     word &= word - 1)
                    to[(size_t)__builtin_ctzll(word) * k] += 2 * shared;
                if (absent == NULL) continue;
                for (uint64_t word = absent[first_word + w]; word != 0; word &= word - 1)
                    to[(size_t)__builtin_ctzll(word) * k] += shared;
            }
        }
    }
}

static void add_task(void *ctx, uint32_t worker, size_t block)
{
    const add_job *job = ctx;
    const cofi_problem *p = job->fit->problem;
    jdm *s = job->s;
    uint32_t k = job->fit->partition.k;
    size_t begin = block * BLOCK, n = s->rows.n_rows - begin < BLOCK ? s->rows.n_rows - begin : BLOCK;
    double *agreed = s->block[worker], same = s->agree[job->r];
    add_agreement(job, begin / 64, (n + 63) / 64, agreed);
    for (size_t i = 0; i < n; i++) {
        size_t row = begin + i;
        uint32_t x = cofi_whole_row(&s->rows, row)[job->r];
        if (x >= p->n_values[job->r]) continue; /* an ignored cell */
        double own = s->full ? s->row_own[job->r * s->rows.n_rows + row] : s->alone[p->first[job->r] + x];
        for (uint32_t j = 0; j < k; j++) {
            double weight = x == job->fit->seeds.mode[j * p->n_attrs + job->r] ? 1 - same : same;
            s->numerator[row * k + j] += weight * (own + job->s->mode_own[j] - agreed[i * k + j]);
            s->denominator[row * k + j] += weight;
        }
    }
}

static void choose_task(void *ctx, uint32_t worker, size_t block)
{
    const add_job *job = ctx;
    size_t n_rows = job->s->rows.n_rows, begin = block * BLOCK, end = begin + BLOCK;
    uint32_t k = job->fit->partition.k;
    for (size_t i = begin; i < (end < n_rows ? end : n_rows); i++) {
        double least = INFINITY;
        for (uint32_t j = 0; j < k; j++) {
            double w = job->s->denominator[i * k + j], *d = &job->s->numerator[i * k + j];
            *d = w > 0 ? *d / w : 0;
            if (!cofi_clearly_larger(least, *d)) continue;
            least = *d;
            job->s->rows.label[i] = (int32_t)j;
        }
    }
}

/* Computes the distances of all rows to the modes and labels each row with the nearest. */
static cof_status label_rows(cofi_fit *fit, jdm *s, uint64_t *moved, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    size_t n = s->rows.n_rows * fit->partition.k;
    add_job job = {.fit = fit, .s = s};
    memset(s->numerator, 0, n * sizeof *s->numerator);
    memset(s->denominator, 0, n * sizeof *s->denominator);
    cofi_team_run(fit->host.team, match_task, &job, p->n_attrs);
    for (size_t r = 0; r < p->n_attrs; r++) {
        job.r = r;
        job.n_related = find_related(fit, s, r);
        cofi_team_run(fit->host.team, share_task, &job,
                      (job.n_related + RELATED_AT_ONCE - 1) / RELATED_AT_ONCE);
        for (uint32_t j = 0; j < fit->partition.k; j++) {
            s->mode_own[j] = 0;
            for (size_t at = 0; at < job.n_related; at++)
                s->mode_own[j] += s->shared[at * fit->partition.k + j];
        }
        cofi_team_run(fit->host.team, add_task, &job, cofi_whole_blocks(&s->rows, BLOCK));
    }
    cofi_team_run(fit->host.team, choose_task, &job, cofi_whole_blocks(&s->rows, BLOCK));
    fit->log.objective = 0;
    for (size_t i = 0; i < s->rows.n_rows; i++)
        fit->log.objective += s->numerator[i * fit->partition.k + (uint32_t)s->rows.label[i]] *
                              ((double)s->rows.weight[i] / p->unit);
    return cofi_whole_set_labels(fit, &s->rows, moved, err);
}

/* Replaces an ignored cell of a seed by the most frequent value of the attribute. */
static void complete_modes(cofi_fit *fit, const jdm *s)
{
    const cofi_problem *p = fit->problem;
    for (size_t at = 0; at < (size_t)fit->partition.k * p->n_attrs; at++) {
        size_t r = at % p->n_attrs;
        if (fit->seeds.mode[at] < p->n_values[r]) continue;
        fit->seeds.mode[at] = 0;
        for (uint32_t v = 1; v < p->n_values[r]; v++)
            if (s->alone[p->first[r] + v] > s->alone[p->first[r] + fit->seeds.mode[at]])
                fit->seeds.mode[at] = v;
    }
}

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_loop loop = cofi_loop_begin(fit, COF_PHASE_FIT, NULL);
    complete_modes(fit, state);
    while (!fit->log.stopped && cofi_loop_goes_on(&loop)) {
        if (loop.pass > 0) cofi_modes_frequent(fit);
        COFI_TRY(label_rows(fit, state, &loop.moved, err));
        COFI_TRY(cofi_loop_end_pass(fit, &loop, err));
    }
    /* all scores are 0: every model has scores, but this method has no use for them */
    memset(fit->profiles.alive, 1, fit->partition.k);
    cofi_scores_open(fit, 0);
    memset(fit->scores.value, 0,
           (size_t)fit->problem->first[fit->problem->n_attrs] * fit->scores.stride *
               sizeof *fit->scores.value);
    return COF_OK;
}

const cofi_method cofi_method_jdm = {.name = "jdm",
                                     .title = "Jia, Cheung and Liu 2016, attributes taken separately",
                                     .flags = COFI_METHOD_NO_SCORES | COFI_METHOD_ROW_BY_ROW,
                                     .open = open,
                                     .run = run};
const cofi_method cofi_method_jdm_full = {.name = "jdm:full",
                                          .title = "Jia, Cheung and Liu 2016, with dependent attributes",
                                          .flags = COFI_METHOD_NO_SCORES | COFI_METHOD_ROW_BY_ROW |
                                                   COFI_METHOD_PAIRS,
                                          .open = open,
                                          .run = run};
