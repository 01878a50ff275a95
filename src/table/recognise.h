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

/* point: receives the points of all values where there is a reading, NaN for those that are missing; NULL: not
 * wanted. */
cofi_recognition cofi_recognise(const cofi_column *column, double *point);
