/* Rows in memory: declarations that the files of this folder share. */
#pragma once

#include "pass.h"
#include "rows.h"

/* The arrays belong to the problem unless it says otherwise. */
typedef struct cofi_local {
    cofi_rows base;
    cof_env env;
    /* the rows that a pass visits: the table's, or the distinct ones if folded */
    cofi_cells cells;
    size_t n_rows;          /* rows of the table */
    uint64_t first_row;     /* number of the first one: 0, unless the table is a part of a larger one */
    uint32_t *group;        /* table row -> row of `cells`, owned here; NULL: the identity */
    uint64_t *table_weight; /* per table row, in the problem's unit; NULL: 1 each */
    uint8_t *dropped;       /* per table row; NULL: no row is dropped */
    cofi_ids *ids;          /* `cells` points to it, and to the members below */
    void **gathered;        /* per column: its copied codes, owned here; NULL: the table's codes are used */
    size_t n_columns;
    uint64_t *row_weight;
    uint32_t *copies;
} cofi_local;

struct cofi_labels {
    cofi_blocks own;      /* what was kept, and the parts */
    cofi_blocks of_seeds; /* `near` and `block_mass` */
    cofi_pass pass;
    cofi_label *given; /* room for labels that a method found; NULL: none were given yet */
    /* per row of `cells`: Hamming distance to the nearest seed; NULL: no seed was added yet */
    uint32_t *near;
    uint64_t *block_mass; /* per block of table rows: summed mass */
    uint32_t n_seeds;
    uint32_t extreme;       /* the greatest `near` for COFI_FARTHEST, the least for COFI_NEAREST */
    cofi_expect_part *part; /* NULL: no E step was run yet */
    uint32_t n_parts;
    double *theta;            /* copies of the tables of the E step, log_pi last; NULL: they need none */
    cofi_coarse_part *coarse; /* NULL: no coarse E step was run yet */
    uint32_t n_coarse;
    size_t kept_step;  /* the step with which ids of rows are kept; 0: they are not */
    int32_t *surprise; /* the tables of the coarse E step */
};

static inline cofi_local *cofi_local_of(const cofi_rows *rows)
{
    return (cofi_local *)(void *)rows;
}

static inline size_t cofi_local_row(const cofi_local *local, uint64_t table_row)
{
    return local->group != NULL ? local->group[table_row] : (size_t)table_row;
}

static inline size_t cofi_n_blocks(size_t n_rows)
{
    return (n_rows + COFI_BLOCK_ROWS - 1) / COFI_BLOCK_ROWS;
}

/* Bytes of one id of a column with so many slots. */
static inline uint8_t cofi_local_width(uint32_t n_slots)
{
    return n_slots <= 1 << 8 ? 1 : n_slots <= 1 << 16 ? 2 : 4;
}

extern const cofi_rows_ops cofi_local_ops;
cofi_local *cofi_local_new(const cofi_problem *problem, cofi_rows **rows); /* NULL if memory is short */

/* Copies the listed rows of `from` into a block of its own, which becomes column r. */
bool cofi_local_gather(cofi_local *local, size_t r, cofi_ids from, const uint32_t *row, size_t n);

/* The number of groups of equal rows in which some row has a positive weight; `weight` as in cofi_cells. False: no memory. */
bool cofi_count_weighing(const cof_env *env, const uint32_t *group, uint32_t n_groups, const uint64_t *weight,
                         size_t n_rows, uint64_t *n);

/* Answers to questions; each is in the file of its name. */
cof_status cofi_local_pairs(cofi_rows *rows, const cofi_question *question, cof_error *err);
cof_status cofi_local_expect(cofi_partition *partition, cofi_expectation *e, cof_error *err);
cof_status cofi_local_add_seed(cofi_partition *partition, const uint32_t *cell, cof_error *err);
void cofi_local_drop_seeds(cofi_partition *partition);
cof_status cofi_local_draw(cofi_partition *partition, cofi_question *question, cof_error *err);
cof_status cofi_local_near(cofi_partition *partition, cofi_question *question);
cof_status cofi_local_masses(cofi_partition *partition, cofi_question *question);
cof_status cofi_local_merits(cofi_partition *partition, cofi_question *question);
cof_status cofi_local_densest(cofi_partition *partition, cofi_question *question);
