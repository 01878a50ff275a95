/* Imports Arrow data made from hostile bytes.
 *
 * The interface has no buffer sizes, so a consumer must trust a producer that far and no further: every
 * buffer here is as long as the claimed offset and length require, on the heap so that one byte more is
 * caught, and text offsets stay inside their buffer. Everything else (order and sign of offsets, indices,
 * views, bits, bytes, names, formats, counts) is whatever the input says. */
#include "coforest_extra.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_COLUMNS = 4, MOST_ROWS = 40, MOST_OFFSET = 12, MOST_BUFFERS = 6 };

typedef struct input {
    const uint8_t *at, *end;
} input;

static uint8_t next(input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static int64_t below(input *in, int64_t bound)
{
    return next(in) % bound;
}

static void *bytes(input *in, size_t n)
{
    uint8_t *block = malloc(n > 0 ? n : 1);
    for (size_t i = 0; i < n; i++) block[i] = next(in);
    return block;
}

static char *name(input *in)
{
    size_t n = (size_t)below(in, 12);
    char *text = bytes(in, n + 1);
    text[n] = '\0';
    return text;
}

static char *format(input *in)
{
    static const char *const known[] = {"n", "b", "c", "C", "s", "S",  "i",  "I", "l", "L", "u", "U",
                                        "z", "Z", "u", "U", "u", "vu", "vz", "g", "",  "u", "i", "+s"};
    uint8_t which = next(in);
    if (which == 255) return name(in);
    return strdup(known[which % (sizeof known / sizeof *known)]);
}

/* ---- Schema ----------------------------------------------------------------------------------------- */

static void free_schema(struct ArrowSchema *schema)
{
    for (int64_t c = 0; c < MOST_COLUMNS && schema->private_data != NULL; c++) {
        struct ArrowSchema *child = ((struct ArrowSchema **)schema->private_data)[c];
        if (child != NULL) free_schema(child);
        free(child);
    }
    if (schema->dictionary != NULL) free_schema(schema->dictionary);
    free(schema->dictionary);
    free(schema->private_data);
    free((void *)schema->format);
    free((void *)schema->name);
    schema->release = NULL;
}

static void make_leaf_schema(input *in, struct ArrowSchema *schema, int depth)
{
    memset(schema, 0, sizeof *schema);
    schema->release = free_schema;
    schema->format = format(in);
    uint8_t choice = next(in);
    if (choice & 1) schema->name = name(in);
    if (choice & 2) schema->flags = ARROW_FLAG_DICTIONARY_ORDERED;
    if (choice & 4 && depth < 2) {
        schema->dictionary = malloc(sizeof *schema);
        make_leaf_schema(in, schema->dictionary, depth + 1);
        if (depth == 0) {
            free((void *)schema->format);
            schema->format = strndup(&"cCsSiIlLu"[below(in, 9)], 1);
        }
    }
}

static void make_schema(input *in, struct ArrowSchema *schema)
{
    memset(schema, 0, sizeof *schema);
    schema->release = free_schema;
    schema->format = strdup(next(in) == 255 ? "u" : "+s");
    schema->n_children = 1 + below(in, MOST_COLUMNS);
    schema->children = calloc(MOST_COLUMNS, sizeof *schema->children);
    schema->private_data = schema->children;
    for (int64_t c = 0; c < schema->n_children; c++) {
        schema->children[c] = malloc(sizeof *schema);
        make_leaf_schema(in, schema->children[c], 0);
    }
}

/* ---- Arrays ----------------------------------------------------------------------------------------- */

/* What must be freed, kept apart from the claims that the input may spoil. */
typedef struct owned {
    void *buffers[MOST_BUFFERS];
    struct ArrowArray *children[MOST_COLUMNS];
    struct ArrowArray *dictionary;
    void **list;
    struct ArrowArray **child_list;
} owned;

static void free_array(struct ArrowArray *array)
{
    owned *mine = array->private_data;
    for (int b = 0; b < MOST_BUFFERS; b++) free(mine->buffers[b]);
    for (int c = 0; c < MOST_COLUMNS; c++) {
        if (mine->children[c] != NULL) free_array(mine->children[c]);
        free(mine->children[c]);
    }
    if (mine->dictionary != NULL) free_array(mine->dictionary);
    free(mine->dictionary);
    free(mine->list);
    free(mine->child_list);
    free(mine);
    array->release = NULL;
}

/* n + 1 offsets inside a text of n_text bytes, or a little below zero; in order unless the input objects. */
static void *offsets(input *in, int64_t n, int width, int64_t n_text)
{
    uint8_t *block = malloc((size_t)((n + 1) * width));
    uint8_t wild = next(in);
    int64_t offset = 0;
    for (int64_t i = 0; i <= n; i++) {
        int64_t step = below(in, 5);
        offset = offset + step < n_text ? offset + step : n_text;
        int64_t written = offset;
        if (wild == 255 && step == 4) written = below(in, n_text + 4) - 3;
        int32_t narrow = (int32_t)written;
        if (width == 4)
            memcpy(block + i * 4, &narrow, 4);
        else
            memcpy(block + i * 8, &written, 8);
    }
    return block;
}

static void *views(input *in, int64_t n, int64_t n_texts)
{
    uint8_t *block = bytes(in, (size_t)n * 16);
    uint8_t wild = next(in);
    for (int64_t i = 0; i < n && wild < 250; i++) {
        int32_t length = (int32_t)below(in, 20), buffer = (int32_t)below(in, n_texts + 1);
        int32_t offset = (int32_t)below(in, 30);
        memcpy(block + i * 16, &length, 4);
        if (length <= 12) continue;
        memcpy(block + i * 16 + 8, &buffer, 4);
        memcpy(block + i * 16 + 12, &offset, 4);
    }
    return block;
}

static int64_t make_views(input *in, int64_t n, owned *mine)
{
    int64_t n_texts = below(in, 3), sizes[2] = {0, 0};
    mine->buffers[1] = views(in, n, n_texts);
    for (int64_t b = 0; b < n_texts; b++) {
        sizes[b] = below(in, 40);
        mine->buffers[2 + b] = bytes(in, (size_t)sizes[b]);
    }
    mine->buffers[2 + n_texts] = malloc((size_t)n_texts * 8 + 1);
    memcpy(mine->buffers[2 + n_texts], sizes, (size_t)n_texts * 8);
    return 3 + n_texts;
}

/* The buffers after the validity bits, as the format asks; returns how many buffers there are. */
static int64_t make_buffers(input *in, char type, int64_t n, owned *mine)
{
    int64_t n_text = below(in, 64);
    switch (type) {
    case 'n':
        return 0;
    case 'b':
        mine->buffers[1] = bytes(in, (size_t)(n + 7) / 8);
        return 2;
    case 'u':
    case 'z':
    case 'U':
    case 'Z':
        mine->buffers[1] = offsets(in, n, type == 'u' || type == 'z' ? 4 : 8, n_text);
        mine->buffers[2] = bytes(in, (size_t)n_text);
        return 3;
    case 'v':
        return make_views(in, n, mine);
    default: {
        const char *place = strchr("cCsSiIlL", type);
        mine->buffers[1] = bytes(in, (size_t)n << (place != NULL ? (place - "cCsSiIlL") / 2 : 3));
        return 2;
    }
    }
}

/* Claims no consumer may believe. Counts of things that are there only ever shrink. */
static void spoil(input *in, struct ArrowArray *array)
{
    static const int64_t wrong[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 16, -2, 0};
    uint8_t which = next(in);
    int64_t value = wrong[below(in, 6)];
    if (which == 1 && (value <= 0 || value > INT32_MAX)) array->length = value;
    if (which == 2 && value != 0) array->offset = value;
    if (which == 3) array->null_count = value;
    if (which == 4 && value < array->n_buffers) array->n_buffers = value;
    if (which == 5 && value < array->n_children) array->n_children = value;
    if (which == 6) array->n_children = 1;
    if (which == 7) array->buffers = NULL;
}

static void make_array(input *in, const struct ArrowSchema *schema, int64_t length, struct ArrowArray *array)
{
    owned *mine = calloc(1, sizeof *mine);
    memset(array, 0, sizeof *array);
    array->private_data = mine;
    array->release = free_array;
    array->length = length;
    array->offset = below(in, MOST_OFFSET);
    int64_t n = array->offset + length;
    uint8_t choice = next(in);
    if (choice & 1) mine->buffers[0] = bytes(in, (size_t)(n + 7) / 8);
    array->null_count = choice & 1 ? -1 : 0;
    array->n_buffers = make_buffers(in, schema->format[0], n, mine);
    if (choice == 254) {
        free(mine->buffers[2]);
        mine->buffers[2] = NULL;
    }
    /* exactly as many pointers as claimed, so that reading one more is caught */
    mine->list = malloc((size_t)array->n_buffers * sizeof(void *) + 1);
    memcpy(mine->list, mine->buffers, (size_t)array->n_buffers * sizeof(void *));
    array->buffers = (const void **)mine->list;
    if (schema->dictionary != NULL) {
        mine->dictionary = malloc(sizeof *array);
        make_array(in, schema->dictionary, below(in, 12), mine->dictionary);
        array->dictionary = choice == 255 ? NULL : mine->dictionary;
    }
    if (choice >= 240) spoil(in, array);
}

static void make_batch(input *in, const struct ArrowSchema *schema, struct ArrowArray *batch)
{
    owned *mine = calloc(1, sizeof *mine);
    memset(batch, 0, sizeof *batch);
    batch->private_data = mine;
    batch->release = free_array;
    batch->length = below(in, MOST_ROWS);
    batch->offset = below(in, MOST_OFFSET);
    int64_t n = batch->offset + batch->length;
    uint8_t choice = next(in);
    if (choice & 1) mine->buffers[0] = bytes(in, (size_t)(n + 7) / 8);
    batch->null_count = choice & 1 ? -1 : 0;
    batch->n_buffers = 1;
    mine->list = malloc(sizeof(void *));
    mine->list[0] = mine->buffers[0];
    batch->buffers = (const void **)mine->list;
    batch->n_children = schema->n_children;
    mine->child_list = malloc((size_t)schema->n_children * sizeof *mine->child_list);
    batch->children = mine->child_list;
    for (int64_t c = 0; c < schema->n_children; c++) {
        mine->children[c] = malloc(sizeof *batch);
        make_array(in, schema->children[c], n - (choice == 253 && n > 0), mine->children[c]);
        batch->children[c] = choice == 252 ? NULL : mine->children[c];
    }
    if (choice >= 240) spoil(in, batch);
}

/* ---- Stream ----------------------------------------------------------------------------------------- */

typedef struct source {
    input *in;
    struct ArrowSchema schema; /* given away by get_schema; children stay valid until the stream ends */
    int n_batches;
} source;

static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static int give_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    source *from = stream->private_data;
    *out = from->schema;
    out->release = keep_schema;
    return next(from->in) == 255 ? 5 : 0;
}

static int give_batch(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    source *from = stream->private_data;
    out->release = NULL;
    if (from->n_batches-- == 0) return 0;
    if (next(from->in) == 255) return 5;
    make_batch(from->in, &from->schema, out);
    return 0;
}

static const char *give_reason(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "made to fail";
}

static void free_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

/* ---- Import ----------------------------------------------------------------------------------------- */

static void check_table(const cof_table *table)
{
    for (size_t c = 0; c < cof_table_n_columns(table); c++) {
        cof_column view = {.struct_size = sizeof view};
        assert(cof_table_column(table, c, &view) == COF_OK);
        for (size_t i = 0; i < cof_table_n_rows(table); i++) {
            uint32_t code = cof_table_code(table, i, c);
            if (code > view.n_values) abort();
            if (cof_table_value(table, c, code) == NULL) abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, data + size};
    cof_table *table = NULL;
    cof_error err = {""};
    cof_status status;
    source from = {.in = &in};
    make_schema(&in, &from.schema);
    from.n_batches = (int)below(&in, 4);
    if (from.n_batches == 0) {
        struct ArrowArray batch;
        make_batch(&in, &from.schema, &batch);
        status = cof_table_from_arrow(NULL, &from.schema, &batch, &table, &err);
        free_array(&batch);
    } else {
        struct ArrowArrayStream stream = {give_schema, give_batch, give_reason, free_stream, &from};
        status = cof_table_from_arrow_stream(NULL, &stream, &table, &err);
    }
    if ((status == COF_OK) != (table != NULL) || (status != COF_OK && err.text[0] == '\0')) abort();
    if (table != NULL) check_table(table);
    cof_table_free(table);
    free_schema(&from.schema);
    return 0;
}
