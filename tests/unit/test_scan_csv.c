/* The fast reader against the serial one: the same table, or the same complaint. */
#include "../../src/table/file/read_csv.h"
#include "../../src/table/file/scan_csv.h"
#include "../../src/table/table.h"
#include "alloc_helper.h"
#include "cases_helper.h"
#include "unit_helper.h"

#include <unistd.h>

typedef struct text {
    char *at;
    size_t n, capacity;
} text;

static void put(text *t, const char *bytes, size_t n)
{
    if (t->capacity - t->n < n) {
        t->capacity = 2 * t->capacity + n;
        t->at = realloc(t->at, t->capacity);
        assert_non_null(t->at);
    }
    memcpy(t->at + t->n, bytes, n);
    t->n += n;
}

static void put_text(text *t, const char *string)
{
    put(t, string, strlen(string));
}

/* What a random file looks like. */
typedef struct look {
    size_t n_columns, n_values, n_bytes;
    const char *line_end;
    bool mark, header, ended, blanks, missing, long_cells, huge_cells;
    uint32_t quoted; /* of three cells */
} look;

static void put_content(text *t, const look *l, cofi_rng *rng, size_t c)
{
    char cell[64];
    static const char *const na[] = {"", "?", "NA"};
    if (l->missing && below(rng, 7) == 0) {
        put_text(t, l->n_columns > 1 || below(rng, 2) == 0 ? na[below(rng, 3)] : "?");
        return;
    }
    if (l->huge_cells && below(rng, 5000) == 0)
        for (int part = 0; part < 60; part++)
            put_text(t, "a text that is not postponed but looked up at once");
    size_t v = below(rng, c % 3 == 0 ? l->n_values : 1 + l->n_values / 3);
    if (l->long_cells && v % 3 == 0)
        snprintf(cell, sizeof cell, "a rather long text, number %zu \xc3\xa4", v);
    else
        snprintf(cell, sizeof cell, c % 2 == 0 ? "%zu" : "N%zu", v); /* begins like NA */
    for (char *p = cell; *p != '\0'; p++) *p = *p == ',' ? ';' : *p;
    put_text(t, cell);
}

static void put_cell(text *t, const look *l, cofi_rng *rng, size_t c)
{
    bool quoted = below(rng, 3) < l->quoted;
    if (quoted) put_text(t, "\"");
    put_content(t, l, rng, c);
    if (quoted) put_text(t, "\"");
}

static text make_file(const look *l, cofi_rng *rng)
{
    text t = {NULL, 0, 0};
    if (l->mark) put_text(&t, "\xEF\xBB\xBF");
    for (size_t c = 0; l->header && c < l->n_columns; c++) {
        char name[32];
        snprintf(name, sizeof name, l->quoted > 0 ? "%s\"c%zu\"" : "%sc%zu", c > 0 ? "," : "", c);
        put_text(&t, name);
    }
    if (l->header) put_text(&t, l->line_end);
    while (t.n < l->n_bytes) {
        for (size_t c = 0; c < l->n_columns; c++) {
            if (c > 0) put_text(&t, ",");
            put_cell(&t, l, rng, c);
        }
        put_text(&t, l->line_end);
        if (l->blanks && below(rng, 50) == 0) put_text(&t, l->line_end);
    }
    if (!l->ended) t.n -= strlen(l->line_end);
    return t;
}

static void assert_same_table(const cof_table *a, const cof_table *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    for (size_t c = 0; c < a->n_columns; c++) {
        const cofi_column *x = &a->column[c], *y = &b->column[c];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->width, y->width);
        assert_int_equal(x->n_values, y->n_values);
        assert_int_equal(x->n_missing, y->n_missing);
        assert_string_equal(x->missing_text, y->missing_text);
        for (uint32_t v = 0; v < x->n_values; v++)
            assert_string_equal(cofi_column_text(x, v), cofi_column_text(y, v));
        assert_memory_equal(x->codes, y->codes, a->n_rows * x->width);
    }
}

/* Reads the bytes both ways; says whether the fast one read them. */
static bool compare_with(const text *t, bool header, uint32_t threads)
{
    cof_read_options options = {.struct_size = sizeof options, .no_header = !header};
    cofi_source serial = {.name = "a.csv", .bytes = t->at, .n_bytes = t->n, .block_bytes = 100000};
    cofi_source fast = {.name = "a.csv", .bytes = t->at, .n_bytes = t->n};
    cof_error serial_err, fast_err;
    cof_table *expected = NULL, *got = NULL;
    static const char *const na[] = {"", "?", "NA"};
    cofi_dialect dialect = {.no_header = !header, .na = na, .n_na = 3};
    cof_env env = cofi_env_resolve(NULL);
    cof_table *scanned = cofi_scan_csv(&env, &fast, &dialect, threads);
    cof_status status = cofi_read_csv(NULL, &serial, &options, &expected, &serial_err);
    assert_int_equal(cofi_read_csv(NULL, &fast, &options, &got, &fast_err), status);
    if (status == COF_OK)
        assert_same_table(expected, got);
    else
        assert_string_equal(serial_err.text, fast_err.text);
    if (scanned != NULL) assert_same_table(expected, scanned);
    bool was_fast = scanned != NULL;
    cof_table_free(expected);
    cof_table_free(got);
    cof_table_free(scanned);
    return was_fast;
}

static bool compare(const text *t, bool header)
{
    return compare_with(t, header, 3);
}

/* Lines of one shape are read together if their cells are known; others stand between them. */
static void test_lines_of_one_shape(void **state)
{
    static const char *const between[] = {"12,3,4\n",  "?,,4\n",   "\"1\",2,3\n", "\n",
                                          "1,2,3\r\n", "1,2,\r\n", "x,y,z\n",     "\xc3\xa4,2,3\n"};
    (void)state;
    for (uint64_t seed = 0; seed < 2 * COUNT(between) + 2; seed += one_in()) {
        cofi_rng rng = dice(seed);
        size_t one_of = seed % 2 == 0 ? 100 : 5000, n_values = seed < 16 ? 9 : 60;
        text t = {NULL, 0, 0};
        put_text(&t, "a,b,c\n");
        while (t.n < (size_t)5 << 19) {
            static const char *const kept[] = {"", "v", "value a", "\xc3\xa9", "NA12345"};
            char line[64], code[3];
            for (size_t c = 0; c < 3; c++) {
                size_t v = below(&rng, n_values);
                code[c] = (char)(v < 9 ? '1' + v : 'A' + v - 9 + (v > 34) * 6);
            }
            snprintf(line, sizeof line, "%s%c,%s%c,%c%s", kept[seed % COUNT(kept)], code[0],
                     kept[seed / 3 % COUNT(kept)], code[1], code[2], seed % 7 == 3 ? "\r\n" : "\n");
            put_text(&t, line);
            if (below(&rng, one_of) == 0) put_text(&t, between[seed / 2 % COUNT(between)]);
        }
        assert_true(compare(&t, true));
        assert_true(compare_with(&t, true, 1));
        free(t.at);
    }
}

/* One thread takes all stretches, so that it knows from the second on which columns have many values. */
static void test_many_values(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed += one_in()) {
        cofi_rng rng = dice(seed);
        look l = {.n_columns = 4,
                  .n_values = 30000,
                  .n_bytes = (size_t)6 << 20,
                  .line_end = "\n",
                  .header = true,
                  .ended = true,
                  .missing = seed == 1,
                  .long_cells = seed % 2 == 0,
                  .huge_cells = seed >= 2};
        text t = make_file(&l, &rng);
        assert_true(compare_with(&t, true, 1));
        free(t.at);
    }
}

static void test_the_same_table(void **state)
{
    static const size_t columns[] = {1, 2, 3, 20, 300}, values[] = {2, 40, 300, 5000, 200000};
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed += one_in()) {
        cofi_rng rng = dice(seed);
        look l = {.n_columns = columns[below(&rng, 5)],
                  .n_values = values[below(&rng, 5)],
                  .n_bytes = ((size_t)1 << 20) + below(&rng, (size_t)3 << 20),
                  .line_end = below(&rng, 3) == 0 ? "\r\n" : "\n",
                  .mark = below(&rng, 4) == 0,
                  .header = below(&rng, 4) != 0,
                  .ended = below(&rng, 2) == 0,
                  .blanks = below(&rng, 3) == 0,
                  .missing = below(&rng, 2) == 0,
                  .long_cells = below(&rng, 2) == 0,
                  .quoted = seed % 2 == 0 ? 0 : (uint32_t)below(&rng, 4)};
        text t = make_file(&l, &rng);
        assert_true(compare(&t, l.header) || l.n_columns == 1 || l.missing);
        free(t.at);
    }
}

/* One wrong thing somewhere in a large file. */
static void test_the_same_complaint(void **state)
{
    static const char *const wrong[] = {"\"quoted, with a comma\",1,2\n",
                                        "\"quoted \"\"twice\"\"\",1,2\n",
                                        "\"two\nlines\",1,2\n",
                                        "\"\"\"\",1,2\n",
                                        "\",\",1,2\n",
                                        "\"1\"\",\"\"2\",1,2\n",
                                        "\"1\" ,1,2\n",
                                        "1,2,\"\n",
                                        "1,2\n",
                                        "1,2,3,4\n",
                                        "1,\xFF,3\n",
                                        "1,2\r,3\n",
                                        "a\"b,1,2\n",
                                        "\"open,1,2\n",
                                        "1,2,3\r"};
    (void)state;
    for (uint64_t seed = 0; seed < 2 * COUNT(wrong) + 2; seed += one_in()) {
        cofi_rng rng = dice(seed);
        look l = {.n_columns = 3,
                  .n_values = 9,
                  .n_bytes = (size_t)2 << 20,
                  .line_end = "\n",
                  .header = true,
                  .ended = true};
        text t = make_file(&l, &rng), with = {NULL, 0, 0};
        size_t at = 100 + below(&rng, t.n - 200);
        if (seed % 3 == 0) at = t.n;
        while (at < t.n && t.at[at - 1] != '\n') at++;
        put(&with, t.at, at);
        if (seed < 2 * COUNT(wrong))
            put_text(&with, wrong[seed / 2]);
        else
            put(&with, "1,\0,3\n", 6);
        put(&with, t.at + at, t.n - at);
        assert_false(compare(&with, true));
        free(t.at);
        free(with.at);
    }
}

static void test_only_what_it_is_sure_of(void **state)
{
    (void)state;
    cofi_rng rng = dice(1);
    look l = {.n_columns = 3,
              .n_values = 9,
              .n_bytes = (size_t)1 << 21,
              .line_end = "\n",
              .header = true,
              .ended = true};
    text t = make_file(&l, &rng), small = {t.at, 1000, 0}, twice = {NULL, 0, 0};
    assert_true(compare(&t, true));
    assert_false(compare(&small, true));
    put_text(&twice, "a,b,a\n");
    put(&twice, t.at + 9, t.n - 9);
    assert_false(compare(&twice, true));
    free(twice.at);
    free(t.at);
}

static int stops(void *ctx)
{
    (void)ctx;
    return 1;
}

/* Without memory, or when it is asked to stop, it leaves the file to the serial reader, which says why. */
static void test_failures_are_left_to_the_serial_reader(void **state)
{
    (void)state;
    cofi_rng rng = dice(2);
    look l = {.n_columns = 3,
              .n_values = 300,
              .n_bytes = (size_t)1 << 20,
              .line_end = "\n",
              .header = true,
              .ended = true};
    text t = make_file(&l, &rng);
    cofi_source source = {.name = "a.csv", .bytes = t.at, .n_bytes = t.n};
    cofi_dialect dialect = {.delimiter = ','};
    cof_table *table = NULL;
    for (size_t n = 0; table == NULL; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        table = cofi_scan_csv(&env, &source, &dialect, 1);
        if (table == NULL) assert_int_equal(meter.live, 0);
        if (n % 8 == 0 && table == NULL) {
            alloc_meter whole = {.fail_at = n};
            cof_env other = alloc_env(&whole);
            cof_error err;
            cof_read_options one = {.struct_size = sizeof one, .threads = 1}; /* the meter is not locked */
            assert_int_equal(cofi_read_csv(&other, &source, &one, &table, &err), COF_ERR_MEMORY);
            assert_int_equal(whole.live, 0);
            assert_null(table);
        }
        if (table == NULL) continue;
        assert_true(table->n_columns == 3 && table->n_rows > 1000);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        break;
    }
    cof_env stopping = cofi_env_resolve(&(cof_env){.struct_size = sizeof(cof_env), .should_stop = stops});
    assert_null(cofi_scan_csv(&stopping, &source, &dialect, 2));
    free(t.at);
}

/* The first bytes are a table, the rest up to 4 GiB and as many bytes again is a hole. A size of 32 bits made the
 * fast reader take the first bytes for the whole file; without offsets of 64 bits it does not open. */
static void test_a_file_above_4_gib(void **state)
{
    static const char *const path = "above_4_gib.csv";
    cofi_rng rng = dice(3);
    look l = {.n_columns = 3,
              .n_values = 9,
              .n_bytes = (size_t)1 << 20,
              .line_end = "\n",
              .header = true,
              .ended = true};
    text t = make_file(&l, &rng);
    cof_table *table = NULL;
    cof_error err;
    (void)state;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(t.at, 1, t.n, file), t.n);
    bool made = fflush(file) == 0 && ftruncate(fileno(file), ((off_t)1 << 32) + (off_t)t.n) == 0;
    assert_int_equal(fclose(file), 0);
    if (made) { /* not every file system has holes */
        assert_status(cof_table_read(NULL, path, NULL, &table, &err), COF_ERR_DATA, &err);
        assert_non_null(strstr(err.text, "UTF-16")); /* the sentence about a byte 0 */
    }
    unlink(path);
    free(t.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures_are_left_to_the_serial_reader),
        cmocka_unit_test(test_the_same_table),
        cmocka_unit_test(test_lines_of_one_shape),
        cmocka_unit_test(test_many_values),
        cmocka_unit_test(test_the_same_complaint),
        cmocka_unit_test(test_only_what_it_is_sure_of),
        cmocka_unit_test(test_a_file_above_4_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
