/* The partition of every start of the default, not only of the one kept: bench_starts TABLE K STARTS SEED. The
 * classes are in the column "class". For each start a line: 1 if it was refined by likelihood, else 0; L; then the
 * labels. */
#include <stdio.h>
#include <stdlib.h>

#include "../src/method/methods.h"
#include "../src/start/starts.h"
#include "class_table.h"

static int complain(const char *text)
{
    fprintf(stderr, "starts: %s\n", text);
    return 1;
}

typedef struct starts {
    cofi_problem problem;
    cofi_rows *rows;
    cofi_fit fit;
    const cofi_start *start;
    void *state, *start_state;
    int32_t *label;
} starts;

static cof_status print_start(const starts *s, cof_error *err)
{
    const cofi_log *log = &s->fit.log;
    size_t n = s->problem.n_table_rows;
    cof_status status = cofi_partition_labels(&s->fit.partition, NULL, n, s->label, err);
    if (status != COF_OK) return status;
    printf("%d %.17g", log->refiner == COFI_BY_LIKELIHOOD, log->objective);
    for (size_t i = 0; i < n; i++) printf(" %d", (int)s->label[i]);
    putchar('\n');
    return COF_OK;
}

/* As a fit goes through its restarts (src/fit/restarts.c). */
static cof_status run_starts(starts *s, cof_error *err)
{
    cofi_fit *fit = &s->fit;
    uint32_t *same_as = cofi_blocks_add(&fit->own, fit->host.o.restarts, sizeof *same_as);
    if (same_as == NULL) return cofi_no_memory(err);
    for (uint32_t r = 0; r < fit->host.o.restarts; r++) same_as[r] = COFI_NONE;
    cof_status status = s->start->prepare(fit, s->start_state, 1, same_as, err);
    for (uint32_t restart = 0; restart < fit->host.o.restarts && status == COF_OK; restart++) {
        fit->log.restart = restart;
        fit->log.n_passes = fit->log.rebuild = 0;
        fit->log.refiner = COFI_BY_METHOD;
        cofi_rng_seed(&fit->rng, fit->host.o.seed, restart);
        cofi_partition_forget(&fit->partition);
        if (same_as[restart] != COFI_NONE)
            status = cofi_fail(err, COF_ERR_ARGUMENT,
                               "a start tried on a sample of so many rows repeats an earlier one");
        if (status == COF_OK) status = s->start->run(fit, s->start_state, err);
        if (status == COF_OK) status = fit->method->run(fit, s->state, err);
        if (status == COF_OK) status = print_start(s, err);
    }
    return status;
}

static cof_status open_starts(starts *s, const cof_table *table, const cof_fit_options *o, cof_error *err)
{
    const cofi_method *method = cofi_method_find(NULL);
    s->start = cofi_start_of(o->init);
    s->label = malloc(cof_table_n_rows(table) * sizeof *s->label);
    if (s->label == NULL) return cofi_no_memory(err);
    cof_status status = cofi_rows_open(table, o, (cofi_opening){.fold = true}, &s->problem, &s->rows, err);
    if (status == COF_OK) status = cofi_fit_open(s->rows, method, o, &s->fit, err);
    if (status == COF_OK) status = method->open(&s->fit, &s->state, err);
    return status == COF_OK ? s->start->open(&s->fit, NULL, &s->start_state, err) : status;
}

static void close_starts(starts *s)
{
    if (s->start_state != NULL && s->start->close != NULL) s->start->close(&s->fit, s->start_state);
    cofi_fit_close(&s->fit);
    cofi_rows_close(s->rows);
    cofi_problem_close(&s->problem);
    free(s->label);
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
    starts s = {.rows = NULL};
    cof_status status = open_starts(&s, table, &o, err);
    if (status == COF_OK) status = run_starts(&s, err);
    close_starts(&s);
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
