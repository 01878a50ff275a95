/* Column by column: shares in every cluster, quantities, the order tree, and how much the column tells about the clusters. */
#include "../draw_tree.h"
#include "report.h"

#include <math.h>

enum {
    MOST_CELLS = 30000,        /* of the profile: less than a megabyte */
    MOST_TREE_BYTES = 1500000, /* of all trees together */
    TREE_ROWS = 120,
    SMALL_TREE_ROWS = 12,
    MOST_TREES = 1000,
    OPEN_TREES = 4,
    FEW_COLUMNS = 16, /* shown from the start; the others are folded */
    FEW_BARS = 30,
    MOST_BARS = 2000,
    PAPER_COLUMNS = 8 /* printed; the others are left to the screen */
};

/* The name that the filter box looks for. */
static void put_filter(cofi_report *r, const char *name)
{
    char shown[COFI_SHOWN_BYTES];
    cofi_page_put(&r->page, "filter", "%s", cofi_shown(shown, name, 200));
}

/* ---- Profile ----------------------------------------------------------------------------------------- */

/* Some values of an attribute, in the order of its values. */
typedef struct shown_values {
    uint32_t *value;
    double *count;
    uint32_t n;
} shown_values;

static double count_everywhere(const cofi_report *r, size_t attribute, uint32_t value)
{
    double count = 0;
    for (uint32_t j = 0; j < r->k; j++) count += cof_model_count(r->model, attribute, value, j);
    return count;
}

/* The most frequent values. `most` is small: insertion into a sorted list, and then back into the order of the values. */
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

/* The columns from place *at on, at most n of them; cells left to spend. */
static void put_profile(cofi_report *r, const char *table, size_t *at, size_t n, size_t *cells)
{
    enum { MOST_VALUES = 12, FEW_VALUES = 6, MOST_BINS = 20 }; /* a range without its middle misleads */
    cofi_page *p = &r->page;
    const double *size = cof_model_sizes(r->model);
    uint32_t value[MOST_BINS + 1];
    double count[MOST_BINS + 1];
    shown_values s = {.value = value, .count = count};
    uint32_t most = r->n_ranked * MOST_VALUES * (r->k + 1) <= MOST_CELLS ? MOST_VALUES : FEW_VALUES;
    size_t end = r->n_ranked - *at < n ? r->n_ranked : *at + n;
    cofi_page_open(p, table);
    cofi_page_flag(p, "fits", r->k <= 16);
    for (; *at<end && * cells> 0; ++*at) {
        size_t attribute = r->ranked[*at];
        const cofi_model_attr *a = &r->model->attr[attribute];
        choose_values(r, attribute, most == MOST_VALUES && a->domain.cut != NULL ? MOST_BINS : most, &s);
        cofi_page_open(p, "columns");
        cofi_page_name(p, "name", a->domain.name, 40);
        put_filter(r, a->domain.name);
        cofi_page_flag(p, "screen", *at >= PAPER_COLUMNS);
        cofi_page_put(p, "n_values", s.n < a->n_values ? "%u" : "", (unsigned)a->n_values);
        cofi_page_put(p, "n_shown", "%u", s.n);
        cofi_page_put(p, "n_cells", "%u", r->k + 1);
        for (uint32_t i = 0; i < s.n; i++) {
            cofi_page_open(p, "lines");
            cofi_page_name(p, "name", cof_model_value(r->model, attribute, value[i]), 30);
            cofi_page_bar(p, "cells", count_everywhere(r, attribute, value[i]), r->total);
            for (uint32_t j = 0; j < r->k; j++)
                cofi_page_bar(p, "cells", cof_model_count(r->model, attribute, value[i], j), size[j]);
            cofi_page_close(p);
        }
        cofi_page_close(p);
        size_t spent = (size_t)s.n * (r->k + 1);
        *cells -= spent < *cells ? spent : *cells;
    }
    cofi_page_close(p);
}

/* ---- Quantities -------------------------------------------------------------------------------------- */

enum { MOST_QUANTITIES = 40, MOST_BINS_DRAWN = 64, HISTOGRAM_WIDTH = 96, HISTOGRAM_HEIGHT = 28 };

/* All histograms of a quantity have one scale, so that they can be compared side by side. */
static void draw_histogram(const cofi_report *r, cofi_out *out, size_t attribute, uint32_t j, uint32_t n_bins,
                           double highest)
{
    double step = (double)HISTOGRAM_WIDTH / n_bins;
    cofi_svg_open(out, HISTOGRAM_WIDTH, HISTOGRAM_HEIGHT, "Histogram over the bins", false);
    for (uint32_t b = 0; b < n_bins; b++) {
        double share = cof_model_profile(r->model, attribute, b, j);
        double height = share > 0 && highest > 0 ? share / highest * HISTOGRAM_HEIGHT : 0;
        if (height > 0) cofi_svg_rectangle(out, j, b * step, HISTOGRAM_HEIGHT - height, step * 0.9, height);
    }
    cofi_svg_close(out);
}

/* A histogram, the median and the quartiles in every cluster. */
static void put_quantity(cofi_report *r, size_t attribute, uint32_t n_clusters)
{
    cofi_page *p = &r->page;
    size_t n_edges = 0;
    double highest = 0;
    cof_model_cut(r->model, attribute, &n_edges);
    uint32_t n_bins = (uint32_t)n_edges + 1;
    for (uint32_t j = 0; j < r->k; j++)
        for (uint32_t b = 0; b < n_bins; b++)
            highest = fmax(highest, cof_model_profile(r->model, attribute, b, j));
    cofi_page_open(p, "columns");
    cofi_page_name(p, "name", r->model->attr[attribute].domain.name, 40);
    for (uint32_t j = 0; j < n_clusters; j++) {
        static const char *const key[COF_N_FIVE] = {[COF_FIVE_QUARTER] = "quarter",
                                                    [COF_FIVE_MEDIAN] = "median",
                                                    [COF_FIVE_THREE_QUARTERS] = "three_quarters"};
        const double *five = cof_model_five(r->model, attribute, j);
        bool known = !isnan(five[COF_FIVE_MEDIAN]);
        cofi_page_open(p, "cells");
        for (int q = 0; q < COF_N_FIVE; q++) {
            char text[64] = "";
            if (known) cof_model_show_point(r->model, attribute, five[q], text, sizeof text);
            if (key[q] != NULL) cofi_page_put(p, key[q], "%s", text);
        }
        cofi_out *out = cofi_page_write(p);
        if (known && n_bins <= MOST_BINS_DRAWN) draw_histogram(r, out, attribute, j, n_bins, highest);
        cofi_page_written(p, "histogram");
        cofi_page_close(p);
    }
    cofi_page_close(p);
}

static void put_quantities(cofi_report *r)
{
    cofi_page *p = &r->page;
    uint32_t n_clusters = r->k < COFI_REPORT_OPEN ? r->k : COFI_REPORT_OPEN;
    size_t n = 0, n_shown = 0;
    for (size_t i = 0; i < r->n_ranked; i++) n += cof_model_five(r->model, r->ranked[i], 0) != NULL;
    if (n == 0) return;
    cofi_page_open(p, "quantities");
    for (size_t i = 0; i < r->n_ranked && n_shown < MOST_QUANTITIES; i++) {
        if (cof_model_five(r->model, r->ranked[i], 0) == NULL) continue;
        put_quantity(r, r->ranked[i], n_clusters);
        n_shown++;
    }
    cofi_page_flag(p, "cut_off", n_shown < n || n_clusters < r->k);
    cofi_page_put(p, "n", "%z", n);
    cofi_page_put(p, "n_shown", "%z", n_shown);
    cofi_page_put(p, "k_shown", "%u", n_clusters);
    cofi_page_close(p);
}

/* ---- Trees ------------------------------------------------------------------------------------------- */

/* A field with the drawing of a tree. What does not fit the page is drawn smaller, or not at all. */
static cof_status put_drawing(cofi_report *r, const char *key, size_t attribute, double longest, size_t *left,
                              cof_error *err)
{
    static const uint32_t rows[] = {TREE_ROWS, SMALL_TREE_ROWS, 0};
    cofi_page *p = &r->page;
    for (size_t i = 0; i < 3; i++) {
        cofi_out *out = cofi_page_write(p);
        if (rows[i] > 0)
            COFI_TRY(cofi_embed_tree(r->model, attribute, rows[i], longest, cofi_out_sink, out, err));
        COFI_TRY(cofi_out_finish(out, err));
        if (p->text.n <= *left) break;
    }
    *left -= p->text.n;
    cofi_page_written(p, key);
    return COF_OK;
}

/* Most trees are drawn at a common scale; a tree much smaller than the largest is worth a drawing of its own scale, too. */
static cof_status put_trees(cofi_report *r, cof_error *err)
{
    cofi_page *p = &r->page;
    size_t n = r->n_ranked < MOST_TREES ? r->n_ranked : MOST_TREES, left = MOST_TREE_BYTES;
    double *own = cofi_blocks_add(&r->own, n, sizeof *own), longest = 0;
    if (!r->has_trees) return COF_OK;
    if (own == NULL) return cofi_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        COFI_TRY(cofi_tree_longest(r->model, r->ranked[i], &own[i], err));
        longest = fmax(longest, own[i]);
    }
    bool differ = false;
    cofi_page_open(p, "trees");
    for (size_t i = 0; i < n; i++) {
        const cofi_model_attr *a = &r->model->attr[r->ranked[i]];
        bool zooms = own[i] > 0 && own[i] < 0.7 * longest;
        size_t before = left;
        differ |= zooms;
        cofi_page_open(p, i < FEW_COLUMNS ? "few" : "rest");
        cofi_page_name(p, "name", a->domain.name, 60);
        cofi_page_put(p, "column", "%s", a->domain.name);
        put_filter(r, a->domain.name);
        cofi_page_put(p, "n_values", "%u", (unsigned)a->n_values);
        cofi_page_put(p, "importance", "%p", r->importance[r->ranked[i]], 1.0);
        COFI_TRY(put_drawing(r, "drawing", r->ranked[i], longest, &left, err));
        bool drawn = left < before;
        cofi_page_flag(p, "screen", i >= OPEN_TREES);
        cofi_page_flag(p, "open", i < OPEN_TREES && drawn);
        if (drawn && zooms) COFI_TRY(put_drawing(r, "zoomed", r->ranked[i], 0, &left, err));
        cofi_page_close(p);
    }
    cofi_page_flag(p, "differ", differ);
    if (n > FEW_COLUMNS) cofi_page_put(p, "n_rest", "%z", r->n_ranked - FEW_COLUMNS);
    cofi_page_close(p);
    return COF_OK;
}

/* ---- Importance -------------------------------------------------------------------------------------- */

static void put_importance(cofi_report *r, const char *table, size_t begin, size_t end)
{
    cofi_page *p = &r->page;
    cofi_page_open(p, table);
    cofi_page_put(p, "n", "%z", end - begin);
    for (size_t i = begin; i < end; i++) {
        size_t a = r->ranked[i];
        cofi_page_open(p, "columns");
        cofi_page_flag(p, "screen", i >= PAPER_COLUMNS);
        cofi_page_name(p, "name", r->model->attr[a].domain.name, 40);
        cofi_page_count(p, "values", (double)r->model->attr[a].n_values);
        cofi_page_bar(p, "importance", r->importance[a], 1.0);
        cofi_page_close(p);
    }
    cofi_page_close(p);
}

/* In the order of importance, so that what does not fit is what tells least. */
cof_status cofi_report_columns(cofi_report *r, cof_error *err)
{
    size_t cells = MOST_CELLS, at = 0, n = r->n_ranked, few = n < FEW_BARS ? n : FEW_BARS;
    size_t most = n < MOST_BARS ? n : MOST_BARS;
    put_quantities(r);
    put_profile(r, "profile", &at, FEW_COLUMNS, &cells);
    if (at < n && cells > 0) put_profile(r, "profile_rest", &at, SIZE_MAX, &cells);
    if (at < n) cofi_page_put(&r->page, "n_unshown", "%z", n - at);
    COFI_TRY(put_trees(r, err));
    put_importance(r, "importance", 0, few);
    if (most > few) put_importance(r, "importance_rest", few, most);
    return COF_OK;
}
