/* Jobs of a runner: they begin in order, a stop, a failure or the time limit ends them, and what a job leaves depends on its
 * number alone. */
#include "unit_helper.h"

#include "../../src/fit/runner.h"
#include "../../src/method/methods.h"

enum { JOBS = 12, ROWS = 400, K = 3 };

typedef struct work {
    const cof_table *table;
    uint32_t failing[2]; /* jobs that fail */
    bool stopping;       /* the host says stop once a job has ended */
    atomic_uint n_ended;
    atomic_bool ended[JOBS];
    uint32_t n_reports;
    int32_t label[JOBS][ROWS];
} work;

static int stop_after_one(void *ctx)
{
    work *w = ctx;
    return w->stopping && atomic_load(&w->n_ended) > 0;
}

static void count_report(void *ctx)
{
    ((work *)ctx)->n_reports++;
}

static cof_status end_or_fail(void *ctx, cofi_lane *lane, uint32_t job, cof_error *err)
{
    work *w = ctx;
    (void)lane;
    if (job == w->failing[0] || job == w->failing[1])
        return cofi_fail(err, COF_ERR_DATA, "job %u failed", job);
    atomic_store(&w->ended[job], true);
    atomic_fetch_add(&w->n_ended, 1);
    return COF_OK;
}

/* Fits other weights of the same rows: a bootstrap sample. The lane's env stands for the host's. */
static cof_status fit_sample(void *ctx, cofi_lane *lane, uint32_t job, cof_error *err)
{
    work *w = ctx;
    cof_table table = *w->table;
    cofi_rng rng = dice(job);
    double weight[ROWS] = {0};
    cof_fit_options o = {
        .struct_size = sizeof o, .k = K, .restarts = 2, .seed = 1, .threads = 1, .weights = weight};
    cof_model *m;
    table.env = lane->env;
    for (size_t i = 0; i < ROWS; i++) weight[below(&rng, ROWS)]++;
    COFI_TRY(cofi_fit_table(&table, &o, (cofi_fit_hints){0}, &m, NULL, err));
    memcpy(w->label[job], cof_model_labels(m, NULL), sizeof w->label[job]);
    cof_model_free(m);
    return end_or_fail(ctx, lane, job, err);
}

static cof_status run_jobs(work *w, uint32_t n_lanes, cofi_jobs jobs, double limit_s, cofi_runner *runner,
                           cof_error *err)
{
    static const uint32_t queue[JOBS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    cof_env env = cofi_env_resolve(NULL);
    env.should_stop = stop_after_one;
    env.ctx = w;
    memset(runner, 0, sizeof *runner);
    assert_status(cofi_runner_open(runner, &env, n_lanes, err), COF_OK, err);
    runner->limit_s = limit_s;
    jobs.queue = queue;
    jobs.n = JOBS;
    jobs.report = count_report;
    jobs.ctx = w;
    cof_status status = cofi_runner_run(runner, &jobs, err);
    cofi_runner_close(runner);
    return status;
}

static void a_failure_is_that_of_the_first_job_that_failed(void **state)
{
    (void)state;
    for (uint32_t n_lanes = 1; n_lanes <= 4; n_lanes++) {
        work w = {.failing = {2, 3}};
        cofi_runner runner;
        cof_error err;
        cof_status status = run_jobs(&w, n_lanes, (cofi_jobs){.run = end_or_fail}, 0, &runner, &err);
        assert_int_equal(status, COF_ERR_DATA);
        assert_true(strcmp(err.text, "job 2 failed") == 0 || (n_lanes > 1 && !atomic_load(&w.ended[2])));
        if (n_lanes == 1) assert_int_equal(atomic_load(&w.n_ended), 2);
    }
}

static void a_stop_leaves_out_the_jobs_that_follow(void **state)
{
    (void)state;
    for (uint32_t by_time = 0; by_time < 2; by_time++) {
        work w = {.failing = {JOBS, JOBS}, .stopping = by_time == 0};
        cofi_runner runner;
        cof_error err;
        assert_status(run_jobs(&w, 1, (cofi_jobs){.run = end_or_fail}, by_time * 1e-9, &runner, &err), COF_OK,
                      &err);
        assert_int_equal(atomic_load(&w.n_ended), 1); /* the time limit leaves time for the first job */
        assert_int_equal(w.n_reports, 1);
    }
}

static void the_first_job_may_have_to_begin(void **state)
{
    (void)state;
    for (uint32_t first_begins = 0; first_begins < 2; first_begins++) {
        work w = {.failing = {JOBS, JOBS}, .stopping = true, .n_ended = 1};
        cofi_runner runner;
        cof_error err;
        cofi_jobs jobs = {.run = end_or_fail, .first_begins = first_begins > 0};
        assert_status(run_jobs(&w, 1, jobs, 0, &runner, &err), COF_OK, &err);
        assert_int_equal(atomic_load(&w.n_ended), 1 + first_begins);
    }
}

static void bootstrap_samples_do_not_depend_on_the_lanes(void **state)
{
    (void)state;
    cofi_rng rng = dice(5);
    int32_t *codes = random_codes(&rng, ROWS, 5, 4, K);
    cof_table *table = table_of(codes, ROWS, 5);
    work *one = get_zero(1, sizeof *one), *many = get_zero(1, sizeof *many);
    one->failing[0] = one->failing[1] = many->failing[0] = many->failing[1] = JOBS;
    one->table = many->table = table;
    cofi_runner runner;
    cof_error err;
    assert_status(run_jobs(one, 1, (cofi_jobs){.run = fit_sample}, 0, &runner, &err), COF_OK, &err);
    assert_status(run_jobs(many, 3, (cofi_jobs){.run = fit_sample}, 0, &runner, &err), COF_OK, &err);
    assert_int_equal(atomic_load(&many->n_ended), JOBS);
    assert_memory_equal(one->label, many->label, sizeof one->label);
    assert_memory_not_equal(one->label[0], one->label[1], sizeof one->label[0]);
    cof_table_free(table);
    free(codes);
    free(one);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_is_that_of_the_first_job_that_failed),
        cmocka_unit_test(a_stop_leaves_out_the_jobs_that_follow),
        cmocka_unit_test(the_first_job_may_have_to_begin),
        cmocka_unit_test(bootstrap_samples_do_not_depend_on_the_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
