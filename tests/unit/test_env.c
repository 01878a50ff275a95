/* Memory lent by the caller, option structs of other versions, error sentences. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/core/utf8.h"

/* ---- The caller's env --------------------------------------------------------------------------- */

static void gaps_are_filled(void **state)
{
    (void)state;
    cof_env none = cofi_env_resolve(NULL);
    assert_non_null(none.alloc);
    assert_non_null(none.release);
    assert_null(none.should_stop);
    assert_null(none.progress);
    assert_int_equal(none.struct_size, sizeof none);
    assert_false(cofi_should_stop(&none));
}

/* What malloc gave must not go to the caller's release, nor the other way round. */
static void half_a_pair_is_no_pair(void **state)
{
    (void)state;
    alloc_meter meter = {.fail_at = 0};
    cof_env half = alloc_env(&meter);
    half.release = NULL;
    cof_env env = cofi_env_resolve(&half);
    void *block = cofi_alloc(&env, 10, 10);
    assert_non_null(block);
    cofi_release(&env, block);
    half = alloc_env(&meter);
    half.alloc = NULL;
    env = cofi_env_resolve(&half);
    block = cofi_alloc(&env, 10, 10);
    assert_non_null(block);
    cofi_release(&env, block);
    assert_int_equal(meter.count, 0);
    assert_int_equal(meter.live, 0);
}

static int always(void *ctx)
{
    ++*(int *)ctx;
    return 1;
}

static void a_shorter_env_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    int calls = 0;
    cof_env full = {.struct_size = sizeof full, .should_stop = always, .ctx = &calls}, shorter = full;
    shorter.struct_size = offsetof(cof_env, should_stop);
    cof_env env = cofi_env_resolve(&full);
    assert_true(cofi_should_stop(&env));
    env = cofi_env_resolve(&shorter);
    assert_false(cofi_should_stop(&env));
    assert_int_equal(calls, 1);
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
    const cof_env lent = alloc_env(&meter), envs[] = {cofi_env_resolve(NULL), cofi_env_resolve(&lent)};
    for (size_t e = 0; e < COUNT(envs); e++) {
        assert_null(cofi_alloc(&envs[e], SIZE_MAX / 2, 4));
        assert_null(cofi_alloc(&envs[e], (size_t)PTRDIFF_MAX + 1, 1));
        assert_null(cofi_alloc_zero(&envs[e], SIZE_MAX / 2, 4));
        assert_null(cofi_regrow(&envs[e], NULL, 0, SIZE_MAX / 2, 4));
        assert_null(cofi_regrow(&envs[e], NULL, 0, (size_t)PTRDIFF_MAX + 1, 1));
    }
    assert_int_equal(meter.count, 0);
}

/* Many are asked for, one flag is read, one call releases: whichever allocation fails. */
static void blocks_are_released_together(void **state)
{
    (void)state;
    for (size_t fail_at = 0; fail_at <= 3; fail_at++) {
        alloc_meter meter = {.fail_at = fail_at < 3 ? fail_at : ALLOC_NEVER_FAILS};
        cofi_blocks blocks = {.env = alloc_env(&meter)};
        uint8_t *bytes = cofi_blocks_add(&blocks, 5, 1), *none = cofi_blocks_add(&blocks, 0, 8);
        double *zero = cofi_blocks_add_zero(&blocks, 7, sizeof *zero);
        if (fail_at == 3) {
            assert_non_null(none);
            assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
            for (size_t i = 0; i < 7; i++) assert_true(zero[i] == 0);
            assert_int_equal(meter.live, 3);
        }
        assert_int_equal(blocks.short_of_memory, fail_at < 3);
        assert_null(cofi_blocks_add(&blocks, SIZE_MAX / 4, 4));
        assert_null(cofi_blocks_add(&blocks, SIZE_MAX / 2, 4));
        assert_true(blocks.short_of_memory);
        cofi_blocks_release(&blocks);
        cofi_blocks_release(&blocks);
        assert_int_equal(meter.live, 0);
    }
}

static void nothing_is_still_a_block(void **state)
{
    (void)state;
    alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
    const cof_env lent = alloc_env(&meter), envs[] = {cofi_env_resolve(NULL), cofi_env_resolve(&lent)};
    for (size_t e = 0; e < COUNT(envs); e++) {
        void *blocks[] = {cofi_alloc(&envs[e], 0, 8), cofi_alloc_zero(&envs[e], 0, 8),
                          cofi_regrow(&envs[e], NULL, 0, 0, 8), cofi_copy_text(&envs[e], NULL, 0)};
        for (size_t b = 0; b < COUNT(blocks); b++) {
            assert_non_null(blocks[b]);
            cofi_release(&envs[e], blocks[b]);
        }
        cofi_release(&envs[e], NULL);
    }
    assert_int_equal(meter.live, 0);
}

static void *alloc_dirty(void *ctx, size_t bytes)
{
    void *block = alloc_or_fail(ctx, bytes);
    if (block != NULL) memset(block, 0xA5, bytes);
    return block;
}

static void zeroed_memory_is_zero(void **state)
{
    (void)state;
    alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
    cof_env lent = alloc_env(&meter);
    lent.alloc = alloc_dirty;
    unsigned char *block = cofi_alloc_zero(&lent, 100, 3);
    for (size_t i = 0; i < 300; i++) assert_int_equal(block[i], 0);
    cofi_release(&lent, block);
    assert_int_equal(meter.live, 0);
}

static void check_regrow(const cof_env *env)
{
    uint32_t *block = NULL;
    size_t n = 0;
    for (size_t larger = 1; larger < 5000; n = larger, larger = 2 * larger + 1) {
        block = cofi_regrow(env, block, n, larger, sizeof *block);
        assert_non_null(block);
        for (size_t i = 0; i < n; i++) assert_int_equal(block[i], i);
        for (size_t i = n; i < larger; i++) block[i] = (uint32_t)i;
    }
    block = cofi_regrow(env, block, n, 3, sizeof *block);
    for (size_t i = 0; i < 3; i++) assert_int_equal(block[i], i);
    cofi_release(env, block);
}

static void regrown_blocks_keep_what_they_held(void **state)
{
    (void)state;
    alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
    cof_env lent = alloc_env(&meter), own = cofi_env_resolve(NULL);
    lent.alloc = alloc_dirty;
    check_regrow(&own);
    check_regrow(&lent);
    assert_int_equal(meter.live, 0);
}

static void a_failed_regrow_leaves_the_old_block(void **state)
{
    (void)state;
    alloc_meter meter = {.fail_at = 1};
    cof_env env = alloc_env(&meter);
    char *block = cofi_copy_text(&env, "still here, not this", 10);
    assert_null(cofi_regrow(&env, block, 11, 100, 1));
    assert_string_equal(block, "still here");
    assert_int_equal(meter.live, 1);
    cofi_release(&env, block);
    assert_int_equal(meter.live, 0);
}

/* ---- Structs of other versions ------------------------------------------------------------------ */

typedef struct sample_options {
    size_t struct_size;
    int32_t a, b;
    int64_t c;
} sample_options;

static void options_are_copied_as_far_as_the_caller_knows_them(void **state)
{
    (void)state;
    sample_options from = {sizeof from, 1, 2, 3}, to;
    COFI_COPY_OPTIONS(&to, &from);
    assert_memory_equal(&to, &from, sizeof to);
    from.struct_size = offsetof(sample_options, b);
    COFI_COPY_OPTIONS(&to, &from);
    assert_int_equal(to.a, 1);
    assert_int_equal(to.b, 0);
    assert_int_equal(to.c, 0);
    from.struct_size = 0;
    COFI_COPY_OPTIONS(&to, &from);
    assert_int_equal(to.a, 0);
    COFI_COPY_OPTIONS(&to, (const sample_options *)NULL);
    assert_int_equal(to.a, 0);
    struct {
        sample_options known;
        int64_t later;
    } longer = {{sizeof longer, 4, 5, 6}, 7};
    COFI_COPY_OPTIONS(&to, &longer.known);
    assert_int_equal(to.c, 6);
}

static void results_are_written_as_far_as_the_caller_has_room(void **state)
{
    (void)state;
    sample_options from = {0, 1, 2, 3}, to = {offsetof(sample_options, b), -1, -1, -1};
    cofi_return_struct(&to, &from, sizeof from);
    assert_int_equal(to.struct_size, offsetof(sample_options, b));
    assert_int_equal(to.a, 1);
    assert_int_equal(to.b, -1);
    assert_int_equal(to.c, -1);
    to = (sample_options){1000, -1, -1, -1};
    cofi_return_struct(&to, &from, sizeof from);
    assert_int_equal(to.struct_size, 1000);
    assert_int_equal(to.c, 3);
}

/* ---- Sentences and time ------------------------------------------------------------------------- */

static void failing_is_one_line(void **state)
{
    (void)state;
    cof_error err = {"before"};
    assert_int_equal(cofi_fail(&err, COF_ERR_DATA, "row %d of %s", 7, "t.csv"), COF_ERR_DATA);
    assert_string_equal(err.text, "row 7 of t.csv");
    assert_int_equal(cofi_fail(NULL, COF_ERR_IO, "unheard"), COF_ERR_IO);
    assert_int_equal(cofi_no_memory(&err), COF_ERR_MEMORY);
    assert_int_equal(cofi_no_memory(NULL), COF_ERR_MEMORY);
    assert_true(strstr(err.text, "memory") != NULL);
}

/* Wherever the cut falls in a two-, three- or four-byte character, what is left is UTF-8. */
static void long_sentences_are_cut_between_characters(void **state)
{
    (void)state;
    static const char *const character[] = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x8C\xB2"};
    for (size_t c = 0; c < COUNT(character); c++) {
        for (size_t before = 0; before < 8; before++) {
            char text[2000] = "";
            for (size_t i = 0; i < before; i++) strcat(text, "x");
            for (size_t i = 0; i < 300; i++) strcat(text, character[c]);
            cof_error err;
            cofi_fail(&err, COF_ERR_DATA, "%s", text);
            size_t n = strlen(err.text);
            assert_in_range(n, strlen(text) < sizeof err.text ? strlen(text) : sizeof err.text - 8, 511);
            assert_true(cofi_utf8_valid(err.text, n));
        }
    }
}

static void the_clock_only_goes_forward(void **state)
{
    (void)state;
    double before = cofi_now_s();
    for (int i = 0; i < 1000; i++) {
        double now = cofi_now_s();
        assert_true(now >= before);
        before = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_filled),
        cmocka_unit_test(half_a_pair_is_no_pair),
        cmocka_unit_test(a_shorter_env_is_read_as_far_as_it_goes),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(blocks_are_released_together),
        cmocka_unit_test(nothing_is_still_a_block),
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(regrown_blocks_keep_what_they_held),
        cmocka_unit_test(a_failed_regrow_leaves_the_old_block),
        cmocka_unit_test(options_are_copied_as_far_as_the_caller_knows_them),
        cmocka_unit_test(results_are_written_as_far_as_the_caller_has_room),
        cmocka_unit_test(failing_is_one_line),
        cmocka_unit_test(long_sentences_are_cut_between_characters),
        cmocka_unit_test(the_clock_only_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
