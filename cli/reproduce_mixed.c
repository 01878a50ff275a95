/* Quantities beside categories: k-prototypes, ek-prototypes and COForest. */
#include "reproduce.h"

#include <string.h>

#include "chart.h"
#include "complain.h"

enum { N_KINDS = 3 };
static const char *const ids[N_KINDS] = {"k-prototypes", "ek-prototypes", "coforest"};
/* Read off the supplement's figure to about 0.01. */
static const double printed[N_MIXED][N_KINDS] = {
    {0.77, 0.77, 0.835}, {0.57, 0.54, 0.585}, {0.56, 0.63, 0.64}, {0.60, 0.715, 0.825}};

static size_t list(const rep_job *job, rep_unit *units)
{
    return rep_list_tables(job->mixed, job->n_mixed, units);
}

static int run(rep_job *job, const rep_unit *unit, rep_results *results)
{
    const rep_table *t = job->mixed;
    while (strcmp(t->about->abbrev, unit->name) != 0) t++;
    rep_series series[N_KINDS];
    for (size_t v = 0; v < N_KINDS; v++) series[v] = rep_paper_series(t, ids[v], rep_pool(job, t));
    return rep_fit_all(job, t, series, N_KINDS, rep_take_scores, results);
}

static void draw_pair(const plot *p, const rep_results *r, size_t d, size_t v)
{
    double y[MOST_RUNS], width = p->width / N_KINDS, x = p->left + width * (double)v;
    size_t n = rep_collect(r, rep_mixed_datasets[d].abbrev, ids[v], 0, y, MOST_RUNS);
    double ours = rep_mean(y, n), error = rep_deviation(y, n) / sqrt((double)PAPER_RUNS);
    double bottom = p->top + p->height, bar = width / 2 - 6;
    char pale[16];
    snprintf(pale, sizeof pale, "%s pale", hue_fill(v));
    chart_text(p->out, v == 2 ? "n m b" : "n m", x + width / 2, bottom + 14, "%s",
               v == 2 ? "COForest" : ids[v]);
    chart_rect(p->out, pale, x + width / 2 + 1, plot_y(p, printed[d][v]), bar,
               bottom - plot_y(p, printed[d][v]));
    chart_text(p->out, "n m", x + width / 2 + 2 + bar / 2, plot_y(p, printed[d][v]) - 3, "%.2f",
               printed[d][v]);
    if (n == 0) return;
    double top = plot_y(p, ours), centre = x + 5 + bar / 2;
    chart_rect(p->out, hue_fill(v), x + 5, top, bar, bottom - top);
    if (!isnan(error)) {
        chart_line(p->out, "thin", centre, plot_y(p, ours - error), centre, plot_y(p, ours + error));
        top = plot_y(p, ours + error);
    }
    chart_text(p->out, "n m", centre, top - 3, "%.2f", ours);
}

static int draw(const rep_job *job, const rep_results *r)
{
    rep_file f;
    size_t shown = 0;
    int code = rep_file_open(job, "mixed.svg", &f);
    if (code != CODE_DONE) return code;
    chart_open(f.out, 760, panels_height(r->n_units, 2, 230, 30),
               "CA on mixed data, ours beside the printed");
    chart_text(f.out, "n", 14, 20,
               "mean CA: left and full our runs, right and pale read off the printed figure");
    for (size_t d = 0; d < N_MIXED; d++) {
        if (rep_find_unit(r, rep_mixed_datasets[d].abbrev) == NULL) continue;
        plot p = panel_at(f.out, shown++, 2, 380, 230, 30);
        p.y1 = 1;
        plot_title(&p, "%s", rep_mixed_datasets[d].abbrev);
        plot_y_axis(&p, 4);
        for (size_t v = 0; v < N_KINDS; v++) draw_pair(&p, r, d, v);
    }
    chart_close(f.out);
    return rep_file_close(&f);
}

static void tell(const rep_job *job, const rep_results *r, FILE *page)
{
    fputs("<p>Quantities scaled to 0..1. COForest learns its distances on the categories and k-prototypes "
          "uses them. The supplement does not print numbers or say how the quantities were scaled, and "
          "ek-prototypes is known from its abstract only: our reading of it is a reconstruction, so its bars "
          "say little.</p>\n<div class=\"wide\"><table>\n<tr><th></th><th>k-prototypes</th><th>printed, "
          "about</th>"
          "<th>ek-prototypes</th><th>printed, about</th><th>COForest</th><th>printed, about</th></tr>\n",
          page);
    for (size_t d = 0; d < N_MIXED; d++) {
        double y[MOST_RUNS];
        const char *abbrev = rep_mixed_datasets[d].abbrev;
        if (rep_find_unit(r, abbrev) == NULL) continue;
        fprintf(page, "<tr><th scope=\"row\">%s</th>", abbrev);
        for (size_t v = 0; v < N_KINDS; v++) {
            rep_number_cell(page, "", "%.3f", rep_mean(y, rep_collect(r, abbrev, ids[v], 0, y, MOST_RUNS)));
            rep_number_cell(page, "", "%.2f", printed[d][v]);
        }
        fputs("</tr>\n", page);
    }
    fputs("</table></div>\n", page);
    rep_inline(job, "mixed.svg", page);
}

const rep_experiment rep_mixed = {.name = "mixed",
                                  .title = "Mixed data",
                                  .columns = {"dataset", "method", "run", "ca", "ari", "nmi", NULL},
                                  .needs_data = true,
                                  .describe = rep_describe_runs,
                                  .list = list,
                                  .run = run,
                                  .draw = draw,
                                  .tell = tell};
