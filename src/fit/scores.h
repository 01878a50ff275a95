/* The table S: what a cluster charges for each value. Every function here fills fit->scores anew. */
#ifndef COFI_SCORES_H
#define COFI_SCORES_H

#include "fit.h"

void cofi_profile_clear(cofi_fit *fit);  /* no cluster has one */
void cofi_profile_update(cofi_fit *fit); /* from the counts of every cluster that has rows */

/* Scale and base for scores made by hand, where no row's sum exceeds `largest_sum`. */
void cofi_scores_open(cofi_fit *fit, double largest_sum);
int64_t cofi_fixed_point(double score, double scale);
void cofi_scores_onehot(cofi_fit *fit); /* one-hot k-means, from the profiles */
void cofi_scores_trace(cofi_fit *fit);  /* equation 6: along the forest, from the profiles */
/* From the counts of `from`, a partition of the same attributes. Every cluster can take rows, an empty one too. */
void cofi_scores_likelihood(cofi_fit *fit, const cofi_partition *from);

#endif
