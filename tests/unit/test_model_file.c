/* Model files: what is saved is loaded, old files stay readable, damaged ones are refused without harm. */
#include "unit_helper.h"

#include "../../src/core/bytes.h"

#include <unistd.h>

enum { LENGTH_AT = 16, BODY_AT = 24 };

typedef struct file {
    unsigned char *bytes;
    size_t n;
} file;

static file read_file(const char *path)
{
    file f = {.bytes = get_zero(1 << 20, 1)};
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    f.n = fread(f.bytes, 1, 1 << 20, in);
    fclose(in);
    return f;
}

static file saved(const cof_model *m)
{
    char path[] = "/tmp/coforest-test-XXXXXX";
    int fd = mkstemp(path);
    cof_error err;
    assert_true(fd >= 0);
    close(fd);
    assert_status(cof_model_save(m, path, &err), COF_OK, &err);
    file f = read_file(path);
    unlink(path);
    return f;
}

static cof_model *load(file f)
{
    cof_model *m = NULL;
    cof_error err;
    assert_status(cof_model_load_memory(NULL, "test", f.bytes, f.n, &m, &err), COF_OK, &err);
    return m;
}

static void put_number(unsigned char *to, uint64_t x, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = (unsigned char)(x >> (8 * i));
}

/* Makes length and checksum fit again, so that the parser behind them is reached. */
static void seal(file f)
{
    if (f.n < BODY_AT + 4) return;
    put_number(f.bytes + LENGTH_AT, f.n - BODY_AT - 4, 8);
    put_number(f.bytes + f.n - 4, cofi_crc32(f.bytes, f.n - 4), 4);
}

/* ---- A small model with something of everything ------------------------------------------------- */

static cof_table *small_table(void)
{
    static const char *const cells[] = {"low", "high", "mid", "low", "high", "mid", "low", "mid",
                                        "é",   "b",    NULL,  "é",   "b",    "b",   "é",   "é",
                                        "x",   "x",    "x",   "x",   "x",    "x",   "x",   "x",
                                        "10",  "9",    "9",   "10",  "9",    "9",   "10",  "10"};
    static const char *const names[] = {"level", "größe", "constant", "number"};
    static const char *const order[] = {"low", "mid", "high"};
    cof_table *t;
    cof_error err;
    assert_status(cof_table_from_strings(NULL, cells, 8, 4, names, &t, &err), COF_OK, &err);
    assert_int_equal(cof_table_set_order(t, 0, order, 3, NULL), COF_OK);
    return t;
}

static cof_model *small_model(const cof_table *t)
{
    static const uint64_t rows[] = {0, 1};
    static const double weights[] = {1, 2, 1, 1, 0.5, 1, 1, 1};
    cof_fit_options o = {
        .struct_size = sizeof o, .k = 2, .init_rows = rows, .weights = weights, .threads = 1};
    return fit_model(t, &o, NULL);
}

static file small_file(void)
{
    cof_table *t = small_table();
    cof_model *m = small_model(t);
    file f = saved(m);
    cof_model_free(m);
    cof_table_free(t);
    return f;
}

/* ---- There and back ----------------------------------------------------------------------------- */

static void assert_same_attributes(const cof_model *a, const cof_model *b)
{
    for (size_t r = 0; r < cof_model_n_attributes(a); r++) {
        cof_attribute x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
        assert_int_equal(cof_model_attribute(a, r, &x), COF_OK);
        assert_int_equal(cof_model_attribute(b, r, &y), COF_OK);
        assert_string_equal(x.name, y.name);
        assert_true(x.n_values == y.n_values && x.used == y.used && x.ordinal == y.ordinal);
        for (uint32_t v = 0; v < x.n_values; v++) {
            assert_string_equal(cof_model_value(a, r, v), cof_model_value(b, r, v));
            for (uint32_t j = 0; j < cof_model_k(a); j++) {
                double p = cof_model_profile(a, r, v, j), q = cof_model_profile(b, r, v, j);
                assert_true(cof_model_count(a, r, v, j) == cof_model_count(b, r, v, j));
                assert_true(p == q || (isnan(p) && isnan(q)));
            }
        }
    }
}

static void assert_same_model(const cof_model *a, const cof_model *b)
{
    size_t n_a, n_b;
    assert_int_equal(cof_model_k(a), cof_model_k(b));
    assert_int_equal(cof_model_variant(a), cof_model_variant(b));
    assert_int_equal(cof_model_missing(a), cof_model_missing(b));
    assert_string_equal(cof_model_method(a), cof_model_method(b));
    assert_memory_equal(cof_model_sizes(a), cof_model_sizes(b), cof_model_k(a) * sizeof(double));
    assert_same_trees(a, b);
    assert_same_attributes(a, b);
    const cof_restart_record *r = cof_model_restarts(a, &n_a), *s = cof_model_restarts(b, &n_b);
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++)
        assert_true(r[i].objective == s[i].objective && r[i].log_likelihood == s[i].log_likelihood &&
                    r[i].rebuilds == s[i].rebuilds && r[i].passes == s[i].passes &&
                    r[i].stop_reason == s[i].stop_reason && r[i].criterion == s[i].criterion &&
                    r[i].by_likelihood == s[i].by_likelihood);
    assert_int_equal(cof_model_best_restart(a), cof_model_best_restart(b));
    assert_int_equal(cof_model_select(a), cof_model_select(b));
    assert_int_equal(cof_model_refined_by(a), cof_model_refined_by(b));
    double near_a = cof_model_nearer_other(a), near_b = cof_model_nearer_other(b);
    assert_true(near_a == near_b || (isnan(near_a) && isnan(near_b)));
    const cof_pass_record *x = cof_model_history(a, &n_a), *y = cof_model_history(b, &n_b);
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++)
        assert_true(x[i].restart == y[i].restart && x[i].rebuild == y[i].rebuild && x[i].pass == y[i].pass &&
                    x[i].objective == y[i].objective && x[i].moved == y[i].moved);
}

static void assert_same_answers(const cof_model *a, const cof_model *b, const cof_table *t, double slack)
{
    size_t n = cof_table_n_rows(t), k = cof_model_k(a);
    int32_t *x = get_zero(n, sizeof *x), *y = get_zero(n, sizeof *y);
    double *d = get_zero(n * k, sizeof *d), *e = get_zero(n * k, sizeof *e);
    assert_int_equal(cof_model_predict(a, t, 1, x, n, NULL, NULL), COF_OK);
    assert_int_equal(cof_model_predict(b, t, 1, y, n, NULL, NULL), COF_OK);
    assert_memory_equal(x, y, n * sizeof *x);
    assert_int_equal(cof_model_transform(a, t, 1, d, n * k, NULL), COF_OK);
    assert_int_equal(cof_model_transform(b, t, 1, e, n * k, NULL), COF_OK);
    for (size_t i = 0; i < n * k; i++)
        assert_true(d[i] == e[i] || fabs(d[i] - e[i]) <= slack || (isnan(d[i]) && isnan(e[i])));
    free(x);
    free(y);
    free(d);
    free(e);
}

static void check_round_trip(const cof_table *t, const cof_model *m)
{
    size_t n = 99;
    file first = saved(m);
    cof_model *again = load(first);
    assert_same_model(m, again);
    assert_same_answers(m, again, t, 0);
    assert_null(cof_model_labels(again, &n)); /* labels belong to a table, and stay with it */
    assert_int_equal(n, 0);
    file second = saved(again);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.bytes, second.bytes, first.n);
    cof_model_free(again);
    free(first.bytes);
    free(second.bytes);
}

static void what_was_saved_is_loaded(void **state)
{
    (void)state;
    static const uint32_t ks[] = {1, 2, 3, 8, 9, 17, 30};
    double weights[150];
    for (size_t i = 0; i < 150; i++) weights[i] = 0.3 * (double)(i % 4);
    for (uint64_t round = 0; round < 28; round++) {
        cofi_rng rng = dice(round);
        int32_t *codes = random_codes(&rng, 150, 5, 3 + round % 6, 4);
        for (size_t i = 0; i < 150; i++) {
            codes[5 * i + 3] = 7;
            if (round % 3 > 0 && i % 9 == 0) codes[5 * i + i % 3] = -1;
        }
        cof_table *t = table_of(codes, 150, 5);
        cof_fit_options o = {
            .struct_size = sizeof o, .k = ks[round % COUNT(ks)], .restarts = 2, .threads = 1};
        o.variant = (int32_t)(round % 2);
        o.missing = (int32_t)(round % 3);
        o.weights = round % 4 == 0 ? weights : NULL;
        cof_model *m = fit_model(t, &o, NULL);
        check_round_trip(t, m);
        cof_model_free(m);
        cof_table_free(t);
        free(codes);
    }
    cof_table *t = small_table();
    cof_model *m = small_model(t);
    check_round_trip(t, m);
    cof_model_free(m);
    cof_table_free(t);
}

static void files_by_name(void **state)
{
    (void)state;
    char path[] = "/tmp/coforest-test-XXXXXX";
    int fd = mkstemp(path);
    cof_error err;
    assert_true(fd >= 0);
    close(fd);
    cof_table *t = small_table();
    cof_model *m = small_model(t), *again = NULL;
    assert_status(cof_model_save(m, path, &err), COF_OK, &err);
    assert_status(cof_model_load(NULL, path, &again, &err), COF_OK, &err);
    assert_same_model(m, again);
    unlink(path);
    cof_model *none = NULL;
    assert_int_equal(cof_model_load(NULL, path, &none, &err), COF_ERR_IO);
    assert_int_equal(cof_model_load(NULL, "/tmp", &none, &err), COF_ERR_IO);
    assert_int_equal(cof_model_save(m, "/no/such/folder/model", &err), COF_ERR_IO);
    assert_null(none);
    cof_model_free(m);
    cof_model_free(again);
    cof_table_free(t);
}

/* ---- Files of other versions -------------------------------------------------------------------- */

/* tests/data/model_v1.cofm holds small_model() as the first version wrote it, and must stay readable. */
static void assert_same_distances(const cof_model *a, const cof_model *b)
{
    for (size_t r = 0; r < cof_model_n_attributes(a); r++) {
        cof_attribute view = {.struct_size = sizeof view};
        assert_int_equal(cof_model_attribute(a, r, &view), COF_OK);
        for (uint32_t u = 0; view.used && u < view.n_values; u++)
            for (uint32_t v = 0; v < view.n_values; v++)
                assert_near(cof_model_distance(a, r, u, v), cof_model_distance(b, r, u, v), 1e-15);
    }
}

static void the_first_versions_file(void **state)
{
    (void)state;
    static const char *const names[] = {"level", "größe", "constant", "number"};
    static const uint32_t n_values[] = {3, 3, 1, 2};
    static const int32_t labels[] = {0, 1, 1, 0, 1, 1, 0, 0};
    static const double counts[3][2] = {{3, 0}, {1, 2}, {0, 2.5}}; /* of low, mid, high */
    int32_t label[8];
    cof_model *m = NULL;
    cof_error err;
    assert_status(cof_model_load(NULL, COF_TEST_DATA "/model_v1.cofm", &m, &err), COF_OK, &err);
    assert_int_equal(cof_model_k(m), 2);
    assert_string_equal(cof_model_method(m), "coforest");
    assert_int_equal(cof_model_variant(m), COF_VARIANT_PAPER);
    assert_int_equal(cof_model_missing(m), COF_MISSING_VALUE);
    assert_int_equal(cof_model_n_attributes(m), 4);
    for (size_t a = 0; a < 4; a++) {
        cof_attribute view = {.struct_size = sizeof view};
        assert_int_equal(cof_model_attribute(m, a, &view), COF_OK);
        assert_string_equal(view.name, names[a]);
        assert_int_equal(view.n_values, n_values[a]);
        assert_int_equal(view.used, a != 2);
        assert_int_equal(view.ordinal, a == 0);
    }
    assert_true(cof_model_sizes(m)[0] == 4 && cof_model_sizes(m)[1] == 4.5);
    for (uint32_t v = 0; v < 3; v++)
        for (uint32_t j = 0; j < 2; j++) assert_true(cof_model_count(m, 0, v, j) == counts[v][j]);
    assert_string_equal(cof_model_value(m, 0, 2), "high");
    assert_string_equal(cof_model_value(m, 1, 1), "é");
    assert_near(cof_model_distance(m, 0, 0, 2), sqrt(2), 1e-15);
    size_t n;
    const cof_restart_record *record = cof_model_restarts(m, &n);
    assert_int_equal(n, 1);
    assert_int_equal(record->stop_reason, COF_STOP_CONVERGED);
    assert_int_equal(record->passes, 1);
    assert_near(record->objective, 2.4617791641309434, 1e-15);
    assert_near(record->log_likelihood, -25.648639941717416, 1e-12);
    const cof_pass_record *history = cof_model_history(m, &n);
    assert_int_equal(n, 1);
    assert_int_equal(history->moved, 0);
    cof_table *t = small_table();
    assert_status(cof_model_predict(m, t, 1, label, 8, NULL, &err), COF_OK, &err);
    assert_memory_equal(label, labels, sizeof labels);
    cof_model *today = small_model(t); /* a fit of today finds the same; logarithms may round elsewhere */
    assert_same_distances(m, today); /* edges of a stated order are listed along the line since version 0.2 */
    assert_same_attributes(m, today);
    assert_same_answers(m, today, t, 1e-12);
    cof_model_free(today);
    cof_model_free(m);
    cof_table_free(t);
}

typedef struct section {
    size_t at, n; /* header included */
    uint32_t tag;
} section;

static section nth_section(file f, size_t which)
{
    section s = {.at = BODY_AT};
    for (size_t i = 0;; i++) {
        cofi_reader r = {.bytes = f.bytes + s.at, .n = f.n - s.at};
        s.tag = cofi_get_u32(&r);
        s.n = 12 + (size_t)cofi_get_u64(&r);
        if (i == which) return s;
        s.at += s.n;
    }
}

static section section_of(file f, uint32_t tag)
{
    for (size_t i = 0;; i++) {
        section s = nth_section(f, i);
        assert_true(s.at < f.n - 4);
        if (s.tag == tag) return s;
    }
}

/* A copy with `n_out` bytes at a place replaced by others, sealed. */
static file spliced(file f, size_t at, size_t n_out, const void *in, size_t n_in)
{
    file g = {.bytes = get_zero(f.n - n_out + n_in, 1), .n = f.n - n_out + n_in};
    memcpy(g.bytes, f.bytes, at);
    if (n_in > 0) memcpy(g.bytes + at, in, n_in);
    memcpy(g.bytes + at + n_in, f.bytes + at + n_out, f.n - at - n_out);
    seal(g);
    return g;
}

static cof_status load_status(file f, cof_error *err)
{
    cof_model *m = NULL;
    cof_status status = cof_model_load_memory(NULL, "test", f.bytes, f.n, &m, err);
    assert_int_equal(m != NULL, status == COF_OK);
    cof_model_free(m);
    return status;
}

static void later_sections_are_skipped(void **state)
{
    (void)state;
    static const unsigned char news[] = {99, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 'h', 'e', 'l', 'l', 'o'};
    file f = small_file();
    cof_model *whole = load(f);
    for (size_t i = 1; nth_section(f, i).at < f.n - 4; i++) {
        file g = spliced(f, nth_section(f, i).at, 0, news, sizeof news);
        cof_model *m = load(g);
        assert_same_model(m, whole);
        cof_model_free(m);
        free(g.bytes);
    }
    cof_model_free(whole);
    free(f.bytes);
}

static void a_file_without_a_method_is_coforests(void **state)
{
    (void)state;
    file f = small_file();
    section s = section_of(f, 6);
    file g = spliced(f, s.at, s.n, NULL, 0);
    cof_model *whole = load(f), *m = load(g);
    assert_same_model(m, whole);
    cof_model_free(whole);
    cof_model_free(m);
    free(f.bytes);
    free(g.bytes);
}

static void a_file_that_says_nothing_kept_the_likeliest(void **state)
{
    (void)state;
    cof_table *t = random_table(8, 120, 6, 4, 5);
    cof_fit_options o = {.struct_size = sizeof o, .k = 4, .restarts = 8, .select = COF_SELECT_OBJECTIVE};
    cof_model *m = fit_model(t, &o, NULL);
    size_t n, likeliest = 0;
    const cof_restart_record *record = cof_model_restarts(m, &n);
    for (size_t i = 1; i < n; i++)
        if (record[i].log_likelihood > record[likeliest].log_likelihood) likeliest = i;
    file f = saved(m);
    section s = section_of(f, 8);
    file g = spliced(f, s.at, s.n, NULL, 0);
    cof_model *again = load(g);
    assert_int_equal(cof_model_best_restart(again), likeliest);
    assert_int_equal(cof_model_select(again), COF_SELECT_LIKELIHOOD);
    cof_model_free(again);
    cof_model_free(m);
    cof_table_free(t);
    free(f.bytes);
    free(g.bytes);
}

static void newer_files_say_so(void **state)
{
    (void)state;
    cof_error err;
    file f = small_file();
    put_number(f.bytes + 8, 4, 4); /* the format */
    seal(f);
    assert_int_equal(load_status(f, &err), COF_ERR_TOO_NEW);
    assert_non_null(strstr(err.text, "format 3"));
    put_number(f.bytes + 8, 1, 4);
    seal(f);
    assert_int_equal(load_status(f, &err), COF_OK);
    free(f.bytes);
}

/* Scores label rows alike, whatever made them: a method that this version does not have is as good as any. */
static void a_method_need_not_be_known(void **state)
{
    (void)state;
    cof_error err;
    cof_table *t = small_table();
    file f = small_file();
    section s = section_of(f, 6);
    cof_model *known = load(f);
    f.bytes[s.at + 16] = 'x'; /* "coforest" becomes "xoforest" */
    seal(f);
    cof_model *unknown = load(f);
    assert_string_equal(cof_model_method(unknown), "xoforest");
    assert_same_answers(known, unknown, t, 0);
    cof_model_free(known);
    cof_model_free(unknown);
    static const unsigned char wrong[] = {'X', ' ', '\0', '\n', '/', 0x80, '"'};
    for (size_t w = 0; w < sizeof wrong; w++) {
        f.bytes[s.at + 16] = wrong[w];
        seal(f);
        assert_int_equal(load_status(f, &err), COF_ERR_MODEL);
        assert_non_null(strstr(err.text, "method"));
    }
    cof_table_free(t);
    free(f.bytes);
}

/* ---- Damaged files ------------------------------------------------------------------------------ */

static void what_is_no_model(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "", "C", "COFOREST", "a,b,c\n1,2,3\n", "COFOREST\1\0\0\0", "coforest is not the magic word"};
    cof_error err;
    for (size_t i = 0; i < COUNT(texts); i++) {
        file f = {(unsigned char *)texts[i], strlen(texts[i])};
        assert_int_equal(load_status(f, &err), COF_ERR_MODEL);
    }
    file nothing = {NULL, 0};
    assert_int_equal(load_status(nothing, &err), COF_ERR_MODEL);
    assert_int_equal(load_status(nothing, NULL), COF_ERR_MODEL);
}

static void every_truncation(void **state)
{
    (void)state;
    file f = small_file();
    for (size_t n = 0; n < f.n; n++) {
        file g = {.bytes = get_zero(n, 1), .n = n}; /* its own block, so that one byte too far is seen */
        memcpy(g.bytes, f.bytes, n);
        assert_int_equal(load_status(g, NULL), COF_ERR_MODEL);
        free(g.bytes);
    }
    free(f.bytes);
}

static void every_changed_byte(void **state)
{
    (void)state;
    file f = small_file();
    for (size_t at = 0; at < f.n; at++) {
        const unsigned char was = f.bytes[at];
        for (int bit = 0; bit < 8; bit++) {
            f.bytes[at] = was ^ (unsigned char)(1 << bit);
            cof_status status = load_status(f, NULL);
            assert_true(status == COF_ERR_MODEL || (status == COF_ERR_TOO_NEW && at >= 8 && at < 12));
        }
        f.bytes[at] = was;
    }
    free(f.bytes);
}

static int swallow(void *ctx, const char *text, size_t n_bytes)
{
    (void)text;
    *(size_t *)ctx += n_bytes;
    return 0;
}

/* A damaged file that happens to make sense must behave like any other model. */
static void use_model(const cof_model *m, const cof_table *t)
{
    int32_t label[8];
    size_t drawn = 0;
    double *distance = get_zero(8 * (size_t)cof_model_k(m), sizeof *distance);
    (void)cof_model_predict(m, t, 1, label, 8, NULL, NULL);
    (void)cof_model_transform(m, t, 1, distance, 8 * (size_t)cof_model_k(m), NULL);
    for (size_t a = 0; a < cof_model_n_attributes(m); a++) {
        cof_attribute view = {.struct_size = sizeof view};
        assert_int_equal(cof_model_attribute(m, a, &view), COF_OK);
        for (uint32_t v = 0; v < view.n_values; v++) {
            assert_non_null(cof_model_value(m, a, v));
            (void)cof_model_distance(m, a, 0, v);
            (void)cof_model_profile(m, a, v, 0);
        }
        for (int32_t drawing = COF_DRAW_TEXT; drawing <= COF_DRAW_JSON; drawing++)
            (void)cof_model_draw_tree(m, a, drawing, swallow, &drawn, NULL);
    }
    cof_error err;
    assert_status(cof_model_save(m, "/dev/null", &err), COF_OK, &err);
    assert_status(cof_report_write(m, NULL, NULL, swallow, &drawn, &err), COF_OK, &err);
    free(distance);
}

static int refuse(void *ctx, const char *text, size_t n_bytes)
{
    (void)text;
    (void)n_bytes;
    ++*(size_t *)ctx;
    return 1;
}

static void load_sealed(file f, const cof_table *t)
{
    cof_model *m = NULL;
    cof_error err;
    seal(f);
    cof_status status = cof_model_load_memory(NULL, "test", f.bytes, f.n, &m, &err);
    assert_true(status == COF_OK || status == COF_ERR_MODEL || status == COF_ERR_TOO_NEW);
    if (status == COF_OK) use_model(m, t);
    cof_model_free(m);
}

static void every_changed_byte_behind_the_checksum(void **state)
{
    (void)state;
    file f = small_file();
    cof_table *t = small_table();
    for (size_t at = 0; at < f.n - 4; at++) {
        const unsigned char was = f.bytes[at];
        const unsigned char become[] = {0x00, 0xFF, was + 1, was - 1, 0x7F, 0x80};
        for (size_t b = 0; b < COUNT(become); b++) {
            f.bytes[at] = become[b];
            load_sealed(f, t);
        }
        f.bytes[at] = was;
    }
    cof_table_free(t);
    free(f.bytes);
}

/* Sections cut short, repeated or left out, with everything around them in order. */
static void every_cut_behind_the_checksum(void **state)
{
    (void)state;
    file f = small_file();
    cof_table *t = small_table();
    for (size_t n = BODY_AT; n < f.n - 4; n++) {
        file g = {.bytes = get_zero(n + 4, 1), .n = n + 4};
        memcpy(g.bytes, f.bytes, n);
        load_sealed(g, t);
        free(g.bytes);
    }
    for (size_t i = 0; nth_section(f, i).at < f.n - 4; i++) {
        section s = nth_section(f, i);
        file gone = spliced(f, s.at, s.n, NULL, 0), twice = spliced(f, s.at, 0, f.bytes + s.at, s.n);
        load_sealed(gone, t);
        load_sealed(twice, t);
        if (s.tag <= 3) assert_int_equal(load_status(gone, NULL), COF_ERR_MODEL);
        if (s.tag == 1 || s.tag == 3) assert_int_equal(load_status(twice, NULL), COF_ERR_MODEL);
        for (size_t shorter = 1; shorter < s.n - 12;
             shorter++) { /* the section's own end, one byte earlier */
            file g = spliced(f, s.at + s.n - shorter, shorter, NULL, 0);
            put_number(g.bytes + s.at + 4, s.n - 12 - shorter, 8);
            load_sealed(g, t);
            free(g.bytes);
        }
        free(gone.bytes);
        free(twice.bytes);
    }
    cof_table_free(t);
    free(f.bytes);
}

/* Sizes far beyond the file must be refused before memory is asked for. */
static void sizes_beyond_the_file(void **state)
{
    (void)state;
    static const uint32_t huge[] = {COF_MOST_CLUSTERS, COF_MOST_CLUSTERS + 1, 1 << 24, INT32_MAX, UINT32_MAX};
    file f = small_file();
    section s = section_of(f, 1);
    for (size_t field = 0; field < 5; field++) { /* k, variant, missing, attributes, values */
        unsigned char was[4];
        memcpy(was, f.bytes + s.at + 12 + 4 * field, 4);
        for (size_t h = 0; h < COUNT(huge); h++) {
            put_number(f.bytes + s.at + 12 + 4 * field, huge[h], 4);
            seal(f);
            assert_int_equal(load_status(f, NULL), COF_ERR_MODEL);
        }
        memcpy(f.bytes + s.at + 12 + 4 * field, was, 4);
    }
    free(f.bytes);
}

/* "The last value is the missing one" of an attribute without values. */
static void a_missing_value_among_none(void **state)
{
    (void)state;
    file f = small_file();
    section s = nth_section(f, 5); /* model, clusters, method, level, größe, constant */
    assert_memory_equal(f.bytes + s.at + 16, "constant", 8);
    file g = spliced(f, s.at + s.n - 5, 5, NULL, 0); /* its one value, "x" */
    put_number(g.bytes + s.at + 4, s.n - 12 - 5, 8);
    put_number(g.bytes + s.at + 27, 0, 4); /* values */
    seal(g);
    assert_int_equal(load_status(g, NULL), COF_OK);
    g.bytes[s.at + 26] = 1; /* the last one is missing */
    seal(g);
    assert_int_equal(load_status(g, NULL), COF_ERR_MODEL);
    free(f.bytes);
    free(g.bytes);
}

static file file_of_restarts(void)
{
    cof_table *t = random_table(8, 120, 6, 4, 5);
    cof_fit_options o = {.struct_size = sizeof o, .k = 4, .restarts = 8};
    cof_model *m = fit_model(t, &o, NULL);
    file f = saved(m);
    cof_model_free(m);
    cof_table_free(t);
    return f;
}

/* One number of a section becomes another that no fit can leave. */
typedef struct impossible {
    uint32_t tag;
    size_t at, n; /* in the section's content; bytes */
    uint64_t bits;
} impossible;

#define F64_NAN  UINT64_C(0x7FF8000000000000)
#define F64_INF  UINT64_C(0x7FF0000000000000)
#define F64_1E99 UINT64_C(0x547D42AEA2879F2E)
#define F64_TINY UINT64_C(0x0000000000000001)

static void numbers_no_fit_can_leave(void **state)
{
    (void)state;
    static const impossible cases[] = {
        {1, 20, 8, F64_NAN},    {1, 20, 8, 0},
        {1, 20, 8, F64_1E99},                        /* unit */
        {1, 28, 8, F64_TINY},   {1, 28, 8, F64_INF}, /* scale */
        {2, 0, 8, F64_NAN},     {2, 0, 8, F64_INF},
        {2, 0, 8, F64_1E99},                            /* size */
        {2, 0, 8, 0},                                   /* fewer rows than values */
        {4, 0, 8, F64_NAN},     {4, 0, 8, F64_INF},     /* objective */
        {4, 8, 8, F64_NAN},                             /* likelihood */
        {4, 16, 4, UINT32_MAX}, {4, 20, 4, UINT32_MAX}, /* rebuilds, passes */
        {4, 24, 4, 4},          {4, 24, 4, UINT32_MAX}, /* stop reason */
        {5, 0, 4, 8},           {5, 0, 4, UINT32_MAX},
        {5, 4, 4, UINT32_MAX}, /* restart, rebuild */
        {5, 8, 4, 0},           {5, 8, 4, UINT32_MAX - 5},
        {5, 8, 4, 1000000},                          /* pass: 10 short of 2^32 looped for ever */
        {5, 12, 8, F64_NAN},    {5, 12, 8, F64_INF}, /* objective */
        {7, 0, 8, F64_1E99},    {7, 8, 8, F64_NAN},  /* agreement: 1e300 overran a text */
        {8, 0, 4, 0},           {8, 0, 4, 5},
        {8, 4, 4, 8},           {8, 8, 8, F64_NAN}, /* select, kept, criterion */
        {10, 0, 4, 0},          {10, 0, 4, 8},
        {10, 4, 8, F64_1E99}, /* restarts compared, agreement */
    };
    file f = file_of_restarts();
    for (size_t i = 0; i < COUNT(cases); i++) {
        file g = spliced(f, 0, 0, NULL, 0);
        section s = section_of(g, cases[i].tag);
        put_number(g.bytes + s.at + 12 + cases[i].at, cases[i].bits, cases[i].n);
        seal(g);
        if (load_status(g, NULL) != COF_ERR_MODEL) fail_msg("case %zu, tag %u", i, cases[i].tag);
        free(g.bytes);
    }
    free(f.bytes);
}

/* Without its restarts a model used to crash the report. */
static void sections_that_belong_together(void **state)
{
    (void)state;
    static const uint32_t gone[][4] = {{4}, {4, 7, 8}, {4, 5}, {4, 5, 7, 8}, {2}, {1}};
    file f = file_of_restarts();
    for (size_t i = 0; i < COUNT(gone); i++) {
        file g = spliced(f, 0, 0, NULL, 0);
        for (size_t j = 0; j < 4 && gone[i][j] != 0; j++) {
            section s = section_of(g, gone[i][j]);
            file without = spliced(g, s.at, s.n, NULL, 0);
            free(g.bytes);
            g = without;
        }
        assert_int_equal(load_status(g, NULL), COF_ERR_MODEL);
        free(g.bytes);
    }
    for (uint32_t tag = 1; tag <= 10; tag++) {
        if (tag == 9) continue; /* only where k was to be found */
        section s = section_of(f, tag);
        file twice = spliced(f, s.at + s.n, 0, f.bytes + s.at, s.n);
        file longer = spliced(f, s.at + s.n, 0, "", 1);
        put_number(longer.bytes + s.at + 4, s.n - 12 + 1, 8);
        seal(longer);
        assert_int_equal(load_status(twice, NULL), COF_ERR_MODEL);
        assert_int_equal(load_status(longer, NULL), COF_ERR_MODEL);
        free(twice.bytes);
        free(longer.bytes);
    }
    free(f.bytes);
}

static void two_columns_of_one_name(void **state)
{
    (void)state;
    cof_error err;
    file f = small_file();
    section s = nth_section(f, 5);
    assert_memory_equal(f.bytes + s.at + 16, "constant", 8);
    file g = spliced(f, s.at + 12, 12, "\5\0\0\0level", 9);
    put_number(g.bytes + s.at + 4, s.n - 12 - 3, 8);
    seal(g);
    assert_int_equal(load_status(g, &err), COF_ERR_MODEL);
    assert_non_null(strstr(err.text, "two columns have one name"));
    free(f.bytes);
    free(g.bytes);
}

/* What never ends is refused by its first bytes; what announces too much, before it is read. */
static void endless_files(void **state)
{
    (void)state;
    cof_model *m = NULL;
    cof_error err;
    assert_int_equal(cof_model_load(NULL, "/dev/zero", &m, &err), COF_ERR_MODEL);
    assert_string_equal(err.text, "/dev/zero: this is not a coforest model file");
    char path[] = "/tmp/coforest-test-XXXXXX";
    int fd = mkstemp(path);
    unsigned char head[BODY_AT] = "COFOREST\1";
    put_number(head + LENGTH_AT, UINT64_C(1) << 40, 8);
    assert_int_equal(write(fd, head, sizeof head), sizeof head);
    assert_int_equal(ftruncate(fd, (off_t)1 << 41), 0); /* a hole */
    close(fd);
    assert_int_equal(cof_model_load(NULL, path, &m, &err), COF_ERR_MODEL);
    unlink(path);
    assert_null(m);
}

static void a_receiver_that_refuses(void **state)
{
    (void)state;
    size_t n_calls = 0;
    file f = file_of_restarts();
    cof_model *m = load(f);
    assert_int_equal(cof_report_write(m, NULL, NULL, refuse, &n_calls, NULL), COF_ERR_IO);
    assert_int_equal(n_calls, 1);
    assert_int_equal(cof_model_write(m, refuse, &n_calls, NULL), COF_ERR_IO);
    assert_int_equal(n_calls, 2);
    cof_model_free(m);
    free(f.bytes);
}

int main(int argc, char **argv)
{
    /* test_model_file --write PATH made tests/data/model_v1.cofm, once */
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        cof_table *t = small_table();
        cof_model *m = small_model(t);
        cof_status status = cof_model_save(m, argv[2], NULL);
        cof_model_free(m);
        cof_table_free(t);
        return status != COF_OK;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_saved_is_loaded),
        cmocka_unit_test(files_by_name),
        cmocka_unit_test(the_first_versions_file),
        cmocka_unit_test(later_sections_are_skipped),
        cmocka_unit_test(a_file_without_a_method_is_coforests),
        cmocka_unit_test(a_file_that_says_nothing_kept_the_likeliest),
        cmocka_unit_test(newer_files_say_so),
        cmocka_unit_test(a_method_need_not_be_known),
        cmocka_unit_test(what_is_no_model),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_changed_byte),
        cmocka_unit_test(every_changed_byte_behind_the_checksum),
        cmocka_unit_test(every_cut_behind_the_checksum),
        cmocka_unit_test(sizes_beyond_the_file),
        cmocka_unit_test(a_missing_value_among_none),
        cmocka_unit_test(numbers_no_fit_can_leave),
        cmocka_unit_test(sections_that_belong_together),
        cmocka_unit_test(two_columns_of_one_name),
        cmocka_unit_test(endless_files),
        cmocka_unit_test(a_receiver_that_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
