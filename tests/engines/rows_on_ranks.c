/* Every rank has a table of its own: rank r reads the CSV file argv[1 + r], or has no rows if that is "none". Prints the
 * label of every row, one rank after another, then the objective. The last column is cut into 4 bins. */
#include "coforest_mpi.h"

static int fail(const char *what, const cof_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    return 1;
}

static int drive(cof_mpi *m, const cof_table *rows, cof_schema *schema, int32_t *labels, size_t n,
                 cof_error *err)
{
    cof_fit_options options = {.struct_size = sizeof options, .k = 3, .restarts = 3, .seed = 1};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_cut_options bins = {.struct_size = sizeof bins, .bins = 4};
    cof_model *model = NULL;
    size_t last = cof_table_n_columns(cof_schema_table(schema)) - 1;
    cof_status status = cof_schema_cut(schema, last, &bins, err);
    if (status == COF_OK) status = cof_mpi_open(m, rows, 0, schema, 1, err);
    cof_shards shards = cof_mpi_shards(m);
    if (status == COF_OK) status = cof_fit_shards(NULL, schema, &options, &shards, &model, &info, err);
    cof_error late = *err;
    cof_status labelled = cof_mpi_end(m, model, labels, n, &late);
    if (status == COF_OK) printf("%.17g\n", info.objective), fflush(stdout);
    cof_model_free(model);
    cof_schema_free(schema);
    return status != COF_OK ? fail("fit", err) : labelled != COF_OK ? fail("labels", &late) : 0;
}

int main(int argc, char **argv)
{
    cof_mpi m;
    cof_error err = {""};
    cof_table *rows = NULL;
    cof_schema *schema = NULL;
    uint64_t first = 0;
    int code = 0;
    MPI_Init(&argc, &argv);
    cof_mpi_begin(&m, MPI_COMM_WORLD);
    const char *path = argv[1 + m.rank];
    int n_ranks = m.n_ranks, rank = m.rank;
    if (strcmp(path, "none") != 0 && cof_table_read(NULL, path, NULL, &rows, &err) != COF_OK)
        fail(path, &err);
    size_t n = rows != NULL ? cof_table_n_rows(rows) : 0;
    int32_t *labels = malloc((n + 1) * sizeof *labels);
    cof_status status = cof_mpi_schema(&m, rows, &first, &schema, &err);
    if (rank > 0)
        cof_mpi_serve(&m, rows, first, 1, labels, n, &err);
    else if (status == COF_OK)
        code = drive(&m, rows, schema, labels, n, &err);
    else
        code = fail("schema", &err), cof_mpi_end(&m, NULL, NULL, 0, &err);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int turn = 0; code == 0 && turn < n_ranks; turn++) {
        char name[600];
        snprintf(name, sizeof name, "%s.%d", argv[1 + n_ranks], rank);
        FILE *out = turn == rank ? fopen(name, "w") : NULL;
        for (size_t i = 0; out != NULL && i < n; i++) fprintf(out, "%d\n", (int)labels[i]);
        if (out != NULL) fclose(out);
    }
    free(labels);
    cof_table_free(rows);
    MPI_Finalize();
    return code;
}
