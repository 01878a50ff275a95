/* The toy graphs: hop counts of the specification's example, and of every graph drawn. */
#include "../../src/method/counterparts/toy.c"

#include "method_helper.h"

/* One column of n values, so that its distances can be written and read. */
static void set_up_column(bench *b, const char *method, uint32_t n, uint64_t seed)
{
    int32_t codes[64];
    for (uint32_t v = 0; v < n; v++) codes[v] = (int32_t)v;
    cof_fit_options o = {.k = 2, .init = COF_INIT_RANDOM, .method = method};
    set_up_with(b, codes, n, 1, o);
    cofi_rng_seed(&b->fit.rng, seed, 0);
}

static void join(const bench *b, cofi_distances *d, uint32_t u, uint32_t v)
{
    cofi_distances_of(&b->fit, d, 0, u)[v] = cofi_distances_of(&b->fit, d, 0, v)[u] = 1;
}

/* The path 2-0-3-1. */
static void test_path(void **state)
{
    (void)state;
    static const double wanted[4][4] = {{0, 2, 1, 1}, {2, 0, 3, 1}, {1, 3, 0, 2}, {1, 1, 2, 0}};
    bench b;
    uint32_t queue[4];
    double steps[4];
    set_up_column(&b, "rgg", 4, 1);
    cofi_distances *d = b.state;
    join(&b, d, 2, 0);
    join(&b, d, 0, 3);
    join(&b, d, 3, 1);
    for (uint32_t v = 0; v < 4; v++) {
        count_steps(&b.fit, d, 0, v, queue, steps);
        for (uint32_t u = 0; u < 4; u++) assert_true(steps[u] == wanted[v][u]);
    }
    tear_down(&b);
}

/* A line over o values: o - 1 neighbours, and every other distance is their sum. */
static void test_random_lines(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        bench b;
        uint32_t o = 2 + (uint32_t)(seed % 9), order[16], n_ends = 0, n_edges = 0;
        set_up_column(&b, "rglg", o, seed);
        cofi_distances *d = b.state;
        random_line(&b.fit, d, 0, order);
        for (uint32_t u = 0; u < o; u++) {
            uint32_t neighbours = 0;
            for (uint32_t v = 0; v < o; v++) neighbours += cofi_distances_of(&b.fit, d, 0, u)[v] == 1;
            n_edges += neighbours;
            n_ends += neighbours == 1;
            assert_in_range(neighbours, 1, 2);
        }
        assert_int_equal(n_edges, 2 * (o - 1));
        assert_int_equal(n_ends, 2);
        tear_down(&b);
    }
}

/* Hop counts against Floyd and Warshall; every graph is connected. */
static void test_random_graphs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        bench b;
        uint32_t o = 2 + (uint32_t)(seed % 9), queue[16];
        double steps[16 * 16], hop[16][16];
        set_up_column(&b, "rgg", o, seed);
        cofi_distances *d = b.state;
        random_edges(&b.fit, d, 0, queue);
        for (uint32_t u = 0; u < o; u++)
            for (uint32_t v = 0; v < o; v++)
                hop[u][v] = u == v ? 0 : cofi_distances_of(&b.fit, d, 0, u)[v] == 1 ? 1 : INFINITY;
        for (uint32_t w = 0; w < o; w++)
            for (uint32_t u = 0; u < o; u++)
                for (uint32_t v = 0; v < o; v++) hop[u][v] = fmin(hop[u][v], hop[u][w] + hop[w][v]);
        cofi_rng_seed(&b.fit.rng, seed, 0); /* the same graph again, now with its hop counts */
        random_graph(&b.fit, d, 0, queue, steps);
        for (uint32_t u = 0; u < o; u++)
            for (uint32_t v = 0; v < o; v++) {
                assert_true(isfinite(hop[u][v]));
                assert_true(cofi_distances_of(&b.fit, d, 0, u)[v] == hop[u][v]);
            }
        tear_down(&b);
    }
}

/* The complete graph is k-modes; the line in code order is |a - b|. */
static void test_fixed_graphs(void **state)
{
    (void)state;
    bench b;
    assert_first_gammas("fcg", (double[]){2, 1, 0, 2, 1, 3, 3, 2, 2, 0, 2, 0}, false);
    set_up_column(&b, "slg", 5, 1);
    for (uint32_t u = 0; u < 5; u++)
        for (uint32_t v = 0; v < 5; v++)
            assert_true(cofi_distances_of(&b.fit, b.state, 0, u)[v] == fabs((double)u - (double)v));
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_path), cmocka_unit_test(test_random_lines),
                                       cmocka_unit_test(test_random_graphs),
                                       cmocka_unit_test(test_fixed_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
