/* The top of the report: key figures, what was clustered, and what was left out. */
#include "report.h"

enum { MOST_COLUMNS = 1000, FOLD_COLUMNS = 8, MOST_LEFT_OUT = 6 };

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

static void put_column(cofi_report *r, size_t column, const char *why)
{
    cofi_page *p = &r->page;
    cof_column view = {.struct_size = sizeof view};
    const cofi_column *c = &r->table->column[column];
    if (cof_table_column(r->table, column, &view) != COF_OK) return;
    cofi_page_open(p, "columns");
    cofi_page_name(p, "name", view.name, 40);
    cofi_page_count(p, "values", (double)cofi_column_as_read(c)->n_values);
    cofi_page_count(p, "missing", (double)view.n_missing);
    cofi_page_put(p, "why", "%s", why != NULL ? why : "");
    cofi_page_put(p, "n_bins", c->cut != NULL ? "%u" : "", (unsigned)c->n_values);
    cofi_page_flag(p, "ordinal", c->cut == NULL && view.ordinal);
    cofi_page_close(p);
}

static void put_table(cofi_report *r)
{
    static const char *const missing[] = {[COF_MISSING_VALUE] = "value",
                                          [COF_MISSING_IGNORE] = "ignore",
                                          [COF_MISSING_DROP] = "drop",
                                          [COF_MISSING_ERROR] = "error"};
    cofi_page *p = &r->page;
    size_t n = cof_table_n_columns(r->table), n_left = 0, n_told = 0;
    uint64_t n_missing = 0;
    cofi_page_open(p, "table");
    if (r->sampled) cofi_page_put(p, "sampled", "%c", (uint64_t)r->n_rows);
    cofi_page_put(p, "n_columns", "%z", n);
    for (size_t c = 0; c < n; c++) {
        const char *why = why_left_out(r, c);
        if (why == NULL || n_left++ >= MOST_LEFT_OUT) continue;
        cofi_page_open(p, "left_out");
        cofi_page_name(p, "name", r->table->column[c].name, 24);
        cofi_page_put(p, "why", "%s", why);
        cofi_page_close(p);
    }
    if (n_left > MOST_LEFT_OUT) cofi_page_put(p, "n_more_left_out", "%z", n_left - MOST_LEFT_OUT);
    for (size_t a = 0; a < r->values.n; a++) n_missing += r->table->column[r->values.column[a]].n_missing;
    if (n_missing > 0) cofi_page_put(p, "n_missing", "%c", n_missing);
    cofi_page_put(p, "missing", "%s", missing[cof_model_missing(r->model)]);
    if (r->n_clustered < r->n_rows && !r->sampled)
        cofi_page_put(p, "n_without", "%c", (uint64_t)(r->n_rows - r->n_clustered));
    cofi_page_flag(p, "folded", n > FOLD_COLUMNS);
    /* those left out first: they are what a reader has to know */
    for (int used = 0; used < 2; used++)
        for (size_t c = 0; c < n && n_told < MOST_COLUMNS; c++) {
            const char *why = why_left_out(r, c);
            if ((why == NULL) != (used == 1)) continue;
            put_column(r, c, why);
            n_told++;
        }
    if (n_told < n) cofi_page_put(p, "n_more_columns", "%z", n - n_told);
    cofi_page_close(p);
}

void cofi_report_overview(cofi_report *r)
{
    cofi_page *p = &r->page;
    char shown[COFI_SHOWN_BYTES];
    const char *source = r->o.source != NULL ? r->o.source : "", *slash = strrchr(source, '/');
    if (slash != NULL && slash[1] != '\0') source = slash + 1; /* the file's name, not its path */
    cofi_page_put(p, "source", "%s", r->o.source != NULL ? cofi_shown(shown, source, 80) : "");
    cofi_page_put(p, "version", "%s", cof_version());
    cofi_page_put(p, "method", "%s", cof_model_method(r->model));
    cofi_page_put(p, "variant", "%s",
                  !r->has_trees                                        ? ""
                  : cof_model_variant(r->model) == COF_VARIANT_AUTHORS ? "authors"
                                                                       : "paper");
    cofi_page_put(p, "k", "%u", r->k);
    cofi_page_put(p, "n_used", "%c", (uint64_t)r->n_ranked);
    if (r->table != NULL)
        cofi_page_put(p, "n_rows", "%c", (uint64_t)(r->sampled ? r->table->n_all_rows : r->n_rows));
    if (r->n_distinct > 0) cofi_page_put(p, "n_distinct", "%c", r->n_distinct);
    if (r->n_restarts > 0) {
        cofi_page_put(p, "n_restarts", "%c", (uint64_t)r->n_restarts);
        cofi_page_put(p, "log_likelihood", "%2f", r->restarts[r->best_restart].log_likelihood);
        cofi_page_put(p, "objective", "%2f", r->restarts[r->best_restart].objective);
    }
    for (size_t i = 0; i < r->o.n_facts; i++) {
        cofi_page_open(p, "facts");
        cofi_page_put(p, "name", "%s", r->o.facts[i].name);
        cofi_page_put(p, "value", "%s", r->o.facts[i].value);
        cofi_page_close(p);
    }
    for (size_t i = 0; i < r->o.n_notes; i++) {
        cofi_page_open(p, "notes");
        cofi_page_put(p, "text", "%s", r->o.notes[i]);
        cofi_page_close(p);
    }
    for (uint32_t j = 0; j < r->k; j++) {
        cofi_page_open_cluster(p, "clusters", j);
        cofi_page_flag(p, "open", j < COFI_REPORT_OPEN);
        cofi_page_flag(p, "coloured", j < COFI_COLOURS);
        cofi_page_flag(p, "pressed", j < 100);
        cofi_page_close(p);
    }
    cofi_page_flag(p, "unfolded", r->k <= COFI_REPORT_OPEN);
    cofi_page_put(p, "colours_repeat", r->k > COFI_COLOURS ? "%u" : "", (unsigned)COFI_COLOURS);
    if (r->table != NULL) put_table(r);
}
