/* The rows of a table as values of a model: the column of each attribute, and the value of each cell. */
#pragma once

#include "../core/shape.h"
#include "../table/table.h"
#include "model.h"

#define COFI_NO_VALUE COFI_NONE /* a value that the model does not have, or that adds nothing */

typedef struct cofi_view {
    cofi_blocks own;
    const cof_model *model;
    const cof_table *table;
    size_t n;          /* number of used attributes; all of them have a column */
    size_t n_idle;     /* number of unused attributes that the table has */
    size_t *attribute; /* attributes of the model: the used ones, then the unused ones */
    size_t *column;    /* columns of the table, in the same order */
    cofi_ids *ids;     /* per used attribute: the codes of its rows */
    /* per used attribute: number of codes without the missing one, which is the last */
    uint32_t *n_codes;
    uint64_t *n_missing; /* per used attribute: number of rows with a missing cell */
    uint32_t *first;     /* n + 1: start of the attribute's part of `value` */
    uint32_t *value;     /* by code, missing last: value of the model */
} cofi_view;

/* Finds columns and values by name, and values of a quantity by their bin. A cut column is used as it was
 * read, unless it has the model's edges. On failure nothing must be freed. COF_ERR_DATA if a column is
 * missing. */
cof_status cofi_view_open(cofi_view *view, const cof_model *model, const cof_table *table, cof_error *err);
void cofi_view_close(cofi_view *view);

static inline uint32_t cofi_view_value(const cofi_view *view, size_t a, size_t row)
{
    return view->value[view->first[a] + cofi_id(view->ids[a], row)];
}
