/* A table's columns and values looked up in a model, by name. */
#include "row_values.h"

#include "../table/encode.h"

/* Columns of the used attributes. */
static cof_status find_columns(cofi_row_values *v, cofi_encoder *names, cof_error *err)
{
    uint32_t id;
    cof_status status = COF_OK;
    for (size_t c = 0; status == COF_OK && c < v->table->n_columns; c++) {
        const char *name = v->table->column[c].name;
        status = cofi_encoder_intern(names, name, strlen(name), &id);
    }
    if (status != COF_OK) return cofi_no_memory(err);
    for (size_t r = 0; r < v->model->n_attrs; r++) {
        const char *name = v->model->attr[r].name;
        if (!v->model->attr[r].used) continue;
        if (cofi_encoder_intern(names, name, strlen(name), &id) != COF_OK) return cofi_no_memory(err);
        if (id >= v->table->n_columns)
            return cofi_fail(err, COF_ERR_DATA,
                             "the model needs a column '%s', which the table does not have", name);
        v->attribute[v->n] = r;
        v->column[v->n] = id;
        v->ids[v->n] = (cofi_ids){v->table->column[id].codes, v->table->column[id].width};
        v->first[v->n + 1] = v->first[v->n] + v->table->column[id].n_values + 1;
        v->n++;
    }
    return COF_OK;
}

static cof_status map_values(cofi_row_values *v, size_t a)
{
    const cofi_model_attr *attr = &v->model->attr[v->attribute[a]];
    const cofi_column *c = &v->table->column[v->column[a]];
    uint32_t id, n_known = attr->n_values - (attr->has_missing ? 1 : 0), *to = v->value + v->first[a];
    cofi_encoder known;
    cof_status status = COF_OK;
    cofi_encoder_init(&known, &v->env);
    for (uint32_t value = 0; status == COF_OK && value < n_known; value++) {
        const char *text = attr->text + attr->offset[value];
        status = cofi_encoder_intern(&known, text, strlen(text), &id);
    }
    for (uint32_t code = 0; status == COF_OK && code < c->n_values; code++) {
        const char *text = cofi_column_text(c, code);
        status = cofi_encoder_intern(&known, text, strlen(text), &id);
        to[code] = id < n_known ? id : COFI_NO_VALUE;
    }
    to[c->n_values] = attr->has_missing ? attr->n_values - 1 : COFI_NO_VALUE;
    cofi_encoder_free(&known);
    return status;
}

cof_status cofi_row_values_open(cofi_row_values *v, const cof_model *model, const cof_table *table,
                                cof_error *err)
{
    cofi_encoder names;
    *v = (cofi_row_values){.env = table->env, .model = model, .table = table};
    v->attribute = cofi_alloc(&v->env, model->n_attrs, sizeof *v->attribute);
    v->column = cofi_alloc(&v->env, model->n_attrs, sizeof *v->column);
    v->ids = cofi_alloc(&v->env, model->n_attrs, sizeof *v->ids);
    v->first = cofi_alloc_zero(&v->env, model->n_attrs + 1, sizeof *v->first);
    cofi_encoder_init(&names, &v->env);
    bool complete = v->attribute != NULL && v->column != NULL && v->ids != NULL && v->first != NULL;
    cof_status status = complete ? find_columns(v, &names, err) : cofi_no_memory(err);
    cofi_encoder_free(&names);
    if (status == COF_OK) {
        v->value = cofi_alloc(&v->env, v->first[v->n], sizeof *v->value);
        if (v->value == NULL) status = cofi_no_memory(err);
    }
    for (size_t a = 0; status == COF_OK && a < v->n; a++)
        if (map_values(v, a) != COF_OK) status = cofi_no_memory(err);
    if (status != COF_OK) cofi_row_values_close(v);
    return status;
}

void cofi_row_values_close(cofi_row_values *v)
{
    void *owned[] = {v->attribute, v->column, v->ids, v->first, v->value};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&v->env, owned[b]);
    *v = (cofi_row_values){.env = v->env};
}
