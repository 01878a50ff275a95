/* Finds a table's columns and values in a model, by name. */
#include "view.h"

#include "../table/encode.h"
#include "../table/tidy.h"

#include <math.h>

static cof_status intern(cofi_encoder *names, const char *name, uint32_t *id)
{
    return cofi_encoder_intern(names, name, strlen(name), id);
}

/* Finds the columns of the used attributes, or of the unused ones; an unused one may be absent. */
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
    cofi_encoder_init(&names, &v->own.env);
    for (size_t c = 0; status == COF_OK && c < v->table->n_columns; c++)
        status = intern(&names, v->table->column[c].name, &id);
    if (status != COF_OK) cofi_no_memory(err);
    if (status == COF_OK) status = find_columns(v, &names, true, err);
    if (status == COF_OK) status = find_columns(v, &names, false, err);
    cofi_encoder_free(&names);
    return status;
}

/* The texts of an attribute by their spelling; of equal ones the first counts. */
static cof_status index_spellings(cofi_encoder *known, const cofi_model_attr *attr, uint32_t tidying,
                                  uint32_t *value_of)
{
    char buffer[COFI_SPELLING_BYTES];
    cof_status status = COF_OK;
    uint32_t id, n_known = attr->n_values - (attr->has_missing ? 1 : 0);
    for (uint32_t value = 0; status == COF_OK && value < n_known; value++) {
        size_t n, n_before = known->n_values;
        const char *text = cofi_spelling(attr->text + attr->offset[value], tidying, buffer, &n);
        status = cofi_encoder_intern(known, text, n, &id);
        if (status == COF_OK && id == n_before) value_of[id] = value;
    }
    return status;
}

/* Finds the texts of a column in the attribute's dictionary; those that `to` has already are left alone. */
static cof_status match_texts(cofi_view *v, const cofi_model_attr *attr, const cofi_column *read,
                              uint32_t tidying, uint32_t *to)
{
    char buffer[COFI_SPELLING_BYTES];
    cofi_encoder known;
    cofi_encoder_init(&known, &v->own.env);
    uint32_t id, *value_of = cofi_alloc(&v->own.env, attr->n_values, sizeof *value_of);
    cof_status status = value_of != NULL ? index_spellings(&known, attr, tidying, value_of) : COF_ERR_MEMORY;
    uint32_t n_known = known.n_values;
    for (uint32_t code = 0; status == COF_OK && code < read->n_values; code++) {
        size_t n;
        if (to[code] != COFI_NO_VALUE) continue;
        const char *text = cofi_spelling(cofi_column_text(read, code), tidying, buffer, &n);
        status = cofi_encoder_intern(&known, text, n, &id);
        if (status == COF_OK && id < n_known) to[code] = value_of[id];
    }
    cofi_encoder_free(&known);
    cofi_release(&v->own.env, value_of);
    return status;
}

/* 1 and 0 for yes and no as programs write them, -1 for other texts. */
static int truth_of(const char *text)
{
    static const char *const words[] = {"0", "1", "false", "true", "False", "True", "FALSE", "TRUE"};
    for (int w = 0; w < 8; w++)
        if (strcmp(text, words[w]) == 0) return w % 2;
    return -1;
}

/* A column of booleans on one side and of 0 and 1 on the other: texts that `to` lacks are found by what they mean. */
static void match_truths(const cofi_model_attr *attr, const cofi_column *read, uint32_t *to)
{
    uint32_t value_of[2] = {COFI_NO_VALUE, COFI_NO_VALUE};
    uint32_t n_known = attr->n_values - (attr->has_missing ? 1 : 0);
    if (n_known > 2) return;
    for (uint32_t value = 0; value < n_known; value++) {
        int truth = truth_of(attr->text + attr->offset[value]);
        if (truth < 0) return;
        value_of[truth] = value;
    }
    for (uint32_t code = 0; code < read->n_values; code++) {
        int truth = to[code] == COFI_NO_VALUE ? truth_of(cofi_column_text(read, code)) : -1;
        if (truth >= 0) to[code] = value_of[truth];
    }
}

/* Finds the bin of every value; one further code is for texts that cannot be read as the model's values
 * are, and the last one for missing. */
static cof_status find_bins(cofi_view *v, const cofi_cut *cut, const cofi_column *read, uint32_t **out)
{
    uint32_t n_bins = cut->n_edges + 1;
    uint32_t *bin = cofi_alloc(&v->own.env, (size_t)read->n_values + 1, sizeof *bin);
    *out = bin;
    if (bin == NULL) return COF_ERR_MEMORY;
    for (uint32_t code = 0; code < read->n_values; code++) {
        double point = 0;
        bool known = cofi_reading_parse(&cut->reading, cofi_column_text(read, code), &point);
        bin[code] = !known ? n_bins : isnan(point) ? n_bins + 1 : cofi_cut_bin(cut, point);
    }
    bin[read->n_values] = n_bins + 1;
    return COF_OK;
}

/* Codes the rows of a quantity by the model's bins. */
static cof_status cut_rows(cofi_view *v, size_t a, const cofi_cut *cut, const cofi_column *read)
{
    size_t n = v->table->n_rows;
    uint32_t *bin, n_bins = cut->n_edges + 1;
    uint16_t *codes = cofi_blocks_add(&v->own, n, sizeof *codes);
    cof_status status = find_bins(v, cut, read, &bin);
    if (codes == NULL || status != COF_OK) {
        cofi_release(&v->own.env, bin);
        return COF_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        codes[i] = (uint16_t)bin[cofi_column_code(read, i)];
        v->n_missing[a] += codes[i] == n_bins + 1;
    }
    v->ids[a] = (cofi_ids){codes, sizeof *codes, false};
    v->n_codes[a] = n_bins + 1;
    cofi_release(&v->own.env, bin);
    return COF_OK;
}

/* Chooses the codes of an attribute's rows. */
static cof_status set_codes(cofi_view *v, size_t a)
{
    const cofi_model_attr *attr = &v->model->attr[v->attribute[a]];
    const cofi_column *c = &v->table->column[v->column[a]];
    const cofi_column *read = cofi_column_as_read(c);
    bool same = attr->cut != NULL && c->cut != NULL && cofi_cut_equal(attr->cut, c->cut);
    if (attr->cut != NULL && !same) return cut_rows(v, a, attr->cut, read);
    v->ids[a] = same ? (cofi_ids){c->codes, c->width, false} : (cofi_ids){read->codes, read->width, false};
    v->n_codes[a] = same ? c->n_values : read->n_values;
    v->n_missing[a] = same ? c->n_missing : read->n_missing;
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
    if (attr->cut == NULL) {
        const cofi_column *read = cofi_column_as_read(&v->table->column[v->column[a]]);
        for (uint32_t code = 0; code < n_codes; code++) to[code] = COFI_NO_VALUE;
        status = match_texts(v, attr, read, 0, to);
        if (status == COF_OK && v->table->tidying != 0)
            status = match_texts(v, attr, read, v->table->tidying, to);
        match_truths(attr, read, to);
    } else {
        for (uint32_t code = 0; code < n_codes; code++)
            to[code] = code <= attr->cut->n_edges ? code : COFI_NO_VALUE;
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
