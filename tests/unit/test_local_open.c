/* From a table and options to rows the pass can walk: attributes, weights, missing cells, folding. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/rows/local.h"

/* A problem, and the rows in memory that pose it. */
typedef struct opened {
    cofi_problem p;
    cofi_rows *rows;
    const cofi_local *local;
} opened;

static opened *open_table(const cof_table *table, cof_fit_options o, bool fold)
{
    opened *q = get_zero(1, sizeof *q);
    cof_error err;
    if (o.k == 0) o.k = 1;
    assert_status(cofi_rows_open(table, &o, (cofi_opening){.fold = fold}, &q->p, &q->rows, &err), COF_OK,
                  &err);
    assert_ptr_equal(q->rows->problem, &q->p);
    q->local = cofi_local_of(q->rows);
    return q;
}

static void close_table(opened *q)
{
    cofi_rows_close(q->rows);
    cofi_problem_close(&q->p);
    free(q);
}

static void assert_refused(const cof_table *table, cof_fit_options o, cof_status expected, const char *word)
{
    cofi_problem p;
    cofi_rows *rows;
    cof_error err = {""};
    if (o.k == 0) o.k = 1;
    assert_status(cofi_rows_open(table, &o, (cofi_opening){.fold = true}, &p, &rows, &err), expected, &err);
    if (strstr(err.text, word) == NULL) fail_msg("no '%s' in: %s", word, err.text);
    cofi_rows_close(rows);
    cofi_problem_close(&p);
    cofi_problem_close(&p);
}

static cof_table *strings_table(const char *const *cells, size_t n_rows, size_t n_columns)
{
    cof_table *table;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, n_rows, n_columns, NULL, &table, &err), COF_OK, &err);
    return table;
}

/* ---- Attributes --------------------------------------------------------------------------------- */

static void what_does_not_vary_takes_no_part(void **state)
{
    (void)state;
    static const int32_t codes[] = {1, 7, 0, 3, 2, 7, 1, 3, 3, 7, 0, 4};
    cof_table *table = table_of(codes, 3, 4);
    assert_int_equal(cof_table_set_role(table, 3, COF_ROLE_LABEL, NULL), COF_OK);
    opened *q = open_table(table, (cof_fit_options){.k = 3}, true);
    assert_int_equal(q->p.n_candidates, 3);
    assert_int_equal(q->p.n_attrs, 2);
    assert_int_equal(q->p.column[0], 0);
    assert_int_equal(q->p.column[1], 2);
    assert_int_equal(q->p.n_values[0], 3);
    assert_int_equal(q->p.n_values[1], 2);
    assert_int_equal(q->p.first[1], 3);
    assert_int_equal(q->p.first[2], 5);
    assert_int_equal(q->p.n_distinct, 3);
    assert_int_equal(q->p.total_weight, 3);
    assert_null(q->local->group);
    close_table(q);
    cof_table_free(table);
}

static void nothing_left_to_cluster_on(void **state)
{
    (void)state;
    static const int32_t equal[] = {1, 2, 1, 2, 1, 2};
    cof_table *table = table_of(equal, 3, 2);
    assert_refused(table, (cof_fit_options){.k = 2}, COF_ERR_NO_COLUMNS, "same value in every row");
    for (size_t c = 0; c < 2; c++)
        assert_int_equal(cof_table_set_role(table, c, COF_ROLE_IGNORED, NULL), COF_OK);
    assert_refused(table, (cof_fit_options){.k = 1}, COF_ERR_NO_COLUMNS, "role of an attribute");
    cof_table_free(table);
    table = table_of(equal, 1, 2); /* one row */
    assert_refused(table, (cof_fit_options){.k = 2}, COF_ERR_NO_COLUMNS, "same value");
    cof_table_free(table);
}

static void as_many_clusters_as_distinct_rows(void **state)
{
    (void)state;
    cof_table *table = t6_table();
    opened *q = open_table(table, (cof_fit_options){.k = 5}, true);
    assert_int_equal(q->p.n_distinct, 5);
    close_table(q);
    assert_refused(table, (cof_fit_options){.k = 6}, COF_ERR_FEW_ROWS, "only 5 rows differ");
    assert_refused(table, (cof_fit_options){.k = UINT32_MAX}, COF_ERR_FEW_ROWS, "4294967295");
    cof_table_free(table);
}

/* ---- Weights ------------------------------------------------------------------------------------ */

static void whole_weights_stay_as_they_are(void **state)
{
    (void)state;
    static const double weights[] = {1, 0, 3, 2, 1000000, 7};
    cof_table *table = t6_table();
    opened *q = open_table(table, (cof_fit_options){.weights = weights}, true);
    assert_true(q->p.unit == 1);
    for (size_t i = 0; i < 6; i++) assert_int_equal(q->local->table_weight[i], weights[i]);
    assert_int_equal(q->p.total_weight, 1000013);
    close_table(q);
    cof_table_free(table);
}

/* Others are measured finely enough that none changes by more than the rounding of their sum. */
static void check_units(const double *weights, double tolerance)
{
    cof_table *table = t6_table();
    opened *q = open_table(table, (cof_fit_options){.weights = weights}, true);
    double total = 0;
    for (size_t i = 0; i < 6; i++) total += weights[i];
    assert_true(isfinite(q->p.unit) && q->p.unit > 0);
    assert_true(q->p.total_weight > 0 && q->p.total_weight < UINT64_C(1) << 43);
    for (size_t i = 0; i < 6; i++) {
        assert_near((double)q->local->table_weight[i] / q->p.unit, weights[i], tolerance * total);
        assert_int_equal(q->local->table_weight[i] > 0, weights[i] > 0); /* what weighs little still weighs */
    }
    close_table(q);
    cof_table_free(table);
}

static void other_weights_become_units(void **state)
{
    (void)state;
    static const double sets[][6] = {
        {0.1, 0.2, 0.3, 0.4, 0.5, 0},
        {1e-12, 1, 1, 1, 1, 1.5},
        {1e15, 1, 2, 3, 4, 5},
        {1e300, 1e300, 1e299, 1, 1, 0},
        {1e-290, 1e-290, 1e-289, 0, 1e-291, 1e-299},
        {0x1p41, 0x1p41, 0, 0, 0, 0},
        {0x1p41, 0x1p41, 0.5, 0, 0, 0},
    };
    for (size_t s = 0; s < COUNT(sets); s++) check_units(sets[s], 0x1p-41);
}

/* A unit in which such a total has 42 bits would be infinite; a coarser one does. */
static void weights_near_the_smallest_double(void **state)
{
    (void)state;
    static const double sets[][6] = {
        {1e-300, 2e-310, 3e-310, 0, 1e-310, 1e-310},
        {5e-324, 5e-324, 5e-324, 5e-324, 5e-324, 5e-324},
    };
    for (size_t s = 0; s < COUNT(sets); s++) {
        cof_table *table = t6_table();
        opened *q = open_table(table, (cof_fit_options){.weights = sets[s]}, true);
        assert_true(isfinite(q->p.unit) && q->p.unit > 0);
        assert_true(q->p.total_weight < UINT64_C(1) << 43);
        for (size_t i = 0; i < 6; i++) assert_int_equal(q->local->table_weight[i] > 0, sets[s][i] > 0);
        close_table(q);
        cof_table_free(table);
    }
}

/* The same rows in any order weigh the same, in the same unit. */
static void the_unit_does_not_depend_on_the_order(void **state)
{
    (void)state;
    enum { N = 5000 };
    static const double least[] = {0, 1e-3, 1e-9}, most[] = {1, 1e6, 1e18};
    double *weights = get_zero(N, sizeof *weights), *turned = get_zero(N, sizeof *turned);
    size_t *at = get_zero(N, sizeof *at);
    cofi_rng rng = dice(12);
    for (uint64_t round = 0; round < 60; round++) {
        double low = least[round % 3], high = most[round / 3 % 3];
        cof_table *table = random_table(round, N, 2, 5, 2);
        for (size_t i = 0; i < N; i++) {
            double share = (double)below(&rng, 1 << 30) / (1 << 30);
            weights[i] = below(&rng, 5) == 0 ? 0 : low + (high - low) * share * share * share;
            at[i] = i;
        }
        if (round % 2 == 0) { /* a total at the edge between two units: here rounding would tell */
            double total = 0;
            for (size_t i = 0; i < N; i++) total += weights[i];
            double edge = ldexp(1, ilogb(total) + 1);
            for (size_t i = 0; i < N; i++) weights[i] *= edge / total;
        }
        for (size_t i = N - 1; i > 0; i--) {
            size_t other = below(&rng, i + 1), swap = at[i];
            at[i] = at[other];
            at[other] = swap;
        }
        for (size_t i = 0; i < N; i++) turned[i] = weights[at[i]];
        opened *q = open_table(table, (cof_fit_options){.weights = weights}, false);
        opened *other = open_table(table, (cof_fit_options){.weights = turned}, false);
        assert_true(q->p.unit == other->p.unit);
        assert_true(q->p.total_weight == other->p.total_weight);
        for (size_t i = 0; i < N; i++)
            assert_true(other->local->table_weight[i] == q->local->table_weight[at[i]]);
        close_table(q);
        close_table(other);
        cof_table_free(table);
    }
    free(weights);
    free(turned);
    free(at);
}

static void wrong_weights_are_refused(void **state)
{
    (void)state;
    static const struct {
        double weight[6];
        cof_status status;
        const char *word;
    } wrong[] = {
        {{1, 1, -1, 1, 1, 1}, COF_ERR_ARGUMENT, "row 3"},
        {{1, 1, 1, 1, 1, (double)NAN}, COF_ERR_ARGUMENT, "row 6"},
        {{(double)INFINITY, 1, 1, 1, 1, 1}, COF_ERR_ARGUMENT, "row 1"},
        {{0, 0, 0, 0, 0, 0}, COF_ERR_DATA, "all weights are 0"},
        {{1.5e308, 1.5e308, 1, 1, 1, 1}, COF_ERR_DATA, "too large"},
    };
    cof_table *table = t6_table();
    for (size_t w = 0; w < COUNT(wrong); w++)
        assert_refused(table, (cof_fit_options){.weights = wrong[w].weight}, wrong[w].status, wrong[w].word);
    cof_table_free(table);
}

static void a_column_of_weights(void **state)
{
    (void)state;
    static const char *const cells[] = {"a", "b", "c", "a", "2", "0", "1e2", "0.5"};
    cof_table *table = strings_table(cells, 4, 2);
    assert_int_equal(cof_table_set_role(table, 1, COF_ROLE_WEIGHT, NULL), COF_OK);
    opened *q = open_table(table, (cof_fit_options){.k = 2}, true);
    static const double expected[] = {2, 0, 100, 0.5};
    for (size_t i = 0; i < 4; i++)
        assert_near((double)q->local->table_weight[i] / q->p.unit, expected[i], 1e-9);
    assert_int_equal(q->p.n_attrs, 1);
    assert_int_equal(q->p.n_values[0], 3);
    assert_int_equal(q->p.n_present[0], 2); /* b weighs nothing */
    assert_int_equal(q->p.n_distinct, 2);
    close_table(q);
    static const double given[] = {1, 1, 1, 1}; /* goes before the column */
    q = open_table(table, (cof_fit_options){.weights = given}, true);
    assert_int_equal(q->p.total_weight, 4);
    close_table(q);
    cof_table_free(table);
}

static void a_column_that_is_no_weights(void **state)
{
    (void)state;
    static const char *const bad[] = {"-1", "x", "", "1 ", "nan", "inf", "1e999", NULL};
    for (size_t b = 0; b < COUNT(bad); b++) {
        const char *const cells[] = {"a", "b", "1", bad[b]};
        cof_table *table = strings_table(cells, 2, 2);
        assert_int_equal(cof_table_set_role(table, 1, COF_ROLE_WEIGHT, NULL), COF_OK);
        assert_refused(table, (cof_fit_options){.k = 1}, COF_ERR_DATA, "weight column 'V2'");
        cof_table_free(table);
    }
}

/* A row that weighs nothing makes neither a value nor a distinct row. */
static void rows_without_weight_do_not_count(void **state)
{
    (void)state;
    static const double weights[] = {1, 1, 0, 0, 0, 0};
    cof_table *table = t6_table();
    opened *q = open_table(table, (cof_fit_options){.k = 2, .weights = weights}, true);
    assert_int_equal(q->p.n_attrs, 2); /* a2 and a4 are constant in x1 and x2 */
    assert_int_equal(q->p.n_values[0], 3);
    assert_int_equal(q->p.n_present[0], 2);
    assert_int_equal(q->p.n_distinct, 2);
    close_table(q);
    assert_refused(table, (cof_fit_options){.k = 3, .weights = weights}, COF_ERR_FEW_ROWS, "only 2");
    cof_table_free(table);
}

/* ---- Missing cells ------------------------------------------------------------------------------ */

static cof_table *holes_table(void)
{
    static const int32_t codes[] = {1, 5, -1, 5, 2, -1, 1, 6, 2, 6};
    return table_of(codes, 5, 2);
}

static void missing_as_a_value(void **state)
{
    (void)state;
    cof_table *table = holes_table();
    opened *q = open_table(table, (cof_fit_options){.k = 5}, true);
    assert_int_equal(q->p.n_values[0], 3);
    assert_int_equal(q->p.first[2], 6);
    assert_int_equal(q->p.n_distinct, 5);
    assert_null(q->local->dropped);
    close_table(q);
    cof_table_free(table);
}

static void missing_ignored(void **state)
{
    (void)state;
    cof_table *table = holes_table();
    opened *q = open_table(table, (cof_fit_options){.missing = COF_MISSING_IGNORE}, true);
    assert_int_equal(q->p.n_values[0], 2);
    assert_int_equal(q->p.first[1], 3); /* a slot for cells that add nothing */
    assert_int_equal(q->p.first[2], 6);
    assert_int_equal(cofi_id(q->local->cells.ids[0], 1), 2);
    close_table(q);
    cof_table_free(table);
}

static void missing_dropped(void **state)
{
    (void)state;
    cof_table *table = holes_table();
    opened *q = open_table(table, (cof_fit_options){.k = 3, .missing = COF_MISSING_DROP}, true);
    static const uint8_t dropped[] = {0, 1, 1, 0, 0};
    assert_memory_equal(q->local->dropped, dropped, 5);
    assert_int_equal(q->p.n_dropped, 2);
    assert_int_equal(q->p.total_weight, 3);
    assert_int_equal(q->p.n_distinct, 3);
    assert_int_equal(q->p.n_present[0], 2);
    close_table(q);
    assert_refused(table, (cof_fit_options){.k = 4, .missing = COF_MISSING_DROP}, COF_ERR_FEW_ROWS, "only 3");
    static const double weights[] = {0, 1, 1, 0, 0}; /* all that weigh are dropped */
    assert_refused(table, (cof_fit_options){.missing = COF_MISSING_DROP, .weights = weights},
                   COF_ERR_NO_COLUMNS, "no column");
    cof_table_free(table);
    static const int32_t full_of_holes[] = {1, -1, -1, 2};
    table = table_of(full_of_holes, 2, 2);
    assert_refused(table, (cof_fit_options){.missing = COF_MISSING_DROP}, COF_ERR_FEW_ROWS, "every row");
    cof_table_free(table);
}

static void missing_refused(void **state)
{
    (void)state;
    cof_table *table = holes_table();
    cof_fit_options o = {.missing = COF_MISSING_ERROR};
    assert_refused(table, o, COF_ERR_MISSING, "row 2 has no value in column 'V1'");
    assert_int_equal(cof_table_set_role(table, 0, COF_ROLE_IGNORED, NULL), COF_OK);
    assert_refused(table, o, COF_ERR_MISSING, "row 3 has no value in column 'V2'");
    cof_table_free(table);
    table = t6_table();
    opened *q = open_table(table, o, true);
    close_table(q);
    cof_table_free(table);
}

/* ---- Folding ------------------------------------------------------------------------------------ */

/* n_distinct rows, repeated in turn up to n. */
static cof_table *repeating_table(size_t n, size_t n_distinct)
{
    int32_t *codes = get_zero(2 * n, sizeof *codes);
    for (size_t i = 0; i < n; i++) {
        codes[2 * i] = (int32_t)(i % n_distinct);
        codes[2 * i + 1] = (int32_t)(i % n_distinct % 3);
    }
    cof_table *table = table_of(codes, n, 2);
    free(codes);
    return table;
}

static void rows_fold_when_half_of_them_go(void **state)
{
    (void)state;
    static const size_t distinct[] = {2, 10, 50, 51, 99, 100};
    for (size_t d = 0; d < COUNT(distinct); d++) {
        cof_table *table = repeating_table(100, distinct[d]);
        opened *q = open_table(table, (cof_fit_options){.k = 2}, true);
        bool folded = distinct[d] <= 50;
        assert_int_equal(q->local->group != NULL, folded);
        assert_int_equal(q->local->cells.n_rows, folded ? distinct[d] : 100);
        assert_int_equal(q->p.n_distinct, distinct[d]);
        close_table(q);
        q = open_table(table, (cof_fit_options){.k = 2}, false);
        assert_true(q->local->group == NULL && q->local->cells.n_rows == 100 &&
                    q->p.n_distinct == distinct[d]);
        close_table(q);
        cof_table_free(table);
    }
}

/* Every row of the table finds its own cells in the folded one, and nothing is lost or counted twice. */
static void folded_rows_stand_for_their_copies(void **state)
{
    (void)state;
    enum { N = 1000 };
    double weights[N];
    cofi_rng rng = dice(1);
    for (size_t i = 0; i < N; i++) weights[i] = (double)below(&rng, 3);
    cof_table *table = repeating_table(N, 300);
    opened *q = open_table(table, (cof_fit_options){.k = 2, .weights = weights}, true);
    uint64_t weight[300] = {0}, copies[300] = {0};
    assert_int_equal(q->local->cells.n_rows, 300);
    for (size_t i = 0; i < N; i++) {
        for (size_t r = 0; r < 2; r++)
            assert_int_equal(cofi_id(q->local->cells.ids[r], q->local->group[i]),
                             cof_table_code(table, i, r));
        weight[q->local->group[i]] += (uint64_t)weights[i];
        copies[q->local->group[i]] += weights[i] > 0;
    }
    for (size_t g = 0; g < 300; g++) {
        assert_int_equal(q->local->cells.weight[g], weight[g]);
        assert_int_equal(q->local->cells.copies[g], copies[g]);
    }
    close_table(q);
    cof_table_free(table);
}

/* A large table shows a sample before its equal rows are looked for: they are where that clearly pays, or
 * where k may be too large. */
static void large_tables_are_sampled_first(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const struct {
        size_t n_distinct;
        uint32_t k;
        bool counted, folded;
    } cases[] = {
        {50, 2, true, true},    {50, 50, true, true}, {N, 2, false, false},
        {N, 9000, true, false}, {3, 3, true, true},
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        cof_table *table = repeating_table(N, cases[c].n_distinct);
        opened *q = open_table(table, (cof_fit_options){.k = cases[c].k, .restarts = 10}, true);
        assert_int_equal(q->p.counted, cases[c].counted);
        assert_int_equal(q->local->group != NULL, cases[c].folded);
        if (q->p.counted) assert_int_equal(q->p.n_distinct, cases[c].n_distinct);
        close_table(q);
        cof_table_free(table);
    }
    cof_table *table = repeating_table(N, 50);
    assert_refused(table, (cof_fit_options){.k = 51}, COF_ERR_FEW_ROWS, "only 50");
    cof_table_free(table);
}

/* Four rows among twenty thousand equal ones: a sample may miss them, but five clusters need them. */
static void rare_rows_count(void **state)
{
    (void)state;
    enum { N = 20000 };
    int32_t *codes = get_zero(N, sizeof *codes);
    for (size_t i = 0; i < 4; i++) codes[i * 4999 + 11] = (int32_t)i + 1;
    cof_table *table = table_of(codes, N, 1);
    opened *q = open_table(table, (cof_fit_options){.k = 5}, true);
    assert_int_equal(q->p.n_distinct, 5);
    close_table(q);
    assert_refused(table, (cof_fit_options){.k = 6}, COF_ERR_FEW_ROWS, "only 5");
    cof_table_free(table);
    free(codes);
}

/* ---- Failing memory ----------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const int32_t codes[] = {1, 5, 1, 5, -1, 6, 2, 5, 1, 5, 2, 6, 2, 6, 2, 6};
    static const double weights[] = {1, 0.5, 1, 1, 1, 0, 1, 1};
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_env env = alloc_env(&meter);
        cof_table *table;
        assert_int_equal(cof_table_from_codes(&env, codes, 8, 2, NULL, &table, NULL), COF_OK);
        meter.fail_at = meter.count + n;
        cof_fit_options o = {.k = 2, .missing = COF_MISSING_DROP, .weights = weights};
        cofi_problem p;
        cofi_rows *rows;
        cof_status status = cofi_rows_open(table, &o, (cofi_opening){.fold = true}, &p, &rows, NULL);
        cofi_rows_close(rows);
        cofi_problem_close(&p);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_vary_takes_no_part),
        cmocka_unit_test(nothing_left_to_cluster_on),
        cmocka_unit_test(as_many_clusters_as_distinct_rows),
        cmocka_unit_test(whole_weights_stay_as_they_are),
        cmocka_unit_test(other_weights_become_units),
        cmocka_unit_test(weights_near_the_smallest_double),
        cmocka_unit_test(the_unit_does_not_depend_on_the_order),
        cmocka_unit_test(wrong_weights_are_refused),
        cmocka_unit_test(a_column_of_weights),
        cmocka_unit_test(a_column_that_is_no_weights),
        cmocka_unit_test(rows_without_weight_do_not_count),
        cmocka_unit_test(missing_as_a_value),
        cmocka_unit_test(missing_ignored),
        cmocka_unit_test(missing_dropped),
        cmocka_unit_test(missing_refused),
        cmocka_unit_test(rows_fold_when_half_of_them_go),
        cmocka_unit_test(folded_rows_stand_for_their_copies),
        cmocka_unit_test(large_tables_are_sampled_first),
        cmocka_unit_test(rare_rows_count),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
