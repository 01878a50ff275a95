/* One run of `coforest fit`: what was asked, what was read, what came out. */
#pragma once

#include "coforest_shard.h"
#include "../column_choice.h"
#include "../outfiles.h"
#include "../progress.h"
#include "../term.h"

enum {
    OUT_LABELS,
    OUT_MODEL,
    OUT_HISTORY,
    OUT_REPORT,
    OUT_MAP,
    OUT_MARGINS,
    OUT_CUTS,
    OUT_DISTANCES,
    OUT_TABLE,
    OUT_MODES,
    OUT_PROFILES,
    OUT_ALTERNATIVES,
    OUT_MEMBERSHIPS,
    OUT_PARAMETERS,
    OUT_CELLS,
    OUT_RESIDUALS,
    N_OUT,
    MAX_WARNINGS = 8
};

typedef struct fit_settings {
    column_choice columns;
    reading reading;
    const char *clusters;  /* -k as typed */
    cof_fit_options fit;   /* before defaults are filled in, variant and init are -1 if not given */
    uint32_t k_min, k_max; /* find_k: from k_min to k_max; k_max 0: until it gets no better */
    bool find_k;
    const char *init_rows, *journal, *start;
    uint32_t shards; /* 0: not asked for */
    bool paper, demo, quiet, keep_partial, criteria;
    outfile out[N_OUT];
    output_settings outputs;
} fit_settings;

typedef struct fit_job {
    fit_settings s;
    bool variant_asked;
    const char *file; /* as people know it */
    cof_table *table;
    columns columns;
    uint64_t *init_rows;
    double *start; /* probabilities where lca begins; NULL: at a partition */
    size_t n_start;
    cof_shard_set *set;   /* the fit is one over shards, and the model has no labels; else NULL */
    cof_shards shards;    /* whom it asks: the set, or other processes */
    cof_journal *journal; /* NULL: none */
    cof_table *sample;    /* rows that the report shows; NULL: all */
    cof_model *model;
    cof_fit_info info;
    cof_indices scores;     /* with a label column */
    bool scored;            /* `scores` is filled in */
    int32_t *classes;       /* the label column, NULL without, and over shards */
    double *weights;        /* of the rows where they are scored, NULL without a weight column */
    cof_margin *margin;     /* of every row; NULL: nobody asked, or the method keeps no scores */
    double read_s, begun_s; /* seconds; on the clock of now_s */
    double processor_s;     /* of the fit, all threads together */
    progress_line line;     /* here, because the table keeps pointing at it */
    page page;
    char warning[MAX_WARNINGS][600];
    size_t n_warnings;
} fit_job;

/* How a program reaches processes that have the rows of an encoded table. */
typedef struct far_rows {
    const char *by; /* what it is called, as in "over MPI" */
    cof_status (*open)(const char *path, const cof_schema *schema, uint32_t threads, cof_shards *shards,
                       cof_error *err);
} far_rows;
extern const far_rows *far; /* NULL: the rows are in this process */

extern const char *const fit_outputs[N_OUT]; /* what they hold */

void show_table_read(const fit_job *job, const page *p); /* before the fit */
int show_fit(const fit_job *job, const page *p);         /* after it; exit codes */
void print_fit_json(const fit_job *job);
/* The members of a list's record, or of an object, into one that is open; `list` is its place among the fields. */
void json_members(cof_json *j, const cof_model *model, const cof_fit_info *info, size_t list, size_t at);
size_t field_place(const char *key); /* of a field of the result itself, which exists */
