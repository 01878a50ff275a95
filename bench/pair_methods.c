/* Time and memory of methods on generated tables, those that compare all pairs of columns above all.
 *
 *     pair_methods ROWS COLUMNS [METHOD...]
 *
 * Tables of uniform values, five a column, five clusters, one random start. Each method runs in a process of its
 * own, so that its peak memory is its own. Without methods: the six that compare pairs. */
#include "coforest_extra.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int run_method(const char *method, uint64_t n_rows, uint32_t n_columns)
{
    cof_generate_options g = {
        .struct_size = sizeof g, .n_rows = n_rows, .n_columns = n_columns, .n_values = 5, .seed = 1};
    cof_fit_options o = {
        .struct_size = sizeof o, .k = 5, .restarts = 1, .init = COF_INIT_RANDOM, .method = method};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_table *table = NULL;
    cof_model *model = NULL;
    cof_error err = {""};
    cof_status status = cof_table_generate(NULL, &g, &table, &err);
    if (status == COF_OK) status = cof_fit(table, &o, &model, &info, &err);
    if (status != COF_OK) {
        printf("%-10s %s\n", method, err.text);
        return 1;
    }
    printf("%-10s %8.2f s, %3u passes, %u threads", method, info.fit_s, info.passes, info.threads);
    fflush(stdout);
    cof_model_free(model);
    cof_table_free(table);
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const pairs[] = {"cbdm", "udm", "h2h", "hdc", "adc", "jdm:full"};
    if (argc < 3) {
        fprintf(stderr, "usage: pair_methods ROWS COLUMNS [METHOD...]\n");
        return 2;
    }
    uint64_t n_rows = strtoull(argv[1], NULL, 10);
    uint32_t n_columns = (uint32_t)strtoul(argv[2], NULL, 10);
    int n_methods = argc > 3 ? argc - 3 : (int)(sizeof pairs / sizeof *pairs);
    for (int m = 0; m < n_methods; m++) {
        struct rusage usage;
        int end;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) _exit(run_method(argc > 3 ? argv[3 + m] : pairs[m], n_rows, n_columns));
        if (child < 0 || wait4(child, &end, 0, &usage) < 0 || !WIFEXITED(end)) return 1;
        if (WEXITSTATUS(end) == 0)
            printf(", %.2f s of processor, peak %.0f MB\n",
                   (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec,
                   (double)usage.ru_maxrss / 1024);
    }
    return 0;
}
