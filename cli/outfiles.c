/* The files a run leaves: all of them or none. */
#include "outfiles.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"

bool is_stdout(const outfile *f)
{
    return f->path != NULL && (strcmp(f->path, "-") == 0 || strcmp(f->path, "/dev/stdout") == 0);
}

/* A name that two spellings of one place share: links followed as far as the path exists. */
static char *place_of(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole != NULL) return whole;
    const char *slash = strrchr(path, '/');
    const char *leaf = slash == NULL ? path : slash + 1;
    char *folder = slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    char *real = folder == NULL ? NULL : realpath(folder, NULL);
    char *joined = NULL;
    if (asprintf(&joined, "%s/%s", real != NULL ? real : folder, leaf) < 0) joined = NULL;
    free(folder);
    free(real);
    return joined;
}

static bool is_special(const char *path)
{
    struct stat s;
    return strcmp(path, "-") == 0 || (stat(path, &s) == 0 && !S_ISREG(s.st_mode));
}

static bool same_file(const char *a, const char *b)
{
    struct stat s, t;
    if (is_special(a)) return strcmp(a, "-") == 0 && strcmp(b, "-") == 0; /* /dev/null twice is fine */
    char *place_a = place_of(a), *place_b = place_of(b);
    bool same = place_a != NULL && place_b != NULL && strcmp(place_a, place_b) == 0;
    if (!same && stat(a, &s) == 0 && stat(b, &t) == 0) same = s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    free(place_a);
    free(place_b);
    return same;
}

static int check_apart(const outfile *files, size_t n, const char *const *inputs, size_t n_inputs)
{
    for (size_t i = 0; i < n; i++) {
        if (files[i].path == NULL) continue;
        if (*files[i].path == '\0') return complain(CODE_USAGE, "%s needs a file name", files[i].option);
        for (size_t j = 0; j < n_inputs; j++)
            if (inputs[j] != NULL && !is_stdout(&files[i]) && same_file(files[i].path, inputs[j]))
                return complain(CODE_USAGE, "%s would overwrite %s, which is an input", files[i].option,
                                inputs[j]);
        for (size_t j = 0; j < i; j++)
            if (files[j].path != NULL && same_file(files[i].path, files[j].path))
                return complain(CODE_USAGE, "%s and %s name the same file, %s", files[j].option,
                                files[i].option, files[i].path);
    }
    return CODE_DONE;
}

static int complain_path(const char *path, int reason)
{
    return complain(CODE_FAILED, "cannot write %s: %s", path, strerror(reason));
}

/* In the same folder, so that renaming is one step; not made from the name, which may be as long as names
 * can be. */
static char *part_beside(const char *target, const char *option)
{
    char *part = NULL;
    int n_folder = (int)(strrchr(target, '/') - target) + 1;
    if (asprintf(&part, "%.*s.coforest%s-%ld", n_folder, target, option + 1, (long)getpid()) < 0) part = NULL;
    return part;
}

/* Opening and discarding shows that the file could be made, and leaves nothing behind even if the
 * run is killed later. A pipe must not be opened twice: its reader would take the first for the end. */
static int try_file(outfile *f)
{
    cof_output *probe = NULL;
    if (is_stdout(f)) return CODE_DONE;
    if (is_special(f->path)) {
        struct stat s;
        if (stat(f->path, &s) == 0 && S_ISDIR(s.st_mode)) return complain_path(f->path, EISDIR);
        return access(f->path, W_OK) == 0 ? CODE_DONE : complain_path(f->path, errno);
    }
    f->target = place_of(f->path);
    f->part = f->target == NULL ? NULL : part_beside(f->target, f->option);
    if (f->part == NULL) return complain_memory();
    cof_status status = cof_output_open(NULL, f->path, &probe, &f->err);
    if (status != COF_OK) return complain_status(status, TASK_OUTPUT, &f->err);
    cof_output_discard(probe);
    return CODE_DONE;
}

int outfiles_check(outfile *files, size_t n, const char *const *inputs, size_t n_inputs)
{
    int code = check_apart(files, n, inputs, n_inputs);
    for (size_t i = 0; i < n && code == CODE_DONE; i++)
        if (files[i].path != NULL) code = try_file(&files[i]);
    return code;
}

static const char *written_path(const outfile *f)
{
    return f->part != NULL ? f->part : f->path;
}

/* The user knows the file by the name given, not by the one it has while it waits. */
static int complain_outfile(const outfile *f, cof_status status)
{
    if (is_stdout(f) && reader_gone()) return CODE_FAILED; /* as in `| head`: no words */
    const char *at = f->part == NULL ? NULL : strstr(f->err.text, f->part);
    if (at == NULL) return complain_status(status, TASK_OUTPUT, &f->err);
    return complain(exit_code(status, TASK_OUTPUT), "%.*s%s%s", (int)(at - f->err.text), f->err.text, f->path,
                    at + strlen(f->part));
}

int outfile_open(outfile *f)
{
    f->status = cof_output_open(NULL, written_path(f), &f->output, &f->err);
    return f->status == COF_OK ? CODE_DONE : complain_outfile(f, f->status);
}

void outfile_put(outfile *f, const char *bytes, size_t n_bytes)
{
    if (f->status == COF_OK) f->status = cof_output_write(f->output, bytes, n_bytes, &f->err);
}

void outfile_print(outfile *f, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    outfile_put(f, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

int outfile_finish(outfile *f)
{
    if (f->status == COF_OK)
        f->status = cof_output_commit(f->output, &f->err);
    else
        cof_output_discard(f->output);
    f->output = NULL;
    f->waiting = f->status == COF_OK && f->part != NULL;
    return f->status == COF_OK ? CODE_DONE : complain_outfile(f, f->status);
}

int outfile_save_model(outfile *f, const cof_model *model)
{
    f->status = cof_model_save(model, written_path(f), &f->err);
    f->waiting = f->status == COF_OK && f->part != NULL;
    return f->status == COF_OK ? CODE_DONE : complain_outfile(f, f->status);
}

/* Of a file that is replaced; where a file system has none there is nothing to keep. */
static void keep_permissions(const outfile *f)
{
    struct stat s;
    if (stat(f->target, &s) == 0 && chmod(f->part, s.st_mode & 0777) != 0) errno = 0;
}

int outfiles_publish(outfile *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!files[i].waiting) continue;
        keep_permissions(&files[i]);
        if (rename(files[i].part, files[i].target) != 0) return complain_path(files[i].path, errno);
        files[i].waiting = false;
    }
    return CODE_DONE;
}

void outfiles_free(outfile *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (files[i].output != NULL) cof_output_discard(files[i].output);
        if (files[i].waiting) unlink(files[i].part);
        free(files[i].target);
        free(files[i].part);
        files[i] = (outfile){.option = files[i].option};
    }
}
