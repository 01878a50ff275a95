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
    cofi_html(&r->out, "%24n = %24n %p", o->model->attr[t->attribute].domain.name,
              cof_trait_text(o->model, t, value, sizeof value), t->here, t->cluster);
}

static void cluster_line(cofi_report *r, const other *o, uint32_t j)
{
    cofi_out *out = &r->out;
    double size = cof_model_sizes(o->model)[j];
    cofi_html(out, "<tr><th scope=\"row\" data-v=\"%u\">%u%m%B %%<td>", j + 1, j + 1, size, size, r->total);
    for (size_t i = 0; i < o->n[j]; i++) {
        if (i > 0) cofi_out_text(out, ", ");
        mark(r, o, &o->trait[j * TRAITS + i]);
    }
    if (o->n[j] == 0) cofi_out_text(out, "nothing stands out");
    cofi_out_text(out, "</tr>\n");
}

static void describe(cofi_report *r, const other *o, const cof_alternative *a, size_t number)
{
    cofi_out *out = &r->out;
    cofi_out_put(
        out,
        "<h3>Alternative %z</h3>\n<p>Its agreement with the kept partition is <strong>%3f</strong> "
        "(adjusted Rand index). It is refined by %s; its log-likelihood is %2f. <code>--keep %u</code> "
        "makes it the model.</p>\n",
        number, a->agreement, o->model->refined_by == COF_REFINED_BY_LIKELIHOOD ? "likelihood" : "COForest",
        a->log_likelihood, a->keep);
    cofi_html_body(out, "full", "Clusters of the alternative, their sizes and what distinguishes them",
                   "cluster|rows#|share of all|what distinguishes it");
    for (uint32_t j = 0; j < o->model->k && j < MOST_CLUSTERS; j++) cluster_line(r, o, j);
    cofi_html_body_end(out);
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
