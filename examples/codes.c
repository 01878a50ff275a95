/* A table of integer codes from memory, with row weights; prints labels and one attribute's order tree. */
#include <coforest.h>
#include <stdio.h>

int main(void)
{
    static const int32_t codes[] = {
        0, 0, 2, 1, /* one row after the other */
        1, 0, 0, 1, /* */
        1, 1, 0, 1, /* */
        2, 0, 1, 0, /* */
        2, 0, 2, 1, /* */
        2, 0, 2, 1, /* */
    };
    static const double weights[] = {1, 2, 1, 1, 1, 1};
    static const uint64_t first_modes[] = {1, 4}; /* rows, from 0 */
    cof_table *table = NULL;
    cof_model *model = NULL;
    cof_error err = {""};
    cof_fit_options options = {
        .struct_size = sizeof options, .k = 2, .init_rows = first_modes, .weights = weights, .threads = 1};

    cof_status status = cof_table_from_codes(NULL, codes, 6, 4, NULL, &table, &err);
    if (status == COF_OK) status = cof_fit(table, &options, &model, NULL, &err);
    if (status == COF_OK) {
        size_t n_edges;
        const cof_edge *edge = cof_model_edges(model, 0, &n_edges);
        for (size_t i = 0; i < 6; i++)
            printf("row %zu: cluster %d\n", i, (int)cof_model_labels(model, NULL)[i]);
        for (size_t e = 0; e < n_edges; e++)
            printf("%s -- %s %.4f\n", cof_model_value(model, 0, edge[e].u),
                   cof_model_value(model, 0, edge[e].v), edge[e].length);
    } else {
        fprintf(stderr, "%s\n", err.text);
    }
    cof_model_free(model);
    cof_table_free(table);
    return status == COF_OK ? 0 : 1;
}
