/* Scores in 16 bits, laid out for lookups: what the vector kernels work from.
 *
 * Where only the least of a row's sums matters, any amount may be taken off all clusters alike, so each value
 * is charged relative to its cheapest cluster; what is left is cut to 16 bits. A sum of n such terms falls
 * short of the true one by less than n steps. If the least sum leads by more than that (and a tie), the row
 * is certain; otherwise it is settled with the full scores. Attributes of few values share a lookup: two of
 * five values are one of twenty-five. */
#ifndef COFI_PLAN_H
#define COFI_PLAN_H

#include "../cells.h"

#include <math.h>

enum {
    COFI_GROUP_ROWS = 256 /* rows a vector kernel handles together */
};

/* Some attributes of few values, as one. The cell of a row is its values as digits, the last one lowest. */
typedef struct cofi_lookup {
    uint32_t begin, n_attrs; /* within cofi_plan.attr */
    uint32_t n_cells;
    size_t flat; /* where its cells' values begin in cofi_plan.flat */
} cofi_lookup;

typedef struct cofi_plan {
    cof_env env;
    const cofi_cells *rows;
    const cofi_scores *scores; /* those it was prepared for */
    uint32_t k;
    uint32_t most_cells; /* of one lookup, and what each takes up in `table` */
    bool split;          /* tables hold the low bytes first, then the high ones */
    /* terms: first the lookups, then the attributes of many values */
    uint32_t n_lookups, n_terms, n_chunks, chunk_terms;
    cofi_lookup *lookup;
    uint32_t *attr;     /* attributes in the order of terms */
    uint32_t *flat;     /* [lookup][cell][attribute]: flat ids of the values that make a cell */
    uintptr_t *code;    /* where their codes are, in that order */
    uint16_t *table;    /* [lookup][j][most_cells], on a 64-byte boundary */
    uint16_t *wide;     /* [value][wide_stride], attribute after attribute */
    size_t *wide_first; /* per term past the lookups: the row of its value 0 */
    uint32_t wide_stride;
    uint8_t *alive;        /* k: the cluster takes rows */
    uint16_t *start;       /* k: what its sums begin with; above all others if it takes none */
    uint16_t *start_later; /* k: the same for the sums of later chunks */
    int64_t *cell;         /* k: one cell while it is made */
    void *owned_table;
    int shift;            /* one step is 2^shift of the scores' unit */
    uint32_t bound;       /* a lead of so many steps is certain */
    float key_begin;      /* the key of a row without a lead; see cofi_skip */
    double keys_per_unit; /* what a lead of 1, in the scores' unit, adds to it */
} cofi_plan;

/* most_cells 0: no tables at all, for the kernel that works on the full scores. */
cof_status cofi_plan_open(const cof_env *env, const cofi_cells *rows, uint32_t k, uint32_t most_cells,
                          bool split, cofi_plan *plan, cof_error *err);
void cofi_plan_close(cofi_plan *plan); /* fine after a failed open */
/* Once before the rows are walked with these scores. */
void cofi_plan_prepare(cofi_plan *plan, const cofi_scores *scores);

/* How much of the scores' unit one step is. */
static inline double cofi_plan_step(const cofi_plan *plan)
{
    return ldexp(1, plan->shift) / plan->scores->scale;
}

/* Of a row that leads by so much; among ties another may even be ahead by a little. Rounding may make the key fall
 * short, never exceed. */
static inline uint16_t cofi_plan_key(const cofi_plan *plan, double lead)
{
    double key = plan->key_begin + (lead > 0 ? lead : 0) * plan->keys_per_unit * (1 - 1e-6);
    return (uint16_t)(key < UINT16_MAX ? key : UINT16_MAX);
}

/* Asks for sixty-four rows to come of what these lookups read, while there is work to do: columns are many, no
 * processor foresees so many streams, and too many questions at once make it wait. Past the end it is no
 * access. */
static inline __attribute__((always_inline)) void cofi_prefetch_lookups(const cofi_plan *plan, uint32_t begin,
                                                                        uint32_t end, size_t row)
{
    const cofi_lookup *last = &plan->lookup[end - 1];
    for (uint32_t a = plan->lookup[begin].begin; a < last->begin + last->n_attrs; a++)
        __builtin_prefetch((const void *)(plan->code[a] + row + 2 * COFI_GROUP_ROWS));
}

/* to = high * o + low, byte by byte, none of which overflows: so bytes can be multiplied two at a time, and
 * vector units multiply pairs of bytes but not bytes. */
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

/* The cells of n rows in one lookup. Inlined, so that each kernel gets it in its own instructions. */
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

#endif
