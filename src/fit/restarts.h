/* Runs a method several times, from different starts, and keeps the best restart.
 *
 * On a small table restarts run in parallel, each on one thread; on a larger one, two run at a time and share the threads.
 * On a large table they run one after the other, and all threads share the rows. Over rows elsewhere they advance in
 * rounds, so that several of them ask in one request. The choice depends on the table and the options; results, history
 * and progress do not depend on the number of threads. */
#pragma once

#include "agreement.h"
#include "dependence.h"
#include "method.h"
#include "mixture.h"
#include "alternatives.h"
#include "runner.h"

/* What a lane keeps of its restarts. */
typedef struct cofi_lane_best {
    cofi_kept *kept;       /* partition of the best one, if the method can restore from that */
    uint32_t kept_restart; /* number of that restart, or COFI_NONE */
    uint32_t holds;        /* the restart whose final state the fit has, or COFI_NONE */
    bool compared;         /* `criterion` is set */
    double criterion;      /* of the best so far */
    cofi_mixture *mixture; /* for COF_SELECT_MIXTURE; NULL until it is needed */
} cofi_lane_best;

/* The lane in which a restart ran, and the range of its passes in that lane's history. */
typedef struct cofi_restart_place {
    uint32_t lane; /* COFI_NONE: the restart has no partition */
    size_t first, n;
    uint32_t same_as; /* an earlier restart with the same result, its own number: left out, or COFI_NONE */
    atomic_bool done;
} cofi_restart_place;

typedef struct cofi_restarts {
    cof_env env; /* of the caller */
    cofi_blocks own;
    cofi_runner runner;
    const cofi_start *start;
    bool reports;            /* the host hears of restarts in their order, not of their passes */
    uint32_t lane_threads;   /* of each lane */
    uint32_t n_prepares;     /* fits that preparations of starts may have at the same time */
    uint32_t n_reported;     /* restarts of which the host was told */
    cofi_lane_best *best_of; /* per lane */
    cofi_restart_place *place;
    cofi_agreement agreement;
    cofi_dependence dependence; /* open only if the criterion needs it */
    cofi_fit *fit;              /* the fit of a lane, in the state in which the best restart ended */
    double *ari;                /* per restart: adjusted Rand index with the kept one */
    double *overlap;            /* per cluster: mean overlap with its counterparts in the good restarts */
    uint32_t n_good;
    cof_restart_record *record;
    uint32_t n_records, best;
    cofi_gains *gains;              /* per restart, if the criterion is balance or mixture */
    cofi_alternatives alternatives; /* other partitions that are nearly as good as the kept one */
    cof_pass_record *history;
    size_t n_history;
} cofi_restarts;

/* Every member of `options` is filled in. Close it even if opening failed. */
cof_status cofi_restarts_open(cofi_rows *rows, const cofi_method *method, const cofi_start *start,
                              const cof_fit_options *options, cofi_restarts *run, cof_error *err);
/* Runs all restarts, or as many as the host allows; then sets run->fit to the state in which the best one ended. */
cof_status cofi_restarts_run(cofi_restarts *run, cof_error *err);
/* Sets run->fit to the state in which a finished restart ended. */
cof_status cofi_restarts_restore(cofi_restarts *run, uint32_t restart, cof_error *err);
void cofi_restarts_tell(const cofi_restarts *run, cof_fit_info *info);
void cofi_restarts_close(cofi_restarts *run);
