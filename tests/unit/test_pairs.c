/* Pair tables against counting row by row, by bitmaps and cell by cell. */
#include "method_helper.h"

typedef struct check {
    const bench *b;
    const int32_t *codes; /* -1: ignored */
    const double *weight; /* or NULL */
    size_t n, l, n_pairs;
    size_t last[2]; /* the target and the attribute visited last */
    bool before_only;
} check;

/* Codes 0..o-1 that all occur have themselves as ids. */
static void compare_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    check *c = ctx;
    (void)worker;
    uint32_t o_t = c->b->problem.n_values[t], o_r = c->b->problem.n_values[r];
    if (c->n_pairs > 0 && t == c->last[0]) assert_true(r == c->last[1] + 1);
    if (c->before_only) assert_true(r < t);
    for (uint32_t a = 0; a < o_t; a++)
        for (uint32_t b = 0; b < o_r; b++) {
            double n = 0;
            for (size_t i = 0; i < c->n; i++)
                if (c->codes[i * c->l + t] == (int32_t)a && c->codes[i * c->l + r] == (int32_t)b)
                    n += c->weight != NULL ? c->weight[i] : 1;
            assert_near(count[(size_t)a * o_r + b], n, 1e-9);
            count[(size_t)a * o_r + b] = NAN; /* it may be overwritten */
        }
    c->last[0] = t;
    c->last[1] = r;
    c->n_pairs++;
}

static void check_tables(uint64_t seed, size_t o, bool weighted, bool missing)
{
    cofi_rng rng = dice(seed);
    size_t n = 5 * o + below(&rng, 150), l = 2 + below(&rng, 5);
    int32_t *codes = random_codes(&rng, n, l, o, 3);
    double *weight = get_zero(n, sizeof *weight);
    for (size_t i = 0; i < n; i++) weight[i] = 0.5 * (double)(1 + below(&rng, 5));
    for (size_t at = 0; missing && at < n * l; at++)
        if (below(&rng, 8) == 0) codes[at] = -1;
    for (size_t v = 0; v < o; v++)
        for (size_t r = 0; r < l; r++) codes[v * l + r] = (int32_t)v; /* every value occurs */
    bench b;
    cof_fit_options options = {.k = 2,
                               .init = COF_INIT_RANDOM,
                               .weights = weighted ? weight : NULL,
                               .missing = COF_MISSING_IGNORE,
                               .method = "kmodes"};
    set_up_with(&b, codes, n, l, options);
    check c = {.b = &b, .codes = codes, .weight = options.weights, .n = n, .l = l};
    cofi_pair_visitor visitor = {.ctx = &c, .pair = compare_pair};
    cof_error err = {""};
    assert_status(cofi_rows_pairs(b.rows, b.fit.host.team, &visitor, &err), COF_OK, &err);
    assert_int_equal(c.n_pairs, l * l);
    c.n_pairs = 0;
    visitor.before_only = c.before_only = true;
    assert_status(cofi_rows_pairs(b.rows, b.fit.host.team, &visitor, &err), COF_OK, &err);
    assert_int_equal(c.n_pairs, l * (l - 1) / 2);
    tear_down(&b);
    free(codes);
    free(weight);
}

static void test_tables(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++)
        check_tables(seed, seed % 5 == 4 ? 14 : 2 + seed % 5, seed % 2 == 1, seed % 4 >= 2);
}

/* The host can end it between targets. */
static int say_stop(void *ctx)
{
    (void)ctx;
    return 1;
}

static void ignore_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    (void)ctx, (void)worker, (void)t, (void)r, (void)count;
}

static void test_stop(void **state)
{
    (void)state;
    bench b;
    cof_error err = {""};
    cofi_pair_visitor visitor = {.pair = ignore_pair};
    set_up_t6(&b, "kmodes", 0);
    b.problem.env.should_stop = say_stop;
    assert_int_equal(cofi_rows_pairs(b.rows, b.fit.host.team, &visitor, &err), COF_ERR_STOPPED);
    assert_string_equal(err.text, "stopped while the columns were being compared");
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables), cmocka_unit_test(test_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
