/* Buffered text output to a sink, with one place for numbers and escapes.
 *
 * After the sink has refused a piece, the rest is dropped; writers continue without a check, and
 * cofi_out_finish reports the failure. Numbers always have a decimal point, whatever the locale is. */
#pragma once

#include "env.h"

#include <stdarg.h>

typedef struct cofi_out {
    cof_sink sink;
    void *ctx;
    bool refused;
    size_t n;
    char buffer[4096];
} cofi_out;

void cofi_out_init(cofi_out *out, cof_sink sink, void *ctx);
cof_status cofi_out_finish(cofi_out *out, cof_error *err); /* sends what is left; COF_ERR_IO if refused */

int cofi_out_sink(void *ctx, const char *text, size_t n_bytes); /* a cof_sink whose ctx is a cofi_out */
void cofi_out_bytes(cofi_out *out, const char *bytes, size_t n);
void cofi_out_text(cofi_out *out, const char *text);
/* For integers and short texts; for numbers with a fraction use the next two functions. At most 255 bytes
 * per call. */
void cofi_out_format(cofi_out *out, const char *format, ...) __attribute__((format(__printf__, 2, 3)));
void cofi_out_fixed(cofi_out *out, double number, int width, int decimals);
/* the fewest digits that give the same number when read */
void cofi_out_number(cofi_out *out, double number);

/* A template whose gaps are filled in: %s a text as it is, %x one with the escapes of XML, %u an unsigned int, %z a
 * size_t, %g a number in the fewest digits, %2f one with two decimals, %% a percent sign. `more` writes the gaps of other
 * letters, with the number before the letter. */
typedef void (*cofi_letter)(cofi_out *out, char letter, int number, va_list *args);
void cofi_out_fill(cofi_out *out, const char *template, va_list *args, cofi_letter more);
void cofi_out_put(cofi_out *out, const char *template, ...);

/* Texts with the escapes of a format. Bytes that are not UTF-8 become U+FFFD. */
void cofi_out_xml(cofi_out *out, const char *text); /* for content and for quoted attributes */
void cofi_out_dot(cofi_out *out, const char *text); /* with quotes, for a label */

enum { COFI_SHOWN_BYTES = 256 };
/* A text for one line on a screen: control characters are escaped, it is at most `columns` wide with an
 * ellipsis in place of the rest, and "(empty)" stands for an empty text. Returns `to`. */
const char *cofi_shown(char to[COFI_SHOWN_BYTES], const char *text, unsigned columns);
