/* The comparison tables: 11 methods on 12 datasets, and how the printed means sit among ours. */
#include "reproduce.h"
#include "term.h"

#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "complain.h"
#include "reproduce_compare.h"

static const char DEFAULTS[] = "default"; /* what `coforest fit` does when nothing is said */

static size_t list(const rep_job *job, rep_unit *units)
{
    return rep_list_tables(job->table, job->n_tables, units);
}

static int run(rep_job *job, const rep_unit *unit, rep_results *results)
{
    const rep_table *t = rep_find_table(job, unit->name);
    rep_series series[N_METHODS + 1];
    for (size_t m = 0; m < N_METHODS; m++)
        series[m] = rep_paper_series(t, rep_method_ids[m], rep_pool(job, t));
    series[N_METHODS] =
        (rep_series){.name = DEFAULTS,
                     .options = {.struct_size = sizeof(cof_fit_options), .k = t->about->k, .threads = 1},
                     .n_runs = job->runs < PAPER_RUNS ? job->runs : PAPER_RUNS};
    return rep_fit_all(job, t, series, N_METHODS + 1, rep_take_scores, results);
}

/* ---- Summaries ------------------------------------------------------------------------------------- */

rep_compared rep_cell(const rep_results *r, uint32_t runs, const char *abbrev, size_t metric, size_t method)
{
    double x[MOST_RUNS];
    static const double none = (double)NAN;
    rep_compared c = {.n = rep_collect(r, abbrev, rep_method_ids[method], (int)metric, x, MOST_RUNS),
                      .mean = none,
                      .printed = rep_printed(metric, abbrev, method, false),
                      .printed_deviation = rep_printed(metric, abbrev, method, true),
                      .percentile = none,
                      .z = none};
    if (c.n == 0) return c;
    double means[N_MEANS];
    size_t first = c.n < runs ? c.n : runs;
    rep_resample_means(x, c.n, PAPER_RUNS, means);
    c.mean = rep_mean(x, first);
    c.deviation = rep_deviation(x, first);
    c.mean_all = rep_mean(x, c.n);
    c.low = rep_quantile(means, N_MEANS, 0.05);
    c.middle = rep_quantile(means, N_MEANS, 0.5);
    c.high = rep_quantile(means, N_MEANS, 0.95);
    double error = rep_deviation(x, c.n) / sqrt((double)PAPER_RUNS);
    if (isnan(c.printed)) return c;
    c.percentile = rep_percentile(means, N_MEANS, c.printed);
    if (error > 1e-9) c.z = (c.printed - c.mean_all) / error;
    return c;
}

size_t rep_fill_grid(const rep_results *r, uint32_t runs, size_t metric, rep_grid *g)
{
    g->n = 0;
    for (size_t d = 0; d < N_DATASETS; d++) {
        if (rep_find_unit(r, rep_datasets[d].abbrev) == NULL) continue;
        g->abbrev[g->n] = rep_datasets[d].abbrev;
        for (size_t m = 0; m < N_METHODS; m++)
            g->cell[g->n][m] = rep_cell(r, runs, rep_datasets[d].abbrev, metric, m);
        g->n++;
    }
    return g->n;
}

bool rep_rank(const rep_grid *g, bool printed, double rank[N_METHODS], cof_friedman_result *test)
{
    double value[N_DATASETS * N_METHODS] = {0};
    cof_error err;
    for (size_t d = 0; d < g->n; d++)
        for (size_t m = 0; m < N_METHODS; m++)
            value[d * N_METHODS + m] = printed ? g->cell[d][m].printed : g->cell[d][m].mean;
    *test = (cof_friedman_result){.struct_size = sizeof *test};
    return cof_friedman(NULL, value, g->n, N_METHODS, 1, rank, test, &err) == COF_OK;
}

/* Mean over the datasets of a series' mean, first `runs` runs. */
double rep_overall(const rep_results *r, const char *series, size_t metric, uint32_t runs)
{
    double x[MOST_RUNS], sum = 0;
    size_t n = 0;
    for (size_t d = 0; d < N_DATASETS; d++) {
        size_t found = rep_collect(r, rep_datasets[d].abbrev, series, (int)metric, x, MOST_RUNS);
        if (found == 0) continue;
        sum += rep_mean(x, runs > 0 && found > runs ? runs : found);
        n++;
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

/* ---- Pictures --------------------------------------------------------------------------------------- */

static const double PANEL_WIDTH = 330, PANEL_HEIGHT = 232, KEY_TOP = 30, NAMES = 20;

static void draw_row(const plot *p, const rep_compared *c, size_t method)
{
    double y = p->top + p->height * ((double)method + 0.5) / N_METHODS;
    bool own = method == N_METHODS - 1;
    chart_text(p->out, own ? "n e b" : "n e", p->left - 5, y + 3.5, "%s", rep_method_names[method]);
    if (c->n == 0) {
        chart_text(p->out, "n", p->left + 4, y + 3.5, "no result");
        return;
    }
    chart_line(p->out, own ? "wide l1" : "wide l0", plot_x(p, c->low), y,
               fmax(plot_x(p, c->high), plot_x(p, c->low) + 2), y);
    chart_line(p->out, "thin", plot_x(p, c->middle), y - 5, plot_x(p, c->middle), y + 5);
    if (!isnan(c->printed)) chart_mark(p->out, "open", MARK_DIAMOND, plot_x(p, c->printed), y, 4.5);
}

static void draw_panel(FILE *out, const rep_grid *g, size_t d)
{
    plot p = panel_at(out, d, 3, PANEL_WIDTH, PANEL_HEIGHT, KEY_TOP);
    p.left += NAMES;
    p.width -= NAMES;
    p.x0 = INFINITY;
    p.x1 = -INFINITY;
    for (size_t m = 0; m < N_METHODS; m++) {
        const rep_compared *c = &g->cell[d][m];
        if (c->n == 0) continue;
        p.x0 = fmin(p.x0, fmin(c->low, c->printed));
        p.x1 = fmax(p.x1, fmax(c->high, c->printed));
    }
    double room = fmax(p.x1 - p.x0, 0.004) * 0.05;
    p.x0 -= room;
    p.x1 += room;
    plot_title(&p, "%s", g->abbrev[d]);
    plot_x_axis(&p, 4);
    for (size_t m = 0; m < N_METHODS; m++) draw_row(&p, &g->cell[d][m], m);
}

static int draw_metric(const rep_job *job, const rep_grid *g, size_t metric, const char *name)
{
    rep_file f;
    int code = rep_file_open(job, name, &f);
    if (code != CODE_DONE) return code;
    chart_open(f.out, 3 * PANEL_WIDTH, panels_height(g->n, 3, PANEL_HEIGHT, KEY_TOP),
               "Ten-run means of every method on every dataset, beside the printed ones");
    chart_text(f.out, "h", 10, 20, "%s", rep_metric_names[metric]);
    chart_line(f.out, "wide l0", 60, 16, 90, 16);
    chart_line(f.out, "wide l1", 94, 16, 124, 16);
    chart_line(f.out, "thin", 92, 11, 92, 21);
    chart_text(f.out, "n", 132, 20, "our ten-run means: 5 to 95 %%, and their median");
    chart_mark(f.out, "open", MARK_DIAMOND, 400, 16, 4.5);
    chart_text(f.out, "n", 410, 20, "printed mean of ten runs");
    for (size_t d = 0; d < g->n; d++) draw_panel(f.out, g, d);
    chart_close(f.out);
    return rep_file_close(&f);
}

static int put_text(void *ctx, const char *text, size_t n)
{
    return fwrite(text, 1, n, ctx) == n ? 0 : 1;
}

static int draw_ranks(const rep_job *job, const rep_grid *g, size_t metric, bool printed)
{
    double rank[N_METHODS];
    cof_friedman_result test;
    cof_error err;
    char name[64];
    rep_file f;
    if (!rep_rank(g, printed, rank, &test)) return CODE_DONE; /* one dataset has no ranks to average */
    snprintf(name, sizeof name, "ranks_%s%s.svg", rep_metric_names[metric], printed ? "_printed" : "");
    for (char *s = name; *s != '\0'; s++)
        if (*s >= 'A' && *s <= 'Z') *s = (char)(*s - 'A' + 'a');
    int code = rep_file_open(job, name, &f);
    if (code != CODE_DONE) return code;
    cof_status status = cof_draw_ranks(NULL, rep_method_names, rank, N_METHODS, N_METHODS - 1,
                                       cof_critical_difference(g->n, N_METHODS, 0.05), put_text, f.out, &err);
    code = rep_file_close(&f);
    return status == COF_OK ? code : complain_status(status, TASK_OUTPUT, &err);
}

static void write_ranks(cof_json *j, const rep_grid *g, size_t metric, bool printed)
{
    double rank[N_METHODS];
    cof_friedman_result t;
    if (!rep_rank(g, printed, rank, &t)) return;
    cof_json_open(j, NULL, '{');
    cof_json_text(j, "metric", rep_metric_names[metric]);
    cof_json_text(j, "means", printed ? "printed" : "ours");
    cof_json_count(j, "datasets", g->n);
    cof_json_real(j, "chi_square", t.chi_square);
    cof_json_real(j, "p", t.p);
    cof_json_real(j, "chi_square_tied", t.chi_square_tied);
    cof_json_real(j, "p_tied", t.p_tied);
    cof_json_real(j, "f", t.f);
    cof_json_real(j, "p_f", t.p_f);
    cof_json_real(j, "critical_difference_0.05", cof_critical_difference(g->n, N_METHODS, 0.05));
    cof_json_real(j, "critical_difference_0.1", cof_critical_difference(g->n, N_METHODS, 0.1));
    cof_json_open(j, "mean_ranks", '{');
    for (size_t m = 0; m < N_METHODS; m++) cof_json_real(j, rep_method_names[m], rank[m]);
    cof_json_close(j, '}');
    cof_json_close(j, '}');
}

static int save_ranks(const rep_job *job, const rep_grid *grids)
{
    rep_file f;
    int code = rep_file_open(job, "tables_ranks.json", &f);
    if (code != CODE_DONE) return code;
    cof_json j;
    cof_json_begin(&j, file_sink, f.out);
    cof_json_open(&j, NULL, '[');
    for (size_t metric = 0; metric < N_METRICS; metric++) {
        write_ranks(&j, &grids[metric], metric, false);
        write_ranks(&j, &grids[metric], metric, true);
    }
    cof_json_close(&j, ']');
    cof_json_end(&j);
    return rep_file_close(&f);
}

static void write_summary(const rep_grid *g, size_t metric, FILE *out)
{
    for (size_t d = 0; d < g->n; d++)
        for (size_t m = 0; m < N_METHODS; m++) {
            const rep_compared *c = &g->cell[d][m];
            fprintf(out, "%s,%s,%s,%zu", rep_metric_names[metric], g->abbrev[d], rep_method_names[m], c->n);
            const double x[] = {c->mean, c->deviation, c->mean_all,          c->low,       c->middle,
                                c->high, c->printed,   c->printed_deviation, c->percentile};
            for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
                bool there = c->n > 0 || i == 6 || i == 7;
                if (there && !isnan(x[i]))
                    fprintf(out, ",%.6f", x[i]);
                else
                    fputc(',', out);
            }
            fputc('\n', out);
        }
}

static int save_summary(const rep_job *job, const rep_grid *grids)
{
    rep_file f;
    int code = rep_file_open(job, "tables_summary.csv", &f);
    if (code != CODE_DONE) return code;
    fputs("metric,dataset,method,runs,mean,deviation,mean_of_all_runs,ten_run_p5,ten_run_p50,ten_run_p95,"
          "printed_mean,printed_deviation,percentile_of_printed\n",
          f.out);
    for (size_t metric = 0; metric < N_METRICS; metric++) write_summary(&grids[metric], metric, f.out);
    return rep_file_close(&f);
}

static int draw(const rep_job *job, const rep_results *r)
{
    static const char *const names[N_METRICS] = {"tables.svg", "tables_ari.svg", "tables_nmi.svg"};
    int code = CODE_DONE;
    rep_grid *grids = malloc(N_METRICS * sizeof *grids);
    if (grids == NULL) return complain_memory();
    for (size_t metric = 0; code == CODE_DONE && metric < N_METRICS; metric++) {
        rep_fill_grid(r, rep_runs_of(r), metric, &grids[metric]);
        code = draw_metric(job, &grids[metric], metric, names[metric]);
        if (code == CODE_DONE) code = draw_ranks(job, &grids[metric], metric, false);
        if (code == CODE_DONE) code = draw_ranks(job, &grids[metric], metric, true);
    }
    if (code == CODE_DONE) code = save_ranks(job, grids);
    if (code == CODE_DONE) code = save_summary(job, grids);
    free(grids);
    return code;
}

const rep_experiment rep_tables = {.name = "tables",
                                   .title = "Eleven methods on twelve datasets",
                                   .columns = {"dataset", "method", "run", "ca", "ari", "nmi", NULL},
                                   .needs_data = true,
                                   .describe = rep_describe_runs,
                                   .list = list,
                                   .run = run,
                                   .draw = draw,
                                   .tell = rep_tell_tables};
