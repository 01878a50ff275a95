/* What must hold of every method, whatever it computes: threads, weights, missing values, odd tables, failing
 * memory, files. */
#include "alloc_helper.h"
#include "unit_helper.h"

#include "../../src/method/methods.h"

static bool has_flag(size_t m, uint32_t flag)
{
    return (cofi_method_find(cof_method_name(m))->flags & flag) != 0;
}

/* cbdm has no result where a column is independent of all others; every other method has one. */
static cof_status try_fit(const cof_table *table, const cof_fit_options *o, cof_model **model)
{
    cof_error err = {""};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_status status = cof_fit(table, o, model, &info, &err);
    if (status == COF_ERR_NO_RESULT) {
        assert_string_equal(o->method, "cbdm");
        return status;
    }
    if (status != COF_OK) fail_msg("%s: %s", o->method, err.text);
    assert_true(isfinite(info.objective));
    assert_true(isfinite(info.log_likelihood));
    assert_true(info.objective >= 0 || strcmp(o->method, "lca") == 0);
    return status;
}

static void assert_labels_in_range(const cof_model *model, int32_t least)
{
    size_t n;
    const int32_t *label = cof_model_labels(model, &n);
    for (size_t i = 0; i < n; i++) assert_in_range(label[i] + 1, least + 1, cof_model_k(model));
}

/* ---- Threads ------------------------------------------------------------------------------------- */

static void check_threads(const cof_table *table, uint32_t k)
{
    for (size_t m = 0; m < cof_method_count(); m++) {
        cof_model *one = NULL;
        for (uint32_t threads = 1; threads <= 3; threads++) {
            cof_model *model = NULL;
            cof_fit_options o = {.struct_size = sizeof o,
                                 .k = k,
                                 .restarts = 2,
                                 .init = COF_INIT_RANDOM,
                                 .max_passes = 8,
                                 .max_rebuilds = 4,
                                 .threads = threads,
                                 .seed = 5,
                                 .method = cof_method_name(m)};
            if (try_fit(table, &o, &model) != COF_OK) continue;
            if (one == NULL) {
                one = model;
                continue;
            }
            assert_same_labels(one, model);
            assert_true(cof_model_restarts(one, NULL)[0].objective ==
                        cof_model_restarts(model, NULL)[0].objective);
            cof_model_free(model);
        }
        cof_model_free(one);
    }
}

static void test_threads(void **state)
{
    (void)state;
    cof_table *many_rows = random_table(1, 9000, 9, 5, 4), *many_columns = random_table(2, 300, 200, 4, 4);
    check_threads(many_rows, 3);
    check_threads(many_columns, 4);
    cof_table_free(many_rows);
    cof_table_free(many_columns);
}

/* ---- Weights ------------------------------------------------------------------------------------- */

static void test_weights(void **state)
{
    (void)state;
    enum { N = 60, L = 5, TIMES = 3 };
    cofi_rng rng = dice(3);
    int32_t *codes = random_codes(&rng, N, L, 4, 3), *repeated = get_zero(N * TIMES * L, sizeof *repeated);
    double weights[N];
    for (size_t i = 0; i < N * TIMES; i++) memcpy(repeated + i * L, codes + i / TIMES * L, L * sizeof *codes);
    for (size_t i = 0; i < N; i++) weights[i] = TIMES;
    cof_table *once = table_of(codes, N, L), *thrice = table_of(repeated, N * TIMES, L);
    for (size_t m = 0; m < cof_method_count(); m++) {
        cof_fit_options o = {.struct_size = sizeof o,
                             .k = 3,
                             .restarts = 4,
                             .init = COF_INIT_RANDOM,
                             .seed = 9,
                             .method = cof_method_name(m)};
        cof_model *weighted = NULL, *plain = NULL;
        if (has_flag(m, COFI_METHOD_ROW_BY_ROW)) continue; /* there a row of weight 3 moves at once */
        assert_int_equal(try_fit(thrice, &o, &plain), COF_OK);
        o.weights = weights;
        assert_int_equal(try_fit(once, &o, &weighted), COF_OK);
        const int32_t *a = cof_model_labels(weighted, NULL), *b = cof_model_labels(plain, NULL);
        for (size_t i = 0; i < N * TIMES; i++)
            if (a[i / TIMES] != b[i]) fail_msg("%s: row %zu", o.method, i);
        cof_model_free(weighted);
        cof_model_free(plain);
    }
    cof_table_free(once);
    cof_table_free(thrice);
    free(codes);
    free(repeated);
}

/* Rows of weight 0 ride along; weights that are no whole numbers, and below 1, do no harm. */
static void test_odd_weights(void **state)
{
    (void)state;
    enum { N = 60 };
    cof_table *table = random_table(4, N, 5, 4, 3);
    double weights[N];
    for (size_t i = 0; i < N; i++) weights[i] = i % 4 == 0 ? 0 : 0.3 * (double)(i % 5) + 0.1;
    for (size_t m = 0; m < cof_method_count(); m++) {
        cof_fit_options o = {.struct_size = sizeof o,
                             .k = 3,
                             .restarts = 3,
                             .weights = weights,
                             .init = COF_INIT_RANDOM,
                             .method = cof_method_name(m)};
        cof_model *model = NULL;
        if (try_fit(table, &o, &model) == COF_OK) assert_labels_in_range(model, 0);
        cof_model_free(model);
    }
    cof_table_free(table);
}

/* Values that only rows of weight 0 hold, among the others in order, change nothing for the rest. */
static void test_values_without_weight(void **state)
{
    (void)state;
    enum { N = 70, MORE = 12, L = 4, ALL = N + MORE };
    for (uint64_t seed = 0; seed < 5; seed++) {
        cofi_rng rng = dice(50 + seed);
        int32_t *codes = random_codes(&rng, ALL, L, 4, 3);
        double weights[ALL];
        for (size_t at = 0; at < ALL * L; at++) codes[at] = 2 * codes[at] + (at >= N * L);
        for (size_t i = 0; i < ALL; i++) weights[i] = i < N;
        for (size_t r = 0; r < L; r++) codes[r] = 0, codes[L + r] = 2, codes[2 * L + r] = 4;
        cof_table *less = table_of(codes, N, L), *more = table_of(codes, ALL, L);
        for (size_t m = 0; m < cof_method_count(); m++) {
            cof_fit_options o = {.struct_size = sizeof o,
                                 .k = 3,
                                 .init_rows = (uint64_t[]){0, 1, 2},
                                 .variant = (int32_t)(seed % 2),
                                 .method = cof_method_name(m)};
            cof_model *a = NULL, *b = NULL;
            if (strncmp(o.method, "rg", 2) == 0) continue; /* graphs are drawn over all values */
            assert_int_equal(try_fit(less, &o, &a), COF_OK);
            o.weights = weights;
            assert_int_equal(try_fit(more, &o, &b), COF_OK);
            for (size_t i = 0; i < N; i++)
                if (cof_model_labels(a, NULL)[i] != cof_model_labels(b, NULL)[i])
                    fail_msg("%s: row %zu of table %d", o.method, i, (int)seed);
            cof_model_free(a);
            cof_model_free(b);
        }
        cof_table_free(less);
        cof_table_free(more);
        free(codes);
    }
}

/* ---- Missing values ------------------------------------------------------------------------------ */

static void test_missing(void **state)
{
    (void)state;
    static const int32_t ways[] = {COF_MISSING_VALUE, COF_MISSING_IGNORE, COF_MISSING_DROP};
    static const int32_t starts[] = {COF_INIT_KMEANS, COF_INIT_RANDOM};
    for (uint64_t seed = 0; seed < 4; seed++) {
        cof_table *table = holey_table(seed, 80, 5, 4, 3, 10);
        for (size_t m = 0; m < cof_method_count(); m++)
            for (size_t w = 0; w < COUNT(ways) * COUNT(starts); w++) {
                cof_fit_options o = {.struct_size = sizeof o,
                                     .k = 3,
                                     .restarts = 3,
                                     .seed = seed,
                                     .missing = ways[w % COUNT(ways)],
                                     .init = starts[w / COUNT(ways)],
                                     .method = cof_method_name(m)};
                cof_model *model = NULL;
                if (try_fit(table, &o, &model) == COF_OK)
                    assert_labels_in_range(model, o.missing == COF_MISSING_DROP ? -1 : 0);
                cof_model_free(model);
            }
        cof_table_free(table);
    }
}

/* ---- Odd tables ---------------------------------------------------------------------------------- */

static cof_status fit_codes(const int32_t *codes, size_t n, size_t l, uint32_t k, const char *method,
                            cof_model **model, cof_error *err)
{
    cof_table *table = table_of(codes, n, l);
    cof_fit_options o = {
        .struct_size = sizeof o, .k = k, .restarts = 2, .init = COF_INIT_RANDOM, .method = method};
    cof_status status = cof_fit(table, &o, model, NULL, err);
    cof_table_free(table);
    return status;
}

static void test_one_cluster(void **state)
{
    (void)state;
    cofi_rng rng = dice(11);
    int32_t *codes = random_codes(&rng, 40, 4, 3, 2);
    for (size_t m = 0; m < cof_method_count(); m++) {
        cof_model *model = NULL;
        cof_error err = {""};
        assert_status(fit_codes(codes, 40, 4, 1, cof_method_name(m), &model, &err), COF_OK, &err);
        for (size_t i = 0; i < 40; i++) assert_int_equal(cof_model_labels(model, NULL)[i], 0);
        cof_model_free(model);
    }
    free(codes);
}

static void test_as_many_clusters_as_rows(void **state)
{
    (void)state;
    enum { N = 9 };
    int32_t codes[2 * N * 3];
    for (int32_t i = 0; i < 2 * N; i++) { /* nine different rows, each twice */
        codes[3 * i] = i % N / 3;
        codes[3 * i + 1] = i % 3;
        codes[3 * i + 2] = i % N == 0 ? 2 : (i % N) % 2;
    }
    for (size_t m = 0; m < cof_method_count(); m++) {
        cof_model *model = NULL;
        cof_error err = {""};
        assert_status(fit_codes(codes, 2 * N, 3, N, cof_method_name(m), &model, &err), COF_OK, &err);
        assert_labels_in_range(model, 0);
        for (size_t i = 0; i < N && !has_flag(m, COFI_METHOD_ROW_BY_ROW); i++)
            assert_int_equal(cof_model_labels(model, NULL)[i], cof_model_labels(model, NULL)[i + N]);
        cof_model_free(model);
        model = NULL;
        assert_int_equal(fit_codes(codes, 2 * N, 3, N + 1, cof_method_name(m), &model, &err),
                         COF_ERR_FEW_ROWS);
        assert_null(model);
    }
}

static void test_one_column(void **state)
{
    (void)state;
    int32_t codes[30];
    for (int32_t i = 0; i < 30; i++) codes[i] = i % 4;
    for (size_t m = 0; m < cof_method_count(); m++) {
        cof_model *model = NULL;
        cof_error err = {""};
        cof_status status = fit_codes(codes, 30, 1, 2, cof_method_name(m), &model, &err);
        if (has_flag(m, COFI_METHOD_PAIRS)) {
            char wanted[256];
            snprintf(wanted, sizeof wanted,
                     "%s compares columns with each other, so it needs at least two columns that vary, but "
                     "there is only one",
                     cof_method_name(m));
            assert_int_equal(status, COF_ERR_NO_COLUMNS);
            assert_string_equal(err.text, wanted);
            assert_null(model);
        } else {
            assert_status(status, COF_OK, &err);
            assert_labels_in_range(model, 0);
        }
        cof_model_free(model);
    }
}

static void test_two_rows(void **state)
{
    (void)state;
    static const int32_t codes[] = {0, 1, 0, 1, 0, 1};
    for (size_t m = 0; m < cof_method_count(); m++)
        for (uint32_t k = 1; k <= 2; k++) {
            cof_model *model = NULL;
            cof_error err = {""};
            assert_status(fit_codes(codes, 2, 3, k, cof_method_name(m), &model, &err), COF_OK, &err);
            assert_labels_in_range(model, 0);
            cof_model_free(model);
        }
}

/* ---- Memory -------------------------------------------------------------------------------------- */

static void fail_every_allocation(size_t m, int32_t missing)
{
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_env env = alloc_env(&meter);
        cofi_rng rng = dice(21);
        int32_t *codes = random_codes(&rng, 24, 4, 4, 2);
        codes[5] = codes[17] = -1;
        cof_table *table = NULL;
        cof_model *model = NULL;
        cof_error err = {""};
        assert_status(cof_table_from_codes(&env, codes, 24, 4, NULL, &table, &err), COF_OK, &err);
        free(codes);
        meter.fail_at = meter.count + n;
        cof_fit_options o = {.struct_size = sizeof o,
                             .k = 2,
                             .restarts = 3,
                             .init = COF_INIT_RANDOM,
                             .missing = missing,
                             .threads = 1,
                             .method = cof_method_name(m)};
        cof_status status = cof_fit(table, &o, &model, NULL, &err);
        cof_model_free(model);
        cof_table_free(table);
        if (meter.live != 0) fail_msg("%s leaks %zu blocks when call %zu fails", o.method, meter.live, n);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
        assert_true(err.text[0] != '\0');
        assert_true(n < 1000);
    }
}

static void test_failing_memory(void **state)
{
    (void)state;
    for (size_t m = 0; m < cof_method_count(); m++) {
        fail_every_allocation(m, COF_MISSING_VALUE);
        fail_every_allocation(m, COF_MISSING_IGNORE);
    }
}

/* ---- Predicting ---------------------------------------------------------------------------------- */

static void assert_predicts(const cof_model *model, const cof_table *table, const int32_t *wanted)
{
    size_t n = cof_table_n_rows(table);
    int32_t *label = get_zero(n, sizeof *label);
    cof_error err = {""};
    assert_status(cof_model_predict(model, table, 1, label, n, NULL, &err), COF_OK, &err);
    for (size_t i = 0; i < n; i++)
        if (label[i] != wanted[i]) fail_msg("%s: row %zu", cof_model_method(model), i);
    free(label);
}

static int keep_bytes(const cof_model *model, const char *path, cof_model **loaded)
{
    cof_error err = {""};
    assert_status(cof_model_save(model, path, &err), COF_OK, &err);
    assert_status(cof_model_load(NULL, path, loaded, &err), COF_OK, &err);
    return remove(path);
}

static void test_predict(void **state)
{
    (void)state;
    char path[] = "method_properties.model";
    for (uint64_t seed = 0; seed < 6; seed++) {
        cof_table *table = random_table(seed, 150, 6, 4, 3);
        for (size_t m = 0; m < cof_method_count(); m++) {
            cof_fit_options o = {.struct_size = sizeof o,
                                 .k = 3,
                                 .restarts = 5,
                                 .seed = seed,
                                 .init = seed % 2 ? COF_INIT_RANDOM : COF_INIT_KMEANS,
                                 .method = cof_method_name(m)};
            cof_fit_info info = {.struct_size = sizeof info};
            cof_model *model = fit_model(table, &o, &info), *loaded = NULL;
            const int32_t *label = cof_model_labels(model, NULL);
            assert_int_equal(keep_bytes(model, path, &loaded), 0);
            assert_string_equal(cof_model_method(loaded), o.method);
            if (has_flag(m, COFI_METHOD_NO_SCORES)) {
                int32_t none[150];
                cof_error err = {""};
                assert_int_not_equal(cof_model_predict(loaded, table, 1, none, 150, NULL, &err), COF_OK);
                assert_true(err.text[0] != '\0');
            } else if (info.stop_reason == COF_STOP_CONVERGED) {
                assert_predicts(model, table, label);
                assert_predicts(loaded, table, label);
            }
            cof_model_free(model);
            cof_model_free(loaded);
        }
        cof_table_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_odd_weights),
        cmocka_unit_test(test_values_without_weight),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_one_cluster),
        cmocka_unit_test(test_as_many_clusters_as_rows),
        cmocka_unit_test(test_one_column),
        cmocka_unit_test(test_two_rows),
        cmocka_unit_test(test_failing_memory),
        cmocka_unit_test(test_predict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
