/* A library to preload: one call of a whole run fails, or the run is killed there.
 *
 *   COF_FAULT=CALL:N:HOW    the N-th call of that name, from 1; HOW is the name of an error (EIO, ENOSPC, EINTR,
 *                           ENOMEM, EMFILE, EAGAIN), "short" (a read or write of one byte) or "kill" (SIGKILL)
 *   COF_FAULT_COUNTS=FILE   at the end of the run, how often each call was made: one line each
 *
 * For glibc. Calls are counted over all threads; what this library itself does is not counted. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef enum call { MALLOC, READ, WRITE, OPEN, CLOSE, FSYNC, RENAME, LINK, UNLINK, THREAD, N_CALLS } call;
static const char *const name_of[N_CALLS] = {"malloc", "read",   "write", "open",   "close",
                                             "fsync",  "rename", "link",  "unlink", "pthread_create"};

static struct {
    call call;
    unsigned long at; /* 0: none */
    int error;        /* 0: short */
    bool kill;
} fault;

static atomic_ulong count[N_CALLS];

static int error_named(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } known[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},
                 {"ENOMEM", ENOMEM}, {"EMFILE", EMFILE}, {"EAGAIN", EAGAIN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) return known[i].number;
    return 0;
}

__attribute__((constructor)) static void read_settings(void)
{
    char name[32], how[32];
    unsigned long at;
    const char *text = getenv("COF_FAULT");
    if (text == NULL || sscanf(text, "%31[^:]:%lu:%31s", name, &at, how) != 3) return;
    for (size_t c = 0; c < N_CALLS; c++) {
        if (strcmp(name, name_of[c]) != 0) continue;
        fault.call = (call)c;
        fault.error = error_named(how);
        fault.kill = strcmp(how, "kill") == 0;
        for (size_t i = 0; i < N_CALLS; i++) atomic_store(&count[i], 0);
        fault.at = at;
    }
}

__attribute__((destructor)) static void write_counts(void)
{
    char line[64];
    const char *path = getenv("COF_FAULT_COUNTS");
    unsigned long made[N_CALLS];
    for (size_t c = 0; c < N_CALLS; c++) made[c] = atomic_load(&count[c]);
    int fd = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (size_t c = 0; fd >= 0 && c < N_CALLS; c++) {
        int n = snprintf(line, sizeof line, "%s %lu\n", name_of[c], made[c]);
        if (syscall(SYS_write, fd, line, (size_t)n) != n) _exit(99);
    }
}

/* Whether it is this call's turn. */
static bool hit(call c)
{
    unsigned long n = atomic_fetch_add(&count[c], 1) + 1;
    if (fault.at != n || fault.call != c) return false;
    if (fault.kill) raise(SIGKILL);
    return true;
}

/* A call that fails has errno set; a short one goes on. */
static bool fails(call c)
{
    if (!hit(c) || fault.error == 0) return false;
    errno = fault.error;
    return true;
}

#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))

/* ---- Memory ------------------------------------------------------------------------------------------ */

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t n);

void *malloc(size_t n)
{
    return fails(MALLOC) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails(MALLOC) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *block, size_t n)
{
    return fails(MALLOC) ? NULL : __libc_realloc(block, n);
}

/* ---- Files ------------------------------------------------------------------------------------------- */

/* 1 where a short count is due, n otherwise; -1 where the call fails. */
static ssize_t allowed(call c, size_t n)
{
    if (!hit(c)) return (ssize_t)n;
    if (fault.error == 0) return n > 0;
    errno = fault.error;
    return -1;
}

ssize_t read(int fd, void *buffer, size_t n)
{
    ssize_t most = allowed(READ, n);
    return most < 0 ? -1 : syscall(SYS_read, fd, buffer, (size_t)most);
}

ssize_t pread(int fd, void *buffer, size_t n, off_t at)
{
    ssize_t most = allowed(READ, n);
    return most < 0 ? -1 : syscall(SYS_pread64, fd, buffer, (size_t)most, at);
}

ssize_t pread64(int fd, void *buffer, size_t n, off_t at)
{
    return pread(fd, buffer, n, at);
}

ssize_t write(int fd, const void *buffer, size_t n)
{
    ssize_t most = allowed(WRITE, n);
    return most < 0 ? -1 : syscall(SYS_write, fd, buffer, (size_t)most);
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
    return fails(OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE_OF(flags, mode)                                                                                 \
    do {                                                                                                     \
        va_list args;                                                                                        \
        va_start(args, flags);                                                                               \
        if ((flags)&O_CREAT) (mode) = va_arg(args, mode_t);                                                  \
        va_end(args);                                                                                        \
    } while (0)

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_at(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    mode_t mode = 0;
    MODE_OF(flags, mode);
    return open_at(folder, path, flags, mode);
}

/* Linux closes whatever it says. */
int close(int fd)
{
    bool failed = fails(CLOSE);
    int error = errno, result = (int)syscall(SYS_close, fd);
    if (failed) errno = error;
    return failed ? -1 : result;
}

int fsync(int fd)
{
    return fails(FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
    return fails(RENAME) ? -1 : (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int rename(const char *old, const char *new)
{
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    return fails(LINK) ? -1 : (int)syscall(SYS_linkat, from, old, to, new, flags);
}

int unlinkat(int folder, const char *path, int flags)
{
    return fails(UNLINK) ? -1 : (int)syscall(SYS_unlinkat, folder, path, flags);
}

/* ---- Threads ----------------------------------------------------------------------------------------- */

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *ctx)
{
    if (fails(THREAD)) return errno;
    return REAL(create_function, "pthread_create")(thread, attributes, run, ctx);
}
