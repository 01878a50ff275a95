/* The spanning tree of one attribute's profiles, over all pairs and looking only near each.
 *   bench_mst VALUES K KIND [LEAST MOST [REPEATS [METHODS]]]
 * Each value has LEAST to MOST rows (5 to 200). KIND says how they spread over the k clusters: `noise`, all
 * clusters alike; `planted`, half of the rows in a cluster of the value's own, the others anywhere; `skewed`,
 * by shares of the value's own, drawn so that a few clusters have most. METHODS: any of `p` (all pairs), `s`
 * (only near, never giving up) and `b` (what a fit does). Prints distinct profiles and the thread's own
 * seconds, medians of the repeats, and says so if trees differ. */
#include "../src/core/rng.h"
#include "../src/forest/mst.h"
#include "../src/forest/mst_sparse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint32_t draw(cofi_rng *rng, uint64_t n)
{
    return (uint32_t)cofi_rng_below(rng, n);
}

/* Where the value's rows go: shares of the clusters, added up. */
static void make_shares(cofi_rng *rng, char kind, uint32_t k, double *share)
{
    uint32_t home = draw(rng, k);
    double sum = 0;
    for (uint32_t j = 0; j < k; j++) {
        double x = kind == 's' ? pow(cofi_rng_unit(rng), 4) : 1.0 / k;
        if (kind == 'p') x = 0.5 / k + (j == home ? 0.5 : 0);
        sum += x;
        share[j] = sum;
    }
}

static uint64_t *make_counts(uint32_t n_values, uint32_t k, char kind, uint32_t least, uint32_t most)
{
    uint64_t *count = calloc((size_t)n_values * k, sizeof *count);
    double *share = malloc(k * sizeof *share);
    cofi_rng rng;
    cofi_rng_seed(&rng, 1, 0);
    for (uint32_t v = 0; count != NULL && v < n_values; v++) {
        uint32_t total = least + draw(&rng, most - least + 1);
        make_shares(&rng, kind, k, share);
        for (uint32_t i = 0; i < total; i++) {
            double x = cofi_rng_unit(&rng) * share[k - 1];
            uint32_t j = 0;
            while (j + 1 < k && share[j] <= x) j++;
            count[(size_t)v * k + j]++;
        }
    }
    free(share);
    return count;
}

static bool same_edges(const cof_edge *a, const cof_edge *b, uint32_t n)
{
    for (uint32_t e = 0; e < n; e++)
        if (a[e].u != b[e].u || a[e].v != b[e].v || a[e].length != b[e].length) return false;
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return fprintf(stderr, "usage: bench_mst VALUES K KIND [LEAST MOST [REPEATS [METHODS]]]\n"), 2;
    uint32_t n_values = (uint32_t)atoi(argv[1]), k = (uint32_t)atoi(argv[2]);
    uint32_t least = argc > 5 ? (uint32_t)atoi(argv[4]) : 5, most = argc > 5 ? (uint32_t)atoi(argv[5]) : 200;
    size_t repeats = argc > 6 ? strtoull(argv[6], NULL, 10) : 3;
    const char *methods = argc > 7 ? argv[7] : "pb";
    cofi_blocks own = {.env = cofi_env_resolve(NULL)};
    cof_error err;
    cofi_points q;
    cofi_mst m;
    uint64_t *count = make_counts(n_values, k, argv[3][0], least, most);
    double *took = malloc(repeats * sizeof *took);
    cof_edge *edge = malloc(n_values * sizeof *edge), *expected = malloc(n_values * sizeof *edge);
    cofi_points_open(&own, k, n_values, &q);
    cofi_mst_open(&own, k, n_values, &m);
    if (cofi_blocks_status(&own, &err) != COF_OK || count == NULL || took == NULL || edge == NULL ||
        expected == NULL || repeats == 0)
        return 1;
    for (const char *method = methods; *method != '\0'; method++) {
        uint32_t n_edges = 0, root, n_points = 0;
        for (size_t t = 0; t < repeats; t++) {
            cofi_points_gather(&q, count, NULL, k, n_values);
            n_points = q.n;
            double at = cpu_s();
            if (*method == 'p') n_edges = cofi_mst_prim(&m, &q, 1, 0, edge, &root);
            if (*method == 'b') n_edges = cofi_mst_build(&m, &q, 1, 0, edge, &root);
            if (*method == 's' && !cofi_mst_sparse(&own.env, &q, 1, 0, UINT64_MAX, edge, &n_edges, &root))
                return 1;
            took[t] = cpu_s() - at;
        }
        qsort(took, repeats, sizeof *took, by_value);
        bool same = method == methods || same_edges(edge, expected, n_edges);
        if (method == methods) memcpy(expected, edge, n_edges * sizeof *edge);
        printf("%u values, k = %u, %s, %u to %u rows: %u profiles, %c %.3f s%s\n", n_values, k, argv[3],
               least, most, n_points, *method, took[repeats / 2], same ? "" : "  TREES DIFFER");
        fflush(stdout);
    }
    cofi_blocks_release(&own);
    free(count);
    free(took);
    free(edge);
    free(expected);
    return 0;
}
