/* The scores of a clustering, described once for all outputs. */
#include "coforest_extra.h"

#include <string.h>

static const struct {
    cof_index score;
    size_t offset;
} scores[] = {
    {{"ca", "CA", "accuracy, each cluster matched with one class"}, offsetof(cof_indices, ca)},
    {{"ari", "ARI", "adjusted Rand index"}, offsetof(cof_indices, ari)},
    {{"nmi", "NMI", "normalised mutual information"}, offsetof(cof_indices, nmi)},
    {{"ami", "AMI", "adjusted mutual information"}, offsetof(cof_indices, ami)},
    {{"purity", "purity", "share of rows in the main class of their cluster"}, offsetof(cof_indices, purity)},
    {{"homogeneity", "homogeneity", "each cluster holds one class only"}, offsetof(cof_indices, homogeneity)},
    {{"completeness", "completeness", "each class lies in one cluster only"},
     offsetof(cof_indices, completeness)},
    {{"v_measure", "V-measure", "harmonic mean of homogeneity and completeness"},
     offsetof(cof_indices, v_measure)}};

const cof_index *cof_index_at(size_t score)
{
    return score < sizeof scores / sizeof *scores ? &scores[score].score : NULL;
}

double cof_index_value(const cof_indices *of, size_t score)
{
    double value;
    memcpy(&value, (const char *)of + scores[score].offset, sizeof value);
    return value;
}
