/* Journals: a driver that dies and starts again ends with the same result, and asks nothing twice. */
#include "alloc_helper.h"
#include "calls_helper.h"
#include "unit_helper.h"

#include "../../src/core/bytes.h"
#include "coforest_shard.h"

typedef struct world {
    cof_table *table;
    cof_schema *schema;
    cof_shard *shard;
    size_t n_asked, dies_at; /* the shards cannot be reached from this request on */
    const char *why;
    char path[64];
} world;

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    world *w = ctx;
    if (w->n_asked == w->dies_at) return 1;
    w->n_asked++;
    return cof_shard_answer(w->shard, request, n_bytes, sum, n_words, NULL);
}

static const char *reason(void *ctx)
{
    return ((const world *)ctx)->why;
}

static void open_world(world *w, uint64_t seed)
{
    cof_error err;
    *w = (world){.table = random_table(seed, 90, 5, 4, 3), .dies_at = SIZE_MAX};
    assert_status(cof_schema_of(w->table, 0, &w->schema, &err), COF_OK, &err);
    assert_status(cof_shard_open(NULL, w->table, w->schema, 0, 1, &w->shard, &err), COF_OK, &err);
    snprintf(w->path, sizeof w->path, "/tmp/coforest-journal-%ld", (long)getpid());
    unlink(w->path);
}

static void close_world(world *w)
{
    unlink(w->path);
    cof_shard_free(w->shard);
    cof_schema_free(w->schema);
    cof_table_free(w->table);
}

/* One run of the driver: opens the journal, fits, and ends. */
static cof_status run_in(const cof_env *env, world *w, uint32_t k, cof_fit_info *info, uint64_t *n_replayed,
                         cof_error *err)
{
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask, .ctx = w, .why = reason};
    cof_journal *journal;
    cof_model *model = NULL;
    cof_fit_options o = {.struct_size = sizeof o, .k = k, .threads = 1, .restarts = 4};
    cof_status status = cof_journal_open(env, w->path, w->schema, &shards, &journal, err);
    if (status != COF_OK) return status;
    cof_shards through = cof_journal_shards(journal);
    *info = (cof_fit_info){.struct_size = sizeof *info};
    status = cof_fit_shards(NULL, w->schema, &o, &through, &model, info, err);
    *n_replayed = cof_journal_n_replayed(journal);
    cof_model_free(model);
    cof_journal_free(journal);
    return status;
}

static cof_status run(world *w, uint32_t k, cof_fit_info *info, uint64_t *n_replayed, cof_error *err)
{
    return run_in(NULL, w, k, info, n_replayed, err);
}

static off_t file_size(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_size;
}

static void the_driver_dies_at_any_moment(void **state)
{
    (void)state;
    world w;
    cof_fit_info whole, info;
    cof_error err;
    uint64_t n_replayed;
    cofi_rng rng = dice(3);
    open_world(&w, 1);
    assert_status(run(&w, 3, &whole, &n_replayed, &err), COF_OK, &err);
    size_t n_all = w.n_asked;
    assert_int_equal(n_replayed, 0);
    for (int moment = 0; moment < 20; moment++) {
        bool torn = moment % 2 == 1;
        size_t n_lost = 0;
        unlink(w.path);
        w.n_asked = 0;
        w.dies_at = below(&rng, n_all);
        assert_int_equal(run(&w, 3, &info, &n_replayed, &err), COF_ERR_BACKEND);
        if (torn && w.n_asked > 0) { /* the last answer was being written */
            assert_int_equal(truncate(w.path, file_size(w.path) - 1 - (off_t)below(&rng, 16)), 0);
            n_lost = 1;
        }
        size_t n_before = w.n_asked;
        w.dies_at = SIZE_MAX;
        assert_status(run(&w, 3, &info, &n_replayed, &err), COF_OK, &err);
        assert_int_equal(n_replayed, n_before - n_lost);
        assert_int_equal(w.n_asked, n_all + n_lost);
        assert_memory_equal(&info.objective, &whole.objective, sizeof info.objective);
        assert_memory_equal(&info.log_likelihood, &whole.log_likelihood, sizeof info.log_likelihood);
    }
    close_world(&w);
}

static void put_byte(const char *path, off_t at, int byte)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, (long)at, SEEK_SET);
    fputc(byte, file);
    fclose(file);
}

static void other_journals_are_refused(void **state)
{
    (void)state;
    world w, other;
    cof_fit_info info;
    cof_error err;
    uint64_t n_replayed;
    open_world(&w, 1);
    assert_status(run(&w, 3, &info, &n_replayed, &err), COF_OK, &err);
    assert_int_equal(run(&w, 4, &info, &n_replayed, &err), COF_ERR_BACKEND); /* other options */
    assert_non_null(strstr(err.text, "other options"));
    cof_schema *schema = w.schema;
    other = w;
    other.table = random_table(2, 90, 5, 4, 3);
    assert_status(cof_schema_of(other.table, 0, &w.schema, &err), COF_OK, &err);
    assert_int_equal(run(&w, 3, &info, &n_replayed, &err), COF_ERR_DATA);
    assert_non_null(strstr(err.text, "another table"));
    cof_schema_free(w.schema);
    w.schema = schema;
    cof_table_free(other.table);
    put_byte(w.path, file_size(w.path) / 2, 'x');
    put_byte(w.path, file_size(w.path) / 2 + 1, 'y');
    assert_int_equal(run(&w, 3, &info, &n_replayed, &err), COF_ERR_BACKEND);
    assert_non_null(strstr(err.text, "damaged"));
    put_byte(w.path, 3, 'x');
    assert_int_equal(run(&w, 3, &info, &n_replayed, &err), COF_ERR_DATA);
    assert_non_null(strstr(err.text, "not a journal"));
    close_world(&w);
}

/* Any byte may change: the result is the same, or there is a sentence. */
static void every_changed_byte_is_noticed(void **state)
{
    (void)state;
    world w;
    cof_fit_info whole, info;
    cof_error err;
    uint64_t n_replayed;
    open_world(&w, 1);
    assert_status(run(&w, 2, &whole, &n_replayed, &err), COF_OK, &err);
    for (off_t at = 0, n = file_size(w.path); at < n; at += 1 + n / 200) {
        unlink(w.path);
        assert_status(run(&w, 2, &info, &n_replayed, &err), COF_OK, &err);
        FILE *file = fopen(w.path, "r+b");
        fseek(file, (long)at, SEEK_SET);
        int byte = fgetc(file);
        fclose(file);
        put_byte(w.path, at, byte ^ 0x41);
        cof_status status = run(&w, 2, &info, &n_replayed, &err);
        assert_true(status == COF_ERR_DATA || status == COF_ERR_BACKEND || status == COF_ERR_TOO_NEW);
        assert_true(strlen(err.text) > 0);
    }
    close_world(&w);
}

/* ---- What the system refuses ------------------------------------------------------------------------- */

static void interrupted_calls_are_repeated(void **state)
{
    (void)state;
    world w;
    cof_fit_info info;
    cof_error err;
    uint64_t n_replayed;
    open_world(&w, 1);
    fail_calls("pwrite", 1, 4, EINTR);
    assert_status(run(&w, 2, &info, &n_replayed, &err), COF_OK, &err);
    assert_int_equal(calls_left(), 0);
    size_t n_all = w.n_asked;
    fail_calls("pread", 0, 7, EINTR);
    assert_status(run(&w, 2, &info, &n_replayed, &err), COF_OK, &err);
    assert_int_equal(calls_left(), 0);
    assert_int_equal(n_replayed, n_all);
    close_world(&w);
}

/* A run that the disk stops goes on later as one that died. */
static void calls_that_fail_are_told(void **state)
{
    (void)state;
    world w;
    cof_fit_info info;
    cof_error err;
    uint64_t n_replayed;
    open_world(&w, 1);
    for (int after = 0; after < 3; after++) { /* its head, its first answers */
        fail_calls("pwrite", after, 1, ENOSPC);
        assert_int_equal(run(&w, 2, &info, &n_replayed, &err), after == 0 ? COF_ERR_IO : COF_ERR_BACKEND);
        assert_int_equal(calls_left(), 0);
        assert_non_null(strstr(err.text, "cannot write the journal"));
    }
    assert_status(run(&w, 2, &info, &n_replayed, &err), COF_OK, &err);
    for (int after = 0; after < 4; after++) { /* its first byte, its head, the first answer, all of it */
        fail_calls("pread", after, 1, EIO);
        assert_int_equal(run(&w, 2, &info, &n_replayed, &err), after < 2 ? COF_ERR_IO : COF_ERR_BACKEND);
        assert_int_equal(calls_left(), 0);
        assert_non_null(strstr(err.text, "cannot read the journal"));
    }
    fail_calls("flock", 0, 1, EWOULDBLOCK);
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_IO);
    assert_non_null(strstr(err.text, "in use by another run"));
    unlink(w.path);
    assert_int_equal(mkdir(w.path, 0777), 0);
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_IO);
    assert_non_null(strstr(err.text, "cannot open the journal"));
    rmdir(w.path);
    w.dies_at = w.n_asked;
    w.why = "the second worker is gone";
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_BACKEND);
    assert_non_null(strstr(err.text, w.why));
    cof_journal_free(NULL);
    close_world(&w);
}

static void a_later_journal_says_so(void **state)
{
    (void)state;
    enum { HEAD = 32, VERSION_AT = 8, SUM_AT = 24 };
    world w;
    cof_fit_info info;
    cof_error err;
    uint64_t n_replayed;
    unsigned char head[HEAD];
    open_world(&w, 1);
    assert_status(run(&w, 2, &info, &n_replayed, &err), COF_OK, &err);
    for (int version = 0; version < 3; version += 2) {
        FILE *file = fopen(w.path, "r+b");
        assert_int_equal(fread(head, 1, HEAD, file), HEAD);
        head[VERSION_AT] = (unsigned char)version;
        uint64_t sum = cofi_checksum(head, SUM_AT);
        for (int i = 0; i < 8; i++) head[SUM_AT + i] = (unsigned char)(sum >> (8 * i));
        rewind(file);
        assert_int_equal(fwrite(head, 1, HEAD, file), HEAD);
        fclose(file);
        assert_int_equal(run(&w, 2, &info, &n_replayed, &err), version == 0 ? COF_ERR_DATA : COF_ERR_TOO_NEW);
    }
    close_world(&w);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    world w;
    cof_fit_info info;
    cof_error err;
    uint64_t n_replayed;
    open_world(&w, 1);
    for (int replays = 0; replays < 2; replays++)
        for (size_t n = 0;; n++) {
            alloc_meter meter = {.fail_at = n};
            cof_env env = alloc_env(&meter);
            if (replays == 0) unlink(w.path);
            cof_status status = run_in(&env, &w, 2, &info, &n_replayed, &err);
            assert_int_equal(meter.live, 0);
            if (status == COF_OK) break;
            assert_true(status == COF_ERR_MEMORY || status == COF_ERR_BACKEND);
        }
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_driver_dies_at_any_moment), cmocka_unit_test(other_journals_are_refused),
        cmocka_unit_test(every_changed_byte_is_noticed), cmocka_unit_test(interrupted_calls_are_repeated),
        cmocka_unit_test(calls_that_fail_are_told),      cmocka_unit_test(a_later_journal_says_so),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
