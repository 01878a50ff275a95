/* ADC on the specification's table T6: how much each attribute tells the values of another apart. */
#include "../../src/method/counterparts/adc.c"

#include "method_helper.h"

static void test_relevance(void **state)
{
    (void)state;
    static const double wanted[4][4] = {{1, 0.333333, 0.777778, 0.222222},
                                        {0.8, 1, 0.8, 0.2},
                                        {0.777778, 0.333333, 1, 0.666667},
                                        {0.6, 0.2, 1, 1}};
    bench b;
    double count[9];
    cofi_pair_sum sum = {.fit = &b.fit};
    set_up_t6(&b, "adc", 0);
    for (size_t t = 0; t < 4; t++)
        for (size_t r = 0; r < 4; r++) {
            count_pair(&b, t, r, count);
            assert_near(4 * relevance(&sum, t, r, count), wanted[t][r], EXACT); /* of four attributes */
        }
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_relevance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
