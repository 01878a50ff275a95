/* The manual page, made from the tables of options.h. */
#ifndef COF_CLI_MANUAL_H
#define COF_CLI_MANUAL_H

#include <stdio.h>

void print_manual(FILE *out);

#endif
