/* UDM on the specification's table T6: how strongly attributes go together. */
#include "../../src/method/counterparts/udm.c"

#include "method_helper.h"

static void test_relation(void **state)
{
    (void)state;
    static const struct {
        size_t r, s;
        double wanted;
    } pairs[] = {{0, 1, 0.466667}, {0, 2, 0.733333}, {0, 3, 0.333333},
                 {1, 2, 0.466667}, {1, 3, 0.466667}, {2, 3, 0.6}};
    bench b;
    double count[9];
    set_up_t6(&b, "udm", 0);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        size_t r = pairs[i].r, s = pairs[i].s;
        count_pair(&b, r, s, count);
        assert_near(relation(count, b.problem.n_values[r], b.problem.n_values[s], 6), pairs[i].wanted, EXACT);
        count_pair(&b, s, r, count);
        assert_near(relation(count, b.problem.n_values[s], b.problem.n_values[r], 6), pairs[i].wanted, EXACT);
    }
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_relation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
