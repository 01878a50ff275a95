/* Measuring: what is in the list, and that it can be stopped and survives failing memory. How long things take is
 * nobody's business here. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/rows/pass.h"

static size_t n_kernels(void)
{
    size_t n = 0;
    while (cofi_kernel_at(n) != NULL) n++;
    return n;
}

static void check_list(const cof_speed *speed, size_t n, uint32_t threads)
{
    size_t n_teams = threads > 1 ? 2 : 1, half = n / n_teams;
    assert_int_equal(half, 1 + 2 * n_kernels());
    for (size_t i = 0; i < n; i++) {
        size_t at = i % half;
        assert_int_equal(speed[i].threads, i < half ? threads : 1);
        assert_int_equal(speed[i].work, at == 0       ? COF_WORK_READ
                                        : at % 2 == 1 ? COF_WORK_FIRST
                                                      : COF_WORK_AGAIN);
        assert_true(speed[i].least_s >= 0 && speed[i].least_s <= speed[i].elapsed_s);
        assert_true(speed[i].elapsed_s <= speed[i].most_s);
        assert_true(speed[i].processor_s >= 0);
        if (at == 0) assert_null(speed[i].kernel);
        if (at > 0) assert_non_null(speed[i].kernel);
    }
    assert_string_equal(speed[half - 1].kernel, "plain");
}

static void everything_is_listed(void **state)
{
    (void)state;
    static const struct {
        size_t n, l, o;
        uint32_t k, threads;
    } shapes[] = {
        {9000, 6, 5, 5, 2}, {9000, 6, 5, 5, 1}, {5000, 3, 300, 20, 3}, {300, 400, 2, 3, 2}, {40, 1, 9, 4, 1}};
    for (size_t s = 0; s < COUNT(shapes); s++) {
        cof_table *table = random_table(s, shapes[s].n, shapes[s].l, shapes[s].o, 4);
        cof_bench_options o = {.struct_size = sizeof o,
                               .k = shapes[s].k,
                               .threads = shapes[s].threads,
                               .rounds = 1 + (uint32_t)s % 3};
        cof_speed speed[COF_MOST_SPEEDS];
        size_t n = 0;
        cof_error err;
        assert_status(cof_bench(table, &o, speed, &n, &err), COF_OK, &err);
        check_list(speed, n, shapes[s].threads);
        cof_table_free(table);
    }
}

/* What a fit says it took. */
static void the_chosen_kernel_is_marked(void **state)
{
    (void)state;
    cof_table *table = random_table(1, 500, 4, 4, 3);
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 5};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model_free(fit_model(table, &fit, &info));
    cof_speed speed[COF_MOST_SPEEDS];
    size_t n, n_chosen = 0;
    cof_error err;
    assert_status(cof_bench(table, NULL, speed, &n, &err), COF_OK, &err);
    for (size_t i = 0; i < n; i++) {
        n_chosen += speed[i].chosen != 0;
        if (speed[i].chosen) assert_string_equal(speed[i].kernel, info.kernel);
    }
    assert_int_equal(n_chosen, speed[0].threads > 1 ? 4 : 2);
    cof_bench_options o = {.struct_size = sizeof o, .threads = 1, .rounds = 1, .chosen_only = 1};
    assert_status(cof_bench(table, &o, speed, &n, &err), COF_OK, &err);
    assert_int_equal(n, 3);
    assert_string_equal(speed[2].kernel, info.kernel);
    cof_table_free(table);
}

static void wrong_calls(void **state)
{
    (void)state;
    cof_table *table = t6_table();
    cof_speed speed[COF_MOST_SPEEDS];
    size_t n = 7;
    cof_error err;
    cof_bench_options o = {.struct_size = sizeof o, .k = 7};
    assert_int_equal(cof_bench(table, &o, speed, &n, &err), COF_ERR_FEW_ROWS);
    o = (cof_bench_options){.struct_size = sizeof o, .k = 2, .rounds = 2000000};
    assert_int_equal(cof_bench(table, &o, speed, &n, &err), COF_ERR_ARGUMENT);
    for (size_t c = 0; c < 4; c++) cof_table_set_role(table, c, COF_ROLE_IGNORED, NULL);
    o.rounds = 1;
    assert_int_equal(cof_bench(table, &o, speed, &n, &err), COF_ERR_NO_COLUMNS);
    assert_int_equal(n, 7);
    cof_table_free(table);
}

typedef struct host {
    alloc_meter meter; /* first: the allocator takes the host for it */
    size_t asked, stop_at, told;
    cof_progress last;
} host;

static int stop_when_due(void *ctx)
{
    host *h = ctx;
    return h->asked++ >= h->stop_at;
}

static void listen(void *ctx, const cof_progress *progress)
{
    host *h = ctx;
    assert_int_equal(progress->phase, COF_PHASE_BENCH);
    assert_true(progress->done <= progress->total);
    assert_true(h->told == 0 || progress->done > h->last.done);
    h->last = *progress;
    h->told++;
}

static cof_status measure_small(const cof_env *env, size_t *n)
{
    static const int32_t codes[] = {0, 1, 1, 0, 0, 0, 1, 1, 2, 0, 2, 1};
    cof_bench_options o = {.struct_size = sizeof o, .k = 2, .threads = 2, .rounds = 2};
    cof_table *table = NULL;
    cof_speed speed[COF_MOST_SPEEDS];
    cof_status status = cof_table_from_codes(env, codes, 6, 2, NULL, &table, NULL);
    if (status == COF_OK) status = cof_bench(table, &o, speed, n, NULL);
    cof_table_free(table);
    return status;
}

static void it_tells_and_stops(void **state)
{
    (void)state;
    for (size_t stop_at = 0;; stop_at++) {
        host h = {.meter = {.fail_at = ALLOC_NEVER_FAILS}, .stop_at = stop_at};
        cof_env env = alloc_env(&h.meter);
        env.should_stop = stop_when_due;
        env.progress = listen;
        env.ctx = &h;
        size_t n = 0;
        cof_status status = measure_small(&env, &n);
        assert_int_equal(h.meter.live, 0);
        assert_int_equal(h.told, status == COF_OK ? h.asked : h.asked - 1);
        if (status == COF_OK) {
            assert_int_equal(h.last.done, h.last.total);
            assert_int_equal(h.told, 3 * n); /* two rounds and the one before them */
            break;
        }
        assert_int_equal(status, COF_ERR_STOPPED);
    }
}

static void failing_memory(void **state)
{
    (void)state;
    for (size_t at = 0;; at++) {
        alloc_meter meter = {.fail_at = at};
        cof_env env = alloc_env(&meter);
        size_t n = 0;
        cof_status status = measure_small(&env, &n);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
        assert_int_equal(n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_is_listed),
                                       cmocka_unit_test(the_chosen_kernel_is_marked),
                                       cmocka_unit_test(wrong_calls), cmocka_unit_test(it_tells_and_stops),
                                       cmocka_unit_test(failing_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
