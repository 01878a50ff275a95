/* Text on its way to a sink: gathered into larger pieces, numbers and escapes written in one place.
 *
 * Once the sink has refused a piece, the rest is dropped; writers go on without asking and learn of it when
 * they finish. Numbers always have a decimal point, whatever the host's locale. */
#ifndef COFI_TEXT_OUT_H
#define COFI_TEXT_OUT_H

#include "env.h"

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
/* Integers and short texts; for a number with a fraction use the next two. At most 255 bytes a call. */
void cofi_out_format(cofi_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cofi_out_fixed(cofi_out *out, double number, int width, int decimals);
void cofi_out_number(cofi_out *out, double number); /* the fewest digits that read back as the same number */

/* A text with the escapes of a format. Bytes that are not UTF-8 become U+FFFD. */
void cofi_out_xml(cofi_out *out, const char *text); /* for content and for quoted attributes */
void cofi_out_dot(cofi_out *out, const char *text); /* with its quotes, for a label */

enum { COFI_SHOWN_BYTES = 256 };
/* A text fit for one line on a screen: control characters escaped, at most `columns` wide, the end replaced
 * by an ellipsis if it is longer, "(empty)" if there is none. Returns `to`. */
const char *cofi_shown(char to[COFI_SHOWN_BYTES], const char *text, unsigned columns);

#endif
