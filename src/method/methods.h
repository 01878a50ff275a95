/* The methods by name. A new one is a file with a cofi_method in it and a line in methods.c. */
#ifndef COFI_METHODS_H
#define COFI_METHODS_H

#include "../fit/method.h"

const cofi_method *cofi_method_find(const char *name); /* NULL: there is none; a NULL name: coforest */

#endif
