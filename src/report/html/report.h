/* One report being written: everything that its sections use, gathered once. */
#pragma once

#include "../../model/view.h"
#include "html_out.h"

enum {
    COFI_REPORT_TRAITS = 8,   /* values told of a cluster on each side */
    COFI_REPORT_EXAMPLES = 3, /* rows shown of each kind */
    COFI_REPORT_NAME = 40,    /* columns of a name */
    COFI_REPORT_OPEN = 12     /* clusters unfolded from the start */
};

typedef struct cofi_example {
    size_t row;
    float key; /* what it was chosen by, smallest first */
} cofi_example;

enum { COFI_TYPICAL, COFI_ATYPICAL, COFI_BETWEEN, COFI_KINDS };

typedef struct cofi_cluster_rows { /* what the rows say about one cluster */
    uint64_t n;
    uint64_t n_close; /* rows whose second-best cluster is nearly as near */
    double lead;      /* sum over rows */
    cofi_example example[COFI_KINDS][COFI_REPORT_EXAMPLES];
    size_t n_examples[COFI_KINDS];
} cofi_cluster_rows;

enum { COFI_LEAD_BINS = 20 };

typedef struct cofi_report {
    cof_env env;
    cofi_blocks own;
    const cof_model *model;
    const cof_table *table; /* NULL: only the model's counts are known */
    cof_report_options o;
    cofi_out out;
    uint32_t k;
    double total; /* weight of all clusters */
    uint32_t n_filled;
    const cof_restart_record *restarts;
    size_t n_restarts, best_restart;
    double *importance;
    size_t *ranked; /* used attributes, those that tell most first */
    size_t n_ranked;
    cof_trait *more, *less; /* k x COFI_REPORT_TRAITS */
    size_t *n_more, *n_less;
    /* with a table */
    size_t n_rows;
    bool sampled; /* the table has only some of the rows */
    const int32_t *label;
    int32_t *own_label;
    cof_margin *margin; /* NULL: the method keeps no distances of rows to clusters */
    bool has_trees;     /* some attribute has one */
    cofi_view values;
    cofi_cluster_rows *rows; /* k */
    uint64_t lead_bin[COFI_LEAD_BINS];
    uint64_t n_clustered, n_distinct;
    uint64_t n_shared;     /* rows without a membership of COF_SHARED_MEMBERSHIP */
    size_t names, classes; /* columns; SIZE_MAX: none */
    cof_map *map;
} cofi_report;

static inline bool cofi_report_has_rows(const cofi_report *r)
{
    return r->table != NULL && r->n_clustered > 0;
}

cof_status cofi_report_gather(cofi_report *r, cof_error *err);
void cofi_report_free(cofi_report *r);

const char *cofi_report_criterion(const cofi_report *r); /* what decided between restarts, in words */

/* The sections, in the order they stand. */
void cofi_report_overview(cofi_report *r);
void cofi_report_numbers(cofi_report *r);
void cofi_report_clusters(cofi_report *r);
void cofi_report_marks(cofi_report *r);
cof_status cofi_report_others(cofi_report *r, cof_error *err);
void cofi_report_quantities(cofi_report *r);
void cofi_report_profile(cofi_report *r);
cof_status cofi_report_trees(cofi_report *r, cof_error *err);
void cofi_report_importance(cofi_report *r);
void cofi_report_map(cofi_report *r);
void cofi_report_rows(cofi_report *r);
void cofi_report_convergence(cofi_report *r);
cof_status cofi_report_scores(cofi_report *r, cof_error *err);
