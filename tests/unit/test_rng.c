/* The generator: the published sequence, the promised one, and that draws are fair. */
#include "unit_helper.h"

/* First outputs of xoshiro256** from the state 1, 2, 3, 4, as its authors' program prints them. */
static void published_sequence(void **state)
{
    (void)state;
    static const uint64_t expected[] = {11520u,
                                        0u,
                                        1509978240u,
                                        1215971899390074240u,
                                        1216172134540287360u,
                                        607988272756665600u,
                                        16172922978634559625u,
                                        8476171486693032832u,
                                        10595114339597558777u,
                                        2904607092377533576u};
    cofi_rng rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < COUNT(expected); i++) assert_true(cofi_rng_next(&rng) == expected[i]);
}

/* Same seed, same labels, also in the next version: these must never change. */
static void promised_sequence(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, stream, first, second;
    } promised[] = {
        {0, 0, 0xfb5405f7bd79c540u, 0x780c98e26cea5883u},
        {1, 0, 0xee127fe613436e33u, 0xd6dad8d34a1874eau},
        {1, 1, 0x550e4e55a37114ccu, 0xa645791d18940fddu},
        {UINT64_MAX, 9, 0x6958490b3e0be5efu, 0x2f55378023064e0fu},
    };
    for (size_t i = 0; i < COUNT(promised); i++) {
        cofi_rng rng;
        cofi_rng_seed(&rng, promised[i].seed, promised[i].stream);
        uint64_t first = cofi_rng_next(&rng), second = cofi_rng_next(&rng);
        assert_true(first == promised[i].first && second == promised[i].second);
    }
}

/* Neighbouring seeds and streams must not repeat each other's draws, at any offset. */
static void streams_are_unrelated(void **state)
{
    (void)state;
    enum { STREAMS = 64, DRAWS = 32 };
    static uint64_t drawn[STREAMS * DRAWS];
    for (size_t s = 0; s < STREAMS; s++) {
        cofi_rng rng;
        cofi_rng_seed(&rng, s / 8, s % 8);
        for (size_t i = 0; i < DRAWS; i++) drawn[s * DRAWS + i] = cofi_rng_next(&rng);
    }
    for (size_t a = 0; a < COUNT(drawn); a++)
        for (size_t b = 0; b < a; b++) assert_true(drawn[a] != drawn[b]);
}

static void draws_stay_below_their_bound(void **state)
{
    (void)state;
    static const uint64_t bounds[] = {1, 2, 3, 10, UINT64_C(1) << 32, (UINT64_C(1) << 63) + 1, UINT64_MAX};
    cofi_rng rng = dice(1);
    for (size_t b = 0; b < COUNT(bounds); b++)
        for (int i = 0; i < 1000; i++) assert_true(cofi_rng_below(&rng, bounds[b]) < bounds[b]);
    for (int i = 0; i < 10000; i++) {
        double x = cofi_rng_unit(&rng);
        assert_true(x >= 0 && x < 1);
    }
}

/* Chi-square over `bound` classes; six standard deviations above the mean never happens by chance. */
static void draws_are_uniform(void **state)
{
    (void)state;
    enum { DRAWS = 200000 };
    cofi_rng rng = dice(2);
    for (uint64_t bound = 2; bound < 40; bound += 5) {
        uint64_t seen[40] = {0};
        double expected = (double)DRAWS / (double)bound, chi = 0;
        for (int i = 0; i < DRAWS; i++) seen[cofi_rng_below(&rng, bound)]++;
        for (uint64_t v = 0; v < bound; v++)
            chi += ((double)seen[v] - expected) * ((double)seen[v] - expected) / expected;
        double freedom = (double)bound - 1;
        assert_true(chi < freedom + 6 * sqrt(2 * freedom) + 10);
    }
}

/* With a bound of 3 * 2^62 a plain remainder would give the lowest third twice as often. */
static void large_bounds_are_not_biased(void **state)
{
    (void)state;
    cofi_rng rng = dice(3);
    uint64_t third = UINT64_C(1) << 62, seen[3] = {0};
    for (int i = 0; i < 30000; i++) seen[cofi_rng_below(&rng, 3 * third) / third]++;
    for (int t = 0; t < 3; t++) assert_in_range(seen[t], 9500, 10500);
}

static void mixing_is_a_bijection(void **state)
{
    (void)state;
    enum { N = 1 << 12 };
    static uint64_t mixed[N];
    int flipped = 0;
    for (uint64_t x = 0; x < N; x++) {
        mixed[x] = cofi_mix64(x);
        flipped += __builtin_popcountll(cofi_mix64(x) ^ cofi_mix64(x ^ (UINT64_C(1) << (x % 64))));
        for (uint64_t y = 0; y < x; y++) assert_true(mixed[x] != mixed[y]);
    }
    assert_near((double)flipped / N, 32, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_sequence),    cmocka_unit_test(promised_sequence),
        cmocka_unit_test(streams_are_unrelated), cmocka_unit_test(draws_stay_below_their_bound),
        cmocka_unit_test(draws_are_uniform),     cmocka_unit_test(large_bounds_are_not_biased),
        cmocka_unit_test(mixing_is_a_bijection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
