/* Where a restart begins: k different rows.
 *
 * Draws are made over the rows of the table in their order, whether equal rows are folded or not, so that
 * folding changes no start. */
#include "engine.h"

enum { BLOCK = COFI_BLOCK_ROWS, MOST_TRIES = 64 };

/* How likely a row is drawn, beside its weight. */
typedef enum chance { ANY_ROW, ANY_NEW_ROW, BY_DISTANCE, FARTHEST } chance;

typedef struct seeding {
    cofi_engine *e;
    uint32_t *near;       /* per walked row: Hamming distance to the nearest seed */
    uint64_t *block_mass; /* per block of table rows */
    uint32_t *seed;       /* walked rows chosen so far */
    uint32_t n_seeds;
    chance by;
    uint32_t greatest; /* of `near`, for FARTHEST */
} seeding;

/* Columns that make rows differ: attributes, and quantities where there are some. */
static size_t n_compared(const seeding *s)
{
    return s->e->problem->n_attrs + s->e->problem->n_numeric;
}

static size_t walked_row(const cofi_problem *p, size_t table_row)
{
    return p->group != NULL ? p->group[table_row] : table_row;
}

static uint64_t row_mass(const seeding *s, size_t table_row)
{
    const cofi_problem *p = s->e->problem;
    uint64_t weight = p->table_weight != NULL ? p->table_weight[table_row] : 1;
    if (s->by == ANY_ROW) return weight;
    uint32_t near = s->near[walked_row(p, table_row)];
    if (s->by == BY_DISTANCE) return weight * near;
    return s->by == FARTHEST ? (near == s->greatest ? weight : 0) : (near > 0 ? weight : 0);
}

static void mass_task(void *ctx, uint32_t worker, size_t block)
{
    seeding *s = ctx;
    (void)worker;
    size_t n = s->e->problem->n_table_rows, begin = block * BLOCK,
           end = begin + BLOCK < n ? begin + BLOCK : n;
    const cofi_problem *p = s->e->problem;
    uint64_t mass = 0;
    if (s->by == BY_DISTANCE && p->table_weight == NULL && p->group == NULL)
        for (size_t i = begin; i < end; i++) mass += s->near[i]; /* as below, without the questions */
    else
        for (size_t i = begin; i < end; i++) mass += row_mass(s, i);
    s->block_mass[block] = mass;
}

/* Draws a row of the table by mass; there is some, because at least k rows differ. */
static uint32_t draw_row(seeding *s, chance by)
{
    const cofi_problem *p = s->e->problem;
    size_t n_blocks = (p->n_table_rows + BLOCK - 1) / BLOCK, block = 0;
    s->by = by;
    if (by == ANY_ROW && p->table_weight == NULL)
        return (uint32_t)walked_row(p, cofi_rng_below(&s->e->rng, p->n_table_rows));
    cofi_team_run(s->e->team, mass_task, s, n_blocks);
    uint64_t total = 0;
    for (size_t b = 0; b < n_blocks; b++) total += s->block_mass[b];
    uint64_t target = cofi_rng_below(&s->e->rng, total);
    while (target >= s->block_mass[block]) target -= s->block_mass[block++];
    size_t i = block * BLOCK;
    while (target >= row_mass(s, i)) target -= row_mass(s, i++);
    return (uint32_t)walked_row(p, i);
}

/* Adds 1 wherever a row's value is not `own`. Meanwhile asks for the same rows of the next column, which no
 * processor foresees. */
static void add_differences(cofi_ids ids, size_t begin, size_t n, uint32_t own, cofi_ids next,
                            uint8_t *restrict distance)
{
    enum { STRIP = 64 };
    uint8_t wanted = (uint8_t)own;
    for (size_t at = 0; at < n; at += STRIP) {
        size_t n_here = n - at < STRIP ? n - at : STRIP;
        uint8_t *restrict to = distance + at;
        __builtin_prefetch((const char *)next.codes + (begin + at) * next.width);
        if (ids.width == 1 && n_here == STRIP) { /* straight vector code */
            const uint8_t *restrict code = (const uint8_t *)ids.codes + begin + at;
            for (size_t i = 0; i < STRIP; i++) to[i] = (uint8_t)(to[i] + (code[i] != wanted));
        } else {
            for (size_t i = 0; i < n_here; i++)
                to[i] = (uint8_t)(to[i] + (cofi_id(ids, begin + at + i) != own));
        }
    }
}

static void near_task(void *ctx, uint32_t worker, size_t block)
{
    enum { COLUMNS = 255 }; /* whose differences fit a byte */
    seeding *s = ctx;
    (void)worker;
    const cofi_rows *rows = &s->e->problem->rows;
    size_t begin = block * BLOCK, n = rows->n_rows - begin < BLOCK ? rows->n_rows - begin : BLOCK;
    size_t seed = s->seed[s->n_seeds - 1], n_columns = n_compared(s);
    uint32_t distance[BLOCK], *near = s->near + begin;
    memset(distance, 0, sizeof distance);
    for (size_t first = 0; first < n_columns; first += COLUMNS) {
        uint8_t some[BLOCK];
        memset(some, 0, sizeof some);
        for (size_t r = first; r < n_columns && r < first + COLUMNS; r++)
            add_differences(rows->ids[r], begin, n, cofi_id(rows->ids[r], seed),
                            rows->ids[r + 1 < n_columns ? r + 1 : r], some);
        for (size_t i = 0; i < n; i++) distance[i] += some[i];
    }
    for (size_t i = 0; i < n; i++) near[i] = distance[i] < near[i] ? distance[i] : near[i];
}

static void update_near(seeding *s)
{
    cofi_team_run(s->e->team, near_task, s, (s->e->problem->rows.n_rows + BLOCK - 1) / BLOCK);
}

static void add_seed(seeding *s, uint32_t row, bool track_distance)
{
    s->seed[s->n_seeds++] = row;
    if (track_distance) update_near(s);
}

static bool weighs(const cofi_rows *rows, size_t row)
{
    return rows->weight == NULL || rows->weight[row] > 0;
}

static uint32_t greatest_near(const seeding *s)
{
    const cofi_rows *rows = &s->e->problem->rows;
    uint32_t greatest = 0;
    for (size_t i = 0; i < rows->n_rows; i++)
        if (weighs(rows, i) && s->near[i] > greatest) greatest = s->near[i];
    return greatest;
}

static bool equals_a_seed(const seeding *s, size_t row)
{
    const cofi_rows *rows = &s->e->problem->rows;
    for (uint32_t t = 0; t < s->n_seeds; t++) {
        size_t r = 0;
        while (r < n_compared(s) && cofi_id(rows->ids[r], row) == cofi_id(rows->ids[r], s->seed[t])) r++;
        if (r == n_compared(s)) return true;
    }
    return false;
}

/* The paper's draw: any row, again while it equals one chosen before. If chance is slow (few distinct rows,
 * unevenly repeated), the same distribution comes from drawing among the rows still different. */
static void seed_randomly(seeding *s)
{
    while (s->n_seeds < s->e->o.k) {
        uint32_t row = 0, tries = 0;
        do row = draw_row(s, ANY_ROW);
        while (equals_a_seed(s, row) && ++tries < MOST_TRIES);
        if (tries == MOST_TRIES) {
            uint32_t n = s->n_seeds;
            for (s->n_seeds = 0; s->n_seeds < n;) {
                s->n_seeds++;
                update_near(s);
            }
            row = draw_row(s, ANY_NEW_ROW);
        }
        add_seed(s, row, false);
    }
}

static void seed_apart(seeding *s, chance by)
{
    add_seed(s, draw_row(s, ANY_ROW), true);
    while (s->n_seeds < s->e->o.k) {
        if (by == FARTHEST) s->greatest = greatest_near(s);
        add_seed(s, draw_row(s, by), s->n_seeds + 1 < s->e->o.k); /* after the last nobody asks */
    }
}

/* Cao, Liang and Bai: a row is dense if its values are frequent; each next seed is the row where density
 * times distance to the nearest seed is greatest. No chance in it; the first such row wins. */
static cof_status seed_densely(seeding *s)
{
    cofi_engine *e = s->e;
    const cofi_rows *rows = &e->problem->rows;
    uint32_t n_flat = rows->first[rows->n_attrs];
    uint64_t *count = cofi_alloc_zero(&e->env, n_flat, sizeof *count);
    uint64_t *density = cofi_alloc_zero(&e->env, rows->n_rows, sizeof *density);
    cof_status status = count != NULL && density != NULL ? COF_OK : COF_ERR_MEMORY;
    for (size_t r = 0; status == COF_OK && r < rows->n_attrs; r++) {
        for (size_t i = 0; i < rows->n_rows; i++)
            count[rows->first[r] + cofi_id(rows->ids[r], i)] += rows->weight != NULL ? rows->weight[i] : 1;
        for (size_t i = 0; i < rows->n_rows; i++)
            density[i] += count[rows->first[r] + cofi_id(rows->ids[r], i)];
    }
    while (status == COF_OK && s->n_seeds < e->o.k) {
        double greatest = -1;
        size_t best = 0;
        for (size_t i = 0; i < rows->n_rows; i++) {
            double merit = (double)density[i] * (s->n_seeds > 0 ? (double)s->near[i] : 1.0);
            if (!weighs(rows, i) || merit <= greatest) continue;
            greatest = merit;
            best = i;
        }
        add_seed(s, (uint32_t)best, true);
    }
    cofi_release(&e->env, count);
    cofi_release(&e->env, density);
    return status;
}

static cof_status seed_given(seeding *s, cof_error *err)
{
    const cofi_problem *p = s->e->problem;
    const uint64_t *given = s->e->o.init_rows;
    for (uint32_t j = 0; j < s->e->o.k; j++) {
        if (given[j] >= p->n_table_rows)
            return cofi_fail(err, COF_ERR_ARGUMENT, "initial row %llu does not exist; the table has %zu rows",
                             (unsigned long long)given[j] + 1, p->n_table_rows);
        if (p->dropped != NULL && p->dropped[given[j]])
            return cofi_fail(err, COF_ERR_ARGUMENT, "initial row %llu was dropped for a missing value",
                             (unsigned long long)given[j] + 1);
        uint32_t row = (uint32_t)walked_row(p, given[j]);
        if (equals_a_seed(s, row))
            return cofi_fail(err, COF_ERR_ARGUMENT,
                             "initial row %llu equals an earlier one in every attribute; "
                             "the initial rows must all differ",
                             (unsigned long long)given[j] + 1);
        add_seed(s, row, false);
    }
    return COF_OK;
}

static cof_status choose_seeds(seeding *s, cof_error *err)
{
    if (s->e->o.init_rows != NULL) return seed_given(s, err);
    switch ((cof_init)s->e->o.init) {
    case COF_INIT_RANDOM:
        seed_randomly(s);
        return COF_OK;
    case COF_INIT_FARTHEST:
        seed_apart(s, FARTHEST);
        return COF_OK;
    case COF_INIT_CAO:
        return seed_densely(s) == COF_OK ? COF_OK : cofi_no_memory(err);
    case COF_INIT_PORTFOLIO:
        seed_apart(s, cofi_by_likelihood(s->e) ? FARTHEST : BY_DISTANCE);
        return COF_OK;
    case COF_INIT_KMEANS:
    case COF_INIT_MODESPP:
        seed_apart(s, BY_DISTANCE);
        return COF_OK;
    }
    return cofi_fail(err, COF_ERR_ARGUMENT, "there is no start number %d", (int)s->e->o.init);
}

cof_status cofi_seeds_choose(cofi_engine *e, uint32_t *seed, cof_error *err)
{
    size_t n_rows = e->problem->rows.n_rows;
    seeding s = {.e = e, .seed = seed};
    s.near = cofi_alloc(&e->env, n_rows, sizeof *s.near);
    s.block_mass = cofi_alloc(&e->env, e->problem->n_table_rows / BLOCK + 1, sizeof *s.block_mass);
    cof_status status = COF_OK;
    if (s.near == NULL || s.block_mass == NULL) {
        status = cofi_no_memory(err);
    } else {
        memset(s.near, 0xFF, n_rows * sizeof *s.near);
        status = choose_seeds(&s, err);
    }
    cofi_release(&e->env, s.near);
    cofi_release(&e->env, s.block_mass);
    return status;
}
