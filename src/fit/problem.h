/* A table made ready for clustering: the attributes that vary, rows folded where many are equal, weights as
 * integers. */
#ifndef COFI_PROBLEM_H
#define COFI_PROBLEM_H

#include "../core/shape.h"
#include "../table/table.h"

typedef struct cofi_problem {
    cof_env env;
    const cof_table *table;
    size_t n_candidates; /* columns with role attribute, used or not */
    size_t *candidate;   /* their table columns */
    size_t n_attrs;      /* those that vary */
    size_t *column;      /* n_attrs: table column of each */
    uint32_t *first;     /* n_attrs + 1: flat ids; an ignored missing cell has one of its own, the last */
    uint32_t *n_values;  /* n_attrs: values that count; the missing one too if it is a value */
    uint32_t *n_present; /* n_attrs: those that some weighted row holds */
    size_t n_numeric;    /* quantities beside them; their ids follow the attributes' in rows.ids */
    double **quantity;   /* per quantity and id: scaled to 0..1 over the table; NaN: missing */
    cofi_rows rows;      /* what the pass walks: the table's rows, or the distinct ones */
    size_t n_table_rows;
    uint32_t *group;        /* table row -> row of `rows`; NULL: the same */
    uint64_t *table_weight; /* per table row, in units; NULL: 1 each */
    uint8_t *dropped;       /* per table row; NULL: none is */
    uint64_t n_dropped;
    uint64_t n_distinct; /* rows that differ, if they were counted; there are at least k */
    bool counted;
    uint64_t total_weight; /* of all rows, below 2^43: a sum of weight times attributes fits 64 bits */
    double unit;           /* weight 1 of the caller's is this many units */
    int32_t missing;
    /* owned, behind `rows` */
    cofi_ids *ids;
    void **gathered;
    uint64_t *row_weight;
    uint32_t *copies;
} cofi_problem;

/* `fold`: equal rows may be walked as one, unless there are quantities. */
cof_status cofi_problem_open(const cof_table *table, const cof_fit_options *options, bool fold,
                             cofi_problem *problem, cof_error *err);
void cofi_problem_close(cofi_problem *problem); /* fine after a failed open */
/* Attribute r becomes these rows of `from`, in a block of the problem's own. */
bool cofi_problem_gather(cofi_problem *problem, size_t r, cofi_ids from, const uint32_t *row, size_t n);

#endif
