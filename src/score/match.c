/* Maximum one-to-one matching by successive shortest augmenting paths over the cells that occur.
 *
 * The dual of the linear program has row prices u and column prices v with u_i + v_j >= count_ij, u, v >=
 * 0, and v_j == 0 for a free column; for a matched cell there is equality. The slack u_i + v_j - count_ij
 * is a length >= 0, and Dijkstra's algorithm from a new row finds the cheapest change of the matching: it
 * ends in a free column, or, at the price u_i, in a row i that loses its column. All numbers are integers,
 * so the result is exact. (Jonker and Volgenant 1987; the sparse form with a heap.) */
#include "match.h"

#include <assert.h>

#define NO_ROW UINT32_MAX
#define FAR    UINT64_MAX

typedef struct heap_item {
    uint64_t distance;
    uint32_t column;
} heap_item;

typedef struct matcher {
    cofi_blocks own;
    const cofi_cell *cell;
    size_t *first; /* row i has the cells first[i] .. first[i + 1] - 1 */
    uint32_t n_rows, n_columns;
    uint32_t *column_of, *row_of;
    uint64_t *row_price, *column_price;
    /* state of the current search */
    uint64_t *distance; /* of every column; FAR if not reached */
    uint32_t *via;      /* row through which a column was reached */
    bool *settled;
    uint32_t *reached; /* columns to reset afterwards */
    uint32_t n_reached;
    heap_item *heap; /* a row is scanned once per search, so n_cells places suffice */
    size_t n_heap;
    uint64_t best;      /* length of the shortest complete path so far */
    uint32_t giving_up; /* the row that loses its column at the end of that path, if any */
} matcher;

static bool is_before(heap_item a, heap_item b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.column < b.column;
}

static void heap_push(matcher *m, heap_item item)
{
    size_t at = m->n_heap++;
    for (; at > 0 && is_before(item, m->heap[(at - 1) / 2]); at = (at - 1) / 2)
        m->heap[at] = m->heap[(at - 1) / 2];
    m->heap[at] = item;
}

static heap_item heap_pop(matcher *m)
{
    heap_item top = m->heap[0], last = m->heap[--m->n_heap];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < m->n_heap; at = child) {
        if (child + 1 < m->n_heap && is_before(m->heap[child + 1], m->heap[child])) child++;
        if (!is_before(m->heap[child], last)) break;
        m->heap[at] = m->heap[child];
    }
    if (m->n_heap > 0) m->heap[at] = last;
    return top;
}

/* Row i is at `distance` from the source: reaches its columns, or ends the path here by leaving row i
 * unmatched. */
static void scan_row(matcher *m, uint32_t i, uint64_t distance)
{
    if (distance + m->row_price[i] < m->best) {
        m->best = distance + m->row_price[i];
        m->giving_up = i;
    }
    for (size_t c = m->first[i]; c < m->first[i + 1]; c++) {
        uint32_t j = cofi_cell_column(&m->cell[c]);
        uint64_t far = distance + m->row_price[i] + m->column_price[j] - m->cell[c].n;
        if (m->settled[j] || far >= m->distance[j] || far > m->best) continue;
        if (m->distance[j] == FAR) m->reached[m->n_reached++] = j;
        m->distance[j] = far;
        m->via[j] = i;
        heap_push(m, (heap_item){far, j});
    }
}

/* Returns the free column in which the shortest path ends, or COFI_NO_COLUMN if it ends in a row. */
static uint32_t search(matcher *m, uint32_t source)
{
    m->n_heap = 0;
    m->best = FAR;
    scan_row(m, source, 0);
    while (m->n_heap > 0) {
        heap_item top = heap_pop(m);
        if (m->settled[top.column]) continue;
        if (top.distance > m->best) break;
        m->settled[top.column] = true;
        if (m->row_of[top.column] == NO_ROW) {
            m->best = top.distance;
            return top.column;
        }
        scan_row(m, m->row_of[top.column], top.distance);
    }
    return COFI_NO_COLUMN;
}

/* Updates the prices so that every slack remains >= 0 and those on the path become 0; resets the search. */
static void update_prices(matcher *m, uint32_t source)
{
    m->row_price[source] -= m->best;
    for (uint32_t r = 0; r < m->n_reached; r++) {
        uint32_t j = m->reached[r];
        if (m->settled[j] && m->distance[j] < m->best) {
            m->column_price[j] += m->best - m->distance[j];
            m->row_price[m->row_of[j]] -= m->best - m->distance[j];
        }
        m->settled[j] = false;
        m->distance[j] = FAR;
    }
    m->n_reached = 0;
}

/* Moves columns along the path, from its end `j` back to the source. */
static void shift_columns(matcher *m, uint32_t source, uint32_t j)
{
    if (j == COFI_NO_COLUMN) {
        j = m->column_of[m->giving_up];
        m->column_of[m->giving_up] = COFI_NO_COLUMN;
        if (m->giving_up == source) return;
    }
    for (;;) {
        uint32_t i = m->via[j], given = m->column_of[i];
        m->column_of[i] = j;
        m->row_of[j] = i;
        if (i == source) return;
        j = given;
    }
}

/* The state before the first row is matched: every row has the price of its largest count. */
static cof_status open_matcher(matcher *m, size_t n_cells, cof_error *err)
{
    size_t c = 0;
    m->first = cofi_blocks_add(&m->own, (size_t)m->n_rows + 1, sizeof *m->first);
    m->row_price = cofi_blocks_add_zero(&m->own, m->n_rows, sizeof *m->row_price);
    m->row_of = cofi_blocks_add(&m->own, m->n_columns, sizeof *m->row_of);
    m->column_price = cofi_blocks_add_zero(&m->own, m->n_columns, sizeof *m->column_price);
    m->distance = cofi_blocks_add(&m->own, m->n_columns, sizeof *m->distance);
    m->via = cofi_blocks_add(&m->own, m->n_columns, sizeof *m->via);
    m->settled = cofi_blocks_add_zero(&m->own, m->n_columns, sizeof *m->settled);
    m->reached = cofi_blocks_add(&m->own, m->n_columns, sizeof *m->reached);
    m->heap = cofi_blocks_add(&m->own, n_cells, sizeof *m->heap);
    COFI_TRY(cofi_blocks_status(&m->own, err));
    for (uint32_t i = 0; i < m->n_rows; i++) {
        m->first[i] = c;
        m->column_of[i] = COFI_NO_COLUMN;
        for (; c < n_cells && cofi_cell_row(&m->cell[c]) == i; c++)
            if (m->cell[c].n > m->row_price[i]) m->row_price[i] = m->cell[c].n;
    }
    assert(c == n_cells); /* the cells are sorted by row */
    m->first[m->n_rows] = n_cells;
    for (uint32_t j = 0; j < m->n_columns; j++) {
        m->row_of[j] = NO_ROW;
        m->distance[j] = FAR;
    }
    return COF_OK;
}

cof_status cofi_match_cells(const cof_env *env, const cofi_cell *cell, size_t n_cells, uint32_t n_rows,
                            uint32_t n_columns, uint32_t *column_of, uint64_t *total, cof_error *err)
{
    matcher m = {
        .own = {.env = *env}, .cell = cell, .n_rows = n_rows, .n_columns = n_columns, .column_of = column_of};
    cof_status status = open_matcher(&m, n_cells, err);
    for (uint32_t i = 0; status == COF_OK && i < n_rows; i++) {
        if (cofi_should_stop(env)) {
            status =
                cofi_fail(err, COF_ERR_STOPPED, "stopped on request while matching clusters and classes");
            break;
        }
        uint32_t end = search(&m, i);
        update_prices(&m, i);
        shift_columns(&m, i, end);
    }
    *total = 0;
    for (uint32_t i = 0, free = 0; status == COF_OK && i < n_rows; i++) {
        for (size_t c = m.first[i]; c < m.first[i + 1]; c++)
            if (cofi_cell_column(&cell[c]) == column_of[i]) *total += cell[c].n;
        if (column_of[i] != COFI_NO_COLUMN) continue;
        while (m.row_of[free] != NO_ROW) free++;
        column_of[i] = free++;
    }
    cofi_blocks_release(&m.own);
    return status;
}

/* ---- A dense table --------------------------------------------------------------------------------- */

/* The cells of a dense table, with the shorter side as rows, as the matching requires. */
static size_t collect_cells(const uint64_t *table, uint32_t n_clusters, uint32_t n_classes, cofi_cell *cell)
{
    bool flip = n_clusters > n_classes;
    uint32_t n_rows = flip ? n_classes : n_clusters, n_columns = flip ? n_clusters : n_classes;
    size_t n = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        for (uint32_t j = 0; j < n_columns; j++) {
            uint64_t count = flip ? table[(size_t)j * n_classes + i] : table[(size_t)i * n_classes + j];
            if (count == 0) continue;
            if (cell != NULL) cell[n] = (cofi_cell){(uint64_t)i << 32 | j, count};
            n++;
        }
    }
    return n;
}

static cof_status check_table(const uint64_t *table, uint32_t n_clusters, uint32_t n_classes,
                              const int32_t *class_of, cof_error *err)
{
    if ((table == NULL && n_clusters > 0 && n_classes > 0) || (class_of == NULL && n_clusters > 0))
        return cofi_fail(err, COF_ERR_ARGUMENT, "cof_match needs a table and a place for its result");
    if (n_clusters > INT32_MAX || n_classes > INT32_MAX)
        return cofi_fail(err, COF_ERR_ARGUMENT, "a table of %u clusters and %u classes has more than 2^31",
                         n_clusters, n_classes);
    uint64_t sum = 0;
    for (size_t c = 0; c < (size_t)n_clusters * n_classes; c++)
        if (__builtin_add_overflow(sum, table[c], &sum) || sum >> 62 != 0)
            return cofi_fail(
                err, COF_ERR_ARGUMENT,
                "the counts of the table add up to 2^62 or more; divide them by a common factor");
    return COF_OK;
}

cof_status cof_match(const cof_env *lent, const uint64_t *table, uint32_t n_clusters, uint32_t n_classes,
                     int32_t *class_of, cof_error *err)
{
    cofi_blocks own = {.env = cofi_env_resolve(lent)};
    COFI_TRY(check_table(table, n_clusters, n_classes, class_of, err));
    uint32_t n_rows = n_clusters < n_classes ? n_clusters : n_classes;
    uint32_t n_columns = n_clusters < n_classes ? n_classes : n_clusters;
    uint64_t total;
    size_t n_cells = collect_cells(table, n_clusters, n_classes, NULL);
    cofi_cell *cell = cofi_blocks_add(&own, n_cells, sizeof *cell);
    uint32_t *column_of = cofi_blocks_add(&own, n_rows, sizeof *column_of);
    cof_status status = cofi_blocks_status(&own, err);
    if (status == COF_OK) {
        collect_cells(table, n_clusters, n_classes, cell);
        status = cofi_match_cells(&own.env, cell, n_cells, n_rows, n_columns, column_of, &total, err);
    }
    for (uint32_t j = 0; status == COF_OK && j < n_clusters; j++)
        class_of[j] = n_clusters <= n_classes ? (int32_t)column_of[j] : -1;
    for (uint32_t i = 0; status == COF_OK && n_clusters > n_classes && i < n_classes; i++)
        class_of[column_of[i]] = (int32_t)i;
    cofi_blocks_release(&own);
    return status;
}
