/* The report: one HTML page that needs nothing else.
 *
 * The page's security policy allows the one style sheet and the one script it was written with, by their
 * hashes, and nothing else; even if a name from the data became markup it could load and run nothing. */
#include "../svg/draw_map.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

/* The template, the page's style (drawing.css, report.css and the lengths of bars) and its script, as the build packed
 * them, with the hashes that the security policy names. */
extern const char cofi_report_html[], cofi_report_css[], cofi_report_js[];
extern const char cofi_report_css_hash[], cofi_report_js_hash[];
extern const size_t cofi_report_html_size;

/* ---- From the model ---------------------------------------------------------------------------------- */

typedef struct ranked {
    double importance;
    size_t attribute;
} ranked;

static int compare_ranks(const void *first, const void *second)
{
    const ranked *a = first, *b = second;
    if (a->importance != b->importance) return a->importance > b->importance ? -1 : 1;
    return (a->attribute > b->attribute) - (a->attribute < b->attribute);
}

static cof_status study_model(cofi_report *r, cof_error *err)
{
    const double *size = cof_model_sizes(r->model);
    size_t n_attrs = r->model->n_attrs;
    ranked *list = cofi_blocks_add(&r->own, n_attrs, sizeof *list);
    r->importance = cofi_blocks_add(&r->own, n_attrs, sizeof *r->importance);
    r->ranked = cofi_blocks_add(&r->own, n_attrs, sizeof *r->ranked);
    r->more = cofi_blocks_add(&r->own, r->k, COFI_REPORT_TRAITS * sizeof *r->more);
    r->less = cofi_blocks_add(&r->own, r->k, COFI_REPORT_TRAITS * sizeof *r->less);
    r->n_more = cofi_blocks_add(&r->own, r->k, sizeof *r->n_more);
    r->n_less = cofi_blocks_add(&r->own, r->k, sizeof *r->n_less);
    r->rows = cofi_blocks_add_zero(&r->own, r->k, sizeof *r->rows);
    COFI_TRY(cofi_blocks_status(&r->own, err));
    for (uint32_t j = 0; j < r->k; j++) {
        r->total += size[j];
        r->n_filled += size[j] > 0;
    }
    r->restarts = cof_model_restarts(r->model, &r->n_restarts);
    r->best_restart = cof_model_best_restart(r->model);
    COFI_TRY(cof_model_importance(r->model, r->importance, n_attrs, err));
    for (size_t a = 0; a < n_attrs; a++) {
        if (r->model->attr[a].used) list[r->n_ranked++] = (ranked){r->importance[a], a};
        r->has_trees |= r->model->attr[a].n_edges > 0;
    }
    qsort(list, r->n_ranked, sizeof *list, compare_ranks);
    for (size_t i = 0; i < r->n_ranked; i++) r->ranked[i] = list[i].attribute;
    COFI_TRY(cof_model_traits(r->model, COF_TRAIT_MORE, COFI_REPORT_TRAITS, r->more, r->n_more, err));
    return cof_model_traits(r->model, COF_TRAIT_LESS, COFI_REPORT_TRAITS, r->less, r->n_less, err);
}

/* ---- From the rows ----------------------------------------------------------------------------------- */

/* The labels given, those of the model, or those that the model predicts. Labels from outside index what has k members. */
static cof_status find_labels(cofi_report *r, cof_error *err)
{
    size_t n = 0;
    r->label = r->o.labels != NULL ? r->o.labels : cof_model_labels(r->model, &n);
    if (r->o.labels != NULL && r->o.n_labels != r->n_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT, "%zu labels were given, but the table has %zu rows",
                         r->o.n_labels, r->n_rows);
    for (size_t i = 0; r->o.labels != NULL && i < r->n_rows; i++)
        if (r->label[i] >= (int64_t)r->k)
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "row %zu has label %d, but the model's clusters are 0 to %u", i,
                             (int)r->label[i], (unsigned)r->k - 1);
    if (r->o.labels != NULL || (r->label != NULL && n == r->n_rows)) return COF_OK;
    int32_t *label = cofi_blocks_add(&r->own, r->n_rows, sizeof *label);
    if (label == NULL) return cofi_no_memory(err);
    r->label = label;
    return cof_model_predict(r->model, r->table, r->o.threads, label, r->n_rows, NULL, err);
}

static bool same_row(const cofi_report *r, size_t a, size_t b)
{
    for (size_t i = 0; i < r->values.n; i++)
        if (cofi_id(r->values.ids[i], a) != cofi_id(r->values.ids[i], b)) return false;
    return true;
}

/* Keeps the smallest keys; of equal rows the first, so that three examples are three different rows. */
static void keep_example(cofi_report *r, cofi_cluster_rows *c, int kind, size_t row, float key)
{
    cofi_example *list = c->example[kind];
    size_t n = c->n_examples[kind], at = n;
    if (n == COFI_REPORT_EXAMPLES && !(key < list[n - 1].key)) return;
    for (size_t i = 0; i < n; i++)
        if (list[i].key == key && same_row(r, list[i].row, row)) return;
    while (at > 0 && key < list[at - 1].key) at--;
    size_t last = n < COFI_REPORT_EXAMPLES ? n : COFI_REPORT_EXAMPLES - 1;
    memmove(list + at + 1, list + at, (last - at) * sizeof *list);
    list[at] = (cofi_example){row, key};
    c->n_examples[kind] = last + 1;
}

static void study_row(cofi_report *r, size_t row)
{
    int32_t label = r->label[row];
    if (label < 0 || (uint32_t)label >= r->k) return;
    cofi_cluster_rows *c = &r->rows[label];
    r->n_clustered++;
    c->n++;
    if (r->margin == NULL) return;
    double lead = cof_margin_lead(&r->margin[row]);
    int bin = (int)(lead * COFI_LEAD_BINS);
    c->lead += lead;
    r->lead_bin[bin < COFI_LEAD_BINS ? bin : COFI_LEAD_BINS - 1]++;
    keep_example(r, c, COFI_TYPICAL, row, r->margin[row].own);
    keep_example(r, c, COFI_ATYPICAL, row, -r->margin[row].own);
    if (lead >= COF_CLOSE_LEAD) return;
    c->n_close++;
    keep_example(r, c, COFI_BETWEEN, row, (float)lead);
}

/* Distances of rows to clusters. Some methods compare whole rows and keep nothing to measure with. */
static cof_status measure_rows(cofi_report *r, cof_error *err)
{
    cof_fit_info info = {.struct_size = sizeof info};
    if (r->model->no_scores) return COF_OK;
    r->margin = cofi_blocks_add(&r->own, r->n_rows, sizeof *r->margin);
    if (r->margin == NULL) return cofi_no_memory(err);
    COFI_TRY(cof_model_margins(r->model, r->table, r->label, r->o.threads, r->margin, r->n_rows, err));
    cof_status status = cof_model_criteria(r->model, r->table, NULL, r->o.threads, &info, err);
    r->n_shared = info.n_shared;
    return status;
}

static cof_status study_rows(cofi_report *r, cof_error *err)
{
    cof_embed_options o = {.struct_size = sizeof o,
                           .seed = r->o.seed,
                           .perplexity = r->o.perplexity,
                           .most_points = r->o.most_points,
                           .threads = r->o.threads};
    r->n_rows = cof_table_n_rows(r->table);
    r->sampled = r->table->row_number != NULL && r->n_rows < r->table->n_all_rows;
    r->names = cofi_names_column(r->table);
    for (size_t c = r->table->n_columns; c-- > 0;)
        if (r->table->column[c].role == COF_ROLE_LABEL) r->classes = c; /* the first */
    COFI_TRY(cofi_view_open(&r->values, r->model, r->table, err));
    COFI_TRY(find_labels(r, err));
    COFI_TRY(measure_rows(r, err));
    for (size_t i = 0; i < r->n_rows; i++) study_row(r, i);
    if (r->n_rows == 0) return COF_OK;
    COFI_TRY(cof_embed(r->model, r->table, &o, &r->map, err));
    r->n_distinct = r->o.n_distinct_rows;
    if (r->n_distinct == 0 && !r->sampled) r->n_distinct = cof_map_n_distinct(r->map);
    return COF_OK;
}

/* ---- The page ---------------------------------------------------------------------------------------- */

static cof_status gather(cofi_report *r, cof_error *err)
{
    cofi_page *p = &r->page;
    COFI_TRY(study_model(r, err));
    if (r->table != NULL) COFI_TRY(study_rows(r, err));
    cofi_page_put(p, "css", "%s", cofi_report_css);
    cofi_page_put(p, "css_hash", "%s", cofi_report_css_hash);
    cofi_page_put(p, "js", "%s", cofi_report_js);
    cofi_page_put(p, "js_hash", "%s", cofi_report_js_hash);
    cofi_report_overview(r);
    cofi_report_runs(r);
    cofi_report_clusters(r);
    COFI_TRY(cofi_report_others(r, err));
    COFI_TRY(cofi_report_columns(r, err));
    return cofi_report_rows(r, err);
}

cof_status cof_report_write(const cof_model *model, const cof_table *table, const cof_report_options *options,
                            cof_sink sink, void *ctx, cof_error *err)
{
    if (model == NULL || sink == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "cof_report_write needs a model and a sink; one is NULL");
    cofi_blocks own = {.env = model->env};
    cofi_report *r = cofi_blocks_add_zero(&own, 1, sizeof *r);
    cofi_out *out = cofi_blocks_add(&own, 1, sizeof *out);
    cof_status status = cofi_blocks_status(&own, err);
    if (status == COF_OK) {
        r->own.env = model->env;
        r->model = model;
        r->table = table;
        r->k = model->k;
        r->names = r->classes = SIZE_MAX;
        COFI_COPY_OPTIONS(&r->o, options);
        cofi_page_begin(&r->page, &model->env);
        cofi_out_init(out, sink, ctx);
        status = gather(r, err);
        if (status == COF_OK)
            status = cofi_page_fill(&r->page, cofi_report_html, cofi_report_html_size, out, err);
        cofi_page_end(&r->page);
        cofi_blocks_release(&r->own);
        if (r->values.value != NULL) cofi_view_close(&r->values);
        cof_map_free(r->map);
    }
    cofi_blocks_release(&own);
    return status;
}
