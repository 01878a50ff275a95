/* Synthetic tables: shape, repeatability, and that chance has the stated form. */
#include "unit_helper.h"

#include "alloc_helper.h"

static cof_table *generate(const cof_generate_options *options)
{
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_generate(NULL, options, &table, &err), COF_OK, &err);
    return table;
}

static bool equal_tables(const cof_table *a, const cof_table *b)
{
    bool same =
        cof_table_n_rows(a) == cof_table_n_rows(b) && cof_table_n_columns(a) == cof_table_n_columns(b);
    for (size_t i = 0; same && i < cof_table_n_rows(a); i++)
        for (size_t c = 0; same && c < cof_table_n_columns(a); c++)
            same = cof_table_code(a, i, c) == cof_table_code(b, i, c);
    return same;
}

static void defaults(void **state)
{
    (void)state;
    cof_table *table = generate(NULL);
    assert_int_equal(cof_table_n_rows(table), 1000);
    assert_int_equal(cof_table_n_columns(table), 20);
    for (size_t c = 0; c < 20; c++) {
        cof_column view = {.struct_size = sizeof view};
        char name[16];
        assert_int_equal(cof_table_column(table, c, &view), COF_OK);
        snprintf(name, sizeof name, "a%zu", c + 1);
        assert_string_equal(view.name, name);
        assert_int_equal(view.n_values, 5);
        assert_int_equal(view.n_missing, 0);
        assert_int_equal(view.role, COF_ROLE_ATTRIBUTE);
        for (uint32_t v = 0; v < 5; v++) assert_int_equal(atoi(cof_table_value(table, c, v)), v + 1);
    }
    cof_table_free(table);
}

static void the_same_seed_gives_the_same_table(void **state)
{
    (void)state;
    for (int32_t kind = COF_GENERATE_UNIFORM; kind <= COF_GENERATE_PLANTED; kind++) {
        cof_generate_options o = {.struct_size = sizeof o, .kind = kind, .n_rows = 200, .seed = 5};
        cof_table *a = generate(&o), *b = generate(&o);
        o.seed = 6;
        cof_table *c = generate(&o);
        assert_true(equal_tables(a, b));
        assert_false(equal_tables(a, c));
        cof_table_free(a);
        cof_table_free(b);
        cof_table_free(c);
    }
}

/* Benchmarks are quoted by seed, so tables must not change from one version to the next. */
static void promised_tables(void **state)
{
    (void)state;
    static const uint64_t expected[] = {0x4a852fa516ded3fcu, 0xe1803b8c01b57508u};
    for (int32_t kind = COF_GENERATE_UNIFORM; kind <= COF_GENERATE_PLANTED; kind++) {
        cof_generate_options o = {.struct_size = sizeof o, .kind = kind, .n_rows = 300, .seed = 1};
        cof_table *table = generate(&o);
        uint64_t hash = 0;
        for (size_t i = 0; i < 300; i++)
            for (size_t c = 0; c < cof_table_n_columns(table); c++)
                hash = cofi_mix64(hash ^ cof_table_code(table, i, c));
        if (hash != expected[kind]) fail_msg("kind %d is 0x%llx now", (int)kind, (unsigned long long)hash);
        cof_table_free(table);
    }
}

static void uniform_values_are_uniform(void **state)
{
    (void)state;
    cof_generate_options o = {.struct_size = sizeof o, .n_rows = 40000, .n_columns = 3, .n_values = 8};
    cof_table *table = generate(&o);
    for (size_t c = 0; c < 3; c++) {
        uint32_t seen[8] = {0};
        for (size_t i = 0; i < 40000; i++) seen[cof_table_code(table, i, c)]++;
        for (size_t v = 0; v < 8; v++) assert_in_range(seen[v], 4600, 5400);
    }
    cof_table_free(table);
}

/* Without noise a row is its cluster's mode; with some, that share of its cells is drawn at random. */
static void planted_clusters(void **state)
{
    (void)state;
    cof_generate_options o = {.struct_size = sizeof o, .kind = COF_GENERATE_PLANTED, .n_rows = 3000, .k = 4};
    o.n_columns = 10;
    o.seed = 3;
    o.noise = -1;
    cof_table *clean = generate(&o);
    cof_column view = {.struct_size = sizeof view};
    uint64_t n_distinct;
    assert_int_equal(cof_table_n_columns(clean), 11);
    assert_int_equal(cof_table_column(clean, 10, &view), COF_OK);
    assert_string_equal(view.name, "class");
    assert_int_equal(view.role, COF_ROLE_LABEL);
    assert_int_equal(view.n_values, 4);
    assert_int_equal(cof_table_count_distinct(clean, &n_distinct, NULL), COF_OK);
    assert_int_equal(n_distinct, 4);
    cof_table_free(clean);
    o.noise = 0.2;
    cof_table *noisy = generate(&o);
    uint32_t most = 0;
    uint32_t seen[5] = {0};
    uint32_t n_class = 0;
    for (size_t i = 0; i < 3000; i++) {
        if (cof_table_code(noisy, i, 10) != 0) continue;
        n_class++;
        seen[cof_table_code(noisy, i, 0)]++;
    }
    for (size_t v = 0; v < 5; v++) most = seen[v] > most ? seen[v] : most;
    assert_near((double)most / n_class, 0.8 + 0.2 / 5, 0.06);
    cof_table_free(noisy);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    cof_table *table = NULL;
    cof_error err;
    cof_generate_options o = {.struct_size = sizeof o, .kind = 3};
    assert_int_equal(cof_table_generate(NULL, &o, &table, &err), COF_ERR_ARGUMENT);
    o = (cof_generate_options){.struct_size = sizeof o, .noise = 1.5};
    assert_int_equal(cof_table_generate(NULL, &o, &table, &err), COF_ERR_ARGUMENT);
    o.noise = (double)NAN;
    assert_int_equal(cof_table_generate(NULL, &o, &table, &err), COF_ERR_ARGUMENT);
    o = (cof_generate_options){.struct_size = sizeof o, .n_rows = UINT64_MAX}; /* used to grow without end */
    assert_int_equal(cof_table_generate(NULL, &o, &table, &err), COF_ERR_DATA);
    assert_string_equal(err.text, "the table is too large: it may have at most 4294967293 rows");
    o = (cof_generate_options){.struct_size = sizeof o, .n_columns = UINT32_MAX};
    assert_int_equal(cof_table_generate(NULL, &o, &table, &err), COF_ERR_ARGUMENT);
    o = (cof_generate_options){.struct_size = sizeof o, .k = COF_MOST_CLUSTERS + 1};
    assert_int_equal(cof_table_generate(NULL, &o, &table, &err), COF_ERR_ARGUMENT);
    o = (cof_generate_options){.struct_size = sizeof o, .kind = COF_GENERATE_MIXED, .family = 8};
    assert_int_equal(cof_table_generate(NULL, &o, &table, &err), COF_ERR_ARGUMENT);
    o.family = -1;
    assert_int_equal(cof_table_generate(NULL, &o, &table, &err), COF_ERR_ARGUMENT);
    assert_null(table);
}

/* A caller built before `noise` and `seed` existed. */
static void a_shorter_options_struct(void **state)
{
    (void)state;
    cof_generate_options o = {.struct_size = offsetof(cof_generate_options, n_columns), .n_rows = 7};
    o.n_columns = 99;
    cof_table *table = generate(&o);
    assert_int_equal(cof_table_n_rows(table), 7);
    assert_int_equal(cof_table_n_columns(table), 20);
    cof_table_free(table);
}

/* ---- Stopping and failing ----------------------------------------------------------------------- */

static int count_down(void *ctx)
{
    return (*(int *)ctx)-- <= 0;
}

static void note_progress(void *ctx, const cof_progress *progress)
{
    cof_progress *last = ctx;
    assert_int_equal(progress->phase, COF_PHASE_GENERATE);
    assert_int_equal(progress->total, 150000);
    assert_true(progress->done < progress->total && progress->elapsed_s >= last->elapsed_s);
    *last = *progress;
}

static void tells_how_far_it_is(void **state)
{
    (void)state;
    cof_progress last = {.phase = 0};
    cof_env env = {.struct_size = sizeof env, .progress = note_progress, .ctx = &last};
    cof_generate_options o = {.struct_size = sizeof o, .n_rows = 150000, .n_columns = 1};
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_generate(&env, &o, &table, &err), COF_OK, &err);
    assert_true(last.done > 75000);
    cof_table_free(table);
}

static void stops_on_request(void **state)
{
    (void)state;
    cof_generate_options o = {.struct_size = sizeof o, .n_rows = 200000, .n_columns = 2};
    for (int calls = 0; calls < 5; calls++) {
        int left = calls;
        cof_env env = {.struct_size = sizeof env, .should_stop = count_down, .ctx = &left};
        cof_table *table = NULL;
        cof_status status = cof_table_generate(&env, &o, &table, NULL);
        assert_int_equal(status, calls < 4 ? COF_ERR_STOPPED : COF_OK);
        cof_table_free(table);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    cof_generate_options o = {.struct_size = sizeof o, .kind = COF_GENERATE_PLANTED, .n_rows = 300};
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_table *table = NULL;
        cof_status status = cof_table_generate(&env, &o, &table, NULL);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

/* Mean and number of the cells of a number column that belong to a class. */
static double class_mean(const cof_table *t, size_t column, uint32_t class, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t i = 0; i < cof_table_n_rows(t); i++) {
        if (cof_table_code(t, i, 8) != class) continue;
        sum += strtod(cof_table_value(t, column, cof_table_code(t, i, column)), NULL);
        ++*n;
    }
    return sum / (double)*n;
}

static void mixed_tables_have_their_structure(void **state)
{
    (void)state;
    for (int32_t family = COF_MIXED_BOTH; family <= COF_MIXED_IMBALANCE; family++) {
        cof_generate_options o = {
            .struct_size = sizeof o, .kind = COF_GENERATE_MIXED, .family = family, .n_rows = 3000, .seed = 5};
        cof_table *t = NULL;
        cof_error err;
        cof_column about = {.struct_size = sizeof about};
        assert_status(cof_table_generate(NULL, &o, &t, &err), COF_OK, &err);
        assert_int_equal(cof_table_n_columns(t), 9);
        assert_int_equal(cof_table_column(t, 8, &about), COF_OK);
        assert_int_equal(about.role, COF_ROLE_LABEL);
        assert_int_equal(about.n_values, 4);
        size_t n[4];
        double mean[4], low = INFINITY, high = -INFINITY;
        for (uint32_t j = 0; j < 4; j++) {
            mean[j] = class_mean(t, 4, j, &n[j]);
            low = fmin(low, mean[j]);
            high = fmax(high, mean[j]);
        }
        if (family == COF_MIXED_CATEGORIES || family == COF_MIXED_NONLINEAR) assert_true(high - low < 0.8);
        if (family == COF_MIXED_BOTH || family == COF_MIXED_NUMBERS) assert_near(high - low, 7.5, 0.3);
        if (family == COF_MIXED_IMBALANCE) assert_true(n[0] > 2 * n[1] && n[1] > n[3]);
        cof_table_free(t);
    }
    cof_generate_options wrong = {.struct_size = sizeof wrong, .kind = COF_GENERATE_MIXED, .family = 8};
    cof_table *t = NULL;
    assert_int_equal(cof_table_generate(NULL, &wrong, &t, NULL), COF_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_tables_have_their_structure),
        cmocka_unit_test(defaults),
        cmocka_unit_test(the_same_seed_gives_the_same_table),
        cmocka_unit_test(promised_tables),
        cmocka_unit_test(uniform_values_are_uniform),
        cmocka_unit_test(planted_clusters),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(a_shorter_options_struct),
        cmocka_unit_test(tells_how_far_it_is),
        cmocka_unit_test(stops_on_request),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
