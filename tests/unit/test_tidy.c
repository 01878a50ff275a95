/* Joining values that differ only by blanks or letter case, and finding them in a model. */
#include "unit_helper.h"

#include "alloc_helper.h"

static const char *const cells[] = {
    "yes", " yes", "Yes", "yes", "no\xC2\xA0", "NO", " NA ", NULL, "\xC3\x89t\xC3\xA9", "\xC3\xA9t\xC3\xA9",
    "u",   "u",    "u",   "v",   "v",          "v"};
static const char *const names[] = {" answer ", "season"};

static cof_table *make(const cof_env *env)
{
    cof_table *table = NULL;
    return cof_table_from_strings(env, cells, 8, 2, names, &table, NULL) == COF_OK ? table : NULL;
}

static void assert_column(const cof_table *table, size_t c, uint32_t n_values, uint64_t n_missing)
{
    cof_column about = {.struct_size = sizeof about};
    assert_int_equal(cof_table_column(table, c, &about), COF_OK);
    assert_int_equal(about.n_values, n_values);
    assert_int_equal(about.n_missing, n_missing);
}

static const char *cell(const cof_table *table, size_t row, size_t column)
{
    return cof_table_value(table, column, cof_table_code(table, row, column));
}

static void joins_what_it_is_told_to(void **state)
{
    (void)state;
    cof_table *table = make(NULL);
    assert_int_equal(cof_table_tidy(table, COF_TIDY_TRIM, NULL, 0, NULL), COF_OK);
    assert_column(table, 0, 4, 2); /* yes, Yes, no, NO; " NA " is missing */
    assert_int_equal(cof_table_find(table, "answer"), 0);
    assert_string_equal(cell(table, 1, 0), "yes");
    assert_int_equal(cof_table_tidy(table, COF_TIDY_CASE, NULL, 0, NULL), COF_OK);
    assert_column(table, 0, 2, 2);
    assert_column(table, 1, 3, 0);
    assert_string_equal(cell(table, 2, 0), "yes"); /* the most frequent spelling stays */
    assert_int_equal(cof_table_code(table, 4, 0), cof_table_code(table, 5, 0));
    assert_int_equal(cof_table_code(table, 0, 1), cof_table_code(table, 1, 1));
    cof_table_free(table);
    table = make(NULL);
    assert_int_equal(cof_table_tidy(table, COF_TIDY_TRIM, names, 0, NULL), COF_OK);
    assert_column(table, 0, 5, 1); /* no text is missing */
    cof_table_free(table);
}

static void values_of_a_model_are_found(void **state)
{
    (void)state;
    const char *const new_cells[] = {"YES", "maybe", NULL, "V", "v", "v"}, *const new_names[] = {"answer",
                                                                                                 "season"};
    cof_fit_options o = {.struct_size = sizeof o, .k = 2};
    cof_predict_info info = {.struct_size = sizeof info};
    cof_unseen list[2];
    cof_table *table = make(NULL), *other;
    cof_model *model;
    int32_t labels[3];
    size_t n = 0;
    assert_int_equal(cof_table_tidy(table, COF_TIDY_TRIM | COF_TIDY_CASE, NULL, 0, NULL), COF_OK);
    assert_int_equal(cof_fit(table, &o, &model, NULL, NULL), COF_OK);
    assert_int_equal(cof_table_from_strings(NULL, new_cells, 3, 2, new_names, &other, NULL), COF_OK);
    assert_int_equal(cof_model_unseen(model, other, list, 2, &n, NULL), COF_OK);
    assert_int_equal(n, 3);
    assert_string_equal(list[0].text, "YES");
    assert_string_equal(cof_model_value(model, 0, (uint32_t)list[0].like), "yes");
    assert_true(list[0].rows == 1 && list[1].like == -1 && !list[1].missing);
    assert_int_equal(cof_table_tidy(other, COF_TIDY_CASE, NULL, 0, NULL), COF_OK);
    assert_int_equal(cof_model_unseen(model, other, list, 2, &n, NULL), COF_OK);
    assert_int_equal(n, 1);
    assert_int_equal(cof_model_predict(model, other, 1, labels, 3, &info, NULL), COF_OK);
    assert_int_equal(info.n_unseen_cells, 1);
    assert_int_equal(info.n_blank_rows, 0);
    cof_table_free(other);
    cof_model_free(model);
    cof_table_free(table);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    cof_status status = COF_ERR_MEMORY;
    for (size_t n = 0; status != COF_OK; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_table *table = make(&env);
        if (table == NULL) continue;
        status = cof_table_tidy(table, COF_TIDY_TRIM | COF_TIDY_CASE, NULL, 0, NULL);
        assert_true(status == COF_OK || status == COF_ERR_MEMORY);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_what_it_is_told_to),
        cmocka_unit_test(values_of_a_model_are_found),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
