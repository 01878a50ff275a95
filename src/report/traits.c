/* What a partition says, from the model's counts alone: the values that mark a cluster, and how much each
 * attribute tells about it. */
#include "../model/model.h"
#include "../core/real.h"

#include <math.h>
#include <stdio.h>

static const double LEAST_EVIDENCE = 6.6; /* chi-square with one degree of freedom, 1 in 100 */
/* Where it is frequent: a rarer value characterises nothing. In a column of more than 8 values none may be frequent; there it
 * is twice the share that equally frequent values have. */
static const double LEAST_SHARE = 0.25, LEAST_VALUES = 2;

/* o ln(o / e), whose limit at 0 is 0 */
static double term(double o, double e)
{
    return o > 0 && e > 0 ? o * cofi_ln(o / e) : 0;
}

/* G = 2 sum o ln(o/e) over the four cells of "in the cluster" against "has the value". */
static double evidence_of(const cof_trait *t)
{
    double rest = t->all - t->cluster, elsewhere = t->anywhere - t->here;
    double p = t->anywhere / t->all;
    return 2 * (term(t->here, t->cluster * p) + term(t->cluster - t->here, t->cluster * (1 - p)) +
                term(elsewhere, rest * p) + term(rest - elsewhere, rest * (1 - p)));
}

/* One attribute: its rows by cluster, and those of one value. */
typedef struct study {
    cofi_blocks own;
    const cof_model *model;
    size_t attribute;
    uint32_t k, n_values;
    double *in_cluster; /* k: rows that have a value; under "ignore" some have none */
    double *here;       /* k: rows with the value looked at */
    double all;         /* sum of in_cluster */
    double least_share; /* that a value needs in a cluster to characterise it */
} study;

static cof_status open_study(study *s, const cof_model *model, cof_error *err)
{
    *s = (study){.model = model, .k = model->k, .own = {.env = model->env}};
    s->in_cluster = cofi_blocks_add(&s->own, model->k, 2 * sizeof *s->in_cluster);
    if (s->in_cluster != NULL) s->here = s->in_cluster + model->k;
    return cofi_blocks_status(&s->own, err);
}

static double sum(const double *x, uint32_t n)
{
    double total = 0;
    for (uint32_t i = 0; i < n; i++) total += x[i];
    return total;
}

/* False if the attribute has nothing to tell. */
static bool look_at(study *s, size_t attribute)
{
    const cofi_model_attr *a = &s->model->attr[attribute];
    if (!a->used) return false;
    s->attribute = attribute;
    s->n_values = a->n_values;
    for (uint32_t j = 0; j < s->k; j++) s->in_cluster[j] = 0;
    for (uint32_t v = 0; v < s->n_values; v++)
        for (uint32_t j = 0; j < s->k; j++) s->in_cluster[j] += cof_model_count(s->model, attribute, v, j);
    s->all = sum(s->in_cluster, s->k);
    s->least_share = fmin(LEAST_SHARE, LEAST_VALUES / s->n_values);
    return s->all > 0;
}

/* Rows with the value, everywhere. */
static double look_at_value(study *s, uint32_t value)
{
    for (uint32_t j = 0; j < s->k; j++) s->here[j] = cof_model_count(s->model, s->attribute, value, j);
    return sum(s->here, s->k);
}

/* ---- Traits ---------------------------------------------------------------------------------------- */

typedef struct trait_lists {
    int32_t side;
    size_t most;
    cof_trait *best; /* k x most */
    size_t *n;       /* k */
} trait_lists;

static void keep_best(trait_lists *to, uint32_t j, const cof_trait *t)
{
    cof_trait *best = to->best + j * to->most;
    size_t at = to->n[j];
    while (at > 0 && best[at - 1].evidence < t->evidence) at--;
    if (at == to->most) return;
    size_t last = to->n[j] < to->most ? to->n[j] : to->most - 1;
    memmove(best + at + 1, best + at, (last - at) * sizeof *t);
    best[at] = *t;
    to->n[j] = last + 1;
}

/* Keeps a trait if it is frequent enough and there is evidence for it. */
static void weigh(trait_lists *to, uint32_t j, double least_share, cof_trait *t)
{
    double here = t->here * t->all, usual = t->anywhere * t->cluster;
    bool marks = to->side == COF_TRAIT_MORE ? t->here >= least_share * t->cluster && here > usual
                                            : t->anywhere >= LEAST_SHARE * t->all && here < usual;
    if (!(t->cluster > 0) || !marks) return;
    t->evidence = evidence_of(t);
    if (t->evidence >= LEAST_EVIDENCE) keep_best(to, j, t);
}

static void weigh_value(const study *s, uint32_t value, double anywhere, trait_lists *to)
{
    for (uint32_t j = 0; j < s->k; j++) {
        cof_trait t = {.attribute = s->attribute,
                       .value = value,
                       .last = value,
                       .here = s->here[j],
                       .cluster = s->in_cluster[j],
                       .anywhere = anywhere,
                       .all = s->all};
        weigh(to, j, s->least_share, &t);
    }
}

/* Neighbouring bins joined: the run of them in which the cluster has most rows above what the table's shares would give
 * it, or below (Kadane's algorithm: a run that has come to nothing is begun anew). */
static void weigh_bins(study *s, uint32_t n_bins, uint32_t j, trait_lists *to)
{
    cof_trait now = {.attribute = s->attribute, .cluster = s->in_cluster[j], .all = s->all}, best = now;
    double surplus = 0, most = 0, sign = to->side == COF_TRAIT_MORE ? 1 : -1;
    for (uint32_t v = 0; v < n_bins; v++) {
        double anywhere = look_at_value(s, v);
        if (surplus <= 0) {
            surplus = now.here = now.anywhere = 0;
            now.value = v;
        }
        now.last = v;
        now.here += s->here[j];
        now.anywhere += anywhere;
        surplus += sign * (s->here[j] * s->all - anywhere * s->in_cluster[j]);
        if (surplus > most) {
            most = surplus;
            best = now;
        }
    }
    if (most > 0) weigh(to, j, LEAST_SHARE, &best);
}

cof_status cof_model_traits(const cof_model *model, int32_t side, size_t most, cof_trait *traits,
                            size_t *n_traits, cof_error *err)
{
    if (side != COF_TRAIT_MORE && side != COF_TRAIT_LESS)
        return cofi_fail(err, COF_ERR_ARGUMENT, "%d is not a side; take COF_TRAIT_MORE or COF_TRAIT_LESS",
                         side);
    study s;
    trait_lists to = {.side = side, .most = most, .best = traits, .n = n_traits};
    COFI_TRY(open_study(&s, model, err));
    memset(n_traits, 0, model->k * sizeof *n_traits);
    for (size_t r = 0; r < model->n_attrs && most > 0; r++) {
        if (!look_at(&s, r)) continue;
        uint32_t n_bins = model->attr[r].domain.cut != NULL ? model->attr[r].domain.cut->n_edges + 1 : 0;
        for (uint32_t j = 0; n_bins > 0 && j < s.k; j++) weigh_bins(&s, n_bins, j, &to);
        for (uint32_t v = n_bins; v < s.n_values; v++) {
            double anywhere = look_at_value(&s, v);
            if (anywhere > 0) weigh_value(&s, v, anywhere, &to);
        }
    }
    cofi_blocks_release(&s.own);
    return COF_OK;
}

/* A bin is named "low..high", or by its only value; a range goes from the low end of the first to the high end of the
 * last. */
const char *cof_trait_text(const cof_model *model, const cof_trait *t, char *text, size_t room)
{
    const char *first = cof_model_value(model, t->attribute, t->value);
    const char *last = cof_model_value(model, t->attribute, t->last);
    if (first == NULL || last == NULL) first = last = "";
    if (t->value == t->last) {
        snprintf(text, room, "%s", first);
        return text;
    }
    const char *end = strstr(first, ".."), *begin = strstr(last, "..");
    snprintf(text, room, "%.*s..%s", (int)(end != NULL ? (size_t)(end - first) : strlen(first)), first,
             begin != NULL ? begin + 2 : last);
    return text;
}

/* ---- Importance ------------------------------------------------------------------------------------ */

/* Mutual information over the clusters' entropy. An attribute of many values seems to tell something
 * by chance alone, (values - 1)(clusters - 1) / 2n nats of it; that is taken off. */
static double share_told(const study *s, double information, uint32_t n_met)
{
    uint32_t filled = 0;
    double h = 0; /* entropy of the clusters in nats */
    for (uint32_t j = 0; j < s->k; j++) {
        filled += s->in_cluster[j] > 0;
        h -= term(s->in_cluster[j], s->all) / s->all;
    }
    double chance = n_met > 0 && filled > 0 ? (n_met - 1.0) * (filled - 1.0) / (2 * s->all) : 0;
    return h > 0 && information > chance ? (information - chance) / h : 0;
}

cof_status cof_model_importance(const cof_model *model, double *importance, size_t n_attributes,
                                cof_error *err)
{
    if (n_attributes != model->n_attrs)
        return cofi_fail(err, COF_ERR_ARGUMENT, "room for %zu attributes was given, but the model has %zu",
                         n_attributes, model->n_attrs);
    study s;
    COFI_TRY(open_study(&s, model, err));
    for (size_t r = 0; r < model->n_attrs; r++) {
        double information = 0;
        uint32_t n_met = 0;
        importance[r] = 0;
        if (!look_at(&s, r)) continue;
        for (uint32_t v = 0; v < s.n_values; v++) {
            double anywhere = look_at_value(&s, v);
            n_met += anywhere > 0;
            for (uint32_t j = 0; j < s.k; j++)
                information += term(s.here[j], anywhere * s.in_cluster[j] / s.all) / s.all;
        }
        importance[r] = share_told(&s, information, n_met);
    }
    cofi_blocks_release(&s.own);
    return COF_OK;
}
