/* Saving and loading, as docs/model-format.md describes. The reader does not trust the file: every length
 * is checked against the remaining bytes before anything is allocated for it, and every number against the
 * range that a fit can produce, so that later code need not check again. */
#include "model.h"

#include "../core/bytes.h"
#include "../core/utf8.h"
#include "../table/encode.h"
#include "../table/file/input.h"

#include <math.h>

static const unsigned char magic[8] = {'C', 'O', 'F', 'O', 'R', 'E', 'S', 'T'};

enum { FORMAT = 3, FORMAT_OF_CUTS = 2, FORMAT_OF_CATEGORIES = 1, HEADER_BYTES = 24, END_BYTES = 4 };
#define MOST_BYTES ((uint64_t)1 << 34) /* limit for a whole file */
#define MOST_UNITS 0x1p53              /* limit of a weight; a fit stays below 2^43 */
#define MOST_STEPS 1000000000          /* limit of the passes or rebuilds of a restart */
#define ROUNDING   1e-9                /* how far an index may exceed its bounds */
enum {
    TAG_MODEL = 1,
    TAG_CLUSTERS = 2,
    TAG_ATTRIBUTE = 3,
    TAG_RESTARTS = 4,
    TAG_HISTORY = 5,
    TAG_METHOD = 6,
    TAG_AGREEMENT = 7,
    TAG_CHOICE = 8,
    TAG_K_CURVE = 9,
    TAG_CLUSTER_AGREEMENT = 10,
    TAG_QUANTITIES = 11,
    TAG_NUMERIC = 12,
    TAG_COLUMN_WEIGHTS = 13,
    TAG_NEARER_OTHER = 16,
    TAG_K_HALVES = 17,
    N_TAGS
};

/* ---- One member ---------------------------------------------------------------------------------- */

/* A file that is written, or read. One function describes each section for both directions: the functions
 * below write a member if there is a writer, and otherwise read it. */
typedef struct codec {
    cof_env env;
    const char *name;
    cofi_writer *w;      /* NULL: the file is read */
    cofi_reader file, s; /* the bytes between header and checksum; those of the section */
    cof_model *m;        /* not changed by writing */
    size_t n_attrs;      /* number of attributes so far */
    uint64_t n_flat;
    bool seen[N_TAGS];
    double largest_sum; /* sum over attributes of the largest score: must not overflow */
    cof_error *err;
} codec;

static cof_status damaged(const codec *c, const char *what)
{
    return cofi_fail(c->err, COF_ERR_MODEL, "%s: this model file is damaged (%s); save the model again",
                     c->name, what);
}

/* What is written is not checked. */
static cof_status check(const codec *c, bool good, const char *what)
{
    return good || c->w != NULL ? COF_OK : damaged(c, what);
}

static size_t left(const codec *c)
{
    return c->s.n - c->s.at;
}

static void code_byte(codec *c, void *x)
{
    if (c->w != NULL)
        cofi_put_u8(c->w, *(const uint8_t *)x);
    else
        *(uint8_t *)x = cofi_get_u8(&c->s);
}

static void code_flag(codec *c, void *x)
{
    code_byte(c, x);
    if (c->w == NULL) *(uint8_t *)x = *(const uint8_t *)x != 0;
}

static void code_32(codec *c, void *x)
{
    if (c->w != NULL)
        cofi_put_u32(c->w, *(const uint32_t *)x);
    else
        *(uint32_t *)x = cofi_get_u32(&c->s);
}

static void code_64(codec *c, void *x)
{
    uint64_t word;
    memcpy(&word, x, sizeof word);
    if (c->w != NULL) {
        cofi_put_u64(c->w, word);
        return;
    }
    word = cofi_get_u64(&c->s);
    memcpy(x, &word, sizeof word);
}

static cof_status code_name(codec *c, char **name)
{
    uint32_t n = 0;
    const char *text = c->w == NULL ? cofi_get_text(&c->s, &n) : NULL;
    if (c->w != NULL) cofi_put_text(c->w, *name);
    if (text == NULL) return COF_OK;
    *name = cofi_copy_text(&c->env, text, n);
    return *name != NULL ? COF_OK : cofi_no_memory(c->err);
}

/* Makes room for what is read; `pointer` is the address of any pointer. */
static cof_status make(const codec *c, void *pointer, size_t n, size_t size)
{
    if (c->w != NULL) return COF_OK;
    void *block = cofi_alloc_zero(&c->env, n, size);
    memcpy(pointer, &block, sizeof block);
    return block != NULL ? COF_OK : cofi_no_memory(c->err);
}

/* Makes room for the records of n_bytes that fill the section. */
static cof_status make_records(const codec *c, size_t n_bytes, void *pointer, size_t *n, size_t size,
                               const char *what)
{
    if (c->w != NULL) return COF_OK;
    if (c->s.n % n_bytes != 0) return damaged(c, what);
    *n = c->s.n / n_bytes;
    return make(c, pointer, *n, size);
}

static bool is_between(double x, double least, double most)
{
    return x >= least - ROUNDING && x <= most + ROUNDING;
}

/* The n numbers from least to most that end the section. */
static cof_status code_numbers(codec *c, double **number, size_t n, double least, double most,
                               const char *what)
{
    COFI_TRY(check(c, left(c) == 8 * n, what));
    COFI_TRY(make(c, number, n, sizeof **number));
    for (size_t i = 0; i < n; i++) {
        code_64(c, &(*number)[i]);
        COFI_TRY(check(c, (*number)[i] >= least && (*number)[i] <= most, what));
    }
    return COF_OK;
}

/* ---- One section ---------------------------------------------------------------------------------- */

static cof_status code_model(codec *c)
{
    cof_model head = {.k = 0};
    if (c->w != NULL) head = *c->m;
    uint32_t n_attrs = (uint32_t)head.n_attrs;
    code_32(c, &head.k);
    code_32(c, &head.variant);
    code_32(c, &head.missing);
    code_32(c, &n_attrs);
    code_32(c, &head.n_flat);
    code_64(c, &head.unit);
    code_64(c, &head.scores.scale);
    if (c->w != NULL) return COF_OK;
    bool sane = !c->s.failed && head.k > 0 && head.k <= COF_MOST_CLUSTERS && head.variant >= 0 &&
                head.variant <= COF_VARIANT_AUTHORS && head.missing >= 0 &&
                head.missing <= COF_MISSING_ERROR && head.unit > 0 && isfinite(head.unit) &&
                head.scores.scale > 1e-200 && head.scores.scale < 1e200;
    /* later sections have 9 bytes per cluster, at least 23 per attribute, and 16 per value and cluster */
    size_t rest = c->file.n - c->file.at;
    if (!sane || head.k > rest / 9 || n_attrs > rest / 23 || (uint64_t)head.n_flat * head.k > rest / 16)
        return damaged(c, "its sizes make no sense");
    COFI_TRY(cofi_model_new(&c->env, head.k, n_attrs, &c->m, c->err));
    c->m->variant = head.variant;
    c->m->missing = head.missing;
    c->m->unit = head.unit;
    c->m->scores.scale = head.scores.scale;
    return cofi_model_alloc_values(c->m, head.n_flat, c->err);
}

static cof_status code_clusters(codec *c)
{
    cof_model *m = c->m;
    double total = 0;
    for (uint32_t j = 0; j < m->k; j++) {
        bool open = m->scores.base[j] != COFI_NEVER;
        code_64(c, &m->size[j]);
        code_flag(c, &open);
        if (c->w == NULL) m->scores.base[j] = open ? 0 : COFI_NEVER;
        COFI_TRY(check(c, m->size[j] >= 0, "a cluster size is not a number"));
        total += m->size[j];
    }
    for (uint32_t j = m->k; c->w == NULL && j < m->scores.stride; j++) m->scores.base[j] = COFI_NEVER;
    COFI_TRY(check(c, !c->s.failed, "the clusters are cut short"));
    return check(c, isfinite(total) && total * m->unit < MOST_UNITS, "its clusters are too large");
}

/* The name may be unknown here: scores label rows in the same way for every method. */
static cof_status code_method(codec *c)
{
    cof_model *m = c->m;
    uint32_t n;
    int64_t largest = 0;
    if (c->w != NULL) {
        cofi_put_text(c->w, m->method);
    } else {
        const char *name = cofi_get_text(&c->s, &n);
        if (name == NULL || !c->seen[TAG_CLUSTERS]) return damaged(c, "its method is cut short");
        if (!cofi_model_set_method(m, name, n)) return damaged(c, "its method has no proper name");
    }
    code_flag(c, &m->no_scores);
    for (uint32_t j = 0; j < m->k; j++) {
        bool open = m->scores.base[j] != COFI_NEVER;
        int64_t base = open ? m->scores.base[j] : 0;
        code_64(c, &base);
        COFI_TRY(
            check(c, base >= 0 && base < (INT64_C(1) << COFI_SUM_BITS), "a cluster's score is too large"));
        if (c->w == NULL && open) m->scores.base[j] = base;
        largest = base > largest ? base : largest;
    }
    c->largest_sum += (double)largest;
    return check(c, !c->s.failed, "its method is cut short");
}

/* Number of bytes that the next n texts take with a NUL each; does not move the reader. */
static size_t measure_texts(cofi_reader s, uint32_t n, bool *good)
{
    size_t total = 0;
    uint32_t length;
    for (uint32_t v = 0; v < n && cofi_get_text(&s, &length) != NULL; v++) total += (size_t)length + 1;
    *good = !s.failed;
    return total;
}

static void code_values(codec *c, cofi_model_attr *a)
{
    size_t at = 0;
    for (uint32_t v = 0; v < a->n_values; v++) {
        if (c->w != NULL) {
            cofi_put_text(c->w, a->text + a->offset[v]);
            continue;
        }
        uint32_t n;
        const char *text = cofi_get_text(&c->s, &n);
        a->offset[v] = at;
        memcpy(a->text + at, text, n); /* the NUL is there */
        at += (size_t)n + 1;
    }
}

/* A cluster's counts of an attribute's values sum to at most the cluster's size. */
static bool fits_clusters(const cof_model *m, const cofi_model_attr *a)
{
    for (uint32_t j = 0; j < m->k; j++) {
        double total = 0;
        for (uint32_t v = 0; v < a->n_values; v++)
            total += (double)m->count[(size_t)(a->first + v) * m->k + j];
        if (total > m->size[j] * m->unit + 0.5) return false;
    }
    return true;
}

static cof_status code_scores(codec *c, cofi_model_attr *a)
{
    cof_model *m = c->m;
    int64_t largest = 0;
    COFI_TRY(check(c, c->n_flat + a->n_values <= m->n_flat, "it has more values than it says"));
    if (c->w == NULL) a->first = (uint32_t)c->n_flat;
    c->n_flat += a->n_values;
    for (uint32_t v = 0; v < a->n_values; v++) {
        for (uint32_t j = 0; j < m->k; j++) {
            int64_t *score = &m->scores.value[(size_t)(a->first + v) * m->scores.stride + j];
            code_64(c, &m->count[(size_t)(a->first + v) * m->k + j]);
            code_64(c, score);
            COFI_TRY(check(c, *score >= 0, "a score is negative"));
            largest = *score > largest ? *score : largest;
        }
    }
    c->largest_sum += (double)largest;
    COFI_TRY(check(c, c->largest_sum < 0x1p60, "its scores are too large"));
    COFI_TRY(check(c, !c->s.failed, "an attribute's scores are cut short"));
    return check(c, fits_clusters(m, a), "a cluster has more values than rows");
}

static cof_status open_attribute(codec *c, cofi_model_attr *a)
{
    bool good = !c->s.failed && a->n_values <= left(c) / 4 && a->n_edges <= left(c) / 16 &&
                a->n_edges <= (a->n_values > 0 ? a->n_values - 1 : 0) &&
                (a->n_values > 0 || (!a->has_missing && !a->used));
    size_t n_text = good ? measure_texts(c->s, a->n_values, &good) : 0;
    if (!good) return damaged(c, "an attribute is cut short");
    return cofi_model_alloc_attr(c->m, (size_t)(a - c->m->attr), a->n_values, n_text, a->n_edges, c->err);
}

static cof_status code_attribute(codec *c)
{
    cof_model *m = c->m;
    COFI_TRY(check(c, c->n_attrs < m->n_attrs, "it has more attributes than it says"));
    COFI_TRY(check(c, c->seen[TAG_CLUSTERS], "an attribute comes before the clusters"));
    cofi_model_attr *a = &m->attr[c->n_attrs++];
    COFI_TRY(code_name(c, &a->name));
    code_flag(c, &a->used);
    code_flag(c, &a->ordinal);
    code_flag(c, &a->has_missing);
    code_32(c, &a->n_values);
    code_32(c, &a->n_edges);
    if (c->w == NULL) COFI_TRY(open_attribute(c, a));
    code_values(c, a);
    for (uint32_t e = 0; e < a->n_edges; e++) {
        code_32(c, &a->edge[e].u);
        code_32(c, &a->edge[e].v);
        code_64(c, &a->edge[e].length);
    }
    if (c->w == NULL && (c->s.failed || !cofi_model_root_tree(a)))
        return damaged(c, "the edges of an attribute make no tree");
    return a->used ? code_scores(c, a) : COF_OK;
}

static bool is_restart(const cof_restart_record *r)
{
    return isfinite(r->objective) && isfinite(r->log_likelihood) && r->rebuilds <= MOST_STEPS &&
           r->passes <= MOST_STEPS && r->stop_reason >= COF_STOP_CONVERGED &&
           r->stop_reason <= COF_STOP_STOPPED;
}

static cof_status code_restarts(codec *c)
{
    cof_model *m = c->m;
    COFI_TRY(
        make_records(c, 28, &m->restart, &m->n_restarts, sizeof *m->restart, "its restarts make no sense"));
    COFI_TRY(check(c, m->n_restarts > 0, "its restarts make no sense"));
    for (size_t i = 0; i < m->n_restarts; i++) {
        cof_restart_record *r = &m->restart[i];
        code_64(c, &r->objective);
        code_64(c, &r->log_likelihood);
        code_32(c, &r->rebuilds);
        code_32(c, &r->passes);
        code_32(c, &r->stop_reason);
        if (c->w != NULL) continue;
        if (!is_restart(r)) return damaged(c, "a restart makes no sense");
        r->criterion = r->log_likelihood; /* default, if no later section sets it */
        if (r->criterion > m->restart[m->kept].criterion) m->kept = i;
    }
    if (c->w == NULL) m->select = COF_SELECT_LIKELIHOOD; /* default, if no later section sets it */
    return COF_OK;
}

static cof_status code_choice(codec *c)
{
    cof_model *m = c->m;
    uint32_t select = (uint32_t)m->select, kept = (uint32_t)m->kept;
    code_32(c, &select);
    code_32(c, &kept);
    COFI_TRY(check(c,
                   !c->s.failed && m->restart != NULL && select != COF_SELECT_AUTO &&
                       select <= COF_SELECT_MIXTURE && c->s.n == 8 + 9 * m->n_restarts &&
                       kept < m->n_restarts,
                   "which of its restarts was kept makes no sense"));
    for (size_t i = 0; i < m->n_restarts; i++) {
        bool by_likelihood = m->restart[i].by_likelihood != 0;
        code_64(c, &m->restart[i].criterion);
        code_flag(c, &by_likelihood);
        COFI_TRY(check(c, isfinite(m->restart[i].criterion), "a restart makes no sense"));
        if (c->w == NULL) m->restart[i].by_likelihood = by_likelihood;
    }
    if (c->w != NULL) return COF_OK;
    m->select = (int32_t)select;
    m->kept = kept;
    if (m->restart[kept].by_likelihood) m->refined_by = COF_REFINED_BY_LIKELIHOOD;
    return COF_OK;
}

static cof_status code_agreement(codec *c)
{
    static const char *const nonsense = "the agreement of its restarts makes no sense";
    cof_model *m = c->m;
    if (c->w != NULL && m->agreement == NULL) return COF_OK;
    COFI_TRY(check(c, m->n_restarts >= 2, nonsense));
    return code_numbers(c, &m->agreement, m->n_restarts, -1 - ROUNDING, 1 + ROUNDING, nonsense);
}

static cof_status code_cluster_agreement(codec *c)
{
    static const char *const nonsense = "the agreement about its clusters makes no sense";
    cof_model *m = c->m;
    if (c->w != NULL && m->cluster_agreement == NULL) return COF_OK;
    code_32(c, &m->n_good);
    COFI_TRY(check(c, m->n_good > 0 && m->n_good < m->n_restarts, nonsense));
    return code_numbers(c, &m->cluster_agreement, m->k, -ROUNDING, 1 + ROUNDING, nonsense);
}

/* Numbers of clusters ascend, and the model's number is among them. */
static cof_status code_k_curve(codec *c)
{
    static const char *const nonsense = "the numbers of clusters it tried make no sense";
    cof_model *m = c->m;
    bool sane = true, own = false;
    COFI_TRY(make_records(c, 12, &m->k_curve, &m->n_k_curve, sizeof *m->k_curve, nonsense));
    for (size_t i = 0; sane && i < m->n_k_curve; i++) {
        cof_k_record *r = &m->k_curve[i];
        code_32(c, &r->k);
        code_64(c, &r->log_likelihood);
        if (c->w == NULL) r->agreement = NAN; /* if no later section sets it */
        own |= r->k == m->k;
        sane = r->k > (i > 0 ? r[-1].k : 0) && r->k <= COF_MOST_CLUSTERS && isfinite(r->log_likelihood);
    }
    return check(c, sane && own, nonsense);
}

/* Restarts ascend, and so do the passes of each; the pass number is one that its restart has. */
static bool follows(const cof_model *m, const cof_pass_record *h, const cof_pass_record *before)
{
    if (h->restart >= m->n_restarts || h->pass == 0 || h->pass > m->restart[h->restart].passes) return false;
    if (h->rebuild > MOST_STEPS || !isfinite(h->objective)) return false;
    return before == NULL || h->restart > before->restart ||
           (h->restart == before->restart && h->pass > before->pass);
}

static cof_status code_history(codec *c)
{
    static const char *const nonsense = "its history makes no sense";
    cof_model *m = c->m;
    COFI_TRY(make_records(c, 28, &m->history, &m->n_history, sizeof *m->history, nonsense));
    COFI_TRY(check(c, m->restart != NULL, nonsense));
    for (size_t i = 0; i < m->n_history; i++) {
        cof_pass_record *h = &m->history[i];
        code_32(c, &h->restart);
        code_32(c, &h->rebuild);
        code_32(c, &h->pass);
        code_64(c, &h->objective);
        code_64(c, &h->moved);
        COFI_TRY(check(c, follows(m, h, i > 0 ? h - 1 : NULL), nonsense));
    }
    return COF_OK;
}

static bool code_reading(codec *c, cofi_reading *r)
{
    uint32_t n = 0;
    code_byte(c, &r->line);
    code_byte(c, &r->decimal);
    code_byte(c, &r->thousands);
    code_byte(c, &r->order);
    if (c->w != NULL) {
        cofi_put_text(c->w, r->affix);
        return true;
    }
    const char *affix = cofi_get_text(&c->s, &n);
    bool known = r->line != COFI_LINE_NONE && r->line <= COFI_LINE_LAST && r->order <= COFI_DATE_LAST &&
                 (r->decimal == '.' || r->decimal == ',') && strchr(",. '", r->thousands) != NULL &&
                 r->thousands != r->decimal;
    if (c->s.failed || !known || n >= COFI_AFFIX_BYTES) return false;
    memcpy(r->affix, affix, n);
    return true;
}

/* Five ascending numbers, or five NaN. */
static bool code_five(codec *c, double *five)
{
    int n_known = 0;
    for (int q = 0; q < COF_N_FIVE; q++) {
        code_64(c, &five[q]);
        n_known += isfinite(five[q]) && (q == 0 || five[q] >= five[q - 1]);
    }
    return !c->s.failed && (n_known == COF_N_FIVE || (n_known == 0 && isnan(five[0])));
}

/* The edges are one fewer than the attribute's values without the missing one, in ascending order. */
static cof_status code_quantity(codec *c, uint32_t attribute)
{
    static const char *const nonsense = "a quantity makes no sense";
    cof_model *m = c->m;
    code_32(c, &attribute);
    COFI_TRY(check(c, attribute < c->n_attrs && m->attr[attribute].cut == NULL, nonsense));
    cofi_model_attr *a = &m->attr[attribute];
    COFI_TRY(make(c, &a->cut, 1, sizeof *a->cut));
    cofi_cut *cut = a->cut;
    bool good = code_reading(c, &cut->reading), five = a->five != NULL;
    code_32(c, &cut->n_edges);
    good = good && cut->n_edges + UINT64_C(1) + a->has_missing == a->n_values && cut->n_edges <= left(c) / 8;
    COFI_TRY(check(c, good, nonsense));
    COFI_TRY(make(c, &cut->edge, cut->n_edges, sizeof *cut->edge));
    for (uint32_t e = 0; e < cut->n_edges; e++) {
        code_64(c, &cut->edge[e]);
        COFI_TRY(check(c, isfinite(cut->edge[e]) && (e == 0 || cut->edge[e] > cut->edge[e - 1]), nonsense));
    }
    code_flag(c, &five);
    COFI_TRY(check(c, !c->s.failed && (!five || m->k <= left(c) / (8 * COF_N_FIVE)), nonsense));
    if (!five) return COF_OK;
    COFI_TRY(make(c, &a->five, (size_t)m->k * COF_N_FIVE, sizeof *a->five));
    for (uint32_t j = 0; j < m->k; j++)
        COFI_TRY(check(c, code_five(c, a->five + (size_t)j * COF_N_FIVE), nonsense));
    return COF_OK;
}

static uint32_t count_quantities(const cof_model *m)
{
    uint32_t n = 0;
    for (size_t r = 0; r < m->n_attrs; r++) n += m->attr[r].cut != NULL;
    return n;
}

static cof_status code_quantities(codec *c)
{
    uint32_t n = count_quantities(c->m);
    if (c->w != NULL && n == 0) return COF_OK;
    code_32(c, &n);
    COFI_TRY(check(c, !c->s.failed, "its quantities are cut short"));
    for (uint32_t i = 0, r = 0; i < n; i++, r++) {
        while (c->w != NULL && c->m->attr[r].cut == NULL) r++;
        COFI_TRY(code_quantity(c, r));
    }
    return COF_OK;
}

/* Whether distances to the means stay within bounds; a mean may be unknown. */
static bool is_numeric(const cof_model *m, const cofi_model_numeric *q)
{
    bool good = isfinite(q->origin) && isfinite(q->unit) && q->unit >= 0 && isfinite(q->least) &&
                isfinite(q->most) && q->most >= q->least && q->column_weight >= 0 && q->column_weight <= 1e6;
    for (uint32_t j = 0; j < m->k; j++)
        good = good && (isnan(q->mean[j]) || is_between(q->mean[j], q->least, q->most));
    return good;
}

static cof_status code_one_numeric(codec *c, cofi_model_numeric *q)
{
    static const char *const nonsense = "a numeric column makes no sense";
    const cof_model *m = c->m;
    COFI_TRY(code_name(c, &q->name));
    COFI_TRY(check(c, code_reading(c, &q->reading) && m->k <= left(c) / 8, nonsense));
    COFI_TRY(make(c, &q->mean, m->k, sizeof *q->mean));
    double *const number[] = {&q->origin, &q->unit, &q->least, &q->most, &q->column_weight};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) code_64(c, number[i]);
    for (uint32_t j = 0; j < m->k; j++) code_64(c, &q->mean[j]);
    COFI_TRY(check(c, !c->s.failed && is_numeric(m, q), nonsense));
    double reach = q->most - q->least;
    c->largest_sum += m->scores.scale * q->column_weight * (m->absolute ? reach : reach * reach);
    return COF_OK;
}

static cof_status code_numeric(codec *c)
{
    cof_model *m = c->m;
    uint32_t n = (uint32_t)m->n_numeric;
    if (c->w != NULL && n == 0) return COF_OK;
    code_32(c, &n);
    code_flag(c, &m->absolute);
    COFI_TRY(check(c, !c->s.failed && n > 0 && n <= c->s.n / 8, "its numeric columns are cut short"));
    COFI_TRY(make(c, &m->numeric, n, sizeof *m->numeric));
    if (c->w == NULL) m->n_numeric = n;
    for (uint32_t i = 0; i < n; i++) COFI_TRY(code_one_numeric(c, &m->numeric[i]));
    return COF_OK;
}

static cof_status code_column_weights(codec *c)
{
    if (c->w != NULL && c->m->column_weight == NULL) return COF_OK;
    return code_numbers(c, &c->m->column_weight, c->m->n_attrs, 0, 1e6, "a column weight makes no sense");
}

static cof_status code_nearer_other(codec *c)
{
    double share = c->m->nearer_other;
    if (c->w != NULL && isnan(share)) return COF_OK;
    code_64(c, &share);
    COFI_TRY(check(c, !c->s.failed && is_between(share, 0, 1),
                   "the share of rows that lie nearer to another cluster makes no sense"));
    if (c->w == NULL && c->m->refined_by == COF_REFINED_BY_LIKELIHOOD) c->m->nearer_other = share;
    return COF_OK;
}

static cof_status code_k_halves(codec *c)
{
    static const char *const nonsense = "the agreement of halves makes no sense";
    cof_model *m = c->m;
    if (c->w != NULL && m->n_k_curve == 0) return COF_OK;
    COFI_TRY(check(c, m->n_k_curve > 0 && c->s.n == 1 + 8 * m->n_k_curve, nonsense));
    code_flag(c, &m->k_at_edge);
    for (size_t i = 0; i < m->n_k_curve; i++) {
        double *agreement = &m->k_curve[i].agreement;
        code_64(c, agreement);
        COFI_TRY(check(c, isnan(*agreement) || is_between(*agreement, -1, 1), nonsense));
    }
    return COF_OK;
}

/* ---- Sections ----------------------------------------------------------------------------------- */

/* In the order in which they are written. */
static const struct {
    uint32_t tag;
    bool optional; /* not written if it would be empty */
    cof_status (*code)(codec *c);
} sections[] = {{TAG_MODEL, false, code_model},
                {TAG_CLUSTERS, false, code_clusters},
                {TAG_METHOD, false, code_method},
                {TAG_ATTRIBUTE, false, code_attribute},
                {TAG_RESTARTS, false, code_restarts},
                {TAG_HISTORY, false, code_history},
                {TAG_AGREEMENT, true, code_agreement},
                {TAG_CHOICE, false, code_choice},
                {TAG_K_CURVE, true, code_k_curve},
                {TAG_CLUSTER_AGREEMENT, true, code_cluster_agreement},
                {TAG_QUANTITIES, true, code_quantities},
                {TAG_NUMERIC, true, code_numeric},
                {TAG_COLUMN_WEIGHTS, true, code_column_weights},
                {TAG_NEARER_OTHER, true, code_nearer_other},
                {TAG_K_HALVES, true, code_k_halves}};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

static void put_section(codec *c, size_t at)
{
    cofi_writer *w = c->w;
    size_t before = w->n;
    cofi_put_u32(w, sections[at].tag);
    size_t hole = cofi_put_hole(w);
    sections[at].code(c);
    cofi_fill_u64(w, hole, w->n - hole - 8);
    if (sections[at].optional && w->n == hole + 8) w->n = before;
}

/* A program that does not know quantities would treat every number as an unknown value, or leave it out of distances,
 * so the format number keeps it from reading such a file. */
static void put_file(cofi_writer *w, const cof_model *m)
{
    codec c = {.w = w, .m = (cof_model *)(void *)m};
    cofi_put_bytes(w, magic, sizeof magic);
    cofi_put_u32(w, m->n_numeric > 0          ? FORMAT
                    : count_quantities(m) > 0 ? FORMAT_OF_CUTS
                                              : FORMAT_OF_CATEGORIES);
    cofi_put_u32(w, 0); /* reserved */
    size_t length = cofi_put_hole(w);
    for (size_t at = 0; at < N_SECTIONS; at++) {
        size_t n = sections[at].tag == TAG_ATTRIBUTE ? m->n_attrs : 1;
        for (size_t i = 0; i < n; i++) put_section(&c, at);
    }
    cofi_fill_u64(w, length, w->n - HEADER_BYTES);
    if (!w->failed) cofi_put_u32(w, cofi_crc32(w->bytes, w->n));
}

cof_status cof_model_save(const cof_model *m, const char *path, cof_error *err)
{
    cofi_writer w = {.env = m->env};
    cof_output *output = NULL;
    put_file(&w, m);
    cof_status status = w.failed ? cofi_no_memory(err) : cof_output_open(&m->env, path, &output, err);
    if (status == COF_OK) {
        status = cof_output_write(output, w.bytes, w.n, err);
        if (status == COF_OK)
            status = cof_output_commit(output, err);
        else
            cof_output_discard(output);
    }
    cofi_release(&m->env, w.bytes);
    return status;
}

cof_status cof_model_write(const cof_model *m, cof_sink sink, void *ctx, cof_error *err)
{
    cofi_writer w = {.env = m->env};
    put_file(&w, m);
    return cofi_writer_send(&w, sink, ctx, "the model", err);
}

static cof_status get_section(codec *c)
{
    uint32_t tag = cofi_get_u32(&c->file);
    uint64_t length = cofi_get_u64(&c->file);
    if (c->file.failed || length > c->file.n - c->file.at) return damaged(c, "a section is cut short");
    c->s = (cofi_reader){.bytes = c->file.bytes + c->file.at, .n = (size_t)length};
    c->file.at += (size_t)length;
    if (c->m == NULL && tag != TAG_MODEL) return damaged(c, "its first section is not the first");
    size_t at = 0;
    while (at < N_SECTIONS && sections[at].tag != tag) at++;
    if (at == N_SECTIONS) return COF_OK; /* written by a later minor version; not needed here */
    if (c->seen[tag] && tag != TAG_ATTRIBUTE) return damaged(c, "a section comes twice");
    cof_status status = sections[at].code(c);
    c->seen[tag] = true;
    return status == COF_OK && c->s.at < c->s.n ? damaged(c, "a section is too long") : status;
}

/* Checks the first HEADER_BYTES of a file, or fewer if it is shorter, before anything else is read. */
static cof_status check_header(const codec *c, const unsigned char *bytes, size_t n, uint64_t *length)
{
    cofi_reader head = {.bytes = bytes, .n = n};
    const unsigned char *start = cofi_get_bytes(&head, sizeof magic);
    if (start == NULL || memcmp(start, magic, sizeof magic) != 0)
        return cofi_fail(c->err, COF_ERR_MODEL, "%s: this is not a coforest model file", c->name);
    uint32_t format = cofi_get_u32(&head);
    cofi_get_u32(&head); /* reserved */
    *length = cofi_get_u64(&head);
    if (!head.failed && format > FORMAT)
        return cofi_fail(c->err, COF_ERR_TOO_NEW,
                         "%s: this model has format %u, and version %s reads up to format %d; "
                         "use a newer coforest",
                         c->name, format, cof_version(), FORMAT);
    if (head.failed || format == 0 || *length > MOST_BYTES)
        return damaged(c, "it is cut short, or longer than it says");
    return COF_OK;
}

static cof_status check_frame(codec *c, const unsigned char *bytes, size_t n)
{
    uint64_t length;
    COFI_TRY(check_header(c, bytes, n, &length));
    if (n < HEADER_BYTES + END_BYTES || length != n - HEADER_BYTES - END_BYTES)
        return damaged(c, "it is cut short, or longer than it says");
    c->file = (cofi_reader){.bytes = bytes + HEADER_BYTES, .n = (size_t)length};
    cofi_reader end = {.bytes = bytes + n - END_BYTES, .n = END_BYTES};
    if (cofi_get_u32(&end) != cofi_crc32(bytes, n - END_BYTES))
        return damaged(c, "its checksum does not fit");
    return COF_OK;
}

static bool is_whole(const codec *c)
{
    const cof_model *m = c->m;
    bool open = m != NULL && m->no_scores; /* whether rows can join some cluster */
    for (uint32_t j = 0; m != NULL && j < m->k; j++) open |= m->scores.base[j] != COFI_NEVER;
    return open && c->largest_sum < 0x1p60 && c->seen[TAG_CLUSTERS] && c->seen[TAG_RESTARTS] &&
           c->n_attrs == m->n_attrs && c->n_flat == m->n_flat;
}

/* Columns are found by name, so names must be unique. */
static cof_status check_names(const codec *c)
{
    size_t first, second, n = c->m->n_attrs;
    if (cofi_names_repeated(&c->env, &c->m->attr->name, sizeof *c->m->attr, n, &first, &second) != COF_OK)
        return cofi_no_memory(c->err);
    return second < n ? damaged(c, "two columns have one name") : COF_OK;
}

cof_status cof_model_load_memory(const cof_env *lent, const char *name, const void *bytes, size_t n_bytes,
                                 cof_model **out, cof_error *err)
{
    char shown[160];
    codec c = {
        .env = cofi_env_resolve(lent), .name = cofi_utf8_show_tail(shown, sizeof shown, name), .err = err};
    cof_status status = check_frame(&c, bytes, n_bytes);
    while (status == COF_OK && c.file.at < c.file.n) status = get_section(&c);
    if (status == COF_OK && !is_whole(&c)) status = damaged(&c, "a part of it is missing");
    if (status == COF_OK) status = check_names(&c);
    if (status != COF_OK) {
        cof_model_free(c.m);
        return status;
    }
    *out = c.m;
    return COF_OK;
}

/* Reads up to n more bytes. */
static cof_status read_some(cofi_input *in, cofi_writer *w, uint64_t n, cof_error *err)
{
    unsigned char block[1 << 14];
    size_t got = 1;
    while (n > 0 && got > 0) {
        COFI_TRY(cofi_input_read(in, block, n < sizeof block ? (size_t)n : sizeof block, &got, err));
        cofi_put_bytes(w, block, got);
        if (w->failed) return cofi_no_memory(err);
        n -= got;
    }
    return COF_OK;
}

/* Reads the header first, because a file that is no model may be huge or endless. Then reads as many bytes
 * as the header announces and one more, which must not exist. */
static cof_status read_file(const char *path, cofi_input *in, cofi_writer *w, cof_error *err)
{
    char shown[160];
    codec c = {.name = cofi_utf8_show_tail(shown, sizeof shown, path), .err = err};
    uint64_t length = 0;
    COFI_TRY(read_some(in, w, HEADER_BYTES, err));
    COFI_TRY(check_header(&c, w->bytes, w->n, &length));
    return read_some(in, w, length + END_BYTES + 1, err);
}

cof_status cof_model_load(const cof_env *lent, const char *path, cof_model **out, cof_error *err)
{
    cofi_writer w = {.env = cofi_env_resolve(lent)};
    cofi_input *in = NULL;
    cofi_source source = {.name = path};
    cof_status status = cofi_input_open(&w.env, &source, &in, err);
    if (status == COF_OK) status = read_file(path, in, &w, err);
    if (status == COF_OK) status = cof_model_load_memory(lent, path, w.bytes, w.n, out, err);
    cofi_input_close(in);
    cofi_release(&w.env, w.bytes);
    return status;
}
