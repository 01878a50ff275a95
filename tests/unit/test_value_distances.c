/* cof_value_distances: the worked numbers of the methods' specification on its table T6, through the public door. */
#include "coforest_extra.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "alloc_helper.h"

static const int32_t t6[] = {0, 0, 2, 1, 1, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 0, 2, 0, 2, 1, 2, 0, 2, 1};

static cof_status measure(const cof_env *env, const char *method, double d[4][9], cof_error *err)
{
    cof_table *table = NULL;
    cof_fit_options o = {.struct_size = sizeof o, .threads = 1, .method = method};
    double *const out[] = {d[0], d[1], d[2], d[3]};
    cof_status status = cof_table_from_codes(env, t6, 6, 4, NULL, &table, err);
    if (status == COF_OK) status = cof_value_distances(table, &o, out, err);
    cof_table_free(table);
    return status;
}

/* Upper triangles: columns of 3, 2, 3 and 2 values. */
static void check(const char *method, const double wanted[8])
{
    double d[4][9];
    cof_error err = {""};
    assert_int_equal(measure(NULL, method, d, &err), COF_OK);
    const double got[] = {d[0][1], d[0][2], d[0][5], d[1][1], d[2][1], d[2][2], d[2][5], d[3][1]};
    for (int i = 0; i < 8; i++) assert_true(fabs(got[i] - wanted[i]) <= 1.0000001e-6);
    for (int v = 0; v < 3; v++) assert_true(d[0][4 * v] == 0);
    assert_true(d[0][3] == d[0][1] && d[1][2] == d[1][1]);
}

static void test_worked_numbers(void **state)
{
    (void)state;
    check("cbdm", (double[]){0.608581, 0.608581, 0.902671, 0.816497, 0.673960, 0.704903, 0.703009, 1});
    check("adc", (double[]){0.486111, 0.333333, 0.504630, 0.58, 0.652778, 0.486111, 0.481481, 0.6});
    check("lsm", (double[]){0.520375, 0.673658, 0.796489, 1, 0.520375, 0.796489, 0.673658, 1});
}

static void test_other_methods_refuse(void **state)
{
    double d[4][9];
    cof_error err = {""};
    (void)state;
    assert_int_equal(measure(NULL, "rgg", d, &err), COF_ERR_ARGUMENT);
    assert_int_equal(measure(NULL, NULL, d, &err), COF_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "coforest"));
    assert_int_equal(measure(NULL, "nonsense", d, &err), COF_ERR_ARGUMENT);
}

/* A missing cell is one more value; columns not wanted, constant or no attribute are left alone or zero. */
static void test_columns(void **state)
{
    static const char *const cells[] = {"a", "b", NULL, "a", "x", "y", "y", "x",
                                        "c", "c", "c",  "c", "1", "2", "3", "4"};
    double first[9], constant[1] = {7}, label[16];
    double *const out[] = {first, NULL, constant, label};
    cof_table *table = NULL;
    cof_error err = {""};
    cof_fit_options o = {.struct_size = sizeof o, .threads = 1, .method = "adc"};
    (void)state;
    assert_int_equal(cof_table_from_strings(NULL, cells, 4, 4, NULL, &table, &err), COF_OK);
    assert_int_equal(cof_table_set_role(table, 3, COF_ROLE_LABEL, &err), COF_OK);
    assert_int_equal(cof_value_distances(table, &o, out, &err), COF_OK);
    assert_true(first[1] > 0 && first[2] > 0 && first[8] == 0);
    assert_true(constant[0] == 0 && label[1] == 0);
    assert_int_equal(cof_table_set_role(table, 1, COF_ROLE_IGNORED, &err), COF_OK);
    assert_int_equal(cof_value_distances(table, &o, out, &err), COF_ERR_NO_COLUMNS); /* adc compares pairs */
    cof_table_free(table);
}

static void test_failing_memory(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        double d[4][9];
        cof_error err = {""};
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = measure(&env, "cbdm", d, &err);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_numbers),
        cmocka_unit_test(test_other_methods_refuse),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
