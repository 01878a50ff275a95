/* Opens a table as rows in memory and sets up the problem of the fit. */
#include "local.h"

#include "../table/dedupe.h"
#include "../table/recognise.h"
#include "../table/reading.h"

#include <math.h>
#include <stdlib.h>

/* ---- Weights ------------------------------------------------------------------------------------ */

/* Sets *out to one weight per row, or to NULL if every weight is 1. */
static cof_status collect_weights(const cofi_problem *p, const double *given, double **out, cof_error *err)
{
    const cof_table *t = p->table;
    *out = NULL;
    if (given == NULL && cofi_table_weight_column(t) == NULL) return COF_OK;
    double *weight = cofi_alloc(&p->env, t->n_rows, sizeof *weight);
    if (weight == NULL) return cofi_no_memory(err);
    cof_status status = given == NULL ? cof_table_weights(t, weight, t->n_rows, err) : COF_OK;
    for (size_t i = 0; status == COF_OK && given != NULL && i < t->n_rows; i++) {
        weight[i] = given[i];
        if (!(weight[i] >= 0) || !isfinite(weight[i]))
            status = cofi_fail(err, COF_ERR_ARGUMENT, "the weight of row %zu is not a number >= 0", i + 1);
    }
    if (status == COF_OK)
        *out = weight;
    else
        cofi_release(&p->env, weight);
    return status;
}

/* The sum of all weights, and whether all are whole numbers. The sum is made in fixed point, so that the
 * order of the rows does not matter. */
static double add_weights(const double *weight, size_t n, bool *whole)
{
    double most = 0, scale;
    uint64_t sum = 0;
    *whole = true;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, weight[i]);
        *whole = *whole && weight[i] == floor(weight[i]);
    }
    if (!(most > 0)) return 0;
    /* the sum of n scaled weights stays below 2^63 */
    int exponent = 61 - ilogb(most) - ilogb((double)n);
    exponent = exponent > 1023 ? 1023 : exponent;
    scale = ldexp(1.0, *whole && exponent > 0 ? 0 : exponent);
    for (size_t i = 0; i < n; i++) sum += (uint64_t)(weight[i] * scale);
    return sum > 0 ? (double)sum / scale : most; /* the sum is 0 if all weights are tiny */
}

/* Turns weights into integers, so that sums do not depend on their order. Whole weights are kept; others
 * are rounded to multiples of a power of two that keeps the total below 2^42. */
static cof_status quantise_weights(cofi_local *l, cofi_problem *p, const double *weight, cof_error *err)
{
    bool whole;
    double total = add_weights(weight, p->n_table_rows, &whole);
    if (!(total > 0) || !(total < 1e301)) /* keeps sums over all cells finite */
        return cofi_fail(err, COF_ERR_DATA,
                         total > 0 ? "the weights are too large to add up"
                                   : "all weights are 0; at least one row must count");
    int exponent = 41 - ilogb(total);
    if (exponent > 1023) exponent = 1023; /* a greater exponent would make the unit infinite */
    p->unit = whole && total < 0x1p42 ? 1.0 : ldexp(1.0, exponent);
    l->table_weight = cofi_blocks_add(&p->own, p->n_table_rows, sizeof *l->table_weight);
    if (l->table_weight == NULL) return cofi_no_memory(err);
    for (size_t i = 0; i < p->n_table_rows; i++) {
        double units = floor(weight[i] * p->unit + 0.5);
        l->table_weight[i] = weight[i] > 0 && units < 1 ? 1 : (uint64_t)units;
    }
    return COF_OK;
}

static cof_status set_weights(cofi_local *l, cofi_problem *p, const double *given, cof_error *err)
{
    double *weight;
    p->unit = 1.0;
    cof_status status = collect_weights(p, given, &weight, err);
    if (status == COF_OK && weight != NULL) status = quantise_weights(l, p, weight, err);
    cofi_release(&p->env, weight);
    return status;
}

/* ---- Missing values ----------------------------------------------------------------------------- */

static size_t first_missing_row(const cofi_column *c)
{
    size_t i = 0;
    while (cofi_column_code(c, i) != c->n_values) i++;
    return i;
}

/* Dropped rows become zero-weight rows. */
static cof_status drop_rows(cofi_local *l, cofi_problem *p, cof_error *err)
{
    const cof_table *t = p->table;
    l->dropped = cofi_blocks_add_zero(&p->own, t->n_rows, 1);
    if (l->dropped == NULL) return cofi_no_memory(err);
    for (size_t a = 0; a < p->n_candidates; a++) {
        const cofi_column *c = &t->column[p->candidate[a]];
        for (size_t i = 0; c->n_missing > 0 && i < t->n_rows; i++)
            l->dropped[i] |= cofi_column_code(c, i) == c->n_values;
    }
    if (l->table_weight == NULL) {
        l->table_weight = cofi_blocks_add(&p->own, t->n_rows, sizeof *l->table_weight);
        if (l->table_weight == NULL) return cofi_no_memory(err);
        for (size_t i = 0; i < t->n_rows; i++) l->table_weight[i] = 1;
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!l->dropped[i]) continue;
        l->table_weight[i] = 0;
        p->n_dropped++;
    }
    if (p->n_dropped < t->n_rows) return COF_OK;
    return cofi_fail(err, COF_ERR_FEW_ROWS,
                     "every row has a missing value, so dropping such rows leaves none; "
                     "treat missing as a value or ignore it instead");
}

static cof_status handle_missing(cofi_local *l, cofi_problem *p, cof_error *err)
{
    const cof_table *t = p->table;
    for (size_t a = 0; a < p->n_candidates; a++) {
        const cofi_column *c = &t->column[p->candidate[a]];
        if (c->n_missing == 0) continue;
        if (p->missing == COF_MISSING_DROP) return drop_rows(l, p, err);
        if (p->missing == COF_MISSING_ERROR)
            return cofi_fail(err, COF_ERR_MISSING,
                             "row %zu has no value in column '%s', and missing values are not allowed",
                             first_missing_row(c) + 1, c->name);
    }
    return COF_OK;
}

/* ---- Attributes --------------------------------------------------------------------------------- */

/* Number of the column's values that occur in rows of positive weight. */
static cof_status count_present(const cofi_local *l, const cofi_problem *p, const cofi_column *c,
                                uint32_t n_values, uint32_t *n_present)
{
    *n_present = n_values;
    if (l->table_weight == NULL) return COF_OK; /* a dictionary lists only values that occur */
    uint8_t *seen = cofi_alloc_zero(&p->env, (size_t)c->n_values + 1, 1);
    if (seen == NULL) return COF_ERR_MEMORY;
    for (size_t i = 0; i < p->n_table_rows; i++)
        if (l->table_weight[i] > 0) seen[cofi_column_code(c, i)] = 1;
    *n_present = 0;
    for (uint32_t v = 0; v < n_values; v++) *n_present += seen[v];
    cofi_release(&p->env, seen);
    return COF_OK;
}

static cof_status add_attribute(cofi_local *l, cofi_problem *p, size_t column, uint64_t *n_flat,
                                cof_error *err)
{
    const cofi_column *c = &p->table->column[column];
    bool missing = c->n_missing > 0, as_value = p->missing == COF_MISSING_VALUE;
    uint32_t n_values = c->n_values + (missing && as_value ? 1 : 0), n_present;
    if (count_present(l, p, c, n_values, &n_present) != COF_OK) return cofi_no_memory(err);
    if (n_present < 2) return COF_OK; /* a constant column cannot separate rows */
    size_t r = p->n_attrs++;
    p->column[r] = column;
    p->first[r] = (uint32_t)*n_flat;
    p->n_values[r] = n_values;
    p->n_present[r] = n_present;
    p->n_bins[r] = c->cut != NULL ? c->n_values : 0;
    l->ids[r] = (cofi_ids){c->codes, c->width};
    *n_flat += n_values + (missing && !as_value ? 1 : 0);
    if (*n_flat > UINT32_MAX / 2)
        return cofi_fail(err, COF_ERR_DATA, "the columns have more than 2,000,000,000 values together");
    return COF_OK;
}

static cof_status set_attributes(cofi_local *l, cofi_problem *p, cof_error *err)
{
    size_t n = p->n_candidates;
    uint64_t n_flat = 0;
    p->column = cofi_blocks_add(&p->own, n, sizeof *p->column);
    p->first = cofi_blocks_add(&p->own, n + 1, sizeof *p->first);
    p->n_values = cofi_blocks_add(&p->own, n, sizeof *p->n_values);
    p->n_present = cofi_blocks_add(&p->own, n, sizeof *p->n_present);
    p->n_bins = cofi_blocks_add(&p->own, n, sizeof *p->n_bins);
    l->ids = cofi_blocks_add(&p->own, p->table->n_columns, sizeof *l->ids);
    COFI_TRY(cofi_blocks_status(&p->own, err));
    for (size_t a = 0; a < n; a++) COFI_TRY(add_attribute(l, p, p->candidate[a], &n_flat, err));
    p->first[p->n_attrs] = (uint32_t)n_flat;
    if (p->n_attrs > 0) return COF_OK;
    return cofi_fail(err, COF_ERR_NO_COLUMNS, "no column is left to cluster on: %s",
                     n > 0 ? "each one has the same value in every row"
                           : "none has the role of an attribute");
}

static cof_status set_candidates(cofi_problem *p, cof_error *err)
{
    const cof_table *t = p->table;
    p->candidate = cofi_blocks_add(&p->own, t->n_columns, sizeof *p->candidate);
    if (p->candidate == NULL) return cofi_no_memory(err);
    for (size_t c = 0; c < t->n_columns; c++)
        if (t->column[c].role == COF_ROLE_ATTRIBUTE) p->candidate[p->n_candidates++] = c;
    if (t->n_rows <= COFI_MOST_ROWS && p->n_candidates <= COFI_MOST_COLUMNS) return COF_OK;
    return cofi_fail(err, COF_ERR_DATA,
                     "the table is too large: at most %zu rows and %zu columns can be clustered",
                     COFI_MOST_ROWS, COFI_MOST_COLUMNS);
}

/* ---- Quantities --------------------------------------------------------------------------------- */

/* Parses the column's texts into numbers, by value id; NaN for a missing cell and for "nan" or "inf". */
static cof_status parse_quantity(const cofi_column *c, double *value, cof_error *err)
{
    cofi_reading reading = cofi_recognise(c, NULL).reading;
    if (reading.line == COFI_LINE_NONE) reading = (cofi_reading){.line = COFI_LINE_NUMBER, .decimal = '.'};
    for (uint32_t v = 0; v < c->n_values; v++)
        if (!cofi_reading_parse(&reading, cofi_column_text(c, v), &value[v]))
            return cofi_fail(err, COF_ERR_DATA, "the numeric column '%s' holds '%s', which is not a number",
                             c->name, cofi_column_text(c, v));
    value[c->n_values] = NAN;
    return COF_OK;
}

/* Scales to 0..1 over the table, so that units of measurement do not matter; a constant column becomes 0. */
static void scale_quantity(double *value, uint32_t n_values)
{
    double least = INFINITY, most = -INFINITY;
    for (uint32_t v = 0; v < n_values; v++) {
        least = fmin(least, value[v]);
        most = fmax(most, value[v]);
    }
    for (uint32_t v = 0; v < n_values; v++) value[v] = most > least ? (value[v] - least) / (most - least) : 0;
}

/* Scales to standard deviations from the mean. The sums are made in row order, so that they are the same for any
 * number of threads. Zero-weight rows and missing cells do not count. */
static void standardise_quantity(const cofi_local *l, const cofi_problem *p, const cofi_column *c,
                                 double *value)
{
    double n = 0, sum = 0, squares = 0;
    for (int round = 0; round < 2; round++) {
        double mean = n > 0 ? sum / n : 0;
        for (size_t i = 0; i < p->n_table_rows; i++) {
            double x = value[cofi_column_code(c, i)],
                   w = l->table_weight != NULL ? (double)l->table_weight[i] : 1;
            if (isnan(x) || w == 0) continue;
            if (round == 0)
                n += w, sum += w * x;
            else
                squares += w * (x - mean) * (x - mean);
        }
    }
    double mean = n > 0 ? sum / n : 0, deviation = n > 0 ? sqrt(squares / n) : 0;
    for (uint32_t v = 0; v < c->n_values; v++) value[v] = deviation > 0 ? (value[v] - mean) / deviation : 0;
}

static cof_status set_quantities(cofi_local *l, cofi_problem *p, int32_t scale, cof_error *err)
{
    const cof_table *t = p->table;
    size_t n = 0;
    for (size_t c = 0; c < t->n_columns; c++) n += t->column[c].role == COF_ROLE_NUMERIC;
    if (n == 0) return COF_OK;
    p->quantity = cofi_blocks_add_zero(&p->own, n, sizeof *p->quantity);
    if (p->quantity == NULL) return cofi_no_memory(err);
    for (size_t c = 0; c < t->n_columns; c++) {
        const cofi_column *column = &t->column[c];
        if (column->role != COF_ROLE_NUMERIC) continue;
        double *value = cofi_blocks_add(&p->own, (size_t)column->n_values + 1, sizeof *value);
        if (value == NULL) return cofi_no_memory(err);
        l->ids[p->n_attrs + p->n_numeric] = (cofi_ids){column->codes, column->width};
        p->quantity[p->n_numeric++] = value;
        COFI_TRY(parse_quantity(column, value, err));
        if (scale == COF_SCALE_Z)
            standardise_quantity(l, p, column, value);
        else
            scale_quantity(value, column->n_values);
    }
    return COF_OK;
}

/* ---- Folding ------------------------------------------------------------------------------------ */

/* Replaces the table's rows by the distinct rows: copies their cells and adds up their weights. */
static cof_status fold(cofi_local *l, cofi_problem *p, uint32_t n_groups, cof_error *err)
{
    bool ok = true;
    uint32_t *head = cofi_alloc(&p->env, n_groups, sizeof *head);
    l->n_columns = p->n_attrs;
    l->gathered = cofi_blocks_add_zero(&p->own, p->n_attrs, sizeof *l->gathered);
    l->row_weight = cofi_blocks_add_zero(&p->own, n_groups, sizeof *l->row_weight);
    l->copies = cofi_blocks_add_zero(&p->own, n_groups, sizeof *l->copies);
    if (head == NULL || p->own.short_of_memory) ok = false;
    for (size_t i = p->n_table_rows; ok && i-- > 0;) {
        uint64_t weight = l->table_weight != NULL ? l->table_weight[i] : 1;
        head[l->group[i]] = (uint32_t)i; /* runs backwards, so that the first of equal rows remains */
        l->row_weight[l->group[i]] += weight;
        l->copies[l->group[i]] += weight > 0;
    }
    for (size_t r = 0; ok && r < p->n_attrs; r++) ok = cofi_local_gather(l, r, l->ids[r], head, n_groups);
    cofi_release(&p->env, head);
    l->cells.n_rows = p->n_walked = n_groups;
    l->cells.weight = l->row_weight;
    l->cells.copies = l->copies;
    return ok ? COF_OK : cofi_no_memory(err);
}

/* Counts the distinct rows among rows of positive weight. */
static cof_status count_distinct(cofi_local *l, cofi_problem *p, uint32_t n_groups, cof_error *err)
{
    p->n_distinct = n_groups;
    if (l->table_weight == NULL) return COF_OK;
    uint8_t *counts = cofi_alloc_zero(&p->env, n_groups, 1);
    if (counts == NULL) return cofi_no_memory(err);
    for (size_t i = 0; i < p->n_table_rows; i++)
        if (l->table_weight[i] > 0) counts[l->group[i]] = 1;
    p->n_distinct = 0;
    for (uint32_t d = 0; d < n_groups; d++) p->n_distinct += counts[d];
    cofi_release(&p->env, counts);
    return COF_OK;
}

/* Finding equal rows costs as much time as several passes, and more if most rows are distinct. On a large
 * table a sample estimates the share of distinct rows first; the constants below are measured nanoseconds
 * per row. */
static cof_status look_for_copies(cofi_local *l, cofi_problem *p, bool may_fold, const cof_fit_options *o,
                                  bool *worth_it, cof_error *err)
{
    enum { SAMPLE = 8192, PASSES = 10, USUAL_RESTARTS = 10 };
    size_t n = p->n_table_rows, n_columns = p->n_attrs + p->n_numeric, n_differ;
    *worth_it = true;
    if (n < 2 * SAMPLE || l->table_weight != NULL) return COF_OK;
    if (cofi_dedupe_sample(&p->env, l->ids, n_columns, n, SAMPLE, &n_differ) != COF_OK)
        return cofi_no_memory(err);
    double differ = (double)n_differ / SAMPLE, visit_ns = 1 + 0.02 * (double)p->n_attrs * o->k;
    double saved_ns = (1 - differ) * PASSES * (o->restarts > 0 ? o->restarts : USUAL_RESTARTS) * visit_ns;
    double search_ns = 60 + 400 * differ;
    *worth_it = (may_fold && saved_ns > search_ns) || o->k > n_differ;
    return COF_OK;
}

static cof_status set_rows(cofi_local *l, cofi_problem *p, bool may_fold, const cof_fit_options *options,
                           cof_error *err)
{
    uint32_t n_groups;
    bool worth_it;
    l->cells = (cofi_cells){p->n_table_rows, p->n_attrs, l->ids, p->first, l->table_weight, NULL};
    p->n_walked = p->n_table_rows;
    p->total_weight = 0;
    for (size_t i = 0; l->table_weight != NULL && i < p->n_table_rows; i++)
        p->total_weight += l->table_weight[i];
    if (l->table_weight == NULL) p->total_weight = p->n_table_rows;
    COFI_TRY(look_for_copies(l, p, may_fold, options, &worth_it, err));
    if (!worth_it) return COF_OK;
    l->group = cofi_alloc(&p->env, p->n_table_rows, sizeof *l->group);
    if (l->group == NULL) return cofi_no_memory(err);
    if (cofi_dedupe(&p->env, l->ids, p->n_attrs + p->n_numeric, p->n_table_rows, l->group, &n_groups) !=
        COF_OK)
        return cofi_no_memory(err);
    COFI_TRY(count_distinct(l, p, n_groups, err));
    p->counted = true;
    /* Copying cells saves time if at least half of the rows are removed. */
    if (may_fold && p->n_numeric == 0 && n_groups <= p->n_table_rows / 2) return fold(l, p, n_groups, err);
    cofi_release(&p->env, l->group);
    l->group = NULL;
    return COF_OK;
}

static cof_status check_k(const cofi_problem *p, uint32_t k, cof_error *err)
{
    if (p->counted && k > p->n_distinct)
        return cofi_fail(err, COF_ERR_FEW_ROWS,
                         "%u clusters were asked for, but only %llu rows differ; ask for at most %llu", k,
                         (unsigned long long)p->n_distinct, (unsigned long long)p->n_distinct);
    if (k > COF_MOST_CLUSTERS)
        return cofi_fail(err, COF_ERR_ARGUMENT, "%u clusters were asked for; ask for at most %d", k,
                         COF_MOST_CLUSTERS);
    return COF_OK;
}

cof_status cofi_rows_open_table(const cof_table *table, const cof_fit_options *options, bool may_fold,
                                cofi_problem *p, cofi_rows **rows, cof_error *err)
{
    memset(p, 0, sizeof *p);
    p->env = p->own.env = table->env;
    p->table = table;
    p->n_table_rows = table->n_rows;
    p->missing = options->missing;
    cofi_local *l = cofi_local_new(p, rows);
    if (l == NULL) return cofi_no_memory(err);
    l->n_rows = table->n_rows;
    COFI_TRY(set_candidates(p, err));
    COFI_TRY(set_weights(l, p, options->weights, err));
    COFI_TRY(handle_missing(l, p, err));
    COFI_TRY(set_attributes(l, p, err));
    COFI_TRY(set_quantities(l, p, options->scale, err));
    COFI_TRY(set_rows(l, p, may_fold, options, err));
    return check_k(p, options->k, err);
}

void cofi_problem_close(cofi_problem *p)
{
    cofi_blocks_release(&p->own);
    memset(p, 0, sizeof *p);
}
