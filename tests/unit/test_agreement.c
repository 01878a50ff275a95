/* Agreement of restarts: the index over all rows where they are few, close to it where they are many. */
#include "unit_helper.h"

#include "../../src/fit/agreement.h"

static cof_table *uniform(uint64_t n_rows)
{
    cof_table *table = NULL;
    cof_error err;
    cof_generate_options o = {.struct_size = sizeof o, .n_rows = n_rows, .n_columns = 4, .seed = 3};
    assert_status(cof_table_generate(NULL, &o, &table, &err), COF_OK, &err);
    return table;
}

/* Notes two partitions that share their first `shared` rows in a hundred, measures, and compares. */
static void check_two(uint64_t n_rows, uint32_t shared, double tolerance)
{
    cof_table *table = uniform(n_rows);
    cof_error err;
    cof_fit_options o = {
        .struct_size = sizeof o, .k = 3, .restarts = 2, .max_passes = 9, .max_rebuilds = 9, .threads = 1};
    cofi_problem problem;
    cofi_engine e;
    cofi_agreement a;
    double *ari = NULL;
    assert_status(cofi_problem_open(table, &o, false, &problem, &err), COF_OK, &err);
    assert_status(cofi_engine_open(&problem, &o, &e, &err), COF_OK, &err);
    assert_status(cofi_agreement_open(&e, &a, &err), COF_OK, &err);
    int32_t *one = get_zero(n_rows, sizeof *one), *two = get_zero(n_rows, sizeof *two);
    for (uint64_t i = 0; i < n_rows; i++) {
        one[i] = (int32_t)(cofi_mix64(i) % 3);
        two[i] = i % 100 < shared ? one[i] : (int32_t)(cofi_mix64(i + n_rows) % 3);
    }
    cofi_pass_set_labels(&e.pass, one);
    cofi_agreement_note(&e, &a, 0);
    cofi_pass_set_labels(&e.pass, two);
    cofi_agreement_note(&e, &a, 1);
    assert_status(cofi_agreement_measure(&e, &a, 2, 1, &ari, &err), COF_OK, &err);
    cof_scores all = {.struct_size = sizeof all};
    assert_status(cof_evaluate(NULL, one, two, n_rows, &all, &err), COF_OK, &err);
    assert_true(fabs(ari[0] - all.ari) <= tolerance && ari[1] == 1);
    cofi_release(&e.env, ari);
    cofi_agreement_close(&e, &a);
    cofi_engine_close(&e);
    cofi_problem_close(&problem);
    cof_table_free(table);
    free(one);
    free(two);
}

static void few_rows_are_all_compared(void **state)
{
    (void)state;
    for (uint32_t shared = 0; shared <= 100; shared += 20) check_two(500, shared, 1e-12);
}

static void many_rows_are_sampled(void **state)
{
    (void)state;
    check_two(300001, 70, 0.01);
}

static void a_model_tells_it(void **state)
{
    (void)state;
    cof_table *table = uniform(400);
    cof_model *model = NULL, *loaded = NULL;
    cof_error err;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_fit_options o = {.struct_size = sizeof o, .k = 4, .restarts = 6, .seed = 1};
    assert_status(cof_fit(table, &o, &model, &info, &err), COF_OK, &err);
    const double *ari = cof_model_agreement(model);
    assert_non_null(ari);
    for (uint32_t r = 0; r < 6; r++) assert_true(ari[r] <= 1 && (r != info.best_restart || ari[r] == 1));
    assert_status(cof_model_save(model, "test_agreement.cofm", &err), COF_OK, &err);
    assert_status(cof_model_load(NULL, "test_agreement.cofm", &loaded, &err), COF_OK, &err);
    remove("test_agreement.cofm");
    assert_memory_equal(cof_model_agreement(loaded), ari, 6 * sizeof *ari);
    cof_model_free(loaded);
    cof_model_free(model);
    o.restarts = 1;
    assert_status(cof_fit(table, &o, &model, NULL, &err), COF_OK, &err);
    assert_null(cof_model_agreement(model));
    cof_model_free(model);
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_are_all_compared),
        cmocka_unit_test(many_rows_are_sampled),
        cmocka_unit_test(a_model_tells_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
