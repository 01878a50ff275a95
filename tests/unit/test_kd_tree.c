/* A kd-tree: no point within the reach is lost, and every processor's steps give the same. */
#include "points_helper.h"

#include "../../src/forest/kd_tree.h"

typedef struct grown {
    cofi_points points;
    cofi_blocks own;
    cofi_kd_tree tree;
} grown;

/* Coordinates from `least` on over `range`; some points repeat others. */
static void grow_random(cofi_rng *rng, uint32_t n, uint32_t k, double least, double range, grown *g)
{
    cof_env env = cofi_env_resolve(NULL);
    *g = (grown){.own = {.env = env}};
    cofi_points_open(&g->own, k, n, &g->points);
    assert_false(g->own.short_of_memory);
    g->points.n = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t like = i > 0 && cofi_rng_below(rng, 8) == 0 ? (uint32_t)cofi_rng_below(rng, i) : i;
        for (uint32_t j = 0; j < k; j++) {
            double *x = g->points.p + (size_t)j * g->points.capacity;
            x[i] = like < i ? x[like] : least + range * cofi_rng_unit(rng);
        }
    }
    assert_true(cofi_kd_grow(&g->own, &g->points, &g->tree));
}

static void release(grown *g)
{
    cofi_blocks_release(&g->own);
}

static uint32_t bits(uint32_t n)
{
    return UINT32_MAX >> (COFI_KD_LANES - n);
}

/* The steps of this processor and the plain ones see the same boxes and points. */
static void compare_steps(const cofi_kd_tree *t, const cofi_kd_node *node, const cofi_kd_aim *aim)
{
    const cofi_kd_steps *plain = &cofi_kd_plain_steps;
    if (node->n_children == 0) {
        uint32_t of_points = bits(node->end - node->begin);
        assert_int_equal(t->steps->in_leaf(t, node->begin, aim->close, aim->limit) & of_points,
                         plain->in_leaf(t, node->begin, aim->close, aim->limit) & of_points);
        return;
    }
    int32_t square[2][COFI_KD_LANES];
    uint32_t nearest[2];
    assert_int_equal(t->steps->to_boxes(t, node->boxes, aim->close, aim->limit, square[0], &nearest[0]),
                     plain->to_boxes(t, node->boxes, aim->close, aim->limit, square[1], &nearest[1]));
    assert_memory_equal(square[0], square[1], sizeof square[0]);
    assert_int_equal(nearest[0], nearest[1]);
    assert_true(nearest[0] < node->n_children);
    for (uint32_t c = 0; c < node->n_children; c++)
        assert_true(square[0][nearest[0]] / COFI_KD_LANES <= square[0][c] / COFI_KD_LANES);
}

/* Whether a search with this aim comes to the point at a position. */
static bool finds(const cofi_kd_tree *t, const cofi_kd_aim *aim, uint32_t position)
{
    const cofi_kd_node *node = t->node;
    compare_steps(t, node, aim);
    while (node->n_children > 0) {
        int32_t square[COFI_KD_LANES];
        uint32_t c = 0, nearest, near = cofi_kd_children(t, node, aim, square, &nearest);
        while (t->node[node->child + c].end <= position) c++;
        assert_true(c < node->n_children);
        assert_int_equal(near >> c & 1, square[c] <= aim->limit);
        if ((near >> c & 1) == 0) return false;
        node = &t->node[node->child + c];
        compare_steps(t, node, aim);
    }
    return (t->steps->in_leaf(t, node->begin, aim->close, aim->limit) >> (position - node->begin) & 1) != 0;
}

/* Every point lies in one leaf, and children divide the points of their node. */
static void check_nodes(const cofi_kd_tree *t)
{
    for (uint32_t at = 0; at < t->n_nodes; at++) {
        const cofi_kd_node *node = &t->node[at];
        uint32_t begin = node->begin;
        assert_true(node->n_children != 1 && node->n_children <= COFI_KD_LANES);
        if (node->n_children == 0) assert_true(node->end - begin <= COFI_KD_LANES && begin < node->end);
        for (uint32_t c = 0; c < node->n_children; c++) {
            assert_true(node->child > at);
            assert_int_equal(t->node[node->child + c].begin, begin);
            begin = t->node[node->child + c].end;
        }
        if (node->n_children > 0) assert_int_equal(begin, node->end);
    }
    assert_int_equal(t->node[0].end, t->n);
}

static void points_within_the_reach_are_found(void **state)
{
    (void)state;
    static const uint32_t ns[] = {1, 2, 31, 32, 33, 64, 1000, 1025, 33000},
                          ks[] = {1, 2, 5, 8, 16, 20, 33, 300};
    static const double ranges[] = {1, 1e-9, 1e6, 0}, leasts[] = {0, 1, 1e-3, 7};
    cofi_rng rng;
    cofi_rng_seed(&rng, 1, 0);
    for (size_t at = 0; at < COUNT(ns) * COUNT(ks); at++) {
        uint32_t n = ns[at / COUNT(ks)], k = ks[at % COUNT(ks)];
        grown g;
        if (n > 2000 && k > 20) continue;
        grow_random(&rng, n, k, leasts[at % COUNT(leasts)], ranges[at % COUNT(ranges)], &g);
        check_nodes(&g.tree);
        int16_t *close = get_zero(2 * (size_t)g.tree.n_pairs, sizeof *close);
        cofi_kd_aim aim = {.close = close};
        for (int turn = 0; turn < 200; turn++) {
            uint32_t from = (uint32_t)cofi_rng_below(&rng, n), to = (uint32_t)cofi_rng_below(&rng, n);
            cofi_kd_aim_from(&g.tree, from, &aim);
            cofi_kd_aim_within(&g.tree, cofi_kd_square(&g.tree, to, &aim), &aim);
            assert_true(finds(&g.tree, &aim, to));
            assert_true(finds(&g.tree, &aim, from));
        }
        cofi_kd_aim_within(&g.tree, INFINITY, &aim);
        assert_true(finds(&g.tree, &aim, n - 1));
        free(close);
        release(&g);
    }
}

/* Of ten thousand points in a square, those within a tenth of its side are few: a search must rule out most. */
static void far_points_are_ruled_out(void **state)
{
    (void)state;
    enum { N = 10000 };
    cofi_rng rng;
    grown g;
    int16_t close[2] = {0};
    cofi_kd_aim aim = {.close = close};
    uint32_t n_found = 0, n_within = 0;
    cofi_rng_seed(&rng, 2, 0);
    grow_random(&rng, N, 2, 0, 1, &g);
    cofi_kd_aim_from(&g.tree, 0, &aim);
    cofi_kd_aim_within(&g.tree, 0.01, &aim);
    for (uint32_t x = 0; x < N; x++) {
        n_found += finds(&g.tree, &aim, x);
        n_within += cofi_kd_square(&g.tree, x, &aim) <= 0.01;
    }
    assert_true(n_within > 0 && n_found >= n_within && n_found <= n_within + N / 1000);
    release(&g);
}

static void memory_may_be_short(void **state)
{
    (void)state;
    cofi_rng rng;
    grown g;
    cofi_rng_seed(&rng, 3, 0);
    grow_random(&rng, 100, 5, 0, 1, &g);
    for (int turn = 0; turn < 2; turn++) {
        cofi_blocks own = {.env = g.own.env, .short_of_memory = turn == 0};
        cofi_kd_tree tree;
        assert_int_equal(cofi_kd_grow(&own, &g.points, &tree), turn == 1);
        cofi_blocks_release(&own);
    }
    release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_within_the_reach_are_found),
        cmocka_unit_test(far_points_are_ruled_out),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
