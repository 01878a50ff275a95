/* The reader of the report's template, and the texts it shows: rounding that does not lie, escapes that hold. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/report/html/page.h"

typedef struct written {
    cofi_out out;
    char text[4000];
    size_t n;
} written;

static int gather(void *ctx, const char *text, size_t n_bytes)
{
    written *w = ctx;
    assert_true(w->n + n_bytes < sizeof w->text);
    memcpy(w->text + w->n, text, n_bytes);
    w->text[w->n += n_bytes] = '\0';
    return 0;
}

static void begin(written *w)
{
    w->n = 0;
    w->text[0] = '\0';
    cofi_out_init(&w->out, gather, w);
}

static void begin_page(cofi_page *p)
{
    cof_env env = cofi_env_resolve(NULL);
    cofi_page_begin(p, &env);
}

/* The page that a template makes of the data. */
static void assert_page(cofi_page *p, const char *template, const char *expected)
{
    written w;
    cof_error err;
    begin(&w);
    assert_status(cofi_page_fill(p, template, strlen(template), &w.out, &err), COF_OK, &err);
    assert_string_equal(w.text, expected);
}

static void shares(void **state)
{
    static const struct {
        double part, whole;
        const char *text;
    } known[] = {
        {0, 10, "0\u00a0%"},    {10, 10, "100\u00a0%"},   {999, 1000, "99\u00a0%"}, /* not quite all */
        {1, 1000, "<1\u00a0%"}, {995, 1000, "99\u00a0%"}, {5, 1000, "1\u00a0%"},
        {1, 3, "33\u00a0%"},    {1, 0, "0\u00a0%"}};
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        cofi_page p;
        begin_page(&p);
        cofi_page_put(&p, "share", "%p", known[i].part, known[i].whole);
        assert_page(&p, "{{{share}}}", known[i].text);
        cofi_page_end(&p);
    }
}

static void counts_and_amounts(void **state)
{
    cofi_page p;
    (void)state;
    begin_page(&p);
    cofi_page_put(&p, "counts", "%c %c %c %c", (uint64_t)0, (uint64_t)999, (uint64_t)1000, (uint64_t)1204113);
    cofi_page_put(&p, "amounts", "%a %a %a", 2.5, 12345.0, 1234.5);
    assert_page(&p, "{{counts}} {{amounts}}", "0 999 1,000 1,204,113 2.50 12,345 1234");
    cofi_page_end(&p);
}

static void names(void **state)
{
    static const char form[] = "{{#name}}{{t}}|{{more}}|{{full}}{{/}}";
    static const struct {
        const char *name, *shown;
        unsigned columns;
    } known[] = {{"<b>&'\"", "&#60;b&#62;&#38;&#39;&#34;||", 20},
                 {"abcdefgh", "abcd\xE2\x80\xA6||abcdefgh", 5},
                 {"", "(empty)||", 20},
                 {"1..2", "1..|2|", 20},
                 {"..2", "..2||", 20},
                 {"1...", "1...||", 20},
                 {"1..", "1..||", 20}};
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        cofi_page p;
        begin_page(&p);
        cofi_page_name(&p, "name", known[i].name, known[i].columns);
        assert_page(&p, form, known[i].shown);
        cofi_page_end(&p);
    }
}

static void cells(void **state)
{
    cofi_page p;
    (void)state;
    begin_page(&p);
    cofi_page_bar(&p, "cells", 1, 4);
    cofi_page_bar(&p, "cells", 0, 4);
    cofi_page_bar(&p, "cells", 1, 1000);
    cofi_page_number(&p, "numbers", 1.239, 2);
    cofi_page_number(&p, "numbers", (double)NAN, 2);
    cofi_page_count(&p, "numbers", 1234);
    cofi_page_open_cluster(&p, "cluster", 8);
    cofi_page_close(&p);
    assert_page(&p, "{{#cells}}{{w}}:{{t}} {{/}}", "25:25 :0 1:&#60;1 ");
    assert_page(&p, "{{#numbers}}{{v}}:{{t}} {{/}}", "1.239:1.24 :\xE2\x80\x93 1234:1,234 ");
    assert_page(&p, "{{#cluster}}{{id}} {{colour}}{{/}}", "9 cof-c0 cof-pale");
    cofi_page_end(&p);
}

/* Every form of the template. */
static void templates(void **state)
{
    static const struct {
        const char *template, *expected;
    } known[] = {
        {"plain } { text", "plain } { text"},
        {"{{text}} {{{text}}} {{nothing}}.", "a&#60;b a<b ."},
        {"{{#yes}}1{{/}}{{^yes}}2{{/}}{{#no}}3{{/}}{{^no}}4{{/}}{{#nothing}}5{{/}}{{^nothing}}6{{/}}", "146"},
        {"{{#word=two}}1{{/}}{{#word=tw}}2{{/}}{{^word=three}}3{{/}}{{^word=two}}4{{/}}{{#nothing=a}}5{{/}}",
         "13"},
        {"{{#rows}}{{^first}}, {{/first}}{{name}} of {{word}}{{/rows}}", "x of two, y of two"},
        {"{{#rows}}{{#cells}}{{name}}{{cell}}{{#first}}!{{/}} {{/cells}}{{/rows}}", "x1! x2 y3! "},
        {"{{#empty}}1{{/}}{{^empty}}2{{/}}{{^rows}}3{{/}}", "2"},
        {"{{=part}}<{{name}}>{{/part}}\n{{>part rows}} {{#rows}}{{>part}}{{/}} {{>part nothing}}.",
         "<x><y> <x><y> ."},
        {"a\n{{#yes}}\nb\n{{/yes}}\nc\n{{#no}}\nd\n{{/no}}\n", "a\nb\nc\n"},
        {"{{#yes}}\nb {{#no}}c{{/}}\n{{/yes}}", "b \n"},
    };
    cofi_page p;
    (void)state;
    begin_page(&p);
    cofi_page_put(&p, "text", "%s", "a<b");
    cofi_page_put(&p, "word", "%s", "two");
    cofi_page_flag(&p, "yes", true);
    cofi_page_flag(&p, "no", false);
    for (int row = 0, cell = 1; row < 2; row++) {
        cofi_page_open(&p, "rows");
        cofi_page_put(&p, "name", "%s", row == 0 ? "x" : "y");
        for (int i = 0; i < 2 - row; i++) {
            cofi_page_open(&p, "cells");
            cofi_page_put(&p, "cell", "%u", (unsigned)cell++);
            cofi_page_close(&p);
        }
        cofi_page_close(&p);
    }
    for (size_t i = 0; i < COUNT(known); i++) assert_page(&p, known[i].template, known[i].expected);
    cofi_page_end(&p);
}

/* Texts of any length; every failure of memory is reported once, at the end. */
static void every_allocation_may_fail(void **state)
{
    enum { LONG = 100000 };
    char *text = calloc(LONG + 1, 1);
    (void)state;
    memset(text, 'a', LONG);
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cofi_page p;
        written w;
        begin(&w);
        cofi_page_begin(&p, &env);
        for (unsigned i = 0; i < 2000; i++) cofi_page_bar(&p, "cells", i, 2000);
        cofi_page_put(&p, "long", "%s", text);
        cof_status status = cofi_page_fill(&p, "{{#long}}here{{/}}", 18, &w.out, NULL);
        cofi_page_end(&p);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) {
            assert_string_equal(w.text, "here");
            break;
        }
        assert_int_equal(status, COF_ERR_MEMORY);
    }
    free(text);
}

static void characters_that_a_format_lacks(void **state)
{
    written w;
    (void)state;
    begin(&w);
    cofi_out_xml(&w.out, "a\x01"
                         "b\xEF\xBF\xBE\tc");
    cofi_out_finish(&w.out, NULL);
    assert_string_equal(w.text, "a\xEF\xBF\xBD"
                                "b\xEF\xBF\xBD&#9;c");
    begin(&w);
    cofi_out_dot(&w.out, "two\nlines & \"quotes\"");
    cofi_out_finish(&w.out, NULL);
    assert_string_equal(w.text, "\"two\\nlines &amp; \\\"quotes\\\"\"");
}

/* "nan" and "inf" are no numbers of SVG: a browser drops the shape, and a checker the file. */
static void drawings_have_finite_numbers_only(void **state)
{
    written w;
    (void)state;
    begin(&w);
    cofi_svg_line(&w.out, NULL, (double)NAN, (double)INFINITY, (double)-INFINITY, 1.239);
    cofi_svg_rectangle(&w.out, 1, 2.5, (double)NAN, 1e300 * 1e300, 4);
    cofi_out_finish(&w.out, NULL);
    assert_string_equal(w.text, "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1.24\"/>"
                                "<rect class=\"cof-c1\" x=\"2.5\" y=\"0\" width=\"0\" height=\"4\"/>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares),
                                       cmocka_unit_test(counts_and_amounts),
                                       cmocka_unit_test(names),
                                       cmocka_unit_test(cells),
                                       cmocka_unit_test(templates),
                                       cmocka_unit_test(every_allocation_may_fail),
                                       cmocka_unit_test(characters_that_a_format_lacks),
                                       cmocka_unit_test(drawings_have_finite_numbers_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
