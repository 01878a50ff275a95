/* Bytes of a file, of standard input or of memory, decompressed if they are gzip or zstd. */
#pragma once

#include "../../core/env.h"

#define COFI_BLOCK_BYTES ((size_t)1 << 20) /* bytes per read if the source gives no other size */

/* What to read: the file `name` ("-" is standard input), or `bytes` if that is not NULL. */
typedef struct cofi_source {
    const char *name;  /* the path, or a name for messages */
    const void *bytes; /* must stay valid until the input is closed */
    size_t n_bytes;
    size_t block_bytes; /* 0: COFI_BLOCK_BYTES; tests use small sizes to reach all boundaries */
    bool in_order;      /* never read at several places at once; for tests */
} cofi_source;

typedef struct cofi_input cofi_input;

cof_status cofi_input_open(const cof_env *env, const cofi_source *source, cofi_input **out, cof_error *err);
/* Reads up to n bytes, n > 0. Fewer than n do not mean the end; none do. */
cof_status cofi_input_read(cofi_input *in, void *buffer, size_t n, size_t *got, cof_error *err);
/* Size of a source that is not compressed and can be read at any place, by several threads at once; 0 for others. */
size_t cofi_input_size(const cofi_input *in);
/* Reads n bytes from byte `at` on; there must be as many. */
cof_status cofi_input_read_at(const cofi_input *in, size_t at, void *buffer, size_t n, cof_error *err);
void cofi_input_close(cofi_input *in); /* NULL is allowed */

const char *cofi_input_name(const cofi_input *in); /* for messages: one line, not too long */
/* bytes read from the source, before decompression */
uint64_t cofi_input_done(const cofi_input *in);
/* size of the source; 0 if unknown, for example of a pipe */
uint64_t cofi_input_total(const cofi_input *in);
