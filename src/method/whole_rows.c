#include "whole_rows.h"

cof_status cofi_whole_open(cofi_fit *fit, cofi_whole *w, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    const cof_env *env = &fit->host.env;
    *w = (cofi_whole){.n_rows = p->n_table_rows, .n_columns = p->n_attrs + p->n_numeric};
    w->cell = cofi_alloc(env, w->n_rows * w->n_columns, sizeof *w->cell);
    w->weight = cofi_alloc(env, w->n_rows, sizeof *w->weight);
    w->label = cofi_alloc_zero(env, w->n_rows, sizeof *w->label);
    if (w->cell == NULL || w->weight == NULL || w->label == NULL) return cofi_no_memory(err);
    return cofi_rows_fetch(fit->partition.rows, NULL, w->n_rows, w->cell, w->weight, err);
}

void cofi_whole_close(cofi_fit *fit, cofi_whole *w)
{
    cofi_release(&fit->host.env, w->cell);
    cofi_release(&fit->host.env, w->weight);
    cofi_release(&fit->host.env, w->label);
    *w = (cofi_whole){.n_rows = 0};
}

cof_status cofi_whole_take(cofi_fit *fit, const cofi_whole *w, uint64_t *moved, cof_error *err)
{
    fit->log.visits += w->n_rows;
    fit->log.n_passes++;
    return cofi_partition_take(&fit->partition, w->label, moved, err);
}
