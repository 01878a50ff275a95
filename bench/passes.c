/* The time of one pass over a planted table for every kernel of this processor, beside only reading the same codes, and of
 * whole fits of one restart. bench/run reads what it prints.
 *   bench_passes [--rows N] [--columns N] [--values N] [-k K] [--noise P] [--threads T] [--seed S] [--repeats R]
 *                [--chosen] [--no-fit]
 * Prints one JSON object; times are seconds. --chosen leaves out the kernels that a fit would not use. Work `first` labels and
 * counts every row; in `again` every row is scored and none moves. Each is timed once per round, after one round that is not
 * counted, so that disturbances by other programs fall on all alike. Scores are drawn at random, because the time of a pass
 * hardly depends on them. It ends with an error if two kernels give different labels. */
#include "coforest_extra.h"

#include "../src/core/rng.h"
#include "../src/core/system/system.h"
#include "../src/rows/local.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 8, MOST_SPEEDS = 2 * (1 + 2 * MOST_KERNELS), STRETCH = 1 << 18, LINE_WORDS = 8 };

typedef enum work_kind { READ, FIRST, AGAIN } work_kind;

typedef struct options {
    uint64_t rows, seed;
    uint32_t columns, values, k, threads, repeats;
    double noise;
    bool chosen, no_fit;
} options;

typedef struct speed {
    work_kind work;
    size_t kernel, team;         /* positions in `pass` and `team` below */
    double *elapsed, *processor; /* per round */
} speed;

typedef struct bench {
    options o;
    cofi_blocks own;
    cof_table *table;
    cofi_problem problem;
    cofi_rows *rows;
    const cofi_cells *cells;
    cofi_team *team[2]; /* all threads; then a single thread, if there are several */
    size_t n_teams;
    cofi_pass pass[MOST_KERNELS];
    size_t n_kernels;
    const cofi_kernel *chosen;
    cofi_scores scores;
    uint64_t *sum; /* per worker, one cache line each: keeps the compiler from removing the reads */
    speed speed[MOST_SPEEDS];
    size_t n_speeds;
} bench;

/* ---- Opening ------------------------------------------------------------------------------------ */

static cof_status open_rows(bench *b, cof_error *err)
{
    const options *o = &b->o;
    cof_generate_options table = {.struct_size = sizeof table,
                                  .kind = COF_GENERATE_PLANTED,
                                  .n_rows = o->rows,
                                  .n_columns = o->columns,
                                  .n_values = o->values,
                                  .k = o->k,
                                  .noise =
                                      o->noise == 0 ? -1 : o->noise, /* to the library 0 is the default */
                                  .seed = o->seed};
    cof_fit_options fit = {.struct_size = sizeof fit, .k = o->k, .restarts = 1, .init = COF_INIT_KMEANS};
    COFI_TRY(cof_table_generate(NULL, &table, &b->table, err));
    COFI_TRY(cofi_rows_open(b->table, &fit, (cofi_opening){0}, &b->problem, &b->rows, err));
    b->own.env = b->table->env;
    b->cells = &cofi_local_of(b->rows)->cells;
    return COF_OK;
}

static cof_status open_teams(bench *b, cof_error *err)
{
    COFI_TRY(cofi_team_open(&b->own.env, b->o.threads, &b->team[b->n_teams++], err));
    if (cofi_team_size(b->team[0]) == 1) return COF_OK;
    return cofi_team_open(&b->own.env, 1, &b->team[b->n_teams++], err);
}

static cof_status open_passes(bench *b, cof_error *err)
{
    COFI_TRY(cofi_kernel_choose(&b->chosen, err));
    for (size_t at = 0; b->n_kernels < MOST_KERNELS && cofi_kernel_at(at) != NULL; at++) {
        const cofi_kernel *kernel = cofi_kernel_at(at);
        if (b->o.chosen && kernel != b->chosen) continue;
        COFI_TRY(
            cofi_pass_open(&b->own.env, b->cells, b->o.k, b->team[0], kernel, &b->pass[b->n_kernels++], err));
    }
    return COF_OK;
}

/* The sum of a row's scores must stay below the limit in shape.h. */
static cof_status open_scores(bench *b, cof_error *err)
{
    cofi_rng rng;
    uint32_t k = b->o.k, n_flat = b->cells->first[b->cells->n_attrs], stride = cofi_stride(k);
    uint64_t bound = (UINT64_C(1) << COFI_SUM_BITS) / b->cells->n_attrs;
    b->scores = (cofi_scores){.k = k, .stride = stride, .scale = 1};
    b->scores.value = cofi_blocks_add_zero(&b->own, (size_t)n_flat * stride, sizeof *b->scores.value);
    b->scores.base = cofi_blocks_add_zero(&b->own, stride, sizeof *b->scores.base);
    COFI_TRY(cofi_blocks_status(&b->own, err));
    cofi_rng_seed(&rng, b->o.seed, 0);
    for (uint32_t j = k; j < stride; j++) b->scores.base[j] = COFI_NEVER;
    for (uint32_t g = 0; g < n_flat; g++)
        for (uint32_t j = 0; j < k; j++)
            b->scores.value[(size_t)g * stride + j] = (int64_t)cofi_rng_below(&rng, bound);
    return COF_OK;
}

static void add_speed(bench *b, work_kind work, size_t kernel, size_t team)
{
    speed *s = &b->speed[b->n_speeds++];
    *s = (speed){.work = work, .kernel = kernel, .team = team};
    s->elapsed = cofi_blocks_add(&b->own, b->o.repeats, sizeof *s->elapsed);
    s->processor = cofi_blocks_add(&b->own, b->o.repeats, sizeof *s->processor);
}

static cof_status open_bench(bench *b, cof_error *err)
{
    COFI_TRY(open_rows(b, err));
    COFI_TRY(open_teams(b, err));
    COFI_TRY(open_passes(b, err));
    b->sum = cofi_blocks_add_zero(&b->own, cofi_team_size(b->team[0]), LINE_WORDS * sizeof *b->sum);
    for (size_t t = 0; t < b->n_teams; t++) {
        add_speed(b, READ, 0, t);
        for (size_t x = 0; x < b->n_kernels; x++) {
            add_speed(b, FIRST, x, t);
            add_speed(b, AGAIN, x, t);
        }
    }
    return open_scores(b, err);
}

static void close_bench(bench *b)
{
    for (size_t x = 0; x < b->n_kernels; x++) cofi_pass_close(&b->pass[x]);
    for (size_t t = 0; t < b->n_teams; t++) cofi_team_close(b->team[t]);
    cofi_blocks_release(&b->own);
    cofi_rows_close(b->rows);
    cofi_problem_close(&b->problem);
    cof_table_free(b->table);
}

/* ---- Measuring ---------------------------------------------------------------------------------- */

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

/* A task reads one stretch of every column, as far as the column goes. */
static void read_task(void *ctx, uint32_t worker, size_t task)
{
    bench *b = ctx;
    for (size_t r = 0; r < b->cells->n_attrs; r++) {
        size_t begin = task * STRETCH, end = b->cells->n_rows * b->cells->ids[r].width;
        if (begin >= end) continue; /* other columns have wider codes */
        const char *codes = b->cells->ids[r].codes;
        b->sum[LINE_WORDS * worker] +=
            read_stretch(codes + begin, end - begin < STRETCH ? end - begin : STRETCH);
    }
}

static void read_codes(bench *b, cofi_team *team)
{
    size_t widest = 1;
    for (size_t r = 0; r < b->cells->n_attrs; r++)
        if (b->cells->ids[r].width > widest) widest = b->cells->ids[r].width;
    cofi_team_run(team, read_task, b, (b->cells->n_rows * widest + STRETCH - 1) / STRETCH);
}

/* A pass opened for all threads can also run on fewer: the other workers then have no changes to add. AGAIN comes
 * directly after FIRST and needs its labels. */
static void do_work(bench *b, const speed *s, double *elapsed, double *processor)
{
    cofi_pass *pass = &b->pass[s->kernel];
    pass->team = b->team[s->team];
    if (s->work == FIRST) cofi_pass_reset(pass);
    pass->skip.valid = false; /* otherwise the pass would skip all rows */
    double before = cofi_now_s(), processor_before = cofi_processor_s();
    if (s->work == READ)
        read_codes(b, pass->team);
    else
        cofi_pass_run(pass, &b->scores);
    *processor = cofi_processor_s() - processor_before;
    *elapsed = cofi_now_s() - before;
    pass->team = b->team[0];
}

static cof_status measure_passes(bench *b, cof_error *err)
{
    double unused;
    const cofi_pass *plain = &b->pass[b->n_kernels - 1];
    for (size_t at = 0; at < b->n_speeds; at++)
        do_work(b, &b->speed[at], &unused, &unused); /* fills the caches */
    for (uint32_t round = 0; round < b->o.repeats; round++)
        for (size_t at = 0; at < b->n_speeds; at++)
            do_work(b, &b->speed[at], &b->speed[at].elapsed[round], &b->speed[at].processor[round]);
    for (size_t x = 0; x + 1 < b->n_kernels; x++)
        if (memcmp(b->pass[x].label, plain->label, b->cells->n_rows * sizeof *plain->label) != 0)
            return cofi_fail(err, COF_ERR_BACKEND, "the kernel %s gives other labels than plain",
                             b->pass[x].kernel->name);
    return COF_OK;
}

/* ---- Printing ----------------------------------------------------------------------------------- */

/* Sorts the times. */
static double print_times(cof_json *j, double *elapsed, double *processor, uint32_t n)
{
    double median_s = cof_quantile(elapsed, n, 0.5);
    cof_json_real(j, "elapsed_s", median_s);
    cof_json_real(j, "least_s", elapsed[0]);
    cof_json_real(j, "most_s", elapsed[n - 1]);
    cof_json_real(j, "processor_s", cof_quantile(processor, n, 0.5));
    return median_s;
}

static void print_speeds(const bench *b, cof_json *j)
{
    static const char *const works[] = {[READ] = "read", [FIRST] = "first", [AGAIN] = "again"};
    cof_json_open(j, "speeds", '[');
    for (size_t at = 0; at < b->n_speeds; at++) {
        const speed *s = &b->speed[at];
        cof_json_open_line(j, NULL, '{');
        cof_json_text(j, "work", works[s->work]);
        cof_json_text(j, "kernel", s->work == READ ? NULL : b->pass[s->kernel].kernel->name);
        cof_json_count(j, "threads", cofi_team_size(b->team[s->team]));
        double elapsed_s = print_times(j, s->elapsed, s->processor, b->o.repeats);
        cof_json_real(j, "ns_per_row", 1e9 * elapsed_s / (double)b->o.rows);
        cof_json_close(j, '}');
    }
    cof_json_close(j, ']');
}

static cof_status print_fits(bench *b, size_t team, cof_json *j, cof_error *err)
{
    uint32_t n = b->o.repeats;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = b->o.k,
                         .seed = b->o.seed,
                         .restarts = 1,
                         .init = COF_INIT_KMEANS,
                         .threads = cofi_team_size(b->team[team])};
    double *elapsed = cofi_blocks_add(&b->own, n, sizeof *elapsed),
           *processor = cofi_blocks_add(&b->own, n, sizeof *processor),
           *pass = cofi_blocks_add(&b->own, n, sizeof *pass),
           *visit = cofi_blocks_add(&b->own, n, sizeof *visit);
    COFI_TRY(cofi_blocks_status(&b->own, err));
    for (uint32_t i = 0; i < n; i++) {
        cof_model *model;
        double before = cofi_processor_s();
        COFI_TRY(cof_fit(b->table, &o, &model, &info, err));
        cof_model_free(model);
        processor[i] = cofi_processor_s() - before;
        elapsed[i] = info.fit_s;
        pass[i] = info.pass_s / ((double)info.n_rows * info.passes);
        visit[i] = (info.start_s + info.pass_s) / (double)info.row_visits;
    }
    cof_json_open_line(j, NULL, '{');
    cof_json_count(j, "threads", info.threads);
    print_times(j, elapsed, processor, n);
    cof_json_count(j, "passes", info.passes);
    cof_json_count(j, "row_visits", info.row_visits);
    cof_json_real(j, "ns_per_row_and_pass", 1e9 * cof_quantile(pass, n, 0.5));
    cof_json_real(j, "ns_per_row_visit", 1e9 * cof_quantile(visit, n, 0.5));
    cof_json_close(j, '}');
    return COF_OK;
}

static int put(void *file, const char *text, size_t n)
{
    return fwrite(text, 1, n, file) == n ? 0 : -1;
}

static cof_status print_all(bench *b, cof_error *err)
{
    const char *wanted = getenv("COFOREST_KERNEL");
    bool asked_for = wanted != NULL && strcmp(wanted, b->chosen->name) == 0;
    cof_json j;
    cof_status status = COF_OK;
    cof_json_begin(&j, put, stdout);
    cof_json_open(&j, NULL, '{');
    cof_json_text(&j, "version", cof_version());
    cof_json_count(&j, "n_rows", b->o.rows);
    cof_json_text(&j, "kernel", b->chosen->name);
    cof_json_text(&j, "kernel_why",
                  asked_for ? "COFOREST_KERNEL selects it" : "the fastest of this processor");
    print_speeds(b, &j);
    cof_json_open(&j, "fits", '[');
    for (size_t t = 0; t < b->n_teams && !b->o.no_fit && status == COF_OK; t++)
        status = print_fits(b, t, &j, err);
    cof_json_close(&j, ']');
    cof_json_close(&j, '}');
    cof_json_end(&j);
    return status;
}

/* ---- The program --------------------------------------------------------------------------------- */

static bool read_options(int argc, char **argv, options *o)
{
    for (int at = 1; at < argc; at++) {
        const char *name = argv[at];
        if (strcmp(name, "--chosen") == 0)
            o->chosen = true;
        else if (strcmp(name, "--no-fit") == 0)
            o->no_fit = true;
        else if (++at == argc)
            return false;
        else if (strcmp(name, "--rows") == 0)
            o->rows = strtoull(argv[at], NULL, 10);
        else if (strcmp(name, "--columns") == 0)
            o->columns = (uint32_t)strtoul(argv[at], NULL, 10);
        else if (strcmp(name, "--values") == 0)
            o->values = (uint32_t)strtoul(argv[at], NULL, 10);
        else if (strcmp(name, "-k") == 0)
            o->k = (uint32_t)strtoul(argv[at], NULL, 10);
        else if (strcmp(name, "--noise") == 0)
            o->noise = strtod(argv[at], NULL);
        else if (strcmp(name, "--threads") == 0)
            o->threads = (uint32_t)strtoul(argv[at], NULL, 10);
        else if (strcmp(name, "--seed") == 0)
            o->seed = strtoull(argv[at], NULL, 10);
        else if (strcmp(name, "--repeats") == 0)
            o->repeats = (uint32_t)strtoul(argv[at], NULL, 10);
        else
            return false;
    }
    return o->repeats > 0;
}

int main(int argc, char **argv)
{
    bench b = {
        .o = {.rows = 1000000, .columns = 20, .values = 5, .k = 5, .seed = 1, .repeats = 5, .noise = 0.3}};
    cof_error err = {""};
    if (!read_options(argc, argv, &b.o)) {
        fputs("bench_passes: the head of bench/passes.c lists the options\n", stderr);
        return 2;
    }
    cof_status status = open_bench(&b, &err);
    if (status == COF_OK) status = measure_passes(&b, &err);
    if (status == COF_OK) status = print_all(&b, &err);
    close_bench(&b);
    if (status == COF_OK) return 0;
    fprintf(stderr, "bench_passes: %s\n", err.text);
    return 1;
}
