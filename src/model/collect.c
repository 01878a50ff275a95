/* Makes a model from finished restarts: copies the dictionaries, packs the counts, and takes over the
 * forest of the kept partition. */
#include "collect.h"

/* Room for the tree and the copied domain of a column. */
static void add_attribute(cof_model *m, cofi_model_attr *a, const cofi_column *c, bool used, uint32_t n_edges)
{
    cofi_domain_copy(&m->own, c, &a->domain);
    a->used = used;
    a->has_missing = c->n_missing > 0 && m->missing == COF_MISSING_VALUE;
    a->n_values = c->n_values + a->has_missing;
    a->n_edges = used ? n_edges : 0;
    cofi_model_set_tree(m, a);
}

static void copy_values(cof_model *m, cofi_model_attr *a, const cofi_fit *fit, size_t r)
{
    uint32_t stride = fit->scores.stride, from = fit->problem->first[r];
    for (uint32_t v = 0; v < a->n_values; v++)
        for (uint32_t j = 0; j < m->k; j++)
            m->count[(size_t)(a->first + v) * m->k + j] =
                fit->partition.count[(size_t)(from + v) * stride + j];
    for (uint32_t v = 0; v < a->n_values; v++)
        memcpy(m->scores.value + (size_t)(a->first + v) * stride, cofi_score_of(&fit->scores, from + v),
               stride * sizeof *m->scores.value);
    if (a->n_edges > 0) memcpy(a->edge, fit->forest.edge + from, a->n_edges * sizeof *a->edge);
}

static cof_status copy_attributes(cof_model *m, const cofi_fit *fit, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    uint32_t n_flat = 0;
    for (size_t r = 0; r < p->n_attrs; r++) n_flat += p->n_values[r];
    cofi_model_set_shape(m, fit->partition.k, p->n_candidates, n_flat);
    COFI_TRY(cofi_blocks_status(&m->own, err));
    for (size_t a = 0, r = 0, first = 0; a < p->n_candidates; a++) {
        bool used = r < p->n_attrs && p->column[r] == p->candidate[a];
        add_attribute(m, &m->attr[a], &p->table->column[p->candidate[a]], used,
                      used ? fit->forest.n_edges[r] : 0);
        COFI_TRY(cofi_blocks_status(&m->own, err));
        m->attr[a].first = used ? (uint32_t)first : 0;
        if (used) copy_values(m, &m->attr[a], fit, r);
        cofi_model_root_tree(&m->attr[a]);
        first += used ? p->n_values[r] : 0;
        r += used;
    }
    return COF_OK;
}

static cof_status copy_numeric(cof_model *m, const cofi_fit *fit, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    if (p->n_numeric == 0) return COF_OK;
    m->numeric = cofi_blocks_add_zero(&m->own, p->n_numeric, sizeof *m->numeric);
    COFI_TRY(cofi_blocks_status(&m->own, err));
    m->n_numeric = p->n_numeric;
    m->absolute = fit->absolute;
    for (size_t c = 0; c < p->n_numeric; c++) {
        const cofi_quantity *q = &p->quantity[c];
        const char *name = p->table->column[q->column].name;
        m->numeric[c] = (cofi_model_numeric){.name = cofi_blocks_copy(&m->own, name, strlen(name) + 1, 1),
                                             .reading = q->reading,
                                             .origin = q->origin,
                                             .unit = q->unit,
                                             .least = q->least,
                                             .most = q->most,
                                             .column_weight = q->column_weight,
                                             .mean = cofi_blocks_add(&m->own, m->k, sizeof(double))};
        COFI_TRY(cofi_blocks_status(&m->own, err));
        for (uint32_t j = 0; j < m->k; j++) m->numeric[c].mean[j] = fit->centre[j * p->n_numeric + c];
    }
    return COF_OK;
}

/* A constant column has none that matters: it gets 1. */
static cof_status copy_column_weights(cof_model *m, const cofi_fit *fit, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    if (p->column_weight == NULL) return COF_OK;
    m->column_weight = cofi_blocks_add(&m->own, m->n_attrs, sizeof *m->column_weight);
    COFI_TRY(cofi_blocks_status(&m->own, err));
    for (size_t a = 0, r = 0; a < m->n_attrs; a++)
        m->column_weight[a] = m->attr[a].used ? p->column_weight[r++] : 1;
    return COF_OK;
}

static cof_status copy_labels(cof_model *m, const cofi_fit *fit, cof_error *err)
{
    cofi_remembered kept = {.n_labels = 0};
    cof_status status = cofi_partition_remember(&fit->partition, &m->own, &kept, err);
    m->label = kept.label;
    m->n_labels = kept.n_labels;
    m->label_request = kept.request;
    m->n_label_request = kept.n_bytes;
    return status;
}

static void *copy_if(cofi_blocks *own, const void *from, size_t n, size_t size)
{
    return from != NULL ? cofi_blocks_copy(own, from, n, size) : NULL;
}

cof_status cofi_model_add_records(cof_model *m, const cofi_restarts *run, cof_error *err)
{
    m->restart = copy_if(&m->own, run->record, run->n_records, sizeof *m->restart);
    m->n_restarts = run->n_records;
    m->history = copy_if(&m->own, run->history, run->n_history, sizeof *m->history);
    m->n_history = run->n_history;
    m->agreement = copy_if(&m->own, run->ari, run->n_records, sizeof *m->agreement);
    m->cluster_agreement = copy_if(&m->own, run->overlap, m->k, sizeof *m->cluster_agreement);
    m->n_good = run->n_good;
    m->kept = run->best;
    return cofi_blocks_status(&m->own, err);
}

cof_status cofi_model_collect(const cofi_restarts *run, cof_model **out, cof_error *err)
{
    const cofi_fit *fit = run->fit;
    cof_model *m;
    COFI_TRY(cofi_model_new(&run->env, &m, err));
    m->variant = fit->host.o.variant;
    m->missing = fit->host.o.missing;
    m->select = fit->host.o.select;
    m->refined_by =
        fit->log.refiner == COFI_BY_LIKELIHOOD ? COF_REFINED_BY_LIKELIHOOD : COF_REFINED_BY_METHOD;
    m->nearer_other = fit->log.nearer_other;
    m->unit = fit->problem->unit;
    cofi_model_set_method(m, fit->method->name, strlen(fit->method->name));
    m->no_scores = (fit->method->flags & COFI_METHOD_NO_SCORES) != 0;
    cof_status status = copy_attributes(m, fit, err);
    if (status == COF_OK) status = copy_numeric(m, fit, err);
    if (status == COF_OK) status = copy_column_weights(m, fit, err);
    if (status == COF_OK) status = copy_labels(m, fit, err);
    if (status == COF_OK) status = cofi_quantity_measure(m, &fit->partition, err);
    if (status != COF_OK) {
        cof_model_free(m);
        return status;
    }
    m->scores.scale = fit->scores.scale;
    bool classes = (fit->method->flags & COFI_METHOD_CLASSES) != 0;
    for (uint32_t j = 0; j < m->scores.stride; j++)
        m->scores.base[j] =
            j < m->k && (classes || fit->partition.size[j] > 0) ? fit->scores.base[j] : COFI_NEVER;
    for (uint32_t j = 0; j < m->k; j++) m->size[j] = (double)fit->partition.size[j] / m->unit;
    *out = m;
    return COF_OK;
}

cof_status cofi_model_add_alternative(cof_model *m, const cofi_restarts *run, uint32_t pick, cof_error *err)
{
    uint32_t keep = run->fit->host.o.keep > 1 ? run->fit->host.o.keep : 1,
             restart = run->alternatives.restart[pick];
    cof_model *other;
    if (m->alternative == NULL)
        m->alternative = cofi_blocks_add_zero(&m->own, run->alternatives.n, sizeof *m->alternative);
    COFI_TRY(cofi_blocks_status(&m->own, err));
    COFI_TRY(cofi_model_collect(run, &other, err));
    m->alternative[m->n_alternatives++] =
        (cof_alternative){.model = other,
                          .restart = restart,
                          .keep = pick + 1 + (pick + 1 >= keep),
                          .agreement = run->ari[restart],
                          .log_likelihood = run->record[restart].log_likelihood};
    return COF_OK;
}
