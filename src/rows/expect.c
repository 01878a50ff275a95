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
static uint32_t choose_parts(const cofi_labels *s, const cofi_expect_job *job, size_t n_visited)
{
    size_t most = MOST_OWN_BYTES / ((job->n_entries + job->stride) * sizeof(uint64_t));
    size_t n = cofi_team_size(s->pass.team), blocks = cofi_n_blocks(n_visited);
    n = n < most ? n : most;
    n = n < blocks ? n : blocks;
    return n > 0 ? (uint32_t)n : 1;
}

/* Allocates the blocks of each part, with an unused cache line at their ends: parts must not share one. */
static cof_status open_parts(cofi_labels *s, const cofi_expect_job *job, cof_error *err)
{
    enum { APART = 64 / sizeof(uint64_t) };
    uint32_t lanes = cofi_expect_lanes(job->e);
    size_t n_count = job->n_entries + job->stride + APART;
    size_t n_attrs = s->pass.rows->n_attrs, n_rows = cofi_expect_most(lanes, n_attrs);
    size_t n = n_rows * lanes + APART;
    s->n_parts = choose_parts(s, job, job->n / job->e->step);
    if (job->stride != job->e->stride || cofi_expect_is_wide(lanes)) {
        s->theta = cofi_blocks_add_line(&s->own, job->n_entries + job->stride, sizeof *s->theta);
        if (s->theta == NULL) return cofi_no_memory(err);
    }
    cofi_expect_part *parts = cofi_blocks_add_zero(&s->own, s->n_parts, sizeof *parts);
    if (parts == NULL) return cofi_no_memory(err);
    for (cofi_expect_part *part = parts; part < parts + s->n_parts; part++) {
        part->count = cofi_blocks_add_line(&s->own, n_count, sizeof *part->count);
        part->units = cofi_blocks_add_line(&s->own, n, sizeof *part->units);
        part->share = cofi_blocks_add_line(&s->own, n, sizeof *part->share);
        part->id = cofi_blocks_add_line(&s->own, n_rows * n_attrs + 2 * APART, sizeof *part->id);
        if (part->count == NULL || part->units == NULL || part->share == NULL || part->id == NULL)
            return cofi_no_memory(err);
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
    memset(own.count, 0, (job->n_entries + job->stride) * sizeof *own.count);
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

/* Entries past the classes stay 0. */
static void copy_tables(const cofi_expect_job *job, double *theta)
{
    const cofi_expectation *e = job->e;
    for (uint32_t j = 0; j < e->k; j += COFI_EXPECT_WIDE) {
        uint32_t n = e->k - j < COFI_EXPECT_WIDE ? e->k - j : COFI_EXPECT_WIDE;
        for (size_t g = 0; g <= job->n_flat; g++) {
            const double *from = g < job->n_flat ? e->log_theta + g * e->stride : e->log_pi;
            memcpy(theta + cofi_expect_index(job, g, j), from + j, n * sizeof *theta);
        }
    }
}

static void add_part(const cofi_expect_job *job, const cofi_expect_part *part, cofi_expectation *e)
{
    for (uint32_t j = 0; j < e->k; j += COFI_EXPECT_WIDE) {
        uint32_t n = e->k - j < COFI_EXPECT_WIDE ? e->k - j : COFI_EXPECT_WIDE;
        for (size_t g = 0; g <= job->n_flat; g++) {
            const uint64_t *from = part->count + cofi_expect_index(job, g, j);
            uint64_t *to = g < job->n_flat ? e->count + g * e->stride + j : e->size + j;
            for (uint32_t x = 0; x < n; x++) to[x] += from[x];
        }
    }
    e->surprise_units += part->surprise;
    e->weight += part->weight;
}

cof_status cofi_local_expect(cofi_partition *p, cofi_expectation *e, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    const cofi_problem *problem = p->rows->problem;
    cofi_labels *s = p->labels;
    uint32_t lanes = cofi_expect_lanes(e), n_flat = cofi_n_flat(problem);
    cofi_expect_job job = {.e = e,
                           .cells = &l->cells,
                           .log_theta = e->log_theta,
                           .log_pi = e->log_pi,
                           .stride = e->stride > lanes && !cofi_expect_is_wide(lanes) ? e->stride : lanes,
                           .n_flat = n_flat,
                           .surprise_scale = cofi_surprise_scale(e->surprise, problem->total_weight)};
    job.n_entries = (size_t)n_flat * job.stride;
    set_rows(&job, l);
    if (s->part == NULL) COFI_TRY(open_parts(s, &job, err));
    if (s->theta != NULL) {
        copy_tables(&job, s->theta);
        job.log_theta = s->theta;
        job.log_pi = s->theta + job.n_entries;
    }
    expect_team team = {job, s};
    if (s->pass.streamed) cofi_stream_begin(&l->cells);
    cofi_team_run(s->pass.team, expect_task, &team, s->n_parts);
    if (s->pass.streamed) cofi_stream_end(&l->cells);
    memset(e->count, 0, (size_t)n_flat * e->stride * sizeof *e->count);
    memset(e->size, 0, e->stride * sizeof *e->size);
    e->weight = e->surprise_units = 0;
    for (uint32_t t = 0; t < s->n_parts; t++) add_part(&job, &s->part[t], e);
    e->log_likelihood =
        e->surprise > 0 ? -(double)e->surprise_units / job.surprise_scale / problem->unit : (double)NAN;
    return COF_OK;
}
