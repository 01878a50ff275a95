/* Memberships, log-likelihoods and criteria against the formulas. */
#include "unit_helper.h"

#include "../../src/fit/likelihood.h"
#include "../../src/model/model.h"

static cof_fit_options options(uint32_t k, const char *method)
{
    return (cof_fit_options){
        .struct_size = sizeof(cof_fit_options), .k = k, .restarts = 2, .threads = 1, .method = method};
}

typedef struct answer {
    size_t n;
    uint32_t k;
    double *share, *log_likelihood;
} answer;

/* In calls of `together` rows. */
static answer rate(const cof_model *m, const cof_table *t, uint32_t threads, size_t together)
{
    answer a = {.n = cof_table_n_rows(t), .k = cof_model_k(m)};
    cof_posterior *p;
    cof_error err;
    a.share = get_zero(a.n * a.k, sizeof *a.share);
    a.log_likelihood = get_zero(a.n, sizeof *a.log_likelihood);
    assert_status(cof_posterior_open(m, t, threads, &p, &err), COF_OK, &err);
    for (size_t i = 0; i < a.n; i += together) {
        size_t n = a.n - i < together ? a.n - i : together;
        assert_status(cof_posterior_rows(p, i, n, a.share + i * a.k, a.log_likelihood + i, &err), COF_OK,
                      &err);
    }
    cof_posterior_free(p);
    return a;
}

static void release(answer *a)
{
    free(a->share);
    free(a->log_likelihood);
}

/* ---- The formula --------------------------------------------------------------------------------- */

/* Rows of cluster j with each value of an attribute; returns how many values occur anywhere. */
static uint32_t counts_of(const cof_model *m, size_t r, uint32_t n_values, uint32_t j, double *rows)
{
    size_t n_edges;
    uint32_t n_present = 0, n_bins = cof_model_cut(m, r, &n_edges) != NULL ? (uint32_t)n_edges + 1 : 0;
    double *all = get_zero(n_values, sizeof *all);
    for (uint32_t v = 0; v < n_values; v++) {
        rows[v] = cof_model_count(m, r, v, j);
        for (uint32_t i = 0; i < cof_model_k(m); i++) all[v] += cof_model_count(m, r, v, i);
        n_present += all[v] > 0;
    }
    if (n_bins > 0) cofi_bins_smooth(all, n_bins, rows);
    free(all);
    return n_present;
}

/* p(v given j) = (rows of j with v + 1/2) / (rows of j + 1/2 for each value that occurs) */
static double value_probability(const cof_model *m, size_t r, uint32_t n_values, uint32_t v, uint32_t j)
{
    double *rows = get_zero(n_values, sizeof *rows), total = 0;
    uint32_t n_present = counts_of(m, r, n_values, j, rows);
    for (uint32_t u = 0; u < n_values; u++) total += rows[u];
    double p = (rows[v] + 0.5) / (total + 0.5 * n_present);
    free(rows);
    return p;
}

/* What the prior gives to one more value. */
static double unseen_probability(const cof_model *m, size_t r, uint32_t n_values)
{
    double all = 0;
    uint32_t n_present = 0;
    for (uint32_t v = 0; v < n_values; v++) {
        double here = 0;
        for (uint32_t j = 0; j < cof_model_k(m); j++) here += cof_model_count(m, r, v, j);
        all += here;
        n_present += here > 0;
    }
    return 0.5 / (all + 0.5 * (n_present + 1));
}

static bool is_missing(const cof_table *t, size_t row, size_t column)
{
    cof_column view = {.struct_size = sizeof view};
    assert_int_equal(cof_table_column(t, column, &view), COF_OK);
    return cof_table_code(t, row, column) == view.n_values;
}

/* Multiplies every row's joint probabilities with those of one attribute. */
static void multiply(const cof_model *m, const cof_table *t, size_t r, double *joint)
{
    cof_attribute about = {.struct_size = sizeof about};
    uint32_t k = cof_model_k(m);
    size_t n = cof_table_n_rows(t);
    int32_t *value = get_zero(n, sizeof *value);
    assert_int_equal(cof_model_attribute(m, r, &about), COF_OK);
    if (about.used) {
        double weight = cof_model_column_weight(m, r);
        assert_int_equal(cof_model_values(m, t, r, value, n, NULL), COF_OK);
        for (size_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < k; j++) {
                bool ignored =
                    value[i] < 0 && is_missing(t, i, r) && cof_model_missing(m) != COF_MISSING_VALUE;
                double p = ignored        ? 1
                           : value[i] < 0 ? unseen_probability(m, r, about.n_values)
                                          : value_probability(m, r, about.n_values, (uint32_t)value[i], j);
                joint[i * k + j] *= pow(p, weight);
            }
    }
    free(value);
}

/* n x k joint probabilities of rows and clusters under the partition's smoothed profiles. */
static double *joint_of(const cof_model *m, const cof_table *t)
{
    uint32_t k = cof_model_k(m);
    size_t n = cof_table_n_rows(t);
    double *joint = get_zero(n * k, sizeof *joint), all = 0;
    for (uint32_t j = 0; j < k; j++) all += cof_model_sizes(m)[j];
    for (size_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < k; j++) {
            double size = cof_model_sizes(m)[j];
            joint[i * k + j] = size > 0 ? (size + 0.5) / (all + 0.5 * k) : 0;
        }
    for (size_t r = 0; r < cof_model_n_attributes(m); r++) multiply(m, t, r, joint);
    return joint;
}

static void check_formula(const cof_model *m, const cof_table *t)
{
    answer a = rate(m, t, 1, 64);
    double *joint = joint_of(m, t);
    for (size_t i = 0; i < a.n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < a.k; j++) sum += joint[i * a.k + j];
        for (uint32_t j = 0; j < a.k; j++) assert_near(a.share[i * a.k + j], joint[i * a.k + j] / sum, 1e-9);
        assert_near(a.log_likelihood[i], log(sum), 1e-9);
    }
    free(joint);
    release(&a);
}

/* All methods but lca, rows and columns with weights, missing cells as values or ignored, and rows with other values than
 * the model has. */
static void memberships_are_those_of_the_smoothed_profiles(void **state)
{
    static const char *const methods[] = {"coforest", "kmodes", "adc", "jdm"};
    static const double column_weights[] = {1, 0.5, 2, 1};
    double weights[120];
    (void)state;
    for (size_t i = 0; i < COUNT(weights); i++) weights[i] = 0.5 * (double)(i % 4);
    for (uint64_t round = 0; round < 24; round++) {
        const char *method = methods[round % COUNT(methods)];
        cof_fit_options o = options(2 + (uint32_t)(round % 4), method);
        o.missing = round % 2 == 0 ? COF_MISSING_VALUE : COF_MISSING_IGNORE;
        o.weights = round % 3 == 0 ? weights : NULL;
        o.column_weights = round % 5 == 0 && strcmp(method, "jdm") != 0 ? column_weights : NULL;
        cof_table *t = holey_table(round, COUNT(weights), 4, 4, 4, 15),
                  *wider = holey_table(round + 50, 40, 4, 6, 4, 15);
        cof_model *m = fit_model(t, &o, NULL);
        check_formula(m, t);
        check_formula(m, wider);
        cof_model_free(m);
        cof_table_free(wider);
        cof_table_free(t);
    }
}

/* Numbers 0..99 around a mean of the class, beside a category. */
static cof_table *quantity_table(uint64_t seed, size_t n)
{
    cofi_rng rng = dice(seed);
    int32_t *codes = get_zero(n * 3, sizeof *codes);
    for (size_t i = 0; i < n; i++) {
        size_t class = i % 2;
        codes[i * 3] = (int32_t)(30 * class + below(&rng, 50));
        codes[i * 3 + 1] = (int32_t)(20 * class + below(&rng, 60));
        codes[i * 3 + 2] = (int32_t)(below(&rng, 5) == 0 ? below(&rng, 2) : class);
    }
    cof_table *t = table_of(codes, n, 3);
    free(codes);
    return t;
}

static void bins_of_quantities_are_smoothed(void **state)
{
    (void)state;
    cof_table *t = quantity_table(3, 300);
    cof_error err;
    for (size_t c = 0; c < 2; c++) assert_status(cof_table_cut(t, c, NULL, &err), COF_OK, &err);
    for (int32_t init = COF_INIT_PORTFOLIO; init <= COF_INIT_RANDOM; init++) {
        cof_fit_options o = options(2, "coforest");
        o.init = init;
        cof_model *m = fit_model(t, &o, NULL);
        check_formula(m, t);
        cof_model_free(m);
    }
    cof_table_free(t);
}

/* ---- Labels --------------------------------------------------------------------------------------- */

static bool refined_by_likelihood(const cof_model *m)
{
    size_t n;
    return cof_model_restarts(m, &n)[cof_model_best_restart(m)].by_likelihood != 0;
}

static void check_labels(const cof_model *m, const cof_table *t)
{
    answer a = rate(m, t, 1, 64);
    int32_t *label = get_zero(a.n, sizeof *label);
    double *distance = get_zero(a.n * a.k, sizeof *distance);
    assert_int_equal(cof_model_predict(m, t, 1, label, a.n, NULL, NULL), COF_OK);
    assert_int_equal(cof_model_transform(m, t, 1, distance, a.n * a.k, NULL), COF_OK);
    for (size_t i = 0; i < a.n; i++) {
        int32_t likeliest = 0;
        double sum = 0;
        for (uint32_t j = 0; j < a.k; j++) {
            if (a.share[i * a.k + j] > a.share[i * a.k + (size_t)likeliest]) likeliest = (int32_t)j;
            sum += exp(-distance[i * a.k + j]);
        }
        assert_int_equal(likeliest, label[i]);
        for (uint32_t j = 0; j < a.k; j++)
            assert_near(a.share[i * a.k + j], exp(-distance[i * a.k + j]) / sum, 1e-9);
    }
    free(distance);
    free(label);
    release(&a);
}

/* Where rows go to their likeliest cluster, also ties and rows of unknown values get the same label. */
static void the_largest_membership_is_the_label(void **state)
{
    (void)state;
    size_t n_refined = 0;
    for (uint64_t round = 0; round < 30; round++) {
        cof_fit_options o = options(2 + (uint32_t)(round % 5), round % 2 == 0 ? "lca" : "coforest");
        o.seed = round;
        o.missing = (int32_t)(round % 2);
        cof_table *t = holey_table(round, 150, 3, 3, 4, 15),
                  *other = holey_table(round + 90, 60, 3, 5, 4, 15);
        cof_model *m = fit_model(t, &o, NULL);
        n_refined += refined_by_likelihood(m);
        if (round % 2 == 0 || refined_by_likelihood(m)) {
            check_labels(m, t);
            check_labels(m, other);
        }
        cof_model_free(m);
        cof_table_free(other);
        cof_table_free(t);
    }
    assert_true(n_refined > 3);
}

/* ---- Numbers -------------------------------------------------------------------------------------- */

static double number_at(const cof_table *t, size_t row, size_t column)
{
    return strtod(cof_table_cell(t, row, column), NULL);
}

/* Numbers are normal around their means with one variance: that of the rows fitted, and one more row that is uniform over
 * the range. Scaled to 0..1, that row adds 1/12 a column. */
static void numbers_are_normal_around_their_means(void **state)
{
    (void)state;
    size_t n = 200;
    cof_table *t = quantity_table(5, n);
    cof_error err;
    cof_fit_options o = options(2, "k-prototypes");
    o.scale = COF_SCALE_RANGE;
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0}, squares = 0;
    for (size_t c = 0; c < 2; c++) {
        assert_status(cof_table_set_role(t, c, COF_ROLE_NUMERIC, &err), COF_OK, &err);
        for (size_t i = 0; i < n; i++) {
            low[c] = fmin(low[c], number_at(t, i, c));
            high[c] = fmax(high[c], number_at(t, i, c));
        }
    }
    cof_model *m = fit_model(t, &o, NULL);
    const int32_t *label = cof_model_labels(m, NULL);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 2; c++)
            squares += pow((number_at(t, i, c) - cof_model_numeric_mean(m, c, (uint32_t)label[i])) /
                               (high[c] - low[c]),
                           2);
    double variance = (squares + 2.0 / 12) / (2 * ((double)n + 1));
    double *joint = joint_of(m, t);
    answer a = rate(m, t, 1, 64);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, p[2];
        for (uint32_t j = 0; j < 2; j++) {
            p[j] = joint[i * 2 + j];
            for (size_t c = 0; c < 2; c++) {
                double deviation = sqrt(variance) * (high[c] - low[c]);
                double x = (number_at(t, i, c) - cof_model_numeric_mean(m, c, j)) / deviation;
                p[j] *= exp(-x * x / 2) / deviation / sqrt(2 * acos(-1));
            }
            sum += p[j];
        }
        for (uint32_t j = 0; j < 2; j++) assert_near(a.share[i * 2 + j], p[j] / sum, 1e-6);
        assert_near(a.log_likelihood[i], log(sum), 1e-6);
    }
    free(joint);
    release(&a);
    cof_model_free(m);
    cof_table_free(t);
}

/* ---- Criteria ------------------------------------------------------------------------------------- */

/* Values that occur, less one for each attribute. */
static uint32_t count_free_values(const cof_model *m)
{
    uint32_t n = 0;
    for (size_t r = 0; r < cof_model_n_attributes(m); r++) {
        cof_attribute about = {.struct_size = sizeof about};
        assert_int_equal(cof_model_attribute(m, r, &about), COF_OK);
        if (!about.used) continue;
        double *rows = get_zero(about.n_values, sizeof *rows);
        n += counts_of(m, r, about.n_values, 0, rows) - 1;
        free(rows);
    }
    return n;
}

static void check_criteria(const cof_model *m, const cof_table *t, const double *weights)
{
    cof_fit_info info = {.struct_size = sizeof info, .passes = 7};
    cof_error err;
    answer a = rate(m, t, 1, 64);
    assert_status(cof_model_criteria(m, t, weights, 1, &info, &err), COF_OK, &err);
    double n = 0, log_likelihood = 0, entropy = 0, n_shared = 0;
    for (size_t i = 0; i < a.n; i++) {
        double weight = weights != NULL ? weights[i] : 1, largest = 0;
        if (weight == 0 || isnan(a.log_likelihood[i])) continue;
        n += weight;
        log_likelihood += weight * a.log_likelihood[i];
        for (uint32_t j = 0; j < a.k; j++) {
            double p = a.share[i * a.k + j];
            largest = fmax(largest, p);
            entropy -= p > 0 ? weight * p * log(p) : 0;
        }
        n_shared += largest < 0.8;
    }
    double p = a.k - 1 + a.k * (double)count_free_values(m);
    assert_near(info.n_parameters, p, 0);
    assert_near(info.mixture_log_likelihood, log_likelihood, 1e-8 * fabs(log_likelihood));
    assert_near(info.bic, p * log(n) - 2 * log_likelihood, 1e-6);
    assert_near(info.aic, 2 * p - 2 * log_likelihood, 1e-6);
    assert_near(info.icl, info.bic + 2 * entropy, 1e-6);
    assert_near((double)info.n_shared, n_shared, 0);
    assert_int_equal(info.passes, 7);
    release(&a);
}

static void criteria_follow_from_the_memberships(void **state)
{
    (void)state;
    double weights[90];
    for (size_t i = 0; i < COUNT(weights); i++) weights[i] = (double)(i % 3);
    for (uint64_t round = 0; round < 12; round++) {
        cof_fit_info info = {.struct_size = sizeof info};
        cof_fit_options o = options(3, round % 2 == 0 ? "lca" : "coforest");
        o.weights = round % 3 == 0 ? weights : NULL;
        o.missing = round % 4 < 2 ? COF_MISSING_DROP : COF_MISSING_VALUE;
        cof_table *t = holey_table(round + 7, COUNT(weights), 4, 3, 4, 15);
        cof_model *m = fit_model(t, &o, &info);
        check_criteria(m, t, o.weights);
        double bic = info.bic, aic = info.aic;
        assert_int_equal(cof_model_criteria(m, t, o.weights, 2, &info, NULL), COF_OK);
        assert_true((isnan(bic) != 0) == (round % 2 != 0));
        if (round % 2 == 0) { /* the fit of lca says the same */
            assert_near(info.bic, bic, 1e-6);
            assert_near(info.aic, aic, 1e-6);
        }
        cof_model_free(m);
        cof_table_free(t);
    }
}

/* ---- Other rules ---------------------------------------------------------------------------------- */

static void the_bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    cof_table *t = random_table(11, 10000, 6, 5, 6);
    cof_fit_options o = options(6, "coforest");
    cof_model *m = fit_model(t, &o, NULL);
    answer one = rate(m, t, 1, 10000);
    cof_fit_info first = {.struct_size = sizeof first}, again = {.struct_size = sizeof again};
    assert_int_equal(cof_model_criteria(m, t, NULL, 1, &first, NULL), COF_OK);
    for (uint32_t threads = 2; threads <= 4; threads++) {
        answer more = rate(m, t, threads, 3000 * threads - 1);
        assert_memory_equal(one.share, more.share, one.n * one.k * sizeof *one.share);
        assert_memory_equal(one.log_likelihood, more.log_likelihood, one.n * sizeof *one.log_likelihood);
        assert_int_equal(cof_model_criteria(m, t, NULL, threads, &again, NULL), COF_OK);
        assert_true(first.icl == again.icl);
        release(&more);
    }
    release(&one);
    cof_model_free(m);
    cof_table_free(t);
}

static void dropped_rows_have_no_memberships(void **state)
{
    (void)state;
    static const char *const cells[] = {"a", "b", "b", "a", "x", NULL, "y", "x"};
    cof_table *t;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, 4, 2, NULL, &t, &err), COF_OK, &err);
    cof_fit_options o = options(2, "lca");
    o.missing = COF_MISSING_DROP;
    cof_model *m = fit_model(t, &o, NULL);
    answer a = rate(m, t, 1, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true((isnan(a.log_likelihood[i]) != 0) == (i == 1));
        assert_true((isnan(a.share[2 * i]) != 0) == (i == 1));
    }
    release(&a);
    cof_model_free(m);
    cof_table_free(t);
}

static void rows_that_are_not_there_are_refused(void **state)
{
    (void)state;
    cof_table *t = t6_table();
    cof_fit_options o = options(2, NULL);
    cof_model *m = fit_model(t, &o, NULL);
    cof_posterior *p;
    cof_error err;
    assert_int_equal(cof_posterior_open(m, t, 1, &p, &err), COF_OK);
    assert_int_equal(cof_posterior_rows(p, 6, 0, NULL, NULL, &err), COF_OK);
    assert_int_equal(cof_posterior_rows(p, 5, 2, NULL, NULL, &err), COF_ERR_ARGUMENT);
    assert_string_equal(err.text, "2 rows from row 5 on were asked for, but there are 6");
    assert_int_equal(cof_posterior_rows(p, SIZE_MAX, 2, NULL, NULL, &err), COF_ERR_ARGUMENT);
    cof_posterior_free(p);
    cof_posterior_free(NULL);
    cof_model_free(m);
    cof_table_free(t);
}

/* Earlier versions left no scores where columns were numeric. */
static void models_of_earlier_versions_are_refused(void **state)
{
    (void)state;
    cof_table *t = random_table(1, 60, 3, 4, 2);
    cof_fit_options o = options(2, "coforest");
    cof_model *m = fit_model(t, &o, NULL);
    cof_posterior *p = NULL;
    cof_error err;
    m->no_scores = true;
    assert_int_equal(cof_posterior_open(m, t, 1, &p, &err), COF_ERR_NO_PREDICTION);
    assert_non_null(strstr(err.text, "fit it again"));
    assert_null(p);
    cof_model_free(m);
    cof_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memberships_are_those_of_the_smoothed_profiles),
        cmocka_unit_test(bins_of_quantities_are_smoothed),
        cmocka_unit_test(the_largest_membership_is_the_label),
        cmocka_unit_test(numbers_are_normal_around_their_means),
        cmocka_unit_test(criteria_follow_from_the_memberships),
        cmocka_unit_test(the_bits_do_not_depend_on_threads),
        cmocka_unit_test(dropped_rows_have_no_memberships),
        cmocka_unit_test(rows_that_are_not_there_are_refused),
        cmocka_unit_test(models_of_earlier_versions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
