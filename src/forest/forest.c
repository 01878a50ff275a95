/* Builds one tree per attribute: points, spanning tree, reach. */
#include "forest.h"

#include <assert.h>
#include <math.h>

/* Scratch memory of one worker. Columns of very many values need much of it, so only the first worker
 * builds their trees, and the scratch memory of the others stays small. */
struct cofi_forest_worker {
    cofi_points points;
    cofi_mst mst;
};

enum { SMALL = 1024 };

cof_status cofi_forest_open(const cof_env *env, cofi_team *team, size_t n_attrs, const uint32_t *first,
                            const uint32_t *n_values, uint32_t k, bool authors, cofi_forest *f,
                            cof_error *err)
{
    *f = (cofi_forest){
        .n_attrs = n_attrs, .first = first, .n_values = n_values, .k = k, .own = {.env = *env}, .team = team};
    f->stride = cofi_stride(k);
    f->authors = authors;
    f->scale = authors ? 1.0 / k : 1.0;
    f->twin_length = authors ? 1e-8 : 0.0;
    f->n_workers = cofi_team_size(team);
    f->edge = cofi_blocks_add(&f->own, first[n_attrs], sizeof *f->edge);
    f->depth = cofi_blocks_add(&f->own, first[n_attrs], sizeof *f->depth);
    f->same_as = cofi_blocks_add(&f->own, first[n_attrs], sizeof *f->same_as);
    f->inner = cofi_blocks_add(&f->own, first[n_attrs], sizeof *f->inner);
    f->n_inner = cofi_blocks_add_zero(&f->own, n_attrs, sizeof *f->n_inner);
    f->n_edges = cofi_blocks_add_zero(&f->own, n_attrs, sizeof *f->n_edges);
    f->line = cofi_blocks_add_zero(&f->own, n_attrs, sizeof *f->line);
    f->root = cofi_blocks_add(&f->own, n_attrs, sizeof *f->root);
    f->reach = cofi_blocks_add(&f->own, n_attrs, sizeof *f->reach);
    f->worker = cofi_blocks_add_zero(&f->own, f->n_workers, sizeof *f->worker);
    if (authors) cofi_forest_open_traces(f);
    uint32_t largest = 0;
    for (size_t r = 0; r < n_attrs; r++) largest = n_values[r] > largest ? n_values[r] : largest;
    f->small = largest < SMALL ? largest : SMALL;
    for (uint32_t t = 0; f->worker != NULL && t < f->n_workers; t++) {
        uint32_t capacity = t == 0 ? largest : f->small;
        cofi_points_open(&f->own, k, capacity, &f->worker[t].points);
        cofi_mst_open(&f->own, k, capacity, &f->worker[t].mst);
    }
    COFI_TRY(cofi_blocks_status(&f->own, err));
    for (uint32_t g = 0; g < first[n_attrs]; g++) f->same_as[g] = g; /* as long as there are no edges */
    return COF_OK;
}

void cofi_forest_close(cofi_forest *f)
{
    cofi_blocks_release(&f->own);
    memset(f, 0, sizeof *f);
}

double cofi_forest_weight(const cofi_forest *f, const uint64_t *count, uint32_t a, uint32_t b)
{
    const uint64_t *of_a = count + (size_t)a * f->stride, *of_b = count + (size_t)b * f->stride;
    double n_a = 0, n_b = 0, square = 0;
    for (uint32_t j = 0; j < f->k; j++) {
        n_a += (double)of_a[j];
        n_b += (double)of_b[j];
    }
    if (n_a == 0 || n_b == 0) return 0;
    for (uint32_t j = 0; j < f->k; j++) {
        double difference = (double)of_a[j] / n_a - (double)of_b[j] / n_b;
        square += difference * difference;
    }
    double w = f->scale * sqrt(square);
    return w > 0 ? w : f->twin_length;
}

/* Lists the leaves at length 0, and the other edges. */
static void find_equal_leaves(cofi_forest *f, size_t r)
{
    const cof_edge *edge = f->edge + f->first[r];
    uint32_t first = f->first[r], *same_as = f->same_as + first;
    for (uint32_t g = first; g < f->first[r + 1]; g++) f->same_as[g] = g;
    for (uint32_t e = 0; e < f->n_edges[r]; e++)
        if (edge[e].length == 0) same_as[edge[e].v] = first + edge[e].u;
    for (uint32_t e = 0; e < f->n_edges[r]; e++) same_as[edge[e].u] = first + edge[e].u; /* no leaf */
    f->n_inner[r] = 0;
    for (uint32_t e = 0; e < f->n_edges[r]; e++)
        if (same_as[edge[e].v] == first + edge[e].v) f->inner[first + f->n_inner[r]++] = e;
}

void cofi_forest_line(cofi_forest *f, const uint64_t *count, size_t r)
{
    uint32_t last = COFI_NONE, first = f->first[r];
    f->n_edges[r] = 0;
    f->reach[r] = 0;
    f->root[r] = COFI_NONE;
    for (uint32_t v = 0; v < f->n_values[r]; v++) {
        uint64_t n_rows = 0;
        for (uint32_t j = 0; j < f->k; j++) n_rows |= count[(size_t)(first + v) * f->stride + j];
        if (n_rows == 0) continue;
        if (last == COFI_NONE) {
            f->root[r] = v;
        } else {
            double length = cofi_forest_weight(f, count, first + last, first + v);
            f->edge[first + f->n_edges[r]++] = (cof_edge){last, v, length};
            f->reach[r] += length;
        }
        last = v;
    }
    find_equal_leaves(f, r);
}

typedef struct build_job {
    cofi_forest *forest;
    const uint64_t *count, *size;
} build_job;

static void build_tree(const build_job *job, uint32_t worker, size_t r)
{
    cofi_forest *f = job->forest;
    if (f->line[r]) {
        cofi_forest_line(f, job->count, r);
        return;
    }
    struct cofi_forest_worker *w = &f->worker[worker];
    w->points.order = f->order != NULL ? f->order + f->first[r] : NULL;
    cofi_points_gather(&w->points, job->count + (size_t)f->first[r] * f->stride,
                       f->authors ? job->size : NULL, f->stride, f->n_values[r]);
    f->n_edges[r] =
        cofi_mst_build(&w->mst, &w->points, f->scale, f->twin_length, f->edge + f->first[r], &f->root[r]);
    assert(f->n_edges[r] < f->n_values[r]);
    const cof_edge *edge = f->edge + f->first[r];
    double *depth = f->depth + f->first[r], deepest = 0;
    if (f->root[r] != COFI_NONE) depth[f->root[r]] = 0;
    for (uint32_t e = 0; e < f->n_edges[r]; e++) { /* each begins at a value of the tree so far */
        depth[edge[e].v] = depth[edge[e].u] + edge[e].length;
        deepest = fmax(deepest, depth[edge[e].v]);
    }
    f->reach[r] = 2 * deepest;
    find_equal_leaves(f, r);
}

static void build_if_small(void *ctx, uint32_t worker, size_t r)
{
    const build_job *job = ctx;
    if (job->forest->n_values[r] <= job->forest->small) build_tree(job, worker, r);
}

void cofi_forest_build(cofi_forest *f, const uint64_t *count, const uint64_t *size)
{
    build_job job = {f, count, size};
    cofi_team_run(f->team, build_if_small, &job, f->n_attrs);
    for (size_t r = 0; r < f->n_attrs; r++)
        if (f->n_values[r] > f->small) build_tree(&job, 0, r);
    cofi_forest_trace(f);
}
