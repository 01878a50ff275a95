/* Memory, clock, stop requests and error messages, through the functions that the caller provides. */
#include "env.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void *default_alloc(void *ctx, size_t bytes)
{
    return malloc(bytes);
}

static void default_release(void *ctx, void *block)
{
    free(block);
}

cof_env cofi_env_resolve(const cof_env *env)
{
    cof_env own;
    COFI_COPY_OPTIONS(&own, env);
    own.struct_size = sizeof own;
    /* An allocator and a release function of different origin do not fit together. */
    if (own.alloc == NULL || own.release == NULL) {
        own.alloc = default_alloc;
        own.release = default_release;
    }
    return own;
}

void *cofi_alloc(const cof_env *env, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX) return NULL;
    return env->alloc(env->ctx, bytes > 0 ? bytes : 1);
}

void *cofi_alloc_zero(const cof_env *env, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX) return NULL;
    /* calloc gets zeroed pages from the system at no cost; only memory of the caller's allocator must be
     * cleared here. */
    if (env->alloc == default_alloc) return calloc(bytes > 0 ? bytes : 1, 1);
    void *block = cofi_alloc(env, n, size);
    if (block != NULL) memset(block, 0, bytes);
    return block;
}

void *cofi_alloc_column(const cof_env *env, size_t number, size_t n, size_t size, void **block)
{
    enum { PAGE = 4096, STEP = 256, LARGE = 65536 };
    size_t lead = n >= LARGE / size ? number * STEP % PAGE : 0;
    *block = n > SIZE_MAX / size - PAGE ? NULL : cofi_alloc(env, n * size + lead, 1);
    return *block != NULL ? (char *)*block + lead : NULL;
}

void *cofi_regrow(const cof_env *env, void *old, size_t old_n, size_t new_n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(new_n, size, &bytes) || bytes > PTRDIFF_MAX) return NULL;
    if (env->alloc == default_alloc) return realloc(old, bytes > 0 ? bytes : 1);
    void *block = cofi_alloc(env, new_n, size);
    if (block == NULL) return NULL;
    if (old != NULL) memcpy(block, old, (old_n < new_n ? old_n : new_n) * size);
    cofi_release(env, old);
    return block;
}

bool cofi_make_room(const cof_env *env, void *block, size_t *room, size_t n, size_t size)
{
    void *old;
    if (n <= *room) return true;
    memcpy(&old, block, sizeof old);
    cofi_release(env, old);
    void *grown = cofi_alloc(env, n, size);
    memcpy(block, &grown, sizeof grown);
    *room = grown != NULL ? n : 0;
    return grown != NULL;
}

void cofi_release(const cof_env *env, void *block)
{
    if (block != NULL) env->release(env->ctx, block);
}

void cofi_release_all(const cof_env *env, void *const *block, size_t n)
{
    for (size_t b = 0; b < n; b++) cofi_release(env, block[b]);
}

char *cofi_copy_text(const cof_env *env, const char *text, size_t n_bytes)
{
    char *copy = cofi_alloc(env, n_bytes + 1, 1);
    if (copy == NULL) return NULL;
    if (n_bytes > 0) memcpy(copy, text, n_bytes);
    copy[n_bytes] = '\0';
    return copy;
}

/* The header of a block; its size keeps the block aligned for any type. */
struct cofi_block {
    _Alignas(max_align_t) struct cofi_block *before;
};

static void *add_block(cofi_blocks *blocks, size_t n, size_t size,
                       void *(*alloc)(const cof_env *env, size_t n, size_t size))
{
    size_t bytes;
    bool too_many = __builtin_mul_overflow(n, size, &bytes) ||
                    __builtin_add_overflow(bytes, sizeof(struct cofi_block), &bytes);
    struct cofi_block *block = too_many ? NULL : alloc(&blocks->env, bytes, 1);
    if (block == NULL) {
        blocks->short_of_memory = true;
        return NULL;
    }
    block->before = blocks->last;
    blocks->last = block;
    return block + 1;
}

void *cofi_blocks_add(cofi_blocks *blocks, size_t n, size_t size)
{
    return add_block(blocks, n, size, cofi_alloc);
}

void *cofi_blocks_add_zero(cofi_blocks *blocks, size_t n, size_t size)
{
    return add_block(blocks, n, size, cofi_alloc_zero);
}

void *cofi_blocks_add_line(cofi_blocks *blocks, size_t n, size_t size)
{
    enum { LINE = 64 };
    size_t bytes;
    bool too_many =
        __builtin_mul_overflow(n, size, &bytes) || __builtin_add_overflow(bytes, LINE - 1, &bytes);
    char *block = add_block(blocks, too_many ? SIZE_MAX : bytes, 1, cofi_alloc_zero);
    return block != NULL ? block + (LINE - (uintptr_t)block % LINE) % LINE : NULL;
}

void *cofi_blocks_copy(cofi_blocks *blocks, const void *from, size_t n, size_t size)
{
    void *copy = cofi_blocks_add(blocks, n, size);
    if (copy != NULL && n > 0) memcpy(copy, from, n * size);
    return copy;
}

cof_status cofi_blocks_status(const cofi_blocks *blocks, cof_error *err)
{
    return blocks->short_of_memory ? cofi_no_memory(err) : COF_OK;
}

void cofi_blocks_release(cofi_blocks *blocks)
{
    blocks->short_of_memory = false;
    while (blocks->last != NULL) {
        struct cofi_block *block = blocks->last;
        blocks->last = block->before;
        cofi_release(&blocks->env, block);
    }
}

bool cofi_should_stop(const cof_env *env)
{
    return env->should_stop != NULL && env->should_stop(env->ctx) != 0;
}

double cofi_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

cof_status cofi_fail(cof_error *err, cof_status status, const char *format, ...)
{
    if (err == NULL) return status;
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (wanted >= (int)sizeof err->text) { /* the message is cut, but not inside a UTF-8 character */
        size_t end = sizeof err->text - 1;
        while (end > 0 && ((unsigned char)err->text[end - 1] & 0xC0) == 0x80) end--;
        if (end > 0 && (unsigned char)err->text[end - 1] >= 0xC0) err->text[end - 1] = '\0';
    }
    return status;
}

cof_status cofi_no_memory(cof_error *err)
{
    return cofi_fail(err, COF_ERR_MEMORY,
                     "out of memory; free some memory, or use fewer rows, values or clusters");
}

void cofi_copy_options(void *to, size_t to_size, const void *from, size_t from_size)
{
    memcpy(to, from, from_size < to_size ? from_size : to_size);
}

bool cofi_is_struct_size(size_t struct_size, size_t first_version)
{
    enum { MOST_BYTES = 4096 }; /* upper limit for any struct of this library */
    return struct_size >= first_version && struct_size <= MOST_BYTES;
}

void cofi_return_struct(void *to, const void *from, size_t from_size)
{
    size_t to_size;
    memcpy(&to_size, to, sizeof to_size); /* struct_size comes first in every such struct */
    memcpy(to, from, to_size < from_size ? to_size : from_size);
    memcpy(to, &to_size, sizeof to_size);
}
