/* The part of posix.h that belongs to the C library. The compiler reads it before every source. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef __clang__ /* GCC would check formats by those of an older C library, which lacks %zu */
#define __printf__ __gnu_printf__
#endif

FILE *cofi_win_fopen(const char *path, const char *mode);
char *cofi_win_strcasestr(const char *text, const char *part);
ssize_t cofi_win_getdelim(char **text, size_t *room, int end, FILE *in);
FILE *cofi_win_open_memstream(char **text, size_t *n); /* one at a time */
int cofi_win_fclose(FILE *file);
char *cofi_win_strndup(const char *text, size_t n);
char *cofi_win_strsep(char **rest, const char *separators);
#define fopen          cofi_win_fopen
#define fclose         cofi_win_fclose
#define getdelim       cofi_win_getdelim
#define open_memstream cofi_win_open_memstream
#define strcasestr     cofi_win_strcasestr
#define strndup        cofi_win_strndup
#define strsep         cofi_win_strsep
