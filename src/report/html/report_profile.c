/* Attribute by attribute: shares in every cluster, the order tree, and how much it tells. */
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
    FEW_BARS = 30
};

static void filter_box(cofi_out *out, const char *items, const char *id)
{
    cofi_out_text(out, "<p class=\"tools\" data-script hidden><label>Show only columns named ");
    cofi_out_format(out, "<input type=\"search\" data-filter=\"%s\" data-said=\"%s-said\"></label> ", items,
                    id);
    cofi_out_format(out, "<span id=\"%s-said\" role=\"status\" class=\"soft\"></span></p>\n", id);
}

static void data_name(cofi_out *out, const char *name)
{
    char shown[COFI_SHOWN_BYTES];
    cofi_html_attribute(out, "data-name", cofi_shown(shown, name, 200));
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
    cofi_out_text(out, "<tr><th scope=\"row\">");
    cofi_html_name(out, cof_model_value(r->model, attribute, value), 30);
    cofi_html_bar(out, "", count_everywhere(r, attribute, value), r->total);
    for (uint32_t j = 0; j < r->k; j++)
        cofi_html_bar(out, "", cof_model_count(r->model, attribute, value, j), size[j]);
    cofi_out_text(out, "\n");
}

static void profile_attribute(cofi_report *r, size_t attribute, const shown_values *s)
{
    cofi_out *out = &r->out;
    uint32_t n_values = r->model->attr[attribute].n_values;
    cofi_out_text(out, "<tbody class=\"a\"");
    data_name(out, r->model->attr[attribute].name);
    cofi_out_text(out, "><tr><th scope=\"rowgroup\">");
    cofi_html_name(out, r->model->attr[attribute].name, COFI_REPORT_NAME);
    if (s->n < n_values)
        cofi_out_format(out, " <span class=\"soft\">(%u of %u values)</span>", s->n, n_values);
    cofi_out_format(out, "<td colspan=\"%u\">\n", r->k + 1);
    for (uint32_t i = 0; i < s->n; i++) profile_line(r, attribute, s->value[i]);
    cofi_out_text(out, "</tbody>\n");
}

static void profile_heads(cofi_report *r)
{
    cofi_out_text(&r->out, "<thead><tr><th scope=\"col\">value<th scope=\"col\">all");
    for (uint32_t j = 0; j < r->k; j++) {
        cofi_out_text(&r->out, "<th scope=\"col\">");
        cofi_html_swatch(&r->out, j);
        cofi_out_format(&r->out, "%u", j + 1);
    }
    cofi_out_text(&r->out, "</tr></thead>\n");
}

/* The part of the profile with the attributes from *at on, at most n of them; cells left to spend. */
static void profile_table(cofi_report *r, size_t *at, size_t n, size_t *cells)
{
    enum { MOST_VALUES = 12, FEW_VALUES = 6 };
    uint32_t value[MOST_VALUES + 1];
    double count[MOST_VALUES + 1];
    shown_values s = {.value = value, .count = count};
    uint32_t most = r->n_ranked * MOST_VALUES * (r->k + 1) <= MOST_CELLS ? MOST_VALUES : FEW_VALUES;
    size_t end = r->n_ranked - *at < n ? r->n_ranked : *at + n;
    cofi_html_table(&r->out, r->k <= 16 ? "stick full" : "stick", false,
                    "Share of every value in every cluster, in percent");
    profile_heads(r);
    for (; *at<end && * cells> 0; ++*at) {
        choose_values(r, r->ranked[*at], most, &s);
        profile_attribute(r, r->ranked[*at], &s);
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
    cofi_out_text(&r->out, "<p>Percent of each cluster's rows that hold a value, the columns that tell most "
                           "about the cluster first.</p>\n");
    filter_box(&r->out, "#profile-table tbody", "profile");
    cofi_out_text(&r->out, "<div id=\"profile-table\">\n");
    profile_table(r, &at, FEW_COLUMNS, &cells);
    if (at < r->n_ranked && cells > 0) {
        cofi_out_text(&r->out, "<details><summary>Columns that tell less</summary>\n");
        profile_table(r, &at, SIZE_MAX, &cells);
        cofi_out_text(&r->out, "</details>\n");
    }
    cofi_out_text(&r->out, "</div>\n");
    if (at < r->n_ranked)
        cofi_out_format(&r->out, "<p class=\"soft\">%zu columns that tell even less are not shown.</p>\n",
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
    for (uint32_t j = 0; j < shown; j++) {
        cofi_html_cluster(&r->out, j);
        cofi_out_text(&r->out, j + 1 < shown ? " \u00a0 " : "");
    }
    if (shown < r->k) cofi_out_text(&r->out, ", then the colours repeat");
    cofi_out_text(&r->out, "</p>\n");
}

/* Draws into memory first: what does not fit the page is drawn smaller, or not at all. */
static cof_status draw_within(cofi_report *r, size_t attribute, size_t most, cofi_writer *w, cof_error *err)
{
    static const uint32_t rows[] = {TREE_ROWS, SMALL_TREE_ROWS};
    for (size_t i = 0; i < 2; i++) {
        w->n = 0;
        cof_status status = cofi_embed_tree(r->model, attribute, rows[i], put_bytes, w, err);
        if (status == COF_OK && w->failed) status = cofi_no_memory(err);
        if (status != COF_OK || w->n <= most) return status;
    }
    w->n = 0;
    return COF_OK;
}

static void tree_item(cofi_report *r, size_t place, const cofi_writer *w)
{
    cofi_out *out = &r->out;
    size_t attribute = r->ranked[place];
    cofi_out_text(out, "<details");
    data_name(out, r->model->attr[attribute].name);
    cofi_out_text(out, place < OPEN_TREES && w->n > 0 ? " open><summary><h3>" : "><summary><h3>");
    cofi_html_name(out, r->model->attr[attribute].name, 60);
    cofi_out_format(out, "</h3> <span class=\"soft\">%u values, tells ", r->model->attr[attribute].n_values);
    cofi_html_share(out, r->importance[attribute], 1);
    cofi_out_text(out, "</span></summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Order tree\"><figure>");
    if (w->n > 0)
        cofi_out_bytes(out, (const char *)w->bytes, w->n);
    else
        cofi_out_text(out, "<figcaption>Left out to keep this page small; <code>coforest trees MODEL --attr "
                           "COLUMN --format svg</code> draws it.</figcaption>");
    cofi_out_text(out, "</figure></div></details>\n");
}

cof_status cofi_report_trees(cofi_report *r, cof_error *err)
{
    cofi_writer w = {.env = r->env};
    cof_status status = COF_OK;
    size_t left = MOST_TREE_BYTES;
    enum { MOST_TREES = 1000 };
    if (!r->has_trees) return COF_OK;
    cofi_html_section(&r->out, "trees", "Order trees");
    cofi_out_text(
        &r->out,
        "<p>Values joined by a short edge were shared by the same clusters; the distance of two values "
        "is the length of the way between them. Bars show how a value's rows spread over the clusters, "
        "circles how frequent it is. The columns that tell most come first.</p>\n");
    colour_key(r);
    filter_box(&r->out, "#tree-list details[data-name]", "tree-list");
    cofi_out_text(&r->out, "<div id=\"tree-list\">\n");
    for (size_t i = 0; i < r->n_ranked && i < MOST_TREES && status == COF_OK; i++) {
        if (i == FEW_COLUMNS)
            cofi_out_format(&r->out, "<details><summary>The other %zu columns</summary>\n", r->n_ranked - i);
        status = draw_within(r, r->ranked[i], left, &w, err);
        if (status == COF_OK) tree_item(r, i, &w);
        left -= w.n;
    }
    cofi_release(&r->env, w.bytes);
    cofi_out_text(&r->out, r->n_ranked > FEW_COLUMNS ? "</details></div></section>\n" : "</div></section>\n");
    return status;
}

/* ---- Importance -------------------------------------------------------------------------------------- */

static void importance_table(cofi_report *r, size_t begin, size_t end)
{
    static const char *const heads[] = {"column", "values", "share of the uncertainty removed"};
    cofi_html_table(&r->out, "full", true, "How much each column alone tells about the cluster");
    cofi_html_heads(&r->out, heads, "-n-", 3);
    cofi_out_text(&r->out, "<tbody>\n");
    for (size_t i = begin; i < end; i++) {
        size_t a = r->ranked[i];
        cofi_out_text(&r->out, "<tr><th scope=\"row\">");
        cofi_html_name(&r->out, r->model->attr[a].name, COFI_REPORT_NAME);
        cofi_html_count_cell(&r->out, r->model->attr[a].n_values);
        cofi_html_bar(&r->out, "wide", r->importance[a], 1);
        cofi_out_text(&r->out, " %</tr>\n");
    }
    cofi_out_text(&r->out, "</tbody>");
    cofi_html_table_end(&r->out);
}

void cofi_report_importance(cofi_report *r)
{
    enum { MOST = 2000 };
    size_t few = r->n_ranked < FEW_BARS ? r->n_ranked : FEW_BARS,
           all = r->n_ranked < MOST ? r->n_ranked : MOST;
    cofi_html_section(&r->out, "importance", "Which columns matter most");
    cofi_out_text(&r->out,
                  "<p>The share of the uncertainty about the cluster that a column alone removes "
                  "(mutual information over the clusters' entropy, less what chance would give).</p>\n");
    importance_table(r, 0, few);
    if (all > few) {
        cofi_out_format(&r->out, "<details><summary>The other %zu columns</summary>\n", all - few);
        importance_table(r, few, all);
        cofi_out_text(&r->out, "</details>\n");
    }
    cofi_out_text(&r->out, "</section>\n");
}
