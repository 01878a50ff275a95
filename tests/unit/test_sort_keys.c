/* The radix sort against an insertion sort. */
#include "../../src/table/sort_keys.h"
#include "unit_helper.h"

/* Equal keys stay in order. */
static void insert_sorted(cofi_keyed *items, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t at = i; at > 0 && items[at].key < items[at - 1].key; at--) {
            cofi_keyed moved = items[at];
            items[at] = items[at - 1];
            items[at - 1] = moved;
        }
}

static void keys_are_sorted(void **state)
{
    enum { MOST = 300 };
    static uint32_t count[COFI_KEY_COUNTS];
    cofi_keyed items[MOST], spare[MOST], expected[MOST];
    (void)state;
    for (uint64_t round = 0; round < 300; round++) {
        cofi_rng rng = dice(round);
        size_t n = below(&rng, MOST + 1);
        unsigned shift = (unsigned)below(&rng, 64), many = 1 + (unsigned)below(&rng, 9);
        for (size_t i = 0; i < n; i++) {
            uint64_t key = many < 9 ? below(&rng, many) : cofi_mix64(i);
            items[i] = expected[i] = (cofi_keyed){round % 7 == 0 ? key : key << shift, (uint32_t)i};
        }
        insert_sorted(expected, n);
        const cofi_keyed *sorted = cofi_sort_keys(items, spare, n, count);
        for (size_t i = 0; i < n; i++) {
            assert_true(sorted[i].key == expected[i].key);
            assert_int_equal(sorted[i].id, expected[i].id);
        }
    }
}

/* Keys that share their highest bits with few, with hundreds and with thousands of others. */
static void keys_with_equal_beginnings_are_sorted(void **state)
{
    enum { N = 20000 };
    static uint32_t count[COFI_KEY_COUNTS];
    static cofi_keyed items[N], spare[N];
    (void)state;
    for (uint64_t beginnings = 1; beginnings < N; beginnings *= 6) {
        cofi_rng rng = dice(beginnings);
        for (uint32_t i = 0; i < N; i++)
            items[i] = (cofi_keyed){
                (uint64_t)below(&rng, beginnings) << 52 | below(&rng, i % 2 == 0 ? 1 << 20 : 40), i};
        items[0].key = UINT64_MAX;
        const cofi_keyed *sorted = cofi_sort_keys(items, spare, N, count);
        uint64_t ids = sorted[0].id;
        for (size_t i = 1; i < N; i++) {
            ids += sorted[i].id;
            assert_true(sorted[i - 1].key < sorted[i].key ||
                        (sorted[i - 1].key == sorted[i].key && sorted[i - 1].id < sorted[i].id));
        }
        assert_int_equal(ids, (uint64_t)N * (N - 1) / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_are_sorted),
                                       cmocka_unit_test(keys_with_equal_beginnings_are_sorted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
