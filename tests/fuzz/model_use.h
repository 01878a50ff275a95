/* What is done to a model made of hostile bytes: everything. Whatever loads must behave like any other model. */
#ifndef COF_MODEL_USE_H
#define COF_MODEL_USE_H

#include "fuzz_helper.h"
#include "../../src/core/bytes.h"

enum { LENGTH_AT = 16, BODY_AT = 24, END_BYTES = 4, ROWS = 5, MOST_COLUMNS = 64 };

static void put_number(unsigned char *to, uint64_t x, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = (unsigned char)(x >> (8 * i));
}

/* Length and checksum put right, so that the parser behind them is reached. Not every user needs it. */
static inline void seal(unsigned char *bytes, size_t n)
{
    put_number(bytes + LENGTH_AT, n - BODY_AT - END_BYTES, 8);
    put_number(bytes + n - END_BYTES, cofi_crc32(bytes, n - END_BYTES), END_BYTES);
}

/* ---- Uses -------------------------------------------------------------------------------------------- */

/* A table with the model's own column names, values it knows and values it does not. */
static cof_table *table_for(const cof_model *m)
{
    const char *names[MOST_COLUMNS], *cells[MOST_COLUMNS * ROWS];
    size_t n = cof_model_n_attributes(m), n_numeric = cof_model_n_numeric(m);
    cof_table *t = NULL;
    if (n + n_numeric == 0 || n > MOST_COLUMNS || n_numeric > MOST_COLUMNS - n) return NULL;
    for (size_t a = 0; a < n; a++) {
        cof_attribute view = {.struct_size = sizeof view};
        require(cof_model_attribute(m, a, &view) == COF_OK, "an attribute that is not there");
        names[a] = view.name;
        for (uint32_t i = 0; i < ROWS; i++)
            cells[a * ROWS + i] = i == 0   ? NULL
                                  : i == 1 ? "never seen"
                                           : cof_model_value(m, a, (view.n_values - 1) / i);
    }
    for (size_t c = 0; c < n_numeric; c++) {
        static const char *const numbers[ROWS] = {NULL, "never seen", "0", "-2.5", "1e300"};
        names[n + c] = cof_model_numeric_name(m, c);
        memcpy(cells + (n + c) * ROWS, numbers, sizeof numbers);
    }
    cof_error err = {""};
    require(cof_table_from_strings(NULL, cells, ROWS, n + n_numeric, names, &t, &err) == COF_OK, err.text);
    return t;
}

static void label_rows(const cof_model *m, const cof_table *t)
{
    int32_t cluster[ROWS];
    cof_margin margin[ROWS];
    size_t k = cof_model_k(m);
    double *distance = malloc(ROWS * k * sizeof *distance);
    cof_predict_info info = {.struct_size = sizeof info};
    cof_error err = {""};
    cof_status status = cof_model_predict(m, t, 1, cluster, ROWS, &info, &err);
    require(status == COF_OK || status == COF_ERR_MISSING || status == COF_ERR_NO_PREDICTION, err.text);
    for (size_t i = 0; status == COF_OK && i < ROWS; i++)
        require(cluster[i] >= -1 && cluster[i] < (int64_t)k, "a label out of range");
    if (status == COF_OK) (void)cof_model_margins(m, t, cluster, 1, margin, ROWS, NULL);
    (void)cof_model_transform(m, t, 1, distance, ROWS * k, NULL);
    free(distance);
}

static void look_at(const cof_model *m, page *p)
{
    for (size_t a = 0; a < cof_model_n_attributes(m) && a < MOST_COLUMNS; a++) {
        cof_attribute view = {.struct_size = sizeof view};
        size_t n_edges;
        require(cof_model_attribute(m, a, &view) == COF_OK, "an attribute that is not there");
        cof_model_edges(m, a, &n_edges);
        for (uint32_t v = 0; v < view.n_values; v++) {
            require(cof_model_value(m, a, v) != NULL, "a value without a text");
            (void)cof_model_distance(m, a, 0, v);
            (void)cof_model_profile(m, a, v, 0);
        }
        for (int32_t drawing = COF_DRAW_TEXT; drawing <= COF_DRAW_JSON; drawing++) {
            (void)cof_model_draw_tree(m, a, drawing, swallow, p, NULL);
            if (drawing == COF_DRAW_SVG) check_drawings(p);
            p->n = 0;
        }
    }
    (void)cof_model_n_same(m);
    (void)cof_model_k_runner_up(m);
}

/* Reports with and without rows, and one whose receiver refuses after some pieces. */
static void write_reports(const cof_model *m, const cof_table *t, int refuse_after, page *p)
{
    cof_error err = {""};
    cof_report_options o = {.struct_size = sizeof o, .threads = 1};
    require(cof_report_write(m, NULL, &o, swallow, p, &err) == COF_OK, err.text);
    check_drawings(p);
    if (t != NULL) (void)cof_report_write(m, t, &o, swallow, p, NULL);
    check_drawings(p);
    p->refuse_after = refuse_after;
    (void)cof_report_write(m, NULL, &o, swallow, p, NULL);
    p->n = 0;
}

/* False if the bytes are no model. */
static bool use_bytes(const unsigned char *bytes, size_t n, int refuse_after)
{
    static page p;
    cof_model *m = NULL;
    cof_error err = {""};
    cof_status status = cof_model_load_memory(NULL, "test", bytes, n, &m, &err);
    require(status == COF_OK || status == COF_ERR_MODEL || status == COF_ERR_TOO_NEW, err.text);
    if (status != COF_OK) return false;
    p.n = 0;
    p.refuse_after = -1;
    cof_table *t = table_for(m);
    look_at(m, &p);
    if (t != NULL) label_rows(m, t);
    write_reports(m, t, refuse_after, &p);
    require(cof_model_save(m, "/dev/null", &err) == COF_OK, err.text);
    cof_table_free(t);
    cof_model_free(m);
    return true;
}

#endif
