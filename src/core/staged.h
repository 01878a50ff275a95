/* A file that waits under a name of its own beside its target until it is complete.
 *
 * The name is random and the file is made anew, so that nobody can plant a file or a link there, and two runs never
 * share one. All steps go through the folder's descriptor: it does not matter what happens to the folder's name
 * meanwhile. While a run lives it holds a lock on its waiting file; one that can be locked was left by a run that
 * died, and the next file opened in the folder removes it. Functions that return int: 0 or an errno. */
#ifndef COFI_STAGED_H
#define COFI_STAGED_H

#include "env.h"

#include <sys/stat.h>

enum { COFI_STAGED_NAME = sizeof ".coforest-0123456789abcdef" };

typedef struct cofi_staged {
    int folder, fd;                  /* -1: none */
    int old;                         /* the file replaced, locked while it has its second name; -1: none */
    char *leaf;                      /* the target's name in its folder */
    char name[COFI_STAGED_NAME];     /* while it waits; "" before and after */
    char old_name[COFI_STAGED_NAME]; /* the second name of the file replaced, until all is well */
    bool placed, had_old;            /* has its target's name; took it from another file */
} cofi_staged;

/* Where nothing waits. */
#define COFI_STAGED_NONE ((cofi_staged){.folder = -1, .fd = -1, .old = -1})

/* target: no link in its last part. replaced: the file it is now, whose permissions hold from the first byte on;
 * NULL for none. Whatever it returns, *s can be closed. */
int cofi_staged_open(const cof_env *env, const char *target, const struct stat *replaced, cofi_staged *s);

/* To the disk, under the waiting name. */
int cofi_staged_sync(const cofi_staged *s);

/* Gives the file its target's name. What was there before stays at hand until cofi_staged_close. */
int cofi_staged_place(cofi_staged *s);
int cofi_staged_sync_folder(const cofi_staged *s);
void cofi_staged_put_back(cofi_staged *s); /* undoes cofi_staged_place */

/* For a run with several files: keeps other runs from placing theirs in between. Ends with cofi_staged_close. */
void cofi_staged_lock_folder(const cofi_staged *s);

/* Removes the file if it was not placed, and what it replaced if it was. */
void cofi_staged_close(const cof_env *env, cofi_staged *s);

#endif
