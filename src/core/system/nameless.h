/* Names of files that are removed as soon as they are open, for systems without mkstemp. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Puts letters of chance in the place of the six X at the end of `path`. False: there is no chance, see errno. */
static inline bool cofi_name_by_chance(char *path)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    unsigned char random[6];
    char *end = path + strlen(path) - sizeof random;
    if (getentropy(random, sizeof random) != 0) return false;
    for (size_t i = 0; i < sizeof random; i++) end[i] = letters[random[i] % 32];
    return true;
}
