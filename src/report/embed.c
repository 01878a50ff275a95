/* A map of a table's rows: the distinct ones, or a sample of them, placed by t-SNE on the distances the model
 * learned: the sum over attributes of the length of the trace between the two values, and over numeric columns of the
 * difference of the scaled numbers. */
#include "../core/rng.h"
#include "../table/dedupe.h"
#include "../model/assignment.h"
#include "tsne.h"

#include <math.h>

enum { DEFAULT_POINTS = 1500, DEFAULT_CELLS = 40000000 };
static const double MOST_LOOKUPS = 6e8; /* of value distances; tables of many attributes get fewer points */

struct cof_map {
    cof_env env;
    cof_map_point *point;
    size_t n;
    uint64_t n_distinct;
};

/* ---- Which rows ------------------------------------------------------------------------------------- */

/* Rows to choose from: all of them, or in a large table a sample, laid out like the table's columns. */
typedef struct row_pool {
    size_t n, n_columns;
    size_t *row;   /* of the table; NULL: all */
    cofi_ids *ids; /* the table's, or those of the rows drawn */
} row_pool;

/* Selection sampling keeps the order and gives every set of `most` the same chance. */
static size_t draw(cofi_rng *rng, size_t n, size_t most, size_t *kept)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n && n_kept < most; i++)
        if (cofi_rng_below(rng, n - i) < most - n_kept) kept[n_kept++] = i;
    return n_kept;
}

/* Distinct rows of the clustered columns in order of first appearance. */
static cof_status list_distinct(cof_map *map, cofi_blocks *own, const row_pool *l)
{
    uint32_t n_groups = 0, *group = cofi_blocks_add(own, l->n, sizeof *group);
    if (group == NULL) return COF_ERR_MEMORY;
    COFI_TRY(cofi_dedupe(&map->env, l->ids, l->n_columns, l->n, group, &n_groups));
    map->point = cofi_alloc_zero(&map->env, n_groups, sizeof *map->point);
    if (map->point == NULL) return COF_ERR_MEMORY;
    for (size_t i = 0; i < l->n; i++) {
        cof_map_point *p = &map->point[group[i]];
        if (p->n_rows++ == 0) p->row = l->row != NULL ? l->row[i] : i;
    }
    map->n = n_groups;
    if (l->row == NULL) map->n_distinct = n_groups;
    return COF_OK;
}

/* Telling equal rows from different ones costs a look at every cell, which for a large table is more than
 * the map is worth. */
static cof_status choose_rows(cof_map *map, const cofi_assignment *a, const cof_embed_options *o,
                              cof_error *err)
{
    cofi_rng rng;
    cofi_blocks own = {.env = map->env};
    size_t n_columns = a->view.n + a->m->n_numeric, n_rows = a->t->n_rows;
    size_t bearable = (size_t)sqrt(2 * MOST_LOOKUPS / (double)(n_columns + 1));
    size_t most = o->most_points > 0 ? o->most_points : DEFAULT_POINTS < bearable ? DEFAULT_POINTS : bearable;
    size_t cells = (size_t)(o->most_cells > 0 ? o->most_cells : DEFAULT_CELLS);
    size_t few = cells / 2 / (n_columns + 1);
    if (few < 4 * most) few = 4 * most;
    bool all = n_rows <= cells / (n_columns + 1) || n_rows <= few;
    row_pool l = {
        .n = n_rows, .n_columns = n_columns, .ids = cofi_blocks_add(&own, n_columns, sizeof *l.ids)};
    size_t *kept = cofi_blocks_add(&own, most, sizeof *kept);
    uint32_t *codes = NULL;
    cofi_rng_seed(&rng, o->seed, 0x3a9);
    if (!all) {
        l.row = cofi_blocks_add(&own, few, sizeof *l.row);
        codes = cofi_blocks_add(&own, few * n_columns, sizeof *codes);
    }
    cof_status status = cofi_blocks_status(&own, err);
    if (status == COF_OK && !all) l.n = draw(&rng, n_rows, few, l.row);
    for (size_t c = 0; status == COF_OK && c < n_columns;
         c++) { /* the attributes, then the numeric columns */
        l.ids[c] = c < a->view.n ? a->view.ids[c] : a->numeric_ids[c - a->view.n];
        if (all) continue;
        uint32_t *to = codes + c * few;
        for (size_t i = 0; i < l.n; i++) to[i] = cofi_id(l.ids[c], l.row[i]);
        l.ids[c] = (cofi_ids){to, sizeof *to, false};
    }
    if (status == COF_OK && list_distinct(map, &own, &l) != COF_OK) status = cofi_no_memory(err);
    if (status == COF_OK && map->n > most) {
        map->n = draw(&rng, map->n, most, kept);
        for (size_t i = 0; i < map->n; i++) map->point[i] = map->point[kept[i]];
    }
    cofi_blocks_release(&own);
    return status;
}

/* ---- How far apart ----------------------------------------------------------------------------------- */

/* Values that occur among the points, and their distances from each other. */
typedef struct value_distances {
    uint32_t *slot;  /* per point: position of its value in `value`; COFI_NO_VALUE for none */
    uint32_t *value; /* those that occur */
    uint32_t *where; /* per value of the attribute: position, or COFI_NO_VALUE */
    uint32_t n;
    double *distance; /* n x n */
} value_distances;

static void list_values(value_distances *d, const cof_map *map, const cofi_view *v, size_t a)
{
    uint32_t n_values = v->model->attr[v->attribute[a]].n_values;
    d->n = 0;
    for (uint32_t value = 0; value < n_values; value++) d->where[value] = COFI_NO_VALUE;
    for (size_t i = 0; i < map->n; i++) {
        uint32_t value = cofi_view_value(v, a, map->point[i].row);
        d->slot[i] = COFI_NO_VALUE;
        if (value == COFI_NO_VALUE) continue;
        if (d->where[value] == COFI_NO_VALUE) {
            d->where[value] = d->n;
            d->value[d->n++] = value;
        }
        d->slot[i] = d->where[value];
    }
}

/* A value outside the tree was met by no clustered row; it counts for nothing. Methods that grow no tree tell
 * values only apart. */
static cof_status measure_values(value_distances *d, const cof_env *env, const cofi_view *v, size_t a)
{
    d->distance = cofi_alloc(env, (size_t)d->n * d->n, sizeof *d->distance);
    if (d->distance == NULL) return COF_ERR_MEMORY;
    for (uint32_t s = 0; s < d->n; s++)
        for (uint32_t u = 0; u <= s; u++) {
            double length = cof_model_distance(v->model, v->attribute[a], d->value[s], d->value[u]);
            if (v->model->attr[v->attribute[a]].n_edges == 0) length = s != u;
            if (isnan(length)) length = 0;
            length *= cof_model_column_weight(v->model, v->attribute[a]);
            d->distance[(size_t)s * d->n + u] = d->distance[(size_t)u * d->n + s] = length;
        }
    return COF_OK;
}

/* A cell without a number counts for nothing. */
static void add_differences(const cof_map *map, const cofi_assignment *a, size_t c, double *x, double *total)
{
    for (size_t i = 0; i < map->n; i++) x[i] = cofi_assignment_numeric(a, c, map->point[i].row);
    for (size_t i = 0; i < map->n; i++)
        for (size_t j = 0; j < i; j++) {
            double apart = a->m->numeric[c].column_weight * fabs(x[i] - x[j]);
            if (isfinite(apart)) total[i * map->n + j] += apart;
        }
}

static cof_status measure_rows(const cof_map *map, cofi_blocks *own, const cofi_assignment *from,
                               double *total)
{
    const cofi_view *v = &from->view;
    value_distances d = {0};
    size_t most_values = 1;
    for (size_t a = 0; a < v->n; a++) {
        size_t n_values = v->model->attr[v->attribute[a]].n_values;
        if (n_values > most_values) most_values = n_values;
    }
    d.slot = cofi_blocks_add(own, map->n, sizeof *d.slot);
    d.value = cofi_blocks_add(own, map->n, sizeof *d.value);
    d.where = cofi_blocks_add(own, most_values, sizeof *d.where);
    double *x = cofi_blocks_add(own, map->n, sizeof *x);
    if (own->short_of_memory) return COF_ERR_MEMORY;
    for (size_t a = 0; a < v->n; a++) {
        list_values(&d, map, v, a);
        COFI_TRY(measure_values(&d, &map->env, v, a));
        for (size_t i = 0; i < map->n; i++) {
            if (d.slot[i] == COFI_NO_VALUE) continue;
            const double *from_value = d.distance + (size_t)d.slot[i] * d.n;
            for (size_t j = 0; j < i; j++)
                if (d.slot[j] != COFI_NO_VALUE) total[i * map->n + j] += from_value[d.slot[j]];
        }
        cofi_release(&map->env, d.distance);
    }
    for (size_t c = 0; c < from->m->n_numeric; c++) add_differences(map, from, c, x, total);
    for (size_t i = 0; i < map->n; i++)
        for (size_t j = 0; j < i; j++) total[j * map->n + i] = total[i * map->n + j];
    return COF_OK;
}

/* ---- All of it --------------------------------------------------------------------------------------- */

static cof_status place_points(cof_map *map, const cofi_assignment *a, const cof_embed_options *o,
                               cof_error *err)
{
    cofi_blocks own = {.env = map->env};
    double *distance = cofi_blocks_add_zero(&own, map->n * map->n, sizeof *distance);
    double *xy = cofi_blocks_add(&own, map->n, 2 * sizeof *xy);
    cofi_tsne_options how = {
        .seed = o->seed, .perplexity = o->perplexity, .steps = o->steps, .threads = o->threads};
    cof_status status = own.short_of_memory ? COF_ERR_MEMORY : measure_rows(map, &own, a, distance);
    if (status != COF_OK) cofi_no_memory(err);
    if (status == COF_OK) status = cofi_tsne(&map->env, distance, map->n, &how, xy, err);
    for (size_t i = 0; status == COF_OK && i < map->n; i++) {
        map->point[i].x = xy[2 * i];
        map->point[i].y = xy[2 * i + 1];
    }
    cofi_blocks_release(&own);
    return status;
}

cof_status cof_embed(const cof_model *model, const cof_table *table, const cof_embed_options *options,
                     cof_map **out, cof_error *err)
{
    cof_embed_options o;
    COFI_COPY_OPTIONS(&o, options);
    if (model == NULL || table == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "cof_embed needs a model and a table; one is NULL");
    cofi_assignment a = {.own = {.env = table->env}, .m = model, .t = table};
    COFI_TRY(cofi_view_open(&a.view, model, table, err));
    cof_status status = cofi_assignment_read_numbers(&a, err);
    cof_map *map = cofi_alloc_zero(&table->env, 1, sizeof *map);
    if (map != NULL) map->env = table->env;
    if (status == COF_OK) status = map != NULL ? choose_rows(map, &a, &o, err) : cofi_no_memory(err);
    if (status == COF_OK) status = place_points(map, &a, &o, err);
    cofi_assignment_close(&a);
    if (status != COF_OK)
        cof_map_free(map);
    else
        *out = map;
    return status;
}

const cof_map_point *cof_map_points(const cof_map *map, size_t *n_points)
{
    if (n_points != NULL) *n_points = map->n;
    return map->point;
}

uint64_t cof_map_n_distinct(const cof_map *map)
{
    return map->n_distinct;
}

void cof_map_free(cof_map *map)
{
    if (map == NULL) return;
    cof_env env = map->env;
    COFI_RELEASE_ALL(&env, map->point, map);
}
