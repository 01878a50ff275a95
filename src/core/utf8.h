/* UTF-8, as far as a table of categories cares: is it valid, and where may it be cut. */
#ifndef COFI_UTF8_H
#define COFI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* RFC 3629: shortest forms only, no surrogates, nothing above U+10FFFF. */
bool cofi_utf8_valid(const char *text, size_t n_bytes);

/* A copy for error sentences: one line, at most size - 1 bytes, shortened at a character with "...". The
 * `_tail` form keeps the end, which is the telling part of a path. Both return `to`; size is at least 8. */
const char *cofi_utf8_show(char *to, size_t size, const char *text);
const char *cofi_utf8_show_tail(char *to, size_t size, const char *text);

#endif
