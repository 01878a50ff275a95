/* Writes an encoded table from pieces, in memory for one piece, the dictionaries and a checksum for every 65,536 cells.
 *
 * Value ids follow the order of all values, which is known only at the end. So codes in order of first appearance go to
 * a file without a name beside the target first; when all pieces are there, they are renumbered, column by column. */
#include "encoded.h"

#include "../../core/system/system.h"
#include "../../core/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct part { /* rows of one piece in the spilled file */
    uint64_t at;
    size_t n_rows;
} part;

struct cof_encoding {
    cof_env env;
    cof_output *output;
    char name[160]; /* for messages */
    int fd;         /* the spilled file; -1: none */
    uint64_t n_spilled;
    cof_schema *schema;     /* names and the rows so far, then the domains; NULL: no piece has come */
    cofi_gathering *values; /* per column */
    part *parts;
    uint8_t *width; /* per part and column: bytes of a spilled cell, which is id + 1, 0 for missing */
    size_t n_parts, part_room;
    unsigned char *codes; /* of one block or piece */
    size_t codes_room;
    uint64_t n_written;
};

/* ---- The spilled file ---------------------------------------------------------------------------- */

static cof_status spill_failure(const cof_encoding *e, cof_error *err)
{
    return cofi_fail(err, COF_ERR_IO, "cannot keep the codes of %s in a file beside it: %s", e->name,
                     strerror(errno));
}

/* The file has a name for a moment only, so nothing is left if the process dies. */
static cof_status open_spill(cof_encoding *e, const char *path, cof_error *err)
{
    const char *slash = strrchr(path, '/'), *folder = getenv("TMPDIR");
    bool beside = strcmp(path, "-") != 0;
    if (folder == NULL || *folder == '\0') folder = "/tmp";
    size_t n = beside ? (slash != NULL ? (size_t)(slash - path) + 1 : 0) : strlen(folder);
    char *spill = cofi_alloc(&e->env, n + sizeof "/.coforest-spill-XXXXXX", 1);
    if (spill == NULL) return cofi_no_memory(err);
    memcpy(spill, beside ? path : folder, n);
    strcpy(spill + n, beside ? ".coforest-spill-XXXXXX" : "/.coforest-spill-XXXXXX");
    e->fd = cofi_open_nameless(spill);
    cof_status status = e->fd >= 0 ? COF_OK : spill_failure(e, err);
    cofi_release(&e->env, spill);
    return status;
}

static cof_status move_bytes(cof_encoding *e, bool in, void *bytes, size_t n, uint64_t at, cof_error *err)
{
    for (size_t done = 0; done < n;) {
        char *here = (char *)bytes + done;
        ssize_t got = in ? pread(e->fd, here, n - done, (off_t)(at + done))
                         : pwrite(e->fd, here, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO;
        if (got <= 0) return spill_failure(e, err);
        done += (size_t)got;
    }
    return COF_OK;
}

/* ---- Pieces -------------------------------------------------------------------------------------- */

cof_status cof_encoding_open(const cof_env *lent, const char *path, cof_encoding **out, cof_error *err)
{
    cof_env env = cofi_env_resolve(lent);
    if (path == NULL || out == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "cof_encoding_open needs a path and a place for the handle");
    cof_encoding *e = cofi_alloc_zero(&env, 1, sizeof *e);
    if (e == NULL) return cofi_no_memory(err);
    e->env = env;
    e->fd = -1;
    cofi_utf8_show_tail(e->name, sizeof e->name, strcmp(path, "-") == 0 ? "standard output" : path);
    cof_status status = cof_output_open(&env, path, &e->output, err);
    if (status == COF_OK) status = open_spill(e, path, err);
    if (status == COF_OK)
        *out = e;
    else
        cof_encoding_free(e);
    return status;
}

void cof_encoding_free(cof_encoding *e)
{
    if (e == NULL) return;
    cof_env env = e->env;
    for (size_t c = 0; e->values != NULL && c < e->schema->table.n_columns; c++)
        cofi_gathering_free(&e->values[c]);
    COFI_RELEASE_ALL(&env, e->values, e->parts, e->width, e->codes);
    cof_schema_free(e->schema);
    if (e->fd >= 0) close(e->fd);
    cof_output_discard(e->output);
    cofi_release(&env, e);
}

static cof_status copy_names(cof_encoding *e, const cof_table *piece, cof_error *err)
{
    cof_schema *s;
    COFI_TRY(cofi_schema_new(&e->env, piece->n_columns, &s, err));
    e->values = cofi_alloc(&e->env, piece->n_columns, sizeof *e->values);
    bool ok = e->values != NULL;
    for (size_t c = 0; ok && c < piece->n_columns; c++) {
        const char *name = piece->column[c].name;
        cofi_gathering_init(&e->values[c], &e->env);
        s->table.column[c].name = cofi_copy_text(&e->env, name, strlen(name));
        ok = s->table.column[c].name != NULL;
    }
    if (ok) {
        e->schema = s;
        return COF_OK;
    }
    cof_schema_free(s);
    cofi_release(&e->env, e->values);
    e->values = NULL;
    return cofi_no_memory(err);
}

static cof_status add_part(cof_encoding *e, const cof_table *piece, cof_error *err)
{
    if (e->n_parts == e->part_room) {
        size_t room = 2 * e->part_room + 16;
        part *parts = cofi_regrow(&e->env, e->parts, e->n_parts, room, sizeof *parts);
        if (parts == NULL) return cofi_no_memory(err);
        e->parts = parts;
        uint8_t *width =
            cofi_regrow(&e->env, e->width, e->n_parts * piece->n_columns, room * piece->n_columns, 1);
        if (width == NULL) return cofi_no_memory(err);
        e->width = width;
        e->part_room = room;
    }
    e->parts[e->n_parts++] = (part){e->n_spilled, piece->n_rows};
    return COF_OK;
}

static cof_status spill_column(cof_encoding *e, size_t c, const cof_table *piece, cof_error *err)
{
    const cofi_column *read = cofi_column_as_read(&piece->column[c]);
    cofi_gathering *values = &e->values[c];
    uint32_t *id = cofi_alloc(&e->env, (size_t)read->n_values + 1, sizeof *id);
    bool ok = id != NULL && cofi_gather_rows(values, read, piece->n_rows, e->schema->n_rows, id);
    cof_status status = ok ? COF_OK : cofi_no_memory(err);
    if (ok) {
        uint8_t width = cofi_code_width(values->names.n_values);
        e->width[(e->n_parts - 1) * piece->n_columns + c] = width;
        id[read->n_values] = UINT32_MAX; /* a missing cell becomes 0 */
        for (size_t i = 0; i < piece->n_rows; i++)
            cofi_code_set(e->codes, width, i, id[cofi_column_code(read, i)] + 1);
        size_t n = piece->n_rows * width;
        status = move_bytes(e, false, e->codes, n, e->n_spilled, err);
        e->n_spilled += n;
    }
    cofi_release(&e->env, id);
    return status;
}

cof_status cof_encoding_add(cof_encoding *e, const cof_table *piece, cof_error *err)
{
    if (e->schema == NULL) COFI_TRY(copy_names(e, piece, err));
    if (piece->n_rows > COFI_MOST_ROWS - e->schema->n_rows) return cofi_too_many_rows(err);
    COFI_TRY(cofi_check_same_columns(&e->schema->table, piece, err));
    if (piece->n_rows == 0) return COF_OK;
    if (!cofi_make_room(&e->env, &e->codes, &e->codes_room, piece->n_rows, sizeof(uint32_t)))
        return cofi_no_memory(err);
    COFI_TRY(add_part(e, piece, err));
    for (size_t c = 0; c < piece->n_columns; c++) COFI_TRY(spill_column(e, c, piece, err));
    e->schema->n_rows += piece->n_rows;
    return COF_OK;
}

cof_status cof_encoding_piece(void *encoding, const cof_table *piece, uint64_t first_row, cof_error *err)
{
    return cof_encoding_add(encoding, piece, err);
}

/* ---- The file ------------------------------------------------------------------------------------ */

static cof_status put(cof_encoding *e, const void *bytes, size_t n, cof_error *err)
{
    e->n_written += n;
    return cof_output_write(e->output, bytes, n, err);
}

/* The column's codes, and their checksums into `sums`. */
static cof_status write_column(cof_encoding *e, size_t c, cofi_writer *sums, cof_error *err)
{
    static const unsigned char zeros[8192];
    const uint32_t *rank = e->values[c].rank, n_values = e->schema->table.column[c].n_values;
    uint8_t width = cofi_code_width(n_values);
    size_t held = 0, n_columns = e->schema->table.n_columns;
    uint64_t begin = cofi_encoded_place(e->n_written, c, e->schema->n_rows * width);
    unsigned char *block = cofi_alloc(&e->env, COFI_ENCODED_BLOCK, width);
    cof_status status =
        block == NULL ? cofi_no_memory(err) : put(e, zeros, (size_t)(begin - e->n_written), err);
    for (size_t p = 0; p < e->n_parts && status == COF_OK; p++) {
        const uint8_t *wide = e->width + p * n_columns;
        uint64_t at = e->parts[p].at;
        for (size_t before = 0; before < c; before++) at += (uint64_t)e->parts[p].n_rows * wide[before];
        status = cofi_should_stop(&e->env)
                     ? cofi_fail(err, COF_ERR_STOPPED, "stopped writing %s", e->name)
                     : move_bytes(e, true, e->codes, e->parts[p].n_rows * wide[c], at, err);
        for (size_t i = 0; i < e->parts[p].n_rows && status == COF_OK; i++) {
            uint32_t cell = cofi_code_at(e->codes, wide[c], i);
            cofi_code_set(block, width, held++, cell == 0 ? n_values : rank[cell - 1]);
            if (held < COFI_ENCODED_BLOCK && (i + 1 < e->parts[p].n_rows || p + 1 < e->n_parts)) continue;
            cofi_encoded_swap(block, width, held);
            cofi_put_u64(sums, cofi_checksum(block, held * width));
            status = put(e, block, held * width, err);
            held = 0;
        }
    }
    cofi_release(&e->env, block);
    return status;
}

static cof_status write_head(cof_encoding *e, cof_error *err)
{
    cofi_writer schema = {.env = e->env}, w = {.env = e->env};
    cofi_codec c = {.to = &w};
    cofi_schema_put(&schema, e->schema);
    cofi_encoded_head head = {.version = COFI_ENCODED_VERSION,
                              .block = COFI_ENCODED_BLOCK,
                              .n_rows = e->schema->n_rows,
                              .n_columns = (uint32_t)e->schema->table.n_columns,
                              .n_schema = schema.n};
    cofi_code_encoded_head(&c, &head);
    if (!w.failed) cofi_put_u64(&w, cofi_checksum(w.bytes, w.n));
    cof_status status = w.failed || schema.failed ? cofi_no_memory(err) : put(e, w.bytes, w.n, err);
    if (status == COF_OK) status = put(e, schema.bytes, schema.n, err);
    COFI_RELEASE_ALL(&e->env, w.bytes, schema.bytes);
    return status;
}

cof_status cof_encoding_finish(cof_encoding *e, cof_error *err)
{
    cofi_writer sums = {.env = e->env};
    cof_status status = COF_OK;
    if (e->schema == NULL || e->schema->n_rows == 0)
        return cofi_fail(err, COF_ERR_DATA, "%s would have no rows", e->name);
    size_t n_columns = e->schema->table.n_columns;
    for (size_t c = 0; c < n_columns && status == COF_OK; c++)
        if (!cofi_gathering_finish(&e->values[c], &e->schema->table.column[c])) status = cofi_no_memory(err);
    if (status == COF_OK) status = write_head(e, err);
    for (size_t c = 0; c < n_columns && status == COF_OK; c++) status = write_column(e, c, &sums, err);
    if (status == COF_OK) status = sums.failed ? cofi_no_memory(err) : put(e, sums.bytes, sums.n, err);
    if (status == COF_OK) {
        status = cof_output_commit(e->output, err);
        e->output = NULL;
    }
    cofi_release(&e->env, sums.bytes);
    return status;
}
