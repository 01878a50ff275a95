/* t-SNE and the map of rows: as trustworthy as scikit-learn's, the same for a seed, right at the edges. */
#include "unit_helper.h"

#include "../../src/report/tsne.h"
#include "alloc_helper.h"

enum { N = 300, L = 12, O = 4, MODES = 6 };

/* The same numbers as tests/data/make_tsne_sklearn.py draws. */
static uint32_t draw(uint32_t *state, uint32_t bound)
{
    *state = (uint32_t)(((uint64_t)*state * 1103515245u + 12345u) % (1u << 31));
    return (*state >> 16) % bound;
}

static void planted_codes(int32_t codes[N * L])
{
    uint32_t state = 12345, mode[MODES * L];
    for (size_t at = 0; at < MODES * L; at++) mode[at] = draw(&state, O);
    for (size_t i = 0; i < N; i++)
        for (size_t r = 0; r < L; r++) {
            bool noise = draw(&state, 4) == 0;
            codes[i * L + r] = (int32_t)(noise ? draw(&state, O) : mode[i % MODES * L + r]);
        }
}

static double *planted_distances(void)
{
    int32_t codes[N * L];
    double *d = get_zero(N * N, sizeof *d);
    planted_codes(codes);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t r = 0; r < L; r++) d[i * N + j] += codes[i * L + r] != codes[j * L + r];
    return d;
}

/* How many points are nearer to i than j is; of equally distant ones the lower number is nearer. */
static size_t count_nearer(const double *from_i, size_t i, size_t j, size_t n)
{
    size_t nearer = 0;
    for (size_t m = 0; m < n; m++)
        nearer += m != i && (from_i[m] < from_i[j] || (from_i[m] == from_i[j] && m < j));
    return nearer;
}

/* 1 if the k neighbours that a map shows are true neighbours, about 0.5 for a map at random (Venna and Kaski
 * 2001; scikit-learn's function of that name). */
static double trustworthiness(const double *distance, const double *xy, size_t n, size_t k)
{
    double penalty = 0, *flat = get_zero(n, sizeof *flat);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) flat[j] = hypot(xy[2 * j] - xy[2 * i], xy[2 * j + 1] - xy[2 * i + 1]);
        for (size_t j = 0; j < n; j++) {
            if (j == i || count_nearer(flat, i, j, n) >= k) continue;
            size_t rank = count_nearer(distance + i * n, i, j, n) + 1;
            if (rank > k) penalty += (double)(rank - k);
        }
    }
    free(flat);
    return 1 - 2 * penalty / ((double)(n * k) * (2.0 * (double)n - 3.0 * (double)k - 1));
}

/* scikit-learn 1.x, mean of 5 seeds: see tests/data/make_tsne_sklearn.py */
static const double SKLEARN_5 = 0.9669, SKLEARN_12 = 0.9738;

static void as_trustworthy_as_scikit_learn(void **state)
{
    double *d = planted_distances(), *xy = get_zero(2 * N, sizeof *xy), trust;
    cof_error err;
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        cofi_tsne_options o = {.seed = seed};
        assert_status(cofi_tsne(NULL, d, N, &o, xy, &err), COF_OK, &err);
        trust = trustworthiness(d, xy, N, 5);
        if (getenv("COF_SHOW") != NULL) printf("trustworthiness, 5 neighbours: %.4f\n", trust);
        assert_true(trust > SKLEARN_5 - 0.02);
        trust = trustworthiness(d, xy, N, 12);
        if (getenv("COF_SHOW") != NULL) printf("trustworthiness, 12 neighbours: %.4f\n", trust);
        assert_true(trust > SKLEARN_12 - 0.02);
    }
    free(d);
    free(xy);
}

static void same_seed_same_map_for_any_threads(void **state)
{
    double *d = planted_distances(), *a = get_zero(2 * N, sizeof *a), *b = get_zero(2 * N, sizeof *b);
    cof_error err;
    (void)state;
    cofi_tsne_options one = {.seed = 4, .threads = 1, .steps = 60};
    cofi_tsne_options three = {.seed = 4, .threads = 3, .steps = 60};
    assert_status(cofi_tsne(NULL, d, N, &one, a, &err), COF_OK, &err);
    assert_status(cofi_tsne(NULL, d, N, &three, b, &err), COF_OK, &err);
    assert_memory_equal(a, b, 2 * N * sizeof *a);
    free(d);
    free(a);
    free(b);
}

/* A straight line of points is trusted, a shuffled one is not. */
static void trustworthiness_of_known_maps(void **state)
{
    enum { POINTS = 50 };
    double d[POINTS * POINTS], line[2 * POINTS], shuffled[2 * POINTS], trust;
    (void)state;
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t j = 0; j < POINTS; j++) d[i * POINTS + j] = fabs((double)i - (double)j);
        line[2 * i] = (double)i;
        line[2 * i + 1] = 0;
        shuffled[2 * i] = (double)(i * 17 % POINTS);
        shuffled[2 * i + 1] = (double)(i * 29 % POINTS);
    }
    trust = trustworthiness(d, line, POINTS, 5);
    assert_near(trust, 1, 0.001); /* ties of i - 1 and i + 1 cost nothing */
    trust = trustworthiness(d, shuffled, POINTS, 5);
    assert_true(trust < 0.75);
}

static void few_points_and_equal_points(void **state)
{
    double zero[100] = {0}, pair[] = {0, 1, 1, 0}, xy[20];
    cof_error err;
    (void)state;
    assert_status(cofi_tsne(NULL, zero, 0, NULL, xy, &err), COF_OK, &err);
    assert_status(cofi_tsne(NULL, zero, 1, NULL, xy, &err), COF_OK, &err);
    assert_true(xy[0] == 0 && xy[1] == 0);
    assert_status(cofi_tsne(NULL, pair, 2, NULL, xy, &err), COF_OK, &err);
    assert_true(isfinite(xy[0]) && hypot(xy[0] - xy[2], xy[1] - xy[3]) > 0);
    assert_status(cofi_tsne(NULL, zero, 10, NULL, xy, &err), COF_OK, &err);
    for (size_t c = 0; c < 20; c++) assert_true(isfinite(xy[c]));
    cofi_tsne_options wrong = {.perplexity = -1};
    assert_status(cofi_tsne(NULL, pair, 2, &wrong, xy, &err), COF_ERR_ARGUMENT, &err);
}

/* One distance that is not a number used to make every place one, and the call returned COF_OK. */
static void distances_that_are_no_numbers_are_refused(void **state)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY, -1, 1e300};
    double d[36], xy[12];
    cof_error err;
    (void)state;
    for (size_t at = 0; at < 36; at++) d[at] = at / 6 == at % 6 ? 0 : 1e60; /* the largest allowed */
    assert_status(cofi_tsne(NULL, d, 6, NULL, xy, &err), COF_OK, &err);
    for (size_t c = 0; c < 12; c++) assert_true(isfinite(xy[c]));
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        d[2 * 6 + 4] = d[4 * 6 + 2] = wrong[w];
        assert_status(cofi_tsne(NULL, d, 6, NULL, xy, &err), COF_ERR_ARGUMENT, &err);
        assert_non_null(strstr(err.text, "distances between 0 and 1e60"));
    }
    cofi_tsne_options no_number = {.perplexity = NAN};
    assert_status(cofi_tsne(NULL, d, 6, &no_number, xy, &err), COF_ERR_ARGUMENT, &err);
}

/* ---- The map of rows ------------------------------------------------------------------------------- */

static void map_of_a_table(void **state)
{
    int32_t codes[N * L];
    cof_map *map = NULL;
    cof_error err;
    size_t n, total = 0;
    (void)state;
    planted_codes(codes);
    memcpy(codes + (N - 1) * L, codes, L * sizeof *codes); /* the last row equals the first */
    cof_table *table = table_of(codes, N, L);
    cof_fit_options fit = {.struct_size = sizeof fit, .k = MODES, .restarts = 3};
    cof_model *model = fit_model(table, &fit, NULL);
    cof_embed_options o = {.struct_size = sizeof o, .seed = 1, .steps = 40};
    assert_status(cof_embed(model, table, &o, &map, &err), COF_OK, &err);
    const cof_map_point *p = cof_map_points(map, &n);
    assert_int_equal(n, cof_map_n_distinct(map));
    assert_true(p[0].n_rows >= 2);
    for (size_t i = 0; i < n; i++) {
        total += p[i].n_rows;
        assert_true(isfinite(p[i].x) && isfinite(p[i].y));
        assert_true(i == 0 || p[i].row > p[i - 1].row);
    }
    assert_int_equal(total, N);
    cof_map_free(map);
    o.most_points = 100;
    assert_status(cof_embed(model, table, &o, &map, &err), COF_OK, &err);
    cof_map_points(map, &n);
    assert_int_equal(n, 100);
    assert_true(cof_map_n_distinct(map) > 200);
    cof_map_free(map);
    o.most_points = 20; /* of 80 rows drawn, because looking at all is too much */
    o.most_cells = 100;
    assert_status(cof_embed(model, table, &o, &map, &err), COF_OK, &err);
    p = cof_map_points(map, &n);
    assert_int_equal(n, 20);
    assert_int_equal(cof_map_n_distinct(map), 0);
    for (size_t i = 1; i < n; i++) assert_true(p[i].row > p[i - 1].row && p[i].row < N);
    cof_map_free(map);
    cof_model_free(model);
    cof_table_free(table);
}

typedef struct counted {
    size_t n_bytes, n_circles;
} counted;

static int count_circles(void *ctx, const char *text, size_t n_bytes)
{
    counted *c = ctx;
    c->n_bytes += n_bytes;
    for (size_t i = 0; i + 7 < n_bytes; i++) c->n_circles += memcmp(text + i, "<circle", 7) == 0;
    return 0;
}

static cof_status map_twice(const cof_env *env, cof_error *err)
{
    static const int32_t codes[] = {0, 0, 1, 0, 1, 1, 2, 2, 2, 3, 0, 0, 3, 3};
    cof_table *table = NULL;
    cof_model *model = NULL;
    cof_map *map = NULL;
    counted seen = {0};
    cof_fit_options fit = {.struct_size = sizeof fit, .k = 2, .restarts = 2, .threads = 1};
    cof_embed_options o = {.struct_size = sizeof o, .steps = 5, .threads = 1};
    cof_embed_options drawn = {
        .struct_size = sizeof drawn, .steps = 2, .threads = 1, .most_points = 1, .most_cells = 1};
    cof_status status = cof_table_from_codes(env, codes, 7, 2, NULL, &table, err);
    if (status == COF_OK) status = cof_fit(table, &fit, &model, NULL, err);
    if (status == COF_OK) status = cof_embed(model, table, &o, &map, err);
    if (status == COF_OK)
        status = cof_map_draw(map, model, table, cof_model_labels(model, NULL), count_circles, &seen, err);
    cof_map_free(map);
    map = NULL;
    if (status == COF_OK) status = cof_embed(model, table, &drawn, &map, err);
    cof_map_free(map);
    cof_model_free(model);
    cof_table_free(table);
    if (status == COF_OK) assert_int_equal(seen.n_circles, 6);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    cof_error err;
    (void)state;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = map_twice(&env, &err);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_trustworthy_as_scikit_learn),
                                       cmocka_unit_test(same_seed_same_map_for_any_threads),
                                       cmocka_unit_test(trustworthiness_of_known_maps),
                                       cmocka_unit_test(few_points_and_equal_points),
                                       cmocka_unit_test(distances_that_are_no_numbers_are_refused),
                                       cmocka_unit_test(map_of_a_table),
                                       cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
