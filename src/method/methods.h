/* The methods by name. A new one is a file with a cofi_method and a line in methods.c. */
#ifndef COFI_METHODS_H
#define COFI_METHODS_H

#include "../fit/method.h"

/* NULL if there is no such method; a NULL name means coforest */
const cofi_method *cofi_method_find(const char *name);

#endif
