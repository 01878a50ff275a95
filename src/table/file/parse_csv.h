/* Parses CSV bytes, fed in blocks, into one dictionary per column. */
#pragma once

#include "../encode.h"

#define COFI_CELL_BYTES  ((size_t)1 << 20) /* a longer cell is an unclosed quote, not a category */
#define COFI_MAX_COLUMNS ((size_t)1 << 20)
#define COFI_BLOCK_TAIL  8 /* NUL bytes required after every block */

/* How to read a table; all pointers belong to the caller. */
typedef struct cofi_dialect {
    char delimiter;
    bool no_header;
    const char *const *na; /* texts that mean "missing" */
    size_t n_na;
    int32_t charset; /* cof_charset */
} cofi_dialect;

typedef enum cofi_csv_state {
    COFI_AT_CELL,     /* before the first byte of a cell */
    COFI_IN_PLAIN,    /* in an unquoted cell that began earlier */
    COFI_IN_QUOTES,   /* in a quoted cell */
    COFI_AFTER_QUOTE, /* after a quote inside quotes: the closing one, or the first of two */
    COFI_AFTER_CR,    /* after the carriage return that ended a cell */
    COFI_AFTER_PIECE  /* between rows, with as many rows as a piece has */
} cofi_csv_state;

typedef struct cofi_bytes { /* a growing buffer */
    char *at;
    size_t n, capacity;
} cofi_bytes;

typedef struct cofi_recent { /* a recent short text: see put_short */
    uint64_t word;
    uint32_t id; /* may be COFI_ID_MISSING */
    bool used;
} cofi_recent;

typedef struct cofi_parser {
    cof_env env;
    const char *name; /* name of the file, for messages */
    cofi_dialect dialect;
    bool begins_na[256];   /* first bytes of the texts in na; [0] if the empty text is one */
    bool ends_plain[256];  /* bytes that an unquoted cell cannot hold */
    bool ends_quoted[256]; /* bytes that need handling inside quotes */
    /* current position */
    const char *at, *end; /* of the block */
    cofi_csv_state state;
    /* line of the next byte, of the row's first and of the cell's first byte; from 1 */
    uint64_t line, row_line, cell_line;
    size_t column; /* of the current cell; 0 between rows */
    /* the pending cell: the scratch buffer, then these bytes of the block */
    const char *from, *to;
    cofi_bytes scratch;
    cofi_bytes first_line; /* its cells, each followed by a NUL byte */
    /* the table so far */
    size_t n_columns; /* 0 until the first line has ended */
    size_t n_rows;
    size_t n_blank; /* blank lines before the first line */
    cofi_encoder names;
    cofi_encoder *encoder; /* n_columns encoders */
    cofi_recent *recent;   /* N_RECENT entries per column; NULL: no cache */
    /* who gets the rows in pieces; NULL: finishing makes the whole table */
    cof_piece visit;
    void *ctx;
    size_t n_given, piece_rows; /* rows that were given; rows of a piece */
} cofi_parser;

/* Allocates nothing. The delimiter is an ASCII byte other than quote, newline and carriage return. */
void cofi_parser_init(cofi_parser *ps, const cof_env *env, const char *name, const cofi_dialect *dialect);
/* Reads the bytes up to `end`, which COFI_BLOCK_TAIL NUL bytes must follow; keeps no pointer to them. */
cof_status cofi_parser_feed(cofi_parser *ps, const char *block, const char *end, cof_error *err);
/* Call it after the last block. With pieces, the last rows are given and *out is not set. */
cof_status cofi_parser_finish(cofi_parser *ps, cof_table **out, cof_error *err);
void cofi_parser_free(cofi_parser *ps);
