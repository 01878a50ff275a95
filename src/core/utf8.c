#include "utf8.h"

#include <string.h>

/* Bytes of the well-formed character at s, 0 if there is none. The second byte carries all the exceptions:
 * its range is narrowed where a longer form, a surrogate or a too large number would begin. */
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

static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* A newline or an escape code inside a name must not break the sentence it is shown in. */
static const char *in_one_line(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7F) *p = ' ';
    return text;
}

const char *cofi_utf8_show(char *to, size_t size, const char *text)
{
    size_t n = strlen(text);
    if (n < size) {
        memcpy(to, text, n + 1);
    } else {
        n = size - 4;
        while (n > 0 && continues_character(text[n])) n--;
        memcpy(to, text, n);
        memcpy(to + n, "...", 4);
    }
    return in_one_line(to);
}

const char *cofi_utf8_show_tail(char *to, size_t size, const char *text)
{
    size_t n = strlen(text);
    if (n < size) {
        memcpy(to, text, n + 1);
    } else {
        const char *tail = text + n - (size - 4);
        while (continues_character(*tail)) tail++;
        memcpy(to, "...", 3);
        memcpy(to + 3, tail, strlen(tail) + 1);
    }
    return in_one_line(to);
}
