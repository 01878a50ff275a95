/* The assignment of attributes to lookups is fixed when the plan is opened; the tables are filled for
 * every pass. */
#include "plan.h"

static uint32_t n_cells_of(const cofi_cells *rows, size_t r)
{
    return rows->first[r + 1] - rows->first[r];
}

static bool is_narrow(const cofi_plan *p, size_t r)
{
    return p->rows->ids[r].width == 1 && n_cells_of(p->rows, r) <= p->most_cells;
}

/* Orders the narrow attributes by number of values, smallest first, then the wide ones: attributes of
 * equal size share lookups best. */
static uint32_t order_attributes(cofi_plan *p)
{
    uint32_t n = 0, n_narrow;
    for (uint32_t o = 1; o <= p->most_cells; o++)
        for (size_t r = 0; r < p->rows->n_attrs; r++)
            if (is_narrow(p, r) && n_cells_of(p->rows, r) == o) p->attr[n++] = (uint32_t)r;
    n_narrow = n;
    for (size_t r = 0; r < p->rows->n_attrs; r++)
        if (!is_narrow(p, r)) p->attr[n++] = (uint32_t)r;
    return n_narrow;
}

/* Joins narrow attributes into lookups. Beyond the cheap cells, one lookup still takes less time than two, but not less than it
 * takes for several attributes that already share a cheap one. The cheap lookups come first; in either kind the order stays. */
static void join_attributes(cofi_plan *p, uint32_t n_narrow)
{
    for (uint32_t a = 0; a < n_narrow; a++) {
        uint32_t o = n_cells_of(p->rows, p->attr[a]);
        cofi_lookup *last = p->n_lookups > 0 ? &p->lookup[p->n_lookups - 1] : NULL;
        uint32_t n_cells = last != NULL ? last->n_cells * o : UINT32_MAX;
        if (n_cells <= p->cheap_cells || (n_cells <= p->most_cells && last->n_attrs == 1)) {
            last->n_attrs++;
            last->n_cells = n_cells;
        } else {
            p->lookup[p->n_lookups++] = (cofi_lookup){.begin = a, .n_attrs = 1, .n_cells = o};
        }
    }
    for (uint32_t t = 0; t < p->n_lookups; t++) {
        cofi_lookup look = p->lookup[t];
        if (look.n_cells > p->cheap_cells) continue;
        memmove(p->lookup + p->n_cheap + 1, p->lookup + p->n_cheap, (t - p->n_cheap) * sizeof look);
        p->lookup[p->n_cheap++] = look;
    }
}

static cof_status list_cells(cofi_plan *p)
{
    size_t n = 0;
    for (uint32_t t = 0; t < p->n_lookups; t++) {
        p->lookup[t].flat = n;
        n += (size_t)p->lookup[t].n_cells * p->lookup[t].n_attrs;
    }
    p->flat = cofi_blocks_add(&p->own, n, sizeof *p->flat);
    if (p->flat == NULL) return COF_ERR_MEMORY;
    for (uint32_t t = 0; t < p->n_lookups; t++) {
        const cofi_lookup *look = &p->lookup[t];
        for (uint32_t c = 0; c < look->n_cells; c++) {
            uint32_t digits = c, *to = p->flat + look->flat + (size_t)c * look->n_attrs;
            for (uint32_t a = look->n_attrs; a-- > 0;) {
                uint32_t r = p->attr[look->begin + a], o = n_cells_of(p->rows, r);
                to[a] = p->rows->first[r] + digits % o;
                digits /= o;
            }
        }
    }
    return COF_OK;
}

/* Number of terms in a chunk, which is summed in 16 bits. Short chunks allow finer steps, so fewer rows
 * must be settled, but adding up the chunks takes time, and their total must stay below 2^31. */
static uint32_t choose_chunk(uint32_t n_terms)
{
    enum { ONE_CHUNK = 64, MANY = 1024, MOST_CHUNKS = 32768 };
    if (n_terms <= ONE_CHUNK) return n_terms;
    uint32_t least = (n_terms + MOST_CHUNKS - 1) / MOST_CHUNKS, chunk = n_terms < MANY ? 8 : 4;
    return least < chunk ? chunk : least;
}

static cof_status open_tables(cofi_plan *p, uint32_t n_narrow)
{
    size_t n_wide = p->rows->n_attrs - n_narrow, n_values = 0;
    p->n_terms = p->n_lookups + (uint32_t)n_wide;
    p->chunk_terms = choose_chunk(p->n_terms);
    p->n_chunks = (p->n_terms + p->chunk_terms - 1) / p->chunk_terms;
    p->wide_stride = (p->k + 7) & ~7u;
    p->wide_first = cofi_blocks_add(&p->own, n_wide, sizeof *p->wide_first);
    if (p->wide_first == NULL) return COF_ERR_MEMORY;
    for (size_t w = 0; w < n_wide; w++) {
        p->wide_first[w] = n_values;
        n_values += n_cells_of(p->rows, p->attr[n_narrow + w]);
    }
    p->wide = cofi_blocks_add_zero(&p->own, n_values * p->wide_stride, sizeof *p->wide);
    size_t n_table = (size_t)p->n_lookups * p->k * p->most_cells;
    p->table = cofi_blocks_add_line(&p->own, n_table, sizeof *p->table);
    return p->own.short_of_memory ? COF_ERR_MEMORY : COF_OK;
}

cof_status cofi_plan_open(const cof_env *env, const cofi_cells *rows, uint32_t k, uint32_t most_cells,
                          uint32_t cheap_cells, bool split, cofi_plan *plan, cof_error *err)
{
    *plan = (cofi_plan){.own = {.env = *env},
                        .rows = rows,
                        .k = k,
                        .most_cells = most_cells,
                        .cheap_cells = cheap_cells,
                        .split = split};
    if (most_cells == 0) return COF_OK;
    plan->attr = cofi_blocks_add(&plan->own, rows->n_attrs, sizeof *plan->attr);
    plan->code = cofi_blocks_add(&plan->own, rows->n_attrs, sizeof *plan->code);
    plan->lookup = cofi_blocks_add(&plan->own, rows->n_attrs, sizeof *plan->lookup);
    plan->alive = cofi_blocks_add(&plan->own, k, sizeof *plan->alive);
    plan->start = cofi_blocks_add(&plan->own, 2 * (size_t)k, sizeof *plan->start);
    plan->cell = cofi_blocks_add(&plan->own, k, sizeof *plan->cell);
    COFI_TRY(cofi_blocks_status(&plan->own, err));
    uint32_t n_narrow = order_attributes(plan);
    join_attributes(plan, n_narrow);
    for (size_t a = 0; a < rows->n_attrs; a++) plan->code[a] = (uintptr_t)rows->ids[plan->attr[a]].codes;
    bool ok = list_cells(plan) == COF_OK && open_tables(plan, n_narrow) == COF_OK;
    return ok ? COF_OK : cofi_no_memory(err);
}

void cofi_plan_close(cofi_plan *p)
{
    cofi_blocks_release(&p->own);
    memset(p, 0, sizeof *p);
}

/* ---- Tables for one pass ------------------------------------------------------------------------- */

/* The largest difference between one of these scores and the least of them. Every bit that is set in a
 * difference is also set in `bits`. */
static int64_t spread(const cofi_plan *p, const int64_t *score, uint64_t *bits)
{
    int64_t least = INT64_MAX, most = 0;
    for (uint32_t j = 0; j < p->k; j++) {
        int64_t low = p->alive[j] ? score[j] : INT64_MAX, high = p->alive[j] ? score[j] : 0;
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    for (uint32_t j = 0; j < p->k; j++) *bits |= p->alive[j] ? (uint64_t)(score[j] - least) : 0;
    return most > least ? most - least : 0;
}

static int64_t attribute_range(const cofi_plan *p, size_t r, uint64_t *bits)
{
    const cofi_scores *s = p->scores;
    int64_t range = 0;
    for (uint32_t g = p->rows->first[r]; g < p->rows->first[r + 1]; g++) {
        if (cofi_scored_as(s, g) != g) continue; /* the other value is looked at */
        int64_t here = spread(p, cofi_score_of(s, g), bits);
        range = here > range ? here : range;
    }
    return range;
}

/* The largest sum that any chunk of terms can reach. */
static int64_t chunk_range(const cofi_plan *p, uint64_t *bits)
{
    int64_t most = 0, sum = 0;
    for (uint32_t t = 0; t < p->n_terms; t++) {
        if (t % p->chunk_terms == 0) sum = 0;
        uint32_t begin = t < p->n_lookups ? p->lookup[t].begin : 0, n = 1;
        if (t < p->n_lookups)
            n = p->lookup[t].n_attrs;
        else
            begin = (uint32_t)p->rows->n_attrs - (p->n_terms - t);
        for (uint32_t a = begin; a < begin + n; a++) sum += attribute_range(p, p->attr[a], bits);
        most = sum > most ? sum : most;
    }
    return most;
}

/* How far below the least score of a cell its entries begin, if a revision may have to lower scores later: a quarter of their
 * range, in whole steps. Scores are seldom negative. */
static int64_t slack_of(const cofi_plan *p, int64_t least, int64_t most)
{
    if (p->floor == NULL || most < least || least < 0) return 0;
    int64_t slack = (most - least) / 4;
    return (slack < least ? slack : least) >> p->shift << p->shift;
}

static uint32_t tie_steps(const cofi_plan *p)
{
    return (uint32_t)(COFI_TIE >> p->shift) + 1;
}

/* Sums below it stay clear of clusters that take no rows. */
static int64_t sum_limit(const cofi_plan *p)
{
    return 65534 - (int64_t)p->chunk_terms - (int64_t)tie_steps(p);
}

/* Sets the lead that is certain; `bits` are those of the differences that steps divide. If no bit is lost, no row needs
 * settling: equal sums are ties, and unequal sums differ by more than a tie. */
static void set_bound(cofi_plan *p, uint64_t bits)
{
    p->exact = p->exact && (bits & ((UINT64_C(1) << p->shift) - 1)) == 0;
    p->bound = p->exact && p->scores->plain == NULL ? 0 : p->n_terms + 1 + tie_steps(p);
}

/* Chooses the step, so that sums fit 16 bits. */
static void set_shift(cofi_plan *p)
{
    uint64_t bits = 0;
    int64_t range = chunk_range(p, &bits) + spread(p, p->scores->base, &bits);
    if (p->floor != NULL) range += range / 4; /* slack_of */
    for (p->shift = 0; range >> p->shift >= sum_limit(p);) p->shift++;
    p->exact = (INT64_C(1) << p->shift) > COFI_TIE;
    set_bound(p, bits);
}

/* Makes the entries of p->cell relative to the least one, in steps; clusters that take no rows get 0. Returns what was
 * subtracted. */
static int64_t finish_cell(cofi_plan *p)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (uint32_t j = 0; j < p->k; j++) {
        int64_t low = p->alive[j] ? p->cell[j] : INT64_MAX, high = p->alive[j] ? p->cell[j] : INT64_MIN;
        least = low < least ? low : least;
        most = high > most ? high : most;
    }
    least -= slack_of(p, least, most);
    for (uint32_t j = 0; j < p->k; j++) p->cell[j] = p->alive[j] ? (p->cell[j] - least) >> p->shift : 0;
    return least;
}

static uint32_t greatest(const int64_t *entry, uint32_t n)
{
    int64_t most = 0;
    for (uint32_t j = 0; j < n; j++) most = entry[j] > most ? entry[j] : most;
    return (uint32_t)most;
}

/* The table of one cluster in a lookup. */
static uint16_t *table_of(const cofi_plan *p, uint32_t t, uint32_t j)
{
    return p->table + ((size_t)t * p->k + j) * p->most_cells;
}

static inline void put_entry(const cofi_plan *p, uint16_t *table, uint32_t c, int64_t entry)
{
    if (p->split) {
        ((uint8_t *)table)[c] = (uint8_t)entry;
        ((uint8_t *)table)[p->most_cells + c] = (uint8_t)(entry >> 8);
    } else {
        table[c] = (uint16_t)entry;
    }
}

static void fill_lookup(cofi_plan *p, uint32_t t)
{
    const cofi_lookup *look = &p->lookup[t];
    const cofi_scores *s = p->scores;
    const uint32_t *flat = p->flat + look->flat;
    if (p->top != NULL) p->top[t] = 0;
    for (uint32_t c = 0; c < look->n_cells; c++, flat += look->n_attrs) {
        memcpy(p->cell, cofi_score_of(s, flat[0]), p->k * sizeof *p->cell);
        for (uint32_t a = 1; a < look->n_attrs; a++) {
            const int64_t *value = cofi_score_of(s, flat[a]);
            for (uint32_t j = 0; j < p->k; j++) p->cell[j] += value[j];
        }
        int64_t floor = finish_cell(p);
        for (uint32_t j = 0; j < p->k; j++) put_entry(p, table_of(p, t, j), c, p->cell[j]);
        if (p->floor == NULL) continue;
        p->floor[(size_t)t * p->most_cells + c] = floor;
        uint32_t most = greatest(p->cell, p->k);
        p->top[t] = most > p->top[t] ? most : p->top[t];
    }
}

static void fill_wide(cofi_plan *p, uint32_t w)
{
    const cofi_scores *s = p->scores;
    uint32_t r = p->attr[p->rows->n_attrs - (p->n_terms - p->n_lookups) + w];
    uint32_t first = p->rows->first[r], n = n_cells_of(p->rows, r);
    uint16_t *wide = p->wide + p->wide_first[w] * p->wide_stride;
    for (uint32_t v = 0; v < n; v++) {
        uint16_t *to = wide + (size_t)v * p->wide_stride;
        if (cofi_scored_as(s, first + v) != first + v) continue;
        memcpy(p->cell, cofi_score_of(s, first + v), p->k * sizeof *p->cell);
        finish_cell(p);
        for (uint32_t j = 0; j < p->k; j++) to[j] = (uint16_t)p->cell[j];
    }
}

void cofi_plan_prepare(cofi_plan *p, const cofi_scores *scores)
{
    p->scores = scores;
    p->key = NULL;
    if (p->most_cells == 0) return;
    for (uint32_t j = 0; j < p->k; j++) p->alive[j] = scores->base[j] < COFI_NEVER;
    set_shift(p);
    memcpy(p->cell, scores->base, p->k * sizeof *p->cell);
    p->start_floor = finish_cell(p);
    p->start_top = greatest(p->cell, p->k);
    p->start_later = p->start + p->k;
    for (uint32_t j = 0; j < p->k; j++) {
        p->start[j] = p->alive[j] ? (uint16_t)p->cell[j] : UINT16_MAX;
        p->start_later[j] = p->alive[j] ? 0 : UINT16_MAX;
    }
    for (uint32_t t = 0; t < p->n_lookups; t++) fill_lookup(p, t);
    for (uint32_t w = 0; w + p->n_lookups < p->n_terms; w++) fill_wide(p, w);
}

/* ---- Tables of some clusters --------------------------------------------------------------------- */

/* The entry for a score above the floor, whose bits are added to `bits`; below it, or if it needs more than 16 bits, the
 * result is false. */
static inline bool entry_of(const cofi_plan *p, int64_t score, int64_t floor, uint64_t *bits, int64_t *entry)
{
    *entry = (score - floor) >> p->shift;
    *bits |= (uint64_t)(score - floor);
    return score >= floor && *entry <= UINT16_MAX;
}

static bool update_lookup(cofi_plan *p, uint32_t t, uint32_t j, uint64_t *bits)
{
    const cofi_lookup *look = &p->lookup[t];
    const cofi_scores *s = p->scores;
    const uint32_t *flat = p->flat + look->flat;
    const int64_t *floor = p->floor + (size_t)t * p->most_cells;
    uint16_t *table = table_of(p, t, j);
    for (uint32_t c = 0; c < look->n_cells; c++, flat += look->n_attrs) {
        int64_t score = 0, entry = 0;
        for (uint32_t a = 0; a < look->n_attrs; a++) score += cofi_score_of(s, flat[a])[j];
        if (p->alive[j] && !entry_of(p, score, floor[c], bits, &entry)) return false;
        put_entry(p, table, c, entry);
        p->top[t] = entry > p->top[t] ? (uint32_t)entry : p->top[t];
    }
    return true;
}

bool cofi_plan_update(cofi_plan *p, const cofi_scores *scores, const cofi_label *list, uint32_t n)
{
    uint64_t bits = 0;
    int64_t most = 0;
    p->scores = scores;
    for (uint32_t x = 0; x < n; x++) {
        uint32_t j = list[x];
        int64_t entry = 0;
        p->alive[j] = scores->base[j] < COFI_NEVER;
        if (p->alive[j] && !entry_of(p, scores->base[j], p->start_floor, &bits, &entry)) return false;
        p->start[j] = p->alive[j] ? (uint16_t)entry : UINT16_MAX;
        p->start_top = entry > p->start_top ? (uint32_t)entry : p->start_top;
        for (uint32_t t = 0; t < p->n_lookups; t++)
            if (!update_lookup(p, t, j, &bits)) return false;
    }
    for (uint32_t t = 0; t < p->n_lookups; t++) most += p->top[t];
    set_bound(p, bits);
    return most + p->start_top < sum_limit(p);
}
