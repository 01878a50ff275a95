/* What holds of every start. */
#include "fit_helper.h"

#include "../../src/fit/loops.h"
#include "../../src/method/methods.h"

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

/* Few distinct rows, some with missing cells; the first of equal rows may weigh nothing. */
static cof_table *repeated_rows(uint64_t seed, size_t n, size_t n_distinct, bool weighted)
{
    enum { L = 4 };
    cofi_rng rng = dice(seed);
    int32_t *codes = random_codes(&rng, n_distinct, L, 4, 5), *all = get_zero(n * (L + 1), sizeof *all);
    for (size_t d = 0; d < n_distinct; d += 7) codes[d * L + d % L] = -1;
    for (size_t i = 0; i < n; i++) {
        memcpy(all + i * (L + 1), codes + below(&rng, (uint32_t)n_distinct) * L, L * sizeof *codes);
        all[i * (L + 1) + L] = (int32_t)below(&rng, 4);
    }
    cof_table *table = table_of(all, n, L + 1);
    cof_table_set_role(table, L, weighted ? COF_ROLE_WEIGHT : COF_ROLE_IGNORED, NULL);
    free(codes);
    free(all);
    return table;
}

/* Whether equal rows are folded changes no label, no figure, and not the number of restarts. */
static void check_folding(const cof_table *table, const cof_fit_options *o)
{
    cof_model *model[2];
    cof_fit_info info[2] = {{.struct_size = sizeof *info}, {.struct_size = sizeof *info}};
    cof_error err;
    size_t n = cof_table_n_rows(table);
    for (int fold = 0; fold < 2; fold++)
        assert_status(cofi_fit_table(table, o, (cofi_fit_hints){.unfolded = fold == 0}, &model[fold],
                                     &info[fold], &err),
                      COF_OK, &err);
    assert_memory_equal(cof_model_labels(model[0], NULL), cof_model_labels(model[1], NULL),
                        n * sizeof(int32_t));
    assert_true(info[0].objective == info[1].objective);
    assert_true(info[0].log_likelihood == info[1].log_likelihood);
    assert_int_equal(info[0].n_restarts, info[1].n_restarts);
    assert_int_equal(info[0].best_restart, info[1].best_restart);
    assert_int_equal(info[0].passes, info[1].passes);
    for (int fold = 0; fold < 2; fold++) cof_model_free(model[fold]);
}

static void folding_changes_no_result(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        bool large = seed == 5; /* large: starts are tried on a sample */
        cof_table *table = repeated_rows(seed, large ? 20000 : 400, large ? 3000 : 90, seed % 2 == 1);
        cof_fit_options o = {.struct_size = sizeof o, .k = 4, .seed = seed, .threads = 1};
        o.missing = (int32_t)(seed % 3);
        check_folding(table, &o); /* all defaults */
        o.restarts = 3;
        for (int32_t init = COF_INIT_KMEANS; init <= COF_INIT_HUANG; init++) {
            o.init = init;
            check_folding(table, &o);
        }
        o.method = "lca";
        o.init = COF_INIT_KMEANS;
        check_folding(table, &o);
        cof_table_free(table);
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
        cmocka_unit_test(folding_changes_no_result),
        cmocka_unit_test(starts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
