/* coforest describe: what is in a table, and what may be wrong with it. */
#include "cmd.h"
#include "../column_choice.h"
#include "../complain.h"
#include "../progress.h"
#include "../term.h"

enum { MOST_TOP = 8, MOST_NOTICES = 20, NAME_WIDTH = 26 };

typedef struct describe_settings {
    reading reading;
    bool json;
} describe_settings;

typedef struct top_value {
    uint32_t value;
    uint64_t rows;
} top_value;

typedef struct column_facts {
    cof_column about;
    cof_advice advice;
    top_value top[MOST_TOP]; /* most frequent first */
    size_t n_top;
} column_facts;

typedef struct describe_job {
    describe_settings s;
    const char *file;
    progress_line line; /* here, because the table keeps pointing at it */
    cof_table *table;
    columns columns;
    column_facts *facts;
    uint64_t n_distinct;
    double read_s;
    char *notice[MOST_NOTICES];
    size_t n_notices, n_unsaid;
    untidy untidy;
} describe_job;

static const option describe_options[] = {
    OPTION("json", NULL, OPTION_FLAG, describe_settings, json, "Print one JSON object instead of the text."),
    {.name = NULL}};

/* A sentence is counted even if there is no room for it. */
#define NOTICE(job, ...)                                                                                     \
    do {                                                                                                     \
        if ((job)->n_notices < MOST_NOTICES)                                                                 \
            (job)->notice[(job)->n_notices++] = keep_text(__VA_ARGS__);                                      \
        else                                                                                                 \
            (job)->n_unsaid++;                                                                               \
    } while (0)

/* ---- Facts --------------------------------------------------------------------------------------- */

static void keep_top(column_facts *f, uint32_t value, uint64_t rows)
{
    size_t at = f->n_top;
    while (at > 0 && f->top[at - 1].rows < rows) at--;
    if (at == MOST_TOP) return;
    size_t last = f->n_top < MOST_TOP ? f->n_top : MOST_TOP - 1;
    memmove(f->top + at + 1, f->top + at, (last - at) * sizeof *f->top);
    f->top[at] = (top_value){value, rows};
    f->n_top = last + 1;
}

static int look_for_mistakes(describe_job *job, const column_facts *f, size_t column, const uint64_t *rows)
{
    cof_suspect list[MOST_NOTICES];
    size_t n = 0;
    TRY(complain_status(cof_column_suspects(job->table, column, list, MOST_NOTICES, &n, &said), TASK_TABLE));
    for (size_t i = 0; i < n && i < MOST_NOTICES; i++) {
        const char *text = cof_table_value(job->table, column, list[i].value);
        if (list[i].suspicion == COF_SUSPECT_MISSING)
            NOTICE(job, "%s: \"%s\" in %s row%s may mean missing; if so, add --na \"?,NA,%s,\"",
                   f->about.name, text, show_count(rows[list[i].value]).text, plural(rows[list[i].value]),
                   text);
        else
            NOTICE(job, "%s: \"%s\" and \"%s\" differ only by letter case or blanks; %s makes them one",
                   f->about.name, text, cof_table_value(job->table, column, list[i].other),
                   tidy_words(joining_options(text, cof_table_value(job->table, column, list[i].other))));
    }
    if (n > MOST_NOTICES) job->n_unsaid += n - MOST_NOTICES;
    return CODE_DONE;
}

static int study_column(describe_job *job, size_t c)
{
    column_facts *f = &job->facts[c];
    f->about = column_of(job->table, c);
    f->advice.struct_size = sizeof f->advice;
    TRY(complain_status(cof_column_advise(job->table, c, COF_MISSING_VALUE, &f->advice, &said), TASK_TABLE));
    size_t n = (size_t)f->about.n_values + 1;
    uint64_t *rows = keep(n, sizeof *rows);
    TRY(complain_status(cof_column_count(job->table, c, rows, n, &said), TASK_TABLE));
    for (uint32_t v = 0; v < f->about.n_values; v++) keep_top(f, v, rows[v]);
    TRY(look_for_mistakes(job, f, c, rows));
    return f->advice.kind == COF_KIND_CATEGORY ? find_untidy(job->table, c, &job->untidy) : CODE_DONE;
}

static int study_table(describe_job *job)
{
    column_choice nothing_said = {.quantities = COF_QUANTITIES_VALUES}; /* nothing is cut here */
    TRY(choose_columns(job->table, job->file, &nothing_said, COF_MISSING_VALUE, &job->columns));
    job->facts = keep(job->columns.n + 1, sizeof *job->facts);
    if (!job->s.reading.no_header && looks_headless(job->table))
        NOTICE(job, "the first line holds numbers, but was taken for names; if it is data, add --no-header");
    for (size_t c = 0; c < job->columns.n; c++) TRY(study_column(job, c));
    for (size_t c = 0; c < job->columns.n; c++) { /* numbers that are categories for a reason of their own */
        const column_facts *f = &job->facts[c];
        bool codes = strstr(f->advice.why, "codes") != NULL || strstr(f->advice.why, "dates that") != NULL;
        if (f->advice.kind == COF_KIND_CATEGORY && codes)
            NOTICE(job, "%s: %s, taken for categories", f->about.name, f->advice.why);
    }
    return complain_status(cof_table_count_distinct(job->table, &job->n_distinct, &said), TASK_TABLE);
}

/* ---- As JSON ------------------------------------------------------------------------------------- */

static const char *kind_word(const column_facts *f)
{
    static const char *const words[] = {[COF_KIND_CATEGORY] = "category",
                                        [COF_KIND_QUANTITY] = "quantity",
                                        [COF_KIND_IDENTIFIER] = "identifier",
                                        [COF_KIND_CONSTANT] = "constant"};
    return words[f->advice.kind];
}

static void print_column(const describe_job *job, size_t c, cof_json *j)
{
    const column_facts *f = &job->facts[c];
    cof_json_open_line(j, NULL, '{');
    cof_json_text(j, "name", f->about.name);
    cof_json_text(j, "kind", kind_word(f));
    cof_json_text(j, "why", f->advice.why);
    cof_json_count(j, "n_values", f->about.n_values);
    cof_json_count(j, "n_missing", f->about.n_missing);
    cof_json_open_line(j, "top", '[');
    for (size_t i = 0; i < f->n_top; i++) {
        cof_json_open_line(j, NULL, '{');
        cof_json_text(j, "value", cof_table_value(job->table, c, f->top[i].value));
        cof_json_count(j, "rows", f->top[i].rows);
        cof_json_close(j, '}');
    }
    cof_json_close(j, ']');
    cof_json_close(j, '}');
}

static void print_json(const describe_job *job)
{
    cof_json j;
    cof_json_begin(&j, file_sink, stdout);
    cof_json_open(&j, NULL, '{');
    cof_json_text(&j, "version", cof_version());
    cof_json_text(&j, "file", job->file);
    cof_json_count(&j, "n_rows", cof_table_n_rows(job->table));
    cof_json_count(&j, "n_columns", job->columns.n);
    cof_json_count(&j, "n_distinct_rows", job->n_distinct);
    cof_json_open(&j, "columns", '[');
    for (size_t c = 0; c < job->columns.n; c++) print_column(job, c, &j);
    cof_json_close(&j, ']');
    cof_json_open(&j, "notices", '[');
    for (size_t i = 0; i < job->n_notices; i++) cof_json_text(&j, NULL, job->notice[i]);
    cof_json_close(&j, ']');
    cof_json_open_line(&j, "timings", '{');
    cof_json_real(&j, "read_s", job->read_s);
    cof_json_close(&j, '}');
    cof_json_close(&j, '}');
    cof_json_end(&j);
}

/* ---- For people ---------------------------------------------------------------------------------- */

/* As many values as the line holds, each with its share of the rows; the first one always. */
static void show_top(const describe_job *job, const page *p, size_t c, flow *line)
{
    const column_facts *f = &job->facts[c];
    double n_rows = (double)cof_table_n_rows(job->table);
    for (size_t i = 0; i < f->n_top; i++) {
        shown value = show_name(cof_table_value(job->table, c, f->top[i].value), 24);
        shown share = show_share((double)f->top[i].rows, n_rows);
        bool more = i + 1 < f->about.n_values;
        int width = value.width + share.width + 1 + more;
        if (i > 0 && !flow_fits(line, width + (more ? 2 : 0))) {
            flow_piece(line, "", sign_of("…"), 1, "");
            return;
        }
        char text[600];
        snprintf(text, sizeof text, "%s %s%s%s%s", value.text, dim(p), share.text, plain(p), more ? "," : "");
        flow_piece(line, "", text, width, "");
    }
    if (f->n_top < f->about.n_values) flow_piece(line, "", sign_of("…"), 1, "");
}

static void show_column(const describe_job *job, const page *p, size_t c, int name_width)
{
    const column_facts *f = &job->facts[c];
    shown name = show_name(f->about.name, NAME_WIDTH), values = show_count(f->about.n_values);
    shown missing = f->about.n_missing == 0 ? show_text(sign_of("·"), 1) : show_count(f->about.n_missing);
    int column = name_width + 22;
    flow line = flow_begin(p, column, column);
    fprintf(p->out, "  %s", accent(p));
    put_left(p->out, &name, name_width);
    fputs(plain(p), p->out);
    put_right(p->out, &values, 9);
    put_right(p->out, &missing, 9);
    fputs("  ", p->out);
    if (f->advice.kind != COF_KIND_CATEGORY) {
        char kind[40];
        snprintf(kind, sizeof kind, "(%s)", kind_word(f));
        flow_piece(&line, bold(p), kind, (int)strlen(kind), plain(p));
    }
    if (f->advice.kind == COF_KIND_QUANTITY)
        flow_words(&line, f->advice.why);
    else
        show_top(job, p, c, &line);
    flow_end(&line);
}

static void show_columns(const describe_job *job, const page *p)
{
    int name_width = 6;
    for (size_t c = 0; c < job->columns.n; c++) {
        int width = show_name(job->facts[c].about.name, NAME_WIDTH).width;
        if (width > name_width) name_width = width;
    }
    shown title = show_text("column", 10);
    fprintf(p->out, "\n  %s", dim(p));
    put_left(p->out, &title, name_width);
    fprintf(p->out, "   values  missing  most frequent values%s\n", plain(p));
    for (size_t c = 0; c < job->columns.n; c++) show_column(job, p, c, name_width);
}

/* Why columns are not plain categories, and what fit does with them. */
static void show_kinds(const describe_job *job, const page *p)
{
    static const struct {
        int32_t kind;
        const char *sentence;
    } kinds[] = {
        {COF_KIND_IDENTIFIER,
         "identifier  nearly every row has its own text, or its own running number; fit leaves it out"},
        {COF_KIND_CONSTANT, "constant    the same value in every row; fit leaves it out"},
        {COF_KIND_QUANTITY, "quantity    many numbers, dates or times; fit cuts it into bins (--categorical "
                            "COLUMN: it does not)"}};
    bool any = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = 0;
        for (size_t c = 0; c < job->columns.n; c++) n += job->facts[c].advice.kind == kinds[i].kind;
        if (n > 0) fprintf(p->out, "%s  %s\n", any ? "" : "\n", kinds[i].sentence);
        any = any || n > 0;
    }
}

static void show(const describe_job *job)
{
    page p = page_for(stdout);
    uint64_t n_rows = cof_table_n_rows(job->table);
    fprintf(p.out, "%s%s%s: %s row%s, %s column%s, read in %s\n", bold(&p), show_text(job->file, 60).text,
            plain(&p), show_count(n_rows).text, plural(n_rows), show_count(job->columns.n).text,
            plural(job->columns.n), show_seconds(job->read_s).text);
    fprintf(p.out, "%s distinct row%s", show_count(job->n_distinct).text, plural(job->n_distinct));
    if (job->n_distinct < n_rows) fprintf(p.out, ", %s repeated", show_count(n_rows - job->n_distinct).text);
    if (job->columns.names != SIZE_MAX) fputs(" (identifiers aside)", p.out);
    fputc('\n', p.out);
    show_columns(job, &p);
    show_kinds(job, &p);
    for (size_t i = 0; i < job->n_notices; i++) {
        fprintf(p.out, "%s  %sNote:%s ", i == 0 ? "\n" : "", bold(&p), plain(&p));
        put_words(&p, 8, job->notice[i]);
    }
    if (job->n_unsaid > 0)
        fprintf(p.out, "  and %zu more such note%s\n", job->n_unsaid, plural(job->n_unsaid));
    if (strcmp(job->file, "standard input") == 0) return;
    const char *na =
        job->untidy.n_nothing > 0 ? job->untidy.na : NULL; /* the options that the notes ask for */
    fprintf(p.out,
            "\nNext:      %s fit %s%s -k auto --table-out labelled.csv --report report.html "
            "--model-out model.cof\n",
            show_shell_word(program_name).text, show_shell_word(job->file).text,
            reading_words(&job->s.reading, na, job->untidy.tidying).text);
}

/* ---- All of it ----------------------------------------------------------------------------------- */

static int run_describe(int argc, char **argv)
{
    describe_job job = {.untidy = {.na = "?,NA,"}};
    operands found;
    int code;
    if (!parse_arguments(&verb_describe, argc, argv, &job.s, &found, &code)) return code;
    job.file = strcmp(found.text[0], "-") == 0 ? "standard input" : found.text[0];
    job.line = progress_begin(false, job.file);
    cof_env env = progress_env(&job.line);
    double begun_s = now_s();
    catch_signals();
    code = read_table(&env, found.text[0], &job.s.reading, NULL, &job.table);
    progress_erase(&job.line);
    job.read_s = now_s() - begun_s;
    if (code == CODE_DONE) code = study_table(&job);
    if (code == CODE_DONE) (job.s.json ? print_json : show)(&job);
    return code;
}

const verb verb_describe = {
    .name = "describe",
    .task = "Look at a table and cluster it",
    .usage = "TABLE [options]",
    .summary = "summarise the columns of a table",
    .paragraphs = {"Summarises TABLE before it is clustered: rows, repeated rows, and for every column how "
                   "many values it has, how many cells are missing, the most frequent values, and whether it "
                   "is taken for a category, a quantity, an identifier or a constant.",
                   "Values that differ only by letter case or blanks, and values that may mean \"missing\", "
                   "are pointed out."},
    .operands = {{"TABLE", .hint = HINT_FILE}},
    .groups = {{"Output", describe_options, 0},
               {"Reading the table", dialect_options, offsetof(describe_settings, reading)},
               {NULL, na_options, offsetof(describe_settings, reading)}},
    .examples = {{"coforest describe survey.csv", "A first look at a table."}},
    .run = run_describe,
};
