/* Quality of a partition, computed from its counts alone. */
#pragma once

#include "fit.h"

double cofi_log_likelihood(const cofi_partition *partition);
/* if all rows were in one cluster */
double cofi_log_likelihood_of_one(const cofi_partition *partition);
/* What a tree of dependent attributes adds to the log-likelihood (dependence.h). */
typedef struct cofi_tree_gains {
    double of_clusters, of_one;
} cofi_tree_gains;

/* The least gain of a tree, in nats, that counts: the greatest of so many gains by chance is about as large. */
double cofi_gain_by_chance(size_t n_attrs);

#define COFI_NO_GAIN                                                                                         \
    (-1e4) /* the criterion `balance` of a partition that is no likelier than a single cluster */

/* the criterion that --select names, without trees; larger is better */
double cofi_criterion(const cofi_fit *fit);
/* Gains of a partition over a single cluster. */
typedef struct cofi_gains {
    double likelihood;  /* the others are 0 if this is not above 0 */
    double beside_tree; /* in likelihood, where a tree of dependent attributes helps both */
    double tightness;
    uint32_t n_empty; /* clusters without rows */
} cofi_gains;

/* *share: the share of the rows, by weight, whose sum of scores is less for another cluster than for their own; of a
 * large table, of 65,536 evenly spaced rows. 0 if no row has weight. */
cof_status cofi_nearer_other_measure(const cofi_fit *fit, double *share, cof_error *err);

cofi_gains cofi_gains_measure(const cofi_partition *partition, double log_likelihood, cofi_tree_gains tree);
/* if the log-likelihood is already known; only `balance` reads the gains */
double cofi_criterion_given(const cofi_fit *fit, double log_likelihood, const cofi_gains *gains);
