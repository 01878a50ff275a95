/* Bytes in a fixed order: layout, round trips, short inputs, failing memory, the checksum. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/core/bytes.h"

static void little_endian_whatever_the_machine(void **state)
{
    (void)state;
    static const unsigned char expected[] = {0x12, 4, 3, 2, 1, 8,    7,    6, 5, 4, 3, 2,   1,  0,
                                             0,    0, 0, 0, 0, 0xF8, 0x3F, 2, 0, 0, 0, 'h', 'i'};
    cofi_writer w = {.env = cofi_env_resolve(NULL)};
    cofi_put_bytes(&w, "\x12", 1);
    cofi_put_u32(&w, 0x01020304);
    cofi_put_u64(&w, 0x0102030405060708);
    cofi_put_f64(&w, 1.5);
    cofi_put_text(&w, "hi");
    assert_false(w.failed);
    assert_int_equal(w.n, sizeof expected);
    assert_memory_equal(w.bytes, expected, sizeof expected);
    cofi_release(&w.env, w.bytes);
}

/* Writes and reads back the same random sequence of all kinds. */
static void what_was_written_is_read(void **state)
{
    (void)state;
    cofi_writer w = {.env = cofi_env_resolve(NULL)};
    cofi_rng rng = dice(1);
    for (int i = 0; i < 5000; i++) {
        uint64_t x = cofi_rng_next(&rng);
        cofi_put_u32(&w, (uint32_t)x);
        cofi_put_u64(&w, x);
        cofi_put_f64(&w, (double)x / 3);
    }
    cofi_put_f64(&w, -0.0);
    cofi_put_f64(&w, INFINITY);
    cofi_reader r = {.bytes = w.bytes, .n = w.n};
    rng = dice(1);
    for (int i = 0; i < 5000; i++) {
        uint64_t x = cofi_rng_next(&rng);
        assert_int_equal(cofi_get_u32(&r), (uint32_t)x);
        assert_true(cofi_get_u64(&r) == x);
        assert_true(cofi_get_f64(&r) == (double)x / 3);
    }
    assert_true(signbit(cofi_get_f64(&r)));
    assert_true(isinf(cofi_get_f64(&r)));
    assert_false(r.failed);
    assert_int_equal(r.at, r.n);
    cofi_release(&w.env, w.bytes);
}

static void a_hole_is_filled_later(void **state)
{
    (void)state;
    cofi_writer w = {.env = cofi_env_resolve(NULL)};
    cofi_put_bytes(&w, "\7", 1);
    size_t hole = cofi_put_hole(&w);
    cofi_put_bytes(&w, "rest", 4);
    cofi_fill_u64(&w, hole, 0x1122334455667788);
    cofi_reader r = {.bytes = w.bytes, .n = w.n};
    assert_int_equal(*cofi_get_bytes(&r, 1), 7);
    assert_true(cofi_get_u64(&r) == 0x1122334455667788);
    assert_memory_equal(cofi_get_bytes(&r, 4), "rest", 4);
    cofi_release(&w.env, w.bytes);
}

/* Past the end there are zeros, and the reader says so from then on. */
static void short_inputs_give_zeros(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t n = 0; n < 8; n++) {
        cofi_reader r = {.bytes = bytes, .n = n};
        assert_true(n >= 4 || cofi_get_u64(&r) == 0);
        while (!r.failed) cofi_get_u32(&r);
        assert_int_equal(cofi_get_u32(&r), 0);
        assert_null(cofi_get_bytes(&r, 0));
        assert_true(cofi_get_f64(&r) == 0);
    }
    cofi_reader r = {.bytes = bytes, .n = 8};
    assert_null(cofi_get_bytes(&r, SIZE_MAX));
    uint64_t words[2] = {7, 7};
    static const size_t too_many[] = {2, SIZE_MAX / 8, SIZE_MAX};
    for (size_t i = 0; i < 3; i++) {
        r = (cofi_reader){.bytes = bytes, .n = 8};
        cofi_get_words(&r, words, too_many[i]);
        assert_true(r.failed);
        assert_int_equal(words[0], 7);
    }
    r = (cofi_reader){.bytes = bytes, .n = 8};
    cofi_get_words(&r, words, 0);
    assert_false(r.failed);
    cofi_get_words(&r, words, 1);
    assert_int_equal(words[0], UINT64_C(0x0807060504030201));
    r = (cofi_reader){.bytes = NULL, .n = 0};
    assert_int_equal(cofi_get_u32(&r), 0);
    assert_true(r.failed);
}

static void a_writer_without_memory_stays_failed(void **state)
{
    (void)state;
    for (size_t n = 0; n < 4; n++) {
        alloc_meter meter = {.fail_at = n};
        cofi_writer w = {.env = alloc_env(&meter)};
        size_t hole = cofi_put_hole(&w);
        for (int i = 0; i < 1000; i++) cofi_put_u64(&w, (uint64_t)i);
        cofi_fill_u64(&w, hole, 1);
        size_t length = w.n;
        assert_true(w.failed);
        cofi_put_text(&w, "more");
        assert_int_equal(w.n, length);
        cofi_release(&w.env, w.bytes);
        assert_int_equal(meter.live, 0);
    }
}

static void the_checksum_is_that_of_gzip(void **state)
{
    (void)state;
    assert_int_equal(cofi_crc32("", 0), 0);
    assert_int_equal(cofi_crc32("123456789", 9), 0xCBF43926);
    assert_int_equal(cofi_crc32("The quick brown fox jumps over the lazy dog", 43), 0x414FA339);
}

typedef struct record {
    bool set;
    uint8_t small;
    int32_t below;
    uint32_t n;
    int64_t far;
    double x;
    char *name;
    uint64_t *word;
} record;

static void code_record(cofi_codec *c, record *r)
{
    cofi_code_magic(c, "RECORD");
    COFI_CODE(c, &r->set);
    COFI_CODE(c, &r->small);
    COFI_CODE(c, &r->below);
    COFI_CODE(c, &r->far);
    COFI_CODE(c, &r->x);
    cofi_code_text(c, &r->name);
    COFI_CODE(c, &r->n);
    cofi_code_check(c, r->n < 1000, "there are too many words");
    cofi_code_array(c, &r->word, r->n);
}

static cofi_writer written_record(void)
{
    uint64_t word[] = {1, UINT64_MAX, 3};
    record r = {true, 200, -5, 3, INT64_MIN, -0.5, (char[]){"a name"}, word};
    cofi_writer w = {.env = cofi_env_resolve(NULL)};
    cofi_codec write = {.to = &w};
    code_record(&write, &r);
    assert_int_equal(cofi_codec_status(&write), COF_OK);
    assert_true(cofi_code_left(&write) == UINT64_MAX);
    return w;
}

static cof_status read_record(const cof_env *env, const unsigned char *bytes, size_t n, record *r,
                              cofi_codec *read)
{
    cofi_blocks own = {.env = *env};
    *read = (cofi_codec){.from = {.bytes = bytes, .n = n}, .own = &own};
    code_record(read, r);
    cof_status status = cofi_codec_status(read);
    if (status == COF_OK) {
        assert_int_equal(cofi_code_left(read), 0);
        assert_true(r->set && r->small == 200 && r->below == -5 && r->far == INT64_MIN && r->x == -0.5);
        assert_string_equal(r->name, "a name");
        assert_true(r->n == 3 && r->word[0] == 1 && r->word[1] == UINT64_MAX && r->word[2] == 3);
    }
    cofi_blocks_release(&own);
    return status;
}

/* Every shorter input is refused, and so are other first bytes and a number that a check does not allow. */
static void one_function_writes_and_reads(void **state)
{
    (void)state;
    cofi_writer w = written_record();
    cof_env env = cofi_env_resolve(NULL);
    cofi_codec read;
    record r;
    assert_int_equal(read_record(&env, w.bytes, w.n, &r, &read), COF_OK);
    for (size_t n = 0; n < w.n; n++) assert_int_equal(read_record(&env, w.bytes, n, &r, &read), COF_ERR_DATA);
    size_t n_at = w.n - 3 * sizeof(uint64_t) - sizeof(uint32_t);
    w.bytes[n_at + 1] = 255;
    assert_int_equal(read_record(&env, w.bytes, w.n, &r, &read), COF_ERR_DATA);
    assert_string_equal(read.wrong, "there are too many words");
    w.bytes[n_at + 1] = 0;
    w.bytes[0] = 'r';
    assert_int_equal(read_record(&env, w.bytes, w.n, &r, &read), COF_ERR_DATA);
    assert_int_equal(r.small, 0);
    cofi_release(&w.env, w.bytes);
}

static void a_codec_without_memory_says_so(void **state)
{
    (void)state;
    cofi_writer w = written_record();
    cofi_codec read;
    record r;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = read_record(&env, w.bytes, w.n, &r, &read);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
    w.failed = true;
    assert_int_equal(cofi_codec_status(&(cofi_codec){.to = &w}), COF_ERR_MEMORY);
    cofi_release(&w.env, w.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_endian_whatever_the_machine),
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_hole_is_filled_later),
        cmocka_unit_test(short_inputs_give_zeros),
        cmocka_unit_test(a_writer_without_memory_stays_failed),
        cmocka_unit_test(the_checksum_is_that_of_gzip),
        cmocka_unit_test(one_function_writes_and_reads),
        cmocka_unit_test(a_codec_without_memory_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
