/* Restarts of a method from a start; the best one is kept.
 *
 * On a small table restarts run side by side, each on one thread; on a large one they run one after the other, with
 * all threads on its rows. Which of the two depends on the table alone, and neither results, history nor progress
 * depend on the number of threads. */
#ifndef COFI_RESTARTS_H
#define COFI_RESTARTS_H

#include "agreement.h"
#include "method.h"

#include <stdatomic.h>

/* One of the fits that run side by side, with the memory of one restart at a time. */
typedef struct cofi_lane {
    cofi_fit fit;
    void *method_state, *start_state;
    cofi_kept *kept;       /* the partition of its best restart, if that is all it takes to restore it */
    uint32_t kept_restart; /* which one that is; COFI_NONE: none */
    uint32_t holds;        /* the restart that the fit is as it left; COFI_NONE: none */
    bool judged;           /* a restart has been judged, with */
    double best_criterion; /* the best so far */
    cof_status status;
    cof_error err;
    struct cofi_restarts *run;
} cofi_lane;

/* Where a restart ran, and where its passes stand in that lane's history. */
typedef struct cofi_restart_place {
    uint32_t lane; /* COFI_NONE: it was not run to a partition */
    size_t first, n;
    atomic_bool done;
} cofi_restart_place;

typedef struct cofi_restarts {
    cof_env env; /* the host's */
    const cofi_start *start;
    bool side_by_side;
    cofi_team *team; /* one worker a lane */
    cofi_lane *lane;
    uint32_t n_lanes;
    uint32_t n_told; /* restarts that the host has heard of */
    atomic_bool stopped;
    cofi_restart_place *place;
    cofi_agreement agreement;
    cofi_fit *fit;   /* the lane's that has the best restart, as that left it */
    double *ari;     /* of each restart with the kept one */
    double *overlap; /* of each cluster with its counterparts in the good restarts */
    uint32_t n_good;
    cof_restart_record *record;
    uint32_t n_records, best;
    cof_pass_record *history;
    size_t n_history;
} cofi_restarts;

/* Close it whether opening failed or not. `options` with every member filled in. */
cof_status cofi_restarts_open(cofi_rows *rows, const cofi_method *method, const cofi_start *start,
                              const cof_fit_options *options, cofi_restarts *run, cof_error *err);
/* All restarts, or as many as the host allows; then leaves run->fit as the best one left it. */
cof_status cofi_restarts_run(cofi_restarts *run, cof_error *err);
void cofi_restarts_tell(const cofi_restarts *run, cof_fit_info *info);
void cofi_restarts_close(cofi_restarts *run);

#endif
