/* A team of threads that share numbered tasks. Results must not depend on which thread does which task. */
#pragma once

#include "env.h"

#include "coforest_extra.h"

#include <stdatomic.h>

typedef struct cofi_team cofi_team;

/* `worker` is below cofi_team_size and selects scratch memory of one worker. A task must not fail. */
typedef void (*cofi_task)(void *ctx, uint32_t worker, size_t task);

/* The least of `most` and the quotas of the control groups that the file `groups` lists, below `root`. */
long cofi_limit_cores(const char *groups, const char *root, long most);
uint64_t cofi_limit_memory(const char *groups, const char *root, uint64_t most); /* the same for bytes */

/* 0 threads: cof_n_cores of them. A team of one starts no thread. */
cof_status cofi_team_open(const cof_env *env, uint32_t threads, cofi_team **out, cof_error *err);
uint32_t cofi_team_size(const cofi_team *team);
/* Runs tasks 0..n-1 and returns when all are done. The caller is one of the workers. */
void cofi_team_run(cofi_team *team, cofi_task task, void *ctx, size_t n);
/* The same for many short tasks on adjacent memory: every worker begins with consecutive tasks of its own, in each round of n
 * tasks the same, so that what it left in its core's cache is used again. A worker that has done its own takes tasks of
 * others. More than 2^32 - 1 tasks are shared as in cofi_team_run. */
void cofi_team_run_parts(cofi_team *team, cofi_task task, void *ctx, size_t n);
/* From now on, the team shares its cores with others like it: of *n_busy teams each uses its part of them. The number may
 * change at any time, and 0 counts as 1. */
void cofi_team_share(cofi_team *team, const atomic_uint *n_busy);
void cofi_team_close(cofi_team *team); /* NULL is allowed */
