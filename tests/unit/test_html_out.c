/* Figures and names of the page: rounding that does not lie, escapes that hold. */
#include "unit_helper.h"

#include "../../src/report/html/html_out.h"
#include "../../src/report/svg/svg_out.h"

typedef struct page {
    cofi_out out;
    char text[4000];
    size_t n;
} page;

static int gather(void *ctx, const char *text, size_t n_bytes)
{
    page *p = ctx;
    assert_true(p->n + n_bytes < sizeof p->text);
    memcpy(p->text + p->n, text, n_bytes);
    p->text[p->n += n_bytes] = '\0';
    return 0;
}

static void begin(page *p)
{
    p->n = 0;
    p->text[0] = '\0';
    cofi_out_init(&p->out, gather, p);
}

static void assert_text(page *p, const char *expected)
{
    cof_error err;
    assert_status(cofi_out_finish(&p->out, &err), COF_OK, &err);
    assert_string_equal(p->text, expected);
}

static void shares(void **state)
{
    static const struct {
        double part, whole;
        const char *text;
    } known[] = {
        {0, 10, "0\u00a0%"},       {10, 10, "100\u00a0%"},   {999, 1000, "99\u00a0%"}, /* not quite all */
        {1, 1000, "&lt;1\u00a0%"}, {995, 1000, "99\u00a0%"}, {5, 1000, "1\u00a0%"},
        {1, 3, "33\u00a0%"},       {1, 0, "0\u00a0%"}};
    page p;
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        begin(&p);
        cofi_html_share(&p.out, known[i].part, known[i].whole);
        assert_text(&p, known[i].text);
    }
}

static void counts_and_amounts(void **state)
{
    page p;
    (void)state;
    begin(&p);
    cofi_html_count(&p.out, 0);
    cofi_out_text(&p.out, " ");
    cofi_html_count(&p.out, 999);
    cofi_out_text(&p.out, " ");
    cofi_html_count(&p.out, 1000);
    cofi_out_text(&p.out, " ");
    cofi_html_count(&p.out, 1204113);
    cofi_out_text(&p.out, " ");
    cofi_html_amount(&p.out, 2.5);
    cofi_out_text(&p.out, " ");
    cofi_html_amount(&p.out, 12345);
    assert_text(&p, "0 999 1,000 1,204,113 2.50 12,345");
}

static void names(void **state)
{
    page p;
    (void)state;
    begin(&p);
    cofi_html_name(&p.out, "<b>&'\"", 20);
    assert_text(&p, "<bdi>&#60;b&#62;&#38;&#39;&#34;</bdi>");
    begin(&p);
    cofi_html_name(&p.out, "abcdefgh", 5);
    assert_text(&p, "<bdi title=\"abcdefgh\">abcd\xE2\x80\xA6</bdi>");
    begin(&p);
    cofi_html_name(&p.out, "", 20);
    assert_text(&p, "<bdi>(empty)</bdi>");
}

static void cells(void **state)
{
    page p;
    (void)state;
    begin(&p);
    cofi_html_bar(&p.out, "wide", 1, 4);
    cofi_html_bar(&p.out, "", 0, 4);
    cofi_html_bar(&p.out, "", 1, 1000);
    assert_text(&p, "<td class=\"b wide p25\">25<td class=\"b\">0<td class=\"b p1\">&lt;1");
    begin(&p);
    cofi_html_number(&p.out, 1.239, 2);
    cofi_html_number(&p.out, (double)NAN, 2);
    assert_text(&p, "<td class=\"n\" data-v=\"1.239\">1.24<td class=\"n\">\xE2\x80\x93");
    begin(&p);
    cofi_html_cluster(&p.out, 8);
    assert_text(
        &p, "<span class=\"nw\"><i aria-hidden=\"true\" class=\"sw cof-c0 cof-pale\"></i>cluster 9</span>");
}

static void characters_that_a_format_lacks(void **state)
{
    page p;
    (void)state;
    begin(&p);
    cofi_out_xml(&p.out, "a\x01"
                         "b\xEF\xBF\xBE\tc");
    assert_text(&p, "a\xEF\xBF\xBD"
                    "b\xEF\xBF\xBD&#9;c");
    begin(&p);
    cofi_out_dot(&p.out, "two\nlines & \"quotes\"");
    assert_text(&p, "\"two\\nlines &amp; \\\"quotes\\\"\"");
}

/* "nan" and "inf" are no numbers of SVG: a browser drops the shape, and a checker the file. */
static void drawings_have_finite_numbers_only(void **state)
{
    page p;
    (void)state;
    begin(&p);
    cofi_svg_line(&p.out, NULL, (double)NAN, (double)INFINITY, (double)-INFINITY, 1.239);
    cofi_svg_rectangle(&p.out, 1, 2.5, (double)NAN, 1e300 * 1e300, 4);
    assert_text(&p, "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1.24\"/>"
                    "<rect class=\"cof-c1\" x=\"2.5\" y=\"0\" width=\"0\" height=\"4\"/>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares),
                                       cmocka_unit_test(counts_and_amounts),
                                       cmocka_unit_test(names),
                                       cmocka_unit_test(cells),
                                       cmocka_unit_test(characters_that_a_format_lacks),
                                       cmocka_unit_test(drawings_have_finite_numbers_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
