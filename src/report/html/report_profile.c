/* Attribute by attribute: shares in every cluster, the order tree, and how much the attribute tells about the clusters. */
#include "../../core/bytes.h"
#include "../draw_tree.h"
#include "report.h"

#include <math.h>

enum {
    MOST_CELLS = 30000,        /* of the profile: less than a megabyte */
    MOST_TREE_BYTES = 1500000, /* of all trees together */
    TREE_ROWS = 120,
    SMALL_TREE_ROWS = 12,
    OPEN_TREES = 4,
    FEW_COLUMNS = 16, /* shown from the start; the others are folded */
    FEW_BARS = 30,
    PAPER_COLUMNS = 8 /* printed; the others are left to the screen */
};

static void filter_box(cofi_out *out, const char *items, const char *id)
{
    cofi_out_put(
        out,
        "<p class=\"tools\" data-script hidden><label>Show only columns named <input type=\"search\" "
        "data-filter=\"%s\" data-said=\"%s-said\"></label> <span id=\"%s-said\" role=\"status\" "
        "class=\"soft\"></span></p>\n",
        items, id, id);
}

/* ---- Profile ----------------------------------------------------------------------------------------- */

/* The most frequent values of an attribute, in the order of the tree's values. */
typedef struct shown_values {
    uint32_t *value;
    double *count; /* per value of the attribute */
    uint32_t n;
} shown_values;

static double count_everywhere(const cofi_report *r, size_t attribute, uint32_t value)
{
    double count = 0;
    for (uint32_t j = 0; j < r->k; j++) count += cof_model_count(r->model, attribute, value, j);
    return count;
}

/* `most` is small: insertion into a sorted list. Then back into the order of the values. */
static void choose_values(const cofi_report *r, size_t attribute, uint32_t most, shown_values *s)
{
    s->n = 0;
    for (uint32_t v = 0; v < r->model->attr[attribute].n_values; v++) {
        double count = count_everywhere(r, attribute, v);
        uint32_t at = s->n;
        if (!(count > 0)) continue;
        while (at > 0 && s->count[at - 1] < count) at--;
        if (at == most) continue;
        uint32_t last = s->n < most ? s->n : most - 1;
        memmove(s->value + at + 1, s->value + at, (last - at) * sizeof *s->value);
        memmove(s->count + at + 1, s->count + at, (last - at) * sizeof *s->count);
        s->value[at] = v;
        s->count[at] = count;
        s->n = last + 1;
    }
    for (uint32_t i = 1; i < s->n; i++)
        for (uint32_t at = i; at > 0 && s->value[at - 1] > s->value[at]; at--) {
            uint32_t value = s->value[at];
            s->value[at] = s->value[at - 1];
            s->value[at - 1] = value;
        }
}

static void profile_line(cofi_report *r, size_t attribute, uint32_t value)
{
    const double *size = cof_model_sizes(r->model);
    cofi_out *out = &r->out;
    cofi_html(out, "<tr><th scope=\"row\">%30n%b", cof_model_value(r->model, attribute, value),
              count_everywhere(r, attribute, value), r->total);
    for (uint32_t j = 0; j < r->k; j++)
        cofi_html_bar(out, "", cof_model_count(r->model, attribute, value, j), size[j]);
    cofi_out_text(out, "\n");
}

static void profile_attribute(cofi_report *r, size_t place, const shown_values *s)
{
    cofi_out *out = &r->out;
    size_t attribute = r->ranked[place];
    const cofi_model_attr *a = &r->model->attr[attribute];
    char shown[COFI_SHOWN_BYTES];
    cofi_html(out, "<tbody class=\"a%s\" data-name=\"%x\"><tr><th scope=\"rowgroup\">%40n",
              place < PAPER_COLUMNS ? "" : " screen", cofi_shown(shown, a->domain.name, 200), a->domain.name);
    if (s->n < a->n_values)
        cofi_out_format(out, " <span class=\"soft\">(%u of %u values)</span>", s->n, a->n_values);
    cofi_out_format(out, "<td colspan=\"%u\">\n", r->k + 1);
    for (uint32_t i = 0; i < s->n; i++) profile_line(r, attribute, s->value[i]);
    cofi_out_text(out, "</tbody>\n");
}

static void profile_heads(cofi_report *r)
{
    cofi_out_text(&r->out, "<thead><tr><th scope=\"col\">value<th scope=\"col\">all");
    for (uint32_t j = 0; j < r->k; j++) cofi_html(&r->out, "<th scope=\"col\">%w%u", j, j + 1);
    cofi_out_text(&r->out, "</tr></thead>\n");
}

/* The part of the profile with the attributes from *at on, at most n of them; cells left to spend. */
static void profile_table(cofi_report *r, size_t *at, size_t n, size_t *cells)
{
    enum { MOST_VALUES = 12, FEW_VALUES = 6, MOST_BINS = 20 }; /* a range without its middle misleads */
    uint32_t value[MOST_BINS + 1];
    double count[MOST_BINS + 1];
    shown_values s = {.value = value, .count = count};
    uint32_t most = r->n_ranked * MOST_VALUES * (r->k + 1) <= MOST_CELLS ? MOST_VALUES : FEW_VALUES;
    size_t end = r->n_ranked - *at < n ? r->n_ranked : *at + n;
    cofi_html_table(&r->out, r->k <= 16 ? "stick full" : "stick", false,
                    "Share of every value in every cluster, in percent");
    profile_heads(r);
    for (; *at<end && * cells> 0; ++*at) {
        bool bins = most == MOST_VALUES && r->model->attr[r->ranked[*at]].domain.cut != NULL;
        choose_values(r, r->ranked[*at], bins ? MOST_BINS : most, &s);
        profile_attribute(r, *at, &s);
        size_t spent = (size_t)s.n * (r->k + 1);
        *cells -= spent < *cells ? spent : *cells;
    }
    cofi_html_table_end(&r->out);
}

/* In the order of importance, so that what does not fit is what tells least. */
void cofi_report_profile(cofi_report *r)
{
    size_t cells = MOST_CELLS, at = 0;
    cofi_html_section(&r->out, "profile", "Profile of the clusters");
    cofi_out_text(&r->out, "<p>The percentage of each cluster's rows that have a value. The most important "
                           "columns come first.</p>\n");
    filter_box(&r->out, "#profile-table tbody", "profile");
    cofi_out_text(&r->out, "<div id=\"profile-table\">\n");
    profile_table(r, &at, FEW_COLUMNS, &cells);
    if (at < r->n_ranked && cells > 0) {
        cofi_out_text(&r->out, "<details class=\"screen\"><summary>Less important columns</summary>\n");
        profile_table(r, &at, SIZE_MAX, &cells);
        cofi_out_text(&r->out, "</details>\n");
    }
    cofi_out_text(&r->out, "</div>\n");
    if (at < r->n_ranked)
        cofi_out_format(&r->out,
                        "<p class=\"soft\">%zu columns of still less importance are not shown.</p>\n",
                        r->n_ranked - at);
    cofi_out_text(&r->out, "</section>\n");
}

/* ---- Trees ------------------------------------------------------------------------------------------- */

static int put_bytes(void *ctx, const char *text, size_t n_bytes)
{
    cofi_put_bytes(ctx, text, n_bytes);
    return 0;
}

static void colour_key(cofi_report *r)
{
    uint32_t shown = r->k < COFI_COLOURS ? r->k : COFI_COLOURS;
    cofi_out_text(&r->out, "<p class=\"soft\">");
    for (uint32_t j = 0; j < shown; j++) cofi_html(&r->out, "%k%s", j, j + 1 < shown ? " \u00a0 " : "");
    if (shown < r->k) cofi_out_text(&r->out, ", then the colours repeat");
    cofi_out_text(&r->out, "</p>\n");
}

/* Draws into memory first: what does not fit the page is drawn smaller, or not at all. */
static cof_status draw_within(cofi_report *r, size_t attribute, double longest, size_t most, cofi_writer *w,
                              cof_error *err)
{
    static const uint32_t rows[] = {TREE_ROWS, SMALL_TREE_ROWS};
    size_t begin = w->n;
    for (size_t i = 0; i < 2; i++) {
        w->n = begin;
        cof_status status = cofi_embed_tree(r->model, attribute, rows[i], longest, put_bytes, w, err);
        if (status == COF_OK && w->failed) status = cofi_no_memory(err);
        if (status != COF_OK || w->n - begin <= most) return status;
    }
    w->n = begin;
    return COF_OK;
}

typedef struct tree_scales {
    double *own;    /* per place: longest path of the tree */
    double longest; /* of all of them */
    bool differ;    /* zooming would change something */
} tree_scales;

/* A tree much smaller than the largest is worth a drawing of its own scale. */
static bool zooms(const tree_scales *s, size_t place)
{
    return s->own[place] > 0 && s->own[place] < 0.7 * s->longest;
}

static cof_status measure_trees(cofi_report *r, size_t n, tree_scales *s, cof_error *err)
{
    cof_status status = COF_OK;
    s->own = cofi_alloc_zero(&r->env, n, sizeof *s->own);
    if (s->own == NULL) return cofi_no_memory(err);
    for (size_t i = 0; i < n && status == COF_OK; i++) {
        status = cofi_tree_longest(r->model, r->ranked[i], &s->own[i], err);
        s->longest = fmax(s->longest, s->own[i]);
    }
    for (size_t i = 0; i < n; i++) s->differ |= zooms(s, i);
    return status;
}

static void tree_figure(cofi_out *out, const char *classes, const char *text, size_t n)
{
    cofi_out_format(out, "<figure%s>", classes);
    cofi_out_bytes(out, text, n);
    cofi_out_text(out, "</figure>");
}

/* The drawing at the common scale is the first `split` bytes; the rest, if any, has a scale of its own. */
static void tree_item(cofi_report *r, size_t place, const cofi_writer *w, size_t split)
{
    cofi_out *out = &r->out;
    const cofi_model_attr *a = &r->model->attr[r->ranked[place]];
    char shown[COFI_SHOWN_BYTES];
    cofi_html(
        out,
        "<details%s data-name=\"%x\"%s><summary><h3>%60n</h3> <span class=\"soft\">%u values, importance "
        "%p</span></summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%x\">",
        place >= OPEN_TREES ? " class=\"screen\"" : "", cofi_shown(shown, a->domain.name, 200),
        place < OPEN_TREES && w->n > 0 ? " open" : "", a->domain.name, a->n_values,
        r->importance[r->ranked[place]], 1.0, a->domain.name);
    if (w->n == 0)
        cofi_out_text(
            out, "<p class=\"soft\">Not drawn, to keep this page small. <code>coforest trees MODEL --attr "
                 "COLUMN --format svg</code> draws it.</p>");
    else
        tree_figure(out, w->n > split ? " class=\"one\"" : "", (const char *)w->bytes, split);
    if (w->n > split) tree_figure(out, " class=\"own\"", (const char *)w->bytes + split, w->n - split);
    cofi_out_text(out, "</div></details>\n");
}

static cof_status draw_trees(cofi_report *r, size_t n, const tree_scales *s, cof_error *err)
{
    cofi_writer w = {.env = r->env};
    cof_status status = COF_OK;
    size_t left = MOST_TREE_BYTES;
    for (size_t i = 0; i < n && status == COF_OK; i++) {
        if (i == FEW_COLUMNS)
            cofi_out_format(&r->out, "<details class=\"screen\"><summary>The other %zu columns</summary>\n",
                            r->n_ranked - i);
        w.n = 0;
        status = draw_within(r, r->ranked[i], s->longest, left, &w, err);
        size_t split = w.n;
        if (status == COF_OK && split > 0 && zooms(s, i))
            status = draw_within(r, r->ranked[i], 0, left - split, &w, err);
        if (status == COF_OK) tree_item(r, i, &w, split);
        left -= w.n;
    }
    cofi_release(&r->env, w.bytes);
    if (n > FEW_COLUMNS) cofi_out_text(&r->out, "</details>");
    return status;
}

cof_status cofi_report_trees(cofi_report *r, cof_error *err)
{
    enum { MOST_TREES = 1000 };
    size_t n = r->n_ranked < MOST_TREES ? r->n_ranked : MOST_TREES;
    tree_scales s = {.longest = 0};
    if (!r->has_trees) return COF_OK;
    cof_status status = measure_trees(r, n, &s, err);
    cofi_html_section(&r->out, "trees", "Order trees");
    cofi_out_text(
        &r->out,
        "<p>A short edge joins two values that occur in the same clusters. The distance of two values "
        "is the length of the path between them; all trees have the same scale. Bars show how the "
        "rows with a value spread over the clusters, circles how frequent the value is. The most "
        "important columns come first.</p>\n");
    colour_key(r);
    filter_box(&r->out, "#tree-list details[data-name]", "tree-list");
    if (s.differ)
        cofi_out_text(
            &r->out,
            "<input type=\"checkbox\" id=\"zoom\"> <label for=\"zoom\">Zoom: give every tree a scale "
            "of its own</label>\n");
    cofi_out_text(&r->out, "<div id=\"tree-list\">\n");
    if (status == COF_OK) status = draw_trees(r, n, &s, err);
    cofi_out_text(&r->out, "</div></section>\n");
    cofi_release(&r->env, s.own);
    return status;
}

/* ---- Importance -------------------------------------------------------------------------------------- */

static void importance_table(cofi_report *r, size_t begin, size_t end)
{
    cofi_html_body(&r->out, "full", "Importance of every column", "column|values#|importance");
    for (size_t i = begin; i < end; i++) {
        size_t a = r->ranked[i];
        cofi_html(&r->out, "<tr%s><th scope=\"row\">%40n%m%B %%</tr>\n",
                  i < PAPER_COLUMNS ? "" : " class=\"screen\"", r->model->attr[a].domain.name,
                  (double)r->model->attr[a].n_values, r->importance[a], 1.0);
    }
    cofi_html_body_end(&r->out);
}

void cofi_report_importance(cofi_report *r)
{
    enum { MOST = 2000 };
    size_t few = r->n_ranked < FEW_BARS ? r->n_ranked : FEW_BARS,
           all = r->n_ranked < MOST ? r->n_ranked : MOST;
    cofi_html_section(&r->out, "importance", "Most important columns");
    cofi_out_text(
        &r->out,
        "<p>How much a column alone tells about the cluster of a row: the share of the uncertainty that it "
        "removes (mutual information divided by the entropy of the clusters, less what chance would "
        "give).</p>\n");
    importance_table(r, 0, few);
    if (all > few) {
        cofi_out_format(&r->out, "<details class=\"screen\"><summary>The other %zu columns</summary>\n",
                        all - few);
        importance_table(r, few, all);
        cofi_out_text(&r->out, "</details>\n");
    }
    cofi_out_text(&r->out, "</section>\n");
}
