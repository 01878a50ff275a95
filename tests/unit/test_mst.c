/* The spanning tree: against a full-matrix Prim written as the header says, against Kruskal's total, and on
 * the worked example. */
#include "points_helper.h"

#include "alloc_helper.h"
#include "../../src/forest/mst.h"

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
    assert_int_equal(cofi_points_open(&env, c->k, c->n_values, &q), COF_OK);
    assert_int_equal(cofi_mst_open(&env, c->k, c->n_values, &m), COF_OK);
    cofi_points_gather(&q, c->count, authors_points ? c->size : NULL, c->stride, c->n_values);
    t.n_edges = cofi_mst_build(&m, &q, scale, twin_length, t.edge, &t.root);
    cofi_points_close(&env, &q);
    cofi_mst_close(&env, &m);
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

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cofi_mst m;
        cof_status status = cofi_mst_open(&env, 3, 10, &m);
        cofi_mst_close(&env, &m);
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
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
