/* Distribution functions against SciPy 1.x (scipy.special.gammaincc, betainc, scipy.stats.norm.ppf). */
#include "unit_helper.h"

#include "../../src/score/special.h"

static void assert_relative(double a, double b)
{
    assert_near(a, b, 1e-11 * fabs(b));
}

static void gamma_equals_scipy(void **state)
{
    static const double known[][3] = {
        {0.5, 0.1, 0.6547208460185768},  {1, 2.5, 0.0820849986238988},   {5, 16.525, 0.0002671654945396514},
        {5, 3, 0.8152632445237722},      {50, 40, 0.9296649333406051},   {50, 80, 0.0001307839765914092},
        {0.1, 1e-8, 0.8334060116183979}, {500, 480, 0.8137180268096754}, {2.5, 60, 3.1385797727553017e-24}};
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++)
        assert_relative(cofi_gamma_upper(known[i][0], known[i][1]), known[i][2]);
    assert_true(cofi_gamma_upper(3, 0) == 1);
    assert_true(cofi_gamma_upper(3, INFINITY) == 0);
}

static void beta_equals_scipy(void **state)
{
    static const double known[][4] = {
        {0.5, 0.5, 0.3, 0.36901011956554536}, {2, 3, 0.6, 0.8208}, {55, 5, 0.7, 1.3247521658931196e-05},
        {1, 100, 0.001, 0.09520785288629095}, {30, 30, 0.5, 0.5},  {200, 0.5, 0.999, 0.5272441070252349},
        {5, 55, 0.5, 0.999999999999151}};
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++)
        assert_relative(cofi_beta_lower(known[i][0], known[i][1], known[i][2]), known[i][3]);
    assert_true(cofi_beta_lower(2, 3, 0) == 0);
    assert_true(cofi_beta_lower(2, 3, 1) == 1);
}

static void quantile_equals_scipy(void **state)
{
    static const double known[][2] = {{1e-12, -7.034483825301131},   {1e-300, -37.0470962993612},
                                      {0.0025, -2.8070337683438042}, {0.025, -1.9599639845400545},
                                      {0.3, -0.5244005127080409},    {0.9, 1.2815515655446004},
                                      {0.9975, 2.807033768343811},   {0.995, 2.5758293035489004}};
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) assert_relative(cofi_normal_quantile(known[i][0]), known[i][1]);
    assert_near(cofi_normal_quantile(0.5), 0, 1e-15);
}

static void tails(void **state)
{
    (void)state;
    assert_near(cofi_chi_square_tail(3.841458820694124, 1), 0.05, 1e-12);
    assert_near(cofi_f_tail(4.179683756588395, 10, 110), 6.455223207212939e-05, 1e-14);
    assert_true(cofi_f_tail(0, 2, 6) == 1);
    assert_true(cofi_f_tail(INFINITY, 2, 6) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gamma_equals_scipy),
                                       cmocka_unit_test(beta_equals_scipy),
                                       cmocka_unit_test(quantile_equals_scipy), cmocka_unit_test(tails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
