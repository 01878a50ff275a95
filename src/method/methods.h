/* The methods by name. A new one is a file with a cofi_method and a line in methods.c. */
#pragma once

#include "../fit/method.h"

/* NULL if there is no such method; a NULL name means coforest */
const cofi_method *cofi_method_find(const char *name);

/* Whether every option lies within its bounds. */
cof_status cofi_fit_options_check(const cof_fit_options *o, cof_error *err);

/* What only the library itself can ask of a fit. */
typedef struct cofi_fit_hints {
    uint32_t half, most_k;       /* as in cofi_opening */
    bool unfolded;               /* equal rows are not folded, which changes the time but no result */
    const cofi_coarser *coarser; /* for half of the portfolio's restarts; NULL: none */
    double *tree;                /* receives what a tree of dependent attributes adds to the log-likelihood of
                                    the kept partition (fit/dependence.h); NULL: it is not measured */
} cofi_fit_hints;

/* cof_fit, without a look at other numbers of clusters. */
cof_status cofi_fit_table(const cof_table *table, const cof_fit_options *options, cofi_fit_hints hints,
                          cof_model **out, cof_fit_info *info, cof_error *err);
