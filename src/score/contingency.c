/* Counts two labelings into a sparse table: hashes the pairs that occur, then sorts them. */
#include "contingency.h"

#include "../core/rng.h"

#include <math.h>

enum {
    FIRST_CELLS = 64,
    MOST_FEW = 1024 /* pairs of labels that are counted without a hash table */
};

/* Hash table of the pairs so far, with open addressing; an empty place has n == 0. */
typedef struct pair_counter {
    cofi_cell *place;
    size_t n_places; /* a power of two */
    size_t n_cells;
    uint64_t n_items;
} pair_counter;

static cofi_cell *find_place(const pair_counter *counter, uint64_t key)
{
    size_t mask = counter->n_places - 1, at = cofi_mix64(key) & mask;
    while (counter->place[at].n != 0 && counter->place[at].key != key) at = (at + 1) & mask;
    return &counter->place[at];
}

static cof_status grow_counter(pair_counter *counter, const cof_env *env)
{
    pair_counter larger = {.n_places = counter->n_places > 0 ? 2 * counter->n_places : FIRST_CELLS,
                           .n_cells = counter->n_cells,
                           .n_items = counter->n_items};
    larger.place = cofi_alloc_zero(env, larger.n_places, sizeof *larger.place);
    if (larger.place == NULL) return COF_ERR_MEMORY;
    for (size_t at = 0; at < counter->n_places; at++) {
        cofi_cell cell = counter->place[at];
        if (cell.n != 0) *find_place(&larger, cell.key) = cell;
    }
    cofi_release(env, counter->place);
    *counter = larger;
    return COF_OK;
}

/* Weights that are not whole are added up in parts of 2^-PARTS_BITS of a row of mean weight. */
enum { PARTS_BITS = 20 };

double cofi_contingency_unit(const double *weights, const uint64_t *times, size_t n, int *bits)
{
    double total = 0, counting = 0;
    bool whole = true;
    for (size_t i = 0; weights != NULL && i < n; i++) {
        double here = times != NULL ? (double)times[i] : 1;
        total += here * weights[i];
        counting += weights[i] > 0 ? here : 0;
        whole = whole && weights[i] == floor(weights[i]);
    }
    *bits = whole ? 0 : PARTS_BITS;
    return whole ? 1 : ldexp(counting / total, PARTS_BITS);
}

static cof_status count_pairs(pair_counter *counter, const cof_env *env, const int32_t *clusters,
                              const int32_t *classes, const double *weights, double unit, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t units = weights == NULL ? 1 : (uint64_t)(weights[i] * unit + 0.5);
        if (clusters[i] < 0 || classes[i] < 0 || units == 0) continue;
        if (2 * counter->n_cells >= counter->n_places && grow_counter(counter, env) != COF_OK)
            return COF_ERR_MEMORY;
        uint64_t key = (uint64_t)(uint32_t)clusters[i] << 32 | (uint32_t)classes[i];
        cofi_cell *cell = find_place(counter, key);
        if (cell->n == 0) {
            cell->key = key;
            counter->n_cells++;
        }
        cell->n += units;
        counter->n_items++;
    }
    return COF_OK;
}

static void sift_down(cofi_cell *cell, size_t at, size_t n)
{
    cofi_cell moving = cell[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && cell[child].key < cell[child + 1].key) child++;
        if (cell[child].key <= moving.key) break;
        cell[at] = cell[child];
    }
    cell[at] = moving;
}

/* Heapsort works in place, so it needs no memory, and it has no slow inputs. */
void cofi_cells_sort(cofi_cell *cell, size_t n)
{
    for (size_t at = n / 2; at-- > 0;) sift_down(cell, at, n);
    for (size_t end = n; end-- > 1;) {
        cofi_cell largest = cell[0];
        cell[0] = cell[end];
        cell[end] = largest;
        sift_down(cell, 0, end);
    }
}

size_t cofi_cells_merge(cofi_cell *cell, size_t n)
{
    size_t kept = 0;
    for (size_t c = 0; c < n; c++) {
        if (kept > 0 && cell[kept - 1].key == cell[c].key)
            cell[kept - 1].n += cell[c].n;
        else
            cell[kept++] = cell[c];
    }
    return kept;
}

void cofi_cells_transpose(cofi_cell *cell, size_t n)
{
    for (size_t c = 0; c < n; c++) cell[c].key = cell[c].key << 32 | cell[c].key >> 32;
    cofi_cells_sort(cell, n);
}

/* Renumbers the row labels of sorted cells as 0, 1, ...; returns their number. */
static uint32_t number_rows(cofi_cell *cell, size_t n)
{
    uint32_t n_rows = 0, label = 0;
    for (size_t c = 0; c < n; c++) {
        if (c == 0 || cofi_cell_row(&cell[c]) != label) {
            label = cofi_cell_row(&cell[c]);
            n_rows++;
        }
        cell[c].key = (uint64_t)(n_rows - 1) << 32 | cofi_cell_column(&cell[c]);
    }
    return n_rows;
}

/* Numbers the labels that occur and adds up the margins. */
static cof_status number_labels(cofi_contingency *t)
{
    cofi_cells_transpose(t->cell, t->n_cells);
    t->n_classes = number_rows(t->cell, t->n_cells);
    cofi_cells_transpose(t->cell, t->n_cells);
    t->n_clusters = number_rows(t->cell, t->n_cells);
    t->cluster_size = cofi_alloc_zero(&t->env, t->n_clusters, sizeof *t->cluster_size);
    t->class_size = cofi_alloc_zero(&t->env, t->n_classes, sizeof *t->class_size);
    if (t->cluster_size == NULL || t->class_size == NULL) return COF_ERR_MEMORY;
    for (size_t c = 0; c < t->n_cells; c++) {
        const cofi_cell *cell = &t->cell[c];
        t->cluster_size[cofi_cell_row(cell)] += cell->n;
        t->class_size[cofi_cell_column(cell)] += cell->n;
        t->n += cell->n;
    }
    return COF_OK;
}

cof_status cofi_contingency_from_counts(cofi_contingency *t, const cof_env *env, const uint64_t *count,
                                        uint32_t n_clusters, uint32_t n_classes, int bits, uint64_t n_items,
                                        cof_error *err)
{
    size_t n = (size_t)n_clusters * n_classes;
    uint64_t half = bits > 0 ? UINT64_C(1) << (bits - 1) : 0;
    *t = (cofi_contingency){.env = *env, .cell = cofi_alloc(env, n, sizeof *t->cell)};
    for (size_t at = 0; t->cell != NULL && at < n; at++) {
        uint64_t here = (count[at] + half) >> bits;
        if (here > 0)
            t->cell[t->n_cells++] = (cofi_cell){(uint64_t)(at / n_classes) << 32 | at % n_classes, here};
    }
    t->n_items = n_items;
    if (t->cell != NULL && number_labels(t) == COF_OK) return COF_OK;
    cofi_contingency_free(t);
    return cofi_no_memory(err);
}

static uint32_t count_labels(const int32_t *label, size_t n)
{
    int32_t most = -1;
    for (size_t i = 0; i < n; i++) most = label[i] > most ? label[i] : most;
    return (uint32_t)most + 1;
}

/* Few labels, without weights: two tables in turn, because an addition waits for the last one to the same count. */
static cof_status count_few(cofi_contingency *t, const cof_env *env, const int32_t *clusters,
                            const int32_t *classes, uint32_t n_clusters, uint32_t n_classes, size_t n,
                            cof_error *err)
{
    uint64_t count[2][MOST_FEW] = {{0}}, n_items = 0;
    for (size_t i = 0; i < n; i++) {
        if (clusters[i] < 0 || classes[i] < 0) continue;
        count[i % 2][(uint32_t)clusters[i] * n_classes + (uint32_t)classes[i]]++;
        n_items++;
    }
    for (uint32_t at = 0; at < n_clusters * n_classes; at++) count[0][at] += count[1][at];
    return cofi_contingency_from_counts(t, env, count[0], n_clusters, n_classes, 0, n_items, err);
}

cof_status cofi_contingency_count(cofi_contingency *t, const cof_env *env, const int32_t *clusters,
                                  const int32_t *classes, const double *weights, size_t n, cof_error *err)
{
    uint32_t n_clusters = count_labels(clusters, n), n_classes = count_labels(classes, n);
    if (weights == NULL && (uint64_t)n_clusters * n_classes <= MOST_FEW)
        return count_few(t, env, clusters, classes, n_clusters, n_classes, n, err);
    *t = (cofi_contingency){.env = *env};
    pair_counter counter = {0};
    int bits = 0;
    double unit = cofi_contingency_unit(weights, NULL, n, &bits);
    cof_status status = count_pairs(&counter, env, clusters, classes, weights, unit, n);
    t->cell = counter.place;
    t->n_items = counter.n_items;
    /* rounds the cells to whole rows, and moves those that are left to the front of the block */
    uint64_t half = bits > 0 ? UINT64_C(1) << (bits - 1) : 0;
    for (size_t at = 0; status == COF_OK && at < counter.n_places; at++) {
        cofi_cell cell = {t->cell[at].key, (t->cell[at].n + half) >> bits};
        if (cell.n != 0) t->cell[t->n_cells++] = cell;
    }
    if (status == COF_OK) status = number_labels(t);
    if (status == COF_OK) return COF_OK;
    cofi_contingency_free(t);
    return cofi_no_memory(err);
}

void cofi_contingency_free(cofi_contingency *t)
{
    COFI_RELEASE_ALL(&t->env, t->cell, t->cluster_size, t->class_size);
    t->cell = NULL;
    t->cluster_size = NULL;
    t->class_size = NULL;
}
