/* Quantities in every cluster: a small histogram over the bins, median and quartiles. */
#include "report.h"

#include <math.h>

enum { MOST_QUANTITIES = 40, MOST_BARS = 64, HISTOGRAM_WIDTH = 96, HISTOGRAM_HEIGHT = 28 };

static double highest_share(const cof_model *m, size_t attribute, uint32_t n_bins)
{
    double highest = 0;
    for (uint32_t j = 0; j < m->k; j++)
        for (uint32_t b = 0; b < n_bins; b++) {
            double share = cof_model_profile(m, attribute, b, j);
            if (share > highest) highest = share;
        }
    return highest;
}

/* All histograms of a quantity have one scale, so that they can be compared side by side. */
static void histogram(cofi_report *r, size_t attribute, uint32_t j, uint32_t n_bins, double highest)
{
    double step = (double)HISTOGRAM_WIDTH / n_bins;
    cofi_svg_open(&r->out, HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT, "Histogram over the bins", false);
    for (uint32_t b = 0; b < n_bins; b++) {
        double share = cof_model_profile(r->model, attribute, b, j);
        double height = share > 0 && highest > 0 ? share / highest * HISTOGRAM_HEIGHT : 0;
        if (height > 0)
            cofi_svg_rectangle(&r->out, j, b * step, HISTOGRAM_HEIGHT - height, step * 0.9, height);
    }
    cofi_svg_close(&r->out);
}

static void quantity_cell(cofi_report *r, size_t attribute, uint32_t j, uint32_t n_bins, double highest)
{
    const double *five = cof_model_five(r->model, attribute, j);
    char text[COF_N_FIVE][64];
    for (int q = 0; q < COF_N_FIVE; q++)
        cof_model_show_point(r->model, attribute, five[q], text[q], sizeof text[q]);
    cofi_out_text(&r->out, "<td>");
    if (!isnan(five[COF_FIVE_MEDIAN])) {
        if (n_bins <= MOST_BARS) histogram(r, attribute, j, n_bins, highest);
        cofi_out_put(&r->out, "<br><b>%x</b> <span class=\"soft\">(%x..%x)</span>", text[COF_FIVE_MEDIAN],
                     text[COF_FIVE_QUARTER], text[COF_FIVE_THREE_QUARTERS]);
    }
    cofi_out_text(&r->out, "</td>");
}

static void quantity_line(cofi_report *r, size_t attribute)
{
    size_t n_edges = 0;
    cof_model_cut(r->model, attribute, &n_edges);
    uint32_t n_bins = (uint32_t)n_edges + 1, shown = r->k < COFI_REPORT_OPEN ? r->k : COFI_REPORT_OPEN;
    double highest = highest_share(r->model, attribute, n_bins);
    cofi_html(&r->out, "<tr><th scope=\"row\">%40n</th>", r->model->attr[attribute].domain.name);
    for (uint32_t j = 0; j < shown; j++) quantity_cell(r, attribute, j, n_bins, highest);
    cofi_out_text(&r->out, "</tr>\n");
}

void cofi_report_quantities(cofi_report *r)
{
    uint32_t shown = r->k < COFI_REPORT_OPEN ? r->k : COFI_REPORT_OPEN;
    size_t n = 0, n_shown = 0;
    for (size_t i = 0; i < r->n_ranked; i++) n += cof_model_five(r->model, r->ranked[i], 0) != NULL;
    if (n == 0) return;
    cofi_html_section(&r->out, "quantities", "Quantities in the clusters");
    cofi_out_text(&r->out,
                  "<p>Columns of numbers, dates or times were cut into bins of about equal share. Each cell "
                  "shows how a cluster's rows spread over the bins, their median and their quartiles.</p>\n");
    cofi_html_table(&r->out, "", false, "Quantities in the clusters");
    cofi_out_text(&r->out, "<thead><tr><th scope=\"col\">column</th>");
    for (uint32_t j = 0; j < shown; j++) cofi_html(&r->out, "<th scope=\"col\">%k</th>", j);
    cofi_out_text(&r->out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->n_ranked && n_shown < MOST_QUANTITIES; i++) {
        if (cof_model_five(r->model, r->ranked[i], 0) == NULL) continue;
        quantity_line(r, r->ranked[i]);
        n_shown++;
    }
    cofi_out_text(&r->out, "</tbody>\n");
    cofi_html_table_end(&r->out);
    if (n_shown < n || shown < r->k)
        cofi_out_format(&r->out, "<p class=\"soft\">%zu of %zu quantities, %u of %u clusters.</p>\n", n_shown,
                        n, shown, r->k);
    cofi_out_text(&r->out, "</section>\n");
}
