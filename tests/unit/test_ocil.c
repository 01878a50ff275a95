/* OCIL in its original form: entropy weights of the specification's table T6, and a naive version of the loop in
 * which every move counts at once. */
#include "../../src/method/counterparts/ocil.c"

#include "method_helper.h"

static void test_weights(void **state)
{
    (void)state;
    static const double wanted[] = {0.299720, 0.200280, 0.299720, 0.200280};
    bench b;
    double weight[4];
    uint64_t total[10];
    cof_error err = {""};
    set_up_t6(&b, "ocil:original", 0);
    assert_status(cofi_rows_totals(b.rows, b.fit.host.team, total, &err), COF_OK, &err);
    entropy_weights(&b.fit, weight, total);
    for (size_t r = 0; r < 4; r++) assert_near(weight[r], wanted[r], EXACT);
    tear_down(&b);
}

typedef struct naive {
    const int32_t *x;
    size_t n, l;
    uint32_t k;
    int32_t *label;
    double *weight;
} naive;

static double rows_with(const naive *t, int32_t j, size_t r, int32_t v) /* r = l: any value */
{
    double n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += (j < 0 || t->label[i] == j) && (r == t->l || t->x[i * t->l + r] == v);
    return n;
}

static void weigh_naively(const naive *t, int32_t o)
{
    double sum = 0;
    for (size_t r = 0; r < t->l; r++) {
        double h = 0, n_values = 0;
        for (int32_t v = 0; v < o; v++) {
            double p = rows_with(t, -1, r, v) / (double)t->n;
            n_values += p > 0;
            h -= p > 0 ? p * log(p) : 0;
        }
        t->weight[r] = h / n_values;
        sum += t->weight[r];
    }
    for (size_t r = 0; r < t->l; r++) t->weight[r] /= sum;
}

static double similarity(const naive *t, size_t i, int32_t j)
{
    double s = 0, size = rows_with(t, j, t->l, 0);
    for (size_t r = 0; r < t->l && size > 0; r++)
        s += t->weight[r] * rows_with(t, j, r, t->x[i * t->l + r]) / size;
    return s;
}

/* Passes until one moves nothing. */
static uint32_t settle_naively(const naive *t)
{
    for (uint32_t pass = 1;; pass++) {
        size_t moved = 0;
        for (size_t i = 0; i < t->n; i++) {
            int32_t best = 0;
            for (int32_t j = 1; j < (int32_t)t->k; j++)
                if (similarity(t, i, j) > similarity(t, i, best) + 1e-12) best = j;
            moved += t->label[i] != best;
            t->label[i] = best;
        }
        if (moved == 0 || pass == 51) return pass;
    }
}

static void test_original(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        cofi_rng rng = dice(seed);
        size_t n = 12 + below(&rng, 40), l = 1 + below(&rng, 6), o = 3 + below(&rng, 3);
        uint32_t k = 2 + (uint32_t)below(&rng, 3);
        int32_t *codes = random_codes(&rng, n, l, o, 3);
        for (size_t r = 0; r < l; r++)
            for (int32_t v = 0; v < 3; v++) codes[(size_t)v * l + r] = v; /* three rows that differ */
        if (k > 3) k = 3;
        cof_table *table = table_of(codes, n, l);
        cof_fit_options o_fit = {.struct_size = sizeof o_fit,
                                 .k = k,
                                 .init_rows = (uint64_t[]){0, 1, 2},
                                 .method = "ocil:original"};
        cof_fit_info info = {.struct_size = sizeof info};
        cof_model *model = fit_model(table, &o_fit, &info);
        naive t = {codes, n, l, k, get_zero(n, sizeof(int32_t)), get_zero(l, sizeof(double))};
        for (size_t i = 0; i < n; i++) t.label[i] = i < k ? (int32_t)i : -2;
        weigh_naively(&t, (int32_t)o);
        assert_int_equal(info.passes, settle_naively(&t));
        assert_memory_equal(cof_model_labels(model, NULL), t.label, n * sizeof *t.label);
        free(t.label);
        free(t.weight);
        free(codes);
        cof_model_free(model);
        cof_table_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights), cmocka_unit_test(test_original)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
