/* The paper's equations with no shortcut, for comparing the library with: no score table, no folding of
 * equal rows, a path search for every pair of values, doubles throughout. Slow on purpose. */
#ifndef COF_ORACLE_H
#define COF_ORACLE_H

#include <stddef.h>
#include <stdint.h>

/* Distances closer than this, relative to the larger, are equal in mathematics for all we know. */
#define ORACLE_TIE 1e-12

typedef struct oracle_table {
    const int32_t *codes; /* n x l, row-major, 0..o[r]-1; a negative code is a cell that adds nothing */
    size_t n, l;
    const int32_t *o;      /* codes of each attribute; those that no row of weight holds take no part */
    const double *weights; /* how often each row counts; NULL: once */
} oracle_table;

typedef enum oracle_variant { ORACLE_PAPER, ORACLE_AUTHORS } oracle_variant;
typedef enum oracle_stop { ORACLE_CONVERGED, ORACLE_CYCLE, ORACLE_CAP } oracle_stop;

typedef struct oracle_options {
    int k;
    oracle_variant variant;
    int max_rebuilds; /* forests built at most */
    int max_passes;   /* passes per forest, and of k-modes */
    int first_moves_all; /* nonzero: the very first pass counts as moving every row, as in the authors' program */
    double row_tie;      /* relative difference of two distances up to which they are a tie */
    double edge_tie;     /* the same for two edge weights of an attribute */
} oracle_options;

typedef struct oracle_result {
    double objective;      /* of the last pass: every row to the cluster it was put in, times its weight */
    double log_likelihood; /* integrated, of the labels handed back */
    int rebuilds;          /* forests built after the first */
    int passes;            /* over all forests */
    oracle_stop stop;
} oracle_result;

/* k-modes in batches from the given rows. Returns the passes made. */
int oracle_kmodes(const oracle_table *t, const oracle_options *opt, const size_t *init_rows, int32_t *labels);

/* Algorithm 1 from a start partition; `labels` holds the start and receives the end. */
void oracle_coforest(const oracle_table *t, const oracle_options *opt, int32_t *labels,
                     oracle_result *result);

/* Lloyd's algorithm on one-hot coded rows from the given seed rows. Returns the passes made. */
int oracle_onehot_kmeans(const oracle_table *t, const oracle_options *opt, const size_t *seed_rows,
                         int32_t *labels);

/* Integrated likelihood of a partition with Dirichlet 1/2 everywhere; rows labelled below 0 do not count. */
double oracle_log_likelihood(const oracle_table *t, int k, const int32_t *labels);

#endif
