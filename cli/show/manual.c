/* The manual page, made from the tables of options.h; text that is not in these tables is here. */
#include "manual.h"

#include "coforest_extra.h"
#include "../complain.h"
#include "help.h"

/* Of the text, not of the build: the page must come out the same every time. */
static const char MANUAL_DATE[] = "2026-11-15";
enum { LINE_WIDTH = 76 };

typedef struct entry {
    const char *term, *text;
} entry;

static const entry labels_fields[] = {
    {"row", "the row of the table, from 1, in the order of the input"},
    {"cluster", "its cluster, from 1; empty for a row left out because of missing values"},
    {"NAME", "the cells of the column that names the rows, under its own name, if there is one"},
    {NULL, NULL}};

/* What fit --json adds to the library's own fields. */
static const entry json_fields[] = {
    {"version", "of the program"},
    {"seed, init", "the settings used; init is \"rows\" with --init-rows"},
    {"attributes",
     "one record for every column of the table: name, n_values, n_missing, used, and why it is not used, or "
     "null; and for a quantity that was cut cut_at, the edges between its bins, and quartiles, for every "
     "cluster least, first quartile, median, third quartile and greatest value; for one that was kept as a "
     "number means, one for every cluster; with --column-weights also column_weight"},
    {"mean_lead",
     "for every cluster, the mean lead of its rows (see --margins-out); absent for methods without distances "
     "and for more than 1,000,000 rows"},
    {"n_close", "for every cluster, the rows whose lead is below 0.05"},
    {"scores", "with --label: ca, ari, nmi, ami, purity, homogeneity, completeness, v_measure"},
    {"timings", "also has processor_s, the processor time of the fit, all threads together; read_s, reading "
                "the table; and total_s, the whole run"},
    {"warnings", "sentences; empty if there are none"},
    {NULL, NULL}};

static const entry compare_json_fields[] = {
    {"version, label, runs, seed, init, variant, missing, methods, control", "the settings"},
    {"tables", "for every table: table, n_rows, n_columns, k and results"},
    {"results", "for every method: method, n_results (runs that have one), no_result (why others have not, "
                "or null), fit_s "
                "(the median), and for every index its mean, deviation, rank and the values of all runs"},
    {"over_all",
     "with several tables, for every index: ranks (method, average_rank, and differs_0.05 and differs_0.10: "
     "\"no\", \"worse\" or \"better\" than the control), chi_square, df, p, chi_square_tied, p_tied, f, "
     "f_df1, "
     "f_df2, p_f, critical_difference_0.05, critical_difference_0.10"},
    {"elapsed_s", "seconds for the whole comparison"},
    {NULL, NULL}};

static const entry compare_csv_fields[] = {
    {"table, method, index", "what the figure belongs to; empty if it belongs to all of them"},
    {"quantity", "clusters, runs, fit_s; mean, deviation, rank; average_rank; chi_square, p, "
                 "chi_square_tied, p_tied, f, p_f, "
                 "critical_difference_0.05, critical_difference_0.10"},
    {"value", "the figure; empty if there is none"},
    {NULL, NULL}};

static const entry environment[] = {
    {"COFOREST_KERNEL",
     "the kernel that labels rows, instead of the fastest one of this processor: plain, avx2, avx512 or "
     "neon; results are the same"},
    {"NO_COLOR", "if set and not empty, no colour even on a terminal"},
    {"COLUMNS", "the width of the text if standard output is not a terminal (default: 80)"},
    {NULL, NULL}};

/* ---- roff ---------------------------------------------------------------------------------------- */

/* A dash is a dash to be copied, a backslash is itself, and a line must not begin as a command does. */
static void put_escaped(FILE *out, const char *text, size_t n)
{
    if (n > 0 && (*text == '.' || *text == '\'')) fputs("\\&", out);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '\'')
            fputs("\\(aq", out);
        else
            fputc(text[i], out);
    }
}

/* Running text; a sentence begins a line, as roff likes it. */
static void put_text(FILE *out, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t n = strcspn(text, " ");
        if (column > 0 && column + 1 + n > LINE_WIDTH) column = 0, fputc('\n', out);
        if (column > 0) column++, fputc(' ', out);
        put_escaped(out, text, n);
        column += n;
        if (n > 1 && text[n - 1] == '.' && text[n] == ' ' && text[n - 2] != '.') column = 0, fputc('\n', out);
        text += n + strspn(text + n, " ");
    }
    fputc('\n', out);
}

static void put_entry(FILE *out, const char *tag, const char *term, const char *text)
{
    fprintf(out, "%s\n\\fB", tag);
    put_escaped(out, term, strlen(term));
    fputs("\\fR\n", out);
    put_text(out, text);
}

static void put_entries(FILE *out, const entry *entries)
{
    for (const entry *e = entries; e->term != NULL; e++) put_entry(out, ".TP", e->term, e->text);
}

static void put_paragraph(FILE *out, const char *text)
{
    fputs(".PP\n", out);
    put_text(out, text);
}

/* The members of a list of the library's fields, or the fields of the result itself if `inside` is NULL. */
static void put_fields(FILE *out, const char *inside)
{
    const cof_field *field;
    for (size_t f = 0; (field = cof_result_field(f)) != NULL; f++) {
        bool member = inside == NULL ? field->inside == NULL
                                     : field->inside != NULL && strcmp(field->inside, inside) == 0;
        if (!member || strcmp(field->key, "history") == 0) continue;
        put_entry(out, ".TP", field->key, field->about);
        if (field->type != COF_FIELD_OBJECT && field->type != COF_FIELD_RECORDS) continue;
        fputs(".RS\n", out);
        put_fields(out, field->key);
        fputs(".RE\n", out);
    }
}

/* ---- Sections ------------------------------------------------------------------------------------ */

static void put_head(FILE *out)
{
    fputs(".\\\" Made by `coforest completion man`; the texts stand in cli/.\n", out);
    fprintf(out, ".TH COFOREST 1 %s \"coforest %s\" \"User Commands\"\n", MANUAL_DATE, cof_version());
    fputs(".SH NAME\n", out);
    fprintf(out, "coforest \\- %s\n.SH SYNOPSIS\n", program_summary);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (i > 0) fputs(".br\n", out);
        fprintf(out, "\\fBcoforest %s\\fR ", verbs[i]->name);
        put_escaped(out, verbs[i]->usage, strlen(verbs[i]->usage));
        fputc('\n', out);
    }
    fputs(".br\n\\fBcoforest help\\fR [VERB]\n.br\n\\fBcoforest \\-\\-version\\fR\n", out);
    fputs(".SH DESCRIPTION\n", out);
    put_text(out, "In a table of categories (answers of a survey, findings on patients, votes, customers) "
                  "the values of a column have no natural distance. coforest learns one: for every column a "
                  "tree over the values, in which values that occur in the same clusters are near each "
                  "other. It clusters the rows by distances along these trees and rebuilds the trees from "
                  "the clusters, in turn, until nothing changes.");
    put_paragraph(out,
                  "Options may stand before, between and after the files. A long option takes its value as "
                  "--name value or --name=value, a short one as -k 7 or -k7; -- ends the options. Results go "
                  "to standard output, errors to standard error. A progress line is shown on standard error "
                  "if that is a terminal.");
}

static void put_choices(FILE *out, const choice *choices)
{
    fputs(".RS\n", out);
    for (const choice *c = choices; c->name != NULL; c++)
        put_entry(out, ".TP 12", c->name, c->what == NULL ? "" : c->what);
    fputs(".RE\n", out);
}

static void put_option(FILE *out, const option *o)
{
    fputs(".TP\n", out);
    if (o->letter != 0) fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", out);
    put_escaped(out, o->name, strlen(o->name));
    fputs("\\fR", out);
    if (o->arg != NULL) {
        fputs(" \\fI", out);
        put_escaped(out, o->arg, strlen(o->arg));
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_text(out, o->help);
    if (option_choices(o) != NULL) put_choices(out, option_choices(o));
}

static void put_verb(FILE *out, const verb *v)
{
    fprintf(out, ".SS coforest %s ", v->name);
    put_escaped(out, v->usage, strlen(v->usage));
    fputc('\n', out);
    for (size_t i = 0; v->paragraphs[i] != NULL; i++)
        (i > 0 ? put_paragraph : put_text)(out, v->paragraphs[i]);
    for (size_t g = 0; v->groups[g].options != NULL; g++) {
        if (v->groups[g].title != NULL) fprintf(out, ".PP\n\\fI%s\\fR\n", v->groups[g].title);
        for (const option *o = v->groups[g].options; o->name != NULL; o++) put_option(out, o);
    }
}

static void put_files(FILE *out)
{
    fputs(".SH FILES\n.SS The labels file\n", out);
    put_text(out, "CSV with a header, quoted as RFC 4180 says:");
    put_entries(out, labels_fields);
    fputs(".SS The history file\n", out);
    put_text(out, "One JSON object per line, one line for every pass:");
    put_fields(out, "history");
    fputs(".SS The object that fit \\-\\-json prints\n", out);
    put_text(out, "Clusters and restarts are numbered from 1.");
    put_fields(out, NULL);
    put_paragraph(out, "The program adds:");
    put_entries(out, json_fields);
    fputs(".SS What compare writes\n", out);
    put_text(out, "With --format json, one object:");
    put_entries(out, compare_json_fields);
    put_paragraph(out, "With --format csv, one line for every figure:");
    put_entries(out, compare_csv_fields);
    put_paragraph(out,
                  "The indices are ca, ari and nmi with --label, otherwise log_likelihood, agreement and "
                  "objective.");
    fputs(".SS The model file\n", out);
    put_text(out, "Binary, with a version and a checksum, the same on every machine; docs/model-format.md "
                  "describes it.");
    put_paragraph(out, "A file appears under its name only when the whole run has succeeded; until then an "
                       "existing file stays as it was.");
}

static void put_examples(FILE *out)
{
    fputs(".SH EXAMPLES\n", out);
    for (size_t i = 0; verbs[i] != NULL; i++)
        for (const example *e = verbs[i]->examples; e->command != NULL; e++)
            put_entry(out, ".TP", e->command, e->what);
}

void print_manual(FILE *out)
{
    put_head(out);
    fputs(".SH VERBS\n", out);
    for (size_t i = 0; verbs[i] != NULL; i++) put_verb(out, verbs[i]);
    fputs(".SH EXIT STATUS\n", out);
    for (const exit_meaning *m = exit_meanings; m->text != NULL; m++) {
        fprintf(out, ".TP\n\\fB%d\\fR\n", m->code);
        put_text(out, m->text);
    }
    fputs(".SH ENVIRONMENT\n", out);
    put_entries(out, environment);
    put_files(out);
    put_examples(out);
    fputs(".SH SEE ALSO\n", out);
    put_text(out,
             "Mingjie Zhao, Sen Feng, Yiqun Zhang, Mengke Li, Yang Lu and Yiu-Ming Cheung, \"Learning Order "
             "Forest for "
             "Qualitative-Attribute Data Clustering\", ECAI 2024, for the method; docs/choices.md for where "
             "coforest differs and why; docs/model-format.md for the model file.");
    fputs(".PP\n.BR dot (1),\n.BR gzip (1),\n.BR zstd (1)\n", out);
}
