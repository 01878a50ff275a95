/* Uses the kernel of a pass without counting. */
#include "nearest.h"

#include "kernels/kernel.h"

typedef struct nearest_job {
    const cofi_kernel *kernel;
    cofi_plan plan;
    size_t n_rows;
    char *scratch; /* one area per worker */
    size_t scratch_size;
    int32_t *label;
} nearest_job;

static void label_block(void *ctx, uint32_t worker, size_t block)
{
    const nearest_job *job = ctx;
    size_t begin = block * COFI_BLOCK_ROWS;
    size_t n = job->n_rows - begin < COFI_BLOCK_ROWS ? job->n_rows - begin : COFI_BLOCK_ROWS;
    cofi_label label[COFI_BLOCK_ROWS];
    job->kernel->nearest(&job->plan, begin, n, label, job->scratch + worker * job->scratch_size);
    for (size_t i = 0; i < n; i++) job->label[begin + i] = label[i];
}

cof_status cofi_nearest_labels(const cof_env *env, cofi_team *team, size_t n_rows, size_t n_attrs,
                               const cofi_ids *ids, const uint32_t *first, const cofi_scores *scores,
                               int32_t *label, cof_error *err)
{
    cofi_cells cells = {n_rows, n_attrs, ids, first, NULL, NULL};
    nearest_job job = {.n_rows = n_rows, .label = label};
    COFI_TRY(cofi_kernel_choose(&job.kernel, err));
    cof_status status = cofi_plan_open(env, &cells, scores->k, job.kernel->most_cells,
                                       job.kernel->cheap_cells, job.kernel->split, &job.plan, err);
    if (status == COF_OK) {
        cofi_plan_prepare(&job.plan, scores);
        job.scratch_size = (job.kernel->scratch_bytes(&job.plan) + 63) & ~(size_t)63;
        job.scratch = cofi_blocks_add(&job.plan.own, cofi_team_size(team), job.scratch_size);
        status = cofi_blocks_status(&job.plan.own, err);
    }
    if (status == COF_OK)
        cofi_team_run(team, label_block, &job, (n_rows + COFI_BLOCK_ROWS - 1) / COFI_BLOCK_ROWS);
    cofi_plan_close(&job.plan);
    return status;
}
