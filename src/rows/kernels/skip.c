#include "skip.h"

bool cofi_skip_saves_time(const cofi_cells *rows, uint32_t k)
{
    /* every pass compares the scores with those before, which takes less time than scoring half as many rows */
    return rows->n_rows >= 4096 && (uint64_t)rows->first[rows->n_attrs] * cofi_stride(k) / 2 <= rows->n_rows;
}

cof_status cofi_skip_open(const cof_env *env, const cofi_cells *rows, uint32_t k, cofi_skip *s)
{
    *s = (cofi_skip){.own = {.env = *env}, .rows = rows};
    s->key = cofi_blocks_add(&s->own, rows->n_rows, sizeof *s->key);
    s->value =
        cofi_blocks_add(&s->own, (size_t)rows->first[rows->n_attrs] * cofi_stride(k), sizeof *s->value);
    s->base = cofi_blocks_add(&s->own, cofi_stride(k), sizeof *s->base);
    s->same_as = cofi_blocks_add(&s->own, rows->first[rows->n_attrs], sizeof *s->same_as);
    return s->own.short_of_memory ? COF_ERR_MEMORY : COF_OK;
}

void cofi_skip_close(cofi_skip *s)
{
    cofi_blocks_release(&s->own);
    memset(s, 0, sizeof *s);
}

void cofi_skip_forget(cofi_skip *s)
{
    s->valid = false;
    s->moved = 0;
}

/* Of scores of one scale, as between two forests, where all clusters take rows: the largest difference between the changes
 * of two clusters. */
static double uneven_steps(const int64_t *old, const int64_t *new, uint32_t k, double scale)
{
    int64_t least = new[0] - old[0], most = least;
    for (uint32_t j = 1; j < k; j++) {
        int64_t rose = new[j] - old[j];
        least = rose < least ? rose : least;
        most = rose > most ? rose : most;
    }
    return (double)(most - least) / scale;
}

/* The same for any scores. */
static double uneven(const cofi_skip *s, const cofi_scores *now, const int64_t *old, const int64_t *new)
{
    double least = 0, most = 0;
    bool any = false;
    for (uint32_t j = 0; j < now->k; j++) {
        if (now->base[j] >= COFI_NEVER) continue;
        double rose = (double)new[j] / now->scale - (double)old[j] / s->scale;
        least = !any || rose < least ? rose : least;
        most = !any || rose > most ? rose : most;
        any = true;
    }
    return most - least;
}

static void keep_value(cofi_skip *s, const cofi_scores *now, uint32_t g)
{
    memcpy(s->value + (size_t)g * now->stride, now->value + (size_t)g * now->stride,
           now->stride * sizeof *s->value);
}

/* Keeps the scores for the next pass. */
static void keep_scores(cofi_skip *s, const cofi_scores *now)
{
    for (uint32_t g = 0; g < s->rows->first[s->rows->n_attrs]; g++) {
        s->same_as[g] = cofi_scored_as(now, g);
        if (s->same_as[g] == g) keep_value(s, now, g);
    }
}

static bool same_entries(const cofi_skip *s, const cofi_scores *now)
{
    for (uint32_t g = 0; g < s->rows->first[s->rows->n_attrs]; g++)
        if (s->same_as[g] != cofi_scored_as(now, g)) return false;
    return true;
}

/* How far leads may have shrunk since the scores that were kept. With `keep`, where the same values have entries as before, the
 * scores are kept on the way, while they are in the cache. Values that share their scores with another one, now and before, move
 * as that one does. */
static double movement(cofi_skip *s, const cofi_scores *now, bool keep)
{
    bool steps = s->scale == now->scale;
    for (uint32_t j = 0; j < now->k; j++) steps = steps && now->base[j] < COFI_NEVER;
    double sum = uneven(s, now, s->base, now->base);
    for (size_t r = 0; r < s->rows->n_attrs; r++) {
        double most = 0;
        for (uint32_t g = s->rows->first[r]; g < s->rows->first[r + 1]; g++) {
            uint32_t same = cofi_scored_as(now, g);
            if (same != g && s->same_as[g] == same) continue;
            const int64_t *old = s->value + (size_t)s->same_as[g] * now->stride;
            const int64_t *new = now->value + (size_t)same * now->stride;
            double here = steps ? uneven_steps(old, new, now->k, now->scale) : uneven(s, now, old, new);
            most = here > most ? here : most;
            if (keep) keep_value(s, now, g);
        }
        sum += most;
    }
    return sum;
}

static bool same_clusters(const cofi_skip *s, const cofi_scores *now)
{
    for (uint32_t j = 0; j < now->k; j++)
        if ((s->base[j] >= COFI_NEVER) != (now->base[j] >= COFI_NEVER)) return false;
    return true;
}

/* The unit of the keys is two steps of the pass that resets them. They are reset when `moved` exceeds a
 * quarter of their range. */
static void set_keys(cofi_skip *s, cofi_plan *plan)
{
    enum { STEPS = 2, MOST_MOVED = UINT16_MAX / 4 };
    if (s->valid && s->moved > MOST_MOVED * s->unit) cofi_skip_forget(s);
    if (!s->valid) s->unit = STEPS * cofi_plan_step(plan);
    /* The margin covers a tie, which is 2^-46 of the largest sum, and the rounding of sums in double and
     * keys in float, which is much smaller. */
    double largest = (double)(INT64_C(1) << COFI_SUM_BITS) / plan->scores->scale;
    double need = ceil((s->moved + 1e-12 * largest) * (1 + 1e-6) / s->unit);
    s->need = need < UINT16_MAX ? (uint16_t)need : UINT16_MAX;
    plan->key_begin = (float)(s->moved / s->unit * (1 - 1e-6));
    plan->keys_per_unit = 1 / s->unit;
}

void cofi_skip_advance(cofi_skip *s, cofi_plan *plan)
{
    const cofi_scores *now = plan->scores;
    if (s->valid && !same_clusters(s, now)) cofi_skip_forget(s);
    bool same = s->valid && same_entries(s, now); /* as between two forests */
    if (s->valid) s->moved += movement(s, now, same);
    if (!same) keep_scores(s, now);
    memcpy(s->base, now->base, now->stride * sizeof *s->base);
    s->scale = now->scale;
    set_keys(s, plan);
}
