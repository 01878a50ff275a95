/* How good a partition is, from its counts alone. */
#ifndef COFI_CRITERION_H
#define COFI_CRITERION_H

#include "fit.h"

/* L of the paper: summed distance of the rows to their clusters, under these scores. */
double cofi_objective(const cofi_partition *partition, const cofi_scores *scores);
double cofi_log_likelihood(const cofi_partition *partition);
double cofi_log_likelihood_of_one(const cofi_partition *partition); /* of all rows in one cluster */
double cofi_criterion(const cofi_fit *fit);                         /* what --select says: larger is better */
double cofi_criterion_given(const cofi_fit *fit, double log_likelihood); /* where that is known already */

#endif
