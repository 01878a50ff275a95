/* The CSV reader behind cof_table_read, open to tests that choose the block size. */
#ifndef COFI_READ_CSV_H
#define COFI_READ_CSV_H

#include "input.h"

/* env as the caller gave it, options NULL or not; the outcome does not depend on source->block_bytes. */
cof_status cofi_read_csv(const cof_env *env, const cofi_source *source, const cof_read_options *options,
                         cof_table **out, cof_error *err);

#endif
