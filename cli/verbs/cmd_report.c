/* coforest report: the page about a saved model, with its table or another one if one is given. */
#include "cmd.h"
#include "../column_choice.h"
#include "../complain.h"
#include "../progress.h"
#include "../show/report_out.h"
#include "../term.h"

enum { OUT_REPORT, OUT_MAP, N_OUT };

typedef struct report_settings {
    reading reading;
    const char *label;
    outfile out[N_OUT];
    output_settings outputs;
    uint64_t seed;
    uint32_t threads;
    double perplexity;
    bool quiet;
} report_settings;

typedef struct report_job {
    report_settings s;
    const char *table_path; /* NULL: there is none */
    progress_line line;     /* here, because the table keeps pointing at it */
    cof_model *model;
    cof_table *table;
    int32_t *labels;
} report_job;

static const option report_options[] = {
    OUT_OPTION("out", report_settings, out[OUT_REPORT],
               "File for the report (default: report.html); \"-\" is standard output.", .letter = 'o'),
    OUT_OPTION("map-out", report_settings, out[OUT_MAP],
               "Write the map of the rows alone as well, as SVG. Needs TABLE."),
    OPTION("label", "COLUMN", OPTION_TEXT, report_settings, label,
           "The column of TABLE that holds the true classes; the report compares the clusters with it."),
    OPTION("perplexity", "P", OPTION_REAL, report_settings, perplexity,
           "How many neighbours of a row the map looks at (default: 30).", .most = 1000),
    OPTION("seed", "S", OPTION_NUMBER, report_settings, seed,
           "Seed of the map's random numbers (default: 1)."),
    OPTION("threads", "T", OPTION_COUNT, report_settings, threads, "Threads to use (default: 0, all cores).",
           .most = 1024),
    NO_CLOBBER_OPTION(report_settings),
    OPTION("quiet", NULL, OPTION_FLAG, report_settings, quiet, "Print nothing but errors.", .letter = 'q'),
    {.name = NULL}};

/* Everything the model does not know is left out; one column may name the rows, one hold the classes. */
static int give_roles(report_job *job)
{
    size_t names = find_identifier(job->table, job->model), label = SIZE_MAX;
    if (job->s.label != NULL) {
        label = cof_table_find(job->table, job->s.label);
        if (label == SIZE_MAX) return complain_column(job->table, job->table_path, job->s.label);
    }
    for (size_t c = 0; c < cof_table_n_columns(job->table); c++) {
        int32_t role = c == label                                                ? COF_ROLE_LABEL
                       : c == names                                              ? COF_ROLE_IDENTIFIER
                       : is_attribute(job->model, column_of(job->table, c).name) ? COF_ROLE_ATTRIBUTE
                                                                                 : COF_ROLE_IGNORED;
        TRY(complain_status(cof_table_set_role(job->table, c, role, &said), TASK_SETTING));
    }
    return CODE_DONE;
}

static int load_table(report_job *job)
{
    job->line = progress_begin(job->s.quiet, job->table_path);
    cof_env env = progress_env(&job->line);
    catch_signals();
    int code = read_table(&env, job->table_path, &job->s.reading, NULL, &job->table);
    progress_erase(&job->line);
    if (code == CODE_DONE) code = give_roles(job);
    if (code != CODE_DONE) return code;
    size_t n_rows = cof_table_n_rows(job->table);
    job->labels = keep(n_rows + 1, sizeof *job->labels);
    return complain_status(
        cof_model_predict(job->model, job->table, job->s.threads, job->labels, n_rows, NULL, &said),
        TASK_PREDICT);
}

static int run_report(int argc, char **argv)
{
    static const char *const what[] = {"the report; open it in a browser", "the map of the rows"};
    report_job job = {.s = {.out[OUT_REPORT] = {.option = "--out", .path = "report.html"}, .seed = 1}};
    report_settings *s = &job.s;
    operands found;
    int code;
    if (!parse_arguments(&verb_report, argc, argv, s, &found, &code)) return code;
    job.table_path = found.n > 1 ? found.text[1] : NULL;
    if (job.table_path == NULL && s->out[OUT_MAP].path != NULL)
        return complain(CODE_USAGE, "--map-out needs the TABLE whose rows it shows");
    if (job.table_path == NULL && s->label != NULL)
        return complain(CODE_USAGE, "--label needs the TABLE that has the column");
    TRY(outfiles_check(s->out, N_OUT, s->outputs, found.text, found.n));
    TRY(load_model(found.text[0], &job.model));
    if (job.table_path != NULL) TRY(load_table(&job));
    const char *source = job.table_path == NULL             ? found.text[0]
                         : strcmp(job.table_path, "-") == 0 ? "standard input"
                                                            : job.table_path;
    cof_report_options o = {.struct_size = sizeof o,
                            .source = source,
                            .labels = job.labels,
                            .n_labels = job.table != NULL ? cof_table_n_rows(job.table) : 0,
                            .seed = s->seed,
                            .perplexity = s->perplexity,
                            .threads = s->threads};
    TRY(write_report(&s->out[OUT_REPORT], job.model, job.table, &o));
    if (s->out[OUT_MAP].path != NULL) TRY(write_map(&s->out[OUT_MAP], job.model, job.table, job.labels, &o));
    TRY(outfiles_publish(s->out, N_OUT));
    page p = page_for(stdout);
    if (!s->quiet && !any_stdout(s->out, N_OUT)) show_outfiles(&p, s->out, N_OUT, what);
    return CODE_DONE;
}

const verb verb_report = {
    .name = "report",
    .usage = "MODEL [TABLE] [options]",
    .summary = "write an HTML report about a model",
    .paragraphs =
        {"Writes an HTML report about a MODEL that \"fit --model-out\" saved: sizes, what makes each cluster "
         "different, profiles, order trees and, with a TABLE that has the model's columns, a map of its rows "
         "with typical and atypical ones. The report is one file that needs no network."},
    .operands = {{"MODEL", .hint = HINT_FILE}, {"TABLE", .optional = true, .hint = HINT_FILE}},
    .groups = {{"Options", report_options, 0},
               {"Reading the table", dialect_options, offsetof(report_settings, reading)},
               {NULL, na_options, offsetof(report_settings, reading)}},
    .examples = {{"coforest report survey.cof survey.csv --out survey.html", "The whole report, with rows."},
                 {"coforest report survey.cof", "A report from the model alone, in report.html."}},
    .run = run_report,
};
