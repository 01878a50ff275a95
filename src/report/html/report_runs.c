/* How the fit went: the numbers of clusters that were tried, the restarts, and the passes of the kept one. */
#include "../svg/chart.h"
#include "report.h"

#include <math.h>

/* ---- Numbers of clusters ----------------------------------------------------------------------------- */

typedef struct k_frame {
    const cof_k_record *record;
    size_t n, kept, second; /* places in the curve; second is n: there is none */
    cofi_chart chart;
} k_frame;

static void draw_number(cofi_out *out, const k_frame *f, size_t i)
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

static void draw_numbers(cofi_out *out, const k_frame *f)
{
    uint32_t step = (uint32_t)(f->chart.last - f->chart.first) / 20 + 1;
    cofi_svg_open(out, COFI_CHART_WIDTH, f->chart.height,
                  "Log-likelihood by number of clusters; the table below has the figures", false);
    cofi_chart_grid(out, &f->chart);
    cofi_chart_ticks(out, &f->chart, step, "number of clusters");
    cofi_out_text(out, "<polyline points=\"");
    for (size_t i = 0; i < f->n; i++)
        cofi_chart_vertex(out, &f->chart, f->record[i].k, f->record[i].log_likelihood);
    cofi_out_text(out, "\"/>\n");
    for (size_t i = 0; i < f->n; i++)
        if (i != f->kept) draw_number(out, f, i);
    draw_number(out, f, f->kept); /* on top */
    cofi_svg_close(out);
}

static void put_runner_up(cofi_page *p, const cof_k_record *kept, const cof_k_record *second)
{
    double behind = kept->log_likelihood - second->log_likelihood;
    cofi_page_open(p, "runner_up");
    cofi_page_put(p, "k", "%u", second->k);
    cofi_page_put(p, "apart", "%2f", fabs(behind));
    cofi_page_put(p, "verdict", "%s",
                  behind < 0   ? isnan(second->agreement) ? "independent" : "halves"
                  : behind < 5 ? "close"
                               : "behind");
    cofi_page_close(p);
}

static void put_numbers(cofi_report *r)
{
    cofi_page *p = &r->page;
    k_frame f = {.chart = {.height = 220, .top = 30, .bottom = 64, .least = INFINITY, .most = -INFINITY}};
    uint32_t second = cof_model_k_runner_up(r->model);
    f.record = cof_model_k_curve(r->model, &f.n);
    f.second = f.n;
    if (f.n == 0) return;
    f.chart.first = f.record[0].k;
    f.chart.last = f.record[f.n - 1].k;
    for (size_t i = 0; i < f.n; i++) {
        f.chart.least = fmin(f.chart.least, f.record[i].log_likelihood);
        f.chart.most = fmax(f.chart.most, f.record[i].log_likelihood);
        if (f.record[i].k == r->k) f.kept = i;
        if (f.record[i].k == second) f.second = i;
    }
    const cof_k_record *kept = &f.record[f.kept];
    cofi_page_open(p, "numbers");
    cofi_page_put(p, "from", "%u", f.record[0].k);
    cofi_page_put(p, "to", "%u", f.record[f.n - 1].k);
    cofi_page_flag(p, "uncertain", kept->agreement < COF_GOOD_AGREEMENT);
    if (f.second < f.n) put_runner_up(p, kept, &f.record[f.second]);
    cofi_page_flag(p, "at_edge", cof_model_k_at_edge(r->model));
    if (f.n > 1 && f.chart.most > f.chart.least && isfinite(f.chart.most - f.chart.least)) {
        draw_numbers(cofi_page_write(p), &f);
        cofi_page_written(p, "chart");
    }
    for (size_t i = 0; i < f.n; i++) {
        cofi_page_open(p, "tried");
        cofi_page_flag(p, "kept", i == f.kept);
        cofi_page_count(p, "k", (double)f.record[i].k);
        cofi_page_number(p, "log_likelihood", f.record[i].log_likelihood, 2);
        cofi_page_number(p, "behind", kept->log_likelihood - f.record[i].log_likelihood, 2);
        cofi_page_number(p, "agreement", f.record[i].agreement, 3);
        cofi_page_close(p);
    }
    cofi_page_close(p);
}

/* ---- Restarts ---------------------------------------------------------------------------------------- */

enum { STRIP_MOST = 200, STRIP_COLUMNS = 92, DOT = 3, STRIP_HEIGHT = 56, STRIP_LEFT = 2 };
enum { STRIP_RIGHT = COFI_CHART_WIDTH - STRIP_LEFT, MOST_RECORDS = 200 };

static double criterion(const cofi_report *r, size_t restart)
{
    const cof_restart_record *record = &r->restarts[restart];
    int32_t select = cof_model_select(r->model);
    if (select == COF_SELECT_BALANCE || select == COF_SELECT_MIXTURE) return record->criterion;
    return select == COF_SELECT_OBJECTIVE ? record->objective : record->log_likelihood;
}

typedef struct strip {
    double least, most;
    unsigned char height[STRIP_COLUMNS + 1]; /* dots in the column */
    double step;                             /* between two of them; in tall columns they overlap */
    double base;                             /* y of the lowest */
} strip;

static unsigned strip_column(const strip *s, double value)
{
    return (unsigned)lround((value - s->least) / (s->most - s->least) * STRIP_COLUMNS);
}

static void strip_dot(const cofi_report *r, cofi_out *out, strip *s, size_t i)
{
    unsigned column = strip_column(s, criterion(r, i)), level = s->height[column]++;
    bool best = i == r->best_restart;
    double x = STRIP_LEFT + 2 * DOT + (STRIP_RIGHT - STRIP_LEFT - 4 * DOT) * (double)column / STRIP_COLUMNS;
    cofi_svg_circle_start(out, best ? 5 : 0, x, s->base - s->step * level, DOT);
    cofi_out_put(out, "<title>restart %z%s: %2f</title></circle>", i + 1, best ? ", kept" : "",
                 criterion(r, i));
}

/* One dot for every restart on the axis of the criterion; those of nearly the same value are piled up. */
static void draw_strip(const cofi_report *r, cofi_out *out)
{
    strip s = {.least = INFINITY, .most = -INFINITY};
    unsigned tallest = 1;
    for (size_t i = 0; i < r->n_restarts; i++) {
        s.least = fmin(s.least, criterion(r, i));
        s.most = fmax(s.most, criterion(r, i));
    }
    if (!(s.most - s.least > 1e-9 * fabs(s.most))) return; /* all the same but for rounding */
    for (size_t i = 0; i < r->n_restarts && i < STRIP_MOST; i++) {
        unsigned column = strip_column(&s, criterion(r, i));
        if (++s.height[column] > tallest) tallest = s.height[column];
    }
    s.step = fmin(2 * DOT + 1, (double)STRIP_HEIGHT / tallest);
    s.base = 2 * DOT + s.step * tallest;
    memset(s.height, 0, sizeof s.height);
    cofi_svg_open(out, COFI_CHART_WIDTH, s.base + 26,
                  "What decided, for every restart, on an axis; the table below has the figures", false);
    cofi_svg_line(out, NULL, STRIP_LEFT, s.base + DOT + 2, STRIP_RIGHT, s.base + DOT + 2);
    for (size_t i = 0; i < r->n_restarts && i < STRIP_MOST; i++)
        if (i != r->best_restart) strip_dot(r, out, &s, i);
    strip_dot(r, out, &s, r->best_restart); /* on top */
    cofi_svg_text_start(out, "cof-note", STRIP_LEFT, s.base + 21);
    cofi_out_put(out, "%2f</text>", s.least);
    cofi_svg_text_start(out, "cof-note cof-end", STRIP_RIGHT, s.base + 21);
    cofi_out_put(out, "%2f</text>", s.most);
    cofi_svg_close(out);
}

static void put_restart(cofi_report *r, size_t i)
{
    static const char *const how[] = {[COF_STOP_CONVERGED] = "converged",
                                      [COF_STOP_CYCLE] = "an earlier partition came back",
                                      [COF_STOP_CAP] = "limit reached",
                                      [COF_STOP_STOPPED] = "interrupted"};
    cofi_page *p = &r->page;
    const cof_restart_record *record = &r->restarts[i];
    int32_t stop = record->stop_reason;
    bool known = stop >= 0 && stop <= COF_STOP_STOPPED;
    cofi_page_open(p, "records");
    cofi_page_put(p, "number", "%z", i + 1);
    cofi_page_flag(p, "kept", i == r->best_restart);
    cofi_page_number(p, "log_likelihood", record->log_likelihood, 2);
    cofi_page_number(p, "objective", record->objective, 2);
    cofi_page_number(p, "gains", record->criterion, 3);
    cofi_page_put(p, "by", "%s", record->by_likelihood ? "likelihood" : "trees");
    cofi_page_count(p, "rebuilds", (double)record->rebuilds);
    cofi_page_count(p, "passes", (double)record->passes);
    cofi_page_put(p, "end", "%s", known ? how[stop] : "unknown");
    cofi_page_close(p);
}

/* The other restarts: the smallest, mean and largest agreement with the kept one. */
static void put_agreement(cofi_report *r)
{
    cofi_page *p = &r->page;
    const double *ari = cof_model_agreement(r->model);
    double least = 1, most = -1;
    uint32_t n_good = 0;
    if (ari == NULL) return;
    for (size_t i = 0; i < r->n_restarts; i++) {
        if (i == r->best_restart) continue;
        least = ari[i] < least ? ari[i] : least;
        most = ari[i] > most ? ari[i] : most;
    }
    cofi_page_open(p, "agreement");
    cofi_page_put(p, "mean", "%3f", cof_model_mean_agreement(r->model));
    cofi_page_put(p, "least", "%3f", least);
    cofi_page_put(p, "most", "%3f", most);
    bool compared = cof_model_cluster_agreement(r->model, &n_good) != NULL;
    cofi_page_put(p, "n_good", compared ? "%u" : "", n_good);
    cofi_page_close(p);
}

static void put_restarts(cofi_report *r)
{
    cofi_page *p = &r->page;
    int32_t select = cof_model_select(r->model);
    double nearer = cof_model_nearer_other(r->model);
    if (r->k > 1 &&
        strcmp(cof_model_method(r->model), "coforest") == 0) { /* only it has two kinds of restarts */
        bool likely = cof_model_refined_by(r->model) == COF_REFINED_BY_LIKELIHOOD;
        cofi_page_open(p, "refined");
        cofi_page_put(p, "by", likely ? "likelihood" : "COForest");
        cofi_page_put(p, "nearer", isnan(nearer) ? "" : "%1f", 100 * nearer);
        cofi_page_close(p);
    }
    if (r->n_restarts == 0 || r->k == 1) return; /* one cluster is the same whatever it began with */
    cofi_page_open(p, "restarts");
    cofi_page_put(p, "best", "%z", r->best_restart + 1);
    cofi_page_put(p, "value", "%3f", criterion(r, r->best_restart));
    cofi_page_put(p, "n_same", "%z", (size_t)cof_model_n_same(r->model));
    cofi_page_flag(p, "smaller", select == COF_SELECT_OBJECTIVE);
    cofi_page_flag(p, "balance", select == COF_SELECT_BALANCE);
    put_agreement(r);
    draw_strip(r, cofi_page_write(p));
    cofi_page_written(p, "strip");
    for (size_t i = 0; i < r->n_restarts; i++)
        if (i < MOST_RECORDS || i == r->best_restart) put_restart(r, i);
    cofi_page_close(p);
}

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

static void draw_curves(const cofi_report *r, cofi_out *out, const curve_frame *f, bool by_likelihood)
{
    uint32_t step = f->chart.last > 12 ? (uint32_t)((f->chart.last + 9) / 10) : 1;
    cofi_svg_open(out, COFI_CHART_WIDTH, f->chart.height, "Objective by pass of the kept restart and others",
                  false);
    cofi_chart_grid(out, &f->chart);
    cofi_chart_ticks(out, &f->chart, step, "pass");
    for (int best = 0; best < 2; best++) /* the kept one last, on top of the others */
        for (size_t begin = 0, end; begin < f->n; begin = end) {
            uint32_t restart = f->record[begin].restart;
            for (end = begin; end < f->n && f->record[end].restart == restart;) end++;
            bool is_best = restart == r->best_restart;
            if (is_drawn(r, restart) && is_best == (best == 1))
                draw_curve(out, f, begin, end, is_best, by_likelihood);
        }
    cofi_svg_close(out);
}

static void put_convergence(cofi_report *r)
{
    cofi_page *p = &r->page;
    bool by_likelihood = r->n_restarts > 0 && r->restarts[r->best_restart].by_likelihood;
    cofi_chart c = {
        .height = 206, .top = 16, .bottom = 48, .first = 1, .last = 1, .least = INFINITY, .most = -INFINITY};
    curve_frame f = {.n = 0};
    f.record = cof_model_history(r->model, &f.n);
    if (f.n == 0) return;
    for (size_t i = 0; i < f.n; i++) {
        if (!is_drawn(r, f.record[i].restart)) continue;
        c.least = fmin(c.least, f.record[i].objective);
        c.most = fmax(c.most, f.record[i].objective);
        c.last = fmax(c.last, f.record[i].pass);
    }
    if (!(c.most > c.least)) c.most = c.least + 1;
    if (!(c.most > c.least)) c.most = nextafter(c.least, INFINITY); /* so large that one more is nothing */
    f.chart = c;
    cofi_page_open(p, "convergence");
    cofi_page_flag(p, "by_likelihood", by_likelihood);
    /* a curve below the kept one's looks like a mistake unless it is said what decided */
    cofi_page_flag(p, "other_criterion",
                   r->n_restarts > 1 && cof_model_select(r->model) != COF_SELECT_OBJECTIVE);
    cofi_page_put(p, "n_drawn", r->n_restarts > MOST_CURVES ? "%u" : "", (unsigned)MOST_CURVES);
    if (c.last > 1) {
        draw_curves(r, cofi_page_write(p), &f, by_likelihood);
        cofi_page_written(p, "chart");
    }
    cofi_page_close(p);
}

void cofi_report_runs(cofi_report *r)
{
    static const char *const named[] = {[COF_SELECT_AUTO] = "log-likelihood",
                                        [COF_SELECT_BALANCE] = "balance of likelihood and tightness",
                                        [COF_SELECT_LIKELIHOOD] = "log-likelihood",
                                        [COF_SELECT_OBJECTIVE] = "objective",
                                        [COF_SELECT_MIXTURE] = "log-likelihood of the mixture"};
    int32_t select = cof_model_select(r->model);
    bool known = select >= 0 && select <= COF_SELECT_MIXTURE;
    cofi_page_put(&r->page, "criterion", "%s", named[known ? select : COF_SELECT_AUTO]);
    put_numbers(r);
    put_restarts(r);
    put_convergence(r);
}
