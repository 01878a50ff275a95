/* The fits of a comparison. Each is small and independent of the others, so they run side by side, one
 * thread each; only tables too large to be worked on several times at once are given all threads in turn. */
#include <math.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "../complain.h"
#include "../term.h"

enum { LARGE_CELLS = 1 << 25, MOST_WORKERS = 256 };

typedef struct pool {
    comparison *c;
    size_t n_jobs, next;
    uint32_t n_workers, inner_threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t n_busy;    /* workers not yet at their end */
    size_t n_done;      /* jobs */
    double work, total; /* cells visited by the jobs done, and by all, roughly */
    size_t failed;      /* the first job that ends everything; SIZE_MAX: none */
    cof_status status;  /* of that one */
    cof_error err;
} pool;

typedef struct job { /* one fit */
    contest *at;
    entry *entry;
    size_t method;
    uint32_t run;
} job;

static job job_at(const comparison *c, size_t number)
{
    /* run by run, so that a comparison that is stopped has about as many runs of every method */
    size_t per_contest = c->n_methods * c->s.runs;
    job j = {.at = &c->contest[number / per_contest], .method = number % c->n_methods};
    j.entry = &j.at->entry[j.method];
    j.run = (uint32_t)(number % per_contest / c->n_methods);
    return j;
}

static double work_of(const contest *at)
{
    return (double)at->n_rows * (double)(at->columns.n_used + 1) * at->k;
}

/* ---- One fit ------------------------------------------------------------------------------------- */

static cof_status score_classes(const job *j, const cof_model *model, double *value, cof_error *err)
{
    cof_indices scores = {.struct_size = sizeof scores};
    size_t n = 0;
    const int32_t *labels = cof_model_labels(model, &n);
    cof_status status = cof_evaluate_weighted(NULL, labels, j->at->classes, j->at->weights, n, &scores, err);
    if (status != COF_OK) return status;
    value[0] = scores.ca;
    value[1] = scores.ari;
    value[2] = scores.nmi;
    return COF_OK;
}

static cof_status score_itself(const job *j, const cof_model *model, const cof_fit_info *info, double *value)
{
    double weight = 0;
    size_t n = 0;
    const double *size = cof_model_sizes(model);
    const int32_t *labels = cof_model_labels(model, &n);
    for (uint32_t i = 0; i < cof_model_k(model); i++) weight += size[i];
    value[0] = info->log_likelihood / weight;
    value[2] = info->objective;
    int32_t *kept = malloc((n + 1) * sizeof *kept);
    if (kept == NULL) return COF_ERR_MEMORY;
    memcpy(kept, labels, n * sizeof *kept);
    j->entry->labels[j->run] = kept;
    return COF_OK;
}

static cof_status fit_one(const pool *p, const job *j, cof_error *err)
{
    const compare_settings *s = &p->c->s;
    cof_model *model = NULL;
    cof_fit_info info = {.struct_size = sizeof info};
    bool scaled = j->at->scaled != NULL && strstr(contender(p->c, j->method), "-prototypes") != NULL;
    cof_fit_options options = s->fit;
    options.struct_size = sizeof options;
    options.k = j->at->k;
    options.restarts = s->as_fit ? 0 : 1;
    options.seed += j->run;
    options.threads = p->inner_threads;
    options.method = contender(p->c, j->method);
    options.column_weights = scaled ? j->at->scaled_columns.weight : j->at->columns.weight;
    double *value = j->entry->value + (size_t)j->run * N_INDICES;
    cof_status status = cof_fit(scaled ? j->at->scaled : j->at->table, &options, &model, &info, err);
    if (status == COF_OK && info.stop_reason == COF_STOP_STOPPED) status = COF_ERR_STOPPED;
    if (status == COF_OK) {
        j->entry->time_s[j->run] = info.fit_s;
        status = j->at->classes != NULL ? score_classes(j, model, value, err)
                                        : score_itself(j, model, &info, value);
    }
    cof_model_free(model);
    return status;
}

/* How alike the runs of a method are: their mean adjusted Rand index, pair by pair. */
static cof_status compare_runs(const comparison *c, const job *j, cof_error *err)
{
    entry *e = j->entry;
    double sum = 0;
    size_t n = 0;
    for (uint32_t a = 0; a < c->s.runs && !interrupted(); a++)
        for (uint32_t b = a + 1; b < c->s.runs && e->labels[a] != NULL; b++) {
            cof_indices scores = {.struct_size = sizeof scores};
            if (e->labels[b] == NULL) continue;
            cof_status status = cof_evaluate_weighted(NULL, e->labels[a], e->labels[b], j->at->weights,
                                                      j->at->n_rows, &scores, err);
            if (status != COF_OK) return status;
            sum += scores.ari;
            n++;
        }
    for (uint32_t a = 0; a < c->s.runs; a++) {
        if (n > 0 && e->labels[a] != NULL) e->value[(size_t)a * N_INDICES + 1] = sum / (double)n;
        free(e->labels[a]);
        e->labels[a] = NULL;
    }
    return COF_OK;
}

/* ---- Many ---------------------------------------------------------------------------------------- */

/* What a method lacks on a table is a finding, not a failure. */
static bool is_finding(cof_status status)
{
    return status == COF_ERR_NO_RESULT || status == COF_ERR_NO_COLUMNS;
}

/* The lock is held. True for the last run of a method on a table. */
static bool record_fit(pool *p, size_t number, const job *j, cof_status status, const cof_error *err)
{
    entry *e = j->entry;
    if (is_finding(status))
        snprintf(e->reason, sizeof e->reason, "%.255s", err->text);
    else if (status != COF_OK && number < p->failed) {
        p->failed = number;
        p->status = status;
        p->err = *err;
    }
    if (status == COF_OK || is_finding(status)) p->c->n_fits++;
    p->n_done++;
    p->work += work_of(j->at);
    return ++e->n_finished == p->c->s.runs;
}

static void *work(void *ctx)
{
    pool *p = ctx;
    pthread_mutex_lock(&p->lock);
    while (p->next < p->n_jobs && p->failed == SIZE_MAX && !interrupted()) {
        size_t number = p->next++;
        job j = job_at(p->c, number);
        cof_error err = {""};
        pthread_mutex_unlock(&p->lock);
        cof_status status = fit_one(p, &j, &err);
        pthread_mutex_lock(&p->lock);
        bool last = record_fit(p, number, &j, status, &err);
        if (!last || j.at->classes != NULL) continue;
        pthread_mutex_unlock(&p->lock);
        status = compare_runs(p->c, &j, &err);
        pthread_mutex_lock(&p->lock);
        if (status != COF_OK && number < p->failed) p->failed = number, p->status = status, p->err = err;
    }
    p->n_busy--;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void draw_line(pool *p, double begun_s)
{
    comparison *c = p->c;
    job j = job_at(c, p->next > 0 ? p->next - 1 : 0); /* the latest begun */
    char text[512];
    snprintf(text, sizeof text, "%s  %s  run %u/%u  %zu of %zu fits", j.at->short_name,
             contender(c, j.method), j.run + 1, c->s.runs, p->n_done, p->n_jobs);
    progress_say(&c->line, text, now_s() - begun_s, p->work, p->total);
}

/* The calling thread draws the line while the others work. */
static void watch(pool *p)
{
    double begun_s = now_s();
    pthread_mutex_lock(&p->lock);
    while (p->n_busy > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&p->changed, &p->lock, &until);
        draw_line(p, begun_s);
    }
    pthread_mutex_unlock(&p->lock);
    progress_erase(&p->c->line);
}

static void share_threads(pool *p)
{
    const comparison *c = p->c;
    uint32_t threads = c->s.fit.threads > 0 ? c->s.fit.threads : cof_n_cores();
    bool large = false;
    for (size_t i = 0; i < c->n_contests; i++)
        large = large || c->contest[i].n_rows * (c->contest[i].columns.n_used + 1) > LARGE_CELLS;
    p->n_workers = large ? 1 : threads < MOST_WORKERS ? threads : MOST_WORKERS;
    if (p->n_workers > p->n_jobs) p->n_workers = (uint32_t)p->n_jobs;
    p->inner_threads = threads / p->n_workers;
}

static int finish(pool *p)
{
    comparison *c = p->c;
    c->stopped = interrupted() || p->status == COF_ERR_STOPPED;
    if (c->stopped && c->n_fits == 0)
        return complain(CODE_INTERRUPTED, "interrupted before the first fit was done; nothing was written");
    if (c->stopped) return CODE_DONE;
    if (p->failed == SIZE_MAX) return CODE_DONE;
    if (c->n_contests == 1) return complain_error(p->status, TASK_FIT, &p->err);
    const char *text = p->err.text[0] != '\0' ? p->err.text : cof_status_text(p->status);
    return complain(exit_code(p->status, TASK_FIT), "%s: %s", job_at(c, p->failed).at->file, text);
}

int run_fits(comparison *c)
{
    pool p = {.c = c, .failed = SIZE_MAX, .n_jobs = c->n_contests * c->n_methods * c->s.runs};
    pthread_t thread[MOST_WORKERS];
    uint32_t n = 0;
    share_threads(&p);
    for (size_t i = 0; i < c->n_contests; i++)
        p.total += work_of(&c->contest[i]) * (double)(c->n_methods * c->s.runs);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    pthread_mutex_lock(&p.lock);
    for (; n < p.n_workers && pthread_create(&thread[n], NULL, work, &p) == 0; n++) p.n_busy++;
    p.n_busy += n == 0;
    pthread_mutex_unlock(&p.lock);
    if (n > 0)
        watch(&p);
    else
        work(&p); /* a system without threads, or none left */
    for (uint32_t i = 0; i < n; i++) pthread_join(thread[i], NULL);
    for (size_t at = 0; interrupted() && at < c->n_methods * c->n_contests; at++) {
        entry *e = &c->contest[at / c->n_methods].entry[at % c->n_methods];
        if (e->reason[0] == '\0') snprintf(e->reason, sizeof e->reason, "interrupted");
    }
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    return finish(&p);
}
