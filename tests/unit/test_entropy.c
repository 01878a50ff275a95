/* Entropies of pair tables, looked up and not. */
#include "method_helper.h"

#include "../../src/method/counterparts/entropy.h"

static void test_entropies(void **state)
{
    (void)state;
    bench b;
    cofi_logs logs, none = {NULL, 0};
    cof_error err = {""};
    double count[9];
    set_up_t6(&b, "kmodes", 0);
    assert_status(cofi_logs_open(&b.fit, &logs, &err), COF_OK, &err);
    assert_int_equal(logs.n, 7);
    for (int x = 0; x < 12; x++) assert_near(cofi_x_log_x(&logs, x), x > 0 ? x * log2(x) : 0, 1e-12);
    count_pair(&b, 0, 2, count);
    cofi_shared looked_up = cofi_entropies(&logs, count, 3, 3), made = cofi_entropies(&none, count, 3, 3);
    assert_near(looked_up.own, log2(6) - (2 * log2(2) + 3 * log2(3)) / 6, 1e-12);
    assert_near(looked_up.other, looked_up.own, 1e-12);
    assert_near(looked_up.joint, log2(6) - 4 * log2(2) / 6, 1e-12);
    assert_near(looked_up.joint, made.joint, 1e-12);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entropies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
