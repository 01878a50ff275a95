/* One report being written: everything that its sections use, gathered once, and the data of its page. The page itself is
 * report.html, whose names are those of the fields that the sections write. */
#pragma once

#include "../../model/view.h"
#include "page.h"

enum {
    COFI_REPORT_TRAITS = 8,   /* values told of a cluster on each side */
    COFI_REPORT_EXAMPLES = 3, /* rows shown of each kind */
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
    cofi_blocks own;
    const cof_model *model;
    const cof_table *table; /* NULL: only the model's counts are known */
    cof_report_options o;
    cofi_page page;
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

/* Each writes the data of some sections. */
void cofi_report_overview(cofi_report *r);
void cofi_report_runs(cofi_report *r);     /* numbers of clusters, restarts, convergence */
void cofi_report_clusters(cofi_report *r); /* sizes, boundaries, marks */
cof_status cofi_report_others(cofi_report *r, cof_error *err);
cof_status cofi_report_columns(cofi_report *r, cof_error *err); /* profile, quantities, trees, importance */
cof_status cofi_report_rows(cofi_report *r, cof_error *err);    /* map, examples, known classes */
