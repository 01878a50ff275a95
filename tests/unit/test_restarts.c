/* Restarts side by side: labels, records, history and progress are the same on any number of threads, and stopping
 * keeps what is finished. */
#include "unit_helper.h"

#include "../../src/fit/restarts.h"
#include "../../src/rows/value_order.h"
#include "../../src/method/methods.h"
#include "../../src/start/starts.h"

enum { MOST_EVENTS = 256 };

typedef struct listener {
    cof_progress event[MOST_EVENTS];
    size_t n;
    uint32_t calls_left; /* until it says stop; UINT32_MAX: never */
} listener;

static void hear(void *ctx, const cof_progress *now)
{
    listener *l = ctx;
    if (now->phase == COF_PHASE_READ || l->n == MOST_EVENTS) return;
    l->event[l->n] = *now;
    l->event[l->n].elapsed_s = l->event[l->n].rows_per_s = 0;
    l->n++;
}

static int say_stop(void *ctx)
{
    listener *l = ctx;
    if (l->calls_left == UINT32_MAX) return 0;
    if (l->calls_left == 0) return 1;
    l->calls_left--;
    return 0;
}

/* A table that keeps the listener as its host. */
static cof_table *listened(listener *l, size_t n, size_t n_columns, size_t n_values, uint64_t seed)
{
    cof_env env = {.struct_size = sizeof env, .progress = hear, .should_stop = say_stop, .ctx = l};
    cofi_rng rng = dice(seed);
    int32_t *codes = random_codes(&rng, n, n_columns, n_values, 4);
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_from_codes(&env, codes, n, n_columns, NULL, &table, &err), COF_OK, &err);
    free(codes);
    return table;
}

static cof_fit_options several(uint32_t threads, int32_t init, const char *method)
{
    return (cof_fit_options){.struct_size = sizeof(cof_fit_options),
                             .k = 4,
                             .restarts = 13,
                             .seed = 3,
                             .init = init,
                             .method = method,
                             .threads = threads};
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const struct {
        int32_t init;
        const char *method;
        size_t n_rows, n_columns, n_values;
        uint32_t k;
        bool one_by_one; /* restarts follow each other, and the host hears about every pass */
    } cases[] = {{COF_INIT_PORTFOLIO, "coforest", 3000, 12, 5, 4, false},
                 {COF_INIT_PORTFOLIO, "coforest", 30000, 12, 5, 4, false}, /* trials on a sample */
                 {COF_INIT_PORTFOLIO, "coforest", 80000, 60, 5, 4, true},
                 {COF_INIT_PORTFOLIO, "coforest", 25000, 12, 30000, 12, false}, /* two restarts at a time */
                 {COF_INIT_RANDOM, "coforest", 3000, 12, 5, 4, false},
                 {COF_INIT_KMEANS, "kmodes", 3000, 12, 5, 4, false},
                 {COF_INIT_MODESPP, "lca", 3000, 12, 5, 4, false}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        listener one = {.calls_left = UINT32_MAX};
        cof_table *table = listened(&one, cases[c].n_rows, cases[c].n_columns, cases[c].n_values, 7 + c);
        cof_fit_options o = several(1, cases[c].init, cases[c].method);
        o.k = cases[c].k;
        cof_fit_info info = {.struct_size = sizeof info}, other = info;
        cof_model *alone = fit_model(table, &o, &info);
        listener heard = one;
        if (cases[c].one_by_one)
            assert_true(heard.n > 13);
        else
            assert_int_equal(heard.n, 13); /* one event a restart */
        for (uint32_t threads = 2; threads <= 16; threads = 2 * threads + 1) {
            one.n = 0;
            o.threads = threads;
            cof_model *many = fit_model(table, &o, &other);
            assert_same_labels(alone, many);
            assert_same_trees(alone, many);
            assert_same_history(alone, many);
            assert_same_records(alone, many);
            assert_int_equal(info.best_restart, other.best_restart);
            assert_int_equal(info.row_visits, other.row_visits);
            assert_int_equal(one.n, heard.n);
            for (size_t i = 0; i < heard.n; i++) {
                assert_int_equal(one.event[i].restart, heard.event[i].restart);
                assert_int_equal(one.event[i].pass, heard.event[i].pass);
            }
            cof_model_free(many);
        }
        cof_model_free(alone);
        cof_table_free(table);
    }
}

/* However soon the host says stop, there is a model of what was finished, or a status that says there is none. */
static void stopping_keeps_what_is_finished(void **state)
{
    (void)state;
    for (uint32_t calls = 0; calls < 60; calls += 3) {
        listener l = {.calls_left = calls};
        cof_table *table = listened(&l, 3000, 12, 5, 5);
        cof_fit_options o = several(3, COF_INIT_PORTFOLIO, "coforest");
        cof_fit_info info = {.struct_size = sizeof info};
        cof_model *model = NULL;
        cof_error err;
        cof_status status = cof_fit(table, &o, &model, &info, &err);
        if (status == COF_OK) {
            size_t n, n_records;
            const int32_t *label = cof_model_labels(model, &n);
            for (size_t i = 0; i < n; i++) assert_in_range(label[i], 0, 3);
            cof_model_restarts(model, &n_records);
            assert_int_equal(n_records, info.n_restarts);
            assert_in_range(n_records, 1, 13);
            assert_true(info.best_restart < n_records);
            if (n_records < 13) assert_int_equal(info.stop_reason, COF_STOP_STOPPED);
        } else {
            assert_int_equal(status, COF_ERR_STOPPED);
            assert_null(model);
        }
        cof_model_free(model);
        cof_table_free(table);
    }
}

/* Side by side or one after the other, a limit that is over at once leaves time for the first restart, and no more than
 * each thread had begun. */
static void a_time_limit_keeps_the_first_restart(void **state)
{
    (void)state;
    for (uint32_t rows = 3000; rows <= 30000; rows *= 10) {
        listener l = {.calls_left = UINT32_MAX};
        cof_table *table = listened(&l, rows, 12, 5, 5);
        cof_fit_options o = several(2, COF_INIT_PORTFOLIO, "coforest");
        cof_fit_info info = {.struct_size = sizeof info};
        cof_error err;
        o.time_limit_s = 1e-9;
        cof_model *model = fit_model(table, &o, &info);
        assert_int_equal(info.stop_reason, COF_STOP_TIME);
        assert_in_range(info.n_restarts, 1, 4);
        assert_true(l.n > 0); /* the host still hears of progress */
        cof_model_free(model);
        o.time_limit_s = 1e6;
        model = fit_model(table, &o, &info);
        assert_int_equal(info.n_restarts, 13);
        assert_true(info.stop_reason != COF_STOP_TIME);
        cof_model_free(model);
        o.time_limit_s = -1;
        assert_status(cof_fit(table, &o, &model, NULL, &err), COF_ERR_ARGUMENT, &err);
        cof_table_free(table);
    }
}

/* A column of many values beside some of five, after five planted classes. */
static cof_table *with_many_values(size_t n, uint32_t n_values, size_t n_others, uint64_t seed)
{
    cofi_rng rng = dice(seed);
    size_t n_columns = 1 + n_others;
    int32_t *codes = get_zero(n * n_columns, sizeof *codes);
    for (size_t i = 0; i < n; i++) {
        uint32_t own = below(&rng, 5);
        for (size_t c = 0; c < n_columns; c++) {
            uint32_t class = below(&rng, 10) < 7 ? own : below(&rng, 5);
            codes[i * n_columns + c] = (int32_t)(c == 0 ? below(&rng, n_values / 5) * 5 + class : class);
        }
    }
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_from_codes(NULL, codes, n, n_columns, NULL, &table, &err), COF_OK, &err);
    free(codes);
    return table;
}

typedef struct outcome {
    int32_t *label;
    uint32_t best, n_dropped, n_empty;
    cof_restart_record record[10];
} outcome;

/* `drop`: as a fit does; otherwise all restarts are run to their ends. */
static outcome run_restarts(const cof_table *table, uint32_t k, bool drop, uint32_t threads)
{
    const cofi_method *method = cofi_method_find(NULL);
    const cofi_start *start = cofi_start_of(COF_INIT_PORTFOLIO);
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = k,
                         .restarts = 10,
                         .max_passes = 51,
                         .max_rebuilds = 51,
                         .threads = threads,
                         .select = COF_SELECT_BALANCE};
    cofi_problem problem;
    cofi_rows *rows;
    cofi_restarts run;
    cof_error err;
    outcome end = {.n_dropped = 0};
    assert_status(cofi_rows_open_table(table, &o, true, &problem, &rows, &err), COF_OK, &err);
    assert_status(cofi_value_order_set(rows, &problem, 1, &err), COF_OK, &err);
    assert_status(cofi_restarts_open(rows, method, start, &o, &run, &err), COF_OK, &err);
    if (!drop) run.most_empty = COFI_NONE;
    assert_status(cofi_restarts_run(&run, &err), COF_OK, &err);
    end.label = get_zero(problem.n_table_rows, sizeof *end.label);
    assert_status(cofi_partition_labels(&run.fit->partition, NULL, problem.n_table_rows, end.label, &err),
                  COF_OK, &err);
    end.best = run.best;
    end.n_empty = cofi_count_empty(&run.fit->partition);
    memcpy(end.record, run.record, sizeof end.record);
    for (uint32_t r = 0; r < run.n_records; r++)
        end.n_dropped += run.record[r].stop_reason == COF_STOP_DROPPED;
    cofi_restarts_close(&run);
    cofi_rows_close(rows);
    cofi_problem_close(&problem);
    return end;
}

/* A restart is dropped only if it could not be kept. Where all restarts leave clusters empty, none with a chance is. */
static void dropping_changes_no_choice(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {2, 4, 10};
    uint32_t n_dropped = 0, n_empty = 0;
    for (size_t s = 0; s < COUNT(seeds); s++) {
        uint64_t seed = seeds[s];
        size_t n = 17000, n_others = seed % 3;
        cof_table *table = with_many_values(n, 4000, n_others, seed);
        uint32_t k = seed == 10 ? 12 : 20; /* with 12, no restart is likelier than a single cluster */
        outcome all = run_restarts(table, k, false, 1);
        for (uint32_t threads = 1; threads <= 3; threads += 2) {
            outcome some = run_restarts(table, k, true, threads);
            assert_int_equal(some.best, all.best);
            assert_memory_equal(some.label, all.label, n * sizeof *all.label);
            for (uint32_t r = 0; r < 10; r++) {
                if (some.record[r].stop_reason == COF_STOP_DROPPED)
                    assert_true(all.record[r].criterion < all.record[all.best].criterion);
                else
                    assert_same_record(&some.record[r], &all.record[r]);
            }
            n_dropped += some.n_dropped;
            n_empty += some.n_empty > 0;
            free(some.label);
        }
        assert_int_equal(all.n_dropped, 0);
        free(all.label);
        cof_table_free(table);
    }
    assert_true(n_dropped > 0 && n_empty > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(stopping_keeps_what_is_finished),
        cmocka_unit_test(a_time_limit_keeps_the_first_restart),
        cmocka_unit_test(dropping_changes_no_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
