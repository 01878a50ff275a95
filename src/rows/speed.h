/* The time of a pass on this machine for each kernel, and the time of reading the codes for comparison. */
#pragma once

#include "rows.h"

/* Every member of `options` is filled in; `speeds` has room for COF_MOST_SPEEDS. */
cof_status cofi_measure_passes(const cof_env *env, cofi_rows *rows, const cof_bench_options *options,
                               cof_speed *speeds, size_t *n_speeds, cof_error *err);
