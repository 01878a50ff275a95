/* Little-endian bytes, written to and read from memory, and described once for both directions; checksums. */
#pragma once

#include "env.h"

/* A buffer that grows. After a failed allocation `failed` stays set and further writes do nothing, so it
 * is enough to check once at the end. */
typedef struct cofi_writer {
    cof_env env;
    unsigned char *bytes;
    size_t n, capacity;
    bool failed;
} cofi_writer;

void cofi_put_bytes(cofi_writer *w, const void *bytes, size_t n);
void cofi_put_u32(cofi_writer *w, uint32_t x);
void cofi_put_u64(cofi_writer *w, uint64_t x);
void cofi_put_f64(cofi_writer *w, double x);          /* IEEE 754 binary64 */
void cofi_put_text(cofi_writer *w, const char *text); /* u32 length, then the bytes */
/* Reserves a length that is known later; returns the position for cofi_fill_u64. */
size_t cofi_put_hole(cofi_writer *w);
void cofi_fill_u64(cofi_writer *w, size_t at, uint64_t x);

/* Passes everything to the sink and releases the buffer; `what` is for messages: "the model". Without bytes the
 * sink is not called. */
cof_status cofi_writer_send(cofi_writer *w, cof_sink sink, void *ctx, const char *what, cof_error *err);

/* Reading past the end gives zeros and sets `failed`. */
typedef struct cofi_reader {
    const unsigned char *bytes;
    size_t n, at;
    bool failed;
} cofi_reader;

const unsigned char *cofi_get_bytes(cofi_reader *r, size_t n); /* NULL past the end */
uint32_t cofi_get_u32(cofi_reader *r);
uint64_t cofi_get_u64(cofi_reader *r);
double cofi_get_f64(cofi_reader *r);
/* A text as cofi_put_text writes it, which must be UTF-8 without a NUL; NULL if there is none. It is not terminated. */
const char *cofi_get_text(cofi_reader *r, uint32_t *n_bytes);

/* n words of 64 bits, which may be integers or doubles. */
void cofi_put_words(cofi_writer *w, const void *words, size_t n);
void cofi_get_words(cofi_reader *r, void *words, size_t n);

static inline uint64_t cofi_word_at(const unsigned char *b)
{
    uint64_t word = 0;
    for (int i = 8; i-- > 0;) word = word << 8 | b[i];
    return word;
}

uint64_t cofi_checksum(const void *bytes, size_t n); /* fast; it finds damage, not malice */
uint32_t cofi_crc32(const void *bytes, size_t n);    /* the CRC-32 of gzip and PNG */

/* ---- Both directions ----------------------------------------------------------------------------------- */

/* Bytes described once for both directions: the same function writes a part of a file or of a request, and reads it.
 *
 *     static void code_point(cofi_codec *c, point *p)
 *     {
 *         COFI_CODE(c, &p->id);
 *         COFI_CODE(c, &p->n);
 *         cofi_code_check(c, p->n <= cofi_code_left(c) / 8, "a point is cut short");
 *         cofi_code_array(c, &p->x, p->n);
 *     }
 *
 *     cofi_codec write = {.to = &writer};
 *     code_point(&write, &point);
 *     if (cofi_codec_status(&write) != COF_OK) ...
 *
 *     cofi_codec read = {.from = {.bytes = bytes, .n = n_bytes}, .own = &blocks};
 *     code_point(&read, &point);
 *     if (cofi_codec_status(&read) != COF_OK) ...
 *
 * The bytes that are read are not trusted. The first failure is kept, and from then on members are read as zeros and
 * nothing more is allocated, so one look at the status after many members is enough. A loop over members must not
 * run longer than the bytes allow, and no array may be used after a failure: check before both. */
typedef struct cofi_codec {
    cofi_writer *to;  /* NULL: members are read */
    cofi_reader from; /* the bytes to read */
    /* Texts and arrays that are read become some of these blocks, or if it is NULL, blocks of env by themselves. */
    cofi_blocks *own;
    const cof_env *env;
    const char *wrong; /* what the first check that failed says; NULL: none failed */
    bool short_of_memory;
} cofi_codec;

/* Codes a member, given by its address, in as many bytes as its type has; a bool takes one byte. A size_t has no fixed
 * size: use a uint64_t. */
#define COFI_CODE(codec, member)                                                                             \
    _Generic((member),                                                                                       \
        bool *: cofi_code_flag,                                                                              \
        uint8_t *: cofi_code_8,                                                                              \
        char *: cofi_code_8,                                                                                 \
        uint32_t *: cofi_code_32,                                                                            \
        int32_t *: cofi_code_32,                                                                             \
        uint64_t *: cofi_code_64,                                                                            \
        int64_t *: cofi_code_64,                                                                             \
        double *: cofi_code_64)(codec, member)
void cofi_code_flag(cofi_codec *codec, void *member);
void cofi_code_8(cofi_codec *codec, void *member);
void cofi_code_32(cofi_codec *codec, void *member);
void cofi_code_64(cofi_codec *codec, void *member);

/* u32 length and UTF-8 without a NUL. What is read ends with a NUL and is never NULL unless reading failed. */
void cofi_code_text(cofi_codec *codec, char **text);
/* n words of 64 bits, integers or doubles, at `words`. */
void cofi_code_words(cofi_codec *codec, void *words, uint64_t n);
/* The same for an array that is allocated when it is read; `array` is the address of a pointer to 64-bit numbers. */
void cofi_code_array(cofi_codec *codec, void *array, uint64_t n);
/* The bytes at the beginning of every file of a kind. */
void cofi_code_magic(cofi_codec *codec, const char *magic);

/* Makes room for n zeroed elements that are about to be read; `array` is the address of any pointer. Writing leaves it
 * alone. Returns whether the elements may be used. */
bool cofi_code_room(cofi_codec *codec, void *array, uint64_t n, size_t size);
/* When reading, fails unless `good`; what is written is not checked. Returns whether nothing has failed so far. */
bool cofi_code_check(cofi_codec *codec, bool good, const char *wrong);
/* Bytes that are still to be read; UINT64_MAX when writing. */
uint64_t cofi_code_left(const cofi_codec *codec);

/* COF_OK, COF_ERR_MEMORY, or COF_ERR_DATA: the bytes end too early or a check failed; `wrong` says which one. */
cof_status cofi_codec_status(const cofi_codec *codec);
