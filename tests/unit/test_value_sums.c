/* Sums over values with equal scores that follow the changes of counts: the scores and L are those of all counts. */
#include "fit_helper.h"

#include "../../src/fit/criterion.h"
#include "../../src/fit/scores.h"

enum { ROWS = 9000, VALUES = 6000, K = 5, ROUNDS = 60 };

/* One column in which most values occur once or twice, so that most profiles are equal, and one of few values. */
static cof_table *sparse_table(void)
{
    cofi_rng rng = dice(5);
    int32_t *codes = get_zero(2 * ROWS, sizeof *codes);
    for (size_t i = 0; i < ROWS; i++) {
        codes[2 * i] = (int32_t)(i < VALUES ? i : below(&rng, VALUES));
        codes[2 * i + 1] = (int32_t)below(&rng, 3);
    }
    cof_table *table = table_of(codes, ROWS, 2);
    free(codes);
    return table;
}

static void set_scores(rig *g, bool rebuilds, bool clears)
{
    if (rebuilds) cofi_forest_build(&g->fit.forest, g->fit.partition.count, g->fit.partition.size);
    if (clears) cofi_profile_clear(&g->fit);
    cofi_scores_trace(&g->fit);
}

static void assert_same_scores(const rig *a, const rig *b)
{
    for (uint32_t g = 0; g < cofi_n_flat(&a->problem); g++)
        assert_memory_equal(cofi_score_of(&a->fit.scores, g), cofi_score_of(&b->fit.scores, g),
                            K * sizeof(int64_t));
    assert_memory_equal(a->fit.scores.base, b->fit.scores.base, K * sizeof(int64_t));
}

/* Rows move, clusters lose all rows and get some again, forests change, a saved partition comes back. */
static void sums_follow_all_changes(void **state)
{
    (void)state;
    cof_fit_options o = {.k = K, .threads = 2};
    rig *a = open_rig(sparse_table(), o), *b = open_rig(sparse_table(), o);
    cofi_rng rng = dice(6);
    int32_t *label = get_zero(ROWS, sizeof *label);
    cofi_kept *kept_a = NULL, *kept_b = NULL;
    size_t n_used = 0, n_empty = 0;
    cof_error err;
    b->fit.value_sums.most = 0; /* all counts are read every time */
    assert_true(a->fit.value_sums.most > 0);
    for (size_t i = 0; i < ROWS; i++) label[i] = (int32_t)(i % K);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        int32_t from = (int32_t)below(&rng, K), to = (int32_t)below(&rng, K);
        uint32_t one_in = round % 7 == 3 ? 1 : 200; /* now and then the whole cluster goes */
        uint64_t moved;
        for (size_t i = 0; i < ROWS && round > 0; i++)
            if (label[i] == from && below(&rng, one_in) == 0) label[i] = to;
        assert_status(cofi_partition_take(&a->fit.partition, label, &moved, &err), COF_OK, &err);
        assert_status(cofi_partition_take(&b->fit.partition, label, &moved, &err), COF_OK, &err);
        if (round > 0) {
            double all = cofi_objective(&b->fit.partition, &b->fit.scores);
            assert_near(cofi_trace_objective(&a->fit), all, 1e-12 * all);
        }
        bool rebuilds = round % 10 == 0, clears = round % 25 == 0;
        set_scores(a, rebuilds, clears);
        set_scores(b, rebuilds, clears);
        assert_same_scores(a, b);
        n_used += a->fit.value_sums.known;
        n_empty += cofi_count_empty(&a->fit.partition) > 0;
        assert_false(b->fit.value_sums.known);
        if (round == 20) {
            assert_status(cofi_partition_keep(&a->fit.partition, &kept_a, &err), COF_OK, &err);
            assert_status(cofi_partition_keep(&b->fit.partition, &kept_b, &err), COF_OK, &err);
        }
        if (round != 33) continue;
        assert_status(cofi_partition_recall(&a->fit.partition, kept_a, &err), COF_OK, &err);
        assert_status(cofi_partition_recall(&b->fit.partition, kept_b, &err), COF_OK, &err);
        assert_status(cofi_partition_labels(&a->fit.partition, NULL, ROWS, label, &err), COF_OK, &err);
    }
    assert_true(n_used > ROUNDS / 2 && n_empty > ROUNDS / 10);
    free(label);
    close_rig(a);
    close_rig(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_follow_all_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
