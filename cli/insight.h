/* What a partition says, from the model's counts alone: the values that mark a cluster, and how much
 * each attribute tells about it. */
#ifndef COF_CLI_INSIGHT_H
#define COF_CLI_INSIGHT_H

#include "coforest.h"

enum { MAX_TRAITS = 8 };

/* A value that a cluster holds more often than the table does. */
typedef struct trait {
    size_t attribute;
    uint32_t value;
    double here, cluster; /* weight of the cluster's rows with the value, and of all its rows */
    double anywhere, all; /* the same in the table */
    double evidence;      /* G statistic of value against cluster; at 10.8 chance would do it once in 1000 */
} trait;

typedef struct traits {
    trait best[MAX_TRAITS]; /* most evidence first */
    size_t n;
} traits;

typedef struct insight {
    traits *of_cluster; /* k */
    double *tells;      /* one an attribute: the share of the uncertainty about the cluster that it
                           removes, 0 to 1, less what chance alone would */
} insight;

/* COF_ERR_MEMORY or COF_OK. */
cof_status insight_find(const cof_model *model, insight *out);
void insight_free(insight *out);
/* At most `most` attributes with that many values, those that tell most first; their number. */
size_t insight_rank(const cof_model *model, const insight *in, uint32_t min_values, uint32_t max_values,
                    size_t most, size_t *attribute);

#endif
