/* What a fit knows about its table without looking at a row: attributes, values, totals. */
#ifndef COFI_PROBLEM_H
#define COFI_PROBLEM_H

#include "../core/shape.h"
#include "../table/table.h"

typedef struct cofi_problem {
    cof_env env;
    const cof_table *table; /* names and dictionaries */
    size_t n_candidates;    /* columns with role attribute, used or not */
    size_t *candidate;      /* their table columns */
    size_t n_attrs;         /* those that vary */
    size_t *column;         /* n_attrs: table column of each */
    uint32_t *first;        /* n_attrs + 1: flat ids; an ignored missing cell has one of its own, the last */
    uint32_t *n_values;     /* n_attrs: values that count; the missing one too if it is a value */
    uint32_t *n_present;    /* n_attrs: those that some weighted row holds */
    size_t n_numeric;       /* quantities beside them; their cells follow the attributes' */
    double **quantity;      /* per quantity and id: scaled to 0..1 over the table; NaN: missing */
    uint64_t n_table_rows;
    uint64_t n_walked; /* rows that a pass visits: fewer where equal ones are folded into one */
    uint64_t n_dropped;
    uint64_t n_distinct; /* rows that differ, if they were counted; there are at least k */
    bool counted;
    uint64_t total_weight; /* of all rows, below 2^43: a sum of weight times attributes fits 64 bits */
    double unit;           /* weight 1 of the caller's is this many units */
    int32_t missing;
} cofi_problem;

static inline uint32_t cofi_n_flat(const cofi_problem *p)
{
    return p->first[p->n_attrs];
}

void cofi_problem_close(cofi_problem *problem);        /* fine after a failed open */
void cofi_problem_close_sample(cofi_problem *problem); /* releases only what a sample has of its own */

#endif
