/* Counts of bins, smoothed. */
#include "unit_helper.h"

#include "../../src/fit/likelihood.h"

enum { BINS = 16 };

static void fill(double *all, double share)
{
    for (int b = 0; b < BINS; b++) all[b] = share;
}

static double add(const double *x)
{
    double sum = 0;
    for (int b = 0; b < BINS; b++) sum += x[b];
    return sum;
}

/* A cluster whose rows lie in one bin says so after smoothing. */
static void one_bin_stays(void **state)
{
    (void)state;
    double all[BINS], count[BINS] = {0};
    fill(all, 100);
    count[7] = 100;
    cofi_bins_smooth(all, BINS, count);
    for (int b = 0; b < BINS; b++) assert_true(count[b] == (b == 7 ? 100 : 0));
}

/* Rows of a spread cluster are shared with neighbouring bins, and none are lost. */
static void neighbours_share(void **state)
{
    (void)state;
    double all[BINS], count[BINS];
    fill(all, 100);
    for (int b = 0; b < BINS; b++) count[b] = b % 2 == 0 ? 30 : 10;
    cofi_bins_smooth(all, BINS, count);
    assert_near(add(count), BINS * 20, 1e-9);
    for (int b = 1; b + 1 < BINS; b++) assert_near(count[b], 20, 3);
}

/* What is compared is how frequent a bin is in the cluster and in the table: bins of unequal share keep it. */
static void bins_of_unequal_share(void **state)
{
    (void)state;
    double all[BINS], count[BINS];
    for (int b = 0; b < BINS; b++) {
        all[b] = 10 + b;
        count[b] = 0.25 * all[b];
    }
    cofi_bins_smooth(all, BINS, count);
    for (int b = 0; b < BINS; b++) assert_near(count[b], 0.25 * all[b], 1e-9);
}

/* The more rows, the narrower the kernel: of ten million, none are moved. */
static void many_rows_are_left_alone(void **state)
{
    (void)state;
    double all[BINS], count[BINS];
    fill(all, 1e7);
    for (int b = 0; b < BINS; b++) count[b] = b % 2 == 0 ? 3e6 : 1e6;
    cofi_bins_smooth(all, BINS, count);
    for (int b = 0; b < BINS; b++) assert_true(count[b] == (b % 2 == 0 ? 3e6 : 1e6));
}

static void no_rows(void **state)
{
    (void)state;
    double all[BINS], count[BINS] = {0};
    fill(all, 0);
    cofi_bins_smooth(all, BINS, count);
    assert_true(add(count) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_bin_stays), cmocka_unit_test(neighbours_share),
                                       cmocka_unit_test(bins_of_unequal_share),
                                       cmocka_unit_test(many_rows_are_left_alone), cmocka_unit_test(no_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
