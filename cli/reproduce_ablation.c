/* The ablations: COForest with one part after the other taken away. */
#include "reproduce.h"

#include <string.h>

#include "chart.h"
#include "complain.h"

enum { N_VARIANTS = 5 };
static const char *const ids[N_VARIANTS] = {"cof4", "cof3", "cof2", "cof1", "coforest"};
static const char *const words[N_VARIANTS] = {"COF IV, Hamming", "COF III, complete graph",
                                              "COF II, line graph", "COF I, forest built once", "COForest"};
static const char *const marks[N_VARIANTS] = {"IV", "III", "II", "I", "full"};

static size_t list(const rep_job *job, rep_unit *units)
{
    return rep_list_tables(job->table, job->n_tables, units);
}

static int run(rep_job *job, const rep_unit *unit, rep_results *results)
{
    const rep_table *t = rep_find_table(job, unit->name);
    rep_series series[N_VARIANTS];
    for (size_t v = 0; v < N_VARIANTS; v++) series[v] = rep_paper_series(t, ids[v], rep_pool(job, t));
    return rep_fit_all(job, t, series, N_VARIANTS, rep_take_scores, results);
}

/* A bar for the mean of all runs; the whisker is the deviation of a ten-run mean around it. */
static void draw_bar(const plot *p, const rep_results *r, const char *abbrev, size_t v)
{
    double y[MOST_RUNS], width = p->width / N_VARIANTS, x = p->left + width * (double)v;
    size_t n = rep_collect(r, abbrev, ids[v], 0, y, MOST_RUNS);
    double mean = rep_mean(y, n), error = rep_deviation(y, n) / sqrt((double)PAPER_RUNS);
    chart_text(p->out, v == N_VARIANTS - 1 ? "n m b" : "n m", x + width / 2, p->top + p->height + 13, "%s",
               marks[v]);
    if (n == 0) return;
    double top = plot_y(p, mean), centre = x + width / 2;
    chart_rect(p->out, hue_fill(v), x + 3, top, width - 6, p->top + p->height - top);
    if (!isnan(error)) {
        chart_line(p->out, "thin", centre, plot_y(p, mean - error), centre,
                   plot_y(p, fmin(mean + error, 1.08)));
        top = plot_y(p, fmin(mean + error, 1.08));
    }
    chart_text(p->out, "n m", centre, top - 3, "%.3f", mean);
}

static void draw_panel(FILE *out, const rep_results *r, const char *abbrev, size_t i)
{
    plot p = panel_at(out, i, 4, 250, 180, 34);
    p.y1 = 1.12; /* room for the number on a full bar */
    plot_title(&p, "%s", abbrev);
    for (int tick = 0; tick <= 4; tick += 2) {
        double y = plot_y(&p, tick / 4.0);
        chart_line(out, "grid", p.left, y, p.left + p.width, y);
        chart_text(out, "n e", p.left - 5, y + 3.5, "%.1f", tick / 4.0);
    }
    for (size_t v = 0; v < N_VARIANTS; v++) draw_bar(&p, r, abbrev, v);
}

static int draw(const rep_job *job, const rep_results *r)
{
    rep_file f;
    size_t shown = 0;
    double x = 10;
    int code = rep_file_open(job, "ablation.svg", &f);
    if (code != CODE_DONE) return code;
    chart_open(f.out, 1000, panels_height(r->n_units, 4, 180, 34), "CA of COForest and its ablations");
    for (size_t v = 0; v < N_VARIANTS; v++) x = chart_key(f.out, x, 20, v, false, words[v]);
    chart_text(f.out, "n e", 990, 20, "mean CA");
    for (size_t d = 0; d < N_DATASETS; d++)
        if (rep_find_unit(r, rep_datasets[d].abbrev) != NULL)
            draw_panel(f.out, r, rep_datasets[d].abbrev, shown++);
    chart_close(f.out);
    return rep_file_close(&f);
}

/* Datasets on which a's mean is at least b's; differences below a thousandth are none. */
static size_t count_not_worse(const rep_results *r, const char *a, const char *b, size_t *n)
{
    double y[MOST_RUNS];
    size_t count = 0;
    *n = 0;
    for (size_t d = 0; d < N_DATASETS; d++) {
        const char *abbrev = rep_datasets[d].abbrev;
        if (rep_find_unit(r, abbrev) == NULL) continue;
        double first = rep_mean(y, rep_collect(r, abbrev, a, 0, y, MOST_RUNS));
        double second = rep_mean(y, rep_collect(r, abbrev, b, 0, y, MOST_RUNS));
        (*n)++;
        count += first >= second - 0.001;
    }
    return count;
}

static void tell(const rep_job *job, const rep_results *r, FILE *page)
{
    size_t n, full = count_not_worse(r, "coforest", "cof1", &n), two = count_not_worse(r, "cof1", "cof2", &n),
              three = count_not_worse(r, "cof1", "cof3", &n), four = count_not_worse(r, "cof3", "cof4", &n);
    fprintf(
        page,
        "<p>Not worse, by mean CA and to a thousandth: COForest than COF I on %zu of %zu datasets (the "
        "paper: "
        "12 of 12), COF I than COF II on %zu and than COF III on %zu (the paper: 10), COF III than COF IV on "
        "%zu (the paper: 10). The bars are means over all runs; "
        "the whiskers show how far a ten-run mean strays.</p>\n",
        full, n, two, three, four);
    rep_inline(job, "ablation.svg", page);
}

const rep_experiment rep_ablation = {.name = "ablation",
                                     .title = "The ablations",
                                     .columns = {"dataset", "method", "run", "ca", "ari", "nmi", NULL},
                                     .needs_data = true,
                                     .describe = rep_describe_runs,
                                     .list = list,
                                     .run = run,
                                     .draw = draw,
                                     .tell = tell};
