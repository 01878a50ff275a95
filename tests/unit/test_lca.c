/* The latent class model against plain EM, and what must hold of any EM. */
#include "method_helper.h"

/* EM without a shortcut: memberships of every row kept as they are. */
typedef struct naive {
    const int32_t *x;
    const double *weight; /* or NULL */
    size_t n, l, o;
    uint32_t k;
    double *member; /* n x k */
    double *pi, *theta;
} naive;

static double weight_of(const naive *t, size_t i)
{
    return t->weight != NULL ? t->weight[i] : 1;
}

static double total_of(const naive *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) sum += weight_of(t, i);
    return sum;
}

static double overall(const naive *t, size_t r, size_t v)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) sum += t->x[i * t->l + r] == (int32_t)v ? weight_of(t, i) : 0;
    return sum / total_of(t);
}

/* One row's worth of the overall distribution is added to every class. */
static void maximise(const naive *t)
{
    for (uint32_t j = 0; j < t->k; j++) {
        double size = 0;
        for (size_t i = 0; i < t->n; i++) size += weight_of(t, i) * t->member[i * t->k + j];
        t->pi[j] = (size + 1.0 / t->k) / (total_of(t) + 1);
        for (size_t r = 0; r < t->l; r++)
            for (size_t v = 0; v < t->o; v++) {
                double sum = overall(t, r, v);
                for (size_t i = 0; i < t->n; i++)
                    if (t->x[i * t->l + r] == (int32_t)v) sum += weight_of(t, i) * t->member[i * t->k + j];
                t->theta[(r * t->o + v) * t->k + j] = sum / (size + 1);
            }
    }
}

static double expect(const naive *t)
{
    double log_likelihood = 0;
    for (size_t i = 0; i < t->n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < t->k; j++) {
            double p = t->pi[j];
            for (size_t r = 0; r < t->l; r++)
                p *= t->theta[(r * t->o + (size_t)t->x[i * t->l + r]) * t->k + j];
            t->member[i * t->k + j] = p;
            sum += p;
        }
        for (uint32_t j = 0; j < t->k; j++) t->member[i * t->k + j] /= sum;
        log_likelihood += weight_of(t, i) * log(sum);
    }
    return log_likelihood;
}

/* What every class is lent, as if seen. EM raises the log-likelihood plus this. */
static double log_smoothing(const naive *t)
{
    double sum = 0;
    for (uint32_t j = 0; j < t->k; j++) {
        sum += log(t->pi[j]) / t->k;
        for (size_t r = 0; r < t->l; r++)
            for (size_t v = 0; v < t->o; v++)
                if (overall(t, r, v) > 0) sum += overall(t, r, v) * log(t->theta[(r * t->o + v) * t->k + j]);
    }
    return sum;
}

static naive naive_of(const int32_t *codes, const double *weight, size_t n, size_t l, size_t o, uint32_t k)
{
    return (naive){codes,
                   weight,
                   n,
                   l,
                   o,
                   k,
                   get_zero(n * k, sizeof(double)),
                   get_zero(k, sizeof(double)),
                   get_zero(l * o * k, sizeof(double))};
}

static void free_naive(naive *t)
{
    free(t->member);
    free(t->pi);
    free(t->theta);
}

/* k-modes from the same seeds is the partition that EM starts with. */
static void start_naively(const naive *t, const cof_table *table, cof_fit_options o)
{
    o.method = "kmodes";
    cof_model *start = fit_model(table, &o, NULL);
    const int32_t *label = cof_model_labels(start, NULL);
    for (size_t i = 0; i < t->n; i++) t->member[i * t->k + (uint32_t)label[i]] = 1;
    cof_model_free(start);
}

static double n_parameters(const naive *t)
{
    double n = t->k - 1;
    for (size_t r = 0; r < t->l; r++) {
        double present = 0;
        for (size_t v = 0; v < t->o; v++) present += overall(t, r, v) > 0;
        n += t->k * (present - 1);
    }
    return n;
}

/* What EM raises, in all rounds to 1e-9 of its size; labels, and the BIC of the last. */
static void check_em(const cof_table *table, const cof_fit_options *o, naive *t)
{
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model *model = fit_model(table, o, &info);
    size_t n_rounds, n_labels;
    const cof_pass_record *round = cof_model_history(model, &n_rounds);
    const int32_t *label = cof_model_labels(model, &n_labels);
    double last = 0;
    start_naively(t, table, *o);
    for (size_t r = 0; r < n_rounds; r++) {
        maximise(t);
        last = expect(t);
        assert_near(-round[r].objective, last + log_smoothing(t), 1e-9 * fabs(last));
    }
    assert_near(info.bic, n_parameters(t) * log(total_of(t)) - 2 * last, 1e-8 * fabs(last));
    for (size_t i = 0; i < t->n; i++)
        for (uint32_t j = 0; j < t->k; j++)
            assert_true(t->member[i * t->k + (uint32_t)label[i]] >= t->member[i * t->k + j] - 1e-6);
    cof_model_free(model);
}

static void test_naive(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        cofi_rng rng = dice(seed);
        size_t n = 30 + below(&rng, 60), l = 2 + below(&rng, 6), o = 2 + below(&rng, 4);
        uint32_t k = 1 + (uint32_t)below(&rng, 4);
        int32_t *codes = random_codes(&rng, n, l, o, 3);
        double *weight = get_zero(n, sizeof *weight);
        for (size_t i = 0; i < n; i++) weight[i] = (double)(1 + below(&rng, 4)) / 2;
        for (size_t r = 0; r < l; r++)
            for (size_t i = 0; i < 4; i++)
                codes[i * l + r] = (int32_t)((i >> (r % 2)) & 1); /* 4 different rows */
        cof_table *table = table_of(codes, n, l);
        cof_fit_options options = {.struct_size = sizeof options,
                                   .k = k,
                                   .init_rows = (uint64_t[]){0, 1, 2, 3},
                                   .weights = seed % 2 ? weight : NULL,
                                   .method = "lca"};
        naive t = naive_of(codes, options.weights, n, l, o, k);
        check_em(table, &options, &t);
        free_naive(&t);
        free(codes);
        free(weight);
        cof_table_free(table);
    }
}

static void test_never_falls(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        cof_table *table = random_table(seed, 600, 8, 4, 4);
        cof_fit_options o = {.struct_size = sizeof o,
                             .k = 4,
                             .restarts = 5,
                             .init = COF_INIT_RANDOM,
                             .seed = seed,
                             .method = "lca"};
        cof_model *model = fit_model(table, &o, NULL);
        size_t n;
        const cof_pass_record *round = cof_model_history(model, &n);
        for (size_t r = 1; r < n; r++)
            if (round[r].restart == round[r - 1].restart)
                assert_true(round[r].objective <= round[r - 1].objective + 1e-9 * round[r].objective);
        cof_model_free(model);
        cof_table_free(table);
    }
}

/* The same rows in another order, walked by one thread or by three: the same numbers, bit for bit. */
static void test_row_order(void **state)
{
    (void)state;
    enum { N = 13000, L = 7, K = 3 };
    for (uint64_t seed = 0; seed < 6; seed++) {
        cofi_rng rng = dice(seed);
        int32_t *codes = random_codes(&rng, N, L, 4, K), *turned = get_zero(N * L, sizeof *turned);
        double *weight = get_zero(N, sizeof *weight), *turned_weight = get_zero(N, sizeof *turned_weight);
        size_t *at = get_zero(N, sizeof *at);
        uint64_t seeds[K], turned_seeds[K] = {0};
        for (size_t i = 0; i < N; i++) {
            weight[i] = 0.1 * (double)(1 + below(&rng, 50));
            at[i] = i;
        }
        for (size_t i = N - 1; i > 0; i--) {
            size_t other = below(&rng, i + 1), swap = at[i];
            at[i] = at[other];
            at[other] = swap;
        }
        for (size_t j = 0; j < K; j++) {
            seeds[j] = j;
            for (size_t r = 0; r < L; r++) codes[j * L + r] = (int32_t)j; /* all different */
        }
        for (size_t i = 0; i < N; i++) {
            memcpy(turned + i * L, codes + at[i] * L, L * sizeof *codes);
            turned_weight[i] = weight[at[i]];
            if (at[i] < K) turned_seeds[at[i]] = i;
        }
        cof_table *table = table_of(codes, N, L), *other = table_of(turned, N, L);
        cof_fit_options o = {
            .struct_size = sizeof o, .k = K, .init_rows = seeds, .threads = 1, .method = "lca"};
        if (seed % 2 == 1) o.weights = weight;
        cof_fit_info info = {.struct_size = sizeof info}, turned_info = {.struct_size = sizeof turned_info};
        cof_model *model = fit_model(table, &o, &info);
        if (seed % 2 == 1) o.weights = turned_weight;
        o.init_rows = turned_seeds;
        o.threads = 3;
        cof_model *turned_model = fit_model(other, &o, &turned_info);
        assert_true(info.mixture_log_likelihood == turned_info.mixture_log_likelihood);
        assert_true(info.bic == turned_info.bic && info.objective == turned_info.objective);
        size_t n_rounds, n_turned;
        const cof_pass_record *round = cof_model_history(model, &n_rounds);
        const cof_pass_record *turned_round = cof_model_history(turned_model, &n_turned);
        assert_int_equal(n_rounds, n_turned);
        for (size_t r = 0; r < n_rounds; r++) assert_true(round[r].objective == turned_round[r].objective);
        const int32_t *label = cof_model_labels(model, NULL), *moved = cof_model_labels(turned_model, NULL);
        for (size_t i = 0; i < N; i++) assert_int_equal(moved[i], label[at[i]]);
        cof_model_free(model);
        cof_model_free(turned_model);
        cof_table_free(table);
        cof_table_free(other);
        free(codes);
        free(turned);
        free(weight);
        free(turned_weight);
        free(at);
    }
}

/* ---- Published tables ---------------------------------------------------------------------------- */

/* Patterns with their counts: every column but the last is an attribute, whatever its values. */
static cof_table *published(const char *name)
{
    char path[512];
    cof_table *table = NULL;
    cof_error err;
    snprintf(path, sizeof path, "%s/lca/%s.csv", COF_TEST_DATA, name);
    assert_status(cof_table_read(NULL, path, NULL, &table, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, cof_table_n_columns(table) - 1, COF_ROLE_WEIGHT, &err), COF_OK,
                  &err);
    return table;
}

/* The objective with one pseudo-row, as an independent EM has it. A class that is no row's likeliest one was dropped, so
 * that the fit and its criteria had two log-likelihoods. */
static void test_classes_that_no_row_is_in(void **state)
{
    static const struct {
        const char *name;
        uint32_t k;
        double objective;
    } cases[] = {{"carcinoma", 2, 337.4757}, {"carcinoma", 3, 326.2804}, {"carcinoma", 4, 331.865},
                 {"values", 2, 512.5264},    {"values", 3, 515.0260},    {"values", 4, 518.0558},
                 {"cheating", 2, 445.1402},  {"cheating", 3, 445.0598},  {"cheating", 4, 446.9024},
                 {"gss82", 2, 2790.7183},    {"gss82", 3, 2766.5518},    {"gss82", 4, 2762.9802}};
    uint32_t n_empty = 0;
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        cof_table *table = published(cases[c].name);
        cof_fit_options o = {
            .struct_size = sizeof o, .k = cases[c].k, .restarts = 100, .seed = 1, .method = "lca"};
        cof_fit_info info = {.struct_size = sizeof info}, again = {.struct_size = sizeof again};
        cof_error err;
        cof_model *model = fit_model(table, &o, &info);
        assert_near(info.objective, cases[c].objective, 5e-4);
        assert_int_equal(info.select, COF_SELECT_OBJECTIVE);
        assert_status(cof_model_criteria(model, table, NULL, 1, &again, &err), COF_OK, &err);
        assert_near(again.mixture_log_likelihood, info.mixture_log_likelihood, 1e-8);
        assert_near(again.bic, info.bic, 1e-8);
        n_empty += info.n_empty;
        cof_model_free(model);
        cof_table_free(table);
    }
    assert_true(n_empty > 0);
}

/* Without smoothing the parameters are those of the greatest likelihood: published values (Agresti 2002, Goodman 2002,
 * Dayton 1998, McCutcheon 1987), and others of poLCA 1.6.0.2. Starts are partitions, in which probabilities are 0. */
static void test_maximum_likelihood(void **state)
{
    static const struct {
        const char *name;
        uint32_t k;
        double log_likelihood;
    } cases[] = {{"carcinoma", 1, -524.464818}, {"carcinoma", 2, -317.256837}, {"carcinoma", 3, -293.704979},
                 {"carcinoma", 4, -289.285849}, {"values", 1, -543.649825},    {"values", 2, -504.467670},
                 {"values", 3, -503.301137},    {"values", 4, -503.107709},    {"cheating", 1, -467.438195},
                 {"cheating", 2, -440.027112},  {"cheating", 3, -436.235578},  {"cheating", 4, -436.145015},
                 {"gss82", 1, -2872.229576},    {"gss82", 2, -2783.268010},    {"gss82", 3, -2754.545405},
                 {"gss82", 4, -2746.620810}};
    (void)state;
    for (size_t c = 0; c < COUNT(cases); c++) {
        cof_table *table = published(cases[c].name);
        cof_fit_options o = {.struct_size = sizeof o,
                             .k = cases[c].k,
                             .restarts = 200,
                             .seed = 1,
                             .method = "lca",
                             .prior = COF_PRIOR_NONE};
        cof_fit_info info = {.struct_size = sizeof info};
        cof_model *model = fit_model(table, &o, &info);
        assert_near(info.mixture_log_likelihood, cases[c].log_likelihood, 1e-4);
        assert_near(info.objective, -info.mixture_log_likelihood, 1e-9);
        assert_int_equal(info.stop_reason, COF_STOP_CONVERGED);
        double shares = 0;
        for (uint32_t j = 0; j < o.k; j++) {
            shares += cof_model_class_share(model, j);
            assert_true(j == 0 || cof_model_class_share(model, j) <= cof_model_class_share(model, j - 1));
        }
        assert_near(shares, 1, 1e-9);
        cof_model_free(model);
        cof_table_free(table);
    }
}

/* Parameters come from EM, not from the rows labelled with a class (gss82 has .9324 of these); as a start they give the
 * same classes back, in the order that the start has them. */
static void test_parameters_and_a_start(void **state)
{
    enum { K = 2 };
    cof_table *table = published("gss82");
    cof_fit_options o = {.struct_size = sizeof o, .k = K, .restarts = 20, .method = "lca"};
    cof_fit_info info = {.struct_size = sizeof info}, again = {.struct_size = sizeof again};
    double turned[64];
    size_t n = 0;
    cof_error err;
    (void)state;
    cof_model *model = fit_model(table, &o, &info);
    assert_near(cof_model_class_probability(model, 0, 0, 0), 0.9051, 5e-4);
    assert_near(cof_model_profile(model, 0, 0, 0), 0.9324, 5e-4);
    for (size_t a = 0; a < cof_model_n_attributes(model); a++) {
        double sum[K] = {0, 0};
        cof_attribute about = {.struct_size = sizeof about};
        assert_int_equal(cof_model_attribute(model, a, &about), COF_OK);
        for (uint32_t v = 0; v < about.n_values; v++)
            for (uint32_t j = 0; j < K; j++) {
                turned[n++] = cof_model_class_probability(model, a, v, K - 1 - j);
                sum[j] += cof_model_class_probability(model, a, v, j);
            }
        assert_near(sum[0], 1, 1e-12);
        assert_near(sum[1], 1, 1e-12);
    }
    assert_true(isnan(cof_model_class_probability(model, 0, 9, 0)) && isnan(cof_model_class_share(model, K)));
    o.init_probabilities = turned;
    o.n_init_probabilities = n;
    cof_model *other = fit_model(table, &o, &again);
    assert_int_equal(again.n_restarts, 1);
    assert_near(again.objective, info.objective, 1e-8);
    for (uint32_t j = 0; j < K; j++)
        assert_near(cof_model_class_share(other, j), cof_model_class_share(model, K - 1 - j), 1e-4);
    cof_model_free(other);
    o.n_init_probabilities = n - 1;
    assert_int_equal(cof_fit(table, &o, &other, NULL, &err), COF_ERR_ARGUMENT);
    o.n_init_probabilities = n;
    turned[0] = 2;
    assert_int_equal(cof_fit(table, &o, &other, NULL, &err), COF_ERR_ARGUMENT);
    o.init_probabilities = NULL;
    o.max_passes = 12; /* a bound of all rounds, polishing included */
    cof_model_free(fit_model(table, &o, &again));
    assert_int_equal(again.passes, 12);
    assert_int_equal(again.stop_reason, COF_STOP_CAP);
    o.prior = -2;
    assert_int_equal(cof_fit(table, &o, &other, NULL, &err), COF_ERR_ARGUMENT);
    cof_model_free(model);
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_naive),
                                       cmocka_unit_test(test_never_falls),
                                       cmocka_unit_test(test_row_order),
                                       cmocka_unit_test(test_classes_that_no_row_is_in),
                                       cmocka_unit_test(test_maximum_likelihood),
                                       cmocka_unit_test(test_parameters_and_a_start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
