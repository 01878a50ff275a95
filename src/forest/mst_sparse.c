/* Prim's algorithm on a sparse graph that gives the same result as the complete graph.
 *
 * Let the parts at w be the connected components of the graph of all edges shorter than w. When Prim's next
 * edge has length w, the current tree consists of whole parts at w, so Prim chooses among the edges of length
 * w between two different parts at w. All such edges, for all w, are the candidates: they are the edges that
 * occur in some minimum spanning tree. Prim on the candidates alone has the same choices at every step,
 * including ties, and decides in the same way.
 *
 * Any minimum spanning tree determines the parts at every w. Therefore there are three steps.
 *
 * 1. Boruvka's algorithm finds one minimum spanning tree: in every round, each part except the largest is
 * joined to the nearest point outside. Each point stores the distance it found; the set of outside points
 * only shrinks, so this remains a lower bound. Among edges of equal length any one may be taken, because each
 * is in some minimum spanning tree.
 *
 * 2. The edges of this tree are processed in order of length. When an edge of length w joins two parts, the candidates
 * between them are the edges of length w. Usually there is only this one: step 1 took it as the shortest edge out of a part P,
 * and knows when no other edge out of P is as short. Then no other tree edge of length w or less leaves P, so the part on
 * its side lies within P; and the other part lies outside P, because P is connected in the tree without this edge.
 * Otherwise a search runs from every point of the smaller part for points of the other part at distance exactly w. After every
 * search from a point, the size of its part at least doubles, so there are at most n log n searches. Every
 * candidate is found when its two ends come into one part.
 *
 * 3. Prim's algorithm runs on the candidates.
 *
 * Lengths are computed by the same operations as over all pairs, so equal lengths are equal doubles; the
 * bounds from boxes allow for rounding. Until step 3, points are identified by their positions in the
 * kd-tree. */
#include "mst_sparse.h"

#include "kd_tree.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* An edge of the tree between positions. */
typedef struct joint {
    double length; /* at first squared */
    uint32_t u, v;
    bool sole; /* no other edge out of the part of u was as short when it was taken */
} joint;

typedef struct sparse {
    cofi_blocks own;
    cofi_kd_tree kd;
    uint32_t n;
    double scale;
    uint64_t n_visited, allowance; /* number of points visited, and its limit */
    cofi_kd_aim aim;               /* of the search that runs */
    /* Step 1, per position */
    /* union-find: parent of the position; the first of a part is its own parent */
    uint32_t *leader;
    uint32_t *part;      /* first position of its part in this round */
    uint32_t *owner;     /* per node: the part that contains all its points, or COFI_NONE */
    uint32_t *near;      /* the last point found outside; it may be in the same part by now */
    double *near_square; /* lower bound of the squared distance to any point outside */
    /* `near`, if no other point outside has an equal length; otherwise COFI_NONE */
    uint32_t *only;
    uint32_t *from;   /* per part: where its shortest outgoing edge starts */
    double *shortest; /* per part: square of the length of that edge */
    bool *tied;       /* per part: another outgoing edge may be as short */
    joint *tree;      /* n - 1 */
    uint32_t n_tree;
    /* Step 2, per position */
    /* number of the edge after which the position is no longer the first of its part, or COFI_NONE */
    uint32_t *joined;
    uint32_t *size;  /* size of the part of which it is the first */
    uint32_t *whole; /* per node: number of edges after which all its points are in one part */
    uint32_t *ring;  /* circular list of the positions of a part */
    cof_edge *candidate;
    size_t n_candidates, capacity;
} sparse;

/* ---- Step 1: some minimum spanning tree ---------------------------------------------------------- */

static uint32_t first_of_part(const sparse *s, uint32_t x)
{
    while (s->leader[x] != x) x = s->leader[x] = s->leader[s->leader[x]];
    return x;
}

/* Updates the parts of all positions and nodes; returns the largest part. */
static uint32_t name_parts(sparse *s)
{
    uint32_t largest = 0;
    memset(s->size, 0, s->n * sizeof *s->size);
    for (uint32_t x = 0; x < s->n; x++) {
        s->part[x] = first_of_part(s, x);
        s->shortest[x] = INFINITY;
        s->size[s->part[x]]++;
    }
    for (uint32_t x = 0; x < s->n; x++)
        if (s->size[x] > s->size[largest]) largest = x;
    for (uint32_t node = s->kd.n_nodes; node-- > 0;) { /* children first */
        const cofi_kd_node *at = &s->kd.node[node];
        uint32_t owner = s->part[at->begin];
        for (uint32_t c = 0; c < at->n_children; c++)
            if (s->owner[at->child + c] != owner) owner = COFI_NONE;
        for (uint32_t x = at->begin; at->n_children == 0 && x < at->end; x++)
            if (s->part[x] != owner) owner = COFI_NONE;
        s->owner[node] = owner;
    }
    return largest;
}

typedef struct outside_search {
    sparse *s;
    uint32_t part, found;
    double square; /* squared distance of the point found so far */
    double second; /* squared distance of the second nearest, if it has an equal length */
} outside_search;

/* Upper bound of the squares that can give the same length: the square root maps two neighbouring doubles
 * to one, and so may the scale. */
static double tie_square(double square)
{
    return square * (1 + 64 * DBL_EPSILON);
}

static void search_leaf(outside_search *f, const cofi_kd_node *leaf)
{
    sparse *s = f->s;
    s->n_visited += COFI_KD_LANES;
    uint32_t near = s->kd.steps->in_leaf(&s->kd, leaf->begin, s->aim.close, s->aim.limit);
    for (uint32_t x = leaf->begin; near != 0 && x < leaf->end; x++, near >>= 1) {
        if ((near & 1) == 0 || s->part[x] == f->part) continue;
        double here = cofi_kd_square(&s->kd, x, &s->aim);
        s->n_visited++;
        if (here >= f->second) continue;
        if (here >= f->square) {
            f->second = here;
            continue;
        }
        f->second = f->square;
        f->square = here;
        f->found = x;
        cofi_kd_aim_within(&s->kd, tie_square(here), &s->aim);
    }
}

static void search_outside(outside_search *f, uint32_t node)
{
    sparse *s = f->s;
    const cofi_kd_node *at = &s->kd.node[node];
    int32_t square[COFI_KD_LANES];
    if (s->owner[node] == f->part) return;
    if (at->n_children == 0) {
        search_leaf(f, at);
        return;
    }
    s->n_visited += COFI_KD_LANES; /* the cost of its boxes, in points */
    uint32_t nearest, near = cofi_kd_children(&s->kd, at, &s->aim, square, &nearest);
    if ((near >> nearest & 1) != 0) search_outside(f, at->child + nearest);
    for (near &= ~(UINT32_C(1) << nearest); near != 0; near &= near - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(near);
        if (square[c] <= s->aim.limit) search_outside(f, at->child + c);
    }
}

/* Searches for a point outside the part of x that is nearer than the end of the part's shortest edge so
 * far. */
static void search_from(sparse *s, uint32_t x)
{
    uint32_t part = s->part[x];
    double most = tie_square(s->shortest[part]);
    outside_search f = {s, part, COFI_NONE, s->shortest[part], INFINITY};
    cofi_kd_aim_from(&s->kd, x, &s->aim);
    cofi_kd_aim_within(&s->kd, most, &s->aim);
    search_outside(&f, 0);
    bool tie = f.second <= tie_square(f.square);
    s->near[x] = f.found;
    s->only[x] = tie ? COFI_NONE : f.found;
    s->near_square[x] = f.found != COFI_NONE || tie ? f.square : nextafter(most, INFINITY);
    if (f.found == COFI_NONE) return;
    s->shortest[part] = f.square;
    s->from[part] = x;
}

/* Whether the point that x found in an earlier round is still outside the part of x. */
static bool is_outside(const sparse *s, uint32_t x)
{
    return s->near[x] != COFI_NONE && s->part[s->near[x]] != s->part[x];
}

/* Takes the shortest edge out of each part except the largest. */
static void join_parts(sparse *s, uint32_t largest)
{
    memset(s->tied, 0, s->n * sizeof *s->tied);
    for (uint32_t x = 0; x < s->n; x++) {
        uint32_t part = s->part[x];
        if (part == largest) continue;
        bool alone =
            x == s->from[part] ? s->only[x] != COFI_NONE : s->near_square[x] > tie_square(s->shortest[part]);
        s->tied[part] = s->tied[part] || !alone;
    }
    for (uint32_t part = 0; part < s->n; part++) {
        if (s->part[part] != part || part == largest) continue;
        uint32_t u = s->from[part], v = s->near[u], a = first_of_part(s, u), b = first_of_part(s, v);
        if (a == b) continue; /* the other part already took an edge of equal length */
        s->leader[a] = b;
        s->tree[s->n_tree++] = (joint){s->shortest[part], u, v, !s->tied[part]};
    }
}

/* Whether x must be searched from in this round. */
static bool is_due(const sparse *s, uint32_t x, uint32_t largest)
{
    return s->part[x] != largest && !is_outside(s, x) && s->near_square[x] < s->shortest[s->part[x]];
}

/* Estimates how many points the searches of a round will visit, from a sample of them. The sample is
 * searched twice, and only the second time is counted: the first time gives each part some outgoing edge,
 * as most searches have one. */
static uint64_t round_cost(sparse *s, uint32_t largest)
{
    enum { SAMPLE = 64 };
    uint32_t n_due = 0;
    uint64_t before = 0, n_sampled = 0;
    for (uint32_t x = 0; x < s->n; x++) n_due += is_due(s, x, largest);
    if (n_due < 4 * SAMPLE) return 0;
    for (uint32_t turn = 0, step = n_due / SAMPLE; turn < 2; turn++) {
        uint32_t until = turn * step / 2;
        before = s->n_visited;
        n_sampled = 0;
        for (uint32_t x = 0; x < s->n; x++) {
            if (!is_due(s, x, largest) || until-- > 0) continue;
            search_from(s, x);
            until = step - 1;
            n_sampled++;
        }
    }
    return n_sampled > 0 ? (s->n_visited - before) / n_sampled * n_due : 0;
}

/* Joins parts until one is left. Returns false before a round that would exceed the allowance. In measurements on profiles of
 * many kinds, all rounds together visited 1.1 to 3.5 times as many points as the first one where that visited a large share of
 * all points from each, and up to 11 times where it visited few. */
static bool join_nearest(sparse *s)
{
    enum { USUAL_ROUNDS = 3 }; /* visits of all rounds relative to the first */
    for (uint32_t x = 0; x < s->n; x++) {
        s->leader[x] = x;
        s->near[x] = s->only[x] = COFI_NONE;
        s->near_square[x] = 0;
    }
    while (s->n_tree + 1 < s->n) {
        uint32_t largest = name_parts(s), rounds = s->n_tree == 0 ? USUAL_ROUNDS : 1;
        for (uint32_t x = 0; x < s->n; x++) { /* points found in earlier rounds give the first edges */
            uint32_t part = s->part[x];
            if (part == largest || !is_outside(s, x) || s->near_square[x] >= s->shortest[part]) continue;
            s->shortest[part] = s->near_square[x];
            s->from[part] = x;
        }
        if (s->n_visited + rounds * round_cost(s, largest) > s->allowance) return false;
        for (uint32_t x = 0; x < s->n; x++) {
            if (is_due(s, x, largest)) search_from(s, x);
            if (s->n_visited > s->allowance) return false;
        }
        join_parts(s, largest);
    }
    return true;
}

/* ---- Step 2: every edge of every minimum spanning tree ------------------------------------------- */

static int by_length(const void *a, const void *b)
{
    double x = ((const joint *)a)->length, y = ((const joint *)b)->length;
    return (x > y) - (x < y);
}

/* The part of x after the first n_edges edges. */
static uint32_t part_after(const sparse *s, uint32_t x, uint32_t n_edges)
{
    while (s->joined[x] < n_edges) x = s->leader[x];
    return x;
}

/* Number of edges after which x and y are in one part. */
static uint32_t edges_until_joined(const sparse *s, uint32_t x, uint32_t y)
{
    uint32_t n_edges = 0;
    while (x != y) {
        uint32_t *behind = s->joined[x] < s->joined[y] ? &x : &y;
        n_edges = s->joined[*behind] + 1;
        *behind = s->leader[*behind];
    }
    return n_edges;
}

/* Sorts the edges by length and records which part joined which. The smaller part joins the larger, which
 * keeps the paths of the union-find forest short. */
static void order_joins(sparse *s)
{
    for (uint32_t e = 0; e < s->n_tree; e++) s->tree[e].length = s->scale * sqrt(s->tree[e].length);
    qsort(s->tree, s->n_tree, sizeof *s->tree, by_length);
    for (uint32_t x = 0; x < s->n; x++) {
        s->leader[x] = s->ring[x] = x;
        s->joined[x] = COFI_NONE;
        s->size[x] = 1;
    }
    for (uint32_t e = 0; e < s->n_tree; e++) {
        uint32_t a = part_after(s, s->tree[e].u, e), b = part_after(s, s->tree[e].v, e);
        uint32_t small = s->size[a] < s->size[b] ? a : b, large = small == a ? b : a;
        s->leader[small] = large;
        s->joined[small] = e;
        s->size[large] += s->size[small];
    }
}

static void find_whole_nodes(sparse *s)
{
    for (uint32_t node = s->kd.n_nodes; node-- > 0;) {
        const cofi_kd_node *at = &s->kd.node[node];
        uint32_t most = 0, end = at->n_children > 0 ? at->begin : at->end;
        for (uint32_t x = at->begin; x < end; x++) {
            uint32_t n_edges = edges_until_joined(s, at->begin, x);
            most = n_edges > most ? n_edges : most;
        }
        for (uint32_t child = at->child; child < at->child + at->n_children; child++) {
            uint32_t n_edges = edges_until_joined(s, at->begin, s->kd.node[child].begin);
            most = n_edges > most ? n_edges : most;
            most = s->whole[child] > most ? s->whole[child] : most;
        }
        s->whole[node] = most;
    }
}

/* Adds a candidate. Returns false if the candidates would need more memory than a few copies of the
 * points. */
static bool add_candidate(sparse *s, cof_edge e)
{
    if (s->n_candidates == s->capacity) {
        size_t most = (size_t)s->n * (4 * (size_t)s->kd.k + 16), capacity = 2 * s->capacity;
        if (s->capacity == most) return false;
        capacity = capacity < s->n ? s->n : capacity > most ? most : capacity;
        cof_edge *larger = cofi_regrow(&s->own.env, s->candidate, s->capacity, capacity, sizeof *larger);
        if (larger == NULL) return false;
        s->candidate = larger;
        s->capacity = capacity;
    }
    s->candidate[s->n_candidates++] = e;
    return true;
}

typedef struct tie_search {
    sparse *s;
    uint32_t from, other; /* a point of one part, and the other part */
    uint32_t n_edges;     /* number of edges that form the parts */
    double length, most_square;
} tie_search;

static bool tie_leaf(const tie_search *f, const cofi_kd_node *leaf)
{
    sparse *s = f->s;
    s->n_visited += COFI_KD_LANES;
    uint32_t near = s->kd.steps->in_leaf(&s->kd, leaf->begin, s->aim.close, s->aim.limit);
    for (uint32_t x = leaf->begin; near != 0 && x < leaf->end; x++, near >>= 1) {
        if ((near & 1) == 0) continue;
        double here = cofi_kd_square(&s->kd, x, &s->aim);
        s->n_visited++;
        if (here > f->most_square || s->scale * sqrt(here) != f->length) continue;
        if (part_after(s, x, f->n_edges) != f->other) continue;
        if (!add_candidate(s, (cof_edge){s->kd.point[f->from], s->kd.point[x], f->length})) return false;
    }
    return s->n_visited / 2 <= s->allowance;
}

static bool search_ties(const tie_search *f, uint32_t node)
{
    sparse *s = f->s;
    const cofi_kd_node *at = &s->kd.node[node];
    int32_t square[COFI_KD_LANES];
    uint32_t nearest;
    bool ok = true;
    if (s->whole[node] <= f->n_edges && part_after(s, at->begin, f->n_edges) != f->other) return true;
    if (at->n_children == 0) return tie_leaf(f, at);
    s->n_visited += COFI_KD_LANES;
    for (uint32_t near = cofi_kd_children(&s->kd, at, &s->aim, square, &nearest); ok && near != 0;
         near &= near - 1)
        ok = search_ties(f, at->child + (uint32_t)__builtin_ctz(near));
    return ok;
}

/* Finds the candidates between the two parts that edge e joins. */
static bool search_join(sparse *s, uint32_t e)
{
    const joint *edge = &s->tree[e];
    if (edge->sole)
        return add_candidate(s, (cof_edge){s->kd.point[edge->u], s->kd.point[edge->v], edge->length});
    uint32_t a = part_after(s, edge->u, e), b = part_after(s, edge->v, e);
    uint32_t small = s->joined[a] == e ? a : b, large = small == a ? b : a;
    double length = edge->length, reach = length / s->scale;
    tie_search f = {s, small, large, e, length, tie_square(reach * reach)};
    do {
        cofi_kd_aim_from(&s->kd, f.from, &s->aim);
        cofi_kd_aim_within(&s->kd, f.most_square, &s->aim);
        if (!search_ties(&f, 0)) return false;
        f.from = s->ring[f.from];
    } while (f.from != small);
    return true;
}

static bool find_candidates(sparse *s)
{
    assert(s->n_tree + 1 == s->n);
    order_joins(s);
    find_whole_nodes(s);
    for (uint32_t e = 0; e < s->n_tree; e++) {
        if (!search_join(s, e)) return false;
        uint32_t *a = &s->ring[s->tree[e].u], *b = &s->ring[s->tree[e].v], kept = *a;
        *a = *b; /* joins the two circular lists */
        *b = kept;
    }
    return true;
}

/* ---- Step 3: Prim on the candidates -------------------------------------------------------------- */

/* Priority queue of the points outside the tree that a candidate reaches: the nearest first, the lowest on
 * ties. */
typedef struct fringe {
    double *key;
    uint32_t *parent;
    uint32_t *heap, n;
    uint32_t *place; /* position in the heap; COFI_NONE: not reached yet, or in the tree */
} fringe;

static bool is_nearer(const fringe *f, uint32_t a, uint32_t b)
{
    double x = f->key[a], y = f->key[b];
    return x < y || (x == y && a < b);
}

static void move_up(fringe *f, uint32_t at, uint32_t point)
{
    for (; at > 0 && is_nearer(f, point, f->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        f->heap[at] = f->heap[(at - 1) / 2];
        f->place[f->heap[at]] = at;
    }
    f->heap[at] = point;
    f->place[point] = at;
}

static uint32_t pop_nearest(fringe *f)
{
    uint32_t top = f->heap[0], last = f->heap[--f->n], at = 0;
    f->place[top] = COFI_NONE;
    if (f->n == 0) return top;
    for (uint32_t child; (child = 2 * at + 1) < f->n; at = child) {
        if (child + 1 < f->n && is_nearer(f, f->heap[child + 1], f->heap[child])) child++;
        if (!is_nearer(f, f->heap[child], last)) break;
        f->heap[at] = f->heap[child];
        f->place[f->heap[at]] = at;
    }
    f->heap[at] = last;
    f->place[last] = at;
    return top;
}

/* Keys of points in the tree are below every length, so that they are never updated. */
static void shorten(fringe *f, uint32_t newest, uint32_t point, double length)
{
    if (length >= f->key[point]) return;
    f->key[point] = length;
    f->parent[point] = newest;
    move_up(f, f->place[point] == COFI_NONE ? f->n++ : f->place[point], point);
}

/* The candidates of each point: list[i] for start[point] <= i < start[point + 1]. `start` holds zeros before. */
static void list_by_point(const sparse *s, size_t *start, size_t *list)
{
    for (size_t c = 0; c < s->n_candidates; c++) {
        start[s->candidate[c].u + 2]++;
        start[s->candidate[c].v + 2]++;
    }
    for (uint32_t i = 0; i < s->n; i++) start[i + 2] += start[i + 1];
    for (size_t c = 0; c < s->n_candidates; c++) {
        list[start[s->candidate[c].u + 1]++] = c;
        list[start[s->candidate[c].v + 1]++] = c;
    }
}

static uint32_t grow_tree(const sparse *s, const cofi_points *q, double twin_length, const size_t *start,
                          const size_t *list, fringe *f, cof_edge *edge, uint32_t *root)
{
    /* without twins, from the lowest end of a shortest edge */
    uint32_t n_edges = 0, twins = cofi_points_first_twins(q), newest = twins != COFI_NONE ? twins : s->n;
    for (size_t c = 0; twins == COFI_NONE && c < s->n_candidates; c++) {
        if (s->candidate[c].length > s->candidate[0].length) break;
        newest = s->candidate[c].u < newest ? s->candidate[c].u : newest;
        newest = s->candidate[c].v < newest ? s->candidate[c].v : newest;
    }
    if (newest == s->n) newest = 0; /* the only point */
    *root = q->value[newest];
    for (uint32_t i = 0; i < s->n; i++) {
        f->key[i] = INFINITY;
        f->place[i] = COFI_NONE;
    }
    for (uint32_t n_joined = 0; n_joined < s->n; n_joined++) {
        if (n_joined > 0) {
            newest = pop_nearest(f);
            edge[n_edges++] = (cof_edge){q->value[f->parent[newest]], q->value[newest], f->key[newest]};
        }
        f->key[newest] = -1;
        n_edges += cofi_points_join_twins(q, q->value[newest], twin_length, edge + n_edges);
        for (size_t at = start[newest]; at < start[newest + 1]; at++) {
            const cof_edge *c = &s->candidate[list[at]];
            shorten(f, newest, c->u == newest ? c->v : c->u, c->length);
        }
    }
    return n_edges;
}

/* Reuses the memory of the other steps. */
static bool replay(sparse *s, const cofi_points *q, double twin_length, cof_edge *edge, uint32_t *n_edges,
                   uint32_t *root)
{
    size_t *start = cofi_blocks_add_zero(&s->own, (size_t)s->n + 2, sizeof *start);
    size_t *list = cofi_blocks_add(&s->own, 2 * s->n_candidates, sizeof *list);
    fringe f = {.key = s->shortest, .parent = s->near, .heap = s->from, .place = s->part};
    if (s->own.short_of_memory) return false;
    list_by_point(s, start, list);
    *n_edges = grow_tree(s, q, twin_length, start, list, &f, edge, root);
    return true;
}

/* ---- All steps ----------------------------------------------------------------------------------- */

static bool open_sparse(sparse *s, const cofi_points *q)
{
    if (!cofi_kd_grow(&s->own, q, &s->kd)) return false;
    uint32_t **each[] = {&s->leader, &s->part, &s->near, &s->from, &s->joined, &s->size, &s->ring, &s->only};
    for (size_t a = 0; a < sizeof each / sizeof *each; a++)
        *each[a] = cofi_blocks_add(&s->own, s->n, sizeof **each[a]);
    s->aim.close = cofi_blocks_add_zero(&s->own, 2 * (size_t)s->kd.n_pairs, sizeof *s->aim.close);
    s->owner = cofi_blocks_add(&s->own, s->kd.n_nodes, sizeof *s->owner);
    s->whole = cofi_blocks_add(&s->own, s->kd.n_nodes, sizeof *s->whole);
    s->near_square = cofi_blocks_add(&s->own, s->n, sizeof *s->near_square);
    s->shortest = cofi_blocks_add(&s->own, s->n, sizeof *s->shortest);
    s->tied = cofi_blocks_add(&s->own, s->n, sizeof *s->tied);
    s->tree = cofi_blocks_add(&s->own, s->n, sizeof *s->tree);
    return !s->own.short_of_memory;
}

bool cofi_mst_sparse(const cof_env *env, const cofi_points *q, double scale, double twin_length,
                     uint64_t allowance, cof_edge *edge, uint32_t *n_edges, uint32_t *root)
{
    if (q->n == 0) return false;
    sparse s = {.own = {.env = *env}, .n = q->n, .scale = scale, .allowance = allowance};
    bool ok = open_sparse(&s, q) && join_nearest(&s) && find_candidates(&s) &&
              replay(&s, q, twin_length, edge, n_edges, root);
    cofi_release(&s.own.env, s.candidate); /* it grows, so it is not a block of `own` */
    cofi_blocks_release(&s.own);
    return ok;
}
