/* WebAssembly in a browser or a WASI host: no signals, no terminal. */
#include "host.h"

#include <time.h>

void survive_failed_writes(void) {}

bool reader_gone(void)
{
    return false;
}

void end_like_others(void) {}

void call_on_stop(void (*stop)(int signal))
{
    (void)stop;
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
