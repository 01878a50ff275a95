/* The rows that the caller names as seeds. */
#include "../fit/loops.h"
#include "seeds.h"
#include "starts.h"

static cof_status set_given(cofi_fit *fit, uint32_t j, cof_error *err)
{
    uint64_t row = fit->host.o.init_rows[j];
    int32_t label = 0;
    if (row >= fit->problem->n_table_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT, "initial row %llu does not exist; the table has %llu rows",
                         (unsigned long long)row + 1, (unsigned long long)fit->problem->n_table_rows);
    cof_status status = cofi_partition_labels(&fit->partition, &row, 1, &label, err);
    if (status == COF_OK && label < 0)
        status = cofi_fail(err, COF_ERR_ARGUMENT, "initial row %llu was dropped for a missing value",
                           (unsigned long long)row + 1);
    if (status == COF_OK) status = cofi_seeds_set(fit, j, row, false, err);
    if (status == COF_OK && cofi_seeds_repeats(fit, j))
        status = cofi_fail(err, COF_ERR_ARGUMENT,
                           "initial row %llu equals an earlier one in every attribute; "
                           "the initial rows must all differ",
                           (unsigned long long)row + 1);
    return status;
}

static cof_status run(cofi_fit *fit, void *state, uint32_t *same_as, cof_error *err)
{
    cof_status status = COF_OK;
    (void)state;
    (void)same_as;
    for (uint32_t j = 0; j < fit->partition.k && status == COF_OK; j++) status = set_given(fit, j, err);
    if (status == COF_OK) cofi_modes_from_seeds(fit);
    return status;
}

const cofi_start cofi_start_given = {
    .name = "given", .title = "k-modes from rows that the caller names", .once = true, .run = run};
