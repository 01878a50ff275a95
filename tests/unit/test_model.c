/* What a model can be asked: trees, distances, profiles, and questions out of range. */
#include "unit_helper.h"

#include "../../src/model/model.h"

static cof_model *fitted(cof_table **table, uint64_t seed, size_t o, uint32_t k, int32_t variant)
{
    cof_fit_options options = {.struct_size = sizeof options, .k = k, .restarts = 2, .threads = 1};
    options.variant = variant;
    options.seed = seed;
    *table = random_table(seed, 120, 4, o, 4);
    return fit_model(*table, &options, NULL);
}

/* ---- Trees and distances ------------------------------------------------------------------------ */

static void distances_are_path_lengths(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 16; seed++) {
        cof_table *t;
        cof_model *m = fitted(&t, seed, 3 + seed, 4, (int32_t)(seed % 2));
        for (size_t a = 0; a < 4; a++) {
            cof_attribute view = {.struct_size = sizeof view};
            size_t n_edges;
            assert_int_equal(cof_model_attribute(m, a, &view), COF_OK);
            const cof_edge *edge = cof_model_edges(m, a, &n_edges);
            uint32_t n = view.n_values;
            assert_int_equal(n_edges, n - 1);
            for (size_t e = 0; e < n_edges; e++) {
                assert_true(cof_model_distance(m, a, edge[e].u, edge[e].v) == edge[e].length);
                assert_true(edge[e].length <= sqrt(2) * (1 + 1e-15));
            }
            for (uint32_t u = 0; u < n; u++) {
                for (uint32_t v = 0; v < n; v++) {
                    double d = cof_model_distance(m, a, u, v);
                    assert_near(d, cof_model_distance(m, a, v, u), 1e-15 * (1 + d));
                    assert_true(u == v ? d == 0 : d >= 0);
                    for (uint32_t w = 0; w < n; w++)
                        assert_true(d <=
                                    cof_model_distance(m, a, u, w) + cof_model_distance(m, a, w, v) + 1e-14);
                }
            }
        }
        cof_model_free(m);
        cof_table_free(t);
    }
}

/* Growing from any edge, each next one from a value already there: else it is no tree. */
static void what_is_a_tree(void **state)
{
    (void)state;
    static const struct {
        uint32_t n_edges;
        cof_edge edge[3];
        bool tree;
    } cases[] = {
        {0, {{0, 0, 0}}, true},
        {1, {{2, 0, 1}}, true},
        {3, {{2, 0, 1}, {0, 1, 0}, {2, 3, 0.5}}, true},
        {2, {{2, 0, 1}, {1, 3, 1}}, false},            /* two trees */
        {3, {{2, 0, 1}, {0, 1, 1}, {1, 2, 1}}, false}, /* back to the root */
        {2, {{2, 0, 1}, {2, 0, 1}}, false},            /* twice the same */
        {1, {{1, 1, 1}}, false},                       /* to itself */
        {1, {{4, 0, 1}}, false},                       /* out of range */
        {1, {{0, 4, 1}}, false},
        {1, {{0, UINT32_MAX, 1}}, false},
        {1, {{0, 1, -1}}, false},
        {1, {{0, 1, (double)NAN}}, false},
        {1, {{0, 1, (double)INFINITY}}, false},
        {1, {{0, 1, 1e300}}, false}, /* such lengths make drawings endless, or scales infinite */
        {1, {{0, 1, 5e-324}}, false},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        uint32_t parent[4], hops[4];
        double up[4];
        cof_edge edge[3];
        memcpy(edge, cases[c].edge, sizeof edge);
        cofi_model_attr attr = {.n_values = 4, .n_edges = cases[c].n_edges, .edge = edge};
        attr.parent = parent;
        attr.hops = hops;
        attr.up = up;
        assert_int_equal(cofi_model_root_tree(&attr), cases[c].tree);
    }
}

/* ---- Profiles and counts ------------------------------------------------------------------------ */

static void profiles_are_shares_of_counts(void **state)
{
    (void)state;
    cof_table *t;
    cof_model *m = fitted(&t, 1, 6, 5, COF_VARIANT_PAPER);
    for (size_t a = 0; a < 4; a++) {
        cof_attribute view = {.struct_size = sizeof view};
        assert_int_equal(cof_model_attribute(m, a, &view), COF_OK);
        for (uint32_t j = 0; j < 5; j++) {
            double share = 0, count = 0;
            for (uint32_t v = 0; v < view.n_values; v++) {
                share += cof_model_profile(m, a, v, j);
                count += cof_model_count(m, a, v, j);
                assert_near(cof_model_profile(m, a, v, j),
                            cof_model_count(m, a, v, j) / cof_model_sizes(m)[j], 1e-15);
            }
            assert_near(share, 1, 1e-12);
            assert_true(count == cof_model_sizes(m)[j]);
        }
    }
    cof_model_free(m);
    cof_table_free(t);
}

/* ---- Out of range ------------------------------------------------------------------------------- */

static void questions_out_of_range_have_answers(void **state)
{
    (void)state;
    cof_table *t;
    cof_model *m = fitted(&t, 1, 4, 3, COF_VARIANT_PAPER);
    cof_attribute view = {.struct_size = sizeof view};
    size_t n = 99;
    assert_int_equal(cof_model_attribute(m, 4, &view), COF_ERR_ARGUMENT);
    view.struct_size = 0;
    assert_int_equal(cof_model_attribute(m, 0, &view), COF_ERR_ARGUMENT);
    assert_null(cof_model_value(m, 4, 0));
    assert_null(cof_model_value(m, 0, 4));
    assert_null(cof_model_edges(m, 4, &n));
    assert_int_equal(n, 0);
    assert_true(isnan(cof_model_distance(m, 4, 0, 0)));
    assert_true(isnan(cof_model_distance(m, 0, 4, 0)));
    assert_true(isnan(cof_model_distance(m, 0, 0, UINT32_MAX)));
    assert_true(isnan(cof_model_profile(m, 4, 0, 0)));
    assert_true(isnan(cof_model_profile(m, 0, 4, 0)));
    assert_true(isnan(cof_model_profile(m, 0, 0, 3)));
    assert_true(cof_model_count(m, 0, 0, 3) == 0);
    assert_true(cof_model_count(m, SIZE_MAX, 0, 0) == 0);
    cof_model_free(m);
    cof_model_free(NULL);
    cof_table_free(t);
}

/* An attribute that takes no part has values but no tree; asking for a distance used to read memory that
 * nobody had written. */
static void an_unused_attribute_has_no_tree(void **state)
{
    (void)state;
    static const int32_t codes[] = {1, 5, 2, 5, 3, 5, 1, 5};
    cof_table *t = table_of(codes, 4, 2);
    cof_fit_options o = {.struct_size = sizeof o, .k = 2};
    cof_model *m = fit_model(t, &o, NULL);
    size_t n = 99;
    assert_string_equal(cof_model_value(m, 1, 0), "5");
    assert_null(cof_model_edges(m, 1, &n));
    assert_int_equal(n, 0);
    assert_null(cof_model_edges(m, 1, NULL));
    assert_true(isnan(cof_model_distance(m, 1, 0, 0)));
    assert_true(isnan(cof_model_profile(m, 1, 0, 0)));
    assert_true(cof_model_count(m, 1, 0, 0) == 0);
    cof_model_free(m);
    cof_table_free(t);
}

/* A value that only rows without weight hold is listed, but in no tree. */
static void a_value_nobody_counts_has_no_distance(void **state)
{
    (void)state;
    static const int32_t codes[] = {1, 5, 2, 6, 3, 5, 1, 6};
    static const double weights[] = {1, 1, 0, 1};
    cof_table *t = table_of(codes, 4, 2);
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .weights = weights};
    cof_model *m = fit_model(t, &o, NULL);
    cof_attribute view = {.struct_size = sizeof view};
    size_t n;
    assert_int_equal(cof_model_attribute(m, 0, &view), COF_OK);
    assert_int_equal(view.n_values, 3);
    cof_model_edges(m, 0, &n);
    assert_int_equal(n, 1);
    assert_true(isnan(cof_model_distance(m, 0, 0, 2)));
    assert_true(isnan(cof_model_distance(m, 0, 2, 2)));
    assert_false(isnan(cof_model_distance(m, 0, 0, 1)));
    assert_true(cof_model_profile(m, 0, 2, 0) == 0);
    cof_model_free(m);
    cof_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_path_lengths),
        cmocka_unit_test(what_is_a_tree),
        cmocka_unit_test(profiles_are_shares_of_counts),
        cmocka_unit_test(questions_out_of_range_have_answers),
        cmocka_unit_test(an_unused_attribute_has_no_tree),
        cmocka_unit_test(a_value_nobody_counts_has_no_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
