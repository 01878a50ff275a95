/* Labels and distances for tables: those the model was fitted to, and those with other columns and values. */
#include "unit_helper.h"

static cof_fit_options options(uint32_t k)
{
    return (cof_fit_options){.struct_size = sizeof(cof_fit_options), .k = k, .restarts = 2, .threads = 1};
}

static cof_predict_info predict(const cof_model *m, const cof_table *t, int32_t *labels)
{
    cof_predict_info info = {.struct_size = sizeof info};
    cof_error err;
    assert_status(cof_model_predict(m, t, 1, labels, cof_table_n_rows(t), &info, &err), COF_OK, &err);
    return info;
}

static cof_table *strings_table(const char *const *cells, size_t n_rows, size_t n_columns,
                                const char *const *names)
{
    cof_table *t;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, n_rows, n_columns, names, &t, &err), COF_OK, &err);
    return t;
}

/* ---- The table it was fitted to ----------------------------------------------------------------- */

static void check_same_labels(const cof_table *t, const cof_fit_options *o)
{
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model *m = fit_model(t, o, &info);
    size_t n;
    const int32_t *label = cof_model_labels(m, &n);
    int32_t *again = get_zero(n, sizeof *again);
    cof_predict_info said = predict(m, t, again);
    assert_int_equal(said.n_dropped, info.n_dropped);
    if (info.stop_reason == COF_STOP_CONVERGED) assert_memory_equal(label, again, n * sizeof *label);
    for (uint32_t threads = 0; threads <= 4; threads++) {
        int32_t *other = get_zero(n, sizeof *other);
        assert_int_equal(cof_model_predict(m, t, threads, other, n, NULL, NULL), COF_OK);
        assert_memory_equal(again, other, n * sizeof *other);
        free(other);
    }
    free(again);
    cof_model_free(m);
}

/* Where rows and trees agree, the model says of its own table what the fit said. */
static void a_settled_fit_predicts_itself(void **state)
{
    (void)state;
    double weights[200];
    for (size_t i = 0; i < 200; i++) weights[i] = (double)(i % 3);
    for (uint64_t round = 0; round < 90; round++) {
        cof_fit_options o = options(2 + (uint32_t)(round % 12));
        o.seed = round;
        o.init = (int32_t)(round % 5);
        o.missing = (int32_t)(round % 3);
        o.weights = round % 4 == 0 ? weights : NULL;
        cof_table *t = round % 3 == 0 ? random_table(round, 200, 5, 3 + round % 7, 5)
                                      : holey_table(round, 200, 5, 3 + round % 7, 4, 15);
        check_same_labels(t, &o);
        cof_table_free(t);
    }
    cof_table *t = random_table(7, 9000, 6, 5, 6);
    cof_fit_options o = options(6);
    check_same_labels(t, &o);
    cof_table_free(t);
}

/* ---- Distances ---------------------------------------------------------------------------------- */

/* The definition: for every attribute the mean trace distance to the cluster's values. */
static double slow_distance(const cof_model *m, const cof_table *t, size_t row, uint32_t j)
{
    double sum = 0;
    for (size_t a = 0; a < cof_model_n_attributes(m); a++) {
        cof_attribute view = {.struct_size = sizeof view};
        assert_int_equal(cof_model_attribute(m, a, &view), COF_OK);
        double factor = cof_model_variant(m) == COF_VARIANT_AUTHORS ? 1.0 / (view.n_values - 1) : 1.0;
        uint32_t u = cof_table_code(t, row, cof_table_find(t, view.name));
        for (uint32_t v = 0; view.used && v < view.n_values; v++)
            sum += factor * cof_model_profile(m, a, v, j) * cof_model_distance(m, a, u, v);
    }
    return sum;
}

static void distances_equal_their_definition(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 20; round++) {
        cof_table *t = random_table(round, 100, 5, 2 + round % 8, 4);
        cof_fit_options o = options(2 + (uint32_t)(round % 9));
        o.variant = (int32_t)(round % 2);
        o.init = COF_INIT_KMEANS; /* all starts by tree distances */
        cof_model *m = fit_model(t, &o, NULL);
        double *distance = get_zero(100 * o.k, sizeof *distance);
        cof_error err;
        assert_status(cof_model_transform(m, t, 1, distance, 100 * o.k, &err), COF_OK, &err);
        for (size_t i = 0; i < 100; i++)
            for (uint32_t j = 0; j < o.k; j++)
                if (cof_model_sizes(m)[j] > 0)
                    assert_near(distance[i * o.k + j], slow_distance(m, t, i, j), 1e-12);
                else
                    assert_true(isinf(distance[i * o.k + j]));
        free(distance);
        cof_model_free(m);
        cof_table_free(t);
    }
}

static void the_nearest_by_distance_is_the_label(void **state)
{
    (void)state;
    cof_table *t = random_table(3, 300, 5, 5, 4);
    cof_fit_options o = options(5);
    cof_model *m = fit_model(t, &o, NULL);
    double distance[300 * 5];
    int32_t label[300];
    assert_int_equal(cof_model_transform(m, t, 1, distance, 1500, NULL), COF_OK);
    predict(m, t, label);
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < 5; j++)
            assert_true(distance[i * 5 + (size_t)label[i]] <= distance[i * 5 + j] + 1e-12);
    cof_model_free(m);
    cof_table_free(t);
}

static void rooms_of_the_wrong_size(void **state)
{
    (void)state;
    cof_table *t = t6_table();
    cof_fit_options o = options(2);
    cof_model *m = fit_model(t, &o, NULL);
    int32_t label[7];
    double distance[14];
    static const size_t wrong[] = {0, 11, 13, 14, 6, 24};
    assert_int_equal(cof_model_predict(m, t, 1, label, 5, NULL, NULL), COF_ERR_ARGUMENT);
    assert_int_equal(cof_model_predict(m, t, 1, label, 7, NULL, NULL), COF_ERR_ARGUMENT);
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(cof_model_transform(m, t, 1, distance, wrong[i], NULL), COF_ERR_ARGUMENT);
    assert_int_equal(cof_model_transform(m, t, 1, distance, 12, NULL), COF_OK);
    cof_model_free(m);
    cof_table_free(t);
}

/* As in the table for those that the model knows, in the model's numbering. */
static void values_of_rows(void **state)
{
    (void)state;
    static const int32_t codes[] = {7, 3, 7, 5, 7, 3}, later[] = {7, 5, 7, 4, 7, -1};
    cof_table *t = table_of(codes, 3, 2), *other = table_of(later, 3, 2);
    cof_fit_options o = options(2);
    cof_model *m = fit_model(t, &o, NULL);
    int32_t value[3];
    assert_int_equal(cof_model_values(m, t, 1, value, 3, NULL), COF_OK);
    assert_true(value[0] == 0 && value[1] == 1 && value[2] == 0);
    assert_int_equal(cof_model_values(m, other, 1, value, 3, NULL), COF_OK);
    assert_true(value[0] == 1 && value[1] == -1 && value[2] == -1);
    assert_int_equal(cof_model_values(m, t, 0, value, 3, NULL), COF_ERR_ARGUMENT); /* constant */
    assert_int_equal(cof_model_values(m, t, 2, value, 3, NULL), COF_ERR_ARGUMENT);
    assert_int_equal(cof_model_values(m, t, 1, value, 2, NULL), COF_ERR_ARGUMENT);
    cof_model_free(m);
    cof_table_free(other);
    cof_table_free(t);
}

/* ---- Other tables ------------------------------------------------------------------------------- */

static const char *const fruit[] = {"red",   "red",   "green", "green", "yellow", "yellow",
                                    "round", "round", "round", "long",  "long",   "long",
                                    "same",  "same",  "same",  "same",  "same",   "same"};
static const char *const fruit_names[] = {"colour", "shape", "constant"};

static cof_model *fruit_model(int32_t *label, double *distance)
{
    cof_table *t = strings_table(fruit, 6, 3, fruit_names);
    cof_fit_options o = options(2);
    cof_model *m = fit_model(t, &o, NULL);
    predict(m, t, label);
    assert_int_equal(cof_model_transform(m, t, 1, distance, 12, NULL), COF_OK);
    cof_table_free(t);
    return m;
}

/* Columns go by name, values by text: other columns between them, other values, another order. */
static void columns_by_name_and_values_by_text(void **state)
{
    (void)state;
    static const char *const names[] = {"shape", "noise", "colour"};
    static const char *const order[] = {"yellow", "red", "green", "white"};
    const char *cells[21];
    int32_t label[6], other[7];
    double distance[12], moved[14];
    cof_model *m = fruit_model(label, distance);
    for (size_t i = 0; i < 6; i++) {
        cells[i] = fruit[6 + i];
        cells[7 + i] = "x";
        cells[14 + i] = fruit[i];
    }
    cells[6] = "round";
    cells[13] = NULL;
    cells[20] = "white";
    cof_table *t = strings_table(cells, 7, 3, names);
    assert_int_equal(cof_table_set_order(t, 2, order, 4, NULL), COF_OK);
    assert_int_equal(cof_table_set_role(t, 2, COF_ROLE_IGNORED, NULL), COF_OK); /* roles are for fitting */
    cof_predict_info info = predict(m, t, other);
    assert_memory_equal(label, other, sizeof label);
    assert_int_equal(info.n_unseen_cells, 1);
    assert_int_equal(info.n_unseen_rows, 1);
    assert_int_equal(info.n_dropped, 0);
    assert_int_equal(cof_model_transform(m, t, 1, moved, 14, NULL), COF_OK);
    assert_memory_equal(distance, moved, sizeof distance);
    cof_table_free(t);
    cof_model_free(m);
}

/* A value the model never met says nothing: with no other the row goes to the lowest cluster. */
static void unseen_values_add_nothing(void **state)
{
    (void)state;
    static const char *const cells[] = {"white", "white", "red", "blue", "long", "square", "square", NULL};
    int32_t label[6], other[4];
    double distance[12], d[8];
    cof_model *m = fruit_model(label, distance);
    cof_table *t = strings_table(cells, 4, 2, fruit_names);
    cof_predict_info info = predict(m, t, other);
    assert_int_equal(info.n_unseen_cells, 6);
    assert_int_equal(info.n_unseen_rows, 4);
    assert_int_equal(other[0], label[5]); /* long, as the last fruit */
    assert_int_equal(other[1], 0);
    assert_int_equal(other[3], 0);
    assert_int_equal(cof_model_transform(m, t, 1, d, 8, NULL), COF_OK);
    /* a row of unknown values was at distance 0 from every cluster */
    assert_true(d[0] >= 0 && isnan(d[2]) && isnan(d[3]) && isnan(d[6]) && isnan(d[7]));
    cof_predict_info shorter = {.struct_size = offsetof(cof_predict_info, n_unseen_rows), .n_dropped = 77};
    assert_int_equal(cof_model_predict(m, t, 1, other, 4, &shorter, NULL), COF_OK);
    assert_int_equal(shorter.n_unseen_cells, 6);
    assert_int_equal(shorter.n_dropped, 77);
    cof_table_free(t);
    cof_model_free(m);
}

/* A column of booleans is the same as one of 0 and 1, but not as one of other values beside them. */
static void truths_by_what_they_mean(void **state)
{
    (void)state;
    static const char *const names[] = {"member", "size"};
    static const char *const fitted[] = {"true", "false", "true", "false", "s", "0", "s", "1"};
    static const char *const numbers[] = {"1", "0", "True", NULL, "s", "0", "s", "1"};
    static const char *const words[] = {"true", "false", "true", "false", "s", "false", "s", "true"};
    int32_t label[4], other[4];
    cof_table *t = strings_table(fitted, 4, 2, names);
    cof_fit_options o = options(2);
    cof_model *m = fit_model(t, &o, NULL);
    cof_attribute about = {.struct_size = sizeof about};
    assert_int_equal(cof_model_attribute(m, 0, &about), COF_OK);
    assert_false(about.has_missing);
    predict(m, t, label);
    cof_table_free(t);
    t = strings_table(numbers, 4, 2, names);
    assert_int_equal(predict(m, t, other).n_unseen_cells, 1); /* the missing one */
    assert_memory_equal(label, other, 3 * sizeof *label);
    cof_table_free(t);
    t = strings_table(words, 4, 2, names); /* size has three values */
    assert_int_equal(predict(m, t, other).n_unseen_cells, 2);
    cof_table_free(t);
    cof_model_free(m);
}

static void a_column_that_is_not_there(void **state)
{
    (void)state;
    static const char *const with[] = {"colour", "form"}, *const enough[] = {"shape", "colour"};
    int32_t label[6], other[6];
    double distance[12], moved[12];
    cof_error err;
    cof_model *m = fruit_model(label, distance);
    cof_table *t = strings_table(fruit, 6, 2, with);
    assert_int_equal(cof_model_predict(m, t, 1, other, 6, NULL, &err), COF_ERR_DATA);
    assert_non_null(strstr(err.text, "'shape'"));
    assert_int_equal(cof_model_transform(m, t, 1, moved, 12, &err), COF_ERR_DATA);
    cof_table_free(t);
    t = strings_table(fruit, 6, 2, enough); /* the constant one is not needed; no value fits */
    assert_int_equal(predict(m, t, other).n_unseen_cells, 12);
    cof_table_free(t);
    cof_model_free(m);
}

/* ---- Missing cells ------------------------------------------------------------------------------ */

static void check_missing(int32_t missing, bool seen, uint64_t n_unseen, uint64_t n_dropped)
{
    const char *train[] = {"a", "b", "a", "b", "a", seen ? NULL : "b", "p", "q", "p", "q", "p", "q"};
    static const char *const cells[] = {"a", NULL, "p", "p"};
    cof_table *t = strings_table(train, 6, 2, NULL), *other = strings_table(cells, 2, 2, NULL);
    cof_fit_options o = options(2);
    double distance[4];
    int32_t label[2];
    o.missing = missing;
    cof_model *m = fit_model(t, &o, NULL);
    cof_predict_info info = predict(m, other, label);
    assert_int_equal(info.n_unseen_cells, n_unseen);
    assert_int_equal(info.n_dropped, n_dropped);
    assert_int_equal(label[1]<0, n_dropped> 0);
    assert_true(label[0] >= 0);
    assert_int_equal(cof_model_transform(m, other, 1, distance, 4, NULL), COF_OK);
    assert_int_equal(isnan(distance[2]) && isnan(distance[3]), n_dropped > 0);
    cof_model_free(m);
    cof_table_free(t);
    cof_table_free(other);
}

static void missing_cells_as_the_model_was_told(void **state)
{
    (void)state;
    check_missing(COF_MISSING_VALUE, true, 0, 0);
    check_missing(COF_MISSING_VALUE, false, 1, 0); /* never met one: as any unseen value */
    check_missing(COF_MISSING_IGNORE, true, 0, 0);
    check_missing(COF_MISSING_IGNORE, false, 0, 0);
    check_missing(COF_MISSING_DROP, true, 0, 1);
    check_missing(COF_MISSING_DROP, false, 0, 1);
}

/* The model shows missing cells as "": a cell that holds that text is a value all the same, and unseen. */
static void a_value_that_looks_like_a_missing_cell(void **state)
{
    (void)state;
    static const char *const train[] = {"a", "b", NULL, "b", "p", "q", "p", "q"};
    static const char *const cells[] = {"", NULL, "p", "p"};
    cof_table *t = strings_table(train, 4, 2, NULL), *other = strings_table(cells, 2, 2, NULL);
    cof_fit_options o = options(2);
    int32_t label[2];
    cof_model *m = fit_model(t, &o, NULL);
    assert_string_equal(cof_model_value(m, 0, 2), "");
    assert_int_equal(predict(m, other, label).n_unseen_cells, 1);
    cof_model_free(m);
    cof_table_free(t);
    cof_table_free(other);
}

static void a_model_that_allows_no_missing_cell(void **state)
{
    (void)state;
    static const char *const train[] = {"a", "b", "a", "p", "q", "p"};
    static const char *const cells[] = {"a", NULL, "p", "p"};
    cof_table *t = strings_table(train, 3, 2, NULL), *other = strings_table(cells, 2, 2, NULL);
    cof_fit_options o = options(2);
    int32_t label[2];
    cof_error err;
    o.missing = COF_MISSING_ERROR;
    cof_model *m = fit_model(t, &o, NULL);
    assert_int_equal(cof_model_predict(m, other, 1, label, 2, NULL, &err), COF_ERR_MISSING);
    assert_non_null(strstr(err.text, "'V1'"));
    cof_model_free(m);
    cof_table_free(t);
    cof_table_free(other);
}

/* What dropped a row from the fit drops it here: a hole in a column that takes no part as well. */
static void a_hole_in_a_constant_column_drops_too(void **state)
{
    (void)state;
    static const char *const cells[] = {"a", "b", "a", "b", "x", "x", NULL, "x", "p", "q", "p", "q"};
    cof_table *t = strings_table(cells, 4, 3, NULL);
    cof_fit_options o = options(2);
    o.missing = COF_MISSING_DROP;
    cof_model *m = fit_model(t, &o, NULL);
    int32_t label[4];
    assert_int_equal(cof_model_labels(m, NULL)[2], -1);
    assert_int_equal(predict(m, t, label).n_dropped, 1);
    assert_memory_equal(label, cof_model_labels(m, NULL), sizeof label);
    cof_model_free(m);
    cof_table_free(t);
}

/* Margins are the least two of the distances, for lca and likelihood scores too, whatever the threads. */
static void margins_are_the_two_nearest(void **state)
{
    (void)state;
    enum { N = 9000, K = 5 };
    static const char *const methods[] = {"coforest", "lca", "kmodes"};
    for (size_t round = 0; round < 6; round++) {
        cof_table *t = random_table(round, N, 6, 4, 5);
        cof_fit_options o = options(K);
        o.method = methods[round % 3];
        if (round == 3) o.init = COF_INIT_PORTFOLIO;
        cof_model *m = fit_model(t, &o, NULL);
        double *distance = get_zero((size_t)N * K, sizeof *distance);
        cof_margin *margin = get_zero(N, sizeof *margin), *other = get_zero(N, sizeof *other);
        int32_t *label = get_zero(N, sizeof *label);
        cof_error err;
        predict(m, t, label);
        double *again = get_zero((size_t)N * K, sizeof *again);
        assert_status(cof_model_transform(m, t, 1, distance, (size_t)N * K, &err), COF_OK, &err);
        assert_status(cof_model_transform(m, t, 3, again, (size_t)N * K, &err), COF_OK, &err);
        assert_memory_equal(distance, again, (size_t)N * K * sizeof *again);
        free(again);
        assert_status(cof_model_margins(m, t, label, 1, margin, N, &err), COF_OK, &err);
        assert_status(cof_model_margins(m, t, label, 3, other, N, &err), COF_OK, &err);
        for (size_t i = 0; i < N; i++) {
            const double *d = distance + i * K;
            double next = INFINITY;
            for (int32_t j = 0; j < K; j++) next = j != label[i] && d[j] < next ? d[j] : next;
            assert_near(margin[i].own, d[label[i]], 1e-6 * (1 + d[label[i]]));
            assert_near(margin[i].other, next, 1e-6 * (1 + next));
            assert_true(margin[i].second >= 0 && margin[i].second != label[i]);
            assert_true(other[i].own == margin[i].own && other[i].second == margin[i].second);
            double lead = cof_margin_lead(&margin[i]);
            assert_true(lead >= 0 && lead <= 1);
        }
        assert_status(cof_model_margins(m, t, label, 1, margin, N - 1, &err), COF_ERR_ARGUMENT, &err);
        free(distance);
        free(margin);
        free(other);
        free(label);
        cof_model_free(m);
        cof_table_free(t);
    }
    cof_margin none = {.own = NAN, .other = INFINITY, .second = -1},
               tie = {.own = 2, .other = 2, .second = 1};
    assert_true(cof_margin_lead(&none) == 0 && cof_margin_lead(&tie) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_settled_fit_predicts_itself),
        cmocka_unit_test(distances_equal_their_definition),
        cmocka_unit_test(the_nearest_by_distance_is_the_label),
        cmocka_unit_test(rooms_of_the_wrong_size),
        cmocka_unit_test(values_of_rows),
        cmocka_unit_test(columns_by_name_and_values_by_text),
        cmocka_unit_test(unseen_values_add_nothing),
        cmocka_unit_test(truths_by_what_they_mean),
        cmocka_unit_test(a_column_that_is_not_there),
        cmocka_unit_test(missing_cells_as_the_model_was_told),
        cmocka_unit_test(a_value_that_looks_like_a_missing_cell),
        cmocka_unit_test(a_model_that_allows_no_missing_cell),
        cmocka_unit_test(a_hole_in_a_constant_column_drops_too),
        cmocka_unit_test(margins_are_the_two_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
