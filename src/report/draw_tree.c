/* Drawings of one order tree: indented text, Graphviz, JSON; the SVG has its own file. */
#include "draw_tree.h"

#include "../model/model.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST_LEVELS = 60 /* deeper values are not moved further to the right but say how deep they are */
};

const char *cofi_tree_name(const cofi_tree_drawing *d, char to[COFI_SHOWN_BYTES], uint32_t value)
{
    return cofi_shown(to, cof_model_value(d->model, d->attribute, value), COFI_NAME_COLUMNS);
}

const char *cofi_percent(char to[COFI_PERCENT_BYTES], double part, double whole)
{
    double percent = whole > 0 ? 100 * part / whole : 0;
    unsigned tenths = (unsigned)lround(10 * fmin(percent, 100));
    if (percent > 0 && tenths == 0)
        snprintf(to, COFI_PERCENT_BYTES, " <0.1 %%");
    else
        snprintf(to, COFI_PERCENT_BYTES, "%3u.%u %%", tenths / 10, tenths % 10);
    return to;
}

/* ---- Text ------------------------------------------------------------------------------------------ */

/* Marks for one level of indentation; trees that go deep get narrower ones, so that a line still fits. */
typedef struct marks {
    const char *child, *last_child, *passing, *nothing;
} marks;

static const marks *marks_for(const cofi_rooted_tree *t)
{
    static const marks wide = {"├─ ", "└─ ", "│  ", "   "}, narrow = {"├ ", "└ ", "│ ", "  "},
                       tight = {"├", "└", "│", " "};
    uint32_t deepest = 0;
    for (uint32_t v = 0; v < t->n; v++)
        if (t->depth[v] > deepest) deepest = t->depth[v];
    return deepest <= 12 ? &wide : deepest <= 25 ? &narrow : &tight;
}

/* open[l]: the branch at level l goes on below this line. */
static void indent(cofi_out *out, const marks *m, const bool *open, uint32_t depth, bool is_last)
{
    if (depth == 0) return;
    uint32_t drawn = depth < MOST_LEVELS ? depth : MOST_LEVELS;
    for (uint32_t level = 1; level < drawn; level++)
        cofi_out_text(out, open[level] ? m->passing : m->nothing);
    if (drawn < depth) cofi_out_format(out, "[level %u] ", depth);
    cofi_out_text(out, is_last ? m->last_child : m->child);
}

static void text_line(cofi_tree_drawing *d, const marks *m, bool *open, uint32_t v)
{
    char name[COFI_SHOWN_BYTES], share[COFI_PERCENT_BYTES];
    const cofi_rooted_tree *t = &d->tree;
    if (d->view.used) {
        if (t->depth[v] > 0)
            cofi_out_fixed(&d->out, t->length[v], 6, 3);
        else
            cofi_out_text(&d->out, "      ");
        cofi_out_put(&d->out, "  %s  ", cofi_percent(share, d->count[v], d->total));
    }
    indent(&d->out, m, open, t->depth[v], t->is_last[v]);
    cofi_out_put(&d->out, "%s\n", cofi_tree_name(d, name, v));
    if (t->depth[v] < MOST_LEVELS) open[t->depth[v]] = !t->is_last[v];
}

static void draw_text(cofi_tree_drawing *d)
{
    bool open[MOST_LEVELS] = {false};
    const marks *m = marks_for(&d->tree);
    char name[COFI_SHOWN_BYTES];
    cofi_out_text(&d->out, cofi_shown(name, d->view.name, 2 * COFI_NAME_COLUMNS));
    cofi_out_format(&d->out, ": %u value%s", d->view.n_values, d->view.n_values == 1 ? "" : "s");
    if (!d->view.used) cofi_out_text(&d->out, ", constant, takes no part in the distances");
    cofi_out_text(&d->out, d->view.used ? "\nlength    share  value\n" : "\n");
    for (uint32_t i = 0; i < d->tree.n; i++) text_line(d, m, open, d->tree.order[i]);
}

/* ---- Graphviz -------------------------------------------------------------------------------------- */

/* neato honours len, in inches, but reads 0 as "no opinion", which is 1; so the shortest edge it is told of
 * is a hundredth. The label has the true length. */
static void draw_dot(cofi_tree_drawing *d)
{
    char name[COFI_SHOWN_BYTES];
    cofi_out_text(&d->out, "graph order_tree {\n  layout=neato;\n  overlap=false;\n  label=");
    cofi_out_dot(&d->out, cofi_shown(name, d->view.name, 2 * COFI_NAME_COLUMNS));
    cofi_out_text(&d->out, ";\n  node [shape=ellipse, fontname=\"sans-serif\"];\n"
                           "  edge [fontname=\"sans-serif\", fontsize=9];\n");
    for (uint32_t v = 0; v < d->view.n_values; v++) {
        cofi_out_format(&d->out, "  v%u [label=", v);
        cofi_out_dot(&d->out, cofi_tree_name(d, name, v));
        cofi_out_put(&d->out, ", tooltip=\"%g rows\"];\n", d->count[v]);
    }
    for (size_t e = 0; e < d->n_edges; e++)
        cofi_out_put(&d->out, "  v%u -- v%u [len=%g, label=\"%3f\"];\n", d->edges[e].u, d->edges[e].v,
                     fmax(d->edges[e].length, 0.01), d->edges[e].length);
    cofi_out_text(&d->out, "}\n");
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static void draw_json(cofi_tree_drawing *d)
{
    cof_json j;
    cof_json_begin(&j, cofi_out_sink, &d->out);
    cof_json_open_line(&j, NULL, '{');
    cof_json_text(&j, "attribute", d->view.name);
    cof_json_open_line(&j, "values", '[');
    for (uint32_t v = 0; v < d->view.n_values; v++) {
        cof_json_open_line(&j, NULL, '{');
        cof_json_count(&j, "id", v);
        cof_json_text(&j, "text", cof_model_value(d->model, d->attribute, v));
        cof_json_real(&j, "count", d->count[v]);
        cof_json_close(&j, '}');
    }
    cof_json_close(&j, ']');
    cof_json_open_line(&j, "edges", '[');
    for (size_t e = 0; e < d->n_edges; e++) {
        cof_json_open_line(&j, NULL, '{');
        cof_json_count(&j, "u", d->edges[e].u);
        cof_json_count(&j, "v", d->edges[e].v);
        cof_json_real(&j, "length", d->edges[e].length);
        cof_json_close(&j, '}');
    }
    cof_json_close(&j, ']');
    cof_json_close(&j, '}');
    cof_json_end(&j);
}

/* ---- Any of them ----------------------------------------------------------------------------------- */

static cof_status gather(cofi_tree_drawing *d, cof_error *err)
{
    uint32_t k = cof_model_k(d->model);
    d->view.struct_size = sizeof d->view;
    cof_model_attribute(d->model, d->attribute, &d->view);
    d->edges = cof_model_edges(d->model, d->attribute, &d->n_edges);
    d->count = cofi_alloc_zero(&d->env, d->view.n_values, sizeof *d->count);
    if (d->count == NULL) return cofi_no_memory(err);
    for (uint32_t j = 0; j < k; j++) {
        d->total += cof_model_sizes(d->model)[j];
        for (uint32_t v = 0; v < d->view.n_values; v++)
            d->count[v] += cof_model_count(d->model, d->attribute, v, j);
    }
    return cofi_rooted_tree_build(&d->tree, &d->env, d->view.n_values, d->edges, d->n_edges, d->count, err);
}

static cof_status draw(cofi_tree_drawing *d, int32_t drawing, cof_error *err)
{
    cof_status status = gather(d, err);
    if (status == COF_OK && drawing == COF_DRAW_TEXT) draw_text(d);
    if (status == COF_OK && drawing == COF_DRAW_DOT) draw_dot(d);
    if (status == COF_OK && drawing == COF_DRAW_JSON) draw_json(d);
    if (status == COF_OK && drawing == COF_DRAW_SVG) status = cofi_draw_tree_svg(d, err);
    if (status == COF_OK) status = cofi_out_finish(&d->out, err);
    cofi_rooted_tree_free(&d->tree);
    cofi_release(&d->env, d->count);
    return status;
}

cof_status cof_model_draw_tree(const cof_model *model, size_t attribute, int32_t drawing, cof_sink sink,
                               void *ctx, cof_error *err)
{
    if (model == NULL || sink == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "cof_model_draw_tree needs a model and a sink; one is NULL");
    if (attribute >= cof_model_n_attributes(model))
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no attribute %zu (from 0); the model has %zu",
                         attribute, cof_model_n_attributes(model));
    if (drawing < COF_DRAW_TEXT || drawing > COF_DRAW_JSON)
        return cofi_fail(
            err, COF_ERR_ARGUMENT,
            "%d is not a drawing; take COF_DRAW_TEXT, COF_DRAW_DOT, COF_DRAW_SVG or COF_DRAW_JSON", drawing);
    cofi_tree_drawing d = {
        .model = model, .env = model->env, .attribute = attribute, .most_rows = COFI_TREE_ROWS};
    cofi_out_init(&d.out, sink, ctx);
    return draw(&d, drawing, err);
}

cof_status cofi_embed_tree(const cof_model *model, size_t attribute, uint32_t most_rows, double longest,
                           cof_sink sink, void *ctx, cof_error *err)
{
    cofi_tree_drawing d = {.model = model,
                           .env = model->env,
                           .attribute = attribute,
                           .most_rows = most_rows,
                           .longest = longest,
                           .embedded = true};
    cofi_out_init(&d.out, sink, ctx);
    return draw(&d, COF_DRAW_SVG, err);
}

cof_status cofi_tree_longest(const cof_model *model, size_t attribute, double *longest, cof_error *err)
{
    cofi_tree_drawing d = {.model = model, .env = model->env, .attribute = attribute};
    cof_status status = gather(&d, err);
    double *path = status == COF_OK ? cofi_alloc_zero(&d.env, d.view.n_values, sizeof *path) : NULL;
    if (status == COF_OK && path == NULL) status = cofi_no_memory(err);
    *longest = 0;
    for (uint32_t i = 0; status == COF_OK && i < d.tree.n; i++) {
        uint32_t v = d.tree.order[i], parent = d.tree.parent[v];
        if (parent != COFI_NO_PARENT) path[v] = path[parent] + d.tree.length[v];
        *longest = fmax(*longest, path[v]);
    }
    cofi_release(&d.env, path);
    cofi_rooted_tree_free(&d.tree);
    cofi_release(&d.env, d.count);
    return status;
}
