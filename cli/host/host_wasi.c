/* WebAssembly in a browser or a WASI host: no signals, no terminal. A file that the environment variable
 * COFOREST_STOP_FILE names asks to stop as soon as it exists. */
#include "host.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void (*asked_to_stop)(int);

void survive_failed_writes(void) {}
void use_one_heap(void) {}

char **host_arguments(int *argc, char **argv)
{
    (void)argc;
    return argv;
}

bool reader_gone(void)
{
    return false;
}

void end_like_others(void) {}

void call_on_stop(void (*stop)(int signal))
{
    asked_to_stop = stop;
}

void look_for_stop(void)
{
    static double next_s;
    const char *file = getenv("COFOREST_STOP_FILE");
    double now = processor_now_s();
    if (file == NULL || asked_to_stop == NULL || now < next_s) return;
    next_s = now + 0.1; /* the host takes long to answer */
    if (access(file, F_OK) == 0) asked_to_stop(SIGINT);
}

int terminal_columns(FILE *out)
{
    (void)out;
    return 0;
}

double processor_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now); /* hosts know no other time, and there is one thread */
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
