/* The parts of a running fit. Each function takes the parts it needs. */
#ifndef COFI_FIT_H
#define COFI_FIT_H

#include "../core/rng.h"
#include "../core/tie.h"
#include "../forest/forest.h"
#include "../rows/rows.h"

struct cofi_method;

/* What the host lends. */
typedef struct cofi_host {
    cof_env env;
    cofi_team *team;
    cof_fit_options o; /* every member filled in */
    double began_s;
} cofi_host;

/* What the clusters are like: p(v|C_j), [g][stride]. An emptied cluster keeps the last profile it had. */
typedef struct cofi_profiles {
    double *share;
    uint8_t *alive; /* k: the cluster has a profile, so rows may join it */
} cofi_profiles;

/* What a restart begins with. */
typedef struct cofi_seeds {
    uint64_t *row;  /* k rows of the table */
    uint32_t *cell; /* [j][column]: their cells, attributes first, then quantities */
    uint32_t *mode; /* [j][attribute]: the seeds' cells, then whatever the method makes of them */
} cofi_seeds;

/* What refines the partition of the start, and so makes the distances that new rows are labelled by. */
typedef enum cofi_refiner { COFI_BY_METHOD, COFI_BY_LIKELIHOOD } cofi_refiner;

/* Where a restart stands, and what happened so far. */
typedef struct cofi_log {
    uint32_t restart, rebuild, n_passes;
    cofi_refiner refiner;
    bool stopped;     /* the host said so */
    cof_stop stop;    /* how the restart ended */
    double objective; /* of the last pass */
    cof_pass_record *history;
    size_t n_history, history_capacity;
    uint64_t visits; /* rows labelled so far, whether scored or known to stay */
    double start_s, pass_s, forest_s;
} cofi_log;

typedef struct cofi_fit {
    cofi_host host;
    const cofi_problem *problem;
    const struct cofi_method *method;
    cofi_partition partition;
    cofi_scores scores;
    double *exact; /* room for scores.plain, where the authors' variant needs it */
    cofi_profiles profiles;
    cofi_forest forest;
    cofi_seeds seeds;
    cofi_rng rng;
    cofi_log log;
} cofi_fit;

/* `options` with every member filled in. The rows and their problem outlive the fit. */
cof_status cofi_fit_open(cofi_rows *rows, const struct cofi_method *method, const cof_fit_options *options,
                         cofi_fit *fit, cof_error *err);
void cofi_fit_close(cofi_fit *fit); /* fine after a failed open */

/* One timed pass with the current scores; tells the host. */
cof_status cofi_fit_pass(cofi_fit *fit, cof_phase phase, uint64_t *moved, cof_error *err);
/* Adds a pass to the history. */
cof_status cofi_log_record(const cofi_host *host, cofi_log *log, uint64_t moved, cof_error *err);
/* Asks the host whether to go on; the answer stays in log->stopped. */
bool cofi_log_stopped(const cofi_host *host, cofi_log *log);

#endif
