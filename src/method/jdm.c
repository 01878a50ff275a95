/* JDM (Jia, Cheung and Liu 2016): rows differ the more, the more frequent their differing values are; an
 * attribute also counts those it depends on.
 *
 * D(x,y) = sum_r w_r t_r / sum_r w_r, w_r the chance that two rows differ in r where x and y agree, and that they
 * agree where x and y differ. t_r adds R(r,s) [s(x) + s(y)] over the attributes s that go together with r, where
 * s(x) is the chance that two rows both hold x's values of r and s; but nothing where x and y agree in r and s.
 *
 * A quotient of sums is no sum over attributes, so there is no table of scores. Instead
 *     t_r = own(x, r) + own(y, r) - 2 * (what x and y agree in),
 * own(x, r) being the whole sum of one row, made once, and the rest found from bitmaps of who agrees with a mode.
 * All terms are rounded to the same binary fraction, so that sums are exact: what cancels leaves 0, and the order
 * of adding, which threads may change, does not matter. */
#include "km.h"
#include "methods.h"

enum { BLOCK = 512, RELATED_AT_ONCE = 256 }; /* rows, and attributes, of one task */

typedef struct jdm {
    bool full;
    double n_pairs;   /* of rows, n (n - 1) */
    double scale;     /* terms are multiples of 1 / scale */
    double *agree;    /* per attribute: chance that two rows have the same value */
    double *own;      /* self: per flat id, the chance that two rows both hold it */
    double *row_own;  /* full: [r][row], own(x, r) */
    double *relation; /* full: R(t, r) for r < t, at t (t - 1) / 2 + r */
    double beta;      /* full: the mean of R; what is above goes together */
    size_t words;
    uint64_t *match;  /* [j][r][words]: rows that agree with the mode of cluster j in r */
    uint64_t *absent; /* [r][words]: rows whose cell of r is ignored; NULL: none is */
    /* of the attribute being added */
    uint32_t *related;   /* S_r, r itself among them */
    double *strength;    /* R(r, s) of each */
    double *shared;      /* [related][j]: R(r, s) times the chance of the mode's values of r and s */
    double **block;      /* per worker: BLOCK x k */
    double *numerator;   /* n_rows x k; at the end the distances */
    double *denominator; /* n_rows x k */
    cofi_label *label;
} jdm;

static void jdm_close(cofi_engine *e, void *state)
{
    jdm *s = state;
    if (s == NULL) return;
    for (uint32_t t = 0; s->block != NULL && t < cofi_team_size(e->team); t++)
        cofi_release(&e->env, s->block[t]);
    void *owned[] = {s->agree,    s->own,    s->row_own,   s->relation,    s->match, s->absent, s->related,
                     s->strength, s->shared, s->numerator, s->denominator, s->label, s->block,  s};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&e->env, owned[b]);
}

static double round_term(const jdm *s, double term)
{
    return rint(term * s->scale) / s->scale;
}

/* R times the chance that two rows are both among n. */
static double chance_term(const jdm *s, double related, double n)
{
    return n > 1 ? round_term(s, related * n * (n - 1) / s->n_pairs) : 0;
}

/* ---- Which attributes go together ---------------------------------------------------------------- */

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

/* S_r into s->related; all attributes equivalent: beta is 1 and each one stands for itself. */
static size_t find_related(const cofi_engine *e, jdm *s, size_t r)
{
    size_t n = 0;
    for (size_t other = 0; s->full && other < e->problem->n_attrs; other++) {
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
    cofi_engine *e;
    jdm *s;
    cofi_logs logs;
} relate_work;

static void relate_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    relate_work *w = ctx;
    const cofi_problem *p = w->e->problem;
    (void)worker;
    if (r < t)
        w->s->relation[t * (t - 1) / 2 + r] = dependence(&w->logs, count, p->n_values[t], p->n_values[r]);
}

/* The mean of R, and the largest sum of R that an attribute has: no own(x, r) is larger. */
static double average_relations(const cofi_engine *e, jdm *s)
{
    size_t n = e->problem->n_attrs;
    double sum = (double)n, most = 1;
    for (size_t at = 0; at < n * (n - 1) / 2; at++) sum += 2 * s->relation[at];
    s->beta = sum / ((double)n * (double)n);
    for (size_t r = 0; r < n; r++) {
        double related = 0;
        for (size_t at = find_related(e, s, r); at-- > 0;) related += s->strength[at];
        most = fmax(most, related);
    }
    return most;
}

/* Adds to own(x, t) of every row what the pair of attributes gives it. */
static void add_own(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    relate_work *w = ctx;
    const cofi_problem *p = w->e->problem;
    (void)worker;
    double related = relation_of(w->s, t, r), *own = w->s->row_own + t * p->rows.n_rows;
    uint32_t o_t = p->n_values[t], o_r = p->n_values[r];
    if (!(related > w->s->beta || t == r)) return;
    for (size_t at = 0; at < (size_t)o_t * o_r; at++) count[at] = chance_term(w->s, related, count[at]);
    cofi_ids ids_t = p->rows.ids[t], ids_r = p->rows.ids[r];
    for (size_t i = 0; i < p->rows.n_rows; i++) {
        uint32_t a = cofi_id(ids_t, i), b = cofi_id(ids_r, i);
        if (a < o_t && b < o_r) own[i] += count[(size_t)a * o_r + b];
    }
}

static void set_scale(jdm *s, double largest)
{
    int exponent;
    frexp(largest, &exponent);
    s->scale = ldexp(1.0, 51 - exponent); /* sums of two stay whole below 2^53 */
}

static cof_status relate(cofi_engine *e, jdm *s, cof_error *err)
{
    relate_work w = {.e = e, .s = s};
    cofi_pair_visitor first = {.ctx = &w, .pair = relate_pair, .before_only = true};
    cofi_pair_visitor second = {.ctx = &w, .pair = add_own};
    cof_status status = cofi_logs_open(e, &w.logs, err);
    if (status == COF_OK) status = cofi_pairs_visit(e, &first, err);
    if (status == COF_OK) {
        set_scale(s, average_relations(e, s));
        status = cofi_pairs_visit(e, &second, err);
    }
    cofi_logs_close(e, &w.logs);
    return status;
}

/* ---- Opening ------------------------------------------------------------------------------------- */

static void set_chances(cofi_engine *e, jdm *s, const uint64_t *total)
{
    const cofi_problem *p = e->problem;
    for (size_t r = 0; r < p->n_attrs; r++) {
        s->agree[r] = 0;
        for (uint32_t v = 0; v < p->n_values[r]; v++) {
            double n = (double)total[p->first[r] + v] / p->unit;
            s->agree[r] += n > 1 ? n * (n - 1) / s->n_pairs : 0;
            s->own[p->first[r] + v] = chance_term(s, 1, n);
        }
    }
}

static bool any_ignored(const cofi_problem *p)
{
    for (size_t r = 0; r < p->n_attrs; r++)
        if (p->first[r] + p->n_values[r] < p->first[r + 1]) return true;
    return false;
}

static void note_absent(const cofi_problem *p, jdm *s)
{
    for (size_t r = 0; r < p->n_attrs; r++)
        for (size_t i = 0; i < p->rows.n_rows; i++)
            if (cofi_id(p->rows.ids[r], i) >= p->n_values[r])
                s->absent[r * s->words + i / 64] |= UINT64_C(1) << (i % 64);
}

static cof_status alloc_state(cofi_engine *e, jdm *s)
{
    const cofi_problem *p = e->problem;
    size_t l = p->n_attrs, n_cells = p->rows.n_rows * e->o.k, n_related = s->full ? l : 1;
    uint32_t n_workers = cofi_team_size(e->team);
    s->words = (p->rows.n_rows + 63) / 64;
    s->agree = cofi_alloc(&e->env, l, sizeof *s->agree);
    s->own = cofi_alloc_zero(&e->env, p->first[l], sizeof *s->own);
    s->match = cofi_alloc(&e->env, s->words * l * e->o.k, sizeof *s->match);
    s->related = cofi_alloc(&e->env, n_related, sizeof *s->related);
    s->strength = cofi_alloc(&e->env, n_related, sizeof *s->strength);
    s->shared = cofi_alloc(&e->env, n_related * e->o.k, sizeof *s->shared);
    s->numerator = cofi_alloc(&e->env, n_cells, sizeof *s->numerator);
    s->denominator = cofi_alloc(&e->env, n_cells, sizeof *s->denominator);
    s->label = cofi_alloc(&e->env, p->rows.n_rows, sizeof *s->label);
    s->block = cofi_alloc_zero(&e->env, n_workers, sizeof *s->block);
    bool ok = s->agree != NULL && s->own != NULL && s->match != NULL && s->related != NULL &&
              s->strength != NULL && s->shared != NULL && s->numerator != NULL && s->denominator != NULL &&
              s->label != NULL && s->block != NULL;
    for (uint32_t t = 0; ok && t < n_workers; t++) {
        s->block[t] = cofi_alloc(&e->env, (size_t)BLOCK * e->o.k, sizeof **s->block);
        ok = s->block[t] != NULL;
    }
    if (ok && any_ignored(p)) {
        s->absent = cofi_alloc_zero(&e->env, s->words * l, sizeof *s->absent);
        ok = s->absent != NULL;
    }
    if (ok && s->full) {
        s->relation = cofi_alloc(&e->env, l * (l - 1) / 2, sizeof *s->relation);
        s->row_own = cofi_alloc_zero(&e->env, l * p->rows.n_rows, sizeof *s->row_own);
        ok = s->relation != NULL && s->row_own != NULL;
    }
    return ok ? COF_OK : COF_ERR_MEMORY;
}

static cof_status jdm_open(cofi_engine *e, void **state, bool full, cof_error *err)
{
    const cofi_problem *p = e->problem;
    jdm *s = cofi_alloc_zero(&e->env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    *state = s;
    s->full = full;
    double n = (double)p->total_weight / p->unit;
    s->n_pairs = n * (n - 1);
    if (!(n > 1))
        return cofi_fail(err, COF_ERR_FEW_ROWS, "jdm compares pairs of rows, so it needs at least two");
    if (alloc_state(e, s) != COF_OK) return cofi_no_memory(err);
    if (s->absent != NULL) note_absent(p, s);
    set_scale(s, 1);
    uint64_t *total = cofi_alloc(&e->env, p->first[p->n_attrs], sizeof *total);
    if (total == NULL) return cofi_no_memory(err);
    cofi_value_totals(e, total);
    set_chances(e, s, total);
    cofi_release(&e->env, total);
    return full ? relate(e, s, err) : COF_OK;
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
    size_t r; /* the attribute being added */
    size_t n_related;
    double *mode_own; /* k: own(y, r) of the modes */
} add_job;

static uint64_t *matches(const add_job *job, uint32_t j, size_t r)
{
    return job->s->match + (j * job->e->problem->n_attrs + r) * job->s->words;
}

static void match_task(void *ctx, uint32_t worker, size_t r)
{
    const add_job *job = ctx;
    const cofi_problem *p = job->e->problem;
    cofi_ids ids = p->rows.ids[r];
    (void)worker;
    for (uint32_t j = 0; j < job->e->o.k; j++) {
        uint64_t *bits = matches(job, j, r);
        uint32_t mode = job->e->mode[j * p->n_attrs + r];
        for (size_t w = 0; w < job->s->words; w++) {
            size_t n = p->rows.n_rows - 64 * w < 64 ? p->rows.n_rows - 64 * w : 64;
            uint64_t word = 0;
            for (size_t i = 0; i < n; i++) word |= (uint64_t)(cofi_id(ids, 64 * w + i) == mode) << i;
            bits[w] = word;
        }
    }
}

/* Summed weight of the rows in both bitmaps. */
static double weigh_common(const add_job *job, const uint64_t *a, const uint64_t *b)
{
    const cofi_problem *p = job->e->problem;
    uint64_t sum = 0;
    for (size_t w = 0; w < job->s->words; w++) {
        uint64_t word = a[w] & b[w];
        if (p->rows.weight == NULL) {
            sum += (uint64_t)__builtin_popcountll(word);
            continue;
        }
        for (; word != 0; word &= word - 1) sum += p->rows.weight[64 * w + (size_t)__builtin_ctzll(word)];
    }
    return (double)sum / p->unit;
}

static void share_task(void *ctx, uint32_t worker, size_t task)
{
    const add_job *job = ctx;
    jdm *s = job->s;
    uint32_t k = job->e->o.k;
    (void)worker;
    for (size_t at = task * RELATED_AT_ONCE; at < job->n_related && at < (task + 1) * RELATED_AT_ONCE; at++)
        for (uint32_t j = 0; j < k; j++)
            s->shared[at * k + j] =
                chance_term(s, s->strength[at],
                            weigh_common(job, matches(job, j, job->r), matches(job, j, s->related[at])));
}

/* What the rows of a block and the modes agree in, twice; and what a row with an ignored cell cannot say. */
static void add_agreement(const add_job *job, size_t first_word, size_t n_words, double *agreed)
{
    const jdm *s = job->s;
    uint32_t k = job->e->o.k;
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
    const cofi_problem *p = job->e->problem;
    jdm *s = job->s;
    uint32_t k = job->e->o.k;
    size_t begin = block * BLOCK, n = p->rows.n_rows - begin < BLOCK ? p->rows.n_rows - begin : BLOCK;
    double *agreed = s->block[worker], same = s->agree[job->r];
    add_agreement(job, begin / 64, (n + 63) / 64, agreed);
    for (size_t i = 0; i < n; i++) {
        size_t row = begin + i;
        uint32_t x = cofi_id(p->rows.ids[job->r], row);
        if (x >= p->n_values[job->r]) continue; /* ignored */
        double own = s->full ? s->row_own[job->r * p->rows.n_rows + row] : s->own[p->first[job->r] + x];
        for (uint32_t j = 0; j < k; j++) {
            double weight = x == job->e->mode[j * p->n_attrs + job->r] ? 1 - same : same;
            s->numerator[row * k + j] += weight * (own + job->mode_own[j] - agreed[i * k + j]);
            s->denominator[row * k + j] += weight;
        }
    }
}

static void choose_task(void *ctx, uint32_t worker, size_t block)
{
    const add_job *job = ctx;
    (void)worker;
    size_t n_rows = job->e->problem->rows.n_rows, begin = block * BLOCK, end = begin + BLOCK;
    uint32_t k = job->e->o.k;
    for (size_t i = begin; i < (end < n_rows ? end : n_rows); i++) {
        double least = INFINITY;
        for (uint32_t j = 0; j < k; j++) {
            double w = job->s->denominator[i * k + j], *d = &job->s->numerator[i * k + j];
            *d = w > 0 ? *d / w : 0;
            if (!cofi_clearly_larger(least, *d)) continue;
            least = *d;
            job->s->label[i] = (cofi_label)j;
        }
    }
}

static void add_attribute(add_job *job, size_t r)
{
    jdm *s = job->s;
    uint32_t k = job->e->o.k;
    job->r = r;
    job->n_related = find_related(job->e, s, r);
    cofi_team_run(job->e->team, share_task, job, (job->n_related + RELATED_AT_ONCE - 1) / RELATED_AT_ONCE);
    for (uint32_t j = 0; j < k; j++) {
        job->mode_own[j] = 0;
        for (size_t at = 0; at < job->n_related; at++) job->mode_own[j] += s->shared[at * k + j];
    }
    cofi_team_run(job->e->team, add_task, job, (job->e->problem->rows.n_rows + BLOCK - 1) / BLOCK);
}

/* Distances of all rows to the modes, and the nearest of each row; returns their sum. */
static double assign(cofi_engine *e, jdm *s, double *mode_own)
{
    const cofi_problem *p = e->problem;
    size_t n = p->rows.n_rows * e->o.k;
    add_job job = {.e = e, .s = s, .mode_own = mode_own};
    memset(s->numerator, 0, n * sizeof *s->numerator);
    memset(s->denominator, 0, n * sizeof *s->denominator);
    cofi_team_run(e->team, match_task, &job, p->n_attrs);
    for (size_t r = 0; r < p->n_attrs; r++) add_attribute(&job, r);
    cofi_team_run(e->team, choose_task, &job, (p->rows.n_rows + BLOCK - 1) / BLOCK);
    double sum = 0;
    for (size_t i = 0; i < p->rows.n_rows; i++)
        sum += s->numerator[i * e->o.k + s->label[i]] *
               (p->rows.weight != NULL ? (double)p->rows.weight[i] / p->unit : 1.0);
    return sum;
}

/* An ignored cell of a seed stands for the value that is most frequent, hence likeliest to meet itself. */
static void complete_modes(cofi_engine *e, const jdm *s)
{
    const cofi_problem *p = e->problem;
    for (size_t at = 0; at < (size_t)e->o.k * p->n_attrs; at++) {
        size_t r = at % p->n_attrs;
        if (e->mode[at] < p->n_values[r]) continue;
        e->mode[at] = 0;
        for (uint32_t v = 1; v < p->n_values[r]; v++)
            if (s->own[p->first[r] + v] > s->own[p->first[r] + e->mode[at]]) e->mode[at] = v;
    }
}

/* A model has scores; these say nothing of any value. */
static void leave_no_scores(cofi_engine *e)
{
    size_t n = (size_t)e->problem->first[e->problem->n_attrs] * e->scores.stride;
    memset(e->alive, 1, e->o.k);
    cofi_scores_open(e, 0);
    memset(e->scores.value, 0, n * sizeof *e->scores.value);
}

static cof_status run(cofi_engine *e, void *state, cof_error *err)
{
    jdm *s = state;
    cof_status status = COF_OK;
    double *mode_own = cofi_alloc(&e->env, e->o.k, sizeof *mode_own);
    if (mode_own == NULL) return cofi_no_memory(err);
    complete_modes(e, s);
    bool done = e->stopped;
    e->stop = COF_STOP_CAP;
    for (uint32_t pass = 0; pass < e->o.max_passes && status == COF_OK && !done; pass++) {
        if (pass > 0) cofi_modes_frequent(e);
        e->objective = assign(e, s, mode_own);
        e->n_passes++;
        e->pass.visits += e->problem->rows.n_rows;
        uint64_t moved = cofi_pass_take(&e->pass, s->label);
        status = cofi_engine_record(e, moved, err);
        cofi_engine_judge(e, moved, &done);
    }
    cofi_release(&e->env, mode_own);
    leave_no_scores(e);
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
