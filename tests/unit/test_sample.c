/* A sample of a table's rows: what is in it, and what is counted of it. */
#include "alloc_helper.h"
#include "fit_helper.h"

/* Of the sample's problem only n_present is its own. */
static void close_sample(cofi_problem *problem, cofi_rows *rows)
{
    cofi_rows_close(rows);
    cofi_problem_close(problem);
}

static uint64_t n_weighing(const cofi_rows *rows)
{
    uint64_t n = 0;
    for (size_t i = 0; i < cells_of(rows)->n_rows; i++) n += cofi_cells_weight(cells_of(rows), i) > 0;
    return n;
}

/* Every sampled row is a row of its stretch, with its weight; values present are those of the sample. */
static void assert_sample(const rig *g, size_t n, uint32_t threads)
{
    const cofi_cells *whole = cells_of(g->rows);
    cofi_problem problem;
    cofi_rows *rows = NULL;
    cofi_team *team;
    cof_error err;
    uint64_t total = 0;
    size_t width = whole->n_rows / n;
    assert_status(cofi_team_open(&g->rows->problem->env, threads, &team, &err), COF_OK, &err);
    assert_status(cofi_rows_sample(g->rows, threads > 1 ? team : NULL, n, n, &problem, &rows, &err), COF_OK,
                  &err);
    const cofi_cells *some = cells_of(rows);
    assert_int_equal(problem.n_distinct, n_weighing(rows)); /* no two rows are equal */
    assert_in_range(problem.n_distinct, 2, n);
    assert_int_equal(some->n_rows, n);
    assert_int_equal(problem.n_table_rows, n);
    assert_int_equal(problem.n_walked, n);
    for (size_t s = 0; s < n; s++) {
        uint32_t row = cofi_id(some->ids[0], s);
        assert_in_range(row, width * s, width * s + width - 1);
        assert_int_equal(cofi_id(some->ids[1], s), cofi_id(whole->ids[1], row));
        assert_int_equal(some->weight[s], whole->weight[row]);
        total += some->weight[s];
    }
    assert_int_equal(problem.total_weight, total);
    assert_true(problem.n_present[0] <= n && problem.n_present[1] == 5);
    close_sample(&problem, rows);
    cofi_team_close(team);
}

static void sample_is_rows_of_the_whole(void **state)
{
    (void)state;
    cofi_rng rng = dice(5);
    int32_t codes[1000 * 3];
    double weights[1000];
    for (size_t i = 0; i < 1000; i++) {
        weights[i] = (double)below(&rng, 3);
        codes[3 * i] = (int32_t)i; /* tells the row */
        codes[3 * i + 1] = (int32_t)below(&rng, 5);
        codes[3 * i + 2] = i == 500 ? 1 : 0;
    }
    rig *g = open_rig(table_of(codes, 1000, 3), (cof_fit_options){.k = 2, .weights = weights});
    for (uint32_t threads = 1; threads <= 3; threads++) {
        assert_sample(g, 100, threads);
        assert_sample(g, 1000, threads); /* several tasks */
    }
    close_rig(g);
}

/* Rows that differ are told apart from those that only repeat. */
static void equal_rows_are_counted_once(void **state)
{
    (void)state;
    int32_t codes[1000 * 2];
    for (size_t i = 0; i < 1000; i++) {
        codes[2 * i] = (int32_t)(i % 7);
        codes[2 * i + 1] = (int32_t)(i % 2);
    }
    double weights[1000];
    for (size_t i = 0; i < 1000; i++) weights[i] = i % 7 == 3 ? 0 : 1; /* one of seven weighs nothing */
    rig *g = open_rig(table_of(codes, 1000, 2), (cof_fit_options){.k = 2, .weights = weights});
    cofi_problem problem;
    cofi_rows *rows = NULL;
    cof_error err;
    assert_status(cofi_rows_sample(g->rows, NULL, 12, 12, &problem, &rows, &err), COF_OK, &err);
    uint64_t n = 0;
    for (size_t s = 0; s < 12; s++) {
        const cofi_cells *c = cells_of(rows);
        bool is_new = cofi_cells_weight(c, s) > 0;
        for (size_t t = 0; t < s; t++)
            if (cofi_cells_weight(c, t) > 0 && cofi_id(c->ids[0], t) == cofi_id(c->ids[0], s) &&
                cofi_id(c->ids[1], t) == cofi_id(c->ids[1], s))
                is_new = false;
        n += is_new;
    }
    assert_int_equal(problem.n_distinct, n);
    close_sample(&problem, rows);
    close_rig(g);
}

/* Rows that differ only at the end of the table are found too, and no more than needed are looked at. */
static void counting_distinct_rows_ends_when_they_are_enough(void **state)
{
    (void)state;
    int32_t codes[1000];
    for (size_t i = 0; i < 1000; i++) codes[i] = i < 900 ? 0 : (int32_t)i;
    rig *g = open_rig(table_of(codes, 1000, 1), (cof_fit_options){.k = 2});
    static const struct {
        size_t enough, least, most;
    } cases[] = {{1, 1, 1}, {2, 2, 101}, {50, 50, 101}, {101, 101, 101}, {102, 101, 101}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cofi_problem problem;
        cofi_rows *rows = NULL;
        cof_error err;
        assert_status(cofi_rows_sample(g->rows, NULL, 1000, cases[c].enough, &problem, &rows, &err), COF_OK,
                      &err);
        assert_in_range(problem.n_distinct, cases[c].least, cases[c].most);
        close_sample(&problem, rows);
    }
    close_rig(g);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const int32_t codes[] = {1, 5, 1, 6, 3, 6, 2, 5, 1, 7, 2, 6, 2, 8, 2, 9};
    static const double weights[] = {1, 0.5, 1, 1, 1, 0, 1, 1};
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_env env = alloc_env(&meter);
        cof_table *table;
        assert_int_equal(cof_table_from_codes(&env, codes, 8, 2, NULL, &table, NULL), COF_OK);
        rig *g = open_rig(table, (cof_fit_options){.k = 2, .init = COF_INIT_RANDOM, .weights = weights});
        cofi_problem problem;
        cofi_rows *rows = NULL;
        meter.fail_at = meter.count + n;
        cof_status status = cofi_rows_sample(g->rows, NULL, 4, 4, &problem, &rows, NULL);
        close_sample(&problem, rows);
        close_rig(g);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_is_rows_of_the_whole),
        cmocka_unit_test(equal_rows_are_counted_once),
        cmocka_unit_test(counting_distinct_rows_ends_when_they_are_enough),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
