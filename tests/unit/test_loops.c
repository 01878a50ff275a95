/* From seeds to a first partition: k-modes until nothing moves. */
#include "fit_helper.h"

#include "../../src/fit/loops.h"

/* From seeds to a settled partition. */
static void start(rig *g, uint64_t seed)
{
    cof_error err;
    begin(g, seed);
    assert_status(cofi_settle_kmodes(&g->fit, &err), COF_OK, &err);
}

/* Spec section 1: T6 from x2 and x5. */
static void worked_example(void **state)
{
    (void)state;
    static const uint64_t rows[] = {1, 4};
    static const uint32_t seeds[] = {1, 0, 0, 1, 2, 0, 2, 1};
    static const double gamma[6][2] = {{2, 1}, {0, 2}, {1, 3}, {3, 2}, {2, 0}, {2, 0}};
    static const cofi_label labels[] = {1, 0, 0, 1, 1, 1};
    rig *g = open_rig(t6_table(), (cof_fit_options){.k = 2, .init_rows = rows, .max_passes = 1});
    begin(g, 0);
    assert_memory_equal(g->fit.seeds.mode, seeds, sizeof seeds);
    start(g, 0);
    const cofi_scores *s = &g->fit.scores;
    for (size_t i = 0; i < 6; i++) {
        for (uint32_t j = 0; j < 2; j++) {
            double sum = 0;
            for (size_t r = 0; r < 4; r++)
                sum +=
                    (double)s->value[(g->problem.first[r] + row_value(g, i, r)) * s->stride + j] / s->scale;
            assert_true(sum == gamma[i][j]);
        }
    }
    close_rig(g);
    g = open_rig(t6_table(), (cof_fit_options){.k = 2, .init_rows = rows});
    start(g, 0);
    assert_memory_equal(labels_of(&g->fit), labels, sizeof labels);
    assert_memory_equal(g->fit.seeds.mode, seeds, sizeof seeds); /* (1,0,0,1) and (2,0,2,1) again */
    assert_int_equal(g->fit.log.n_passes, 2);
    close_rig(g);
}

static uint32_t mismatches(const rig *g, size_t i, uint32_t j)
{
    uint32_t n = 0;
    for (size_t r = 0; r < g->problem.n_attrs; r++) {
        uint32_t v = row_value(g, i, r);
        n += v < g->problem.n_values[r] && v != g->fit.seeds.mode[j * g->problem.n_attrs + r];
    }
    return n;
}

/* Where k-modes has settled, modes are the most frequent values and rows are with their nearest mode. */
static void settled_modes_and_rows_agree(void **state)
{
    (void)state;
    static const int32_t inits[] = {COF_INIT_RANDOM, COF_INIT_FARTHEST, COF_INIT_MODESPP, COF_INIT_CAO};
    for (uint64_t round = 0; round < 80; round++) {
        cof_fit_options o = {.k = 2 + (uint32_t)(round % 9), .init = inits[round % 4], .max_passes = 1000};
        rig *g = open_rig(random_table(round, 150, 5, 6, 5), o);
        start(g, round);
        for (uint32_t j = 0; j < o.k; j++)
            for (size_t r = 0; g->fit.partition.size[j] > 0 && r < g->problem.n_attrs; r++)
                assert_int_equal(g->fit.seeds.mode[j * g->problem.n_attrs + r], most_frequent(g, j, r));
        for (size_t i = 0; i < g->problem.n_walked; i++) {
            int32_t nearest = 0;
            for (uint32_t j = 1; j < o.k; j++)
                if (mismatches(g, i, j) < mismatches(g, i, (uint32_t)nearest)) nearest = (int32_t)j;
            assert_int_equal(labels_of(&g->fit)[i], nearest);
        }
        close_rig(g);
    }
}

/* Found by search: a cluster that loses its rows keeps its mode, and may get rows by it again. */
static void an_empty_cluster_keeps_its_mode(void **state)
{
    (void)state;
    enum { K = 6, L = 3 };
    int found = 0;
    for (uint64_t seed = 0; seed < 300 && found < 5; seed++) {
        uint64_t size[K];
        uint32_t mode[K * L];
        for (uint32_t cap = 1; cap <= 8; cap++) {
            cof_fit_options o = {.k = K, .init = COF_INIT_RANDOM, .max_passes = cap};
            rig *g = open_rig(random_table(seed, 60, L, 5, 3), o);
            assert_int_equal(g->problem.n_attrs, L);
            start(g, seed);
            for (uint32_t j = 0; cap > 1 && j < K; j++) {
                if (size[j] > 0) continue;
                assert_memory_equal(mode + j * L, g->fit.seeds.mode + j * L, L * sizeof *mode);
                found++;
            }
            memcpy(size, g->fit.partition.size, sizeof size);
            memcpy(mode, g->fit.seeds.mode, sizeof mode);
            close_rig(g);
        }
    }
    assert_true(found > 0);
}

/* Every pass walks all rows, folded ones once. */
static void every_pass_visits_every_row(void **state)
{
    (void)state;
    for (uint32_t cap = 1; cap <= 6; cap++) {
        cof_fit_options o = {.k = 4, .init = COF_INIT_RANDOM, .max_passes = cap};
        rig *g = open_rig(random_table(1, 400, 3, 3, 3), o);
        assert_true(is_folded(g) && g->problem.n_walked <= 27);
        start(g, 1);
        assert_true(g->fit.log.n_passes > 0 && g->fit.log.n_passes <= cap);
        assert_int_equal(g->fit.log.visits, g->fit.log.n_passes * g->problem.n_walked);
        close_rig(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(settled_modes_and_rows_agree),
        cmocka_unit_test(an_empty_cluster_keeps_its_mode),
        cmocka_unit_test(every_pass_visits_every_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
