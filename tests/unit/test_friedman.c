/* Friedman's test: the worked example of the specification, the tables of the paper, and SciPy's figures
 * (scipy.stats.friedmanchisquare, chi2.sf, f.sf) on the same numbers. */
#include "unit_helper.h"

#include "alloc_helper.h"

enum { DATASETS = 12, METHODS = 11 };

static const double example[] = {0.7, 0.6, 0.5, 0.8, 0.8, 0.4, 0.9, NAN, 0.3, 0.5, 0.6, 0.7};

static void worked_example(void **state)
{
    double rank[3];
    cof_friedman_result r = {.struct_size = sizeof r};
    cof_error err;
    (void)state;
    assert_status(cof_friedman(NULL, example, 4, 3, 1, rank, &r, &err), COF_OK, &err);
    assert_near(rank[0], 1.625, 1e-15);
    assert_near(rank[1], 2.125, 1e-15);
    assert_near(rank[2], 2.25, 1e-15);
    assert_near(r.chi_square, 0.875, 1e-12);
    assert_near(r.p, 0.645649, 5e-7);
    assert_near(r.chi_square_tied, 0.933333, 5e-7);
    assert_near(r.p_tied, 0.627089, 5e-7);
    assert_near(r.f, 0.368421, 5e-7);
    assert_int_equal(r.df, 2);
    assert_int_equal(r.f_df1, 2);
    assert_int_equal(r.f_df2, 6);
}

static void smaller_may_be_better(void **state)
{
    static const double value[] = {1, 2, 3, 1, 2, NAN};
    double rank[3];
    cof_error err;
    (void)state;
    assert_status(cof_friedman(NULL, value, 2, 3, 0, rank, NULL, &err), COF_OK, &err);
    assert_true(rank[0] == 1 && rank[1] == 2 && rank[2] == 3);
}

/* The file lists metric, dataset, method in this order: 12 x 11 numbers a metric. */
static void read_metric(const char *metric, double value[DATASETS * METHODS])
{
    char line[200];
    size_t n = 0;
    FILE *file = fopen(COF_SOURCE_DIR "/paper/printed_tables.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, metric, strlen(metric)) != 0 || line[strlen(metric)] != ',') continue;
        const char *cell = line;
        for (int comma = 0; comma < 3; comma++) cell = strchr(cell, ',') + 1;
        assert_true(n < DATASETS * METHODS);
        value[n++] = *cell == ',' ? (double)NAN : strtod(cell, NULL);
    }
    fclose(file);
    assert_int_equal(n, DATASETS * METHODS);
}

typedef struct printed {
    const char *metric;
    double rank[METHODS];                    /* as printed, four decimals */
    double chi, p, chi_tied, p_tied, f, p_f; /* SciPy on the printed means */
} printed;

static const printed tables[] = {
    {"CA", /* two ranks differ from the print, where unrounded means decided a tie: 6.4583 and 6.5833 */
     {7.2500, 7.2083, 6.7917, 6.5000, 7.0833, 6.5417, 5.3750, 6.3750, 6.2083, 5.5833, 1.0833},
     33.041666666666615,
     0.0002680286976750668,
     33.45991561181437,
     0.0002279042716554152,
     4.179683756588395,
     6.455223207212939e-05},
    {"ARI",
     {8.6667, 7.0000, 6.5417, 6.7500, 5.2083, 6.0833, 4.7083, 6.5417, 7.0833, 6.3333, 1.0833},
     40.38636363636349,
     1.4485325078695881e-05,
     40.71019473081328,
     1.2698010067053771e-05,
     5.580074222095316,
     1.068591026879606e-06},
    {"NMI",
     {7.6250, 6.5417, 6.9583, 7.3750, 5.5000, 6.0000, 5.0417, 5.4167, 7.3333, 6.2917, 1.9167},
     28.132575757575708,
     0.001719077111305054,
     28.455938697318,
     0.0015252849562151346,
     3.3685317280336378,
     0.0007306796467281248}};

static void tables_of_the_paper(void **state)
{
    double value[DATASETS * METHODS], rank[METHODS];
    cof_error err;
    (void)state;
    for (size_t i = 0; i < COUNT(tables); i++) {
        const printed *t = &tables[i];
        cof_friedman_result r = {.struct_size = sizeof r};
        read_metric(t->metric, value);
        assert_status(cof_friedman(NULL, value, DATASETS, METHODS, 1, rank, &r, &err), COF_OK, &err);
        for (size_t j = 0; j < METHODS; j++) assert_near(rank[j], t->rank[j], 5.1e-5);
        assert_near(r.chi_square, t->chi, 1e-10);
        assert_near(r.p, t->p, 1e-10 * t->p);
        assert_near(r.chi_square_tied, t->chi_tied, 1e-10);
        assert_near(r.p_tied, t->p_tied, 1e-10 * t->p_tied);
        assert_near(r.f, t->f, 1e-10);
        assert_near(r.p_f, t->p_f, 1e-10 * t->p_f);
    }
}

static void critical_differences(void **state)
{
    (void)state;
    assert_near(cof_critical_difference(12, 11, 0.05), 3.8007, 5e-5);
    assert_near(cof_critical_difference(12, 11, 0.1), 3.4877, 5e-5);
    assert_near(cof_critical_difference(12, 11, 0.05), 2.8070337683438042 * sqrt(11 * 12 / 72.0), 1e-12);
    assert_true(isnan(cof_critical_difference(12, 1, 0.05)));
    assert_true(isnan(cof_critical_difference(12, 11, 0)));
    assert_true(isnan(cof_critical_difference(12, 11, 1)));
    assert_true(isnan(cof_critical_difference(0, 11, 0.05)));
}

static void extremes(void **state)
{
    static const double tied[] = {1, 1, 2, 2}, clear[] = {1, 2, 1, 2, 1, 2};
    cof_friedman_result r = {.struct_size = sizeof r};
    cof_error err;
    (void)state;
    assert_status(cof_friedman(NULL, tied, 2, 2, 1, NULL, &r, &err), COF_OK, &err);
    assert_true(r.chi_square == 0 && isnan(r.chi_square_tied) && r.p == 1 && r.p_tied == 1 && r.p_f == 1);
    assert_status(cof_friedman(NULL, clear, 3, 2, 1, NULL, &r, &err), COF_OK, &err);
    assert_true(isinf(r.f) && r.p_f == 0);
    assert_status(cof_friedman(NULL, tied, 1, 2, 1, NULL, &r, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_friedman(NULL, tied, 2, 1, 1, NULL, &r, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_friedman(NULL, NULL, 2, 2, 1, NULL, &r, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_friedman(NULL, tied, 2, SIZE_MAX, 1, NULL, &r, &err), COF_ERR_ARGUMENT, &err);
}

static void every_allocation_may_fail(void **state)
{
    double rank[3];
    cof_error err;
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = cof_friedman(&env, example, 4, 3, 1, rank, NULL, &err);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(worked_example),
                                       cmocka_unit_test(smaller_may_be_better),
                                       cmocka_unit_test(tables_of_the_paper),
                                       cmocka_unit_test(critical_differences),
                                       cmocka_unit_test(extremes),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
