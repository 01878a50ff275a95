/* The twelve tables of the COForest paper, what the methods' specification says they give, and a way to run a
 * method from one random start after the other on the same table. */
#ifndef REFERENCE_HELPER_H
#define REFERENCE_HELPER_H

#include "coforest_extra.h"
#include "../../src/method/methods.h"
#include "../../src/start/starts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REFERENCE_COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Tables ------------------------------------------------------------------------------------- */

/* The order of a column's values where it is neither numeric nor alphabetical. */
typedef struct reference_order {
    const char *column;
    const char *value[6]; /* ends with NULL */
} reference_order;

typedef struct reference_table {
    const char *abbreviation, *file;
    uint32_t k;
    reference_order order[8]; /* ends with a NULL column */
} reference_table;

enum { HR, CE, AC, VT, CS, SB, NS, ZO, TS, HF, DS, LS, N_REFERENCE_TABLES };

/* Orders as the paper's authors number the values (CE, NS) or as the words say it (LS). */
static const reference_table reference_tables[N_REFERENCE_TABLES] = {
    [HR] = {"HR", "hr.csv", 3, {{NULL, {NULL}}}},
    [CE] = {"CE",
            "ce.csv",
            4,
            {{"buying", {"low", "med", "high", "vhigh"}},
             {"maint", {"low", "med", "high", "vhigh"}},
             {"lug_boot", {"small", "med", "big"}},
             {"safety", {"low", "med", "high"}}}},
    [AC] = {"AC", "ac.csv", 2, {{NULL, {NULL}}}},
    [VT] = {"VT", "vt.csv", 2, {{NULL, {NULL}}}}, /* n, y, and the missing value last */
    [CS] = {"CS", "cs.csv", 2, {{NULL, {NULL}}}},
    [SB] = {"SB", "sb.csv", 4, {{NULL, {NULL}}}},
    [NS] = {"NS",
            "ns.csv",
            5,
            {{"parents", {"usual", "pretentious", "great_pret"}},
             {"has_nurs", {"proper", "less_proper", "improper", "critical", "very_crit"}},
             {"form", {"complete", "completed", "incomplete", "foster"}},
             {"housing", {"convenient", "less_conv", "critical"}},
             {"social", {"nonprob", "slightly_prob", "problematic"}},
             {"health", {"recommended", "priority", "not_recom"}}}},
    [ZO] = {"ZO", "zo.csv", 7, {{NULL, {NULL}}}},
    [TS] = {"TS", "ts.csv", 2, {{NULL, {NULL}}}},
    [HF] = {"HF", "hf.csv", 2, {{NULL, {NULL}}}},
    [DS] = {"DS", "ds.csv", 2, {{NULL, {NULL}}}},
    [LS] = {"LS",
            "ls.csv",
            3,
            {{"age", {"young", "pre-presbyopic", "presbyopic"}},
             {"tear_production_rate", {"reduced", "normal"}}}},
};

/* ---- What the specification measured (its section 17) ------------------------------------------- */

#define NONE    (-1.0) /* the method has no result on this table */
#define PAPER   COF_VARIANT_PAPER
#define AUTHORS COF_VARIANT_AUTHORS

typedef struct reference_mean {
    double mean, deviation; /* over its runs, rounded to 0.001 and 0.01 */
} reference_mean;

enum { REFERENCE_RUNS = 1000, REFERENCE_RUNS_NS = 60 };

typedef struct reference_row {
    const char *method;
    int32_t variant;
    reference_mean ca[N_REFERENCE_TABLES];
} reference_row;

/* Columns HR CE AC VT CS SB, NS ZO TS HF DS LS. */
/* clang-format off */
static const reference_row reference_ca[] = {
    {"kmodes", PAPER, {{.383, .02}, {.365, .04}, {.740, .09}, {.861, .01}, {.570, .05}, {.793, .15},
        {.331, .04}, {.691, .10}, {.663, .10}, {.555, .04}, {.669, .08}, {.529, .08}}},
    {"lsm", PAPER, {{.384, .02}, {.351, .04}, {.764, .08}, {.868, .01}, {.582, .06}, {.797, .16},
        {.311, .04}, {.688, .10}, {.648, .09}, {.555, .04}, {.669, .08}, {.545, .09}}},
    {"jdm", PAPER, {{.384, .02}, {.351, .04}, {.673, .10}, {.868, .01}, {.587, .06}, {.805, .15},
        {.304, .03}, {.721, .09}, {.679, .10}, {.551, .03}, {.709, .10}, {.545, .09}}},
    {"jdm:full", PAPER, {{.384, .02}, {.351, .04}, {.673, .10}, {.871, .00}, {.587, .06}, {.812, .16},
        {.304, .03}, {.714, .10}, {.648, .11}, {.551, .03}, {.709, .10}, {.545, .09}}},
    {"cbdm", PAPER, {{.393, .04}, {NONE, 0}, {.705, .10}, {.874, .00}, {.574, .04}, {.820, .16},
        {NONE, 0}, {.713, .10}, {.669, .09}, {.552, .02}, {.635, .09}, {NONE, 0}}},
    {"ocil", PAPER, {{.374, .05}, {.373, .06}, {.747, .13}, {.876, .01}, {.592, .05}, {.875, .16},
        {.317, .06}, {.715, .09}, {.656, .09}, {.542, .03}, {.675, .12}, {.550, .09}}},
    {"udm", PAPER, {{.381, .02}, {.351, .04}, {.765, .08}, {.865, .01}, {.605, .04}, {.810, .16},
        {.312, .04}, {.715, .10}, {.674, .10}, {.545, .03}, {.657, .10}, {.545, .09}}},
    {"dlc", PAPER, {{.427, .04}, {.374, .04}, {.737, .14}, {.869, .06}, {.609, .05}, {.830, .16},
        {.318, .05}, {.708, .09}, {.686, .09}, {.542, .03}, {.675, .12}, {.557, .09}}},
    {"dlc:fixed", PAPER, {{.422, .05}, {.369, .04}, {.737, .14}, {.870, .06}, {.608, .05}, {.829, .16},
        {.319, .05}, {.707, .09}, {.685, .09}, {.542, .03}, {.675, .12}, {.557, .09}}},
    {"h2h", PAPER, {{.334, .00}, {.385, .09}, {.781, .06}, {.871, .03}, {.606, .01}, {.956, .10},
        {.311, .04}, {.706, .05}, {.573, .03}, {.567, .06}, {.623, .04}, {.537, .08}}},
    {"hdc", PAPER, {{.391, .03}, {.365, .04}, {.721, .10}, {.873, .01}, {.582, .05}, {.821, .17},
        {.331, .04}, {.717, .10}, {.678, .08}, {.546, .02}, {.659, .10}, {.529, .08}}},
    {"hdc:ndw", PAPER, {{.412, .05}, {.371, .05}, {.726, .12}, {.866, .01}, {.611, .05}, {.818, .16},
        {.310, .06}, {.734, .09}, {.672, .07}, {.554, .01}, {.665, .11}, {.532, .10}}},
    {"adc", PAPER, {{.387, .03}, {.365, .04}, {.728, .12}, {.871, .00}, {.581, .05}, {.826, .17},
        {.331, .04}, {.717, .10}, {.662, .09}, {.546, .03}, {.667, .10}, {.529, .08}}},
    {"coforest", AUTHORS, {{.412, .05}, {.385, .06}, {.777, .11}, {.876, .01}, {.611, .05}, {.847, .16},
        {.301, .06}, {.705, .10}, {.648, .10}, {.553, .02}, {.685, .11}, {.552, .10}}},
    {"coforest", PAPER, {{.420, .05}, {.370, .05}, {.763, .12}, {.876, .01}, {.602, .05}, {.835, .16},
        {.305, .07}, {.719, .10}, {.654, .09}, {.553, .02}, {.685, .11}, {.524, .10}}},
    {"cof1", AUTHORS, {{.400, .04}, {.375, .05}, {.774, .11}, {.875, .01}, {.607, .05}, {.846, .16},
        {.300, .06}, {.705, .10}, {.648, .10}, {.552, .03}, {.685, .11}, {.552, .10}}},
    {"cof2", AUTHORS, {{.441, .05}, {.381, .05}, {.780, .10}, {.879, .01}, {.592, .05}, {.857, .16},
        {.314, .06}, {.707, .10}, {.651, .10}, {.552, .03}, {.685, .11}, {.551, .10}}},
    {"cof3", AUTHORS, {{.401, .04}, {.381, .06}, {.774, .11}, {.875, .01}, {.607, .05}, {.847, .16},
        {.302, .04}, {.704, .10}, {.648, .10}, {.552, .03}, {.685, .11}, {.552, .10}}},
    {"cof4", AUTHORS, {{.352, .03}, {.375, .05}, {.776, .08}, {.876, .00}, {.638, .04}, {.859, .16},
        {.314, .05}, {.687, .10}, {.653, .08}, {.546, .03}, {.644, .10}, {.562, .09}}},
};
/* clang-format on */

typedef struct reference_index {
    double ari, nmi; /* means of the same runs; NONE: no result */
} reference_index;

typedef struct reference_index_row {
    const char *method;
    int32_t variant;
    reference_index of[N_REFERENCE_TABLES];
} reference_index_row;

/* clang-format off */
static const reference_index_row reference_indices[] = {
    {"kmodes", PAPER, {{-.004, .013}, {.022, .046}, {.259, .224}, {.520, .449}, {.015, .036}, {.692, .809},
        {.046, .056}, {.637, .759}, {-.002, .008}, {.002, .002}, {.133, .149}, {.078, .213}}},
    {"lsm", PAPER, {{-.003, .011}, {.030, .060}, {.302, .251}, {.542, .475}, {.029, .043}, {.715, .824},
        {.046, .058}, {.644, .773}, {.000, .007}, {.002, .002}, {.133, .149}, {.112, .264}}},
    {"jdm", PAPER, {{-.003, .011}, {.030, .060}, {.161, .129}, {.542, .476}, {.033, .047}, {.723, .826},
        {.033, .047}, {.669, .780}, {.009, .007}, {.003, .002}, {.208, .221}, {.112, .264}}},
    {"cbdm", PAPER, {{.001, .015}, {NONE, 0}, {.207, .163}, {.559, .491}, {.017, .026}, {.762, .866},
        {NONE, 0}, {.668, .789}, {.006, .008}, {.001, .001}, {.097, .100}, {NONE, 0}}},
    {"ocil", PAPER, {{-.004, .011}, {.053, .116}, {.311, .265}, {.564, .497}, {.031, .045}, {.844, .912},
        {.069, .105}, {.660, .792}, {.000, .010}, {.002, .002}, {.175, .177}, {.113, .261}}},
    {"udm", PAPER, {{-.004, .010}, {.030, .060}, {.305, .238}, {.534, .463}, {.040, .057}, {.747, .853},
        {.047, .059}, {.672, .790}, {.009, .008}, {.001, .002}, {.128, .137}, {.112, .264}}},
    {"dlc", PAPER, {{.032, .046}, {.067, .139}, {.297, .247}, {.553, .483}, {.043, .058}, {.781, .877},
        {.064, .100}, {.656, .793}, {.002, .008}, {.002, .002}, {.175, .177}, {.126, .283}}},
    {"h2h", PAPER, {{-.015, .000}, {.035, .081}, {.326, .252}, {.551, .484}, {.033, .037}, {.928, .957},
        {.031, .057}, {.653, .837}, {-.025, .009}, {-.003, .001}, {.059, .063}, {.102, .255}}},
    {"hdc", PAPER, {{-.001, .012}, {.022, .046}, {.230, .181}, {.557, .489}, {.024, .037}, {.769, .876},
        {.046, .056}, {.677, .792}, {-.001, .007}, {.000, .001}, {.129, .137}, {.078, .213}}},
    {"adc", PAPER, {{-.001, .013}, {.022, .046}, {.260, .213}, {.550, .484}, {.024, .038}, {.774, .879},
        {.046, .056}, {.676, .802}, {-.002, .008}, {.001, .002}, {.140, .148}, {.078, .213}}},
    {"coforest", AUTHORS, {{.018, .033}, {.054, .115}, {.352, .291}, {.565, .490}, {.046, .058}, {.812, .896},
        {.049, .079}, {.661, .802}, {-.000, .008}, {.003, .002}, {.175, .190}, {.130, .288}}},
};
/* clang-format on */

/* ---- Running ------------------------------------------------------------------------------------- */

/* A method on a table, opened once. Every start has its own seeds, the same for all methods. */
typedef struct reference_run {
    const cof_table *table;
    const int32_t *classes;
    cof_fit_options o;
    const cofi_method *method;
    cofi_problem problem;
    cofi_rows *rows;
    cofi_fit fit;
    void *state;
    int32_t *labels; /* of the last start, one per row of the table */
} reference_run;

/* The folder of the data: COFOREST_DATA, or the one beside the source tree. */
static inline void reference_path(char *path, size_t size, const char *source_dir, const char *file)
{
    const char *folder = getenv("COFOREST_DATA");
    if (folder != NULL && folder[0] != '\0')
        snprintf(path, size, "%s/%s", folder, file);
    else
        snprintf(path, size, "%s/../shared/data/%s", source_dir, file);
}

/* Reads the table and sets its class column and orders. `classes` gets one id a row, to be freed. */
static inline cof_status reference_read(const reference_table *which, const char *source_dir, cof_table **out,
                                        int32_t **classes, cof_error *err)
{
    char path[4096];
    reference_path(path, sizeof path, source_dir, which->file);
    cof_status status = cof_table_read(NULL, path, NULL, out, err);
    if (status != COF_OK) return status;
    size_t class_column = cof_table_find(*out, "class"), n = cof_table_n_rows(*out);
    status = cof_table_set_role(*out, class_column, COF_ROLE_LABEL, err);
    for (const reference_order *order = which->order; order->column != NULL && status == COF_OK; order++) {
        size_t n_values = 0;
        while (n_values < 6 && order->value[n_values] != NULL) n_values++;
        status = cof_table_set_order(*out, cof_table_find(*out, order->column), order->value, n_values, err);
    }
    *classes = malloc(n * sizeof **classes);
    if (*classes == NULL) status = COF_ERR_MEMORY;
    for (size_t i = 0; i < n && *classes != NULL; i++)
        (*classes)[i] = (int32_t)cof_table_code(*out, i, class_column);
    return status;
}

static inline cof_status reference_open(reference_run *run, const cof_table *table, const int32_t *classes,
                                        uint32_t k, const char *method, int32_t variant, uint32_t threads,
                                        cof_error *err)
{
    memset(run, 0, sizeof *run);
    run->table = table;
    run->classes = classes;
    run->method = cofi_method_find(method);
    run->o = (cof_fit_options){.struct_size = sizeof run->o,
                               .k = k,
                               .restarts = 1,
                               .variant = variant,
                               .init = COF_INIT_RANDOM,
                               .threads = threads,
                               .max_passes = 51,
                               .max_rebuilds = 51,
                               .method = method};
    bool fold = (run->method->flags & COFI_METHOD_ROW_BY_ROW) == 0;
    cof_status status =
        cofi_rows_open(table, &run->o, (cofi_opening){.fold = fold}, &run->problem, &run->rows, err);
    if (status == COF_OK) status = cofi_fit_open(run->rows, run->method, &run->o, &run->fit, err);
    if (status == COF_OK && run->method->open != NULL)
        status = run->method->open(&run->fit, &run->state, err);
    run->labels = malloc(cof_table_n_rows(table) * sizeof *run->labels);
    return status == COF_OK && run->labels == NULL ? COF_ERR_MEMORY : status;
}

static inline void reference_close(reference_run *run)
{
    cofi_fit_close(&run->fit);
    cofi_rows_close(run->rows);
    cofi_problem_close(&run->problem);
    free(run->labels);
}

/* One start: labels, and how well they match the classes. */
static inline cof_status reference_start(reference_run *run, uint32_t start, cof_indices *scores,
                                         cof_error *err)
{
    cofi_fit *fit = &run->fit;
    fit->log.n_passes = fit->log.rebuild = 0;
    fit->log.n_history = 0;
    cofi_rng_seed(&fit->rng, 20240, start);
    cofi_partition_forget(&fit->partition);
    cof_status status = cofi_start_of(run->o.init)->run(fit, NULL, err); /* without a state */
    if (status == COF_OK) status = run->method->run(fit, run->state, err);
    size_t n = cof_table_n_rows(run->table);
    if (status == COF_OK) status = cofi_partition_labels(&fit->partition, NULL, n, run->labels, err);
    if (status != COF_OK) return status;
    scores->struct_size = sizeof *scores;
    return cof_evaluate(NULL, run->labels, run->classes, n, scores, err);
}

/* Mean and deviation of an index, added up run by run. */
typedef struct reference_sum {
    double n, sum, squares;
} reference_sum;

static inline void reference_add(reference_sum *s, double x)
{
    s->n++;
    s->sum += x;
    s->squares += x * x;
}

static inline double reference_mean_of(const reference_sum *s)
{
    return s->sum / s->n;
}

static inline double reference_deviation_of(const reference_sum *s)
{
    double mean = s->sum / s->n, square = s->squares / s->n - mean * mean;
    return square > 0 ? sqrt(square * s->n / (s->n - 1)) : 0;
}

/* How many standard errors of both sides our mean is away, rounding of the printed numbers forgiven. */
static inline double reference_z(const reference_sum *ours, const reference_mean *theirs, double their_runs)
{
    double difference = fabs(reference_mean_of(ours) - theirs->mean) - 0.0005;
    double mine = reference_deviation_of(ours), yours = theirs->deviation + 0.005;
    double error = sqrt(mine * mine / ours->n + yours * yours / their_runs);
    if (difference <= 0) return 0;
    return (reference_mean_of(ours) > theirs->mean ? 1 : -1) * difference / error;
}

#endif
