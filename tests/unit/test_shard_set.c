/* Shards of one table in this process: the result of cof_fit, labels in pieces, little memory. */
#include "unit_helper.h"

#include "alloc_helper.h"
#include "../../src/table/table.h"
#include "coforest_shard.h"

#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

static void set_up(cof_table *table)
{
    const char *order[] = {"2", "0", "1", "3"};
    cof_cut_options bins = {.struct_size = sizeof bins, .bins = 4};
    cof_error err;
    assert_status(cof_table_set_order(table, 1, order, 4, &err), COF_OK, &err);
    assert_status(cof_table_cut(table, 3, &bins, &err), COF_OK, &err);
    assert_status(cof_table_set_role(table, 4, COF_ROLE_LABEL, &err), COF_OK, &err);
}

/* Three categories, one with missing cells; a quantity; classes. */
static cof_table *make_table(uint64_t seed, size_t n)
{
    cofi_rng rng = dice(seed);
    int32_t *codes = get_zero(n * 5, sizeof *codes);
    for (size_t i = 0; i < n; i++) {
        int32_t mode = (int32_t)below(&rng, 3);
        for (int32_t r = 0; r < 3; r++)
            codes[5 * i + (size_t)r] = below(&rng, 4) == 0 ? (int32_t)below(&rng, 4) : (mode + r) % 4;
        if (below(&rng, 9) == 0) codes[5 * i] = -1;
        codes[5 * i + 3] = (int32_t)(100 * mode + (int32_t)below(&rng, 60));
        codes[5 * i + 4] = mode;
    }
    cof_table *table = table_of(codes, n, 5);
    free(codes);
    set_up(table);
    return table;
}

static cof_status label_rows(cof_shard_set *set, const cof_model *model, uint64_t first, int32_t *labels,
                             size_t n, cof_error *err)
{
    cof_shards shards = cof_shard_set_shards(set);
    return cof_label_shards(model, cof_shard_set_schema(set), &shards, first, labels, n, err);
}

static void check_labels(cof_shard_set *set, const cof_model *model, const cof_model *whole, size_t n)
{
    const int32_t *labels = cof_model_labels(whole, NULL);
    int32_t *some = get_zero(n, sizeof *some);
    cof_error err;
    assert_null(cof_model_labels(model, NULL));
    for (size_t each = 1; each <= n; each = 3 * each + 1)
        for (size_t first = 0; first + each <= n; first += each) {
            assert_status(label_rows(set, model, first, some, each, &err), COF_OK, &err);
            assert_memory_equal(some, labels + first, each * sizeof *some);
        }
    assert_status(label_rows(set, model, n, some, 0, &err), COF_OK, &err);
    assert_status(label_rows(set, model, 1, some, n, &err), COF_ERR_ARGUMENT, &err);
    assert_status(label_rows(set, whole, 0, some, n, &err), COF_ERR_ARGUMENT, &err);
    free(some);
}

static void any_cut_gives_the_result_of_the_whole(void **state)
{
    (void)state;
    static const int32_t starts[] = {COF_INIT_PORTFOLIO, COF_INIT_RANDOM, COF_INIT_KMEANS, COF_INIT_CAO};
    for (uint32_t round = 0; round < 12; round++) {
        size_t n = 30 + 40 * round;
        cof_table *table = make_table(round, n);
        cof_fit_options o = {.struct_size = sizeof o,
                             .k = 3,
                             .threads = 1,
                             .restarts = 3,
                             .seed = round,
                             .init = starts[round % 4],
                             .missing = round % 3 == 0 ? COF_MISSING_DROP : COF_MISSING_VALUE};
        cof_fit_info info = {.struct_size = sizeof info}, over = {.struct_size = sizeof over};
        cof_model *whole = fit_model(table, &o, &info), *model = NULL;
        cof_shard_set *set;
        cof_error err;
        assert_status(cof_shard_set_open(NULL, table, 1 + round % 5, round % 2, 1, &set, &err), COF_OK, &err);
        cof_shards shards = cof_shard_set_shards(set);
        assert_status(cof_fit_shards(NULL, cof_shard_set_schema(set), &o, &shards, &model, &over, &err),
                      COF_OK, &err);
        assert_true(info.objective == over.objective && info.log_likelihood == over.log_likelihood);
        check_labels(set, model, whole, n);
        cof_model_free(whole);
        cof_model_free(model);
        cof_shard_set_free(set);
        cof_table_free(table);
    }
}

/* Anonymous memory of this process in bytes. */
static size_t resident(const char *name)
{
    char line[256];
    size_t kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) kib = strtoul(line + strlen(name) + 1, NULL, 10);
    fclose(f);
    return kib * 1024;
}

typedef struct watch {
    cof_shards shards;
    size_t most, n_asked;
} watch;

static int ask_and_look(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    watch *w = ctx;
    int failed = w->shards.ask(w->shards.ctx, request, n_bytes, sum, n_words);
    size_t now = resident("RssAnon:");
    w->most = now > w->most ? now : w->most;
    w->n_asked++;
    return failed;
}

/* A hundredth of 400,000,000 rows of 20 columns in 2.5 GB. */
static size_t memory_of_fit(uint64_t n_rows)
{
    char path[64];
    cof_error err;
    cof_encoding *e;
    cof_generate_options g = {
        .struct_size = sizeof g, .kind = COF_GENERATE_UNIFORM, .n_rows = n_rows, .n_columns = 20};
    snprintf(path, sizeof path, "/tmp/coforest-large-%ld.cofe", (long)getpid());
    size_t before = resident("RssAnon:");
    assert_status(cof_encoding_open(NULL, path, &e, &err), COF_OK, &err);
    assert_status(cof_table_generate_pieces(NULL, &g, cof_encoding_piece, e, &err), COF_OK, &err);
    assert_status(cof_encoding_finish(e, &err), COF_OK, &err);
    cof_encoding_free(e);
    cof_table *table;
    cof_shard_set *set;
    cof_model *model = NULL;
    cof_fit_options o = {.struct_size = sizeof o, .k = 5, .threads = 2, .max_rebuilds = 2, .max_passes = 4};
    assert_status(cof_table_read(NULL, path, NULL, &table, &err), COF_OK, &err);
    assert_status(cof_shard_set_open(NULL, table, 1, 1, 2, &set, &err), COF_OK, &err);
    watch w = {.shards = cof_shard_set_shards(set)};
    cof_shards watched = w.shards;
    watched.ask = ask_and_look;
    watched.ctx = &w;
    assert_status(cof_fit_shards(NULL, cof_shard_set_schema(set), &o, &watched, &model, NULL, &err), COF_OK,
                  &err);
    int32_t labels[1000];
    assert_status(label_rows(set, model, n_rows / 2, labels, 1000, &err), COF_OK, &err);
    cof_model_free(model);
    cof_shard_set_free(set);
    cof_table_free(table);
    unlink(path);
    return w.most - before;
}

static void memory_is_a_few_bytes_a_row(void **state)
{
    (void)state;
#ifdef SANITIZED
    skip(); /* sanitizers keep memory of their own */
#endif
    size_t constant = memory_of_fit(40000), large = memory_of_fit(4000000);
    print_message("%.1f MB, of which %.1f for any table\n", (double)large / 1e6, (double)constant / 1e6);
    assert_true(large < 25000000 && constant < 25000000);
}

static void failures_are_told(void **state)
{
    (void)state;
    cof_table *table = make_table(1, 40);
    cof_shard_set *set;
    cof_error err;
    assert_status(cof_shard_set_open(NULL, table, 0, 0, 1, &set, &err), COF_ERR_ARGUMENT, &err);
    assert_status(cof_shard_set_open(NULL, table, 2, 0, 1, &set, &err), COF_OK, &err);
    cof_shards shards = cof_shard_set_shards(set);
    uint64_t word = 0;
    assert_int_equal(shards.ask(shards.ctx, "nonsense", 8, &word, 1), 1);
    assert_non_null(strstr(shards.why(shards.ctx), "request"));
    cof_shard_set_free(set);
    cof_table_free(table);
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    cof_table *table = make_table(2, 40);
    cof_error err;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter), own = table->env;
        cof_shard_set *set = NULL;
        table->env = cofi_env_resolve(&env);
        cof_status status = cof_shard_set_open(&env, table, 2, 0, 1, &set, &err);
        if (status == COF_OK) cof_shard_set_free(set);
        table->env = own;
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_status(status, COF_ERR_MEMORY, &err);
    }
    cof_table_free(table);
}

static void failing_allocations_of_labels_are_survived(void **state)
{
    (void)state;
    enum { N = 50 };
    cof_table *table = make_table(4, N);
    alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
    cof_env env = alloc_env(&meter);
    cof_fit_options o = {.struct_size = sizeof o, .k = 3, .threads = 1};
    cof_shard_set *set;
    cof_model *model;
    cof_error err;
    int32_t expected[N], labels[N];
    assert_status(cof_shard_set_open(NULL, table, 2, 0, 1, &set, &err), COF_OK, &err);
    cof_shards shards = cof_shard_set_shards(set);
    assert_status(cof_fit_shards(&env, cof_shard_set_schema(set), &o, &shards, &model, NULL, &err), COF_OK,
                  &err);
    assert_status(label_rows(set, model, 0, expected, N, &err), COF_OK, &err);
    size_t live = meter.live, n_failed = 0;
    for (cof_status status = COF_ERR_MEMORY; status != COF_OK; n_failed++) {
        meter.fail_at = meter.count + n_failed;
        status = label_rows(set, model, 0, labels, N, &err);
        assert_int_equal(meter.live, live);
        if (status != COF_OK) assert_status(status, COF_ERR_MEMORY, &err);
    }
    assert_true(n_failed > 1);
    assert_memory_equal(labels, expected, sizeof labels);
    cof_model_free(model);
    assert_int_equal(meter.live, 0);
    cof_shard_set_free(set);
    cof_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_gives_the_result_of_the_whole),
        cmocka_unit_test(memory_is_a_few_bytes_a_row),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(failing_allocations_of_labels_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
