/* Minimum, quartiles and maximum of every cluster, from a sample of evenly spaced rows: 65,536 rows give
 * the quartiles to half a percent of the ranks for any table size. */
#include "quantity.h"

#include <math.h>

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
    const cof_env *env;
    size_t n;        /* rows in the sample */
    size_t *row;     /* their numbers, sorted by cluster */
    double *weight;  /* their weights */
    size_t *cluster; /* k + 1: where the rows of cluster j begin */
    item *it;
} looking;

/* Chooses rows that have a label and positive weight, and sorts them by cluster. */
static cof_status choose_rows(looking *l, const cof_model *m, const uint64_t *weight)
{
    size_t n = m->n_labels < MOST_ROWS ? m->n_labels : MOST_ROWS;
    l->row = cofi_alloc(l->env, n, sizeof *l->row);
    l->weight = cofi_alloc(l->env, n, sizeof *l->weight);
    l->cluster = cofi_alloc_zero(l->env, (size_t)m->k + 2, sizeof *l->cluster);
    l->it = cofi_alloc(l->env, n, sizeof *l->it);
    if (l->row == NULL || l->weight == NULL || l->cluster == NULL || l->it == NULL) return COF_ERR_MEMORY;
    for (int round = 0; round < 2; round++) {
        for (size_t s = 0; s < n; s++) {
            size_t i = (size_t)((uint64_t)s * m->n_labels / n);
            uint64_t w = weight != NULL ? weight[i] : 1;
            if (m->label[i] < 0 || w == 0) continue;
            size_t *at = &l->cluster[m->label[i] + 2 - round];
            if (round == 1) {
                l->row[*at] = i;
                l->weight[*at] = (double)w;
            }
            ++*at;
        }
        for (uint32_t j = 1; round == 0 && j <= m->k; j++) l->cluster[j + 1] += l->cluster[j];
    }
    return COF_OK;
}

static void measure_column(looking *l, const cofi_column *c, uint32_t k, double *five)
{
    const cofi_uncut *u = c->uncut;
    for (uint32_t j = 0; j < k; j++) {
        size_t n = 0;
        for (size_t s = l->cluster[j]; s < l->cluster[j + 1]; s++) {
            double point = u->point[cofi_code_at(u->codes, u->width, l->row[s])];
            if (!isnan(point)) l->it[n++] = (item){point, l->weight[s]};
        }
        for (int q = 0; n == 0 && q < COF_N_FIVE; q++) five[j * COF_N_FIVE + q] = NAN;
        if (n > 0) take_five(l->it, n, five + (size_t)j * COF_N_FIVE);
    }
}

cof_status cofi_quantity_measure(cof_model *m, const cof_table *table, const uint64_t *weight, cof_error *err)
{
    looking l = {.env = &m->env};
    cof_status status = COF_OK;
    size_t r = 0;
    for (size_t c = 0; status == COF_OK && c < table->n_columns; c++) {
        if (table->column[c].role != COF_ROLE_ATTRIBUTE) continue;
        cofi_model_attr *a = &m->attr[r++];
        if (a->cut == NULL) continue;
        if (l.it == NULL) status = choose_rows(&l, m, weight);
        if (status == COF_OK) a->five = cofi_alloc(l.env, (size_t)m->k * COF_N_FIVE, sizeof *a->five);
        if (a->five == NULL) status = COF_ERR_MEMORY;
        if (status == COF_OK) measure_column(&l, &table->column[c], m->k, a->five);
    }
    void *owned[] = {l.row, l.weight, l.cluster, l.it};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(l.env, owned[b]);
    return status == COF_OK ? COF_OK : cofi_no_memory(err);
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
