/* Lists the values of a table that a model does not know. */
#include "view.h"

#include "../table/tidy.h"

/* The value of the attribute that is spelled alike but for letter case and blanks; -1: none. */
static int32_t find_like(const cofi_column *known, const char *text)
{
    enum { BOTH = COF_TIDY_TRIM | COF_TIDY_CASE };
    char own[COFI_SPELLING_BYTES], other[COFI_SPELLING_BYTES];
    size_t n, m;
    const char *plain = cofi_spelling(text, BOTH, own, &n);
    for (uint32_t value = 0; value < known->n_values; value++) {
        const char *like = cofi_spelling(cofi_column_text(known, value), BOTH, other, &m);
        if (m == n && memcmp(plain, like, n) == 0) return (int32_t)value;
    }
    return -1;
}

static bool is_known(const cofi_view *v, size_t a, const cofi_column *read, uint32_t code)
{
    const cofi_model_attr *attr = &v->model->attr[v->attribute[a]];
    double point;
    if (code == read->n_values) return attr->has_missing || v->model->missing != COF_MISSING_VALUE;
    if (attr->domain.cut != NULL)
        return cofi_reading_parse(&attr->domain.cut->reading, cofi_column_text(read, code), &point);
    return v->value[v->first[a] + code] != COFI_NO_VALUE;
}

static cof_status list_column(const cofi_view *v, size_t a, cof_unseen *list, size_t most, size_t *n)
{
    const cofi_model_attr *attr = &v->model->attr[v->attribute[a]];
    const cofi_column *read = cofi_column_as_read(&v->table->column[v->column[a]]);
    bool all = read->n_missing == 0 || is_known(v, a, read, read->n_values);
    for (uint32_t code = 0; code < read->n_values && all; code++) all = is_known(v, a, read, code);
    if (all) return COF_OK; /* the rows need not be counted */
    uint64_t *rows = cofi_alloc_zero(&v->own.env, (size_t)read->n_values + 1, sizeof *rows);
    if (rows == NULL) return COF_ERR_MEMORY;
    for (size_t i = 0; i < v->table->n_rows; i++) rows[cofi_column_code(read, i)]++;
    for (uint32_t code = 0; code <= read->n_values; code++) {
        if (rows[code] == 0 || is_known(v, a, read, code)) continue;
        bool hole = code == read->n_values;
        const char *text = cofi_column_text(read, code);
        if (*n < most)
            list[*n] =
                (cof_unseen){.attribute = v->attribute[a],
                             .column = v->column[a],
                             .text = text,
                             .missing = hole,
                             .like = hole || attr->domain.cut != NULL ? -1 : find_like(&attr->domain, text),
                             .rows = rows[code]};
        ++*n;
    }
    cofi_release(&v->own.env, rows);
    return COF_OK;
}

cof_status cof_model_unseen(const cof_model *model, const cof_table *table, cof_unseen *list, size_t most,
                            size_t *n, cof_error *err)
{
    cofi_view v;
    size_t found = 0;
    cof_status status = cofi_view_open(&v, model, table, err);
    if (status != COF_OK) return status;
    for (size_t a = 0; status == COF_OK && a < v.n; a++) {
        status = list_column(&v, a, list, most, &found);
        if (status != COF_OK) cofi_no_memory(err);
    }
    if (status == COF_OK) *n = found;
    cofi_view_close(&v);
    return status;
}
