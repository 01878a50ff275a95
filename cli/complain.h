/* Errors: one sentence on standard error and the exit code that goes with it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coforest_extra.h"

enum {
    CODE_DONE = 0,
    CODE_FAILED = 1,
    CODE_USAGE = 2,
    CODE_DATA = 3,
    CODE_MODEL = 4,
    CODE_INTERRUPTED = 130
};

/* How this program was called: what a user types again in the next command. */
extern const char *program_name;

/* Prints `coforest: <sentence>` and hands the code back, so that failing is one line. */
int complain(int code, const char *format, ...) __attribute__((format(__printf__, 2, 3)));

/* Keeps the command line, so that a complaint about usage can end with the line that would have worked. */
void remember_command(int argc, char **argv);
/* Prints the command as it was typed, but with `right` instead of `wrong`, which is an argument, or a name or value in
 * one; right NULL: without it; wrong NULL: with `right` at the end. Nothing where that cannot be written. Hands the code back. */
int suggest(int code, const char *wrong, const char *right);

/* The same status means different things to a user, depending on what we were at. */
typedef enum task { TASK_TABLE, TASK_SETTING, TASK_FIT, TASK_PREDICT, TASK_MODEL, TASK_OUTPUT } task;
int exit_code(cof_status status, task doing);
/* What the library says about a failure. One is enough: the first failure ends the run, and only the first thread
 * passes it on. */
extern cof_error said;
/* Both tell a failure and hand its exit code back; CODE_DONE, without a word, for COF_OK. */
int complain_status(cof_status status, task doing); /* as `said` has it */
int complain_error(cof_status status, task doing, const cof_error *err);
/* Leaves the calling function with the exit code of the call unless that is CODE_DONE. */
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        int code_ = (call);                                                                                  \
        if (code_ != CODE_DONE) return code_;                                                                \
    } while (0)
/* Zeroed memory, which stays until the program ends. It is never NULL: without memory the program says so and ends.
 * Only for the first thread. */
void *keep(size_t n, size_t size);
char *keep_text(const char *format, ...) __attribute__((format(__printf__, 1, 2)));
/* The program frees these at its end, the last one first. NULL is accepted. */
void keep_table(cof_table *table);
void keep_model(cof_model *model);
void keep_handle(void *handle, void (*release)(void *handle));
void release_kept(void);

/* The candidate nearest to what was typed, or NULL if none comes close. Ends with a NULL. */
const char *nearest(const char *typed, const char *const *candidates);
/* Nonzero if `candidate` is near enough to `typed` to be worth suggesting; smaller is nearer. */
int misspelling(const char *typed, const char *candidate);
