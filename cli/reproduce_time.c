/* Execution time on tables without structure, against rows and against attributes. */
#include "reproduce.h"

#include <string.h>
#include <time.h>

#include "chart.h"
#include "complain.h"

/* Methods that compare all pairs of attributes need n l^2 steps, hours at l = 10,000: a point that is likely
 * to take longer than this is left out, and so are those after it. */
static const double CAP_S = 60, QUICK_CAP_S = 1;

typedef struct sizes {
    uint64_t n_rows;    /* 0: this is what varies */
    uint32_t n_columns; /* 0: this is */
    uint32_t first, step, last;
} sizes;

static sizes sizes_of(const rep_job *job, char axis)
{
    if (axis == 'n')
        return job->quick ? (sizes){0, 20, 2000, 2000, 10000} : (sizes){0, 20, 10000, 10000, 100000};
    return job->quick ? (sizes){500, 0, 50, 50, 250} : (sizes){2000, 0, 1000, 1000, 10000};
}

static void describe(const rep_job *job, char *settings, size_t n)
{
    sizes rows = sizes_of(job, 'n'), columns = sizes_of(job, 'l');
    snprintf(
        settings, n,
        "coforest %s, n to %u with l %u, l to %u with n %u, 5 values, k 5, one thread, a cap of %g s a point",
        cof_version(), rows.last, rows.n_columns, columns.last, (unsigned)columns.n_rows,
        job->quick ? QUICK_CAP_S : CAP_S);
}

static size_t list(const rep_job *job, rep_unit *units)
{
    (void)job;
    for (size_t i = 0; i < 2 * N_METHODS; i++) {
        units[i] = (rep_unit){.key = "uniform, seed 1"};
        snprintf(units[i].name, sizeof units[i].name, "%c %s", i < N_METHODS ? 'n' : 'l',
                 rep_method_ids[i % N_METHODS]);
    }
    return 2 * N_METHODS;
}

typedef struct timing { /* NaN: the method has no result there, or was not asked */
    double cpu_s;       /* of the one thread: what others do on the machine hardly shows in it */
    double wall_s;
    double passes;
} timing;

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static cof_status measure(const rep_job *job, const sizes *s, uint32_t x, const char *method, timing *out,
                          cof_error *err)
{
    cof_generate_options g = {.struct_size = sizeof g,
                              .n_rows = s->n_rows == 0 ? x : s->n_rows,
                              .n_columns = s->n_columns == 0 ? x : s->n_columns,
                              .n_values = 5,
                              .seed = 1};
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = 5,
                         .restarts = 1,
                         .seed = 1,
                         .init = COF_INIT_RANDOM,
                         .variant = COF_VARIANT_AUTHORS,
                         .threads = 1,
                         .method = method};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_table *table = NULL;
    cof_model *model = NULL;
    cof_status status = cof_table_generate(&job->env, &g, &table, err);
    double begun_s = cpu_s();
    if (status == COF_OK) status = cof_fit(table, &o, &model, &info, err);
    if (status == COF_OK) *out = (timing){cpu_s() - begun_s, info.fit_s, info.passes};
    cof_model_free(model);
    cof_table_free(table);
    return status == COF_ERR_NO_RESULT ? COF_OK : status;
}

static int run(rep_job *job, const rep_unit *unit, rep_results *results)
{
    sizes s = sizes_of(job, unit->name[0]);
    const char *method = unit->name + 2;
    double cap_s = job->quick ? QUICK_CAP_S : CAP_S, last_s = 0, last_x = s.first;
    int code = CODE_DONE;
    size_t done = 0, total = (s.last - s.first) / s.step + 1;
    for (uint32_t x = s.first; code == CODE_DONE && x <= s.last; x += s.step) {
        cof_error err = {""};
        timing t = {(double)NAN, (double)NAN, (double)NAN};
        double growth = x / last_x;
        bool too_long = last_s * (s.n_columns == 0 ? growth * growth : growth) > cap_s;
        cof_status status = too_long ? COF_OK : measure(job, &s, x, method, &t, &err);
        if (interrupted()) return CODE_INTERRUPTED;
        if (status != COF_OK) return complain_status(status, TASK_FIT, &err);
        if (!isnan(t.wall_s)) {
            last_s = t.wall_s;
            last_x = x;
        }
        code = rep_add(results, unit->name, method, x, t.cpu_s, t.wall_s, t.passes);
        rep_progress(job, ++done, total);
    }
    return code;
}

/* ---- The picture -------------------------------------------------------------------------------------- */

/* Names at the end of their curves, pushed apart where they would overlap. */
typedef struct end_label {
    double x, y; /* where the curve ends */
    double at;   /* where the name stands */
    size_t method;
} end_label;

static void spread_labels(end_label *label, size_t n, double gap)
{
    for (size_t i = 1; i < n; i++) {
        end_label moved = label[i];
        size_t at = i;
        for (; at > 0 && label[at - 1].y > moved.y; at--) label[at] = label[at - 1];
        label[at] = moved;
    }
    for (size_t i = 0; i < n; i++) label[i].at = label[i].y;
    for (int round = 0; round < 200; round++)
        for (size_t i = 1; i < n; i++) {
            double lacking = gap - (label[i].at - label[i - 1].at);
            if (lacking <= 0) continue;
            label[i - 1].at -= lacking / 2;
            label[i].at += lacking / 2;
        }
}

static size_t draw_curves(const plot *p, const rep_results *r, char axis, end_label *label)
{
    double x[64], y[64];
    size_t n_labels = 0;
    for (size_t m = 0; m < N_METHODS; m++) {
        char unit[24];
        snprintf(unit, sizeof unit, "%c %s", axis, rep_method_ids[m]);
        size_t n = rep_collect(r, unit, rep_method_ids[m], 0, y, 64);
        rep_collect(r, unit, rep_method_ids[m], -1, x, 64); /* those left out come last */
        if (n == 0) continue;
        plot_curve(p, hue_line(m == N_METHODS - 1 ? 1 : m < 1 ? 0 : m + 1), x, y, n);
        for (size_t i = 0; m == N_METHODS - 1 && i < n; i++)
            chart_mark(p->out, "f1", MARK_DOT, plot_x(p, x[i]), plot_y(p, y[i]), 3);
        label[n_labels++] = (end_label){plot_x(p, x[n - 1]), plot_y(p, y[n - 1]), 0, m};
    }
    return n_labels;
}

static void draw_axis_panel(FILE *out, const rep_results *r, const sizes *s, char axis, double left)
{
    end_label label[N_METHODS];
    plot p = {.out = out, .left = left, .top = 40, .width = 360, .height = 360, .log_y = true};
    double y[1024];
    size_t n = 0;
    p.x0 = 0;
    p.x1 = s->last;
    for (size_t i = 0; i < r->n && n < 1024; i++)
        if (r->record[i].unit[0] == axis && !isnan(r->record[i].value[0])) y[n++] = r->record[i].value[0];
    rep_sort(y, n);
    if (n == 0) return;
    p.y0 = pow(10, floor(log10(fmax(y[0], 1e-5))));
    p.y1 = pow(10, ceil(log10(fmax(y[n - 1], 1e-4))));
    if (axis == 'n')
        plot_title(&p, "processor seconds against n, l = %u", s->n_columns);
    else
        plot_title(&p, "processor seconds against l, n = %u", (unsigned)s->n_rows);
    plot_y_axis(&p, 4);
    plot_x_axis(&p, 5);
    size_t n_labels = draw_curves(&p, r, axis, label);
    spread_labels(label, n_labels, 12.5);
    for (size_t i = 0; i < n_labels; i++) {
        bool own = label[i].method == N_METHODS - 1;
        chart_line(out, "grid", label[i].x + 3, label[i].y, p.left + p.width + 14, label[i].at);
        chart_text(out, own ? "n b" : "n", p.left + p.width + 17, label[i].at + 3.5, "%s",
                   rep_method_names[label[i].method]);
    }
}

static int draw(const rep_job *job, const rep_results *r)
{
    rep_file f;
    sizes rows = sizes_of(job, 'n'), columns = sizes_of(job, 'l');
    int code = rep_file_open(job, "time.svg", &f);
    if (code != CODE_DONE) return code;
    chart_open(f.out, 1000, 440, "Seconds of every method against rows and against attributes");
    draw_axis_panel(f.out, r, &rows, 'n', 50);
    draw_axis_panel(f.out, r, &columns, 'l', 550);
    chart_close(f.out);
    return rep_file_close(&f);
}

static void put_row(FILE *page, const rep_results *r, size_t m)
{
    fprintf(page, "<tr><th scope=\"row\">%s</th>", rep_method_names[m]);
    for (int axis = 0; axis < 2; axis++) {
        char unit[24];
        double x[64], y[64];
        snprintf(unit, sizeof unit, "%c %s", axis == 0 ? 'n' : 'l', rep_method_ids[m]);
        size_t n = rep_collect(r, unit, rep_method_ids[m], 0, y, 64);
        rep_collect(r, unit, rep_method_ids[m], -1, x, 64);
        if (n == 0) {
            fputs("<td>-</td><td>-</td><td>-</td>", page);
            continue;
        }
        double slope = n > 1 && y[0] > 0 ? log(y[n - 1] / y[0]) / log(x[n - 1] / x[0]) : (double)NAN;
        fprintf(page, "<td>%.0f</td><td>%.3g s</td>", x[n - 1], y[n - 1]);
        rep_number_cell(page, "", "%.2f", slope);
    }
    fputs("</tr>\n", page);
}

static void tell(const rep_job *job, const rep_results *r, FILE *page)
{
    fputs("<p>Independent, uniform columns with five values, k = 5, one random start, one thread, the whole "
          "call timed once, in seconds of the processor. Methods that compare every pair of attributes grow "
          "with l²; a point that would "
          "pass the cap stated in the settings below was left out, with all larger ones. The exponent is the "
          "slope between the first and the last point: 1 is linear.</p>\n<div class=\"wide\"><table>\n"
          "<tr><th></th><th>largest n</th><th>time</th><th>exponent</th><th>largest l</th><th>time</th>"
          "<th>exponent</th></tr>\n",
          page);
    for (size_t m = 0; m < N_METHODS; m++) put_row(page, r, m);
    fputs("</table></div>\n", page);
    rep_inline(job, "time.svg", page);
}

const rep_experiment rep_time = {
    .name = "time",
    .title = "Execution time",
    .columns = {"axis_and_method", "method", "size", "cpu_seconds", "seconds", "passes", NULL},
    .needs_data = false,
    .describe = describe,
    .list = list,
    .run = run,
    .draw = draw,
    .tell = tell};
