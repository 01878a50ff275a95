/* The report: complete, inert whatever the names are, small whatever the table is, honest about failing. */
#include "unit_helper.h"

#include "alloc_helper.h"

#include <math.h>

typedef struct text_end {
    char *text;
    size_t n, capacity;
    size_t refuse_at; /* bytes; 0: never */
} text_end;

static int gather(void *ctx, const char *text, size_t n_bytes)
{
    text_end *to = ctx;
    if (to->refuse_at > 0 && to->n + n_bytes > to->refuse_at) return 1;
    if (to->n + n_bytes + 1 > to->capacity) {
        to->capacity = 2 * (to->n + n_bytes + 1);
        to->text = realloc(to->text, to->capacity);
        assert_non_null(to->text);
    }
    memcpy(to->text + to->n, text, n_bytes);
    to->text[to->n += n_bytes] = '\0';
    return 0;
}

static size_t occurrences(const char *text, const char *wanted)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at++) n++;
    return n;
}

static char *report_of(const cof_model *model, const cof_table *table, const cof_report_options *o)
{
    text_end to = {0};
    cof_error err;
    assert_status(cof_report_write(model, table, o, gather, &to, &err), COF_OK, &err);
    return to.text;
}

static cof_table *zoo(void)
{
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_demo(NULL, &table, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, cof_table_find(table, "animal"), COF_ROLE_IDENTIFIER, &err),
                  COF_OK, &err);
    assert_status(cof_table_set_role(table, cof_table_find(table, "class"), COF_ROLE_LABEL, &err), COF_OK,
                  &err);
    return table;
}

static void has_every_section(void **state)
{
    static const char *const ids[] = {"table",      "clusters", "marks", "profile",     "trees",
                                      "importance", "map",      "rows",  "convergence", "scores"};
    cof_table *table = zoo();
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 7, .restarts = 4, .seed = 1};
    cof_model *model = fit_model(table, &fit, NULL);
    cof_report_options o = {.struct_size = sizeof o, .source = "zoo.csv"};
    char *text = report_of(model, table, &o), id[40];
    const char *at = text;
    (void)state;
    for (size_t i = 0; i < COUNT(ids); i++) {
        snprintf(id, sizeof id, "<h2 id=\"%s\">", ids[i]);
        at = strstr(at, id); /* in this order */
        if (at == NULL) fail_msg("no section %s after the one before", ids[i]);
    }
    assert_non_null(strstr(text, "<title>7 clusters of zoo.csv</title>"));
    assert_non_null(strstr(text, "aardvark"));
    assert_int_equal(occurrences(text, "<svg"), occurrences(text, "</svg>"));
    assert_int_equal(occurrences(text, "<details"), occurrences(text, "</details>"));
    assert_int_equal(occurrences(text, "<table"), occurrences(text, "</table>"));
    assert_int_equal(occurrences(text, "<section"), occurrences(text, "</section>"));
    assert_int_equal(occurrences(text, "style=\""), 0); /* the policy would forbid it */
    assert_int_equal(occurrences(text, "http"), occurrences(text, "http://www.w3.org/2000/svg") + 1);
    free(text);
    cof_model_free(model);
    cof_table_free(table);
}

static void without_a_table_there_are_no_rows(void **state)
{
    cof_table *table = zoo();
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 2, .restarts = 1};
    cof_model *model = fit_model(table, &fit, NULL);
    char *text = report_of(model, NULL, NULL);
    (void)state;
    assert_null(strstr(text, "id=\"map\""));
    assert_null(strstr(text, "id=\"rows\""));
    assert_non_null(strstr(text, "id=\"trees\""));
    free(text);
    cof_model_free(model);
    cof_table_free(table);
}

static void names_stay_names(void **state)
{
    static const char *const name[] = {"<script>alert(1)</script>", "\"'><img src=x>"};
    static const char *const cell[] = {"<b>a</b>", "<b>a</b>", "&amp;",        "&amp;", "</bdi></title>",
                                       "x",        "x",        "\xE2\x80\xAE", "z",     "' onclick='"};
    cof_table *table = NULL;
    cof_error err;
    (void)state;
    assert_status(cof_table_from_strings(NULL, cell, 5, 2, name, &table, &err), COF_OK, &err);
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 2, .restarts = 1};
    cof_model *model = fit_model(table, &fit, NULL);
    const char *note = "<i>note</i>";
    cof_report_fact fact = {"<u>", "</u>"};
    cof_report_options o = {.struct_size = sizeof o,
                            .source = "</title><script>",
                            .notes = &note,
                            .n_notes = 1,
                            .facts = &fact,
                            .n_facts = 1};
    char *text = report_of(model, table, &o);
    assert_int_equal(occurrences(text, "<script"), 1);
    assert_int_equal(occurrences(text, "<img"), 0);
    assert_int_equal(occurrences(text, "<b>a"), 0);
    assert_int_equal(occurrences(text, "<i>note"), 0);
    assert_int_equal(occurrences(text, "<u>"), 0);
    assert_int_equal(occurrences(text, "\xE2\x80\xAE"), 0); /* would turn the line around */
    free(text);
    cof_model_free(model);
    cof_table_free(table);
}

/* 200 columns, 50 clusters, a column of 100 values. */
static void large_tables_give_small_pages(void **state)
{
    enum { ROWS = 2000, COLUMNS = 200 };
    cofi_rng rng = dice(3);
    int32_t *codes = random_codes(&rng, ROWS, COLUMNS, 8, 50);
    (void)state;
    for (size_t i = 0; i < ROWS; i++) codes[i * COLUMNS] = (int32_t)(i % 100);
    cof_table *table = table_of(codes, ROWS, COLUMNS);
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 50, .restarts = 1, .max_rebuilds = 3};
    cof_model *model = fit_model(table, &fit, NULL);
    cof_report_options o = {.struct_size = sizeof o, .most_points = 300};
    char *text = report_of(model, table, &o);
    assert_true(strlen(text) > 500000 && strlen(text) < 5000000);
    assert_int_equal(occurrences(text, "<circle") > 300, true);
    free(text);
    free(codes);
    cof_model_free(model);
    cof_table_free(table);
}

/* 40 classes are more than the page shows; labels from outside leave a cluster without rows. */
static void many_classes(void **state)
{
    enum { ROWS = 400 };
    static int32_t codes[3 * ROWS], labels[ROWS];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        codes[3 * i] = (int32_t)(i % 3);
        codes[3 * i + 1] = (int32_t)(i / 3 % 4);
        codes[3 * i + 2] = (int32_t)(i % 80);
        labels[i] = (int32_t)(i % 2);
    }
    cof_table *table = table_of(codes, ROWS, 3);
    cof_error err;
    assert_status(cof_table_set_role(table, 2, COF_ROLE_LABEL, &err), COF_OK, &err);
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 3, .restarts = 1};
    cof_model *model = fit_model(table, &fit, NULL);
    cof_report_options o = {.struct_size = sizeof o, .labels = labels, .n_labels = ROWS, .most_points = 5};
    char *text = report_of(model, table, &o);
    assert_non_null(strstr(text, ">20 others"));
    free(text);
    cof_model_free(model);
    cof_table_free(table);
}

static void edges(void **state)
{
    static const int32_t codes[] = {0, 0, 1, 0, 0, 1, -1, 1};
    cof_table *table = table_of(codes, 4, 2), *other = NULL;
    cof_error err;
    text_end to = {.refuse_at = 5000};
    int32_t labels[] = {0, 0, -1, 0};
    (void)state;
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 1, .missing = COF_MISSING_DROP};
    cof_model *model = fit_model(table, &fit, NULL);
    cof_report_options o = {.struct_size = sizeof o, .labels = labels, .n_labels = 4};
    char *text = report_of(model, table, &o);
    assert_non_null(strstr(text, "1 cluster<"));
    free(text);
    assert_status(cof_report_write(model, table, &o, gather, &to, &err), COF_ERR_IO, &err);
    labels[3] = 1; /* one more than there are clusters */
    assert_status(cof_report_write(model, table, &o, gather, &to, &err), COF_ERR_ARGUMENT, &err);
    assert_string_equal(err.text, "row 3 has label 1, but the model's clusters are 0 to 0");
    o.n_labels = 3;
    assert_status(cof_report_write(model, table, &o, gather, &to, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_report_write(NULL, table, &o, gather, &to, &err), COF_ERR_ARGUMENT, &err);
    cof_map *map = NULL;
    assert_status(cof_embed(NULL, table, NULL, &map, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_embed(model, NULL, NULL, &map, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_map_draw(NULL, model, table, labels, gather, &to, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_report_write(model, table, &o, NULL, &to, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_table_from_codes(NULL, codes, 4, 1, NULL, &other, &err), COF_OK, &err);
    assert_status(cof_report_write(model, other, NULL, gather, &to, &err), COF_ERR_DATA, &err);
    free(to.text);
    cof_table_free(other);
    cof_model_free(model);
    cof_table_free(table);
}

/* Labels and map may come from a table the model was not fitted to. */
static void of_a_loaded_model(void **state)
{
    static const int32_t codes[] = {0, 0, 1, 0, 0, 1, 1, 1, 2, 2, 2, 2}, fresh[] = {5, 0, 1, 2, -1, 0};
    cof_table *table = table_of(codes, 6, 2), *later = table_of(fresh, 3, 2);
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 2, .restarts = 2};
    cof_model *model = fit_model(table, &fit, NULL);
    (void)state;
    char *text = report_of(model, later, NULL);
    assert_non_null(strstr(text, "id=\"map\""));
    free(text);
    cof_model_free(model);
    cof_table_free(table);
    cof_table_free(later);
}

/* Only the numbers tell the two groups apart: next to a point of the map lies a row of its own group. */
static void the_map_uses_numbers(void **state)
{
    enum { ROWS = 80 };
    char text[ROWS][16];
    const char *cells[2 * ROWS];
    cof_table *table;
    cof_map *map;
    cof_error err;
    size_t n, n_own = 0;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        cells[i] = i / 2 % 2 == 0 ? "a" : "b";
        snprintf(text[i], sizeof text[i], "%.3f", i % 2 == 0 ? 0.01 * (double)i : 50 + 0.01 * (double)i);
        cells[ROWS + i] = i == 7 ? NULL : text[i];
    }
    assert_status(cof_table_from_strings(NULL, cells, ROWS, 2, NULL, &table, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, 1, COF_ROLE_NUMERIC, &err), COF_OK, &err);
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 2, .method = "k-prototypes"};
    cof_model *model = fit_model(table, &fit, NULL);
    assert_status(cof_embed(model, table, NULL, &map, &err), COF_OK, &err);
    const cof_map_point *p = cof_map_points(map, &n);
    assert_int_equal(n, ROWS);
    for (size_t i = 0; i < n; i++) {
        size_t nearest = i == 0;
        for (size_t j = 0; j < n; j++)
            if (j != i &&
                hypot(p[i].x - p[j].x, p[i].y - p[j].y) < hypot(p[i].x - p[nearest].x, p[i].y - p[nearest].y))
                nearest = j;
        n_own += p[i].row % 2 == p[nearest].row % 2;
    }
    assert_true(n_own >= ROWS - 4);
    cof_map_free(map);
    cof_model_free(model);
    cof_table_free(table);
}

/* Methods without trees, and one that keeps nothing to measure rows with, leave their sections out. */
static void of_other_methods(void **state)
{
    static const struct {
        const char *method;
        bool trees, rows;
    } known[] = {{"coforest", true, true}, {"kmodes", false, true}, {"jdm", false, false}};
    cof_table *table = zoo();
    (void)state;
    for (size_t i = 0; i < COUNT(known); i++) {
        cof_fit_options fit = {.struct_size = sizeof fit, .k = 4, .restarts = 1, .method = known[i].method};
        cof_model *model = fit_model(table, &fit, NULL);
        char *text = report_of(model, table, NULL);
        assert_int_equal(strstr(text, "id=\"trees\"") != NULL, known[i].trees);
        assert_int_equal(strstr(text, "href=\"#trees\"") != NULL, known[i].trees);
        assert_int_equal(strstr(text, "id=\"rows\"") != NULL, known[i].rows);
        assert_int_equal(strstr(text, "href=\"#rows\"") != NULL, known[i].rows);
        assert_non_null(strstr(text, "id=\"map\""));
        free(text);
        cof_model_free(model);
    }
    cof_table_free(table);
}

static cof_status report_with(const cof_env *env, bool numbers, cof_error *err)
{
    static const char *const cell[] = {"a", "b", "c", "a", "b", "c", "x", "x", "y", "y", "x", "y",
                                       "1", "2", "3", "4", "5", "6", "p", "p", "q", "q", "p", "q"};
    cof_table *table = NULL;
    cof_model *model = NULL;
    text_end to = {0};
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 2, .restarts = 2, .threads = 1};
    if (numbers) fit.method = "k-prototypes";
    cof_report_options o = {.struct_size = sizeof o, .threads = 1, .source = "t"};
    cof_status status = cof_table_from_strings(env, cell, 6, 4, NULL, &table, err);
    if (status == COF_OK)
        status = cof_table_set_role(table, 2, numbers ? COF_ROLE_NUMERIC : COF_ROLE_IDENTIFIER, err);
    if (status == COF_OK) status = cof_table_set_role(table, 3, COF_ROLE_LABEL, err);
    if (status == COF_OK) status = cof_fit(table, &fit, &model, NULL, err);
    if (status == COF_OK) status = cof_report_write(model, table, &o, gather, &to, err);
    if (status == COF_OK) assert_non_null(strstr(to.text, "id=\"scores\""));
    free(to.text);
    cof_model_free(model);
    cof_table_free(table);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    cof_error err;
    (void)state;
    for (int numbers = 0; numbers < 2; numbers++) {
        for (size_t n = 0;; n++) {
            alloc_meter meter = {.fail_at = n};
            cof_env env = alloc_env(&meter);
            cof_status status = report_with(&env, numbers == 1, &err);
            assert_int_equal(meter.live, 0);
            if (status == COF_OK) break;
            assert_int_equal(status, COF_ERR_MEMORY);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_every_section), cmocka_unit_test(without_a_table_there_are_no_rows),
        cmocka_unit_test(names_stay_names),  cmocka_unit_test(large_tables_give_small_pages),
        cmocka_unit_test(many_classes),      cmocka_unit_test(edges),
        cmocka_unit_test(of_a_loaded_model), cmocka_unit_test(the_map_uses_numbers),
        cmocka_unit_test(of_other_methods),  cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
