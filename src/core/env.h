/* What every room uses: memory lent by the caller, error sentences, option structs, the clock. */
#ifndef COFI_ENV_H
#define COFI_ENV_H

#include "coforest_extra.h"

#include <stdbool.h>
#include <string.h>

/* The caller's env with every gap filled; the copy is what handles keep. */
cof_env cofi_env_resolve(const cof_env *env);

/* n * size bytes, never a NULL for zero of them; NULL when there is no memory or the product overflows. */
void *cofi_alloc(const cof_env *env, size_t n, size_t size);
void *cofi_alloc_zero(const cof_env *env, size_t n, size_t size);
/* The same for column `number` of many that are walked side by side; `block` is what to release. Large blocks all
 * begin at the same place of a memory page, so that the same row of every column would want the same few lines of
 * the cache: each column begins some lines further in. */
void *cofi_alloc_column(const cof_env *env, size_t number, size_t n, size_t size, void **block);
/* A larger copy of a block of old_n elements; on failure NULL, and the old block stays as it was. */
void *cofi_regrow(const cof_env *env, void *old, size_t old_n, size_t new_n, size_t size);
void cofi_release(const cof_env *env, void *block);                         /* NULL is fine */
char *cofi_copy_text(const cof_env *env, const char *text, size_t n_bytes); /* NUL-terminated copy */

/* Blocks that are released together: `short_of_memory` says whether one of them could not be had, so that many
 * are asked for before one check. Begins as {.env = *env}. */
typedef struct cofi_blocks {
    cof_env env;
    struct cofi_block *last;
    bool short_of_memory;
} cofi_blocks;
void *cofi_blocks_add(cofi_blocks *blocks, size_t n, size_t size);      /* as cofi_alloc */
void *cofi_blocks_add_zero(cofi_blocks *blocks, size_t n, size_t size); /* as cofi_alloc_zero */
void cofi_blocks_release(cofi_blocks *blocks);                          /* fine twice, and when all is zero */

bool cofi_should_stop(const cof_env *env);
double cofi_now_s(void); /* a clock that only goes forward */

/* Writes the sentence and hands the status back, so that failing is one line. err may be NULL. */
cof_status cofi_fail(cof_error *err, cof_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
cof_status cofi_no_memory(cof_error *err);

/* Copies the part of an option struct the caller knows about; the rest is zero, the default. */
#define COFI_COPY_OPTIONS(to, from)                                                                          \
    do {                                                                                                     \
        memset((to), 0, sizeof *(to));                                                                       \
        if ((from) != NULL) cofi_copy_options((to), sizeof *(to), (from), (from)->struct_size);              \
    } while (0)
void cofi_copy_options(void *to, size_t to_size, const void *from, size_t from_size);
/* Hands a result struct back: as many bytes as the caller's struct_size asks for. */
void cofi_return_struct(void *to, const void *from, size_t from_size);
/* Whether a caller set struct_size: it is at least what the first version had, and no stray number. */
bool cofi_is_struct_size(size_t struct_size, size_t first_version);

#endif
