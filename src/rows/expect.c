/* The E step over rows in memory.
 *
 * Memberships and log-likelihoods of every row of the table are rounded to whole units before they are added
 * up, so that sums depend neither on the number of threads nor on folding. The surprise of a row is minus
 * its log-likelihood. */
#include "local.h"
#include "stream.h"

#include <math.h>

enum { MOST_OWN_BYTES = 1 << 28 }; /* limit for all parts together */

typedef struct expect_team {
    cofi_expect_job job;
    cofi_labels *s;
} expect_team;

/* ---- Parts of the rows --------------------------------------------------------------------------- */

/* One part per thread, unless a part would have too few rows or the tables would take too much memory. */
static uint32_t choose_parts(const cofi_labels *s, const cofi_expectation *e, size_t n_entries,
                             size_t n_visited)
{
    size_t most = MOST_OWN_BYTES / ((n_entries + e->stride) * sizeof(uint64_t));
    size_t n = cofi_team_size(s->pass.team), blocks = cofi_n_blocks(n_visited);
    n = n < most ? n : most;
    n = n < blocks ? n : blocks;
    return n > 0 ? (uint32_t)n : 1;
}

/* Allocates the blocks of each part, with an unused cache line at their ends: parts must not share one. */
static cof_status open_parts(cofi_labels *s, const cofi_expectation *e, size_t n_entries, size_t n_visited,
                             cof_error *err)
{
    enum { APART = 64 / sizeof(uint64_t) };
    uint32_t lanes = cofi_expect_lanes(e);
    size_t n = cofi_expect_most(lanes) * lanes + APART;
    s->n_parts = choose_parts(s, e, n_entries, n_visited);
    cofi_expect_part *parts = cofi_blocks_add_zero(&s->own, s->n_parts, sizeof *parts);
    if (parts == NULL) return cofi_no_memory(err);
    for (cofi_expect_part *part = parts; part < parts + s->n_parts; part++) {
        part->count = cofi_blocks_add_line(&s->own, n_entries + e->stride + APART, sizeof *part->count);
        part->units = cofi_blocks_add_line(&s->own, n, sizeof *part->units);
        part->share = cofi_blocks_add_line(&s->own, n, sizeof *part->share);
        if (part->count == NULL || part->units == NULL || part->share == NULL) return cofi_no_memory(err);
    }
    s->part = parts; /* only when complete: a shard may be asked again after a failure */
    return COF_OK;
}

/* ---- All rows ------------------------------------------------------------------------------------ */

static void expect_task(void *ctx, uint32_t worker, size_t part)
{
    const expect_team *team = ctx;
    const cofi_expect_job *job = &team->job;
    const cofi_labels *s = team->s;
    cofi_expect_part own = s->part[part];
    size_t n = cofi_n_blocks(job->n), step = job->e->step;
    size_t begin = part * n / s->n_parts * COFI_BLOCK_ROWS,
           end = (part + 1) * n / s->n_parts * COFI_BLOCK_ROWS;
    own.surprise = own.weight = 0;
    memset(own.count, 0, (job->n_entries + job->e->stride) * sizeof *own.count);
    end = end < job->n ? end : job->n;
    size_t each = s->pass.streamed ? COFI_STREAM_BLOCKS * COFI_BLOCK_ROWS : end;
    if (s->pass.streamed) cofi_stream_want(job->cells, begin, begin + each);
    for (size_t next; begin < end; begin = next) {
        next = end - begin < each ? end : begin + each;
        if (s->pass.streamed) cofi_stream_want(job->cells, next, next + each);
        size_t first = begin + (step - (size_t)((job->first_row + begin) % step)) % step;
        if (first < next) s->pass.kernel->expect(job, first, next, &own);
    }
    s->part[part] = own;
}

double cofi_surprise_scale(double surprise, uint64_t total_weight)
{
    if (!(surprise > 0)) return 0;
    int exponent = 61 - ilogb(fmax(surprise, 1)) - ilogb((double)total_weight);
    return ldexp(1.0, exponent - 1);
}

/* Equal rows of equal weight are visited once, unless only some rows of the table are visited. */
static void set_rows(cofi_expect_job *job, const cofi_local *l)
{
    if (l->group != NULL && l->table_weight == NULL && job->e->step == 1) {
        job->n = l->cells.n_rows;
        job->copies = l->copies;
        return;
    }
    job->n = l->n_rows;
    job->group = l->group;
    job->weight = l->table_weight;
    job->first_row = l->first_row;
}

cof_status cofi_local_expect(cofi_partition *p, cofi_expectation *e, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    const cofi_problem *problem = p->rows->problem;
    cofi_labels *s = p->labels;
    cofi_expect_job job = {.e = e,
                           .cells = &l->cells,
                           .n_entries = (size_t)cofi_n_flat(problem) * e->stride,
                           .surprise_scale = cofi_surprise_scale(e->surprise, problem->total_weight)};
    set_rows(&job, l);
    if (s->part == NULL) COFI_TRY(open_parts(s, e, job.n_entries, job.n / e->step, err));
    expect_team team = {job, s};
    if (s->pass.streamed) cofi_stream_begin(&l->cells);
    cofi_team_run(s->pass.team, expect_task, &team, s->n_parts);
    if (s->pass.streamed) cofi_stream_end(&l->cells);
    memset(e->count, 0, job.n_entries * sizeof *e->count);
    memset(e->size, 0, e->stride * sizeof *e->size);
    e->weight = e->surprise_units = 0;
    for (uint32_t t = 0; t < s->n_parts; t++) {
        for (size_t at = 0; at < job.n_entries; at++) e->count[at] += s->part[t].count[at];
        for (uint32_t j = 0; j < e->stride; j++) e->size[j] += s->part[t].count[job.n_entries + j];
        e->surprise_units += s->part[t].surprise;
        e->weight += s->part[t].weight;
    }
    e->log_likelihood =
        e->surprise > 0 ? -(double)e->surprise_units / job.surprise_scale / problem->unit : (double)NAN;
    return COF_OK;
}
