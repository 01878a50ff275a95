#include "revise.h"

enum { ROWS = COFI_GROUP_ROWS, LEAST_K = 48 };

/* ---- Clusters whose scores changed --------------------------------------------------------------- */

bool cofi_revision_saves_time(const cofi_plan *p)
{
    return p->k >= LEAST_K && p->n_chunks == 1 && p->n_lookups == p->n_terms;
}

/* The most clusters that a revision scores. */
static uint32_t most_scored(uint32_t k)
{
    return k / 2;
}

cof_status cofi_revision_open(const cof_env *env, cofi_plan *p, cofi_revision *v)
{
    *v = (cofi_revision){.own = {.env = *env}};
    size_t stride = cofi_stride(p->k), n_flat = p->rows->first[p->rows->n_attrs];
    v->value = cofi_blocks_add(&v->own, n_flat * stride, sizeof *v->value);
    v->base = cofi_blocks_add(&v->own, stride, sizeof *v->base);
    v->difference = cofi_blocks_add(&v->own, stride, sizeof *v->difference);
    v->list = cofi_blocks_add(&v->own, p->k, sizeof *v->list);
    v->place = cofi_blocks_add(&v->own, p->k, sizeof *v->place);
    v->start = cofi_blocks_add(&v->own, p->k, sizeof *v->start);
    v->table = cofi_blocks_add_line(&v->own, (size_t)p->n_lookups * most_scored(p->k) * p->most_cells,
                                    sizeof *v->table);
    p->floor = cofi_blocks_add(&v->own, (size_t)p->n_lookups * p->most_cells, sizeof *p->floor);
    p->top = cofi_blocks_add(&v->own, p->n_lookups, sizeof *p->top);
    p->own_sum = cofi_blocks_add(&v->own, p->rows->n_rows, sizeof *p->own_sum);
    p->rest = cofi_blocks_add(&v->own, p->rows->n_rows, sizeof *p->rest);
    return v->own.short_of_memory ? COF_ERR_MEMORY : COF_OK;
}

void cofi_revision_close(cofi_revision *v)
{
    cofi_blocks_release(&v->own);
    memset(v, 0, sizeof *v);
}

/* Lists the clusters whose scores changed, and their places in the list. Returns how many there are. */
static uint32_t list_changes(cofi_revision *v, const cofi_plan *p, const cofi_scores *now)
{
    uint32_t n = 0, stride = now->stride;
    for (uint32_t j = 0; j < stride; j++) v->difference[j] = (uint64_t)(v->base[j] ^ now->base[j]);
    for (uint32_t g = 0; g < p->rows->first[p->rows->n_attrs]; g++) {
        const int64_t *from = v->value + (size_t)g * stride, *to = cofi_score_of(now, g);
        for (uint32_t j = 0; j < stride; j++) v->difference[j] |= (uint64_t)(from[j] ^ to[j]);
    }
    for (uint32_t j = 0; j < now->k; j++) {
        bool changed = v->difference[j] != 0;
        v->place[j] = changed ? (cofi_label)n : COFI_UNCHANGED;
        v->list[n] = (cofi_label)j;
        n += changed;
    }
    return n;
}

/* A plan for the n clusters that are scored. */
static void gather_tables(cofi_revision *v, const cofi_plan *p, uint32_t n)
{
    for (uint32_t t = 0; t < p->n_lookups; t++)
        for (uint32_t x = 0; x < n; x++)
            memcpy(v->table + ((size_t)t * n + x) * p->most_cells,
                   p->table + ((size_t)t * p->k + v->list[x]) * p->most_cells,
                   p->most_cells * sizeof *v->table);
    for (uint32_t x = 0; x < n; x++) v->start[x] = p->start[v->list[x]];
    v->scored = *p;
    v->scored.k = n;
    v->scored.table = v->table;
    v->scored.start = v->start;
}

/* Prepares a revision with these scores, if it can be one. */
static bool begin_revision(cofi_revision *v, cofi_plan *p, const cofi_scores *now)
{
    if (!v->valid || now->scale != v->scale) return false;
    uint32_t n = list_changes(v, p, now);
    if (n > most_scored(p->k) || !cofi_plan_update(p, now, v->list, n)) return false;
    gather_tables(v, p, n);
    v->changes = n > 0;
    return true;
}

void cofi_revision_advance(cofi_revision *v, cofi_plan *p, const cofi_scores *now)
{
    v->revises = begin_revision(v, p, now);
    if (!v->revises) cofi_plan_prepare(p, now);
    for (uint32_t g = 0; g < p->rows->first[p->rows->n_attrs]; g++)
        memcpy(v->value + (size_t)g * now->stride, cofi_score_of(now, g), now->stride * sizeof *v->value);
    memcpy(v->base, now->base, now->stride * sizeof *v->base);
    v->scale = now->scale;
}

/* ---- Rows ----------------------------------------------------------------------------------------- */

typedef struct room { /* the areas of the scratch memory */
    uint16_t *sum;    /* [k][ROWS] */
    uint8_t *cell;    /* [lookup][ROWS] */
    uint8_t *late;    /* the same for the rows of `row` */
    int64_t *full;    /* stride */
    size_t *row;      /* rows that must be scored in full */
    size_t n_rows;
} room;

size_t cofi_revision_scratch(const cofi_plan *p)
{
    return 64 + (size_t)p->k * ROWS * sizeof(uint16_t) + 2 * (size_t)p->n_lookups * ROWS +
           cofi_stride(p->k) * sizeof(int64_t) + ROWS * sizeof(size_t);
}

static room divide(const cofi_plan *p, void *scratch)
{
    room at = {.n_rows = 0};
    at.sum = (uint16_t *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    at.full = (int64_t *)(void *)(at.sum + (size_t)p->k * ROWS);
    at.row = (size_t *)(void *)(at.full + cofi_stride(p->k));
    at.cell = (uint8_t *)(at.row + ROWS);
    at.late = at.cell + (size_t)p->n_lookups * ROWS;
    return at;
}

/* Finds the new sums of the rows' own clusters, and leaves only other clusters in `sum`. */
static void take_own(const cofi_revision *v, size_t n, const cofi_label *label, uint16_t *sum, uint16_t *own)
{
    for (size_t i = 0; i < n; i++) {
        cofi_label at = v->place[label[i]];
        if (at == COFI_UNCHANGED) continue;
        own[i] = sum[(size_t)at * ROWS + i];
        sum[(size_t)at * ROWS + i] = UINT16_MAX;
    }
}

/* Scores the listed rows in full. */
static void score_late(const cofi_plan *p, const cofi_lanes *lanes, size_t begin, room *at, cofi_label *label)
{
    cofi_label nearest[ROWS];
    uint16_t lead[ROWS];
    uint64_t unsure[COFI_GROUP_WORDS];
    if (at->n_rows == 0) return;
    for (uint32_t t = 0; t < p->n_lookups; t++)
        memset(at->late + t * ROWS + at->n_rows, 0, ROWS - at->n_rows);
    lanes->add(p, 0, p->n_lookups, begin, at->n_rows, at->late, p->start, at->sum);
    lanes->least(at->sum, p->k, (uint16_t)p->bound, nearest, lead, unsure);
    for (size_t i = 0; i < at->n_rows; i++) {
        size_t row = at->row[i];
        label[row - begin] = nearest[i];
        if (unsure[i / 64] >> i % 64 & 1) {
            cofi_sum_rows(p->rows, p->scores, &row, 1, at->full);
            label[row - begin] = cofi_settle(p->rows, p->scores, row, at->full);
        }
        cofi_plan_note(p, at->sum + i, row, nearest[i], lead[i], label[row - begin]);
    }
    at->n_rows = 0;
}

/* Finds the label of a row from its own sum, the least and second least sum of the scored clusters, and the bound of the
 * others. False: it is not certain. */
static bool revise_row(const cofi_plan *p, size_t row, cofi_label nearest, uint16_t best, uint16_t second,
                       cofi_label *label)
{
    uint32_t bound = p->bound > 0 ? p->bound : 1; /* a tie goes to the lowest cluster, which may be any */
    uint16_t own = p->own_sum[row], rest = p->rest[row], least, others;
    bool stays = own <= best;
    least = stays ? own : best;
    others = stays ? best : own < second ? own : second;
    others = rest < others ? rest : others;
    if (others < least + bound) return false;
    if (!stays) *label = nearest;
    p->own_sum[row] = least;
    p->rest[row] = others;
    return true;
}

/* Labels a group of the rows that begin at `begin`, except for those that go to the list. */
static void revise_group(const cofi_plan *p, const cofi_revision *v, const cofi_lanes *lanes, size_t begin,
                         size_t row, size_t n, room *at, cofi_label *label)
{
    const cofi_plan *scored = &v->scored;
    cofi_label nearest[ROWS] = {0};
    uint16_t best[ROWS], lead[ROWS] = {0};
    uint64_t unsure[COFI_GROUP_WORDS];
    lanes->cells(p, 0, p->n_lookups, row, n, at->cell);
    if (scored->k > 0) lanes->add(scored, 0, p->n_lookups, row, ROWS, at->cell, scored->start, at->sum);
    take_own(v, n, label + (row - begin), at->sum, p->own_sum + row);
    if (scored->k > 0) lanes->least(at->sum, scored->k, 0, nearest, lead, unsure);
    for (size_t i = 0; i < n; i++)
        best[i] = scored->k > 0 ? at->sum[(size_t)nearest[i] * ROWS + i] : UINT16_MAX;
    for (size_t i = 0; i < n; i++) {
        cofi_label *to = label + (row - begin) + i;
        if (revise_row(p, row + i, v->list[nearest[i]], best[i], (uint16_t)(best[i] + lead[i]), to)) continue;
        for (uint32_t t = 0; t < p->n_lookups; t++) at->late[t * ROWS + at->n_rows] = at->cell[t * ROWS + i];
        at->row[at->n_rows++] = row + i;
        if (at->n_rows == ROWS) score_late(p, lanes, begin, at, label);
    }
}

void cofi_lookup_revise(const cofi_plan *p, const cofi_revision *v, const cofi_lanes *lanes, size_t begin,
                        size_t n, cofi_label *label, void *scratch)
{
    room at = divide(p, scratch);
    for (size_t done = 0; done < n; done += ROWS)
        revise_group(p, v, lanes, begin, begin + done, n - done < ROWS ? n - done : ROWS, &at, label);
    score_late(p, lanes, begin, &at, label);
}
