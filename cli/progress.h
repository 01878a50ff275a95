/* Progress on standard error, elapsed time, and requests to stop. */
#pragma once

#include <stdbool.h>

#include "coforest_extra.h"

/* Drawn a few times a second, only on a terminal, and erased when the work is done: whoever pipes
 * standard error into a file sees nothing of it. */
typedef struct progress_line {
    bool on;
    bool drawn;       /* something stands on the line now */
    double next_s;    /* on the clock of now_s: not before that */
    const char *what; /* the file being read */
    bool counts_k;    /* several numbers of clusters are tried, nobody knows how many */
    /* Called once, when a fit has begun: by then it has accepted its table and options, so that what is
     * said there does not stand beside an error. May be NULL. */
    void (*begun)(void *ctx);
    void *ctx;
} progress_line;

/* Nonzero: standard error is no terminal, but somebody waits there; a line is printed every so many seconds. */
extern double progress_lines_s;

progress_line progress_begin(bool quiet, const char *what);
void progress_erase(progress_line *line);
void progress_fit_begun(progress_line *line); /* for a fit too quick to report */
/* Lends the line and the stop request to a library call. */
cof_env progress_env(progress_line *line);

/* The same for tables that several threads will fit at once: drawn while reading only. */
cof_env reading_env(progress_line *line);
/* Draws a line of the caller's own, with the time left by the share of the work that is done. */
void progress_say(progress_line *line, const char *text, double elapsed_s, double done, double total);

/* From now on the first Ctrl-C or request to end asks the running call to stop; the second one kills. */
void catch_signals(void);
bool interrupted(void);
int stop_code(void); /* the exit code of a run that was stopped: 128 and the signal's number */

double now_s(void);
