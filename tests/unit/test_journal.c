/* Journals: a driver that dies and starts again ends with the same result, and asks nothing twice. */
#include "alloc_helper.h"
#include "calls_helper.h"
#include "unit_helper.h"

#include "../../src/core/bytes.h"
#include "../../src/rows/shards/request.h"
#include "coforest_shard.h"

#include <time.h>

typedef struct world {
    cof_table *table;
    cof_schema *schema;
    cof_shard *shard;
    size_t n_asked, dies_at; /* the shards cannot be reached from this request on */
    size_t slow_at;          /* number of the request that takes more than a second; 0: none */
    const char *why;
    char path[64];
} world;

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    world *w = ctx;
    uint32_t kind;
    memcpy(&kind, (const char *)request + 12, sizeof kind);
    /* The digest is asked whenever the journal is opened, and is not part of it. */
    if (kind != COFI_ASK_DIGEST && w->n_asked == w->dies_at) return 1;
    w->n_asked += kind != COFI_ASK_DIGEST;
    if (w->slow_at > 0 && w->n_asked == w->slow_at) nanosleep(&(struct timespec){1, 50000000}, NULL);
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
    put_byte(w.path, 3, 'x');
    assert_int_equal(run(&w, 3, &info, &n_replayed, &err), COF_ERR_DATA);
    assert_non_null(strstr(err.text, "not a journal"));
    close_world(&w);
}

/* Any byte may change: the result is the same, or there is a sentence. Behind the head it is always the same: what is damaged
 * is asked again. */
static void every_changed_byte_is_noticed(void **state)
{
    (void)state;
    enum { HEAD = 48 };
    world w;
    cof_fit_info whole, info;
    cof_error err;
    uint64_t n_replayed, n_all;
    open_world(&w, 1);
    assert_status(run(&w, 2, &whole, &n_replayed, &err), COF_OK, &err);
    n_all = w.n_asked;
    for (off_t at = 0, n = file_size(w.path); at < n; at += at < HEAD ? 1 : 1 + n / 200) {
        unlink(w.path);
        assert_status(run(&w, 2, &info, &n_replayed, &err), COF_OK, &err);
        FILE *file = fopen(w.path, "r+b");
        fseek(file, (long)at, SEEK_SET);
        int byte = fgetc(file);
        fclose(file);
        put_byte(w.path, at, byte ^ 0x41);
        w.n_asked = 0;
        cof_status status = run(&w, 2, &info, &n_replayed, &err);
        if (at >= HEAD) {
            assert_status(status, COF_OK, &err);
            assert_true(n_replayed < n_all && n_replayed + w.n_asked == n_all);
            assert_memory_equal(&info.objective, &whole.objective, sizeof info.objective);
            assert_int_equal(file_size(w.path), n);
        } else {
            assert_true(status == COF_ERR_DATA || status == COF_ERR_TOO_NEW);
            assert_true(strlen(err.text) > 0);
        }
    }
    close_world(&w);
}

/* After a failure of power a file may end with zeros, or early, anywhere. */
static void a_lost_tail_is_asked_again(void **state)
{
    (void)state;
    world w;
    cof_fit_info whole, info;
    cof_error err;
    uint64_t n_replayed;
    cofi_rng rng = dice(5);
    open_world(&w, 1);
    assert_status(run(&w, 3, &whole, &n_replayed, &err), COF_OK, &err);
    off_t n = file_size(w.path);
    size_t n_all = w.n_asked;
    for (int moment = 0; moment < 40; moment++) {
        off_t end = moment < 8 ? moment * 7 : (off_t)below(&rng, (size_t)n); /* also within the head */
        assert_int_equal(truncate(w.path, end), 0);
        if (moment % 2 == 0) /* a head that was not written to its end was followed by nothing */
            assert_int_equal(truncate(w.path, end < 48 ? 48 : end + 1 + (off_t)below(&rng, 9000)), 0);
        w.n_asked = 0;
        assert_status(run(&w, 3, &info, &n_replayed, &err), COF_OK, &err);
        assert_int_equal(n_replayed + w.n_asked, n_all);
        assert_int_equal(file_size(w.path), n);
        assert_memory_equal(&info.objective, &whole.objective, sizeof info.objective);
    }
    close_world(&w);
}

/* An answer that took a second is on the disk before the next request goes out, others when the journal is closed. */
static void answers_are_synchronised(void **state)
{
    (void)state;
    world w;
    cof_fit_info info;
    cof_error err;
    uint64_t n_replayed;
    open_world(&w, 1);
    w.slow_at = 3;
    fail_calls("fsync", 2, 1, EIO); /* after those of the head and its folder */
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_BACKEND);
    assert_int_equal(calls_left(), 0);
    assert_non_null(strstr(err.text, "cannot write the journal"));
    assert_int_equal(w.n_asked, 3);
    w.slow_at = 0;
    fail_calls("fsync", 0, 1, EIO); /* that of the end, which has nobody to tell */
    assert_status(run(&w, 2, &info, &n_replayed, &err), COF_OK, &err);
    assert_int_equal(calls_left(), 0);
    unlink(w.path);
    fail_calls("fsync", 0, 1, EIO);
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_IO);
    close_world(&w);
}

/* A table of the same values in other rows has the same schema, but other answers. */
static void other_rows_are_refused(void **state)
{
    (void)state;
    enum { N = 60 };
    world w;
    cof_fit_info info;
    cof_error err;
    uint64_t n_replayed;
    int32_t codes[N][2], swapped[N][2];
    open_world(&w, 1);
    close_world(&w);
    const char *names[] = {"a", "b"};
    for (int i = 0; i < N; i++) codes[i][0] = i % 3, codes[i][1] = i % 2;
    memcpy(swapped, codes, sizeof codes);
    for (int i = 12; i < N - 12; i++) swapped[i][1] = codes[i + 1][1];
    swapped[N - 12][1] = codes[12][1];
    for (int other = 0; other < 2; other++) {
        const int32_t *cells = other ? swapped[0] : codes[0];
        assert_status(cof_table_from_codes(NULL, cells, N, 2, names, &w.table, &err), COF_OK, &err);
        assert_status(cof_schema_of(w.table, 0, &w.schema, &err), COF_OK, &err);
        assert_status(cof_shard_open(NULL, w.table, w.schema, 0, 1, &w.shard, &err), COF_OK, &err);
        assert_int_equal(run(&w, 2, &info, &n_replayed, &err), other ? COF_ERR_DATA : COF_OK);
        if (other) assert_non_null(strstr(err.text, "another table"));
        cof_shard_free(w.shard);
        cof_schema_free(w.schema);
        cof_table_free(w.table);
    }
    unlink(w.path);
}

/* The digest of rows does not depend on the shards that they are in. */
static void the_cut_does_not_matter(void **state)
{
    (void)state;
    world w;
    cof_error err;
    cofi_writer request = {.env = cofi_env_resolve(NULL)};
    uint32_t column = 0;
    open_world(&w, 7);
    cofi_frame frame = {.n_attrs = 1, .column = &column, .unit = 1, .n_rows = 90, .total_weight = 1};
    cofi_request_begin(&request, COFI_ASK_DIGEST, &frame);
    cofi_request_end(&request, 3);
    uint64_t whole[3] = {0};
    assert_status(cof_shard_answer(w.shard, request.bytes, request.n, whole, 3, &err), COF_OK, &err);
    for (uint32_t n_shards = 1; n_shards < 9; n_shards++) {
        cof_shard_set *set;
        uint64_t sum[3] = {0};
        assert_status(cof_shard_set_open(NULL, w.table, n_shards, 0, 2, &set, &err), COF_OK, &err);
        cof_shards shards = cof_shard_set_shards(set);
        assert_int_equal(shards.ask(shards.ctx, request.bytes, request.n, sum, 3), 0);
        assert_memory_equal(sum, whole, sizeof sum);
        cof_shard_set_free(set);
    }
    free(request.bytes);
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
    for (int call = 0; call < 2; call++) {
        unlink(w.path);
        fail_calls(call == 0 ? "fsync" : "flock", 0, 3, EINTR);
        assert_status(run(&w, 2, &info, &n_replayed, &err), COF_OK, &err);
        assert_int_equal(calls_left(), 0);
    }
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
    for (int after = 0; after < 3; after++) { /* its head, the first answer, all of it */
        fail_calls("pread", after, 1, EIO);
        assert_int_equal(run(&w, 2, &info, &n_replayed, &err), after < 1 ? COF_ERR_IO : COF_ERR_BACKEND);
        assert_int_equal(calls_left(), 0);
        assert_non_null(strstr(err.text, "cannot read the journal"));
    }
    fail_calls("flock", 0, 1, EWOULDBLOCK);
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_IO);
    assert_non_null(strstr(err.text, "in use by another run"));
    fail_calls("flock", 0, 1, ENOLCK);
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_IO);
    assert_non_null(strstr(err.text, "cannot lock the journal"));
    unlink(w.path);
    assert_int_equal(symlink("elsewhere", w.path), 0);
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_IO);
    assert_non_null(strstr(err.text, "is a link"));
    unlink(w.path);
    assert_int_equal(mkfifo(w.path, 0666), 0);
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_IO);
    assert_non_null(strstr(err.text, "not an ordinary file"));
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

static void journals_of_other_versions_say_so(void **state)
{
    (void)state;
    enum { HEAD = 48, VERSION_AT = 8, LIBRARY_AT = 32 };
    static const struct {
        int at, byte;
        cof_status status;
        const char *words;
    } heads[] = {{VERSION_AT, 3, COF_ERR_TOO_NEW, "knows formats up to"},
                 {VERSION_AT, 1, COF_ERR_DATA, "of an earlier version"},
                 {LIBRARY_AT, 0xee, COF_ERR_DATA, "was begun by version"}};
    world w;
    cof_fit_info info;
    cof_error err;
    uint64_t n_replayed;
    unsigned char head[HEAD];
    open_world(&w, 1);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        unlink(w.path);
        assert_status(run(&w, 2, &info, &n_replayed, &err), COF_OK, &err);
        FILE *file = fopen(w.path, "r+b");
        assert_int_equal(fread(head, 1, HEAD, file), HEAD);
        head[heads[i].at] = (unsigned char)heads[i].byte;
        uint64_t sum = cofi_checksum(head, HEAD - 8);
        for (int b = 0; b < 8; b++) head[HEAD - 8 + b] = (unsigned char)(sum >> (8 * b));
        rewind(file);
        assert_int_equal(fwrite(head, 1, HEAD, file), HEAD);
        fclose(file);
        assert_int_equal(run(&w, 2, &info, &n_replayed, &err), heads[i].status);
        assert_non_null(strstr(err.text, heads[i].words));
    }
    close_world(&w);
}

static void standard_output_is_no_journal(void **state)
{
    (void)state;
    world w;
    cof_fit_info info;
    cof_error err;
    uint64_t n_replayed;
    open_world(&w, 1);
    snprintf(w.path, sizeof w.path, "-");
    assert_int_equal(run(&w, 2, &info, &n_replayed, &err), COF_ERR_ARGUMENT);
    assert_int_equal(access("-", F_OK), -1);
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
        cmocka_unit_test(other_rows_are_refused),        cmocka_unit_test(the_cut_does_not_matter),
        cmocka_unit_test(every_changed_byte_is_noticed), cmocka_unit_test(a_lost_tail_is_asked_again),
        cmocka_unit_test(answers_are_synchronised),      cmocka_unit_test(interrupted_calls_are_repeated),
        cmocka_unit_test(calls_that_fail_are_told),      cmocka_unit_test(journals_of_other_versions_say_so),
        cmocka_unit_test(standard_output_is_no_journal), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
