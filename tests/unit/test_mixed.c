/* Categories and quantities together: the specification's worked example to 1e-6, and what quantities must obey. */
#include "../../src/method/mixed.c"

#include "fit_helper.h"

#include "alloc_helper.h"

static const char *const cells[] = {"1", "2", "4", "5", "a", "a", "b", "a"};
static const uint64_t seeds[] = {0, 2};

typedef struct scene {
    cof_table *table;
    cofi_problem problem;
    cofi_rows *rows;
    cofi_fit fit;
    mixed m;
    double factor[1];
} scene;

static cof_table *things(void)
{
    static const char *const names[] = {"num", "cat"};
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, 4, 2, names, &table, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, 0, COF_ROLE_NUMERIC, &err), COF_OK, &err);
    return table;
}

static void open_scene(scene *s, bool ek, double gamma)
{
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = 2,
                         .restarts = 1,
                         .max_passes = 51,
                         .max_rebuilds = 51,
                         .threads = 1,
                         .init_rows = seeds};
    cof_error err;
    *s = (scene){.table = things(), .m = {.profiles = ek, .fit = &s->fit}, .factor = {gamma}};
    assert_status(cofi_rows_open(s->table, &o, (cofi_opening){.fold = true}, &s->problem, &s->rows, &err),
                  COF_OK, &err);
    assert_int_equal(s->problem.n_numeric, 1);
    assert_status(cofi_fit_open(s->rows, &cofi_method_k_prototypes, &o, &s->fit, &err), COF_OK, &err);
    assert_status(cofi_start_given.run(&s->fit, NULL, &err), COF_OK, &err);
    assert_status(open_mixed(&s->m, &err), COF_OK, &err);
}

static void close_scene(scene *s)
{
    cofi_fit_close(&s->fit);
    cofi_rows_close(s->rows);
    cofi_problem_close(&s->problem);
    cof_table_free(s->table);
}

static void check_distances(const scene *s, const double wanted[8])
{
    int64_t sum[2];
    for (size_t i = 0; i < 4; i++) {
        add_row(&s->m, cofi_whole_row(&s->m.rows, i), sum);
        for (uint32_t j = 0; j < 2; j++)
            assert_true(fabs((double)sum[j] / s->fit.scores.scale - wanted[2 * i + j]) <= 1e-6);
    }
}

static void check_labels(const scene *s, const int32_t wanted[4])
{
    for (size_t i = 0; i < 4; i++) assert_int_equal(labels_of(&s->fit)[i], wanted[i]);
}

static void k_prototypes_example(void **state)
{
    (void)state;
    scene s;
    cof_error err;
    open_scene(&s, false, COFI_GAMMA);
    cofi_row_distance distance = {.factor = s.factor, .sum = COFI_L1, .beside = 1};
    memset(s.fit.profiles.alive, 1, 2);
    centres_from_seeds(&s.m);
    cofi_scores_modes(&s.fit, &distance);
    check_distances(&s, (double[]){0, 1.0625, 0.0625, 0.75, 1.0625, 0, 1, 0.5625});
    s.m.distance = &distance;
    assert_status(settle(&s.m, &err), COF_OK, &err);
    check_labels(&s, (int32_t[]){0, 0, 1, 1});
    check_distances(
        &s, (double[]){0.015625, 0.765625, 0.015625, 0.390625, 0.890625, 0.515625, 0.765625, 0.015625});
    assert_int_equal(s.fit.log.stop, COF_STOP_CONVERGED);
    close_scene(&s);
}

static void ek_prototypes_example(void **state)
{
    (void)state;
    scene s;
    cof_error err;
    open_scene(&s, true, 1);
    cofi_row_distance distance = {.factor = s.factor, .sum = COFI_L1, .beside = 1};
    cofi_profile_begin(&s.fit);
    centres_from_seeds(&s.m);
    cofi_scores_profiles(&s.fit, &distance);
    check_distances(&s, (double[]){0, 1.75, 0.25, 1.5, 1.75, 0, 1, 1.25});
    cofi_profile_clear(&s.fit);
    s.m.distance = &distance;
    assert_status(settle(&s.m, &err), COF_OK, &err);
    check_labels(&s, (int32_t[]){0, 0, 1, 0});
    assert_true(fabs(s.m.centre[0] - 0.416667) <= 1e-6 && fabs(s.m.centre[1] - 0.75) <= 1e-6);
    close_scene(&s);
}

static const char *const methods[] = {"k-prototypes", "ek-prototypes", "coforest"};

static cof_status fit(const cof_table *table, const char *method, uint32_t threads, cof_model **model,
                      cof_error *err)
{
    cof_fit_options o = {
        .struct_size = sizeof o, .k = 3, .restarts = 4, .seed = 5, .threads = threads, .method = method};
    return cof_fit(table, &o, model, NULL, err);
}

/* A planted table whose first column is taken as a quantity. */
static cof_table *planted(uint64_t n_rows)
{
    cof_table *table = NULL;
    cof_error err;
    cof_generate_options o = {.struct_size = sizeof o,
                              .kind = COF_GENERATE_PLANTED,
                              .n_rows = n_rows,
                              .n_columns = 6,
                              .n_values = 4,
                              .k = 3,
                              .seed = 2};
    assert_status(cof_table_generate(NULL, &o, &table, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, 0, COF_ROLE_NUMERIC, &err), COF_OK, &err);
    return table;
}

static void same_for_any_threads(void **state)
{
    (void)state;
    cof_error err;
    cof_table *table = planted(9000);
    for (size_t m = 0; m < COUNT(methods); m++) {
        cof_model *one = NULL, *three = NULL;
        assert_status(fit(table, methods[m], 1, &one, &err), COF_OK, &err);
        assert_status(fit(table, methods[m], 3, &three, &err), COF_OK, &err);
        assert_memory_equal(cof_model_labels(one, NULL), cof_model_labels(three, NULL),
                            9000 * sizeof(int32_t));
        cof_model_free(one);
        cof_model_free(three);
    }
    cof_table_free(table);
}

static void who_cannot_use_them_says_so(void **state)
{
    (void)state;
    cof_error err;
    cof_model *model = NULL;
    cof_table *table = planted(100);
    assert_int_equal(fit(table, "kmodes", 1, &model, &err), COF_ERR_NO_RESULT);
    assert_non_null(strstr(err.text, "numeric column"));
    cof_table_free(table);
}

typedef struct bytes {
    unsigned char at[1 << 16];
    size_t n;
} bytes;

static int keep_bytes(void *ctx, const char *text, size_t n)
{
    bytes *b = ctx;
    assert_true(b->n + n <= sizeof b->at);
    memcpy(b->at + b->n, text, n);
    b->n += n;
    return 0;
}

/* A model labels its own rows as the fit did, also after it was saved, and tells the means in the column's units. */
static void models_label_rows(void **state)
{
    (void)state;
    cof_error err;
    cof_table *table = planted(300);
    static bytes file;
    for (size_t m = 0; m < COUNT(methods); m++) {
        cof_model *model = NULL, *again = NULL;
        int32_t label[300];
        double sum = 0, n = 0;
        assert_status(fit(table, methods[m], 1, &model, &err), COF_OK, &err);
        file.n = 0;
        assert_status(cof_model_write(model, keep_bytes, &file, &err), COF_OK, &err);
        assert_status(cof_model_load_memory(NULL, "model", file.at, file.n, &again, &err), COF_OK, &err);
        assert_status(cof_model_predict(again, table, 1, label, 300, NULL, &err), COF_OK, &err);
        assert_memory_equal(label, cof_model_labels(model, NULL), sizeof label);
        for (size_t i = 0; i < 300; i++) {
            if (label[i] != 0) continue;
            sum += atof(cof_table_value(table, 0, cof_table_code(table, i, 0)));
            n++;
        }
        assert_near(cof_model_numeric_mean(again, 0, 0), sum / n, 1e-9);
        assert_string_equal(cof_model_numeric_name(again, 0), "a1");
        assert_null(cof_model_numeric_name(again, cof_model_n_numeric(again)));
        assert_true(isnan(cof_model_numeric_mean(again, 0, 3)));
        for (size_t cut = 0; cut < file.n; cut += 7) { /* no part of the file may be wrong unnoticed */
            cof_model *wrong = NULL;
            assert_int_equal(cof_model_load_memory(NULL, "model", file.at, cut, &wrong, NULL), COF_ERR_MODEL);
        }
        cof_model_free(model);
        cof_model_free(again);
    }
    cof_table_free(table);
}

/* A row far outside the table fitted is nearest to the outermost mean; a number that is missing adds nothing. */
static void rows_outside_the_table(void **state)
{
    static const char *const names[] = {"num", "cat"};
    static const char *const strange[] = {"1e12", "-1e12", NULL, "a", "a", "b"};
    (void)state;
    cof_error err;
    cof_table *table = things(), *far = NULL;
    cof_model *model = NULL;
    int32_t label[3];
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .method = "k-prototypes", .init_rows = seeds};
    assert_status(cof_fit(table, &o, &model, NULL, &err), COF_OK, &err);
    assert_status(cof_table_from_strings(NULL, strange, 3, 2, names, &far, &err), COF_OK, &err);
    assert_status(cof_model_predict(model, far, 1, label, 3, NULL, &err), COF_OK, &err);
    assert_int_equal(label[0], 1);
    assert_int_equal(label[1], 0);
    assert_int_equal(label[2], 0); /* both modes are a, so the first cluster takes it */
    cof_model_free(model);
    cof_table_free(table);
    cof_table_free(far);
}

/* Unseen cells are counted beside numbers; a table without the number is refused; a mean is shown as a number. */
static void tables_that_differ_from_the_models(void **state)
{
    static const char *const names[] = {"num", "cat"};
    static const char *const unseen[] = {"1", "x", NULL, "z", "z", "z"};
    (void)state;
    cof_error err;
    cof_table *table = things(), *far = NULL, *without = NULL;
    cof_model *model = NULL;
    int32_t label[3];
    char text[32];
    cof_predict_info info = {.struct_size = sizeof info};
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .method = "k-prototypes", .init = COF_INIT_HUANG};
    assert_status(cof_fit(table, &o, &model, NULL, &err), COF_OK, &err);
    assert_true(atof(cof_model_show_mean(model, 0, 0, text, sizeof text)) >= 1);
    assert_status(cof_table_from_strings(NULL, unseen, 3, 2, names, &far, &err), COF_OK, &err);
    assert_status(cof_model_predict(model, far, 1, label, 3, &info, &err), COF_OK, &err);
    assert_int_equal(info.n_unseen_cells, 4);
    assert_int_equal(info.n_unseen_rows, 3);
    assert_int_equal(info.n_blank_rows, 2);
    assert_status(cof_table_from_strings(NULL, unseen + 3, 3, 1, names + 1, &without, &err), COF_OK, &err);
    assert_status(cof_model_predict(model, without, 1, label, 3, NULL, &err), COF_ERR_DATA, &err);
    assert_string_equal(err.text, "the model needs a column 'num', which the table does not have");
    cof_model_free(model);
    cof_table_free(table);
    cof_table_free(far);
    cof_table_free(without);
}

static double weighted_distance(const cof_table *table, const char *method, const double *weights)
{
    cof_error err;
    cof_model *model = NULL;
    double distance[100 * 3];
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = 3,
                         .restarts = 1,
                         .max_passes = 1,
                         .max_rebuilds = 1,
                         .init = COF_INIT_RANDOM,
                         .method = method,
                         .threads = 1,
                         .column_weights = weights};
    assert_status(cof_fit(table, &o, &model, NULL, &err), COF_OK, &err);
    assert_status(cof_model_transform(model, table, 1, distance, COUNT(distance), &err), COF_OK, &err);
    for (size_t a = 0; a < cof_model_n_attributes(model); a++)
        assert_true(cof_model_column_weight(model, a) == (weights != NULL ? weights[a + 1] : 1));
    cof_model_free(model);
    return distance[0];
}

/* Weights of 2 double every distance; weights are refused where they make no sense. */
static void columns_weigh(void **state)
{
    static const double twice[] = {2, 2, 2, 2, 2, 2, 2}, nothing[7] = {0}, wrong[] = {1, -1, 1, 1, 1, 1, 1},
                        endless[] = {1, 1, INFINITY, 1, 1, 1, 1};
    static const double *const refused[] = {nothing, wrong, endless};
    (void)state;
    cof_table *table = planted(100);
    assert_true(cof_table_n_columns(table) <= COUNT(twice));
    for (size_t m = 0; m < COUNT(methods); m++)
        assert_near(weighted_distance(table, methods[m], twice),
                    2 * weighted_distance(table, methods[m], NULL), 1e-9);
    for (size_t w = 0; w < COUNT(refused); w++) {
        cof_model *model = NULL;
        cof_fit_options o = {.struct_size = sizeof o, .k = 3, .column_weights = refused[w]};
        assert_int_equal(cof_fit(table, &o, &model, NULL, NULL), COF_ERR_ARGUMENT);
    }
    cof_fit_options o = {.struct_size = sizeof o, .k = 3, .method = "jdm", .column_weights = twice};
    cof_model *model = NULL;
    assert_int_equal(cof_fit(table, &o, &model, NULL, NULL), COF_ERR_ARGUMENT);
    cof_table_free(table);
}

static void a_text_is_no_number(void **state)
{
    (void)state;
    cof_error err;
    cof_model *model = NULL;
    cof_table *table = things();
    assert_status(cof_table_set_role(table, 1, COF_ROLE_NUMERIC, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, 0, COF_ROLE_ATTRIBUTE, &err), COF_OK, &err);
    assert_int_equal(fit(table, "k-prototypes", 1, &model, &err), COF_ERR_DATA);
    assert_string_equal(err.text, "the numeric column 'cat' holds 'a', which is not a number");
    cof_table_free(table);
}

/* Numbers that are not finite count as missing, also where the column holds nothing else. */
static void a_column_of_infinities_says_nothing(void **state)
{
    (void)state;
    static const char csv[] = "a,b,x\nu,p,inf\nu,p,-inf\nv,q,nan\nv,q,inf\n";
    cof_error err;
    cof_model *model = NULL;
    cof_table *table = NULL;
    assert_status(cof_table_read_memory(NULL, "test", csv, sizeof csv - 1, NULL, &table, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, 2, COF_ROLE_NUMERIC, &err), COF_OK, &err);
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .method = "k-prototypes"};
    assert_status(cof_fit(table, &o, &model, NULL, &err), COF_OK, &err);
    const int32_t *label = cof_model_labels(model, NULL);
    assert_int_equal(label[0], label[1]);
    assert_int_equal(label[2], label[3]);
    assert_int_not_equal(label[0], label[2]);
    cof_model_free(model);
    cof_table_free(table);
}

/* A row with a hole, be it a category or a number, is dropped: the others end as they would without it. */
/* A model of numbers none of which is known, or which are all the same where they are known, can be loaded. */
static void columns_without_a_range_are_saved(void **state)
{
    static const char *const known[][4] = {{NULL, NULL, NULL, NULL}, {"7", NULL, "7", NULL}};
    static const char *const names[] = {"num", "cat"};
    (void)state;
    for (size_t at = 0; at < 2; at++) {
        const char *mixed_cells[] = {known[at][0], known[at][1], known[at][2], known[at][3],
                                     "a",          "b",          "a",          "b"};
        cof_table *table = NULL;
        cof_error err;
        assert_status(cof_table_from_strings(NULL, mixed_cells, 4, 2, names, &table, &err), COF_OK, &err);
        assert_status(cof_table_set_role(table, 0, COF_ROLE_NUMERIC, &err), COF_OK, &err);
        for (int32_t scale = COF_SCALE_RANGE; scale <= COF_SCALE_Z; scale++) {
            static const uint64_t rows[] = {0, 1};
            bytes file = {.n = 0};
            cof_fit_options o = {.struct_size = sizeof o,
                                 .k = 2,
                                 .threads = 1,
                                 .method = "k-prototypes",
                                 .scale = scale,
                                 .init_rows = rows};
            cof_model *m = fit_model(table, &o, NULL), *again = NULL;
            assert_status(cof_model_write(m, keep_bytes, &file, &err), COF_OK, &err);
            assert_status(cof_model_load_memory(NULL, "saved", file.at, file.n, &again, &err), COF_OK, &err);
            cof_model_free(again);
            cof_model_free(m);
        }
        cof_table_free(table);
    }
}

static void dropped_rows_take_no_part(void **state)
{
    (void)state;
    enum { N = 120, L = 4 };
    static const int32_t inits[] = {COF_INIT_KMEANS, COF_INIT_RANDOM};
    cofi_rng rng = dice(9);
    int32_t *codes = random_codes(&rng, N, L, 4, 3), *left = get_zero(N * L, sizeof *left);
    size_t n_left = 0;
    for (size_t i = 0; i < N; i++) {
        if (i % 5 == 0) codes[i * L + i % 4] = -1;
        if (i % 5 != 0) memcpy(left + L * n_left++, codes + i * L, L * sizeof *codes);
    }
    cof_table *holes = table_of(codes, N, L), *rest = table_of(left, n_left, L);
    assert_int_equal(cof_table_set_role(holes, 0, COF_ROLE_NUMERIC, NULL), COF_OK);
    assert_int_equal(cof_table_set_role(rest, 0, COF_ROLE_NUMERIC, NULL), COF_OK);
    for (size_t at = 0; at < 2 * COUNT(methods); at++) {
        cof_fit_options o = {.struct_size = sizeof o,
                             .k = 3,
                             .restarts = 3,
                             .seed = at,
                             .init = inits[at % 2],
                             .missing = COF_MISSING_DROP,
                             .method = methods[at / 2]};
        cof_fit_info info = {.struct_size = sizeof info}, rest_info = {.struct_size = sizeof rest_info};
        cof_model *model = fit_model(holes, &o, &info), *rest_model = fit_model(rest, &o, &rest_info);
        const int32_t *label = cof_model_labels(model, NULL),
                      *rest_label = cof_model_labels(rest_model, NULL);
        int32_t again[N];
        assert_int_equal(info.n_dropped, N - n_left);
        for (size_t i = 0, t = 0; i < N; i++) assert_int_equal(label[i], i % 5 == 0 ? -1 : rest_label[t++]);
        assert_int_equal(cof_model_predict(model, holes, 1, again, N, NULL, NULL), COF_OK);
        for (size_t i = 0; i < N; i++) assert_int_equal(again[i] < 0, i % 5 == 0);
        assert_near(info.objective, rest_info.objective, 1e-9 * (1 + fabs(info.objective)));
        cof_model_free(model);
        cof_model_free(rest_model);
    }
    cof_table_free(holes);
    cof_table_free(rest);
    free(codes);
    free(left);
}

/* "inf" is missing as an empty cell is; a model that allows neither labels no row with one. */
static void missing_numbers_may_be_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "c"};
    const char *whole[] = {"1", "2", "8", "9", "a", "a", "b", "b"};
    const char *holed[] = {"1", "2", "inf", "9", "a", "a", "b", "b"};
    cof_table *fitted = NULL, *odd = NULL;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, whole, 4, 2, names, &fitted, &err), COF_OK, &err);
    assert_status(cof_table_from_strings(NULL, holed, 4, 2, names, &odd, &err), COF_OK, &err);
    assert_int_equal(cof_table_set_role(fitted, 0, COF_ROLE_NUMERIC, NULL), COF_OK);
    assert_int_equal(cof_table_set_role(odd, 0, COF_ROLE_NUMERIC, NULL), COF_OK);
    cof_fit_options o = {
        .struct_size = sizeof o, .k = 2, .missing = COF_MISSING_ERROR, .method = "k-prototypes"};
    cof_model *model = NULL;
    assert_int_equal(cof_fit(odd, &o, &model, NULL, &err), COF_ERR_MISSING);
    assert_string_equal(err.text, "row 3 has no value in column 'x', and missing values are not allowed");
    model = fit_model(fitted, &o, NULL);
    int32_t label[4];
    assert_int_equal(cof_model_predict(model, odd, 1, label, 4, NULL, &err), COF_ERR_MISSING);
    assert_string_equal(err.text, "column 'x' has 1 missing value, and the model allows none");
    cof_model_free(model);
    cof_table_free(fitted);
    cof_table_free(odd);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t m = 0; m < COUNT(methods); m++) {
        for (size_t n = 0;; n++) {
            alloc_meter meter = {.fail_at = SIZE_MAX};
            cof_env env = alloc_env(&meter);
            cof_table *table = NULL;
            cof_model *model = NULL;
            cof_generate_options o = {
                .struct_size = sizeof o, .kind = COF_GENERATE_PLANTED, .n_rows = 60, .n_columns = 3, .k = 3};
            assert_int_equal(cof_table_generate(&env, &o, &table, NULL), COF_OK);
            cof_table_set_role(table, 0, COF_ROLE_NUMERIC, NULL);
            meter.fail_at = meter.count + n;
            cof_status status = fit(table, methods[m], 1, &model, NULL);
            meter.fail_at = SIZE_MAX;
            cof_model_free(model);
            cof_table_free(table);
            assert_int_equal(meter.live, 0);
            if (status == COF_OK) break;
            assert_int_equal(status, COF_ERR_MEMORY);
        }
    }
}

/* Two coins and two quantities that lie far apart by group: only where quantities weigh enough are the groups found. */
static void gamma_weighs_the_parts(void **state)
{
    enum { N = 200 };
    static char text[2][N][24];
    const char *texts[4 * N];
    cof_table *table = NULL;
    cof_error err;
    cofi_rng rng = dice(3);
    (void)state;
    for (size_t i = 0; i < N; i++) {
        for (size_t c = 0; c < 2; c++) {
            double x = (double)below(&rng, 1000) / 300 + 10 * (double)(i % 2) / (double)(1 + c);
            snprintf(text[c][i], sizeof text[c][i], "%.3f", x);
            texts[c * N + i] = below(&rng, 2) ? "head" : "tail";
            texts[(2 + c) * N + i] = text[c][i];
        }
    }
    assert_status(cof_table_from_strings(NULL, texts, N, 4, NULL, &table, &err), COF_OK, &err);
    for (size_t c = 2; c < 4; c++)
        assert_status(cof_table_set_role(table, c, COF_ROLE_NUMERIC, &err), COF_OK, &err);
    const double gammas[] = {0, 0.1, COF_GAMMA_KMODES, COF_GAMMA_CLUSTMIXTYPE, 100};
    for (size_t g = 0; g < COUNT(gammas); g++) {
        cof_fit_options o = {
            .struct_size = sizeof o, .k = 2, .method = "k-prototypes", .gamma = gammas[g], .threads = 1};
        cof_fit_info info = {.struct_size = sizeof info};
        cof_model *model = fit_model(table, &o, &info);
        const int32_t *label = cof_model_labels(model, NULL);
        size_t same = 0;
        for (size_t i = 0; i < N; i++) same += (label[i] == label[0]) == (i % 2 == 0);
        assert_int_equal(same == N, gammas[g] < 100); /* categories alone decide in the last one */
        assert_int_equal(info.select, COF_SELECT_OBJECTIVE);
        assert_true(gammas[g] > 0 ? info.gamma == gammas[g] : info.gamma > 0);
        cof_model_free(model);
    }
    /* numbers as they are, whose spread decides what a category weighs unless somebody says it */
    double estimated[2];
    for (int32_t z = 0; z < 2; z++) {
        cof_fit_options o = {.struct_size = sizeof o, .k = 2, .method = "k-prototypes", .threads = 1};
        cof_fit_info info = {.struct_size = sizeof info};
        o.scale = z == 1 ? COF_SCALE_Z : COF_SCALE_NONE;
        o.gamma = COF_GAMMA_KMODES;
        cof_model *model = fit_model(table, &o, &info);
        estimated[z] = info.gamma;
        double least = cof_model_numeric_mean(model, 0, 0), most = cof_model_numeric_mean(model, 0, 1);
        assert_near(fmin(least, most), 1.7, 0.3);
        assert_near(fmax(least, most), 11.7, 0.3);
        cof_model_free(model);
    }
    assert_near(estimated[1], 0.5, 1e-12);
    assert_true(estimated[0] > 1.5 && estimated[0] < 2.5); /* half of about 5.1 and 2.7 */
    const struct {
        int32_t scale;
        double gamma;
    } wrong[] = {{4, 0}, {-1, 0}, {0, -3}, {0, NAN}, {0, INFINITY}};
    for (size_t w = 0; w < COUNT(wrong); w++) {
        cof_fit_options o = {
            .struct_size = sizeof o, .k = 2, .scale = wrong[w].scale, .gamma = wrong[w].gamma};
        cof_model *model = NULL;
        assert_int_equal(cof_fit(table, &o, &model, NULL, &err), COF_ERR_ARGUMENT);
    }
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_label_rows),
        cmocka_unit_test(rows_outside_the_table),
        cmocka_unit_test(tables_that_differ_from_the_models),
        cmocka_unit_test(columns_weigh),
        cmocka_unit_test(gamma_weighs_the_parts),
        cmocka_unit_test(k_prototypes_example),
        cmocka_unit_test(ek_prototypes_example),
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(who_cannot_use_them_says_so),
        cmocka_unit_test(a_text_is_no_number),
        cmocka_unit_test(a_column_of_infinities_says_nothing),
        cmocka_unit_test(missing_numbers_may_be_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(columns_without_a_range_are_saved),
        cmocka_unit_test(dropped_rows_take_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
