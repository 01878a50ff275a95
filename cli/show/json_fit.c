/* The result of a fit as one JSON object. Its fields come from the library's table of them, which the manual lists too;
 * what only the program knows is added here. */
#include "../verbs/fit_job.h"
#include "../method_list.h"
#include "../complain.h"
#include "../progress.h"
#include "show_scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_value(cof_json *j, const char *key, int32_t type, cof_field_value value)
{
    if (!value.known)
        cof_json_text(j, key, NULL);
    else if (type == COF_FIELD_REAL)
        cof_json_real(j, key, value.real);
    else if (type == COF_FIELD_TEXT)
        cof_json_text(j, key, value.text);
    else if (type == COF_FIELD_FLAG)
        cof_json_flag(j, key, value.count != 0);
    else
        cof_json_count(j, key, value.count + (type == COF_FIELD_INDEX));
}

void json_members(cof_json *j, const cof_model *model, const cof_fit_info *info, size_t list, size_t at)
{
    const char *key = cof_result_field(list)->key;
    const cof_field *member;
    for (size_t f = list + 1; (member = cof_result_field(f)) != NULL; f++) {
        if (member->inside == NULL || strcmp(member->inside, key) != 0) break;
        if (cof_result_length(model, info, f) > 0)
            put_value(j, member->key, member->type, cof_result_value(model, info, f, at));
    }
}

size_t field_place(const char *key)
{
    size_t f = 0;
    while (cof_result_field(f)->inside != NULL || strcmp(cof_result_field(f)->key, key) != 0) f++;
    return f;
}

/* An object or a list of records. */
static void put_group(cof_json *j, const fit_job *job, size_t f)
{
    const cof_field *field = cof_result_field(f);
    bool list = field->type == COF_FIELD_RECORDS;
    size_t n = cof_result_length(job->model, &job->info, f);
    cof_json_open(j, field->key, list ? '[' : '{');
    if (!list) json_members(j, job->model, &job->info, f, 0);
    for (size_t i = 0; list && i < n; i++) {
        cof_json_open_line(j, NULL, '{');
        json_members(j, job->model, &job->info, f, i);
        cof_json_close(j, '}');
    }
    if (!list) { /* the only object: timings */
        cof_json_real(j, "processor_s", job->processor_s);
        cof_json_real(j, "read_s", job->read_s);
        cof_json_real(j, "total_s", now_s() - job->begun_s);
    }
    cof_json_close(j, list ? ']' : '}');
}

static void put_field(cof_json *j, const fit_job *job, size_t f)
{
    const cof_field *field = cof_result_field(f);
    size_t n = cof_result_length(job->model, &job->info, f);
    if (field->type == COF_FIELD_OBJECT || field->type == COF_FIELD_RECORDS) {
        put_group(j, job, f);
        return;
    }
    if (field->per_cluster) cof_json_open_line(j, field->key, '[');
    for (size_t i = 0; i < n; i++)
        put_value(j, field->per_cluster ? NULL : field->key, field->type,
                  cof_result_value(job->model, &job->info, f, i));
    if (field->per_cluster) cof_json_close(j, ']');
}

static void print_fields(const fit_job *job, cof_json *j)
{
    const cof_field *field;
    for (size_t f = 0; (field = cof_result_field(f)) != NULL; f++) {
        if (field->inside != NULL || cof_result_length(job->model, &job->info, f) == 0) continue;
        if (strcmp(field->key, "history") != 0) put_field(j, job, f); /* it has a file of its own */
    }
}

/* Only where the column was cut. */
static void print_cut(const cof_table *table, size_t column, cof_json *j)
{
    size_t n = 0;
    const double *edge = cof_table_edges(table, column, &n);
    if (edge == NULL) return;
    cof_json_open_line(j, "cut_at", '[');
    for (size_t e = 0; e < n; e++) cof_json_real(j, NULL, edge[e]);
    cof_json_close(j, ']');
}

/* Least, quartiles and greatest of a quantity in every cluster. */
static void print_five(const cof_model *model, size_t attribute, cof_json *j)
{
    if (cof_model_five(model, attribute, 0) == NULL) return;
    cof_json_open_line(j, "quartiles", '[');
    for (uint32_t cluster = 0; cluster < cof_model_k(model); cluster++) {
        const double *five = cof_model_five(model, attribute, cluster);
        cof_json_open_line(j, NULL, '[');
        for (int q = 0; q < COF_N_FIVE; q++) cof_json_real(j, NULL, five[q]);
        cof_json_close(j, ']');
    }
    cof_json_close(j, ']');
}

/* Of classes: the probabilities of the values, a list for each class. */
static void print_probabilities(const cof_model *model, size_t attribute, cof_json *j)
{
    cof_attribute about = attribute_of(model, attribute);
    if (!about.used || isnan(cof_model_class_share(model, 0))) return;
    cof_json_open_line(j, "values", '[');
    for (uint32_t v = 0; v < about.n_values; v++)
        cof_json_text(j, NULL, cof_model_value(model, attribute, v));
    cof_json_close(j, ']');
    cof_json_open_line(j, "class_probabilities", '[');
    for (uint32_t cluster = 0; cluster < cof_model_k(model); cluster++) {
        cof_json_open_line(j, NULL, '[');
        for (uint32_t v = 0; v < about.n_values; v++)
            cof_json_real(j, NULL, cof_model_class_probability(model, attribute, v, cluster));
        cof_json_close(j, ']');
    }
    cof_json_close(j, ']');
}

static void print_means(const cof_model *model, size_t quantity, cof_json *j)
{
    cof_json_open_line(j, "means", '[');
    for (uint32_t cluster = 0; cluster < cof_model_k(model); cluster++)
        cof_json_real(j, NULL, cof_model_numeric_mean(model, quantity, cluster));
    cof_json_close(j, ']');
}

/* Every column of the table: what became of it, and why it takes no part if it does not. */
static void print_attributes(const fit_job *job, cof_json *j)
{
    size_t attribute = 0, quantity = 0; /* of the model */
    cof_json_open(j, "attributes", '[');
    for (size_t c = 0; c < job->columns.n; c++) {
        cof_column view = column_of(job->table, c);
        cof_json_open_line(j, NULL, '{');
        cof_json_text(j, "name", view.name);
        cof_json_count(j, "n_values", view.n_values);
        cof_json_count(j, "n_missing", view.n_missing);
        cof_json_flag(j, "used", job->columns.why[c] == USED || job->columns.why[c] == AS_NUMBER);
        cof_json_text(j, "why", left_out_word(job->columns.why[c]));
        print_cut(job->table, c, j);
        if (job->columns.weight != NULL) cof_json_real(j, "column_weight", job->columns.weight[c]);
        if (view.role == COF_ROLE_ATTRIBUTE) {
            print_five(job->model, attribute, j);
            if (strcmp(cof_model_method(job->model), "lca") == 0)
                print_probabilities(job->model, attribute, j);
            attribute++;
        }
        if (view.role == COF_ROLE_NUMERIC) print_means(job->model, quantity++, j);
        cof_json_close(j, '}');
    }
    cof_json_close(j, ']');
}

/* Mean lead of the rows of each cluster, and how many of them are close calls. */
static void print_margins(const fit_job *job, cof_json *j)
{
    size_t n = 0;
    const int32_t *label = cof_model_labels(job->model, &n);
    double *lead = keep(job->s.fit.k, sizeof *lead);
    uint64_t *count = keep(job->s.fit.k, sizeof *count), *close = keep(job->s.fit.k, sizeof *close);
    if (job->margin == NULL) return;
    for (size_t i = 0; i < n; i++) {
        if (label[i] < 0) continue;
        double own = cof_margin_lead(&job->margin[i]);
        lead[label[i]] += own;
        count[label[i]]++;
        close[label[i]] += own < COF_CLOSE_LEAD;
    }
    cof_json_open_line(j, "mean_lead", '[');
    for (uint32_t c = 0; c < job->s.fit.k; c++)
        cof_json_real(j, NULL, count[c] > 0 ? lead[c] / (double)count[c] : (double)NAN);
    cof_json_close(j, ']');
    cof_json_open_line(j, "n_close", '[');
    for (uint32_t c = 0; c < job->s.fit.k; c++) cof_json_count(j, NULL, close[c]);
    cof_json_close(j, ']');
}

void print_fit_json(const fit_job *job)
{
    cof_json j;
    cof_json_begin(&j, file_sink, stdout);
    cof_json_open(&j, NULL, '{');
    cof_json_text(&j, "version", cof_version());
    cof_json_count(&j, "seed", job->s.fit.seed);
    cof_json_text(&j, "init", job->s.init_rows != NULL ? "rows" : cof_start_name((size_t)job->s.fit.init));
    print_attributes(job, &j);
    print_fields(job, &j);
    print_margins(job, &j);
    if (job->scored) {
        cof_json_open(&j, "scores", '{');
        json_scores(&j, &job->scores);
        cof_json_close(&j, '}');
    }
    cof_json_open(&j, "warnings", '[');
    for (size_t i = 0; i < job->n_warnings; i++) cof_json_text(&j, NULL, job->warning[i]);
    cof_json_close(&j, ']');
    cof_json_close(&j, '}');
    cof_json_end(&j);
}
