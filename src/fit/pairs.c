/* Streams the contingency tables of all attribute pairs. Where rows count once each and values are few, a
 * table is made by and-ing bitmaps of values; otherwise cell by cell. */
#include "pairs.h"

enum { TARGETS_AT_ONCE = 64, MOST_BITMAP_WORDS = 1 << 25, MOST_BITMAP_CELLS = 100 };

typedef struct pair_work {
    cofi_engine *e;
    const cofi_pair_visitor *visitor;
    uint64_t *bits; /* per flat id: which rows hold it; NULL: count cell by cell */
    size_t words;
    double **count; /* per worker: one table */
    size_t first_target;
} pair_work;

static uint64_t common_bits_plain(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint64_t n = 0;
    for (size_t w = 0; w < words; w++) n += (uint64_t)__builtin_popcountll(a[w] & b[w]);
    return n;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("popcnt"))) static uint64_t common_bits_popcnt(const uint64_t *a, const uint64_t *b,
                                                                     size_t words)
{
    uint64_t n = 0;
    for (size_t w = 0; w < words; w++) n += (uint64_t)__builtin_popcountll(a[w] & b[w]);
    return n;
}

static uint64_t common_bits(const uint64_t *a, const uint64_t *b, size_t words)
{
    return __builtin_cpu_supports("popcnt") ? common_bits_popcnt(a, b, words)
                                            : common_bits_plain(a, b, words);
}
#else
static uint64_t common_bits(const uint64_t *a, const uint64_t *b, size_t words)
{
    return common_bits_plain(a, b, words);
}
#endif

void cofi_pairs_count(const cofi_engine *e, size_t t, size_t r, double *count)
{
    const cofi_problem *p = e->problem;
    const cofi_rows *rows = &p->rows;
    uint32_t o_t = p->n_values[t], o_r = p->n_values[r];
    memset(count, 0, (size_t)o_t * o_r * sizeof *count);
    for (size_t i = 0; i < rows->n_rows; i++) {
        uint32_t a = cofi_id(rows->ids[t], i), b = cofi_id(rows->ids[r], i);
        if (a >= o_t || b >= o_r) continue; /* an ignored cell */
        count[(size_t)a * o_r + b] += rows->weight != NULL ? (double)rows->weight[i] : 1.0;
    }
    for (size_t at = 0; p->unit != 1.0 && at < (size_t)o_t * o_r; at++) count[at] /= p->unit;
}

static void count_by_bits(const pair_work *w, size_t t, size_t r, double *count)
{
    const cofi_problem *p = w->e->problem;
    uint32_t o_r = p->n_values[r];
    for (uint32_t a = 0; a < p->n_values[t]; a++)
        for (uint32_t b = 0; b < o_r; b++)
            count[(size_t)a * o_r + b] = (double)common_bits(
                w->bits + (p->first[t] + a) * w->words, w->bits + (p->first[r] + b) * w->words, w->words);
}

static void visit_target(void *ctx, uint32_t worker, size_t task)
{
    const pair_work *w = ctx;
    const cofi_problem *p = w->e->problem;
    const cofi_pair_visitor *v = w->visitor;
    size_t t = w->first_target + task;
    double *count = w->count[worker];
    if (v->begin != NULL) v->begin(v->ctx, worker, t);
    for (size_t r = 0; r < p->n_attrs; r++) {
        if (w->bits != NULL && p->n_values[t] * p->n_values[r] <= MOST_BITMAP_CELLS)
            count_by_bits(w, t, r, count);
        else
            cofi_pairs_count(w->e, t, r, count);
        v->pair(v->ctx, worker, t, r, count);
    }
    if (v->end != NULL) v->end(v->ctx, worker, t);
}

static void set_bits(void *ctx, uint32_t worker, size_t r)
{
    const pair_work *w = ctx;
    (void)worker;
    const cofi_rows *rows = &w->e->problem->rows;
    for (size_t i = 0; i < rows->n_rows; i++)
        w->bits[(rows->first[r] + cofi_id(rows->ids[r], i)) * w->words + i / 64] |= UINT64_C(1) << (i % 64);
}

static cof_status open_work(pair_work *w, cof_error *err)
{
    cofi_engine *e = w->e;
    const cofi_problem *p = e->problem;
    uint32_t largest = 0, n_workers = cofi_team_size(e->team);
    for (size_t r = 0; r < p->n_attrs; r++) largest = p->n_values[r] > largest ? p->n_values[r] : largest;
    w->count = cofi_alloc_zero(&e->env, n_workers, sizeof *w->count);
    if (w->count == NULL) return cofi_no_memory(err);
    for (uint32_t t = 0; t < n_workers; t++) {
        w->count[t] = cofi_alloc(&e->env, (size_t)largest * largest, sizeof **w->count);
        if (w->count[t] == NULL) return cofi_no_memory(err);
    }
    w->words = (p->rows.n_rows + 63) / 64;
    if (p->rows.weight != NULL || w->words * p->first[p->n_attrs] > MOST_BITMAP_WORDS) return COF_OK;
    w->bits = cofi_alloc_zero(&e->env, w->words * p->first[p->n_attrs], sizeof *w->bits);
    if (w->bits == NULL) return cofi_no_memory(err);
    cofi_team_run(e->team, set_bits, w, p->n_attrs);
    return COF_OK;
}

cof_status cofi_pairs_visit(cofi_engine *e, const cofi_pair_visitor *visitor, cof_error *err)
{
    pair_work w = {.e = e, .visitor = visitor};
    size_t n = e->problem->n_attrs;
    cof_status status = open_work(&w, err);
    while (status == COF_OK && w.first_target < n) {
        size_t left = n - w.first_target;
        cofi_team_run(e->team, visit_target, &w, left < TARGETS_AT_ONCE ? left : TARGETS_AT_ONCE);
        w.first_target += TARGETS_AT_ONCE;
        if (cofi_should_stop(&e->env))
            status = cofi_fail(err, COF_ERR_STOPPED, "stopped while the columns were being compared");
    }
    for (uint32_t t = 0; w.count != NULL && t < cofi_team_size(e->team); t++)
        cofi_release(&e->env, w.count[t]);
    cofi_release(&e->env, w.count);
    cofi_release(&e->env, w.bits);
    return status;
}
