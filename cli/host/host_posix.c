/* Linux, macOS and other systems with POSIX. */
#include "host.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_STOP_SIGNALS = sizeof stop_signals / sizeof *stop_signals };
static void (*asked_to_stop)(int); /* a signal handler has nowhere else to look */

void survive_failed_writes(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void use_one_heap(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}

char **host_arguments(int *argc, char **argv)
{
    (void)argc;
    return argv;
}

bool reader_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

void end_like_others(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

static void request_stop(int number)
{
    asked_to_stop(number);
    for (size_t i = 0; i < N_STOP_SIGNALS; i++) signal(stop_signals[i], SIG_DFL);
}

void call_on_stop(void (*stop)(int signal))
{
    struct sigaction action;
    asked_to_stop = stop;
    memset(&action, 0, sizeof action);
    action.sa_handler = request_stop;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < N_STOP_SIGNALS; i++) {
        struct sigaction before;
        /* What nohup has set to be ignored stays so. No SA_RESTART: waiting for standard input must end too. */
        if (sigaction(stop_signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(stop_signals[i], &action, NULL);
    }
}

void look_for_stop(void) {}

int terminal_columns(FILE *out)
{
    struct winsize size;
    return isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

double processor_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
