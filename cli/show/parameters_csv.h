/* Shares and probabilities of the classes of lca as CSV, for people and as a start. */
#pragma once

#include "coforest_extra.h"
#include "../outfiles.h"

/* column,value,class,probability,standard_error: first the shares, with an empty column and value. Exit codes. */
int write_parameters(outfile *f, const cof_model *model, const cof_table *table);
/* The columns of the model, observed,expected: every pattern of values that occurs in a row without a missing cell. */
int write_cells(outfile *f, const cof_model *model, const cof_table *table);
/* column,other,residual: the bivariate residual of every pair of columns. */
int write_residuals(outfile *f, const cof_model *model, const cof_table *table);
/* Reads such a file as a start for k classes of the attributes of a table; the shares are not needed, classes may come in
 * any order, and a value that is not listed has the probability 0. *n probabilities. */
int read_start(const char *path, const cof_table *table, int32_t missing, uint32_t k, double **start,
               size_t *n);
