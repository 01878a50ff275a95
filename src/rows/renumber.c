/* The rows of a sample with new value ids. A sample of a column with very many values holds few of them, and tables of the
 * size values x clusters are then mostly empty. */
#include "local.h"

enum { NOT_HELD = UINT32_MAX };

/* Sets id[g] to anything but NOT_HELD where the value stays. */
static void mark_values(const cofi_cells *c, const cofi_problem *p, size_t r, uint32_t *id)
{
    uint32_t n_slots = p->first[r + 1] - p->first[r];
    bool all = p->n_bins[r] > 0; /* neighbouring bins are smoothed together */
    memset(id, all ? 0 : 0xFF, n_slots * sizeof *id);
    for (size_t i = 0; i < c->n_rows; i++) id[cofi_id(c->ids[r], i)] = 0;
    id[p->order != NULL ? p->order[p->first[r]] : 0] = 0; /* the mode of a cluster without cells */
    if (n_slots > p->n_values[r]) id[p->n_values[r]] = 0; /* the slot of ignored cells */
}

/* Numbers the values that stay, and returns their number of slots. */
static uint32_t number_values(const cofi_problem *from, size_t r, uint32_t *id, uint32_t *n_values)
{
    uint32_t n = 0;
    *n_values = 0;
    for (uint32_t slot = 0; slot < from->first[r + 1] - from->first[r]; slot++) {
        if (id[slot] == NOT_HELD) continue;
        id[slot] = n++;
        if (slot < from->n_values[r]) *n_values = n;
    }
    return n;
}

/* The values that stay keep their order, also the one that decides ties. */
static void order_values(const cofi_problem *from, size_t r, const uint32_t *id, uint32_t *order)
{
    for (uint32_t at = 0; at < from->first[r + 1] - from->first[r]; at++) {
        uint32_t v = from->order[from->first[r] + at];
        if (id[v] != NOT_HELD) *order++ = id[v];
    }
}

/* Where all values stay, the ids are those of the sample, which outlives these rows. */
static bool copy_column(cofi_local *l, size_t r, cofi_ids from, uint32_t n_before, uint32_t n_slots,
                        const uint32_t *id)
{
    l->ids[r] = from;
    if (n_slots == n_before) return true;
    uint8_t width = cofi_local_width(n_slots);
    void *codes = cofi_alloc_column(&l->env, r, l->n_rows, width, &l->gathered[r]);
    if (codes == NULL) return false;
    for (size_t i = 0; i < l->n_rows; i++) cofi_code_set(codes, width, i, id[cofi_id(from, i)]);
    l->ids[r] = (cofi_ids){codes, width, false};
    return true;
}

/* The weights stay those of the sample. */
static cofi_local *open_like(const cofi_local *sample, cofi_problem *p, cofi_rows **out)
{
    cofi_local *l = cofi_local_new(p, out);
    if (l == NULL) return NULL;
    p->first = cofi_blocks_add_zero(&p->own, p->n_attrs + 1, sizeof *p->first);
    p->n_values = cofi_blocks_add(&p->own, p->n_attrs, sizeof *p->n_values);
    l->ids = cofi_blocks_add(&p->own, p->n_attrs, sizeof *l->ids);
    l->gathered = cofi_blocks_add_zero(&p->own, p->n_attrs, sizeof *l->gathered);
    l->n_rows = sample->n_rows;
    l->n_columns = p->n_attrs;
    l->table_weight = sample->table_weight;
    l->cells = (cofi_cells){l->n_rows, p->n_attrs, l->ids, p->first, sample->cells.weight, NULL};
    return p->own.short_of_memory ? NULL : l;
}

cof_status cofi_rows_renumber(const cofi_rows *sample, cofi_problem *p, cofi_rows **out, cof_error *err)
{
    const cofi_problem *from = sample->problem;
    const cofi_local *of = cofi_local_of(sample);
    *p = *from;
    p->own = (cofi_blocks){.env = p->env};
    cofi_local *l = open_like(of, p, out);
    uint32_t *id = cofi_blocks_add(&p->own, cofi_n_flat(from), sizeof *id);
    uint32_t *order = cofi_blocks_add(&p->own, cofi_n_flat(from), sizeof *order);
    if (l == NULL || p->own.short_of_memory) return cofi_no_memory(err);
    if (from->order != NULL) p->order = order;
    for (size_t r = 0; r < p->n_attrs; r++) {
        uint32_t *here = id + from->first[r];
        mark_values(&of->cells, from, r, here);
        uint32_t n_slots = number_values(from, r, here, &p->n_values[r]);
        p->first[r + 1] = p->first[r] + n_slots;
        if (from->order != NULL) order_values(from, r, here, order + p->first[r]);
        if (!copy_column(l, r, of->ids[r], from->first[r + 1] - from->first[r], n_slots, here))
            return cofi_no_memory(err);
    }
    return COF_OK;
}
