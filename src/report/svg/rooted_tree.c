/* Turns edges into a rooted tree. Nothing recurses: a tree may be a chain of a million values. */
#include "rooted_tree.h"

#include <assert.h>
#include <stdlib.h>

typedef struct half_edge {
    uint32_t from, to;
    double length;
} half_edge;

/* The edges at each value: those of value v are half[first[v]] to half[first[v + 1] - 1], the shortest first. */
typedef struct neighbours {
    half_edge *half;
    size_t *first;
    uint32_t *stack; /* scratch, one entry per value */
} neighbours;

static int compare_halves(const void *first, const void *second)
{
    const half_edge *a = first, *b = second;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static void list_neighbours(neighbours *links, uint32_t n, const cof_edge *edges, size_t n_edges)
{
    for (size_t e = 0; e < n_edges; e++) {
        links->half[2 * e] = (half_edge){edges[e].u, edges[e].v, edges[e].length};
        links->half[2 * e + 1] = (half_edge){edges[e].v, edges[e].u, edges[e].length};
    }
    qsort(links->half, 2 * n_edges, sizeof *links->half, compare_halves);
    size_t h = 0;
    for (uint32_t v = 0; v < n; v++) {
        links->first[v] = h;
        while (h < 2 * n_edges && links->half[h].from == v) h++;
    }
    links->first[n] = h;
}

/* Hangs the tree from a root, depth first. Returns a value that is the most edges away from it. */
static uint32_t hang(cofi_rooted_tree *t, const neighbours *links, uint32_t root)
{
    uint32_t n_waiting = 1, n_placed = 0, deepest = root;
    links->stack[0] = root;
    t->parent[root] = COFI_NO_PARENT;
    t->length[root] = 0;
    t->depth[root] = 0;
    t->is_last[root] = true;
    while (n_waiting > 0) {
        uint32_t v = links->stack[--n_waiting];
        t->order[n_placed++] = v;
        if (t->depth[v] > t->depth[deepest]) deepest = v;
        bool last = true;
        for (size_t h = links->first[v + 1]; h-- > links->first[v];) {
            uint32_t u = links->half[h].to;
            if (u == t->parent[v]) continue;
            t->parent[u] = v;
            t->length[u] = links->half[h].length;
            t->depth[u] = t->depth[v] + 1;
            t->is_last[u] = last;
            last = false;
            links->stack[n_waiting++] = u;
        }
    }
    return deepest;
}

/* The value that is the most edges away from any value is an end of a longest path. The centre is the middle of that
 * path, or one of its two middle values. */
static uint32_t find_centre(cofi_rooted_tree *t, const neighbours *links, uint32_t start,
                            const double *weight)
{
    uint32_t end = hang(t, links, hang(t, links, start)), n_hops = t->depth[end], centre = end;
    for (uint32_t up = n_hops / 2; up > 0; up--) centre = t->parent[centre];
    if (n_hops % 2 == 0) return centre;
    uint32_t other = t->parent[centre];
    bool better = weight[other] != weight[centre] ? weight[other] > weight[centre] : other < centre;
    return better ? other : centre;
}

cof_status cofi_rooted_tree_build(cofi_rooted_tree *t, const cof_env *env, uint32_t n, const cof_edge *edges,
                                  size_t n_edges, const double *weight, cof_error *err)
{
    cofi_blocks scratch = {.env = *env};
    neighbours links = {.half = cofi_blocks_add(&scratch, n_edges, 2 * sizeof *links.half),
                        .first = cofi_blocks_add(&scratch, (size_t)n + 1, sizeof *links.first),
                        .stack = cofi_blocks_add(&scratch, n, sizeof *links.stack)};
    *t = (cofi_rooted_tree){.own = {.env = *env}, .n = n};
    t->parent = cofi_blocks_add(&t->own, n, sizeof *t->parent);
    t->length = cofi_blocks_add(&t->own, n, sizeof *t->length);
    t->depth = cofi_blocks_add(&t->own, n, sizeof *t->depth);
    t->is_last = cofi_blocks_add(&t->own, n, sizeof *t->is_last);
    t->order = cofi_blocks_add(&t->own, n, sizeof *t->order);
    bool complete = !scratch.short_of_memory && !t->own.short_of_memory;
    uint32_t n_placed = n_edges > 0 ? (uint32_t)n_edges + 1 : 0;
    if (complete) list_neighbours(&links, n, edges, n_edges);
    if (complete && n_edges > 0) hang(t, &links, find_centre(t, &links, edges[0].u, weight));
    for (uint32_t v = 0; complete && v < n; v++) {
        if (links.first[v] < links.first[v + 1]) continue;
        t->parent[v] = COFI_NO_PARENT; /* a value that is not in the tree */
        t->length[v] = 0;
        t->depth[v] = 0;
        t->is_last[v] = true;
        t->order[n_placed++] = v;
    }
    assert(!complete || n_placed == n);
    if (!complete) cofi_rooted_tree_free(t);
    cofi_blocks_release(&scratch);
    return complete ? COF_OK : cofi_no_memory(err);
}

void cofi_rooted_tree_free(cofi_rooted_tree *t)
{
    cofi_blocks_release(&t->own);
}
