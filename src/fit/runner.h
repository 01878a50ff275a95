/* Runs numbered jobs, each of which fits clusters to the same rows: restarts, trials on a sample, fits of other weights.
 *
 * The jobs begin in the order of the queue. A lane has the memory and the thread of one fit at a time; there is one lane, or
 * several lanes side by side, or, over rows elsewhere, several that advance in rounds (rows/rounds.h). The runner answers
 * whether a fit must stop: when the host says so, when a job has failed, or when the time is up and a job has ended. The host
 * is called on its own thread alone. What a job leaves depends on its number, not on its lane. */
#pragma once

#include "fit.h"

#include "../rows/rounds.h"

struct cofi_runner;

typedef struct cofi_lane {
    cofi_fit fit; /* open if the client called cofi_lane_open */
    void *method_state, *start_state;
    cof_env env;       /* what a fit on this lane's thread may call */
    bool stopped;      /* a fit of this lane was told to stop */
    uint32_t job;      /* the number of the latest */
    cof_status status; /* of that one; after a failure the lane begins no other */
    cof_error err;
    cof_progress progress; /* in rounds: the latest */
    bool has_progress;     /* which the host was not told yet */
    struct cofi_runner *runner;
} cofi_lane;

typedef struct cofi_jobs {
    const uint32_t *queue; /* numbers of jobs, n of them */
    uint32_t n;
    cof_status (*run)(void *ctx, cofi_lane *lane, uint32_t job, cof_error *err);
    void (*report)(void *ctx); /* on the host's thread, whenever jobs may have ended; may be NULL */
    void *ctx;
    bool first_begins; /* job 0 begins even if the host asks to stop, so that there is a result */
} cofi_jobs;

typedef struct cofi_runner {
    cof_env env;             /* of the host */
    double began_s, limit_s; /* a limit of 0: none */
    bool
        tells_passes; /* the host hears of every pass; otherwise only by `report`, or in rounds of the first lane's */
    cofi_lane *lane;
    uint32_t n_lanes;
    cofi_rounds *rounds;            /* NULL: lanes do not advance in rounds */
    atomic_bool stopped, timed_out; /* jobs were cut short or left out; because the time was up */
    atomic_bool any_done;           /* a job has ended by itself */
    atomic_uint n_left, n_busy;     /* jobs that have not begun; lanes that run one */
    cofi_team *team;                /* one worker for each lane; NULL in rounds */
    const cofi_jobs *jobs;          /* of the current run */
} cofi_runner;

/* Opens at most n_lanes lanes side by side; fewer if the system starts fewer threads. Close it even if opening failed. */
cof_status cofi_runner_open(cofi_runner *runner, const cof_env *env, uint32_t n_lanes, cof_error *err);
/* Opens at most n_lanes lanes that advance in rounds, `threads` of them at the same time. There is one lane, without rounds, if
 * n_lanes is 1 or the system starts no threads. */
cof_status cofi_runner_open_rounds(cofi_runner *runner, cofi_rows *rows, uint32_t n_lanes, uint32_t threads,
                                   cof_error *err);
/* Opens the lane's fit and the state of the method. The fit's own team has `threads` threads. */
cof_status cofi_lane_open(cofi_lane *lane, cofi_rows *rows, const struct cofi_method *method,
                          const cof_fit_options *options, uint32_t threads, cof_error *err);
bool cofi_runner_is_time_up(const cofi_runner *runner);
/* Runs jobs until all have ended or the runner was stopped. A failure is that of the job with the least number. */
cof_status cofi_runner_run(cofi_runner *runner, const cofi_jobs *jobs, cof_error *err);
void cofi_runner_close(cofi_runner *runner);
