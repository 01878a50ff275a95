/* Turns cells into value ids: one dictionary per column, ids in value order (numeric, otherwise by bytes). */
#pragma once

#include "table.h"

#define COFI_ID_MISSING UINT32_MAX

/* Builds one column. Until it is finished, ids are in order of first appearance and cells hold id + 1 (0
 * is missing) in the narrowest width that fits; finishing renumbers them in value order. */
typedef struct cofi_encoder {
    cof_env env;
    void *cells;
    uint8_t width;
    size_t n_rows, capacity;
    uint32_t n_values;
    size_t *offset;
    uint32_t offset_capacity;
    char *text;
    size_t n_text, text_capacity;
    uint32_t *slot;   /* open addressing: id + 1, or 0 */
    uint64_t *key;    /* key of every value, so that growing reads no text: see key_of */
    size_t n_slots;   /* power of two */
    uint64_t n_asked; /* texts that were interned */
    uint64_t n_missing;
    char *missing_text;
    /* The same text may get several ids, which finishing in sorted order makes one: set it before the first text. */
    bool may_repeat;
    bool loose; /* only recent texts are looked for: see reconsider */
} cofi_encoder;

void cofi_encoder_init(cofi_encoder *e, const cof_env *env); /* allocates nothing */
/* The id of a text, which is added if it is new (with may_repeat: or was not seen for long). Texts have no NUL byte. COF_ERR_MEMORY, or COF_ERR_DATA
 * beyond 2^32 - 3 values. */
cof_status cofi_encoder_intern(cofi_encoder *e, const char *text, size_t n_bytes, uint32_t *id);
/* adds a row; id may be COFI_ID_MISSING */
cof_status cofi_encoder_append(cofi_encoder *e, uint32_t id);
/* Adds n rows: cells are ids plus one, 0 for missing. */
cof_status cofi_encoder_append_cells(cofi_encoder *e, const uint8_t *cells, size_t n);
/* Interns the text and adds a row. */
cof_status cofi_encoder_put(cofi_encoder *e, const char *text, size_t n_bytes);
/* Adds a missing row; the text of the first one is kept for display. */
cof_status cofi_encoder_put_missing(cofi_encoder *e, const char *text, size_t n_bytes);

/* The order in which finishing numbers the values. */
typedef enum cofi_order { COFI_ORDER_SORTED, COFI_ORDER_AS_INTERNED } cofi_order;

/* Moves the column out; the encoder is empty afterwards. Values that no row holds are dropped. The
 * column's name is not changed. On failure the encoder must still be freed. */
cof_status cofi_encoder_finish(cofi_encoder *e, cofi_order order, cofi_column *out);
/* For cells stored elsewhere: the column gets its sorted dictionary and missing text but no codes;
 * rank[id] becomes the final id of every value. Every value must occur in some row. */
cof_status cofi_encoder_finish_values(cofi_encoder *e, uint32_t *rank, cofi_column *out);
/* The same without the values for which rank[id] is 0 on entry; it is UINT32_MAX on return. */
cof_status cofi_encoder_finish_some(cofi_encoder *e, uint32_t *rank, cofi_column *out);
void cofi_encoder_free(cofi_encoder *e);

/* Makes all columns of a table from their encoders, each with n_rows rows. The names are copied. */
cof_status cofi_table_from_encoders(const cof_env *env, cofi_encoder *encoder, size_t n_columns,
                                    const char *const *names, cofi_order order, cof_table **out,
                                    cof_error *err);

/* A text of up to eight bytes as a number. Different texts give different numbers, because no text has a NUL byte. Always
 * reads eight bytes. */
static inline uint64_t cofi_word_of(const char *text, size_t n)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return word >> (32 - 4 * n) >> (32 - 4 * n);
#else
    return word << (32 - 4 * n) << (32 - 4 * n);
#endif
}

/* Its place in a cache of 32. The multiplier ends in 9, so that the 26 letters, and the ten digits, get different places. */
static inline size_t cofi_place_of(uint64_t word)
{
    return (size_t)(word * UINT64_C(0x9E3779B97F4A7C09) >> 59);
}
