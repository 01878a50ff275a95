/* Fits one table, saves the model, loads it again and labels new rows with it. */
#include <coforest.h>
#include <stdio.h>

static cof_status fit_and_save(const char *path, cof_error *err)
{
    cof_table *table = NULL;
    cof_model *model = NULL;
    cof_fit_options options = {.struct_size = sizeof options, .k = 2, .seed = 1};
    cof_status status = cof_table_read(NULL, "data/voting.csv", NULL, &table, err);
    if (status == COF_OK) {
        cof_table_set_role(table, cof_table_find(table, "class"), COF_ROLE_LABEL, NULL);
        status = cof_fit(table, &options, &model, NULL, err);
    }
    if (status == COF_OK) status = cof_model_save(model, path, err);
    cof_model_free(model);
    cof_table_free(table);
    return status;
}

static cof_status load_and_predict(const char *path, cof_error *err)
{
    cof_table *table = NULL;
    cof_model *model = NULL;
    int32_t label[435];
    cof_predict_info info = {.struct_size = sizeof info};
    cof_status status = cof_model_load(NULL, path, &model, err);
    if (status == COF_OK) status = cof_table_read(NULL, "data/voting.csv", NULL, &table, err);
    if (status == COF_OK) status = cof_model_predict(model, table, 1, label, 435, &info, err);
    if (status == COF_OK) {
        int in_first = 0;
        for (int i = 0; i < 435; i++) in_first += label[i] == 0;
        printf("%d and %d members, %d cells with unseen values\n", in_first, 435 - in_first,
               (int)info.n_unseen_cells);
    }
    cof_model_free(model);
    cof_table_free(table);
    return status;
}

int main(void)
{
    const char *path = "build-example.cofm";
    cof_error err = {""};
    cof_status status = fit_and_save(path, &err);
    if (status == COF_OK) status = load_and_predict(path, &err);
    remove(path);
    if (status != COF_OK) fprintf(stderr, "%s\n", err.text);
    return status == COF_OK ? 0 : 1;
}
