/* Finds the verb, runs it, and checks that all output was written. */
#include "run.h"

#include <errno.h>
#include <unistd.h>

#include "verbs/cmd.h"
#include "complain.h"
#include "outfiles.h"
#include "show/help.h"
#include "progress.h"
#include "host/host.h"

const verb *const verbs[] = {
    &verb_describe, &verb_fit,    &verb_compare,  &verb_predict,    &verb_report, &verb_trees,
    &verb_evaluate, &verb_encode, &verb_generate, &verb_completion, NULL};

enum { N_VERBS = sizeof verbs / sizeof *verbs - 1 };

const verb *find_verb(const char *name)
{
    for (size_t i = 0; verbs[i] != NULL; i++)
        if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
    return NULL;
}

int complain_verb(const char *name)
{
    const char *known[N_VERBS + 4] = {"help", "--help", "--version"};
    for (size_t i = 0; i < N_VERBS; i++) known[i + 3] = verbs[i]->name;
    if (strcmp(name, "reproduce") == 0)
        return complain(CODE_USAGE,
                        "the paper's experiments are not in the program any more; run paper/run in "
                        "the source tree, which paper/README.md describes");
    if (access(name, R_OK) == 0)
        return complain(CODE_USAGE, "a verb comes first: coforest fit %s -k auto", name);
    const char *near = nearest(name, known);
    const char *what = *name == '-' ? "option" : "verb";
    if (near != NULL)
        return suggest(complain(CODE_USAGE, "there is no %s \"%s\"; did you mean \"%s\"?", what, name, near),
                       name, near);
    if (*name == '-')
        return complain(CODE_USAGE, "option %s must stand after a verb, as in \"coforest fit\"", name);
    return complain(CODE_USAGE, "there is no verb \"%s\"; \"coforest --help\" lists them", name);
}

static int run_help(int argc, char **argv)
{
    const verb *v = argc > 0 ? find_verb(argv[0]) : NULL;
    if (argc > 0 && v == NULL) return complain_verb(argv[0]);
    if (v != NULL)
        print_verb_help(v);
    else
        print_program_help();
    return CODE_DONE;
}

static int run_version(void)
{
    printf("coforest %s\nbuilt with: %s\n", cof_version(), cof_build_info());
    return CODE_DONE;
}

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

static int run(int argc, char **argv)
{
    if (argc < 2) return run_help(0, NULL);
    if (is_one_of(argv[1], "help", "--help", "-h")) return run_help(argc - 2, argv + 2);
    if (is_one_of(argv[1], "version", "--version", "-V")) return run_version();
    if (strcmp(argv[1], "__complete") == 0) return complete_words(argc - 2, argv + 2);
    const verb *v = find_verb(argv[1]);
    return v == NULL ? complain_verb(argv[1]) : v->run(argc - 2, argv + 2);
}

/* A full disk often shows only here. A reader that has seen enough, as in `| head`, is no failure worth
 * words: we end as any other program would. */
static int flush_output(int code)
{
    bool lost = ferror(stdout) != 0;
    int reason = EIO;
    if (fflush(stdout) != 0) {
        lost = true;
        reason = errno;
    }
    if (reader_gone()) end_like_others();
    if (!lost) return code;
    complain(CODE_FAILED, "cannot write standard output: %s", strerror(reason));
    return code == CODE_DONE ? CODE_FAILED : code;
}

int run_program(int argc, char **argv)
{
    survive_failed_writes();
    use_one_heap();
    argv = host_arguments(&argc, argv);
    if (argc > 0 && argv[0][0] != '\0') program_name = argv[0];
    remember_command(argc, argv);
    int code = run(argc, argv);
    outfiles_abandon(); /* those that were not published */
    release_kept();
    return flush_output(code == CODE_INTERRUPTED ? stop_code() : code);
}
