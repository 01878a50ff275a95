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
    N_TAGS
};

/* ---- Writing ------------------------------------------------------------------------------------ */

static void put_model(cofi_writer *w, const cof_model *m)
{
    cofi_put_u32(w, m->k);
    cofi_put_u32(w, (uint32_t)m->variant);
    cofi_put_u32(w, (uint32_t)m->missing);
    cofi_put_u32(w, (uint32_t)m->n_attrs);
    cofi_put_u32(w, m->n_flat);
    cofi_put_f64(w, m->unit);
    cofi_put_f64(w, m->scores.scale);
}

static void put_clusters(cofi_writer *w, const cof_model *m)
{
    for (uint32_t j = 0; j < m->k; j++) {
        cofi_put_f64(w, m->size[j]);
        cofi_put_u8(w, m->scores.base[j] != COFI_NEVER);
    }
}

static void put_attribute(cofi_writer *w, const cof_model *m, size_t attribute)
{
    const cofi_model_attr *a = &m->attr[attribute];
    cofi_put_text(w, a->name);
    cofi_put_u8(w, a->used);
    cofi_put_u8(w, a->ordinal);
    cofi_put_u8(w, a->has_missing);
    cofi_put_u32(w, a->n_values);
    cofi_put_u32(w, a->n_edges);
    for (uint32_t v = 0; v < a->n_values; v++) cofi_put_text(w, a->text + a->offset[v]);
    for (uint32_t e = 0; e < a->n_edges; e++) {
        cofi_put_u32(w, a->edge[e].u);
        cofi_put_u32(w, a->edge[e].v);
        cofi_put_f64(w, a->edge[e].length);
    }
    for (uint32_t v = 0; a->used && v < a->n_values; v++) {
        for (uint32_t j = 0; j < m->k; j++) {
            cofi_put_u64(w, m->count[(size_t)(a->first + v) * m->k + j]);
            cofi_put_u64(w, (uint64_t)m->scores.value[(size_t)(a->first + v) * m->scores.stride + j]);
        }
    }
}

static void put_restarts(cofi_writer *w, const cof_model *m)
{
    for (size_t i = 0; i < m->n_restarts; i++) {
        cofi_put_f64(w, m->restart[i].objective);
        cofi_put_f64(w, m->restart[i].log_likelihood);
        cofi_put_u32(w, m->restart[i].rebuilds);
        cofi_put_u32(w, m->restart[i].passes);
        cofi_put_u32(w, (uint32_t)m->restart[i].stop_reason);
    }
}

static void put_history(cofi_writer *w, const cof_model *m)
{
    for (size_t i = 0; i < m->n_history; i++) {
        cofi_put_u32(w, m->history[i].restart);
        cofi_put_u32(w, m->history[i].rebuild);
        cofi_put_u32(w, m->history[i].pass);
        cofi_put_f64(w, m->history[i].objective);
        cofi_put_u64(w, m->history[i].moved);
    }
}

static void put_agreement(cofi_writer *w, const cof_model *m)
{
    for (size_t i = 0; m->agreement != NULL && i < m->n_restarts; i++) cofi_put_f64(w, m->agreement[i]);
}

static void put_choice(cofi_writer *w, const cof_model *m)
{
    cofi_put_u32(w, (uint32_t)m->select);
    cofi_put_u32(w, (uint32_t)m->kept);
    for (size_t i = 0; i < m->n_restarts; i++) {
        cofi_put_f64(w, m->restart[i].criterion);
        cofi_put_u8(w, m->restart[i].by_likelihood != 0);
    }
}

static void put_cluster_agreement(cofi_writer *w, const cof_model *m)
{
    if (m->cluster_agreement == NULL) return;
    cofi_put_u32(w, m->n_good);
    for (uint32_t j = 0; j < m->k; j++) cofi_put_f64(w, m->cluster_agreement[j]);
}

static void put_k_curve(cofi_writer *w, const cof_model *m)
{
    for (size_t i = 0; i < m->n_k_curve; i++) {
        cofi_put_u32(w, m->k_curve[i].k);
        cofi_put_f64(w, m->k_curve[i].log_likelihood);
    }
}

static void put_method(cofi_writer *w, const cof_model *m)
{
    cofi_put_text(w, m->method);
    cofi_put_u8(w, m->no_scores);
    for (uint32_t j = 0; j < m->k; j++)
        cofi_put_u64(w, m->scores.base[j] != COFI_NEVER ? (uint64_t)m->scores.base[j] : 0);
}

static uint32_t count_quantities(const cof_model *m)
{
    uint32_t n = 0;
    for (size_t r = 0; r < m->n_attrs; r++) n += m->attr[r].cut != NULL;
    return n;
}

static void put_reading(cofi_writer *w, const cofi_reading *r)
{
    cofi_put_u8(w, r->line);
    cofi_put_u8(w, (uint8_t)r->decimal);
    cofi_put_u8(w, (uint8_t)r->thousands);
    cofi_put_u8(w, r->order);
    cofi_put_text(w, r->affix);
}

static void put_quantity(cofi_writer *w, const cof_model *m, uint32_t attribute)
{
    const cofi_model_attr *a = &m->attr[attribute];
    cofi_put_u32(w, attribute);
    put_reading(w, &a->cut->reading);
    cofi_put_u32(w, a->cut->n_edges);
    for (uint32_t e = 0; e < a->cut->n_edges; e++) cofi_put_f64(w, a->cut->edge[e]);
    cofi_put_u8(w, a->five != NULL);
    for (size_t i = 0; a->five != NULL && i < (size_t)m->k * COF_N_FIVE; i++) cofi_put_f64(w, a->five[i]);
}

static void put_quantities(cofi_writer *w, const cof_model *m)
{
    uint32_t n = count_quantities(m);
    if (n == 0) return;
    cofi_put_u32(w, n);
    for (uint32_t r = 0; r < m->n_attrs; r++)
        if (m->attr[r].cut != NULL) put_quantity(w, m, r);
}

static void put_numeric(cofi_writer *w, const cof_model *m)
{
    if (m->n_numeric == 0) return;
    cofi_put_u32(w, (uint32_t)m->n_numeric);
    cofi_put_u8(w, m->absolute);
    for (size_t c = 0; c < m->n_numeric; c++) {
        const cofi_model_numeric *q = &m->numeric[c];
        const double number[] = {q->origin, q->unit, q->least, q->most, q->column_weight};
        cofi_put_text(w, q->name);
        put_reading(w, &q->reading);
        for (size_t i = 0; i < sizeof number / sizeof *number; i++) cofi_put_f64(w, number[i]);
        for (uint32_t j = 0; j < m->k; j++) cofi_put_f64(w, q->mean[j]);
    }
}

static void put_column_weights(cofi_writer *w, const cof_model *m)
{
    if (m->column_weight == NULL) return;
    for (size_t r = 0; r < m->n_attrs; r++) cofi_put_f64(w, m->column_weight[r]);
}

static void put_nearer_other(cofi_writer *w, const cof_model *m)
{
    if (!isnan(m->nearer_other)) cofi_put_f64(w, m->nearer_other);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

typedef struct model_parser {
    cof_env env;
    const char *name;
    cofi_reader file; /* the bytes between header and checksum */
    cof_model *m;
    size_t n_attrs; /* number of attributes read so far */
    uint64_t n_flat;
    bool seen[N_TAGS];
    double largest_sum; /* sum over attributes of the largest score: must not overflow */
} model_parser;

static cof_status damaged(const model_parser *p, const char *what, cof_error *err)
{
    return cofi_fail(err, COF_ERR_MODEL, "%s: this model file is damaged (%s); save the model again", p->name,
                     what);
}

static bool is_between(double x, double least, double most)
{
    return x >= least - ROUNDING && x <= most + ROUNDING;
}

static cof_status get_model(model_parser *p, cofi_reader *s, cof_error *err)
{
    uint32_t k = cofi_get_u32(s), variant = cofi_get_u32(s), missing = cofi_get_u32(s);
    uint32_t n_attrs = cofi_get_u32(s), n_flat = cofi_get_u32(s);
    double unit = cofi_get_f64(s), scale = cofi_get_f64(s);
    bool sane = !s->failed && k > 0 && k <= COF_MOST_CLUSTERS && variant <= COF_VARIANT_AUTHORS &&
                missing <= COF_MISSING_ERROR && unit > 0 && isfinite(unit) && scale > 1e-200 && scale < 1e200;
    /* later sections have 9 bytes per cluster, at least 23 per attribute, and 16 per value and cluster */
    size_t rest = p->file.n - p->file.at;
    if (!sane || k > rest / 9 || n_attrs > rest / 23 || (uint64_t)n_flat * k > rest / 16)
        return damaged(p, "its sizes make no sense", err);
    COFI_TRY(cofi_model_new(&p->env, k, n_attrs, &p->m, err));
    p->m->variant = (int32_t)variant;
    p->m->missing = (int32_t)missing;
    p->m->unit = unit;
    p->m->scores.scale = scale;
    return cofi_model_alloc_values(p->m, n_flat, err);
}

static cof_status get_clusters(model_parser *p, cofi_reader *s, cof_error *err)
{
    cof_model *m = p->m;
    double total = 0;
    for (uint32_t j = 0; j < m->scores.stride; j++) {
        bool real = j < m->k;
        m->scores.base[j] = COFI_NEVER;
        if (!real) continue;
        m->size[j] = cofi_get_f64(s);
        if (cofi_get_u8(s) != 0) m->scores.base[j] = 0;
        if (!(m->size[j] >= 0)) return damaged(p, "a cluster size is not a number", err);
        total += m->size[j];
    }
    if (s->failed) return damaged(p, "the clusters are cut short", err);
    return isfinite(total) && total * m->unit < MOST_UNITS ? COF_OK
                                                           : damaged(p, "its clusters are too large", err);
}

static const char *get_text(cofi_reader *s, uint32_t *n)
{
    *n = cofi_get_u32(s);
    const char *text = (const char *)cofi_get_bytes(s, *n);
    bool good = text != NULL && memchr(text, '\0', *n) == NULL && cofi_utf8_valid(text, *n);
    if (!good) s->failed = true;
    return good ? text : NULL;
}

/* Number of bytes that the next n texts take with a NUL each; does not move the reader. */
static size_t measure_texts(cofi_reader s, uint32_t n, bool *good)
{
    size_t total = 0;
    uint32_t length;
    for (uint32_t v = 0; v < n && get_text(&s, &length) != NULL; v++) total += (size_t)length + 1;
    *good = !s.failed;
    return total;
}

static void get_texts(cofi_reader *s, cofi_model_attr *a)
{
    size_t at = 0;
    for (uint32_t v = 0; v < a->n_values; v++) {
        uint32_t n;
        const char *text = get_text(s, &n);
        a->offset[v] = at;
        memcpy(a->text + at, text, n);
        a->text[at + n] = '\0';
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

static cof_status get_scores(model_parser *p, cofi_reader *s, cofi_model_attr *a, cof_error *err)
{
    cof_model *m = p->m;
    int64_t largest = 0;
    if (p->n_flat + a->n_values > m->n_flat) return damaged(p, "it has more values than it says", err);
    a->first = (uint32_t)p->n_flat;
    p->n_flat += a->n_values;
    for (uint32_t v = 0; v < a->n_values; v++) {
        for (uint32_t j = 0; j < m->k; j++) {
            m->count[(size_t)(a->first + v) * m->k + j] = cofi_get_u64(s);
            int64_t score = (int64_t)cofi_get_u64(s);
            if (score < 0) return damaged(p, "a score is negative", err);
            m->scores.value[(size_t)(a->first + v) * m->scores.stride + j] = score;
            largest = score > largest ? score : largest;
        }
    }
    p->largest_sum += (double)largest;
    if (p->largest_sum >= 0x1p60) return damaged(p, "its scores are too large", err);
    if (s->failed) return damaged(p, "an attribute's scores are cut short", err);
    return fits_clusters(m, a) ? COF_OK : damaged(p, "a cluster has more values than rows", err);
}

static cof_status get_attribute(model_parser *p, cofi_reader *s, cof_error *err)
{
    cof_model *m = p->m;
    if (p->n_attrs >= m->n_attrs) return damaged(p, "it has more attributes than it says", err);
    if (!p->seen[TAG_CLUSTERS]) return damaged(p, "an attribute comes before the clusters", err);
    cofi_model_attr *a = &m->attr[p->n_attrs];
    uint32_t n_name;
    const char *name = get_text(s, &n_name);
    uint8_t used = cofi_get_u8(s), ordinal = cofi_get_u8(s), has_missing = cofi_get_u8(s);
    uint32_t n_values = cofi_get_u32(s), n_edges = cofi_get_u32(s);
    bool good = !s->failed && n_values <= (s->n - s->at) / 4 && n_edges <= (s->n - s->at) / 16 &&
                n_edges <= (n_values > 0 ? n_values - 1 : 0) && (n_values > 0 || (!has_missing && !used));
    size_t n_text = good ? measure_texts(*s, n_values, &good) : 0;
    if (!good) return damaged(p, "an attribute is cut short", err);
    COFI_TRY(cofi_model_alloc_attr(m, p->n_attrs++, n_values, n_text, n_edges, err));
    a->name = cofi_copy_text(&m->env, name, n_name);
    if (a->name == NULL) return cofi_no_memory(err);
    a->used = used != 0;
    a->ordinal = ordinal != 0;
    a->has_missing = has_missing != 0;
    get_texts(s, a);
    for (uint32_t e = 0; e < n_edges; e++) {
        uint32_t u = cofi_get_u32(s), v = cofi_get_u32(s);
        a->edge[e] = (cof_edge){u, v, cofi_get_f64(s)};
    }
    if (s->failed || !cofi_model_root_tree(a))
        return damaged(p, "the edges of an attribute make no tree", err);
    return a->used ? get_scores(p, s, a, err) : COF_OK;
}

/* The name may be unknown here: scores label rows in the same way for every method. */
static cof_status get_method(model_parser *p, cofi_reader *s, cof_error *err)
{
    cof_model *m = p->m;
    uint32_t n;
    int64_t largest = 0;
    const char *name = get_text(s, &n);
    if (name == NULL || !p->seen[TAG_CLUSTERS]) return damaged(p, "its method is cut short", err);
    if (!cofi_model_set_method(m, name, n)) return damaged(p, "its method has no proper name", err);
    m->no_scores = cofi_get_u8(s) != 0;
    for (uint32_t j = 0; j < m->k; j++) {
        int64_t base = (int64_t)cofi_get_u64(s);
        if (base < 0 || base >= (INT64_C(1) << COFI_SUM_BITS))
            return damaged(p, "a cluster's score is too large", err);
        if (m->scores.base[j] != COFI_NEVER) m->scores.base[j] = base;
        largest = base > largest ? base : largest;
    }
    p->largest_sum += (double)largest;
    return s->failed ? damaged(p, "its method is cut short", err) : COF_OK;
}

static bool is_restart(const cof_restart_record *r)
{
    return isfinite(r->objective) && isfinite(r->log_likelihood) && r->rebuilds <= MOST_STEPS &&
           r->passes <= MOST_STEPS && r->stop_reason >= COF_STOP_CONVERGED &&
           r->stop_reason <= COF_STOP_STOPPED;
}

static cof_status get_restarts(model_parser *p, cofi_reader *s, cof_error *err)
{
    enum { BYTES = 28 };
    cof_model *m = p->m;
    if (s->n % BYTES != 0 || s->n == 0) return damaged(p, "its restarts make no sense", err);
    size_t n = s->n / BYTES;
    m->restart = cofi_alloc(&m->env, n, sizeof *m->restart);
    if (m->restart == NULL) return cofi_no_memory(err);
    m->n_restarts = n;
    for (size_t i = 0; i < n; i++) {
        cof_restart_record *r = &m->restart[i];
        r->objective = cofi_get_f64(s);
        r->log_likelihood = cofi_get_f64(s);
        r->rebuilds = cofi_get_u32(s);
        r->passes = cofi_get_u32(s);
        r->stop_reason = (int32_t)cofi_get_u32(s);
        if (!is_restart(r)) return damaged(p, "a restart makes no sense", err);
        r->criterion = r->log_likelihood; /* default, if no later section sets it */
        r->by_likelihood = 0;
        if (r->criterion > m->restart[m->kept].criterion) m->kept = i;
    }
    m->select = COF_SELECT_LIKELIHOOD; /* default, if no later section sets it */
    return COF_OK;
}

static cof_status get_choice(model_parser *p, cofi_reader *s, cof_error *err)
{
    cof_model *m = p->m;
    uint32_t select = cofi_get_u32(s), kept = cofi_get_u32(s);
    if (s->failed || m->restart == NULL || select == COF_SELECT_AUTO || select > COF_SELECT_MIXTURE ||
        s->n != 8 + 9 * m->n_restarts || kept >= m->n_restarts)
        return damaged(p, "which of its restarts was kept makes no sense", err);
    m->select = (int32_t)select;
    m->kept = kept;
    for (size_t i = 0; i < m->n_restarts; i++) {
        m->restart[i].criterion = cofi_get_f64(s);
        m->restart[i].by_likelihood = cofi_get_u8(s) != 0;
        if (!isfinite(m->restart[i].criterion)) return damaged(p, "a restart makes no sense", err);
    }
    if (m->restart[kept].by_likelihood) m->refined_by = COF_REFINED_BY_LIKELIHOOD;
    return COF_OK;
}

static cof_status get_agreement(model_parser *p, cofi_reader *s, cof_error *err)
{
    cof_model *m = p->m;
    if (m->n_restarts < 2 || s->n != 8 * m->n_restarts)
        return damaged(p, "the agreement of its restarts makes no sense", err);
    m->agreement = cofi_alloc(&m->env, m->n_restarts, sizeof *m->agreement);
    if (m->agreement == NULL) return cofi_no_memory(err);
    for (size_t i = 0; i < m->n_restarts; i++) {
        m->agreement[i] = cofi_get_f64(s);
        if (!is_between(m->agreement[i], -1, 1))
            return damaged(p, "the agreement of its restarts makes no sense", err);
    }
    return COF_OK;
}

static cof_status get_cluster_agreement(model_parser *p, cofi_reader *s, cof_error *err)
{
    cof_model *m = p->m;
    m->n_good = cofi_get_u32(s);
    if (m->restart == NULL || s->n != 4 + 8 * (size_t)m->k || m->n_good == 0 || m->n_good >= m->n_restarts)
        return damaged(p, "the agreement about its clusters makes no sense", err);
    m->cluster_agreement = cofi_alloc(&m->env, m->k, sizeof *m->cluster_agreement);
    if (m->cluster_agreement == NULL) return cofi_no_memory(err);
    for (uint32_t j = 0; j < m->k; j++) {
        m->cluster_agreement[j] = cofi_get_f64(s);
        if (!is_between(m->cluster_agreement[j], 0, 1))
            return damaged(p, "the agreement about its clusters makes no sense", err);
    }
    return COF_OK;
}

/* Numbers of clusters ascend, and the model's number is among them. */
static cof_status get_k_curve(model_parser *p, cofi_reader *s, cof_error *err)
{
    enum { BYTES = 12 };
    cof_model *m = p->m;
    size_t n = s->n / BYTES;
    bool sane = s->n % BYTES == 0 && n > 0, own = false;
    if (sane) {
        m->k_curve = cofi_alloc(&m->env, n, sizeof *m->k_curve);
        if (m->k_curve == NULL) return cofi_no_memory(err);
    }
    for (size_t i = 0; sane && i < n; i++) {
        cof_k_record *r = &m->k_curve[i];
        r->k = cofi_get_u32(s);
        r->log_likelihood = cofi_get_f64(s);
        own |= r->k == m->k;
        sane = r->k > (i > 0 ? r[-1].k : 0) && r->k <= COF_MOST_CLUSTERS && isfinite(r->log_likelihood);
    }
    if (!sane || !own) return damaged(p, "the numbers of clusters it tried make no sense", err);
    m->n_k_curve = n;
    return COF_OK;
}

/* Restarts ascend, and so do the passes of each; the pass number is one that its restart has. */
static bool follows(const cof_model *m, const cof_pass_record *h, const cof_pass_record *before)
{
    if (h->restart >= m->n_restarts || h->pass == 0 || h->pass > m->restart[h->restart].passes) return false;
    if (h->rebuild > MOST_STEPS || !isfinite(h->objective)) return false;
    return before == NULL || h->restart > before->restart ||
           (h->restart == before->restart && h->pass > before->pass);
}

static cof_status get_history(model_parser *p, cofi_reader *s, cof_error *err)
{
    enum { BYTES = 28 };
    cof_model *m = p->m;
    if (s->n % BYTES != 0 || m->restart == NULL) return damaged(p, "its history makes no sense", err);
    size_t n = s->n / BYTES;
    m->history = cofi_alloc(&m->env, n, sizeof *m->history);
    if (m->history == NULL) return cofi_no_memory(err);
    m->n_history = n;
    for (size_t i = 0; i < n; i++) {
        cof_pass_record *h = &m->history[i];
        h->restart = cofi_get_u32(s);
        h->rebuild = cofi_get_u32(s);
        h->pass = cofi_get_u32(s);
        h->objective = cofi_get_f64(s);
        h->moved = cofi_get_u64(s);
        if (!follows(m, h, i > 0 ? h - 1 : NULL)) return damaged(p, "its history makes no sense", err);
    }
    return COF_OK;
}

static bool get_reading(cofi_reader *s, cofi_reading *r)
{
    uint32_t n = 0;
    *r = (cofi_reading){.line = cofi_get_u8(s)};
    r->decimal = (char)cofi_get_u8(s);
    r->thousands = (char)cofi_get_u8(s);
    r->order = cofi_get_u8(s);
    const char *affix = get_text(s, &n);
    bool known = r->line != COFI_LINE_NONE && r->line <= COFI_LINE_LAST && r->order <= COFI_DATE_LAST &&
                 (r->decimal == '.' || r->decimal == ',') && strchr(",. '", r->thousands) != NULL &&
                 r->thousands != r->decimal;
    if (s->failed || !known || n >= COFI_AFFIX_BYTES) return false;
    memcpy(r->affix, affix, n);
    return true;
}

/* The edges are one fewer than the attribute's values without the missing one, in ascending order. */
static bool get_edges(cofi_reader *s, cofi_cut *cut)
{
    for (uint32_t e = 0; e < cut->n_edges; e++) {
        cut->edge[e] = cofi_get_f64(s);
        if (!isfinite(cut->edge[e]) || (e > 0 && cut->edge[e] <= cut->edge[e - 1])) return false;
    }
    return !s->failed;
}

/* Five ascending numbers, or five NaN. */
static bool get_five(cofi_reader *s, double *five)
{
    int n_known = 0;
    for (int q = 0; q < COF_N_FIVE; q++) {
        five[q] = cofi_get_f64(s);
        n_known += isfinite(five[q]) && (q == 0 || five[q] >= five[q - 1]);
    }
    return !s->failed && (n_known == COF_N_FIVE || (n_known == 0 && isnan(five[0])));
}

static cof_status get_quantity(model_parser *p, cofi_reader *s, cof_error *err)
{
    static const char *const nonsense = "a quantity makes no sense";
    cof_model *m = p->m;
    cofi_reading reading;
    uint32_t r = cofi_get_u32(s);
    bool good = get_reading(s, &reading);
    uint32_t n_edges = cofi_get_u32(s);
    if (!good || s->failed || r >= p->n_attrs || m->attr[r].cut != NULL) return damaged(p, nonsense, err);
    cofi_model_attr *a = &m->attr[r];
    if (n_edges + UINT64_C(1) + a->has_missing != a->n_values || n_edges > (s->n - s->at) / 8)
        return damaged(p, nonsense, err);
    a->cut = cofi_alloc_zero(&m->env, 1, sizeof *a->cut);
    if (a->cut == NULL) return cofi_no_memory(err);
    *a->cut = (cofi_cut){reading, n_edges, cofi_alloc(&m->env, n_edges, sizeof *a->cut->edge)};
    if (a->cut->edge == NULL) return cofi_no_memory(err);
    if (!get_edges(s, a->cut)) return damaged(p, nonsense, err);
    if (cofi_get_u8(s) == 0) return s->failed ? damaged(p, nonsense, err) : COF_OK;
    if (m->k > (s->n - s->at) / (8 * COF_N_FIVE)) return damaged(p, nonsense, err);
    a->five = cofi_alloc(&m->env, (size_t)m->k * COF_N_FIVE, sizeof *a->five);
    if (a->five == NULL) return cofi_no_memory(err);
    for (uint32_t j = 0; j < m->k; j++)
        if (!get_five(s, a->five + (size_t)j * COF_N_FIVE)) return damaged(p, nonsense, err);
    return COF_OK;
}

static cof_status get_quantities(model_parser *p, cofi_reader *s, cof_error *err)
{
    uint32_t n = cofi_get_u32(s);
    if (s->failed) return damaged(p, "its quantities are cut short", err);
    for (uint32_t i = 0; i < n; i++) COFI_TRY(get_quantity(p, s, err));
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

static cof_status get_one_numeric(model_parser *p, cofi_reader *s, cofi_model_numeric *q, cof_error *err)
{
    static const char *const nonsense = "a numeric column makes no sense";
    const cof_model *m = p->m;
    uint32_t n = 0;
    const char *name = get_text(s, &n);
    if (name == NULL || !get_reading(s, &q->reading) || (s->n - s->at) / 8 < m->k)
        return damaged(p, nonsense, err);
    q->name = cofi_copy_text(&m->env, name, n);
    q->mean = cofi_alloc(&m->env, m->k, sizeof *q->mean);
    if (q->name == NULL || q->mean == NULL) return cofi_no_memory(err);
    double *const number[] = {&q->origin, &q->unit, &q->least, &q->most, &q->column_weight};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) *number[i] = cofi_get_f64(s);
    for (uint32_t j = 0; j < m->k; j++) q->mean[j] = cofi_get_f64(s);
    if (s->failed || !is_numeric(m, q)) return damaged(p, nonsense, err);
    double reach = q->most - q->least;
    p->largest_sum += m->scores.scale * q->column_weight * (m->absolute ? reach : reach * reach);
    return COF_OK;
}

static cof_status get_numeric(model_parser *p, cofi_reader *s, cof_error *err)
{
    cof_model *m = p->m;
    uint32_t n = cofi_get_u32(s);
    m->absolute = cofi_get_u8(s) != 0;
    if (s->failed || n == 0 || n > s->n / 8) return damaged(p, "its numeric columns are cut short", err);
    m->numeric = cofi_alloc_zero(&m->env, n, sizeof *m->numeric);
    if (m->numeric == NULL) return cofi_no_memory(err);
    m->n_numeric = n;
    for (uint32_t c = 0; c < n; c++) COFI_TRY(get_one_numeric(p, s, &m->numeric[c], err));
    return COF_OK;
}

static cof_status get_column_weights(model_parser *p, cofi_reader *s, cof_error *err)
{
    cof_model *m = p->m;
    if (s->n != 8 * m->n_attrs) return damaged(p, "its column weights are cut short", err);
    m->column_weight = cofi_alloc(&m->env, m->n_attrs, sizeof *m->column_weight);
    if (m->column_weight == NULL) return cofi_no_memory(err);
    for (size_t r = 0; r < m->n_attrs; r++) {
        m->column_weight[r] = cofi_get_f64(s);
        if (!(m->column_weight[r] >= 0 && m->column_weight[r] <= 1e6))
            return damaged(p, "a column weight makes no sense", err);
    }
    return COF_OK;
}

static cof_status get_nearer_other(model_parser *p, cofi_reader *s, cof_error *err)
{
    double share = cofi_get_f64(s);
    if (s->failed || !is_between(share, 0, 1))
        return damaged(p, "the share of rows that lie nearer to another cluster makes no sense", err);
    if (p->m->refined_by == COF_REFINED_BY_LIKELIHOOD) p->m->nearer_other = share;
    return COF_OK;
}

/* ---- Sections ----------------------------------------------------------------------------------- */

/* In the order in which they are written. */
static const struct {
    uint32_t tag;
    bool optional;                                   /* not written if it would be empty */
    void (*put)(cofi_writer *w, const cof_model *m); /* NULL: put_attribute */
    cof_status (*get)(model_parser *p, cofi_reader *s, cof_error *err);
} sections[] = {{TAG_MODEL, false, put_model, get_model},
                {TAG_CLUSTERS, false, put_clusters, get_clusters},
                {TAG_METHOD, false, put_method, get_method},
                {TAG_ATTRIBUTE, false, NULL, get_attribute},
                {TAG_RESTARTS, false, put_restarts, get_restarts},
                {TAG_HISTORY, false, put_history, get_history},
                {TAG_AGREEMENT, true, put_agreement, get_agreement},
                {TAG_CHOICE, false, put_choice, get_choice},
                {TAG_K_CURVE, true, put_k_curve, get_k_curve},
                {TAG_CLUSTER_AGREEMENT, true, put_cluster_agreement, get_cluster_agreement},
                {TAG_QUANTITIES, true, put_quantities, get_quantities},
                {TAG_NUMERIC, true, put_numeric, get_numeric},
                {TAG_COLUMN_WEIGHTS, true, put_column_weights, get_column_weights},
                {TAG_NEARER_OTHER, true, put_nearer_other, get_nearer_other}};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

static void put_section(cofi_writer *w, const cof_model *m, size_t at, size_t attribute)
{
    size_t before = w->n;
    cofi_put_u32(w, sections[at].tag);
    size_t hole = cofi_put_hole(w);
    if (sections[at].put != NULL)
        sections[at].put(w, m);
    else
        put_attribute(w, m, attribute);
    cofi_fill_u64(w, hole, w->n - hole - 8);
    if (sections[at].optional && w->n == hole + 8) w->n = before;
}

/* A program that does not know quantities would treat every number as an unknown value, or leave it out of distances,
 * so the format number keeps it from reading such a file. */
static void put_file(cofi_writer *w, const cof_model *m)
{
    cofi_put_bytes(w, magic, sizeof magic);
    cofi_put_u32(w, m->n_numeric > 0          ? FORMAT
                    : count_quantities(m) > 0 ? FORMAT_OF_CUTS
                                              : FORMAT_OF_CATEGORIES);
    cofi_put_u32(w, 0); /* reserved */
    size_t length = cofi_put_hole(w);
    for (size_t at = 0; at < N_SECTIONS; at++) {
        size_t n = sections[at].tag == TAG_ATTRIBUTE ? m->n_attrs : 1;
        for (size_t i = 0; i < n; i++) put_section(w, m, at, i);
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
    cof_status status = w.failed ? cofi_no_memory(err) : COF_OK;
    if (status == COF_OK && sink(ctx, (const char *)w.bytes, w.n) != 0)
        status = cofi_fail(err, COF_ERR_IO, "the model could not be written: its receiver refused the bytes");
    cofi_release(&m->env, w.bytes);
    return status;
}

static cof_status get_section(model_parser *p, cof_error *err)
{
    uint32_t tag = cofi_get_u32(&p->file);
    uint64_t length = cofi_get_u64(&p->file);
    if (p->file.failed || length > p->file.n - p->file.at) return damaged(p, "a section is cut short", err);
    cofi_reader s = {.bytes = p->file.bytes + p->file.at, .n = (size_t)length};
    p->file.at += (size_t)length;
    if (p->m == NULL && tag != TAG_MODEL) return damaged(p, "its first section is not the first", err);
    size_t at = 0;
    while (at < N_SECTIONS && sections[at].tag != tag) at++;
    if (at == N_SECTIONS) return COF_OK; /* written by a later minor version; not needed here */
    if (p->seen[tag] && tag != TAG_ATTRIBUTE) return damaged(p, "a section comes twice", err);
    cof_status status = sections[at].get(p, &s, err);
    p->seen[tag] = true;
    return status == COF_OK && s.at < s.n ? damaged(p, "a section is too long", err) : status;
}

/* Checks the first HEADER_BYTES of a file, or fewer if it is shorter, before anything else is read. */
static cof_status check_header(const model_parser *p, const unsigned char *bytes, size_t n, uint64_t *length,
                               cof_error *err)
{
    cofi_reader head = {.bytes = bytes, .n = n};
    const unsigned char *start = cofi_get_bytes(&head, sizeof magic);
    if (start == NULL || memcmp(start, magic, sizeof magic) != 0)
        return cofi_fail(err, COF_ERR_MODEL, "%s: this is not a coforest model file", p->name);
    uint32_t format = cofi_get_u32(&head);
    cofi_get_u32(&head); /* reserved */
    *length = cofi_get_u64(&head);
    if (!head.failed && format > FORMAT)
        return cofi_fail(err, COF_ERR_TOO_NEW,
                         "%s: this model has format %u, and version %s reads up to format %d; "
                         "use a newer coforest",
                         p->name, format, cof_version(), FORMAT);
    if (head.failed || format == 0 || *length > MOST_BYTES)
        return damaged(p, "it is cut short, or longer than it says", err);
    return COF_OK;
}

static cof_status check_frame(model_parser *p, const unsigned char *bytes, size_t n, cof_error *err)
{
    uint64_t length;
    COFI_TRY(check_header(p, bytes, n, &length, err));
    if (n < HEADER_BYTES + END_BYTES || length != n - HEADER_BYTES - END_BYTES)
        return damaged(p, "it is cut short, or longer than it says", err);
    p->file = (cofi_reader){.bytes = bytes + HEADER_BYTES, .n = (size_t)length};
    cofi_reader end = {.bytes = bytes + n - END_BYTES, .n = END_BYTES};
    if (cofi_get_u32(&end) != cofi_crc32(bytes, n - END_BYTES))
        return damaged(p, "its checksum does not fit", err);
    return COF_OK;
}

static bool is_whole(const model_parser *p)
{
    const cof_model *m = p->m;
    bool open = m != NULL && m->no_scores; /* whether rows can join some cluster */
    for (uint32_t j = 0; m != NULL && j < m->k; j++) open |= m->scores.base[j] != COFI_NEVER;
    return open && p->largest_sum < 0x1p60 && p->seen[TAG_CLUSTERS] && p->seen[TAG_RESTARTS] &&
           p->n_attrs == m->n_attrs && p->n_flat == m->n_flat;
}

/* Columns are found by name, so names must be unique. */
static cof_status check_names(const model_parser *p, cof_error *err)
{
    cof_status status = COF_OK;
    cofi_encoder known;
    cofi_encoder_init(&known, &p->m->env);
    for (size_t r = 0; r < p->m->n_attrs && status == COF_OK; r++) {
        uint32_t id;
        const char *name = p->m->attr[r].name;
        if (cofi_encoder_intern(&known, name, strlen(name), &id) != COF_OK)
            status = cofi_no_memory(err);
        else if (id != r)
            status = damaged(p, "two columns have one name", err);
    }
    cofi_encoder_free(&known);
    return status;
}

cof_status cof_model_load_memory(const cof_env *lent, const char *name, const void *bytes, size_t n_bytes,
                                 cof_model **out, cof_error *err)
{
    char shown[160];
    model_parser p = {.env = cofi_env_resolve(lent), .name = cofi_utf8_show_tail(shown, sizeof shown, name)};
    cof_status status = check_frame(&p, bytes, n_bytes, err);
    while (status == COF_OK && p.file.at < p.file.n) status = get_section(&p, err);
    if (status == COF_OK && !is_whole(&p)) status = damaged(&p, "a part of it is missing", err);
    if (status == COF_OK) status = check_names(&p, err);
    if (status != COF_OK) {
        cof_model_free(p.m);
        return status;
    }
    *out = p.m;
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
    model_parser p = {.name = cofi_utf8_show_tail(shown, sizeof shown, path)};
    uint64_t length = 0;
    COFI_TRY(read_some(in, w, HEADER_BYTES, err));
    COFI_TRY(check_header(&p, w->bytes, w->n, &length, err));
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
