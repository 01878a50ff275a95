/* The objective L pass by pass, and how many passes it takes. */
#include "reproduce.h"

#include <string.h>

#include "chart.h"
#include "complain.h"

static size_t list(const rep_job *job, rep_unit *units)
{
    return rep_list_tables(job->table, job->n_tables, units);
}

/* Passes; passes in which L rose; passes with a new forest in which it rose. */
static void take_passes(const rep_table *t, const cof_model *model, const cof_fit_info *info, double value[3])
{
    size_t n = 0;
    const cof_pass_record *pass = cof_model_history(model, &n);
    (void)t;
    value[0] = info->passes;
    value[1] = value[2] = 0;
    for (size_t i = 1; i < n; i++) {
        if (pass[i].objective <= pass[i - 1].objective * (1 + 1e-12)) continue;
        value[pass[i].rebuild == pass[i - 1].rebuild ? 1 : 2]++;
    }
}

static int record_curve(const rep_table *t, rep_results *results)
{
    rep_series s = rep_paper_series(t, "coforest", 1);
    cof_model *model = NULL;
    cof_error err;
    size_t n = 0;
    int code = CODE_DONE;
    s.options.seed = 1;
    cof_status status = cof_fit(t->table, &s.options, &model, NULL, &err);
    if (status != COF_OK) return complain_status(status, TASK_FIT, &err);
    const cof_pass_record *pass = cof_model_history(model, &n);
    for (size_t i = 0; code == CODE_DONE && i < n; i++)
        code = rep_add(results, t->about->abbrev, "curve", pass[i].pass, pass[i].objective, pass[i].rebuild,
                       (double)pass[i].moved);
    cof_model_free(model);
    return code;
}

static int run(rep_job *job, const rep_unit *unit, rep_results *results)
{
    const rep_table *t = rep_find_table(job, unit->name);
    rep_series series = rep_paper_series(t, "coforest", rep_pool(job, t));
    series.name = "passes";
    int code = record_curve(t, results);
    return code == CODE_DONE ? rep_fit_all(job, t, &series, 1, take_passes, results) : code;
}

static void draw_panel(FILE *out, const rep_results *r, const char *abbrev, size_t i)
{
    double x[MOST_RUNS], y[MOST_RUNS], rebuild[MOST_RUNS];
    plot p = panel_at(out, i, 4, 250, 190, 34);
    size_t n = rep_collect(r, abbrev, "curve", -1, x, MOST_RUNS);
    rep_collect(r, abbrev, "curve", 0, y, MOST_RUNS);
    rep_collect(r, abbrev, "curve", 1, rebuild, MOST_RUNS);
    plot_title(&p, "%s", abbrev);
    if (n == 0) return;
    p.x1 = fmax(x[n - 1], 2);
    p.x0 = 1 - 0.06 * (p.x1 - 1); /* so that a mark on the first pass stands clear of the numbers */
    p.y0 = p.y1 = y[0];
    for (size_t at = 0; at < n; at++) {
        p.y0 = fmin(p.y0, y[at]);
        p.y1 = fmax(p.y1, y[at]);
    }
    double room = fmax(0.12 * (p.y1 - p.y0), 0.001 * p.y1);
    p.y0 -= room;
    p.y1 += room;
    plot_y_axis(&p, 4);
    plot_x_axis(&p, p.x1 <= 6 ? (int)p.x1 : 5);
    plot_curve(&p, "l0", x, y, n);
    for (size_t at = 0; at < n; at++)
        if (at == 0 || rebuild[at] != rebuild[at - 1])
            chart_mark(out, "f1", MARK_DOT, plot_x(&p, x[at]), plot_y(&p, y[at]), 3.5);
    chart_mark(out, "f2", MARK_TRIANGLE, plot_x(&p, x[n - 1]), plot_y(&p, y[n - 1]) - 10, 5);
}

static int draw(const rep_job *job, const rep_results *r)
{
    rep_file f;
    size_t shown = 0;
    int code = rep_file_open(job, "convergence.svg", &f);
    if (code != CODE_DONE) return code;
    chart_open(f.out, 1000, panels_height(r->n_units, 4, 190, 34), "L of COForest in every pass");
    chart_line(f.out, "l0", 14, 16, 32, 16);
    chart_text(f.out, "n", 38, 20, "L after each pass");
    chart_mark(f.out, "f1", MARK_DOT, 160, 16, 3.5);
    chart_text(f.out, "n", 170, 20, "first pass with a new forest");
    chart_mark(f.out, "f2", MARK_TRIANGLE, 350, 15, 5);
    chart_text(f.out, "n", 360, 20, "end");
    chart_text(f.out, "n e", 990, 20, "the start with seed 1");
    for (size_t d = 0; d < N_DATASETS; d++)
        if (rep_find_unit(r, rep_datasets[d].abbrev) != NULL)
            draw_panel(f.out, r, rep_datasets[d].abbrev, shown++);
    chart_close(f.out);
    return rep_file_close(&f);
}

static void put_row(FILE *page, const rep_results *r, const char *abbrev)
{
    double passes[MOST_RUNS], inner[MOST_RUNS], outer[MOST_RUNS];
    size_t n = rep_collect(r, abbrev, "passes", 0, passes, MOST_RUNS), quick = 0, rose = 0, rose_new = 0;
    rep_collect(r, abbrev, "passes", 1, inner, MOST_RUNS);
    rep_collect(r, abbrev, "passes", 2, outer, MOST_RUNS);
    for (size_t i = 0; i < n; i++) {
        quick += passes[i] <= 15;
        rose += inner[i] > 0;
        rose_new += outer[i] > 0;
    }
    rep_sort(passes, n);
    if (n == 0) return;
    fprintf(page,
            "<tr><th scope=\"row\">%s</th><td>%.0f</td><td>%.0f</td><td>%.0f %%</td><td>%.1f %%</td>"
            "<td>%.1f %%</td></tr>\n",
            abbrev, rep_quantile(passes, n, 0.5), passes[n - 1], 100 * (double)quick / (double)n,
            100 * (double)rose / (double)n, 100 * (double)rose_new / (double)n);
}

static void tell(const rep_job *job, const rep_results *r, FILE *page)
{
    fputs("<p>Passes are counted from the first forest on; the k-modes start before it is not in them. The "
          "paper says that L falls with every new forest and that most runs end within 15 iterations. Over "
          "all our runs:</p>\n<div class=\"wide\"><table>\n<tr><th></th><th>median passes</th><th>most</th>"
          "<th>runs within 15</th><th>runs in which L rose under one forest</th><th>runs in which L rose "
          "with a new forest</th></tr>\n",
          page);
    for (size_t d = 0; d < N_DATASETS; d++) put_row(page, r, rep_datasets[d].abbrev);
    fputs("</table></div>\n<p>L can rise under one forest because the mean distance to a cluster's members "
          "favours tight clusters. Across forests it is measured with other distances, so a comparison "
          "says little either way.</p>\n",
          page);
    rep_inline(job, "convergence.svg", page);
}

const rep_experiment rep_convergence = {.name = "convergence",
                                        .title = "Convergence",
                                        .columns = {"dataset", "series", "pass_or_run", "objective_or_passes",
                                                    "rebuild_or_rises", "moved_or_rises_with_forest", NULL},
                                        .needs_data = true,
                                        .describe = rep_describe_runs,
                                        .list = list,
                                        .run = run,
                                        .draw = draw,
                                        .tell = tell};
