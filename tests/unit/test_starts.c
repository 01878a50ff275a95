/* What holds of every start. */
#include "fit_helper.h"

#include "../../src/fit/loops.h"

/* From seeds to a settled partition. */
static void start(rig *g, uint64_t seed)
{
    cof_error err;
    begin(g, seed);
    assert_status(cofi_settle_kmodes(&g->fit, &err), COF_OK, &err);
}

/* After one pass from distinct seeds every cluster holds at least its own seed. */
static void no_cluster_begins_empty(void **state)
{
    (void)state;
    for (int32_t init = COF_INIT_KMEANS; init <= COF_INIT_HUANG; init++) {
        for (uint64_t round = 0; round < 20; round++) {
            cof_fit_options o = {.k = 9, .init = init, .max_passes = 1};
            rig *g = open_rig(random_table(round, 100, 5, 4, 3), o);
            start(g, round);
            for (uint32_t j = 0; j < o.k; j++) {
                assert_true(g->fit.partition.size[j] > 0);
                assert_int_equal(labels_of(&g->fit)[walked(g, g->fit.seeds.row[j])], j);
            }
            close_rig(g);
        }
    }
}

static void folding_changes_no_start(void **state)
{
    (void)state;
    enum { N = 150, L = 5 };
    for (int32_t init = COF_INIT_KMEANS; init <= COF_INIT_HUANG; init++) {
        cofi_rng rng = dice((uint64_t)init);
        int32_t *codes = random_codes(&rng, N, L, 4, 5), *tripled = get_zero(3 * N * L, sizeof *tripled);
        double weights[N];
        for (size_t i = 0; i < 3 * N; i++) memcpy(tripled + i * L, codes + i / 3 * L, L * sizeof *codes);
        for (size_t i = 0; i < N; i++) weights[i] = 3;
        cof_fit_options o = {.k = 5, .init = init};
        rig *folded = open_rig(table_of(tripled, 3 * N, L), o);
        o.weights = weights;
        rig *weighted = open_rig(table_of(codes, N, L), o);
        assert_true(is_folded(folded));
        start(folded, 7);
        start(weighted, 7);
        for (size_t i = 0; i < 3 * N; i++)
            assert_int_equal(labels_of(&folded->fit)[walked(folded, i)],
                             labels_of(&weighted->fit)[walked(weighted, i / 3)]);
        assert_int_equal(folded->fit.log.n_passes, weighted->fit.log.n_passes);
        close_rig(folded);
        close_rig(weighted);
        free(codes);
        free(tripled);
    }
}

/* Every number has a start, a name and a line for people; no two names are equal. */
static void starts_have_names(void **state)
{
    (void)state;
    assert_int_equal(cof_start_count(), COF_INIT_HUANG + 1);
    for (size_t i = 0; i < cof_start_count(); i++) {
        assert_string_equal(cof_start_name(i), cofi_start_of((int32_t)i)->name);
        assert_true(strlen(cof_start_title(i)) > 0);
        for (size_t t = 0; t < i; t++) assert_string_not_equal(cof_start_name(i), cof_start_name(t));
    }
    assert_null(cof_start_name(cof_start_count()));
    assert_null(cof_start_title(cof_start_count()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cluster_begins_empty),
        cmocka_unit_test(folding_changes_no_start),
        cmocka_unit_test(starts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
