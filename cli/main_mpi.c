/* coforest-mpi: `coforest fit` on an encoded table whose rows are read by the ranks of an MPI run. Rank 0 runs the program
 * as it is; the others open their stretch of the table when it says so, and answer its requests. */
#include "coforest_mpi.h"

#include <signal.h>
#include <unistd.h>

#include "complain.h"
#include "progress.h"
#include "run.h"
#include "verbs/fit_job.h"

static cof_mpi mpi;
static bool opened; /* the ranks have been told to open their rows */

typedef struct order {
    uint64_t n_rows, threads; /* of the table; asked for on each rank */
} order;

/* Ranks on one machine share its cores. */
static uint32_t own_threads(uint64_t asked)
{
    MPI_Comm here;
    int n = 1;
    MPI_Comm_split_type(mpi.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &n);
    MPI_Comm_free(&here);
    long each = sysconf(_SC_NPROCESSORS_ONLN) / n;
    return asked > 0 ? (uint32_t)asked : each > 1 ? (uint32_t)each : 1;
}

/* The stretch of this rank; a rank without rows reads nothing. */
static cof_status read_own(const char *path, uint64_t n_rows, uint32_t threads, uint64_t *first,
                           cof_table **rows, cof_error *err)
{
    uint64_t each = (n_rows + (uint64_t)mpi.n_ranks - 1) / (uint64_t)mpi.n_ranks;
    cof_read_options o = {.struct_size = sizeof o, .threads = threads};
    o.first_row = (uint64_t)mpi.rank * each;
    *first = o.first_row < n_rows ? o.first_row : n_rows;
    *rows = NULL;
    o.n_rows = n_rows - *first < each ? n_rows - *first : each;
    return o.n_rows > 0 ? cof_table_read(NULL, path, &o, rows, err) : COF_OK;
}

static cof_table *own_rows; /* of rank 0; outlives the requests */

static cof_status open_ranks(const char *path, const cof_schema *schema, uint32_t threads, cof_shards *shards,
                             cof_error *err)
{
    order o = {cof_schema_n_rows(schema), threads};
    uint64_t first;
    cof_mpi_spread(&mpi, path, strlen(path) + 1);
    cof_mpi_spread(&mpi, &o, sizeof o);
    opened = true;
    size_t n = strlen(program_name);
    if (n > 4 && strcmp(program_name + n - 4, "-mpi") == 0) /* what is suggested next is for coforest */
        program_name = keep_text("%.*s", (int)n - 4, program_name);
    uint32_t own = own_threads(threads);
    cof_status status = read_own(path, o.n_rows, own, &first, &own_rows, err);
    status = cof_mpi_settle(&mpi, status, err);
    if (status == COF_OK) status = cof_mpi_open(&mpi, own_rows, first, schema, own, err);
    *shards = cof_mpi_shards(&mpi);
    return status;
}

static const far_rows over_mpi = {"MPI", open_ranks};

static const char help[] =
    "coforest-mpi: clusters the rows of an encoded table over MPI\n\n"
    "Usage: mpirun -n N coforest-mpi fit TABLE.cofe -k K [options]\n\n"
    "Every rank reads its own rows of the table, and rank 0 writes the results, which are those of\n"
    "\"coforest fit\". \"coforest encode\" makes the table; all ranks must find it under its name. The\n"
    "options are those of \"coforest fit --help\", apart from those that need the labels of all rows at\n"
    "once: --margins-out, --table-out, --alternatives-out, --memberships-out.\n";

static int run_verb(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    bool asks_help = strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    if (asks_help) return fputs(help, stdout) < 0 ? CODE_FAILED : CODE_DONE;
    if (strcmp(word, "fit") == 0 || strcmp(word, "--version") == 0) return run_program(argc, argv);
    return complain(CODE_USAGE,
                    "coforest-mpi only fits encoded tables: mpirun -n 4 coforest-mpi fit table.cofe -k 5");
}

static int drive(int argc, char **argv)
{
    cof_error err;
    far = &over_mpi;
    progress_lines_s = 10;
    setenv("TERM", "dumb", 1); /* mpirun gives a rank a terminal, whatever its own output is */
    int code = run_verb(argc, argv);
    if (opened)
        cof_mpi_end(&mpi, NULL, NULL, 0, &err);
    else
        cof_mpi_spread(&mpi, NULL, 0);
    cof_table_free(own_rows);
    return code;
}

/* Rank 0 decides what a signal means; mpirun kills who does not end. */
static void work(void)
{
    order o;
    uint64_t first;
    cof_table *rows;
    cof_error err;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    cof_mpi_spread(&mpi, NULL, 0);
    if (mpi.n_bytes == 0) return;
    char *path = strdup(mpi.bytes);
    cof_mpi_spread(&mpi, NULL, 0);
    memcpy(&o, mpi.bytes, sizeof o);
    uint32_t own = own_threads(o.threads);
    cof_status status = read_own(path != NULL ? path : "", o.n_rows, own, &first, &rows, &err);
    cof_mpi_settle(&mpi, status, &err);
    cof_mpi_serve(&mpi, rows, first, own, NULL, 0, &err);
    cof_table_free(rows);
    free(path);
}

int main(int argc, char **argv)
{
    int code = CODE_DONE;
    MPI_Init(&argc, &argv);
    cof_mpi_begin(&mpi, MPI_COMM_WORLD);
    if (mpi.rank == 0)
        code = drive(argc, argv);
    else
        work();
    MPI_Finalize();
    return code;
}
