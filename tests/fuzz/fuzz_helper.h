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

static int swallow(void *ctx, const char *text, size_t n_bytes)
{
    page *p = ctx;
    require(memchr(text, '\0', n_bytes) == NULL, "a NUL in a text");
    require(n_bytes < MOST_TEXT - p->n, "a text without end");
    memcpy(p->text + p->n, text, n_bytes);
    p->n += n_bytes;
    return p->refuse_after >= 0 && p->refuse_after-- == 0;
}

#endif
