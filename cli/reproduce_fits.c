/* Many small fits, a few at a time. Run i has seed i, so all methods of a run begin with the same rows. */
#include "reproduce.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"

typedef struct fit_task {
    const rep_series *series;
    uint32_t run; /* from 1 */
    double value[3];
} fit_task;

typedef struct fit_queue {
    rep_job *job;
    const rep_table *table;
    rep_take take;
    fit_task *task;
    size_t n, next, done;
    pthread_mutex_t lock;
    cof_status status; /* the first failure */
    cof_error err;
} fit_queue;

rep_series rep_paper_series(const rep_table *t, const char *method, uint32_t n_runs)
{
    return (rep_series){.name = method,
                        .options = {.struct_size = sizeof(cof_fit_options),
                                    .k = t->about->k,
                                    .restarts = 1,
                                    .init = COF_INIT_RANDOM,
                                    .variant = COF_VARIANT_AUTHORS,
                                    .threads = 1,
                                    .method = method},
                        .n_runs = n_runs};
}

void rep_take_scores(const rep_table *t, const cof_model *model, const cof_fit_info *info, double value[3])
{
    cof_scores scores = {.struct_size = sizeof scores};
    (void)info;
    if (cof_evaluate(NULL, cof_model_labels(model, NULL), t->classes, t->n_rows, &scores, NULL) != COF_OK)
        return;
    value[0] = scores.ca;
    value[1] = scores.ari;
    value[2] = scores.nmi;
}

static cof_status run_task(fit_queue *q, fit_task *one, cof_error *err)
{
    cof_fit_options options = one->series->options;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_model *model = NULL;
    options.seed = one->run;
    one->value[0] = one->value[1] = one->value[2] = (double)NAN;
    cof_status status = cof_fit(q->table->table, &options, &model, &info, err);
    if (status == COF_ERR_NO_RESULT) return COF_OK; /* the paper prints a dash there */
    if (status != COF_OK) return status;
    if (info.stop_reason == COF_STOP_STOPPED) status = COF_ERR_STOPPED;
    q->take(q->table, model, &info, one->value);
    cof_model_free(model);
    return status;
}

static fit_task *next_task(fit_queue *q)
{
    pthread_mutex_lock(&q->lock);
    fit_task *one = q->status == COF_OK && q->next < q->n ? &q->task[q->next++] : NULL;
    pthread_mutex_unlock(&q->lock);
    return one;
}

static void *work(void *ctx)
{
    fit_queue *q = ctx;
    fit_task *one;
    while ((one = next_task(q)) != NULL) {
        cof_error err = {""};
        cof_status status = run_task(q, one, &err);
        pthread_mutex_lock(&q->lock);
        if (status != COF_OK && q->status == COF_OK) {
            q->status = status;
            q->err = err;
        }
        rep_progress(q->job, ++q->done, q->n);
        pthread_mutex_unlock(&q->lock);
    }
    return NULL;
}

/* The calling thread is one of the workers; a thread that cannot be had is done without. */
static void run_queue(fit_queue *q)
{
    enum { MOST = 64 };
    pthread_t thread[MOST];
    uint32_t n = 0, wanted = q->job->threads > MOST ? MOST : q->job->threads;
    while (n + 1 < wanted && pthread_create(&thread[n], NULL, work, q) == 0) n++;
    work(q);
    for (uint32_t i = 0; i < n; i++) pthread_join(thread[i], NULL);
}

static void fill_queue(fit_queue *q, const rep_series *series, size_t n_series)
{
    for (size_t s = 0; s < n_series; s++)
        for (uint32_t run = 1; run <= series[s].n_runs; run++)
            q->task[q->n++] = (fit_task){.series = &series[s], .run = run};
}

int rep_fit_all(rep_job *job, const rep_table *t, const rep_series *series, size_t n_series, rep_take take,
                rep_results *results)
{
    fit_queue q = {.job = job, .table = t, .take = take};
    size_t total = 0;
    int code = CODE_DONE;
    for (size_t s = 0; s < n_series; s++) total += series[s].n_runs;
    q.task = malloc(total * sizeof *q.task);
    if (q.task == NULL) return complain_memory();
    fill_queue(&q, series, n_series);
    pthread_mutex_init(&q.lock, NULL);
    run_queue(&q);
    pthread_mutex_destroy(&q.lock);
    if (interrupted())
        code = CODE_INTERRUPTED;
    else if (q.status != COF_OK)
        code = complain_status(q.status, TASK_FIT, &q.err);
    for (size_t i = 0; code == CODE_DONE && i < q.n; i++)
        code = rep_add(results, t->about->abbrev, q.task[i].series->name, q.task[i].run, q.task[i].value[0],
                       q.task[i].value[1], q.task[i].value[2]);
    free(q.task);
    return code;
}
