/* JSON, written as it comes. */
#include "json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "term.h"

json_out json_begin(FILE *out)
{
    return (json_out){.out = out};
}

void json_end(json_out *j)
{
    fputc('\n', j->out);
}

static bool on_one_line(const json_out *j)
{
    return (j->inline_ >> j->depth & 1u) != 0;
}

static void put_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s != '\0';) {
        size_t n = utf8_length((const char *)s);
        if (n == 0)
            fputs("\\ufffd", out);
        else if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", out);
        else if (*s == '\t')
            fputs("\\t", out);
        else if (*s < 0x20 || *s == 0x7F)
            fprintf(out, "\\u%04x", *s);
        else
            fwrite(s, 1, n, out);
        s += n == 0 ? 1 : n;
    }
    fputc('"', out);
}

static void start_value(json_out *j, const char *key)
{
    bool first = (j->filled >> j->depth & 1u) == 0;
    if (j->depth > 0) {
        if (!first) fputs(on_one_line(j) ? ", " : ",", j->out);
        if (!on_one_line(j)) {
            fputc('\n', j->out);
            put_repeated(j->out, "  ", j->depth);
        }
    }
    j->filled |= 1u << j->depth;
    if (key == NULL) return;
    put_quoted(j->out, key);
    fputs(": ", j->out);
}

static void open_at(json_out *j, const char *key, char bracket, bool line)
{
    bool inside_line = on_one_line(j);
    start_value(j, key);
    fputc(bracket, j->out);
    j->depth++;
    j->filled &= ~(1u << j->depth);
    j->inline_ &= ~(1u << j->depth);
    if (line || inside_line) j->inline_ |= 1u << j->depth;
}

void json_open(json_out *j, const char *key, char bracket)
{
    open_at(j, key, bracket, false);
}

void json_open_line(json_out *j, const char *key, char bracket)
{
    open_at(j, key, bracket, true);
}

void json_close(json_out *j, char bracket)
{
    bool empty = (j->filled >> j->depth & 1u) == 0;
    bool line = on_one_line(j);
    j->depth--;
    if (!empty && !line) {
        fputc('\n', j->out);
        put_repeated(j->out, "  ", j->depth);
    }
    fputc(bracket, j->out);
}

real_digits format_real(double x)
{
    real_digits digits = {"null"};
    if (!isfinite(x)) return digits;
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits.text, sizeof digits.text, "%.*g", precision, x);
        if (strtod(digits.text, NULL) == x) break;
    }
    return digits;
}

void json_text(json_out *j, const char *key, const char *text)
{
    start_value(j, key);
    if (text == NULL)
        fputs("null", j->out);
    else
        put_quoted(j->out, text);
}

void json_count(json_out *j, const char *key, uint64_t n)
{
    start_value(j, key);
    fprintf(j->out, "%" PRIu64, n);
}

void json_real(json_out *j, const char *key, double x)
{
    start_value(j, key);
    fputs(format_real(x).text, j->out);
}

void json_bool(json_out *j, const char *key, bool x)
{
    start_value(j, key);
    fputs(x ? "true" : "false", j->out);
}
