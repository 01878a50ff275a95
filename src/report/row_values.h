/* The rows of a table in a model's terms: which column is which attribute, which cell which of its values. */
#ifndef COFI_ROW_VALUES_H
#define COFI_ROW_VALUES_H

#include "../core/shape.h"
#include "../model/model.h"
#include "../table/table.h"

#define COFI_NO_VALUE UINT32_MAX /* a value the model never met, or one that counts for nothing */

typedef struct cofi_row_values {
    cof_env env;
    const cof_model *model;
    const cof_table *table;
    size_t n;          /* used attributes */
    size_t *attribute; /* of the model */
    size_t *column;    /* of the table */
    cofi_ids *ids;
    size_t *first;   /* n + 1: where the attribute's part of `value` begins */
    uint32_t *value; /* by code of the column, missing last: the model's value */
} cofi_row_values;

/* On failure nothing is left to free. COF_ERR_DATA if a column is not there. */
cof_status cofi_row_values_open(cofi_row_values *v, const cof_model *model, const cof_table *table,
                                cof_error *err);
void cofi_row_values_close(cofi_row_values *v);

static inline uint32_t cofi_row_value(const cofi_row_values *v, size_t a, size_t row)
{
    return v->value[v->first[a] + cofi_id(v->ids[a], row)];
}

#endif
