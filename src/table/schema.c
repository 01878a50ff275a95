/* Schemas: made from the rows of a part, merged by the texts of the values, written and read as bytes.
 *
 * Bytes, little-endian: "COFSCHEM", u32 version, u64 rows, u32 columns; per column its name, u32 role, u8 ordinal,
 * u64 missing cells, u64 first row without a value, the text of that cell, u32 values; per value its text and u64 rows;
 * u32 edges and f64 per edge where the column is cut, else u32 0xFFFFFFFF; at the end u64 checksum. A text is u32
 * length and the bytes. */
#include "schema.h"

#include "../core/bytes.h"
#include "../core/utf8.h"

#include <assert.h>
#include <math.h>

enum { VERSION = 1 };
#define NO_CUT UINT32_MAX

cof_status cofi_schema_new(const cof_env *env, size_t n_columns, cof_schema **out, cof_error *err)
{
    cof_schema *s = cofi_alloc_zero(env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    s->table.env = *env;
    s->table.column = cofi_alloc_zero(env, n_columns, sizeof *s->table.column);
    if (s->table.column == NULL) {
        cofi_release(env, s);
        return cofi_no_memory(err);
    }
    s->table.n_columns = n_columns;
    for (size_t c = 0; c < n_columns; c++) {
        s->table.column[c].number = c;
        s->table.column[c].first_missing = COFI_NO_ROW;
    }
    *out = s;
    return COF_OK;
}

void cof_schema_free(cof_schema *s)
{
    if (s == NULL) return;
    cof_env env = s->table.env;
    cofi_columns_free(&s->table);
    cofi_release(&env, s);
}

cof_table cofi_schema_whole(const cof_schema *s)
{
    cof_table whole = s->table;
    whole.n_rows = (size_t)s->n_rows;
    return whole;
}

/* ---- Joining ------------------------------------------------------------------------------------- */

void cofi_gathering_init(cofi_gathering *g, const cof_env *env)
{
    *g = (cofi_gathering){.first_missing = COFI_NO_ROW};
    cofi_encoder_init(&g->names, env);
}

static bool gather_value(cofi_gathering *g, const char *text, uint64_t rows, uint32_t *id)
{
    uint32_t n_before = g->names.n_values;
    if (cofi_encoder_intern(&g->names, text, strlen(text), id) != COF_OK) return false;
    if (*id == n_before && n_before == g->room) {
        size_t room = 2 * g->room + 64;
        uint64_t *grown = cofi_regrow(&g->names.env, g->rows, g->room, room, sizeof *grown);
        if (grown == NULL) return false;
        g->rows = grown;
        g->room = room;
    }
    g->rows[*id] = rows + (*id < n_before ? g->rows[*id] : 0);
    return true;
}

/* Adds the values of a part that rows[v] rows hold; rows has one more entry, for missing cells. */
static bool gather(cofi_gathering *g, const cofi_column *part, const uint64_t *rows, uint64_t first_missing,
                   uint32_t *id)
{
    const cof_env *env = &g->names.env;
    if (first_missing < g->first_missing) {
        cofi_release(env, g->names.missing_text);
        g->names.missing_text = cofi_copy_text(env, part->missing_text, strlen(part->missing_text));
        if (g->names.missing_text == NULL) return false;
        g->first_missing = first_missing;
    }
    g->n_missing += rows[part->n_values];
    for (uint32_t v = 0; v < part->n_values; v++) {
        uint32_t here;
        if (rows[v] == 0) continue;
        if (!gather_value(g, cofi_column_text(part, v), rows[v], &here)) return false;
        if (id != NULL) id[v] = here;
    }
    return true;
}

bool cofi_gather_rows(cofi_gathering *g, const cofi_column *part, size_t n_rows, uint64_t first_row,
                      uint32_t *id)
{
    uint64_t first_missing = COFI_NO_ROW;
    uint64_t *rows = cofi_alloc_zero(&g->names.env, (size_t)part->n_values + 1, sizeof *rows);
    if (rows == NULL) return false;
    for (size_t i = 0; i < n_rows; i++) {
        uint32_t code = cofi_column_code(part, i);
        if (code == part->n_values && rows[code] == 0) first_missing = first_row + i;
        rows[code]++;
    }
    bool ok = gather(g, part, rows, first_missing, id);
    cofi_release(&g->names.env, rows);
    return ok;
}

bool cofi_gathering_finish(cofi_gathering *g, cofi_column *to)
{
    const cof_env *env = &g->names.env;
    uint32_t n = g->names.n_values;
    g->rank = cofi_alloc(env, n, sizeof *g->rank);
    uint64_t *rows_of = cofi_alloc_zero(env, (size_t)n + 1, sizeof *rows_of);
    if (g->rank == NULL || rows_of == NULL || cofi_encoder_finish_values(&g->names, g->rank, to) != COF_OK) {
        cofi_release(env, rows_of);
        return false;
    }
    for (uint32_t id = 0; id < n; id++) {
        assert(g->rank[id] < n && g->rows[id] > 0);
        rows_of[g->rank[id]] = g->rows[id];
    }
    rows_of[n] = g->n_missing;
    to->rows_of = rows_of;
    to->n_missing = g->n_missing;
    to->first_missing = g->first_missing;
    return true;
}

void cofi_gathering_free(cofi_gathering *g)
{
    cof_env env = g->names.env;
    cofi_encoder_free(&g->names);
    COFI_RELEASE_ALL(&env, g->rows, g->rank);
}

cof_status cof_schema_of(const cof_table *table, uint64_t first_row, cof_schema **out, cof_error *err)
{
    cof_schema *s;
    COFI_TRY(cofi_schema_new(&table->env, table->n_columns, &s, err));
    s->n_rows = table->n_rows;
    bool ok = true;
    for (size_t c = 0; c < table->n_columns && ok; c++) {
        const cofi_column *from = &table->column[c];
        cofi_column *to = &s->table.column[c];
        cofi_gathering g;
        cofi_gathering_init(&g, &table->env);
        to->role = from->role;
        to->name = cofi_copy_text(&table->env, from->name, strlen(from->name));
        ok = to->name != NULL &&
             cofi_gather_rows(&g, cofi_column_as_read(from), table->n_rows, first_row, NULL) &&
             cofi_gathering_finish(&g, to);
        cofi_gathering_free(&g);
    }
    if (ok)
        *out = s;
    else
        cof_schema_free(s);
    return ok ? COF_OK : cofi_no_memory(err);
}

/* ---- Merging ------------------------------------------------------------------------------------- */

cof_status cofi_check_same_columns(const cof_table *a, const cof_table *b, cof_error *err)
{
    char name[160], other[160];
    if (a->n_columns != b->n_columns)
        return cofi_fail(err, COF_ERR_DATA,
                         "parts of one table must have the same columns, but one has %zu and another has %zu",
                         a->n_columns, b->n_columns);
    for (size_t c = 0; c < a->n_columns; c++)
        if (strcmp(a->column[c].name, b->column[c].name) != 0)
            return cofi_fail(
                err, COF_ERR_DATA,
                "parts of one table must have the same columns, but column %zu is '%s' in one and "
                "'%s' in another",
                c + 1, cofi_utf8_show(name, sizeof name, a->column[c].name),
                cofi_utf8_show(other, sizeof other, b->column[c].name));
    return COF_OK;
}

static cof_status check_columns(const cof_schema *a, const cof_schema *b, cof_error *err)
{
    COFI_TRY(cofi_check_same_columns(&a->table, &b->table, err));
    for (size_t c = 0; c < a->table.n_columns; c++) {
        const cofi_column *x = &a->table.column[c], *y = &b->table.column[c];
        char name[160];
        cofi_utf8_show(name, sizeof name, x->name);
        if (x->role != y->role)
            return cofi_fail(err, COF_ERR_DATA, "column '%s' has different roles in two parts of the table",
                             name);
        if (x->cut != NULL || y->cut != NULL || x->ordinal || y->ordinal)
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "column '%s' was cut or ordered before all parts were merged; merge first",
                             name);
    }
    if (a->n_rows + b->n_rows > COFI_MOST_ROWS) return cofi_too_many_rows(err);
    return COF_OK;
}

/* The column of both parts; the texts of a and b remain theirs. */
static bool merge_columns(const cof_env *env, const cofi_column *a, const cofi_column *b, cofi_column *to)
{
    cofi_gathering g;
    cofi_gathering_init(&g, env);
    to->role = a->role;
    bool ok = gather(&g, a, a->rows_of, a->first_missing, NULL) &&
              gather(&g, b, b->rows_of, b->first_missing, NULL) && cofi_gathering_finish(&g, to);
    cofi_gathering_free(&g);
    return ok;
}

cof_status cof_schema_merge(cof_schema *into, const cof_schema *more, cof_error *err)
{
    cof_schema *made;
    const cof_env *env = &into->table.env;
    cof_status status = check_columns(into, more, err);
    if (status == COF_OK) status = cofi_schema_new(env, into->table.n_columns, &made, err);
    if (status != COF_OK) return status;
    for (size_t c = 0; c < into->table.n_columns; c++) {
        if (merge_columns(env, &into->table.column[c], &more->table.column[c], &made->table.column[c]))
            continue;
        cof_schema_free(made);
        return cofi_no_memory(err);
    }
    for (size_t c = 0; c < into->table.n_columns; c++) { /* the names stay with `into` */
        made->table.column[c].name = into->table.column[c].name;
        into->table.column[c].name = NULL;
    }
    cof_table old = into->table;
    into->table = made->table;
    made->table = old;
    into->n_rows += more->n_rows;
    cof_schema_free(made);
    return COF_OK;
}

/* ---- Bytes --------------------------------------------------------------------------------------- */

/* The values of one column; when they are read, each may come once only, and their rows must be those of the schema. */
static void check_values(cofi_codec *c, const cofi_column *column, uint64_t n_rows)
{
    cofi_encoder names;
    uint64_t sum = 0;
    uint32_t id;
    cofi_encoder_init(&names, c->env);
    for (uint32_t v = 0; v < column->n_values && !c->from.failed; v++) {
        const char *text = cofi_column_text(column, v);
        if (cofi_encoder_intern(&names, text, strlen(text), &id) != COF_OK) c->short_of_memory = true;
        cofi_code_check(c,
                        !c->short_of_memory && id == v && column->rows_of[v] > 0 &&
                            column->rows_of[v] <= COFI_MOST_ROWS,
                        NULL);
        sum += column->rows_of[v];
    }
    cofi_encoder_free(&names);
    cofi_code_check(c, sum == n_rows - column->n_missing, NULL);
}

/* The edges of a column that is cut. Reading cuts it there. */
static void code_edges(cofi_codec *c, cof_schema *s, size_t number)
{
    const cofi_cut *cut = s->table.column[number].cut;
    uint32_t n = cut != NULL ? cut->n_edges : NO_CUT;
    double *edge = cut != NULL ? cut->edge : NULL;
    COFI_CODE(c, &n);
    if (n == NO_CUT) return;
    cofi_code_array(c, &edge, n);
    if (c->to != NULL) return;
    for (uint32_t e = 0; e < n && !c->from.failed; e++)
        cofi_code_check(c, isfinite(edge[e]) && (e == 0 || edge[e] > edge[e - 1]), NULL);
    if (!c->from.failed) {
        cof_table whole = cofi_schema_whole(s);
        cof_status status = cofi_table_cut_at(&whole, number, edge, n, NULL);
        c->short_of_memory = status == COF_ERR_MEMORY;
        cut = s->table.column[number].cut;
        /* if there are other edges, the values are no numbers, or a bin is empty */
        cofi_code_check(c, cut != NULL && cut->n_edges == n, NULL);
    }
    cofi_release(c->env, edge);
}

/* Where a column is cut, its domain before the cut is coded, and then the edges. */
static void code_column(cofi_codec *c, cof_schema *s, size_t number)
{
    cofi_column *cut = &s->table.column[number], *column = cut->uncut != NULL ? cut->uncut : cut;
    uint8_t ordinal = column->ordinal != 0;
    cofi_code_text(c, &column->name);
    COFI_CODE(c, &cut->role);
    COFI_CODE(c, &ordinal);
    COFI_CODE(c, &column->n_missing);
    COFI_CODE(c, &cut->first_missing);
    cofi_code_text(c, &column->missing_text);
    COFI_CODE(c, &column->n_values);
    cofi_code_check(c,
                    column->role >= COF_ROLE_ATTRIBUTE && column->role <= COF_ROLE_NUMERIC && ordinal <= 1 &&
                        column->n_missing <= s->n_rows &&
                        (column->n_missing == 0) == (column->first_missing == COFI_NO_ROW) &&
                        column->n_values <= cofi_code_left(c) / 12,
                    NULL);
    cofi_code_values(c, column, column->n_values, true);
    if (c->to == NULL && !c->from.failed) {
        column->ordinal = ordinal;
        column->rows_of[column->n_values] = column->n_missing;
        check_values(c, column, s->n_rows);
    }
    code_edges(c, s, number);
}

typedef struct head {
    uint32_t version, n_columns;
    uint64_t n_rows;
} head;

static void code_head(cofi_codec *c, head *h)
{
    cofi_code_magic(c, "COFSCHEM");
    COFI_CODE(c, &h->version);
    COFI_CODE(c, &h->n_rows);
    COFI_CODE(c, &h->n_columns);
}

void cofi_schema_put(cofi_writer *w, const cof_schema *s)
{
    size_t begin = w->n;
    cofi_codec c = {.to = w};
    head h = {VERSION, (uint32_t)s->table.n_columns, s->n_rows};
    code_head(&c, &h);
    for (size_t i = 0; i < s->table.n_columns; i++) code_column(&c, (cof_schema *)(void *)s, i);
    if (!w->failed) cofi_put_u64(w, cofi_checksum(w->bytes + begin, w->n - begin));
}

cof_status cof_schema_write(const cof_schema *s, cof_sink sink, void *ctx, cof_error *err)
{
    cofi_writer w = {.env = s->table.env};
    cofi_schema_put(&w, s);
    return cofi_writer_send(&w, sink, ctx, "the schema", err);
}

static cof_status read_columns(cof_schema *s, cofi_codec *c, cof_error *err)
{
    size_t first, second = 0, n = s->table.n_columns;
    c->env = &s->table.env;
    for (size_t i = 0; i < n && !c->from.failed; i++) code_column(c, s, i);
    cofi_code_check(c, cofi_code_left(c) == 0, NULL);
    if (!c->from.failed && cofi_names_repeated(c->env, &s->table.column->name, sizeof *s->table.column, n,
                                               &first, &second) != COF_OK)
        c->short_of_memory = true;
    cof_status status = cofi_codec_status(c);
    if (status == COF_ERR_MEMORY) return cofi_no_memory(err);
    if (status == COF_OK && second == n) return COF_OK;
    return cofi_fail(err, COF_ERR_DATA, "the schema contradicts itself; write it again from the table");
}

cof_status cof_schema_read(const cof_env *lent, const void *bytes, size_t n_bytes, cof_schema **out,
                           cof_error *err)
{
    enum { HEAD_BYTES = 24, END_BYTES = 8, LEAST_BYTES = 41 }; /* of a column */
    cof_env env = cofi_env_resolve(lent);
    cofi_codec c = {.from = {.bytes = bytes, .n = n_bytes}};
    head h;
    code_head(&c, &h);
    if (c.from.failed || n_bytes < HEAD_BYTES + END_BYTES)
        return cofi_fail(err, COF_ERR_DATA, "these bytes are not a schema");
    if (h.version > VERSION)
        return cofi_fail(err, COF_ERR_TOO_NEW,
                         "the schema has format %u, but this library knows formats up to %d; use a newer one",
                         h.version, VERSION);
    c.from.n -= END_BYTES;
    cofi_reader end = {.bytes = bytes, .n = n_bytes, .at = c.from.n};
    if (h.version == 0 || cofi_get_u64(&end) != cofi_checksum(bytes, c.from.n))
        return cofi_fail(err, COF_ERR_DATA, "the schema is damaged: its checksum is wrong");
    if (h.n_rows > COFI_MOST_ROWS || h.n_columns > c.from.n / LEAST_BYTES)
        return cofi_fail(err, COF_ERR_DATA, "the schema names more rows or columns than it can have");
    cof_schema *s;
    COFI_TRY(cofi_schema_new(&env, h.n_columns, &s, err));
    s->n_rows = h.n_rows;
    cof_status status = read_columns(s, &c, err);
    if (status == COF_OK)
        *out = s;
    else
        cof_schema_free(s);
    return status;
}

/* ---- Queries and roles --------------------------------------------------------------------------- */

uint64_t cof_schema_n_rows(const cof_schema *s)
{
    return s->n_rows;
}

const cof_table *cof_schema_table(const cof_schema *s)
{
    return &s->table;
}

cof_status cof_schema_advise(const cof_schema *s, size_t column, int32_t missing, cof_advice *advice,
                             cof_error *err)
{
    cof_table whole = cofi_schema_whole(s);
    return cof_column_advise(&whole, column, missing, advice, err);
}

cof_status cof_schema_set_role(cof_schema *s, size_t column, int32_t role, cof_error *err)
{
    return cof_table_set_role(&s->table, column, role, err);
}

cof_status cof_schema_set_order(cof_schema *s, size_t column, const char *const *values, size_t n_values,
                                cof_error *err)
{
    return cof_table_set_order(&s->table, column, values, n_values, err);
}

cof_status cof_schema_cut(cof_schema *s, size_t column, const cof_cut_options *options, cof_error *err)
{
    cof_table whole = cofi_schema_whole(s);
    return cof_table_cut(&whole, column, options, err);
}
