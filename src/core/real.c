/* Logarithm by the series of the inverse hyperbolic tangent, log gamma by Stirling's series. */
#include "real.h"

#include <math.h>
#include <stdbool.h>

/* x = m * 2^exponent with m between sqrt(1/2) and sqrt(2). x must be positive and finite. */
static double split(double x, int *exponent)
{
    uint64_t bits;
    int scaled = 0;
    if (x < 0x1p-1022) { /* subnormal */
        x *= 0x1p54;
        scaled = 54;
    }
    memcpy(&bits, &x, sizeof bits);
    /* The subtraction moves sqrt(1/2) to a change of the exponent bits. */
    uint64_t from_root = bits - UINT64_C(0x3FE6A09E667F3BCD);
    *exponent = (int)((int64_t)from_root >> 52) - scaled;
    bits -= from_root & UINT64_C(0xFFF0000000000000);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* log(1 + f) = f - tail. With s = f / (2 + f), log(1 + f) = 2 (s + s^3/3 + s^5/5 + ...) and 2 s = f - s f; the large
 * term f remains exact. The terms are added in pairs, because a processor adds several pairs at once. */
static double log_tail(double f)
{
    double s = f / (2 + f), z = s * s, z2 = z * z, z4 = z2 * z2, half = 0.5 * f * f;
    double first = (2.0 / 3 + z * (2.0 / 5)) + z2 * (2.0 / 7 + z * (2.0 / 9));
    double second = (2.0 / 11 + z * (2.0 / 13)) + z2 * (2.0 / 15 + z * (2.0 / 17));
    double third = (2.0 / 19 + z * (2.0 / 21)) + z2 * (2.0 / 23);
    double rest = z * (first + z4 * (second + z4 * third));
    return half - s * (half + rest);
}

static bool is_ordinary(double x)
{
    return x > 0 && x < INFINITY;
}

static double log_of_others(double x)
{
    if (x == 0) return -INFINITY;
    return x > 0 ? x : NAN;
}

double cofi_ln(double x)
{
    const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33; /* n * ln2_high is exact */
    if (!is_ordinary(x)) return log_of_others(x);
    int exponent;
    double f = split(x, &exponent) - 1;
    return exponent * ln2_high - (log_tail(f) - exponent * ln2_low - f);
}

double cofi_log2(double x)
{
    if (!is_ordinary(x)) return log_of_others(x);
    int exponent;
    double f = split(x, &exponent) - 1;
    return exponent + (f - log_tail(f)) * 1.4426950408889634074;
}

double cofi_log_gamma(double x)
{
    const double half_log_2pi = 0.91893853320467274178;
    static const double term[] = {1.0 / 12,   -1.0 / 360,        1.0 / 1260, -1.0 / 1680,
                                  1.0 / 1188, -691.0 / 360360.0, 1.0 / 156,  -3617.0 / 122400};
    double product = 1, sum = 0;
    if (x == 1 || x == 2) return 0;
    for (; x < 8; x++) product *= x; /* gamma(x) = gamma(x + 1) / x; the series needs a large x */
    double inverse = 1 / x, square = inverse * inverse;
    for (size_t n = sizeof term / sizeof *term; n-- > 0;) sum = sum * square + term[n];
    double gamma = (x - 0.5) * cofi_ln(x) - x + half_log_2pi + sum * inverse;
    return product == 1 ? gamma : gamma - cofi_ln(product);
}
