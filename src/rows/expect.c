/* The E step over rows in memory.
 *
 * Memberships and log-likelihoods of every row of the table are rounded to whole units before they are added
 * up, so that sums depend neither on the number of threads nor on folding. The surprise of a row is minus
 * its log-likelihood. */
#include "local.h"
#include "stream.h"

#include <math.h>

enum { MOST_OWN_BYTES = 1 << 28 }; /* limit for all parts together */
enum { MOST_KEPT_IDS = 1 << 18 };  /* of one part */

/* One E step over all rows, by all threads. */
typedef struct expect_team {
    const cofi_visited *rows;
    const cofi_cells *cells;
    uint32_t n_parts;
    cofi_labels *s;
    void (*visit)(const struct expect_team *team, size_t part, size_t begin, size_t end);
    const void *job;
} expect_team;

/* ---- Parts of the rows --------------------------------------------------------------------------- */

/* One part per thread, unless a part would have too few rows or the tables would take too much memory. */
static uint32_t choose_parts(const cofi_labels *s, size_t table_bytes, size_t n_visited)
{
    size_t most = MOST_OWN_BYTES / table_bytes;
    size_t n = cofi_team_size(s->pass.team), blocks = cofi_n_blocks(n_visited);
    n = n < most ? n : most;
    n = n < blocks ? n : blocks;
    return n > 0 ? (uint32_t)n : 1;
}

/* The first row from `begin` on that is visited. */
static size_t first_visited(uint64_t first_row, size_t begin, size_t step)
{
    return begin + (step - (size_t)((first_row + begin) % step)) % step;
}

static void part_task(void *ctx, uint32_t worker, size_t part)
{
    const expect_team *team = ctx;
    bool streamed = team->s->pass.streamed;
    size_t n = cofi_n_blocks(team->rows->n), step = team->rows->step;
    size_t begin = part * n / team->n_parts * COFI_BLOCK_ROWS,
           end = (part + 1) * n / team->n_parts * COFI_BLOCK_ROWS;
    end = end < team->rows->n ? end : team->rows->n;
    size_t each = streamed ? COFI_STREAM_BLOCKS * COFI_BLOCK_ROWS : end;
    if (streamed) cofi_stream_want(team->cells, begin, begin + each);
    for (size_t next; begin < end; begin = next) {
        next = end - begin < each ? end : begin + each;
        if (streamed) cofi_stream_want(team->cells, next, next + each);
        size_t first = first_visited(team->rows->first_row, begin, step);
        if (first < next) team->visit(team, part, first, next);
    }
}

static void run_parts(expect_team team)
{
    if (team.s->pass.streamed) cofi_stream_begin(team.cells);
    cofi_team_run(team.s->pass.team, part_task, &team, team.n_parts);
    if (team.s->pass.streamed) cofi_stream_end(team.cells);
}

/* Equal rows of equal weight are visited once if all rows are visited. */
static cofi_visited find_visited(const cofi_local *l, size_t step)
{
    if (step == 1 && l->group != NULL && l->table_weight == NULL)
        return (cofi_visited){.n = l->cells.n_rows, .step = 1, .copies = l->copies};
    return (cofi_visited){.n = l->n_rows,
                          .step = step,
                          .group = l->group,
                          .weight = l->table_weight,
                          .first_row = l->first_row};
}

/* ---- Full precision ------------------------------------------------------------------------------ */

/* Allocates the blocks of each part, with an unused cache line at their ends: parts must not share one. */
static cof_status open_parts(cofi_labels *s, const cofi_expect_job *job, cof_error *err)
{
    enum { APART = 64 / sizeof(uint64_t) };
    uint32_t lanes = cofi_expect_lanes(job->e);
    size_t n_count = job->n_entries + job->stride + APART;
    size_t n_attrs = s->pass.rows->n_attrs, n_rows = cofi_expect_most(COFI_EXPECT_ENTRIES, lanes, n_attrs);
    size_t n = n_rows * lanes + APART;
    s->n_parts = choose_parts(s, n_count * sizeof(uint64_t), job->rows.n / job->rows.step);
    if (job->stride != job->e->stride) {
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

static void visit_fully(const expect_team *team, size_t part, size_t begin, size_t end)
{
    cofi_expect_part own = team->s->part[part]; /* its sums in registers */
    team->s->pass.kernel->expect(team->job, begin, end, &own);
    team->s->part[part] = own;
}

double cofi_surprise_scale(double surprise, uint64_t total_weight)
{
    if (!(surprise > 0)) return 0;
    int exponent = 61 - ilogb(fmax(surprise, 1)) - ilogb((double)total_weight);
    return ldexp(1.0, exponent - 1);
}

/* Entries past the classes stay 0. */
static void copy_tables(const cofi_expect_job *job, double *theta)
{
    const cofi_expectation *e = job->e;
    for (size_t at = 0; at < job->n_entries; at += job->stride, theta += job->stride)
        memcpy(theta, e->log_theta + at / job->stride * e->stride, e->k * sizeof *theta);
    memcpy(theta, e->log_pi, e->k * sizeof *theta);
}

static void add_part(const cofi_expect_job *job, const cofi_expect_part *part, cofi_expectation *e)
{
    size_t n_flat = job->n_entries / job->stride;
    for (size_t g = 0; g <= n_flat; g++) {
        uint64_t *to = g < n_flat ? e->count + g * e->stride : e->size;
        for (uint32_t j = 0; j < e->k; j++) to[j] += part->count[g * job->stride + j];
    }
    e->surprise_units += part->surprise;
    e->weight += part->weight;
}

static cof_status expect_fully(cofi_labels *s, expect_team team, cofi_expectation *e, uint32_t n_flat,
                               uint64_t total_weight, cof_error *err)
{
    uint32_t lanes = cofi_expect_lanes(e), stride = e->stride > lanes ? e->stride : lanes;
    cofi_expect_job job = {.e = e,
                           .cells = team.cells,
                           .rows = *team.rows,
                           .log_theta = e->log_theta,
                           .log_pi = e->log_pi,
                           .stride = stride,
                           .n_entries = (size_t)n_flat * stride,
                           .surprise_scale = cofi_surprise_scale(e->surprise, total_weight)};
    if (s->part == NULL) COFI_TRY(open_parts(s, &job, err));
    if (s->theta != NULL) {
        copy_tables(&job, s->theta);
        job.log_theta = s->theta;
        job.log_pi = s->theta + job.n_entries;
    }
    for (uint32_t t = 0; t < s->n_parts; t++) {
        s->part[t].surprise = s->part[t].weight = 0;
        memset(s->part[t].count, 0, (job.n_entries + stride) * sizeof *s->part[t].count);
    }
    team.n_parts = s->n_parts;
    team.visit = visit_fully;
    team.job = &job;
    run_parts(team);
    for (uint32_t t = 0; t < s->n_parts; t++) add_part(&job, &s->part[t], e);
    return COF_OK;
}

/* ---- The coarse step ----------------------------------------------------------------------------- */

static cof_status open_coarse(cofi_labels *s, const cofi_coarse_job *job, cof_error *err)
{
    enum { APART = 64 / sizeof(uint32_t) };
    uint32_t lanes = cofi_coarse_lanes(job->e->k);
    size_t n_attrs = job->cells->n_attrs, n_rows = cofi_coarse_most(lanes, n_attrs);
    size_t n_entries = (job->n_flat + 1) * lanes;
    s->n_coarse = choose_parts(s, n_entries * sizeof(uint32_t), job->rows.n / job->rows.step);
    /* a part has whole blocks, of which each may have a row more or less */
    size_t n_blocks = cofi_n_blocks(job->rows.n) / s->n_coarse + 1,
           n_most = n_blocks * (COFI_BLOCK_ROWS / job->rows.step + 1);
    s->kept_step = n_most * n_attrs <= MOST_KEPT_IDS ? job->e->step : 0;
    size_t n_ids = (s->kept_step > 0 && n_most > n_rows ? n_most : n_rows) * n_attrs;
    s->surprise = cofi_blocks_add_line(&s->own, n_entries, sizeof *s->surprise);
    cofi_coarse_part *parts = cofi_blocks_add_zero(&s->own, s->n_coarse, sizeof *parts);
    for (uint32_t t = 0; parts != NULL && t < s->n_coarse; t++) {
        parts[t].count = cofi_blocks_add_line(&s->own, n_entries + APART, sizeof *parts->count);
        parts[t].entry = cofi_blocks_add_line(&s->own, n_rows * lanes + APART, sizeof *parts->entry);
        parts[t].id = cofi_blocks_add_line(&s->own, n_ids + APART, sizeof *parts->id);
        if (parts[t].count == NULL || parts[t].entry == NULL || parts[t].id == NULL)
            return cofi_no_memory(err);
    }
    if (s->surprise == NULL || parts == NULL) return cofi_no_memory(err);
    s->coarse = parts; /* only when complete: a shard may be asked again after a failure */
    return COF_OK;
}

static void visit_coarsely(const expect_team *team, size_t part, size_t begin, size_t end)
{
    cofi_coarse_part own = team->s->coarse[part];
    team->s->pass.kernel->coarse(team->job, begin, end, &own);
    team->s->coarse[part] = own;
}

static double largest_of(const double *x, uint32_t n, double most)
{
    for (uint32_t j = 0; j < n; j++) most = fabs(x[j]) > most ? fabs(x[j]) : most;
    return most;
}

/* Units in a surprise of 1: a power of two that keeps the surprise of any row below 2^29. It is at most 2^24, so that 41 stay
 * below 2^30, the surprise of lanes past the classes, by at least 32. */
static double coarse_scale(const cofi_expectation *e, const cofi_cells *cells)
{
    double sum = largest_of(e->log_pi, e->k, 16);
    for (size_t r = 0; r < cells->n_attrs; r++) {
        double most = 0;
        for (uint32_t g = cells->first[r]; g < cells->first[r + 1]; g++)
            most = largest_of(e->log_theta + (size_t)g * e->stride, e->k, most);
        sum += most;
    }
    return ldexp(1.0, 28 - ilogb(sum));
}

/* Lanes past the classes are so surprising that they get no membership. */
static void set_surprises(const cofi_expectation *e, uint32_t n_flat, double scale, uint32_t width,
                          int32_t *to)
{
    uint32_t lanes = cofi_coarse_lanes(e->k);
    for (size_t g = 0; g <= n_flat; g++) {
        const double *from = g < n_flat ? e->log_theta + g * e->stride : e->log_pi;
        for (uint32_t j = 0; j < e->k; j++)
            to[cofi_coarse_index(n_flat, width, g, j)] = (int32_t)floor(0.5 - from[j] * scale);
    }
    for (uint32_t j = e->k; j < lanes; j++) to[cofi_coarse_index(n_flat, width, n_flat, j)] = INT32_MAX / 2;
}

static cof_status expect_coarsely(cofi_labels *s, expect_team team, cofi_expectation *e, uint32_t n_flat,
                                  cof_error *err)
{
    uint32_t lanes = cofi_coarse_lanes(e->k), width = lanes > COFI_COARSE_HELD ? COFI_COARSE_WIDE : lanes;
    double scale = coarse_scale(e, team.cells);
    cofi_coarse_job job = {.e = e,
                           .cells = team.cells,
                           .rows = *team.rows,
                           .to_log2 = (float)(1.4426950408889634 / scale),
                           .lowest = -(int32_t)ceil(41 * scale),
                           .n_flat = n_flat};
    if (s->coarse == NULL) COFI_TRY(open_coarse(s, &job, err));
    set_surprises(e, n_flat, scale, width, s->surprise);
    job.surprise = s->surprise;
    for (uint32_t t = 0; t < s->n_coarse; t++) {
        s->coarse[t].weight = s->coarse[t].n_visited = 0;
        s->coarse[t].kept = s->coarse[t].keeps && s->kept_step == e->step;
        s->coarse[t].keeps = s->kept_step == e->step;
        memset(s->coarse[t].count, 0, (size_t)(n_flat + 1) * lanes * sizeof *s->coarse[t].count);
    }
    team.n_parts = s->n_coarse;
    team.visit = visit_coarsely;
    team.job = &job;
    run_parts(team);
    for (uint32_t t = 0; t < s->n_coarse; t++) {
        e->weight += s->coarse[t].weight;
        for (size_t g = 0; g <= n_flat; g++) {
            uint64_t *to = g < n_flat ? e->count + g * e->stride : e->size;
            for (uint32_t j = 0; j < e->k; j++)
                to[j] += s->coarse[t].count[cofi_coarse_index(n_flat, width, g, j)];
        }
    }
    return COF_OK;
}

cof_status cofi_local_expect(cofi_partition *p, cofi_expectation *e, cof_error *err)
{
    const cofi_local *l = cofi_local_of(p->rows);
    const cofi_problem *problem = p->rows->problem;
    uint32_t n_flat = cofi_n_flat(problem);
    cofi_visited rows = find_visited(l, e->step);
    expect_team team = {.rows = &rows, .cells = &l->cells, .s = p->labels};
    memset(e->count, 0, (size_t)n_flat * e->stride * sizeof *e->count);
    memset(e->size, 0, e->stride * sizeof *e->size);
    e->weight = e->surprise_units = 0;
    COFI_TRY(e->coarse ? expect_coarsely(p->labels, team, e, n_flat, err)
                       : expect_fully(p->labels, team, e, n_flat, problem->total_weight, err));
    e->log_likelihood = e->surprise > 0
                            ? -(double)e->surprise_units /
                                  cofi_surprise_scale(e->surprise, problem->total_weight) / problem->unit
                            : (double)NAN;
    return COF_OK;
}
