/* The library against the oracle on random tables, and against the authors' program on stored cases.
 * Labels, loop counts and stop reasons must be equal, objectives to 1e-9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "coforest_extra.h"
#include "../oracle/oracle.h"
#include "cases_helper.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MAX_K        16

/* ---- Random tables ---------------------------------------------------------------------------------- */

typedef struct dice {
    uint64_t state;
} dice;

static uint64_t roll(dice *d) /* splitmix64 */
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static size_t below(dice *d, size_t n)
{
    return (size_t)(roll(d) % n);
}

static bool chance(dice *d, size_t percent)
{
    return below(d, 100) < percent;
}

static void *get(size_t n, size_t size)
{
    void *block = calloc(n != 0 ? n : 1, size);
    assert_non_null(block);
    return block;
}

typedef struct sample {
    size_t n, l;
    int32_t *codes;  /* any integers, negative: missing */
    double *weights; /* or NULL */
} sample;

typedef struct recipe {
    size_t n, l, max_values, n_modes;         /* n_modes 0: uniform cells */
    size_t noise, repeats, constant, missing; /* percent */
    bool weighted;
} recipe;

/* Values need not be 0, 1, 2: the dictionary numbers them in order. */
static int32_t value_of(size_t v)
{
    return (int32_t)(v * v + 3 * v);
}

static void fill_cells(const recipe *how, dice *d, sample *s)
{
    size_t *values = get(s->l, sizeof *values), *mode = get(how->n_modes * s->l, sizeof *mode);
    for (size_t r = 0; r < s->l; r++)
        values[r] = chance(d, how->constant) ? 1 : 2 + below(d, how->max_values - 1);
    for (size_t m = 0; m < how->n_modes * s->l; m++) mode[m] = below(d, values[m % s->l]);
    for (size_t i = 0; i < s->n; i++) {
        size_t m = how->n_modes > 0 ? below(d, how->n_modes) : 0;
        for (size_t r = 0; r < s->l; r++) {
            bool drawn = how->n_modes == 0 || chance(d, how->noise);
            s->codes[i * s->l + r] = value_of(drawn ? below(d, values[r]) : mode[m * s->l + r]);
            if (chance(d, how->missing)) s->codes[i * s->l + r] = -1;
        }
        if (i > 0 && chance(d, how->repeats))
            memcpy(&s->codes[i * s->l], &s->codes[below(d, i) * s->l], s->l * sizeof *s->codes);
    }
    free(values);
    free(mode);
}

static sample make_sample(const recipe *how, dice *d)
{
    sample s = {.n = how->n, .l = how->l};
    s.codes = get(s.n * s.l, sizeof *s.codes);
    fill_cells(how, d, &s);
    if (!how->weighted) return s;
    s.weights = get(s.n, sizeof *s.weights);
    for (size_t i = 0; i < s.n; i++) s.weights[i] = chance(d, 40) ? 0 : (double)(1 + below(d, 3));
    return s;
}

static void free_sample(sample *s)
{
    free(s->codes);
    free(s->weights);
}

/* ---- The oracle's view of a sample ------------------------------------------------------------------ */

typedef struct view {
    oracle_table table;
    int32_t *codes, *o;
    double *weights;
    size_t *row;  /* sample row of each row kept */
    bool *varies; /* attributes with two values or more in rows that count */
} view;

static int by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Distinct values of column r in rows of any weight, ascending; missing ones last if they are a value. */
static size_t dictionary(const sample *s, size_t r, bool missing_is_value, int32_t *value)
{
    size_t n = 0, n_distinct = 0;
    bool missing = false;
    for (size_t i = 0; i < s->n; i++) {
        int32_t c = s->codes[i * s->l + r];
        missing = missing || c < 0;
        if (c >= 0) value[n++] = c;
    }
    qsort(value, n, sizeof *value, by_value);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || value[i] != value[i - 1]) value[n_distinct++] = value[i];
    if (missing && missing_is_value) value[n_distinct++] = -1;
    return n_distinct;
}

static int32_t rank_of(int32_t code, const int32_t *value, size_t n)
{
    for (size_t v = 0; v < n; v++)
        if (value[v] == code) return (int32_t)v;
    return -1;
}

static bool has_missing(const sample *s, size_t i)
{
    for (size_t r = 0; r < s->l; r++)
        if (s->codes[i * s->l + r] < 0) return true;
    return false;
}

static bool attribute_varies(const oracle_table *t, size_t r)
{
    int32_t first = -1;
    for (size_t i = 0; i < t->n; i++) {
        int32_t c = t->codes[i * t->l + r];
        if (c < 0 || (t->weights != NULL && t->weights[i] <= 0)) continue;
        if (first >= 0 && c != first) return true;
        first = c;
    }
    return false;
}

static view make_view(const sample *s, int32_t missing)
{
    view v = {0};
    size_t n = 0;
    int32_t *value = get(s->n + 1, sizeof *value);
    v.codes = get(s->n * s->l, sizeof *v.codes);
    v.o = get(s->l, sizeof *v.o);
    v.weights = s->weights != NULL ? get(s->n, sizeof *v.weights) : NULL;
    v.row = get(s->n, sizeof *v.row);
    for (size_t i = 0; i < s->n; i++)
        if (missing != COF_MISSING_DROP || !has_missing(s, i)) v.row[n++] = i;
    for (size_t r = 0; r < s->l; r++) {
        size_t n_values = dictionary(s, r, missing == COF_MISSING_VALUE, value);
        v.o[r] = (int32_t)n_values;
        for (size_t i = 0; i < n; i++)
            v.codes[i * s->l + r] = rank_of(s->codes[v.row[i] * s->l + r], value, n_values);
    }
    for (size_t i = 0; i < n && v.weights != NULL; i++) v.weights[i] = s->weights[v.row[i]];
    v.table = (oracle_table){v.codes, n, s->l, v.o, v.weights};
    v.varies = get(s->l, sizeof *v.varies);
    for (size_t r = 0; r < s->l; r++) v.varies[r] = attribute_varies(&v.table, r);
    free(value);
    return v;
}

static void free_view(view *v)
{
    free(v->codes);
    free(v->o);
    free(v->weights);
    free(v->row);
    free(v->varies);
}

static bool same_row(const view *v, size_t a, size_t b)
{
    size_t l = v->table.l, r = 0;
    while (r < l && (!v->varies[r] || v->codes[a * l + r] == v->codes[b * l + r])) r++;
    return r == l;
}

/* Up to `want` rows of weight that differ pairwise; how many there were. */
static int draw_rows(const view *v, dice *d, int want, size_t *row)
{
    const oracle_table *t = &v->table;
    int n = 0;
    for (int tries = 0; tries < 60 && n < want && t->n > 0; tries++) {
        size_t i = below(d, t->n);
        bool fresh = t->weights == NULL || t->weights[i] > 0;
        for (int j = 0; j < n; j++) fresh = fresh && !same_row(v, i, row[j]);
        if (fresh) row[n++] = i;
    }
    return n;
}

/* ---- Comparing -------------------------------------------------------------------------------------- */

typedef struct fitted {
    cof_model *model;
    cof_fit_info info;
    const int32_t *labels;
} fitted;

static fitted fit(const cof_table *table, const cof_fit_options *options)
{
    fitted f = {.info.struct_size = sizeof f.info};
    cof_error err;
    size_t n;
    if (cof_fit(table, options, &f.model, &f.info, &err) != COF_OK) fail_msg("cof_fit: %s", err.text);
    f.labels = cof_model_labels(f.model, &n);
    assert_int_equal(n, cof_table_n_rows(table));
    return f;
}

static cof_table *table_of(const sample *s)
{
    cof_table *table;
    cof_error err;
    if (cof_table_from_codes(NULL, s->codes, s->n, s->l, NULL, &table, &err) != COF_OK)
        fail_msg("%s", err.text);
    return table;
}

/* Sums of many terms that cancel to 0 in one order of addition leave a trace in another. */
static void assert_close(const char *what, double a, double b)
{
    if (fabs(a - b) > 1e-9 * fmax(fabs(a), fabs(b)) + 1e-12) fail_msg("%s: %.17g is not %.17g", what, a, b);
}

static const int stop_of[] = {
    [ORACLE_CONVERGED] = COF_STOP_CONVERGED, [ORACLE_CYCLE] = COF_STOP_CYCLE, [ORACLE_CAP] = COF_STOP_CAP};

static int n_stops[3], n_compared;

/* Fits with init rows and holds the outcome against the oracle's. `what` names the case in complaints. */
static void compare(const char *what, const cof_table *table, const view *v, const size_t *init,
                    cof_fit_options options)
{
    const oracle_table *t = &v->table;
    oracle_options how = {.k = (int)options.k,
                          .variant = options.variant == COF_VARIANT_PAPER ? ORACLE_PAPER : ORACLE_AUTHORS,
                          .max_rebuilds = options.max_rebuilds != 0 ? (int)options.max_rebuilds : 51,
                          .max_passes = options.max_passes != 0 ? (int)options.max_passes : 51,
                          /* the authors' variant decides ties as their doubles fall */
                          .row_tie = options.variant == COF_VARIANT_PAPER ? ORACLE_TIE : 0};
    uint64_t rows[MAX_K];
    oracle_result expected;
    int32_t *labels = get(t->n, sizeof *labels);
    for (uint32_t j = 0; j < options.k; j++) rows[j] = v->row[init[j]];
    options.init_rows = rows;
    oracle_kmodes(t, &how, init, labels);
    oracle_coforest(t, &how, labels, &expected);
    fitted f = fit(table, &options);
    size_t next = 0;
    for (size_t i = 0; i < cof_table_n_rows(table); i++) {
        bool kept = next < t->n && v->row[next] == i;
        int32_t label = kept ? labels[next++] : -1;
        if (f.labels[i] != label)
            fail_msg("%s: row %zu is in cluster %d, not %d", what, i, f.labels[i], label);
    }
    if (f.info.stop_reason != stop_of[expected.stop])
        fail_msg("%s: stop reason %d, not %d", what, f.info.stop_reason, stop_of[expected.stop]);
    if ((int)f.info.rebuilds != expected.rebuilds || (int)f.info.passes != expected.passes)
        fail_msg("%s: %u rebuilds and %u passes, not %d and %d", what, f.info.rebuilds, f.info.passes,
                 expected.rebuilds, expected.passes);
    assert_close(what, f.info.objective, expected.objective);
    assert_close(what, f.info.log_likelihood, expected.log_likelihood);
    size_t n_records;
    cof_model_history(f.model, &n_records);
    assert_int_equal(n_records, expected.passes);
    n_stops[expected.stop]++;
    n_compared++;
    cof_model_free(f.model);
    free(labels);
}

/* Both variants of one sample; false if it has too few distinct rows to cluster. */
static bool compare_sample(const char *family, const sample *s, dice *d, int k, const cof_fit_options *base)
{
    char what[128];
    size_t init[MAX_K];
    uint64_t seed = d->state;
    view v = make_view(s, base->missing);
    int n_rows = draw_rows(&v, d, k, init);
    bool varied = n_rows >= 2;
    cof_table *table = varied ? table_of(s) : NULL;
    for (int variant = 0; varied && variant < 2; variant++) {
        cof_fit_options options = *base;
        options.struct_size = sizeof options;
        options.k = (uint32_t)n_rows;
        options.variant = variant;
        options.weights = s->weights;
        snprintf(what, sizeof what, "%s, dice %llx, n %zu, l %zu, k %d, variant %d", family,
                 (unsigned long long)seed, s->n, s->l, n_rows, variant);
        compare(what, table, &v, init, options);
    }
    cof_table_free(table);
    free_view(&v);
    return varied;
}

static recipe small_recipe(dice *d)
{
    recipe how = {.n = 4 + below(d, 37), .l = 1 + below(d, 6), .max_values = 2 + below(d, 5)};
    how.n_modes = below(d, 5);
    how.noise = 20 + below(d, 60);
    return how;
}

static void run_family(const char *family, uint64_t seed, int n_tables, void (*change)(recipe *how, dice *d),
                       cof_fit_options base)
{
    int done = 0;
    n_tables /= (int)one_in();
    for (int i = 0; i < n_tables; i++) {
        dice d = {seed + (uint64_t)i * 1000003};
        recipe how = small_recipe(&d);
        if (change != NULL) change(&how, &d);
        sample s = make_sample(&how, &d);
        base.threads = 1 + (uint32_t)(i % 3);
        done += compare_sample(family, &s, &d, 2 + (int)below(&d, 4), &base);
        free_sample(&s);
    }
    assert_in_range(done, n_tables / 2, n_tables);
}

/* ---- The oracle itself ------------------------------------------------------------------------------- */

/* A table worked out by hand and with the authors' files: six rows, modes x2 and x5. */
static void worked_example(void **state)
{
    (void)state;
    const int32_t codes[] = {0, 0, 2, 1, 1, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 0, 2, 0, 2, 1, 2, 0, 2, 1};
    const int32_t o[] = {3, 2, 3, 2}, expected[] = {1, 0, 0, 1, 1, 1};
    const size_t init[] = {1, 4};
    const double objective[] = {[ORACLE_PAPER] = 1.979899, [ORACLE_AUTHORS] = 4 * 0.247489};
    oracle_table t = {codes, 6, 4, o, NULL};
    for (int variant = 0; variant < 2; variant++) {
        oracle_options how = {
            .k = 2, .variant = (oracle_variant)variant, .max_rebuilds = 51, .max_passes = 51};
        oracle_result result;
        int32_t labels[6];
        assert_int_equal(oracle_kmodes(&t, &how, init, labels), 2);
        assert_memory_equal(labels, expected, sizeof expected);
        oracle_coforest(&t, &how, labels, &result);
        assert_memory_equal(labels, expected, sizeof expected);
        assert_int_equal(result.stop, ORACLE_CONVERGED);
        assert_true(fabs(result.objective - objective[variant]) < 1e-5);
        assert_int_equal(oracle_onehot_kmeans(&t, &how, init, labels), 2);
        assert_memory_equal(labels, expected, sizeof expected);
    }
}

/* ---- Families --------------------------------------------------------------------------------------- */

static void plain_tables(void **state)
{
    (void)state;
    run_family("plain", 1, 2000, NULL, (cof_fit_options){0});
}

static void repeat_rows(recipe *how, dice *d)
{
    how->repeats = 40 + below(d, 50);
}

static void repeated_rows(void **state)
{
    (void)state;
    run_family("repeated rows", 2, 1000, repeat_rows, (cof_fit_options){0});
}

static void add_constants(recipe *how, dice *d)
{
    how->constant = 40;
    how->l += below(d, 4);
}

static void constant_attributes(void **state)
{
    (void)state;
    run_family("constant attributes", 3, 500, add_constants, (cof_fit_options){0});
}

static void add_weights(recipe *how, dice *d)
{
    how->weighted = true;
    how->repeats = chance(d, 50) ? 60 : 0;
}

static void weighted_rows(void **state)
{
    (void)state;
    run_family("weights", 4, 1000, add_weights, (cof_fit_options){0});
}

static void punch_holes(recipe *how, dice *d)
{
    how->missing = 5 + below(d, 20);
    how->weighted = chance(d, 20);
    how->n += 10;
}

static void missing_is_a_value(void **state)
{
    (void)state;
    run_family("missing as a value", 5, 500, punch_holes, (cof_fit_options){.missing = COF_MISSING_VALUE});
}

static void missing_is_ignored(void **state)
{
    (void)state;
    run_family("missing ignored", 6, 500, punch_holes, (cof_fit_options){.missing = COF_MISSING_IGNORE});
}

static void missing_is_dropped(void **state)
{
    (void)state;
    run_family("missing dropped", 7, 500, punch_holes, (cof_fit_options){.missing = COF_MISSING_DROP});
}

/* Full factorial designs, where mathematical ties abound. */
static void factorial_tables(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i += (int)one_in()) {
        dice d = {8 + (uint64_t)i * 1000003};
        size_t l = 2 + below(&d, 3), o[4], n = 1;
        for (size_t r = 0; r < l; r++) n *= o[r] = 2 + below(&d, 3);
        sample s = {.n = n, .l = l, .codes = get(n * l, sizeof *s.codes)};
        for (size_t row = 0; row < n; row++)
            for (size_t r = 0, rest = row; r < l; rest /= o[r++])
                s.codes[row * l + r] = (int32_t)(rest % o[r]);
        compare_sample("factorial", &s, &d, 2 + (int)below(&d, 3), &(cof_fit_options){.threads = 1});
        free_sample(&s);
    }
}

static void low_caps(void **state)
{
    (void)state;
    for (uint32_t cap = 1; cap <= 3; cap++) {
        run_family("few passes", 9, 150, NULL, (cof_fit_options){.max_passes = cap});
        run_family("few forests", 10, 150, NULL, (cof_fit_options){.max_rebuilds = cap});
        run_family("few of both", 11, 150, NULL, (cof_fit_options){.max_rebuilds = cap, .max_passes = cap});
    }
}

/* Seeds of tables whose partitions go round instead of settling, found by trying a million: forests that
 * return, with the default caps and with one pass per forest; and passes that return within one forest, which
 * end elsewhere later. */
static const uint32_t forests_return[] = {22972,  58504,  91537,  145902, 316712,
                                          365582, 451705, 505156, 740517, 970658};
static const uint32_t forests_return_one_pass[] = {35311,  39675,  166712, 274937, 310828, 324147, 417783,
                                                   749873, 870304, 906749, 911014, 919574, 924289};
static const uint32_t passes_return[] = {393517, 641231};

/* How many of the two variants stopped with a cycle. */
static int go_round(uint64_t seed, uint32_t max_passes)
{
    dice d = {seed};
    recipe how = {.n = 40 + below(&d, 80)};
    how.l = 2 + below(&d, 5);
    how.max_values = 3 + below(&d, 6);
    how.repeats = below(&d, 60);
    sample s = make_sample(&how, &d);
    int before = n_stops[ORACLE_CYCLE];
    compare_sample("cycle", &s, &d, 3 + (int)below(&d, 4),
                   &(cof_fit_options){.max_passes = max_passes, .threads = 1});
    free_sample(&s);
    return n_stops[ORACLE_CYCLE] - before;
}

static void cycles(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(forests_return); i++) assert_true(go_round(forests_return[i], 0) > 0);
    for (size_t i = 0; i < COUNT(forests_return_one_pass); i++)
        assert_true(go_round(forests_return_one_pass[i], 1) > 0);
    for (size_t i = 0; i < COUNT(passes_return); i++) go_round(passes_return[i], 0);
}

/* Enough rows for several threads to have work, folded and not. */
static void large_tables(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i += (int)one_in()) {
        dice d = {12 + (uint64_t)i * 1000003};
        recipe how = {.n = 9000 + below(&d, 4000), .l = i % 2 == 0 ? 4 : 9, .max_values = 5, .n_modes = 4};
        how.noise = 50;
        how.weighted = i >= 4;
        sample s = make_sample(&how, &d);
        uint64_t state_before = d.state;
        for (uint32_t threads = 1; threads <= 3; threads++) {
            d.state = state_before;
            assert_true(compare_sample("large", &s, &d, 5, &(cof_fit_options){.threads = threads}));
        }
        free_sample(&s);
    }
}

/* ---- A weight is a number of copies ------------------------------------------------------------------ */

/* The sample with every row written as often as it weighs; copy_of[i] says where row i first stands. */
static sample spell_out(const sample *s, size_t *copy_of)
{
    sample out = {.l = s->l};
    for (size_t i = 0; i < s->n; i++) out.n += (size_t)s->weights[i];
    out.codes = get(out.n * out.l, sizeof *out.codes);
    size_t at = 0;
    for (size_t i = 0; i < s->n; i++) {
        copy_of[i] = at;
        for (size_t c = 0; c < (size_t)s->weights[i]; c++)
            memcpy(&out.codes[at++ * s->l], &s->codes[i * s->l], s->l * sizeof *s->codes);
    }
    return out;
}

static void compare_copies(const sample *s, dice *d, int variant)
{
    size_t *copy_of = get(s->n, sizeof *copy_of), init[MAX_K];
    uint64_t light_rows[MAX_K], heavy_rows[MAX_K];
    view v = make_view(s, COF_MISSING_VALUE);
    sample copies = spell_out(s, copy_of);
    int k = draw_rows(&v, d, 2 + (int)below(d, 3), init);
    for (int j = 0; j < k; j++) heavy_rows[j] = copy_of[light_rows[j] = init[j]];
    if (k >= 2) {
        cof_table *light = table_of(s), *heavy = table_of(&copies);
        cof_fit_options options = {.struct_size = sizeof options, .k = (uint32_t)k, .variant = variant};
        options.init_rows = light_rows;
        options.weights = s->weights;
        fitted a = fit(light, &options);
        options.init_rows = heavy_rows;
        options.weights = NULL;
        fitted b = fit(heavy, &options);
        for (size_t i = 0; i < s->n; i++)
            if (s->weights[i] > 0) assert_int_equal(a.labels[i], b.labels[copy_of[i]]);
        assert_close("objective of copies", a.info.objective, b.info.objective);
        assert_close("likelihood of copies", a.info.log_likelihood, b.info.log_likelihood);
        assert_int_equal(a.info.rebuilds, b.info.rebuilds);
        assert_int_equal(a.info.passes, b.info.passes);
        assert_int_equal(a.info.stop_reason, b.info.stop_reason);
        cof_model_free(a.model);
        cof_model_free(b.model);
        cof_table_free(light);
        cof_table_free(heavy);
    }
    free(copy_of);
    free_sample(&copies);
    free_view(&v);
}

static void weight_is_copies(void **state)
{
    (void)state;
    for (int i = 0; i < 400; i += (int)one_in()) {
        dice d = {13 + (uint64_t)i * 1000003};
        recipe how = small_recipe(&d);
        how.weighted = true;
        sample s = make_sample(&how, &d);
        compare_copies(&s, &d, i % 2);
        free_sample(&s);
    }
}

/* ---- The authors' program ---------------------------------------------------------------------------- */

static cof_table *read_table(const char *path)
{
    cof_table *table;
    cof_error err;
    if (cof_table_read(NULL, path, NULL, &table, &err) != COF_OK) fail_msg("%s", err.text);
    const char *not_clustered[] = {"animal", "class"};
    for (size_t i = 0; i < COUNT(not_clustered); i++) {
        size_t column = cof_table_find(table, not_clustered[i]);
        if (column != SIZE_MAX)
            assert_int_equal(cof_table_set_role(table, column, COF_ROLE_IGNORED, &err), COF_OK);
    }
    return table;
}

static uint32_t parse_rows(const char *text, uint64_t *rows)
{
    uint32_t k = 0;
    for (char *end; k < MAX_K; text = end + 1) {
        rows[k++] = strtoull(text, &end, 10) - 1;
        if (*end != ',') break;
    }
    return k;
}

static void check_case(const cof_table *table, const char *name, const char *line)
{
    uint64_t rows[MAX_K];
    const char *labels = strchr(line, ';') + 1;
    cof_fit_options options = {.struct_size = sizeof options, .variant = COF_VARIANT_AUTHORS};
    options.k = parse_rows(line, rows);
    options.init_rows = rows;
    fitted f = fit(table, &options);
    for (size_t i = 0; i < cof_table_n_rows(table); i++)
        if (f.labels[i] != labels[i] - '1')
            fail_msg("%s: row %zu differs from the authors' in %s", name, i + 1, line);
    cof_model_free(f.model);
}

/* Returns how many cases there were. */
static int check_cases(const char *name, const char *table_path)
{
    static char line[4096];
    char path[512];
    snprintf(path, sizeof path, "%s/authors/%s.cases", COF_TEST_DATA, name);
    cof_table *table = read_table(table_path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    int n = 0;
    for (; fgets(line, sizeof line, file) != NULL; n++)
        if ((unsigned)n % one_in() == 0) check_case(table, name, line);
    fclose(file);
    cof_table_free(table);
    return n;
}

/* Also where rounding decided between clusters or edges that are equal in mathematics: the variant adds up in
 * the program's order. */
static void authors_program(void **state)
{
    (void)state;
    char name[32], path[512];
    const char *shipped[] = {"zoo", "voting", "lenses"};
    int n = 0;
    for (size_t i = 0; i < COUNT(shipped); i++) {
        snprintf(path, sizeof path, "%s/%s.csv", COF_DATA, shipped[i]);
        n += check_cases(shipped[i], path);
    }
    for (int i = 1; i <= 30; i++) {
        snprintf(name, sizeof name, "random%02d", i);
        snprintf(path, sizeof path, "%s/authors/%s.csv", COF_TEST_DATA, name);
        n += check_cases(name, path);
    }
    assert_int_equal(n, 1319);
}

/* The families must have met every way to stop, or they prove less than they seem to. */
static void every_stop_was_met(void **state)
{
    (void)state;
    print_message("compared %d fits: %d converged, %d cycled, %d capped\n", n_compared,
                  n_stops[ORACLE_CONVERGED], n_stops[ORACLE_CYCLE], n_stops[ORACLE_CAP]);
    assert_true(n_stops[ORACLE_CONVERGED] > 0 && n_stops[ORACLE_CYCLE] > 0 && n_stops[ORACLE_CAP] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(plain_tables),
        cmocka_unit_test(repeated_rows),
        cmocka_unit_test(constant_attributes),
        cmocka_unit_test(weighted_rows),
        cmocka_unit_test(missing_is_a_value),
        cmocka_unit_test(missing_is_ignored),
        cmocka_unit_test(missing_is_dropped),
        cmocka_unit_test(factorial_tables),
        cmocka_unit_test(low_caps),
        cmocka_unit_test(cycles),
        cmocka_unit_test(large_tables),
        cmocka_unit_test(weight_is_copies),
        cmocka_unit_test(authors_program),
        cmocka_unit_test(every_stop_was_met),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
