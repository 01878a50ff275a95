/* coforest encode: a table as value ids in a file that later runs map into memory. */
#include "cmd.h"
#include "../column_choice.h"
#include "../complain.h"
#include "../outfiles.h"
#include "../progress.h"
#include "../term.h"

typedef struct encode_settings {
    reading reading;
    outfile out;
    output_settings outputs;
    bool quiet;
} encode_settings;

typedef struct encode_job {
    cof_encoding *encoding;
    uint64_t n_rows;
    size_t n_columns;
} encode_job;

static const option encode_options[] = {
    OUT_OPTION("out", encode_settings, out, "The encoded table; its name usually ends in .cofe.",
               .letter = 'o'),
    NO_CLOBBER_OPTION(encode_settings),
    OPTION("quiet", NULL, OPTION_FLAG, encode_settings, quiet, "Print nothing but errors.", .letter = 'q'),
    {.name = NULL}};

static cof_status take_piece(void *ctx, const cof_table *piece, uint64_t first_row, cof_error *err)
{
    encode_job *job = ctx;
    job->n_rows += cof_table_n_rows(piece);
    job->n_columns = cof_table_n_columns(piece);
    return cof_encoding_add(job->encoding, piece, err);
}

static int run_encode(int argc, char **argv)
{
    encode_settings s = {.out = {.path = NULL}};
    encode_job job = {.encoding = NULL};
    operands found;
    int code;
    if (!parse_arguments(&verb_encode, argc, argv, &s, &found, &code)) return code;
    if (found.n == 0) return complain(CODE_USAGE, "encode needs a TABLE; see \"coforest encode --help\"");
    if (s.out.path == NULL) return complain(CODE_USAGE, "encode needs a file for the result: -o table.cofe");
    progress_line line = progress_begin(s.quiet, found.text[0]);
    cof_env env = progress_env(&line);
    TRY(outfiles_check(&s.out, 1, s.outputs, found.text, found.n));
    catch_signals();
    double begun_s = now_s();
    TRY(complain_status(cof_encoding_open(&env, s.out.path, &job.encoding, &said), TASK_OUTPUT));
    for (size_t i = 0; i < found.n && code == CODE_DONE; i++)
        code = read_pieces(&env, found.text[i], &s.reading, take_piece, &job);
    progress_erase(&line);
    if (code == CODE_DONE) code = complain_status(cof_encoding_finish(job.encoding, &said), TASK_OUTPUT);
    cof_encoding_free(job.encoding);
    if (code == CODE_DONE && !s.quiet)
        fprintf(stderr, "%s: %s row%s of %s column%s in %.1f s\n", show_text(s.out.path, 200).text,
                show_count(job.n_rows).text, plural(job.n_rows), show_count(job.n_columns).text,
                plural(job.n_columns), now_s() - begun_s);
    return code;
}

const verb verb_encode = {
    .name = "encode",
    .task = "Work with large tables",
    .usage = "TABLE... [options]",
    .summary = "write a table for repeated or large fits",
    .paragraphs = {"Writes a table as value ids. Every verb that takes a TABLE takes the result, and gives "
                   "the same results "
                   "as for the original. It is not read but mapped into memory, so that a table may be "
                   "larger than memory, "
                   "and later runs begin sooner.",
                   "Several files are one table, one after another; all need the same columns. The memory "
                   "used does not "
                   "depend on the number of rows, only on the number of distinct values. While it runs, a "
                   "file without a "
                   "name beside the result takes as much space as the result."},
    .operands = {{.name = "TABLE", .optional = true, .repeated = true, .hint = HINT_FILE}},
    .groups = {{"Output", encode_options, 0},
               {"Reading the table", dialect_options, offsetof(encode_settings, reading)},
               {NULL, na_only_options, offsetof(encode_settings, reading)}},
    .examples = {{"coforest encode survey.csv -o survey.cofe", "Encode a table."},
                 {"coforest encode 2023.csv.gz 2024.csv.gz -o visits.cofe", "Two files as one table."},
                 {"zcat log.tsv.gz | coforest encode - --delimiter tab -o log.cofe", "From a pipe."}},
    .run = run_encode};
