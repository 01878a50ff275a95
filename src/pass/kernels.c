/* Which kernel walks the rows: the fastest that the processor has, plain C where it has none of them. */
#include "pass.h"

#include <stdlib.h>

static const cofi_kernel *const every_kernel[] = {
#if defined(__x86_64__) && defined(__GNUC__)
    &cofi_kernel_avx512,
    &cofi_kernel_avx2,
#elif defined(__aarch64__) && defined(__GNUC__)
    &cofi_kernel_neon,
#endif
    &cofi_kernel_plain,
};

enum { N_KERNELS = sizeof every_kernel / sizeof *every_kernel };

const cofi_kernel *cofi_kernel_at(size_t at)
{
    for (size_t i = 0; i < N_KERNELS; i++)
        if (every_kernel[i]->available() && at-- == 0) return every_kernel[i];
    return NULL;
}

const cofi_kernel *cofi_kernel_choose(void)
{
    const char *wanted = getenv("COFOREST_KERNEL");
    for (size_t i = 0; wanted != NULL && cofi_kernel_at(i) != NULL; i++)
        if (strcmp(cofi_kernel_at(i)->name, wanted) == 0) return cofi_kernel_at(i);
    return cofi_kernel_at(0);
}
