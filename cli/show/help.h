/* Help from the tables of options.h. */
#pragma once

#include <stdio.h>

#include "../options.h"

extern const char program_summary[]; /* what the program does, in a few words */
void print_manual(FILE *out);        /* in roff */
void print_program_help(void);
void print_verb_help(const verb *v);
