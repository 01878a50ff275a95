/* Other partitions that are nearly as good as the kept one: sizes, what marks their clusters, agreement. */
#include "report.h"

enum { TRAITS = 3, MOST_CLUSTERS = 60 };

/* What is written of one alternative. */
typedef struct other {
    const cof_model *model;
    cof_trait *trait; /* k x TRAITS */
    size_t *n;        /* per cluster */
} other;

static void mark(cofi_report *r, const other *o, const cof_trait *t)
{
    char value[COFI_SHOWN_BYTES];
    cofi_html_name(&r->out, o->model->attr[t->attribute].name, 24);
    cofi_out_text(&r->out, " = ");
    cofi_html_name(&r->out, cof_trait_text(o->model, t, value, sizeof value), 24);
    cofi_out_text(&r->out, " ");
    cofi_html_share(&r->out, t->here, t->cluster);
}

static void cluster_line(cofi_report *r, const other *o, uint32_t j)
{
    cofi_out *out = &r->out;
    double size = cof_model_sizes(o->model)[j];
    cofi_out_format(out, "<tr><th scope=\"row\" data-v=\"%u\">%u", j + 1, j + 1);
    cofi_html_count_cell(out, size);
    cofi_html_bar(out, "wide", size, r->total);
    cofi_out_text(out, " %<td>");
    for (size_t i = 0; i < o->n[j]; i++) {
        if (i > 0) cofi_out_text(out, ", ");
        mark(r, o, &o->trait[j * TRAITS + i]);
    }
    if (o->n[j] == 0) cofi_out_text(out, "nothing stands out");
    cofi_out_text(out, "</tr>\n");
}

static void describe(cofi_report *r, const other *o, const cof_alternative *a, size_t number)
{
    static const char *const heads[] = {"cluster", "rows", "share of all", "what distinguishes it"};
    cofi_out *out = &r->out;
    cofi_out_format(out, "<h3>Alternative %zu</h3>\n<p>Its agreement with the kept partition is <strong>",
                    number);
    cofi_out_fixed(out, a->agreement, 0, 3);
    cofi_out_format(out, "</strong> (adjusted Rand index). It is refined by %s; its log-likelihood is ",
                    o->model->refined_by == COF_REFINED_BY_LIKELIHOOD ? "likelihood" : "COForest");
    cofi_out_fixed(out, a->log_likelihood, 0, 2);
    cofi_out_format(out, ". <code>--keep %u</code> makes it the model.</p>\n", a->keep);
    cofi_html_table(out, "full", true,
                    "Clusters of the alternative, their sizes and what distinguishes them");
    cofi_html_heads(out, heads, "-n--", 4);
    cofi_out_text(out, "<tbody>\n");
    for (uint32_t j = 0; j < o->model->k && j < MOST_CLUSTERS; j++) cluster_line(r, o, j);
    cofi_out_text(out, "</tbody>");
    cofi_html_table_end(out);
}

static cof_status write_other(cofi_report *r, size_t number, cof_error *err)
{
    const cof_alternative *a = cof_model_alternative(r->model, number - 1);
    cofi_blocks own = {.env = r->env};
    other o = {.model = a->model,
               .trait = cofi_blocks_add(&own, (size_t)a->model->k * TRAITS, sizeof *o.trait),
               .n = cofi_blocks_add(&own, a->model->k, sizeof *o.n)};
    cof_status status = cofi_blocks_status(&own, err);
    if (status == COF_OK) status = cof_model_traits(o.model, COF_TRAIT_MORE, TRAITS, o.trait, o.n, err);
    if (status == COF_OK) describe(r, &o, a, number);
    cofi_blocks_release(&own);
    return status;
}

cof_status cofi_report_others(cofi_report *r, cof_error *err)
{
    if (cof_model_alternative(r->model, 0) == NULL) return COF_OK;
    cofi_html_section(&r->out, "others", "Other partitions that are nearly as good");
    cofi_out_text(
        &r->out,
        "<p>The criteria that decide between restarts prefer different partitions of this table, so it has "
        "more than one reasonable reading. The best restart by one criterion alone is shown if all gains "
        "together are nearly those of the kept partition and it differs clearly.</p>\n");
    for (size_t number = 1; cof_model_alternative(r->model, number - 1) != NULL; number++)
        COFI_TRY(write_other(r, number, err));
    cofi_out_text(&r->out, "</section>\n");
    return COF_OK;
}
