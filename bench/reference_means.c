/* Means of many random starts beside those of the methods' specification, for every method and table.
 *
 *     reference_means [STARTS [TABLE... [METHOD...]]]
 *
 * Tables by abbreviation (HR CE ... LS), methods by name; without them all. The data are looked for in
 * COFOREST_DATA, else in ../shared/data beside the source tree. Prints our mean and deviation of CA, the
 * specification's, and by how many standard errors of both they differ. */
#include "../tests/unit/reference_helper.h"

#include <time.h>

static bool named(const char *name, int argc, char **argv, bool tables)
{
    bool any = false;
    for (int a = 2; a < argc; a++) {
        bool is_table = argv[a][0] >= 'A' && argv[a][0] <= 'Z';
        if (is_table != tables) continue;
        any = true;
        if (strcmp(argv[a], name) == 0) return true;
    }
    return !any;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns whether the two means are more than four standard errors apart. */
static int compare_cell(const reference_row *row, size_t at, const cof_table *table, const int32_t *classes,
                        uint32_t starts)
{
    const reference_mean *theirs = &row->ca[at];
    reference_run run;
    reference_sum ca = {0, 0, 0};
    cof_error err = {""};
    cof_indices scores;
    double began = now_s(), their_runs = at == NS ? REFERENCE_RUNS_NS : REFERENCE_RUNS;
    cof_status status =
        reference_open(&run, table, classes, reference_tables[at].k, row->method, row->variant, 0, &err);
    for (uint32_t start = 0; status == COF_OK && start < starts; start++) {
        status = reference_start(&run, start, &scores, &err);
        if (status == COF_OK) reference_add(&ca, scores.ca);
    }
    reference_close(&run);
    printf("%-3s %-14s %-7s", reference_tables[at].abbreviation, row->method,
           row->variant == COF_VARIANT_AUTHORS ? "authors" : "");
    if (status != COF_OK) {
        bool expected = status == COF_ERR_NO_RESULT && theirs->mean == NONE;
        printf("%s%s\n", expected ? "-, as it should be" : "FAILED: ", expected ? "" : err.text);
        return !expected;
    }
    double z = reference_z(&ca, theirs, their_runs);
    printf("%.4f +- %.4f   %.3f +- %.2f   z %+6.2f   %.2f s%s\n", reference_mean_of(&ca),
           reference_deviation_of(&ca), theirs->mean, theirs->deviation, z, now_s() - began,
           fabs(z) > 4 ? "   <--" : "");
    fflush(stdout);
    return fabs(z) > 4;
}

int main(int argc, char **argv)
{
    uint32_t starts = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000;
    int apart = 0, compared = 0;
    for (size_t at = 0; at < N_REFERENCE_TABLES; at++) {
        cof_table *table = NULL;
        int32_t *classes = NULL;
        cof_error err = {""};
        if (!named(reference_tables[at].abbreviation, argc, argv, true)) continue;
        if (reference_read(&reference_tables[at], COF_SOURCE_DIR, &table, &classes, &err) != COF_OK) {
            fprintf(stderr, "reference_means: %s\n", err.text);
            return 2;
        }
        for (size_t m = 0; m < REFERENCE_COUNT(reference_ca); m++) {
            if (!named(reference_ca[m].method, argc, argv, false)) continue;
            apart += compare_cell(&reference_ca[m], at, table, classes, starts);
            compared++;
        }
        cof_table_free(table);
        free(classes);
    }
    printf("%d of %d means are more than 4 standard errors from the specification's\n", apart, compared);
    return 0;
}
