/* Help from the tables of options.h. */
#include "help.h"

#include "../complain.h"
#include "../term.h"

enum { HELP_COLUMN = 24 }; /* where explanations begin */

const char program_summary[] = "cluster tables of categories with learned order trees";

/* "-k, --clusters K" */
static void option_heading(const option *o, char *text, size_t n)
{
    char letter[8] = "";
    if (o->letter != 0) snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(text, n, "%s--%s%s%s", letter, o->name, o->arg == NULL ? "" : " ", o->arg == NULL ? "" : o->arg);
}

/* A heading at the left, words at HELP_COLUMN; a long heading has its own line. */
static void print_entry(const page *p, const char *heading, const char *words)
{
    int used = 2 + (int)strlen(heading);
    fprintf(p->out, "  %s%s%s", bold(p), heading, plain(p));
    if (used + 2 > HELP_COLUMN) {
        fputc('\n', p->out);
        used = 0;
    }
    put_repeated(p->out, " ", HELP_COLUMN - used);
    put_words(p, HELP_COLUMN, words);
}

static void print_choices(const page *p, const choice *choices)
{
    int widest = 0;
    for (const choice *c = choices; c->name != NULL; c++)
        if ((int)strlen(c->name) > widest) widest = (int)strlen(c->name);
    for (const choice *c = choices; c->name != NULL; c++) {
        put_repeated(p->out, " ", HELP_COLUMN + 2);
        fprintf(p->out, "%-*s  ", widest, c->name);
        put_words(p, HELP_COLUMN + 4 + widest, c->about != NULL ? c->about : "");
    }
}

static void print_options(const page *p, const option *options)
{
    for (const option *o = options; o->name != NULL; o++) {
        if (o->title != NULL) fprintf(p->out, "\n%s%s%s\n", bold(p), o->title, plain(p));
        char heading[128];
        option_heading(o, heading, sizeof heading);
        print_entry(p, heading, o->help);
        if (o->choices != NULL) print_choices(p, o->choices);
    }
}

static void print_examples(const page *p, const example *examples)
{
    fprintf(p->out, "\n%sExamples%s\n", bold(p), plain(p));
    for (const example *e = examples; e->command != NULL; e++) {
        fprintf(p->out, "  %s\n      ", e->command);
        put_words(p, 6, e->what);
    }
}

void print_verb_help(const verb *v)
{
    page p = page_for(stdout);
    fprintf(p.out, "%sUsage:%s coforest %s %s\n", bold(&p), plain(&p), v->name, v->usage);
    for (size_t i = 0; v->paragraphs[i] != NULL; i++) {
        fputc('\n', p.out);
        put_words(&p, 0, v->paragraphs[i]);
    }
    print_options(&p, verb_options(v));
    print_examples(&p, v->examples);
}

void print_program_help(void)
{
    page p = page_for(stdout);
    fprintf(p.out, "coforest: %s\n\n%sUsage:%s coforest VERB ...\n\n", program_summary, bold(&p), plain(&p));
    for (size_t i = 0; verbs[i] != NULL; i++) {
        if (verbs[i]->task != NULL)
            fprintf(p.out, "%s%s%s%s\n", i > 0 ? "\n" : "", bold(&p), verbs[i]->task, plain(&p));
        char heading[64];
        const char *optional = strchr(verbs[i]->usage, '[');
        int n = optional == NULL ? (int)strlen(verbs[i]->usage) : (int)(optional - verbs[i]->usage);
        snprintf(heading, sizeof heading, "%s %.*s", verbs[i]->name, n, verbs[i]->usage);
        print_entry(&p, heading, verbs[i]->summary);
    }
    fputs("\nTry it on the table that comes with the program:   coforest fit --demo\nAll options of a verb:  "
          "                           coforest VERB --help\nVersion and optional parts:                      "
          "  coforest --version\n",
          p.out);
}
