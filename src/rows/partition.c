/* Calls in terms of questions, for every implementation of rows. */
#include "shards/remote.h"

#include <assert.h>

/* ---- Rows ---------------------------------------------------------------------------------------- */

cof_status cofi_rows_totals(cofi_rows *rows, cofi_team *team, uint64_t *total, cof_error *err)
{
    cofi_question q = {.kind = COFI_ASK_TOTALS, .team = team, .total = total};
    return rows->ops->ask(rows, &q, err);
}

cof_status cofi_rows_fetch(cofi_rows *rows, cofi_team *team, const uint64_t *row, size_t n, uint32_t *cell,
                           uint64_t *weight, cof_error *err)
{
    cofi_question q = {.kind = COFI_ASK_CELLS,
                       .team = team,
                       .rows = {.row = row, .n = n, .span = n},
                       .cells = {cell, weight}};
    return rows->ops->ask(rows, &q, err);
}

cof_status cofi_rows_points(cofi_rows *rows, size_t column, const uint64_t *row, size_t n, double *point,
                            cof_error *err)
{
    cofi_question q = {
        .kind = COFI_ASK_POINTS, .rows = {.row = row, .n = n, .span = n}, .points = {column, point}};
    return rows->ops->ask(rows, &q, err);
}

cof_status cofi_rows_pairs(cofi_rows *rows, cofi_team *team, const cofi_pair_visitor *visitor, cof_error *err)
{
    cofi_question q = {.kind = COFI_ASK_PAIRS,
                       .team = team,
                       .pairs = {visitor, 0, (uint32_t)rows->problem->n_attrs, visitor->before_only}};
    return rows->ops->ask(rows, &q, err);
}

void cofi_rows_close(cofi_rows *rows)
{
    if (rows != NULL) rows->ops->close(rows);
}

/* ---- Partitions ---------------------------------------------------------------------------------- */

cof_status cofi_partition_open(cofi_rows *rows, uint32_t k, cofi_team *team, cofi_partition *p,
                               cof_error *err)
{
    *p = (cofi_partition){.rows = rows, .k = k, .stride = cofi_stride(k)};
    return rows->ops->open_partition(p, team, err);
}

void cofi_partition_close(cofi_partition *p)
{
    if (p->rows != NULL) p->rows->ops->close_partition(p);
    *p = (cofi_partition){.rows = NULL};
}

void cofi_partition_forget(cofi_partition *p)
{
    p->rows->ops->set(p, NULL, NULL, NULL, NULL); /* which does not fail */
    p->known = false;
}

cof_status cofi_partition_take(cofi_partition *p, const int32_t *label, uint64_t *moved, cof_error *err)
{
    COFI_TRY(p->rows->ops->set(p, NULL, label, moved, err));
    p->known = true;
    return COF_OK;
}

cof_status cofi_partition_keep(const cofi_partition *p, cofi_kept **kept, cof_error *err)
{
    return p->rows->ops->keep(p, kept, err);
}

cof_status cofi_partition_recall(cofi_partition *p, const cofi_kept *kept, cof_error *err)
{
    cof_status status = p->rows->ops->set(p, kept, NULL, NULL, err);
    p->known = status == COF_OK;
    return status;
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
    cofi_question q = {.kind = COFI_ASK_PASS, .partition = p, .pass = {.scores = scores}};
    COFI_TRY(p->rows->ops->ask(p->rows, &q, err));
    p->known = true;
    *moved = q.pass.moved;
    assert(sizes_add_up(p));
    return COF_OK;
}

/* A question about a partition that it does not change. */
static cofi_question question_about(const cofi_partition *p, cofi_ask kind)
{
    return (cofi_question){.kind = kind, .partition = (cofi_partition *)(uintptr_t)p};
}

cof_status cofi_partition_labels(const cofi_partition *p, const uint64_t *row, size_t n, int32_t *label,
                                 cof_error *err)
{
    cofi_question q = question_about(p, COFI_ASK_LABELS);
    q.rows = (cofi_row_list){.row = row, .n = n, .span = p->rows->problem->n_table_rows};
    q.label = label;
    return p->rows->ops->ask(p->rows, &q, err);
}

cof_status cofi_partition_remember(const cofi_partition *p, cofi_blocks *own, cofi_remembered *out,
                                   cof_error *err)
{
    cofi_question q = question_about(p, COFI_ASK_REMEMBER);
    q.remember.own = own;
    COFI_TRY(p->rows->ops->ask(p->rows, &q, err));
    *out = q.remember.out;
    return COF_OK;
}

cof_status cofi_partition_expect(cofi_partition *p, cofi_expectation *e, cof_error *err)
{
    cofi_question q = {.kind = COFI_ASK_EXPECT, .partition = p, .expect = e};
    return p->rows->ops->ask(p->rows, &q, err);
}

cof_status cofi_partition_add_seed(cofi_partition *p, const uint32_t *cell, cof_error *err)
{
    cofi_question q = {.kind = COFI_ASK_SEED, .partition = p, .seed = cell};
    return p->rows->ops->ask(p->rows, &q, err);
}

cof_status cofi_partition_draw(cofi_partition *p, cofi_chance by, cofi_rng *rng, uint64_t *row,
                               cof_error *err)
{
    cofi_question q = {.kind = COFI_ASK_DRAW, .partition = p, .draw = {.by = by, .rng = rng}};
    COFI_TRY(p->rows->ops->ask(p->rows, &q, err));
    *row = q.draw.row;
    return COF_OK;
}

cof_status cofi_partition_densest(cofi_partition *p, const uint64_t *total, uint64_t *row, cof_error *err)
{
    cofi_question q = {.kind = COFI_ASK_DENSEST, .partition = p, .densest = {.total = total}};
    COFI_TRY(p->rows->ops->ask(p->rows, &q, err));
    *row = q.densest.row;
    return COF_OK;
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
