/* Fits through the public calls: worked numbers, invariants of every result, repeatability, weights, folding,
 * missing cells, and every way a fit can end. Guards fit.c, engine.c, harvest.c and method/coforest.c. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/table/table.h"

static cof_fit_options options(uint32_t k)
{
    return (cof_fit_options){.struct_size = sizeof(cof_fit_options), .k = k, .threads = 1};
}

static void assert_refused(const cof_table *table, const cof_fit_options *o, cof_status expected)
{
    cof_model *model = NULL;
    cof_error err = {""};
    assert_status(cof_fit(table, o, &model, NULL, &err), expected, &err);
    assert_null(model);
    assert_true(strlen(err.text) > 0);
    assert_int_equal(cof_fit(table, o, &model, NULL, NULL), expected);
}

/* ---- What holds for every result ---------------------------------------------------------------- */

/* Sizes and counts are those of the labels, and every attribute's counts add up to the sizes. */
static void check_counts(const cof_model *m, const cof_table *t, const double *weights)
{
    size_t n;
    const int32_t *label = cof_model_labels(m, &n);
    uint32_t k = cof_model_k(m);
    double *size = get_zero(k, sizeof *size);
    assert_int_equal(n, cof_table_n_rows(t));
    for (size_t i = 0; i < n; i++) {
        assert_in_range(label[i] + 1, 0, k);
        if (label[i] >= 0) size[label[i]] += weights != NULL ? weights[i] : 1;
    }
    for (uint32_t j = 0; j < k; j++) assert_near(cof_model_sizes(m)[j], size[j], 1e-9 * (1 + size[j]));
    for (size_t a = 0; a < cof_model_n_attributes(m); a++) {
        cof_attribute view = {.struct_size = sizeof view};
        assert_int_equal(cof_model_attribute(m, a, &view), COF_OK);
        size_t column = cof_table_find(t, view.name);
        for (uint32_t j = 0; view.used && j < k; j++) {
            double *count = get_zero((size_t)view.n_values + 1, sizeof *count);
            for (size_t i = 0; i < n; i++) {
                uint32_t v = cof_table_code(t, i, column);
                if (label[i] == (int32_t)j)
                    count[v < view.n_values ? v : view.n_values] += weights != NULL ? weights[i] : 1;
            }
            for (uint32_t v = 0; v < view.n_values; v++)
                assert_near(cof_model_count(m, a, v, j), count[v], 1e-9 * (1 + size[j]));
            free(count);
        }
    }
    free(size);
}

static void check_records(const cof_model *m, const cof_fit_info *info, const cof_fit_options *o)
{
    size_t n_restarts, n_history;
    const cof_restart_record *record = cof_model_restarts(m, &n_restarts);
    const cof_pass_record *history = cof_model_history(m, &n_history);
    assert_int_equal(n_restarts, info->n_restarts);
    assert_true(info->best_restart < n_restarts && n_restarts <= info->restarts);
    assert_int_equal(cof_model_best_restart(m), info->best_restart);
    assert_int_equal(cof_model_select(m), info->select);
    if (o->select != COF_SELECT_AUTO) assert_int_equal(info->select, o->select);
    for (size_t i = 0; i < n_restarts; i++) { /* no restart is clearly better than the one kept */
        double best = record[info->best_restart].criterion, gain = record[i].criterion - best;
        if (info->select == COF_SELECT_OBJECTIVE) assert_true(record[i].criterion == -record[i].objective);
        if (info->select == COF_SELECT_LIKELIHOOD)
            assert_true(record[i].criterion == record[i].log_likelihood);
        assert_true(gain <= 1e-11 * fabs(best));
        assert_true(i >= info->best_restart || gain < 0); /* and of equals the first is kept */
        assert_true(record[i].rebuilds < (o->max_rebuilds > 0 ? o->max_rebuilds : 51));
    }
    const cof_restart_record *best = &record[info->best_restart];
    assert_true(best->objective == info->objective && best->log_likelihood == info->log_likelihood);
    assert_true(best->rebuilds == info->rebuilds && best->passes == info->passes);
    for (size_t h = 0; h < n_history; h++) {
        bool first = h == 0 || history[h].restart != history[h - 1].restart;
        assert_int_equal(history[h].pass, first ? 1 : history[h - 1].pass + 1);
        assert_true(first ? history[h].rebuild == 0 : history[h].rebuild - history[h - 1].rebuild <= 1);
        assert_true(history[h].objective >= 0);
        bool last = h + 1 == n_history || history[h + 1].restart != history[h].restart;
        if (!last || history[h].restart >= n_restarts) continue;
        const cof_restart_record *r = &record[history[h].restart];
        assert_int_equal(history[h].pass, r->passes);
        assert_int_equal(history[h].rebuild, r->rebuilds);
        if (r->stop_reason == COF_STOP_CONVERGED) assert_int_equal(history[h].moved, 0);
    }
}

/* The trees come from the final partition: rows are nowhere nearer than in their own cluster, and L is the
 * sum of those distances, unless the start was refined by the likelihood. Only the authors' variant may decide a tie
 * otherwise. */
static void check_settled(const cof_model *m, const cof_table *t, const cof_fit_info *info,
                          const double *weights, bool by_likelihood)
{
    uint32_t k = cof_model_k(m);
    size_t n;
    const int32_t *label = cof_model_labels(m, &n);
    double *distance = get_zero(n * k, sizeof *distance), sum = 0;
    cof_error err;
    assert_status(cof_model_transform(m, t, 1, distance, n * k, &err), COF_OK, &err);
    for (size_t i = 0; i < n; i++) {
        if (label[i] < 0) continue;
        double own = distance[i * k + (size_t)label[i]];
        sum += own * (weights != NULL ? weights[i] : 1);
        for (uint32_t j = 0; j < k; j++) assert_true(own <= distance[i * k + j] + 1e-9);
    }
    if (!by_likelihood) assert_near(info->objective, sum, 1e-9 * (1 + sum));
    free(distance);
}

static void check_result(const cof_table *t, const cof_fit_options *o)
{
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model *m = fit_model(t, o, &info);
    uint32_t n_empty = 0;
    for (uint32_t j = 0; j < o->k; j++) n_empty += cof_model_sizes(m)[j] == 0;
    assert_int_equal(info.n_empty, n_empty);
    assert_int_equal(info.n_rows + info.n_dropped, cof_table_n_rows(t));
    assert_true(info.n_distinct_rows <= info.n_rows && info.n_distinct_rows >= o->k);
    assert_true(info.threads >= 1 && strlen(info.kernel) > 0 && info.row_visits > 0);
    assert_true(info.fit_s >= info.prepare_s && info.start_s >= 0 && info.pass_s >= 0 && info.forest_s >= 0);
    check_counts(m, t, o->weights);
    check_records(m, &info, o);
    bool by_likelihood = o->init == COF_INIT_PORTFOLIO && info.best_restart % 2 == 1;
    if (info.stop_reason == COF_STOP_CONVERGED) check_settled(m, t, &info, o->weights, by_likelihood);
    cof_model_free(m);
}

static void every_result_is_consistent(void **state)
{
    (void)state;
    double weights[160];
    for (size_t i = 0; i < 160; i++) weights[i] = (double)(i % 4) / 2;
    for (uint64_t round = 0; round < 120; round++) {
        cof_fit_options o = options(1 + (uint32_t)(round % 7));
        o.restarts = 3;
        o.seed = round;
        o.variant = (int32_t)(round % 2);
        o.init = (int32_t)(round % 6);
        o.select = (int32_t)(round / 2 % 3);
        o.weights = round % 3 == 0 ? weights : NULL;
        o.max_passes = round % 11 == 3 ? 2 : 0;
        o.max_rebuilds = round % 13 == 5 ? 1 : 0;
        cof_table *t = random_table(round, 160, 2 + round % 6, 2 + round % 9, 1 + round % 5);
        uint64_t n_distinct;
        assert_int_equal(cof_table_count_distinct(t, &n_distinct, NULL), COF_OK);
        if (n_distinct > 40) check_result(t, &o);
        cof_table_free(t);
    }
}

/* ---- Worked numbers ----------------------------------------------------------------------------- */

/* Spec section 11 on T6, started from x2 and x5. Its lengths are the authors', divided by k = 2. */
static void worked_example(void **state)
{
    (void)state;
    static const uint64_t rows[] = {1, 4};
    static const int32_t labels[] = {1, 0, 0, 1, 1, 1};
    static const size_t n_edges[] = {2, 1, 2, 1};
    static const cof_edge edges[4][2] = {{{0, 2, 1e-8}, {0, 1, 0.707107}},
                                         {{0, 1, 0.565685}, {0, 0, 0}},
                                         {{1, 2, 1e-8}, {1, 0, 0.707107}},
                                         {{0, 1, 0.282843}, {0, 0, 0}}};
    static const double authors[6][2] = {{0.247487, 0.017678}, {0.070711, 0.194454}, {0.070711, 0.335876},
                                         {0.318198, 0.053033}, {0.247487, 0.017678}, {0.247487, 0.017678}};
    static const double paper[6][2] = {{1.697056, 0.070711}, {0.282843, 1.484924}, {0.282843, 2.050610},
                                       {1.979899, 0.212132}, {1.697056, 0.070711}, {1.697056, 0.070711}};
    cof_table *t = t6_table();
    for (int32_t variant = COF_VARIANT_PAPER; variant <= COF_VARIANT_AUTHORS; variant++) {
        double scale = variant == COF_VARIANT_PAPER ? 2 : 1, distance[12], sum = 0;
        cof_fit_options o = options(2);
        cof_fit_info info = {.struct_size = sizeof info};
        o.variant = variant;
        o.init_rows = rows;
        cof_model *m = fit_model(t, &o, &info);
        assert_memory_equal(cof_model_labels(m, NULL), labels, sizeof labels);
        assert_int_equal(info.stop_reason, COF_STOP_CONVERGED);
        assert_int_equal(info.rebuilds, 0);
        assert_int_equal(info.passes, 1);
        for (size_t r = 0; r < 4; r++) {
            size_t n;
            const cof_edge *e = cof_model_edges(m, r, &n);
            assert_int_equal(n, n_edges[r]);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(e[i].u, edges[r][i].u);
                assert_int_equal(e[i].v, edges[r][i].v);
                assert_near(e[i].length, scale * edges[r][i].length, 1e-6);
            }
        }
        cof_error err;
        assert_status(cof_model_transform(m, t, 1, distance, 12, &err), COF_OK, &err);
        for (size_t i = 0; i < 6; i++) {
            for (size_t j = 0; j < 2; j++)
                assert_near(distance[2 * i + j],
                            variant == COF_VARIANT_PAPER ? scale * paper[i][j] : 4 * authors[i][j], 5e-6);
            sum += distance[2 * i + (size_t)labels[i]];
        }
        assert_near(info.objective, sum, 1e-12);
        cof_model_free(m);
    }
    cof_table_free(t);
}

/* ---- Edges of the possible ---------------------------------------------------------------------- */

static void one_cluster(void **state)
{
    (void)state;
    cof_table *t = t6_table();
    for (int32_t init = COF_INIT_KMEANS; init <= COF_INIT_CAO; init++) {
        cof_fit_options o = options(1);
        cof_fit_info info = {.struct_size = sizeof info};
        o.init = init;
        cof_model *m = fit_model(t, &o, &info);
        for (size_t i = 0; i < 6; i++) assert_int_equal(cof_model_labels(m, NULL)[i], 0);
        assert_true(info.objective == 0); /* all values have one profile, so all lengths are 0 */
        cof_model_free(m);
    }
    cof_table_free(t);
}

/* Every distinct row is a cluster of its own, and L is 0. */
static void as_many_clusters_as_distinct_rows(void **state)
{
    (void)state;
    for (uint64_t round = 0; round < 12; round++) {
        cof_table *t = random_table(round, 30, 4, 3, 3);
        uint64_t n_distinct;
        assert_int_equal(cof_table_count_distinct(t, &n_distinct, NULL), COF_OK);
        cof_fit_options o = options((uint32_t)n_distinct);
        cof_fit_info info = {.struct_size = sizeof info};
        o.variant = (int32_t)(round % 2);
        o.init = (int32_t)(round % 6);
        cof_model *m = fit_model(t, &o, &info);
        assert_int_equal(info.n_empty, 0);
        assert_near(info.objective, 0, 1e-12);
        cof_model_free(m);
        o.k++;
        assert_refused(t, &o, COF_ERR_FEW_ROWS);
        cof_table_free(t);
    }
}

static void tables_that_cannot_be_clustered(void **state)
{
    (void)state;
    static const int32_t equal[] = {1, 2, 1, 2, 1, 2, 1, 2};
    cof_fit_options o = options(2);
    cof_table *t = table_of(equal, 4, 2);
    assert_refused(t, &o, COF_ERR_NO_COLUMNS);
    cof_table_free(t);
    t = table_of(equal, 1, 2);
    assert_refused(t, &o, COF_ERR_NO_COLUMNS);
    cof_table_free(t);
}

/* They were refused even for one cluster. */
static void equal_rows_are_one_cluster(void **state)
{
    static const int32_t equal[] = {1, 2, 1, 2, 1, 2}, two[] = {1, 2, 1, 3, 2, 2};
    static const double weights[] = {0, 5, 0};
    (void)state;
    for (size_t m = 0; m < cof_method_count(); m++) {
        cof_fit_options o = {.struct_size = sizeof o, .k = 1, .method = cof_method_name(m)};
        for (int c = 0; c < 4; c++) {
            int weighted = c % 2;
            o.variant = c / 2 ? COF_VARIANT_AUTHORS : COF_VARIANT_PAPER;
            cof_table *t = table_of(weighted ? two : equal, 3, 2);
            cof_model *model = NULL;
            cof_error err;
            o.weights = weighted ? weights : NULL;
            cof_status status = cof_fit(t, &o, &model, NULL, &err);
            if (status != COF_ERR_NO_COLUMNS) { /* some methods need two columns that vary */
                assert_status(status, COF_OK, &err);
                assert_near(cof_model_sizes(model)[0], weighted ? 5 : 3, 1e-9);
            }
            if (status != COF_OK && o.method[0] == 'k') fail_msg("%s %d: %s", o.method, weighted, err.text);
            cof_model_free(model);
            cof_table_free(t);
        }
    }
}

static void wrong_options(void **state)
{
    (void)state;
    cof_table *t = t6_table();
    cof_fit_options right = options(2), o = options(0);
    assert_refused(t, &o, COF_ERR_ARGUMENT);
    assert_refused(t, NULL, COF_ERR_ARGUMENT);
    for (int wrong = -1; wrong <= 9; wrong += 10) {
        o = right;
        o.variant = wrong;
        assert_refused(t, &o, COF_ERR_ARGUMENT);
        o = right;
        o.init = wrong;
        assert_refused(t, &o, COF_ERR_ARGUMENT);
        o = right;
        o.select = wrong;
        assert_refused(t, &o, COF_ERR_ARGUMENT);
        o = right;
        o.missing = wrong;
        assert_refused(t, &o, COF_ERR_ARGUMENT);
    }
    o = right;
    o.max_passes = UINT32_MAX;
    assert_refused(t, &o, COF_ERR_ARGUMENT);
    o = right;
    o.max_rebuilds = UINT32_MAX;
    assert_refused(t, &o, COF_ERR_ARGUMENT);
    o = right;
    o.restarts = UINT32_MAX;
    assert_refused(t, &o, COF_ERR_ARGUMENT);
    o = right;
    o.method = "no such method";
    assert_refused(t, &o, COF_ERR_ARGUMENT);
    cof_table_free(t);
}

static void too_many_clusters(void **state)
{
    (void)state;
    enum { N = 65536 };
    int32_t *codes = get_zero(N, sizeof *codes);
    for (int32_t i = 0; i < N; i++) codes[i] = i;
    cof_table *t = table_of(codes, N, 1);
    cof_fit_options o = options(N);
    assert_refused(t, &o, COF_ERR_ARGUMENT);
    cof_table_free(t);
    free(codes);
}

/* A caller built before `restarts`, and one before `passes`, existed. */
static void shorter_structs(void **state)
{
    (void)state;
    cof_table *t = t6_table();
    cof_fit_options o = options(2);
    o.restarts = 99;
    o.variant = 99;
    o.struct_size = offsetof(cof_fit_options, restarts);
    cof_fit_info info = {.struct_size = offsetof(cof_fit_info, rebuilds), .passes = 12345};
    cof_model *m = fit_model(t, &o, &info);
    assert_int_equal(info.n_restarts, 100);
    assert_int_equal(info.passes, 12345);
    assert_int_equal(info.struct_size, offsetof(cof_fit_info, rebuilds));
    cof_model_free(m);
    cof_table_free(t);
}

/* ---- Repeatability ------------------------------------------------------------------------------ */

static void assert_same_result(const cof_model *a, const cof_model *b)
{
    size_t n_a, n_b;
    assert_same_labels(a, b);
    assert_same_trees(a, b);
    const cof_pass_record *x = cof_model_history(a, &n_a), *y = cof_model_history(b, &n_b);
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++)
        assert_true(x[i].objective == y[i].objective && x[i].moved == y[i].moved && x[i].pass == y[i].pass);
}

/* Enough rows that threads are used, and a column of many values that one worker alone must do. */
static cof_table *large_table(void)
{
    enum { N = 9000, L = 6 };
    cofi_rng rng = dice(9);
    int32_t *codes = random_codes(&rng, N, L, 7, 6);
    for (size_t i = 0; i < N; i++) codes[i * L + 2] = (int32_t)below(&rng, 1100);
    cof_table *t = table_of(codes, N, L);
    free(codes);
    return t;
}

static void the_same_seed_and_any_threads_give_the_same(void **state)
{
    (void)state;
    cof_table *t = large_table();
    for (int32_t init = COF_INIT_KMEANS; init <= COF_INIT_CAO; init++) {
        cof_fit_options o = options(6);
        o.seed = 4;
        o.init = init;
        o.variant = init % 2;
        o.restarts = init == COF_INIT_KMEANS ? 2 : 1;
        o.max_rebuilds = 5;
        cof_model *one = fit_model(t, &o, NULL);
        for (uint32_t threads = 1; threads <= 4; threads++) {
            cof_fit_info info = {.struct_size = sizeof info};
            o.threads = threads;
            cof_model *m = fit_model(t, &o, &info);
            assert_in_range(info.threads, 1, threads);
            assert_same_result(one, m);
            cof_model_free(m);
        }
        cof_model_free(one);
    }
    cof_table_free(t);
}

static void seeds_and_restarts_are_streams(void **state)
{
    (void)state;
    cof_table *t = random_table(1, 300, 8, 5, 6);
    cof_fit_options o = options(6);
    o.init = COF_INIT_RANDOM;
    o.seed = 11;
    o.restarts = 4;
    cof_model *four = fit_model(t, &o, NULL);
    o.restarts = 1;
    cof_model *one = fit_model(t, &o, NULL);
    assert_true(cof_model_restarts(four, NULL)[0].objective == cof_model_restarts(one, NULL)[0].objective);
    bool differ = false;
    for (size_t i = 1; i < 4; i++)
        differ |= cof_model_restarts(four, NULL)[i].objective != cof_model_restarts(four, NULL)[0].objective;
    assert_true(differ);
    cof_model_free(four);
    cof_model_free(one);
    cof_table_free(t);
}

/* No chance, no second chance: one start is all there is. */
static void fixed_starts_run_once(void **state)
{
    (void)state;
    static const uint64_t rows[] = {0, 3};
    cof_table *t = t6_table();
    cof_fit_options o = options(2);
    cof_fit_info info = {.struct_size = sizeof info};
    o.init = COF_INIT_CAO;
    cof_model_free(fit_model(t, &o, &info));
    assert_int_equal(info.n_restarts, 1);
    o = options(2);
    o.init_rows = rows;
    cof_model_free(fit_model(t, &o, &info));
    assert_int_equal(info.n_restarts, 1);
    cof_table_free(t);
}

/* ---- Weights and folding ------------------------------------------------------------------------ */

/* Every row of the first table `times` times in a row against that as its weight: one problem, so one result,
 * whether the copies are folded (three times) or not (some once, some twice). */
static void check_copies(uint64_t seed, int32_t init, bool three, size_t n_rows)
{
    enum { L = 5 };
    cofi_rng rng = dice(seed);
    int32_t *codes = random_codes(&rng, n_rows, L, 5, 4), *copied = get_zero(3 * n_rows * L, sizeof *copied);
    double *weights = get_zero(n_rows, sizeof *weights);
    size_t n = 0, *from = get_zero(3 * n_rows, sizeof *from);
    for (size_t i = 0; i < n_rows; i++) {
        weights[i] = three ? 3 : 1 + (double)(i % 5 == 0);
        for (size_t c = 0; c < (size_t)weights[i]; c++, n++) {
            memcpy(copied + n * L, codes + i * L, L * sizeof *codes);
            from[n] = i;
        }
    }
    cof_table *many = table_of(copied, n, L), *few = table_of(codes, n_rows, L);
    cof_fit_options o = options(4);
    cof_fit_info a = {.struct_size = sizeof a}, b = a;
    o.init = init;
    o.variant = (int32_t)(seed % 2);
    o.seed = seed;
    o.restarts = 3;
    cof_model *of_many = fit_model(many, &o, &a);
    o.weights = weights;
    cof_model *of_few = fit_model(few, &o, &b);
    assert_same_trees(of_many, of_few);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(cof_model_labels(of_many, NULL)[i], cof_model_labels(of_few, NULL)[from[i]]);
    assert_true(a.objective == b.objective && a.log_likelihood == b.log_likelihood && a.passes == b.passes);
    cof_model_free(of_many);
    cof_model_free(of_few);
    cof_table_free(many);
    cof_table_free(few);
    free(codes);
    free(copied);
    free(weights);
    free(from);
}

static void copies_and_weights_are_one_problem(void **state)
{
    (void)state;
    for (int32_t init = COF_INIT_KMEANS; init <= COF_INIT_CAO; init++) {
        for (uint64_t seed = 0; seed < 6; seed++) check_copies(seed, init, seed / 2 % 2 == 0, 120);
        check_copies(9, init, init % 2 == 0, 6000); /* enough that only a sample is looked at first */
    }
}

/* Weights in another unit: the same partition, and L in that unit. */
static void the_unit_of_weights_does_not_matter(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        double weights[100], quarters[100];
        for (size_t i = 0; i < 100; i++) {
            weights[i] = (double)(1 + (i + seed) % 5);
            quarters[i] = weights[i] / 4;
        }
        cof_table *t = random_table(seed, 100, 5, 5, 4);
        cof_fit_options o = options(4);
        cof_fit_info a = {.struct_size = sizeof a}, b = a;
        o.init = COF_INIT_CAO; /* draws depend on the unit */
        o.weights = weights;
        cof_model *x = fit_model(t, &o, &a);
        o.weights = quarters;
        cof_model *y = fit_model(t, &o, &b);
        assert_same_labels(x, y);
        assert_same_trees(x, y);
        assert_near(a.objective / 4, b.objective, 1e-12 * a.objective);
        for (uint32_t j = 0; j < 4; j++) assert_true(cof_model_sizes(x)[j] / 4 == cof_model_sizes(y)[j]);
        cof_model_free(x);
        cof_model_free(y);
        cof_table_free(t);
    }
}

/* Rows without weight are labelled like the others and change nothing for them. */
static void rows_without_weight_only_ride_along(void **state)
{
    (void)state;
    enum { N = 80, MORE = 40, L = 5 };
    for (uint64_t seed = 0; seed < 10; seed++) {
        cofi_rng rng = dice(seed);
        int32_t *codes = random_codes(&rng, N + MORE, L, 5, 4);
        double weights[N + MORE] = {0};
        for (size_t i = 0; i < N; i++) weights[i] = 1;
        cof_table *all = table_of(codes, N + MORE, L), *some = table_of(codes, N, L);
        cof_fit_options o = options(4);
        cof_fit_info a = {.struct_size = sizeof a}, b = a;
        o.seed = seed;
        cof_model *alone = fit_model(some, &o, &a);
        o.weights = weights;
        cof_model *joined = fit_model(all, &o, &b);
        assert_memory_equal(cof_model_labels(alone, NULL), cof_model_labels(joined, NULL),
                            N * sizeof(int32_t));
        assert_near(a.objective, b.objective, 1e-12 * a.objective);
        assert_near(a.log_likelihood, b.log_likelihood, 1e-12 * fabs(a.log_likelihood));
        for (size_t i = N; i < N + MORE; i++) assert_in_range(cof_model_labels(joined, NULL)[i], 0, 3);
        cof_model_free(alone);
        cof_model_free(joined);
        cof_table_free(all);
        cof_table_free(some);
        free(codes);
    }
}

/* ---- Missing cells ------------------------------------------------------------------------------ */

static void missing_cells(void **state)
{
    (void)state;
    cof_table *t = holey_table(3, 120, 5, 4, 3, 12);
    for (int32_t missing = COF_MISSING_VALUE; missing <= COF_MISSING_DROP; missing++) {
        cof_fit_options o = options(3);
        cof_fit_info info = {.struct_size = sizeof info};
        o.missing = missing;
        check_result(t, &o);
        cof_model *m = fit_model(t, &o, &info);
        assert_int_equal(cof_model_missing(m), missing);
        uint64_t n_dropped = 0;
        for (size_t i = 0; i < 120; i++) {
            bool hole = false;
            for (size_t c = 0; c < 5; c++) hole |= cof_table_code(t, i, c) == t->column[c].n_values;
            bool dropped = hole && missing == COF_MISSING_DROP;
            assert_int_equal(cof_model_labels(m, NULL)[i] < 0, dropped);
            n_dropped += dropped;
        }
        assert_int_equal(info.n_dropped, n_dropped);
        cof_attribute view = {.struct_size = sizeof view};
        assert_int_equal(cof_model_attribute(m, 0, &view), COF_OK);
        assert_int_equal(view.n_values, t->column[0].n_values + (missing == COF_MISSING_VALUE));
        cof_model_free(m);
    }
    cof_fit_options o = options(3);
    o.missing = COF_MISSING_ERROR;
    assert_refused(t, &o, COF_ERR_MISSING);
    cof_table_free(t);
}

/* Leaving the rows out by hand is the same as dropping them. */
static void dropping_is_leaving_out(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        cof_table *t = holey_table(seed, 120, 5, 4, 3, 12);
        int32_t codes[600];
        size_t n = 0, row[120];
        for (size_t i = 0; i < 120; i++) {
            bool hole = false;
            for (size_t c = 0; c < 5; c++) {
                hole |= cof_table_code(t, i, c) == t->column[c].n_values;
                codes[n * 5 + c] = atoi(cof_table_value(t, c, cof_table_code(t, i, c)));
            }
            if (!hole) row[n++] = i;
        }
        cof_table *whole = table_of(codes, n, 5);
        cof_fit_options o = options(3);
        o.seed = seed;
        o.missing = COF_MISSING_DROP;
        cof_model *a = fit_model(t, &o, NULL), *b = fit_model(whole, &o, NULL);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(cof_model_labels(a, NULL)[row[i]], cof_model_labels(b, NULL)[i]);
        cof_model_free(a);
        cof_model_free(b);
        cof_table_free(whole);
        cof_table_free(t);
    }
}

/* ---- How a fit ends ----------------------------------------------------------------------------- */

/* Found by search: clusters that lose all rows are rare. */
static void a_cluster_that_empties(void **state)
{
    (void)state;
    int found = 0;
    for (uint64_t seed = 0; seed < 400 && found < 3; seed++) {
        cof_table *t = random_table(seed, 40, 3, 4, 2);
        cof_fit_options o = options(5);
        cof_fit_info info = {.struct_size = sizeof info};
        o.init = COF_INIT_RANDOM;
        o.restarts = 1;
        o.seed = seed;
        cof_model *m = fit_model(t, &o, &info);
        if (info.n_empty > 0) {
            double distance[40 * 5];
            found++;
            check_result(t, &o);
            assert_int_equal(cof_model_transform(m, t, 1, distance, 200, NULL), COF_OK);
            for (uint32_t j = 0; j < 5; j++) {
                bool empty = cof_model_sizes(m)[j] == 0;
                assert_int_equal(isnan(cof_model_profile(m, 0, 0, j)) != 0, empty);
                for (size_t i = 0; i < 40; i++) {
                    assert_int_equal(isinf(distance[i * 5 + j]) != 0, empty);
                    if (empty) assert_true(cof_model_labels(m, NULL)[i] != (int32_t)j);
                }
            }
        }
        cof_model_free(m);
        cof_table_free(t);
    }
    assert_int_equal(found, 3);
}

static void caps(void **state)
{
    (void)state;
    int capped = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        cof_table *t = random_table(seed, 200, 6, 5, 4);
        for (uint32_t cap = 1; cap <= 3; cap++) {
            cof_fit_options o = options(4);
            cof_fit_info info = {.struct_size = sizeof info};
            o.init = COF_INIT_RANDOM;
            o.seed = seed;
            o.restarts = 1;
            o.max_passes = cap;
            o.max_rebuilds = 1 + (uint32_t)(seed % 3);
            cof_model *m = fit_model(t, &o, &info);
            assert_true(info.rebuilds < o.max_rebuilds && info.passes <= cap * o.max_rebuilds);
            capped += info.stop_reason == COF_STOP_CAP;
            if (info.stop_reason == COF_STOP_CAP)
                assert_true(info.rebuilds + 1 == o.max_rebuilds || info.passes >= cap);
            check_counts(m, t, NULL);
            cof_model_free(m);
        }
        cof_table_free(t);
    }
    assert_true(capped > 10);
}

/* Found by search: six of 23,640 small fits ended so. The partition kept is the best of those that came back,
 * so no more passes change what it is worth. */
static void partitions_that_come_back(void **state)
{
    (void)state;
    cof_table *t = random_table(195, 47, 5, 2, 4);
    cof_fit_options o = options(5);
    cof_fit_info info = {.struct_size = sizeof info}, more = info;
    o.init = COF_INIT_FARTHEST;
    o.seed = 2;
    o.restarts = 1;
    cof_model *m = fit_model(t, &o, &info);
    assert_int_equal(info.stop_reason, COF_STOP_CYCLE);
    check_counts(m, t, NULL);
    o.max_rebuilds = 200;
    cof_model *longer = fit_model(t, &o, &more);
    assert_int_equal(more.stop_reason, COF_STOP_CYCLE);
    assert_same_labels(m, longer);
    cof_model_free(m);
    cof_model_free(longer);
    cof_table_free(t);
}

/* ---- Stopping and telling ----------------------------------------------------------------------- */

typedef struct host {
    alloc_meter meter; /* first: its functions take the same context */
    size_t asked, stop_at;
    size_t told;
    cof_progress last;
} host;

static int stop_when_due(void *ctx)
{
    host *h = ctx;
    return h->asked++ >= h->stop_at;
}

static void listen(void *ctx, const cof_progress *progress)
{
    host *h = ctx;
    assert_true(progress->phase == COF_PHASE_START || progress->phase == COF_PHASE_FIT);
    assert_true(progress->restart >= 1 && progress->restart <= progress->restarts);
    assert_true(progress->done <= progress->total);
    assert_true(h->told == 0 || progress->elapsed_s >= h->last.elapsed_s);
    assert_true(h->told == 0 || progress->restart >= h->last.restart);
    h->last = *progress;
    h->told++;
}

static cof_env host_env(host *h)
{
    cof_env env = alloc_env(&h->meter);
    h->meter.fail_at = ALLOC_NEVER_FAILS;
    env.should_stop = stop_when_due;
    env.progress = listen;
    env.ctx = h;
    return env;
}

static cof_status fit_and_stop(host *h, const int32_t *codes, const cof_fit_options *o)
{
    cof_env env = host_env(h);
    cof_table *t = NULL;
    cof_model *m = NULL;
    cof_error err = {""};
    cof_fit_info info = {.struct_size = sizeof info};
    assert_int_equal(cof_table_from_codes(&env, codes, 150, 5, NULL, &t, NULL), COF_OK);
    size_t asked_before = h->asked;
    h->asked = 0;
    assert_int_equal(asked_before, 0); /* making a table asks nothing */
    cof_status status = cof_fit(t, o, &m, &info, &err);
    if (status == COF_OK) {
        bool stopped = h->asked > h->stop_at;
        assert_int_equal(info.stop_reason == COF_STOP_STOPPED, stopped);
        check_counts(m, t, NULL);
        check_records(m, &info, o);
        for (size_t i = 0; i < 150; i++) assert_true(cof_model_labels(m, NULL)[i] >= 0);
    } else {
        assert_non_null(strstr(err.text, "stopped"));
    }
    cof_model_free(m);
    cof_table_free(t);
    assert_int_equal(h->meter.live, 0);
    return status;
}

/* Stopped at every question there is to ask: a result, or a plain word that there is none yet. */
static void stopping_anywhere(void **state)
{
    (void)state;
    cofi_rng rng = dice(6);
    int32_t *codes = random_codes(&rng, 150, 5, 5, 4);
    for (int32_t init = COF_INIT_KMEANS; init <= COF_INIT_CAO; init++) {
        cof_fit_options o = options(4);
        o.restarts = 3;
        o.init = init;
        o.variant = init % 2;
        size_t n_stopped = 0, n_kept = 0;
        for (size_t stop_at = 0;; stop_at++) {
            host h = {.stop_at = stop_at};
            cof_status status = fit_and_stop(&h, codes, &o);
            if (h.asked <= stop_at) {
                assert_int_equal(status, COF_OK);
                break;
            }
            assert_true(status == COF_OK || status == COF_ERR_STOPPED);
            n_stopped += status == COF_ERR_STOPPED;
            n_kept += status == COF_OK;
        }
        assert_int_equal(n_stopped, 1); /* only before the first pass is there nothing to keep */
        assert_true(n_kept > 0);
    }
    free(codes);
}

/* ---- What the model takes from the table -------------------------------------------------------- */

static void attributes_as_the_table_has_them(void **state)
{
    (void)state;
    static const char *const cells[] = {"low", "high", "low", "mid", "x", "x", "x", "x",
                                        "p",   NULL,   "q",   "p",   "1", "2", "3", "4"};
    static const char *const names[] = {"level", "constant", "holes", "id"};
    static const char *const order[] = {"low", "mid", "high"};
    cof_table *t;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, 4, 4, names, &t, &err), COF_OK, &err);
    assert_int_equal(cof_table_set_order(t, 0, order, 3, NULL), COF_OK);
    assert_int_equal(cof_table_set_role(t, 3, COF_ROLE_IDENTIFIER, NULL), COF_OK);
    cof_fit_options o = options(2);
    cof_model *m = fit_model(t, &o, NULL);
    cof_table_free(t); /* the model keeps what it needs */
    assert_int_equal(cof_model_n_attributes(m), 3);
    static const struct {
        const char *name;
        uint32_t n_values;
        int32_t used, ordinal;
    } expected[] = {{"level", 3, 1, 1}, {"constant", 1, 0, 0}, {"holes", 3, 1, 0}};
    for (size_t a = 0; a < 3; a++) {
        cof_attribute view = {.struct_size = sizeof view};
        assert_int_equal(cof_model_attribute(m, a, &view), COF_OK);
        assert_string_equal(view.name, expected[a].name);
        assert_int_equal(view.n_values, expected[a].n_values);
        assert_int_equal(view.used, expected[a].used);
        assert_int_equal(view.ordinal, expected[a].ordinal);
    }
    for (uint32_t v = 0; v < 3; v++) assert_string_equal(cof_model_value(m, 0, v), order[v]);
    assert_string_equal(cof_model_value(m, 1, 0), "x");
    assert_string_equal(cof_model_value(m, 2, 2), ""); /* missing, after the others */
    cof_model_free(m);
}

/* The tree of a column with a stated order is a line in that order. */
static void order_makes_a_line(void **state)
{
    (void)state;
    const char *const cells[] = {"low", "mid", "high", "low", "high", "mid", "x", "y", "y", "x", "y", "y"};
    const char *const names[] = {"q", "r"}, *const order[] = {"low", "mid", "high"};
    cof_fit_options o = options(2);
    cof_table *table;
    cof_model *model;
    size_t n = 0;
    assert_int_equal(cof_table_from_strings(NULL, cells, 6, 2, names, &table, NULL), COF_OK);
    assert_int_equal(cof_table_set_order(table, 0, order, 3, NULL), COF_OK);
    for (int32_t variant = COF_VARIANT_PAPER; variant <= COF_VARIANT_AUTHORS; variant++) {
        o.variant = variant;
        assert_int_equal(cof_fit(table, &o, &model, NULL, NULL), COF_OK);
        const cof_edge *edge = cof_model_edges(model, 0, &n);
        assert_int_equal(n, 2);
        for (uint32_t e = 0; e < 2; e++) {
            assert_int_equal(edge[e].u, e);
            assert_int_equal(edge[e].v, e + 1);
        }
        cof_model_free(model);
    }
    assert_true(cof_method_uses_order(NULL) && cof_method_uses_order("dlc"));
    assert_true(cof_method_predicts(NULL) && cof_method_predicts("kmodes"));
    assert_false(cof_method_predicts("jdm") || cof_method_predicts("no such method"));
    assert_false(cof_method_uses_order("lca") || cof_method_uses_order("no such method"));
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_makes_a_line),
        cmocka_unit_test(every_result_is_consistent),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(one_cluster),
        cmocka_unit_test(as_many_clusters_as_distinct_rows),
        cmocka_unit_test(tables_that_cannot_be_clustered),
        cmocka_unit_test(equal_rows_are_one_cluster),
        cmocka_unit_test(wrong_options),
        cmocka_unit_test(too_many_clusters),
        cmocka_unit_test(shorter_structs),
        cmocka_unit_test(the_same_seed_and_any_threads_give_the_same),
        cmocka_unit_test(seeds_and_restarts_are_streams),
        cmocka_unit_test(fixed_starts_run_once),
        cmocka_unit_test(copies_and_weights_are_one_problem),
        cmocka_unit_test(the_unit_of_weights_does_not_matter),
        cmocka_unit_test(rows_without_weight_only_ride_along),
        cmocka_unit_test(missing_cells),
        cmocka_unit_test(dropping_is_leaving_out),
        cmocka_unit_test(a_cluster_that_empties),
        cmocka_unit_test(caps),
        cmocka_unit_test(partitions_that_come_back),
        cmocka_unit_test(stopping_anywhere),
        cmocka_unit_test(attributes_as_the_table_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
