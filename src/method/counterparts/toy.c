/* The paper's toy experiment: k-modes in which the distance of two values is the length of the shortest
 * path between them in some graph. */
#include "../km.h"

extern const cofi_method cofi_method_rglg;

/* A line in code order over the values that occur; a value that does not occur has the position of the
 * next one. */
static cof_status open_line(cofi_fit *fit, void **state, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    COFI_TRY(cofi_km_open(fit, state, err));
    cofi_distances *d = *state;
    uint8_t *present;
    COFI_TRY(cofi_present_values(fit, &present, err));
    for (size_t r = 0; r < p->n_attrs; r++)
        for (uint32_t a = 0; a < p->n_values[r]; a++) {
            double steps = 0;
            for (uint32_t b = a + 1; b < p->n_values[r]; b++) {
                steps += present[p->first[r] + b - 1];
                cofi_distances_of(fit, d, r, a)[b] = cofi_distances_of(fit, d, r, b)[a] = steps;
            }
        }
    return COF_OK;
}

static void shuffle(cofi_rng *rng, uint32_t *order, uint32_t n)
{
    for (uint32_t v = 0; v < n; v++) order[v] = v;
    for (uint32_t left = n; left > 1; left--) {
        uint32_t at = (uint32_t)cofi_rng_below(rng, left), swap = order[left - 1];
        order[left - 1] = order[at];
        order[at] = swap;
    }
}

static void random_line(cofi_fit *fit, cofi_distances *d, size_t r, uint32_t *place)
{
    uint32_t o = fit->problem->n_values[r];
    shuffle(&fit->rng, place, o);
    for (uint32_t a = 0; a < o; a++)
        for (uint32_t b = 0; b < o; b++)
            cofi_distances_of(fit, d, r, a)[b] =
                place[a] > place[b] ? place[a] - place[b] : place[b] - place[a];
}

/* Path lengths from `from`, by breadth-first search. Entries equal to 1 in `d` are the edges. */
static void count_steps(const cofi_fit *fit, cofi_distances *d, size_t r, uint32_t from, uint32_t *queue,
                        double *steps)
{
    uint32_t o = fit->problem->n_values[r], head = 0, tail = 0;
    for (uint32_t v = 0; v < o; v++) steps[v] = -1;
    steps[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        uint32_t u = queue[head++];
        const double *edge = cofi_distances_of(fit, d, r, u);
        for (uint32_t v = 0; v < o; v++) {
            if (edge[v] != 1 || steps[v] >= 0) continue;
            steps[v] = steps[u] + 1;
            queue[tail++] = v;
        }
    }
}

/* Draws a random spanning tree, in which each value is joined to an earlier one of a random order, then
 * adds every other pair with probability 1/2. */
static void random_edges(cofi_fit *fit, cofi_distances *d, size_t r, uint32_t *order)
{
    uint32_t o = fit->problem->n_values[r];
    shuffle(&fit->rng, order, o);
    for (uint32_t a = 0; a < o; a++)
        for (uint32_t b = 0; b < o; b++) cofi_distances_of(fit, d, r, a)[b] = 0;
    for (uint32_t t = 1; t < o; t++) {
        uint32_t a = order[t], b = order[cofi_rng_below(&fit->rng, t)];
        cofi_distances_of(fit, d, r, a)[b] = cofi_distances_of(fit, d, r, b)[a] = 1;
    }
    for (uint32_t a = 0; a < o; a++)
        for (uint32_t b = a + 1; b < o; b++)
            if (cofi_distances_of(fit, d, r, a)[b] == 0 && cofi_rng_below(&fit->rng, 2) == 1)
                cofi_distances_of(fit, d, r, a)[b] = cofi_distances_of(fit, d, r, b)[a] = 1;
}

static void random_graph(cofi_fit *fit, cofi_distances *d, size_t r, uint32_t *queue, double *steps)
{
    uint32_t o = fit->problem->n_values[r];
    random_edges(fit, d, r, queue);
    for (uint32_t a = 0; a < o; a++) count_steps(fit, d, r, a, queue, steps + (size_t)a * o);
    memcpy(cofi_distances_of(fit, d, r, 0), steps, (size_t)o * o * sizeof *steps);
}

static cof_status run_random(cofi_fit *fit, void *state, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    cofi_distances *d = state;
    bool lines = fit->method == &cofi_method_rglg;
    uint32_t largest = 0;
    for (size_t r = 0; r < p->n_attrs; r++) largest = p->n_values[r] > largest ? p->n_values[r] : largest;
    uint32_t *order = cofi_blocks_add(&fit->scratch, largest, sizeof *order);
    double *steps = cofi_blocks_add(&fit->scratch, (size_t)largest * largest, sizeof *steps);
    COFI_TRY(cofi_blocks_status(&fit->scratch, err));
    for (size_t r = 0; r < p->n_attrs; r++) {
        if (lines)
            random_line(fit, d, r, order);
        else
            random_graph(fit, d, r, order, steps);
    }
    return cofi_km_run_l1(fit, d, err);
}

static cof_status run_complete(cofi_fit *fit, void *state, cof_error *err)
{
    cofi_row_distance hamming = {.sum = COFI_L1};
    return cofi_loop_modes(fit, &hamming, COFI_FREQUENT, COF_PHASE_FIT, err);
}

const cofi_method cofi_method_fcg = {
    .name = "fcg", .title = "toy: complete graphs, which is k-modes", .run = run_complete};
const cofi_method cofi_method_slg = {.name = "slg",
                                     .title = "toy: lines in code order",
                                     .flags = COFI_METHOD_ORDER,
                                     .open = open_line,
                                     .run = cofi_km_run_l1};
const cofi_method cofi_method_rglg = {.name = "rglg",
                                      .title = "toy: lines in random order, drawn in each restart",
                                      .open = cofi_km_open,
                                      .run = run_random};
const cofi_method cofi_method_rgg = {.name = "rgg",
                                     .title = "toy: random connected graphs, drawn in each restart",
                                     .open = cofi_km_open,
                                     .run = run_random};
