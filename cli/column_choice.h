/* Reading a table as the options say, and what each of its columns is for. */
#pragma once

#include <stdbool.h>

#include "coforest_extra.h"
#include "options.h"
#include "term.h"

typedef struct reading { /* how a table is read */
    const char *delimiter;
    bool no_header;
    int32_t charset; /* cof_charset */
    const char *na;
    bool trim, ignore_case;
    uint32_t threads; /* 0: all cores */
} reading;
extern const option dialect_options[], na_options[], na_only_options[];

/* Reads path ("-" is standard input) into a table that stays until the end, or complains; default_na is used where the user gave no --na, NULL
 * for the library's own. Exit codes. */
int read_table(const cof_env *env, const char *path, const reading *how, const char *default_na,
               cof_table **out);
/* The same in pieces, for tables of any length; without --trim and --ignore-case, which need all values. A
 * visitor that ends the reading with COF_ERR_BACKEND has said why, or will: the exit code is that of success. */
int read_pieces(const cof_env *env, const char *path, const reading *how, cof_piece visit, void *ctx);

/* The options that read another table alike, each with a blank before it, for a command to be typed. */
shown reading_words(const reading *how, const char *na, uint32_t tidying);
/* Whether most names of the columns are numbers, as if the first line were data. */
bool looks_headless(const cof_table *table);
/* What takes two texts for the same, a sum of cof_tidy; and the options of such a sum. */
uint32_t joining_options(const char *a, const char *b);
const char *tidy_words(uint32_t tidying);

/* Values that look like mistakes, over the columns asked about: the first of each kind, and what helps against all. */
typedef struct untidy {
    char spelling[300], nothing[300], na[200]; /* examples; texts for --na, to begin with "?,NA," */
    size_t n_spelling, n_nothing;              /* columns */
    uint32_t tidying;                          /* a sum of cof_tidy */
} untidy;
int find_untidy(const cof_table *table, size_t c, untidy *u); /* adds those of a column; exit codes */

typedef struct column_choice { /* what the user said about columns */
    const char *label, *weights, *cuts;
    text_list ignore, columns, ordinal, numeric, categorical, cut, column_weights;
    int32_t quantities; /* cof_quantities; -1: not given, which means cut */
    uint32_t bins;      /* 0: the library's default */
    bool named_only;    /* a quantity is only what --numeric or --cut names */
    bool several;       /* the lists speak of several tables: what one of them lacks is passed over */
} column_choice;
extern const option column_options[];
/* What --quantities means where it was not given. */
void resolve_quantities(column_choice *asked, const char *method, bool paper);

/* Why a column takes no part. */
typedef enum left_out {
    USED,
    LEFT_LABEL,
    LEFT_WEIGHTS,
    LEFT_IDENTIFIER,
    LEFT_CONSTANT,
    LEFT_IGNORED,
    LEFT_NOT_CHOSEN,
    AS_NUMBER /* takes part, but as a quantity */
} left_out;
const char *left_out_word(left_out why);     /* "identifier" */
const char *left_out_sentence(left_out why); /* for people */

typedef struct columns { /* of one table */
    left_out *why;       /* one a column */
    size_t n;
    size_t label, weights, names; /* SIZE_MAX: none; names is the identifier that names the rows */
    size_t n_used, n_cut;
    double *weight; /* of every column in distances; NULL: 1 each */
} columns;

/* "age, income and 2 more" of the columns that were cut; n_cut of them. */
shown cut_names(const cof_table *table, const columns *c);

/* Gives every column its role and the ordinal ones their order. file is for complaints. Exit codes. */
int choose_columns(cof_table *table, const char *file, const column_choice *asked, int32_t missing,
                   columns *out);
/* Complains about a name in the lists that none of the tables has. */
int check_named(cof_table *const *tables, size_t n_tables, const column_choice *asked);

/* Views of a column of a table and of an attribute of a model; their numbers must be right. */
cof_column column_of(const cof_table *table, size_t column);
cof_attribute attribute_of(const cof_model *model, size_t attribute);
bool is_attribute(const cof_model *model, const char *name); /* the model has a column of this name */
/* First suspected identifier that is no attribute of the model; SIZE_MAX if there is none. */
size_t find_identifier(const cof_table *table, const cof_model *model);
/* Loads a model, which stays until the end, or complains. Exit codes. */
int load_model(const char *path, cof_model **out);
int complain_column(const cof_table *table, const char *file, const char *name);
