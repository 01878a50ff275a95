/* What the unit tests use of POSIX and WebAssembly or Windows lack. The compiler reads it before such tests. What can be
 * had by other means is; a case that needs the rest says so and fails, and tests/systems/not_run.txt lists it. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include "../../../src/core/system/nameless.h"

_Noreturn static inline void lacks(const char *what)
{
    printf("this system has no %s\n", what);
    exit(1);
}

#define LACKING(result, name, parameters, what)                                                              \
    static inline result name parameters                                                                     \
    {                                                                                                        \
        lacks(what);                                                                                         \
    }

/* ---- Neither has these ---------------------------------------------------------------------------- */

#define LOCK_SH      1
#define RLIMIT_FSIZE 1
#define ITIMER_REAL  0
struct sigaction {
    void (*sa_handler)(int number);
};
struct itimerval {
    struct timeval it_interval, it_value;
};
struct rlimit {
    uint64_t rlim_cur;
};
typedef uint64_t cpu_set_t;
#define CPU_ZERO(set)        (*(set) = 0)
#define CPU_COUNT(set)       ((int)(*(set)&1))
#define CPU_ISSET(core, set) (*(set) >> (core)&1)
#define CPU_SET(core, set)   (*(set) |= UINT64_C(1) << (core))

LACKING(int, fork, (void), "other processes")
LACKING(int, waitpid, (int child, int *code, int flags), "other processes")
LACKING(int, mkfifo, (const char *path, int mode), "files that are pipes")
LACKING(int, flock, (int fd, int how), "locks of files")
LACKING(int, sigaction, (int number, const struct sigaction *action, struct sigaction *old), "signals")
LACKING(int, setitimer, (int which, const struct itimerval *next, struct itimerval *old), "timers")
LACKING(int, getrlimit, (int what, struct rlimit *limit), "limits on the size of files")
LACKING(int, setrlimit, (int what, const struct rlimit *limit), "limits on the size of files")
LACKING(int, sched_getaffinity, (int process, size_t size, cpu_set_t *cores), "choice of cores")
LACKING(int, sched_setaffinity, (int process, size_t size, const cpu_set_t *cores), "choice of cores")
LACKING(int, chown, (const char *path, int user, int group), "owners of files")
LACKING(int, setuid, (int user), "users")
LACKING(int, setgid, (int group), "groups of users")
LACKING(int, lacking_umask, (int mode), "permissions")
LACKING(int, lacking_chmod, (const char *path, int mode), "permissions")
#define umask lacking_umask
#define chmod lacking_chmod

static inline int geteuid(void)
{
    return 0; /* nothing is forbidden */
}

/* ---- One of them has these ------------------------------------------------------------------------ */

#ifdef _WIN32

#define SIGALRM    14
#define SIGPIPE    13
#define SIGXFSZ    25
#define F_GETFD    1
#define pipe(ends) _pipe(ends, 4096, _O_BINARY)
#ifndef NAME_MAX
#define NAME_MAX 255
#endif

LACKING(int, symlink, (const char *to, const char *path), "links that a user may make")
LACKING(ssize_t, readlink, (const char *path, char *to, size_t n), "links that a user may make")

static inline int fcntl(int fd, int command)
{
    return _get_osfhandle(fd) != -1 ? 0 : -1;
}

#else

LACKING(int, dup, (int fd), "second descriptors of a file")
LACKING(int, dup2, (int fd, int other), "second descriptors of a file")
LACKING(int, pipe, (int *ends), "pipes")
LACKING(int, lacking_system, (const char *command), "other processes")
#define system   lacking_system
#define getpid() 1

#endif

/* ---- Files with names of chance ------------------------------------------------------------------- */

#define mkdtemp lacking_mkdtemp
static inline char *mkdtemp(char *path)
{
    return cofi_name_by_chance(path) && mkdir(path, 0700) == 0 ? path : NULL;
}

#define mkstemp lacking_mkstemp
static inline int mkstemp(char *path)
{
    return cofi_name_by_chance(path) ? open(path, O_RDWR | O_CREAT | O_EXCL, 0600) : -1;
}
