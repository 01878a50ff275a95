/* A map of rows as SVG: one circle a distinct row, its area by how many rows it stands for, its colour by
 * cluster, its name on hover. */
#include "draw_map.h"

#include "../../model/model.h"

#include <math.h>

enum { SIDE = 640, MARGIN = 18, LEGEND_TOP = 30, KEY = 36, KEY_LINE = 16, NAME_COLUMNS = 60 };
static const double LEAST_RADIUS = 3.2, MOST_RADIUS = 11;

size_t cofi_names_column(const cof_table *table)
{
    for (size_t c = 0; c < cof_table_n_columns(table); c++) {
        cof_column view = {.struct_size = sizeof view};
        if (cof_table_column(table, c, &view) == COF_OK && view.role == COF_ROLE_IDENTIFIER) return c;
    }
    return SIZE_MAX;
}

typedef struct frame {
    double left, top, scale, shift; /* x to shift-free pixels: MARGIN + (x - left) * scale */
    double width, height;
    uint64_t most_rows;
} frame;

/* The widest side of the map fills the picture; both axes have one scale, since only nearness counts. */
static frame frame_of(const cof_map_point *p, size_t n, double shift)
{
    double right = -INFINITY, bottom = -INFINITY;
    frame f = {.left = INFINITY, .top = INFINITY, .shift = shift, .most_rows = 1};
    for (size_t i = 0; i < n; i++) {
        f.left = fmin(f.left, p[i].x);
        f.top = fmin(f.top, p[i].y);
        right = fmax(right, p[i].x);
        bottom = fmax(bottom, p[i].y);
        if (p[i].n_rows > f.most_rows) f.most_rows = p[i].n_rows;
    }
    double most = fmax(right - f.left, bottom - f.top);
    f.scale = most > 0 ? (SIDE - 2 * MARGIN) / most : 1;
    f.width = SIDE;
    f.height = shift + 2 * MARGIN + (most > 0 ? fmax((bottom - f.top) * f.scale, 60) : 60);
    if (right - f.left < most) f.left -= (most - (right - f.left)) / 2; /* in the middle */
    return f;
}

static void draw_point(cofi_out *out, const cofi_map_drawing *d, const frame *f, const cof_map_point *p)
{
    char name[COFI_SHOWN_BYTES];
    int32_t label = d->label[p->row];
    double share = (double)p->n_rows / (double)f->most_rows;
    double radius = f->most_rows == 1 ? 4.5 : fmax(LEAST_RADIUS, MOST_RADIUS * sqrt(share));
    cofi_svg_circle_start(out, label >= 0 ? (uint32_t)label : COFI_HUES - 1,
                          MARGIN + (p->x - f->left) * f->scale,
                          f->shift + MARGIN + (p->y - f->top) * f->scale, radius);
    cofi_out_text(out, "<title>");
    if (d->names != SIZE_MAX) {
        uint32_t code = cof_table_code(d->table, (size_t)p->row, d->names);
        cofi_out_xml(out, cofi_shown(name, cof_table_value(d->table, d->names, code), NAME_COLUMNS));
        cofi_out_text(out, ", ");
    }
    cofi_out_format(out, "row %llu", (unsigned long long)p->row + 1);
    if (p->n_rows > 1) cofi_out_format(out, " and %llu like it", (unsigned long long)p->n_rows - 1);
    if (label >= 0)
        cofi_out_format(out, "&#10;cluster %d</title></circle>\n", label + 1);
    else
        cofi_out_text(out, "&#10;no cluster</title></circle>\n");
}

/* One group a cluster, so that a page can dim the others. */
static void draw_cluster(cofi_out *out, const cofi_map_drawing *d, const frame *f, int32_t cluster)
{
    size_t n, drawn = 0;
    const cof_map_point *p = cof_map_points(d->map, &n);
    for (size_t i = 0; i < n; i++) {
        int32_t label = d->label[p[i].row];
        if (label != cluster && !(cluster < 0 && label < 0)) continue;
        if (drawn++ == 0) cofi_out_format(out, "<g data-cluster=\"%d\">\n", cluster + 1);
        draw_point(out, d, f, &p[i]);
    }
    if (drawn > 0) cofi_out_text(out, "</g>\n");
}

static void draw_legend(cofi_out *out, uint32_t k)
{
    uint32_t shown = k < COFI_COLOURS ? k : COFI_COLOURS;
    cofi_svg_text(out, "cof-note", MARGIN, LEGEND_TOP + 9, "clusters");
    for (uint32_t j = 0; j < shown; j++) {
        double x = MARGIN + 56 + KEY * (double)(j % 14), y = LEGEND_TOP + KEY_LINE * (double)(j / 14);
        cofi_svg_rectangle(out, j, x, y, 10, 10);
        cofi_svg_text_start(out, "cof-note", x + 13, y + 9);
        cofi_out_format(out, "%u</text>", j + 1);
    }
    cofi_out_text(out, "\n");
}

static void draw_heading(cofi_out *out, const cofi_map_drawing *d, size_t n)
{
    cofi_svg_text_start(out, "cof-note", MARGIN, 20);
    cofi_out_format(out, "%zu", n);
    if (cof_map_n_distinct(d->map) > n)
        cofi_out_format(out, " of %llu", (unsigned long long)cof_map_n_distinct(d->map));
    cofi_out_text(out, " distinct rows, near ones alike (t-SNE)</text>\n");
    draw_legend(out, d->k);
}

void cofi_draw_map(cofi_out *out, const cofi_map_drawing *d)
{
    size_t n;
    const cof_map_point *p = cof_map_points(d->map, &n);
    frame f = frame_of(p, n, d->alone ? LEGEND_TOP + KEY_LINE * (d->k > 14 ? 2 : 1) : 0);
    cofi_svg_open(out, f.width, f.height, "Map of the rows, one circle a distinct row, coloured by cluster",
                  d->alone);
    if (d->alone) draw_heading(out, d, n);
    cofi_out_text(out, "<g class=\"cof-map\">\n");
    for (int32_t j = -1; j < (int32_t)d->k; j++) draw_cluster(out, d, &f, j);
    cofi_out_text(out, "</g>\n");
    cofi_svg_close(out);
}

cof_status cof_map_draw(const cof_map *map, const cof_model *model, const cof_table *table,
                        const int32_t *labels, cof_sink sink, void *ctx, cof_error *err)
{
    if (map == NULL || model == NULL || table == NULL || labels == NULL || sink == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "cof_map_draw needs a map, its model and table, labels and a sink");
    cofi_out out;
    cofi_map_drawing d = {.map = map,
                          .table = table,
                          .label = labels,
                          .k = model->k,
                          .names = cofi_names_column(table),
                          .alone = true};
    cofi_out_init(&out, sink, ctx);
    cofi_draw_map(&out, &d);
    return cofi_out_finish(&out, err);
}
