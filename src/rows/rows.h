/* The rows of a fit, wherever they lie: in memory, in a mapped file, on other machines.
 *
 * Everything that touches rows while a fit runs goes through this contract: scores go down, integer sums come
 * back. Answers are sums over rows, so it does not matter who adds them up and in which order. The fit holds a
 * handle and never a row. Another implementation of rows is a cofi_rows_ops and a function that opens it.
 *
 * Row numbers are those of the table, 64 bits wide. Every call may fail, because rows may be far away. */
#ifndef COFI_ROWS_H
#define COFI_ROWS_H

#include "../core/env.h"
#include "../core/shape.h"
#include "../core/team.h"
#include "problem.h"

typedef struct cofi_rows cofi_rows;
typedef struct cofi_labels cofi_labels; /* the labels behind a partition; they stay with the rows */
typedef struct cofi_kept cofi_kept;     /* a partition put aside */

/* One partition of the rows into k clusters, as the fit sees it. Several may be open over the same rows. */
typedef struct cofi_partition {
    cofi_rows *rows;
    uint32_t k, stride;
    bool known;      /* every row has a label; false until the first pass */
    uint64_t *count; /* n_flat x stride: N, summed row weights of cluster j that hold value g */
    uint64_t *size;  /* k: summed row weights of each cluster */
    uint64_t hash;   /* equal partitions have equal hashes */
    cofi_labels *labels;
} cofi_partition;

/* One pass: every row goes to the cluster where its scores sum to the least, and counts, sizes and hash of the
 * partition follow. `moved` comes back: rows of the table whose label changed. */
typedef struct cofi_pass_request {
    cofi_partition *partition;
    const cofi_scores *scores;
    uint64_t moved;
} cofi_pass_request;

/* How likely a row is drawn as a seed, beside its weight. `near` is the Hamming distance to the nearest seed. */
typedef enum cofi_chance {
    COFI_ANY_ROW,     /* 1 */
    COFI_ANY_NEW_ROW, /* 1 where near > 0 */
    COFI_BY_DISTANCE, /* near */
    COFI_FARTHEST,    /* 1 where near is the greatest of all rows that weigh something */
    COFI_NEAREST      /* 1 where near is the least of them */
} cofi_chance;

/* The E step of a mixture of classes within which attributes are independent. */
typedef struct cofi_expectation {
    const double *log_theta; /* [g][stride]: log p(v | class); 0 for an ignored cell */
    const double *log_pi;    /* stride */
    uint32_t k, stride;
    size_t step;           /* every step-th row is visited */
    double membership;     /* units of a whole membership of weight one unit: all rows' fit 62 bits */
    double surprise;       /* no row's log-likelihood is below minus this */
    uint64_t *count;       /* out, [g][stride]: memberships of rows holding g, in units */
    uint64_t *size;        /* out, stride */
    uint64_t weight;       /* out: of the rows visited, in the problem's unit */
    double log_likelihood; /* out: of the rows visited; summed in fixed point, so the order does not matter */
} cofi_expectation;

/* What to do with the pair counts of a target attribute t. All calls for one target come from one worker, in
 * order: begin, pair for every attribute r (t itself too), end. Targets are shared out over the team. */
typedef struct cofi_pair_visitor {
    void *ctx;
    void (*begin)(void *ctx, uint32_t worker, size_t t); /* may be NULL */
    /* count[a * o_r + b]: summed weight of the rows with value a in t and b in r; for r = t a diagonal. The
     * table may be overwritten. */
    void (*pair)(void *ctx, uint32_t worker, size_t t, size_t r, double *count);
    void (*end)(void *ctx, uint32_t worker, size_t t); /* may be NULL */
    bool before_only; /* just the attributes r < t: for what is the same both ways */
} cofi_pair_visitor;

typedef struct cofi_rows_ops {
    const char *(*kernel)(const cofi_partition *partition); /* what labels its rows, for results */
    void (*close)(cofi_rows *rows);

    /* ---- The rows themselves */
    /* Summed row weights per flat id. */
    cof_status (*totals)(cofi_rows *rows, uint64_t *total, cof_error *err);
    /* Cells of n listed rows, n_attrs + n_numeric of each, and what the rows weigh; either may be NULL where it
     * is not wanted. A NULL list: rows 0 to n - 1. */
    cof_status (*fetch)(cofi_rows *rows, const uint64_t *row, size_t n, uint32_t *cell, uint64_t *weight,
                        cof_error *err);
    /* n rows by chance, one from each of n stretches and always the same ones, as rows in memory with a problem
     * of their own. The sample has no quantities. Close the rows, then the problem with cofi_problem_close_sample,
     * whether it failed or not: all but one member of it belongs to the whole problem. */
    cof_status (*sample)(cofi_rows *rows, size_t n, cofi_problem *problem, cofi_rows **out, cof_error *err);
    /* Counts of value pairs, attribute by attribute, never all at once. COF_ERR_STOPPED if the host said so. */
    cof_status (*pairs)(cofi_rows *rows, cofi_team *team, const cofi_pair_visitor *visitor, cof_error *err);

    /* ---- A partition of them */
    cof_status (*open)(cofi_partition *partition, cofi_team *team, cof_error *err);
    void (*close_labels)(cofi_partition *partition); /* fine after a failed open */
    void (*forget)(cofi_partition *partition);       /* no row has a label any more */
    /* n requests, in any order or all in one sweep; their partitions are different ones, and known afterwards. */
    cof_status (*pass)(cofi_pass_request *request, size_t n, cof_error *err);
    /* Labels found in another way than by scores, one for every row of the table. */
    cof_status (*take)(cofi_partition *partition, const int32_t *label, uint64_t *moved, cof_error *err);
    /* Puts the partition aside into *kept, made on the first call; takes it back; frees it. */
    cof_status (*keep)(const cofi_partition *partition, cofi_kept **kept, cof_error *err);
    cof_status (*recall)(cofi_partition *partition, const cofi_kept *kept, cof_error *err);
    void (*drop_kept)(const cofi_partition *partition, cofi_kept *kept); /* NULL is fine */
    /* Labels of n listed rows, -1 for a dropped row. A NULL list: rows 0 to n - 1. */
    cof_status (*labels)(const cofi_partition *partition, const uint64_t *row, size_t n, int32_t *label,
                         cof_error *err);
    cof_status (*expect)(cofi_partition *partition, cofi_expectation *e, cof_error *err);

    /* ---- Seeds: each running partition has its own */
    /* One more seed with these cells; NULL: there are none yet. */
    cof_status (*add_seed)(cofi_partition *partition, const uint32_t *cell, cof_error *err);
    /* Summed mass of all rows; then the row in which the mass of it and those before exceeds the target. */
    cof_status (*mass)(cofi_partition *partition, cofi_chance by, uint64_t *total, cof_error *err);
    cof_status (*row_at)(cofi_partition *partition, cofi_chance by, uint64_t target, uint64_t *row,
                         cof_error *err);
    /* The first row with the greatest product of density, the summed totals of its values, and near (1 as long
     * as there is no seed). */
    cof_status (*densest)(cofi_partition *partition, const uint64_t *total, uint64_t *row, cof_error *err);
} cofi_rows_ops;

/* What every implementation begins with. */
struct cofi_rows {
    const cofi_rows_ops *ops;
    const cofi_problem *problem; /* outlives the rows */
};

/* ---- Rows in memory: the first implementation ---------------------------------------------------- */

/* The table's rows and the problem they pose. `fold`: equal rows may be walked as one, unless there are
 * quantities. Close the rows, then the problem, whether it failed or not. */
cof_status cofi_rows_open_table(const cof_table *table, const cof_fit_options *options, bool fold,
                                cofi_problem *problem, cofi_rows **rows, cof_error *err);

/* ---- Calls, in terms of the contract ------------------------------------------------------------- */

cof_status cofi_partition_open(cofi_rows *rows, uint32_t k, cofi_team *team, cofi_partition *partition,
                               cof_error *err);
void cofi_partition_close(cofi_partition *partition); /* fine after a failed open */
void cofi_partition_forget(cofi_partition *partition);
cof_status cofi_partition_pass(cofi_partition *partition, const cofi_scores *scores, uint64_t *moved,
                               cof_error *err);
cof_status cofi_partition_take(cofi_partition *partition, const int32_t *label, uint64_t *moved,
                               cof_error *err);
cof_status cofi_partition_recall(cofi_partition *partition, const cofi_kept *kept, cof_error *err);

static inline void cofi_rows_close(cofi_rows *rows) /* NULL is fine */
{
    if (rows != NULL) rows->ops->close(rows);
}
static inline cof_status cofi_rows_totals(cofi_rows *rows, uint64_t *total, cof_error *err)
{
    return rows->ops->totals(rows, total, err);
}
static inline cof_status cofi_rows_fetch(cofi_rows *rows, const uint64_t *row, size_t n, uint32_t *cell,
                                         uint64_t *weight, cof_error *err)
{
    return rows->ops->fetch(rows, row, n, cell, weight, err);
}
static inline cof_status cofi_rows_pairs(cofi_rows *rows, cofi_team *team, const cofi_pair_visitor *visitor,
                                         cof_error *err)
{
    return rows->ops->pairs(rows, team, visitor, err);
}
static inline cof_status cofi_partition_keep(const cofi_partition *p, cofi_kept **kept, cof_error *err)
{
    return p->rows->ops->keep(p, kept, err);
}
static inline void cofi_kept_free(const cofi_partition *p, cofi_kept *kept)
{
    if (kept != NULL) p->rows->ops->drop_kept(p, kept);
}
static inline cof_status cofi_partition_labels(const cofi_partition *p, const uint64_t *row, size_t n,
                                               int32_t *label, cof_error *err)
{
    return p->rows->ops->labels(p, row, n, label, err);
}

/* Clusters without rows. */
static inline uint32_t cofi_count_empty(const cofi_partition *p)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < p->k; j++) n += p->size[j] == 0;
    return n;
}

#endif
