/* The worked numbers of the methods' specification on its table T6, to 1e-6: those that can be seen in value
 * distances and scores. What takes a look inside a method is in the test of that method. */
#include "method_helper.h"

static void check_km(const char *name, const double distances[8], const double gammas[12], bool squares)
{
    bench b;
    set_up_t6(&b, name, 0);
    assert_distances(&b, b.state, distances);
    tear_down(&b);
    assert_first_gammas(name, gammas, squares);
    assert_t6_labels(name);
}

static void test_kmodes(void **s)
{
    (void)s;
    static const uint32_t modes[] = {1, 0, 0, 1, 2, 0, 2, 1};
    bench b;
    assert_first_gammas("kmodes", (double[]){2, 1, 0, 2, 1, 3, 3, 2, 2, 0, 2, 0}, false);
    assert_t6_labels("kmodes");
    set_up_t6(&b, "kmodes", 0);
    run_bench(&b);
    assert_int_equal(b.fit.log.n_passes, 2);
    assert_memory_equal(b.fit.seeds.mode, modes, sizeof modes);
    tear_down(&b);
}

static void test_lsm(void **s)
{
    (void)s;
    check_km("lsm", (double[]){0.520375, 0.673658, 0.796489, 1, 0.520375, 0.796489, 0.673658, 1},
             (double[]){1.316864, 0.673658, 0, 1.592978, 1, 2.592978, 2.316864, 1.673658, 1.592978, 0,
                        1.592978, 0},
             false);
}

static void test_cbdm(void **s)
{
    (void)s;
    check_km("cbdm", (double[]){0.608581, 0.608581, 0.902671, 0.816497, 0.673960, 0.704903, 0.703009, 1},
             (double[]){1.313484, 0.608581, 0, 1.607574, 0.816497, 2.424071, 2.576631, 1.703009, 1.607574, 0,
                        1.607574, 0},
             false);
}

static void test_udm(void **s)
{
    (void)s;
    check_km("udm",
             (double[]){0.415801, 0.377557, 0.498416, 0.453153, 0.518007, 0.462895, 0.439612, 0.453153},
             (double[]){0.878696, 0.377557, 0, 0.961311, 0.453153, 1.414464, 1.469576, 0.892765, 0.961311, 0,
                        0.961311, 0},
             false);
}

static void test_hdc(void **s)
{
    (void)s;
    check_km("hdc", (double[]){0.625, 0.416667, 0.625, 0.566667, 0.875, 0.541667, 0.583333, 0.566667},
             (double[]){0.827060, 0.416667, 0, 0.827060, 0.566667, 1.002566, 1.215467, 0.813258, 0.827060, 0,
                        0.827060, 0},
             true);
}

static void test_adc(void **s)
{
    (void)s;
    check_km("adc", (double[]){0.486111, 0.333333, 0.504630, 0.58, 0.652778, 0.486111, 0.481481, 0.6},
             (double[]){0.687465, 0.333333, 0, 0.700682, 0.58, 0.909591, 1.020181, 0.769301, 0.700682, 0,
                        0.700682, 0},
             true);
}

/* At the end, the share of a row's values in each cluster: Gamma is the number of attributes times one less
 * that. */
static void test_ocil(void **s)
{
    (void)s;
    static const double similar[] = {0.375, 0.6875, 0.875, 0.4375, 0.875, 0.1875,
                                     0.125, 0.5625, 0.375, 0.8125, 0.375, 0.8125};
    bench b;
    set_up_t6(&b, "ocil", 0);
    run_bench(&b);
    for (size_t i = 0; i < 12; i++)
        assert_near(1 - gamma_of(&b, i / 2, (uint32_t)(i % 2)) / 4, similar[i], EXACT);
    tear_down(&b);
    assert_t6_labels("ocil");
}

/* All ten of the paper's comparison, the variants and COForest. */
static void test_labels(void **s)
{
    (void)s;
    static const char *const names[] = {"kmodes", "lsm", "jdm", "jdm:full", "cbdm", "ocil",
                                        "udm",    "dlc", "h2h", "hdc",      "adc",  "coforest"};
    for (size_t m = 0; m < COUNT(names); m++) assert_t6_labels(names[m]);
}

/* Section 14: clusters 0 0 1 1 2 2 against classes 0 0 0 1 1 2. */
static void test_indices(void **s)
{
    (void)s;
    static const int32_t clusters[] = {0, 0, 1, 1, 2, 2}, classes[] = {0, 0, 0, 1, 1, 2};
    cof_indices scores = {.struct_size = sizeof scores};
    cof_error err = {""};
    assert_status(cof_evaluate(NULL, clusters, classes, 6, &scores, &err), COF_OK, &err);
    assert_near(scores.ca, 0.666667, EXACT);
    assert_near(scores.ari, 0.074074, EXACT);
    assert_near(scores.nmi, 0.521111, EXACT);
    /* homogeneity is I / H(classes), so I comes back out of it */
    double entropy = log2(6) - (3 * log2(3) + 2 * log2(2)) / 6;
    assert_near(scores.homogeneity * entropy, 0.792481, EXACT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kmodes), cmocka_unit_test(test_lsm),    cmocka_unit_test(test_cbdm),
        cmocka_unit_test(test_udm),    cmocka_unit_test(test_hdc),    cmocka_unit_test(test_adc),
        cmocka_unit_test(test_ocil),   cmocka_unit_test(test_labels), cmocka_unit_test(test_indices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
