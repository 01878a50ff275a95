/* Turns edges into a rooted tree. Nothing recurses: a tree may be a chain of a million values. */
#include "rooted_tree.h"

#include <stdlib.h>

#define NOT_REACHED UINT32_MAX

typedef struct half_edge {
    uint32_t from, to;
    double length;
} half_edge;

typedef struct neighbours {
    half_edge *half; /* sorted by from, length, to */
    size_t *first;   /* value v has first[v] .. first[v + 1] - 1 */
    uint32_t *queue; /* values in the order a walk met them */
    uint32_t *near;  /* edges from the walk's start, two walks */
    uint32_t *far;
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

/* Counts edges from `start` to all it reaches, in breadth; returns how many those are, the last in the queue
 * being a farthest. hops must be NOT_REACHED there before. */
static uint32_t walk(neighbours *links, uint32_t start, uint32_t *hops)
{
    uint32_t n_met = 1;
    links->queue[0] = start;
    hops[start] = 0;
    for (uint32_t q = 0; q < n_met; q++) {
        uint32_t v = links->queue[q];
        for (size_t h = links->first[v]; h < links->first[v + 1]; h++) {
            uint32_t u = links->half[h].to;
            if (hops[u] != NOT_REACHED) continue;
            hops[u] = hops[v] + 1;
            links->queue[n_met++] = u;
        }
    }
    return n_met;
}

/* In a tree the farthest value from anywhere is an end of some longest path, so two walks from the ends of
 * one give every value's greatest distance. */
static uint32_t find_middle(neighbours *links, uint32_t start, const double *weight)
{
    uint32_t n_met = walk(links, start, links->near), end = links->queue[n_met - 1];
    for (uint32_t q = 0; q < n_met; q++) links->near[links->queue[q]] = NOT_REACHED;
    walk(links, end, links->near);
    walk(links, links->queue[n_met - 1], links->far);
    uint32_t best = start, least = UINT32_MAX;
    for (uint32_t q = 0; q < n_met; q++) {
        uint32_t v = links->queue[q], most = links->near[v] > links->far[v] ? links->near[v] : links->far[v];
        bool better = most < least;
        if (most == least) better = weight[v] != weight[best] ? weight[v] > weight[best] : v < best;
        if (better) best = v;
        if (better) least = most;
    }
    return best;
}

/* Depth first from a root, the queue serving as stack. */
static uint32_t hang(cofi_rooted_tree *t, neighbours *links, uint32_t root, uint32_t n_placed)
{
    uint32_t n_waiting = 1;
    links->queue[0] = root;
    t->parent[root] = COFI_NO_PARENT;
    t->length[root] = 0;
    t->depth[root] = 0;
    t->is_last[root] = true;
    while (n_waiting > 0) {
        uint32_t v = links->queue[--n_waiting];
        t->order[n_placed++] = v;
        bool last = true;
        for (size_t h = links->first[v + 1]; h-- > links->first[v];) {
            uint32_t u = links->half[h].to;
            if (u == t->parent[v]) continue;
            t->parent[u] = v;
            t->length[u] = links->half[h].length;
            t->depth[u] = t->depth[v] + 1;
            t->is_last[u] = last;
            last = false;
            links->queue[n_waiting++] = u;
        }
    }
    return n_placed;
}

static void hang_all(cofi_rooted_tree *t, neighbours *links, const double *weight)
{
    uint32_t n_placed = 0;
    memset(links->near, 0xFF, t->n * sizeof *links->near);
    memset(links->far, 0xFF, t->n * sizeof *links->far);
    for (int alone = 0; alone < 2; alone++) {
        for (uint32_t v = 0; v < t->n; v++) {
            bool is_alone = links->first[v] == links->first[v + 1];
            if (is_alone != (alone == 1) || links->near[v] != NOT_REACHED) continue;
            n_placed = hang(t, links, find_middle(links, v, weight), n_placed);
        }
    }
}

cof_status cofi_rooted_tree_build(cofi_rooted_tree *t, const cof_env *env, uint32_t n, const cof_edge *edges,
                                  size_t n_edges, const double *weight, cof_error *err)
{
    cofi_blocks scratch = {.env = *env};
    neighbours links = {.half = cofi_blocks_add(&scratch, n_edges, 2 * sizeof *links.half),
                        .first = cofi_blocks_add(&scratch, (size_t)n + 1, sizeof *links.first),
                        .queue = cofi_blocks_add(&scratch, n, sizeof *links.queue),
                        .near = cofi_blocks_add(&scratch, n, sizeof *links.near),
                        .far = cofi_blocks_add(&scratch, n, sizeof *links.far)};
    *t = (cofi_rooted_tree){.own = {.env = *env}, .n = n};
    t->parent = cofi_blocks_add(&t->own, n, sizeof *t->parent);
    t->length = cofi_blocks_add(&t->own, n, sizeof *t->length);
    t->depth = cofi_blocks_add(&t->own, n, sizeof *t->depth);
    t->is_last = cofi_blocks_add(&t->own, n, sizeof *t->is_last);
    t->order = cofi_blocks_add(&t->own, n, sizeof *t->order);
    bool complete = !scratch.short_of_memory && !t->own.short_of_memory;
    if (complete) {
        list_neighbours(&links, n, edges, n_edges);
        hang_all(t, &links, weight);
    } else {
        cofi_rooted_tree_free(t);
    }
    cofi_blocks_release(&scratch);
    return complete ? COF_OK : cofi_no_memory(err);
}

void cofi_rooted_tree_free(cofi_rooted_tree *t)
{
    cofi_blocks_release(&t->own);
}
