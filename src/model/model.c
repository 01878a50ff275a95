/* The cof_model handle: memory and accessors. */
#include "model.h"

#include "../core/real.h"
#include "coforest_shard.h"

#include <math.h>

bool cofi_model_set_method(cof_model *m, const char *name, size_t n)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789:_-";
    if (n == 0 || n >= sizeof m->method) return false;
    for (size_t i = 0; i < n; i++)
        if (name[i] == '\0' || strchr(allowed, name[i]) == NULL) return false;
    memcpy(m->method, name, n);
    m->method[n] = '\0';
    return true;
}

bool cofi_model_is_mixture(const cof_model *m)
{
    return strcmp(m->method, "lca") == 0 || m->refined_by == COF_REFINED_BY_LIKELIHOOD;
}

cof_status cofi_model_set_k_curve(cof_model *m, const cof_k_record *curve, size_t n, cof_error *err)
{
    m->k_curve = cofi_blocks_copy(&m->own, curve, n, sizeof *curve);
    m->n_k_curve = n;
    return cofi_blocks_status(&m->own, err);
}

cof_status cofi_model_new(const cof_env *env, cof_model **out, cof_error *err)
{
    cof_model *m = cofi_alloc_zero(env, 1, sizeof *m);
    if (m == NULL) return cofi_no_memory(err);
    m->env = m->own.env = *env;
    m->unit = 1.0;
    m->nearer_other = NAN;
    cofi_model_set_method(m, "coforest", strlen("coforest"));
    *out = m;
    return COF_OK;
}

void cofi_model_set_shape(cof_model *m, uint32_t k, size_t n_attrs, uint32_t n_flat)
{
    m->k = m->scores.k = k;
    m->scores.stride = cofi_stride(k);
    m->n_attrs = n_attrs;
    m->n_flat = n_flat;
    m->attr = cofi_blocks_add_zero(&m->own, n_attrs, sizeof *m->attr);
    m->size = cofi_blocks_add_zero(&m->own, k, sizeof *m->size);
    m->scores.base = cofi_blocks_add_zero(&m->own, m->scores.stride, sizeof *m->scores.base);
    m->count = cofi_blocks_add_zero(&m->own, (size_t)n_flat * k, sizeof *m->count);
    m->scores.value =
        cofi_blocks_add_zero(&m->own, (size_t)n_flat * m->scores.stride, sizeof *m->scores.value);
}

void cofi_model_set_tree(cof_model *m, cofi_model_attr *a)
{
    a->edge = cofi_blocks_add_zero(&m->own, a->n_edges, sizeof *a->edge);
    a->parent = cofi_blocks_add(&m->own, a->n_values, sizeof *a->parent);
    a->up = cofi_blocks_add(&m->own, a->n_values, sizeof *a->up);
    a->hops = cofi_blocks_add(&m->own, a->n_values, sizeof *a->hops);
}

bool cofi_model_root_tree(cofi_model_attr *a)
{
    for (uint32_t v = 0; v < a->n_values; v++) {
        a->parent[v] = a->hops[v] = UINT32_MAX;
        a->up[v] = 0;
    }
    for (uint32_t e = 0; e < a->n_edges; e++) {
        uint32_t u = a->edge[e].u, v = a->edge[e].v;
        double length = a->edge[e].length;
        if (u >= a->n_values || v >= a->n_values) return false;
        /* a distance between distributions: at most sqrt 2, and large enough that division by it does not overflow */
        if (length != 0 && !(length > 1e-100 && length < 2)) return false;
        if (e == 0) a->hops[u] = 0;
        if (a->hops[u] == UINT32_MAX || a->hops[v] != UINT32_MAX) return false;
        a->parent[v] = u;
        a->up[v] = a->edge[e].length;
        a->hops[v] = a->hops[u] + 1;
    }
    return true;
}

void cof_model_free(cof_model *m)
{
    if (m == NULL) return;
    cof_env env = m->env;
    for (size_t a = 0; a < m->n_alternatives; a++) cof_model_free((cof_model *)m->alternative[a].model);
    cofi_blocks_release(&m->own);
    cofi_release(&env, m);
}

/* ---- Accessors ---------------------------------------------------------------------------------- */

uint32_t cof_model_k(const cof_model *m)
{
    return m->k;
}

const char *cof_model_method(const cof_model *m)
{
    return m->method;
}

int32_t cof_model_variant(const cof_model *m)
{
    return m->variant;
}

int32_t cof_model_missing(const cof_model *m)
{
    return m->missing;
}

const int32_t *cof_model_labels(const cof_model *m, size_t *n_labels)
{
    if (n_labels != NULL) *n_labels = m->n_labels;
    return m->label;
}

const void *cof_model_label_request(const cof_model *m, size_t *n_bytes)
{
    if (n_bytes != NULL) *n_bytes = m->n_label_request;
    return m->label_request;
}

const double *cof_model_sizes(const cof_model *m)
{
    return m->size;
}

size_t cof_model_n_attributes(const cof_model *m)
{
    return m->n_attrs;
}

cof_status cof_model_attribute(const cof_model *m, size_t attribute, cof_attribute *about)
{
    enum { FIRST_VERSION = offsetof(cof_attribute, ordinal) + sizeof(int32_t) };
    if (attribute >= m->n_attrs || !cofi_is_struct_size(about->struct_size, FIRST_VERSION))
        return COF_ERR_ARGUMENT;
    const cofi_model_attr *a = &m->attr[attribute];
    cof_attribute found = {.name = a->domain.name,
                           .n_values = a->n_values,
                           .used = a->used,
                           .ordinal = a->domain.ordinal,
                           .has_missing = a->has_missing};
    cofi_return_struct(about, &found, sizeof found);
    return COF_OK;
}

const char *cof_model_value(const cof_model *m, size_t attribute, uint32_t value)
{
    if (attribute >= m->n_attrs || value >= m->attr[attribute].n_values) return NULL;
    return cofi_column_text(&m->attr[attribute].domain, value);
}

static bool has_entry(const cof_model *m, size_t attribute, uint32_t value, uint32_t cluster)
{
    return attribute < m->n_attrs && m->attr[attribute].used && value < m->attr[attribute].n_values &&
           cluster < m->k;
}

double cof_model_count(const cof_model *m, size_t attribute, uint32_t value, uint32_t cluster)
{
    if (!has_entry(m, attribute, value, cluster)) return 0;
    return (double)m->count[(size_t)(m->attr[attribute].first + value) * m->k + cluster] / m->unit;
}

int32_t cof_model_predicts(const cof_model *model)
{
    return !model->no_scores;
}

int64_t cof_model_mode(const cof_model *model, size_t attribute, uint32_t cluster)
{
    cof_attribute about = {.struct_size = sizeof about};
    int64_t mode = -1;
    double most = 0;
    if (cof_model_attribute(model, attribute, &about) != COF_OK || !about.used) return -1;
    for (uint32_t v = 0; v < about.n_values; v++) {
        double count = cof_model_count(model, attribute, v, cluster);
        if (!(count > most)) continue;
        most = count;
        mode = v;
    }
    return mode;
}

double cof_model_profile(const cof_model *m, size_t attribute, uint32_t value, uint32_t cluster)
{
    if (!has_entry(m, attribute, value, cluster)) return NAN;
    const cofi_model_attr *a = &m->attr[attribute];
    uint64_t total = 0;
    for (uint32_t v = 0; v < a->n_values; v++) total += m->count[(size_t)(a->first + v) * m->k + cluster];
    if (total == 0) return NAN;
    return (double)m->count[(size_t)(a->first + value) * m->k + cluster] / (double)total;
}

/* Scores of classes are minus the logarithms of probabilities; the largest stands for the logarithm of 0. */
static double probability_of(const cof_model *m, int64_t score, double weight)
{
    double ln = -(double)score / m->scores.scale;
    return ln <= 0.999 * COFI_LEAST_LN * weight ? 0 : cofi_exp(ln / weight);
}

double cof_model_class_share(const cof_model *m, uint32_t cluster)
{
    if (cluster >= m->k || !cofi_model_is_mixture(m)) return NAN;
    return m->scores.base[cluster] == COFI_NEVER ? 0 : probability_of(m, m->scores.base[cluster], 1);
}

double cof_model_class_probability(const cof_model *m, size_t attribute, uint32_t value, uint32_t cluster)
{
    double weight = m->column_weight != NULL && attribute < m->n_attrs ? m->column_weight[attribute] : 1;
    uint64_t units = 0;
    if (!has_entry(m, attribute, value, cluster) || !cofi_model_is_mixture(m) || weight == 0) return NAN;
    size_t g = m->attr[attribute].first + value;
    for (uint32_t j = 0; j < m->k; j++) units += m->count[g * m->k + j];
    return units == 0 ? 0 : probability_of(m, m->scores.value[g * m->scores.stride + cluster], weight);
}

const cof_edge *cof_model_edges(const cof_model *m, size_t attribute, size_t *n_edges)
{
    bool some = attribute < m->n_attrs && m->attr[attribute].n_edges > 0;
    if (n_edges != NULL) *n_edges = some ? m->attr[attribute].n_edges : 0;
    return some ? m->attr[attribute].edge : NULL;
}

double cof_model_distance(const cof_model *m, size_t attribute, uint32_t u, uint32_t v)
{
    if (attribute >= m->n_attrs) return NAN;
    const cofi_model_attr *a = &m->attr[attribute];
    if (u >= a->n_values || v >= a->n_values) return NAN;
    if (a->hops[u] == UINT32_MAX || a->hops[v] == UINT32_MAX) return NAN;
    double length = 0;
    while (u != v) { /* the deeper end moves up until both meet */
        uint32_t *deeper = a->hops[u] >= a->hops[v] ? &u : &v;
        length += a->up[*deeper];
        *deeper = a->parent[*deeper];
    }
    return length;
}

const cof_pass_record *cof_model_history(const cof_model *m, size_t *n_records)
{
    if (n_records != NULL) *n_records = m->n_history;
    return m->history;
}

const double *cof_model_cluster_agreement(const cof_model *m, uint32_t *n_good)
{
    if (n_good != NULL) *n_good = m->n_good;
    return m->cluster_agreement;
}

const double *cof_model_agreement(const cof_model *m)
{
    return m->agreement;
}

double cof_model_mean_agreement(const cof_model *m)
{
    double sum = 0;
    if (m->agreement == NULL || m->n_restarts < 2) return (double)NAN;
    for (size_t i = 0; i < m->n_restarts; i++) sum += i == m->kept ? 0 : m->agreement[i];
    return sum / (double)(m->n_restarts - 1);
}

size_t cof_model_best_restart(const cof_model *m)
{
    return m->kept;
}

static double ending(const cof_model *m, size_t restart)
{
    const cof_restart_record *r = &m->restart[restart];
    return m->select == COF_SELECT_OBJECTIVE ? r->objective : r->log_likelihood;
}

size_t cof_model_n_same(const cof_model *m)
{
    size_t n = 0;
    double best = ending(m, m->kept);
    /* EM ends near a maximum, not on it */
    double slack = strcmp(m->method, "lca") == 0 && m->select == COF_SELECT_OBJECTIVE ? COF_SAME_MAXIMUM
                                                                                      : 1e-9 * fabs(best);
    for (size_t i = 0; i < m->n_restarts; i++) n += fabs(ending(m, i) - best) <= slack;
    return n;
}

const cof_k_record *cof_model_k_curve(const cof_model *m, size_t *n_records)
{
    if (n_records != NULL) *n_records = m->n_k_curve;
    return m->k_curve;
}

int32_t cof_model_k_at_edge(const cof_model *m)
{
    return m->k_at_edge;
}

uint32_t cof_model_k_runner_up(const cof_model *m)
{
    const cof_k_record *second = NULL;
    for (size_t i = 0; i < m->n_k_curve; i++) {
        const cof_k_record *r = &m->k_curve[i];
        if (r->k != m->k && (second == NULL || r->log_likelihood > second->log_likelihood)) second = r;
    }
    return second != NULL ? second->k : 0;
}

const cof_alternative *cof_model_alternative(const cof_model *m, size_t number)
{
    return number < m->n_alternatives ? &m->alternative[number] : NULL;
}

int32_t cof_model_refined_by(const cof_model *m)
{
    return m->refined_by;
}

double cof_model_nearer_other(const cof_model *m)
{
    return m->nearer_other;
}

int32_t cof_model_select(const cof_model *m)
{
    return m->select;
}

const cof_restart_record *cof_model_restarts(const cof_model *m, size_t *n_records)
{
    if (n_records != NULL) *n_records = m->n_restarts;
    return m->restart;
}
