/* A method on a small table, opened and seeded but not yet run, for looking inside. */
#ifndef METHOD_HELPER_H
#define METHOD_HELPER_H

#include "fit_helper.h"

#include "../../src/method/km.h"

#define EXACT 1.0000001e-6 /* six printed decimals */

/* The specification's table T6: first modes x2 and x5, and the labels every method ends with. */
static const int32_t t6[] = {0, 0, 2, 1, 1, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 0, 2, 0, 2, 1, 2, 0, 2, 1};
static const uint64_t t6_seeds[] = {1, 4};
static const cofi_label t6_labels[] = {1, 0, 0, 1, 1, 1};

typedef struct bench {
    cof_table *table;
    cofi_problem problem;
    cofi_rows *rows;
    cofi_fit fit;
    const cofi_method *method;
    const cofi_start *start;
    void *state, *start_state;
} bench;

static inline void set_up_with(bench *b, const int32_t *codes, size_t n, size_t l, cof_fit_options o)
{
    cof_error err = {""};
    memset(b, 0, sizeof *b);
    o.struct_size = sizeof o;
    o.restarts = o.threads = 1;
    o.max_passes = o.max_passes > 0 ? o.max_passes : 51;
    o.max_rebuilds = o.max_rebuilds > 0 ? o.max_rebuilds : 51;
    b->method = cofi_method_find(o.method);
    assert_non_null(b->method);
    b->start = start_for(&o);
    b->table = table_of(codes, n, l);
    assert_status(cofi_rows_open(b->table, &o, (cofi_opening){0}, &b->problem, &b->rows, &err), COF_OK, &err);
    assert_status(cofi_fit_open(b->rows, b->method, &o, &b->fit, &err), COF_OK, &err);
    if (b->method->open != NULL) assert_status(b->method->open(&b->fit, &b->state, &err), COF_OK, &err);
    if (b->start->open != NULL)
        assert_status(b->start->open(&b->fit, NULL, &b->start_state, &err), COF_OK, &err);
    cofi_rng_seed(&b->fit.rng, 1, 0);
    assert_status(b->start->run(&b->fit, b->start_state, &err), COF_OK, &err);
}

static inline void set_up_t6(bench *b, const char *method, uint32_t max_passes)
{
    cof_fit_options o = {.k = 2, .init_rows = t6_seeds, .max_passes = max_passes, .method = method};
    set_up_with(b, t6, 6, 4, o);
}

static inline void run_bench(bench *b)
{
    cof_error err = {""};
    assert_status(b->method->run(&b->fit, b->state, &err), COF_OK, &err);
}

static inline void tear_down(bench *b)
{
    if (b->start->close != NULL) b->start->close(&b->fit, b->start_state);
    cofi_fit_close(&b->fit);
    cofi_rows_close(b->rows);
    cofi_problem_close(&b->problem);
    cof_table_free(b->table);
}

/* The counts of one pair of attributes, out of all that are shown. */
typedef struct one_pair {
    const cofi_problem *p;
    size_t t, r;
    double *count;
} one_pair;

static inline void copy_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    const one_pair *w = ctx;
    (void)worker;
    if (t == w->t && r == w->r)
        memcpy(w->count, count, (size_t)w->p->n_values[t] * w->p->n_values[r] * sizeof *count);
}

static inline void count_pair(const bench *b, size_t t, size_t r, double *count)
{
    one_pair wanted = {&b->problem, t, r, count};
    cofi_pair_visitor visitor = {.ctx = &wanted, .pair = copy_pair};
    cof_error err = {""};
    assert_status(cofi_rows_pairs(b->rows, b->fit.host.team, &visitor, &err), COF_OK, &err);
}

/* The dissimilarity of row and cluster that the scores add up to. */
static inline double gamma_of(const bench *b, size_t row, uint32_t j)
{
    const cofi_cells *cells = cells_of(b->rows);
    const cofi_scores *s = &b->fit.scores;
    int64_t sum = s->base[j];
    for (size_t r = 0; r < cells->n_attrs; r++)
        sum += cofi_score_of(s, cells->first[r] + cofi_id(cells->ids[r], row))[j];
    return (double)sum / s->scale;
}

/* Six rows, two clusters; `squares`: the scores are the squares of what is wanted. */
static inline void assert_gammas(const bench *b, const double wanted[12], bool squares)
{
    for (size_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < 2; j++) {
            double got = gamma_of(b, i, j);
            assert_near(squares ? sqrt(got) : got, wanted[2 * i + j], EXACT);
        }
}

static inline void assert_first_gammas(const char *method, const double wanted[12], bool squares)
{
    bench b;
    set_up_t6(&b, method, 1);
    run_bench(&b);
    assert_gammas(&b, wanted, squares);
    tear_down(&b);
}

static inline void assert_t6_labels(const char *method)
{
    bench b;
    set_up_t6(&b, method, 0);
    run_bench(&b);
    assert_memory_equal(labels_of(&b.fit), t6_labels, sizeof t6_labels);
    assert_int_equal(b.fit.log.stop, COF_STOP_CONVERGED);
    tear_down(&b);
}

/* Upper triangles: D1 (01, 02, 12), D2 (01), D3 (01, 02, 12), D4 (01); both halves are looked at. */
static inline void assert_distances(const bench *b, const cofi_distances *d, const double wanted[8])
{
    static const struct {
        size_t r;
        uint32_t a, b;
    } at[8] = {{0, 0, 1}, {0, 0, 2}, {0, 1, 2}, {1, 0, 1}, {2, 0, 1}, {2, 0, 2}, {2, 1, 2}, {3, 0, 1}};
    for (int i = 0; i < 8; i++) {
        assert_near(cofi_distances_of(&b->fit, d, at[i].r, at[i].a)[at[i].b], wanted[i], EXACT);
        assert_near(cofi_distances_of(&b->fit, d, at[i].r, at[i].b)[at[i].a], wanted[i], EXACT);
        assert_true(cofi_distances_of(&b->fit, d, at[i].r, at[i].a)[at[i].a] == 0);
    }
}

#endif
