#include "whole_rows.h"

cof_status cofi_whole_open(cofi_fit *fit, cofi_blocks *own, cofi_whole *w, cof_error *err)
{
    const cofi_problem *p = fit->problem;
    *w = (cofi_whole){.n_rows = p->n_table_rows, .n_columns = p->n_attrs + p->n_numeric};
    w->cell = cofi_blocks_add(own, w->n_rows * w->n_columns, sizeof *w->cell);
    w->weight = cofi_blocks_add(own, w->n_rows, sizeof *w->weight);
    w->label = cofi_blocks_add_zero(own, w->n_rows, sizeof *w->label);
    COFI_TRY(cofi_blocks_status(own, err));
    return cofi_rows_fetch(fit->partition.rows, NULL, NULL, w->n_rows, w->cell, w->weight, err);
}

cof_status cofi_whole_set_labels(cofi_fit *fit, const cofi_whole *w, uint64_t *moved, cof_error *err)
{
    fit->log.visits += w->n_rows;
    fit->log.n_passes++;
    return cofi_partition_take(&fit->partition, w->label, moved, err);
}
