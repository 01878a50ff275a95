/* The latent class model: within a class, attributes are independent. It is fitted by EM from the start's
 * partition. */
#include "../fit/loops.h"
#include "../core/real.h"
#include "../fit/method.h"
#include "../fit/mixture.h"

#include <math.h>

enum { MOST_ROUNDS = 500 };
#define STEADY 1e-9 /* EM ends if the relative gain of its objective is below this */

typedef struct lca {
    cofi_mixture *mixture;
    double log_likelihood; /* log-likelihood of the mixture at the end of the last restart */
} lca;

/* Runs EM until its objective, the log-likelihood plus the smoothing, no longer grows. */
static cof_status run_em(cofi_fit *fit, lca *s, cof_error *err)
{
    cofi_log *log = &fit->log;
    double before = -INFINITY;
    cofi_mixture_begin(fit, s->mixture);
    for (uint32_t round = 0; round < MOST_ROUNDS && !log->stopped; round++) {
        COFI_TRY(cofi_mixture_expect(fit, s->mixture, &s->log_likelihood, err));
        double now = s->log_likelihood + cofi_mixture_smoothing(fit, s->mixture);
        log->objective = -now;
        log->n_passes++;
        COFI_TRY(cofi_log_record(&fit->host, log, 0, err));
        if (now - before <= STEADY * fabs(now)) {
            log->stop = COF_STOP_CONVERGED;
            return COF_OK;
        }
        before = now;
        cofi_mixture_maximise(fit, s->mixture);
        if (cofi_log_stopped(&fit->host, log)) log->stop = COF_STOP_STOPPED;
    }
    return COF_OK;
}

static cof_status run(cofi_fit *fit, void *state, cof_error *err)
{
    lca *s = state;
    uint64_t moved;
    COFI_TRY(cofi_settle_kmodes(fit, err));
    fit->log.stop = fit->log.stopped ? COF_STOP_STOPPED : COF_STOP_CAP;
    s->log_likelihood = NAN;
    COFI_TRY(run_em(fit, s, err));
    cofi_mixture_scores(fit, s->mixture);
    return cofi_fit_pass(fit, COF_PHASE_FIT, &moved, err);
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
                                     .tell = tell};
