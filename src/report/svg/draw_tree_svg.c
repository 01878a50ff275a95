/* An order tree as a self-contained SVG: one line a value, distances from the root to scale.
 *
 *     clusters   share   tree and names
 *     [##|===]  42.0 %   o red
 *     [#|====]  21.0 %   +---o orange          x grows with the length of the path from the root,
 *     [======]   3.1 %   |   +------o yellow   every value has a line of its own, so that names, which
 *     [###|==]  10.0 %   +------o blue         stand to the right of everything, overlap nothing.
 *
 * An edge too short to be seen is drawn dashed, with a minimum length. In a page the page says which attribute the tree
 * belongs to and which colour is which cluster, so an embedded drawing has neither heading nor legend. */
#include "../../core/utf8.h"
#include "../../score/contingency.h"
#include "../draw_tree.h"
#include "svg_out.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_TOLD = 8, /* with twice as many clusters the hover text lists only the larger shares */
    MARGIN = 16,
    BAR_WIDTH = 120,
    SHARE_END = MARGIN + BAR_WIDTH + 54, /* right end of the percentages */
    TREE_LEFT = SHARE_END + 22,
    TREE_WIDTH = 420,      /* of the longest path if no edge has to be stretched; trees of many values get */
    TREE_WIDTH_MOST = 900, /* more, so that fewer edges have to be */
    TREE_WIDTH_SHARED = 640, /* where all trees of a page have one scale */
    LEAST_GAP = 8,           /* between two circles: enough to see a dash */
    SAMPLE = 20,             /* of a dashed line, for the footer */
    LINE = 22,
    COLUMN = 9, /* width allowed for a character */
    LEGEND_TOP = 62,
    KEYS_LEFT = 56,
    SMALL_TEXT = 42, /* room an edge needs to carry its length */
    MOST_SAID = 6,   /* edges told to a screen reader */
    MOST_LABEL = 1200
};
static const double MOST_RADIUS = 8, LEAST_RADIUS = 2.5;

typedef struct svg_layout {
    cofi_blocks own;
    bool *kept;         /* per value: drawn */
    uint32_t *anchor;   /* per value: itself or its nearest drawn ancestor */
    uint32_t *row;      /* per value, if drawn */
    uint32_t *last_row; /* of its children; its own row if it has none */
    double *path;       /* per value: length from the root */
    double *x;          /* per value, if drawn */
    uint32_t n_rows;
    double tree_width;
    double scale;   /* pixels per length; 0 if every length is 0 */
    double biggest; /* largest count drawn */
    double top;     /* of the first row */
    double width, height;
    bool stretched; /* some edge is longer than its length */
} svg_layout;

/* The root and the most frequent values. */
static void choose_values(svg_layout *l, const cofi_tree_drawing *d, cofi_cell *rank)
{
    uint32_t n = d->tree.n;
    for (uint32_t v = 0; v < n; v++) {
        uint64_t bits; /* of numbers >= 0: ordered like the numbers */
        memcpy(&bits, &d->count[v], sizeof bits);
        rank[v] = (cofi_cell){~bits, v};
    }
    cofi_cells_sort(rank, n);
    if (n > 0) l->kept[d->tree.order[0]] = true;
    for (uint32_t i = 0, n_kept = 1; i < n && n_kept < d->most_rows; i++) {
        if (!l->kept[rank[i].n]) n_kept++;
        l->kept[rank[i].n] = true;
    }
}

/* Rows in the tree's order; a value whose parent is left out hangs from the nearest ancestor that is not.
 * Values outside the tree are further roots, and have no children. */
static void place_rows(svg_layout *l, const cofi_tree_drawing *d)
{
    for (uint32_t i = 0; i < d->tree.n; i++) {
        uint32_t v = d->tree.order[i], parent = d->tree.parent[v];
        bool is_root = parent == COFI_NO_PARENT;
        l->path[v] = is_root ? 0 : l->path[parent] + d->tree.length[v];
        l->anchor[v] = l->kept[v] || is_root ? v : l->anchor[parent];
        if (!l->kept[v]) continue;
        l->row[v] = l->last_row[v] = l->n_rows++;
        if (!is_root) l->last_row[l->anchor[parent]] = l->row[v];
        if (d->count[v] > l->biggest) l->biggest = d->count[v];
    }
}

/* Area by frequency. */
static double radius_of(const svg_layout *l, double count)
{
    return l->biggest > 0 ? fmax(LEAST_RADIUS, MOST_RADIUS * sqrt(count / l->biggest)) : LEAST_RADIUS;
}

static void set_scale(svg_layout *l, const cofi_tree_drawing *d)
{
    double longest = 0;
    for (uint32_t v = 0; v < d->tree.n; v++)
        if (l->kept[v] && l->path[v] > longest) longest = l->path[v];
    bool shared = d->longest > 0;
    l->tree_width = shared ? TREE_WIDTH_SHARED : fmin(TREE_WIDTH + 5 * (double)l->n_rows, TREE_WIDTH_MOST);
    if (shared) longest = d->longest;
    l->scale = longest > 0 ? l->tree_width / longest : 0;
    l->width = TREE_LEFT + (shared ? l->tree_width / 2 : l->tree_width); /* at least, for the scale's bar */
}

/* Pixels between a value and the drawn one it hangs from; *stretched if that is more than its length. */
static double edge_width(const svg_layout *l, const double *count, uint32_t v, uint32_t up, bool *stretched)
{
    double true_width = (l->path[v] - l->path[up]) * l->scale;
    double least = radius_of(l, count[v]) + radius_of(l, count[up]) + LEAST_GAP;
    *stretched = true_width < least;
    return *stretched ? least : true_width;
}

static void place_columns(svg_layout *l, const cofi_tree_drawing *d)
{
    for (uint32_t i = 0; i < d->tree.n; i++) {
        char name[COFI_SHOWN_BYTES];
        uint32_t v = d->tree.order[i], parent = d->tree.parent[v];
        bool stretched = false;
        if (!l->kept[v]) continue;
        l->x[v] = TREE_LEFT;
        if (parent != COFI_NO_PARENT) {
            uint32_t up = l->anchor[parent];
            l->x[v] = l->x[up] + edge_width(l, d->count, v, up, &stretched);
            l->stretched = l->stretched || stretched;
        }
        double columns = cofi_utf8_columns(cofi_tree_name(d, name, v));
        l->width = fmax(l->width, l->x[v] + MOST_RADIUS + 6 + COLUMN * columns + MARGIN);
    }
}

static double y_of(const svg_layout *l, uint32_t row)
{
    return l->top + LINE * ((double)row + 0.5);
}

/* ---- The drawing ----------------------------------------------------------------------------------- */

static uint32_t keys_per_line(const svg_layout *l)
{
    return (uint32_t)((l->width - 2 * MARGIN - KEYS_LEFT) / COFI_KEY);
}

/* What a screen reader says: the edges too, where they are few. */
static void describe(const cofi_tree_drawing *d, const char *name, char label[MOST_LABEL])
{
    char from[COFI_SHOWN_BYTES], to[COFI_SHOWN_BYTES];
    int n = snprintf(label, MOST_LABEL, "Order tree of %s, %u values", name, d->view.n_values);
    if (d->n_edges > MOST_SAID) return;
    for (size_t e = 0; e < d->n_edges && n < MOST_LABEL; e++)
        n += snprintf(label + n, (size_t)(MOST_LABEL - n), "%s %s to %s %d.%02d", e == 0 ? ":" : ",",
                      cofi_shown(from, cof_model_value(d->model, d->attribute, d->edges[e].u), 24),
                      cofi_shown(to, cof_model_value(d->model, d->attribute, d->edges[e].v), 24),
                      (int)lround(100 * d->edges[e].length) / 100,
                      (int)lround(100 * d->edges[e].length) % 100);
}

static void draw_head(cofi_tree_drawing *d, const svg_layout *l)
{
    cofi_out *out = &d->out;
    char name[COFI_SHOWN_BYTES], label[MOST_LABEL];
    cofi_shown(name, d->view.name, 2 * COFI_NAME_COLUMNS);
    describe(d, name, label);
    cofi_svg_open(out, l->width, l->height, label, !d->embedded);
    if (d->embedded) return;
    cofi_svg_text(out, "cof-head", MARGIN, 28, name);
    cofi_svg_text_start(out, "cof-note", MARGIN, 46);
    cofi_out_format(out, "%u value%s", d->view.n_values, d->view.n_values == 1 ? "" : "s");
    if (!d->view.used) cofi_out_text(out, ", constant: takes no part in the distances");
    if (l->n_rows < d->view.n_values) cofi_out_format(out, ", the %u most frequent drawn", l->n_rows);
    cofi_out_text(out, "</text>\n");
    uint32_t k = cof_model_k(d->model), n_lines = cofi_svg_keys(out, k, keys_per_line(l), MARGIN, LEGEND_TOP);
    if (k > COFI_COLOURS)
        cofi_svg(out,
                 "<text class=\"cof-note\" x=\"%r\" y=\"%r\">and %u more; colours repeat, hover over a line "
                 "to read "
                 "its clusters</text>\n",
                 (double)(MARGIN + KEYS_LEFT), LEGEND_TOP + COFI_KEY_LINE * (double)n_lines + 9,
                 k - COFI_COLOURS);
}

/* What hovering tells: everything the line shows, in numbers. */
static void title(cofi_tree_drawing *d, uint32_t v)
{
    cofi_out *out = &d->out;
    uint32_t k = cof_model_k(d->model), up = d->tree.parent[v];
    char name[COFI_SHOWN_BYTES], share[COFI_PERCENT_BYTES];
    cofi_out_put(out, "<title>%x: %g rows,%x",
                 cofi_shown(name, cof_model_value(d->model, d->attribute, v), 100), d->count[v],
                 cofi_percent(share, d->count[v], d->total));
    if (up != COFI_NO_PARENT)
        cofi_out_put(out, "&#10;%3f from %x", d->tree.length[v], cofi_tree_name(d, name, up));
    uint32_t told = 0, held = 0;
    for (uint32_t j = 0; j < k; j++) {
        double count = cof_model_count(d->model, d->attribute, v, j);
        held += count > 0;
        if (!(count > 0) || (k > 2 * MOST_TOLD && count * 2 * MOST_TOLD < d->count[v])) continue;
        cofi_out_put(out, "&#10;cluster %u:%x", j + 1, cofi_percent(share, count, d->count[v]));
        told++;
    }
    if (told < held) cofi_out_format(out, "&#10;and %u clusters with less", held - told);
    cofi_out_text(out, "</title>");
}

/* How the rows with a value are spread over the clusters: the point of the order tree is that neighbours
 * look alike here. Returns the cluster with most of them. */
static uint32_t share_bar(cofi_tree_drawing *d, uint32_t v, double y)
{
    uint32_t k = cof_model_k(d->model), most = 0;
    double x = MARGIN, best = -1;
    char share[COFI_PERCENT_BYTES];
    for (uint32_t j = 0; j < k; j++) {
        double count = cof_model_count(d->model, d->attribute, v, j);
        double width = d->count[v] > 0 ? BAR_WIDTH * count / d->count[v] : 0;
        if (width > 0) cofi_svg_rectangle(&d->out, j, x, y - 5, width, 10);
        x += width;
        if (count > best) most = j;
        if (count > best) best = count;
    }
    cofi_svg_text(&d->out, "cof-note cof-end", SHARE_END, y + 4, cofi_percent(share, d->count[v], d->total));
    return most;
}

static void value_line(cofi_tree_drawing *d, const svg_layout *l, uint32_t v)
{
    cofi_out *out = &d->out;
    char name[COFI_SHOWN_BYTES];
    double y = y_of(l, l->row[v]), radius = radius_of(l, d->count[v]);
    cofi_out_text(out, "<g>");
    title(d, v);
    uint32_t most = d->view.used ? share_bar(d, v, y) : 0;
    if (d->tree.parent[v] != COFI_NO_PARENT) {
        uint32_t up = l->anchor[d->tree.parent[v]];
        bool stretched;
        double width = edge_width(l, d->count, v, up, &stretched);
        cofi_svg_line(out, stretched ? "cof-dash" : NULL, l->x[up], y, l->x[v], y);
        if (width >= SMALL_TEXT)
            cofi_svg(out, "<text class=\"cof-length\" x=\"%r\" y=\"%r\">%3f</text>", (l->x[up] + l->x[v]) / 2,
                     y - 3, l->path[v] - l->path[up]);
    }
    cofi_svg_circle_start(out, most, l->x[v], y, radius);
    cofi_out_text(out, "</circle>");
    cofi_svg_text(out, "cof-name", l->x[v] + radius + 6, y + 4.5, cofi_tree_name(d, name, v));
    cofi_out_text(out, "</g>\n");
}

/* The rows of the values, a parent joined with its children by a line down. */
static void draw_rows(cofi_tree_drawing *d, const svg_layout *l)
{
    for (uint32_t v = 0; v < d->tree.n; v++)
        if (l->kept[v] && l->last_row[v] > l->row[v])
            cofi_svg_line(&d->out, NULL, l->x[v], y_of(l, l->row[v]), l->x[v], y_of(l, l->last_row[v]));
    cofi_out_text(&d->out, "\n");
    for (uint32_t i = 0; i < d->tree.n; i++)
        if (l->kept[d->tree.order[i]]) value_line(d, l, d->tree.order[i]);
}

/* A round length (1, 2 or 5 times a power of ten) of at most a third of the drawing. */
static void scale_bar(cofi_tree_drawing *d, const svg_layout *l, double y)
{
    cofi_out *out = &d->out;
    double most = l->tree_width / 3 / l->scale, unit = pow(10, floor(log10(most)));
    double length = unit * (5 * unit <= most   ? 5
                            : 2 * unit <= most ? 2
                                               : 1),
           end = TREE_LEFT + length * l->scale;
    cofi_svg_line(out, NULL, TREE_LEFT, y, end, y);
    cofi_svg_line(out, NULL, TREE_LEFT, y - 4, TREE_LEFT, y + 4);
    cofi_svg_line(out, NULL, end, y - 4, end, y + 4);
    cofi_svg(out, "<text class=\"cof-note\" x=\"%r\" y=\"%r\">length %g</text>\n", end + 8, y + 4, length);
}

static void draw_foot(cofi_tree_drawing *d, const svg_layout *l)
{
    cofi_out *out = &d->out;
    double y = y_of(l, l->n_rows) + 8;
    if (l->scale > 0) scale_bar(d, l, y);
    if (l->stretched) {
        cofi_svg_line(out, "cof-dash", MARGIN, y, MARGIN + SAMPLE, y);
        cofi_svg_text(out, "cof-note", MARGIN + SAMPLE + 6, y + 4,
                      l->scale > 0 ? "too short for scale" : "length 0");
    }
    if (l->n_rows < d->view.n_values)
        cofi_svg(
            out,
            "<text class=\"cof-note\" x=\"%r\" y=\"%r\">%u rarer values are left out; edges may pass through "
            "some of them</text>",
            (double)MARGIN, y + 22, d->view.n_values - l->n_rows);
    cofi_out_text(out, "\n");
}

cof_status cofi_draw_tree_svg(cofi_tree_drawing *d, cof_error *err)
{
    uint32_t n = d->tree.n, k = cof_model_k(d->model);
    svg_layout l = {.own = {.env = d->env}};
    l.kept = cofi_blocks_add_zero(&l.own, n, sizeof *l.kept);
    l.anchor = cofi_blocks_add(&l.own, n, sizeof *l.anchor);
    l.row = cofi_blocks_add(&l.own, n, sizeof *l.row);
    l.last_row = cofi_blocks_add(&l.own, n, sizeof *l.last_row);
    l.path = cofi_blocks_add(&l.own, n, sizeof *l.path);
    l.x = cofi_blocks_add(&l.own, n, sizeof *l.x);
    cofi_cell *rank = cofi_blocks_add(&l.own, n, sizeof *rank);
    cof_status status = cofi_blocks_status(&l.own, err);
    if (status == COF_OK) {
        choose_values(&l, d, rank);
        place_rows(&l, d);
        set_scale(&l, d);
        place_columns(&l, d);
        uint32_t n_lines = cofi_svg_keys(NULL, k, keys_per_line(&l), 0, 0) + (k > COFI_COLOURS);
        l.top = d->embedded ? 4 : LEGEND_TOP + COFI_KEY_LINE * (double)n_lines + 6;
        l.height = y_of(&l, l.n_rows) + (l.n_rows < d->view.n_values ? 44 : 24);
        draw_head(d, &l);
        draw_rows(d, &l);
        draw_foot(d, &l);
        cofi_svg_close(&d->out);
    }
    cofi_blocks_release(&l.own);
    return status;
}
