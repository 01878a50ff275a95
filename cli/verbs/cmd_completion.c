/* coforest completion: a shell's completion script, or the manual page. The scripts (cli/completion) ask the program what may
 * stand where, by `coforest __complete WORD...`. */
#include "cmd.h"
#include "../complain.h"
#include "../show/help.h"

extern const char completion_bash[], completion_zsh[], completion_fish[]; /* cli/completion */

static const choice target_choices[] = {{"bash", "for /usr/share/bash-completion/completions/coforest"},
                                        {"zsh", "for a directory of $fpath, as _coforest"},
                                        {"fish", "for ~/.config/fish/completions/coforest.fish"},
                                        {"man", "the manual page"},
                                        {NULL, NULL}};

static int run_completion(int argc, char **argv)
{
    const char *const texts[] = {completion_bash, completion_zsh, completion_fish, NULL};
    operands found;
    int code, nothing;
    if (!parse_arguments(&verb_completion, argc, argv, &nothing, &found, &code)) return code;
    for (size_t i = 0; target_choices[i].name != NULL; i++) {
        if (strcmp(found.text[0], target_choices[i].name) != 0) continue;
        if (texts[i] != NULL)
            fputs(texts[i], stdout);
        else
            print_manual(stdout);
        return CODE_DONE;
    }
    return complain(CODE_USAGE, "completion knows bash, zsh, fish and man, not \"%s\"", found.text[0]);
}

/* ---- What may stand there ------------------------------------------------------------------------ */

typedef struct offer {
    const char *typed;  /* so far */
    const char *before; /* part of the same word, which a shell wants back: "--format=" */
    size_t n_before;
} offer;

/* A word, a tab and its first sentence: what a menu has room for. */
static void put_word(const offer *f, const char *dashes, const char *name, const char *what)
{
    char word[128];
    if (what == NULL) what = "";
    const char *end = strstr(what, ". ");
    size_t n = end != NULL ? (size_t)(end - what) : strlen(what);
    while (n > 0 && strchr(".:", what[n - 1]) != NULL) n--;
    snprintf(word, sizeof word, "%s%s", dashes, name);
    if (strncmp(word, f->typed, strlen(f->typed)) == 0)
        printf("%.*s%s\t%.*s\n", (int)f->n_before, f->before, word, (int)n, what);
}

static void put_values(const offer *f, const choice *choices, value_hint hint)
{
    for (const choice *c = choices; c != NULL && c->name != NULL; c++) put_word(f, "", c->name, c->about);
    if (choices == NULL && hint == HINT_FILE) puts(":files");
}

static void put_verbs(const offer *f)
{
    for (size_t i = 0; verbs[i] != NULL; i++) put_word(f, "", verbs[i]->name, verbs[i]->summary);
}

static void put_options(const offer *f, const verb *v)
{
    put_word(f, "", "--help", "Show help.");
    for (const option *o = verb_options(v); o->name != NULL; o++) {
        if (o->letter != 0) put_word(f, "-", (char[2]){o->letter, '\0'}, o->help);
        put_word(f, "--", o->name, o->help);
    }
}

/* The words after the program's name, the last of which is being typed. The line ":files" says that a file may stand there. */
int complete_words(int argc, char **argv)
{
    offer f = {.typed = argc > 0 ? argv[argc - 1] : "", .before = ""};
    const verb *v = argc > 1 ? find_verb(argv[0]) : NULL;
    if (v == NULL) {
        if (argc <= 2) put_verbs(&f); /* of "help", too */
        if (argc <= 1)
            for (const char *const *word = (const char *const[]){"help", "--help", "--version", NULL}; *word;
                 word++)
                put_word(&f, "", *word, "");
        return CODE_DONE;
    }
    const char *value = strchr(f.typed, '='), *name = argv[argc - 2];
    if (strcmp(f.typed, "=") == 0) { /* bash takes --format=svg for three words */
        f.typed = "";
    } else if (strcmp(name, "=") == 0) {
        name = argv[argc - 3];
    } else if (strncmp(f.typed, "--", 2) == 0 && value != NULL) {
        f = (offer){.typed = value + 1, .before = f.typed, .n_before = (size_t)(value + 1 - f.typed)};
        name = f.before;
    }
    const option *o = option_called(v, name);
    if (o != NULL && o->arg != NULL)
        put_values(&f, o->choices, o->hint);
    else if (*f.typed == '-')
        put_options(&f, v);
    else if (v->operands->name != NULL)
        put_values(&f, v->operands->choices, v->operands->hint);
    return CODE_DONE;
}

const verb verb_completion = {
    .name = "completion",
    .usage = "SHELL",
    .summary = "print a shell's completion script, or the manual page",
    .paragraphs = {"Prints the completion script for SHELL, one of bash, zsh and fish; with man instead, "
                   "this manual page."},
    .operands = {{"SHELL", .choices = target_choices}},
    .examples = {{"source <(coforest completion bash)", "Complete verbs, options and values in this shell."}},
    .run = run_completion,
};
