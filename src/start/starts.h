/* The starts by number. A new one is a file with a cofi_start in it, a line in starts.c and a number in coforest.h. */
#ifndef COFI_STARTS_H
#define COFI_STARTS_H

#include "../fit/method.h"

const cofi_start *cofi_start_of(int32_t init); /* init below cof_start_count() */
extern const cofi_start cofi_start_given;      /* the rows of options.init_rows; it has no number */

#endif
