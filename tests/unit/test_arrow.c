/* Tables from Arrow arrays built by hand: every layout, every refusal, every failing allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "alloc_helper.h"
#include "unit_helper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_COLUMNS = 4, MOST_BUFFERS = 6 };

/* A struct array with its columns, all on the stack; releasing counts and frees nothing. */
typedef struct frame {
    struct ArrowSchema schema, column_schema[MOST_COLUMNS], *schemas[MOST_COLUMNS];
    struct ArrowArray array, column[MOST_COLUMNS], *columns[MOST_COLUMNS];
    const void *validity, *buffers[MOST_COLUMNS][MOST_BUFFERS];
    struct ArrowSchema value_schema;
    struct ArrowArray value;
    const void *value_buffers[MOST_BUFFERS];
    int n_released;
} frame;

static void release_schema(struct ArrowSchema *schema)
{
    if (schema->private_data != NULL) ++*(int *)schema->private_data;
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    if (array->private_data != NULL) ++*(int *)array->private_data;
    array->release = NULL;
}

static void start_frame(frame *f, int64_t n_rows)
{
    memset(f, 0, sizeof *f);
    f->schema = (struct ArrowSchema){.format = "+s", .name = "", .children = f->schemas};
    f->schema.release = release_schema;
    f->array = (struct ArrowArray){.length = n_rows, .n_buffers = 1, .buffers = &f->validity};
    f->array.children = f->columns;
    f->array.release = release_array;
    f->array.private_data = &f->n_released;
}

/* One more column of as many rows as the struct; the buffers after validity are given up to a NULL. */
static struct ArrowArray *add_column(frame *f, const char *name, const char *format, int64_t null_count,
                                     const void *validity, ...)
{
    int64_t c = f->schema.n_children++;
    f->array.n_children++;
    f->column_schema[c] = (struct ArrowSchema){.format = format, .name = name, .release = release_schema};
    f->schemas[c] = &f->column_schema[c];
    f->column[c] = (struct ArrowArray){.length = f->array.length, .null_count = null_count};
    f->column[c].buffers = f->buffers[c];
    f->column[c].release = release_array;
    f->columns[c] = &f->column[c];
    va_list more;
    va_start(more, validity);
    int64_t n = 0;
    for (const void *buffer = validity; n == 0 || buffer != NULL; buffer = va_arg(more, const void *))
        f->buffers[c][n++] = buffer;
    va_end(more);
    f->column[c].n_buffers = n;
    return &f->column[c];
}

/* Makes the last column a dictionary of n values. */
static void add_dictionary(frame *f, const char *format, int64_t n, int64_t n_buffers, const void *validity,
                           const void *values, const void *text)
{
    int64_t c = f->schema.n_children - 1;
    f->value_schema = (struct ArrowSchema){.format = format, .release = release_schema};
    f->column_schema[c].dictionary = &f->value_schema;
    f->value_buffers[0] = validity;
    f->value_buffers[1] = values;
    f->value_buffers[2] = text;
    f->value = (struct ArrowArray){.length = n, .n_buffers = n_buffers, .buffers = f->value_buffers};
    f->value.null_count = validity != NULL ? -1 : 0;
    f->value.release = release_array;
    f->column[c].dictionary = &f->value;
}

static cof_table *import(const frame *f)
{
    cof_table *table = NULL;
    cof_error err;
    if (cof_table_from_arrow(NULL, &f->schema, &f->array, &table, &err) != COF_OK) fail_msg("%s", err.text);
    return table;
}

static void refuse(const frame *f, cof_status status, const char *part)
{
    cof_table *table = NULL;
    cof_error err = {""};
    assert_int_equal(cof_table_from_arrow(NULL, &f->schema, &f->array, &table, &err), status);
    assert_null(table);
    if (strstr(err.text, part) == NULL) fail_msg("\"%s\" does not contain \"%s\"", err.text, part);
}

/* Cells in one line, "-" for a missing one; then "; " and the dictionary. */
static void assert_column(const cof_table *table, size_t column, const char *wanted)
{
    char line[1000] = "";
    cof_column view = {.struct_size = sizeof view};
    assert_int_equal(cof_table_column(table, column, &view), COF_OK);
    for (size_t i = 0; i < cof_table_n_rows(table); i++) {
        uint32_t code = cof_table_code(table, i, column);
        strcat(line, i > 0 ? " " : "");
        strcat(line, code < view.n_values ? cof_table_value(table, column, code) : "-");
    }
    strcat(line, ";");
    for (uint32_t v = 0; v < view.n_values; v++) strcat(strcat(line, " "), cof_table_value(table, column, v));
    assert_string_equal(line, wanted);
}

static void assert_import(const frame *f, const char *wanted)
{
    cof_table *table = import(f);
    assert_column(table, 0, wanted);
    cof_table_free(table);
}

/* ---- Layouts ---------------------------------------------------------------------------------------- */

static void integers_of_every_width(void **state)
{
    (void)state;
    const int8_t c[] = {-128, 127, 0};
    const uint8_t uc[] = {255, 0, 128};
    const int16_t s[] = {-32768, 32767, 5};
    const uint16_t us[] = {65535, 0, 5};
    const int32_t i[] = {INT32_MIN, INT32_MAX, -1};
    const uint32_t ui[] = {UINT32_MAX, 0, 10};
    const int64_t l[] = {INT64_MIN, INT64_MAX, 0};
    const uint64_t ul[] = {UINT64_MAX, 0, 2};
    const struct {
        const char *format;
        const void *values;
        const char *wanted;
    } cases[] = {
        {"c", c, "-128 127 0; -128 0 127"},
        {"C", uc, "255 0 128; 0 128 255"},
        {"s", s, "-32768 32767 5; -32768 5 32767"},
        {"S", us, "65535 0 5; 0 5 65535"},
        {"i", i, "-2147483648 2147483647 -1; -2147483648 -1 2147483647"},
        {"I", ui, "4294967295 0 10; 0 10 4294967295"},
        {"l", l, "-9223372036854775808 9223372036854775807 0; -9223372036854775808 0 9223372036854775807"},
        {"L", ul, "18446744073709551615 0 2; 0 2 18446744073709551615"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        frame f;
        start_frame(&f, 3);
        add_column(&f, "x", cases[k].format, 0, NULL, cases[k].values, NULL);
        assert_import(&f, cases[k].wanted);
    }
}

static void floats_dates_and_times(void **state)
{
    (void)state;
    const uint16_t e[] = {0x3C00, 0x7E00, 0xB555}, least[] = {0, 0x0001, 0x7C00};
    const float f4[] = {0.1f, NAN, -2};
    const double g[] = {0.1, 1e-5, INFINITY};
    const int32_t day[] = {0, -1, 19782};
    const int64_t ms[] = {86400000, 1500, -1}, tenths[] = {100, 0, 1250}, stamp[] = {1711889999, 0, -86400};
    const int64_t ns[] = {1000000001, 0, -1};
    const int32_t seconds[] = {34200, 0, 86399};
    const struct {
        const char *format;
        const void *values;
        const char *wanted;
    } cases[] = {{"e", e, "1 - -0.33325195; -0.33325195 1"},
                 {"e", least, "0 5.9604645e-08 inf; 0 5.9604645e-08 inf"},
                 {"f", f4, "0.1 - -2; -2 0.1"},
                 {"g", g, "0.1 1e-05 inf; 0.1 1e-05 inf"},
                 {"tdD", day, "1970-01-01 1969-12-31 2024-02-29; 1969-12-31 1970-01-01 2024-02-29"},
                 {"tts", seconds, "09:30 00:00 23:59:59; 00:00 09:30 23:59:59"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        frame f;
        start_frame(&f, 3);
        add_column(&f, "x", cases[k].format, 0, NULL, cases[k].values, NULL);
        assert_import(&f, cases[k].wanted);
    }
    const struct {
        const char *format;
        const int64_t *values;
        const char *first, *last;
    } stamps[] = {
        {"tdm", ms, "1970-01-02", "1969-12-31 23:59:59.999"},
        {"tsm:", tenths, "1970-01-01 00:00:00.1", "1970-01-01 00:00:01.25"}, /* as in every other unit */
        {"tss:", stamp, "2024-03-31 12:59:59", "1969-12-31"},
        {"tsn:Europe/Berlin", ns, "1970-01-01 00:00:01.000000001", "1969-12-31 23:59:59.999999999"}};
    for (size_t k = 0; k < sizeof stamps / sizeof *stamps; k++) {
        frame f;
        start_frame(&f, 3);
        add_column(&f, "x", stamps[k].format, 0, NULL, stamps[k].values, NULL);
        cof_table *table = import(&f);
        assert_string_equal(cof_table_value(table, 0, cof_table_code(table, 0, 0)), stamps[k].first);
        assert_string_equal(cof_table_value(table, 0, cof_table_code(table, 2, 0)), stamps[k].last);
        cof_table_free(table);
    }
}

/* Numbers that share a remainder push each other out of the memo. */
static void many_integers(void **state)
{
    (void)state;
    int32_t numbers[2000];
    for (int i = 0; i < 2000; i++) numbers[i] = (i * 7919) % 1000;
    frame f;
    start_frame(&f, 2000);
    add_column(&f, "x", "i", 0, NULL, numbers, NULL);
    cof_table *table = import(&f);
    for (size_t i = 0; i < 2000; i++) assert_int_equal(cof_table_code(table, i, 0), numbers[i]);
    cof_table_free(table);
}

static void booleans_and_nulls(void **state)
{
    (void)state;
    const uint8_t bits[] = {0x0A}, validity[] = {0x0B};
    frame f;
    start_frame(&f, 4);
    add_column(&f, "b", "b", 1, validity, bits, NULL);
    add_column(&f, "n", "n", 4, NULL, NULL)->n_buffers = 0;
    cof_table *table = import(&f);
    assert_column(table, 0, "false true - true; false true");
    assert_column(table, 1, "- - - -;");
    cof_column view = {.struct_size = sizeof view};
    cof_table_column(table, 1, &view);
    assert_int_equal(view.n_missing, 4);
    assert_string_equal(view.missing_text, "");
    cof_table_free(table);
}

static void plain_and_large_text(void **state)
{
    (void)state;
    const int32_t offsets[] = {0, 1, 1, 4, 6};
    const int64_t large[] = {0, 1, 1, 4, 6};
    const uint8_t validity[] = {0x0D};
    const char text[] = "bxyz\xC3\xA9";
    const char *formats[] = {"u", "U", "z", "Z"};
    for (int k = 0; k < 4; k++) {
        frame f;
        start_frame(&f, 4);
        add_column(&f, "x", formats[k], -1, validity, k % 2 ? (const void *)large : offsets, text, NULL);
        assert_import(&f, "b - xyz \xC3\xA9; b xyz \xC3\xA9");
    }
}

static void empty_text_is_a_value(void **state)
{
    (void)state;
    const int32_t offsets[] = {0, 0, 0};
    frame f;
    start_frame(&f, 2);
    add_column(&f, "x", "u", 0, NULL, offsets, "", NULL);
    f.buffers[0][2] = NULL; /* no bytes, no buffer */
    cof_table *table = import(&f);
    cof_column view = {.struct_size = sizeof view};
    cof_table_column(table, 0, &view);
    assert_int_equal(view.n_values, 1);
    assert_int_equal(view.n_missing, 0);
    cof_table_free(table);
}

typedef struct text_view {
    int32_t length;
    union {
        char text[12];
        struct {
            char prefix[4];
            int32_t buffer, offset;
        } far;
    } u;
} text_view;

static void text_views(void **state)
{
    (void)state;
    const text_view views[] = {{12, {.text = "twelve bytes"}},
                               {13, {.far = {"thir", 1, 2}}},
                               {0, {.text = ""}},
                               {20, {.far = {"long", 0, 0}}}};
    const int64_t sizes[] = {20, 15};
    const uint8_t validity[] = {0x0B};
    for (int k = 0; k < 2; k++) {
        frame f;
        start_frame(&f, 4);
        add_column(&f, "x", k ? "vz" : "vu", 1, validity, views, "long text of 20 byte", "..thirteen byte",
                   sizes, NULL);
        assert_import(&f, "twelve bytes thirteen byte - long text of 20 byte; "
                          "long text of 20 byte thirteen byte twelve bytes");
    }
}

static void only_short_views_need_no_buffers(void **state)
{
    (void)state;
    const text_view views[] = {{1, {.text = "b"}}, {1, {.text = "a"}}};
    frame f;
    start_frame(&f, 2);
    add_column(&f, "x", "vu", 0, NULL, views, NULL)->n_buffers = 3;
    assert_import(&f, "b a; a b");
}

/* Row i of the struct is element child.offset + struct.offset + i of the buffers. */
static void offsets_of_struct_and_columns_add_up(void **state)
{
    (void)state;
    const int16_t numbers[] = {99, 99, 99, 1, 2, 3};
    const uint8_t validity[] = {0x28}; /* elements 3 and 5 */
    const int32_t offsets[] = {0, 3, 4, 5, 6};
    const uint8_t rows[] = {0x06}; /* of the struct, from its element 0: 1 and 2 are there, 3 is not */
    frame f;
    start_frame(&f, 3);
    add_column(&f, "n", "s", 1, validity, numbers, NULL);
    add_column(&f, "t", "u", 0, NULL, offsets, "zzzabc", NULL);
    f.array.offset = 1;
    f.column[0].offset = 2;
    f.column[0].length = f.column[1].length = 4;
    cof_table *table = import(&f);
    assert_column(table, 0, "1 - 3; 1 3");
    assert_column(table, 1, "a b c; a b c");
    cof_table_free(table);
    f.validity = rows;
    f.array.null_count = -1;
    table = import(&f);
    assert_column(table, 0, "1 - -; 1");
    assert_column(table, 1, "a b -; a b");
    cof_table_free(table);
}

static void dictionaries_of_every_index(void **state)
{
    (void)state;
    const int8_t i1[] = {2, 0, 1, 0};
    const int16_t i2[] = {2, 0, 1, 0};
    const int32_t i4[] = {2, 0, 1, 0}, offsets[] = {0, 1, 2, 3};
    const int64_t i8[] = {2, 0, 1, 0};
    const void *indices[] = {i1, i1, i2, i2, i4, i4, i8, i8};
    const uint8_t validity[] = {0x07};
    for (int k = 0; k < 8; k++) {
        char format[2] = {"cCsSiIlL"[k], '\0'};
        frame f;
        start_frame(&f, 4);
        add_column(&f, "x", format, 1, validity, indices[k], NULL);
        add_dictionary(&f, "u", 3, 3, NULL, offsets, "cab");
        assert_import(&f, "b c a -; a b c");
    }
}

static void dictionaries_of_every_value(void **state)
{
    (void)state;
    const int8_t indices[] = {0, 1, 0};
    const int64_t numbers[] = {-5, 70}, offsets[] = {0, 1, 2};
    const uint8_t bits[] = {0x01};
    const text_view views[] = {{1, {.text = "q"}}, {1, {.text = "p"}}};
    frame f;
    start_frame(&f, 3);
    add_column(&f, "x", "c", 0, NULL, indices, NULL);
    add_dictionary(&f, "l", 2, 2, NULL, numbers, NULL);
    assert_import(&f, "-5 70 -5; -5 70");
    add_dictionary(&f, "b", 2, 2, NULL, bits, NULL);
    assert_import(&f, "true false true; false true");
    add_dictionary(&f, "U", 2, 3, NULL, offsets, "yx");
    assert_import(&f, "y x y; x y");
    add_dictionary(&f, "vu", 2, 3, NULL, views, NULL);
    assert_import(&f, "q p q; p q");
    add_dictionary(&f, "n", 2, 0, NULL, NULL, NULL);
    assert_import(&f, "- - -;");
}

/* Bytes are looked up many rows at a time; the table is the one that wide indices give, the complaint too. */
static void many_rows_of_byte_indices(void **state)
{
    (void)state;
    enum { ROWS = 10000 };
    static uint8_t bytes[ROWS];
    static int32_t wide[ROWS];
    int64_t numbers[256];
    uint8_t present[32];
    for (uint64_t round = 0; round < 40; round++) {
        cofi_rng rng = dice(round);
        bool is_signed = round % 2 == 0, null_values = round % 4 > 1, bad = round % 5 == 0;
        int64_t most = is_signed ? 128 : 256, n = round < 10 ? most : 1 + (int64_t)below(&rng, (size_t)most);
        size_t n_rows = round % 3 == 0 ? (size_t)(4096 * (1 + round % 2)) : 1 + below(&rng, ROWS);
        for (int64_t v = 0; v < n; v++) numbers[v] = (int64_t)below(&rng, 400) - 200; /* some of them equal */
        for (size_t b = 0; b < sizeof present; b++) present[b] = (uint8_t)below(&rng, 256);
        for (size_t i = 0; i < n_rows; i++) wide[i] = bytes[i] = (uint8_t)below(&rng, (uint64_t)n);
        if (bad && n < 256) {
            size_t row = below(&rng, n_rows);
            bytes[row] = (uint8_t)n; /* past the values, or negative */
            wide[row] = is_signed ? (int8_t)bytes[row] : bytes[row];
        }
        frame f, g;
        start_frame(&f, (int64_t)n_rows);
        add_column(&f, "x", is_signed ? "c" : "C", 0, NULL, bytes, NULL);
        add_dictionary(&f, "l", n, 2, null_values ? present : NULL, numbers, NULL);
        start_frame(&g, (int64_t)n_rows);
        add_column(&g, "x", "i", 0, NULL, wide, NULL);
        add_dictionary(&g, "l", n, 2, null_values ? present : NULL, numbers, NULL);
        cof_table *a = NULL, *b = NULL;
        cof_error ours = {""}, slow = {""};
        cof_status status = cof_table_from_arrow(NULL, &f.schema, &f.array, &a, &ours);
        assert_int_equal(cof_table_from_arrow(NULL, &g.schema, &g.array, &b, &slow), status);
        assert_int_equal(status == COF_OK, !(bad && n < 256));
        assert_string_equal(ours.text, slow.text);
        if (status != COF_OK) continue;
        cof_column one = {.struct_size = sizeof one}, other = {.struct_size = sizeof other};
        assert_int_equal(cof_table_column(a, 0, &one), COF_OK);
        assert_int_equal(cof_table_column(b, 0, &other), COF_OK);
        assert_int_equal(one.n_values, other.n_values);
        assert_int_equal(one.n_missing, other.n_missing);
        for (size_t i = 0; i < n_rows; i++)
            assert_int_equal(cof_table_code(a, i, 0), cof_table_code(b, i, 0));
        for (uint32_t v = 0; v < one.n_values; v++)
            assert_string_equal(cof_table_value(a, 0, v), cof_table_value(b, 0, v));
        cof_table_free(a);
        cof_table_free(b);
    }
}

static void null_in_a_dictionary_is_missing(void **state)
{
    (void)state;
    const uint8_t indices[] = {0, 1, 2, 1}, validity[] = {0x05 << 1};
    const int32_t offsets[] = {0, 9, 10, 11, 12};
    frame f;
    start_frame(&f, 4);
    add_column(&f, "x", "C", 0, NULL, indices, NULL);
    add_dictionary(&f, "u", 3, 3, validity, offsets, ".........b?a");
    f.value.offset = 1;
    assert_import(&f, "b - a -; a b");
}

static void unused_dictionary_values_are_dropped(void **state)
{
    (void)state;
    const uint8_t indices[] = {3, 1};
    const int32_t offsets[] = {0, 1, 2, 3, 4};
    frame f;
    start_frame(&f, 2);
    add_column(&f, "x", "C", 0, NULL, indices, NULL);
    add_dictionary(&f, "u", 4, 3, NULL, offsets, "abcd");
    assert_import(&f, "d b; b d");
}

static void ordered_dictionary_keeps_its_order(void **state)
{
    (void)state;
    const int32_t indices[] = {2, 0, 1}, offsets[] = {0, 3, 6, 10};
    frame f;
    start_frame(&f, 3);
    add_column(&f, "x", "i", 0, NULL, indices, NULL);
    add_dictionary(&f, "u", 3, 3, NULL, offsets, "lowmidhigh");
    f.column_schema[0].flags = ARROW_FLAG_DICTIONARY_ORDERED;
    cof_table *table = import(&f);
    assert_column(table, 0, "high low mid; low mid high");
    cof_column view = {.struct_size = sizeof view};
    cof_table_column(table, 0, &view);
    assert_true(view.ordinal);
    cof_table_free(table);
    f.column_schema[0].flags = ARROW_FLAG_NULLABLE;
    table = import(&f);
    assert_column(table, 0, "high low mid; high low mid");
    cof_table_column(table, 0, &view);
    assert_false(view.ordinal);
    cof_table_free(table);
}

static void names(void **state)
{
    (void)state;
    const int8_t numbers[] = {1, 2};
    frame f;
    start_frame(&f, 2);
    add_column(&f, NULL, "c", 0, NULL, numbers, NULL);
    add_column(&f, "given", "c", 0, NULL, numbers, NULL);
    add_column(&f, "", "c", 0, NULL, numbers, NULL);
    cof_table *table = import(&f);
    assert_int_equal(cof_table_find(table, "column1"), 0);
    assert_int_equal(cof_table_find(table, "given"), 1);
    assert_int_equal(cof_table_find(table, "column3"), 2);
    cof_table_free(table);
    f.column_schema[2].name = "given";
    refuse(&f, COF_ERR_DATA, "\"given\" occurs twice");
    f.column_schema[2].name = "column1";
    refuse(&f, COF_ERR_DATA, "\"column1\" occurs twice");
    f.column_schema[2].name = "\xFF";
    refuse(&f, COF_ERR_DATA, "column 3 (from 1) is not valid UTF-8");
}

static void buffers_need_no_alignment(void **state)
{
    (void)state;
    char bytes[64];
    const int64_t numbers[] = {40, -50};
    memcpy(bytes + 1, numbers, sizeof numbers);
    frame f;
    start_frame(&f, 2);
    add_column(&f, "x", "l", 0, NULL, bytes + 1, NULL);
    assert_import(&f, "40 -50; -50 40");
}

/* ---- Refusals --------------------------------------------------------------------------------------- */

static void types_that_are_no_categories(void **state)
{
    (void)state;
    const struct {
        const char *format, *part;
    } cases[] = {{"d:10,2", "decimal numbers (format \"d:10,2\")"},
                 {"tDs", "durations or intervals"},
                 {"+l", "nested"},
                 {"+s", "nested"},
                 {"w:16", "fixed-size binary"},
                 {"", "unknown type"},
                 {"uu", "cast it to string"}};
    const int8_t numbers[] = {0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        frame f;
        start_frame(&f, 1);
        add_column(&f, "price", cases[k].format, 0, NULL, numbers, NULL);
        refuse(&f, COF_ERR_DATA, cases[k].part);
        refuse(&f, COF_ERR_DATA, "\"price\"");
        f.column_schema[0].format = "c";
        add_dictionary(&f, cases[k].format, 1, 2, NULL, numbers, NULL);
        refuse(&f, COF_ERR_DATA, cases[k].part);
    }
}

/* A frame that is right: an integer column, a text column, and a dictionary. */
static void start_right(frame *f)
{
    static const int32_t numbers[] = {1, 2, 3}, offsets[] = {0, 1, 2, 3};
    start_frame(f, 3);
    add_column(f, "n", "i", 0, NULL, numbers, NULL);
    add_column(f, "t", "u", 0, NULL, offsets, "abc", NULL);
    add_column(f, "d", "C", 0, NULL, "\0\1\0", NULL);
    add_dictionary(f, "u", 2, 3, NULL, offsets, "yx");
}

static void broken_arguments(void **state)
{
    (void)state;
    frame f;
    cof_table *table = NULL;
    start_right(&f);
    assert_int_equal(cof_table_from_arrow(NULL, NULL, &f.array, &table, NULL), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_from_arrow(NULL, &f.schema, NULL, &table, NULL), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_from_arrow(NULL, &f.schema, &f.array, NULL, NULL), COF_ERR_ARGUMENT);
    f.array.release = NULL;
    refuse(&f, COF_ERR_ARGUMENT, "released");
    start_right(&f);
    f.schema.release = NULL;
    refuse(&f, COF_ERR_ARGUMENT, "released");
}

/* Breaks one thing in a right frame. */
#define REFUSED(change, part)                                                                                \
    do {                                                                                                     \
        frame f;                                                                                             \
        start_right(&f);                                                                                     \
        change;                                                                                              \
        refuse(&f, COF_ERR_DATA, part);                                                                      \
    } while (0)

static void broken_schemas(void **state)
{
    (void)state;
    REFUSED(f.schema.format = "u", "format \"u\" at the top");
    REFUSED(f.schema.format = NULL, "not a struct");
    REFUSED(f.schema.dictionary = &f.value_schema, "not a struct");
    REFUSED(f.schema.n_children = 0, "no columns");
    REFUSED(f.schema.n_children = -1, "no columns");
    REFUSED(f.schema.n_children = INT64_MAX, "impossible number");
    REFUSED(f.schema.children = NULL, "no columns");
    REFUSED(f.schemas[1] = NULL, "\"column2\" is NULL");
    REFUSED(f.column_schema[1].release = NULL, "already released");
    REFUSED(f.column_schema[1].format = NULL, "\"t\" has no format");
    REFUSED(f.value_schema.format = NULL, "\"d\" has no format");
    REFUSED(f.value_schema.dictionary = &f.value_schema, "dictionary of dictionaries");
    REFUSED(f.column_schema[2].format = "u", "indices are not integers");
    REFUSED(f.column_schema[2].format = "g", "indices are not integers");
}

/* A column of nulls takes no memory to hand over, and worked for minutes before memory ended. */
static void more_rows_than_a_table_has(void **state)
{
    (void)state;
    frame f;
    start_frame(&f, INT64_C(1) << 34);
    struct ArrowArray *column = add_column(&f, "n", "n", INT64_C(1) << 34, NULL, NULL);
    column->n_buffers = 0;
    refuse(&f, COF_ERR_DATA,
           sizeof(size_t) < 8 ? "no memory can hold"
                              : "the table is too large: it may have at most 4294967293 rows");
}

static void broken_structs(void **state)
{
    (void)state;
    REFUSED(f.array.length = 0, "no rows");
    REFUSED(f.array.length = -1, "negative length");
    REFUSED(f.array.offset = -1, "negative offset");
    REFUSED(f.array.offset = INT64_MAX, "no memory can hold");
    REFUSED(f.array.length = INT64_MAX, "no memory can hold");
    REFUSED(f.array.offset = 1, "\"n\" is shorter than the table");
    REFUSED(f.array.length = 4, "\"n\" is shorter than the table");
    REFUSED(f.array.null_count = -2, "null count");
    REFUSED(f.array.null_count = 4, "null count");
    REFUSED(f.array.null_count = 1, "has nulls but does not say where");
    REFUSED(f.array.n_buffers = 0, "wrong number of buffers");
    REFUSED(f.array.n_buffers = -1, "negative number of buffers");
    REFUSED(f.array.buffers = NULL, "no list of buffers");
    REFUSED(f.array.n_children = 2, "another number of columns");
    REFUSED(f.array.n_children = -3, "negative number of buffers or children");
    REFUSED(f.array.children = NULL, "no list of children");
    REFUSED(f.array.dictionary = &f.value, "is a dictionary");
}

static void broken_columns(void **state)
{
    (void)state;
    const int32_t backwards[] = {0, 2, 1, 3}, below[] = {-1, 0, 1, 2};
    REFUSED(f.columns[1] = NULL, "\"t\" is NULL");
    REFUSED(f.column[1].release = NULL, "\"t\" was already released");
    REFUSED(f.column[1].length = 2, "\"t\" is shorter");
    REFUSED(f.column[1].offset = -1, "\"t\" has a negative offset");
    REFUSED(f.column[1].offset = INT64_MAX - 2, "\"t\" has an offset and a length");
    REFUSED(f.column[1].n_buffers = 2, "\"t\" has the wrong number of buffers");
    REFUSED(f.column[0].n_buffers = 3, "\"n\" has the wrong number of buffers");
    REFUSED(f.column[0].n_children = 1, "\"n\" has no list of children");
    REFUSED((f.column[0].n_children = 1, f.column[0].children = f.columns), "\"n\" has children");
    REFUSED(f.column[0].buffers = NULL, "\"n\" has no list of buffers");
    REFUSED(f.buffers[0][1] = NULL, "\"n\" has no buffer of values");
    REFUSED(f.buffers[1][2] = NULL, "\"t\" has texts but no text buffer");
    REFUSED(f.column[0].null_count = 2, "\"n\" has nulls but does not say where");
    REFUSED(f.buffers[1][1] = backwards, "\"t\" has text offsets that go backwards");
    REFUSED(f.buffers[1][1] = below, "\"t\" has a negative text offset");
    REFUSED(f.buffers[1][2] = "a\xC3z", "\"t\": row 1 (from 0) is not valid UTF-8");
    REFUSED(f.buffers[1][2] = "ab\0", "\"t\": row 2 (from 0) contains a NUL byte");
}

static void broken_dictionaries(void **state)
{
    (void)state;
    const int32_t backwards[] = {0, 2, 1};
    REFUSED(f.buffers[2][1] = "\0\2\0", "\"d\": row 1 (from 0) has an index outside");
    REFUSED((f.buffers[2][1] = "\0\0\xFF", f.column_schema[2].format = "c"), "row 2 (from 0) has an index");
    REFUSED(f.value.length = 0, "row 0 (from 0) has an index outside");
    REFUSED(f.value.length = -1, "\"d\" has a dictionary that has a negative length");
    REFUSED(f.value.release = NULL, "\"d\" has a dictionary that was already released");
    REFUSED(f.value.n_buffers = 2, "\"d\" has a dictionary that has the wrong number of buffers");
    REFUSED(f.value_buffers[1] = backwards, "dictionary that has text offsets that go backwards");
    REFUSED(f.value_buffers[2] = "y\xFF", "\"d\": dictionary value 1 (from 0) is not valid UTF-8");
    REFUSED(f.column[2].dictionary = NULL, "but not in both");
    REFUSED(f.column[0].dictionary = &f.value, "but not in both");
    REFUSED((f.value_schema.format = "vu", f.value.n_buffers = 2), "wrong number of buffers");
    REFUSED((f.value_buffers[2] = "\xFFx", f.column_schema[2].flags = ARROW_FLAG_DICTIONARY_ORDERED),
            "dictionary value 0 (from 0)");
}

static void broken_views(void **state)
{
    (void)state;
    const struct {
        text_view view;
        const char *part;
    } cases[] = {{{-1, {.text = ""}}, "negative length"},
                 {{13, {.far = {"", 1, 0}}}, "buffer that is not there"},
                 {{13, {.far = {"", -1, 0}}}, "buffer that is not there"},
                 {{13, {.far = {"", 0, 3}}}, "past the end"},
                 {{13, {.far = {"", 0, -1}}}, "past the end"},
                 {{INT32_MAX, {.far = {"", 0, INT32_MAX}}}, "past the end"},
                 {{2, {.text = "a\0"}}, "NUL byte"},
                 {{1, {.text = "\x80"}}, "not valid UTF-8"}};
    const int64_t sizes[] = {15};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        frame f;
        start_frame(&f, 1);
        add_column(&f, "x", "vu", 0, NULL, &cases[k].view, "fifteen bytes..", sizes, NULL);
        refuse(&f, COF_ERR_DATA, cases[k].part);
    }
    const text_view good = {13, {.far = {"", 0, 0}}};
    frame f;
    start_frame(&f, 1);
    add_column(&f, "x", "vu", 0, NULL, &good, "fifteen bytes..", sizes, NULL);
    f.buffers[0][3] = NULL;
    refuse(&f, COF_ERR_DATA, "does not say how long");
}

/* ---- Streams ---------------------------------------------------------------------------------------- */

typedef struct batches {
    frame *frame;
    int n, next;
    int schema_code, fail_after, n_released, n_schemas;
    const char *reason;
} batches;

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    batches *b = stream->private_data;
    if (b->schema_code != 0) return b->schema_code;
    *out = b->frame[0].schema;
    out->private_data = &b->n_schemas;
    return 0;
}

static int give_batch(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    batches *b = stream->private_data;
    if (b->fail_after > 0 && b->next == b->fail_after) return EIO;
    if (b->next == b->n) {
        out->release = NULL;
        return 0;
    }
    *out = b->frame[b->next++].array;
    out->private_data = &b->n_released;
    return 0;
}

static const char *give_reason(struct ArrowArrayStream *stream)
{
    return ((batches *)stream->private_data)->reason;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

static struct ArrowArrayStream stream_of(batches *b)
{
    return (struct ArrowArrayStream){give_schema, give_batch, give_reason, release_stream, b};
}

static cof_table *import_stream(batches *b)
{
    cof_table *table = NULL;
    cof_error err;
    struct ArrowArrayStream stream = stream_of(b);
    if (cof_table_from_arrow_stream(NULL, &stream, &table, &err) != COF_OK) fail_msg("%s", err.text);
    assert_int_equal(b->n_released, b->n);
    assert_int_equal(b->n_schemas, 1);
    assert_non_null(stream.release);
    return table;
}

static void refuse_stream(batches *b, cof_status status, const char *part)
{
    cof_table *table = NULL;
    cof_error err = {""};
    struct ArrowArrayStream stream = stream_of(b);
    assert_int_equal(cof_table_from_arrow_stream(NULL, &stream, &table, &err), status);
    assert_null(table);
    assert_int_equal(b->n_released, b->next);
    assert_int_equal(b->n_schemas, b->schema_code == 0);
    if (strstr(err.text, part) == NULL) fail_msg("\"%s\" does not contain \"%s\"", err.text, part);
}

static const uint8_t two[] = {0, 1};
static const int32_t letters[] = {0, 1, 2, 3};

/* A batch of two rows that name the first two of three one-letter values. */
static void start_batch(frame *f, const char *values)
{
    start_frame(f, 2);
    add_column(f, "d", "C", 0, NULL, two, NULL);
    add_dictionary(f, "u", (int64_t)strlen(values), 3, NULL, letters, values);
    f->column_schema[0].flags = ARROW_FLAG_DICTIONARY_ORDERED;
}

static void stream_with_differing_dictionaries(void **state)
{
    (void)state;
    frame f[4];
    batches b = {.frame = f, .n = 4};
    start_batch(&f[0], "cab");
    start_batch(&f[1], "bd");
    start_batch(&f[2], "zz");
    start_batch(&f[3], "ab");
    f[0].column_schema[0].flags = 0;
    f[2].array.length = f[2].column[0].length = 0;
    f[2].value.length = 0;
    cof_table *table = import_stream(&b);
    assert_column(table, 0, "c a b d a b; a b c d");
    cof_table_free(table);
}

static void stream_appends_to_an_order(void **state)
{
    (void)state;
    frame f[3];
    batches b = {.frame = f, .n = 3};
    start_batch(&f[0], "cab");
    start_batch(&f[1], "cb");
    start_batch(&f[2], "bx");
    cof_table *table = import_stream(&b);
    cof_column view = {.struct_size = sizeof view};
    cof_table_column(table, 0, &view);
    assert_true(view.ordinal);
    assert_column(table, 0, "c a c b b x; c a b x");
    cof_table_free(table);
}

static void stream_that_contradicts_its_order(void **state)
{
    (void)state;
    frame f[3];
    batches b = {.frame = f, .n = 3};
    start_batch(&f[0], "ca");
    start_batch(&f[1], "cba");
    start_batch(&f[2], "xy");
    cof_table *table = import_stream(&b);
    cof_column view = {.struct_size = sizeof view};
    cof_table_column(table, 0, &view);
    assert_false(view.ordinal);
    assert_column(table, 0, "c a c b x y; a b c x y");
    cof_table_free(table);
}

static void rows_are_counted_over_batches(void **state)
{
    (void)state;
    frame f[2];
    batches b = {.frame = f, .n = 2};
    start_right(&f[0]);
    start_right(&f[1]);
    f[1].buffers[1][2] = "a\xFFz";
    refuse_stream(&b, COF_ERR_DATA, "\"t\": row 4 (from 0)");
}

static void failing_streams(void **state)
{
    (void)state;
    frame f[2];
    start_right(&f[0]);
    start_right(&f[1]);
    batches schema_fails = {.frame = f, .n = 2, .schema_code = 5, .reason = "the disk is gone"};
    refuse_stream(&schema_fails, COF_ERR_IO, "error 5 while giving its schema: the disk is gone");
    batches batch_fails = {.frame = f, .n = 2, .fail_after = 1};
    refuse_stream(&batch_fails, COF_ERR_IO, "while giving its next batch: it gives no reason");
    batches empty = {.frame = f};
    refuse_stream(&empty, COF_ERR_DATA, "no rows");
    f[0].schema.format = "u";
    batches no_struct = {.frame = f, .n = 2};
    refuse_stream(&no_struct, COF_ERR_DATA, "not a struct");

    cof_table *table = NULL;
    struct ArrowArrayStream stream = stream_of(&empty);
    assert_int_equal(cof_table_from_arrow_stream(NULL, NULL, &table, NULL), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_from_arrow_stream(NULL, &stream, NULL, NULL), COF_ERR_ARGUMENT);
    stream.release = NULL;
    assert_int_equal(cof_table_from_arrow_stream(NULL, &stream, &table, NULL), COF_ERR_ARGUMENT);
}

static int schema_of_nothing(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    (void)stream;
    memset(out, 0, sizeof *out);
    return 0;
}

static void stream_without_a_schema(void **state)
{
    (void)state;
    batches b = {0};
    cof_table *table = NULL;
    cof_error err;
    struct ArrowArrayStream stream = stream_of(&b);
    stream.get_schema = schema_of_nothing;
    stream.get_last_error = NULL;
    assert_int_equal(cof_table_from_arrow_stream(NULL, &stream, &table, &err), COF_ERR_ARGUMENT);
    stream.get_next = NULL;
    assert_int_equal(cof_table_from_arrow_stream(NULL, &stream, &table, &err), COF_ERR_ARGUMENT);
}

/* ---- What the host lends ----------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    frame f[3];
    for (int i = 0; i < 3; i++) start_right(&f[i]);
    f[0].column_schema[2].flags = ARROW_FLAG_DICTIONARY_ORDERED;
    cof_status status = COF_ERR_MEMORY;
    for (size_t n = 0; status != COF_OK; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        batches b = {.frame = f, .n = 3};
        struct ArrowArrayStream stream = stream_of(&b);
        cof_table *table = NULL;
        status = cof_table_from_arrow_stream(&env, &stream, &table, NULL);
        assert_true(status == COF_OK || status == COF_ERR_MEMORY);
        assert_int_equal(b.n_released, b.next);
        assert_int_equal(b.n_schemas, 1);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
    }
}

static int count_down(void *ctx)
{
    int *left = ctx;
    return (*left)-- <= 0;
}

static void stops_on_request(void **state)
{
    (void)state;
    frame f[3];
    for (int i = 0; i < 3; i++) start_right(&f[i]);
    int left = 1;
    cof_env env = {.struct_size = sizeof env, .should_stop = count_down, .ctx = &left};
    batches b = {.frame = f, .n = 3};
    struct ArrowArrayStream stream = stream_of(&b);
    cof_table *table = NULL;
    cof_error err;
    assert_int_equal(cof_table_from_arrow_stream(&env, &stream, &table, &err), COF_ERR_STOPPED);
    assert_string_equal(err.text, "stopped on request after 3 rows");
    assert_int_equal(b.n_released, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_every_width),
        cmocka_unit_test(many_integers),
        cmocka_unit_test(floats_dates_and_times),
        cmocka_unit_test(booleans_and_nulls),
        cmocka_unit_test(plain_and_large_text),
        cmocka_unit_test(empty_text_is_a_value),
        cmocka_unit_test(text_views),
        cmocka_unit_test(only_short_views_need_no_buffers),
        cmocka_unit_test(offsets_of_struct_and_columns_add_up),
        cmocka_unit_test(dictionaries_of_every_index),
        cmocka_unit_test(dictionaries_of_every_value),
        cmocka_unit_test(many_rows_of_byte_indices),
        cmocka_unit_test(null_in_a_dictionary_is_missing),
        cmocka_unit_test(unused_dictionary_values_are_dropped),
        cmocka_unit_test(ordered_dictionary_keeps_its_order),
        cmocka_unit_test(names),
        cmocka_unit_test(buffers_need_no_alignment),
        cmocka_unit_test(types_that_are_no_categories),
        cmocka_unit_test(broken_arguments),
        cmocka_unit_test(broken_schemas),
        cmocka_unit_test(more_rows_than_a_table_has),
        cmocka_unit_test(broken_structs),
        cmocka_unit_test(broken_columns),
        cmocka_unit_test(broken_dictionaries),
        cmocka_unit_test(broken_views),
        cmocka_unit_test(stream_with_differing_dictionaries),
        cmocka_unit_test(stream_appends_to_an_order),
        cmocka_unit_test(stream_that_contradicts_its_order),
        cmocka_unit_test(rows_are_counted_over_batches),
        cmocka_unit_test(failing_streams),
        cmocka_unit_test(stream_without_a_schema),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(stops_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
