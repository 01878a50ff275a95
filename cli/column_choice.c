/* Reading a table as the options say, and what each of its columns is for. */
#include "column_choice.h"

#include <strings.h>
#include <unistd.h>

#include "complain.h"

static const choice charset_choices[] = {
    [COF_CHARSET_UTF8] = {"utf-8", "also with a byte order mark (default)"},
    [COF_CHARSET_LATIN1] = {"latin1",
                            "ISO 8859-1 or Windows-1252, as older programs and spreadsheets write it"},
    {NULL, NULL}};

const option dialect_options[] = {
    OPTION("delimiter", "CHAR", OPTION_TEXT, reading, delimiter,
           "What separates cells: one character, or \"tab\". Without it, tab for names ending in .tsv or "
           ".tab, otherwise guessed from the first line."),
    OPTION("no-header", NULL, OPTION_FLAG, reading, no_header,
           "The first line is data, not names. Columns are named V1, V2, and so on."),
    OPTION("charset", "NAME", OPTION_CHOICE, reading, charset,
           "How characters are written:", .choices = charset_choices),
    {.name = NULL}};

#define NA_OPTION                                                                                            \
    OPTION("na", "LIST", OPTION_TEXT, reading, na,                                                           \
           "Texts that mean \"missing\", separated by commas; a comma at the end "                           \
           "adds the empty cell (default: \"?,NA,\").")

const option na_only_options[] = {NA_OPTION, {.name = NULL}};

const option na_options[] = {
    NA_OPTION,
    OPTION("trim", NULL, OPTION_FLAG, reading, trim, "Take blanks around names and values away."),
    OPTION("ignore-case", NULL, OPTION_FLAG, reading, ignore_case,
           "Take values that differ by letter case only for the same; the most "
           "frequent spelling stays."),
    {.name = NULL}};

static const choice quantities_choices[] = {
    [COF_QUANTITIES_CUT] = {"cut", "into bins of equal share, which are ordered categories (default)"},
    [COF_QUANTITIES_SCALED] = {"scaled",
                               "numbers scaled to 0..1 beside the categories; default for k-prototypes and "
                               "ek-prototypes"},
    [COF_QUANTITIES_VALUES] = {"values", "every number is a category"},
    {NULL, NULL}};

const option column_options[] = {
    OPTION("label", "COLUMN", OPTION_TEXT, column_choice, label,
           "The column of true classes. It is left out of the clustering and compared with the clusters "
           "afterwards."),
    OPTION(
        "ignore", "COLUMN,...", OPTION_TEXTS, column_choice, ignore,
        "Leave these columns out. Here and wherever columns are named, * stands for any text and ? for one "
        "character, as in 'q*'. May be repeated."),
    OPTION("columns", "COLUMN,...", OPTION_TEXTS, column_choice, columns,
           "Cluster on these columns only, even if one looks like an identifier. May be repeated."),
    OPTION("ordinal", "COLUMN,...=a<b<c", OPTION_TEXTS, column_choice, ordinal,
           "The values of these columns have an order, from first to last. coforest then makes their trees "
           "lines; a method that has no use for an order says so. May be repeated."),
    OPTION("numeric", "COLUMN,...", OPTION_TEXTS, column_choice, numeric,
           "These columns are quantities, however few values they have. May be repeated."),
    OPTION("categorical", "COLUMN,...", OPTION_TEXTS, column_choice, categorical,
           "These columns are categories, even if they look like quantities. May be repeated."),
    OPTION("quantities", "HOW", OPTION_CHOICE, column_choice, quantities,
           "How quantities are treated, which are columns of many numbers, dates or times, and those that "
           "--numeric names:",
           .choices = quantities_choices),
    OPTION("bins", "M", OPTION_COUNT, column_choice, bins,
           "How many bins of equal share a quantity is cut into (default: 16).", .least = 2, .most = 4096),
    OPTION("cut", "COLUMN=EDGE,...", OPTION_TEXTS, column_choice, cut,
           "Cut this quantity at these values instead, such as age=18,30,65; a value equal to an edge lies "
           "above it. May be repeated."),
    FILE_OPTION("cuts", column_choice, cuts,
                "Cut as this file says, one COLUMN=EDGE,... a line, as \"fit --cuts-out\" writes it."),
    OPTION("column-weights", "COLUMN=WEIGHT,...", OPTION_TEXTS, column_choice, column_weights,
           "How much these columns count in distances and in the choice of a restart, such as "
           "age=0.5,income=2; 0 "
           "leaves one out of both, and other columns count 1. May be repeated."),
    OPTION("weights", "COLUMN", OPTION_TEXT, column_choice, weights,
           "The column of row weights, numbers of at least 0."),
    {.name = NULL}};

/* The library leaves out constant columns itself. */
static const struct {
    const char *word, *sentence;
    int32_t role;
} reasons[] = {[USED] = {NULL, NULL, COF_ROLE_ATTRIBUTE},
               [LEFT_LABEL] = {"label", "the true classes, used for the scores only", COF_ROLE_LABEL},
               [LEFT_WEIGHTS] = {"weights", "the weights of the rows", COF_ROLE_WEIGHT},
               [LEFT_IDENTIFIER] = {"identifier", "nearly every row has its own value; --columns keeps it",
                                    COF_ROLE_IDENTIFIER},
               [LEFT_CONSTANT] = {"constant", "the same value in every row", COF_ROLE_ATTRIBUTE},
               [LEFT_IGNORED] = {"ignored", "named by --ignore", COF_ROLE_IGNORED},
               [LEFT_NOT_CHOSEN] = {"not in --columns", "not named by --columns", COF_ROLE_IGNORED},
               [AS_NUMBER] = {"numeric", "scaled, beside the categories", COF_ROLE_NUMERIC}};

const char *left_out_word(left_out why)
{
    return reasons[why].word;
}

const char *left_out_sentence(left_out why)
{
    return reasons[why].sentence;
}

static int parse_delimiter(const char *text, char *delimiter)
{
    if (text == NULL) return CODE_DONE;
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) text = "\t";
    if (strlen(text) != 1 || *text == '"' || *text == '\n' || *text == '\r')
        return complain(CODE_USAGE, "--delimiter must be one character or \"tab\", not \"%s\"", text);
    *delimiter = *text;
    return CODE_DONE;
}

/* Splits a copy of text. */
static const char **split(const char *text, char separator, size_t *n)
{
    size_t most = 1;
    for (const char *s = text; *s != '\0'; s++) most += *s == separator;
    const char **pieces = keep(most, sizeof *pieces);
    char *copy = keep_text("%s", text);
    for (*n = 0; *n < most; (*n)++) {
        char *end = strchr(copy, separator);
        pieces[*n] = copy;
        if (end != NULL) *end = '\0';
        copy = end == NULL ? copy : end + 1;
    }
    return pieces;
}

static int begin_reading(const char *path, const reading *how, const char *default_na,
                         cof_read_options *options)
{
    *options = (cof_read_options){.struct_size = sizeof *options,
                                  .no_header = how->no_header,
                                  .threads = how->threads,
                                  .charset = how->charset};
    const char *na_text = how->na != NULL ? how->na : default_na;
    TRY(parse_delimiter(how->delimiter, &options->delimiter));
    if (na_text != NULL) options->na = split(na_text, ',', &options->n_na);
    if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
        fputs("coforest: reading the table from the keyboard; end it with Ctrl-D\n", stderr);
    return CODE_DONE;
}

int read_pieces(const cof_env *env, const char *path, const reading *how, cof_piece visit, void *ctx)
{
    cof_read_options options;
    TRY(begin_reading(path, how, NULL, &options));
    cof_status status = cof_table_read_pieces(env, path, &options, visit, ctx, &said);
    return status == COF_ERR_BACKEND ? CODE_DONE : complain_status(status, TASK_TABLE);
}

int read_table(const cof_env *env, const char *path, const reading *how, const char *default_na,
               cof_table **out)
{
    cof_read_options options;
    TRY(begin_reading(path, how, default_na, &options));
    cof_status status = cof_table_read(env, path, &options, out, &said);
    if (status == COF_OK) keep_table(*out);
    uint32_t tidying = (how->trim ? COF_TIDY_TRIM : 0u) | (how->ignore_case ? COF_TIDY_CASE : 0u);
    if (status == COF_OK && tidying != 0)
        status = cof_table_tidy(*out, tidying, options.na, options.n_na, &said);
    if (status == COF_OK && cof_table_is_encoded(*out) &&
        (how->no_header || how->na != NULL || how->delimiter != NULL || how->charset != COF_CHARSET_UTF8))
        return complain(
            CODE_USAGE,
            "%s is encoded: --delimiter, --no-header, --charset and --na are for \"coforest encode\"; leave "
            "them out",
            path);
    return complain_status(status, TASK_TABLE);
}

cof_column column_of(const cof_table *table, size_t column)
{
    cof_column view = {.struct_size = sizeof view};
    cof_table_column(table, column, &view);
    return view;
}

cof_attribute attribute_of(const cof_model *model, size_t attribute)
{
    cof_attribute view = {.struct_size = sizeof view};
    cof_model_attribute(model, attribute, &view);
    return view;
}

static const char *column_name(const cof_table *table, size_t c)
{
    return column_of(table, c).name;
}

shown reading_words(const reading *how, const char *na, uint32_t tidying)
{
    shown s = {.width = 0};
    na = na != NULL ? na : how->na;
    tidying |= (how->trim ? COF_TIDY_TRIM : 0u) | (how->ignore_case ? COF_TIDY_CASE : 0u);
    snprintf(s.text, sizeof s.text, "%s%.20s%s%s%s%.130s%s%s", how->delimiter != NULL ? " --delimiter " : "",
             how->delimiter != NULL ? show_shell_word(how->delimiter).text : "",
             how->no_header ? " --no-header" : "",
             how->charset == COF_CHARSET_LATIN1 ? " --charset latin1" : "", na != NULL ? " --na " : "",
             na != NULL ? show_shell_word(na).text : "", tidying != 0 ? " " : "",
             tidying != 0 ? tidy_words(tidying) : "");
    return s;
}

bool looks_headless(const cof_table *table)
{
    size_t n = cof_table_n_columns(table), numbers = 0;
    for (size_t c = 0; c < n; c++) {
        char *end = NULL;
        const char *name = column_name(table, c);
        strtod(name, &end);
        numbers += end != name && *end == '\0';
    }
    return n > 0 && 2 * numbers > n;
}

uint32_t joining_options(const char *a, const char *b)
{
    if (strcasecmp(a, b) == 0) return COF_TIDY_CASE;
    a += strspn(a, " \t");
    b += strspn(b, " \t");
    size_t n = strlen(a), m = strlen(b);
    while (n > 0 && strchr(" \t", a[n - 1]) != NULL) n--;
    while (m > 0 && strchr(" \t", b[m - 1]) != NULL) m--;
    return COF_TIDY_TRIM | (n == m && memcmp(a, b, n) == 0 ? 0u : COF_TIDY_CASE);
}

const char *tidy_words(uint32_t tidying)
{
    return tidying == COF_TIDY_TRIM   ? "--trim"
           : tidying == COF_TIDY_CASE ? "--ignore-case"
                                      : "--trim --ignore-case";
}

static void add_suspect(untidy *u, const char *column, const char *text, const char *other)
{
    if (other != NULL) {
        if (u->spelling[0] == '\0')
            snprintf(u->spelling, sizeof u->spelling, "\"%.60s\" and \"%.60s\" in %.60s", text, other,
                     column);
        u->tidying |= joining_options(text, other);
        return;
    }
    char item[80];
    snprintf(item, sizeof item, ",%.60s,", text);
    if (u->nothing[0] == '\0') snprintf(u->nothing, sizeof u->nothing, "\"%.60s\" in %.60s", text, column);
    if (strstr(u->na, item) == NULL && strlen(u->na) + strlen(item) < sizeof u->na) strcat(u->na, item + 1);
}

int find_untidy(const cof_table *table, size_t c, untidy *u)
{
    enum { MOST = 16 };
    cof_suspect list[MOST];
    bool spelling = false, nothing = false;
    size_t n = 0;
    TRY(complain_status(cof_column_suspects(table, c, list, MOST, &n, &said), TASK_TABLE));
    for (size_t i = 0; i < n && i < MOST; i++) {
        bool pair = list[i].suspicion == COF_SUSPECT_SPELLING;
        add_suspect(u, column_name(table, c), cof_table_value(table, c, list[i].value),
                    pair ? cof_table_value(table, c, list[i].other) : NULL);
        spelling = spelling || pair;
        nothing = nothing || !pair;
    }
    u->n_spelling += spelling;
    u->n_nothing += nothing;
    return CODE_DONE;
}

/* How far the nearest column name is; 0 if none comes near. */
static int least_misspelling(const cof_table *table, const char *name)
{
    int least = 0;
    for (size_t c = 0; c < cof_table_n_columns(table); c++) {
        int distance = misspelling(name, column_name(table, c));
        if (distance > 0 && (least == 0 || distance < least)) least = distance;
    }
    return least;
}

/* The nearest names; failing that, the beginning of the list of all. */
int complain_column(const cof_table *table, const char *file, const char *name)
{
    enum { MOST = 6 };
    char list[512] = "";
    size_t n = cof_table_n_columns(table), listed = 0;
    const char *near = NULL;
    int least = least_misspelling(table, name);
    for (size_t c = 0; c < n && listed < MOST; c++) {
        if (least > 0 && misspelling(name, column_name(table, c)) != least) continue;
        append(list, sizeof list, "%s\"%s\"",
               listed == 0 ? ""
               : least > 0 ? " or "
                           : ", ",
               column_name(table, c));
        if (listed++ == 0) near = column_name(table, c);
    }
    if (least > 0) {
        complain(CODE_USAGE, "there is no column \"%s\" in %s; did you mean %s?", name, file, list);
        return listed == 1 ? suggest(CODE_USAGE, name, near) : CODE_USAGE;
    }
    return complain(CODE_USAGE, "there is no column \"%s\" in %s; it has %s%s", name, file, list,
                    listed < n ? " and more" : "");
}

static int find_column(const cof_table *table, const char *file, const char *name, size_t *column)
{
    *column = name == NULL ? SIZE_MAX : cof_table_find(table, name);
    return name != NULL && *column == SIZE_MAX ? complain_column(table, file, name) : CODE_DONE;
}

/* What is done with each column that a text names; exit codes. */
typedef int (*column_action)(void *ctx, size_t column);

static bool is_known(const cof_table *table, const char *name)
{
    for (size_t c = 0; c < cof_table_n_columns(table); c++)
        if (cof_name_matches(name, column_name(table, c))) return true;
    return false;
}

/* The column of that name, or those that a pattern such as q* matches. */
static int each_named(const cof_table *table, const char *file, const char *name, column_action act,
                      void *ctx)
{
    size_t c = cof_table_find(table, name);
    if (c != SIZE_MAX) return act(ctx, c);
    if (!is_known(table, name)) return complain_column(table, file, name);
    for (c = 0; c < cof_table_n_columns(table); c++)
        if (cof_name_matches(name, column_name(table, c))) TRY(act(ctx, c));
    return CODE_DONE;
}

/* The columns of a comma list; a name that holds commas itself counts if the whole text is one. */
static int each_listed(const cof_table *table, const char *file, const char *list, bool several,
                       column_action act, void *ctx)
{
    size_t n = 0;
    const char **names = split(list, cof_table_find(table, list) == SIZE_MAX ? ',' : '\0', &n);
    for (size_t j = 0; j < n; j++)
        if (!several || is_known(table, names[j])) TRY(each_named(table, file, names[j], act, ctx));
    return CODE_DONE;
}

typedef struct marking {
    const cof_table *table;
    left_out mark, *why;
} marking;

static int mark_column(void *ctx, size_t c)
{
    const marking *m = ctx;
    if (m->mark == USED && m->why[c] == LEFT_IGNORED)
        return complain(CODE_USAGE, "\"%s\" is in both --columns and --ignore", column_name(m->table, c));
    m->why[c] = m->mark;
    return CODE_DONE;
}

static int mark_named(const cof_table *table, const char *file, const text_list *lists, bool several,
                      left_out mark, left_out *why)
{
    marking m = {table, mark, why};
    for (size_t i = 0; i < lists->n; i++)
        TRY(each_listed(table, file, lists->text[i], several, mark_column, &m));
    return CODE_DONE;
}

/* The columns before one of the equals signs: a name may hold some itself, so the shortest one that the table has
 * counts; failing that, the text before the first sign is a list. *values is what follows, for the action to read. */
static int each_assigned(const cof_table *table, const char *file, const char *text, const char *form,
                         bool several, const char **values, column_action act, void *ctx)
{
    const char *first = strchr(text, '=');
    if (first == NULL) return complain(CODE_USAGE, "%s, not \"%s\"", form, text);
    char *name = keep_text("%s", text);
    size_t column = SIZE_MAX;
    for (const char *s = first; s != NULL && column == SIZE_MAX; s = strchr(s + 1, '=')) {
        name[s - text] = '\0';
        column = cof_table_find(table, name);
        *values = s + 1;
        name[s - text] = '=';
    }
    if (column == SIZE_MAX) {
        name[first - text] = '\0';
        *values = first + 1;
    }
    return column != SIZE_MAX ? act(ctx, column) : each_listed(table, file, name, several, act, ctx);
}

typedef struct ordering {
    cof_table *table;
    const char *values;
} ordering;

static int order_column(void *ctx, size_t c)
{
    const ordering *o = ctx;
    size_t n = 0;
    const char **values = split(o->values, '<', &n);
    return complain_status(cof_table_set_order(o->table, c, values, n, &said), TASK_SETTING);
}

/* COLUMN,...=a<b<c */
static int set_order(cof_table *table, const char *file, const char *text, bool several)
{
    ordering o = {.table = table};
    return each_assigned(table, file, text, "--ordinal must look like COLUMN=a<b<c", several, &o.values,
                         order_column, &o);
}

static int set_roles(cof_table *table, columns *out)
{
    for (size_t c = 0; c < out->n; c++) {
        TRY(complain_status(cof_table_set_role(table, c, reasons[out->why[c]].role, &said), TASK_SETTING));
        if (out->why[c] == LEFT_IDENTIFIER && out->names == SIZE_MAX) out->names = c;
        if (out->why[c] == USED) out->n_used++;
    }
    return CODE_DONE;
}

static int check_special(const cof_table *table, const column_choice *asked, const columns *c)
{
    const size_t special[] = {c->label, c->weights};
    const char *const option_name[] = {"--label", "--weights"};
    if (c->label != SIZE_MAX && c->label == c->weights)
        return complain(CODE_USAGE, "\"%s\" is both --label and --weights", asked->label);
    for (size_t i = 0; i < 2; i++) {
        if (special[i] == SIZE_MAX) continue;
        bool named = asked->columns.n > 0 && c->why[special[i]] == USED;
        if (named || c->why[special[i]] == LEFT_IGNORED)
            return complain(CODE_USAGE, "\"%s\" is in both %s and %s", column_name(table, special[i]),
                            option_name[i], named ? "--columns" : "--ignore");
    }
    return CODE_DONE;
}

/* What the user named, before anything is guessed. */
static int mark_asked(const cof_table *table, const char *file, const column_choice *asked, columns *out)
{
    for (size_t c = 0; c < out->n; c++) out->why[c] = asked->columns.n > 0 ? LEFT_NOT_CHOSEN : USED;
    int code = mark_named(table, file, &asked->ignore, asked->several, LEFT_IGNORED, out->why);
    if (code == CODE_DONE) code = mark_named(table, file, &asked->columns, asked->several, USED, out->why);
    if (code == CODE_DONE) code = find_column(table, file, asked->label, &out->label);
    if (code == CODE_DONE) code = find_column(table, file, asked->weights, &out->weights);
    if (code == CODE_DONE) code = check_special(table, asked, out);
    if (code != CODE_DONE) return code;
    if (out->label != SIZE_MAX) out->why[out->label] = LEFT_LABEL;
    if (out->weights != SIZE_MAX) out->why[out->weights] = LEFT_WEIGHTS;
    return CODE_DONE;
}

/* What the user said about the kinds of columns. */
typedef struct ruling {
    const cof_table *table;
    const char *file;
    int32_t *of;      /* cof_rule, one a column */
    const char **cut; /* the edges of a column with COF_RULE_CUT */
} ruling;

static int cut_column(cof_table *table, size_t c, const column_choice *asked, const char *edges)
{
    cof_cut_options o = {.struct_size = sizeof o, .bins = asked->bins};
    if (edges != NULL) o.edges = split(edges, ',', &o.n_edges);
    return complain_status(cof_table_cut(table, c, &o, &said), TASK_SETTING);
}

/* Leaves identifiers and constants out, unless the user named or ordered them, and cuts or scales quantities. */
static int treat_columns(cof_table *table, const column_choice *asked, int32_t missing, const ruling *r,
                         columns *out)
{
    int32_t quantities = asked->quantities < 0 ? COF_QUANTITIES_CUT : asked->quantities;
    for (size_t c = 0; c < out->n; c++) {
        left_out *why = &out->why[c];
        cof_advice advice = {.struct_size = sizeof advice};
        TRY(complain_status(cof_column_advise(table, c, missing, &advice, &said), TASK_TABLE));
        bool chosen = *why != LEFT_NOT_CHOSEN && (*why != USED || asked->columns.n > 0);
        int32_t rule = asked->named_only && r->of[c] == COF_RULE_NONE ? COF_RULE_CATEGORICAL : r->of[c];
        int32_t treatment = cof_column_treatment(&advice, rule, quantities, chosen);
        if (!chosen && advice.kind == COF_KIND_IDENTIFIER)
            *why = treatment == COF_TREAT_IDENTIFIER ? LEFT_IDENTIFIER : USED;
        if (*why == USED && advice.kind == COF_KIND_CONSTANT) *why = LEFT_CONSTANT;
        if (*why != USED) continue;
        if (treatment == COF_TREAT_NUMBERS) *why = AS_NUMBER;
        if (treatment == COF_TREAT_BINS) TRY(cut_column(table, c, asked, r->cut[c]));
        out->n_cut += treatment == COF_TREAT_BINS;
    }
    return CODE_DONE;
}

void resolve_quantities(column_choice *asked, const char *method, bool paper)
{
    if (asked->quantities >= 0) return;
    asked->named_only = paper;
    asked->quantities =
        paper || strstr(method, "-prototypes") != NULL ? COF_QUANTITIES_SCALED : COF_QUANTITIES_CUT;
}

/* ---- Quantities ---------------------------------------------------------------------------------- */

static int set_rule(ruling *r, size_t c, int32_t now)
{
    static const char *const names[] = {"", "--numeric", "--categorical", "--cut", "--ordinal"};
    int32_t was = r->of[c];
    if (was != COF_RULE_NONE && was != now && !(was == COF_RULE_NUMERIC && now == COF_RULE_CUT))
        return complain(CODE_USAGE, "column \"%s\" has two rules, %s and %s; leave one out",
                        column_name(r->table, c), names[was], names[now]);
    if (was == COF_RULE_CUT && now == COF_RULE_CUT)
        return complain(CODE_USAGE, "column \"%s\" is to be cut twice; leave one --cut out",
                        column_name(r->table, c));
    r->of[c] = now;
    return CODE_DONE;
}

typedef struct rule_action {
    ruling *r;
    int32_t now;       /* cof_rule */
    const char *edges; /* NULL: none are given */
} rule_action;

static int rule_column(void *ctx, size_t c)
{
    const rule_action *a = ctx;
    int code = set_rule(a->r, c, a->now);
    if (code == CODE_DONE && a->edges != NULL) a->r->cut[c] = a->edges;
    return code;
}

static int rule_named(ruling *r, const text_list *lists, bool several, int32_t now)
{
    rule_action a = {.r = r, .now = now};
    for (size_t i = 0; i < lists->n; i++)
        TRY(each_listed(r->table, r->file, lists->text[i], several, rule_column, &a));
    return CODE_DONE;
}

static int rule_cut(ruling *r, const char *text, const char *form, bool several)
{
    rule_action a = {.r = r, .now = COF_RULE_CUT};
    return each_assigned(r->table, r->file, text, form, several, &a.edges, rule_column, &a);
}

/* The lines of --cuts. */
static int read_cuts(ruling *r, const char *path, bool several)
{
    size_t room = 0;
    char *text = NULL, *line;
    FILE *in = fopen(path, "r");
    if (in == NULL) return complain(CODE_DATA, "cannot open %s, which --cuts names", path);
    ssize_t n = getdelim(&text, &room, '\0', in);
    bool broken = ferror(in) != 0;
    fclose(in);
    char *rest = keep_text("%s", n > 0 ? text : "");
    free(text);
    if (broken) return complain(CODE_DATA, "cannot read %s, which --cuts names", path);
    while ((line = strsep(&rest, "\n")) != NULL) {
        line[strcspn(line, "\r")] = '\0';
        if (*line != '\0') TRY(rule_cut(r, line, "a line of --cuts must look like COLUMN=EDGE,...", several));
    }
    return CODE_DONE;
}

static int set_rules(ruling *r, const column_choice *asked, const columns *out)
{
    TRY(rule_named(r, &asked->numeric, asked->several, COF_RULE_NUMERIC));
    for (size_t i = 0; i < asked->cut.n; i++)
        TRY(rule_cut(r, asked->cut.text[i], "--cut must look like COLUMN=18,30,65", asked->several));
    if (asked->cuts != NULL) TRY(read_cuts(r, asked->cuts, asked->several));
    TRY(rule_named(r, &asked->categorical, asked->several, COF_RULE_CATEGORICAL));
    for (size_t c = 0; c < out->n; c++) {
        bool special = c == out->label || c == out->weights;
        if (column_of(r->table, c).ordinal && r->of[c] != COF_RULE_NONE && r->of[c] != COF_RULE_CATEGORICAL)
            TRY(set_rule(r, c, COF_RULE_ORDINAL));
        else if (special && (r->of[c] == COF_RULE_NUMERIC || r->of[c] == COF_RULE_CUT))
            return complain(CODE_USAGE, "\"%s\" is the column of %s, which cannot be a quantity",
                            column_name(r->table, c), c == out->label ? "--label" : "--weights");
    }
    return CODE_DONE;
}

shown cut_names(const cof_table *table, const columns *c)
{
    enum { MOST = 8 };
    char text[400] = "";
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (cof_table_edges(table, i, NULL) == NULL) continue;
        if (n++ < MOST)
            append(text, sizeof text, "%s%s", n == 1 ? "" : ", ", show_text(column_name(table, i), 30).text);
    }
    if (n > MOST) append(text, sizeof text, " and %zu more", n - MOST);
    return show_text(text, 200);
}

/* ---- Weights of columns --------------------------------------------------------------------------- */

typedef struct weighing {
    const cof_table *table;
    columns *out;
    const char *number;
} weighing;

static int weigh_column(void *ctx, size_t c)
{
    const weighing *w = ctx;
    char *end = NULL;
    double weight = strtod(w->number, &end);
    left_out why = w->out->why[c];
    if (*w->number == '\0' || *end != '\0' || !(weight >= 0 && weight <= 1e6))
        return complain(
            CODE_USAGE,
            "--column-weights gives \"%s\" the weight \"%s\"; a weight is a number from 0 to 1000000",
            column_name(w->table, c), w->number);
    if (why != USED && why != AS_NUMBER && why != LEFT_CONSTANT)
        return complain(CODE_USAGE, "--column-weights names \"%s\", which is left out (%s)",
                        column_name(w->table, c), left_out_sentence(why));
    if (w->out->weight[c] >= 0)
        return complain(CODE_USAGE, "--column-weights names \"%s\" twice; leave one out",
                        column_name(w->table, c));
    w->out->weight[c] = weight;
    return CODE_DONE;
}

static int weigh_columns(const cof_table *table, const char *file, const column_choice *asked, columns *out)
{
    weighing w = {.table = table, .out = out};
    if (asked->column_weights.n == 0) return CODE_DONE;
    out->weight = keep(out->n + 1, sizeof *out->weight);
    for (size_t c = 0; c < out->n; c++) out->weight[c] = -1; /* not given */
    for (size_t i = 0; i < asked->column_weights.n; i++) {
        size_t n = 0;
        const char **pieces = split(asked->column_weights.text[i], ',', &n);
        for (size_t j = 0; j < n; j++)
            TRY(each_assigned(table, file, pieces[j], "--column-weights must look like age=0.5,income=2",
                              asked->several, &w.number, weigh_column, &w));
    }
    for (size_t c = 0; c < out->n; c++) out->weight[c] = out->weight[c] >= 0 ? out->weight[c] : 1;
    return CODE_DONE;
}

/* ---- All of it ----------------------------------------------------------------------------------- */

int choose_columns(cof_table *table, const char *file, const column_choice *asked, int32_t missing,
                   columns *out)
{
    *out =
        (columns){.n = cof_table_n_columns(table), .label = SIZE_MAX, .weights = SIZE_MAX, .names = SIZE_MAX};
    ruling r = {table, file, keep(out->n + 1, sizeof *r.of), keep(out->n + 1, sizeof *r.cut)};
    out->why = keep(out->n + 1, sizeof *out->why);
    TRY(mark_asked(table, file, asked, out));
    for (size_t i = 0; i < asked->ordinal.n; i++)
        TRY(set_order(table, file, asked->ordinal.text[i], asked->several));
    TRY(set_rules(&r, asked, out));
    TRY(treat_columns(table, asked, missing, &r, out));
    TRY(set_roles(table, out));
    return weigh_columns(table, file, asked, out);
}

static bool any_has(cof_table *const *tables, size_t n_tables, const char *name)
{
    for (size_t i = 0; i < n_tables; i++)
        if (is_known(tables[i], name)) return true;
    return false;
}

static int check_lists(cof_table *const *tables, size_t n_tables, const char *option_name,
                       const text_list *lists)
{
    for (size_t i = 0; i < lists->n; i++) {
        size_t n = 0;
        const char **names =
            split(lists->text[i], any_has(tables, n_tables, lists->text[i]) ? '\0' : ',', &n);
        for (size_t j = 0; j < n; j++)
            if (!any_has(tables, n_tables, names[j]))
                return complain(CODE_USAGE, "%s names \"%s\", a column that none of the tables has",
                                option_name, names[j]);
    }
    return CODE_DONE;
}

/* The same for COLUMN=..., where a name may hold equals signs itself. */
static int check_assigned(cof_table *const *tables, size_t n_tables, const char *option_name,
                          const text_list *lists)
{
    for (size_t i = 0; i < lists->n; i++) {
        const char *text = lists->text[i];
        char *name = keep_text("%s", text);
        bool found = strchr(text, '=') == NULL; /* badly formed, which every table told */
        for (const char *s = strchr(text, '='); s != NULL && !found; s = strchr(s + 1, '=')) {
            name[s - text] = '\0';
            found = any_has(tables, n_tables, name);
            name[s - text] = '=';
        }
        name[strcspn(text, "=")] = '\0';
        const text_list list = {.text = (const char *[]){name}, .n = 1};
        if (!found) TRY(check_lists(tables, n_tables, option_name, &list));
    }
    return CODE_DONE;
}

int check_named(cof_table *const *tables, size_t n_tables, const column_choice *asked)
{
    TRY(check_lists(tables, n_tables, "--ignore", &asked->ignore));
    TRY(check_lists(tables, n_tables, "--columns", &asked->columns));
    TRY(check_lists(tables, n_tables, "--numeric", &asked->numeric));
    TRY(check_lists(tables, n_tables, "--categorical", &asked->categorical));
    TRY(check_assigned(tables, n_tables, "--ordinal", &asked->ordinal));
    TRY(check_assigned(tables, n_tables, "--cut", &asked->cut));
    for (size_t i = 0; i < asked->column_weights.n; i++) {
        text_list pieces = {.n = 0};
        pieces.text = split(asked->column_weights.text[i], ',', &pieces.n);
        TRY(check_assigned(tables, n_tables, "--column-weights", &pieces));
    }
    return CODE_DONE;
}

bool is_attribute(const cof_model *model, const char *name)
{
    for (size_t r = 0; r < cof_model_n_attributes(model); r++)
        if (strcmp(attribute_of(model, r).name, name) == 0) return true;
    return false;
}

size_t find_identifier(const cof_table *table, const cof_model *model)
{
    cof_advice advice = {.struct_size = sizeof advice};
    for (size_t c = 0; c < cof_table_n_columns(table); c++)
        if (cof_column_advise(table, c, COF_MISSING_VALUE, &advice, NULL) == COF_OK &&
            advice.kind == COF_KIND_IDENTIFIER && !is_attribute(model, column_name(table, c)))
            return c;
    return SIZE_MAX;
}

int load_model(const char *path, cof_model **out)
{
    TRY(complain_status(cof_model_load(NULL, path, out, &said), TASK_MODEL));
    keep_model(*out);
    return CODE_DONE;
}
