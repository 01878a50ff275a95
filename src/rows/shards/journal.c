/* A journal of summed answers. A fit is determined by the answers to its requests, so a driver that starts again with
 * the same options asks the same requests in the same order: the journal answers those that it has, the shards the rest.
 *
 * Bytes, little-endian: "COFJOURN", u32 version, u32 0, u64 checksum of the schema, u64 checksum of these; per answer
 * u64 checksum of the request, u64 words, the words, u64 checksum of these. An answer that was not written to its end is
 * cut off when the journal is read. */
#include "../../core/system/system.h"
#include "../../table/schema.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { VERSION = 1, HEAD_BYTES = 32, RECORD_HEAD = 16, RECORD_END = 8 };

struct cof_journal {
    cof_env env;
    cof_shards shards;
    char name[240]; /* for messages */
    int fd;
    uint64_t at;    /* where the next answer is, or will be written */
    bool replaying; /* answers may follow at `at` */
    uint64_t n_replayed;
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

/* ---- Opening ------------------------------------------------------------------------------------- */

static cof_status schema_sum(const cof_env *env, const cof_schema *schema, uint64_t *sum, cof_error *err)
{
    cofi_writer w = {.env = *env};
    cofi_schema_put(&w, schema);
    cof_status status = w.failed ? cofi_no_memory(err) : COF_OK;
    if (status == COF_OK) *sum = cofi_checksum(w.bytes, w.n);
    cofi_release(env, w.bytes);
    return status;
}

/* Everything before the checksum. */
static void code_head(cofi_codec *c, uint32_t *version, uint64_t *schema_sum)
{
    uint32_t reserved = 0;
    cofi_code_magic(c, "COFJOURN");
    COFI_CODE(c, version);
    COFI_CODE(c, &reserved);
    COFI_CODE(c, schema_sum);
}

static cof_status write_head(cof_journal *j, uint64_t sum, cof_error *err)
{
    uint32_t version = VERSION;
    cofi_codec c = {.to = &j->record};
    j->record.n = 0;
    code_head(&c, &version, &sum);
    if (!j->record.failed) cofi_put_u64(&j->record, cofi_checksum(j->record.bytes, j->record.n));
    if (j->record.failed) return cofi_no_memory(err);
    bool ok = ftruncate(j->fd, 0) == 0 && write_at(j, 0, j->record.bytes, j->record.n);
    return ok ? COF_OK : system_failure(j, "write", err);
}

/* An empty file becomes a journal; one that is no journal of this table is left as it is. */
static cof_status check_head(cof_journal *j, uint64_t sum, cof_error *err)
{
    unsigned char head[HEAD_BYTES], any;
    bool failed = false;
    j->at = HEAD_BYTES;
    if (!read_at(j, 0, &any, 1, &failed))
        return failed ? system_failure(j, "read", err) : write_head(j, sum, err);
    bool whole = read_at(j, 0, head, sizeof head, &failed);
    if (failed) return system_failure(j, "read", err);
    cofi_codec c = {.from = {.bytes = head, .n = whole ? sizeof head : 0}};
    uint32_t version;
    uint64_t of_schema;
    code_head(&c, &version, &of_schema);
    if (c.from.failed || version == 0 || cofi_get_u64(&c.from) != cofi_checksum(head, sizeof head - 8))
        return cofi_fail(err, COF_ERR_DATA,
                         "%s is not a journal, or its beginning is damaged; name another file", j->name);
    if (version > VERSION)
        return cofi_fail(err, COF_ERR_TOO_NEW,
                         "the journal %s has format %u, but this library knows formats up to %d", j->name,
                         version, VERSION);
    if (of_schema != sum)
        return cofi_fail(
            err, COF_ERR_DATA,
            "the journal %s is of another table, or its columns were used differently; name another file",
            j->name);
    j->replaying = true;
    return COF_OK;
}

cof_status cof_journal_open(const cof_env *lent, const char *path, const cof_schema *schema,
                            const cof_shards *shards, cof_journal **out, cof_error *err)
{
    cof_env env = cofi_env_resolve(lent);
    uint64_t sum = 0;
    cof_journal *j = cofi_alloc_zero(&env, 1, sizeof *j);
    if (j == NULL) return cofi_no_memory(err);
    j->env = j->record.env = env;
    COFI_COPY_OPTIONS(&j->shards, shards);
    snprintf(j->name, sizeof j->name, "%s", path);
    j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    cof_status status = j->fd < 0 ? system_failure(j, "open", err) : schema_sum(&env, schema, &sum, err);
    if (status == COF_OK && cofi_lock(j->fd, false) == EWOULDBLOCK)
        status = cofi_fail(err, COF_ERR_IO, "the journal %s is in use by another run", j->name);
    if (status == COF_OK) status = check_head(j, sum, err);
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

/* Cuts off an answer that was not written to its end; what follows is asked. */
static replay end_replay(cof_journal *j, bool failed)
{
    if (failed || ftruncate(j->fd, (off_t)j->at) != 0) return refuse(system_failure(j, "read", &j->why));
    j->replaying = false;
    return NOT_THERE;
}

/* The answer that comes next in the journal, if it is that to this request. */
static replay replay_next(cof_journal *j, uint64_t key, uint64_t *sum, size_t n_words)
{
    bool failed = false;
    size_t n = RECORD_HEAD + n_words * sizeof *sum;
    unsigned char head[RECORD_HEAD];
    if (!read_at(j, j->at, head, sizeof head, &failed)) return end_replay(j, failed);
    if (cofi_word_at(head) != key || cofi_word_at(head + 8) != n_words)
        return refuse(cofi_fail(
            &j->why, COF_ERR_DATA,
            "the journal %s is damaged, or of a run with other options; repeat that command, or name "
            "another file",
            j->name));
    unsigned char *bytes = cofi_alloc(&j->env, n + RECORD_END, 1);
    if (bytes == NULL) return refuse(cofi_no_memory(&j->why));
    bool whole = read_at(j, j->at, bytes, n + RECORD_END, &failed);
    bool good = whole && cofi_word_at(bytes + n) == cofi_checksum(bytes, n);
    for (size_t i = 0; good && i < n_words; i++) sum[i] += cofi_word_at(bytes + RECORD_HEAD + 8 * i);
    cofi_release(&j->env, bytes);
    if (!whole) return end_replay(j, failed);
    if (!good)
        return refuse(
            cofi_fail(&j->why, COF_ERR_DATA,
                      "the journal %s is damaged: the checksum of answer %llu is wrong; name another file",
                      j->name, (unsigned long long)j->n_replayed + 1));
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
    if (w->failed || !write_at(j, j->at, w->bytes, w->n)) {
        system_failure(j, "write", &j->why);
        return false;
    }
    j->at += w->n;
    return true;
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
