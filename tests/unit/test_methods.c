/* The worked numbers of the methods' specification, on its table T6, to 1e-6. The methods' sources are included
 * so that their value distances can be looked at. */
#include "../../src/method/h2h.c"

#include "../../src/method/methods.h"
#include "../../src/method/km.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const int32_t t6[] = {0, 0, 2, 1, 1, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 0, 2, 0, 2, 1, 2, 0, 2, 1};
static const uint64_t t6_seeds[] = {1, 4};
static const int32_t t6_labels[] = {1, 0, 0, 1, 1, 1};

typedef struct bench {
    cof_table *table;
    cofi_problem problem;
    cofi_engine e;
    const cofi_method *method;
    void *state;
} bench;

static void set_up(bench *b, const char *name, const int32_t *codes, size_t n, size_t l, uint32_t k,
                   const uint64_t *seeds)
{
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = k,
                         .restarts = 1,
                         .init_rows = seeds,
                         .threads = 1,
                         .max_passes = 51,
                         .max_rebuilds = 51,
                         .method = name};
    cof_error err = {""};
    memset(b, 0, sizeof *b);
    b->method = cofi_method_find(name);
    assert_non_null(b->method);
    assert_int_equal(cof_table_from_codes(NULL, codes, n, l, NULL, &b->table, &err), COF_OK);
    assert_int_equal(cofi_problem_open(b->table, &o, false, &b->problem, &err), COF_OK);
    assert_int_equal(cofi_engine_open(&b->problem, &o, &b->e, &err), COF_OK);
    if (b->method->open != NULL) assert_int_equal(b->method->open(&b->e, &b->state, &err), COF_OK);
    cofi_rng_seed(&b->e.rng, 1, 0);
    assert_int_equal(cofi_begin(&b->e, &err), COF_OK);
}

static void run_bench(bench *b)
{
    cof_error err = {""};
    assert_int_equal(b->method->run(&b->e, b->state, &err), COF_OK);
}

static void tear_down(bench *b)
{
    if (b->method->close != NULL) b->method->close(&b->e, b->state);
    cofi_engine_close(&b->e);
    cofi_problem_close(&b->problem);
    cof_table_free(b->table);
}

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1.0000001e-6)) print_error("got %.9f, wanted %.9f\n", got, wanted);
    assert_true(fabs(got - wanted) <= 1.0000001e-6);
}

/* Upper triangles: D1 (01, 02, 12), D2 (01), D3 (01, 02, 12), D4 (01). */
static void assert_distances(const bench *b, const double wanted[8])
{
    static const struct {
        size_t r;
        uint32_t a, b;
    } at[8] = {{0, 0, 1}, {0, 0, 2}, {0, 1, 2}, {1, 0, 1}, {2, 0, 1}, {2, 0, 2}, {2, 1, 2}, {3, 0, 1}};
    const cofi_km *km = b->state;
    for (int i = 0; i < 8; i++) {
        assert_near(cofi_distances_of(&b->e, &km->d, at[i].r, at[i].a)[at[i].b], wanted[i]);
        assert_near(cofi_distances_of(&b->e, &km->d, at[i].r, at[i].b)[at[i].a], wanted[i]);
    }
}

static void check_km(const char *name, const double wanted[8])
{
    bench b;
    set_up(&b, name, t6, 6, 4, 2, t6_seeds);
    assert_distances(&b, wanted);
    run_bench(&b);
    assert_memory_equal(b.e.pass.label, t6_labels, sizeof t6_labels);
    tear_down(&b);
}

static void test_lsm(void **s)
{
    (void)s;
    check_km("lsm", (double[]){0.520375, 0.673658, 0.796489, 1, 0.520375, 0.796489, 0.673658, 1});
}

static void test_cbdm(void **s)
{
    (void)s;
    check_km("cbdm", (double[]){0.608581, 0.608581, 0.902671, 0.816497, 0.673960, 0.704903, 0.703009, 1});
}

static void test_udm(void **s)
{
    (void)s;
    check_km("udm",
             (double[]){0.415801, 0.377557, 0.498416, 0.453153, 0.518007, 0.462895, 0.439612, 0.453153});
}

static void test_hdc(void **s)
{
    (void)s;
    check_km("hdc", (double[]){0.625, 0.416667, 0.625, 0.566667, 0.875, 0.541667, 0.583333, 0.566667});
}

static void test_adc(void **s)
{
    (void)s;
    check_km("adc", (double[]){0.486111, 0.333333, 0.504630, 0.58, 0.652778, 0.486111, 0.481481, 0.6});
}

/* Het2Hom: positions on the lines, the first objective, errors, weights and rounds. */
static void test_h2h(void **state)
{
    static const double positions[][3] = {{0, 0.625, 0.05},        {0, 0.075, 0.416667},
                                          {0.507353, 0, 0.708333}, {0, 0.875, 0.466270},
                                          {0, 0.652778, 0.625},    {0.613095, 0, 0.583333}};
    static const size_t line_of[] = {0, 1, 2, 4, 5, 6};
    static const double errors[] = {0.0025, 0.173611, 0.040393, 0.49, 0.167060, 0.000772, 0.340278, 0.49};
    static const double weights[] = {0.083324, 0.083338, 0.083338, 0.25, 0.082712, 0.083644, 0.083644, 0.25};
    (void)state;
    bench b;
    cof_error err = {""};
    set_up(&b, "h2h", t6, 6, 4, 2, t6_seeds);
    h2h *s = b.state;
    assert_int_equal(s->n_lines, 8);
    for (int i = 0; i < 6; i++)
        for (int v = 0; v < 3; v++)
            assert_near(s->position[s->position_at[line_of[i]] + (size_t)v], positions[i][v]);
    memset(b.e.alive, 1, 2);
    assert_int_equal(launch(&b.e, s, &err), COF_OK);
    assert_int_equal(b.e.n_passes, 2);
    for (size_t t = 0; t < s->n_lines; t++) s->weight[t] = 1.0 / 8;
    assert_int_equal(settle_lines(&b.e, s, &err), COF_OK);
    assert_near(b.e.objective, 0.213077);
    measure_errors(&b.e, s);
    for (size_t t = 0; t < 8; t++) assert_near(line_error(&b.e, s, t), errors[t]);
    learn_weights(&b.e, s);
    for (size_t t = 0; t < 8; t++) assert_near(s->weight[t], weights[t]);
    tear_down(&b);
    set_up(&b, "h2h", t6, 6, 4, 2, t6_seeds);
    run_bench(&b);
    assert_int_equal(b.e.rebuild, 2); /* learning rounds after the first */
    assert_memory_equal(b.e.pass.label, t6_labels, sizeof t6_labels);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lsm), cmocka_unit_test(test_cbdm), cmocka_unit_test(test_udm),
        cmocka_unit_test(test_hdc), cmocka_unit_test(test_adc),  cmocka_unit_test(test_h2h),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
