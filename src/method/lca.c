/* The latent class model: within a class, attributes are independent. Fitted by EM from the start's partition. */
#include "../fit/mixture.h"
#include "methods.h"

#include <math.h>

enum { MOST_ROUNDS = 500 };
#define STEADY 1e-9 /* relative gain in what EM raises that ends it */

static cof_status run(cofi_engine *e, void *state, cof_error *err)
{
    cofi_mixture *s = state;
    const cofi_problem *p = e->problem;
    double before = -INFINITY, log_likelihood = NAN;
    cof_status status = cofi_settle_kmodes(e, err);
    e->stop = e->stopped ? COF_STOP_STOPPED : COF_STOP_CAP;
    cofi_mixture_begin(e, s);
    for (uint32_t round = 0; status == COF_OK && round < MOST_ROUNDS && !e->stopped; round++) {
        log_likelihood = cofi_mixture_expect(e, s);
        double now = log_likelihood + cofi_mixture_smoothing(e, s);
        e->objective = -now;
        e->n_passes++;
        status = cofi_engine_record(e, 0, err);
        if (now - before <= STEADY * fabs(now)) {
            e->stop = COF_STOP_CONVERGED;
            break;
        }
        before = now;
        cofi_mixture_maximise(e, s);
        e->stopped = cofi_should_stop(&e->env);
        if (e->stopped) e->stop = COF_STOP_STOPPED;
    }
    cofi_mixture_scores(e, s);
    cofi_engine_pass(e, COF_PHASE_FIT);
    e->mixture = log_likelihood;
    e->bic = cofi_mixture_parameters(e) * log((double)p->total_weight / p->unit) - 2 * log_likelihood;
    return status;
}

static cof_status lca_open(cofi_engine *e, void **state, cof_error *err)
{
    cofi_mixture *mixture = NULL;
    cof_status status = cofi_mixture_open(e, SIZE_MAX, &mixture, err);
    *state = mixture;
    return status;
}

static void lca_close(cofi_engine *e, void *state)
{
    cofi_mixture_close(e, state);
}

const cofi_method cofi_method_lca = {"lca", "latent class model, by EM", 0, lca_open, run, lca_close, NULL};
