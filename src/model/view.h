/* The rows of a table in a model's terms: which column is which attribute, which cell which of its values. */
#ifndef COFI_VIEW_H
#define COFI_VIEW_H

#include "../core/shape.h"
#include "../table/table.h"
#include "model.h"

#define COFI_NO_VALUE UINT32_MAX /* a value the model never met, or one that adds nothing */

typedef struct cofi_view {
    cofi_blocks own;
    const cof_model *model;
    const cof_table *table;
    size_t n;            /* used attributes; all of them have a column */
    size_t n_idle;       /* attributes that take no part, but that the table has too */
    size_t *attribute;   /* of the model: the used ones, then the idle ones */
    size_t *column;      /* of the table, in the same order */
    cofi_ids *ids;       /* of the used ones */
    uint32_t *n_codes;   /* of the used ones: codes but for the missing one, which is the last */
    uint64_t *n_missing; /* of the used ones: rows */
    uint32_t *first;     /* n + 1: where the attribute's part of `value` begins */
    uint32_t *value;     /* by code, missing last: the model's value */
} cofi_view;

/* Columns and values are found by name, values of a quantity by their bin. A column that was cut is looked at as it was
 * read, unless it was cut where the model was. On failure nothing is left to free. COF_ERR_DATA if a column is not there. */
cof_status cofi_view_open(cofi_view *view, const cof_model *model, const cof_table *table, cof_error *err);
void cofi_view_close(cofi_view *view);

static inline uint32_t cofi_view_value(const cofi_view *view, size_t a, size_t row)
{
    return view->value[view->first[a] + cofi_id(view->ids[a], row)];
}

#endif
