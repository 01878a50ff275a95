/* Bytes of a file, of standard input or of memory, decompressed on the way if they are gzip or zstd. */
#ifndef COFI_INPUT_H
#define COFI_INPUT_H

#include "../core/env.h"

#define COFI_BLOCK_BYTES ((size_t)1 << 20) /* read at a time where the source names no other size */

/* What to read. With `bytes` NULL it is the file called `name`, "-" being standard input. */
typedef struct cofi_source {
    const char *name;  /* the path, or what stands for one in complaints */
    const void *bytes; /* lent until the input is closed */
    size_t n_bytes;
    size_t block_bytes; /* 0 -> COFI_BLOCK_BYTES; tests take tiny ones to meet every boundary */
} cofi_source;

typedef struct cofi_input cofi_input;

cof_status cofi_input_open(const cof_env *env, const cofi_source *source, cofi_input **out, cof_error *err);
/* Up to n bytes, n > 0; fewer do not mean the end, none do. */
cof_status cofi_input_read(cofi_input *in, void *buffer, size_t n, size_t *got, cof_error *err);
void cofi_input_close(cofi_input *in); /* NULL is fine */

const char *cofi_input_name(const cofi_input *in); /* fit for a sentence: one line, not too long */
uint64_t cofi_input_done(const cofi_input *in);    /* bytes taken from the source, as they lie there */
uint64_t cofi_input_total(const cofi_input *in);   /* bytes it has; 0 if nobody knows, as with a pipe */

#endif
