/* One dictionary per column: value order, widths, growth, what happens to missing and unused values. */
#include "unit_helper.h"

#include <math.h>

#include "alloc_helper.h"
#include "../../src/table/encode.h"

static cofi_encoder new_encoder(void)
{
    cof_env env = cofi_env_resolve(NULL);
    cofi_encoder e;
    cofi_encoder_init(&e, &env);
    return e;
}

static void put(cofi_encoder *e, const char *text)
{
    assert_int_equal(cofi_encoder_put(e, text, strlen(text)), COF_OK);
}

static cofi_column finish(cofi_encoder *e, cofi_order order)
{
    cofi_column column = {.name = NULL};
    assert_int_equal(cofi_encoder_finish(e, order, &column), COF_OK);
    cofi_encoder_free(e); /* empty by now; must be harmless */
    return column;
}

static void free_column(cofi_column *c)
{
    cof_env env = cofi_env_resolve(NULL);
    void *owned[] = {c->block, c->offset, c->text, c->missing_text};
    for (size_t b = 0; b < COUNT(owned); b++) cofi_release(&env, owned[b]);
}

/* Encodes the texts in the order given and expects the values in the order of `sorted`. */
static void check_order(const char *const *texts, const char *const *sorted, size_t n)
{
    cofi_encoder e = new_encoder();
    for (size_t i = 0; i < n; i++) put(&e, texts[i]);
    cofi_column c = finish(&e, COFI_ORDER_SORTED);
    assert_int_equal(c.n_values, n);
    for (uint32_t v = 0; v < n; v++) assert_string_equal(cofi_column_text(&c, v), sorted[v]);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(cofi_column_text(&c, cofi_column_code(&c, i)), texts[i]);
    free_column(&c);
}

/* ---- Order -------------------------------------------------------------------------------------- */

static void integers_go_by_number(void **state)
{
    (void)state;
    static const char *const texts[] = {"10", "9", "-1", "-10", "0", "2", "+3", "100000000000", "-9"};
    static const char *const sorted[] = {"-10", "-9", "-1", "0", "2", "+3", "9", "10", "100000000000"};
    check_order(texts, sorted, COUNT(texts));
}

/* Equal numbers written differently are different values, in byte order. */
static void one_number_in_many_spellings(void **state)
{
    (void)state;
    static const char *const texts[] = {"7", "007", "-0", "+7", "07", "0", "-07", "00", "+0", "-7", "8", "6"};
    static const char *const sorted[] = {"-07", "-7", "+0",  "-0", "0", "00",
                                         "6",   "+7", "007", "07", "7", "8"};
    check_order(texts, sorted, COUNT(texts));
}

static void one_other_value_makes_it_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"10", "9", "1.5", "-1", "100"};
    static const char *const sorted[] = {"-1", "1.5", "10", "100", "9"};
    check_order(texts, sorted, COUNT(texts));
}

static void these_are_no_integers(void **state)
{
    (void)state;
    static const char *const odd[] = {"",    "-",   "+",    "1 ",    " 1",      "--1",
                                      "+-1", "1e3", "0x10", "1_000", "\xD9\xA1"};
    for (size_t i = 0; i < COUNT(odd); i++) {
        const char *texts[] = {"10", "9", odd[i]};
        cofi_encoder e = new_encoder();
        for (size_t t = 0; t < 3; t++) put(&e, texts[t]);
        cofi_column c = finish(&e, COFI_ORDER_SORTED);
        assert_true(cofi_column_code(&c, 0) < cofi_column_code(&c, 1)); /* "10" < "9" as bytes */
        free_column(&c);
    }
}

static void text_goes_by_unsigned_bytes(void **state)
{
    (void)state;
    static const char *const texts[] = {"z",         "\xC3\xA9", "a",    "",
                                        "ab",        "Z",        "\x01", "abcdefgh",
                                        "abcdefghi", "abcdefgg", "a b",  "\xF0\x9F\x8C\xB2"};
    static const char *const sorted[] = {"",          "\x01", "Z",        "a",
                                         "a b",       "ab",   "abcdefgg", "abcdefgh",
                                         "abcdefghi", "z",    "\xC3\xA9", "\xF0\x9F\x8C\xB2"};
    check_order(texts, sorted, COUNT(texts));
}

#ifdef __SIZEOF_INT128__ /* not on 32-bit processors */
__extension__ typedef __int128 wide;

static wide parse_wide(const char *text)
{
    wide x = 0;
    bool negative = *text == '-';
    if (*text == '-' || *text == '+') text++;
    for (; *text != '\0'; text++) x = 10 * x + (*text - '0');
    return negative ? -x : x;
}

/* Random integers of up to 30 digits against 128-bit arithmetic. Lengths around 15, where the sort key's
 * leading digits end, come often. */
static void long_integers_against_wide_arithmetic(void **state)
{
    (void)state;
    cofi_rng rng = dice(5);
    for (int round = 0; round < 200; round++) {
        cofi_encoder e = new_encoder();
        size_t common = 1 + below(&rng, 29);
        for (int i = 0; i < 60; i++) {
            char text[40], *at = text;
            if (below(&rng, 3) == 0) *at++ = "-+"[below(&rng, 2)];
            size_t n_digits = below(&rng, 2) ? common : 1 + below(&rng, 30);
            for (size_t d = 0; d < n_digits; d++) /* the head mostly equal, so that the tail decides */
                *at++ = (char)('0' + (d + 3 < n_digits ? (below(&rng, 20) == 0) : below(&rng, 10)));
            *at = '\0';
            put(&e, text);
        }
        cofi_column c = finish(&e, COFI_ORDER_SORTED);
        for (uint32_t v = 0; v + 1 < c.n_values; v++) {
            const char *a = cofi_column_text(&c, v), *b = cofi_column_text(&c, v + 1);
            wide x = parse_wide(a), y = parse_wide(b);
            if (!(x < y || (x == y && strcmp(a, b) < 0))) fail_msg("'%s' comes before '%s'", a, b);
        }
        free_column(&c);
    }
}
#endif

/* The sort key counts digits up to 8190; beyond that the texts themselves are compared. */
static void very_long_integers(void **state)
{
    (void)state;
    enum { DIGITS = 8195 };
    static char text[4][DIGITS + 1];
    static const size_t length[] = {8189, 8190, 8191, DIGITS};
    cofi_encoder e = new_encoder();
    for (size_t t = 4; t-- > 0;) {
        memset(text[t], '9' - (int)t, length[t]);
        text[t][length[t]] = '\0';
        put(&e, text[t]);
        char negative[DIGITS + 2] = "-";
        strcat(negative, text[t]);
        put(&e, negative);
    }
    cofi_column c = finish(&e, COFI_ORDER_SORTED);
    assert_int_equal(c.n_values, 8);
    for (uint32_t v = 0; v < 4; v++) {
        assert_string_equal(cofi_column_text(&c, v) + 1, text[3 - v]);
        assert_string_equal(cofi_column_text(&c, 4 + v), text[v]);
    }
    free_column(&c);
}

static void order_as_interned(void **state)
{
    (void)state;
    cofi_encoder e = new_encoder();
    static const char *const levels[] = {"low", "never used", "high", "medium"};
    uint32_t id[COUNT(levels)];
    for (size_t v = 0; v < COUNT(levels); v++)
        assert_int_equal(cofi_encoder_intern(&e, levels[v], strlen(levels[v]), &id[v]), COF_OK);
    static const size_t rows[] = {3, 0, 2, 0};
    for (size_t i = 0; i < COUNT(rows); i++) assert_int_equal(cofi_encoder_append(&e, id[rows[i]]), COF_OK);
    cofi_column c = finish(&e, COFI_ORDER_AS_INTERNED);
    assert_int_equal(c.n_values, 3); /* what no row holds is dropped */
    assert_string_equal(cofi_column_text(&c, 0), "low");
    assert_string_equal(cofi_column_text(&c, 1), "high");
    assert_string_equal(cofi_column_text(&c, 2), "medium");
    static const uint32_t codes[] = {2, 0, 1, 0};
    for (size_t i = 0; i < COUNT(rows); i++) assert_int_equal(cofi_column_code(&c, i), codes[i]);
    free_column(&c);
}

/* ---- Interning ---------------------------------------------------------------------------------- */

/* Every length around the hash's eight-byte steps, each differing from the next in one byte only. */
static void near_texts_are_told_apart(void **state)
{
    (void)state;
    cofi_encoder e = new_encoder();
    char text[40];
    uint32_t n = 0, id;
    for (int again = 0; again < 2; again++, n = 0) {
        for (size_t length = 0; length < 33; length++) {
            memset(text, 'x', sizeof text);
            assert_int_equal(cofi_encoder_intern(&e, text, length, &id), COF_OK);
            assert_int_equal(id, n++);
            for (size_t at = 0; at < length; at++) {
                text[at] = 'y';
                assert_int_equal(cofi_encoder_intern(&e, text, length, &id), COF_OK);
                assert_int_equal(id, n++);
                text[at] = 'x';
            }
        }
    }
    cofi_encoder_free(&e);
    cofi_encoder_free(&e);
}

static void two_hundred_thousand_values(void **state)
{
    (void)state;
    enum { N = 200000 };
    cofi_encoder e = new_encoder();
    char text[16];
    for (uint32_t i = 0; i < 2 * N; i++) { /* a permutation of 0..N-1, twice */
        snprintf(text, sizeof text, "%u", (unsigned)((uint64_t)i * 77773 % N));
        put(&e, text);
    }
    cofi_column c = finish(&e, COFI_ORDER_SORTED);
    assert_int_equal(c.n_values, N);
    assert_int_equal(c.width, 4);
    for (uint32_t i = 0; i < 2 * N; i++) assert_int_equal(cofi_column_code(&c, i), (uint64_t)i * 77773 % N);
    for (uint32_t v = 0; v < N; v += 997) assert_int_equal(atoi(cofi_column_text(&c, v)), v);
    free_column(&c);
}

/* ---- Widths and missing cells ------------------------------------------------------------------- */

/* The missing id is n_values, so it decides the width together with the values. */
static void check_width(uint32_t n_values, bool missing, uint8_t width)
{
    cofi_encoder e = new_encoder();
    char text[16];
    if (missing) assert_int_equal(cofi_encoder_put_missing(&e, "?", 1), COF_OK);
    for (uint32_t v = n_values; v-- > 0;) {
        snprintf(text, sizeof text, "%u", v);
        put(&e, text);
        if (missing && v % 100 == 0) assert_int_equal(cofi_encoder_append(&e, COFI_ID_MISSING), COF_OK);
    }
    cofi_column c = finish(&e, COFI_ORDER_SORTED);
    assert_int_equal(c.n_values, n_values);
    assert_int_equal(c.width, width);
    size_t i = 0;
    if (missing) assert_int_equal(cofi_column_code(&c, i++), n_values);
    for (uint32_t v = n_values; v-- > 0;) {
        assert_int_equal(cofi_column_code(&c, i++), v);
        if (missing && v % 100 == 0) assert_int_equal(cofi_column_code(&c, i++), n_values);
    }
    assert_int_equal(c.n_missing, missing ? 1 + (n_values + 99) / 100 : 0);
    free_column(&c);
}

static void narrowest_width_that_holds_the_missing_id(void **state)
{
    (void)state;
    static const uint32_t n[] = {1, 2, 254, 255, 256, 257, 65534, 65535, 65536, 65537};
    static const uint8_t width[] = {1, 1, 1, 1, 2, 2, 2, 2, 4, 4};
    for (size_t i = 0; i < COUNT(n); i++) {
        check_width(n[i], false, width[i]);
        check_width(n[i], true, width[i]);
    }
}

/* Values interned but in no row can leave a column that was read wide and ends narrow. */
static void a_wide_column_may_end_narrow(void **state)
{
    (void)state;
    for (uint32_t n = 300; n <= 70000; n += 69700) {
        cofi_encoder e = new_encoder();
        char text[16];
        uint32_t id = 0;
        for (uint32_t v = 0; v < n; v++) {
            snprintf(text, sizeof text, "%u", v);
            assert_int_equal(cofi_encoder_intern(&e, text, strlen(text), &id), COF_OK);
        }
        for (int i = 0; i < 1000; i++) {
            assert_int_equal(cofi_encoder_append(&e, i % 3 == 0 ? COFI_ID_MISSING : id - (uint32_t)(i % 3)),
                             COF_OK);
        }
        cofi_column c = finish(&e, COFI_ORDER_SORTED);
        assert_int_equal(c.n_values, 2);
        assert_int_equal(c.width, 1);
        static const uint32_t codes[] = {2, 1, 0};
        for (size_t i = 0; i < 1000; i++) assert_int_equal(cofi_column_code(&c, i), codes[i % 3]);
        free_column(&c);
    }
}

static void the_first_missing_text_is_kept(void **state)
{
    (void)state;
    cofi_encoder e = new_encoder();
    put(&e, "a");
    assert_int_equal(cofi_encoder_put_missing(&e, "NA!", 2), COF_OK);
    assert_int_equal(cofi_encoder_put_missing(&e, "?", 1), COF_OK);
    cofi_column c = finish(&e, COFI_ORDER_SORTED);
    assert_int_equal(c.n_missing, 2);
    assert_string_equal(c.missing_text, "NA");
    assert_string_equal(cofi_column_text(&c, 1), "NA");
    free_column(&c);
}

static void columns_without_values(void **state)
{
    (void)state;
    cofi_encoder e = new_encoder();
    cofi_column c = finish(&e, COFI_ORDER_SORTED);
    assert_int_equal(c.n_values, 0);
    assert_string_equal(c.missing_text, "");
    free_column(&c);
    for (int i = 0; i < 10; i++) assert_int_equal(cofi_encoder_append(&e, COFI_ID_MISSING), COF_OK);
    c = finish(&e, COFI_ORDER_SORTED);
    assert_int_equal(c.n_values, 0);
    assert_int_equal(c.n_missing, 10);
    for (size_t i = 0; i < 10; i++) assert_int_equal(cofi_column_code(&c, i), 0);
    free_column(&c);
}

/* ---- Texts with several ids ----------------------------------------------------------------------- */

/* Row i of a column of numbers, words or both, first nearly all different and in the end the same again and again. */
static void tricky_text(int kind, int i, char text[40])
{
    static const char *const forms[] = {"%.9g", "%.17g", "%.12f", "w%.6f", "%.2e"};
    double x = i < 24000 ? sin(i) * pow(10, i % 5) : i < 60000 ? cos(i % 50) : sin(i % 20000);
    snprintf(text, 40, forms[kind < 5 ? kind : i % 5], x);
}

static void texts_with_several_ids_become_one(void **state)
{
    enum { ROWS = 150000 };
    char text[40];
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        cofi_encoder e[2] = {new_encoder(), new_encoder()};
        bool was_loose = false;
        e[1].may_repeat = true;
        for (int i = 0; i < ROWS; i++) {
            tricky_text(kind, i, text);
            for (int side = 0; side < 2; side++) put(&e[side], text);
            was_loose = was_loose || e[1].loose;
            if (i == 60000 && was_loose) assert_true(e[1].n_values < 2 * e[0].n_values);
        }
        assert_true(was_loose || kind == 4);
        assert_false(e[1].loose);
        cofi_column exact = finish(&e[0], COFI_ORDER_SORTED), joined = finish(&e[1], COFI_ORDER_SORTED);
        assert_int_equal(joined.n_values, exact.n_values);
        assert_int_equal(joined.width, exact.width);
        for (uint32_t v = 0; v < exact.n_values; v++) {
            assert_string_equal(cofi_column_text(&joined, v), cofi_column_text(&exact, v));
            if (v > 0) assert_true(strcmp(cofi_column_text(&exact, v - 1), cofi_column_text(&exact, v)) < 0);
        }
        assert_memory_equal(joined.codes, exact.codes, (size_t)ROWS * exact.width);
        free_column(&exact);
        free_column(&joined);
    }
}

/* ---- Failing memory ----------------------------------------------------------------------------- */

static cof_status encode_some(const cof_env *env)
{
    cofi_encoder e[2];
    static const char *const names[] = {"first", "second"};
    cof_status status = COF_OK;
    cof_table *table = NULL;
    for (int c = 0; c < 2; c++) cofi_encoder_init(&e[c], env);
    e[0].may_repeat = true;
    for (int i = 0; i < 40000 && status == COF_OK; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i < 9000 ? i : i % 6000);
        status = cofi_encoder_put(&e[0], text, strlen(text));
        if (status == COF_OK) status = cofi_encoder_put_missing(&e[1], text, 1);
    }
    if (status == COF_OK)
        status = cofi_table_from_encoders(env, e, 2, names, COFI_ORDER_SORTED, &table, NULL);
    for (int c = 0; c < 2; c++) cofi_encoder_free(&e[c]);
    cof_table_free(table);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = encode_some(&env);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_go_by_number),
        cmocka_unit_test(one_number_in_many_spellings),
        cmocka_unit_test(one_other_value_makes_it_text),
        cmocka_unit_test(these_are_no_integers),
        cmocka_unit_test(text_goes_by_unsigned_bytes),
#ifdef __SIZEOF_INT128__
        cmocka_unit_test(long_integers_against_wide_arithmetic),
#endif
        cmocka_unit_test(very_long_integers),
        cmocka_unit_test(order_as_interned),
        cmocka_unit_test(near_texts_are_told_apart),
        cmocka_unit_test(two_hundred_thousand_values),
        cmocka_unit_test(narrowest_width_that_holds_the_missing_id),
        cmocka_unit_test(a_wide_column_may_end_narrow),
        cmocka_unit_test(the_first_missing_text_is_kept),
        cmocka_unit_test(columns_without_values),
        cmocka_unit_test(texts_with_several_ids_become_one),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
