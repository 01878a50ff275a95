/* Every kernel of this processor against the plain one, over random shapes: labels, counts, sizes and hashes
 * must be equal bit for bit, whatever ties there are, for any number of threads, whether equal rows are
 * folded or not and whether rows are skipped or not. */
#include "../../src/core/rng.h"
#include "../../src/table/dedupe.h"
#include "../../src/core/processor.h"
#include "../../src/rows/pass.h"
#include "cases_helper.h"
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
    cofi_cells rows;
    cofi_ids *ids;
    uint32_t *first;
    uint64_t *weight;
    uint32_t *copies;
    cofi_scores scores; /* every value has entries of its own */
    cofi_scores shared; /* the same, with entries of some values for others too */
    uint32_t *same_as;  /* per flat id */
} problem;

static uint32_t draw(problem *p, uint64_t n)
{
    return (uint32_t)cofi_rng_below(&p->rng, n);
}

/* Row i is a copy of row like[i]. */
static void make_column(problem *p, size_t r, size_t n, uint32_t o, const size_t *like)
{
    uint8_t width = o <= 256 ? 1 : o <= 65536 ? 2 : 4;
    char *codes = malloc(n * width + 1); /* exactly the rows: reading past them is an error */
    for (size_t i = 0; i < n; i++) {
        uint32_t v = like[i] < i ? cofi_id((cofi_ids){codes, width, false}, like[i]) : draw(p, o);
        if (width == 1) ((uint8_t *)codes)[i] = (uint8_t)v;
        if (width == 2) ((uint16_t *)(void *)codes)[i] = (uint16_t)v;
        if (width == 4) ((uint32_t *)(void *)codes)[i] = v;
    }
    p->ids[r] = (cofi_ids){codes, width, false};
}

static void make_problem(problem *p, uint64_t seed, shape s)
{
    memset(p, 0, sizeof *p);
    cofi_rng_seed(&p->rng, seed, 0);
    p->ids = malloc(s.l * sizeof *p->ids);
    p->first = calloc(s.l + 1, sizeof *p->first);
    bool equal_sizes = draw(p, 2) == 0, copies = draw(p, 2) == 0;
    size_t *like = malloc(s.n * sizeof *like);
    for (size_t i = 0; i < s.n; i++) like[i] = copies && draw(p, 2) == 0 ? draw(p, i + 1) : i;
    for (size_t r = 0; r < s.l; r++) {
        uint32_t o = equal_sizes ? s.most_values : 1 + draw(p, s.most_values);
        make_column(p, r, s.n, o, like);
        p->first[r + 1] = p->first[r] + o;
    }
    free(like);
    if (draw(p, 3) == 0) {
        p->weight = malloc(s.n * sizeof *p->weight);
        p->copies = malloc(s.n * sizeof *p->copies);
        for (size_t i = 0; i < s.n; i++) {
            p->weight[i] = draw(p, 4); /* passengers among them */
            p->copies[i] = 1 + draw(p, 3);
        }
    }
    p->rows = (cofi_cells){s.n, s.l, p->ids, p->first, p->weight, p->copies};
    uint32_t stride = cofi_stride(s.k);
    size_t n_scores = (size_t)p->first[s.l] * stride;
    p->scores = (cofi_scores){.k = s.k, .stride = stride, .scale = 1};
    p->scores.value = calloc(n_scores, sizeof *p->scores.value);
    p->scores.base = calloc(stride, sizeof *p->scores.base);
    if (draw(p, 4) == 0) p->scores.plain = calloc(n_scores, sizeof *p->scores.plain);
    p->shared = p->scores;
    p->shared.value = calloc(n_scores, sizeof *p->shared.value);
    p->same_as = malloc(p->first[s.l] * sizeof *p->same_as);
    for (uint32_t g = 0; g < p->first[s.l]; g++) p->same_as[g] = g;
}

/* Chooses which values share their scores with an earlier one of their attribute. */
static void choose_shared(problem *p)
{
    p->shared.same_as = draw(p, 3) > 0 ? p->same_as : NULL;
    for (size_t r = 0; r < p->rows.n_attrs; r++)
        for (uint32_t g = p->first[r]; g < p->first[r + 1]; g++)
            p->same_as[g] = p->shared.same_as != NULL && draw(p, 2) == 0
                                ? p->same_as[p->first[r] + draw(p, g - p->first[r] + 1)]
                                : g;
    for (uint32_t g = 0; g < p->first[p->rows.n_attrs]; g++) /* a value that refers to itself by way of g */
        while (p->same_as[p->same_as[g]] != p->same_as[g]) p->same_as[g] = p->same_as[p->same_as[g]];
}

/* Entries that must not be read are far below all others, so that reading them would show. */
static void share_scores(problem *p)
{
    cofi_scores *s = &p->scores;
    for (uint32_t g = 0; g < p->first[p->rows.n_attrs]; g++) {
        size_t at = (size_t)g * s->stride, same = (size_t)p->same_as[g] * s->stride;
        memmove(s->value + at, s->value + same, s->stride * sizeof *s->value);
        for (uint32_t j = 0; j < s->stride; j++)
            p->shared.value[at + j] = same == at ? s->value[at + j] : -COFI_NEVER / 512;
    }
    p->shared.scale = s->scale;
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

/* As from one pass of a fit to the next: a little, or hardly at all, so that most rows can be skipped. */
static void drift_scores(problem *p)
{
    cofi_scores *s = &p->scores;
    int64_t most = (INT64_C(1) << COFI_SUM_BITS) / (int64_t)(p->rows.n_attrs + 1);
    uint64_t reach = (uint64_t)most >> (5 + draw(p, 30));
    for (size_t at = 0; at < (size_t)p->first[p->rows.n_attrs] * s->stride; at++) {
        if (at % s->stride >= s->k) continue;
        int64_t x = s->value[at] + (int64_t)cofi_rng_below(&p->rng, reach + 1) - (int64_t)(reach / 2);
        s->value[at] = x < 0 ? 0 : x > most ? most : x;
    }
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
    free(p->shared.value);
    free(p->same_as);
}

/* assert_memory_equal goes byte by byte; here it only has to say which one it was. */
static void assert_same_bytes(const void *a, const void *b, size_t n)
{
    if (memcmp(a, b, n) != 0) assert_memory_equal(a, b, n);
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
    assert_same_bytes(count, pass->count, n_entries * sizeof *count);
    free(count);
}

static void assert_same(const problem *p, const cofi_pass *a, const cofi_pass *b)
{
    assert_same_bytes(a->label, b->label, p->rows.n_rows * sizeof *a->label);
    assert_same_bytes(a->count, b->count, (size_t)p->first[p->rows.n_attrs] * a->stride * sizeof *a->count);
    assert_same_bytes(a->size, b->size, a->k * sizeof *a->size);
    assert_true(a->hash == b->hash);
}

/* The same rows, equal ones as one. */
typedef struct folded {
    cofi_cells rows;
    cofi_ids *ids;
    uint64_t *weight;
    uint32_t *copies, *group;
} folded;

static void *fold_column(const problem *p, size_t r, const uint32_t *group, uint32_t n_groups)
{
    uint8_t width = p->ids[r].width;
    char *codes = malloc((size_t)n_groups * width + 1);
    for (size_t i = 0; i < p->rows.n_rows; i++)
        memcpy(codes + (size_t)group[i] * width, (const char *)p->ids[r].codes + i * width, width);
    return codes;
}

static void fold(const problem *p, folded *f)
{
    cof_env env = cofi_env_resolve(NULL);
    uint32_t n_groups;
    f->group = malloc(p->rows.n_rows * sizeof *f->group);
    assert_int_equal(cofi_dedupe(&env, p->ids, p->rows.n_attrs, p->rows.n_rows, f->group, &n_groups), COF_OK);
    f->ids = malloc(p->rows.n_attrs * sizeof *f->ids);
    f->weight = calloc(n_groups, sizeof *f->weight);
    f->copies = calloc(n_groups, sizeof *f->copies);
    for (size_t r = 0; r < p->rows.n_attrs; r++)
        f->ids[r] = (cofi_ids){fold_column(p, r, f->group, n_groups), p->ids[r].width, false};
    for (size_t i = 0; i < p->rows.n_rows; i++) {
        uint64_t weight = p->weight != NULL ? p->weight[i] : 1;
        f->weight[f->group[i]] += weight;
        if (weight > 0) f->copies[f->group[i]] += p->copies != NULL ? p->copies[i] : 1;
    }
    f->rows = (cofi_cells){n_groups, p->rows.n_attrs, f->ids, p->first, f->weight, f->copies};
}

static void free_folded(folded *f)
{
    for (size_t r = 0; r < f->rows.n_attrs; r++) free((void *)(uintptr_t)f->ids[r].codes);
    free(f->ids);
    free(f->weight);
    free(f->copies);
    free(f->group);
}

static void assert_same_folded(const problem *p, const folded *f, const cofi_pass *a, const cofi_pass *b)
{
    for (size_t i = 0; i < p->rows.n_rows; i++) assert_true(a->label[i] == b->label[f->group[i]]);
    assert_same_bytes(a->count, b->count, (size_t)p->first[p->rows.n_attrs] * a->stride * sizeof *a->count);
    assert_same_bytes(a->size, b->size, a->k * sizeof *a->size);
}

enum { MOST_THREADS = 4 };

static void open_teams(cofi_team **team)
{
    cof_env env = cofi_env_resolve(NULL);
    for (uint32_t t = 0; t < MOST_THREADS; t++)
        assert_int_equal(cofi_team_open(&env, t + 1, &team[t], NULL), COF_OK);
}

static void close_teams(cofi_team **team)
{
    for (uint32_t t = 0; t < MOST_THREADS; t++) cofi_team_close(team[t]);
}

/* With skipping or without, whether it pays or not. */
static void open_pass(const cofi_cells *rows, uint32_t k, cofi_team *team, const cofi_kernel *kernel,
                      bool skip, cofi_pass *pass)
{
    cof_env env = cofi_env_resolve(NULL);
    assert_int_equal(cofi_pass_open(&env, rows, k, team, kernel, pass, NULL), COF_OK);
    if (!skip) cofi_skip_close(&pass->skip);
    bool can_skip = pass->plan.n_chunks == 1 && pass->plan.rest == NULL;
    if (skip && can_skip && pass->skip.key == NULL)
        assert_int_equal(cofi_skip_open(&env, &pass->plan, &pass->skip), COF_OK);
}

static size_t count_skipped(const cofi_pass *pass)
{
    size_t n = 0;
    bool any = pass->plan.key != NULL && pass->skip.moved > 0;
    for (size_t i = 0; any && i < pass->rows->n_rows; i++) n += pass->skip.key[i] > pass->skip.need;
    return n;
}

static void set_labels_anew(cofi_pass *pass, const cofi_label *label)
{
    cofi_pass_reset(pass);
    cofi_pass_take(pass, label);
}

/* Passes 0, 3, 6... walk the rows and skip none, 1, 4, 7... skip, 2, 5, 8... walk the folded rows; each kernel
 * has one of each, on one to four threads, and some values share their scores. The judge is the plain kernel on one thread,
 * without any of it.
 * Returns how many rows were skipped. */
static size_t compare_kernels(uint64_t seed, shape s, cofi_team *const *team)
{
    enum { MOST = 12, ROUNDS = 4 };
    problem p;
    folded f;
    cofi_pass judge, pass[MOST];
    size_t n = 0, n_skipped = 0;
    make_problem(&p, seed, s);
    fold(&p, &f);
    open_pass(&p.rows, s.k, team[0], &cofi_kernel_plain, false, &judge);
    for (size_t at = 0; cofi_kernel_at(at) != NULL; at++)
        for (int way = 0; way < 3; way++)
            open_pass(way == 2 ? &f.rows : &p.rows, s.k, team[draw(&p, MOST_THREADS)], cofi_kernel_at(at),
                      way == 1 || (way == 2 && draw(&p, 2) == 0), &pass[n++]);
    for (int round = 0; round < ROUNDS; round++) {
        if (round == 0 || draw(&p, 3) == 0)
            make_scores(&p);
        else
            drift_scores(&p);
        if (round == 0 || draw(&p, 3) == 0) choose_shared(&p);
        share_scores(&p);
        uint64_t moved = cofi_pass_run(&judge, &p.scores);
        assert_counts(&p, &judge);
        for (size_t x = 0; x < n; x++) {
            assert_true(cofi_pass_run(&pass[x], &p.shared) == moved);
            if (x % 3 == 2)
                assert_same_folded(&p, &f, &judge, &pass[x]);
            else
                assert_same(&p, &judge, &pass[x]);
            n_skipped += count_skipped(&pass[x]);
        }
        if (round == 1) set_labels_anew(&pass[1], judge.label);
        assert_same(&p, &judge, &pass[1]);
    }
    for (size_t x = 0; x < n; x++) cofi_pass_close(&pass[x]);
    cofi_pass_close(&judge);
    free_folded(&f);
    free_problem(&p);
    return n_skipped;
}

#define PICK(from) from[cofi_rng_below(&rng, sizeof from / sizeof *from)]

/* Shapes at and around the sizes where something changes: groups and blocks of rows, terms of one chunk,
 * cells of a lookup, bytes of an id. */
static void test_every_kernel_gives_the_plain_labels(void **state)
{
    static const size_t rows[] = {1,   2,   31,  32,  33,   63,   64,   65,   255,  256,  257,
                                  500, 511, 512, 513, 4095, 4096, 4097, 8191, 8192, 8193, 9000};
    static const size_t attrs[] = {1, 1, 2, 3, 20, 31, 32, 33, 64, 65, 129};
    static const uint32_t clusters[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 17, 64, 65, 299, 300};
    static const uint32_t values[] = {1, 2, 3, 5, 16, 17, 32, 33, 64, 65, 255, 256, 257, 1000, 65536, 65537};
#ifdef __SANITIZE_THREAD__
    const size_t n_shapes = 1000 / one_in(), largest = 200000; /* each takes many times as long */
#else
    const size_t n_shapes = 3000 / one_in(), largest = 200000;
#endif
    (void)state;
    cofi_team *team[MOST_THREADS];
    cofi_rng rng;
    size_t n_skipped = 0, n_wide = 0, n_many = 0, n_long = 0, n_full = 0;
    cofi_rng_seed(&rng, 7, 0);
    open_teams(team);
    for (uint64_t seed = 0; seed < n_shapes;) {
        shape s = {PICK(rows), PICK(attrs), PICK(clusters), PICK(values)};
        if (s.n * s.l * s.k + s.l * s.k * s.most_values > largest) continue; /* small enough to try many */
        n_skipped += compare_kernels(seed++, s, team);
        n_wide += s.most_values == 65537;
        n_many += s.k == 300;
        n_long += s.l == 65;
        n_full += s.n >= 4096;
    }
    /* The rare ones were among them. */
    assert_true(n_wide >= n_shapes / 300 && n_many >= n_shapes / 150 && n_long >= n_shapes / 30);
    assert_true(n_full >= n_shapes / 30);
    assert_true(n_skipped > 100000 / one_in());
    close_teams(team);
}

static void test_large_shapes(void **state)
{
    static const shape large[] = {{9000, 3, 5, 65537}, {5000, 2, 300, 257}, {300, 2100, 3, 5},
                                  {2500, 300, 8, 5},   {700, 5000, 9, 3},   {4096, 40, 17, 2},
                                  {1025, 65, 300, 17}};
    (void)state;
    cofi_team *team[MOST_THREADS];
    open_teams(team);
    for (size_t x = 0; x < sizeof large / sizeof *large; x++)
        for (uint64_t seed = 0; seed < 2; seed++) compare_kernels(seed, large[x], team);
    close_teams(team);
}

/* Scores that settle, as in a fit: each round they move less, and more rows are skipped. */
static void test_skipped_rows_keep_the_right_label(void **state)
{
    (void)state;
    cof_env env = cofi_env_resolve(NULL);
    cofi_team *team;
    size_t n_skipped = 0;
    assert_int_equal(cofi_team_open(&env, 2, &team, NULL), COF_OK);
    for (uint64_t seed = 0; seed < 30; seed += one_in()) {
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
            if (round == 9) set_labels_anew(&fast, plain.label);
            if (round == 11)
                p.scores.base[0] = s.k > 1 && p.scores.base[0] == 0 ? COFI_NEVER : p.scores.base[0];
            bool all_dead = true;
            for (uint32_t j = 0; j < s.k; j++) all_dead &= p.scores.base[j] == COFI_NEVER;
            if (all_dead) p.scores.base[s.k - 1] = 0;
            uint64_t moved = cofi_pass_run(&plain, &p.scores);
            assert_true(cofi_pass_run(&fast, &p.scores) == moved);
            assert_same(&p, &plain, &fast);
            n_skipped += count_skipped(&fast);
            for (size_t at = 0; at < (size_t)p.first[s.l] * p.scores.stride; at++)
                if (at % p.scores.stride < s.k)
                    p.scores.value[at] += (int64_t)cofi_rng_below(&p.rng, reach >> 2 * round);
        }
        cofi_pass_close(&plain);
        cofi_pass_close(&fast);
        free_problem(&p);
    }
    /* the plain kernel keeps no leads, and some processors have no other */
    assert_int_equal(n_skipped > 100000 / one_in(), cofi_kernel_at(0) != &cofi_kernel_plain);
    cofi_team_close(team);
}

static void test_the_environment_names_a_kernel(void **state)
{
    (void)state;
    const cofi_kernel *kernel;
    cof_error err;
    assert_int_equal(setenv("COFOREST_KERNEL", "plain", 1), 0);
    assert_int_equal(cofi_kernel_choose(&kernel, &err), COF_OK);
    assert_ptr_equal(kernel, &cofi_kernel_plain);
    assert_int_equal(setenv("COFOREST_KERNEL", "no such\x1b thing", 1), 0); /* used to be ignored */
    assert_int_equal(cofi_kernel_choose(&kernel, &err), COF_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "COFOREST_KERNEL is 'no such"));
    assert_null(strchr(err.text, '\x1b'));
    assert_non_null(strstr(err.text, "plain; change or unset it"));
    unsetenv("COFOREST_KERNEL");
    assert_int_equal(cofi_kernel_choose(&kernel, &err), COF_OK);
    assert_ptr_equal(kernel, cofi_kernel_at(0));
}

static void test_the_processor_answers_as_the_compiler_says(void **state)
{
    (void)state;
#if defined(_WIN32) && defined(__clang__)
    skip(); /* __builtin_cpu_supports needs a run-time library that zig does not bring for Windows */
#elif defined(__x86_64__) && defined(__GNUC__)
    assert_int_equal(cofi_processor_has(COFI_POPCNT), __builtin_cpu_supports("popcnt") != 0);
    assert_int_equal(cofi_processor_has(COFI_AVX2), __builtin_cpu_supports("avx2") != 0);
    assert_int_equal(cofi_processor_has(COFI_AVX512),
                     __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                         __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("gfni"));
#else
    assert_false(cofi_processor_has(COFI_POPCNT));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kernel_gives_the_plain_labels),
        cmocka_unit_test(test_large_shapes),
        cmocka_unit_test(test_skipped_rows_keep_the_right_label),
        cmocka_unit_test(test_the_environment_names_a_kernel),
        cmocka_unit_test(test_the_processor_answers_as_the_compiler_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
