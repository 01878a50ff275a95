/* Parsing by the tables of options.h. */
#include "options.h"

#include <errno.h>
#include <float.h>
#include <math.h>

#include "complain.h"
#include "outfiles.h"
#include "term.h"
#include "show/help.h"

/* ---- The options of a verb ----------------------------------------------------------------------- */

/* The library's option, at what the line of a verb's table says where that says more. */
static option option_of_library(const option *line, size_t place)
{
    static const option_kind kinds[] = {[COF_OPTION_COUNT] = OPTION_COUNT,
                                        [COF_OPTION_NUMBER] = OPTION_NUMBER,
                                        [COF_OPTION_REAL] = OPTION_REAL,
                                        [COF_OPTION_WORD] = OPTION_CHOICE,
                                        [COF_OPTION_NAME] = OPTION_NAME};
    const cof_option *given = cof_fit_option(place);
    size_t n = 0;
    while (cof_fit_option_word(place, n).name != NULL) n++;
    choice *words = n > 0 ? keep(n + 1, sizeof *words) : NULL;
    for (size_t i = 0; i < n; i++) words[i] = cof_fit_option_word(place, i);
    return (option){.name = given->name,
                    .arg = given->arg,
                    .help = line->help != NULL ? line->help : given->about,
                    .kind = kinds[given->type],
                    .offset = line->offset + given->offset,
                    .least = given->least,
                    .most = line->most != 0 ? line->most : given->most,
                    .choices = words};
}

const char *option_word(const char *name, int32_t place)
{
    size_t i = 0;
    while (strcmp(cof_fit_option(i)->name, name) != 0) i++;
    return cof_fit_option_word(i, (size_t)place).name;
}

static bool has_own_line(const verb *v, const char *name)
{
    for (size_t g = 0; v->groups[g].options != NULL; g++)
        for (const option *o = v->groups[g].options; o->name != NULL; o++)
            if (strcmp(o->name, name) == 0) return true;
    return false;
}

const option *verb_options(const verb *v)
{
    enum { MOST_OPTIONS = 128 };
    option *list = keep(MOST_OPTIONS + 1, sizeof *list);
    size_t n = 0;
    for (size_t g = 0; v->groups[g].options != NULL; g++) {
        size_t first = n;
        for (const option *line = v->groups[g].options; line->name != NULL; line++) {
            const cof_option *given;
            bool all = strcmp(line->name, "*") == 0;
            for (size_t i = 0; line->of_library && (given = cof_fit_option(i)) != NULL; i++)
                if (all ? !has_own_line(v, given->name) : strcmp(given->name, line->name) == 0)
                    list[n++] = option_of_library(line, i);
            if (!line->of_library) list[n++] = *line;
            if (list[n - 1].list != NULL) list[n - 1].choices = list[n - 1].list();
        }
        for (size_t i = first; i < n; i++) list[i].offset += v->groups[g].offset;
        list[first].title = v->groups[g].title;
    }
    return list;
}

/* "--name", "--name=value", "-k" or "-k7". */
static const option *find_option(const option *list, const char *typed)
{
    size_t n = strcspn(typed + 2, "=");
    for (const option *o = list; o->name != NULL; o++)
        if (typed[1] == '-' ? strlen(o->name) == n && memcmp(o->name, typed + 2, n) == 0
                            : o->letter != 0 && o->letter == typed[1])
            return o;
    return NULL;
}

const option *option_called(const verb *v, const char *typed)
{
    bool one = typed[0] == '-' && typed[1] != '\0' && (typed[1] == '-' || typed[2] == '\0');
    return one ? find_option(verb_options(v), typed) : NULL;
}

/* ---- Values -------------------------------------------------------------------------------------- */

/* An option as it was typed, and the value it was given. */
typedef struct match {
    const option *option;
    void *member;
    char shown[64]; /* as complaints call it */
} match;

static void append_text(text_list *list, const char *text)
{
    const char **grown = keep(list->n + 1, sizeof *grown);
    if (list->n > 0) memcpy(grown, list->text, list->n * sizeof *grown);
    grown[list->n] = text;
    *list = (text_list){.text = grown, .n = list->n + 1};
}

/* Says what it must be: a number within its bounds, one of its words, or either. */
static int complain_value(const match *m, const char *value)
{
    enum { FEW = 6, MOST = 127 }; /* a long list is no help to somebody who mistyped one of it */
    const option *o = m->option;
    const char *known[MOST + 1] = {NULL}, *near = NULL;
    char must[600] = "";
    size_t n = 0;
    bool is_number = o->kind == OPTION_COUNT || o->kind == OPTION_NUMBER || o->kind == OPTION_REAL;
    for (; o->choices != NULL && n < MOST && o->choices[n].name != NULL; n++) known[n] = o->choices[n].name;
    if (n > FEW) near = nearest(value, known);
    if (near != NULL)
        return suggest(complain(CODE_USAGE, "there is no %s \"%s\"; did you mean %s?", o->name, value, near),
                       value, near);
    if (is_number) append(must, sizeof must, "a %snumber", o->kind == OPTION_REAL ? "" : "whole ");
    if (is_number && o->least == DBL_MIN)
        append(must, sizeof must, " above 0");
    else if (is_number && o->most != 0 && isfinite(o->most))
        append(must, sizeof must, " from %.10g to %.10g", o->least, o->most);
    else if (is_number)
        append(must, sizeof must, " of at least %.10g", o->least);
    for (size_t i = 0; i < n; i++)
        append(must, sizeof must, "%s%s", *must == '\0' ? "" : i + 1 == n ? " or " : ", ", known[i]);
    return complain(CODE_USAGE, "%s must be %s, not \"%s\"", m->shown, must, value);
}

static bool in_bounds(const option *o, double x)
{
    return x >= o->least && (o->most == 0 || x <= o->most);
}

/* strtoull takes "-1" and blanks; a whole number here has digits only. */
static int parse_whole(const match *m, const char *value)
{
    const option *o = m->option;
    bool digits = *value != '\0' && value[strspn(value, "0123456789")] == '\0';
    errno = 0;
    unsigned long long x = strtoull(value, NULL, 10);
    bool too_large = errno != 0 || (o->kind == OPTION_COUNT && x > UINT32_MAX);
    if (digits && too_large && o->most == 0)
        return complain(CODE_USAGE, "%s cannot be as large as %s", m->shown, value);
    if (!digits || too_large || !in_bounds(o, (double)x)) return complain_value(m, value);
    if (o->kind == OPTION_COUNT)
        *(uint32_t *)m->member = (uint32_t)x;
    else
        *(uint64_t *)m->member = x;
    return CODE_DONE;
}

static int parse_value(const match *m, const char *value)
{
    const option *o = m->option;
    int32_t word = -1;
    for (int32_t i = 0; o->choices != NULL && o->choices[i].name != NULL; i++)
        if (strcmp(o->choices[i].name, value) == 0) word = i;
    char *end = NULL;
    double x;
    switch (o->kind) {
    case OPTION_TEXT:
        *(const char **)m->member = value;
        return CODE_DONE;
    case OPTION_TEXTS:
        append_text(m->member, value);
        return CODE_DONE;
    case OPTION_OUT:
        *(outfile *)m->member = (outfile){.option = keep_text("--%s", o->name), .path = value};
        return CODE_DONE;
    case OPTION_COUNT:
    case OPTION_NUMBER:
        return parse_whole(m, value);
    case OPTION_REAL:
        x = word >= 0 ? -1 - word : strtod(value, &end);
        if (word < 0 && (end == value || *end != '\0' || !isfinite(x) || !in_bounds(o, x)))
            return complain_value(m, value);
        *(double *)m->member = x;
        return CODE_DONE;
    default:
        if (word < 0) return complain_value(m, value);
        if (o->kind == OPTION_NAME)
            *(const char **)m->member = o->choices[word].name;
        else
            *(int32_t *)m->member = word;
        return CODE_DONE;
    }
}

/* ---- Arguments ----------------------------------------------------------------------------------- */

/* --name, -n, or perhaps a long one, a dash short. */
static int complain_unknown(const verb *v, const option *list, const char *typed)
{
    const char *known[128] = {"help"};
    char shown_as[64];
    size_t n_known = 1;
    for (const option *o = list; o->name != NULL && n_known < 127; o++) known[n_known++] = o->name;
    snprintf(shown_as, sizeof shown_as, "%.*s", typed[1] == '-' ? (int)strcspn(typed, "=") : 63, typed);
    const char *name = shown_as + strspn(shown_as, "-"), *near = nearest(name, known);
    if (name[0] != '\0' && name[1] == '\0' && find_option(list, (char[3]){'-', name[0], '\0'}) != NULL)
        near = keep_text("-%s", name);
    else if (near != NULL)
        near = keep_text("--%s", near);
    if (near != NULL)
        return suggest(complain(CODE_USAGE, "%s has no option %s; did you mean %s?", v->name, shown_as, near),
                       shown_as, near);
    return complain(CODE_USAGE, "%s has no option %s; \"coforest %s --help\" lists them", v->name, shown_as,
                    v->name);
}

/* --name, --name value, --name=value, -k 7 or -k7; *at moves on to the value if that is the next argument. */
static int parse_option(const verb *v, const option *list, int argc, char **argv, int *at, void *settings)
{
    const char *typed = argv[*at];
    bool is_long = typed[1] == '-';
    const char *equals = strchr(typed, '=');
    const char *value = is_long ? (equals != NULL ? equals + 1 : NULL) : typed[2] != '\0' ? typed + 2 : NULL;
    match m = {.option = find_option(list, typed)};
    if (m.option == NULL) return complain_unknown(v, list, typed);
    m.member = (char *)settings + m.option->offset;
    snprintf(m.shown, sizeof m.shown, "%.*s", is_long ? (int)strcspn(typed, "=") : 2, typed);
    if (m.option->kind == OPTION_FLAG && value != NULL)
        return suggest(complain(CODE_USAGE, "%s takes no value", m.shown), typed, m.shown);
    if (m.option->kind == OPTION_FLAG) {
        *(bool *)m.member = true;
        return CODE_DONE;
    }
    if (value == NULL && *at + 1 < argc) value = argv[++*at];
    if (value == NULL)
        return complain(CODE_USAGE, "%s needs a value: %s %s", m.shown, m.shown, m.option->arg);
    return parse_value(&m, value);
}

static int add_operand(const verb *v, const char *text, operands *found)
{
    size_t most = 0;
    while (v->operands[most].name != NULL) most++;
    if (most > 0 && v->operands[most - 1].repeated) most = MAX_OPERANDS;
    if (found->n == MAX_OPERANDS)
        return complain(CODE_USAGE, "%s takes at most %d files", v->name, MAX_OPERANDS);
    if (found->n == most)
        return suggest(complain(CODE_USAGE, "%s has no use for \"%s\"; usage: coforest %s %s", v->name, text,
                                v->name, v->usage),
                       text, NULL);
    found->text[found->n++] = text;
    return CODE_DONE;
}

bool parse_arguments(const verb *v, int argc, char **argv, void *settings, operands *found, int *code)
{
    const option *list = verb_options(v);
    bool operands_only = false;
    *found = (operands){.n = 0};
    *code = CODE_DONE;
    for (int at = 0; at < argc && *code == CODE_DONE; at++) {
        const char *argument = argv[at];
        if (operands_only || argument[0] != '-' || argument[1] == '\0')
            *code = add_operand(v, argument, found); /* "-" alone is standard input */
        else if (strcmp(argument, "--") == 0)
            operands_only = true;
        else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            print_verb_help(v);
            return false;
        } else
            *code = parse_option(v, list, argc, argv, &at, settings);
    }
    const operand *next = v->operands;
    for (size_t i = 0; i < found->n && next->name != NULL; i++) next++;
    if (*code == CODE_DONE && next->name != NULL && !next->optional)
        *code = complain(CODE_USAGE, "%s needs %s; usage: coforest %s %s", v->name, next->name, v->name,
                         v->usage);
    return *code == CODE_DONE;
}
