/* Dependence between attributes inside clusters: what one tree of attribute pairs, shared by all clusters, adds to the
 * integrated likelihood of a partition. It is measured on rows that are fetched once. */
#pragma once

#include "fit.h"

/* Unchanged after opening, so that all lanes may use it. */
typedef struct cofi_dependence {
    const cofi_problem *problem;
    size_t n_rows;     /* 0: trees are not measured, every result is 0 */
    uint64_t *row;     /* n_rows: row numbers of the table */
    uint16_t *cell;    /* [attribute][row] */
    uint32_t *weight;  /* n_rows: row weights in units of `step` */
    bool weighted;     /* some of them are not 1 */
    double *log_gamma; /* [n]: log gamma(1/2 + n steps) - log gamma(1/2) */
    double step;
    double scale;  /* weight of the table over the weight of these rows */
    double of_one; /* what the tree adds if all rows are in one cluster */
} cofi_dependence;

/* `own` receives the memory. */
cof_status cofi_dependence_open(cofi_blocks *own, cofi_rows *rows, cofi_team *team,
                                cofi_dependence *dependence, cof_error *err);
/* *added: what the tree adds to the log-likelihood of the partition; never negative. NULL: all rows are one cluster. */
cof_status cofi_dependence_measure(const cofi_dependence *dependence, cofi_team *team,
                                   const cofi_partition *partition, double *added, cof_error *err);
/* Opens, measures one partition, and closes. */
cof_status cofi_dependence_of(cofi_rows *rows, cofi_team *team, const cofi_partition *partition,
                              double *added, cof_error *err);
