/* The cof_table handle: made from memory, asked, and told what its columns are for. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/table/table.h"

static cof_column column_of(const cof_table *table, size_t column)
{
    cof_column view = {.struct_size = sizeof view};
    assert_int_equal(cof_table_column(table, column, &view), COF_OK);
    return view;
}

static const char *cell_text(const cof_table *table, size_t row, size_t column)
{
    return cof_table_value(table, column, cof_table_code(table, row, column));
}

/* ---- Making ------------------------------------------------------------------------------------- */

static void codes_become_values(void **state)
{
    (void)state;
    const int32_t codes[] = {10, -1, 9, 70000, 100, INT32_MAX, 9, 0, 10, -7, INT32_MIN, 70000};
    cof_table *table = table_of(codes, 6, 2);
    assert_int_equal(cof_table_n_rows(table), 6);
    assert_int_equal(cof_table_n_columns(table), 2);
    cof_column a = column_of(table, 0), b = column_of(table, 1);
    assert_string_equal(a.name, "V1");
    assert_string_equal(b.name, "V2");
    assert_int_equal(a.n_values, 3);
    assert_int_equal(a.n_missing, 1);
    assert_int_equal(b.n_values, 3);
    assert_int_equal(b.n_missing, 2);
    assert_string_equal(b.missing_text, "");
    assert_int_equal(a.role, COF_ROLE_ATTRIBUTE);
    assert_int_equal(a.ordinal, 0);
    static const char *const texts[] = {"10", "",  "9",  "70000", "100", "2147483647",
                                        "9",  "0", "10", "",      "",    "70000"};
    for (size_t i = 0; i < 12; i++) assert_string_equal(cell_text(table, i / 2, i % 2), texts[i]);
    assert_int_equal(cof_table_code(table, 0, 0), 1);
    assert_int_equal(cof_table_code(table, 5, 0), 3); /* missing comes after the values */
    cof_table_free(table);
}

static void strings_become_values(void **state)
{
    (void)state;
    const char *const cells[] = {"b", NULL, "a", "b", "x", "", "x", "\xC3\xA9"};
    const char *const names[] = {"letter", "odd, name"};
    cof_table *table;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, 4, 2, names, &table, &err), COF_OK, &err);
    for (size_t i = 0; i < 8; i++)
        assert_string_equal(cell_text(table, i % 4, i / 4), cells[i] != NULL ? cells[i] : "");
    assert_int_equal(column_of(table, 0).n_missing, 1);
    assert_int_equal(column_of(table, 1).n_missing, 0); /* an empty text is a value here */
    assert_int_equal(column_of(table, 1).n_values, 3);
    assert_int_equal(cof_table_find(table, "odd, name"), 1);
    assert_int_equal(cof_table_find(table, "odd"), SIZE_MAX);
    cof_table_free(table);
    cof_table_free(NULL);
}

static void tables_without_cells_are_refused(void **state)
{
    (void)state;
    const int32_t code = 1;
    const char *const cell = "x";
    cof_table *table = NULL;
    cof_error err;
    assert_int_equal(cof_table_from_codes(NULL, &code, 0, 1, NULL, &table, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_from_codes(NULL, &code, 1, 0, NULL, &table, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_from_codes(NULL, NULL, 1, 1, NULL, &table, NULL), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_from_strings(NULL, &cell, 0, 1, NULL, &table, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_from_strings(NULL, NULL, 1, 1, NULL, &table, &err), COF_ERR_ARGUMENT);
    assert_null(table);
}

/* Products of rows and columns that overflow were walked past the cells' end. */
static void sizes_beyond_memory_are_refused(void **state)
{
    (void)state;
    static const size_t shape[][2] = {
        {SIZE_MAX, 1},         {1, SIZE_MAX},       {SIZE_MAX / 2 + 1, 2},    {2, SIZE_MAX / 2 + 1},
        {SIZE_MAX / 4 + 2, 4}, {UINT32_MAX - 1, 1}, {1 << 20, SIZE_MAX >> 20}};
    const int32_t code = 1;
    const char *const cell = "x";
    cof_table *table = NULL;
    for (size_t i = 0; i < COUNT(shape); i++) {
        cof_error err = {""};
        cof_status by_code = cof_table_from_codes(NULL, &code, shape[i][0], shape[i][1], NULL, &table, &err);
        assert_true(by_code == COF_ERR_ARGUMENT || by_code == COF_ERR_DATA);
        assert_string_not_equal(err.text, "");
        assert_int_equal(cof_table_from_strings(NULL, &cell, shape[i][0], shape[i][1], NULL, &table, &err),
                         by_code);
    }
    assert_null(table);
}

/* Predicting finds columns by name: with two of one name it read the wrong one. */
static void two_columns_of_one_name_are_refused(void **state)
{
    (void)state;
    const int32_t codes[] = {1, 2, 3, 4, 5, 6};
    const char *const twice[] = {"a", "b", "a"}, *const made_up[] = {"V3", "b", NULL};
    cof_table *table = NULL;
    cof_error err;
    assert_int_equal(cof_table_from_codes(NULL, codes, 2, 3, twice, &table, &err), COF_ERR_DATA);
    assert_string_equal(err.text, "columns 1 and 3 are both named 'a'; rename one");
    assert_int_equal(cof_table_from_codes(NULL, codes, 2, 3, made_up, &table, &err), COF_ERR_DATA);
    assert_null(table);
}

/* A model holding such a text could be saved but not loaded. */
static void texts_that_are_not_utf8_are_refused(void **state)
{
    (void)state;
    const char *const cells[] = {"a", "b", "fine", "\xFF!"}, *const bad_name[] = {"a", "\xC3"};
    cof_table *table = NULL;
    cof_error err;
    assert_int_equal(cof_table_from_strings(NULL, cells, 2, 2, NULL, &table, &err), COF_ERR_DATA);
    assert_string_equal(err.text, "the cell of row 2 in column 'V2' is not valid UTF-8; convert it first");
    assert_int_equal(cof_table_from_strings(NULL, cells, 1, 2, bad_name, &table, &err), COF_ERR_DATA);
    assert_string_equal(err.text, "the name of column 2 is not valid UTF-8");
    assert_null(table);
}

static void widths_from_codes(void **state)
{
    (void)state;
    static const size_t values[] = {255, 256, 257, 65535, 65536, 65537};
    for (size_t i = 0; i < COUNT(values); i++) {
        size_t n = values[i] + 10;
        int32_t *codes = get_zero(n, sizeof *codes);
        for (size_t row = 0; row < n; row++) codes[row] = (int32_t)((row * 7919) % values[i]);
        codes[n / 2] = -1;
        cof_table *table = table_of(codes, n, 1);
        uint32_t n_values = column_of(table, 0).n_values;
        assert_true(n_values + 1 >= values[i]);
        for (size_t row = 0; row < n; row++) {
            const char *text = cell_text(table, row, 0);
            if (codes[row] >= 0)
                assert_int_equal(atoi(text), codes[row]);
            else
                assert_int_equal(cof_table_code(table, row, 0), n_values);
        }
        cof_table_free(table);
        free(codes);
    }
}

/* ---- Asking ------------------------------------------------------------------------------------- */

static void out_of_range_is_an_answer(void **state)
{
    (void)state;
    cof_table *table = t6_table();
    cof_column view = {.struct_size = sizeof view};
    assert_int_equal(cof_table_column(table, 4, &view), COF_ERR_ARGUMENT);
    assert_null(cof_table_value(table, 4, 0));
    assert_non_null(cof_table_value(table, 0, 3)); /* the missing id */
    assert_null(cof_table_value(table, 0, 4));
    assert_null(cof_table_value(table, 0, UINT32_MAX));
    view.struct_size = 0; /* forgotten */
    assert_int_equal(cof_table_column(table, 0, &view), COF_ERR_ARGUMENT);
    view.struct_size = SIZE_MAX / 2; /* stray */
    assert_int_equal(cof_table_column(table, 0, &view), COF_ERR_ARGUMENT);
    cof_table_free(table);
}

static void distinct_rows_over_the_attributes(void **state)
{
    (void)state;
    cof_table *table = t6_table();
    uint64_t n = 0;
    assert_int_equal(cof_table_count_distinct(table, &n, NULL), COF_OK);
    assert_int_equal(n, 5);
    assert_int_equal(cof_table_set_role(table, 2, COF_ROLE_LABEL, NULL), COF_OK);
    assert_int_equal(cof_table_count_distinct(table, &n, NULL), COF_OK);
    assert_int_equal(n, 5);
    assert_int_equal(cof_table_set_role(table, 0, COF_ROLE_IGNORED, NULL), COF_OK);
    assert_int_equal(cof_table_count_distinct(table, &n, NULL), COF_OK);
    assert_int_equal(n, 3);
    for (size_t c = 0; c < 4; c++)
        assert_int_equal(cof_table_set_role(table, c, COF_ROLE_IGNORED, NULL), COF_OK);
    assert_int_equal(cof_table_count_distinct(table, &n, NULL), COF_OK);
    assert_int_equal(n, 1);
    cof_table_free(table);
}

/* ---- Telling ------------------------------------------------------------------------------------ */

static void roles(void **state)
{
    (void)state;
    cof_table *table = t6_table();
    cof_error err;
    for (int32_t role = COF_ROLE_ATTRIBUTE; role <= COF_ROLE_NUMERIC; role++) {
        assert_int_equal(cof_table_set_role(table, 1, role, &err), COF_OK);
        assert_int_equal(column_of(table, 1).role, role);
    }
    assert_int_equal(cof_table_set_role(table, 1, -1, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_set_role(table, 1, COF_ROLE_NUMERIC + 1, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_set_role(table, 4, COF_ROLE_LABEL, &err), COF_ERR_ARGUMENT);
    assert_int_equal(column_of(table, 1).role, COF_ROLE_NUMERIC);
    cof_table_free(table);
}

static cof_table *levels_table(void)
{
    static const char *const cells[] = {"low", "high", NULL, "medium", "low", "high"};
    cof_table *table;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, 6, 1, NULL, &table, &err), COF_OK, &err);
    return table;
}

static void a_stated_order_renumbers(void **state)
{
    (void)state;
    static const char *const cells[] = {"low", "high", "", "medium", "low", "high"};
    static const char *const order[] = {"none", "low", "medium", "tall", "high"};
    static const uint32_t codes[] = {0, 2, 3, 1, 0, 2};
    cof_table *table = levels_table();
    cof_error err;
    for (int twice = 0; twice < 2; twice++) {
        assert_status(cof_table_set_order(table, 0, order, COUNT(order), &err), COF_OK, &err);
        assert_int_equal(column_of(table, 0).ordinal, 1);
        for (size_t i = 0; i < 6; i++) {
            assert_int_equal(cof_table_code(table, i, 0), codes[i]);
            assert_string_equal(cell_text(table, i, 0), cells[i]);
        }
    }
    cof_table_free(table);
}

static void wrong_orders_change_nothing(void **state)
{
    (void)state;
    static const char *const gap[] = {"low", "high"}, *const twice[] = {"low", "high", "low", "medium"};
    cof_table *table = levels_table();
    cof_error err;
    assert_int_equal(cof_table_set_order(table, 0, gap, 2, &err), COF_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "'medium'"));
    assert_int_equal(cof_table_set_order(table, 0, twice, 4, &err), COF_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "twice"));
    assert_int_equal(cof_table_set_order(table, 0, NULL, 0, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_set_order(table, 1, gap, 2, &err), COF_ERR_ARGUMENT);
    assert_int_equal(column_of(table, 0).ordinal, 0);
    assert_string_equal(cof_table_value(table, 0, 0), "high");
    cof_table_free(table);
}

/* Random orders of columns of all widths: the texts of the cells stay, the numbers follow the order. */
static void any_order_of_any_width(void **state)
{
    (void)state;
    static const size_t values[] = {2, 200, 300, 66000};
    cofi_rng rng = dice(4);
    for (size_t w = 0; w < COUNT(values); w++) {
        size_t n = values[w];
        int32_t *codes = get_zero(n, sizeof *codes);
        const char **order = get_zero(n, sizeof *order);
        for (size_t i = 0; i < n; i++) codes[i] = (int32_t)i;
        cof_table *named = table_of(codes, n, 1), *table = table_of(codes, n, 1);
        for (size_t i = 0; i < n; i++) order[i] = cof_table_value(named, 0, (uint32_t)i);
        for (size_t i = n; i > 1; i--) {
            size_t other = below(&rng, i);
            const char *moved = order[i - 1];
            order[i - 1] = order[other];
            order[other] = moved;
        }
        assert_int_equal(cof_table_set_order(table, 0, order, n, NULL), COF_OK);
        for (size_t v = 0; v < n; v++) assert_string_equal(cof_table_value(table, 0, (uint32_t)v), order[v]);
        for (size_t i = 0; i < n; i++) assert_int_equal(atoi(cell_text(table, i, 0)), codes[i]);
        cof_table_free(table);
        cof_table_free(named);
        free(order);
        free(codes);
    }
}

/* ---- Failing memory ----------------------------------------------------------------------------- */

static cof_status make_and_ask(const cof_env *env)
{
    static const char *const cells[] = {"a", "b", NULL, "a", "1", "2", "3", "10"};
    static const char *const order[] = {"b", "a"};
    cof_table *table = NULL;
    uint64_t n;
    cof_status status = cof_table_from_strings(env, cells, 4, 2, NULL, &table, NULL);
    if (status == COF_OK) status = cof_table_set_order(table, 0, order, 2, NULL);
    if (status == COF_OK) status = cof_table_count_distinct(table, &n, NULL);
    cof_table_free(table);
    if (status != COF_OK) return status;
    static const int32_t codes[] = {1, 2, 3, 4};
    table = NULL;
    status = cof_table_from_codes(env, codes, 2, 2, NULL, &table, NULL);
    cof_table_free(table);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = make_and_ask(&env);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

/* A column is cut, so that what was read is sampled with it. */
static cof_table *numbers_table(size_t n)
{
    cof_cut_options bins = {.struct_size = sizeof bins, .bins = 3};
    cof_error err;
    int32_t *codes = get_zero(2 * n, sizeof *codes);
    for (size_t i = 0; i < n; i++) {
        codes[2 * i] = i % 7 == 0 ? -1 : (int32_t)(i % 5);
        codes[2 * i + 1] = (int32_t)i;
    }
    cof_table *table = table_of(codes, n, 2);
    assert_status(cof_table_cut(table, 1, &bins, &err), COF_OK, &err);
    free(codes);
    return table;
}

static void a_sample_has_rows_of_all_stretches(void **state)
{
    (void)state;
    enum { N = 1000 };
    cof_table *table = numbers_table(N), *sample;
    cof_error err;
    for (size_t n = 1; n <= 1500; n = 3 * n + 2) {
        assert_status(cof_table_sample(table, n, &sample, &err), COF_OK, &err);
        size_t n_rows = n < N ? n : N;
        assert_int_equal(cof_table_n_rows(sample), n_rows);
        for (size_t i = 0; i < n_rows; i++) {
            size_t row = (size_t)cof_table_row_number(sample, i);
            assert_true(row >= i * N / n_rows && row < (i + 1) * N / n_rows);
            for (size_t c = 0; c < 2; c++) {
                assert_int_equal(cof_table_code(sample, i, c), cof_table_code(table, row, c));
                assert_string_equal(cof_table_cell(sample, i, c), cof_table_cell(table, row, c));
            }
        }
        cof_table_free(sample);
    }
    assert_int_equal(cof_table_row_number(table, 7), 7);
    cof_table_free(table);
}

static void every_allocation_of_a_sample_may_fail(void **state)
{
    (void)state;
    cof_table *table = numbers_table(30), *sample;
    cof_env own = table->env;
    cof_error err;
    cof_status status = COF_ERR_MEMORY;
    for (size_t n = 0; status != COF_OK; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        table->env = cofi_env_resolve(&env);
        status = cof_table_sample(table, 4, &sample, &err);
        if (status == COF_OK)
            cof_table_free(sample);
        else
            assert_status(status, COF_ERR_MEMORY, &err);
        table->env = own;
        assert_int_equal(meter.live, 0);
    }
    cof_table_free(table);
}

static void patterns_match_names(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        int32_t matches;
    } tries[] = {{"q*", "q1", 1},      {"q*", "q", 1},     {"q*", "aq", 0},     {"*", "", 1},
                 {"?", "", 0},         {"q?", "q1", 1},    {"q?", "q12", 0},    {"*_b*", "a_b", 1},
                 {"a*b*c", "abbc", 1}, {"a*b", "abbc", 0}, {"same", "same", 1}, {"same", "sam", 0},
                 {"**x", "yx", 1}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        assert_int_equal(cof_name_matches(tries[i].pattern, tries[i].name) != 0, tries[i].matches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_names),
        cmocka_unit_test(codes_become_values),
        cmocka_unit_test(strings_become_values),
        cmocka_unit_test(tables_without_cells_are_refused),
        cmocka_unit_test(sizes_beyond_memory_are_refused),
        cmocka_unit_test(two_columns_of_one_name_are_refused),
        cmocka_unit_test(texts_that_are_not_utf8_are_refused),
        cmocka_unit_test(widths_from_codes),
        cmocka_unit_test(out_of_range_is_an_answer),
        cmocka_unit_test(distinct_rows_over_the_attributes),
        cmocka_unit_test(roles),
        cmocka_unit_test(a_stated_order_renumbers),
        cmocka_unit_test(wrong_orders_change_nothing),
        cmocka_unit_test(any_order_of_any_width),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_sample_has_rows_of_all_stretches),
        cmocka_unit_test(every_allocation_of_a_sample_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
