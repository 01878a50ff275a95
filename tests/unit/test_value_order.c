/* Renaming values changes no default fit: ties between values are decided by their rows, not by their names. */
#include "unit_helper.h"

#include "alloc_helper.h"

/* Gives the values of every column other codes, at random. */
static void rename_values(cofi_rng *rng, const int32_t *from, size_t n, size_t l, size_t o, int32_t *to)
{
    int32_t *name = get_zero(o, sizeof *name);
    for (size_t r = 0; r < l; r++) {
        for (size_t v = 0; v < o; v++) {
            size_t at = below(rng, v + 1);
            name[v] = name[at];
            name[at] = (int32_t)v;
        }
        for (size_t i = 0; i < n; i++) to[i * l + r] = name[from[i * l + r]];
    }
    free(name);
}

/* Values of equal counts abound: few rows, and every combination as often as any other. */
static int32_t *tied_codes(cofi_rng *rng, uint64_t round, size_t n, size_t l, size_t o)
{
    if (round % 2 == 0) return random_codes(rng, n, l, o, 4);
    int32_t *codes = get_zero(n * l, sizeof *codes);
    for (size_t i = 0; i < n; i++)
        for (size_t r = 0, left = i; r < l; r++, left /= o) codes[i * l + r] = (int32_t)(left % o);
    return codes;
}

static void names_of_values_do_not_matter(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 16; round++) {
        size_t n = round < 14 ? 60 + 20 * round : 20000, l = 5, o = 3 + round % 3;
        cofi_rng rng = dice(round);
        int32_t *codes = tied_codes(&rng, round, n, l, o), *other = get_zero(n * l, sizeof *other);
        cof_table *table = table_of(codes, n, l);
        cof_fit_options o_fit = {.struct_size = sizeof o_fit, .k = 2 + (uint32_t)(round % 4), .restarts = 8};
        cof_model *m = fit_model(table, &o_fit, NULL);
        for (int renaming = 0; renaming < 4; renaming++) {
            rename_values(&rng, codes, n, l, o, other);
            cof_table *renamed = table_of(other, n, l);
            cof_model *again = fit_model(renamed, &o_fit, NULL);
            assert_same_labels(m, again);
            cof_model_free(again);
            cof_table_free(renamed);
        }
        cof_model_free(m);
        cof_table_free(table);
        free(codes);
        free(other);
    }
}

static void out_of_memory(void **state)
{
    (void)state;
    cofi_rng rng = dice(1);
    int32_t *codes = tied_codes(&rng, 1, 40, 3, 3);
    cof_status status = COF_ERR_MEMORY;
    for (size_t n = 0; status != COF_OK; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_table *table = NULL;
        cof_model *m = NULL;
        cof_fit_options o = {.struct_size = sizeof o, .k = 2, .restarts = 1, .threads = 1};
        status = cof_table_from_codes(&env, codes, 40, 3, NULL, &table, NULL);
        if (status == COF_OK) status = cof_fit(table, &o, &m, NULL, NULL);
        assert_true(status == COF_ERR_MEMORY || status == COF_OK);
        cof_model_free(m);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
    }
    free(codes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_of_values_do_not_matter),
                                       cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
