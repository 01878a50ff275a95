/* Tables with hostile texts and options with any numbers, made from the bytes that a fuzz target is given. */
#ifndef COF_MAKE_INPUT_H
#define COF_MAKE_INPUT_H

#include "fuzz_helper.h"

enum { MOST_FITTED = 24, MOST_ATTRIBUTES = 6, TEXT_BYTES = 12 };

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static uint8_t take(bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

/* Mostly small, sometimes any number at all. */
static uint32_t take_number(bytes *b, uint32_t usual)
{
    uint8_t first = take(b);
    if (first < 0xF0) return first % usual;
    uint32_t number = 0;
    for (int i = 0; i < 4; i++) number = number << 8 | take(b);
    return number;
}

/* A text of few kinds, so that rows have something in common, of characters that formats care about. */
static const char *take_text(bytes *b, char text[TEXT_BYTES])
{
    static const char *const pieces[] = {
        "a",   "b",  "<", "&",   "\"", "'",   "\\",           "]]>", "\n",    "\x1b[1m", "é",         "1",
        "2.5", "-3", "=", "1e5", " ",  "nan", "\xE2\x80\xAE", "日",  "12:30", "%s",      "2024-01-31"};
    size_t n = 0;
    for (uint8_t length = take(b) % 3; length > 0; length--) {
        const char *piece = pieces[take(b) % (sizeof pieces / sizeof *pieces)];
        if (n + strlen(piece) < TEXT_BYTES) n += (size_t)sprintf(text + n, "%s", piece);
    }
    text[n] = '\0';
    return text;
}

static cof_table *make_table(bytes *b, const cof_env *env)
{
    static char text[(MOST_FITTED + 1) * MOST_ATTRIBUTES][TEXT_BYTES];
    const char *cells[MOST_FITTED * MOST_ATTRIBUTES], *names[MOST_ATTRIBUTES];
    size_t n_rows = 1 + take(b) % MOST_FITTED, n_columns = 1 + take(b) % MOST_ATTRIBUTES, at = 0;
    for (size_t i = 0; i < n_rows * n_columns; i++, at++)
        cells[i] = take(b) % 16 == 15 ? NULL : take_text(b, text[at]);
    for (size_t c = 0; c < n_columns; c++, at++) names[c] = take_text(b, text[at]);
    cof_table *t = NULL;
    cof_error err = {""};
    cof_status status = cof_table_from_strings(env, cells, n_rows, n_columns, names, &t, &err);
    require(status == COF_OK || status == COF_ERR_DATA, err.text); /* two columns of one name */
    return status == COF_OK ? t : NULL;
}

/* Roles and cuts as they come; what is refused changes nothing. */
static void set_up(bytes *b, cof_table *t)
{
    for (size_t c = 0; c < cof_table_n_columns(t); c++) {
        uint8_t choice = take(b);
        cof_advice advice = {.struct_size = sizeof advice};
        (void)cof_column_advise(t, c, choice % 5, &advice, NULL);
        if (choice % 4 == 1) (void)cof_table_set_role(t, c, (int32_t)(choice / 4 % 8), NULL);
        cof_cut_options cut = {.struct_size = sizeof cut, .bins = take_number(b, 20)};
        if (choice % 4 == 2) (void)cof_table_cut(t, c, &cut, NULL);
    }
}

static cof_fit_options choose(bytes *b, uint64_t *rows, double *weights)
{
    cof_fit_options o = {.struct_size = sizeof o, .threads = 1};
    o.k = take_number(b, 6);
    o.restarts = 1 + take(b) % 4;
    o.seed = take(b);
    o.variant = (int32_t)take_number(b, 3);
    o.init = (int32_t)take_number(b, 8);
    o.select = (int32_t)take_number(b, 5);
    o.missing = (int32_t)take_number(b, 5);
    o.max_rebuilds = take_number(b, 6);
    o.max_passes = take_number(b, 6);
    o.method = take(b) % 2 == 0 ? NULL : cof_method_name(take(b) % (cof_method_count() + 1));
    for (size_t i = 0; i < MOST_FITTED; i++) {
        static const double odd[] = {0, 1, 2.5, 1e-300, 1e299, -1, 1e308};
        rows[i] = take(b) % 32;
        weights[i] = odd[take(b) % 7];
    }
    uint8_t given = take(b);
    if (given % 8 == 1 && o.k <= MOST_FITTED) o.init_rows = rows;
    if (given / 8 % 8 == 1) o.weights = weights;
    return o;
}

#endif
