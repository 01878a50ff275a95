/* Which rows are equal. Equal rows always share a label, so they can be scored once. */
#ifndef COFI_DEDUPE_H
#define COFI_DEDUPE_H

#include "../core/env.h"
#include "../core/shape.h"

/* group[i] numbers the distinct rows in order of first appearance; *n_groups says how many there are.
 * COF_OK, COF_ERR_MEMORY, or COF_ERR_DATA for more rows than a 32-bit number can name. */
cof_status cofi_dedupe(const cof_env *env, const cofi_ids *ids, size_t n_attrs, size_t n_rows,
                       uint32_t *group, uint32_t *n_groups);

/* How many of n_sample rows differ, one by chance from each of as many stretches. By hashes alone, so a few
 * that differ may pass for equal. */
cof_status cofi_dedupe_sample(const cof_env *env, const cofi_ids *ids, size_t n_attrs, size_t n_rows,
                              size_t n_sample, size_t *n_differ);

#endif
