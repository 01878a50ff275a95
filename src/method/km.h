/* A method that is k-modes with its own value distances. */
#ifndef COFI_KM_H
#define COFI_KM_H

#include "../fit/loops.h"
#include "../fit/method.h"
#include "../fit/criterion.h"
#include "../fit/scores.h"

/* State of such a method: the distances, computed once. */
typedef struct cofi_km {
    cofi_distances d;
} cofi_km;

cof_status cofi_km_open(cofi_fit *fit, void **state, cof_error *err); /* all distances are zero */
void cofi_km_close(cofi_fit *fit, void *state);
/* KM(D, L1, FREQ) and KM(D, L2, MED) of the specification. */
cof_status cofi_km_run_l1(cofi_fit *fit, void *state, cof_error *err);
cof_status cofi_km_run_l2(cofi_fit *fit, void *state, cof_error *err);

/* Per flat id: whether the value occurs in a row of positive weight. The caller releases *out, even if the
 * call failed. */
cof_status cofi_present_values(cofi_fit *fit, uint8_t **out, cof_error *err);

#endif
