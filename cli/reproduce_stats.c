/* Means, quantiles, and where a printed mean lies among those one could have got. */
#include "reproduce.h"

#include <stdlib.h>

double rep_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return n > 0 ? sum / (double)n : (double)NAN;
}

double rep_deviation(const double *x, size_t n)
{
    double mean = rep_mean(x, n), sum = 0;
    for (size_t i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
    return n > 1 ? sqrt(sum / (double)(n - 1)) : (double)NAN;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void rep_sort(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
}

double rep_quantile(const double *sorted, size_t n, double q)
{
    if (n == 0) return (double)NAN;
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* splitmix64: a few thousand fair draws, the same every time. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* With repetition: without, the spread would shrink as `size` comes near n. */
void rep_resample_means(const double *x, size_t n, size_t size, double means[N_MEANS])
{
    uint64_t state = 1;
    for (size_t m = 0; m < N_MEANS; m++) {
        double sum = 0;
        for (size_t i = 0; i < size; i++) sum += x[next_random(&state) % n];
        means[m] = sum / (double)size;
    }
    rep_sort(means, N_MEANS);
}

/* Printed means have four digits, so equal means a difference below half of the last one. */
double rep_percentile(const double *sorted, size_t n, double x)
{
    static const double HALF_DIGIT = 0.00005;
    size_t below = 0, same = 0;
    for (size_t i = 0; i < n; i++) {
        below += sorted[i] < x - HALF_DIGIT;
        same += fabs(sorted[i] - x) <= HALF_DIGIT;
    }
    return n > 0 ? 100 * ((double)below + (double)same / 2) / (double)n : (double)NAN;
}
