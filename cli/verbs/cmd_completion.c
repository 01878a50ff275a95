/* coforest completion: shell completions and the manual page, written from the tables of options.h. */
#include "cmd.h"
#include "../complain.h"
#include "../show/help.h"
#include "../show/manual.h"

static const choice target_choices[] = {{"bash", "for /usr/share/bash-completion/completions/coforest"},
                                        {"zsh", "for a directory of $fpath, as _coforest"},
                                        {"fish", "for ~/.config/fish/completions/coforest.fish"},
                                        {"man", "the manual page"},
                                        {NULL, NULL}};

typedef void (*option_visitor)(const verb *v, const option *o);

static void each_option(const verb *v, option_visitor visit)
{
    for (size_t g = 0; v->groups[g].options != NULL; g++)
        for (const option *o = v->groups[g].options; o->name != NULL; o++) visit(v, o);
}

static void put_choice_names(const choice *choices)
{
    for (const choice *c = choices; c->name != NULL; c++) printf("%s%s", c == choices ? "" : " ", c->name);
}

/* The first sentence, without its full stop: what a menu has room for. */
static size_t first_sentence(const char *text)
{
    const char *end = strstr(text, ". ");
    size_t n = end != NULL ? (size_t)(end - text) : strlen(text);
    while (n > 0 && (text[n - 1] == '.' || text[n - 1] == ':')) n--;
    return n;
}

/* ---- bash ---------------------------------------------------------------------------------------- */

static void bash_name(const verb *v, const option *o)
{
    if (o->letter != 0) printf(" -%c", o->letter);
    printf(" --%s", o->name);
}

/* What may follow an option that takes a value. */
static void bash_value(const verb *v, const option *o)
{
    if (o->arg == NULL) return;
    printf("        %s:--%s", v->name, o->name);
    if (o->letter != 0) printf(" | %s:-%c", v->name, o->letter);
    fputs(") ", stdout);
    if (option_choices(o) != NULL) {
        fputs("words=\"", stdout);
        put_choice_names(option_choices(o));
        fputs("\" ;;\n", stdout);
    } else {
        puts(o->hint == HINT_FILE ? "return ;;" : "compopt +o default; return ;;");
    }
}

static void print_bash(void)
{
    fputs("# bash completion for coforest; made by `coforest completion bash`\n"
          "_coforest()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} "
          "words=\n"
          "    COMPREPLY=()\n"
          "    if ((COMP_CWORD == 1)); then\n        words=\"",
          stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) printf("%s ", verbs[i]->name);
    fputs("help --help --version\"\n    else\n        case $verb:$prev in\n", stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) each_option(verbs[i], bash_value);
    fputs("        help:help) words=\"", stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) printf("%s%s", i == 0 ? "" : " ", verbs[i]->name);
    fputs("\" ;;\n        esac\n    fi\n    if [[ -z $words ]]; then\n        case $verb:$cur in\n", stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        printf("        %s:-*) words=\"--help", verbs[i]->name);
        each_option(verbs[i], bash_name);
        fputs("\" ;;\n", stdout);
        if (verbs[i]->operands->choices == NULL) continue;
        printf("        %s:*) words=\"", verbs[i]->name);
        put_choice_names(verbs[i]->operands->choices);
        fputs("\" ;;\n", stdout);
    }
    fputs("        esac\n    fi\n"
          "    [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\n"
          "complete -o default -F _coforest coforest\n",
          stdout);
}

/* ---- zsh ----------------------------------------------------------------------------------------- */

static void zsh_escape(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", text[i]) != NULL)
            printf("\\%c", text[i]);
        else
            putchar(text[i]);
    }
}

static void zsh_value(const char *name, const choice *choices, value_hint hint)
{
    putchar(':');
    zsh_escape(name, strlen(name));
    putchar(':');
    if (choices != NULL) {
        putchar('(');
        for (const choice *c = choices; c->name != NULL; c++) {
            if (c != choices) putchar(' ');
            zsh_escape(c->name, strlen(c->name));
        }
        putchar(')');
    } else if (hint == HINT_FILE) {
        fputs("_files", stdout);
    }
}

static void zsh_option(const verb *v, const option *o)
{
    fputs("            ", stdout);
    if (o->kind == OPTION_TEXTS) fputs("'*'", stdout);
    if (o->letter != 0 && o->arg != NULL)
        printf("{-%c+,--%s=}", o->letter, o->name);
    else if (o->letter != 0)
        printf("{-%c,--%s}", o->letter, o->name);
    else
        printf("--%s%s", o->name, o->arg != NULL ? "=" : "");
    fputs("'[", stdout);
    zsh_escape(o->help, first_sentence(o->help));
    putchar(']');
    if (o->arg != NULL) zsh_value(o->arg, option_choices(o), o->hint);
    fputs("' \\\n", stdout);
}

static void zsh_verb(const verb *v)
{
    printf("        %s)\n            _arguments -s \\\n            '--help[show help]' \\\n", v->name);
    each_option(v, zsh_option);
    for (const operand *o = v->operands; o->name != NULL; o++) {
        fputs("            '", stdout);
        if (o->repeated) putchar('*');
        if (o->optional) putchar(':'); /* two colons: may be left out */
        zsh_value(o->name, o->choices, o->hint);
        fputs("' \\\n", stdout);
    }
    fputs("            && return\n            ;;\n", stdout);
}

static void print_zsh(void)
{
    fputs("#compdef coforest\n# made by `coforest completion zsh`\n"
          "_coforest()\n{\n    local context state state_descr line\n    typeset -A opt_args\n    local -a "
          "verbs=(\n",
          stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        printf("        '%s:", verbs[i]->name);
        zsh_escape(verbs[i]->summary, strlen(verbs[i]->summary));
        fputs("'\n", stdout);
    }
    fputs("        'help:show help on a verb'\n    )\n"
          "    _arguments -C '--help[show help]' '--version[show the version]' '1:verb:->verb' "
          "'*::argument:->rest' && "
          "return\n"
          "    if [[ $state == verb ]]; then\n        _describe verb verbs\n        return\n    fi\n"
          "    case $line[1] in\n",
          stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) zsh_verb(verbs[i]);
    fputs("        help)\n            _describe verb verbs\n            ;;\n    esac\n}\n_coforest \"$@\"\n",
          stdout);
}

/* ---- fish ---------------------------------------------------------------------------------------- */

static void fish_text(const char *text, size_t n)
{
    putchar('\'');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'' || text[i] == '\\') putchar('\\');
        putchar(text[i]);
    }
    putchar('\'');
}

static void fish_option(const verb *v, const option *o)
{
    printf("complete -c coforest -n '__fish_seen_subcommand_from %s' -l %s", v->name, o->name);
    if (o->letter != 0) printf(" -s %c", o->letter);
    if (option_choices(o) != NULL) {
        fputs(" -x -a '", stdout);
        put_choice_names(option_choices(o));
        putchar('\'');
    } else if (o->arg != NULL) {
        fputs(o->hint == HINT_FILE ? " -r -F" : " -x", stdout);
    }
    fputs(" -d ", stdout);
    fish_text(o->help, first_sentence(o->help));
    putchar('\n');
}

static void print_fish(void)
{
    fputs("# fish completion for coforest; made by `coforest completion fish`\n", stdout);
    fputs("complete -c coforest -n __fish_use_subcommand -l version -d 'Show the version'\n"
          "complete -c coforest -l help -s h -d 'Show help'\n",
          stdout);
    for (size_t i = 0; verbs[i] != NULL; i++) {
        const verb *v = verbs[i];
        printf("complete -c coforest -n __fish_use_subcommand -f -a %s -d ", v->name);
        fish_text(v->summary, strlen(v->summary));
        putchar('\n');
        each_option(v, fish_option);
        if (v->operands->choices == NULL) continue;
        printf("complete -c coforest -n '__fish_seen_subcommand_from %s' -f -a '", v->name);
        put_choice_names(v->operands->choices);
        fputs("'\n", stdout);
    }
    fputs("complete -c coforest -n __fish_use_subcommand -f -a help -d 'show help on a verb'\n", stdout);
}

/* -------------------------------------------------------------------------------------------------- */

static void print_man(void)
{
    print_manual(stdout);
}

static int run_completion(int argc, char **argv)
{
    static void (*const print[])(void) = {print_bash, print_zsh, print_fish, print_man};
    operands found;
    int code, nothing;
    if (!parse_arguments(&verb_completion, argc, argv, &nothing, &found, &code)) return code;
    for (size_t i = 0; target_choices[i].name != NULL; i++)
        if (strcmp(found.text[0], target_choices[i].name) == 0) {
            print[i]();
            return CODE_DONE;
        }
    return complain(CODE_USAGE, "completion knows bash, zsh, fish and man, not \"%s\"", found.text[0]);
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
