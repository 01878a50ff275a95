/* One fit, labels on standard output: bench_fit_labels TABLE K METHOD SEED. METHOD is default, paper or the name of
 * another method; K is a number or auto. The classes are in the column "class". The first line is the seconds
 * the fit took. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class_table.h"

static int complain(const char *text)
{
    fprintf(stderr, "fit_labels: %s\n", text);
    return 1;
}

static int fit(const cof_table *table, char **argv)
{
    cof_error err;
    cof_model *model;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = (uint32_t)strtoul(argv[2], NULL, 10),
                         .seed = strtoull(argv[4], NULL, 10),
                         .threads = 1};
    if (strcmp(argv[3], "paper") == 0) {
        o.init = COF_INIT_RANDOM;
        o.restarts = 1;
    } else if (strcmp(argv[3], "default") != 0) {
        o.method = argv[3];
    }
    cof_status status = o.k > 0 ? cof_fit(table, &o, &model, &info, &err)
                                : cof_fit_auto(table, &o, 0, 0, &model, &info, &err);
    if (status != COF_OK) return complain(err.text);
    size_t n = 0;
    const int32_t *label = cof_model_labels(model, &n);
    printf("%.6f\n", info.fit_s);
    for (size_t i = 0; i < n; i++) printf("%d\n", (int)label[i]);
    cof_model_free(model);
    return 0;
}

int main(int argc, char **argv)
{
    cof_error err;
    cof_table *table;
    if (argc != 5) return complain("usage: bench_fit_labels TABLE K METHOD SEED");
    if (read_class_table(argv[1], &table, &err) != COF_OK) return complain(err.text);
    int code = fit(table, argv);
    cof_table_free(table);
    return code;
}
