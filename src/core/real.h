/* Logarithm, exponential and log gamma with the same bits on every processor and with every C library: plain arithmetic
 * without fused multiply-add gives equal results everywhere, the functions of C libraries do not. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* No compiler may contract a * b + c into one rounding, whatever flags the host of these sources sets. Every header that
 * arithmetic needs includes this one. GCC ignores the standard's pragma, and clang GCC's. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define COFI_INLINE static inline __attribute__((always_inline))

/* Logarithms with an error of about one unit in the last place. cofi_log2 is exact for powers of two. Zero gives minus
 * infinity, negative numbers NaN. */
double cofi_ln(double x);
double cofi_log2(double x);

/* log of the gamma function for x > 0, with an error below 1e-14 times the larger of 1 and the result. */
double cofi_log_gamma(double x);

#define COFI_LEAST_LN (-700.0) /* in place of the logarithm of a probability that is 0 */

/* exp(x) for x < 700 with a relative error of about 1e-13; exp(-700) for x < -700. Powers of two go through the exponent
 * bits, the rest through a polynomial. */
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

COFI_INLINE double cofi_exp(double x)
{
    cofi_exp_all(&x, 1);
    return x;
}
