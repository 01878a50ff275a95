/* The rows of a fit, wherever they are stored: in memory, in a mapped file, on other machines.
 *
 * A fit holds a handle and never a row. It asks questions: scores are passed in, integer sums are returned. The answers are
 * sums over rows, so the result does not depend on who adds them or in which order. Rows in memory answer a question
 * themselves (local.c); for rows elsewhere it is sent to shards (shards/remote.c), where rows in memory answer it. A further
 * implementation of rows is a cofi_rows_ops and a function that opens it.
 *
 * Row numbers are those of the table, 64 bits wide. Every call may fail, because rows may be elsewhere. */
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
    uint64_t hash;      /* equal partitions have equal hashes */
    const char *kernel; /* name of the kernel that labels the rows, for results */
    cofi_labels *labels;
} cofi_partition;

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

/* n rows by number: row[i], or if `row` is NULL, evenly spaced ones: i * span / n, rounded down. */
typedef struct cofi_row_list {
    const uint64_t *row;
    size_t n;
    uint64_t span;
} cofi_row_list;

/* ---- Questions ------------------------------------------------------------------------------------- */

/* The numbers are those of requests to shards (docs/shards.md). */
typedef enum cofi_ask {
    COFI_ASK_CENSUS = 1,   /* shards only: dropped rows, their weight, and totals */
    COFI_ASK_TOTALS = 2,   /* summed row weights per flat id */
    COFI_ASK_CELLS = 3,    /* cells and weights of listed rows */
    COFI_ASK_PAIRS = 4,    /* counts of value pairs, one attribute pair at a time */
    COFI_ASK_PASS = 5,     /* a pass */
    COFI_ASK_LABELS = 6,   /* labels of listed rows */
    COFI_ASK_EXPECT = 7,   /* the E step of a latent class model */
    COFI_ASK_NEAR = 8,     /* shards only: weight at each distance from the nearest seed */
    COFI_ASK_MASS = 9,     /* shards only: masses of stretches of rows */
    COFI_ASK_MERIT = 10,   /* shards only: rows by the next digits of their merit */
    COFI_ASK_POINTS = 11,  /* points of a cut column as it was read, of listed rows */
    COFI_ASK_CLASSES = 12, /* shards only: rows of each cluster and class of a column */
    COFI_ASK_AGREE = 13,   /* shards only: rows that each pair of clusters of two partitions shares */
    COFI_ASK_SEVERAL = 14, /* shards only: requests that were joined; none of them is of this kind */
    COFI_ASK_DIGEST = 15,  /* shards only: asked by the journal, so that it holds for the same rows only */
    /* The others are not sent. */
    COFI_ASK_REMEMBER, /* what a model remembers of the labels */
    COFI_ASK_SEED,     /* adds a seed to the partition, or removes all; after a pass there may be none */
    COFI_ASK_DRAW,     /* a row at random */
    COFI_ASK_DENSEST /* the first row with the greatest product of density and distance to its nearest seed */
} cofi_ask;

/* One question and its answer. Several threads may ask at the same time, about different partitions, unless the problem says
 * one_at_a_time. */
typedef struct cofi_question {
    cofi_ask kind;
    cofi_partition *partition; /* whose labels or seeds it is about; NULL if it is about neither */
    cofi_team *team;           /* who works for TOTALS, PAIRS and CELLS; NULL, for CELLS: this thread alone */
    cofi_row_list rows;        /* of CELLS, POINTS and LABELS */
    uint64_t *word;            /* answer of CENSUS, NEAR, MASS and MERIT: sums are added to it */
    union {
        uint64_t *total; /* TOTALS: n_flat */
        struct {         /* CELLS: n_attrs + n_numeric per row; either may be NULL */
            uint32_t *cell;
            uint64_t *weight;
        } cells;
        struct { /* POINTS; NaN: missing */
            size_t column;
            double *point;
        } points;
        struct { /* PAIRS, of the targets begin..end-1; COF_ERR_STOPPED if the host asked to stop */
            const cofi_pair_visitor *visitor;
            uint32_t begin, end, before_only; /* as the visitor says */
        } pairs;
        /* PASS: every row gets the label of the cluster with the least sum of scores (ties: shape.h), and counts, sizes and hash
         * of the partition are updated. `moved`: how many rows of the table changed their label. */
        struct {
            const cofi_scores *scores;
            uint64_t moved;
        } pass;
        int32_t *label; /* LABELS: -1 for a dropped row */
        struct {        /* REMEMBER: the arrays become some of the blocks */
            cofi_blocks *own;
            cofi_remembered out;
        } remember;
        cofi_expectation *expect;
        const uint32_t *seed; /* SEED: its cells; NULL: all are removed */
        /* DRAW: the mass of a row is its weight times the factor of its chance. `row` is the first at which the running sum of
         * the masses exceeds a number below their total, which the generator draws, or which is given. */
        struct {
            cofi_chance by;
            cofi_rng *rng; /* NULL: the target is given */
            uint64_t target, total, row;
        } draw;
        /* DENSEST: the density of a row is the sum of the totals of its values. Without a seed, distances count as 1. */
        struct {
            const uint64_t *total;
            uint64_t row;
        } densest;
        struct { /* MASS: of COFI_MASS_PARTS consecutive stretches of the rows begin..end-1 */
            uint32_t by;
            uint64_t key, begin, end;
            const uint64_t *total; /* as in DENSEST, for merits */
        } mass;
        /* MERIT: how many rows of positive weight have which next digits of their merit, among those with these first digits */
        struct {
            uint32_t shift;
            uint64_t first;
            const uint64_t *total;
        } merit;
        struct { /* CLASSES */
            uint32_t column;
            double unit; /* of weights */
        } classes;
    };
} cofi_question;

enum {
    COFI_CENSUS_HEAD = 2, /* dropped rows, total weight; then the totals of the values */
    COFI_MASS_PARTS = 4096,
    COFI_MERIT_BITS = 11,
    COFI_MERIT_BUCKETS = 1 << COFI_MERIT_BITS,
    COFI_MASS_MERIT = 100 /* by merit: 1 for rows of positive weight whose merit has the bits of the key */
};

typedef struct cofi_rows_ops {
    cof_status (*ask)(cofi_rows *rows, cofi_question *question, cof_error *err);
    cof_status (*open_partition)(cofi_partition *partition, cofi_team *team, cof_error *err);
    void (*close_partition)(cofi_partition *partition); /* allowed after a failed open */
    /* Saves the partition in *kept, which the first call allocates and which lives as long as the partition. */
    cof_status (*keep)(const cofi_partition *partition, cofi_kept **kept, cof_error *err);
    /* Sets the labels to what was kept, or else to those of all rows of the table that were found by other means than scores,
     * or else to none. Rows elsewhere refuse labels: methods that have such fetch all rows first, which is refused there. */
    cof_status (*set)(cofi_partition *partition, const cofi_kept *kept, const int32_t *label, uint64_t *moved,
                      cof_error *err);
    void (*close)(cofi_rows *rows);
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

/* ---- Calls ------------------------------------------------------------------------------------------ */

/* Summed row weights per flat id. */
cof_status cofi_rows_totals(cofi_rows *rows, cofi_team *team, uint64_t *total, cof_error *err);
/* Cells and weights of n listed rows; if `row` is NULL, of the rows 0 to n - 1. */
cof_status cofi_rows_fetch(cofi_rows *rows, cofi_team *team, const uint64_t *row, size_t n, uint32_t *cell,
                           uint64_t *weight, cof_error *err);
cof_status cofi_rows_points(cofi_rows *rows, size_t column, const uint64_t *row, size_t n, double *point,
                            cof_error *err);
cof_status cofi_rows_pairs(cofi_rows *rows, cofi_team *team, const cofi_pair_visitor *visitor,
                           cof_error *err);
void cofi_rows_close(cofi_rows *rows); /* NULL is allowed */

cof_status cofi_partition_open(cofi_rows *rows, uint32_t k, cofi_team *team, cofi_partition *partition,
                               cof_error *err);
void cofi_partition_close(cofi_partition *partition);  /* allowed after a failed open */
void cofi_partition_forget(cofi_partition *partition); /* removes the labels of all rows */
cof_status cofi_partition_pass(cofi_partition *partition, const cofi_scores *scores, uint64_t *moved,
                               cof_error *err);
cof_status cofi_partition_take(cofi_partition *partition, const int32_t *label, uint64_t *moved,
                               cof_error *err);
cof_status cofi_partition_keep(const cofi_partition *partition, cofi_kept **kept, cof_error *err);
cof_status cofi_partition_recall(cofi_partition *partition, const cofi_kept *kept, cof_error *err);
/* If `row` is NULL, the rows are evenly spaced (cofi_stretch_begin); these are all rows of the table if n is their number. */
cof_status cofi_partition_labels(const cofi_partition *partition, const uint64_t *row, size_t n,
                                 int32_t *label, cof_error *err);
/* The arrays become some of the blocks. */
cof_status cofi_partition_remember(const cofi_partition *partition, cofi_blocks *own, cofi_remembered *out,
                                   cof_error *err);
cof_status cofi_partition_expect(cofi_partition *partition, cofi_expectation *e, cof_error *err);
cof_status cofi_partition_add_seed(cofi_partition *partition, const uint32_t *cell, cof_error *err);
cof_status cofi_partition_draw(cofi_partition *partition, cofi_chance by, cofi_rng *rng, uint64_t *row,
                               cof_error *err);
cof_status cofi_partition_densest(cofi_partition *partition, const uint64_t *total, uint64_t *row,
                                  cof_error *err);

/* How many rows a thread fetches at a time, so that their cells stay in its core's cache. */
static inline size_t cofi_rows_at_once(size_t n_columns)
{
    enum { ROWS = 256, CELLS = 1 << 16 };
    size_t n = CELLS / (n_columns + 1) + 1;
    return n < ROWS ? n : ROWS;
}

/* Number of clusters without rows. */
static inline uint32_t cofi_count_empty(const cofi_partition *p)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < p->k; j++) n += p->size[j] == 0;
    return n;
}
