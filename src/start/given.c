/* The rows that the caller names as seeds. */
#include "../fit/loops.h"
#include "seeds.h"
#include "starts.h"

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    for (uint32_t j = 0; j < fit->partition.k; j++) {
        uint64_t row = fit->host.o.init_rows[j];
        unsigned long long shown = (unsigned long long)row + 1;
        int32_t label = 0;
        if (row >= fit->problem->n_table_rows)
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "initial row %llu does not exist; the table has %llu rows", shown,
                             (unsigned long long)fit->problem->n_table_rows);
        COFI_TRY(cofi_partition_labels(&fit->partition, &row, 1, &label, err));
        if (label < 0)
            return cofi_fail(err, COF_ERR_ARGUMENT, "initial row %llu was dropped for a missing value",
                             shown);
        COFI_TRY(cofi_seeds_set(fit, j, row, false, err));
        if (cofi_seeds_repeats(fit, j))
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "initial row %llu equals an earlier one in every attribute; "
                             "the initial rows must all differ",
                             shown);
    }
    cofi_modes_from_seeds(fit);
    return COF_OK;
}

const cofi_start cofi_start_given = {
    .name = "given", .title = "k-modes from rows that the caller names", .once = true, .run = run};
