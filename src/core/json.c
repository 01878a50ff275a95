/* Writes JSON incrementally. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

static void put(cof_json *j, const char *text, size_t n)
{
    if (!j->refused) j->refused = j->sink(j->ctx, text, n) != 0;
}

static void put_text(cof_json *j, const char *text)
{
    put(j, text, strlen(text));
}

void cof_json_begin(cof_json *j, cof_sink sink, void *ctx)
{
    *j = (cof_json){.sink = sink, .ctx = ctx};
}

int cof_json_end(cof_json *j)
{
    put_text(j, "\n");
    return j->refused;
}

static void put_character(cof_json *j, uint32_t c)
{
    char text[8];
    const char *letter = c < 0x80 ? strchr("\"\"\\\\\nn\tt", (int)c) : NULL;
    bool escaped = letter != NULL && (c < 0x20 || c == '"' || c == '\\');
    /* line separators are valid in JSON but end a line in JavaScript */
    bool spelled = c < 0x20 || c == 0x7F || c == 0x2028 || c == 0x2029 || c == COFI_BAD_CHARACTER;
    if (escaped)
        snprintf(text, sizeof text, "\\%c", letter[1]);
    else if (spelled)
        snprintf(text, sizeof text, "\\u%04x", c);
    else
        cofi_utf8_put(text, c);
    put_text(j, text);
}

/* Most texts have nothing to escape, and go out in one piece. */
static void put_quoted(cof_json *j, const char *text)
{
    put_text(j, "\"");
    while (*text != '\0') {
        size_t n = 0;
        while (text[n] >= 0x20 && text[n] < 0x7F && text[n] != '"' && text[n] != '\\') n++;
        if (n > 0) put(j, text, n);
        text += n;
        if (*text != '\0') put_character(j, cofi_utf8_take(&text));
    }
    put_text(j, "\"");
}

/* ---- Structure ------------------------------------------------------------------------------------- */

static bool on_one_line(const cof_json *j)
{
    return (j->on_line >> j->depth & 1u) != 0;
}

static void break_line(cof_json *j)
{
    put_text(j, "\n");
    for (uint32_t i = 0; i < j->depth; i++) put_text(j, "  ");
}

static void start_value(cof_json *j, const char *key)
{
    bool first = (j->filled >> j->depth & 1u) == 0;
    if (j->depth > 0 && !first) put_text(j, on_one_line(j) ? ", " : ",");
    if (j->depth > 0 && !on_one_line(j)) break_line(j);
    j->filled |= 1u << j->depth;
    if (key == NULL) return;
    put_quoted(j, key);
    put_text(j, ": ");
}

void cof_json_open(cof_json *j, const char *key, char bracket)
{
    bool inside_line = on_one_line(j);
    start_value(j, key);
    put(j, &bracket, 1);
    j->depth++;
    j->filled &= ~(1u << j->depth);
    j->on_line &= ~(1u << j->depth);
    if (inside_line) j->on_line |= 1u << j->depth;
}

void cof_json_open_line(cof_json *j, const char *key, char bracket)
{
    cof_json_open(j, key, bracket);
    j->on_line |= 1u << j->depth;
}

void cof_json_close(cof_json *j, char bracket)
{
    bool empty = (j->filled >> j->depth & 1u) == 0, line = on_one_line(j);
    j->depth--;
    if (!empty && !line) break_line(j);
    put(j, &bracket, 1);
}

/* ---- Values ---------------------------------------------------------------------------------------- */

void cof_json_text(cof_json *j, const char *key, const char *text)
{
    start_value(j, key);
    if (text == NULL)
        put_text(j, "null");
    else
        put_quoted(j, text);
}

void cof_json_count(cof_json *j, const char *key, uint64_t n)
{
    char digits[24];
    start_value(j, key);
    put(j, digits, (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)n));
}

void cof_json_real(cof_json *j, const char *key, double number)
{
    char digits[COF_NUMBER_BYTES];
    start_value(j, key);
    put_text(j, isfinite(number) ? cof_text_number(digits, sizeof digits, number) : "null");
}

void cof_json_flag(cof_json *j, const char *key, int flag)
{
    start_value(j, key);
    put_text(j, flag ? "true" : "false");
}
