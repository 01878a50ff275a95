/* What most unit tests need: cmocka, checks that say what went wrong, a random source, small tables. */
#ifndef UNIT_HELPER_H
#define UNIT_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "coforest_extra.h"
#include "../../src/core/env.h"
#include "../../src/core/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static inline void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g", a, b);
}

static inline void assert_status(cof_status status, cof_status expected, const cof_error *err)
{
    if (status != expected)
        fail_msg("status %d instead of %d: %s", (int)status, (int)expected,
                 status != COF_OK ? err->text : "");
}

static inline void *get_zero(size_t n, size_t size)
{
    void *block = calloc(n > 0 ? n : 1, size);
    assert_non_null(block);
    return block;
}

static inline cofi_rng dice(uint64_t seed)
{
    cofi_rng rng;
    cofi_rng_seed(&rng, seed, 77);
    return rng;
}

static inline size_t below(cofi_rng *rng, size_t bound)
{
    return (size_t)cofi_rng_below(rng, bound);
}

/* A should_stop that says so after as many calls as the uint32_t it is given, which it counts down. */
static inline int stop_soon(void *ctx)
{
    uint32_t *left = ctx;
    if (*left == 0) return 1;
    --*left;
    return 0;
}

/* ---- Tables ------------------------------------------------------------------------------------- */

static inline cof_table *table_of(const int32_t *codes, size_t n_rows, size_t n_columns)
{
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_from_codes(NULL, codes, n_rows, n_columns, NULL, &table, &err), COF_OK, &err);
    return table;
}

/* n x l codes 0..o-1, rows scattered around n_modes modes: of ten cells one to three are noise. */
static inline int32_t *random_codes(cofi_rng *rng, size_t n, size_t l, size_t o, size_t n_modes)
{
    int32_t *codes = get_zero(n * l, sizeof *codes), *mode = get_zero(n_modes * l, sizeof *mode);
    for (size_t at = 0; at < n_modes * l; at++) mode[at] = (int32_t)below(rng, o);
    for (size_t i = 0; i < n; i++) {
        size_t m = below(rng, n_modes);
        for (size_t r = 0; r < l; r++)
            codes[i * l + r] = below(rng, 10) < 1 + m % 3 ? (int32_t)below(rng, o) : mode[m * l + r];
    }
    free(mode);
    return codes;
}

static inline cof_table *random_table(uint64_t seed, size_t n, size_t l, size_t o, size_t n_modes)
{
    cofi_rng rng = dice(seed);
    int32_t *codes = random_codes(&rng, n, l, o, n_modes);
    cof_table *table = table_of(codes, n, l);
    free(codes);
    return table;
}

/* The same with one in `holes` cells missing; 0: none. */
static inline cof_table *holey_table(uint64_t seed, size_t n, size_t l, size_t o, size_t n_modes,
                                     size_t holes)
{
    cofi_rng rng = dice(seed);
    int32_t *codes = random_codes(&rng, n, l, o, n_modes);
    for (size_t at = 0; holes > 0 && at < n * l; at++)
        if (below(&rng, holes) == 0) codes[at] = -1;
    cof_table *table = table_of(codes, n, l);
    free(codes);
    return table;
}

/* The worked example T6: six rows, four attributes, first modes x2 and x5. */
static inline cof_table *t6_table(void)
{
    static const int32_t t6[] = {0, 0, 2, 1, 1, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 0, 2, 0, 2, 1, 2, 0, 2, 1};
    return table_of(t6, 6, 4);
}

static inline cof_model *fit_model(const cof_table *table, const cof_fit_options *options, cof_fit_info *info)
{
    cof_model *model = NULL;
    cof_error err;
    assert_status(cof_fit(table, options, &model, info, &err), COF_OK, &err);
    return model;
}

static inline void assert_same_labels(const cof_model *a, const cof_model *b)
{
    size_t n_a, n_b;
    const int32_t *x = cof_model_labels(a, &n_a), *y = cof_model_labels(b, &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(x, y, n_a * sizeof *x);
}

static inline void assert_same_trees(const cof_model *a, const cof_model *b)
{
    assert_int_equal(cof_model_n_attributes(a), cof_model_n_attributes(b));
    for (size_t r = 0; r < cof_model_n_attributes(a); r++) {
        size_t n_a, n_b;
        const cof_edge *x = cof_model_edges(a, r, &n_a), *y = cof_model_edges(b, r, &n_b);
        assert_int_equal(n_a, n_b);
        for (size_t e = 0; e < n_a; e++) {
            assert_int_equal(x[e].u, y[e].u);
            assert_int_equal(x[e].v, y[e].v);
            assert_true(x[e].length == y[e].length);
        }
    }
}

static inline void assert_same_history(const cof_model *a, const cof_model *b)
{
    size_t n_a, n_b;
    const cof_pass_record *x = cof_model_history(a, &n_a), *y = cof_model_history(b, &n_b);
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) {
        assert_int_equal(x[i].restart, y[i].restart);
        assert_int_equal(x[i].rebuild, y[i].rebuild);
        assert_int_equal(x[i].pass, y[i].pass);
        assert_int_equal(x[i].moved, y[i].moved);
        assert_true(x[i].objective == y[i].objective);
    }
}

static inline void assert_same_record(const cof_restart_record *a, const cof_restart_record *b)
{
    assert_true(a->objective == b->objective);
    assert_true(a->log_likelihood == b->log_likelihood);
    assert_true(a->criterion == b->criterion);
    assert_int_equal(a->rebuilds, b->rebuilds);
    assert_int_equal(a->passes, b->passes);
    assert_int_equal(a->stop_reason, b->stop_reason);
    assert_int_equal(a->by_likelihood, b->by_likelihood);
}

static inline void assert_same_records(const cof_model *a, const cof_model *b)
{
    size_t n_a, n_b;
    const cof_restart_record *x = cof_model_restarts(a, &n_a), *y = cof_model_restarts(b, &n_b);
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) assert_same_record(&x[i], &y[i]);
}

#endif
