/* Rows that shards have, as an implementation of rows.h. Every operation is one request or a few: its bytes go to all
 * shards, and the sum of their answers comes back.
 *
 * The driver keeps no label. A partition is known by the score table that made it, so saving one costs a copy of that
 * table and of the counts. */
#include "remote.h"

#include "request.h"

#include <assert.h>
#include <math.h>

enum { CELL_WORDS = 1 << 20, PAIR_WORDS = 1 << 20, LOOK_ROWS = 8192 };

typedef struct remote {
    cofi_rows base;
    cof_env env;
    const cofi_remote *to;
    cofi_frame frame;
    cofi_writer request;
    uint64_t *answer;
    size_t room;
} remote;

/* The labels of a partition: not the labels themselves. */
struct cofi_labels {
    cofi_blocks own;
    cofi_writer made; /* the score table that made them */
    cofi_writer next;
    cofi_writer seeds; /* u32 per cell */
    uint32_t n_seeds;
    uint64_t *near; /* per distance to the nearest seed: weight of the rows; valid if `measured` */
    bool measured;
    uint32_t extreme;
};

struct cofi_kept {
    unsigned char *made; /* room for the longest table */
    size_t n_made;
    uint64_t *count; /* then the sizes */
    uint64_t hash;
};

extern const cofi_rows_ops cofi_remote_ops;

static remote *remote_of(const cofi_rows *rows)
{
    return (remote *)(void *)rows;
}

/* ---- Asking -------------------------------------------------------------------------------------- */

static cofi_writer *begin(remote *m, cofi_ask kind)
{
    m->request.env = m->env;
    cofi_request_begin(&m->request, kind, &m->frame);
    return &m->request;
}

static cof_status check_words(uint64_t n, cof_error *err)
{
    if (n <= COFI_MOST_WORDS + COFI_ANSWER_END) return COF_OK;
    return cofi_fail(
        err, COF_ERR_UNSUPPORTED,
        "shards would have to answer with %llu words, but at most %d are sent; ask for fewer clusters, "
        "or leave out the columns with most values",
        (unsigned long long)n, (int)COFI_MOST_WORDS);
}

/* Sends the request; m->answer has n words afterwards. */
static cof_status ask(remote *m, size_t n, cof_error *err)
{
    size_t n_all = n + COFI_ANSWER_END;
    COFI_TRY(check_words(n_all, err));
    if (!cofi_make_room(&m->env, &m->answer, &m->room, n_all, sizeof *m->answer)) return cofi_no_memory(err);
    memset(m->answer, 0, n_all * sizeof *m->answer);
    cofi_request_end(&m->request, n_all);
    if (m->request.failed) {
        cofi_release(&m->env, m->request.bytes);
        m->request = (cofi_writer){.env = m->env};
        return cofi_no_memory(err);
    }
    const cof_shards *shards = &m->to->shards;
    if (shards->ask(shards->ctx, m->request.bytes, m->request.n, m->answer, n_all) != 0) {
        const char *why = shards->why != NULL ? shards->why(shards->ctx) : NULL;
        return cofi_fail(err, COF_ERR_BACKEND, "%s",
                         why != NULL ? why : "the shards cannot be reached: a request was not answered");
    }
    return cofi_answer_check(m->answer, n_all, m->frame.n_rows, err);
}

/* What the seeds are: what a difference adds in each column, then their cells. */
static void put_seeds(cofi_writer *w, const cofi_labels *l, const cofi_problem *p)
{
    cofi_put_u32(w, l->n_seeds);
    for (size_t r = 0; r < p->n_attrs; r++) cofi_put_u32(w, p->seed_units != NULL ? p->seed_units[r] : 1);
    cofi_put_bytes(w, l->seeds.bytes, l->seeds.n);
}

/* Sends a question that is one request, about the seeds or, for LABELS, the table `made`. */
static cof_status send(remote *m, cofi_question *q, const cofi_writer *made, cof_error *err)
{
    const cofi_problem *p = m->base.problem;
    cofi_codec body = {.to = begin(m, q->kind)};
    uint64_t n = cofi_question_words(q, p, q->kind == COFI_ASK_EXPECT ? q->expect->k : 1);
    COFI_TRY(check_words(n + COFI_ANSWER_END, err));
    if (q->kind == COFI_ASK_NEAR || q->kind == COFI_ASK_MASS || q->kind == COFI_ASK_MERIT)
        put_seeds(body.to, q->partition->labels, p);
    if (made != NULL) cofi_put_bytes(body.to, made->bytes, made->n);
    cofi_code_question(&body, p, q, NULL);
    return ask(m, (size_t)n, err);
}

/* Answers are checked as far as the driver can, so that no shard can make it fail in another way than this. */
static cof_status bad_answer(cof_error *err)
{
    return cofi_fail(
        err, COF_ERR_DATA,
        "the shards gave an answer that is not possible, or contradicts an earlier one; do all of them have "
        "the schema and the rows of this table?");
}

static bool all_below(const uint64_t *word, size_t n, uint64_t most)
{
    uint64_t greatest = 0;
    for (size_t i = 0; i < n; i++) greatest = word[i] > greatest ? word[i] : greatest;
    return greatest <= most;
}

/* ---- The rows themselves ------------------------------------------------------------------------- */

static void remote_close(cofi_rows *rows)
{
    remote *m = remote_of(rows);
    cof_env env = m->env;
    COFI_RELEASE_ALL(&env, m->request.bytes, m->answer, m);
}

/* Every row weighs 1, so the schema knows how many hold each value. */
static bool rows_count_alike(const remote *m, const cofi_problem *p)
{
    if (cofi_table_weight_column(p->table) != NULL || m->frame.half > 0) return false;
    for (size_t a = 0; a < p->n_candidates && p->missing == COF_MISSING_DROP; a++)
        if (p->table->column[p->candidate[a]].n_missing > 0) return false;
    return true;
}

static cof_status ask_totals(remote *m, cofi_question *q, cof_error *err)
{
    uint64_t *total = q->total;
    const cofi_problem *p = m->base.problem;
    size_t n = cofi_n_flat(p);
    for (size_t r = 0; rows_count_alike(m, p) && r < p->n_attrs; r++) {
        const cofi_column *c = &p->table->column[p->column[r]];
        uint32_t n_slots = p->first[r + 1] - p->first[r];
        for (uint32_t v = 0; v < n_slots; v++)
            total[p->first[r] + v] = v < c->n_values ? c->rows_of[v] : c->n_missing;
    }
    if (rows_count_alike(m, p)) return COF_OK;
    COFI_TRY(send(m, q, NULL, err));
    memcpy(total, m->answer, n * sizeof *total);
    return all_below(total, n, p->total_weight) ? COF_OK : bad_answer(err);
}

/* One attribute of n rows. False: a cell has an id that the attribute has not. `cell` may be NULL. */
static bool read_cells(const uint64_t *word, size_t n_words, size_t n, cofi_cell_place at, uint32_t n_ids,
                       uint32_t *cell, size_t n_attrs)
{
    uint64_t mask = (UINT64_C(1) << at.bits) - 1, greatest = 0;
    word += at.word;
    for (size_t i = 0; i < n; i++) {
        uint64_t id = word[i * n_words] >> at.shift & mask;
        greatest = id > greatest ? id : greatest;
        if (cell != NULL) cell[i * n_attrs] = (uint32_t)id;
    }
    return greatest < n_ids;
}

/* One request: cells and weights of n rows. Attributes are read one after the other, in pieces that stay in the cache. */
static cof_status ask_some_cells(remote *m, cofi_question *q, const cofi_cell_place *place, cof_error *err)
{
    enum { PIECE = 256 };
    const cofi_problem *p = m->base.problem;
    size_t n_words = cofi_cell_places(p, NULL), n = q->rows.n;
    bool possible = true;
    COFI_TRY(send(m, q, NULL, err));
    for (size_t i = 0; i < n; i++) {
        uint64_t here = m->answer[(i + 1) * n_words - 1];
        possible = possible && here <= p->total_weight;
        if (q->cells.weight != NULL) q->cells.weight[i] = here;
    }
    for (size_t i = 0; i < n; i += PIECE)
        for (size_t r = 0; r < p->n_attrs; r++)
            possible &=
                read_cells(m->answer + i * n_words, n_words, n - i < PIECE ? n - i : PIECE, place[r],
                           p->first[r + 1] - p->first[r],
                           q->cells.cell != NULL ? q->cells.cell + i * p->n_attrs + r : NULL, p->n_attrs);
    return possible ? COF_OK : bad_answer(err);
}

static cof_status ask_cells(remote *m, const cofi_question *q, cof_error *err)
{
    const cofi_problem *p = m->base.problem;
    size_t n = q->rows.n, most = CELL_WORDS / cofi_cell_places(p, NULL) + 1;
    cof_status status = COF_OK;
    if (q->rows.row == NULL)
        return cofi_fail(
            err, COF_ERR_UNSUPPORTED,
            "a method that reads whole rows cannot be done over shards; fit the table on one machine");
    cofi_cell_place *place = cofi_alloc(&m->env, p->n_attrs, sizeof *place);
    if (place == NULL) return cofi_no_memory(err);
    cofi_cell_places(p, place);
    for (size_t at = 0; status == COF_OK && at < n; at += most) {
        cofi_question some = *q;
        some.rows = (cofi_row_list){.row = q->rows.row + at, .n = n - at < most ? n - at : most};
        if (q->cells.cell != NULL) some.cells.cell += at * p->n_attrs;
        if (q->cells.weight != NULL) some.cells.weight += at;
        status = ask_some_cells(m, &some, place, err);
    }
    cofi_release(&m->env, place);
    return status;
}

static cof_status ask_points(remote *m, cofi_question *q, cof_error *err)
{
    size_t n = q->rows.n;
    COFI_TRY(send(m, q, NULL, err));
    memcpy(q->points.point, m->answer, n * sizeof *q->points.point);
    for (size_t i = 0; i < n; i++)
        if (isinf(q->points.point[i])) return bad_answer(err);
    return COF_OK;
}

/* Passes the tables of one target on; returns the word after them. */
static const uint64_t *visit_target(const cofi_problem *p, const cofi_pair_visitor *v, size_t t,
                                    const uint64_t *word, double *count)
{
    if (v->begin != NULL) v->begin(v->ctx, 0, t);
    for (size_t r = 0; r < (v->before_only ? t : p->n_attrs); r++) {
        size_t n = (size_t)p->n_values[t] * p->n_values[r];
        for (size_t at = 0; at < n; at++) count[at] = (double)word[at] / p->unit;
        v->pair(v->ctx, 0, t, r, count);
        word += n;
    }
    if (v->end != NULL) v->end(v->ctx, 0, t);
    return word;
}

static cof_status ask_pairs(remote *m, const cofi_pair_visitor *v, cof_error *err)
{
    const cofi_problem *p = m->base.problem;
    uint64_t largest = 0;
    cof_status status = COF_OK;
    for (size_t r = 0; r < p->n_attrs; r++) largest = p->n_values[r] > largest ? p->n_values[r] : largest;
    COFI_TRY(check_words(largest * largest, err));
    double *count = cofi_alloc(&m->env, (size_t)(largest * largest), sizeof *count);
    if (count == NULL) return cofi_no_memory(err);
    cofi_question q = {.kind = COFI_ASK_PAIRS, .pairs = {.before_only = v->before_only}};
    while (q.pairs.end < p->n_attrs &&
           status == COF_OK) { /* as many targets as fit one answer, at least one */
        q.pairs.begin = q.pairs.end;
        for (uint32_t end = q.pairs.begin + 1; end <= p->n_attrs; end++) {
            cofi_question longer = q;
            longer.pairs.end = end;
            if (end > q.pairs.begin + 1 && cofi_question_words(&longer, p, 1) > PAIR_WORDS) break;
            q = longer;
        }
        size_t n = (size_t)cofi_question_words(&q, p, 1);
        status = send(m, &q, NULL, err);
        if (status == COF_OK && !all_below(m->answer, n, p->total_weight)) status = bad_answer(err);
        const uint64_t *word = m->answer;
        for (size_t t = q.pairs.begin; status == COF_OK && t < q.pairs.end; t++)
            word = visit_target(p, v, t, word, count);
        if (status == COF_OK && cofi_should_stop(&m->env))
            status = cofi_fail(err, COF_ERR_STOPPED, "stopped");
    }
    cofi_release(&m->env, count);
    return status;
}

/* ---- Partitions ---------------------------------------------------------------------------------- */

static size_t n_counts(const cofi_partition *p)
{
    return (size_t)cofi_n_flat(p->rows->problem) * p->stride;
}

static cof_status open_partition(cofi_partition *p, cofi_team *team, cof_error *err)
{
    const cof_env *env = &remote_of(p->rows)->env;
    cofi_labels *l = p->labels = cofi_alloc_zero(env, 1, sizeof *l);
    if (l == NULL) return cofi_no_memory(err);
    l->own.env = l->made.env = l->next.env = l->seeds.env = *env;
    p->count = cofi_blocks_add_zero(&l->own, n_counts(p), sizeof *p->count);
    p->size = cofi_blocks_add_zero(&l->own, p->k, sizeof *p->size);
    l->near = cofi_blocks_add_zero(&l->own, cofi_seed_reach(p->rows->problem) + 1, sizeof *l->near);
    p->kernel = "shards";
    return cofi_blocks_status(&l->own, err);
}

static void close_partition(cofi_partition *p)
{
    const cof_env *env = &remote_of(p->rows)->env;
    cofi_labels *l = p->labels;
    if (l == NULL) return;
    cofi_blocks_release(&l->own);
    COFI_RELEASE_ALL(env, l->made.bytes, l->next.bytes, l->seeds.bytes, l);
}

/* Every row is in one cluster, and has one value in each attribute. */
static bool counts_add_up(const cofi_partition *p, const uint64_t *word)
{
    const cofi_problem *problem = p->rows->problem;
    const uint64_t *size = word + n_counts(p);
    uint64_t sum = 0;
    for (uint32_t j = 0; j < p->k; j++) sum += size[j];
    if (sum != problem->total_weight || !all_below(size, p->k, sum) || !all_below(word, n_counts(p), sum))
        return false;
    for (size_t r = 0; r < problem->n_attrs; r++)
        for (uint32_t j = 0; j < p->k; j++) {
            sum = 0;
            for (uint32_t g = problem->first[r]; g < problem->first[r + 1]; g++)
                sum += word[(size_t)g * p->stride + j];
            if (sum != size[j]) return false;
        }
    return size[p->k] <= problem->n_table_rows;
}

/* Sends the table that made the labels, if there are labels, and the next one. */
static cof_status ask_pass(remote *m, cofi_partition *p, cofi_question *q, cof_error *err)
{
    cofi_labels *l = p->labels;
    size_t n = n_counts(p);
    cofi_writer *w = begin(m, COFI_ASK_PASS);
    l->next.n = 0;
    cofi_put_scores(&l->next, q->pass.scores, cofi_n_flat(m->base.problem));
    cofi_put_u32(w, 1); /* pass */
    cofi_put_u32(w, l->made.n > 0);
    if (l->made.n > 0) cofi_put_bytes(w, l->made.bytes, l->made.n);
    if (!l->next.failed) cofi_put_bytes(w, l->next.bytes, l->next.n);
    w->failed |= l->next.failed;
    COFI_TRY(ask(m, (size_t)cofi_question_words(q, m->base.problem, p->k), err));
    if (!counts_add_up(p, m->answer)) return bad_answer(err);
    memcpy(p->count, m->answer, n * sizeof *p->count);
    memcpy(p->size, m->answer + n, p->k * sizeof *p->size);
    q->pass.moved = m->answer[n + p->k];
    p->hash = m->answer[n + p->k + 1];
    cofi_writer before = l->made; /* its memory is used for the table after the next */
    l->made = l->next;
    l->next = before;
    return COF_OK;
}

static cof_status keep(const cofi_partition *p, cofi_kept **kept, cof_error *err)
{
    const cofi_writer *made = &p->labels->made;
    cofi_blocks *own = &p->labels->own;
    size_t n = n_counts(p);
    if (*kept == NULL) {
        cofi_kept *k = cofi_blocks_add_zero(own, 1, sizeof *k);
        if (k == NULL) return cofi_no_memory(err);
        k->made = cofi_blocks_add(own, COFI_SCORES_HEAD + (p->stride + 2 * n) * sizeof(uint64_t), 1);
        k->count = cofi_blocks_add(own, n + p->k, sizeof *k->count);
        if (k->made == NULL || k->count == NULL) return cofi_no_memory(err);
        *kept = k;
    }
    if (made->n > 0) memcpy((*kept)->made, made->bytes, made->n);
    (*kept)->n_made = made->n;
    memcpy((*kept)->count, p->count, n * sizeof *p->count);
    memcpy((*kept)->count + n, p->size, p->k * sizeof *p->size);
    (*kept)->hash = p->hash;
    return COF_OK;
}

static cof_status set(cofi_partition *p, const cofi_kept *kept, const int32_t *label, uint64_t *moved,
                      cof_error *err)
{
    size_t n = n_counts(p);
    assert(label == NULL); /* nobody can have labels of rows that are elsewhere */
    p->labels->made.n = 0;
    if (kept == NULL) {
        memset(p->count, 0, n * sizeof *p->count);
        memset(p->size, 0, p->k * sizeof *p->size);
        p->hash = 0;
        return COF_OK;
    }
    cofi_put_bytes(&p->labels->made, kept->made, kept->n_made);
    memcpy(p->count, kept->count, n * sizeof *p->count);
    memcpy(p->size, kept->count + n, p->k * sizeof *p->size);
    p->hash = kept->hash;
    return p->labels->made.failed ? cofi_no_memory(err) : COF_OK;
}

/* Before the first pass only dropped rows have a label; a table of zeros puts all others into cluster 0. */
static cof_status make_first_labels(const cofi_partition *p)
{
    cofi_blocks own = {.env = remote_of(p->rows)->env};
    cofi_scores zero = {.k = p->k, .stride = p->stride, .scale = 1};
    zero.value = cofi_blocks_add_zero(&own, n_counts(p), sizeof *zero.value);
    zero.base = cofi_blocks_add_zero(&own, p->stride, sizeof *zero.base);
    for (uint32_t j = p->k; zero.base != NULL && j < p->stride; j++) zero.base[j] = COFI_NEVER;
    p->labels->next.n = 0;
    if (!own.short_of_memory) cofi_put_scores(&p->labels->next, &zero, cofi_n_flat(p->rows->problem));
    bool ok = !own.short_of_memory && !p->labels->next.failed;
    cofi_blocks_release(&own);
    return ok ? COF_OK : COF_ERR_MEMORY;
}

/* The labels in the answer. */
static cof_status unpack_labels(const remote *m, uint32_t k, size_t n, int32_t *label, cof_error *err)
{
    const uint64_t *word = m->answer;
    uint64_t left = 0;
    for (size_t i = 0; i < n; i++) {
        left = i % COFI_WORD_LABELS == 0 ? *word++ : left >> COFI_LABEL_BITS;
        uint64_t here = left & ((UINT64_C(1) << COFI_LABEL_BITS) - 1);
        if (here == 0 || here > (uint64_t)k + 1) return bad_answer(err);
        label[i] = (int32_t)here - 2;
    }
    return COF_OK;
}

static cof_status ask_labels(remote *m, cofi_question *q, cof_error *err)
{
    const cofi_partition *p = q->partition;
    bool made = p->labels->made.n > 0;
    if (!made && make_first_labels(p) != COF_OK) return cofi_no_memory(err);
    COFI_TRY(send(m, q, made ? &p->labels->made : &p->labels->next, err));
    return unpack_labels(m, p->k, q->rows.n, q->label, err);
}

static cof_status remember(const remote *m, const cofi_partition *p, cofi_blocks *own, cofi_remembered *out,
                           cof_error *err)
{
    cofi_writer w = {.env = m->env};
    cofi_request_begin(&w, COFI_ASK_LABELS, &m->frame);
    cofi_put_bytes(&w, p->labels->made.bytes, p->labels->made.n);
    cofi_put_range(&w, 0, 0);
    cofi_request_end(&w, COFI_ANSWER_END);
    *out = (cofi_remembered){.n_bytes = w.n};
    if (!w.failed) out->request = cofi_blocks_copy(own, w.bytes, w.n, 1);
    cofi_release(&m->env, w.bytes);
    return out->request != NULL ? COF_OK : cofi_no_memory(err);
}

static cof_status ask_expect(remote *m, cofi_question *q, cof_error *err)
{
    cofi_expectation *e = q->expect;
    size_t n = (size_t)cofi_n_flat(m->base.problem) * e->stride;
    COFI_TRY(send(m, q, NULL, err));
    uint64_t most = UINT64_C(1) << 62;
    if (!all_below(m->answer, n + e->stride, most) || m->answer[n + e->stride] > m->frame.total_weight ||
        m->answer[n + e->stride + 1] > most)
        return bad_answer(err);
    memcpy(e->count, m->answer, n * sizeof *e->count);
    memcpy(e->size, m->answer + n, e->stride * sizeof *e->size);
    e->weight = m->answer[n + e->stride];
    e->surprise_units = m->answer[n + e->stride + 1];
    double scale = cofi_surprise_scale(e->surprise, m->frame.total_weight);
    e->log_likelihood = scale > 0 ? -(double)e->surprise_units / scale / m->frame.unit : (double)NAN;
    return COF_OK;
}

/* ---- Seeds --------------------------------------------------------------------------------------- */

static cof_status add_seed(cofi_partition *p, const uint32_t *cell, cof_error *err)
{
    cofi_labels *l = p->labels;
    l->measured = false;
    if (cell == NULL) {
        l->seeds.n = 0;
        l->n_seeds = 0;
        return COF_OK;
    }
    for (size_t r = 0; r < p->rows->problem->n_attrs; r++) cofi_put_u32(&l->seeds, cell[r]);
    l->n_seeds++;
    return l->seeds.failed ? cofi_no_memory(err) : COF_OK;
}

static cof_status measure(cofi_partition *p, cof_error *err)
{
    cofi_labels *l = p->labels;
    size_t n = cofi_seed_reach(p->rows->problem) + 1;
    if (l->measured) return COF_OK;
    cofi_question q = {.kind = COFI_ASK_NEAR, .partition = p};
    COFI_TRY(send(remote_of(p->rows), &q, NULL, err));
    memcpy(l->near, remote_of(p->rows)->answer, n * sizeof *l->near);
    uint64_t sum = 0;
    for (size_t d = 0; d < n; d++) sum += l->near[d];
    l->measured = sum == p->rows->problem->total_weight && all_below(l->near, n, sum);
    return l->measured ? COF_OK : bad_answer(err);
}

/* 0 if no row can be drawn. */
static cof_status add_masses(cofi_partition *p, cofi_chance by, uint64_t *total, cof_error *err)
{
    cofi_labels *l = p->labels;
    size_t n = cofi_seed_reach(p->rows->problem) + 1;
    *total = p->rows->problem->total_weight;
    if (by == COFI_ANY_ROW || l->n_seeds == 0) return COF_OK;
    COFI_TRY(measure(p, err));
    l->extreme = 0;
    for (uint32_t d = 0; d < n; d++)
        if (l->near[d] > 0 && (by == COFI_FARTHEST || l->near[l->extreme] == 0)) l->extreme = d;
    *total = l->near[l->extreme];
    if (by == COFI_FARTHEST || by == COFI_NEAREST) return COF_OK;
    *total = 0;
    for (uint32_t d = 1; d < n; d++) *total += by == COFI_BY_DISTANCE ? d * l->near[d] : l->near[d];
    return COF_OK;
}

/* The first row at which the running sum of the masses exceeds `target`: finds the stretch in which that is, cuts it into
 * stretches, and so on. */
static cof_status descend(cofi_partition *p, uint32_t by, uint64_t key, const uint64_t *density,
                          uint64_t target, uint64_t *row, cof_error *err)
{
    remote *m = remote_of(p->rows);
    uint64_t from = 0, to = m->frame.n_rows;
    for (;;) {
        uint64_t each = (to - from + COFI_MASS_PARTS - 1) / COFI_MASS_PARTS;
        cofi_question q = {.kind = COFI_ASK_MASS, .partition = p, .mass = {by, key, from, to, density}};
        COFI_TRY(send(m, &q, NULL, err));
        size_t at = 0;
        while (at < COFI_MASS_PARTS && target >= m->answer[at]) target -= m->answer[at++];
        from += at * each;
        if (at == COFI_MASS_PARTS || from >= to) return bad_answer(err);
        to = from + each < to ? from + each : to;
        *row = from;
        if (each == 1) return COF_OK;
    }
}

/* Where every row weighs 1, the row is known without asking. */
static cof_status find_row(cofi_partition *p, cofi_chance by, uint64_t target, uint64_t *row, cof_error *err)
{
    const cofi_problem *problem = p->rows->problem;
    bool even = problem->total_weight == problem->n_table_rows &&
                cofi_table_weight_column(problem->table) == NULL && remote_of(p->rows)->frame.half == 0;
    *row = target;
    if (by == COFI_ANY_ROW && even) return COF_OK;
    return descend(p, by, p->labels->extreme, NULL, target, row, err);
}

static cof_status draw(cofi_partition *p, cofi_question *q, cof_error *err)
{
    COFI_TRY(add_masses(p, q->draw.by, &q->draw.total, err));
    if (q->draw.total == 0) return bad_answer(err);
    if (q->draw.rng != NULL) q->draw.target = cofi_rng_below(q->draw.rng, q->draw.total);
    return find_row(p, q->draw.by, q->draw.target, &q->draw.row, err);
}

/* The greatest merit of a row is found digit by digit, then the first row that has it. */
static cof_status densest(cofi_partition *p, const uint64_t *total, uint64_t *row, cof_error *err)
{
    remote *m = remote_of(p->rows);
    uint64_t merit = 0;
    for (int shift = 64 / COFI_MERIT_BITS * COFI_MERIT_BITS; shift >= 0; shift -= COFI_MERIT_BITS) {
        cofi_question q = {.kind = COFI_ASK_MERIT, .partition = p, .merit = {(uint32_t)shift, merit, total}};
        COFI_TRY(send(m, &q, NULL, err));
        size_t digit = COFI_MERIT_BUCKETS - 1;
        while (digit > 0 && m->answer[digit] == 0) digit--;
        merit = merit << COFI_MERIT_BITS | digit;
    }
    return descend(p, COFI_MASS_MERIT, merit, total, 0, row, err);
}

/* ---- Opening ------------------------------------------------------------------------------------- */

static cof_status set_unit(const remote *m, cofi_problem *p, const cof_fit_options *o, cof_error *err)
{
    const cofi_column *c = cofi_table_weight_column(p->table);
    p->unit = 1.0;
    if (o->weights != NULL)
        return cofi_fail(err, COF_ERR_UNSUPPORTED, "over shards, weights are given as a column of the table");
    if (c == NULL || m->frame.half > 0) return COF_OK;
    double *value = cofi_alloc(&p->env, c->n_values, sizeof *value);
    if (value == NULL) return cofi_no_memory(err);
    cof_status status = cofi_weights_parse(c, value, err);
    if (status == COF_OK)
        status = cofi_weights_unit(value, c->rows_of, c->n_values, p->n_table_rows, &p->unit, err);
    cofi_release(&p->env, value);
    return status;
}

static cof_status check_columns(cofi_problem *p, cof_error *err)
{
    for (size_t c = 0; c < p->table->n_columns; c++)
        if (p->table->column[c].role == COF_ROLE_NUMERIC)
            return cofi_fail(
                err, COF_ERR_UNSUPPORTED,
                "column '%s' is a quantity that is not cut, which cannot be done over shards; cut it into "
                "bins instead",
                p->table->column[c].name);
    for (size_t a = 0; a < p->n_candidates; a++) {
        const cofi_column *c = &p->table->column[p->candidate[a]];
        if (c->n_missing > 0 && p->missing == COF_MISSING_ERROR)
            return cofi_missing_error(c, c->first_missing, err);
    }
    return p->n_candidates > 0 ? COF_OK : cofi_problem_check_attributes(p, 0, err);
}

/* The frame names the attributes that the problem has by now. */
static void set_frame(remote *m, const cofi_problem *p, const size_t *column, size_t n)
{
    m->frame.missing = p->missing;
    m->frame.unit = p->unit;
    m->frame.n_rows = p->n_table_rows;
    m->frame.total_weight = p->total_weight;
    m->frame.n_attrs = (uint32_t)n;
    for (size_t a = 0; a < n; a++) m->frame.column[a] = (uint32_t)column[a];
}

/* Asks how much each value weighs: m->answer is as that of a census. */
static cof_status take_census(remote *m, cofi_problem *p, size_t n, cof_error *err)
{
    bool weighted = cofi_table_weight_column(p->table) != NULL || m->frame.half > 0;
    set_frame(m, p, p->candidate, p->n_candidates);
    begin(m, COFI_ASK_CENSUS);
    COFI_TRY(ask(m, n, err));
    p->n_dropped = m->answer[0];
    p->total_weight = m->answer[1];
    if (p->n_dropped == p->n_table_rows) return cofi_all_dropped_error(err);
    if (p->total_weight == 0)
        return cofi_fail(err, COF_ERR_DATA, "all weights are 0; at least one row must count");
    if (p->n_dropped > p->n_table_rows || p->total_weight >> 43 != 0 ||
        !all_below(m->answer + COFI_CENSUS_HEAD, n - COFI_CENSUS_HEAD, p->total_weight) ||
        (!weighted && p->total_weight != p->n_table_rows - p->n_dropped))
        return bad_answer(err);
    return COF_OK;
}

/* Leaves out the columns that are constant among rows of positive weight. */
static cof_status set_attributes(remote *m, cofi_problem *p, cof_error *err)
{
    bool alike = rows_count_alike(m, p);
    size_t n = COFI_CENSUS_HEAD;
    p->total_weight = p->n_table_rows; /* of a weighted table not known yet, and not used by a census */
    for (size_t a = 0; a < p->n_candidates; a++)
        n += cofi_problem_n_slots(p, &p->table->column[p->candidate[a]]);
    COFI_TRY(cofi_problem_open_attributes(p, err));
    if (!alike) COFI_TRY(take_census(m, p, n, err));
    const uint64_t *total = alike ? NULL : m->answer + COFI_CENSUS_HEAD;
    for (size_t a = 0; a < p->n_candidates; a++) {
        const cofi_column *c = &p->table->column[p->candidate[a]];
        uint32_t n_present = 0;
        for (uint32_t v = 0; v < cofi_problem_n_values(p, c); v++) n_present += alike || total[v] > 0;
        if (!alike) total += cofi_problem_n_slots(p, c);
        COFI_TRY(cofi_problem_add_attribute(p, p->candidate[a], n_present, err));
    }
    COFI_TRY(cofi_problem_check_attributes(p, 0, err));
    set_frame(m, p, p->column, p->n_attrs);
    return COF_OK;
}

/* Adds rows that differ from all earlier ones until there are k of them, or no more. */
static cof_status look_for_rows(remote *m, cofi_problem *p, uint32_t k, cof_error *err)
{
    cofi_partition q;
    uint32_t *cell = cofi_alloc(&m->env, p->n_attrs, sizeof *cell);
    uint64_t left = 1, row;
    cof_status status = cell == NULL ? cofi_no_memory(err) : COF_OK;
    cof_status opened = cofi_partition_open(&m->base, 1, NULL, &q, err);
    if (status == COF_OK) status = opened;
    p->n_distinct = 0;
    while (status == COF_OK && p->n_distinct < k) {
        status = add_masses(&q, COFI_ANY_NEW_ROW, &left, err);
        if (status != COF_OK || left == 0) break;
        status = find_row(&q, q.labels->n_seeds > 0 ? COFI_ANY_NEW_ROW : COFI_ANY_ROW, 0, &row, err);
        if (status == COF_OK) status = cofi_rows_fetch(&m->base, NULL, &row, 1, cell, NULL, err);
        if (status == COF_OK) status = add_seed(&q, cell, err);
        p->n_distinct++;
    }
    p->counted = left == 0; /* else there are at least k */
    cofi_partition_close(&q);
    cofi_release(&m->env, cell);
    return status;
}

/* Counts the distinct rows of a small table; of a large one, only makes sure that there are k. */
static cof_status count_distinct(remote *m, cofi_problem *p, uint32_t k, cof_error *err)
{
    cofi_problem some;
    cofi_rows *rows = NULL;
    bool all = p->n_table_rows < 2 * LOOK_ROWS;
    size_t n = all ? (size_t)p->n_table_rows : LOOK_ROWS;
    cof_status status = cofi_rows_sample(&m->base, NULL, n, all ? n : k, &some, &rows, err);
    uint64_t n_distinct = some.n_distinct;
    cofi_rows_close(rows);
    cofi_problem_close(&some);
    if (status != COF_OK) return status;
    p->counted = all;
    if (all) p->n_distinct = n_distinct;
    return !all && n_distinct < k ? look_for_rows(m, p, k, err) : COF_OK;
}

cof_status cofi_remote_open(const cof_table *table, const cof_fit_options *o, cofi_opening how,
                            cofi_problem *p, cofi_rows **rows, cof_error *err)
{
    *p = (cofi_problem){.own = {.env = table->env},
                        .env = table->env,
                        .table = table,
                        .missing = o->missing,
                        .one_at_a_time = true};
    p->n_table_rows = p->n_walked = table->n_rows;
    remote *m = cofi_alloc_zero(&p->env, 1, sizeof *m);
    *rows = m != NULL ? &m->base : NULL;
    if (m == NULL) return cofi_no_memory(err);
    m->base = (cofi_rows){&cofi_remote_ops, p};
    m->env = p->env;
    m->to = table->remote;
    m->frame.half = how.half;
    m->frame.column = cofi_blocks_add(&p->own, table->n_columns, sizeof *m->frame.column);
    if (m->frame.column == NULL) return cofi_no_memory(err);
    if (table->n_rows == 0) return cofi_fail(err, COF_ERR_FEW_ROWS, "the shards have no rows");
    COFI_TRY(cofi_problem_set_candidates(p, err));
    COFI_TRY(check_columns(p, err));
    COFI_TRY(set_unit(m, p, o, err));
    COFI_TRY(set_attributes(m, p, err));
    COFI_TRY(cofi_problem_set_column_weights(p, o->column_weights, err));
    /* The answer to a pass is the longest that every fit asks for. There are no more clusters than rows. */
    cofi_question pass = {.kind = COFI_ASK_PASS};
    uint32_t most_k = o->k > how.most_k ? o->k : how.most_k;
    if (most_k > p->n_table_rows) most_k = (uint32_t)p->n_table_rows;
    COFI_TRY(check_words(cofi_question_words(&pass, p, most_k) + COFI_ANSWER_END, err));
    COFI_TRY(count_distinct(m, p, o->k, err));
    return cofi_problem_check_k(p, o->k, err);
}

static cof_status ask_any(cofi_rows *rows, cofi_question *q, cof_error *err)
{
    remote *m = remote_of(rows);
    switch (q->kind) {
    case COFI_ASK_TOTALS:
        return ask_totals(m, q, err);
    case COFI_ASK_CELLS:
        return ask_cells(m, q, err);
    case COFI_ASK_POINTS:
        return ask_points(m, q, err);
    case COFI_ASK_PAIRS:
        return ask_pairs(m, q->pairs.visitor, err);
    case COFI_ASK_PASS:
        return ask_pass(m, q->partition, q, err);
    case COFI_ASK_LABELS:
        return ask_labels(m, q, err);
    case COFI_ASK_REMEMBER:
        return remember(m, q->partition, q->remember.own, &q->remember.out, err);
    case COFI_ASK_EXPECT:
        return ask_expect(m, q, err);
    case COFI_ASK_SEED:
        return add_seed(q->partition, q->seed, err);
    case COFI_ASK_DRAW:
        return draw(q->partition, q, err);
    case COFI_ASK_DENSEST:
        return densest(q->partition, q->densest.total, &q->densest.row, err);
    default: /* these are only parts of other questions */
        assert(false);
        return COF_ERR_UNSUPPORTED;
    }
}

const cofi_rows_ops cofi_remote_ops = {.ask = ask_any,
                                       .open_partition = open_partition,
                                       .close_partition = close_partition,
                                       .keep = keep,
                                       .set = set,
                                       .close = remote_close};

cof_status cofi_remote_share(cofi_rows *rows, const cofi_remote *to, cofi_rows **out, cof_error *err)
{
    const remote *from = remote_of(rows);
    remote *m = cofi_alloc_zero(&from->env, 1, sizeof *m);
    if (m == NULL) return cofi_no_memory(err);
    *m = (remote){.base = from->base, .env = from->env, .to = to, .frame = from->frame};
    *out = &m->base;
    return COF_OK;
}

const cofi_frame *cofi_remote_frame(const cofi_rows *rows)
{
    return &remote_of(rows)->frame;
}

/* ---- Classes ------------------------------------------------------------------------------------- */

/* Opens a driver for one request about a partition, in the frame of the request that is remembered. */
static cof_status open_for(const cof_table *table, const cofi_remembered *of, remote *m, cofi_request *q,
                           cof_error *err)
{
    *m = (remote){.env = table->env, .to = table->remote};
    m->frame.column = cofi_alloc(&m->env, table->n_columns, sizeof *m->frame.column);
    if (m->frame.column == NULL) return cofi_no_memory(err);
    cof_status status =
        cofi_request_read(of->request, of->n_bytes, m->frame.column, table->n_columns, q, err);
    if (status == COF_OK) m->frame = q->frame;
    return status;
}

static void close_for(const remote *m)
{
    COFI_RELEASE_ALL(&m->env, m->frame.column, m->request.bytes, m->answer);
}

/* Asks for n - 1 counts and the number of rows counted, and closes the driver. */
static cof_status ask_counts(remote *m, cof_status status, size_t n, uint64_t **count, cof_error *err)
{
    if (status == COF_OK) status = ask(m, n, err);
    const uint64_t most = UINT64_C(1) << 62;
    uint64_t sum = 0;
    for (size_t i = 0; status == COF_OK && i + 1 < n; i++) {
        if (m->answer[i] > most - sum) status = bad_answer(err);
        sum += m->answer[i];
    }
    if (status == COF_OK && m->answer[n - 1] > m->frame.n_rows) status = bad_answer(err);
    if (status == COF_OK) {
        *count = m->answer;
        m->answer = NULL;
    }
    close_for(m);
    return status;
}

cof_status cofi_remote_labels(const cof_table *table, const cofi_remembered *of, uint32_t k, uint64_t first,
                              int32_t *labels, size_t n, cof_error *err)
{
    remote m;
    cofi_request q;
    cof_status status = open_for(table, of, &m, &q, err);
    if (status == COF_OK) {
        cofi_writer *w = begin(&m, COFI_ASK_LABELS);
        cofi_put_bytes(w, q.body.bytes + q.body.at,
                       q.body.n - q.body.at - COFI_EMPTY_RANGE_BYTES); /* without its list of no rows */
        cofi_put_range(w, first, n);
        status = ask(&m, cofi_label_words(n), err);
        if (status == COF_OK) status = unpack_labels(&m, k, n, labels, err);
    }
    close_for(&m);
    return status;
}

cof_status cofi_remote_classes(const cof_table *table, const cofi_remembered *of, size_t column, uint32_t k,
                               double unit, uint64_t **count, cof_error *err)
{
    remote m;
    cofi_request q;
    cof_status status = open_for(table, of, &m, &q, err);
    if (status == COF_OK) {
        cofi_codec body = {.to = begin(&m, COFI_ASK_CLASSES)};
        cofi_question classes = {.kind = COFI_ASK_CLASSES, .classes = {(uint32_t)column, unit}};
        cofi_code_question(&body, NULL, &classes, NULL);
        cofi_put_bytes(&m.request, q.body.bytes + q.body.at, q.body.n - q.body.at);
    }
    return ask_counts(&m, status, (size_t)k * table->column[column].n_values + 1, count, err);
}

cof_status cofi_remote_agree(const cof_table *table, const cofi_remembered *a, uint32_t k_a,
                             const cofi_remembered *b, uint32_t k_b, uint64_t **count, cof_error *err)
{
    remote m;
    cofi_request q;
    cof_status status = open_for(table, a, &m, &q, err);
    if (status == COF_OK) {
        cofi_put_u64(begin(&m, COFI_ASK_AGREE), a->n_bytes);
        cofi_put_bytes(&m.request, a->request, a->n_bytes);
        cofi_put_bytes(&m.request, b->request, b->n_bytes);
    }
    return ask_counts(&m, status, (size_t)k_a * k_b + 1, count, err);
}

cof_status cofi_remote_table(const cof_env *env, const cof_schema *schema, const cof_shards *shards,
                             cofi_remote *to, cof_table *whole, cof_error *err)
{
    COFI_COPY_OPTIONS(&to->shards, shards);
    if (to->shards.ask == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no function that asks the shards");
    *whole = cofi_schema_whole(schema);
    whole->env = cofi_env_resolve(env);
    whole->remote = to;
    return COF_OK;
}
