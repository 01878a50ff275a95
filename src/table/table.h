/* The cof_table handle: columns of value ids, each with its dictionary. */
#pragma once

#include "../core/bytes.h"
#include "../core/shape.h"
#include "cut.h"

/* A column: its domain, which is its name, role, order, values and cut, and in a table the codes of its rows. Schemas,
 * encoded tables and models have domains without codes. */
typedef struct cofi_column {
    char *name;
    void *codes;   /* n_rows ids of `width` bytes each; the id n_values means missing */
    void *block;   /* the allocated block that holds them */
    size_t number; /* number of the column in its table */
    uint8_t width; /* 1, 2 or 4 */
    uint32_t n_values;
    uint64_t n_missing;
    size_t *offset; /* value v is the NUL-terminated text + offset[v]; n_values entries */
    char *text;
    char *missing_text; /* text of the first missing cell, "" if it was empty; never NULL */
    int32_t role;       /* cof_role */
    int32_t ordinal;
    struct cofi_known
        *known;    /* what cofi_recognise finds in these values; NULL: found when it is asked for */
    cofi_cut *cut; /* the values are bins with these edges; NULL: the values are as read */
    struct cofi_column *uncut; /* the column before the cut, which has the same name; NULL if `cut` is */
    double *point; /* in a column before its cut: per value id its point, NaN for the missing one */
    /* In a schema, whose rows are elsewhere: how many rows hold each value and, at the end, none; and the first row without
     * one. NULL in other tables. */
    uint64_t *rows_of;
    uint64_t first_missing;
} cofi_column;
#define COFI_NO_ROW UINT64_MAX /* first_missing of a column without missing cells */

struct cof_table {
    cof_env env;
    size_t n_rows, n_columns;
    cofi_column *column;
    const struct cofi_remote *remote; /* who has the rows; NULL: this table */
    uint32_t tidying;                 /* COF_TIDY_...: values of a model are found by such spellings too */
    void *file;                       /* the encoded table whose codes the columns use; NULL: none */
    size_t n_mapped;                  /* bytes of `file`; 0: it was allocated */
    bool streamed;                    /* `file` is mapped, and large for this machine's memory */
    /* Of a sample: per row its number in the whole table, and the rows of that. NULL: this is the whole. A sample owns only
     * this array and the blocks of its columns. */
    uint64_t *row_number;
    uint64_t n_all_rows;
};

/* Row numbers have 32 bits in a fit, and two of them have a special meaning. Tables with more rows are
 * refused, so that endless input ends before memory is full. */
#define COFI_MOST_ROWS    ((size_t)UINT32_MAX - 2)
#define COFI_MOST_COLUMNS (((size_t)1 << 20) - 1) /* limit of a fit */
enum { COFI_PIECE_ROWS = 1 << 16 };               /* most rows of a piece of a table that is read in pieces */
cof_status cofi_too_many_rows(cof_error *err);

/* Releases codes, values and cut of a column, but not its name. */
void cofi_column_free_values(const cof_env *env, cofi_column *c);
void cofi_columns_free(cof_table *table); /* releases all but the struct itself */
/* Rows first..first+n-1 as a table that owns nothing but its columns; close it before the whole. A column has all values
 * and n_missing of the whole. */
cof_status cofi_table_view(const cof_table *whole, size_t first, size_t n, cof_table *view, cof_error *err);
void cofi_table_view_close(cof_table *view);
/* Looks for a name that occurs twice among n names; the first lies at `name`, the others every `step` bytes. *second is the
 * later place and *first the earlier one; *second == n: there is none. COF_ERR_MEMORY. */
cof_status cofi_names_repeated(const cof_env *env, char *const *name, size_t step, size_t n, size_t *first,
                               size_t *second);
/* A table whose columns have all members zero. */
cof_status cofi_table_new(const cof_env *env, size_t n_columns, cof_table **out, cof_error *err);

static inline uint8_t cofi_code_width(uint32_t largest)
{
    return largest <= UINT8_MAX ? 1 : largest <= UINT16_MAX ? 2 : 4;
}

static inline uint32_t cofi_code_at(const void *codes, uint8_t width, size_t row)
{
    if (width == 1) return ((const uint8_t *)codes)[row];
    if (width == 2) return ((const uint16_t *)codes)[row];
    return ((const uint32_t *)codes)[row];
}

static inline void cofi_code_set(void *codes, uint8_t width, size_t row, uint32_t code)
{
    if (width == 1)
        ((uint8_t *)codes)[row] = (uint8_t)code;
    else if (width == 2)
        ((uint16_t *)codes)[row] = (uint16_t)code;
    else
        ((uint32_t *)codes)[row] = code;
}

static inline uint32_t cofi_column_code(const cofi_column *c, size_t row)
{
    return cofi_code_at(c->codes, c->width, row);
}

const cofi_column *cofi_table_weight_column(const cof_table *table); /* NULL: rows weigh 1 each */
/* The values of the weight column as numbers. */
cof_status cofi_weights_parse(const cofi_column *column, double *value, cof_error *err);

/* The column as it was read, whether it is cut or not; `point` is NULL if it is not cut. */
static inline const cofi_column *cofi_column_as_read(const cofi_column *c)
{
    return c->uncut != NULL ? c->uncut : c;
}
/* cof_table_cut at edges that are numbers, ascending, at least one value between any two of them. */
cof_status cofi_table_cut_at(cof_table *table, size_t column, const double *edge, uint32_t n_edges,
                             cof_error *err);
/* Undoes cof_table_cut; has no effect if the column is not cut. */
void cofi_column_uncut(const cof_env *env, cofi_column *c);

/* The text of a value id for display; the missing id gives missing_text. */
const char *cofi_column_text(const cofi_column *c, uint32_t value);
/* The text of a row's cell as it was read, whether the column is cut or not. */
const char *cofi_column_cell(const cofi_column *c, size_t row);

/* ---- Domains (domain.c) ---------------------------------------------------------------------------- */

/* Copies name, order, values, text for missing and cut into the blocks, which tell whether memory was short. */
void cofi_domain_copy(cofi_blocks *own, const cofi_column *from, cofi_column *to);

/* The n texts of a column, with the number of rows that hold each if `counted`; the one after the last value is that of
 * missing. */
void cofi_code_values(cofi_codec *codec, cofi_column *column, uint32_t n, bool counted);

/* Finds the values of one column among those of another: value[v] becomes `known`'s number of value v of `other`,
 * known->n_values if that is missing there, COFI_NONE if there is no such value. Where `known` is cut, texts are read as
 * points. Else they must be equal, or be equal after this tidying (COF_TIDY_...), or with COFI_MATCH_TRUTHS both mean yes or
 * both no, if yes and no are all that is known. The value after the last is missing. COF_ERR_MEMORY. */
#define COFI_MATCH_TRUTHS (UINT32_C(1) << 31)
cof_status cofi_domain_match(const cof_env *env, const cofi_column *known, const cofi_column *other,
                             uint32_t tidying, uint32_t *value);
