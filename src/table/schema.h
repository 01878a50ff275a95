/* A schema: what a table holds apart from its rows. */
#pragma once

#include "../core/bytes.h"
#include "coforest_shard.h"
#include "encode.h"
#include "table.h"

struct cof_schema {
    cof_table table; /* columns with dictionaries and rows_of; it has no rows */
    uint64_t n_rows;
};

#define COFI_NO_ROW UINT64_MAX /* first_missing of a column without missing cells */
/* A schema without rows; the columns have no names yet. */
cof_status cofi_schema_new(const cof_env *env, size_t n_columns, cof_schema **out, cof_error *err);

/* The values of a column in order of first appearance, with their rows, until they are all there. Begin with
 * cofi_encoder_init of `names` and the other members zero. */
typedef struct cofi_gathering {
    cofi_encoder names;
    uint64_t *rows;
    size_t room;
} cofi_gathering;

/* Adds rows that hold the text; false: no memory, or too many values. id: its number in this order; may be NULL. */
bool cofi_gather(cofi_gathering *gathering, const char *text, uint64_t rows, uint32_t *id);
/* Sorts the values and moves them into the column. Returns the place of every id, which the caller releases; NULL: no
 * memory. */
uint32_t *cofi_gathering_finish(cofi_gathering *gathering, cofi_column *to);
void cofi_gathering_free(cofi_gathering *gathering);

void cofi_schema_put(cofi_writer *writer, const cof_schema *schema); /* the bytes of cof_schema_write */
/* A view of the schema as the whole table, whose rows are elsewhere. It owns nothing. */
cof_table cofi_schema_whole(const cof_schema *schema);
