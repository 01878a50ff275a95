/* The latent class model, a mixture of classes within which attributes are independent, and EM for it.
 * Every class is smoothed with one pseudo-row of the overall distribution; for lca with options.prior pseudo-rows. */
#pragma once

#include "fit.h"

typedef struct cofi_mixture cofi_mixture;

/* EM visits at most most_rows rows, evenly spaced in the table. `coarse`: for a start, which needs few digits and no
 * log-likelihood. The mixture lives as long as the fit. */
cof_status cofi_mixture_open(cofi_fit *fit, size_t most_rows, bool coarse, cofi_mixture **out,
                             cof_error *err);

/* M step from the counts of the partition, smoothed with at least one pseudo-row: EM never gives a probability of 0 back. */
void cofi_mixture_begin(const cofi_fit *fit, cofi_mixture *mixture);
/* The parameters become random: equal shares, and in each class any distribution with the same chance. */
void cofi_mixture_begin_anywhere(cofi_fit *fit, cofi_mixture *mixture);
/* The parameters become options.init_probabilities, and equal shares. */
void cofi_mixture_begin_at(const cofi_fit *fit, cofi_mixture *mixture);
/* E step. log_likelihood: of the rows visited; NULL where it is not wanted. */
cof_status cofi_mixture_expect(cofi_fit *fit, cofi_mixture *mixture, double *log_likelihood, cof_error *err);
/* M step from the results of the E step. Returns the mean change of the cells' log-probabilities. */
double cofi_mixture_maximise(const cofi_fit *fit, cofi_mixture *mixture);

/* Log-likelihood of the pseudo-rows that smooth the classes. EM never decreases the sum of this and the
 * log-likelihood, but it may decrease the log-likelihood alone. */
double cofi_mixture_smoothing(const cofi_fit *fit, const cofi_mixture *mixture);
/* Numbers the classes by falling share. */
void cofi_mixture_sort(const cofi_fit *fit, cofi_mixture *mixture);
/* Number of free parameters: class sizes, and a distribution per class and attribute. */
double cofi_mixture_parameters(const cofi_fit *fit);
/* Sets the scores to minus the logarithms of the probabilities, so that a pass finds the likeliest class
 * of every row. */
void cofi_mixture_scores(cofi_fit *fit, const cofi_mixture *mixture);
