/* Clusters the built-in Zoo table and prints each cluster's animals. */
#include <coforest.h>
#include <stdio.h>

int main(void)
{
    cof_table *table = NULL;
    cof_model *model = NULL;
    cof_error err = {""};
    cof_fit_options options = {.struct_size = sizeof options, .k = 7, .seed = 1};

    cof_status status = cof_table_demo(NULL, &table, &err);
    if (status == COF_OK) {
        /* The animal's name would tell every row apart, and its class is what we hope to find. */
        cof_table_set_role(table, cof_table_find(table, "animal"), COF_ROLE_IDENTIFIER, NULL);
        cof_table_set_role(table, cof_table_find(table, "class"), COF_ROLE_LABEL, NULL);
        status = cof_fit(table, &options, &model, NULL, &err);
    }
    if (status == COF_OK) {
        const int32_t *label = cof_model_labels(model, NULL);
        for (int32_t j = 0; j < 7; j++) {
            printf("cluster %d:", (int)j + 1);
            for (size_t i = 0; i < cof_table_n_rows(table); i++)
                if (label[i] == j) printf(" %s", cof_table_value(table, 0, cof_table_code(table, i, 0)));
            printf("\n");
        }
    } else {
        fprintf(stderr, "%s\n", err.text);
    }
    cof_model_free(model);
    cof_table_free(table);
    return status == COF_OK ? 0 : 1;
}
