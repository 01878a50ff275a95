/* From a finished engine to a model: dictionaries copied, counts packed, the forest of the kept partition. */
#include "harvest.h"

#include "../model/quantity.h"

static cof_status copy_dictionary(cof_model *m, size_t attr, const cofi_column *c, bool used,
                                  uint32_t n_edges, cof_error *err)
{
    cofi_model_attr *a = &m->attr[attr];
    bool missing = c->n_missing > 0 && m->missing == COF_MISSING_VALUE;
    size_t n_text = missing ? strlen(c->missing_text) + 1 : 0;
    for (uint32_t v = 0; v < c->n_values; v++) n_text += strlen(cofi_column_text(c, v)) + 1;
    cof_status status =
        cofi_model_alloc_attr(m, attr, c->n_values + (missing ? 1 : 0), n_text, used ? n_edges : 0, err);
    if (status != COF_OK) return status;
    a->name = cofi_copy_text(&m->env, c->name, strlen(c->name));
    if (a->name == NULL) return cofi_no_memory(err);
    a->used = used;
    a->ordinal = c->ordinal != 0;
    a->has_missing = missing;
    if (c->cut != NULL && (a->cut = cofi_cut_copy(&m->env, c->cut)) == NULL) return cofi_no_memory(err);
    size_t at = 0;
    for (uint32_t v = 0; v < a->n_values; v++) {
        const char *text = cofi_column_text(c, v);
        size_t n_bytes = strlen(text) + 1;
        a->offset[v] = at;
        memcpy(a->text + at, text, n_bytes);
        at += n_bytes;
    }
    return COF_OK;
}

static void copy_values(cof_model *m, cofi_model_attr *a, const cofi_engine *e, size_t r)
{
    uint32_t stride = e->scores.stride, from = e->problem->first[r];
    for (uint32_t v = 0; v < a->n_values; v++)
        for (uint32_t j = 0; j < m->k; j++)
            m->count[(size_t)(a->first + v) * m->k + j] = e->pass.count[(size_t)(from + v) * stride + j];
    memcpy(m->scores.value + (size_t)a->first * stride, e->scores.value + (size_t)from * stride,
           (size_t)a->n_values * stride * sizeof *m->scores.value);
    if (a->n_edges > 0) memcpy(a->edge, e->forest.edge + from, a->n_edges * sizeof *a->edge);
    cofi_model_root_tree(a);
}

static cof_status copy_attributes(cof_model *m, const cofi_engine *e, cof_error *err)
{
    const cofi_problem *p = e->problem;
    uint32_t n_flat = 0;
    for (size_t r = 0; r < p->n_attrs; r++) n_flat += p->n_values[r];
    cof_status status = cofi_model_alloc_values(m, n_flat, err);
    size_t r = 0;
    uint32_t first = 0;
    for (size_t a = 0; status == COF_OK && a < p->n_candidates; a++) {
        bool used = r < p->n_attrs && p->column[r] == p->candidate[a];
        status = copy_dictionary(m, a, &p->table->column[p->candidate[a]], used,
                                 used ? e->forest.n_edges[r] : 0, err);
        if (status == COF_OK && !used) cofi_model_root_tree(&m->attr[a]); /* none of its values is in one */
        if (status != COF_OK || !used) continue;
        m->attr[a].first = first;
        first += p->n_values[r];
        copy_values(m, &m->attr[a], e, r++);
    }
    return status;
}

typedef struct copy_job {
    cof_model *m;
    const cofi_engine *e;
} copy_job;

enum { COPY_ROWS = 1 << 16 };

static void copy_task(void *ctx, uint32_t worker, size_t task)
{
    const copy_job *job = ctx;
    cof_model *m = job->m;
    (void)worker;
    size_t end = (task + 1) * COPY_ROWS < m->n_labels ? (task + 1) * COPY_ROWS : m->n_labels;
    for (size_t i = task * COPY_ROWS; i < end; i++) m->label[i] = cofi_table_label(job->e, i);
}

/* By all threads: most of it is memory that nobody touched before. */
static cof_status copy_labels(cof_model *m, const cofi_engine *e, cof_error *err)
{
    copy_job job = {m, e};
    m->n_labels = e->problem->n_table_rows;
    m->label = cofi_alloc(&m->env, m->n_labels, sizeof *m->label);
    if (m->label == NULL) return cofi_no_memory(err);
    cofi_team_run(e->team, copy_task, &job, (m->n_labels + COPY_ROWS - 1) / COPY_ROWS);
    return COF_OK;
}

cof_status cofi_harvest(cofi_engine *e, const cofi_method *method, cof_restart_record *restarts,
                        size_t n_restarts, cof_model **out, cof_error *err)
{
    cof_model *m;
    cof_status status = cofi_model_new(&e->env, e->o.k, e->problem->n_candidates, &m, err);
    if (status != COF_OK) return status;
    m->variant = e->o.variant;
    m->missing = e->o.missing;
    m->unit = e->problem->unit;
    m->method = method->name;
    m->no_scores = (method->flags & COFI_METHOD_NO_SCORES) != 0 || e->problem->n_numeric > 0;
    status = copy_attributes(m, e, err);
    if (status == COF_OK) status = copy_labels(m, e, err);
    if (status == COF_OK) status = cofi_quantity_measure(m, e->problem->table, e->problem->table_weight, err);
    if (status != COF_OK) {
        cof_model_free(m);
        return status;
    }
    m->scores.scale = e->scores.scale;
    for (uint32_t j = 0; j < m->scores.stride; j++)
        m->scores.base[j] = j < m->k && e->pass.size[j] > 0 ? e->scores.base[j] : COFI_NEVER;
    for (uint32_t j = 0; j < m->k; j++) m->size[j] = (double)e->pass.size[j] / m->unit;
    m->restart = restarts; /* moved */
    m->n_restarts = n_restarts;
    m->history = e->history; /* moved */
    m->n_history = e->n_history;
    e->history = NULL;
    *out = m;
    return COF_OK;
}
