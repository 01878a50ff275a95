/* One tree per attribute: the same as the spanning tree made alone, for every number of threads. */
#include "points_helper.h"

#include "alloc_helper.h"
#include "../../src/forest/forest.h"

enum { N_ATTRS = 7 };

typedef struct wood {
    uint32_t k, stride, first[N_ATTRS + 1], n_values[N_ATTRS];
    uint64_t *count, *size;
    attr_counts attr[N_ATTRS];
} wood;

/* One attribute is beyond the size that is shared out, one has no value that any row holds, and one has a
 * slot for ignored cells after its values. */
static wood make_wood(uint64_t seed, uint32_t k)
{
    static const uint32_t values[N_ATTRS] = {3, 1300, 1, 0, 40, 1024, 5};
    cofi_rng rng = dice(seed);
    wood w = {.k = k, .stride = cofi_stride(k)};
    w.size = get_zero(k, sizeof *w.size);
    for (size_t r = 0; r < N_ATTRS; r++) {
        uint32_t room = values[r] > 0 ? values[r] : 4;
        w.attr[r] = random_counts(&rng, k, room, 1 + r * r);
        if (values[r] == 0) memset(w.attr[r].count, 0, (size_t)room * w.stride * sizeof *w.count);
        w.n_values[r] = room;
        w.first[r + 1] = w.first[r] + room + (r == 4);
    }
    w.count = get_zero((size_t)w.first[N_ATTRS] * w.stride, sizeof *w.count);
    for (size_t r = 0; r < N_ATTRS; r++) {
        memcpy(w.count + (size_t)w.first[r] * w.stride, w.attr[r].count,
               (size_t)w.n_values[r] * w.stride * sizeof *w.count);
        for (uint32_t j = 0; j < k; j++)
            if (w.attr[r].size[j] > w.size[j]) w.size[j] = w.attr[r].size[j];
    }
    return w;
}

static void free_wood(wood *w)
{
    for (size_t r = 0; r < N_ATTRS; r++) free_counts(&w->attr[r]);
    free(w->count);
    free(w->size);
}

/* The longest path of a tree, by the depth of every value below every other one. */
static double longest_path(const cof_edge *edge, uint32_t n_edges, uint32_t n_values)
{
    double *below_it = get_zero(n_values, sizeof *below_it), longest = 0;
    for (uint32_t e = n_edges; e-- > 0;) { /* children come after their parents */
        double reach = below_it[edge[e].v] + edge[e].length;
        if (below_it[edge[e].u] + reach > longest) longest = below_it[edge[e].u] + reach;
        if (reach > below_it[edge[e].u]) below_it[edge[e].u] = reach;
    }
    free(below_it);
    return longest;
}

/* A leaf at length 0 refers to its neighbour, any other value to itself. */
static void check_equal_leaves(const wood *w, const cofi_forest *f, size_t r)
{
    const cof_edge *edge = f->edge + w->first[r];
    uint32_t *same_as = get_zero(w->n_values[r], sizeof *same_as);
    bool *inner = get_zero(w->n_values[r], sizeof *inner);
    for (uint32_t v = 0; v < w->n_values[r]; v++) same_as[v] = v;
    for (uint32_t e = 0; e < f->n_edges[r]; e++) inner[edge[e].u] = true;
    for (uint32_t e = 0; e < f->n_edges[r]; e++)
        if (edge[e].length == 0 && !inner[edge[e].v]) same_as[edge[e].v] = edge[e].u;
    for (uint32_t v = 0; v < w->n_values[r]; v++)
        assert_int_equal(f->same_as[w->first[r] + v], w->first[r] + same_as[v]);
    free(same_as);
    free(inner);
}

static void check_attribute(const wood *w, const cofi_forest *f, size_t r, bool authors)
{
    cof_env env = cofi_env_resolve(NULL);
    cofi_points q;
    cofi_mst m;
    uint32_t root, o = w->n_values[r];
    const cof_edge *edge = f->edge + w->first[r];
    cof_edge *alone = get_zero(o, sizeof *alone);
    cofi_blocks own = {.env = env};
    cofi_points_open(&own, w->k, o, &q);
    cofi_mst_open(&own, w->k, o, &m);
    assert_false(own.short_of_memory);
    cofi_points_gather(&q, w->attr[r].count, authors ? w->size : NULL, w->stride, o);
    uint32_t n_edges = cofi_mst_build(&m, &q, authors ? 1.0 / w->k : 1, authors ? 1e-8 : 0, alone, &root);
    assert_int_equal(f->n_edges[r], n_edges);
    assert_int_equal(f->root[r], root);
    for (uint32_t e = 0; e < n_edges; e++) {
        assert_int_equal(edge[e].u, alone[e].u);
        assert_int_equal(edge[e].v, alone[e].v);
        assert_true(edge[e].length == alone[e].length);
    }
    double longest = longest_path(edge, n_edges, o);
    assert_true(f->reach[r] >= longest * (1 - 1e-12) && f->reach[r] <= 2 * longest * (1 + 1e-12));
    free(alone);
    cofi_blocks_release(&own);
}

static void check_forest(const wood *w, uint32_t threads, bool authors)
{
    cof_env env = cofi_env_resolve(NULL);
    cofi_team *team;
    cofi_forest f;
    cof_error err;
    assert_status(cofi_team_open(&env, threads, &team, &err), COF_OK, &err);
    assert_status(cofi_forest_open(&env, team, N_ATTRS, w->first, w->n_values, w->k, authors, &f, &err),
                  COF_OK, &err);
    for (int again = 0; again < 2; again++) cofi_forest_build(&f, w->count, w->size);
    for (size_t r = 0; r < N_ATTRS; r++) {
        check_attribute(w, &f, r, authors);
        check_equal_leaves(w, &f, r);
    }
    assert_int_equal(f.root[3], COFI_NONE);
    assert_int_equal(f.n_edges[3], 0);
    assert_true(f.reach[3] == 0);
    cofi_forest_close(&f);
    cofi_forest_close(&f);
    cofi_team_close(team);
}

static void trees_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 9};
    for (size_t k = 0; k < COUNT(ks); k++) {
        wood w = make_wood(k, ks[k]);
        for (uint32_t threads = 1; threads <= 4; threads++)
            for (int authors = 0; authors < 2; authors++) check_forest(&w, threads, authors);
        free_wood(&w);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const uint32_t first[] = {0, 3, 5}, n_values[] = {3, 2};
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cofi_team *team = NULL;
        cofi_forest f = {.n_attrs = 0};
        cof_status status = cofi_team_open(&env, 2, &team, NULL);
        if (status == COF_OK) status = cofi_forest_open(&env, team, 2, first, n_values, 3, true, &f, NULL);
        cofi_forest_close(&f);
        cofi_team_close(team);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_do_not_depend_on_threads),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
