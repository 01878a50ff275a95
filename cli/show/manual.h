/* The manual page, made from the tables of options.h. */
#pragma once

#include <stdio.h>

void print_manual(FILE *out);
