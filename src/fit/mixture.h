/* A mixture of classes within which attributes are independent: the latent class model, and rounds of EM for it.
 * Smoothed by one row's worth of the overall distribution in every class. */
#ifndef COFI_MIXTURE_H
#define COFI_MIXTURE_H

#include "fit.h"

typedef struct cofi_mixture cofi_mixture;

/* EM will visit at most so many rows, evenly spread over the table. *out may be set even on failure: close it then
 * too. */
cof_status cofi_mixture_open(cofi_fit *fit, size_t most_rows, cofi_mixture **out, cof_error *err);
void cofi_mixture_close(cofi_fit *fit, cofi_mixture *mixture); /* NULL is fine */

void cofi_mixture_begin(const cofi_fit *fit, cofi_mixture *mixture); /* M step from the partition */
/* E step: the log-likelihood. */
cof_status cofi_mixture_expect(cofi_fit *fit, cofi_mixture *mixture, double *log_likelihood, cof_error *err);
void cofi_mixture_maximise(const cofi_fit *fit, cofi_mixture *mixture); /* M step from the E step */

/* Logarithm of the smoothing: what every class is lent, a row's worth of the overall distribution, is as if it had
 * been seen there. EM never lets this plus the log-likelihood fall; the log-likelihood alone it may. */
double cofi_mixture_smoothing(const cofi_fit *fit, const cofi_mixture *mixture);
/* Free parameters: class sizes, and each class's table of each attribute. */
double cofi_mixture_parameters(const cofi_fit *fit);
/* Minus the logarithms, as scores: a pass then finds the likeliest class of every row. */
void cofi_mixture_scores(cofi_fit *fit, const cofi_mixture *mixture);

#endif
