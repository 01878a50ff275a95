/* What the files of the glue share. */
#pragma once

#include <stdbool.h>

#include "coforest_extra.h"

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>

/* Handles are external pointers: the finalizer frees what an error of R leaves behind. */
SEXP glue_wrap_table(cof_table *table);
const cof_table *glue_table(SEXP pointer);

/* What R lends the library: interrupts and progress. Calls that are not long use NULL. */
const cof_env *glue_env(void);
void glue_begin(bool progress);
bool glue_interrupted(void); /* since glue_begin */
/* Raises an R error with the library's sentence. */
void glue_check(cof_status status, const cof_error *err);

SEXP glue_named_list(int n, const char *const *names);
SEXP glue_text(const char *text); /* a string of length 1 */

SEXP C_table(SEXP columns, SEXP names, SEXP n_rows);
SEXP C_advise(SEXP table, SEXP missing, SEXP rules, SEXP quantities);
SEXP C_roles(SEXP table, SEXP roles);
SEXP C_cut(SEXP table, SEXP column, SEXP bins);
SEXP C_fit(SEXP table, SEXP k, SEXP k_max, SEXP options, SEXP weights, SEXP column_weights, SEXP progress);
SEXP C_attributes(SEXP model);
SEXP C_model(SEXP model);
SEXP C_predict(SEXP model, SEXP table, SEXP threads);
SEXP C_distances(SEXP model, SEXP table, SEXP threads);
SEXP C_posterior(SEXP model, SEXP table, SEXP threads);
SEXP C_criteria(SEXP model, SEXP table, SEXP weights, SEXP threads);
SEXP C_study(SEXP model, SEXP table, SEXP weights);
SEXP C_unseen(SEXP model, SEXP table);
SEXP C_write(SEXP model);
SEXP C_read(SEXP bytes);
SEXP C_evaluate(SEXP a, SEXP b, SEXP weights);
SEXP C_report(SEXP model, SEXP table, SEXP file, SEXP source);
SEXP C_methods(void);
SEXP C_options(void);
