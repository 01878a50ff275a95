/* Rows: their map, the typical and odd ones of every cluster, and how the clusters compare with known classes. */
#include "../svg/draw_map.h"
#include "report.h"

#include <math.h>

enum { MOST_SHOWN = 6 /* attributes of a row */, MOST_MEMBERS = 200, MOST_LISTED = 6000, MOST_GROUPS = 200 };

static void put_map(cofi_report *r)
{
    cofi_page *p = &r->page;
    size_t n = 0;
    if (r->map == NULL || r->n_rows == 0) return;
    cof_map_points(r->map, &n);
    cofi_map_drawing d = {.map = r->map, .table = r->table, .label = r->label, .k = r->k, .names = r->names};
    cofi_page_open(p, "map");
    if (n < r->n_distinct || cof_map_n_distinct(r->map) == 0) cofi_page_put(p, "sample", "%c", (uint64_t)n);
    cofi_draw_map(cofi_page_write(p), &d);
    cofi_page_written(p, "drawing");
    cofi_page_close(p);
}

/* ---- Examples ---------------------------------------------------------------------------------------- */

/* The table column of an attribute; SIZE_MAX if the table lacks it. */
static size_t column_of(const cofi_report *r, size_t attribute)
{
    for (size_t a = 0; a < r->values.n; a++)
        if (r->values.attribute[a] == attribute) return r->values.column[a];
    return SIZE_MAX;
}

static void put_row_name(cofi_report *r, size_t row, unsigned columns)
{
    uint32_t code = cof_table_code(r->table, row, r->names);
    cofi_page_name(&r->page, "name", cof_table_value(r->table, r->names, code), columns);
}

static void put_example(cofi_report *r, const char *why, size_t row)
{
    cofi_page *p = &r->page;
    const cof_margin *m = &r->margin[row];
    cofi_page_open(p, "examples");
    if (r->names != SIZE_MAX) put_row_name(r, row, 30);
    cofi_page_put(p, "number", "%z", (size_t)cof_table_row_number(r->table, row) + 1);
    cofi_page_put(p, "why", "%s", why);
    cofi_page_number(p, "distance", (double)m->own, 2);
    cofi_page_number(p, "lead", 100 * cof_margin_lead(m), 0);
    if (m->second >= 0) {
        cofi_page_open_cluster(p, "next", (uint32_t)m->second);
        cofi_page_close(p);
    }
    for (size_t i = 0; i < r->n_ranked && i < MOST_SHOWN; i++) {
        size_t column = column_of(r, r->ranked[i]);
        bool known = column != SIZE_MAX;
        cofi_page_open(p, "cells");
        cofi_page_flag(p, "whole", known && r->table->column[column].cut != NULL); /* dates are not broken */
        if (known) cofi_page_name(p, "value", cof_table_cell(r->table, row, column), 20);
        cofi_page_close(p);
    }
    cofi_page_close(p);
}

/* In a small cluster the same row may be the most and the least typical. */
static bool was_told(const cofi_cluster_rows *c, int kind, size_t row)
{
    for (int before = 0; before < kind; before++)
        for (size_t i = 0; i < c->n_examples[before]; i++)
            if (c->example[before][i].row == row) return true;
    return false;
}

/* Where rows have names and are few, all of a cluster; then some rows of each kind. */
static void put_group(cofi_report *r, uint32_t j)
{
    static const char *const kind[] = {"typical", "atypical", "close call"};
    cofi_page *p = &r->page;
    const cofi_cluster_rows *c = &r->rows[j];
    bool listed = r->names != SIZE_MAX && r->n_clustered <= MOST_LISTED && !r->sampled;
    size_t n_told = 0;
    cofi_page_open_cluster(p, "groups", j);
    cofi_page_flag(p, "listed", listed);
    for (size_t i = 0; listed && i < r->n_rows && n_told < MOST_MEMBERS; i++) {
        if (r->label[i] != (int32_t)j) continue;
        cofi_page_open(p, "members");
        put_row_name(r, i, 24);
        cofi_page_close(p);
        n_told++;
    }
    cofi_page_put(p, "n_more_members", n_told < c->n ? "%c" : "", c->n - n_told);
    for (int which = 0; which < COFI_KINDS; which++)
        for (size_t i = 0; i < c->n_examples[which]; i++)
            if (!was_told(c, which, c->example[which][i].row))
                put_example(r, kind[which], c->example[which][i].row);
    cofi_page_close(p);
}

static void put_examples(cofi_report *r)
{
    cofi_page *p = &r->page;
    if (!cofi_report_has_rows(r) || r->margin == NULL) return;
    cofi_page_open(p, "rows");
    for (size_t i = 0; i < r->n_ranked && i < MOST_SHOWN; i++) {
        cofi_page_open(p, "heads");
        cofi_page_name(p, "name", r->model->attr[r->ranked[i]].domain.name, 16);
        cofi_page_close(p);
    }
    for (uint32_t j = 0; j < r->k && j < MOST_GROUPS; j++)
        if (r->rows[j].n > 0) put_group(r, j);
    cofi_page_close(p);
}

/* ---- Known classes ----------------------------------------------------------------------------------- */

enum { MOST_CLASSES = 60, MOST_COUNTS = 4000000 /* no page shows more */ };

typedef struct confusion {
    uint64_t *count;   /* k x n_classes */
    int32_t *class_of; /* k */
    uint32_t n_classes;
    uint32_t *order; /* classes: matched ones first, in the order of their clusters */
    cof_indices scores;
} confusion;

static cof_status count_classes(cofi_report *r, confusion *c, cof_error *err)
{
    const cofi_column *column = &r->table->column[r->classes];
    uint32_t n_classes = c->n_classes, n_ordered = 0;
    int32_t *class_of_row = cofi_blocks_add(&r->own, r->n_rows, sizeof *class_of_row);
    double *weight = cofi_blocks_add(&r->own, r->n_rows, sizeof *weight);
    bool *matched = cofi_blocks_add_zero(&r->own, n_classes, sizeof *matched);
    c->count = cofi_blocks_add_zero(&r->own, (size_t)r->k * n_classes, sizeof *c->count);
    c->class_of = cofi_blocks_add(&r->own, r->k, sizeof *c->class_of);
    c->order = cofi_blocks_add(&r->own, n_classes, sizeof *c->order);
    COFI_TRY(cofi_blocks_status(&r->own, err));
    for (size_t i = 0; i < r->n_rows; i++) {
        uint32_t code = cofi_column_code(column, i);
        class_of_row[i] = code < n_classes ? (int32_t)code : -1;
        if (class_of_row[i] >= 0 && r->label[i] >= 0) c->count[(size_t)r->label[i] * n_classes + code]++;
    }
    COFI_TRY(cof_table_weights(r->table, weight, r->n_rows, err));
    cof_env env = r->own.env;
    env.should_stop = NULL; /* a fit that was stopped has its report all the same */
    COFI_TRY(cof_evaluate_weighted(&env, r->label, class_of_row, weight, r->n_rows, &c->scores, err));
    if (c->scores.n == 0) return COF_OK;
    if (r->o.scores != NULL) COFI_COPY_OPTIONS(&c->scores, r->o.scores);
    COFI_TRY(cof_match(&env, c->count, r->k, n_classes, c->class_of, err));
    for (uint32_t j = 0; j < r->k; j++) {
        if (c->class_of[j] < 0) continue;
        c->order[n_ordered++] = (uint32_t)c->class_of[j];
        matched[c->class_of[j]] = true;
    }
    for (uint32_t y = 0; y < n_classes; y++)
        if (!matched[y]) c->order[n_ordered++] = y;
    return COF_OK;
}

static void put_confusion(cofi_report *r, const confusion *c)
{
    cofi_page *p = &r->page;
    uint32_t n_shown = c->n_classes < MOST_CLASSES ? c->n_classes : MOST_CLASSES;
    for (uint32_t i = 0; i < n_shown; i++) {
        cofi_page_open(p, "classes");
        cofi_page_name(p, "name", cof_table_value(r->table, r->classes, c->order[i]), 16);
        cofi_page_close(p);
    }
    cofi_page_put(p, "n_others", n_shown < c->n_classes ? "%u" : "", c->n_classes - n_shown);
    for (uint32_t j = 0; j < r->k; j++) {
        const uint64_t *count = c->count + (size_t)j * c->n_classes;
        uint64_t size = 0, rest = 0;
        for (uint32_t i = 0; i < c->n_classes; i++) {
            size += count[c->order[i]];
            if (i >= n_shown) rest += count[c->order[i]];
        }
        cofi_page_open_cluster(p, "lines", j);
        for (uint32_t i = 0; i < n_shown; i++) {
            uint64_t n = count[c->order[i]];
            unsigned percent = size > 0 ? (unsigned)lround(100 * (double)n / (double)size) : 0;
            cofi_page_open(p, "cells");
            cofi_page_put(p, "v", "%z", (size_t)n);
            cofi_page_put(p, "t", "%c", n);
            cofi_page_put(p, "w", n > 0 ? "%u" : "", percent > 0 ? percent : 1);
            cofi_page_flag(p, "hit", c->class_of[j] == (int32_t)c->order[i] && n > 0);
            cofi_page_close(p);
        }
        cofi_page_count(p, "rest", (double)rest);
        cofi_page_close(p);
    }
}

static cof_status put_scores(cofi_report *r, cof_error *err)
{
    cofi_page *p = &r->page;
    confusion c = {.scores = {.struct_size = sizeof c.scores}};
    const cof_index *score;
    if (!cofi_report_has_rows(r) || r->classes == SIZE_MAX) return COF_OK;
    const cofi_column *column = &r->table->column[r->classes];
    c.n_classes = column->n_values;
    if ((uint64_t)r->k * c.n_classes > MOST_COUNTS) return COF_OK;
    COFI_TRY(count_classes(r, &c, err));
    if (c.scores.n == 0) return COF_OK;
    cofi_page_open(p, "scores");
    cofi_page_name(p, "column", column->name, 40);
    cofi_page_put(p, "n_classes", "%u", (unsigned)c.scores.n_classes);
    cofi_page_put(p, "n", "%c", (uint64_t)c.scores.n);
    cofi_page_flag(p, "weighted", cofi_table_weight_column(r->table) != NULL);
    cofi_page_flag(p, "sampled", r->sampled);
    for (size_t i = 0; (score = cof_index_at(i)) != NULL; i++) {
        cofi_page_open(p, "indices");
        cofi_page_put(p, "name", "%s", score->name);
        cofi_page_put(p, "key", "%s", score->key);
        cofi_page_put(p, "value", "%4f", cof_index_value(&c.scores, i));
        cofi_page_put(p, "about", "%s", score->about);
        cofi_page_close(p);
    }
    put_confusion(r, &c);
    cofi_page_close(p);
    return COF_OK;
}

cof_status cofi_report_rows(cofi_report *r, cof_error *err)
{
    put_map(r);
    put_examples(r);
    return put_scores(r, err);
}
