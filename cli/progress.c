/* Progress on standard error, elapsed time, and requests to stop. */
#include "progress.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/host.h"
#include "term.h"

static const double FIRST_S = 0.25; /* quicker work needs no line */
static const double EVERY_S = 0.1;

/* The one piece of state outside the handles: a signal handler has nowhere else to look. 0, or the signal. */
static volatile sig_atomic_t stop_requested;

static void request_stop(int number)
{
    stop_requested = number;
}

void catch_signals(void)
{
    call_on_stop(request_stop);
}

int stop_code(void)
{
    return 128 + (stop_requested != 0 ? stop_requested : SIGINT);
}

bool interrupted(void)
{
    look_for_stop();
    return stop_requested != 0;
}

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double progress_lines_s = 0;

progress_line progress_begin(bool quiet, const char *what)
{
    bool lines = progress_lines_s > 0;
    return (progress_line){.on = !quiet && (lines || on_terminal(stderr)),
                           .next_s = now_s() + (lines ? progress_lines_s : FIRST_S),
                           .what = what};
}

void progress_erase(progress_line *line)
{
    if (!line->drawn) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    line->drawn = false;
}

/* Finished parts over all parts gives the time left; nothing is said before one part is finished. */
static void append_time_left(char *text, size_t n, double elapsed_s, double done, double total)
{
    if (done <= 0 || total <= done) return;
    double left_s = elapsed_s * (total - done) / done;
    if (left_s < 60)
        append(text, n, "  about %.0f s left", ceil(left_s));
    else
        append(text, n, "  about %s left", show_seconds(left_s).text);
}

static void describe_fitting(const progress_line *line, const cof_progress *p, char *text, size_t n)
{
    text[0] = '\0';
    if (line->counts_k) snprintf(text, n, "%u cluster%s  ", p->k, p->k == 1 ? "" : "s");
    append(text, n, "Restart %u/%u", p->restart, p->restarts);
    if (p->phase == COF_PHASE_START)
        append(text, n, "  start");
    else
        append(text, n, "  rebuild %u", p->rebuild);
    append(text, n, "  pass %u  %s rows moved", p->pass, show_count(p->done).text);
    if (p->rows_per_s >= 1e6)
        append(text, n, "  %.1f million rows/s", p->rows_per_s / 1e6);
    else if (p->rows_per_s > 0)
        append(text, n, "  %s rows/s", show_count((uint64_t)p->rows_per_s).text);
    if (p->restart > 1 && !line->counts_k)
        append_time_left(text, n, p->elapsed_s, p->restart - 1, p->restarts);
}

void progress_fit_begun(progress_line *line)
{
    void (*begun)(void *ctx) = line->begun;
    line->begun = NULL;
    if (begun == NULL) return;
    progress_erase(line);
    begun(line->ctx);
}

static void put_line(progress_line *line, const char *text)
{
    if (progress_lines_s > 0) {
        fprintf(stderr, "%s\n", show_text(text, 200).text);
        line->next_s = now_s() + progress_lines_s;
        return;
    }
    fprintf(stderr, "\r%s\033[K", show_text(text, terminal_width(stderr) - 1).text);
    fflush(stderr);
    line->drawn = true;
    line->next_s = now_s() + EVERY_S;
}

void progress_say(progress_line *line, const char *text, double elapsed_s, double done, double total)
{
    char all[512];
    if (!line->on || now_s() < line->next_s) return;
    snprintf(all, sizeof all, "%s", text);
    append_time_left(all, sizeof all, elapsed_s, done, total);
    put_line(line, all);
}

static void draw(void *ctx, const cof_progress *p)
{
    progress_line *line = ctx;
    char text[512];
    if (p->phase == COF_PHASE_START || p->phase == COF_PHASE_FIT) progress_fit_begun(line);
    if (!line->on || now_s() < line->next_s) return;
    if (p->phase == COF_PHASE_READ)
        snprintf(text, sizeof text, "Reading %s  %.0f MB", show_text(line->what, 40).text,
                 (double)p->done / 1e6);
    else if (p->phase == COF_PHASE_GENERATE)
        snprintf(text, sizeof text, "Making the table");
    else
        describe_fitting(line, p, text, sizeof text);
    if ((p->phase == COF_PHASE_READ || p->phase == COF_PHASE_GENERATE) && p->total > 0) {
        append(text, sizeof text, "  %s", show_share((double)p->done, (double)p->total).text);
        append_time_left(text, sizeof text, p->elapsed_s, (double)p->done, (double)p->total);
    }
    put_line(line, text);
}

static void draw_reading(void *ctx, const cof_progress *p)
{
    if (p->phase == COF_PHASE_READ) draw(ctx, p);
}

static int should_stop(void *ctx)
{
    return interrupted();
}

cof_env progress_env(progress_line *line)
{
    return (cof_env){
        .struct_size = sizeof(cof_env), .should_stop = should_stop, .progress = draw, .ctx = line};
}

cof_env reading_env(progress_line *line)
{
    cof_env env = progress_env(line);
    env.progress = draw_reading;
    return env;
}
