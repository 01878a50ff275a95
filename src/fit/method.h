/* What methods and starts are to the fit. A start finds the first seeds, modes or partition of a restart; a method
 * turns them into the partition that the restart ends with. */
#ifndef COFI_METHOD_H
#define COFI_METHOD_H

#include "fit.h"

typedef struct cofi_method {
    const char *name;  /* as --method says it */
    const char *title; /* one line for people */
    uint32_t flags;    /* COFI_METHOD_... */
    /* Once a fit: what does not depend on the start, value distances for example. May be NULL. `state` is
     * handed to run and close; close is called even if open failed half way. */
    cof_status (*open)(cofi_fit *fit, void **state, cof_error *err);
    /* One restart, after its start: leaves a partition, scores that reproduce it, and in the log how it ended. */
    cof_status (*run)(cofi_fit *fit, void *state, cof_error *err);
    void (*close)(cofi_fit *fit, void *state); /* may be NULL */
    /* Makes everything else from the partition alone. NULL: the restart is run again, which gives the same. */
    cof_status (*restore)(cofi_fit *fit, void *state, cof_error *err);
    /* Adds what only this method tells of its last restart. May be NULL. */
    void (*tell)(const cofi_fit *fit, const void *state, cof_fit_info *info);
} cofi_method;

enum {
    COFI_METHOD_STANDARD = 32,  /* measures quantities in standard deviations by default */
    COFI_METHOD_PAIRS = 1,      /* compares attributes with each other, so it needs two */
    COFI_METHOD_ROW_BY_ROW = 2, /* looks at whole rows, so equal ones are not folded */
    COFI_METHOD_NO_SCORES = 4,  /* its distances are no sums over attributes: new rows cannot be labelled */
    COFI_METHOD_MIXED = 8,      /* can use quantities */
    COFI_METHOD_PORTFOLIO =
        16 /* starts from the portfolio by default; its restart can be refined by likelihood */
};

typedef struct cofi_start {
    const char *name;  /* as --init says it */
    const char *title; /* one line for people */
    bool once;         /* no chance in it, so one restart is enough */
    /* Whether restarts need to know of earlier ones, and so run one after the other. NULL: never. */
    bool (*linked)(const cofi_problem *problem, uint32_t k);
    /* Once a fit; may be NULL. As for methods, close is called even if open failed half way. */
    cof_status (*open)(cofi_fit *fit, void **state, cof_error *err);
    /* Leaves seeds and modes, or modes and a partition. *same_as, COFI_NONE before the call: an earlier restart
     * that this one would only repeat. */
    cof_status (*run)(cofi_fit *fit, void *state, uint32_t *same_as, cof_error *err);
    void (*close)(cofi_fit *fit, void *state); /* may be NULL */
} cofi_start;

enum { COFI_ONE_THREAD_ROWS = 4096 }; /* one block of a pass, which is one thread's work */

#endif
