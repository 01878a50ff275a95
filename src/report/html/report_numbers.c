/* How many clusters: the likelihood of every number tried, where k was to be found. */
#include "../svg/chart.h"
#include "report.h"

#include <math.h>

typedef struct k_frame {
    const cof_k_record *record;
    size_t n, kept, second; /* places in the curve; second is n: there is none */
    cofi_chart chart;
} k_frame;

static k_frame frame_of(const cofi_report *r)
{
    k_frame f = {.chart = {.height = 220, .top = 30, .bottom = 64, .least = INFINITY, .most = -INFINITY}};
    uint32_t second = cof_model_k_runner_up(r->model);
    f.record = cof_model_k_curve(r->model, &f.n);
    f.second = f.n;
    for (size_t i = 0; i < f.n; i++) {
        f.chart.least = fmin(f.chart.least, f.record[i].log_likelihood);
        f.chart.most = fmax(f.chart.most, f.record[i].log_likelihood);
        if (f.record[i].k == r->k) f.kept = i;
        if (f.record[i].k == second) f.second = i;
    }
    if (f.n > 0) f.chart.first = f.record[0].k, f.chart.last = f.record[f.n - 1].k;
    return f;
}

static void draw_point(cofi_out *out, const k_frame *f, size_t i)
{
    const cof_k_record *own = &f->record[i];
    bool kept = i == f->kept, second = i == f->second;
    double x = cofi_chart_x(&f->chart, own->k), y = cofi_chart_y(&f->chart, own->log_likelihood);
    cofi_svg_circle_start(out, kept ? 5 : second ? 1 : 0, x, y, kept ? 6 : second ? 5 : 3.5);
    cofi_out_put(out, "<title>%u cluster%s%s: %2f", own->k, own->k == 1 ? "" : "s",
                 kept     ? ", kept"
                 : second ? ", runner-up"
                          : "",
                 own->log_likelihood);
    if (!isnan(own->agreement)) cofi_out_put(out, "; the halves agree to %2f", own->agreement);
    cofi_out_text(out, "</title></circle>");
    if (kept) cofi_svg_text(out, "cof-mid", x, y - 12, "kept");
    if (second) cofi_svg_text(out, "cof-note cof-mid", x, y + 20, "runner-up");
}

static void draw_chart(cofi_out *out, const k_frame *f)
{
    uint32_t step = (uint32_t)(f->chart.last - f->chart.first) / 20 + 1;
    cofi_out_text(out, "<figure class=\"fit\">");
    cofi_svg_open(out, COFI_CHART_WIDTH, f->chart.height,
                  "Log-likelihood by number of clusters; the table below has "
                  "the figures",
                  false);
    cofi_chart_grid(out, &f->chart);
    cofi_chart_ticks(out, &f->chart, step, "number of clusters");
    cofi_out_text(out, "<polyline points=\"");
    for (size_t i = 0; i < f->n; i++)
        cofi_chart_vertex(out, &f->chart, f->record[i].k, f->record[i].log_likelihood);
    cofi_out_text(out, "\"/>\n");
    for (size_t i = 0; i < f->n; i++)
        if (i != f->kept) draw_point(out, f, i);
    draw_point(out, f, f->kept); /* on top */
    cofi_svg_close(out);
    cofi_out_text(
        out, "<figcaption>Log-likelihood of the likeliest restart for every number of clusters; larger is "
             "better</figcaption></figure>\n");
}

static void tell_choice(cofi_report *r, const k_frame *f)
{
    cofi_out *out = &r->out;
    cofi_out_put(out,
                 "<p>The number of clusters was chosen by the program. It tried every number from %u to %u "
                 "and kept, from "
                 "the one downward that is likeliest where columns may depend on each other inside clusters, "
                 "the first "
                 "on which the halves of the table agree nearly as well as on any smaller one: "
                 "<b data-key=\"k_kept\">%u</b>.",
                 f->record[0].k, f->record[f->n - 1].k, r->k);
    if (f->record[f->kept].agreement < COF_GOOD_AGREEMENT)
        cofi_out_text(out, " The halves agree well on no number, so this one is uncertain.");
    if (f->second < f->n) {
        double behind = f->record[f->kept].log_likelihood - f->record[f->second].log_likelihood;
        cofi_out_put(out, " The runner-up is <b data-key=\"k_runner_up\">%u</b>, %2f", f->record[f->second].k,
                     fabs(behind));
        cofi_out_text(
            out, behind < 0   ? isnan(f->record[f->second].agreement)
                                    ? " likelier, but only if columns count as independent inside clusters."
                                    : " likelier, but the halves of the table agree less on it."
                 : behind < 5 ? " behind; such a small difference means that the table supports both numbers."
                              : " behind.");
    }
    if (cof_model_k_at_edge(r->model))
        cofi_out_text(out, " The likeliest number lies at the edge of the range, so a wider range may hold a "
                           "likelier one.");
    cofi_out_text(out, "</p>\n");
    if (r->k == 1)
        cofi_out_text(out,
                      "<p class=\"say\"><b>No structure found:</b> no larger number of clusters explains the "
                      "rows better than a single cluster.</p>\n");
}

static void figures(cofi_report *r, const k_frame *f)
{
    cofi_out_text(&r->out, "<details><summary>All numbers of clusters in figures</summary>\n");
    cofi_html_body(&r->out, "", "Log-likelihood of every number of clusters tried",
                   "clusters#|log-likelihood#|behind the kept one#|agreement of halves#");
    for (size_t i = 0; i < f->n; i++) {
        const cof_k_record *own = &f->record[i];
        cofi_html(&r->out, "<tr%s>%m%2d%2d%3d</tr>\n", i == f->kept ? " class=\"best\"" : "", (double)own->k,
                  own->log_likelihood, f->record[f->kept].log_likelihood - own->log_likelihood,
                  own->agreement);
    }
    cofi_html_body_end(&r->out);
    cofi_out_text(&r->out, "</details>\n");
}

void cofi_report_numbers(cofi_report *r)
{
    k_frame f = frame_of(r);
    if (f.n == 0) return;
    cofi_html_section(&r->out, "numbers", "How many clusters");
    tell_choice(r, &f);
    if (f.n > 1 && f.chart.most > f.chart.least && isfinite(f.chart.most - f.chart.least))
        draw_chart(&r->out, &f);
    figures(r, &f);
    cofi_out_text(&r->out, "</section>\n");
}
