/* Little-endian bytes, written to and read from memory, with a checksum. */
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
void cofi_put_u8(cofi_writer *w, uint8_t x);
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
uint8_t cofi_get_u8(cofi_reader *r);
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
