/* Models with quantities: five numbers a cluster, new rows by their bins, the model file. */
#include "unit_helper.h"

#include "../../src/core/bytes.h"
#include "../../src/model/collect.h"
#include "alloc_helper.h"

enum { N = 400, CELL = 24 };

/* Two groups far apart in `x` and `day`, a coin in `coin`; every 20th x is missing, every 31st "nan". */
static cof_table *mixed_table(const cof_env *env, double shift, double *x, bool holes)
{
    static const char *const names[] = {"x", "coin", "day"};
    static char text[2][N][CELL];
    const char *cells[3 * N];
    cofi_rng rng = dice(4);
    cof_table *table = NULL;
    cof_error err;
    for (size_t i = 0; i < N; i++) {
        size_t group = i % 2;
        x[i] = (double)below(&rng, 1000) / 100 + 30 * (double)group + shift;
        snprintf(text[0][i], CELL, "%.2f", x[i]);
        snprintf(text[1][i], CELL, "2024-%02zu-%02zu", 1 + 6 * group + below(&rng, 5), 1 + below(&rng, 28));
        cells[i] = text[0][i];
        cells[N + i] = below(&rng, 2) ? "head" : "tail";
        cells[2 * N + i] = text[1][i];
        if (!holes || (i % 20 != 0 && i % 31 != 0)) continue;
        cells[i] = i % 20 == 0 ? NULL : "nan";
        x[i] = NAN;
    }
    assert_status(cof_table_from_strings(env, cells, N, 3, names, &table, &err), COF_OK, &err);
    return table;
}

static cof_table *cut_table(double shift, double *x, bool holes)
{
    cof_table *table = mixed_table(NULL, shift, x, holes);
    cof_error err;
    assert_status(cof_table_cut(table, 0, NULL, &err), COF_OK, &err);
    assert_status(cof_table_cut(table, 2, NULL, &err), COF_OK, &err);
    return table;
}

static cof_model *fit_two(const cof_table *table)
{
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .restarts = 4, .threads = 1};
    return fit_model(table, &o, NULL);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Points so far away that all others are close together beside them, and their distance is not finite. */
static void five_numbers_beside_points_far_away(void **state)
{
    enum { ROWS = 200 };
    static char text[ROWS][CELL];
    const char *cells[2 * ROWS], *names[] = {"x", "group"};
    cof_table *table;
    cof_error err;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(text[i], CELL, "%zu", i / 2);
        cells[i] = i == 0 ? "-1e308" : i == 1 ? "-1000000" : i == ROWS - 1 ? "1.7e308" : text[i];
        cells[ROWS + i] = i % 2 == 0 ? "even" : "odd";
    }
    assert_status(cof_table_from_strings(NULL, cells, ROWS, 2, names, &table, &err), COF_OK, &err);
    assert_status(cof_table_cut(table, 0, NULL, &err), COF_OK, &err);
    cof_fit_options o = {.struct_size = sizeof o, .k = 1, .threads = 1};
    cof_model *m = fit_model(table, &o, NULL);
    const double *five = cof_model_five(m, 0, 0), expected[] = {-1e308, 24, 49, 74, 1.7e308};
    for (int q = 0; q < COF_N_FIVE; q++) assert_true(five[q] == expected[q]);
    cof_model_free(m);
    cof_table_free(table);
}

static void five_numbers_are_those_of_the_rows(void **state)
{
    double x[N], own[N];
    (void)state;
    cof_table *table = cut_table(0, x, true);
    cof_model *m = fit_two(table);
    const int32_t *label = cof_model_labels(m, NULL);
    for (uint32_t j = 0; j < 2; j++) {
        size_t n = 0;
        for (size_t i = 0; i < N; i++)
            if (label[i] == (int32_t)j && !isnan(x[i])) own[n++] = x[i];
        qsort(own, n, sizeof *own, by_size);
        const double *five = cof_model_five(m, 0, j);
        assert_non_null(five);
        assert_near(five[COF_FIVE_LEAST], own[0], 0.0051);
        assert_near(five[COF_FIVE_MOST], own[n - 1], 0.0051);
        for (int q = 1; q < 4; q++)
            assert_near(five[q], own[(size_t)ceil((double)(n * (size_t)q) / 4) - 1], 0.0051);
    }
    assert_null(cof_model_five(m, 1, 0)); /* the coin */
    assert_null(cof_model_five(m, 0, 2));
    assert_null(cof_model_five(m, 3, 0));
    assert_null(cof_model_cut(m, 1, NULL));
    char text[40];
    assert_string_equal(cof_model_show_point(m, 2, 1709164800, text, sizeof text), "2024-02-29");
    assert_string_equal(cof_model_show_point(m, 0, 2.5, text, 3), "2.");
    cof_model_free(m);
    cof_table_free(table);
}

static void weights_move_the_quartiles(void **state)
{
    const char *cells[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    const double weights[] = {1, 1, 1, 1, 1, 1, 1, 9};
    cof_table *table = NULL;
    cof_error err;
    (void)state;
    assert_status(cof_table_from_strings(NULL, cells, 8, 1, NULL, &table, &err), COF_OK, &err);
    assert_status(cof_table_cut(table, 0, NULL, &err), COF_OK, &err);
    cof_fit_options o = {.struct_size = sizeof o, .k = 1, .weights = weights, .threads = 1};
    cof_model *m = fit_model(table, &o, NULL);
    const double *five = cof_model_five(m, 0, 0);
    const double expected[] = {1, 4, 8, 8, 8};
    for (int q = 0; q < COF_N_FIVE; q++) assert_near(five[q], expected[q], 0);
    cof_model_free(m);
    cof_table_free(table);
}

static void predict(const cof_model *m, const cof_table *t, int32_t *label, cof_predict_info *info)
{
    cof_error err;
    *info = (cof_predict_info){.struct_size = sizeof *info};
    assert_status(cof_model_predict(m, t, 1, label, N, info, &err), COF_OK, &err);
}

/* Uncut, cut where the model was, or cut elsewhere: the rows are the same. */
static void rows_are_labelled_however_the_table_is_cut(void **state)
{
    double x[N];
    int32_t label[3][N];
    cof_predict_info info;
    cof_error err;
    cof_cut_options o = {.struct_size = sizeof o, .bins = 3};
    (void)state;
    cof_table *table = cut_table(0, x, true), *plain = mixed_table(NULL, 0, x, true);
    cof_model *m = fit_two(table);
    predict(m, table, label[0], &info);
    assert_int_equal(info.n_unseen_cells, 0);
    predict(m, plain, label[1], &info);
    assert_int_equal(info.n_unseen_cells, 0);
    assert_status(cof_table_cut(plain, 0, &o, &err), COF_OK, &err);
    predict(m, plain, label[2], &info);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(label[0][i], cof_model_labels(m, NULL)[i]);
        assert_int_equal(label[1][i], label[0][i]);
        assert_int_equal(label[2][i], label[0][i]);
    }
    cof_table_free(plain);
    plain = mixed_table(NULL, -1000, x, false); /* numbers below all that were fitted */
    predict(m, plain, label[1], &info);
    assert_int_equal(info.n_unseen_cells, 0);
    cof_model_free(m);
    cof_table_free(plain);
    cof_table_free(table);
}

enum { CATEGORIES = 4, COLUMNS = 8 }; /* of a generated table; the class follows */

static cof_table *generated(int32_t family, bool cut)
{
    cof_generate_options o = {.struct_size = sizeof o,
                              .kind = COF_GENERATE_MIXED,
                              .family = family,
                              .n_rows = N,
                              .seed = (uint64_t)family};
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_generate(NULL, &o, &table, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, COLUMNS, COF_ROLE_IGNORED, &err), COF_OK, &err);
    for (size_t c = CATEGORIES; cut && c < COLUMNS; c++)
        assert_status(cof_table_cut(table, c, NULL, &err), COF_OK, &err);
    return table;
}

/* Whatever refined the kept restart, predicting the fitted rows gives their labels where the labels had settled. */
static void fitted_rows_keep_their_labels(void **state)
{
    static const double weights[COLUMNS + 1] = {1, 2, 1, 0.5, 0.25, 1, 1, 0, 1};
    size_t n_refined[2] = {0, 0};
    (void)state;
    for (int32_t family = COF_MIXED_BOTH; family <= COF_MIXED_IMBALANCE; family++) {
        cof_table *table = generated(family, true), *plain = generated(family, false);
        for (uint64_t seed = 0; seed < 6; seed++) {
            cof_fit_options o = {.struct_size = sizeof o,
                                 .k = 2 + (uint32_t)seed % 4,
                                 .restarts = 1 + (uint32_t)seed,
                                 .seed = seed,
                                 .threads = 1,
                                 .column_weights = seed % 2 == 1 ? weights : NULL};
            cof_fit_info info = {.struct_size = sizeof info};
            cof_predict_info told;
            int32_t label[2][N];
            cof_model *m = fit_model(table, &o, &info);
            predict(m, table, label[0], &told);
            predict(m, plain, label[1], &told);
            if (info.stop_reason == COF_STOP_CONVERGED) {
                assert_memory_equal(label[0], cof_model_labels(m, NULL), sizeof label[0]);
                n_refined[cof_model_refined_by(m)]++;
            }
            assert_memory_equal(label[0], label[1], sizeof label[0]);
            cof_model_free(m);
        }
        cof_table_free(plain);
        cof_table_free(table);
    }
    assert_true(n_refined[COF_REFINED_BY_METHOD] > 5 && n_refined[COF_REFINED_BY_LIKELIHOOD] > 5);
}

static void what_cannot_be_read_was_never_met(void **state)
{
    static const char *const names[] = {"x", "coin", "day"};
    const char *cells[] = {"low", "31", "head", "tail", "2024-08-01", "soon"};
    double x[N];
    int32_t label[2];
    cof_table *table = cut_table(0, x, false), *odd = NULL;
    cof_predict_info info = {.struct_size = sizeof info};
    cof_error err;
    (void)state;
    cof_model *m = fit_two(table);
    assert_status(cof_table_from_strings(NULL, cells, 2, 3, names, &odd, &err), COF_OK, &err);
    assert_status(cof_model_predict(m, odd, 1, label, 2, &info, &err), COF_OK, &err);
    assert_int_equal(info.n_unseen_cells, 2);
    assert_int_equal(label[0], label[1]); /* both lie in the second group */
    cof_model_free(m);
    cof_table_free(odd);
    cof_table_free(table);
}

/* ---- The file -------------------------------------------------------------------------------------- */

static int keep_bytes(void *ctx, const char *bytes, size_t n)
{
    cofi_put_bytes(ctx, bytes, n);
    return 0;
}

static cofi_writer written(const cof_model *m)
{
    cofi_writer w = {.env = cofi_env_resolve(NULL)};
    cof_error err;
    assert_status(cof_model_write(m, keep_bytes, &w, &err), COF_OK, &err);
    return w;
}

static void a_file_keeps_the_quantities(void **state)
{
    double x[N];
    int32_t label[2][N];
    cof_predict_info info;
    cof_error err;
    cof_model *again = NULL;
    (void)state;
    cof_table *table = cut_table(0, x, true);
    cof_model *m = fit_two(table);
    cofi_writer w = written(m);
    assert_int_equal(w.bytes[8], 2);
    assert_status(cof_model_load_memory(NULL, "m", w.bytes, w.n, &again, &err), COF_OK, &err);
    for (size_t r = 0; r < 3; r++) {
        size_t n = 0, n_again = 0;
        const double *a = cof_model_cut(m, r, &n), *b = cof_model_cut(again, r, &n_again);
        assert_int_equal(n, n_again);
        if (n > 0) assert_memory_equal(a, b, n * sizeof *a);
        for (uint32_t j = 0; n > 0 && j < 2; j++)
            assert_memory_equal(cof_model_five(m, r, j), cof_model_five(again, r, j), COF_N_FIVE * sizeof *a);
    }
    predict(m, table, label[0], &info);
    predict(again, table, label[1], &info);
    assert_memory_equal(label[0], label[1], sizeof label[0]);
    cof_model_free(again);
    cof_model_free(m);
    free(w.bytes);
    cof_table_free(table);
}

static void the_report_shows_them(void **state)
{
    double x[N];
    cof_error err;
    (void)state;
    cof_table *table = cut_table(0, x, true);
    cof_model *m = fit_two(table);
    for (int with_rows = 0; with_rows < 2; with_rows++) {
        cofi_writer w = {.env = cofi_env_resolve(NULL)};
        cof_report_options o = {.struct_size = sizeof o};
        assert_status(cof_report_write(m, with_rows ? table : NULL, &o, keep_bytes, &w, &err), COF_OK, &err);
        cofi_put_bytes(&w, "", 1);
        assert_non_null(strstr((const char *)w.bytes, "id=\"quantities\""));
        assert_non_null(strstr((const char *)w.bytes, "2024-0")); /* the median of a date */
        char *rows = strstr((char *)w.bytes, "id=\"rows\"");
        assert_true((rows != NULL) == (with_rows == 1));
        if (rows != NULL) { /* cells as they were read, not their bins */
            strstr(rows, "</section>")[0] = '\0';
            assert_null(strstr(rows, ".."));
            assert_non_null(strstr((const char *)w.bytes, "; a quantity, cut into 16 bins"));
        }
        free(w.bytes);
    }
    cof_model_free(m);
    cof_table_free(table);
}

/* A changed byte is refused, or gives a model that can be used. */
static void damaged_quantities_do_no_harm(void **state)
{
    double x[N];
    static int32_t label[N];
    (void)state;
    cof_table *table = cut_table(0, x, true);
    cof_model *m = fit_two(table);
    cofi_writer w = written(m);
    cof_model_free(m);
    cofi_rng rng = dice(8);
    for (int round = 0; round < 3000; round++) {
        size_t at = w.n - 4 - 1 - below(&rng, 900); /* the section comes last */
        unsigned char was = w.bytes[at];
        w.bytes[at] = (unsigned char)below(&rng, 256);
        uint32_t crc = cofi_crc32(w.bytes, w.n - 4);
        for (int b = 0; b < 4; b++) w.bytes[w.n - 4 + (size_t)b] = (unsigned char)(crc >> 8 * b);
        cof_model *again = NULL;
        if (cof_model_load_memory(NULL, "m", w.bytes, w.n, &again, NULL) == COF_OK)
            cof_model_predict(again, table, 1, label, N, NULL, NULL);
        cof_model_free(again);
        w.bytes[at] = was;
    }
    free(w.bytes);
    cof_table_free(table);
}

static void refused_memory_is_told(void **state)
{
    double x[N];
    (void)state;
    for (size_t at = 0;; at += 1 + at / 40) {
        alloc_meter meter = {.fail_at = at};
        cof_env env = alloc_env(&meter);
        cof_fit_options o = {.struct_size = sizeof o, .k = 2, .restarts = 1, .threads = 1};
        cof_model *m = NULL;
        int32_t label[N];
        cof_error err;
        meter.fail_at = ALLOC_NEVER_FAILS;
        cof_table *table = mixed_table(&env, 0, x, true);
        meter.fail_at = meter.count + at;
        cof_status status = cof_table_cut(table, 0, NULL, &err);
        if (status == COF_OK) status = cof_fit(table, &o, &m, NULL, &err);
        if (status == COF_OK)
            status = cof_table_cut(
                table, 0, &(cof_cut_options){.struct_size = sizeof(cof_cut_options), .bins = 5}, &err);
        if (status == COF_OK) status = cof_model_predict(m, table, 1, label, N, NULL, &err);
        cof_model_free(m);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_numbers_beside_points_far_away),
        cmocka_unit_test(five_numbers_are_those_of_the_rows),
        cmocka_unit_test(weights_move_the_quartiles),
        cmocka_unit_test(rows_are_labelled_however_the_table_is_cut),
        cmocka_unit_test(fitted_rows_keep_their_labels),
        cmocka_unit_test(what_cannot_be_read_was_never_met),
        cmocka_unit_test(a_file_keeps_the_quantities),
        cmocka_unit_test(the_report_shows_them),
        cmocka_unit_test(damaged_quantities_do_no_harm),
        cmocka_unit_test(refused_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
