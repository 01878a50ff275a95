/* Minimum, quartiles and maximum of every cluster, from a sample of evenly spaced rows: 65,536 rows give
 * the quartiles to half a percent of the ranks for any table size. */
#include "collect.h"

#include <math.h>
#include <stdio.h>

enum { MOST_ROWS = 1 << 16 };

typedef struct item {
    double point, weight;
} item;

/* Moves the items below the pivot to the front; returns their number and their summed weight. Every item is moved, because
 * a branch that half of the items take costs more: from `low` on, the items are interchangeable. */
static size_t part(item *it, size_t n, double pivot, bool or_equal, double *weight)
{
    size_t low = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        item moved = it[i];
        bool take = (moved.point < pivot) | (or_equal & (moved.point == pivot));
        it[i] = it[low];
        it[low] = moved;
        low += take;
        sum += (double)take * moved.weight;
    }
    *weight = sum;
    return low;
}

/* The least point such that the points up to it have a summed weight of at least `target`. */
static double select_point(item *it, size_t n, double target)
{
    for (size_t first = 0, end = n;;) {
        double a = it[first].point, b = it[(first + end) / 2].point, c = it[end - 1].point, below, equal;
        double pivot = fmax(fmin(a, b), fmin(fmax(a, b), c)); /* the middle one of three */
        size_t n_below = part(it + first, end - first, pivot, false, &below);
        if (n_below > 0 && target <= below) {
            end = first + n_below;
            continue;
        }
        size_t begin = first + n_below, next = begin + part(it + begin, end - begin, pivot, true, &equal);
        if (target <= below + equal || next == end) return pivot;
        target -= below + equal;
        first = next;
    }
}

/* Buckets of equal width between the least point and the greatest one. */
enum { N_BUCKETS = 1024 };

/* The bucket in which each item is, and the summed weight of each bucket. */
static void fill_buckets(const item *it, size_t n, double least, double most, uint16_t *bucket,
                         double weight[static N_BUCKETS])
{
    double width = (most - least) / N_BUCKETS, per_width = 1 / width;
    if (!isfinite(width) || !isfinite(per_width)) per_width = 0; /* one bucket */
    memset(weight, 0, N_BUCKETS * sizeof *weight);
    for (size_t i = 0; i < n; i++) {
        int at = (int)((it[i].point - least) * per_width); /* never falls where points rise */
        bucket[i] = (uint16_t)(at < N_BUCKETS ? at : N_BUCKETS - 1);
        weight[bucket[i]] += it[i].weight;
    }
}

/* As select_point among all items. The bucket in which the target falls holds few of them, unless some points lie far away
 * from all others. */
static double select_in_bucket(const item *it, size_t n, const uint16_t *bucket, const double *weight,
                               double target, item *few)
{
    size_t at = 0, n_few = 0;
    while (at + 1 < N_BUCKETS && target > weight[at]) target -= weight[at++];
    for (size_t i = 0; i < n; i++)
        if (bucket[i] == at) few[n_few++] = it[i];
    return select_point(few, n_few, target);
}

static void take_five(const item *it, size_t n, uint16_t *bucket, item *few, double *five)
{
    double total = 0, least = INFINITY, most = -INFINITY, weight[N_BUCKETS];
    for (size_t i = 0; i < n; i++) {
        double x = it[i].point;
        total += it[i].weight;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    fill_buckets(it, n, least, most, bucket, weight);
    five[COF_FIVE_LEAST] = least;
    for (int q = COF_FIVE_QUARTER; q <= COF_FIVE_THREE_QUARTERS; q++)
        five[q] = select_in_bucket(it, n, bucket, weight, total * q / 4, few);
    five[COF_FIVE_MOST] = most;
}

typedef struct looking {
    cofi_blocks own;
    const cofi_partition *partition;
    size_t n;         /* rows in the sample */
    uint64_t *row;    /* their numbers, those of a cluster together */
    uint64_t *weight; /* their weights */
    size_t *first;    /* per cluster: its first row here; one more for the end */
    double *point;
    item *it, *few;
    uint16_t *bucket;
} looking;

/* Puts the rows of each cluster together, in their order; a row without a label or weight does not count. */
static void group_rows(looking *l, uint32_t k, const uint64_t *row, const uint64_t *weight,
                       const int32_t *label)
{
    memset(l->first, 0, ((size_t)k + 2) * sizeof *l->first);
    for (size_t s = 0; s < l->n; s++)
        if (label[s] >= 0 && weight[s] > 0) l->first[label[s] + 2]++;
    for (uint32_t j = 0; j < k; j++) l->first[j + 2] += l->first[j + 1];
    for (size_t s = 0; s < l->n; s++) {
        if (label[s] < 0 || weight[s] == 0) continue;
        size_t at = l->first[label[s] + 1]++;
        l->row[at] = row[s];
        l->weight[at] = weight[s];
    }
    l->n = l->first[k];
}

static cof_status choose_rows(looking *l, uint32_t k, cof_error *err)
{
    cofi_rows *rows = l->partition->rows;
    uint64_t n_all = rows->problem->n_table_rows;
    l->n = n_all < MOST_ROWS ? (size_t)n_all : MOST_ROWS;
    uint64_t *row = cofi_blocks_add(&l->own, l->n, sizeof *row);
    uint64_t *weight = cofi_blocks_add(&l->own, l->n, sizeof *weight);
    int32_t *label = cofi_blocks_add(&l->own, l->n, sizeof *label);
    l->row = cofi_blocks_add(&l->own, l->n, sizeof *l->row);
    l->weight = cofi_blocks_add(&l->own, l->n, sizeof *l->weight);
    l->first = cofi_blocks_add(&l->own, (size_t)k + 2, sizeof *l->first);
    l->point = cofi_blocks_add(&l->own, l->n, sizeof *l->point);
    l->it = cofi_blocks_add(&l->own, l->n, sizeof *l->it);
    l->few = cofi_blocks_add(&l->own, l->n, sizeof *l->few);
    l->bucket = cofi_blocks_add(&l->own, l->n, sizeof *l->bucket);
    if (l->own.short_of_memory) return cofi_no_memory(err);
    for (size_t s = 0; s < l->n; s++) row[s] = s * n_all / l->n;
    cof_status status = cofi_partition_labels(l->partition, row, l->n, label, err);
    if (status == COF_OK) status = cofi_rows_fetch(rows, NULL, row, l->n, NULL, weight, err);
    if (status == COF_OK) group_rows(l, k, row, weight, label);
    return status;
}

static cof_status measure_column(looking *l, size_t column, uint32_t k, double *five, cof_error *err)
{
    cofi_rows *rows = l->partition->rows;
    cof_status status = cofi_rows_points(rows, column, l->row, l->n, l->point, err);
    for (uint32_t j = 0; j < k && status == COF_OK; j++) {
        size_t n = 0;
        for (size_t s = l->first[j]; s < l->first[j + 1]; s++)
            if (!isnan(l->point[s])) l->it[n++] = (item){l->point[s], (double)l->weight[s]};
        for (int q = 0; n == 0 && q < COF_N_FIVE; q++) five[j * COF_N_FIVE + q] = NAN;
        if (n > 0) take_five(l->it, n, l->bucket, l->few, five + (size_t)j * COF_N_FIVE);
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
        if (a->domain.cut == NULL) continue;
        if (l.row == NULL) status = choose_rows(&l, m->k, err);
        a->five = cofi_blocks_add(&m->own, (size_t)m->k * COF_N_FIVE, sizeof *a->five);
        if (status == COF_OK) status = cofi_blocks_status(&m->own, err);
        if (status == COF_OK) status = measure_column(&l, p->candidate[r], m->k, a->five, err);
    }
    cofi_blocks_release(&l.own);
    return status;
}

/* ---- Queries ------------------------------------------------------------------------------------- */

static const cofi_model_attr *quantity(const cof_model *m, size_t attribute)
{
    return attribute < m->n_attrs && m->attr[attribute].domain.cut != NULL ? &m->attr[attribute] : NULL;
}

const double *cof_model_cut(const cof_model *m, size_t attribute, size_t *n_edges)
{
    const cofi_model_attr *a = quantity(m, attribute);
    if (n_edges != NULL) *n_edges = a != NULL ? a->domain.cut->n_edges : 0;
    return a != NULL ? a->domain.cut->edge : NULL;
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
    if (a != NULL) cofi_reading_show(&a->domain.cut->reading, point, DIGITS, shown);
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
