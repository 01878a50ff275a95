/* coforest report: the page about a saved model, with its table or another one if one is given. */
#include "cmd.h"
#include "../column_choice.h"
#include "../complain.h"
#include "../progress.h"
#include "../show/report_out.h"
#include "../term.h"

typedef struct report_settings {
    reading reading;
    const char *label, *out, *map_out;
    uint64_t seed;
    uint32_t threads;
    double perplexity;
    bool quiet, no_clobber;
} report_settings;

enum { OUT_REPORT, OUT_MAP, N_OUT };

typedef struct report_job {
    report_settings s;
    const char *model_path, *table_path; /* table: NULL if there is none */
    progress_line line;                  /* here, because the table keeps pointing at it */
    cof_model *model;
    cof_table *table;
    int32_t *labels;
    outfile out[N_OUT];
} report_job;

static const option report_options[] = {
    FILE_OPTION("out", report_settings, out,
                "File for the report (default: report.html); \"-\" is standard output.", .letter = 'o'),
    FILE_OPTION("map-out", report_settings, map_out,
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

static const char *table_name(const report_job *job)
{
    return strcmp(job->table_path, "-") == 0 ? "standard input" : job->table_path;
}

static int write_files(report_job *job)
{
    cof_report_options o = {.struct_size = sizeof o,
                            .source = job->table != NULL ? table_name(job) : job->model_path,
                            .labels = job->labels,
                            .n_labels = job->table != NULL ? cof_table_n_rows(job->table) : 0,
                            .seed = job->s.seed,
                            .perplexity = job->s.perplexity,
                            .threads = job->s.threads};
    int code = write_report(&job->out[OUT_REPORT], job->model, job->table, &o);
    if (code == CODE_DONE && job->out[OUT_MAP].path != NULL)
        code = write_map(&job->out[OUT_MAP], job->model, job->table, job->labels, &o);
    return code == CODE_DONE ? outfiles_publish(job->out, N_OUT) : code;
}

static void tell_files(const report_job *job)
{
    static const char *const what[] = {"the report; open it in a browser", "the map of the rows"};
    page p = page_for(stdout);
    for (size_t i = 0; i < N_OUT; i++)
        if (job->out[i].path != NULL && !is_stdout(&job->out[i]))
            fprintf(p.out, "Wrote:     %s%s%s, %s\n", bold(&p), show_text(job->out[i].path, 200).text,
                    plain(&p), what[i]);
}

static int run_job(report_job *job)
{
    const char *inputs[] = {job->model_path, job->table_path};
    job->out[OUT_REPORT] = (outfile){.option = "--out", .path = job->s.out, .keep = job->s.no_clobber};
    job->out[OUT_MAP] = (outfile){.option = "--map-out", .path = job->s.map_out, .keep = job->s.no_clobber};
    if (job->table_path == NULL && job->s.map_out != NULL)
        return complain(CODE_USAGE, "--map-out needs the TABLE whose rows it shows");
    if (job->table_path == NULL && job->s.label != NULL)
        return complain(CODE_USAGE, "--label needs the TABLE that has the column");
    int code = outfiles_check(job->out, N_OUT, inputs, job->table_path == NULL ? 1 : 2);
    if (code != CODE_DONE) return code;
    TRY(complain_status(cof_model_load(NULL, job->model_path, &job->model, &said), TASK_MODEL));
    if (job->table_path != NULL) code = load_table(job);
    if (code == CODE_DONE) code = write_files(job);
    if (code == CODE_DONE && !job->s.quiet && !any_stdout(job->out, N_OUT)) tell_files(job);
    return code;
}

static int run_report(int argc, char **argv)
{
    report_job job = {.s = {.out = "report.html", .seed = 1}};
    operands found;
    int code;
    if (!parse_arguments(&verb_report, argc, argv, &job.s, &found, &code)) return code;
    job.model_path = found.text[0];
    job.table_path = found.n > 1 ? found.text[1] : NULL;
    code = run_job(&job);
    outfiles_free(job.out, N_OUT);
    cof_table_free(job.table);
    cof_model_free(job.model);
    return code;
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
