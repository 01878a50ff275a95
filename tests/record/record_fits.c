/* record_fits: runs a fixed list of fits and prints what each gives, one line a fit. record.py compares the
 * lines with those recorded earlier, so that a change of the library which should keep its results is seen to.
 *
 *     record_fits explicit|defaults [THREADS [EVERY]]
 *
 * "explicit" names method, start, selection and treatment of missing values in every fit; "defaults" leaves
 * them to the library, and finds k in some. Tables and options are drawn by the generator below alone, so the
 * list does not depend on the library. THREADS overrides the number of threads (0: does not); no line
 * depends on it. EVERY runs one fit in so many.
 *
 * Only this file knows the API: where a name or an option changes, it changes in "The library" below, and the
 * words of the lines stay as they are. */
#include "coforest_extra.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Chance: splitmix64 ------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static uint32_t below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((draw(state) >> 32) * bound >> 32);
}

static bool chance(uint64_t *state, uint32_t percent)
{
    return below(state, 100) < percent;
}

/* ---- Tables ------------------------------------------------------------------------------------- */

typedef struct shape {
    uint32_t n_rows, n_columns, n_values; /* at most n_values a column */
    uint32_t n_planted;                   /* clusters the rows are drawn around; 0: uniform values */
    uint32_t noise, missing, repeated; /* per cent of the cells drawn anew, of those missing, of equal rows */
    uint32_t n_ordinal, n_numeric;     /* of the first columns; further columns */
} shape;

static const shape small_shapes[] = {
    {1, 3, 3, 0, 0, 0, 0, 0, 0},       {2, 2, 2, 0, 0, 0, 0, 0, 0},     {5, 1, 4, 0, 0, 0, 0, 0, 0},
    {8, 4, 2, 2, 10, 0, 0, 0, 0},      {12, 3, 3, 2, 20, 10, 0, 1, 0},  {12, 6, 12, 0, 0, 0, 0, 0, 0},
    {20, 2, 5, 3, 10, 0, 30, 0, 0},    {24, 5, 3, 3, 30, 0, 0, 2, 0},   {30, 8, 4, 3, 20, 5, 20, 0, 0},
    {30, 3, 2, 0, 0, 0, 80, 0, 0},     {40, 4, 6, 4, 30, 0, 0, 4, 0},   {40, 12, 3, 2, 40, 20, 0, 0, 0},
    {50, 1, 9, 3, 20, 0, 0, 0, 0},     {50, 5, 5, 5, 10, 0, 0, 0, 0},   {60, 10, 3, 3, 50, 0, 0, 3, 0},
    {60, 6, 30, 4, 20, 0, 10, 0, 0},   {80, 4, 4, 3, 0, 0, 0, 0, 0},    {80, 20, 2, 2, 30, 0, 0, 0, 0},
    {101, 16, 6, 7, 20, 0, 40, 1, 0},  {101, 7, 5, 4, 40, 30, 0, 2, 0}, {120, 3, 40, 4, 10, 0, 0, 0, 0},
    {120, 9, 4, 0, 0, 0, 0, 0, 0},     {150, 5, 8, 6, 30, 2, 0, 5, 0},  {200, 40, 3, 4, 40, 0, 0, 0, 0},
    {200, 6, 3, 3, 20, 10, 60, 0, 0},  {250, 8, 5, 5, 30, 0, 0, 0, 0},  {300, 2, 10, 5, 20, 0, 0, 1, 0},
    {300, 12, 7, 3, 60, 0, 0, 0, 0},   {400, 6, 4, 8, 20, 5, 10, 3, 0}, {500, 10, 5, 4, 30, 0, 0, 0, 0},
    {600, 4, 100, 5, 10, 0, 20, 0, 0}, {900, 20, 4, 6, 40, 3, 0, 4, 0}, {1500, 8, 6, 5, 30, 0, 0, 0, 0},
    {5000, 5, 4, 3, 20, 1, 0, 1, 0},   {20, 2, 3, 2, 10, 0, 0, 0, 1},   {40, 3, 4, 3, 20, 0, 0, 1, 2},
    {60, 1, 3, 3, 10, 0, 0, 0, 3},     {90, 6, 5, 4, 30, 5, 10, 0, 2},  {150, 4, 3, 3, 20, 0, 0, 2, 1},
    {400, 5, 6, 5, 30, 2, 0, 0, 4},
};

/* 50,000 rows: rows that are skipped and folded, many values, weights and missing cells. */
static const shape large_shapes[] = {
    {50000, 10, 8, 5, 30, 0, 0, 0, 0},
    {50000, 20, 5, 6, 40, 2, 0, 2, 0},
    {50000, 4, 4, 4, 20, 0, 50, 0, 0},
    {50000, 6, 200, 8, 30, 0, 0, 0, 0},
};

enum { N_SMALL = COUNT(small_shapes), N_LARGE = COUNT(large_shapes), MOST_VALUES = 512 };

/* What a table is made of before the library sees it: value numbers by column, -1 missing. */
typedef struct cells {
    const shape *s;
    uint32_t n_columns; /* the shape's, its numeric ones, and one of weights */
    int32_t *value;     /* [column][row] */
    const char **text;  /* the same as texts, NULL missing */
} cells;

static char word_text[MOST_VALUES][16], whole_text[MOST_VALUES][16], quantity_text[MOST_VALUES][16];

static void make_texts(void)
{
    for (int v = 0; v < MOST_VALUES; v++) {
        snprintf(word_text[v], sizeof word_text[v], "v%d", v); /* v10 comes before v2 */
        snprintf(whole_text[v], sizeof whole_text[v], "%d", v);
        snprintf(quantity_text[v], sizeof quantity_text[v], "%d.%02d", v / 4, v % 4 * 25);
    }
}

static void *get(size_t n, size_t size)
{
    void *block = calloc(n, size);
    if (block == NULL) {
        fprintf(stderr, "record_fits: out of memory\n");
        exit(1);
    }
    return block;
}

/* Column 2 of every other table is constant. */
static uint32_t values_of_column(const shape *s, uint32_t number, uint32_t c, uint64_t *state)
{
    if (c >= s->n_columns) return 0;
    uint32_t n = s->n_values <= 2 ? s->n_values : 2 + below(state, s->n_values - 1);
    return c == 2 && s->n_columns > 4 && number % 2 == 1 ? 1 : n;
}

/* A row of cluster `own`; quantities lie around 5 units a cluster, weights are 0 to 3 in quarters. */
static void fill_row(cells *t, size_t i, uint32_t own, const uint32_t *n_values, const uint32_t *mode,
                     uint64_t *state)
{
    const shape *s = t->s;
    for (uint32_t c = 0; c < t->n_columns; c++) {
        int32_t v;
        if (c + 1 == t->n_columns)
            v = (int32_t)below(state, 13);
        else if (c >= s->n_columns)
            v = (int32_t)(own * 20 + below(state, 32));
        else if (s->n_planted == 0 || chance(state, s->noise))
            v = (int32_t)below(state, n_values[c]);
        else
            v = (int32_t)mode[own * t->n_columns + c];
        if (c + 1 < t->n_columns && chance(state, s->missing)) v = -1;
        t->value[c * (size_t)s->n_rows + i] = v;
    }
}

static void copy_row(cells *t, size_t from, size_t to)
{
    for (uint32_t c = 0; c + 1 < t->n_columns; c++) {
        int32_t *value = t->value + c * (size_t)t->s->n_rows;
        value[to] = value[from];
    }
}

static void make_text(cells *t)
{
    for (uint32_t c = 0; c < t->n_columns; c++)
        for (size_t i = 0; i < t->s->n_rows; i++) {
            size_t at = c * (size_t)t->s->n_rows + i;
            int32_t v = t->value[at];
            if (v < 0) continue;
            t->text[at] = c >= t->s->n_columns ? quantity_text[v] : c % 2 == 0 ? word_text[v] : whole_text[v];
        }
}

static cells make_cells(const shape *s, uint32_t number)
{
    uint64_t state = number;
    cells t = {.s = s, .n_columns = s->n_columns + s->n_numeric + 1};
    uint32_t n_planted = s->n_planted > 0 ? s->n_planted : 1;
    uint32_t *n_values = get(t.n_columns, sizeof *n_values);
    uint32_t *mode = get((size_t)n_planted * t.n_columns, sizeof *mode);
    t.value = get((size_t)t.n_columns * s->n_rows, sizeof *t.value);
    t.text = get((size_t)t.n_columns * s->n_rows, sizeof *t.text);
    for (uint32_t c = 0; c < t.n_columns; c++) {
        n_values[c] = values_of_column(s, number, c, &state);
        for (uint32_t j = 0; j < n_planted; j++) mode[j * t.n_columns + c] = below(&state, n_values[c]);
    }
    for (size_t i = 0; i < s->n_rows; i++) {
        uint32_t a = below(&state, n_planted), b = below(&state, n_planted);
        fill_row(&t, i, a < b ? a : b, n_values, mode, &state);
        if (i > 0 && chance(&state, s->repeated)) copy_row(&t, below(&state, (uint32_t)i), i);
    }
    make_text(&t);
    free(n_values);
    free(mode);
    return t;
}

static void free_cells(cells *t)
{
    free(t->value);
    free(t->text);
}

static bool same_row(const cells *t, size_t a, size_t b)
{
    for (uint32_t c = 0; c < t->s->n_columns; c++) {
        const int32_t *value = t->value + c * (size_t)t->s->n_rows;
        if (value[a] != value[b]) return false;
    }
    return true;
}

/* k rows to start from, different from each other where a few tries find such. */
static void choose_rows(const cells *t, uint32_t k, uint64_t *row, uint64_t *state)
{
    for (uint32_t j = 0; j < k; j++) {
        bool taken = true;
        for (int tries = 0; taken && tries < 50; tries++) {
            row[j] = below(state, t->s->n_rows);
            taken = false;
            for (uint32_t other = 0; other < j; other++) taken = taken || same_row(t, row[j], row[other]);
        }
    }
}

/* ---- The library -------------------------------------------------------------------------------- */

typedef struct word { /* of a line, and what it is to the library */
    const char *word;
    int32_t value;
} word;

enum { START_ROWS = -1 };  /* given rows, which are no cof_init */
enum { FIRST_STARTS = 6 }; /* those of version 0.1.0, among which draw_job chooses; later ones follow them */

static const word starts[] = {{"kmeans", COF_INIT_KMEANS}, {"farthest", COF_INIT_FARTHEST},
                              {"random", COF_INIT_RANDOM}, {"modes++", COF_INIT_MODESPP},
                              {"cao", COF_INIT_CAO},       {"rows", START_ROWS},
                              {"huang", COF_INIT_HUANG}};
static const word variants[] = {{"paper", COF_VARIANT_PAPER}, {"authors", COF_VARIANT_AUTHORS}};
static const word selections[] = {{"likelihood", COF_SELECT_LIKELIHOOD},
                                  {"objective", COF_SELECT_OBJECTIVE},
                                  {"balance", COF_SELECT_BALANCE}};
static const word treatments[] = {{"value", COF_MISSING_VALUE},
                                  {"ignore", COF_MISSING_IGNORE},
                                  {"drop", COF_MISSING_DROP},
                                  {"error", COF_MISSING_ERROR}};
static const char *const weightings[] = {"once", "whole", "fraction", "column"};
enum { ONCE, WHOLE, FRACTION, COLUMN };

static const struct {
    const char *name;
    bool mixed;        /* takes numeric columns */
    bool many_seconds; /* with hundreds of values */
} methods[] = {
    {"coforest", true, false}, {"kmodes", false, false},        {"lsm", false, false},
    {"jdm", false, false},     {"jdm:full", false, false},      {"cbdm", false, false},
    {"ocil", false, false},    {"ocil:original", false, false}, {"udm", false, false},
    {"dlc", false, false},     {"dlc:fixed", false, false},     {"h2h", false, true},
    {"hdc", false, false},     {"hdc:ndw", false, false},       {"adc", false, false},
    {"lca", false, false},     {"k-prototypes", true, false},   {"ek-prototypes", true, false},
    {"cof1", false, false},    {"cof2", false, false},          {"cof3", false, false},
    {"cof4", false, false},    {"fcg", false, false},           {"slg", false, false},
    {"rglg", false, false},    {"rgg", false, false},
};

typedef struct task { /* one fit; words index the tables above */
    size_t method, start, variant, selection, treatment, weighting;
    uint32_t k, restarts, max_rebuilds, max_passes, threads;
    uint64_t seed;
    bool defaults; /* start, restarts and selection are the library's */
    bool find_k;   /* up to k, or without an end if that is 0 */
} task;

/* Every method of the library is in the list, and no other: a wrong name would record one failure after another. */
static void check_methods(void)
{
    bool known = cof_method_count() == COUNT(methods);
    for (size_t m = 0; known && m < COUNT(methods); m++) {
        size_t at = 0;
        while (at < COUNT(methods) && strcmp(methods[m].name, cof_method_name(at)) != 0) at++;
        known = at < COUNT(methods);
    }
    if (known) return;
    fprintf(stderr,
            "record_fits: the methods are not those of the library; change the list in record_fits.c\n");
    exit(1);
}

static void require(cof_status status, const cof_error *err)
{
    if (status == COF_OK) return;
    fprintf(stderr, "record_fits: %s\n", err->text);
    exit(1);
}

/* Values of the column in an order of chance. */
static void set_order(cof_table *table, size_t c, uint64_t *state)
{
    const char *value[MOST_VALUES];
    cof_column column = {.struct_size = sizeof column};
    cof_error err = {""};
    require(cof_table_column(table, c, &column), &err);
    for (uint32_t v = 0; v < column.n_values; v++) {
        uint32_t at = below(state, v + 1);
        value[v] = value[at];
        value[at] = cof_table_value(table, c, v);
    }
    require(cof_table_set_order(table, c, value, column.n_values, &err), &err);
}

static cof_table *make_table(const cells *t, uint32_t number)
{
    cof_table *table;
    cof_error err;
    uint64_t state = number + 1000;
    require(cof_table_from_strings(NULL, t->text, t->s->n_rows, t->n_columns, NULL, &table, &err), &err);
    for (size_t c = 0; c < t->s->n_ordinal; c++) set_order(table, c, &state);
    return table;
}

static void set_roles(cof_table *table, const shape *s, const task *job)
{
    cof_error err;
    int32_t numeric = methods[job->method].mixed ? COF_ROLE_NUMERIC : COF_ROLE_IGNORED;
    int32_t weight = job->weighting == COLUMN ? COF_ROLE_WEIGHT : COF_ROLE_IGNORED;
    for (size_t c = 0; c < s->n_numeric; c++)
        require(cof_table_set_role(table, s->n_columns + c, numeric, &err), &err);
    require(cof_table_set_role(table, s->n_columns + s->n_numeric, weight, &err), &err);
}

static cof_fit_options options_of(const task *job, const uint64_t *rows, const double *weights)
{
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = job->k,
                         .seed = job->seed,
                         .threads = job->threads,
                         .variant = variants[job->variant].value,
                         .missing = treatments[job->treatment].value,
                         .weights = weights,
                         .method = methods[job->method].name};
    if (job->defaults) return o;
    o.scale = COF_SCALE_RANGE;
    bool given = starts[job->start].value == START_ROWS;
    o.init = given ? COF_INIT_RANDOM : starts[job->start].value;
    o.init_rows = given ? rows : NULL;
    o.restarts = job->restarts;
    o.select = selections[job->selection].value;
    o.max_rebuilds = job->max_rebuilds;
    o.max_passes = job->max_passes;
    return o;
}

static uint32_t mix(uint32_t hash, uint64_t value)
{
    for (int i = 0; i < 8; i++) hash = (hash ^ (uint32_t)(value >> 8 * i & 0xFF)) * UINT32_C(16777619);
    return hash;
}

enum { HASH_BASIS = 0x811C9DC5 };

static uint32_t hash_labels(const int32_t *label, size_t n)
{
    uint32_t hash = HASH_BASIS;
    for (size_t i = 0; i < n; i++) hash = mix(hash, (uint64_t)(int64_t)label[i]);
    return hash;
}

/* Restarts, rebuilds, passes and rows moved, in their order. */
static uint32_t hash_log(const cof_model *model)
{
    uint32_t hash = HASH_BASIS;
    size_t n;
    const cof_restart_record *restart = cof_model_restarts(model, &n);
    for (size_t i = 0; i < n; i++)
        hash = mix(mix(mix(hash, restart[i].rebuilds), restart[i].passes), (uint64_t)restart[i].stop_reason);
    const cof_pass_record *pass = cof_model_history(model, &n);
    for (size_t i = 0; i < n; i++)
        hash = mix(mix(mix(mix(hash, pass[i].restart), pass[i].rebuild), pass[i].pass), pass[i].moved);
    return hash;
}

static uint32_t hash_trees(const cof_model *model)
{
    uint32_t hash = HASH_BASIS;
    for (size_t a = 0; a < cof_model_n_attributes(model); a++) {
        size_t n;
        const cof_edge *edge = cof_model_edges(model, a, &n);
        hash = mix(hash, n);
        for (size_t e = 0; e < n; e++) hash = mix(mix(hash, edge[e].u), edge[e].v);
    }
    return hash;
}

/* The fitted rows labelled by the model; 0 where it cannot. */
static uint32_t hash_predicted(const cof_model *model, const cof_table *table, size_t n_rows)
{
    int32_t *label = get(n_rows, sizeof *label);
    cof_status status = cof_model_predict(model, table, 1, label, n_rows, NULL, NULL);
    uint32_t hash = status == COF_OK ? hash_labels(label, n_rows) : 0;
    free(label);
    return hash;
}

static void print_outcome(const cof_model *model, const cof_fit_info *info, const cof_table *table)
{
    static const char *const stop[] = {"converged", "cycle", "cap", "stopped", "time"};
    size_t n;
    const int32_t *label = cof_model_labels(model, &n);
    printf("k=%u labels=%08x %s kept=%u/%u passes=%u/%u log=%08x", (unsigned)cof_model_k(model),
           (unsigned)hash_labels(label, n), stop[info->stop_reason], (unsigned)info->best_restart,
           (unsigned)info->n_restarts, (unsigned)info->rebuilds, (unsigned)info->passes,
           (unsigned)hash_log(model));
    printf(" trees=%08x predicted=%08x L=%.9g loglik=%.9g", (unsigned)hash_trees(model),
           (unsigned)hash_predicted(model, table, n), info->objective, info->log_likelihood);
    if (!isnan(info->bic)) printf(" bic=%.9g", info->bic);
    printf("\n");
}

static void run_job(cof_table *table, const cells *t, const task *job)
{
    uint64_t state = job->seed;
    uint64_t *row = get(job->k + 1, sizeof *row);
    double *weight = get(t->s->n_rows, sizeof *weight);
    bool weighted = job->weighting == WHOLE || job->weighting == FRACTION;
    choose_rows(t, job->k, row, &state);
    for (size_t i = 0; i < t->s->n_rows; i++)
        weight[i] = job->weighting == WHOLE ? below(&state, 5) : (1 + below(&state, 1000)) / 300.0;
    set_roles(table, t->s, job);
    cof_fit_options options = options_of(job, row, weighted ? weight : NULL);
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model *model = NULL;
    cof_status status = job->find_k ? cof_fit_auto(table, &options, 0, job->k, &model, &info, NULL)
                                    : cof_fit(table, &options, &model, &info, NULL);
    if (status == COF_OK)
        print_outcome(model, &info, table);
    else
        printf("error %d\n", (int)status);
    cof_model_free(model);
    free(row);
    free(weight);
}

/* ---- The list ----------------------------------------------------------------------------------- */

static uint32_t forced_threads; /* 0: as the job says */
static uint32_t every = 1;      /* fit in so many is run */

static void record(cof_table *table, const cells *t, uint32_t number, const task *wanted)
{
    static uint32_t n_fits;
    task job = *wanted;
    if (n_fits++ % every != 0) return;
    printf("t%02u %s", (unsigned)number, methods[job.method].name);
    if (!job.defaults)
        printf(" %s r%u by %s", starts[job.start].word, (unsigned)job.restarts,
               selections[job.selection].word);
    if (job.max_rebuilds > 0) printf(" rebuilds<=%u", (unsigned)job.max_rebuilds);
    if (job.max_passes > 0) printf(" passes<=%u", (unsigned)job.max_passes);
    printf(" %s missing:%s weights:%s %s%u s%u", variants[job.variant].word, treatments[job.treatment].word,
           weightings[job.weighting], job.find_k ? "k auto:" : "k", (unsigned)job.k, (unsigned)job.seed);
    if (job.threads > 1) printf(" threads%u", (unsigned)job.threads);
    printf(" | ");
    if (forced_threads > 0) job.threads = forced_threads;
    run_job(table, t, &job);
}

/* Options by chance; what is usual comes up more often. */
static task draw_job(const cells *t, uint32_t number, size_t method, uint32_t turn)
{
    static const uint32_t ks[] = {1, 2, 2, 3, 3, 3, 4, 5, 6, 8};
    uint64_t state = (number * UINT64_C(64) + method) * 64 + turn;
    task job = {.method = method, .threads = 1, .seed = turn};
    job.start = below(&state, FIRST_STARTS);
    job.variant = below(&state, COUNT(variants));
    job.selection = below(&state, COUNT(selections));
    job.treatment =
        below(&state, t->s->missing > 0 ? COUNT(treatments) + 2 : COUNT(treatments)) % COUNT(treatments);
    job.weighting = chance(&state, 50) ? ONCE : below(&state, COUNT(weightings));
    job.k = ks[below(&state, COUNT(ks))];
    if (job.k > t->s->n_rows) job.k = t->s->n_rows;
    job.restarts = 1 + below(&state, 3);
    job.max_rebuilds = chance(&state, 85) ? 0 : 1 + below(&state, 4);
    job.max_passes = chance(&state, 85) ? 0 : 1 + below(&state, 6);
    return job;
}

static void record_small(void)
{
    enum { TURNS = 5 };
    for (uint32_t number = 0; number < N_SMALL; number++) {
        cells t = make_cells(&small_shapes[number], number);
        cof_table *table = make_table(&t, number);
        for (size_t m = 0; m < COUNT(methods); m++)
            for (uint32_t turn = 0; turn < TURNS; turn++) {
                task job = draw_job(&t, number, m, turn);
                record(table, &t, number, &job);
            }
        cof_table_free(table);
        free_cells(&t);
    }
}

/* Starts that version 0.1.0 did not have, each with every method on some tables. */
static void record_later_starts(void)
{
    for (uint32_t number = 3; number < N_SMALL; number += 5) {
        cells t = make_cells(&small_shapes[number], number);
        cof_table *table = make_table(&t, number);
        for (size_t m = 0; m < COUNT(methods); m++)
            for (size_t start = FIRST_STARTS; start < COUNT(starts); start++) {
                task job = draw_job(&t, number, m, 0);
                job.start = start;
                record(table, &t, number, &job);
            }
        cof_table_free(table);
        free_cells(&t);
    }
}

/* 50,000 rows: coforest from every start with one thread and with two, then every other method once. */
static void record_large(void)
{
    for (uint32_t l = 0; l < N_LARGE; l++) {
        uint32_t number = N_SMALL + l;
        cells t = make_cells(&large_shapes[l], number);
        cof_table *table = make_table(&t, number);
        for (size_t s = 0; s < FIRST_STARTS; s++)
            for (uint32_t threads = 1; threads <= 2; threads++) {
                task job = {.start = s, .k = 4 + l, .restarts = 1, .threads = threads, .seed = s};
                job.variant = s % 2;
                job.weighting = s % COUNT(weightings);
                job.treatment = s % 3;
                record(table, &t, number, &job);
            }
        for (size_t m = 1; m < COUNT(methods); m++) {
            if (methods[m].many_seconds && t.s->n_values > 100) continue;
            task job = {
                .method = m, .start = (m + l) % FIRST_STARTS, .k = 3 + l, .restarts = 1, .threads = 1};
            record(table, &t, number, &job);
        }
        cof_table_free(table);
        free_cells(&t);
    }
}

/* Defaults of every method on a few tables, of coforest on all of them, and the number of clusters found. */
static void record_defaults(void)
{
    for (uint32_t number = 0; number < N_SMALL + N_LARGE; number++) {
        bool large = number >= N_SMALL;
        cells t = make_cells(large ? &large_shapes[number - N_SMALL] : &small_shapes[number], number);
        cof_table *table = make_table(&t, number);
        task job = {.defaults = true, .threads = 1, .seed = 1};
        for (job.k = 2; job.k <= (large ? 2 : 5) && job.k <= t.s->n_rows; job.k++)
            record(table, &t, number, &job);
        job.k = t.s->n_rows < 3 ? t.s->n_rows : 3;
        for (job.weighting = 1; !large && job.weighting < COUNT(weightings); job.weighting++) {
            job.variant = job.weighting % 2;
            record(table, &t, number, &job);
        }
        job.variant = job.weighting = 0;
        for (job.method = 1; !large && number % 5 == 4 && job.method < COUNT(methods); job.method++)
            record(table, &t, number, &job);
        job.method = 0;
        job.find_k = true;
        job.k = number % 2 == 0 && !large ? 0 : 4;
        if (!large || number == N_SMALL) record(table, &t, number, &job);
        cof_table_free(table);
        free_cells(&t);
    }
}

int main(int argc, char **argv)
{
    const char *list = argc > 1 ? argv[1] : "";
    forced_threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    every = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
    if (every == 0) every = 1;
    make_texts();
    check_methods();
    if (strcmp(list, "explicit") == 0) {
        record_small();
        record_large();
        record_later_starts();
    } else if (strcmp(list, "defaults") == 0) {
        record_defaults();
    } else {
        fprintf(stderr, "usage: record_fits explicit|defaults [THREADS [EVERY]]\n");
        return 2;
    }
    return 0;
}
