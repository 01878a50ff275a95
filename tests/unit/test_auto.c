/* Finding k: planted numbers are found, noise is one cluster, and what a search leaves behind. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "cases_helper.h"

static cof_table *planted(uint64_t seed, uint32_t k, double noise)
{
    cof_generate_options o = {.struct_size = sizeof o,
                              .kind = COF_GENERATE_PLANTED,
                              .n_rows = 100 * (uint64_t)k,
                              .n_columns = 14,
                              .n_values = 4,
                              .k = k,
                              .noise = noise,
                              .seed = seed};
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_generate(NULL, &o, &table, &err), COF_OK, &err);
    return table;
}

static cof_model *found_model(const cof_table *table, int32_t init)
{
    cof_fit_options o = {.struct_size = sizeof o, .seed = 1, .threads = 1, .init = init};
    cof_model *model = NULL;
    cof_error err;
    assert_status(cof_fit_auto(table, &o, 0, 0, &model, NULL, &err), COF_OK, &err);
    return model;
}

static uint32_t found_k(const cof_table *table, int32_t init)
{
    cof_model *model = found_model(table, init);
    uint32_t k = cof_model_k(model);
    cof_model_free(model);
    return k;
}

static void planted_k_is_found(void **state)
{
    (void)state;
    for (uint32_t k = 2; k <= 6; k += one_in()) {
        cof_table *table = planted(k, k, 0.4);
        assert_int_equal(found_k(table, COF_INIT_KMEANS), k);
        assert_int_equal(found_k(table, COF_INIT_PORTFOLIO), k);
        cof_table_free(table);
    }
}

/* With many clusters, random starts miss some; those that split a cluster of the number before do not. */
static void many_planted_clusters_are_found(void **state)
{
    (void)state;
    cof_table *table = planted(11, 15, 0.4);
    assert_int_equal(found_k(table, COF_INIT_PORTFOLIO), 15);
    cof_table_free(table);
}

/* Columns that predict each other fully do not join clusters of equal rows. */
static void clusters_of_equal_rows_are_found(void **state)
{
    (void)state;
    for (uint32_t k = 3; k <= 8; k += one_in()) {
        cof_table *table = planted(3, k, 0);
        assert_int_equal(found_k(table, COF_INIT_PORTFOLIO), k);
        cof_table_free(table);
    }
}

/* Two clusters in which every second column mostly repeats the one before: more clusters are likelier if columns count as
 * independent, but only because they follow these pairs. */
static void dependent_columns_do_not_split_clusters(void **state)
{
    (void)state;
    enum { N = 600, L = 12 };
    cofi_rng rng = dice(8);
    int32_t codes[N * L];
    for (size_t i = 0; i < N; i++)
        for (size_t r = 0; r < L; r++) {
            int32_t *cell = &codes[i * L + r];
            if (r % 2 == 1 && below(&rng, 10) < 8)
                *cell = cell[-1];
            else
                *cell = below(&rng, 2) == 0 ? (int32_t)(i % 2) : (int32_t)below(&rng, 3);
        }
    cof_table *table = table_of(codes, N, L);
    size_t n = 0;
    cof_model *model = found_model(table, COF_INIT_PORTFOLIO);
    const cof_k_record *curve = cof_model_k_curve(model, &n);
    assert_int_equal(cof_model_k(model), 2);
    assert_true(n > 4 && curve[3].log_likelihood > curve[1].log_likelihood);
    assert_true(isnan(curve[3].agreement)); /* the halves are not needed to tell */
    cof_model_free(model);
    cof_table_free(table);
}

/* Where the halves agree on no number, the likeliest is kept: here the planted one. */
static void halves_that_agree_on_no_number(void **state)
{
    (void)state;
    cof_table *table = planted(3, 4, 0.55);
    size_t n = 0;
    cof_model *model = found_model(table, COF_INIT_PORTFOLIO);
    const cof_k_record *curve = cof_model_k_curve(model, &n);
    assert_int_equal(cof_model_k(model), 4);
    for (size_t k = 2; k <= 4; k++) {
        assert_true(curve[k - 1].agreement < COF_GOOD_AGREEMENT);
        assert_true(curve[k - 1].log_likelihood <= curve[3].log_likelihood);
    }
    cof_model_free(model);
    cof_table_free(table);
}

/* On a small table, and on one large enough that starts are tried on a sample. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    for (uint32_t copies = 1; copies <= 60; copies += 59) {
        cof_generate_options g = {.struct_size = sizeof g,
                                  .kind = COF_GENERATE_PLANTED,
                                  .n_columns = 8,
                                  .n_values = 4,
                                  .k = 3,
                                  .noise = 0.4,
                                  .seed = 2,
                                  .n_rows = 300 * (uint64_t)copies};
        cof_table *table = NULL;
        cof_model *model[2] = {NULL, NULL};
        cof_error err;
        size_t n[2] = {0, 0};
        assert_status(cof_table_generate(NULL, &g, &table, &err), COF_OK, &err);
        for (uint32_t t = 0; t < 2; t++) {
            cof_fit_options o = {.struct_size = sizeof o, .seed = 1, .threads = 1 + 2 * t};
            assert_status(cof_fit_auto(table, &o, 1, 5, &model[t], NULL, &err), COF_OK, &err);
        }
        const cof_k_record *a = cof_model_k_curve(model[0], &n[0]), *b = cof_model_k_curve(model[1], &n[1]);
        assert_int_equal(n[0], n[1]);
        for (size_t i = 0; i < n[0]; i++) assert_true(a[i].log_likelihood == b[i].log_likelihood);
        assert_int_equal(cof_model_k(model[0]), 3);
        assert_same_labels(model[0], model[1]);
        for (uint32_t t = 0; t < 2; t++) cof_model_free(model[t]);
        cof_table_free(table);
    }
}

static void noise_has_one_cluster(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed += one_in()) {
        cofi_rng rng = dice(seed);
        int32_t codes[200 * 8];
        for (size_t at = 0; at < COUNT(codes); at++) codes[at] = (int32_t)below(&rng, 3);
        cof_table *table = table_of(codes, 200, 8);
        assert_int_equal(found_k(table, COF_INIT_KMEANS), 1);
        assert_int_equal(found_k(table, COF_INIT_PORTFOLIO), 1);
        cof_table_free(table);
    }
}

/* One row in a hundred is different: two clusters, not many. One-hot k-means cuts through the large one instead of
 * finding the small one, so that from its starts alone nothing is better than one cluster. */
static void imbalance_is_not_shattered(void **state)
{
    (void)state;
    enum { N = 1010, L = 12 };
    cofi_rng rng = dice(4);
    int32_t *codes = get_zero((size_t)N * L, sizeof *codes);
    for (size_t i = 0; i < N; i++)
        for (size_t r = 0; r < L; r++)
            codes[i * L + r] =
                below(&rng, 10) < 3 ? (int32_t)below(&rng, 4) : (i < 10 ? 3 : (int32_t)(r % 3));
    cof_table *table = table_of(codes, N, L);
    for (int32_t init = COF_INIT_PORTFOLIO; init <= COF_INIT_KMEANS; init++) {
        cof_fit_options o = {.struct_size = sizeof o, .threads = 1, .init = init};
        cof_model *model = NULL;
        cof_error err;
        assert_status(cof_fit_auto(table, &o, 1, 6, &model, NULL, &err), COF_OK, &err);
        assert_int_equal(cof_model_k(model), init == COF_INIT_PORTFOLIO ? 2 : 1);
        const double *size = cof_model_sizes(model);
        if (init == COF_INIT_PORTFOLIO) assert_near(fmin(size[0], size[1]), 10, 2);
        cof_model_free(model);
    }
    cof_table_free(table);
    free(codes);
}

static void curve_and_range(void **state)
{
    (void)state;
    cof_table *table = planted(9, 3, 0.3);
    cof_fit_options o = {.struct_size = sizeof o, .threads = 1};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model *model = NULL;
    cof_error err;
    size_t n = 0;
    assert_status(cof_fit_auto(table, &o, 5, 2, &model, &info, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_fit_auto(table, &o, 2, COF_MOST_CLUSTERS + 1, &model, &info, &err), COF_ERR_ARGUMENT,
                  &err);
    assert_status(cof_fit_auto(table, &o, 2, 5, &model, &info, &err), COF_OK, &err);
    const cof_k_record *curve = cof_model_k_curve(model, &n);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(curve[i].k, 2 + i);
        assert_true(curve[i].log_likelihood <= curve[1].log_likelihood);
    }
    assert_int_equal(cof_model_k(model), 3);
    uint32_t second = cof_model_k_runner_up(model);
    assert_true(second >= 2 && second <= 5 && second != 3);
    for (size_t i = 0; i < n; i++)
        assert_true(curve[i].k == 3 || curve[i].log_likelihood <= curve[second - 2].log_likelihood);
    assert_true(info.log_likelihood > info.log_likelihood_of_one);
    assert_near(info.log_likelihood, curve[1].log_likelihood, 1e-9 * fabs(info.log_likelihood));
    /* the same fit as with k given */
    o.k = 3;
    cof_fit_info given = {.struct_size = sizeof given};
    cof_model *plain = fit_model(table, &o, &given);
    assert_same_labels(model, plain);
    assert_true(info.row_visits > given.row_visits);
    assert_null(cof_model_k_curve(plain, &n));
    assert_int_equal(n, 0);
    assert_int_equal(cof_model_k_runner_up(plain), 0);
    cof_model_free(plain);
    cof_model_free(model);
    assert_status(cof_fit_auto(table, &o, 4, 4, &model, NULL, &err), COF_OK, &err);
    assert_int_equal(cof_model_k_runner_up(model), 0);
    cof_model_free(model);
    assert_status(cof_fit_auto(table, &o, 5, 2, &model, NULL, &err), COF_ERR_ARGUMENT, &err);
    static const uint64_t rows[] = {0, 1};
    o.init_rows = rows;
    assert_status(cof_fit_auto(table, &o, 1, 2, &model, NULL, &err), COF_ERR_ARGUMENT, &err);
    cof_table_free(table);
}

/* The curve comes back from a file; one that does not ascend, or lacks the model's own k, is refused. */
static void curve_in_a_file(void **state)
{
    (void)state;
    cof_table *table = planted(9, 3, 0.3);
    cof_fit_options o = {.struct_size = sizeof o, .threads = 1};
    cof_model *model = NULL, *again = NULL;
    cof_error err;
    size_t n = 0, m = 0;
    assert_status(cof_fit_auto(table, &o, 0, 0, &model, NULL, &err), COF_OK, &err);
    assert_status(cof_model_save(model, "test_auto.cof", &err), COF_OK, &err);
    assert_status(cof_model_load(NULL, "test_auto.cof", &again, &err), COF_OK, &err);
    const cof_k_record *a = cof_model_k_curve(model, &n), *b = cof_model_k_curve(again, &m);
    assert_int_equal(n, 7);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++)
        assert_true(a[i].k == b[i].k && a[i].log_likelihood == b[i].log_likelihood);
    cof_model_free(again);
    cof_model_free(model);
    cof_table_free(table);
    remove("test_auto.cof");
}

static void numeric_columns_are_refused(void **state)
{
    (void)state;
    cof_table *table = random_table(1, 60, 3, 4, 3);
    cof_fit_options o = {.struct_size = sizeof o};
    cof_model *model = NULL;
    cof_error err;
    assert_status(cof_table_set_role(table, 1, COF_ROLE_NUMERIC, &err), COF_OK, &err);
    assert_status(cof_fit_auto(table, &o, 0, 0, &model, NULL, &err), COF_ERR_NO_RESULT, &err);
    cof_table_free(table);
}

/* More clusters than distinct rows end the search; none possible at all is an error. */
static void few_distinct_rows(void **state)
{
    (void)state;
    static const int32_t codes[] = {0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0};
    cof_table *table = table_of(codes, 6, 2);
    cof_model *model = NULL;
    cof_error err;
    cof_fit_options o = {.struct_size = sizeof o};
    assert_true(found_k(table, COF_INIT_KMEANS) <= 3);
    assert_status(cof_fit_auto(table, &o, 4, 6, &model, NULL, &err), COF_ERR_FEW_ROWS, &err);
    cof_table_free(table);
}

static cof_model *search(const cof_table *table, uint32_t k_min, uint32_t k_max, double time_limit_s,
                         cof_fit_info *info)
{
    cof_fit_options o = {
        .struct_size = sizeof o, .seed = 1, .threads = 1, .restarts = 6, .time_limit_s = time_limit_s};
    cof_model *model = NULL;
    cof_error err;
    *info = (cof_fit_info){.struct_size = sizeof *info};
    assert_status(cof_fit_auto(table, &o, k_min, k_max, &model, info, &err), COF_OK, &err);
    return model;
}

static uint32_t last_tried(const cof_model *model)
{
    size_t n = 0;
    const cof_k_record *curve = cof_model_k_curve(model, &n);
    return curve[n - 1].k;
}

/* Whether the likeliest number lies at an end of the range, and how far the halves agree on the numbers compared. */
static void the_range_and_the_halves_are_told(void **state)
{
    (void)state;
    cof_table *table = planted(5, 5, 0.3);
    cof_fit_info info;
    size_t n = 0;
    cof_model *model = search(table, 2, 4, 0, &info);
    assert_true(cof_model_k_at_edge(model));
    cof_model_free(model);
    model = search(table, 6, 8, 0, &info);
    assert_true(cof_model_k_at_edge(model));
    cof_model_free(model);
    model = search(table, 2, 8, 0, &info);
    assert_int_equal(cof_model_k(model), 5);
    assert_false(cof_model_k_at_edge(model));
    const cof_k_record *curve = cof_model_k_curve(model, &n);
    assert_int_equal(n, 7);
    for (size_t i = 0; i < n; i++)
        assert_true(curve[i].k == 5 ? curve[i].agreement >= 0.8
                                    : curve[i].k > 5 || isnan(curve[i].agreement));
    cof_model_free(model);
    cof_table_free(table);
}

/* Few distinct rows, each of them many times: no number above theirs is tried, and their number is no edge. */
static void ranges_end_at_the_distinct_rows(void **state)
{
    (void)state;
    enum { ROWS = 400, DISTINCT = 7 };
    int32_t codes[ROWS * 3];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t r = 0; r < 3; r++) codes[i * 3 + r] = (int32_t)((i % DISTINCT + 1) * (r + 2) % 5);
    cof_table *table = table_of(codes, ROWS, 3);
    cof_fit_info info;
    uint64_t n_distinct = 0;
    assert_int_equal(cof_table_count_distinct(table, &n_distinct, NULL), COF_OK);
    cof_model *model = search(table, 1, 200, 0, &info);
    assert_int_equal(last_tried(model), n_distinct);
    assert_false(cof_model_k_at_edge(model));
    cof_model_free(model);
    cof_table_free(table);
}

/* When the time is up, the best number so far is kept. */
static void a_time_limit_ends_the_search(void **state)
{
    (void)state;
    cof_table *table = planted(5, 5, 0.3);
    cof_fit_info info;
    cof_model *model = search(table, 2, 40, 1e-9, &info);
    assert_int_equal(info.stop_reason, COF_STOP_TIME);
    assert_int_equal(last_tried(model), 2);
    assert_int_equal(cof_model_k(model), 2);
    cof_model_free(model);
    cof_table_free(table);
}

/* Of quantities that are cut, the number is found as of categories. */
static void cut_quantities(void **state)
{
    (void)state;
    cof_generate_options g = {
        .struct_size = sizeof g, .kind = COF_GENERATE_MIXED, .n_rows = 600, .k = 3, .seed = 1};
    cof_table *table = NULL;
    cof_error err;
    cof_fit_info info;
    assert_status(cof_table_generate(NULL, &g, &table, &err), COF_OK, &err);
    for (size_t c = 0; c < cof_table_n_columns(table); c++) {
        cof_advice advice = {.struct_size = sizeof advice};
        assert_status(cof_column_advise(table, c, COF_MISSING_VALUE, &advice, &err), COF_OK, &err);
        if (advice.kind == COF_KIND_QUANTITY)
            assert_status(cof_table_cut(table, c, NULL, &err), COF_OK, &err);
    }
    cof_model *model = search(table, 0, 0, 0, &info);
    assert_int_equal(info.select, COF_SELECT_MIXTURE);
    assert_int_equal(cof_model_k(model), 3);
    cof_model_free(model);
    cof_table_free(table);
}

/* Where the number given explains nothing, another that does is named; in noise there is none. */
static void another_number_is_named(void **state)
{
    (void)state;
    cof_table *table = planted(2, 2, 0.5);
    cof_fit_options o = {.struct_size = sizeof o, .k = 60, .threads = 1, .restarts = 4};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model_free(fit_model(table, &o, &info));
    assert_true(info.log_likelihood <= info.log_likelihood_of_one);
    assert_int_equal(info.k_instead, 2);
    o.k = 2;
    cof_model_free(fit_model(table, &o, &info));
    assert_int_equal(info.k_instead, 0);
    cof_table_free(table);
    cofi_rng rng = dice(1);
    int32_t codes[200 * 8];
    for (size_t at = 0; at < COUNT(codes); at++) codes[at] = (int32_t)below(&rng, 3);
    table = table_of(codes, 200, 8);
    o.k = 4;
    cof_model_free(fit_model(table, &o, &info));
    assert_true(info.log_likelihood <= info.log_likelihood_of_one);
    assert_int_equal(info.k_instead, 0);
    cof_table_free(table);
}

/* Stopped on the way, the best so far is kept; stopped before anything, that is said. */
static void stopping(void **state)
{
    (void)state;
    for (uint32_t after = 0; after < 90; after += 3 * one_in()) {
        uint32_t left = UINT32_MAX;
        cof_env env = {.struct_size = sizeof env, .should_stop = stop_soon, .ctx = &left};
        cofi_rng rng = dice(4);
        int32_t *codes = random_codes(&rng, 150, 6, 4, 3);
        cof_table *table = NULL;
        cof_model *model = NULL;
        cof_error err;
        size_t n = 0;
        cof_fit_info info = {.struct_size = sizeof info};
        cof_fit_options o = {.struct_size = sizeof o, .threads = 1, .restarts = 3};
        assert_status(cof_table_from_codes(&env, codes, 150, 6, NULL, &table, &err), COF_OK, &err);
        left = after;
        cof_status status = cof_fit_auto(table, &o, 0, 0, &model, &info, &err);
        if (status == COF_OK) {
            cof_model_k_curve(model, &n);
            assert_true(n > 0 && (left > 0 || info.stop_reason == COF_STOP_STOPPED));
        } else {
            assert_int_equal(status, COF_ERR_STOPPED);
        }
        cof_model_free(model);
        cof_table_free(table);
        free(codes);
    }
}

static void out_of_memory(void **state)
{
    (void)state;
    for (size_t n = 0;; n += one_in()) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        static const int32_t codes[] = {0, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0, 1, 2, 0};
        cof_table *table = NULL;
        cof_model *model = NULL;
        cof_fit_options o = {.struct_size = sizeof o, .restarts = 3, .threads = 1};
        cof_status status = cof_table_from_codes(&env, codes, 7, 3, NULL, &table, NULL);
        if (status == COF_OK) status = cof_fit_auto(table, &o, 1, 2, &model, NULL, NULL);
        cof_model_free(model);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_k_is_found),
        cmocka_unit_test(many_planted_clusters_are_found),
        cmocka_unit_test(clusters_of_equal_rows_are_found),
        cmocka_unit_test(dependent_columns_do_not_split_clusters),
        cmocka_unit_test(halves_that_agree_on_no_number),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(noise_has_one_cluster),
        cmocka_unit_test(imbalance_is_not_shattered),
        cmocka_unit_test(curve_and_range),
        cmocka_unit_test(curve_in_a_file),
        cmocka_unit_test(numeric_columns_are_refused),
        cmocka_unit_test(few_distinct_rows),
        cmocka_unit_test(the_range_and_the_halves_are_told),
        cmocka_unit_test(ranges_end_at_the_distinct_rows),
        cmocka_unit_test(a_time_limit_ends_the_search),
        cmocka_unit_test(cut_quantities),
        cmocka_unit_test(another_number_is_named),
        cmocka_unit_test(stopping),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
