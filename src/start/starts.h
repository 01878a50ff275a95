/* The starts by number. A new one is a file with a cofi_start, a line in starts.c and a number in
 * coforest.h. */
#pragma once

#include "../fit/method.h"

const cofi_start *cofi_start_of(int32_t init); /* init must be less than cof_start_count() */
/* the rows of options.init_rows; this start has no number */
extern const cofi_start cofi_start_given;
