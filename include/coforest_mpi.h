/* coforest_mpi.h: fit a table whose rows are on the ranks of an MPI communicator. Only this header is needed beside
 * coforest_shard.h; compile with mpicc. Rank 0 is the driver. A request is one broadcast and one sum over the ranks.
 *
 *     cof_mpi m;
 *     cof_mpi_begin(&m, MPI_COMM_WORLD);
 *     cof_mpi_schema(&m, rows, &first_row, &schema, &err);               all ranks; rank 0 gets the schema
 *     if (m.rank > 0) {
 *         cof_mpi_serve(&m, rows, first_row, threads, labels, &err);     answers until rank 0 is done
 *     } else {
 *         cof_schema_set_role(schema, ...), cof_schema_cut(schema, ...);
 *         cof_mpi_open(&m, rows, first_row, schema, threads, &err);
 *         shards = cof_mpi_shards(&m);
 *         cof_fit_shards(env, schema, options, &shards, &model, NULL, &err);
 *         cof_mpi_end(&m, model, labels, &err);                          always, also after a failure
 *     }
 *
 * A failure on any rank is told to rank 0, where the call fails with COF_ERR_BACKEND and a text that names the rank.
 * Where a rank has no memory for a message, it says so and aborts the communicator. */
#ifndef COFOREST_MPI_H
#define COFOREST_MPI_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coforest_shard.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fill it in with cof_mpi_begin; read `rank` and `n_ranks`. */
typedef struct cof_mpi {
    MPI_Comm comm;
    int rank, n_ranks;
    cof_shard *shard; /* the rows of this rank */
    char *bytes;      /* a message */
    size_t n_bytes, byte_room;
    uint64_t *words; /* an answer, and one word more: how many ranks failed */
    size_t word_room;
    cof_error why; /* on rank 0: of the last failure on any rank */
} cof_mpi;

static inline void cof_mpi_begin(cof_mpi *m, MPI_Comm comm)
{
    memset(m, 0, sizeof *m);
    m->comm = comm;
    MPI_Comm_rank(comm, &m->rank);
    MPI_Comm_size(comm, &m->n_ranks);
}

/* ---- What the calls below share; not for callers -------------------------------------------------- */

static inline void *cof_mpi_grow(const cof_mpi *m, void *block, size_t n_bytes)
{
    void *grown = realloc(block, n_bytes);
    if (grown != NULL) return grown;
    fprintf(stderr, "coforest: rank %d has no memory for a message of %zu bytes\n", m->rank, n_bytes);
    MPI_Abort(m->comm, 1);
    exit(1);
}

static inline void cof_mpi_make_room(cof_mpi *m, size_t n_bytes)
{
    if (n_bytes <= m->byte_room) return;
    m->byte_room = n_bytes + n_bytes / 2;
    m->bytes = (char *)cof_mpi_grow(m, m->bytes, m->byte_room);
}

/* Sends n_bytes of rank 0 to all; m->bytes has them on the others. MPI counts with int, so long messages go in pieces. */
static inline void cof_mpi_spread(cof_mpi *m, const void *bytes, size_t n_bytes)
{
    const size_t most = (size_t)1 << 30;
    unsigned long long n = n_bytes;
    MPI_Bcast(&n, 1, MPI_UNSIGNED_LONG_LONG, 0, m->comm);
    m->n_bytes = (size_t)n;
    if (m->rank > 0) cof_mpi_make_room(m, m->n_bytes);
    for (size_t at = 0; at < m->n_bytes; at += most) {
        size_t left = m->n_bytes - at;
        char *block = m->rank == 0 ? (char *)(uintptr_t)bytes : m->bytes; /* rank 0 only reads */
        MPI_Bcast(block + at, (int)(left < most ? left : most), MPI_BYTE, 0, m->comm);
    }
}

/* Keeps the text of the lowest rank that failed. */
static inline void cof_mpi_hear(cof_mpi *m, uint64_t n_failed)
{
    int lowest = m->n_ranks;
    for (; n_failed > 0; n_failed--) {
        cof_error one;
        MPI_Status from;
        MPI_Recv(one.text, (int)sizeof one.text, MPI_CHAR, MPI_ANY_SOURCE, 0, m->comm, &from);
        if (from.MPI_SOURCE > lowest) continue;
        lowest = from.MPI_SOURCE;
        snprintf(m->why.text, sizeof m->why.text, "rank %d: %.480s", lowest, one.text);
    }
}

/* Adds up n words of every rank in m->words of rank 0, where it returns whether a rank failed. */
static inline int cof_mpi_sum(cof_mpi *m, size_t n, cof_status status, const cof_error *err)
{
    m->words[n] = status != COF_OK;
    if (m->rank > 0) {
        MPI_Reduce(m->words, NULL, (int)n + 1, MPI_UINT64_T, MPI_SUM, 0, m->comm);
        if (status != COF_OK) MPI_Send(err->text, (int)sizeof err->text, MPI_CHAR, 0, 0, m->comm);
        return 0;
    }
    MPI_Reduce(MPI_IN_PLACE, m->words, (int)n + 1, MPI_UINT64_T, MPI_SUM, 0, m->comm);
    cof_mpi_hear(m, m->words[n] - (status != COF_OK));
    if (status != COF_OK) snprintf(m->why.text, sizeof m->why.text, "rank 0: %.480s", err->text);
    return m->words[n] > 0;
}

static inline void cof_mpi_clear(cof_mpi *m, size_t n_words)
{
    if (n_words >= m->word_room) {
        m->word_room = n_words + 1;
        m->words = (uint64_t *)cof_mpi_grow(m, m->words, m->word_room * sizeof *m->words);
    }
    memset(m->words, 0, (n_words + 1) * sizeof *m->words);
}

/* Whether all ranks are well; on rank 0 *err is the failure of another. */
static inline cof_status cof_mpi_settle(cof_mpi *m, cof_status status, cof_error *err)
{
    cof_mpi_clear(m, 0);
    if (!cof_mpi_sum(m, 0, status, err)) return status;
    *err = m->why;
    return status != COF_OK ? status : COF_ERR_BACKEND;
}

static inline int cof_mpi_answer(cof_mpi *m, const void *request, size_t n_bytes)
{
    cof_error err = {"its rows could not be opened"};
    cof_status status = COF_ERR_ARGUMENT;
    size_t n = cof_request_words(request, n_bytes);
    cof_mpi_clear(m, n);
    if (m->shard != NULL) status = cof_shard_answer(m->shard, request, n_bytes, m->words, n, &err);
    return cof_mpi_sum(m, n, status, &err);
}

static inline int cof_mpi_ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    cof_mpi *m = (cof_mpi *)ctx;
    cof_mpi_spread(m, request, n_bytes);
    if (cof_mpi_answer(m, request, n_bytes)) return 1;
    memcpy(sum, m->words, n_words * sizeof *sum);
    return 0;
}

static inline const char *cof_mpi_why(void *ctx)
{
    return ((const cof_mpi *)ctx)->why.text;
}

static inline int cof_mpi_collect(void *ctx, const char *bytes, size_t n_bytes)
{
    cof_mpi *m = (cof_mpi *)ctx;
    cof_mpi_make_room(m, m->n_bytes + n_bytes);
    memcpy(m->bytes + m->n_bytes, bytes, n_bytes);
    m->n_bytes += n_bytes;
    return 0;
}

static inline cof_status cof_mpi_write_schema(cof_mpi *m, const cof_schema *schema, cof_error *err)
{
    m->n_bytes = 0;
    return cof_schema_write(schema, cof_mpi_collect, m, err);
}

/* Opens the rows of this rank with the schema in m->bytes, on all ranks. */
static inline cof_status cof_mpi_open_rows(cof_mpi *m, const cof_table *rows, uint64_t first_row,
                                           uint32_t threads, cof_error *err)
{
    cof_schema *schema = NULL;
    cof_status status = cof_schema_read(NULL, m->bytes, m->n_bytes, &schema, err);
    if (status == COF_OK) status = cof_shard_open(NULL, rows, schema, first_row, threads, &m->shard, err);
    cof_schema_free(schema);
    return cof_mpi_settle(m, status, err);
}

static inline cof_status cof_mpi_label(cof_mpi *m, const void *request, size_t n_bytes, int32_t *labels,
                                       size_t n_rows, cof_error *err)
{
    cof_status status = COF_OK;
    if (labels != NULL && n_bytes > 0 && m->shard != NULL)
        status = cof_shard_labels(m->shard, request, n_bytes, labels, n_rows, err);
    return n_bytes > 0 ? cof_mpi_settle(m, status, err) : status;
}

static inline void cof_mpi_free(cof_mpi *m)
{
    cof_shard_free(m->shard);
    free(m->bytes);
    free(m->words);
    cof_mpi_begin(m, m->comm);
}

/* The schema of this rank's rows, merged into that of all ranks on rank 0. */
static inline cof_status cof_mpi_merge(cof_mpi *m, int from, cof_schema **whole, cof_error *err)
{
    const size_t most = (size_t)1 << 30;
    unsigned long long n = 0;
    cof_schema *part = NULL;
    MPI_Recv(&n, 1, MPI_UNSIGNED_LONG_LONG, from, 0, m->comm, MPI_STATUS_IGNORE);
    if (n == 0) return COF_OK;
    cof_mpi_make_room(m, (size_t)n);
    for (size_t at = 0; at < n; at += most)
        MPI_Recv(m->bytes + at, (int)(n - at < most ? n - at : most), MPI_BYTE, from, 0, m->comm,
                 MPI_STATUS_IGNORE);
    cof_status status = cof_schema_read(NULL, m->bytes, (size_t)n, &part, err);
    if (status != COF_OK) return status;
    if (*whole == NULL) {
        *whole = part;
        return COF_OK;
    }
    status = cof_schema_merge(*whole, part, err);
    cof_schema_free(part);
    return status;
}

static inline void cof_mpi_send_schema(const cof_mpi *m)
{
    const size_t most = (size_t)1 << 30;
    unsigned long long n = m->n_bytes;
    MPI_Send(&n, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, m->comm);
    for (size_t at = 0; at < m->n_bytes; at += most) {
        size_t left = m->n_bytes - at;
        MPI_Send(m->bytes + at, (int)(left < most ? left : most), MPI_BYTE, 0, 0, m->comm);
    }
}

/* ---- Calls ---------------------------------------------------------------------------------------- */

/* All ranks: the first row of this rank, whose rows follow those of the ranks before; on rank 0 also the schema of all
 * rows, which the caller frees. rows: NULL for none. A failure is told on rank 0, which then ends the run: the other
 * ranks call cof_mpi_serve all the same. */
static inline cof_status cof_mpi_schema(cof_mpi *m, const cof_table *rows, uint64_t *first_row,
                                        cof_schema **whole, cof_error *err)
{
    unsigned long long n = rows != NULL ? cof_table_n_rows(rows) : 0, before = 0;
    cof_status status = COF_OK;
    cof_schema *own = NULL;
    MPI_Exscan(&n, &before, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, m->comm);
    *first_row = m->rank > 0 ? before : 0;
    m->n_bytes = 0;
    if (n > 0) status = cof_schema_of(rows, *first_row, &own, err);
    if (status == COF_OK && n > 0 && m->rank > 0) status = cof_mpi_write_schema(m, own, err);
    if (status != COF_OK) m->n_bytes = 0;
    if (m->rank > 0) {
        cof_schema_free(own);
        cof_mpi_settle(m, status, err);
        cof_mpi_send_schema(m);
        return status;
    }
    status = cof_mpi_settle(m, status, err);
    for (int from = 1; from < m->n_ranks; from++) {
        cof_error late;
        cof_status merged = cof_mpi_merge(m, from, &own, &late);
        if (merged == COF_OK || status != COF_OK) continue;
        status = merged;
        *err = late;
    }
    if (status == COF_OK && own == NULL) {
        snprintf(err->text, sizeof err->text, "no rank has rows");
        status = COF_ERR_FEW_ROWS;
    }
    if (status != COF_OK) cof_schema_free(own);
    *whole = status == COF_OK ? own : NULL;
    return status;
}

/* Rank 0: sends the schema, with its roles, orders and cuts, to all ranks, and opens its own rows (NULL: none). The
 * table must outlive cof_mpi_end. threads: 0 -> all cores. */
static inline cof_status cof_mpi_open(cof_mpi *m, const cof_table *rows, uint64_t first_row,
                                      const cof_schema *schema, uint32_t threads, cof_error *err)
{
    cof_status status = cof_mpi_write_schema(m, schema, err);
    if (status != COF_OK) return status;
    cof_mpi_spread(m, m->bytes, m->n_bytes);
    return cof_mpi_open_rows(m, rows, first_row, threads, err);
}

/* Rank 0: what to give to cof_fit_shards, cof_evaluate_shards or cof_journal_open. Valid until cof_mpi_end. */
static inline cof_shards cof_mpi_shards(cof_mpi *m)
{
    cof_shards shards;
    memset(&shards, 0, sizeof shards);
    shards.struct_size = sizeof shards;
    shards.ask = cof_mpi_ask;
    shards.why = cof_mpi_why;
    shards.ctx = m;
    return shards;
}

/* Rank 0: lets the other ranks go. With a model, every rank that gave room for labels gets those of its rows. */
static inline cof_status cof_mpi_end(cof_mpi *m, const cof_model *model, int32_t *labels, size_t n_labels,
                                     cof_error *err)
{
    size_t n = 0;
    const void *request = model != NULL ? cof_model_label_request(model, &n) : NULL;
    cof_mpi_spread(m, NULL, 0);
    cof_mpi_spread(m, request, n);
    cof_status status = cof_mpi_label(m, request, n, labels, n_labels, err);
    cof_mpi_free(m);
    return status;
}

/* Other ranks: opens the rows (NULL: none) and answers until rank 0 calls cof_mpi_end. labels: NULL, or room for n_labels
 * labels, one for each row, which are filled in at the end if rank 0 has a model. */
static inline cof_status cof_mpi_serve(cof_mpi *m, const cof_table *rows, uint64_t first_row,
                                       uint32_t threads, int32_t *labels, size_t n_labels, cof_error *err)
{
    cof_mpi_spread(m, NULL, 0);
    cof_status status = COF_OK;
    if (m->n_bytes > 0) { /* else rank 0 has no schema */
        status = cof_mpi_open_rows(m, rows, first_row, threads, err);
        for (cof_mpi_spread(m, NULL, 0); m->n_bytes > 0; cof_mpi_spread(m, NULL, 0))
            cof_mpi_answer(m, m->bytes, m->n_bytes);
    }
    cof_mpi_spread(m, NULL, 0);
    cof_status labelled = cof_mpi_label(m, m->bytes, m->n_bytes, labels, n_labels, err);
    cof_mpi_free(m);
    return status != COF_OK ? status : labelled;
}

#ifdef __cplusplus
}
#endif
#endif
