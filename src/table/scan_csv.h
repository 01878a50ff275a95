/* The fast way to read a large CSV file: several threads, a stretch of lines each. */
#ifndef COFI_SCAN_CSV_H
#define COFI_SCAN_CSV_H

#include "input.h"
#include "parse_csv.h"

/* Reads what it can be sure of: a regular file or memory, not compressed, no quotes inside cells nor quoted
 * delimiters, no NUL bytes, every line with as many cells as the first. NULL for anything else, failures, a stop and lack of memory among it: that
 * is for the serial parser, which knows what to say. The table is the one it would make, for any number of
 * threads; 0 is as many as there are cores. dialect->delimiter may still be 0. */
cof_table *cofi_scan_csv(const cof_env *env, const cofi_source *source, const cofi_dialect *dialect,
                         uint32_t threads);

#endif
