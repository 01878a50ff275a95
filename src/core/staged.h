/* A staged file: it has a temporary name beside its target until it is complete.
 *
 * The name is random and the file is created anew, so that nobody can place a file or a link there in
 * advance, and two processes never share one. All steps use the descriptor of the folder, so renaming the
 * folder does no harm. A process holds a lock on its staged file; a staged file that can be locked was
 * left by a process that died, and the next file opened in the folder removes it. Functions that return
 * int return 0 or an errno. */
#pragma once

#include "env.h"

#include <sys/stat.h>

enum { COFI_STAGED_NAME = sizeof ".coforest-0123456789abcdef" };

typedef struct cofi_staged {
    int folder, fd; /* -1: none */
    /* the replaced file, locked while it has its second name; -1: none */
    int old;
    char *leaf;                  /* name of the target in its folder */
    char name[COFI_STAGED_NAME]; /* the temporary name; "" before and after */
    /* second name of the replaced file, until everything has succeeded */
    char old_name[COFI_STAGED_NAME];
    bool placed, had_old; /* the file has its target's name; another file had it before */
} cofi_staged;

/* No staged file. */
#define COFI_STAGED_NONE ((cofi_staged){.folder = -1, .fd = -1, .old = -1})

/* target: its last component is not a link. replaced: the existing file, whose permissions apply from the
 * first byte; NULL if there is none. *s can be closed whatever the result is. */
int cofi_staged_open(const cof_env *env, const char *target, const struct stat *replaced, cofi_staged *s);

/* Writes a file to the disk, or the names of a folder. 0, or an errno. */
int cofi_sync(int fd);

/* Renames the file to its target. The replaced file is kept until cofi_staged_close. */
int cofi_staged_place(cofi_staged *s);
void cofi_staged_put_back(cofi_staged *s); /* undoes cofi_staged_place */

/* For several files of one process: keeps other processes from placing theirs in between.
 * cofi_staged_close releases the lock. */
void cofi_staged_lock_folder(const cofi_staged *s);

/* Removes the staged file if it was not placed, and the replaced file if it was. */
void cofi_staged_close(const cof_env *env, cofi_staged *s);
