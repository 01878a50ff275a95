#include "skip.h"

#include "kernel.h"

#include <assert.h>

bool cofi_skip_saves_time(const cofi_plan *p)
{
    /* every pass compares the scores with those before, which takes less time than scoring half as many rows */
    uint64_t n_scores = (uint64_t)p->rows->first[p->rows->n_attrs] * cofi_stride(p->k);
    return p->n_chunks == 1 && p->rows->n_rows >= 4096 && n_scores / 2 <= p->rows->n_rows;
}

cof_status cofi_skip_open(const cof_env *env, const cofi_plan *p, cofi_skip *s)
{
    size_t stride = cofi_stride(p->k);
    assert(p->n_chunks == 1); /* sums of several chunks keep no keys */
    *s = (cofi_skip){.own = {.env = *env}};
    s->key = cofi_blocks_add(&s->own, p->rows->n_rows, sizeof *s->key);
    s->value = cofi_blocks_add(&s->own, p->rows->first[p->rows->n_attrs] * stride, sizeof *s->value);
    s->base = cofi_blocks_add(&s->own, stride, sizeof *s->base);
    return s->own.short_of_memory ? COF_ERR_MEMORY : COF_OK;
}

void cofi_skip_close(cofi_skip *s)
{
    cofi_blocks_release(&s->own);
    memset(s, 0, sizeof *s);
}

/* The largest difference between the changes of two clusters. */
static int64_t uneven(const int64_t *old, const int64_t *new, uint32_t k)
{
    int64_t least = new[0] - old[0], most = least;
    for (uint32_t j = 1; j < k; j++) {
        int64_t rose = new[j] - old[j];
        least = rose < least ? rose : least;
        most = rose > most ? rose : most;
    }
    return most - least;
}

/* How far leads may have shrunk since the previous scores. */
static int64_t movement(const cofi_skip *s, const cofi_plan *p)
{
    const cofi_scores *now = p->scores;
    int64_t sum = uneven(s->base, now->base, now->k);
    for (size_t r = 0; r < p->rows->n_attrs; r++) {
        int64_t most = 0;
        for (uint32_t g = p->rows->first[r]; g < p->rows->first[r + 1]; g++) {
            int64_t here = uneven(s->value + (size_t)g * now->stride, cofi_score_of(now, g), now->k);
            most = here > most ? here : most;
        }
        sum += most;
    }
    return sum;
}

void cofi_skip_advance(cofi_skip *s, cofi_plan *p)
{
    const cofi_scores *now = p->scores;
    const int64_t unit = INT64_C(2) << p->shift, most_moved = UINT16_MAX / 4 * unit;
    bool keeps = !s->off;
    for (uint32_t j = 0; j < now->k; j++) keeps = keeps && now->base[j] < COFI_NEVER;
    s->valid = s->valid && keeps && s->scale == now->scale && s->shift == p->shift;
    if (s->valid) s->moved += movement(s, p);
    s->valid = s->valid && s->moved <= most_moved;
    if (!s->valid) s->moved = 0;
    int64_t need = (s->moved + COFI_TIE) / unit + 1;
    s->need = need < UINT16_MAX ? (uint16_t)need : UINT16_MAX;
    s->scale = now->scale;
    s->shift = p->shift;
    p->key = keeps ? s->key : NULL;
    p->key_begin = (uint16_t)(s->moved / unit);
    assert(p->key_begin <= UINT16_MAX / 4); /* so that a key of 16 bits holds any lead as well */
    for (uint32_t g = 0; keeps && g < p->rows->first[p->rows->n_attrs]; g++)
        memcpy(s->value + (size_t)g * now->stride, cofi_score_of(now, g), now->stride * sizeof *s->value);
    memcpy(s->base, now->base, now->stride * sizeof *s->base);
}

void cofi_skip_score(const cofi_skip *s, const cofi_plan *p, size_t begin, size_t n, cofi_label *label,
                     int64_t *sum)
{
    for (size_t row = begin; row < begin + n; row++) {
        if (s->key[row] > s->need) continue;
        cofi_sum_rows(p->rows, p->scores, &row, 1, sum);
        cofi_label best = cofi_settle(p->rows, p->scores, row, sum);
        int64_t second = INT64_MAX;
        for (uint32_t j = 0; j < p->k; j++)
            if (j != best && sum[j] < second) second = sum[j];
        int64_t lead = second > sum[best] ? second - sum[best] : 0;
        int64_t key = p->key_begin + (lead >> (p->shift + 1));
        s->key[row] = key < UINT16_MAX ? (uint16_t)key : UINT16_MAX;
        label[row - begin] = best;
    }
}
