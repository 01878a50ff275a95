/* System calls that fail: these functions stand in for those of the C library in a test program, as the library's code
 * is linked into it.
 *
 *     fail_calls("fsync", 1, 1, EIO);    the second fsync from now on fails, the others work
 *     ...
 *     assert_int_equal(calls_left(), 0); it was called
 *
 * One thread only, and Linux only: elsewhere no call fails, so that calls_left tells. */
#ifndef CALLS_HELPER_H
#define CALLS_HELPER_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if __has_include(<sys/syscall.h>)
#include <sys/syscall.h>
#endif

static struct {
    const char *name;
    int after, times, error;
} failing = {"", 0, 0, 0};

static inline void fail_calls(const char *name, int after, int times, int error)
{
    failing.name = name;
    failing.after = after;
    failing.times = times;
    failing.error = error;
}

static inline int calls_left(void)
{
    int left = failing.times;
    failing.times = 0;
    return left;
}

static inline bool call_fails(const char *name)
{
    if (failing.times == 0 || strcmp(name, failing.name) != 0 || failing.after-- > 0) return false;
    failing.after = 0;
    failing.times--;
    errno = failing.error;
    return true;
}

#ifdef SYS_renameat2
int fsync(int fd);
int close(int fd);
int flock(int fd, int how);
int renameat(int from, const char *old, int to, const char *new);
int linkat(int from, const char *old, int to, const char *new, int flags);
int fchmod(int fd, mode_t mode);
int getentropy(void *to, size_t n);
ssize_t write(int fd, const void *from, size_t n);
ssize_t pread(int fd, void *to, size_t n, off_t at);
ssize_t pwrite(int fd, const void *from, size_t n, off_t at);
int openat(int folder, const char *path, int flags, ...);

int fsync(int fd)
{
    return call_fails("fsync") ? -1 : (int)syscall(SYS_fsync, fd);
}

int close(int fd) /* the descriptor is closed even if the call fails */
{
    bool failed = call_fails("close");
    int number = errno, result = (int)syscall(SYS_close, fd);
    if (failed) errno = number;
    return failed ? -1 : result;
}

int flock(int fd, int how)
{
    return call_fails("flock") ? -1 : (int)syscall(SYS_flock, fd, how);
}

int renameat(int from, const char *old, int to, const char *new)
{
    return call_fails("renameat") ? -1 : (int)syscall(SYS_renameat2, from, old, to, new, 0);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    return call_fails("linkat") ? -1 : (int)syscall(SYS_linkat, from, old, to, new, flags);
}

int fchmod(int fd, mode_t mode)
{
    return call_fails("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int getentropy(void *to, size_t n)
{
    return call_fails("getentropy") || syscall(SYS_getrandom, to, n, 0) != (long)n ? -1 : 0;
}

ssize_t write(int fd, const void *from, size_t n)
{
    return call_fails("write") ? -1 : (ssize_t)syscall(SYS_write, fd, from, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    return call_fails("pread") || lseek(fd, at, SEEK_SET) != at ? -1 : read(fd, to, n);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    return call_fails("pwrite") || lseek(fd, at, SEEK_SET) != at ? -1 : write(fd, from, n);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    return call_fails("openat") ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}
#endif

#endif
