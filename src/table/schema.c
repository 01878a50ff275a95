/* Schemas: made from the rows of a part, merged by the texts of the values, written and read as bytes.
 *
 * Bytes, little-endian: "COFSCHEM", u32 version, u64 rows, u32 columns; per column its name, u32 role, u8 ordinal,
 * u64 missing cells, u64 first row without a value, the text of that cell, u32 values; per value its text and u64 rows;
 * u32 edges and f64 per edge where the column is cut, else u32 0xFFFFFFFF; at the end u64 checksum. A text is u32
 * length and the bytes. */
#include "schema.h"

#include "../core/bytes.h"
#include "../core/utf8.h"

#include <math.h>

static const char magic[] = "COFSCHEM";
enum { VERSION = 1, END_BYTES = 8 };
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

/* ---- Columns ------------------------------------------------------------------------------------- */

bool cofi_gather(cofi_gathering *g, const char *text, uint64_t rows, uint32_t *out)
{
    uint32_t id, n_before = g->names.n_values;
    if (cofi_encoder_intern(&g->names, text, strlen(text), &id) != COF_OK) return false;
    if (id == n_before && n_before == g->room) {
        size_t room = 2 * g->room + 64;
        uint64_t *grown = cofi_regrow(&g->names.env, g->rows, g->room, room, sizeof *grown);
        if (grown == NULL) return false;
        g->rows = grown;
        g->room = room;
    }
    g->rows[id] = rows + (id < n_before ? g->rows[id] : 0);
    if (out != NULL) *out = id;
    return true;
}

uint32_t *cofi_gathering_finish(cofi_gathering *g, cofi_column *to)
{
    const cof_env *env = &g->names.env;
    uint32_t n = g->names.n_values;
    uint32_t *rank = cofi_alloc(env, n, sizeof *rank);
    uint64_t *rows_of = cofi_alloc(env, (size_t)n + 1, sizeof *rows_of);
    if (rank == NULL || rows_of == NULL || cofi_encoder_finish_values(&g->names, rank, to) != COF_OK) {
        COFI_RELEASE_ALL(env, rank, rows_of);
        return NULL;
    }
    for (uint32_t id = 0; id < n; id++) rows_of[rank[id]] = g->rows[id];
    to->rows_of = rows_of;
    return rank;
}

static bool finish(cofi_gathering *g, cofi_column *to)
{
    cof_env env = g->names.env;
    uint32_t *rank = cofi_gathering_finish(g, to);
    cofi_release(&env, rank);
    return rank != NULL;
}

void cofi_gathering_free(cofi_gathering *g)
{
    cof_env env = g->names.env;
    cofi_encoder_free(&g->names);
    cofi_release(&env, g->rows);
}

static bool column_of(const cof_env *env, const cofi_column *from, size_t n_rows, uint64_t first_row,
                      cofi_column *to)
{
    const cofi_column *read = cofi_column_as_read(from);
    cofi_gathering g = {.rows = NULL};
    cofi_encoder_init(&g.names, env);
    uint64_t *rows = cofi_alloc_zero(env, (size_t)read->n_values + 1, sizeof *rows);
    bool ok = rows != NULL;
    to->role = from->role;
    to->n_missing = read->n_missing;
    to->name = cofi_copy_text(env, from->name, strlen(from->name));
    for (size_t i = 0; ok && i < n_rows; i++) {
        uint32_t code = cofi_column_code(read, i);
        if (code == read->n_values && rows[code] == 0) to->first_missing = first_row + i;
        rows[code]++;
    }
    for (uint32_t v = 0; ok && v < read->n_values; v++)
        ok = cofi_gather(&g, cofi_column_text(read, v), rows[v], NULL);
    ok = ok && to->name != NULL && finish(&g, to);
    if (ok) {
        cofi_release(env, to->missing_text);
        to->missing_text = cofi_copy_text(env, read->missing_text, strlen(read->missing_text));
        ok = to->missing_text != NULL;
    }
    cofi_gathering_free(&g);
    cofi_release(env, rows);
    return ok;
}

cof_status cof_schema_of(const cof_table *table, uint64_t first_row, cof_schema **out, cof_error *err)
{
    cof_schema *s;
    COFI_TRY(cofi_schema_new(&table->env, table->n_columns, &s, err));
    s->n_rows = table->n_rows;
    for (size_t c = 0; c < table->n_columns; c++) {
        if (column_of(&table->env, &table->column[c], table->n_rows, first_row, &s->table.column[c]))
            continue;
        cof_schema_free(s);
        return cofi_no_memory(err);
    }
    *out = s;
    return COF_OK;
}

/* ---- Merging ------------------------------------------------------------------------------------- */

static cof_status check_columns(const cof_schema *a, const cof_schema *b, cof_error *err)
{
    if (a->table.n_columns != b->table.n_columns)
        return cofi_fail(err, COF_ERR_DATA,
                         "parts of one table must have the same columns, but one has %zu and another has %zu",
                         a->table.n_columns, b->table.n_columns);
    for (size_t c = 0; c < a->table.n_columns; c++) {
        const cofi_column *x = &a->table.column[c], *y = &b->table.column[c];
        char name[160], other[160];
        if (strcmp(x->name, y->name) != 0)
            return cofi_fail(
                err, COF_ERR_DATA,
                "parts of one table must have the same columns, but column %zu is '%s' in one and "
                "'%s' in another",
                c + 1, cofi_utf8_show(name, sizeof name, x->name),
                cofi_utf8_show(other, sizeof other, y->name));
        if (x->role != y->role)
            return cofi_fail(err, COF_ERR_DATA, "column '%s' has different roles in two parts of the table",
                             cofi_utf8_show(name, sizeof name, x->name));
        if (x->cut != NULL || y->cut != NULL || x->ordinal || y->ordinal)
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "column '%s' was cut or ordered before all parts were merged; merge first",
                             cofi_utf8_show(name, sizeof name, x->name));
    }
    if (a->n_rows + b->n_rows > COFI_MOST_ROWS) return cofi_too_many_rows(err);
    return COF_OK;
}

/* The column of both parts; the texts of a and b remain theirs. */
static bool merge_columns(const cof_env *env, const cofi_column *a, const cofi_column *b, cofi_column *to)
{
    const cofi_column *from[] = {a, b};
    const cofi_column *first = b->first_missing < a->first_missing ? b : a;
    cofi_gathering g = {.rows = NULL};
    bool ok = true;
    cofi_encoder_init(&g.names, env);
    for (int part = 0; part < 2; part++)
        for (uint32_t v = 0; ok && v < from[part]->n_values; v++)
            ok = cofi_gather(&g, cofi_column_text(from[part], v), from[part]->rows_of[v], NULL);
    g.names.missing_text = cofi_copy_text(env, first->missing_text, strlen(first->missing_text));
    ok = ok && g.names.missing_text != NULL && finish(&g, to);
    to->number = a->number;
    to->role = a->role;
    to->n_missing = a->n_missing + b->n_missing;
    to->first_missing = first->first_missing;
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

static void put_column(cofi_writer *w, const cofi_column *c)
{
    const cofi_column *read = cofi_column_as_read(c);
    cofi_put_text(w, c->name);
    cofi_put_u32(w, (uint32_t)c->role);
    cofi_put_u8(w, read->ordinal != 0);
    cofi_put_u64(w, read->n_missing);
    cofi_put_u64(w, c->first_missing);
    cofi_put_text(w, read->missing_text);
    cofi_put_u32(w, read->n_values);
    for (uint32_t v = 0; v < read->n_values; v++) {
        cofi_put_text(w, cofi_column_text(read, v));
        cofi_put_u64(w, read->rows_of[v]);
    }
    cofi_put_u32(w, c->cut != NULL ? c->cut->n_edges : NO_CUT);
    for (uint32_t e = 0; c->cut != NULL && e < c->cut->n_edges; e++) cofi_put_f64(w, c->cut->edge[e]);
}

void cofi_schema_put(cofi_writer *w, const cof_schema *s)
{
    size_t begin = w->n;
    cofi_put_bytes(w, magic, sizeof magic - 1);
    cofi_put_u32(w, VERSION);
    cofi_put_u64(w, s->n_rows);
    cofi_put_u32(w, (uint32_t)s->table.n_columns);
    for (size_t c = 0; c < s->table.n_columns; c++) put_column(w, &s->table.column[c]);
    if (!w->failed) cofi_put_u64(w, cofi_checksum(w->bytes + begin, w->n - begin));
}

cof_status cof_schema_write(const cof_schema *s, cof_sink sink, void *ctx, cof_error *err)
{
    cofi_writer w = {.env = s->table.env};
    cofi_schema_put(&w, s);
    return cofi_writer_send(&w, sink, ctx, "the schema", err);
}

static char *copy_text(const cof_env *env, cofi_reader *r, bool *short_of_memory)
{
    uint32_t n;
    const char *text = cofi_get_text(r, &n);
    char *copy = text != NULL ? cofi_copy_text(env, text, n) : NULL;
    *short_of_memory |= text != NULL && copy == NULL;
    return copy;
}

/* Bytes of the next n texts with a NUL each, which a count of rows follows; SIZE_MAX if they are not there. */
static size_t text_bytes(cofi_reader r, uint32_t n)
{
    size_t sum = 0;
    for (uint32_t v = 0; v < n && !r.failed; v++) {
        uint32_t n_bytes = cofi_get_u32(&r);
        cofi_get_bytes(&r, n_bytes);
        cofi_get_u64(&r);
        sum += (size_t)n_bytes + 1;
    }
    return r.failed ? SIZE_MAX : sum;
}

/* Reads the values in their order; sets *rows to the number of rows that hold one. */
static void get_values(const cof_env *env, cofi_reader *r, cofi_column *c, uint64_t *rows,
                       bool *short_of_memory)
{
    uint32_t n = cofi_get_u32(r), id;
    size_t at = 0, n_text = text_bytes(*r, n);
    cofi_encoder names;
    *rows = 0;
    if (r->failed || n_text == SIZE_MAX) {
        r->failed = true;
        return;
    }
    cofi_encoder_init(&names, env);
    c->offset = cofi_alloc(env, n, sizeof *c->offset);
    c->text = cofi_alloc(env, n_text, 1);
    c->rows_of = cofi_alloc(env, (size_t)n + 1, sizeof *c->rows_of);
    *short_of_memory = c->offset == NULL || c->text == NULL || c->rows_of == NULL;
    for (uint32_t v = 0; v < n && !*short_of_memory && !r->failed; v++) {
        uint32_t n_bytes;
        const char *text = cofi_get_text(r, &n_bytes);
        uint64_t here = cofi_get_u64(r);
        if (r->failed) break;
        *short_of_memory = cofi_encoder_intern(&names, text, n_bytes, &id) != COF_OK;
        if (*short_of_memory) break;
        r->failed |= id != v || here == 0 || here > COFI_MOST_ROWS; /* a value may come once only */
        *rows += here;
        c->rows_of[v] = here;
        c->offset[v] = at;
        memcpy(c->text + at, text, n_bytes);
        c->text[at + n_bytes] = '\0';
        at += (size_t)n_bytes + 1;
    }
    c->n_values = n;
    cofi_encoder_free(&names);
}

static cof_status get_cut(cof_schema *s, cofi_reader *r, size_t column, cof_error *err)
{
    cof_table whole = cofi_schema_whole(s);
    uint32_t n = cofi_get_u32(r);
    cof_status status = COF_OK;
    if (n == NO_CUT || r->failed) return COF_OK;
    if (n > (r->n - r->at) / sizeof(double)) {
        r->failed = true;
        return COF_OK;
    }
    double *edge = cofi_alloc(&s->table.env, (size_t)n + 1, sizeof *edge);
    if (edge == NULL) return cofi_no_memory(err);
    for (uint32_t e = 0; e < n; e++) {
        edge[e] = cofi_get_f64(r);
        r->failed |= !isfinite(edge[e]) || (e > 0 && edge[e] <= edge[e - 1]);
    }
    if (!r->failed) status = cofi_table_cut_at(&whole, column, edge, n, err);
    const cofi_cut *cut = s->table.column[column].cut;
    r->failed |= cut == NULL || cut->n_edges != n; /* the values are no numbers, or a bin is empty */
    cofi_release(&s->table.env, edge);
    return status == COF_ERR_MEMORY ? status : COF_OK;
}

static cof_status get_column(cof_schema *s, cofi_reader *r, size_t column, cof_error *err)
{
    cofi_column *c = &s->table.column[column];
    const cof_env *env = &s->table.env;
    bool short_of_memory = false;
    uint64_t rows = 0;
    c->name = copy_text(env, r, &short_of_memory);
    c->role = (int32_t)cofi_get_u32(r);
    c->ordinal = cofi_get_u8(r);
    c->n_missing = cofi_get_u64(r);
    c->first_missing = cofi_get_u64(r);
    c->missing_text = copy_text(env, r, &short_of_memory);
    if (!short_of_memory) get_values(env, r, c, &rows, &short_of_memory);
    if (short_of_memory) return cofi_no_memory(err);
    r->failed |= c->role < COF_ROLE_ATTRIBUTE || c->role > COF_ROLE_NUMERIC || c->ordinal > 1 ||
                 c->n_missing > s->n_rows || rows != s->n_rows - c->n_missing ||
                 (c->n_missing == 0) != (c->first_missing == COFI_NO_ROW);
    return r->failed ? COF_OK : get_cut(s, r, column, err);
}

static cof_status read_columns(cof_schema *s, cofi_reader *r, cof_error *err)
{
    for (size_t c = 0; c < s->table.n_columns && !r->failed; c++) COFI_TRY(get_column(s, r, c, err));
    size_t first, second = 0, n = s->table.n_columns;
    r->failed |= r->at != r->n;
    if (!r->failed && cofi_names_repeated(&s->table.env, &s->table.column->name, sizeof *s->table.column, n,
                                          &first, &second) != COF_OK)
        return cofi_no_memory(err);
    if (!r->failed && second == n) return COF_OK;
    return cofi_fail(err, COF_ERR_DATA, "the schema contradicts itself; write it again from the table");
}

cof_status cof_schema_read(const cof_env *lent, const void *bytes, size_t n_bytes, cof_schema **out,
                           cof_error *err)
{
    enum { HEAD_BYTES = 24, LEAST_BYTES = 41 }; /* of a column */
    cof_env env = cofi_env_resolve(lent);
    cofi_reader r = {.bytes = bytes, .n = n_bytes};
    const unsigned char *head = cofi_get_bytes(&r, sizeof magic - 1);
    if (head == NULL || memcmp(head, magic, sizeof magic - 1) != 0 || n_bytes < HEAD_BYTES + END_BYTES)
        return cofi_fail(err, COF_ERR_DATA, "these bytes are not a schema");
    uint32_t version = cofi_get_u32(&r);
    if (version > VERSION)
        return cofi_fail(err, COF_ERR_TOO_NEW,
                         "the schema has format %u, but this library knows formats up to %d; use a newer one",
                         version, VERSION);
    cofi_reader end = {.bytes = bytes, .n = n_bytes, .at = n_bytes - END_BYTES};
    if (version == 0 || cofi_get_u64(&end) != cofi_checksum(bytes, n_bytes - END_BYTES))
        return cofi_fail(err, COF_ERR_DATA, "the schema is damaged: its checksum is wrong");
    r.n -= END_BYTES;
    uint64_t n_rows = cofi_get_u64(&r);
    uint32_t n_columns = cofi_get_u32(&r);
    if (n_rows > COFI_MOST_ROWS || n_columns > r.n / LEAST_BYTES)
        return cofi_fail(err, COF_ERR_DATA, "the schema names more rows or columns than it can have");
    COFI_TRY(cofi_schema_new(&env, n_columns, out, err));
    (*out)->n_rows = n_rows;
    cof_status status = read_columns(*out, &r, err);
    if (status == COF_OK) return COF_OK;
    cof_schema_free(*out);
    *out = NULL;
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
