/* Quality of a partition, computed from its counts alone. */
#ifndef COFI_CRITERION_H
#define COFI_CRITERION_H

#include "fit.h"

/* L of the paper: the sum of the distances between rows and their clusters, under these scores. */
double cofi_objective(const cofi_partition *partition, const cofi_scores *scores);
double cofi_log_likelihood(const cofi_partition *partition);
/* if all rows were in one cluster */
double cofi_log_likelihood_of_one(const cofi_partition *partition);
/* the criterion that --select names; larger is better */
double cofi_criterion(const cofi_fit *fit);
/* if the log-likelihood is already known */
double cofi_criterion_given(const cofi_fit *fit, double log_likelihood);

#endif
