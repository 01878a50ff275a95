/* The partition of every start of the default, not only of the one kept: bench_starts TABLE K STARTS SEED. The
 * classes are in the column "class". For each start a line: 1 if it was refined by likelihood, else 0; L; then the
 * labels. */
#include <stdio.h>
#include <stdlib.h>

#include "../src/fit/method.h"
#include "class_table.h"

static int complain(const char *text)
{
    fprintf(stderr, "starts: %s\n", text);
    return 1;
}

static void print_start(const cofi_engine *e)
{
    printf("%d %.17g", cofi_by_likelihood(e), e->objective);
    for (size_t i = 0; i < e->problem->n_table_rows; i++) printf(" %d", (int)cofi_table_label(e, i));
    putchar('\n');
}

/* As a fit goes through its restarts (src/fit/fit.c). */
static cof_status run_starts(cofi_engine *e, cof_error *err)
{
    const cofi_method *method = cofi_method_find(NULL);
    void *state = NULL;
    cof_status status = method->open(e, &state, err);
    if (status == COF_OK && e->scouted) {
        method->close(e, state);
        return cofi_fail(err, COF_ERR_ARGUMENT, "the starts of so many rows are tried on a sample");
    }
    for (e->restart = 0; e->restart < e->o.restarts && status == COF_OK; e->restart++) {
        e->same_as = COFI_NONE;
        e->n_passes = e->rebuild = 0;
        cofi_rng_seed(&e->rng, e->o.seed, e->restart);
        status = cofi_begin(e, err);
        if (status == COF_OK) status = method->run(e, state, err);
        if (status == COF_OK) print_start(e);
    }
    method->close(e, state);
    return status;
}

static cof_status run(const cof_table *table, char **argv, cof_error *err)
{
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = (uint32_t)strtoul(argv[2], NULL, 10),
                         .restarts = (uint32_t)strtoul(argv[3], NULL, 10),
                         .seed = strtoull(argv[4], NULL, 10),
                         .select = COF_SELECT_BALANCE,
                         .max_passes = 51,
                         .max_rebuilds = 51,
                         .threads = 1};
    cofi_problem problem;
    cofi_engine e;
    cof_status status = cofi_problem_open(table, &o, true, &problem, err);
    if (status == COF_OK) {
        status = cofi_engine_open(&problem, &o, &e, err);
        if (status == COF_OK) status = run_starts(&e, err);
        cofi_engine_close(&e);
    }
    cofi_problem_close(&problem);
    return status;
}

int main(int argc, char **argv)
{
    cof_error err;
    cof_table *table;
    if (argc != 5) return complain("usage: bench_starts TABLE K STARTS SEED");
    if (read_class_table(argv[1], &table, &err) != COF_OK) return complain(err.text);
    int code = run(table, argv, &err) == COF_OK ? 0 : complain(err.text);
    cof_table_free(table);
    return code;
}
