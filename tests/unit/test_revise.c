/* Passes in which few clusters changed, against the plain kernel, which scores every row: many passes one after another,
 * with changes of every kind. Guards revise.c, and cofi_plan_update of plan.c. */
#include "unit_helper.h"

#include "../../src/rows/pass.h"

enum { N_PASSES = 24 };

typedef struct shape {
    uint32_t k;
    size_t l, n;
    int64_t step; /* scores are multiples of it: ties are frequent if it is large */
    bool weighted, plain;
} shape;

typedef struct problem {
    shape is;
    cofi_cells rows;
    cofi_ids *ids;
    uint32_t *first;
    uint64_t *weight;
    uint32_t *copies;
    cofi_scores scores;
} problem;

static void make_rows(cofi_rng *rng, problem *p)
{
    size_t n = p->is.n, l = p->is.l;
    p->ids = get_zero(l, sizeof *p->ids);
    p->first = get_zero(l + 1, sizeof *p->first);
    for (size_t r = 0; r < l; r++) {
        uint32_t o = 2 + (uint32_t)below(rng, 6);
        uint8_t *code = get_zero(n, 1);
        for (size_t i = 0; i < n; i++) code[i] = (uint8_t)below(rng, o);
        p->ids[r] = (cofi_ids){code, 1, false};
        p->first[r + 1] = p->first[r] + o;
    }
    if (p->is.weighted) {
        p->weight = get_zero(n, sizeof *p->weight);
        p->copies = get_zero(n, sizeof *p->copies);
        for (size_t i = 0; i < n; i++) {
            p->weight[i] = below(rng, 4);
            p->copies[i] = 1 + (uint32_t)below(rng, 3);
        }
    }
    p->rows = (cofi_cells){n, l, p->ids, p->first, p->weight, p->copies};
}

static void score_cluster(cofi_rng *rng, problem *p, uint32_t j)
{
    cofi_scores *s = &p->scores;
    for (uint32_t g = 0; g < p->first[p->is.l]; g++) {
        s->value[(size_t)g * s->stride + j] = p->is.step * (int64_t)below(rng, 60);
        if (p->is.plain) s->plain[(size_t)g * s->stride + j] = 0.1 * (double)below(rng, 4);
    }
}

static problem make_problem(uint64_t seed, shape is)
{
    cofi_rng rng = dice(seed);
    problem p = {.is = is};
    make_rows(&rng, &p);
    p.scores = (cofi_scores){.k = is.k, .stride = cofi_stride(is.k), .scale = 1};
    size_t n = (size_t)p.first[is.l] * p.scores.stride;
    p.scores.value = get_zero(n, sizeof *p.scores.value);
    p.scores.base = get_zero(p.scores.stride, sizeof *p.scores.base);
    if (is.plain) p.scores.plain = get_zero(n, sizeof *p.scores.plain);
    for (uint32_t j = 0; j < p.scores.stride; j++)
        if (j < is.k)
            score_cluster(&rng, &p, j);
        else
            p.scores.base[j] = COFI_NEVER;
    return p;
}

static void free_problem(problem *p)
{
    for (size_t r = 0; r < p->is.l; r++) free((void *)(uintptr_t)p->ids[r].codes);
    free(p->ids);
    free(p->first);
    free(p->weight);
    free(p->copies);
    free(p->scores.value);
    free(p->scores.base);
    free(p->scores.plain);
}

/* Changes one score of a cluster a little, up or down, even below 0 now and then. */
static void nudge(cofi_rng *rng, problem *p, uint32_t j)
{
    size_t at = below(rng, p->first[p->is.l]) * p->scores.stride + j;
    p->scores.value[at] += ((int64_t)below(rng, 5) - 2) * (p->is.step / (below(rng, 8) == 0 ? 3 : 1));
}

/* What happens between two passes. */
static void change_scores(cofi_rng *rng, problem *p)
{
    cofi_scores *s = &p->scores;
    uint32_t k = p->is.k, n = (uint32_t)below(rng, 5);
    switch (below(rng, 10)) {
    case 0: /* all clusters, a little */
        for (uint32_t j = 0; j < k; j++) nudge(rng, p, j);
        break;
    case 1: /* some become another cluster */
        for (uint32_t x = 0; x < n; x++) score_cluster(rng, p, (uint32_t)below(rng, k));
        break;
    case 2: /* some take no rows, or take rows again; the first always does */
        for (uint32_t x = 0; x < n; x++) {
            uint32_t j = 1 + (uint32_t)below(rng, k - 1);
            s->base[j] = s->base[j] == COFI_NEVER ? p->is.step * (int64_t)below(rng, 9) : COFI_NEVER;
        }
        break;
    case 3: /* one gets scores that do not fit the tables */
        for (size_t at = below(rng, k); at < (size_t)p->first[p->is.l] * s->stride; at += s->stride)
            s->value[at] = p->is.step * (int64_t)below(rng, 2400);
        break;
    case 4:
        s->scale = s->scale == 1 ? 2 : 1;
        break;
    case 5: /* nothing */
        break;
    default:
        for (uint32_t x = 0; x < 4 * n; x++) nudge(rng, p, (uint32_t)below(rng, k));
    }
}

typedef struct runner {
    cofi_team *team;
    cofi_pass pass;
} runner;

static void open_runner(const problem *p, const cofi_kernel *kernel, uint32_t threads, runner *r)
{
    cof_env env = cofi_env_resolve(NULL);
    cof_error err;
    assert_status(cofi_team_open(&env, threads, &r->team, &err), COF_OK, &err);
    assert_status(cofi_pass_open(&env, &p->rows, p->is.k, r->team, kernel, &r->pass, &err), COF_OK, &err);
}

static void close_runner(runner *r)
{
    cofi_pass_close(&r->pass);
    cofi_team_close(r->team);
}

static void assert_same(const problem *p, const runner *a, const runner *b)
{
    size_t n_entries = (size_t)p->first[p->is.l] * a->pass.stride;
    assert_memory_equal(a->pass.label, b->pass.label, p->is.n * sizeof *a->pass.label);
    assert_memory_equal(a->pass.count, b->pass.count, n_entries * sizeof *a->pass.count);
    assert_true(a->pass.hash == b->pass.hash);
}

/* Returns how many passes were revisions. */
static size_t check_passes(uint64_t seed, shape is, const cofi_kernel *kernel, uint32_t threads)
{
    problem p = make_problem(seed, is);
    cofi_rng rng = dice(seed + 1000);
    runner plain, other;
    size_t n_revised = 0;
    open_runner(&p, &cofi_kernel_plain, 1, &plain);
    open_runner(&p, kernel, threads, &other);
    for (int at = 0; at < N_PASSES; at++) {
        uint64_t moved = cofi_pass_run(&plain.pass, &p.scores);
        assert_int_equal(cofi_pass_run(&other.pass, &p.scores), moved);
        assert_same(&p, &plain, &other);
        n_revised += other.pass.revision.revises;
        change_scores(&rng, &p);
        if (at % 11 != 10) continue;
        cofi_label *given = get_zero(is.n, sizeof *given); /* labels from elsewhere */
        for (size_t i = 0; i < is.n; i++) given[i] = (cofi_label)below(&rng, is.k);
        cofi_pass_take(&plain.pass, given);
        cofi_pass_take(&other.pass, given);
        free(given);
    }
    close_runner(&plain);
    close_runner(&other);
    free_problem(&p);
    return n_revised;
}

static void revised_passes_are_plain_ones(void **state)
{
    (void)state;
    static const uint32_t ks[] = {48, 49, 64, 100, 300};
    static const int64_t steps[] = {COFI_TIE / 4, COFI_TIE + 1, INT64_C(1) << 30, INT64_C(1) << 40};
    const cofi_kernel *kernel;
    for (size_t which = 0; (kernel = cofi_kernel_at(which)) != &cofi_kernel_plain; which++) {
        size_t n_revised = 0;
        for (uint64_t seed = 0; seed < 40; seed++) {
            cofi_rng rng = dice(seed);
            shape is = {.k = ks[seed % COUNT(ks)],
                        .l = 1 + below(&rng, seed % 3 == 0 ? 50 : 12),
                        .n = 1 + below(&rng, seed % 10 == 0 ? 9000 : 700),
                        .step = steps[seed % COUNT(steps)],
                        .weighted = seed % 3 == 1,
                        .plain = seed % 7 == 2};
            n_revised += check_passes(seed, is, kernel, seed % 10 == 0 ? 3 : 1);
        }
        assert_in_range(n_revised, 40 * N_PASSES / 4, 40 * N_PASSES * 9 / 10);
    }
}

/* Few clusters, several chunks and attributes of many values have no revisions. */
static void other_plans_are_not_revised(void **state)
{
    (void)state;
    const cofi_kernel *kernel = cofi_kernel_at(0);
    shape few = {.k = 8, .l = 5, .n = 300, .step = 1000}, wide = {.k = 64, .l = 400, .n = 60, .step = 1000};
    assert_int_equal(check_passes(1, few, kernel, 1), 0);
    assert_int_equal(check_passes(2, wide, kernel, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(revised_passes_are_plain_ones),
        cmocka_unit_test(other_plans_are_not_revised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
