/* The cof_table handle: making a table from memory, queries, and roles of columns. */
#include "table.h"

#include "../core/rng.h"
#include "../core/system/system.h"
#include "../core/utf8.h"
#include "dedupe.h"
#include "encode.h"
#include "recognise.h"

#include <stdio.h>

cof_status cofi_table_new(const cof_env *env, size_t n_columns, cof_table **out, cof_error *err)
{
    cof_table *table = cofi_alloc_zero(env, 1, sizeof *table);
    if (table == NULL) return cofi_no_memory(err);
    table->env = *env;
    table->column = cofi_alloc_zero(env, n_columns, sizeof *table->column);
    if (table->column == NULL) {
        cofi_release(env, table);
        return cofi_no_memory(err);
    }
    for (size_t c = 0; c < n_columns; c++) table->column[c].number = c;
    table->n_columns = n_columns;
    *out = table;
    return COF_OK;
}

cof_status cofi_table_view(const cof_table *whole, size_t first, size_t n, cof_table *view, cof_error *err)
{
    *view = *whole;
    view->n_rows = n;
    view->column = cofi_alloc(&whole->env, whole->n_columns, 2 * sizeof *view->column);
    if (view->column == NULL) return cofi_no_memory(err);
    cofi_column *uncut = view->column + whole->n_columns;
    for (size_t c = 0; c < whole->n_columns; c++) {
        cofi_column *column = &view->column[c];
        *column = whole->column[c];
        column->codes = (char *)column->codes + first * column->width;
        if (column->uncut == NULL) continue;
        uncut[c] = *column->uncut;
        uncut[c].codes = (char *)uncut[c].codes + first * uncut[c].width;
        column->uncut = &uncut[c];
    }
    return COF_OK;
}

void cofi_table_view_close(cof_table *view)
{
    cofi_release(&view->env, view->column);
}

void cofi_column_free_values(const cof_env *env, cofi_column *c)
{
    COFI_RELEASE_ALL(env, c->block, c->offset, c->text, c->missing_text, c->rows_of, c->point);
    cofi_cut_free(env, c->cut);
    cofi_column_forget(env, c);
}

/* ---- Samples ------------------------------------------------------------------------------------ */

static bool gather_rows(cof_table *sample, cofi_column *c)
{
    const char *from = c->codes;
    char *to = cofi_alloc_column(&sample->env, c->number, sample->n_rows, c->width, &c->block);
    if (to == NULL) return false;
    for (size_t i = 0; i < sample->n_rows; i++)
        memcpy(to + i * c->width, from + sample->row_number[i] * c->width, c->width);
    c->codes = to;
    return true;
}

static void free_sample(cof_table *s)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        cofi_release(&s->env, s->column[c].block);
        if (s->column[c].uncut != NULL) cofi_release(&s->env, s->column[c].uncut->block);
    }
    cofi_table_view_close(s);
    cofi_release(&s->env, s->row_number);
}

cof_status cof_table_sample(const cof_table *table, size_t n, cof_table **out, cof_error *err)
{
    cof_table *s = cofi_alloc(&table->env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    n = n < table->n_rows ? n : table->n_rows;
    if (cofi_table_view(table, 0, n, s, err) != COF_OK) {
        cofi_release(&table->env, s);
        return COF_ERR_MEMORY;
    }
    s->file = NULL;
    s->n_mapped = 0;
    s->streamed = false;
    s->n_all_rows = table->n_rows;
    s->row_number = cofi_alloc(&s->env, n, sizeof *s->row_number);
    bool ok = s->row_number != NULL;
    for (size_t c = 0; c < s->n_columns; c++) {
        s->column[c].block = NULL;
        if (s->column[c].uncut != NULL) s->column[c].uncut->block = NULL;
    }
    for (size_t i = 0; ok && i < n; i++) s->row_number[i] = cofi_stretch_row(i, n, table->n_rows);
    for (size_t c = 0; ok && c < s->n_columns; c++)
        ok = gather_rows(s, &s->column[c]) &&
             (s->column[c].uncut == NULL || gather_rows(s, s->column[c].uncut));
    if (ok) {
        *out = s;
        return COF_OK;
    }
    free_sample(s);
    cofi_release(&table->env, s);
    return cofi_no_memory(err);
}

uint64_t cof_table_row_number(const cof_table *table, size_t row)
{
    return table->row_number != NULL ? table->row_number[row] : row;
}

void cofi_columns_free(cof_table *table)
{
    cof_env env = table->env;
    if (table->row_number != NULL) {
        free_sample(table);
        return;
    }
    for (size_t c = 0; c < table->n_columns; c++) {
        cofi_column *column = &table->column[c];
        cofi_column_uncut(&env, column);
        cofi_column_free_values(&env, column);
        cofi_release(&env, column->name);
    }
    cofi_release(&env, table->column);
    if (table->n_mapped > 0)
        cofi_unmap(table->file, table->n_mapped);
    else
        cofi_release(&env, table->file);
}

void cof_table_free(cof_table *table)
{
    if (table == NULL) return;
    cof_env env = table->env;
    cofi_columns_free(table);
    cofi_release(&env, table);
}

/* ---- From memory -------------------------------------------------------------------------------- */

cof_status cofi_too_many_rows(cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA, "the table is too large: it may have at most %zu rows",
                     COFI_MOST_ROWS);
}

static cof_status check_shape(size_t n_rows, size_t n_columns, const void *cells, cof_error *err)
{
    if (cells == NULL || n_rows == 0 || n_columns == 0)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "a table needs at least one row and one column, but has %zu and %zu", n_rows,
                         n_columns);
    if (n_rows > COFI_MOST_ROWS) return cofi_too_many_rows(err);
    if (n_columns > SIZE_MAX / sizeof cells / n_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT, "%zu rows and %zu columns are more than memory can hold",
                         n_rows, n_columns);
    return COF_OK;
}

/* Interns each code of a column once, as long as the codes are in a range that can be indexed. */
static cof_status encode_codes(cofi_encoder *e, const int32_t *codes, size_t n_rows, size_t step)
{
    enum { DIRECT = 1 << 16 };
    cof_status status = COF_OK;
    uint32_t *known = cofi_alloc(&e->env, DIRECT, sizeof *known);
    if (known == NULL) return COF_ERR_MEMORY;
    memset(known, 0xFF, DIRECT * sizeof *known);
    for (size_t i = 0; i < n_rows && status == COF_OK; i++) {
        int32_t code = codes[i * step];
        uint32_t id = COFI_ID_MISSING;
        if (code >= 0) {
            if (code < DIRECT) id = known[code];
            if (id == COFI_ID_MISSING) {
                char text[16];
                int n_bytes = snprintf(text, sizeof text, "%d", code);
                status = cofi_encoder_intern(e, text, (size_t)n_bytes, &id);
                if (status == COF_OK && code < DIRECT) known[code] = id;
            }
        }
        if (status == COF_OK) status = cofi_encoder_append(e, id);
    }
    cofi_release(&e->env, known);
    return status;
}

/* Reports and model files are UTF-8, so other texts are refused. */
static cof_status encode_strings(cofi_encoder *e, const char *const *cells, size_t n_rows, const char *name,
                                 cof_error *err)
{
    cof_status status = COF_OK;
    for (size_t i = 0; i < n_rows && status == COF_OK; i++) {
        uint32_t n_known = e->n_values;
        status = cells[i] != NULL ? cofi_encoder_put(e, cells[i], strlen(cells[i]))
                                  : cofi_encoder_append(e, COFI_ID_MISSING);
        bool new_text = e->n_values > n_known;
        if (status == COF_OK && new_text && !cofi_utf8_valid(cells[i], strlen(cells[i])))
            status = cofi_fail(err, COF_ERR_DATA,
                               "the cell of row %zu in column '%s' is not valid UTF-8; convert it first",
                               i + 1, name);
    }
    return status;
}

cof_status cofi_names_repeated(const cof_env *env, char *const *name, size_t step, size_t n, size_t *first,
                               size_t *second)
{
    cofi_encoder known;
    cof_status status = COF_OK;
    uint32_t id = 0;
    cofi_encoder_init(&known, env);
    for (*second = 0; *second < n; ++*second) {
        const char *here = *(char *const *)(const void *)((const char *)name + *second * step);
        status = cofi_encoder_intern(&known, here, strlen(here), &id);
        if (status != COF_OK || id != *second) break;
    }
    *first = id;
    cofi_encoder_free(&known);
    return status;
}

/* Models find columns by name, so names must be unique. */
static cof_status check_names(const cof_env *env, const char *const *names, size_t n_columns, cof_error *err)
{
    size_t first, second;
    char shown[160];
    for (size_t c = 0; c < n_columns; c++)
        if (!cofi_utf8_valid(names[c], strlen(names[c])))
            return cofi_fail(err, COF_ERR_DATA, "the name of column %zu is not valid UTF-8", c + 1);
    if (cofi_names_repeated(env, (char *const *)names, sizeof *names, n_columns, &first, &second) != COF_OK)
        return cofi_no_memory(err);
    if (second == n_columns) return COF_OK;
    return cofi_fail(err, COF_ERR_DATA, "columns %zu and %zu are both named '%s'; rename one", first + 1,
                     second + 1, cofi_utf8_show(shown, sizeof shown, names[second]));
}

/* The given names, or V1, V2, ...; one block, to be freed at once. */
static const char **make_names(const cof_env *env, const char *const *names, size_t n_columns)
{
    enum { SPACE = 24 };
    const char **made = cofi_alloc(env, n_columns, sizeof *made + SPACE);
    if (made == NULL) return NULL;
    char *text = (char *)(made + n_columns);
    for (size_t c = 0; c < n_columns; c++, text += SPACE) {
        snprintf(text, SPACE, "V%zu", c + 1);
        made[c] = names != NULL && names[c] != NULL ? names[c] : text;
    }
    return made;
}

/* Shared by both public functions: either `codes` or `cells` is NULL. */
static cof_status table_from_memory(const cof_env *lent, const int32_t *codes, const char *const *cells,
                                    size_t n_rows, size_t n_columns, const char *const *names,
                                    cof_table **out, cof_error *err)
{
    cof_env env = cofi_env_resolve(lent);
    COFI_TRY(check_shape(n_rows, n_columns, codes != NULL ? (const void *)codes : cells, err));
    const char **name = make_names(&env, names, n_columns);
    cofi_encoder *encoder = cofi_alloc(&env, n_columns, sizeof *encoder);
    cof_status status =
        name == NULL || encoder == NULL ? COF_ERR_MEMORY : check_names(&env, name, n_columns, err);
    for (size_t c = 0; encoder != NULL && c < n_columns; c++) {
        cofi_encoder_init(&encoder[c], &env);
        if (status != COF_OK) continue;
        status = codes != NULL ? encode_codes(&encoder[c], codes + c, n_rows, n_columns)
                               : encode_strings(&encoder[c], cells + c * n_rows, n_rows, name[c], err);
    }
    if (status == COF_OK)
        status = cofi_table_from_encoders(&env, encoder, n_columns, name, COFI_ORDER_SORTED, out, err);
    else if (status == COF_ERR_MEMORY)
        cofi_no_memory(err);
    for (size_t c = 0; encoder != NULL && c < n_columns; c++) cofi_encoder_free(&encoder[c]);
    COFI_RELEASE_ALL(&env, encoder, name);
    return status;
}

cof_status cof_table_from_codes(const cof_env *env, const int32_t *codes, size_t n_rows, size_t n_columns,
                                const char *const *names, cof_table **out, cof_error *err)
{
    return table_from_memory(env, codes, NULL, n_rows, n_columns, names, out, err);
}

cof_status cof_table_from_strings(const cof_env *env, const char *const *cells, size_t n_rows,
                                  size_t n_columns, const char *const *names, cof_table **out, cof_error *err)
{
    return table_from_memory(env, NULL, cells, n_rows, n_columns, names, out, err);
}

/* ---- Queries ------------------------------------------------------------------------------------ */

size_t cof_table_n_rows(const cof_table *table)
{
    return table->n_rows;
}

size_t cof_table_n_columns(const cof_table *table)
{
    return table->n_columns;
}

cof_status cof_table_column(const cof_table *table, size_t column, cof_column *about)
{
    enum { FIRST_VERSION = offsetof(cof_column, missing_text) + sizeof(const char *) };
    if (column >= table->n_columns || !cofi_is_struct_size(about->struct_size, FIRST_VERSION))
        return COF_ERR_ARGUMENT;
    const cofi_column *c = &table->column[column];
    cof_column found = {.name = c->name,
                        .role = c->role,
                        .ordinal = c->ordinal,
                        .n_values = c->n_values,
                        .n_missing = c->n_missing,
                        .missing_text = c->missing_text};
    cofi_return_struct(about, &found, sizeof found);
    return COF_OK;
}

size_t cof_table_find(const cof_table *table, const char *name)
{
    for (size_t c = 0; c < table->n_columns; c++)
        if (strcmp(table->column[c].name, name) == 0) return c;
    return SIZE_MAX;
}

/* Goes back to the last star where the texts part, so that no text takes more than the product of both lengths. */
int32_t cof_name_matches(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return 0;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

const char *cofi_column_text(const cofi_column *c, uint32_t value)
{
    return value < c->n_values ? c->text + c->offset[value] : c->missing_text;
}

const char *cofi_column_cell(const cofi_column *c, size_t row)
{
    const cofi_column *read = cofi_column_as_read(c);
    return cofi_column_text(read, cofi_column_code(read, row));
}

const char *cof_table_cell(const cof_table *table, size_t row, size_t column)
{
    return cofi_column_cell(&table->column[column], row);
}

const char *cof_table_value(const cof_table *table, size_t column, uint32_t value)
{
    if (column >= table->n_columns || value > table->column[column].n_values) return NULL;
    return cofi_column_text(&table->column[column], value);
}

uint32_t cof_table_code(const cof_table *table, size_t row, size_t column)
{
    return cofi_column_code(&table->column[column], row);
}

cof_status cof_table_count_distinct(const cof_table *table, uint64_t *n_distinct, cof_error *err)
{
    const cof_env *env = &table->env;
    cof_status status = COF_ERR_MEMORY;
    uint32_t n_groups = 0;
    size_t n_attrs = 0;
    cofi_ids *ids = cofi_alloc(env, table->n_columns, sizeof *ids);
    uint32_t *group = cofi_alloc(env, table->n_rows, sizeof *group);
    if (ids != NULL && group != NULL) {
        for (size_t c = 0; c < table->n_columns; c++)
            if (table->column[c].role == COF_ROLE_ATTRIBUTE)
                ids[n_attrs++] = (cofi_ids){table->column[c].codes, table->column[c].width, false};
        status = cofi_dedupe(env, ids, n_attrs, table->n_rows, group, &n_groups);
    }
    COFI_RELEASE_ALL(env, ids, group);
    if (status != COF_OK) return cofi_no_memory(err);
    *n_distinct = n_groups;
    return COF_OK;
}

/* ---- Naming ------------------------------------------------------------------------------------- */

cof_status cof_table_set_role(cof_table *table, size_t column, int32_t role, cof_error *err)
{
    if (column >= table->n_columns)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no column number %zu; the table has %zu",
                         column + 1, table->n_columns);
    if (role < COF_ROLE_ATTRIBUTE || role > COF_ROLE_NUMERIC)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no column role %d", (int)role);
    table->column[column].role = role;
    if (role != COF_ROLE_ATTRIBUTE && role != COF_ROLE_NUMERIC)
        cofi_column_forget(&table->env, &table->column[column]); /* its points would take memory */
    return COF_OK;
}

/* place[v] is the position of value v in the stated order; fails at the first value that is not in it. */
static cof_status place_values(const cofi_column *c, const cof_env *env, const char *const *values, size_t n,
                               uint32_t *place, cof_error *err)
{
    cofi_encoder named;
    cof_status status = COF_OK;
    cofi_encoder_init(&named, env);
    for (size_t v = 0; v < n && status == COF_OK; v++) {
        uint32_t id;
        status = cofi_encoder_intern(&named, values[v], strlen(values[v]), &id);
        if (status == COF_OK && id != v)
            status = cofi_fail(err, COF_ERR_ARGUMENT, "the order given for column '%s' names '%s' twice",
                               c->name, values[v]);
    }
    for (uint32_t v = 0; v < c->n_values && status == COF_OK; v++) {
        const char *text = cofi_column_text(c, v);
        status = cofi_encoder_intern(&named, text, strlen(text), &place[v]);
        if (status == COF_OK && place[v] >= n)
            status = cofi_fail(err, COF_ERR_ARGUMENT,
                               "column '%s' holds '%s', which the order given for it does not name; add it",
                               c->name, text);
    }
    cofi_encoder_free(&named);
    return status == COF_ERR_MEMORY ? cofi_no_memory(err) : status;
}

cof_status cof_table_set_order(cof_table *table, size_t column, const char *const *values, size_t n_values,
                               cof_error *err)
{
    if (column >= table->n_columns)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no column number %zu; the table has %zu",
                         column + 1, table->n_columns);
    cofi_blocks own = {.env = table->env};
    cofi_column *c = &table->column[column];
    /* Per value its place in the order and its new id; per place the value there, if there is one. */
    uint32_t *place = cofi_blocks_add(&own, c->n_values, sizeof *place), next = 0;
    uint32_t *rank = cofi_blocks_add(&own, c->n_values, sizeof *rank);
    uint32_t *at = cofi_blocks_add(&own, n_values, sizeof *at);
    size_t *offset = cofi_blocks_copy(&own, c->offset, c->n_values, sizeof *offset);
    uint64_t *rows_of =
        c->rows_of == NULL ? NULL : cofi_blocks_copy(&own, c->rows_of, c->n_values, sizeof *rows_of);
    cof_status status = cofi_blocks_status(&own, err);
    if (status == COF_OK) status = place_values(c, &own.env, values, n_values, place, err);
    if (status == COF_OK) {
        memset(at, 0xFF, n_values * sizeof *at);
        for (uint32_t v = 0; v < c->n_values; v++) at[place[v]] = v;
        for (size_t p = 0; p < n_values; p++)
            if (at[p] != UINT32_MAX) rank[at[p]] = next++;
        for (size_t i = 0; c->codes != NULL && i < table->n_rows; i++) {
            uint32_t code = cofi_column_code(c, i);
            if (code < c->n_values) cofi_code_set(c->codes, c->width, i, rank[code]);
        }
        for (uint32_t v = 0; v < c->n_values; v++) c->offset[rank[v]] = offset[v];
        for (uint32_t v = 0; rows_of != NULL && v < c->n_values; v++) c->rows_of[rank[v]] = rows_of[v];
        cofi_column_forget(&own.env, c);
        c->ordinal = 1;
    }
    cofi_blocks_release(&own);
    return status;
}
