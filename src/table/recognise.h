/* Finds the notation that fits all values of a column. */
#pragma once

#include "reading.h"
#include "table.h"

typedef struct cofi_recognition {
    cofi_reading reading; /* reading.line is COFI_LINE_NONE if no notation fits */
    uint32_t n_points;    /* number of values that are points; others, for example "nan", are missing */
    bool whole;           /* no point has a fraction */
    bool codes;           /* some number has a leading zero, as in 01234 */
    bool unclear;         /* dates that fit both day first and month first */
    double least, most;   /* least and greatest point */
} cofi_recognition;

/* Kept with a column, so that its texts are parsed once. */
typedef struct cofi_known {
    cofi_recognition found;
    double *point; /* of every value, and NaN; NULL: not kept */
} cofi_known;

/* point: receives the points of all values where there is a reading, NaN for those that are missing; NULL: not
 * wanted. */
cofi_recognition cofi_recognise(const cofi_column *column, double *point);
/* The same; returns the points, one more than there are values, which the caller releases. NULL: no memory. */
double *cofi_recognise_points(const cof_env *env, cofi_column *column, cofi_recognition *found);
/* Recognises a column now, so that nobody has to parse its texts again; COF_ERR_MEMORY. The same for all columns. */
cof_status cofi_column_recognise(const cof_env *env, cofi_column *column);
cof_status cofi_table_recognise(cof_table *table, cof_error *err);
void cofi_column_forget(const cof_env *env, cofi_column *column); /* for a column whose values change */
