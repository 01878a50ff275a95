/* One-hot k-means: the start whose partition is the first one. */
#include "fit_helper.h"

/* The rows' summed squared distances to their means: sum over attributes of n_j - sum n_jv^2 / n_j. */
static double inertia(const rig *g)
{
    const cofi_fit *fit = &g->fit;
    double sum = 0;
    for (uint32_t j = 0; j < fit->host.o.k; j++) {
        double n = (double)fit->partition.size[j];
        if (n == 0) continue;
        for (size_t r = 0; r < g->problem.n_attrs; r++) {
            sum += n;
            for (uint32_t f = g->problem.first[r]; f < g->problem.first[r + 1]; f++) {
                double count = (double)fit->partition.count[(size_t)f * fit->scores.stride + j];
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
            if (g->fit.log.n_passes < cap) assert_true(now == before);
            before = now;
            close_rig(g);
        }
    }
}

/* Half the squared distance of a row, one-hot, to the mean of a cluster. */
static double to_mean(const rig *g, size_t i, uint32_t j)
{
    const cofi_fit *fit = &g->fit;
    double sum = 0;
    for (size_t r = 0; r < g->problem.n_attrs; r++) {
        for (uint32_t v = 0; v < g->problem.n_values[r]; v++) {
            double share =
                (double)fit->partition.count[(size_t)(g->problem.first[r] + v) * fit->scores.stride + j] /
                (double)fit->partition.size[j];
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
        for (size_t i = 0; i < g->problem.n_walked; i++) {
            double own = to_mean(g, i, (uint32_t)labels_of(&g->fit)[i]);
            for (uint32_t j = 0; j < o.k; j++)
                if (g->fit.partition.size[j] > 0) assert_true(own <= to_mean(g, i, j) + 1e-9);
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
    assert_true(g->fit.partition.hash != 0);
    for (uint32_t j = 0; j < 4; j++)
        for (size_t r = 0; r < 5; r++) assert_int_equal(g->fit.seeds.mode[j * 5 + r], most_frequent(g, j, r));
    close_rig(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k_means_never_gets_worse),
        cmocka_unit_test(k_means_settles),
        cmocka_unit_test(k_means_leaves_modes_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
