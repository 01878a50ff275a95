/* A method that is nothing but k-modes with its own value distances. */
#ifndef COFI_KM_H
#define COFI_KM_H

#include "../fit/loops.h"
#include "../fit/method.h"
#include "../fit/criterion.h"
#include "../fit/scores.h"

/* State of such methods: the distances, made once. */
typedef struct cofi_km {
    cofi_distances d;
} cofi_km;

cof_status cofi_km_open(cofi_fit *fit, void **state, cof_error *err); /* distances all zero */
void cofi_km_close(cofi_fit *fit, void *state);
/* The specification's KM(D, L1, FREQ) and KM(D, L2, MED). */
cof_status cofi_km_run_l1(cofi_fit *fit, void *state, cof_error *err);
cof_status cofi_km_run_l2(cofi_fit *fit, void *state, cof_error *err);

/* Per flat id: whether a weighted row holds the value. *out is to be released even on failure. */
cof_status cofi_present_values(cofi_fit *fit, uint8_t **out, cof_error *err);

#endif
