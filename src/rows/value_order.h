/* The order of values that decides ties. */
#pragma once

#include "rows.h"

/* Sets problem->order: in every attribute without a stated order, the more frequent value comes first, and of equally
 * frequent ones that which occurs first among the first 65,536 rows. So names of values do not matter. `rows` are those of
 * the problem. */
cof_status cofi_value_order_set(cofi_rows *rows, cofi_problem *problem, uint32_t threads, cof_error *err);
