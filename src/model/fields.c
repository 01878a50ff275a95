/* The fields of a result, described once: JSON, the manual and the language bindings are made from this
 * table.
 *
 * A field is a member of cof_fit_info or of a record, found by its offset, or the result of a function. */
#include "words.h"
#include "model.h"

#include <math.h>
#include <stddef.h>

typedef struct source {
    cof_field field;
    uint16_t offset, size; /* offset and size of the member; size 0: `get` returns the value */
    const cof_word *
        words; /* that the value may be; of a member, they stand for its numbers. NULL: it is no enumeration */
    cof_field_value (*get)(const cof_model *m, const cof_fit_info *info, size_t at);
    /* whether the field exists; NULL: always */
    bool (*has)(const cof_model *m, const cof_fit_info *info);
} source;

static const cof_word stops[] = {[COF_STOP_CONVERGED] = {"converged", "the partition stayed the same"},
                                 [COF_STOP_CYCLE] = {"cycle", "an earlier partition came back"},
                                 [COF_STOP_CAP] = {"cap", "a limit of passes or rebuilds was reached"},
                                 [COF_STOP_STOPPED] = {"stopped", "the run was interrupted"},
                                 [COF_STOP_TIME] = {"time", "the time limit was reached"},
                                 {NULL, NULL}};
static const cof_word refiners[] = {
    [COF_REFINED_BY_METHOD] = {"coforest", "every row is in the nearest cluster along the trees"},
    [COF_REFINED_BY_LIKELIHOOD] = {"likelihood", "every row is in its likeliest cluster"},
    {NULL, NULL}};

static const char *word_of(const cof_word *words, int32_t number)
{
    return number < 0 ? NULL : cofi_words_at(words, (size_t)number).name;
}

/* ---- Computed values --------------------------------------------------------------------------------- */

static cof_field_value text_value(const char *text)
{
    return (cof_field_value){.known = text != NULL, .text = text};
}

static cof_field_value count_value(uint64_t count)
{
    return (cof_field_value){.known = 1, .count = count};
}

static cof_field_value real_value(double real)
{
    return (cof_field_value){.known = !isnan(real), .real = real};
}

#define GETTER(name, value)                                                                                  \
    static cof_field_value get_##name(const cof_model *m, const cof_fit_info *info, size_t at)               \
    {                                                                                                        \
        (void)m, (void)info, (void)at;                                                                       \
        return value;                                                                                        \
    }

GETTER(method, text_value(m->method))
/* COForest and its ablations have variants. */
GETTER(variant,
       text_value(strncmp(m->method, "cof", 3) == 0 ? word_of(cofi_variant_words, m->variant) : NULL))
GETTER(refined_by, text_value(word_of(refiners, m->refined_by)))
GETTER(other_refined_by, text_value(word_of(refiners, m->alternative[at].model->refined_by)))
GETTER(nearer_other, real_value(m->nearer_other))
GETTER(k, count_value(m->k))
GETTER(n_rows, count_value(info->n_rows + info->n_dropped))
GETTER(missing, text_value(word_of(cofi_missing_words, m->missing)))
GETTER(size, real_value(m->size[at]))
GETTER(class_share, real_value(cof_model_class_share(m, (uint32_t)at)))
GETTER(structure_found,
       ((cof_field_value){.known = 1, .count = info->log_likelihood > info->log_likelihood_of_one}))
GETTER(k_at_edge, count_value(m->k_at_edge))
GETTER(k_instead, ((cof_field_value){.known = info->k_instead > 0, .count = info->k_instead}))
GETTER(agreement, real_value(cof_model_mean_agreement(m)))
GETTER(n_good, count_value(m->n_good))
GETTER(cluster_agreement, real_value(m->cluster_agreement[at]))
GETTER(restart_agreement, m->agreement != NULL ? real_value(m->agreement[at]) : (cof_field_value){.known = 0})
GETTER(n_distinct, ((cof_field_value){.known = info->n_distinct_rows > 0, .count = info->n_distinct_rows}))
GETTER(runner_up,
       ((cof_field_value){.known = cof_model_k_runner_up(m) > 0, .count = cof_model_k_runner_up(m)}))

#define CONDITION(name, holds)                                                                               \
    static bool has_##name(const cof_model *m, const cof_fit_info *info)                                     \
    {                                                                                                        \
        (void)m, (void)info;                                                                                 \
        return holds;                                                                                        \
    }

CONDITION(info, info != NULL)
CONDITION(refiner, strcmp(m->method, "coforest") == 0)
CONDITION(nearer_other, !isnan(m->nearer_other))
CONDITION(one, info != NULL && !isnan(info->log_likelihood_of_one))
CONDITION(no_structure, has_one(m, info) && m->k > 1 && info->log_likelihood <= info->log_likelihood_of_one)
CONDITION(mixture, info != NULL && !isnan(info->bic))
CONDITION(posterior, info != NULL && !isnan(info->icl))
CONDITION(agreement, m->agreement != NULL && m->n_restarts > 1)
CONDITION(cluster_agreement, m->cluster_agreement != NULL)
CONDITION(alternatives, m->n_alternatives > 0)
CONDITION(k_curve, m->k_curve != NULL)
CONDITION(cells, info != NULL && !isnan(info->df))
CONDITION(classes, strcmp(m->method, "lca") == 0)
CONDITION(gamma, info != NULL && !isnan(info->gamma))

/* ---- The table ----------------------------------------------------------------------------------------- */

#define MEMBER(type, name) .offset = offsetof(type, name), .size = sizeof((type *)0)->name
#define INFO(name)         MEMBER(cof_fit_info, name), .has = has_info
#define RESTART(name)      MEMBER(cof_restart_record, name)
#define CURVE(name)        MEMBER(cof_k_record, name)
#define OTHER(name)        MEMBER(cof_alternative, name)
#define PASS(name)         MEMBER(cof_pass_record, name)

enum { COUNT = COF_FIELD_COUNT, INDEX = COF_FIELD_INDEX, REAL = COF_FIELD_REAL, TEXT = COF_FIELD_TEXT };
enum { FLAG = COF_FIELD_FLAG, OBJECT = COF_FIELD_OBJECT, RECORDS = COF_FIELD_RECORDS };

/* clang-format off */
static const source sources[] = {
    {{"method", NULL, TEXT, 0, "the method"}, .get = get_method},
    {{"variant", NULL, TEXT, 0, "how attributes were scaled; null for methods without variants"},
     .get = get_variant, .words = cofi_variant_words},
    {{"k", NULL, COUNT, 0, "the number of clusters"}, .get = get_k},
    {{"n_rows", NULL, COUNT, 0, "rows of the table"}, .get = get_n_rows, .has = has_info},
    {{"n_distinct_rows", NULL, COUNT, 0, "distinct rows among those clustered; null if they were not counted, because "
      "few rows of a large table seemed to be equal"}, .get = get_n_distinct, .has = has_info},
    {{"n_dropped", NULL, COUNT, 0, "rows left out for missing values"}, INFO(n_dropped)},
    {{"restarts", NULL, COUNT, 0, "restarts planned"}, INFO(restarts)},
    {{"n_restarts", NULL, COUNT, 0, "restarts run to the end"}, INFO(n_restarts)},
    {{"select", NULL, TEXT, 0, "what decided which restart was kept"},
     INFO(select), .words = cofi_select_words},
    {{"missing", NULL, TEXT, 0, "how missing values were treated"}, .get = get_missing,
     .words = cofi_missing_words},
    {{"gamma", NULL, REAL, 0, "weight of a differing category beside the quantities; absent without quantities"},
     MEMBER(cof_fit_info, gamma), .has = has_gamma},
    {{"objective", NULL, REAL, 0, "the method's own objective; smaller is better"}, INFO(objective)},
    {{"log_likelihood", NULL, REAL, 0, "logarithm of the integrated likelihood of the partition; larger is better"},
     INFO(log_likelihood)},
    {{"log_likelihood_of_one", NULL, REAL, 0, "the same with all rows in one cluster; null with numeric columns"},
     INFO(log_likelihood_of_one)},
    {{"structure_found", NULL, FLAG, 0, "whether the partition is likelier than a single cluster; absent with numeric "
      "columns"}, .get = get_structure_found, .has = has_one},
    {{"k_instead", NULL, COUNT, 0, "a number of clusters that is likelier than a single cluster, or null if none was found; "
      "absent if the given k is"}, .get = get_k_instead, .has = has_no_structure},
    {{"k_curve", NULL, RECORDS, 0, "one record for every number of clusters that was tried; absent if k was given"},
     .has = has_k_curve},
    {{"k", "k_curve", COUNT, 0, "the number of clusters"}, CURVE(k)},
    {{"log_likelihood", "k_curve", REAL, 0, "the largest of its restarts"}, CURVE(log_likelihood)},
    {{"agreement", "k_curve", REAL, 0, "agreement of halves of the table, mean adjusted Rand index; null where it was not "
      "measured: it is measured downward from the number that is likeliest where columns may depend on each other"}, CURVE(agreement)},
    {{"k_at_edge", NULL, FLAG, 0, "whether the likeliest number is the least or the greatest that was tried; absent if k was "
      "given"}, .get = get_k_at_edge, .has = has_k_curve},
    {{"k_runner_up", NULL, COUNT, 0, "the likeliest number of clusters apart from k, or null; absent if k was given"},
     .get = get_runner_up, .has = has_k_curve},
    {{"mixture_log_likelihood", NULL, REAL, 0, "log-likelihood of the rows if the clusters are classes of a mixture; "
      "lca, or asked for"}, MEMBER(cof_fit_info, mixture_log_likelihood), .has = has_mixture},
    {{"n_parameters", NULL, REAL, 0, "its free parameters: class shares, and in every class the probabilities of values"},
     MEMBER(cof_fit_info, n_parameters), .has = has_mixture},
    {{"bic", NULL, REAL, 0, "its Bayesian information criterion; smaller is better"}, MEMBER(cof_fit_info, bic),
     .has = has_mixture},
    {{"aic", NULL, REAL, 0, "its Akaike information criterion; smaller is better"}, MEMBER(cof_fit_info, aic),
     .has = has_mixture},
    {{"icl", NULL, REAL, 0, "its integrated completed likelihood: bic plus twice the entropy of the memberships; smaller "
      "is better; where asked for"}, MEMBER(cof_fit_info, icl), .has = has_posterior},
    {{"aic3", NULL, REAL, 0, "as aic with three times the parameters; where asked for"}, MEMBER(cof_fit_info, aic3),
     .has = has_posterior},
    {{"bic_adjusted", NULL, REAL, 0, "as bic with (n + 2) / 24 rows; where asked for"},
     MEMBER(cof_fit_info, bic_adjusted), .has = has_posterior},
    {{"entropy_r_squared", NULL, REAL, 0, "1 less the entropy of the memberships over that of equal ones: 1 where every row "
      "has one class; null for one class; where asked for"}, MEMBER(cof_fit_info, entropy_r_squared), .has = has_posterior},
    {{"g_squared", NULL, REAL, 0, "likelihood ratio of the cells of the table, observed and expected; lca, where asked for"},
     MEMBER(cof_fit_info, g_squared), .has = has_cells},
    {{"x_squared", NULL, REAL, 0, "Pearson's statistic of these cells"}, MEMBER(cof_fit_info, x_squared), .has = has_cells},
    {{"df", NULL, REAL, 0, "their degrees of freedom: the lesser of the rows and the possible cells less one, less the "
      "parameters"}, MEMBER(cof_fit_info, df), .has = has_cells},
    {{"p_g_squared", NULL, REAL, 0, "chance of a g_squared as large if the model holds; null without degrees of freedom"},
     MEMBER(cof_fit_info, p_g_squared), .has = has_cells},
    {{"p_x_squared", NULL, REAL, 0, "the same of x_squared"}, MEMBER(cof_fit_info, p_x_squared), .has = has_cells},
    {{"n_shared", NULL, COUNT, 0, "rows whose largest membership is below 0.8; where asked for"},
     MEMBER(cof_fit_info, n_shared), .has = has_posterior},
    {{"best_restart", NULL, INDEX, 0, "the restart that was kept"}, INFO(best_restart)},
    {{"refined_by", NULL, TEXT, 0, "what the kept restart was refined by; absent for other methods than coforest"},
     .get = get_refined_by, .has = has_refiner, .words = refiners},
    {{"nearer_other", NULL, REAL, 0, "share of the rows that lie nearer to another cluster along the trees; absent unless "
      "the likelihood refined the kept restart"}, .get = get_nearer_other, .has = has_nearer_other},
    {{"agreement", NULL, REAL, 0, "mean adjusted Rand index of the other restarts with the kept one; absent if there was "
      "only one"}, .get = get_agreement, .has = has_agreement},
    {{"n_good_restarts", NULL, COUNT, 0, "other restarts that are nearly as likely as the kept one; absent if there is "
      "none"}, .get = get_n_good, .has = has_cluster_agreement},
    {{"cluster_agreement", NULL, REAL, 1, "for every cluster, the mean overlap (Jaccard) with the most similar cluster of "
      "those restarts"}, .get = get_cluster_agreement, .has = has_cluster_agreement},
    {{"alternatives", NULL, RECORDS, 0, "other partitions that are nearly as good and differ clearly, the best first; absent "
      "if there is none"}, .has = has_alternatives},
    {{"restart", "alternatives", INDEX, 0, "the restart that found it"}, OTHER(restart)},
    {{"keep", "alternatives", COUNT, 0, "the number that makes it the result: --keep"}, OTHER(keep)},
    {{"agreement", "alternatives", REAL, 0, "its adjusted Rand index with the kept partition"}, OTHER(agreement)},
    {{"log_likelihood", "alternatives", REAL, 0, "its log-likelihood"}, OTHER(log_likelihood)},
    {{"refined_by", "alternatives", TEXT, 0, "as above"}, .get = get_other_refined_by},
    {{"rebuilds", NULL, COUNT, 0, "forest rebuilds of the kept restart"}, INFO(rebuilds)},
    {{"passes", NULL, COUNT, 0, "passes over the rows of the kept restart"}, INFO(passes)},
    {{"stop_reason", NULL, TEXT, 0, "why the kept restart ended, or all of them"}, INFO(stop_reason), .words = stops},
    {{"sizes", NULL, REAL, 1, "rows of each cluster; with weights, the sum of their weights"}, .get = get_size},
    {{"n_empty", NULL, COUNT, 0, "clusters without rows"}, INFO(n_empty)},
    {{"class_shares", NULL, REAL, 1, "for lca, the share of all rows that each class has; sizes count the rows whose "
      "likeliest class it is"}, .get = get_class_share, .has = has_classes},
    {{"restart_records", NULL, RECORDS, 0, "one record for every finished restart"}, .size = 0},
    {{"objective", "restart_records", REAL, 0, "its objective"}, RESTART(objective)},
    {{"log_likelihood", "restart_records", REAL, 0, "its log-likelihood"}, RESTART(log_likelihood)},
    {{"rebuilds", "restart_records", COUNT, 0, "its forest rebuilds"}, RESTART(rebuilds)},
    {{"passes", "restart_records", COUNT, 0, "its passes over the rows"}, RESTART(passes)},
    {{"stop_reason", "restart_records", TEXT, 0, "as above"}, RESTART(stop_reason), .words = stops},
    {{"criterion", "restart_records", REAL, 0, "the number that decided which restart was kept; the largest wins"},
     RESTART(criterion)},
    {{"by_likelihood", "restart_records", FLAG, 0, "whether rows went to their likeliest cluster, not to the nearest"},
     RESTART(by_likelihood)},
    {{"agreement", "restart_records", REAL, 0, "its adjusted Rand index with the kept restart"},
     .get = get_restart_agreement, .has = has_agreement},
    {{"history", NULL, RECORDS, 0, "one record for every pass over the rows"}, .size = 0},
    {{"restart", "history", INDEX, 0, "the restart"}, PASS(restart)},
    {{"rebuild", "history", COUNT, 0, "how often the forest had been rebuilt before this pass"}, PASS(rebuild)},
    {{"pass", "history", COUNT, 0, "passes so far in this restart, from 1"}, PASS(pass)},
    {{"objective", "history", REAL, 0, "the objective after the pass; for a restart that is refined by the likelihood, "
      "minus the log-likelihood of its rows"}, PASS(objective)},
    {{"moved", "history", COUNT, 0, "rows that changed their cluster in it"}, PASS(moved)},
    {{"timings", NULL, OBJECT, 0, "seconds"}, .has = has_info},
    {{"prepare_s", "timings", REAL, 0, "numbering values and finding equal rows"}, INFO(prepare_s)},
    {{"start_s", "timings", REAL, 0, "first partitions"}, INFO(start_s)},
    {{"pass_s", "timings", REAL, 0, "passes over the rows"}, INFO(pass_s)},
    {{"forest_s", "timings", REAL, 0, "building trees"}, INFO(forest_s)},
    {{"fit_s", "timings", REAL, 0, "the whole fit"}, INFO(fit_s)},
    {{"row_visits", NULL, COUNT, 0, "rows labelled, over all restarts and passes"}, INFO(row_visits)},
    {{"threads", NULL, COUNT, 0, "threads used"}, INFO(threads)},
    {{"kernel", NULL, TEXT, 0, "the code that labelled the rows"}, INFO(kernel)},
};
/* clang-format on */

enum { N_FIELDS = sizeof sources / sizeof *sources };

const cof_field *cof_result_field(size_t field)
{
    return field < N_FIELDS ? &sources[field].field : NULL;
}

cof_word cof_result_word(size_t field, size_t place)
{
    if (field >= N_FIELDS || sources[field].words == NULL) return (cof_word){NULL, NULL};
    return cofi_words_at(sources[field].words, place);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

/* The records of a list: returns the first, and sets their number and the distance between them in bytes. */
static const void *records_of(const cof_model *m, const char *list, size_t *n, size_t *stride)
{
    const struct {
        const char *key;
        const void *first;
        size_t n, stride;
    } lists[] = {{"k_curve", m->k_curve, m->n_k_curve, sizeof *m->k_curve},
                 {"alternatives", m->alternative, m->n_alternatives, sizeof *m->alternative},
                 {"restart_records", m->restart, m->n_restarts, sizeof *m->restart},
                 {"history", m->history, m->n_history, sizeof *m->history}};
    size_t at = 0;
    while (strcmp(lists[at].key, list) != 0) at++;
    *n = lists[at].n;
    *stride = lists[at].stride;
    return lists[at].first;
}

size_t cof_result_length(const cof_model *m, const cof_fit_info *info, size_t field)
{
    if (field >= N_FIELDS) return 0;
    const source *s = &sources[field];
    size_t n, stride;
    if (s->has != NULL && !s->has(m, info)) return 0;
    if (s->field.per_cluster) return m->k;
    if (s->field.type != RECORDS) return 1;
    records_of(m, s->field.key, &n, &stride);
    return n;
}

static cof_field_value value_at(const source *s, const void *member)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    double real;
    const char *text;
    if (s->field.type == REAL) {
        memcpy(&real, member, sizeof real);
        return real_value(real);
    }
    if (s->field.type == TEXT && s->words == NULL) {
        memcpy(&text, member, sizeof text);
        return text_value(text);
    }
    if (s->size == sizeof wide)
        memcpy(&wide, member, sizeof wide);
    else
        memcpy(&narrow, member, sizeof narrow);
    if (s->words != NULL) return text_value(word_of(s->words, (int32_t)narrow));
    return count_value(s->size == sizeof wide ? wide : narrow);
}

cof_field_value cof_result_value(const cof_model *m, const cof_fit_info *info, size_t field, size_t at)
{
    size_t n = cof_result_length(m, info, field), stride = 0;
    if (n == 0) return (cof_field_value){.known = 0};
    const source *s = &sources[field];
    const char *base = (const char *)info;
    if (s->field.inside != NULL && strcmp(s->field.inside, "timings") != 0)
        base = records_of(m, s->field.inside, &n, &stride);
    if (at >= n) return (cof_field_value){.known = 0};
    if (s->get != NULL) return s->get(m, info, at);
    if (s->size == 0) return (cof_field_value){.known = 0};
    return value_at(s, base + at * stride + s->offset);
}
