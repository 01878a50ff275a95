/* How long a pass takes here, kernel by kernel, beside merely reading the codes: the one way of measuring. */
#ifndef COFI_SPEED_H
#define COFI_SPEED_H

#include "rows.h"

/* `options` with every member filled in; `speeds` has room for COF_MOST_SPEEDS. */
cof_status cofi_measure_passes(const cof_env *env, cofi_rows *rows, const cof_bench_options *options,
                               cof_speed *speeds, size_t *n_speeds, cof_error *err);

#endif
