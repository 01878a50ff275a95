/* A map of rows as SVG: one circle a distinct row, its area by how many rows it stands for, its colour by
 * cluster, its name on hover. */
#include "draw_map.h"

#include "../../core/utf8.h"
#include "../../model/model.h"

#include <math.h>
#include <stdio.h>

enum {
    WIDTH = 1088,
    MOST_HEIGHT = 760,
    MARGIN = 18,
    LEGEND_TOP = 30,
    KEYS = 14, /* to a line of the legend */
    NAME_COLUMNS = 60,
    FEW_POINTS =
        150, /* named on the screen; names of more points are for paper, where nothing can be hovered */
    MOST_NAMES = 300,
    DRAWN_COLUMNS = 18 /* of a name beside its point */
};
static const double LEAST_RADIUS = 3.2, MOST_RADIUS = 11, COLUMN = 6.2, NAME_HEIGHT = 11;

size_t cofi_names_column(const cof_table *table)
{
    for (size_t c = 0; c < cof_table_n_columns(table); c++) {
        cof_column view = {.struct_size = sizeof view};
        if (cof_table_column(table, c, &view) == COF_OK && view.role == COF_ROLE_IDENTIFIER) return c;
    }
    return SIZE_MAX;
}

typedef struct frame {
    double left, top, scale,
        shift;   /* pixels: MARGIN + (x - left) * scale; shift: of the whole map, downwards */
    bool turned; /* x and y change places, so that the longer side lies along the page */
    double width, height;
    uint64_t most_rows;
} frame;

/* Both axes have one scale, since only nearness counts; the map fills the width or the most height. */
static frame frame_of(const cof_map_point *p, size_t n, double shift)
{
    double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
    frame f = {.width = WIDTH, .shift = shift, .most_rows = 1};
    for (size_t i = 0; i < n; i++) {
        least[0] = fmin(least[0], p[i].x), most[0] = fmax(most[0], p[i].x);
        least[1] = fmin(least[1], p[i].y), most[1] = fmax(most[1], p[i].y);
        if (p[i].n_rows > f.most_rows) f.most_rows = p[i].n_rows;
    }
    f.turned = most[1] - least[1] > most[0] - least[0];
    double wide = most[f.turned] - least[f.turned], tall = most[!f.turned] - least[!f.turned];
    double across = WIDTH - 2 * MARGIN, down = MOST_HEIGHT - 2 * MARGIN;
    f.scale = wide > 0 ? fmin(across / wide, tall > 0 ? down / tall : INFINITY) : 1;
    f.left = least[f.turned] - (across / f.scale - wide) / 2; /* in the middle */
    f.top = least[!f.turned];
    f.height = shift + 2 * MARGIN + fmax(tall * f.scale, 60);
    return f;
}

static double x_of(const frame *f, const cof_map_point *p)
{
    return MARGIN + ((f->turned ? p->y : p->x) - f->left) * f->scale;
}

static double y_of(const frame *f, const cof_map_point *p)
{
    return f->shift + MARGIN + ((f->turned ? p->x : p->y) - f->top) * f->scale;
}

static double radius_of(const frame *f, const cof_map_point *p)
{
    if (f->most_rows == 1) return 4.5;
    return fmax(LEAST_RADIUS, MOST_RADIUS * sqrt((double)p->n_rows / (double)f->most_rows));
}

static void draw_point(cofi_out *out, const cofi_map_drawing *d, const frame *f, const cof_map_point *p)
{
    char name[COFI_SHOWN_BYTES];
    int32_t label = d->label[p->row];
    cofi_svg_circle_start(out, label >= 0 ? (uint32_t)label : COFI_HUES - 1, x_of(f, p), y_of(f, p),
                          radius_of(f, p));
    cofi_out_text(out, "<title>");
    if (d->names != SIZE_MAX) {
        uint32_t code = cof_table_code(d->table, (size_t)p->row, d->names);
        cofi_out_put(out, "%x, ", cofi_shown(name, cof_table_value(d->table, d->names, code), NAME_COLUMNS));
    }
    cofi_out_format(out, "row %llu", (unsigned long long)cof_table_row_number(d->table, (size_t)p->row) + 1);
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

/* ---- Names ------------------------------------------------------------------------------------------- */

typedef struct box {
    double left, top, right, bottom;
} box;

static bool meet(const box *a, const box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static box box_around(double x, double y, double width, double height)
{
    return (box){x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

/* The name of a point's row and how many more rows are equal; without names the row's number. */
static double name_of(const cofi_map_drawing *d, const cof_map_point *p, char text[COFI_SHOWN_BYTES])
{
    char more[24] = "";
    if (p->n_rows > 1) snprintf(more, sizeof more, " +%llu", (unsigned long long)p->n_rows - 1);
    if (d->names != SIZE_MAX)
        cofi_shown(text,
                   cof_table_value(d->table, d->names, cof_table_code(d->table, (size_t)p->row, d->names)),
                   DRAWN_COLUMNS);
    else
        snprintf(text, COFI_SHOWN_BYTES, "%llu",
                 (unsigned long long)cof_table_row_number(d->table, (size_t)p->row) + 1);
    strncat(text, more, COFI_SHOWN_BYTES - strlen(text) - 1);
    return COLUMN * cofi_utf8_columns(text) + 2;
}

/* Room for a name beside, above or below its point, or at a corner of it, where it covers neither a circle nor another name. */
static bool find_room(const cofi_map_drawing *d, const frame *f, size_t at, double width, const box *taken,
                      size_t n_taken, box *room)
{
    size_t n;
    const cof_map_point *p = cof_map_points(d->map, &n);
    double x = x_of(f, &p[at]), y = y_of(f, &p[at]), r = radius_of(f, &p[at]) + 2;
    const box places[] = {box_around(x + r + width / 2, y, width, NAME_HEIGHT),
                          box_around(x - r - width / 2, y, width, NAME_HEIGHT),
                          box_around(x, y - r - NAME_HEIGHT / 2, width, NAME_HEIGHT),
                          box_around(x, y + r + NAME_HEIGHT / 2, width, NAME_HEIGHT),
                          box_around(x + width / 2, y - r - NAME_HEIGHT / 2, width, NAME_HEIGHT),
                          box_around(x - width / 2, y - r - NAME_HEIGHT / 2, width, NAME_HEIGHT),
                          box_around(x + width / 2, y + r + NAME_HEIGHT / 2, width, NAME_HEIGHT),
                          box_around(x - width / 2, y + r + NAME_HEIGHT / 2, width, NAME_HEIGHT)};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        *room = places[i];
        bool is_free =
            room->left > 0 && room->right < f->width && room->top > f->shift && room->bottom < f->height;
        for (size_t other = 0; other < n && is_free; other++) {
            double side = 2 * radius_of(f, &p[other]);
            box circle = box_around(x_of(f, &p[other]), y_of(f, &p[other]), side, side);
            is_free = other == at || !meet(room, &circle);
        }
        for (size_t other = 0; other < n_taken && is_free; other++) is_free = !meet(room, &taken[other]);
        if (is_free) return true;
    }
    return false;
}

/* Of many points some, spread evenly over them. */
static void draw_names(cofi_out *out, const cofi_map_drawing *d, const frame *f)
{
    box taken[MOST_NAMES];
    size_t n, n_taken = 0;
    const cof_map_point *p = cof_map_points(d->map, &n);
    if (d->names == SIZE_MAX && n > FEW_POINTS) return;
    size_t step = n / MOST_NAMES + 1;
    cofi_out_format(out, "<g class=\"cof-name%s\">\n", n > FEW_POINTS ? " cof-paper" : "");
    for (size_t i = 0; i < n && n_taken < MOST_NAMES; i += step) {
        char text[COFI_SHOWN_BYTES];
        double width = name_of(d, &p[i], text);
        box *room = &taken[n_taken];
        if (!find_room(d, f, i, width, taken, n_taken, room)) continue;
        cofi_svg_text(out, "cof-mid", (room->left + room->right) / 2, room->bottom - 2, text);
        n_taken++;
    }
    cofi_out_text(out, "</g>\n");
}

void cofi_draw_map(cofi_out *out, const cofi_map_drawing *d)
{
    size_t n;
    const cof_map_point *p = cof_map_points(d->map, &n);
    double legend = LEGEND_TOP + COFI_KEY_LINE * (double)cofi_svg_keys(NULL, d->k, KEYS, 0, 0);
    frame f = frame_of(p, n, d->alone ? legend : 0);
    char label[160];
    snprintf(label, sizeof label,
             "Map of %zu distinct rows in %u clusters, one circle for each, coloured by cluster; similar "
             "rows lie together",
             n, d->k);
    cofi_svg_open(out, f.width, f.height, label, d->alone);
    if (d->alone) {
        cofi_svg_text_start(out, "cof-note", MARGIN, 20);
        cofi_out_format(out, "%zu", n);
        if (cof_map_n_distinct(d->map) > n)
            cofi_out_format(out, " of %llu", (unsigned long long)cof_map_n_distinct(d->map));
        cofi_out_text(out, " distinct rows; similar rows lie together (t-SNE)</text>\n");
        cofi_svg_keys(out, d->k, KEYS, MARGIN, LEGEND_TOP);
    }
    cofi_out_text(out, "<g class=\"cof-map\">\n");
    for (int32_t j = -1; j < (int32_t)d->k; j++) draw_cluster(out, d, &f, j);
    cofi_out_text(out, "</g>\n");
    draw_names(out, d, &f);
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
