/* Which way of reading fits all values of a column. */
#ifndef COFI_RECOGNISE_H
#define COFI_RECOGNISE_H

#include "reading.h"
#include "table.h"

typedef struct cofi_recognition {
    cofi_reading reading; /* its line is COFI_LINE_NONE if the values are no points on a line */
    uint32_t n_points;    /* values that are points; the others, "nan" for example, are missing */
    bool whole;           /* no point has a fraction */
    bool codes;           /* a number begins with a zero, as in 01234 */
    bool unclear;         /* dates that can be read with the day first or the month first */
    double least, most;   /* of the points */
} cofi_recognition;

/* point: receives the points of all values where there is a reading, NaN for those that are missing; NULL: not
 * wanted. */
cofi_recognition cofi_recognise(const cofi_column *column, double *point);

#endif
