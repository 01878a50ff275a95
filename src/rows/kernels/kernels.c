/* The list of kernels and the choice of one: the fastest that the processor supports. */
#include "kernel.h"

#include "../../core/utf8.h"

#include <stdio.h>
#include <stdlib.h>

static const cofi_kernel *const every_kernel[] = {
#if defined(__x86_64__) && defined(__GNUC__)
    &cofi_kernel_avx512,
    &cofi_kernel_avx2,
#elif defined(__aarch64__) && defined(__GNUC__)
    &cofi_kernel_neon,
#elif defined(__wasm_simd128__)
    &cofi_kernel_simd128,
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

cof_status cofi_kernel_choose(const cofi_kernel **kernel, cof_error *err)
{
    const char *wanted = getenv("COFOREST_KERNEL");
    char known[64] = "", shown[64];
    *kernel = cofi_kernel_at(0);
    if (wanted == NULL || *wanted == '\0') return COF_OK;
    for (size_t i = 0; (*kernel = cofi_kernel_at(i)) != NULL; i++) {
        if (strcmp((*kernel)->name, wanted) == 0) return COF_OK;
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i > 0 ? ", " : "",
                 (*kernel)->name);
    }
    return cofi_fail(err, COF_ERR_ARGUMENT,
                     "COFOREST_KERNEL is '%s', and this processor has %s; change or unset it",
                     cofi_utf8_show(shown, sizeof shown, wanted), known);
}
