/* coforest generate: synthetic tables, the same ones for the same seed. */
#include <math.h>
#include <string.h>

#include "cmd.h"
#include "../complain.h"
#include "coforest_extra.h"
#include "../outfiles.h"
#include "../progress.h"
#include "../host/host.h"

typedef struct generate_settings {
    int32_t kind, family;
    uint64_t rows, seed;
    uint32_t columns, values, k;
    double noise; /* NaN: not given */
    outfile out;
    output_settings outputs;
} generate_settings;

static const choice kind_choices[] = {
    [COF_GENERATE_UNIFORM] = {"uniform", "independent columns, no structure at all"},
    [COF_GENERATE_PLANTED] = {"planted",
                              "clusters around modes, and a column class that names them (default)"},
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
    OPTION("kind", "KIND", OPTION_CHOICE, generate_settings, kind,
           "The kind of table:", .choices = kind_choices),
    OPTION("family", "FAMILY", OPTION_CHOICE, generate_settings, family,
           "The family of mixed tables:", .choices = family_choices),
    OPTION("rows", "N", OPTION_NUMBER, generate_settings, rows, "Rows (default: 1000).", .least = 1),
    OPTION("columns", "N", OPTION_COUNT, generate_settings, columns,
           "Columns, the class not counted (default: 20).", .least = 1),
    OPTION("values", "N", OPTION_COUNT, generate_settings, values,
           "Values each column can take (default: 5).", .least = 1),
    OPTION("clusters", "K", OPTION_COUNT, generate_settings, k,
           "Clusters planted (default: 5; in a mixed table 3, or 4 if the seed is odd).", .letter = 'k',
           .least = 1),
    OPTION("noise", "P", OPTION_REAL, generate_settings, noise,
           "The probability that a cell of a planted table is drawn at random (default: 0.3).", .most = 1),
    OPTION("seed", "S", OPTION_NUMBER, generate_settings, seed,
           "Seed of the random numbers; the same seed gives the same table (default: 1)."),
    OUT_OPTION("out", generate_settings, out,
               "Where the table goes, as CSV, or encoded if the name ends in .cofe (default: \"-\", standard "
               "output).",
               .letter = 'o'),
    NO_CLOBBER_OPTION(generate_settings),
    {.name = NULL}};

/* Piece by piece, so that the table may be larger than memory. */
static int encode_table(const char *path, const cof_generate_options *options, const cof_env *env)
{
    cof_encoding *encoding;
    TRY(complain_status(cof_encoding_open(env, path, &encoding, &said), TASK_OUTPUT));
    cof_status status = cof_table_generate_pieces(env, options, cof_encoding_piece, encoding, &said);
    task doing = status == COF_ERR_IO ? TASK_OUTPUT : TASK_SETTING;
    if (status == COF_OK) status = cof_encoding_finish(encoding, &said), doing = TASK_OUTPUT;
    cof_encoding_free(encoding);
    return complain_status(status, doing);
}

static int write_table(const generate_settings *s, const cof_env *env)
{
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
    const char *path = s->out.path, *ending = strrchr(path, '.');
    if (ending != NULL && strcmp(ending, ".cofe") == 0) return encode_table(path, &options, env);
    TRY(complain_status(cof_table_generate(env, &options, &table, &said), TASK_SETTING));
    cof_status status = cof_table_write(table, path, &said);
    cof_table_free(table);
    if (status == COF_ERR_IO && reader_gone()) return CODE_FAILED; /* as in `| head`: no words */
    return status == COF_OK ? CODE_DONE : complain_status(status, TASK_OUTPUT);
}

static int run_generate(int argc, char **argv)
{
    generate_settings s = {
        .kind = COF_GENERATE_PLANTED, .seed = 1, .noise = NAN, .out = {.option = "--out", .path = "-"}};
    operands found;
    int code;
    if (!parse_arguments(&verb_generate, argc, argv, &s, &found, &code)) return code;
    progress_line line = progress_begin(true, "");
    cof_env env = progress_env(&line);
    TRY(outfiles_check(&s.out, 1, s.outputs, NULL, 0));
    catch_signals();
    return write_table(&s, &env);
}

const verb verb_generate = {
    .name = "generate",
    .task = "Try and measure the program",
    .usage = "[options]",
    .summary = "make a synthetic table",
    .paragraphs =
        {"Makes a synthetic table: one with planted clusters, which the column class names, one of numbers "
         "beside categories, or one of independent, uniform columns without any structure."},
    .groups = {{"Options", generate_options, 0}},
    .examples = {{"coforest generate --rows 10000 -k 4 --noise 0.5 --out planted.csv",
                  "Four clusters with much noise."},
                 {"coforest generate --kind mixed --family skewed | coforest fit - -k 4 --label class",
                  "Numbers with a long tail beside categories."},
                 {"coforest generate --kind uniform --rows 100000 | coforest fit - -k 3",
                  "Cluster a table without structure."}},
    .run = run_generate,
};
