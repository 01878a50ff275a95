/* When two computed numbers count as different. */
#include "unit_helper.h"

#include "../../src/core/tie.h"

static void rounding_is_not_clearly_larger(void **state)
{
    (void)state;
    assert_true(cofi_clearly_larger(1, 0));
    assert_true(cofi_clearly_larger(-1, -2));
    assert_true(cofi_clearly_larger(1e-300, -1e-300));
    assert_false(cofi_clearly_larger(0, 1));
    assert_false(cofi_clearly_larger(1, 1));
    assert_false(cofi_clearly_larger(0, 0));
    assert_false(cofi_clearly_larger(1 + 1e-13, 1));
    assert_false(cofi_clearly_larger(-1e6, -1e6 * (1 + 1e-13)));
    assert_true(cofi_clearly_larger(1 + 1e-11, 1));
    assert_false(cofi_clearly_larger((double)NAN, 1));
    assert_false(cofi_clearly_larger(1, (double)NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounding_is_not_clearly_larger)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
