/* From seeds to a first partition: k-modes and one-hot k-means. */
#include "engine_helper.h"

#include "../../src/fit/loops.h"

static void begin(rig *g, uint64_t seed)
{
    cof_error err;
    cofi_rng_seed(&g->engine.rng, seed, 0);
    assert_status(cofi_begin(&g->engine, &err), COF_OK, &err);
}

static void start(rig *g, uint64_t seed)
{
    cof_error err;
    cofi_rng_seed(&g->engine.rng, seed, 0);
    assert_status(cofi_start(&g->engine, &err), COF_OK, &err);
}

/* ---- k-modes ------------------------------------------------------------------------------------ */

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
    assert_memory_equal(g->engine.mode, seeds, sizeof seeds);
    start(g, 0);
    const cofi_scores *s = &g->engine.scores;
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
    assert_memory_equal(g->engine.pass.label, labels, sizeof labels);
    assert_memory_equal(g->engine.mode, seeds, sizeof seeds); /* (1,0,0,1) and (2,0,2,1) again */
    assert_int_equal(g->engine.n_passes, 2);
    close_rig(g);
}

static uint32_t most_frequent(const rig *g, uint32_t j, size_t r)
{
    uint64_t count[64] = {0};
    uint32_t best = 0;
    for (size_t i = 0; i < g->problem.rows.n_rows; i++)
        if (g->engine.pass.label[i] == (int32_t)j && row_value(g, i, r) < g->problem.n_values[r])
            count[row_value(g, i, r)] += row_weight(g, i);
    for (uint32_t v = 1; v < g->problem.n_values[r]; v++)
        if (count[v] > count[best]) best = v;
    return best;
}

static uint32_t mismatches(const rig *g, size_t i, uint32_t j)
{
    uint32_t n = 0;
    for (size_t r = 0; r < g->problem.n_attrs; r++) {
        uint32_t v = row_value(g, i, r);
        n += v < g->problem.n_values[r] && v != g->engine.mode[j * g->problem.n_attrs + r];
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
            for (size_t r = 0; g->engine.pass.size[j] > 0 && r < g->problem.n_attrs; r++)
                assert_int_equal(g->engine.mode[j * g->problem.n_attrs + r], most_frequent(g, j, r));
        for (size_t i = 0; i < g->problem.rows.n_rows; i++) {
            int32_t nearest = 0;
            for (uint32_t j = 1; j < o.k; j++)
                if (mismatches(g, i, j) < mismatches(g, i, (uint32_t)nearest)) nearest = (int32_t)j;
            assert_int_equal(g->engine.pass.label[i], nearest);
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
                assert_memory_equal(mode + j * L, g->engine.mode + j * L, L * sizeof *mode);
                found++;
            }
            memcpy(size, g->engine.pass.size, sizeof size);
            memcpy(mode, g->engine.mode, sizeof mode);
            close_rig(g);
        }
    }
    assert_true(found > 0);
}

/* After one pass from distinct seeds every cluster holds at least its own seed. */
static void no_cluster_begins_empty(void **state)
{
    (void)state;
    for (int32_t init = COF_INIT_KMEANS; init <= COF_INIT_CAO; init++) {
        for (uint64_t round = 0; round < 20; round++) {
            cof_fit_options o = {.k = 9, .init = init, .max_passes = 1};
            rig *g = open_rig(random_table(round, 100, 5, 4, 3), o);
            start(g, round);
            for (uint32_t j = 0; j < o.k; j++) {
                assert_true(g->engine.pass.size[j] > 0);
                assert_int_equal(g->engine.pass.label[g->engine.seed[j]], j);
            }
            close_rig(g);
        }
    }
}

/* ---- One-hot k-means ---------------------------------------------------------------------------- */

/* The rows' summed squared distances to their means: sum over attributes of n_j - sum n_jv^2 / n_j. */
static double inertia(const rig *g)
{
    const cofi_engine *e = &g->engine;
    double sum = 0;
    for (uint32_t j = 0; j < e->o.k; j++) {
        double n = (double)e->pass.size[j];
        if (n == 0) continue;
        for (size_t r = 0; r < g->problem.n_attrs; r++) {
            sum += n;
            for (uint32_t f = g->problem.first[r]; f < g->problem.first[r + 1]; f++) {
                double count = (double)e->pass.count[(size_t)f * e->scores.stride + j];
                sum -= count * count / n;
            }
        }
    }
    return sum;
}

/* Cut off after 1, 2, 3, ... passes it is never worse than before, and ends where no cut changes it. */
static void k_means_never_gets_worse(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 15; round++) {
        double before = INFINITY;
        for (uint32_t cap = 1; cap <= 25; cap++) {
            cof_fit_options o = {.k = 3 + (uint32_t)(round % 8), .init = COF_INIT_KMEANS, .max_passes = cap};
            rig *g = open_rig(random_table(round, 300, 6, 5, 6), o);
            begin(g, round);
            double now = inertia(g);
            assert_true(now <= before * (1 + 1e-12));
            if (g->engine.n_passes < cap) assert_true(now == before);
            before = now;
            close_rig(g);
        }
    }
}

/* Half the squared distance of a row, one-hot, to the mean of a cluster. */
static double to_mean(const rig *g, size_t i, uint32_t j)
{
    const cofi_engine *e = &g->engine;
    double sum = 0;
    for (size_t r = 0; r < g->problem.n_attrs; r++) {
        for (uint32_t v = 0; v < g->problem.n_values[r]; v++) {
            double share = (double)e->pass.count[(size_t)(g->problem.first[r] + v) * e->scores.stride + j] /
                           (double)e->pass.size[j];
            sum += 0.5 * ((row_value(g, i, r) == v) - share) * ((row_value(g, i, r) == v) - share);
        }
    }
    return sum;
}

/* Left to itself it ends where every row is nearest to its own mean. */
static void k_means_settles(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 15; round++) {
        cof_fit_options o = {.k = 2 + (uint32_t)(round % 8), .init = COF_INIT_KMEANS, .max_passes = 1000};
        rig *g = open_rig(random_table(round, 200, 6, 5, 6), o);
        begin(g, round);
        for (size_t i = 0; i < g->problem.rows.n_rows; i++) {
            double own = to_mean(g, i, (uint32_t)g->engine.pass.label[i]);
            for (uint32_t j = 0; j < o.k; j++)
                if (g->engine.pass.size[j] > 0) assert_true(own <= to_mean(g, i, j) + 1e-9);
        }
        close_rig(g);
    }
}

/* Methods that want modes from a k-means start get those of its partition. */
static void k_means_leaves_modes_too(void **state)
{
    (void)state;
    rig *g = open_rig(random_table(2, 200, 5, 5, 4), (cof_fit_options){.k = 4, .init = COF_INIT_KMEANS});
    begin(g, 3);
    assert_true(g->engine.pass.hash != 0);
    for (uint32_t j = 0; j < 4; j++)
        for (size_t r = 0; r < 5; r++) assert_int_equal(g->engine.mode[j * 5 + r], most_frequent(g, j, r));
    close_rig(g);
}

/* ---- Folding ------------------------------------------------------------------------------------ */

static void folding_changes_no_start(void **state)
{
    (void)state;
    enum { N = 150, L = 5 };
    for (int32_t init = COF_INIT_KMEANS; init <= COF_INIT_CAO; init++) {
        cofi_rng rng = dice((uint64_t)init);
        int32_t *codes = random_codes(&rng, N, L, 4, 5), *tripled = get_zero(3 * N * L, sizeof *tripled);
        double weights[N];
        for (size_t i = 0; i < 3 * N; i++) memcpy(tripled + i * L, codes + i / 3 * L, L * sizeof *codes);
        for (size_t i = 0; i < N; i++) weights[i] = 3;
        cof_fit_options o = {.k = 5, .init = init};
        rig *folded = open_rig(table_of(tripled, 3 * N, L), o);
        o.weights = weights;
        rig *weighted = open_rig(table_of(codes, N, L), o);
        start(folded, 7);
        start(weighted, 7);
        for (size_t i = 0; i < 3 * N; i++)
            assert_int_equal(
                folded->engine.pass.label[folded->problem.group[i]],
                weighted->engine.pass
                    .label[weighted->problem.group != NULL ? weighted->problem.group[i / 3] : i / 3]);
        assert_int_equal(folded->engine.n_passes, weighted->engine.n_passes);
        close_rig(folded);
        close_rig(weighted);
        free(codes);
        free(tripled);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),           cmocka_unit_test(settled_modes_and_rows_agree),
        cmocka_unit_test(no_cluster_begins_empty),  cmocka_unit_test(k_means_never_gets_worse),
        cmocka_unit_test(k_means_settles),          cmocka_unit_test(an_empty_cluster_keeps_its_mode),
        cmocka_unit_test(k_means_leaves_modes_too), cmocka_unit_test(folding_changes_no_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
