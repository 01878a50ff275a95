/* The table of a result's fields: well formed, and readable for every model, with and without the fit's info. */
#include "unit_helper.h"

/* Members follow their group, keys are unique within it, and every field is described. */
static void the_table_is_well_formed(void **state)
{
    const cof_field *field, *other, *group = NULL;
    (void)state;
    for (size_t f = 0; (field = cof_result_field(f)) != NULL; f++) {
        assert_true(strlen(field->key) > 0 && strlen(field->about) > 0);
        assert_true(field->type >= COF_FIELD_COUNT && field->type <= COF_FIELD_RECORDS);
        if (field->inside != NULL) assert_string_equal(field->inside, group->key);
        if (field->inside == NULL) group = field;
        for (size_t g = 0; g < f && (other = cof_result_field(g)) != NULL; g++)
            if (strcmp(field->key, other->key) == 0)
                assert_true((field->inside == NULL) != (other->inside == NULL) ||
                            (field->inside != NULL && strcmp(field->inside, other->inside) != 0));
    }
    assert_null(cof_result_field(SIZE_MAX));
    assert_int_equal(cof_result_length(NULL, NULL, SIZE_MAX), 0);
    assert_int_equal(cof_result_value(NULL, NULL, SIZE_MAX, 0).known, 0);
    assert_null(cof_result_word(SIZE_MAX, 0).name);
}

static size_t place(const char *inside, const char *key)
{
    const cof_field *field;
    for (size_t f = 0; (field = cof_result_field(f)) != NULL; f++)
        if (strcmp(field->key, key) == 0 && (inside == NULL) == (field->inside == NULL) &&
            (inside == NULL || strcmp(inside, field->inside) == 0))
            return f;
    fail_msg("no field %s", key);
    return SIZE_MAX;
}

static void values_are_those_of_the_accessors(void **state)
{
    (void)state;
    cof_table *table = random_table(3, 200, 5, 4, 5);
    cof_fit_options o = {.struct_size = sizeof o, .k = 3, .restarts = 4, .init = COF_INIT_KMEANS};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model *m = fit_model(table, &o, &info);
    size_t n = 0;
    const cof_restart_record *record = cof_model_restarts(m, &n);
    assert_int_equal(cof_result_value(m, &info, place(NULL, "k"), 0).count, 3);
    assert_int_equal(cof_result_value(m, &info, place(NULL, "n_rows"), 0).count, 200);
    assert_true(cof_result_value(m, &info, place(NULL, "objective"), 0).real == info.objective);
    assert_string_equal(cof_result_value(m, &info, place(NULL, "kernel"), 0).text, info.kernel);
    assert_string_equal(cof_result_value(m, &info, place(NULL, "select"), 0).text, "likelihood");
    cof_word why = cof_result_word(place(NULL, "stop_reason"), (size_t)info.stop_reason);
    assert_string_equal(cof_result_value(m, &info, place(NULL, "stop_reason"), 0).text, why.name);
    assert_non_null(why.about);
    assert_string_equal(cof_result_word(place(NULL, "missing"), COF_MISSING_DROP).name, "drop");
    assert_null(cof_result_word(place(NULL, "missing"), 4).name);
    assert_null(cof_result_word(place(NULL, "k"), 0).name);
    assert_int_equal(cof_result_length(m, &info, place(NULL, "sizes")), 3);
    assert_true(cof_result_value(m, &info, place(NULL, "sizes"), 2).real == cof_model_sizes(m)[2]);
    assert_int_equal(cof_result_length(m, &info, place(NULL, "restart_records")), n);
    for (size_t i = 0; i < n; i++) {
        assert_true(cof_result_value(m, &info, place("restart_records", "objective"), i).real ==
                    record[i].objective);
        assert_int_equal(cof_result_value(m, &info, place("restart_records", "passes"), i).count,
                         record[i].passes);
    }
    assert_int_equal(cof_result_length(m, &info, place(NULL, "k_curve")), 0);
    assert_int_equal(cof_result_length(m, &info, place(NULL, "bic")), 0);
    cof_model_free(m);
    cof_table_free(table);
}

/* As for a model that was loaded. */
static void without_info_only_the_models_own_fields_are_there(void **state)
{
    (void)state;
    cof_table *table = random_table(4, 100, 4, 3, 4);
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .method = "kmodes"};
    cof_model *m = fit_model(table, &o, NULL);
    size_t n_there = 0;
    for (size_t f = 0; cof_result_field(f) != NULL; f++) {
        n_there += cof_result_length(m, NULL, f) > 0;
        assert_int_equal(cof_result_value(m, NULL, f, SIZE_MAX).known, 0);
    }
    assert_int_equal(cof_result_value(m, NULL, place("k_curve", "k"), 0).known, 0); /* an empty list */
    assert_int_equal(cof_result_value(m, NULL, place("restart_records", "passes"), 0).known, 1);
    assert_true(n_there > 10);
    assert_int_equal(cof_result_length(m, NULL, place(NULL, "objective")), 0);
    assert_int_equal(cof_result_value(m, NULL, place(NULL, "objective"), 0).known, 0);
    assert_int_equal(cof_result_value(m, NULL, place(NULL, "variant"), 0).known, 0);
    cof_model_free(m);
    cof_table_free(table);
}

static void scores_have_the_values_of_their_members(void **state)
{
    (void)state;
    cof_indices s = {.ca = 1, .ari = 2, .nmi = 3, .ami = 4, .purity = 5};
    s.homogeneity = 6, s.completeness = 7, s.v_measure = 8;
    for (size_t i = 0; i < 8; i++) assert_true(cof_index_value(&s, i) == (double)(i + 1));
    assert_string_equal(cof_index_at(7)->key, "v_measure");
    assert_null(cof_index_at(8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_well_formed),
        cmocka_unit_test(values_are_those_of_the_accessors),
        cmocka_unit_test(without_info_only_the_models_own_fields_are_there),
        cmocka_unit_test(scores_have_the_values_of_their_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
