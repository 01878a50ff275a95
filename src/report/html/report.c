/* The report: one HTML page that needs nothing else.
 *
 * The page's security policy allows the one style sheet and the one script it was written with, by their
 * hashes, and nothing else; even if a name from the data became markup it could load and run nothing. */
#include "report.h"

/* The page's style (drawing.css, report.css and the lengths of bars) and its script, as the build packed them,
 * with the hashes that the security policy names. */
extern const char cofi_report_css[], cofi_report_css_hash[], cofi_report_js[], cofi_report_js_hash[];
extern const size_t cofi_report_css_size, cofi_report_js_size;

static void put_title(cofi_report *r)
{
    char name[COFI_SHOWN_BYTES];
    cofi_out_format(&r->out, "%u cluster%s", r->k, r->k == 1 ? "" : "s");
    if (r->o.source == NULL) return;
    const char *slash = strrchr(r->o.source, '/'); /* the file's name, not its path */
    cofi_out_put(&r->out, " of %x",
                 cofi_shown(name, slash != NULL && slash[1] != '\0' ? slash + 1 : r->o.source, 80));
}

static void write_head(cofi_report *r)
{
    cofi_out *out = &r->out;
    cofi_out_put(out,
                 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "base-uri 'none'; form-action 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
                 cofi_report_css_hash, cofi_report_js_hash);
    put_title(r);
    cofi_out_text(out, "</title>\n<style>");
    cofi_out_bytes(out, cofi_report_css, cofi_report_css_size);
    cofi_out_text(out, "</style>\n</head>\n");
}

static void contents_entry(cofi_report *r, bool shown, const char *id, const char *words)
{
    if (shown) cofi_out_format(&r->out, "<li><a href=\"#%s\">%s</a></li>\n", id, words);
}

static bool has_quantities(const cofi_report *r)
{
    for (size_t a = 0; a < r->model->n_attrs; a++)
        if (r->model->attr[a].used && r->model->attr[a].five != NULL) return true;
    return false;
}

static void write_header(cofi_report *r)
{
    size_t n_history;
    bool rows = cofi_report_has_rows(r);
    cof_model_history(r->model, &n_history);
    cofi_out_text(&r->out, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the report</a>\n<header><h1>");
    put_title(r);
    cofi_out_text(&r->out, "</h1>\n<nav aria-label=\"Contents\"><ul>\n");
    contents_entry(r, true, "table", "What was clustered");
    contents_entry(r, cof_model_k_curve(r->model, NULL) != NULL, "numbers", "How many clusters");
    contents_entry(r, true, "clusters", "Clusters");
    contents_entry(r, true, "marks", "What makes them different");
    contents_entry(r, cof_model_alternative(r->model, 0) != NULL, "others", "Other partitions");
    contents_entry(r, has_quantities(r), "quantities", "Quantities");
    contents_entry(r, true, "profile", "Profile");
    contents_entry(r, r->has_trees, "trees", "Order trees");
    contents_entry(r, true, "importance", "Important columns");
    contents_entry(r, r->map != NULL && r->n_rows > 0, "map", "Map");
    contents_entry(r, rows && r->margin != NULL, "rows", "Typical rows");
    contents_entry(r, n_history > 0, "convergence", "Convergence");
    contents_entry(r, rows && r->classes != SIZE_MAX, "scores", "Scores");
    cofi_out_text(&r->out, "</ul></nav></header>\n<main id=\"main\">\n");
}

static cof_status write_sections(cofi_report *r, cof_error *err)
{
    cofi_report_overview(r);
    cofi_report_numbers(r);
    cofi_report_clusters(r);
    cofi_report_marks(r);
    COFI_TRY(cofi_report_others(r, err));
    cofi_report_quantities(r);
    cofi_report_profile(r);
    COFI_TRY(cofi_report_trees(r, err));
    cofi_report_importance(r);
    cofi_report_map(r);
    cofi_report_rows(r);
    cofi_report_convergence(r);
    return cofi_report_scores(r, err);
}

static void write_footer(cofi_report *r)
{
    cofi_out_format(
        &r->out,
        "</main>\n<footer class=\"soft\"><p class=\"paper\">The HTML file has more: all trees, columns and "
        "rows.</p><p>coforest %s. This page loads nothing and sends nothing.</p></footer>\n<script>",
        cof_version());
    cofi_out_bytes(&r->out, cofi_report_js, cofi_report_js_size);
    cofi_out_text(&r->out, "</script>\n</body>\n</html>\n");
}

static cof_status write_page(cofi_report *r, cof_error *err)
{
    write_head(r);
    write_header(r);
    COFI_TRY(write_sections(r, err));
    write_footer(r);
    return cofi_out_finish(&r->out, err);
}

cof_status cof_report_write(const cof_model *model, const cof_table *table, const cof_report_options *options,
                            cof_sink sink, void *ctx, cof_error *err)
{
    if (model == NULL || sink == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "cof_report_write needs a model and a sink; one is NULL");
    cofi_report *r = cofi_alloc_zero(&model->env, 1, sizeof *r);
    if (r == NULL) return cofi_no_memory(err);
    r->env = r->own.env = model->env;
    r->model = model;
    r->table = table;
    r->k = model->k;
    r->names = r->classes = SIZE_MAX;
    COFI_COPY_OPTIONS(&r->o, options);
    cofi_out_init(&r->out, sink, ctx);
    cof_status status = cofi_report_gather(r, err);
    if (status == COF_OK) status = write_page(r, err);
    cofi_report_free(r);
    cofi_release(&model->env, r);
    return status;
}
