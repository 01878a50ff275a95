/* coforest evaluate: how well two labellings of the same rows agree. */
#include <unistd.h>

#include "cmd.h"
#include "../column_choice.h"
#include "../complain.h"
#include "../progress.h"
#include "../show/show_scores.h"

typedef struct evaluate_settings {
    reading reading;
    const char *weights; /* FILE:COLUMN, or NULL */
    bool json;
} evaluate_settings;

typedef struct side {
    const char *path;
    const char *column_name; /* inside the argument, or NULL */
    progress_line line;      /* here, because the table keeps pointing at it */
    cof_table *table;
    size_t column;
    int32_t *label;
    cof_column about;
} side;

static const option weight_options[] = {
    OPTION("weights", "FILE:COLUMN", OPTION_TEXT, evaluate_settings, weights,
           "How much each row counts: a column of numbers of at least 0, in a table of the same rows.",
           .hint = HINT_FILE),
    {.name = NULL}};

static const option evaluate_options[] = {
    OPTION("json", NULL, OPTION_FLAG, evaluate_settings, json, "Print one JSON object instead of the text."),
    {.name = NULL}};

static const option no_label_options[] = {
    OPTION("na", "LIST", OPTION_TEXT, evaluate_settings, reading.na,
           "Texts that mean \"no label\", separated by commas; a comma at the end adds the empty cell "
           "(default: the empty cell alone, because NA may be the name of a class)."),
    {.name = NULL}};

/* FILE or FILE:COLUMN; a file whose own name holds a colon counts if it is there. The column asked for, else `cluster` as
 * our own files have it, else the last one. */
static int read_side(const char *argument, const evaluate_settings *settings, side *s)
{
    const char *colon = strrchr(argument, ':');
    bool whole = colon == NULL || access(argument, F_OK) == 0;
    s->path = whole ? argument : keep_text("%.*s", (int)(colon - argument), argument);
    s->column_name = whole ? NULL : colon + 1;
    s->line = progress_begin(false, argument);
    cof_env env = progress_env(&s->line);
    int code = read_table(&env, s->path, &settings->reading, "", &s->table);
    progress_erase(&s->line);
    if (code != CODE_DONE) return code;
    const char *wanted = s->column_name != NULL ? s->column_name : "cluster";
    s->column = cof_table_find(s->table, wanted);
    if (s->column == SIZE_MAX && s->column_name != NULL) return complain_column(s->table, s->path, wanted);
    if (s->column == SIZE_MAX) s->column = cof_table_n_columns(s->table) - 1;
    s->about = column_of(s->table, s->column);
    s->label = column_labels(s->table, s->column);
    return CODE_DONE;
}

/* NULL: every row counts once. */
static int read_weights(const evaluate_settings *settings, const side *a, side *w, double **weight)
{
    size_t n = cof_table_n_rows(a->table);
    *weight = NULL;
    if (settings->weights == NULL) return CODE_DONE;
    TRY(read_side(settings->weights, settings, w));
    if (w->column_name == NULL)
        return complain(CODE_USAGE, "--weights must look like FILE:COLUMN, not \"%s\"", settings->weights);
    if (n != cof_table_n_rows(w->table))
        return complain(CODE_DATA, "%s has %s row%s and %s has %s; there must be a weight for every row",
                        a->path, show_count(n).text, plural(n), w->path,
                        show_count(cof_table_n_rows(w->table)).text);
    TRY(complain_status(cof_table_set_role(w->table, w->column, COF_ROLE_WEIGHT, &said), TASK_TABLE));
    *weight = keep(n, sizeof **weight);
    return complain_status(cof_table_weights(w->table, *weight, n, &said), TASK_TABLE);
}

static void print_json(const side *a, const side *b, const side *w, const cof_indices *scores,
                       uint64_t n_left_out)
{
    const side *both[] = {a, b};
    const char *const key[] = {"a", "b"};
    cof_json j;
    cof_json_begin(&j, file_sink, stdout);
    cof_json_open(&j, NULL, '{');
    cof_json_text(&j, "version", cof_version());
    for (int i = 0; i < 2; i++) {
        cof_json_open_line(&j, key[i], '{');
        cof_json_text(&j, "file", both[i]->path);
        cof_json_text(&j, "column", both[i]->about.name);
        cof_json_count(&j, "n_labels", both[i]->about.n_values);
        cof_json_close(&j, '}');
    }
    if (w->column_name != NULL) cof_json_text(&j, "weights", w->about.name);
    cof_json_count(&j, "n", scores->n);
    cof_json_count(&j, "n_left_out", n_left_out);
    cof_json_open(&j, "scores", '{');
    json_scores(&j, scores);
    cof_json_close(&j, '}');
    cof_json_close(&j, '}');
    cof_json_end(&j);
}

static void show_side(const page *p, const char *letter, const side *s)
{
    fprintf(p->out, "%s%s%s  %s, column %s: %s label%s\n", bold(p), letter, plain(p),
            show_text(s->path, 100).text, show_name(s->about.name, 60).text,
            show_count(s->about.n_values).text, plural(s->about.n_values));
}

static int show(const side *a, const side *b, const side *w, const cof_indices *scores, uint64_t n_left_out)
{
    page p = page_for(stdout);
    labelling rows = {a->label, a->about.n_values, a->about.name, a->table, a->column};
    labelling across = {b->label, b->about.n_values, b->about.name, b->table, b->column};
    show_side(&p, "A", a);
    show_side(&p, "B", b);
    fprintf(p.out, "   %s row%s compared", show_count(scores->n).text, plural(scores->n));
    if (n_left_out > 0) fprintf(p.out, ", %s left out for an empty label", show_count(n_left_out).text);
    if (w->column_name != NULL)
        fprintf(p.out, "; the scores count them by %s, the table below does not",
                show_name(w->about.name, 60).text);
    fputs("\n\n", p.out);
    show_scores(&p, scores);
    return show_confusion(&p, &rows, &across, cof_table_n_rows(a->table));
}

static int compare(side *a, side *b, side *w, const evaluate_settings *settings)
{
    double *weight;
    cof_indices scores = {.struct_size = sizeof scores};
    size_t n = cof_table_n_rows(a->table);
    if (n != cof_table_n_rows(b->table))
        return complain(CODE_DATA, "%s has %s row%s and %s has %s; both must label the same rows", a->path,
                        show_count(n).text, plural(n), b->path, show_count(cof_table_n_rows(b->table)).text);
    if (count_both(a->label, b->label, n) == 0)
        return complain(CODE_DATA, "no row has a label in both %s and %s", a->path, b->path);
    uint64_t n_left_out = n - count_both(a->label, b->label, n);
    TRY(read_weights(settings, a, w, &weight));
    TRY(complain_status(cof_evaluate_weighted(NULL, a->label, b->label, weight, n, &scores, &said),
                        TASK_FIT));
    if (weight != NULL) scores.n = n - n_left_out; /* rows, not their weight */
    if (!settings->json) return show(a, b, w, &scores, n_left_out);
    print_json(a, b, w, &scores, n_left_out);
    return CODE_DONE;
}

static int run_evaluate(int argc, char **argv)
{
    evaluate_settings settings = {.json = false};
    operands found;
    side a = {.path = NULL}, b = {.path = NULL}, w = {.path = NULL};
    int code;
    if (!parse_arguments(&verb_evaluate, argc, argv, &settings, &found, &code)) return code;
    catch_signals();
    TRY(read_side(found.text[0], &settings, &a));
    TRY(read_side(found.text[1], &settings, &b));
    return compare(&a, &b, &w, &settings);
}

const verb verb_evaluate = {
    .name = "evaluate",
    .usage = "A B [options]",
    .summary = "compare two labellings of the same rows",
    .paragraphs = {"Compares two labellings of the same rows. A is taken as the clusters and B as the "
                   "classes, which matters for purity, homogeneity and completeness only.",
                   "A and B are labels files, whose column cluster is used, or the last column if there is "
                   "none; or FILE:COLUMN, any column of any table. Labels may be any text. Rows with an "
                   "empty label on either side are left out and counted."},
    .operands = {{"A", .hint = HINT_FILE}, {"B", .hint = HINT_FILE}},
    .groups = {{"Rows", weight_options, 0},
               {"Output", evaluate_options, 0},
               {"Reading the files", dialect_options, offsetof(evaluate_settings, reading)},
               {NULL, no_label_options, 0}},
    .examples = {{"coforest evaluate labels.csv survey.csv:segment",
                  "The clusters against a column of the table."},
                 {"coforest evaluate seed1.csv seed2.csv --json", "Two runs against each other, as JSON."}},
    .run = run_evaluate,
};
