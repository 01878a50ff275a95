/* Every kind of work is timed once per round, so that disturbances by other programs affect all kinds
 * equally; medians are reported. Scores are drawn at random, because the time of a pass hardly depends on
 * them. */
#include "local.h"
#include "speed.h"

#include "../core/rng.h"
#include "../core/system/system.h"

#include <stdlib.h>

enum { MOST_KERNELS = (COF_MOST_SPEEDS / 2 - 1) / 2, STRETCH = 1 << 18, LINE_WORDS = 8 };

typedef struct bench {
    cof_env env;
    cofi_blocks own;
    const cofi_cells *rows;
    cofi_team *team[2]; /* all threads; then a single thread, if there are several */
    size_t n_teams;
    const cofi_kernel *chosen;
    cofi_pass pass[MOST_KERNELS];
    size_t n_kernels;
    cofi_scores scores;
    /* for reading: a task reads one stretch of task_columns columns */
    size_t task_columns, column_tasks;
    /* per worker, one cache line each: the sum keeps the compiler from removing the reads */
    uint64_t *sum;
    cof_speed *speed;
    size_t n_speeds;
    uint32_t n_rounds;
    double *elapsed, *processor; /* [speed][round], seconds */
    double began_s;
} bench;

/* ---- Reading ------------------------------------------------------------------------------------ */

/* Four explicit vectors of sums: a compiler may otherwise add one word at a time, and then the time of the
 * additions is measured instead of the time of reading. */
static uint64_t read_stretch(const char *codes, size_t n_bytes)
{
    typedef uint64_t lanes __attribute__((vector_size(16)));
    lanes sum[4] = {{0}}, word[4];
    for (size_t i = 0; i + sizeof word <= n_bytes; i += sizeof word) {
        memcpy(word, codes + i, sizeof word);
        sum[0] += word[0];
        sum[1] += word[1];
        sum[2] += word[2];
        sum[3] += word[3];
    }
    sum[0] += sum[1] + sum[2] + sum[3];
    return sum[0][0] + sum[0][1];
}

static void read_task(void *ctx, uint32_t worker, size_t task)
{
    bench *b = ctx;
    size_t first = task / b->column_tasks * b->task_columns, begin = task % b->column_tasks * STRETCH;
    for (size_t r = first; r < first + b->task_columns && r < b->rows->n_attrs; r++) {
        size_t end = b->rows->n_rows * b->rows->ids[r].width;
        if (begin >= end) continue; /* other columns have wider codes */
        const char *codes = b->rows->ids[r].codes;
        b->sum[LINE_WORDS * worker] +=
            read_stretch(codes + begin, end - begin < STRETCH ? end - begin : STRETCH);
    }
}

/* Long columns are cut into stretches; several short columns are read by one task. */
static void plan_reading(bench *b)
{
    size_t longest = 1;
    for (size_t r = 0; r < b->rows->n_attrs; r++) {
        size_t n_bytes = b->rows->n_rows * b->rows->ids[r].width;
        if (n_bytes > longest) longest = n_bytes;
    }
    b->column_tasks = (longest + STRETCH - 1) / STRETCH;
    b->task_columns = longest < STRETCH ? STRETCH / longest : 1;
}

static void read_codes(bench *b, cofi_team *team)
{
    size_t n_groups = (b->rows->n_attrs + b->task_columns - 1) / b->task_columns;
    cofi_team_run(team, read_task, b, n_groups * b->column_tasks);
}

/* ---- Opening ------------------------------------------------------------------------------------ */

static cof_status open_teams(bench *b, uint32_t threads, cof_error *err)
{
    COFI_TRY(cofi_team_open(&b->env, threads, &b->team[0], err));
    b->n_teams = 1;
    if (cofi_team_size(b->team[0]) == 1) return COF_OK;
    COFI_TRY(cofi_team_open(&b->env, 1, &b->team[1], err));
    b->n_teams = 2;
    return COF_OK;
}

static cof_status open_passes(bench *b, uint32_t k, bool chosen_only, cof_error *err)
{
    cof_status status = cofi_kernel_choose(&b->chosen, err);
    for (size_t at = 0; b->n_kernels < MOST_KERNELS && cofi_kernel_at(at) != NULL && status == COF_OK; at++) {
        const cofi_kernel *kernel = cofi_kernel_at(at);
        if (chosen_only && kernel != b->chosen) continue;
        status = cofi_pass_open(&b->env, b->rows, k, b->team[0], kernel, &b->pass[b->n_kernels++], err);
    }
    return status;
}

/* The sum of a row's scores must stay below the limit in shape.h. */
static cof_status open_scores(bench *b, uint32_t k, uint64_t seed, cof_error *err)
{
    cofi_rng rng;
    uint32_t n_flat = b->rows->first[b->rows->n_attrs], stride = cofi_stride(k);
    uint64_t bound = (UINT64_C(1) << COFI_SUM_BITS) / b->rows->n_attrs;
    b->scores = (cofi_scores){.k = k, .stride = stride, .scale = 1};
    b->scores.value = cofi_blocks_add_zero(&b->own, (size_t)n_flat * stride, sizeof *b->scores.value);
    b->scores.base = cofi_blocks_add_zero(&b->own, stride, sizeof *b->scores.base);
    COFI_TRY(cofi_blocks_status(&b->own, err));
    cofi_rng_seed(&rng, seed, 0);
    for (uint32_t j = k; j < stride; j++) b->scores.base[j] = COFI_NEVER;
    for (uint32_t g = 0; g < n_flat; g++)
        for (uint32_t j = 0; j < k; j++)
            b->scores.value[(size_t)g * stride + j] = (int64_t)cofi_rng_below(&rng, bound);
    return COF_OK;
}

/* Lists the kinds of work in the order in which they are timed. */
static void list_speeds(bench *b)
{
    for (size_t t = 0; t < b->n_teams; t++) {
        uint32_t threads = cofi_team_size(b->team[t]);
        b->speed[b->n_speeds++] = (cof_speed){.work = COF_WORK_READ, .threads = threads};
        for (size_t x = 0; x < b->n_kernels; x++) {
            const cofi_kernel *kernel = b->pass[x].kernel;
            cof_speed speed = {.kernel = kernel->name, .chosen = kernel == b->chosen, .threads = threads};
            speed.work = COF_WORK_FIRST;
            b->speed[b->n_speeds++] = speed;
            speed.work = COF_WORK_AGAIN;
            b->speed[b->n_speeds++] = speed;
        }
    }
}

static cof_status open_bench(bench *b, const cof_bench_options *o, cof_error *err)
{
    COFI_TRY(open_teams(b, o->threads, err));
    COFI_TRY(open_passes(b, o->k, o->chosen_only != 0, err));
    list_speeds(b);
    plan_reading(b);
    b->n_rounds = o->rounds;
    b->sum = cofi_blocks_add_zero(&b->own, cofi_team_size(b->team[0]), LINE_WORDS * sizeof *b->sum);
    b->elapsed = cofi_blocks_add(&b->own, b->n_speeds * b->n_rounds, sizeof *b->elapsed);
    b->processor = cofi_blocks_add(&b->own, b->n_speeds * b->n_rounds, sizeof *b->processor);
    return open_scores(b, o->k, o->seed, err);
}

static void close_bench(bench *b)
{
    for (size_t x = 0; x < b->n_kernels; x++) cofi_pass_close(&b->pass[x]);
    for (size_t t = 0; t < b->n_teams; t++) cofi_team_close(b->team[t]);
    cofi_blocks_release(&b->own);
}

/* ---- Rounds ------------------------------------------------------------------------------------- */

static void tell(const bench *b, uint32_t round, size_t at)
{
    if (b->env.progress == NULL) return;
    cof_progress now = {.phase = COF_PHASE_BENCH,
                        .done = (uint64_t)round * b->n_speeds + at,
                        .total = (uint64_t)(b->n_rounds + 1) * b->n_speeds,
                        .elapsed_s = cofi_now_s() - b->began_s};
    b->env.progress(b->env.ctx, &now);
}

/* Does work number `at` once and returns its two times in seconds. A pass opened for all threads can also
 * run on fewer: the other workers then have no changes to add. COF_WORK_AGAIN comes directly after
 * COF_WORK_FIRST and needs its labels. */
static void do_work(bench *b, size_t at, double *elapsed, double *processor)
{
    size_t per_team = b->n_speeds / b->n_teams, x = at % per_team == 0 ? 0 : (at % per_team - 1) / 2;
    cofi_team *team = b->team[at / per_team];
    cofi_pass *pass = &b->pass[x];
    int32_t work = b->speed[at].work;
    pass->team = team;
    if (work == COF_WORK_FIRST) cofi_pass_reset(pass);
    if (work == COF_WORK_AGAIN) cofi_skip_forget(&pass->skip); /* otherwise the pass would skip all rows */
    double before = cofi_now_s(), processor_before = cofi_processor_s();
    if (work == COF_WORK_READ)
        read_codes(b, team);
    else
        cofi_pass_run(pass, &b->scores);
    *processor = cofi_processor_s() - processor_before;
    *elapsed = cofi_now_s() - before;
    pass->team = b->team[0];
}

static cof_status do_round(bench *b, uint32_t round, cof_error *err)
{
    for (size_t at = 0; at < b->n_speeds; at++) {
        double elapsed, processor;
        if (cofi_should_stop(&b->env)) return cofi_fail(err, COF_ERR_STOPPED, "stopped while measuring");
        do_work(b, at, &elapsed, &processor);
        tell(b, round, at + 1);
        if (round == 0) continue; /* warm-up: this round touches new memory and fills the caches */
        b->elapsed[at * b->n_rounds + round - 1] = elapsed;
        b->processor[at * b->n_rounds + round - 1] = processor;
    }
    return COF_OK;
}

/* All kernels must give the same labels (kernel.h); this checks it on the current machine. */
static cof_status compare_labels(const bench *b, cof_error *err)
{
    const cofi_pass *plain = &b->pass[b->n_kernels - 1];
    for (size_t x = 0; x + 1 < b->n_kernels; x++)
        if (b->pass[x].hash != plain->hash ||
            memcmp(b->pass[x].label, plain->label, b->rows->n_rows * sizeof *plain->label) != 0)
            return cofi_fail(err, COF_ERR_BACKEND,
                             "the kernel %s gives other labels than plain on this machine; please report it",
                             b->pass[x].kernel->name);
    return COF_OK;
}

static void summarise(bench *b)
{
    for (size_t at = 0; at < b->n_speeds; at++) {
        double *elapsed = b->elapsed + at * b->n_rounds, *processor = b->processor + at * b->n_rounds;
        b->speed[at].elapsed_s = cof_quantile(elapsed, b->n_rounds, 0.5);
        b->speed[at].least_s = elapsed[0];
        b->speed[at].most_s = elapsed[b->n_rounds - 1];
        b->speed[at].processor_s = cof_quantile(processor, b->n_rounds, 0.5);
    }
}

cof_status cofi_measure_passes(const cof_env *env, cofi_rows *rows, const cof_bench_options *options,
                               cof_speed *speeds, size_t *n_speeds, cof_error *err)
{
    cof_speed speed[COF_MOST_SPEEDS] = {{.work = COF_WORK_READ}};
    bench b = {.env = *env,
               .own = {.env = *env},
               .rows = &cofi_local_of(rows)->cells,
               .speed = speed,
               .began_s = cofi_now_s()};
    cof_status status = open_bench(&b, options, err);
    for (uint32_t round = 0; round <= options->rounds && status == COF_OK; round++)
        status = do_round(&b, round, err);
    if (status == COF_OK) status = compare_labels(&b, err);
    if (status == COF_OK) {
        summarise(&b);
        memcpy(speeds, speed, b.n_speeds * sizeof *speed);
        *n_speeds = b.n_speeds;
    }
    close_bench(&b);
    return status;
}
