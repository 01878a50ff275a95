/* The pass over rows: scores go down, labels and counts come back. The only code that walks rows while a
 * fit runs; threads, vector units and devices live behind this contract. */
#ifndef COFI_PASS_H
#define COFI_PASS_H

#include "../core/env.h"
#include "../core/shape.h"
#include "../core/team.h"

/* The nearest cluster of rows begin..begin+n-1, n <= COFI_BLOCK_ROWS. `scratch` holds what scratch_bytes
 * asked for. A kernel only reads; every kernel must give the plain one's labels. */
typedef struct cofi_kernel {
    const char *name; /* shown in results */
    size_t (*scratch_bytes)(const cofi_rows *rows, uint32_t stride);
    void (*nearest)(const cofi_rows *rows, const cofi_scores *scores, size_t begin, size_t n,
                    int32_t *nearest, void *scratch);
} cofi_kernel;

enum { COFI_BLOCK_ROWS = 4096 }; /* what one task of the team handles */

/* The row's cluster given its sums: the lowest within a tie of the least, or what `plain` says of those. */
int32_t cofi_settle(const cofi_rows *rows, const cofi_scores *scores, size_t row, const int64_t *sum);

extern const cofi_kernel cofi_kernel_plain;
const cofi_kernel *cofi_kernel_choose(void); /* the fastest this processor has */

typedef struct cofi_pass {
    const cofi_rows *rows;
    const cofi_kernel *kernel;
    cofi_team *team;
    uint32_t k, stride;
    int32_t *label;  /* n_rows; -1 before the first pass */
    uint64_t *count; /* n_flat x stride: N, summed row weights of cluster j that hold value g */
    uint64_t *size;  /* k: summed row weights of each cluster */
    uint64_t hash;   /* of the partition; equal partitions have equal hashes */
    uint64_t visits; /* rows scored so far */
    cof_env env;
    struct cofi_pass_worker *worker;
} cofi_pass;

cof_status cofi_pass_open(const cof_env *env, const cofi_rows *rows, uint32_t k, cofi_team *team,
                          cofi_pass *pass, cof_error *err);
void cofi_pass_reset(cofi_pass *pass); /* forgets the labels */
/* Assigns every row and recounts; returns how many rows of the table moved. */
uint64_t cofi_pass_run(cofi_pass *pass, const cofi_scores *scores);
void cofi_pass_set_labels(cofi_pass *pass, const int32_t *label); /* takes over a partition, counts it */
uint64_t cofi_pass_take(cofi_pass *pass,
                        const int32_t *label); /* the same as a pass: returns the rows moved */
void cofi_pass_close(cofi_pass *pass);         /* fine after a failed open */

#endif
