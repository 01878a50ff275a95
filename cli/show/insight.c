/* What a partition says, from the model's counts alone. */
#include "insight.h"

#include "../column_choice.h"
#include "../complain.h"

int insight_find(const cof_model *model, insight *out)
{
    uint32_t k = cof_model_k(model);
    size_t n = cof_model_n_attributes(model), *found = keep((size_t)k + 1, sizeof *found);
    trait *all = keep((size_t)k * MAX_TRAITS + 1, sizeof *all);
    *out = (insight){keep((size_t)k + 1, sizeof *out->of_cluster), keep(n + 1, sizeof *out->tells)};
    TRY(complain_status(cof_model_importance(model, out->tells, n, &said), TASK_FIT));
    TRY(complain_status(cof_model_traits(model, COF_TRAIT_MORE, MAX_TRAITS, all, found, &said), TASK_FIT));
    for (uint32_t j = 0; j < k; j++) out->of_cluster[j] = (traits){all + (size_t)j * MAX_TRAITS, found[j]};
    return CODE_DONE;
}

size_t insight_rank(const cof_model *model, const insight *in, uint32_t min_values, uint32_t max_values,
                    size_t most, size_t *attribute)
{
    size_t n = 0;
    for (size_t r = 0; r < cof_model_n_attributes(model); r++) {
        cof_attribute about = attribute_of(model, r);
        if (!about.used || about.n_values < min_values || about.n_values > max_values) continue;
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
