/* The files that a run writes: all of them or none.
 *
 * They are tried before the work begins, so that a mistyped directory does not cost an hour. At the end each one is
 * written in full, and only when all are complete do they take their names together (cof_output_publish). Devices,
 * pipes and standard output ("-") cannot wait like that; they are written as they are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coforest_extra.h"

typedef struct outfile {
    const char *option; /* that named it, for complaints */
    const char *path;   /* as given; NULL if nobody asked for it */
    bool raw;  /* texts of the table go in as they are, not made harmless for spreadsheets and terminals */
    bool keep; /* a file that exists is not replaced */
    cof_output *output; /* from its opening until it is published */
    cof_status status;  /* the first failure, told when the file is finished */
    cof_error err;
} outfile;

#define NO_CLOBBER_OPTION(settings)                                                                          \
    OPTION("no-clobber", NULL, OPTION_FLAG, settings, no_clobber,                                            \
           "Refuse to replace a file that exists. Without this, outputs replace older files.")

/* Refuses two outputs in one place, or one over an input ("-" is standard input); then tries each. Exit codes. */
int outfiles_check(outfile *files, size_t n, const char *const *inputs, size_t n_inputs);
int outfile_open(outfile *f);
void outfile_put(outfile *f, const char *bytes, size_t n_bytes);
int outfile_sink(void *ctx, const char *text, size_t n_bytes); /* a cof_sink; ctx is the outfile */
void outfile_print(outfile *f, const char *format, ...) __attribute__((format(__printf__, 2, 3)));
int outfile_finish(outfile *f);
int outfile_save_model(outfile *f, const cof_model *model); /* open, put and finish in one */
int outfiles_publish(outfile *files, size_t n);             /* gives all finished files their names */
void outfiles_free(outfile *files, size_t n);               /* removes what was not published */
/* Removes everything that waits, before the program ends because memory ran out. */
void outfiles_abandon(void);

bool is_stdout(const outfile *f);
bool any_stdout(const outfile *files, size_t n);
