/* Scores of a clustering: published values, scikit-learn's values, degenerate inputs, and the matching
 * against all permutations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "alloc_helper.h"
#include "../../src/core/env.h"
#include "../../src/core/rng.h"
#include "../../src/score/contingency.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef COF_TEST_DATA
#define COF_TEST_DATA "tests/data"
#endif

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g", a, b);
}

static cof_indices evaluate(const int32_t *clusters, const int32_t *classes, size_t n)
{
    cof_indices s = {.struct_size = sizeof s};
    cof_error err;
    if (cof_evaluate(NULL, clusters, classes, n, &s, &err) != COF_OK) fail_msg("%s", err.text);
    assert_int_equal(s.struct_size, sizeof s);
    return s;
}

/* ---- Published values ------------------------------------------------------------------------------- */

static void spec_example(void **state)
{
    (void)state;
    const int32_t clusters[] = {0, 0, 1, 1, 2, 2}, classes[] = {0, 0, 0, 1, 1, 2};
    cof_indices s = evaluate(clusters, classes, 6);
    assert_near(s.ca, 4.0 / 6, 1e-15);
    assert_near(s.ari, 0.074074, 5e-7);
    assert_near(s.nmi, 0.521111, 5e-7);
    assert_int_equal(s.n, 6);
    assert_int_equal(s.n_clusters, 3);
    assert_int_equal(s.n_classes, 3);
}

/* The examples in the docstrings of sklearn.metrics.adjusted_rand_score, adjusted_mutual_info_score,
 * homogeneity_score, completeness_score and v_measure_score. */
static void scikit_learn_documentation(void **state)
{
    (void)state;
    const int32_t a[] = {0, 0, 1, 1}, b[] = {0, 0, 1, 2}, swapped[] = {1, 1, 0, 0}, single[] = {0, 1, 2, 3};
    const int32_t crossed[] = {0, 1, 0, 1}, one[] = {0, 0, 0, 0};
    assert_near(evaluate(b, a, 4).ari, 0.571428571428571, 1e-14);
    assert_near(evaluate(a, b, 4).ari, 0.571428571428571, 1e-14);
    assert_near(evaluate(swapped, a, 4).ari, 1, 0);
    assert_near(evaluate(single, one, 4).ari, 0, 0);
    assert_near(evaluate(crossed, a, 4).ari, -0.5, 1e-15);
    assert_near(evaluate(swapped, a, 4).ami, 1, 1e-15);
    assert_near(evaluate(single, one, 4).ami, 0, 0);
    assert_near(evaluate(b, a, 4).homogeneity, 1, 0);
    assert_near(evaluate(single, a, 4).homogeneity, 1, 0);
    assert_near(evaluate(crossed, a, 4).homogeneity, 0, 0);
    assert_near(evaluate(one, a, 4).homogeneity, 0, 0);
    assert_near(evaluate(one, a, 4).completeness, 1, 0);
    assert_near(evaluate(a, single, 4).completeness, 1, 0);
    assert_near(evaluate(b, a, 4).v_measure, 0.8, 1e-12);
    assert_near(evaluate(single, a, 4).v_measure, 2.0 / 3, 1e-12);
}

static void table_from_manning_raghavan_schuetze(void **state)
{
    (void)state;
    /* Introduction to Information Retrieval, figure 16.4: purity 0.71, NMI (arithmetic) 0.36, 17 items. */
    const int32_t clusters[] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
    const int32_t classes[] = {0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 2, 0, 0, 2, 2, 2};
    cof_indices s = evaluate(clusters, classes, COUNT(clusters));
    assert_near(s.purity, 12.0 / 17, 1e-15);
    assert_near(s.v_measure, 0.36, 5e-3);
    assert_near(s.ca, 12.0 / 17, 1e-15);
}

/* ---- scikit-learn ----------------------------------------------------------------------------------- */

static FILE *open_data(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", COF_TEST_DATA, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) fail_msg("cannot open %s", path);
    return file;
}

static size_t read_labels(char *text, int32_t *labels, size_t capacity)
{
    size_t n = 0;
    for (char *end = text; *text != '\0'; text = end) {
        assert_true(n < capacity);
        labels[n++] = (int32_t)strtol(text, &end, 10);
        assert_true(end > text);
    }
    return n;
}

static void check_line(char *line)
{
    enum { MOST = 1000 };
    int32_t clusters[MOST], classes[MOST];
    char *first = strtok(line, ","), *second = strtok(NULL, ",");
    size_t n = read_labels(first, clusters, MOST);
    assert_int_equal(read_labels(second, classes, MOST), n);
    cof_indices s = evaluate(clusters, classes, n);
    const double ours[] = {s.ca, s.ari, s.nmi, s.ami, s.purity, s.homogeneity, s.completeness, s.v_measure};
    for (size_t i = 0; i < COUNT(ours); i++) assert_near(ours[i], strtod(strtok(NULL, ",\n"), NULL), 1e-9);
}

static void agrees_with_scikit_learn(void **state)
{
    (void)state;
    FILE *file = open_data("scores_sklearn.csv");
    static char line[1 << 16];
    int n_checked = 0;
    assert_non_null(fgets(line, sizeof line, file)); /* versions */
    assert_non_null(fgets(line, sizeof line, file)); /* header */
    for (; fgets(line, sizeof line, file) != NULL; n_checked++) check_line(line);
    fclose(file);
    assert_int_equal(n_checked, 200);
}

/* ---- Degenerate inputs ------------------------------------------------------------------------------ */

static void trivial_partitions(void **state)
{
    (void)state;
    const int32_t one[] = {7, 7, 7}, single[] = {5, 6, 9}, other[] = {0, 2, 1};
    cof_indices s = evaluate(one, one, 3);
    assert_true(s.ari == 1 && s.nmi == 1 && s.ami == 1 && s.ca == 1 && s.purity == 1 && s.v_measure == 1);
    s = evaluate(single, other, 3);
    assert_true(s.ari == 1 && s.ami == 1 && s.ca == 1);
    assert_near(s.nmi, 1, 1e-15);
    s = evaluate(single, one, 3);
    assert_true(s.ari == 0 && s.nmi == 0 && s.ami == 0 && s.purity == 1);
    assert_near(s.ca, 1.0 / 3, 1e-15);
    assert_true(s.homogeneity == 1 && s.completeness == 0 && s.v_measure == 0);
    s = evaluate(one, single, 3);
    assert_true(s.homogeneity == 0 && s.completeness == 1 && s.v_measure == 0);
    s = evaluate(one, one, 1);
    assert_true(s.ari == 1 && s.nmi == 1 && s.ami == 1 && s.ca == 1);
}

static void negative_labels_are_left_out(void **state)
{
    (void)state;
    const int32_t clusters[] = {0, 0, 1, 1, -1, 0, INT32_MIN}, classes[] = {3, 3, 4, 4, 3, -1, -1};
    cof_indices s = evaluate(clusters, classes, 7);
    assert_int_equal(s.n, 4);
    assert_int_equal(s.n_clusters, 2);
    assert_int_equal(s.n_classes, 2);
    assert_true(s.ca == 1 && s.ari == 1);
}

static void labels_may_be_sparse(void **state)
{
    (void)state;
    const int32_t clusters[] = {INT32_MAX, INT32_MAX, 0}, classes[] = {0, INT32_MAX, INT32_MAX};
    cof_indices s = evaluate(clusters, classes, 3);
    assert_int_equal(s.n_clusters, 2);
    assert_near(s.ca, 2.0 / 3, 1e-15);
}

static void nothing_to_score(void **state)
{
    (void)state;
    const int32_t clusters[] = {-1, 0}, classes[] = {0, -1};
    cof_indices s = {.struct_size = sizeof s, .ca = 42};
    cof_error err = {""};
    assert_int_equal(cof_evaluate(NULL, clusters, classes, 2, &s, &err), COF_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "none of the 2 items"));
    assert_int_equal(cof_evaluate(NULL, NULL, NULL, 0, &s, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_evaluate(NULL, NULL, classes, 2, &s, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_evaluate(NULL, clusters, NULL, 2, &s, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_evaluate(NULL, clusters, classes, 2, NULL, NULL), COF_ERR_ARGUMENT);
    assert_true(s.ca == 42); /* outputs are written only on success */
}

static void shorter_struct_of_an_older_caller(void **state)
{
    (void)state;
    const int32_t labels[] = {0, 1};
    cof_indices s = {.struct_size = offsetof(cof_indices, purity), .purity = 42};
    assert_int_equal(cof_evaluate(NULL, labels, labels, 2, &s, NULL), COF_OK);
    assert_true(s.ca == 1 && s.ami == 1 && s.purity == 42);
}

static void more_clusters_than_classes(void **state)
{
    (void)state;
    const int32_t clusters[] = {0, 0, 1, 1, 1, 2, 3}, classes[] = {0, 0, 0, 1, 1, 1, 1};
    cof_indices s = evaluate(clusters, classes, 7);
    assert_near(s.ca, 4.0 / 7, 1e-15); /* 0 with 0, 1 with 1 */
    assert_near(evaluate(classes, clusters, 7).ca, 4.0 / 7, 1e-15);
}

/* A dense table would need 10^10 cells. */
static void many_clusters_and_classes(void **state)
{
    (void)state;
    enum { N = 100000 };
    int32_t *clusters = malloc(N * sizeof *clusters), *classes = malloc(N * sizeof *classes);
    for (int32_t i = 0; i < N; i++) {
        clusters[i] = i;
        classes[i] = N - 1 - i / 2;
    }
    cof_indices s = evaluate(clusters, classes, N);
    assert_int_equal(s.n_clusters, N);
    assert_int_equal(s.n_classes, N / 2);
    assert_near(s.ca, 0.5, 1e-15);
    assert_true(s.ari == 0 && s.ami == 0 && s.purity == 1);
    free(clusters);
    free(classes);
}

/* ---- The matching ----------------------------------------------------------------------------------- */

/* Best sum over all ways to give clusters j.. distinct classes or none. */
static uint64_t best_by_trying(const uint64_t *table, uint32_t n_clusters, uint32_t n_classes, uint32_t j,
                               uint32_t taken)
{
    if (j == n_clusters) return 0;
    uint64_t best = best_by_trying(table, n_clusters, n_classes, j + 1, taken);
    for (uint32_t c = 0; c < n_classes; c++) {
        if (taken >> c & 1) continue;
        uint64_t sum =
            table[j * n_classes + c] + best_by_trying(table, n_clusters, n_classes, j + 1, taken | 1u << c);
        if (sum > best) best = sum;
    }
    return best;
}

/* Checks that class_of is one-to-one and complete on the shorter side; returns what it collects. */
static uint64_t collected(const uint64_t *table, uint32_t n_clusters, uint32_t n_classes,
                          const int32_t *class_of)
{
    uint64_t sum = 0, taken = 0;
    uint32_t n_matched = 0;
    for (uint32_t j = 0; j < n_clusters; j++) {
        assert_in_range(class_of[j] + 1, 0, n_classes);
        if (class_of[j] < 0) continue;
        assert_false(taken >> class_of[j] & 1);
        taken |= UINT64_C(1) << class_of[j];
        sum += table[j * n_classes + (uint32_t)class_of[j]];
        n_matched++;
    }
    assert_int_equal(n_matched, n_clusters < n_classes ? n_clusters : n_classes);
    return sum;
}

static void matching_beats_all_permutations(void **state)
{
    (void)state;
    cofi_rng rng;
    cofi_rng_seed(&rng, 1, 0);
    for (int trial = 0; trial < 3000; trial++) {
        uint64_t table[36];
        int32_t class_of[6];
        uint32_t a = 1 + (uint32_t)cofi_rng_below(&rng, 6), b = 1 + (uint32_t)cofi_rng_below(&rng, 6);
        uint64_t range = trial % 3 == 0 ? 3 : trial % 3 == 1 ? 20 : UINT64_C(1) << 56;
        for (uint32_t c = 0; c < a * b; c++)
            table[c] = cofi_rng_below(&rng, 3) == 0 ? 0 : cofi_rng_below(&rng, range);
        assert_int_equal(cof_match(NULL, table, a, b, class_of, NULL), COF_OK);
        assert_true(collected(table, a, b, class_of) == best_by_trying(table, a, b, 0, 0));
    }
}

/* Large random tables: the cheap bound of a greedy choice can never win. */
static void matching_beats_greedy(void **state)
{
    (void)state;
    enum { A = 60, B = 50 };
    cofi_rng rng;
    cofi_rng_seed(&rng, 2, 0);
    for (int trial = 0; trial < 50; trial++) {
        uint64_t table[A * B], greedy = 0, taken = 0;
        int32_t class_of[A];
        for (uint32_t c = 0; c < A * B; c++) table[c] = cofi_rng_below(&rng, 100);
        for (uint32_t j = 0; j < A; j++) {
            uint32_t best = B;
            for (uint32_t c = 0; c < B; c++)
                if (!(taken >> c & 1) && (best == B || table[j * B + c] > table[j * B + best])) best = c;
            if (best == B) break;
            taken |= UINT64_C(1) << best;
            greedy += table[j * B + best];
        }
        assert_int_equal(cof_match(NULL, table, A, B, class_of, NULL), COF_OK);
        assert_true(collected(table, A, B, class_of) >= greedy);
    }
}

static void matching_of_empty_tables(void **state)
{
    (void)state;
    const uint64_t zero[6] = {0};
    int32_t class_of[3] = {9, 9, 9};
    assert_int_equal(cof_match(NULL, zero, 2, 3, class_of, NULL), COF_OK);
    assert_true(class_of[0] == 0 && class_of[1] == 1 && class_of[2] == 9);
    assert_int_equal(cof_match(NULL, zero, 3, 2, class_of, NULL), COF_OK);
    assert_true(class_of[0] == 0 && class_of[1] == 1 && class_of[2] == -1);
    assert_int_equal(cof_match(NULL, NULL, 3, 0, class_of, NULL), COF_OK);
    assert_true(class_of[0] == -1 && class_of[1] == -1 && class_of[2] == -1);
    assert_int_equal(cof_match(NULL, NULL, 0, 3, NULL, NULL), COF_OK);
}

static void matching_refuses(void **state)
{
    (void)state;
    const uint64_t large[] = {UINT64_C(1) << 61, UINT64_C(1) << 61};
    int32_t class_of[2];
    cof_error err;
    assert_int_equal(cof_match(NULL, large, 1, 2, class_of, &err), COF_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "2^62"));
    assert_int_equal(cof_match(NULL, NULL, 1, 2, class_of, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_match(NULL, large, 1, 2, NULL, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_match(NULL, large, UINT32_MAX, 1, class_of, &err), COF_ERR_ARGUMENT);
}

/* ---- What the host lends ----------------------------------------------------------------------------- */

/* Above 3,000,000,000 rows the number of pairs is rounded; so many rows need not be there to be counted. */
static void billions_of_rows(void **state)
{
    (void)state;
    static const struct {
        uint64_t count[4];
        double rand;
    } of[] = {{{UINT64_C(2000000000), 0, 0, UINT64_C(2000000000)}, 1},
              {{UINT64_C(1000000000), UINT64_C(1000000000), UINT64_C(1000000000), UINT64_C(1000000000)}, 0},
              {{UINT64_C(3000000000), UINT64_C(1000000000), 0, UINT64_C(4000000000)}, 0.5625}};
    cof_env env = cofi_env_resolve(NULL);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        cofi_contingency t;
        cof_indices indices = {.struct_size = sizeof indices};
        uint64_t n = 0;
        for (int c = 0; c < 4; c++) n += of[i].count[c];
        assert_int_equal(cofi_contingency_from_counts(&t, &env, of[i].count, 2, 2, 0, n, NULL), COF_OK);
        assert_int_equal(cofi_contingency_score(&t, n, &indices, NULL), COF_OK);
        assert_near(indices.ari, of[i].rand, 1e-6);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    int32_t clusters[200], classes[200];
    for (int i = 0; i < 200; i++) {
        clusters[i] = i % 17;
        classes[i] = i % 12;
    }
    cof_status status = COF_ERR_MEMORY;
    for (size_t n = 0; status != COF_OK; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_indices s = {.struct_size = sizeof s};
        status = cof_evaluate(&env, clusters, classes, 200, &s, NULL);
        assert_true(status == COF_OK || status == COF_ERR_MEMORY);
        assert_int_equal(meter.live, 0);
    }
    const uint64_t table[] = {1, 2, 3, 4, 5, 6};
    status = COF_ERR_MEMORY;
    for (size_t n = 0; status != COF_OK; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        int32_t class_of[3];
        cofi_contingency t;
        status = cofi_contingency_from_counts(&t, &env, table, 3, 2, 0, 21, NULL);
        if (status == COF_OK) cofi_contingency_free(&t);
        if (status == COF_OK) status = cof_match(&env, table, 3, 2, class_of, NULL);
        assert_true(status == COF_OK || status == COF_ERR_MEMORY);
        assert_int_equal(meter.live, 0);
    }
}

static void assert_same_scores(const cof_indices *a, const cof_indices *b)
{
    for (size_t i = 0; cof_index_at(i) != NULL; i++)
        assert_true(cof_index_value(a, i) == cof_index_value(b, i));
}

/* A row of weight 3 counts as three rows, one of weight 0 not at all; a common factor changes nothing. */
static void weights_repeat_rows(void **state)
{
    (void)state;
    const int32_t clusters[] = {0, 0, 1, 1, 2}, classes[] = {0, 1, 1, 0, 2};
    const double weights[] = {3, 1, 2, 0, 1}, thirds[] = {1, 1 / 3.0, 2 / 3.0, 0, 1 / 3.0};
    const int32_t long_clusters[] = {0, 0, 0, 0, 1, 1, 2}, long_classes[] = {0, 0, 0, 1, 1, 1, 2};
    cof_indices one = {.struct_size = sizeof one}, other = one, scaled = one;
    assert_int_equal(cof_evaluate(NULL, long_clusters, long_classes, 7, &one, NULL), COF_OK);
    assert_int_equal(cof_evaluate_weighted(NULL, clusters, classes, weights, 5, &other, NULL), COF_OK);
    assert_int_equal(other.n, 4);
    assert_same_scores(&one, &other);
    double scaled_up[7];
    for (size_t i = 0; i < 7; i++) scaled_up[i] = 0.3;
    assert_int_equal(cof_evaluate_weighted(NULL, long_clusters, long_classes, scaled_up, 7, &scaled, NULL),
                     COF_OK);
    assert_same_scores(&one, &scaled);
    assert_int_equal(cof_evaluate_weighted(NULL, clusters, classes, thirds, 5, &scaled, NULL), COF_OK);
    assert_true(scaled.purity > 0.7 && scaled.purity <= 1); /* four rows that weigh 12/7, 4/7, 8/7, 4/7 */
    const double nothing[5] = {0};
    assert_int_equal(cof_evaluate_weighted(NULL, clusters, classes, nothing, 5, &scaled, NULL),
                     COF_ERR_ARGUMENT);
}

static int count_down(void *ctx)
{
    int *left = ctx;
    return (*left)-- <= 0;
}

static void stops_on_request(void **state)
{
    (void)state;
    const int32_t clusters[] = {0, 0, 0, 1, 1, 2}, classes[] = {0, 0, 1, 1, 2, 2};
    for (int limit = 0;; limit++) {
        int left = limit;
        cof_env env = {.struct_size = sizeof env, .should_stop = count_down, .ctx = &left};
        cof_indices s = {.struct_size = sizeof s};
        cof_status status = cof_evaluate(&env, clusters, classes, 6, &s, NULL);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_STOPPED);
        assert_true(limit < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spec_example),
        cmocka_unit_test(scikit_learn_documentation),
        cmocka_unit_test(table_from_manning_raghavan_schuetze),
        cmocka_unit_test(agrees_with_scikit_learn),
        cmocka_unit_test(trivial_partitions),
        cmocka_unit_test(negative_labels_are_left_out),
        cmocka_unit_test(labels_may_be_sparse),
        cmocka_unit_test(nothing_to_score),
        cmocka_unit_test(shorter_struct_of_an_older_caller),
        cmocka_unit_test(more_clusters_than_classes),
        cmocka_unit_test(many_clusters_and_classes),
        cmocka_unit_test(matching_beats_all_permutations),
        cmocka_unit_test(matching_beats_greedy),
        cmocka_unit_test(matching_of_empty_tables),
        cmocka_unit_test(matching_refuses),
        cmocka_unit_test(billions_of_rows),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(weights_repeat_rows),
        cmocka_unit_test(stops_on_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
