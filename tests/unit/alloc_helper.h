/* An allocator that fails at the n-th call, for proving that every failure is survived without a leak.
 *
 *     for (size_t n = 0;; n++) {
 *         alloc_meter meter = {.fail_at = n};
 *         cof_env env = alloc_env(&meter);
 *         cof_status status = work(&env);
 *         assert_int_equal(meter.live, 0);
 *         if (status == COF_OK) break;
 *         assert_int_equal(status, COF_ERR_MEMORY);
 *     } */
#ifndef ALLOC_HELPER_H
#define ALLOC_HELPER_H

#include "coforest_extra.h"

#include <stdlib.h>

#define ALLOC_NEVER_FAILS SIZE_MAX

typedef struct alloc_meter {
    size_t fail_at; /* this call and all later ones fail; calls count from 0 */
    size_t count;   /* calls so far */
    size_t live;    /* blocks not yet released */
} alloc_meter;

static inline void *alloc_or_fail(void *ctx, size_t bytes)
{
    alloc_meter *meter = ctx;
    if (meter->count++ >= meter->fail_at) return NULL;
    void *block = malloc(bytes);
    if (block != NULL) meter->live++;
    return block;
}

static inline void alloc_release(void *ctx, void *block)
{
    ((alloc_meter *)ctx)->live--;
    free(block);
}

static inline cof_env alloc_env(alloc_meter *meter)
{
    return (cof_env){
        .struct_size = sizeof(cof_env), .alloc = alloc_or_fail, .release = alloc_release, .ctx = meter};
}

#endif
