/* Scores, tests, quantiles and texts of any numbers, extreme ones among them: results lie where they must. */
#include "fuzz_helper.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_NUMBERS = 256 };

static bool is_in_unit(double x)
{
    return x >= 0 && x <= 1;
}

static void compare_labels(const uint8_t *data, size_t size)
{
    int32_t a[MOST_NUMBERS], b[MOST_NUMBERS];
    size_t n = size / 2 < MOST_NUMBERS ? size / 2 : MOST_NUMBERS;
    for (size_t i = 0; i < n; i++) {
        a[i] = data[2 * i] == 255 ? INT32_MAX : data[2 * i] == 254 ? INT32_MIN : data[2 * i] % 9 - 1;
        b[i] = data[2 * i + 1] == 255 ? INT32_MAX : data[2 * i + 1] % 9 - 1;
    }
    cof_indices s = {.struct_size = sizeof s};
    cof_status status = cof_evaluate(NULL, a, b, n, &s, NULL);
    if (status != COF_OK || s.n == 0) return;
    require(is_in_unit(s.ca) && is_in_unit(s.nmi) && is_in_unit(s.purity) && is_in_unit(s.v_measure),
            "an index");
    require(s.ari >= -1 && s.ari <= 1 && s.ami <= 1, "an adjusted index");
}

static double take_double(const uint8_t *data)
{
    double x;
    memcpy(&x, data, sizeof x);
    return x;
}

static void rank_methods(const double *value, size_t n)
{
    for (size_t n_methods = 1; n_methods <= 5; n_methods++) {
        double rank[5];
        cof_friedman_result r = {.struct_size = sizeof r};
        cof_status status = cof_friedman(NULL, value, n / n_methods, n_methods, n % 2, rank, &r, NULL);
        for (size_t m = 0; status == COF_OK && m < n_methods; m++)
            require(rank[m] >= 1 && rank[m] <= (double)n_methods, "a rank");
        (void)cof_critical_difference(n / n_methods, n_methods, n > 0 ? value[0] : 0.05);
    }
}

static void show_numbers(const double *value, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[COF_NUMBER_BYTES];
        cof_text_number(text, sizeof text, value[i]);
        require(strlen(text) < sizeof text, "a number without end");
        if (isfinite(value[i])) require(strtod(text, NULL) == value[i], "a number that reads otherwise");
    }
}

static void show_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), shown[64];
    memcpy(text, data, size);
    text[size] = '\0';
    for (unsigned columns = 1; columns < 40; columns += 13) {
        require(cof_text_show(shown, sizeof shown, text, columns) <= columns, "a text that is too wide");
        for (const char *c = shown; *c != '\0'; c++)
            require((unsigned char)*c >= 0x20 && *c != 0x7F, "a control");
    }
    free(text);
}

static void write_json(const uint8_t *data, size_t size, const double *value, size_t n)
{
    static page p;
    cof_json j;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    p.n = 0;
    p.refuse_after = size > 0 && data[0] % 4 == 0 ? data[0] / 4 : -1;
    cof_json_begin(&j, swallow, &p);
    cof_json_open(&j, NULL, '{');
    cof_json_text(&j, "text", text);
    for (size_t i = 0; i < n; i++) cof_json_real(&j, "number", value[i]);
    cof_json_close(&j, '}');
    (void)cof_json_end(&j);
    for (size_t i = 0; i < p.n; i++)
        require((unsigned char)p.text[i] >= 0x20 || p.text[i] == '\n', "a control in JSON");
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double value[MOST_NUMBERS], sorted[MOST_NUMBERS];
    size_t n = size / 8 < MOST_NUMBERS ? size / 8 : MOST_NUMBERS;
    for (size_t i = 0; i < n; i++) value[i] = take_double(data + 8 * i);
    compare_labels(data, size);
    rank_methods(value, n);
    show_numbers(value, n);
    show_text(data, size);
    write_json(data, size, value, n);
    memcpy(sorted, value, n * sizeof *sorted);
    (void)cof_quantile(sorted, n, 0.5);
    return 0;
}
