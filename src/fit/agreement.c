/* Agreement between restarts on evenly spaced rows: 65,536 rows give the index to about three digits for
 * any table size. */
#include "agreement.h"

#include "../score/contingency.h"
#include "../score/overlap.h"
#include "criterion.h"

enum { MOST_ROWS = 1 << 16, MOST_PAIR_ROWS = 2048, MOST_LABELS = 1 << 24, MOST_CLUSTERS = 1024 };
#define GOOD_GAIN 0.9

cof_status cofi_agreement_open(cofi_blocks *own, uint32_t restarts, uint64_t n, cofi_agreement *a,
                               cof_error *err)
{
    size_t most = MOST_LABELS / restarts;
    *a = (cofi_agreement){.n_rows = n < MOST_ROWS ? (size_t)n : MOST_ROWS};
    if (a->n_rows > most) a->n_rows = most;
    if (restarts == 1) a->n_rows = 0;
    if (a->n_rows == 0) return COF_OK;
    a->label = cofi_blocks_add(own, restarts * a->n_rows, sizeof *a->label);
    a->at = cofi_blocks_add(own, restarts, sizeof *a->at);
    COFI_TRY(cofi_blocks_status(own, err));
    for (uint32_t r = 0; r < restarts; r++) a->at[r] = r;
    return COF_OK;
}

static int32_t *labels_of(const cofi_agreement *a, uint32_t record)
{
    return a->label + (size_t)a->at[record] * a->n_rows;
}

cof_status cofi_agreement_note(const cofi_partition *p, cofi_agreement *a, uint32_t record, cof_error *err)
{
    if (a->n_rows == 0) return COF_OK;
    return cofi_partition_labels(p, NULL, a->n_rows, labels_of(a, record), err);
}

void cofi_agreement_repeat(cofi_agreement *a, uint32_t record, uint32_t earlier)
{
    if (a->n_rows > 0) a->at[record] = a->at[earlier];
}

static bool any_labelled(const int32_t *label, size_t n)
{
    for (size_t s = 0; s < n; s++)
        if (label[s] >= 0) return true;
    return false;
}

static cof_status rand_of_pair(const cof_env *env, const int32_t *one, const int32_t *other, size_t n,
                               double *ari, cof_error *err)
{
    cofi_contingency t;
    *ari = 1;
    if (one == other || memcmp(one, other, n * sizeof *one) == 0) return COF_OK;
    cof_status status = cofi_contingency_count(&t, env, one, other, NULL, n, err);
    if (status != COF_OK) return status;
    *ari = cofi_adjusted_rand(&t);
    cofi_contingency_free(&t);
    return COF_OK;
}

/* The first restart with the labels of this one; restarts often repeat an earlier one. */
static uint32_t first_like(const cofi_agreement *a, uint32_t record)
{
    uint32_t first = 0;
    while (a->at[first] != a->at[record]) first++;
    return first;
}

cof_status cofi_agreement_measure(const cofi_host *host, const cofi_agreement *a, uint32_t n_records,
                                  uint32_t kept, double **ari, cof_error *err)
{
    cof_env env = host->env; /* the kept restart is complete, so a request to stop no longer matters */
    env.should_stop = NULL;
    *ari = NULL;
    if (n_records < 2 || a->n_rows == 0) return COF_OK;
    const int32_t *own = labels_of(a, kept);
    if (!any_labelled(own, a->n_rows)) return COF_OK;
    *ari = cofi_alloc(&host->env, n_records, sizeof **ari);
    if (*ari == NULL) return cofi_no_memory(err);
    for (uint32_t r = 0; r < n_records; r++) {
        uint32_t same = first_like(a, r);
        cof_status status = COF_OK;
        if (same < r)
            (*ari)[r] = (*ari)[same];
        else
            status = rand_of_pair(&env, labels_of(a, r), own, a->n_rows, &(*ari)[r], err);
        if (status != COF_OK) {
            cofi_release(&host->env, *ari);
            *ari = NULL;
            return status;
        }
    }
    return COF_OK;
}

cof_status cofi_agreement_of_pair(const cofi_host *host, const cofi_agreement *a, uint32_t one,
                                  uint32_t other, double *ari, cof_error *err)
{
    return rand_of_pair(&host->env, labels_of(a, one), labels_of(a, other), a->n_rows, ari, err);
}

cof_status cofi_agreement_typical(const cofi_host *host, const cofi_agreement *a, uint32_t n_records,
                                  double **mean, cof_error *err)
{
    size_t n = a->n_rows < MOST_PAIR_ROWS ? a->n_rows : MOST_PAIR_ROWS;
    cof_env env = host->env; /* all restarts are complete, so a request to stop no longer matters */
    env.should_stop = NULL;
    *mean = NULL;
    if (n_records < 2 || n == 0 || !any_labelled(labels_of(a, 0), a->n_rows)) return COF_OK;
    int32_t *label = cofi_alloc(&host->env, n_records * n, sizeof *label); /* of evenly spaced rows */
    for (uint32_t r = 0; label != NULL && r < n_records; r++)
        for (size_t s = 0; s < n; s++)
            label[r * n + s] = labels_of(a, r)[cofi_stretch_begin(s, n, a->n_rows)];
    *mean = cofi_alloc_zero(&host->env, n_records, sizeof **mean);
    cof_status status = label != NULL && *mean != NULL ? COF_OK : cofi_no_memory(err);
    for (uint32_t r = 1; r < n_records; r++)
        for (uint32_t s = 0; s < r && status == COF_OK; s++) {
            double ari = 0;
            status = rand_of_pair(&env, label + r * n, label + s * n, n, &ari, err);
            (*mean)[r] += ari / (n_records - 1);
            (*mean)[s] += ari / (n_records - 1);
        }
    cofi_release(&host->env, label);
    if (status == COF_OK) return COF_OK;
    cofi_release(&host->env, *mean);
    *mean = NULL;
    return status;
}

static bool is_good(const cof_restart_record *record, const cof_restart_record *kept, double of_one)
{
    double gain = kept->log_likelihood - of_one;
    return gain <= 0 || record->log_likelihood - of_one >= GOOD_GAIN * gain;
}

cof_status cofi_agreement_clusters(const cofi_host *host, const cofi_partition *p, const cofi_agreement *a,
                                   const cof_restart_record *record, uint32_t n_records, uint32_t kept,
                                   double **mean, uint32_t *n_good, cof_error *err)
{
    uint32_t k = p->k;
    double of_one = cofi_log_likelihood_of_one(p);
    *mean = NULL;
    *n_good = 0;
    if (a->n_rows == 0 || k > MOST_CLUSTERS) return COF_OK;
    for (uint32_t r = 0; r < n_records; r++)
        *n_good += r != kept && is_good(&record[r], &record[kept], of_one);
    if (*n_good == 0) return COF_OK;
    uint32_t *table = cofi_alloc(&host->env, (size_t)k * (k + 2), sizeof *table);
    double *overlap = cofi_alloc_zero(&host->env, (size_t)n_records * k, sizeof *overlap);
    *mean = cofi_alloc_zero(&host->env, k, sizeof **mean);
    bool *counted = cofi_alloc_zero(&host->env, n_records, sizeof *counted);
    bool ok = table != NULL && overlap != NULL && counted != NULL && *mean != NULL;
    for (uint32_t r = 0; ok && r < n_records; r++) {
        if (r == kept || !is_good(&record[r], &record[kept], of_one)) continue;
        uint32_t same = first_like(a, r);
        double *own = overlap + (size_t)same * k;
        if (!counted[same])
            cofi_overlap_add(labels_of(a, kept), labels_of(a, same), a->n_rows, k, table, own);
        counted[same] = true;
        for (uint32_t j = 0; j < k; j++) (*mean)[j] += own[j];
    }
    for (uint32_t j = 0; ok && j < k; j++) (*mean)[j] /= *n_good;
    COFI_RELEASE_ALL(&host->env, table, overlap, counted);
    return ok ? COF_OK : cofi_no_memory(err); /* the caller releases *mean in both cases */
}
