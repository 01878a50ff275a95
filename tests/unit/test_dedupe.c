/* Equal rows: groups against comparing every pair, all widths, growth, failing memory. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/table/dedupe.h"

enum { MOST_ATTRS = 6 };

typedef struct cells {
    size_t n_rows, n_attrs;
    uint32_t *code; /* [r][i] */
    cofi_ids ids[MOST_ATTRS];
    void *stored[MOST_ATTRS];
} cells;

static void store_column(cells *c, size_t r, uint8_t width)
{
    const uint32_t *code = c->code + r * c->n_rows;
    c->stored[r] = get_zero(c->n_rows, width);
    for (size_t i = 0; i < c->n_rows; i++) {
        if (width == 1)
            ((uint8_t *)c->stored[r])[i] = (uint8_t)code[i];
        else if (width == 2)
            ((uint16_t *)c->stored[r])[i] = (uint16_t)code[i];
        else
            ((uint32_t *)c->stored[r])[i] = code[i];
    }
    c->ids[r] = (cofi_ids){c->stored[r], width, false};
}

/* Column r has about `values` values, the widest the widths 1, 2 and 4 hold among them. */
static cells make_cells(uint64_t seed, size_t n_rows, size_t n_attrs, size_t values)
{
    static const uint8_t widths[] = {1, 2, 4};
    static const uint32_t most[] = {UINT8_MAX, UINT16_MAX, UINT32_MAX};
    cofi_rng rng = dice(seed);
    cells c = {.n_rows = n_rows, .n_attrs = n_attrs, .code = get_zero(n_rows * n_attrs, sizeof *c.code)};
    for (size_t r = 0; r < n_attrs; r++) {
        size_t w = below(&rng, 3), o = values <= most[w] ? values : most[w];
        for (size_t i = 0; i < n_rows; i++) {
            uint32_t v = (uint32_t)below(&rng, o);
            c.code[r * n_rows + i] = v % 2 == 0 ? v : most[w] - v;
        }
        store_column(&c, r, widths[w]);
    }
    return c;
}

static void free_cells(cells *c)
{
    for (size_t r = 0; r < c->n_attrs; r++) free(c->stored[r]);
    free(c->code);
}

static bool equal_rows(const cells *c, size_t a, size_t b)
{
    for (size_t r = 0; r < c->n_attrs; r++)
        if (c->code[r * c->n_rows + a] != c->code[r * c->n_rows + b]) return false;
    return true;
}

static void check_groups(const cells *c)
{
    cof_env env = cofi_env_resolve(NULL);
    uint32_t *group = get_zero(c->n_rows, sizeof *group), *head = get_zero(c->n_rows, sizeof *head);
    uint32_t n_groups = 99, n_expected = 0;
    assert_int_equal(cofi_dedupe(&env, c->ids, c->n_attrs, c->n_rows, group, &n_groups), COF_OK);
    for (size_t i = 0; i < c->n_rows; i++) {
        uint32_t g = 0;
        while (g < n_expected && !equal_rows(c, head[g], i)) g++;
        if (g == n_expected) head[n_expected++] = (uint32_t)i;
        assert_int_equal(group[i], g);
    }
    assert_int_equal(n_groups, n_expected);
    free(group);
    free(head);
}

static void groups_equal_brute_force(void **state)
{
    (void)state;
    static const size_t n_rows[] = {0, 1, 2, 3, 50, 1023, 1024, 1025, 2049};
    static const size_t values[] = {1, 2, 3, 10, 1000};
    for (size_t n = 0; n < COUNT(n_rows); n++) {
        for (size_t v = 0; v < COUNT(values); v++) {
            for (size_t l = 1; l <= MOST_ATTRS; l += 2) {
                cells c = make_cells(100 * n + 10 * v + l, n_rows[n], l, values[v]);
                check_groups(&c);
                free_cells(&c);
            }
        }
    }
}

static void without_attributes_all_rows_are_equal(void **state)
{
    (void)state;
    cells c = {.n_rows = 3000, .n_attrs = 0};
    check_groups(&c);
}

/* Enough distinct rows that the slots grow many times; groups are then the row numbers. */
static void many_distinct_rows(void **state)
{
    (void)state;
    enum { N = 100000 };
    cof_env env = cofi_env_resolve(NULL);
    cells c = {.n_rows = N, .n_attrs = 2, .code = get_zero(2 * N, sizeof *c.code)};
    for (size_t i = 0; i < N; i++) {
        c.code[i] = (uint32_t)(i % 317);
        c.code[N + i] = (uint32_t)(i / 317);
    }
    store_column(&c, 0, 2);
    store_column(&c, 1, 2);
    uint32_t *group = get_zero(N, sizeof *group), n_groups;
    assert_int_equal(cofi_dedupe(&env, c.ids, 2, N, group, &n_groups), COF_OK);
    assert_int_equal(n_groups, N);
    for (size_t i = 0; i < N; i++) assert_int_equal(group[i], i);
    free(group);
    free_cells(&c);
}

/* A sample never finds more than there are, nor more than it looked at, and says the same every time. */
static void a_sample_of_rows(void **state)
{
    (void)state;
    static const size_t values[] = {1, 2, 5, 40};
    cof_env env = cofi_env_resolve(NULL);
    for (size_t v = 0; v < COUNT(values); v++) {
        cells c = make_cells(v, 30000, 3, values[v]);
        uint32_t *group = get_zero(c.n_rows, sizeof *group), n_groups;
        size_t n_differ, again, n_weighing;
        assert_int_equal(cofi_dedupe(&env, c.ids, 3, c.n_rows, group, &n_groups), COF_OK);
        for (size_t n_sample = 1; n_sample <= c.n_rows; n_sample = 7 * n_sample + 3) {
            assert_int_equal(
                cofi_dedupe_sample(&env, c.ids, 3, c.n_rows, NULL, n_sample, &n_weighing, &n_differ), COF_OK);
            assert_int_equal(n_weighing, n_sample);
            assert_int_equal(
                cofi_dedupe_sample(&env, c.ids, 3, c.n_rows, NULL, n_sample, &n_weighing, &again), COF_OK);
            assert_true(n_differ >= 1 && n_differ <= n_groups && n_differ <= n_sample && n_differ == again);
            if (n_groups < 30 && n_sample > 2000) assert_int_equal(n_differ, n_groups);
        }
        free(group);
        free_cells(&c);
    }
}

/* Rows without weight do not count, and if none has weight, none differs. */
static void a_sample_of_rows_with_weights(void **state)
{
    (void)state;
    enum { N = 30000, SAMPLE = 2000 };
    cof_env env = cofi_env_resolve(NULL);
    cells c = {.n_rows = N, .n_attrs = 1, .code = get_zero(N, sizeof *c.code)};
    uint64_t *weight = get_zero(N, sizeof *weight);
    for (size_t i = 0; i < N; i++) c.code[i] = (uint32_t)(i % 4 == 0 ? 0 : i);
    store_column(&c, 0, 4);
    size_t n_weighing = 7, n_differ = 7, n_all;
    assert_int_equal(cofi_dedupe_sample(&env, c.ids, 1, N, weight, SAMPLE, &n_weighing, &n_differ), COF_OK);
    assert_int_equal(n_weighing, 0);
    assert_int_equal(n_differ, 0);
    for (size_t i = 0; i < N; i += 4) weight[i] = 3; /* these are all equal */
    assert_int_equal(cofi_dedupe_sample(&env, c.ids, 1, N, weight, SAMPLE, &n_weighing, &n_differ), COF_OK);
    assert_in_range(n_weighing, SAMPLE / 5, SAMPLE / 3);
    assert_int_equal(n_differ, 1);
    assert_int_equal(cofi_dedupe_sample(&env, c.ids, 1, N, NULL, SAMPLE, &n_weighing, &n_all), COF_OK);
    assert_in_range(n_all, SAMPLE / 2, SAMPLE);
    free(weight);
    free_cells(&c);
}

/* Row numbers have 32 bits here; more rows used to be numbered modulo 2^32. */
static void more_rows_than_can_be_numbered(void **state)
{
    (void)state;
    cof_env env = cofi_env_resolve(NULL);
    uint32_t n_groups = 7;
    assert_int_equal(cofi_dedupe(&env, NULL, 0, UINT32_MAX, NULL, &n_groups), COF_ERR_DATA);
    assert_int_equal(n_groups, 0);
}

static void stretches_cover_all_rows(void **state)
{
    (void)state;
    const size_t n = 8192, n_rows = UINT32_MAX - 1; /* the product has 45 bits */
    assert_int_equal(cofi_stretch_begin(0, n, n_rows), 0);
    assert_int_equal(cofi_stretch_begin(n / 2, n, n_rows), n_rows / 2);
    assert_int_equal(cofi_stretch_begin(n, n, n_rows), n_rows);
}

static void stretches_follow_each_other(void **state)
{
    (void)state;
    static const uint64_t n_rows[] = {0, 1, 9, 1000, 65537, UINT32_MAX - 1}, n[] = {1, 2, 7, 999, 8192};
    for (size_t a = 0; a < COUNT(n_rows); a++)
        for (size_t b = 0; b < COUNT(n); b++)
            for (uint64_t from = 0; from < n[b]; from += 1 + n[b] / 3) {
                cofi_stretches s = cofi_stretches_at(from, n[b], n_rows[a]);
                for (uint64_t at = from; at < n[b]; at++)
                    assert_int_equal(cofi_next_stretch(&s), at * n_rows[a] / n[b]);
            }
    cofi_stretches all = cofi_stretches_at(0, 3, UINT64_MAX);
    for (uint64_t at = 0; at < 3; at++) assert_int_equal(cofi_next_stretch(&all), UINT64_MAX / 3 * at);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    cells c = make_cells(1, 5000, 3, 50);
    uint32_t *group = get_zero(c.n_rows, sizeof *group), n_groups;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = cofi_dedupe(&env, c.ids, c.n_attrs, c.n_rows, group, &n_groups);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
    free(group);
    free_cells(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_equal_brute_force),
        cmocka_unit_test(without_attributes_all_rows_are_equal),
        cmocka_unit_test(many_distinct_rows),
        cmocka_unit_test(a_sample_of_rows),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(more_rows_than_can_be_numbered),
        cmocka_unit_test(stretches_cover_all_rows),
        cmocka_unit_test(stretches_follow_each_other),
        cmocka_unit_test(a_sample_of_rows_with_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
