/* Minimum, quartiles and maximum of every cluster, from a sample of evenly spaced rows: 65,536 rows give
 * the quartiles to half a percent of the ranks for any table size. */
#include "quantity.h"

#include <math.h>
#include <stdio.h>

enum { MOST_ROWS = 1 << 16 };

typedef struct item {
    double point, weight;
} item;

static double pivot_of(const item *it, size_t n)
{
    double a = it[0].point, b = it[n / 2].point, c = it[n - 1].point;
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Moves the items below the pivot to the front; returns their number and their summed weight. */
static size_t part(item *it, size_t n, double pivot, bool or_equal, double *weight)
{
    size_t low = 0;
    *weight = 0;
    for (size_t i = 0; i < n; i++) {
        if (or_equal ? it[i].point > pivot : it[i].point >= pivot) continue;
        item moved = it[i];
        it[i] = it[low];
        it[low++] = moved;
        *weight += moved.weight;
    }
    return low;
}

/* The least point such that the points up to it have a summed weight of at least `target`. */
static double select_point(item *it, size_t n, double target)
{
    for (;;) {
        double pivot = pivot_of(it, n), below, equal;
        size_t n_below = part(it, n, pivot, false, &below);
        if (n_below > 0 && target <= below) {
            n = n_below;
            continue;
        }
        size_t n_upto = n_below + part(it + n_below, n - n_below, pivot, true, &equal);
        if (target <= below + equal || n_upto == n) return pivot;
        target -= below + equal;
        it += n_upto;
        n -= n_upto;
    }
}

static void take_five(item *it, size_t n, double *five)
{
    double total = 0;
    five[COF_FIVE_LEAST] = INFINITY;
    five[COF_FIVE_MOST] = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        total += it[i].weight;
        five[COF_FIVE_LEAST] = fmin(five[COF_FIVE_LEAST], it[i].point);
        five[COF_FIVE_MOST] = fmax(five[COF_FIVE_MOST], it[i].point);
    }
    for (int q = COF_FIVE_QUARTER; q <= COF_FIVE_THREE_QUARTERS; q++)
        five[q] = select_point(it, n, total * q / 4);
}

typedef struct looking {
    cofi_blocks own;
    const cofi_partition *partition;
    size_t n;         /* rows in the sample */
    uint64_t *row;    /* their numbers */
    int32_t *label;   /* -1: the row does not count */
    uint64_t *weight; /* their weights */
    double *point;
    item *it;
} looking;

static cof_status choose_rows(looking *l, cof_error *err)
{
    cofi_rows *rows = l->partition->rows;
    uint64_t n_all = rows->problem->n_table_rows;
    l->n = n_all < MOST_ROWS ? (size_t)n_all : MOST_ROWS;
    l->row = cofi_blocks_add(&l->own, l->n, sizeof *l->row);
    l->label = cofi_blocks_add(&l->own, l->n, sizeof *l->label);
    l->weight = cofi_blocks_add(&l->own, l->n, sizeof *l->weight);
    l->point = cofi_blocks_add(&l->own, l->n, sizeof *l->point);
    l->it = cofi_blocks_add(&l->own, l->n, sizeof *l->it);
    if (l->own.short_of_memory) return cofi_no_memory(err);
    for (size_t s = 0; s < l->n; s++) l->row[s] = s * n_all / l->n;
    cof_status status = cofi_partition_labels(l->partition, l->row, l->n, l->label, err);
    if (status == COF_OK) status = cofi_rows_fetch(rows, l->row, l->n, NULL, l->weight, err);
    for (size_t s = 0; status == COF_OK && s < l->n; s++)
        if (l->weight[s] == 0) l->label[s] = -1;
    return status;
}

static cof_status measure_column(looking *l, size_t column, uint32_t k, double *five, cof_error *err)
{
    cofi_rows *rows = l->partition->rows;
    cof_status status = rows->ops->points(rows, column, l->row, l->n, l->point, err);
    for (uint32_t j = 0; j < k && status == COF_OK; j++) {
        size_t n = 0;
        for (size_t s = 0; s < l->n; s++)
            if (l->label[s] == (int32_t)j && !isnan(l->point[s]))
                l->it[n++] = (item){l->point[s], (double)l->weight[s]};
        for (int q = 0; n == 0 && q < COF_N_FIVE; q++) five[j * COF_N_FIVE + q] = NAN;
        if (n > 0) take_five(l->it, n, five + (size_t)j * COF_N_FIVE);
    }
    return status;
}

cof_status cofi_quantity_measure(cof_model *m, const cofi_partition *partition, cof_error *err)
{
    looking l = {.own = {.env = m->env}, .partition = partition};
    const cofi_problem *p = partition->rows->problem;
    cof_status status = COF_OK;
    for (size_t r = 0; status == COF_OK && r < p->n_candidates; r++) {
        cofi_model_attr *a = &m->attr[r];
        if (a->cut == NULL) continue;
        if (l.row == NULL) status = choose_rows(&l, err);
        if (status != COF_OK) break;
        a->five = cofi_alloc(&m->env, (size_t)m->k * COF_N_FIVE, sizeof *a->five);
        status =
            a->five != NULL ? measure_column(&l, p->candidate[r], m->k, a->five, err) : cofi_no_memory(err);
    }
    cofi_blocks_release(&l.own);
    return status;
}

/* ---- Queries ------------------------------------------------------------------------------------- */

static const cofi_model_attr *quantity(const cof_model *m, size_t attribute)
{
    return attribute < m->n_attrs && m->attr[attribute].cut != NULL ? &m->attr[attribute] : NULL;
}

const double *cof_model_cut(const cof_model *m, size_t attribute, size_t *n_edges)
{
    const cofi_model_attr *a = quantity(m, attribute);
    if (n_edges != NULL) *n_edges = a != NULL ? a->cut->n_edges : 0;
    return a != NULL ? a->cut->edge : NULL;
}

const double *cof_model_five(const cof_model *m, size_t attribute, uint32_t cluster)
{
    const cofi_model_attr *a = quantity(m, attribute);
    return a != NULL && a->five != NULL && cluster < m->k ? a->five + (size_t)cluster * COF_N_FIVE : NULL;
}

const char *cof_model_show_point(const cof_model *m, size_t attribute, double point, char *text, size_t room)
{
    enum { DIGITS = 4 };
    const cofi_model_attr *a = quantity(m, attribute);
    char shown[COFI_POINT_BYTES] = "";
    if (a != NULL) cofi_reading_show(&a->cut->reading, point, DIGITS, shown);
    size_t n = strlen(shown) < room ? strlen(shown) : room - 1;
    memcpy(text, shown, n);
    text[n] = '\0';
    return text;
}

/* ---- Quantities that were kept as numbers ----------------------------------------------------------- */

size_t cof_model_n_numeric(const cof_model *m)
{
    return m->n_numeric;
}

const char *cof_model_numeric_name(const cof_model *m, size_t quantity)
{
    return quantity < m->n_numeric ? m->numeric[quantity].name : NULL;
}

double cof_model_numeric_mean(const cof_model *m, size_t quantity, uint32_t cluster)
{
    if (quantity >= m->n_numeric || cluster >= m->k) return NAN;
    const cofi_model_numeric *q = &m->numeric[quantity];
    return q->origin + q->unit * q->mean[cluster];
}

const char *cof_model_show_mean(const cof_model *m, size_t quantity, uint32_t cluster, char *text,
                                size_t room)
{
    char shown[COFI_POINT_BYTES] = "";
    double mean = cof_model_numeric_mean(m, quantity, cluster);
    if (!isnan(mean)) cofi_reading_show(&m->numeric[quantity].reading, mean, 4, shown);
    snprintf(text, room, "%s", shown);
    return text;
}

double cof_model_column_weight(const cof_model *m, size_t attribute)
{
    return m->column_weight != NULL && attribute < m->n_attrs ? m->column_weight[attribute] : 1;
}
