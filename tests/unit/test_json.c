/* The JSON writer: structure, escapes, and what a sink that refuses does to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "coforest_extra.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct page {
    char text[512];
    size_t n;
    int refuses;
} page;

static int collect(void *ctx, const char *text, size_t n_bytes)
{
    page *p = ctx;
    if (p->refuses) return 1;
    memcpy(p->text + p->n, text, n_bytes);
    p->n += n_bytes;
    p->text[p->n] = '\0';
    return 0;
}

static void write_example(cof_json *j)
{
    cof_json_open(j, NULL, '{');
    cof_json_count(j, "n", UINT64_MAX);
    cof_json_flag(j, "yes", 2);
    cof_json_open_line(j, "reals", '[');
    cof_json_real(j, NULL, 0.1);
    cof_json_real(j, NULL, 100000);
    cof_json_real(j, NULL, (double)NAN);
    cof_json_close(j, ']');
    cof_json_open(j, "empty", '{');
    cof_json_close(j, '}');
    cof_json_text(j, "none", NULL);
    cof_json_close(j, '}');
}

static void objects_are_indented_and_lists_stay_on_a_line(void **state)
{
    (void)state;
    page p = {.n = 0};
    cof_json j;
    cof_json_begin(&j, collect, &p);
    write_example(&j);
    assert_int_equal(cof_json_end(&j), 0);
    assert_string_equal(p.text, "{\n  \"n\": 18446744073709551615,\n  \"yes\": true,\n"
                                "  \"reals\": [0.1, 100000, null],\n  \"empty\": {},\n  \"none\": null\n}\n");
}

static void texts_are_escaped(void **state)
{
    (void)state;
    page p = {.n = 0};
    cof_json j;
    cof_json_begin(&j, collect, &p);
    cof_json_text(&j, NULL, "nt\"\\\n\t\x01\x7F\xC3\xA9\xE2\x80\xA8\xFF\xED\xA0\x80");
    assert_string_equal(p.text,
                        "\"nt\\\"\\\\\\n\\t\\u0001\\u007f\xC3\xA9\\u2028\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void a_refusal_is_told_at_the_end(void **state)
{
    (void)state;
    page p = {.refuses = 1};
    cof_json j;
    cof_json_begin(&j, collect, &p);
    write_example(&j);
    assert_int_equal(cof_json_end(&j), 1);
    assert_int_equal(p.n, 0);
}

static void numbers_read_back_in_every_locale(void **state)
{
    (void)state;
    char text[COF_NUMBER_BYTES];
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is there */
    assert_string_equal(cof_text_number(text, sizeof text, 0.25), "0.25");
    assert_string_equal(cof_text_number(text, sizeof text, 1.0 / 3), "0.3333333333333333");
    assert_string_equal(cof_text_number(text, sizeof text, -1e300), "-1e+300");
    setlocale(LC_ALL, "C");
}

static void texts_are_shown_within_columns_and_bytes(void **state)
{
    (void)state;
    char to[16];
    assert_int_equal(cof_text_show(to, sizeof to, "abc", 3), 3);
    assert_string_equal(to, "abc");
    assert_int_equal(cof_text_show(to, sizeof to, "abcd", 3), 3);
    assert_string_equal(to, "ab\xE2\x80\xA6");
    assert_int_equal(cof_text_show(to, sizeof to, "abcdefghijklmnopqrst", 40), 13);
    assert_string_equal(to, "abcdefghijkl\xE2\x80\xA6");
    assert_int_equal(cof_text_show(to, sizeof to, "a\x1b\xFF\n", 40), 11);
    assert_string_equal(to, "a\\x1b\\xff\\n");
    assert_int_equal(cof_text_show(to, sizeof to, "\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", 4),
                     2); /* thumb, skin tone */
}

static void quantiles(void **state)
{
    (void)state;
    double x[] = {3, 1, 2, 10};
    assert_true(isnan(cof_quantile(x, 0, 0.5)));
    assert_true(cof_quantile(x, 3, 0.5) == 2);
    assert_true(cof_quantile(x, 4, 0.5) == 2.5);
    assert_true(cof_quantile(x, 4, 0) == 1);
    assert_true(cof_quantile(x, 4, 1) == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_indented_and_lists_stay_on_a_line),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(a_refusal_is_told_at_the_end),
        cmocka_unit_test(numbers_read_back_in_every_locale),
        cmocka_unit_test(texts_are_shown_within_columns_and_bytes),
        cmocka_unit_test(quantiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
