#include "number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1000, MARK_BYTES = 16 }; /* of a number, longer ones say no more; of a decimal mark */

/* strtod reads the decimal mark of the host's locale, which printf shows between two digits. */
static void find_mark(char mark[MARK_BYTES])
{
    char shown[MARK_BYTES + 2];
    snprintf(shown, sizeof shown, "%.1f", 0.0);
    snprintf(mark, MARK_BYTES, "%.*s", (int)strlen(shown) - 2, shown + 1);
}

/* The text as strtod wants it: in `own` if the mark is not a point. NULL if it holds the mark: that is no number. */
static const char *with_mark(const char *text, char own[MOST_BYTES + MARK_BYTES])
{
    char mark[MARK_BYTES];
    const char *point = strchr(text, '.');
    if (text[strspn(text, "0123456789+-eE")] == '\0') return text; /* the mark does not matter */
    find_mark(mark);
    if (strcmp(mark, ".") == 0) return text;
    if (strlen(text) >= MOST_BYTES || strstr(text, mark) != NULL) return NULL;
    if (point == NULL) return text;
    sprintf(own, "%.*s%s%s", (int)(point - text), text, mark, point + 1);
    return own;
}

bool cofi_number_parse(const char *text, double *x)
{
    char own[MOST_BYTES + MARK_BYTES], *end;
    const char *readable = with_mark(text, own);
    if (readable == NULL) return false;
    *x = strtod(readable, &end);
    return end != readable && *end == '\0';
}
