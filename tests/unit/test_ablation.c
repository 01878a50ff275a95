/* COForest and its ablations on the specification's table T6: weights, trees and scores of two partitions, in the
 * authors' scaling and in the paper's. */
#include "../../src/method/counterparts/ablation.c"

#include "method_helper.h"

static void set_up_partition(bench *b, int32_t variant, const cofi_label *labels)
{
    cof_fit_options o = {.k = 2, .init_rows = t6_seeds, .variant = variant, .method = "coforest"};
    set_up_with(b, t6, 6, 4, o);
    set_labels(&b->fit, labels);
    cofi_build_forest(&b->fit);
    cofi_profile_clear(&b->fit);
    cofi_scores_trace(&b->fit);
}

static double weight_of(const bench *b, size_t r, uint32_t u, uint32_t v)
{
    return cofi_forest_weight(&b->fit.forest, b->fit.partition.count, b->problem.first[r] + u,
                              b->problem.first[r] + v);
}

static void assert_edge(const bench *b, size_t r, uint32_t at, uint32_t u, uint32_t v, double length)
{
    const cof_edge *edge = b->fit.forest.edge + b->problem.first[r] + at;
    assert_int_equal(edge->u < edge->v ? edge->u : edge->v, u);
    assert_int_equal(edge->u < edge->v ? edge->v : edge->u, v);
    assert_near(edge->length, length, EXACT);
}

/* Weights of the authors' scaling; the paper's are k = 2 times as long, and 0 where theirs are 1e-8. */
static void assert_weights(const bench *b, bool authors, const double wanted[8])
{
    double times = authors ? 1 : 2;
    static const struct {
        size_t r;
        uint32_t u, v;
    } at[8] = {{0, 0, 1}, {0, 0, 2}, {0, 1, 2}, {1, 0, 1}, {2, 0, 1}, {2, 0, 2}, {2, 1, 2}, {3, 0, 1}};
    for (int i = 0; i < 8; i++) {
        double twin = authors ? 1e-8 : 0;
        double got = weight_of(b, at[i].r, at[i].u, at[i].v);
        if (wanted[i] < 1e-7)
            assert_near(got, twin, 1e-15);
        else
            assert_near(got, times * wanted[i], times * EXACT);
    }
}

static void test_settled(void **state)
{
    (void)state;
    static const double weights[] = {0.707107, 1e-8, 0.707107, 0.565685, 0.707107, 0.707107, 1e-8, 0.282843};
    static const double authors[] = {0.247487, 0.017678, 0.070711, 0.194454, 0.070711, 0.335876,
                                     0.318198, 0.053033, 0.247487, 0.017678, 0.247487, 0.017678};
    static const double unscaled[] = {1.697056, 0.070711, 0.282843, 1.484924, 0.282843, 2.050610,
                                      1.979899, 0.212132, 1.697056, 0.070711, 1.697056, 0.070711};
    bench b;
    set_up_partition(&b, COF_VARIANT_AUTHORS, t6_labels);
    assert_weights(&b, true, weights);
    assert_edge(&b, 0, 0, 0, 2, 1e-8);
    assert_edge(&b, 0, 1, 0, 1, 0.707107);
    assert_edge(&b, 2, 0, 1, 2, 1e-8);
    assert_edge(&b, 2, 1, 0, 1, 0.707107);
    for (size_t i = 0; i < 12; i++)
        assert_near(gamma_of(&b, i / 2, (uint32_t)(i % 2)) / 4, authors[i], EXACT);
    tear_down(&b);
    set_up_partition(&b, COF_VARIANT_PAPER, t6_labels);
    assert_weights(&b, false, weights);
    assert_edge(&b, 0, 0, 0, 2, 0);
    assert_edge(&b, 0, 1, 0, 1, 1.414214);
    for (size_t i = 0; i < 12; i++)
        assert_near(gamma_of(&b, i / 2, (uint32_t)(i % 2)), 2 * unscaled[i], 2 * EXACT);
    tear_down(&b);
}

/* A partition whose trees do not just join twins. */
static void test_unsettled(void **state)
{
    (void)state;
    static const cofi_label labels[] = {0, 0, 1, 1, 1, 0};
    bench b;
    for (int authors = 0; authors < 2; authors++) {
        double times = authors ? 1 : 2;
        set_up_partition(&b, authors ? COF_VARIANT_AUTHORS : COF_VARIANT_PAPER, labels);
        assert_near(weight_of(&b, 0, 0, 1), times * 0.353553, times * EXACT);
        assert_near(weight_of(&b, 0, 0, 2), times * 0.471405, times * EXACT);
        assert_near(weight_of(&b, 0, 1, 2), times * 0.117851, times * EXACT);
        assert_near(weight_of(&b, 2, 0, 1), times * 0.353553, times * EXACT);
        assert_near(weight_of(&b, 2, 0, 2), times * 0.117851, times * EXACT);
        assert_near(weight_of(&b, 2, 1, 2), times * 0.471405, times * EXACT);
        assert_int_equal(b.fit.forest.n_edges[0], 2);
        assert_edge(&b, 0, 0, 1, 2, times * 0.117851);
        assert_edge(&b, 0, 1, 0, 1, times * 0.353553);
        assert_edge(&b, 2, 0, 0, 2, times * 0.117851);
        assert_edge(&b, 2, 1, 0, 1, times * 0.353553);
        tear_down(&b);
    }
}

/* Trace distances of the second partition: the two edges added up. */
static void test_traces(void **state)
{
    (void)state;
    static const cofi_label labels[] = {0, 0, 1, 1, 1, 0};
    bench b;
    set_up_partition(&b, COF_VARIANT_AUTHORS, labels);
    assert_near(b.fit.forest.trace[b.fit.forest.trace_at[0] + 0 * 3 + 2], 0.471405, EXACT);
    assert_near(b.fit.forest.trace[b.fit.forest.trace_at[2] + 1 * 3 + 2], 0.471405, EXACT);
    tear_down(&b);
}

static void test_labels(void **state)
{
    (void)state;
    static const char *const names[] = {"coforest", "cof1", "cof2", "cof3", "cof4"};
    for (size_t m = 0; m < COUNT(names); m++)
        for (int32_t variant = 0; variant < 2; variant++) {
            bench b;
            cof_fit_options o = {.k = 2, .init_rows = t6_seeds, .variant = variant, .method = names[m]};
            set_up_with(&b, t6, 6, 4, o);
            run_bench(&b);
            assert_memory_equal(labels_of(&b.fit), t6_labels, sizeof t6_labels);
            tear_down(&b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_settled), cmocka_unit_test(test_unsettled),
                                       cmocka_unit_test(test_traces), cmocka_unit_test(test_labels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
