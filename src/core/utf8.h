/* UTF-8: validation, decoding, and texts prepared for messages and screens. Includes cof_text_show. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coforest_extra.h"

#define COFI_BAD_CHARACTER 0xFFFD /* U+FFFD replaces a byte that begins no character */

/* As in RFC 3629: shortest forms only, no surrogates, nothing above U+10FFFF. */
bool cofi_utf8_valid(const char *text, size_t n_bytes);

/* Returns the character at *text, which is not the end, and moves *text past it. */
uint32_t cofi_utf8_take(const char **text);
size_t cofi_utf8_put(char to[5], uint32_t c); /* returns the number of bytes without the NUL */
/* Width on a terminal: 2 for East Asian wide characters, 0 for combining marks. */
unsigned cofi_utf8_columns(const char *text);

/* A copy for error messages: one line, at most size - 1 bytes, shortened at a character with "...". The
 * `_tail` form keeps the end, because the end of a path identifies it. Both return `to`; size is at least
 * 8. */
const char *cofi_utf8_show(char *to, size_t size, const char *text);
const char *cofi_utf8_show_tail(char *to, size_t size, const char *text);
