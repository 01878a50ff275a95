/* Dependence between attributes inside clusters.
 *
 * The integrated likelihood takes attributes as independent inside a cluster. Attributes that depend on each other
 * there make it split one cluster into several, or follow such attributes instead of the others. The remedy of Chow
 * and Liu is a tree over the attributes; here all clusters share one tree. The gain of a pair is the log evidence of
 * its joint table minus that of its two margins, summed over the clusters; the tree is the maximum spanning tree of
 * the gains. An edge counts only if its gain exceeds 2 log(number of pairs), because the largest of many gains of
 * independent pairs is positive by chance.
 *
 * Counts are sums of whole weights, and the evidence is read from a table, so the result does not depend on the
 * order of the rows. */
#include "dependence.h"

#include "../core/processor.h"
#include "../core/real.h"
#include "../core/rng.h"
#include "criterion.h"

#include <math.h>

enum {
    MOST_ROWS = 4096,
    MOST_ATTRS = 128,      /* more pairs take longer than the restarts */
    MOST_CELLS = 1 << 16,  /* clusters x values x values of one pair; a larger table has gain 0 */
    MOST_WEIGHT = 1 << 16, /* summed weight of the rows, in steps, up to rounding */
    N_SEEN = 1024,
    SHORT_LINE = 8
};

/* ---- Opening -------------------------------------------------------------------------------------- */

/* Turns the weights into steps, and removes rows without weight. Returns the summed weight in steps. */
static uint64_t round_weights(cofi_dependence *d, const uint64_t *units)
{
    const cofi_problem *p = d->problem;
    uint64_t total = 0, steps = 0;
    size_t n = 0;
    for (size_t i = 0; i < d->n_rows; i++) total += units[i];
    bool whole = p->unit == 1.0 && total <= MOST_WEIGHT;
    for (size_t i = 0; i < d->n_rows; i++) {
        if (units[i] == 0) continue;
        double share = whole ? (double)units[i] : (double)units[i] * MOST_WEIGHT / (double)total;
        d->row[n] = d->row[i];
        d->weight[n] = share < 1 ? 1 : (uint32_t)(share + 0.5);
        d->weighted = d->weighted || d->weight[n] != 1;
        steps += d->weight[n++];
    }
    d->n_rows = n;
    if (n == 0) return 0;
    d->step = (double)total / p->unit / (double)steps;
    d->scale = (double)p->total_weight / (double)total;
    return steps;
}

/* Fetched cells are row by row; counting reads attribute by attribute. An attribute whose cells need more than 16 bits has
 * too many values to be counted. */
static cof_status open_rows(cofi_blocks *own, cofi_rows *rows, cofi_team *team, cofi_dependence *d,
                            cof_error *err)
{
    const cofi_problem *p = d->problem;
    size_t n_columns = p->n_attrs + p->n_numeric;
    uint64_t *units = cofi_blocks_add(own, d->n_rows, sizeof *units);
    d->row = cofi_blocks_add(own, d->n_rows, sizeof *d->row);
    d->weight = cofi_blocks_add(own, d->n_rows, sizeof *d->weight);
    COFI_TRY(cofi_blocks_status(own, err));
    for (size_t s = 0; s < d->n_rows; s++) d->row[s] = cofi_stretch_row(s, d->n_rows, p->n_table_rows);
    COFI_TRY(cofi_rows_fetch(rows, NULL, d->row, d->n_rows, NULL, units, err));
    uint64_t steps = round_weights(d, units);
    if (steps == 0) return COF_OK;
    d->log_gamma = cofi_blocks_add(own, steps + 1, sizeof *d->log_gamma);
    d->cell = cofi_blocks_add(own, d->n_rows * p->n_attrs, sizeof *d->cell);
    COFI_TRY(cofi_blocks_status(own, err));
    double of_none = cofi_log_gamma(0.5);
    for (uint64_t n = 0; n <= steps; n++)
        d->log_gamma[n] = cofi_log_gamma(0.5 + (double)n * d->step) - of_none;
    uint32_t *fetched = cofi_alloc(&p->env, d->n_rows * n_columns, sizeof *fetched);
    if (fetched == NULL) return cofi_no_memory(err);
    cof_status status = cofi_rows_fetch(rows, team, d->row, d->n_rows, fetched, NULL, err);
    for (size_t r = 0; status == COF_OK && r < p->n_attrs; r++)
        for (size_t i = 0; i < d->n_rows; i++)
            d->cell[r * d->n_rows + i] = (uint16_t)fetched[i * n_columns + r];
    cofi_release(&p->env, fetched);
    return status;
}

/* A count of bits without the processor's own instruction for it takes longer than a count of rows. */
#if defined(__x86_64__) && defined(__GNUC__)
#define COUNTS_BITS __attribute__((target("popcnt")))
#else
#define COUNTS_BITS
#endif

/* ---- The gain of a pair --------------------------------------------------------------------------- */

/* A term of the log evidence: most pairs need those of the same few sums. */
typedef struct remembered {
    double n_values, evidence;
    uint64_t total;
} remembered;

/* Memory of one worker. */
typedef struct pair_work {
    uint16_t *at; /* per row: label x slots of attribute at_attr, plus the row's cell there */
    size_t at_attr;
    uint32_t *count;  /* one pair: [cluster][value][value] */
    uint32_t *column; /* sums over the first attribute's values, */
    uint32_t *line;   /* and over the second one's */
    remembered *seen; /* N_SEEN */
} pair_work;

/* Memory of one measurement. */
typedef struct tree_work {
    const cofi_dependence *d;
    uint32_t k;
    int32_t *label;       /* per row; NULL: one cluster */
    uint64_t **bits;      /* per attribute: [value][n_words], the rows that hold it; NULL: count row by row */
    uint16_t *row;        /* [n_words][64]: the row at each bit; n_rows: none */
    uint32_t *first_word; /* k + 1: the words of each cluster's rows */
    uint32_t n_words;
    uint32_t *n_members; /* per cluster: number of rows */
    uint32_t **
        margin; /* per attribute without ignored cells: [value][cluster] counts; NULL: too many, or weighted rows */
    double **evidence; /* per such attribute: [cluster] */
    double *gain;      /* [attribute][attribute] */
    double *best;      /* per attribute: its greatest gain with an attribute of the tree */
    bool *joined;
    pair_work *worker;
} tree_work;

/* Number of ids of an attribute, including that of an ignored cell. */
static uint32_t slots_of(const cofi_problem *p, size_t r)
{
    return p->first[r + 1] - p->first[r];
}

/* Terms of the log evidence that depend on the number of values and on the summed count only. */
static double evidence_of_total(const cofi_dependence *d, const pair_work *own, double n_values,
                                uint64_t total)
{
    remembered *seen = &own->seen[(total + (uint64_t)n_values * N_SEEN / 8) % N_SEEN];
    if (seen->n_values != n_values || seen->total != total)
        *seen = (remembered){.n_values = n_values,
                             .total = total,
                             .evidence = cofi_log_gamma(0.5 * n_values) -
                                         cofi_log_gamma(0.5 * n_values + (double)total * d->step)};
    return seen->evidence;
}

/* Gain of one cluster's table, [value of r][value of t]. A count of 0 adds 0; lines of many values skip it, but in short ones
 * the processor would guess wrong too often. Terms are added in the order of gain_of_whole_table, because not every processor
 * counts that way. */
static double gain_of_table(const cofi_dependence *d, const pair_work *own, size_t r, size_t t,
                            const uint32_t *count)
{
    const cofi_problem *p = d->problem;
    uint32_t slots = slots_of(p, t);
    uint32_t *column = own->column, *line = own->line;
    bool sparse = p->n_values[t] > SHORT_LINE;
    uint64_t total = 0;
    double sum = 0, n_pairs = (double)p->n_present[r] * p->n_present[t];
    memset(column, 0, p->n_values[t] * sizeof *column);
    for (uint32_t u = 0; u < p->n_values[r]; u++, count += slots) {
        line[u] = 0;
        for (uint32_t v = 0; v < p->n_values[t]; v++) {
            if (sparse && count[v] == 0) continue;
            line[u] += count[v];
            column[v] += count[v];
            sum += d->log_gamma[count[v]];
        }
        total += line[u];
    }
    double of_r = evidence_of_total(d, own, p->n_present[r], total),
           of_t = evidence_of_total(d, own, p->n_present[t], total);
    for (uint32_t u = 0; u < p->n_values[r]; u++) of_r += d->log_gamma[line[u]];
    for (uint32_t v = 0; v < p->n_values[t]; v++) of_t += d->log_gamma[column[v]];
    return sum + evidence_of_total(d, own, n_pairs, total) - of_r - of_t;
}

/* Counting a word of 64 rows takes about as long as counting one row. */
static bool bits_are_faster(const tree_work *w, size_t n_counts)
{
    return n_counts * w->n_words <= w->d->n_rows;
}

static void count_by_rows(const tree_work *w, pair_work *own, size_t r, size_t t, size_t table)
{
    const cofi_dependence *d = w->d;
    const uint16_t *of_r = d->cell + r * d->n_rows, *cell = d->cell + t * d->n_rows;
    uint32_t slots_r = slots_of(d->problem, r), slots = slots_of(d->problem, t);
    if (own->at_attr != r) {
        for (size_t i = 0; i < d->n_rows; i++)
            own->at[i] = (uint16_t)((w->label != NULL ? (uint32_t)w->label[i] * slots_r : 0) + of_r[i]);
        own->at_attr = r;
    }
    memset(own->count, 0, w->k * table * sizeof *own->count);
    if (d->weighted)
        for (size_t i = 0; i < d->n_rows; i++) own->count[own->at[i] * slots + cell[i]] += d->weight[i];
    else
        for (size_t i = 0; i < d->n_rows; i++) own->count[own->at[i] * slots + cell[i]]++;
}

/* count[j * step]: rows of cluster j that are in both bitmaps */
COUNTS_BITS static inline void count_common(const tree_work *w, const uint64_t *a, const uint64_t *b,
                                            uint32_t *count, size_t step)
{
    for (uint32_t j = 0, i = 0; j < w->k; j++, count += step) {
        uint64_t n = 0;
        for (; i < w->first_word[j + 1]; i++) n += (uint64_t)__builtin_popcountll(a[i] & b[i]);
        *count = (uint32_t)n;
    }
}

/* Counts the first n_u values of r with the first n_v of t. */
COUNTS_BITS static void count_by_bits(const tree_work *w, uint32_t *count, size_t r, size_t t, uint32_t n_u,
                                      uint32_t n_v, size_t table)
{
    uint32_t slots = slots_of(w->d->problem, t);
    for (uint32_t u = 0; u < n_u; u++)
        for (uint32_t v = 0; v < n_v; v++)
            count_common(w, w->bits[r] + u * w->n_words, w->bits[t] + v * w->n_words, count + u * slots + v,
                         table);
}

/* Without ignored cells, the counts of the last values follow from the margins, and so do the terms of either attribute. */
static double gain_of_whole_table(const tree_work *w, const pair_work *own, size_t r, size_t t, uint32_t j,
                                  uint32_t *count)
{
    const cofi_problem *p = w->d->problem;
    const double *log_gamma = w->d->log_gamma;
    uint32_t n_u = p->n_values[r], n_v = p->n_values[t];
    uint32_t *last = count + (n_u - 1) * n_v;
    double sum = 0, n_pairs = (double)p->n_present[r] * p->n_present[t];
    for (uint32_t v = 0; v < n_v; v++) last[v] = w->margin[t][v * w->k + j];
    for (uint32_t u = 0; u + 1 < n_u; u++, count += n_v) {
        count[n_v - 1] = w->margin[r][u * w->k + j];
        for (uint32_t v = 0; v + 1 < n_v; v++) {
            count[n_v - 1] -= count[v];
            last[v] -= count[v];
            sum += log_gamma[count[v]];
        }
        last[n_v - 1] -= count[n_v - 1];
        sum += log_gamma[count[n_v - 1]];
    }
    for (uint32_t v = 0; v < n_v; v++) sum += log_gamma[last[v]];
    return sum + evidence_of_total(w->d, own, n_pairs, w->n_members[j]) - w->evidence[r][j] -
           w->evidence[t][j];
}

static double gain_of_pair(const tree_work *w, pair_work *own, size_t r, size_t t)
{
    const cofi_problem *p = w->d->problem;
    size_t table = (size_t)slots_of(p, r) * slots_of(p, t);
    double gain = 0;
    if (table > MOST_CELLS / w->k) return 0;
    uint32_t n_u = p->n_values[r], n_v = p->n_values[t];
    bool by_bits = w->bits[r] != NULL && w->bits[t] != NULL && bits_are_faster(w, (size_t)n_u * n_v);
    bool whole = w->margin[r] != NULL && w->margin[t] != NULL && (by_bits || n_v <= SHORT_LINE);
    if (by_bits) /* the last counts need not be counted if they follow from the margins */
        count_by_bits(w, own->count, r, t, n_u - whole, n_v - whole, table);
    else
        count_by_rows(w, own, r, t, table);
    for (uint32_t j = 0; j < w->k; j++)
        gain += whole ? gain_of_whole_table(w, own, r, t, j, own->count + j * table)
                      : gain_of_table(w->d, own, r, t, own->count + j * table);
    /* a pair of columns counts as much as the lesser of them */
    double weight_r = cofi_column_weight(p, r), weight_t = cofi_column_weight(p, t);
    return (weight_r < weight_t ? weight_r : weight_t) * gain;
}

/* The last attribute has the most pairs, so it is the first task. */
static void gain_task(void *ctx, uint32_t worker, size_t task)
{
    const tree_work *w = ctx;
    size_t n = w->d->problem->n_attrs, r = n - 1 - task;
    for (size_t t = 0; t < r; t++)
        w->gain[r * n + t] = w->gain[t * n + r] = gain_of_pair(w, &w->worker[worker], r, t);
}

/* ---- The tree ------------------------------------------------------------------------------------- */

/* Prim's algorithm. */
static double grow_tree(const tree_work *w)
{
    size_t n = w->d->problem->n_attrs, next = 0;
    double least = 2 * cofi_ln((double)n * (double)(n - 1) / 2), sum = 0;
    for (size_t r = 0; r < n; r++) w->best[r] = -INFINITY;
    for (size_t n_joined = 1; n_joined < n; n_joined++) {
        const double *gain = w->gain + next * n;
        w->joined[next] = true;
        next = n;
        for (size_t t = 0; t < n; t++) {
            if (w->joined[t]) continue;
            if (gain[t] > w->best[t]) w->best[t] = gain[t];
            if (next == n || w->best[t] > w->best[next]) next = t;
        }
        if (w->best[next] > least) sum += w->best[next];
    }
    return sum * w->d->scale;
}

/* ---- A measurement -------------------------------------------------------------------------------- */

/* Sorts the rows by cluster, with words of bits of their own for every cluster. */
static bool sort_rows(cofi_blocks *own, tree_work *w)
{
    size_t n = w->d->n_rows;
    w->first_word = cofi_blocks_add_zero(own, w->k + 1, sizeof *w->first_word);
    w->n_members = cofi_blocks_add_zero(own, w->k, sizeof *w->n_members);
    uint32_t *next = cofi_blocks_add(own, w->k, sizeof *next);
    if (own->short_of_memory) return false;
    if (w->label == NULL) w->n_members[0] = (uint32_t)n;
    for (size_t i = 0; w->label != NULL && i < n; i++) w->n_members[w->label[i]]++;
    for (uint32_t j = 0; j < w->k; j++) {
        next[j] = w->first_word[j] * 64;
        w->first_word[j + 1] = w->first_word[j] + (w->n_members[j] + 63) / 64;
    }
    w->n_words = w->first_word[w->k];
    w->row = cofi_blocks_add(own, w->n_words * (size_t)64, sizeof *w->row);
    if (w->row == NULL) return false;
    for (size_t at = 0; at < w->n_words * (size_t)64; at++) w->row[at] = (uint16_t)n;
    for (size_t i = 0; i < n; i++) w->row[next[w->label != NULL ? w->label[i] : 0]++] = (uint16_t)i;
    return true;
}

static void sum_margin(const tree_work *w, const pair_work *own, size_t r)
{
    const cofi_problem *p = w->d->problem;
    const uint16_t *cell = w->d->cell + r * w->d->n_rows;
    for (size_t i = 0; w->bits[r] == NULL && i < w->d->n_rows; i++)
        w->margin[r][cell[i] * w->k + (w->label != NULL ? (uint32_t)w->label[i] : 0)]++;
    for (uint32_t j = 0; j < w->k; j++)
        w->evidence[r][j] = evidence_of_total(w->d, own, p->n_present[r], w->n_members[j]);
    for (uint32_t v = 0; v < p->n_values[r]; v++) {
        uint32_t *margin = w->margin[r] + v * w->k;
        if (w->bits[r] != NULL)
            count_common(w, w->bits[r] + v * w->n_words, w->bits[r] + v * w->n_words, margin, 1);
        for (uint32_t j = 0; j < w->k; j++) w->evidence[r][j] += w->d->log_gamma[margin[j]];
    }
}

/* Sets the bits of the rows that hold each value of an attribute, and sums its margin. */
static void bits_task(void *ctx, uint32_t worker, size_t r)
{
    const tree_work *w = ctx;
    const cofi_dependence *d = w->d;
    const uint16_t *cell = d->cell + r * d->n_rows;
    for (uint32_t at = 0; w->bits[r] != NULL && at < w->n_words * 64; at++) {
        uint32_t value = w->row[at] < d->n_rows ? cell[w->row[at]] : UINT32_MAX; /* no row */
        if (value < d->problem->n_values[r])
            w->bits[r][value * w->n_words + at / 64] |= UINT64_C(1) << at % 64;
    }
    if (w->margin[r] != NULL) sum_margin(w, &w->worker[worker], r);
}

static void open_bits(cofi_blocks *own, tree_work *w)
{
    const cofi_problem *p = w->d->problem;
    w->bits = cofi_blocks_add_zero(own, p->n_attrs, sizeof *w->bits);
    w->margin = cofi_blocks_add_zero(own, p->n_attrs, sizeof *w->margin);
    w->evidence = cofi_blocks_add_zero(own, p->n_attrs, sizeof *w->evidence);
    bool has_popcount = cofi_processor_has(COFI_POPCNT);
    if (w->d->weighted || !sort_rows(own, w)) return;
    for (size_t r = 0; r < p->n_attrs && !own->short_of_memory; r++) {
        if (has_popcount && bits_are_faster(w, (size_t)2 * p->n_values[r]))
            w->bits[r] = cofi_blocks_add_zero(own, (size_t)p->n_values[r] * w->n_words, sizeof **w->bits);
        if (slots_of(p, r) > p->n_values[r] || p->n_values[r] > MOST_CELLS / w->k) continue;
        w->margin[r] = cofi_blocks_add_zero(own, (size_t)p->n_values[r] * w->k, sizeof **w->margin);
        w->evidence[r] = cofi_blocks_add(own, w->k, sizeof **w->evidence);
    }
}

static void open_workers(cofi_blocks *own, tree_work *w, uint32_t n)
{
    const cofi_problem *p = w->d->problem;
    size_t most = 0;
    for (size_t r = 0; r < p->n_attrs; r++) most = slots_of(p, r) > most ? slots_of(p, r) : most;
    bool small = most < 256 && most * most < MOST_CELLS / w->k;
    w->worker = cofi_blocks_add(own, n, sizeof *w->worker);
    for (uint32_t i = 0; w->worker != NULL && i < n; i++)
        w->worker[i] = (pair_work){
            .at = cofi_blocks_add(own, w->d->n_rows, sizeof *w->worker->at),
            .at_attr = p->n_attrs,
            .count = cofi_blocks_add(own, small ? w->k * most * most : MOST_CELLS, sizeof *w->worker->count),
            .column = cofi_blocks_add(own, most, sizeof *w->worker->column),
            .line = cofi_blocks_add(own, most, sizeof *w->worker->line),
            .seen = cofi_blocks_add_zero(own, N_SEEN, sizeof *w->worker->seen)};
}

cof_status cofi_dependence_measure(const cofi_dependence *d, cofi_team *team, const cofi_partition *q,
                                   double *added, cof_error *err)
{
    *added = 0;
    if (d->n_rows == 0) return COF_OK;
    cofi_blocks own = {.env = d->problem->env};
    size_t n = d->problem->n_attrs;
    tree_work w = {.d = d,
                   .k = q != NULL ? q->k : 1,
                   .label = q != NULL ? cofi_blocks_add(&own, d->n_rows, sizeof *w.label) : NULL,
                   .gain = cofi_blocks_add(&own, n * n, sizeof *w.gain),
                   .best = cofi_blocks_add(&own, n, sizeof *w.best),
                   .joined = cofi_blocks_add_zero(&own, n, sizeof *w.joined)};
    cof_status status = cofi_blocks_status(&own, err);
    if (status == COF_OK && q != NULL) status = cofi_partition_labels(q, d->row, d->n_rows, w.label, err);
    if (status == COF_OK) {
        open_workers(&own, &w, cofi_team_size(team));
        open_bits(&own, &w);
        status = cofi_blocks_status(&own, err);
    }
    if (status == COF_OK) {
        cofi_team_run(team, bits_task, &w, n);
        cofi_team_run(team, gain_task, &w, n);
        *added = grow_tree(&w);
    }
    cofi_blocks_release(&own);
    return status;
}

cof_status cofi_dependence_open(cofi_blocks *own, cofi_rows *rows, cofi_team *team, cofi_dependence *d,
                                cof_error *err)
{
    const cofi_problem *p = rows->problem;
    uint64_t n = p->n_table_rows;
    *d = (cofi_dependence){.problem = p, .n_rows = n < MOST_ROWS ? (size_t)n : MOST_ROWS};
    if (p->n_attrs < 2 || p->n_attrs > MOST_ATTRS) d->n_rows = 0;
    if (d->n_rows == 0) return COF_OK;
    COFI_TRY(open_rows(own, rows, team, d, err));
    return cofi_dependence_measure(d, team, NULL, &d->of_one, err);
}

cof_status cofi_dependence_of(cofi_rows *rows, cofi_team *team, const cofi_partition *q, double *added,
                              cof_error *err)
{
    cofi_blocks own = {.env = rows->problem->env};
    cofi_dependence d;
    cof_status status = cofi_dependence_open(&own, rows, team, &d, err);
    if (status == COF_OK) status = cofi_dependence_measure(&d, team, q, added, err);
    cofi_blocks_release(&own);
    return status;
}
