/* A few threads that share out numbered tasks. Results must not depend on who does which task. */
#ifndef COFI_TEAM_H
#define COFI_TEAM_H

#include "env.h"

typedef struct cofi_team cofi_team;

/* `worker` is below cofi_team_size: use it to reach scratch memory of one's own. Must not fail. */
typedef void (*cofi_task)(void *ctx, uint32_t worker, size_t task);

/* 0 threads: as many as there are cores. A team of one starts no thread. */
cof_status cofi_team_open(const cof_env *env, uint32_t threads, cofi_team **out, cof_error *err);
uint32_t cofi_team_size(const cofi_team *team);
/* Runs tasks 0..n-1 and returns when all are done. The caller works too. */
void cofi_team_run(cofi_team *team, cofi_task task, void *ctx, size_t n);
void cofi_team_close(cofi_team *team); /* NULL is fine */

#endif
