/* A schema: what a table holds apart from its rows. */
#pragma once

#include "../core/bytes.h"
#include "coforest_shard.h"
#include "table.h"

struct cof_schema {
    cof_table table; /* columns with dictionaries and rows_of; it has no rows */
    uint64_t n_rows;
};

void cofi_schema_put(cofi_writer *writer, const cof_schema *schema); /* the bytes of cof_schema_write */
/* A view of the schema as the whole table, whose rows are elsewhere. It owns nothing. */
cof_table cofi_schema_whole(const cof_schema *schema);
