/* External indices: the agreement between a clustering and classes, from one sparse table. */
#include "contingency.h"
#include "../core/real.h"
#include "match.h"

#include "coforest_extra.h"

#include <float.h>
#include <math.h>

static double clip(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* Entropy in natural logarithms: sum of a/n log(n/a). */
static double entropy(const uint64_t *size, uint32_t n_groups, uint64_t n)
{
    double sum = 0;
    for (uint32_t j = 0; j < n_groups; j++)
        sum += (double)size[j] / (double)n * cofi_ln((double)n / (double)size[j]);
    return sum;
}

/* Each logarithm is taken of one quotient, so that independent labelings give exactly 0 and equal ones
 * exactly their entropy. */
static double mutual_information(const cofi_contingency *t)
{
    double sum = 0, n = (double)t->n;
    for (size_t c = 0; c < t->n_cells; c++) {
        double count = (double)t->cell[c].n;
        double a = (double)t->cluster_size[cofi_cell_row(&t->cell[c])];
        double b = (double)t->class_size[cofi_cell_column(&t->cell[c])];
        sum += count / n * cofi_ln(count * n / (a * b));
    }
    return sum > 0 ? sum : 0;
}

/* ---- Adjusted Rand index --------------------------------------------------------------------------- */

/* An integer of 128 bits, also for compilers without such a type. */
typedef struct wide {
    uint64_t high, low;
} wide;

static wide product(uint64_t x, uint64_t y)
{
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    uint64_t middle = x1 * y0 + (x0 * y0 >> 32), carry = (uint32_t)middle + x0 * y1;
    return (wide){x1 * y1 + (middle >> 32) + (carry >> 32), x * y};
}

/* x - y, rounded once. */
static double difference(wide x, wide y)
{
    bool negative = x.high < y.high || (x.high == y.high && x.low < y.low);
    if (negative) return -difference(y, x);
    uint64_t low = x.low - y.low, high = x.high - y.high - (x.low < y.low);
    int shift = 0;
    while (high >> shift != 0) shift++; /* at most 62: both are below 2^126 */
    if (shift == 0) return (double)low;
    /* the lowest bit is set if anything was cut off, so that the second rounding is correct */
    uint64_t cut = low & ((UINT64_C(1) << shift) - 1), kept = high << (64 - shift) | low >> shift;
    return ldexp((double)(kept | (cut != 0)), shift);
}

static uint64_t pairs_of(uint64_t n)
{
    return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n;
}

static uint64_t pairs_within(const uint64_t *size, uint32_t n_groups)
{
    uint64_t sum = 0;
    for (uint32_t j = 0; j < n_groups; j++) sum += pairs_of(size[j]);
    return sum;
}

/* For so many items that the number of pairs exceeds 62 bits; rounding errors are then negligible. */
static double rough_rand(const cofi_contingency *t)
{
    double a = 0, b = 0, same = 0, n = (double)t->n, all = n * (n - 1);
    for (uint32_t j = 0; j < t->n_clusters; j++)
        a += (double)t->cluster_size[j] * ((double)t->cluster_size[j] - 1);
    for (uint32_t j = 0; j < t->n_classes; j++)
        b += (double)t->class_size[j] * ((double)t->class_size[j] - 1);
    for (size_t c = 0; c < t->n_cells; c++) same += (double)t->cell[c].n * ((double)t->cell[c].n - 1);
    double expected = a / all * b;
    return (same - expected) / ((a + b) / 2 - expected);
}

/* (S - E) / ((A + B) / 2 - E) with E = A B / T, multiplied by 2 T: all numbers are integers until the last
 * division. The products of pair counts need T < 2^62. */
double cofi_adjusted_rand(const cofi_contingency *t)
{
    if (t->n > 3000000000) return rough_rand(t);
    uint64_t a = pairs_within(t->cluster_size, t->n_clusters), b = pairs_within(t->class_size, t->n_classes);
    uint64_t all = pairs_of(t->n), same = 0;
    for (size_t c = 0; c < t->n_cells; c++) same += pairs_of(t->cell[c].n);
    double below = difference(product(a + b, all), product(2 * a, b));
    if (below == 0) return 1; /* both have one cluster, or both have only single items: they are equal */
    return 2 * difference(product(same, all), product(a, b)) / below;
}

/* ---- Adjusted mutual information ------------------------------------------------------------------- */

/* Sum over m of P(m) m log(n m / (a b)), where m is the number of items that a cluster of size a and a
 * class of size b share if items are assigned at random (hypergeometric distribution). The quotient of
 * neighbouring probabilities is rational, so the sum starts near the mode with weight 1, goes in both
 * directions until weights vanish, and is divided by the sum of the weights. This needs no factorials, and
 * about 12 sqrt(a b / n) terms instead of min(a, b). */
static double expected_term(double a, double b, double n)
{
    const double negligible = 1e-30;
    double low = a + b > n ? a + b - n : 0, high = a < b ? a : b;
    double mode = fmin(fmax(floor((a + 1) * (b + 1) / (n + 2)), low), high);
    double weights = 0, sum = 0;
    for (double m = mode, w = 1; m <= high && w > negligible; m++) {
        weights += w;
        if (m > 0) sum += w * m * cofi_ln(m * n / (a * b));
        w *= (a - m) * (b - m) / ((m + 1) * (n - a - b + m + 1));
    }
    double w = mode * (n - a - b + mode) / ((a - mode + 1) * (b - mode + 1));
    for (double m = mode - 1; m >= low && w > negligible; m--) {
        weights += w;
        if (m > 0) sum += w * m * cofi_ln(m * n / (a * b));
        w *= m * (n - a - b + m) / ((a - m + 1) * (b - m + 1));
    }
    return sum / weights;
}

/* The distinct sizes (key) and the number of groups of each size (n): at most sqrt(2 n) entries for any
 * number of groups. */
static cofi_cell *distinct_sizes(cofi_blocks *own, const uint64_t *size, uint32_t n_groups,
                                 size_t *n_distinct)
{
    cofi_cell *group = cofi_blocks_add(own, n_groups, sizeof *group);
    if (group == NULL) return NULL;
    for (uint32_t j = 0; j < n_groups; j++) group[j] = (cofi_cell){size[j], 1};
    cofi_cells_sort(group, n_groups);
    *n_distinct = cofi_cells_merge(group, n_groups);
    return group;
}

static cof_status expected_information(const cofi_contingency *t, double *out, cof_error *err)
{
    cofi_blocks own = {.env = t->env};
    size_t n_a = 0, n_b = 0;
    cofi_cell *a = distinct_sizes(&own, t->cluster_size, t->n_clusters, &n_a);
    cofi_cell *b = distinct_sizes(&own, t->class_size, t->n_classes, &n_b);
    cof_status status = cofi_blocks_status(&own, err);
    double sum = 0, n = (double)t->n;
    for (size_t i = 0; status == COF_OK && i < n_a; i++) {
        if (cofi_should_stop(&t->env)) {
            status = cofi_fail(err, COF_ERR_STOPPED, "stopped on request while scoring");
            break;
        }
        for (size_t j = 0; j < n_b; j++)
            sum += (double)a[i].n * (double)b[j].n * expected_term((double)a[i].key, (double)b[j].key, n);
    }
    *out = sum / n;
    cofi_blocks_release(&own);
    return status;
}

static cof_status adjusted_information(const cofi_contingency *t, double information, double mean_entropy,
                                       double *out, cof_error *err)
{
    /* If one labeling has one group, or only single items, the expected information equals the
     * information. */
    uint32_t a = t->n_clusters, b = t->n_classes;
    if (a == 1 || a == t->n || b == 1 || b == t->n) {
        *out = t->n_cells == a && t->n_cells == b ? 1 : 0; /* 1 if they are equal */
        return COF_OK;
    }
    double expected = 0;
    COFI_TRY(expected_information(t, &expected, err));
    *out = fmin(1, (information - expected) /
                       fmax(mean_entropy - expected, DBL_EPSILON)); /* rounding may pass 1 */
    return COF_OK;
}

/* ---- All indices ----------------------------------------------------------------------------------- */

static double purity(const cofi_contingency *t)
{
    uint64_t sum = 0;
    for (size_t c = 0; c < t->n_cells;) {
        uint32_t j = cofi_cell_row(&t->cell[c]);
        uint64_t largest = 0;
        for (; c < t->n_cells && cofi_cell_row(&t->cell[c]) == j; c++)
            if (t->cell[c].n > largest) largest = t->cell[c].n;
        sum += largest;
    }
    return (double)sum / (double)t->n;
}

static cof_status score_information(const cofi_contingency *t, cof_indices *s, cof_error *err)
{
    double h_clusters = entropy(t->cluster_size, t->n_clusters, t->n);
    double h_classes = entropy(t->class_size, t->n_classes, t->n);
    double information = mutual_information(t);
    bool one_cluster = t->n_clusters == 1, one_class = t->n_classes == 1;
    s->nmi = one_cluster || one_class ? one_cluster && one_class
                                      : clip(information / sqrt(h_clusters * h_classes));
    s->homogeneity = one_class ? 1 : clip(information / h_classes);
    s->completeness = one_cluster ? 1 : clip(information / h_clusters);
    double sum = s->homogeneity + s->completeness;
    s->v_measure = sum > 0 ? 2 * s->homogeneity * s->completeness / sum : 0;
    return adjusted_information(t, information, (h_clusters + h_classes) / 2, &s->ami, err);
}

/* Transposes the cells if that makes the rows the shorter side; the caller must not rely on their order
 * afterwards. */
static cof_status score_matching(cofi_contingency *t, double *ca, cof_error *err)
{
    bool flip = t->n_clusters > t->n_classes;
    uint32_t n_rows = flip ? t->n_classes : t->n_clusters, n_columns = flip ? t->n_clusters : t->n_classes;
    if (flip) cofi_cells_transpose(t->cell, t->n_cells);
    uint64_t total;
    uint32_t *column_of = cofi_alloc(&t->env, n_rows, sizeof *column_of);
    if (column_of == NULL) return cofi_no_memory(err);
    cof_status status =
        cofi_match_cells(&t->env, t->cell, t->n_cells, n_rows, n_columns, column_of, &total, err);
    if (status == COF_OK) *ca = (double)total / (double)t->n;
    cofi_release(&t->env, column_of);
    return status;
}

cof_status cofi_contingency_score(cofi_contingency *t, uint64_t n, cof_indices *out, cof_error *err)
{
    cof_indices scores = {.n = t->n_items, .n_clusters = t->n_clusters, .n_classes = t->n_classes};
    cof_status status = COF_OK;
    if (t->n == 0) {
        status = cofi_fail(err, COF_ERR_ARGUMENT,
                           "nothing to score: none of the %llu items has both a cluster and a class >= 0",
                           (unsigned long long)n);
        goto done;
    }
    scores.purity = purity(t);
    scores.ari = cofi_adjusted_rand(t);
    status = score_information(t, &scores, err);
    if (status == COF_OK) status = score_matching(t, &scores.ca, err);
    if (status == COF_OK) cofi_return_struct(out, &scores, sizeof scores);
done:
    cofi_contingency_free(t);
    return status;
}

cof_status cof_evaluate(const cof_env *lent, const int32_t *clusters, const int32_t *classes, size_t n,
                        cof_indices *out, cof_error *err)
{
    return cof_evaluate_weighted(lent, clusters, classes, NULL, n, out, err);
}

cof_status cof_evaluate_weighted(const cof_env *lent, const int32_t *clusters, const int32_t *classes,
                                 const double *weights, size_t n, cof_indices *out, cof_error *err)
{
    if (out == NULL || ((clusters == NULL || classes == NULL) && n > 0))
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "cof_evaluate needs clusters, classes and a place for the scores; one is NULL");
    cof_env env = cofi_env_resolve(lent);
    cofi_contingency t;
    cof_status status = cofi_contingency_count(&t, &env, clusters, classes, weights, n, err);
    return status == COF_OK ? cofi_contingency_score(&t, n, out, err) : status;
}
