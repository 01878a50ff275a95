/* An engine on a table, for tests of what a fit is made of. */
#ifndef ENGINE_HELPER_H
#define ENGINE_HELPER_H

#include "unit_helper.h"

#include "../../src/fit/engine.h"

typedef struct rig {
    cof_table *table;
    cofi_problem problem;
    cofi_engine engine;
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
    assert_status(cofi_problem_open(table, &o, true, &g->problem, &err), COF_OK, &err);
    assert_status(cofi_engine_open(&g->problem, &o, &g->engine, &err), COF_OK, &err);
    return g;
}

static inline void close_rig(rig *g)
{
    cofi_engine_close(&g->engine);
    cofi_problem_close(&g->problem);
    cof_table_free(g->table);
    free(g);
}

/* Random labels; the last `n_empty` clusters get no row. */
static inline void set_random_labels(rig *g, cofi_rng *rng, uint32_t n_empty)
{
    size_t n = g->problem.rows.n_rows;
    cofi_label *label = get_zero(n, sizeof *label);
    for (size_t i = 0; i < n; i++) label[i] = (cofi_label)below(rng, g->engine.o.k - n_empty);
    cofi_pass_set_labels(&g->engine.pass, label);
    free(label);
}

static inline uint32_t row_value(const rig *g, size_t row, size_t r)
{
    return cofi_id(g->problem.rows.ids[r], row);
}

static inline uint64_t row_weight(const rig *g, size_t row)
{
    return g->problem.rows.weight != NULL ? g->problem.rows.weight[row] : 1;
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
