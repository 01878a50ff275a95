/* A file that appears under its name only when it is complete: written under another name in the same folder,
 * renamed at the end. What is no ordinary file (a terminal, a pipe, /dev/null) is written to directly. */
#include "env.h"
#include "utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16, NAME_BYTES = 240 };

struct cof_output {
    cof_env env;
    char name[NAME_BYTES]; /* for sentences */
    int fd;
    bool owns_fd;
    int failure;     /* errno of the first failed write; such a file is never committed */
    char *target;    /* what the temporary file will be called */
    char *temporary; /* NULL: we write to the target itself */
    size_t n_held;
    char buffer[BUFFER_BYTES];
};

static cof_status system_failure(const cof_output *output, int number, cof_error *err)
{
    return cofi_fail(err, COF_ERR_IO, "cannot write %s: %s", output->name, strerror(number));
}

/* Unlike mkstemp, leaves the permissions to open and so to the user's umask. Names that cannot be guessed
 * keep others from taking them on purpose; should one be taken by accident, the next is tried. */
static int open_unique(char *path, size_t n_folder)
{
    const int tries = 100;
    int fd = -1;
    for (int i = 0; i < tries && fd < 0; i++) {
        uint64_t number;
        if (getentropy(&number, sizeof number) != 0) return -1;
        sprintf(path + n_folder, ".coforest-%016llx", (unsigned long long)number);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    return fd;
}

static cof_status open_temporary(cof_output *output, const char *target, cof_error *err)
{
    const size_t name_bytes = sizeof ".coforest-0123456789abcdef";
    const char *slash = strrchr(target, '/');
    size_t n_folder = slash != NULL ? (size_t)(slash - target) + 1 : 0;
    output->target = cofi_copy_text(&output->env, target, strlen(target));
    char *path = cofi_alloc(&output->env, n_folder + name_bytes, 1);
    if (output->target == NULL || path == NULL) goto no_memory;
    memcpy(path, target, n_folder);
    output->fd = open_unique(path, n_folder);
    if (output->fd < 0) {
        int number = errno;
        cofi_release(&output->env, path);
        return cofi_fail(err, COF_ERR_IO, "cannot write %s: no file can be made in its folder: %s",
                         output->name, strerror(number));
    }
    output->owns_fd = true;
    output->temporary = path;
    return COF_OK;
no_memory:
    cofi_release(&output->env, path);
    return cofi_no_memory(err);
}

static cof_status open_directly(cof_output *output, const char *path, cof_error *err)
{
    output->fd = open(path, O_WRONLY | O_CLOEXEC);
    output->owns_fd = true;
    return output->fd >= 0 ? COF_OK : system_failure(output, errno, err);
}

/* A file that is to be replaced: the caller must be allowed to change it, and its permissions live on. A link
 * stays a link, and what it leads to is replaced. */
static cof_status open_over(cof_output *output, const char *path, mode_t mode, cof_error *err)
{
    char real[PATH_MAX];
    if (access(path, W_OK) != 0 || realpath(path, real) == NULL) return system_failure(output, errno, err);
    cof_status status = open_temporary(output, real, err);
    /* Some file systems have no permissions to set, and then there are none to keep. */
    if (status == COF_OK) (void)fchmod(output->fd, mode & 0777);
    return status;
}

static cof_status open_path(cof_output *output, const char *path, cof_error *err)
{
    struct stat about;
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        output->fd = STDOUT_FILENO;
        /* What the program has printed so far comes first. */
        return fflush(stdout) == 0 ? COF_OK : system_failure(output, errno, err);
    }
    if (stat(path, &about) != 0)
        return errno == ENOENT ? open_temporary(output, path, err) : system_failure(output, errno, err);
    if (S_ISREG(about.st_mode)) return open_over(output, path, about.st_mode, err);
    if (S_ISDIR(about.st_mode)) return system_failure(output, EISDIR, err);
    return open_directly(output, path, err);
}

cof_status cof_output_open(const cof_env *env, const char *path, cof_output **out, cof_error *err)
{
    cof_env own = cofi_env_resolve(env);
    if (path == NULL || *path == '\0' || out == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "cof_output_open needs a path and a place for the handle");
    cof_output *output = cofi_alloc(&own, 1, sizeof *output);
    if (output == NULL) return cofi_no_memory(err);
    memset(output, 0, offsetof(cof_output, buffer));
    output->env = own;
    output->fd = -1;
    cofi_utf8_show_tail(output->name, sizeof output->name, strcmp(path, "-") == 0 ? "standard output" : path);
    cof_status status = open_path(output, path, err);
    if (status != COF_OK) {
        cof_output_discard(output);
        return status;
    }
    *out = output;
    return COF_OK;
}

static void write_through(cof_output *output, const char *bytes, size_t n)
{
    while (n > 0 && output->failure == 0) {
        ssize_t n_written = write(output->fd, bytes, n);
        if (n_written < 0 && errno == EINTR) continue;
        if (n_written < 0) {
            output->failure = errno;
        } else {
            bytes += n_written;
            n -= (size_t)n_written;
        }
    }
}

static void flush(cof_output *output)
{
    write_through(output, output->buffer, output->n_held);
    output->n_held = 0;
}

cof_status cof_output_write(cof_output *output, const void *bytes, size_t n_bytes, cof_error *err)
{
    if (n_bytes > BUFFER_BYTES - output->n_held) flush(output);
    if (n_bytes > BUFFER_BYTES) {
        write_through(output, bytes, n_bytes);
    } else if (n_bytes > 0) {
        memcpy(output->buffer + output->n_held, bytes, n_bytes);
        output->n_held += n_bytes;
    }
    return output->failure == 0 ? COF_OK : system_failure(output, output->failure, err);
}

/* Every step may be the first to learn that the disk is full, so each one is asked. */
static void finish_file(cof_output *output)
{
    flush(output);
    if (output->failure == 0 && output->temporary != NULL && fsync(output->fd) != 0 && errno != EINVAL &&
        errno != ENOTSUP)
        output->failure = errno;
    if (output->owns_fd && close(output->fd) != 0 && output->failure == 0) output->failure = errno;
    output->fd = -1;
    if (output->failure == 0 && output->temporary != NULL && rename(output->temporary, output->target) != 0)
        output->failure = errno;
}

cof_status cof_output_commit(cof_output *output, cof_error *err)
{
    cof_status status = COF_OK;
    finish_file(output);
    if (output->failure != 0) {
        status = system_failure(output, output->failure, err);
    } else {
        cofi_release(&output->env, output->temporary);
        output->temporary = NULL; /* it has its real name now, and must not be removed */
    }
    cof_output_discard(output);
    return status;
}

void cof_output_discard(cof_output *output)
{
    if (output == NULL) return;
    cof_env env = output->env;
    if (output->fd >= 0 && output->owns_fd) close(output->fd);
    if (output->temporary != NULL) unlink(output->temporary);
    cofi_release(&env, output->temporary);
    cofi_release(&env, output->target);
    cofi_release(&env, output);
}
