/* Every kernel of this processor against the plain one, over random shapes: labels, counts, sizes and hashes
 * must be equal bit for bit, whatever ties there are, for any number of threads. */
#include "../../src/core/rng.h"
#include "../../src/pass/pass.h"
#include "unit_helper.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct shape {
    size_t n, l;
    uint32_t k;
    uint32_t most_values; /* of an attribute; each has that many or fewer */
} shape;

typedef struct problem {
    cofi_rng rng;
    cofi_rows rows;
    cofi_ids *ids;
    uint32_t *first;
    uint64_t *weight;
    uint32_t *copies;
    cofi_scores scores;
} problem;

static uint32_t draw(problem *p, uint64_t n)
{
    return (uint32_t)cofi_rng_below(&p->rng, n);
}

static void make_column(problem *p, size_t r, size_t n, uint32_t o)
{
    uint8_t width = o <= 256 ? 1 : o <= 65536 ? 2 : 4;
    char *codes = malloc(n * width + 1); /* exactly the rows: reading past them is an error */
    for (size_t i = 0; i < n; i++) {
        uint32_t v = draw(p, o);
        if (width == 1) ((uint8_t *)codes)[i] = (uint8_t)v;
        if (width == 2) ((uint16_t *)(void *)codes)[i] = (uint16_t)v;
        if (width == 4) ((uint32_t *)(void *)codes)[i] = v;
    }
    p->ids[r] = (cofi_ids){codes, width};
}

static void make_problem(problem *p, uint64_t seed, shape s)
{
    memset(p, 0, sizeof *p);
    cofi_rng_seed(&p->rng, seed, 0);
    p->ids = malloc(s.l * sizeof *p->ids);
    p->first = calloc(s.l + 1, sizeof *p->first);
    bool equal_sizes = draw(p, 2) == 0;
    for (size_t r = 0; r < s.l; r++) {
        uint32_t o = equal_sizes ? s.most_values : 1 + draw(p, s.most_values);
        make_column(p, r, s.n, o);
        p->first[r + 1] = p->first[r] + o;
    }
    if (draw(p, 3) == 0) {
        p->weight = malloc(s.n * sizeof *p->weight);
        p->copies = malloc(s.n * sizeof *p->copies);
        for (size_t i = 0; i < s.n; i++) {
            p->weight[i] = draw(p, 4); /* passengers among them */
            p->copies[i] = 1 + draw(p, 3);
        }
    }
    p->rows = (cofi_rows){s.n, s.l, p->ids, p->first, p->weight, p->copies};
    uint32_t stride = cofi_stride(s.k);
    size_t n_scores = (size_t)p->first[s.l] * stride;
    p->scores = (cofi_scores){.k = s.k, .stride = stride, .scale = 1};
    p->scores.value = calloc(n_scores, sizeof *p->scores.value);
    p->scores.base = calloc(stride, sizeof *p->scores.base);
    if (draw(p, 4) == 0) p->scores.plain = calloc(n_scores, sizeof *p->scores.plain);
}

/* Anything from scores that hardly differ to scores of all magnitudes; ties, near ties within COFI_TIE and
 * just beyond it are frequent in the first kinds. */
static void make_scores(problem *p)
{
    cofi_scores *s = &p->scores;
    uint64_t most = (UINT64_C(1) << COFI_SUM_BITS) / (p->rows.n_attrs + 1);
    uint32_t kind = draw(p, 6);
    for (size_t at = 0; at < (size_t)p->first[p->rows.n_attrs] * s->stride; at++) {
        uint64_t x = 0;
        if (at % s->stride >= s->k) continue;
        if (kind == 0) x = draw(p, 3) * (most / 4);                  /* as k-modes has it: no bit is lost */
        if (kind == 1) x = draw(p, 4) * (most / 5) + draw(p, 20000); /* ties up to COFI_TIE and a little */
        if (kind == 2) x = draw(p, 3) * (uint64_t)(COFI_TIE / 2);    /* all within a few ties */
        if (kind == 3) x = cofi_rng_below(&p->rng, most);
        if (kind == 4) x = cofi_rng_below(&p->rng, most) >> draw(p, 50);
        if (kind == 5) x = most / 2 + draw(p, 7);
        s->value[at] = (int64_t)x;
        if (s->plain != NULL) s->plain[at] = (double)draw(p, 5) / 3;
    }
    for (uint32_t j = 0; j < s->stride; j++) s->base[j] = j >= s->k ? COFI_NEVER : 0;
    if (draw(p, 3) == 0)
        for (uint32_t j = 0; j < s->k; j++) s->base[j] = (int64_t)cofi_rng_below(&p->rng, most);
    if (s->k > 1 && draw(p, 3) == 0)
        for (uint32_t j = 0; j + 1 < s->k; j++)
            if (draw(p, 3) == 0) s->base[j] = COFI_NEVER;
}

static void free_problem(problem *p)
{
    for (size_t r = 0; r < p->rows.n_attrs; r++) free((void *)(uintptr_t)p->ids[r].codes);
    free(p->ids);
    free(p->first);
    free(p->weight);
    free(p->copies);
    free(p->scores.value);
    free(p->scores.base);
    free(p->scores.plain);
}

/* The counts anew, from the labels alone. */
static void assert_counts(const problem *p, const cofi_pass *pass)
{
    size_t n_entries = (size_t)p->first[p->rows.n_attrs] * pass->stride;
    uint64_t *count = calloc(n_entries, sizeof *count);
    for (size_t i = 0; i < p->rows.n_rows; i++)
        for (size_t r = 0; r < p->rows.n_attrs; r++)
            count[(size_t)(p->first[r] + cofi_id(p->ids[r], i)) * pass->stride + (uint32_t)pass->label[i]] +=
                p->weight != NULL ? p->weight[i] : 1;
    assert_memory_equal(count, pass->count, n_entries * sizeof *count);
    free(count);
}

static void assert_same(const problem *p, const cofi_pass *a, const cofi_pass *b)
{
    assert_memory_equal(a->label, b->label, p->rows.n_rows * sizeof *a->label);
    assert_memory_equal(a->count, b->count, (size_t)p->first[p->rows.n_attrs] * a->stride * sizeof *a->count);
    assert_memory_equal(a->size, b->size, a->k * sizeof *a->size);
    assert_true(a->hash == b->hash);
}

static void compare_kernels(uint64_t seed, shape s, cofi_team *const *team)
{
    enum { MOST = 16 };
    cof_env env = cofi_env_resolve(NULL);
    problem p;
    cofi_pass pass[MOST];
    size_t n = 0;
    make_problem(&p, seed, s);
    assert_int_equal(cofi_pass_open(&env, &p.rows, s.k, team[0], &cofi_kernel_plain, &pass[n++], NULL),
                     COF_OK);
    for (size_t at = 0; cofi_kernel_at(at) != NULL; at++)
        for (int t = 0; t < 2; t++)
            assert_int_equal(
                cofi_pass_open(&env, &p.rows, s.k, team[t], cofi_kernel_at(at), &pass[n++], NULL), COF_OK);
    for (int round = 0; round < 4; round++) {
        make_scores(&p);
        uint64_t moved = cofi_pass_run(&pass[0], &p.scores);
        assert_counts(&p, &pass[0]);
        for (size_t x = 1; x < n; x++) {
            assert_true(cofi_pass_run(&pass[x], &p.scores) == moved);
            assert_same(&p, &pass[0], &pass[x]);
        }
        if (round == 2) cofi_pass_set_labels(&pass[n - 1], pass[0].label);
        assert_same(&p, &pass[0], &pass[n - 1]);
    }
    for (size_t x = 0; x < n; x++) cofi_pass_close(&pass[x]);
    free_problem(&p);
}

#define PICK(from) from[cofi_rng_below(&rng, sizeof from / sizeof *from)]

static void test_every_kernel_gives_the_plain_labels(void **state)
{
    static const size_t rows[] = {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 500, 4095, 4096, 4097, 9000};
    static const size_t attrs[] = {1, 2, 3, 20, 31, 32, 33, 64, 65, 129};
    static const uint32_t clusters[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 64, 65, 300};
    static const uint32_t values[] = {1, 2, 3, 5, 16, 17, 32, 33, 64, 65, 256, 257, 1000};
    (void)state;
    cof_env env = cofi_env_resolve(NULL);
    cofi_team *team[2];
    cofi_rng rng;
    cofi_rng_seed(&rng, 7, 0);
    assert_int_equal(cofi_team_open(&env, 1, &team[0], NULL), COF_OK);
    assert_int_equal(cofi_team_open(&env, 3, &team[1], NULL), COF_OK);
    for (uint64_t seed = 0; seed < 1200;) {
        shape s = {PICK(rows), PICK(attrs), PICK(clusters), PICK(values)};
        if (s.n * s.l * s.k + s.l * s.k * s.most_values > 500000) continue; /* small enough to try many */
        compare_kernels(seed++, s, team);
    }
    cofi_team_close(team[0]);
    cofi_team_close(team[1]);
}

static void test_large_shapes(void **state)
{
    static const shape large[] = {
        {9000, 3, 5, 65537}, {5000, 2, 300, 257}, {300, 2100, 3, 5}, {4096, 40, 17, 2}};
    (void)state;
    cof_env env = cofi_env_resolve(NULL);
    cofi_team *team[2];
    assert_int_equal(cofi_team_open(&env, 1, &team[0], NULL), COF_OK);
    assert_int_equal(cofi_team_open(&env, 2, &team[1], NULL), COF_OK);
    for (size_t x = 0; x < sizeof large / sizeof *large; x++)
        for (uint64_t seed = 0; seed < 2; seed++) compare_kernels(seed, large[x], team);
    cofi_team_close(team[0]);
    cofi_team_close(team[1]);
}

/* Scores that settle, as in a fit: each round they move less, and more rows are skipped. */
static void test_skipped_rows_keep_the_right_label(void **state)
{
    (void)state;
    cof_env env = cofi_env_resolve(NULL);
    cofi_team *team;
    size_t n_skipped = 0;
    assert_int_equal(cofi_team_open(&env, 2, &team, NULL), COF_OK);
    for (uint64_t seed = 0; seed < 30; seed++) {
        problem p;
        cofi_pass plain, fast;
        cofi_rng rng = dice(seed);
        shape s = {4096 + below(&rng, 9000), 1 + below(&rng, 25), 1 + (uint32_t)below(&rng, 9),
                   1 + (uint32_t)below(&rng, 6)};
        make_problem(&p, seed, s);
        assert_int_equal(cofi_pass_open(&env, &p.rows, s.k, team, &cofi_kernel_plain, &plain, NULL), COF_OK);
        assert_int_equal(cofi_pass_open(&env, &p.rows, s.k, team, NULL, &fast, NULL), COF_OK);
        make_scores(&p);
        uint64_t reach = (UINT64_C(1) << COFI_SUM_BITS) / (p.rows.n_attrs + 1) / 20;
        for (int round = 0; round < 14; round++) {
            if (round == 6) p.scores.scale *= 2; /* the same numbers now mean half */
            if (round == 9) cofi_pass_set_labels(&fast, plain.label);
            if (round == 11)
                p.scores.base[0] = s.k > 1 && p.scores.base[0] == 0 ? COFI_NEVER : p.scores.base[0];
            bool all_dead = true;
            for (uint32_t j = 0; j < s.k; j++) all_dead &= p.scores.base[j] == COFI_NEVER;
            if (all_dead) p.scores.base[s.k - 1] = 0;
            uint64_t moved = cofi_pass_run(&plain, &p.scores);
            assert_true(cofi_pass_run(&fast, &p.scores) == moved);
            assert_same(&p, &plain, &fast);
            for (size_t i = 0; fast.skip.key != NULL && i < s.n; i++)
                n_skipped += fast.skip.key[i] > fast.skip.need;
            for (size_t at = 0; at < (size_t)p.first[s.l] * p.scores.stride; at++)
                if (at % p.scores.stride < s.k)
                    p.scores.value[at] += (int64_t)cofi_rng_below(&p.rng, reach >> 2 * round);
        }
        cofi_pass_close(&plain);
        cofi_pass_close(&fast);
        free_problem(&p);
    }
    assert_true(n_skipped > 100000);
    cofi_team_close(team);
}

static void test_the_environment_names_a_kernel(void **state)
{
    (void)state;
    cofi_rows rows = {.n_rows = 0};
    assert_int_equal(setenv("COFOREST_KERNEL", "plain", 1), 0);
    assert_ptr_equal(cofi_kernel_choose(&rows, 3), &cofi_kernel_plain);
    assert_int_equal(setenv("COFOREST_KERNEL", "no such thing", 1), 0);
    assert_ptr_equal(cofi_kernel_choose(&rows, 3), cofi_kernel_at(0));
    unsetenv("COFOREST_KERNEL");
    assert_ptr_equal(cofi_kernel_choose(&rows, 3), cofi_kernel_at(0));
    assert_ptr_equal(cofi_kernel_choose(&rows, 100000), &cofi_kernel_plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kernel_gives_the_plain_labels),
        cmocka_unit_test(test_large_shapes),
        cmocka_unit_test(test_skipped_rows_keep_the_right_label),
        cmocka_unit_test(test_the_environment_names_a_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
