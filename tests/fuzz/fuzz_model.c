/* Loads models made from hostile bytes: as they are, and with length and checksum put right, so that the
 * parser behind them is reached. Whatever loads is used like any other model. */
#include "coforest_extra.h"
#include "../../src/core/bytes.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LENGTH_AT = 16, BODY_AT = 24, ROWS = 4, MOST_COLUMNS = 8 };

static void require(int holds)
{
    if (!holds) abort();
}

static void seal(uint8_t *bytes, size_t n)
{
    if (n < BODY_AT + 4) return;
    uint64_t length = n - BODY_AT - 4;
    memcpy(bytes, "COFOREST\1\0\0", 11);
    for (int i = 0; i < 8; i++) bytes[LENGTH_AT + i] = (uint8_t)(length >> (8 * i));
    uint32_t crc = cofi_crc32(bytes, n - 4);
    for (int i = 0; i < 4; i++) bytes[n - 4 + (size_t)i] = (uint8_t)(crc >> (8 * i));
}

static int swallow(void *ctx, const char *text, size_t n_bytes)
{
    size_t *sum = ctx;
    for (size_t i = 0; i < n_bytes; i++) *sum += (unsigned char)text[i];
    return 0;
}

/* A table with the model's own column names, values it knows and values it does not. */
static cof_table *table_for(const cof_model *m)
{
    const char *names[MOST_COLUMNS], *cells[MOST_COLUMNS * ROWS];
    size_t n = cof_model_n_attributes(m);
    cof_table *t = NULL;
    if (n == 0 || n > MOST_COLUMNS) return NULL;
    for (size_t a = 0; a < n; a++) {
        cof_attribute view = {.struct_size = sizeof view};
        cof_model_attribute(m, a, &view);
        names[a] = view.name;
        for (uint32_t i = 0; i < ROWS; i++)
            cells[a * ROWS + i] = i == 0   ? NULL
                                  : i == 1 ? "never seen"
                                           : cof_model_value(m, a, (view.n_values - 1) / i);
    }
    cof_status status = cof_table_from_strings(NULL, cells, ROWS, n, names, &t, NULL);
    require(status == COF_OK || status == COF_ERR_DATA); /* two attributes of one name */
    return t;
}

/* A report of a small model may fail for want of memory or of rows, never otherwise. */
static void write_report(const cof_model *m, const cof_table *t)
{
    size_t sum = 0;
    cof_report_options o = {.struct_size = sizeof o, .threads = 1};
    cof_status status = cof_report_write(m, t, &o, swallow, &sum, NULL);
    require(status == COF_OK || status == COF_ERR_MISSING || status == COF_ERR_UNSUPPORTED ||
            status == COF_ERR_ARGUMENT);
}

static void apply(const cof_model *m)
{
    cof_table *t = table_for(m);
    size_t k = cof_model_k(m);
    if (t == NULL) return;
    int32_t label[ROWS];
    double *distance = malloc(ROWS * k * sizeof *distance);
    cof_predict_info info = {.struct_size = sizeof info};
    cof_error err;
    cof_status status = cof_model_predict(m, t, 1, label, ROWS, &info, &err);
    require(status == COF_OK || status == COF_ERR_MISSING || status == COF_ERR_NO_PREDICTION);
    for (size_t i = 0; status == COF_OK && i < ROWS; i++) require(label[i] >= -1 && label[i] < (int64_t)k);
    cof_model_transform(m, t, 1, distance, ROWS * k, &err);
    write_report(m, t);
    free(distance);
    cof_table_free(t);
}

static void look_at(const cof_model *m)
{
    size_t sum = 0;
    for (size_t a = 0; a < cof_model_n_attributes(m) && a < 20; a++) {
        cof_attribute view = {.struct_size = sizeof view};
        size_t n_edges;
        cof_model_attribute(m, a, &view);
        cof_model_edges(m, a, &n_edges);
        for (uint32_t v = 0; v < view.n_values; v++) {
            require(cof_model_value(m, a, v) != NULL);
            cof_model_distance(m, a, 0, v);
            cof_model_profile(m, a, v, 0);
        }
        for (int32_t drawing = COF_DRAW_TEXT; drawing <= COF_DRAW_JSON; drawing++)
            cof_model_draw_tree(m, a, drawing, swallow, &sum, NULL);
    }
}

static void try_bytes(const uint8_t *bytes, size_t n)
{
    cof_model *m = NULL;
    cof_error err;
    cof_status status = cof_model_load_memory(NULL, "fuzz", bytes, n, &m, &err);
    require(status == COF_OK || status == COF_ERR_MODEL || status == COF_ERR_TOO_NEW);
    if (status != COF_OK) return;
    look_at(m);
    write_report(m, NULL);
    apply(m);
    require(cof_model_save(m, "/dev/null", &err) == COF_OK);
    cof_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    uint8_t *sealed = malloc(size > 0 ? size : 1); /* its own block: one byte too far is seen */
    if (size > 0) memcpy(sealed, data, size);
    seal(sealed, size);
    try_bytes(sealed, size);
    free(sealed);
    return 0;
}
