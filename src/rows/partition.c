/* The parts of a call that are the same for every implementation of rows. */
#include "shards/remote.h"

#include <assert.h>

cof_status cofi_partition_open(cofi_rows *rows, uint32_t k, cofi_team *team, cofi_partition *p,
                               cof_error *err)
{
    *p = (cofi_partition){.rows = rows, .k = k, .stride = cofi_stride(k)};
    return rows->ops->open(p, team, err);
}

void cofi_partition_close(cofi_partition *p)
{
    if (p->rows != NULL) p->rows->ops->close_labels(p);
    *p = (cofi_partition){.rows = NULL};
}

void cofi_partition_forget(cofi_partition *p)
{
    p->rows->ops->forget(p);
    p->known = false;
}

#ifndef NDEBUG
/* Every row of positive weight is in exactly one cluster. */
static bool sizes_add_up(const cofi_partition *p)
{
    uint64_t sum = 0;
    for (uint32_t j = 0; j < p->k; j++) sum += p->size[j];
    return sum == p->rows->problem->total_weight;
}
#endif

cof_status cofi_partition_pass(cofi_partition *p, const cofi_scores *scores, uint64_t *moved, cof_error *err)
{
    cofi_pass_request request = {.partition = p, .scores = scores};
    COFI_TRY(p->rows->ops->pass(&request, 1, err));
    *moved = request.moved;
    assert(sizes_add_up(p));
    return COF_OK;
}

cof_status cofi_partition_take(cofi_partition *p, const int32_t *label, uint64_t *moved, cof_error *err)
{
    cof_status status = p->rows->ops->take(p, label, moved, err);
    p->known = p->known || status == COF_OK;
    return status;
}

cof_status cofi_partition_remember(const cofi_partition *p, cofi_blocks *own, cofi_remembered *out,
                                   cof_error *err)
{
    return p->rows->ops->remember(p, own, out, err);
}

cof_status cofi_partition_recall(cofi_partition *p, const cofi_kept *kept, cof_error *err)
{
    cof_status status = p->rows->ops->recall(p, kept, err);
    p->known = status == COF_OK;
    return status;
}

cof_status cofi_rows_agree(const cof_table *table, const cofi_remembered *a, uint32_t k_a,
                           const cofi_remembered *b, uint32_t k_b, uint64_t **count, cof_error *err)
{
    size_t n = (size_t)k_a * k_b;
    if (a->label == NULL) return cofi_remote_agree(table, a, k_a, b, k_b, count, err);
    *count = cofi_alloc_zero(&table->env, n + 1, sizeof **count);
    if (*count == NULL) return cofi_no_memory(err);
    for (size_t i = 0; i < a->n_labels; i++) {
        if (a->label[i] < 0 || b->label[i] < 0) continue;
        (*count)[(size_t)a->label[i] * k_b + (size_t)b->label[i]]++;
        (*count)[n]++;
    }
    return COF_OK;
}
