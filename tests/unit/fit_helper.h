/* The parts of a fit on a table, for tests of what a fit is made of. */
#ifndef FIT_HELPER_H
#define FIT_HELPER_H

#include "unit_helper.h"

#include "../../src/rows/value_order.h"
#include "../../src/method/methods.h"
#include "../../src/rows/local.h"
#include "../../src/start/starts.h"

/* ---- Looking into a fit -------------------------------------------------------------------------- */

/* What a pass walks: the table's rows, or the distinct ones. */
static inline const cofi_cells *cells_of(const cofi_rows *rows)
{
    return &cofi_local_of(rows)->cells;
}

/* Labels of the walked rows. */
static inline const cofi_label *labels_of(const cofi_fit *fit)
{
    return fit->partition.labels->pass.label;
}

/* One label for every walked row. */
static inline void set_labels(cofi_fit *fit, const cofi_label *label)
{
    cofi_partition *p = &fit->partition;
    size_t n = p->rows->problem->n_table_rows;
    int32_t *wide = get_zero(n, sizeof *wide);
    uint64_t moved;
    cof_error err;
    for (size_t i = 0; i < n; i++) wide[i] = label[cofi_local_row(cofi_local_of(p->rows), i)];
    cofi_partition_forget(p);
    assert_status(cofi_partition_take(p, wide, &moved, &err), COF_OK, &err);
    free(wide);
}

static inline const cofi_start *start_for(const cof_fit_options *o)
{
    return o->init_rows != NULL ? &cofi_start_given : cofi_start_of(o->init);
}

/* ---- A fit without its method -------------------------------------------------------------------- */

typedef struct rig {
    cof_table *table;
    cofi_problem problem;
    cofi_rows *rows;
    cofi_fit fit;
    const cofi_start *start;
    void *start_state;
} rig;

/* Takes the table over. Options as cof_fit would have filled them in. */
static inline rig *open_rig(cof_table *table, cof_fit_options o)
{
    rig *g = get_zero(1, sizeof *g);
    cof_error err;
    if (o.restarts == 0) o.restarts = 1;
    if (o.max_passes == 0) o.max_passes = 51;
    if (o.max_rebuilds == 0) o.max_rebuilds = 51;
    if (o.threads == 0) o.threads = 1;
    g->table = table;
    g->start = start_for(&o);
    assert_status(cofi_rows_open(table, &o, (cofi_opening){.fold = true}, &g->problem, &g->rows, &err),
                  COF_OK, &err);
    if (g->start == cofi_start_of(COF_INIT_PORTFOLIO) && o.variant == COF_VARIANT_PAPER)
        assert_status(cofi_value_order_set(g->rows, &g->problem, 1, &err), COF_OK, &err);
    assert_status(cofi_fit_open(g->rows, cofi_method_find(o.method), &o, &g->fit, &err), COF_OK, &err);
    if (g->start->open != NULL)
        assert_status(g->start->open(&g->fit, NULL, &g->start_state, &err), COF_OK, &err);
    return g;
}

static inline void close_rig(rig *g)
{
    if (g->start->close != NULL) g->start->close(&g->fit, g->start_state);
    cofi_fit_close(&g->fit);
    cofi_rows_close(g->rows);
    cofi_problem_close(&g->problem);
    cof_table_free(g->table);
    free(g);
}

/* What a restart begins with: seeds and modes, or a partition. */
static inline cof_status try_begin(rig *g, cof_error *err)
{
    cofi_blocks_release(&g->fit.scratch);
    cofi_partition_forget(&g->fit.partition);
    if (g->start->prepare != NULL) {
        uint32_t *same_as = get_zero(g->fit.host.o.restarts, sizeof *same_as);
        memset(same_as, 0xFF, g->fit.host.o.restarts * sizeof *same_as);
        cof_status status = g->start->prepare(&g->fit, g->start_state, 1, same_as, err);
        free(same_as);
        if (status != COF_OK) return status;
    }
    return g->start->run(&g->fit, g->start_state, err);
}

static inline void begin(rig *g, uint64_t seed)
{
    cof_error err;
    cofi_rng_seed(&g->fit.rng, seed, 0);
    assert_status(try_begin(g, &err), COF_OK, &err);
}

/* Random labels; the last `n_empty` clusters get no row. */
static inline void set_random_labels(rig *g, cofi_rng *rng, uint32_t n_empty)
{
    size_t n = g->problem.n_walked;
    cofi_label *label = get_zero(n, sizeof *label);
    for (size_t i = 0; i < n; i++) label[i] = (cofi_label)below(rng, g->fit.partition.k - n_empty);
    set_labels(&g->fit, label);
    free(label);
}

/* Of walked rows. */
static inline uint32_t row_value(const rig *g, size_t row, size_t r)
{
    return cofi_id(cells_of(g->rows)->ids[r], row);
}

static inline uint64_t row_weight(const rig *g, size_t row)
{
    return cofi_cells_weight(cells_of(g->rows), row);
}

/* The walked row that a row of the table is, or was folded into. */
static inline size_t walked(const rig *g, uint64_t table_row)
{
    return cofi_local_row(cofi_local_of(g->rows), table_row);
}

static inline bool is_folded(const rig *g)
{
    return cofi_local_of(g->rows)->group != NULL;
}

/* The value that most rows of cluster j hold, the lowest of those. */
static inline uint32_t most_frequent(const rig *g, uint32_t j, size_t r)
{
    uint64_t count[64] = {0};
    uint32_t best = 0;
    for (size_t i = 0; i < g->problem.n_walked; i++)
        if (labels_of(&g->fit)[i] == (int32_t)j && row_value(g, i, r) < g->problem.n_values[r])
            count[row_value(g, i, r)] += row_weight(g, i);
    for (uint32_t v = 1; v < g->problem.n_values[r]; v++)
        if (count[v] > count[best]) best = v;
    return best;
}

/* Path lengths between all values of one attribute: edges, then every detour; INFINITY outside the tree. */
static inline double *all_paths(const cof_edge *edge, size_t n_edges, uint32_t o)
{
    double *d = get_zero((size_t)o * o, sizeof *d);
    for (size_t at = 0; at < (size_t)o * o; at++) d[at] = at % (o + 1) == 0 ? 0 : INFINITY;
    for (size_t e = 0; e < n_edges; e++)
        d[(size_t)edge[e].u * o + edge[e].v] = d[(size_t)edge[e].v * o + edge[e].u] = edge[e].length;
    for (uint32_t via = 0; via < o; via++)
        for (uint32_t u = 0; u < o; u++)
            for (uint32_t v = 0; v < o; v++)
                if (d[(size_t)u * o + via] + d[(size_t)via * o + v] < d[(size_t)u * o + v])
                    d[(size_t)u * o + v] = d[(size_t)u * o + via] + d[(size_t)via * o + v];
    return d;
}

#endif
