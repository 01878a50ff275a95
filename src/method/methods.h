/* The methods by name. A new one is a file with a cofi_method and a line in methods.c. */
#pragma once

#include "../fit/method.h"

/* NULL if there is no such method; a NULL name means coforest */
const cofi_method *cofi_method_find(const char *name);

/* cof_fit; may_fold: equal rows may be folded, which changes the time but no result. */
cof_status cofi_fit_table(const cof_table *table, const cof_fit_options *options, bool may_fold,
                          cof_model **out, cof_fit_info *info, cof_error *err);
