/* Other partitions that are nearly as good as the kept one and clearly differ from it. Where the criteria whose
 * product decides prefer different partitions, the table has more than one reasonable reading. */
#include "alternatives.h"

#include "../core/real.h"

#include <math.h>

enum { N_GAINS = 3 };
/* Two partitions are the same reading from that adjusted Rand index on, by which halves of a table agree on a number of
 * clusters as well (docs/quality.md). */
#define SAME_READING 0.8
/* The geometric mean of the gains over those of the kept restart, as for a good restart in agreement.c. */
#define NEARLY 0.9

static double gain_of(const cofi_gains *g, int which)
{
    return which == 0 ? g->likelihood : which == 1 ? g->beside_tree : g->tightness;
}

static bool is_candidate(const cof_restart_record *record, const cofi_gains *g)
{
    return record->stop_reason != COF_STOP_STOPPED && g->n_empty == 0 && g->likelihood > 0 &&
           g->beside_tree > 0 && g->tightness > 0;
}

/* The restart with the greatest gain of one kind; of equals the first. COFI_NONE: no restart gains anything. */
static uint32_t best_by(const cof_restart_record *record, const cofi_gains *gains, uint32_t n, int which)
{
    uint32_t best = COFI_NONE;
    for (uint32_t r = 0; r < n; r++) {
        if (!is_candidate(&record[r], &gains[r])) continue;
        if (best == COFI_NONE || cofi_clearly_larger(gain_of(&gains[r], which), gain_of(&gains[best], which)))
            best = r;
    }
    return best;
}

static cof_status is_new(const cofi_host *host, const cofi_agreement *a,
                         const cofi_alternatives *alternatives, uint32_t restart, bool *new_reading,
                         cof_error *err)
{
    *new_reading = true;
    for (uint32_t p = 0; p < alternatives->n && *new_reading; p++) {
        double ari = 1;
        COFI_TRY(cofi_agreement_of_pair(host, a, alternatives->restart[p], restart, &ari, err));
        *new_reading = ari < SAME_READING;
    }
    return COF_OK;
}

cof_status cofi_alternatives_find(const cofi_host *host, const cofi_agreement *agreement,
                                  const cof_restart_record *record, const cofi_gains *gains,
                                  uint32_t n_records, uint32_t kept, const double *ari,
                                  cofi_alternatives *alternatives, cof_error *err)
{
    uint32_t best[N_GAINS];
    double near[N_GAINS];
    *alternatives = (cofi_alternatives){.n = 0};
    if (ari == NULL || !is_candidate(&record[kept], &gains[kept])) return COF_OK;
    for (int which = 0; which < N_GAINS; which++) {
        uint32_t r = best[which] = best_by(record, gains, n_records, which);
        double product = 1;
        for (int gain = 0; gain < N_GAINS; gain++)
            product *= gain_of(&gains[r], gain) / gain_of(&gains[kept], gain);
        near[which] = ari[r] < SAME_READING ? cofi_exp(cofi_ln(product) / N_GAINS) : 0;
    }
    while (alternatives->n < COFI_MOST_ALTERNATIVES) {
        int next = 0;
        bool new_reading = false;
        for (int which = 1; which < N_GAINS; which++)
            if (near[which] > near[next]) next = which;
        if (near[next] < NEARLY) return COF_OK;
        COFI_TRY(is_new(host, agreement, alternatives, best[next], &new_reading, err));
        if (new_reading) alternatives->restart[alternatives->n++] = best[next];
        near[next] = 0;
    }
    return COF_OK;
}
