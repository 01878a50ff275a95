/* UTF-8 is decoded here, because the C library's decoding depends on the locale. */
#include "utf8.h"

#include <stdio.h>
#include <string.h>

#define ELLIPSIS "\xE2\x80\xA6"

/* Length of the well-formed character at s in bytes, 0 if there is none. The range of the second byte is
 * narrower after some first bytes, to exclude overlong forms, surrogates and numbers above U+10FFFF. */
static size_t character_length(const unsigned char *s, size_t n)
{
    size_t length = s[0] < 0x80   ? 1
                    : s[0] < 0xC2 ? 0
                    : s[0] < 0xE0 ? 2
                    : s[0] < 0xF0 ? 3
                    : s[0] < 0xF5 ? 4
                                  : 0;
    unsigned char low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;

    if (length < 2) return length;
    if (length > n || s[1] < low || s[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    return length;
}

bool cofi_utf8_valid(const char *text, size_t n_bytes)
{
    size_t length;
    for (size_t i = 0; i < n_bytes; i += length) {
        length = character_length((const unsigned char *)text + i, n_bytes - i);
        if (length == 0) return false;
    }
    return true;
}

uint32_t cofi_utf8_take(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    size_t length = character_length(s, strnlen(*text, 4));
    uint32_t c = length > 1 ? s[0] & (0x7Fu >> length) : s[0];
    for (size_t i = 1; i < length; i++) c = c << 6 | (s[i] & 0x3F);
    *text += length > 0 ? length : 1;
    return length > 0 ? c : COFI_BAD_CHARACTER;
}

size_t cofi_utf8_put(char to[5], uint32_t c)
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6) to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(n == 1 ? c : lead[n] | c);
    to[n] = '\0';
    return n;
}

/* ---- Sentences ------------------------------------------------------------------------------------- */

/* A newline or an escape code in a name must not break the message in which it is shown. */
static const char *show_in_one_line(char *to, size_t size, const char *text, bool tail)
{
    size_t n = strlen(text), cut = size - 4; /* bytes that stay beside an ellipsis */
    if (n < size) {
        memcpy(to, text, n + 1);
    } else if (tail) {
        text += n - cut;
        while ((*text & 0xC0) == 0x80) text++;
        snprintf(to, size, "...%s", text);
    } else {
        while (cut > 0 && (text[cut] & 0xC0) == 0x80) cut--;
        snprintf(to, size, "%.*s...", (int)cut, text);
    }
    for (char *p = to; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7F) *p = ' ';
    return to;
}

const char *cofi_utf8_show(char *to, size_t size, const char *text)
{
    return show_in_one_line(to, size, text, false);
}

const char *cofi_utf8_show_tail(char *to, size_t size, const char *text)
{
    return show_in_one_line(to, size, text, true);
}

/* ---- Text that fits one line ----------------------------------------------------------------------- */

typedef struct range {
    uint32_t first, last;
} range;

static bool is_in(const range *ranges, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    return false;
}

/* Control characters move the cursor, and direction marks reorder the text beside them. */
static bool is_control(uint32_t c)
{
    static const range controls[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x061C, 0x061C}, {0x200E, 0x200F},
                                     {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}};
    return is_in(controls, sizeof controls / sizeof *controls, c);
}

/* Covers the blocks that occur in names, not all of Unicode: combining marks have no width, East Asian
 * characters and pictographs take two columns. */
static unsigned character_columns(uint32_t c)
{
    static const range marks[] = {{0x0300, 0x036F},  {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},
                                  {0x064B, 0x065F},  {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D},
                                  {0x0E31, 0x0E31},  {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF},
                                  {0x1DC0, 0x1DFF},  {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
                                  {0x20D0, 0x20FF},  {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
                                  {0x1F3FB, 0x1F3FF}};
    static const range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                                 {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                                 {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                                 {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
    if (c < 0x300) return 1;
    if (is_in(marks, sizeof marks / sizeof *marks, c)) return 0;
    return is_in(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

unsigned cofi_utf8_columns(const char *text)
{
    unsigned columns = 0;
    while (*text != '\0') columns += character_columns(cofi_utf8_take(&text));
    return columns;
}

/* Writes the next character as it is shown and returns its width; characters that must not be shown are
 * written as escapes. */
static unsigned show_character(char piece[12], const char **text)
{
    const char *from = *text;
    uint32_t c = cofi_utf8_take(text);
    if (c == COFI_BAD_CHARACTER && *text - from == 1)
        return (unsigned)snprintf(piece, 12, "\\x%02x", (unsigned char)*from);
    if (!is_control(c)) {
        cofi_utf8_put(piece, c);
        return character_columns(c);
    }
    const char *letter = c < 0x80 ? strchr("\nn\tt\rr", (int)c) : NULL;
    if (letter != NULL) return (unsigned)snprintf(piece, 12, "\\%c", letter[1]);
    return (unsigned)snprintf(piece, 12, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
}

unsigned cof_text_show(char *to, size_t size, const char *text, unsigned columns)
{
    size_t n = 0, cut = 0; /* cut: position of the ellipsis if the text does not fit */
    unsigned width = 0, cut_width = 0;
    while (*text != '\0') {
        char piece[12];
        unsigned more = show_character(piece, &text);
        size_t n_bytes = strlen(piece);
        if (width + more > columns || n + n_bytes + sizeof ELLIPSIS > size) {
            memcpy(to + cut, ELLIPSIS, sizeof ELLIPSIS);
            return cut_width + 1;
        }
        memcpy(to + n, piece, n_bytes);
        n += n_bytes;
        width += more;
        if (width < columns) cut = n, cut_width = width;
    }
    to[n] = '\0';
    return width;
}
