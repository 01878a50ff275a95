/* How the texts of a column are read as points on a line: numbers, percentages, money, dates, times. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cofi_line { /* stored in model files */
                         COFI_LINE_NONE = 0,
                         COFI_LINE_NUMBER = 1,
                         COFI_LINE_DATE = 2, /* seconds since 1970-01-01 00:00, without leap seconds */
                         COFI_LINE_TIME = 3, /* seconds since midnight */
                         COFI_LINE_LAST = COFI_LINE_TIME
} cofi_line;

typedef enum cofi_date_order { /* stored in model files */
                               COFI_DATE_YMD = 0,
                               COFI_DATE_DMY = 1,
                               COFI_DATE_MDY = 2,
                               COFI_DATE_LAST = COFI_DATE_MDY
} cofi_date_order;

enum { COFI_AFFIX_BYTES = 8 };

typedef struct cofi_reading {
    uint8_t line;                 /* cofi_line */
    char decimal;                 /* decimal mark: '.' or ',' */
    char thousands;               /* between groups of three digits: 0 (none), ',', '.', ' ' or '\'' */
    uint8_t order;                /* cofi_date_order */
    char affix[COFI_AFFIX_BYTES]; /* text before or after every number: "%", "$", "EUR"; "": none */
} cofi_reading;

/* The point of a text: NaN for texts such as "nan" or "inf", which are missing values among numbers. False
 * if the text does not have this notation. Does not depend on the locale. */
bool cofi_reading_parse(const cofi_reading *reading, const char *text, double *point);

/* A decimal number in plain notation: sign, digits, one point, exponent; no other characters. */
bool cofi_number_parse(const char *text, size_t n_bytes, double *number);

enum { COFI_POINT_BYTES = 48 };
/* The shortest text that gives the same number when read: 3, 0.1, 1e-05. Does not depend on the locale.
 * Returns its length. */
size_t cofi_number_write(double number, char text[COFI_POINT_BYTES]);
/* The same for a float: 0.1, although it is 0.10000000149011612. */
size_t cofi_float_write(float number, char text[COFI_POINT_BYTES]);
/* 2024-03-31, with the time unless it is midnight; `part` is the fraction of a second in units of 1 /
 * parts. */
size_t cofi_date_write(int64_t seconds, int64_t part, int64_t parts, char text[COFI_POINT_BYTES]);
size_t cofi_time_write(int64_t seconds, char text[COFI_POINT_BYTES]); /* 09:30, or 09:30:15 */
/* A point as text: a number with at most `digits` digits, at most 17, and its affix; a date as 2024-03-31,
 * with its time unless that is midnight. Returns `text`. */
const char *cofi_reading_show(const cofi_reading *reading, double point, int digits,
                              char text[COFI_POINT_BYTES]);
