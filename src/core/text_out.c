/* Writes text to a sink, with the escapes of XML, DOT and terminals. */
#include "text_out.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "utf8.h"

void cofi_out_init(cofi_out *out, cof_sink sink, void *ctx)
{
    out->sink = sink;
    out->ctx = ctx;
    out->refused = false;
    out->n = 0;
}

int cofi_out_sink(void *ctx, const char *text, size_t n_bytes)
{
    cofi_out *out = ctx;
    cofi_out_bytes(out, text, n_bytes);
    return out->refused;
}

static void hand_over(cofi_out *out)
{
    if (out->n > 0 && !out->refused) out->refused = out->sink(out->ctx, out->buffer, out->n) != 0;
    out->n = 0;
}

cof_status cofi_out_finish(cofi_out *out, cof_error *err)
{
    hand_over(out);
    if (!out->refused) return COF_OK;
    return cofi_fail(err, COF_ERR_IO, "the text could not be written, because its receiver refused it");
}

void cofi_out_bytes(cofi_out *out, const char *bytes, size_t n)
{
    while (n > 0) {
        if (out->n == sizeof out->buffer) hand_over(out);
        size_t part = sizeof out->buffer - out->n < n ? sizeof out->buffer - out->n : n;
        memcpy(out->buffer + out->n, bytes, part);
        out->n += part;
        bytes += part;
        n -= part;
    }
}

void cofi_out_text(cofi_out *out, const char *text)
{
    cofi_out_bytes(out, text, strlen(text));
}

void cofi_out_format(cofi_out *out, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert(wanted >= 0 && (size_t)wanted < sizeof text);
    (void)wanted;
    cofi_out_text(out, text);
}

void cofi_out_fill(cofi_out *out, const char *template, va_list *args, cofi_letter more)
{
    for (;;) {
        size_t n = strcspn(template, "%");
        int number = 0;
        cofi_out_bytes(out, template, n);
        template += n;
        if (*template == '\0') return;
        while (*++template >= '0' && *template <= '9') number = 10 * number + (*template - '0');
        char letter = *template ++;
        if (letter == '%')
            cofi_out_text(out, "%");
        else if (letter == 's')
            cofi_out_text(out, va_arg(*args, const char *));
        else if (letter == 'x')
            cofi_out_xml(out, va_arg(*args, const char *));
        else if (letter == 'u')
            cofi_out_format(out, "%u", va_arg(*args, unsigned));
        else if (letter == 'z')
            cofi_out_format(out, "%zu", va_arg(*args, size_t));
        else if (letter == 'g')
            cofi_out_number(out, va_arg(*args, double));
        else if (letter == 'f')
            cofi_out_fixed(out, va_arg(*args, double), 0, number);
        else
            more(out, letter, number, args);
    }
}

void cofi_out_put(cofi_out *out, const char *template, ...)
{
    va_list args;
    va_start(args, template);
    cofi_out_fill(out, template, &args, NULL);
    va_end(args);
}

/* ---- Numbers --------------------------------------------------------------------------------------- */

/* printf uses the decimal mark of the locale, which may be a comma or several bytes. */
static void use_point(char *number)
{
    char *to = number;
    bool in_mark = false;
    for (; *number != '\0'; number++) {
        bool plain = strchr("0123456789+-einfa ", *number) != NULL;
        if (plain || !in_mark) *to++ = plain ? *number : '.';
        in_mark = !plain;
    }
    *to = '\0';
}

const char *cof_text_number(char *to, size_t size, double number)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(to, size, "%.*g", digits, number);
        if (strtod(to, NULL) == number) break;
    }
    use_point(to);
    return to;
}

void cofi_out_fixed(cofi_out *out, double number, int width, int decimals)
{
    char text[400];
    snprintf(text, sizeof text, "%*.*f", width, decimals, number);
    use_point(text);
    cofi_out_text(out, text);
}

void cofi_out_number(cofi_out *out, double number)
{
    char text[COF_NUMBER_BYTES];
    cofi_out_text(out, cof_text_number(text, sizeof text, number));
}

/* ---- Escapes --------------------------------------------------------------------------------------- */

static void out_character(cofi_out *out, uint32_t c)
{
    char text[5];
    cofi_out_bytes(out, text, cofi_utf8_put(text, c));
}

void cofi_out_xml(cofi_out *out, const char *text)
{
    while (*text != '\0') {
        uint32_t c = cofi_utf8_take(&text);
        /* XML 1.0 cannot represent these characters */
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0xFFFE || c == 0xFFFF)
            c = COFI_BAD_CHARACTER;
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' || c < 0x20)
            cofi_out_format(out, "&#%u;", c);
        else
            out_character(out, c);
    }
}

void cofi_out_dot(cofi_out *out, const char *text)
{
    cofi_out_text(out, "\"");
    while (*text != '\0') {
        uint32_t c = cofi_utf8_take(&text);
        if (c == '"' || c == '\\')
            cofi_out_format(out, "\\%c", (char)c);
        else if (c == '\n')
            cofi_out_text(out, "\\n");
        else if (c == '&') /* Graphviz interprets HTML entities in plain labels too */
            cofi_out_text(out, "&amp;");
        else
            out_character(out, c);
    }
    cofi_out_text(out, "\"");
}

const char *cofi_shown(char to[COFI_SHOWN_BYTES], const char *text, unsigned columns)
{
    cof_text_show(to, COFI_SHOWN_BYTES, *text == '\0' ? "(empty)" : text, columns);
    return to;
}
