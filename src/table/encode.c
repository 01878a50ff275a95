/* One dictionary per column: a hash table with open addressing over texts in one block. Ids are in order
 * of appearance, and are renumbered in value order when the column is finished. */
#include "encode.h"

#include "../core/rng.h"
#include "sort_keys.h"

#include <assert.h>

enum { FIRST_ROWS = 64, FIRST_VALUES = 8, FIRST_TEXT = 64, FIRST_SLOTS = 16, SHORT_BYTES = 7 };

void cofi_encoder_init(cofi_encoder *e, const cof_env *env)
{
    memset(e, 0, sizeof *e);
    e->env = *env;
    e->width = 1;
}

void cofi_encoder_free(cofi_encoder *e)
{
    cof_env env = e->env; /* init clears the encoder and its env */
    COFI_RELEASE_ALL(&e->env, e->cells, e->offset, e->text, e->slot, e->key, e->missing_text);
    cofi_encoder_init(e, &env);
}

static uint64_t load_32(const char *text)
{
    const unsigned char *b = (const unsigned char *)text;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The bytes as a number, the first one lowest. No byte is read twice into another place, so different texts have
 * different numbers. */
static uint64_t short_key(const char *text, size_t n_bytes)
{
    uint64_t key = 0;
    if (n_bytes >= 4) return load_32(text) | load_32(text + n_bytes - 4) << 8 * (n_bytes - 4);
    for (size_t i = 0; i < n_bytes; i++) key |= (uint64_t)(unsigned char)text[i] << 8 * i;
    return key;
}

/* Of a text of up to seven bytes the text itself, which the key alone tells from all others; of a longer one a hash,
 * whose highest byte is not 0. */
static uint64_t key_of(const char *text, size_t n_bytes)
{
    if (n_bytes <= SHORT_BYTES) return short_key(text, n_bytes);
    uint64_t h = n_bytes * 0x9e3779b97f4a7c15u, word;
    for (; n_bytes >= 8; text += 8, n_bytes -= 8) {
        memcpy(&word, text, 8);
        h = (h ^ word) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
    }
    return cofi_mix64(h ^ short_key(text, n_bytes)) | UINT64_C(1) << 63;
}

static void place(cofi_encoder *e, uint32_t id)
{
    size_t mask = e->n_slots - 1, at = cofi_mix64(e->key[id]) & mask;
    while (e->slot[at] != 0 && !e->loose) at = (at + 1) & mask;
    e->slot[at] = id + 1;
}

static cof_status set_slots(cofi_encoder *e, size_t n_slots)
{
    uint32_t *slot = cofi_alloc_zero(&e->env, n_slots, sizeof *slot);
    if (slot == NULL) return COF_ERR_MEMORY;
    cofi_release(&e->env, e->slot);
    e->slot = slot;
    e->n_slots = n_slots;
    for (uint32_t id = 0; id < e->n_values; id++) place(e, id);
    return COF_OK;
}

/* Estimates from a sample of the keys whether more than a quarter of the values are there twice or more. */
static cof_status many_repeat(const cofi_encoder *e, bool *many)
{
    enum { N_PLACES = 1 << 14, N_SAMPLE = 1 << 12 };
    uint64_t *seen = cofi_alloc_zero(&e->env, N_PLACES, sizeof *seen), rare = 1;
    size_t n = 0, n_again = 0;
    if (seen == NULL) return COF_ERR_MEMORY;
    while (rare * N_SAMPLE < e->n_values) rare *= 2;
    for (uint32_t id = 0; id < e->n_values && n < N_PLACES / 2; id++) {
        uint64_t hash = cofi_mix64(e->key[id] + 1);
        if ((hash & (rare - 1)) != 0) continue;
        size_t at = (size_t)(hash >> 50);
        while (seen[at] != 0 && seen[at] != hash) at = (at + 1) % N_PLACES;
        n_again += seen[at] == hash;
        seen[at] = hash;
        n++;
    }
    cofi_release(&e->env, seen);
    *many = 4 * n_again > n;
    return COF_OK;
}

/* Where nearly all texts differ, looking for each of them among all costs more than sorting the few that are there
 * several times, so only recent ones are looked for. Asked whenever the number of values has doubled. */
static cof_status reconsider(cofi_encoder *e)
{
    enum { MANY = 1 << 13, N_RECENT = 1 << 10 };
    bool many = false;
    if (!e->may_repeat || e->n_values < MANY) return COF_OK;
    if (!e->loose) {
        if (e->n_values < e->n_asked - e->n_asked / 4) return COF_OK;
        e->loose = true;
        return set_slots(e, N_RECENT);
    }
    COFI_TRY(many_repeat(e, &many));
    if (!many) return COF_OK;
    size_t n_slots = FIRST_SLOTS;
    while (n_slots < 4 * (size_t)e->n_values) n_slots *= 2;
    e->loose = e->may_repeat = false;
    return set_slots(e, n_slots);
}

/* Makes space for one more value of n_bytes. */
static cof_status reserve_value(cofi_encoder *e, size_t n_bytes)
{
    if (e->n_values == e->offset_capacity) {
        uint64_t wanted = e->offset_capacity > 0 ? 2 * (uint64_t)e->offset_capacity : FIRST_VALUES;
        uint32_t capacity = wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
        size_t *offset = cofi_regrow(&e->env, e->offset, e->n_values, capacity, sizeof *offset);
        if (offset == NULL) return COF_ERR_MEMORY;
        e->offset = offset;
        uint64_t *key = cofi_regrow(&e->env, e->key, e->n_values, capacity, sizeof *key);
        if (key == NULL) return COF_ERR_MEMORY;
        e->key = key;
        e->offset_capacity = capacity;
        COFI_TRY(reconsider(e));
    }
    if (e->text_capacity - e->n_text <= n_bytes) {
        size_t capacity = 2 * e->text_capacity + n_bytes + FIRST_TEXT;
        char *text = cofi_regrow(&e->env, e->text, e->n_text, capacity, 1);
        if (text == NULL) return COF_ERR_MEMORY;
        e->text = text;
        e->text_capacity = capacity;
    }
    if (e->loose || 2 * ((size_t)e->n_values + 1) <= e->n_slots) return COF_OK;
    return set_slots(e, e->n_slots > 0 ? 2 * e->n_slots : FIRST_SLOTS);
}

static size_t value_length(const cofi_encoder *e, uint32_t id)
{
    size_t end = id + 1 < e->n_values ? e->offset[id + 1] : e->n_text;
    return end - e->offset[id] - 1;
}

cof_status cofi_encoder_intern(cofi_encoder *e, const char *text, size_t n_bytes, uint32_t *id)
{
    uint64_t key = key_of(text, n_bytes);
    size_t mask = e->n_slots - 1;
    e->n_asked++;
    for (size_t at = cofi_mix64(key) & mask; e->n_slots > 0 && e->slot[at] != 0; at = (at + 1) & mask) {
        *id = e->slot[at] - 1;
        bool same = e->key[*id] == key;
        if (same && n_bytes > SHORT_BYTES)
            same = value_length(e, *id) == n_bytes && memcmp(e->text + e->offset[*id], text, n_bytes) == 0;
        if (same) return COF_OK;
        if (e->loose) break;
    }
    if (e->n_values >= UINT32_MAX - 3) return COF_ERR_DATA;
    COFI_TRY(reserve_value(e, n_bytes));
    *id = e->n_values++;
    e->offset[*id] = e->n_text;
    e->key[*id] = key;
    memcpy(e->text + e->n_text, text, n_bytes);
    e->text[e->n_text + n_bytes] = '\0';
    e->n_text += n_bytes + 1;
    place(e, *id);
    return COF_OK;
}

/* Makes room for more rows, or wider cells. The cells grow by half instead of doubling: a growing table then has at most 2.5
 * times its final size for a moment. */
static cof_status resize(cofi_encoder *e, size_t capacity, uint8_t width)
{
    bool wider = width > e->width;
    void *cells = wider ? cofi_alloc(&e->env, capacity, width)
                        : cofi_regrow(&e->env, e->cells, e->n_rows, capacity, width);
    if (cells == NULL) return COF_ERR_MEMORY;
    for (size_t i = 0; wider && i < e->n_rows; i++)
        cofi_code_set(cells, width, i, cofi_code_at(e->cells, e->width, i));
    if (wider) cofi_release(&e->env, e->cells);
    e->cells = cells;
    e->capacity = capacity;
    e->width = width;
    return COF_OK;
}

cof_status cofi_encoder_append(cofi_encoder *e, uint32_t id)
{
    assert(id == COFI_ID_MISSING || id < e->n_values);
    uint32_t cell = id == COFI_ID_MISSING ? 0 : id + 1;
    uint8_t width = cofi_code_width(cell) > e->width ? cofi_code_width(cell) : e->width;
    size_t capacity = e->n_rows < e->capacity ? e->capacity : e->capacity + e->capacity / 2 + FIRST_ROWS;
    if (capacity > e->capacity || width > e->width) COFI_TRY(resize(e, capacity, width));
    cofi_code_set(e->cells, e->width, e->n_rows++, cell);
    e->n_missing += cell == 0;
    return COF_OK;
}

cof_status cofi_encoder_append_cells(cofi_encoder *e, const uint8_t *cells, size_t n)
{
    if (n == 0) return COF_OK; /* the array may not be allocated yet */
    size_t capacity = e->capacity;
    while (capacity - e->n_rows < n) capacity += capacity / 2 + FIRST_ROWS;
    if (capacity > e->capacity) COFI_TRY(resize(e, capacity, e->width));
    if (e->width == 1) memcpy((char *)e->cells + e->n_rows, cells, n);
    for (size_t i = 0; i < n; i++) {
        if (e->width > 1) cofi_code_set(e->cells, e->width, e->n_rows + i, cells[i]);
        e->n_missing += cells[i] == 0;
    }
    e->n_rows += n;
    return COF_OK;
}

cof_status cofi_encoder_put(cofi_encoder *e, const char *text, size_t n_bytes)
{
    uint32_t id;
    cof_status status = cofi_encoder_intern(e, text, n_bytes, &id);
    return status == COF_OK ? cofi_encoder_append(e, id) : status;
}

cof_status cofi_encoder_put_missing(cofi_encoder *e, const char *text, size_t n_bytes)
{
    if (e->missing_text == NULL) {
        e->missing_text = cofi_copy_text(&e->env, text, n_bytes);
        if (e->missing_text == NULL) return COF_ERR_MEMORY;
    }
    return cofi_encoder_append(e, COFI_ID_MISSING);
}

/* ---- Value order -------------------------------------------------------------------------------- */

static bool is_integer(const char *text)
{
    if (*text == '-' || *text == '+') text++;
    if (*text == '\0') return false;
    while (*text >= '0' && *text <= '9') text++;
    return *text == '\0';
}

/* Compares two texts that are integers of any length; equal numbers ("7", "07") are compared by bytes. */
static int compare_integers(const char *a, const char *b)
{
    const char *digits[2] = {a, b};
    bool negative[2];
    size_t length[2];
    for (int i = 0; i < 2; i++) {
        negative[i] = *digits[i] == '-';
        if (*digits[i] == '-' || *digits[i] == '+') digits[i]++;
        while (*digits[i] == '0') digits[i]++;
        length[i] = strlen(digits[i]);
        if (length[i] == 0) negative[i] = false; /* -0 equals 0 */
    }
    if (negative[0] != negative[1]) return negative[0] ? -1 : 1;
    int order = length[0] != length[1] ? (length[0] < length[1] ? -1 : 1) : strcmp(digits[0], digits[1]);
    if (order == 0) return strcmp(a, b);
    return negative[0] ? -order : order;
}

static uint64_t load_64(const char *text)
{
    return load_32(text) | load_32(text + 4) << 32;
}

/* The first eight bytes, the first one highest, so that numbers have the order of the texts. */
static uint64_t bytes_key(const char *text, size_t n_bytes)
{
    return __builtin_bswap64(n_bytes < 8 ? short_key(text, n_bytes) : load_64(text));
}

enum { ABOVE_DIGITS = '9' + 1 - ',' };

/* Up to eight bytes as four bits each, the first one highest: 0 for none, the distance from ',' for those up to '9'.
 * *ended: a greater byte follows, which ends the number. False: some byte is less than '-'. */
static bool pack_digits(const char *text, size_t n_bytes, uint64_t *packed, bool *ended)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t x = n_bytes < 8 ? short_key(text, n_bytes) : load_64(text), used = UINT64_MAX;
    uint64_t greater = (((x & 0x7F * ones) + (0x7F - '9') * ones) | x) & 0x80 * ones;
    *ended = greater != 0;
    if (*ended) n_bytes = (size_t)__builtin_ctzll(greater) / 8;
    if (n_bytes < 8) used = (UINT64_C(1) << 8 * n_bytes) - 1;
    uint64_t less = ((x & used) | 0x80 * ones) - (',' * ones & used), digits = less & 0x0F * ones;
    if (((less ^ 0x80 * ones) & 0xF0 * ones) != 0) return false;
    if (((digits + 0x0F * ones) & 0x10 * ones) != (0x10 * ones & used)) return false; /* some byte is ',' */
    if (*ended) digits |= (uint64_t)ABOVE_DIGITS << 8 * n_bytes;
    x = __builtin_bswap64(digits);
    x = (x | x >> 4) & UINT64_C(0x00FF00FF00FF00FF);
    x = (x | x >> 8) & UINT64_C(0x0000FFFF0000FFFF);
    *packed = (x | x >> 16) & UINT32_MAX;
    return true;
}

/* Of numbers the first sixteen bytes, so that few keys are equal. */
static bool digits_key(const char *text, size_t n_bytes, uint64_t *key)
{
    uint64_t high, low = 0;
    bool ended, fits = pack_digits(text, n_bytes, &high, &ended);
    if (fits && !ended && n_bytes > 8) fits = pack_digits(text + 8, n_bytes - 8, &low, &ended);
    *key = fits ? high << 32 | low : 0;
    return fits;
}

/* Sign, number of digits and leading digits: consistent with compare_integers. */
static uint64_t integer_key(const char *text)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+') text++;
    while (*text == '0') text++;
    size_t length = strlen(text);
    uint64_t lead = 0;
    for (size_t i = 0; i < 15 && i < length; i++) lead = 10 * lead + (uint64_t)(text[i] - '0');
    /* 15 digits fit 50 bits, the number of digits goes above; where it is capped, keys may tie and the
     * texts decide */
    uint64_t magnitude = (uint64_t)(length < 8191 ? length : 8191) << 50 | lead;
    if (length >= 8191) magnitude = (uint64_t)8191 << 50;
    return negative && length > 0 ? (UINT64_C(1) << 63) - magnitude : (UINT64_C(1) << 63) + magnitude;
}

static void set_keys(const cofi_encoder *e, bool integers, cofi_keyed *items, uint32_t n)
{
    bool digits = !integers;
    for (uint32_t v = 0; v < n && digits; v++)
        digits = digits_key(e->text + e->offset[items[v].id], value_length(e, items[v].id), &items[v].key);
    for (uint32_t v = 0; v < n && !digits; v++) {
        const char *text = e->text + e->offset[items[v].id];
        items[v].key = integers ? integer_key(text) : bytes_key(text, value_length(e, items[v].id));
    }
}

static bool comes_first(const cofi_encoder *e, bool integers, cofi_keyed a, cofi_keyed b)
{
    if (a.key != b.key) return a.key < b.key;
    const char *s = e->text + e->offset[a.id], *t = e->text + e->offset[b.id];
    return (integers ? compare_integers(s, t) : strcmp(s, t)) <= 0;
}

/* Bottom-up merge sort, because qsort has no context argument. Only equal texts are equal in this order. */
static void sort_items(const cofi_encoder *e, bool integers, cofi_keyed *items, cofi_keyed *spare, size_t n)
{
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t low = 0; low < n; low += 2 * run) {
            size_t middle = low + run < n ? low + run : n, high = middle + run < n ? middle + run : n;
            size_t a = low, b = middle;
            for (size_t to = low; to < high; to++) {
                bool left = b >= high || (a < middle && comes_first(e, integers, items[a], items[b]));
                spare[to] = left ? items[a++] : items[b++];
            }
        }
        memcpy(items, spare, n * sizeof *items);
    }
}

/* Sorts by keys, which nearly always suffice, and then the values with equal keys by their texts. The result is in
 * `items`. `count` is as cofi_sort_keys needs it; NULL: there are few values. */
static void sort_values(const cofi_encoder *e, bool integers, cofi_keyed *items, cofi_keyed *spare, size_t n,
                        uint32_t *count)
{
    if (count == NULL) {
        sort_items(e, integers, items, spare, n);
        return;
    }
    if (cofi_sort_keys(items, spare, n, count) != items) memcpy(items, spare, n * sizeof *items);
    for (size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && items[end].key == items[begin].key;) end++;
        if (end - begin > 1) sort_items(e, integers, items + begin, spare + begin, end - begin);
    }
}

/* On entry, rank[id] is nonzero for values that some row holds; on return it is their place, UINT32_MAX
 * for other values. `items` gets the ids in that order. Returns their number. */
static uint32_t rank_values(const cofi_encoder *e, cofi_order order, cofi_keyed *items, cofi_keyed *spare,
                            uint32_t *count, uint32_t *rank)
{
    bool integers = true;
    uint32_t n = 0;
    for (uint32_t id = 0; id < e->n_values; id++) {
        if (rank[id] == 0) continue;
        items[n++].id = id;
        integers = integers && is_integer(e->text + e->offset[id]);
    }
    if (order == COFI_ORDER_SORTED) {
        set_keys(e, integers, items, n);
        sort_values(e, integers, items, spare, n, count);
    }
    memset(rank, 0xFF, e->n_values * sizeof *rank);
    uint32_t n_distinct = 0;
    for (uint32_t v = 0; v < n; v++) {
        bool same =
            n_distinct > 0 && order == COFI_ORDER_SORTED && items[n_distinct - 1].key == items[v].key &&
            strcmp(e->text + e->offset[items[n_distinct - 1].id], e->text + e->offset[items[v].id]) == 0;
        if (!same) items[n_distinct++] = items[v];
        rank[items[v].id] = n_distinct - 1;
    }
    return n_distinct;
}

static cof_status lay_out_texts(const cofi_encoder *e, const cofi_keyed *items, uint32_t n, cofi_column *out)
{
    size_t n_text = 0;
    for (uint32_t v = 0; v < n; v++) n_text += value_length(e, items[v].id) + 1;
    out->offset = cofi_alloc(&e->env, n, sizeof *out->offset);
    out->text = cofi_alloc(&e->env, n_text, 1);
    if (out->offset == NULL || out->text == NULL) return COF_ERR_MEMORY;
    size_t at = 0;
    for (uint32_t v = 0; v < n; v++) {
        size_t n_bytes = value_length(e, items[v].id) + 1;
        out->offset[v] = at;
        memcpy(out->text + at, e->text + e->offset[items[v].id], n_bytes);
        at += n_bytes;
    }
    return COF_OK;
}

/* The column without values, after a failure. */
static cof_status drop_values(const cofi_encoder *e, cofi_column *out)
{
    COFI_RELEASE_ALL(&e->env, out->offset, out->text, out->missing_text);
    out->offset = NULL;
    out->text = out->missing_text = NULL;
    return COF_ERR_MEMORY;
}

/* Finishes the dictionary; `rank` as in rank_values. On failure the column is unchanged. */
static cof_status finish_values(cofi_encoder *e, cofi_order order, uint32_t *rank, cofi_column *out)
{
    enum { MANY = 4096 }; /* counting digits is worth it */
    cofi_blocks blocks = {.env = e->env};
    cofi_keyed *items = cofi_blocks_add(&blocks, e->n_values, sizeof *items);
    cofi_keyed *spare = cofi_blocks_add(&blocks, e->n_values, sizeof *spare);
    uint32_t *count = e->n_values >= MANY ? cofi_blocks_add(&blocks, COFI_KEY_COUNTS, sizeof *count) : NULL;
    if (e->missing_text == NULL) e->missing_text = cofi_copy_text(&e->env, "", 0);
    cof_status status = e->missing_text == NULL ? COF_ERR_MEMORY : cofi_blocks_status(&blocks, NULL);
    if (status == COF_OK) {
        out->n_values = rank_values(e, order, items, spare, count, rank);
        status = lay_out_texts(e, items, out->n_values, out);
    }
    cofi_blocks_release(&blocks);
    if (status != COF_OK) return drop_values(e, out);
    out->missing_text = e->missing_text;
    e->missing_text = NULL;
    return COF_OK;
}

cof_status cofi_encoder_finish(cofi_encoder *e, cofi_order order, cofi_column *out)
{
    uint32_t *rank = cofi_alloc_zero(&e->env, e->n_values, sizeof *rank);
    if (rank == NULL) return COF_ERR_MEMORY;
    for (size_t i = 0; i < e->n_rows; i++) {
        uint32_t cell = cofi_code_at(e->cells, e->width, i);
        if (cell != 0) rank[cell - 1] = 1;
    }
    cof_status status = finish_values(e, order, rank, out);
    if (status == COF_OK) {
        out->width = cofi_code_width(out->n_values);
        out->codes = cofi_alloc_column(&e->env, out->number, e->n_rows, out->width, &out->block);
        if (out->codes == NULL) status = drop_values(e, out);
    }
    for (size_t i = 0; status == COF_OK && i < e->n_rows; i++) {
        uint32_t cell = cofi_code_at(e->cells, e->width, i);
        cofi_code_set(out->codes, out->width, i, cell == 0 ? out->n_values : rank[cell - 1]);
    }
    cofi_release(&e->env, rank);
    if (status != COF_OK) return status;
    out->n_missing = e->n_missing;
    cofi_encoder_free(e);
    return COF_OK;
}

cof_status cofi_encoder_finish_values(cofi_encoder *e, uint32_t *rank, cofi_column *out)
{
    for (uint32_t id = 0; id < e->n_values; id++) rank[id] = 1;
    return finish_values(e, COFI_ORDER_SORTED, rank, out);
}

cof_status cofi_encoder_finish_some(cofi_encoder *e, uint32_t *rank, cofi_column *out)
{
    return finish_values(e, COFI_ORDER_SORTED, rank, out);
}

cof_status cofi_table_from_encoders(const cof_env *env, cofi_encoder *encoder, size_t n_columns,
                                    const char *const *names, cofi_order order, cof_table **out,
                                    cof_error *err)
{
    cof_table *table;
    COFI_TRY(cofi_table_new(env, n_columns, &table, err));
    table->n_rows = n_columns > 0 ? encoder[0].n_rows : 0;
    for (size_t c = 0; c < n_columns; c++) {
        cofi_column *column = &table->column[c];
        column->name = cofi_copy_text(env, names[c], strlen(names[c]));
        if (column->name == NULL || cofi_encoder_finish(&encoder[c], order, column) != COF_OK) {
            cof_table_free(table);
            return cofi_no_memory(err);
        }
    }
    *out = table;
    return COF_OK;
}
