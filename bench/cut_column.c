/* How long it takes to cut one column of numbers.
 *
 *     bench_cut_column [ROWS [DISTINCT]]        10,000,000 rows and 100,000 distinct values if nothing is said
 *
 * Values are fractions written with six digits. Prints the median of five cuts, each of the column as it was read. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "coforest_extra.h"

enum { ROUNDS = 5, BYTES = 32 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID,
                  &t); /* other work on the machine does not count; one thread cuts */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0x7FB5D329728EA185);
    return (x ^ (x >> 27)) * UINT64_C(0x81DADEF4BC2DD44D);
}

static cof_table *make_table(size_t n_rows, size_t n_distinct)
{
    cof_table *table = NULL;
    cof_error err = {{0}};
    const char **cells = malloc(n_rows * sizeof *cells);
    char(*text)[BYTES] = malloc(n_distinct * sizeof *text);
    if (cells == NULL || text == NULL) return NULL;
    for (size_t v = 0; v < n_distinct; v++) snprintf(text[v], BYTES, "%zu.%06zu", v / 1000000, v % 1000000);
    for (size_t i = 0; i < n_rows; i++)
        cells[i] = text[n_rows == n_distinct ? (i * 7919) % n_rows : scramble(i) % n_distinct];
    if (cof_table_from_strings(NULL, cells, n_rows, 1, NULL, &table, &err) != COF_OK)
        fprintf(stderr, "%s\n", err.text);
    free(cells);
    free(text);
    return table;
}

int main(int argc, char **argv)
{
    size_t n_rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    size_t n_distinct = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    double seconds[ROUNDS];
    cof_table *table = make_table(n_rows, n_distinct);
    if (table == NULL) return 1;
    for (int round = 0; round < ROUNDS; round++) {
        cof_error err;
        double began = now_s();
        if (cof_table_cut(table, 0, NULL, &err) != COF_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        seconds[round] = now_s() - began;
    }
    cof_column about = {.struct_size = sizeof about};
    cof_table_column(table, 0, &about);
    printf("%zu rows, %zu distinct: %.3f processor seconds for %u bins\n", n_rows, n_distinct,
           cof_quantile(seconds, ROUNDS, 0.5), about.n_values);
    cof_table_free(table);
    return 0;
}
