/* Small tables with hostile texts, options with any numbers, every method: whatever a fit leaves must be saved, load
 * again, and serve all that a model serves.
 *
 * The first bytes choose sizes and options, the rest are the cells and the names. */
#include "make_input.h"
#include "model_use.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct saved {
    unsigned char *bytes;
    size_t n;
} saved;

static int keep(void *ctx, const char *text, size_t n_bytes)
{
    saved *s = ctx;
    s->bytes = realloc(s->bytes, s->n + n_bytes + 1);
    memcpy(s->bytes + s->n, text, n_bytes);
    s->n += n_bytes;
    return 0;
}

static void use_fitted(const cof_model *m, const cof_table *t, int refuse_after)
{
    static page p;
    cof_error err = {""};
    saved s = {NULL, 0};
    p.n = 0;
    p.refuse_after = -1;
    write_reports(m, t, refuse_after, &p);
    require(cof_model_write(m, keep, &s, &err) == COF_OK, err.text);
    cof_model *again = NULL;
    require(cof_model_load_memory(NULL, "saved", s.bytes, s.n, &again, &err) == COF_OK, err.text);
    cof_model_free(again);
    use_bytes(s.bytes, s.n, refuse_after);
    free(s.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, data + size};
    uint64_t rows[MOST_FITTED];
    double weights[MOST_FITTED];
    cof_model *m = NULL;
    cof_error err = {""};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_table *t = make_table(&b, NULL);
    if (t == NULL) return 0;
    set_up(&b, t);
    cof_fit_options o = choose(&b, rows, weights);
    cof_status status = cof_fit(t, &o, &m, &info, &err);
    require(status == COF_OK || err.text[0] != '\0', "a failure without a sentence");
    if (status == COF_OK) use_fitted(m, t, take(&b) % 8);
    cof_model_free(m);
    cof_table_free(t);
    return 0;
}
