/* Asks the processor itself: __builtin_cpu_supports needs a run-time library that not every compiler brings. */
#include "processor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <stdatomic.h>
#include <stdint.h>

enum {
    POPCNT = 1u << 23, /* leaf 1, ecx */
    OSXSAVE = 1u << 27,
    AVX2 = 1u << 5, /* leaf 7, ebx */
    GFNI = 1u << 8, /* leaf 7, ecx */
    VPOPCNTDQ = 1u << 14,
    YMM = 0x06, /* XCR0: what the system saves of the registers */
    ZMM = 0xe6
};
static const unsigned int F_DQ_BW_VL = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; /* leaf 7, ebx */

static bool ask(cofi_instructions wanted)
{
    unsigned int a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & POPCNT)) return false;
    if (wanted == COFI_POPCNT) return true;
    if (!(c & OSXSAVE) || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    uint32_t saved, high; /* the registers that the system saves; the instruction needs OSXSAVE */
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if (wanted == COFI_AVX2) return (saved & YMM) == YMM && b & AVX2;
    return (saved & ZMM) == ZMM && (b & F_DQ_BW_VL) == F_DQ_BW_VL && c & GFNI && c & VPOPCNTDQ;
}

/* The answer is kept, because a virtual machine takes microseconds for the question. All threads find the same one. */
bool cofi_processor_has(cofi_instructions wanted)
{
    enum { NO = 1, YES };
    static atomic_uchar known[COFI_AVX512 + 1];
    unsigned char answer = atomic_load_explicit(&known[wanted], memory_order_relaxed);
    if (answer == 0) {
        answer = ask(wanted) ? YES : NO;
        atomic_store_explicit(&known[wanted], answer, memory_order_relaxed);
    }
    return answer == YES;
}
#else
bool cofi_processor_has(cofi_instructions wanted)
{
    (void)wanted;
    return false;
}
#endif
