/* Linux, macOS and other systems with POSIX. */
#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

long cofi_usable_cores(void)
{
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

void cofi_start_elsewhere(pthread_t thread)
{
#ifdef __linux__
    cpu_set_t allowed, others;
    int core = sched_getcpu();
    if (core < 0 || core >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    others = allowed;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) > 0 && pthread_setaffinity_np(thread, sizeof others, &others) == 0)
        pthread_setaffinity_np(thread, sizeof allowed, &allowed);
#endif
}

uint64_t cofi_machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), each = sysconf(_SC_PAGESIZE);
    return pages > 0 && each > 0 ? (uint64_t)pages * (uint64_t)each : UINT64_MAX;
}

double cofi_processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int cofi_open_nameless(char *path)
{
    int fd = mkstemp(path);
    if (fd < 0 || unlink(path) == 0) return fd;
    close(fd);
    return -1;
}

int cofi_open_unlisted(const char *path)
{
#ifdef O_PATH
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
#else
    return open(path, O_SEARCH | O_DIRECTORY | O_CLOEXEC);
#endif
}

/* If the group cannot be set, the group gets no more permissions than others have. Some file systems have no permissions;
 * then nothing is copied. */
void cofi_take_over(int fd, const struct stat *old)
{
    struct stat own;
    mode_t mode = old->st_mode & 0777;
    bool differs = fstat(fd, &own) == 0 && (own.st_uid != old->st_uid || own.st_gid != old->st_gid);
    if (differs && fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
        mode &= ~(mode_t)070 | (mode & 07) << 3;
    if (fchmod(fd, mode) != 0) errno = 0;
}

void *cofi_map(int fd, size_t n_bytes)
{
    void *file = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    return file != MAP_FAILED ? file : NULL;
}

void cofi_unmap(void *file, size_t n_bytes)
{
    munmap(file, n_bytes);
}

void cofi_advise(const void *from, size_t n_bytes, cofi_advice advice)
{
    static const int known[] = {MADV_NORMAL, MADV_RANDOM, MADV_WILLNEED};
    size_t before = (uintptr_t)from & ((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    (void)madvise((char *)(uintptr_t)from - before, n_bytes + before, known[advice]);
}

bool cofi_is_own(const struct stat *about)
{
    return about->st_uid == geteuid();
}

const char cofi_staged_prefix[] = ".coforest-";

const bool cofi_has_locks = true;

int cofi_lock(int fd, bool shared)
{
    int result;
    do result = flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}
