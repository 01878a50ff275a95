/* A file that appears under its name only when it is complete: it is staged beside its target and renamed
 * at the end. A path that is not a regular file (a terminal, a pipe, /dev/null) is written directly. */
#include "staged.h"
#include "utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 16, NAME_BYTES = 240 };

struct cof_output {
    cof_env env;
    char name[NAME_BYTES]; /* for messages */
    int fd;                /* of a device, of standard output or of the staged file */
    bool owns_fd;          /* only that of a device */
    bool finished;
    int failure; /* errno of the first failed step; a file with a failure is never published */
    cofi_staged staged;
    size_t n_held;
    char buffer[BUFFER_BYTES];
};

static cof_status system_failure(const cof_output *output, int number, cof_error *err)
{
    return cofi_fail(err, COF_ERR_IO, "cannot write %s: %s", output->name, strerror(number));
}

static cof_status open_staged(cof_output *output, const char *target, const struct stat *replaced,
                              cof_error *err)
{
    int number = cofi_staged_open(&output->env, target, replaced, &output->staged);
    if (number == ENOMEM) return cofi_no_memory(err);
    if (number != 0)
        return cofi_fail(err, COF_ERR_IO, "cannot write %s: no file can be made in its folder: %s",
                         output->name, strerror(number));
    output->fd = output->staged.fd;
    return COF_OK;
}

static cof_status open_path(cof_output *output, const char *path, cof_error *err)
{
    struct stat about, itself;
    char real[PATH_MAX];
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        output->fd = STDOUT_FILENO;
        return COF_OK;
    }
    /* The link is examined before its target: between the two calls another process may create the file,
     * and a new file must not be mistaken for a dangling link. */
    bool is_link = lstat(path, &itself) == 0 && S_ISLNK(itself.st_mode);
    if (stat(path, &about) != 0) {
        if (errno != ENOENT) return system_failure(output, errno, err);
        if (!is_link) return open_staged(output, path, NULL, err);
        /* A dangling link is not followed: whoever placed it would choose where the file appears. It is not replaced
         * either, because it may be intended. */
        return cofi_fail(err, COF_ERR_IO,
                         "cannot write %s: it is a link to a file that does not exist; remove the link, or "
                         "make the file",
                         output->name);
    }
    if (S_ISDIR(about.st_mode)) return system_failure(output, EISDIR, err);
    if (S_ISREG(about.st_mode)) {
        /* The caller must have permission to change the file. A link remains a link; its target is replaced. */
        bool allowed = access(path, W_OK) == 0 && realpath(path, real) != NULL;
        return allowed ? open_staged(output, real, &about, err) : system_failure(output, errno, err);
    }
    output->fd = open(path, O_WRONLY | O_CLOEXEC);
    output->owns_fd = true;
    if (output->fd < 0 || fstat(output->fd, &about) != 0) return system_failure(output, errno, err);
    /* The path may have become a regular file since it was examined; it must not be overwritten. */
    return S_ISREG(about.st_mode) ? system_failure(output, EEXIST, err) : COF_OK;
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
    output->staged = COFI_STAGED_NONE;
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
    if (output->finished && output->failure == 0) output->failure = EBADF;
    if (n_bytes > BUFFER_BYTES - output->n_held) flush(output);
    if (n_bytes > BUFFER_BYTES) {
        write_through(output, bytes, n_bytes);
    } else if (n_bytes > 0) {
        memcpy(output->buffer + output->n_held, bytes, n_bytes);
        output->n_held += n_bytes;
    }
    return output->failure == 0 ? COF_OK : system_failure(output, output->failure, err);
}

/* Every step may be the first to report a full disk, so the result of each is checked. A close that a
 * signal interrupts has closed the file. */
cof_status cof_output_finish(cof_output *output, cof_error *err)
{
    if (!output->finished) {
        flush(output);
        if (output->failure == 0 && output->staged.fd >= 0) output->failure = cofi_sync(output->staged.fd);
        if (output->owns_fd && close(output->fd) != 0 && errno != EINTR && output->failure == 0)
            output->failure = errno;
        output->fd = -1;
        output->finished = true;
    }
    return output->failure == 0 ? COF_OK : system_failure(output, output->failure, err);
}

/* Renames all files, then syncs the folders, so that the files survive a crash after the return; a failure
 * anywhere undoes all of it. */
static cof_status place_all(cof_output *const *outputs, size_t n, cof_error *err)
{
    cof_status status = COF_OK;
    for (size_t step = 0; step < 2 * n && status == COF_OK; step++) {
        cof_output *output = outputs[step % n];
        if (output == NULL || output->staged.fd < 0) continue;
        int number = step < n ? cofi_staged_place(&output->staged) : cofi_sync(output->staged.folder);
        if (number != 0) status = system_failure(output, number, err);
    }
    for (size_t i = n; status != COF_OK && i-- > 0;)
        if (outputs[i] != NULL) cofi_staged_put_back(&outputs[i]->staged);
    return status;
}

cof_status cof_output_publish(cof_output *const *outputs, size_t n, cof_error *err)
{
    cof_status status = COF_OK;
    const cofi_staged *first = NULL;
    size_t n_staged = 0;
    for (size_t i = 0; i < n && status == COF_OK; i++) {
        if (outputs[i] == NULL) continue;
        status = cof_output_finish(outputs[i], err);
        if (outputs[i]->staged.fd < 0) continue;
        n_staged++;
        if (first == NULL) first = &outputs[i]->staged;
    }
    if (status == COF_OK && n_staged > 1) cofi_staged_lock_folder(first);
    if (status == COF_OK) status = place_all(outputs, n, err);
    for (size_t i = 0; i < n; i++) cof_output_discard(outputs[i]);
    return status;
}

cof_status cof_output_commit(cof_output *output, cof_error *err)
{
    return cof_output_publish(&output, 1, err);
}

void cof_output_discard(cof_output *output)
{
    if (output == NULL) return;
    cof_env env = output->env;
    if (output->fd >= 0 && output->owns_fd) close(output->fd);
    cofi_staged_close(&env, &output->staged);
    cofi_release(&env, output);
}
