/* The table of starts, in the order of cof_init. */
#include "starts.h"

/* clang-format off */
#define STARTS(X) \
    X(COF_INIT_PORTFOLIO, portfolio) \
    X(COF_INIT_KMEANS, kmeans) \
    X(COF_INIT_FARTHEST, farthest) \
    X(COF_INIT_RANDOM, random) \
    X(COF_INIT_MODESPP, modespp) \
    X(COF_INIT_CAO, cao) \
    X(COF_INIT_HUANG, huang)
/* clang-format on */

#define DECLARE(number, name) extern const cofi_start cofi_start_##name;
STARTS(DECLARE)

#define LIST(number, name) [number] = &cofi_start_##name,
static const cofi_start *const starts[] = {STARTS(LIST)};

const cofi_start *cofi_start_of(int32_t init)
{
    return starts[init];
}

size_t cof_start_count(void)
{
    return sizeof starts / sizeof *starts;
}

const char *cof_start_name(size_t start)
{
    return start < cof_start_count() ? starts[start]->name : NULL;
}

const char *cof_start_title(size_t start)
{
    return start < cof_start_count() ? starts[start]->title : NULL;
}
