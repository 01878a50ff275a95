/* Threads take the tasks of cofi_team_run from one atomic counter, so that a slow core takes fewer. While many tasks are left
 * they take several at a time: consecutive tasks are adjacent in memory, so the data that a core prefetched are for its own
 * next task. In cofi_team_run_parts every worker has a part of the tasks, and takes half of what another has left when its
 * own part is done. Between rounds, threads look for the next one for a short time, because waking a thread takes tens of
 * microseconds and the rounds of a fit follow each other quickly; then they wait on a condition variable. */
#include "team.h"

#include "system/system.h"

#include <pthread.h>

enum { MOST_THREADS = 1024 };
#define LOOK_S 30e-6

typedef struct worker_seat {
    cofi_team *team;
    uint32_t number;
    pthread_t thread;
} worker_seat;

enum { LINE = 128 }; /* bytes that processors fetch together */

/* The tasks begin..end-1 that are left of a worker's part, both in one word, on a line of the cache of its own. */
typedef struct part {
    atomic_uint_fast64_t left;
    char room[LINE - sizeof(atomic_uint_fast64_t)];
} part;

struct cofi_team {
    cof_env env;
    uint32_t n_workers;         /* includes the caller, which is number 0 */
    const atomic_uint *sharing; /* number of teams that share the cores; NULL: this one has them all */
    uint32_t n_started;
    worker_seat *seat; /* one per started thread; only the caller's thread allocates and frees it */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    double look_s; /* how long threads look before they sleep; 0 if there are more threads than cores */
    /* changed under the lock, which also protects the members below that are not atomic */
    atomic_uint_fast64_t round;
    atomic_uint n_busy;
    bool quit;
    uint32_t n_active; /* workers from this number on take no tasks in this round */
    cofi_task task;
    void *ctx;
    size_t n_tasks;
    atomic_size_t next;
    bool in_parts;
    part *part; /* per worker */
};

/* Number of tasks to take: few enough that all workers finish at about the same time. */
static size_t share(cofi_team *team)
{
    enum { MOST = 16, SHARES = 8 };
    size_t taken = atomic_load_explicit(&team->next, memory_order_relaxed);
    size_t n = taken < team->n_tasks ? (team->n_tasks - taken) / (SHARES * team->n_workers) : 0;
    return n < 1 ? 1 : n < MOST ? n : MOST;
}

static uint64_t range_of(uint64_t begin, uint64_t end)
{
    return begin << 32 | end;
}

static uint32_t begin_of(uint64_t range)
{
    return (uint32_t)(range >> 32);
}

static uint32_t end_of(uint64_t range)
{
    return (uint32_t)range;
}

/* Moves the second half of what another worker has left to this worker's part, which is empty. */
static bool take_half(cofi_team *team, uint32_t worker)
{
    for (uint32_t i = 1; i < team->n_active; i++) {
        part *other = &team->part[(worker + i) % team->n_active];
        uint64_t left = atomic_load(&other->left);
        while (begin_of(left) < end_of(left)) {
            uint32_t begin = begin_of(left), end = end_of(left), middle = begin + (end - begin) / 2;
            if (!atomic_compare_exchange_weak(&other->left, &left, range_of(begin, middle))) continue;
            atomic_store(&team->part[worker].left, range_of(middle, end));
            return true;
        }
    }
    return false;
}

/* Takes the tasks of the worker's own part one by one, then those of others. */
static void take_part(cofi_team *team, uint32_t worker)
{
    part *own = &team->part[worker];
    do {
        uint64_t left = atomic_load(&own->left);
        while (begin_of(left) < end_of(left)) {
            uint32_t task = begin_of(left);
            if (!atomic_compare_exchange_weak(&own->left, &left, range_of(task + 1, end_of(left)))) continue;
            team->task(team->ctx, worker, task);
            left = atomic_load(&own->left);
        }
    } while (take_half(team, worker));
}

static void take_tasks(cofi_team *team, uint32_t worker)
{
    if (team->in_parts) {
        take_part(team, worker);
        return;
    }
    for (;;) {
        size_t n = share(team), task = atomic_fetch_add_explicit(&team->next, n, memory_order_relaxed);
        if (task >= team->n_tasks) return;
        for (size_t end = task + n; task < end && task < team->n_tasks; task++)
            team->task(team->ctx, worker, task);
    }
}

static void *worker_main(void *arg)
{
    const worker_seat *seat = arg;
    cofi_team *team = seat->team;
    for (uint64_t seen = 0;;) {
        double until_s = cofi_now_s() + team->look_s;
        while (atomic_load(&team->round) == seen && cofi_now_s() < until_s) continue;
        pthread_mutex_lock(&team->lock);
        while (team->round == seen && !team->quit) pthread_cond_wait(&team->work, &team->lock);
        seen = team->round;
        bool quit = team->quit;
        pthread_mutex_unlock(&team->lock);
        if (quit) return NULL;
        if (seat->number < team->n_active) take_tasks(team, seat->number);
        if (atomic_fetch_sub(&team->n_busy, 1) > 1) continue;
        pthread_mutex_lock(&team->lock);
        pthread_cond_signal(&team->done);
        pthread_mutex_unlock(&team->lock);
    }
}

cof_status cofi_team_open(const cof_env *env, uint32_t threads, cofi_team **out, cof_error *err)
{
    cofi_team *team = cofi_alloc_zero(env, 1, sizeof *team);
    if (team == NULL) return cofi_no_memory(err);
    team->env = *env;
    if (threads == 0) threads = cof_n_cores();
    team->n_workers = threads < MOST_THREADS ? threads : MOST_THREADS;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->work, NULL);
    pthread_cond_init(&team->done, NULL);
    atomic_init(&team->next, 0);
    atomic_init(&team->round, 0);
    atomic_init(&team->n_busy, 0);
    bool core_each = team->n_workers > 1 && team->n_workers <= cof_n_cores();
    team->look_s = core_each ? LOOK_S : 0;
    team->seat = cofi_alloc(env, team->n_workers - 1, sizeof *team->seat);
    team->part = cofi_alloc_zero(env, team->n_workers, sizeof *team->part);
    if (team->seat == NULL || team->part == NULL) {
        cofi_team_close(team);
        return cofi_no_memory(err);
    }
    while (team->n_started + 1 < team->n_workers) {
        worker_seat *seat = &team->seat[team->n_started];
        *seat = (worker_seat){.team = team, .number = team->n_started + 1};
        if (pthread_create(&seat->thread, NULL, worker_main, seat) != 0) break;
        if (team->look_s > 0) cofi_start_elsewhere(seat->thread);
        team->n_started++;
    }
    /* If fewer threads start than requested, the result is the same, so this is not an error. */
    team->n_workers = team->n_started + 1;
    *out = team;
    return COF_OK;
}

uint32_t cofi_team_size(const cofi_team *team)
{
    return team->n_workers;
}

void cofi_team_share(cofi_team *team, const atomic_uint *n_busy)
{
    team->sharing = n_busy;
}

static void run_tasks(cofi_team *team, cofi_task task, void *ctx, size_t n, bool in_parts)
{
    uint32_t n_teams = team->sharing != NULL ? atomic_load(team->sharing) : 1;
    uint32_t n_active = n_teams <= 1 ? team->n_workers : team->n_workers / n_teams;
    if (n_active <= 1 || n <= 1) {
        for (size_t i = 0; i < n; i++) task(ctx, 0, i);
        return;
    }
    pthread_mutex_lock(&team->lock);
    team->task = task;
    team->ctx = ctx;
    team->n_tasks = n;
    team->n_active = n_active;
    team->in_parts = in_parts;
    for (uint32_t w = 0; in_parts && w < n_active; w++) {
        uint64_t begin = (uint64_t)n * w / n_active, end = (uint64_t)n * (w + 1) / n_active;
        atomic_store_explicit(&team->part[w].left, range_of(begin, end), memory_order_relaxed);
    }
    atomic_store_explicit(&team->next, 0, memory_order_relaxed);
    team->n_busy = team->n_started;
    team->round++;
    pthread_cond_broadcast(&team->work);
    pthread_mutex_unlock(&team->lock);
    take_tasks(team, 0);
    double until_s = cofi_now_s() + team->look_s;
    while (atomic_load(&team->n_busy) > 0 && cofi_now_s() < until_s) continue;
    if (atomic_load(&team->n_busy) == 0) return;
    pthread_mutex_lock(&team->lock);
    while (team->n_busy > 0) pthread_cond_wait(&team->done, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

void cofi_team_run(cofi_team *team, cofi_task task, void *ctx, size_t n)
{
    run_tasks(team, task, ctx, n, false);
}

void cofi_team_run_parts(cofi_team *team, cofi_task task, void *ctx, size_t n)
{
    run_tasks(team, task, ctx, n, n <= UINT32_MAX);
}

void cofi_team_close(cofi_team *team)
{
    if (team == NULL) return;
    pthread_mutex_lock(&team->lock);
    team->quit = true;
    atomic_fetch_add(&team->round, 1);
    pthread_cond_broadcast(&team->work);
    pthread_mutex_unlock(&team->lock);
    for (uint32_t t = 0; t < team->n_started; t++) pthread_join(team->seat[t].thread, NULL);
    pthread_mutex_destroy(&team->lock);
    pthread_cond_destroy(&team->work);
    pthread_cond_destroy(&team->done);
    cof_env env = team->env;
    COFI_RELEASE_ALL(&env, team->part, team->seat, team);
}
