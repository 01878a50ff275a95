/* Text for people. Own UTF-8 decoding, because the C library's depends on the locale and a program
 * started without one still meets names that are not ASCII. */
#include "term.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0; /* overlong, surrogate */
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return n;
}

/* The code point of a well-formed sequence. */
static uint32_t decode(const char *text, size_t n)
{
    uint32_t point = (unsigned char)text[0];
    if (n > 1) point &= 0x7Fu >> n;
    for (size_t i = 1; i < n; i++) point = point << 6 | ((unsigned char)text[i] & 0x3Fu);
    return point;
}

typedef struct span {
    uint32_t first, last;
} span;

static bool within(uint32_t point, const span *spans, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (point >= spans[i].first && point <= spans[i].last) return true;
    return false;
}

/* The ranges that matter in names: marks that combine take no column, East Asian text and pictures two. */
static int point_width(uint32_t point)
{
    static const span none[] = {{0x300, 0x36F},   {0x591, 0x5BD},   {0x610, 0x61A},    {0x64B, 0x65F},
                                {0x93C, 0x93C},   {0x941, 0x948},   {0x94D, 0x94D},    {0xE31, 0xE31},
                                {0xE34, 0xE3A},   {0xE47, 0xE4E},   {0x200B, 0x200F},  {0x2028, 0x202E},
                                {0x2060, 0x2064}, {0x2066, 0x206F}, {0x20D0, 0x20F0},  {0xFE00, 0xFE0F},
                                {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0x1F3FB, 0x1F3FF}};
    static const span two[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                               {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                               {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                               {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
    if (point < 0x300) return 1;
    if (within(point, none, sizeof none / sizeof *none)) return 0;
    return within(point, two, sizeof two / sizeof *two) ? 2 : 1;
}

/* Controls move the cursor, and direction marks reorder what stands beside them. */
static bool unprintable(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

typedef struct glyph {
    char text[12];
    size_t n_bytes; /* of text */
    int width;
    size_t n_read; /* bytes of the source it stands for */
} glyph;

/* One character as it may be shown; what must not be is spelled out as a programmer would. */
static glyph next_glyph(const char *text)
{
    size_t n = utf8_length(text);
    uint32_t point = n == 0 ? (unsigned char)*text : decode(text, n);
    glyph g = {.n_read = n == 0 ? 1 : n};
    bool spelled = n == 0 || unprintable(point);
    if (point == '\n' || point == '\t')
        snprintf(g.text, sizeof g.text, "\\%c", point == '\n' ? 'n' : 't');
    else if (spelled && point < 0x100)
        snprintf(g.text, sizeof g.text, "\\x%02x", point);
    else if (spelled)
        snprintf(g.text, sizeof g.text, "\\u%04x", point);
    else
        memcpy(g.text, text, n);
    g.n_bytes = strlen(g.text);
    g.width = spelled ? (int)g.n_bytes : point_width(point);
    return g;
}

/* Longest beginning of at most max_width columns, appended to s; what is left over is returned. */
static const char *fill(shown *s, const char *text, int max_width)
{
    size_t used = strlen(s->text);
    while (*text != '\0') {
        glyph g = next_glyph(text);
        if (s->width + g.width > max_width || used + g.n_bytes + 4 > sizeof s->text) break;
        memcpy(s->text + used, g.text, g.n_bytes);
        used += g.n_bytes;
        s->width += g.width;
        text += g.n_read;
    }
    s->text[used] = '\0';
    return text;
}

/* One column wide, without asking for room: fill leaves enough for one. */
static void put_glyph(shown *s, const char *glyph_text)
{
    size_t used = strlen(s->text);
    snprintf(s->text + used, sizeof s->text - used, "%s", glyph_text);
    s->width++;
}

shown show_text(const char *text, int max_width)
{
    shown s = {.width = 0};
    if (*fill(&s, text, max_width) == '\0') return s;
    s = (shown){.width = 0};
    fill(&s, text, max_width - 1);
    put_glyph(&s, "…"); /* fill leaves room for it */
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
    put_glyph(&s, "'");
    fill(&s, text, 200);
    put_glyph(&s, "'");
    return s;
}

bool on_terminal(FILE *out)
{
    const char *term = getenv("TERM");
    return isatty(fileno(out)) && term != NULL && strcmp(term, "dumb") != 0;
}

int terminal_width(FILE *out)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    int width = columns == NULL ? 0 : atoi(columns);
    if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        width = size.ws_col;
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
