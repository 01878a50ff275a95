/* coforest bench: how fast it is on the machine at hand, compared with only reading the same memory. */
#include <math.h>
#include <unistd.h>

#include "cmd.h"
#include "../column_choice.h"
#include "../complain.h"
#include "../show/grid.h"
#include "../progress.h"
#include "../host/host.h"

typedef struct bench_settings {
    uint64_t rows, seed;
    uint32_t columns, values, k, threads, repeats;
    double noise; /* NaN: not given */
    bool chosen, no_fit, json;
} bench_settings;

/* Whole fits on one number of threads; medians but for the range. */
typedef struct fit_times {
    uint32_t threads;
    double *took, *visit, *pass; /* per repeat: seconds; seconds a row visit; a row and pass of the forest */
    double *processor;           /* seconds of all threads together */
    double elapsed_s, least_s, most_s, visit_s, pass_s, processor_s;
    cof_fit_info info; /* of the last one; all but its times are the same in every one */
} fit_times;

typedef struct bench_job {
    bench_settings s;
    progress_line line; /* here, because the table keeps pointing at it */
    cof_table *table;
    uint64_t n_bytes; /* of the codes, which a pass reads once */
    double generate_s;
    cof_speed speed[COF_MOST_SPEEDS];
    size_t n_speeds, n_teams; /* all threads, and one where that is not the same */
    fit_times fit[2];         /* of one restart, the same */
    fit_times usual[2];       /* with the default options, the same */
    size_t n_fits;
} bench_job;

static const option bench_options[] = {
    OPTION("rows", "N", OPTION_NUMBER, bench_settings, rows, "Rows of the table (default: 1000000).",
           .least = 2),
    OPTION("columns", "N", OPTION_COUNT, bench_settings, columns, "Columns (default: 20).", .least = 1),
    OPTION("values", "N", OPTION_COUNT, bench_settings, values, "Values each column can take (default: 5).",
           .least = 2),
    OPTION("clusters", "K", OPTION_COUNT, bench_settings, k, "Clusters, planted and looked for (default: 5).",
           .letter = 'k', .least = 1, .most = COF_MOST_CLUSTERS),
    OPTION("noise", "P", OPTION_REAL, bench_settings, noise,
           "The probability that a cell is drawn at random; with more noise a fit takes more passes "
           "(default: 0.3).",
           .most = 1),
    OPTION("threads", "T", OPTION_COUNT, bench_settings, threads,
           "Threads, compared with one (default: all cores).", .least = 1, .most = 1024),
    OPTION("seed", "S", OPTION_NUMBER, bench_settings, seed, "Seed of the random numbers (default: 1)."),
    OPTION("repeats", "R", OPTION_COUNT, bench_settings, repeats,
           "How often everything is timed, default fits at most 9 times; medians are printed (default: 5).",
           .least = 1, .most = 1000),
    OPTION("chosen", NULL, OPTION_FLAG, bench_settings, chosen,
           "Leave out the kernels that a fit would not use."),
    OPTION("no-fit", NULL, OPTION_FLAG, bench_settings, no_fit, "Leave out the whole fits."),
    OPTION("json", NULL, OPTION_FLAG, bench_settings, json,
           "Print one JSON object instead of the text; times in it are seconds."),
    {.name = NULL}};

/* ---- Measuring ----------------------------------------------------------------------------------- */

/* Bytes of one code; the library keeps one more number for missing cells. */
static double code_width(uint32_t n_values)
{
    return n_values < 256 ? 1 : n_values < 65536 ? 2 : 4;
}

/* A machine that begins to swap, or whose system ends the program, tells nothing about speed. */
static int check_sizes(const bench_settings *s)
{
    enum { KERNELS = 4, MOST_COLUMNS = (1 << 20) - 1 };
    const uint64_t most_rows = UINT32_MAX - 2;
    double rows = (double)s->rows, cells = rows * s->columns, values = (double)s->columns * s->values;
    double need = 1.6 * cells * code_width(s->values) + rows * (4 * KERNELS + 16) +
                  values * (s->k + 8.0) * 8 * (3 * KERNELS + 4) + 40 * values;
    double have = (double)cof_memory();
    if (s->rows < s->k)
        return complain(CODE_USAGE, "%s clusters need at least as many rows, but --rows is %s",
                        show_count(s->k).text, show_count(s->rows).text);
    if (s->rows > most_rows || s->columns > MOST_COLUMNS)
        return complain(CODE_USAGE, "at most %s rows and %s columns can be clustered",
                        show_count(most_rows).text, show_count(MOST_COLUMNS).text);
    if (need <= have) return CODE_DONE;
    return complain(CODE_USAGE,
                    "a table of %s rows and %s columns of %s values, k = %s, would need about %s GB of "
                    "memory, and this machine has %.0f GB; ask for less",
                    show_count(s->rows).text, show_count(s->columns).text, show_count(s->values).text,
                    show_count(s->k).text, show_count((uint64_t)(need / 1e9 + 0.5)).text, have / 1e9);
}

static int make_table(bench_job *job, const cof_env *env)
{
    const bench_settings *s = &job->s;
    cof_generate_options options = {.struct_size = sizeof options,
                                    .kind = COF_GENERATE_PLANTED,
                                    .n_rows = s->rows,
                                    .n_columns = s->columns,
                                    .n_values = s->values,
                                    .k = s->k,
                                    .seed = s->seed};
    double begun_s = now_s();
    /* to the library 0 means the default, so that none at all is any negative number */
    if (!isnan(s->noise)) options.noise = s->noise == 0 ? -1 : s->noise;
    TRY(complain_status(cof_table_generate(env, &options, &job->table, &said), TASK_SETTING));
    job->generate_s = now_s() - begun_s;
    for (size_t c = 0; c < s->columns; c++)
        job->n_bytes += s->rows * (uint64_t)code_width(column_of(job->table, c).n_values);
    return CODE_DONE;
}

static int measure_passes(bench_job *job)
{
    cof_bench_options options = {.struct_size = sizeof options,
                                 .k = job->s.k,
                                 .threads = job->s.threads,
                                 .rounds = job->s.repeats,
                                 .seed = job->s.seed,
                                 .chosen_only = job->s.chosen};
    TRY(complain_status(cof_bench(job->table, &options, job->speed, &job->n_speeds, &said), TASK_FIT));
    job->n_teams = job->speed[0].threads > 1 ? 2 : 1;
    return CODE_DONE;
}

static int fit_once(const bench_job *job, fit_times *f, bool usual, uint32_t repeat)
{
    cof_model *model;
    cof_fit_options options = {
        .struct_size = sizeof options, .k = job->s.k, .seed = job->s.seed, .threads = f->threads};
    if (!usual) {
        options.restarts = 1;
        options.init = COF_INIT_KMEANS;
    }
    f->info.struct_size = sizeof f->info;
    double before = processor_now_s();
    cof_status status = cof_fit(job->table, &options, &model, &f->info, &said);
    f->processor[repeat] = processor_now_s() - before;
    if (status != COF_OK) return complain_status(status, TASK_FIT);
    cof_model_free(model);
    if (interrupted()) return complain_status(COF_ERR_STOPPED, TASK_FIT);
    f->took[repeat] = f->info.fit_s;
    f->visit[repeat] = (f->info.start_s + f->info.pass_s) / (double)f->info.row_visits;
    f->pass[repeat] = f->info.pass_s / ((double)f->info.n_rows * f->info.passes);
    return CODE_DONE;
}

static void open_times(fit_times *f, uint32_t threads, uint32_t n)
{
    f->threads = threads;
    f->took = keep(n, sizeof *f->took);
    f->visit = keep(n, sizeof *f->visit);
    f->pass = keep(n, sizeof *f->pass);
    f->processor = keep(n, sizeof *f->processor);
}

static void finish_times(fit_times *f, uint32_t n)
{
    f->elapsed_s = cof_quantile(f->took, n, 0.5);
    f->least_s = f->took[0];
    f->most_s = f->took[n - 1];
    f->visit_s = cof_quantile(f->visit, n, 0.5);
    f->pass_s = cof_quantile(f->pass, n, 0.5);
    f->processor_s = cof_quantile(f->processor, n, 0.5);
}

/* In turn, so that whatever else the machine does falls on all alike. */
static int measure_fits(bench_job *job)
{
    enum { MOST_USUAL = 9 }; /* they take ten times as long and more */
    uint32_t threads = job->speed[0].threads, n = job->s.repeats, n_usual = n < MOST_USUAL ? n : MOST_USUAL;
    job->n_fits = job->n_teams;
    for (size_t i = 0; i < job->n_fits; i++) {
        open_times(&job->fit[i], i == 0 ? threads : 1, n);
        open_times(&job->usual[i], i == 0 ? threads : 1, n_usual);
    }
    for (uint32_t repeat = 0; repeat < n; repeat++) {
        for (size_t i = 0; i < job->n_fits; i++) TRY(fit_once(job, &job->fit[i], false, repeat));
        for (size_t i = 0; i < job->n_fits && repeat < n_usual; i++)
            TRY(fit_once(job, &job->usual[i], true, repeat));
    }
    for (size_t i = 0; i < job->n_fits; i++) {
        finish_times(&job->fit[i], n);
        finish_times(&job->usual[i], n_usual);
    }
    return CODE_DONE;
}

/* ---- What follows from it ------------------------------------------------------------------------ */

/* The same work by the same kernel; the list has those of all threads, then those of one. */
static const cof_speed *on_one_thread(const bench_job *job, const cof_speed *speed)
{
    size_t at = (size_t)(speed - job->speed), half = job->n_speeds / 2;
    return job->n_teams == 2 && at < half ? speed + half : NULL;
}

static const cof_speed *reading_beside(const bench_job *job, const cof_speed *speed)
{
    return job->n_teams == 2 && on_one_thread(job, speed) == NULL ? &job->speed[job->n_speeds / 2]
                                                                  : &job->speed[0];
}

static const char *chosen_kernel(const bench_job *job)
{
    for (size_t i = 0; i < job->n_speeds; i++)
        if (job->speed[i].chosen) return job->speed[i].kernel;
    return "";
}

static const char *why_chosen(const bench_job *job)
{
    const char *wanted = getenv("COFOREST_KERNEL");
    if (wanted != NULL && strcmp(wanted, chosen_kernel(job)) == 0) return "COFOREST_KERNEL selects it";
    return "the fastest of this processor";
}

/* ---- As JSON ------------------------------------------------------------------------------------- */

static void print_times(cof_json *j, double elapsed_s, double least_s, double most_s)
{
    cof_json_real(j, "elapsed_s", elapsed_s);
    cof_json_real(j, "least_s", least_s);
    cof_json_real(j, "most_s", most_s);
}

static void print_speed(const bench_job *job, const cof_speed *speed, cof_json *j)
{
    static const char *const works[] = {
        [COF_WORK_READ] = "read", [COF_WORK_FIRST] = "first", [COF_WORK_AGAIN] = "again"};
    double rows = (double)job->s.rows;
    cof_json_open_line(j, NULL, '{');
    cof_json_text(j, "work", works[speed->work]);
    cof_json_text(j, "kernel", speed->kernel);
    cof_json_count(j, "threads", speed->threads);
    print_times(j, speed->elapsed_s, speed->least_s, speed->most_s);
    cof_json_real(j, "processor_s", speed->processor_s);
    cof_json_real(j, "rows_per_s", rows / speed->elapsed_s);
    cof_json_real(j, "ns_per_row", 1e9 * speed->elapsed_s / rows);
    cof_json_real(j, "bytes_per_s", (double)job->n_bytes / speed->elapsed_s);
    cof_json_real(j, "share_of_reading", reading_beside(job, speed)->elapsed_s / speed->elapsed_s);
    cof_json_close(j, '}');
}

static void print_fit(const fit_times *f, cof_json *j)
{
    cof_json_open_line(j, NULL, '{');
    cof_json_count(j, "threads", f->info.threads);
    print_times(j, f->elapsed_s, f->least_s, f->most_s);
    cof_json_real(j, "processor_s", f->processor_s);
    cof_json_count(j, "restarts", f->info.restarts);
    cof_json_count(j, "passes", f->info.passes);
    cof_json_count(j, "row_visits", f->info.row_visits);
    cof_json_real(j, "ns_per_row_visit", 1e9 * f->visit_s);
    cof_json_real(j, "ns_per_row_and_pass", 1e9 * f->pass_s);
    cof_json_close(j, '}');
}

static void print_json(const bench_job *job)
{
    const bench_settings *s = &job->s;
    cof_json j;
    cof_json_begin(&j, file_sink, stdout);
    cof_json_open(&j, NULL, '{');
    cof_json_text(&j, "version", cof_version());
    cof_json_count(&j, "n_rows", s->rows);
    cof_json_count(&j, "n_columns", s->columns);
    cof_json_count(&j, "n_values", s->values);
    cof_json_count(&j, "k", s->k);
    cof_json_count(&j, "seed", s->seed);
    cof_json_count(&j, "repeats", s->repeats);
    cof_json_count(&j, "threads", job->speed[0].threads);
    cof_json_count(&j, "n_bytes", job->n_bytes);
    cof_json_text(&j, "kernel", chosen_kernel(job));
    cof_json_text(&j, "kernel_why", why_chosen(job));
    cof_json_real(&j, "generate_s", job->generate_s);
    cof_json_open(&j, "speeds", '[');
    for (size_t i = 0; i < job->n_speeds; i++) print_speed(job, &job->speed[i], &j);
    cof_json_close(&j, ']');
    cof_json_open(&j, "fits", '[');
    for (size_t i = 0; i < job->n_fits; i++) print_fit(&job->fit[i], &j);
    cof_json_close(&j, ']');
    cof_json_open(&j, "default_fits", '[');
    for (size_t i = 0; i < job->n_fits; i++) print_fit(&job->usual[i], &j);
    cof_json_close(&j, ']');
    cof_json_close(&j, '}');
    cof_json_end(&j);
}

/* ---- For people ---------------------------------------------------------------------------------- */

/* Three digits, of which people look at two. */
static void put_figure(const grid *g, size_t row, size_t column, double x)
{
    if (x >= 100)
        grid_put(g, row, column, "%s", show_count((uint64_t)(x + 0.5)).text);
    else
        grid_put(g, row, column, "%.*f", x >= 10 ? 1 : 2, x);
}

static void fill_row(const bench_job *job, const grid *g, size_t row, const cof_speed *speed)
{
    static const char *const works[] = {
        [COF_WORK_FIRST] = "every row moves", [COF_WORK_AGAIN] = "none moves"};
    const cof_speed *alone = on_one_thread(job, speed), *read = reading_beside(job, speed);
    double rows = (double)job->s.rows;
    if (speed->work == COF_WORK_READ)
        grid_put(g, row, 0, "reading the codes");
    else
        grid_put(g, row, 0, "%s, %s", speed->kernel, works[speed->work]);
    put_figure(g, row, 1, 1e9 * speed->elapsed_s / rows);
    put_figure(g, row, 2, 1e-6 * rows / speed->elapsed_s);
    grid_put(g, row, 3, "%s", show_share(read->elapsed_s, speed->elapsed_s).text);
    if (alone != NULL) grid_put(g, row, 4, "%.2f", alone->elapsed_s / speed->elapsed_s);
}

static void show_speeds(const bench_job *job, const page *p)
{
    size_t n = job->n_speeds / job->n_teams;
    grid g = grid_make(n + 1, job->n_teams == 2 ? 5 : 4);
    grid_put(&g, 0, 0, "one pass");
    grid_put(&g, 0, 1, "ns a row");
    grid_put(&g, 0, 2, "million rows/s");
    grid_put(&g, 0, 3, "of reading");
    if (job->n_teams == 2) grid_put(&g, 0, 4, "over 1 thread");
    for (size_t i = 0; i < n; i++) fill_row(job, &g, i + 1, &job->speed[i]);
    grid_text(&g, p);
}

static void show_kernel(const bench_job *job, const page *p)
{
    const char *chosen = chosen_kernel(job), *others[COF_MOST_SPEEDS];
    char text[400];
    size_t n = 0;
    for (size_t i = 1; i < job->n_speeds / job->n_teams; i += 2)
        if (strcmp(job->speed[i].kernel, chosen) != 0) others[n++] = job->speed[i].kernel;
    snprintf(text, sizeof text, "%s, %s", chosen, why_chosen(job));
    for (size_t i = 0; i < n; i++)
        append(text, sizeof text, "%s%s", i == 0 ? "; also here: " : ", ", others[i]);
    fprintf(p->out, "\n%-9s", "Kernel");
    put_words(p, 9, text);
}

static void show_fit(const bench_job *job, const page *p, const char *title, const fit_times *f, char *text,
                     size_t room)
{
    if (job->n_fits == 2)
        append(text, room, "; %.2f times as fast as on one thread", f[1].elapsed_s / f[0].elapsed_s);
    fprintf(p->out, "%-9s", title);
    put_words(p, 9, text);
}

static void show_fit_times(const bench_job *job, const page *p)
{
    const fit_times *one = &job->fit[0], *usual = &job->usual[0];
    char text[800];
    snprintf(text, sizeof text,
             "%s for a whole fit of one restart (%.3g to %.3g s): a start of %.3g s and %u passes of %.3g ns "
             "per row, counting rows that are known to stay",
             show_seconds(one->elapsed_s).text, one->least_s, one->most_s, one->info.start_s,
             one->info.passes, 1e9 * one->pass_s);
    show_fit(job, p, "Fit", one, text, sizeof text);
    snprintf(text, sizeof text, "%s for a whole fit with all defaults (%.3g to %.3g s), %u restarts",
             show_seconds(usual->elapsed_s).text, usual->least_s, usual->most_s, usual->info.restarts);
    show_fit(job, p, "Default", usual, text, sizeof text);
}

static void show(const bench_job *job)
{
    const bench_settings *s = &job->s;
    page p = page_for(stdout);
    const cof_speed *read = &job->speed[0];
    fprintf(p.out, "%s%s rows x %s columns%s of %s values, k = %s, %u thread%s\n", bold(&p),
            show_count(s->rows).text, show_count(s->columns).text, plain(&p), show_count(s->values).text,
            show_count(s->k).text, read->threads, plural(read->threads));
    fprintf(p.out, "%.3g MB of codes, read at %.3g GB/s; medians of %u\n\n", (double)job->n_bytes / 1e6,
            (double)job->n_bytes / read->elapsed_s / 1e9, s->repeats);
    show_speeds(job, &p);
    show_kernel(job, &p);
    if (job->n_fits > 0) show_fit_times(job, &p);
}

/* ---- All of it ----------------------------------------------------------------------------------- */

static int run_job(bench_job *job)
{
    TRY(check_sizes(&job->s));
    job->line = progress_begin(false, "");
    cof_env env = progress_env(&job->line);
    catch_signals();
    int code = make_table(job, &env);
    if (code == CODE_DONE) code = measure_passes(job);
    if (code == CODE_DONE && !job->s.no_fit) code = measure_fits(job);
    progress_erase(&job->line);
    if (code != CODE_DONE) return code;
    if (job->s.json)
        print_json(job);
    else
        show(job);
    return CODE_DONE;
}

static int run_bench(int argc, char **argv)
{
    bench_job job = {
        .s = {.rows = 1000000, .columns = 20, .values = 5, .k = 5, .seed = 1, .repeats = 5, .noise = NAN}};
    operands found;
    int code;
    if (!parse_arguments(&verb_bench, argc, argv, &job.s, &found, &code)) return code;
    code = run_job(&job);
    cof_table_free(job.table);
    return code;
}

const verb verb_bench = {
    .name = "bench",
    .usage = "[options]",
    .summary = "measure the speed on this machine",
    .paragraphs =
        {"Measures how fast coforest is on this machine. It makes a table with planted clusters in memory "
         "and times, in turn: reading the table's codes once, which is the lower limit for a pass; for every "
         "kernel that the processor has, a pass that labels and counts every row, and a pass in which no row "
         "moves, both without skipping rows; whole fits of one restart; and whole fits with all defaults.",
         "Results are given in nanoseconds per row, in rows per second, as a share of the speed of reading, "
         "and as the gain of all threads over one. The labels of all kernels are compared as well."},
    .groups = {{"Options", bench_options, 0}},
    .examples = {{"coforest bench", "This machine, on 1,000,000 rows of 20 columns; takes a few seconds."},
                 {"coforest bench --rows 100000 -k 50 --threads 1 --json",
                  "Another size, one thread, as JSON."}},
    .run = run_bench,
};
