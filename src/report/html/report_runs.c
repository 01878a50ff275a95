/* How the fit went, and how it compares with known classes. */
#include "../svg/chart.h"
#include "report.h"

#include <math.h>

/* ---- Convergence ------------------------------------------------------------------------------------- */

enum { MOST_CURVES = 20 };

typedef struct curve_frame {
    const cof_pass_record *record;
    size_t n;
    cofi_chart chart; /* objective by pass */
} curve_frame;

/* Only restarts of the kept one's kind: others count in other units. */
static bool is_drawn(const cofi_report *r, uint32_t restart)
{
    if (restart < r->n_restarts && r->best_restart < r->n_restarts &&
        r->restarts[restart].by_likelihood != r->restarts[r->best_restart].by_likelihood)
        return false;
    return restart < MOST_CURVES || restart == r->best_restart;
}

static curve_frame frame_of(const cofi_report *r)
{
    cofi_chart c = {
        .height = 206, .top = 16, .bottom = 48, .first = 1, .last = 1, .least = INFINITY, .most = -INFINITY};
    curve_frame f = {.n = 0};
    f.record = cof_model_history(r->model, &f.n);
    for (size_t i = 0; i < f.n; i++) {
        if (!is_drawn(r, f.record[i].restart)) continue;
        c.least = fmin(c.least, f.record[i].objective);
        c.most = fmax(c.most, f.record[i].objective);
        c.last = fmax(c.last, f.record[i].pass);
    }
    if (!(c.most > c.least)) c.most = c.least + 1;
    if (!(c.most > c.least)) c.most = nextafter(c.least, INFINITY); /* so large that one more is nothing */
    f.chart = c;
    return f;
}

static void draw_curve(cofi_out *out, const curve_frame *f, size_t begin, size_t end, bool best,
                       bool by_likelihood)
{
    cofi_out_format(out, "<polyline%s points=\"", best ? " class=\"cof-bold\"" : "");
    for (size_t i = begin; i < end; i++)
        cofi_chart_vertex(out, &f->chart, f->record[i].pass, f->record[i].objective);
    cofi_out_text(out, "\"/>");
    for (size_t i = begin; i < end && best; i++) {
        const cof_pass_record *p = &f->record[i];
        bool rebuilt = !by_likelihood && (i == begin || p->rebuild != p[-1].rebuild);
        cofi_svg_circle_start(out, rebuilt ? 5 : 0, cofi_chart_x(&f->chart, p->pass),
                              cofi_chart_y(&f->chart, p->objective), rebuilt ? 5 : 3);
        cofi_out_put(out, "<title>pass %u%s: %3f, %g rows moved</title></circle>", p->pass,
                     rebuilt ? ", first with a new forest" : "", p->objective, (double)p->moved);
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

/* A curve below the kept one's looks like a mistake unless it is said what decided. */
static void tell_choice(cofi_report *r)
{
    if (r->n_restarts < 2 || cof_model_select(r->model) == COF_SELECT_OBJECTIVE) return;
    cofi_out_format(
        &r->out, " Restarts are compared by their %s, not by this sum, so the kept one need not end lowest.",
        cofi_report_criterion(r));
}

static void draw_chart(cofi_report *r, const curve_frame *f, bool by_likelihood)
{
    cofi_out *out = &r->out;
    uint32_t step = f->chart.last > 12 ? (uint32_t)((f->chart.last + 9) / 10) : 1;
    cofi_out_text(out, "<figure class=\"fit\">");
    cofi_svg_open(out, COFI_CHART_WIDTH, f->chart.height, "Objective by pass of the kept restart and others",
                  false);
    cofi_chart_grid(out, &f->chart);
    cofi_chart_ticks(out, &f->chart, step, "pass");
    draw_curves(r, f);
    cofi_svg_close(out);
    cofi_out_format(out, "<figcaption>Bold: the restart that was kept%s; thin: other restarts",
                    by_likelihood ? "" : "; orange: first pass with a rebuilt forest");
    if (r->n_restarts > MOST_CURVES) cofi_out_format(out, ", the first %d of them", (int)MOST_CURVES);
    cofi_out_text(out, "</figcaption></figure>\n");
}

void cofi_report_convergence(cofi_report *r)
{
    cofi_out *out = &r->out;
    curve_frame f = frame_of(r);
    if (f.n == 0) return;
    bool by_likelihood = r->n_restarts > 0 && r->restarts[r->best_restart].by_likelihood;
    cofi_html_section(out, "convergence", "Convergence");
    if (f.chart.last > 1) {
        cofi_out_text(
            out,
            by_likelihood
                ? "<p>The kept restart assigns every row to its likeliest cluster. The chart shows minus "
                  "the log-likelihood of the rows after every pass. Restarts that use the trees count "
                  "in other units and are not drawn."
                : "<p>The chart shows the sum of the distances of all rows to their clusters after "
                  "every pass. A rebuilt forest changes the distances themselves, so the curve may "
                  "rise there.");
        tell_choice(r);
        cofi_out_text(out, "</p>\n");
        draw_chart(r, &f, by_likelihood);
    } else {
        cofi_out_text(out,
                      "<p>The kept restart, and others of its kind, ended with their first pass: there is "
                      "no curve to draw.</p>\n");
    }
    cofi_out_text(out, "</section>\n");
}

/* ---- Scores ------------------------------------------------------------------------------------------ */

enum { MOST_CLASSES = 60 };

typedef struct confusion {
    int32_t *cls;      /* per row; -1: no class */
    double *weight;    /* per row */
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
    c->cls = cofi_blocks_add(&r->own, r->n_rows, sizeof *c->cls);
    c->weight = cofi_blocks_add(&r->own, r->n_rows, sizeof *c->weight);
    c->count = cofi_blocks_add_zero(&r->own, (size_t)r->k * c->n_classes, sizeof *c->count);
    c->class_of = cofi_blocks_add(&r->own, r->k, sizeof *c->class_of);
    c->order = cofi_blocks_add(&r->own, c->n_classes, sizeof *c->order);
    COFI_TRY(cofi_blocks_status(&r->own, err));
    for (size_t i = 0; i < r->n_rows; i++) {
        uint32_t code = cofi_column_code(column, i);
        c->cls[i] = code < c->n_classes ? (int32_t)code : -1;
        if (c->cls[i] >= 0 && r->label[i] >= 0) c->count[(size_t)r->label[i] * c->n_classes + code]++;
    }
    return cof_table_weights(r->table, c->weight, r->n_rows, err);
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
    cofi_out_text(&r->out, "<dl class=\"figures scores\">\n");
    for (size_t i = 0; (score = cof_index_at(i)) != NULL; i++)
        cofi_out_put(&r->out,
                     "<div><dt>%s</dt><dd data-key=\"%s\">%4f</dd><dd class=\"soft\">%s</dd></div>\n",
                     score->name, score->key, cof_index_value(scores, i), score->about);
    cofi_out_text(&r->out, "</dl>\n");
}

static void confusion_line(cofi_report *r, const confusion *c, uint32_t j, uint32_t n_shown)
{
    cofi_out *out = &r->out;
    const uint64_t *count = c->count + (size_t)j * c->n_classes;
    uint64_t most = 0, rest = 0;
    for (uint32_t y = 0; y < c->n_classes; y++) most += count[y];
    cofi_html(out, "<tr><th scope=\"row\" data-v=\"%u\">%k", j + 1, j);
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
                    r->sampled
                        ? "Sampled rows of each cluster by class; a frame marks the class a cluster is "
                          "matched with"
                        : "Rows of each cluster by class; a frame marks the class a cluster is matched "
                          "with");
    cofi_out_text(out, "<thead><tr><th scope=\"col\">cluster");
    for (uint32_t i = 0; i < n_shown; i++)
        cofi_html(out, "<th scope=\"col\" class=\"n\">%16n",
                  cof_table_value(r->table, r->classes, c->order[i]));
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
    cofi_html(
        &r->out,
        "<p>The column <b>%40n</b> was left out of the clustering; these scores compare the clusters with "
        "its %u classes over %c rows%s. 1 is perfect; a random partition has ARI and AMI of about "
        "0.</p>\n",
        r->table->column[r->classes].name, c->scores.n_classes, (uint64_t)c->scores.n,
        cofi_table_weight_column(r->table) != NULL ? ", with their weights" : "");
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
    COFI_TRY(count_classes(r, &c, err));
    cof_env env = r->env;
    env.should_stop = NULL; /* a fit that was stopped has its report all the same */
    COFI_TRY(cof_evaluate_weighted(&env, r->label, c.cls, c.weight, r->n_rows, &c.scores, err));
    if (c.scores.n == 0) return COF_OK;
    if (r->o.scores != NULL) COFI_COPY_OPTIONS(&c.scores, r->o.scores);
    COFI_TRY(cof_match(&env, c.count, r->k, c.n_classes, c.class_of, err));
    order_classes(r, &c);
    write_scores(r, &c);
    return COF_OK;
}
