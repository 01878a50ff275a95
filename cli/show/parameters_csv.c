#include "parameters_csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../column_choice.h"
#include "../complain.h"
#include "labels_csv.h"

/* A number, empty where it is not known. */
static void put_number(outfile *f, double x, const char *end)
{
    char digits[COF_NUMBER_BYTES];
    outfile_print(f, "%s%s", isnan(x) ? "" : cof_text_number(digits, sizeof digits, x), end);
}

static int open_study(const cof_model *model, const cof_table *table, uint32_t wanted,
                      cof_class_study **study)
{
    return complain_status(cof_class_study_open(model, table, NULL, wanted, study, &said), TASK_OUTPUT);
}

static void put_parameter(outfile *f, const char *column, const char *value, uint32_t cluster, double x,
                          double error)
{
    put_cell(f, column);
    outfile_put(f, ",", 1);
    put_cell(f, value);
    outfile_print(f, ",%" PRIu32 ",", cluster + 1);
    put_number(f, x, ",");
    put_number(f, error, "\n");
}

int write_parameters(outfile *f, const cof_model *model, const cof_table *table)
{
    cof_class_study *study = NULL;
    uint32_t k = cof_model_k(model);
    if (isnan(cof_model_class_share(model, 0)))
        return complain(CODE_FAILED,
                        "--parameters-out has nothing to write, because %s has no classes; leave it out",
                        cof_model_method(model));
    TRY(open_study(model, table, COF_STUDY_ERRORS, &study));
    TRY(outfile_open(f));
    outfile_print(f, "column,value,class,probability,standard_error\n");
    for (uint32_t j = 0; j < k; j++)
        put_parameter(f, "", "", j, cof_model_class_share(model, j), cof_class_study_share_error(study, j));
    for (size_t a = 0; a < cof_model_n_attributes(model); a++) {
        cof_attribute about = attribute_of(model, a);
        for (uint32_t j = 0; about.used && j < k; j++)
            for (uint32_t v = 0; v < about.n_values; v++)
                put_parameter(f, about.name, cof_model_value(model, a, v), j,
                              cof_model_class_probability(model, a, v, j),
                              cof_class_study_probability_error(study, a, v, j));
    }
    cof_class_study_free(study);
    return outfile_finish(f);
}

int write_cells(outfile *f, const cof_model *model, const cof_table *table)
{
    cof_class_study *study = NULL;
    size_t n = 0;
    TRY(open_study(model, table, 0, &study));
    const cof_class_cell *cell = cof_class_study_cells(study, &n);
    TRY(outfile_open(f));
    for (size_t a = 0; a < cof_model_n_attributes(model); a++) {
        cof_attribute about = attribute_of(model, a);
        if (!about.used) continue;
        put_cell(f, about.name);
        outfile_put(f, ",", 1);
    }
    outfile_print(f, "observed,expected\n");
    for (size_t c = 0; c < n; c++) {
        for (size_t a = 0; a < cof_model_n_attributes(model); a++) {
            cof_attribute about = attribute_of(model, a);
            if (!about.used) continue;
            size_t column = cof_table_find(table, about.name);
            put_cell(f, cof_table_value(table, column, cof_table_code(table, cell[c].row, column)));
            outfile_put(f, ",", 1);
        }
        put_number(f, cell[c].observed, ",");
        put_number(f, cell[c].expected, "\n");
    }
    cof_class_study_free(study);
    return outfile_finish(f);
}

int write_residuals(outfile *f, const cof_model *model, const cof_table *table)
{
    cof_class_study *study = NULL;
    TRY(open_study(model, table, COF_STUDY_RESIDUALS, &study));
    TRY(outfile_open(f));
    outfile_print(f, "column,other,residual\n");
    for (size_t a = 0; a < cof_model_n_attributes(model); a++)
        for (size_t b = a + 1; b < cof_model_n_attributes(model); b++) {
            double residual = cof_class_study_residual(study, a, b);
            if (isnan(residual)) continue;
            put_cell(f, attribute_of(model, a).name);
            outfile_put(f, ",", 1);
            put_cell(f, attribute_of(model, b).name);
            outfile_put(f, ",", 1);
            put_number(f, residual, "\n");
        }
    cof_class_study_free(study);
    return outfile_finish(f);
}

/* The place of a value among the probabilities of a start; `SIZE_MAX`: the table does not have it. */
static size_t place_of(const cof_table *table, int32_t missing, const char *column, const char *value)
{
    size_t before = 0;
    for (size_t c = 0; c < cof_table_n_columns(table); c++) {
        cof_column view = column_of(table, c);
        if (view.role != COF_ROLE_ATTRIBUTE) continue;
        uint32_t n = view.n_values + (view.n_missing > 0 && missing == COF_MISSING_VALUE);
        for (uint32_t v = 0; strcmp(view.name, column) == 0 && v < n; v++)
            if (strcmp(cof_table_value(table, c, v), value) == 0) return before + v;
        before += n;
    }
    return strcmp(column, "") == 0 ? before : SIZE_MAX; /* how many there are */
}

int read_start(const char *path, const cof_table *table, int32_t missing, uint32_t k, double **start,
               size_t *n)
{
    cof_read_options as_is = {.struct_size = sizeof as_is, .na = (const char *const[]){""}};
    cof_table *file = NULL;
    size_t n_values = place_of(table, missing, "", NULL), at[4];
    static const char *const names[] = {"column", "value", "class", "probability"};
    TRY(complain_status(cof_table_read(NULL, path, &as_is, &file, &said), TASK_TABLE));
    for (size_t i = 0; i < 4; i++)
        if ((at[i] = cof_table_find(file, names[i])) == SIZE_MAX)
            return complain(CODE_DATA, "%s is no start: it has no column \"%s\"", path, names[i]);
    *n = n_values * k;
    *start = keep(*n, sizeof **start);
    for (size_t i = 0; i < cof_table_n_rows(file); i++) {
        const char *cell[4];
        char *end;
        for (size_t c = 0; c < 4; c++) cell[c] = cof_table_cell(file, i, at[c]);
        if (*cell[0] == '\0') continue; /* a share */
        size_t place = place_of(table, missing, cell[0], cell[1]);
        unsigned long cluster = strtoul(cell[2], NULL, 10);
        double x = strtod(cell[3], &end);
        if (place == SIZE_MAX || cluster == 0 || cluster > k || *cell[3] == '\0' || *end != '\0')
            return complain(
                CODE_DATA,
                "%s, row %zu: the start names class %s of %u, column \"%s\" and value \"%s\" with the "
                "probability %s, which do not fit the table",
                path, i + 1, cell[2], k, cell[0], cell[1], cell[3]);
        (*start)[place * k + cluster - 1] = x;
    }
    cof_table_free(file);
    return CODE_DONE;
}
