/* Errors: one sentence on standard error and the exit code that goes with it. */
#include "complain.h"

#include <ctype.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "outfiles.h"
#include "term.h"

const char *program_name = "coforest";

/* Sentences quote names out of tables, so they are cleaned piece by piece before a terminal sees them. */
int complain(int code, const char *format, ...)
{
    char sentence[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    fputs("coforest: ", stderr);
    for (size_t at = 0; sentence[at] != '\0';) {
        char part[128];
        size_t n = strlen(sentence + at) < 100 ? strlen(sentence + at) : 100;
        while (n > 1 && ((unsigned char)sentence[at + n] & 0xC0) == 0x80) n--; /* between characters */
        snprintf(part, sizeof part, "%.*s", (int)n, sentence + at);
        fputs(show_text(part, 1000).text, stderr);
        at += n;
    }
    fputc('\n', stderr);
    return code;
}

static char **words;
static int n_words;

void remember_command(int argc, char **argv)
{
    words = argv;
    n_words = argc;
}

/* Where `part` stands in an argument, set off by its ends or by what separates names. */
static const char *find_part(const char *argument, const char *part)
{
    size_t n = strlen(part);
    for (const char *at = strstr(argument, part); n > 0 && at != NULL; at = strstr(at + 1, part))
        if ((at == argument || strchr(",=:", at[-1]) != NULL) && strchr(",=", at[n]) != NULL) return at;
    return NULL;
}

int suggest(int code, const char *wrong, const char *right)
{
    enum { LONGEST = 200 };
    bool found = wrong == NULL;
    char *line = keep_text("Try:       %s", show_shell_word(program_name).text);
    for (int i = 1; i < n_words; i++) {
        const char *argument = words[i], *at = found ? NULL : find_part(argument, wrong);
        found = found || at != NULL;
        if (at != NULL && right == NULL) continue;
        if (at != NULL)
            argument = keep_text("%.*s%s%s", (int)(at - argument), argument, right, at + strlen(wrong));
        if (strlen(argument) > LONGEST || strchr(argument, '\'') != NULL) return code;
        size_t dashes = strspn(argument, "-");
        bool bare = dashes > 0 && argument[dashes] == '\0';
        line = keep_text("%s %.*s%s", line, (int)dashes, argument,
                         bare ? "" : show_shell_word(argument + dashes).text);
    }
    if (found) fprintf(stderr, wrong == NULL ? "%s %s\n" : "%s\n", line, right);
    return code;
}

int exit_code(cof_status status, task doing)
{
    switch (status) {
    case COF_OK:
        return CODE_DONE;
    case COF_ERR_STOPPED:
        return CODE_INTERRUPTED;
    case COF_ERR_MODEL:
    case COF_ERR_TOO_NEW:
    case COF_ERR_NO_PREDICTION:
        return CODE_MODEL;
    case COF_ERR_DATA:
    case COF_ERR_UNSUPPORTED:
    case COF_ERR_FEW_ROWS:
    case COF_ERR_NO_COLUMNS:
    case COF_ERR_NO_RESULT:
    case COF_ERR_MISSING:
        return CODE_DATA;
    case COF_ERR_ARGUMENT:
        /* predicting, the only thing left that can be wrong is a table without the model's columns */
        return doing == TASK_PREDICT ? CODE_DATA : CODE_USAGE;
    case COF_ERR_IO:
        return doing == TASK_TABLE ? CODE_DATA : doing == TASK_MODEL ? CODE_MODEL : CODE_FAILED;
    default:
        return CODE_FAILED;
    }
}

cof_error said;

int complain_status(cof_status status, task doing)
{
    return complain_error(status, doing, &said);
}

int complain_error(cof_status status, task doing, const cof_error *err)
{
    if (status == COF_OK) return CODE_DONE;
    const char *text = err->text[0] != '\0' ? err->text : cof_status_text(status);
    if (status == COF_ERR_STOPPED)
        return complain(CODE_INTERRUPTED, "interrupted before there was a result; nothing was written");
    return complain(exit_code(status, doing), "%s", text);
}

/* The header of a block that is kept. */
struct kept {
    _Alignas(max_align_t) struct kept *before;
    void *handle; /* to be released with the block */
    void (*release)(void *handle);
};
static struct kept *last_kept;

void *keep(size_t n, size_t size)
{
    size_t bytes;
    bool too_many =
        __builtin_mul_overflow(n, size, &bytes) || __builtin_add_overflow(bytes, sizeof(struct kept), &bytes);
    struct kept *block = too_many ? NULL : calloc(bytes, 1);
    if (block == NULL) {
        outfiles_abandon();
        exit(complain(CODE_FAILED, "out of memory"));
    }
    block->before = last_kept;
    last_kept = block;
    return block + 1;
}

char *keep_text(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t n = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    char *text = keep(n, 1);
    vsnprintf(text, n, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void keep_handle(void *handle, void (*release)(void *handle))
{
    keep(0, 1);
    last_kept->handle = handle;
    last_kept->release = release;
}

static void release_table(void *table)
{
    cof_table_free(table);
}

static void release_model(void *model)
{
    cof_model_free(model);
}

void keep_table(cof_table *table)
{
    keep_handle(table, release_table);
}

void keep_model(cof_model *model)
{
    keep_handle(model, release_model);
}

void release_kept(void)
{
    while (last_kept != NULL) {
        struct kept *block = last_kept;
        last_kept = block->before;
        if (block->release != NULL) block->release(block->handle);
        free(block);
    }
}

/* Edits between two words, letter case aside: insert, drop, change, or swap two neighbours. Words longer
 * than the rows below are not worth a guess. */
static int edits(const char *a, const char *b)
{
    enum { MOST = 64 };
    int row[3][MOST + 1];
    int na = (int)strlen(a), nb = (int)strlen(b);
    if (na > MOST || nb > MOST) return MOST;
    for (int j = 0; j <= nb; j++) row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            int best = before[j - 1] + (same ? 0 : 1);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[na % 3][nb];
}

int misspelling(const char *typed, const char *candidate)
{
    size_t n = strlen(typed);
    int allowed = n < 6 ? 1 : n < 9 ? 2 : 3;
    int distance = edits(typed, candidate);
    if (distance <= allowed && distance < (int)strlen(candidate)) return distance + 1;
    if (n >= 3 && strncmp(typed, candidate, n) == 0) return allowed + 2; /* a beginning of it */
    return 0;
}

const char *nearest(const char *typed, const char *const *candidates)
{
    const char *best = NULL;
    int least = 0;
    for (size_t i = 0; candidates[i] != NULL; i++) {
        int distance = misspelling(typed, candidates[i]);
        if (distance == 0 || (best != NULL && distance >= least)) continue;
        best = candidates[i];
        least = distance;
    }
    return best;
}
