/* Parsing by the tables of options.h. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "complain.h"
#include "term.h"
#include "show/help.h"

typedef struct match {
    const option *option;
    void *member;
    char shown[64]; /* as complaints call it */
} match;

typedef bool (*option_test)(const option *o, const char *name, size_t n);

static bool same_name(const option *o, const char *name, size_t n)
{
    return strlen(o->name) == n && memcmp(o->name, name, n) == 0;
}

static bool same_letter(const option *o, const char *name, size_t n)
{
    return n == 1 && o->letter != 0 && o->letter == *name;
}

static bool find_option(const verb *v, option_test test, const char *name, size_t n, void *settings, match *m)
{
    for (size_t g = 0; v->groups[g].options != NULL; g++)
        for (const option *o = v->groups[g].options; o->name != NULL; o++) {
            if (!test(o, name, n)) continue;
            m->option = o;
            m->member = (char *)settings + v->groups[g].offset + o->offset;
            if (test == same_letter)
                snprintf(m->shown, sizeof m->shown, "-%c", o->letter);
            else
                snprintf(m->shown, sizeof m->shown, "--%s", o->name);
            return true;
        }
    return false;
}

const option *option_called(const verb *v, const char *typed)
{
    match m;
    bool is_long = strncmp(typed, "--", 2) == 0;
    const char *name = typed + (is_long ? 2 : 1);
    if (*typed != '-') return NULL;
    return find_option(v, is_long ? same_name : same_letter, name, strcspn(name, "="), NULL, &m) ? m.option
                                                                                                 : NULL;
}

static void append_text(text_list *list, const char *text)
{
    const char **grown = keep(list->n + 1, sizeof *grown);
    if (list->n > 0) memcpy(grown, list->text, list->n * sizeof *grown);
    grown[list->n] = text;
    *list = (text_list){.text = grown, .n = list->n + 1};
}

static int complain_range(const match *m, const char *value)
{
    const option *o = m->option;
    const char *kind = o->kind == OPTION_REAL ? "number" : "whole number";
    if (o->most != 0)
        return complain(CODE_USAGE, "%s must be a %s from %g to %g, not \"%s\"", m->shown, kind, o->least,
                        o->most, value);
    return complain(CODE_USAGE, "%s must be a %s of at least %g, not \"%s\"", m->shown, kind, o->least,
                    value);
}

static bool in_bounds(const option *o, double x)
{
    return x >= o->least && (o->most == 0 || x <= o->most);
}

/* strtoull takes "-1" and blanks; a whole number here has digits only. */
static int take_whole(const match *m, const char *value)
{
    bool digits = *value != '\0' && value[strspn(value, "0123456789")] == '\0';
    errno = 0;
    unsigned long long x = strtoull(value, NULL, 10);
    bool too_large = errno != 0 || (m->option->kind == OPTION_COUNT && x > UINT32_MAX);
    if (digits && too_large && m->option->most == 0)
        return complain(CODE_USAGE, "%s cannot be as large as %s", m->shown, value);
    if (!digits || too_large || !in_bounds(m->option, (double)x)) return complain_range(m, value);
    if (m->option->kind == OPTION_COUNT)
        *(uint32_t *)m->member = (uint32_t)x;
    else
        *(uint64_t *)m->member = x;
    return CODE_DONE;
}

static int take_real(const match *m, const char *value)
{
    char *end = NULL;
    double x = strtod(value, &end);
    if (end == value || *end != '\0' || !isfinite(x) || !in_bounds(m->option, x))
        return complain_range(m, value);
    *(double *)m->member = x;
    return CODE_DONE;
}

const choice *option_choices(const option *o)
{
    return o->list != NULL ? o->list() : o->choices;
}

/* A long list is no help to somebody who mistyped one of it. */
static const char *near_choice(const choice *choices, const char *value)
{
    enum { FEW = 6, MOST = 127 };
    const char *known[MOST + 1] = {NULL};
    size_t n = 0;
    for (; n < MOST && choices[n].name != NULL; n++) known[n] = choices[n].name;
    return n > FEW ? nearest(value, known) : NULL;
}

static int take_choice(const match *m, const char *value)
{
    const choice *choices = option_choices(m->option);
    char list[512] = "";
    for (int32_t i = 0; choices[i].name != NULL; i++) {
        if (strcmp(choices[i].name, value) == 0) {
            *(int32_t *)m->member = i;
            return CODE_DONE;
        }
        const char *joint = i == 0 ? "" : choices[i + 1].name == NULL ? " or " : ", ";
        append(list, sizeof list, "%s%s", joint, choices[i].name);
    }
    const char *near = near_choice(choices, value);
    if (near != NULL)
        return suggest(
            complain(CODE_USAGE, "there is no %s \"%s\"; did you mean %s?", m->option->name, value, near),
            value, near);
    return complain(CODE_USAGE, "%s must be %s, not \"%s\"", m->shown, list, value);
}

static int take_value(const match *m, const char *value)
{
    switch (m->option->kind) {
    case OPTION_FLAG:
        *(bool *)m->member = true;
        return CODE_DONE;
    case OPTION_TEXT:
        *(const char **)m->member = value;
        return CODE_DONE;
    case OPTION_TEXTS:
        append_text(m->member, value);
        return CODE_DONE;
    case OPTION_COUNT:
    case OPTION_NUMBER:
        return take_whole(m, value);
    case OPTION_REAL:
        return take_real(m, value);
    default:
        return take_choice(m, value);
    }
}

/* `typed` has its dashes, n bytes of it count. */
static int complain_unknown(const verb *v, const char *typed, size_t n)
{
    const char *known[128] = {"help"};
    char shown_as[64];
    size_t n_known = 1;
    for (size_t g = 0; v->groups[g].options != NULL; g++)
        for (const option *o = v->groups[g].options; o->name != NULL && n_known < 127; o++)
            known[n_known++] = o->name;
    snprintf(shown_as, sizeof shown_as, "%.*s", (int)n, typed);
    const char *name = shown_as + strspn(shown_as, "-"), *near = nearest(name, known);
    match m;
    if (name[0] != '\0' && name[1] == '\0' && find_option(v, same_letter, name, 1, NULL, &m))
        near = keep_text("-%s", name);
    else if (near != NULL)
        near = keep_text("--%s", near);
    if (near != NULL)
        return suggest(complain(CODE_USAGE, "%s has no option %s; did you mean %s?", v->name, shown_as, near),
                       shown_as, near);
    return complain(CODE_USAGE, "%s has no option %s; \"coforest %s --help\" lists them", v->name, shown_as,
                    v->name);
}

/* `given` is a value in the same argument, or NULL; else *at moves on to the next argument, which is the value. */
static int take_rest(const match *m, const char *given, int argc, char **argv, int *at)
{
    if (m->option->kind == OPTION_FLAG && given != NULL)
        return suggest(complain(CODE_USAGE, "%s takes no value", m->shown), argv[*at], m->shown);
    if (m->option->kind == OPTION_FLAG || given != NULL) return take_value(m, given);
    if (*at + 1 < argc) return take_value(m, argv[++*at]);
    return complain(CODE_USAGE, "%s needs a value: %s %s", m->shown, m->shown, m->option->arg);
}

/* --name, --name value, --name=value */
static int take_long(const verb *v, int argc, char **argv, int *at, void *settings)
{
    const char *name = argv[*at] + 2;
    const char *equals = strchr(name, '=');
    size_t n = equals == NULL ? strlen(name) : (size_t)(equals - name);
    match m;
    if (!find_option(v, same_name, name, n, settings, &m)) return complain_unknown(v, argv[*at], n + 2);
    return take_rest(&m, equals != NULL ? equals + 1 : NULL, argc, argv, at);
}

/* -k 7 or -k7 */
static int take_short(const verb *v, int argc, char **argv, int *at, void *settings)
{
    const char *letter = argv[*at] + 1;
    match m;
    if (!find_option(v, same_letter, letter, 1, settings, &m))
        return complain_unknown(v, argv[*at], strlen(argv[*at])); /* perhaps a long one, a dash short */
    return take_rest(&m, letter[1] != '\0' ? letter + 1 : NULL, argc, argv, at);
}

static int take_operand(const verb *v, const char *text, operands *found)
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

static int check_operands(const verb *v, const operands *found)
{
    const operand *next = v->operands;
    for (size_t i = 0; i < found->n && next->name != NULL; i++) next++;
    if (next->name == NULL || next->optional) return CODE_DONE;
    return complain(CODE_USAGE, "%s needs %s; usage: coforest %s %s", v->name, next->name, v->name, v->usage);
}

static bool asks_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

bool parse_arguments(const verb *v, int argc, char **argv, void *settings, operands *found, int *code)
{
    bool operands_only = false;
    *found = (operands){.n = 0};
    *code = CODE_DONE;
    for (int at = 0; at < argc && *code == CODE_DONE; at++) {
        const char *argument = argv[at];
        if (operands_only || argument[0] != '-' || argument[1] == '\0')
            *code = take_operand(v, argument, found); /* "-" alone is standard input */
        else if (strcmp(argument, "--") == 0)
            operands_only = true;
        else if (asks_help(argument)) {
            print_verb_help(v);
            return false;
        } else if (argument[1] == '-')
            *code = take_long(v, argc, argv, &at, settings);
        else
            *code = take_short(v, argc, argv, &at, settings);
    }
    if (*code == CODE_DONE) *code = check_operands(v, found);
    return *code == CODE_DONE;
}
