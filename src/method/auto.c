/* Finds the number of clusters: tries every k with few restarts, goes down from the likeliest to the first on which the halves
 * of the table agree nearly as well as on any smaller number, and fits that one as if it had been given. The likelihood
 * takes attributes as independent inside a cluster, so it splits clusters in which they are not. Therefore partitions are
 * compared together with their trees of dependent attributes (fit/dependence.h); splits that such a tree does not prevent
 * often differ between halves. docs/quality.md says how this was chosen. */
#include "../core/rng.h"
#include "../fit/criterion.h"
#include "../model/model.h"
#include "../score/contingency.h"
#include "../table/table.h"
#include "methods.h"

#include <math.h>

enum { SEARCH_RESTARTS = 6, HALF_RESTARTS = 10 };
/* With more rows than this, one split of the table into halves says as much as several. */
enum { ONE_SPLIT_ROWS = 16384 };
#define NEARLY 0.85 /* halves agree nearly as well from this share of the best agreement on */

typedef struct search {
    const cof_table *table;
    cof_model *model; /* the likeliest so far */
    cof_model *last;  /* of the number tried last */
    cof_fit_info info;
    cof_k_record *curve;
    double *tree; /* per number tried: what a tree of dependent attributes adds to the log-likelihood */
    size_t n, best, room;
    double end_s; /* when the time is up; 0: never */
    uint32_t k_max;
} search;

static bool is_cut_short(const cof_fit_info *info)
{
    return info->stop_reason == COF_STOP_STOPPED || info->stop_reason == COF_STOP_TIME;
}

static bool is_time_up(const search *s)
{
    return s->end_s > 0 && cofi_now_s() >= s->end_s;
}

/* One fit within the time that is left. */
static cof_status fit_within(const search *s, cof_fit_options o, cofi_fit_hints hints, cof_model **model,
                             cof_fit_info *info, cof_error *err)
{
    if (s->end_s > 0) o.time_limit_s = fmax(s->end_s - cofi_now_s(), 1e-6);
    *info = (cof_fit_info){.struct_size = sizeof *info};
    hints.most_k = s->k_max; /* where rows cannot be asked about so many clusters, the search is not begun */
    return cofi_fit_table(s->table, &o, hints, model, info, err);
}

static uint32_t at_most(uint32_t restarts, uint32_t limit)
{
    return restarts == 0 || restarts > limit ? limit : restarts;
}

static double likeliest(const cof_model *model)
{
    size_t n = 0;
    const cof_restart_record *record = cof_model_restarts(model, &n);
    double most = record[0].log_likelihood;
    for (size_t i = 1; i < n; i++) most = record[i].log_likelihood > most ? record[i].log_likelihood : most;
    return most;
}

static bool make_room(search *s)
{
    if (s->n < s->room) return true;
    size_t room = 2 * s->room + 16;
    cof_k_record *grown = cofi_regrow(&s->table->env, s->curve, s->n, room, sizeof *grown);
    if (grown == NULL) return false;
    s->curve = grown;
    double *tree = cofi_regrow(&s->table->env, s->tree, s->n, room, sizeof *tree);
    if (tree == NULL) return false;
    s->tree = tree;
    s->room = room;
    return true;
}

static void add_times(cof_fit_info *to, const cof_fit_info *more)
{
    to->prepare_s += more->prepare_s;
    to->start_s += more->start_s;
    to->pass_s += more->pass_s;
    to->forest_s += more->forest_s;
    to->fit_s += more->fit_s;
    to->row_visits += more->row_visits;
}

/* Frees the model of the last number, unless it is the likeliest. */
static void drop_last(search *s)
{
    if (s->last != s->model) cof_model_free(s->last);
    s->last = NULL;
}

static void set_model(search *s, cof_model *model)
{
    drop_last(s);
    cof_model_free(s->model);
    s->model = model;
}

/* Takes ownership of the model. */
static void keep_better(search *s, cof_model *model, const cof_fit_info *info)
{
    double merit = likeliest(model);
    cof_fit_info spent = s->info;
    if (s->n == 0 || merit > s->curve[s->best].log_likelihood) {
        set_model(s, model);
        s->best = s->n;
        s->info = *info;
        add_times(&s->info, &spent);
    } else {
        drop_last(s);
        add_times(&s->info, info);
    }
    s->last = model;
    if (is_cut_short(info)) s->info.stop_reason = info->stop_reason;
    s->curve[s->n++] = (cof_k_record){.k = cof_model_k(model), .log_likelihood = merit, .agreement = NAN};
}

static cof_status try_k(search *s, const cof_fit_options *o, cof_error *err)
{
    cof_model *model = NULL;
    cof_fit_info info;
    cofi_coarser last = {0};
    if (s->last != NULL) last = (cofi_coarser){s->last->k, s->last->count, s->last->size};
    if (!make_room(s)) return cofi_no_memory(err);
    cofi_fit_hints hints = {.coarser = s->last != NULL ? &last : NULL, .tree = &s->tree[s->n]};
    COFI_TRY(fit_within(s, *o, hints, &model, &info, err));
    keep_better(s, model, &info);
    return COF_OK;
}

static cof_status check(const cof_table *table, const cof_fit_options *o, uint32_t k_min, uint32_t k_max,
                        cof_error *err)
{
    if (k_max < k_min)
        return cofi_fail(err, COF_ERR_ARGUMENT, "the range of k from %u to %u is empty", k_min, k_max);
    if (k_max > COF_MOST_CLUSTERS)
        return cofi_fail(err, COF_ERR_ARGUMENT, "the largest k is %u; it can be at most %d", k_max,
                         COF_MOST_CLUSTERS);
    if (o->init_rows != NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "the initial rows set the number of clusters, so it cannot be chosen as well");
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->column[c].role == COF_ROLE_NUMERIC)
            return cofi_fail(err, COF_ERR_NO_RESULT,
                             "the number of clusters can be chosen for categories only, but column '%s' is "
                             "numeric; leave it out, or give the number of clusters",
                             table->column[c].name);
    return COF_OK;
}

/* No number above that of the distinct rows is tried. Which restart of a number is best matters only for the number that is
 * kept; here its greatest likelihood is enough. */
static cof_status try_all(search *s, cof_fit_options o, uint32_t k_min, uint32_t k_max, bool open_ended,
                          cof_error *err)
{
    uint32_t restarts = at_most(o.restarts, SEARCH_RESTARTS);
    o.select = COF_SELECT_LIKELIHOOD;
    o.no_alternatives = 1;
    for (uint32_t i = 0; i <= k_max - k_min; i++) {
        uint64_t n_distinct = s->info.n_distinct_rows;
        o.k = k_min + i;
        if (n_distinct > 0 && o.k > n_distinct) return COF_OK;
        o.restarts = o.k == 1 ? 1 : restarts; /* all restarts give the same single cluster */
        COFI_TRY(try_k(s, &o, err));
        if (is_cut_short(&s->info)) return COF_OK;
        if (is_time_up(s)) s->info.stop_reason = COF_STOP_TIME;
        if (is_time_up(s) || (open_ended && s->n > s->best + COF_AUTO_STALE)) return COF_OK;
    }
    return COF_OK;
}

/* Whether a wider range might hold a likelier number. */
static bool lies_at_edge(const search *s)
{
    const cof_k_record *likeliest = s->curve, *last = s->curve + s->n - 1;
    for (const cof_k_record *r = s->curve; r <= last; r++)
        if (r->log_likelihood > likeliest->log_likelihood) likeliest = r;
    bool wider = s->info.n_distinct_rows == 0 || last->k < s->info.n_distinct_rows;
    return (likeliest == last && last->k > 1 && wider) || (likeliest == s->curve && likeliest->k > 2);
}

/* ---- Agreement between halves ---------------------------------------------------------------------- */

/* Adjusted Rand index of the labels of all rows by two models. */
static cof_status compare_labels(const search *s, cof_model *const model[2], double *ari, cof_error *err)
{
    cof_indices scores = {.struct_size = sizeof scores};
    cofi_remembered of[2];
    uint32_t k[2];
    uint64_t *count;
    cofi_contingency table;
    for (int half = 0; half < 2; half++) {
        const cof_model *m = model[half];
        of[half] = (cofi_remembered){m->label, m->n_labels, m->label_request, m->n_label_request};
        k[half] = m->k;
    }
    COFI_TRY(cofi_rows_agree(s->table, &of[0], k[0], &of[1], k[1], &count, err));
    cof_status status = cofi_contingency_from_counts(&table, &s->table->env, count, k[0], k[1], 0,
                                                     count[(size_t)k[0] * k[1]], err);
    cofi_release(&s->table->env, count);
    if (status == COF_OK) status = cofi_contingency_score(&table, s->table->n_rows, &scores, err);
    *ari = scores.ari;
    return status;
}

/* Adjusted Rand index of all rows' labels by the two halves of one split. */
static cof_status compare_halves(search *s, cof_fit_options o, uint64_t split, double *ari, cof_error *err)
{
    cof_model *model[2] = {NULL, NULL};
    cof_status status = COF_OK;
    for (uint32_t half = 0; half < 2 && status == COF_OK; half++) {
        cof_fit_info info;
        cofi_fit_hints hints = {.half = 1 + 2 * (uint32_t)split + half};
        status = fit_within(s, o, hints, &model[half], &info, err);
        if (status != COF_OK) continue;
        add_times(&s->info, &info);
        if (is_cut_short(&info)) s->info.stop_reason = info.stop_reason;
    }
    if (status == COF_OK) status = compare_labels(s, model, ari, err);
    for (int half = 0; half < 2; half++) cof_model_free(model[half]);
    return status;
}

/* How far the halves agree on a number of clusters: over all splits, or over those that were needed to tell that it is less
 * than the limit. It stays unknown if a half has fewer distinct rows. */
static cof_status measure_agreement(search *s, const cof_fit_options *o, cof_k_record *record, double limit,
                                    cof_error *err)
{
    cof_fit_options few = *o;
    uint64_t n_splits = s->table->n_rows > ONE_SPLIT_ROWS ? 1 : COFI_N_SPLITS;
    double sum = 0;
    cof_status status = COF_OK;
    few.no_alternatives = 1;
    few.k = record->k;
    few.restarts = at_most(few.restarts, HALF_RESTARTS);
    for (uint64_t split = 0; split < n_splits && status == COF_OK; split++) {
        double ari = 0;
        status = compare_halves(s, few, split, &ari, err);
        sum += ari;
        if (status == COF_OK) record->agreement = sum / (double)(split + 1);
        /* Even if the halves of all splits left agreed fully, would the mean reach the limit? */
        if (sum + (double)(n_splits - 1 - split) < limit * (double)n_splits) break;
    }
    return status != COF_ERR_FEW_ROWS ? status : COF_OK;
}

static bool is_candidate(const search *s, size_t at)
{
    return s->curve[at].k > 1 && s->curve[at].log_likelihood > s->info.log_likelihood_of_one;
}

/* The likeliest of the numbers whose partition and tree together are likeliest, up to what trees gain by chance; of equals
 * the least. If none is likelier than one cluster, the likeliest of all. */
static size_t likeliest_with_tree(const search *s)
{
    double most = -INFINITY, chance = cofi_gain_by_chance(s->model->n_attrs);
    size_t best = s->n;
    /* Where the likeliest clusters are those of equal rows, a tree that predicts one column from another says as much. */
    if (s->curve[s->best].k == s->info.n_distinct_rows) return s->best;
    for (size_t at = 0; at < s->n; at++)
        if (is_candidate(s, at)) most = fmax(most, s->curve[at].log_likelihood + s->tree[at]);
    for (size_t at = 0; at < s->n; at++) {
        if (!is_candidate(s, at) || s->curve[at].log_likelihood + s->tree[at] < most - chance) continue;
        if (best == s->n || s->curve[at].log_likelihood > s->curve[best].log_likelihood) best = at;
    }
    return best < s->n ? best : s->best;
}

/* Chooses, from the likeliest number downward, the first on which the halves agree nearly as well as on any smaller one; if
 * they agree on none at all, the likeliest. Stops measuring when the choice is certain. */
static cof_status prefer_agreed(search *s, const cof_fit_options *o, cof_error *err)
{
    size_t likeliest = s->best = likeliest_with_tree(s);
    double most = 0;
    for (size_t at = likeliest + 1; at-- > 0;) {
        if (!is_candidate(s, at)) continue;
        COFI_TRY(measure_agreement(s, o, &s->curve[at], NEARLY * most, err));
        if (is_time_up(s)) s->info.stop_reason = COF_STOP_TIME;
        if (is_cut_short(&s->info)) return COF_OK;
        if (s->curve[at].agreement > most) most = s->curve[at].agreement;
        if (most <= 0) continue;
        for (s->best = likeliest; !(s->curve[s->best].agreement >= NEARLY * most);) s->best--;
        if (s->curve[s->best].agreement >= NEARLY) return COF_OK;
    }
    return COF_OK;
}

/* Fits the chosen number with all restarts. */
static cof_status fit_chosen(search *s, cof_fit_options o, cof_error *err)
{
    cof_model *model = NULL;
    cof_fit_info info, spent = s->info;
    cof_k_record *chosen = &s->curve[s->best];
    o.k = chosen->k;
    if (o.k == 1) o.restarts = 1;
    COFI_TRY(fit_within(s, o, (cofi_fit_hints){0}, &model, &info, err));
    chosen->log_likelihood = fmax(chosen->log_likelihood, likeliest(model));
    set_model(s, model);
    s->info = info;
    add_times(&s->info, &spent);
    return COF_OK;
}

static cof_status choose(search *s, const cof_fit_options *o, uint32_t keep, cof_error *err)
{
    cof_fit_options own = *o;
    COFI_TRY(prefer_agreed(s, o, err));
    own.keep = keep;
    return is_cut_short(&s->info) ? COF_OK : fit_chosen(s, own, err);
}

/* The search may end because there are too few distinct rows or because the host asked to stop; what was found before is
 * kept. */
static cof_status end_early(search *s, cof_status status)
{
    if (s->n == 0 || (status != COF_ERR_FEW_ROWS && status != COF_ERR_STOPPED)) return status;
    if (status == COF_ERR_STOPPED) s->info.stop_reason = COF_STOP_STOPPED;
    return COF_OK;
}

cof_status cof_fit_auto(const cof_table *table, const cof_fit_options *options, uint32_t k_min,
                        uint32_t k_max, cof_model **out, cof_fit_info *info, cof_error *err)
{
    cof_fit_options o;
    search s = {.table = table};
    bool open_ended = k_max == 0, at_edge = false;
    COFI_COPY_OPTIONS(&o, options);
    o.struct_size = sizeof o;
    uint32_t keep = o.keep;
    o.keep = 0;
    if (o.time_limit_s > 0) s.end_s = cofi_now_s() + o.time_limit_s;
    if (k_min == 0) k_min = 1;
    if (open_ended)
        k_max = k_min <= COF_MOST_CLUSTERS - COF_AUTO_MOST ? k_min + COF_AUTO_MOST - 1 : COF_MOST_CLUSTERS;
    cof_status status = check(table, &o, k_min, k_max, err);
    s.k_max = k_max;
    if (status == COF_OK) status = end_early(&s, try_all(&s, o, k_min, k_max, open_ended, err));
    if (status == COF_OK && !is_cut_short(&s.info)) {
        at_edge = lies_at_edge(&s);
        status = end_early(&s, choose(&s, &o, keep, err));
    }
    drop_last(&s);
    if (status == COF_OK) status = cofi_model_set_k_curve(s.model, s.curve, s.n, err);
    COFI_RELEASE_ALL(&table->env, s.curve, s.tree);
    if (status != COF_OK) {
        cof_model_free(s.model);
        return status;
    }
    s.model->k_at_edge = at_edge;
    if (info != NULL) cofi_return_struct(info, &s.info, sizeof s.info);
    *out = s.model;
    return COF_OK;
}
