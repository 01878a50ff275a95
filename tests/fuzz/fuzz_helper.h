/* What fuzz targets share: claims that must hold, and a receiver of texts. */
#ifndef COF_FUZZ_HELPER_H
#define COF_FUZZ_HELPER_H

#include "coforest_extra.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 1 << 20 };

static void require(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

typedef struct page {
    size_t n;
    int refuse_after; /* pieces; -1: never */
    char text[MOST_TEXT];
} page;

/* A sink. Not every target needs it. */
static inline int swallow(void *ctx, const char *text, size_t n_bytes)
{
    page *p = ctx;
    require(memchr(text, '\0', n_bytes) == NULL, "a NUL in a text");
    require(n_bytes < MOST_TEXT - p->n, "a text without end");
    memcpy(p->text + p->n, text, n_bytes);
    p->n += n_bytes;
    return p->refuse_after >= 0 && p->refuse_after-- == 0;
}

/* Numbers of drawings are numbers. Empties the page. Not every user needs it. */
static inline void check_drawings(page *p)
{
    static const char *const wrong[] = {"=\"nan", "=\"-nan", "=\"inf", "=\"-inf"};
    p->text[p->n] = '\0';
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *at = strstr(p->text, wrong[i]);
        /* a name may well be such a word, but those stand in title, aria-label and the like */
        while (at != NULL && (at[-1] < '0' || at[-1] > '9') && strchr("xyr", at[-1]) == NULL)
            at = strstr(at + 1, wrong[i]);
        require(at == NULL, "a drawing with a number that is none");
    }
    for (const char *at = p->text; (at = strstr(at, " points=\"")) != NULL;) {
        at += strlen(" points=\"");
        require(at[strspn(at, "0123456789.,-+e ")] == '"', "points that are no numbers");
    }
    p->n = 0;
}

#endif
