/* Distribution functions for significance tests, to about 13 digits. */
#pragma once

double cofi_gamma_upper(double a, double x);          /* Q(a, x), regularised; a > 0 */
double cofi_beta_lower(double a, double b, double x); /* I_x(a, b), regularised; a, b > 0 */
double cofi_normal_quantile(double p);                /* the x with P(X <= x) = p; 0 < p < 1 */

double cofi_chi_square_tail(double x, double df);     /* P(X > x) */
double cofi_f_tail(double x, double df1, double df2); /* P(X > x) */
