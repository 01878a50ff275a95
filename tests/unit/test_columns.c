/* What columns seem to be, and values that look like mistakes. */
#include "unit_helper.h"

#include "alloc_helper.h"

static int32_t kind_of(const cof_table *table, size_t column, int32_t missing)
{
    cof_advice advice = {.struct_size = sizeof advice};
    cof_error err;
    assert_status(cof_column_advise(table, column, missing, &advice, &err), COF_OK, &err);
    assert_true(strlen(advice.why) > 0);
    return advice.kind;
}

/* One column of these cells. */
static cof_table *column_of(const char *const *cells, size_t n)
{
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, n, 1, NULL, &table, &err), COF_OK, &err);
    return table;
}

static int32_t kind_with(size_t n_rows, size_t n_values)
{
    const char **cells = get_zero(n_rows, sizeof *cells);
    char(*text)[32] = get_zero(n_rows, sizeof *text);
    for (size_t i = 0; i < n_rows; i++) {
        snprintf(text[i], sizeof text[i], "name %zu", i < n_values ? i : 0);
        cells[i] = text[i];
    }
    cof_table *table = column_of(cells, n_rows);
    int32_t kind = kind_of(table, 0, COF_MISSING_VALUE);
    cof_table_free(table);
    free(text);
    free(cells);
    return kind;
}

static void identifiers_need_nine_in_ten_of_sixteen_rows(void **state)
{
    (void)state;
    assert_int_equal(kind_with(15, 15), COF_KIND_CATEGORY);
    assert_int_equal(kind_with(16, 16), COF_KIND_IDENTIFIER);
    assert_int_equal(kind_with(16, 15), COF_KIND_IDENTIFIER);
    assert_int_equal(kind_with(16, 14), COF_KIND_CATEGORY);
    assert_int_equal(kind_with(1000, 900), COF_KIND_IDENTIFIER);
    assert_int_equal(kind_with(1000, 899), COF_KIND_CATEGORY);
    assert_int_equal(kind_with(20, 1), COF_KIND_CONSTANT);
}

static void missing_cells_may_keep_a_column_from_being_constant(void **state)
{
    const char *cells[] = {"a", NULL, "a"};
    cof_table *table = column_of(cells, 3);
    (void)state;
    assert_int_equal(kind_of(table, 0, COF_MISSING_VALUE), COF_KIND_CATEGORY);
    assert_int_equal(kind_of(table, 0, COF_MISSING_IGNORE), COF_KIND_CONSTANT);
    assert_int_equal(kind_of(table, 0, COF_MISSING_DROP), COF_KIND_CONSTANT);
    assert_int_equal(cof_column_advise(table, 1, 0, NULL, NULL), COF_ERR_ARGUMENT);
    cof_table_free(table);
}

/* n distinct numbers, each in three rows. */
static int32_t kind_of_numbers(size_t n, const char *format)
{
    const char **cells = get_zero(3 * n, sizeof *cells);
    char(*text)[24] = get_zero(n, sizeof *text);
    for (size_t i = 0; i < 3 * n; i++) {
        snprintf(text[i % n], sizeof text[0], format, (double)(i % n));
        cells[i] = text[i % n];
    }
    cof_table *table = column_of(cells, 3 * n);
    int32_t kind = kind_of(table, 0, COF_MISSING_VALUE);
    cof_table_free(table);
    free(text);
    free(cells);
    return kind;
}

static void quantities_are_many_numbers(void **state)
{
    (void)state;
    assert_int_equal(kind_of_numbers(20, "%.0f"), COF_KIND_CATEGORY);
    assert_int_equal(kind_of_numbers(21, "%.0f"), COF_KIND_QUANTITY);
    assert_int_equal(kind_of_numbers(21, "-%.0f"), COF_KIND_QUANTITY);
    assert_int_equal(kind_of_numbers(10, "%.0f.5"), COF_KIND_CATEGORY);
    assert_int_equal(kind_of_numbers(11, "%.0f.5"), COF_KIND_QUANTITY);
    assert_int_equal(kind_of_numbers(20, "%.1f"), COF_KIND_CATEGORY); /* 3.0 has no fraction */
    assert_int_equal(kind_of_numbers(30, "%.0f a"), COF_KIND_CATEGORY);
}

/* The suspects of the first column, of which there must be so many. */
static void suspects_of(const cof_table *table, cof_suspect list[static 8], size_t n_wanted)
{
    cof_error err;
    size_t n = 0;
    assert_status(cof_column_suspects(table, 0, list, 8, &n, &err), COF_OK, &err);
    assert_int_equal(n, n_wanted);
}

static void mistakes_are_found(void **state)
{
    const char *cells[] = {"yes", " Yes", "N/A", "YES ", "no", "nothing"};
    cof_table *table = column_of(cells, 6);
    cof_suspect list[8];
    cof_error err;
    size_t n;
    (void)state;
    suspects_of(table, list, 3);
    assert_int_equal(list[0].suspicion, COF_SUSPECT_MISSING);
    assert_string_equal(cof_table_value(table, 0, list[0].value), "N/A");
    assert_int_equal(list[1].suspicion, COF_SUSPECT_SPELLING);
    assert_string_equal(cof_table_value(table, 0, list[1].value), " Yes");
    assert_string_equal(cof_table_value(table, 0, list[1].other), "YES ");
    assert_string_equal(cof_table_value(table, 0, list[2].other), "yes");
    assert_status(cof_column_suspects(table, 0, list, 1, &n, &err), COF_OK, &err);
    assert_int_equal(n, 3);
    assert_int_equal(cof_column_suspects(table, 1, list, 8, &n, &err), COF_ERR_ARGUMENT);
    cof_table_free(table);
}

static void words_for_nothing_are_found(void **state)
{
    const char *cells[] = {"n.a.", "NaN", "#N/A", "Missing", "none", "a"};
    cof_table *table = column_of(cells, 6);
    cof_suspect list[8];
    (void)state;
    suspects_of(table, list, 4); /* "none" may be an answer */
    for (size_t i = 0; i < 4; i++) assert_int_equal(list[i].suspicion, COF_SUSPECT_MISSING);
    cof_table_free(table);
}

static void rows_are_counted(void **state)
{
    const char *cells[] = {"b", "a", NULL, "b", "b"};
    cof_table *table = column_of(cells, 5);
    uint64_t rows[3];
    cof_error err;
    (void)state;
    assert_status(cof_column_count(table, 0, rows, 3, &err), COF_OK, &err);
    assert_int_equal(rows[0], 1);
    assert_int_equal(rows[1], 3);
    assert_int_equal(rows[2], 1);
    assert_int_equal(cof_column_count(table, 0, rows, 2, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_column_count(table, 1, rows, 3, &err), COF_ERR_ARGUMENT);
    double weights[5];
    assert_int_equal(cof_table_weights(table, weights, 4, &err), COF_ERR_ARGUMENT);
    assert_string_equal(err.text, "room for 4 weights was given, but the table has 5 rows");
    cof_table_free(table);
}

static void refused_memory_is_told(void **state)
{
    const char *cells[] = {"yes", " Yes", "no"};
    (void)state;
    for (size_t at = 0;; at++) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_env env = alloc_env(&meter);
        cof_table *table = NULL;
        cof_suspect list[4];
        cof_error err;
        size_t n = 0;
        assert_status(cof_table_from_strings(&env, cells, 3, 1, NULL, &table, &err), COF_OK, &err);
        meter.fail_at = meter.count + at;
        cof_status status = cof_column_suspects(table, 0, list, 4, &n, &err);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

/* Every kind of column under every rule and way with quantities. */
static void kind_and_rule_decide_what_a_column_becomes(void **state)
{
    enum { V = COF_TREAT_VALUES, B = COF_TREAT_BINS, N = COF_TREAT_NUMBERS, I = COF_TREAT_IDENTIFIER };
    static const struct {
        int32_t kind, numbers, rule, chosen, expected[3]; /* cut, scaled, values */
    } cases[] = {{COF_KIND_CATEGORY, 0, COF_RULE_NONE, 0, {V, V, V}},
                 {COF_KIND_CATEGORY, 1, COF_RULE_NUMERIC, 0, {B, N, V}},
                 {COF_KIND_CATEGORY, 1, COF_RULE_CUT, 1, {B, B, B}},
                 {COF_KIND_CONSTANT, 0, COF_RULE_NONE, 0, {V, V, V}},
                 {COF_KIND_QUANTITY, 1, COF_RULE_NONE, 0, {B, N, V}},
                 {COF_KIND_QUANTITY, 1, COF_RULE_NONE, 1, {B, N, V}},
                 {COF_KIND_QUANTITY, 1, COF_RULE_CATEGORICAL, 0, {V, V, V}},
                 {COF_KIND_QUANTITY, 1, COF_RULE_ORDINAL, 1, {V, V, V}},
                 {COF_KIND_IDENTIFIER, 0, COF_RULE_NONE, 0, {I, I, I}},
                 {COF_KIND_IDENTIFIER, 1, COF_RULE_CATEGORICAL, 0, {I, I, I}},
                 {COF_KIND_IDENTIFIER, 0, COF_RULE_NONE, 1, {V, V, V}},
                 {COF_KIND_IDENTIFIER, 1, COF_RULE_NONE, 1, {B, N, V}},
                 {COF_KIND_IDENTIFIER, 1, COF_RULE_NUMERIC, 0, {B, N, V}},
                 {COF_KIND_IDENTIFIER, 1, COF_RULE_CUT, 0, {B, B, B}}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int32_t how = COF_QUANTITIES_CUT; how <= COF_QUANTITIES_VALUES; how++) {
            cof_advice advice = {
                .struct_size = sizeof advice, .kind = cases[i].kind, .numbers = cases[i].numbers};
            assert_int_equal(cof_column_treatment(&advice, cases[i].rule, how, cases[i].chosen),
                             cases[i].expected[how]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identifiers_need_nine_in_ten_of_sixteen_rows),
        cmocka_unit_test(missing_cells_may_keep_a_column_from_being_constant),
        cmocka_unit_test(quantities_are_many_numbers),
        cmocka_unit_test(mistakes_are_found),
        cmocka_unit_test(words_for_nothing_are_found),
        cmocka_unit_test(rows_are_counted),
        cmocka_unit_test(refused_memory_is_told),
        cmocka_unit_test(kind_and_rule_decide_what_a_column_becomes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
