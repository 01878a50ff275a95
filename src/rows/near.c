/* Hamming distances of rows to the seeds chosen so far, by the weights of the columns, and the mass of each row in the next draw.
 *
 * Masses are summed over the rows of the table in their order, whether equal rows are folded or not, so
 * that folding does not change a start. */
#include "local.h"
#include "stream.h"

#include <assert.h>

enum { BLOCK = COFI_BLOCK_ROWS };

/* ---- Distances to the nearest seed --------------------------------------------------------------- */

typedef struct near_job {
    const cofi_cells *cells;
    size_t n_columns;      /* attributes, then quantities if there are any */
    const uint32_t *units; /* per column; NULL: 1 each */
    const uint32_t *seed;
    uint32_t *near;
    bool streamed;
    uint32_t n_workers;
} near_job;

/* Adds 1 to the distance of every row whose value is not `own`. Also prefetches the same rows of the next
 * column: the processor's own prefetcher cannot follow so many streams. */
static void add_differences(cofi_ids ids, size_t begin, size_t n, uint32_t own, cofi_ids next,
                            uint8_t *restrict distance)
{
    enum { STRIP = 64 };
    uint8_t wanted = (uint8_t)own;
    for (size_t at = 0; at < n; at += STRIP) {
        size_t n_here = n - at < STRIP ? n - at : STRIP;
        uint8_t *restrict to = distance + at;
        __builtin_prefetch((const char *)next.codes + (begin + at) * next.width);
        if (ids.width == 1 && n_here == STRIP) { /* a constant count lets the compiler vectorise the loop */
            const uint8_t *restrict code = (const uint8_t *)ids.codes + begin + at;
            for (size_t i = 0; i < STRIP; i++) to[i] = (uint8_t)(to[i] + (code[i] != wanted));
        } else {
            for (size_t i = 0; i < n_here; i++)
                to[i] = (uint8_t)(to[i] + (cofi_id(ids, begin + at + i) != own));
        }
    }
}

static void weigh_differences(const near_job *job, size_t begin, size_t n, uint32_t *distance)
{
    for (size_t r = 0; r < job->n_columns; r++)
        for (size_t i = 0; i < n; i++)
            distance[i] += cofi_id(job->cells->ids[r], begin + i) != job->seed[r] ? job->units[r] : 0;
}

static void near_task(void *ctx, uint32_t worker, size_t block)
{
    enum { COLUMNS = 255 }; /* so many differences fit a byte */
    const near_job *job = ctx;
    const cofi_cells *c = job->cells;
    size_t begin = block * BLOCK, n = c->n_rows - begin < BLOCK ? c->n_rows - begin : BLOCK;
    uint32_t distance[BLOCK], *near = job->near + begin;
    size_t from, end;
    if (job->streamed && cofi_stream_ahead(block, job->n_workers, &from, &end))
        cofi_stream_want(c, from * BLOCK, end * BLOCK);
    memset(distance, 0, sizeof distance);
    if (job->units != NULL) weigh_differences(job, begin, n, distance);
    for (size_t first = 0; job->units == NULL && first < job->n_columns; first += COLUMNS) {
        uint8_t some[BLOCK];
        memset(some, 0, sizeof some);
        for (size_t r = first; r < job->n_columns && r < first + COLUMNS; r++)
            add_differences(c->ids[r], begin, n, job->seed[r], c->ids[r + 1 < job->n_columns ? r + 1 : r],
                            some);
        for (size_t i = 0; i < n; i++) distance[i] += some[i];
    }
    for (size_t i = 0; i < n; i++) near[i] = distance[i] < near[i] ? distance[i] : near[i];
}

static cof_status open_near(cofi_partition *p, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    cofi_labels *s = p->labels;
    if (s->near == NULL) s->near = cofi_blocks_add(&s->of_seeds, l->cells.n_rows, sizeof *s->near);
    if (s->block_mass == NULL)
        s->block_mass = cofi_blocks_add(&s->of_seeds, l->n_rows / BLOCK + 1, sizeof *s->block_mass);
    return s->near != NULL && s->block_mass != NULL ? COF_OK : cofi_no_memory(err);
}

/* Called when a pass begins: the seeds are chosen then, and later blocks can use this memory. */
void cofi_local_drop_seeds(cofi_partition *p)
{
    cofi_labels *s = p->labels;
    cofi_blocks_release(&s->of_seeds);
    s->near = NULL;
    s->block_mass = NULL;
    s->n_seeds = 0;
}

cof_status cofi_local_add_seed(cofi_partition *p, const uint32_t *cell, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    cofi_labels *s = p->labels;
    const cofi_problem *problem = p->rows->problem;
    COFI_TRY(open_near(p, err));
    if (cell == NULL) {
        s->n_seeds = 0;
        memset(s->near, 0xFF, l->cells.n_rows * sizeof *s->near);
        return COF_OK;
    }
    near_job job = {.cells = &l->cells,
                    .n_columns = problem->n_attrs + problem->n_numeric,
                    .units = problem->seed_units,
                    .seed = cell,
                    .near = s->near,
                    .streamed = s->pass.streamed,
                    .n_workers = cofi_team_size(s->pass.team)};
    s->n_seeds++;
    if (job.streamed) cofi_stream_begin(&l->cells);
    cofi_team_run(s->pass.team, near_task, &job, cofi_n_blocks(l->cells.n_rows));
    if (job.streamed) cofi_stream_end(&l->cells);
    return COF_OK;
}

/* ---- Masses -------------------------------------------------------------------------------------- */

typedef struct mass_job {
    const cofi_local *l;
    const cofi_labels *s;
    cofi_chance by;
    size_t n_rows;
} mass_job;

static uint64_t row_mass(const mass_job *job, size_t table_row)
{
    uint64_t weight = job->l->table_weight != NULL ? job->l->table_weight[table_row] : 1;
    if (job->by == COFI_ANY_ROW) return weight;
    uint32_t near = job->s->near[cofi_local_row(job->l, table_row)];
    if (job->by == COFI_BY_DISTANCE) return weight * near;
    if (job->by == COFI_ANY_NEW_ROW) return near > 0 ? weight : 0;
    return near == job->s->extreme ? weight : 0;
}

static void mass_task(void *ctx, uint32_t worker, size_t block)
{
    const mass_job *job = ctx;
    size_t begin = block * BLOCK, end = begin + BLOCK < job->n_rows ? begin + BLOCK : job->n_rows;
    uint64_t mass = 0;
    if (job->by == COFI_BY_DISTANCE && job->l->table_weight == NULL && job->l->group == NULL)
        for (size_t i = begin; i < end; i++)
            mass += job->s->near[i]; /* the same sum without the tests of row_mass */
    else
        for (size_t i = begin; i < end; i++) mass += row_mass(job, i);
    job->s->block_mass[block] = mass;
}

cof_status cofi_local_draw(cofi_partition *p, cofi_question *q, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    cofi_labels *s = p->labels;
    cofi_chance by = q->draw.by;
    mass_job job = {l, s, by, l->n_rows};
    bool even = by == COFI_ANY_ROW && l->table_weight == NULL;
    COFI_TRY(open_near(p, err));
    s->extreme = by == COFI_NEAREST ? UINT32_MAX : 0;
    for (size_t i = 0; (by == COFI_FARTHEST || by == COFI_NEAREST) && i < l->cells.n_rows; i++)
        if ((by == COFI_FARTHEST ? s->near[i] > s->extreme : s->near[i] < s->extreme) &&
            cofi_cells_weight(&l->cells, i) > 0)
            s->extreme = s->near[i];
    if (!even) cofi_team_run(s->pass.team, mass_task, &job, cofi_n_blocks(job.n_rows));
    q->draw.total = even ? job.n_rows : 0;
    for (size_t b = 0; !even && b < cofi_n_blocks(job.n_rows); b++) q->draw.total += s->block_mass[b];
    if (q->draw.rng != NULL && q->draw.total > 0) q->draw.target = cofi_rng_below(q->draw.rng, q->draw.total);
    uint64_t target = q->draw.row = q->draw.target;
    if (even || target >= q->draw.total) return COF_OK;
    size_t block = 0;
    while (target >= s->block_mass[block]) target -= s->block_mass[block++];
    for (q->draw.row = block * BLOCK; target >= row_mass(&job, q->draw.row); q->draw.row++)
        target -= row_mass(&job, q->draw.row);
    return COF_OK;
}

/* ---- Merits ------------------------------------------------------------------------------------- */

/* Density of a row of `cells` times its distance to the nearest seed. */
static double merit_of(const cofi_local *l, const cofi_labels *s, const uint64_t *total, size_t row)
{
    const cofi_cells *c = &l->cells;
    uint64_t density = 0;
    for (size_t r = 0; r < c->n_attrs; r++) density += total[c->first[r] + cofi_id(c->ids[r], row)];
    return (double)density * (s->n_seeds > 0 ? (double)s->near[row] : 1.0);
}

/* Equal rows have equal merit, so it is enough to visit the distinct rows, unless the first of equal rows may
 * weigh nothing. */
cof_status cofi_local_densest(cofi_partition *p, cofi_question *q)
{
    const cofi_local *l = cofi_local_of(p->rows);
    const uint64_t *weight = l->table_weight;
    bool distinct = l->group != NULL && weight == NULL;
    double greatest = -1;
    uint64_t best = 0, first = 0;
    for (size_t i = 0; i < (distinct ? l->cells.n_rows : l->n_rows); i++) {
        if (weight != NULL && weight[i] == 0) continue;
        double merit = merit_of(l, p->labels, q->densest.total, distinct ? i : cofi_local_row(l, i));
        if (merit <= greatest) continue;
        greatest = merit;
        best = i;
    }
    while (distinct && l->group[first] != best) first++;
    q->densest.row = distinct ? first : best;
    return COF_OK;
}

/* ---- What shards are asked -------------------------------------------------------------------------- */

static uint64_t bits_of(double merit)
{
    uint64_t bits;
    memcpy(&bits, &merit, sizeof bits);
    return bits;
}

cof_status cofi_local_near(cofi_partition *p, cofi_question *q)
{
    const cofi_cells *c = &cofi_local_of(p->rows)->cells;
    assert(p->labels->n_seeds > 0); /* without a seed there are no distances */
    for (size_t i = 0; i < c->n_rows; i++) q->word[p->labels->near[i]] += cofi_cells_weight(c, i);
    return COF_OK;
}

cof_status cofi_local_masses(cofi_partition *p, cofi_question *q)
{
    const cofi_local *l = cofi_local_of(p->rows);
    uint64_t each = (q->mass.end - q->mass.begin + COFI_MASS_PARTS - 1) / COFI_MASS_PARTS;
    uint64_t row = q->mass.begin > l->first_row ? q->mass.begin : l->first_row,
             last = l->first_row + l->n_rows;
    mass_job job = {l, p->labels, (cofi_chance)q->mass.by, l->n_rows};
    assert(q->mass.begin < q->mass.end);
    p->labels->extreme = (uint32_t)(q->mass.key < UINT32_MAX ? q->mass.key : UINT32_MAX);
    for (; row < last && row < q->mass.end; row++) {
        size_t at = (size_t)(row - l->first_row);
        uint64_t *word = &q->word[(row - q->mass.begin) / each];
        if (q->mass.by != COFI_MASS_MERIT)
            *word += row_mass(&job, at);
        else if (l->table_weight == NULL || l->table_weight[at] > 0)
            *word += bits_of(merit_of(l, p->labels, q->mass.total, cofi_local_row(l, at))) == q->mass.key;
    }
    return COF_OK;
}

cof_status cofi_local_merits(cofi_partition *p, cofi_question *q)
{
    const cofi_local *l = cofi_local_of(p->rows);
    for (size_t i = 0; i < l->cells.n_rows; i++) {
        if (cofi_cells_weight(&l->cells, i) == 0) continue;
        uint64_t digits = bits_of(merit_of(l, p->labels, q->merit.total, i)) >> q->merit.shift;
        if (digits >> COFI_MERIT_BITS == q->merit.first) q->word[digits & (COFI_MERIT_BUCKETS - 1)]++;
    }
    return COF_OK;
}
