/* Numbers as text, in a locale with a comma too. */
#include "unit_helper.h"

#include "../../src/table/reading.h"

#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct reading {
    const char *text;
    double x; /* NAN: not a number */
} reading;

static void reads_numbers(void **state)
{
    (void)state;
    static const reading cases[] = {{"0.25", 0.25},   {"-1.5e3", -1500},   {"7", 7},       {".5", 0.5},
                                    {"5.", 5},        {"1e400", INFINITY}, {"+2", 2},      {"0,25", NAN},
                                    {"1.000,5", NAN}, {"1,000.5", NAN},    {"", NAN},      {".", NAN},
                                    {"1.5x", NAN},    {"1.5 ", NAN},       {"1.2.3", NAN}, {"e5", NAN}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        double x = 0;
        bool is_number = cofi_number_parse(cases[i].text, strlen(cases[i].text), &x);
        if (is_number != !isnan(cases[i].x) || (is_number && x != cases[i].x)) fail_msg("%s", cases[i].text);
    }
}

/* A number of 400 characters or more was infinite. */
static void reads_numbers_of_any_length(void **state)
{
    enum { N = 2000 };
    static char text[N + 32];
    (void)state;
    for (size_t n = 390; n <= N; n += 161) {
        double x = 0;
        memset(text, '0', n);
        memcpy(text, "-0.1", 4);
        text[n - 1] = '7';
        assert_true(cofi_number_parse(text, n, &x) && x == -0.1);
        memcpy(text, "12", 2);
        memset(text + 2, '5', n - 2);
        memcpy(text + n, "e-", 3);
        snprintf(text + n, 32, "e-%zu", n - 1); /* 1.2555... */
        assert_true(cofi_number_parse(text, strlen(text), &x) && fabs(x - (1.2 + 0.5 / 9)) < 1e-15);
    }
    /* half way between two doubles, and a little more at the end */
    memset(text, '0', N);
    memcpy(text, "9007199254740993.", 17);
    double x = 0;
    assert_true(cofi_number_parse(text, N, &x) && x == 9007199254740992.0);
    text[N - 1] = '1';
    assert_true(cofi_number_parse(text, N, &x) && x == 9007199254740994.0);
}

static int gather(void *ctx, const char *text, size_t n_bytes)
{
    char *all = ctx;
    size_t n = strlen(all), room = (1 << 20) - n - 1;
    memcpy(all + n, text, n_bytes < room ? n_bytes : room);
    return 0;
}

/* Weights of 0.25 were refused in a comma locale, and one sentence of the report read 0,720. */
static void a_fit_with_weights_and_its_report(void **state)
{
    (void)state;
    static const char *const weights[] = {"0.25", "0.5", "1.75"};
    const char *cells[3 * 60];
    static const char *const names[] = {"a", "b", "w"};
    for (size_t i = 0; i < 60; i++) {
        cells[i] = i % 3 == 0 ? "x" : "y";
        cells[60 + i] = i % 2 == 0 ? "p" : i % 5 == 0 ? "q" : "r";
        cells[120 + i] = weights[i % 3];
    }
    cof_table *t;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, 60, 3, names, &t, &err), COF_OK, &err);
    assert_status(cof_table_set_role(t, 2, COF_ROLE_WEIGHT, &err), COF_OK, &err);
    cof_fit_options o = {.struct_size = sizeof o, .k = 3, .restarts = 5, .init = COF_INIT_RANDOM};
    cof_model *m = NULL;
    assert_status(cof_fit(t, &o, &m, NULL, &err), COF_OK, &err);
    char *page = get_zero(1 << 20, 1);
    assert_status(cof_report_write(m, t, NULL, gather, page, &err), COF_OK, &err);
    const char *sentence = strstr(page, "agree with the kept one to <strong>");
    assert_non_null(sentence);
    assert_memory_equal(strchr(sentence, '>') + 2, ".", 1);
    free(page);
    cof_model_free(m);
    cof_table_free(t);
}

/* One that the host has, or one made for the occasion. */
static bool enter_comma_locale(void)
{
    static const char *const known[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    for (size_t i = 0; i < COUNT(known); i++)
        if (setlocale(LC_ALL, known[i]) != NULL) return true;
    char folder[] = "/tmp/coforest-locale-XXXXXX", command[200];
    if (mkdtemp(folder) == NULL) return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    bool made =
        system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 && made;
}

static void the_same_with_a_comma(void **state)
{
    char shown[16];
    if (!enter_comma_locale()) skip();
    snprintf(shown, sizeof shown, "%.1f", 0.5);
    assert_string_equal(shown, "0,5");
    reads_numbers(state);
    a_fit_with_weights_and_its_report(state);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_numbers),
        cmocka_unit_test(reads_numbers_of_any_length),
        cmocka_unit_test(a_fit_with_weights_and_its_report),
        cmocka_unit_test(the_same_with_a_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
