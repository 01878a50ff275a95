/* One table per verb. Parsing, help, the manual and the shell completions all read it, so nothing about
 * an option is written twice. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coforest_extra.h"

/* What a value is, which also says what the member at `offset` is. */
typedef enum option_kind {
    OPTION_FLAG,   /* bool; takes no value */
    OPTION_TEXT,   /* const char *; the last one counts */
    OPTION_TEXTS,  /* text_list; may be repeated */
    OPTION_COUNT,  /* uint32_t, from least to most */
    OPTION_NUMBER, /* uint64_t, from least to most */
    OPTION_REAL,   /* double, from least to most; the choice in place i stands for -1 - i */
    OPTION_CHOICE, /* int32_t, the place in choices */
    OPTION_NAME,   /* const char *, the name of a choice */
    OPTION_OUT     /* outfile */
} option_kind;

/* What a shell could offer there. */
typedef enum value_hint { HINT_NONE, HINT_FILE } value_hint;

typedef cof_word choice; /* `about` may be NULL where the name says it */

typedef struct option {
    const char *name;            /* long, without the dashes */
    const char *arg;             /* how help calls the value; NULL for a flag */
    const char *help;            /* one or two sentences */
    option_kind kind;            /* of the member */
    size_t offset;               /* of the member in the group's part of the settings */
    double least, most;          /* bounds of a number, as in cof_option; most 0: none */
    const choice *choices;       /* ends with a NULL name */
    const choice *(*list)(void); /* instead of choices, where only the library knows them */
    value_hint hint;
    char letter;       /* short name, or 0 */
    bool of_library;   /* see LIBRARY_OPTION */
    const char *title; /* of the list that verb_options returns: a heading above it; NULL: none */
} option;

/* A line of a table of options: kept in `member` of the struct `settings`; the help may be followed by other
 * members, such as .letter = 'k'. */
#define OPTION(name_, arg_, kind_, settings, member, ...)                                                    \
    {                                                                                                        \
        .name = name_, .arg = arg_, .kind = kind_, .offset = offsetof(settings, member), .help = __VA_ARGS__ \
    }

#define FILE_OPTION(name_, settings, member, ...)                                                            \
    OPTION(name_, "FILE", OPTION_TEXT, settings, member, __VA_ARGS__, .hint = HINT_FILE)

/* An output, kept in `member`, which is an outfile. */
#define OUT_OPTION(name_, settings, member, ...)                                                             \
    OPTION(name_, "FILE", OPTION_OUT, settings, member, __VA_ARGS__, .hint = HINT_FILE)

/* The library's option of this name, or with "*" all that have no line of their own, kept in `member`, which is a
 * cof_fit_options. What such a line does not say (help, most), the library's table does. */
#define LIBRARY_OPTION(name_, settings, member, ...)                                                         \
    {                                                                                                        \
        .name = name_, .of_library = true, .offset = offsetof(settings, member), __VA_ARGS__                 \
    }

/* Options under one heading; a group may serve several verbs, each saying where its members lie. */
typedef struct option_group {
    const char *title;     /* NULL: goes on with the group before */
    const option *options; /* ends with a NULL name */
    size_t offset;         /* of the group's part in the verb's settings */
} option_group;

typedef struct operand {
    const char *name;
    bool optional;
    bool repeated; /* may stand any number of times; the last one only */
    value_hint hint;
    const choice *choices; /* ends with a NULL name, or is NULL */
} operand;

typedef struct example {
    const char *command, *what;
} example;

/* Its lists end with an empty entry. */
typedef struct verb {
    const char *name;
    const char *usage;   /* after the verb */
    const char *summary; /* a few words, no full stop */
    const char *paragraphs[4];
    operand operands[4];
    option_group groups[8];
    example examples[8];
    const char *task;                  /* heading above it in the list of verbs; NULL: as the one before */
    int (*run)(int argc, char **argv); /* what follows the verb; returns the exit code */
} verb;

extern const verb *const verbs[];                         /* ends with NULL */
const option *verb_options(const verb *v);                /* all of its groups; ends with a NULL name */
const char *option_word(const char *name, int32_t place); /* of the library's option of this name */
const verb *find_verb(const char *name);
const option *option_called(const verb *v,
                            const char *typed); /* "-k", "--name" or "--name=value"; NULL: none */
int complain_verb(const char *name);            /* there is no such verb */

typedef struct text_list {
    const char **text;
    size_t n;
} text_list;

enum { MAX_OPERANDS = 512 };
typedef struct operands {
    const char *text[MAX_OPERANDS];
    size_t n;
} operands;

/* Fills settings (defaults already there) and operands. False when the verb is done: help was asked for or
 * something is wrong, which has been said, and *code is the exit code. */
bool parse_arguments(const verb *v, int argc, char **argv, void *settings, operands *found, int *code);
