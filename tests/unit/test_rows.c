/* The contract of rows.h, walked over rows in memory: every answer against what the table's own cells say. */
#include "fit_helper.h"

enum { N_CHANCES = COFI_NEAREST + 1 };

/* ---- A table that is known cell by cell ---------------------------------------------------------- */

typedef struct shape {
    size_t n, l, o;
    uint32_t k, threads;
    bool fold, weighted, reversed;
    int32_t missing; /* COF_MISSING_VALUE: there are no holes */
} shape;

typedef struct scene {
    shape is;
    int32_t *code; /* [row][column]; -1: missing */
    double *given; /* weights */
    cof_table *table;
    cofi_problem problem;
    cofi_rows *rows;
    cofi_team *team;
    cofi_partition partition;
} scene;

static scene *open_scene(uint64_t seed, shape is)
{
    scene *s = get_zero(1, sizeof *s);
    cofi_rng rng = dice(seed);
    cof_fit_options o = {.k = is.k, .missing = is.missing};
    cof_env env = cofi_env_resolve(NULL);
    cof_error err;
    s->is = is;
    s->code = random_codes(&rng, is.n, is.l, is.o, 4);
    s->given = get_zero(is.n, sizeof *s->given);
    for (size_t i = 0; i < is.n; i++) s->given[i] = (double)below(&rng, 4);
    for (size_t at = 0; is.missing != COF_MISSING_VALUE && at < is.n * is.l; at++)
        if (below(&rng, 12) == 0) s->code[at] = -1;
    for (size_t v = 0; v < is.o; v++) { /* every value occurs and weighs, so that codes are ids */
        for (size_t r = 0; r < is.l; r++) s->code[v * is.l + r] = (int32_t)v;
        s->given[v] = 1;
    }
    for (size_t i = 0; is.reversed && i < is.n / 2; i++) {
        size_t other = is.n - 1 - i;
        double weight = s->given[i];
        s->given[i] = s->given[other];
        s->given[other] = weight;
        for (size_t r = 0; r < is.l; r++) {
            int32_t code = s->code[i * is.l + r];
            s->code[i * is.l + r] = s->code[other * is.l + r];
            s->code[other * is.l + r] = code;
        }
    }
    if (is.weighted) o.weights = s->given;
    s->table = table_of(s->code, is.n, is.l);
    assert_status(cofi_rows_open(s->table, &o, (cofi_opening){.fold = is.fold}, &s->problem, &s->rows, &err),
                  COF_OK, &err);
    assert_status(cofi_team_open(&env, is.threads, &s->team, &err), COF_OK, &err);
    assert_status(cofi_partition_open(s->rows, is.k, s->team, &s->partition, &err), COF_OK, &err);
    assert_int_equal(s->problem.n_attrs, is.l);
    assert_false(s->partition.known);
    return s;
}

static void close_scene(scene *s)
{
    cofi_partition_close(&s->partition);
    cofi_partition_close(&s->partition);
    cofi_team_close(s->team);
    cofi_rows_close(s->rows);
    cofi_problem_close(&s->problem);
    cof_table_free(s->table);
    free(s->code);
    free(s->given);
    free(s);
}

static uint32_t cell(const scene *s, size_t i, size_t r)
{
    int32_t code = s->code[i * s->is.l + r];
    return code >= 0 ? (uint32_t)code : (uint32_t)s->is.o;
}

static uint32_t flat(const scene *s, size_t i, size_t r)
{
    return s->problem.first[r] + cell(s, i, r);
}

static bool is_dropped(const scene *s, size_t i)
{
    bool any = false;
    for (size_t r = 0; r < s->is.l; r++) any = any || s->code[i * s->is.l + r] < 0;
    return any && s->is.missing == COF_MISSING_DROP;
}

static uint64_t weight(const scene *s, size_t i)
{
    if (is_dropped(s, i)) return 0;
    return s->is.weighted ? (uint64_t)s->given[i] : 1;
}

/* Walks the same checks over tables of all kinds. */
static void for_all_kinds(void (*check)(scene *s, cofi_rng *rng))
{
    static const int32_t missing[] = {COF_MISSING_VALUE, COF_MISSING_IGNORE, COF_MISSING_DROP};
    for (uint64_t seed = 0; seed < 48; seed++) {
        cofi_rng rng = dice(seed + 1000);
        shape is = {.n = seed % 8 == 7 ? 9000 : 30 + below(&rng, 300),
                    .l = 1 + below(&rng, 5),
                    .o = 2 + below(&rng, 4),
                    .k = 1 + (uint32_t)(seed % 2),
                    .threads = 1 + (uint32_t)(seed % 3),
                    .fold = seed % 4 < 2,
                    .weighted = seed % 3 == 1,
                    .missing = missing[seed / 4 % 3]};
        if (is.l == 1 && is.missing != COF_MISSING_VALUE) is.l = 2;
        scene *s = open_scene(seed, is);
        check(s, &rng);
        close_scene(s);
    }
}

/* ---- The rows themselves ------------------------------------------------------------------------- */

static void check_totals(scene *s, cofi_rng *rng)
{
    uint32_t n_flat = cofi_n_flat(&s->problem);
    uint64_t *got = get_zero(n_flat, sizeof *got), *wanted = get_zero(n_flat, sizeof *wanted), all = 0;
    cof_error err;
    (void)rng;
    memset(got, 0xFF, n_flat * sizeof *got);
    assert_status(cofi_rows_totals(s->rows, s->team, got, &err), COF_OK, &err);
    for (size_t i = 0; i < s->is.n; i++) {
        for (size_t r = 0; r < s->is.l; r++) wanted[flat(s, i, r)] += weight(s, i);
        all += weight(s, i);
    }
    assert_memory_equal(got, wanted, n_flat * sizeof *got);
    assert_int_equal(s->problem.total_weight, all);
    assert_int_equal(s->problem.n_table_rows, s->is.n);
    free(got);
    free(wanted);
}

static void totals(void **state)
{
    (void)state;
    for_all_kinds(check_totals);
}

static void check_fetch(scene *s, cofi_rng *rng)
{
    size_t n = s->is.n, l = s->is.l;
    uint64_t *row = get_zero(n, sizeof *row), *heavy = get_zero(n, sizeof *heavy);
    uint32_t *got = get_zero(n * l, sizeof *got);
    cof_error err;
    for (size_t i = 0; i < n; i++) row[i] = below(rng, n); /* in any order, some more than once */
    for (int listed = 0; listed < 2; listed++) {
        assert_status(cofi_rows_fetch(s->rows, NULL, listed ? row : NULL, n, got, heavy, &err), COF_OK, &err);
        for (size_t i = 0; i < n; i++) {
            size_t at = listed ? row[i] : i;
            assert_int_equal(heavy[i], weight(s, at));
            for (size_t r = 0; r < l; r++) assert_int_equal(got[i * l + r], cell(s, at, r));
        }
    }
    uint32_t *again = get_zero(n * l, sizeof *again);
    assert_status(cofi_rows_fetch(s->rows, NULL, row, n, again, NULL, &err), COF_OK,
                  &err); /* without weights */
    assert_memory_equal(got, again, n * l * sizeof *got);
    memset(again, 0xFF, n * l * sizeof *again);
    assert_status(cofi_rows_fetch(s->rows, s->team, row, n, again, NULL, &err), COF_OK, &err);
    assert_memory_equal(got, again, n * l * sizeof *got);
    assert_status(cofi_rows_fetch(s->rows, NULL, row, 0, again, heavy, &err), COF_OK, &err);
    free(row);
    free(heavy);
    free(got);
    free(again);
}

static void fetch(void **state)
{
    (void)state;
    for_all_kinds(check_fetch);
}

/* ---- A partition --------------------------------------------------------------------------------- */

static cofi_scores random_scores(const scene *s, cofi_rng *rng)
{
    cofi_scores scores = {.k = s->is.k, .stride = cofi_stride(s->is.k), .scale = 1};
    size_t n = (size_t)cofi_n_flat(&s->problem) * scores.stride;
    scores.value = get_zero(n, sizeof *scores.value);
    scores.base = get_zero(scores.stride, sizeof *scores.base);
    for (size_t at = 0; at < n; at++)
        if (at % scores.stride < scores.k)
            scores.value[at] = (int64_t)below(rng, 9) << 40; /* ties are frequent */
    for (uint32_t j = 0; j < scores.stride; j++)
        scores.base[j] = j < scores.k ? (int64_t)below(rng, 5) << 40 : COFI_NEVER;
    return scores;
}

static void free_scores(cofi_scores *scores)
{
    free(scores->value);
    free(scores->base);
}

/* The first cluster with the least sum. */
static int32_t nearest(const scene *s, const cofi_scores *scores, size_t i)
{
    int64_t least = INT64_MAX;
    int32_t best = -1;
    for (uint32_t j = 0; j < scores->k; j++) {
        int64_t sum = scores->base[j];
        for (size_t r = 0; r < s->is.l; r++) sum += scores->value[(size_t)flat(s, i, r) * scores->stride + j];
        if (sum >= least) continue;
        least = sum;
        best = (int32_t)j;
    }
    return best;
}

/* Rows of the table that weigh something and have another label; before NULL: none had one. */
static uint64_t count_moved(const scene *s, const int32_t *before, const int32_t *after)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->is.n; i++) n += weight(s, i) > 0 && (before == NULL || before[i] != after[i]);
    return n;
}

/* Labels, counts and sizes are those of `wanted`, one label for every row of the table. */
static void assert_partition(const scene *s, const cofi_partition *p, const int32_t *wanted, cofi_rng *rng)
{
    size_t n = s->is.n, n_entries = (size_t)cofi_n_flat(&s->problem) * p->stride;
    int32_t *label = get_zero(n, sizeof *label);
    uint64_t *count = get_zero(n_entries, sizeof *count), *size = get_zero(p->k, sizeof *size);
    uint64_t row[40];
    cof_error err;
    assert_true(p->known);
    assert_status(cofi_partition_labels(p, NULL, n, label, &err), COF_OK, &err);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(label[i], is_dropped(s, i) ? -1 : wanted[i]);
        size[wanted[i]] += weight(s, i);
        for (size_t r = 0; r < s->is.l; r++)
            count[(size_t)flat(s, i, r) * p->stride + (uint32_t)wanted[i]] += weight(s, i);
    }
    assert_memory_equal(p->count, count, n_entries * sizeof *count);
    assert_memory_equal(p->size, size, p->k * sizeof *size);
    for (size_t i = 0; i < COUNT(row); i++) row[i] = below(rng, n);
    int32_t some[COUNT(row)];
    assert_status(cofi_partition_labels(p, row, COUNT(row), some, &err), COF_OK, &err);
    for (size_t i = 0; i < COUNT(row); i++) assert_int_equal(some[i], label[row[i]]);
    size_t n_some = n < COUNT(some) ? n : COUNT(some);
    assert_status(cofi_partition_labels(p, NULL, n_some, some, &err), COF_OK, &err);
    for (size_t i = 0; i < n_some; i++) assert_int_equal(some[i], label[i * n / n_some]);
    free(label);
    free(count);
    free(size);
}

/* Passes give what sums over all attributes give, one request or two at once; partitions can be put aside, taken
 * back, given and forgotten. */
static void check_partition(scene *s, cofi_rng *rng)
{
    size_t n = s->is.n;
    cofi_partition *p = &s->partition, other;
    cofi_scores one = random_scores(s, rng), two = random_scores(s, rng);
    int32_t *a = get_zero(n, sizeof *a), *b = get_zero(n, sizeof *b);
    uint64_t moved = 0;
    cofi_kept *kept = NULL;
    cof_error err;
    for (size_t i = 0; i < n; i++) {
        a[i] = nearest(s, &one, i);
        b[i] = nearest(s, &two, i);
    }
    assert_status(cofi_partition_pass(p, &one, &moved, &err), COF_OK, &err);
    assert_int_equal(moved, count_moved(s, NULL, a));
    assert_partition(s, p, a, rng);
    uint64_t hash_a = p->hash;
    assert_status(cofi_partition_keep(p, &kept, &err), COF_OK, &err);
    assert_status(cofi_partition_pass(p, &two, &moved, &err), COF_OK, &err);
    assert_int_equal(moved, count_moved(s, a, b));
    assert_partition(s, p, b, rng);
    uint64_t hash_b = p->hash;
    assert_status(cofi_partition_pass(p, &two, &moved, &err), COF_OK, &err);
    assert_true(moved == 0 && p->hash == hash_b);

    assert_status(cofi_partition_recall(p, kept, &err), COF_OK, &err);
    assert_partition(s, p, a, rng);
    assert_true(p->hash == hash_a);
    assert_status(cofi_partition_pass(p, &two, &moved, &err), COF_OK, &err);
    assert_int_equal(moved, count_moved(s, a, b));                    /* as if it had never been away */
    assert_status(cofi_partition_keep(p, &kept, &err), COF_OK, &err); /* takes the place of the first */
    assert_status(cofi_partition_take(p, a, &moved, &err), COF_OK, &err);
    assert_int_equal(moved, count_moved(s, b, a));
    assert_partition(s, p, a, rng);
    assert_true(p->hash == hash_a);
    assert_status(cofi_partition_recall(p, kept, &err), COF_OK, &err);
    assert_partition(s, p, b, rng);
    assert_true(p->hash == hash_b);

    assert_status(cofi_partition_open(s->rows, s->is.k, s->team, &other, &err), COF_OK, &err);
    cofi_partition_forget(p);
    assert_false(p->known);
    assert_status(cofi_partition_pass(p, &one, &moved, &err), COF_OK, &err);
    assert_int_equal(moved, count_moved(s, NULL, a));
    assert_status(cofi_partition_pass(&other, &two, &moved, &err), COF_OK, &err);
    assert_int_equal(moved, count_moved(s, NULL, b));
    assert_partition(s, p, a, rng);
    assert_partition(s, &other, b, rng);
    assert_true(p->hash == hash_a && other.hash == hash_b);
    cofi_partition_forget(&other);
    assert_status(cofi_partition_take(&other, b, &moved, &err), COF_OK, &err);
    assert_int_equal(moved, count_moved(s, NULL, b));
    assert_true(other.hash == hash_b);
    cofi_partition_close(&other);

    uint32_t n_empty = 0;
    for (uint32_t j = 0; j < p->k; j++) n_empty += p->size[j] == 0;
    assert_int_equal(cofi_count_empty(p), n_empty);
    free_scores(&one);
    free_scores(&two);
    free(a);
    free(b);
}

static void partitions(void **state)
{
    (void)state;
    for_all_kinds(check_partition);
}

/* ---- Seeds --------------------------------------------------------------------------------------- */

/* Distance of every row to the nearest of the seeds. */
static void near_by_hand(const scene *s, const size_t *seed, size_t n_seeds, uint32_t *near)
{
    for (size_t i = 0; i < s->is.n; i++) {
        near[i] = UINT32_MAX;
        for (size_t t = 0; t < n_seeds; t++) {
            uint32_t distance = 0;
            for (size_t r = 0; r < s->is.l; r++) distance += cell(s, i, r) != cell(s, seed[t], r);
            near[i] = distance < near[i] ? distance : near[i];
        }
    }
}

/* The least and the greatest of the rows that weigh something. */
static void find_extremes(const scene *s, const uint32_t *near, uint32_t *least, uint32_t *greatest)
{
    *greatest = 0;
    *least = UINT32_MAX;
    for (size_t i = 0; i < s->is.n; i++) {
        if (weight(s, i) == 0) continue;
        *greatest = near[i] > *greatest ? near[i] : *greatest;
        *least = near[i] < *least ? near[i] : *least;
    }
}

static uint64_t mass_by_hand(const scene *s, cofi_chance by, const uint32_t *near, uint32_t least,
                             uint32_t greatest, size_t i)
{
    switch (by) {
    case COFI_ANY_ROW:
        return weight(s, i);
    case COFI_ANY_NEW_ROW:
        return near[i] > 0 ? weight(s, i) : 0;
    case COFI_BY_DISTANCE:
        return weight(s, i) * near[i];
    case COFI_FARTHEST:
        return near[i] == greatest ? weight(s, i) : 0;
    case COFI_NEAREST:
        return near[i] == least ? weight(s, i) : 0;
    }
    fail();
    return 0;
}

static void check_chance(const scene *s, cofi_partition *p, cofi_chance by, const uint32_t *near,
                         cofi_rng *rng)
{
    size_t n = s->is.n;
    uint64_t *before = get_zero(n + 1, sizeof *before), total = 0, got = UINT64_MAX;
    uint32_t least, greatest;
    cofi_question q = {.kind = COFI_ASK_DRAW, .partition = p, .draw = {.by = by}};
    cof_error err;
    find_extremes(s, near, &least, &greatest);
    for (size_t i = 0; i < n; i++) before[i + 1] = before[i] + mass_by_hand(s, by, near, least, greatest, i);
    assert_status(s->rows->ops->ask(s->rows, &q, &err), COF_OK, &err);
    assert_int_equal(q.draw.total, before[n]);
    total = q.draw.total;
    for (size_t draw = 0; total > 0 && draw < 60; draw++) {
        cofi_rng copy = *rng;
        uint64_t target = draw == 0 ? 0 : draw == 1 ? total - 1 : cofi_rng_below(rng, total);
        q.draw.target = target;
        q.draw.rng = draw > 1 ? &copy : NULL;
        assert_status(s->rows->ops->ask(s->rows, &q, &err), COF_OK, &err);
        got = q.draw.row;
        assert_true(got < n && before[got] <= target && target < before[got + 1]);
    }
    free(before);
}

static void check_seeds(scene *s, cofi_rng *rng)
{
    enum { SEEDS = 3 };
    size_t seed[SEEDS], n = s->is.n;
    uint32_t *near = get_zero(n, sizeof *near), *cells = get_zero(s->is.l, sizeof *cells);
    cofi_partition *p = &s->partition;
    cof_error err;
    if (n > 1000) n = 1000; /* seeds come from the first rows only */
    check_chance(s, p, COFI_ANY_ROW, near, rng);
    for (int again = 0; again < 2; again++) {
        assert_status(cofi_partition_add_seed(p, NULL, &err), COF_OK, &err);
        check_chance(s, p, COFI_ANY_ROW, near, rng);
        for (size_t t = 0; t < SEEDS; t++) {
            do seed[t] = below(rng, n);
            while (weight(s, seed[t]) == 0);
            for (size_t r = 0; r < s->is.l; r++) cells[r] = cell(s, seed[t], r);
            assert_status(cofi_partition_add_seed(p, cells, &err), COF_OK, &err);
            near_by_hand(s, seed, t + 1, near);
            if (s->is.n > 1000 && t > 0) continue;
            for (int by = 0; by < N_CHANCES; by++) check_chance(s, p, (cofi_chance)by, near, rng);
        }
    }
    free(near);
    free(cells);
}

static void masses(void **state)
{
    (void)state;
    for_all_kinds(check_seeds);
}

/* The row with the greatest merit, the first of those; of equal rows that are walked as one, any will do. */
static void check_densest(scene *s, cofi_rng *rng)
{
    enum { SEEDS = 3 };
    size_t seed[SEEDS], n = s->is.n;
    uint64_t *total = get_zero(cofi_n_flat(&s->problem), sizeof *total), got = UINT64_MAX;
    uint32_t *near = get_zero(n, sizeof *near), *cells = get_zero(s->is.l, sizeof *cells);
    cofi_partition *p = &s->partition;
    cof_error err;
    (void)rng;
    assert_status(cofi_rows_totals(s->rows, s->team, total, &err), COF_OK, &err);
    assert_status(cofi_partition_add_seed(p, NULL, &err), COF_OK, &err);
    for (size_t t = 0; t < SEEDS; t++) {
        uint64_t greatest = 0;
        size_t best = n;
        near_by_hand(s, seed, t, near);
        for (size_t i = 0; i < n; i++) {
            uint64_t density = 0;
            for (size_t r = 0; r < s->is.l; r++) density += total[flat(s, i, r)];
            uint64_t merit = density * (t == 0 ? 1 : near[i]);
            if (weight(s, i) == 0 || (best < n && merit <= greatest)) continue;
            greatest = merit;
            best = i;
        }
        assert_status(cofi_partition_densest(p, total, &got, &err), COF_OK, &err);
        assert_true(got < n);
        if (s->problem.n_walked == n) assert_int_equal(got, best);
        for (size_t r = 0; r < s->is.l; r++) assert_int_equal(cell(s, got, r), cell(s, best, r));
        seed[t] = best;
        for (size_t r = 0; r < s->is.l; r++) cells[r] = cell(s, best, r);
        assert_status(cofi_partition_add_seed(p, cells, &err), COF_OK, &err);
    }
    free(total);
    free(near);
    free(cells);
}

static void densest(void **state)
{
    (void)state;
    for_all_kinds(check_densest);
}

/* ---- The E step ---------------------------------------------------------------------------------- */

/* Turns numbers, [value][stride], into logarithms of shares of each class; a single row into shares of the classes.
 * Returns minus the least. */
static double take_logs(double *x, uint32_t n_values, uint32_t stride, uint32_t k)
{
    double most = 0, all = 0;
    for (uint32_t j = 0; j < k; j++) all += x[j];
    for (uint32_t j = 0; j < k; j++) {
        double sum = n_values == 1 ? all : 0;
        for (uint32_t v = 0; n_values > 1 && v < n_values; v++) sum += x[(size_t)v * stride + j];
        for (uint32_t v = 0; v < n_values; v++) {
            double *share = &x[(size_t)v * stride + j];
            *share = log(*share / sum);
            most = fmax(most, -*share);
        }
    }
    return most;
}

/* Classes made by chance, the same for every order of the rows. */
static cofi_expectation random_classes(const scene *s, uint64_t seed, size_t step)
{
    const cofi_problem *p = &s->problem;
    cofi_rng rng = dice(seed);
    uint32_t k = s->is.k, stride = cofi_stride(k);
    size_t n = (size_t)cofi_n_flat(p) * stride;
    double *log_theta = get_zero(n, sizeof *log_theta), *log_pi = get_zero(stride, sizeof *log_pi);
    double surprise = 0;
    for (uint32_t j = 0; j < k; j++) log_pi[j] = 1.0 + (double)below(&rng, 50);
    surprise += take_logs(log_pi, 1, stride, k);
    for (size_t r = 0; r < p->n_attrs; r++) {
        double *theta = log_theta + (size_t)p->first[r] * stride;
        for (uint32_t v = 0; v < p->n_values[r]; v++)
            for (uint32_t j = 0; j < k; j++)
                theta[(size_t)v * stride + j] =
                    pow(10, -(double)below(&rng, 5)) * (1.0 + (double)below(&rng, 8));
        surprise += take_logs(theta, p->n_values[r], stride, k);
    }
    return (cofi_expectation){.log_theta = log_theta,
                              .log_pi = log_pi,
                              .k = k,
                              .stride = stride,
                              .step = step,
                              .membership = ldexp(1.0, (int)fmin(50, 61 - ilogb((double)p->total_weight))),
                              .surprise = surprise,
                              .count = get_zero(n, sizeof(uint64_t)),
                              .size = get_zero(stride, sizeof(uint64_t))};
}

/* As a start asks for it. False: the rows weigh too much. */
static bool make_coarse(const scene *s, cofi_expectation *e)
{
    e->coarse = s->problem.total_weight < 1 << 16;
    e->surprise = 0;
    if (e->coarse) e->membership = ldexp(1.0, (int)fmin(20, 30 - ilogb((double)s->problem.total_weight)));
    return e->coarse;
}

static void free_classes(cofi_expectation *e)
{
    free((void *)(uintptr_t)e->log_theta);
    free((void *)(uintptr_t)e->log_pi);
    free(e->count);
    free(e->size);
}

static void expect(scene *s, cofi_expectation *e)
{
    cof_error err;
    assert_status(cofi_partition_expect(&s->partition, e, &err), COF_OK, &err);
}

/* Without a shortcut: every row's memberships, added up as they are. */
static void assert_expected(const scene *s, const cofi_expectation *e)
{
    size_t n_entries = (size_t)cofi_n_flat(&s->problem) * e->stride;
    double *count = get_zero(n_entries, sizeof *count), *size = get_zero(e->stride, sizeof *size);
    double log_likelihood = 0, *share = get_zero(e->k, sizeof *share), tolerance;
    uint64_t visited = 0;
    for (size_t i = 0; i < s->is.n; i += e->step) {
        double most = -INFINITY, sum = 0, w = (double)weight(s, i);
        for (uint32_t j = 0; j < e->k; j++) {
            share[j] = e->log_pi[j];
            for (size_t r = 0; r < s->is.l; r++)
                share[j] += e->log_theta[(size_t)flat(s, i, r) * e->stride + j];
            most = fmax(most, share[j]);
        }
        for (uint32_t j = 0; j < e->k; j++) sum += exp(share[j] - most);
        for (uint32_t j = 0; j < e->k; j++) {
            double member = w * exp(share[j] - most) / sum;
            size[j] += member;
            for (size_t r = 0; r < s->is.l; r++) count[(size_t)flat(s, i, r) * e->stride + j] += member;
        }
        log_likelihood += w * (most + log(sum));
        visited += weight(s, i);
    }
    tolerance = (e->coarse ? 1 / e->membership + 2e-6 : 1e-11) * (double)(1 + s->problem.total_weight);
    assert_int_equal(e->weight, visited);
    if (e->surprise > 0)
        assert_near(e->log_likelihood, log_likelihood, 1e-10 * (1 + fabs(log_likelihood)));
    else
        assert_true(isnan(e->log_likelihood));
    for (uint32_t j = 0; j < e->stride; j++)
        assert_near((double)e->size[j] / e->membership, size[j], tolerance);
    for (size_t at = 0; at < n_entries; at++)
        assert_near((double)e->count[at] / e->membership, count[at], tolerance);
    free(count);
    free(size);
    free(share);
}

static void assert_same_expected(const scene *s, const cofi_expectation *a, const cofi_expectation *b)
{
    size_t n = (size_t)cofi_n_flat(&s->problem) * a->stride;
    assert_memory_equal(a->count, b->count, n * sizeof *a->count);
    assert_memory_equal(a->size, b->size, a->k * sizeof *a->size);
    assert_true(a->weight == b->weight);
    assert_true(a->log_likelihood == b->log_likelihood || a->surprise == 0);
}

static void the_e_step_is_the_slow_one(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 3, 5, 8, 9, 11, 17};
    for (uint64_t seed = 0; seed < 48; seed++) {
        cofi_rng rng = dice(seed);
        shape is = {.n = 60 + below(&rng, 400),
                    .l = 1 + below(&rng, 6),
                    .o = 2 + below(&rng, 5),
                    .k = ks[seed % COUNT(ks)],
                    .threads = 1,
                    .fold = seed % 3 == 0,
                    .weighted = seed % 4 == 1,
                    .missing = seed % 5 == 2 ? COF_MISSING_IGNORE : COF_MISSING_VALUE};
        if (is.fold) is.k = 2; /* there are so many different rows at least */
        if (!is.fold) is.l += 4;
        scene *s = open_scene(seed, is);
        cofi_expectation e = random_classes(s, seed, 1 + seed % 4);
        for (int again = 0; again < 6; again++) { /* nothing is left over from the time before */
            if (again % 3 == 2) e.step = 1 + (seed + 1) % 4;
            if (again == 3) assert_true(make_coarse(s, &e));
            expect(s, &e);
            assert_expected(s, &e);
        }
        free_classes(&e);
        close_scene(s);
    }
}

/* Bit for bit: sums are made of whole units. */
static void the_e_step_is_the_same_for_any_threads_kernel_and_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        bool coarse = seed >= 12;
        uint64_t number = seed % 12;
        shape is = {.n = number < 10 ? 20000 : 5000,
                    .l = seed % 3 == 0 ? 4 : 9,
                    .o = 4,
                    .k = number == 11   ? 300
                         : number == 10 ? 1500
                                        : 2 + (uint32_t)number * 3,
                    .threads = 1,
                    .fold = seed % 3 == 0,
                    .weighted = seed % 2 == 1,
                    .missing = seed % 4 >= 2 ? COF_MISSING_IGNORE : COF_MISSING_VALUE};
        scene *s = open_scene(seed, is);
        cofi_expectation wanted = random_classes(s, seed, 1);
        if (coarse) make_coarse(s, &wanted);
        assert_int_equal(s->problem.n_walked < is.n, is.fold);
        expect(s, &wanted);
        assert_expected(s, &wanted);
        for (int way = 1; cofi_kernel_at((size_t)way / 4) != NULL; way++) {
            shape other = is;
            other.threads = way & 1 ? 3 : 1;
            other.reversed = (way & 2) != 0;
            setenv("COFOREST_KERNEL", cofi_kernel_at((size_t)way / 4)->name, 1);
            scene *t = open_scene(seed, other);
            unsetenv("COFOREST_KERNEL");
            cofi_expectation e = random_classes(t, seed, 1);
            if (coarse) make_coarse(t, &e);
            expect(t, &e);
            assert_same_expected(s, &wanted, &e);
            free_classes(&e);
            close_scene(t);
        }
        free_classes(&wanted);
        close_scene(s);
    }
}

/* Lanes past the classes get no membership even if no value surprises much. */
static void classes_that_hardly_differ(void **state)
{
    (void)state;
    static const uint32_t ks[] = {2, 3, 9, 17, 33};
    for (size_t at = 0; at < COUNT(ks); at++) {
        shape is = {.n = 300, .l = at < 2 ? 1 : 2, .o = at < 2 ? 4 : 9, .k = ks[at], .threads = 1};
        scene *s = open_scene(at, is);
        cofi_expectation e = random_classes(s, at, 1);
        size_t n = (size_t)cofi_n_flat(&s->problem) * e.stride;
        for (size_t entry = 0; entry < n; entry++)
            ((double *)(uintptr_t)e.log_theta)[entry] = -0.5 - 0.1 * (double)(entry % 7);
        for (uint32_t j = 0; j < e.k; j++) ((double *)(uintptr_t)e.log_pi)[j] = -0.1 * (double)(j % 3);
        assert_true(make_coarse(s, &e));
        expect(s, &e);
        assert_expected(s, &e);
        free_classes(&e);
        close_scene(s);
    }
}

/* A part of the rows is the same part for any number of threads. */
static void steps_do_not_depend_on_threads(void **state)
{
    (void)state;
    for (size_t step = 2; step < 9000; step = 3 * step + 1) {
        shape is = {.n = 30000, .l = 8, .o = 4, .k = 4, .threads = 1};
        scene *s = open_scene(step, is);
        is.threads = 3;
        scene *t = open_scene(step, is);
        cofi_expectation one = random_classes(s, step, step), three = random_classes(t, step, step);
        for (int coarse = 0; coarse < 2; coarse++) {
            if (coarse) assert_true(make_coarse(s, &one) && make_coarse(t, &three));
            expect(s, &one);
            expect(t, &three);
            assert_expected(s, &one);
            assert_same_expected(s, &one, &three);
        }
        free_classes(&one);
        free_classes(&three);
        close_scene(s);
        close_scene(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals),
        cmocka_unit_test(fetch),
        cmocka_unit_test(partitions),
        cmocka_unit_test(masses),
        cmocka_unit_test(densest),
        cmocka_unit_test(the_e_step_is_the_slow_one),
        cmocka_unit_test(the_e_step_is_the_same_for_any_threads_kernel_and_order),
        cmocka_unit_test(classes_that_hardly_differ),
        cmocka_unit_test(steps_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
