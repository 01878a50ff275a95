/* The fast way to read a large CSV file: several threads, each with a stretch of lines. */
#pragma once

#include "input.h"
#include "parse_csv.h"

/* Reads a regular file or memory that is not compressed, without quotes inside cells, quoted delimiters or
 * NUL bytes, and with the same number of cells in every line. Returns NULL in all other cases, including
 * errors, a request to stop and lack of memory: the serial parser then reads the file and explains the
 * error. The table is the same as that of the serial parser, for any number of threads; 0 threads: one per
 * core. dialect->delimiter may be 0. */
cof_table *cofi_scan_csv(const cof_env *env, const cofi_source *source, const cofi_dialect *dialect,
                         uint32_t threads);
