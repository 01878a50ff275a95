/* What a tree of dependent attributes adds, against its definition: all pairs, then the best spanning tree. */
#include "fit_helper.h"

#include "../../src/fit/dependence.h"

enum { ROWS = 120, ATTRS = 5, VALUES = 3 };

/* Log evidence of counts under a Dirichlet prior of 1/2 per value. */
static double evidence(const double *count, size_t n, double n_values)
{
    double total = 0, sum = 0;
    for (size_t v = 0; v < n; v++) {
        total += count[v];
        sum += lgamma(0.5 + count[v]) - lgamma(0.5);
    }
    return sum + lgamma(n_values / 2) - lgamma(n_values / 2 + total);
}

/* Joint evidence of two attributes in one cluster, minus that of each; rows that lack either do not count. */
static double slow_pair(const rig *g, size_t r, size_t t, int32_t j)
{
    double joint[VALUES * VALUES] = {0}, one[VALUES] = {0}, other[VALUES] = {0};
    for (size_t i = 0; i < g->problem.n_walked; i++) {
        uint32_t u = row_value(g, i, r), v = row_value(g, i, t);
        if (labels_of(&g->fit)[i] != j || u >= g->problem.n_values[r] || v >= g->problem.n_values[t])
            continue;
        double weight = (double)row_weight(g, i) / g->problem.unit;
        joint[u * VALUES + v] += weight;
        one[u] += weight;
        other[v] += weight;
    }
    double o_r = g->problem.n_present[r], o_t = g->problem.n_present[t];
    return evidence(joint, VALUES * VALUES, o_r * o_t) - evidence(one, VALUES, o_r) -
           evidence(other, VALUES, o_t);
}

/* Takes the pairs in descending order and leaves out those that would close a cycle. */
static double slow_tree(const rig *g, uint32_t k)
{
    double gain[ATTRS][ATTRS] = {{0}}, sum = 0;
    size_t part[ATTRS];
    for (size_t r = 0; r < ATTRS; r++) part[r] = r;
    for (size_t r = 0; r < ATTRS; r++)
        for (size_t t = 0; t < r; t++)
            for (uint32_t j = 0; j < k; j++) gain[r][t] += slow_pair(g, r, t, (int32_t)j);
    for (;;) {
        double most = 2 * log(ATTRS * (ATTRS - 1) / 2.0);
        size_t one = ATTRS, other = ATTRS;
        for (size_t r = 0; r < ATTRS; r++)
            for (size_t t = 0; t < r; t++)
                if (part[r] != part[t] && gain[r][t] > most) {
                    most = gain[r][t];
                    one = r;
                    other = t;
                }
        if (one == ATTRS) return sum;
        sum += most;
        for (size_t r = 0, from = part[one]; r < ATTRS; r++)
            if (part[r] == from) part[r] = part[other];
    }
}

/* The second and third attribute often repeat the first, the others are noise. */
static int32_t *chained_codes(cofi_rng *rng)
{
    int32_t *codes = random_codes(rng, ROWS, ATTRS, VALUES, VALUES);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t r = 1; r < 3; r++)
            if (below(rng, 4) > 0) codes[i * ATTRS + r] = codes[i * ATTRS];
    return codes;
}

static void equals_the_best_spanning_tree(void **state)
{
    (void)state;
    cofi_rng rng = dice(3);
    for (uint32_t round = 0; round < 20; round++) {
        double weights[ROWS], added;
        cof_error err;
        for (size_t i = 0; i < ROWS; i++) weights[i] = (double)below(&rng, 4);
        int32_t *codes = chained_codes(&rng);
        for (size_t at = 0; round % 3 == 0 && at < ROWS * ATTRS; at += 13) codes[at] = -1;
        cof_fit_options o = {.k = 1 + round % 4, .missing = COF_MISSING_IGNORE};
        o.weights = round % 8 < 4 ? weights : NULL;
        rig *g = open_rig(table_of(codes, ROWS, ATTRS), o);
        cofi_dependence d;
        cofi_blocks own = {.env = g->problem.env};
        set_random_labels(g, &rng, 0);
        assert_status(cofi_dependence_open(&own, g->rows, g->fit.host.team, &d, &err), COF_OK, &err);
        assert_status(cofi_dependence_measure(&d, g->fit.host.team, &g->fit.partition, &added, &err), COF_OK,
                      &err);
        double expected = slow_tree(g, o.k);
        assert_true(expected > 0);
        assert_near(added, expected, 1e-9 * expected);
        if (o.k == 1) assert_near(d.of_one, added, 1e-9 * added);
        cofi_blocks_release(&own);
        close_rig(g);
        free(codes);
    }
}

/* Weights that are no whole numbers are rounded, which changes the result little. */
static void equal_fractions_change_little(void **state)
{
    (void)state;
    double weights[ROWS], whole = 0, scaled = 0;
    cofi_rng rng = dice(4);
    int32_t *codes = chained_codes(&rng);
    for (size_t i = 0; i < ROWS; i++) weights[i] = 1 + (i % 2 ? 1e-3 : -1e-3);
    for (int weighted = 0; weighted < 2; weighted++) {
        rig *g = open_rig(table_of(codes, ROWS, ATTRS),
                          (cof_fit_options){.k = 1, .weights = weighted ? weights : NULL});
        cofi_dependence d;
        cofi_blocks own = {.env = g->problem.env};
        cof_error err;
        assert_status(cofi_dependence_open(&own, g->rows, g->fit.host.team, &d, &err), COF_OK, &err);
        *(weighted ? &scaled : &whole) = d.of_one;
        cofi_blocks_release(&own);
        close_rig(g);
    }
    assert_true(whole > 0);
    assert_near(scaled, whole, 0.01 * whole);
    free(codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_best_spanning_tree),
        cmocka_unit_test(equal_fractions_change_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
