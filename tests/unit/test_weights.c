/* Values as points: shares of each cluster, equal profiles folded, absent values left out. */
#include "points_helper.h"

#include "alloc_helper.h"
#include "../../src/forest/weights.h"

/* Point i stands for its lowest value and, through the chain, for every other of that profile. */
static void check_points(const attr_counts *c, const cofi_points *q, bool authors)
{
    uint8_t *met = get_zero(c->n_values, 1);
    for (uint32_t i = 0; i < q->n; i++) {
        uint32_t v = q->value[i];
        assert_true(i == 0 || v > q->value[i - 1]);
        for (uint32_t j = 0; j < c->k; j++)
            assert_true(q->p[(size_t)j * q->capacity + i] == share(c, authors, v, j));
        for (uint32_t earlier = 0; earlier < i; earlier++)
            assert_false(same_profile(c, false, q->value[earlier], v));
        for (; v != COFI_NONE; v = q->next_twin[v]) {
            assert_true(v < c->n_values && met[v] == 0);
            assert_true(q->next_twin[v] == COFI_NONE || q->next_twin[v] > v);
            assert_true(same_profile(c, false, q->value[i], v));
            met[v] = 1;
        }
    }
    for (uint32_t v = 0; v < c->n_values; v++) assert_int_equal(met[v], value_total(c, v) > 0);
    free(met);
}

static void points_equal_brute_force(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 3, 8, 9, 17}, values[] = {1, 2, 3, 7, 40, 300};
    cof_env env = cofi_env_resolve(NULL);
    cofi_rng rng = dice(1);
    for (size_t at = 0; at < COUNT(ks) * COUNT(values) * 4; at++) {
        uint32_t k = ks[at % COUNT(ks)], n_values = values[at / COUNT(ks) % COUNT(values)];
        attr_counts c = random_counts(&rng, k, n_values, at % 2 == 0 ? 4 : 50);
        cofi_points q;
        cofi_blocks own = {.env = env};
        cofi_points_open(&own, k, n_values + (uint32_t)(at % 3), &q);
        assert_false(own.short_of_memory);
        for (int authors = 0; authors < 2; authors++) { /* the same memory serves again and again */
            cofi_points_gather(&q, c.count, authors ? c.size : NULL, c.stride, n_values);
            check_points(&c, &q, authors);
        }
        cofi_blocks_release(&own);
        free_counts(&c);
    }
}

/* 1/3 and 7/21 are one point; so are values of one cluster only, however many rows hold them. */
static void equal_fractions_are_one_point(void **state)
{
    (void)state;
    static uint64_t count[] = {1, 2, 0, 0, 7, 14, 0, 0, 1000000007, 2000000014, 0, 0, 0, 5, 0, 0, 0, 9, 0, 0};
    cof_env env = cofi_env_resolve(NULL);
    cofi_points q;
    cofi_blocks own = {.env = env};
    cofi_points_open(&own, 3, 5, &q);
    assert_false(own.short_of_memory);
    cofi_points_gather(&q, count, NULL, 4, 5);
    assert_int_equal(q.n, 2);
    assert_int_equal(q.value[0], 0);
    assert_int_equal(q.value[1], 3);
    assert_int_equal(q.next_twin[0], 1);
    assert_int_equal(q.next_twin[1], 2);
    assert_int_equal(q.next_twin[2], COFI_NONE);
    assert_int_equal(q.next_twin[3], 4);
    cofi_blocks_release(&own);
}

/* A column of 200,000 values that occur once each has only k profiles. */
static void very_many_values_few_profiles(void **state)
{
    (void)state;
    enum { N = 200000, K = 5 };
    cof_env env = cofi_env_resolve(NULL);
    attr_counts c = {.k = K, .stride = cofi_stride(K), .n_values = N};
    c.count = get_zero((size_t)N * c.stride, sizeof *c.count);
    for (uint32_t v = 0; v < N; v++) c.count[(size_t)v * c.stride + v % K] = 1;
    cofi_points q;
    cofi_blocks own = {.env = env};
    cofi_points_open(&own, K, N, &q);
    assert_false(own.short_of_memory);
    cofi_points_gather(&q, c.count, NULL, c.stride, N);
    assert_int_equal(q.n, K);
    for (uint32_t v = 0; v + K < N; v++) assert_int_equal(q.next_twin[v], v + K);
    cofi_blocks_release(&own);
    free_counts(&c);
}

static void no_value_no_point(void **state)
{
    (void)state;
    static const uint64_t count[8] = {0};
    cof_env env = cofi_env_resolve(NULL);
    cofi_points q;
    cofi_blocks own = {.env = env};
    cofi_points_open(&own, 2, 4, &q);
    assert_false(own.short_of_memory);
    cofi_points_gather(&q, count, NULL, 2, 4);
    assert_int_equal(q.n, 0);
    cofi_points_gather(&q, count, NULL, 2, 0);
    assert_int_equal(q.n, 0);
    cofi_blocks_release(&own);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cofi_blocks own = {.env = alloc_env(&meter)};
        cofi_points q;
        cofi_points_open(&own, 3, 10, &q);
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
        cmocka_unit_test(points_equal_brute_force),      cmocka_unit_test(equal_fractions_are_one_point),
        cmocka_unit_test(very_many_values_few_profiles), cmocka_unit_test(no_value_no_point),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
