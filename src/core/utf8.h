/* UTF-8: validity, decoding, and texts made fit for a sentence or a screen. cof_text_show stands here too. */
#ifndef COFI_UTF8_H
#define COFI_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coforest_extra.h"

#define COFI_BAD_CHARACTER 0xFFFD /* U+FFFD stands for a byte that begins no character */

/* RFC 3629: shortest forms only, no surrogates, nothing above U+10FFFF. */
bool cofi_utf8_valid(const char *text, size_t n_bytes);

/* The character at *text, which is not at its end, and moves on past it. */
uint32_t cofi_utf8_take(const char **text);
size_t cofi_utf8_put(char to[5], uint32_t c); /* the bytes written, a NUL after them not counted */
unsigned
cofi_utf8_columns(const char *text); /* on a terminal: 2 for East Asian wide, 0 for combining marks */

/* A copy for error sentences: one line, at most size - 1 bytes, shortened at a character with "...". The
 * `_tail` form keeps the end, which is the telling part of a path. Both return `to`; size is at least 8. */
const char *cofi_utf8_show(char *to, size_t size, const char *text);
const char *cofi_utf8_show_tail(char *to, size_t size, const char *text);

#endif
