/* The rows of a fit, wherever they are stored: in memory, in a mapped file, on other machines.
 *
 * Every access to rows during a fit goes through this contract: scores are passed in, integer sums are
 * returned. The answers are sums over rows, so the result does not depend on who adds them or in which order.
 * The fit holds a handle and never a row. A further implementation of rows is a cofi_rows_ops and a function
 * that opens it.
 *
 * Row numbers are those of the table, 64 bits wide. Every call may fail, because rows may be remote. */
#pragma once

#include "../core/env.h"
#include "../core/rng.h"
#include "../core/shape.h"
#include "../core/team.h"
#include "problem.h"

typedef struct cofi_rows cofi_rows;
/* the labels of a partition; the implementation of the rows keeps them */
typedef struct cofi_labels cofi_labels;
typedef struct cofi_kept cofi_kept; /* a saved partition */

/* One partition of the rows into k clusters, as the fit sees it. Several may be open over the same rows. */
typedef struct cofi_partition {
    cofi_rows *rows;
    uint32_t k, stride;
    bool known;      /* every row has a label; false until the first pass */
    uint64_t *count; /* n_flat x stride: N, summed row weights of cluster j that hold value g */
    uint64_t *size;  /* k: summed row weights of each cluster */
    /* n_flat: 0 if the counts of the value are those of when the reader of the counts set this to 0; NULL: rows do not tell */
    uint8_t *changed;
    uint64_t hash; /* equal partitions have equal hashes */
    cofi_labels *labels;
} cofi_partition;

/* One pass: every row gets the label of the cluster with the least sum of scores (ties: shape.h), and counts, sizes and
 * hash of the partition are updated. `moved` returns how many rows of the table changed their label. */
typedef struct cofi_pass_request {
    cofi_partition *partition;
    const cofi_scores *scores;
    uint64_t moved;
} cofi_pass_request;

/* The probability that a row is drawn as a seed is proportional to its weight times this factor. `near` is
 * the row's distance to its nearest seed: the sum of the weights of the columns in which they differ. */
typedef enum cofi_chance {
    COFI_ANY_ROW,     /* 1 */
    COFI_ANY_NEW_ROW, /* 1 where near > 0, else 0 */
    COFI_BY_DISTANCE, /* near */
    COFI_FARTHEST,    /* 1 where near is the greatest among all rows of positive weight, else 0 */
    COFI_NEAREST      /* 1 where near is the least among all rows of positive weight, else 0 */
} cofi_chance;

/* The E step of a latent class model: within a class, attributes are independent. */
typedef struct cofi_expectation {
    const double *log_theta; /* [g][stride]: log p(v | class); 0 for an ignored cell */
    const double *log_pi;    /* stride: log of the class sizes as shares of all rows */
    uint32_t k, stride;
    size_t step; /* every step-th row of the table is visited */
    /* units in the full membership of a row of weight 1 (in the problem's unit), at most 2^50; the total
     * fits 62 bits */
    double membership;
    /* Four to six digits suffice, as for starts, and the log-likelihood is not wanted. Units of all rows fit 31 bits, and
     * `membership` is at most 2^20. */
    bool coarse;
    double surprise;         /* upper bound of minus the log-likelihood of any row; 0: that is not wanted */
    uint64_t *count;         /* out, [g][stride]: summed memberships of the rows that hold g, in units */
    uint64_t *size;          /* out, stride: summed memberships of all rows visited, in units */
    uint64_t weight;         /* out: summed weight of the rows visited, in the problem's unit */
    double log_likelihood;   /* out: log-likelihood of the rows visited, summed in fixed point */
    uint64_t surprise_units; /* out: minus that sum, in units of cofi_surprise_scale */
} cofi_expectation;

/* Units in a surprise of 1 of a row of weight 1 unit: the largest power of two that keeps the surprise of all rows below
 * 2^62. 0: the log-likelihood is not wanted. */
double cofi_surprise_scale(double surprise, uint64_t total_weight);

/* Receives the pair counts of every target attribute t. One worker makes all calls for one target, in this
 * order: begin, pair for every attribute r (including t), end. The team's workers share the targets. */
typedef struct cofi_pair_visitor {
    void *ctx;
    void (*begin)(void *ctx, uint32_t worker, size_t t); /* may be NULL */
    /* count[a * o_r + b] is the summed weight of the rows with value a in t and value b in r; for r = t
     * the table is diagonal. The visitor may overwrite the table. */
    void (*pair)(void *ctx, uint32_t worker, size_t t, size_t r, double *count);
    void (*end)(void *ctx, uint32_t worker, size_t t); /* may be NULL */
    bool before_only; /* visit only the attributes r < t, for symmetric results */
} cofi_pair_visitor;

/* What a model remembers of a partition, so that its rows have labels after they are closed: the labels of all rows, or,
 * where those stay elsewhere, the request that makes them. */
typedef struct cofi_remembered {
    int32_t *label; /* NULL: there is a request */
    size_t n_labels;
    unsigned char *request;
    size_t n_bytes;
} cofi_remembered;

typedef struct cofi_rows_ops {
    /* name of the kernel that labels the rows, for results */
    const char *(*kernel)(const cofi_partition *partition);
    void (*close)(cofi_rows *rows);

    /* ---- The rows themselves */
    /* Summed row weights per flat id. */
    cof_status (*totals)(cofi_rows *rows, cofi_team *team, uint64_t *total, cof_error *err);
    /* Cells of n listed rows, n_attrs + n_numeric per row, and the weights of the rows. `cell` or `weight`
     * may be NULL. If `row` is NULL, the rows are 0 to n - 1. `team` may be NULL: this thread alone. */
    cof_status (*fetch)(cofi_rows *rows, cofi_team *team, const uint64_t *row, size_t n, uint32_t *cell,
                        uint64_t *weight, cof_error *err);
    /* Points of a cut column as it was read, of n listed rows; NaN: missing. */
    cof_status (*points)(cofi_rows *rows, size_t column, const uint64_t *row, size_t n, double *point,
                         cof_error *err);
    /* Counts of value pairs, one attribute pair at a time. COF_ERR_STOPPED if the host asked to stop. */
    cof_status (*pairs)(cofi_rows *rows, cofi_team *team, const cofi_pair_visitor *visitor, cof_error *err);

    /* ---- Partitions */
    cof_status (*open)(cofi_partition *partition, cofi_team *team, cof_error *err);
    void (*close_labels)(cofi_partition *partition); /* allowed after a failed open */
    void (*forget)(cofi_partition *partition);       /* removes the labels of all rows */
    /* Runs n passes, in any order or in one sweep over the rows. The requests name different partitions;
     * all rows have labels afterwards. */
    cof_status (*pass)(cofi_pass_request *request, size_t n, cof_error *err);
    /* Sets labels that were found by other means than scores, one for every row of the table. NULL for rows elsewhere:
     * methods that need it fetch all rows first, which is refused there. */
    cof_status (*take)(cofi_partition *partition, const int32_t *label, uint64_t *moved, cof_error *err);
    /* keep saves the partition in *kept, which the first call allocates and which lives as long as the partition;
     * recall restores it. */
    cof_status (*keep)(const cofi_partition *partition, cofi_kept **kept, cof_error *err);
    cof_status (*recall)(cofi_partition *partition, const cofi_kept *kept, cof_error *err);
    /* Labels of n listed rows, -1 for a dropped row. If `row` is NULL, the rows are evenly spaced (cofi_stretch_begin); these
     * are all rows of the table if n is their number. */
    cof_status (*labels)(const cofi_partition *partition, const uint64_t *row, size_t n, int32_t *label,
                         cof_error *err);
    cof_status (*remember)(const cofi_partition *partition, cofi_blocks *own, cofi_remembered *out,
                           cof_error *err);
    cof_status (*expect)(cofi_partition *partition, cofi_expectation *e, cof_error *err);

    /* ---- Seeds of a partition */
    /* Adds a seed with these cells. If `cell` is NULL, removes all seeds. After a pass there may be none. */
    cof_status (*add_seed)(cofi_partition *partition, const uint32_t *cell, cof_error *err);
    /* mass: the sum of weight times factor over all rows. row_at: the first row at which the running sum
     * of these masses exceeds `target`. */
    cof_status (*mass)(cofi_partition *partition, cofi_chance by, uint64_t *total, cof_error *err);
    cof_status (*row_at)(cofi_partition *partition, cofi_chance by, uint64_t target, uint64_t *row,
                         cof_error *err);
    /* The first row with the greatest product of density and `near`. The density is the sum of the totals
     * of the row's values. Without a seed, `near` counts as 1. */
    cof_status (*densest)(cofi_partition *partition, const uint64_t *total, uint64_t *row, cof_error *err);
} cofi_rows_ops;

/* The first member of every implementation. */
struct cofi_rows {
    const cofi_rows_ops *ops;
    const cofi_problem *problem; /* must outlive the rows */
};

/* ---- The rows of a table --------------------------------------------------------------------------- */

/* How rows are opened. */
typedef struct cofi_opening {
    bool fold;       /* equal rows may be folded into one, unless there are quantities */
    uint32_t half;   /* the rows that count (cofi_in_half); 0: all */
    uint32_t most_k; /* the most clusters that fits of these rows will have; 0: those of the options */
} cofi_opening;

/* Opens the table's rows, wherever they are, and fills in the problem. Close the rows, then the problem, even if the call
 * failed. */
cof_status cofi_rows_open(const cof_table *table, const cof_fit_options *options, cofi_opening how,
                          cofi_problem *problem, cofi_rows **rows, cof_error *err);

/* The arrays become some of the blocks. */
cof_status cofi_partition_remember(const cofi_partition *partition, cofi_blocks *own, cofi_remembered *out,
                                   cof_error *err);
/* The rows that each pair of clusters of two fits of the table shares: count[j * k_b + j of b], then their number, in an array
 * that the caller releases. */
cof_status cofi_rows_agree(const cof_table *table, const cofi_remembered *a, uint32_t k_a,
                           const cofi_remembered *b, uint32_t k_b, uint64_t **count, cof_error *err);

/* A half of the rows, for comparing fits: 1 + 2 split + side; 0 is all rows. In a fit of a half, its rows weigh 1, or what the
 * options say, and the others 0. They get labels, but change nothing. */
enum { COFI_N_SPLITS = 3 };
static inline bool cofi_in_half(uint64_t row, uint32_t half)
{
    return half == 0 || (cofi_mix64(COFI_N_SPLITS * row + (half - 1) / 2 + 1) & 1) == (half - 1) % 2;
}

/* What every request of a fit says about the rows. */
typedef struct cofi_frame {
    int32_t missing;
    uint32_t half;
    double unit;
    uint64_t n_rows, total_weight; /* of the whole table */
    uint32_t n_attrs;
    uint32_t *column; /* n_attrs column numbers, ascending */
} cofi_frame;

/* Rows first_row, first_row + 1, ... of a larger table, in memory. Codes of `table` are those of the larger table, and
 * n_missing counts its missing cells. There must be at least one row. */
cof_status cofi_rows_open_part(const cof_table *table, const cofi_frame *frame, uint64_t first_row,
                               bool may_fold, cofi_problem *problem, cofi_rows **rows, cof_error *err);

/* ---- For all implementations ----------------------------------------------------------------------- */

/* A sample of n rows in memory, with its own problem. The table is cut into n stretches and one row is drawn
 * from each; repeated calls draw the same rows. The sample has no quantities. If at least `enough` of its rows are
 * distinct, its n_distinct may be any number from `enough` to theirs. Close the rows, then the
 * problem, even if the call failed. The sample's problem uses arrays of the whole problem. */
cof_status cofi_rows_sample(cofi_rows *rows, cofi_team *team, size_t n, size_t enough, cofi_problem *problem,
                            cofi_rows **out, cof_error *err);

/* The same of n evenly spaced rows (cofi_stretch_begin), which are all rows if n is their number. Distinct rows are not
 * counted, and values count as present if they are in the table. */
cof_status cofi_rows_spaced(cofi_rows *rows, cofi_team *team, size_t n, cofi_problem *problem,
                            cofi_rows **out, cof_error *err);

/* The same rows as a sample, in memory, without the values that no row holds: the other values of each attribute are
 * numbered anew, in the same order. A fit of them gives the labels of a fit of the sample, bit for bit, because values of
 * count 0 add 0 to every sum. For that, all bins of a quantity stay, and of every attribute the first value in the order
 * of ties. Close the rows, then the problem, even if the call failed; both before those of the sample. */
cof_status cofi_rows_renumber(const cofi_rows *sample, cofi_problem *problem, cofi_rows **out,
                              cof_error *err);

/* ---- Calls, in terms of the contract ------------------------------------------------------------- */

cof_status cofi_partition_open(cofi_rows *rows, uint32_t k, cofi_team *team, cofi_partition *partition,
                               cof_error *err);
void cofi_partition_close(cofi_partition *partition); /* allowed after a failed open */
void cofi_partition_forget(cofi_partition *partition);
cof_status cofi_partition_pass(cofi_partition *partition, const cofi_scores *scores, uint64_t *moved,
                               cof_error *err);
cof_status cofi_partition_take(cofi_partition *partition, const int32_t *label, uint64_t *moved,
                               cof_error *err);
cof_status cofi_partition_recall(cofi_partition *partition, const cofi_kept *kept, cof_error *err);

static inline void cofi_rows_close(cofi_rows *rows) /* NULL is allowed */
{
    if (rows != NULL) rows->ops->close(rows);
}
static inline cof_status cofi_rows_totals(cofi_rows *rows, cofi_team *team, uint64_t *total, cof_error *err)
{
    return rows->ops->totals(rows, team, total, err);
}
/* How many rows a thread fetches at a time, so that their cells stay in its core's cache. */
static inline size_t cofi_rows_at_once(size_t n_columns)
{
    enum { ROWS = 256, CELLS = 1 << 16 };
    size_t n = CELLS / (n_columns + 1) + 1;
    return n < ROWS ? n : ROWS;
}

static inline cof_status cofi_rows_fetch(cofi_rows *rows, cofi_team *team, const uint64_t *row, size_t n,
                                         uint32_t *cell, uint64_t *weight, cof_error *err)
{
    return rows->ops->fetch(rows, team, row, n, cell, weight, err);
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
static inline cof_status cofi_partition_labels(const cofi_partition *p, const uint64_t *row, size_t n,
                                               int32_t *label, cof_error *err)
{
    return p->rows->ops->labels(p, row, n, label, err);
}

/* Number of clusters without rows. */
static inline uint32_t cofi_count_empty(const cofi_partition *p)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < p->k; j++) n += p->size[j] == 0;
    return n;
}
