/* How the fit went, and how it compares with known classes. */
#include "report.h"

#include <math.h>
#include <stdio.h>

/* ---- Convergence ------------------------------------------------------------------------------------- */

enum { WIDTH = 640, HEIGHT = 260, LEFT = 70, RIGHT = 14, TOP = 14, BOTTOM = 40, MOST_CURVES = 20 };

typedef struct curve_frame {
    const cof_pass_record *record;
    size_t n;
    double least, most; /* objective */
    uint32_t passes;
} curve_frame;

/* Only starts of the kept one's kind: others count in other units. */
static bool is_drawn(const cofi_report *r, uint32_t restart)
{
    if (restart < r->n_restarts && r->best_restart < r->n_restarts &&
        r->restarts[restart].by_likelihood != r->restarts[r->best_restart].by_likelihood)
        return false;
    return restart < MOST_CURVES || restart == r->best_restart;
}

static curve_frame frame_of(const cofi_report *r)
{
    curve_frame f = {.least = INFINITY, .most = -INFINITY, .passes = 1};
    f.record = cof_model_history(r->model, &f.n);
    for (size_t i = 0; i < f.n; i++) {
        if (!is_drawn(r, f.record[i].restart)) continue;
        f.least = fmin(f.least, f.record[i].objective);
        f.most = fmax(f.most, f.record[i].objective);
        if (f.record[i].pass > f.passes) f.passes = f.record[i].pass;
    }
    if (!(f.most > f.least)) f.most = f.least + 1;
    if (!(f.most > f.least)) f.most = nextafter(f.least, INFINITY); /* so large that one more is nothing */
    return f;
}

static double x_of(const curve_frame *f, uint32_t pass)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (f->passes > 1 ? (pass - 1.0) / (f->passes - 1.0) : 0.5);
}

static double y_of(const curve_frame *f, double objective)
{
    /* halves, since a difference may be too large for a number */
    return TOP + (HEIGHT - TOP - BOTTOM) * ((f->most / 2 - objective / 2) / (f->most / 2 - f->least / 2));
}

static void draw_axes(cofi_out *out, const curve_frame *f)
{
    double bottom = HEIGHT - BOTTOM;
    uint32_t step = f->passes > 12 ? (f->passes + 9) / 10 : 1;
    for (int i = 0; i <= 4; i++) {
        double objective = f->least * (1 - i / 4.0) + f->most * (i / 4.0), y = y_of(f, objective);
        cofi_svg_line(out, "cof-grid", LEFT, y, WIDTH - RIGHT, y);
        cofi_svg_text_start(out, "cof-note cof-end", LEFT - 8, y + 4);
        cofi_out_fixed(out, objective, 0, f->most - f->least < 10 ? 2 : 0);
        cofi_out_text(out, "</text>");
    }
    for (uint32_t pass = 1; pass <= f->passes && !out->refused; pass += step) {
        cofi_svg_text_start(out, "cof-note cof-mid", x_of(f, pass), bottom + 19);
        cofi_out_format(out, "%u</text>", pass);
    }
    cofi_svg_text(out, "cof-note cof-mid", (LEFT + WIDTH - RIGHT) / 2.0, bottom + 34, "pass");
    cofi_out_text(out, "\n");
}

static void draw_curve(cofi_out *out, const curve_frame *f, size_t begin, size_t end, bool best,
                       bool by_likelihood)
{
    cofi_out_format(out, "<polyline%s points=\"", best ? " class=\"cof-bold\"" : "");
    for (size_t i = begin; i < end; i++) {
        cofi_out_number(out, round(10 * x_of(f, f->record[i].pass)) / 10);
        cofi_out_text(out, ",");
        cofi_out_number(out, round(10 * y_of(f, f->record[i].objective)) / 10);
        cofi_out_text(out, " ");
    }
    cofi_out_text(out, "\"/>");
    for (size_t i = begin; i < end && best; i++) {
        const cof_pass_record *p = &f->record[i];
        bool rebuilt = !by_likelihood && (i == begin || p->rebuild != p[-1].rebuild);
        cofi_svg_circle_start(out, rebuilt ? 5 : 0, x_of(f, p->pass), y_of(f, p->objective), rebuilt ? 5 : 3);
        cofi_out_format(out, "<title>pass %u%s: ", p->pass, rebuilt ? ", first with a new forest" : "");
        cofi_out_fixed(out, p->objective, 0, 3);
        cofi_out_format(out, ", %llu rows moved</title></circle>", (unsigned long long)p->moved);
    }
    cofi_out_text(out, "\n");
}

/* The kept one last, on top of the others. */
static void draw_curves(cofi_report *r, const curve_frame *f)
{
    for (int best = 0; best < 2; best++)
        for (size_t begin = 0, end; begin < f->n; begin = end) {
            uint32_t restart = f->record[begin].restart;
            for (end = begin; end < f->n && f->record[end].restart == restart;) end++;
            bool is_best = restart == r->best_restart;
            if (is_drawn(r, restart) && is_best == (best == 1))
                draw_curve(&r->out, f, begin, end, is_best, is_best && r->restarts[restart].by_likelihood);
        }
}

void cofi_report_convergence(cofi_report *r)
{
    cofi_out *out = &r->out;
    curve_frame f = frame_of(r);
    if (f.n == 0) return;
    cofi_html_section(out, "convergence", "Convergence");
    bool by_likelihood = r->n_restarts > 0 && r->restarts[r->best_restart].by_likelihood;
    cofi_out_text(
        out,
        by_likelihood
            ? "<p>Minus the logarithm of how likely the rows are in their clusters after every pass; the "
              "start that was kept is one that the likelihood refined, and starts refined along forests "
              "count otherwise and are not drawn.</p>\n<figure class=\"fit\">"
            : "<p>The sum of distances of all rows to their clusters after every pass. A new forest changes "
              "the distances themselves, so the curve may rise there.</p>\n<figure class=\"fit\">");
    cofi_svg_open(out, WIDTH, HEIGHT, "Objective by pass", false);
    draw_axes(out, &f);
    draw_curves(r, &f);
    cofi_svg_close(out);
    cofi_out_format(out, "<figcaption>Bold: the start that was kept%s; thin: the other starts",
                    by_likelihood ? "" : "; orange: first pass with a new forest");
    if (r->n_restarts > MOST_CURVES) cofi_out_format(out, ", the first %d of them", (int)MOST_CURVES);
    cofi_out_text(out, "</figcaption></figure></section>\n");
}

/* ---- Scores ------------------------------------------------------------------------------------------ */

enum { MOST_CLASSES = 60 };

typedef struct confusion {
    int32_t *cls;      /* per row; -1: no class */
    uint64_t *count;   /* k x n_classes */
    int32_t *class_of; /* k */
    uint32_t n_classes;
    uint32_t *order; /* classes: matched ones first, in the order of their clusters */
    cof_indices scores;
} confusion;

static cof_status count_classes(cofi_report *r, confusion *c, cof_error *err)
{
    const cofi_column *column = &r->table->column[r->classes];
    c->n_classes = column->n_values;
    c->cls = cofi_alloc(&r->env, r->n_rows, sizeof *c->cls);
    c->count = cofi_alloc_zero(&r->env, (size_t)r->k * c->n_classes, sizeof *c->count);
    c->class_of = cofi_alloc(&r->env, r->k, sizeof *c->class_of);
    c->order = cofi_alloc(&r->env, c->n_classes, sizeof *c->order);
    if (c->cls == NULL || c->count == NULL || c->class_of == NULL || c->order == NULL)
        return cofi_no_memory(err);
    for (size_t i = 0; i < r->n_rows; i++) {
        uint32_t code = cofi_column_code(column, i);
        c->cls[i] = code < c->n_classes ? (int32_t)code : -1;
        if (c->cls[i] >= 0 && r->label[i] >= 0) c->count[(size_t)r->label[i] * c->n_classes + code]++;
    }
    return COF_OK;
}

static void order_classes(const cofi_report *r, confusion *c)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < r->k; j++)
        if (c->class_of[j] >= 0) c->order[n++] = (uint32_t)c->class_of[j];
    for (uint32_t y = 0; y < c->n_classes; y++) {
        bool matched = false;
        for (uint32_t j = 0; j < r->k; j++) matched |= c->class_of[j] == (int32_t)y;
        if (!matched) c->order[n++] = y;
    }
}

static void score_figures(cofi_report *r, const cof_indices *scores)
{
    const cof_index *score;
    cofi_out_text(&r->out, "<dl class=\"figures\">\n");
    for (size_t i = 0; (score = cof_index_at(i)) != NULL; i++) {
        cofi_out_format(&r->out, "<div title=\"%s\"><dt>%s</dt><dd data-key=\"%s\">", score->about,
                        score->name, score->key);
        cofi_out_fixed(&r->out, cof_index_value(scores, i), 0, 4);
        cofi_out_text(&r->out, "</dd></div>\n");
    }
    cofi_out_text(&r->out, "</dl>\n");
}

static void confusion_line(cofi_report *r, const confusion *c, uint32_t j, uint32_t n_shown)
{
    cofi_out *out = &r->out;
    const uint64_t *count = c->count + (size_t)j * c->n_classes;
    uint64_t most = 0, rest = 0;
    for (uint32_t y = 0; y < c->n_classes; y++) most += count[y];
    cofi_out_format(out, "<tr><th scope=\"row\" data-v=\"%u\">", j + 1);
    cofi_html_cluster(out, j);
    for (uint32_t i = 0; i < c->n_classes; i++) {
        uint32_t y = c->order[i];
        if (i >= n_shown) {
            rest += count[y];
            continue;
        }
        unsigned percent = most > 0 ? (unsigned)lround(100 * (double)count[y] / (double)most) : 0;
        bool hit = c->class_of[j] == (int32_t)y && count[y] > 0;
        cofi_out_format(out, "<td class=\"b n%s", hit ? " hit" : "");
        if (count[y] > 0) cofi_out_format(out, " p%u", percent > 0 ? percent : 1);
        cofi_out_format(out, "\" data-v=\"%llu\">", (unsigned long long)count[y]);
        cofi_html_count(out, count[y]);
    }
    if (n_shown < c->n_classes) cofi_html_count_cell(out, (double)rest);
    cofi_out_text(out, "</tr>\n");
}

static void confusion_table(cofi_report *r, const confusion *c)
{
    cofi_out *out = &r->out;
    uint32_t n_shown = c->n_classes < MOST_CLASSES ? c->n_classes : MOST_CLASSES;
    cofi_html_table(out, "stick", true,
                    "Rows of each cluster by class; a frame marks the class a cluster is matched "
                    "with");
    cofi_out_text(out, "<thead><tr><th scope=\"col\">cluster");
    for (uint32_t i = 0; i < n_shown; i++) {
        cofi_out_text(out, "<th scope=\"col\" class=\"n\">");
        cofi_html_name(out, cof_table_value(r->table, r->classes, c->order[i]), 16);
    }
    if (n_shown < c->n_classes)
        cofi_out_format(out, "<th scope=\"col\" class=\"n\">%u others", c->n_classes - n_shown);
    cofi_out_text(out, "</tr></thead><tbody>\n");
    for (uint32_t j = 0; j < r->k; j++) confusion_line(r, c, j, n_shown);
    cofi_out_text(out, "</tbody>");
    cofi_html_table_end(out);
}

static void write_scores(cofi_report *r, const confusion *c)
{
    cofi_html_section(&r->out, "scores", "Compared with known classes");
    cofi_out_text(&r->out, "<p>The column <b>");
    cofi_html_name(&r->out, r->table->column[r->classes].name, COFI_REPORT_NAME);
    cofi_out_format(&r->out,
                    "</b> was left out of the clustering; these scores compare the clusters with its %u "
                    "classes over ",
                    c->scores.n_classes);
    cofi_html_count(&r->out, c->scores.n);
    cofi_out_text(&r->out, " rows. 1 is perfect; by chance ARI and AMI are about 0.</p>\n");
    score_figures(r, &c->scores);
    confusion_table(r, c);
    cofi_out_text(&r->out, "</section>\n");
}

cof_status cofi_report_scores(cofi_report *r, cof_error *err)
{
    confusion c = {.scores = {.struct_size = sizeof c.scores}};
    if (!cofi_report_has_rows(r) || r->classes == SIZE_MAX) return COF_OK;
    if ((uint64_t)r->k * r->table->column[r->classes].n_values > 4000000)
        return COF_OK; /* no page shows that */
    cof_status status = count_classes(r, &c, err);
    if (status == COF_OK) status = cof_evaluate(&r->env, r->label, c.cls, r->n_rows, &c.scores, err);
    if (status == COF_OK && c.scores.n > 0)
        status = cof_match(&r->env, c.count, r->k, c.n_classes, c.class_of, err);
    if (status == COF_OK && c.scores.n > 0) {
        order_classes(r, &c);
        write_scores(r, &c);
    }
    cofi_release(&r->env, c.cls);
    cofi_release(&r->env, c.count);
    cofi_release(&r->env, c.class_of);
    cofi_release(&r->env, c.order);
    return status;
}
