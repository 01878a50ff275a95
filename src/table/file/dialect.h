/* Finds the delimiter from a file's name or from its first line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Tab for .tsv and .tab, also if .gz or .zst follows; 0 for any other name. */
char cofi_delimiter_of_name(const char *name);

/* Counts the candidate delimiters in the first line that is not blank, which may come in pieces.
 * Initialise it with zeros. */
typedef struct cofi_guess {
    size_t n[4];                 /* commas, tabs, semicolons, bars outside quotes */
    bool quoted, within, closed; /* inside quotes; inside an unquoted cell; just after a closing quote */
    bool begun, done;
} cofi_guess;

/* Returns true once the line has ended; further bytes have no effect. */
bool cofi_guess_feed(cofi_guess *guess, const char *bytes, size_t n_bytes);
/* A comma if there was one, otherwise the most frequent candidate, otherwise a comma. */
char cofi_guess_delimiter(const cofi_guess *guess);
