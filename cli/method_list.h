/* The library's methods as the options, help and completions name them. */
#pragma once

#include "coforest_extra.h"
#include "options.h"

/* What --methods takes: the names of sets, then the methods. */
const choice *method_set_choices(void);

/* Method numbers of a list such as "kmodes,lca" or "paper", each once, in the order given. Exit codes. */
int parse_methods(const char *text, size_t **method, size_t *n);

/* COForest and what was cut from it: the methods that --variant changes. */
bool has_variants(const char *method);
bool has_trees(const cof_model *model);
