/* Mean ranks on an axis, after Demsar (2006): best on the left, names below on two sides, and a bar over the
 * ranks that do not differ from the control's at the chosen level. */
#include "svg_out.h"

#include <math.h>

enum { WIDTH = 760, SIDE = 190, AXIS_TOP = 74, FIRST_NAME = 112, LINE = 22, MOST_METHODS = 200 };

typedef struct axis {
    double least, most; /* whole ranks at its ends */
} axis;

static double x_of(const axis *a, double rank)
{
    return SIDE + (WIDTH - 2 * SIDE) * (rank - a->least) / (a->most - a->least);
}

static void draw_axis(cofi_out *out, const axis *a)
{
    int step = a->most - a->least > 20 ? 5 : 1;
    cofi_svg_line(out, NULL, x_of(a, a->least), AXIS_TOP, x_of(a, a->most), AXIS_TOP);
    for (int rank = (int)a->least; rank <= (int)a->most; rank += step) {
        cofi_svg_line(out, NULL, x_of(a, rank), AXIS_TOP - 6, x_of(a, rank), AXIS_TOP);
        cofi_svg_text_start(out, "cof-note cof-mid", x_of(a, rank), AXIS_TOP - 10);
        cofi_out_format(out, "%d</text>", rank);
    }
    cofi_out_text(out, "\n");
}

/* From the control to the last rank that does not differ, as far as the axis reaches. */
static void draw_range(cofi_out *out, const axis *a, double control, double difference)
{
    double from = fmax(control - difference, a->least), to = fmin(control + difference, a->most);
    cofi_svg_line(out, "cof-bold", x_of(a, from), AXIS_TOP + 12, x_of(a, to), AXIS_TOP + 12);
    cofi_svg_text_start(out, "cof-note", 16, 24);
    cofi_out_text(out, "mean rank, 1 is best; under the bar nothing differs from the control, * (critical "
                       "difference ");
    cofi_out_fixed(out, difference, 0, 4);
    cofi_out_text(out, ")</text>\n");
}

/* Better half to the left, outermost name on top, so that no two lines cross. */
static void draw_method(cofi_out *out, const axis *a, const char *name, double rank, size_t place, size_t n,
                        bool control)
{
    char shown[COFI_SHOWN_BYTES];
    size_t half = (n + 1) / 2;
    bool left = place < half;
    double y = FIRST_NAME + LINE * (double)(left ? place : n - 1 - place);
    double x = x_of(a, rank), end = left ? SIDE - 10 : WIDTH - SIDE + 10;
    cofi_svg_line(out, NULL, x, AXIS_TOP, x, y);
    cofi_svg_line(out, NULL, x, y, end, y);
    cofi_svg_text_start(out, left ? "cof-end" : "cof-start", left ? end - 6 : end + 6, y + 4.5);
    cofi_out_xml(out, cofi_shown(shown, name, 14));
    cofi_out_text(out, " ");
    cofi_out_fixed(out, rank, 0, 2);
    cofi_out_text(out, control ? " *</text>\n" : "</text>\n");
}

static void sort_by_rank(size_t *order, const double *rank, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && rank[order[at - 1]] > rank[i]; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

cof_status cof_draw_ranks(const cof_env *env, const char *const *names, const double *mean_rank,
                          size_t n_methods, size_t control, double critical_difference, cof_sink sink,
                          void *ctx, cof_error *err)
{
    if (names == NULL || mean_rank == NULL || sink == NULL || n_methods < 2 || n_methods > MOST_METHODS)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "a diagram of ranks needs 2 to %d named methods and a sink; it was given %zu",
                         (int)MOST_METHODS, n_methods);
    cof_env own = cofi_env_resolve(env);
    size_t *order = cofi_alloc(&own, n_methods, sizeof *order);
    if (order == NULL) return cofi_no_memory(err);
    sort_by_rank(order, mean_rank, n_methods);
    if (control >= n_methods) control = order[0];
    axis a = {floor(mean_rank[order[0]]), ceil(mean_rank[order[n_methods - 1]])};
    if (a.most <= a.least) a.most = a.least + 1;
    cofi_out out;
    cofi_out_init(&out, sink, ctx);
    cofi_svg_open(&out, WIDTH, FIRST_NAME + LINE * (double)((n_methods + 1) / 2), "Mean ranks of the methods",
                  true);
    draw_axis(&out, &a);
    if (isfinite(critical_difference)) draw_range(&out, &a, mean_rank[control], critical_difference);
    for (size_t i = 0; i < n_methods; i++)
        draw_method(&out, &a, names[order[i]], mean_rank[order[i]], i, n_methods, order[i] == control);
    cofi_svg_close(&out);
    cofi_release(&own, order);
    return cofi_out_finish(&out, err);
}
