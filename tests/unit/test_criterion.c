/* L and the integrated likelihood against their definitions, row by row. */
#include "engine_helper.h"

/* L: every row's distance to its own cluster, times its weight. */
static double slow_objective(const rig *g)
{
    const cofi_scores *s = &g->engine.scores;
    double sum = 0;
    for (size_t i = 0; i < g->problem.rows.n_rows; i++) {
        uint32_t j = (uint32_t)g->engine.pass.label[i];
        for (size_t r = 0; r < g->problem.n_attrs; r++)
            sum += (double)row_weight(g, i) *
                   (double)s->value[(g->problem.first[r] + row_value(g, i, r)) * s->stride + j];
    }
    return sum / s->scale / g->problem.unit;
}

/* Weight of the rows of cluster j, or of those with the value v, in units of 1. */
static double weight_in(const rig *g, uint32_t j, size_t r, uint32_t v, bool any)
{
    double sum = 0;
    for (size_t i = 0; i < g->problem.rows.n_rows; i++)
        if (g->engine.pass.label[i] == (int32_t)j && (any || row_value(g, i, r) == v))
            sum += (double)row_weight(g, i) / g->problem.unit;
    return sum;
}

/* The formula of design.md, section 4, term by term. */
static double slow_likelihood(const rig *g)
{
    const cofi_problem *p = &g->problem;
    double k = g->engine.o.k, n = (double)p->total_weight / p->unit;
    double sum = lgamma(k / 2) - lgamma(k / 2 + n);
    for (uint32_t j = 0; j < g->engine.o.k; j++) {
        sum += lgamma(0.5 + weight_in(g, j, 0, 0, true)) - lgamma(0.5);
        for (size_t r = 0; r < p->n_attrs; r++) {
            double n_j = 0;
            for (uint32_t v = 0; v < p->n_values[r]; v++) {
                double n_v = weight_in(g, j, r, v, false);
                n_j += n_v;
                sum += lgamma(0.5 + n_v) - lgamma(0.5);
            }
            sum += lgamma(p->n_present[r] / 2.0) - lgamma(p->n_present[r] / 2.0 + n_j);
        }
    }
    return sum;
}

static void both_equal_their_definitions(void **state)
{
    (void)state;
    cofi_rng rng = dice(1);
    for (uint64_t round = 0; round < 40; round++) {
        double weights[90];
        for (size_t i = 0; i < 90; i++) weights[i] = 0.25 * (double)below(&rng, 6);
        cof_fit_options o = {.k = 1 + (uint32_t)(round % 10), .variant = (int32_t)(round % 2)};
        o.missing = round % 4 == 1 ? COF_MISSING_IGNORE : COF_MISSING_VALUE;
        o.weights = round % 3 == 0 ? weights : NULL;
        int32_t *codes = random_codes(&rng, 90, 4, 5, 3);
        for (size_t at = 0; at < 360; at += 7) codes[at] = -1;
        rig *g = open_rig(table_of(codes, 90, 4), o);
        set_random_labels(g, &rng, o.k > 3 ? 1 : 0);
        cofi_forest_build(&g->engine.forest, g->engine.pass.count, g->engine.pass.size);
        cofi_trace_distances(&g->engine);
        cofi_profile_update(&g->engine);
        cofi_scores_trace(&g->engine);
        double objective = slow_objective(g), likelihood = slow_likelihood(g);
        assert_near(cofi_objective(&g->engine), objective, 1e-12 * (1 + objective));
        assert_near(cofi_log_likelihood(&g->engine), likelihood, 1e-11 * fabs(likelihood));
        close_rig(g);
        free(codes);
    }
}

/* Two rows, one attribute of two values, k = 1: worked by hand. The rows' weights alone give 0; the table's
 * evidence is G(1) / G(3) * (1/2)^2. */
static void likelihood_of_two_rows(void **state)
{
    (void)state;
    static const int32_t codes[] = {0, 1}, labels[] = {0, 0};
    rig *g = open_rig(table_of(codes, 2, 1), (cof_fit_options){.k = 1});
    cofi_pass_set_labels(&g->engine.pass, labels);
    assert_near(cofi_log_likelihood(&g->engine), log(1.0 / 2 / 4), 1e-12);
    close_rig(g);
}

static void rounding_is_not_clearly_larger(void **state)
{
    (void)state;
    assert_true(cofi_clearly_larger(1, 0));
    assert_true(cofi_clearly_larger(-1, -2));
    assert_true(cofi_clearly_larger(1e-300, -1e-300));
    assert_false(cofi_clearly_larger(0, 1));
    assert_false(cofi_clearly_larger(1, 1));
    assert_false(cofi_clearly_larger(0, 0));
    assert_false(cofi_clearly_larger(1 + 1e-13, 1));
    assert_false(cofi_clearly_larger(-1e6, -1e6 * (1 + 1e-13)));
    assert_true(cofi_clearly_larger(1 + 1e-11, 1));
    assert_false(cofi_clearly_larger((double)NAN, 1));
    assert_false(cofi_clearly_larger(1, (double)NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_equal_their_definitions),
        cmocka_unit_test(likelihood_of_two_rows),
        cmocka_unit_test(rounding_is_not_clearly_larger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
