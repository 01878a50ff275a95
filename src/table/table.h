/* The cof_table handle: columns of value ids, each with its dictionary. */
#ifndef COFI_TABLE_H
#define COFI_TABLE_H

#include "../core/env.h"
#include "cut.h"

typedef struct cofi_column {
    char *name;
    void *codes;   /* n_rows ids, `width` bytes each; n_values stands for missing */
    void *block;   /* that holds them */
    size_t number; /* in its table */
    uint8_t width; /* 1, 2 or 4 */
    uint32_t n_values;
    uint64_t n_missing;
    size_t *offset; /* value v is the NUL-terminated text + offset[v]; n_values entries */
    char *text;
    char *missing_text; /* what stood in the first missing cell, "" if nothing did; never NULL */
    int32_t role;       /* cof_role */
    int32_t ordinal;
    cofi_cut *cut;     /* NULL: the values are as they were read; else they are bins, */
    cofi_uncut *uncut; /* and this is what was cut */
} cofi_column;

struct cof_table {
    cof_env env;
    size_t n_rows, n_columns;
    cofi_column *column;
};

/* Row numbers have 32 bits in a fit, two of them with a meaning of their own. No table is made with more rows, so that
 * what never ends is refused before the memory is full. */
#define COFI_MOST_ROWS    ((size_t)UINT32_MAX - 2)
#define COFI_MOST_COLUMNS (((size_t)1 << 20) - 1) /* that can be clustered */
cof_status cofi_too_many_rows(cof_error *err);

/* An empty table: all members of all columns zero. */
cof_status cofi_table_new(const cof_env *env, size_t n_columns, cof_table **out, cof_error *err);

static inline uint32_t cofi_code_at(const void *codes, uint8_t width, size_t row)
{
    if (width == 1) return ((const uint8_t *)codes)[row];
    if (width == 2) return ((const uint16_t *)codes)[row];
    return ((const uint32_t *)codes)[row];
}

static inline uint32_t cofi_column_code(const cofi_column *c, size_t row)
{
    return cofi_code_at(c->codes, c->width, row);
}

/* The column as it was read, whether it was cut or not; `point` is NULL where it was not. Lent. */
cofi_uncut cofi_column_as_read(const cofi_column *c);
/* Undoes cof_table_cut; fine where nothing was cut. */
void cofi_column_uncut(const cof_env *env, cofi_column *c);

/* Text of a value id as it should be shown; the missing id gives missing_text. */
const char *cofi_column_text(const cofi_column *c, uint32_t value);
/* Text of a row's cell as it was read, whether the column was cut or not. */
const char *cofi_column_cell(const cofi_column *c, size_t row);

#endif
