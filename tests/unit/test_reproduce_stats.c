/* Statistics of `coforest reproduce`, against NumPy 2.4's mean, std(ddof=1) and quantile and SciPy 1.17's
 * percentileofscore(kind="mean") on the same numbers. */
#include "../../cli/reproduce_stats.c"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const double values[] = {0.75, 0.5, 0.875, 0.8125, 0.625, 0.9375, 0.6875};
enum { N = sizeof values / sizeof *values };

static void assert_near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance)) print_error("got %.15g, wanted %.15g\n", got, wanted);
    assert_true(fabs(got - wanted) <= tolerance);
}

static void test_moments(void **state)
{
    (void)state;
    assert_near(rep_mean(values, N), 0.7410714285714286, 1e-15);
    assert_near(rep_deviation(values, N), 0.15064346112909244, 1e-15);
    assert_true(isnan(rep_mean(values, 0)) && isnan(rep_deviation(values, 1)));
}

static void test_order(void **state)
{
    double x[N];
    (void)state;
    memcpy(x, values, sizeof x);
    rep_sort(x, N);
    assert_near(rep_quantile(x, N, 0), 0.5, 0);
    assert_near(rep_quantile(x, N, 0.05), 0.5375, 1e-15);
    assert_near(rep_quantile(x, N, 0.5), 0.75, 1e-15);
    assert_near(rep_quantile(x, N, 0.95), 0.91875, 1e-15);
    assert_near(rep_quantile(x, N, 1), 0.9375, 0);
    assert_near(rep_percentile(x, N, 0.75), 50, 1e-12);
    assert_near(rep_percentile(x, N, 0.4), 0, 0);
    assert_near(rep_percentile(x, N, 0.76), 57.14285714285714, 1e-12);
    assert_near(rep_percentile(x, N, 1), 100, 0);
    assert_near(rep_percentile((double[]){1, 2, 2, 3}, 4, 2), 50, 1e-12);
}

/* Means of ten scatter around the mean of all by the deviation over the root of ten. */
static void test_resampling(void **state)
{
    static double means[N_MEANS];
    (void)state;
    rep_resample_means(values, N, PAPER_RUNS, means);
    double error = rep_deviation(values, N) * sqrt((N - 1.0) / N) / sqrt(PAPER_RUNS);
    assert_near(rep_mean(means, N_MEANS), rep_mean(values, N), 4 * error / sqrt(N_MEANS));
    assert_near(rep_deviation(means, N_MEANS), error, 0.05 * error);
    for (size_t i = 1; i < N_MEANS; i++) assert_true(means[i - 1] <= means[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moments), cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_resampling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
