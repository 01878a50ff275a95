/* A comparison for programs: CSV and JSON. */
#include <math.h>
#include <string.h>

#include "../verbs/compare.h"
#include "../verbs/fit_job.h"
#include "../method_list.h"

/* ---- CSV: one figure a line ---------------------------------------------------------------------- */

/* What has no value has an empty one. */
static void put_figure(FILE *out, const char *table, const char *method, const char *index,
                       const char *quantity, double value)
{
    char digits[COF_NUMBER_BYTES] = "";
    cof_text_cell(file_sink, out, table, ',', 0);
    if (isfinite(value)) cof_text_number(digits, sizeof digits, value);
    fprintf(out, ",%s,%s,%s,%s\n", method, index, quantity, digits);
}

static void put_entry(const comparison *c, FILE *out, const contest *at, size_t method)
{
    const entry *e = &at->entry[method];
    const char *name = contender(c, method);
    put_figure(out, at->path, name, "", "clusters", at->k);
    put_figure(out, at->path, name, "", "runs", e->n_results);
    put_figure(out, at->path, name, "", "fit_s", e->fit_s);
    for (size_t x = 0; x < N_INDICES; x++) {
        const index_kind *m = &c->index[x];
        put_figure(out, at->path, name, m->key, "mean", e->mean[x]);
        if (m->has_deviation) put_figure(out, at->path, name, m->key, "deviation", e->deviation[x]);
        if (m->ranked) put_figure(out, at->path, name, m->key, "rank", e->rank[x]);
    }
}

static void put_verdict(const comparison *c, FILE *out, size_t x)
{
    const cof_friedman_result *t = &c->verdict[x].test;
    const char *key = c->index[x].key;
    for (size_t m = 0; m < c->n_methods; m++)
        put_figure(out, "", contender(c, m), key, "average_rank", c->verdict[x].mean_rank[m]);
    put_figure(out, "", "", key, "chi_square", t->chi_square);
    put_figure(out, "", "", key, "p", t->p);
    put_figure(out, "", "", key, "chi_square_tied", t->chi_square_tied);
    put_figure(out, "", "", key, "p_tied", t->p_tied);
    put_figure(out, "", "", key, "f", t->f);
    put_figure(out, "", "", key, "p_f", t->p_f);
    put_figure(out, "", "", key, "critical_difference_0.05", c->difference[0]);
    put_figure(out, "", "", key, "critical_difference_0.10", c->difference[1]);
}

void write_compare_csv(const comparison *c, FILE *out)
{
    fputs("table,method,index,quantity,value\n", out);
    for (size_t i = 0; i < c->n_contests; i++)
        for (size_t m = 0; m < c->n_methods; m++) put_entry(c, out, &c->contest[i], m);
    for (size_t x = 0; c->has_verdict && x < N_INDICES; x++)
        if (c->index[x].ranked) put_verdict(c, out, x);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void json_settings(const comparison *c, cof_json *j)
{
    cof_json_text(j, "version", cof_version());
    cof_json_text(j, "label", c->s.columns.label);
    cof_json_count(j, "runs", c->s.runs);
    cof_json_count(j, "seed", c->s.fit.seed);
    cof_json_text(j, "init", cof_start_name((size_t)c->s.fit.init));
    cof_json_flag(j, "as_fit", c->s.as_fit);
    cof_json_text(j, "variant", option_word("variant", c->s.fit.variant));
    cof_json_text(j, "missing", option_word("missing", c->s.fit.missing));
    cof_json_open_line(j, "methods", '[');
    for (size_t m = 0; m < c->n_methods; m++) cof_json_text(j, NULL, contender(c, m));
    cof_json_close(j, ']');
    cof_json_text(j, "control", contender(c, c->control));
}

static void json_entry(const comparison *c, const contest *at, size_t method, cof_json *j)
{
    const entry *e = &at->entry[method];
    cof_json_open(j, NULL, '{');
    cof_json_text(j, "method", contender(c, method));
    cof_json_count(j, "n_results", e->n_results);
    cof_json_text(j, "no_result", e->n_results < c->s.runs ? e->reason : NULL);
    cof_json_real(j, "fit_s", e->fit_s);
    for (size_t x = 0; x < N_INDICES; x++) {
        cof_json_open_line(j, c->index[x].key, '{');
        cof_json_real(j, "mean", e->mean[x]);
        if (c->index[x].has_deviation) cof_json_real(j, "deviation", e->deviation[x]);
        if (c->index[x].ranked) cof_json_real(j, "rank", e->rank[x]);
        if (c->index[x].has_deviation) {
            cof_json_open_line(j, "values", '[');
            for (uint32_t r = 0; r < c->s.runs; r++)
                cof_json_real(j, NULL, e->value[(size_t)r * N_INDICES + x]);
            cof_json_close(j, ']');
        }
        cof_json_close(j, '}');
    }
    cof_json_close(j, '}');
}

static void json_contest(const comparison *c, const contest *at, cof_json *j)
{
    cof_json_open(j, NULL, '{');
    cof_json_text(j, "table", at->path);
    cof_json_count(j, "n_rows", at->n_rows);
    cof_json_count(j, "n_columns", at->columns.n_used);
    cof_json_count(j, "k", at->k);
    cof_json_open(j, "results", '[');
    for (size_t m = 0; m < c->n_methods; m++) json_entry(c, at, m, j);
    cof_json_close(j, ']');
    cof_json_close(j, '}');
}

/* 1 worse than the control, -1 better, 0 no difference at that level. */
static void json_ranks(const comparison *c, size_t x, cof_json *j)
{
    cof_json_open(j, "ranks", '[');
    for (size_t m = 0; m < c->n_methods; m++) {
        static const char *const word[] = {"better", "no", "worse"};
        cof_json_open_line(j, NULL, '{');
        cof_json_text(j, "method", contender(c, m));
        cof_json_real(j, "average_rank", c->verdict[x].mean_rank[m]);
        cof_json_text(j, "differs_0.05", word[differs(c, x, m, 0) + 1]);
        cof_json_text(j, "differs_0.10", word[differs(c, x, m, 1) + 1]);
        cof_json_close(j, '}');
    }
    cof_json_close(j, ']');
}

static void json_verdict(const comparison *c, size_t x, cof_json *j)
{
    const cof_friedman_result *t = &c->verdict[x].test;
    cof_json_open(j, c->index[x].key, '{');
    json_ranks(c, x, j);
    cof_json_real(j, "chi_square", t->chi_square);
    cof_json_count(j, "df", t->df);
    cof_json_real(j, "p", t->p);
    cof_json_real(j, "chi_square_tied", t->chi_square_tied);
    cof_json_real(j, "p_tied", t->p_tied);
    cof_json_real(j, "f", t->f);
    cof_json_count(j, "f_df1", t->f_df1);
    cof_json_count(j, "f_df2", t->f_df2);
    cof_json_real(j, "p_f", t->p_f);
    cof_json_real(j, "critical_difference_0.05", c->difference[0]);
    cof_json_real(j, "critical_difference_0.10", c->difference[1]);
    cof_json_close(j, '}');
}

void write_compare_json(const comparison *c, FILE *out)
{
    cof_json j;
    cof_json_begin(&j, file_sink, out);
    cof_json_open(&j, NULL, '{');
    json_settings(c, &j);
    cof_json_open(&j, "tables", '[');
    for (size_t i = 0; i < c->n_contests; i++) json_contest(c, &c->contest[i], &j);
    cof_json_close(&j, ']');
    if (c->has_verdict) {
        cof_json_open(&j, "over_all", '{');
        for (size_t x = 0; x < N_INDICES; x++)
            if (c->index[x].ranked) json_verdict(c, x, &j);
        cof_json_close(&j, '}');
    }
    cof_json_real(&j, "elapsed_s", c->elapsed_s);
    cof_json_close(&j, '}');
    cof_json_end(&j);
}
