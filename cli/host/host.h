/* What the program needs of the operating system beyond the C library. Every system has one file here; CMakeLists.txt
 * chooses it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* From now on a closed pipe and a file that grew too large are failures of writing, which do not end the program: other
 * files must still be written. */
void survive_failed_writes(void);
/* From now on all threads allocate from one heap, if the C library would give each its own: what reading a table has released
 * is then used by the fit, instead of memory that is touched for the first time. */
void use_one_heap(void);
/* The arguments in UTF-8, with slashes between folders; `argc` is changed if need be. */
char **host_arguments(int *argc, char **argv);

bool reader_gone(void);     /* nobody reads standard output any more, as after `| head` */
void end_like_others(void); /* ends as a program does that writes to a closed pipe */

/* From now on the first Ctrl-C or request to end calls `stop` with the signal's number, the second one kills. */
void call_on_stop(void (*stop)(int signal));
void look_for_stop(
    void); /* called often; on a system without signals it finds a request to end by other means */

int terminal_columns(FILE *out); /* 0: not known */
double processor_now_s(void);    /* of all threads together */
