/* The default start alternates between two kinds. Even restarts begin with one-hot k-means and are refined by
 * the method; odd restarts begin with farthest-first seeds and are refined by likelihood. Both kinds run a
 * few rounds of EM before they are refined. In a search for the number of clusters, even restarts begin with the
 * partition into one cluster less instead.
 *
 * On a large table, a complete restart runs on a sample first. Every row of the table then joins the
 * cluster that is likeliest given the sample's partition. A restart whose partition of the sample equals
 * that of an earlier restart is not run on the table. */
#include "../fit/loops.h"
#include "../fit/mixture.h"
#include "../fit/scores.h"
#include "seeds.h"
#include "split.h"

enum { SOFT_ROUNDS = 20, SOFT_ROWS = 4096 };
enum { SAMPLE_ROWS = 8192, SAMPLE_ROWS_OF_CLUSTER = 32, SAMPLE_SOFT_ROUNDS = 6, SAMPLE_SOFT_ROWS = 2048 };

/* Rounds of EM on some of the rows. */
typedef struct softening {
    cofi_mixture *mixture;
    cofi_kept *before; /* the partition before EM */
    uint32_t n_rounds;
} softening;

typedef struct sample {
    cofi_problem problem;
    cofi_rows *rows;
    cofi_fit fit;
    void *method_state;
    softening soft;
    /* per restart: hash of the sample's partition, independent of the numbers of the clusters */
    uint64_t *met;
    uint32_t *number; /* k: number of each cluster in order of first appearance */
    int32_t *label;   /* per row of the sample */
} sample;

typedef struct portfolio {
    softening soft; /* for the table itself, if it is small */
    sample *sample; /* NULL: the table is small, or the sample has fewer than k distinct rows */
    bool lent;      /* the sample is that of the first lane */
} portfolio;

static size_t sample_size(uint32_t k)
{
    size_t n = (size_t)SAMPLE_ROWS_OF_CLUSTER * k;
    return n > SAMPLE_ROWS ? n : SAMPLE_ROWS;
}

static bool uses_sample(const cofi_problem *p, uint32_t k)
{
    return p->n_table_rows > 2 * sample_size(k);
}

/* ---- One start, on the table or on a sample of it ------------------------------------------------- */

/* Runs a few rounds of EM. Rows between two clusters then have little weight in either, so the profiles
 * describe the clusters better and the hard loops start from a better partition. If EM empties clusters,
 * its partition is discarded, because k clusters are wanted. */
static cof_status soften(cofi_fit *fit, softening *s, cof_error *err)
{
    uint32_t n_empty = cofi_count_empty(&fit->partition);
    uint64_t moved;
    COFI_TRY(cofi_partition_keep(&fit->partition, &s->before, err));
    cofi_mixture_begin(fit, s->mixture);
    for (uint32_t round = 0; round < s->n_rounds && !fit->log.stopped; round++) {
        COFI_TRY(cofi_mixture_expect(fit, s->mixture, NULL, err));
        cofi_mixture_maximise(fit, s->mixture);
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

static cof_status make_start(cofi_fit *fit, softening *s, cof_error *err)
{
    bool apart = fit->log.restart % 2 == 1;
    if (!apart && fit->host.coarser != NULL) return start_by_split(fit, s, err);
    fit->log.refiner = apart ? COFI_BY_LIKELIHOOD : COFI_BY_METHOD;
    COFI_TRY(cofi_seeds_apart(fit, apart ? COFI_FARTHEST : COFI_BY_DISTANCE, err));
    COFI_TRY(apart ? cofi_settle_kmodes(fit, err) : cofi_run_kmeans(fit, err));
    return fit->log.stopped ? COF_OK : soften(fit, s, err);
}

/* ---- The sample ----------------------------------------------------------------------------------- */

static void close_sample(sample *s)
{
    cofi_fit_close(&s->fit);
    cofi_rows_close(s->rows);
    cofi_problem_close(&s->problem);
}

static cof_status open_on_sample(cofi_fit *fit, size_t n, sample *s, cof_error *err)
{
    s->met = cofi_blocks_add(&fit->own, fit->host.o.restarts, sizeof *s->met);
    s->number = cofi_blocks_add(&fit->own, fit->partition.k, sizeof *s->number);
    s->label = cofi_blocks_add(&fit->own, n, sizeof *s->label);
    COFI_TRY(cofi_blocks_status(&fit->own, err));
    COFI_TRY(cofi_fit_open(s->rows, fit->method, &fit->host.o, &s->fit, err));
    if (fit->method->open != NULL) COFI_TRY(fit->method->open(&s->fit, &s->method_state, err));
    s->fit.host.coarser = fit->host.coarser;
    s->fit.host.env.progress = NULL; /* the host is told only about passes over the table */
    s->soft.n_rounds = SAMPLE_SOFT_ROUNDS;
    return cofi_mixture_open(&s->fit, SAMPLE_SOFT_ROWS, &s->soft.mixture, err);
}

/* *out remains NULL if the sample has fewer than k distinct rows. */
static cof_status open_sample(cofi_fit *fit, size_t n, sample **out, cof_error *err)
{
    cofi_rows *rows = fit->partition.rows;
    sample *s = cofi_blocks_add_zero(&fit->own, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    cof_status status = cofi_rows_sample(rows, n, &s->problem, &s->rows, err);
    bool varied = status == COF_OK && s->problem.n_distinct >= fit->partition.k;
    if (varied) status = open_on_sample(fit, n, s, err);
    if (varied && status == COF_OK)
        *out = s;
    else
        close_sample(s);
    return status;
}

/* The clusters are numbered in order of first appearance, so that equal partitions have equal hashes. */
static cof_status hash_partition(sample *s, uint64_t *hash, cof_error *err)
{
    size_t n = s->problem.n_table_rows;
    uint32_t n_numbered = 0;
    cof_status status = cofi_partition_labels(&s->fit.partition, NULL, n, s->label, err);
    *hash = 0;
    memset(s->number, 0xFF, s->fit.partition.k * sizeof *s->number);
    for (size_t i = 0; status == COF_OK && i < n; i++) {
        uint32_t *number = &s->number[s->label[i]];
        if (*number == COFI_NONE) *number = n_numbered++;
        *hash = cofi_mix64(*hash + *number);
    }
    return status;
}

/* Runs a complete restart on the sample. */
static cof_status run_on_sample(cofi_fit *fit, sample *s, uint32_t *same_as, cof_error *err)
{
    uint32_t restart = fit->log.restart;
    uint64_t visits = s->fit.log.visits;
    s->fit.log.restart = restart;
    s->fit.log.n_history = 0;
    s->fit.rng = fit->rng;
    cofi_blocks_release(&s->fit.scratch);
    cofi_partition_forget(&s->fit.partition);
    cof_status status = make_start(&s->fit, &s->soft, err);
    if (status == COF_OK) status = fit->method->run(&s->fit, s->method_state, err);
    fit->log.visits += s->fit.log.visits - visits;
    fit->log.stopped = s->fit.log.stopped;
    fit->log.refiner = s->fit.log.refiner;
    if (status == COF_OK) status = hash_partition(s, &s->met[restart], err);
    for (uint32_t earlier = restart % 2; status == COF_OK && earlier < restart && !fit->log.stopped;
         earlier += 2)
        if (s->met[earlier] == s->met[restart] && *same_as == COFI_NONE) *same_as = earlier;
    return status;
}

/* ---- The start ------------------------------------------------------------------------------------ */

static void portfolio_close(cofi_fit *fit, void *state)
{
    portfolio *s = state;
    if (s != NULL && s->sample != NULL && !s->lent) close_sample(s->sample);
}

static cof_status portfolio_open(cofi_fit *fit, const void *first, void **state, cof_error *err)
{
    portfolio *s = *state = cofi_blocks_add_zero(&fit->own, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    s->lent = first != NULL;
    if (s->lent)
        s->sample = ((const portfolio *)first)->sample;
    else if (uses_sample(fit->problem, fit->partition.k))
        COFI_TRY(open_sample(fit, sample_size(fit->partition.k), &s->sample, err));
    if (s->sample != NULL) return COF_OK;
    s->soft.n_rounds = SOFT_ROUNDS;
    return cofi_mixture_open(fit, SOFT_ROWS, &s->soft.mixture, err);
}

/* The scores that the sample's partition gives are kept in the fit until `run`. */
static cof_status portfolio_begin(cofi_fit *fit, void *state, uint32_t *same_as, cof_error *err)
{
    portfolio *s = state;
    if (s->sample == NULL) return COF_OK;
    COFI_TRY(run_on_sample(fit, s->sample, same_as, err));
    if (*same_as == COFI_NONE) cofi_scores_likelihood(fit, &s->sample->fit.partition);
    return COF_OK;
}

static cof_status portfolio_run(cofi_fit *fit, void *state, cof_error *err)
{
    portfolio *s = state;
    uint64_t moved;
    if (s->sample == NULL) return make_start(fit, &s->soft, err);
    cof_status status = cofi_fit_pass(fit, COF_PHASE_START, &moved, err);
    cofi_profile_clear(fit);
    return status;
}

const cofi_start cofi_start_portfolio = {
    .name = "portfolio",
    .title = "alternates between kmeans and farthest, each with a few steps of EM; kmeans for other methods",
    .linked = uses_sample,
    .open = portfolio_open,
    .begin = portfolio_begin,
    .run = portfolio_run,
    .close = portfolio_close};
