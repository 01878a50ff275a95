/* Restarts of a method from a start; the best one is kept. */
#ifndef COFI_RESTARTS_H
#define COFI_RESTARTS_H

#include "agreement.h"
#include "method.h"

typedef struct cofi_restarts {
    cofi_fit fit;
    const cofi_start *start;
    void *method_state, *start_state;
    cofi_kept *kept; /* partition of the best restart so far, if that is all it takes to restore it */
    cofi_agreement agreement;
    double *ari;     /* of each restart with the kept one */
    double *overlap; /* of each cluster with its counterparts in the good restarts */
    uint32_t n_good;
    cof_restart_record *record;
    uint32_t n_records, best;
    double best_criterion;
    bool in_place; /* the fit is as the best restart left it */
} cofi_restarts;

/* Close it whether opening failed or not. `options` with every member filled in. */
cof_status cofi_restarts_open(cofi_rows *rows, const cofi_method *method, const cofi_start *start,
                              const cof_fit_options *options, cofi_restarts *run, cof_error *err);
/* All restarts, or as many as the host allows; then leaves run->fit as the best one left it. */
cof_status cofi_restarts_run(cofi_restarts *run, cof_error *err);
void cofi_restarts_tell(const cofi_restarts *run, cof_fit_info *info);
void cofi_restarts_close(cofi_restarts *run);

#endif
