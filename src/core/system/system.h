/* What the library needs of the operating system beyond the C library and the common part of POSIX. Every system has one
 * file here; CMakeLists.txt chooses it. */
#pragma once

#include "../real.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

long cofi_usable_cores(void); /* the cores that this process may run on */
/* Moves a thread, which the caller has just started, away from the caller's core. Afterwards it may run on the same cores as
 * the caller. Some schedulers start a thread on its creator's core, and move it only after
 * milliseconds, even if others are idle. */
void cofi_start_elsewhere(pthread_t thread);
uint64_t cofi_machine_memory(void); /* bytes; UINT64_MAX: not known */

double cofi_processor_s(void); /* processor time of all threads together, in seconds */

/* Opens a file without a name for reading and writing; `path` ends with XXXXXX and is changed. -1: failed, see errno. */
int cofi_open_nameless(char *path);

/* Opens a folder that can be written but not listed, for the calls that take a folder. -1: failed, see errno. */
int cofi_open_unlisted(const char *path);

/* Copies owner, group and permissions of a replaced file, as far as the process may and the file system can. */
void cofi_take_over(int fd, const struct stat *old);

/* Maps a file from its beginning; what is written to the memory stays out of the file. NULL: failed, see errno. */
void *cofi_map(int fd, size_t n_bytes);
void cofi_unmap(void *file, size_t n_bytes);

/* How mapped bytes will be read. Advice is no more than that: a failure changes nothing but the speed. */
typedef enum cofi_advice { COFI_READ_USUAL, COFI_READ_RANDOM, COFI_READ_SOON } cofi_advice;
void cofi_advise(const void *from, size_t n_bytes, cofi_advice advice);

bool cofi_is_own(const struct stat *about); /* the file belongs to the user of this process */

/* Locks a file until it is closed. 0, or an errno: EWOULDBLOCK if another descriptor has the lock, others if the file
 * system has no locks. */
int cofi_lock(int fd, bool shared);
extern const bool cofi_has_locks; /* false: this system's cofi_lock always fails */
/* How names of staged files begin, ten bytes. A system whose files other systems do not see as locked has a beginning of its
 * own, since programs there would take its files for left over. */
extern const char cofi_staged_prefix[];
