/* Tasks shared out over threads: each done once, whoever does it, round after round. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/core/system/system.h"
#include "../../src/core/team.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_TASKS = 3000, MOST_WORKERS = 16 };

typedef struct tally {
    atomic_uint done[MOST_TASKS];
    uint64_t sum[MOST_WORKERS * 16]; /* each worker's own, a cache line apart, without a lock */
    atomic_uint highest_worker;
} tally;

static void count_task(void *ctx, uint32_t worker, size_t task)
{
    tally *t = ctx;
    atomic_fetch_add(&t->done[task], 1);
    t->sum[worker * 16] += task;
    unsigned seen = atomic_load(&t->highest_worker);
    while (worker > seen && !atomic_compare_exchange_weak(&t->highest_worker, &seen, worker)) continue;
}

static cofi_team *open_team(const cof_env *env, uint32_t threads)
{
    cofi_team *team = NULL;
    cof_error err;
    assert_status(cofi_team_open(env, threads, &team, &err), COF_OK, &err);
    return team;
}

static void check_round_of(cofi_team *team, void (*run)(cofi_team *, cofi_task, void *, size_t), size_t n)
{
    tally *t = get_zero(1, sizeof *t);
    uint64_t sum = 0;
    run(team, count_task, t, n);
    for (size_t i = 0; i < MOST_TASKS; i++) assert_int_equal(atomic_load(&t->done[i]), i < n ? 1 : 0);
    for (size_t w = 0; w < MOST_WORKERS; w++) sum += t->sum[w * 16];
    assert_int_equal(sum, n > 0 ? n * (n - 1) / 2 : 0);
    assert_true(atomic_load(&t->highest_worker) < cofi_team_size(team));
    free(t);
}

static void check_round(cofi_team *team, size_t n)
{
    check_round_of(team, cofi_team_run, n);
    check_round_of(team, cofi_team_run_parts, n);
}

static void note_cores(void *ctx, uint32_t worker, size_t task)
{
    (void)worker;
    ((long *)ctx)[task] = cofi_usable_cores();
    usleep(200); /* so that every worker has a task */
}

/* They start on another core than that of their team's host, and may move to that one later. */
static void workers_may_run_on_all_cores(void **state)
{
    (void)state;
    enum { N = 16 };
    cof_env env = cofi_env_resolve(NULL);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        long cores[N] = {0};
        cofi_team *team = open_team(&env, threads);
        cofi_team_run(team, note_cores, cores, N);
        for (size_t i = 0; i < N; i++) assert_int_equal(cores[i], cofi_usable_cores());
        cofi_team_close(team);
    }
}

static void every_task_is_done_once(void **state)
{
    (void)state;
    static const size_t n_tasks[] = {0, 1, 2, 3, 7, 100, MOST_TASKS};
    cof_env env = cofi_env_resolve(NULL);
    for (uint32_t threads = 1; threads <= 9; threads++) {
        cofi_team *team = open_team(&env, threads);
        assert_in_range(cofi_team_size(team), 1, threads);
        for (size_t i = 0; i < COUNT(n_tasks); i++) check_round(team, n_tasks[i]);
        cofi_team_close(team);
    }
}

/* A round must not begin while a worker is still in the one before. */
static void rounds_do_not_overlap(void **state)
{
    (void)state;
    cof_env env = cofi_env_resolve(NULL);
    cofi_team *team = open_team(&env, 4);
    for (size_t round = 0; round < 2000; round++) check_round(team, round % 7);
    cofi_team_close(team);
}

/* The first task of a worker's part is not over before all others are. */
static void wait_for_others(void *ctx, uint32_t worker, size_t task)
{
    enum { N = 64 };
    atomic_uint *n_done = ctx;
    (void)worker;
    while (task == 0 && atomic_load(n_done) < N - 1) usleep(50);
    atomic_fetch_add(n_done, 1);
}

static void who_has_done_his_part_helps_others(void **state)
{
    (void)state;
    enum { N = 64 };
    cof_env env = cofi_env_resolve(NULL);
    for (uint32_t threads = 2; threads <= 5; threads++) {
        cofi_team *team = open_team(&env, threads);
        bool alone = cofi_team_size(team) == 1;
        if (alone) cofi_team_close(team);
        if (alone) skip();
        for (int round = 0; round < 50; round++) {
            atomic_uint n_done = 0;
            cofi_team_run_parts(team, wait_for_others, &n_done, N);
            assert_int_equal(atomic_load(&n_done), N);
        }
        cofi_team_close(team);
    }
}

typedef struct relay {
    const uint32_t *from;
    uint32_t *to;
} relay;

static void add_one(void *ctx, uint32_t worker, size_t task)
{
    relay *r = ctx;
    (void)worker;
    r->to[task] = r->from[MOST_TASKS - 1 - task] + 1;
}

/* What one round wrote the next one reads, without locks of its own. */
static void rounds_see_what_earlier_ones_wrote(void **state)
{
    (void)state;
    cof_env env = cofi_env_resolve(NULL);
    cofi_team *team = open_team(&env, 3);
    static uint32_t a[MOST_TASKS], b[MOST_TASKS];
    for (uint32_t round = 0; round < 50; round++) {
        relay there = {a, b}, back = {b, a};
        cofi_team_run(team, add_one, &there, MOST_TASKS);
        cofi_team_run(team, add_one, &back, MOST_TASKS);
        for (size_t i = 0; i < MOST_TASKS; i++) assert_int_equal(a[i], 2 * (round + 1));
    }
    cofi_team_close(team);
}

static void no_number_means_the_cores_that_may_be_used(void **state)
{
    (void)state;
    cof_env env = cofi_env_resolve(NULL);
    cpu_set_t all, one;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (int core = 0; CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
    for (int few = 0; few < 2; few++) {
        assert_int_equal(sched_setaffinity(0, sizeof one, few ? &one : &all), 0);
        cofi_team *team = open_team(&env, 0);
        assert_int_equal(cofi_team_size(team), cof_n_cores());
        assert_in_range(cof_n_cores(), 1, few ? 1 : CPU_COUNT(&all));
        check_round(team, 20);
        cofi_team_close(team);
    }
    sched_setaffinity(0, sizeof all, &all);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Folders and files as the kernel shows them: quotas of a group and of a group around it. */
static void control_groups_limit_cores(void **state)
{
    (void)state;
    char root[] = "/tmp/cof-groups-XXXXXX", path[64], command[128];
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/groups", root);
    snprintf(command, sizeof command, "mkdir -p %s/a/b %s/cpu/c", root, root);
    assert_int_equal(system(command), 0);
    assert_int_equal(cofi_limit_cores(path, root, 8), 8); /* there is no such file */
    write_file(root, "groups", "0::/a/b\nnonsense\n");
    assert_int_equal(cofi_limit_cores(path, root, 8), 8); /* no quota */
    write_file(root, "a/b/cpu.max", "max 100000\n");
    assert_int_equal(cofi_limit_cores(path, root, 8), 8);
    write_file(root, "a/cpu.max", "250000 100000\n");
    assert_int_equal(cofi_limit_cores(path, root, 8), 3);
    assert_int_equal(cofi_limit_cores(path, root, 2), 2);
    write_file(root, "a/b/cpu.max", "50000 100000\n");
    assert_int_equal(cofi_limit_cores(path, root, 8), 1);
    write_file(root, "groups", "5:memory:/\n4:cpu,cpuacct:/c\n");
    assert_int_equal(cofi_limit_cores(path, root, 8), 8);
    write_file(root, "cpu/c/cpu.cfs_quota_us", "400000\n");
    write_file(root, "cpu/c/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cofi_limit_cores(path, root, 8), 4);
    write_file(root, "cpu/c/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(cofi_limit_cores(path, root, 8), 8);
    assert_int_equal(cofi_limit_memory(path, root, UINT64_MAX), INT64_MAX);
    snprintf(command, sizeof command, "mkdir -p %s/memory", root);
    assert_int_equal(system(command), 0);
    write_file(root, "memory/memory.limit_in_bytes", "5000\n");
    assert_int_equal(cofi_limit_memory(path, root, 9000), 5000);
    write_file(root, "groups", "0::/a/b\n");
    write_file(root, "a/memory.max", "7000\n");
    write_file(root, "a/b/memory.max", "max\n");
    assert_int_equal(cofi_limit_memory(path, root, 9000), 7000);
    assert_int_equal(cofi_limit_memory(path, root, 6000), 6000);
    assert_true(cof_memory() > 1 << 20);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static void a_team_may_close_unused(void **state)
{
    (void)state;
    cof_env env = cofi_env_resolve(NULL);
    for (uint32_t threads = 1; threads < 8; threads++) cofi_team_close(open_team(&env, threads));
    cofi_team_close(NULL);
}

/* The caller's allocator may be one that knows only the caller's thread: Python's, R's. */
static void memory_is_asked_for_on_the_calling_thread(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cofi_team *team = NULL;
        cof_status status = cofi_team_open(&env, 4, &team, NULL);
        size_t count = meter.count;
        if (status == COF_OK) check_round(team, 50);
        assert_int_equal(meter.count, count);
        if (status == COF_OK) cofi_team_close(team);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_may_run_on_all_cores),
        cmocka_unit_test(every_task_is_done_once),
        cmocka_unit_test(rounds_do_not_overlap),
        cmocka_unit_test(who_has_done_his_part_helps_others),
        cmocka_unit_test(rounds_see_what_earlier_ones_wrote),
        cmocka_unit_test(no_number_means_the_cores_that_may_be_used),
        cmocka_unit_test(control_groups_limit_cores),
        cmocka_unit_test(a_team_may_close_unused),
        cmocka_unit_test(memory_is_asked_for_on_the_calling_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
