/* Bins of equal frequency from a column's dictionary and the counts of its values:
 *
 * bin(v) = floor(M (rows below v + half of the rows equal to v) / rows with a value)
 *
 * Equal values share a bin, empty bins are removed, and an edge is the midpoint between neighbouring
 * values. */
#include "cut.h"

#include "../core/bytes.h"
#include "recognise.h"
#include "sort_keys.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_BINS = 16, MOST_BINS = 4096, MOST_NAME = 2 * COFI_POINT_BYTES + 4, SHORT_TEXT = 10 };

void cofi_cut_free(const cof_env *env, cofi_cut *cut)
{
    if (cut == NULL) return;
    COFI_RELEASE_ALL(env, cut->edge, cut);
}

bool cofi_cut_equal(const cofi_cut *a, const cofi_cut *b)
{
    if (a->n_edges != b->n_edges || a->reading.line != b->reading.line) return false;
    for (uint32_t e = 0; e < a->n_edges; e++)
        if (a->edge[e] != b->edge[e]) return false;
    return true;
}

/* ---- Points in order ------------------------------------------------------------------------------ */

/* Maps the bits of a double to an unsigned integer such that integers have the order of the numbers. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    x += 0.0; /* turns -0 into 0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double point_of(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- Edges of the bins ---------------------------------------------------------------------------- */

typedef struct cutting {
    const cof_env *env;
    cofi_blocks scratch; /* rows, order, least, most, bin */
    cofi_column *c;
    size_t n_rows;
    double *point;     /* per value id, and for the missing one */
    uint64_t *rows;    /* per value id; NULL: one each */
    cofi_keyed *order; /* the values that are points, sorted */
    uint32_t n_points; /* number of such values */
    uint64_t n_present;
    cofi_cut *cut;
    uint32_t *least, *most; /* per bin: its least and greatest value */
    uint16_t *bin;          /* per value id; missing has the bin after the last */
    bool by_month;          /* no two bins share a month, so that months name them */
} cutting;

/* The loops over rows, once for each width of codes, so that the compiler knows it. */
static inline void count_codes(const cofi_column *c, uint8_t width, size_t n_rows, uint64_t *rows)
{
    for (size_t i = 0; i < n_rows; i++) rows[cofi_code_at(c->codes, width, i)]++;
}

static inline void map_codes(const cofi_column *c, uint8_t width, size_t n_rows, const uint16_t *bin,
                             cofi_column *to)
{
    uint8_t *bytes = to->codes;
    uint16_t *pairs = to->codes;
    if (to->width == 1)
        for (size_t i = 0; i < n_rows; i++) bytes[i] = (uint8_t)bin[cofi_code_at(c->codes, width, i)];
    else
        for (size_t i = 0; i < n_rows; i++) pairs[i] = bin[cofi_code_at(c->codes, width, i)];
}

static void count_rows(cutting *k)
{
    const cofi_column *c = k->c;
    k->n_present = k->n_rows - c->n_missing;
    if (k->n_present == c->n_values) return; /* all values differ */
    k->rows = cofi_blocks_add_zero(&k->scratch, (size_t)c->n_values + 1, sizeof *k->rows);
    if (k->rows == NULL) return;
    if (c->rows_of != NULL)
        memcpy(k->rows, c->rows_of, c->n_values * sizeof *k->rows);
    else if (c->width == 1)
        count_codes(c, 1, k->n_rows, k->rows);
    else if (c->width == 2)
        count_codes(c, 2, k->n_rows, k->rows);
    else
        count_codes(c, 4, k->n_rows, k->rows);
}

static uint64_t rows_of(const cutting *k, uint32_t value)
{
    return k->rows != NULL ? k->rows[value] : 1;
}

static void sort_points(cutting *k)
{
    size_t n = k->c->n_values;
    cofi_keyed *spare = cofi_blocks_add(&k->scratch, n, sizeof *spare);
    uint32_t *count = cofi_blocks_add(&k->scratch, COFI_KEY_COUNTS, sizeof *count);
    k->order = cofi_blocks_add(&k->scratch, n, sizeof *k->order);
    if (k->scratch.short_of_memory) return;
    for (uint32_t v = 0; v < n; v++) {
        if (isnan(k->point[v]))
            k->n_present -= rows_of(k, v);
        else
            k->order[k->n_points++] = (cofi_keyed){key_of(k->point[v]), v};
    }
    if (k->n_points > 0) k->order = cofi_sort_keys(k->order, spare, k->n_points, count);
}

/* The midpoint, strictly above a and at most b. Trailing digits that come from rounding
 * (4.1999999999999993 for 4.2) are removed if the result is still between a and b. */
static double between(double a, double b)
{
    char text[32];
    double middle = a / 2 + b / 2;
    snprintf(text, sizeof text, "%.15g", middle);
    double shorter = strtod(text, NULL);
    if (shorter > a && shorter <= b) return shorter;
    return middle > a && middle <= b ? middle : b;
}

static void find_edges(cutting *k, uint32_t bins)
{
    uint64_t below = 0;
    uint32_t last = UINT32_MAX;
    for (uint32_t i = 0; i < k->n_points;) {
        uint64_t equal = 0;
        uint32_t next = i;
        for (; next < k->n_points && k->order[next].key == k->order[i].key; next++)
            equal += rows_of(k, k->order[next].id);
        uint32_t bin = (uint32_t)(((2 * below + equal) * bins) / (2 * k->n_present));
        if (last != UINT32_MAX && bin != last)
            k->cut->edge[k->cut->n_edges++] =
                between(point_of(k->order[i - 1].key), point_of(k->order[i].key));
        last = bin;
        below += equal;
        i = next;
    }
}

/* Drops edges that would leave a bin without values: the upper edge of such a bin, or the lower edge of
 * the last one. */
static void keep_edges(cutting *k, const double *edge, size_t n)
{
    uint32_t at = 0;
    for (size_t e = 0; e < n; e++) {
        uint32_t before = at;
        while (at < k->n_points && point_of(k->order[at].key) < edge[e]) at++;
        if (at > before && at < k->n_points) k->cut->edge[k->cut->n_edges++] = edge[e];
    }
}

/* ---- Names ---------------------------------------------------------------------------------------- */

/* Walks the values in their order, so that no edge is looked for twice. */
static cof_status place_values(cutting *k)
{
    uint32_t n_bins = k->cut->n_edges + 1, bin = 0;
    k->least = cofi_blocks_add(&k->scratch, n_bins, sizeof *k->least);
    k->most = cofi_blocks_add(&k->scratch, n_bins, sizeof *k->most);
    k->bin = cofi_blocks_add(&k->scratch, (size_t)k->c->n_values + 1, sizeof *k->bin);
    COFI_TRY(cofi_blocks_status(&k->scratch, NULL));
    if (k->n_points < k->c->n_values)
        for (uint32_t v = 0; v < k->c->n_values; v++) k->bin[v] = (uint16_t)n_bins;
    k->bin[k->c->n_values] = (uint16_t)n_bins;
    for (uint32_t i = 0; i < k->n_points; i++) {
        uint32_t before = bin, value = k->order[i].id;
        while (bin < k->cut->n_edges && k->cut->edge[bin] <= k->point[value]) bin++;
        if (i == 0 || bin != before) k->least[bin] = value;
        k->most[bin] = value;
        k->bin[value] = (uint16_t)bin;
    }
    return COF_OK;
}

enum { MONTH_BYTES = 7, DAY_BYTES = 10 }; /* of 2024-03 and of 2024-03-31 */

/* Whether no two bins share a month: the last value of each lies in another one than the first value of the next. */
static bool months_differ(const cutting *k)
{
    bool differ = k->cut->reading.line == COFI_LINE_DATE && k->cut->n_edges > 0;
    for (uint32_t b = 1; differ && b <= k->cut->n_edges; b++) {
        char last[COFI_POINT_BYTES], first[COFI_POINT_BYTES];
        cofi_reading_show(&k->cut->reading, k->point[k->most[b - 1]], 17, last);
        cofi_reading_show(&k->cut->reading, k->point[k->least[b]], 17, first);
        differ =
            strlen(last) >= DAY_BYTES && last[MONTH_BYTES] == '-' && strncmp(last, first, MONTH_BYTES) != 0;
    }
    return differ;
}

/* The text of a value, or, if that is long, the fewest digits that keep it in its bin. */
static const char *name_end(const cutting *k, uint32_t value, char text[COFI_POINT_BYTES])
{
    const cofi_reading *r = &k->cut->reading;
    const char *whole = cofi_column_text(k->c, value);
    uint32_t bin = cofi_cut_bin(k->cut, k->point[value]);
    double shown;
    if (k->by_month) {
        cofi_reading_show(r, k->point[value], 17, text);
        text[MONTH_BYTES] = '\0';
        return text;
    }
    if (strlen(whole) <= SHORT_TEXT) return whole;
    if (r->line != COFI_LINE_NUMBER) return cofi_reading_show(r, k->point[value], 17, text);
    cofi_reading plain = *r;
    plain.decimal = '.';
    plain.thousands = '\0';
    for (int digits = 4; digits < 17; digits++) {
        cofi_reading_show(&plain, k->point[value], digits, text);
        if (cofi_reading_parse(&plain, text, &shown) && cofi_cut_bin(k->cut, shown) == bin) return text;
    }
    return cofi_reading_show(r, k->point[value], 17, text);
}

static cof_status name_bins(cutting *k, cofi_column *to)
{
    k->by_month = months_differ(k);
    size_t at = 0;
    to->n_values = k->cut->n_edges + 1;
    to->offset = cofi_alloc(k->env, to->n_values, sizeof *to->offset);
    to->text = cofi_alloc(k->env, to->n_values, MOST_NAME);
    to->missing_text = cofi_copy_text(k->env, k->c->missing_text, strlen(k->c->missing_text));
    if (to->offset == NULL || to->text == NULL || to->missing_text == NULL) return COF_ERR_MEMORY;
    for (uint32_t bin = 0; bin < to->n_values; bin++) {
        char low[COFI_POINT_BYTES], high[COFI_POINT_BYTES];
        const char *a = name_end(k, k->least[bin], low), *b = name_end(k, k->most[bin], high);
        to->offset[bin] = at;
        bool one = strcmp(a, b) == 0;
        at += (size_t)snprintf(to->text + at, MOST_NAME, "%.*s%s%.*s", COFI_POINT_BYTES, a, one ? "" : "..",
                               COFI_POINT_BYTES, one ? "" : b);
        at++;
    }
    return COF_OK;
}

/* ---- Rows ----------------------------------------------------------------------------------------- */

/* In a schema only the counts are added up. */
static cof_status recode(const cutting *k, cofi_column *to)
{
    const cofi_column *c = k->c;
    to->width = to->n_values < UINT8_MAX ? 1 : 2;
    to->n_missing = k->n_rows - k->n_present;
    if (c->rows_of != NULL) {
        to->rows_of = cofi_alloc_zero(k->env, (size_t)to->n_values + 1, sizeof *to->rows_of);
        if (to->rows_of == NULL) return COF_ERR_MEMORY;
        for (uint32_t v = 0; v < c->n_values; v++) to->rows_of[k->bin[v]] += rows_of(k, v);
        return COF_OK;
    }
    to->codes = cofi_alloc_column(k->env, c->number, k->n_rows, to->width, &to->block);
    if (to->codes == NULL) return COF_ERR_MEMORY;
    if (c->width == 1) map_codes(c, 1, k->n_rows, k->bin, to);
    if (c->width == 2) map_codes(c, 2, k->n_rows, k->bin, to);
    if (c->width == 4) map_codes(c, 4, k->n_rows, k->bin, to);
    return COF_OK;
}

/* Replaces the column's values by its bins and keeps the column as uncut. */
static cof_status replace(cutting *k)
{
    cofi_column *c = k->c, made = {.name = c->name,
                                   .number = c->number,
                                   .role = c->role,
                                   .ordinal = 1,
                                   .first_missing = c->first_missing};
    made.uncut = cofi_alloc(k->env, 1, sizeof *made.uncut);
    cof_status status = made.uncut == NULL ? COF_ERR_MEMORY : place_values(k);
    if (status == COF_OK) status = name_bins(k, &made);
    if (status == COF_OK) status = recode(k, &made);
    if (status != COF_OK) {
        cofi_column_free_values(k->env, &made);
        cofi_release(k->env, made.uncut);
        return status;
    }
    cofi_column_forget(k->env, c);
    *made.uncut = *c;
    made.uncut->point = k->point;
    made.cut = k->cut;
    *c = made;
    k->point = NULL;
    k->cut = NULL;
    return COF_OK;
}

void cofi_column_uncut(const cof_env *env, cofi_column *c)
{
    if (c->cut == NULL) return;
    cofi_column *uncut = c->uncut;
    cofi_column_free_values(env, c);
    cofi_release(env, uncut->point);
    uncut->point = NULL;
    uncut->role = c->role;
    *c = *uncut;
    cofi_release(env, uncut);
}

/* ---- Calls from other files ----------------------------------------------------------------------- */

/* An edge is written as the column's values are, or in plain notation: 0.5, 2024-03-31. */
static bool parse_edge(const cofi_reading *r, const char *text, double *edge)
{
    cofi_reading plain = {.line = r->line, .decimal = '.', .order = COFI_DATE_YMD};
    return (cofi_reading_parse(r, text, edge) || cofi_reading_parse(&plain, text, edge)) && !isnan(*edge);
}

static cof_status parse_edges(const cutting *k, const cof_cut_options *o, double *edge, cof_error *err)
{
    for (size_t e = 0; e < o->n_edges; e++) {
        if (!parse_edge(&k->cut->reading, o->edges[e], &edge[e]))
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "column '%s' cannot be cut at '%s', which cannot be read as its values are",
                             k->c->name, o->edges[e]);
        if (e > 0 && edge[e] <= edge[e - 1])
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "column '%s' is to be cut at '%s' and then at '%s'; the edges must ascend",
                             k->c->name, o->edges[e - 1], o->edges[e]);
    }
    return COF_OK;
}

/* `given` are edges that are already numbers; NULL: the options say where to cut. */
static cof_status set_edges(cutting *k, const cof_cut_options *o, const double *given, cof_error *err)
{
    uint32_t bins = o->bins == 0 ? DEFAULT_BINS : o->bins;
    k->cut->edge = cofi_alloc(k->env, o->n_edges > 0 ? o->n_edges : bins, sizeof *k->cut->edge);
    double *edge = cofi_blocks_add(&k->scratch, o->n_edges, sizeof *edge);
    if (k->cut->edge == NULL || edge == NULL) return cofi_no_memory(err);
    if (given != NULL)
        keep_edges(k, given, o->n_edges);
    else if (o->n_edges == 0)
        find_edges(k, bins);
    else {
        COFI_TRY(parse_edges(k, o, edge, err));
        keep_edges(k, edge, o->n_edges);
    }
    return COF_OK;
}

/* The first value that is not a point; NULL: the column has no values. */
static const char *odd_value(const cofi_column *c)
{
    const cofi_reading number = {.line = COFI_LINE_NUMBER, .decimal = '.'};
    double point;
    for (uint32_t v = 0; v < c->n_values; v++)
        if (!cofi_reading_parse(&number, cofi_column_text(c, v), &point)) return cofi_column_text(c, v);
    return NULL;
}

static cof_status not_a_quantity(const cofi_column *c, bool unclear, cof_error *err)
{
    const char *odd = odd_value(c);
    if (unclear)
        return cofi_fail(err, COF_ERR_DATA,
                         "column '%s' cannot be cut: its dates can be read with the day first or the month "
                         "first; write them as 2024-03-31",
                         c->name);
    if (odd == NULL)
        return cofi_fail(err, COF_ERR_DATA, "column '%s' cannot be cut: it holds no number", c->name);
    return cofi_fail(
        err, COF_ERR_DATA,
        "column '%s' cannot be cut: it holds '%s', and its values as a whole are neither numbers "
        "nor dates",
        c->name, odd);
}

static cof_status read_points(cutting *k, cof_error *err)
{
    cofi_recognition r;
    k->point = cofi_recognise_points(k->env, k->c, &r);
    if (k->point == NULL) return cofi_no_memory(err);
    if (r.reading.line == COFI_LINE_NONE) return not_a_quantity(k->c, r.unclear, err);
    k->cut->reading = r.reading;
    return COF_OK;
}

static cof_status cut_column(cof_table *table, size_t column, cof_cut_options o, const double *edge,
                             cof_error *err)
{
    if (column >= table->n_columns)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no column number %zu; the table has %zu",
                         column + 1, table->n_columns);
    if (o.bins == 1 || o.bins > MOST_BINS || o.n_edges >= MOST_BINS)
        return cofi_fail(err, COF_ERR_ARGUMENT, "a quantity is cut into 2 to %d bins", MOST_BINS);
    cofi_column *c = &table->column[column];
    cofi_column_uncut(&table->env, c);
    cutting k = {.env = &table->env, .scratch = {.env = table->env}, .c = c, .n_rows = table->n_rows};
    k.cut = cofi_alloc_zero(k.env, 1, sizeof *k.cut);
    cof_status status = k.cut == NULL ? cofi_no_memory(err) : read_points(&k, err);
    if (status == COF_OK) {
        count_rows(&k);
        sort_points(&k);
        status = cofi_blocks_status(&k.scratch, err);
    }
    if (status == COF_OK) status = set_edges(&k, &o, edge, err);
    if (status == COF_OK && replace(&k) != COF_OK) status = cofi_no_memory(err);
    cofi_release(k.env, k.point);
    cofi_blocks_release(&k.scratch);
    cofi_cut_free(k.env, k.cut);
    return status;
}

cof_status cof_table_cut(cof_table *table, size_t column, const cof_cut_options *given, cof_error *err)
{
    cof_cut_options o;
    COFI_COPY_OPTIONS(&o, given);
    return cut_column(table, column, o, NULL, err);
}

cof_status cofi_table_cut_at(cof_table *table, size_t column, const double *edge, uint32_t n_edges,
                             cof_error *err)
{
    return cut_column(table, column, (cof_cut_options){.n_edges = n_edges}, edge, err);
}

const double *cof_table_edges(const cof_table *table, size_t column, size_t *n_edges)
{
    const cofi_cut *cut = column < table->n_columns ? table->column[column].cut : NULL;
    if (n_edges != NULL) *n_edges = cut != NULL ? cut->n_edges : 0;
    return cut != NULL ? cut->edge : NULL;
}

static void put_text(cofi_writer *w, const char *text)
{
    cofi_put_bytes(w, text, strlen(text));
}

static void put_cut(cofi_writer *w, const cofi_column *c)
{
    char text[COFI_POINT_BYTES];
    cofi_reading plain = {.line = c->cut->reading.line, .decimal = '.'};
    put_text(w, c->name);
    for (uint32_t e = 0; e < c->cut->n_edges; e++) {
        put_text(w, e == 0 ? "=" : ",");
        if (plain.line == COFI_LINE_NUMBER)
            cofi_number_write(c->cut->edge[e], text);
        else
            cofi_reading_show(&plain, c->cut->edge[e], 17, text);
        put_text(w, text);
    }
    put_text(w, "\n");
}

cof_status cof_table_write_cuts(const cof_table *table, cof_sink sink, void *ctx, cof_error *err)
{
    cofi_writer w = {.env = table->env};
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->column[c].cut != NULL && table->column[c].cut->n_edges > 0) put_cut(&w, &table->column[c]);
    return cofi_writer_send(&w, sink, ctx, "the list of cuts", err);
}
