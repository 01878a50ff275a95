/* Counts of values that share their scores, added up.
 *
 * After a few forests most values of a large column share their scores with others (cofi_forest.same_as), and a pass changes
 * the counts of few values. The sums over values with equal scores then follow the changes, so that a pass needs not read all
 * counts to find the scores of the next, nor to find L. */
#pragma once

#include "fit.h"

/* In the memory of the fit; tables of few values have none. */
cof_status cofi_masses_open(cofi_fit *fit, cof_error *err);
/* Call it when profiles.held is no longer that of the last update. */
void cofi_masses_forget(cofi_fit *fit);
/* Brings the profiles (held, whole) and the sums up to date with the counts. False: there are too many values with scores of
 * their own, or rows do not tell what changed; then it does nothing. */
bool cofi_masses_update(cofi_fit *fit);
/* L, as cofi_objective; the scores are those along the trees. */
double cofi_masses_objective(cofi_fit *fit);
