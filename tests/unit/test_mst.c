/* The spanning tree: against a full-matrix Prim written as the header says, against Kruskal's total, and on
 * the worked example. */
#include "points_helper.h"

#include "alloc_helper.h"
#include "cases_helper.h"
#include "../../src/forest/mst.h"
#include "../../src/forest/mst_sparse.h"

typedef struct tree {
    cof_edge *edge;
    uint32_t n_edges, root;
} tree;

static tree build(const attr_counts *c, bool authors_points, double scale, double twin_length)
{
    cof_env env = cofi_env_resolve(NULL);
    cofi_points q;
    cofi_mst m;
    tree t = {.edge = get_zero(c->n_values, sizeof *t.edge)};
    cofi_blocks own = {.env = env};
    cofi_points_open(&own, c->k, c->n_values, &q);
    cofi_mst_open(&own, c->k, c->n_values, &m);
    assert_false(own.short_of_memory);
    cofi_points_gather(&q, c->count, authors_points ? c->size : NULL, c->stride, c->n_values);
    t.n_edges = cofi_mst_build(&m, &q, scale, twin_length, t.edge, &t.root);
    cofi_blocks_release(&own);
    return t;
}

/* ---- The rule, from the whole matrix ------------------------------------------------------------ */

typedef struct matrix {
    uint32_t n;
    double *w; /* n x n */
    bool *present;
} matrix;

static matrix make_matrix(const attr_counts *c, bool authors_points, double scale, double twin_length)
{
    matrix m = {.n = c->n_values, .w = get_zero((size_t)c->n_values * c->n_values, sizeof *m.w)};
    m.present = get_zero(m.n, sizeof *m.present);
    double *p = get_zero((size_t)m.n * c->k, sizeof *p);
    for (uint32_t v = 0; v < m.n; v++) {
        m.present[v] = value_total(c, v) > 0;
        for (uint32_t j = 0; j < c->k; j++) p[(size_t)v * c->k + j] = share(c, authors_points, v, j);
    }
    for (uint32_t u = 0; u < m.n; u++) {
        for (uint32_t v = 0; v < m.n; v++) {
            double square = 0;
            for (uint32_t j = 0; j < c->k; j++) {
                double difference = p[(size_t)v * c->k + j] - p[(size_t)u * c->k + j];
                square += difference * difference;
            }
            m.w[(size_t)u * m.n + v] = square > 0 ? scale * sqrt(square) : twin_length;
        }
    }
    free(p);
    return m;
}

static void free_matrix(matrix *m)
{
    free(m->w);
    free(m->present);
}

/* The vertex of the least edge of all, lowest value first; UINT32_MAX if there is no value. */
static uint32_t naive_start(const matrix *m)
{
    double least = INFINITY;
    uint32_t start = UINT32_MAX;
    for (uint32_t u = 0; u < m->n; u++) {
        if (m->present[u] && start == UINT32_MAX) start = u;
        for (uint32_t v = u + 1; v < m->n; v++) {
            if (!m->present[u] || !m->present[v] || m->w[(size_t)u * m->n + v] >= least) continue;
            least = m->w[(size_t)u * m->n + v];
            start = u;
        }
    }
    return start;
}

static tree naive_prim(const matrix *m)
{
    tree t = {.edge = get_zero(m->n, sizeof *t.edge), .root = naive_start(m)};
    double *key = get_zero(m->n, sizeof *key);
    uint32_t *parent = get_zero(m->n, sizeof *parent);
    bool *in_tree = get_zero(m->n, sizeof *in_tree);
    for (uint32_t v = 0; v < m->n; v++) key[v] = INFINITY;
    for (uint32_t newest = t.root; newest != UINT32_MAX;) {
        uint32_t next = UINT32_MAX;
        in_tree[newest] = true;
        for (uint32_t v = 0; v < m->n; v++) {
            if (!m->present[v] || in_tree[v]) continue;
            if (m->w[(size_t)newest * m->n + v] < key[v]) { /* only if strictly shorter */
                key[v] = m->w[(size_t)newest * m->n + v];
                parent[v] = newest;
            }
            if (next == UINT32_MAX || key[v] < key[next]) next = v; /* the lowest of the nearest */
        }
        if (next != UINT32_MAX) t.edge[t.n_edges++] = (cof_edge){parent[next], next, key[next]};
        newest = next;
    }
    free(key);
    free(parent);
    free(in_tree);
    return t;
}

static void assert_same_tree(const tree *a, const tree *b)
{
    assert_int_equal(a->root, b->root);
    assert_int_equal(a->n_edges, b->n_edges);
    for (uint32_t e = 0; e < a->n_edges; e++) {
        if (a->edge[e].u != b->edge[e].u || a->edge[e].v != b->edge[e].v ||
            a->edge[e].length != b->edge[e].length)
            fail_msg("edge %u is %u-%u of %.17g, not %u-%u of %.17g", e, a->edge[e].u, a->edge[e].v,
                     a->edge[e].length, b->edge[e].u, b->edge[e].v, b->edge[e].length);
    }
}

/* ---- A second algorithm ------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
    double x = ((const cof_edge *)a)->length, y = ((const cof_edge *)b)->length;
    return (x > y) - (x < y);
}

static uint32_t find(uint32_t *leader, uint32_t v)
{
    while (leader[v] != v) v = leader[v] = leader[leader[v]];
    return v;
}

static double kruskal_total(const matrix *m)
{
    cof_edge *all = get_zero((size_t)m->n * m->n, sizeof *all);
    uint32_t *leader = get_zero(m->n, sizeof *leader);
    size_t n = 0;
    double total = 0;
    for (uint32_t u = 0; u < m->n; u++) {
        leader[u] = u;
        for (uint32_t v = u + 1; v < m->n; v++)
            if (m->present[u] && m->present[v]) all[n++] = (cof_edge){u, v, m->w[(size_t)u * m->n + v]};
    }
    qsort(all, n, sizeof *all, by_length);
    for (size_t e = 0; e < n; e++) {
        uint32_t a = find(leader, all[e].u), b = find(leader, all[e].v);
        if (a == b) continue;
        leader[a] = b;
        total += all[e].length;
    }
    free(all);
    free(leader);
    return total;
}

/* Every value some row holds is reached once, each edge starting from a value already there. */
static double check_spanning(const attr_counts *c, const tree *t)
{
    bool *in_tree = get_zero(c->n_values, sizeof *in_tree);
    uint32_t n_present = 0;
    double total = 0;
    if (t->root != COFI_NONE) in_tree[t->root] = true;
    for (uint32_t e = 0; e < t->n_edges; e++) {
        assert_true(in_tree[t->edge[e].u] && !in_tree[t->edge[e].v]);
        assert_true(t->edge[e].length >= 0);
        in_tree[t->edge[e].v] = true;
        total += t->edge[e].length;
    }
    for (uint32_t v = 0; v < c->n_values; v++) {
        assert_int_equal(in_tree[v], value_total(c, v) > 0);
        n_present += value_total(c, v) > 0;
    }
    assert_int_equal(t->n_edges, n_present > 0 ? n_present - 1 : 0);
    free(in_tree);
    return total;
}

/* ---- Tests -------------------------------------------------------------------------------------- */

static void check_counts(const attr_counts *c, bool authors)
{
    double scale = authors ? 1.0 / c->k : 1.0, twin_length = authors ? 1e-8 : 0.0;
    tree t = build(c, false, scale, twin_length);
    matrix m = make_matrix(c, false, scale, twin_length);
    tree naive = naive_prim(&m);
    double total = check_spanning(c, &t);
    assert_same_tree(&t, &naive);
    assert_near(total, kruskal_total(&m), 1e-12 * (1 + total));
    for (uint32_t e = 0; e < t.n_edges; e++) assert_true(t.edge[e].length <= scale * sqrt(2) * (1 + 1e-15));
    free_matrix(&m);
    free(naive.edge);
    free(t.edge);
}

static void equals_prim_on_the_whole_matrix(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 3, 5, 8, 9, 17}, values[] = {1, 2, 3, 4, 6, 10, 30, 80};
    static const size_t most[] = {1, 2, 3, 5, 60};
    cofi_rng rng = dice(2);
    for (size_t k = 0; k < COUNT(ks); k++) {
        for (size_t o = 0; o < COUNT(values); o++) {
            for (size_t round = 0; round < 60; round++) {
                attr_counts c = random_counts(&rng, ks[k], values[o], most[round % COUNT(most)]);
                check_counts(&c, round % 2);
                free_counts(&c);
            }
        }
    }
}

/* More points than one strip of the distance loops, and around a full one. */
static void many_points(void **state)
{
    (void)state;
    static const uint32_t values[] = {255, 256, 257, 513, 700};
    cofi_rng rng = dice(3);
    for (size_t o = 0; o < COUNT(values); o++) {
        attr_counts c = random_counts(&rng, 4, values[o], o % 2 ? 40 : 6);
        check_counts(&c, o % 2);
        free_counts(&c);
    }
}

/* The worked example T6 under the labels 0 0 1 1 1 0; lengths there are divided by k = 2. */
static void worked_example(void **state)
{
    (void)state;
    static uint64_t a1[] = {1, 0, 1, 1, 1, 2}, a3[] = {1, 1, 0, 1, 2, 1};
    attr_counts c = {.k = 2, .stride = 2, .n_values = 3, .count = a1};
    tree t = build(&c, false, 0.5, 1e-8);
    assert_int_equal(t.root, 1);
    assert_int_equal(t.n_edges, 2);
    assert_int_equal(t.edge[0].u, 1);
    assert_int_equal(t.edge[0].v, 2);
    assert_near(t.edge[0].length, 0.117851, 1e-6);
    assert_int_equal(t.edge[1].u, 1);
    assert_int_equal(t.edge[1].v, 0);
    assert_near(t.edge[1].length, 0.353553, 1e-6);
    free(t.edge);
    c.count = a3;
    t = build(&c, false, 0.5, 1e-8);
    assert_int_equal(t.root, 0);
    assert_int_equal(t.edge[0].u, 0);
    assert_int_equal(t.edge[0].v, 2);
    assert_near(t.edge[0].length, 0.117851, 1e-6);
    assert_int_equal(t.edge[1].u, 0);
    assert_int_equal(t.edge[1].v, 1);
    assert_near(t.edge[1].length, 0.353553, 1e-6);
    free(t.edge);
}

/* Pure values: every two of different clusters are sqrt 2 apart, so all that decides is the tie rule. */
static void all_edges_equal(void **state)
{
    (void)state;
    static uint64_t count[6 * 6];
    for (size_t v = 0; v < 6; v++) count[v * 6 + v] = v + 1;
    attr_counts c = {.k = 6, .stride = 6, .n_values = 6, .count = count};
    tree t = build(&c, false, 1, 0);
    assert_int_equal(t.root, 0);
    for (uint32_t e = 0; e < 5; e++) {
        assert_int_equal(t.edge[e].u, 0);
        assert_int_equal(t.edge[e].v, e + 1);
        assert_true(t.edge[e].length == sqrt(2));
    }
    free(t.edge);
}

/* ---- Looking only near --------------------------------------------------------------------------- */

typedef enum kind {
    UNIFORM,
    LATTICE,   /* every difference comes again and again */
    PROFILES,  /* shares of few rows, as in life */
    SPARSE,    /* few clusters each */
    CLUSTERED, /* tight heaps far from each other */
    HEAPS,     /* the same, of lattices: ties within heaps and between them */
    COLLINEAR, /* evenly spaced on a line, or not */
    SCALES,    /* from far apart to hardly different */
    N_KINDS
} kind;

static void set_spot(cofi_points *q, uint32_t i, uint32_t j, double x)
{
    q->p[(size_t)j * q->capacity + i] = x;
}

/* Shares of `most` rows or a few less, over all clusters or three of them. */
static void random_profile(cofi_rng *rng, cofi_points *q, uint32_t i, size_t most, bool sparse)
{
    uint32_t n[64] = {0}, few[3];
    size_t total = most - below(rng, 1 + most / 4);
    for (size_t c = 0; c < COUNT(few); c++) few[c] = (uint32_t)below(rng, q->k);
    for (size_t t = 0; t < total; t++) n[sparse ? few[below(rng, COUNT(few))] : below(rng, q->k)]++;
    for (uint32_t j = 0; j < q->k; j++) set_spot(q, i, j, (double)n[j] / (double)total);
}

/* So many steps a side that the lattice has more places than there are points. */
static size_t lattice_side(uint32_t n, uint32_t k)
{
    size_t side = 1;
    for (double places = 0; places < 2 * (double)n; places = pow((double)side, k)) side++;
    return side;
}

static void random_spot(cofi_rng *rng, cofi_points *q, uint32_t i, kind what)
{
    size_t side = lattice_side(q->n, q->k), heap = below(rng, 7), most = 4 + q->n / 10;
    double along = below(rng, 2) ? (double)below(rng, 4 * q->n) / 64 : cofi_rng_unit(rng);
    double shrink = pow(0.5, (double)below(rng, 30));
    for (uint32_t j = 0; j < q->k; j++) {
        double x = cofi_rng_unit(rng), step = (double)below(rng, side);
        if (what == UNIFORM) set_spot(q, i, j, x);
        if (what == LATTICE) set_spot(q, i, j, step / (double)side);
        if (what == CLUSTERED) set_spot(q, i, j, (j % 7 == heap) + x / 1000);
        if (what == HEAPS) set_spot(q, i, j, (j % 7 == heap) + step / 1024);
        if (what == COLLINEAR) set_spot(q, i, j, along * (1 + j % 3));
        if (what == SCALES) set_spot(q, i, j, x * shrink);
    }
    if (what == PROFILES || what == SPARSE) random_profile(rng, q, i, most, what == SPARSE);
}

/* Values 2i and 2i + 1 are point i; in some, both are there. */
static void random_points(cofi_rng *rng, cofi_points *q, uint32_t n, kind what)
{
    size_t twins_in = below(rng, 2) ? 0 : 1 + below(rng, 2 * n);
    q->n = n;
    for (uint32_t i = 0; i < n; i++) {
        bool twins = twins_in > 0 && below(rng, twins_in) == 0;
        q->value[i] = 2 * i;
        q->next_twin[2 * i] = twins ? 2 * i + 1 : COFI_NONE;
        q->next_twin[2 * i + 1] = COFI_NONE;
        random_spot(rng, q, i, what);
    }
}

static void compare_near_and_all(cofi_rng *rng, uint32_t n, uint32_t k, kind what)
{
    cof_env env = cofi_env_resolve(NULL);
    cofi_points q;
    cofi_mst m;
    double scale = below(rng, 2) ? 1.0 / k : 1.0;
    tree near = {.edge = get_zero(2 * n, sizeof *near.edge)},
         all = {.edge = get_zero(2 * n, sizeof *all.edge)};
    cofi_blocks own = {.env = env};
    cofi_points_open(&own, k, 2 * n, &q);
    cofi_mst_open(&own, k, 2 * n, &m);
    assert_false(own.short_of_memory);
    random_points(rng, &q, n, what);
    assert_true(cofi_mst_sparse(&env, &q, scale, 1e-8, UINT64_MAX, near.edge, &near.n_edges, &near.root));
    all.n_edges = cofi_mst_prim(&m, &q, scale, 1e-8, all.edge, &all.root);
    assert_same_tree(&near, &all);
    cofi_blocks_release(&own);
    free(near.edge);
    free(all.edge);
}

static void looking_only_near_finds_the_same_tree(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 40};
    cofi_rng rng = dice(5);
    for (uint32_t n = 1; n <= 70; n += one_in())
        for (int what = 0; what < N_KINDS; what++)
            for (size_t k = 0; k < 2; k++)
                compare_near_and_all(&rng, n, ks[below(&rng, COUNT(ks) - 1) + 1], (kind)what);
    for (size_t round = 0; round < 300; round += one_in())
        compare_near_and_all(&rng, 1 + (uint32_t)below(&rng, 600), ks[1 + below(&rng, COUNT(ks) - 1)],
                             (kind)(round % N_KINDS));
    for (size_t round = 0; round < 40; round += one_in())
        compare_near_and_all(&rng, 1 + (uint32_t)below(&rng, 3000), ks[1 + below(&rng, COUNT(ks) - 1)],
                             (kind)(round % N_KINDS));
    compare_near_and_all(&rng, 40, 1, LATTICE);
}

/* As a fit has them, folded and rounded both ways, so many that the choice is made. */
static void many_profiles(void **state)
{
    (void)state;
    static const uint32_t ks[] = {2, 3, 5, 8, 30};
    static const size_t most[] = {400, 60, 25, 30, 6};
    cofi_rng rng = dice(6);
    for (size_t round = 0; round < 2 * COUNT(ks); round++) {
        bool authors = round % 2;
        attr_counts c = random_counts(&rng, ks[round / 2], 5000, most[round / 2]);
        double scale = authors ? 1.0 / c.k : 1.0, twin_length = authors ? 1e-8 : 0.0;
        cof_env env = cofi_env_resolve(NULL);
        cofi_points q;
        cofi_mst m;
        tree built = build(&c, authors, scale, twin_length), all = {.edge = get_zero(5000, sizeof *all.edge)};
        cofi_blocks own = {.env = env};
        cofi_points_open(&own, c.k, c.n_values, &q);
        cofi_mst_open(&own, c.k, c.n_values, &m);
        assert_false(own.short_of_memory);
        cofi_points_gather(&q, c.count, authors ? c.size : NULL, c.stride, c.n_values);
        assert_true(q.n > 1500);
        all.n_edges = cofi_mst_prim(&m, &q, scale, twin_length, all.edge, &all.root);
        assert_same_tree(&built, &all);
        cofi_blocks_release(&own);
        free(built.edge);
        free(all.edge);
        free_counts(&c);
    }
}

/* It gives up at once, on the way, or because everything is as far as everything else; the points are as
 * before. */
static void giving_up_changes_nothing(void **state)
{
    (void)state;
    enum { N = 2000, K = 8 };
    cof_env env = cofi_env_resolve(NULL);
    cofi_points q;
    cofi_rng rng = dice(7);
    static cof_edge edge[2 * N];
    uint32_t n_edges = 77, root = 78;
    cofi_blocks own = {.env = env};
    cofi_points_open(&own, K, 2 * N, &q);
    assert_false(own.short_of_memory);
    random_points(&rng, &q, N, UNIFORM);
    double *kept = get_zero((size_t)K * q.capacity, sizeof *kept);
    for (size_t j = 0; j < K; j++) memcpy(kept + j * N, q.p + j * q.capacity, N * sizeof *kept);
    bool done = false;
    for (uint64_t allowance = 0; !done; allowance = 1 + allowance * 3 / 2) {
        assert_true(n_edges == 77 && root == 78 && edge[0].length == 0);
        done = cofi_mst_sparse(&env, &q, 1, 0, allowance, edge, &n_edges, &root);
        for (size_t j = 0; j < K; j++)
            assert_memory_equal(kept + j * N, q.p + j * q.capacity, N * sizeof *kept);
    }
    free(kept);
    memset(q.p, 0, (size_t)K * q.capacity * sizeof *q.p);
    assert_false(cofi_mst_sparse(&env, &q, 1, 0, UINT64_MAX, edge, &n_edges, &root));
    q.n = 0;
    assert_false(cofi_mst_sparse(&env, &q, 1, 0, UINT64_MAX, edge, &n_edges, &root));
    cofi_blocks_release(&own);
}

/* Without memory for the short way there is still the long one. */
static void no_memory_is_no_failure(void **state)
{
    (void)state;
    enum { N = 1600, K = 4 };
    cof_env env = cofi_env_resolve(NULL);
    tree all = {.edge = get_zero(2 * N, sizeof *all.edge)}, t = {.edge = get_zero(2 * N, sizeof *t.edge)};
    bool done = false;
    for (size_t n = 0; !done; n++) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_env meagre = alloc_env(&meter);
        cofi_rng rng = dice(8);
        cofi_points q;
        cofi_mst m;
        cofi_blocks own = {.env = env};
        cofi_points_open(&own, K, 2 * N, &q);
        assert_false(own.short_of_memory);
        cofi_blocks scarce = {.env = meagre};
        cofi_mst_open(&scarce, K, 2 * N, &m);
        random_points(&rng, &q, N, UNIFORM);
        meter.fail_at = meter.count + n;
        t.n_edges = cofi_mst_build(&m, &q, 1, 0, t.edge, &t.root);
        done = meter.count < meter.fail_at;
        if (n == 0) {
            memcpy(all.edge, t.edge, t.n_edges * sizeof *t.edge);
            all.n_edges = t.n_edges;
            all.root = t.root;
        }
        assert_same_tree(&t, &all);
        cofi_blocks_release(&scarce);
        assert_int_equal(meter.live, 0);
        cofi_blocks_release(&own);
    }
    free(all.edge);
    free(t.edge);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cofi_blocks own = {.env = alloc_env(&meter)};
        cofi_mst m;
        cofi_mst_open(&own, 3, 10, &m);
        cof_status status = cofi_blocks_status(&own, NULL);
        cofi_blocks_release(&own);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_prim_on_the_whole_matrix),
        cmocka_unit_test(many_points),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(all_edges_equal),
        cmocka_unit_test(looking_only_near_finds_the_same_tree),
        cmocka_unit_test(many_profiles),
        cmocka_unit_test(giving_up_changes_nothing),
        cmocka_unit_test(no_memory_is_no_failure),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
