/* Everything one fit holds while it runs. */
#ifndef COFI_ENGINE_H
#define COFI_ENGINE_H

#include "../core/rng.h"
#include "../core/tie.h"
#include "../forest/forest.h"
#include "../pass/pass.h"
#include "problem.h"

typedef struct cofi_engine {
    cof_env env;
    const cofi_problem *problem;
    cof_fit_options o; /* every member filled in */
    cofi_team *team;
    cofi_pass pass;
    cofi_forest forest;
    double *profile; /* p(v|C_j), [g][stride]; an emptied cluster keeps the last one it had */
    uint8_t *alive;  /* k: the cluster has a profile, so rows may join it */
    cofi_scores scores;
    double *trace;    /* authors' variant: d(u,v) of attributes with few values, to add up in their order */
    size_t *trace_at; /* per attribute: where its o x o block begins, SIZE_MAX: none */
    cofi_rng rng;
    uint32_t *seed;   /* k rows the restart began with */
    uint32_t *mode;   /* k x n_attrs values: the seeds' cells, then whatever the method makes of them */
    bool stopped;     /* the host said so */
    cof_stop stop;    /* how the restart ended */
    double objective; /* of the last pass */
    double mixture;   /* log-likelihood of a mixture, NaN for other methods */
    double bic;       /* and what it says with the parameters counted in */
    uint32_t restart, rebuild, n_passes; /* where it stands, for progress and history */
    bool scouted;                        /* the method finds its starts itself */
    uint32_t same_as; /* an earlier restart that this one would only repeat, COFI_NONE: none */
    cof_pass_record *history;
    size_t n_history, history_capacity;
    double began_s, start_s, pass_s, forest_s;
} cofi_engine;

cof_status cofi_engine_open(const cofi_problem *problem, const cof_fit_options *options, cofi_engine *engine,
                            cof_error *err);
void cofi_engine_close(cofi_engine *engine); /* fine after a failed open */

/* One timed pass with the current scores; tells the host. Returns the rows moved. */
uint64_t cofi_engine_pass(cofi_engine *engine, cof_phase phase);

/* The portfolio takes turns: a k-means start for COForest, then rows far apart for the likelihood. */
static inline bool cofi_in_portfolio(const cofi_engine *e)
{
    return e->o.init == COF_INIT_PORTFOLIO && e->o.init_rows == NULL;
}
static inline bool cofi_by_likelihood(const cofi_engine *e)
{
    return cofi_in_portfolio(e) && e->restart % 2 == 1;
}

/* Clusters without rows. */
static inline uint32_t cofi_count_empty(const cofi_engine *e)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < e->o.k; j++) n += e->pass.size[j] == 0;
    return n;
}

/* The cluster of a row of the table, -1 where it was dropped. */
static inline int32_t cofi_table_label(const cofi_engine *e, size_t row)
{
    const cofi_problem *p = e->problem;
    if (p->dropped != NULL && p->dropped[row]) return -1;
    return e->pass.label[p->group != NULL ? p->group[row] : row];
}

/* After a pass of any kind: how the restart stands, in engine->stop and engine->stopped; *done once nothing moved
 * or the host said stop. */
void cofi_engine_judge(cofi_engine *engine, uint64_t moved, bool *done);
/* Adds a pass to the history. */
cof_status cofi_engine_record(cofi_engine *engine, uint64_t moved, cof_error *err);
/* How often each value occurs, summed row weights per flat id. */
void cofi_value_totals(const cofi_engine *engine, uint64_t *total);

/* seeds.c: k different rows, cluster j from seed[j]. */
cof_status cofi_seeds_choose(cofi_engine *engine, uint32_t *seed, cof_error *err);

/* start.c: seeds and modes; for the k-means start also a partition, left in engine->pass. */
cof_status cofi_begin(cofi_engine *engine, cof_error *err);
void cofi_modes_from_seeds(cofi_engine *engine);
cof_status cofi_settle_kmodes(cofi_engine *engine,
                              cof_error *err);              /* a partition from the modes, if there is none */
cof_status cofi_start(cofi_engine *engine, cof_error *err); /* both: the start of the paper */

/* scores.c */
void cofi_profile_clear(cofi_engine *engine);  /* no cluster has one */
void cofi_profile_update(cofi_engine *engine); /* from the counts of every cluster that has rows */
void cofi_scores_open(cofi_engine *engine, double largest_sum); /* scale and base for scores made by hand */
int64_t cofi_fixed_point(double score, double scale);
void cofi_scores_onehot(cofi_engine *engine);
void cofi_scores_trace(cofi_engine *engine);
void cofi_scores_likelihood(cofi_engine *engine); /* every cluster can take rows, an empty one too */
void cofi_trace_from(const cofi_forest *forest, size_t attr, uint32_t u, double *d); /* d(u, v) for every v */
void cofi_trace_distances(cofi_engine *engine); /* after every new forest */

/* criterion.c */
double cofi_objective(const cofi_engine *engine);
double cofi_log_likelihood(const cofi_engine *engine);
double cofi_log_likelihood_of_one(const cofi_engine *engine); /* of all rows in one cluster */
double cofi_criterion(const cofi_engine *engine);             /* what --select says: larger is better */
double cofi_criterion_given(const cofi_engine *engine,
                            double log_likelihood); /* where that is known already */

#endif
