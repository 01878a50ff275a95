/* Row blocks shared out over the team: a kernel names each row's cluster, and rows that moved change the
 * counts. Counting differences instead of recounting makes late passes, where few rows move, cheap. */
#include "pass.h"

#include "../core/rng.h"

/* What one worker changed. Differences wrap around; their sum over workers does not. */
struct cofi_pass_worker {
    uint64_t *count; /* n_flat x stride */
    uint64_t *size;
    uint64_t hash, moved;
    void *scratch;
    bool touched;
};

const cofi_kernel *cofi_kernel_choose(void)
{
    return &cofi_kernel_plain;
}

static size_t n_entries(const cofi_pass *p)
{
    return (size_t)p->rows->first[p->rows->n_attrs] * p->stride;
}

static cof_status open_worker(cofi_pass *p, struct cofi_pass_worker *w)
{
    w->count = cofi_alloc_zero(&p->env, n_entries(p), sizeof *w->count);
    w->size = cofi_alloc_zero(&p->env, p->k, sizeof *w->size);
    w->scratch = cofi_alloc(&p->env, p->kernel->scratch_bytes(p->rows, p->stride), 1);
    return w->count != NULL && w->size != NULL && w->scratch != NULL ? COF_OK : COF_ERR_MEMORY;
}

cof_status cofi_pass_open(const cof_env *env, const cofi_rows *rows, uint32_t k, cofi_team *team,
                          cofi_pass *pass, cof_error *err)
{
    memset(pass, 0, sizeof *pass);
    pass->env = *env;
    pass->rows = rows;
    pass->team = team;
    pass->kernel = cofi_kernel_choose();
    pass->k = k;
    pass->stride = cofi_stride(k);
    pass->label = cofi_alloc(env, rows->n_rows, sizeof *pass->label);
    pass->count = cofi_alloc(env, n_entries(pass), sizeof *pass->count);
    pass->size = cofi_alloc(env, k, sizeof *pass->size);
    pass->worker = cofi_alloc_zero(env, cofi_team_size(team), sizeof *pass->worker);
    if (pass->label == NULL || pass->count == NULL || pass->size == NULL || pass->worker == NULL)
        return cofi_no_memory(err);
    for (uint32_t t = 0; t < cofi_team_size(team); t++)
        if (open_worker(pass, &pass->worker[t]) != COF_OK) return cofi_no_memory(err);
    cofi_pass_reset(pass);
    return COF_OK;
}

void cofi_pass_close(cofi_pass *pass)
{
    if (pass->env.release == NULL) return; /* never opened */
    for (uint32_t t = 0; pass->worker != NULL && t < cofi_team_size(pass->team); t++) {
        cofi_release(&pass->env, pass->worker[t].count);
        cofi_release(&pass->env, pass->worker[t].size);
        cofi_release(&pass->env, pass->worker[t].scratch);
    }
    cofi_release(&pass->env, pass->worker);
    cofi_release(&pass->env, pass->label);
    cofi_release(&pass->env, pass->count);
    cofi_release(&pass->env, pass->size);
    memset(pass, 0, sizeof *pass);
}

void cofi_pass_reset(cofi_pass *pass)
{
    memset(pass->label, 0xFF, pass->rows->n_rows * sizeof *pass->label);
    memset(pass->count, 0, n_entries(pass) * sizeof *pass->count);
    memset(pass->size, 0, pass->k * sizeof *pass->size);
    pass->hash = 0;
}

/* A sum over rows, so that it can be made in any order and changed row by row. */
static uint64_t row_hash(size_t row, int32_t label)
{
    return label < 0 ? 0 : cofi_mix64(cofi_mix64(row + 1) + (uint64_t)label);
}

static void move_row(const cofi_pass *p, struct cofi_pass_worker *w, size_t row, int32_t to)
{
    const cofi_rows *rows = p->rows;
    int32_t from = p->label[row];
    p->label[row] = to;
    uint64_t weight = rows->weight != NULL ? rows->weight[row] : 1;
    if (weight == 0) return; /* a passenger: labelled, but never counted nor waited for */
    for (size_t r = 0; r < rows->n_attrs; r++) {
        uint64_t *n = w->count + (size_t)(rows->first[r] + cofi_id(rows->ids[r], row)) * p->stride;
        n[to] += weight;
        if (from >= 0) n[from] -= weight;
    }
    w->size[to] += weight;
    if (from >= 0) w->size[from] -= weight;
    w->hash += row_hash(row, to) - row_hash(row, from);
    w->moved += rows->copies != NULL ? rows->copies[row] : 1;
    w->touched = true;
}

typedef struct pass_job {
    cofi_pass *pass;
    const cofi_scores *scores;
    const int32_t *given; /* labels to take over instead of scoring */
} pass_job;

static void do_block(void *ctx, uint32_t worker, size_t block)
{
    pass_job *job = ctx;
    cofi_pass *p = job->pass;
    struct cofi_pass_worker *w = &p->worker[worker];
    int32_t label[COFI_BLOCK_ROWS];
    size_t begin = block * COFI_BLOCK_ROWS;
    size_t n = p->rows->n_rows - begin < COFI_BLOCK_ROWS ? p->rows->n_rows - begin : COFI_BLOCK_ROWS;
    const int32_t *to = job->given != NULL ? job->given + begin : label;
    if (job->given == NULL) p->kernel->nearest(p->rows, job->scores, begin, n, label, w->scratch);
    for (size_t i = 0; i < n; i++)
        if (to[i] != p->label[begin + i]) move_row(p, w, begin + i, to[i]);
}

/* Adds what the workers changed and clears it for the next pass. */
static uint64_t collect(cofi_pass *p)
{
    uint64_t moved = 0;
    for (uint32_t t = 0; t < cofi_team_size(p->team); t++) {
        struct cofi_pass_worker *w = &p->worker[t];
        if (!w->touched) continue;
        size_t n = n_entries(p);
        for (size_t at = 0; at < n; at++) p->count[at] += w->count[at];
        memset(w->count, 0, n * sizeof *w->count);
        for (uint32_t j = 0; j < p->k; j++) p->size[j] += w->size[j];
        memset(w->size, 0, p->k * sizeof *w->size);
        p->hash += w->hash;
        moved += w->moved;
        w->hash = w->moved = 0;
        w->touched = false;
    }
    return moved;
}

static uint64_t run_job(pass_job *job)
{
    cofi_pass *p = job->pass;
    cofi_team_run(p->team, do_block, job, (p->rows->n_rows + COFI_BLOCK_ROWS - 1) / COFI_BLOCK_ROWS);
    return collect(p);
}

uint64_t cofi_pass_run(cofi_pass *pass, const cofi_scores *scores)
{
    pass_job job = {pass, scores, NULL};
    pass->visits += pass->rows->n_rows;
    return run_job(&job);
}

uint64_t cofi_pass_take(cofi_pass *pass, const int32_t *label)
{
    pass_job job = {pass, NULL, label};
    return run_job(&job);
}

void cofi_pass_set_labels(cofi_pass *pass, const int32_t *label)
{
    cofi_pass_reset(pass);
    cofi_pass_take(pass, label);
}
