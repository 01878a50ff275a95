/* Restarts over shards advance in rounds: fewer requests, the same restarts, and a host that is called on its own thread. */
#include "alloc_helper.h"
#include "unit_helper.h"

#include "../../src/rows/shards/request.h"
#include "coforest_shard.h"

#include <pthread.h>
#include <unistd.h>

enum { RESTARTS = 6 };

typedef struct world {
    cof_table *table;
    cof_schema *schema;
    cof_shard *shard;
    size_t n_asked, n_joined, dies_at; /* the shard cannot be reached from this request on */
    uint64_t sum;                      /* of all requests, in their order */
    bool slow;
    pthread_t caller;
    uint32_t calls_left; /* until the host says stop; UINT32_MAX: never */
    size_t n_heard;
    unsigned char *joined; /* a copy of the latest joined request */
    size_t n_bytes;
} world;

static bool is_joined(const void *request)
{
    return ((const unsigned char *)request)[12] == COFI_ASK_SEVERAL;
}

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    world *w = ctx;
    assert_true(pthread_equal(w->caller, pthread_self()));
    if (w->n_asked == w->dies_at) return 1;
    if (w->slow) usleep(10000);
    w->n_asked++;
    w->sum = cofi_mix64(w->sum + cofi_checksum(request, n_bytes));
    if (is_joined(request)) {
        w->n_joined++;
        free(w->joined);
        w->joined = get_zero(n_bytes, 1);
        memcpy(w->joined, request, n_bytes);
        w->n_bytes = n_bytes;
    }
    return cof_shard_answer(w->shard, request, n_bytes, sum, n_words, NULL) != COF_OK;
}

static const char *reason(void *ctx)
{
    assert_true(pthread_equal(((world *)ctx)->caller, pthread_self()));
    return "the second worker is gone";
}

static void hear(void *ctx, const cof_progress *now)
{
    world *w = ctx;
    assert_true(pthread_equal(w->caller, pthread_self()));
    assert_in_range(now->restart, 1, RESTARTS);
    w->n_heard++;
}

static int say_stop(void *ctx)
{
    world *w = ctx;
    assert_true(pthread_equal(w->caller, pthread_self()));
    if (w->calls_left == UINT32_MAX) return 0;
    if (w->calls_left == 0) return 1;
    w->calls_left--;
    return 0;
}

static void open_world(world *w, size_t n_rows)
{
    cof_error err;
    *w = (world){.table = random_table(4, n_rows, 5, 4, 3),
                 .dies_at = SIZE_MAX,
                 .caller = pthread_self(),
                 .calls_left = UINT32_MAX};
    assert_status(cof_schema_of(w->table, 0, &w->schema, &err), COF_OK, &err);
    assert_status(cof_shard_open(NULL, w->table, w->schema, 0, 1, &w->shard, &err), COF_OK, &err);
}

static void close_world(world *w)
{
    cof_shard_free(w->shard);
    cof_schema_free(w->schema);
    cof_table_free(w->table);
    free(w->joined);
}

static cof_fit_options several(uint32_t threads)
{
    return (cof_fit_options){
        .struct_size = sizeof(cof_fit_options), .k = 3, .restarts = RESTARTS, .threads = threads};
}

static cof_status fit(world *w, const cof_env *env, const cof_fit_options *o, uint32_t together,
                      cof_model **model, cof_fit_info *info, cof_error *err)
{
    cof_shards shards = {
        .struct_size = sizeof shards, .ask = ask, .ctx = w, .why = reason, .together = together};
    cof_env host = {.struct_size = sizeof host, .should_stop = say_stop, .progress = hear, .ctx = w};
    *model = NULL;
    w->n_asked = w->n_joined = w->n_heard = 0;
    w->sum = 0;
    return cof_fit_shards(env != NULL ? env : &host, w->schema, o, &shards, model, info, err);
}

/* Four restarts together. */
static void fit_joined(world *w, const cof_fit_options *o)
{
    cof_model *model;
    cof_error err;
    assert_status(fit(w, NULL, o, 4, &model, NULL, &err), COF_OK, &err);
    cof_model_free(model);
}

/* Small tables draw seeds from all rows; from 16,385 rows on, starts are tried on a sample and some repeat earlier ones. */
static void the_restarts_are_those_of_one_after_the_other(void **state)
{
    (void)state;
    static const struct {
        size_t n_rows;
        int32_t init;
    } cases[] = {{90, COF_INIT_PORTFOLIO}, {90, COF_INIT_RANDOM}, {90, COF_INIT_FARTHEST}, {20000, 0}};
    for (size_t c = 0; c < COUNT(cases); c++) {
        world w;
        cof_model *alone, *model;
        cof_error err;
        cof_fit_options o = several(1);
        cof_fit_info info[2] = {{.struct_size = sizeof *info}, {.struct_size = sizeof *info}};
        open_world(&w, cases[c].n_rows);
        o.init = cases[c].init;
        assert_status(fit(&w, NULL, &o, 1, &alone, &info[0], &err), COF_OK, &err);
        size_t n_alone = w.n_asked;
        assert_int_equal(w.n_joined, 0);
        for (uint32_t together = 2; together <= 9; together += together == 2 ? 2 : 5) {
            assert_status(fit(&w, NULL, &o, together, &model, &info[1], &err), COF_OK, &err);
            assert_true(w.n_asked < n_alone && w.n_joined > 0 && w.n_heard > RESTARTS);
            assert_same_trees(alone, model);
            assert_same_history(alone, model);
            assert_same_records(alone, model);
            assert_int_equal(info[0].row_visits, info[1].row_visits);
            assert_int_equal(info[0].best_restart, info[1].best_restart);
            cof_model_free(model);
        }
        print_message("%zu rows, start %d: %zu requests, in rounds %zu\n", cases[c].n_rows, cases[c].init,
                      n_alone, w.n_asked);
        assert_true(5 * w.n_asked < 3 * n_alone);
        cof_model_free(alone);
        close_world(&w);
    }
}

/* A journal needs that. */
static void requests_do_not_depend_on_the_threads(void **state)
{
    (void)state;
    world w;
    cof_fit_options o = several(1);
    open_world(&w, 90);
    fit_joined(&w, &o);
    uint64_t sum = w.sum;
    for (o.threads = 0; o.threads < 6; o.threads++) {
        fit_joined(&w, &o);
        assert_int_equal(w.sum, sum);
    }
    close_world(&w);
}

static void stopping_keeps_what_was_begun(void **state)
{
    (void)state;
    for (int large = 0; large < 2; large++) {
        world w;
        cof_fit_options o = several(2);
        size_t n_kept = 0;
        open_world(&w, large ? 20000 : 90);
        for (uint32_t calls = 0; calls < 120; calls += 1 + calls / 8) {
            cof_model *model;
            cof_error err;
            cof_fit_info info = {.struct_size = sizeof info};
            w.calls_left = calls;
            cof_status status = fit(&w, NULL, &o, 4, &model, &info, &err);
            n_kept += status == COF_OK;
            if (status != COF_OK) assert_int_equal(status, COF_ERR_STOPPED);
            if (status != COF_OK) continue;
            assert_in_range(info.n_restarts, 1, RESTARTS);
            if (info.n_restarts < RESTARTS) assert_int_equal(info.stop_reason, COF_STOP_STOPPED);
            cof_model_free(model);
        }
        assert_true(n_kept > 5);
        close_world(&w);
    }
}

/* When the time is up, the first restart goes on to its end, and the others stop if they were begun. */
static void a_time_limit_leaves_a_whole_restart(void **state)
{
    (void)state;
    world w;
    cof_model *model, *alone;
    cof_error err;
    cof_fit_options o = several(1);
    open_world(&w, 90);
    assert_status(fit(&w, NULL, &o, 1, &alone, NULL, &err), COF_OK, &err);
    for (int slow = 0; slow < 2; slow++) {
        size_t n, n_alone;
        cof_fit_info info = {.struct_size = sizeof info};
        w.slow = slow;
        o.time_limit_s = slow ? 0.1 : 1e-9;
        assert_status(fit(&w, NULL, &o, 4, &model, &info, &err), COF_OK, &err);
        assert_int_equal(info.stop_reason, COF_STOP_TIME);
        const cof_restart_record *record = cof_model_restarts(model, &n);
        assert_in_range(n, 1, slow ? 4 : 1);
        assert_int_equal(record[0].passes, cof_model_restarts(alone, &n_alone)[0].passes);
        cof_model_free(model);
    }
    cof_model_free(alone);
    close_world(&w);
}

static void shards_that_fail_are_told(void **state)
{
    (void)state;
    world w;
    cof_model *model;
    cof_error err;
    cof_fit_options o = several(2);
    open_world(&w, 90);
    fit_joined(&w, &o);
    for (size_t n = w.n_asked; n-- > 0;) {
        w.dies_at = n;
        assert_int_equal(fit(&w, NULL, &o, 4, &model, NULL, &err), COF_ERR_BACKEND);
        assert_string_equal(err.text, "the second worker is gone");
        assert_int_equal(w.n_asked, n); /* nobody is asked again */
    }
    close_world(&w);
}

/* Without memory to join requests, they are sent one by one. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    world w;
    cof_model *model;
    cof_fit_options o = several(1);
    open_world(&w, 30);
    o.restarts = 2;
    o.k = 2;
    for (size_t n = 0;; n++) {
        alloc_meter meter = {.fail_at = n};
        cof_env env = alloc_env(&meter);
        cof_status status = fit(&w, &env, &o, 2, &model, NULL, NULL);
        cof_model_free(model);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
    }
    close_world(&w);
}

/* A world that keeps a joined request of a fit. */
static void open_joined(world *w)
{
    cof_fit_options o = several(1);
    open_world(w, 90);
    fit_joined(w, &o);
}

static void seal(unsigned char *request, size_t n_bytes)
{
    uint64_t sum = cofi_checksum(request, n_bytes - 8);
    for (int i = 0; i < 8; i++) request[n_bytes - 8 + (size_t)i] = (unsigned char)(sum >> (8 * i));
}

/* Every byte of a joined request changed, with its checksum put right: an answer or a sentence, never a crash. */
static void damaged_joined_requests_are_refused(void **state)
{
    (void)state;
    world w;
    cof_error err;
    open_joined(&w);
    size_t n_words = cof_request_words(w.joined, w.n_bytes), n_refused = 0;
    uint64_t *sum = get_zero(n_words, sizeof *sum);
    for (size_t at = 24; at + 8 < w.n_bytes; at++) {
        unsigned char kept = w.joined[at];
        w.joined[at] ^= 0x0E; /* of the kind of an inner request, too: 5 becomes 11, 0 becomes 14 */
        seal(w.joined, w.n_bytes);
        n_refused += cof_shard_answer(w.shard, w.joined, w.n_bytes, sum, n_words, &err) != COF_OK;
        w.joined[at] = kept;
    }
    assert_true(n_refused > w.n_bytes / 2); /* inner requests have checksums of their own */
    seal(w.joined, w.n_bytes);
    assert_status(cof_shard_answer(w.shard, w.joined, w.n_bytes, sum, n_words, &err), COF_OK, &err);
    free(sum);
    close_world(&w);
}

/* A joined request inside a joined request. */
static void joined_requests_are_not_nested(void **state)
{
    (void)state;
    world w;
    cof_error err;
    open_joined(&w);
    size_t n_inner = cof_request_words(w.joined, w.n_bytes), n_words = n_inner + COFI_ANSWER_END;
    uint64_t *sum = get_zero(n_words, sizeof *sum);
    uint32_t column[5];
    cofi_request q;
    cofi_writer outer = {.env = cofi_env_resolve(NULL)};
    assert_status(cofi_request_read(w.joined, w.n_bytes, column, 5, &q, &err), COF_OK, &err);
    cofi_request_begin(&outer, COFI_ASK_SEVERAL, &q.frame);
    cofi_put_u32(&outer, 1);
    cofi_put_u64(&outer, w.n_bytes);
    cofi_put_bytes(&outer, w.joined, w.n_bytes);
    cofi_request_end(&outer, n_words);
    assert_int_equal(cof_shard_answer(w.shard, outer.bytes, outer.n, sum, n_words, &err), COF_ERR_DATA);
    cofi_release(&outer.env, outer.bytes);
    free(sum);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_restarts_are_those_of_one_after_the_other),
        cmocka_unit_test(requests_do_not_depend_on_the_threads),
        cmocka_unit_test(stopping_keeps_what_was_begun),
        cmocka_unit_test(a_time_limit_leaves_a_whole_restart),
        cmocka_unit_test(shards_that_fail_are_told),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(damaged_joined_requests_are_refused),
        cmocka_unit_test(joined_requests_are_not_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
