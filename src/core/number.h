/* Numbers written as text, whatever the host's locale. */
#ifndef COFI_NUMBER_H
#define COFI_NUMBER_H

#include <stdbool.h>

/* Reads a text that is one number and nothing else, with a decimal point. True on success; *x may be infinite. */
bool cofi_number_parse(const char *text, double *x);

#endif
