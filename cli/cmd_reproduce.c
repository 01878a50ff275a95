/* coforest reproduce: the paper's experiments, each as data, picture and a section of one page. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "complain.h"
#include "reproduce.h"
#include "term.h"

typedef struct reproduce_settings {
    uint32_t runs, threads;
    const char *out, *data;
    bool quick, quiet;
} reproduce_settings;

static const rep_experiment *const experiments[] = {&rep_tables, &rep_toy,  &rep_ablation, &rep_convergence,
                                                    &rep_time,   &rep_tsne, &rep_mixed,    NULL};

static const choice experiment_choices[] = {{"tables", NULL},      {"toy", NULL},  {"ablation", NULL},
                                            {"convergence", NULL}, {"time", NULL}, {"tsne", NULL},
                                            {"mixed", NULL},       {NULL, NULL}};

static const option reproduce_options[] = {
    {.name = "runs",
     .arg = "R",
     .kind = OPTION_COUNT,
     .offset = offsetof(reproduce_settings, runs),
     .least = 1,
     .most = 1000,
     .help = "Runs behind each mean (default: 10, as in the paper)."},
    {.name = "out",
     .letter = 'o',
     .arg = "DIR",
     .kind = OPTION_TEXT,
     .offset = offsetof(reproduce_settings, out),
     .hint = HINT_FILE,
     .help =
         "Where the files go (default: reproduced). Parts that are finished there, with the same settings "
         "and data, are not run again."},
    {.name = "data",
     .arg = "DIR",
     .kind = OPTION_TEXT,
     .offset = offsetof(reproduce_settings, data),
     .hint = HINT_FILE,
     .help =
         "Where the tables are (default: COFOREST_DATA, else ../shared/data). Those that are not there are "
         "left out."},
    {.name = "quick",
     .kind = OPTION_FLAG,
     .offset = offsetof(reproduce_settings, quick),
     .help = "Fewer runs and smaller tables: about a minute."},
    {.name = "threads",
     .arg = "T",
     .kind = OPTION_COUNT,
     .offset = offsetof(reproduce_settings, threads),
     .most = 64,
     .help = "Fits at a time (default: 0, all cores); times are measured one by one."},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .offset = offsetof(reproduce_settings, quiet),
     .help = "Print nothing but errors."},
    {.name = NULL}};

static const option_group reproduce_group = {"Options", reproduce_options, 0};

/* ---- What the experiments ask of the job ------------------------------------------------------------------ */

/* Enough to know how ten-run means spread; NS has 12,960 rows. */
static uint32_t pool_of(const rep_job *job, bool large)
{
    uint32_t pool = job->quick ? (large ? 10 : 40) : large ? 100 : 500;
    return pool > job->runs ? pool : job->runs;
}

uint32_t rep_pool(const rep_job *job, const rep_table *t)
{
    return pool_of(job, t->n_rows > 5000);
}

void rep_describe_runs(const rep_job *job, char *settings, size_t n)
{
    snprintf(
        settings, n,
        "coforest %s, %u runs a mean, %u runs in all (%u above 5000 rows), authors' scaling, random starts",
        cof_version(), job->runs, pool_of(job, false), pool_of(job, true));
}

void rep_progress(rep_job *job, size_t done, size_t total)
{
    char text[256];
    if (!job->line.on || now_s() < job->line.next_s) return;
    snprintf(text, sizeof text, "%s  %zu of %zu", job->doing, done, total);
    fprintf(stderr, "\r%s\033[K", show_text(text, terminal_width(stderr) - 1).text);
    fflush(stderr);
    job->line.drawn = true;
    job->line.next_s = now_s() + 0.1;
}

static int stop_wanted(void *ctx)
{
    (void)ctx;
    return interrupted();
}

/* ---- One experiment ----------------------------------------------------------------------------------------- */

/* Takes a part out, so that it can be run again or left out. */
static void drop_unit(rep_results *r, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->record[i].unit, name) != 0) r->record[kept++] = r->record[i];
    r->n = kept;
    kept = 0;
    for (size_t i = 0; i < r->n_units; i++)
        if (strcmp(r->unit[i].name, name) != 0) r->unit[kept++] = r->unit[i];
    r->n_units = kept;
}

static int run_unit(rep_job *job, const rep_experiment *e, const rep_unit *unit, rep_results *r)
{
    char doing[64];
    double begun_s = now_s();
    snprintf(doing, sizeof doing, "%.16s, %.24s", e->name, unit->name);
    job->doing = doing;
    drop_unit(r, unit->name);
    int code = e->run(job, unit, r);
    progress_erase(&job->line);
    if (code != CODE_DONE) return code;
    r->unit[r->n_units] = *unit;
    r->unit[r->n_units++].seconds = now_s() - begun_s;
    return rep_save(job, e, r); /* what is finished stays finished */
}

/* Parts kept that are not among those asked for now belong to tables that have gone, or changed. */
static void drop_stale(rep_results *r, const rep_unit *units, size_t n)
{
    for (size_t i = r->n_units; i-- > 0;) {
        bool wanted = false;
        for (size_t u = 0; u < n; u++)
            wanted |=
                strcmp(units[u].name, r->unit[i].name) == 0 && strcmp(units[u].key, r->unit[i].key) == 0;
        if (!wanted) drop_unit(r, r->unit[i].name);
    }
}

static int run_units(rep_job *job, const rep_experiment *e, rep_results *r, size_t *n_run)
{
    rep_unit units[MOST_UNITS];
    size_t n = e->list(job, units);
    int code = CODE_DONE;
    drop_stale(r, units, n);
    for (size_t u = 0; code == CODE_DONE && u < n; u++) {
        if (rep_find_unit(r, units[u].name) != NULL) continue;
        code = run_unit(job, e, &units[u], r);
        (*n_run)++;
    }
    return code;
}

static int run_experiment(rep_job *job, const rep_experiment *e)
{
    char settings[256];
    rep_results r;
    size_t n_run = 0;
    double begun_s = now_s();
    e->describe(job, settings, sizeof settings);
    rep_load(job, e, settings, &r);
    int code = run_units(job, e, &r, &n_run);
    if (code == CODE_DONE && r.n_units == 0) {
        if (!job->quiet) printf("%-12s left out: its tables are not there\n", e->name);
        rep_results_free(&r);
        return CODE_DONE;
    }
    if (code == CODE_DONE) code = rep_save(job, e, &r);
    if (code == CODE_DONE) code = e->draw(job, &r);
    if (code == CODE_DONE && !job->quiet)
        printf("%-12s %zu part%s, %zu kept from before, %s\n", e->name, r.n_units, plural(r.n_units),
               r.n_units - n_run, show_seconds(now_s() - begun_s).text);
    fflush(stdout);
    rep_results_free(&r);
    return code;
}

/* ---- The verb ------------------------------------------------------------------------------------------------- */

static int check_names(const operands *found)
{
    const char *known[16] = {NULL};
    for (size_t i = 0; experiments[i] != NULL; i++) known[i] = experiments[i]->name;
    for (size_t i = 0; i < found->n; i++) {
        bool there = false;
        for (size_t e = 0; experiments[e] != NULL; e++) there |= strcmp(known[e], found->text[i]) == 0;
        if (there) continue;
        const char *near = nearest(found->text[i], known);
        if (near != NULL)
            return complain(CODE_USAGE, "there is no experiment \"%s\"; did you mean \"%s\"?", found->text[i],
                            near);
        return complain(CODE_USAGE,
                        "there is no experiment \"%s\"; there are tables, toy, ablation, convergence, time, "
                        "tsne and mixed",
                        found->text[i]);
    }
    return CODE_DONE;
}

static bool is_wanted(const operands *found, const rep_experiment *e)
{
    for (size_t i = 0; i < found->n; i++)
        if (strcmp(found->text[i], e->name) == 0) return true;
    return found->n == 0;
}

static int make_folder(const char *path)
{
    struct stat s;
    if (mkdir(path, 0777) == 0) return CODE_DONE;
    if (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return CODE_DONE;
    return complain(CODE_FAILED, "cannot make the folder %s: %s", path, strerror(errno));
}

static int run_wanted(rep_job *job, const operands *found)
{
    bool needs_data = false;
    int code = CODE_DONE;
    for (size_t i = 0; experiments[i] != NULL; i++)
        needs_data |= is_wanted(found, experiments[i]) && experiments[i]->needs_data;
    if (needs_data) code = rep_read_data(job);
    if (code == CODE_DONE && needs_data && job->n_tables + job->n_mixed == 0 && found->n > 0)
        return complain(CODE_DATA, "there is no table in %s; --data says where they are", job->data);
    for (size_t i = 0; code == CODE_DONE && experiments[i] != NULL; i++)
        if (is_wanted(found, experiments[i])) code = run_experiment(job, experiments[i]);
    if (code == CODE_INTERRUPTED)
        return complain(code, "interrupted; finished parts are in %s and will not be run again", job->out);
    if (code == CODE_DONE) code = rep_write_page(job, experiments);
    if (code == CODE_DONE && !job->quiet) printf("Wrote:       %s/index.html\n", job->out);
    return code;
}

static int run_reproduce(int argc, char **argv)
{
    const char *lent = getenv("COFOREST_DATA");
    reproduce_settings s = {.out = "reproduced",
                            .data = lent != NULL && *lent != '\0' ? lent : "../shared/data"};
    operands found;
    int code;
    if (!parse_arguments(&verb_reproduce, argc, argv, &s, &found, &code)) return code;
    code = check_names(&found);
    if (code == CODE_DONE) code = make_folder(s.out);
    if (code != CODE_DONE) return code;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    rep_job job = {.runs = s.runs > 0 ? s.runs : PAPER_RUNS,
                   .threads = s.threads > 0 ? s.threads
                              : cores > 0   ? (uint32_t)cores
                                            : 1,
                   .quick = s.quick,
                   .quiet = s.quiet,
                   .out = s.out,
                   .data = s.data,
                   .env = {.struct_size = sizeof(cof_env), .should_stop = stop_wanted},
                   .line = progress_begin(s.quiet, "")};
    catch_signals();
    code = run_wanted(&job, &found);
    progress_erase(&job.line);
    rep_free_data(&job);
    return code;
}

static const operand reproduce_operands[] = {
    {.name = "EXPERIMENT", .optional = true, .repeated = true, .choices = experiment_choices},
    {.name = NULL}};
static const option_group *const reproduce_groups[] = {&reproduce_group, NULL};
static const char *const reproduce_paragraphs[] = {
    "Runs the experiments of the COForest paper and its supplement again: tables (11 methods on 12 "
    "datasets), toy "
    "(graphs over the values), ablation, convergence, time, tsne (maps) and mixed (quantities beside "
    "categories); all of them if none is named. Each leaves a CSV, a JSON and an SVG file; index.html "
    "puts them beside the printed figures.",
    "Run i has seed i; no seed is chosen by what came of it. The tables are the paper's, from the UCI "
    "repository; docs/reproduce.md says in which form.",
    NULL};
static const example reproduce_examples[] = {
    {"coforest reproduce --quick --data data --out quick",
     "A first look, with the tables that come with the program."},
    {"coforest reproduce tables ablation --runs 10", "Two of the experiments, in full."},
    {NULL, NULL}};

const verb verb_reproduce = {.name = "reproduce",
                             .usage = "[EXPERIMENT...] [options]",
                             .summary = "run the paper's experiments",
                             .paragraphs = reproduce_paragraphs,
                             .operands = reproduce_operands,
                             .groups = reproduce_groups,
                             .examples = reproduce_examples,
                             .run = run_reproduce};
