/* The pass over rows against the least sum found the slow way: all kernels, all thread counts, all widths and
 * the sizes where blocks, tiles and lanes begin and end. Guards pass.c, pass_plain.c and settle.c. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/rows/pass.h"

enum { MOST_K = COF_MOST_CLUSTERS };

/* ---- A random problem --------------------------------------------------------------------------- */

typedef struct pass_case {
    uint32_t k, o; /* o: values of the first attribute; the others have few */
    size_t l, n;
    uint8_t least_width; /* of the first attribute's ids */
    bool weighted, copies, plain, dead;
} pass_case;

typedef struct problem {
    pass_case about;
    cofi_cells rows;
    cofi_ids *ids;
    uint32_t *first;
    uint64_t *weight;
    uint32_t *copies;
} problem;

static void *random_ids(cofi_rng *rng, size_t n, uint32_t o, uint8_t width)
{
    void *ids = get_zero(n, width);
    for (size_t i = 0; i < n; i++) {
        uint32_t v = i == 0 ? o - 1 : (uint32_t)below(rng, o);
        if (width == 1)
            ((uint8_t *)ids)[i] = (uint8_t)v;
        else if (width == 2)
            ((uint16_t *)ids)[i] = (uint16_t)v;
        else
            ((uint32_t *)ids)[i] = v;
    }
    return ids;
}

static problem make_problem(cofi_rng *rng, pass_case about)
{
    problem p = {.about = about};
    p.ids = get_zero(about.l, sizeof *p.ids);
    p.first = get_zero(about.l + 1, sizeof *p.first);
    for (size_t r = 0; r < about.l; r++) {
        uint32_t o = r == 0 ? about.o : 1 + (uint32_t)below(rng, 5);
        uint8_t width = o <= 256 ? 1 : o <= 65536 ? 2 : 4;
        if (r == 0 && about.least_width > width) width = about.least_width;
        p.ids[r] = (cofi_ids){random_ids(rng, about.n, o, width), width, false};
        p.first[r + 1] = p.first[r] + o;
    }
    p.weight = about.weighted ? get_zero(about.n, sizeof *p.weight) : NULL;
    p.copies = about.copies ? get_zero(about.n, sizeof *p.copies) : NULL;
    for (size_t i = 0; i < about.n; i++) {
        if (about.weighted) p.weight[i] = below(rng, 4);
        if (about.copies) p.copies[i] = 1 + (uint32_t)below(rng, 3);
    }
    p.rows = (cofi_cells){about.n, about.l, p.ids, p.first, p.weight, p.copies};
    return p;
}

static void free_problem(problem *p)
{
    for (size_t r = 0; r < p->about.l; r++) free((void *)p->ids[r].codes);
    free(p->ids);
    free(p->first);
    free(p->weight);
    free(p->copies);
}

/* Scores of few sizes, so that sums tie often: exactly, within COFI_TIE, and just outside it. */
static cofi_scores make_scores(cofi_rng *rng, const problem *p)
{
    static const int64_t steps[] = {COFI_TIE / 4, COFI_TIE, COFI_TIE + 1, INT64_C(1) << 40};
    const pass_case *c = &p->about;
    cofi_scores s = {.k = c->k, .stride = cofi_stride(c->k), .scale = 1};
    size_t n = (size_t)p->first[c->l] * s.stride;
    int64_t step = steps[below(rng, COUNT(steps))];
    s.value = get_zero(n, sizeof *s.value);
    s.base = get_zero(s.stride, sizeof *s.base);
    s.plain = c->plain ? get_zero(n, sizeof *s.plain) : NULL;
    for (size_t at = 0; at < n; at++) {
        if (at % s.stride >= c->k) continue;
        s.value[at] = step * (int64_t)below(rng, 4);
        if (c->plain) s.plain[at] = 0.1 * (double)below(rng, 4);
    }
    for (uint32_t j = 0; j < s.stride; j++)
        if (j >= c->k || (c->dead && j != 1 % c->k && below(rng, 3) == 0)) s.base[j] = COFI_NEVER;
    return s;
}

static void free_scores(cofi_scores *s)
{
    free(s->value);
    free(s->base);
    free(s->plain);
}

/* ---- The slow way ------------------------------------------------------------------------------- */

static size_t entry(const problem *p, const cofi_scores *s, size_t i, size_t r, uint32_t j)
{
    return (size_t)(p->first[r] + cofi_id(p->ids[r], i)) * s->stride + j;
}

static double plain_mean(const problem *p, const cofi_scores *s, size_t i, uint32_t j)
{
    double sum = 0;
    for (size_t r = 0; r < p->about.l; r++) sum += s->plain[entry(p, s, i, r, j)];
    return sum / (double)p->about.l;
}

static cofi_label slow_nearest(const problem *p, const cofi_scores *s, size_t i)
{
    int64_t sum[MOST_K], least = INT64_MAX;
    cofi_label best = COFI_NO_LABEL;
    double least_mean = INFINITY;
    for (uint32_t j = 0; j < s->k; j++) {
        sum[j] = s->base[j];
        for (size_t r = 0; r < p->about.l; r++) sum[j] += s->value[entry(p, s, i, r, j)];
        if (sum[j] < least) least = sum[j];
    }
    for (uint32_t j = 0; j < s->k; j++) {
        if (sum[j] - least > COFI_TIE) continue;
        double mean = s->plain != NULL ? plain_mean(p, s, i, j) : 0;
        if (best != COFI_NO_LABEL && mean >= least_mean) continue;
        best = (cofi_label)j;
        least_mean = mean;
    }
    return best;
}

static uint64_t weight_of(const problem *p, size_t i)
{
    return p->weight != NULL ? p->weight[i] : 1;
}

/* Counts of the labels, made from nothing, against the pass's own, which it changes row by row. */
static void check_counts(const problem *p, const cofi_pass *pass)
{
    size_t n = (size_t)p->first[p->about.l] * pass->stride;
    uint64_t *count = get_zero(n, sizeof *count), *size = get_zero(pass->k, sizeof *size), total = 0;
    for (size_t i = 0; i < p->about.n; i++) {
        uint32_t j = (uint32_t)pass->label[i];
        size[j] += weight_of(p, i);
        total += weight_of(p, i);
        for (size_t r = 0; r < p->about.l; r++)
            count[(size_t)(p->first[r] + cofi_id(p->ids[r], i)) * pass->stride + j] += weight_of(p, i);
    }
    assert_memory_equal(pass->count, count, n * sizeof *count);
    assert_memory_equal(pass->size, size, pass->k * sizeof *size);
    for (size_t r = 0; r < p->about.l; r++) { /* every attribute's counts add up to the rows */
        uint64_t sum = 0;
        for (size_t at = (size_t)p->first[r] * pass->stride; at < (size_t)p->first[r + 1] * pass->stride;
             at++)
            sum += pass->count[at];
        assert_int_equal(sum, total);
    }
    free(count);
    free(size);
}

/* ---- Comparing ---------------------------------------------------------------------------------- */

enum { N_SCORES = 2 };

typedef struct expectation {
    cofi_scores scores[N_SCORES];
    cofi_label *label[N_SCORES];
    uint64_t hash[N_SCORES];
} expectation;

static uint64_t rows_moved(const problem *p, const cofi_label *from, const cofi_label *to)
{
    uint64_t moved = 0;
    for (size_t i = 0; i < p->about.n; i++)
        if (weight_of(p, i) > 0 && (from == NULL || from[i] != to[i]))
            moved += p->copies != NULL ? p->copies[i] : 1;
    return moved;
}

static void open_pass(const problem *p, const cofi_kernel *kernel, uint32_t threads, cofi_team **team,
                      cofi_pass *pass)
{
    cof_env env = cofi_env_resolve(NULL);
    cof_error err;
    assert_status(cofi_team_open(&env, threads, team, &err), COF_OK, &err);
    assert_status(cofi_pass_open(&env, &p->rows, p->about.k, *team, kernel, pass, &err), COF_OK, &err);
}

/* The scores one after another, each twice: the second time nothing moves. */
static void check_passes(const problem *p, expectation *e, const cofi_kernel *kernel, uint32_t threads)
{
    cofi_team *team;
    cofi_pass pass;
    open_pass(p, kernel, threads, &team, &pass);
    for (int s = 0; s < N_SCORES; s++) {
        const cofi_label *before = s > 0 ? e->label[s - 1] : NULL;
        assert_int_equal(cofi_pass_run(&pass, &e->scores[s]), rows_moved(p, before, e->label[s]));
        assert_memory_equal(pass.label, e->label[s], p->about.n * sizeof *pass.label);
        check_counts(p, &pass);
        if (e->hash[s] == 0) e->hash[s] = pass.hash;
        assert_true(pass.hash == e->hash[s]);
        assert_int_equal(cofi_pass_run(&pass, &e->scores[s]), 0);
        assert_true(pass.hash == e->hash[s]);
    }
    cofi_pass_state state;
    cofi_blocks own = {.env = pass.own.env};
    assert_true(cofi_pass_open_state(&pass, &own, &state));
    cofi_pass_reset(&pass);
    cofi_pass_take(&pass, e->label[0]);
    cofi_pass_save(&pass, &state);
    for (int loaded = 0; loaded < 2; loaded++) {
        assert_memory_equal(pass.label, e->label[0], p->about.n * sizeof *pass.label);
        assert_true(pass.hash == e->hash[0]);
        check_counts(p, &pass);
        cofi_pass_run(&pass, &e->scores[1]);
        cofi_pass_load(&pass, &state);
    }
    cofi_blocks_release(&own);
    cofi_pass_reset(&pass);
    assert_true(pass.hash == 0 && !pass.labelled && pass.size[0] == 0);
    cofi_pass_close(&pass);
    cofi_pass_close(&pass);
    cofi_team_close(team);
}

static void check_case(cofi_rng *rng, pass_case about)
{
    static const uint32_t threads[] = {1, 2, 3, 5};
    problem p = make_problem(rng, about);
    expectation e = {.hash = {0}};
    for (int s = 0; s < N_SCORES; s++) {
        e.scores[s] = make_scores(rng, &p);
        e.label[s] = get_zero(about.n, sizeof *e.label[s]);
        for (size_t i = 0; i < about.n; i++) e.label[s][i] = slow_nearest(&p, &e.scores[s], i);
    }
    /* the others are compared with the plain one in test_kernels.c */
    const cofi_kernel *kernels[] = {&cofi_kernel_plain, NULL};
    assert_int_equal(cofi_kernel_choose(&kernels[1], NULL), COF_OK);
    for (size_t t = 0; t < COUNT(threads); t++)
        for (size_t which = 0; which < COUNT(kernels); which++)
            if (t == 0 || about.n > COFI_BLOCK_ROWS) check_passes(&p, &e, kernels[which], threads[t]);
    for (int s = 0; s < N_SCORES; s++) {
        free_scores(&e.scores[s]);
        free(e.label[s]);
    }
    free_problem(&p);
}

static pass_case varied(size_t round, uint32_t k, uint32_t o, size_t l, size_t n)
{
    static const uint8_t widths[] = {1, 2, 4};
    return (pass_case){.k = k,
                       .o = o,
                       .l = l,
                       .n = n,
                       .least_width = widths[round % 3],
                       .weighted = round % 2,
                       .copies = round % 4 == 1,
                       .plain = round % 5 == 2,
                       .dead = round % 3 == 1};
}

static const uint32_t all_k[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 24, 25, 64, 300};
static const size_t all_n[] = {1, 2, 127, 128, 129, 300, 4095, 4096, 4097, 8300};

static void every_k_with_every_n(void **state)
{
    (void)state;
    cofi_rng rng = dice(1);
    for (size_t k = 0; k < COUNT(all_k); k++)
        for (size_t n = 0; n < COUNT(all_n); n++)
            if (all_k[k] <= 9 || all_n[n] <= 4097 / (1 + all_k[k] / 60))
                check_case(&rng, varied(k + n, all_k[k], 3, 3, all_n[n]));
}

static void every_k_with_every_l(void **state)
{
    (void)state;
    static const size_t all_l[] = {1, 2, 31, 32, 33, 64, 65};
    cofi_rng rng = dice(2);
    for (size_t k = 0; k < COUNT(all_k); k++)
        for (size_t l = 0; l < COUNT(all_l); l++)
            check_case(&rng, varied(k + 2 * l, all_k[k], 2, all_l[l], all_k[k] < 30 ? 400 : 130));
}

static void every_width_of_ids(void **state)
{
    (void)state;
    static const uint32_t all_o[] = {1, 2, 3, 255, 256, 257, 65535, 65536, 65537};
    static const uint32_t some_k[] = {1, 2, 5, 9, 17};
    cofi_rng rng = dice(3);
    for (size_t o = 0; o < COUNT(all_o); o++)
        for (size_t k = 0; k < COUNT(some_k); k++)
            if (all_o[o] < 1000 || (k + o) % 3 == 0)
                check_case(&rng, varied(o + k, some_k[k], all_o[o], 1 + k % 3, all_o[o] < 1000 ? 300 : 4200));
}

static void random_cases(void **state)
{
    (void)state;
    cofi_rng rng = dice(4);
    for (size_t round = 0; round < 40; round++)
        check_case(&rng,
                   varied(below(&rng, 60), 1 + (uint32_t)below(&rng, 40), 1 + (uint32_t)below(&rng, 300),
                          1 + below(&rng, 40), 1 + below(&rng, round % 10 == 0 ? 15000 : 400)));
}

/* More sums a row than the plain kernel keeps for a group of rows, and as many clusters as there can be. */
static void very_many_clusters(void **state)
{
    (void)state;
    static const uint32_t ks[] = {2047, 2100, 16384, 20000, MOST_K};
    cofi_rng rng = dice(6);
    for (size_t i = 0; i < COUNT(ks); i++) check_case(&rng, varied(i, ks[i], 2, 2, 20));
}

/* ---- Settling ties ------------------------------------------------------------------------------ */

static void the_lowest_within_a_tie_wins(void **state)
{
    (void)state;
    cofi_scores s = {.k = 4};
    static const struct {
        int64_t sum[4];
        int32_t nearest;
    } cases[] = {
        {{0, 0, 0, 0}, 0},
        {{COFI_TIE, 0, 5, 0}, 0},
        {{COFI_TIE + 1, 0, 5, 0}, 1},
        {{COFI_NEVER, 900000, COFI_NEVER, 900000 - COFI_TIE}, 1},
        {{COFI_NEVER, 900000, COFI_NEVER, 900000 - COFI_TIE - 1}, 3},
        /* a chain of near ones is measured from the least, not from its neighbour */
        {{2 * COFI_TIE, COFI_TIE, 0, 7}, 1},
    };
    for (size_t c = 0; c < COUNT(cases); c++)
        assert_int_equal(cofi_settle(NULL, &s, 0, cases[c].sum), cases[c].nearest);
}

/* ---- Failing memory ----------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    cofi_rng rng = dice(5);
    problem p = make_problem(&rng, varied(0, 3, 4, 2, 50));
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cofi_team *team = NULL;
        cofi_pass pass = {.k = 0};
        cof_status status = cofi_team_open(&env, 3, &team, NULL);
        if (status == COF_OK) status = cofi_pass_open(&env, &p.rows, 3, team, NULL, &pass, NULL);
        cofi_pass_close(&pass);
        cofi_team_close(team);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
    free_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_k_with_every_n),      cmocka_unit_test(every_k_with_every_l),
        cmocka_unit_test(every_width_of_ids),        cmocka_unit_test(random_cases),
        cmocka_unit_test(very_many_clusters),        cmocka_unit_test(the_lowest_within_a_tie_wins),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
