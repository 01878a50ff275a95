/* The paper's experiments, from the data up: what they share. Each experiment has a file of its own. */
#ifndef COF_CLI_REPRODUCE_H
#define COF_CLI_REPRODUCE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "coforest.h"
#include "numbers.h"
#include "progress.h"

enum {
    N_DATASETS = 12,
    N_MIXED = 4,
    N_METHODS = 11,
    N_METRICS = 3,
    PAPER_RUNS = 10, /* every printed mean is one of ten runs */
    MOST_UNITS = 32
};

/* ---- Data (reproduce_data.c) ---------------------------------------------------------------------- */

typedef struct rep_dataset {
    const char *abbrev;         /* as the paper has it */
    const char *name;           /* at the UCI repository */
    uint32_t k;                 /* classes, which is also how many clusters are sought */
    const char *file, *also;    /* file names to look for; also may be NULL */
    const char *const *orders;  /* "column=a<b<c" where the order of codes is not the usual; ends with NULL */
    const char *const *numeric; /* quantities; NULL: none; ends with NULL */
} rep_dataset;

typedef struct rep_table { /* one that was found */
    const rep_dataset *about;
    cof_table *table;
    int32_t *classes;
    size_t n_rows;
    char key[64]; /* changes with the table, so that results of another one are not taken for its own */
} rep_table;

extern const rep_dataset rep_datasets[N_DATASETS], rep_mixed_datasets[N_MIXED];

/* ---- One run of the verb ---------------------------------------------------------------------------- */

typedef struct rep_job {
    uint32_t runs;    /* behind each mean */
    uint32_t threads; /* fits at a time */
    bool quick, quiet;
    const char *out, *data;
    rep_table table[N_DATASETS]; /* in the paper's order; those absent are left out */
    rep_table mixed[N_MIXED];
    size_t n_tables, n_mixed;
    cof_env env; /* stops when the user says so */
    progress_line line;
    const char *doing; /* experiment and unit, for the progress line */
} rep_job;

int rep_read_data(rep_job *job); /* exit codes; says in one line what is not there */
void rep_free_data(rep_job *job);
const rep_table *rep_find_table(const rep_job *job, const char *abbrev);
uint32_t rep_pool(const rep_job *job, const rep_table *t); /* runs to know a distribution from */
/* Version, runs and pools, for the settings of experiments that have them. */
void rep_describe_runs(const rep_job *job, char *settings, size_t n);
void rep_progress(rep_job *job, size_t done, size_t total);

/* ---- Results (reproduce_results.c) ------------------------------------------------------------------ */

/* One measurement. What x and the values are, the experiment's columns say; NaN: there is none. */
typedef struct rep_record {
    char unit[24];   /* the part it belongs to: a dataset, usually */
    char series[24]; /* the method, usually */
    double x;
    double value[3];
} rep_record;

/* A part of an experiment that is run, kept and reused as a whole. */
typedef struct rep_unit {
    char name[24];
    char key[64]; /* of what it was made from */
    double seconds;
} rep_unit;

typedef struct rep_results {
    rep_record *record;
    size_t n, capacity;
    rep_unit unit[MOST_UNITS];
    size_t n_units;
    char settings[256];
} rep_results;

int rep_add(rep_results *r, const char *unit, const char *series, double x, double a, double b, double c);
void rep_results_free(rep_results *r);
/* The values of one series in the order they were added, those that are not NaN; at most `most`. */
size_t rep_collect(const rep_results *r, const char *unit, const char *series, int value, double *out,
                   size_t most);
const rep_unit *rep_find_unit(const rep_results *r, const char *name);
double rep_seconds(const rep_results *r);
uint32_t rep_runs_of(const rep_results *r); /* behind each mean, as its settings say */

/* ---- Experiments ------------------------------------------------------------------------------------- */

typedef struct rep_experiment {
    const char *name;
    const char *title;
    const char *columns[7]; /* of its CSV: unit, series, x and the values; ends with NULL */
    bool needs_data;
    void (*describe)(const rep_job *job, char *settings, size_t n); /* what a kept result must agree with */
    size_t (*list)(const rep_job *job, rep_unit *units);            /* at most MOST_UNITS */
    int (*run)(rep_job *job, const rep_unit *unit, rep_results *results); /* exit codes */
    int (*draw)(const rep_job *job, const rep_results *results);          /* its pictures; exit codes */
    void (*tell)(const rep_job *job, const rep_results *results,
                 FILE *page); /* its section, after the heading */
} rep_experiment;

extern const rep_experiment rep_tables, rep_toy, rep_ablation, rep_convergence, rep_time, rep_tsne, rep_mixed;

/* Reads what was kept. Without `settings` whatever they were; with them only what agrees. */
void rep_load(const rep_job *job, const rep_experiment *e, const char *settings, rep_results *r);
int rep_save(const rep_job *job, const rep_experiment *e, const rep_results *r); /* JSON and CSV */

/* Opens DIR/<name> for a picture or a page; close gives it its name. Exit codes. */
typedef struct rep_file {
    FILE *out;
    char *text;
    size_t n;
    char path[1024];
} rep_file;
int rep_file_open(const rep_job *job, const char *name, rep_file *f);
int rep_file_close(rep_file *f);
void rep_inline(const rep_job *job, const char *name, FILE *page); /* a picture, put into the page */

/* The tables as units, each with its key. */
size_t rep_list_tables(const rep_table *tables, size_t n, rep_unit *units);

/* ---- Fits (reproduce_fits.c) ------------------------------------------------------------------------- */

typedef struct rep_series { /* runs 1..n of one method: run i has seed i, whatever comes of it */
    const char *name;
    cof_fit_options options;
    uint32_t n_runs;
} rep_series;

/* What is kept of a fit. */
typedef void (*rep_take)(const rep_table *t, const cof_model *model, const cof_fit_info *info,
                         double value[3]);
void rep_take_scores(const rep_table *t, const cof_model *model, const cof_fit_info *info, double value[3]);

/* One random k-modes start, the authors' scaling: what the comparison tables use. */
rep_series rep_paper_series(const rep_table *t, const char *method, uint32_t n_runs);
/* Runs all of them, job->threads at a time, and adds their records. Exit codes. */
int rep_fit_all(rep_job *job, const rep_table *t, const rep_series *series, size_t n_series, rep_take take,
                rep_results *results);

/* ---- Statistics (reproduce_stats.c) ------------------------------------------------------------------ */

double rep_mean(const double *x, size_t n);      /* NaN for none */
double rep_deviation(const double *x, size_t n); /* divided by n - 1 */
/* Means of `size` runs drawn from the n there are, over and over; sorted. n is at least 1. */
enum { N_MEANS = 4000, MOST_RUNS = 4096 };
void rep_resample_means(const double *x, size_t n, size_t size, double means[N_MEANS]);
double rep_percentile(const double *sorted, size_t n, double x); /* share below, ties half; 0..100 */

/* ---- Printed figures (reproduce_printed.c) ------------------------------------------------------------ */

extern const char *const rep_method_names[N_METHODS]; /* as the paper calls them */
extern const char *const rep_method_ids[N_METHODS];   /* as the library does */
extern const char *const rep_metric_names[N_METRICS];
extern const double rep_printed_ranks[N_METRICS][N_METHODS];
extern const double rep_printed_p[N_METRICS];
double rep_printed(size_t metric, const char *abbrev, size_t method, bool deviation); /* NaN: "-" */

/* ---- The page (reproduce_page.c) ----------------------------------------------------------------------- */

int rep_write_page(const rep_job *job, const rep_experiment *const *experiments);
void rep_number_cell(FILE *page, const char *classes, const char *format, double x); /* a dash for NaN */

#endif
