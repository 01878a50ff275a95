/* Text for people: numbers, colour and line breaks that fit the terminal. */
#include "term.h"

#include "host/host.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *character, *plain;
} marks[] = {{"█", "#"}, {"▏", ""},  {"▎", ""},  {"▍", ""},  {"▌", "#"}, {"▋", "#"}, {"▊", "#"}, {"▉", "#"},
             {"├", "|"}, {"└", "`"}, {"│", "|"}, {"─", "-"}, {"·", "-"}, {"±", "~"}, {"…", "~"}};

static bool has_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale == NULL || *locale == '\0') continue;
        return strcasestr(locale, "utf-8") != NULL || strcasestr(locale, "utf8") != NULL;
    }
    return true;
}

const char *sign_of(const char *character)
{
    if (has_utf8()) return character;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcmp(marks[i].character, character) == 0) return marks[i].plain;
    return "?";
}

int put_drawing(cof_sink to, void *ctx, const char *text, size_t n_bytes)
{
    bool utf8 = has_utf8();
    int refused = 0;
    for (size_t at = 0, n; at < n_bytes && refused == 0; at += n) {
        const char *plain_text = NULL;
        n = 1;
        for (size_t i = 0; !utf8 && i < sizeof marks / sizeof *marks && plain_text == NULL; i++) {
            size_t length = strlen(marks[i].character);
            if (at + length > n_bytes || memcmp(text + at, marks[i].character, length) != 0) continue;
            plain_text = marks[i].plain;
            n = length;
        }
        if (utf8) n = n_bytes;
        refused =
            to(ctx, plain_text != NULL ? plain_text : text + at, plain_text != NULL ? strlen(plain_text) : n);
    }
    return refused;
}

/* The ellipsis of a text that was cut is the last character. */
shown show_text(const char *text, int max_width)
{
    shown s;
    s.width = (int)cof_text_show(s.text, sizeof s.text, text, max_width < 0 ? 0 : (unsigned)max_width);
    size_t n = strlen(s.text);
    if (n >= 3 && strcmp(s.text + n - 3, "…") == 0) snprintf(s.text + n - 3, 4, "%s", sign_of("…"));
    return s;
}

shown show_name(const char *text, int max_width)
{
    return show_text(*text == '\0' ? "(empty)" : text, max_width);
}

shown show_count(uint64_t n)
{
    char digits[24];
    shown s = {.width = 0};
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) s.text[s.width++] = ',';
        s.text[s.width++] = digits[i];
    }
    return s;
}

shown show_amount(double n)
{
    shown s = {.width = 0};
    if (n >= 0 && n < 1e15 && n == floor(n)) return show_count((uint64_t)n);
    s.width = snprintf(s.text, sizeof s.text, "%.6g", n);
    return s;
}

shown show_share(double part, double whole)
{
    shown s = {.width = 0};
    double percent = whole > 0 ? 100 * part / whole : 0;
    if (part > 0 && percent < 0.5)
        s.width = snprintf(s.text, sizeof s.text, "<1 %%");
    else if (part < whole && percent > 99.5)
        s.width = snprintf(s.text, sizeof s.text, ">99 %%");
    else
        s.width = snprintf(s.text, sizeof s.text, "%.0f %%", percent);
    return s;
}

shown show_seconds(double seconds)
{
    shown s = {.width = 0};
    if (seconds < 0.1)
        s.width = snprintf(s.text, sizeof s.text, "%.3f s", seconds < 0.001 ? 0.001 : seconds);
    else if (seconds < 10)
        s.width = snprintf(s.text, sizeof s.text, "%.2f s", seconds);
    else if (seconds < 60)
        s.width = snprintf(s.text, sizeof s.text, "%.0f s", seconds);
    else if (seconds < 3600)
        s.width = snprintf(s.text, sizeof s.text, "%d min %d s", (int)seconds / 60, (int)seconds % 60);
    else
        s.width =
            snprintf(s.text, sizeof s.text, "%.0f h %d min", floor(seconds / 3600), (int)(seconds / 60) % 60);
    return s;
}

void append(char *text, size_t n, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, n - used, format, args);
    va_end(args);
}

const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

shown show_shell_word(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,:@%-";
    shown s = {.width = 0};
    bool needs_none = *text != '\0' && *text != '-' && text[strspn(text, safe)] == '\0';
    /* a quote inside is rare; such a word is shown as it is, not to be pasted */
    if (needs_none || strchr(text, '\'') != NULL) return show_text(text, 200);
    shown inner = show_text(text, 200);
    s.width = inner.width + 2;
    snprintf(s.text, sizeof s.text, "'%.*s'", (int)sizeof s.text - 3, inner.text);
    return s;
}

int file_sink(void *ctx, const char *text, size_t n_bytes)
{
    fwrite(text, 1, n_bytes, ctx); /* a failure is told when the stream is closed */
    return 0;
}

bool on_terminal(FILE *out)
{
    const char *term = getenv("TERM");
    return isatty(fileno(out)) && term != NULL && strcmp(term, "dumb") != 0;
}

int terminal_width(FILE *out)
{
    const char *columns = getenv("COLUMNS");
    int width = terminal_columns(out);
    if (width <= 0 && columns != NULL) width = atoi(columns);
    if (width <= 0) return 80;
    return width < 40 ? 40 : width;
}

page page_for(FILE *out)
{
    const char *no_color = getenv("NO_COLOR");
    int width = terminal_width(out);
    page p = {.out = out, .width = width > 120 ? 120 : width}; /* longer lines are hard to read */
    p.colour = on_terminal(out) && (no_color == NULL || *no_color == '\0');
    return p;
}

const char *bold(const page *p)
{
    return p->colour ? "\033[1m" : "";
}

const char *dim(const page *p)
{
    return p->colour ? "\033[2m" : "";
}

const char *accent(const page *p)
{
    return p->colour ? "\033[36m" : "";
}

const char *plain(const page *p)
{
    return p->colour ? "\033[0m" : "";
}

void put_repeated(FILE *out, const char *text, int times)
{
    for (int i = 0; i < times; i++) fputs(text, out);
}

void put_left(FILE *out, const shown *s, int width)
{
    fputs(s->text, out);
    put_repeated(out, " ", width - s->width);
}

void put_right(FILE *out, const shown *s, int width)
{
    put_repeated(out, " ", width - s->width);
    fputs(s->text, out);
}

flow flow_begin(const page *p, int indent, int column)
{
    return (flow){.out = p->out, .indent = indent, .column = column, .width = p->width, .fresh = true};
}

bool flow_fits(const flow *f, int width)
{
    return f->column + (f->fresh ? 0 : 1) + width <= f->width;
}

void flow_piece(flow *f, const char *before, const char *text, int width, const char *after)
{
    if (!flow_fits(f, width) && !(f->fresh && f->column <= f->indent)) {
        fputc('\n', f->out);
        put_repeated(f->out, " ", f->indent);
        f->column = f->indent;
        f->fresh = true;
    }
    if (!f->fresh) fputc(' ', f->out);
    fprintf(f->out, "%s%s%s", before, text, after);
    f->column += width + (f->fresh ? 0 : 1);
    f->fresh = false;
}

void flow_words(flow *f, const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, " ");
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        shown s = show_text(word, 200);
        if (n > 0) flow_piece(f, "", s.text, s.width, "");
        text += n + strspn(text + n, " ");
    }
}

void flow_end(flow *f)
{
    fputc('\n', f->out);
    f->column = 0;
    f->fresh = true;
}

void put_words(const page *p, int indent, const char *text)
{
    flow f = flow_begin(p, indent, indent);
    flow_words(&f, text);
    flow_end(&f);
}
