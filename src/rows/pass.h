/* The pass over rows in memory: scores are passed in, labels and counts are returned. */
#pragma once

#include "../core/team.h"
#include "kernels/kernel.h"
#include "kernels/revise.h"
#include "kernels/skip.h"

typedef struct cofi_pass {
    const cofi_cells *rows;
    const cofi_kernel *kernel;
    cofi_team *team;
    cofi_plan plan;
    cofi_revision revision;
    cofi_skip skip;
    uint32_t k, stride;
    cofi_label *label; /* n_rows */
    bool labelled;     /* `label` is set: there was a pass since all labels were removed */
    /* COFI_BLOCK_ROWS entries of COFI_NO_LABEL: a block's labels before the first pass */
    cofi_label *unknown;
    uint64_t *count;  /* n_flat x stride: N, summed row weights of cluster j that hold value g */
    uint64_t *size;   /* k: summed row weights of each cluster */
    uint8_t *changed; /* n_flat: counts of the value were changed; whoever reads them sets it to 0 */
    uint64_t hash;    /* hash of the partition; equal partitions have equal hashes */
    cofi_blocks own;
    struct cofi_pass_worker *worker;
    uint64_t *block_hash; /* hash of each block's labels; `hash` is their sum */
    /* every attribute can be counted by members when a whole block is recounted */
    bool all_by_members;
    bool streamed;
    uint8_t *scored; /* if streamed, per block: the next pass has to score a row of it */
} cofi_pass;

/* A saved partition. Where counts would take more room than rows, `count` is NULL, and rows are counted again. */
typedef struct cofi_pass_state {
    cofi_label *label;
    uint64_t *count, *size, *block_hash, hash;
} cofi_pass_state;

/* If `kernel` is NULL, cofi_kernel_choose chooses it. */
cof_status cofi_pass_open(const cof_env *env, const cofi_cells *rows, uint32_t k, cofi_team *team,
                          const cofi_kernel *kernel, cofi_pass *pass, cof_error *err);
void cofi_pass_reset(cofi_pass *pass); /* removes all labels */
/* Labels every row and updates the counts; returns how many rows of the table changed their label. */
uint64_t cofi_pass_run(cofi_pass *pass, const cofi_scores *scores);
/* Sets the labels as a pass would: returns how many rows changed. */
uint64_t cofi_pass_take(cofi_pass *pass, const cofi_label *label);
/* After loading, the next run scores every row. */
void cofi_pass_save(const cofi_pass *pass, cofi_pass_state *state);
void cofi_pass_load(cofi_pass *pass, const cofi_pass_state *state);
/* The memory of a state. False: memory is short. */
bool cofi_pass_open_state(const cofi_pass *pass, cofi_blocks *own, cofi_pass_state *state);
void cofi_pass_close(cofi_pass *pass); /* allowed after a failed open */
