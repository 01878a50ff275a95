/* Files with a temporary name: making, placing and removing them. */
#include "staged.h"

#include "system/system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static int make_name(char *name)
{
    uint64_t number;
    if (getentropy(&number, sizeof number) != 0) return errno;
    snprintf(name, COFI_STAGED_NAME, "%s%016llx", cofi_staged_prefix, (unsigned long long)number);
    return 0;
}

/* A signal may interrupt these calls before they have an effect; they are then repeated. */
static int open_in(int folder, const char *leaf, int flags, mode_t mode)
{
    int fd;
    do fd = openat(folder, leaf, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int cofi_sync(int fd)
{
    int result;
    do result = fsync(fd);
    while (result != 0 && errno == EINTR);
    /* Some network file systems cannot sync; that is not an error. */
    return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == EBADF ? 0 : errno;
}

/* ---- Files left by killed processes --------------------------------------------------------------- */

/* Removes a staged file of the same user that no process has locked. O_NONBLOCK, because the name may belong to a pipe. */
static void remove_if_dead(int folder, const char *name)
{
    struct stat about;
    size_t n = strlen(cofi_staged_prefix);
    if (strncmp(name, cofi_staged_prefix, n) != 0 || strlen(name) != COFI_STAGED_NAME - 1 ||
        strspn(name + n, "0123456789abcdef") != 16)
        return;
    int fd = open_in(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd < 0) return;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && cofi_is_own(&about) && cofi_lock(fd, false) == 0)
        unlinkat(folder, name, 0);
    close(fd);
}

static void remove_dead_files(int folder)
{
    enum { MOST_ENTRIES = 1 << 16 }; /* beyond this limit files remain, which is harmless */
    int fd = open_in(folder, ".", O_RDONLY | O_DIRECTORY, 0);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (entries == NULL) {
        if (fd >= 0) close(fd);
        return;
    }
    const struct dirent *entry;
    for (int i = 0; i < MOST_ENTRIES && (entry = readdir(entries)) != NULL; i++)
        remove_if_dead(folder, entry->d_name);
    closedir(entries);
}

/* ---- Opening ------------------------------------------------------------------------------------- */

static int open_folder(const cof_env *env, const char *target, cofi_staged *s)
{
    const char *slash = strrchr(target, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - target) + 1;
    char *path = n == 0 ? cofi_copy_text(env, ".", 1) : cofi_copy_text(env, target, n);
    s->leaf = cofi_copy_text(env, target + n, strlen(target + n));
    int number = path == NULL || s->leaf == NULL ? ENOMEM : 0;
    if (number == 0) {
        s->folder = open_in(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
        /* A folder that can be written but not listed cannot be synced either. */
        if (s->folder < 0 && errno == EACCES) s->folder = cofi_open_unlisted(path);
        number = s->folder < 0 ? errno : 0;
    }
    cofi_release(env, path);
    return number;
}

static int open_unique(cofi_staged *s, mode_t mode)
{
    enum { TRIES = 100 };
    for (int i = 0; i < TRIES; i++) {
        char name[COFI_STAGED_NAME];
        struct stat about;
        int number = make_name(name);
        if (number != 0) return number;
        s->fd = open_in(s->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
        if (s->fd < 0 && errno != EEXIST) return errno;
        if (s->fd < 0) continue;
        memcpy(s->name, name, sizeof name);
        /* Between its creation and the lock, another process may have removed the file as left over. */
        if (cofi_lock(s->fd, false) != EWOULDBLOCK && fstat(s->fd, &about) == 0 && about.st_nlink > 0)
            return 0;
        close(s->fd);
        unlinkat(s->folder, s->name, 0);
        s->fd = -1;
        s->name[0] = '\0';
    }
    return EEXIST;
}

int cofi_staged_open(const cof_env *env, const char *target, const struct stat *replaced, cofi_staged *s)
{
    *s = COFI_STAGED_NONE;
    int number = open_folder(env, target, s);
    if (number != 0) return number;
    remove_dead_files(s->folder);
    /* The permissions are never wider than those of the replaced file, not even for a moment: a process
     * that opened the file then could continue to read. */
    number = open_unique(s, replaced != NULL ? replaced->st_mode & 0777 : 0666);
    if (number == 0 && replaced != NULL) cofi_take_over(s->fd, replaced);
    return number;
}

/* ---- Placing ------------------------------------------------------------------------------------- */

void cofi_staged_lock_folder(const cofi_staged *s)
{
    enum { TRIES = 200 }; /* one second; no process of this program holds the lock longer */
    const struct timespec pause = {.tv_nsec = 5000000};
    for (int i = 0; i < TRIES && cofi_lock(s->folder, false) == EWOULDBLOCK; i++) nanosleep(&pause, NULL);
}

/* Makes a second name for the file that will be replaced. On a file system without hard links the
 * replacement cannot be undone, and the new file stays. */
static int keep_old(cofi_staged *s)
{
    struct stat about;
    s->had_old = fstatat(s->folder, s->leaf, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (!s->had_old || !S_ISREG(about.st_mode)) return 0;
    char name[COFI_STAGED_NAME];
    int number = make_name(name);
    if (number != 0) return number;
    s->old = open_in(s->folder, s->leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    /* On failure another process has locked it, or there are no locks. Then it is closed: some systems do not replace an
     * open file. */
    if (s->old >= 0 && cofi_lock(s->old, true) == ENOTSUP) {
        close(s->old);
        s->old = -1;
    }
    if (linkat(s->folder, s->leaf, s->folder, name, 0) == 0) memcpy(s->old_name, name, sizeof name);
    return 0;
}

int cofi_staged_place(cofi_staged *s)
{
    int number = keep_old(s);
    if (number != 0) return number;
    if (renameat(s->folder, s->name, s->folder, s->leaf) != 0) return errno;
    s->name[0] = '\0';
    s->placed = true;
    return 0;
}

void cofi_staged_put_back(cofi_staged *s)
{
    if (!s->placed) return;
    if (s->old_name[0] != '\0') {
        if (renameat(s->folder, s->old_name, s->folder, s->leaf) == 0) s->old_name[0] = '\0';
    } else if (!s->had_old) {
        unlinkat(s->folder, s->leaf, 0);
    }
    s->placed = false;
}

void cofi_staged_close(const cof_env *env, cofi_staged *s)
{
    if (s->name[0] != '\0') unlinkat(s->folder, s->name, 0);
    if (s->old_name[0] != '\0') unlinkat(s->folder, s->old_name, 0);
    const int fds[] = {s->fd, s->old, s->folder};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0) close(fds[i]);
    cofi_release(env, s->leaf);
    *s = COFI_STAGED_NONE;
}
