/* What a method is to the fit: something that turns a start into a partition, over and over. */
#ifndef COFI_METHOD_H
#define COFI_METHOD_H

#include "engine.h"

typedef struct cofi_method {
    const char *name;  /* as --method says it */
    const char *title; /* one line for people */
    uint32_t flags;    /* COFI_METHOD_... */
    /* Once a fit: what does not depend on the start, value distances for example. May be NULL. `state` is
     * handed to run and close; close is called even if open failed half way. */
    cof_status (*open)(cofi_engine *engine, void **state, cof_error *err);
    /* One restart, after cofi_begin: leaves a partition in engine->pass, scores that reproduce it in
     * engine->scores, and says how it ended in engine->stop and engine->objective. */
    cof_status (*run)(cofi_engine *engine, void *state, cof_error *err);
    void (*close)(cofi_engine *engine, void *state); /* may be NULL */
    /* Puts the engine into the state that belongs to the partition in engine->pass. NULL: the restart is run
     * again, which gives the same. */
    void (*restore)(cofi_engine *engine, void *state);
} cofi_method;

enum {
    COFI_METHOD_PAIRS = 1,      /* compares attributes with each other, so it needs two */
    COFI_METHOD_ROW_BY_ROW = 2, /* equal rows may part, so they are not folded */
    COFI_METHOD_MIXED = 8,      /* can use quantities */
    COFI_METHOD_NO_SCORES = 4   /* its distances are no sums over attributes: new rows cannot be labelled */
};

extern const cofi_method *const cofi_methods[];        /* ends with NULL */
const cofi_method *cofi_method_find(const char *name); /* NULL: there is none; a NULL name: coforest */

#endif
