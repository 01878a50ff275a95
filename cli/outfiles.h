/* The files that a run writes: all of them or none.
 *
 * They are tried before the work begins, so that a mistyped directory does not cost an hour. At the end each one is
 * written in full, and only when all are complete do they take their names together (cof_output_publish). Devices,
 * pipes and standard output ("-") cannot wait like that; they are written as they are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coforest_extra.h"
#include "term.h"

typedef struct outfile {
    const char *option; /* that named it, for complaints */
    const char *path;   /* as given; NULL if nobody asked for it */
    bool raw;  /* texts of the table go in as they are, not made harmless for spreadsheets and terminals */
    bool keep; /* a file that exists is not replaced */
    cof_output *output; /* from its opening until it is published */
    cof_status status;  /* the first failure, told when the file is finished */
    cof_error err;
} outfile;

/* What the options of a verb say of all its outputs. */
typedef struct output_settings {
    bool no_clobber; /* files that exist are not replaced */
    bool raw_names;  /* as in outfile */
    bool json;       /* standard output is taken */
} output_settings;

/* `settings` has an output_settings called `outputs`. */
#define NO_CLOBBER_OPTION(settings)                                                                          \
    OPTION("no-clobber", NULL, OPTION_FLAG, settings, outputs.no_clobber,                                    \
           "Refuse to replace a file that exists. Without this, outputs replace older files.")
#define RAW_NAMES_OPTION(settings)                                                                           \
    OPTION("raw-names", NULL, OPTION_FLAG, settings, outputs.raw_names,                                      \
           "Write names and values into CSV files as they are. Without this, one that a spreadsheet would "  \
           "run as a formula gets a ' before it, and control characters become \\x1b and the like.")

/* Refuses two outputs in one place, or one over an input ("-" is standard input; NULL: none); then tries each. Exit codes. */
int outfiles_check(outfile *files, size_t n, output_settings how, const char *const *inputs, size_t n_inputs);
int outfile_open(outfile *f);
void outfile_put(outfile *f, const char *bytes, size_t n_bytes);
int outfile_sink(void *ctx, const char *text, size_t n_bytes); /* a cof_sink; ctx is the outfile */
void outfile_print(outfile *f, const char *format, ...) __attribute__((format(__printf__, 2, 3)));
int outfile_finish(outfile *f);
int outfile_save_model(outfile *f, const cof_model *model); /* open, put and finish in one */
int outfiles_publish(outfile *files, size_t n);             /* gives all finished files their names */
/* A line for every file but standard output: its name, and what it holds. Whether there was one. */
bool show_outfiles(const page *p, const outfile *files, size_t n, const char *const *what);
void outfiles_abandon(void); /* removes what was opened and not published */

bool is_stdout(const outfile *f);
bool any_stdout(const outfile *files, size_t n);
