/* Counts of one attribute for tests of its points and its tree: many ties, many equal profiles. */
#ifndef POINTS_HELPER_H
#define POINTS_HELPER_H

#include "unit_helper.h"

#include "../../src/core/shape.h"

typedef struct attr_counts {
    uint32_t k, stride, n_values;
    uint64_t *count; /* [v][stride] */
    uint64_t *size;  /* k: at least the sum of each cluster's counts */
} attr_counts;

/* Totals up to `most`: the smaller, the more values share a profile or are equally far apart. Of ten values
 * one is absent and three repeat an earlier one, one in four of those at twice the counts. */
static inline attr_counts random_counts(cofi_rng *rng, uint32_t k, uint32_t n_values, size_t most)
{
    attr_counts c = {.k = k, .stride = cofi_stride(k), .n_values = n_values};
    c.count = get_zero((size_t)n_values * c.stride, sizeof *c.count);
    c.size = get_zero(k, sizeof *c.size);
    for (uint32_t v = 0; v < n_values; v++) {
        uint64_t *here = c.count + (size_t)v * c.stride;
        size_t kind = below(rng, 10), total = 1 + below(rng, most);
        if (kind == 0) continue;
        if (kind < 4 && v > 0) {
            const uint64_t *earlier = c.count + below(rng, v) * c.stride;
            uint64_t factor = below(rng, 4) == 0 ? 2 : 1;
            for (uint32_t j = 0; j < k; j++) here[j] = factor * earlier[j];
        } else {
            for (size_t i = 0; i < total; i++) here[below(rng, k)]++;
        }
        for (uint32_t j = 0; j < k; j++) c.size[j] += here[j];
    }
    return c;
}

static inline void free_counts(attr_counts *c)
{
    free(c->count);
    free(c->size);
}

static inline uint64_t value_total(const attr_counts *c, uint32_t v)
{
    uint64_t total = 0;
    for (uint32_t j = 0; j < c->k; j++) total += c->count[(size_t)v * c->stride + j];
    return total;
}

/* p(C_j|v), by the authors' detour over p(v|C_j) or straight; 0 for a value that no row holds. */
static inline double share(const attr_counts *c, bool authors, uint32_t v, uint32_t j)
{
    double n = (double)c->count[(size_t)v * c->stride + j];
    if (n == 0) return 0;
    if (authors) n = n / (double)c->size[j] * (double)c->size[j];
    return n / (double)value_total(c, v);
}

static inline bool same_profile(const attr_counts *c, bool authors, uint32_t u, uint32_t v)
{
    for (uint32_t j = 0; j < c->k; j++)
        if (share(c, authors, u, j) != share(c, authors, v, j)) return false;
    return true;
}

#endif
