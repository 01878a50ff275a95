/* Quantities cut into bins: against the formula, by hand on small columns, and with memory refused. */
#include "unit_helper.h"

#include "../../src/table/table.h"
#include "alloc_helper.h"

static cof_table *column_of(const cof_env *env, const char *const *cells, size_t n)
{
    static const char *const name = "age";
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_from_strings(env, cells, n, 1, &name, &table, &err), COF_OK, &err);
    return table;
}

static void cut(cof_table *table, const char *const *edges, size_t n_edges, uint32_t bins)
{
    cof_cut_options o = {.struct_size = sizeof o, .bins = bins, .edges = edges, .n_edges = n_edges};
    cof_error err;
    assert_status(cof_table_cut(table, 0, &o, &err), COF_OK, &err);
}

static const char *cell(const cof_table *table, size_t row)
{
    return cof_table_value(table, 0, cof_table_code(table, row, 0));
}

/* floor(M (below + equal / 2) / n), counted row by row. */
static uint32_t formula(const double *x, size_t n, size_t row, uint32_t bins)
{
    uint64_t twice = 0;
    for (size_t i = 0; i < n; i++) twice += x[i] < x[row] ? 2 : x[i] == x[row];
    return (uint32_t)(twice * bins / (2 * n));
}

static void bins_follow_the_formula(void **state)
{
    enum { N = 300 };
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        cofi_rng rng = dice(seed);
        size_t spread = 2 + below(&rng, 400);
        uint32_t bins = 2 + (uint32_t)below(&rng, 30);
        static char text[N][32];
        const char *cells[N];
        double x[N];
        for (size_t i = 0; i < N; i++) {
            x[i] = ((double)below(&rng, spread) - (double)spread / 3) / (seed % 2 ? 7 : 1);
            snprintf(text[i], sizeof text[i], "%.17g", x[i]);
            cells[i] = text[i];
        }
        cof_table *table = column_of(NULL, cells, N);
        cut(table, NULL, 0, bins);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < i; j++) {
                bool same = formula(x, N, i, bins) == formula(x, N, j, bins);
                uint32_t a = cof_table_code(table, i, 0), b = cof_table_code(table, j, 0);
                assert_int_equal(a == b, same);
                assert_true(x[i] <= x[j] ? a <= b : a >= b);
            }
        cof_table_free(table);
    }
}

static void names_are_the_ranges(void **state)
{
    const char *cells[] = {"17", "18", "38", "42", "40", "90", "90", "90"};
    (void)state;
    cof_table *table = column_of(NULL, cells, COUNT(cells));
    cut(table, NULL, 0, 3);
    assert_string_equal(cell(table, 0), "17..38");
    assert_string_equal(cell(table, 3), "40..42");
    assert_string_equal(cell(table, 7), "90");
    size_t n = 0;
    const double *edge = cof_table_edges(table, 0, &n);
    assert_int_equal(n, 2);
    assert_near(edge[0], 39, 0);
    assert_near(edge[1], 66, 0);
    cof_column about = {.struct_size = sizeof about};
    cof_table_column(table, 0, &about);
    assert_int_equal(about.ordinal, 1);
    assert_int_equal(about.n_missing, 0);
    cof_table_free(table);
}

static void long_numbers_get_short_names(void **state)
{
    const char *cells[] = {"0.12345678901234", "0.12399999999999", "0.5000000000001", "123456.789012"};
    (void)state;
    cof_table *table = column_of(NULL, cells, COUNT(cells));
    cut(table, NULL, 0, 4);
    assert_string_equal(cell(table, 0), "0.1235");
    assert_string_equal(cell(table, 1), "0.124");
    assert_string_equal(cell(table, 2), "0.5");
    assert_string_equal(cell(table, 3), "123457");
    cof_table_free(table);
}

static void edges_may_be_given(void **state)
{
    const char *cells[] = {"17", "18", "29", "30", "64", "20"}, *edges[] = {"10", "18", "30", "65"};
    (void)state;
    cof_table *table = column_of(NULL, cells, COUNT(cells));
    cut(table, edges, COUNT(edges), 0);
    assert_string_equal(cell(table, 0), "17");
    assert_string_equal(cell(table, 1), "18..29");
    assert_string_equal(cell(table, 4), "30..64");
    size_t n = 0;
    cof_table_edges(table, 0, &n);
    assert_int_equal(n, 2); /* below 10 and above 65 there is nobody */
    cut(table, NULL, 0, 2); /* again, from what was read */
    assert_string_equal(cell(table, 0), "17..20");
    assert_string_equal(cell(table, 4), "29..64");
    cof_table_free(table);
}

static void what_is_no_number_is_missing(void **state)
{
    const char *cells[] = {"1", "nan", "2", NULL, "-inf", "3", "4"};
    cof_column about = {.struct_size = sizeof about};
    (void)state;
    cof_table *table = column_of(NULL, cells, COUNT(cells));
    cut(table, NULL, 0, 2);
    cof_table_column(table, 0, &about);
    assert_int_equal(about.n_values, 2);
    assert_int_equal(about.n_missing, 3);
    assert_int_equal(cof_table_code(table, 1, 0), 2);
    assert_int_equal(cof_table_code(table, 4, 0), 2);
    assert_string_equal(cell(table, 2), "1..2");
    assert_string_equal(cofi_column_cell(&table->column[0], 4), "-inf");
    assert_string_equal(cofi_column_cell(&table->column[0], 3), "");
    cof_table_free(table);
}

static int append(void *ctx, const char *text, size_t n)
{
    strncat(ctx, text, n);
    return 0;
}

static int refuse(void *ctx, const char *text, size_t n)
{
    (void)ctx, (void)text, (void)n;
    return 1;
}

static void cuts_can_be_written_and_used_again(void **state)
{
    const char *cells[] = {"2024-01-01", "2024-02-01", "2024-03-01", "2024-04-02"};
    const char *edges[] = {"2024-02-15 12:00:00"};
    char text[200] = "";
    cof_error err;
    (void)state;
    cof_table *table = column_of(NULL, cells, COUNT(cells));
    assert_status(cof_table_write_cuts(table, refuse, NULL, &err), COF_OK,
                  &err); /* nothing is cut: no call */
    cut(table, NULL, 0, 2);
    assert_string_equal(cell(table, 2), "2024-03..2024-04");
    assert_status(cof_table_write_cuts(table, append, text, &err), COF_OK, &err);
    assert_string_equal(text, "age=2024-02-15 12:00:00\n");
    assert_int_equal(cof_table_write_cuts(table, refuse, NULL, &err), COF_ERR_IO);
    cut(table, edges, 1, 0);
    assert_string_equal(cell(table, 2), "2024-03..2024-04");
    cof_table_free(table);
}

static void assert_refused(cof_table *table, size_t column, uint32_t bins, const char *const *edges, size_t n,
                           const char *part)
{
    cof_cut_options o = {.struct_size = sizeof o, .bins = bins, .edges = edges, .n_edges = n};
    cof_error err;
    assert_true(cof_table_cut(table, column, &o, &err) != COF_OK);
    if (strstr(err.text, part) == NULL) fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static void wrong_cuts_are_told(void **state)
{
    const char *words[] = {"5", "low", "7"}, *numbers[] = {"1", "2", "3"}, *nothing[] = {"nan", NULL};
    const char *unclear[] = {"01/02/2024", "03/04/2024"};
    const char *backwards[] = {"2", "1"}, *unreadable[] = {"1", "two"};
    (void)state;
    cof_table *table = column_of(NULL, words, 3);
    assert_refused(table, 0, 0, NULL, 0, "'low'");
    assert_refused(table, 1, 0, NULL, 0, "no column number 2");
    cof_table_free(table);
    table = column_of(NULL, nothing, 2);
    assert_refused(table, 0, 0, NULL, 0, "holds no number");
    cof_table_free(table);
    table = column_of(NULL, unclear, 2);
    assert_refused(table, 0, 0, NULL, 0, "day first or the month first");
    cof_table_free(table);
    table = column_of(NULL, numbers, 3);
    assert_refused(table, 0, 1, NULL, 0, "2 to 4096 bins");
    assert_refused(table, 0, 0, backwards, 2, "must ascend");
    assert_refused(table, 0, 0, unreadable, 2, "'two'");
    cof_table_free(table);
}

/* Many bins need two bytes a cell. */
static void cells_are_as_wide_as_bins_need(void **state)
{
    enum { N = 2000 };
    static char text[N][8];
    const char *cells[N];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        snprintf(text[i], sizeof text[i], "%zu", i * 7 % N);
        cells[i] = text[i];
    }
    cof_table *table = column_of(NULL, cells, N);
    cut(table, NULL, 0, 1000);
    for (size_t i = 0; i < N; i++) assert_int_equal(cof_table_code(table, i, 0), i * 7 % N / 2);
    cut(table, NULL, 0, 254);
    assert_int_equal(table->column[0].width, 1);
    cof_table_free(table);
}

static void refused_memory_leaves_the_column(void **state)
{
    const char *cells[] = {"3", "1", "2", "5", "1"}, *edges[] = {"2"};
    (void)state;
    for (size_t at = 0, given = 0; given < 2; at++) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_env env = alloc_env(&meter);
        cof_table *table = column_of(&env, cells, COUNT(cells));
        cof_cut_options o = {.struct_size = sizeof o, .bins = 2, .edges = edges, .n_edges = given};
        cof_error err;
        meter.fail_at = meter.count + at;
        cof_status status = cof_table_cut(table, 0, &o, &err);
        if (status != COF_OK) {
            assert_int_equal(status, COF_ERR_MEMORY);
            assert_string_equal(cell(table, 3), "5");
        }
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) given++, at = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_follow_the_formula),
        cmocka_unit_test(names_are_the_ranges),
        cmocka_unit_test(long_numbers_get_short_names),
        cmocka_unit_test(edges_may_be_given),
        cmocka_unit_test(what_is_no_number_is_missing),
        cmocka_unit_test(cuts_can_be_written_and_used_again),
        cmocka_unit_test(wrong_cuts_are_told),
        cmocka_unit_test(cells_are_as_wide_as_bins_need),
        cmocka_unit_test(refused_memory_leaves_the_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
