/* Saving and loading, as docs/model-format.md describes. The reader does not trust the file: every length
 * is checked against the remaining bytes before anything is allocated for it, and every number against the
 * range that a fit can produce, so that later code need not check again. */
#include "model.h"

#include "../core/utf8.h"
#include "../table/file/input.h"

#include <math.h>

static const char magic[] = "COFOREST";

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

/* A file that is written, or read. One function describes each section for both directions. */
typedef struct coding {
    cofi_codec bytes; /* those of the section, if it is read */
    cofi_reader file; /* the bytes between header and checksum, if it is read */
    cof_model *m;     /* not changed by writing */
    size_t n_attrs;   /* number of attributes so far */
    uint64_t n_flat;
    bool seen[N_TAGS];
    double largest_sum; /* sum over attributes of the largest score: must not overflow */
} coding;

static bool is_between(double x, double least, double most)
{
    return x >= least - ROUNDING && x <= most + ROUNDING;
}

/* Makes room for the records of n_bytes that fill the section. */
static bool code_records(cofi_codec *c, size_t n_bytes, void *records, size_t *n, size_t size,
                         const char *wrong)
{
    if (c->to == NULL) *n = c->from.n / n_bytes;
    return cofi_code_check(c, c->from.n % n_bytes == 0, wrong) && cofi_code_room(c, records, *n, size);
}

/* The n numbers from least to most that end the section. */
static void code_numbers(cofi_codec *c, double **number, size_t n, double least, double most,
                         const char *wrong)
{
    cofi_code_check(c, cofi_code_left(c) == 8 * (uint64_t)n, wrong);
    cofi_code_array(c, number, n);
    for (size_t i = 0; i < n && cofi_code_check(c, true, wrong); i++)
        cofi_code_check(c, (*number)[i] >= least && (*number)[i] <= most, wrong);
}

/* ---- One section ---------------------------------------------------------------------------------- */

static void code_model(coding *f)
{
    cofi_codec *c = &f->bytes;
    cof_model head = *f->m;
    uint32_t n_attrs = (uint32_t)head.n_attrs;
    COFI_CODE(c, &head.k);
    COFI_CODE(c, &head.variant);
    COFI_CODE(c, &head.missing);
    COFI_CODE(c, &n_attrs);
    COFI_CODE(c, &head.n_flat);
    COFI_CODE(c, &head.unit);
    COFI_CODE(c, &head.scores.scale);
    if (c->to != NULL) return;
    /* later sections have 9 bytes per cluster, at least 23 per attribute, and 16 per value and cluster */
    size_t rest = f->file.n - f->file.at;
    bool sane = head.k > 0 && head.k <= COF_MOST_CLUSTERS && head.variant >= 0 &&
                head.variant <= COF_VARIANT_AUTHORS && head.missing >= 0 &&
                head.missing <= COF_MISSING_ERROR && head.unit > 0 && isfinite(head.unit) &&
                head.scores.scale > 1e-200 && head.scores.scale < 1e200 && head.k <= rest / 9 &&
                n_attrs <= rest / 23 && (uint64_t)head.n_flat * head.k <= rest / 16;
    if (!cofi_code_check(c, sane, "its sizes make no sense")) return;
    f->m->variant = head.variant;
    f->m->missing = head.missing;
    f->m->unit = head.unit;
    f->m->scores.scale = head.scores.scale;
    cofi_model_set_shape(f->m, head.k, n_attrs, head.n_flat);
}

static void code_clusters(coding *f)
{
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    double total = 0;
    for (uint32_t j = 0; j < m->k; j++) {
        bool open = m->scores.base[j] != COFI_NEVER;
        COFI_CODE(c, &m->size[j]);
        COFI_CODE(c, &open);
        if (c->to == NULL) m->scores.base[j] = open ? 0 : COFI_NEVER;
        cofi_code_check(c, m->size[j] >= 0, "a cluster size is not a number");
        total += m->size[j];
    }
    for (uint32_t j = m->k; c->to == NULL && j < m->scores.stride; j++) m->scores.base[j] = COFI_NEVER;
    cofi_code_check(c, isfinite(total) && total * m->unit < MOST_UNITS, "its clusters are too large");
}

/* The name may be unknown here: scores label rows in the same way for every method. */
static void code_method(coding *f)
{
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    char *name = m->method;
    int64_t largest = 0;
    cofi_code_text(c, &name);
    if (!cofi_code_check(c, f->seen[TAG_CLUSTERS], "its method is cut short")) return;
    if (c->to == NULL)
        cofi_code_check(c, cofi_model_set_method(m, name, strlen(name)), "its method has no proper name");
    COFI_CODE(c, &m->no_scores);
    for (uint32_t j = 0; j < m->k; j++) {
        bool open = m->scores.base[j] != COFI_NEVER;
        int64_t base = open ? m->scores.base[j] : 0;
        COFI_CODE(c, &base);
        cofi_code_check(c, base >= 0 && base < (INT64_C(1) << COFI_SUM_BITS),
                        "a cluster's score is too large");
        if (c->to == NULL && open) m->scores.base[j] = base;
        largest = base > largest ? base : largest;
    }
    f->largest_sum += (double)largest;
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

static void code_scores(coding *f, cofi_model_attr *a)
{
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    int64_t largest = 0;
    if (!cofi_code_check(c, f->n_flat + a->n_values <= m->n_flat, "it has more values than it says")) return;
    if (c->to == NULL) a->first = (uint32_t)f->n_flat;
    f->n_flat += a->n_values;
    for (uint32_t v = 0; v < a->n_values; v++) {
        uint64_t *count = m->count + (size_t)(a->first + v) * m->k;
        int64_t *score = m->scores.value + (size_t)(a->first + v) * m->scores.stride;
        for (uint32_t j = 0; j < m->k; j++) {
            COFI_CODE(c, &count[j]);
            COFI_CODE(c, &score[j]);
            cofi_code_check(c, score[j] >= 0, "a score is negative");
            largest = score[j] > largest ? score[j] : largest;
        }
    }
    f->largest_sum += (double)largest;
    cofi_code_check(c, f->largest_sum < 0x1p60, "its scores are too large");
    if (c->to == NULL) cofi_code_check(c, fits_clusters(m, a), "a cluster has more values than rows");
}

static void code_attribute(coding *f)
{
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    if (!cofi_code_check(c, f->n_attrs < m->n_attrs, "it has more attributes than it says") ||
        !cofi_code_check(c, f->seen[TAG_CLUSTERS], "an attribute comes before the clusters"))
        return;
    cofi_model_attr *a = &m->attr[f->n_attrs++];
    bool ordinal = a->domain.ordinal != 0;
    cofi_code_text(c, &a->domain.name);
    COFI_CODE(c, &a->used);
    COFI_CODE(c, &ordinal);
    COFI_CODE(c, &a->has_missing);
    COFI_CODE(c, &a->n_values);
    COFI_CODE(c, &a->n_edges);
    bool sane = a->n_values <= cofi_code_left(c) / 4 && a->n_edges <= cofi_code_left(c) / 16 &&
                a->n_edges <= (a->n_values > 0 ? a->n_values - 1 : 0) &&
                (a->n_values > 0 || (!a->has_missing && !a->used));
    if (!cofi_code_check(c, sane, "an attribute is cut short")) return;
    cofi_code_values(c, &a->domain, a->n_values, false);
    if (!cofi_code_check(c, true, "an attribute is cut short")) return;
    if (c->to == NULL) {
        a->domain.ordinal = ordinal;
        a->domain.n_values = a->n_values - a->has_missing;
        a->domain.missing_text = a->has_missing ? a->domain.text + a->domain.offset[a->domain.n_values]
                                                : cofi_blocks_copy(&m->own, "", 1, 1);
        cofi_model_set_tree(m, a);
        if (m->own.short_of_memory) return;
    }
    for (uint32_t e = 0; e < a->n_edges; e++) {
        COFI_CODE(c, &a->edge[e].u);
        COFI_CODE(c, &a->edge[e].v);
        COFI_CODE(c, &a->edge[e].length);
    }
    if (c->to == NULL) cofi_code_check(c, cofi_model_root_tree(a), "the edges of an attribute make no tree");
    if (a->used) code_scores(f, a);
}

static bool is_restart(const cof_restart_record *r)
{
    return isfinite(r->objective) && isfinite(r->log_likelihood) && r->rebuilds <= MOST_STEPS &&
           r->passes <= MOST_STEPS && r->stop_reason >= COF_STOP_CONVERGED &&
           r->stop_reason <= COF_STOP_STOPPED;
}

static void code_restarts(coding *f)
{
    static const char *const nonsense = "its restarts make no sense";
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    if (!code_records(c, 28, &m->restart, &m->n_restarts, sizeof *m->restart, nonsense)) return;
    cofi_code_check(c, m->n_restarts > 0, nonsense);
    for (size_t i = 0; i < m->n_restarts; i++) {
        cof_restart_record *r = &m->restart[i];
        COFI_CODE(c, &r->objective);
        COFI_CODE(c, &r->log_likelihood);
        COFI_CODE(c, &r->rebuilds);
        COFI_CODE(c, &r->passes);
        COFI_CODE(c, &r->stop_reason);
        if (c->to != NULL) continue;
        cofi_code_check(c, is_restart(r), "a restart makes no sense");
        r->criterion = r->log_likelihood; /* default, if no later section sets it */
        if (r->criterion > m->restart[m->kept].criterion) m->kept = i;
    }
    if (c->to == NULL) m->select = COF_SELECT_LIKELIHOOD; /* default, if no later section sets it */
}

static void code_choice(coding *f)
{
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    uint32_t select = (uint32_t)m->select, kept = (uint32_t)m->kept;
    COFI_CODE(c, &select);
    COFI_CODE(c, &kept);
    if (!cofi_code_check(c,
                         m->restart != NULL && select != COF_SELECT_AUTO && select <= COF_SELECT_MIXTURE &&
                             c->from.n == 8 + 9 * (uint64_t)m->n_restarts && kept < m->n_restarts,
                         "which of its restarts was kept makes no sense"))
        return;
    for (size_t i = 0; i < m->n_restarts; i++) {
        bool by_likelihood = m->restart[i].by_likelihood != 0;
        COFI_CODE(c, &m->restart[i].criterion);
        COFI_CODE(c, &by_likelihood);
        cofi_code_check(c, isfinite(m->restart[i].criterion), "a restart makes no sense");
        if (c->to == NULL) m->restart[i].by_likelihood = by_likelihood;
    }
    if (c->to != NULL) return;
    m->select = (int32_t)select;
    m->kept = kept;
    if (m->restart[kept].by_likelihood) m->refined_by = COF_REFINED_BY_LIKELIHOOD;
}

static void code_agreement(coding *f)
{
    static const char *const nonsense = "the agreement of its restarts makes no sense";
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    if (c->to != NULL && m->agreement == NULL) return;
    cofi_code_check(c, m->n_restarts >= 2, nonsense);
    code_numbers(c, &m->agreement, m->n_restarts, -1 - ROUNDING, 1 + ROUNDING, nonsense);
}

static void code_cluster_agreement(coding *f)
{
    static const char *const nonsense = "the agreement about its clusters makes no sense";
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    if (c->to != NULL && m->cluster_agreement == NULL) return;
    COFI_CODE(c, &m->n_good);
    cofi_code_check(c, m->n_good > 0 && m->n_good < m->n_restarts, nonsense);
    code_numbers(c, &m->cluster_agreement, m->k, -ROUNDING, 1 + ROUNDING, nonsense);
}

/* Numbers of clusters ascend, and the model's number is among them. */
static void code_k_curve(coding *f)
{
    static const char *const nonsense = "the numbers of clusters it tried make no sense";
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    bool own = false;
    if (!code_records(c, 12, &m->k_curve, &m->n_k_curve, sizeof *m->k_curve, nonsense)) return;
    for (size_t i = 0; i < m->n_k_curve; i++) {
        cof_k_record *r = &m->k_curve[i];
        COFI_CODE(c, &r->k);
        COFI_CODE(c, &r->log_likelihood);
        if (c->to == NULL) r->agreement = NAN; /* if no later section sets it */
        own |= r->k == m->k;
        cofi_code_check(
            c, r->k > (i > 0 ? r[-1].k : 0) && r->k <= COF_MOST_CLUSTERS && isfinite(r->log_likelihood),
            nonsense);
    }
    cofi_code_check(c, own, nonsense);
}

/* Restarts ascend, and so do the passes of each; the pass number is one that its restart has. */
static bool follows(const cof_model *m, const cof_pass_record *h, const cof_pass_record *before)
{
    if (h->restart >= m->n_restarts || h->pass == 0 || h->pass > m->restart[h->restart].passes) return false;
    if (h->rebuild > MOST_STEPS || !isfinite(h->objective)) return false;
    return before == NULL || h->restart > before->restart ||
           (h->restart == before->restart && h->pass > before->pass);
}

static void code_history(coding *f)
{
    static const char *const nonsense = "its history makes no sense";
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    if (!cofi_code_check(c, m->restart != NULL, nonsense) ||
        !code_records(c, 28, &m->history, &m->n_history, sizeof *m->history, nonsense))
        return;
    for (size_t i = 0; i < m->n_history; i++) {
        cof_pass_record *h = &m->history[i];
        COFI_CODE(c, &h->restart);
        COFI_CODE(c, &h->rebuild);
        COFI_CODE(c, &h->pass);
        COFI_CODE(c, &h->objective);
        COFI_CODE(c, &h->moved);
        cofi_code_check(c, follows(m, h, i > 0 ? h - 1 : NULL), nonsense);
    }
}

static void code_reading(cofi_codec *c, cofi_reading *r, const char *wrong)
{
    char *affix = r->affix;
    COFI_CODE(c, &r->line);
    COFI_CODE(c, &r->decimal);
    COFI_CODE(c, &r->thousands);
    COFI_CODE(c, &r->order);
    cofi_code_text(c, &affix);
    bool known = r->line != COFI_LINE_NONE && r->line <= COFI_LINE_LAST && r->order <= COFI_DATE_LAST &&
                 (r->decimal == '.' || r->decimal == ',') && strchr(",. '", r->thousands) != NULL &&
                 r->thousands != r->decimal && affix != NULL && strlen(affix) < COFI_AFFIX_BYTES;
    if (cofi_code_check(c, known, wrong) && c->to == NULL) strcpy(r->affix, affix);
}

/* Five ascending numbers, or five NaN. */
static void code_five(cofi_codec *c, double *five, const char *wrong)
{
    int n_known = 0;
    for (int q = 0; q < COF_N_FIVE; q++) {
        COFI_CODE(c, &five[q]);
        n_known += isfinite(five[q]) && (q == 0 || five[q] >= five[q - 1]);
    }
    cofi_code_check(c, n_known == COF_N_FIVE || (n_known == 0 && isnan(five[0])), wrong);
}

/* The edges are one fewer than the values of the attribute's domain, in ascending order. */
static void code_quantity(coding *f, uint32_t attribute)
{
    static const char *const nonsense = "a quantity makes no sense";
    cofi_codec *c = &f->bytes;
    const cof_model *m = f->m;
    COFI_CODE(c, &attribute);
    if (!cofi_code_check(c, attribute < f->n_attrs && m->attr[attribute].domain.cut == NULL, nonsense))
        return;
    cofi_model_attr *a = &m->attr[attribute];
    if (!cofi_code_room(c, &a->domain.cut, 1, sizeof *a->domain.cut)) return;
    cofi_cut *cut = a->domain.cut;
    bool five = a->five != NULL;
    code_reading(c, &cut->reading, nonsense);
    COFI_CODE(c, &cut->n_edges);
    cofi_code_check(c, cut->n_edges + UINT64_C(1) == a->domain.n_values, nonsense);
    cofi_code_array(c, &cut->edge, cut->n_edges);
    for (uint32_t e = 0; e < cut->n_edges && cofi_code_check(c, true, nonsense); e++)
        cofi_code_check(c, isfinite(cut->edge[e]) && (e == 0 || cut->edge[e] > cut->edge[e - 1]), nonsense);
    COFI_CODE(c, &five);
    if (!cofi_code_check(c, m->k <= cofi_code_left(c) / (8 * COF_N_FIVE) || !five, nonsense) || !five) return;
    if (!cofi_code_room(c, &a->five, (uint64_t)m->k * COF_N_FIVE, sizeof *a->five)) return;
    for (uint32_t j = 0; j < m->k; j++) code_five(c, a->five + (size_t)j * COF_N_FIVE, nonsense);
}

static uint32_t count_quantities(const cof_model *m)
{
    uint32_t n = 0;
    for (size_t r = 0; r < m->n_attrs; r++) n += m->attr[r].domain.cut != NULL;
    return n;
}

static void code_quantities(coding *f)
{
    uint32_t n = count_quantities(f->m);
    if (f->bytes.to != NULL && n == 0) return;
    COFI_CODE(&f->bytes, &n);
    for (uint32_t i = 0, r = 0; i < n && cofi_code_check(&f->bytes, true, "its quantities are cut short");
         i++, r++) {
        while (f->bytes.to != NULL && f->m->attr[r].domain.cut == NULL) r++;
        code_quantity(f, r);
    }
}

/* Whether distances to the means stay within bounds; a mean may be unknown. */
static bool is_numeric(const cof_model *m, const cofi_model_numeric *q)
{
    bool good = isfinite(q->origin) && isfinite(q->unit) && q->unit >= 0 && isfinite(q->least) &&
                isfinite(q->most) && q->most >= q->least && q->column_weight >= 0 && q->column_weight <= 1e6;
    double slack = 1e-12 * fmax(fabs(q->least), fabs(q->most)); /* unscaled numbers may be large */
    for (uint32_t j = 0; j < m->k; j++)
        good = good && (isnan(q->mean[j]) || is_between(q->mean[j], q->least - slack, q->most + slack));
    return good;
}

static void code_numeric_column(coding *f, cofi_model_numeric *q)
{
    static const char *const nonsense = "a numeric column makes no sense";
    cofi_codec *c = &f->bytes;
    const cof_model *m = f->m;
    cofi_code_text(c, &q->name);
    code_reading(c, &q->reading, nonsense);
    COFI_CODE(c, &q->origin);
    COFI_CODE(c, &q->unit);
    COFI_CODE(c, &q->least);
    COFI_CODE(c, &q->most);
    COFI_CODE(c, &q->column_weight);
    cofi_code_array(c, &q->mean, m->k);
    if (cofi_code_check(c, true, nonsense)) cofi_code_check(c, is_numeric(m, q), nonsense);
    double reach = q->most - q->least;
    f->largest_sum += m->scores.scale * q->column_weight * (m->absolute ? reach : reach * reach);
}

static void code_numeric(coding *f)
{
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    uint32_t n = (uint32_t)m->n_numeric;
    if (c->to != NULL && n == 0) return;
    COFI_CODE(c, &n);
    COFI_CODE(c, &m->absolute);
    if (!cofi_code_check(c, n > 0 && n <= cofi_code_left(c) / 8, "its numeric columns are cut short") ||
        !cofi_code_room(c, &m->numeric, n, sizeof *m->numeric))
        return;
    if (c->to == NULL) m->n_numeric = n;
    for (uint32_t i = 0; i < n; i++) code_numeric_column(f, &m->numeric[i]);
}

static void code_column_weights(coding *f)
{
    if (f->bytes.to != NULL && f->m->column_weight == NULL) return;
    code_numbers(&f->bytes, &f->m->column_weight, f->m->n_attrs, 0, 1e6, "a column weight makes no sense");
}

static void code_nearer_other(coding *f)
{
    double share = f->m->nearer_other;
    if (f->bytes.to != NULL && isnan(share)) return;
    COFI_CODE(&f->bytes, &share);
    cofi_code_check(&f->bytes, is_between(share, 0, 1),
                    "the share of rows that lie nearer to another cluster makes no sense");
    if (f->bytes.to == NULL && f->m->refined_by == COF_REFINED_BY_LIKELIHOOD) f->m->nearer_other = share;
}

static void code_k_halves(coding *f)
{
    static const char *const nonsense = "the agreement of halves makes no sense";
    cofi_codec *c = &f->bytes;
    cof_model *m = f->m;
    if (c->to != NULL && m->n_k_curve == 0) return;
    cofi_code_check(c, m->n_k_curve > 0 && c->from.n == 1 + 8 * (uint64_t)m->n_k_curve, nonsense);
    COFI_CODE(c, &m->k_at_edge);
    for (size_t i = 0; i < m->n_k_curve; i++) {
        double *agreement = &m->k_curve[i].agreement;
        COFI_CODE(c, agreement);
        cofi_code_check(c, isnan(*agreement) || is_between(*agreement, -1, 1), nonsense);
    }
}

/* ---- Sections ----------------------------------------------------------------------------------- */

/* In the order in which they are written. */
static const struct {
    uint32_t tag;
    bool optional; /* not written if it would be empty */
    void (*code)(coding *f);
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

/* A program that does not know quantities would treat every number as an unknown value, or leave it out of distances,
 * so the format number keeps it from reading such a file. */
static void put_file(cofi_writer *w, const cof_model *m)
{
    coding f = {.bytes = {.to = w}, .m = (cof_model *)(void *)m};
    cofi_put_bytes(w, magic, sizeof magic - 1);
    cofi_put_u32(w, m->n_numeric > 0          ? FORMAT
                    : count_quantities(m) > 0 ? FORMAT_OF_CUTS
                                              : FORMAT_OF_CATEGORIES);
    cofi_put_u32(w, 0); /* reserved */
    size_t length = cofi_put_hole(w);
    for (size_t at = 0; at < N_SECTIONS; at++) {
        size_t n = sections[at].tag == TAG_ATTRIBUTE ? m->n_attrs : 1;
        for (size_t i = 0; i < n; i++) {
            size_t before = w->n;
            cofi_put_u32(w, sections[at].tag);
            size_t hole = cofi_put_hole(w);
            sections[at].code(&f);
            cofi_fill_u64(w, hole, w->n - hole - 8);
            if (sections[at].optional && w->n == hole + 8) w->n = before;
        }
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

/* ---- Loading ------------------------------------------------------------------------------------ */

static cof_status damaged(const char *name, const char *wrong, cof_error *err)
{
    return cofi_fail(err, COF_ERR_MODEL, "%s: this model file is damaged (%s); save the model again", name,
                     wrong);
}

/* Reads the next section. Returns what is wrong with it; NULL: nothing, or memory was short. */
static const char *get_section(coding *f)
{
    uint32_t tag = cofi_get_u32(&f->file);
    uint64_t length = cofi_get_u64(&f->file);
    if (f->file.failed || length > f->file.n - f->file.at) return "a section is cut short";
    f->bytes.from = (cofi_reader){.bytes = f->file.bytes + f->file.at, .n = (size_t)length};
    f->file.at += (size_t)length;
    if (!f->seen[TAG_MODEL] && tag != TAG_MODEL) return "its first section is not the first";
    size_t at = 0;
    while (at < N_SECTIONS && sections[at].tag != tag) at++;
    if (at == N_SECTIONS) return NULL; /* written by a later minor version; not needed here */
    if (f->seen[tag] && tag != TAG_ATTRIBUTE) return "a section comes twice";
    sections[at].code(f);
    f->seen[tag] = true;
    cof_status status = cofi_codec_status(&f->bytes);
    if (status == COF_ERR_DATA) return f->bytes.wrong != NULL ? f->bytes.wrong : "a section is cut short";
    return status == COF_OK && cofi_code_left(&f->bytes) > 0 ? "a section is too long" : NULL;
}

/* Checks the first HEADER_BYTES of a file, or fewer if it is shorter, before anything else is read. */
static cof_status check_header(const char *name, const unsigned char *bytes, size_t n, uint64_t *length,
                               cof_error *err)
{
    cofi_reader head = {.bytes = bytes, .n = n};
    const unsigned char *start = cofi_get_bytes(&head, sizeof magic - 1);
    if (start == NULL || memcmp(start, magic, sizeof magic - 1) != 0)
        return cofi_fail(err, COF_ERR_MODEL, "%s: this is not a coforest model file", name);
    uint32_t format = cofi_get_u32(&head);
    cofi_get_u32(&head); /* reserved */
    *length = cofi_get_u64(&head);
    if (!head.failed && format > FORMAT)
        return cofi_fail(err, COF_ERR_TOO_NEW,
                         "%s: this model has format %u, and version %s reads up to format %d; "
                         "use a newer coforest",
                         name, format, cof_version(), FORMAT);
    if (head.failed || format == 0 || *length > MOST_BYTES)
        return damaged(name, "it is cut short, or longer than it says", err);
    return COF_OK;
}

static bool is_whole(const coding *f)
{
    const cof_model *m = f->m;
    bool open = m->no_scores; /* whether rows can join some cluster */
    for (uint32_t j = 0; j < m->k; j++) open |= m->scores.base[j] != COFI_NEVER;
    return open && f->largest_sum < 0x1p60 && f->seen[TAG_CLUSTERS] && f->seen[TAG_RESTARTS] &&
           f->n_attrs == m->n_attrs && f->n_flat == m->n_flat;
}

static cof_status get_model(coding *f, const char *name, cof_error *err)
{
    const char *wrong = NULL;
    size_t first, second, n = 0;
    cof_model *m = f->m;
    while (wrong == NULL && !m->own.short_of_memory && f->file.at < f->file.n) wrong = get_section(f);
    COFI_TRY(cofi_blocks_status(&m->own, err));
    if (wrong == NULL && !is_whole(f)) wrong = "a part of it is missing";
    if (wrong != NULL) return damaged(name, wrong, err);
    n = m->n_attrs; /* columns are found by name, so names must be unique */
    if (cofi_names_repeated(&m->env, &m->attr->domain.name, sizeof *m->attr, n, &first, &second) != COF_OK)
        return cofi_no_memory(err);
    return second < n ? damaged(name, "two columns have one name", err) : COF_OK;
}

cof_status cof_model_load_memory(const cof_env *lent, const char *name, const void *bytes, size_t n_bytes,
                                 cof_model **out, cof_error *err)
{
    char shown[160];
    uint64_t length;
    cof_env env = cofi_env_resolve(lent);
    name = cofi_utf8_show_tail(shown, sizeof shown, name);
    COFI_TRY(check_header(name, bytes, n_bytes, &length, err));
    if (n_bytes < HEADER_BYTES + END_BYTES || length != n_bytes - HEADER_BYTES - END_BYTES)
        return damaged(name, "it is cut short, or longer than it says", err);
    cofi_reader end = {.bytes = bytes, .n = n_bytes, .at = n_bytes - END_BYTES};
    if (cofi_get_u32(&end) != cofi_crc32(bytes, n_bytes - END_BYTES))
        return damaged(name, "its checksum does not fit", err);
    coding f = {.file = {.bytes = (const unsigned char *)bytes + HEADER_BYTES, .n = (size_t)length}};
    COFI_TRY(cofi_model_new(&env, &f.m, err));
    f.bytes.own = &f.m->own;
    cof_status status = get_model(&f, name, err);
    if (status == COF_OK)
        *out = f.m;
    else
        cof_model_free(f.m);
    return status;
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
cof_status cof_model_load(const cof_env *lent, const char *path, cof_model **out, cof_error *err)
{
    char shown[160];
    const char *name = cofi_utf8_show_tail(shown, sizeof shown, path);
    uint64_t length = 0;
    cofi_writer w = {.env = cofi_env_resolve(lent)};
    cofi_input *in = NULL;
    cofi_source source = {.name = path};
    cof_status status = cofi_input_open(&w.env, &source, &in, err);
    if (status == COF_OK) status = read_some(in, &w, HEADER_BYTES, err);
    if (status == COF_OK) status = check_header(name, w.bytes, w.n, &length, err);
    if (status == COF_OK) status = read_some(in, &w, length + END_BYTES + 1, err);
    if (status == COF_OK) status = cof_model_load_memory(lent, path, w.bytes, w.n, out, err);
    cofi_input_close(in);
    cofi_release(&w.env, w.bytes);
    return status;
}
