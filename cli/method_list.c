/* The library's methods and starts as the options, help and completions name them. */
#include "method_list.h"

#include "complain.h"

enum { MOST_METHODS = 64, N_SETS = 3 };

static const struct {
    choice name;
    const char *methods; /* NULL: all there are */
} sets[N_SETS] = {
    {{"default", "the eleven of the paper, and lca (default)"},
     "kmodes,lsm,jdm,cbdm,ocil,udm,dlc,h2h,hdc,adc,coforest,lca"},
    {{"paper", "the eleven of the paper"}, "kmodes,lsm,jdm,cbdm,ocil,udm,dlc,h2h,hdc,adc,coforest"},
    {{"all", "all of the following"}, NULL},
};

const choice *method_set_choices(void)
{
    static choice list[N_SETS + MOST_METHODS + 1];
    if (list[0].name != NULL) return list;
    for (size_t i = 0; i < N_SETS; i++) list[i] = sets[i].name;
    for (size_t i = 0; i < MOST_METHODS && i < cof_method_count(); i++)
        list[N_SETS + i] = (choice){cof_method_name(i), cof_method_title(i)};
    return list;
}

bool has_variants(const char *method)
{
    return strncmp(method, "cof", 3) == 0;
}

bool has_trees(const cof_model *model)
{
    size_t n = 0;
    for (size_t r = 0; r < cof_model_n_attributes(model); r++)
        if (cof_model_edges(model, r, &n) != NULL && n > 0) return true;
    return false;
}

/* ---- Lists --------------------------------------------------------------------------------------- */

static int complain_method(const char *name)
{
    const char *known[N_SETS + MOST_METHODS + 1] = {NULL};
    for (size_t i = 0; method_set_choices()[i].name != NULL; i++) known[i] = method_set_choices()[i].name;
    const char *near = nearest(name, known);
    if (*name == '\0')
        return complain(CODE_USAGE, "--methods must be names separated by commas, such as kmodes,coforest");
    if (near == NULL)
        return complain(CODE_USAGE, "there is no method \"%s\"; \"coforest compare --help\" lists them",
                        name);
    return suggest(complain(CODE_USAGE, "there is no method \"%s\"; did you mean %s?", name, near), name,
                   near);
}

/* Adds what the names stand for, each method once. */
static int add_methods(const char *text, size_t *method, size_t *n)
{
    for (;; text++) {
        char name[64];
        size_t length = strcspn(text, ","), at = 0;
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        while (at < N_SETS && strcmp(sets[at].name.name, name) != 0) at++;
        bool all = at < N_SETS && sets[at].methods == NULL, known = at < N_SETS;
        if (known && !all) TRY(add_methods(sets[at].methods, method, n));
        for (size_t m = 0; m < cof_method_count(); m++) {
            if (!all && strcmp(cof_method_name(m), name) != 0) continue;
            size_t met = 0;
            while (met < *n && method[met] != m) met++;
            if (met == *n) method[(*n)++] = m;
            known = true;
        }
        if (!known) return complain_method(name);
        text += length;
        if (*text == '\0') return CODE_DONE;
    }
}

int parse_methods(const char *text, size_t **method, size_t *n)
{
    *method = keep(cof_method_count(), sizeof **method);
    *n = 0;
    return add_methods(text, *method, n);
}
