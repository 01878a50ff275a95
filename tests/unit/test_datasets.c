/* The paper's twelve datasets: mean accuracies against the reference means of the specification, the fixed
 * points of the voting records, and what the defaults reach. Skipped where the data is not at hand. */
#include "unit_helper.h"

#include <unistd.h>

enum { RUNS = 300, FEW_RUNS = 10, REFERENCE_RUNS = 1000, FEW_REFERENCE_RUNS = 60 };

/* Mean CA and its deviation over random k-modes starts, by section 17 of the specification. */
typedef struct reference {
    const char *name;
    double mean[2], deviation[2]; /* by cof_variant: paper ("c=1"), authors ("code") */
    bool large;                   /* NS: 12,960 rows, so fewer runs on both sides */
} reference;

static const reference references[] = {
    {"hr", {.420, .412}, {.05, .05}, false}, {"ce", {.370, .385}, {.05, .06}, false},
    {"ac", {.763, .777}, {.12, .11}, false}, {"vt", {.876, .876}, {.01, .01}, false},
    {"cs", {.602, .611}, {.05, .05}, false}, {"sb", {.835, .847}, {.16, .16}, false},
    {"ns", {.305, .301}, {.07, .06}, true},  {"zo", {.719, .705}, {.10, .10}, false},
    {"ts", {.654, .648}, {.09, .10}, false}, {"hf", {.553, .553}, {.02, .02}, false},
    {"ds", {.685, .685}, {.11, .11}, false}, {"ls", {.524, .552}, {.10, .10}, false},
};

/* ---- Reading ------------------------------------------------------------------------------------ */

typedef struct dataset {
    cof_table *table;
    int32_t *classes;
    size_t n;
    uint32_t k;
} dataset;

static const char *data_path(const char *name, char *path, size_t size)
{
    const char *folder = getenv("COFOREST_DATA");
    if (folder != NULL && *folder != '\0')
        snprintf(path, size, "%s/%s.csv", folder, name);
    else
        snprintf(path, size, "%s/../shared/data/%s.csv", COF_SOURCE_DIR, name);
    return path;
}

static void skip_without_data(void)
{
    char path[4096];
    for (size_t d = 0; d < COUNT(references); d++) {
        if (access(data_path(references[d].name, path, sizeof path), R_OK) == 0) continue;
        printf("skipped: there is no %s; set COFOREST_DATA to the folder of the twelve datasets\n", path);
        skip();
    }
}

/* The class is the last column; k is the number of classes. */
static dataset open_dataset(const char *name)
{
    char path[4096];
    dataset d = {.table = NULL};
    cof_column last = {.struct_size = sizeof last};
    cof_error err;
    assert_status(cof_table_read(NULL, data_path(name, path, sizeof path), NULL, &d.table, &err), COF_OK,
                  &err);
    size_t column = cof_table_n_columns(d.table) - 1;
    assert_int_equal(cof_table_column(d.table, column, &last), COF_OK);
    assert_int_equal(cof_table_set_role(d.table, column, COF_ROLE_LABEL, &err), COF_OK);
    d.k = last.n_values;
    d.n = cof_table_n_rows(d.table);
    d.classes = get_zero(d.n, sizeof *d.classes);
    for (size_t i = 0; i < d.n; i++) d.classes[i] = (int32_t)cof_table_code(d.table, i, column);
    return d;
}

static void close_dataset(dataset *d)
{
    cof_table_free(d->table);
    free(d->classes);
}

static cof_indices fit_and_score(const dataset *d, const cof_fit_options *o)
{
    cof_indices scores = {.struct_size = sizeof scores};
    cof_error err;
    cof_model *m = fit_model(d->table, o, NULL);
    assert_status(cof_evaluate(NULL, cof_model_labels(m, NULL), d->classes, d->n, &scores, &err), COF_OK,
                  &err);
    cof_model_free(m);
    return scores;
}

/* The paper's start: one set of random modes. */
static cof_fit_options one_start(const dataset *d, int32_t variant, uint64_t seed)
{
    return (cof_fit_options){.struct_size = sizeof(cof_fit_options),
                             .k = d->k,
                             .restarts = 1,
                             .seed = seed,
                             .variant = variant,
                             .init = COF_INIT_RANDOM,
                             .threads = 1};
}

/* ---- Reference means ---------------------------------------------------------------------------- */

/* Within four standard errors of both samples; the reference is rounded to 0.001. */
static void check_mean(const reference *ref, int32_t variant, const double *ca, int runs)
{
    double mean = 0, square = 0, theirs = ref->deviation[variant];
    for (int i = 0; i < runs; i++) mean += ca[i] / runs;
    for (int i = 0; i < runs; i++) square += (ca[i] - mean) * (ca[i] - mean) / (runs - 1);
    double n_theirs = ref->large ? FEW_REFERENCE_RUNS : REFERENCE_RUNS;
    double error = sqrt(square / runs + theirs * theirs / n_theirs);
    printf("%s, %s: mean CA %.4f +- %.3f, reference %.3f, %+.1f standard errors\n", ref->name,
           variant == COF_VARIANT_PAPER ? "paper" : "authors", mean, sqrt(square), ref->mean[variant],
           (mean - ref->mean[variant]) / error);
    assert_near(mean, ref->mean[variant], 4 * error + 0.0005);
}

static void mean_accuracies_equal_the_reference(void **state)
{
    (void)state;
    skip_without_data();
    for (size_t r = 0; r < COUNT(references); r++) {
        dataset d = open_dataset(references[r].name);
        int runs = references[r].large ? FEW_RUNS : RUNS;
        for (int32_t variant = COF_VARIANT_PAPER; variant <= COF_VARIANT_AUTHORS; variant++) {
            double ca[RUNS];
            for (int i = 0; i < runs; i++) {
                cof_fit_options o = one_start(&d, variant, (uint64_t)i + 1);
                ca[i] = fit_and_score(&d, &o).ca;
            }
            check_mean(&references[r], variant, ca, runs);
        }
        close_dataset(&d);
    }
}

/* ---- Fixed points ------------------------------------------------------------------------------- */

static bool at_point(const cof_indices *s, double ca, double ari, double nmi)
{
    return fabs(s->ca - ca) < 5.1e-5 && fabs(s->ari - ari) < 5.1e-5 && fabs(s->nmi - nmi) < 5.1e-5;
}

/* Section 16: almost every start ends in one of two partitions. */
static void voting_records_end_at_two_points(void **state)
{
    (void)state;
    skip_without_data();
    dataset d = open_dataset("vt");
    for (int32_t variant = COF_VARIANT_PAPER; variant <= COF_VARIANT_AUTHORS; variant++) {
        int at_one = 0, at_other = 0;
        for (int i = 0; i < RUNS; i++) {
            cof_fit_options o = one_start(&d, variant, (uint64_t)i + 1);
            cof_indices s = fit_and_score(&d, &o);
            at_one += at_point(&s, .8759, .5641, .4892);
            at_other += at_point(&s, .8782, .5710, .4943);
        }
        printf("vt, %s: %d and %d of %d runs\n", variant == COF_VARIANT_PAPER ? "paper" : "authors", at_one,
               at_other, RUNS);
        assert_true(at_one + at_other >= 0.97 * RUNS);
        assert_true(at_one > at_other && at_other > 0);
    }
    close_dataset(&d);
}

/* ---- Defaults ----------------------------------------------------------------------------------- */

/* The six datasets with structure, as anyone would run them. */
static void defaults_find_the_structure(void **state)
{
    (void)state;
    static const char *const names[] = {"ac", "vt", "cs", "sb", "zo", "ds"};
    skip_without_data();
    double mean = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        dataset d = open_dataset(names[i]);
        double own = 0;
        for (uint64_t seed = 1; seed <= 10; seed++) {
            cof_fit_options o = {.struct_size = sizeof o, .k = d.k, .seed = seed, .threads = 1};
            double ari = fit_and_score(&d, &o).ari;
            if (strcmp(names[i], "sb") == 0) assert_true(ari == 1);
            own += ari / 10;
        }
        printf("%s, defaults: mean ARI %.4f\n", names[i], own);
        mean += own / COUNT(names);
        close_dataset(&d);
    }
    printf("mean ARI of the six: %.4f\n", mean);
    assert_true(mean >= .53);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_accuracies_equal_the_reference),
        cmocka_unit_test(voting_records_end_at_two_points),
        cmocka_unit_test(defaults_find_the_structure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
