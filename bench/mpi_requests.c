/* What a request costs over MPI: mpirun -n 2 bench_mpi_requests.
 *
 * Every rank has 20 rows, so that passes take no time. Fits them by the same calls as coforest-mpi, one restart after the
 * other, and prints the seconds of every request as a list in JSON. */
#include "coforest_mpi.h"

#include <stdio.h>
#include <stdlib.h>

enum { N_ROWS = 20, N_COLUMNS = 20, N_VALUES = 5, MOST = 1 << 16 };

typedef struct timed {
    cof_shards to;
    double second[MOST];
    size_t n;
} timed;

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    timed *t = ctx;
    double begun_s = MPI_Wtime();
    int failed = t->to.ask(t->to.ctx, request, n_bytes, sum, n_words);
    if (t->n < MOST) t->second[t->n++] = MPI_Wtime() - begun_s;
    return failed;
}

static void must(cof_status status, const cof_error *err)
{
    if (status == COF_OK) return;
    fprintf(stderr, "bench_mpi_requests: %s\n", err->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static cof_table *make_rows(int rank)
{
    int32_t codes[N_ROWS * N_COLUMNS];
    uint32_t state = (uint32_t)rank + 1;
    cof_table *rows;
    cof_error err;
    for (size_t at = 0; at < sizeof codes / sizeof *codes; at++) {
        state = state * 1664525 + 1013904223;
        codes[at] = (int32_t)((state >> 16) % N_VALUES);
    }
    must(cof_table_from_codes(NULL, codes, N_ROWS, N_COLUMNS, NULL, &rows, &err), &err);
    return rows;
}

static void drive(cof_mpi *m, const cof_table *rows, const cof_schema *schema)
{
    static timed t;
    cof_fit_options o = {.struct_size = sizeof o, .k = 5, .restarts = 3, .seed = 1, .threads = 1};
    cof_model *model;
    cof_error err;
    must(cof_mpi_open(m, rows, 0, schema, 1, &err), &err);
    t.to = cof_mpi_shards(m);
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask, .ctx = &t, .together = 1};
    must(cof_fit_shards(NULL, schema, &o, &shards, &model, NULL, &err), &err);
    must(cof_mpi_end(m, NULL, NULL, 0, &err), &err);
    for (size_t i = 0; i < t.n; i++) printf("%s%.9f", i == 0 ? "[" : ", ", t.second[i]);
    puts("]");
    cof_model_free(model);
}

int main(int argc, char **argv)
{
    cof_mpi m;
    cof_schema *schema = NULL;
    cof_error err;
    uint64_t first;
    MPI_Init(&argc, &argv);
    cof_mpi_begin(&m, MPI_COMM_WORLD);
    cof_table *rows = make_rows(m.rank);
    must(cof_mpi_schema(&m, rows, &first, &schema, &err), &err);
    if (m.rank > 0)
        must(cof_mpi_serve(&m, rows, first, 1, NULL, 0, &err), &err);
    else
        drive(&m, rows, schema);
    cof_schema_free(schema);
    cof_table_free(rows);
    MPI_Finalize();
    return 0;
}
