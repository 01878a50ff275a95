/* What refined the kept restart: predictions, margins and the share of rows nearer to another cluster fit its kind. */
#include "unit_helper.h"

/* Distance of a row to a cluster along the trees, from the definition. */
static double along_trees(const cof_model *m, const int32_t *code, uint32_t j)
{
    double sum = 0;
    for (size_t r = 0; r < cof_model_n_attributes(m); r++) {
        cof_attribute about = {.struct_size = sizeof about};
        assert_int_equal(cof_model_attribute(m, r, &about), COF_OK);
        for (uint32_t v = 0; about.used && v < about.n_values; v++)
            sum += cof_model_distance(m, r, (uint32_t)code[r], v) * cof_model_profile(m, r, v, j);
    }
    return sum;
}

/* Of n_looked evenly spaced rows; `weight` NULL: 1 each. */
static double count_strays(const cof_model *m, const cof_table *t, const double *weight, size_t n_looked)
{
    size_t n = 0, l = cof_table_n_columns(t);
    const int32_t *label = cof_model_labels(m, &n);
    int32_t *code = get_zero(l, sizeof *code);
    double strays = 0, all = 0;
    for (size_t at = 0; at < n_looked; at++) {
        size_t i = at * n / n_looked;
        for (size_t r = 0; r < l; r++) code[r] = (int32_t)cof_table_code(t, i, r);
        double own = along_trees(m, code, (uint32_t)label[i]), least = own;
        for (uint32_t j = 0; j < cof_model_k(m); j++) least = fmin(least, along_trees(m, code, j));
        all += weight != NULL ? weight[i] : 1;
        if (least < own - 1e-9) strays += weight != NULL ? weight[i] : 1;
    }
    free(code);
    return strays / all;
}

/* Rows are where the model's own distance is least, and their margins say so. */
static void assert_consistent(const cof_model *m, const cof_table *t)
{
    size_t n = 0;
    const int32_t *label = cof_model_labels(m, &n);
    int32_t *found = get_zero(n, sizeof *found);
    cof_margin *margin = get_zero(n, sizeof *margin);
    cof_error err;
    assert_status(cof_model_predict(m, t, 1, found, n, NULL, &err), COF_OK, &err);
    assert_memory_equal(found, label, n * sizeof *label);
    assert_status(cof_model_margins(m, t, label, 1, margin, n, &err), COF_OK, &err);
    for (size_t i = 0; i < n; i++) assert_true(margin[i].own <= margin[i].other && margin[i].second >= 0);
    free(margin);
    free(found);
}

static void the_kind_that_was_kept_is_told(void **state)
{
    (void)state;
    double weight[300];
    size_t n_of_kind[2] = {0, 0}, n_strays = 0;
    for (size_t i = 0; i < COUNT(weight); i++) weight[i] = (double)(1 + i % 3);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        cof_table *t = random_table(seed, COUNT(weight), 6, 3 + seed % 3, 9);
        cof_fit_options o = {
            .struct_size = sizeof o, .k = 4, .seed = seed, .restarts = 4, .weights = weight, .threads = 1};
        cof_fit_info info = {.struct_size = sizeof info};
        cof_model *m = fit_model(t, &o, &info);
        bool likely = cof_model_refined_by(m) == COF_REFINED_BY_LIKELIHOOD;
        assert_int_equal(likely, info.best_restart % 2);
        n_of_kind[likely]++;
        if (info.stop_reason == COF_STOP_CONVERGED) {
            assert_consistent(m, t);
            if (!likely) assert_near(count_strays(m, t, weight, COUNT(weight)), 0, 0);
        }
        if (likely) {
            assert_near(cof_model_nearer_other(m), count_strays(m, t, weight, COUNT(weight)), 1e-12);
            n_strays += cof_model_nearer_other(m) > 0;
        } else {
            assert_true(isnan(cof_model_nearer_other(m)));
        }
        cof_model_free(m);
        cof_table_free(t);
    }
    assert_true(n_of_kind[0] > 0 && n_of_kind[1] > 0 && n_strays > 0);
}

/* Of a large table, 65,536 evenly spaced rows are looked at. */
static void strays_of_large_tables(void **state)
{
    (void)state;
    static const struct {
        size_t n, l, o;
        uint32_t k;
    } cases[] = {{70000, 4, 3, 3}, {66000, 5, 4, 2}};
    uint32_t n_likely = 0;
    for (size_t c = 0; c < COUNT(cases); c++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            cof_table *t = random_table(seed, cases[c].n, cases[c].l, cases[c].o, 9);
            cof_fit_options o = {.struct_size = sizeof o,
                                 .k = cases[c].k,
                                 .seed = seed,
                                 .restarts = 2,
                                 .select = COF_SELECT_LIKELIHOOD,
                                 .threads = 2};
            cof_fit_info info = {.struct_size = sizeof info};
            cof_model *m = fit_model(t, &o, &info);
            if (cof_model_refined_by(m) == COF_REFINED_BY_LIKELIHOOD) {
                assert_near(cof_model_nearer_other(m), count_strays(m, t, NULL, 65536), 1e-12);
                n_likely += 1 << 8 * c;
            }
            cof_model_free(m);
            cof_table_free(t);
        }
    for (size_t c = 0; c < COUNT(cases); c++) assert_true((n_likely >> 8 * c & 0xFF) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_kind_that_was_kept_is_told),
                                       cmocka_unit_test(strays_of_large_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
