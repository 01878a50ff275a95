/* Other partitions that are nearly as good: they differ, can be kept, and do not depend on threads. */
#include "unit_helper.h"

#include "alloc_helper.h"

static cof_fit_options usual(uint32_t k)
{
    return (cof_fit_options){
        .struct_size = sizeof(cof_fit_options), .k = k, .seed = 1, .restarts = 12, .threads = 1};
}

static cof_table *blurred(uint64_t seed)
{
    return random_table(seed, 150, 6, 3, 7);
}

static double rand_index(const cof_model *a, const cof_model *b)
{
    size_t n = 0;
    cof_indices scores = {.struct_size = sizeof scores};
    cof_error err;
    const int32_t *x = cof_model_labels(a, &n), *y = cof_model_labels(b, NULL);
    assert_status(cof_evaluate(NULL, x, y, n, &scores, &err), COF_OK, &err);
    return scores.ari;
}

/* --keep makes the alternative the model, and the former model its first alternative. */
static void assert_keepable(const cof_table *t, cof_fit_options o, const cof_model *m,
                            const cof_alternative *a)
{
    o.keep = a->keep;
    cof_model *other = fit_model(t, &o, NULL);
    assert_same_labels(other, a->model);
    assert_same_trees(other, a->model);
    assert_int_equal(cof_model_best_restart(other), a->restart);
    assert_int_equal(cof_model_refined_by(other), cof_model_refined_by(a->model));
    assert_same_labels(cof_model_alternative(other, 0)->model, m);
    assert_int_equal(cof_model_alternative(other, 0)->keep, 1);
    assert_near(cof_model_alternative(other, 0)->agreement, a->agreement, 1e-12);
    cof_model_free(other);
}

static size_t check_alternatives(const cof_table *t, const cof_fit_options *o, const cof_model *m)
{
    size_t n = 0;
    for (const cof_alternative *a; (a = cof_model_alternative(m, n)) != NULL; n++) {
        size_t n_restarts = 0;
        assert_int_equal(a->keep, n + 2);
        assert_near(a->agreement, rand_index(a->model, m), 1e-12);
        assert_true(a->agreement < 0.8);
        for (size_t b = 0; b < n; b++)
            assert_true(rand_index(a->model, cof_model_alternative(m, b)->model) < 0.8);
        assert_true(a->log_likelihood == cof_model_restarts(m, &n_restarts)[a->restart].log_likelihood);
        assert_keepable(t, *o, m, a);
    }
    assert_true(n <= 2);
    return n;
}

static void alternatives_differ_and_can_be_kept(void **state)
{
    (void)state;
    size_t n_found = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        cof_table *t = blurred(seed);
        cof_fit_options o = usual(3);
        cof_error err;
        cof_model *m = fit_model(t, &o, NULL), *none = NULL;
        size_t n = check_alternatives(t, &o, m);
        n_found += n > 0;
        o.keep = (uint32_t)n + 2;
        assert_status(cof_fit(t, &o, &none, NULL, &err), n < 2 ? COF_ERR_NO_RESULT : COF_ERR_ARGUMENT, &err);
        o.keep = 0;
        o.no_alternatives = 1;
        none = fit_model(t, &o, NULL);
        assert_null(cof_model_alternative(none, 0));
        assert_same_labels(none, m);
        cof_model_free(none);
        cof_model_free(m);
        cof_table_free(t);
    }
    assert_true(n_found > 0 && n_found < 20);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        cof_table *t = random_table(seed, 2000, 10, 3, 9);
        cof_fit_options o = usual(3);
        cof_model *alone = fit_model(t, &o, NULL);
        o.threads = 3;
        cof_model *many = fit_model(t, &o, NULL);
        assert_same_labels(alone, many);
        for (size_t a = 0; a < 3; a++) {
            const cof_alternative *x = cof_model_alternative(alone, a), *y = cof_model_alternative(many, a);
            assert_int_equal(x == NULL, y == NULL);
            if (x == NULL) break;
            assert_same_labels(x->model, y->model);
            assert_same_trees(x->model, y->model);
        }
        cof_model_free(alone);
        cof_model_free(many);
        cof_table_free(t);
    }
}

/* The first blurred table that has an alternative. */
static uint64_t seed_with_alternative(void)
{
    for (uint64_t seed = 1;; seed++) {
        cof_table *t = blurred(seed);
        cof_fit_options o = usual(3);
        o.restarts = 4;
        cof_model *m = fit_model(t, &o, NULL);
        bool found = cof_model_alternative(m, 0) != NULL;
        cof_model_free(m);
        cof_table_free(t);
        if (found) return seed;
        assert_true(seed < 200);
    }
}

static void out_of_memory(void **state)
{
    (void)state;
    cofi_rng rng = dice(seed_with_alternative());
    int32_t *codes = random_codes(&rng, 150, 6, 3, 7);
    cof_status status = COF_ERR_MEMORY;
    for (size_t n = 0; status != COF_OK; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_table *table = NULL;
        cof_model *m = NULL;
        cof_fit_options o = usual(3);
        o.restarts = 4;
        status = cof_table_from_codes(&env, codes, 150, 6, NULL, &table, NULL);
        if (status == COF_OK) status = cof_fit(table, &o, &m, NULL, NULL);
        assert_true(status == COF_ERR_MEMORY || (status == COF_OK && cof_model_alternative(m, 0) != NULL));
        cof_model_free(m);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
    }
    free(codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alternatives_differ_and_can_be_kept),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
