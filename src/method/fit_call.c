/* The public call cof_fit: finds the method and the start, opens the rows, runs the restarts and makes a
 * model of the best. */
#include "../fit/restarts.h"
#include "../rows/value_order.h"
#include "../model/collect.h"
#include "../start/starts.h"
#include "methods.h"

#include <math.h>

enum { DEFAULT_CAP = 51 };
enum { INSTEAD_ROWS = 1 << 16 }; /* of larger tables no other k is tried where the given one finds nothing */
enum {
    DEFAULT_RESTARTS = 10,
    SMALL_RESTARTS = 20,
    SMALL_ROWS = 4096,     /* a small table has no more than these, */
    SMALL_CELLS = 1 << 20, /* and fewer cells than these */
    MOST_RESTARTS = 100,
    RESTART_WORK = 1 << 21, /* rows x attributes x clusters, over all restarts of a very small table */
    CLUSTER_RESTARTS = 4,   /* per cluster: with more clusters there are more local optima */
    CLUSTER_WORK = 1 << 26  /* limit of rows x attributes x clusters over these restarts */
};

static const cofi_start *start_of(const cof_fit_options *o)
{
    return o->init_rows != NULL ? &cofi_start_given : cofi_start_of(o->init);
}

static cof_status resolve_options(const cof_fit_options *given, cof_fit_options *o, cof_error *err)
{
    COFI_COPY_OPTIONS(o, given);
    if (o->k == 0) return cofi_fail(err, COF_ERR_ARGUMENT, "the number of clusters k must be at least 1");
    COFI_TRY(cofi_fit_options_check(o, err));
    if (o->prior == 0) o->prior = 1;
    if (o->tolerance == 0) o->tolerance = 1e-9;
    if (o->max_rounds == 0) o->max_rounds = o->max_passes;
    if (o->max_rebuilds == 0) o->max_rebuilds = DEFAULT_CAP;
    if (o->max_passes == 0) o->max_passes = DEFAULT_CAP;
    if (start_of(o)->once || o->init_probabilities != NULL)
        o->restarts = 1; /* a deterministic start gives the same result every time */
    const cofi_method *method = cofi_method_find(o->method);
    if (method == NULL) return cofi_fail(err, COF_ERR_ARGUMENT, "there is no method '%s'", o->method);
    if (o->column_weights != NULL && (method->flags & COFI_METHOD_NO_SCORES) != 0)
        return cofi_fail(err, COF_ERR_ARGUMENT, "%s does not add up columns, so columns cannot have weights",
                         method->name);
    if (o->scale == COF_SCALE_AUTO)
        o->scale = (method->flags & COFI_METHOD_STANDARD) != 0 ? COF_SCALE_Z : COF_SCALE_RANGE;
    return COF_OK;
}

/* On small tables restarts are cheap, and more of them make the result depend less on the seed. */
static uint32_t usual_restarts(const cofi_problem *p, uint32_t k)
{
    double cells = (double)p->n_table_rows * (double)p->n_attrs;
    double n =
        fmax(RESTART_WORK / (cells * k), fmin(CLUSTER_RESTARTS * (double)k, CLUSTER_WORK / (cells * k)));
    if (p->n_table_rows > SMALL_ROWS || cells >= SMALL_CELLS) return DEFAULT_RESTARTS;
    return (uint32_t)fmax(SMALL_RESTARTS, fmin(n, MOST_RESTARTS));
}

/* The portfolio exists only for COForest without quantities; in other cases the k-means start replaces it. That one uses
 * attributes alone, so k-prototypes draws rows at random, and with quantities the objective selects the restart. */
static void resolve_start(const cofi_problem *p, const cofi_method *method, cof_fit_options *o)
{
    bool has_portfolio = (method->flags & COFI_METHOD_PORTFOLIO) != 0 && p->n_numeric == 0;
    bool rows_matter = (method->flags & COFI_METHOD_STANDARD) != 0 && p->n_numeric > 0;
    if (o->init == COF_INIT_PORTFOLIO && !has_portfolio)
        o->init = rows_matter ? COF_INIT_RANDOM : COF_INIT_KMEANS;
    bool portfolio = o->init == COF_INIT_PORTFOLIO && o->init_rows == NULL;
    bool cut = false;
    for (size_t r = 0; r < p->n_attrs; r++) cut = cut || p->n_bins[r] > 0;
    if (o->select == COF_SELECT_AUTO)
        o->select = portfolio && cut                                              ? COF_SELECT_MIXTURE
                    : portfolio                                                   ? COF_SELECT_BALANCE
                    : p->n_numeric > 0 || (method->flags & COFI_METHOD_COST) != 0 ? COF_SELECT_OBJECTIVE
                                                                                  : COF_SELECT_LIKELIHOOD;
    if (o->restarts == 0) o->restarts = portfolio ? usual_restarts(p, o->k) : DEFAULT_RESTARTS;
}

/* Probabilities of a start: for each class and attribute they sum to 1, but for rounding. */
static cof_status check_probabilities(const cofi_problem *p, const cof_fit_options *o, cof_error *err)
{
    const double *given = o->init_probabilities;
    if (given == NULL) return COF_OK;
    const double *end = given + o->n_init_probabilities;
    for (size_t a = 0; a < p->n_candidates; a++) {
        const cofi_column *c = &p->table->column[p->candidate[a]];
        uint32_t n = cofi_problem_n_values(p, c);
        if ((size_t)(end - given) / o->k < n)
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "the start has %zu probabilities, too few for column '%s'; it needs one for "
                             "each value and class",
                             o->n_init_probabilities, c->name);
        for (uint32_t j = 0; j < o->k; j++) {
            double sum = 0;
            for (uint32_t v = 0; v < n; v++)
                sum += given[(size_t)v * o->k + j] >= 0 ? given[(size_t)v * o->k + j] : NAN;
            if (!(fabs(sum - 1) < 1e-3))
                return cofi_fail(err, COF_ERR_ARGUMENT,
                                 "the start's probabilities of column '%s' in class %u do not add up to 1",
                                 c->name, j + 1);
        }
        given += (size_t)n * o->k;
    }
    return given == end ? COF_OK
                        : cofi_fail(err, COF_ERR_ARGUMENT, "the start has %zu probabilities, too many",
                                    o->n_init_probabilities);
}

static cof_status check_table(const cofi_problem *p, const cofi_method *method, cof_error *err)
{
    if ((method->flags & COFI_METHOD_PAIRS) && p->n_attrs < 2)
        return cofi_fail(err, COF_ERR_NO_COLUMNS,
                         "%s compares columns with each other, so it needs at least two columns that vary, "
                         "but there is only one",
                         method->name);
    if (p->n_numeric > 0 && !(method->flags & COFI_METHOD_MIXED))
        return cofi_fail(
            err, COF_ERR_NO_RESULT,
            "%s clusters categories only, but the table has a numeric column; leave it out, or use coforest, "
            "k-prototypes or ek-prototypes",
            method->name);
    return COF_OK;
}

/* Changes run->fit if there are alternatives. */
static cof_status make_model(cofi_restarts *run, cof_model **out, cof_error *err)
{
    cof_model *m;
    cof_status status = cofi_model_collect(run, &m, err);
    if (status != COF_OK) return status;
    for (uint32_t pick = 0; status == COF_OK && pick < run->alternatives.n; pick++) {
        status = cofi_restarts_restore(run, run->alternatives.restart[pick], err);
        if (status == COF_OK) status = cofi_model_add_alternative(m, run, pick, err);
    }
    if (status == COF_OK) status = cofi_model_add_records(m, run, err);
    if (status == COF_OK)
        *out = m;
    else
        cof_model_free(m);
    return status;
}

cof_status cofi_fit_table(const cof_table *table, const cof_fit_options *options, cofi_fit_hints hints,
                          cof_model **out, cof_fit_info *info, cof_error *err)
{
    cof_fit_options o;
    cofi_problem problem;
    cofi_rows *rows;
    cofi_restarts run = {.n_records = 0};
    cof_fit_info own;
    double began_s = cofi_now_s(), prepare_s;
    COFI_TRY(resolve_options(options, &o, err));
    const cofi_method *method = cofi_method_find(o.method);
    cofi_opening how = {.fold = !hints.unfolded && (method->flags & COFI_METHOD_ROW_BY_ROW) == 0,
                        .half = hints.half,
                        .most_k = hints.most_k};
    cof_status status = cofi_rows_open(table, &o, how, &problem, &rows, err);
    prepare_s = cofi_now_s() - began_s;
    if (status == COF_OK) resolve_start(&problem, method, &o);
    if (status == COF_OK) status = check_table(&problem, method, err);
    if (status == COF_OK) status = check_probabilities(&problem, &o, err);
    /* Other starts and the authors' variant repeat published programs, which decide ties by the order of the codes. */
    if (status == COF_OK && start_of(&o) == cofi_start_of(COF_INIT_PORTFOLIO) &&
        o.variant == COF_VARIANT_PAPER)
        status = cofi_value_order_set(rows, &problem, o.threads, err);
    if (status == COF_OK) status = cofi_restarts_open(rows, method, start_of(&o), &o, &run, err);
    run.runner.began_s = began_s;
    if (status == COF_OK) run.runner.lane[0].fit.host.coarser = hints.coarser;
    if (status == COF_OK) status = cofi_restarts_run(&run, err);
    if (status == COF_OK && hints.tree != NULL)
        status = cofi_dependence_of(rows, run.fit->host.team, &run.fit->partition, hints.tree, err);
    if (status == COF_OK) {
        cofi_restarts_tell(&run, &own);
        status = make_model(&run, out, err);
    }
    if (status == COF_OK && info != NULL) {
        own.prepare_s = prepare_s;
        own.fit_s = cofi_now_s() - began_s;
        cofi_return_struct(info, &own, sizeof own);
    }
    cofi_restarts_close(&run);
    cofi_rows_close(rows);
    cofi_problem_close(&problem);
    return status;
}

/* Where the given number of clusters is no likelier than one: the likeliest of a few others that is, from a few restarts.
 * 0: none is. Only for default fits of tables on which this takes little time. */
static cof_status find_instead(const cof_table *table, const cof_fit_options *options, cof_fit_info *info,
                               cof_error *err)
{
    enum { LEAST = 2, MOST = 5, RESTARTS = 4 };
    cof_fit_options o;
    double best = info->log_likelihood_of_one;
    bool usual = info->select == COF_SELECT_BALANCE || info->select == COF_SELECT_MIXTURE;
    COFI_COPY_OPTIONS(&o, options);
    if (!usual || o.init_rows != NULL || !(info->log_likelihood <= best) || o.time_limit_s > 0 ||
        info->n_rows >= INSTEAD_ROWS || info->stop_reason == COF_STOP_STOPPED)
        return COF_OK;
    o.struct_size = sizeof o;
    o.restarts = RESTARTS;
    o.keep = 0;
    o.no_alternatives = 1;
    for (uint32_t k = LEAST, given = o.k; k <= MOST; k++) {
        cof_fit_info own = {.struct_size = sizeof own};
        cof_model *model;
        o.k = k;
        if (k == given) continue;
        cof_status status = cofi_fit_table(table, &o, (cofi_fit_hints){0}, &model, &own, err);
        if (status == COF_ERR_FEW_ROWS || status == COF_ERR_STOPPED) return COF_OK;
        if (status != COF_OK) return status;
        cof_model_free(model);
        if (own.log_likelihood <= best) continue;
        best = own.log_likelihood;
        info->k_instead = k;
    }
    return COF_OK;
}

cof_status cof_fit(const cof_table *table, const cof_fit_options *options, cof_model **out,
                   cof_fit_info *info, cof_error *err)
{
    cof_fit_info own = {.struct_size = sizeof own};
    cof_model *model;
    COFI_TRY(cofi_fit_table(table, options, (cofi_fit_hints){0}, &model, &own, err));
    cof_status status =
        info != NULL && cof_model_k(model) > 1 ? find_instead(table, options, &own, err) : COF_OK;
    if (status != COF_OK) {
        cof_model_free(model);
        return status;
    }
    if (info != NULL) cofi_return_struct(info, &own, sizeof own);
    *out = model;
    return COF_OK;
}
