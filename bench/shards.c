/* What shards cost in one process: bench_shards [ROWS] [ROUNDS].
 *
 * Prints the least time, elapsed and of the processor, of a default fit and of the same fit over one shard and over four,
 * taken in turns and on one thread, also with the requests of several restarts joined; the bytes that go down and come up in a pass; and the time of a request about no rows. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coforest_shard.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct times {
    double elapsed_s, processor_s;
} times;

static times read_clocks(void)
{
    return (times){now_s(), (double)clock() / CLOCKS_PER_SEC};
}

/* The lesser of the best so far and of what has gone by since `begun`. */
static times least(times best, times begun)
{
    times now = read_clocks(), took = {now.elapsed_s - begun.elapsed_s, now.processor_s - begun.processor_s};
    return (times){took.elapsed_s < best.elapsed_s ? took.elapsed_s : best.elapsed_s,
                   took.processor_s < best.processor_s ? took.processor_s : best.processor_s};
}

static void must(cof_status status, const cof_error *err)
{
    if (status == COF_OK) return;
    fprintf(stderr, "bench_shards: %s\n", err->text);
    exit(1);
}

typedef struct counting {
    cof_shards to;
    size_t n_requests, n_passes;
    size_t down, up; /* of the last pass of one table that had labels before */
    double empty_s;  /* the least time of a request without rows */
} counting;

static uint32_t u32_at(const unsigned char *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    enum { KIND_AT = 12, PASS = 5 }; /* docs/shards.md */
    counting *c = ctx;
    c->n_requests++;
    if (u32_at((const unsigned char *)request + KIND_AT) == PASS) {
        c->n_passes++;
        if (n_bytes > c->down) c->down = n_bytes, c->up = 8 * n_words;
    }
    return c->to.ask(c->to.ctx, request, n_bytes, sum, n_words);
}

static const char *why(void *ctx)
{
    const counting *c = ctx;
    return c->to.why(c->to.ctx);
}

static cof_fit_options options(void)
{
    return (cof_fit_options){.struct_size = sizeof(cof_fit_options), .k = 5, .seed = 1, .threads = 1};
}

static times time_local(const cof_table *table, times best, double *objective)
{
    cof_error err;
    cof_model *model;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_fit_options o = options();
    times begun = read_clocks();
    must(cof_fit(table, &o, &model, &info, &err), &err);
    best = least(best, begun);
    *objective = info.objective;
    cof_model_free(model);
    return best;
}

/* The labels of no rows, again and again: the shard has them, and only reads the request. */
static double time_empty(const cof_shards *to, const cof_model *model)
{
    enum { TIMES = 5000 };
    size_t n_bytes;
    const void *request = cof_model_label_request(model, &n_bytes);
    size_t n_words = cof_request_words(request, n_bytes);
    double least_s = 1e9;
    uint64_t *sum = calloc(n_words, sizeof *sum);
    for (int i = 0; i < TIMES; i++) {
        double begun_s = now_s();
        if (to->ask(to->ctx, request, n_bytes, sum, n_words) != 0) exit(1);
        double took_s = now_s() - begun_s;
        least_s = took_s < least_s ? took_s : least_s;
    }
    free(sum);
    return least_s;
}

/* together: restarts that ask in one request; 0: as many as engines use */
static times time_shards(const cof_table *table, uint32_t n_shards, uint32_t together, counting *c,
                         times best, double *objective)
{
    cof_error err;
    cof_model *model;
    cof_shard_set *set;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_fit_options o = options();
    must(cof_shard_set_open(NULL, table, n_shards, 0, 1, &set, &err), &err);
    times begun = read_clocks();
    c->to = cof_shard_set_shards(set);
    c->n_requests = c->n_passes = 0;
    cof_shards shards = {
        .struct_size = sizeof shards, .ask = ask, .ctx = c, .why = why, .together = together};
    must(cof_fit_shards(NULL, cof_shard_set_schema(set), &o, &shards, &model, &info, &err), &err);
    best = least(best, begun);
    c->empty_s = time_empty(&c->to, model);
    *objective = info.objective;
    cof_model_free(model);
    cof_shard_set_free(set);
    return best;
}

int main(int argc, char **argv)
{
    uint64_t n_rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
    int rounds = argc > 2 ? atoi(argv[2]) : 7;
    cof_generate_options g = {
        .struct_size = sizeof g, .kind = COF_GENERATE_PLANTED, .n_rows = n_rows, .noise = 0.6};
    cof_table *table;
    cof_error err;
    counting c = {.down = 0}, in_rounds = c;
    double objective[4] = {0, 0, 0, 0};
    times local = {1e9, 1e9}, one = local, four = local, joined = local;
    must(cof_table_generate(NULL, &g, &table, &err), &err);
    for (int round = 0; round < rounds; round++) {
        local = time_local(table, local, &objective[0]);
        four = time_shards(table, 4, 1, &c, four, &objective[2]);
        joined = time_shards(table, 1, 0, &in_rounds, joined, &objective[3]);
        one = time_shards(table, 1, 1, &c, one, &objective[1]);
    }
    printf("%" PRIu64 " x 20, k = 5, one thread, the least of %d fits in turns\n", n_rows, rounds);
    printf("                  elapsed  processor   ratio of processor times\n");
    printf("cof_fit          %8.4f s %8.4f s\n", local.elapsed_s, local.processor_s);
    printf("one shard        %8.4f s %8.4f s  %.2f  (%zu requests, %zu of them passes)\n", one.elapsed_s,
           one.processor_s, one.processor_s / local.processor_s, c.n_requests, c.n_passes);
    printf("one, in rounds   %8.4f s %8.4f s  %.2f  (%zu requests)\n", joined.elapsed_s, joined.processor_s,
           joined.processor_s / local.processor_s, in_rounds.n_requests);
    printf("four shards      %8.4f s %8.4f s  %.2f\n", four.elapsed_s, four.processor_s,
           four.processor_s / local.processor_s);
    printf("a pass           %zu bytes down, %zu bytes up\n", c.down, c.up);
    printf("an empty request %.2f microseconds\n", 1e6 * c.empty_s);
    bool equal = true;
    for (int fit = 1; fit < 4; fit++) equal = equal && objective[fit] == objective[0];
    printf("objectives       %s\n", equal ? "equal" : "DIFFER");
    cof_table_free(table);
    return !equal;
}
