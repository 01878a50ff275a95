/* The exponential function with the same bits on every processor. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define COFI_INLINE static inline __attribute__((always_inline))

/* exp(x) for x <= 0 with a relative error of about 1e-13. Powers of two go through the exponent bits, the
 * rest through a polynomial. Plain arithmetic gives the same bits on every processor; the exp of C
 * libraries does not. */
COFI_INLINE void cofi_exp_all(double *x, size_t n)
{
    static const double ln2_power[] = {1,
                                       0.69314718055994530942,
                                       0.24022650695910071233,
                                       0.055504108664821579953,
                                       0.0096181291076284771620,
                                       0.0013333558146428443423,
                                       1.5403530393381609954e-4,
                                       1.5252733804059840281e-5,
                                       1.3215486790144309489e-6,
                                       1.0178086009239699728e-7,
                                       7.0549116208011233299e-9,
                                       4.4455382718708114976e-10};
    const double to_whole = 0x1.8p52; /* adding it leaves a whole number in the lowest bits */
    for (size_t i = 0; i < n; i++) {
        double y = (x[i] > -700 ? x[i] : -700) * 1.4426950408889634074, shifted = y + to_whole;
        double rest = y - (shifted - to_whole), sum = 0, power;
        uint64_t bits;
        for (int at = sizeof ln2_power / sizeof *ln2_power; at-- > 0;) sum = sum * rest + ln2_power[at];
        memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + 1023) << 52;
        memcpy(&power, &bits, sizeof power);
        x[i] = sum * power;
    }
}
