/* coforest predict: the clusters of new rows, by a saved model. */
#include <sys/stat.h>

#include "cmd.h"
#include "../column_choice.h"
#include "../complain.h"
#include "../show/labels_csv.h"
#include "../progress.h"
#include "../term.h"

enum { OUT_LABELS, OUT_TABLE, OUT_MEMBERSHIPS, OUT_SCORES, N_OUT };

typedef struct predict_settings {
    reading reading;
    uint32_t threads;
    outfile out[N_OUT];
    output_settings outputs;
    bool quiet;
} predict_settings;

enum { SHOWN_UNSEEN = 8, MOST_UNSEEN = 1000 };

/* A value that the model does not know, with its texts. */
typedef struct unseen_value {
    size_t attribute;
    char *name, *text;
    int32_t like;
    bool missing;
    uint64_t rows;
} unseen_value;

typedef struct predict_job {
    predict_settings s;
    const char *model_path, *table_path;
    progress_line line; /* here, because the table keeps pointing at it */
    cof_model *model;
    int32_t *labels; /* of the latest piece; the table may be one piece */
    uint64_t *sizes; /* k */
    uint64_t n_rows;
    bool headless;
    unseen_value *unseen; /* MOST_UNSEEN of them: too many for a small stack */
    size_t n_unseen;
    cof_unseen *found; /* room for those of a piece */
    cof_predict_info info;
    double read_s, predict_s;
} predict_job;

static const option predict_options[] = {
    OUT_OPTION("labels-out", predict_settings, out[OUT_LABELS],
               "Where the labels go (default: \"-\", standard output)."),
    OUT_OPTION("table-out", predict_settings, out[OUT_TABLE],
               "Write the table with a column \"cluster\" added, as CSV, and no labels to standard output."),
    OUT_OPTION(
        "memberships-out", predict_settings, out[OUT_MEMBERSHIPS],
        "Write the probabilities of every row for every cluster, as CSV, and no labels to standard output."),
    OUT_OPTION(
        "scores-out", predict_settings, out[OUT_SCORES],
        "Write the log-likelihood of every row under the model, as CSV, and no labels to standard output: "
        "the lower, the less the row is like those that were fitted."),
    NO_CLOBBER_OPTION(predict_settings),
    RAW_NAMES_OPTION(predict_settings),
    OPTION("threads", "T", OPTION_COUNT, predict_settings, threads, "Threads to use (default: 0, all cores).",
           .most = 1024),
    OPTION("json", NULL, OPTION_FLAG, predict_settings, outputs.json,
           "Print one JSON object instead of CSV; it holds the labels unless --labels-out takes them."),
    OPTION("quiet", NULL, OPTION_FLAG, predict_settings, quiet,
           "Print no remarks about unknown values or rows left out.", .letter = 'q'),
    {.name = NULL}};

/* ---- Labels ---------------------------------------------------------------------------------------- */

static void note_unseen(predict_job *job, const cof_table *piece, const cof_unseen *u)
{
    for (size_t i = 0; i < job->n_unseen; i++) {
        unseen_value *v = &job->unseen[i];
        if (v->attribute != u->attribute || v->missing != (u->missing != 0) || strcmp(v->text, u->text) != 0)
            continue;
        v->rows += u->rows;
        return;
    }
    if (job->n_unseen == MOST_UNSEEN) return;
    job->unseen[job->n_unseen++] = (unseen_value){.attribute = u->attribute,
                                                  .name = keep_text("%s", column_of(piece, u->column).name),
                                                  .text = keep_text("%s", u->text),
                                                  .like = u->like,
                                                  .missing = u->missing != 0,
                                                  .rows = u->rows};
}

static int label_piece(predict_job *job, const cof_table *piece)
{
    cof_predict_info info = {.struct_size = sizeof info};
    size_t n_rows = cof_table_n_rows(piece);
    double begun_s = now_s();
    if (job->labels == NULL) job->labels = keep(n_rows + 1, sizeof *job->labels); /* no piece has more */
    TRY(complain_status(
        cof_model_predict(job->model, piece, job->s.threads, job->labels, n_rows, &info, &said),
        TASK_PREDICT));
    for (size_t i = 0; i < n_rows; i++)
        if (job->labels[i] >= 0) job->sizes[job->labels[i]]++;
    job->info.n_dropped += info.n_dropped;
    job->info.n_unseen_cells += info.n_unseen_cells;
    job->info.n_unseen_rows += info.n_unseen_rows;
    job->info.n_blank_rows += info.n_blank_rows;
    job->predict_s += now_s() - begun_s;
    if (info.n_unseen_cells == 0 || job->s.quiet) return CODE_DONE;
    size_t n = 0; /* which values those are */
    if (job->found == NULL) job->found = keep(MOST_UNSEEN, sizeof *job->found);
    if (cof_model_unseen(job->model, piece, job->found, MOST_UNSEEN, &n, NULL) != COF_OK) return CODE_DONE;
    for (size_t i = 0; i < n && i < MOST_UNSEEN; i++) note_unseen(job, piece, &job->found[i]);
    return CODE_DONE;
}

/* Labels a piece, and writes its rows. Memberships and scores are of the whole table. */
static int take_piece(predict_job *job, const cof_table *piece)
{
    bool first = job->n_rows == 0;
    outfile *out = job->s.out;
    int code = CODE_DONE;
    if (first) job->headless = looks_headless(piece);
    TRY(label_piece(job, piece));
    if (first && out[OUT_LABELS].path != NULL) TRY(begin_labels(&out[OUT_LABELS], piece, SIZE_MAX));
    if (first && out[OUT_TABLE].path != NULL) TRY(begin_table(&out[OUT_TABLE], piece));
    if (out[OUT_LABELS].path != NULL)
        put_labels(&out[OUT_LABELS], piece, SIZE_MAX, job->n_rows, job->labels, cof_table_n_rows(piece));
    if (out[OUT_TABLE].path != NULL) put_table(&out[OUT_TABLE], piece, job->labels);
    job->n_rows += cof_table_n_rows(piece);
    if (out[OUT_MEMBERSHIPS].path != NULL)
        code = write_memberships(&out[OUT_MEMBERSHIPS], piece, SIZE_MAX, job->labels, job->model,
                                 job->s.threads);
    if (code == CODE_DONE && out[OUT_SCORES].path != NULL)
        code = write_scores(&out[OUT_SCORES], piece, job->model, job->s.threads);
    return code;
}

typedef struct piece_job {
    predict_job *job;
    int code; /* what a piece ended with, which has been said */
} piece_job;

static cof_status visit_piece(void *ctx, const cof_table *piece, uint64_t first_row, cof_error *err)
{
    piece_job *at = ctx;
    at->code = take_piece(at->job, piece);
    const outfile *out = at->job->s.out;
    bool lost = out[OUT_LABELS].status != COF_OK || out[OUT_TABLE].status != COF_OK;
    return at->code != CODE_DONE || lost ? COF_ERR_BACKEND : COF_OK;
}

/* A table that is not known to be small is taken in pieces, in memory that does not depend on its length. Not so where
 * the labels are printed at the end, for memberships and scores, or where spellings are compared over the table. */
static bool in_pieces(const predict_job *job)
{
    const predict_settings *s = &job->s;
    struct stat about;
    bool whole = s->out[OUT_MEMBERSHIPS].path != NULL || s->out[OUT_SCORES].path != NULL;
    if (whole || s->reading.trim || s->reading.ignore_case ||
        (s->outputs.json && s->out[OUT_LABELS].path == NULL))
        return false;
    return strcmp(job->table_path, "-") == 0 || stat(job->table_path, &about) != 0 ||
           !S_ISREG(about.st_mode) || (uint64_t)about.st_size > cof_memory() / 16;
}

static int label_rows(predict_job *job)
{
    TRY(load_model(job->model_path, &job->model));
    job->sizes = keep((size_t)cof_model_k(job->model) + 1, sizeof *job->sizes);
    job->unseen = keep(MOST_UNSEEN, sizeof *job->unseen);
    job->line = progress_begin(job->s.quiet, job->table_path);
    cof_env env = progress_env(&job->line);
    double begun_s = now_s();
    catch_signals();
    job->s.reading.threads = job->s.threads;
    int code;
    if (in_pieces(job)) {
        piece_job at = {job, CODE_DONE};
        code = read_pieces(&env, job->table_path, &job->s.reading, visit_piece, &at);
        progress_erase(&job->line);
        if (code == CODE_DONE) code = at.code;
    } else {
        cof_table *table = NULL;
        code = read_table(&env, job->table_path, &job->s.reading, NULL, &table);
        progress_erase(&job->line);
        if (code == CODE_DONE) code = take_piece(job, table);
    }
    job->read_s = now_s() - begun_s - job->predict_s;
    for (size_t i = OUT_LABELS; i <= OUT_TABLE && code == CODE_DONE; i++)
        if (job->s.out[i].path != NULL) code = outfile_finish(&job->s.out[i]);
    return code;
}

static void print_json(const predict_job *job)
{
    cof_json j;
    cof_json_begin(&j, file_sink, stdout);
    size_t n_rows = (size_t)job->n_rows;
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
    if (job->s.out[OUT_LABELS].path == NULL) {
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

static void remark_value(const predict_job *job, const unseen_value *u)
{
    fprintf(stderr, "  %s: ", show_name(u->name, 40).text);
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

/* The first few of them, in the order of the model's columns. */
static void remark_unseen(const predict_job *job)
{
    size_t n_shown = 0;
    for (size_t a = 0; a < cof_model_n_attributes(job->model); a++)
        for (size_t i = 0; i < job->n_unseen && n_shown < SHOWN_UNSEEN; i++) {
            if (job->unseen[i].attribute != a) continue;
            remark_value(job, &job->unseen[i]);
            n_shown++;
        }
    if (job->n_unseen > n_shown)
        fprintf(stderr, "  and %s%s more\n", job->n_unseen == MOST_UNSEEN ? "at least " : "",
                show_count(job->n_unseen - n_shown).text);
}

/* Remarks go to standard error: standard output belongs to the labels. */
static void remark(const predict_job *job)
{
    const cof_predict_info *info = &job->info;
    if (!job->s.reading.no_header && job->headless)
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
    static const char *const of_rows[N_OUT] = {"cluster", "cells and cluster", "memberships",
                                               "log-likelihood"};
    const char *what[N_OUT];
    for (size_t i = 0; i < N_OUT; i++)
        what[i] =
            keep_text("the %s of %s row%s", of_rows[i], show_count(job->n_rows).text, plural(job->n_rows));
    show_outfiles(&p, job->s.out, N_OUT, what);
    fputs("Sizes:     ", p.out);
    for (uint32_t c = 0; c < cof_model_k(job->model); c++) {
        char size[320];
        snprintf(size, sizeof size, "%u: %s%s", c + 1, show_count(job->sizes[c]).text,
                 c + 1 < cof_model_k(job->model) ? "," : "");
        flow_piece(&f, "", size, (int)strlen(size), "");
    }
    flow_end(&f);
}

static int run_predict(int argc, char **argv)
{
    predict_job job = {.labels = NULL};
    predict_settings *s = &job.s;
    operands found;
    int code;
    bool any = false;
    if (!parse_arguments(&verb_predict, argc, argv, s, &found, &code)) return code;
    job.model_path = found.text[0];
    job.table_path = found.text[1];
    for (size_t i = 0; i < N_OUT; i++) any = any || s->out[i].path != NULL;
    if (!any && !s->outputs.json) s->out[OUT_LABELS] = (outfile){.option = "--labels-out", .path = "-"};
    TRY(outfiles_check(s->out, N_OUT, s->outputs, found.text, 2));
    TRY(label_rows(&job));
    TRY(outfiles_publish(s->out, N_OUT));
    if (s->outputs.json)
        print_json(&job);
    else if (!any_stdout(s->out, N_OUT) && !s->quiet)
        show_summary(&job);
    if (!s->quiet) remark(&job);
    return CODE_DONE;
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
    .groups = {{"Output", predict_options, 0},
               {"Reading the table", dialect_options, offsetof(predict_settings, reading)},
               {NULL, na_options, offsetof(predict_settings, reading)}},
    .examples = {{"coforest predict survey.cof new.csv > new-labels.csv", "The cluster of every new row."},
                 {"coforest predict survey.cof new.csv --table-out new-labelled.csv",
                  "The new rows with their clusters."}},
    .run = run_predict,
};
