/* The pass over rows in memory: scores go down, labels and counts come back. */
#ifndef COFI_PASS_H
#define COFI_PASS_H

#include "../core/team.h"
#include "kernels/kernel.h"
#include "kernels/skip.h"

typedef struct cofi_pass {
    const cofi_cells *rows;
    const cofi_kernel *kernel;
    cofi_team *team;
    cofi_plan plan;
    cofi_skip skip;
    uint32_t k, stride;
    cofi_label *label;   /* n_rows; COFI_NO_LABEL before the first pass */
    cofi_label *unknown; /* COFI_BLOCK_ROWS: the labels before the first pass */
    uint64_t *count;     /* n_flat x stride: N, summed row weights of cluster j that hold value g */
    uint64_t *size;      /* k: summed row weights of each cluster */
    uint64_t hash;       /* of the partition; equal partitions have equal hashes */
    cof_env env;
    struct cofi_pass_worker *worker;
    uint64_t *block_hash; /* of the labels of each block; `hash` is their sum */
    bool all_by_members;  /* no attribute needs counting row by row when whole blocks move */
} cofi_pass;

/* kernel NULL: as cofi_kernel_choose says. */
cof_status cofi_pass_open(const cof_env *env, const cofi_cells *rows, uint32_t k, cofi_team *team,
                          const cofi_kernel *kernel, cofi_pass *pass, cof_error *err);
void cofi_pass_reset(cofi_pass *pass); /* forgets the labels */
/* Assigns every row and recounts; returns how many rows of the table moved. */
uint64_t cofi_pass_run(cofi_pass *pass, const cofi_scores *scores);
void cofi_pass_set_labels(cofi_pass *pass, const cofi_label *label); /* takes over a partition, counts it */
uint64_t cofi_pass_take(cofi_pass *pass,
                        const cofi_label *label); /* the same as a pass: returns the rows moved */
void cofi_pass_close(cofi_pass *pass);            /* fine after a failed open */

#endif
