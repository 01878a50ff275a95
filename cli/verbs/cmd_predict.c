/* coforest predict: the clusters of new rows, by a model that was kept. */
#include "cmd.h"
#include "../column_choice.h"
#include "../complain.h"
#include "../show/labels_csv.h"
#include "../progress.h"
#include "../term.h"

typedef struct predict_settings {
    reading reading;
    uint32_t threads;
    const char *labels_out, *table_out, *memberships_out, *scores_out;
    bool json, quiet, raw_names, no_clobber;
} predict_settings;

enum { OUT_LABELS, OUT_TABLE, OUT_MEMBERSHIPS, OUT_SCORES, N_OUT };

typedef struct predict_job {
    predict_settings s;
    const char *model_path, *table_path;
    progress_line line; /* here, because the table keeps pointing at it */
    cof_model *model;
    cof_table *table;
    int32_t *labels;
    uint64_t *sizes; /* k */
    cof_predict_info info;
    outfile out[N_OUT];
    double read_s, predict_s;
} predict_job;

static const option predict_options[] = {
    OPTION("labels-out", "FILE", OPTION_TEXT, predict_settings, labels_out,
           "Where the labels go (default: \"-\", standard output).", .hint = HINT_FILE),
    OPTION("table-out", "FILE", OPTION_TEXT, predict_settings, table_out,
           "Write the table with a column \"cluster\" added, as CSV, and no labels to standard output.",
           .hint = HINT_FILE),
    OPTION(
        "memberships-out", "FILE", OPTION_TEXT, predict_settings, memberships_out,
        "Write the probabilities of every row for every cluster, as CSV, and no labels to standard output.",
        .hint = HINT_FILE),
    OPTION("scores-out", "FILE", OPTION_TEXT, predict_settings, scores_out,
           "Write the log-likelihood of every row under the model, as CSV, and no labels to standard output: "
           "the lower, the less the row is like those that were fitted.",
           .hint = HINT_FILE),
    NO_CLOBBER_OPTION(predict_settings),
    OPTION("raw-names", NULL, OPTION_FLAG, predict_settings, raw_names,
           "Write names and values into CSV files as they are. Without this, one that a spreadsheet would "
           "run as a formula gets a ' before it, and control characters become \\x1b and the like."),
    OPTION("threads", "T", OPTION_COUNT, predict_settings, threads, "Threads to use (default: 0, all cores).",
           .most = 1024),
    OPTION("json", NULL, OPTION_FLAG, predict_settings, json,
           "Print one JSON object instead of CSV; it holds the labels unless --labels-out takes them."),
    OPTION("quiet", NULL, OPTION_FLAG, predict_settings, quiet,
           "Print no remarks about unknown values or rows left out.", .letter = 'q'),
    {.name = NULL}};

static int load_inputs(predict_job *job)
{
    cof_error err;
    TRY(complain_status(cof_model_load(NULL, job->model_path, &job->model, &err), TASK_MODEL, &err));
    job->line = progress_begin(job->s.quiet, job->table_path);
    cof_env env = progress_env(&job->line);
    double begun_s = now_s();
    catch_signals();
    job->s.reading.threads = job->s.threads;
    int code = read_table(&env, job->table_path, &job->s.reading, NULL, &job->table);
    progress_erase(&job->line);
    job->read_s = now_s() - begun_s;
    return code;
}

static int label_rows(predict_job *job)
{
    cof_error err;
    size_t n_rows = cof_table_n_rows(job->table);
    double begun_s = now_s();
    job->labels = keep(n_rows + 1, sizeof *job->labels);
    job->sizes = keep((size_t)cof_model_k(job->model) + 1, sizeof *job->sizes);
    job->info = (cof_predict_info){.struct_size = sizeof job->info};
    TRY(complain_status(
        cof_model_predict(job->model, job->table, job->s.threads, job->labels, n_rows, &job->info, &err),
        TASK_PREDICT, &err));
    for (size_t i = 0; i < n_rows; i++)
        if (job->labels[i] >= 0) job->sizes[job->labels[i]]++;
    job->predict_s = now_s() - begun_s;
    return CODE_DONE;
}

static void print_json(const predict_job *job)
{
    cof_json j;
    cof_json_begin(&j, file_sink, stdout);
    size_t n_rows = cof_table_n_rows(job->table);
    cof_json_open(&j, NULL, '{');
    cof_json_text(&j, "version", cof_version());
    cof_json_text(&j, "model", job->model_path);
    cof_json_count(&j, "k", cof_model_k(job->model));
    cof_json_count(&j, "n_rows", n_rows);
    cof_json_count(&j, "n_dropped", job->info.n_dropped);
    cof_json_count(&j, "n_unseen_cells", job->info.n_unseen_cells);
    cof_json_count(&j, "n_unseen_rows", job->info.n_unseen_rows);
    cof_json_count(&j, "n_blank_rows", job->info.n_blank_rows);
    cof_json_open_line(&j, "sizes", '[');
    for (uint32_t c = 0; c < cof_model_k(job->model); c++) cof_json_count(&j, NULL, job->sizes[c]);
    cof_json_close(&j, ']');
    if (job->s.labels_out == NULL) {
        cof_json_open_line(&j, "labels", '[');
        for (size_t i = 0; i < n_rows; i++)
            if (job->labels[i] < 0)
                cof_json_text(&j, NULL, NULL);
            else
                cof_json_count(&j, NULL, (uint64_t)job->labels[i] + 1);
        cof_json_close(&j, ']');
    }
    cof_json_open_line(&j, "timings", '{');
    cof_json_real(&j, "read_s", job->read_s);
    cof_json_real(&j, "predict_s", job->predict_s);
    cof_json_close(&j, '}');
    cof_json_close(&j, '}');
    cof_json_end(&j);
}

static void remark_value(const predict_job *job, const cof_unseen *u)
{
    cof_column view = {.struct_size = sizeof view};
    if (cof_table_column(job->table, u->column, &view) != COF_OK) return;
    fprintf(stderr, "  %s: ", show_name(view.name, 40).text);
    if (u->missing)
        fputs("missing", stderr);
    else
        fprintf(stderr, "\"%s\"", show_text(u->text, 40).text);
    fprintf(stderr, " in %s row%s", show_count(u->rows).text, plural(u->rows));
    if (u->like >= 0) {
        const char *like = cof_model_value(job->model, u->attribute, (uint32_t)u->like);
        fprintf(stderr, "; the model has \"%s\", and %s makes them one", show_text(like, 40).text,
                tidy_words(joining_options(u->text, like)));
    }
    fputc('\n', stderr);
}

/* Which values those are, the first few of them. */
static void remark_unseen(const predict_job *job)
{
    enum { MOST = 8 };
    cof_unseen list[MOST];
    size_t n = 0;
    if (cof_model_unseen(job->model, job->table, list, MOST, &n, NULL) != COF_OK) return;
    for (size_t i = 0; i < n && i < MOST; i++) remark_value(job, &list[i]);
    if (n > MOST) fprintf(stderr, "  and %s more\n", show_count(n - MOST).text);
}

/* Remarks go to standard error: standard output belongs to the labels. */
static void remark(const predict_job *job)
{
    const cof_predict_info *info = &job->info;
    if (!job->s.reading.no_header && looks_headless(job->table))
        fputs("coforest: the first line holds numbers, but was taken for names; if it is data, add "
              "--no-header\n",
              stderr);
    if (info->n_unseen_cells > 0) {
        fprintf(
            stderr,
            "coforest: %s cell%s in %s row%s with values that the model does not know; they are ignored\n",
            show_count(info->n_unseen_cells).text, plural(info->n_unseen_cells),
            show_count(info->n_unseen_rows).text, plural(info->n_unseen_rows));
        remark_unseen(job);
    }
    if (info->n_blank_rows > 0)
        fprintf(stderr, "coforest: %s row%s no value that the model knows, so the cluster is arbitrary\n",
                show_count(info->n_blank_rows).text, info->n_blank_rows == 1 ? " has" : "s have");
    if (info->n_dropped > 0)
        fprintf(stderr, "coforest: %s row%s without a cluster, because of missing values\n",
                show_count(info->n_dropped).text, plural(info->n_dropped));
}

static void show_summary(const predict_job *job)
{
    page p = page_for(stdout);
    flow f = flow_begin(&p, 11, 11);
    static const char *const what[N_OUT] = {"cluster", "cells and cluster", "memberships", "log-likelihood"};
    for (size_t i = 0; i < N_OUT; i++)
        if (job->out[i].path != NULL)
            fprintf(p.out, "Wrote:     %s%s%s, the %s of %s row%s\n", bold(&p),
                    show_text(job->out[i].path, 200).text, plain(&p), what[i],
                    show_count(cof_table_n_rows(job->table)).text, plural(cof_table_n_rows(job->table)));
    fputs("Sizes:     ", p.out);
    for (uint32_t c = 0; c < cof_model_k(job->model); c++) {
        char size[320];
        snprintf(size, sizeof size, "%u: %s%s", c + 1, show_count(job->sizes[c]).text,
                 c + 1 < cof_model_k(job->model) ? "," : "");
        flow_piece(&f, "", size, (int)strlen(size), "");
    }
    flow_end(&f);
}

static bool wants_stdout(const predict_job *job)
{
    for (size_t i = 0; i < N_OUT; i++)
        if (is_stdout(&job->out[i])) return true;
    return false;
}

static int write_result(predict_job *job)
{
    int code = CODE_DONE;
    outfile *out = job->out;
    if (out[OUT_LABELS].path != NULL)
        code = write_labels(&out[OUT_LABELS], job->table, SIZE_MAX, job->labels);
    if (code == CODE_DONE && out[OUT_TABLE].path != NULL)
        code = write_table(&out[OUT_TABLE], job->table, job->labels);
    if (code == CODE_DONE && out[OUT_MEMBERSHIPS].path != NULL)
        code = write_memberships(&out[OUT_MEMBERSHIPS], job->table, SIZE_MAX, job->labels, job->model,
                                 job->s.threads);
    if (code == CODE_DONE && out[OUT_SCORES].path != NULL)
        code = write_scores(&out[OUT_SCORES], job->table, job->model, job->s.threads);
    if (code == CODE_DONE) code = outfiles_publish(out, N_OUT);
    if (code != CODE_DONE) return code;
    if (job->s.json)
        print_json(job);
    else if (!wants_stdout(job) && !job->s.quiet)
        show_summary(job);
    if (!job->s.quiet) remark(job);
    return CODE_DONE;
}

static int run_job(predict_job *job)
{
    const char *inputs[] = {job->model_path, job->table_path};
    const predict_settings *s = &job->s;
    bool to_stdout = s->labels_out == NULL && s->table_out == NULL && s->memberships_out == NULL &&
                     s->scores_out == NULL && !s->json;
    job->out[OUT_LABELS] = (outfile){.option = "--labels-out", .path = to_stdout ? "-" : s->labels_out};
    job->out[OUT_TABLE] = (outfile){.option = "--table-out", .path = s->table_out};
    job->out[OUT_MEMBERSHIPS] = (outfile){.option = "--memberships-out", .path = s->memberships_out};
    job->out[OUT_SCORES] = (outfile){.option = "--scores-out", .path = s->scores_out};
    for (size_t i = 0; i < N_OUT; i++) {
        job->out[i].raw = job->s.raw_names;
        job->out[i].keep = job->s.no_clobber;
        if (job->s.json && is_stdout(&job->out[i]))
            return complain(CODE_USAGE, "--json and %s - both want standard output", job->out[i].option);
    }
    int code = outfiles_check(job->out, N_OUT, inputs, 2);
    if (code == CODE_DONE) code = load_inputs(job);
    if (code == CODE_DONE) code = label_rows(job);
    return code == CODE_DONE ? write_result(job) : code;
}

static int run_predict(int argc, char **argv)
{
    predict_job job = {.labels = NULL};
    operands found;
    int code;
    if (!parse_arguments(&verb_predict, argc, argv, &job.s, &found, &code)) return code;
    job.model_path = found.text[0];
    job.table_path = found.text[1];
    code = run_job(&job);
    outfiles_free(job.out, N_OUT);
    cof_table_free(job.table);
    cof_model_free(job.model);
    return code;
}

const verb verb_predict = {
    .name = "predict",
    .task = "Use what was found",
    .usage = "MODEL TABLE [options]",
    .summary = "label new rows with a saved model",
    .paragraphs =
        {"Assigns every row of TABLE to the nearest cluster of a MODEL that \"fit --model-out\" saved. TABLE "
         "must have the model's columns, in any order; other columns are ignored.",
         "A value that did not occur when the model was fitted is ignored. Such values are listed on "
         "standard error, with those that differ from a known one by letter case or blanks only."},
    .operands = {{"MODEL", .hint = HINT_FILE}, {"TABLE", .hint = HINT_FILE}},
    .groups = {{"Output", predict_options},
               {"Reading the table", dialect_options, offsetof(predict_settings, reading)},
               {NULL, na_options, offsetof(predict_settings, reading)}},
    .examples = {{"coforest predict survey.cof new.csv > new-labels.csv", "The cluster of every new row."},
                 {"coforest predict survey.cof new.csv --table-out new-labelled.csv",
                  "The new rows with their clusters."}},
    .run = run_predict,
};
