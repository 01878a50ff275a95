/* Agreement of restarts: the index over all rows where they are few, close to it where they are many. */
#include "fit_helper.h"

#include "../../src/fit/agreement.h"

static cof_table *uniform(uint64_t n_rows)
{
    cof_table *table = NULL;
    cof_error err;
    cof_generate_options o = {.struct_size = sizeof o, .n_rows = n_rows, .n_columns = 4, .seed = 3};
    assert_status(cof_table_generate(NULL, &o, &table, &err), COF_OK, &err);
    return table;
}

/* Notes two partitions that share their first `shared` rows in a hundred, measures, and compares. */
static void check_two(uint64_t n_rows, uint32_t shared, double tolerance)
{
    cof_table *table = uniform(n_rows);
    cof_error err;
    cof_fit_options o = {
        .struct_size = sizeof o, .k = 3, .restarts = 2, .max_passes = 9, .max_rebuilds = 9, .threads = 1};
    cofi_problem problem;
    cofi_rows *rows;
    cofi_fit fit;
    cofi_agreement a;
    double *ari = NULL;
    uint64_t moved;
    assert_status(cofi_rows_open(table, &o, (cofi_opening){0}, &problem, &rows, &err), COF_OK, &err);
    assert_status(cofi_fit_open(rows, cofi_method_find(NULL), &o, &fit, &err), COF_OK, &err);
    assert_status(cofi_agreement_open(&fit.own, 2, n_rows, &a, &err), COF_OK, &err);
    int32_t *one = get_zero(n_rows, sizeof *one), *two = get_zero(n_rows, sizeof *two);
    for (uint64_t i = 0; i < n_rows; i++) one[i] = (int32_t)(cofi_mix64(i) % 3);
    assert_status(cofi_partition_take(&fit.partition, one, &moved, &err), COF_OK, &err);
    assert_status(cofi_agreement_note(&fit.partition, &a, 0, &err), COF_OK, &err);
    for (uint64_t i = 0; i < n_rows; i++)
        two[i] = i % 100 < shared ? one[i] : (int32_t)(cofi_mix64(i + n_rows) % 3);
    assert_status(cofi_partition_take(&fit.partition, two, &moved, &err), COF_OK, &err);
    assert_status(cofi_agreement_note(&fit.partition, &a, 1, &err), COF_OK, &err);
    assert_status(cofi_agreement_measure(&fit.host, &a, 2, 1, &ari, &err), COF_OK, &err);
    cof_indices all = {.struct_size = sizeof all};
    assert_status(cof_evaluate(NULL, one, two, n_rows, &all, &err), COF_OK, &err);
    assert_true(fabs(ari[0] - all.ari) <= tolerance && ari[1] == 1);
    cofi_release(&fit.host.env, ari);
    cofi_fit_close(&fit);
    cofi_rows_close(rows);
    cofi_problem_close(&problem);
    cof_table_free(table);
    free(one);
    free(two);
}

static void few_rows_are_all_compared(void **state)
{
    (void)state;
    for (uint32_t shared = 0; shared <= 100; shared += 20) check_two(500, shared, 1e-12);
}

static void many_rows_are_sampled(void **state)
{
    (void)state;
    check_two(300001, 70, 0.01);
}

static void a_model_tells_it(void **state)
{
    (void)state;
    cof_table *table = uniform(400);
    cof_model *model = NULL, *loaded = NULL;
    cof_error err;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_fit_options o = {.struct_size = sizeof o, .k = 4, .restarts = 6, .seed = 1};
    assert_status(cof_fit(table, &o, &model, &info, &err), COF_OK, &err);
    const double *ari = cof_model_agreement(model);
    assert_non_null(ari);
    for (uint32_t r = 0; r < 6; r++) assert_true(ari[r] <= 1 && (r != info.best_restart || ari[r] == 1));
    assert_status(cof_model_save(model, "test_agreement.cofm", &err), COF_OK, &err);
    assert_status(cof_model_load(NULL, "test_agreement.cofm", &loaded, &err), COF_OK, &err);
    remove("test_agreement.cofm");
    assert_memory_equal(cof_model_agreement(loaded), ari, 6 * sizeof *ari);
    cof_model_free(loaded);
    cof_model_free(model);
    o.restarts = 1;
    assert_status(cof_fit(table, &o, &model, NULL, &err), COF_OK, &err);
    assert_null(cof_model_agreement(model));
    assert_int_equal(cof_model_n_same(model), 1);
    cof_model_free(model);
    cof_table_free(table);
}

/* Restarts that agree with the kept one in every row are those that came to its likelihood, and a loaded model knows. */
static void so_many_are_alike(void **state)
{
    (void)state;
    cof_error err;
    size_t n_some = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        cof_table *table = random_table(seed, 90, 5, 3, 2);
        cof_fit_options o = {.struct_size = sizeof o, .k = 2, .restarts = 12, .seed = seed};
        if (seed % 2 == 1) o.select = COF_SELECT_OBJECTIVE;
        cof_model *model = fit_model(table, &o, NULL), *loaded = NULL;
        const double *ari = cof_model_agreement(model);
        size_t n = 0;
        for (size_t r = 0; r < 12; r++) n += ari[r] == 1;
        assert_int_equal(cof_model_n_same(model), n);
        assert_status(cof_model_save(model, "test_agreement.cofm", &err), COF_OK, &err);
        assert_status(cof_model_load(NULL, "test_agreement.cofm", &loaded, &err), COF_OK, &err);
        remove("test_agreement.cofm");
        assert_int_equal(cof_model_n_same(loaded), n);
        n_some += n > 1 && n < 12;
        cof_model_free(loaded);
        cof_model_free(model);
        cof_table_free(table);
    }
    assert_true(n_some > 2);
}

/* Each cluster against every cluster of every other good restart, row by row. */
static void clusters_against_their_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        enum { N = 300, K = 4, R = 5 };
        cof_table *table = random_table(seed, N, 7, 4, 5);
        cof_fit_options o = {.struct_size = sizeof o, .k = K, .restarts = R, .seed = seed, .threads = 1};
        cof_fit_info info = {.struct_size = sizeof info};
        cof_model *model = fit_model(table, &o, &info), *loaded = NULL;
        const cof_restart_record *record = cof_model_restarts(model, NULL);
        uint32_t n_good = 0, n_told = 0;
        double sum[K] = {0};
        const int32_t *own = cof_model_labels(model, NULL);
        for (uint32_t r = 0; r < R; r++) { /* a fit of r + 1 restarts that must keep the r-th */
            double gain = info.log_likelihood - info.log_likelihood_of_one;
            if (r == info.best_restart) continue;
            if (gain > 0 && record[r].log_likelihood - info.log_likelihood_of_one < 0.9 * gain) continue;
            n_good++;
            rig *g = open_rig(random_table(seed, N, 7, 4, 5), o);
            cof_error err;
            void *method = NULL;
            g->fit.log.restart = r;
            cofi_rng_seed(&g->fit.rng, o.seed, r);
            assert_status(g->fit.method->open(&g->fit, &method, &err), COF_OK, &err);
            assert_status(try_begin(g, &err), COF_OK, &err);
            assert_status(g->fit.method->run(&g->fit, method, &err), COF_OK, &err);
            for (int32_t j = 0; j < K; j++) {
                double most = 0;
                for (int32_t h = 0; h < K; h++) {
                    double common = 0, either = 0;
                    for (size_t i = 0; i < N; i++) {
                        bool here = own[i] == j, there = labels_of(&g->fit)[walked(g, i)] == h;
                        common += here && there;
                        either += here || there;
                    }
                    if (either > 0) most = fmax(most, common / either);
                }
                sum[j] += most;
            }
            close_rig(g);
        }
        const double *told = cof_model_cluster_agreement(model, &n_told);
        assert_int_equal(n_told, n_good);
        assert_true((told != NULL) == (n_good > 0));
        for (uint32_t j = 0; told != NULL && j < K; j++)
            if (cof_model_sizes(model)[j] > 0) assert_near(told[j], sum[j] / n_good, 1e-12);
        cof_error err;
        assert_status(cof_model_save(model, "test_agreement.cofm", &err), COF_OK, &err);
        assert_status(cof_model_load(NULL, "test_agreement.cofm", &loaded, &err), COF_OK, &err);
        remove("test_agreement.cofm");
        if (told != NULL)
            assert_memory_equal(cof_model_cluster_agreement(loaded, &n_told), told, K * sizeof *told);
        assert_int_equal(n_told, n_good);
        cof_model_free(loaded);
        cof_model_free(model);
        cof_table_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_are_all_compared),
        cmocka_unit_test(many_rows_are_sampled),
        cmocka_unit_test(a_model_tells_it),
        cmocka_unit_test(so_many_are_alike),
        cmocka_unit_test(clusters_against_their_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
