/* The picture of a map, alone or in a page. */
#pragma once

#include "svg_out.h"

typedef struct cofi_map_drawing {
    const cof_map *map;
    const cof_table *table;
    const int32_t *label; /* of the table's rows */
    uint32_t k;
    size_t names; /* the column that names rows; SIZE_MAX: none */
    bool alone;   /* with heading and legend */
} cofi_map_drawing;

void cofi_draw_map(cofi_out *out, const cofi_map_drawing *d);
size_t cofi_names_column(const cof_table *table); /* the first identifier; SIZE_MAX if there is none */
