#include "overlap.h"

#include <string.h>

void cofi_overlap_add(const int32_t *own, const int32_t *other, size_t n, uint32_t k, uint32_t *work,
                      double *sum)
{
    if (memcmp(own, other, n * sizeof *own) == 0) {
        for (uint32_t j = 0; j < k; j++) sum[j] += 1;
        return;
    }
    uint32_t *own_size = work + (size_t)k * k, *other_size = own_size + k;
    memset(work, 0, (size_t)k * (k + 2) * sizeof *work);
    for (size_t s = 0; s < n; s++) {
        if (own[s] < 0 || other[s] < 0) continue;
        work[(size_t)own[s] * k + (size_t)other[s]]++;
        own_size[own[s]]++;
        other_size[other[s]]++;
    }
    for (uint32_t j = 0; j < k; j++) {
        double most = own_size[j] == 0; /* an empty cluster counts as found */
        for (uint32_t h = 0; h < k && own_size[j] > 0; h++) {
            double common = work[(size_t)j * k + h], either = own_size[j] + other_size[h] - common;
            most = common > most * either ? common / either : most;
        }
        sum[j] += most;
    }
}
