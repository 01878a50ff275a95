/* Drawings of order trees: exact text, DOT and JSON for small trees, and what hostile names do to each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "alloc_helper.h"
#include "../../src/model/model.h"
#include "../../src/core/text_out.h"
#include "../../src/core/utf8.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Models and sinks -------------------------------------------------------------------------------- */

/* A model of one attribute: values with their counts in two clusters, and edges. */
typedef struct sketch {
    const char *name;
    const char *const *values;
    const uint64_t (*counts)[2];
    uint32_t n_values;
    const cof_edge *edges;
    uint32_t n_edges;
} sketch;

static cof_status fill_model(cof_model *m, const sketch *s)
{
    cofi_column column = {
        .name = (char *)(uintptr_t)s->name, .missing_text = (char[]){""}, .n_values = s->n_values};
    size_t n_text = 0, at = 0;
    for (uint32_t v = 0; v < s->n_values; v++) n_text += strlen(s->values[v]) + 1;
    column.offset = cofi_blocks_add(&m->own, s->n_values, sizeof *column.offset);
    column.text = cofi_blocks_add(&m->own, n_text, 1);
    for (uint32_t v = 0; v < s->n_values && !m->own.short_of_memory; v++) {
        column.offset[v] = at;
        at += strlen(strcpy(column.text + at, s->values[v])) + 1;
    }
    cofi_model_set_shape(m, 2, 1, s->n_values);
    if (m->own.short_of_memory) return COF_ERR_MEMORY;
    cofi_model_attr *a = &m->attr[0];
    cofi_domain_copy(&m->own, &column, &a->domain);
    a->n_values = s->n_values;
    a->n_edges = s->n_edges;
    a->used = s->n_edges > 0;
    cofi_model_set_tree(m, a);
    if (m->own.short_of_memory) return COF_ERR_MEMORY;
    for (uint32_t v = 0; v < s->n_values; v++) {
        for (uint32_t j = 0; j < 2; j++) {
            m->count[2 * v + j] = s->counts[v][j];
            m->size[j] += (double)s->counts[v][j];
        }
    }
    if (s->n_edges > 0) memcpy(a->edge, s->edges, s->n_edges * sizeof *a->edge);
    assert_true(cofi_model_root_tree(a));
    return COF_OK;
}

static cof_model *make_model(const cof_env *lent, const sketch *s)
{
    cof_env env = cofi_env_resolve(lent);
    cof_model *m = NULL;
    if (cofi_model_new(&env, &m, NULL) != COF_OK) return NULL;
    if (fill_model(m, s) == COF_OK) return m;
    cof_model_free(m);
    return NULL;
}

typedef struct page {
    char *text;
    size_t n, capacity;
} page;

static int append(void *ctx, const char *text, size_t n_bytes)
{
    page *p = ctx;
    if (p->n + n_bytes + 1 > p->capacity) {
        p->capacity = 2 * (p->n + n_bytes + 1);
        p->text = realloc(p->text, p->capacity);
    }
    memcpy(p->text + p->n, text, n_bytes);
    p->n += n_bytes;
    p->text[p->n] = '\0';
    return 0;
}

/* The drawing as a text to be freed. */
static char *draw(const sketch *s, cof_drawing drawing)
{
    cof_model *m = make_model(NULL, s);
    page p = {0};
    cof_error err;
    if (cof_model_draw_tree(m, 0, drawing, append, &p, &err) != COF_OK) fail_msg("%s", err.text);
    cof_model_free(m);
    return p.text;
}

static void assert_drawing(const sketch *s, cof_drawing drawing, const char *wanted)
{
    char *text = draw(s, drawing);
    assert_string_equal(text, wanted);
    free(text);
}

static size_t occurrences(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text++) n++;
    return n;
}

/* Every tag that opens closes, in order, and "<" and "&" appear in no other role. */
static void assert_well_formed(const char *xml)
{
    const char *open[32];
    size_t depth = 0;
    for (const char *at = xml; (at = strpbrk(at, "<&")) != NULL; at++) {
        if (*at == '&') {
            assert_true(at[1] == '#' && at[2 + strspn(at + 2, "0123456789")] == ';');
            continue;
        }
        const char *end = strchr(at, '>');
        assert_non_null(end);
        assert_null(memchr(at + 1, '<', (size_t)(end - at - 1)));
        if (at[1] == '/') {
            assert_true(depth > 0);
            size_t n = (size_t)(end - at - 2);
            assert_memory_equal(open[--depth] + 1, at + 2, n);
            assert_non_null(strchr(" >", open[depth][1 + n]));
        } else if (end[-1] != '/') {
            assert_true(depth < COUNT(open));
            open[depth++] = at;
        }
        at = end;
    }
    assert_int_equal(depth, 0);
}

static const char *const sizes[] = {"large", "medium", "small"};
static const uint64_t size_counts[][2] = {{1, 4}, {2, 1}, {2, 0}};
static const cof_edge size_edges[] = {{2, 1, 0.25}, {1, 0, 1.0 / 3}};
static const sketch three = {"size", sizes, size_counts, 3, size_edges, 2};

/* ---- Text -------------------------------------------------------------------------------------------- */

static void text_of_two_values(void **state)
{
    (void)state;
    const cof_edge edge = {0, 1, 1.2345};
    const sketch two = {"size", sizes, size_counts, 2, &edge, 1};
    assert_drawing(&two, COF_DRAW_TEXT,
                   "size: 2 values\n"
                   "length    share  value\n"
                   "         62.5 %  large\n"
                   " 1.234   37.5 %  └─ medium\n");
}

/* Rooted in the middle, children by length. */
static void text_of_three_values(void **state)
{
    (void)state;
    assert_drawing(&three, COF_DRAW_TEXT,
                   "size: 3 values\n"
                   "length    share  value\n"
                   "         30.0 %  medium\n"
                   " 0.250   20.0 %  ├─ small\n"
                   " 0.333   50.0 %  └─ large\n");
}

static void text_of_a_branching_tree(void **state)
{
    (void)state;
    const char *const values[] = {"a", "b", "c", "d", "e", "f", "g"};
    const uint64_t counts[7][2] = {{1, 0}, {4995, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {0, 0}};
    const cof_edge edges[] = {{0, 1, 0.5}, {1, 2, 0}, {2, 3, 0.125}, {1, 4, 0.5}, {2, 5, 0.125}};
    const sketch s = {"letter", values, counts, 7, edges, 5};
    assert_drawing(&s, COF_DRAW_TEXT,
                   "letter: 7 values\n"
                   "length    share  value\n"
                   "         99.9 %  b\n"
                   " 0.000   <0.1 %  ├─ c\n"
                   " 0.125   <0.1 %  │  ├─ d\n"
                   " 0.125   <0.1 %  │  └─ f\n"
                   " 0.500   <0.1 %  ├─ a\n"
                   " 0.500   <0.1 %  └─ e\n"
                   "          0.0 %  g\n");
}

static void text_of_a_constant_attribute(void **state)
{
    (void)state;
    const uint64_t counts[][2] = {{3, 1}};
    const sketch s = {"size", sizes, counts, 1, NULL, 0};
    assert_drawing(&s, COF_DRAW_TEXT, "size: 1 value, constant, takes no part in the distances\nlarge\n");
}

/* A path, which is as deep as a tree can be: half its values are below the middle on each side. */
static char *draw_chain(uint32_t n, cof_drawing drawing)
{
    const char **values = malloc(n * sizeof *values);
    uint64_t(*counts)[2] = calloc(n, sizeof *counts);
    cof_edge *edges = malloc(n * sizeof *edges);
    for (uint32_t v = 0; v < n; v++) {
        values[v] = v % 2 ? "odd" : "even";
        counts[v][0] = 1 + v % 7;
        edges[v] = (cof_edge){v, v + 1, 0.01 * (v % 5)};
    }
    const sketch s = {"chain", values, (const uint64_t(*)[2])counts, n, edges, n - 1};
    char *text = draw(&s, drawing);
    free(values);
    free(counts);
    free(edges);
    return text;
}

static void text_of_deep_trees_stays_narrow(void **state)
{
    (void)state;
    for (uint32_t n = 10; n <= 1000; n *= 10) {
        char *text = draw_chain(n, COF_DRAW_TEXT);
        assert_int_equal(occurrences(text, "\n"), n + 2);
        for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"))
            assert_true(cofi_utf8_columns(line) <= 100);
        free(text);
    }
    char *text = draw_chain(1000, COF_DRAW_TEXT);
    assert_non_null(strstr(text, "[level 499]"));
    free(text);
}

static void text_of_awkward_names(void **state)
{
    (void)state;
    const char *const values[] = {"",
                                  "tab\there",
                                  "\x1B[31mred",
                                  "1234567890123456789012345678901234567890",
                                  "12345678901234567890123456789012345678901",
                                  "\xE2\x80\xAEoverride"};
    uint64_t counts[6][2] = {{1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}};
    const cof_edge edges[] = {{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {0, 4, 1}, {0, 5, 1}};
    const sketch s = {"new\nline", values, (const uint64_t(*)[2])counts, 6, edges, 5};
    assert_drawing(&s, COF_DRAW_TEXT,
                   "new\\nline: 6 values\n"
                   "length    share  value\n"
                   "         16.7 %  (empty)\n"
                   " 1.000   16.7 %  ├─ tab\\there\n"
                   " 1.000   16.7 %  ├─ \\x1b[31mred\n"
                   " 1.000   16.7 %  ├─ 1234567890123456789012345678901234567890\n"
                   " 1.000   16.7 %  ├─ 123456789012345678901234567890123456789…\n"
                   " 1.000   16.7 %  └─ \\u202eoverride\n");
}

static void names_are_cut_between_characters(void **state)
{
    (void)state;
    char to[COFI_SHOWN_BYTES];
    assert_string_equal(cofi_shown(to, "日本語", 6), "日本語");
    assert_string_equal(cofi_shown(to, "日本語", 5), "日本…");
    assert_string_equal(cofi_shown(to, "日本語", 4), "日…");
    assert_string_equal(cofi_shown(to, "e\xCC\x81te\xCC\x81", 3), "e\xCC\x81te\xCC\x81");
    assert_string_equal(cofi_shown(to, "\xFF\xC3", 8), "\\xff\\xc3");
    assert_string_equal(cofi_shown(to, "a\x7F", 5), "a\\x7f");
    char marks[2 * 300 + 2] = "a"; /* marks take no columns, but bytes */
    for (int i = 0; i < 300; i++) memcpy(marks + 1 + 2 * i, "\xCC\x81", 3);
    assert_true(strlen(cofi_shown(to, marks, 5)) < COFI_SHOWN_BYTES);
}

/* ---- JSON and DOT ------------------------------------------------------------------------------------ */

static void json_of_three_values(void **state)
{
    (void)state;
    assert_drawing(
        &three, COF_DRAW_JSON,
        "{\"attribute\": \"size\", \"values\": [{\"id\": 0, \"text\": \"large\", \"count\": 5}, "
        "{\"id\": 1, \"text\": \"medium\", \"count\": 3}, {\"id\": 2, \"text\": \"small\", \"count\": 2}], "
        "\"edges\": [{\"u\": 2, \"v\": 1, \"length\": 0.25}, "
        "{\"u\": 1, \"v\": 0, \"length\": 0.3333333333333333}]}\n");
}

static void dot_of_three_values(void **state)
{
    (void)state;
    assert_drawing(&three, COF_DRAW_DOT,
                   "graph order_tree {\n  layout=neato;\n  overlap=false;\n  label=\"size\";\n"
                   "  node [shape=ellipse, fontname=\"sans-serif\"];\n"
                   "  edge [fontname=\"sans-serif\", fontsize=9];\n"
                   "  v0 [label=\"large\", tooltip=\"5 rows\"];\n"
                   "  v1 [label=\"medium\", tooltip=\"3 rows\"];\n"
                   "  v2 [label=\"small\", tooltip=\"2 rows\"];\n"
                   "  v2 -- v1 [len=0.25, label=\"0.250\"];\n"
                   "  v1 -- v0 [len=0.3333333333333333, label=\"0.333\"];\n}\n");
}

static const char *const hostile[] = {"<script>alert(1)</script>", "\"]; evil [\\", "new\nline & \x01\x7F",
                                      "\xD7\x90\xE2\x80\xAE\xE2\x80\xA8", "\xFF]]>"};
static const uint64_t hostile_counts[][2] = {{1, 0}, {1, 0}, {0, 1}, {1, 1}, {1, 0}};
static const cof_edge hostile_edges[] = {{0, 1, 0.5}, {0, 2, 0}, {0, 3, 1}, {0, 4, 1}};
static const sketch hostiles = {"a\"<&>'\\", hostile, hostile_counts, 5, hostile_edges, 4};

static void json_of_hostile_names(void **state)
{
    (void)state;
    char *text = draw(&hostiles, COF_DRAW_JSON);
    assert_non_null(strstr(text, "{\"attribute\": \"a\\\"<&>'\\\\\","));
    assert_non_null(strstr(text, "\"text\": \"<script>alert(1)</script>\""));
    assert_non_null(strstr(text, "\"text\": \"\\\"]; evil [\\\\\""));
    assert_non_null(strstr(text, "\"text\": \"new\\nline & \\u0001\\u007f\""));
    assert_non_null(strstr(text, "\"text\": \"\xD7\x90\xE2\x80\xAE\\u2028\""));
    assert_non_null(strstr(text, "\"text\": \"\\ufffd]]>\""));
    free(text);
}

static void dot_of_hostile_names(void **state)
{
    (void)state;
    char *text = draw(&hostiles, COF_DRAW_DOT);
    assert_non_null(strstr(text, "label=\"a\\\"<&amp;>'\\\\\";"));
    assert_non_null(strstr(text, "v0 [label=\"<script>alert(1)</script>\","));
    assert_non_null(strstr(text, "v1 [label=\"\\\"]; evil [\\\\\","));
    assert_non_null(strstr(text, "v2 [label=\"new\\\\nline &amp; \\\\x01\\\\x7f\","));
    assert_non_null(strstr(text, "v3 [label=\"\xD7\x90\\\\u202e\\\\u2028\","));
    assert_non_null(strstr(text, "v0 -- v2 [len=0.01, label=\"0.000\"];"));
    free(text);
}

/* ---- SVG --------------------------------------------------------------------------------------------- */

static void svg_of_three_values(void **state)
{
    (void)state;
    char *text = draw(&three, COF_DRAW_SVG);
    assert_well_formed(text);
    assert_int_equal(occurrences(text, "<circle"), 3);
    assert_int_equal(occurrences(text, "<g>"), 3);
    assert_non_null(
        strstr(text, "<title>medium: 3 rows, 30.0 %&#10;cluster 1: 66.7 %&#10;cluster 2: 33.3 %"));
    assert_non_null(strstr(text, "0.250 from medium"));
    assert_non_null(strstr(text, ">length 0.1</text>"));
    assert_null(strstr(text, "<line class=\"cof-dash\""));
    assert_non_null(strstr(text, "prefers-color-scheme: dark"));
    /* to scale: the longest path fills the width, the other edge is shorter in proportion */
    assert_non_null(strstr(text, "cx=\"212\""));
    assert_non_null(strstr(text, "cx=\"647\""));
    assert_non_null(strstr(text, "cx=\"538.25\""));
    free(text);
}

static void svg_of_hostile_names(void **state)
{
    (void)state;
    char *text = draw(&hostiles, COF_DRAW_SVG);
    assert_well_formed(text);
    assert_null(strstr(text, "<script"));
    assert_non_null(strstr(text, "&#60;script&#62;alert(1)&#60;/script&#62;"));
    assert_non_null(strstr(text, "new\\nline &#38; \\x01\\x7f"));
    assert_non_null(strstr(text, "aria-label=\"Order tree of a&#34;&#60;&#38;&#62;&#39;\\, 5 values: "));
    assert_null(strchr(text, '\x01'));
    assert_null(strstr(text, "\xE2\x80\xAE"));
    assert_int_equal(occurrences(text, "<line class=\"cof-dash\""), 2); /* the edge, and the footer */
    assert_non_null(strstr(text, "too short for scale"));
    free(text);
}

static void svg_of_lengths_that_are_all_zero(void **state)
{
    (void)state;
    const cof_edge edges[] = {{0, 1, 0}, {1, 2, 0}};
    const sketch s = {"size", sizes, size_counts, 3, edges, 2};
    char *text = draw(&s, COF_DRAW_SVG);
    assert_well_formed(text);
    assert_int_equal(occurrences(text, "<line class=\"cof-dash\""), 3);
    assert_non_null(strstr(text, ">length 0</text>"));
    assert_null(strstr(text, "nan"));
    free(text);
}

static void svg_of_a_constant_attribute(void **state)
{
    (void)state;
    const uint64_t counts[][2] = {{3, 1}};
    const sketch s = {"size", sizes, counts, 1, NULL, 0};
    char *text = draw(&s, COF_DRAW_SVG);
    assert_well_formed(text);
    assert_non_null(strstr(text, "1 value, constant"));
    free(text);
}

static void svg_leaves_rare_values_out(void **state)
{
    (void)state;
    char *text = draw_chain(500, COF_DRAW_SVG);
    assert_well_formed(text);
    assert_int_equal(occurrences(text, "<circle"), 200);
    assert_non_null(strstr(text, "500 values, the 200 most frequent drawn"));
    assert_non_null(strstr(text, "300 rarer values are left out"));
    free(text);
}

/* ---- Calls ------------------------------------------------------------------------------------------- */

static void numbers_ignore_the_locale(void **state)
{
    (void)state;
    const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    const char *found = NULL;
    for (size_t i = 0; i < COUNT(with_comma) && found == NULL; i++)
        found = setlocale(LC_NUMERIC, with_comma[i]);
    if (found == NULL) print_message("no locale with a decimal comma here; checked without one\n");
    json_of_three_values(state);
    text_of_three_values(state);
    setlocale(LC_NUMERIC, "C");
}

static int refuse(void *ctx, const char *text, size_t n_bytes)
{
    (void)text;
    (void)n_bytes;
    return ++*(int *)ctx >= 1;
}

static void refusing_sink(void **state)
{
    (void)state;
    cof_model *m = make_model(NULL, &three);
    cof_error err;
    for (int32_t drawing = COF_DRAW_TEXT; drawing <= COF_DRAW_JSON; drawing++) {
        int n_calls = 0;
        assert_int_equal(cof_model_draw_tree(m, 0, drawing, refuse, &n_calls, &err), COF_ERR_IO);
        assert_int_equal(n_calls, 1); /* not asked again after it said no */
    }
    cof_model_free(m);
}

static void wrong_calls(void **state)
{
    (void)state;
    cof_model *m = make_model(NULL, &three);
    page p = {0};
    cof_error err;
    assert_int_equal(cof_model_draw_tree(m, 1, COF_DRAW_TEXT, append, &p, &err), COF_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "no attribute 1"));
    assert_int_equal(cof_model_draw_tree(m, 0, 4, append, &p, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_model_draw_tree(m, 0, -1, append, &p, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_model_draw_tree(m, 0, COF_DRAW_TEXT, NULL, NULL, NULL), COF_ERR_ARGUMENT);
    assert_int_equal(cof_model_draw_tree(NULL, 0, COF_DRAW_TEXT, append, &p, NULL), COF_ERR_ARGUMENT);
    assert_int_equal(p.n, 0);
    cof_model_free(m);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int32_t drawing = COF_DRAW_TEXT; drawing <= COF_DRAW_JSON; drawing++) {
        cof_status status = COF_ERR_MEMORY;
        for (size_t n = 0; status != COF_OK; n++) {
            alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
            cof_env env = alloc_env(&meter);
            page p = {0};
            cof_model *m = make_model(&env, &hostiles);
            meter.fail_at = meter.count + n;
            status = cof_model_draw_tree(m, 0, drawing, append, &p, NULL);
            assert_true(status == COF_OK || (status == COF_ERR_MEMORY && p.n == 0));
            cof_model_free(m);
            assert_int_equal(meter.live, 0);
            free(p.text);
        }
    }
}

/* All attributes of a fitted model, in all formats. */
static void drawings_of_a_fit(void **state)
{
    (void)state;
    cof_table *table;
    cof_model *model;
    cof_error err;
    cof_fit_options options = {.struct_size = sizeof options, .k = 7, .restarts = 1, .threads = 1};
    if (cof_table_demo(NULL, &table, &err) != COF_OK) fail_msg("%s", err.text);
    if (cof_fit(table, &options, &model, NULL, &err) != COF_OK) fail_msg("%s", err.text);
    for (size_t r = 0; r < cof_model_n_attributes(model); r++) {
        for (int32_t drawing = COF_DRAW_TEXT; drawing <= COF_DRAW_JSON; drawing++) {
            page p = {0};
            assert_int_equal(cof_model_draw_tree(model, r, drawing, append, &p, &err), COF_OK);
            if (drawing == COF_DRAW_SVG) assert_well_formed(p.text);
            cof_attribute view = {.struct_size = sizeof view};
            cof_model_attribute(model, r, &view);
            if (drawing == COF_DRAW_TEXT)
                assert_int_equal(occurrences(p.text, "\n"), view.n_values + 1 + view.used);
            free(p.text);
        }
    }
    cof_model_free(model);
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_two_values),
        cmocka_unit_test(text_of_three_values),
        cmocka_unit_test(text_of_a_branching_tree),
        cmocka_unit_test(text_of_a_constant_attribute),
        cmocka_unit_test(text_of_deep_trees_stays_narrow),
        cmocka_unit_test(text_of_awkward_names),
        cmocka_unit_test(names_are_cut_between_characters),
        cmocka_unit_test(json_of_three_values),
        cmocka_unit_test(dot_of_three_values),
        cmocka_unit_test(json_of_hostile_names),
        cmocka_unit_test(dot_of_hostile_names),
        cmocka_unit_test(svg_of_three_values),
        cmocka_unit_test(svg_of_hostile_names),
        cmocka_unit_test(svg_of_lengths_that_are_all_zero),
        cmocka_unit_test(svg_of_a_constant_attribute),
        cmocka_unit_test(svg_leaves_rare_values_out),
        cmocka_unit_test(numbers_ignore_the_locale),
        cmocka_unit_test(refusing_sink),
        cmocka_unit_test(wrong_calls),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(drawings_of_a_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
