/* The scores described once, for everything that shows them. */
#include "coforest.h"

#include <string.h>

static const struct {
    cof_score score;
    size_t offset;
} scores[] = {
    {{"ca", "CA", "accuracy, each cluster matched with one class"}, offsetof(cof_scores, ca)},
    {{"ari", "ARI", "adjusted Rand index"}, offsetof(cof_scores, ari)},
    {{"nmi", "NMI", "normalised mutual information"}, offsetof(cof_scores, nmi)},
    {{"ami", "AMI", "adjusted mutual information"}, offsetof(cof_scores, ami)},
    {{"purity", "purity", "share of rows in the main class of their cluster"}, offsetof(cof_scores, purity)},
    {{"homogeneity", "homogeneity", "each cluster holds one class only"}, offsetof(cof_scores, homogeneity)},
    {{"completeness", "completeness", "each class lies in one cluster only"},
     offsetof(cof_scores, completeness)},
    {{"v_measure", "V-measure", "harmonic mean of homogeneity and completeness"},
     offsetof(cof_scores, v_measure)}};

const cof_score *cof_score_at(size_t score)
{
    return score < sizeof scores / sizeof *scores ? &scores[score].score : NULL;
}

double cof_score_value(const cof_scores *of, size_t score)
{
    double value;
    memcpy(&value, (const char *)of + scores[score].offset, sizeof value);
    return value;
}
