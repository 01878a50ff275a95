/* What a partition says, from the model's counts alone. */
#include "insight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_EVIDENCE = 6.6; /* chi-square with one degree of freedom, 1 in 100 */
static const double LEAST_SHARE = 0.25;   /* of the cluster: a rarer value does not characterise it */

/* o ln(o / e), whose limit at 0 is 0 */
static double term(double o, double e)
{
    return o > 0 && e > 0 ? o * log(o / e) : 0;
}

/* G = 2 sum o ln(o/e) over the four cells of "in the cluster" against "has the value". */
static double evidence_of(const trait *t)
{
    double rest = t->all - t->cluster, elsewhere = t->anywhere - t->here;
    double p = t->anywhere / t->all;
    return 2 * (term(t->here, t->cluster * p) + term(t->cluster - t->here, t->cluster * (1 - p)) +
                term(elsewhere, rest * p) + term(rest - elsewhere, rest * (1 - p)));
}

static void keep_best(traits *list, const trait *t)
{
    size_t at = list->n;
    while (at > 0 && list->best[at - 1].evidence < t->evidence) at--;
    if (at == MAX_TRAITS) return;
    size_t last = list->n < MAX_TRAITS ? list->n : MAX_TRAITS - 1;
    memmove(list->best + at + 1, list->best + at, (last - at) * sizeof *t);
    list->best[at] = *t;
    list->n = last + 1;
}

static double sum(const double *x, uint32_t n)
{
    double total = 0;
    for (uint32_t i = 0; i < n; i++) total += x[i];
    return total;
}

/* Rows of each cluster that have a value of the attribute; under "ignore" some have none. */
static void count_rows(const cof_model *model, size_t attribute, uint32_t n_values, double *in_cluster)
{
    uint32_t k = cof_model_k(model);
    for (uint32_t j = 0; j < k; j++) in_cluster[j] = 0;
    for (uint32_t v = 0; v < n_values; v++)
        for (uint32_t j = 0; j < k; j++) in_cluster[j] += cof_model_count(model, attribute, v, j);
}

static void weigh_value(const trait *shared, const double *here, const double *in_cluster, uint32_t k,
                        insight *out)
{
    for (uint32_t j = 0; j < k; j++) {
        trait t = *shared;
        t.here = here[j];
        t.cluster = in_cluster[j];
        if (t.cluster <= 0 || t.here < LEAST_SHARE * t.cluster || t.here * t.all <= t.anywhere * t.cluster)
            continue;
        t.evidence = evidence_of(&t);
        if (t.evidence >= LEAST_EVIDENCE) keep_best(&out->of_cluster[j], &t);
    }
}

/* Entropy of the clusters in nats. */
static double entropy(const double *in_cluster, uint32_t k, double all)
{
    double h = 0;
    for (uint32_t j = 0; j < k; j++) h -= term(in_cluster[j], all) / all;
    return h;
}

/* Mutual information over the clusters' entropy. An attribute of many values seems to tell something
 * by chance alone, (values - 1)(clusters - 1) / 2n nats of it; that is taken off. */
static double share_told(double information, const double *in_cluster, uint32_t k, double all, uint32_t n_met)
{
    uint32_t filled = 0;
    for (uint32_t j = 0; j < k; j++) filled += in_cluster[j] > 0;
    double h = entropy(in_cluster, k, all);
    double chance = n_met > 0 && filled > 0 ? (n_met - 1.0) * (filled - 1.0) / (2 * all) : 0;
    return h > 0 && information > chance ? (information - chance) / h : 0;
}

static void study_attribute(const cof_model *model, size_t attribute, double *here, double *in_cluster,
                            insight *out)
{
    cof_attribute about;
    uint32_t k = cof_model_k(model), n_met = 0;
    double information = 0;
    if (cof_model_attribute(model, attribute, &about) != COF_OK || !about.used) return;
    count_rows(model, attribute, about.n_values, in_cluster);
    double all = sum(in_cluster, k);
    for (uint32_t v = 0; v < about.n_values && all > 0; v++) {
        for (uint32_t j = 0; j < k; j++) here[j] = cof_model_count(model, attribute, v, j);
        trait shared = {.attribute = attribute, .value = v, .anywhere = sum(here, k), .all = all};
        if (shared.anywhere <= 0) continue;
        n_met++;
        for (uint32_t j = 0; j < k; j++)
            information += term(here[j], shared.anywhere * in_cluster[j] / all) / all;
        weigh_value(&shared, here, in_cluster, k, out);
    }
    if (all > 0) out->tells[attribute] = share_told(information, in_cluster, k, all, n_met);
}

cof_status insight_find(const cof_model *model, insight *out)
{
    uint32_t k = cof_model_k(model);
    size_t n = cof_model_n_attributes(model);
    double *work = calloc(2 * (size_t)k + 1, sizeof *work);
    *out = (insight){.of_cluster = calloc(k + 1, sizeof *out->of_cluster),
                     .tells = calloc(n + 1, sizeof *out->tells)};
    if (work == NULL || out->of_cluster == NULL || out->tells == NULL) {
        insight_free(out);
        free(work);
        return COF_ERR_MEMORY;
    }
    for (size_t r = 0; r < n; r++) study_attribute(model, r, work, work + k, out);
    free(work);
    return COF_OK;
}

void insight_free(insight *out)
{
    free(out->of_cluster);
    free(out->tells);
    *out = (insight){.tells = NULL};
}

size_t insight_rank(const cof_model *model, const insight *in, uint32_t min_values, uint32_t max_values,
                    size_t most, size_t *attribute)
{
    size_t n = 0;
    for (size_t r = 0; r < cof_model_n_attributes(model); r++) {
        cof_attribute about;
        if (cof_model_attribute(model, r, &about) != COF_OK || !about.used) continue;
        if (about.n_values < min_values || about.n_values > max_values) continue;
        if (in->tells[r] <= 0) continue;
        size_t at = n;
        while (at > 0 && in->tells[attribute[at - 1]] < in->tells[r]) at--;
        if (at == most) continue;
        size_t last = n < most ? n : most - 1;
        memmove(attribute + at + 1, attribute + at, (last - at) * sizeof *attribute);
        attribute[at] = r;
        n = last + 1;
    }
    return n;
}
