/* Incomplete gamma and beta functions and the normal quantile, by the series and continued fractions of
 * Abramowitz and Stegun (6.5.29, 6.5.31, 26.5.8), evaluated by the modified Lentz method. */
#include "special.h"

#include "../core/real.h"

#include <float.h>
#include <math.h>

enum { MOST_TERMS = 10000 };
static const double TINY = 1e-300; /* replaces a zero by which Lentz's method would divide */

/* P(a, x) for x < a + 1, where the series of positive terms converges quickly. */
static double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < MOST_TERMS && term > sum * DBL_EPSILON; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * cofi_exp(-x + a * cofi_ln(x) - cofi_log_gamma(a));
}

static double away_from_zero(double x)
{
    return fabs(x) < TINY ? TINY : x;
}

/* Q(a, x) for x >= a + 1. */
static double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / TINY, d = 1 / away_from_zero(b), h = d;
    for (int n = 1; n < MOST_TERMS; n++) {
        double an = -n * (n - a);
        b += 2;
        d = 1 / away_from_zero(an * d + b);
        c = away_from_zero(b + an / c);
        h *= d * c;
        if (fabs(d * c - 1) < DBL_EPSILON) break;
    }
    return h * cofi_exp(-x + a * cofi_ln(x) - cofi_log_gamma(a));
}

double cofi_gamma_upper(double a, double x)
{
    if (!(x > 0)) return 1;
    if (isinf(x)) return 0;
    return x < a + 1 ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

/* One step of the fraction with numerator `an`; returns the factor of this step. */
static double lentz_step(double an, double *c, double *d)
{
    *d = 1 / away_from_zero(1 + an * *d);
    *c = away_from_zero(1 + an / *c);
    return *c * *d;
}

/* Converges quickly for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m < MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        h *= lentz_step(even, &c, &d);
        double factor = lentz_step(odd, &c, &d);
        h *= factor;
        if (fabs(factor - 1) < DBL_EPSILON) break;
    }
    return h;
}

double cofi_beta_lower(double a, double b, double x)
{
    if (!(x > 0)) return 0;
    if (x >= 1) return 1;
    double front = cofi_exp(cofi_log_gamma(a + b) - cofi_log_gamma(a) - cofi_log_gamma(b) + a * cofi_ln(x) +
                            b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* The lower half: starts from an approximation (Abramowitz and Stegun 26.2.23, error below 5e-4); each
 * Halley step for p - Phi(x) about triples the number of digits. */
static double lower_quantile(double p)
{
    double t = sqrt(-2 * cofi_ln(p));
    double x =
        (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
    for (int step = 0; step < 4; step++) {
        double density = cofi_exp(-x * x / 2) / sqrt(2 * acos(-1));
        double u = (0.5 * erfc(-x / sqrt(2)) - p) / density;
        if (!isfinite(u)) break;
        x -= u / (1 + x * u / 2);
    }
    return x;
}

double cofi_normal_quantile(double p)
{
    return p <= 0.5 ? lower_quantile(p) : -lower_quantile(1 - p);
}

double cofi_chi_square_tail(double x, double df)
{
    return cofi_gamma_upper(df / 2, x / 2);
}

/* P(F > x) = I_y(d2/2, d1/2) with y = d2 / (d2 + d1 x): this form has no cancellation in the upper tail. */
double cofi_f_tail(double x, double df1, double df2)
{
    if (!(x > 0)) return 1;
    if (isinf(x)) return 0;
    return cofi_beta_lower(df2 / 2, df1 / 2, df2 / (df2 + df1 * x));
}
