/* DILCA on the specification's table T6: symmetric uncertainties and contexts; and tables without a result. */
#include "../../src/method/counterparts/cbdm.c"

#include "method_helper.h"

static void test_uncertainty(void **state)
{
    (void)state;
    static const struct {
        size_t r, s;
        double wanted;
    } pairs[] = {{0, 1, 0.300297}, {0, 2, 0.685331}, {0, 3, 0.180995},
                 {1, 2, 0.300297}, {1, 3, 0.074483}, {2, 3, 0.616377}};
    bench b;
    double count[9];
    cofi_logs logs = {NULL, 0};
    set_up_t6(&b, "cbdm", 0);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        size_t r = pairs[i].r, s = pairs[i].s;
        count_pair(&b, r, s, count);
        assert_near(symmetric_uncertainty(&logs, count, b.problem.n_values[r], b.problem.n_values[s]),
                    pairs[i].wanted, EXACT);
    }
    tear_down(&b);
}

static void test_contexts(void **state)
{
    (void)state;
    static const uint8_t wanted[16] = {0, 0, 1, 0, /* {3} */
                                       1, 0, 1, 0, /* {1, 3} */
                                       1, 0, 0, 1, /* {1, 4} */
                                       0, 0, 1, 0 /* {3} */};
    bench b;
    double uncertainty[4];
    uint8_t in_context[16] = {0};
    uint64_t n_context[4] = {0};
    cof_error err = {""};
    set_up_t6(&b, "cbdm", 0);
    cofi_distances *again = NULL;
    assert_status(cofi_km_open(&b.fit, (void **)&again, &err), COF_OK, &err);
    dilca_work w = {&b.fit, again, uncertainty, in_context, n_context, {NULL, 0}};
    assert_status(visit_twice(&w, &err), COF_OK, &err);
    assert_memory_equal(in_context, wanted, sizeof wanted);
    tear_down(&b);
}

/* Independent columns have an empty context: no result, and a sentence that names one. */
static void test_no_result(void **state)
{
    (void)state;
    int32_t codes[24];
    for (int32_t i = 0; i < 12; i++) {
        codes[2 * i] = i % 3;
        codes[2 * i + 1] = i / 3;
    }
    cof_table *table = table_of(codes, 12, 2);
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .method = "cbdm"};
    cof_model *model = NULL;
    cof_error err = {""};
    assert_int_equal(cof_fit(table, &o, &model, NULL, &err), COF_ERR_NO_RESULT);
    assert_null(model);
    assert_non_null(strstr(err.text, "column 'V1' is independent of all others"));
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_uncertainty), cmocka_unit_test(test_contexts),
                                       cmocka_unit_test(test_no_result)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
