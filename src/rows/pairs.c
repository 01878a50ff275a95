/* Streams the contingency tables of all attribute pairs. If rows are unweighted and values are few, a
 * table is made by AND of value bitmaps, otherwise row by row. */
#include "../core/processor.h"
#include "local.h"

enum { TARGETS_AT_ONCE = 64, MOST_BITMAP_WORDS = 1 << 25, MOST_BITMAP_CELLS = 100 };

typedef struct pair_work {
    cofi_blocks own;
    const cofi_problem *p;
    const cofi_cells *cells;
    const cofi_pair_visitor *visitor;
    uint64_t *bits;  /* per flat id: bitmap of the rows that hold it; NULL: count row by row */
    uint64_t *total; /* per flat id: number of rows that hold it */
    size_t words;
    bool popcnt;    /* the processor has the popcnt instruction */
    double **count; /* per worker: one contingency table */
    size_t first_target;
} pair_work;

/* Counts row by row. */
static void count_pairs(const pair_work *w, size_t t, size_t r, double *count)
{
    const cofi_problem *p = w->p;
    const cofi_cells *c = w->cells;
    uint32_t o_t = p->n_values[t], o_r = p->n_values[r];
    memset(count, 0, (size_t)o_t * o_r * sizeof *count);
    for (size_t i = 0; i < c->n_rows; i++) {
        uint32_t a = cofi_id(c->ids[t], i), b = cofi_id(c->ids[r], i);
        if (a >= o_t || b >= o_r) continue; /* an ignored cell */
        count[(size_t)a * o_r + b] += (double)cofi_cells_weight(c, i);
    }
    for (size_t at = 0; p->unit != 1.0 && at < (size_t)o_t * o_r; at++) count[at] /= p->unit;
}

/* Inlined into one version with and one without the popcnt instruction. */
static inline __attribute__((always_inline)) uint64_t common_bits(const uint64_t *a, const uint64_t *b,
                                                                  size_t words)
{
    uint64_t n = 0;
    for (size_t w = 0; w < words; w++) n += (uint64_t)__builtin_popcountll(a[w] & b[w]);
    return n;
}

static inline __attribute__((always_inline)) void and_bits(const pair_work *w, size_t t, size_t r,
                                                           uint32_t n_a, uint32_t n_b, double *count)
{
    const cofi_problem *p = w->p;
    for (uint32_t a = 0; a < n_a; a++)
        for (uint32_t b = 0; b < n_b; b++)
            count[(size_t)a * p->n_values[r] + b] = (double)common_bits(
                w->bits + (p->first[t] + a) * w->words, w->bits + (p->first[r] + b) * w->words, w->words);
}

static void and_bits_plain(const pair_work *w, size_t t, size_t r, uint32_t n_a, uint32_t n_b, double *count)
{
    and_bits(w, t, r, n_a, n_b, count);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("popcnt"))) static void and_bits_popcnt(const pair_work *w, size_t t, size_t r,
                                                              uint32_t n_a, uint32_t n_b, double *count)
{
    and_bits(w, t, r, n_a, n_b, count);
}
#else
#define and_bits_popcnt and_bits_plain
#endif

static bool every_row_counts(const cofi_problem *p, size_t r)
{
    return p->first[r] + p->n_values[r] == p->first[r + 1]; /* no ignored cells */
}

/* If no cell is ignored, the last row and column of the contingency table follow from the totals. */
static void count_by_bits(const pair_work *w, size_t t, size_t r, double *count)
{
    const cofi_problem *p = w->p;
    uint32_t o_t = p->n_values[t], o_r = p->n_values[r];
    bool whole = every_row_counts(p, t) && every_row_counts(p, r);
    uint32_t n_a = whole ? o_t - 1 : o_t, n_b = whole ? o_r - 1 : o_r;
    (w->popcnt ? and_bits_popcnt : and_bits_plain)(w, t, r, n_a, n_b, count);
    if (!whole) return;
    double *last = count + (size_t)n_a * o_r;
    for (uint32_t b = 0; b < o_r; b++) last[b] = (double)w->total[p->first[r] + b];
    for (uint32_t a = 0; a < n_a; a++) {
        double *row = count + (size_t)a * o_r, left = (double)w->total[p->first[t] + a];
        for (uint32_t b = 0; b < n_b; b++) left -= row[b];
        row[n_b] = left;
        for (uint32_t b = 0; b < o_r; b++) last[b] -= row[b];
    }
}

static void visit_target(void *ctx, uint32_t worker, size_t task)
{
    const pair_work *w = ctx;
    const cofi_problem *p = w->p;
    const cofi_pair_visitor *v = w->visitor;
    size_t t = w->first_target + task;
    double *count = w->count[worker];
    if (v->begin != NULL) v->begin(v->ctx, worker, t);
    for (size_t r = 0; r < (v->before_only ? t : p->n_attrs); r++) {
        if (w->bits != NULL && p->n_values[t] * p->n_values[r] <= MOST_BITMAP_CELLS)
            count_by_bits(w, t, r, count);
        else
            count_pairs(w, t, r, count);
        v->pair(v->ctx, worker, t, r, count);
    }
    if (v->end != NULL) v->end(v->ctx, worker, t);
}

static void set_bits(void *ctx, uint32_t worker, size_t r)
{
    const pair_work *w = ctx;
    const cofi_cells *rows = w->cells;
    for (size_t i = 0; i < rows->n_rows; i++) {
        size_t flat = rows->first[r] + cofi_id(rows->ids[r], i);
        w->bits[flat * w->words + i / 64] |= UINT64_C(1) << (i % 64);
        w->total[flat]++;
    }
}

static cof_status open_work(pair_work *w, uint32_t n_workers, cof_error *err)
{
    const cofi_problem *p = w->p;
    uint32_t largest = 0;
    for (size_t r = 0; r < p->n_attrs; r++) largest = p->n_values[r] > largest ? p->n_values[r] : largest;
    w->count = cofi_blocks_add(&w->own, n_workers, sizeof *w->count);
    for (uint32_t t = 0; w->count != NULL && t < n_workers; t++)
        w->count[t] = cofi_blocks_add(&w->own, (size_t)largest * largest, sizeof **w->count);
    w->words = (w->cells->n_rows + 63) / 64;
    if (w->cells->weight == NULL && w->words * cofi_n_flat(p) <= MOST_BITMAP_WORDS) {
        w->bits = cofi_blocks_add_zero(&w->own, w->words * cofi_n_flat(p), sizeof *w->bits);
        w->total = cofi_blocks_add_zero(&w->own, cofi_n_flat(p), sizeof *w->total);
    }
    return cofi_blocks_status(&w->own, err);
}

cof_status cofi_local_pairs(cofi_rows *rows, const cofi_question *q, cof_error *err)
{
    const cofi_problem *p = rows->problem;
    pair_work w = {.own = {.env = p->env},
                   .p = p,
                   .cells = &cofi_local_of(rows)->cells,
                   .visitor = q->pairs.visitor,
                   .first_target = q->pairs.begin,
                   .popcnt = cofi_processor_has(COFI_POPCNT)};
    cof_status status = open_work(&w, cofi_team_size(q->team), err);
    if (status == COF_OK && w.bits != NULL) cofi_team_run(q->team, set_bits, &w, p->n_attrs);
    while (status == COF_OK && w.first_target < q->pairs.end) {
        size_t left = q->pairs.end - w.first_target;
        cofi_team_run(q->team, visit_target, &w, left < TARGETS_AT_ONCE ? left : TARGETS_AT_ONCE);
        w.first_target += TARGETS_AT_ONCE;
        if (cofi_should_stop(&p->env))
            status = cofi_fail(err, COF_ERR_STOPPED, "stopped while the columns were being compared");
    }
    cofi_blocks_release(&w.own);
    return status;
}
