/* What a fit knows about its table without reading a row: attributes, values, totals. */
#pragma once

#include "../core/shape.h"
#include "../table/table.h"

/* A quantity that is kept as a number. */
typedef struct cofi_quantity {
    size_t column; /* number of the column in the table */
    cofi_reading reading;
    double *value;        /* per value id: scaled as options.scale says; NaN: missing */
    double origin, unit;  /* the point of a scaled value is origin + unit * value */
    double least, most;   /* of the scaled values */
    double column_weight; /* 1 unless the caller says otherwise */
} cofi_quantity;

typedef struct cofi_problem {
    cof_env env;
    cofi_blocks own;
    const cof_table *table; /* names and dictionaries */
    size_t n_candidates;    /* columns with role attribute, including constant ones */
    size_t *candidate;      /* their column numbers in the table */
    size_t n_attrs;         /* candidates that have at least two values */
    size_t *column;         /* n_attrs: column number in the table */
    /* n_attrs + 1: first flat id of each attribute; an ignored missing cell has its own id, the last */
    uint32_t *first;
    /* n_attrs: number of values; includes the missing value if that is treated as a value */
    uint32_t *n_values;
    uint32_t *n_present; /* n_attrs: number of values that occur in rows of positive weight */
    uint32_t *n_bins; /* n_attrs: its first values are so many bins of a quantity, in order; 0: categories */
    /* per flat id: the values of each attribute in the order in which ties between them are decided; NULL: by id */
    const uint32_t *order;
    /* number of quantities; in a row, their cells follow those of the attributes */
    size_t n_numeric;
    cofi_quantity *quantity;
    double *column_weight; /* n_attrs; NULL: all weigh 1 */
    /* n_attrs + n_numeric: what a difference adds to the distance between a row and a seed; NULL: 1 each */
    uint32_t *seed_units;
    uint64_t n_table_rows;
    uint64_t n_walked; /* rows that a pass visits; fewer than the table's if equal rows are folded */
    uint64_t n_dropped;
    uint64_t n_distinct; /* number of distinct rows, valid if `counted`; at least k */
    bool counted;
    /* sum over all rows, below 2^43, so that weight times attributes summed over rows fits 64 bits */
    uint64_t total_weight;
    double unit; /* number of units in a weight of 1 as the caller gave it */
    int32_t missing;
    bool one_at_a_time; /* the rows answer one question at a time, on the thread of the caller */
} cofi_problem;

static inline double cofi_column_weight(const cofi_problem *p, size_t r)
{
    return p->column_weight != NULL ? p->column_weight[r] : 1;
}

static inline uint32_t cofi_n_flat(const cofi_problem *p)
{
    return p->first[p->n_attrs];
}

/* The greatest distance between a row and a seed. */
static inline size_t cofi_seed_reach(const cofi_problem *p)
{
    size_t reach = 0;
    for (size_t r = 0; r < p->n_attrs + p->n_numeric; r++)
        reach += p->seed_units != NULL ? p->seed_units[r] : 1;
    return reach;
}

/* The steps in which an implementation of rows fills in the problem. */
cof_status cofi_problem_set_candidates(cofi_problem *problem, cof_error *err);
cof_status cofi_problem_open_attributes(cofi_problem *problem, cof_error *err); /* none yet */
/* Number of the column's values, including the missing one if that is treated as a value. */
uint32_t cofi_problem_n_values(const cofi_problem *problem, const cofi_column *column);
/* The same, and one for an ignored missing cell. */
uint32_t cofi_problem_n_slots(const cofi_problem *problem, const cofi_column *column);
/* One for each column of the table; NULL: all weigh 1. After the attributes and the quantities. */
cof_status cofi_problem_set_column_weights(cofi_problem *problem, const double *given, cof_error *err);
/* Leaves out a column of which fewer than two values are present. */
cof_status cofi_problem_add_attribute(cofi_problem *problem, size_t column, uint32_t n_present,
                                      cof_error *err);
enum { COFI_MOST_SEED_UNITS = 64 };
/* Fails if no attribute is left. One cluster needs none that varies: then the first, a constant, is kept. */
cof_status cofi_problem_check_attributes(cofi_problem *problem, uint32_t k, cof_error *err);
/* Gaps between the values that are present; 1 for the constant that one cluster of equal rows keeps. */
static inline double cofi_problem_n_gaps(const cofi_problem *problem, size_t attr)
{
    uint32_t n = problem->n_present[attr];
    return n > 1 ? n - 1 : 1;
}
cof_status cofi_problem_check_k(const cofi_problem *problem, uint32_t k, cof_error *err);

/* Weights become integers, so that sums do not depend on their order. Whole weights are kept; others are rounded to
 * multiples of a power of two that keeps the total below 2^42.
 * rows: how many rows have each of the n weights; NULL: one each. */
cof_status cofi_weights_unit(const double *weight, const uint64_t *rows, size_t n, uint64_t n_rows,
                             double *unit, cof_error *err);
uint64_t cofi_weight_units(double weight, double unit);

cof_status cofi_missing_error(const cofi_column *column, uint64_t row, cof_error *err);
cof_status cofi_all_dropped_error(cof_error *err);

void cofi_problem_close(cofi_problem *problem); /* allowed after a failed open */
