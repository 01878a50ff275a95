/* Fewer cases where each takes very long, as under an emulator or the thread sanitizer: COF_ONE_IN=8 in the environment
 * asks for one in eight. */
#ifndef CASES_HELPER_H
#define CASES_HELPER_H

#include <stdlib.h>

static inline unsigned one_in(void)
{
    const char *text = getenv("COF_ONE_IN");
    unsigned n = text != NULL ? (unsigned)strtoul(text, NULL, 10) : 1;
    return n > 0 ? n : 1;
}

#endif
