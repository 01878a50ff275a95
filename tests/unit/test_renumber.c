/* The rows of a sample without the values that no row holds: what stays, and that a fit does not notice. */
#include "alloc_helper.h"
#include "fit_helper.h"

/* A sample of rows, and the same rows with new value ids. */
typedef struct two_samples {
    rig *g;
    cofi_problem problem, tight_problem;
    cofi_rows *rows, *tight;
} two_samples;

static void close_both(two_samples *s)
{
    cofi_rows_close(s->tight);
    cofi_problem_close(&s->tight_problem);
    cofi_rows_close(s->rows);
    cofi_problem_close(&s->problem);
    close_rig(s->g);
}

/* The order of ties is the reverse of the ids; the slot of ignored cells is the last. */
static uint32_t place_in_order(const cofi_problem *p, size_t r, uint32_t at)
{
    return at < p->n_values[r] ? p->n_values[r] - 1 - at : at;
}

static uint32_t *reverse_order(const cofi_problem *p)
{
    uint32_t *order = get_zero(cofi_n_flat(p), sizeof *order);
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t g = p->first[r]; g < p->first[r + 1]; g++)
            order[g] = place_in_order(p, r, g - p->first[r]);
    return order;
}

/* 2,000 rows whose first column has about 900 values, some of them missing; 60 of the rows are the sample. */
static void open_both(two_samples *s, uint32_t **order)
{
    static int32_t codes[2000 * 3];
    static double weights[2000];
    cofi_rng rng = dice(11);
    memset(s, 0, sizeof *s);
    cof_error err;
    for (size_t i = 0; i < 2000; i++) {
        weights[i] = (double)below(&rng, 3);
        codes[3 * i] = (int32_t)below(&rng, 900);
        codes[3 * i + 1] = (int32_t)below(&rng, 4);
        codes[3 * i + 2] = i % 50 == 0 ? -1 : (int32_t)below(&rng, 30);
    }
    s->g = open_rig(table_of(codes, 2000, 3),
                    (cof_fit_options){.k = 3, .weights = weights, .missing = COF_MISSING_IGNORE});
    assert_status(cofi_rows_sample(s->g->rows, NULL, 60, 60, &s->problem, &s->rows, &err), COF_OK, &err);
    *order = reverse_order(&s->problem);
    s->problem.order = *order;
    assert_status(cofi_rows_renumber(s->rows, &s->tight_problem, &s->tight, &err), COF_OK, &err);
}

/* Two rows hold the same value, or values in the same order, before and after. */
static void ids_keep_their_order(void **state)
{
    (void)state;
    uint32_t *order;
    two_samples s;
    open_both(&s, &order);
    const cofi_cells *a = cells_of(s.rows), *b = cells_of(s.tight);
    assert_int_equal(b->n_rows, 60);
    assert_in_range(s.tight_problem.n_values[0], 2,
                    61); /* one row each, and the first in the order of ties */
    for (size_t r = 0; r < 3; r++) {
        uint32_t n_slots = s.problem.first[r + 1] - s.problem.first[r], n = s.problem.n_values[r];
        uint32_t tight_n = s.tight_problem.n_values[r], first = s.tight_problem.first[r];
        assert_int_equal(s.tight_problem.first[r + 1] - first - tight_n, n_slots - n); /* the ignored cells */
        for (size_t i = 0; i < 60; i++) {
            uint32_t x = cofi_id(a->ids[r], i), y = cofi_id(b->ids[r], i);
            assert_int_equal(x >= n, y >= tight_n);
            for (size_t j = 0; j < i; j++) {
                uint32_t u = cofi_id(a->ids[r], j), v = cofi_id(b->ids[r], j);
                assert_int_equal((x > u) - (x < u), (y > v) - (y < v));
            }
        }
        for (uint32_t at = 0; at + first < s.tight_problem.first[r + 1]; at++)
            assert_int_equal(s.tight_problem.order[first + at], place_in_order(&s.tight_problem, r, at));
    }
    for (size_t i = 0; i < 60; i++) assert_int_equal(cofi_cells_weight(a, i), cofi_cells_weight(b, i));
    assert_int_equal(s.tight_problem.total_weight, s.problem.total_weight);
    close_both(&s);
    free(order);
}

/* The labels of one restart. */
static void fit_labels(const cof_fit_options *o, cofi_rows *rows, cof_init init, uint32_t restart,
                       int32_t *label)
{
    const cofi_method *method = cofi_method_find(o->method);
    const cofi_start *start = cofi_start_of(init);
    void *of_method = NULL, *of_start = NULL;
    cofi_fit fit;
    cof_error err;
    assert_status(cofi_fit_open(rows, method, o, &fit, &err), COF_OK, &err);
    assert_status(method->open(&fit, &of_method, &err), COF_OK, &err);
    if (start->open != NULL) assert_status(start->open(&fit, NULL, &of_start, &err), COF_OK, &err);
    fit.log.restart = restart;
    cofi_rng_seed(&fit.rng, 7, restart);
    assert_status(start->run(&fit, of_start, &err), COF_OK, &err);
    assert_status(method->run(&fit, of_method, &err), COF_OK, &err);
    assert_status(cofi_partition_labels(&fit.partition, NULL, 60, label, &err), COF_OK, &err);
    if (start->close != NULL) start->close(&fit, of_start);
    cofi_fit_close(&fit);
}

static void a_fit_gives_the_same_labels(void **state)
{
    (void)state;
    static const cof_init inits[] = {COF_INIT_RANDOM, COF_INIT_KMEANS, COF_INIT_PORTFOLIO};
    uint32_t *order;
    two_samples s;
    open_both(&s, &order);
    for (size_t i = 0; i < COUNT(inits); i++)
        for (uint32_t restart = 0; restart < 4; restart++) {
            int32_t label[60], tight_label[60];
            fit_labels(&s.g->fit.host.o, s.rows, inits[i], restart, label);
            fit_labels(&s.g->fit.host.o, s.tight, inits[i], restart, tight_label);
            assert_memory_equal(label, tight_label, sizeof label);
        }
    close_both(&s);
    free(order);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const int32_t codes[] = {1, 5, 1, 6, 3, 6, 2, 5, 1, 7, 2, 6, 2, 8, 2, 9};
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_env env = alloc_env(&meter);
        cof_table *table;
        two_samples s = {.g = NULL};
        assert_int_equal(cof_table_from_codes(&env, codes, 8, 2, NULL, &table, NULL), COF_OK);
        s.g = open_rig(table, (cof_fit_options){.k = 2, .init = COF_INIT_RANDOM});
        assert_int_equal(cofi_rows_sample(s.g->rows, NULL, 4, 4, &s.problem, &s.rows, NULL), COF_OK);
        meter.fail_at = meter.count + n;
        cof_status status = cofi_rows_renumber(s.rows, &s.tight_problem, &s.tight, NULL);
        close_both(&s);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_keep_their_order),
        cmocka_unit_test(a_fit_gives_the_same_labels),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
