/* The rows a restart begins with: all different, drawn as each rule says, the same with rows folded. */
#include "fit_helper.h"

#include "alloc_helper.h"

static const int32_t all_inits[] = {COF_INIT_KMEANS,  COF_INIT_FARTHEST, COF_INIT_RANDOM,
                                    COF_INIT_MODESPP, COF_INIT_HUANG,    COF_INIT_CAO};

/* Rows of the table; their cells are those that the fit got. */
static void draw(rig *g, uint64_t seed, uint64_t *rows)
{
    size_t l = g->problem.n_attrs;
    begin(g, seed);
    memcpy(rows, g->fit.seeds.row, g->fit.partition.k * sizeof *rows);
    for (uint32_t j = 0; j < g->fit.partition.k; j++)
        for (size_t r = 0; r < l; r++)
            assert_int_equal(g->fit.seeds.cell[j * l + r], row_value(g, walked(g, rows[j]), r));
}

static uint32_t hamming(const rig *g, uint64_t a, uint64_t b)
{
    uint32_t distance = 0;
    for (size_t r = 0; r < g->problem.n_attrs; r++)
        distance += row_value(g, walked(g, a), r) != row_value(g, walked(g, b), r);
    return distance;
}

static uint64_t table_weight(const rig *g, uint64_t row)
{
    const cofi_local *local = cofi_local_of(g->rows);
    return local->table_weight != NULL ? local->table_weight[row] : 1;
}

/* Distance of a row to the nearest of the first n seeds. */
static uint32_t nearest_of(const rig *g, const uint64_t *seed, uint32_t n, uint64_t row)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t t = 0; t < n; t++) {
        uint32_t d = hamming(g, seed[t], row);
        least = d < least ? d : least;
    }
    return least;
}

/* ---- Every rule --------------------------------------------------------------------------------- */

static void seeds_differ_and_weigh(void **state)
{
    (void)state;
    static const size_t n_rows[] = {30, 500, 9000};
    cofi_rng rng = dice(1);
    for (size_t n = 0; n < COUNT(n_rows); n++) {
        double *weights = get_zero(n_rows[n], sizeof *weights);
        for (size_t i = 0; i < n_rows[n]; i++) weights[i] = (double)below(&rng, 3) / 2;
        for (size_t init = 0; init < COUNT(all_inits); init++) {
            for (int weighted = 0; weighted < 2; weighted++) {
                cof_fit_options o = {.k = 6, .init = all_inits[init], .weights = weighted ? weights : NULL};
                rig *g = open_rig(random_table(n, n_rows[n], 5, 4, 5), o);
                uint64_t seed[6];
                for (uint64_t s = 0; s < (n_rows[n] < 1000 ? 30 : 3); s++) {
                    draw(g, s, seed);
                    for (uint32_t t = 0; t < 6; t++) {
                        assert_true(row_weight(g, walked(g, seed[t])) > 0);
                        if (all_inits[init] != COF_INIT_CAO) /* which may name any of equal rows */
                            assert_true(table_weight(g, seed[t]) > 0);
                        assert_true(t == 0 || nearest_of(g, seed, t, seed[t]) > 0);
                    }
                }
                close_rig(g);
            }
        }
        free(weights);
    }
}

/* Ten thousand equal rows and four others: drawing until a new one turns up would take long, and with k
 * equal to the distinct rows nothing else is left to choose. */
static void rare_rows_are_found(void **state)
{
    (void)state;
    enum { N = 10004 };
    static int32_t codes[2 * N];
    for (size_t i = 0; i < 4; i++) codes[2 * (i * 2500 + 7)] = (int32_t)i + 1;
    codes[1] = 0;
    codes[2 * 7 + 1] = 1;
    for (size_t init = 0; init < COUNT(all_inits); init++) {
        rig *g = open_rig(table_of(codes, N, 2), (cof_fit_options){.k = 5, .init = all_inits[init]});
        uint64_t seed[5];
        for (uint64_t s = 0; s < 5; s++) {
            draw(g, s, seed);
            for (uint32_t t = 1; t < 5; t++) assert_true(nearest_of(g, seed, t, seed[t]) > 0);
        }
        close_rig(g);
    }
}

/* ---- Each rule ---------------------------------------------------------------------------------- */

/* Row i counts i + 1 times, and so is drawn first that much more often. */
static void the_first_seed_goes_by_weight(void **state)
{
    (void)state;
    static const int32_t codes[] = {0, 1, 2, 3};
    static const double weights[] = {1, 2, 0, 3};
    enum { DRAWS = 6000 };
    for (size_t init = 0; init + 1 < COUNT(all_inits); init++) {
        cof_fit_options o = {.k = 1, .init = all_inits[init], .weights = weights};
        rig *g = open_rig(table_of(codes, 4, 1), o);
        uint32_t seen[4] = {0};
        uint64_t seed;
        for (uint64_t s = 0; s < DRAWS; s++) {
            draw(g, s, &seed);
            seen[seed]++;
        }
        for (size_t i = 0; i < 4; i++) assert_near((double)seen[i] / DRAWS, weights[i] / 6, 0.03);
        close_rig(g);
    }
}

/* The chance of a second seed: its weight, times its distance where the rule says so. */
static void the_second_seed_goes_by_distance(void **state)
{
    (void)state;
    static const int32_t codes[] = {0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0};
    static const double weights[] = {1, 2, 1, 3, 5};
    enum { DRAWS = 20000 };
    for (int by_distance = 0; by_distance < 2; by_distance++) {
        cof_fit_options o = {.k = 2, .init = by_distance ? COF_INIT_MODESPP : COF_INIT_RANDOM};
        o.weights = weights;
        rig *g = open_rig(table_of(codes, 5, 3), o);
        double seen[5] = {0}, chance[5], n = 0, total = 0;
        for (size_t i = 0; i < 5; i++) {
            uint32_t d = hamming(g, 0, i);
            chance[i] = d == 0 ? 0 : weights[i] * (by_distance ? d : 1);
            total += chance[i];
        }
        for (uint64_t s = 0; s < DRAWS; s++) {
            uint64_t seed[2];
            draw(g, s, seed);
            if (hamming(g, 0, seed[0]) > 0) continue; /* rows 0 and 4 are equal */
            n++;
            seen[seed[1]]++;
        }
        for (size_t i = 0; i < 5; i++) assert_near(seen[i] / n, chance[i] / total, 0.02);
        close_rig(g);
    }
}

static void farthest_first(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 40; round++) {
        rig *g =
            open_rig(random_table(round, 120, 6, 4, 4), (cof_fit_options){.k = 8, .init = COF_INIT_FARTHEST});
        uint64_t seed[8];
        draw(g, round, seed);
        for (uint32_t t = 1; t < 8; t++) {
            uint32_t greatest = 0;
            for (size_t i = 0; i < g->problem.n_table_rows; i++) {
                uint32_t d = nearest_of(g, seed, t, i);
                greatest = d > greatest ? d : greatest;
            }
            assert_int_equal(nearest_of(g, seed, t, seed[t]), greatest);
        }
        close_rig(g);
    }
}

/* The weights become whole units: here 4 a weight of 1, because the least is 0.25. */
static void columns_weigh(void **state)
{
    static const double weight[] = {2, 1, 1, 0.5, 0.25, 4};
    static const uint32_t unit[] = {8, 4, 4, 2, 1, 16};
    (void)state;
    for (uint64_t round = 0; round < 40; round++) {
        rig *g = open_rig(random_table(round, 120, 6, 4, 4),
                          (cof_fit_options){.k = 2, .init = COF_INIT_FARTHEST, .column_weights = weight});
        uint64_t seed[2];
        uint32_t distance[2] = {0, 0}; /* the greatest, and that of the second seed */
        draw(g, round, seed);
        for (size_t i = 0; i < g->problem.n_table_rows; i++) {
            uint32_t d = 0;
            for (size_t r = 0; r < 6; r++)
                if (row_value(g, walked(g, seed[0]), r) != row_value(g, walked(g, i), r)) d += unit[r];
            distance[0] = d > distance[0] ? d : distance[0];
            if (i == seed[1]) distance[1] = d;
        }
        assert_int_equal(distance[1], distance[0]);
        assert_int_equal(cofi_seed_reach(&g->problem), 35);
        close_rig(g);
    }
}

/* Equal weights are as good as none; rows that differ only in a column of weight 0 are still different. */
static void weights_that_change_no_seed(void **state)
{
    static const double equal[] = {3, 3, 3, 3, 3}, last[] = {0, 0, 0, 0, 1};
    (void)state;
    for (size_t init = 0; init < COUNT(all_inits); init++) {
        uint64_t seed[3][6];
        const double *weights[] = {NULL, equal, last};
        for (size_t w = 0; w < COUNT(weights); w++) {
            cof_fit_options o = {.k = 6, .init = all_inits[init], .column_weights = weights[w]};
            rig *g = open_rig(random_table(init, 200, 5, 3, 5), o);
            draw(g, init, seed[w]);
            for (uint32_t t = 1; t < 6; t++) assert_true(nearest_of(g, seed[w], t, seed[w][t]) > 0);
            close_rig(g);
        }
        assert_memory_equal(seed[0], seed[1], sizeof seed[0]);
    }
}

/* Cao, Liang and Bai 2009 as published: density of x is the mean share of rows that agree with it in an
 * attribute; first the densest, then the greatest least product of density and distance to the seeds so far.
 * Shares and means are over common denominators, so whole numbers stand for them. */
static void cao_by_the_book(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 40; round++) {
        rig *g = open_rig(random_table(round, 90, 5, 5, 4), (cof_fit_options){.k = 6, .init = COF_INIT_CAO});
        size_t n = g->problem.n_table_rows;
        uint64_t seed[6];
        draw(g, round, seed);
        for (uint32_t t = 0; t < 6; t++) {
            uint64_t greatest = 0, best = 0;
            for (size_t i = 0; i < n; i++) {
                uint64_t density = 0, least = UINT64_MAX;
                for (size_t other = 0; other < n; other++)
                    density += table_weight(g, other) * (g->problem.n_attrs - hamming(g, i, other));
                for (uint32_t s = 0; s < t; s++) {
                    uint64_t product = density * hamming(g, seed[s], i);
                    least = product < least ? product : least;
                }
                if (t == 0) least = density;
                if (least <= greatest) continue;
                greatest = least;
                best = i;
            }
            assert_int_equal(seed[t], best);
        }
        close_rig(g);
    }
}

/* ---- Rows given by the caller ------------------------------------------------------------------- */

static void given_rows_are_taken_in_order(void **state)
{
    (void)state;
    static const uint64_t given[] = {4, 1, 0};
    rig *g = open_rig(t6_table(), (cof_fit_options){.k = 3, .init_rows = given});
    uint64_t seed[3];
    draw(g, 0, seed);
    for (size_t j = 0; j < 3; j++) assert_int_equal(seed[j], given[j]);
    close_rig(g);
}

static void given_rows_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        uint64_t row[2];
        const char *word;
    } wrong[] = {
        {{0, 6}, "row 7 does not exist; the table has 6 rows"},
        {{UINT64_MAX, 0}, "does not exist"},
        {{4, 5}, "row 6 equals an earlier one"},
        {{3, 3}, "row 4 equals an earlier one"},
    };
    for (size_t w = 0; w < COUNT(wrong); w++) {
        rig *g = open_rig(t6_table(), (cof_fit_options){.k = 2, .init_rows = wrong[w].row});
        cof_error err;
        assert_int_equal(try_begin(g, &err), COF_ERR_ARGUMENT);
        if (strstr(err.text, wrong[w].word) == NULL) fail_msg("%s", err.text);
        close_rig(g);
    }
    static const int32_t codes[] = {1, 2, -1, 3};
    static const uint64_t dropped[] = {0, 2};
    cof_fit_options o = {.k = 2, .missing = COF_MISSING_DROP, .init_rows = dropped};
    rig *g = open_rig(table_of(codes, 4, 1), o);
    cof_error err;
    assert_int_equal(try_begin(g, &err), COF_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "row 3 was dropped"));
    close_rig(g);
}

/* ---- Folding ------------------------------------------------------------------------------------ */

/* Every row three times in a row is the same as every row with weight three. */
static void folding_changes_no_seed(void **state)
{
    (void)state;
    enum { N = 200, L = 5 };
    for (uint64_t round = 0; round < 10; round++) {
        cofi_rng rng = dice(round);
        int32_t *codes = random_codes(&rng, N, L, 4, 5), *tripled = get_zero(3 * N * L, sizeof *tripled);
        double weights[N];
        for (size_t i = 0; i < 3 * N; i++) memcpy(tripled + i * L, codes + i / 3 * L, L * sizeof *codes);
        for (size_t i = 0; i < N; i++) weights[i] = 3;
        for (size_t init = 0; init < COUNT(all_inits); init++) {
            cof_fit_options o = {.k = 5, .init = all_inits[init]};
            rig *folded = open_rig(table_of(tripled, 3 * N, L), o);
            o.weights = weights;
            rig *weighted = open_rig(table_of(codes, N, L), o);
            assert_true(is_folded(folded));
            uint64_t a[5], b[5];
            draw(folded, round, a);
            draw(weighted, round, b);
            for (size_t j = 0; j < 5; j++)
                for (size_t r = 0; r < folded->problem.n_attrs; r++)
                    assert_int_equal(row_value(folded, walked(folded, a[j]), r),
                                     row_value(weighted, walked(weighted, b[j]), r));
            close_rig(folded);
            close_rig(weighted);
        }
        free(codes);
        free(tripled);
    }
}

/* ---- Failing memory ----------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const int32_t codes[] = {1, 2, 3, 4, 5, 6};
    for (size_t init = 0; init < COUNT(all_inits); init++) {
        for (size_t n = 0;; n++) {
            alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
            cof_env env = alloc_env(&meter);
            cof_table *table;
            assert_int_equal(cof_table_from_codes(&env, codes, 6, 1, NULL, &table, NULL), COF_OK);
            rig *g = open_rig(table, (cof_fit_options){.k = 3, .init = all_inits[init]});
            cofi_rng_seed(&g->fit.rng, 1, 0);
            meter.fail_at = meter.count + n;
            cof_status status = try_begin(g, NULL);
            size_t live = meter.live;
            meter.fail_at = ALLOC_NEVER_FAILS;
            assert_int_equal(try_begin(g, NULL), COF_OK);             /* a failure spoils nothing */
            if (status == COF_OK) assert_int_equal(meter.live, live); /* nor does a second draw need more */
            close_rig(g);
            assert_int_equal(meter.live, 0);
            if (status == COF_OK) break;
            assert_int_equal(status, COF_ERR_MEMORY);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_differ_and_weigh),
        cmocka_unit_test(rare_rows_are_found),
        cmocka_unit_test(the_first_seed_goes_by_weight),
        cmocka_unit_test(the_second_seed_goes_by_distance),
        cmocka_unit_test(farthest_first),
        cmocka_unit_test(columns_weigh),
        cmocka_unit_test(weights_that_change_no_seed),
        cmocka_unit_test(cao_by_the_book),
        cmocka_unit_test(given_rows_are_taken_in_order),
        cmocka_unit_test(given_rows_that_cannot_be),
        cmocka_unit_test(folding_changes_no_seed),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
