/* Finds equal rows. Equal rows always share a label, so they can be scored once. */
#pragma once

#include "../core/env.h"
#include "../core/shape.h"

/* group[i] numbers the distinct rows in order of first appearance; *n_groups is their number. Returns
 * COF_OK, COF_ERR_MEMORY, or COF_ERR_DATA if there are more rows than 32 bits can number. */
cof_status cofi_dedupe(const cof_env *env, const cofi_ids *ids, size_t n_attrs, size_t n_rows,
                       uint32_t *group, uint32_t *n_groups);

/* A sample of n_sample rows, runs of neighbours that are spread over the table: how many of them weigh anything, and how many
 * of these differ. Only hashes are compared, so a few distinct rows may count as equal. `weight` NULL: all rows weigh. */
cof_status cofi_dedupe_sample(const cof_env *env, const cofi_ids *ids, size_t n_attrs, size_t n_rows,
                              const uint64_t *weight, size_t n_sample, size_t *n_weighing, size_t *n_differ);
