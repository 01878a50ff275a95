/* The options of a fit, described once: checks, the command line, its help and manual, and the language bindings are made from
 * this table. k, the arrays and what only the library's own fits set are members of cof_fit_options too, but not here. */
#include "../fit/alternatives.h"
#include "../model/words.h"
#include "../start/starts.h"
#include "methods.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

enum { MOST_PASSES = 1000000 };

typedef struct source {
    cof_option option;
    const cof_word *words;          /* ends with a NULL name; NULL: `word` gives them, or there are none */
    cof_word (*word)(size_t place); /* NULL name past the last */
} source;

static cof_word method_word(size_t place)
{
    return (cof_word){cof_method_name(place), cof_method_title(place)};
}

static cof_word start_word(size_t place)
{
    return (cof_word){cof_start_name(place), cof_start_title(place)};
}

static const cof_word gammas[] = {{"kmodes", "estimated as the Python package kmodes does"},
                                  {"clustmixtype", "estimated as the R package clustMixType does"},
                                  {NULL, NULL}};

/* The text 0 is a word, because the number 0 stands for the default. */
static const cof_word priors[] = {{"0", "none at all, which gives maximum likelihood"}, {NULL, NULL}};

#define OPTION(name, arg, type, member, ...)                                                                 \
    .option = {name, arg, type, offsetof(cof_fit_options, member), __VA_ARGS__}

enum { COUNT = COF_OPTION_COUNT, NUMBER = COF_OPTION_NUMBER, REAL = COF_OPTION_REAL };
enum { WORD = COF_OPTION_WORD, NAME = COF_OPTION_NAME };

/* clang-format off */
static const source sources[] = {
    {OPTION("method", "NAME", NAME, method, 0, 0, 0,
            "The clustering method (default: coforest); \"coforest compare\" tries several:"), .word = method_word},
    {OPTION("restarts", "R", COUNT, restarts, 1, MOST_PASSES, 0,
            "The number of restarts; the best result is kept (default: 10; with the portfolio more on small tables, up to "
            "100).")},
    {OPTION("init", "WAY", WORD, init, 0, 0, 0,
            "How the first partition of a restart is made (default: portfolio):"), .word = start_word},
    {OPTION("select", "BY", WORD, select, 0, 0, 0, "Which restart is kept:"), .words = cofi_select_words},
    {OPTION("keep", "N", COUNT, keep, 1, 1 + COFI_MOST_ALTERNATIVES, 0,
            "2 or 3: make the second or third of the partitions that are nearly as good the result; the first fit tells "
            "whether there are any (default: 1).")},
    {OPTION("variant", "NAME", WORD, variant, 0, 0, 0,
            "How coforest and cof1 to cof4 scale attributes (default: paper); other methods ignore it:"),
     .words = cofi_variant_words},
    {OPTION("missing", "HOW", WORD, missing, 0, 0, 0, "How missing cells are treated:"), .words = cofi_missing_words},
    {OPTION("scale", "HOW", WORD, scale, 0, 0, 0, "How scaled quantities are measured:"), .words = cofi_scale_words},
    {OPTION("gamma", "WEIGHT", REAL, gamma, DBL_MIN, 0, 0,
            "How much a differing category weighs beside scaled quantities (default: 0.5, for ek-prototypes 1, with --scale none as "
            "kmodes does): a number; or, for k-prototypes, a word:"), .words = gammas},
    {OPTION("seed", "S", NUMBER, seed, 0, 0, 1,
            "Seed of the random numbers; the same seed gives the same result (default: 1).")},
    {OPTION("max-rebuilds", "N", COUNT, max_rebuilds, 1, MOST_PASSES, 0,
            "The largest number of forests that a restart builds (default: 51).")},
    {OPTION("max-passes", "N", COUNT, max_passes, 1, MOST_PASSES, 0,
            "The largest number of passes over the rows for each forest (default: 51); with lca of rounds of EM in a restart, "
            "polishing included (default: 500, and at most 100,000 that polish the kept restart).")},
    {OPTION("prior", "WEIGHT", REAL, prior, DBL_MIN, 1e6, 0,
            "How many rows of the overall distribution smooth each class of lca (default: 1):"), .words = priors},
    {OPTION("tolerance", "GAIN", REAL, tolerance, 0, 0, 0,
            "lca ends when a round of EM adds less to the log-likelihood (default: 1e-9).")},
    {OPTION("time-limit", "SECONDS", REAL, time_limit_s, 0, INFINITY, 0,
            "Stop after so many seconds and keep the best result so far, but not before the first restart has ended "
            "(default: 0, no limit).")},
    {OPTION("threads", "T", COUNT, threads, 0, 0, 0,
            "Threads to use (default: 0, all cores). The labels do not depend on it.")},
};
/* clang-format on */

enum { N_OPTIONS = sizeof sources / sizeof *sources };

const cof_option *cof_fit_option(size_t option)
{
    return option < N_OPTIONS ? &sources[option].option : NULL;
}

cof_word cof_fit_option_word(size_t option, size_t place)
{
    if (option >= N_OPTIONS) return (cof_word){NULL, NULL};
    const source *s = &sources[option];
    return s->words != NULL  ? cofi_words_at(s->words, place)
           : s->word != NULL ? s->word(place)
                             : (cof_word){NULL, NULL};
}

/* The value of a number; -1 - place for a word that stands for one. */
static double number_of(const cof_option *option, const cof_fit_options *o)
{
    const char *member = (const char *)o + option->offset;
    uint32_t count;
    uint64_t number;
    double real;
    if (option->type == COF_OPTION_REAL) return memcpy(&real, member, sizeof real), real;
    if (option->type == COF_OPTION_NUMBER) return memcpy(&number, member, sizeof number), (double)number;
    return memcpy(&count, member, sizeof count), (double)count;
}

static bool names_word(size_t option, double place)
{
    return place >= 0 && place < UINT16_MAX && place == floor(place) &&
           cof_fit_option_word(option, (size_t)place).name != NULL;
}

cof_status cofi_fit_options_check(const cof_fit_options *o, cof_error *err)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const cof_option *option = &sources[i].option;
        if (option->type == COF_OPTION_NAME) continue; /* the method, which is looked up */
        if (option->type == COF_OPTION_WORD) {
            int32_t word;
            memcpy(&word, (const char *)o + option->offset, sizeof word);
            if (!names_word(i, word))
                return cofi_fail(err, COF_ERR_ARGUMENT, "%s cannot be %d, which stands for nothing",
                                 option->name, (int)word);
            continue;
        }
        double x = number_of(option, o);
        bool in_bounds = x >= option->least && (option->most == 0 ? !isinf(x) : x <= option->most);
        if (x == 0 || in_bounds || names_word(i, -1 - x)) continue;
        if (option->least == DBL_MIN)
            return cofi_fail(err, COF_ERR_ARGUMENT, "%s must be a number above 0, not %.10g", option->name,
                             x);
        if (option->most == 0 || isinf(option->most))
            return cofi_fail(err, COF_ERR_ARGUMENT, "%s must be a number of at least %g, not %.10g",
                             option->name, option->least, x);
        return cofi_fail(err, COF_ERR_ARGUMENT, "%s must be from %.10g to %.10g, not %.10g", option->name,
                         option->least, option->most, x);
    }
    return COF_OK;
}
