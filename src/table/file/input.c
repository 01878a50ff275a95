/* Reads bytes in two layers: the source (file or memory), and a reader that passes the bytes on or
 * decompresses them. Only the reader knows formats, only the source knows the operating system. */
#include "input.h"

#include "../../core/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef COFI_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef COFI_HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

enum { HEAD_BYTES = 16, NAME_BYTES = 160 };

typedef cof_status (*read_function)(cofi_input *in, void *buffer, size_t n, size_t *got, cof_error *err);

struct cofi_input {
    cof_env env;
    char name[NAME_BYTES];
    read_function read;
    /* the source */
    int fd;       /* -1: memory */
    bool owns_fd; /* false for standard input, which must not be closed */
    bool in_order;
    const unsigned char *bytes;
    size_t n_bytes; /* number of bytes not read yet */
    uint64_t done, total;
    unsigned char head[HEAD_BYTES]; /* the first bytes, read early to find the format */
    size_t n_head, head_at;
    /* compressed bytes not decoded yet */
    unsigned char *raw;
    size_t raw_capacity, raw_at, n_raw;
    bool in_member; /* inside a gzip member or a zstd frame, where the input must not end */
#ifdef COFI_HAVE_ZLIB
    z_stream gzip;
    bool gzip_ready;
#endif
#ifdef COFI_HAVE_ZSTD
    ZSTD_DStream *zstd;
#endif
};

/* ---- The source --------------------------------------------------------------------------------- */

static cof_status system_failure(const cofi_input *in, const char *verb, cof_error *err)
{
    return cofi_fail(err, COF_ERR_IO, "cannot %s %s: %s", verb, in->name, strerror(errno));
}

static cof_status open_file(cofi_input *in, const char *path, cof_error *err)
{
    struct stat about;
    in->owns_fd = strcmp(path, "-") != 0;
    /* A signal may interrupt the wait for the other end of a pipe; only a request to stop ends the
     * attempts. */
    do in->fd = in->owns_fd ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    while (in->fd < 0 && errno == EINTR && !cofi_should_stop(&in->env));
    if (in->fd < 0 && errno == EINTR) return cofi_fail(err, COF_ERR_STOPPED, "stopped opening %s", in->name);
    if (in->fd < 0) return system_failure(in, "open", err);
    if (fstat(in->fd, &about) != 0) return system_failure(in, "read", err);
    if (S_ISDIR(about.st_mode))
        return cofi_fail(err, COF_ERR_IO, "cannot read %s: %s; name a file in it", in->name,
                         strerror(EISDIR));
    /* The size is used for progress and for reading at any place; where it is not known, it stays 0. */
    off_t at = S_ISREG(about.st_mode) ? lseek(in->fd, 0, SEEK_CUR) : -1;
    if (at >= 0 && at < about.st_size) in->total = (uint64_t)(about.st_size - at);
    return COF_OK;
}

static cof_status read_file(cofi_input *in, void *buffer, size_t n, size_t *got, cof_error *err)
{
    ssize_t n_read;
    while ((n_read = read(in->fd, buffer, n)) < 0) {
        if (errno != EINTR) return system_failure(in, "read", err);
        /* A signal may be a request to stop, and a pipe may never deliver more. */
        if (cofi_should_stop(&in->env))
            return cofi_fail(err, COF_ERR_STOPPED, "stopped reading %s", in->name);
    }
    *got = (size_t)n_read;
    return COF_OK;
}

static cof_status read_source(cofi_input *in, void *buffer, size_t n, size_t *got, cof_error *err)
{
    cof_status status = COF_OK;
    if (in->fd >= 0) {
        status = read_file(in, buffer, n, got, err);
    } else {
        *got = n < in->n_bytes ? n : in->n_bytes;
        memcpy(buffer, in->bytes, *got);
        in->bytes += *got;
        in->n_bytes -= *got;
    }
    if (status == COF_OK) in->done += *got;
    return status;
}

static cof_status read_plain(cofi_input *in, void *buffer, size_t n, size_t *got, cof_error *err)
{
    size_t n_ahead = in->n_head - in->head_at;
    if (n_ahead == 0) return read_source(in, buffer, n, got, err);
    *got = n < n_ahead ? n : n_ahead;
    memcpy(buffer, in->head + in->head_at, *got);
    in->head_at += *got;
    return COF_OK;
}

/* ---- Formats ------------------------------------------------------------------------------------ */

#if defined(COFI_HAVE_ZLIB) || defined(COFI_HAVE_ZSTD)

/* Reads more raw bytes if none are left; raw_at == n_raw afterwards means that the source has ended. */
static cof_status refill(cofi_input *in, cof_error *err)
{
    if (in->raw_at < in->n_raw) return COF_OK;
    in->raw_at = in->n_raw = 0;
    return read_plain(in, in->raw, in->raw_capacity, &in->n_raw, err);
}

static cof_status damaged(const cofi_input *in, const char *format, const char *detail, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA, "%s: its %s data is damaged (%s); copy or download it again",
                     in->name, format, detail);
}

static cof_status cut_off(const cofi_input *in, const char *format, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA, "%s ends in the middle of its %s data; copy or download it again",
                     in->name, format);
}

static cof_status make_raw(cofi_input *in, const cofi_source *source, cof_error *err)
{
    in->raw_capacity = source->block_bytes > 0 ? source->block_bytes : COFI_BLOCK_BYTES;
    in->raw = cofi_alloc(&in->env, in->raw_capacity, 1);
    in->in_member = true;
    return in->raw != NULL ? COF_OK : cofi_no_memory(err);
}

#endif

#ifdef COFI_HAVE_ZLIB

static void *zlib_alloc(void *env, unsigned n, unsigned size)
{
    return cofi_alloc(env, n, size);
}

static void zlib_release(void *env, void *block)
{
    cofi_release(env, block);
}

/* A file may consist of several gzip members; tapes pad with zeros after the last one. */
static void skip_padding(cofi_input *in)
{
    while (in->raw_at < in->n_raw && in->raw[in->raw_at] == 0) in->raw_at++;
    in->in_member = in->raw_at < in->n_raw;
}

static cof_status inflate_some(cofi_input *in, cof_error *err)
{
    z_stream *z = &in->gzip;
    z->next_in = in->raw + in->raw_at;
    z->avail_in = (uInt)(in->n_raw - in->raw_at);
    int code = inflate(z, Z_NO_FLUSH);
    in->raw_at = in->n_raw - z->avail_in;
    if (code == Z_STREAM_END) {
        in->in_member = false;
        code = inflateReset(z);
    }
    if (code == Z_MEM_ERROR) return cofi_no_memory(err);
    if (code != Z_OK) return damaged(in, "gzip", z->msg != NULL ? z->msg : "not a gzip stream", err);
    return COF_OK;
}

static cof_status read_gzip(cofi_input *in, void *buffer, size_t n, size_t *got, cof_error *err)
{
    const size_t most = (size_t)1 << 30; /* zlib counts in unsigned int */
    size_t wanted = n < most ? n : most;
    in->gzip.next_out = buffer;
    in->gzip.avail_out = (uInt)wanted;
    while (in->gzip.avail_out > 0) {
        cof_status status = refill(in, err);
        if (status != COF_OK) return status;
        if (in->raw_at == in->n_raw) break;
        if (!in->in_member) skip_padding(in);
        if (in->in_member && (status = inflate_some(in, err)) != COF_OK) return status;
    }
    *got = wanted - in->gzip.avail_out;
    return *got == 0 && in->in_member ? cut_off(in, "gzip", err) : COF_OK;
}

static cof_status open_gzip(cofi_input *in, const cofi_source *source, cof_error *err)
{
    const int gzip_wrapper_only = 15 + 16;
    COFI_TRY(make_raw(in, source, err));
    in->gzip.zalloc = zlib_alloc;
    in->gzip.zfree = zlib_release;
    in->gzip.opaque = &in->env;
    if (inflateInit2(&in->gzip, gzip_wrapper_only) != Z_OK) return cofi_no_memory(err);
    in->gzip_ready = true;
    in->read = read_gzip;
    return COF_OK;
}

#else

static cof_status open_gzip(cofi_input *in, const cofi_source *source, cof_error *err)
{
    return cofi_fail(
        err, COF_ERR_UNSUPPORTED,
        "%s is compressed with gzip, and this build cannot read that; decompress it with gunzip, "
        "or install zlib's headers (zlib1g-dev, zlib-devel) and build coforest again",
        in->name);
}

#endif

#ifdef COFI_HAVE_ZSTD

static cof_status zstd_failure(const cofi_input *in, size_t code, cof_error *err)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_memory_allocation:
        return cofi_no_memory(err);
    case ZSTD_error_frameParameter_windowTooLarge:
        return cofi_fail(
            err, COF_ERR_DATA,
            "%s was compressed with a window above 128 MiB; decompress it with zstd -d --long=31", in->name);
    default:
        return damaged(in, "zstd", ZSTD_getErrorName(code), err);
    }
}

static cof_status read_zstd(cofi_input *in, void *buffer, size_t n, size_t *got, cof_error *err)
{
    ZSTD_outBuffer to = {buffer, n, 0};
    while (to.pos < to.size) {
        COFI_TRY(refill(in, err));
        bool ended = in->raw_at == in->n_raw;
        if (ended && !in->in_member) break;
        /* At the end of the source this also returns what the decoder still holds. */
        ZSTD_inBuffer from = {in->raw, in->n_raw, in->raw_at};
        size_t before = to.pos, code = ZSTD_decompressStream(in->zstd, &to, &from);
        if (ZSTD_isError(code)) return zstd_failure(in, code, err);
        in->raw_at = from.pos;
        in->in_member = code != 0;
        if (ended && to.pos == before) break;
    }
    *got = to.pos;
    return *got == 0 && in->in_member ? cut_off(in, "zstd", err) : COF_OK;
}

/* The decoder allocates with the C library: setting another allocator needs an unstable part of zstd's
 * interface. */
static cof_status open_zstd(cofi_input *in, const cofi_source *source, cof_error *err)
{
    COFI_TRY(make_raw(in, source, err));
    in->zstd = ZSTD_createDStream();
    in->read = read_zstd;
    return in->zstd != NULL ? COF_OK : cofi_no_memory(err);
}

#else

static cof_status open_zstd(cofi_input *in, const cofi_source *source, cof_error *err)
{
    return cofi_fail(
        err, COF_ERR_UNSUPPORTED,
        "%s is compressed with zstd, and this build cannot read that; decompress it with unzstd, "
        "or install zstd's headers (libzstd-dev, libzstd-devel) and build coforest again",
        in->name);
}

#endif

/* Files that are mistaken for tables, found by first bytes that no text has. */
static const struct {
    const char *bytes;
    size_t n_bytes;
    const char *sentence;
    const char *reader; /* a function of pandas that reads it, or NULL */
} foreign[] = {
    {"PK\3\4", 4, "is a zip archive or an Excel workbook; unpack it, or save the sheet as CSV", "read_excel"},
    {"\xD0\xCF\x11\xE0", 4, "is an old Excel workbook; save the sheet as CSV", "read_excel"},
    {"\xFD"
     "7zXZ",
     6, "is compressed with xz; decompress it with unxz", NULL},
    {"BZh91AY&SY", 10, "is compressed with bzip2; decompress it with bunzip2", NULL},
    {"PAR1\x15", 5, "is a Parquet file; save it as CSV", "read_parquet"},
    {"COFTABLE", 8, "is an encoded table, which cannot come through a pipe; name the file itself", NULL},
};

static bool begins_with(const cofi_input *in, const char *bytes, size_t n)
{
    return in->n_head >= n && memcmp(in->head, bytes, n) == 0;
}

static cof_status choose_reader(cofi_input *in, const cofi_source *source, cof_error *err)
{
    if (begins_with(in, "\x1F\x8B", 2)) return open_gzip(in, source, err);
    if (begins_with(in, "\x28\xB5\x2F\xFD", 4)) return open_zstd(in, source, err);
    /* A skippable frame of zstd: its first byte is one of sixteen. */
    if (in->n_head >= 4 && (in->head[0] & 0xF0) == 0x50 && memcmp(in->head + 1, "\x2A\x4D\x18", 3) == 0)
        return open_zstd(in, source, err);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (begins_with(in, foreign[i].bytes, foreign[i].n_bytes)) {
            char python[200] = "";
            if (foreign[i].reader != NULL)
                snprintf(
                    python, sizeof python,
                    ", in Python: import pandas; pandas.%s(\"%.80s\").to_csv(\"table.csv\", index=False)",
                    foreign[i].reader, in->name);
            return cofi_fail(err, COF_ERR_UNSUPPORTED, "%s %s%s", in->name, foreign[i].sentence, python);
        }
    in->read = read_plain;
    return COF_OK;
}

/* ---- The handle --------------------------------------------------------------------------------- */

cof_status cofi_input_open(const cof_env *env, const cofi_source *source, cofi_input **out, cof_error *err)
{
    cof_status status = COF_OK;
    bool standard = source->bytes == NULL && strcmp(source->name, "-") == 0;
    cofi_input *in = cofi_alloc_zero(env, 1, sizeof *in);
    if (in == NULL) return cofi_no_memory(err);
    in->env = *env;
    in->fd = -1;
    in->bytes = source->bytes;
    in->n_bytes = source->n_bytes;
    in->total = source->n_bytes;
    in->in_order = source->in_order || standard;
    cofi_utf8_show_tail(in->name, sizeof in->name, standard ? "standard input" : source->name);
    if (source->bytes == NULL) status = open_file(in, source->name, err);
    for (size_t got = 1; status == COF_OK && got > 0 && in->n_head < HEAD_BYTES; in->n_head += got)
        status = read_source(in, in->head + in->n_head, HEAD_BYTES - in->n_head, &got, err);
    if (status == COF_OK) status = choose_reader(in, source, err);
    if (status != COF_OK) {
        cofi_input_close(in);
        return status;
    }
    *out = in;
    return COF_OK;
}

cof_status cofi_input_read(cofi_input *in, void *buffer, size_t n, size_t *got, cof_error *err)
{
    return in->read(in, buffer, n, got, err);
}

size_t cofi_input_size(const cofi_input *in)
{
    return in->read != read_plain || in->in_order || in->total > SIZE_MAX ? 0 : (size_t)in->total;
}

cof_status cofi_input_read_at(const cofi_input *in, size_t at, void *buffer, size_t n, cof_error *err)
{
    if (in->fd < 0) memcpy(buffer, in->bytes - in->done + at, n);
    for (size_t done = 0; in->fd >= 0 && done < n;) {
        ssize_t got = pread(in->fd, (char *)buffer + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_failure(in, "read", err);
        if (got == 0)
            return cofi_fail(err, COF_ERR_IO, "cannot read %s: it became shorter while it was read",
                             in->name);
        done += (size_t)got;
    }
    return COF_OK;
}

void cofi_input_close(cofi_input *in)
{
    if (in == NULL) return;
#ifdef COFI_HAVE_ZLIB
    if (in->gzip_ready) inflateEnd(&in->gzip);
#endif
#ifdef COFI_HAVE_ZSTD
    ZSTD_freeDStream(in->zstd);
#endif
    if (in->fd >= 0 && in->owns_fd) close(in->fd);
    cof_env env = in->env;
    COFI_RELEASE_ALL(&env, in->raw, in);
}

const char *cofi_input_name(const cofi_input *in)
{
    return in->name;
}

uint64_t cofi_input_done(const cofi_input *in)
{
    return in->done;
}

uint64_t cofi_input_total(const cofi_input *in)
{
    return in->total;
}
