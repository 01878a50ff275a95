/* The public calls that fit over shards: the whole table is a schema, and its rows are with the shards. */
#include "../model/model.h"
#include "../rows/shards.h"
#include "../score/contingency.h"
#include "methods.h"

static cof_status check_method(const char *name, cof_error *err)
{
    const cofi_method *method = cofi_method_find(name);
    if (method == NULL || (method->flags & (COFI_METHOD_ROW_BY_ROW | COFI_METHOD_NO_SCORES)) == 0)
        return COF_OK;
    return cofi_fail(
        err, COF_ERR_UNSUPPORTED,
        "%s compares whole rows, which cannot be done over shards; use coforest, kmodes or lca, or fit "
        "the table on one machine",
        method->name);
}

cof_status cof_fit_shards(const cof_env *env, const cof_schema *schema, const cof_fit_options *options,
                          const cof_shards *shards, cof_model **out, cof_fit_info *info, cof_error *err)
{
    cofi_remote remote;
    cof_table whole;
    cof_fit_options o;
    COFI_COPY_OPTIONS(&o, options);
    cof_status status = check_method(o.method, err);
    if (status == COF_OK) status = cofi_remote_table(env, schema, shards, &remote, &whole, err);
    return status == COF_OK ? cofi_fit_table(&whole, options, (cofi_fit_hints){0}, out, info, err) : status;
}

cof_status cof_fit_shards_auto(const cof_env *env, const cof_schema *schema, const cof_fit_options *options,
                               uint32_t k_min, uint32_t k_max, const cof_shards *shards, cof_model **out,
                               cof_fit_info *info, cof_error *err)
{
    cofi_remote remote;
    cof_table whole;
    cof_fit_options o;
    COFI_COPY_OPTIONS(&o, options);
    cof_status status = check_method(o.method, err);
    if (status == COF_OK) status = cofi_remote_table(env, schema, shards, &remote, &whole, err);
    return status == COF_OK ? cof_fit_auto(&whole, options, k_min, k_max, out, info, err) : status;
}

cof_status cof_label_shards(const cof_model *m, const cof_schema *schema, const cof_shards *shards,
                            uint64_t first_row, int32_t *labels, size_t n, cof_error *err)
{
    cofi_remote remote;
    cof_table whole;
    if (m->label_request == NULL || first_row > schema->n_rows || n > schema->n_rows - first_row)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "the model was not fitted over these shards, or they have fewer rows");
    COFI_TRY(cofi_remote_table(&m->env, schema, shards, &remote, &whole, err));
    cofi_remembered of = {.request = m->label_request, .n_bytes = m->n_label_request};
    return cofi_remote_labels(&whole, &of, m->k, first_row, labels, n, err);
}

/* The unit in which weights are added up; 1 without a column of weights. */
static cof_status weight_unit(const cof_model *m, const cof_schema *schema, double *unit, int *bits,
                              cof_error *err)
{
    const cofi_column *c = cofi_table_weight_column(&schema->table);
    *unit = 1;
    *bits = 0;
    if (c == NULL) return COF_OK;
    double *value = cofi_alloc(&m->env, c->n_values, sizeof *value);
    if (value == NULL) return cofi_no_memory(err);
    cof_status status = cofi_weights_parse(c, value, err);
    if (status == COF_OK) *unit = cofi_contingency_unit(value, c->rows_of, c->n_values, bits);
    cofi_release(&m->env, value);
    return status;
}

cof_status cof_evaluate_shards(const cof_model *m, const cof_schema *schema, size_t column,
                               const cof_shards *shards, cof_indices *indices, cof_error *err)
{
    cofi_remote remote;
    cof_table whole;
    uint64_t *count;
    cofi_contingency t;
    double unit;
    int bits;
    cofi_remembered of = {.request = m->label_request, .n_bytes = m->n_label_request};
    if (column >= schema->table.n_columns || m->label_request == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         column < schema->table.n_columns ? "the model was not fitted over shards"
                                                          : "there is no such column of classes");
    uint32_t n_classes = schema->table.column[column].n_values;
    cof_status status = cofi_remote_table(&m->env, schema, shards, &remote, &whole, err);
    if (status == COF_OK) status = weight_unit(m, schema, &unit, &bits, err);
    if (status == COF_OK) status = cofi_remote_classes(&whole, &of, column, m->k, unit, &count, err);
    if (status != COF_OK) return status;
    status = cofi_contingency_from_counts(&t, &m->env, count, m->k, n_classes, bits,
                                          count[(size_t)m->k * n_classes], err);
    cofi_release(&m->env, count);
    return status == COF_OK ? cofi_contingency_score(&t, schema->n_rows, indices, err) : status;
}
