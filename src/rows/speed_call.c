/* The public benchmark: runs on a table's attributes as a fit would, with equal rows not folded. */
#include "speed.h"

enum { DEFAULT_K = 5, DEFAULT_ROUNDS = 5, MOST_ROUNDS = 1000000 };

cof_status cof_bench(const cof_table *table, const cof_bench_options *options, cof_speed *speeds,
                     size_t *n_speeds, cof_error *err)
{
    cof_bench_options o;
    cofi_problem problem;
    cofi_rows *rows;
    COFI_COPY_OPTIONS(&o, options);
    if (o.k == 0) o.k = DEFAULT_K;
    if (o.rounds == 0) o.rounds = DEFAULT_ROUNDS;
    if (o.rounds > MOST_ROUNDS)
        return cofi_fail(err, COF_ERR_ARGUMENT, "rounds are limited to %d", MOST_ROUNDS);
    cof_fit_options fit = {.struct_size = sizeof fit, .k = o.k, .restarts = 1, .init = COF_INIT_KMEANS};
    cof_status status = cofi_rows_open_table(table, &fit, false, &problem, &rows, err);
    if (status == COF_OK) status = cofi_measure_passes(&table->env, rows, &o, speeds, n_speeds, err);
    cofi_rows_close(rows);
    cofi_problem_close(&problem);
    return status;
}
