/* The team's workers share the blocks of rows. A kernel finds the nearest cluster of each row, and rows
 * whose label changed update the counts. Counting only changes makes late passes cheap, because few rows
 * change then. */
#include "pass.h"

#include "../core/rng.h"
#include "stream.h"

#include <assert.h>

enum {
    MOST_MEMBERS = 64, /* blocks are counted by members for at most so many clusters */
    MOST_HELD = 160    /* limit of (values - 1) x (clusters + 4); above it, counting row by row is faster */
};

typedef struct move {
    uint32_t at; /* index of the row within the block */
    cofi_label from, to;
} move;

/* Changes made by one worker. Differences may wrap around; their sum over the workers is correct. */
struct cofi_pass_worker {
    uint64_t *count;  /* n_flat x stride */
    uint8_t *changed; /* n_flat: which of them are not 0 */
    uint64_t *size;
    uint64_t hash, moved, n_scored;
    void *scratch;
    int64_t *sum; /* stride: sums of one row */
    move *moves;  /* COFI_BLOCK_ROWS */
    /* [j][COFI_BLOCK_WORDS]: bitmap of each cluster's rows; NULL: rows are counted one by one */
    uint64_t *member;
    uint32_t held[MOST_HELD];
    bool touched;
};

static size_t n_flat(const cofi_pass *p)
{
    return p->rows->first[p->rows->n_attrs];
}

static size_t n_entries(const cofi_pass *p)
{
    return n_flat(p) * p->stride;
}

static size_t n_blocks(const cofi_pass *p)
{
    return (p->rows->n_rows + COFI_BLOCK_ROWS - 1) / COFI_BLOCK_ROWS;
}

/* Whether counting by bitmaps of the members is faster than row by row. */
static bool counts_by_members(const cofi_pass *p, size_t r)
{
    uint32_t o = p->rows->first[r + 1] - p->rows->first[r];
    return p->rows->ids[r].width == 1 && (uint64_t)(o - 1) * (p->k + 4) < MOST_HELD;
}

/* The first worker counts in the pass itself, so that one worker alone leaves nothing to be added up. */
static void open_worker(cofi_pass *p, struct cofi_pass_worker *w)
{
    w->count = w == p->worker ? p->count : cofi_blocks_add_zero(&p->own, n_entries(p), sizeof *w->count);
    w->changed = w == p->worker ? p->changed : cofi_blocks_add_zero(&p->own, n_flat(p), 1);
    w->size = cofi_blocks_add_zero(&p->own, p->k, sizeof *w->size);
    w->scratch = cofi_blocks_add(&p->own, p->kernel->scratch_bytes(&p->plan), 1);
    w->sum = cofi_blocks_add(&p->own, p->stride, sizeof *w->sum);
    w->moves = cofi_blocks_add(&p->own, COFI_BLOCK_ROWS, sizeof *w->moves);
    if (p->kernel->count != NULL && p->k <= MOST_MEMBERS)
        w->member = cofi_blocks_add_zero(&p->own, (size_t)p->k * COFI_BLOCK_WORDS, sizeof *w->member);
}

cof_status cofi_pass_open(const cof_env *env, const cofi_cells *rows, uint32_t k, cofi_team *team,
                          const cofi_kernel *kernel, cofi_pass *pass, cof_error *err)
{
    memset(pass, 0, sizeof *pass);
    pass->own.env = *env;
    pass->rows = rows;
    pass->team = team;
    pass->kernel = kernel;
    if (kernel == NULL) COFI_TRY(cofi_kernel_choose(&pass->kernel, err));
    pass->k = k;
    pass->stride = cofi_stride(k);
    COFI_TRY(cofi_plan_open(env, rows, k, pass->kernel->most_cells, pass->kernel->cheap_cells,
                            pass->kernel->split, &pass->plan, err));
    pass->streamed = cofi_is_streamed(rows);
    cof_status status = COF_OK; /* the plain kernel is the reference: it scores every row */
    if (pass->kernel->most_cells > 0 && !pass->streamed && cofi_revision_saves_time(&pass->plan))
        status = cofi_revision_open(env, &pass->plan, &pass->revision);
    else if (pass->kernel->most_cells > 0 && cofi_skip_saves_time(&pass->plan))
        status = cofi_skip_open(env, &pass->plan, &pass->skip);
    if (status != COF_OK) return cofi_no_memory(err);
    pass->label = cofi_blocks_add(&pass->own, rows->n_rows, sizeof *pass->label);
    pass->unknown = cofi_blocks_add(&pass->own, COFI_BLOCK_ROWS, sizeof *pass->unknown);
    pass->count = cofi_blocks_add(&pass->own, n_entries(pass), sizeof *pass->count);
    pass->size = cofi_blocks_add(&pass->own, k, sizeof *pass->size);
    pass->changed = cofi_blocks_add(&pass->own, n_flat(pass), 1);
    pass->block_hash = cofi_blocks_add(&pass->own, n_blocks(pass), sizeof *pass->block_hash);
    pass->worker = cofi_blocks_add_zero(&pass->own, cofi_team_size(team), sizeof *pass->worker);
    if (pass->streamed) pass->scored = cofi_blocks_add(&pass->own, n_blocks(pass), 1);
    for (uint32_t t = 0; pass->worker != NULL && t < cofi_team_size(team); t++)
        open_worker(pass, &pass->worker[t]);
    COFI_TRY(cofi_blocks_status(&pass->own, err));
    memset(pass->unknown, 0xFF, COFI_BLOCK_ROWS * sizeof *pass->unknown);
    pass->all_by_members = true;
    for (size_t r = 0; r < rows->n_attrs; r++) pass->all_by_members &= counts_by_members(pass, r);
    cofi_pass_reset(pass);
    return COF_OK;
}

void cofi_pass_close(cofi_pass *pass)
{
    cofi_plan_close(&pass->plan);
    cofi_revision_close(&pass->revision);
    cofi_skip_close(&pass->skip);
    cofi_blocks_release(&pass->own);
    memset(pass, 0, sizeof *pass);
}

/* Called when labels change by other means than a pass. */
static void forget_sums(cofi_pass *pass)
{
    pass->revision.valid = pass->skip.valid = false;
}

static void mark_all_changed(cofi_pass *pass)
{
    memset(pass->changed, 1, n_flat(pass));
}

void cofi_pass_reset(cofi_pass *pass)
{
    pass->labelled = false;
    memset(pass->count, 0, n_entries(pass) * sizeof *pass->count);
    mark_all_changed(pass);
    memset(pass->size, 0, pass->k * sizeof *pass->size);
    memset(pass->block_hash, 0, n_blocks(pass) * sizeof *pass->block_hash);
    pass->hash = 0;
    pass->skip.off = false;
    forget_sums(pass);
}

enum { CHAINS = 4, WORD_LABELS = sizeof(uint64_t) / sizeof(cofi_label), CHAIN_LABELS = CHAINS * WORD_LABELS };

/* Mixes one word of labels into each chain. */
static inline void add_links(uint64_t *chain, const cofi_label *label)
{
    for (size_t c = 0; c < CHAINS; c++) {
        uint64_t word;
        memcpy(&word, label + c * WORD_LABELS, sizeof word);
        word ^= chain[c];
        chain[c] = (word << 29 | word >> 35) * 0x9e3779b97f4a7c15u;
    }
}

/* Hash of one block's labels; zero-weight rows do not affect it. Four independent chains run in parallel;
 * a single chain would be limited by the latency of the multiplication. */
static uint64_t block_hash(const cofi_pass *p, size_t begin, size_t n)
{
    const uint64_t *weight = p->rows->weight;
    uint64_t chain[CHAINS], sum = 0;
    for (size_t c = 0; c < CHAINS; c++) chain[c] = begin + c;
    size_t at = 0;
    for (; weight == NULL && at + CHAIN_LABELS <= n; at += CHAIN_LABELS)
        add_links(chain, p->label + begin + at);
    for (; at < n; at += CHAIN_LABELS) {
        cofi_label label[CHAIN_LABELS] = {0};
        for (size_t i = 0; i < CHAIN_LABELS && at + i < n; i++)
            if (weight == NULL || weight[begin + at + i] > 0) label[i] = p->label[begin + at + i];
        add_links(chain, label);
    }
    for (size_t c = 0; c < CHAINS; c++) sum = cofi_mix64(sum ^ chain[c]);
    return sum;
}

/* ---- Counting ----------------------------------------------------------------------------------- */

/* Updates the counts of one attribute row by row. */
static void count_moves(const cofi_pass *p, size_t r, size_t begin, const move *moves, size_t n_moves,
                        struct cofi_pass_worker *w)
{
    const cofi_cells *rows = p->rows;
    cofi_ids ids = rows->ids[r];
    uint64_t *count = w->count + (size_t)rows->first[r] * p->stride;
    uint8_t *changed = w->changed + rows->first[r];
    for (size_t m = 0; m < n_moves; m++) {
        size_t row = begin + moves[m].at;
        uint64_t weight = rows->weight != NULL ? rows->weight[row] : 1;
        uint32_t v = cofi_id(ids, row);
        uint64_t *n = count + (size_t)v * p->stride;
        changed[v] = 1;
        n[moves[m].to] += weight;
        if (moves[m].from != COFI_NO_LABEL) n[moves[m].from] -= weight;
    }
}

/* Adds or subtracts the counts of the members in one attribute. The count of the last value is the
 * cluster's size minus the other counts. */
static void count_members(const cofi_pass *p, size_t r, size_t begin, size_t n, bool take_away,
                          struct cofi_pass_worker *w, const uint64_t *size)
{
    const uint8_t *code = (const uint8_t *)p->rows->ids[r].codes + begin;
    uint8_t room[COFI_BLOCK_ROWS];
    size_t n_words = cofi_n_words(n);
    if (n < 64 * n_words) { /* the table's last rows: memory past them must not be read */
        memcpy(room, code, n);
        memset(room + n, 0, 64 * n_words - n);
        code = room;
    }
    uint32_t o = p->rows->first[r + 1] - p->rows->first[r], k = p->k;
    uint64_t left[MOST_MEMBERS], *count = w->count + (size_t)p->rows->first[r] * p->stride;
    p->kernel->count(code, n_words, o - 1, w->member, k, w->held);
    memset(w->changed + p->rows->first[r], 1, o);
    memcpy(left, size, k * sizeof *left);
    for (uint32_t v = 0; v < o; v++, count += p->stride) {
        for (uint32_t j = 0; j < k; j++) {
            uint64_t here = v + 1 < o ? w->held[v * k + j] : left[j];
            left[j] -= here;
            count[j] += take_away ? -here : here;
        }
    }
}

/* Recounts a block in which many rows changed: subtracts its old members or adds its new ones. */
static void recount(const cofi_pass *p, struct cofi_pass_worker *w, size_t begin, const cofi_label *label,
                    size_t n, bool take_away)
{
    uint64_t size[MOST_MEMBERS];
    p->kernel->members(label, n, p->k, w->member, size);
    for (uint32_t j = 0; j < p->k; j++) w->size[j] += take_away ? -size[j] : size[j];
    for (size_t r = 0; r < p->rows->n_attrs; r++)
        if (counts_by_members(p, r)) count_members(p, r, begin, n, take_away, w, size);
}

/* ---- Blocks ------------------------------------------------------------------------------------- */

typedef struct pass_job {
    cofi_pass *pass;
    const cofi_label *given; /* labels to set instead of finding the nearest clusters; NULL: none */
} pass_job;

/* Lists the rows of the block whose label changes. Zero-weight rows are labelled but not listed: they
 * change no count and do not delay convergence. */
static size_t list_moves(const cofi_pass *p, size_t block_begin, const cofi_label *from, const cofi_label *to,
                         size_t n, move *moves)
{
    const uint64_t *weight = p->rows->weight != NULL ? p->rows->weight + block_begin : NULL;
    size_t n_moves = 0;
    for (size_t i = 0; i < n; i += 64) {
        size_t stop = i + 64 < n ? i + 64 : n;
        if (memcmp(from + i, to + i, (stop - i) * sizeof *to) == 0) continue;
        for (size_t x = i; x < stop; x++) {
            moves[n_moves] = (move){(uint32_t)x, from[x], to[x]};
            n_moves += from[x] != to[x] && (weight == NULL || weight[x] > 0);
        }
    }
    return n_moves;
}

static void note_moves(const cofi_pass *p, struct cofi_pass_worker *w, size_t begin, const move *moves,
                       size_t n_moves)
{
    const cofi_cells *rows = p->rows;
    for (size_t m = 0; m < n_moves; m++) {
        size_t row = begin + moves[m].at;
        uint64_t weight = rows->weight != NULL ? rows->weight[row] : 1;
        w->size[moves[m].to] += weight;
        if (moves[m].from != COFI_NO_LABEL) w->size[moves[m].from] -= weight;
        w->moved += rows->copies != NULL ? rows->copies[row] : 1;
    }
}

/* Recounts a block by members if that is faster than row by row; returns whether it did. */
static bool recount_block(const cofi_pass *p, struct cofi_pass_worker *w, size_t begin, size_t n,
                          const cofi_label *from, const cofi_label *to)
{
    enum { FEW_ROWS = 128 };
    bool known = from[0] != COFI_NO_LABEL;
    if (w->member == NULL || p->rows->weight != NULL || n < FEW_ROWS) return false;
    uint32_t n_moved = 0; /* of 32 bits, so that compilers count several rows at a time */
    for (size_t i = 0; i < n; i++) n_moved += from[i] != to[i];
    if (n_moved <= n / 16) return false;
    if (known) recount(p, w, begin, from, n, true);
    recount(p, w, begin, to, n, false);
    w->moved += n_moved;
    return true;
}

/* Sets the new labels of a block and updates counts, sizes and hash. `to` may be the label array itself. */
static void move_rows(const cofi_pass *p, struct cofi_pass_worker *w, size_t begin, size_t n,
                      const cofi_label *from, const cofi_label *to)
{
    cofi_label *kept = p->label + begin;
    if (from == kept && memcmp(from, to, n * sizeof *to) == 0) return;
    bool done = recount_block(p, w, begin, n, from, to);
    size_t n_moves = done && p->all_by_members ? 0 : list_moves(p, begin, from, to, n, w->moves);
    if (!done) note_moves(p, w, begin, w->moves, n_moves);
    for (size_t r = 0; n_moves > 0 && r < p->rows->n_attrs; r++)
        if (!done || !counts_by_members(p, r)) count_moves(p, r, begin, w->moves, n_moves, w);
    if (to != kept) memcpy(kept, to, n * sizeof *to);
    uint64_t *hash = &p->block_hash[begin / COFI_BLOCK_ROWS], now = block_hash(p, begin, n);
    w->hash += now - *hash;
    *hash = now;
    w->touched = true;
}

/* Number of rows whose key is too small to keep their label without scoring. */
static size_t count_close(const cofi_pass *p, size_t begin, size_t n)
{
    const uint16_t *key = p->skip.key + begin;
    uint32_t n_close = 0;
    for (size_t i = 0; i < n; i++) n_close += key[i] <= p->skip.need;
    return n_close;
}

/* Writes the labels of a block, most of whose rows may keep theirs; groups in which most do are not scored as a whole. */
static void skip_rows(const cofi_pass *p, struct cofi_pass_worker *w, size_t begin, size_t n, cofi_label *to)
{
    enum { FEW = 6 }; /* up to so many rows, scoring one by one is faster than scoring the group */
    memcpy(to, p->label + begin, n * sizeof *to);
    for (size_t at = 0; at < n; at += COFI_GROUP_ROWS) {
        size_t n_here = n - at < COFI_GROUP_ROWS ? n - at : COFI_GROUP_ROWS;
        size_t n_close = count_close(p, begin + at, n_here);
        if (n_close > FEW)
            p->kernel->nearest(&p->plan, begin + at, n_here, to + at, w->scratch);
        else if (n_close > 0)
            cofi_skip_score(&p->skip, &p->plan, begin + at, n_here, to + at, w->sum);
        w->n_scored += n_close;
    }
}

/* Writes the labels of a block to `to`. */
static void label_block(const cofi_pass *p, struct cofi_pass_worker *w, size_t begin, size_t n,
                        cofi_label *to)
{
    if (p->skip.valid) {
        skip_rows(p, w, begin, n, to);
    } else if (p->revision.revises) {
        memcpy(to, p->label + begin, n * sizeof *to);
        p->kernel->revise(&p->plan, &p->revision, begin, n, to, w->scratch);
    } else {
        p->kernel->nearest(&p->plan, begin, n, to, w->scratch);
    }
}

/* Called for all blocks of a mapped file before a pass: during it, other workers change the keys. */
static void look_at_block(void *ctx, uint32_t worker, size_t block)
{
    const cofi_pass *p = ctx;
    size_t begin = block * COFI_BLOCK_ROWS, left = p->rows->n_rows - begin;
    p->scored[block] =
        !p->skip.valid || count_close(p, begin, left < COFI_BLOCK_ROWS ? left : COFI_BLOCK_ROWS) > 0;
}

/* Asks for the rows of the blocks from..end-1 that will be scored, in runs. */
static void want_blocks(const cofi_pass *p, size_t from, size_t end)
{
    for (size_t b = from, run; b < end && b < n_blocks(p); b = run + 1) {
        for (run = b; run < end && run < n_blocks(p) && p->scored[run];) run++;
        cofi_stream_want(p->rows, b * COFI_BLOCK_ROWS, run * COFI_BLOCK_ROWS);
    }
}

static void do_block(void *ctx, uint32_t worker, size_t block)
{
    pass_job *job = ctx;
    cofi_pass *p = job->pass;
    struct cofi_pass_worker *w = &p->worker[worker];
    cofi_label room[COFI_BLOCK_ROWS];
    size_t begin = block * COFI_BLOCK_ROWS;
    size_t n = p->rows->n_rows - begin < COFI_BLOCK_ROWS ? p->rows->n_rows - begin : COFI_BLOCK_ROWS;
    const cofi_label *from = p->labelled ? p->label + begin : p->unknown;
    cofi_label *to = p->labelled ? room : p->label + begin;
    size_t soon, after;
    if (p->streamed && job->given == NULL && cofi_stream_ahead(block, cofi_team_size(p->team), &soon, &after))
        want_blocks(p, soon, after);
    if (job->given == NULL) label_block(p, w, begin, n, to);
    move_rows(p, w, begin, n, from, job->given != NULL ? job->given + begin : to);
}

/* Does all blocks, adds up the workers' changes and clears them for the next pass. Returns how many rows moved. */
static uint64_t run_job(pass_job *job)
{
    cofi_pass *p = job->pass;
    uint64_t moved = 0, n_scored = 0;
    if (p->streamed)
        cofi_team_run(p->team, do_block, job, n_blocks(p));
    else
        cofi_team_run_parts(p->team, do_block, job, n_blocks(p));
    p->labelled = true;
    for (uint32_t t = 0; t < cofi_team_size(p->team); t++) {
        struct cofi_pass_worker *w = &p->worker[t];
        if (p->skip.valid) n_scored += w->n_scored;
        w->n_scored = 0;
        if (!w->touched) continue;
        for (size_t g = 0; w->count != p->count && g < n_flat(p); g++) {
            uint64_t *from = w->count + g * p->stride, *to = p->count + g * p->stride;
            if (!w->changed[g]) continue;
            p->changed[g] = 1;
            w->changed[g] = 0;
            for (uint32_t j = 0; j < p->k; j++) to[j] += from[j];
            memset(from, 0, p->stride * sizeof *from);
        }
        for (uint32_t j = 0; j < p->k; j++) p->size[j] += w->size[j];
        memset(w->size, 0, p->k * sizeof *w->size);
        p->hash += w->hash;
        moved += w->moved;
        w->hash = w->moved = 0;
        w->touched = false;
    }
    p->skip.off |= n_scored > p->rows->n_rows / 2;
    return moved;
}

uint64_t cofi_pass_run(cofi_pass *pass, const cofi_scores *scores)
{
    pass_job job = {pass, NULL};
    assert(scores->k == pass->k && scores->stride == pass->stride);
    pass->revision.revises = false;
    if (pass->plan.rest != NULL)
        cofi_revision_advance(&pass->revision, &pass->plan, scores);
    else
        cofi_plan_prepare(&pass->plan, scores);
    if (pass->revision.revises && !pass->revision.changes) return 0;
    /* The first pass after a start keeps no keys: the scores change too much after it. */
    bool skips = pass->skip.key != NULL && pass->labelled;
    if (skips) cofi_skip_advance(&pass->skip, &pass->plan);
    if (pass->streamed) {
        cofi_team_run(pass->team, look_at_block, pass, n_blocks(pass));
        cofi_stream_begin(pass->rows);
    }
    uint64_t moved = run_job(&job);
    if (pass->streamed) cofi_stream_end(pass->rows);
    pass->revision.valid = pass->plan.rest != NULL;
    pass->skip.valid = pass->plan.key != NULL;
    return moved;
}

uint64_t cofi_pass_take(cofi_pass *pass, const cofi_label *label)
{
    pass_job job = {pass, label};
    forget_sums(pass);
    return run_job(&job);
}

bool cofi_pass_open_state(const cofi_pass *p, cofi_blocks *own, cofi_pass_state *s)
{
    *s = (cofi_pass_state){.label = cofi_blocks_add(own, p->rows->n_rows, sizeof *s->label)};
    if (n_entries(p) <= p->rows->n_rows) s->count = cofi_blocks_add(own, n_entries(p), sizeof *s->count);
    s->size = cofi_blocks_add(own, p->k, sizeof *s->size);
    s->block_hash = cofi_blocks_add(own, n_blocks(p), sizeof *s->block_hash);
    return !own->short_of_memory;
}

static void copy_state(const cofi_pass *p, const cofi_pass_state *from, cofi_pass_state *to)
{
    memcpy(to->label, from->label, p->rows->n_rows * sizeof *to->label);
    if (to->count != NULL) memcpy(to->count, from->count, n_entries(p) * sizeof *to->count);
    memcpy(to->size, from->size, p->k * sizeof *to->size);
    memcpy(to->block_hash, from->block_hash, n_blocks(p) * sizeof *to->block_hash);
    to->hash = from->hash;
}

void cofi_pass_save(const cofi_pass *p, cofi_pass_state *s)
{
    cofi_pass_state now = {p->label, p->count, p->size, p->block_hash, p->hash};
    copy_state(p, &now, s);
}

void cofi_pass_load(cofi_pass *p, const cofi_pass_state *s)
{
    if (s->count == NULL) {
        cofi_pass_reset(p);
        cofi_pass_take(p, s->label);
        return;
    }
    cofi_pass_state now = {p->label, p->count, p->size, p->block_hash, p->hash};
    copy_state(p, s, &now);
    p->hash = now.hash;
    p->labelled = true;
    mark_all_changed(p);
    forget_sums(p);
}
