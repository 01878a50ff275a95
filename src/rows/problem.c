/* The problem of a fit: what is known of a table without reading a row. */
#include "problem.h"

#include <math.h>

/* ---- Weights ------------------------------------------------------------------------------------ */

/* The sum of all weights, and whether all are whole numbers. The sum is made in fixed point, so that the
 * order of the rows does not matter. */
static double add_weights(const double *weight, const uint64_t *rows, size_t n, uint64_t n_rows, bool *whole)
{
    double most = 0, scale;
    uint64_t sum = 0;
    *whole = true;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, weight[i]);
        *whole = *whole && weight[i] == floor(weight[i]);
    }
    if (!(most > 0)) return 0;
    /* the sum of all scaled weights stays below 2^63 */
    int exponent = 61 - ilogb(most) - ilogb((double)n_rows);
    exponent = exponent > 1023 ? 1023 : exponent;
    scale = ldexp(1.0, *whole && exponent > 0 ? 0 : exponent);
    for (size_t i = 0; i < n; i++) sum += (rows != NULL ? rows[i] : 1) * (uint64_t)(weight[i] * scale);
    return sum > 0 ? (double)sum / scale : most; /* the sum is 0 if all weights are tiny */
}

cof_status cofi_weights_unit(const double *weight, const uint64_t *rows, size_t n, uint64_t n_rows,
                             double *unit, cof_error *err)
{
    bool whole;
    double total = add_weights(weight, rows, n, n_rows, &whole);
    if (!(total > 0) || !(total < 1e301)) /* keeps sums over all cells finite */
        return cofi_fail(err, COF_ERR_DATA,
                         total > 0 ? "the weights are too large to add up"
                                   : "all weights are 0; at least one row must count");
    int exponent = 41 - ilogb(total);
    if (exponent > 1023) exponent = 1023; /* a greater exponent would make the unit infinite */
    *unit = whole && total < 0x1p42 ? 1.0 : ldexp(1.0, exponent);
    return COF_OK;
}

uint64_t cofi_weight_units(double weight, double unit)
{
    /* cofi_weights_unit keeps the total below this limit; the unit of a hostile request does not */
    double units = fmin(floor(weight * unit + 0.5), 0x1p42);
    return weight > 0 && units < 1 ? 1 : (uint64_t)units;
}

/* ---- Missing values ----------------------------------------------------------------------------- */

cof_status cofi_missing_error(const cofi_column *c, uint64_t row, cof_error *err)
{
    return cofi_fail(err, COF_ERR_MISSING,
                     "row %llu has no value in column '%s', and missing values are not allowed",
                     (unsigned long long)row + 1, c->name);
}

cof_status cofi_all_dropped_error(cof_error *err)
{
    return cofi_fail(err, COF_ERR_FEW_ROWS,
                     "every row has a missing value, so dropping such rows leaves none; "
                     "treat missing as a value or ignore it instead");
}

/* ---- Attributes --------------------------------------------------------------------------------- */

cof_status cofi_problem_set_candidates(cofi_problem *p, cof_error *err)
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

uint32_t cofi_problem_n_values(const cofi_problem *p, const cofi_column *c)
{
    return c->n_values + (c->n_missing > 0 && p->missing == COF_MISSING_VALUE ? 1 : 0);
}

uint32_t cofi_problem_n_slots(const cofi_problem *p, const cofi_column *c)
{
    return cofi_problem_n_values(p, c) + (c->n_missing > 0 && p->missing != COF_MISSING_VALUE ? 1 : 0);
}

cof_status cofi_problem_open_attributes(cofi_problem *p, cof_error *err)
{
    size_t n = p->n_candidates;
    p->column = cofi_blocks_add(&p->own, n, sizeof *p->column);
    p->first = cofi_blocks_add_zero(&p->own, n + 1, sizeof *p->first);
    p->n_values = cofi_blocks_add(&p->own, n, sizeof *p->n_values);
    p->n_present = cofi_blocks_add(&p->own, n, sizeof *p->n_present);
    p->n_bins = cofi_blocks_add(&p->own, n, sizeof *p->n_bins);
    return cofi_blocks_status(&p->own, err);
}

cof_status cofi_problem_add_attribute(cofi_problem *p, size_t column, uint32_t n_present, cof_error *err)
{
    const cofi_column *c = &p->table->column[column];
    if (n_present < 2) return COF_OK; /* a constant column cannot separate rows */
    size_t r = p->n_attrs++;
    p->column[r] = column;
    p->n_values[r] = cofi_problem_n_values(p, c);
    p->n_present[r] = n_present;
    p->n_bins[r] = c->cut != NULL ? c->n_values : 0;
    uint64_t n_flat = (uint64_t)p->first[r] + cofi_problem_n_slots(p, c);
    if (n_flat > UINT32_MAX / 2)
        return cofi_fail(err, COF_ERR_DATA, "the columns have more than 2,000,000,000 values together");
    p->first[r + 1] = (uint32_t)n_flat;
    return COF_OK;
}

cof_status cofi_problem_check_attributes(cofi_problem *p, uint32_t k, cof_error *err)
{
    if (p->n_attrs == 0 && p->n_candidates > 0 && k == 1 && p->n_dropped < p->n_table_rows) {
        COFI_TRY(cofi_problem_add_attribute(p, p->candidate[0], 2, err));
        p->n_present[0] = 1;
    }
    if (p->n_attrs > 0) return COF_OK;
    return cofi_fail(err, COF_ERR_NO_COLUMNS, "no column is left to cluster on: %s",
                     p->n_candidates > 0 ? "each one has the same value in every row"
                                         : "none has the role of an attribute");
}

cof_status cofi_problem_check_k(const cofi_problem *p, uint32_t k, cof_error *err)
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

void cofi_problem_close(cofi_problem *p)
{
    cofi_blocks_release(&p->own);
    memset(p, 0, sizeof *p);
}

/* ---- Weights of columns --------------------------------------------------------------------------- */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Distances to seeds are whole numbers, so that masses do not depend on the order of the rows. The greatest weight
 * becomes 64 units and every other one at least 1, because rows that differ only in columns of weight 0 are different
 * rows. Units without a common divisor: equal weights are 1 unit each, as if no weights were given. With more than
 * 16,384 columns each counts 1, so that masses stay below 2^63. */
static cof_status set_seed_units(cofi_problem *p, double most, cof_error *err)
{
    enum { MOST_WEIGHED = 1 << 14 };
    size_t n = p->n_attrs + p->n_numeric;
    uint32_t divisor = 0;
    if (n > MOST_WEIGHED) return COF_OK;
    p->seed_units = cofi_blocks_add(&p->own, n, sizeof *p->seed_units);
    if (p->seed_units == NULL) return cofi_no_memory(err);
    for (size_t r = 0; r < n; r++) {
        double weight = r < p->n_attrs ? p->column_weight[r] : p->quantity[r - p->n_attrs].column_weight;
        p->seed_units[r] = (uint32_t)fmax(1, rint(COFI_MOST_SEED_UNITS * (weight / most)));
        divisor = common_divisor(p->seed_units[r], divisor);
    }
    for (size_t r = 0; r < n; r++) p->seed_units[r] /= divisor;
    if (cofi_seed_reach(p) == n) p->seed_units = NULL;
    return COF_OK;
}

cof_status cofi_problem_set_column_weights(cofi_problem *p, const double *given, cof_error *err)
{
    const cof_table *t = p->table;
    double most = 0;
    if (given == NULL) return COF_OK;
    for (size_t c = 0; c < t->n_columns; c++)
        if (!(given[c] >= 0) || !(given[c] <= 1e6))
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "the weight %g of column '%s' is not a number from 0 to 1,000,000", given[c],
                             t->column[c].name);
    p->column_weight = cofi_blocks_add(&p->own, p->n_attrs, sizeof *p->column_weight);
    if (p->column_weight == NULL) return cofi_no_memory(err);
    for (size_t r = 0; r < p->n_attrs; r++) {
        p->column_weight[r] = given[p->column[r]];
        most = fmax(most, p->column_weight[r]);
    }
    for (size_t c = 0; c < p->n_numeric; c++) most = fmax(most, p->quantity[c].column_weight);
    return most > 0 ? set_seed_units(p, most, err)
                    : cofi_fail(err, COF_ERR_ARGUMENT, "all columns weigh 0; at least one must count");
}
