/* Requests and answers of strangers: whatever their bytes are, they end in an answer or a sentence, and the shard goes
 * on to answer as before. Shards that fail in the middle, and memory that runs out, end a fit without a leak. */
#include "alloc_helper.h"
#include "unit_helper.h"

#include "../../src/rows/shards/request.h"
#include "coforest_shard.h"

enum { N = 24, N_COLUMNS = 6, CLASS = 5, MOST_KEPT = 40, END = 8, HEAD = 80 };

typedef struct kept {
    unsigned char *bytes;
    size_t n;
} kept;

typedef struct driver {
    cof_table *table;
    cof_schema *schema;
    cof_shard *shard;
    size_t left;    /* so many requests are answered */
    bool keeps;     /* the first requests of every kind and length */
    cofi_rng *lies; /* one word of an answer is changed, and what is checked of all words is put right */
    kept kept[MOST_KEPT];
    size_t n_kept;
} driver;

/* Categories, one of them with missing cells, a quantity in bins, weights and classes. */
static void open_driver(driver *d)
{
    int32_t codes[N * N_COLUMNS];
    cof_cut_options bins = {.struct_size = sizeof bins, .bins = 3};
    cof_error err;
    *d = (driver){.left = SIZE_MAX};
    for (int32_t i = 0; i < N; i++) {
        int32_t row[N_COLUMNS] = {i % 3, i % 7 == 0 ? -1 : i / 6, i * i % 5, i * 37 % 101, 1 + i % 4, i / 8};
        memcpy(codes + i * N_COLUMNS, row, sizeof row);
    }
    d->table = table_of(codes, N, N_COLUMNS);
    assert_status(cof_schema_of(d->table, 0, &d->schema, &err), COF_OK, &err);
    assert_status(cof_schema_cut(d->schema, 3, &bins, &err), COF_OK, &err);
    assert_int_equal(cof_schema_set_role(d->schema, 4, COF_ROLE_WEIGHT, NULL), COF_OK);
    assert_int_equal(cof_schema_set_role(d->schema, CLASS, COF_ROLE_LABEL, NULL), COF_OK);
    assert_status(cof_shard_open(NULL, d->table, d->schema, 0, 1, &d->shard, &err), COF_OK, &err);
}

static void close_driver(driver *d)
{
    for (size_t i = 0; i < d->n_kept; i++) free(d->kept[i].bytes);
    cof_shard_free(d->shard);
    cof_schema_free(d->schema);
    cof_table_free(d->table);
}

static uint32_t kind_of(const void *request)
{
    const unsigned char *at = (const unsigned char *)request + 12;
    return at[0] | (uint32_t)at[1] << 8;
}

static void keep(driver *d, const void *request, size_t n)
{
    for (size_t i = 0; i < d->n_kept; i++)
        if (d->kept[i].n == n && kind_of(d->kept[i].bytes) == kind_of(request)) return;
    if (d->n_kept == MOST_KEPT) return;
    kept *to = &d->kept[d->n_kept++];
    *to = (kept){get_zero(n, 1), n};
    memcpy(to->bytes, request, n);
}

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    driver *d = ctx;
    if (d->left-- == 0) return 1;
    if (d->keeps) keep(d, request, n_bytes);
    if (cof_shard_answer(d->shard, request, n_bytes, sum, n_words, NULL) != COF_OK) return 1;
    if (d->lies != NULL && d->left == 0) {
        static const uint64_t word[] = {0, 1, UINT64_C(1) << 44, UINT64_MAX, UINT64_C(1) << 62};
        sum[below(d->lies, n_words - COFI_ANSWER_END)] = word[below(d->lies, COUNT(word))];
        cofi_answer_end(sum, n_words, N);
        d->left = SIZE_MAX;
    }
    return 0;
}

static const struct {
    int32_t init;
    const char *method;
    int32_t missing;
} plans[] = {{COF_INIT_RANDOM, "coforest", COF_MISSING_VALUE}, {COF_INIT_CAO, "kmodes", COF_MISSING_DROP},
             {COF_INIT_HUANG, "h2h", COF_MISSING_VALUE},       {COF_INIT_PORTFOLIO, NULL, COF_MISSING_VALUE},
             {COF_INIT_PORTFOLIO, "lca", COF_MISSING_VALUE},   {COF_INIT_RANDOM, "udm", COF_MISSING_VALUE},
             {COF_INIT_RANDOM, "cbdm", COF_MISSING_VALUE},     {COF_INIT_RANDOM, "ocil", COF_MISSING_VALUE},
             {COF_INIT_RANDOM, "cof1", COF_MISSING_VALUE},     {COF_INIT_RANDOM, "adc", COF_MISSING_VALUE},
             {COF_INIT_RANDOM, "dlc", COF_MISSING_VALUE},      {COF_INIT_CAO, "lsm", COF_MISSING_VALUE}};

/* A fit, its labels and its scores; rows are given first where the start has none of its own. */
static cof_status fit(driver *d, const cof_env *env, size_t plan, cof_error *err)
{
    static const uint64_t rows[] = {1, 9, 20};
    /* A lie in a joined answer would be noticed at once, since only the end of the whole is put right. */
    cof_shards shards = {
        .struct_size = sizeof shards, .ask = ask, .ctx = d, .together = d->lies != NULL ? 1 : 2};
    cof_indices indices = {.struct_size = sizeof indices};
    cof_model *model = NULL;
    cof_fit_options o = {.struct_size = sizeof o, .k = 3, .threads = 1, .restarts = 2, .max_rebuilds = 3};
    o.init = plans[plan].init;
    o.method = plans[plan].method;
    o.missing = plans[plan].missing;
    if (plan == 0) o.init_rows = rows;
    if (plan == 0) o.restarts = 1;
    cof_status status = cof_fit_shards(env, d->schema, &o, &shards, &model, NULL, err);
    if (status == COF_OK) status = cof_evaluate_shards(model, d->schema, CLASS, &shards, &indices, err);
    size_t n = 0;
    const void *request = status == COF_OK ? cof_model_label_request(model, &n) : NULL;
    if (request != NULL && d->keeps) keep(d, request, n);
    cof_model_free(model);
    return status;
}

static void keep_requests(driver *d)
{
    cof_error err;
    open_driver(d);
    d->keeps = true;
    for (size_t p = 0; p < COUNT(plans); p++) assert_status(fit(d, NULL, p, &err), COF_OK, &err);
    d->keeps = false;
}

/* ---- Requests ------------------------------------------------------------------------------------------ */

/* Puts the checksum right. */
static void seal(unsigned char *bytes, size_t n)
{
    uint64_t sum = cofi_checksum(bytes, n - END);
    for (int i = 0; i < END; i++) bytes[n - END + (size_t)i] = (unsigned char)(sum >> (8 * i));
}

/* What a shard answers; labels are answers as well. */
static cof_status answer(driver *d, const unsigned char *bytes, size_t n, uint64_t *hash)
{
    int32_t label[N];
    cof_error err = {""}, labels_err = {""};
    size_t n_words = cof_request_words(bytes, n);
    uint64_t *sum = get_zero(n_words + 1, sizeof *sum);
    cof_status status = cof_shard_answer(d->shard, bytes, n, sum, n_words, &err);
    assert_int_equal(sum[n_words], 0);
    *hash = status == COF_OK ? cofi_checksum(sum, n_words * sizeof *sum) : 0;
    if (status != COF_OK) assert_string_not_equal(err.text, "");
    if (cof_shard_labels(d->shard, bytes, n, label, N, &labels_err) == COF_OK)
        for (size_t i = 0; i < N; i++) assert_in_range(label[i] + 1, 0, COF_MOST_CLUSTERS);
    free(sum);
    return status;
}

static void assert_answers(driver *d, const kept *k, uint64_t expected)
{
    uint64_t hash;
    assert_int_equal(answer(d, k->bytes, k->n, &hash), COF_OK);
    assert_int_equal(hash, expected);
}

static void every_kind_of_request_is_met(void **state)
{
    (void)state;
    driver d;
    bool met[COFI_ASK_SEVERAL + 1] = {false};
    keep_requests(&d);
    for (size_t i = 0; i < d.n_kept; i++) met[kind_of(d.kept[i].bytes)] = true;
    for (int kind = COFI_ASK_CENSUS; kind <= COFI_ASK_CLASSES; kind++) assert_true(met[kind]);
    assert_true(met[COFI_ASK_SEVERAL]);
    close_driver(&d);
}

/* Evenly spaced rows and ranges are told by three numbers. */
static void lists_of_rows_are_read_as_written(void **state)
{
    (void)state;
    enum { MOST = 70 };
    cof_env env = cofi_env_resolve(NULL);
    for (uint64_t n_rows = 1; n_rows < 5000000; n_rows = 3 * n_rows + 7)
        for (size_t n = 0; n <= MOST && n <= n_rows; n++)
            for (int how = 0; how < 3; how++) { /* evenly spaced, a range, and any rows */
                uint64_t row[MOST];
                cofi_writer w = {.env = env};
                cofi_listed list;
                for (size_t i = 0; i < n; i++)
                    row[i] = how == 0 ? i * n_rows / n : how == 1 ? n_rows - n + i : cofi_mix64(i) % n_rows;
                if (how == 1)
                    cofi_put_range(&w, n_rows - n, n);
                else
                    cofi_put_rows(&w, how == 0 && n % 2 == 0 ? NULL : row, n, n_rows);
                assert_false(w.failed);
                if (how < 2) assert_int_equal(w.n, COFI_EMPTY_RANGE_BYTES);
                cofi_reader body = {.bytes = w.bytes, .n = w.n};
                assert_true(cofi_get_rows(&body, &list));
                assert_int_equal(list.n, n);
                for (size_t i = 0; i < n; i++) assert_int_equal(cofi_next_row(&list), row[i]);
                body = (cofi_reader){.bytes = w.bytes, .n = w.n - 1};
                assert_false(cofi_get_rows(&body, &list));
                cofi_release(&env, w.bytes);
            }
}

/* No two cells share bits, and every id fits. */
static void cells_have_places_of_their_own(void **state)
{
    (void)state;
    static const uint32_t n_ids[] = {2, 256, 257, 65536, 65537, 3, 100000, 4, 4, 4, 4, 4, 4, 4, 300, 5};
    uint32_t first[COUNT(n_ids) + 1] = {0};
    uint64_t used[COUNT(n_ids) + 1] = {0};
    cofi_cell_place place[COUNT(n_ids)];
    for (size_t r = 0; r < COUNT(n_ids); r++) first[r + 1] = first[r] + n_ids[r];
    cofi_problem p = {.env = cofi_env_resolve(NULL), .n_attrs = COUNT(n_ids), .first = first};
    size_t n_words = cofi_cell_places(&p, place);
    assert_int_equal(n_words, cofi_cell_places(&p, NULL));
    for (size_t r = 0; r < COUNT(n_ids); r++) {
        uint64_t mask = ((UINT64_C(1) << place[r].bits) - 1) << place[r].shift;
        assert_true(place[r].word < n_words - 1 && place[r].shift + place[r].bits <= 64);
        assert_true(n_ids[r] - 1 <= (UINT64_C(1) << place[r].bits) - 1);
        assert_int_equal(used[place[r].word] & mask, 0);
        used[place[r].word] |= mask;
    }
    assert_int_equal(n_words, 5); /* bits 8 8 16 16, 32 8, 32 8 8 8 8, 8 8 8 16 8, and the weight */
}

static void truncated_requests_are_refused(void **state)
{
    (void)state;
    driver d;
    keep_requests(&d);
    for (size_t i = 0; i < d.n_kept; i++) {
        const kept *k = &d.kept[i];
        uint64_t right, hash;
        answer(&d, k->bytes, k->n, &right);
        for (size_t n = 0; n < k->n; n += n < HEAD || k->n - n < 40 ? 1 : 8) {
            unsigned char *cut = get_zero(n, 1);
            memcpy(cut, k->bytes, n);
            assert_int_not_equal(answer(&d, cut, n, &hash), COF_OK);
            if (n >= END) seal(cut, n); /* what the shard does not read may be missing */
            if (answer(&d, cut, n, &hash) == COF_OK) assert_int_equal(hash, right);
            free(cut);
        }
        assert_answers(&d, k, right);
    }
    close_driver(&d);
}

/* Without a right checksum nothing is answered. With one, a changed request may be another right one. */
static void changed_requests_do_no_harm(void **state)
{
    (void)state;
    static const unsigned char change[] = {1, 2, 0x10, 0x40, 0x80, 0xFF};
    driver d;
    keep_requests(&d);
    for (size_t i = 0; i < d.n_kept; i++) {
        const kept *k = &d.kept[i];
        uint64_t right, hash;
        answer(&d, k->bytes, k->n, &right);
        unsigned char *changed = get_zero(k->n, 1);
        for (size_t at = 0; at < k->n - END; at += at < HEAD + 32 ? 1 : 3)
            for (size_t c = 0; c < COUNT(change); c++) {
                memcpy(changed, k->bytes, k->n);
                changed[at] ^= change[c];
                assert_int_not_equal(answer(&d, changed, k->n, &hash), COF_OK);
                seal(changed, k->n);
                cof_status status = answer(&d, changed, k->n, &hash);
                assert_true(status == COF_OK || status == COF_ERR_DATA || status == COF_ERR_TOO_NEW ||
                            status == COF_ERR_FEW_ROWS || status == COF_ERR_MISSING ||
                            status == COF_ERR_MEMORY);
            }
        free(changed);
        assert_answers(&d, k, right);
    }
    close_driver(&d);
}

static void labels_need_their_request_and_room(void **state)
{
    (void)state;
    driver d;
    int32_t label[N];
    cof_error err;
    keep_requests(&d);
    for (size_t i = 0; i < d.n_kept; i++) {
        const kept *k = &d.kept[i];
        cof_status expected = kind_of(k->bytes) == COFI_ASK_LABELS ? COF_OK : COF_ERR_DATA;
        assert_int_equal(cof_shard_labels(d.shard, k->bytes, k->n, label, N, &err), expected);
        assert_int_equal(cof_shard_labels(d.shard, k->bytes, k->n, label, N - 1, &err), COF_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "room for 23 labels"));
    }
    close_driver(&d);
}

/* ---- Failures in the middle ---------------------------------------------------------------------------- */

static const char *reason(void *ctx)
{
    (void)ctx;
    return "the third worker is gone";
}

static void any_request_may_fail(void **state)
{
    (void)state;
    driver d;
    cof_error err;
    open_driver(&d);
    for (size_t p = 0; p < COUNT(plans); p++)
        for (size_t n = 0;; n++) {
            alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
            cof_env env = alloc_env(&meter);
            d.left = n;
            cof_status status = fit(&d, &env, p, &err);
            assert_int_equal(meter.live, 0);
            if (status == COF_OK) break;
            assert_int_equal(status, COF_ERR_BACKEND);
        }
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask, .ctx = &d, .why = reason};
    cof_fit_options o = {.struct_size = sizeof o, .k = 3};
    cof_model *model;
    d.left = 0;
    assert_int_equal(cof_fit_shards(NULL, d.schema, &o, &shards, &model, NULL, &err), COF_ERR_BACKEND);
    assert_non_null(strstr(err.text, "the third worker is gone"));
    close_driver(&d);
}

/* A shard that lies makes a wrong model or a sentence, but no harm; the n-th answer is the lie. */
static void answers_that_lie_do_no_harm(void **state)
{
    (void)state;
    driver d;
    cofi_rng rng = dice(4);
    size_t n_refused = 0, n_all = 0;
    open_driver(&d);
    d.lies = &rng;
    for (size_t p = 0; p < COUNT(plans); p++)
        for (size_t n = 1; n < 200; n++) {
            alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
            cof_env env = alloc_env(&meter);
            cof_error err = {""};
            d.left = n;
            cof_status status = fit(&d, &env, p, &err);
            bool told = d.left > SIZE_MAX / 2;
            assert_int_equal(meter.live, 0);
            assert_int_not_equal(status, COF_ERR_MEMORY);
            if (status != COF_OK) assert_string_not_equal(err.text, "");
            n_refused += status != COF_OK;
            n_all += told;
            if (!told) break;
        }
    assert_in_range(n_refused, n_all / 4, n_all);
    close_driver(&d);
}

static void any_allocation_of_the_driver_may_fail(void **state)
{
    (void)state;
    driver d;
    cof_error err;
    open_driver(&d);
    for (size_t p = 0; p < COUNT(plans); p++)
        for (size_t n = 0;; n += 1 + n / 16) {
            alloc_meter meter = {.fail_at = n};
            cof_env env = alloc_env(&meter);
            cof_status status = fit(&d, &env, p, &err);
            assert_int_equal(meter.live, 0);
            if (status == COF_OK) break;
            assert_int_equal(status, COF_ERR_MEMORY);
        }
    close_driver(&d);
}

/* Whichever allocation of the shard fails, it says so; once there is memory again, it answers. */
static void any_allocation_of_the_shard_may_fail(void **state)
{
    (void)state;
    driver d;
    keep_requests(&d);
    cof_shard *plain = d.shard;
    for (size_t i = 0; i < d.n_kept; i++) {
        cof_status status = COF_ERR_MEMORY;
        uint64_t right, hash;
        d.shard = plain;
        answer(&d, d.kept[i].bytes, d.kept[i].n, &right);
        for (size_t n = 0; status != COF_OK; n++) {
            alloc_meter meter = {.fail_at = n};
            cof_env env = alloc_env(&meter);
            status = cof_shard_open(&env, d.table, d.schema, 0, 1, &d.shard, NULL);
            if (status == COF_OK) {
                status = answer(&d, d.kept[i].bytes, d.kept[i].n, &hash);
                meter.fail_at = ALLOC_NEVER_FAILS;
                assert_answers(&d, &d.kept[i], right);
                cof_shard_free(d.shard);
            }
            assert_int_equal(meter.live, 0);
            assert_true(status == COF_OK || status == COF_ERR_MEMORY);
        }
    }
    d.shard = plain;
    close_driver(&d);
}

static void a_shard_without_a_column_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"0", "1"};
    static const int32_t codes[] = {0, 1, 1, 0};
    driver d;
    cof_table *narrow = NULL;
    cof_shard *shard = NULL;
    cof_error err;
    open_driver(&d);
    assert_int_equal(cof_table_from_codes(NULL, codes, 2, 2, names, &narrow, &err), COF_OK);
    assert_int_equal(cof_shard_open(NULL, narrow, d.schema, 0, 1, &shard, &err), COF_ERR_DATA);
    assert_non_null(strstr(err.text, "the shard has no column"));
    assert_null(shard);
    cof_table_free(narrow);
    close_driver(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_request_is_met),
        cmocka_unit_test(lists_of_rows_are_read_as_written),
        cmocka_unit_test(cells_have_places_of_their_own),
        cmocka_unit_test(truncated_requests_are_refused),
        cmocka_unit_test(changed_requests_do_no_harm),
        cmocka_unit_test(labels_need_their_request_and_room),
        cmocka_unit_test(any_request_may_fail),
        cmocka_unit_test(answers_that_lie_do_no_harm),
        cmocka_unit_test(any_allocation_of_the_driver_may_fail),
        cmocka_unit_test(any_allocation_of_the_shard_may_fail),
        cmocka_unit_test(a_shard_without_a_column_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
