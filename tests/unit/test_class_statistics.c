/* Statistics of latent classes against poLCA 1.6.0.2. tests/data/lca has its figures. */
#include "method_helper.h"

static cof_table *read_table(const char *name)
{
    char path[512];
    cof_table *table = NULL;
    cof_error err;
    snprintf(path, sizeof path, "%s/lca/%s.csv", COF_TEST_DATA, name);
    assert_status(cof_table_read(NULL, path, NULL, &table, &err), COF_OK, &err);
    return table;
}

static cof_table *published(const char *name)
{
    cof_table *table = read_table(name);
    cof_error err;
    assert_status(cof_table_set_role(table, cof_table_n_columns(table) - 1, COF_ROLE_WEIGHT, &err), COF_OK,
                  &err);
    return table;
}

static double number(const cof_table *t, size_t row, const char *column)
{
    return strtod(cof_table_cell(t, row, cof_table_find(t, column)), NULL);
}

static const char *text(const cof_table *t, size_t row, const char *column)
{
    return cof_table_cell(t, row, cof_table_find(t, column));
}

/* A model with the greatest likelihood, and what is known of it. */
typedef struct fitted {
    cof_table *table;
    cof_model *model;
    cof_class_study *study;
    cof_fit_info info;
} fitted;

static fitted fit_classes(const char *name, uint32_t k)
{
    cof_error err;
    fitted f = {.table = published(name), .info = {.struct_size = sizeof f.info}};
    cof_fit_options o = {
        .struct_size = sizeof o, .k = k, .restarts = 100, .method = "lca", .prior = COF_PRIOR_NONE};
    f.model = fit_model(f.table, &o, &f.info);
    assert_true(isnan(f.info.df) && isnan(f.info.aic3));
    assert_status(cof_model_criteria(f.model, f.table, NULL, 1, &f.info, &err), COF_OK, &err);
    assert_status(
        cof_class_study_open(f.model, f.table, NULL, COF_STUDY_ERRORS | COF_STUDY_RESIDUALS, &f.study, &err),
        COF_OK, &err);
    return f;
}

static void end(fitted *f)
{
    cof_class_study_free(f->study);
    cof_model_free(f->model);
    cof_table_free(f->table);
}

static void fit_as_polca(void **state)
{
    cof_table *polca = read_table("polca-fit");
    (void)state;
    for (size_t i = 0; i < cof_table_n_rows(polca); i++) {
        fitted f = fit_classes(text(polca, i, "table"), (uint32_t)number(polca, i, "classes"));
        assert_near(f.info.mixture_log_likelihood, number(polca, i, "ll"), 1e-4);
        assert_near(f.info.n_parameters, number(polca, i, "npar"), 0);
        assert_near(f.info.df, number(polca, i, "resid_df"), 0);
        assert_near(f.info.g_squared, number(polca, i, "Gsq"), 1e-3);
        assert_near(f.info.x_squared, number(polca, i, "Chisq"), 1e-3);
        assert_near(f.info.aic, number(polca, i, "aic"), 1e-3);
        assert_near(f.info.bic, number(polca, i, "bic"), 1e-3);
        assert_near(f.info.aic3, f.info.aic + f.info.n_parameters, 1e-9);
        bool identified = strcmp(text(polca, i, "table"), "cheating") != 0 || number(polca, i, "classes") < 3;
        if (identified) assert_near(f.info.entropy_r_squared, number(polca, i, "entropy_r2"), 1e-3);
        assert_true(f.info.p_g_squared > 0 && f.info.p_g_squared <= 1);
        end(&f);
    }
    cof_table_free(polca);
}

/* "1|2|1" of a row of patterns. */
static void show_pattern(const cof_table *t, size_t row, char *to)
{
    *to = '\0';
    for (size_t c = 0; c + 1 < cof_table_n_columns(t); c++) {
        if (c > 0) strcat(to, "|");
        strcat(to, cof_table_cell(t, row, c));
    }
}

static void cells_as_polca(void **state)
{
    cof_table *polca = read_table("polca-cells");
    fitted f = {.table = NULL};
    const cof_class_cell *cell = NULL;
    size_t n_cells = 0, n_found = 0;
    char pattern[64];
    (void)state;
    for (size_t i = 0; i < cof_table_n_rows(polca); i++) {
        bool same = i > 0 && strcmp(text(polca, i, "table"), text(polca, i - 1, "table")) == 0 &&
                    number(polca, i, "classes") == number(polca, i - 1, "classes");
        if (!same) {
            if (f.table != NULL) end(&f);
            f = fit_classes(text(polca, i, "table"), (uint32_t)number(polca, i, "classes"));
            cell = cof_class_study_cells(f.study, &n_cells);
        }
        for (size_t c = 0; c < n_cells; c++) {
            show_pattern(f.table, cell[c].row, pattern);
            if (strcmp(pattern, text(polca, i, "pattern")) != 0) continue;
            assert_near(cell[c].observed, number(polca, i, "observed"), 1e-9);
            assert_near(cell[c].expected, number(polca, i, "expected"), 2e-3);
            n_found++;
        }
    }
    assert_int_equal(n_found, cof_table_n_rows(polca));
    end(&f);
    cof_table_free(polca);
}

/* The class of ours that is class `theirs` of the block of rows from `first` on: its share is the nearest. */
static uint32_t class_of(const fitted *f, const cof_table *polca, size_t first, double theirs)
{
    uint32_t best = 0;
    double share = 0;
    for (size_t i = first; number(polca, i, "class") != theirs || *text(polca, i, "column") != '\0'; i++)
        share = number(polca, i + 1, "estimate");
    if (number(polca, first, "class") == theirs) share = number(polca, first, "estimate");
    for (uint32_t j = 1; j < cof_model_k(f->model); j++)
        if (fabs(cof_model_class_share(f->model, j) - share) <
            fabs(cof_model_class_share(f->model, best) - share))
            best = j;
    return best;
}

static size_t attribute_named(const cof_model *model, const char *name)
{
    cof_attribute about = {.struct_size = sizeof about};
    for (size_t a = 0;; a++) {
        assert_int_equal(cof_model_attribute(model, a, &about), COF_OK);
        if (strcmp(about.name, name) == 0) return a;
    }
}

static uint32_t value_named(const cof_model *model, size_t attribute, const char *name)
{
    uint32_t v = 0;
    while (strcmp(cof_model_value(model, attribute, v), name) != 0) v++;
    return v;
}

/* Where the estimate is no boundary. Three classes of four columns with two values are not identified (Goodman 1974): many
 * parameters have the greatest likelihood, so those of cheating differ. */
static void errors_as_polca(void **state)
{
    cof_table *polca = read_table("polca-parameters");
    fitted f = {.table = NULL};
    size_t first = 0, n_compared = 0;
    (void)state;
    for (size_t i = 0; i < cof_table_n_rows(polca); i++) {
        bool same = i > 0 && strcmp(text(polca, i, "table"), text(polca, i - 1, "table")) == 0 &&
                    number(polca, i, "classes") == number(polca, i - 1, "classes");
        if (!same) {
            if (f.table != NULL) end(&f);
            f = fit_classes(text(polca, i, "table"), (uint32_t)number(polca, i, "classes"));
            first = i;
        }
        if (strcmp(text(polca, i, "table"), "cheating") == 0 && number(polca, i, "classes") == 3) continue;
        uint32_t j = class_of(&f, polca, first, number(polca, i, "class"));
        bool is_share = *text(polca, i, "column") == '\0';
        size_t a = is_share ? 0 : attribute_named(f.model, text(polca, i, "column"));
        uint32_t v = is_share ? 0 : value_named(f.model, a, text(polca, i, "value"));
        double own =
            is_share ? cof_model_class_share(f.model, j) : cof_model_class_probability(f.model, a, v, j);
        double error = is_share ? cof_class_study_share_error(f.study, j)
                                : cof_class_study_probability_error(f.study, a, v, j);
        double theirs = number(polca, i, "estimate"), their_error = number(polca, i, "se");
        assert_near(own, theirs, 1e-3);
        if (theirs < 1e-3 || theirs > 1 - 1e-3) continue;
        if (!(fabs(error - their_error) <= 0.02 * their_error))
            fail_msg("%s %s %s: %s=%s %.6f +- %.6f instead of %.6f", text(polca, i, "table"),
                     text(polca, i, "classes"), text(polca, i, "class"), text(polca, i, "column"),
                     text(polca, i, "value"), theirs, error, their_error);
        n_compared++;
    }
    assert_true(n_compared > 100);
    end(&f);
    cof_table_free(polca);
}

/* With one class a residual is the X squared of independence; poLCA has none. */
static void residuals_of_pairs(void **state)
{
    fitted one = fit_classes("cheating", 1), two = fit_classes("cheating", 2);
    double n[2][2] = {{0}}, row[2] = {0}, column[2] = {0}, x = 0, all = 0;
    (void)state;
    for (size_t i = 0; i < cof_table_n_rows(one.table); i++) {
        double w = number(one.table, i, "count");
        size_t u = cof_table_code(one.table, i, 0), v = cof_table_code(one.table, i, 1);
        n[u][v] += w, row[u] += w, column[v] += w, all += w;
    }
    for (size_t u = 0; u < 2; u++)
        for (size_t v = 0; v < 2; v++) {
            double expected = row[u] * column[v] / all;
            x += (n[u][v] - expected) * (n[u][v] - expected) / expected;
        }
    assert_near(cof_class_study_residual(one.study, 0, 1), x, 1e-6);
    assert_near(cof_class_study_residual(one.study, 1, 0), x, 1e-6);
    assert_true(isnan(cof_class_study_residual(one.study, 1, 1)));
    assert_true(isnan(cof_class_study_residual(one.study, 0, 4)));
    assert_true(cof_class_study_residual(two.study, 0, 1) < x / 10);
    assert_true(isnan(one.info.entropy_r_squared));
    end(&one);
    end(&two);
}

static void other_methods_have_none(void **state)
{
    cof_table *table = published("values");
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .restarts = 2, .method = "kmodes"};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model *model = fit_model(table, &o, &info);
    cof_class_study *study = NULL;
    cof_error err;
    (void)state;
    assert_int_equal(cof_class_study_open(model, table, NULL, 0, &study, &err), COF_ERR_NO_RESULT);
    assert_true(isnan(cof_model_class_share(model, 0)) && isnan(cof_model_class_probability(model, 0, 0, 0)));
    assert_status(cof_model_criteria(model, table, NULL, 1, &info, &err), COF_OK, &err);
    assert_true(isnan(info.df) && !isnan(info.aic3));
    cof_class_study_free(NULL);
    cof_model_free(model);
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fit_as_polca),
        cmocka_unit_test(cells_as_polca),
        cmocka_unit_test(errors_as_polca),
        cmocka_unit_test(residuals_of_pairs),
        cmocka_unit_test(other_methods_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
