/* The public call that returns the value distances of methods which compute them once. */
#include "km.h"
#include "methods.h"

/* Such a method has a cofi_distances as its state. Toy graphs have one too, but draw their distances in every
 * restart. */
static bool measures_once(const cofi_method *m)
{
    static const char *const names[] = {"lsm", "cbdm", "udm", "hdc", "adc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(m->name, names[i]) == 0) return true;
    return false;
}

cof_status cof_value_distances(const cof_table *table, const cof_fit_options *options,
                               double *const *distances, cof_error *err)
{
    cof_fit_options o;
    cofi_problem problem;
    cofi_fit fit = {.problem = NULL};
    cofi_rows *rows;
    void *state = NULL;
    COFI_COPY_OPTIONS(&o, options);
    const cofi_method *method = cofi_method_find(o.method);
    if (method == NULL || !measures_once(method))
        return cofi_fail(err, COF_ERR_ARGUMENT, "%s has no distances between values before it clusters",
                         o.method == NULL ? "coforest" : o.method);
    if (o.k == 0) o.k = 1; /* value distances do not depend on k */
    o.restarts = o.max_passes = o.max_rebuilds = 1;
    cof_status status = cofi_rows_open(table, &o, (cofi_opening){.fold = true}, &problem, &rows, err);
    bool pairs = (method->flags & COFI_METHOD_PAIRS) != 0;
    if (status == COF_OK && pairs && problem.n_attrs < 2)
        status = cofi_fail(err, COF_ERR_NO_COLUMNS, "%s needs at least two columns that vary", method->name);
    if (status == COF_OK) status = cofi_fit_open(rows, method, &o, &fit, err);
    if (status == COF_OK) status = method->open(&fit, &state, err);
    for (size_t c = 0; status == COF_OK && c < table->n_columns; c++) { /* columns that take no part have 0 */
        const cofi_column *column = &table->column[c];
        size_t n = column->n_values + (column->n_missing > 0 && o.missing == COF_MISSING_VALUE ? 1u : 0u);
        if (distances[c] != NULL) memset(distances[c], 0, n * n * sizeof **distances);
    }
    for (size_t r = 0; status == COF_OK && r < problem.n_attrs; r++) {
        size_t n = problem.n_values[r], c = problem.column[r];
        if (distances[c] != NULL)
            memcpy(distances[c], cofi_distances_of(&fit, state, r, 0), n * n * sizeof **distances);
    }
    cofi_fit_close(&fit);
    cofi_rows_close(rows);
    cofi_problem_close(&problem);
    return status;
}
