/* Scores in 16 bits, arranged in lookup tables for the vector kernels.
 *
 * Only the order of a row's sums matters, so a constant may be subtracted from the scores of one value in
 * all clusters. Each score is taken relative to the value's least score and cut to 16 bits. A sum of n
 * such terms is less than the true sum by fewer than n steps. If the least sum leads by more than that
 * (plus a tie), the row's cluster is certain; otherwise the row is settled with the full scores.
 * Attributes of few values share a lookup: two attributes of five values become one of twenty-five cells. */
#pragma once

#include "../cells.h"

#include <math.h>

enum {
    COFI_GROUP_ROWS = 256 /* rows a vector kernel handles together */
};

/* Several attributes of few values, combined into one. The cell of a row is the number whose digits are
 * the row's values, the last attribute being the lowest digit. */
typedef struct cofi_lookup {
    uint32_t begin, n_attrs; /* range within cofi_plan.attr */
    uint32_t n_cells;
    size_t flat; /* where its cells begin in cofi_plan.flat */
} cofi_lookup;

typedef struct cofi_plan {
    cofi_blocks own;
    const cofi_cells *rows;
    const cofi_scores *scores; /* the scores it was prepared for */
    uint32_t k;
    uint32_t most_cells;  /* limit for one lookup, and the size of one lookup in `table` */
    uint32_t cheap_cells; /* a lookup of more cells takes longer */
    bool split;           /* tables hold all low bytes first, then all high bytes */
    /* terms: the lookups first, then the wide attributes, which have too many values for a lookup */
    uint32_t n_lookups, n_terms, n_chunks, chunk_terms;
    uint32_t n_cheap; /* the first so many lookups have at most cheap_cells cells */
    cofi_lookup *lookup;
    uint32_t *attr;  /* attributes in the order of terms */
    uint32_t *flat;  /* [lookup][cell][attribute]: flat ids of the values that make up a cell */
    uintptr_t *code; /* addresses of the attributes' codes, in the same order */
    uint16_t *table; /* [lookup][j][most_cells], on a 64-byte boundary */
    uint16_t *wide; /* [value][wide_stride], one attribute after the other; entries as in cofi_scores.value */
    size_t *wide_first; /* per wide attribute: index of its value 0 in `wide` */
    uint32_t wide_stride;
    uint8_t *alive; /* k: whether the cluster takes rows */
    /* k: initial value of the sums; above all other sums if the cluster takes no rows */
    uint16_t *start;
    uint16_t *start_later; /* k: the same for the second and later chunks */
    int64_t *cell;         /* k: scratch for one cell */
    int shift;             /* one step is 2^shift of the scores' unit */
    uint32_t bound;        /* a lead of at least so many steps is certain */
    bool exact;            /* no bit of a score was lost */
    uint16_t *key;         /* per row, for skipping (skip.h); NULL: this pass keeps none */
    uint16_t key_begin;    /* the key of a row with lead 0 */
    /* What a revision needs (revise.h); NULL: there is none. */
    int64_t *floor;           /* [lookup][most_cells]: what was subtracted from the scores of each cell */
    int64_t start_floor;      /* the same for `start` */
    uint32_t *top, start_top; /* greatest entry of each lookup, and of `start` */
    uint16_t *own_sum, *rest; /* per row: 16-bit sum of its cluster, and the least of all others */
} cofi_plan;

/* If most_cells is 0, no tables are made: the plain kernel uses the full scores. */
cof_status cofi_plan_open(const cof_env *env, const cofi_cells *rows, uint32_t k, uint32_t most_cells,
                          uint32_t cheap_cells, bool split, cofi_plan *plan, cof_error *err);
void cofi_plan_close(cofi_plan *plan); /* allowed after a failed open */
/* Fills the tables; call it before every pass. */
void cofi_plan_prepare(cofi_plan *plan, const cofi_scores *scores);
/* Fills the tables of the listed clusters again, when only their scores changed. False: they do not fit the range of the
 * other tables, and all must be prepared. */
bool cofi_plan_update(cofi_plan *plan, const cofi_scores *scores, const cofi_label *list, uint32_t n);

/* Keeps the sums of a row that was scored in full, for a revision. `sum` has its 16-bit sums, COFI_GROUP_ROWS apart; nearest
 * and lead are those of them, and the label may be another one within the error of the sums. */
static inline void cofi_plan_note(const cofi_plan *plan, const uint16_t *sum, size_t row, cofi_label nearest,
                                  uint16_t lead, cofi_label label)
{
    uint16_t least = sum[(size_t)nearest * COFI_GROUP_ROWS];
    plan->own_sum[row] = sum[(size_t)label * COFI_GROUP_ROWS];
    plan->rest[row] = label == nearest ? (uint16_t)(least + lead) : least;
}

/* Prefetches 64 rows, two groups ahead, of the columns that these lookups read. There are too many columns
 * for the processor's own prefetcher, and too many prefetches at once would stall it. A prefetch past the
 * end of a column is harmless. */
static inline __attribute__((always_inline)) void cofi_prefetch_lookups(const cofi_plan *plan, uint32_t begin,
                                                                        uint32_t end, size_t row)
{
    const cofi_lookup *last = &plan->lookup[end - 1];
    for (uint32_t a = plan->lookup[begin].begin; a < last->begin + last->n_attrs; a++)
        __builtin_prefetch((const void *)(plan->code[a] + row + 2 * COFI_GROUP_ROWS));
}

/* Computes to = high * o + low for every byte. No byte overflows, so two bytes can be multiplied as one
 * 16-bit number; vector units have no multiplication of bytes. */
static inline __attribute__((always_inline)) void cofi_append_digit(const uint8_t *high, const uint8_t *low,
                                                                    uint8_t o, size_t n, uint8_t *to)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        uint16_t x, y;
        memcpy(&x, high + i, 2);
        memcpy(&y, low + i, 2);
        x = (uint16_t)(x * o + y);
        memcpy(to + i, &x, 2);
    }
    if (i < n) to[i] = (uint8_t)(high[i] * o + low[i]);
}

/* The cells of n rows in one lookup. Inlined, so that it is compiled with the instructions of each kernel. */
static inline __attribute__((always_inline)) void
cofi_plan_cells(const cofi_plan *plan, uint32_t lookup, size_t begin, size_t n, uint8_t *restrict to)
{
    const cofi_lookup *look = &plan->lookup[lookup];
    const cofi_cells *rows = plan->rows;
    const uint32_t *attr = plan->attr + look->begin;
    const uint8_t *restrict first = (const uint8_t *)rows->ids[attr[0]].codes + begin;
    if (look->n_attrs == 1) {
        memcpy(to, first, n);
        return;
    }
    for (uint32_t a = 1; a < look->n_attrs; a++) {
        const uint8_t *restrict code = (const uint8_t *)rows->ids[attr[a]].codes + begin;
        uint8_t o = (uint8_t)(rows->first[attr[a] + 1] - rows->first[attr[a]]);
        cofi_append_digit(a == 1 ? first : to, code, o, n, to);
    }
}
