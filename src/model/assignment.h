/* The rows of a table as a model scores them: for every value of the table the scores of the model's value, or others of
 * the same shape. */
#pragma once

#include "../core/team.h"
#include "view.h"

enum { COFI_ROW_BLOCK = 4096 }; /* rows that one thread goes over at a time */

typedef struct cofi_assignment {
    cofi_blocks own;
    const cof_model *m;
    const cof_table *t;
    cofi_view view;
    uint8_t *unseen;  /* per flat id of the table: the model does not have the value */
    bool any_unknown; /* a value or a missing cell of the table adds nothing */
    cofi_scores scores;
    cofi_ids *numeric_ids;  /* per numeric column of the model: codes of the rows */
    double **numeric_value; /* by code: scaled; NaN: missing, infinite: cannot be read */
    uint8_t *dropped;       /* per row; NULL: no row is dropped */
    cofi_team *team;
    char *scratch; /* per worker: sums of a row, and as many numbers */
    size_t scratch_size;
} cofi_assignment;

/* `scores`: those of the model's values, n_flat x stride. Close it also after a failure, and if all members are zero. */
cof_status cofi_assignment_open(cofi_assignment *a, const cof_model *model, const cof_table *table,
                                const cofi_scores *scores, uint32_t threads, cof_error *err);
/* Finds the numeric columns of the model; a part of opening, for callers that need no scores. They set the environment of
 * `own`, m and t. */
cof_status cofi_assignment_read_numbers(cofi_assignment *a, cof_error *err);
void cofi_assignment_close(cofi_assignment *a);

/* Calls the task for each of n rows from `first` on, in blocks of COFI_ROW_BLOCK rows. sum: of the row's categories, for the k
 * clusters and the padding of the scores; number: room for as many. */
typedef void (*cofi_row_task)(void *ctx, size_t row, int64_t *sum, double *number);
void cofi_assignment_run(const cofi_assignment *assignment, size_t first, size_t n, cofi_row_task task,
                         void *ctx);
/* What the numeric columns of a row add to its distance from cluster j. */
double cofi_assignment_apart(const cofi_assignment *a, size_t row, uint32_t j);

/* The scaled number of a row; NaN: missing, infinite: cannot be read. */
static inline double cofi_assignment_numeric(const cofi_assignment *a, size_t c, size_t row)
{
    return a->numeric_value[c][cofi_id(a->numeric_ids[c], row)];
}
