/* The score table S: S[g][j] is what value g adds to the distance between a row and cluster j. Every
 * function here fills fit->scores. */
#pragma once

#include "fit.h"

void cofi_profile_clear(
    cofi_fit *fit); /* marks all profiles as missing: a cluster without rows can take none */
void cofi_profile_update(cofi_fit *fit); /* from the counts; clusters without rows keep their profile */

/* L of the paper: the sum of the distances between rows and their clusters, under these scores. */
double cofi_objective(const cofi_partition *partition, const cofi_scores *scores);

/* A power of two that keeps the sum of a row's scores, at most `largest_sum`, below 2^(COFI_SUM_BITS - 1). */
double cofi_scores_scale(double largest_sum);
/* Sets the scale and the base for scores that the caller fills in. No sum of a row's scores may exceed
 * `largest_sum`. */
void cofi_scores_open(cofi_fit *fit, double largest_sum);
int64_t cofi_fixed_point(double score, double scale);
void cofi_scores_onehot(cofi_fit *fit); /* one-hot k-means, from the profiles */
/* distances along the forest, to profiles that it brings up to date with the counts */
void cofi_scores_trace(cofi_fit *fit);
/* Negative log-likelihoods from the counts of `from`, a partition of the same attributes. Rows can join
 * every cluster, also an empty one. */
void cofi_scores_likelihood(cofi_fit *fit, const cofi_partition *from);

/* ---- Sums over values with equal scores (value_sums.c) ------------------------------------------------ */

/* In the memory of the fit; tables of few values have none. */
cof_status cofi_value_sums_open(cofi_fit *fit, cof_error *err);
/* Call it when profiles.held is no longer that of the last update. */
void cofi_value_sums_forget(cofi_fit *fit);
/* Brings the profiles (held, whole) and the sums up to date with the counts. False: there are too many values with scores of
 * their own, or rows do not tell what changed; then it does nothing. */
bool cofi_value_sums_update(cofi_fit *fit);
/* L, as cofi_objective; the scores are those along the trees. */
double cofi_trace_objective(cofi_fit *fit);
