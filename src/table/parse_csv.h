/* CSV bytes, fed block by block, to one dictionary per column. */
#ifndef COFI_PARSE_CSV_H
#define COFI_PARSE_CSV_H

#include "encode.h"

#define COFI_CELL_BYTES  ((size_t)1 << 20) /* a longer cell is an unclosed quote, not a category */
#define COFI_MAX_COLUMNS ((size_t)1 << 20)
#define COFI_BLOCK_TAIL  8 /* NUL bytes wanted behind every block */

/* How to read; everything lent. */
typedef struct cofi_dialect {
    char delimiter;
    bool no_header;
    const char *const *na; /* texts that mean "missing" */
    size_t n_na;
} cofi_dialect;

typedef enum cofi_csv_state {
    COFI_AT_CELL,     /* before the first byte of a cell */
    COFI_IN_PLAIN,    /* in an unquoted cell whose beginning is pending */
    COFI_IN_QUOTES,   /* in a quoted one */
    COFI_AFTER_QUOTE, /* after a quote inside quotes: the closing one, or the first of two */
    COFI_AFTER_CR     /* after the carriage return that ended a cell */
} cofi_csv_state;

typedef struct cofi_bytes { /* grows */
    char *at;
    size_t n, capacity;
} cofi_bytes;

typedef struct cofi_recent { /* a short text met lately: see put_recent */
    uint64_t word;
    uint32_t id; /* COFI_ID_MISSING too */
    bool used;
} cofi_recent;

typedef struct cofi_parser {
    cof_env env;
    const char *name; /* of the file, for sentences */
    cofi_dialect dialect;
    bool begins_na[256];   /* first bytes of the texts in na; [0] if the empty text is one */
    bool ends_plain[256];  /* bytes that an unquoted cell cannot hold */
    bool ends_quoted[256]; /* bytes that need a look inside quotes */
    /* where we are */
    const char *at, *end; /* of the block */
    cofi_csv_state state;
    uint64_t line, row_line, cell_line; /* of the next byte; of the row's and the cell's first; from 1 */
    size_t column;                      /* of the cell; between rows 0 */
    const char *from, *to;              /* the pending cell: scratch, and then these bytes of the block */
    cofi_bytes scratch;
    cofi_bytes first_line; /* its cells, each ended by a NUL byte */
    /* the table so far */
    size_t n_columns; /* 0 until the first line has ended */
    size_t n_rows;
    size_t n_blank; /* blank lines before the first line */
    cofi_encoder names;
    cofi_encoder *encoder; /* n_columns of them */
    cofi_recent *recent;   /* so many for each column; NULL for none */
} cofi_parser;

/* Allocates nothing. The delimiter is an ASCII byte other than quote, newline and carriage return. */
void cofi_parser_init(cofi_parser *ps, const cof_env *env, const char *name, const cofi_dialect *dialect);
/* Takes the bytes up to `end`, where COFI_BLOCK_TAIL NUL bytes lie; keeps no pointer to them. */
cof_status cofi_parser_feed(cofi_parser *ps, const char *block, const char *end, cof_error *err);
/* No more bytes. */
cof_status cofi_parser_finish(cofi_parser *ps, cof_table **out, cof_error *err);
void cofi_parser_free(cofi_parser *ps);

#endif
