/* The public calls that fit over shards: the whole table is a schema, and its rows are with the shards. */
#include "../model/model.h"
#include "../rows/remote.h"
#include "../score/contingency.h"
#include "methods.h"

/* The whole table, with the caller's memory and callbacks. It owns nothing. */
static cof_status whole_table(const cof_env *env, const cof_schema *schema, const cof_shards *shards,
                              cofi_remote *remote, cof_table *whole, cof_error *err)
{
    COFI_COPY_OPTIONS(&remote->shards, shards);
    if (remote->shards.ask == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no function that asks the shards");
    *whole = cofi_schema_whole(schema);
    whole->env = cofi_env_resolve(env);
    whole->remote = remote;
    return COF_OK;
}

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
    if (status == COF_OK) status = whole_table(env, schema, shards, &remote, &whole, err);
    return status == COF_OK ? cof_fit(&whole, options, out, info, err) : status;
}

/* The choice of k compares fits of halves of the rows, which needs the weights and labels of all rows in one place. */
cof_status cof_fit_shards_auto(const cof_env *env, const cof_schema *schema, const cof_fit_options *options,
                               uint32_t k_min, uint32_t k_max, const cof_shards *shards, cof_model **out,
                               cof_fit_info *info, cof_error *err)
{
    cof_fit_options o;
    COFI_COPY_OPTIONS(&o, options);
    o.struct_size = sizeof o;
    o.k = k_min;
    if (k_min > 0 && k_min == k_max) return cof_fit_shards(env, schema, &o, shards, out, info, err);
    return cofi_fail(
        err, COF_ERR_UNSUPPORTED,
        "the number of clusters cannot be chosen over shards, because halves of the rows are compared; "
        "choose it on a sample of the rows, and give it");
}

cof_status cof_evaluate_shards(const cof_model *m, const cof_schema *schema, size_t column,
                               const cof_shards *shards, cof_indices *indices, cof_error *err)
{
    cofi_remote remote;
    cof_table whole;
    uint64_t *count;
    cofi_contingency t;
    if (column >= schema->table.n_columns || m->label_request == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         column < schema->table.n_columns ? "the model was not fitted over shards"
                                                          : "there is no such column of classes");
    cof_status status = whole_table(&m->env, schema, shards, &remote, &whole, err);
    if (status == COF_OK)
        status = cofi_remote_classes(&m->env, &remote, schema, m->label_request, m->n_label_request, column,
                                     m->k, &count, err);
    if (status != COF_OK) return status;
    status = cofi_contingency_take(&t, &m->env, count, m->k, schema->table.column[column].n_values, err);
    cofi_release(&m->env, count);
    return status == COF_OK ? cofi_contingency_score(&t, schema->n_rows, indices, err) : status;
}
