/* Bytes in little-endian order on every machine. */
#include "bytes.h"

#include "rng.h"
#include "utf8.h"

#include <assert.h>

void cofi_put_bytes(cofi_writer *w, const void *bytes, size_t n)
{
    if (w->failed) return;
    if (w->capacity - w->n < n) {
        size_t capacity = 2 * w->capacity + n + 256;
        unsigned char *grown = cofi_regrow(&w->env, w->bytes, w->n, capacity, 1);
        w->failed = grown == NULL;
        if (w->failed) return;
        w->bytes = grown;
        w->capacity = capacity;
    }
    if (n > 0) memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
}

void cofi_put_u32(cofi_writer *w, uint32_t x)
{
    unsigned char b[4] = {(unsigned char)x, (unsigned char)(x >> 8), (unsigned char)(x >> 16),
                          (unsigned char)(x >> 24)};
    cofi_put_bytes(w, b, sizeof b);
}

void cofi_put_u64(cofi_writer *w, uint64_t x)
{
    cofi_put_u32(w, (uint32_t)x);
    cofi_put_u32(w, (uint32_t)(x >> 32));
}

void cofi_put_f64(cofi_writer *w, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    cofi_put_u64(w, bits);
}

void cofi_put_text(cofi_writer *w, const char *text)
{
    size_t n = strlen(text);
    cofi_put_u32(w, (uint32_t)n);
    cofi_put_bytes(w, text, n);
}

size_t cofi_put_hole(cofi_writer *w)
{
    size_t at = w->n;
    cofi_put_u64(w, 0);
    return at;
}

void cofi_fill_u64(cofi_writer *w, size_t at, uint64_t x)
{
    if (w->failed) return;
    assert(at + 8 <= w->n);
    for (int i = 0; i < 8; i++) w->bytes[at + (size_t)i] = (unsigned char)(x >> (8 * i));
}

cof_status cofi_writer_send(cofi_writer *w, cof_sink sink, void *ctx, const char *what, cof_error *err)
{
    cof_status status = w->failed ? cofi_no_memory(err) : COF_OK;
    if (status == COF_OK && w->n > 0 && sink(ctx, (const char *)w->bytes, w->n) != 0)
        status = cofi_fail(err, COF_ERR_IO, "%s could not be written: its receiver refused the bytes", what);
    cofi_release(&w->env, w->bytes);
    return status;
}

const unsigned char *cofi_get_bytes(cofi_reader *r, size_t n)
{
    if (r->failed || r->n - r->at < n) {
        r->failed = true;
        return NULL;
    }
    const unsigned char *here = r->bytes + r->at;
    r->at += n;
    return here;
}

uint32_t cofi_get_u32(cofi_reader *r)
{
    const unsigned char *b = cofi_get_bytes(r, 4);
    return b != NULL ? (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24 : 0;
}

uint64_t cofi_get_u64(cofi_reader *r)
{
    uint64_t low = cofi_get_u32(r), high = cofi_get_u32(r);
    return low | high << 32;
}

double cofi_get_f64(cofi_reader *r)
{
    uint64_t bits = cofi_get_u64(r);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

const char *cofi_get_text(cofi_reader *r, uint32_t *n_bytes)
{
    *n_bytes = cofi_get_u32(r);
    const char *text = (const char *)cofi_get_bytes(r, *n_bytes);
    r->failed |= text == NULL || memchr(text, '\0', *n_bytes) != NULL || !cofi_utf8_valid(text, *n_bytes);
    return r->failed ? NULL : text;
}

uint32_t cofi_crc32(const void *bytes, size_t n)
{
    uint32_t table[256], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t x = i;
        for (int bit = 0; bit < 8; bit++) x = x & 1 ? 0xEDB88320u ^ (x >> 1) : x >> 1;
        table[i] = x;
    }
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n; i++) crc = table[(crc ^ b[i]) & 0xFF] ^ (crc >> 8);
    return ~crc;
}

/* Four words are mixed side by side, because one chain would wait for each multiplication. */
uint64_t cofi_checksum(const void *bytes, size_t n)
{
    enum { CHAINS = 4 };
    const unsigned char *b = bytes;
    uint64_t chain[CHAINS] = {n, 1, 2, 3}, sum = 0;
    for (size_t at = 0; at < n; at += 8 * CHAINS) {
        unsigned char room[8 * CHAINS] = {0};
        const unsigned char *here = b + at;
        if (n - at < sizeof room) {
            memcpy(room, here, n - at);
            here = room;
        }
        for (size_t c = 0; c < CHAINS; c++) {
            uint64_t word = cofi_word_at(here + 8 * c) ^ chain[c];
            chain[c] = (word << 29 | word >> 35) * 0x9e3779b97f4a7c15u;
        }
    }
    for (size_t c = 0; c < CHAINS; c++) sum = cofi_mix64(sum ^ chain[c]);
    return sum;
}

void cofi_put_words(cofi_writer *w, const void *words, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    cofi_put_bytes(w, words, n * sizeof(uint64_t));
#else
    for (size_t i = 0; i < n; i++) {
        uint64_t word;
        memcpy(&word, (const char *)words + i * sizeof word, sizeof word);
        cofi_put_u64(w, word);
    }
#endif
}

void cofi_get_words(cofi_reader *r, void *words, size_t n)
{
    const unsigned char *from =
        n <= SIZE_MAX / sizeof(uint64_t) ? cofi_get_bytes(r, n * sizeof(uint64_t)) : NULL;
    if (from == NULL) {
        r->failed = true;
        return;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (n > 0) memcpy(words, from, n * sizeof(uint64_t));
#else
    for (size_t i = 0; i < n; i++) {
        uint64_t word = cofi_word_at(from + 8 * i);
        memcpy((char *)words + i * sizeof word, &word, sizeof word);
    }
#endif
}

/* ---- Both directions ----------------------------------------------------------------------------------- */

void cofi_code_8(cofi_codec *c, void *member)
{
    if (c->to != NULL) {
        cofi_put_bytes(c->to, member, 1);
        return;
    }
    const unsigned char *byte = cofi_get_bytes(&c->from, 1);
    *(unsigned char *)member = byte != NULL ? *byte : 0;
}

void cofi_code_flag(cofi_codec *c, void *member)
{
    uint8_t set = c->to != NULL && *(const bool *)member;
    cofi_code_8(c, &set);
    if (c->to == NULL) *(bool *)member = set != 0;
}

void cofi_code_32(cofi_codec *c, void *member)
{
    uint32_t word;
    memcpy(&word, member, sizeof word);
    if (c->to != NULL) {
        cofi_put_u32(c->to, word);
        return;
    }
    word = cofi_get_u32(&c->from);
    memcpy(member, &word, sizeof word);
}

void cofi_code_64(cofi_codec *c, void *member)
{
    uint64_t word;
    memcpy(&word, member, sizeof word);
    if (c->to != NULL) {
        cofi_put_u64(c->to, word);
        return;
    }
    word = cofi_get_u64(&c->from);
    memcpy(member, &word, sizeof word);
}

void cofi_code_text(cofi_codec *c, char **text)
{
    uint32_t n = 0;
    if (c->to != NULL) {
        cofi_put_text(c->to, *text);
        return;
    }
    const char *from = cofi_get_text(&c->from, &n);
    *text = NULL;
    if (from != NULL && cofi_code_room(c, text, (uint64_t)n + 1, 1)) memcpy(*text, from, n);
}

void cofi_code_words(cofi_codec *c, void *words, uint64_t n)
{
    if (c->to != NULL)
        cofi_put_words(c->to, words, (size_t)n);
    else if (cofi_code_check(c, n <= cofi_code_left(c) / sizeof n, NULL))
        cofi_get_words(&c->from, words, (size_t)n);
}

void cofi_code_array(cofi_codec *c, void *array, uint64_t n)
{
    void *words;
    cofi_code_check(c, n <= cofi_code_left(c) / sizeof n, NULL);
    if (!cofi_code_room(c, array, n, sizeof n)) return;
    memcpy(&words, array, sizeof words);
    cofi_code_words(c, words, n);
}

void cofi_code_magic(cofi_codec *c, const char *magic)
{
    size_t n = strlen(magic);
    if (c->to != NULL) {
        cofi_put_bytes(c->to, magic, n);
        return;
    }
    const unsigned char *here = cofi_get_bytes(&c->from, n);
    cofi_code_check(c, here != NULL && memcmp(here, magic, n) == 0, NULL);
}

bool cofi_code_room(cofi_codec *c, void *array, uint64_t n, size_t size)
{
    if (c->to != NULL) return true;
    void *block = NULL;
    if (!c->from.failed && n <= SIZE_MAX) {
        block = c->own != NULL ? cofi_blocks_add_zero(c->own, (size_t)n, size)
                               : cofi_alloc_zero(c->env, (size_t)n, size);
        c->short_of_memory = block == NULL;
    }
    memcpy(array, &block, sizeof block);
    c->from.failed |= block == NULL;
    return block != NULL;
}

bool cofi_code_check(cofi_codec *c, bool good, const char *wrong)
{
    if (c->to != NULL || (good && !c->from.failed)) return true;
    if (c->wrong == NULL) c->wrong = wrong;
    c->from.failed = true;
    return false;
}

uint64_t cofi_code_left(const cofi_codec *c)
{
    return c->to != NULL ? UINT64_MAX : c->from.n - c->from.at;
}

cof_status cofi_codec_status(const cofi_codec *c)
{
    if (c->to != NULL) return c->to->failed ? COF_ERR_MEMORY : COF_OK;
    if (c->short_of_memory || (c->own != NULL && c->own->short_of_memory)) return COF_ERR_MEMORY;
    return c->from.failed ? COF_ERR_DATA : COF_OK;
}
