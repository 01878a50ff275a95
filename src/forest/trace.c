/* Distances between all values of an attribute along its tree. A fit needs only sums of these (scores.c);
 * the authors' variant and k-prototypes need the distances themselves. */
#include "forest.h"

enum { FEW_VALUES = 64 };

/* Every path is summed from u outward, as a search from u does. */
void cofi_trace_from(const cofi_forest *f, size_t r, uint32_t u, double *d)
{
    const cof_edge *edge = f->edge + f->first[r];
    uint32_t o = f->n_values[r], n_known = 1;
    for (uint32_t v = 0; v < o; v++) d[v] = -1; /* not reached */
    d[u] = 0;
    for (bool grew = true; grew && n_known < o;) {
        grew = false;
        for (uint32_t e = 0; e < f->n_edges[r]; e++) {
            uint32_t a = edge[e].u, b = edge[e].v;
            if ((d[a] < 0) == (d[b] < 0)) continue;
            if (d[a] < 0)
                d[a] = d[b] + edge[e].length;
            else
                d[b] = d[a] + edge[e].length;
            grew = true;
            n_known++;
        }
    }
    for (uint32_t v = 0; v < o; v++) d[v] = d[v] < 0 ? 0 : d[v]; /* a value outside the tree adds nothing */
}

/* Only attributes with few values have a block of distances. */
void cofi_forest_open_traces(cofi_forest *f)
{
    size_t n = 0;
    f->trace_at = cofi_blocks_add(&f->own, f->n_attrs, sizeof *f->trace_at);
    for (size_t r = 0; f->trace_at != NULL && r < f->n_attrs; r++) {
        bool few = f->n_values[r] <= FEW_VALUES;
        f->trace_at[r] = few ? n : SIZE_MAX;
        n += few ? (size_t)f->n_values[r] * f->n_values[r] : 0;
    }
    f->trace = cofi_blocks_add(&f->own, n, sizeof *f->trace);
}

static void trace_task(void *ctx, uint32_t worker, size_t r)
{
    cofi_forest *f = ctx;
    uint32_t o = f->n_values[r];
    if (f->trace_at[r] == SIZE_MAX) return;
    double *d = f->trace + f->trace_at[r];
    for (uint32_t u = 0; u < o; u++) cofi_trace_from(f, r, u, d + (size_t)u * o);
    for (uint32_t u = 0; u < o; u++)
        for (uint32_t v = 0; v < u; v++) d[(size_t)u * o + v] = d[(size_t)v * o + u];
}

void cofi_forest_trace(cofi_forest *f)
{
    f->n_built++;
    if (f->trace != NULL) cofi_team_run(f->team, trace_task, f, f->n_attrs);
}
