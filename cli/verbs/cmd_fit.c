/* coforest fit: read a table, cluster its rows, write files, report the result. */
#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "cmd.h"
#include "../complain.h"
#include "fit_job.h"
#include "../show/labels_csv.h"
#include "../show/parameters_csv.h"
#include "../method_list.h"
#include "../progress.h"
#include "../show/report_out.h"
#include "../show/show_scores.h"
#include "../host/host.h"

enum { DEMO_K = 7, MOST_THREADS = 1024, MOST_SHARDS = 4096, MOST_RANGE = 1000 };

static const option clustering_options[] = {
    OPTION(
        "clusters", "K", OPTION_TEXT, fit_settings, clusters,
        "The number of clusters: a number; a range such as 2:12, from which the program chooses; or auto, "
        "which tries 1, 2, 3 and so on until the likelihood stops rising. It then walks down from the "
        "likeliest number and keeps the first on which two halves of the table give nearly the same "
        "clusters; "
        "1 means that no structure was found. With --label it may be left out: as many as there are classes.",
        .letter = 'k'),
    LIBRARY_OPTION("*", fit_settings, fit),
    LIBRARY_OPTION("threads", fit_settings, fit, .most = MOST_THREADS),
    OPTION("init-rows", "ROW,...", OPTION_TEXT, fit_settings, init_rows,
           "Rows of the table, counted from 1, as the first modes of a single k-modes restart: the first one "
           "for cluster 1, and so on."),
    OPTION("paper", NULL, OPTION_FLAG, fit_settings, paper,
           "Settings as printed in the paper: one random k-modes restart and --variant paper. Only columns "
           "that --numeric names are quantities, and they are scaled."),
    FILE_OPTION("start", fit_settings, start,
                "Begin lca at the probabilities in this file, as --parameters-out writes them, and keep the "
                "order of its classes."),
    OPTION(
        "shards", "N", OPTION_COUNT, fit_settings, shards,
        "Fit in little memory, about 4 bytes a row: the rows are cut into N shards, stay where they are, and "
        "answer questions. The result is the same, but the model holds no labels; --margins-out and "
        "--table-out need them, and the report shows a sample of the rows. An encoded table that is large "
        "for "
        "this machine's memory is fitted this way without being asked.",
        .least = 1, .most = MOST_SHARDS),
    FILE_OPTION(
        "journal", fit_settings, journal,
        "Keep all answers of the shards in this file. If the program is ended before it is done, the same "
        "command goes on where it was. Implies --shards 1."),
    {.name = NULL}};

static const option output_options[] = {
    OUT_OPTION("labels-out", fit_settings, out[OUT_LABELS],
               "Write the cluster of every row, as CSV; \"-\" is standard output."),
    OUT_OPTION("table-out", fit_settings, out[OUT_TABLE],
               "Write the table with a column \"cluster\" added, as CSV."),
    OUT_OPTION("modes-out", fit_settings, out[OUT_MODES],
               "Write the most frequent value of every column in every cluster, as CSV."),
    OUT_OPTION("profiles-out", fit_settings, out[OUT_PROFILES],
               "Write how often every value occurs in every cluster, as CSV."),
    OUT_OPTION(
        "margins-out", fit_settings, out[OUT_MARGINS],
        "Write how clearly every row belongs to its cluster, as CSV: the next cluster, both distances and "
        "the lead, which is 0 for a tie and 1 for a row that fits exactly."),
    OUT_OPTION(
        "alternatives-out", fit_settings, out[OUT_ALTERNATIVES],
        "Write the cluster of every row and, in further columns, its cluster in each other partition that "
        "is nearly as good, as CSV."),
    OUT_OPTION(
        "memberships-out", fit_settings, out[OUT_MEMBERSHIPS],
        "Write the probabilities of every row for every cluster, as CSV, and tell how many rows are shared "
        "between clusters."),
    OUT_OPTION("parameters-out", fit_settings, out[OUT_PARAMETERS],
               "Write the classes of lca as CSV: the share of each (column and value are empty) and the "
               "probability of every value in it, with standard errors."),
    OUT_OPTION("cells-out", fit_settings, out[OUT_CELLS],
               "Write how many rows have each pattern of values, and how many lca expects, as CSV."),
    OUT_OPTION("residuals-out", fit_settings, out[OUT_RESIDUALS],
               "Write how much every two columns depend on each other inside the classes of lca, as CSV: "
               "bivariate residuals, about 1 where they do not."),
    OUT_OPTION("model-out", fit_settings, out[OUT_MODEL],
               "Save the model, for \"predict\", \"trees\" and \"report\"."),
    OUT_OPTION(
        "distances-out", fit_settings, out[OUT_DISTANCES],
        "Write the distance between every two values of a column, as CSV: for coforest, cof1, cof2, lsm, "
        "cbdm, udm, hdc and adc."),
    OUT_OPTION("cuts-out", fit_settings, out[OUT_CUTS], "Write where quantities were cut, for --cuts."),
    OUT_OPTION("history", fit_settings, out[OUT_HISTORY],
               "Write a record of every pass, one JSON object per line."),
    OUT_OPTION("report", fit_settings, out[OUT_REPORT],
               "Write a report, one HTML file that needs no other file."),
    OUT_OPTION("map-out", fit_settings, out[OUT_MAP], "Write the report's map of the rows, as SVG."),
    OPTION(
        "criteria", NULL, OPTION_FLAG, fit_settings, criteria,
        "Compute BIC, AIC and ICL of the clusters as classes of a mixture; smaller is better. For lca also "
        "how well the cells of the table fit: G squared, X squared and their degrees of freedom."),
    RAW_NAMES_OPTION(fit_settings),
    NO_CLOBBER_OPTION(fit_settings),
    OPTION("keep-partial", NULL, OPTION_FLAG, fit_settings, keep_partial,
           "Let a run that is stopped in its first restart replace existing files. Without this, such a run "
           "writes nothing."),
    OPTION("json", NULL, OPTION_FLAG, fit_settings, outputs.json,
           "Print one JSON object instead of the text."),
    OPTION("quiet", NULL, OPTION_FLAG, fit_settings, quiet, "Print nothing but errors.", .letter = 'q'),
    OPTION("demo", NULL, OPTION_FLAG, fit_settings, demo,
           "Use the table that comes with the program: 101 animals, with --label class and -k 7 unless you "
           "give others."),
    {.name = NULL}};

/* ---- What was asked ------------------------------------------------------------------------------ */

/* 20,1,7 as rows from 0; *n of them. */
static int parse_rows(const char *text, uint64_t **rows, uint32_t *n)
{
    size_t most = 1;
    for (const char *s = text; *s != '\0'; s++) most += *s == ',';
    *rows = keep(most, sizeof **rows);
    for (*n = 0; *n < most; (*n)++) {
        size_t digits = strspn(text, "0123456789");
        errno = 0;
        unsigned long long row = strtoull(text, NULL, 10);
        if (digits == 0 || (text[digits] != ',' && text[digits] != '\0') || errno != 0 || row == 0)
            return complain(CODE_USAGE,
                            "--init-rows must be row numbers from 1, such as 20,1,7; not \"%.*s\"",
                            (int)strcspn(text, ","), text);
        (*rows)[*n] = row - 1;
        text += digits + 1;
    }
    return CODE_DONE;
}

static bool is_digits(const char *text, size_t n)
{
    return n > 0 && strspn(text, "0123456789") >= n;
}

/* The number that the first n characters are; 0: none that k can be. */
static uint32_t take_k(const char *text, size_t n)
{
    errno = 0;
    unsigned long long x = is_digits(text, n) ? strtoull(text, NULL, 10) : 0;
    return errno == 0 && x <= COF_MOST_CLUSTERS ? (uint32_t)x : 0;
}

/* "7", "2:12" or "auto" */
static int parse_clusters(fit_settings *s)
{
    const char *text = s->clusters;
    if (text == NULL) return CODE_DONE;
    size_t n = strcspn(text, ":");
    bool range = text[n] == ':';
    s->find_k = range || strcmp(text, "auto") == 0;
    if (s->find_k && !range) return CODE_DONE;
    s->fit.k = s->k_min = take_k(text, n);
    s->k_max = range ? take_k(text + n + 1, strlen(text + n + 1)) : s->fit.k;
    if (!range && is_digits(text, n) && s->fit.k == 0 && strspn(text, "0") < n)
        return complain(CODE_USAGE, "-k can be at most %d, not %s", COF_MOST_CLUSTERS, text);
    if (s->k_min == 0 || s->k_max == 0)
        return complain(CODE_USAGE,
                        "-k must be a whole number from 1 to %d, a range such as 2:12, or auto; not \"%s\"",
                        COF_MOST_CLUSTERS, text);
    if (s->k_max < s->k_min)
        return complain(CODE_USAGE, "-k %s is an empty range: the smaller number comes first", text);
    if (s->k_max - s->k_min >= MOST_RANGE)
        return complain(CODE_USAGE, "-k %s asks for more than %d fits", text, MOST_RANGE);
    return CODE_DONE;
}

static int complain_start(const char *option_name, const char *by)
{
    return complain(CODE_USAGE, "%s already says how to start; leave out %s or %s", by, by, option_name);
}

/* --paper and --init-rows each imply other options, which may be repeated but not denied. */
static int resolve_start(fit_job *job)
{
    fit_settings *s = &job->s;
    uint32_t n_rows = 0;
    if (s->paper || s->init_rows != NULL) {
        const char *by = s->paper ? "--paper" : "--init-rows";
        if (s->fit.init >= 0 && s->fit.init != COF_INIT_RANDOM) return complain_start("--init", by);
        if (s->fit.restarts > 1) return complain_start("--restarts", by);
        if (s->paper && s->fit.variant > COF_VARIANT_PAPER) return complain_start("--variant", by);
        s->fit.init = COF_INIT_RANDOM;
        s->fit.restarts = 1;
    }
    if (s->init_rows == NULL) return CODE_DONE;
    TRY(parse_rows(s->init_rows, &job->init_rows, &n_rows));
    if (s->find_k)
        return complain(CODE_USAGE, "--init-rows sets the number of clusters; leave out -k %s", s->clusters);
    if (s->fit.k == 0) s->fit.k = n_rows;
    if (s->fit.k != n_rows)
        return complain(CODE_USAGE, "--init-rows names %u rows, but -k asks for %u clusters", n_rows,
                        s->fit.k);
    return CODE_DONE;
}

const far_rows *far = NULL;

/* Other processes map the file themselves, so what changes a table while it is read cannot reach them. */
static int check_far(const fit_settings *s, const operands *found)
{
    if (s->demo || found->n == 0)
        return complain(CODE_USAGE, "over %s, fit needs an encoded TABLE%s", far->by,
                        s->demo ? "; leave out --demo" : "");
    if (s->shards > 0)
        return complain(CODE_USAGE, "over %s, every process is a shard; leave out --shards", far->by);
    if (s->reading.trim || s->reading.ignore_case)
        return complain(CODE_USAGE,
                        "--trim and --ignore-case cannot be used over %s; leave them out, or fit the table "
                        "with \"coforest fit\"",
                        far->by);
    return CODE_DONE;
}

static int check_settings(fit_job *job, const operands *found)
{
    fit_settings *s = &job->s;
    if (far != NULL) TRY(check_far(s, found));
    if (s->demo && found->n > 0)
        return complain(CODE_USAGE, "--demo brings its own table; leave out --demo or %s", found->text[0]);
    if (!s->demo && found->n == 0)
        return suggest(
            complain(CODE_USAGE,
                     "fit needs a TABLE, or --demo to try it without one; see \"coforest fit --help\""),
            NULL, "--demo");
    job->variant_asked = s->fit.variant >= 0;
    TRY(parse_clusters(s));
    TRY(resolve_start(job));
    if (s->fit.k == 0 && s->demo && !s->find_k) s->fit.k = DEMO_K;
    if (s->fit.k == 0 && !s->find_k && s->columns.label == NULL)
        return suggest(
            complain(CODE_USAGE,
                     "fit needs the number of clusters: -k K, or -k auto to let the program choose it"),
            NULL, "-k auto");
    if (s->fit.method == NULL) s->fit.method = cof_method_name(0); /* the library's own */
    if (s->fit.variant < 0) s->fit.variant = COF_VARIANT_PAPER;
    if (s->fit.init < 0) s->fit.init = COF_INIT_PORTFOLIO;
    resolve_quantities(&s->columns, s->fit.method, s->paper);
    job->file = s->demo                            ? "zoo.csv (built in)"
                : strcmp(found->text[0], "-") == 0 ? "standard input"
                                                   : found->text[0];
    return CODE_DONE;
}

/* A fit over shards leaves the labels where the rows are. */
static int refuse_label_outputs(const fit_job *job, const char *why)
{
    static const int need_labels[] = {OUT_MARGINS, OUT_TABLE, OUT_ALTERNATIVES, OUT_MEMBERSHIPS};
    for (size_t i = 0; i < sizeof need_labels / sizeof *need_labels; i++)
        if (job->s.out[need_labels[i]].path != NULL)
            return complain(CODE_USAGE,
                            "%s cannot be written %s, where the model holds no labels; leave it out",
                            job->s.out[need_labels[i]].option, why);
    return CODE_DONE;
}

const char *const fit_outputs[N_OUT] = {[OUT_LABELS] = "the cluster of every row",
                                        [OUT_MODEL] = "the model",
                                        [OUT_HISTORY] = "a record of every pass",
                                        [OUT_REPORT] = "the report; open it in a browser",
                                        [OUT_MARGINS] = "how clearly every row belongs to its cluster",
                                        [OUT_MAP] = "the map of the rows",
                                        [OUT_CUTS] = "where quantities were cut",
                                        [OUT_DISTANCES] = "the distances between values",
                                        [OUT_TABLE] = "the table with the cluster of every row",
                                        [OUT_MODES] = "the most frequent values of every cluster",
                                        [OUT_ALTERNATIVES] =
                                            "the clusters of every row, here and in the alternatives",
                                        [OUT_PROFILES] = "how often every value occurs in every cluster",
                                        [OUT_MEMBERSHIPS] = "the memberships of every row",
                                        [OUT_PARAMETERS] = "shares and probabilities of the classes",
                                        [OUT_CELLS] = "observed and expected cells",
                                        [OUT_RESIDUALS] = "residuals of pairs of columns"};

static int check_outputs(fit_job *job, const char *input)
{
    fit_settings *s = &job->s;
    if (far != NULL || s->shards > 0 || s->journal != NULL)
        TRY(refuse_label_outputs(job, far != NULL ? "by several processes" : "over shards"));
    if (is_stdout(&s->out[OUT_MODEL]))
        return complain(CODE_USAGE, "--model-out needs a file; a model cannot go to standard output");
    const char *const inputs[] = {input, s->columns.cuts, s->journal};
    return outfiles_check(s->out, N_OUT, s->outputs, inputs, 3);
}

/* ---- Reading ------------------------------------------------------------------------------------- */

static int read_input(fit_job *job, const char *path, const cof_env *env)
{
    double begun_s = now_s();
    if (far != NULL) { /* a look at the first row tells whether other processes can read theirs */
        cof_read_options first = {.struct_size = sizeof first, .n_rows = 1};
        cof_table *row = NULL;
        TRY(complain_status(cof_table_read(NULL, path, &first, &row, &said), TASK_TABLE));
        cof_table_free(row);
    }
    job->s.reading.threads = job->s.fit.threads;
    int code = job->s.demo ? complain_status(cof_table_demo(env, &job->table, &said), TASK_TABLE)
                           : read_table(env, path, &job->s.reading, NULL, &job->table);
    if (job->s.demo) keep_table(job->table);
    job->read_s = now_s() - begun_s;
    return code;
}

static bool mentions(const text_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->text[i], name) == 0) return true;
    return false;
}

static int prepare_table(fit_job *job)
{
    fit_settings *s = &job->s;
    bool class_used = mentions(&s->columns.ignore, "class") || mentions(&s->columns.columns, "class");
    if (s->demo && s->columns.label == NULL && !class_used) s->columns.label = "class";
    TRY(choose_columns(job->table, job->file, &s->columns, s->fit.missing, &job->columns));
    if (s->fit.k == 0 && !s->find_k) { /* as many clusters as classes */
        s->fit.k = column_of(job->table, job->columns.label).n_values;
        if (s->fit.k == 0)
            return complain(CODE_DATA, "the label column \"%s\" of %s has no values; give -k K",
                            s->columns.label, job->file);
    }
    for (uint32_t j = 0; s->init_rows != NULL && j < s->fit.k; j++)
        if (job->init_rows[j] >= cof_table_n_rows(job->table))
            return complain(CODE_USAGE, "--init-rows names row %llu, but %s has %zu rows",
                            (unsigned long long)job->init_rows[j] + 1, job->file,
                            cof_table_n_rows(job->table));
    return CODE_DONE;
}

/* ---- Fitting ------------------------------------------------------------------------------------- */

/* A fit over shards is also the way of one whose labels, copies of them and what it remembers would not fit into memory. */
static int open_shards(fit_job *job, const char *path)
{
    enum { ROW_BYTES = 16 };
    fit_settings *s = &job->s;
    cof_env env = progress_env(&job->line);
    bool exceeds_memory =
        cof_table_is_encoded(job->table) && cof_table_n_rows(job->table) > cof_memory() / 2 / ROW_BYTES;
    if (far == NULL && s->shards == 0 && s->journal == NULL && !exceeds_memory) return CODE_DONE;
    if (s->shards == 0) {
        s->shards = 1;
        TRY(refuse_label_outputs(job, "for a table that is large for this machine's memory"));
    }
    TRY(complain_status(cof_shard_set_open(&env, job->table, s->shards, 0, s->fit.threads, &job->set, &said),
                        TASK_FIT));
    const cof_schema *schema = cof_shard_set_schema(job->set);
    job->shards = cof_shard_set_shards(job->set);
    if (far != NULL)
        TRY(complain_status(far->open(path, schema, s->fit.threads, &job->shards, &said), TASK_TABLE));
    if (s->journal == NULL) return CODE_DONE;
    return complain_status(cof_journal_open(&env, s->journal, schema, &job->shards, &job->journal, &said),
                           TASK_FIT);
}

static int fit_table(fit_job *job, const char *path)
{
    const fit_settings *s = &job->s;
    cof_fit_options options = s->fit;
    options.struct_size = sizeof options;
    options.init_rows = job->init_rows;
    options.column_weights = job->columns.weight;
    job->info = (cof_fit_info){.struct_size = sizeof job->info};
    job->line.counts_k = s->find_k;
    double begun_s = processor_now_s();
    TRY(open_shards(job, path));
    if (s->start != NULL)
        TRY(read_start(s->start, job->table, s->fit.missing, s->fit.k, &job->start, &job->n_start));
    options.init_probabilities = job->start;
    options.n_init_probabilities = job->n_start;
    const cof_schema *schema = job->set != NULL ? cof_shard_set_schema(job->set) : NULL;
    cof_shards shards = job->journal != NULL ? cof_journal_shards(job->journal) : job->shards;
    cof_env env = progress_env(&job->line);
    cof_status status =
        schema != NULL && s->find_k ? cof_fit_shards_auto(&env, schema, &options, s->k_min, s->k_max, &shards,
                                                          &job->model, &job->info, &said)
        : schema != NULL ? cof_fit_shards(&env, schema, &options, &shards, &job->model, &job->info, &said)
        : s->find_k ? cof_fit_auto(job->table, &options, s->k_min, s->k_max, &job->model, &job->info, &said)
                    : cof_fit(job->table, &options, &job->model, &job->info, &said);
    TRY(complain_status(status, TASK_FIT));
    keep_model(job->model);
    job->processor_s = processor_now_s() - begun_s;
    job->s.fit.k = cof_model_k(job->model);
    job->s.fit.restarts = job->info.restarts;
    job->s.fit.init = job->info.init;
    job->s.fit.select = job->info.select;
    return CODE_DONE;
}

__attribute__((format(__printf__, 2, 3))) static void warn(fit_job *job, const char *format, ...)
{
    va_list args;
    if (job->n_warnings == MAX_WARNINGS) return;
    va_start(args, format);
    vsnprintf(job->warning[job->n_warnings++], sizeof job->warning[0], format, args);
    va_end(args);
}

static int score_labels(fit_job *job)
{
    size_t n = 0;
    const int32_t *labels = cof_model_labels(job->model, &n);
    if (job->columns.label == SIZE_MAX) return CODE_DONE;
    job->scores = (cof_indices){.struct_size = sizeof job->scores};
    job->scored = true;
    if (job->set != NULL)
        return complain_status(cof_evaluate_shards(job->model, cof_shard_set_schema(job->set),
                                                   job->columns.label, &job->shards, &job->scores, &said),
                               TASK_FIT);
    job->classes = column_labels(job->table, job->columns.label);
    if (count_both(labels, job->classes, n) == 0) { /* a fit is worth keeping even so */
        warn(job, "there are no scores, because no clustered row has a value in the label column");
        job->classes = NULL;
        job->scored = false;
        return CODE_DONE;
    }
    TRY(row_weights(job->table, job->columns.weights, &job->weights));
    return complain_status(
        cof_evaluate_weighted(NULL, labels, job->classes, job->weights, n, &job->scores, &said), TASK_FIT);
}

/* Margins and criteria take a pass each of their own, and the former a dozen bytes a row: only where somebody will read them. */
static int measure(fit_job *job)
{
    enum { MOST_SUMMARISED = 1000000 }; /* rows of which --json tells means without being asked for margins */
    size_t n = 0;
    const int32_t *labels = cof_model_labels(job->model, &n);
    if (job->s.criteria || job->s.out[OUT_MEMBERSHIPS].path != NULL)
        TRY(complain_status(
            cof_model_criteria(job->model, job->table, NULL, job->s.fit.threads, &job->info, &said),
            TASK_FIT));
    if (job->set != NULL ||
        (job->s.out[OUT_MARGINS].path == NULL && (!job->s.outputs.json || n > MOST_SUMMARISED)))
        return CODE_DONE;
    job->margin = keep(n + 1, sizeof *job->margin);
    cof_status status =
        cof_model_margins(job->model, job->table, labels, job->s.fit.threads, job->margin, n, &said);
    if (status == COF_OK) return CODE_DONE;
    job->margin = NULL;
    if (status != COF_ERR_NO_PREDICTION) return complain_status(status, TASK_FIT);
    return job->s.out[OUT_MARGINS].path == NULL
               ? CODE_DONE
               : complain(CODE_FAILED,
                          "--margins-out has nothing to write, because %s has no "
                          "distances between rows and clusters here; leave it out",
                          cof_model_method(job->model));
}

/* With rows left out, a column may have become constant that was not when the table was read. */
static void warn_constant(fit_job *job)
{
    size_t attribute = 0;
    for (size_t c = 0; c < job->columns.n; c++) {
        cof_column view = column_of(job->table, c);
        if (view.role != COF_ROLE_ATTRIBUTE) continue;
        if (attribute_of(job->model, attribute++).used || job->columns.why[c] != USED) continue;
        job->columns.why[c] = LEFT_CONSTANT;
        job->columns.n_used--;
        warn(job, "%s has the same value in every clustered row, so it is not used",
             show_name(view.name, 40).text);
    }
}

static uint32_t count_finished(const fit_job *job)
{
    size_t n = 0;
    uint32_t finished = 0;
    const cof_restart_record *record = cof_model_restarts(job->model, &n);
    for (size_t i = 0; i < n; i++) finished += record[i].stop_reason != COF_STOP_STOPPED;
    return finished;
}

/* What there was time for: restarts, or numbers of clusters. An interruption comes last, so that it can be told apart: people
 * get it at the end, where they pressed Ctrl-C. */
static void warn_stopped(fit_job *job)
{
    uint32_t finished = count_finished(job);
    size_t n = 0;
    const cof_k_record *curve = cof_model_k_curve(job->model, &n);
    const char *done =
        curve == NULL
            ? keep_text("after %u of %u restarts; the best result was kept", finished, job->s.fit.restarts)
        : n == 1 ? keep_text("after %u cluster%s had been tried; no other number was", curve[0].k,
                             plural(curve[0].k))
                 : keep_text("after %u to %u clusters had been tried; the best number so far was kept",
                             curve[0].k, curve[n - 1].k);
    if (job->info.stop_reason == COF_STOP_TIME) {
        warn(job, "the time limit was reached %s", done);
        return;
    }
    job->n_warnings = job->n_warnings < MAX_WARNINGS ? job->n_warnings : MAX_WARNINGS - 1;
    if (finished == 0)
        warn(job, "interrupted in the first restart; its result so far was kept");
    else
        warn(job, "interrupted %s", done);
}

static int warn_untidy(fit_job *job)
{
    untidy u = {.na = "?,NA,"};
    for (size_t c = 0; c < job->columns.n; c++)
        if (job->columns.why[c] == USED && cof_table_edges(job->table, c, NULL) == NULL)
            TRY(find_untidy(job->table, c, &u));
    if (u.n_nothing > 0)
        warn(job, "%s%s counts as a value; --na \"%s\" makes it missing", u.nothing,
             u.n_nothing > 1 ? " (and more in other columns)" : "", u.na);
    if (u.n_spelling > 0)
        warn(job, "%s%s count as two values; %s makes them one", u.spelling,
             u.n_spelling > 1 ? " (and more in other columns)" : "", tidy_words(u.tidying));
    return CODE_DONE;
}

/* Rows without a single known cell lie equally near to every cluster. */
static void warn_blank(fit_job *job)
{
    uint64_t n_blank = 0;
    if (job->s.fit.missing != COF_MISSING_IGNORE) return;
    for (size_t i = 0; i < cof_table_n_rows(job->table); i++) {
        bool blank = true;
        for (size_t c = 0; c < job->columns.n && blank; c++)
            if (job->columns.why[c] == USED)
                blank = cof_table_code(job->table, i, c) == column_of(job->table, c).n_values;
        n_blank += blank;
    }
    if (n_blank > 0)
        warn(job, "%s row%s no known value, so the cluster is arbitrary; --missing drop leaves such rows out",
             show_count(n_blank).text, n_blank == 1 ? " has" : "s have");
}

static int collect_warnings(fit_job *job)
{
    const cof_fit_info *info = &job->info;
    if (!job->s.demo && !job->s.reading.no_header && looks_headless(job->table))
        warn(job, "the first line holds numbers, but was taken for names; if it is data, add --no-header");
    TRY(warn_untidy(job));
    warn_constant(job);
    warn_blank(job);
    if (info->n_dropped > 0)
        warn(job, "%s row%s left out for missing values", show_count(info->n_dropped).text,
             info->n_dropped == 1 ? " was" : "s were");
    if (job->variant_asked && !has_variants(cof_model_method(job->model)))
        warn(job, "%s ignores --variant", cof_model_method(job->model));
    if (job->s.columns.ordinal.n > 0 && !cof_method_uses_order(cof_model_method(job->model)))
        warn(job, "%s has no use for --ordinal; coforest, cof2, dlc and slg have",
             cof_model_method(job->model));
    if (info->n_empty > 0 && strcmp(cof_model_method(job->model), "lca") == 0)
        warn(job, "%u of %u classes are the likeliest class of no row", info->n_empty, job->s.fit.k);
    else if (info->n_empty > 0)
        warn(job, "%u of %u clusters have no rows", info->n_empty, job->s.fit.k);
    if (info->stop_reason == COF_STOP_CAP)
        warn(job,
             strcmp(cof_model_method(job->model), "lca") == 0
                 ? "EM was still gaining when its last round was reached; a larger --max-passes lets it go on"
                 : "rows were still moving when --max-rebuilds or --max-passes was reached");
    if (info->stop_reason == COF_STOP_STOPPED || info->stop_reason == COF_STOP_TIME) warn_stopped(job);
    return CODE_DONE;
}

/* ---- Leaving files ------------------------------------------------------------------------------- */

/* What the page says about the run beyond what model and table know. */
static int write_pictures(fit_job *job)
{
    enum { SAMPLE = 4096 };
    fit_settings *s = &job->s;
    char seed[24];
    const int32_t *labels = cof_model_labels(job->model, NULL);
    if (s->out[OUT_REPORT].path == NULL && s->out[OUT_MAP].path == NULL) return CODE_DONE;
    if (job->set != NULL) { /* it shows some of the rows, and theirs are the only labels that are asked for */
        int32_t *label = keep(SAMPLE, sizeof *label);
        cof_status status = cof_table_sample(job->table, SAMPLE, &job->sample, &said);
        for (size_t i = 0; status == COF_OK && i < cof_table_n_rows(job->sample); i++)
            status = cof_label_shards(job->model, cof_shard_set_schema(job->set), &job->shards,
                                      cof_table_row_number(job->sample, i), &label[i], 1, &said);
        labels = label;
        TRY(complain_status(status, TASK_OUTPUT));
    }
    const char **reason = keep(job->columns.n + 1, sizeof *reason), *note[MAX_WARNINGS];
    for (size_t c = 0; c < job->columns.n; c++)
        reason[c] = job->columns.why[c] == USED ? NULL : left_out_sentence(job->columns.why[c]);
    for (size_t i = 0; i < job->n_warnings; i++) note[i] = job->warning[i];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)s->fit.seed);
    cof_report_fact facts[] = {{"seed", seed},
                               {"start", s->init_rows != NULL ? "rows" : cof_start_name((size_t)s->fit.init)},
                               {"restart chosen by", option_word("select", s->fit.select)}};
    cof_report_options o = {.struct_size = sizeof o,
                            .source = job->file,
                            .left_out = reason,
                            .facts = facts,
                            .n_facts = sizeof facts / sizeof *facts,
                            .notes = note,
                            .n_notes = job->n_warnings,
                            .seed = s->fit.seed,
                            .threads = s->fit.threads,
                            .n_distinct_rows = job->info.n_distinct_rows};
    const cof_table *table = job->sample != NULL ? job->sample : job->table;
    o.labels = labels;
    o.n_labels = cof_table_n_rows(table);
    o.scores = job->sample != NULL && job->scored ? &job->scores : NULL;
    if (s->out[OUT_REPORT].path != NULL) TRY(write_report(&job->s.out[OUT_REPORT], job->model, table, &o));
    if (s->out[OUT_MAP].path == NULL) return CODE_DONE;
    return write_map(&job->s.out[OUT_MAP], job->model, table, labels, &o);
}

/* The model goes last: labels and history may be devices, which cannot be taken back. */
static int write_outputs(fit_job *job)
{
    const int32_t *labels = cof_model_labels(job->model, NULL);
    const cof_table *table = job->table;
    size_t names = job->columns.names;
    outfile *to = job->s.out;
    if (to[OUT_HISTORY].path != NULL) TRY(write_history(&to[OUT_HISTORY], job->model));
    if (to[OUT_LABELS].path != NULL)
        TRY(write_labels(&to[OUT_LABELS], table, names,
                         (label_source){labels, job->model,
                                        labels == NULL ? cof_shard_set_schema(job->set) : NULL,
                                        &job->shards}));
    if (to[OUT_ALTERNATIVES].path != NULL)
        TRY(write_alternatives(&to[OUT_ALTERNATIVES], table, names, job->model));
    if (to[OUT_TABLE].path != NULL) TRY(write_table(&to[OUT_TABLE], table, labels));
    if (to[OUT_MODES].path != NULL) TRY(write_modes(&to[OUT_MODES], job->model));
    if (to[OUT_PROFILES].path != NULL) TRY(write_profiles(&to[OUT_PROFILES], job->model));
    if (to[OUT_PARAMETERS].path != NULL) TRY(write_parameters(&to[OUT_PARAMETERS], job->model, table));
    if (to[OUT_CELLS].path != NULL) TRY(write_cells(&to[OUT_CELLS], job->model, table));
    if (to[OUT_RESIDUALS].path != NULL) TRY(write_residuals(&to[OUT_RESIDUALS], job->model, table));
    if (to[OUT_MARGINS].path != NULL) TRY(write_margins(&to[OUT_MARGINS], table, names, labels, job->margin));
    if (to[OUT_MEMBERSHIPS].path != NULL)
        TRY(write_memberships(&to[OUT_MEMBERSHIPS], table, names, labels, job->model, job->s.fit.threads));
    if (to[OUT_DISTANCES].path != NULL) TRY(write_distances(&to[OUT_DISTANCES], table, job->model));
    TRY(write_pictures(job));
    if (to[OUT_CUTS].path != NULL) TRY(write_cuts(&to[OUT_CUTS], table));
    if (to[OUT_MODEL].path != NULL) TRY(outfile_save_model(&to[OUT_MODEL], job->model));
    return outfiles_publish(to, N_OUT);
}

/* What half a restart has reached is not worth an older result, and files of one run belong together: if one of
 * them exists, none is written. NULL: go on. */
static const char *worth_more(const fit_job *job)
{
    struct stat about;
    if (job->info.stop_reason != COF_STOP_STOPPED || job->s.keep_partial || count_finished(job) > 0)
        return NULL;
    for (size_t i = 0; i < N_OUT; i++)
        if (job->s.out[i].path != NULL && stat(job->s.out[i].path, &about) == 0 && S_ISREG(about.st_mode) &&
            about.st_size > 0)
            return job->s.out[i].path;
    return NULL;
}

/* ---- All of it ----------------------------------------------------------------------------------- */

/* Files first, words second: what is said about them is true by then. */
static int report(fit_job *job, bool words)
{
    TRY(score_labels(job));
    TRY(measure(job));
    TRY(collect_warnings(job));
    const char *older = worth_more(job);
    if (older != NULL)
        return complain(CODE_INTERRUPTED,
                        "interrupted in the first restart; nothing was written, because %s exists "
                        "(--keep-partial would replace it)",
                        older);
    TRY(write_outputs(job));
    if (job->s.outputs.json)
        print_fit_json(job);
    else if (words)
        TRY(show_fit(job, &job->page));
    if (job->info.stop_reason != COF_STOP_STOPPED) return CODE_DONE;
    return complain(CODE_INTERRUPTED, "%s", job->warning[job->n_warnings - 1]);
}

static void tell_read(void *ctx)
{
    const fit_job *job = ctx;
    show_table_read(job, &job->page);
}

static int run_job(fit_job *job, const char *path)
{
    bool to_stdout = any_stdout(job->s.out, N_OUT);
    bool words = !job->s.quiet && !job->s.outputs.json;
    job->page = page_for(to_stdout ? stderr : stdout); /* the words make room for the data */
    job->line = progress_begin(job->s.quiet, job->file);
    cof_env env = progress_env(&job->line);
    catch_signals();
    int code = read_input(job, path, &env);
    progress_erase(&job->line);
    if (code == CODE_DONE) code = prepare_table(job);
    if (code != CODE_DONE) return code;
    if (words) job->line.begun = tell_read, job->line.ctx = job;
    code = fit_table(job, path);
    progress_erase(&job->line);
    if (code != CODE_DONE) return code;
    progress_fit_begun(&job->line);
    return report(job, words);
}

static int run_fit(int argc, char **argv)
{
    fit_job job = {.s = {.fit = {.seed = 1, .variant = -1, .init = -1}, .columns = {.quantities = -1}}};
    operands found;
    int code;
    job.begun_s = now_s();
    if (!parse_arguments(&verb_fit, argc, argv, &job.s, &found, &code)) return code;
    TRY(check_settings(&job, &found));
    const char *path = found.n > 0 ? found.text[0] : NULL;
    TRY(check_outputs(&job, path));
    code = run_job(&job, path);
    cof_journal_free(job.journal);
    cof_shard_set_free(job.set);
    cof_table_free(job.sample);
    return code;
}

const verb verb_fit = {
    .name = "fit",
    .usage = "TABLE -k K [options]",
    .summary = "cluster the rows of a table",
    .paragraphs = {"Clusters the rows of TABLE, a CSV or TSV file whose columns are categories (\"-\" is "
                   "standard input; gzip and zstd are recognised). For every column it learns a tree over "
                   "the values, in which values that occur in the same clusters are near each other, and "
                   "measures distances along these trees. --method chooses another method.",
                   "A column in which nearly every row has its own value is taken for an identifier and left "
                   "out, unless --columns names it. Ctrl-C stops early and keeps the best result so far; a "
                   "second Ctrl-C ends the program at once."},
    .operands = {{"TABLE", .optional = true, .hint = HINT_FILE}},
    .groups = {{"Clustering", clustering_options, 0},
               {"Columns", column_options, offsetof(fit_settings, columns)},
               {"Reading the table", dialect_options, offsetof(fit_settings, reading)},
               {NULL, na_options, offsetof(fit_settings, reading)},
               {"Output", output_options, 0}},
    .examples = {{"coforest fit --demo", "Try it: 101 animals in 7 clusters."},
                 {"coforest fit survey.csv -k 5 --labels-out labels.csv --model-out survey.cof",
                  "Five clusters; save the cluster of every row and the model."},
                 {"coforest fit votes.csv -k 2 --label party --missing ignore",
                  "Leave the column party out and compare the clusters with it; missing votes are ignored."},
                 {"coforest fit survey.csv -k auto", "Let the program choose the number of clusters."},
                 {"coforest fit survey.csv -k 4 --ordinal 'size=small<medium<large'",
                  "The sizes have an order; the quotes keep the shell from taking < for a file."},
                 {"cut -d, -f2- survey.csv | coforest fit - -k 8 --json > result.json",
                  "For use in a script."}},
    .run = run_fit,
};
