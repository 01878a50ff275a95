/* Interfaces of methods and starts. A start finds the first seeds, modes or partition of a restart; a
 * method turns them into the partition with which the restart ends. */
#pragma once

#include "fit.h"

typedef struct cofi_method {
    const char *name;  /* the name for --method */
    const char *title; /* one line for help and reports */
    uint32_t flags;    /* COFI_METHOD_... */
    /* Runs once per fit: computes what does not depend on the start, for example value distances. May be
     * NULL. `state` is passed to the other functions; its memory comes from fit->own. */
    cof_status (*open)(cofi_fit *fit, void **state, cof_error *err);
    /* Runs one restart after its start: leaves a partition, scores that reproduce it, and the reason why
     * it ended in the log. */
    cof_status (*run)(cofi_fit *fit, void *state, cof_error *err);
    /* Computes the remaining results from the partition alone. NULL: the restart is run again, which gives
     * the same result. */
    cof_status (*restore)(cofi_fit *fit, void *state, cof_error *err);
    /* Runs once, after the restart that is kept was restored: improves its result (unless not `polish`, because the host
     * asked to stop), adds to its passes and its history, and may renumber its clusters. May be NULL. */
    cof_status (*finish)(cofi_fit *fit, void *state, bool polish, cof_error *err);
    /* Adds results of the last restart that only this method has. May be NULL. */
    void (*tell)(const cofi_fit *fit, const void *state, cof_fit_info *info);
} cofi_method;

enum {
    COFI_METHOD_PAIRS = 1,      /* compares attributes with each other, so it needs at least two */
    COFI_METHOD_ROW_BY_ROW = 2, /* reads whole rows, so equal rows are not folded */
    /* its distance is not a sum over attributes, so new rows cannot be labelled */
    COFI_METHOD_NO_SCORES = 4,
    COFI_METHOD_MIXED = 8,      /* can use quantities */
    COFI_METHOD_PORTFOLIO = 16, /* the portfolio is its default start; likelihood may refine its restarts */
    COFI_METHOD_STANDARD = 32,  /* scales quantities to a standard deviation of 1 by default */
    COFI_METHOD_ORDER = 64,     /* a stated order of values changes its result */
    COFI_METHOD_CLASSES = 128,  /* clusters are classes of a mixture, which exist without rows of their own */
    COFI_METHOD_COST = 256      /* users compare restarts by its objective, so that selects one by default */
};

typedef struct cofi_start {
    const char *name;  /* the name for --init */
    const char *title; /* one line for help */
    bool once;         /* deterministic, so one restart is enough */
    /* Runs once per lane; may be NULL. `close` is called even if `open` failed. `first` is the state of the first lane, which
     * lives longer, or NULL. */
    cof_status (*open)(cofi_fit *fit, const void *first, void **state, cof_error *err);
    /* Runs once, on the first lane, before the first restart; may be NULL. It does for all restarts what they need not do
     * one by one, with at most n_lanes fits of its own at the same time. same_as, one for each restart, is COFI_NONE before
     * the call. It may be set to an earlier restart whose result this one would repeat, or to the number of the restart
     * itself, which leaves it out, because the host asked to stop. */
    cof_status (*prepare)(cofi_fit *fit, void *state, uint32_t n_lanes, uint32_t *same_as, cof_error *err);
    /* Leaves seeds and modes, or modes and a partition; in the latter case it calls cofi_profile_clear. */
    cof_status (*run)(cofi_fit *fit, void *state, cof_error *err);
    void (*close)(cofi_fit *fit, void *state); /* may be NULL */
} cofi_start;

enum { COFI_ONE_THREAD_ROWS = 4096 }; /* rows of one block of a pass, which one thread processes */
