/* The latent class model: within a class, attributes are independent. It is fitted by EM from the start's partition, or
 * from probabilities. Of the restarts, the one that is kept is polished: EM goes on until nothing changes. */
#include "../fit/loops.h"
#include "../core/real.h"
#include "../fit/method.h"
#include "../fit/mixture.h"

#include <math.h>

enum {
    START_PASSES = 51,    /* of k-modes, before EM */
    MOST_ROUNDS = 500,    /* of EM in a restart */
    MOST_POLISH = 100000, /* further rounds for the kept restart */
    LEAST_POLISH = 500
};
#define POLISH_WORK 1e10 /* cells x classes; fewer further rounds for large tables */
#define STEADY      1e-9 /* a restart ends if the relative gain of its objective is below this */

typedef struct lca {
    cofi_mixture *mixture;
    double log_likelihood; /* log-likelihood of the mixture at the end of the last restart */
} lca;

/* Runs EM until its objective, the log-likelihood plus the smoothing, grows by at most `tolerance`, or by the share
 * `steady` of its size, or until the restart has made `most` passes. The parameters are those of the last E step. */
static cof_status run_em(cofi_fit *fit, lca *s, double before, uint32_t most, double tolerance, double steady,
                         cof_error *err)
{
    cofi_log *log = &fit->log;
    for (;;) {
        COFI_TRY(cofi_mixture_expect(fit, s->mixture, &s->log_likelihood, err));
        double now = s->log_likelihood + cofi_mixture_smoothing(fit, s->mixture), gain = now - before;
        log->objective = 0 - now; /* no negative zero */
        log->n_passes++;
        COFI_TRY(cofi_log_record(&fit->host, log, 0, err));
        log->stop = gain <= fmax(tolerance, steady * fabs(now)) ? COF_STOP_CONVERGED
                    : cofi_log_stopped(&fit->host, log)         ? COF_STOP_STOPPED
                                                                : COF_STOP_CAP;
        if (log->stop != COF_STOP_CAP || log->n_passes >= most) return COF_OK;
        before = now;
        cofi_mixture_maximise(fit, s->mixture);
    }
}

/* Labels every row with its likeliest class. */
static cof_status label_rows(cofi_fit *fit, const lca *s, cof_error *err)
{
    uint32_t n_passes = fit->log.n_passes;
    uint64_t moved;
    cofi_mixture_scores(fit, s->mixture);
    cof_status status = cofi_fit_pass(fit, COF_PHASE_FIT, &moved, err);
    fit->log.n_passes = n_passes; /* it is no round of EM */
    return status;
}

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    lca *s = state;
    cof_fit_options *o = &fit->host.o;
    uint32_t most_passes = o->max_passes;
    if (o->init_probabilities != NULL) {
        cofi_mixture_begin_at(fit, s->mixture);
    } else {
        o->max_passes = most_passes < START_PASSES ? most_passes : START_PASSES;
        cof_status status = cofi_settle_kmodes(fit, err);
        o->max_passes = most_passes;
        if (status != COF_OK) return status;
        cofi_mixture_begin(fit, s->mixture);
        /* Partitions are good starts but few differ; three in four restarts begin anywhere, as other programs do. */
        if (o->init == COF_INIT_KMEANS && o->init_rows == NULL && fit->log.restart % 4 != 0)
            cofi_mixture_begin_anywhere(fit, s->mixture);
    }
    uint32_t most = o->max_rounds > 0 ? o->max_rounds : fit->log.n_passes + MOST_ROUNDS;
    COFI_TRY(run_em(fit, s, -INFINITY, most, o->tolerance, STEADY, err));
    return label_rows(fit, s, err);
}

static uint32_t most_polish(const cofi_problem *p, uint32_t k)
{
    double rounds = POLISH_WORK / ((double)p->n_walked * (double)p->n_attrs * k);
    return (uint32_t)fmax(LEAST_POLISH, fmin(MOST_POLISH, rounds));
}

static cof_status finish(cofi_fit *fit, void *state, bool polish, cof_error *err)
{
    lca *s = state;
    const cof_fit_options *o = &fit->host.o;
    uint32_t n = fit->log.n_passes;
    uint32_t most = o->max_rounds > 0 ? o->max_rounds : n + most_polish(fit->problem, fit->partition.k);
    if (polish && n < most) {
        double before = -fit->log.objective;
        cofi_mixture_maximise(fit, s->mixture);
        COFI_TRY(run_em(fit, s, before, most, o->tolerance, 0, err));
    }
    /* the caller who names a start numbers the classes */
    if (o->init_rows == NULL && o->init_probabilities == NULL) cofi_mixture_sort(fit, s->mixture);
    return label_rows(fit, s, err);
}

static void tell(const cofi_fit *fit, const void *state, cof_fit_info *info)
{
    const lca *s = state;
    double n = (double)fit->problem->total_weight / fit->problem->unit;
    info->mixture_log_likelihood = s->log_likelihood;
    info->n_parameters = cofi_mixture_parameters(fit);
    info->bic = info->n_parameters * cofi_ln(n) - 2 * s->log_likelihood;
    info->aic = 2 * info->n_parameters - 2 * s->log_likelihood;
}

static cof_status lca_open(cofi_fit *fit, void **state, cof_error *err)
{
    lca *s = *state = cofi_blocks_add_zero(&fit->own, 1, sizeof *s);
    return s != NULL ? cofi_mixture_open(fit, SIZE_MAX, false, &s->mixture, err) : cofi_no_memory(err);
}

const cofi_method cofi_method_lca = {.name = "lca",
                                     .title = "latent class model, by EM",
                                     .flags = COFI_METHOD_CLASSES | COFI_METHOD_COST,
                                     .open = lca_open,
                                     .run = run,
                                     .finish = finish,
                                     .tell = tell};
