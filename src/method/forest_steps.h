/* Steps that COForest and its ablations share. */
#pragma once

#include "../fit/criterion.h"
#include "../fit/loops.h"
#include "../fit/method.h"
#include "../fit/scores.h"

/* Builds a tree for every attribute from the counts of the partition (paper, "Order Forest Construction"). A restart that is
 * restored has them already. */
static inline void cofi_build_forest(cofi_fit *fit)
{
    if (fit->has_forest && fit->forest_of == fit->partition.hash) return;
    fit->has_forest = true;
    fit->forest_of = fit->partition.hash;
    fit->scores.same_as = NULL; /* that is known of the last forest */
    double before = cofi_now_s();
    cofi_forest_build(&fit->forest, fit->partition.count, fit->partition.size);
    fit->log.forest_s += cofi_now_s() - before;
}

/* The score function of a cofi_loop. */
static inline void cofi_score_traces(cofi_fit *fit, void *ctx, uint32_t pass)
{
    cofi_scores_trace(fit);
}
