/* Huang's frequency start: k rows that differ, near to values drawn by frequency. */
#include "fit_helper.h"

static cof_fit_options huang(uint32_t k, uint64_t seed)
{
    return (cof_fit_options){
        .struct_size = sizeof(cof_fit_options), .k = k, .seed = seed, .init = COF_INIT_HUANG};
}

/* The seeds that a start chooses, told by a single pass of k-modes. */
static void choose(rig *g)
{
    cof_error err;
    assert_status(g->start->run(&g->fit, g->start_state, &err), COF_OK, &err);
}

static void seeds_differ(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        rig *g = open_rig(random_table(seed, 60, 3, 3, 4), huang(6, seed));
        cofi_rng_seed(&g->fit.rng, seed, 0);
        choose(g);
        for (uint32_t j = 0; j < 6; j++)
            for (uint32_t t = 0; t < j; t++)
                assert_memory_not_equal(g->fit.seeds.cell + 3 * j, g->fit.seeds.cell + 3 * t,
                                        3 * sizeof(uint32_t));
        close_rig(g);
    }
}

/* As many clusters as there are distinct rows: every one of them becomes a seed, however rare. */
static void every_distinct_row_can_be_needed(void **unused)
{
    (void)unused;
    static const int32_t codes[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2};
    cof_table *table = table_of(codes, 10, 2);
    cof_fit_options o = huang(3, 1);
    cof_model *model = fit_model(table, &o, NULL);
    const int32_t *label = cof_model_labels(model, &(size_t){0});
    assert_int_not_equal(label[0], label[8]);
    assert_int_not_equal(label[8], label[9]);
    assert_int_not_equal(label[0], label[9]);
    cof_model_free(model);
    cof_table_free(table);
}

/* One column, values 0 (ninety rows) and 1 (ten): the first seed holds 0 nine times in ten. */
static void values_come_by_frequency(void **unused)
{
    (void)unused;
    int32_t codes[100];
    for (size_t i = 0; i < 100; i++) codes[i] = i % 10 == 0;
    rig *g = open_rig(table_of(codes, 100, 1), huang(2, 1));
    int n_frequent = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        cofi_rng_seed(&g->fit.rng, seed, 0);
        choose(g);
        n_frequent += g->fit.seeds.cell[0] == 0;
    }
    assert_in_range(n_frequent, 860, 940); /* four standard deviations of 900 */
    close_rig(g);
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    cof_table *table = random_table(5, 20000, 8, 5, 6);
    cof_fit_options one = huang(6, 3), three = one;
    one.threads = 1;
    three.threads = 3;
    cof_model *a = fit_model(table, &one, NULL), *b = fit_model(table, &three, NULL);
    assert_same_labels(a, b);
    cof_model_free(a);
    cof_model_free(b);
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(every_distinct_row_can_be_needed),
        cmocka_unit_test(values_come_by_frequency),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
