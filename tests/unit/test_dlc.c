/* DLC on the specification's table T6: what the gaps learn after the first inner loop. */
#include "../../src/method/counterparts/dlc.c"

#include "method_helper.h"

static void check_attribute(const bench *b, size_t r, uint32_t n_gaps, const double *within,
                            const double *between)
{
    double below[2] = {0, 0};
    for (uint32_t t = 0; t < n_gaps; t++) {
        double got_within, got_between;
        for (uint32_t j = 0; j < 2; j++) below[j] += cofi_profile_of(&b->fit, r, t, j);
        gap_chances(&b->fit, below, &got_within, &got_between);
        assert_near(got_within, within[t], EXACT);
        assert_near(got_between, between[t], EXACT);
    }
}

static void test_gaps(void **state)
{
    (void)state;
    bench b;
    cof_error err = {""};
    double gap[10], below[2];
    lines on = {.gap = gap, .below = below};
    set_up_t6(&b, "dlc:fixed", 0);
    run_bench(&b);
    assert_memory_equal(labels_of(&b.fit), t6_labels, sizeof t6_labels);
    cofi_profile_update(&b.fit);
    check_attribute(&b, 0, 2, (double[]){0.25, 0.25}, (double[]){0.111111, 0.333333});
    check_attribute(&b, 2, 2, (double[]){0, 0.25}, (double[]){0.444444, 0.333333});
    assert_status(cofi_present_values(&b.fit, &on.present, &err), COF_OK, &err);
    learn_gaps(&b.fit, &on);
    assert_near(gap[b.problem.first[0]], 0.25, EXACT);
    assert_near(gap[b.problem.first[0] + 1], 0.75, EXACT);
    assert_near(gap[b.problem.first[2]], 1, 1e-8);
    assert_near(gap[b.problem.first[2] + 1], 0, 1e-8);
    assert_near(gap[b.problem.first[1]], 1, 1e-15);
    assert_near(gap[b.problem.first[3]], 1, 1e-15);
    tear_down(&b);
}

static void test_first_gammas(void **state)
{
    (void)state;
    static const double wanted[] = {1.5, 1, 0, 1.5, 1, 2.5, 2, 1.5, 1.5, 0, 1.5, 0};
    bench b;
    cof_error err = {""};
    double gap[10];
    lines on = {.gap = gap};
    assert_first_gammas("dlc:fixed", wanted, false);
    set_up_t6(&b, "dlc", 0);
    assert_status(cofi_present_values(&b.fit, &on.present, &err), COF_OK, &err);
    equal_gaps(&b.fit, &on);
    assert_status(cofi_distances_open(&b.fit, &b.fit.scratch, &on.d, &err), COF_OK, &err);
    line_distances(&b.fit, &on);
    assert_distances(&b, &on.d, (double[]){0.5, 1, 0.5, 1, 0.5, 1, 0.5, 1});
    tear_down(&b);
    assert_t6_labels("dlc");
    assert_t6_labels("dlc:fixed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gaps), cmocka_unit_test(test_first_gammas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
