/* Fits that run at the same time over rows elsewhere, so that what they ask goes out as one request.
 *
 * Each fit has a lane: a thread, and a handle of its own to the rows. A round ends when every lane either waits for an
 * answer or is done. Then the requests of all lanes are joined in the order of the lanes and sent on the caller's thread.
 * So the requests do not depend on the number of threads that compute, nor on their speed. */
#pragma once

#include "rows.h"

typedef struct cofi_rounds cofi_rounds;

/* How many lanes are worth having over these rows; 1: none, the rows are in memory, or memory is short. */
uint32_t cofi_rounds_most(const cofi_problem *problem);
/* Opens at most n lanes, of which `threads` compute at the same time; 0: one for each core. *out remains NULL if the system
 * starts no threads. */
cof_status cofi_rounds_open(cofi_rows *rows, uint32_t n, uint32_t threads, cofi_rounds **out, cof_error *err);
uint32_t cofi_rounds_n(const cofi_rounds *rounds);
uint32_t cofi_rounds_threads(const cofi_rounds *rounds);
/* The lane's handle. Outside of cofi_rounds_run it asks at once. */
cofi_rows *cofi_rounds_rows(const cofi_rounds *rounds, uint32_t lane);
/* Calls lane(ctx, 0..n-1), each in a thread of its own, and before every round between(ctx) on the caller's thread. */
void cofi_rounds_run(cofi_rounds *rounds, uint32_t n, void (*lane)(void *ctx, uint32_t lane),
                     void (*between)(void *ctx), void *ctx);
void cofi_rounds_close(cofi_rounds *rounds); /* NULL is allowed */
