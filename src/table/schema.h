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

/* A schema without rows; the columns have no names yet. */
cof_status cofi_schema_new(const cof_env *env, size_t n_columns, cof_schema **out, cof_error *err);

/* Refuses parts of one table whose columns have different names. */
cof_status cofi_check_same_columns(const cof_table *a, const cof_table *b, cof_error *err);

/* A domain that grows by those of parts. Begin with cofi_gathering_init. */
typedef struct cofi_gathering {
    cofi_encoder names;
    uint64_t *rows; /* per value in order of first appearance: the rows that hold it */
    uint32_t *rank; /* and its place in the order of values, once the domain is finished */
    size_t room;
    uint64_t n_missing, first_missing;
} cofi_gathering;

void cofi_gathering_init(cofi_gathering *gathering, const cof_env *env);
/* Adds the values that some row of a part holds. part: a column with codes of n_rows rows, of which the first has this
 * number. id: receives the number of each value in order of first appearance; may be NULL. False: no memory, or too many
 * values. */
bool cofi_gather_rows(cofi_gathering *gathering, const cofi_column *part, size_t n_rows, uint64_t first_row,
                      uint32_t *id);
/* Sorts the values and moves them into the column. False: no memory. */
bool cofi_gathering_finish(cofi_gathering *gathering, cofi_column *to);
void cofi_gathering_free(cofi_gathering *gathering);

void cofi_schema_put(cofi_writer *writer, const cof_schema *schema); /* the bytes of cof_schema_write */
/* A view of the schema as the whole table, whose rows are elsewhere. It owns nothing. */
cof_table cofi_schema_whole(const cof_schema *schema);
