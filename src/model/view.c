/* A table's columns and values looked up in a model, by name. */
#include "view.h"

#include "../table/encode.h"

static cof_status intern(cofi_encoder *names, const char *name, uint32_t *id)
{
    return cofi_encoder_intern(names, name, strlen(name), id);
}

/* The columns of the attributes that take part, or of those that do not; one that does not may be absent. */
static cof_status find_columns(cofi_view *v, cofi_encoder *names, bool used, cof_error *err)
{
    for (size_t r = 0; r < v->model->n_attrs; r++) {
        const cofi_model_attr *attr = &v->model->attr[r];
        uint32_t id;
        if ((attr->used != 0) != used) continue;
        if (intern(names, attr->name, &id) != COF_OK) return cofi_no_memory(err);
        bool found = id < v->table->n_columns;
        if (!found && used)
            return cofi_fail(err, COF_ERR_DATA,
                             "the model needs a column '%s', which the table does not have", attr->name);
        if (!found) continue;
        v->attribute[v->n + v->n_idle] = r;
        v->column[v->n + v->n_idle] = id;
        if (used)
            v->n++;
        else
            v->n_idle++;
    }
    return COF_OK;
}

static cof_status match_names(cofi_view *v, cof_error *err)
{
    cofi_encoder names;
    cof_status status = COF_OK;
    uint32_t id;
    cofi_encoder_init(&names, &v->env);
    for (size_t c = 0; status == COF_OK && c < v->table->n_columns; c++)
        status = intern(&names, v->table->column[c].name, &id);
    if (status != COF_OK) cofi_no_memory(err);
    if (status == COF_OK) status = find_columns(v, &names, true, err);
    if (status == COF_OK) status = find_columns(v, &names, false, err);
    cofi_encoder_free(&names);
    return status;
}

static cof_status number_values(cofi_view *v, cof_error *err)
{
    uint64_t n_flat = 0;
    for (size_t a = 0; a < v->n; a++) {
        const cofi_column *c = &v->table->column[v->column[a]];
        v->ids[a] = (cofi_ids){c->codes, c->width};
        v->first[a] = (uint32_t)n_flat;
        n_flat += (uint64_t)c->n_values + 1;
        if (n_flat > UINT32_MAX / 2)
            return cofi_fail(err, COF_ERR_DATA, "the table has too many different values");
    }
    v->first[v->n] = (uint32_t)n_flat;
    v->value = cofi_alloc(&v->env, (size_t)n_flat, sizeof *v->value);
    return v->value != NULL ? COF_OK : cofi_no_memory(err);
}

static cof_status match_values(cofi_view *v, size_t a)
{
    const cofi_model_attr *attr = &v->model->attr[v->attribute[a]];
    const cofi_column *c = &v->table->column[v->column[a]];
    uint32_t id, n_known = attr->n_values - (attr->has_missing ? 1 : 0), *to = v->value + v->first[a];
    cofi_encoder known;
    cof_status status = COF_OK;
    cofi_encoder_init(&known, &v->env);
    for (uint32_t value = 0; status == COF_OK && value < n_known; value++)
        status = intern(&known, attr->text + attr->offset[value], &id);
    for (uint32_t code = 0; status == COF_OK && code < c->n_values; code++) {
        status = intern(&known, cofi_column_text(c, code), &id);
        to[code] = id < n_known ? id : COFI_NO_VALUE;
    }
    to[c->n_values] = attr->has_missing ? attr->n_values - 1 : COFI_NO_VALUE;
    cofi_encoder_free(&known);
    return status;
}

cof_status cofi_view_open(cofi_view *v, const cof_model *model, const cof_table *table, cof_error *err)
{
    *v = (cofi_view){.env = table->env, .model = model, .table = table};
    v->attribute = cofi_alloc(&v->env, model->n_attrs, sizeof *v->attribute);
    v->column = cofi_alloc(&v->env, model->n_attrs, sizeof *v->column);
    v->ids = cofi_alloc(&v->env, model->n_attrs, sizeof *v->ids);
    v->first = cofi_alloc_zero(&v->env, model->n_attrs + 1, sizeof *v->first);
    bool complete = v->attribute != NULL && v->column != NULL && v->ids != NULL && v->first != NULL;
    cof_status status = complete ? match_names(v, err) : cofi_no_memory(err);
    if (status == COF_OK) status = number_values(v, err);
    for (size_t a = 0; status == COF_OK && a < v->n; a++)
        if (match_values(v, a) != COF_OK) status = cofi_no_memory(err);
    if (status != COF_OK) cofi_view_close(v);
    return status;
}

void cofi_view_close(cofi_view *v)
{
    void *owned[] = {v->attribute, v->column, v->ids, v->first, v->value};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&v->env, owned[b]);
    *v = (cofi_view){.env = v->env};
}
