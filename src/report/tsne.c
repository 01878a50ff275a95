/* t-SNE (van der Maaten and Hinton 2008) on given distances: near points stay near, and the picture shows
 * which groups there are. Distances between groups mean little.
 *
 * Attraction is summed over each point's nearest neighbours only, three times as many as the perplexity, because others
 * attract hardly at all; repulsion is summed over all pairs. A step takes time proportional to n^2, but n is a few
 * thousand at most. Every point's forces are summed by one thread in one order,
 * so the map depends on the seed alone. */
#include "tsne.h"

#include "../core/real.h"
#include "../core/rng.h"
#include "../core/team.h"

#include <float.h>
#include <math.h>

enum {
    LANES = 8,
    BLOCK = 64,  /* points a task */
    EARLY = 200, /* steps with exaggerated attraction */
    DEFAULT_STEPS = 600,
    MDS_STEPS = 30,
    SEARCH_STEPS = 60
};
static const double EXAGGERATION = 12;
static const double MOST_DISTANCE = 1e60; /* its fourth power is still a number */
static const float FAR = 1e15f; /* where the points that fill the last lanes stand: they push nobody */

typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float))));

typedef struct link {
    uint32_t to;
    float p;
} link;

typedef struct tsne {
    cofi_blocks own;
    size_t n, n_padded, n_near;
    const double *distance;
    double perplexity;
    float *x, *y;        /* n_padded */
    double *step, *gain; /* 2 n: x of all, then y of all */
    double *push;        /* 2 n: repulsion, not yet divided by the sum */
    double *pull;        /* 2 n */
    double *closeness;   /* n: each point's part of the sum over pairs */
    link *near;          /* n x n_near: neighbours with p(j|i) */
    link *links;         /* both directions, sorted by point */
    size_t *first;       /* n + 1 */
    double exaggeration;
} tsne;

/* ---- Who is near whom ------------------------------------------------------------------------------- */

static bool is_nearer(const double *d, uint32_t a, uint32_t b)
{
    return d[a] != d[b] ? d[a] < d[b] : a < b;
}

/* The nearest n_near points of i, by a heap whose top is the farthest of those kept. */
static void sift(link *heap, size_t at, size_t n, const double *d)
{
    link moving = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_nearer(d, heap[child].to, heap[child + 1].to)) child++;
        if (!is_nearer(d, moving.to, heap[child].to)) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void find_near(const tsne *t, size_t i)
{
    const double *d = t->distance + i * t->n;
    link *heap = t->near + i * t->n_near;
    size_t kept = 0;
    for (uint32_t j = 0; j < t->n; j++) {
        if (j == i) continue;
        if (kept < t->n_near) {
            heap[kept++].to = j;
            if (kept == t->n_near)
                for (size_t at = kept / 2; at-- > 0;) sift(heap, at, kept, d);
        } else if (is_nearer(d, j, heap[0].to)) {
            heap[0].to = j;
            sift(heap, 0, kept, d);
        }
    }
}

/* Weights exp(-beta d^2), normalised; returns their entropy. */
static double weigh(const double *d, link *near, size_t n, double beta, double least)
{
    double total = 0, moment = 0;
    if (n == 0) return 0;
    for (size_t m = 0; m < n; m++) {
        double square = d[near[m].to] * d[near[m].to] - least; /* the nearest weighs 1: no underflow of all */
        double weight = cofi_exp(-beta * square);
        near[m].p = (float)weight;
        total += weight;
        moment += weight * square;
    }
    for (size_t m = 0; m < n; m++) near[m].p = (float)(near[m].p / total);
    return cofi_ln(total) + beta * moment / total;
}

/* The width that gives the neighbourhood its perplexity. Points at distance 0 may make that impossible; then
 * the search ends at its narrowest, which is what such points deserve. */
static void fit_width(const tsne *t, size_t i)
{
    const double *d = t->distance + i * t->n;
    link *near = t->near + i * t->n_near;
    double least = DBL_MAX, mean = 0, wanted = cofi_ln(t->perplexity), low = 0, high = 0;
    for (size_t m = 0; m < t->n_near; m++) {
        double square = d[near[m].to] * d[near[m].to];
        least = fmin(least, square);
        mean += square / (double)t->n_near;
    }
    double beta = mean > least ? 1 / (mean - least) : 1;
    for (int step = 0; step < SEARCH_STEPS; step++) {
        double excess = weigh(d, near, t->n_near, beta, least) - wanted;
        if (fabs(excess) < 1e-5) break;
        if (excess > 0)
            low = beta;
        else
            high = beta;
        beta = high > 0 ? (low + high) / 2 : 2 * beta;
    }
}

/* p_ij = (p(j|i) + p(i|j)) / 2n, listed from both ends. */
static void link_both_ways(tsne *t)
{
    size_t *at = t->first + 1;
    for (size_t e = 0; e < t->n * t->n_near; e++) at[t->near[e].to + 1]++;
    for (size_t i = 0; i < t->n; i++) at[i + 1] += at[i] + t->n_near;
    for (size_t i = 0; i < t->n; i++)
        for (size_t m = 0; m < t->n_near; m++) {
            link out = t->near[i * t->n_near + m];
            float p = out.p / (2 * (float)t->n);
            t->links[at[i]++] = (link){out.to, p};
            t->links[at[out.to]++] = (link){(uint32_t)i, p};
        }
}

static void near_task(void *ctx, uint32_t worker, size_t block)
{
    const tsne *t = ctx;
    for (size_t i = block * BLOCK; i < t->n && i < (block + 1) * BLOCK; i++) {
        find_near(t, i);
        fit_width(t, i);
    }
}

/* ---- Where they start -------------------------------------------------------------------------------- */

/* to = B from, B the doubly centred matrix of squared distances times -1/2 (classical scaling). `from` is
 * centred, so only the rows are left to centre. */
static void multiply(const tsne *t, const double *from, double *to)
{
    double mean = 0;
    for (size_t i = 0; i < t->n; i++) {
        const double *d = t->distance + i * t->n;
        double sum = 0;
        for (size_t j = 0; j < t->n; j++) sum += d[j] * d[j] * from[j];
        to[i] = -sum / 2;
        mean += to[i] / (double)t->n;
    }
    for (size_t i = 0; i < t->n; i++) to[i] -= mean;
}

static void normalise(double *v, const double *against, size_t n)
{
    double dot = 0, square = 0;
    for (size_t i = 0; against != NULL && i < n; i++) dot += v[i] * against[i];
    for (size_t i = 0; i < n; i++) {
        if (against != NULL) v[i] -= dot * against[i];
        square += v[i] * v[i];
    }
    for (size_t i = 0; i < n && square > 0; i++) v[i] /= sqrt(square);
}

/* The two main axes of classical scaling by power iteration, shrunk to almost a point: a start that has the
 * rough arrangement right, which a random one would leave to chance. */
static void place_first(tsne *t, uint64_t seed)
{
    cofi_rng rng;
    double *v[2] = {t->push, t->push + t->n}, *w = t->pull;
    cofi_rng_seed(&rng, seed, 0x745e);
    for (size_t i = 0; i < 2 * t->n; i++) t->push[i] = cofi_rng_unit(&rng) - 0.5;
    for (int step = 0; step < MDS_STEPS; step++)
        for (int axis = 0; axis < 2; axis++) {
            double mean = 0;
            for (size_t i = 0; i < t->n; i++) mean += v[axis][i] / (double)t->n;
            for (size_t i = 0; i < t->n; i++) v[axis][i] -= mean;
            multiply(t, v[axis], w);
            memcpy(v[axis], w, t->n * sizeof *w);
            normalise(v[axis], axis == 1 ? v[0] : NULL, t->n);
        }
    double scale = 1e-4 * sqrt((double)t->n); /* the axes have length 1: a deviation of 1e-4 */
    for (size_t i = 0; i < t->n; i++) {
        t->x[i] = (float)(scale * v[0][i] + 1e-6 * (cofi_rng_unit(&rng) - 0.5));
        t->y[i] = (float)(scale * v[1][i] + 1e-6 * (cofi_rng_unit(&rng) - 0.5));
    }
    for (size_t i = t->n; i < t->n_padded; i++) t->x[i] = t->y[i] = FAR;
}

/* ---- How they move ----------------------------------------------------------------------------------- */

/* Every lane on its own: where floats are computed as doubles, a float beside a vector does not compile. */
static inline void spread(float x, lanes *v)
{
    for (int l = 0; l < LANES; l++) (*v)[l] = x;
}

static void push_point(tsne *t, size_t i)
{
    lanes sum = {0}, push_x = {0}, push_y = {0}, one = {0}, x = {0}, y = {0};
    spread(1, &one);
    spread(t->x[i], &x);
    spread(t->y[i], &y);
    for (size_t j = 0; j < t->n_padded; j += LANES) {
        lanes dx = x - *(const lanes *)(t->x + j), dy = y - *(const lanes *)(t->y + j);
        lanes q = one / (one + dx * dx + dy * dy), qq = q * q;
        sum += q;
        push_x += qq * dx;
        push_y += qq * dy;
    }
    double total = 0, along_x = 0, along_y = 0;
    for (int l = 0; l < LANES; l++) {
        total += (double)sum[l];
        along_x += (double)push_x[l];
        along_y += (double)push_y[l];
    }
    t->closeness[i] = total - 1; /* not with itself */
    t->push[i] = along_x;
    t->push[t->n + i] = along_y;
}

static void pull_point(tsne *t, size_t i)
{
    double pull_x = 0, pull_y = 0;
    for (size_t e = t->first[i]; e < t->first[i + 1]; e++) {
        uint32_t j = t->links[e].to;
        float dx = t->x[i] - t->x[j], dy = t->y[i] - t->y[j];
        float force = t->links[e].p / (1.0f + dx * dx + dy * dy);
        pull_x += (double)(force * dx);
        pull_y += (double)(force * dy);
    }
    t->pull[i] = pull_x;
    t->pull[t->n + i] = pull_y;
}

static void force_task(void *ctx, uint32_t worker, size_t block)
{
    tsne *t = ctx;
    for (size_t i = block * BLOCK; i < t->n && i < (block + 1) * BLOCK; i++) {
        push_point(t, i);
        pull_point(t, i);
    }
}

/* Gradient descent with momentum, and a gain for each coordinate that grows while its sign stays. */
static void move(tsne *t, double momentum, double rate)
{
    double total = 0;
    for (size_t i = 0; i < t->n; i++) total += t->closeness[i];
    for (size_t c = 0; c < 2 * t->n; c++) {
        float *place = c < t->n ? t->x + c : t->y + (c - t->n);
        double gradient = 4 * (t->exaggeration * t->pull[c] - t->push[c] / total);
        t->gain[c] = t->step[c] * gradient < 0 ? t->gain[c] + 0.2 : fmax(t->gain[c] * 0.8, 0.01);
        t->step[c] = momentum * t->step[c] - rate * t->gain[c] * gradient;
        *place += (float)t->step[c];
    }
}

static void descend(tsne *t, cofi_team *team, uint32_t n_steps)
{
    double rate = fmax((double)t->n / EXAGGERATION / 4, 50);
    for (size_t c = 0; c < 2 * t->n; c++) t->gain[c] = 1;
    for (uint32_t step = 0; step < n_steps && !cofi_should_stop(&t->own.env); step++) {
        bool early = step < EARLY && step < n_steps / 2;
        t->exaggeration = early ? EXAGGERATION : 1;
        cofi_team_run(team, force_task, t, (t->n + BLOCK - 1) / BLOCK);
        move(t, early ? 0.5 : 0.8, rate);
    }
}

/* Centred, so that a reader of the coordinates finds the middle at 0. */
static void hand_back(const tsne *t, double *xy)
{
    double mean_x = 0, mean_y = 0;
    for (size_t i = 0; i < t->n; i++) {
        mean_x += (double)t->x[i] / (double)t->n;
        mean_y += (double)t->y[i] / (double)t->n;
    }
    for (size_t i = 0; i < t->n; i++) {
        xy[2 * i] = (double)t->x[i] - mean_x;
        xy[2 * i + 1] = (double)t->y[i] - mean_y;
    }
}

cof_status cofi_tsne(const cof_env *env, const double *distance, size_t n, const cofi_tsne_options *options,
                     double *xy, cof_error *err)
{
    cofi_tsne_options o = options != NULL ? *options : (cofi_tsne_options){0};
    if (distance == NULL || n > UINT32_MAX / 4)
        return cofi_fail(err, COF_ERR_ARGUMENT, "a map needs distances of at most %u points", UINT32_MAX / 4);
    if (o.perplexity < 0 || isnan(o.perplexity))
        return cofi_fail(err, COF_ERR_ARGUMENT, "a perplexity is a number of neighbours, above 0");
    for (size_t at = 0; at < n * n; at++)
        if (!(distance[at] >= 0 && distance[at] <= MOST_DISTANCE))
            return cofi_fail(err, COF_ERR_ARGUMENT, "a map needs distances between 0 and 1e60");
    for (size_t c = 0; c < 2 * n; c++) xy[c] = 0;
    if (n < 2) return COF_OK;
    tsne t = {.own = {.env = cofi_env_resolve(env)}, .n = n, .distance = distance};
    t.perplexity = fmax(fmin(o.perplexity > 0 ? o.perplexity : 30, ((double)n - 1) / 3), 1);
    t.n_near = (size_t)fmin(ceil(3 * t.perplexity), (double)n - 1);
    t.n_padded = (n + LANES - 1) / LANES * LANES;
    t.x = cofi_blocks_add(&t.own, t.n_padded, sizeof *t.x);
    t.y = cofi_blocks_add(&t.own, t.n_padded, sizeof *t.y);
    t.step = cofi_blocks_add_zero(&t.own, 2 * n, sizeof *t.step);
    t.gain = cofi_blocks_add(&t.own, 2 * n, sizeof *t.gain);
    t.push = cofi_blocks_add(&t.own, 2 * n, sizeof *t.push);
    t.pull = cofi_blocks_add(&t.own, 2 * n, sizeof *t.pull);
    t.closeness = cofi_blocks_add(&t.own, n, sizeof *t.closeness);
    t.near = cofi_blocks_add(&t.own, n * t.n_near, sizeof *t.near);
    t.links = cofi_blocks_add(&t.own, 2 * n * t.n_near, sizeof *t.links);
    t.first = cofi_blocks_add_zero(&t.own, n + 2, sizeof *t.first);
    cofi_team *team = NULL;
    cof_status status = cofi_blocks_status(&t.own, err);
    if (status == COF_OK) status = cofi_team_open(&t.own.env, n > 4 * BLOCK ? o.threads : 1, &team, err);
    if (status == COF_OK) {
        cofi_team_run(team, near_task, &t, (n + BLOCK - 1) / BLOCK);
        link_both_ways(&t);
        place_first(&t, o.seed);
        descend(&t, team, o.steps > 0 ? o.steps : DEFAULT_STEPS);
        hand_back(&t, xy);
    }
    cofi_team_close(team);
    cofi_blocks_release(&t.own);
    return status;
}
