/* The files that a run writes: all of them or none. */
#include "outfiles.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "complain.h"
#include "host/host.h"

bool is_stdout(const outfile *f)
{
    return f->path != NULL && (strcmp(f->path, "-") == 0 || strcmp(f->path, "/dev/stdout") == 0);
}

bool any_stdout(const outfile *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_stdout(&files[i])) return true;
    return false;
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

static bool same_inode(const struct stat *s, const struct stat *t)
{
    return s->st_dev == t->st_dev && s->st_ino == t->st_ino;
}

static bool same_file(const char *a, const char *b)
{
    struct stat s, t;
    if (is_special(a)) return strcmp(a, "-") == 0 && strcmp(b, "-") == 0; /* /dev/null twice is fine */
    char *place_a = place_of(a), *place_b = place_of(b);
    bool same = place_a != NULL && place_b != NULL && strcmp(place_a, place_b) == 0;
    if (!same && stat(a, &s) == 0 && stat(b, &t) == 0) same = same_inode(&s, &t);
    free(place_a);
    free(place_b);
    return same;
}

/* A file given by `<` is an input like one given by its name. */
static bool overwrites(const outfile *f, const char *input)
{
    struct stat s, t;
    if (is_stdout(f)) return false;
    if (strcmp(input, "-") != 0) return same_file(f->path, input);
    return !is_special(f->path) && stat(f->path, &s) == 0 && fstat(STDIN_FILENO, &t) == 0 &&
           same_inode(&s, &t);
}

static int check_apart(const outfile *files, size_t n, const char *const *inputs, size_t n_inputs)
{
    for (size_t i = 0; i < n; i++) {
        if (files[i].path == NULL) continue;
        if (*files[i].path == '\0') return complain(CODE_USAGE, "%s needs a file name", files[i].option);
        for (size_t j = 0; j < n_inputs; j++)
            if (inputs[j] != NULL && overwrites(&files[i], inputs[j])) {
                bool by_stdin = strcmp(inputs[j], "-") == 0;
                return complain(CODE_USAGE, "%s would overwrite %s, which is an input%s", files[i].option,
                                by_stdin ? files[i].path : inputs[j], by_stdin ? " (standard input)" : "");
            }
        for (size_t j = 0; j < i; j++)
            if (files[j].path != NULL && same_file(files[i].path, files[j].path))
                return complain(CODE_USAGE, "%s and %s name the same file, %s", files[j].option,
                                files[i].option, files[i].path);
    }
    return CODE_DONE;
}

static bool is_kept(const outfile *f)
{
    return f->keep && !is_special(f->path) && access(f->path, F_OK) == 0;
}

static int complain_kept(const outfile *f)
{
    return complain(CODE_FAILED, "%s exists, and --no-clobber keeps it; give %s another name", f->path,
                    f->option);
}

/* Opening and discarding shows that the file could be made, and leaves nothing behind even if the
 * run is killed later. A pipe must not be opened twice: its reader would take the first for the end. */
static int try_file(outfile *f)
{
    cof_output *probe = NULL;
    if (is_stdout(f)) return CODE_DONE;
    if (is_kept(f)) return complain_kept(f);
    if (is_special(f->path)) {
        struct stat s;
        bool folder = stat(f->path, &s) == 0 && S_ISDIR(s.st_mode);
        if (!folder && access(f->path, W_OK) == 0) return CODE_DONE;
        return complain(CODE_FAILED, "cannot write %s: %s", f->path, strerror(folder ? EISDIR : errno));
    }
    cof_status status = cof_output_open(NULL, f->path, &probe, &f->err);
    if (status != COF_OK) return complain_error(status, TASK_OUTPUT, &f->err);
    cof_output_discard(probe);
    return CODE_DONE;
}

int outfiles_check(outfile *files, size_t n, output_settings how, const char *const *inputs, size_t n_inputs)
{
    for (size_t i = 0; i < n; i++) {
        files[i].raw = how.raw_names;
        files[i].keep = how.no_clobber;
        if (how.json && is_stdout(&files[i]))
            return complain(CODE_USAGE, "--json and %s - both want standard output", files[i].option);
    }
    TRY(check_apart(files, n, inputs, n_inputs));
    for (size_t i = 0; i < n; i++)
        if (files[i].path != NULL) TRY(try_file(&files[i]));
    return CODE_DONE;
}

static int complain_outfile(const outfile *f, cof_status status)
{
    if (is_stdout(f) && reader_gone()) return CODE_FAILED; /* as in `| head`: no words */
    return complain_error(status, TASK_OUTPUT, &f->err);
}

/* Outputs that wait to be published. */
static struct {
    cof_output **output;
    size_t n, room;
} waiting;

void outfiles_abandon(void)
{
    while (waiting.n > 0) cof_output_discard(waiting.output[--waiting.n]);
}

int outfile_open(outfile *f)
{
    if (is_kept(f)) return complain_kept(f); /* one of several in a folder, or made since the check */
    if (waiting.n == waiting.room) {
        cof_output **grown = keep(2 * waiting.room + 16, sizeof *grown);
        if (waiting.n > 0) memcpy(grown, waiting.output, waiting.n * sizeof *grown);
        waiting.output = grown;
        waiting.room = 2 * waiting.room + 16;
    }
    if (is_stdout(f)) fflush(stdout); /* what was printed so far comes first */
    f->status = cof_output_open(NULL, f->path, &f->output, &f->err);
    if (f->status != COF_OK) return complain_outfile(f, f->status);
    waiting.output[waiting.n++] = f->output;
    return CODE_DONE;
}

void outfile_put(outfile *f, const char *bytes, size_t n_bytes)
{
    if (f->status == COF_OK) f->status = cof_output_write(f->output, bytes, n_bytes, &f->err);
}

int outfile_sink(void *ctx, const char *text, size_t n_bytes)
{
    outfile *f = ctx;
    outfile_put(f, text, n_bytes);
    return f->status != COF_OK;
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
    if (f->status == COF_OK) f->status = cof_output_finish(f->output, &f->err);
    return f->status == COF_OK ? CODE_DONE : complain_outfile(f, f->status);
}

int outfile_save_model(outfile *f, const cof_model *model)
{
    TRY(outfile_open(f));
    cof_status status = cof_model_write(model, outfile_sink, f, &said);
    if (status != COF_OK && f->status == COF_OK) return complain_status(status, TASK_OUTPUT);
    return outfile_finish(f);
}

int outfiles_publish(outfile *files, size_t n)
{
    cof_output **outputs = keep(n + 1, sizeof *outputs);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        outputs[i] = files[i].output;
        while (at < waiting.n && waiting.output[at] != outputs[i]) at++;
        if (at < waiting.n) waiting.output[at] = waiting.output[--waiting.n];
        files[i].output = NULL;
    }
    return complain_status(cof_output_publish(outputs, n, &said), TASK_OUTPUT);
}

bool show_outfiles(const page *p, const outfile *files, size_t n, const char *const *what)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (files[i].path == NULL || is_stdout(&files[i])) continue;
        fprintf(p->out, "Wrote:     %s%s%s, %s\n", bold(p), show_text(files[i].path, 200).text, plain(p),
                what[i]);
        any = true;
    }
    return any;
}
