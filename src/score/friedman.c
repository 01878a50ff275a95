/* Tests whether methods differ over datasets: Friedman's test on ranks, its form by Iman and Davenport,
 * and the critical difference of Bonferroni and Dunn (Demsar 2006, "Statistical comparisons of classifiers
 * over multiple data sets"). */
#include "../core/env.h"
#include "special.h"

#include <math.h>

/* Whether a ranks before b. Missing values rank last and are tied. */
static bool is_better(double a, double b, bool larger)
{
    if (isnan(a)) return false;
    if (isnan(b)) return true;
    return larger ? a > b : a < b;
}

/* Adds one dataset's ranks, with ties averaged, and returns the sum of t^3 - t over its ties. */
static double add_ranks(const double *value, size_t n_methods, bool larger, double *sum)
{
    double ties = 0;
    for (size_t j = 0; j < n_methods; j++) {
        size_t before = 0, same = 0;
        for (size_t i = 0; i < n_methods; i++) {
            before += is_better(value[i], value[j], larger);
            same += value[i] == value[j] || (isnan(value[i]) && isnan(value[j]));
        }
        sum[j] += (double)before + ((double)same + 1) / 2;
        ties += (double)(same * same) - 1; /* each of the t tied values adds (t^3 - t) / t */
    }
    return ties;
}

/* If all ranks are tied, the methods do not differ. */
static double p_of(double chi_square, double df)
{
    return isnan(chi_square) ? 1 : cofi_chi_square_tail(chi_square, df);
}

static cof_friedman_result test_ranks(const double *mean_rank, double n, double k, double ties)
{
    cof_friedman_result r = {0};
    double squares = 0;
    for (size_t j = 0; j < (size_t)k; j++) squares += mean_rank[j] * mean_rank[j];
    double untied = 1 - ties / (n * (k * k * k - k));
    r.chi_square = fmax(12 * n / (k * (k + 1)) * (squares - k * (k + 1) * (k + 1) / 4), 0);
    r.chi_square_tied = untied > 0 ? r.chi_square / untied : (double)NAN;
    r.df = (uint32_t)k - 1;
    r.p = p_of(r.chi_square, k - 1);
    r.p_tied = p_of(r.chi_square_tied, k - 1);
    double rest = n * (k - 1) - r.chi_square;
    r.f = rest > 0 ? (n - 1) * r.chi_square / rest : (double)INFINITY;
    r.f_df1 = r.df;
    r.f_df2 = (uint32_t)((k - 1) * (n - 1));
    r.p_f = cofi_f_tail(r.f, r.f_df1, r.f_df2);
    return r;
}

cof_status cof_friedman(const cof_env *env, const double *value, size_t n_datasets, size_t n_methods,
                        int32_t larger_is_better, double *mean_rank, cof_friedman_result *out, cof_error *err)
{
    if (value == NULL || n_datasets < 2 || n_methods < 2 || n_methods > 1000000)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "the Friedman test needs at least 2 methods on 2 datasets, not %zu on %zu",
                         n_methods, n_datasets);
    cof_env own = cofi_env_resolve(env);
    double ties = 0, *sum = cofi_alloc_zero(&own, n_methods, sizeof *sum);
    if (sum == NULL) return cofi_no_memory(err);
    for (size_t i = 0; i < n_datasets; i++)
        ties += add_ranks(value + i * n_methods, n_methods, larger_is_better != 0, sum);
    for (size_t j = 0; j < n_methods; j++) sum[j] /= (double)n_datasets;
    cof_friedman_result result = test_ranks(sum, (double)n_datasets, (double)n_methods, ties);
    if (mean_rank != NULL) memcpy(mean_rank, sum, n_methods * sizeof *sum);
    if (out != NULL) cofi_return_struct(out, &result, sizeof result);
    cofi_release(&own, sum);
    return COF_OK;
}

double cof_critical_difference(size_t n_datasets, size_t n_methods, double alpha)
{
    double k = (double)n_methods, n = (double)n_datasets;
    if (n_methods < 2 || n_datasets < 1 || !(alpha > 0 && alpha < 1)) return (double)NAN;
    return -cofi_normal_quantile(alpha / (2 * (k - 1))) * sqrt(k * (k + 1) / (6 * n));
}
