/* Writing a table: exact bytes, and reading them again gives the same table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "alloc_helper.h"
#include "../../src/core/rng.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static cof_table *read_text(const char *text, const cof_read_options *options)
{
    cof_table *table = NULL;
    cof_error err;
    if (cof_table_read_memory(NULL, "in.csv", text, strlen(text), options, &table, &err) != COF_OK)
        fail_msg("%s", err.text);
    return table;
}

static size_t load(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, size, file);
    fclose(file);
    bytes[n] = '\0';
    return n;
}

static void assert_written(const cof_table *table, const char *path, const char *expected)
{
    char bytes[4096];
    cof_error err;
    if (cof_table_write(table, path, &err) != COF_OK) fail_msg("%s", err.text);
    load(path, bytes, sizeof bytes - 1);
    assert_string_equal(bytes, expected);
    unlink(path);
}

static void writes(const char *in, const char *path, const char *expected)
{
    cof_table *table = read_text(in, NULL);
    assert_written(table, path, expected);
    cof_table_free(table);
}

/* ---- Exact bytes --------------------------------------------------------------------------------- */

static void plain(void **state)
{
    (void)state;
    writes("a,b\r\n1,x y\r\n2, z ", "t.csv", "a,b\n1,x y\n2, z \n");
    writes("a;b\n1;2\n", "t.csv", "a,b\n1,2\n");
    writes("\xEF\xBB\xBF\u00e4,b\n1,\u6f22\n", "t.csv", "\u00e4,b\n1,\u6f22\n");
    writes(",b\n1,2\n", "t.csv", "column1,b\n1,2\n");
}

static void quoted_where_needed(void **state)
{
    (void)state;
    writes("\"a,1\",\"b\"\"\"\n\"x\ny\",\"\r\"\n\"\"\"\",\"\"\"q\"\"\"\n", "t.csv",
           "\"a,1\",\"b\"\"\"\n\"x\ny\",\"\r\"\n\"\"\"\",\"\"\"q\"\"\"\n");
    writes("a,b\n\"1;2\",\"plain\"\n", "t.csv", "a,b\n1;2,plain\n");
}

static void tab_separated(void **state)
{
    (void)state;
    writes("a,b\n\"1,2\",\"3\t4\"\n", "t.tsv", "a\tb\n1,2\t\"3\t4\"\n");
}

static void missing_cells_as_they_were(void **state)
{
    (void)state;
    const char *const na[] = {"n/a, sorry"};
    const cof_read_options own = {.struct_size = sizeof own, .na = na, .n_na = 1};
    writes("a,b,c\n?,,NA\n1,2,3\n", "t.csv", "a,b,c\n?,,NA\n1,2,3\n");
    cof_table *table = read_text("a,b\n\"n/a, sorry\",1\n", &own);
    assert_written(table, "t.csv", "a,b\n\"n/a, sorry\",1\n");
    cof_table_free(table);
}

static void one_column(void **state)
{
    (void)state;
    writes("a\n1\n\n2\n", "t.csv", "a\n1\n\"\"\n2\n");
    writes("\"a;b\"\n\"1|2\"\n", "t.csv", "\"a;b\"\n\"1|2\"\n");
}

static void without_missing_text(void **state)
{
    (void)state;
    const int32_t codes[] = {1, -1, 0, 2};
    cof_table *table;
    assert_int_equal(cof_table_from_codes(NULL, codes, 2, 2, NULL, &table, NULL), COF_OK);
    assert_written(table, "t.csv", "V1,V2\n1,\n0,2\n");
    cof_table_free(table);
}

/* ---- Round trip ---------------------------------------------------------------------------------- */

static void assert_same(const cof_table *a, const cof_table *b)
{
    assert_int_equal(cof_table_n_rows(a), cof_table_n_rows(b));
    assert_int_equal(cof_table_n_columns(a), cof_table_n_columns(b));
    for (size_t c = 0; c < cof_table_n_columns(a); c++) {
        cof_column x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
        cof_table_column(a, c, &x);
        cof_table_column(b, c, &y);
        assert_string_equal(x.name, y.name);
        assert_int_equal(x.n_values, y.n_values);
        assert_int_equal(x.n_missing, y.n_missing);
        for (uint32_t v = 0; v <= x.n_values; v++)
            assert_string_equal(cof_table_value(a, c, v), cof_table_value(b, c, v));
        for (size_t i = 0; i < cof_table_n_rows(a); i++)
            assert_int_equal(cof_table_code(a, i, c), cof_table_code(b, i, c));
    }
}

static void comes_back(const cof_table *table, const char *path)
{
    cof_table *again;
    cof_error err;
    assert_int_equal(cof_table_write(table, path, NULL), COF_OK);
    if (cof_table_read(NULL, path, NULL, &again, &err) != COF_OK) fail_msg("%s", err.text);
    assert_same(table, again);
    cof_table_free(again);
    unlink(path);
}

/* Tables of cells drawn from the texts that CSV finds hardest. */
static void random_tables_come_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a",     "b\"", "\"", "\"\"",  ",",   "\n",        "\r",    "\r\n", " ",
        "\t",    ";",   "|",  "x,\"y", "nan", "\u00e4,\n", "\"x\"", "a b",  "\n\n",
        "\",\"", ",,",  "#",  "'q'",   "\\",  "-1",        "0",     "10",   "longer than eight bytes"};
    enum { N_TEXTS = sizeof texts / sizeof *texts, MOST = 64 };
    uint64_t seed = 7;
    for (int trial = 0; trial < 300; trial++) {
        size_t n_rows = 1 + cofi_mix64(seed++) % 8, n_columns = 1 + cofi_mix64(seed++) % 4;
        const char *cells[MOST];
        const char *names[MOST];
        for (size_t i = 0; i < n_rows * n_columns; i++) {
            size_t pick = cofi_mix64(seed++) % (N_TEXTS + 2);
            cells[i] = pick < N_TEXTS ? texts[pick] : NULL;
        }
        for (size_t c = 0; c < n_columns; c++) names[c] = texts[((size_t)trial + 5 * c) % N_TEXTS];
        cof_table *table;
        assert_int_equal(cof_table_from_strings(NULL, cells, n_rows, n_columns, names, &table, NULL), COF_OK);
        comes_back(table, trial % 2 ? "t.csv" : "t.tsv");
        cof_table_free(table);
    }
}

static void demo_comes_back(void **state)
{
    (void)state;
    cof_table *table;
    assert_int_equal(cof_table_demo(NULL, &table, NULL), COF_OK);
    comes_back(table, "zoo.csv");
    cof_table_free(table);
}

/* ---- Failures ------------------------------------------------------------------------------------ */

static int always(void *ctx)
{
    (void)ctx;
    return 1;
}

static void failures(void **state)
{
    (void)state;
    cof_error err;
    cof_table *table;
    assert_int_equal(cof_table_demo(NULL, &table, NULL), COF_OK);
    assert_int_equal(cof_table_write(table, "/dev/full", &err), COF_ERR_IO);
    assert_string_equal(err.text, "cannot write /dev/full: No space left on device");
    assert_int_equal(cof_table_write(table, NULL, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_write(table, ".", NULL), COF_ERR_IO);
    assert_int_equal(cof_table_write(table, "no such folder/t.csv", NULL), COF_ERR_IO);
    cof_table_free(table);
    cof_env env = {.struct_size = sizeof env, .should_stop = always};
    assert_int_equal(cof_table_from_codes(&env, (const int32_t[]){1, 2}, 2, 1, NULL, &table, NULL), COF_OK);
    assert_int_equal(cof_table_write(table, "t.csv", &err), COF_ERR_STOPPED);
    assert_int_equal(access("t.csv", F_OK), -1);
    cof_table_free(table);
}

static void every_failing_allocation(void **state)
{
    (void)state;
    alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
    cof_env env = alloc_env(&meter);
    cof_table *table;
    assert_int_equal(cof_table_read_memory(&env, "t", "a,b\n1,2\n", 8, NULL, &table, NULL), COF_OK);
    size_t live = meter.live;
    for (size_t at = 0;; at++) {
        meter.count = 0;
        meter.fail_at = at;
        cof_status status = cof_table_write(table, "t.csv", NULL);
        assert_int_equal(meter.live, live);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
        assert_int_equal(access("t.csv", F_OK), -1);
    }
    cof_table_free(table);
    assert_int_equal(meter.live, 0);
    unlink("t.csv");
}

typedef struct shown_cell {
    char text[256];
    int n_left; /* calls before the sink stops */
} shown_cell;

static int add_text(void *ctx, const char *text, size_t n)
{
    shown_cell *shown = ctx;
    if (shown->n_left-- == 0) return 7;
    strncat(shown->text, text, n);
    return 0;
}

/* Every text as a cell beside commas: as it is, and made harmless; and beside delimiters that are not known. */
static void single_cells(void **state)
{
    static const struct {
        const char *text, *cell, *harmless, *guessed;
    } cases[] = {
        {"plain", "plain", "plain", "plain"},
        {"", "", "", ""},
        {"a,b", "\"a,b\"", "\"a,b\"", "\"a,b\""},
        {"a;b", "a;b", "a;b", "\"a;b\""},
        {"a\tb", "a\tb", "a\tb", "\"a\tb\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\"", "\"say \"\"hi\"\"\"", "\"say \"\"hi\"\"\""},
        {"two\r\nlines", "\"two\r\nlines\"", "\"two\r\nlines\"", "\"two\r\nlines\""},
        {"\xc3\xa9", "\xc3\xa9", "\xc3\xa9", "\xc3\xa9"},
        {"\xc2\xb0", "\xc2\xb0", "\xc2\xb0", "\xc2\xb0"},
        {"=1+2", "=1+2", "'=1+2", "=1+2"},
        {"=", "=", "=", "="},
        {"-5", "-5", "-5", "-5"},
        {"- none", "- none", "- none", "- none"},
        {"-2+cmd|' /C calc'!A0", "-2+cmd|' /C calc'!A0", "'-2+cmd|' /C calc'!A0", "\"-2+cmd|' /C calc'!A0\""},
        {"@SUM(A1,2)", "\"@SUM(A1,2)\"", "\"'@SUM(A1,2)\"", "\"@SUM(A1,2)\""},
        {"\x1b[31mred", "\x1b[31mred", "\\x1b[31mred", "\x1b[31mred"},
        {"a\xc2\x85,\x7f", "\"a\xc2\x85,\x7f\"", "\"a\\x85,\\x7f\"", "\"a\xc2\x85,\x7f\""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shown_cell shown[3] = {{"", -1}, {"", -1}, {"", -1}};
        assert_int_equal(cof_text_cell(add_text, &shown[0], cases[i].text, ',', 0), 0);
        assert_int_equal(cof_text_cell(add_text, &shown[1], cases[i].text, ',', 1), 0);
        assert_int_equal(cof_text_cell(add_text, &shown[2], cases[i].text, '\0', 0), 0);
        assert_string_equal(shown[0].text, cases[i].cell);
        assert_string_equal(shown[1].text, cases[i].harmless);
        assert_string_equal(shown[2].text, cases[i].guessed);
    }
    for (int n = 0;; n++) {
        shown_cell shown = {"", n};
        int code = cof_text_cell(add_text, &shown, "=f(\x01,\"\")", ',', 1);
        if (code == 0) {
            assert_string_equal(shown.text, "\"'=f(\\x01,\"\"\"\")\"");
            assert_true(n > 5);
            break;
        }
        assert_int_equal(code, 7); /* what the sink said, whichever call it was */
    }
}

static int enter_folder(void **state)
{
    static char folder[] = "/tmp/coforest-write-XXXXXX";
    *state = folder;
    return mkdtemp(folder) != NULL ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
    return chdir("/") == 0 ? rmdir(*state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(single_cells),
        cmocka_unit_test(quoted_where_needed),
        cmocka_unit_test(tab_separated),
        cmocka_unit_test(missing_cells_as_they_were),
        cmocka_unit_test(one_column),
        cmocka_unit_test(without_missing_text),
        cmocka_unit_test(random_tables_come_back),
        cmocka_unit_test(demo_comes_back),
        cmocka_unit_test(failures),
        cmocka_unit_test(every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
