/* Interface of a kernel: the innermost loop over rows for one instruction set. */
#pragma once

#include "../rows.h"
#include "plan.h"

/* Part of the rows in the E step, with its own sums. The surprise of a row is minus its log-likelihood. */
typedef struct cofi_expect_part {
    uint64_t *count; /* n_flat x stride memberships in units, then those of all rows */
    double *share;   /* memberships of the rows worked on */
    uint64_t *units; /* the same in whole units */
    uint32_t *id;    /* the flat ids of their cells */
    uint64_t surprise, weight;
} cofi_expect_part;

/* The rows that an E step visits: of n rows of the table, every step-th, or, if copies can be counted instead, all n rows of
 * the cells. */
typedef struct cofi_visited {
    size_t n, step;
    const uint32_t *group;  /* row of the table -> row of the cells; NULL: the identity */
    const uint64_t *weight; /* NULL: 1 each */
    const uint32_t *copies; /* which may be 0; NULL: 1 each */
    uint64_t first_row;     /* number of the first one in the whole table */
} cofi_visited;

typedef struct cofi_expect_job {
    const cofi_expectation *e;
    const cofi_cells *cells;
    cofi_visited rows;
    const double *log_theta,
        *log_pi; /* e's own, or copies with more entries per value, which whole tiles need */
    uint32_t stride;
    size_t n_entries;      /* values of all attributes x stride */
    double surprise_scale; /* units in a surprise of 1 of a row of weight 1 unit; 0: it is not wanted */
} cofi_expect_job;

enum {
    COFI_EXPECT_HELD = 32,      /* up to so many classes are summed in registers */
    COFI_EXPECT_TILE = 8,       /* more than these are rounded up to a multiple of them */
    COFI_EXPECT_ROWS = 64,      /* so many rows are worked on together, */
    COFI_EXPECT_ENTRIES = 1024, /* unless they have more memberships than these, which fit a fast cache, */
    COFI_EXPECT_CELLS = 4096    /* or more cells than these */
};

/* Classes to work on: past the last class, up to a whole tile; with up to half a tile, pairs suffice. */
static inline uint32_t cofi_expect_lanes(const cofi_expectation *e)
{
    uint32_t tile = COFI_EXPECT_TILE;
    return e->stride <= tile / 2 ? e->stride : (e->k + tile - 1) / tile * tile;
}

/* Rows that are worked on together if these may have so many memberships. */
static inline size_t cofi_expect_most(size_t n_entries, uint32_t lanes, size_t n_attrs)
{
    size_t n = n_entries / lanes, n_cells = COFI_EXPECT_CELLS / n_attrs;
    if (n_cells < n) n = n_cells;
    return n < 1 ? 1 : n < COFI_EXPECT_ROWS ? n : COFI_EXPECT_ROWS;
}

/* ---- The coarse E step (coarse_rows.h) ------------------------------------------------------------- */

enum {
    COFI_COARSE_PART = 8,         /* classes that are worked on together */
    COFI_COARSE_HELD = 32,        /* up to so many classes have one table; */
    COFI_COARSE_WIDE = 16,        /* of more, so many have tables of their own, which fit a fast cache. */
    COFI_COARSE_ENTRIES = 1 << 14 /* so many memberships are worked on together */
};

/* Part of the rows, with its own sums. */
typedef struct cofi_coarse_part {
    uint32_t *count; /* memberships in units; the order is that of cofi_coarse_index */
    uint32_t *entry; /* surprises, then memberships, of the rows worked on */
    /* The flat ids of their cells. Starts visit the same rows in every round; if there is room for the ids of all of them,
     * they are kept, in the order of the visits. */
    uint32_t *id;
    bool keeps, kept; /* in this visit; since an earlier one */
    size_t n_visited;
    uint64_t weight;
} cofi_coarse_part;

typedef struct cofi_coarse_job {
    const cofi_expectation *e;
    const cofi_cells *cells;
    cofi_visited rows;
    const int32_t *surprise; /* of every value and class, in the order of cofi_coarse_index */
    float to_log2;           /* makes binary logarithms of differences between surprises, */
    int32_t lowest;          /* of which lower ones count as this: 2^-59 */
    size_t n_flat;
} cofi_coarse_job;

static inline uint32_t cofi_coarse_lanes(uint32_t k)
{
    uint32_t unit = k > COFI_COARSE_HELD ? COFI_COARSE_WIDE : COFI_COARSE_PART;
    return (k + unit - 1) / unit * unit;
}

static inline size_t cofi_coarse_most(uint32_t lanes, size_t n_attrs)
{
    return cofi_expect_most(COFI_COARSE_ENTRIES, lanes, n_attrs);
}

/* Where tables of `width` classes each have value g of class j; g = n_flat: the class itself. */
static inline size_t cofi_coarse_index(size_t n_flat, uint32_t width, size_t g, uint32_t j)
{
    return (j / width * (n_flat + 1) + g) * width + j % width;
}

/* `nearest` finds the nearest clusters of rows begin..begin+n-1, n <= COFI_BLOCK_ROWS. `scratch` has scratch_bytes bytes. A
 * kernel only reads the plan. Every kernel must give the same labels as the plain one. */
struct cofi_revision;
typedef struct cofi_kernel {
    const char *name;                 /* shown in results */
    uint32_t most_cells, cheap_cells; /* these and `split` are arguments of cofi_plan_open */
    bool split;
    bool (*available)(void); /* whether this processor has the instructions */
    size_t (*scratch_bytes)(const cofi_plan *plan);
    void (*nearest)(const cofi_plan *plan, size_t begin, size_t n, cofi_label *nearest, void *scratch);
    /* Revises labels in a pass in which few clusters changed (revise.h); NULL: every pass scores all clusters. */
    void (*revise)(const cofi_plan *plan, const struct cofi_revision *revision, size_t begin, size_t n,
                   cofi_label *label, void *scratch);
    /* Counting of blocks with bitmaps, 64 rows per word; both are NULL if the kernel has no method faster
     * than row by row. members: writes the bitmap of cluster j's rows to member[j * COFI_BLOCK_WORDS],
     * cofi_n_words(n) words, and their number to size[j]; the order of the rows within the words is that
     * of `count`. count: n[v * k + j] is the number of members of cluster j with code v, for v < n_values.
     * Codes may be as large as n_values, and 64 * n_words codes are read. */
    void (*members)(const cofi_label *label, size_t n, uint32_t k, uint64_t *member, uint64_t *size);
    void (*count)(const uint8_t *code, size_t n_words, uint32_t n_values, const uint64_t *member, uint32_t k,
                  uint32_t *n);
    /* The E step of begin..end-1, every job->rows.step-th of them, added to the sums of `part` (expect_rows.h). */
    void (*expect)(const cofi_expect_job *job, size_t begin, size_t end, cofi_expect_part *part);
    /* the same for the coarse E step (coarse_rows.h) */
    void (*coarse)(const cofi_coarse_job *job, size_t begin, size_t end, cofi_coarse_part *part);
} cofi_kernel;

/* A block is one task of the team. */
enum { COFI_BLOCK_ROWS = 4096, COFI_BLOCK_WORDS = COFI_BLOCK_ROWS / 64 };

/* Number of words in a bitmap of n rows: a multiple of eight, for vectors of 512 bits. */
static inline size_t cofi_n_words(size_t n)
{
    return (n + 511) / 512 * 8;
}

/* Converts labels to bytes; rows past the end get `beyond`, up to the end of the bitmap. */
static inline __attribute__((always_inline)) void cofi_narrow(const cofi_label *label, size_t n,
                                                              uint8_t beyond, uint8_t *byte)
{
    for (size_t i = 0; i < n; i++) byte[i] = (uint8_t)label[i];
    memset(byte + n, beyond, 64 * cofi_n_words(n) - n);
}

/* The row's cluster, given its sums: the lowest cluster within COFI_TIE of the least sum, or, if
 * scores->plain is set, the best of those under scores->plain. */
cofi_label cofi_settle(const cofi_cells *rows, const cofi_scores *scores, size_t row, const int64_t *sum);
/* Full sums of n rows, scores->stride entries per row. Processes some columns for all rows before the next
 * columns, because the columns of a wide table are far apart in memory. */
void cofi_sum_rows(const cofi_cells *rows, const cofi_scores *scores, const size_t *row, size_t n,
                   int64_t *sum);

extern const cofi_kernel cofi_kernel_plain;
#if defined(__x86_64__) && defined(__GNUC__)
extern const cofi_kernel cofi_kernel_avx2, cofi_kernel_avx512;
#elif defined(__aarch64__) && defined(__GNUC__)
extern const cofi_kernel cofi_kernel_neon;
#elif defined(__wasm_simd128__)
extern const cofi_kernel cofi_kernel_simd128;
#endif
/* The kernels that this processor supports, fastest first; the last one is the plain kernel; NULL past the
 * end. */
const cofi_kernel *cofi_kernel_at(size_t at);
/* The fastest kernel, or the one that the environment variable COFOREST_KERNEL names; COF_ERR_ARGUMENT if
 * that does not exist. */
cof_status cofi_kernel_choose(const cofi_kernel **kernel, cof_error *err);
