/* Finds distinct rows by hashing. Row hashes are computed column by column, in blocks that fit the cache;
 * a hash table of row numbers finds candidates, and a candidate is compared cell by cell. */
#include "dedupe.h"

#include "../core/rng.h"

enum { BLOCK = 1024 };

static inline uint64_t add_to_hash(uint64_t hash, uint32_t id)
{
    return (hash ^ id) * 0x9e3779b97f4a7c15u + (hash >> 29);
}

/* `width` is a constant in the inlined versions. */
static inline __attribute__((always_inline)) void hash_column(const void *codes, uint8_t width, size_t begin,
                                                              size_t n, uint64_t *hash)
{
    for (size_t i = 0; i < n; i++)
        hash[i] = add_to_hash(hash[i], cofi_id((cofi_ids){codes, width, false}, begin + i));
}

static void hash_block(const cofi_ids *ids, size_t n_attrs, size_t begin, size_t n, uint64_t *hash)
{
    memset(hash, 0, n * sizeof *hash);
    for (size_t r = 0; r < n_attrs; r++) {
        if (ids[r].width == 1)
            hash_column(ids[r].codes, 1, begin, n, hash);
        else if (ids[r].width == 2)
            hash_column(ids[r].codes, 2, begin, n, hash);
        else
            hash_column(ids[r].codes, 4, begin, n, hash);
    }
}

static bool rows_equal(const cofi_ids *ids, size_t n_attrs, size_t a, size_t b)
{
    for (size_t r = 0; r < n_attrs; r++)
        if (cofi_id(ids[r], a) != cofi_id(ids[r], b)) return false;
    return true;
}

/* A slot holds the number of a group's first row plus one. `tag` holds hash bits: they determine where a
 * search begins, and they separate most unequal rows without reading the columns. */
typedef struct slots {
    uint32_t *row, *tag;
    size_t mask;
} slots;

static uint32_t find_or_add(slots *s, const cofi_ids *ids, size_t n_attrs, size_t row, uint64_t hash,
                            uint32_t *group, uint32_t *n_groups)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = tag & s->mask;
    for (; s->row[at] != 0; at = (at + 1) & s->mask) {
        size_t other = s->row[at] - 1;
        if (s->tag[at] == tag && rows_equal(ids, n_attrs, other, row)) return group[other];
    }
    s->row[at] = (uint32_t)row + 1;
    s->tag[at] = tag;
    return (*n_groups)++;
}

/* Doubles the number of slots. */
static cof_status grow(const cof_env *env, slots *s)
{
    size_t n_slots = s->row == NULL ? 1024 : 2 * (s->mask + 1);
    slots larger = {cofi_alloc_zero(env, n_slots, sizeof(uint32_t)),
                    cofi_alloc(env, n_slots, sizeof(uint32_t)), n_slots - 1};
    if (larger.row == NULL || larger.tag == NULL) {
        COFI_RELEASE_ALL(env, larger.row, larger.tag);
        return COF_ERR_MEMORY;
    }
    for (size_t from = 0; s->row != NULL && from <= s->mask; from++) {
        if (s->row[from] == 0) continue;
        size_t at = s->tag[from] & larger.mask;
        while (larger.row[at] != 0) at = (at + 1) & larger.mask;
        larger.row[at] = s->row[from];
        larger.tag[at] = s->tag[from];
    }
    COFI_RELEASE_ALL(env, s->row, s->tag);
    *s = larger;
    return COF_OK;
}

cof_status cofi_dedupe(const cof_env *env, const cofi_ids *ids, size_t n_attrs, size_t n_rows,
                       uint32_t *group, uint32_t *n_groups)
{
    slots s = {NULL, NULL, 0};
    uint64_t hash[BLOCK];
    cof_status status = n_rows < UINT32_MAX ? COF_OK : COF_ERR_DATA;
    *n_groups = 0;
    for (size_t begin = 0; begin < n_rows && status == COF_OK; begin += BLOCK) {
        size_t n = n_rows - begin < BLOCK ? n_rows - begin : BLOCK;
        hash_block(ids, n_attrs, begin, n, hash);
        for (size_t i = 0; i < n; i++) {
            if (s.row == NULL || 2 * (size_t)*n_groups > s.mask) status = grow(env, &s);
            if (status != COF_OK) break;
            group[begin + i] = find_or_add(&s, ids, n_attrs, begin + i, cofi_mix64(hash[i]), group, n_groups);
        }
    }
    COFI_RELEASE_ALL(env, s.row, s.tag);
    return status;
}

/* How many of n hashes differ. `slot`: a power of two of zeros, more than n; 0 counts as 1. */
static size_t count_different(const uint64_t *hash, size_t n, uint64_t *slot, size_t n_slots)
{
    size_t n_differ = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t wanted = hash[i] != 0 ? hash[i] : 1;
        size_t at = cofi_mix64(wanted) & (n_slots - 1);
        while (slot[at] != 0 && slot[at] != wanted) at = (at + 1) & (n_slots - 1);
        n_differ += slot[at] == 0;
        slot[at] = wanted;
    }
    return n_differ;
}

/* The rows of a sample: runs of neighbours, because reading a single row takes as long. */
enum { RUN = 8 };

static uint64_t sample_row(size_t i, size_t n_sample, size_t n_rows)
{
    size_t run = i / RUN, n_runs = (n_sample + RUN - 1) / RUN;
    uint64_t begin = cofi_stretch_begin(run, n_runs, n_rows);
    uint64_t left = cofi_stretch_begin(run + 1, n_runs, n_rows) - begin;
    begin += left > RUN ? cofi_mix64(run + 1) % (left - RUN + 1) : 0;
    return begin + i % RUN < n_rows ? begin + i % RUN : n_rows - 1;
}

cof_status cofi_dedupe_sample(const cof_env *env, const cofi_ids *ids, size_t n_attrs, size_t n_rows,
                              const uint64_t *weight, size_t n_sample, size_t *n_weighing, size_t *n_differ)
{
    enum { AHEAD = 32 * RUN };
    size_t n_slots = 2;
    while (n_slots < 2 * n_sample) n_slots *= 2;
    uint64_t *hash = cofi_alloc_zero(env, 2 * n_sample + n_slots, sizeof *hash);
    if (hash == NULL) return COF_ERR_MEMORY;
    uint64_t *row = hash + n_sample;
    for (size_t i = 0; i < n_sample; i++) row[i] = sample_row(i, n_sample, n_rows);
    /* one column after the other, so that memory is read in order */
    for (size_t r = 0; r < n_attrs; r++)
        for (size_t i = 0; i < n_sample; i++) {
            if (i % RUN == 0 && i + AHEAD < n_sample) cofi_prefetch_id(ids[r], row[i + AHEAD]);
            hash[i] = add_to_hash(hash[i], cofi_id(ids[r], row[i]));
        }
    *n_weighing = 0;
    for (size_t i = 0; i < n_sample; i++)
        if (weight == NULL || weight[row[i]] > 0) hash[(*n_weighing)++] = hash[i];
    *n_differ = count_different(hash, *n_weighing, row + n_sample, n_slots);
    cofi_release(env, hash);
    return COF_OK;
}
