/* JDM on the specification's table T6, and against its definition on random tables. */
#include "../../src/method/counterparts/jdm.c"

#include "method_helper.h"

static void test_agreement(void **state)
{
    (void)state;
    static const double agree[] = {0.266667, 0.666667, 0.266667, 0.666667};
    bench b;
    set_up_t6(&b, "jdm", 0);
    const jdm *s = b.state;
    for (size_t r = 0; r < 4; r++) assert_near(s->agree[r], agree[r], EXACT);
    tear_down(&b);
}

static void test_dependence(void **state)
{
    (void)state;
    static const struct {
        size_t r, s;
        double wanted;
    } pairs[] = {{0, 1, 0.176676}, {0, 2, 0.521296}, {0, 3, 0.099502},
                 {1, 2, 0.176676}, {1, 3, 0.038682}, {2, 3, 0.445481}};
    bench b;
    double count[9];
    cofi_logs logs = {NULL, 0};
    set_up_t6(&b, "jdm:full", 0);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        size_t r = pairs[i].r, s = pairs[i].s;
        count_pair(&b, r, s, count);
        assert_near(dependence(&logs, count, b.problem.n_values[r], b.problem.n_values[s]), pairs[i].wanted,
                    EXACT);
        count_pair(&b, s, r, count);
        assert_near(dependence(&logs, count, b.problem.n_values[s], b.problem.n_values[r]), pairs[i].wanted,
                    EXACT);
    }
    tear_down(&b);
}

static void test_related(void **state)
{
    (void)state;
    static const uint32_t wanted[4][3] = {{0, 2}, {1}, {0, 2, 3}, {2, 3}};
    static const size_t n_wanted[] = {2, 1, 3, 2};
    bench b;
    set_up_t6(&b, "jdm:full", 0);
    jdm *s = b.state;
    assert_near(s->beta, 0.432289, EXACT);
    for (size_t r = 0; r < 4; r++) {
        assert_int_equal(find_related(&b.fit, s, r), n_wanted[r]);
        assert_memory_equal(s->related, wanted[r], n_wanted[r] * sizeof *s->related);
    }
    tear_down(&b);
}

/* Distances of all rows to the rows `first` and `second`, [row][2]. */
static void distances_to(bench *b, size_t first, size_t second)
{
    const cofi_cells *cells = cells_of(b->rows);
    cof_error err = {""};
    uint64_t moved;
    for (size_t r = 0; r < cells->n_attrs; r++) {
        b->fit.seeds.mode[r] = cofi_id(cells->ids[r], first);
        b->fit.seeds.mode[cells->n_attrs + r] = cofi_id(cells->ids[r], second);
    }
    assert_status(label_rows(&b->fit, b->state, &moved, &err), COF_OK, &err);
}

static void check_distances(const char *name, const double wanted[4])
{
    bench b;
    set_up_t6(&b, name, 0);
    const jdm *s = b.state;
    distances_to(&b, 1, 3);
    assert_near(s->numerator[0 * 2 + 0], wanted[0], EXACT); /* x1, x2 */
    assert_near(s->numerator[0 * 2 + 1], wanted[1], EXACT); /* x1, x4 */
    distances_to(&b, 1, 4);
    assert_near(s->numerator[0 * 2 + 1], wanted[2], EXACT); /* x1, x5 */
    assert_near(s->numerator[5 * 2 + 0], wanted[3], EXACT); /* x6, x2 */
    tear_down(&b);
    assert_t6_labels(name);
}

static void test_distances(void **state)
{
    (void)state;
    check_distances("jdm:full", (double[]){0.148917, 0.413653, 0.052852, 0.208808});
    check_distances("jdm", (double[]){0.074074, 0.359420, 0.032000, 0.118519});
}

/* ---- The definition without any shortcut --------------------------------------------------------- */

typedef struct naive {
    const int32_t *x; /* n x l */
    size_t n, l;
    double *related; /* R, l x l */
    double beta;
} naive;

static double joint(const naive *t, size_t r, int32_t a, size_t s, int32_t b)
{
    double n = 0;
    for (size_t i = 0; i < t->n; i++) n += t->x[i * t->l + r] == a && t->x[i * t->l + s] == b;
    return n;
}

static double entropy_of(const naive *t, size_t r, size_t s)
{
    double h = 0; /* each row stands for its share of p log p */
    for (size_t i = 0; i < t->n; i++)
        h -= log2(joint(t, r, t->x[i * t->l + r], s, t->x[i * t->l + s]) / (double)t->n) / (double)t->n;
    return h;
}

static void relate_naively(naive *t)
{
    double sum = 0;
    for (size_t r = 0; r < t->l; r++)
        for (size_t s = 0; s < t->l; s++) {
            double both = entropy_of(t, r, s);
            double shared = entropy_of(t, r, r) + entropy_of(t, s, s) - both;
            t->related[r * t->l + s] = r == s ? 1 : both > 0 ? shared / both : 0;
            sum += t->related[r * t->l + s];
        }
    t->beta = sum / (double)(t->l * t->l);
}

static double chance(const naive *t, size_t r, int32_t a, size_t s, int32_t b)
{
    double c = joint(t, r, a, s, b), n = (double)t->n;
    return c * (c - 1) / (n * (n - 1));
}

static double naive_distance(const naive *t, const int32_t *x, const int32_t *y, bool full)
{
    double above = 0, below_it = 0;
    for (size_t r = 0; r < t->l; r++) {
        double same = 0, part = 0, n = (double)t->n;
        for (size_t i = 0; i < t->n; i++)
            same += (joint(t, r, t->x[i * t->l + r], r, t->x[i * t->l + r]) - 1) / (n * (n - 1));
        for (size_t s = 0; s < t->l; s++) {
            bool in = full ? t->related[r * t->l + s] > t->beta || s == r : s == r;
            if (!in || (x[r] == y[r] && x[s] == y[s])) continue;
            part += t->related[r * t->l + s] * (chance(t, r, x[r], s, x[s]) + chance(t, r, y[r], s, y[s]));
        }
        double weight = x[r] != y[r] ? same : 1 - same;
        above += weight * part;
        below_it += weight;
    }
    return below_it > 0 ? above / below_it : 0;
}

static void test_definition(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        cofi_rng rng = dice(seed);
        size_t n = 10 + below(&rng, 30), l = 2 + below(&rng, 6);
        int32_t *codes = random_codes(&rng, n, l, 2 + below(&rng, 3), 3);
        for (size_t r = 0; r < l; r++) codes[r] = 0, codes[l + r] = 1; /* no column is constant */
        naive t = {codes, n, l, get_zero(l * l, sizeof(double)), 0};
        relate_naively(&t);
        for (int full = 0; full < 2; full++) {
            bench b;
            cof_fit_options o = {.k = 2, .init = COF_INIT_RANDOM, .method = full ? "jdm:full" : "jdm"};
            set_up_with(&b, codes, n, l, o);
            distances_to(&b, 0, n - 1);
            for (size_t i = 0; i < n; i++) {
                const double *got = ((const jdm *)b.state)->numerator + 2 * i;
                assert_near(got[0], naive_distance(&t, codes + i * l, codes, full), 1e-12);
                assert_near(got[1], naive_distance(&t, codes + i * l, codes + (n - 1) * l, full), 1e-12);
            }
            tear_down(&b);
        }
        free(t.related);
        free(codes);
    }
}

/* Two rows that weigh less than one together make no pair. */
static void test_no_pair(void **state)
{
    (void)state;
    static const int32_t codes[] = {0, 1, 1, 0};
    static const double weights[] = {0.25, 0.25};
    cof_table *table = table_of(codes, 2, 2);
    cof_fit_options o = {
        .struct_size = sizeof o, .k = 2, .restarts = 1, .threads = 1, .method = "jdm", .weights = weights};
    cof_model *model = NULL;
    cof_error err;
    assert_status(cof_fit(table, &o, &model, NULL, &err), COF_ERR_FEW_ROWS, &err);
    assert_non_null(strstr(err.text, "at least two rows"));
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement), cmocka_unit_test(test_dependence), cmocka_unit_test(test_related),
        cmocka_unit_test(test_distances), cmocka_unit_test(test_definition), cmocka_unit_test(test_no_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
