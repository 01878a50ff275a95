/* The top of the report: key figures, what was clustered, and what was left out. */
#include "report.h"

enum { MOST_COLUMNS = 1000, FOLD_COLUMNS = 8 };

static void count_figure(cofi_out *out, const char *name, const char *key, uint64_t n)
{
    cofi_html(out, "<div><dt>%s</dt><dd data-key=\"%s\">%c</dd></div>\n", name, key, n);
}

static void figures(cofi_report *r)
{
    cofi_out *out = &r->out;
    cofi_out_text(out, "<dl class=\"figures\">\n");
    if (r->table != NULL) count_figure(out, "rows", "n_rows", r->sampled ? r->table->n_all_rows : r->n_rows);
    if (r->n_distinct > 0) count_figure(out, "distinct rows", "n_distinct_rows", r->n_distinct);
    count_figure(out, "columns used", "n_used", r->n_ranked);
    count_figure(out, "clusters", "k", r->k);
    if (r->n_restarts > 0) {
        count_figure(out, r->n_restarts == 1 ? "restart" : "restarts", "n_restarts", r->n_restarts);
        cofi_out_put(out,
                     "<div><dt>log-likelihood</dt><dd data-key=\"log_likelihood\">%2f</dd></div>\n"
                     "<div><dt>objective</dt><dd data-key=\"objective\">%2f</dd></div>\n",
                     r->restarts[r->best_restart].log_likelihood, r->restarts[r->best_restart].objective);
    }
    cofi_out_text(out, "</dl>\n");
}

/* ---- Columns ----------------------------------------------------------------------------------------- */

/* NULL: it was clustered on. */
static const char *why_left_out(const cofi_report *r, size_t column)
{
    const cofi_column *c = &r->table->column[column];
    static const char *const by_role[] = {[COF_ROLE_ATTRIBUTE] = "not among the model's columns",
                                          [COF_ROLE_LABEL] = "true classes, kept for comparison",
                                          [COF_ROLE_IDENTIFIER] = "names the rows",
                                          [COF_ROLE_WEIGHT] = "weights of the rows",
                                          [COF_ROLE_IGNORED] = "left out by choice",
                                          [COF_ROLE_NUMERIC] = "a quantity"};
    if (r->o.left_out != NULL) return r->o.left_out[column];
    for (size_t a = 0; a < r->values.n; a++)
        if (r->values.column[a] == column) return NULL;
    for (size_t a = 0; a < cof_model_n_attributes(r->model); a++)
        if (!r->model->attr[a].used && strcmp(r->model->attr[a].domain.name, c->name) == 0)
            return "the same in every row";
    return c->role >= 0 && c->role <= COF_ROLE_NUMERIC ? by_role[c->role] : by_role[COF_ROLE_IGNORED];
}

static void column_line(cofi_report *r, size_t column)
{
    cof_column view = {.struct_size = sizeof view};
    const char *why = why_left_out(r, column);
    if (cof_table_column(r->table, column, &view) != COF_OK) return;
    const cofi_column *c = &r->table->column[column];
    cofi_html(&r->out, "<tr><th scope=\"row\">%40n%m%m<td>%s%x", view.name,
              (double)cofi_column_as_read(c)->n_values, (double)view.n_missing,
              why == NULL ? "used" : "left out: ", why == NULL ? "" : why);
    if (c->cut != NULL)
        cofi_html(&r->out, "; a quantity, cut into %u bins", c->n_values);
    else if (view.ordinal)
        cofi_out_text(&r->out, "; has a stated order");
    cofi_out_text(&r->out, "</tr>\n");
}

/* Those left out first: they are what a reader has to know. */
static void columns_table(cofi_report *r)
{
    size_t n = cof_table_n_columns(r->table), told = 0;
    bool fold = n > FOLD_COLUMNS;
    if (fold) cofi_out_format(&r->out, "<details><summary>All %zu columns</summary>\n", n);
    cofi_html_body(&r->out, "", "Columns of the table and what they are used for",
                   "column|values#|missing#|use");
    for (int used = 0; used < 2; used++)
        for (size_t c = 0; c < n && told < MOST_COLUMNS; c++) {
            if ((why_left_out(r, c) == NULL) != (used == 1)) continue;
            column_line(r, c);
            told++;
        }
    cofi_html_body_end(&r->out);
    if (told < n) cofi_out_format(&r->out, "<p class=\"soft\">and %zu more columns</p>", n - told);
    if (fold) cofi_out_text(&r->out, "</details>\n");
}

static void left_out_sentence(cofi_report *r)
{
    cofi_out *out = &r->out;
    size_t n = cof_table_n_columns(r->table), n_left = 0, told = 0;
    for (size_t c = 0; c < n; c++) n_left += why_left_out(r, c) != NULL;
    cofi_out_format(out, "<p>%zu of %zu columns were used for clustering.", r->n_ranked, n);
    for (size_t c = 0; c < n && told < 6; c++) {
        const char *why = why_left_out(r, c);
        if (why == NULL) continue;
        cofi_html(out, "%s<b>%24n</b> (%x)", told++ == 0 ? " Left out: " : ", ", r->table->column[c].name,
                  why);
    }
    if (told < n_left) cofi_out_format(out, " and %zu more", n_left - told);
    cofi_out_text(out, n_left > 0 ? ".</p>\n" : "</p>\n");
}

static void missing_sentence(cofi_report *r)
{
    static const char *const how[] = {[COF_MISSING_VALUE] = "and missing counts as a value of its own",
                                      [COF_MISSING_IGNORE] = "and add nothing to any distance",
                                      [COF_MISSING_DROP] = "and their rows have no cluster",
                                      [COF_MISSING_ERROR] = "which the model does not allow"};
    uint64_t cells = 0;
    for (size_t a = 0; a < r->values.n; a++) cells += r->table->column[r->values.column[a]].n_missing;
    if (cells == 0) return;
    cofi_html(&r->out, "<p>%c cell%s missing, %s", cells, cells == 1 ? " is" : "s are",
              how[cof_model_missing(r->model)]);
    if (r->n_clustered < r->n_rows && !r->sampled)
        cofi_html(&r->out, "; %c rows have no cluster", (uint64_t)(r->n_rows - r->n_clustered));
    cofi_out_text(&r->out, ".</p>\n");
}

static void facts(cofi_report *r)
{
    cofi_out *out = &r->out;
    cofi_out_format(out, "<p class=\"soft\">Made by coforest %s, method %s", cof_version(),
                    cof_model_method(r->model));
    if (r->has_trees)
        cofi_out_format(out, ", variant %s",
                        cof_model_variant(r->model) == COF_VARIANT_AUTHORS ? "authors" : "paper");
    for (size_t i = 0; i < r->o.n_facts; i++)
        cofi_out_put(out, ", %x %x", r->o.facts[i].name, r->o.facts[i].value);
    cofi_out_text(out, ".</p>\n");
    for (size_t i = 0; i < r->o.n_notes; i++)
        cofi_out_put(out, "<p class=\"say\"><b>Note:</b> %x.</p>\n", r->o.notes[i]);
}

void cofi_report_overview(cofi_report *r)
{
    cofi_html_section(&r->out, "table", "What was clustered");
    figures(r);
    if (r->table != NULL) {
        if (r->sampled)
            cofi_html(
                &r->out,
                "<p>The map, the rows shown and how clearly rows belong to their clusters are those of a "
                "sample of %c rows, as are counts of rows beside them. Sizes, profiles, trees and scores "
                "are about all rows.</p>\n",
                (uint64_t)r->n_rows);
        left_out_sentence(r);
        missing_sentence(r);
    } else {
        cofi_out_text(
            &r->out,
            "<p>This report was made from the model alone, without its table, so it has no map and no "
            "rows.</p>\n");
    }
    facts(r);
    if (r->table != NULL) columns_table(r);
    cofi_out_text(&r->out, "</section>\n");
}
