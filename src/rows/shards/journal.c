/* A journal of summed answers. A fit is determined by the answers to its requests, so a driver that starts again with
 * the same options asks the same requests in the same order: the journal answers those that it has, the shards the rest.
 *
 * Bytes, little-endian: "COFJOURN", u32 version, u32 bytes of the head, u64 checksum of the schema, u64 digest of the
 * rows, u64 version of the library, u64 checksum of these; per answer u64 checksum of the request, u64 words, the words,
 * u64 checksum of these. Answers are written to the disk once a second, and always before the next request goes out if they
 * took that long: shards in one process answer in less time than a disk takes to say that it has written. Where the first
 * incomplete or damaged answer begins, the journal ends: it is cut off there, and what followed is asked again. */
#include "../../core/staged.h"
#include "../../core/system/system.h"
#include "../../table/schema.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { VERSION = 2, HEAD_BYTES = 48, RECORD_HEAD = 16, RECORD_END = 8 };
#define SYNC_S 1.0
enum { SUM_BYTES = 8, OLD_HEAD_BYTES = 32, MOST_HEAD_BYTES = 256 };

/* What a journal holds for. */
typedef struct journal_head {
    uint32_t version, length; /* bytes, with the checksum at the end; 0 in version 1 */
    uint64_t schema_sum, digest, library;
} journal_head;

struct cof_journal {
    cof_env env;
    cof_shards shards;
    char name[240]; /* for messages */
    int fd;
    journal_head head;
    uint64_t size;  /* of the file when it was opened */
    uint64_t at;    /* where the next answer is, or will be written */
    bool replaying; /* answers may follow at `at` */
    uint64_t n_replayed;
    double synced_s; /* when the file was last known to be on the disk */
    bool unsynced;   /* more was written since */
    cofi_writer record;
    cof_error why;
};

/* Reads exactly n bytes; false at the end of the file or on failure, which sets *failed. */
static bool read_at(const cof_journal *j, uint64_t at, void *to, size_t n, bool *failed)
{
    for (size_t got = 0; got < n;) {
        ssize_t here = pread(j->fd, (char *)to + got, n - got, (off_t)(at + got));
        if (here < 0 && errno == EINTR) continue;
        *failed |= here < 0;
        if (here <= 0) return false;
        got += (size_t)here;
    }
    return true;
}

static bool write_at(const cof_journal *j, uint64_t at, const void *from, size_t n)
{
    for (size_t put = 0; put < n;) {
        ssize_t here = pwrite(j->fd, (const char *)from + put, n - put, (off_t)(at + put));
        if (here < 0 && errno == EINTR) continue;
        if (here <= 0) return false;
        put += (size_t)here;
    }
    return true;
}

static cof_status system_failure(const cof_journal *j, const char *what, cof_error *err)
{
    return cofi_fail(err, COF_ERR_IO, "cannot %s the journal %s: %s", what, j->name, strerror(errno));
}

static int cut_at(const cof_journal *j, uint64_t n_bytes)
{
    int result;
    do result = ftruncate(j->fd, (off_t)n_bytes);
    while (result != 0 && errno == EINTR);
    return result;
}

/* ---- Opening ------------------------------------------------------------------------------------- */

/* What the rows of the shards are, in whatever way they are cut into shards. */
static cof_status ask_digest(cof_journal *j, const cof_schema *schema, uint64_t *digest, cof_error *err)
{
    uint32_t first = 0;
    cofi_frame frame = {.missing = COF_MISSING_VALUE,
                        .n_attrs = 1,
                        .column = &first,
                        .unit = 1,
                        .n_rows = schema->n_rows,
                        .total_weight = 1};
    uint64_t answer[1 + COFI_ANSWER_END] = {0};
    size_t n = sizeof answer / sizeof *answer;
    cofi_request_begin(&j->record, COFI_ASK_DIGEST, &frame);
    cofi_request_end(&j->record, n);
    if (j->record.failed) return cofi_no_memory(err);
    if (j->shards.ask(j->shards.ctx, j->record.bytes, j->record.n, answer, n) != 0) {
        const char *why = j->shards.why != NULL ? j->shards.why(j->shards.ctx) : NULL;
        return cofi_fail(err, COF_ERR_BACKEND, "%s",
                         why != NULL ? why : "the shards cannot be reached: a request was not answered");
    }
    *digest = answer[0];
    return cofi_answer_check(answer, n, schema->n_rows, err);
}

/* Everything before the checksum. */
static void code_head(cofi_codec *c, journal_head *h)
{
    cofi_code_magic(c, "COFJOURN");
    COFI_CODE(c, &h->version);
    COFI_CODE(c, &h->length);
    COFI_CODE(c, &h->schema_sum);
    COFI_CODE(c, &h->digest);
    COFI_CODE(c, &h->library);
}

/* The head that belongs to these rows, and its bytes in j->record. */
static cof_status make_head(cof_journal *j, const cof_schema *schema, cof_error *err)
{
    cofi_writer *w = &j->record;
    journal_head *h = &j->head;
    cofi_codec c = {.to = w};
    *h = (journal_head){VERSION, HEAD_BYTES,
                        .library =
                            (uint64_t)COF_VERSION_MAJOR << 32 | COF_VERSION_MINOR << 16 | COF_VERSION_PATCH};
    COFI_TRY(ask_digest(j, schema, &h->digest, err));
    w->n = 0;
    cofi_schema_put(w, schema);
    if (!w->failed) h->schema_sum = cofi_checksum(w->bytes, w->n);
    w->n = 0;
    code_head(&c, h);
    if (!w->failed) cofi_put_u64(w, cofi_checksum(w->bytes, w->n));
    return w->failed ? cofi_no_memory(err) : COF_OK;
}

/* The folder of a new journal keeps its name, too. That is best effort: a folder may be unreadable. */
static void sync_folder(const cof_journal *j, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    char *folder = cofi_alloc(&j->env, n + 2, 1);
    if (folder == NULL) return;
    memcpy(folder, n > 0 ? path : ".", n > 0 ? n : 1);
    folder[n > 0 ? n : 1] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        cofi_sync(fd);
        close(fd);
    }
    cofi_release(&j->env, folder);
}

static cof_status write_head(cof_journal *j, const char *path, cof_error *err)
{
    bool ok = cut_at(j, 0) == 0 && write_at(j, 0, j->record.bytes, HEAD_BYTES);
    if (ok) ok = (errno = cofi_sync(j->fd)) == 0;
    if (!ok) return system_failure(j, "write", err);
    sync_folder(j, path);
    return COF_OK;
}

static cof_status compare_heads(const cof_journal *j, const journal_head *there, cof_error *err)
{
    const journal_head *own = &j->head;
    if (there->version > VERSION)
        return cofi_fail(err, COF_ERR_TOO_NEW,
                         "the journal %s has format %u, but this library knows formats up to %d", j->name,
                         there->version, VERSION);
    if (there->version < VERSION)
        return cofi_fail(err, COF_ERR_DATA,
                         "the journal %s is of an earlier version of coforest, which did not note whose rows "
                         "the answers are of; name another file",
                         j->name);
    if (there->library != own->library)
        return cofi_fail(err, COF_ERR_DATA,
                         "the journal %s was begun by version %u.%u.%u of coforest, and this is %s; name "
                         "another file",
                         j->name, (unsigned)(there->library >> 32), (unsigned)(there->library >> 16 & 0xffff),
                         (unsigned)(there->library & 0xffff), cof_version());
    if (there->schema_sum != own->schema_sum || there->digest != own->digest)
        return cofi_fail(
            err, COF_ERR_DATA,
            "the journal %s is of another table, or its columns were used differently; name another file",
            j->name);
    return COF_OK;
}

/* An empty file becomes a journal, and so does one whose head was not written to its end; one that is no journal of these
 * rows is left as it is. */
static cof_status check_head(cof_journal *j, const char *path, cof_error *err)
{
    unsigned char bytes[MOST_HEAD_BYTES] = {0};
    const unsigned char *own = j->record.bytes;
    bool failed = false, torn = j->size <= HEAD_BYTES;
    size_t n = j->size < sizeof bytes ? (size_t)j->size : sizeof bytes;
    if (!read_at(j, 0, bytes, n, &failed)) return system_failure(j, "read", err);
    for (size_t i = 0; torn && i < n; i++) torn = bytes[i] == own[i] || bytes[i] == 0;
    j->at = HEAD_BYTES;
    if (torn && memcmp(bytes, own, HEAD_BYTES) != 0) return write_head(j, path, err);
    cofi_codec c = {.from = {.bytes = bytes, .n = sizeof bytes}};
    journal_head there;
    code_head(&c, &there);
    size_t length = there.length == 0 ? OLD_HEAD_BYTES : there.length;
    if (c.from.failed || there.version == 0 || length > n || length < OLD_HEAD_BYTES ||
        cofi_word_at(bytes + length - SUM_BYTES) != cofi_checksum(bytes, length - SUM_BYTES))
        return cofi_fail(err, COF_ERR_DATA,
                         "%s is not a journal, or its beginning is damaged; name another file", j->name);
    j->replaying = true;
    return compare_heads(j, &there, err);
}

/* The file, which no other run uses and no link leads to. */
static cof_status open_file(cof_journal *j, const char *path, cof_error *err)
{
    struct stat about;
    if (strcmp(path, "-") == 0)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "a journal is read and written, so it cannot be standard output; name a file");
    do j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    while (j->fd < 0 && errno == EINTR);
    if (j->fd < 0 && lstat(path, &about) == 0 && S_ISLNK(about.st_mode))
        return cofi_fail(err, COF_ERR_IO,
                         "the journal %s is a link, which is not followed; name the file itself", j->name);
    if (j->fd < 0 || fstat(j->fd, &about) != 0) return system_failure(j, "open", err);
    if (!S_ISREG(about.st_mode))
        return cofi_fail(err, COF_ERR_IO, "the journal %s is not an ordinary file; name another one",
                         j->name);
    int locked = cofi_lock(j->fd, false);
    if (locked == EWOULDBLOCK)
        return cofi_fail(err, COF_ERR_IO, "the journal %s is in use by another run", j->name);
    if (locked != 0 && cofi_has_locks)
        return cofi_fail(err, COF_ERR_IO,
                         "cannot lock the journal %s, so another run could write to it at the same time: %s; "
                         "name a file on another disk",
                         j->name, strerror(locked));
    if (fstat(j->fd, &about) != 0) return system_failure(j, "read", err);
    j->size = (uint64_t)about.st_size;
    return COF_OK;
}

cof_status cof_journal_open(const cof_env *lent, const char *path, const cof_schema *schema,
                            const cof_shards *shards, cof_journal **out, cof_error *err)
{
    cof_env env = cofi_env_resolve(lent);
    cof_journal *j = cofi_alloc_zero(&env, 1, sizeof *j);
    if (j == NULL) return cofi_no_memory(err);
    j->fd = -1;
    j->env = j->record.env = env;
    COFI_COPY_OPTIONS(&j->shards, shards);
    snprintf(j->name, sizeof j->name, "%s", path);
    cof_status status = open_file(j, path, err);
    if (status == COF_OK) status = make_head(j, schema, err);
    if (status == COF_OK) status = check_head(j, path, err);
    j->synced_s = cofi_now_s();
    if (status == COF_OK)
        *out = j;
    else
        cof_journal_free(j);
    return status;
}

void cof_journal_free(cof_journal *j)
{
    if (j == NULL) return;
    cof_env env = j->env;
    if (j->unsynced) cofi_sync(j->fd);
    if (j->fd >= 0) close(j->fd);
    COFI_RELEASE_ALL(&env, j->record.bytes, j);
}

uint64_t cof_journal_n_replayed(const cof_journal *j)
{
    return j->n_replayed;
}

/* ---- Asking -------------------------------------------------------------------------------------- */

typedef enum replay { REPLAYED, NOT_THERE, REFUSED } replay;

/* The sentence is in j->why. */
static replay refuse(cof_status status)
{
    (void)status;
    return REFUSED;
}

/* Cuts off what begins here; it is asked again. */
static replay end_replay(cof_journal *j, bool failed)
{
    if (failed || cut_at(j, j->at) != 0) return refuse(system_failure(j, "read", &j->why));
    j->replaying = false;
    return NOT_THERE;
}

/* The answer that comes next in the journal, if it is that to this request. */
static replay replay_next(cof_journal *j, uint64_t key, uint64_t *sum, size_t n_words)
{
    bool failed = false;
    unsigned char head[RECORD_HEAD];
    if (!read_at(j, j->at, head, sizeof head, &failed)) return end_replay(j, failed);
    uint64_t n_there = cofi_word_at(head + 8), left = j->size - j->at;
    if (left < RECORD_HEAD + RECORD_END || n_there > (left - RECORD_HEAD - RECORD_END) / sizeof *sum)
        return end_replay(j, false);
    size_t n = RECORD_HEAD + (size_t)n_there * sizeof *sum;
    unsigned char *bytes = cofi_alloc(&j->env, n + RECORD_END, 1);
    if (bytes == NULL) return refuse(cofi_no_memory(&j->why));
    bool good = read_at(j, j->at, bytes, n + RECORD_END, &failed) &&
                cofi_word_at(bytes + n) == cofi_checksum(bytes, n);
    bool asked = good && cofi_word_at(bytes) == key && n_there == n_words;
    for (size_t i = 0; asked && i < n_words; i++) sum[i] += cofi_word_at(bytes + RECORD_HEAD + 8 * i);
    cofi_release(&j->env, bytes);
    if (!good) return end_replay(j, failed);
    if (!asked)
        return refuse(cofi_fail(
            &j->why, COF_ERR_DATA,
            "the journal %s is of a run with other options; repeat that command, or name another file",
            j->name));
    j->at += n + RECORD_END;
    j->n_replayed++;
    return REPLAYED;
}

static bool append(cof_journal *j, uint64_t key, const uint64_t *sum, size_t n_words)
{
    cofi_writer *w = &j->record;
    w->n = 0;
    cofi_put_u64(w, key);
    cofi_put_u64(w, n_words);
    cofi_put_words(w, sum, n_words);
    if (!w->failed) cofi_put_u64(w, cofi_checksum(w->bytes, w->n));
    bool ok = !w->failed && write_at(j, j->at, w->bytes, w->n);
    double now = cofi_now_s();
    j->unsynced = ok;
    if (ok && now - j->synced_s >= SYNC_S) {
        ok = (errno = cofi_sync(j->fd)) == 0;
        j->unsynced = false;
        j->synced_s = now;
    }
    if (!ok)
        system_failure(j, "write", &j->why);
    else
        j->at += w->n;
    return ok;
}

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    cof_journal *j = ctx;
    uint64_t key = cofi_checksum(request, n_bytes);
    replay found = j->replaying ? replay_next(j, key, sum, n_words) : NOT_THERE;
    if (found != NOT_THERE) return found == REFUSED;
    int refused = j->shards.ask(j->shards.ctx, request, n_bytes, sum, n_words);
    if (refused == 0) return !append(j, key, sum, n_words);
    const char *why = j->shards.why != NULL ? j->shards.why(j->shards.ctx) : NULL;
    snprintf(j->why.text, sizeof j->why.text, "%s", why != NULL ? why : "");
    return refused;
}

static const char *why(void *ctx)
{
    const cof_journal *j = ctx;
    return j->why.text[0] != '\0' ? j->why.text : NULL;
}

cof_shards cof_journal_shards(cof_journal *j)
{
    return (cof_shards){
        .struct_size = sizeof(cof_shards), .ask = ask, .ctx = j, .why = why, .together = j->shards.together};
}
