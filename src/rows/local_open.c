/* Opens a table as rows in memory and sets up the problem of the fit. */
#include "local.h"

#include "../table/dedupe.h"
#include "../table/recognise.h"
#include "../table/reading.h"
#include "shards/remote.h"
#include "stream.h"

#include <math.h>
#include <stdlib.h>

/* ---- Weights ------------------------------------------------------------------------------------ */

/* Sets *out to one weight per row, or to NULL if every weight is 1. */
static cof_status collect_weights(const cofi_problem *p, const double *given, uint32_t half, double **out,
                                  cof_error *err)
{
    const cof_table *t = p->table;
    *out = NULL;
    if (given == NULL && half == 0 && cofi_table_weight_column(t) == NULL) return COF_OK;
    double *weight = cofi_alloc(&p->env, t->n_rows, sizeof *weight);
    if (weight == NULL) return cofi_no_memory(err);
    cof_status status = given == NULL && half == 0 ? cof_table_weights(t, weight, t->n_rows, err) : COF_OK;
    for (size_t i = 0; half > 0 && i < t->n_rows; i++) weight[i] = cofi_in_half(i, half);
    for (size_t i = 0; status == COF_OK && given != NULL && i < t->n_rows; i++) {
        weight[i] = half > 0 && weight[i] == 0 ? 0 : given[i];
        if (!(given[i] >= 0) || !isfinite(given[i]))
            status = cofi_fail(err, COF_ERR_ARGUMENT, "the weight of row %zu is not a number >= 0", i + 1);
    }
    if (status == COF_OK)
        *out = weight;
    else
        cofi_release(&p->env, weight);
    return status;
}

static cof_status set_weights(cofi_local *l, cofi_problem *p, const double *given, uint32_t half,
                              cof_error *err)
{
    double *weight;
    size_t n = l->n_rows;
    p->unit = 1.0;
    COFI_TRY(collect_weights(p, given, half, &weight, err));
    if (weight == NULL) return COF_OK;
    cof_status status = cofi_weights_unit(weight, NULL, n, n, &p->unit, err);
    if (status == COF_OK) {
        l->table_weight = cofi_blocks_add(&p->own, n, sizeof *l->table_weight);
        status = cofi_blocks_status(&p->own, err);
    }
    for (size_t i = 0; status == COF_OK && i < n; i++)
        l->table_weight[i] = cofi_weight_units(weight[i], p->unit);
    cofi_release(&p->env, weight);
    return status;
}

/* ---- Missing values ----------------------------------------------------------------------------- */

/* The missing value of a column: its cells that are empty, and those of a scaled quantity that are "nan" or "inf". */
typedef struct holes {
    const cofi_column *column;
    const double *point; /* NULL: an attribute */
} holes;

static bool is_hole(const holes *h, size_t row)
{
    uint32_t code = cofi_column_code(h->column, row);
    return h->point != NULL ? isnan(h->point[code]) : code == h->column->n_values;
}

static bool has_holes(const holes *h)
{
    bool found = h->column->n_missing > 0;
    for (uint32_t v = 0; h->point != NULL && v < h->column->n_values; v++) found |= isnan(h->point[v]);
    return found;
}

/* The attributes come first, then the scaled quantities. */
static holes holes_of(const cofi_problem *p, size_t number)
{
    if (number < p->n_candidates) return (holes){&p->table->column[p->candidate[number]], NULL};
    const cofi_quantity *q = &p->quantity[number - p->n_candidates];
    return (holes){&p->table->column[q->column], q->value};
}

/* Dropped rows become zero-weight rows. */
static cof_status drop_rows(cofi_local *l, cofi_problem *p, cof_error *err)
{
    const cof_table *t = p->table;
    l->dropped = cofi_blocks_add_zero(&p->own, t->n_rows, 1);
    if (l->dropped == NULL) return cofi_no_memory(err);
    for (size_t a = 0; a < p->n_candidates + p->n_numeric; a++) {
        holes h = holes_of(p, a);
        bool any = has_holes(&h);
        for (size_t i = 0; any && i < t->n_rows; i++) l->dropped[i] |= is_hole(&h, i);
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
    return COF_OK;
}

static cof_status handle_missing(cofi_local *l, cofi_problem *p, cof_error *err)
{
    for (size_t a = 0; a < p->n_candidates + p->n_numeric; a++) {
        holes h = holes_of(p, a);
        size_t row = 0;
        if ((p->missing != COF_MISSING_ERROR && p->missing != COF_MISSING_DROP) || !has_holes(&h)) continue;
        while (p->missing == COF_MISSING_ERROR && !is_hole(&h, row)) row++;
        if (p->missing == COF_MISSING_ERROR) return cofi_missing_error(h.column, row, err);
        cof_status status = drop_rows(l, p, err);
        return status == COF_OK && p->n_dropped == p->table->n_rows ? cofi_all_dropped_error(err) : status;
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
    *n_present = 0;
    for (size_t i = 0; i < p->n_table_rows && *n_present < n_values; i++) {
        uint32_t v = cofi_column_code(c, i);
        *n_present += l->table_weight[i] > 0 && !seen[v] && v < n_values;
        seen[v] |= l->table_weight[i] > 0;
    }
    cofi_release(&p->env, seen);
    return COF_OK;
}

static cof_status set_attributes(cofi_local *l, cofi_problem *p, uint32_t k, cof_error *err)
{
    l->ids = cofi_blocks_add(&p->own, p->table->n_columns, sizeof *l->ids);
    bool any = false; /* a value of a row of positive weight */
    COFI_TRY(cofi_problem_open_attributes(p, err));
    for (size_t a = 0; a < p->n_candidates; a++) {
        const cofi_column *c = &p->table->column[p->candidate[a]];
        uint32_t n_present;
        if (count_present(l, p, c, cofi_problem_n_values(p, c), &n_present) != COF_OK)
            return cofi_no_memory(err);
        any |= n_present > 0;
        l->ids[p->n_attrs] = cofi_stream_ids(p->table, c); /* a constant column is overwritten */
        COFI_TRY(cofi_problem_add_attribute(p, p->candidate[a], n_present, err));
    }
    if (p->n_attrs == 0 && p->n_candidates > 0)
        l->ids[0] = cofi_stream_ids(p->table, &p->table->column[p->candidate[0]]);
    return cofi_problem_check_attributes(p, any ? k : 0, err);
}

/* ---- Quantities --------------------------------------------------------------------------------- */

/* Parses the column's texts into numbers, by value id; NaN for a missing cell and for "nan" or "inf". */
static cof_status parse_quantity(const cofi_column *c, cofi_quantity *q, cof_error *err)
{
    cofi_recognition r = cofi_recognise(c, q->value);
    q->value[c->n_values] = NAN;
    q->reading = r.reading;
    q->least = r.least;
    q->most = r.most;
    if (r.reading.line != COFI_LINE_NONE) return COF_OK;
    q->reading = (cofi_reading){.line = COFI_LINE_NUMBER, .decimal = '.'};
    q->least = INFINITY;
    q->most = -INFINITY;
    for (uint32_t v = 0; v < c->n_values; v++) {
        if (!cofi_reading_parse(&q->reading, cofi_column_text(c, v), &q->value[v]))
            return cofi_fail(err, COF_ERR_DATA, "the numeric column '%s' holds '%s', which is not a number",
                             c->name, cofi_column_text(c, v));
        q->least = fmin(q->least, q->value[v]);
        q->most = fmax(q->most, q->value[v]);
    }
    return COF_OK;
}

/* Mean and standard deviation. The sums are made in row order, so that they are the same for any number of threads.
 * Zero-weight rows and missing cells do not count. */
static void measure_spread(const cofi_local *l, const cofi_problem *p, const cofi_column *c, cofi_quantity *q)
{
    double n = 0, sum = 0, squares = 0;
    for (int round = 0; round < 2; round++) {
        double mean = n > 0 ? sum / n : 0;
        for (size_t i = 0; i < p->n_table_rows; i++) {
            double x = q->value[cofi_column_code(c, i)],
                   w = l->table_weight != NULL ? (double)l->table_weight[i] : 1;
            if (isnan(x) || w == 0) continue;
            if (round == 0)
                n += w, sum += w * x;
            else
                squares += w * (x - mean) * (x - mean);
        }
    }
    q->origin = n > 0 ? sum / n : 0;
    q->unit = n > 0 ? sqrt(squares / n) : 0;
}

/* Scales, so that units of measurement do not matter: to 0..1 over the table, or to standard deviations from the mean;
 * then a constant column becomes 0. */
static void scale_quantity(const cofi_local *l, const cofi_problem *p, int32_t scale, cofi_quantity *q)
{
    const cofi_column *c = &p->table->column[q->column];
    if (!(q->most >= q->least)) q->least = q->most = 0; /* all missing */
    q->origin = scale == COF_SCALE_NONE ? 0 : q->least;
    q->unit = scale == COF_SCALE_NONE ? 1 : q->most - q->least;
    if (scale == COF_SCALE_Z) measure_spread(l, p, c, q);
    for (uint32_t v = 0; v < c->n_values; v++)
        q->value[v] = q->unit > 0 ? (q->value[v] - q->origin) / q->unit : 0;
    q->least = q->unit > 0 ? (q->least - q->origin) / q->unit : 0;
    q->most = q->unit > 0 ? (q->most - q->origin) / q->unit : 0;
}

/* Before the missing cells are treated, which the numbers decide. */
static cof_status read_quantities(cofi_problem *p, const double *column_weights, cof_error *err)
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
        cofi_quantity *q = &p->quantity[p->n_numeric++];
        q->column = c;
        q->column_weight = column_weights != NULL ? column_weights[c] : 1;
        q->value = cofi_blocks_add(&p->own, (size_t)column->n_values + 1, sizeof *q->value);
        if (q->value == NULL) return cofi_no_memory(err);
        COFI_TRY(parse_quantity(column, q, err));
    }
    return COF_OK;
}

static void set_quantities(cofi_local *l, cofi_problem *p, int32_t scale)
{
    for (size_t c = 0; c < p->n_numeric; c++) {
        const cofi_column *column = &p->table->column[p->quantity[c].column];
        l->ids[p->n_attrs + c] = (cofi_ids){column->codes, column->width, false};
        scale_quantity(l, p, scale, &p->quantity[c]);
    }
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

bool cofi_count_weighing(const cof_env *env, const uint32_t *group, uint32_t n_groups, const uint64_t *weight,
                         size_t n_rows, uint64_t *n)
{
    *n = n_groups;
    if (weight == NULL) return true;
    uint8_t *weighs = cofi_alloc_zero(env, n_groups, 1);
    if (weighs == NULL) return false;
    for (size_t i = 0; i < n_rows; i++) weighs[group[i]] |= weight[i] > 0;
    *n = 0;
    for (uint32_t d = 0; d < n_groups; d++) *n += weighs[d];
    cofi_release(env, weighs);
    return true;
}

/* Finding equal rows costs as much time as several passes, and more if most rows are distinct. On a large
 * table a sample estimates the share of distinct rows first; the constants below are measured nanoseconds
 * per row. */
static cof_status look_for_copies(cofi_local *l, cofi_problem *p, bool may_fold, const cof_fit_options *o,
                                  bool *worth_it, cof_error *err)
{
    enum { SAMPLE = 8192, PASSES = 10, USUAL_RESTARTS = 10 };
    size_t n = p->n_table_rows, n_columns = p->n_attrs + p->n_numeric, n_weighing, n_differ;
    *worth_it = true;
    if (n < 2 * SAMPLE) return COF_OK;
    if (cofi_dedupe_sample(&p->env, l->ids, n_columns, n, l->table_weight, SAMPLE, &n_weighing, &n_differ) !=
        COF_OK)
        return cofi_no_memory(err);
    if (n_differ == 0) return COF_OK;
    double differ = (double)n_differ / (double)n_weighing, visit_ns = 1 + 0.02 * (double)p->n_attrs * o->k;
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
            COF_OK ||
        !cofi_count_weighing(&p->env, l->group, n_groups, l->table_weight, p->n_table_rows, &p->n_distinct))
        return cofi_no_memory(err);
    p->counted = true;
    /* Copying cells saves time if at least half of the rows are removed. */
    if (may_fold && p->n_numeric == 0 && n_groups <= p->n_table_rows / 2) return fold(l, p, n_groups, err);
    cofi_release(&p->env, l->group);
    l->group = NULL;
    return COF_OK;
}

/* ---- Opening ------------------------------------------------------------------------------------ */

static cof_status open_local(const cof_table *table, int32_t missing, cofi_problem *p, cofi_rows **rows,
                             cof_error *err)
{
    memset(p, 0, sizeof *p);
    p->env = p->own.env = table->env;
    p->table = table;
    p->n_table_rows = table->n_rows;
    p->missing = missing;
    cofi_local *l = cofi_local_new(p, rows);
    if (l == NULL) return cofi_no_memory(err);
    l->n_rows = table->n_rows;
    return cofi_problem_set_candidates(p, err);
}

cof_status cofi_rows_open(const cof_table *table, const cof_fit_options *options, cofi_opening how,
                          cofi_problem *p, cofi_rows **rows, cof_error *err)
{
    if (table->remote != NULL) return cofi_remote_open(table, options, how, p, rows, err);
    COFI_TRY(open_local(table, options->missing, p, rows, err));
    cofi_local *l = cofi_local_of(*rows);
    COFI_TRY(set_weights(l, p, options->weights, how.half, err));
    COFI_TRY(read_quantities(p, options->column_weights, err));
    COFI_TRY(handle_missing(l, p, err));
    COFI_TRY(set_attributes(l, p, options->k, err));
    set_quantities(l, p, options->scale);
    COFI_TRY(cofi_problem_set_column_weights(p, options->column_weights, err));
    COFI_TRY(set_rows(l, p, how.fold, options, err));
    return cofi_problem_check_k(p, options->k, err);
}

/* ---- A part of a larger table --------------------------------------------------------------------- */

static cof_status set_part_weights(cofi_local *l, cofi_problem *p, uint32_t half, cof_error *err)
{
    const cofi_column *c = cofi_table_weight_column(p->table);
    if (c == NULL && half == 0) return COF_OK;
    double *value = half == 0 ? cofi_blocks_add(&p->own, c->n_values, sizeof *value) : NULL;
    l->table_weight = cofi_blocks_add(&p->own, l->n_rows, sizeof *l->table_weight);
    COFI_TRY(cofi_blocks_status(&p->own, err));
    if (half == 0) COFI_TRY(cofi_weights_parse(c, value, err));
    for (size_t i = 0; i < l->n_rows; i++) {
        double weight = half == 0 ? value[cofi_column_code(c, i)] : cofi_in_half(l->first_row + i, half);
        l->table_weight[i] = cofi_weight_units(weight, p->unit);
    }
    return COF_OK;
}

static cof_status set_part_attributes(cofi_local *l, cofi_problem *p, const cofi_frame *f, cof_error *err)
{
    l->ids = cofi_blocks_add(&p->own, p->table->n_columns, sizeof *l->ids);
    COFI_TRY(cofi_problem_open_attributes(p, err));
    for (size_t a = 0; a < f->n_attrs; a++) {
        const cofi_column *c = &p->table->column[f->column[a]];
        l->ids[a] = cofi_stream_ids(p->table, c);
        COFI_TRY(cofi_problem_add_attribute(p, f->column[a], 2, err));
    }
    return COF_OK;
}

cof_status cofi_rows_open_part(const cof_table *table, const cofi_frame *f, uint64_t first_row, bool may_fold,
                               cofi_problem *p, cofi_rows **rows, cof_error *err)
{
    static const cof_fit_options usual = {.k = 8};
    COFI_TRY(open_local(table, f->missing, p, rows, err));
    cofi_local *l = cofi_local_of(*rows);
    l->first_row = first_row;
    p->unit = f->unit;
    COFI_TRY(set_part_weights(l, p, f->half, err));
    bool drops = false;
    for (size_t a = 0; a < p->n_candidates; a++) drops |= table->column[p->candidate[a]].n_missing > 0;
    if (f->missing == COF_MISSING_DROP && drops) COFI_TRY(drop_rows(l, p, err));
    COFI_TRY(set_part_attributes(l, p, f, err));
    l->cells = (cofi_cells){l->n_rows, p->n_attrs, l->ids, p->first, l->table_weight, NULL};
    /* The groups of equal rows would take as much memory as all that a partition remembers. */
    if (may_fold && !cofi_is_streamed(&l->cells)) COFI_TRY(set_rows(l, p, true, &usual, err));
    p->total_weight = f->total_weight;
    return COF_OK;
}
