/* The parts of a running fit. Each function takes only the parts it needs. */
#pragma once

#include "../core/rng.h"
#include "../core/tie.h"
#include "../forest/forest.h"
#include "../rows/rows.h"

struct cofi_method;

/* A partition of the same table into fewer clusters, known by its counts. Lent by whoever asks for the fit. */
typedef struct cofi_coarser {
    uint32_t k;
    const uint64_t *count; /* values of the attributes in their order x k, in units of the problem */
    const double *size;    /* k */
} cofi_coarser;

/* What the caller of the library provides. */
typedef struct cofi_host {
    cof_env env;
    cofi_team *team;
    cof_fit_options o; /* every member filled in */
    double began_s;
    const cofi_coarser *coarser; /* what some restarts of the portfolio begin with; NULL: none does */
} cofi_host;

/* Profiles of the clusters: p(v|C_j) = held / whole. A cluster that becomes empty keeps its last profile. Counts are held, not
 * shares, because trees need sums over many values: counts have exact sums, and few of them change in a pass, whereas all shares
 * of a cluster change with its size. */
typedef struct cofi_profiles {
    uint64_t *held;  /* [g][stride] */
    uint64_t *whole; /* [r][stride]; 0: there is no profile */
    uint8_t *alive;  /* k: the cluster has a profile, so rows can join it */
} cofi_profiles;

/* Sums of profiles.held over values with equal scores (value_sums.c). */
typedef struct cofi_value_sums {
    uint32_t most;     /* sums that fit in the memory; 0: none are kept */
    uint32_t n;        /* 0: there are more than `most` */
    uint64_t of_trees; /* cofi_forest.n_built when values were grouped */
    bool known;        /* `count` and had_rows are set */
    uint32_t *value;   /* n flat ids of values with scores of their own, ascending */
    uint32_t *sum_of;  /* per flat id: the number of its sums */
    uint32_t *first;   /* per attribute: its first sums; then n */
    uint64_t *count;   /* [n][stride] */
    bool *had_rows;    /* k: at the last update */
} cofi_value_sums;

/* What a restart starts from. */
typedef struct cofi_seeds {
    uint64_t *row;  /* k row numbers of the table */
    uint32_t *cell; /* [j][column]: cells of the seeds, attributes first, then quantities */
    uint32_t *mode; /* [j][attribute]: at first the seeds' cells, later the modes of the method */
} cofi_seeds;

/* What refines the start's partition. It also determines the distances that label new rows. */
typedef enum cofi_refiner { COFI_BY_METHOD, COFI_BY_LIKELIHOOD } cofi_refiner;

/* State and history of the current restart. */
typedef struct cofi_log {
    uint32_t restart, rebuild, n_passes;
    cofi_refiner refiner;
    bool stopped;        /* the host asked to stop */
    cof_stop stop;       /* why the restart ended */
    double objective;    /* L after the last pass */
    double nearer_other; /* share of the rows nearer to another cluster along the trees; NaN: not measured */
    cof_pass_record *history;
    size_t n_history, history_capacity;
    uint64_t visits; /* rows labelled so far, including skipped rows */
    double start_s, pass_s, forest_s;
} cofi_log;

typedef struct cofi_fit {
    cofi_host host;
    cofi_blocks own;     /* memory of the fit, its method and its start */
    cofi_blocks scratch; /* memory of one restart; released before the next */
    const cofi_problem *problem;
    const struct cofi_method *method;
    cofi_partition partition;
    cofi_scores scores;
    double *exact;  /* memory for scores.plain; only the authors' variant needs it */
    double *centre; /* [j][quantity]: scaled means; NaN: unknown */
    bool absolute;  /* quantities add differences to their means, not squares */
    double gamma;   /* weight of a differing attribute beside the quantities */
    cofi_profiles profiles;
    cofi_value_sums value_sums;
    cofi_forest forest;
    bool has_forest;
    uint64_t forest_of; /* hash of the partition that the forest was built from */
    cofi_seeds seeds;
    cofi_rng rng;
    cofi_log log;
} cofi_fit;

/* p(v|C_j) from the rows of the cluster that hold the value, and all that hold some value; 0 if there are none. */
static inline double cofi_share(uint64_t held, uint64_t whole)
{
    return whole > 0 ? (double)(int64_t)held / (double)(int64_t)whole : 0;
}

static inline double cofi_profile_of(const cofi_fit *fit, size_t r, uint32_t v, uint32_t j)
{
    size_t at = (size_t)(fit->problem->first[r] + v) * fit->scores.stride + j;
    return cofi_share(fit->profiles.held[at], fit->profiles.whole[r * fit->scores.stride + j]);
}

/* Every member of `options` is filled in. The rows and their problem must outlive the fit. */
cof_status cofi_fit_open(cofi_rows *rows, const struct cofi_method *method, const cof_fit_options *options,
                         cofi_fit *fit, cof_error *err);
void cofi_fit_close(cofi_fit *fit); /* allowed after a failed open */

/* The summed row weights per flat id, in scratch memory. */
cof_status cofi_fit_totals(cofi_fit *fit, const uint64_t **total, cof_error *err);
/* Runs and times one pass with the current scores, and reports progress to the host. */
cof_status cofi_fit_pass(cofi_fit *fit, cof_phase phase, uint64_t *moved, cof_error *err);
/* Appends a pass to the history. */
cof_status cofi_log_record(const cofi_host *host, cofi_log *log, uint64_t moved, cof_error *err);
/* Asks the host whether to stop, and stores the answer in log->stopped. */
bool cofi_log_stopped(const cofi_host *host, cofi_log *log);
