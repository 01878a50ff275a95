/* Finds a table's columns and values in a model, by name. */
#include "view.h"

#include "../table/encode.h"

/* Finds the columns of the used attributes, then of the unused ones, which may be absent. */
static cof_status match_names(cofi_view *v, cof_error *err)
{
    cofi_encoder names;
    cof_status status = COF_OK;
    size_t n_attrs = v->model->n_attrs;
    uint32_t id;
    cofi_encoder_init(&names, &v->own.env);
    for (size_t c = 0; status == COF_OK && c < v->table->n_columns; c++)
        status = cofi_encoder_intern(&names, v->table->column[c].name, strlen(v->table->column[c].name), &id);
    for (size_t i = 0; status == COF_OK && i < 2 * n_attrs; i++) {
        const cofi_model_attr *attr = &v->model->attr[i % n_attrs];
        const char *name = attr->domain.name;
        if (attr->used != (i < n_attrs)) continue;
        status = cofi_encoder_intern(&names, name, strlen(name), &id);
        if (status != COF_OK || (id >= v->table->n_columns && !attr->used)) continue;
        if (id >= v->table->n_columns) {
            cofi_encoder_free(&names);
            return cofi_fail(err, COF_ERR_DATA,
                             "the model needs a column '%s', which the table does not have", name);
        }
        v->attribute[v->n + v->n_idle] = i % n_attrs;
        v->column[v->n + v->n_idle] = id;
        v->n += attr->used;
        v->n_idle += !attr->used;
    }
    cofi_encoder_free(&names);
    return status == COF_OK ? COF_OK : cofi_no_memory(err);
}

/* Codes the rows of a quantity by the model's bins; one further code is for texts that cannot be read as its values are, and
 * the last one for missing. */
static cof_status cut_rows(cofi_view *v, size_t a, const cofi_column *bins, const cofi_column *read)
{
    size_t n = v->table->n_rows;
    uint16_t *codes = cofi_blocks_add(&v->own, n, sizeof *codes);
    uint32_t *bin = cofi_alloc(&v->own.env, (size_t)read->n_values + 1, sizeof *bin);
    cof_status status =
        codes == NULL || bin == NULL ? COF_ERR_MEMORY : cofi_domain_match(&v->own.env, bins, read, 0, bin);
    for (uint32_t code = 0; status == COF_OK && code <= read->n_values; code++)
        if (bin[code] >= bins->n_values) bin[code] = bins->n_values + (bin[code] == bins->n_values);
    for (size_t i = 0; status == COF_OK && i < n; i++) {
        codes[i] = (uint16_t)bin[cofi_column_code(read, i)];
        v->n_missing[a] += codes[i] == bins->n_values + 1;
    }
    v->ids[a] = (cofi_ids){codes, sizeof *codes, false};
    v->n_codes[a] = bins->n_values + 1;
    cofi_release(&v->own.env, bin);
    return status;
}

/* Chooses the codes of an attribute's rows. */
static cof_status set_codes(cofi_view *v, size_t a)
{
    const cofi_column *known = &v->model->attr[v->attribute[a]].domain;
    const cofi_column *c = &v->table->column[v->column[a]];
    bool same = known->cut != NULL && c->cut != NULL && cofi_cut_equal(known->cut, c->cut);
    if (!same) c = cofi_column_as_read(c);
    if (known->cut != NULL && !same) return cut_rows(v, a, known, c);
    v->ids[a] = (cofi_ids){c->codes, c->width, false};
    v->n_codes[a] = c->n_values;
    v->n_missing[a] = c->n_missing;
    return COF_OK;
}

static cof_status number_values(cofi_view *v, cof_error *err)
{
    uint64_t n_flat = 0;
    for (size_t a = 0; a < v->n; a++) {
        if (set_codes(v, a) != COF_OK) return cofi_no_memory(err);
        v->first[a] = (uint32_t)n_flat;
        n_flat += (uint64_t)v->n_codes[a] + 1;
        if (n_flat > UINT32_MAX / 2)
            return cofi_fail(err, COF_ERR_DATA, "the table has too many different values");
    }
    v->first[v->n] = (uint32_t)n_flat;
    v->value = cofi_blocks_add(&v->own, (size_t)n_flat, sizeof *v->value);
    return v->value != NULL ? COF_OK : cofi_no_memory(err);
}

static cof_status match_values(cofi_view *v, size_t a)
{
    const cofi_model_attr *attr = &v->model->attr[v->attribute[a]];
    uint32_t *to = v->value + v->first[a], n_codes = v->n_codes[a];
    cof_status status = COF_OK;
    if (attr->domain.cut == NULL) {
        const cofi_column *read = cofi_column_as_read(&v->table->column[v->column[a]]);
        status =
            cofi_domain_match(&v->own.env, &attr->domain, read, v->table->tidying | COFI_MATCH_TRUTHS, to);
    } else {
        for (uint32_t code = 0; code < n_codes; code++)
            to[code] = code < attr->domain.n_values ? code : COFI_NO_VALUE;
    }
    to[n_codes] = attr->has_missing ? attr->n_values - 1 : COFI_NO_VALUE;
    return status;
}

cof_status cofi_view_open(cofi_view *v, const cof_model *model, const cof_table *table, cof_error *err)
{
    *v = (cofi_view){.own = {.env = table->env}, .model = model, .table = table};
    v->attribute = cofi_blocks_add(&v->own, model->n_attrs, sizeof *v->attribute);
    v->column = cofi_blocks_add(&v->own, model->n_attrs, sizeof *v->column);
    v->ids = cofi_blocks_add(&v->own, model->n_attrs, sizeof *v->ids);
    v->first = cofi_blocks_add_zero(&v->own, model->n_attrs + 1, sizeof *v->first);
    v->n_codes = cofi_blocks_add_zero(&v->own, model->n_attrs, sizeof *v->n_codes);
    v->n_missing = cofi_blocks_add_zero(&v->own, model->n_attrs, sizeof *v->n_missing);
    cof_status status = v->own.short_of_memory ? cofi_no_memory(err) : match_names(v, err);
    if (status == COF_OK) status = number_values(v, err);
    for (size_t a = 0; status == COF_OK && a < v->n; a++)
        if (match_values(v, a) != COF_OK) status = cofi_no_memory(err);
    if (status != COF_OK) cofi_view_close(v);
    return status;
}

void cofi_view_close(cofi_view *v)
{
    cofi_blocks_release(&v->own);
    *v = (cofi_view){.n = 0};
}
