/* The result of a fit as one JSON object. The fields are a contract: docs and scripts rely on them. */
#include <math.h>
#include <stdlib.h>

#include "fit_job.h"
#include "method_list.h"
#include "progress.h"
#include "show_scores.h"

const char *stop_word(int32_t stop_reason)
{
    static const char *const words[] = {[COF_STOP_CONVERGED] = "converged",
                                        [COF_STOP_CYCLE] = "cycle",
                                        [COF_STOP_CAP] = "cap",
                                        [COF_STOP_STOPPED] = "stopped"};
    return stop_reason >= 0 && stop_reason <= COF_STOP_STOPPED ? words[stop_reason] : "unknown";
}

/* Every column of the table: what became of it, and why it takes no part if it does not. */
static void print_attributes(const fit_job *job, cof_json *j)
{
    cof_json_open(j, "attributes", '[');
    for (size_t c = 0; c < job->columns.n; c++) {
        cof_column view;
        if (cof_table_column(job->table, c, &view) != COF_OK) continue;
        cof_json_open_line(j, NULL, '{');
        cof_json_text(j, "name", view.name);
        cof_json_count(j, "n_values", view.n_values);
        cof_json_count(j, "n_missing", view.n_missing);
        cof_json_flag(j, "used", job->columns.why[c] == USED || job->columns.why[c] == AS_NUMBER);
        cof_json_text(j, "why", left_out_word(job->columns.why[c]));
        cof_json_close(j, '}');
    }
    cof_json_close(j, ']');
}

static void print_restarts(const fit_job *job, cof_json *j)
{
    size_t n = 0;
    const cof_restart_record *record = cof_model_restarts(job->model, &n);
    cof_json_open(j, "restart_records", '[');
    for (size_t i = 0; i < n; i++) {
        cof_json_open_line(j, NULL, '{');
        cof_json_real(j, "objective", record[i].objective);
        cof_json_real(j, "log_likelihood", record[i].log_likelihood);
        cof_json_count(j, "rebuilds", record[i].rebuilds);
        cof_json_count(j, "passes", record[i].passes);
        cof_json_text(j, "stop_reason", stop_word(record[i].stop_reason));
        if (job->s.select == COF_SELECT_BALANCE) cof_json_real(j, "balance", record[i].criterion);
        cof_json_close(j, '}');
    }
    cof_json_close(j, ']');
}

static void print_settings(const fit_job *job, cof_json *j)
{
    const fit_settings *s = &job->s;
    cof_json_text(j, "version", cof_version());
    cof_json_text(j, "method", cof_model_method(job->model));
    cof_json_text(j, "variant",
                  has_variants(cof_model_method(job->model)) ? variant_choices[s->variant].name : NULL);
    cof_json_count(j, "k", s->k);
    cof_json_count(j, "n_rows", cof_table_n_rows(job->table));
    if (job->info.n_distinct_rows > 0)
        cof_json_count(j, "n_distinct_rows", job->info.n_distinct_rows);
    else
        cof_json_text(j, "n_distinct_rows", NULL); /* not counted */
    cof_json_count(j, "n_dropped", job->info.n_dropped);
    print_attributes(job, j);
    cof_json_count(j, "seed", s->seed);
    cof_json_count(j, "restarts", s->restarts);
    cof_json_text(j, "init", s->init_rows != NULL ? "rows" : init_choices[s->init].name);
    cof_json_text(j, "select", select_choices[s->select].name);
    cof_json_text(j, "missing", missing_choices[s->missing].name);
}

/* Every number of clusters tried; the one kept is "k". */
static void print_curve(const fit_job *job, cof_json *j)
{
    size_t n = 0;
    const cof_k_record *record = cof_model_k_curve(job->model, &n);
    uint32_t second = cof_model_k_runner_up(job->model);
    if (record == NULL) return;
    cof_json_open(j, "k_curve", '[');
    for (size_t i = 0; i < n; i++) {
        cof_json_open_line(j, NULL, '{');
        cof_json_count(j, "k", record[i].k);
        cof_json_real(j, "log_likelihood", record[i].log_likelihood);
        cof_json_close(j, '}');
    }
    cof_json_close(j, ']');
    if (second > 0)
        cof_json_count(j, "k_runner_up", second);
    else
        cof_json_text(j, "k_runner_up", NULL);
}

/* Mean lead of the rows of each cluster, and how many of them are close calls. */
static void print_margins(const fit_job *job, cof_json *j)
{
    size_t n = 0;
    const int32_t *label = cof_model_labels(job->model, &n);
    double *lead = calloc(job->s.k, sizeof *lead);
    uint64_t *count = calloc(job->s.k, sizeof *count), *close = calloc(job->s.k, sizeof *close);
    if (job->margin != NULL && lead != NULL && count != NULL && close != NULL) {
        for (size_t i = 0; i < n; i++) {
            if (label[i] < 0) continue;
            double own = cof_margin_lead(&job->margin[i]);
            lead[label[i]] += own;
            count[label[i]]++;
            close[label[i]] += own < COF_CLOSE_LEAD;
        }
        cof_json_open_line(j, "mean_lead", '[');
        for (uint32_t c = 0; c < job->s.k; c++)
            cof_json_real(j, NULL, count[c] > 0 ? lead[c] / (double)count[c] : (double)NAN);
        cof_json_close(j, ']');
        cof_json_open_line(j, "n_close", '[');
        for (uint32_t c = 0; c < job->s.k; c++) cof_json_count(j, NULL, close[c]);
        cof_json_close(j, ']');
    }
    free(lead);
    free(count);
    free(close);
}

static void print_cluster_agreement(const fit_job *job, cof_json *j)
{
    uint32_t n_good = 0;
    const double *agreement = cof_model_cluster_agreement(job->model, &n_good);
    if (agreement == NULL) return;
    cof_json_count(j, "n_good_restarts", n_good);
    cof_json_open_line(j, "cluster_agreement", '[');
    for (uint32_t c = 0; c < job->s.k; c++) cof_json_real(j, NULL, agreement[c]);
    cof_json_close(j, ']');
}

static void print_result(const fit_job *job, cof_json *j)
{
    const cof_fit_info *info = &job->info;
    const double *sizes = cof_model_sizes(job->model);
    cof_json_real(j, "objective", info->objective);
    cof_json_real(j, "log_likelihood", info->log_likelihood);
    cof_json_real(j, "log_likelihood_of_one", info->log_likelihood_of_one);
    if (!isnan(info->log_likelihood_of_one))
        cof_json_flag(j, "structure_found", info->log_likelihood > info->log_likelihood_of_one);
    print_curve(job, j);
    if (!isnan(info->bic)) cof_json_real(j, "mixture_log_likelihood", info->mixture_log_likelihood);
    if (!isnan(info->bic)) cof_json_real(j, "bic", info->bic);
    cof_json_count(j, "best_restart", info->best_restart + 1u);
    if (cof_model_agreement(job->model) != NULL)
        cof_json_real(j, "agreement", mean_agreement(job->model, info->best_restart));
    print_cluster_agreement(job, j);
    cof_json_count(j, "rebuilds", info->rebuilds);
    cof_json_count(j, "passes", info->passes);
    cof_json_text(j, "stop_reason", stop_word(info->stop_reason));
    cof_json_open_line(j, "sizes", '[');
    for (uint32_t c = 0; c < job->s.k; c++) cof_json_real(j, NULL, sizes[c]);
    cof_json_close(j, ']');
    cof_json_count(j, "n_empty", info->n_empty);
    print_margins(job, j);
    print_restarts(job, j);
    if (job->classes == NULL) return;
    cof_json_open(j, "scores", '{');
    json_scores(j, &job->scores);
    cof_json_close(j, '}');
}

static void print_timings(const fit_job *job, cof_json *j)
{
    const cof_fit_info *info = &job->info;
    cof_json_open(j, "timings", '{');
    cof_json_real(j, "read_s", job->read_s);
    cof_json_real(j, "encode_s", info->prepare_s);
    cof_json_real(j, "start_s", info->start_s);
    cof_json_real(j, "pass_s", info->pass_s);
    cof_json_real(j, "forest_s", info->forest_s);
    cof_json_real(j, "fit_s", info->fit_s);
    cof_json_real(j, "processor_s", job->processor_s);
    cof_json_real(j, "total_s", now_s() - job->begun_s);
    cof_json_close(j, '}');
    cof_json_count(j, "row_visits", info->row_visits);
    cof_json_count(j, "threads", info->threads);
    cof_json_text(j, "kernel", info->kernel);
}

void print_fit_json(const fit_job *job)
{
    cof_json j;
    cof_json_begin(&j, file_sink, stdout);
    cof_json_open(&j, NULL, '{');
    print_settings(job, &j);
    print_result(job, &j);
    print_timings(job, &j);
    cof_json_open(&j, "warnings", '[');
    for (size_t i = 0; i < job->n_warnings; i++) cof_json_text(&j, NULL, job->warning[i]);
    cof_json_close(&j, ']');
    cof_json_close(&j, '}');
    cof_json_end(&j);
}
