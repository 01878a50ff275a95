/* Help from the tables of options.h. */
#include "help.h"

#include "../complain.h"
#include "../term.h"

enum { HELP_COLUMN = 24 }; /* where explanations begin */

const char program_summary[] = "cluster tables of categories with learned order trees";

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

static void print_option(const page *p, const option *o)
{
    char heading[128] = "";
    int widest = 0;
    if (o->letter != 0) snprintf(heading, sizeof heading, "-%c, ", o->letter);
    append(heading, sizeof heading, o->arg != NULL ? "--%s %s" : "--%s", o->name, o->arg);
    print_entry(p, heading, o->help);
    for (const choice *c = o->choices; c != NULL && c->name != NULL; c++)
        if ((int)strlen(c->name) > widest) widest = (int)strlen(c->name);
    for (const choice *c = o->choices; c != NULL && c->name != NULL; c++) {
        put_repeated(p->out, " ", HELP_COLUMN + 2);
        fprintf(p->out, "%-*s  ", widest, c->name);
        put_words(p, HELP_COLUMN + 4 + widest, c->about != NULL ? c->about : "");
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
    for (const option *o = verb_options(v); o->name != NULL; o++) {
        if (o->title != NULL) fprintf(p.out, "\n%s%s%s\n", bold(&p), o->title, plain(&p));
        print_option(&p, o);
    }
    fprintf(p.out, "\n%sExamples%s\n", bold(&p), plain(&p));
    for (const example *e = v->examples; e->command != NULL; e++) {
        fprintf(p.out, "  %s\n      ", e->command);
        put_words(&p, 6, e->what);
    }
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
