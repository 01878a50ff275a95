/* Het2Hom on the specification's table T6: base distances, positions on the lines, the first objective, errors,
 * weights and rounds. */
#include "../../src/method/counterparts/h2h.c"

#include "method_helper.h"

static void test_base_distances(void **state)
{
    (void)state;
    bench b;
    cofi_distances d;
    cof_error err = {""};
    set_up_t6(&b, "h2h", 0);
    assert_status(base_distances(&b.fit, &d, &err), COF_OK, &err);
    assert_distances(&b, &d, (double[]){0.625, 0.416667, 0.708333, 0.7, 0.875, 0.625, 0.583333, 0.7});
    tear_down(&b);
}

static void test_positions(void **state)
{
    static const double positions[][3] = {{0, 0.625, 0.05},        {0, 0.075, 0.416667},
                                          {0.507353, 0, 0.708333}, {0, 0.875, 0.466270},
                                          {0, 0.652778, 0.625},    {0.613095, 0, 0.583333}};
    static const size_t line_of[] = {0, 1, 2, 4, 5, 6};
    (void)state;
    bench b;
    set_up_t6(&b, "h2h", 0);
    h2h *s = b.state;
    assert_int_equal(s->n_lines, 8);
    for (int i = 0; i < 6; i++)
        for (int v = 0; v < 3; v++)
            assert_near(s->position[s->position_at[line_of[i]] + (size_t)v], positions[i][v], EXACT);
    tear_down(&b);
}

/* Lines here in the order of their attributes; the specification puts the attributes of two values last. */
static void test_first_round(void **state)
{
    static const double errors[] = {0.0025, 0.173611, 0.040393, 0.49, 0.167060, 0.000772, 0.340278, 0.49};
    static const double weights[] = {0.083324, 0.083338, 0.083338, 0.25, 0.082712, 0.083644, 0.083644, 0.25};
    (void)state;
    bench b;
    cof_error err = {""};
    set_up_t6(&b, "h2h", 0);
    h2h *s = b.state;
    memset(b.fit.profiles.alive, 1, 2);
    assert_status(launch(&b.fit, s, &err), COF_OK, &err);
    assert_int_equal(b.fit.log.n_passes, 2);
    for (size_t t = 0; t < s->n_lines; t++) s->weight[t] = 1.0 / 8;
    assert_status(settle_lines(&b.fit, s, &err), COF_OK, &err);
    assert_near(b.fit.log.objective, 0.213077, EXACT);
    measure_errors(&b.fit, s);
    for (size_t t = 0; t < 8; t++) assert_near(line_error(&b.fit, s, t), errors[t], EXACT);
    learn_weights(&b.fit, s);
    for (size_t t = 0; t < 8; t++) assert_near(s->weight[t], weights[t], EXACT);
    tear_down(&b);
}

static void test_rounds(void **state)
{
    (void)state;
    bench b;
    set_up_t6(&b, "h2h", 0);
    run_bench(&b);
    assert_int_equal(b.fit.log.rebuild, 2); /* three rounds: two after the first */
    tear_down(&b);
    assert_t6_labels("h2h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_distances),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_first_round),
        cmocka_unit_test(test_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
