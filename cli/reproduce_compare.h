/* Our runs beside the printed means, cell by cell. */
#ifndef COF_CLI_REPRODUCE_COMPARE_H
#define COF_CLI_REPRODUCE_COMPARE_H

#include "reproduce.h"

typedef struct rep_compared {
    size_t n;                 /* runs there are; 0: the method has no result here */
    double mean, deviation;   /* of the first runs asked for */
    double mean_all;          /* of all */
    double low, middle, high; /* 5, 50 and 95 % of the ten-run means one could get */
    double printed, printed_deviation;
    double percentile; /* of the printed mean among them */
    double z;          /* printed less ours in standard errors of a ten-run mean; NaN if it has none */
} rep_compared;

typedef struct rep_grid {
    const char *abbrev[N_DATASETS];
    rep_compared cell[N_DATASETS][N_METHODS];
    size_t n; /* datasets there are */
} rep_grid;

rep_compared rep_cell(const rep_results *r, uint32_t runs, const char *abbrev, size_t metric, size_t method);
size_t rep_fill_grid(const rep_results *r, uint32_t runs, size_t metric, rep_grid *g);
/* Mean ranks and Friedman's test, of our means or of the printed ones; false with fewer than two datasets. */
bool rep_rank(const rep_grid *g, bool printed, double rank[N_METHODS], cof_friedman_result *test);
/* A series' mean over the datasets, of the first `runs` runs, 0: of all. */
double rep_overall(const rep_results *r, const char *series, size_t metric, uint32_t runs);

void rep_tell_tables(const rep_job *job, const rep_results *r, FILE *page);

#endif
