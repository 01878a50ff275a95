/* Logarithm, exponential and log gamma: close to those of the C library, and the same bits on every machine. */
#include "../../src/core/real.h"
#include "../../src/core/rng.h"
#include "cases_helper.h"
#include "unit_helper.h"

#include <float.h>
#include <math.h>

static double units_apart(double a, double b)
{
    int exponent;
    frexp(b, &exponent);
    return fabs(a - b) / ldexp(1, exponent - DBL_MANT_DIG);
}

/* Positive numbers of all magnitudes, half of them near 1. */
static double draw(cofi_rng *rng)
{
    double x = 0.5 + cofi_rng_unit(rng);
    return below(rng, 2) == 0 ? x : ldexp(x, (int)below(rng, 2080) - 1060);
}

static void logarithms_are_close(void **state)
{
    (void)state;
    cofi_rng rng = dice(1);
    for (int i = 0; i < 100000; i++) {
        double x = draw(&rng);
        assert_true(units_apart(cofi_ln(x), log(x)) <= 1.5);
        assert_true(fabs(cofi_log2(x) - log2(x)) <= 4e-16 * fmax(fabs(log2(x)), 0.5));
    }
    assert_true(cofi_ln(1) == 0 && !signbit(cofi_ln(1)));
    assert_true(cofi_ln(0) == -INFINITY && cofi_log2(0) == -INFINITY);
    assert_true(cofi_ln(INFINITY) == INFINITY && cofi_log2(INFINITY) == INFINITY);
    assert_true(isnan(cofi_ln(-1)) && isnan(cofi_log2(NAN)));
}

static void powers_of_two_are_exact(void **state)
{
    (void)state;
    for (int e = -1074; e < 1024; e++) assert_true(cofi_log2(ldexp(1, e)) == e);
}

static void log_gamma_is_close(void **state)
{
    (void)state;
    cofi_rng rng = dice(2);
    for (int i = 0; i < 100000; i++) {
        double x = i % 2 == 0 ? 0.5 * (1 + below(&rng, 1000))
                              : ldexp(0.5 + cofi_rng_unit(&rng), (int)below(&rng, 50) - 10);
        double wanted = lgamma(x);
        assert_true(fabs(cofi_log_gamma(x) - wanted) <= 1e-14 * fmax(1, fabs(wanted)));
    }
    assert_true(cofi_log_gamma(1) == 0 && cofi_log_gamma(2) == 0);
}

static void exponentials_are_close(void **state)
{
    (void)state;
    for (double x = -699; x < 699; x += 0.37) assert_true(fabs(cofi_exp(x) / exp(x) - 1) < 3e-13);
    assert_true(cofi_exp(0) == 1 && cofi_exp(-1e300) < 1e-300);
}

static uint64_t add_bits(uint64_t sum, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return cofi_mix64(sum ^ bits);
}

/* The sum was computed once on x86-64; other machines must give it too. */
static void bits_are_the_same_everywhere(void **state)
{
    (void)state;
    cofi_rng rng = dice(3);
    uint64_t sum = 0;
    for (int i = 0; i < 20000; i++) {
        double x = draw(&rng);
        sum = add_bits(add_bits(sum, cofi_ln(x)), cofi_log2(x));
        sum = add_bits(add_bits(sum, cofi_exp(-fmin(x, 1000))), cofi_log_gamma(fmin(x, 1e15)));
    }
    assert_int_equal(sum, UINT64_C(0x3f0ad3599a204dc2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithms_are_close),         cmocka_unit_test(powers_of_two_are_exact),
        cmocka_unit_test(log_gamma_is_close),           cmocka_unit_test(exponentials_are_close),
        cmocka_unit_test(bits_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
