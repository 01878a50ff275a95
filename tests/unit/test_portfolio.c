/* Alternating starts: what refines each, that nothing depends on threads or kernels, and what the model keeps. */
#include "unit_helper.h"

#include "../../src/rows/kernels/kernel.h"

#include "alloc_helper.h"

static cof_fit_options portfolio(uint32_t k)
{
    return (cof_fit_options){.struct_size = sizeof(cof_fit_options),
                             .k = k,
                             .init = COF_INIT_PORTFOLIO,
                             .select = COF_SELECT_BALANCE,
                             .threads = 1,
                             .seed = 3};
}

/* Twenty where the table is small, ten where it is not, and the k-means start where it is not COForest's. */
static void how_many_starts(void **state)
{
    (void)state;
    cof_table *table = random_table(1, 120, 6, 4, 3);
    cof_fit_options o = portfolio(3);
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model_free(fit_model(table, &o, &info));
    assert_int_equal(info.restarts, 100);
    assert_int_equal(info.n_restarts, 100);
    o.method = "kmodes";
    cof_model *m = fit_model(table, &o, &info);
    assert_int_equal(info.restarts, 10);
    o.init = COF_INIT_KMEANS;
    cof_model *plain = fit_model(table, &o, NULL);
    assert_same_labels(m, plain);
    cof_model_free(plain);
    cof_model_free(m);
    o = portfolio(3);
    o.restarts = 1;
    cof_model_free(fit_model(table, &o, &info));
    assert_int_equal(info.restarts, 1);
    static const uint64_t rows[] = {0, 1, 2};
    o.init_rows = rows;
    m = fit_model(table, &o, &info);
    o.init = COF_INIT_RANDOM;
    plain = fit_model(table, &o, NULL);
    assert_same_labels(m, plain);
    cof_model_free(plain);
    cof_model_free(m);
    cof_table_free(table);
}

/* Of n rows, l columns of four values and k clusters. */
static void assert_starts(size_t n, size_t l, uint32_t k, uint32_t wanted)
{
    cof_table *table = random_table(2, n, l, 4, k);
    cof_fit_options o = portfolio(k);
    o.max_passes = o.max_rebuilds = 1;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model_free(fit_model(table, &o, &info));
    assert_int_equal(info.restarts, wanted);
    cof_table_free(table);
}

static void more_starts_for_small_tables_and_many_clusters(void **state)
{
    (void)state;
    assert_starts(400, 20, 3, 87);  /* 2^21 / (8,000 x 3) */
    assert_starts(1000, 20, 8, 32); /* four a cluster */
    assert_starts(2000, 20, 5, 20);
    assert_starts(60000, 20, 2, 10);
}

/* More rows than EM walks, so that parts and samples are at work. */
static void the_same_for_any_threads_and_kernel(void **state)
{
    (void)state;
    cof_table *table = random_table(5, 30000, 10, 5, 4);
    cof_fit_options o = portfolio(4);
    o.restarts = 4;
    cof_model *one = fit_model(table, &o, NULL);
    for (uint32_t threads = 2; threads <= 5; threads++) {
        o.threads = threads;
        cof_model *many = fit_model(table, &o, NULL);
        assert_same_labels(one, many);
        assert_same_trees(one, many);
        cof_model_free(many);
    }
    for (size_t i = 0; cofi_kernel_at(i) != NULL; i++) {
        setenv("COFOREST_KERNEL", cofi_kernel_at(i)->name, 1);
        cof_model *other = fit_model(table, &o, NULL);
        unsetenv("COFOREST_KERNEL");
        assert_same_labels(one, other);
        cof_model_free(other);
    }
    cof_model_free(one);
    cof_table_free(table);
}

/* Whatever refined the kept start, the model labels the rows it was made from as the fit did, saved or not. */
static void a_model_repeats_its_labels(void **state)
{
    (void)state;
    size_t n_by_likelihood = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        cof_table *table = random_table(seed, 300, 8, 4, 4);
        cof_fit_options o = portfolio(4);
        cof_fit_info info = {.struct_size = sizeof info};
        cof_error err;
        int32_t label[300];
        o.seed = seed;
        o.restarts = 2;
        o.variant = (int32_t)(seed % 2);
        cof_model *m = fit_model(table, &o, &info), *again = NULL;
        assert_status(cof_model_save(m, "test_portfolio.cof", &err), COF_OK, &err);
        assert_status(cof_model_load(NULL, "test_portfolio.cof", &again, &err), COF_OK, &err);
        remove("test_portfolio.cof");
        /* under `authors` rounding may decide a tie in the fit, which the model does not keep */
        if (info.stop_reason == COF_STOP_CONVERGED && o.variant == COF_VARIANT_PAPER) {
            assert_status(cof_model_predict(m, table, 1, label, 300, NULL, &err), COF_OK, &err);
            assert_memory_equal(label, cof_model_labels(m, NULL), sizeof label);
            assert_status(cof_model_predict(again, table, 1, label, 300, NULL, &err), COF_OK, &err);
            assert_memory_equal(label, cof_model_labels(m, NULL), sizeof label);
        }
        n_by_likelihood += cof_model_best_restart(again) % 2;
        cof_model_free(again);
        cof_model_free(m);
        cof_table_free(table);
    }
    assert_true(n_by_likelihood > 0 && n_by_likelihood < 12);
}

/* Clusters planted far apart are found by either kind of start. */
static void planted_clusters_are_found(void **state)
{
    (void)state;
    cof_generate_options g = {.struct_size = sizeof g,
                              .kind = COF_GENERATE_PLANTED,
                              .n_rows = 20000,
                              .n_columns = 12,
                              .n_values = 4,
                              .k = 5,
                              .noise = 0.4,
                              .seed = 2};
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_generate(NULL, &g, &table, &err), COF_OK, &err);
    cof_fit_options o = portfolio(5);
    o.restarts = 6;
    cof_model *m = fit_model(table, &o, NULL);
    const double *ari = cof_model_agreement(m), *size = cof_model_sizes(m);
    assert_true(fmax(ari[0], fmax(ari[2], ari[4])) > 0.9 && fmax(ari[1], fmax(ari[3], ari[5])) > 0.9);
    for (uint32_t j = 0; j < 5; j++) assert_near(size[j], 4000, 400);
    cof_model_free(m);
    cof_table_free(table);
}

/* Asked to stop at any time, even between rounds of EM, it keeps what it has. */
static void stopping(void **state)
{
    (void)state;
    for (uint32_t after = 1; after < 60; after++) {
        uint32_t left = after;
        cof_env env = {.struct_size = sizeof env, .should_stop = stop_soon, .ctx = &left};
        cofi_rng rng = dice(4);
        int32_t *codes = random_codes(&rng, 200, 6, 4, 3);
        cof_table *table = NULL;
        cof_model *m = NULL;
        cof_error err;
        left = UINT32_MAX;
        assert_status(cof_table_from_codes(&env, codes, 200, 6, NULL, &table, &err), COF_OK, &err);
        left = after;
        cof_fit_options o = portfolio(3);
        o.restarts = 2;
        cof_status status = cof_fit(table, &o, &m, NULL, &err);
        assert_true(status == COF_OK || status == COF_ERR_STOPPED);
        size_t n = 0;
        if (status == COF_OK) assert_true(cof_model_labels(m, &n)[0] >= 0);
        cof_model_free(m);
        cof_table_free(table);
        free(codes);
    }
}

/* ---- Large tables: restarts run on a sample first ------------------------------------------------ */

enum { ROWS = 20000, COLUMNS = 8, VALUES = 4, CLUSTERS = 4 };

/* Clusters around modes, one row in three of them at random. */
static int32_t *planted(cofi_rng *rng, int32_t *truth)
{
    int32_t *codes = get_zero((size_t)ROWS * COLUMNS, sizeof *codes);
    for (size_t i = 0; i < ROWS; i++) {
        truth[i] = (int32_t)below(rng, CLUSTERS);
        for (size_t r = 0; r < COLUMNS; r++)
            codes[i * COLUMNS + r] = below(rng, 3) == 0
                                         ? (int32_t)below(rng, VALUES)
                                         : (int32_t)(((size_t)truth[i] * (r + 1) + r) % VALUES);
    }
    return codes;
}

static cof_model *fitted(const cof_table *table, cof_fit_options o, cof_fit_info *info)
{
    cof_model *model;
    cof_error err;
    o.struct_size = sizeof o;
    *info = (cof_fit_info){.struct_size = sizeof *info};
    assert_int_equal(cof_fit(table, &o, &model, info, &err), COF_OK);
    return model;
}

static void large_tables_are_found_from_samples(void **state)
{
    (void)state;
    cofi_rng rng = dice(6);
    int32_t *truth = get_zero(ROWS, sizeof *truth), *codes = planted(&rng, truth);
    cof_table *table = table_of(codes, ROWS, COLUMNS);
    cof_fit_options o = {
        .k = CLUSTERS, .init = COF_INIT_PORTFOLIO, .select = COF_SELECT_BALANCE, .restarts = 8};
    cof_fit_info one, many;
    o.threads = 1;
    cof_model *a = fitted(table, o, &one);
    o.threads = 3;
    cof_model *b = fitted(table, o, &many);
    size_t n;
    const int32_t *label = cof_model_labels(a, &n);
    assert_memory_equal(label, cof_model_labels(b, &n), ROWS * sizeof *label);
    cof_indices scores = {.struct_size = sizeof scores};
    assert_int_equal(cof_evaluate(NULL, label, truth, ROWS, &scores, NULL), COF_OK);
    assert_true(scores.ari > 0.8);
    assert_int_equal(one.n_restarts, 8); /* those that repeat an earlier one are counted too */
    assert_int_equal(one.row_visits, many.row_visits);
    cof_restart_record best = cof_model_restarts(a, &n)[one.best_restart];
    assert_int_equal(n, 8);
    for (size_t r = 0; r < n; r++)
        assert_true(cof_model_restarts(a, &n)[r].criterion <= best.criterion + 1e-9);
    cof_model_free(a);
    cof_model_free(b);
    cof_table_free(table);
    free(codes);
    free(truth);
}

/* A table whose sample may hold fewer different rows than clusters are asked for starts from all rows. */
static void uniform_samples_are_not_used(void **state)
{
    (void)state;
    int32_t *codes = get_zero((size_t)ROWS * 2, sizeof *codes);
    for (size_t i = 0; i < 30; i++) {
        codes[2 * (i * 601)] = 1 + (int32_t)i % 6;
        codes[2 * (i * 601) + 1] = 1 + (int32_t)i / 6;
    }
    cof_table *table = table_of(codes, ROWS, 2);
    double *weights = get_zero(ROWS, sizeof *weights); /* so that equal rows are not folded away first */
    for (size_t i = 0; i < ROWS; i++) weights[i] = 1;
    cof_fit_options o = {.k = 31,
                         .init = COF_INIT_PORTFOLIO,
                         .select = COF_SELECT_BALANCE,
                         .restarts = 2,
                         .method = "coforest",
                         .weights = weights};
    cof_fit_info info;
    cof_model *model = fitted(table, o, &info);
    assert_int_equal(info.n_restarts, 2);
    cof_model_free(model);
    cof_table_free(table);
    free(weights);
    free(codes);
}

/* Asked to stop at any time, on the sample too, it keeps what it has, or says that there is nothing. */
static void stopping_on_a_sample(void **state)
{
    (void)state;
    cofi_rng rng = dice(8);
    int32_t *truth = get_zero(ROWS, sizeof *truth), *codes = planted(&rng, truth);
    for (uint32_t after = 0; after < 60; after++) {
        uint32_t left = UINT32_MAX;
        cof_env env = {.struct_size = sizeof env, .should_stop = stop_soon, .ctx = &left};
        cof_table *table = NULL;
        cof_model *model = NULL;
        cof_error err;
        cof_fit_options o = {.struct_size = sizeof o, .k = CLUSTERS, .restarts = 4, .threads = 1 + after % 3};
        assert_int_equal(cof_table_from_codes(&env, codes, ROWS, COLUMNS, NULL, &table, &err), COF_OK);
        left = after;
        cof_status status = cof_fit(table, &o, &model, NULL, &err);
        assert_true(status == COF_OK || status == COF_ERR_STOPPED);
        size_t n = 0;
        const int32_t *label = status == COF_OK ? cof_model_labels(model, &n) : NULL;
        for (size_t i = 0; i < n; i++) assert_in_range(label[i], 0, CLUSTERS - 1);
        cof_model_free(model);
        cof_table_free(table);
    }
    free(codes);
    free(truth);
}

/* Whichever allocation fails, nothing is left behind. */
static void every_allocation_can_fail(void **state)
{
    (void)state;
    cofi_rng rng = dice(7);
    int32_t *truth = get_zero(ROWS, sizeof *truth), *codes = planted(&rng, truth);
    cof_fit_options o = {.struct_size = sizeof o, .k = CLUSTERS, .init = COF_INIT_PORTFOLIO, .restarts = 2};
    o.select = COF_SELECT_BALANCE;
    o.threads = o.max_passes = o.max_rebuilds = 1;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_error err = {""};
        cof_table *table = NULL;
        cof_model *model = NULL;
        cof_status status = cof_table_from_codes(&env, codes, ROWS, COLUMNS, NULL, &table, &err);
        if (status == COF_OK) status = cof_fit(table, &o, &model, NULL, &err);
        cof_model_free(model);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        if (meter.count <= n) { /* nothing failed */
            assert_int_equal(status, COF_OK);
            break;
        }
        assert_int_equal(status, COF_ERR_MEMORY);
    }
    free(codes);
    free(truth);
}

/* One column of 40 values, ten for each class, decides; another overlaps, and a third is noise. Tightness, which prefers
 * columns of few values, once kept an ARI of .67. */
/* Fits n rows whose first column decides the group, and expects the groups. */
static void check_deciding_column(size_t n, uint64_t seed)
{
    enum { L = 3, GROUPS = 4 };
    int32_t *codes = get_zero(n * L, sizeof *codes), *group = get_zero(n, sizeof *group);
    cofi_rng rng = dice(seed);
    for (size_t i = 0; i < n; i++) {
        group[i] = (int32_t)below(&rng, GROUPS);
        codes[i * L] = group[i] * 10 + (int32_t)below(&rng, 10);
        codes[i * L + 1] = group[i] * 5 + (int32_t)below(&rng, 7);
        codes[i * L + 2] = (int32_t)below(&rng, 2);
    }
    cof_table *table = table_of(codes, n, L);
    cof_fit_options o = {.struct_size = sizeof o, .k = GROUPS, .seed = seed, .threads = 1};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_indices scores = {.struct_size = sizeof scores};
    cof_model *model = fit_model(table, &o, &info);
    assert_int_equal(cof_evaluate(NULL, cof_model_labels(model, NULL), group, n, &scores, NULL), COF_OK);
    assert_near(scores.ari, 1, 1e-12);
    cof_model_free(model);
    cof_table_free(table);
    free(codes);
    free(group);
}

/* Starts on a sample of the larger table find it too. */
static void a_deciding_column_of_many_values_is_followed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        check_deciding_column(5000, seed);
        check_deciding_column(20000, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_many_starts),
        cmocka_unit_test(more_starts_for_small_tables_and_many_clusters),
        cmocka_unit_test(the_same_for_any_threads_and_kernel),
        cmocka_unit_test(a_model_repeats_its_labels),
        cmocka_unit_test(planted_clusters_are_found),
        cmocka_unit_test(stopping),
        cmocka_unit_test(large_tables_are_found_from_samples),
        cmocka_unit_test(uniform_samples_are_not_used),
        cmocka_unit_test(stopping_on_a_sample),
        cmocka_unit_test(a_deciding_column_of_many_values_is_followed),
        cmocka_unit_test(every_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
