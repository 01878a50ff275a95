/* From reading to predicting with the n-th allocation failing, for every n: first with all later ones failing
 * too, then alone. Nothing may leak, and nobody may mistake a failure for a result. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "cases_helper.h"

#include <unistd.h>

/* Only one call fails, so that code that went on regardless would be seen to. */
static void *alloc_all_but_one(void *ctx, size_t bytes)
{
    alloc_meter *meter = ctx;
    if (meter->count == meter->fail_at) {
        meter->count++;
        return NULL;
    }
    size_t fail_at = meter->fail_at;
    meter->fail_at = ALLOC_NEVER_FAILS;
    void *block = alloc_or_fail(ctx, bytes);
    meter->fail_at = fail_at;
    return block;
}

typedef struct job {
    const char *csv;
    cof_fit_options fit;
    bool by_file; /* save to a file and load from it; else to /dev/null, and load from memory */
    const void *model;
    size_t n_model;
    char path[40];
} job;

/* Every step on what the step before made. Stops at the first failure. */
static cof_status save_and_load(const job *j, const cof_env *env, const cof_model *m, cof_model **again,
                                cof_error *err)
{
    cof_status status = cof_model_save(m, j->by_file ? j->path : "/dev/null", err);
    if (status != COF_OK) return status;
    return j->by_file ? cof_model_load(env, j->path, again, err)
                      : cof_model_load_memory(env, "memory", j->model, j->n_model, again, err);
}

static cof_status use(const cof_model *m, const cof_table *t, uint32_t threads, cof_error *err)
{
    size_t n = cof_table_n_rows(t), k = cof_model_k(m);
    int32_t *label = get_zero(n, sizeof *label);
    double *distance = get_zero(n * k, sizeof *distance);
    cof_status status = cof_model_predict(m, t, threads, label, n, NULL, err);
    if (status == COF_OK) status = cof_model_transform(m, t, 1, distance, n * k, err);
    cof_margin *margin = get_zero(n, sizeof *margin);
    if (status == COF_OK) status = cof_model_margins(m, t, label, threads, margin, n, err);
    cof_fit_info info = {.struct_size = sizeof info};
    if (status == COF_OK) status = cof_model_criteria(m, t, NULL, threads, &info, err);
    free(margin);
    free(label);
    free(distance);
    return status;
}

static cof_status do_all(const job *j, const cof_env *env, cof_error *err)
{
    cof_table *t = NULL;
    cof_model *m = NULL, *again = NULL;
    cof_status status = cof_table_read_memory(env, "test", j->csv, strlen(j->csv), NULL, &t, err);
    if (status == COF_OK) status = cof_fit(t, &j->fit, &m, NULL, err);
    if (status == COF_OK) status = save_and_load(j, env, m, &again, err);
    if (status == COF_OK) status = use(again, t, j->fit.threads, err);
    cof_model_free(again);
    cof_model_free(m);
    cof_table_free(t);
    return status;
}

/* Returns how many allocations the whole job makes. */
static size_t fail_everywhere(const job *j, bool once)
{
    for (size_t n = 0;; n += one_in()) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_error err = {""};
        if (once) env.alloc = alloc_all_but_one;
        cof_status status = do_all(j, &env, &err);
        if (meter.live != 0) fail_msg("%zu blocks are left after allocation %zu failed", meter.live, n);
        if (status != COF_OK && status != COF_ERR_MEMORY)
            fail_msg("status %d after allocation %zu failed: %s", (int)status, n, err.text);
        if (status == COF_ERR_MEMORY) assert_non_null(strstr(err.text, "memory"));
        if (meter.count <= n) { /* nothing failed */
            assert_int_equal(status, COF_OK);
            return meter.count;
        }
    }
}

static void check_job(job j)
{
    strcpy(j.path, "/tmp/coforest-test-XXXXXX");
    int fd = mkstemp(j.path);
    assert_true(fd >= 0);
    close(fd);
    cof_table *t = NULL;
    cof_error err;
    assert_status(cof_table_read_memory(NULL, "test", j.csv, strlen(j.csv), NULL, &t, &err), COF_OK, &err);
    cof_model *m = fit_model(t, &j.fit, NULL);
    assert_status(cof_model_save(m, j.path, &err), COF_OK, &err);
    unsigned char *bytes = get_zero(1 << 20, 1);
    FILE *in = fopen(j.path, "rb");
    assert_non_null(in);
    j.n_model = fread(bytes, 1, 1 << 20, in);
    j.model = bytes;
    fclose(in);
    assert_true(fail_everywhere(&j, false) > 50);
    fail_everywhere(&j, true);
    unlink(j.path);
    free(bytes);
    cof_model_free(m);
    cof_table_free(t);
}

/* ---- Tables ------------------------------------------------------------------------------------- */

/* Random cells as CSV, some of them missing. */
static char *make_csv(uint64_t seed, size_t n, size_t l, size_t o, bool holes)
{
    cofi_rng rng = dice(seed);
    int32_t *codes = random_codes(&rng, n, l, o, 3);
    char *csv = get_zero((n + 1) * l * 12, 1), *at = csv;
    for (size_t r = 0; r < l; r++) at += sprintf(at, "%scolumn%zu", r > 0 ? "," : "", r);
    for (size_t i = 0; i < n * l; i++) {
        at += sprintf(at, "%s", i % l == 0 ? "\n" : ",");
        at += holes && below(&rng, 20) == 0 ? sprintf(at, "?") : sprintf(at, "v%d", (int)codes[i]);
    }
    strcpy(at, "\n");
    free(codes);
    return csv;
}

static void every_start_and_variant(void **state)
{
    (void)state;
    char *csv = make_csv(1, 40, 4, 3, false);
    for (int32_t init = COF_INIT_PORTFOLIO; init <= COF_INIT_HUANG; init++) {
        for (int32_t variant = COF_VARIANT_PAPER; variant <= COF_VARIANT_AUTHORS; variant++) {
            job j = {.csv = csv};
            j.fit = (cof_fit_options){.struct_size = sizeof j.fit, .k = 3, .restarts = 3, .threads = 1};
            j.fit.init = init;
            j.fit.variant = variant;
            check_job(j);
        }
    }
    free(csv);
}

static void weights_and_missing_cells(void **state)
{
    (void)state;
    char *csv = make_csv(2, 60, 4, 3, true);
    double weights[60];
    for (size_t i = 0; i < 60; i++) weights[i] = 0.5 * (double)(i % 3);
    for (int32_t missing = COF_MISSING_VALUE; missing <= COF_MISSING_DROP; missing++) {
        for (int weighted = 0; weighted < 2; weighted++) {
            job j = {.csv = csv};
            j.fit = (cof_fit_options){.struct_size = sizeof j.fit, .k = 3, .restarts = 2, .threads = 1};
            j.fit.missing = missing;
            j.fit.weights = weighted ? weights : NULL;
            check_job(j);
        }
    }
    free(csv);
}

/* Forty copies of few rows, so that they are folded. */
static void folded_rows(void **state)
{
    (void)state;
    char *csv = make_csv(3, 400, 3, 2, true);
    job j = {.csv = csv};
    j.fit = (cof_fit_options){.struct_size = sizeof j.fit, .k = 4, .restarts = 2, .threads = 1};
    check_job(j);
    free(csv);
}

static void files(void **state)
{
    (void)state;
    char *csv = make_csv(4, 30, 3, 3, false);
    job j = {.csv = csv, .by_file = true};
    j.fit = (cof_fit_options){.struct_size = sizeof j.fit, .k = 2, .restarts = 1, .threads = 1};
    check_job(j);
    free(csv);
}

/* Enough rows that two threads work. */
static void two_threads(void **state)
{
    (void)state;
    char *csv = make_csv(5, 4200, 4, 4, false);
    job j = {.csv = csv};
    j.fit = (cof_fit_options){.struct_size = sizeof j.fit, .k = 12, .restarts = 1, .threads = 2};
    j.fit.max_rebuilds = j.fit.max_passes = 1;
    check_job(j);
    free(csv);
}

/* A fit that goes round in circles keeps labels on the way; see test_fit.c. */
static void a_cycle(void **state)
{
    (void)state;
    for (size_t n = 0;; n += one_in()) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_env env = alloc_env(&meter);
        cofi_rng rng = dice(195);
        int32_t *codes = random_codes(&rng, 47, 5, 2, 4);
        cof_table *t = NULL;
        cof_model *m = NULL;
        cof_fit_info info = {.struct_size = sizeof info};
        cof_fit_options o = {.struct_size = sizeof o, .k = 5, .restarts = 1, .threads = 1, .seed = 2};
        o.init = COF_INIT_FARTHEST;
        assert_int_equal(cof_table_from_codes(&env, codes, 47, 5, NULL, &t, NULL), COF_OK);
        meter.fail_at = meter.count + n;
        cof_status status = cof_fit(t, &o, &m, &info, NULL);
        cof_model_free(m);
        cof_table_free(t);
        free(codes);
        assert_int_equal(meter.live, 0);
        assert_true(status == COF_OK || status == COF_ERR_MEMORY);
        if (status != COF_OK) continue;
        assert_int_equal(info.stop_reason, COF_STOP_CYCLE);
        return;
    }
}

/* A made table, with an order and with bins where it has numbers; the fit also looks for a better number of clusters. */
static cof_status make_and_use(const cof_env *env, int32_t kind, cof_error *err)
{
    cof_generate_options g = {.struct_size = sizeof g, .kind = kind, .n_rows = 40, .n_columns = 3};
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .restarts = 1, .threads = 1};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_column first = {.struct_size = sizeof first};
    const char *order[8];
    cof_table *t = NULL, *uncut = NULL;
    cof_model *m = NULL;
    cof_status status = cof_table_generate(env, &g, &t, err);
    if (status == COF_OK) status = cof_table_generate(env, &g, &uncut, err);
    if (status == COF_OK) status = cof_table_column(t, 0, &first);
    for (uint32_t v = 0; v < first.n_values; v++) order[v] = cof_table_value(t, 0, first.n_values - 1 - v);
    if (status == COF_OK) status = cof_table_set_order(t, 0, order, first.n_values, err);
    for (size_t c = 4; kind == COF_GENERATE_MIXED && c < 8 && status == COF_OK; c++)
        status = cof_table_cut(t, c, NULL, err);
    if (status == COF_OK) status = cof_fit(t, &o, &m, &info, err);
    if (status == COF_OK) status = use(m, t, 1, err);
    if (status == COF_OK) status = use(m, uncut, 1, err);
    cof_model_free(m);
    cof_table_free(t);
    cof_table_free(uncut);
    return status;
}

static void made_tables(void **state)
{
    (void)state;
    for (size_t n = 0, done = 0; done < 4; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_error err = {""};
        if (done % 2 == 1) env.alloc = alloc_all_but_one;
        cof_status status = make_and_use(&env, done < 2 ? COF_GENERATE_MIXED : COF_GENERATE_UNIFORM, &err);
        assert_int_equal(meter.live, 0);
        assert_true(status == COF_ERR_MEMORY || (status == COF_OK && (done % 2 == 1 || meter.count <= n)));
        if (meter.count <= n) done++, n = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_start_and_variant),
        cmocka_unit_test(weights_and_missing_cells),
        cmocka_unit_test(folded_rows),
        cmocka_unit_test(files),
        cmocka_unit_test(two_threads),
        cmocka_unit_test(a_cycle),
        cmocka_unit_test(made_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
