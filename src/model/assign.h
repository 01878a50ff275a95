/* How clearly rows belong where they are. */
#ifndef COFI_ASSIGN_H
#define COFI_ASSIGN_H

#include "../core/env.h"

typedef struct cofi_margin {
    float own;      /* distance to the row's own cluster; NaN for a row without one */
    float other;    /* to the nearest other cluster; infinity if there is none */
    int32_t second; /* that one; -1 if there is none */
} cofi_margin;

/* One a row of the table; labels are the clusters the rows are in. */
cof_status cofi_model_margins(const cof_model *m, const cof_table *t, const int32_t *labels, uint32_t threads,
                              cofi_margin *margins, cof_error *err);

#endif
