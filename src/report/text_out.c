/* Pieces of text to a sink, with the escapes of JSON, XML, DOT and terminals. */
#include "text_out.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ELLIPSIS "\xE2\x80\xA6"
#define UNKNOWN  0xFFFD /* stands for bytes that are no character */

void cofi_out_init(cofi_out *out, cof_sink sink, void *ctx)
{
    out->sink = sink;
    out->ctx = ctx;
    out->refused = false;
    out->n = 0;
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
    return cofi_fail(err, COF_ERR_IO, "writing was stopped by the receiver of the text");
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

void cofi_out_repeat(cofi_out *out, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++) cofi_out_text(out, text);
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

/* ---- Numbers --------------------------------------------------------------------------------------- */

/* printf writes the decimal mark of the host's locale, which may be a comma or several bytes. */
static void out_with_point(cofi_out *out, const char *number)
{
    bool in_mark = false;
    for (; *number != '\0'; number++) {
        bool plain = strchr("0123456789+-einfa ", *number) != NULL;
        if (plain) cofi_out_bytes(out, number, 1);
        if (!plain && !in_mark) cofi_out_text(out, ".");
        in_mark = !plain;
    }
}

void cofi_out_fixed(cofi_out *out, double number, int width, int decimals)
{
    char text[400];
    snprintf(text, sizeof text, "%*.*f", width, decimals, number);
    out_with_point(out, text);
}

void cofi_out_number(cofi_out *out, double number)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    /* powers of ten come out as 1e+02; whole numbers read better in full */
    if (number == floor(number) && fabs(number) < 1e15) snprintf(text, sizeof text, "%.0f", number);
    out_with_point(out, text);
}

void cofi_out_json_number(cofi_out *out, double number)
{
    if (isfinite(number))
        cofi_out_number(out, number);
    else
        cofi_out_text(out, "null");
}

/* ---- Characters ------------------------------------------------------------------------------------ */

/* The character at *text, which is not at its end, and moves on past it. */
static uint32_t take_character(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80   ? 1
                    : s[0] < 0xC0 ? 0
                    : s[0] < 0xE0 ? 2
                    : s[0] < 0xF0 ? 3
                    : s[0] < 0xF8 ? 4
                                  : 0;
    uint32_t c = length == 1 ? s[0] : length == 0 ? UNKNOWN : s[0] & (0x7Fu >> length);
    size_t used = 1;
    for (; used < length && (s[used] & 0xC0) == 0x80; used++) c = c << 6 | (s[used] & 0x3F);
    bool bad = used < length || c < least[length] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF);
    *text += bad ? 1 : used;
    return bad ? UNKNOWN : c;
}

static size_t put_character(char to[5], uint32_t c)
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6) to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(n == 1 ? c : lead[n] | c);
    to[n] = '\0';
    return n;
}

static void out_character(cofi_out *out, uint32_t c)
{
    char text[5];
    cofi_out_bytes(out, text, put_character(text, c));
}

void cofi_out_json(cofi_out *out, const char *text)
{
    cofi_out_text(out, "\"");
    while (*text != '\0') {
        uint32_t c = take_character(&text);
        if (c == '"' || c == '\\') cofi_out_text(out, "\\");
        /* line separators are legal in JSON but end a line in JavaScript */
        if (c < 0x20 || c == 0x7F || c == 0x2028 || c == 0x2029)
            cofi_out_format(out, "\\u%04x", c);
        else
            out_character(out, c);
    }
    cofi_out_text(out, "\"");
}

void cofi_out_xml(cofi_out *out, const char *text)
{
    while (*text != '\0') {
        uint32_t c = take_character(&text);
        /* XML 1.0 has no way at all to write these */
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0xFFFE || c == 0xFFFF) c = UNKNOWN;
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
        uint32_t c = take_character(&text);
        if (c == '"' || c == '\\')
            cofi_out_format(out, "\\%c", (char)c);
        else if (c == '\n')
            cofi_out_text(out, "\\n");
        else if (c == '&') /* Graphviz reads HTML entities in plain labels too */
            cofi_out_text(out, "&amp;");
        else
            out_character(out, c);
    }
    cofi_out_text(out, "\"");
}

/* ---- One line on a screen -------------------------------------------------------------------------- */

typedef struct range {
    uint32_t first, last;
} range;

static bool is_in(const range *ranges, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    return false;
}

/* Controls, line separators, and the marks that turn the direction of what stands after them. */
static bool is_control(uint32_t c)
{
    static const range controls[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x061C, 0x061C}, {0x200E, 0x200F},
                                     {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};
    return is_in(controls, sizeof controls / sizeof *controls, c);
}

/* The blocks that matter in practice, not the whole of Unicode's table. */
static unsigned character_columns(uint32_t c)
{
    static const range marks[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},
                                  {0x064B, 0x065F}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
                                  {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x20D0, 0x20FF},
                                  {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
    static const range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                                 {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                                 {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                                 {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
    if (c < 0x300) return 1;
    if (is_in(marks, sizeof marks / sizeof *marks, c)) return 0;
    return is_in(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

unsigned cofi_shown_columns(const char *text)
{
    unsigned columns = 0;
    while (*text != '\0') columns += character_columns(take_character(&text));
    return columns;
}

/* A character as it is shown; returns its columns. */
static unsigned show_character(char piece[12], uint32_t c)
{
    if (!is_control(c)) {
        put_character(piece, c);
        return character_columns(c);
    }
    const char *letter = c != 0 && c < 0x80 ? strchr("\nn\tt\rr", (int)c) : NULL;
    if (letter != NULL) return (unsigned)snprintf(piece, 12, "\\%c", letter[1]);
    return (unsigned)snprintf(piece, 12, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
}

const char *cofi_shown(char to[COFI_SHOWN_BYTES], const char *text, unsigned columns)
{
    size_t n = 0, cut = 0; /* cut: where the ellipsis goes if the text does not fit */
    unsigned width = 0;
    if (*text == '\0') text = "(empty)";
    while (*text != '\0') {
        char piece[12];
        unsigned more = show_character(piece, take_character(&text));
        size_t n_bytes = strlen(piece);
        if (width + more > columns || n + n_bytes + sizeof ELLIPSIS > COFI_SHOWN_BYTES) {
            memcpy(to + cut, ELLIPSIS, sizeof ELLIPSIS);
            return to;
        }
        memcpy(to + n, piece, n_bytes);
        n += n_bytes;
        width += more;
        if (width < columns) cut = n;
    }
    to[n] = '\0';
    return to;
}
