/* The default start alternates between two kinds. Even restarts begin with one-hot k-means and are refined by
 * the method; odd restarts begin with farthest-first seeds and are refined by likelihood. Both kinds run a
 * few rounds of EM before they are refined. In a search for the number of clusters, even restarts begin with the
 * partition into one cluster less instead.
 *
 * On a large table, complete restarts run on a sample first. Every row of the table then joins the cluster
 * that is likeliest given the sample's partition. A restart whose partition of the sample equals that of an
 * earlier restart is not run on the table. */
#include "../fit/loops.h"
#include "../fit/mixture.h"
#include "../fit/scores.h"
#include "seeds.h"
#include "split.h"
#include "trials.h"

#include <math.h>

enum { SOFT_ROUNDS = 20, SOFT_ROWS = 4096 };
enum { SAMPLE_ROWS = 8192, SAMPLE_ROWS_OF_CLUSTER = 32, SAMPLE_SOFT_ROWS = 2048 };

/* EM ends when the log-probabilities of cells change by less than this in the mean. */
static const double soft_enough = 1e-4;

/* Rounds of EM on some of the rows. */
typedef struct softening {
    cofi_mixture *mixture;
    cofi_kept *before; /* the partition before EM */
} softening;

typedef struct portfolio {
    cofi_trials *trials; /* NULL: the table is small, or its sample has fewer than k distinct rows */
    bool lent;           /* the trials are those of the first lane */
    cofi_partition sample;
    void *soft; /* for the table itself, if there are no trials */
} portfolio;

static size_t sample_size(uint32_t k)
{
    size_t n = (size_t)SAMPLE_ROWS_OF_CLUSTER * k;
    return n > SAMPLE_ROWS ? n : SAMPLE_ROWS;
}

/* ---- One start, on the table or on a sample of it ------------------------------------------------- */

/* Runs a few rounds of EM. Rows between two clusters then have little weight in either, so the profiles
 * describe the clusters better and the hard loops start from a better partition. If EM empties clusters,
 * its partition is discarded, because k clusters are wanted. */
static cof_status soften(cofi_fit *fit, void *state, cof_error *err)
{
    softening *s = state;
    uint32_t n_empty = cofi_count_empty(&fit->partition);
    double changed = INFINITY;
    uint64_t moved;
    COFI_TRY(cofi_partition_keep(&fit->partition, &s->before, err));
    cofi_mixture_begin(fit, s->mixture);
    for (uint32_t round = 0; round < SOFT_ROUNDS && changed >= soft_enough && !fit->log.stopped; round++) {
        COFI_TRY(cofi_mixture_expect(fit, s->mixture, NULL, err));
        changed = cofi_mixture_maximise(fit, s->mixture);
        cofi_log_stopped(&fit->host, &fit->log);
    }
    cofi_mixture_scores(fit, s->mixture);
    COFI_TRY(cofi_fit_pass(fit, COF_PHASE_START, &moved, err));
    cofi_profile_clear(fit);
    bool emptied = cofi_count_empty(&fit->partition) > n_empty;
    return emptied ? cofi_partition_recall(&fit->partition, s->before, err) : COF_OK;
}

/* A restart that begins with a coarser partition. */
static cof_status start_by_split(cofi_fit *fit, softening *s, cof_error *err)
{
    uint64_t moved;
    fit->log.refiner = COFI_BY_LIKELIHOOD;
    cofi_split_cluster(fit, fit->host.coarser, fit->log.restart / 2);
    COFI_TRY(cofi_fit_pass(fit, COF_PHASE_START, &moved, err));
    cofi_profile_clear(fit);
    return fit->log.stopped ? COF_OK : soften(fit, s, err);
}

/* Draws the seeds of the partition before EM, and chooses what refines it. */
static cof_status draw_seeds(cofi_fit *fit, cof_error *err)
{
    bool apart = fit->log.restart % 2 == 1;
    fit->log.refiner = apart ? COFI_BY_LIKELIHOOD : COFI_BY_METHOD;
    return cofi_seeds_apart(fit, apart ? COFI_FARTHEST : COFI_BY_DISTANCE, err);
}

/* The partition before EM. */
static cof_status make_partition(cofi_fit *fit, cof_error *err)
{
    COFI_TRY(draw_seeds(fit, err));
    return fit->log.restart % 2 == 1 ? cofi_settle_kmodes(fit, err) : cofi_run_kmeans(fit, err);
}

/* ---- The table itself, or the sample of trials ------------------------------------------------------ */

static cof_status open_softening(cofi_fit *fit, size_t n_rows, void **state, cof_error *err)
{
    softening *s = *state = cofi_blocks_add_zero(&fit->own, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    return cofi_mixture_open(fit, n_rows, true, &s->mixture, err);
}

static cof_status trial_open(cofi_fit *fit, void **state, cof_error *err)
{
    return open_softening(fit, SAMPLE_SOFT_ROWS, state, err);
}

static const cofi_trial_start trial_start = {.open = trial_open, .run = make_partition, .improve = soften};

/* ---- The start ------------------------------------------------------------------------------------ */

static void portfolio_close(cofi_fit *fit, void *state)
{
    portfolio *s = state;
    if (s == NULL) return;
    cofi_partition_close(&s->sample);
    if (!s->lent) cofi_trials_close(s->trials);
}

static cof_status portfolio_open(cofi_fit *fit, const void *first, void **state, cof_error *err)
{
    uint32_t k = fit->partition.k;
    portfolio *s = *state = cofi_blocks_add_zero(&fit->own, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    s->lent = first != NULL;
    if (s->lent)
        s->trials = ((const portfolio *)first)->trials;
    else if (fit->problem->n_table_rows > 2 * sample_size(k))
        COFI_TRY(cofi_trials_open(fit, sample_size(k), &s->trials, err));
    if (s->trials == NULL) return open_softening(fit, SOFT_ROWS, &s->soft, err);
    return cofi_partition_open(cofi_trials_rows(s->trials), k, fit->host.team, &s->sample, err);
}

static cof_status portfolio_prepare(cofi_fit *fit, void *state, uint32_t n_lanes, uint32_t *same_as,
                                    cof_error *err)
{
    portfolio *s = state;
    if (s->trials == NULL) return COF_OK;
    return cofi_trials_run(s->trials, &trial_start, fit, n_lanes, same_as, err);
}

static cof_status portfolio_run(cofi_fit *fit, void *state, cof_error *err)
{
    portfolio *s = state;
    uint64_t moved;
    if (s->trials == NULL && fit->log.restart % 2 == 0 && fit->host.coarser != NULL)
        return start_by_split(fit, s->soft, err);
    if (s->trials == NULL) {
        COFI_TRY(draw_seeds(fit, err));
        COFI_TRY(fit->log.restart % 2 == 1 ? cofi_settle_kmodes(fit, err) : cofi_run_kmeans(fit, err));
        return fit->log.stopped ? COF_OK : soften(fit, s->soft, err);
    }
    COFI_TRY(cofi_trials_join(s->trials, fit, &s->sample, err));
    cof_status status = cofi_fit_pass(fit, COF_PHASE_START, &moved, err);
    cofi_profile_clear(fit);
    return status;
}

const cofi_start cofi_start_portfolio = {
    .name = "portfolio",
    .title = "alternates between kmeans and farthest, each with a few steps of EM; kmeans for other methods",
    .open = portfolio_open,
    .prepare = portfolio_prepare,
    .run = portfolio_run,
    .close = portfolio_close};
