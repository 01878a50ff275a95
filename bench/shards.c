/* What shards cost in one process: bench_shards [ROWS] [ROUNDS].
 *
 * Prints the least time of a default fit and of the same fit over one shard and over four, taken in turns; the bytes that go
 * down and come up in a pass; and the time of a request that asks for nothing. */
#include <inttypes.h>
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
    unsigned char *cheap;
    size_t n_cheap, cheap_words;
} counting;

static uint32_t u32_at(const unsigned char *b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Kinds of requests as docs/shards.md numbers them. The shortest request for cells is kept: it lists a row or a few. */
static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    enum { KIND_AT = 12, CELLS = 3, PASS = 5 };
    counting *c = ctx;
    uint32_t kind = u32_at((const unsigned char *)request + KIND_AT);
    c->n_requests++;
    if (kind == PASS) {
        c->n_passes++;
        if (n_bytes > c->down) c->down = n_bytes, c->up = 8 * n_words;
    }
    if (kind == CELLS && (c->cheap == NULL || n_bytes < c->n_cheap)) {
        free(c->cheap);
        c->cheap = malloc(n_bytes);
        memcpy(c->cheap, request, n_bytes);
        c->n_cheap = n_bytes;
        c->cheap_words = n_words;
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
    return (cof_fit_options){.struct_size = sizeof(cof_fit_options), .k = 5, .seed = 1};
}

static double time_local(const cof_table *table, double *objective)
{
    cof_error err;
    cof_model *model;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_fit_options o = options();
    double begun_s = now_s();
    must(cof_fit(table, &o, &model, &info, &err), &err);
    double took_s = now_s() - begun_s;
    *objective = info.objective;
    cof_model_free(model);
    return took_s;
}

static double time_shards(const cof_table *table, uint32_t n_shards, counting *c, double *objective)
{
    cof_error err;
    cof_model *model;
    cof_shard_set *set;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_fit_options o = options();
    must(cof_shard_set_open(NULL, table, n_shards, 0, 0, &set, &err), &err);
    double begun_s = now_s();
    c->to = cof_shard_set_shards(set);
    c->n_requests = c->n_passes = 0;
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask, .ctx = c, .why = why};
    must(cof_fit_shards(NULL, cof_shard_set_schema(set), &o, &shards, &model, &info, &err), &err);
    double took_s = now_s() - begun_s;
    *objective = info.objective;
    cof_model_free(model);
    cof_shard_set_free(set);
    return took_s;
}

static double time_request(const cof_table *table, counting *c)
{
    enum { TIMES = 2000 };
    cof_error err;
    cof_shard_set *set;
    uint64_t *sum = calloc(c->cheap_words, sizeof *sum);
    must(cof_shard_set_open(NULL, table, 1, 0, 0, &set, &err), &err);
    cof_shards to = cof_shard_set_shards(set);
    double least_s = 1e9;
    for (int i = 0; i < TIMES; i++) {
        double begun_s = now_s();
        if (to.ask(to.ctx, c->cheap, c->n_cheap, sum, c->cheap_words) != 0) exit(1);
        double took_s = now_s() - begun_s;
        least_s = took_s < least_s ? took_s : least_s;
    }
    cof_shard_set_free(set);
    free(sum);
    return least_s;
}

int main(int argc, char **argv)
{
    uint64_t n_rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
    int rounds = argc > 2 ? atoi(argv[2]) : 7;
    cof_generate_options g = {
        .struct_size = sizeof g, .kind = COF_GENERATE_PLANTED, .n_rows = n_rows, .noise = 0.6};
    cof_table *table;
    cof_error err;
    counting c = {.cheap = NULL};
    double local_s = 1e9, one_s = 1e9, four_s = 1e9, objective[3];
    must(cof_table_generate(NULL, &g, &table, &err), &err);
    for (int round = 0; round < rounds; round++) {
        double took_s = time_local(table, &objective[0]);
        local_s = took_s < local_s ? took_s : local_s;
        took_s = time_shards(table, 4, &c, &objective[2]);
        four_s = took_s < four_s ? took_s : four_s;
        took_s = time_shards(table, 1, &c, &objective[1]);
        one_s = took_s < one_s ? took_s : one_s;
    }
    printf("%" PRIu64 " x 20, k = 5, the least of %d fits, in turns\n", n_rows, rounds);
    printf("cof_fit          %8.4f s\n", local_s);
    printf("one shard        %8.4f s  %.2f times, %zu requests, %zu of them passes\n", one_s, one_s / local_s,
           c.n_requests, c.n_passes);
    printf("four shards      %8.4f s  %.2f times\n", four_s, four_s / local_s);
    printf("a pass           %zu bytes down, %zu bytes up\n", c.down, c.up);
    printf("a small request  %.2f microseconds (%zu bytes down, %zu bytes up)\n",
           1e6 * time_request(table, &c), c.n_cheap, 8 * c.cheap_words);
    printf("objectives       %s\n",
           objective[0] == objective[1] && objective[0] == objective[2] ? "equal" : "DIFFER");
    free(c.cheap);
    cof_table_free(table);
    return objective[0] == objective[1] && objective[0] == objective[2] ? 0 : 1;
}
