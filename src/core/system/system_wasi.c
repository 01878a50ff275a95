/* WebAssembly in a browser or a WASI host: one process, one user, no permissions. */
#include "system.h"

#include "nameless.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

long cofi_usable_cores(void)
{
    return 1;
}

void cofi_start_elsewhere(pthread_t thread) {}

uint64_t cofi_machine_memory(void)
{
    return UINT32_MAX; /* addresses have 32 bits */
}

double cofi_processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* hosts know no other time, and there is one thread */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int cofi_open_nameless(char *path)
{
    int fd = cofi_name_by_chance(path) ? open(path, O_RDWR | O_CREAT | O_EXCL, 0600) : -1;
    if (fd < 0 || unlink(path) == 0) return fd;
    close(fd);
    return -1;
}

int cofi_open_unlisted(const char *path)
{
    (void)path;
    errno = EACCES;
    return -1;
}

void cofi_take_over(int fd, const struct stat *old)
{
    (void)fd, (void)old;
}

/* There are no pages to map, so the file is read. */
void *cofi_map(int fd, size_t n_bytes)
{
    char *file = malloc(n_bytes + 1);
    size_t n = 0;
    for (ssize_t got = 1; file != NULL && n < n_bytes && got > 0; n += got > 0 ? (size_t)got : 0)
        got = pread(fd, file + n, n_bytes - n, (off_t)n);
    if (file != NULL && n == n_bytes) return file;
    if (file != NULL) errno = EIO;
    free(file);
    return NULL;
}

void cofi_unmap(void *file, size_t n_bytes)
{
    free(file);
}

void cofi_advise(const void *from, size_t n_bytes, cofi_advice advice)
{
    (void)from, (void)n_bytes, (void)advice;
}

bool cofi_is_own(const struct stat *about)
{
    (void)about;
    return true;
}

const char cofi_staged_prefix[] = ".coforest_";

const bool cofi_has_locks = false;

int cofi_lock(int fd, bool shared)
{
    (void)fd, (void)shared;
    return ENOTSUP;
}
