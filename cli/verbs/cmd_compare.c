/* coforest compare: several methods on one or more tables, run by run from the same starts. */
#include <math.h>
#include <unistd.h>

#include "cmd.h"
#include "compare.h"
#include "../complain.h"
#include "fit_job.h"
#include "../method_list.h"
#include "../show/show_scores.h"

enum { DEFAULT_RUNS = 10, MOST_RUNS = 10000, MOST_THREADS = 1024 };

const double compare_levels[2] = {0.05, 0.10};

static const index_kind own_indices[N_INDICES] = {
    {"log_likelihood", "log-lik/row", "integrated log-likelihood of the partition, per row", true, true},
    {"agreement", "agreement", "adjusted Rand index between a method's runs, mean of all pairs", true, false},
    {"objective", "objective", "each method's own, so not to be compared between methods", false, true}};

static const choice format_choices[] = {
    [FORMAT_TEXT] = {"text", "for people (default)"},
    [FORMAT_CSV] = {"csv", "one figure per line, with its table, method and index"},
    [FORMAT_JSON] = {"json", "one object with every run"},
    [FORMAT_MARKDOWN] = {"markdown", "tables for a document"},
    [FORMAT_LATEX] = {"latex", "tabulars that use booktabs"},
    {NULL, NULL}};

static const option comparing_options[] = {
    OPTION("clusters", "K", OPTION_COUNT, compare_settings, fit.k,
           "How many clusters to make (default: as many as --label has classes).", .letter = 'k', .least = 1,
           .most = COF_MOST_CLUSTERS),
    OPTION("methods", "NAME,...", OPTION_TEXT, compare_settings, methods,
           "The methods, separated by commas; sets and names may be mixed:", .list = method_set_choices),
    OPTION("control", "NAME", OPTION_TEXT, compare_settings, control,
           "The method that the others are tested against, with several tables (default: coforest if it is "
           "among them, otherwise the first)."),
    OPTION("runs", "R", OPTION_COUNT, compare_settings, runs,
           "The number of runs of each method, one restart each (default: 10).", .least = 1,
           .most = MOST_RUNS),
    OPTION("as-fit", NULL, OPTION_FLAG, compare_settings, as_fit,
           "Every run is what \"fit\" does: the best of many restarts from its default start, instead of a "
           "single random one. Then --runs is 1 unless you give it."),
    LIBRARY_OPTION("init", compare_settings, fit,
                   .help =
                       "How the first partition of a run is made; it is the same for all methods (default: "
                       "random):"),
    LIBRARY_OPTION("seed", compare_settings, fit,
                   .help = "Seed of the first run; every further run uses the next number (default: 1)."),
    LIBRARY_OPTION("variant", compare_settings, fit),
    LIBRARY_OPTION("missing", compare_settings, fit),
    LIBRARY_OPTION("scale", compare_settings, fit),
    LIBRARY_OPTION("gamma", compare_settings, fit),
    LIBRARY_OPTION("threads", compare_settings, fit,
                   .help = "Threads to use (default: 0, all cores). The results do not depend on it.",
                   .most = MOST_THREADS),
    {.name = NULL}};

static const option compare_output_options[] = {
    OPTION("format", "FORMAT", OPTION_CHOICE, compare_settings, format,
           "Output format:", .choices = format_choices),
    OUT_OPTION("out", compare_settings, out, "Where it goes (default: \"-\", standard output)."),
    NO_CLOBBER_OPTION(compare_settings),
    OPTION("quiet", NULL, OPTION_FLAG, compare_settings, quiet,
           "Print no progress line and no remark about the file.", .letter = 'q'),
    {.name = NULL}};

const char *contender(const comparison *c, size_t method)
{
    return cof_method_name(c->method[method]);
}

/* ---- What was asked ------------------------------------------------------------------------------ */

static int check_settings(comparison *c, const operands *found)
{
    compare_settings *s = &c->s;
    size_t n_stdin = 0;
    if (s->runs == 0) s->runs = s->as_fit ? 1 : DEFAULT_RUNS;
    if (s->fit.init < 0) s->fit.init = s->as_fit ? COF_INIT_PORTFOLIO : COF_INIT_RANDOM;
    TRY(parse_methods(s->methods, &c->method, &c->n_methods));
    const char *control = s->control != NULL ? s->control : cof_method_name(0);
    while (c->control < c->n_methods && strcmp(contender(c, c->control), control) != 0) c->control++;
    if (c->control == c->n_methods && s->control != NULL)
        return complain(CODE_USAGE, "--control %s is not among the methods compared; add it to --methods",
                        control);
    if (c->control == c->n_methods) c->control = 0;
    for (size_t i = 0; i < found->n; i++) n_stdin += strcmp(found->text[i], "-") == 0;
    if (n_stdin > 1) return complain(CODE_USAGE, "standard input can be one of the tables, not several");
    if (s->fit.k == 0 && s->columns.label == NULL)
        return complain(CODE_USAGE,
                        "compare needs the number of clusters, -k K, or the true classes, --label "
                        "COLUMN");
    s->columns.several = found->n > 1;
    memcpy(c->index, own_indices, sizeof c->index);
    for (size_t x = 0; x < N_INDICES && s->columns.label != NULL;
         x++) { /* the library's first: ca, ari, nmi */
        const cof_index *index = cof_index_at(x);
        c->index[x] = (index_kind){index->key, index->name, index->about, true, true};
    }
    if (s->columns.label == NULL && s->runs == 1) c->index[1].ranked = false; /* nothing to agree with */
    TRY(outfiles_check(&s->out, 1, s->outputs, found->text, found->n));
    return outfiles_check(&s->out, 1, s->outputs, &s->columns.cuts, 1);
}

/* ---- Tables -------------------------------------------------------------------------------------- */

/* k-prototypes takes quantities as numbers, as "fit" does, where other methods take bins. */
static int read_scaled(comparison *c, contest *at)
{
    bool wanted = false;
    for (size_t m = 0; m < c->n_methods; m++)
        wanted = wanted || strstr(contender(c, m), "-prototypes") != NULL;
    if (!wanted) return CODE_DONE;
    column_choice asked = c->s.columns;
    asked.quantities = COF_QUANTITIES_SCALED;
    cof_env env = reading_env(&c->line);
    int code = read_table(&env, at->path, &c->s.reading, NULL, &at->scaled);
    progress_erase(&c->line);
    return code == CODE_DONE
               ? choose_columns(at->scaled, at->file, &asked, c->s.fit.missing, &at->scaled_columns)
               : code;
}

static int read_contest(comparison *c, contest *at, const char *path)
{
    const char *label = c->s.columns.label;
    at->path = path;
    at->file = strcmp(path, "-") == 0 ? "standard input" : path;
    const char *slash =
        strrchr(at->file, '/'); /* "vt" of "data/vt.csv.gz"; the whole name if nothing would be left */
    const char *leaf = slash == NULL || slash[1] == '\0' ? at->file : slash + 1;
    size_t length = *leaf == '.' ? strlen(leaf) : strcspn(leaf, ".");
    snprintf(at->short_name, sizeof at->short_name, "%.*s", (int)length, leaf);
    c->line.what = at->file;
    cof_env env = reading_env(&c->line);
    int code = read_table(&env, path, &c->s.reading, NULL, &at->table);
    progress_erase(&c->line);
    if (code != CODE_DONE) return code;
    at->n_rows = cof_table_n_rows(at->table);
    if (c->n_contests > 1 && label != NULL && cof_table_find(at->table, label) == SIZE_MAX)
        return complain(CODE_USAGE,
                        "there is no column \"%s\" in %s; the classes must have the same name in every table",
                        label, at->file);
    code = choose_columns(at->table, at->file, &c->s.columns, c->s.fit.missing, &at->columns);
    if (code == CODE_DONE) code = row_weights(at->table, at->columns.weights, &at->weights);
    if (code == CODE_DONE && at->columns.n_cut > 0 && c->s.columns.quantities < 0 && strcmp(path, "-") != 0)
        code = read_scaled(c, at);
    at->k = c->s.fit.k;
    if (code != CODE_DONE || label == NULL) return code;
    cof_column view = column_of(at->table, at->columns.label);
    if (view.n_values == 0)
        return complain(CODE_DATA, "the label column \"%s\" of %s has no values", view.name, at->file);
    if (at->k == 0) at->k = view.n_values;
    at->classes = column_labels(at->table, at->columns.label);
    return CODE_DONE;
}

static void make_entry(entry *e, uint32_t runs)
{
    e->value = keep((size_t)runs * N_INDICES, sizeof *e->value);
    e->time_s = keep(runs, sizeof *e->time_s);
    e->labels = keep(runs, sizeof *e->labels);
    for (size_t i = 0; i < (size_t)runs * N_INDICES; i++) e->value[i] = (double)NAN;
    for (uint32_t i = 0; i < runs; i++) e->time_s[i] = (double)NAN;
}

static int read_contests(comparison *c, const operands *found)
{
    c->contest = keep(found->n, sizeof *c->contest);
    c->n_contests = found->n;
    for (size_t i = 0; i < found->n; i++) {
        contest *at = &c->contest[i];
        TRY(read_contest(c, at, found->text[i]));
        at->entry = keep(c->n_methods, sizeof *at->entry);
        for (size_t m = 0; m < c->n_methods; m++) make_entry(&at->entry[m], c->s.runs);
    }
    if (!c->s.columns.several) return CODE_DONE;
    cof_table **tables = keep(c->n_contests, sizeof *tables);
    for (size_t i = 0; i < c->n_contests; i++) tables[i] = c->contest[i].table;
    return check_named(tables, c->n_contests, &c->s.columns);
}

/* ---- What the fits say --------------------------------------------------------------------------- */

static double median(const double *value, size_t n)
{
    double *sorted = keep(n + 1, sizeof *sorted);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(value[i])) sorted[m++] = value[i];
    return m > 0 ? cof_quantile(sorted, m, 0.5) : (double)NAN;
}

/* Mean and deviation, which divides by one less than the runs, of those that have a result. */
static void summarise(entry *e, uint32_t runs, const index_kind *index)
{
    e->n_results = 0;
    for (uint32_t r = 0; r < runs; r++) e->n_results += !isnan(e->time_s[r]);
    e->fit_s = median(e->time_s, runs);
    for (size_t x = 0; x < N_INDICES; x++) {
        double sum = 0, squares = 0, n = 0;
        for (uint32_t r = 0; r < runs; r++) {
            double v = e->value[(size_t)r * N_INDICES + x];
            if (!isnan(v)) sum += v, n++;
        }
        e->mean[x] = sum / n; /* 0 / 0 is NaN, as it should be */
        for (uint32_t r = 0; r < runs; r++) {
            double v = e->value[(size_t)r * N_INDICES + x];
            if (!isnan(v)) squares += (v - e->mean[x]) * (v - e->mean[x]);
        }
        e->deviation[x] = index[x].has_deviation && n > 1 ? sqrt(squares / (n - 1)) : (double)NAN;
    }
}

/* Equal partitions under other cluster numbers are added up in another order, so that their scores may differ
 * in the last digit; that is no reason to rank them apart. */
static double steady(double mean)
{
    return round(mean * 1e12) / 1e12;
}

/* 1 is the best; ties share the mean of their ranks, and what has no result is tied at the end. */
static void rank(const comparison *c, contest *at, size_t x)
{
    for (size_t m = 0; m < c->n_methods; m++) {
        double own = steady(at->entry[m].mean[x]);
        size_t before = 0, same = 0;
        for (size_t i = 0; i < c->n_methods; i++) {
            double other = steady(at->entry[i].mean[x]);
            before += isnan(own) ? !isnan(other) : other > own;
            same += isnan(own) ? isnan(other) != 0 : other == own;
        }
        at->entry[m].rank[x] = c->index[x].ranked ? (double)before + ((double)same + 1) / 2 : (double)NAN;
    }
}

static int check_results(const comparison *c)
{
    for (size_t i = 0; i < c->n_contests; i++) {
        const contest *at = &c->contest[i];
        uint32_t n = 0;
        for (size_t m = 0; m < c->n_methods; m++) n += at->entry[m].n_results;
        if (n == 0 && c->stopped) continue;
        if (n == 0 && c->n_contests == 1 && c->n_methods == 1)
            return complain(CODE_DATA, "%s", at->entry[0].reason);
        if (n == 0)
            return complain(CODE_DATA, "no method has a result on %s: %s", at->file, at->entry[0].reason);
    }
    return CODE_DONE;
}

static int judge_index(comparison *c, size_t x)
{
    verdict *v = &c->verdict[x];
    double *value = keep(c->n_contests * c->n_methods, sizeof *value);
    v->mean_rank = keep(c->n_methods, sizeof *v->mean_rank);
    v->test = (cof_friedman_result){.struct_size = sizeof v->test};
    for (size_t i = 0; i < c->n_contests; i++)
        for (size_t m = 0; m < c->n_methods; m++)
            value[i * c->n_methods + m] = steady(c->contest[i].entry[m].mean[x]);
    return complain_status(
        cof_friedman(NULL, value, c->n_contests, c->n_methods, 1, v->mean_rank, &v->test, &said), TASK_FIT);
}

static int judge(comparison *c)
{
    for (size_t i = 0; i < c->n_contests; i++) {
        for (size_t m = 0; m < c->n_methods; m++) summarise(&c->contest[i].entry[m], c->s.runs, c->index);
        for (size_t x = 0; x < N_INDICES; x++) rank(c, &c->contest[i], x);
    }
    int code = check_results(c);
    c->has_verdict = c->n_contests > 1 && c->n_methods > 1 && !c->stopped;
    if (!c->has_verdict) return code;
    for (size_t x = 0; x < N_INDICES && code == CODE_DONE; x++)
        if (c->index[x].ranked) code = judge_index(c, x);
    for (size_t l = 0; l < 2; l++)
        c->difference[l] = cof_critical_difference(c->n_contests, c->n_methods, compare_levels[l]);
    return code;
}

int differs(const comparison *c, size_t index, size_t method, size_t level)
{
    const double *rank_of = c->verdict[index].mean_rank;
    double apart = rank_of[method] - rank_of[c->control];
    return fabs(apart) <= c->difference[level] ? 0 : apart > 0 ? 1 : -1;
}

/* ---- All of it ----------------------------------------------------------------------------------- */

typedef void (*writer)(const comparison *c, FILE *out);

static int write_result(comparison *c)
{
    static const writer write[] = {[FORMAT_TEXT] = write_compare_text,
                                   [FORMAT_CSV] = write_compare_csv,
                                   [FORMAT_JSON] = write_compare_json,
                                   [FORMAT_MARKDOWN] = write_compare_document,
                                   [FORMAT_LATEX] = write_compare_document};
    char *text = NULL;
    size_t n = 0;
    if (is_stdout(&c->s.out)) {
        write[c->s.format](c, stdout);
        return CODE_DONE;
    }
    FILE *memory = open_memstream(&text, &n);
    if (memory == NULL) return complain(CODE_FAILED, "out of memory");
    write[c->s.format](c, memory);
    int code = fclose(memory) == 0 ? outfile_open(&c->s.out) : complain(CODE_FAILED, "out of memory");
    if (code == CODE_DONE) {
        outfile_put(&c->s.out, text, n);
        code = outfile_finish(&c->s.out);
    }
    free(text);
    if (code == CODE_DONE) code = outfiles_publish(&c->s.out, 1);
    if (code == CODE_DONE && !c->s.quiet) printf("Wrote:     %s\n", show_text(c->s.out.path, 200).text);
    return code;
}

static void free_labels(const comparison *c)
{
    for (size_t i = 0; i < c->n_contests; i++)
        for (size_t m = 0; c->contest[i].entry != NULL && m < c->n_methods; m++)
            for (uint32_t r = 0; r < c->s.runs; r++) free(c->contest[i].entry[m].labels[r]);
}

static int run_compare(int argc, char **argv)
{
    comparison c = {.s = {.fit = {.seed = 1, .init = -1},
                          .methods = "default",
                          .out = {.option = "--out", .path = "-"},
                          .columns = {.quantities = -1}}};
    operands found;
    int code;
    if (!parse_arguments(&verb_compare, argc, argv, &c.s, &found, &code)) return code;
    TRY(check_settings(&c, &found));
    c.line = progress_begin(c.s.quiet, found.text[0]);
    double begun_s = now_s();
    catch_signals();
    code = read_contests(&c, &found);
    if (code == CODE_DONE) code = run_fits(&c);
    free_labels(&c); /* those that were not compared, because it was stopped */
    if (code == CODE_DONE) code = judge(&c);
    c.elapsed_s = now_s() - begun_s;
    size_t n_jobs = c.n_contests * c.n_methods * c.s.runs;
    if (code == CODE_DONE && c.stopped && !is_stdout(&c.s.out) && access(c.s.out.path, F_OK) == 0)
        code = complain(CODE_INTERRUPTED,
                        "interrupted after %zu of %zu fits; nothing was written, because %s exists", c.n_fits,
                        n_jobs, c.s.out.path);
    if (code == CODE_DONE) code = write_result(&c);
    if (code == CODE_DONE && c.stopped)
        code = complain(CODE_INTERRUPTED, "interrupted after %zu of %zu fits, which were kept", c.n_fits,
                        n_jobs);
    return code;
}

const verb verb_compare = {
    .name = "compare",
    .usage = "TABLE... [options]",
    .summary = "try several methods and rank them",
    .paragraphs =
        {"Runs several methods on each TABLE, all from the same first partitions, and compares their "
         "results. With --label, these are mean and standard deviation of accuracy (CA), adjusted Rand index "
         "(ARI) and normalised mutual information (NMI) against the true classes; without it, the integrated "
         "log-likelihood of the partitions, how much the runs of a method agree with each other, and its "
         "objective. Rank 1 is the best mean. A method without a result on a table is shown as - and ranks "
         "last. Every run is a single start, so that methods are compared and not their starts; \"fit\" "
         "keeps the best of many, and --as-fit compares that. Ctrl-C keeps the fits that are done.",
         "Several tables are summarised by average ranks, Friedman's test on them (chi-square, with and "
         "without the correction for ties, and Iman and Davenport's F), and the critical difference of "
         "Bonferroni and Dunn from the --control method. --ignore, --columns and --ordinal then apply to "
         "every table that has the column."},
    .operands = {{"TABLE", .repeated = true, .hint = HINT_FILE}},
    .groups = {{"Comparing", comparing_options, 0},
               {"Columns", column_options, offsetof(compare_settings, columns)},
               {"Reading the tables", dialect_options, offsetof(compare_settings, reading)},
               {NULL, na_options, offsetof(compare_settings, reading)},
               {"Output", compare_output_options, 0}},
    .examples = {{"coforest compare votes.csv --label party",
                  "Which method finds the parties, ten runs each."},
                 {"coforest compare survey.csv -k 5 --methods coforest,kmodes,lca --runs 20",
                  "No classes: how likely and how stable the partitions are."},
                 {"coforest compare data/*.csv --label class --format latex --out comparison.tex",
                  "Tables for a paper, with ranks and tests."}},
    .run = run_compare,
};
