/* What a partition says, from the model's counts alone. */
#include "insight.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

cof_status insight_find(const cof_model *model, insight *out)
{
    uint32_t k = cof_model_k(model);
    size_t n = cof_model_n_attributes(model), *found = calloc((size_t)k + 1, sizeof *found);
    *out = (insight){.of_cluster = calloc((size_t)k + 1, sizeof *out->of_cluster),
                     .tells = calloc(n + 1, sizeof *out->tells),
                     .owned = calloc((size_t)k * MAX_TRAITS + 1, sizeof *out->owned)};
    bool complete = found != NULL && out->of_cluster != NULL && out->tells != NULL && out->owned != NULL;
    cof_status status = complete ? cof_model_importance(model, out->tells, n, NULL) : COF_ERR_MEMORY;
    if (status == COF_OK)
        status = cof_model_traits(model, COF_TRAIT_MORE, MAX_TRAITS, out->owned, found, NULL);
    for (uint32_t j = 0; status == COF_OK && j < k; j++)
        out->of_cluster[j] = (traits){out->owned + (size_t)j * MAX_TRAITS, found[j]};
    free(found);
    if (status != COF_OK) insight_free(out);
    return status;
}

void insight_free(insight *out)
{
    free(out->of_cluster);
    free(out->tells);
    free(out->owned);
    *out = (insight){.tells = NULL};
}

size_t insight_rank(const cof_model *model, const insight *in, uint32_t min_values, uint32_t max_values,
                    size_t most, size_t *attribute)
{
    size_t n = 0;
    for (size_t r = 0; r < cof_model_n_attributes(model); r++) {
        cof_attribute about = {.struct_size = sizeof about};
        if (cof_model_attribute(model, r, &about) != COF_OK || !about.used) continue;
        if (about.n_values < min_values || about.n_values > max_values) continue;
        if (in->tells[r] <= 0) continue;
        size_t at = n;
        while (at > 0 && in->tells[attribute[at - 1]] < in->tells[r]) at--;
        if (at == most) continue;
        size_t last = n < most ? n : most - 1;
        memmove(attribute + at + 1, attribute + at, (last - at) * sizeof *attribute);
        attribute[at] = r;
        n = last + 1;
    }
    return n;
}
