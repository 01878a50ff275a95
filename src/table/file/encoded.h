/* Encoded tables (.cofe): the schema of a table, then its columns as value ids, ready to be mapped into memory.
 *
 * Bytes, little-endian: "COFTABLE", u32 version, u32 rows of a block, u64 rows, u32 columns, u32 0, u64 bytes of the
 * schema, u64 checksum of these 40 bytes; the schema as cof_schema_write writes it; the columns; for every column, for
 * every block of its rows, u64 checksum of the block's codes. Column c begins at the next multiple of 64 after what
 * precedes it; from 65,536 bytes on at the next multiple of 4,096 plus (256 c mod 4,096). Its codes have the least of 1,
 * 2, 4 bytes that hold the number of its values, which is the code of a missing cell. Gaps are zeros.
 * docs/encoded-format.md gives the reasons. */
#pragma once

#include "../schema.h"
#include "input.h"

#define COFI_ENCODED_MAGIC "COFTABLE"
enum {
    COFI_ENCODED_VERSION = 1,
    COFI_ENCODED_BLOCK = 1 << 16, /* rows that share a checksum */
    COFI_ENCODED_HEAD = 48
};

/* What the first bytes say, without their checksum. */
typedef struct cofi_encoded_head {
    uint32_t version, block; /* rows that share a checksum */
    uint64_t n_rows;
    uint32_t n_columns, reserved;
    uint64_t n_schema; /* bytes of the schema */
} cofi_encoded_head;

static inline void cofi_code_encoded_head(cofi_codec *c, cofi_encoded_head *head)
{
    cofi_code_magic(c, COFI_ENCODED_MAGIC);
    COFI_CODE(c, &head->version);
    COFI_CODE(c, &head->block);
    COFI_CODE(c, &head->n_rows);
    COFI_CODE(c, &head->n_columns);
    COFI_CODE(c, &head->reserved);
    COFI_CODE(c, &head->n_schema);
}

/* Where column c of n_bytes bytes begins if what precedes it ends at `end`. */
static inline uint64_t cofi_encoded_place(uint64_t end, size_t c, uint64_t n_bytes)
{
    enum { PAGE = 4096, STEP = 256, LINE = 64, LARGE = 65536 };
    if (n_bytes < LARGE) return (end + LINE - 1) / LINE * LINE;
    return (end + PAGE - 1) / PAGE * PAGE + (uint64_t)c * STEP % PAGE;
}

/* Codes of the file to those of this machine, and back. */
static inline void cofi_encoded_swap(void *codes, uint8_t width, size_t n)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    for (size_t i = 0; width == 2 && i < n; i++)
        ((uint16_t *)codes)[i] = __builtin_bswap16(((uint16_t *)codes)[i]);
    for (size_t i = 0; width == 4 && i < n; i++)
        ((uint32_t *)codes)[i] = __builtin_bswap32(((uint32_t *)codes)[i]);
#else
    (void)codes, (void)width, (void)n;
#endif
}

/* Reads the source if it is an encoded table: maps a file, copies memory. COF_OK with *out NULL: it is something else. */
cof_status cofi_encoded_read(const cof_env *env, const cofi_source *source, const cof_read_options *options,
                             cof_table **out, cof_error *err);
