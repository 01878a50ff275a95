/* Trials that begin with equal partitions share what follows; on threads as on one. */
#include "fit_helper.h"

#include "../../src/start/trials.h"

#include <stdatomic.h>

enum { ROWS = 600, KINDS = 3, RESTARTS = 10, K = 4 };

static atomic_uint n_improved;

static cof_status open_nothing(cofi_fit *fit, void **state, cof_error *err)
{
    (void)fit, (void)err;
    *state = NULL;
    return COF_OK;
}

/* One of three partitions, whose clusters every restart numbers in its own way. */
static cof_status take_one_of_three(cofi_fit *fit, cof_error *err)
{
    uint32_t restart = fit->log.restart;
    size_t n = (size_t)fit->problem->n_table_rows;
    int32_t label[ROWS];
    uint64_t moved;
    for (size_t i = 0; i < n; i++) label[i] = (int32_t)((i / (1 + restart % KINDS) + restart) % K);
    fit->log.refiner = restart % 2 == 0 ? COFI_BY_METHOD : COFI_BY_LIKELIHOOD;
    return cofi_partition_take(&fit->partition, label, &moved, err);
}

/* Moves the first row, which changes the partition. */
static cof_status move_a_row(cofi_fit *fit, void *state, cof_error *err)
{
    int32_t label[ROWS];
    uint64_t moved;
    (void)state;
    atomic_fetch_add(&n_improved, 1);
    COFI_TRY(cofi_partition_labels(&fit->partition, NULL, (size_t)fit->problem->n_table_rows, label, err));
    label[0] = (label[0] + 1) % K;
    return cofi_partition_take(&fit->partition, label, &moved, err);
}

static const cofi_trial_start three = {.open = open_nothing, .run = take_one_of_three, .improve = move_a_row};

static void equal_first_partitions_share_what_follows(void **state)
{
    (void)state;
    uint32_t first[RESTARTS];
    for (uint32_t n_lanes = 1; n_lanes <= 3; n_lanes++) {
        cof_fit_options o = {.k = K, .restarts = RESTARTS, .max_passes = 1, .max_rebuilds = 1};
        rig *g = open_rig(random_table(4, 2000, 5, 4, 3), o);
        cofi_trials *trials = NULL;
        uint32_t same_as[RESTARTS];
        cof_error err;
        memset(same_as, 0xFF, sizeof same_as);
        atomic_store(&n_improved, 0);
        assert_status(cofi_trials_open(&g->fit, ROWS, &trials, &err), COF_OK, &err);
        assert_non_null(trials);
        assert_status(cofi_trials_run(trials, &three, &g->fit, n_lanes, same_as, &err), COF_OK, &err);
        assert_int_equal(atomic_load(&n_improved), KINDS);
        for (uint32_t r = 0; r < RESTARTS; r++) /* equal partition and refiner: six kinds */
            assert_true(r < 2 * KINDS || same_as[r] <= r - 2 * KINDS);
        if (n_lanes == 1) memcpy(first, same_as, sizeof first);
        assert_memory_equal(same_as, first, sizeof first);
        cofi_trials_close(trials);
        close_rig(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_first_partitions_share_what_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
