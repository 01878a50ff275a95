/* JSON, written as it comes: one object or array opened after another, commas and indentation kept
 * here. Texts that are not UTF-8 are mended, numbers that are not finite become null. */
#ifndef COF_CLI_JSON_OUT_H
#define COF_CLI_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_out {
    FILE *out;
    int depth;
    unsigned filled;  /* bit d: something stands already at depth d */
    unsigned inline_; /* bit d: depth d is written on one line */
} json_out;

json_out json_begin(FILE *out);
void json_end(json_out *j); /* the closing line break */

/* `key` is NULL inside an array. */
void json_open(json_out *j, const char *key, char bracket);      /* '{' or '[' */
void json_open_line(json_out *j, const char *key, char bracket); /* the same, all on one line */
void json_close(json_out *j, char bracket);                      /* '}' or ']' */
void json_text(json_out *j, const char *key, const char *text);  /* NULL: null */
void json_count(json_out *j, const char *key, uint64_t n);
void json_real(json_out *j, const char *key, double x);
void json_bool(json_out *j, const char *key, bool x);

/* As few digits as give the number back; null where JSON has no number for it. */
typedef struct real_digits {
    char text[40];
} real_digits;
real_digits format_real(double x);

#endif
