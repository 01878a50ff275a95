/* The library's methods and starts as the options, help and completions name them. */
#include "method_list.h"

#include "complain.h"

enum { MOST_METHODS = 64, MOST_STARTS = 32, N_SETS = 3 };

static const struct {
    choice name;
    const char *methods; /* NULL: all there are */
} sets[N_SETS] = {
    {{"default", "the eleven of the paper, and lca (default)"},
     "kmodes,lsm,jdm,cbdm,ocil,udm,dlc,h2h,hdc,adc,coforest,lca"},
    {{"paper", "the eleven of the paper"}, "kmodes,lsm,jdm,cbdm,ocil,udm,dlc,h2h,hdc,adc,coforest"},
    {{"all", "all of the following"}, NULL},
};

static void fill(choice *list)
{
    size_t n = cof_method_count() < MOST_METHODS ? cof_method_count() : MOST_METHODS;
    for (size_t i = 0; i < n; i++) list[i] = (choice){cof_method_name(i), cof_method_title(i)};
}

const choice *method_choices(void)
{
    static choice list[MOST_METHODS + 1];
    if (list[0].name == NULL) fill(list);
    return list;
}

const choice *start_choices(void)
{
    static choice list[MOST_STARTS + 1];
    size_t n = cof_start_count() < MOST_STARTS ? cof_start_count() : MOST_STARTS;
    for (size_t i = 0; i < n; i++) list[i] = (choice){cof_start_name(i), cof_start_title(i)};
    return list;
}

const choice *method_set_choices(void)
{
    static choice list[N_SETS + MOST_METHODS + 1];
    if (list[0].name != NULL) return list;
    for (size_t i = 0; i < N_SETS; i++) list[i] = sets[i].name;
    fill(list + N_SETS);
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

typedef struct method_list {
    size_t *method, n;
    bool met[MOST_METHODS];
} method_list;

static void add(method_list *list, size_t method)
{
    if (!list->met[method]) list->method[list->n++] = method;
    list->met[method] = true;
}

static bool add_methods(method_list *list, const char *text);

static bool add_named(method_list *list, const char *name, size_t length)
{
    const choice *known = method_choices();
    for (size_t i = 0; known[i].name != NULL; i++)
        if (strlen(known[i].name) == length && memcmp(known[i].name, name, length) == 0) {
            add(list, i);
            return true;
        }
    for (size_t i = 0; i < N_SETS; i++) {
        if (strlen(sets[i].name.name) != length || memcmp(sets[i].name.name, name, length) != 0) continue;
        if (sets[i].methods != NULL) return add_methods(list, sets[i].methods);
        for (size_t m = 0; known[m].name != NULL; m++) add(list, m);
        return true;
    }
    return false;
}

static void complain_method(const char *name)
{
    const char *known[N_SETS + MOST_METHODS + 1] = {NULL};
    const choice *list = method_set_choices();
    for (size_t i = 0; list[i].name != NULL; i++) known[i] = list[i].name;
    const char *near = nearest(name, known);
    if (*name == '\0')
        complain(CODE_USAGE, "--methods must be names separated by commas, such as kmodes,coforest");
    else if (near != NULL)
        suggest(complain(CODE_USAGE, "there is no method \"%s\"; did you mean %s?", name, near), name, near);
    else
        complain(CODE_USAGE, "there is no method \"%s\"; \"coforest compare --help\" lists them", name);
}

static bool add_methods(method_list *list, const char *text)
{
    for (;;) {
        size_t length = strcspn(text, ",");
        if (!add_named(list, text, length)) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)length, text);
            complain_method(name);
            return false;
        }
        if (text[length] == '\0') return true;
        text += length + 1;
    }
}

int parse_methods(const char *text, size_t **method, size_t *n)
{
    method_list list = {.method = keep(MOST_METHODS, sizeof *list.method)};
    *method = list.method;
    bool good = add_methods(&list, text);
    *n = list.n;
    return good ? CODE_DONE : CODE_USAGE;
}
