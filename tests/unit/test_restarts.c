/* Restarts side by side: labels, records, history and progress are the same on any number of threads, and stopping
 * keeps what is finished. */
#include "unit_helper.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(stopping_keeps_what_is_finished),
        cmocka_unit_test(a_time_limit_keeps_the_first_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
