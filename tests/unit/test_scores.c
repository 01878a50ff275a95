/* The table S against sums over all pairs of values: trace distances, one-hot means, likelihoods. */
#include "fit_helper.h"

#include "../../src/fit/criterion.h"
#include "../../src/fit/scores.h"

/* ---- What a score should be --------------------------------------------------------------------- */

static double profile_of(const rig *g, size_t r, uint32_t v, uint32_t j)
{
    const cofi_problem *p = &g->problem;
    double here = 0, total = 0;
    for (size_t i = 0; i < p->n_walked; i++) {
        uint32_t own = row_value(g, i, r);
        if (labels_of(&g->fit)[i] != (int32_t)j || own >= p->n_values[r]) continue;
        total += (double)row_weight(g, i);
        here += own == v ? (double)row_weight(g, i) : 0;
    }
    return here / total;
}

static double score_of(const rig *g, size_t r, uint32_t v, uint32_t j)
{
    const cofi_scores *s = &g->fit.scores;
    return (double)cofi_score_of(s, g->problem.first[r] + v)[j] / s->scale;
}

/* No row can add up to 2^60, whatever its values. */
static void check_sums(const rig *g)
{
    const cofi_scores *s = &g->fit.scores;
    for (uint32_t j = 0; j < s->k; j++) {
        int64_t largest = 0;
        for (size_t r = 0; r < g->problem.n_attrs; r++) {
            int64_t most = 0;
            for (uint32_t f = g->problem.first[r]; f < g->problem.first[r + 1]; f++) {
                assert_true(cofi_score_of(s, f)[j] >= 0);
                if (cofi_score_of(s, f)[j] > most) most = cofi_score_of(s, f)[j];
            }
            largest += most;
        }
        assert_true(largest < INT64_C(1) << COFI_SUM_BITS);
    }
}

static void check_bases(const rig *g)
{
    const cofi_scores *s = &g->fit.scores;
    for (uint32_t j = 0; j < s->stride; j++)
        assert_true(s->base[j] == (j < s->k && g->fit.profiles.alive[j] ? 0 : COFI_NEVER));
}

/* ---- Trace distances ---------------------------------------------------------------------------- */

static void check_trace_attribute(const rig *g, size_t r)
{
    const cofi_fit *fit = &g->fit;
    const cofi_problem *p = &g->problem;
    uint32_t o = p->n_values[r];
    double factor = fit->host.o.variant == COF_VARIANT_AUTHORS ? 1.0 / (p->n_present[r] - 1) : 1.0;
    double *d = all_paths(fit->forest.edge + p->first[r], fit->forest.n_edges[r], o);
    for (uint32_t j = 0; j < fit->host.o.k; j++) {
        if (fit->partition.size[j] == 0) continue;
        for (uint32_t u = 0; u < o; u++) {
            double sum = 0;
            for (uint32_t v = 0; v < o; v++) {
                double share = profile_of(g, r, v, j);
                if (share > 0 && isfinite(d[(size_t)u * o + v])) sum += share * d[(size_t)u * o + v];
            }
            if (isnan(profile_of(g, r, 0, j))) continue; /* all of the cluster's cells are ignored */
            assert_near(score_of(g, r, u, j), factor * sum, 1e-12 * (1 + fit->forest.reach[r]));
            if (fit->scores.plain == NULL || isinf(d[(size_t)u * o + fit->forest.root[r]])) continue;
            assert_near(fit->scores.plain[(size_t)(p->first[r] + u) * fit->scores.stride + j], factor * sum,
                        1e-12 * (1 + fit->forest.reach[r]));
        }
    }
    for (uint32_t slot = p->first[r] + o; slot < p->first[r + 1]; slot++) /* ignored cells add nothing */
        for (uint32_t j = 0; j < fit->host.o.k; j++)
            assert_int_equal(fit->scores.value[(size_t)slot * fit->scores.stride + j], 0);
    free(d);
}

static void score_traces(rig *g)
{
    cofi_forest_build(&g->fit.forest, g->fit.partition.count, g->fit.partition.size);
    cofi_forest_trace(&g->fit.forest);
    cofi_scores_trace(&g->fit);
}

static void rerooted_sums_equal_all_pairs(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 3, 5, 8, 9, 16, 17};
    cofi_rng rng = dice(1);
    for (size_t round = 0; round < 64; round++) {
        uint32_t k = ks[round % COUNT(ks)];
        double weights[150];
        for (size_t i = 0; i < 150; i++) weights[i] = round % 3 == 0 ? (double)below(&rng, 3) / 4 : 1;
        weights[0] = 1;
        cof_fit_options o = {
            .k = k, .variant = (int32_t)(round / 8 % 2), .missing = (int32_t)(round / 16 % 3)};
        o.weights = round % 3 == 0 ? weights : NULL;
        cof_table *table =
            holey_table(round, 150, 6, round % 5 == 4 ? 70 : 3 + round % 6, 4, o.missing > 0 ? 8 : 0);
        rig *g = open_rig(table, o);
        set_random_labels(g, &rng, k > 2 ? 1 : 0);
        score_traces(g);
        for (size_t r = 0; r < g->problem.n_attrs; r++) check_trace_attribute(g, r);
        check_sums(g);
        check_bases(g);
        close_rig(g);
    }
}

static void trace_distances_are_a_metric(void **state)
{
    (void)state;
    cofi_rng rng = dice(2);
    for (uint64_t round = 0; round < 20; round++) {
        cof_fit_options o = {.k = 3, .variant = COF_VARIANT_AUTHORS};
        rig *g = open_rig(random_table(round, 80, 3, 9, 3), o);
        set_random_labels(g, &rng, 0);
        score_traces(g);
        for (size_t r = 0; r < g->problem.n_attrs; r++) {
            uint32_t n = g->problem.n_values[r];
            const double *d = g->fit.forest.trace + g->fit.forest.trace_at[r];
            for (uint32_t u = 0; u < n; u++) {
                for (uint32_t v = 0; v < n; v++) {
                    assert_true(d[u * n + v] == d[v * n + u]);
                    assert_true(u == v ? d[u * n + v] == 0 : d[u * n + v] > 0);
                    for (uint32_t w = 0; w < n; w++)
                        assert_true(d[u * n + w] <= (d[u * n + v] + d[v * n + w]) * (1 + 1e-15));
                }
            }
        }
        close_rig(g);
    }
}

/* An emptied cluster is described by the last rows it had, and can take rows again. */
static void an_emptied_cluster_keeps_its_profile(void **state)
{
    (void)state;
    cofi_rng rng = dice(3);
    cof_fit_options o = {.k = 3};
    rig *g = open_rig(random_table(3, 60, 3, 4, 3), o);
    set_random_labels(g, &rng, 0);
    score_traces(g);
    double before[3][4];
    for (size_t r = 0; r < 3; r++)
        for (uint32_t v = 0; v < g->problem.n_values[r]; v++) before[r][v] = profile_of(g, r, v, 2);
    set_random_labels(g, &rng, 1);
    score_traces(g);
    assert_int_equal(g->fit.partition.size[2], 0);
    assert_true(g->fit.profiles.alive[2] && g->fit.scores.base[2] == 0);
    for (size_t r = 0; r < 3; r++) {
        uint32_t n = g->problem.n_values[r];
        double *d = all_paths(g->fit.forest.edge + g->problem.first[r], g->fit.forest.n_edges[r], n);
        for (uint32_t u = 0; u < n; u++) {
            double sum = 0;
            for (uint32_t v = 0; v < n; v++) sum += before[r][v] * d[u * n + v];
            assert_near(score_of(g, r, u, 2), sum, 1e-12);
        }
        free(d);
    }
    cofi_profile_clear(&g->fit);
    score_traces(g);
    assert_true(g->fit.scores.base[2] == COFI_NEVER);
    close_rig(g);
}

/* Spec section 11: the dissimilarities of T6 under the labels 1 0 0 1 1 1, both scalings. */
static void worked_example(void **state)
{
    (void)state;
    static const cofi_label labels[] = {1, 0, 0, 1, 1, 1};
    static const double authors[6][2] = {{0.247487, 0.017678}, {0.070711, 0.194454}, {0.070711, 0.335876},
                                         {0.318198, 0.053033}, {0.247487, 0.017678}, {0.247487, 0.017678}};
    static const double paper[6][2] = {{1.697056, 0.070711}, {0.282843, 1.484924}, {0.282843, 2.050610},
                                       {1.979899, 0.212132}, {1.697056, 0.070711}, {1.697056, 0.070711}};
    for (int32_t variant = COF_VARIANT_PAPER; variant <= COF_VARIANT_AUTHORS; variant++) {
        rig *g = open_rig(t6_table(), (cof_fit_options){.k = 2, .variant = variant});
        set_labels(&g->fit, labels);
        score_traces(g);
        for (size_t i = 0; i < 6; i++) {
            for (uint32_t j = 0; j < 2; j++) {
                double sum = 0;
                for (size_t r = 0; r < 4; r++) sum += score_of(g, r, row_value(g, i, r), j);
                /* the specification divides the authors' by l = 4, and the paper's edges by k = 2 */
                if (variant == COF_VARIANT_AUTHORS)
                    assert_near(sum / 4, authors[i][j], 1e-6);
                else
                    assert_near(sum / 2, paper[i][j], 1e-6);
            }
        }
        close_rig(g);
    }
}

/* ---- One-hot means ------------------------------------------------------------------------------ */

/* Half the squared distance between a one-hot row and the cluster's mean, but for a constant a row. */
static void one_hot_scores_are_squared_distances(void **state)
{
    (void)state;
    cofi_rng rng = dice(6);
    for (uint64_t round = 0; round < 30; round++) {
        cof_fit_options o = {.k = 2 + (uint32_t)(round % 9)};
        rig *g = open_rig(random_table(round, 70, 4, 5, 3), o);
        set_random_labels(g, &rng, 0);
        cofi_profile_update(&g->fit);
        cofi_scores_onehot(&g->fit);
        check_sums(g);
        for (size_t r = 0; r < g->problem.n_attrs; r++) {
            for (uint32_t v = 0; v < g->problem.n_values[r]; v++) {
                for (uint32_t j = 0; j < o.k; j++) {
                    double square = 0;
                    if (g->fit.partition.size[j] == 0) continue;
                    for (uint32_t w = 0; w < g->problem.n_values[r]; w++) {
                        double difference = (w == v) - profile_of(g, r, w, j);
                        square += difference * difference;
                    }
                    assert_near(score_of(g, r, v, j), 0.5 * square + 0.5, 1e-12);
                }
            }
        }
        close_rig(g);
    }
}

/* ---- Likelihood --------------------------------------------------------------------------------- */

/* Scores of a row and a cluster add up to what the integrated likelihood charges for the row there: the likelihood
 * with it less that without it, but for what all clusters pay alike. */
static void likelihood_scores_are_the_price_of_a_row(void **state)
{
    (void)state;
    cofi_rng rng = dice(7);
    for (uint64_t round = 0; round < 20; round++) {
        enum { N = 40 };
        cof_fit_options o = {.k = 3, .missing = COF_MISSING_IGNORE};
        int32_t codes[(N + 1) * 4];
        cofi_label label[N + 1];
        for (size_t at = 0; at < COUNT(codes); at++) codes[at] = (int32_t)below(&rng, 4);
        for (size_t at = 0; at < 4 * N; at += 13) codes[at] = -1;
        for (size_t i = 0; i < N; i++) label[i] = (cofi_label)below(&rng, round % 4 == 0 ? 2 : 3);
        double with[3], weights[N + 1];
        for (size_t i = 0; i <= N; i++) weights[i] = 1;
        for (cofi_label j = 0; j < 3; j++) {
            rig *g = open_rig(table_of(codes, N + 1, 4), o);
            assert_true(g->problem.n_walked == N + 1); /* not folded */
            label[N] = j;
            set_labels(&g->fit, label);
            with[j] = cofi_log_likelihood(&g->fit.partition);
            close_rig(g);
        }
        weights[N] = 0;
        o.weights = weights;
        rig *g = open_rig(table_of(codes, N + 1, 4), o);
        set_labels(&g->fit, label);
        cofi_scores_likelihood(&g->fit, &g->fit.partition);
        check_sums(g);
        double price[3];
        for (uint32_t j = 0; j < 3; j++) {
            price[j] = (double)g->fit.scores.base[j] / g->fit.scores.scale;
            for (size_t r = 0; r < 4; r++) {
                uint32_t v = row_value(g, N, r);
                if (v < g->problem.n_values[r]) price[j] += score_of(g, r, v, j);
            }
            assert_near(price[j] - price[0], with[0] - with[j], 1e-9);
        }
        close_rig(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rerooted_sums_equal_all_pairs),
        cmocka_unit_test(trace_distances_are_a_metric),
        cmocka_unit_test(an_emptied_cluster_keeps_its_profile),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(one_hot_scores_are_squared_distances),
        cmocka_unit_test(likelihood_scores_are_the_price_of_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
