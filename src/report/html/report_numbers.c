/* How many clusters: the likelihood of every number tried, where k was to be found. */
#include "report.h"

#include <math.h>

enum { WIDTH = 640, HEIGHT = 280, LEFT = 78, RIGHT = 30, TOP = 30, BOTTOM = 58 };

typedef struct k_frame {
    const cof_k_record *record;
    size_t n, kept, second; /* places in the curve; second is n: there is none */
    double least, most;
} k_frame;

static k_frame frame_of(const cofi_report *r)
{
    k_frame f = {.least = INFINITY, .most = -INFINITY};
    uint32_t second = cof_model_k_runner_up(r->model);
    f.record = cof_model_k_curve(r->model, &f.n);
    f.second = f.n;
    for (size_t i = 0; i < f.n; i++) {
        f.least = fmin(f.least, f.record[i].log_likelihood);
        f.most = fmax(f.most, f.record[i].log_likelihood);
        if (f.record[i].k == r->k) f.kept = i;
        if (f.record[i].k == second) f.second = i;
    }
    return f;
}

static double x_of(const k_frame *f, uint32_t k)
{
    double first = f->record[0].k, last = f->record[f->n - 1].k;
    return LEFT + (WIDTH - LEFT - RIGHT) * (k - first) / (last - first);
}

static double y_of(const k_frame *f, double log_likelihood)
{
    return TOP + (HEIGHT - TOP - BOTTOM) * (f->most - log_likelihood) / (f->most - f->least);
}

static void draw_axes(cofi_out *out, const k_frame *f)
{
    double bottom = HEIGHT - BOTTOM;
    uint32_t first = f->record[0].k, last = f->record[f->n - 1].k, step = (last - first) / 20 + 1;
    for (int i = 0; i <= 4; i++) {
        double value = f->least + (f->most - f->least) * i / 4, y = y_of(f, value);
        cofi_svg_line(out, "cof-grid", LEFT - 12, y, WIDTH - RIGHT + 12, y);
        cofi_svg_text_start(out, "cof-note cof-end", LEFT - 20, y + 4);
        cofi_out_fixed(out, value, 0, f->most - f->least < 10 ? 2 : 0);
        cofi_out_text(out, "</text>");
    }
    for (size_t i = 0; i < f->n; i++) {
        if ((f->record[i].k - first) % step != 0) continue;
        cofi_svg_text_start(out, "cof-note cof-mid", x_of(f, f->record[i].k), bottom + 36);
        cofi_out_format(out, "%u</text>", f->record[i].k);
    }
    cofi_svg_text(out, "cof-note cof-mid", (LEFT + WIDTH - RIGHT) / 2.0, bottom + 52, "number of clusters");
    cofi_out_text(out, "\n");
}

static void draw_point(cofi_out *out, const k_frame *f, size_t i)
{
    const cof_k_record *own = &f->record[i];
    bool kept = i == f->kept, second = i == f->second;
    double x = x_of(f, own->k), y = y_of(f, own->log_likelihood);
    cofi_svg_circle_start(out, kept ? 5 : second ? 1 : 0, x, y, kept ? 6 : second ? 5 : 3.5);
    cofi_out_format(out, "<title>%u cluster%s%s: ", own->k, own->k == 1 ? "" : "s",
                    kept     ? ", kept"
                    : second ? ", runner-up"
                             : "");
    cofi_out_fixed(out, own->log_likelihood, 0, 2);
    cofi_out_text(out, "</title></circle>");
    if (kept) cofi_svg_text(out, "cof-mid", x, y - 12, "kept");
    if (second) cofi_svg_text(out, "cof-note cof-mid", x, y + 20, "runner-up");
}

static void draw_chart(cofi_out *out, const k_frame *f)
{
    cofi_out_text(out, "<figure class=\"fit\">");
    cofi_svg_open(out, WIDTH, HEIGHT, "Log-likelihood by number of clusters", false);
    draw_axes(out, f);
    cofi_out_text(out, "<polyline points=\"");
    for (size_t i = 0; i < f->n; i++) {
        cofi_out_number(out, round(10 * x_of(f, f->record[i].k)) / 10);
        cofi_out_text(out, ",");
        cofi_out_number(out, round(10 * y_of(f, f->record[i].log_likelihood)) / 10);
        cofi_out_text(out, " ");
    }
    cofi_out_text(out, "\"/>\n");
    for (size_t i = 0; i < f->n; i++)
        if (i != f->kept) draw_point(out, f, i);
    draw_point(out, f, f->kept); /* on top */
    cofi_svg_close(out);
    cofi_out_text(out,
                  "<figcaption>Log-likelihood of the likeliest start for every number of clusters, more is "
                  "better</figcaption></figure>\n");
}

static void tell_choice(cofi_report *r, const k_frame *f)
{
    cofi_out *out = &r->out;
    cofi_out_format(
        out,
        "<p>The number of clusters was to be found. Of those from %u to %u the one was kept whose "
        "likeliest start has the greatest integrated likelihood, which pays for every cluster more: "
        "<b data-key=\"k_kept\">%u</b>.",
        f->record[0].k, f->record[f->n - 1].k, r->k);
    if (f->second < f->n) {
        double behind = f->record[f->kept].log_likelihood - f->record[f->second].log_likelihood;
        cofi_out_format(out, " The runner-up is <b data-key=\"k_runner_up\">%u</b>, ",
                        f->record[f->second].k);
        cofi_out_fixed(out, behind, 0, 2);
        cofi_out_text(out, behind < 5 ? " behind: the table allows both readings." : " behind.");
    }
    cofi_out_text(out, "</p>\n");
    if (r->k == 1)
        cofi_out_text(out,
                      "<p class=\"say\"><b>No structure found:</b> no larger number of clusters explains the "
                      "rows better than one.</p>\n");
}

static void figures(cofi_report *r, const k_frame *f)
{
    static const char *const heads[] = {"clusters", "log-likelihood", "behind the kept one"};
    cofi_out_text(&r->out, "<details><summary>Every number tried in figures</summary>\n");
    cofi_html_table(&r->out, "", true, "Log-likelihood of every number of clusters tried");
    cofi_html_heads(&r->out, heads, "nnn", 3);
    cofi_out_text(&r->out, "<tbody>\n");
    for (size_t i = 0; i < f->n; i++) {
        const cof_k_record *own = &f->record[i];
        cofi_out_text(&r->out, i == f->kept ? "<tr class=\"best\">" : "<tr>");
        cofi_html_count_cell(&r->out, own->k);
        cofi_html_number(&r->out, own->log_likelihood, 2);
        cofi_html_number(&r->out, f->record[f->kept].log_likelihood - own->log_likelihood, 2);
        cofi_out_text(&r->out, "</tr>\n");
    }
    cofi_out_text(&r->out, "</tbody>");
    cofi_html_table_end(&r->out);
    cofi_out_text(&r->out, "</details>\n");
}

void cofi_report_numbers(cofi_report *r)
{
    k_frame f = frame_of(r);
    if (f.n == 0) return;
    cofi_html_section(&r->out, "numbers", "How many clusters");
    tell_choice(r, &f);
    if (f.n > 1 && f.most > f.least && isfinite(f.most - f.least)) draw_chart(&r->out, &f);
    figures(r, &f);
    cofi_out_text(&r->out, "</section>\n");
}
