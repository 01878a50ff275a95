/* One run of `coforest compare`: methods against tables, what each fit gave, and what that says. */
#pragma once

#include <stdio.h>

#include "coforest_extra.h"
#include "../column_choice.h"
#include "../outfiles.h"
#include "../progress.h"

enum { N_INDICES = 3 };

/* An index that methods are compared by. */
typedef struct index_kind {
    const char *key;    /* in CSV and JSON */
    const char *title;  /* above a column */
    const char *what;   /* for people who do not know it */
    bool ranked;        /* methods can be compared by it; the more the better */
    bool has_deviation; /* each run has one */
} index_kind;

typedef struct compare_settings {
    column_choice columns;
    reading reading;
    cof_fit_options fit; /* of every run; init is -1 if not given */
    uint32_t runs;       /* 0: not given */
    int32_t format;
    const char *methods, *control;
    outfile out;
    output_settings outputs;
    bool quiet, as_fit;
} compare_settings;

typedef enum compare_format {
    FORMAT_TEXT,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_MARKDOWN,
    FORMAT_LATEX
} compare_format;

/* One method on one table. NaN stands for what it has not. */
typedef struct entry {
    double *value; /* runs x N_INDICES */
    double *time_s;
    double mean[N_INDICES], deviation[N_INDICES], rank[N_INDICES];
    double fit_s;        /* median */
    uint32_t n_results;  /* runs that have one */
    char reason[256];    /* why there is none */
    int32_t **labels;    /* of every run, until they have been compared with each other */
    uint32_t n_finished; /* runs, while they go on */
} entry;

typedef struct contest {     /* a table, and what it is clustered on */
    const char *path, *file; /* as given, and as people know it */
    char short_name[64];     /* without folder and ending */
    cof_table *table;
    columns columns;
    cof_table *
        scaled; /* the same with quantities as numbers, for k-prototypes and ek-prototypes; NULL: `table` serves */
    columns scaled_columns;
    int32_t *classes; /* of every row, or NULL */
    double *weights;  /* of every row, or NULL */
    uint32_t k;
    size_t n_rows;
    entry *entry; /* one a method */
} contest;

/* What several tables say together, by one index. */
typedef struct verdict {
    double *mean_rank; /* one a method */
    cof_friedman_result test;
} verdict;

typedef struct comparison {
    compare_settings s;
    size_t *method; /* numbers of the library's */
    size_t n_methods;
    size_t control; /* position in method */
    index_kind index[N_INDICES];
    contest *contest;
    size_t n_contests;
    bool has_verdict; /* of several tables and methods */
    verdict verdict[N_INDICES];
    double difference[2]; /* critical, at the levels below */
    double elapsed_s;
    size_t n_fits;      /* finished */
    bool stopped;       /* before all were */
    progress_line line; /* here, because the tables keep pointing at it */
} comparison;

extern const double compare_levels[2]; /* 0.05, 0.10 */

const char *contender(const comparison *c, size_t method); /* its name */

/* Fits everything, several at a time; what comes out does not depend on how many. Exit codes. */
int run_fits(comparison *c);

/* Nonzero if the method differs from the control at the level: 1 worse, -1 better. */
int differs(const comparison *c, size_t index, size_t method, size_t level);

void write_compare_text(const comparison *c, FILE *out);
void write_compare_csv(const comparison *c, FILE *out);
void write_compare_json(const comparison *c, FILE *out);
void write_compare_document(const comparison *c, FILE *out); /* Markdown and LaTeX */
