/* The CSV reader of cof_table_read, with a block size that tests can choose. */
#pragma once

#include "input.h"

/* `env` is the caller's; `options` may be NULL. The result does not depend on source->block_bytes. */
cof_status cofi_read_csv(const cof_env *env, const cofi_source *source, const cof_read_options *options,
                         cof_table **out, cof_error *err);
