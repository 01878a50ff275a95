/* Joins the requests of several fits. To a lane, this is who asks the shards. */
#include "../rounds.h"

#include "remote.h"
#include "request.h"

#include <pthread.h>
#include <stdio.h>

/* A joined request is no longer than this, unless a single one is. */
enum { JOINED_WORDS = 1 << 19, JOINED_BYTES = 1 << 22 };

typedef enum lane_state { READY, WORKING, ASKING, DONE } lane_state;

typedef struct lane {
    cofi_rounds *rounds;
    cofi_remote to; /* asks by ask_in_round */
    cofi_rows *rows;
    lane_state state;
    pthread_cond_t may_work;
    /* what it asks; valid while it waits */
    const void *request;
    size_t n_bytes, n_words;
    uint64_t *sum;
    bool failed;
} lane;

struct cofi_rounds {
    cof_env env;
    cof_shards shards;
    cofi_team *team; /* the caller and one thread a lane */
    lane *lane;
    uint32_t n_lanes, n_open, n_threads;
    /* of one run */
    void (*work)(void *ctx, uint32_t lane);
    void (*between)(void *ctx);
    void *ctx;
    bool running;
    pthread_mutex_t lock; /* protects the states and what follows */
    pthread_cond_t begins, all_wait;
    bool begun;
    uint32_t n, n_taken, n_working;
    /* of one round */
    cofi_writer joined;
    uint64_t *answer;
    size_t room;
    cof_error why;
};

/* ---- Who computes -------------------------------------------------------------------------------- */

/* Lets the next lanes compute; if there are none, the round has ended. The lock is held. */
static void hand_on(cofi_rounds *r)
{
    for (uint32_t l = 0; l < r->n && r->n_working < r->n_threads; l++) {
        if (r->lane[l].state != READY) continue;
        r->lane[l].state = WORKING;
        r->n_working++;
        pthread_cond_signal(&r->lane[l].may_work);
    }
    if (r->n_working == 0) pthread_cond_signal(&r->all_wait);
}

/* The lane no longer computes. The lock is held. */
static void rest(lane *l, lane_state state)
{
    l->state = state;
    l->rounds->n_working--;
    hand_on(l->rounds);
}

static void await_work(lane *l)
{
    while (l->state != WORKING) pthread_cond_wait(&l->may_work, &l->rounds->lock);
}

/* ---- Asking -------------------------------------------------------------------------------------- */

/* On the thread of the caller. The sentence about a failure is kept, because lanes may not ask for it. */
static bool ask_now(cofi_rounds *r, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    if (r->shards.ask(r->shards.ctx, request, n_bytes, sum, n_words) == 0) return true;
    const char *why = r->shards.why != NULL ? r->shards.why(r->shards.ctx) : NULL;
    snprintf(r->why.text, sizeof r->why.text, "%s", why != NULL ? why : "");
    return false;
}

static int ask_in_round(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    lane *l = ctx;
    cofi_rounds *r = l->rounds;
    if (!r->running) return !ask_now(r, request, n_bytes, sum, n_words);
    pthread_mutex_lock(&r->lock);
    l->request = request;
    l->n_bytes = n_bytes;
    l->sum = sum;
    l->n_words = n_words;
    rest(l, ASKING);
    await_work(l);
    pthread_mutex_unlock(&r->lock);
    return l->failed;
}

static const char *why(void *ctx)
{
    const cofi_rounds *r = ((const lane *)ctx)->rounds;
    return r->why.text[0] != '\0' ? r->why.text : NULL;
}

/* Joins what the lanes from..end-1 ask; false: there is no memory for that. */
static bool join(cofi_rounds *r, uint32_t from, uint32_t end, uint32_t n, size_t n_words)
{
    cofi_writer *w = &r->joined;
    w->failed = false; /* there may be memory again */
    cofi_request_begin(w, COFI_ASK_SEVERAL, cofi_remote_frame(r->lane[0].rows));
    cofi_put_u32(w, n);
    for (uint32_t t = from; t < end; t++) {
        if (r->lane[t].state != ASKING) continue;
        cofi_put_u64(w, r->lane[t].n_bytes);
        cofi_put_bytes(w, r->lane[t].request, r->lane[t].n_bytes);
    }
    cofi_request_end(w, n_words);
    if (w->failed || !cofi_make_room(&r->env, &r->answer, &r->room, n_words, sizeof *r->answer)) return false;
    memset(r->answer, 0, n_words * sizeof *r->answer);
    return true;
}

/* Asks what the lanes from..end-1 ask: as one request, or without memory for that one by one. */
static bool ask_some(cofi_rounds *r, uint32_t from, uint32_t end, uint32_t n, size_t n_words)
{
    size_t n_all = n_words + COFI_ANSWER_END;
    bool joined = n > 1 && join(r, from, end, n, n_all);
    if (joined && !ask_now(r, r->joined.bytes, r->joined.n, r->answer, n_all)) return false;
    const uint64_t *word = r->answer;
    for (uint32_t t = from; t < end; t++) {
        const lane *l = &r->lane[t];
        if (l->state != ASKING) continue;
        if (!joined && !ask_now(r, l->request, l->n_bytes, l->sum, l->n_words)) return false;
        if (!joined) continue;
        memcpy(l->sum, word, l->n_words * sizeof *word);
        word += l->n_words;
    }
    return true;
}

/* All lanes wait, so nothing of theirs changes. */
static void ask_all(cofi_rounds *r)
{
    bool ok = true;
    for (uint32_t from = 0, end; from < r->n; from = end) {
        size_t n_words = 0, n_bytes = 0;
        uint32_t n = 0;
        for (end = from; end < r->n; end++) {
            const lane *l = &r->lane[end];
            if (l->state != ASKING) continue;
            if (n > 0 && (n_words + l->n_words > JOINED_WORDS || n_bytes + l->n_bytes > JOINED_BYTES)) break;
            n_words += l->n_words;
            n_bytes += l->n_bytes;
            n++;
        }
        ok = ok && ask_some(r, from, end, n, n_words);
        for (uint32_t t = from; t < end; t++) r->lane[t].failed = !ok;
    }
}

/* ---- Running ------------------------------------------------------------------------------------- */

static bool any_asks(const cofi_rounds *r)
{
    for (uint32_t l = 0; l < r->n; l++)
        if (r->lane[l].state == ASKING) return true;
    return false;
}

static void conduct(cofi_rounds *r)
{
    pthread_mutex_lock(&r->lock);
    r->begun = true;
    pthread_cond_broadcast(&r->begins);
    for (hand_on(r);; hand_on(r)) {
        while (r->n_working > 0) pthread_cond_wait(&r->all_wait, &r->lock);
        if (!any_asks(r)) break;
        pthread_mutex_unlock(&r->lock);
        r->between(r->ctx);
        ask_all(r);
        pthread_mutex_lock(&r->lock);
        for (uint32_t l = 0; l < r->n; l++)
            if (r->lane[l].state == ASKING) r->lane[l].state = READY;
    }
    pthread_mutex_unlock(&r->lock);
}

/* There is one task for each worker of the team, and none of the others ends one before worker 0, the caller, has begun its
 * own: so the caller conducts. */
static void take_part(void *ctx, uint32_t worker, size_t task)
{
    cofi_rounds *r = ctx;
    if (worker == 0) {
        conduct(r);
        return;
    }
    pthread_mutex_lock(&r->lock);
    while (!r->begun) pthread_cond_wait(&r->begins, &r->lock);
    if (r->n_taken < r->n) {
        uint32_t number = r->n_taken++;
        lane *l = &r->lane[number];
        await_work(l);
        pthread_mutex_unlock(&r->lock);
        r->work(r->ctx, number);
        pthread_mutex_lock(&r->lock);
        rest(l, DONE);
    }
    pthread_mutex_unlock(&r->lock);
}

void cofi_rounds_run(cofi_rounds *r, uint32_t n, void (*work)(void *ctx, uint32_t lane),
                     void (*between)(void *ctx), void *ctx)
{
    r->work = work;
    r->between = between;
    r->ctx = ctx;
    r->n = n;
    r->n_taken = 0;
    r->begun = false;
    for (uint32_t l = 0; l < n; l++) r->lane[l].state = READY;
    r->running = true;
    cofi_team_run(r->team, take_part, r, cofi_team_size(r->team));
    r->running = false;
}

/* ---- Opening ------------------------------------------------------------------------------------- */

uint32_t cofi_rounds_most(const cofi_problem *p)
{
    if (!p->one_at_a_time) return 1;
    uint64_t n = p->table->remote->shards.together;
    if (n == 0) n = COF_SHARD_LABELS / (p->n_table_rows + 1);
    return n < 1 ? 1 : n < COFI_MOST_TOGETHER ? (uint32_t)n : COFI_MOST_TOGETHER;
}

static cof_status open_lanes(cofi_rounds *r, cofi_rows *rows, cof_error *err)
{
    const cofi_remote *to = rows->problem->table->remote;
    for (; r->n_open < r->n_lanes; r->n_open++) {
        lane *l = &r->lane[r->n_open];
        l->rounds = r;
        l->to = *to;
        l->to.shards.ask = ask_in_round;
        l->to.shards.why = why;
        l->to.shards.ctx = l;
        COFI_TRY(cofi_remote_share(rows, &l->to, &l->rows, err));
        pthread_cond_init(&l->may_work, NULL);
    }
    return COF_OK;
}

cof_status cofi_rounds_open(cofi_rows *rows, uint32_t n, uint32_t threads, cofi_rounds **out, cof_error *err)
{
    const cof_env *env = &rows->problem->env;
    cofi_rounds *r = cofi_alloc_zero(env, 1, sizeof *r);
    if (r == NULL) return cofi_no_memory(err);
    r->env = r->joined.env = *env;
    r->shards = rows->problem->table->remote->shards;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->begins, NULL);
    pthread_cond_init(&r->all_wait, NULL);
    cof_status status = cofi_team_open(env, n + 1, &r->team, err);
    if (status == COF_OK) {
        r->n_lanes = cofi_team_size(r->team) - 1;
        r->n_threads = threads == 0 ? cof_n_cores() : threads;
        if (r->n_threads > r->n_lanes) r->n_threads = r->n_lanes;
        r->lane = cofi_alloc_zero(env, r->n_lanes, sizeof *r->lane);
        status = r->lane != NULL ? open_lanes(r, rows, err) : cofi_no_memory(err);
    }
    if (status == COF_OK && r->n_lanes > 0)
        *out = r;
    else
        cofi_rounds_close(r);
    return status;
}

uint32_t cofi_rounds_n(const cofi_rounds *r)
{
    return r->n_lanes;
}

uint32_t cofi_rounds_threads(const cofi_rounds *r)
{
    return r->n_threads;
}

cofi_rows *cofi_rounds_rows(const cofi_rounds *r, uint32_t l)
{
    return r->lane[l].rows;
}

void cofi_rounds_close(cofi_rounds *r)
{
    if (r == NULL) return;
    cof_env env = r->env;
    cofi_team_close(r->team);
    for (uint32_t l = 0; l < r->n_open; l++) {
        cofi_rows_close(r->lane[l].rows);
        pthread_cond_destroy(&r->lane[l].may_work);
    }
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->begins);
    pthread_cond_destroy(&r->all_wait);
    COFI_RELEASE_ALL(&env, r->lane, r->joined.bytes, r->answer, r);
}
