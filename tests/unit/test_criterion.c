/* L and the integrated likelihood against their definitions, row by row. */
#include "fit_helper.h"

#include "../../src/fit/criterion.h"
#include "../../src/fit/scores.h"

/* L: every row's distance to its own cluster, times its weight. */
static double slow_objective(const rig *g)
{
    const cofi_scores *s = &g->fit.scores;
    double sum = 0;
    for (size_t i = 0; i < g->problem.n_walked; i++) {
        uint32_t j = (uint32_t)labels_of(&g->fit)[i];
        for (size_t r = 0; r < g->problem.n_attrs; r++)
            sum += (double)row_weight(g, i) *
                   (double)cofi_score_of(s, g->problem.first[r] + row_value(g, i, r))[j];
    }
    return sum / s->scale / g->problem.unit;
}

/* Weight of the rows of cluster j, or of those with the value v, in units of 1. */
static double weight_in(const rig *g, uint32_t j, size_t r, uint32_t v, bool any)
{
    double sum = 0;
    for (size_t i = 0; i < g->problem.n_walked; i++)
        if (labels_of(&g->fit)[i] == (int32_t)j && (any || row_value(g, i, r) == v))
            sum += (double)row_weight(g, i) / g->problem.unit;
    return sum;
}

/* The formula of design.md, section 4, term by term. */
static double slow_table(const rig *g, size_t r, uint32_t j)
{
    const cofi_problem *p = &g->problem;
    double n_j = 0, sum = 0;
    for (uint32_t v = 0; v < p->n_values[r]; v++) {
        double n_v = weight_in(g, j, r, v, false);
        n_j += n_v;
        sum += lgamma(0.5 + n_v) - lgamma(0.5);
    }
    return sum + lgamma(p->n_present[r] / 2.0) - lgamma(p->n_present[r] / 2.0 + n_j);
}

static double slow_likelihood(const rig *g)
{
    const cofi_problem *p = &g->problem;
    double k = g->fit.host.o.k, n = (double)p->total_weight / p->unit;
    double sum = lgamma(k / 2) - lgamma(k / 2 + n);
    for (uint32_t j = 0; j < g->fit.host.o.k; j++) {
        sum += lgamma(0.5 + weight_in(g, j, 0, 0, true)) - lgamma(0.5);
        for (size_t r = 0; r < p->n_attrs; r++) sum += slow_table(g, r, j);
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
        cofi_forest_build(&g->fit.forest, g->fit.partition.count, g->fit.partition.size);
        cofi_forest_trace(&g->fit.forest);
        cofi_scores_trace(&g->fit);
        double objective = slow_objective(g), likelihood = slow_likelihood(g);
        assert_near(cofi_objective(&g->fit.partition, &g->fit.scores), objective, 1e-12 * (1 + objective));
        assert_near(cofi_log_likelihood(&g->fit.partition), likelihood, 1e-11 * fabs(likelihood));
        close_rig(g);
        free(codes);
    }
}

/* Squared distance of every row's one-hot cells to the mean of the rows `who` says, all clusters for k. */
static double slow_spread(const rig *g, bool own)
{
    const cofi_problem *p = &g->problem;
    double sum = 0;
    for (size_t i = 0; i < p->n_walked; i++)
        for (size_t r = 0; r < p->n_attrs; r++) {
            double total = 0, here[16] = {0};
            if (row_value(g, i, r) >= p->n_values[r]) continue;
            for (size_t h = 0; h < p->n_walked; h++) {
                if (own && labels_of(&g->fit)[h] != labels_of(&g->fit)[i]) continue;
                if (row_value(g, h, r) >= p->n_values[r]) continue;
                here[row_value(g, h, r)] += (double)row_weight(g, h);
                total += (double)row_weight(g, h);
            }
            double square = 0;
            for (uint32_t v = 0; total > 0 && v < p->n_values[r]; v++) {
                double off = (v == row_value(g, i, r)) - here[v] / total;
                square += off * off;
            }
            sum += (double)row_weight(g, i) / p->unit * square;
        }
    return sum;
}

/* A likely and tight partition is worth the product of its gains, an unlikely one less than any of those. */
static void balance_is_made_of_gains(void **state)
{
    (void)state;
    size_t n_likely = 0;
    for (uint64_t round = 0; round < 40; round++) {
        cofi_rng rng = dice(round);
        int32_t *codes = random_codes(&rng, 60, 5, 4, 3);
        for (size_t at = 0; at < 300; at += 11) codes[at] = round % 2 ? -1 : codes[at];
        cof_fit_options o = {.k = 3, .select = COF_SELECT_BALANCE, .missing = COF_MISSING_IGNORE};
        rig *g = open_rig(table_of(codes, 60, 5), o), *one = NULL;
        cofi_label *label = get_zero(60, sizeof *label);
        for (size_t i = 0; i < g->problem.n_walked; i++)
            label[i] = (cofi_label)(round < 20 ? row_value(g, i, 0) % 3 : below(&rng, 3));
        set_labels(&g->fit, label);
        memset(label, 0, 60 * sizeof *label);
        o.k = 1;
        one = open_rig(table_of(codes, 60, 5), o);
        set_labels(&one->fit, label);
        double alone = cofi_log_likelihood_of_one(&g->fit.partition);
        assert_near(alone, cofi_log_likelihood(&one->fit.partition), 1e-9 * fabs(alone));
        double likely = cofi_log_likelihood(&g->fit.partition) - alone;
        double tight = slow_spread(g, false) - slow_spread(g, true);
        double value = cofi_criterion(&g->fit);
        n_likely += likely > 0;
        double least = 2 * log(10); /* five attributes make ten pairs */
        if (likely > 0)
            assert_near(value, log(likely) + log(fmax(likely, least)) + log(tight) + 0.01,
                        1e-8 * fabs(value));
        else
            assert_true(value < -1000);
        free(label);
        free(codes);
        close_rig(one);
        close_rig(g);
    }
    assert_true(n_likely > 5 && n_likely < 35);
}

/* Two rows, one attribute of two values, k = 1: worked by hand. The rows' weights alone give 0; the table's
 * evidence is G(1) / G(3) * (1/2)^2. */
static void likelihood_of_two_rows(void **state)
{
    (void)state;
    static const int32_t codes[] = {0, 1};
    static const cofi_label labels[] = {0, 0};
    rig *g = open_rig(table_of(codes, 2, 1), (cof_fit_options){.k = 1});
    set_labels(&g->fit, labels);
    assert_near(cofi_log_likelihood(&g->fit.partition), log(1.0 / 2 / 4), 1e-12);
    close_rig(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_equal_their_definitions),
        cmocka_unit_test(balance_is_made_of_gains),
        cmocka_unit_test(likelihood_of_two_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
