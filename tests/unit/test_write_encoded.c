/* Encoded tables that are written: the same table comes back, whatever pieces it came in. */
#include "unit_helper.h"

#include "alloc_helper.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct paths {
    char csv[64], encoded[64];
} paths;

static paths make_paths(void)
{
    paths p;
    snprintf(p.csv, sizeof p.csv, "/tmp/coforest-encoded-%ld.csv", (long)getpid());
    snprintf(p.encoded, sizeof p.encoded, "/tmp/coforest-encoded-%ld.cofe", (long)getpid());
    return p;
}

static void remove_paths(const paths *p)
{
    unlink(p->csv);
    unlink(p->encoded);
}

/* Columns of few, 300 and many values; missing cells whose first text differs from the later ones. */
static void write_csv(const char *path, size_t n_rows)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("few,some,many,\"a \"\"name\"\"\"\n", f);
    for (size_t i = 0; i < n_rows; i++)
        fprintf(f, "%c,%zu,id%zu,%s\n", (int)('a' + i % 3), i * 7 % 300, n_rows - i,
                i % 5 == 4    ? "NA"
                : i % 11 == 7 ? "?"
                              : "\"x,y\"");
    assert_int_equal(fclose(f), 0);
}

static cof_status encode(const cof_env *env, const char *from, const char *to, int n_times, cof_error *err)
{
    cof_encoding *e;
    cof_status status = cof_encoding_open(env, to, &e, err);
    if (status != COF_OK) return status;
    for (int i = 0; i < n_times && status == COF_OK; i++)
        status = cof_table_read_pieces(env, from, NULL, cof_encoding_piece, e, err);
    if (status == COF_OK) status = cof_encoding_finish(e, err);
    cof_encoding_free(e);
    return status;
}

static cof_table *read_table(const char *path)
{
    cof_table *table = NULL;
    cof_error err;
    assert_status(cof_table_read(NULL, path, NULL, &table, &err), COF_OK, &err);
    return table;
}

/* Rows of b are those of a, over and over. */
static void assert_same_tables(const cof_table *a, const cof_table *b, size_t n_times)
{
    size_t n = cof_table_n_rows(a);
    assert_int_equal(cof_table_n_rows(b), n * n_times);
    assert_int_equal(cof_table_n_columns(a), cof_table_n_columns(b));
    for (size_t c = 0; c < cof_table_n_columns(a); c++) {
        cof_column x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
        assert_int_equal(cof_table_column(a, c, &x), COF_OK);
        assert_int_equal(cof_table_column(b, c, &y), COF_OK);
        assert_string_equal(x.name, y.name);
        assert_string_equal(x.missing_text, y.missing_text);
        assert_int_equal(x.n_values, y.n_values);
        assert_int_equal(x.n_missing * n_times, y.n_missing);
        assert_int_equal(x.role, y.role);
        for (uint32_t v = 0; v < x.n_values; v++)
            assert_string_equal(cof_table_value(a, c, v), cof_table_value(b, c, v));
        for (size_t i = 0; i < n * n_times; i++)
            if (cof_table_code(a, i % n, c) != cof_table_code(b, i, c))
                fail_msg("row %zu of column %zu differs", i, c);
    }
}

static void the_table_comes_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 65535, 65536, 65537, 140000};
    paths p = make_paths();
    cof_error err;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        int n_times = s < 2 ? 3 : 1; /* several files are one table */
        write_csv(p.csv, sizes[s]);
        assert_status(encode(NULL, p.csv, p.encoded, n_times, &err), COF_OK, &err);
        cof_table *a = read_table(p.csv), *b = read_table(p.encoded);
        assert_true(cof_table_is_encoded(b) && !cof_table_is_encoded(a));
        assert_same_tables(a, b, (size_t)n_times);
        cof_table_free(a);
        cof_table_free(b);
    }
    remove_paths(&p);
}

static void an_encoded_table_can_be_encoded(void **state)
{
    (void)state;
    paths p = make_paths();
    cof_error err;
    write_csv(p.csv, 70000);
    assert_status(encode(NULL, p.csv, p.encoded, 1, &err), COF_OK, &err);
    cof_table *a = read_table(p.csv);
    assert_status(encode(NULL, p.encoded, p.encoded, 2, &err), COF_OK, &err);
    cof_table *b = read_table(p.encoded);
    assert_same_tables(a, b, 2);
    cof_table_free(a);
    cof_table_free(b);
    remove_paths(&p);
}

/* Damage in other blocks than those of the rows asked for is not looked at. */
static void a_stretch_of_rows_is_read_alone(void **state)
{
    (void)state;
    static const struct {
        uint64_t first, n;
    } stretches[] = {{0, 1}, {0, 65536}, {65535, 2}, {70000, 9}, {65536, 0}, {199999, 1}, {0, 200000}};
    paths p = make_paths();
    cof_error err;
    write_csv(p.csv, 200000);
    assert_status(encode(NULL, p.csv, p.encoded, 1, &err), COF_OK, &err);
    cof_table *whole = read_table(p.csv), *part = NULL;
    cof_read_options o = {.struct_size = sizeof o};
    for (size_t s = 0; s < COUNT(stretches); s++) {
        o.first_row = stretches[s].first, o.n_rows = stretches[s].n;
        assert_status(cof_table_read(NULL, p.encoded, &o, &part, &err), COF_OK, &err);
        size_t n = cof_table_n_rows(part);
        assert_int_equal(n, o.n_rows > 0 ? o.n_rows : 200000 - o.first_row);
        for (size_t c = 0; c < cof_table_n_columns(part); c++) {
            cof_column view = {.struct_size = sizeof view};
            uint64_t n_missing = 0;
            assert_int_equal(cof_table_column(part, c, &view), COF_OK);
            for (size_t i = 0; i < n; i++) {
                uint32_t code = cof_table_code(part, i, c);
                if (code != cof_table_code(whole, o.first_row + i, c)) fail_msg("row %zu differs", i);
                n_missing += code == view.n_values;
            }
            assert_int_equal(view.n_missing, n_missing);
        }
        cof_table_free(part);
    }
    part = NULL;
    o.first_row = 200000, o.n_rows = 0;
    assert_status(cof_table_read(NULL, p.encoded, &o, &part, &err), COF_ERR_ARGUMENT, &err);
    o.first_row = 1, o.n_rows = 200000;
    assert_status(cof_table_read(NULL, p.encoded, &o, &part, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_table_read(NULL, p.csv, &o, &part, &err), COF_ERR_UNSUPPORTED, &err);
    assert_status(cof_table_read(NULL, "/nosuch.cofe", &o, &part, &err), COF_ERR_IO, &err);
    FILE *f = fopen(p.encoded, "r+"); /* the checksum of the last column's last block */
    assert_true(f != NULL && fseek(f, -1, SEEK_END) == 0 && fputc('x', f) == 'x' && fclose(f) == 0);
    o.first_row = 0, o.n_rows = 65536;
    assert_status(cof_table_read(NULL, p.encoded, &o, &part, &err), COF_OK, &err);
    cof_table_free(part);
    part = NULL;
    o.first_row = 150000;
    o.n_rows = 0;
    assert_status(cof_table_read(NULL, p.encoded, &o, &part, &err), COF_ERR_DATA, &err);
    cof_table_free(whole);
    remove_paths(&p);
}

/* A stated order renumbers codes and a cut adds columns, in memory alone. */
static void using_it_leaves_the_file_alone(void **state)
{
    (void)state;
    paths p = make_paths();
    cof_error err;
    const char *order[] = {"c", "a", "b"};
    cof_cut_options bins = {.struct_size = sizeof bins, .bins = 4};
    cof_fit_info info[2] = {{.struct_size = sizeof *info}, {.struct_size = sizeof *info}};
    cof_fit_options o = {.struct_size = sizeof o, .k = 3, .threads = 1, .restarts = 3};
    cof_model *model[2];
    write_csv(p.csv, 3000);
    assert_status(encode(NULL, p.csv, p.encoded, 1, &err), COF_OK, &err);
    for (int i = 0; i < 2; i++) {
        cof_table *t = read_table(i == 0 ? p.csv : p.encoded);
        assert_status(cof_table_set_role(t, 2, COF_ROLE_IGNORED, &err), COF_OK, &err);
        assert_status(cof_table_set_order(t, 0, order, 3, &err), COF_OK, &err);
        assert_status(cof_table_cut(t, 1, &bins, &err), COF_OK, &err);
        model[i] = fit_model(t, &o, &info[i]);
        cof_table_free(t);
    }
    assert_same_labels(model[0], model[1]);
    assert_true(info[0].objective == info[1].objective && info[0].log_likelihood == info[1].log_likelihood);
    cof_table *a = read_table(p.csv), *b = read_table(p.encoded);
    assert_same_tables(a, b, 1);
    cof_table_free(a);
    cof_table_free(b);
    for (int i = 0; i < 2; i++) cof_model_free(model[i]);
    remove_paths(&p);
}

static void generated_pieces_are_the_generated_table(void **state)
{
    (void)state;
    paths p = make_paths();
    cof_error err;
    for (int32_t kind = COF_GENERATE_UNIFORM; kind <= COF_GENERATE_MIXED; kind++) {
        cof_generate_options o = {.struct_size = sizeof o, .kind = kind, .n_rows = 65536 + 100};
        cof_table *whole = NULL;
        cof_encoding *e;
        if (kind == COF_GENERATE_UNIFORM) o.n_rows = 65536;
        assert_status(cof_table_generate(NULL, &o, &whole, &err), COF_OK, &err);
        assert_status(cof_encoding_open(NULL, p.encoded, &e, &err), COF_OK, &err);
        assert_status(cof_table_generate_pieces(NULL, &o, cof_encoding_piece, e, &err), COF_OK, &err);
        assert_status(cof_encoding_finish(e, &err), COF_OK, &err);
        cof_encoding_free(e);
        cof_table *b = read_table(p.encoded);
        size_t last = cof_table_n_columns(whole) - 1;
        assert_status(cof_table_set_role(whole, last, COF_ROLE_ATTRIBUTE, &err), COF_OK, &err);
        assert_same_tables(whole, b, 1);
        cof_table_free(whole);
        cof_table_free(b);
    }
    assert_status(cof_table_generate_pieces(NULL, NULL, NULL, NULL, &err), COF_ERR_ARGUMENT, &err);
    remove_paths(&p);
}

static void other_columns_are_refused(void **state)
{
    (void)state;
    paths p = make_paths();
    cof_error err;
    cof_encoding *e;
    cof_table *two = table_of((int32_t[]){0, 1, 1, 0}, 2, 2), *one = table_of((int32_t[]){0, 1}, 2, 1),
              *named;
    const char *names[] = {"V1", "other"};
    assert_status(cof_table_from_codes(NULL, (int32_t[]){0, 1}, 1, 2, names, &named, &err), COF_OK, &err);
    assert_status(cof_encoding_open(NULL, p.encoded, &e, &err), COF_OK, &err);
    assert_status(cof_encoding_finish(e, &err), COF_ERR_DATA, &err);
    assert_non_null(strstr(err.text, "no rows"));
    assert_status(cof_encoding_add(e, two, &err), COF_OK, &err);
    assert_status(cof_encoding_add(e, one, &err), COF_ERR_DATA, &err);
    assert_string_equal(err.text,
                        "parts of one table must have the same columns, but one has 2 and another has 1");
    assert_status(cof_encoding_add(e, named, &err), COF_ERR_DATA, &err);
    assert_non_null(strstr(err.text, "column 2 is 'V2' in one and 'other' in another"));
    cof_encoding_free(e);
    assert_int_equal(access(p.encoded, F_OK), -1); /* nothing appears before it is finished */
    assert_status(cof_encoding_open(NULL, "/nosuch/table.cofe", &e, &err), COF_ERR_IO, &err);
    assert_status(cof_encoding_open(NULL, NULL, &e, &err), COF_ERR_ARGUMENT, &err);
    cof_table_free(one);
    cof_table_free(two);
    cof_table_free(named);
}

static cof_status refuse(void *ctx, const cof_table *piece, uint64_t first_row, cof_error *err)
{
    size_t *n_pieces = ctx;
    assert_int_equal(first_row, *n_pieces * 65536);
    assert_true(cof_table_n_rows(piece) <= 65536);
    return ++*n_pieces == 2 ? cofi_fail(err, COF_ERR_BACKEND, "enough") : COF_OK;
}

static void a_visitor_can_end_the_reading(void **state)
{
    (void)state;
    paths p = make_paths();
    cof_error err;
    write_csv(p.csv, 200000);
    assert_status(encode(NULL, p.csv, p.encoded, 1, &err), COF_OK, &err);
    const char *both[] = {p.csv, p.encoded};
    for (int i = 0; i < 2; i++) {
        size_t n_pieces = 0;
        assert_status(cof_table_read_pieces(NULL, both[i], NULL, refuse, &n_pieces, &err), COF_ERR_BACKEND,
                      &err);
        assert_string_equal(err.text, "enough");
        assert_int_equal(n_pieces, 2);
        uint32_t left = 2;
        cof_env env = {.struct_size = sizeof env, .should_stop = stop_soon, .ctx = &left};
        n_pieces = 10; /* the first row would not be right, but nobody is asked */
        assert_status(cof_table_read_pieces(&env, both[i], NULL, refuse, &n_pieces, &err), COF_ERR_STOPPED,
                      &err);
    }
    assert_status(cof_table_read_pieces(NULL, p.csv, NULL, NULL, NULL, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_table_read_pieces(NULL, "/nosuch.csv", NULL, refuse, NULL, &err), COF_ERR_IO, &err);
    remove_paths(&p);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    paths p = make_paths();
    cof_error err;
    write_csv(p.csv, 40);
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = encode(&env, p.csv, p.encoded, 2, &err);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_status(status, COF_ERR_MEMORY, &err);
        assert_int_equal(access(p.encoded, F_OK), -1);
    }
    remove_paths(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_comes_back),
        cmocka_unit_test(an_encoded_table_can_be_encoded),
        cmocka_unit_test(a_stretch_of_rows_is_read_alone),
        cmocka_unit_test(using_it_leaves_the_file_alone),
        cmocka_unit_test(generated_pieces_are_the_generated_table),
        cmocka_unit_test(other_columns_are_refused),
        cmocka_unit_test(a_visitor_can_end_the_reading),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
