/* Starts tried on a sample of a large table: what the sample is, and that fits are what they should be. */
#include "alloc_helper.h"
#include "engine_helper.h"

#include "../../src/fit/sample.h"

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

static cof_table *table_with(const int32_t *codes, size_t n, size_t l)
{
    cof_table *table;
    cof_error err;
    assert_int_equal(cof_table_from_codes(NULL, codes, n, l, NULL, &table, &err), COF_OK);
    return table;
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

/* Every sampled row is a row of its stretch, with its weight; values present are those of the sample. */
static void sample_is_rows_of_the_whole(void **state)
{
    (void)state;
    cofi_rng rng = dice(5);
    int32_t truth[1000], codes[1000 * 3];
    double weights[1000];
    for (size_t i = 0; i < 1000; i++) {
        weights[i] = (double)below(&rng, 3);
        codes[3 * i] = (int32_t)i; /* tells the row */
        codes[3 * i + 1] = truth[i] = (int32_t)below(&rng, 5);
        codes[3 * i + 2] = i == 500 ? 1 : 0;
    }
    rig *g = open_rig(table_of(codes, 1000, 3), (cof_fit_options){.k = 2, .weights = weights});
    cofi_sample sample;
    cof_error err;
    assert_int_equal(cofi_sample_open(&g->problem, 100, 2, &sample, &err), COF_OK);
    assert_true(sample.varied);
    assert_int_equal(sample.problem.rows.n_rows, 100);
    uint64_t total = 0;
    for (size_t s = 0; s < 100; s++) {
        uint32_t row = cofi_id(sample.problem.ids[0], s);
        assert_in_range(row, 10 * s, 10 * s + 9);
        assert_int_equal(cofi_id(sample.problem.ids[1], s), cofi_id(g->problem.ids[1], row));
        assert_int_equal(sample.problem.row_weight[s], g->problem.rows.weight[row]);
        total += sample.problem.row_weight[s];
    }
    assert_int_equal(sample.problem.total_weight, total);
    assert_true(sample.problem.n_present[0] <= 100 && sample.problem.n_present[1] == 5);
    cofi_sample_close(&sample);
    assert_int_equal(cofi_sample_open(&g->problem, 100, 101, &sample, &err), COF_OK);
    assert_false(sample.varied); /* a hundred rows cannot be 101 different ones */
    cofi_sample_close(&sample);
    close_rig(g);
}

static void large_tables_are_found_from_samples(void **state)
{
    (void)state;
    cofi_rng rng = dice(6);
    int32_t *truth = get_zero(ROWS, sizeof *truth), *codes = planted(&rng, truth);
    cof_table *table = table_with(codes, ROWS, COLUMNS);
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
    cof_table *table = table_with(codes, ROWS, 2);
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
static void stopping(void **state)
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
        cof_fit_options o = {.struct_size = sizeof o, .k = CLUSTERS, .restarts = 4, .threads = 1};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_is_rows_of_the_whole),  cmocka_unit_test(large_tables_are_found_from_samples),
        cmocka_unit_test(uniform_samples_are_not_used), cmocka_unit_test(stopping),
        cmocka_unit_test(every_allocation_can_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
