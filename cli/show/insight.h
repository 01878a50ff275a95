/* What a partition says, from the model's counts alone: the values that mark a cluster, and how much
 * each attribute tells about it. */
#pragma once

#include "coforest_extra.h"

enum { MAX_TRAITS = 8 };

typedef cof_trait trait;

typedef struct traits {
    const trait *best; /* most evidence first */
    size_t n;
} traits;

typedef struct insight {
    traits *of_cluster; /* k: values the cluster holds more often than the table does */
    double *tells;      /* one an attribute: see cof_model_importance */
} insight;

int insight_find(const cof_model *model, insight *out); /* exit code */
/* At most `most` attributes with that many values, those that tell most first; their number. */
size_t insight_rank(const cof_model *model, const insight *in, uint32_t min_values, uint32_t max_values,
                    size_t most, size_t *attribute);
