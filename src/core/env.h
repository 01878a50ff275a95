/* Used by all folders: the caller's memory functions, error messages, option structs, the clock. */
#pragma once

#include "real.h"

#include "coforest_extra.h"

#include <stdbool.h>
#include <string.h>

/* The caller's env with defaults filled in; handles keep this copy. */
cof_env cofi_env_resolve(const cof_env *env);

/* n * size bytes; never NULL for zero bytes; NULL if memory is short or the product overflows. */
void *cofi_alloc(const cof_env *env, size_t n, size_t size);
void *cofi_alloc_zero(const cof_env *env, size_t n, size_t size);
/* The same for column `number` of many columns that are read in parallel; `block` is the pointer to
 * release. Large blocks all start at the same offset in a memory page, so the same row of every column
 * would fall into the same few cache sets; each column therefore starts some cache lines later than the
 * one before. */
void *cofi_alloc_column(const cof_env *env, size_t number, size_t n, size_t size, void **block);
/* Returns a larger copy of a block of old_n elements and releases the old block; on failure returns NULL
 * and keeps the old block. */
void *cofi_regrow(const cof_env *env, void *old, size_t old_n, size_t new_n, size_t size);
/* A block of at least n elements, whose contents are lost if it grows; *block is NULL and *room 0 on failure. `block` is
 * the address of any pointer. */
bool cofi_make_room(const cof_env *env, void *block, size_t *room, size_t n, size_t size);
void cofi_release(const cof_env *env, void *block); /* NULL is allowed */
void cofi_release_all(const cof_env *env, void *const *block, size_t n);
#define COFI_RELEASE_ALL(env, ...)                                                                           \
    cofi_release_all(env, (void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
char *cofi_copy_text(const cof_env *env, const char *text, size_t n_bytes); /* NUL-terminated copy */

/* Blocks that are released together. `short_of_memory` is set if an allocation failed, so that one check after several
 * allocations is enough. Initialise it with {.env = *env}. */
typedef struct cofi_blocks {
    cof_env env;
    struct cofi_block *last;
    bool short_of_memory;
} cofi_blocks;
void *cofi_blocks_add(cofi_blocks *blocks, size_t n, size_t size);      /* as cofi_alloc */
void *cofi_blocks_add_zero(cofi_blocks *blocks, size_t n, size_t size); /* as cofi_alloc_zero */
void *cofi_blocks_add_line(cofi_blocks *blocks, size_t n,
                           size_t size); /* as cofi_alloc_zero, beginning a cache line */
void *cofi_blocks_copy(cofi_blocks *blocks, const void *from, size_t n,
                       size_t size);                                      /* a copy of n elements */
cof_status cofi_blocks_status(const cofi_blocks *blocks, cof_error *err); /* COF_ERR_MEMORY: one is missing */
void cofi_blocks_release(cofi_blocks *blocks); /* allowed twice, and if all members are zero */

bool cofi_should_stop(const cof_env *env);
double cofi_now_s(void); /* seconds of a monotonic clock */

/* Writes the message and returns the status, so that a failure is one line of code. err may be NULL. */
cof_status cofi_fail(cof_error *err, cof_status status, const char *format, ...)
    __attribute__((format(__printf__, 3, 4)));
cof_status cofi_no_memory(cof_error *err);
/* Leaves the calling function with the status of the call if that is a failure; for functions that have nothing
 * to release. */
#define COFI_TRY(call)                                                                                       \
    do {                                                                                                     \
        cof_status status_ = (call);                                                                         \
        if (status_ != COF_OK) return status_;                                                               \
    } while (0)

/* Copies the part of an option struct that the caller's version has; the rest becomes zero, the default. */
#define COFI_COPY_OPTIONS(to, from)                                                                          \
    do {                                                                                                     \
        memset((to), 0, sizeof *(to));                                                                       \
        if ((from) != NULL) cofi_copy_options((to), sizeof *(to), (from), (from)->struct_size);              \
    } while (0)
void cofi_copy_options(void *to, size_t to_size, const void *from, size_t from_size);
/* Copies a result struct to the caller: at most as many bytes as the caller's struct_size. */
void cofi_return_struct(void *to, const void *from, size_t from_size);
/* Whether struct_size is plausible: at least the size of the first version, and not a random number. */
bool cofi_is_struct_size(size_t struct_size, size_t first_version);
