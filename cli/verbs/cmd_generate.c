/* coforest generate: synthetic tables, the same ones for the same seed. */
#include <math.h>

#include "cmd.h"
#include "../complain.h"
#include "coforest_extra.h"
#include "../outfiles.h"
#include "../progress.h"

typedef struct generate_settings {
    int32_t kind, family;
    uint64_t rows, seed;
    uint32_t columns, values, k;
    double noise; /* NaN: not given */
    const char *out;
} generate_settings;

static const choice kind_choices[] = {
    [COF_GENERATE_UNIFORM] = {"uniform", "independent columns, no structure at all"},
    [COF_GENERATE_PLANTED] = {"planted",
                              "clusters around modes, and a column class with the truth (default)"},
    [COF_GENERATE_MIXED] = {"mixed", "four categories beside four numbers, and a column class"},
    {NULL, NULL}};

static const choice family_choices[] = {
    [COF_MIXED_BOTH] = {"both", "categories and numbers tell the class (default)"},
    [COF_MIXED_CATEGORIES] = {"categories", "the categories alone tell it"},
    [COF_MIXED_NUMBERS] = {"numbers", "the numbers alone tell it"},
    [COF_MIXED_SKEWED] = {"skewed", "both, the numbers with a long tail"},
    [COF_MIXED_OUTLIERS] = {"outliers", "both, 2 numbers in 100 far away"},
    [COF_MIXED_NOISE] = {"noise", "both, but every other number is noise"},
    [COF_MIXED_NONLINEAR] = {"nonlinear", "both, the distance of a number from 0 tells the class"},
    [COF_MIXED_IMBALANCE] = {"imbalance", "both, each class takes 70 % of the rows that are left"},
    {NULL, NULL}};

static const option generate_options[] = {
    {.name = "kind",
     .arg = "KIND",
     .kind = OPTION_CHOICE,
     .offset = offsetof(generate_settings, kind),
     .choices = kind_choices,
     .help = "What kind of table:"},
    {.name = "family",
     .arg = "FAMILY",
     .kind = OPTION_CHOICE,
     .offset = offsetof(generate_settings, family),
     .choices = family_choices,
     .help = "What a mixed table is like:"},
    {.name = "rows",
     .arg = "N",
     .kind = OPTION_NUMBER,
     .offset = offsetof(generate_settings, rows),
     .least = 1,
     .help = "Rows (default: 1000)."},
    {.name = "columns",
     .arg = "N",
     .kind = OPTION_COUNT,
     .offset = offsetof(generate_settings, columns),
     .least = 1,
     .help = "Columns, the class not counted (default: 20)."},
    {.name = "values",
     .arg = "N",
     .kind = OPTION_COUNT,
     .offset = offsetof(generate_settings, values),
     .least = 1,
     .help = "Values each column can take (default: 5)."},
    {.name = "clusters",
     .letter = 'k',
     .arg = "K",
     .kind = OPTION_COUNT,
     .offset = offsetof(generate_settings, k),
     .least = 1,
     .help = "Clusters planted (default: 5; in a mixed table 3, or 4 if the seed is odd)."},
    {.name = "noise",
     .arg = "P",
     .kind = OPTION_REAL,
     .offset = offsetof(generate_settings, noise),
     .most = 1,
     .help = "The chance that a cell of a planted table is drawn at random (default: 0.3)."},
    {.name = "seed",
     .arg = "S",
     .kind = OPTION_NUMBER,
     .offset = offsetof(generate_settings, seed),
     .help = "Where the random numbers begin; the same seed gives the same table (default: 1)."},
    {.name = "out",
     .letter = 'o',
     .arg = "FILE",
     .kind = OPTION_TEXT,
     .offset = offsetof(generate_settings, out),
     .hint = HINT_FILE,
     .help = "Where the table goes, as CSV (default: \"-\", standard output)."},
    {.name = NULL}};

static const option_group generate_group = {"Options", generate_options, 0};

static int write_table(const generate_settings *s, const cof_env *env)
{
    cof_error err;
    cof_table *table = NULL;
    cof_generate_options options = {.struct_size = sizeof options,
                                    .kind = s->kind,
                                    .n_rows = s->rows,
                                    .n_columns = s->columns,
                                    .n_values = s->values,
                                    .k = s->k,
                                    .seed = s->seed,
                                    .family = s->family};
    /* to the library 0 means the default, so that none at all is any negative number */
    if (!isnan(s->noise)) options.noise = s->noise == 0 ? -1 : s->noise;
    cof_status status = cof_table_generate(env, &options, &table, &err);
    if (status != COF_OK) return complain_status(status, TASK_SETTING, &err);
    status = cof_table_write(table, s->out, &err);
    cof_table_free(table);
    if (status == COF_ERR_IO && reader_gone()) return CODE_FAILED; /* as in `| head`: no words */
    return status == COF_OK ? CODE_DONE : complain_status(status, TASK_OUTPUT, &err);
}

static int run_generate(int argc, char **argv)
{
    generate_settings s = {.kind = COF_GENERATE_PLANTED, .seed = 1, .noise = NAN, .out = "-"};
    operands found;
    int code;
    if (!parse_arguments(&verb_generate, argc, argv, &s, &found, &code)) return code;
    progress_line line = progress_begin(true, "");
    cof_env env = progress_env(&line);
    outfile out = {.option = "--out", .path = s.out};
    code = outfiles_check(&out, 1, NULL, 0);
    outfiles_free(&out, 1);
    if (code != CODE_DONE) return code;
    catch_signals();
    return write_table(&s, &env);
}

static const operand generate_operands[] = {{.name = NULL}};
static const option_group *const generate_groups[] = {&generate_group, NULL};
static const char *const generate_paragraphs[] = {
    "Makes a table to try things on: one with clusters planted in it and their truth in the column class, "
    "one of numbers beside categories, or one of independent, uniform columns in which there is nothing to "
    "find.",
    NULL};
static const example generate_examples[] = {
    {"coforest generate --rows 10000 -k 4 --noise 0.5 --out planted.csv", "Four clusters under much noise."},
    {"coforest generate --kind mixed --family skewed | coforest fit - -k 4 --label class",
     "Numbers with a long tail beside categories."},
    {"coforest generate --kind uniform --rows 100000 | coforest fit - -k 3", "See what noise looks like."},
    {NULL, NULL}};

const verb verb_generate = {.name = "generate",
                            .usage = "[options]",
                            .summary = "make a synthetic table",
                            .paragraphs = generate_paragraphs,
                            .operands = generate_operands,
                            .groups = generate_groups,
                            .examples = generate_examples,
                            .run = run_generate};
