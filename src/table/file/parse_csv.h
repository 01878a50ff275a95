/* Parses CSV text, which its caller holds in memory stretch by stretch, into value ids of one dictionary per column. */
#pragma once

#include "../encode.h"

#define COFI_CELL_BYTES  ((size_t)1 << 20) /* a longer cell is an unclosed quote, not a category */
#define COFI_MAX_COLUMNS ((size_t)1 << 20)
#define COFI_TEXT_TAIL   64 /* NUL bytes required after every text */

/* How to read a table; all pointers belong to the caller. */
typedef struct cofi_dialect {
    char delimiter;
    bool no_header;
    const char *const *na; /* texts that mean "missing" */
    size_t n_na;
    int32_t charset; /* cof_charset */
} cofi_dialect;

/* What all parsers of one table share. */
typedef struct cofi_csv {
    cof_env env;
    const char *name; /* name of the file, for messages */
    cofi_dialect dialect;
    bool ends_plain[256];  /* bytes that an unquoted cell cannot hold */
    bool ends_quoted[256]; /* bytes that need handling inside quotes */
    size_t n_columns;      /* 0 until cofi_csv_head has found the first line */
    cofi_encoder names;
} cofi_csv;

typedef struct cofi_recent { /* a recent short text of a column: see put_column */
    uint64_t word;
    uint32_t id;
} cofi_recent;

typedef struct cofi_parser { /* the state of one thread */
    cofi_csv *csv;
    cofi_blocks blocks;
    /* The caller sets these before every call: the text from the beginning of a line on, and whether the table ends with it. */
    const char *at, *end;
    bool last;
    uint64_t line; /* number of the line at `at`, from 1 */
    /* the rows so far: ids of `width` bytes each, 1 or 4, from ids[column * most_rows] on */
    size_t n_rows, most_rows;
    uint32_t *ids;
    uint8_t *width;
    cofi_encoder *encoder; /* per column */
    cofi_recent *recent;
    /* A cell was wrong. Which one, walking through the lines in order says; and as its text may be in the dictionary now, not
     * only new texts have to be checked from now on. */
    bool strict;
    /* of the lines in work */
    uint32_t *stop; /* where cells end, from the first line's begin on; stop[0] is the byte before it */
    size_t n_stops; /* room in `stop` */
    uint32_t *id;   /* of one column */
    bool quoted, doubled, returns; /* some cell has quotes, doubled quotes; some line a carriage return */
    uint64_t row_line, cell_line;
    size_t column;
    char *scratch;
    size_t scratch_bytes;
} cofi_parser;

/* Allocates nothing. The delimiter is an ASCII byte other than quote, newline and carriage return. */
void cofi_csv_init(cofi_csv *csv, const cof_env *env, const char *name, const cofi_dialect *dialect);
void cofi_csv_free(cofi_csv *csv);
bool cofi_csv_is_missing(const cofi_csv *csv, const char *text);

/* A parser for csv, whose members are zero but `csv`. */
cof_status cofi_parser_open(cofi_parser *ps, size_t most_rows, cof_error *err);
void cofi_parser_free(cofi_parser *ps);
void *cofi_parser_ids(const cofi_parser *ps, size_t column); /* n_rows of them, width[column] bytes each */
/* Empties the dictionary of a column. */
void cofi_parser_forget(cofi_parser *ps, size_t column);

/* Finds the columns and their names in the first line that is not blank, and moves to the first line that is a row. Nothing
 * happens if that line does not end within the text. The parser need not be open. */
cof_status cofi_csv_head(cofi_parser *ps, cof_error *err);
/* Parses lines that begin before `limit`, until there are most_rows rows or a line does not end within the text; `at` is
 * then the beginning of the next line. After an error, the line was not moved over. */
cof_status cofi_parser_run(cofi_parser *ps, const char *limit, cof_error *err);
