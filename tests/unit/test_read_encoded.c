/* Encoded tables that are read: damage is told in one sentence, wherever it is. */
#include "unit_helper.h"

#include "../../src/table/file/encoded.h"
#include "alloc_helper.h"

#include <unistd.h>

typedef struct file {
    unsigned char *bytes;
    size_t n;
} file;

static const char *path(void)
{
    static char text[64];
    snprintf(text, sizeof text, "/tmp/coforest-read-encoded-%ld.cofe", (long)getpid());
    return text;
}

static file encode(const cof_table *table)
{
    cof_encoding *e;
    cof_error err;
    assert_status(cof_encoding_open(NULL, path(), &e, &err), COF_OK, &err);
    assert_status(cof_encoding_add(e, table, &err), COF_OK, &err);
    assert_status(cof_encoding_finish(e, &err), COF_OK, &err);
    cof_encoding_free(e);
    FILE *f = fopen(path(), "rb");
    assert_non_null(f);
    file made = {.bytes = get_zero(1 << 20, 1)};
    made.n = fread(made.bytes, 1, 1 << 20, f);
    fclose(f);
    return made;
}

static file small_file(void)
{
    int32_t codes[30 * 3];
    for (int32_t i = 0; i < 30; i++) {
        codes[3 * i] = i % 4;
        codes[3 * i + 1] = i % 7 == 0 ? -1 : i % 3;
        codes[3 * i + 2] = i;
    }
    cof_table *table = table_of(codes, 30, 3);
    file f = encode(table);
    cof_table_free(table);
    return f;
}

static cof_status read_bytes(const cof_env *env, file f, cof_table **table, cof_error *err)
{
    return cof_table_read_memory(env, "t.cofe", f.bytes, f.n, NULL, table, err);
}

static void put_u64(unsigned char *to, uint64_t x)
{
    for (int i = 0; i < 8; i++) to[i] = (unsigned char)(x >> (8 * i));
}

static void seal_head(file f)
{
    put_u64(f.bytes + COFI_ENCODED_HEAD - 8, cofi_checksum(f.bytes, COFI_ENCODED_HEAD - 8));
}

/* No byte of the file is without a check. */
static void every_changed_byte_is_noticed(void **state)
{
    (void)state;
    file f = small_file();
    cof_table *table;
    cof_error err;
    for (size_t at = 8; at < f.n; at++) {
        unsigned char was = f.bytes[at];
        f.bytes[at] ^= 0x41;
        cof_status status = read_bytes(NULL, f, &table, &err);
        if (status == COF_OK) { /* a gap between columns */
            assert_int_equal(was, 0);
            cof_table_free(table);
        } else if (status != COF_ERR_TOO_NEW) {
            assert_status(status, COF_ERR_DATA, &err);
            assert_non_null(strstr(err.text, "t.cofe is a damaged encoded table: "));
        }
        f.bytes[at] = was;
    }
    free(f.bytes);
    unlink(path());
}

static void every_shorter_or_longer_file_is_noticed(void **state)
{
    (void)state;
    file f = small_file();
    cof_table *table;
    cof_error err;
    size_t n = f.n;
    for (f.n = 8; f.n < n + 20; f.n++) {
        if (f.n == n) continue;
        assert_status(read_bytes(NULL, f, &table, &err), COF_ERR_DATA, &err);
    }
    free(f.bytes);
    unlink(path());
}

/* Numbers that are sealed but absurd. */
static void absurd_heads_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at, n_bytes;
        uint64_t value;
        const char *sentence;
    } cases[] = {{8, 4, 2, "has format 2, but this program knows encoded tables up to format 1"},
                 {8, 4, 0, "its first bytes are wrong"},
                 {12, 4, 1, "its first bytes are wrong"},
                 {16, 8, UINT64_MAX, "its parts contradict each other"},
                 {16, 8, 29, "its parts contradict each other"},
                 {24, 4, 2, "its parts contradict each other"},
                 {32, 8, UINT64_MAX, "it is cut off"},
                 {32, 8, 3, "these bytes are not a schema"}};
    cof_table *table;
    cof_error err;
    for (size_t c = 0; c < COUNT(cases); c++) {
        file f = small_file();
        for (size_t i = 0; i < cases[c].n_bytes; i++)
            f.bytes[cases[c].at + i] = (unsigned char)(cases[c].value >> (8 * i));
        seal_head(f);
        cof_status status = read_bytes(NULL, f, &table, &err);
        assert_true(status == COF_ERR_DATA || status == COF_ERR_TOO_NEW);
        if (strstr(err.text, cases[c].sentence) == NULL) fail_msg("%s", err.text);
        free(f.bytes);
    }
    unlink(path());
}

/* Codes above the number of values, or other counts than the schema has, with checksums put right. */
static void codes_that_contradict_the_schema_are_refused(void **state)
{
    (void)state;
    cof_table *table;
    cof_error err;
    for (int code = 0; code < 2; code++) {
        file f = small_file();
        uint64_t n_schema = cofi_word_at(f.bytes + 32), begin;
        begin = cofi_encoded_place(COFI_ENCODED_HEAD + n_schema, 0, 30);
        f.bytes[begin + 5] = code == 0 ? 200 : 0; /* it was 1 */
        put_u64(f.bytes + f.n - 3 * 8, cofi_checksum(f.bytes + begin, 30));
        assert_status(read_bytes(NULL, f, &table, &err), COF_ERR_DATA, &err);
        assert_non_null(strstr(err.text, "a column does not have the codes it should have"));
        free(f.bytes);
    }
    unlink(path());
}

/* A schema may have roles, orders and cuts, and no rows at all; an encoded table may not. */
static void schemas_that_are_no_tables_are_refused(void **state)
{
    (void)state;
    cof_table *table = random_table(3, 20, 2, 3, 2), *none;
    cof_error err;
    for (int how = 0; how < 3; how++) {
        cof_schema *s;
        cofi_writer w = {.env = cofi_env_resolve(NULL)};
        assert_status(cof_schema_of(table, 0, &s, &err), COF_OK, &err);
        if (how == 0) cof_schema_set_role(s, 1, COF_ROLE_LABEL, NULL);
        if (how == 1) s->table.column[0].ordinal = 1;
        if (how == 2) s->table.n_columns = 0, s->n_rows = 0;
        cofi_put_bytes(&w, COFI_ENCODED_MAGIC, 8);
        cofi_put_u32(&w, COFI_ENCODED_VERSION);
        cofi_put_u32(&w, COFI_ENCODED_BLOCK);
        cofi_put_u64(&w, s->n_rows);
        cofi_put_u32(&w, (uint32_t)s->table.n_columns);
        cofi_put_u32(&w, 0);
        size_t length = cofi_put_hole(&w);
        cofi_put_hole(&w);
        cofi_schema_put(&w, s);
        cofi_fill_u64(&w, length, w.n - COFI_ENCODED_HEAD);
        file f = {w.bytes, w.n};
        seal_head(f);
        assert_status(read_bytes(NULL, f, &none, &err), COF_ERR_DATA, &err);
        assert_non_null(strstr(err.text, "its parts contradict each other"));
        cofi_release(&w.env, w.bytes);
        s->table.n_columns = 2;
        cof_schema_free(s);
    }
    cof_table_free(table);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    cof_table *table = random_table(5, 300000, 15, 300, 4), *back;
    cof_error err;
    free(encode(table).bytes);
    for (uint32_t threads = 1; threads < 4; threads++) {
        cof_read_options o = {.struct_size = sizeof o, .threads = threads};
        assert_status(cof_table_read(NULL, path(), &o, &back, &err), COF_OK, &err);
        for (size_t i = 0; i < 300000; i += 7)
            assert_int_equal(cof_table_code(back, i, i % 15), cof_table_code(table, i, i % 15));
        cof_table_free(back);
    }
    uint32_t left = 3;
    cof_env env = {.struct_size = sizeof env, .should_stop = stop_soon, .ctx = &left};
    cof_read_options one = {.struct_size = sizeof one, .threads = 1};
    assert_status(cof_table_read(&env, path(), &one, &back, &err), COF_ERR_STOPPED, &err);
    cof_table_free(table);
    unlink(path());
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    file f = small_file();
    cof_error err;
    for (int mapped = 0; mapped < 2; mapped++)
        for (size_t n = 0;; n++) {
            alloc_meter meter = {.fail_at = n};
            cof_env env = alloc_env(&meter);
            cof_table *table = NULL;
            cof_status status =
                mapped ? cof_table_read(&env, path(), NULL, &table, &err) : read_bytes(&env, f, &table, &err);
            if (status == COF_OK) cof_table_free(table);
            assert_int_equal(meter.live, 0);
            if (status == COF_OK) break;
            assert_status(status, COF_ERR_MEMORY, &err);
        }
    free(f.bytes);
    unlink(path());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_changed_byte_is_noticed),
        cmocka_unit_test(every_shorter_or_longer_file_is_noticed),
        cmocka_unit_test(absurd_heads_are_refused),
        cmocka_unit_test(codes_that_contradict_the_schema_are_refused),
        cmocka_unit_test(schemas_that_are_no_tables_are_refused),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
