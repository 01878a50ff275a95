/* Access to one column of an Arrow array: whether an element is missing, its number or its text.
 *
 * The producer's buffers are trusted to be as long as the array's offset and length require; everything
 * else is checked. Buffers need not be aligned. */
#pragma once

#include "../../core/env.h"
#include "../reading.h"

typedef enum cofi_leaf_kind {
    COFI_LEAF_OTHER, /* a type that cannot be a category */
    COFI_LEAF_NULLS,
    COFI_LEAF_BOOLEAN,
    COFI_LEAF_SIGNED,
    COFI_LEAF_UNSIGNED,
    COFI_LEAF_FLOAT,
    COFI_LEAF_DATE, /* days, or fractions of a second, since 1970 */
    COFI_LEAF_TIME, /* fractions of a second since midnight */
    COFI_LEAF_TEXT,
    COFI_LEAF_VIEW
} cofi_leaf_kind;

typedef struct cofi_leaf_type {
    cofi_leaf_kind kind;
    uint8_t width; /* bytes of a number, or of the offset of a text */
    int64_t parts; /* of a date or time: units per second; 0: the unit is a day */
} cofi_leaf_type;

/* The part of an array that is read: element 0 here is element `first` of the buffers. */
typedef struct cofi_leaf {
    cofi_leaf_type type;
    int64_t first, length;
    const uint8_t *validity; /* one bit per element; NULL: none is missing */
    const uint8_t *values;   /* bits, integers, offsets or views */
    const char *text;
    const void *const *view_text; /* data buffers of views */
    const uint8_t *view_sizes;    /* size of each of these in bytes, int64 */
    int64_t n_view_text;
} cofi_leaf;

enum { COFI_LEAF_SCRATCH = COFI_POINT_BYTES }; /* size that suffices for any number or date */

cofi_leaf_type cofi_leaf_type_of(const char *format);
/* description of a type that cannot be a category */
const char *cofi_leaf_describe(const char *format);

/* Checks what holds for every array, whatever its type. Returns NULL if it is valid, otherwise the end of
 * a sentence that begins with the array's name; so do the functions below. */
const char *cofi_arrow_array_problem(const struct ArrowArray *array);

/* Elements skip .. skip + length - 1 of a checked array, counted from its offset. */
const char *cofi_leaf_open(cofi_leaf *leaf, cofi_leaf_type type, const struct ArrowArray *array, int64_t skip,
                           int64_t length);

static inline bool cofi_arrow_bit(const uint8_t *bits, int64_t i)
{
    return bits[i / 8] >> (i % 8) & 1;
}

/* NaN counts as missing. */
bool cofi_leaf_is_missing(const cofi_leaf *leaf, int64_t i);

/* The number of a boolean (0, 1) or an integer (negative ones in two's complement), or the bits of a
 * double. */
uint64_t cofi_leaf_number(const cofi_leaf *leaf, int64_t i);
/* The text of element i, which must not be missing: a pointer into the array, or into `scratch`. It is
 * valid UTF-8 without NUL bytes. */
const char *cofi_leaf_text(const cofi_leaf *leaf, int64_t i, char scratch[COFI_LEAF_SCRATCH],
                           const char **text, size_t *n_bytes);
/* The same for a number that cofi_leaf_number returned. */
size_t cofi_leaf_write_number(cofi_leaf_type type, uint64_t number, char scratch[COFI_LEAF_SCRATCH]);
