/* Schemas as bytes of strangers, parts that do not fit together, and memory that runs out. */
#include "alloc_helper.h"
#include "unit_helper.h"

#include "../../src/core/bytes.h"
#include "../../src/table/schema.h"

enum { N = 12, END = 8 };

/* A category with a missing cell, a quantity, another category, weights; the last name can be chosen. */
static cof_table *part(const cof_env *env, size_t n_columns, const char *last)
{
    static const char *const cell[] = {"a", "b", NULL, "a", "c", "b", "a", "a", "c", "b", "a", "c",
                                       "1", "2", "3",  "4", "5", "6", "7", "8", "9", "1", "2", "3",
                                       "x", "y", "x",  "y", "x", "y", "x", "y", "x", "y", "x", "y",
                                       "1", "1", "2",  "2", "1", "1", "2", "2", "1", "1", "2", "2"};
    const char *const names[] = {"letter", "size", "side", last};
    cof_table *table = NULL;
    assert_int_equal(cof_table_from_strings(env, cell, N, n_columns, names, &table, NULL), COF_OK);
    return table;
}

static cof_schema *schema_of(const cof_table *table)
{
    cof_schema *schema = NULL;
    cof_error err;
    assert_status(cof_schema_of(table, 0, &schema, &err), COF_OK, &err);
    return schema;
}

/* A schema with everything that its bytes can have. */
static cof_schema *full_schema(void)
{
    static const char *const order[] = {"y", "x"};
    cof_cut_options bins = {.struct_size = sizeof bins, .bins = 3};
    cof_table *table = part(NULL, 4, "weight");
    cof_schema *schema = schema_of(table);
    assert_int_equal(cof_schema_cut(schema, 1, &bins, NULL), COF_OK);
    assert_int_equal(cof_schema_set_order(schema, 2, order, 2, NULL), COF_OK);
    assert_int_equal(cof_schema_set_role(schema, 3, COF_ROLE_WEIGHT, NULL), COF_OK);
    cof_table_free(table);
    return schema;
}

typedef struct bytes {
    unsigned char at[2048];
    size_t n;
} bytes;

static int keep(void *ctx, const char *from, size_t n)
{
    bytes *b = ctx;
    if (n > sizeof b->at - b->n) return 1;
    memcpy(b->at + b->n, from, n);
    b->n += n;
    return 0;
}

static bytes bytes_of(const cof_schema *schema)
{
    bytes b = {.n = 0};
    assert_int_equal(cof_schema_write(schema, keep, &b, NULL), COF_OK);
    return b;
}

/* Puts the checksum right. */
static void seal(bytes *b)
{
    uint64_t sum = cofi_checksum(b->at, b->n - END);
    for (int i = 0; i < END; i++) b->at[b->n - END + (size_t)i] = (unsigned char)(sum >> (8 * i));
}

/* Reads from a block that ends with the bytes, so that memory checkers notice a byte too far. */
static cof_status read_bytes(const cof_env *env, const bytes *b, cof_schema **out)
{
    cof_error err = {""};
    unsigned char *copy = malloc(b->n > 0 ? b->n : 1);
    assert_non_null(copy);
    memcpy(copy, b->at, b->n);
    *out = NULL;
    cof_status status = cof_schema_read(env, copy, b->n, out, &err);
    assert_int_equal(status == COF_OK, *out != NULL);
    if (status != COF_OK) assert_string_not_equal(err.text, "");
    free(copy);
    return status;
}

static void comes_back_from_its_bytes(void **state)
{
    (void)state;
    cof_schema *schema = full_schema(), *read;
    bytes b = bytes_of(schema), again;
    assert_int_equal(read_bytes(NULL, &b, &read), COF_OK);
    again = bytes_of(read);
    assert_int_equal(again.n, b.n);
    assert_memory_equal(again.at, b.at, b.n);
    assert_int_equal(cof_schema_n_rows(read), N);
    cof_schema_free(read);
    b.n = sizeof b.at; /* no room is left: it refuses */
    cof_error err;
    assert_int_equal(cof_schema_write(schema, keep, &b, &err), COF_ERR_IO);
    assert_non_null(strstr(err.text, "refused"));
    cof_schema_free(schema);
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    cof_schema *schema = full_schema(), *read;
    bytes whole = bytes_of(schema);
    for (size_t n = 0; n < whole.n; n++) {
        bytes b = whole;
        b.n = n;
        assert_int_equal(read_bytes(NULL, &b, &read), COF_ERR_DATA);
        if (n < 32) continue;
        seal(&b);
        assert_int_equal(read_bytes(NULL, &b, &read), COF_ERR_DATA);
    }
    cof_schema_free(schema);
}

/* With a right checksum a changed byte is another schema or a contradiction; what is read can be written and
 * gives the same bytes. */
static void every_changed_byte(void **state)
{
    (void)state;
    static const unsigned char change[] = {1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0xFF};
    cof_schema *schema = full_schema(), *read;
    bytes whole = bytes_of(schema);
    size_t n_read = 0;
    for (size_t at = 0; at < whole.n; at++)
        for (size_t c = 0; c < COUNT(change); c++) {
            bytes b = whole;
            b.at[at] ^= change[c];
            assert_int_not_equal(read_bytes(NULL, &b, &read), COF_OK);
            seal(&b);
            cof_status status = read_bytes(NULL, &b, &read);
            if (status != COF_OK) {
                assert_true(status == COF_ERR_DATA || status == COF_ERR_TOO_NEW);
                continue;
            }
            bytes again = bytes_of(read);
            assert_int_equal(again.n, b.n);
            assert_memory_equal(again.at, b.at, b.n);
            cof_schema_free(read);
            n_read++;
        }
    assert_in_range(n_read, 100, whole.n * COUNT(change) / 2);
    cof_schema_free(schema);
}

static void refuse_merge(const cof_schema *a, const cof_schema *b, cof_status expected, const char *sentence)
{
    bytes as_it_was = bytes_of(a);
    cof_schema *into;
    cof_error err = {""};
    assert_int_equal(read_bytes(NULL, &as_it_was, &into), COF_OK);
    assert_int_equal(cof_schema_merge(into, b, &err), expected);
    assert_non_null(strstr(err.text, sentence));
    bytes after = bytes_of(into);
    assert_memory_equal(after.at, as_it_was.at, as_it_was.n);
    cof_schema_free(into);
}

static void parts_that_differ_are_refused(void **state)
{
    (void)state;
    cof_table *table = part(NULL, 4, "weight"), *few = part(NULL, 3, NULL), *other = part(NULL, 4, "mass");
    cof_schema *a = schema_of(table), *narrow = schema_of(few), *named = schema_of(other),
               *roles = schema_of(table), *cut = full_schema(), *large;
    refuse_merge(a, narrow, COF_ERR_DATA, "3");
    refuse_merge(a, named, COF_ERR_DATA, "'mass'");
    assert_int_equal(cof_schema_set_role(roles, 2, COF_ROLE_IGNORED, NULL), COF_OK);
    refuse_merge(a, roles, COF_ERR_DATA, "different roles");
    assert_int_equal(cof_schema_set_role(cut, 3, COF_ROLE_ATTRIBUTE, NULL), COF_OK);
    refuse_merge(a, cut, COF_ERR_ARGUMENT, "'size'");
    refuse_merge(cut, a, COF_ERR_ARGUMENT, "'size'");
    assert_int_equal(cof_schema_of(few, 5, &large, NULL), COF_OK);
    large->n_rows = UINT32_MAX - 3;
    refuse_merge(narrow, large, COF_ERR_DATA, "at most 4294967293 rows");
    cof_schema *all[] = {a, narrow, named, roles, cut, large};
    for (size_t i = 0; i < COUNT(all); i++) cof_schema_free(all[i]);
    cof_table_free(table);
    cof_table_free(few);
    cof_table_free(other);
}

static void advice_is_that_of_the_table(void **state)
{
    (void)state;
    cof_table *table = part(NULL, 4, "weight");
    cof_schema *schema = schema_of(table);
    for (size_t c = 0; c < 4; c++) {
        cof_advice of_table = {.struct_size = sizeof of_table}, of_schema = of_table;
        assert_int_equal(cof_column_advise(table, c, COF_MISSING_VALUE, &of_table, NULL), COF_OK);
        assert_int_equal(cof_schema_advise(schema, c, COF_MISSING_VALUE, &of_schema, NULL), COF_OK);
        assert_memory_equal(&of_table, &of_schema, sizeof of_table);
    }
    cof_schema_free(schema);
    cof_table_free(table);
}

static cof_status work(const cof_env *env, const cof_table *table, const bytes *b)
{
    cof_schema *read = NULL, *more = NULL;
    bytes out = {.n = 0};
    cof_status status = cof_schema_of(table, N, &more, NULL);
    if (status == COF_OK) status = cof_schema_write(more, keep, &out, NULL);
    if (status == COF_OK) status = read_bytes(env, b, &read);
    if (status == COF_OK) status = cof_schema_merge(read, more, NULL);
    if (status == COF_OK) assert_int_equal(cof_schema_n_rows(read), 2 * N);
    cof_schema_free(read);
    cof_schema_free(more);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    cof_table *plain = part(NULL, 4, "weight");
    cof_schema *whole = schema_of(plain), *full = full_schema(), *read;
    bytes b = bytes_of(whole), with_cut = bytes_of(full);
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
        cof_env env = alloc_env(&meter);
        cof_table *table = part(&env, 4, "weight");
        meter.fail_at = meter.count + n;
        cof_status status = work(&env, table, &b);
        cof_status other = status == COF_OK ? read_bytes(&env, &with_cut, &read) : status;
        if (other == COF_OK) cof_schema_free(read);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        if (other == COF_OK) break;
        assert_int_equal(other, COF_ERR_MEMORY);
    }
    cof_schema_free(full);
    cof_schema_free(whole);
    cof_table_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_from_its_bytes),   cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_changed_byte),          cmocka_unit_test(parts_that_differ_are_refused),
        cmocka_unit_test(advice_is_that_of_the_table), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
