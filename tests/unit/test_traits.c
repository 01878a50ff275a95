/* What marks a cluster, and how much columns tell: a table small enough to count by hand. */
#include "unit_helper.h"

#include "alloc_helper.h"

/* Two clusters of ten: columns 0 and 4 tell them apart, 1 does nearly, 2 is unrelated, 3 constant. */
static cof_table *two_groups(const cof_env *env, cof_error *err)
{
    int32_t codes[20 * 5];
    cof_table *table = NULL;
    for (int32_t i = 0; i < 20; i++) {
        codes[5 * i] = i / 10;
        codes[5 * i + 1] = i == 0 ? 1 : i / 10;
        codes[5 * i + 2] = i % 2;
        codes[5 * i + 3] = 7;
        codes[5 * i + 4] = i / 10;
    }
    return cof_table_from_codes(env, codes, 20, 5, NULL, &table, err) == COF_OK ? table : NULL;
}

static const cof_fit_options options = {.struct_size = sizeof options, .k = 2, .restarts = 3, .threads = 1};

static void telling_columns(void **state)
{
    double importance[5];
    cof_error err;
    (void)state;
    cof_table *table = two_groups(NULL, &err);
    cof_model *model = fit_model(table, &options, NULL);
    assert_status(cof_model_importance(model, importance, 5, &err), COF_OK, &err);
    /* all of one bit, less (2 - 1)(2 - 1) / (2 * 20) nats that chance would tell */
    assert_near(importance[0], 1 - 0.025 / log(2), 1e-12);
    assert_true(importance[1] < importance[0] && importance[1] > 0.5);
    assert_true(importance[2] == 0 && importance[3] == 0);
    assert_status(cof_model_importance(model, importance, 3, &err), COF_ERR_ARGUMENT, &err);
    cof_model_free(model);
    cof_table_free(table);
}

static void marking_values(void **state)
{
    enum { MOST = 4 };
    cof_trait more[2 * MOST], less[2 * MOST];
    size_t n_more[2], n_less[2];
    cof_error err;
    (void)state;
    cof_table *table = two_groups(NULL, &err);
    cof_model *model = fit_model(table, &options, NULL);
    assert_status(cof_model_traits(model, COF_TRAIT_MORE, MOST, more, n_more, &err), COF_OK, &err);
    assert_status(cof_model_traits(model, COF_TRAIT_LESS, MOST, less, n_less, &err), COF_OK, &err);
    for (size_t j = 0; j < 2; j++) {
        assert_int_equal(n_more[j], 3); /* one value each of columns 0, 1 and 4 */
        assert_int_equal(n_less[j], 3);
        const cof_trait *first = &more[j * MOST];
        assert_int_equal(first->attribute, 0);
        assert_true(first->here == 10 && first->cluster == 10 && first->anywhere == 10 && first->all == 20);
        assert_near(first->evidence, 2 * 20 * log(2), 1e-9);
        assert_true(first[1].attribute == 4 && first[1].evidence > first[2].evidence);
        assert_true(less[j * MOST].here == 0 && less[j * MOST].value != first->value);
    }
    assert_status(cof_model_traits(model, 5, MOST, more, n_more, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_model_traits(model, COF_TRAIT_MORE, 0, NULL, n_more, &err), COF_OK, &err);
    assert_int_equal(n_more[0] + n_more[1], 0);
    cof_model_free(model);
    cof_table_free(table);
}

static cof_status study(const cof_env *env, cof_error *err)
{
    cof_trait more[2];
    size_t n_more[2];
    double importance[5];
    cof_model *model = NULL;
    cof_table *table = two_groups(env, err);
    if (table == NULL) return COF_ERR_MEMORY;
    cof_status status = cof_fit(table, &options, &model, NULL, err);
    if (status == COF_OK) status = cof_model_importance(model, importance, 5, err);
    if (status == COF_OK) status = cof_model_traits(model, COF_TRAIT_MORE, 1, more, n_more, err);
    cof_model_free(model);
    cof_table_free(table);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    cof_error err;
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = study(&env, &err);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

/* Bins side by side become one range; "more" and "less" tell the two ends. */
static void neighbouring_bins_are_joined(void **state)
{
    enum { N = 200 };
    static char text[N][8];
    const char *cells[2 * N];
    cof_table *table = NULL;
    cof_trait trait[2 * 4];
    size_t n[2];
    char shown[64];
    cof_error err;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        snprintf(text[i], sizeof text[i], "%zu", i);
        cells[i] = text[i];
        cells[N + i] = i < N / 2 ? "low" : "high";
    }
    assert_status(cof_table_from_strings(NULL, cells, N, 2, NULL, &table, &err), COF_OK, &err);
    assert_status(cof_table_cut(table, 0, NULL, &err), COF_OK, &err);
    cof_model *model = fit_model(table, &options, NULL);
    const int32_t *label = cof_model_labels(model, NULL);
    for (int32_t side = COF_TRAIT_MORE; side <= COF_TRAIT_LESS; side++) {
        assert_status(cof_model_traits(model, side, 4, trait, n, &err), COF_OK, &err);
        for (size_t j = 0; j < 2; j++) {
            const cof_trait *t = &trait[4 * j];
            size_t at = 0;
            while (at < n[j] && t[at].attribute != 0) at++;
            assert_true(at < n[j]); /* one trait is about the quantity, */
            for (size_t i = at + 1; i < n[j]; i++) assert_true(t[i].attribute != 0); /* and no other */
            bool low = (label[0] == (int32_t)j) == (side == COF_TRAIT_MORE);
            assert_string_equal(cof_trait_text(model, &t[at], shown, sizeof shown),
                                low ? "0..99" : "100..199");
            assert_int_equal(t[at].last - t[at].value, 7);
        }
    }
    cof_model_free(model);
    cof_table_free(table);
}

/* In a column of 40 values none takes a quarter of a cluster, and yet ten of them belong to one cluster alone. */
static void many_values_mark_clusters_too(void **state)
{
    enum { N = 800, MOST = 8 };
    static int32_t codes[N * 2];
    cof_table *table = NULL;
    cof_trait more[4 * MOST];
    size_t n_more[4];
    cof_error err;
    (void)state;
    for (int32_t i = 0; i < N; i++) {
        codes[2 * i] = i % 40;
        codes[2 * i + 1] = i % 40 / 10;
    }
    assert_status(cof_table_from_codes(NULL, codes, N, 2, NULL, &table, &err), COF_OK, &err);
    cof_fit_options four = options;
    four.k = 4;
    cof_model *model = fit_model(table, &four, NULL);
    assert_status(cof_model_traits(model, COF_TRAIT_MORE, MOST, more, n_more, &err), COF_OK, &err);
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(n_more[j], MOST);
        assert_int_equal(more[j * MOST].attribute, 1); /* all rows of the cluster hold it */
        for (size_t t = 1; t < MOST; t++) {
            assert_int_equal(more[j * MOST + t].attribute, 0);
            assert_true(more[j * MOST + t].here == 20 && more[j * MOST + t].anywhere == 20);
        }
    }
    cof_model_free(model);
    cof_table_free(table);
}

static void wrong_calls(void **state)
{
    double importance[5];
    cof_trait trait[2];
    size_t n[2];
    cof_error err;
    (void)state;
    cof_table *table = two_groups(NULL, &err);
    cof_model *model = fit_model(table, &options, NULL);
    assert_status(cof_model_importance(model, importance, 4, &err), COF_ERR_ARGUMENT, &err);
    assert_string_equal(err.text, "room for 4 attributes was given, but the model has 5");
    assert_status(cof_model_traits(model, 7, 1, trait, n, &err), COF_ERR_ARGUMENT, &err);
    assert_string_equal(err.text, "7 is not a side; take COF_TRAIT_MORE or COF_TRAIT_LESS");
    cof_model_free(model);
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(telling_columns),
                                       cmocka_unit_test(many_values_mark_clusters_too),
                                       cmocka_unit_test(neighbouring_bins_are_joined),
                                       cmocka_unit_test(marking_values),
                                       cmocka_unit_test(wrong_calls),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
