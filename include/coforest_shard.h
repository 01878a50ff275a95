/* coforest_shard.h: fit a table whose rows are in several places.
 *
 * A table is cut into shards, each a stretch of its rows. Every worker makes the schema of its rows; the schemas are
 * merged, in any order and any tree; every worker opens its shard with the whole schema. One driver runs the fit and
 * asks: request bytes go to all shards, each answers with an array of words, the answers are added word by word
 * modulo 2^64, in any order. Labels, objective and likelihood are those of cof_fit on the whole table, for any cut.
 *
 *     worker                                         driver
 *     cof_schema_of(rows, first_row, &part)     ->   cof_schema_merge(whole, part)
 *     cof_shard_open(rows, whole, first_row)    <-   whole, with roles, orders and cuts
 *     cof_shard_answer(shard, request, sum)     <->  cof_fit_shards(whole, options, {ask}, &model)
 *     cof_shard_labels(shard, request, labels)  <-   cof_model_label_request(model)
 *
 * An answer depends on the rows of the shard and on the request alone. What a shard remembers only saves time: a
 * worker that was restarted opens its shard again and answers the next request as if nothing had happened. A shard
 * may be empty. New rows are labelled without a driver: every worker calls cof_model_predict on its own table.
 *
 * Rules for arguments, ownership and errors are those of coforest.h. Damaged requests, answers and schemas are noticed
 * and give COF_ERR_DATA. */
#ifndef COFOREST_SHARD_H
#define COFOREST_SHARD_H

#include "coforest_extra.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Schema --------------------------------------------------------------------------------------------- */

/* What a table holds apart from its rows: names, roles, values with the number of rows that hold each. */
typedef struct cof_schema cof_schema;

/* The schema of rows first_row, first_row + 1, ... of the whole table. Quantities are taken as they were read and
 * stated orders are left out: cut and order the whole schema. Time is proportional to the cells. */
COF_API cof_status cof_schema_of(const cof_table *table, uint64_t first_row, cof_schema **out,
                                 cof_error *err);
/* Adds the rows of another part. Any order and any tree of merges gives the same schema. COF_ERR_DATA if the columns
 * differ in name or role, COF_ERR_ARGUMENT if one was cut or ordered. Time is proportional to the values. */
COF_API cof_status cof_schema_merge(cof_schema *into, const cof_schema *more, cof_error *err);
/* Bytes for another process. COF_ERR_IO if the sink refuses them. */
COF_API cof_status cof_schema_write(const cof_schema *schema, cof_sink sink, void *ctx, cof_error *err);
/* COF_ERR_DATA if the bytes are not a schema or damaged, COF_ERR_TOO_NEW if they are of a later version. */
COF_API cof_status cof_schema_read(const cof_env *env, const void *bytes, size_t n_bytes, cof_schema **out,
                                   cof_error *err);
COF_API void cof_schema_free(cof_schema *schema); /* NULL is accepted */

COF_API uint64_t cof_schema_n_rows(const cof_schema *schema);
/* Names, roles and values as a table without rows, for cof_table_column, cof_table_find and cof_table_value. Lent. */
COF_API const cof_table *cof_schema_table(const cof_schema *schema);
/* As cof_column_advise, cof_table_set_role, cof_table_set_order and cof_table_cut. */
COF_API cof_status cof_schema_advise(const cof_schema *schema, size_t column, int32_t missing,
                                     cof_advice *advice, cof_error *err);
COF_API cof_status cof_schema_set_role(cof_schema *schema, size_t column, int32_t role, cof_error *err);
COF_API cof_status cof_schema_set_order(cof_schema *schema, size_t column, const char *const *values,
                                        size_t n_values, cof_error *err);
COF_API cof_status cof_schema_cut(cof_schema *schema, size_t column, const cof_cut_options *options,
                                  cof_error *err);

/* ---- Shard: on a worker --------------------------------------------------------------------------------- */

typedef struct cof_shard cof_shard;
enum { COF_SHARD_LABELS = 1 << 25 }; /* labels that a shard keeps between requests; more are made again */

/* Opens the rows first_row, first_row + 1, ... of the whole table. table: NULL for a shard without rows; it must
 * outlive the shard, the schema need not. threads: 0 -> all cores. COF_ERR_DATA if a column of the schema is not in the
 * table, or the table has a value that the schema does not have. Time is proportional to the cells; memory to the
 * cells of columns whose values the schema numbers otherwise. */
COF_API cof_status cof_shard_open(const cof_env *env, const cof_table *table, const cof_schema *schema,
                                  uint64_t first_row, uint32_t threads, cof_shard **out, cof_error *err);
COF_API void cof_shard_free(cof_shard *shard); /* NULL is accepted */
/* Number of words of the answer to a request; 0 if the bytes are no request. */
COF_API size_t cof_request_words(const void *request, size_t n_bytes);
/* Adds the shard's answer to sum[], which has n_words words. COF_ERR_DATA if the bytes are not a request that fits the
 * shard. Time is at most that of a few passes over the rows of the shard. */
COF_API cof_status cof_shard_answer(cof_shard *shard, const void *request, size_t n_bytes, uint64_t *sum,
                                    size_t n_words, cof_error *err);
/* The labels of the shard's rows under the request of cof_model_label_request; -1 for a dropped row. */
COF_API cof_status cof_shard_labels(cof_shard *shard, const void *request, size_t n_bytes, int32_t *labels,
                                    size_t n_labels, cof_error *err);

/* ---- Driver --------------------------------------------------------------------------------------------- */

/* How the driver reaches the shards. `ask` sends the request to every shard and adds up their answers in sum[], whose
 * n_words words are 0 at first. It is called on the thread that called the driver, one request at a time. Nonzero: the
 * shards cannot be reached, and the fit fails with COF_ERR_BACKEND. */
typedef struct cof_shards {
    size_t struct_size;
    int (*ask)(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words);
    void *ctx;
    /* A sentence about the last failure, which becomes the text of the error; may be NULL, and may return NULL. */
    const char *(*why)(void *ctx);
    /* Restarts that run at the same time, each in a thread of its own, and whose requests go out as one: fewer requests, but
     * every shard keeps as many labels of each of its rows. 1: one restart after the other. 0: as many as a shard with all
     * rows would keep the labels of, COF_SHARD_LABELS / rows, and at most 128. Results do not depend on it; a
     * journal goes on only with the same number. */
    uint32_t together;
} cof_shards;

/* cof_fit and cof_fit_auto over shards. The model holds no labels: send cof_model_label_request to the shards.
 * COF_ERR_UNSUPPORTED for what shards cannot do: weights other than a column, columns with COF_ROLE_NUMERIC, methods
 * that read whole rows (k-prototypes, ek-prototypes, jdm, ocil:original), tables that need more than 2^24 words in an
 * answer. COF_ERR_DATA if answers are damaged, or do not come from every row exactly once. */
COF_API cof_status cof_fit_shards(const cof_env *env, const cof_schema *schema,
                                  const cof_fit_options *options, const cof_shards *shards, cof_model **out,
                                  cof_fit_info *info, cof_error *err);
COF_API cof_status cof_fit_shards_auto(const cof_env *env, const cof_schema *schema,
                                       const cof_fit_options *options, uint32_t k_min, uint32_t k_max,
                                       const cof_shards *shards, cof_model **out, cof_fit_info *info,
                                       cof_error *err);
/* The request with which cof_shard_labels gives the labels of the fit. Lent; NULL and 0 if the model was not fitted over
 * shards, or was saved and loaded. */
COF_API const void *cof_model_label_request(const cof_model *model, size_t *n_bytes);
/* The labels of the rows first_row, first_row + 1, ... of the whole table, for a driver that writes them down; -1 for a
 * dropped row. One request of 8 bytes a row, and as many back. COF_ERR_ARGUMENT if there are no such rows, or the model was
 * not fitted over shards. */
COF_API cof_status cof_label_shards(const cof_model *model, const cof_schema *schema,
                                    const cof_shards *shards, uint64_t first_row, int32_t *labels,
                                    size_t n_labels, cof_error *err);
/* Compares the clusters of a fit over shards with the classes in a column, as cof_evaluate does with labels. Rows
 * without a class or a label do not count; with a column of weights, rows count by weight as in cof_evaluate_weighted. */
COF_API cof_status cof_evaluate_shards(const cof_model *model, const cof_schema *schema, size_t column,
                                       const cof_shards *shards, cof_indices *indices, cof_error *err);

/* ---- Shards of one table in this process --------------------------------------------------------------- */

/* Fits a table whose rows fit memory only as a mapped file (cof_table_is_encoded): the driver keeps no labels, and rows are
 * used where they are. Also for trying what shards do. */
typedef struct cof_shard_set cof_shard_set;

/* Cuts a table, whose roles, orders and cuts are set and which outlives the set, into n_shards stretches of its rows.
 * memory: bytes for labels; 0 -> 128 MiB a shard. It is a wish: the labels of one partition are always kept, 4 bytes a
 * row, or 8 while a start measures distances to seeds; weights and dropped rows take 9 more. threads: 0 -> all cores.
 * Time is proportional to the cells. */
COF_API cof_status cof_shard_set_open(const cof_env *env, const cof_table *table, uint32_t n_shards,
                                      uint64_t memory, uint32_t threads, cof_shard_set **out, cof_error *err);
COF_API void cof_shard_set_free(cof_shard_set *set); /* NULL is accepted */
/* Both are lent, and valid until the set is freed. */
COF_API const cof_schema *cof_shard_set_schema(const cof_shard_set *set);
COF_API cof_shards cof_shard_set_shards(cof_shard_set *set);

/* ---- Journal -------------------------------------------------------------------------------------------- */

/* Keeps the summed answers in a file. After the driver died, the same calls with the same options go on where it was: the
 * journal answers what was answered before, and gives the same result. */
typedef struct cof_journal cof_journal;

/* Opens the journal, or begins one. The schema is the whole one, with its roles, orders and cuts. The shards are asked for a
 * digest of their rows, which takes about as long as a pass. If the machine fails, answers of the last second may be lost;
 * they are asked again, as is what is damaged. COF_ERR_DATA if the file is not a journal, or of other rows, of columns
 * that were used differently or of another version of the library; COF_ERR_TOO_NEW; COF_ERR_IO, also if another run uses
 * it, if it cannot be locked, and if it is a link or no ordinary file; COF_ERR_ARGUMENT for "-". A fit with other options
 * than those of the journal fails with COF_ERR_BACKEND and says so. */
COF_API cof_status cof_journal_open(const cof_env *env, const char *path, const cof_schema *schema,
                                    const cof_shards *shards, cof_journal **out, cof_error *err);
/* What to give to cof_fit_shards instead of the shards. Valid until the journal is freed. */
COF_API cof_shards cof_journal_shards(cof_journal *journal);
COF_API uint64_t cof_journal_n_replayed(const cof_journal *journal); /* answers that were not asked again */
COF_API void cof_journal_free(cof_journal *journal);                 /* NULL is accepted; the file remains */

#ifdef __cplusplus
}
#endif
#endif
