/* Trials: complete restarts on a sample of a large table. All of them run before the first restart on the table,
 * in parallel, because each alone is too small to be shared by threads. On the table, a restart then begins with the
 * likelihoods that its trial's partition gives. */
#pragma once

#include "../fit/method.h"

typedef struct cofi_trials cofi_trials;

/* Draws n rows. *out remains NULL if they have fewer than k distinct ones. The memory is the fit's. */
cof_status cofi_trials_open(cofi_fit *fit, size_t n, cofi_trials **out, cof_error *err);
void cofi_trials_close(cofi_trials *trials); /* NULL is allowed */
cofi_rows *cofi_trials_rows(const cofi_trials *trials);

/* How a trial begins. Trials whose first partitions are equal share all that follows from these. */
typedef struct cofi_trial_start {
    cof_status (*open)(cofi_fit *fit, void **state, cof_error *err);
    cof_status (*run)(cofi_fit *fit, cof_error *err); /* leaves a partition and the refiner */
    /* improves a partition, of which alone its result depends */
    cof_status (*improve)(cofi_fit *fit, void *state, cof_error *err);
} cofi_trial_start;

/* Runs the trial of every restart from this start, at most n_lanes at the same time; same_as is that of cofi_start.prepare. */
cof_status cofi_trials_run(cofi_trials *trials, const cofi_trial_start *start, cofi_fit *fit,
                           uint32_t n_lanes, uint32_t *same_as, cof_error *err);
/* Sets the scores of the restart that the fit is in. `partition` is one of the trials' rows, for its counts. */
cof_status cofi_trials_join(const cofi_trials *trials, cofi_fit *fit, cofi_partition *partition,
                            cof_error *err);
