/* Streams the contingency tables of all attribute pairs. Where rows count once each and values are few, a
 * table is made by and-ing bitmaps of values; otherwise cell by cell. */
#include "pairs.h"

enum { TARGETS_AT_ONCE = 64, MOST_BITMAP_WORDS = 1 << 25, MOST_BITMAP_CELLS = 100 };

typedef struct pair_work {
    cofi_engine *e;
    const cofi_pair_visitor *visitor;
    uint64_t *bits;  /* per flat id: which rows hold it; NULL: count cell by cell */
    uint64_t *total; /* per flat id: how many */
    size_t words;
    bool popcnt;    /* the processor counts bits itself */
    double **count; /* per worker: one table */
    size_t first_target;
} pair_work;

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

/* Inlined into versions with and without the processor's own instruction. */
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
    const cofi_problem *p = w->e->problem;
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

static bool have_popcnt(void)
{
    return __builtin_cpu_supports("popcnt");
}
#else
#define and_bits_popcnt and_bits_plain

static bool have_popcnt(void)
{
    return false;
}
#endif

static bool every_row_counts(const cofi_problem *p, size_t r)
{
    return p->first[r] + p->n_values[r] == p->first[r + 1]; /* no ignored cells */
}

/* Where no cell is ignored, the last row and column of the table are what the others leave of the totals. */
static void count_by_bits(const pair_work *w, size_t t, size_t r, double *count)
{
    const cofi_problem *p = w->e->problem;
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
    const cofi_problem *p = w->e->problem;
    const cofi_pair_visitor *v = w->visitor;
    size_t t = w->first_target + task;
    double *count = w->count[worker];
    if (v->begin != NULL) v->begin(v->ctx, worker, t);
    for (size_t r = 0; r < (v->before_only ? t : p->n_attrs); r++) {
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
    for (size_t i = 0; i < rows->n_rows; i++) {
        size_t flat = rows->first[r] + cofi_id(rows->ids[r], i);
        w->bits[flat * w->words + i / 64] |= UINT64_C(1) << (i % 64);
        w->total[flat]++;
    }
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
    w->total = cofi_alloc_zero(&e->env, p->first[p->n_attrs], sizeof *w->total);
    if (w->bits == NULL || w->total == NULL) return cofi_no_memory(err);
    cofi_team_run(e->team, set_bits, w, p->n_attrs);
    return COF_OK;
}

cof_status cofi_pairs_visit(cofi_engine *e, const cofi_pair_visitor *visitor, cof_error *err)
{
    pair_work w = {.e = e, .visitor = visitor, .popcnt = have_popcnt()};
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
    cofi_release(&e->env, w.total);
    return status;
}

/* ---- Entropies of counts ------------------------------------------------------------------------ */

enum { MOST_LOGS = 1 << 20 };

cof_status cofi_logs_open(const cofi_engine *e, cofi_logs *logs, cof_error *err)
{
    uint64_t rows = e->problem->total_weight;
    *logs = (cofi_logs){NULL, 0};
    if (e->problem->unit != 1.0) return COF_OK; /* counts need not be whole */
    size_t n = rows < MOST_LOGS ? (size_t)rows + 1 : MOST_LOGS;
    logs->of = cofi_alloc(&e->env, n, sizeof *logs->of);
    if (logs->of == NULL) return cofi_no_memory(err);
    for (size_t x = 0; x < n; x++) logs->of[x] = cofi_x_log_x(logs, (double)x);
    logs->n = n;
    return COF_OK;
}

void cofi_logs_close(const cofi_engine *e, cofi_logs *logs)
{
    cofi_release(&e->env, logs->of);
    *logs = (cofi_logs){NULL, 0};
}

/* H = log2 n - (sum of x log2 x) / n */
cofi_shared cofi_entropies(const cofi_logs *logs, const double *count, uint32_t o_t, uint32_t o_r)
{
    double n = 0, own = 0, other = 0, joint = 0;
    for (uint32_t a = 0; a < o_t; a++) {
        double total = cofi_pair_total(count, o_r, a);
        own += cofi_x_log_x(logs, total);
        n += total;
    }
    for (uint32_t b = 0; b < o_r; b++) {
        double total = 0;
        for (uint32_t a = 0; a < o_t; a++) {
            double c = count[(size_t)a * o_r + b];
            joint += cofi_x_log_x(logs, c);
            total += c;
        }
        other += cofi_x_log_x(logs, total);
    }
    if (n == 0) return (cofi_shared){0, 0, 0};
    return (cofi_shared){log2(n) - own / n, log2(n) - other / n, log2(n) - joint / n};
}
