#include "oracle.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One run. Counts, profiles and distances are full boxes, wide enough for the attribute with most values. */
typedef struct run {
    const oracle_table *t;
    const oracle_options *opt;
    size_t k, width;
    double *count;   /* [j][r][v]: weight of the rows of cluster j that hold v */
    double *size;    /* [j] */
    double *profile; /* [j][r][v]: p(v|C_j); of the last time cluster j had rows */
    bool *alive;     /* [j]: had rows at least once, so that a distance to it exists */
    double *total;   /* [r][v]: weight of the rows that hold v */
    int *n_held;     /* [r]: values with a total; below 2 the attribute is constant and takes no part */
    double *dist;    /* [r][u][v]: d of the paper, the length of the order trace */
} run;

static void *get(size_t n, size_t bytes)
{
    void *block = calloc(n != 0 ? n : 1, bytes);
    if (block == NULL) {
        fputs("oracle: no memory\n", stderr);
        abort();
    }
    return block;
}

static double weight_of(const oracle_table *t, size_t i)
{
    return t->weights != NULL ? t->weights[i] : 1;
}

static int32_t cell(const oracle_table *t, size_t i, size_t r)
{
    return t->codes[i * t->l + r];
}

static double *at3(const run *s, double *box, size_t j, size_t r, size_t v)
{
    return &box[(j * s->t->l + r) * s->width + v];
}

static double *trace(const run *s, size_t r, size_t u, size_t v)
{
    return &s->dist[(r * s->width + u) * s->width + v];
}

/* Smaller by more than a tie. */
static bool less(double a, double b, double tie)
{
    return a < b && (isinf(b) || b - a > tie * b);
}

static size_t widest(const oracle_table *t)
{
    size_t width = 1;
    for (size_t r = 0; r < t->l; r++)
        if ((size_t)t->o[r] > width) width = (size_t)t->o[r];
    return width;
}

static void run_open(run *s, const oracle_table *t, const oracle_options *opt)
{
    s->t = t;
    s->opt = opt;
    s->k = (size_t)opt->k;
    s->width = widest(t);
    s->count = get(s->k * t->l * s->width, sizeof *s->count);
    s->size = get(s->k, sizeof *s->size);
    s->profile = get(s->k * t->l * s->width, sizeof *s->profile);
    s->alive = get(s->k, sizeof *s->alive);
    s->total = get(t->l * s->width, sizeof *s->total);
    s->n_held = get(t->l, sizeof *s->n_held);
    s->dist = get(t->l * s->width * s->width, sizeof *s->dist);
    for (size_t i = 0; i < t->n; i++)
        for (size_t r = 0; r < t->l; r++)
            if (cell(t, i, r) >= 0) *at3(s, s->total, 0, r, (size_t)cell(t, i, r)) += weight_of(t, i);
    for (size_t r = 0; r < t->l; r++)
        for (size_t v = 0; v < s->width; v++) s->n_held[r] += *at3(s, s->total, 0, r, v) > 0;
}

static void run_close(run *s)
{
    free(s->count);
    free(s->size);
    free(s->profile);
    free(s->alive);
    free(s->total);
    free(s->n_held);
    free(s->dist);
}

static void count_rows(run *s, const int32_t *labels)
{
    const oracle_table *t = s->t;
    memset(s->count, 0, s->k * t->l * s->width * sizeof *s->count);
    memset(s->size, 0, s->k * sizeof *s->size);
    for (size_t i = 0; i < t->n; i++) {
        if (labels[i] < 0) continue;
        size_t j = (size_t)labels[i];
        s->size[j] += weight_of(t, i);
        for (size_t r = 0; r < t->l; r++)
            if (cell(t, i, r) >= 0) *at3(s, s->count, j, r, (size_t)cell(t, i, r)) += weight_of(t, i);
    }
}

static double sum_of(const run *s, const double *values)
{
    double sum = 0;
    for (size_t v = 0; v < s->width; v++) sum += values[v];
    return sum;
}

/* p(v|C_j) of the clusters that have rows; the others keep what they had. Cells without a value do not
 * count; a cluster that has none at all looks like the whole table. */
static void update_profiles(run *s)
{
    for (size_t j = 0; j < s->k; j++) {
        if (s->size[j] <= 0) continue;
        s->alive[j] = true;
        for (size_t r = 0; r < s->t->l; r++) {
            bool any = sum_of(s, at3(s, s->count, j, r, 0)) > 0;
            const double *from = any ? at3(s, s->count, j, r, 0) : at3(s, s->total, 0, r, 0);
            double sum = sum_of(s, from);
            for (size_t v = 0; v < s->width; v++) *at3(s, s->profile, j, r, v) = from[v] / sum;
        }
    }
}

/* Rows that weigh nothing ride along: they are labelled, but nothing depends on them. */
static bool same_partition(const oracle_table *t, const int32_t *a, const int32_t *b)
{
    for (size_t i = 0; i < t->n; i++)
        if (a[i] != b[i] && weight_of(t, i) > 0) return false;
    return true;
}

static int32_t nearest(const double *distance, size_t k, double tie)
{
    double least = INFINITY;
    for (size_t j = 0; j < k; j++)
        if (distance[j] < least) least = distance[j];
    for (size_t j = 0; j < k; j++)
        if (!isinf(distance[j]) && !less(least, distance[j], tie)) return (int32_t)j;
    return 0;
}

/* ---- The forest ---- */

static bool same_shares(run *s, size_t r, size_t u, size_t v)
{
    for (size_t j = 0; j < s->k; j++) {
        double pu = *at3(s, s->count, j, r, u) / *at3(s, s->total, 0, r, u);
        double pv = *at3(s, s->count, j, r, v) / *at3(s, s->total, 0, r, v);
        if (pu != pv) return false;
    }
    return true;
}

/* The lowest value with the same p(C|v). */
static size_t lowest_twin(run *s, size_t r, size_t v)
{
    for (size_t u = 0; u < v; u++)
        if (*at3(s, s->total, 0, r, u) > 0 && same_shares(s, r, u, v)) return u;
    return v;
}

/* p(C_j|v). The authors take it from the profile, and (N / |C_j|) * |C_j| is not always N in doubles. */
static double cluster_share(run *s, size_t r, size_t v, size_t j)
{
    double n = *at3(s, s->count, j, r, v);
    if (s->opt->variant == ORACLE_AUTHORS && n > 0) n = n / s->size[j] * s->size[j];
    return n / *at3(s, s->total, 0, r, v);
}

/* w of two values: || p(C|u) - p(C|v) ||_2. Values with the same p are one point, so that a weight that is 0
 * in mathematics is 0 here. */
static double edge_weight(run *s, size_t r, size_t u, size_t v)
{
    double sum = 0;
    u = lowest_twin(s, r, u);
    v = lowest_twin(s, r, v);
    for (size_t j = 0; j < s->k; j++) {
        double gap = cluster_share(s, r, u, j) - cluster_share(s, r, v, j);
        sum += gap * gap;
    }
    double w = sqrt(sum);
    if (s->opt->variant == ORACLE_PAPER) return w;
    w *= 1.0 / (double)s->k;
    return u == v ? 1e-8 : w;
}

/* The values of attribute r that some row holds, in code order. */
static size_t values_held(run *s, size_t r, size_t *value)
{
    size_t n = 0;
    for (size_t v = 0; v < (size_t)s->t->o[r]; v++)
        if (*at3(s, s->total, 0, r, v) > 0) value[n++] = v;
    return n;
}

/* The lowest index whose key ties with the least one, among those not taken. */
static size_t lowest_least(const double *key, const bool *taken, size_t n, double tie)
{
    double least = INFINITY;
    for (size_t a = 0; a < n; a++)
        if (!taken[a] && key[a] < least) least = key[a];
    for (size_t a = 0; a < n; a++)
        if (!taken[a] && !less(least, key[a], tie)) return a;
    return 0;
}

/* Prim on the complete graph w (n x n): parent[a] of every vertex, SIZE_MAX for the first one. */
static void prim(const double *w, size_t n, double tie, size_t *parent)
{
    double *key = get(n, sizeof *key);
    bool *taken = get(n, sizeof *taken);
    for (size_t a = 0; a < n; a++) {
        key[a] = INFINITY;
        parent[a] = SIZE_MAX;
        for (size_t b = 0; b < n; b++)
            if (b != a && w[a * n + b] < key[a]) key[a] = w[a * n + b];
    }
    size_t next = lowest_least(key, taken, n, tie);
    for (size_t a = 0; a < n; a++) key[a] = INFINITY;
    for (size_t step = 0; step < n; step++) {
        taken[next] = true;
        for (size_t b = 0; b < n; b++) {
            if (taken[b] || !less(w[next * n + b], key[b], tie)) continue;
            key[b] = w[next * n + b];
            parent[b] = next;
        }
        next = lowest_least(key, taken, n, tie);
    }
    free(key);
    free(taken);
}

/* Length of the only path from `from` to `to`, coming from `before`; negative if there is none that way. */
static double path_length(const double *w, const size_t *parent, size_t n, size_t before, size_t from,
                          size_t to, double so_far)
{
    if (from == to) return so_far;
    for (size_t next = 0; next < n; next++) {
        bool joined = parent[next] == from || parent[from] == next;
        if (!joined || next == before) continue;
        double length = path_length(w, parent, n, from, next, to, so_far + w[from * n + next]);
        if (length >= 0) return length;
    }
    return -1;
}

static void grow_tree(run *s, size_t r)
{
    size_t *value = get(s->width, sizeof *value);
    size_t n = values_held(s, r, value);
    double *w = get(n * n, sizeof *w);
    size_t *parent = get(n, sizeof *parent);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            if (a != b) w[a * n + b] = edge_weight(s, r, value[a], value[b]);
    prim(w, n, s->opt->edge_tie, parent);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            double length = path_length(w, parent, n, SIZE_MAX, a, b, 0);
            *trace(s, r, value[a], value[b]) = *trace(s, r, value[b], value[a]) = length;
        }
    free(value);
    free(w);
    free(parent);
}

static void grow_forest(run *s)
{
    for (size_t r = 0; r < s->t->l; r++)
        if (s->n_held[r] > 1) grow_tree(s, r);
}

/* ---- Assignment ---- */

/* c_r * sum over v of p(v|C_j) d(x,v) */
static double attribute_distance(run *s, size_t r, size_t x, size_t j)
{
    double sum = 0;
    for (size_t v = 0; v < (size_t)s->t->o[r]; v++)
        if (v != x) sum += *trace(s, r, x, v) * *at3(s, s->profile, j, r, v);
    return s->opt->variant == ORACLE_AUTHORS ? sum / (s->n_held[r] - 1) : sum;
}

static double row_distance(run *s, size_t i, size_t j)
{
    double sum = 0;
    for (size_t r = 0; r < s->t->l; r++)
        if (s->n_held[r] > 1 && cell(s->t, i, r) >= 0)
            sum += attribute_distance(s, r, (size_t)cell(s->t, i, r), j);
    return sum;
}

static double n_varying(const run *s)
{
    double n = 0;
    for (size_t r = 0; r < s->t->l; r++) n += s->n_held[r] > 1;
    return n;
}

/* Every row to its nearest cluster; the sum of those distances is L. The authors compare means over the
 * attributes, which can round two sums to the same number. */
static double assign(run *s, int32_t *labels)
{
    double objective = 0, divisor = s->opt->variant == ORACLE_AUTHORS ? n_varying(s) : 1;
    double *distance = get(s->k, sizeof *distance);
    for (size_t i = 0; i < s->t->n; i++) {
        for (size_t j = 0; j < s->k; j++)
            distance[j] = s->alive[j] ? row_distance(s, i, j) / divisor : INFINITY;
        labels[i] = nearest(distance, s->k, s->opt->row_tie);
        objective += weight_of(s->t, i) * distance[labels[i]] * divisor;
    }
    free(distance);
    return objective;
}

/* Partitions met, oldest first. */
typedef struct history {
    int32_t **labels;
    size_t n;
} history;

static void remember(history *h, const oracle_table *t, const int32_t *labels)
{
    int32_t **more = realloc(h->labels, (h->n + 1) * sizeof *more);
    if (more == NULL) abort();
    h->labels = more;
    h->labels[h->n] = get(t->n, sizeof **more);
    memcpy(h->labels[h->n++], labels, t->n * sizeof *labels);
}

/* Where the partition was met first, or SIZE_MAX. */
static size_t met(const history *h, const oracle_table *t, const int32_t *labels)
{
    for (size_t e = 0; e < h->n; e++)
        if (same_partition(t, h->labels[e], labels)) return e;
    return SIZE_MAX;
}

static void forget(history *h)
{
    for (size_t e = 0; e < h->n; e++) free(h->labels[e]);
    free(h->labels);
    memset(h, 0, sizeof *h);
}

/* How many partitions ago this one was met last; 0: never. */
static size_t met_ago(const history *h, const oracle_table *t, const int32_t *labels)
{
    for (size_t ago = 1; ago <= h->n; ago++)
        if (same_partition(t, h->labels[h->n - ago], labels)) return ago;
    return 0;
}

/* Passes with one forest until no row moves or the cap. Where a partition comes back (the one it began with
 * is one) the loop goes round for ever: it then ends with the partition that pass max_passes would leave.
 * With `fresh` the first pass counts as moving every row. */
static oracle_stop inner_loop(run *s, int32_t *labels, bool fresh, oracle_result *result)
{
    oracle_stop stop = ORACLE_CAP;
    history seen = {0};
    int last = s->opt->max_passes;
    for (int pass = 1; pass <= last; pass++) {
        remember(&seen, s->t, labels);
        result->objective = assign(s, labels);
        result->passes++;
        count_rows(s, labels);
        update_profiles(s);
        size_t ago = met_ago(&seen, s->t, labels);
        if (ago == 1 && fresh && pass == 1) continue;
        if (ago == 1) {
            stop = ORACLE_CONVERGED;
            break;
        }
        if (ago == 0 || stop == ORACLE_CYCLE) continue;
        stop = ORACLE_CYCLE;
        last = pass + (last - pass) % (int)ago;
    }
    forget(&seen);
    return stop;
}

/* Of the partitions from `first` on, the one with the best integrated likelihood, the earliest on ties. */
static size_t likeliest(const run *s, const history *h, size_t first)
{
    size_t best = first;
    double best_value = oracle_log_likelihood(s->t, s->opt->k, h->labels[first]);
    for (size_t e = first + 1; e < h->n; e++) {
        double value = oracle_log_likelihood(s->t, s->opt->k, h->labels[e]);
        if (value - best_value <= ORACLE_TIE * fabs(best_value)) continue;
        best = e;
        best_value = value;
    }
    return best;
}

/* The outer loop went round: back to the best partition on the way, with the L it had when it was reached.
 * The labels already hold the first one, reached again. */
static void choose_in_cycle(const run *s, const history *forests, const double *reached, size_t first,
                            int32_t *labels, oracle_result *result)
{
    size_t best = likeliest(s, forests, first);
    result->stop = ORACLE_CYCLE;
    if (best == first) return;
    memcpy(labels, forests->labels[best], s->t->n * sizeof *labels);
    result->objective = reached[best];
}

void oracle_coforest(const oracle_table *t, const oracle_options *opt, int32_t *labels, oracle_result *result)
{
    run s = {0};
    history forests = {0};
    double *reached = get((size_t)opt->max_rebuilds, sizeof *reached); /* L when that partition was reached */
    memset(result, 0, sizeof *result);
    run_open(&s, t, opt);
    count_rows(&s, labels);
    update_profiles(&s);
    for (;;) {
        reached[forests.n] = result->objective;
        remember(&forests, t, labels);
        grow_forest(&s);
        result->stop = inner_loop(&s, labels, forests.n == 1 && opt->first_moves_all != 0, result);
        size_t came_back = met(&forests, t, labels);
        if (came_back == forests.n - 1) break; /* converged, unless the inner loop did not */
        result->stop = ORACLE_CAP;
        if (came_back != SIZE_MAX) choose_in_cycle(&s, &forests, reached, came_back, labels, result);
        if (came_back != SIZE_MAX || forests.n == (size_t)opt->max_rebuilds) break;
    }
    result->rebuilds = (int)forests.n - 1;
    result->log_likelihood = oracle_log_likelihood(t, opt->k, labels);
    free(reached);
    forget(&forests);
    run_close(&s);
}

/* ---- Starts ---- */

/* The most frequent value of every attribute, lowest code on ties; an empty cluster keeps its mode. */
static void update_modes(run *s, int32_t *mode)
{
    for (size_t j = 0; j < s->k; j++) {
        if (s->size[j] <= 0) continue;
        for (size_t r = 0; r < s->t->l; r++) {
            size_t best = 0;
            for (size_t v = 1; v < (size_t)s->t->o[r]; v++)
                if (*at3(s, s->count, j, r, v) > *at3(s, s->count, j, r, best)) best = v;
            mode[j * s->t->l + r] = (int32_t)best;
        }
    }
}

static void assign_to_modes(run *s, const int32_t *mode, int32_t *labels)
{
    double *distance = get(s->k, sizeof *distance);
    for (size_t i = 0; i < s->t->n; i++) {
        for (size_t j = 0; j < s->k; j++) {
            distance[j] = 0;
            for (size_t r = 0; r < s->t->l; r++)
                distance[j] +=
                    s->n_held[r] > 1 && cell(s->t, i, r) >= 0 && cell(s->t, i, r) != mode[j * s->t->l + r];
        }
        labels[i] = nearest(distance, s->k, 0);
    }
    free(distance);
}

int oracle_kmodes(const oracle_table *t, const oracle_options *opt, const size_t *init_rows, int32_t *labels)
{
    run s = {0};
    int passes = 0;
    bool moved = true;
    run_open(&s, t, opt);
    int32_t *mode = get(s.k * t->l, sizeof *mode);
    int32_t *before = get(t->n, sizeof *before);
    for (size_t j = 0; j < s.k; j++)
        memcpy(&mode[j * t->l], &t->codes[init_rows[j] * t->l], t->l * sizeof *mode);
    while (moved && passes < opt->max_passes) {
        memcpy(before, labels, t->n * sizeof *before);
        assign_to_modes(&s, mode, labels);
        moved = passes++ == 0 || !same_partition(t, before, labels);
        count_rows(&s, labels);
        update_modes(&s, mode);
    }
    free(mode);
    free(before);
    run_close(&s);
    return passes;
}

/* Squared distance of the one-hot row to the centre, over the attributes the row has. */
static double onehot_distance(run *s, size_t i, size_t j)
{
    double sum = 0;
    for (size_t r = 0; r < s->t->l; r++) {
        if (cell(s->t, i, r) < 0 || s->n_held[r] < 2) continue;
        for (size_t v = 0; v < (size_t)s->t->o[r]; v++) {
            double x = (size_t)cell(s->t, i, r) == v ? 1 : 0;
            double gap = x - *at3(s, s->profile, j, r, v);
            sum += gap * gap;
        }
    }
    return sum;
}

int oracle_onehot_kmeans(const oracle_table *t, const oracle_options *opt, const size_t *seed_rows,
                         int32_t *labels)
{
    run s = {0};
    int passes = 0;
    bool moved = true;
    run_open(&s, t, opt);
    int32_t *before = get(t->n, sizeof *before);
    double *distance = get(s.k, sizeof *distance);
    for (size_t j = 0; j < s.k; j++)
        for (size_t r = 0; r < t->l; r++)
            if (cell(t, seed_rows[j], r) >= 0)
                *at3(&s, s.profile, j, r, (size_t)cell(t, seed_rows[j], r)) = 1;
    while (moved && passes < opt->max_passes) {
        memcpy(before, labels, t->n * sizeof *before);
        for (size_t i = 0; i < t->n; i++) {
            for (size_t j = 0; j < s.k; j++) distance[j] = onehot_distance(&s, i, j);
            labels[i] = nearest(distance, s.k, opt->row_tie);
        }
        moved = passes++ == 0 || !same_partition(t, before, labels);
        count_rows(&s, labels);
        update_profiles(&s);
    }
    free(before);
    free(distance);
    run_close(&s);
    return passes;
}

/* ---- The criterion ---- */

double oracle_log_likelihood(const oracle_table *t, int k, const int32_t *labels)
{
    oracle_options opt = {.k = k};
    run s = {0};
    run_open(&s, t, &opt);
    count_rows(&s, labels);
    double n = 0, half = lgamma(0.5), sum = 0;
    for (size_t j = 0; j < s.k; j++) {
        n += s.size[j];
        sum += lgamma(0.5 + s.size[j]) - half;
        for (size_t r = 0; r < t->l; r++) {
            if (s.n_held[r] < 2) continue;
            double prior = s.n_held[r] / 2.0;
            sum += lgamma(prior) - lgamma(prior + sum_of(&s, at3(&s, s.count, j, r, 0)));
            for (size_t v = 0; v < (size_t)t->o[r]; v++)
                sum += lgamma(0.5 + *at3(&s, s.count, j, r, v)) - half;
        }
    }
    run_close(&s);
    return sum + lgamma(k / 2.0) - lgamma(k / 2.0 + n);
}
