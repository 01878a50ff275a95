/* coforest trees: the order forest of a model, as text or pictures. */
#include <errno.h>
#include <sys/stat.h>

#include "cmd.h"
#include "../column_choice.h"
#include "../complain.h"
#include "../method_list.h"
#include "../outfiles.h"
#include "../term.h"

typedef struct trees_settings {
    text_list attr;
    int32_t format;
    outfile out;
    output_settings outputs;
} trees_settings;

typedef struct trees_job {
    trees_settings s;
    const char *path; /* of the model */
    cof_model *model;
    size_t *attribute; /* the chosen ones */
    size_t n;
} trees_job;

static const choice format_choices[] = {
    [COF_DRAW_TEXT] = {"text", "drawn with lines (default)"},
    [COF_DRAW_DOT] = {"dot", "for Graphviz, one graph for each column"},
    [COF_DRAW_SVG] = {"svg", "a picture of one column"},
    [COF_DRAW_JSON] = {"json", "an array with one object for each column"},
    {NULL, NULL}};

static const option trees_options[] = {
    OPTION("attr", "COLUMN", OPTION_TEXTS, trees_settings, attr,
           "Only the tree of this column, or of those that a pattern such as 'q*' matches. "
           "May be repeated."),
    OPTION("format", "FORMAT", OPTION_CHOICE, trees_settings, format,
           "Output format:", .choices = format_choices),
    OUT_OPTION("out", trees_settings, out,
               "Where they go (default: \"-\", standard output). A directory, "
               "or a name ending in /, gets one file for each column.",
               .letter = 'o'),
    NO_CLOBBER_OPTION(trees_settings),
    {.name = NULL}};

static int complain_attribute(const trees_job *job, const char *name)
{
    size_t n = cof_model_n_attributes(job->model);
    const char **names = keep(n + 1, sizeof *names);
    for (size_t r = 0; r < n; r++) names[r] = attribute_of(job->model, r).name;
    const char *near = nearest(name, names);
    if (near != NULL)
        return suggest(
            complain(CODE_USAGE, "the model has no column \"%s\"; did you mean \"%s\"?", name, near), name,
            near);
    return complain(CODE_USAGE, "the model has no column \"%s\"; \"coforest trees MODEL\" shows those it has",
                    name);
}

static int choose_named(trees_job *job, const char *name)
{
    size_t n = job->n;
    for (size_t r = 0; r < cof_model_n_attributes(job->model); r++) {
        cof_attribute about = attribute_of(job->model, r);
        if (!cof_name_matches(name, about.name)) continue;
        bool exact = strcmp(about.name, name) == 0;
        if (exact && !about.used)
            return complain(CODE_USAGE, "\"%s\" was constant when the model was made, so it has no tree",
                            name);
        if (exact) job->n = n; /* a name that looks like a pattern means itself */
        if (about.used) job->attribute[job->n++] = r;
        if (exact) return CODE_DONE;
    }
    return job->n > n ? CODE_DONE : complain_attribute(job, name);
}

static int choose_attributes(trees_job *job)
{
    size_t n = cof_model_n_attributes(job->model);
    job->attribute = keep(n * (job->s.attr.n + 1) + 1, sizeof *job->attribute);
    for (size_t i = 0; i < job->s.attr.n; i++) TRY(choose_named(job, job->s.attr.text[i]));
    if (job->s.attr.n > 0) return CODE_DONE;
    for (size_t r = 0; r < n; r++)
        if (attribute_of(job->model, r).used) job->attribute[job->n++] = r;
    return CODE_DONE;
}

static int text_sink(void *ctx, const char *text, size_t n_bytes)
{
    return put_drawing(outfile_sink, ctx, text, n_bytes);
}

static int write_file(const trees_job *job)
{
    outfile f = job->s.out;
    bool array = job->s.format == COF_DRAW_JSON;
    if (job->s.format == COF_DRAW_SVG && job->n != 1)
        return complain(CODE_USAGE,
                        "an SVG file holds one tree: choose a column with --attr, or give a directory "
                        "with --out trees/");
    TRY(outfiles_check(&f, 1, job->s.outputs, &job->path, 1));
    TRY(outfile_open(&f));
    if (array) outfile_put(&f, "[\n", 2);
    for (size_t i = 0; i < job->n; i++) {
        if (i > 0) outfile_put(&f, array ? ",\n" : "\n", array ? 2 : 1);
        cof_status status =
            cof_model_draw_tree(job->model, job->attribute[i], job->s.format,
                                job->s.format == COF_DRAW_TEXT ? text_sink : outfile_sink, &f, &said);
        /* what the file says is told by its finish */
        if (f.status == COF_OK) TRY(complain_status(status, TASK_OUTPUT));
    }
    if (array) outfile_put(&f, "]\n", 2);
    TRY(outfile_finish(&f));
    return outfiles_publish(&f, 1);
}

static int write_folder(trees_job *job)
{
    const char *folder = job->s.out.path;
    const char *ending = job->s.format == COF_DRAW_TEXT ? "txt" : format_choices[job->s.format].name;
    trees_job one = *job;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return complain(CODE_FAILED, "cannot make the directory %s: %s", folder, strerror(errno));
    for (size_t i = 0; i < job->n; i++) {
        /* 03-legs.svg: the number keeps the order and tells apart what the cleaned names may not. */
        char name[64];
        snprintf(name, sizeof name, "%s", attribute_of(job->model, job->attribute[i]).name);
        for (char *s = name; *s != '\0'; s++)
            if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *s) == NULL)
                *s = '_';
        one.s.out.path = keep_text("%s%s%02zu-%s.%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                                   job->attribute[i] + 1, name, ending);
        one.attribute = &job->attribute[i];
        one.n = 1;
        TRY(write_file(&one));
    }
    printf("Wrote:     %zu file%s in %s\n", job->n, plural(job->n), show_text(folder, 200).text);
    return CODE_DONE;
}

static int run_trees(int argc, char **argv)
{
    trees_job job = {.s = {.format = COF_DRAW_TEXT, .out = {.option = "--out", .path = "-"}}};
    operands found;
    struct stat about;
    int code;
    if (!parse_arguments(&verb_trees, argc, argv, &job.s, &found, &code)) return code;
    job.path = found.text[0];
    TRY(load_model(job.path, &job.model));
    if (strncmp(cof_model_method(job.model), "coforest", 8) != 0 && !has_trees(job.model))
        return complain(CODE_MODEL, "this model was made by %s, which has no trees",
                        cof_model_method(job.model));
    TRY(choose_attributes(&job));
    const char *out = job.s.out.path;
    if (*out == '\0') return complain(CODE_USAGE, "--out needs a file name");
    bool folder = out[strlen(out) - 1] == '/' || (stat(out, &about) == 0 && S_ISDIR(about.st_mode));
    return folder ? write_folder(&job) : write_file(&job);
}

const verb verb_trees = {
    .name = "trees",
    .usage = "MODEL [options]",
    .summary = "show the order trees of a model",
    .paragraphs = {"Shows the order trees of a MODEL that \"fit --model-out\" saved, one for each column. A "
                   "short edge joins two values that occur in the same clusters; the distance of two values "
                   "is the length of the path between them."},
    .operands = {{"MODEL", .hint = HINT_FILE}},
    .groups = {{"Options", trees_options, 0}},
    .examples = {{"coforest trees survey.cof --attr education", "The tree of one column."},
                 {"coforest trees survey.cof --format svg --out trees/", "A picture of every column."},
                 {"coforest trees survey.cof --format dot --attr income | dot -Tpdf > income.pdf",
                  "With Graphviz."}},
    .run = run_trees,
};
