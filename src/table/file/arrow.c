/* Tables from the Arrow C data interface: turns a struct array, or a stream of them, into dictionaries and
 * ids. */
#include "arrow_leaf.h"
#include "../encode.h"
#include "../recognise.h"

#include "../../core/utf8.h"

#include <inttypes.h>
#include <stdio.h>

#define ID_NOT_ASKED (COFI_ID_MISSING - 1) /* a dictionary value that no row has used yet */

enum { SHOWN = 64 }; /* bytes of a name in an error message */

typedef struct import_column {
    const struct ArrowSchema *schema;
    cofi_encoder encoder;
    char *name;
    bool ordered; /* the values are in the producer's order so far */
} import_column;

typedef struct arrow_import {
    cof_env env;
    import_column *column;
    size_t n_columns;
    size_t n_rows;
    cof_error *err;
} arrow_import;

/* ---- Schema ---------------------------------------------------------------------------------------- */

static cof_status column_failure(arrow_import *in, const char *name, const char *problem)
{
    char shown[SHOWN];
    return cofi_fail(in->err, COF_ERR_DATA, "Arrow column \"%s\" %s",
                     cofi_utf8_show(shown, sizeof shown, name), problem);
}

static cof_status cell_failure(arrow_import *in, const import_column *column, const char *what, uint64_t i,
                               const char *problem)
{
    char shown[SHOWN];
    return cofi_fail(in->err, COF_ERR_DATA, "Arrow column \"%s\": %s %" PRIu64 " (from 0) %s",
                     cofi_utf8_show(shown, sizeof shown, column->name), what, i, problem);
}

static cof_status encoder_failure(arrow_import *in, const import_column *column, cof_status status)
{
    if (status == COF_ERR_MEMORY) return cofi_no_memory(in->err);
    return column_failure(in, column->name, "has too many distinct values for 32-bit ids; leave it out");
}

static cof_status check_type(arrow_import *in, const char *name, const struct ArrowSchema *schema)
{
    const struct ArrowSchema *values = schema->dictionary != NULL ? schema->dictionary : schema;
    if (values->format == NULL || schema->format == NULL) return column_failure(in, name, "has no format");
    cofi_leaf_type type = cofi_leaf_type_of(values->format), index = cofi_leaf_type_of(schema->format);
    if (schema->dictionary != NULL && index.kind != COFI_LEAF_SIGNED && index.kind != COFI_LEAF_UNSIGNED)
        return column_failure(in, name, "is a dictionary whose indices are not integers");
    if (values != schema && values->dictionary != NULL)
        return column_failure(in, name, "is a dictionary of dictionaries; cast it to string");
    if (type.kind != COFI_LEAF_OTHER) return COF_OK;
    char shown[SHOWN], format[SHOWN];
    return cofi_fail(in->err, COF_ERR_DATA,
                     "Arrow column \"%s\" holds %s (format \"%s\"), which are not categories; "
                     "cast it to string, or leave it out",
                     cofi_utf8_show(shown, sizeof shown, name), cofi_leaf_describe(values->format),
                     cofi_utf8_show(format, sizeof format, values->format));
}

/* Checks the schema of one column. `names` serves as a set: a repeated name gets no new id. */
static cof_status check_column(arrow_import *in, cofi_encoder *names, const char *name,
                               const struct ArrowSchema *schema)
{
    if (schema == NULL) return column_failure(in, name, "is NULL in the schema");
    if (schema->release == NULL) return column_failure(in, name, "has a schema that was already released");
    if (!cofi_utf8_valid(name, strlen(name)))
        return cofi_fail(in->err, COF_ERR_DATA, "the name of Arrow column %zu (from 1) is not valid UTF-8",
                         in->n_columns + 1);
    uint32_t id = 0;
    if (cofi_encoder_intern(names, name, strlen(name), &id) != COF_OK) return cofi_no_memory(in->err);
    if (id != in->n_columns) return column_failure(in, name, "occurs twice; give every column its own name");
    return check_type(in, name, schema);
}

static cof_status add_column(arrow_import *in, cofi_encoder *names, const struct ArrowSchema *schema)
{
    char made_up[32];
    const char *name = schema != NULL && schema->release != NULL ? schema->name : NULL;
    snprintf(made_up, sizeof made_up, "column%zu", in->n_columns + 1);
    if (name == NULL || name[0] == '\0') name = made_up;
    COFI_TRY(check_column(in, names, name, schema));
    import_column *column = &in->column[in->n_columns];
    column->name = cofi_copy_text(&in->env, name, strlen(name));
    if (column->name == NULL) return cofi_no_memory(in->err);
    column->schema = schema;
    column->ordered = schema->dictionary != NULL && (schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0;
    cofi_encoder_init(&column->encoder, &in->env);
    in->n_columns++;
    return COF_OK;
}

static cof_status check_schema(const struct ArrowSchema *schema, cof_error *err)
{
    if (schema == NULL || schema->release == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "the Arrow schema is NULL or was already released");
    if (schema->format == NULL || strcmp(schema->format, "+s") != 0 || schema->dictionary != NULL) {
        char shown[SHOWN];
        return cofi_fail(err, COF_ERR_DATA,
                         "the Arrow schema has format \"%s\" at the top, not a struct (\"+s\") of columns; "
                         "export a record batch or a table",
                         cofi_utf8_show(shown, sizeof shown, schema->format ? schema->format : "NULL"));
    }
    if (schema->n_children <= 0 || schema->children == NULL || schema->n_children > UINT32_MAX - 4)
        return cofi_fail(err, COF_ERR_DATA, "the Arrow struct has no columns, or an impossible number");
    return COF_OK;
}

static cof_status open_import(arrow_import *in, const cof_env *env, const struct ArrowSchema *schema,
                              cof_error *err)
{
    *in = (arrow_import){.env = *env, .err = err};
    cof_status status = check_schema(schema, err);
    if (status != COF_OK) return status;
    in->column = cofi_alloc_zero(env, (size_t)schema->n_children, sizeof *in->column);
    if (in->column == NULL) return cofi_no_memory(err);
    cofi_encoder names;
    cofi_encoder_init(&names, env);
    for (int64_t c = 0; c < schema->n_children && status == COF_OK; c++)
        status = add_column(in, &names, schema->children[c]);
    cofi_encoder_free(&names);
    return status;
}

static void close_import(arrow_import *in)
{
    for (size_t c = 0; c < in->n_columns; c++) {
        cofi_encoder_free(&in->column[c].encoder);
        cofi_release(&in->env, in->column[c].name);
    }
    cofi_release(&in->env, in->column);
}

/* ---- Cells ----------------------------------------------------------------------------------------- */

/* The rows of one batch for one column. */
typedef struct cells {
    cofi_leaf leaf;
    const uint8_t *row_validity; /* of the enclosing struct; NULL: no row is missing */
    int64_t first_row;           /* the bit of the first row */
} cells;

static bool is_missing(const cells *from, int64_t i)
{
    if (from->row_validity != NULL && !cofi_arrow_bit(from->row_validity, from->first_row + i)) return true;
    return cofi_leaf_is_missing(&from->leaf, i);
}

static cof_status put_texts(arrow_import *in, import_column *column, const cells *from)
{
    char scratch[COFI_LEAF_SCRATCH];
    for (int64_t i = 0; i < from->leaf.length; i++) {
        const char *text = "", *problem = NULL;
        size_t n_bytes = 0;
        bool missing = is_missing(from, i);
        if (!missing) problem = cofi_leaf_text(&from->leaf, i, scratch, &text, &n_bytes);
        if (problem != NULL) return cell_failure(in, column, "row", in->n_rows + (uint64_t)i, problem);
        cof_status status = missing ? cofi_encoder_put_missing(&column->encoder, "", 0)
                                    : cofi_encoder_put(&column->encoder, text, n_bytes);
        if (status != COF_OK) return encoder_failure(in, column, status);
    }
    return COF_OK;
}

/* Cache of numbers and their ids, indexed by remainder. Categories are few, so the id is nearly always
 * found here and the decimal text need not be made. */
typedef struct number_memo {
    uint64_t number;
    uint32_t id; /* COFI_ID_MISSING: none yet */
} number_memo;

static cof_status intern_number(cofi_encoder *encoder, cofi_leaf_type type, uint64_t number, uint32_t *id)
{
    char scratch[COFI_LEAF_SCRATCH];
    size_t n_bytes = cofi_leaf_write_number(type, number, scratch);
    return cofi_encoder_intern(encoder, scratch, n_bytes, id);
}

static cof_status put_numbers(arrow_import *in, import_column *column, const cells *from)
{
    enum { MEMO = 256 };
    number_memo memo[MEMO];
    for (int m = 0; m < MEMO; m++) memo[m].id = COFI_ID_MISSING;
    for (int64_t i = 0; i < from->leaf.length; i++) {
        cof_status status = COF_OK;
        uint32_t id = COFI_ID_MISSING;
        if (!is_missing(from, i)) {
            uint64_t number = cofi_leaf_number(&from->leaf, i);
            number_memo *known = &memo[(number * UINT64_C(0x9E3779B97F4A7C15)) >> 56];
            if (known->id == COFI_ID_MISSING || known->number != number) {
                known->number = number;
                status = intern_number(&column->encoder, from->leaf.type, number, &known->id);
            }
            id = known->id;
        }
        if (status == COF_OK) status = cofi_encoder_append(&column->encoder, id);
        if (status != COF_OK) return encoder_failure(in, column, status);
    }
    return COF_OK;
}

/* ---- Dictionaries ---------------------------------------------------------------------------------- */

typedef struct dictionary {
    cofi_leaf values;
    uint32_t *id_of; /* per value; ID_NOT_ASKED at first, COFI_ID_MISSING for a null */
} dictionary;

/* A value is interned when a row first uses it: values that no row uses are neither read nor kept. */
static cof_status dictionary_id(arrow_import *in, import_column *column, dictionary *d, uint64_t value,
                                uint32_t *id)
{
    if (d->id_of[value] == ID_NOT_ASKED) {
        char scratch[COFI_LEAF_SCRATCH];
        const char *text, *problem;
        size_t n_bytes;
        uint32_t found = COFI_ID_MISSING;
        if (!cofi_leaf_is_missing(&d->values, (int64_t)value)) {
            problem = cofi_leaf_text(&d->values, (int64_t)value, scratch, &text, &n_bytes);
            if (problem != NULL) return cell_failure(in, column, "dictionary value", value, problem);
            cof_status status = cofi_encoder_intern(&column->encoder, text, n_bytes, &found);
            if (status != COF_OK) return encoder_failure(in, column, status);
        }
        d->id_of[value] = found;
    }
    *id = d->id_of[value];
    return COF_OK;
}

/* Interns all values in the producer's order. A later batch may omit values or add some at the end; if it
 * changes the order of known values, the column loses its order. */
static cof_status follow_order(arrow_import *in, import_column *column, dictionary *d)
{
    uint32_t last = 0, id = 0;
    for (int64_t v = 0; v < d->values.length; v++) {
        COFI_TRY(dictionary_id(in, column, d, (uint64_t)v, &id));
        if (id == COFI_ID_MISSING) continue;
        if (id < last) column->ordered = false;
        last = id;
    }
    return COF_OK;
}

/* For indices of one byte without missing ones, as pandas stores few categories: uses a table of 256 cells
 * for many rows at a time. Returns the number of rows done; if rows remain, the next one must go through
 * put_indices. */
static cof_status put_bytes(arrow_import *in, import_column *column, const cells *from, dictionary *d,
                            int64_t *n_put)
{
    enum { ROWS = 4096 };
    const cofi_leaf *leaf = &from->leaf;
    int64_t most = leaf->type.kind == COFI_LEAF_SIGNED ? INT8_MAX + 1 : UINT8_MAX + 1;
    uint8_t cell[UINT8_MAX + 1], room[ROWS];
    bool known[UINT8_MAX + 1] = {false}, odd = false;
    *n_put = 0;
    if (from->row_validity != NULL || leaf->validity != NULL || leaf->type.width != 1) return COF_OK;
    if (leaf->type.kind != COFI_LEAF_SIGNED && leaf->type.kind != COFI_LEAF_UNSIGNED) return COF_OK;
    while (*n_put < leaf->length && !odd) {
        const uint8_t *index = leaf->values + leaf->first + *n_put;
        size_t n = 0;
        for (; n < ROWS && *n_put + (int64_t)n < leaf->length; n++) {
            uint8_t at = index[n];
            if (!known[at]) {
                uint32_t id = COFI_ID_MISSING;
                if (at >= most || at >= d->values.length) break;
                COFI_TRY(dictionary_id(in, column, d, at, &id));
                if (id != COFI_ID_MISSING && id >= UINT8_MAX) break; /* the cell needs more than a byte */
                cell[at] = id == COFI_ID_MISSING ? 0 : (uint8_t)(id + 1);
                known[at] = true;
            }
            room[n] = cell[at];
        }
        odd = n < ROWS;
        if (cofi_encoder_append_cells(&column->encoder, room, n) != COF_OK) return cofi_no_memory(in->err);
        *n_put += (int64_t)n;
    }
    return COF_OK;
}

static cof_status put_indices(arrow_import *in, import_column *column, const cells *from, dictionary *d)
{
    int64_t n_put;
    cof_status put = put_bytes(in, column, from, d, &n_put);
    if (put != COF_OK) return put;
    for (int64_t i = n_put; i < from->leaf.length; i++) {
        uint32_t id = COFI_ID_MISSING;
        if (!is_missing(from, i)) {
            uint64_t index = cofi_leaf_number(&from->leaf, i); /* a negative index becomes very large */
            if (index >= (uint64_t)d->values.length)
                return cell_failure(in, column, "row", in->n_rows + (uint64_t)i,
                                    "has an index outside its dictionary");
            COFI_TRY(dictionary_id(in, column, d, index, &id));
        }
        if (cofi_encoder_append(&column->encoder, id) != COF_OK) return cofi_no_memory(in->err);
    }
    return COF_OK;
}

static cof_status put_dictionary(arrow_import *in, import_column *column, const cells *from,
                                 const struct ArrowArray *values)
{
    dictionary d;
    const char *problem = cofi_arrow_array_problem(values);
    cofi_leaf_type type = cofi_leaf_type_of(column->schema->dictionary->format);
    if (problem == NULL) problem = cofi_leaf_open(&d.values, type, values, 0, values->length);
    if (problem != NULL) {
        char sentence[128];
        snprintf(sentence, sizeof sentence, "has a dictionary that %s", problem);
        return column_failure(in, column->name, sentence);
    }
    d.id_of = cofi_alloc(&in->env, (size_t)d.values.length, sizeof *d.id_of);
    if (d.id_of == NULL) return cofi_no_memory(in->err);
    for (int64_t v = 0; v < d.values.length; v++) d.id_of[v] = ID_NOT_ASKED;
    cof_status status = column->ordered ? follow_order(in, column, &d) : COF_OK;
    if (status == COF_OK) status = put_indices(in, column, from, &d);
    cofi_release(&in->env, d.id_of);
    return status;
}

/* ---- Batches --------------------------------------------------------------------------------------- */

static cof_status put_column(arrow_import *in, import_column *column, const struct ArrowArray *batch,
                             const struct ArrowArray *array)
{
    cells from = {.first_row = batch->offset};
    const char *problem = cofi_arrow_array_problem(array);
    cofi_leaf_type type = cofi_leaf_type_of(column->schema->format);
    if (problem == NULL && (array->dictionary != NULL) != (column->schema->dictionary != NULL))
        problem = "has a dictionary in its schema or in its data but not in both";
    /* The offset of the struct also applies to its children. */
    if (problem == NULL) problem = cofi_leaf_open(&from.leaf, type, array, batch->offset, batch->length);
    if (problem != NULL) return column_failure(in, column->name, problem);
    if (batch->null_count != 0) from.row_validity = batch->buffers[0];
    if (array->dictionary != NULL) return put_dictionary(in, column, &from, array->dictionary);
    if (type.kind == COFI_LEAF_TEXT || type.kind == COFI_LEAF_VIEW || type.kind == COFI_LEAF_NULLS)
        return put_texts(in, column, &from);
    return put_numbers(in, column, &from);
}

static const char *batch_problem(const arrow_import *in, const struct ArrowArray *batch)
{
    const char *problem = cofi_arrow_array_problem(batch);
    if (problem != NULL) return problem;
    if (batch->n_buffers != 1) return "has the wrong number of buffers for a struct";
    if (batch->null_count > 0 && batch->buffers[0] == NULL) return "has nulls but does not say where";
    if (batch->dictionary != NULL) return "is a dictionary, not a struct of columns";
    if ((uint64_t)batch->n_children != in->n_columns) return "has another number of columns than its schema";
    return NULL;
}

static cof_status put_batch(arrow_import *in, const struct ArrowArray *batch)
{
    if (cofi_should_stop(&in->env))
        return cofi_fail(in->err, COF_ERR_STOPPED, "stopped on request after %zu rows", in->n_rows);
    const char *problem = batch_problem(in, batch);
    if (problem != NULL) return cofi_fail(in->err, COF_ERR_DATA, "the Arrow array %s", problem);
    if ((uint64_t)batch->length > COFI_MOST_ROWS - in->n_rows) return cofi_too_many_rows(in->err);
    for (size_t c = 0; c < in->n_columns; c++)
        COFI_TRY(put_column(in, &in->column[c], batch, batch->children[c]));
    in->n_rows += (size_t)batch->length;
    return COF_OK;
}

static cof_status finish_column(import_column *from, cofi_column *to)
{
    cofi_order order = from->ordered ? COFI_ORDER_AS_INTERNED : COFI_ORDER_SORTED;
    cof_env env = from->encoder.env;
    COFI_TRY(cofi_encoder_finish(&from->encoder, order, to));
    COFI_TRY(cofi_column_recognise(&env, to));
    to->name = from->name;
    from->name = NULL;
    to->ordinal = from->ordered;
    return COF_OK;
}

static cof_status finish_import(arrow_import *in, cof_table **out)
{
    if (in->n_rows == 0)
        return cofi_fail(in->err, COF_ERR_DATA, "the Arrow data have no rows; a table needs at least one");
    cof_table *table;
    COFI_TRY(cofi_table_new(&in->env, in->n_columns, &table, in->err));
    table->n_rows = in->n_rows;
    for (size_t c = 0; c < in->n_columns; c++) {
        if (finish_column(&in->column[c], &table->column[c]) != COF_OK) {
            cof_table_free(table);
            return cofi_no_memory(in->err);
        }
    }
    *out = table;
    return COF_OK;
}

cof_status cof_table_from_arrow(const cof_env *lent, const struct ArrowSchema *schema,
                                const struct ArrowArray *array, cof_table **out, cof_error *err)
{
    if (out == NULL || array == NULL || array->release == NULL)
        return cofi_fail(
            err, COF_ERR_ARGUMENT,
            "the Arrow array is NULL or was already released, or there is no place for the table");
    cof_env env = cofi_env_resolve(lent);
    arrow_import in;
    cof_status status = open_import(&in, &env, schema, err);
    if (status == COF_OK) status = put_batch(&in, array);
    if (status == COF_OK) status = finish_import(&in, out);
    close_import(&in);
    return status;
}

/* ---- Streams --------------------------------------------------------------------------------------- */

static cof_status stream_failure(struct ArrowArrayStream *stream, int code, const char *doing, cof_error *err)
{
    char shown[320];
    const char *reason = stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;
    if (reason == NULL || reason[0] == '\0') reason = "it gives no reason";
    return cofi_fail(err, COF_ERR_IO, "the Arrow stream failed with error %d while giving its %s: %s", code,
                     doing, cofi_utf8_show(shown, sizeof shown, reason));
}

static cof_status put_stream(arrow_import *in, struct ArrowArrayStream *stream)
{
    for (;;) {
        struct ArrowArray batch = {0};
        int code = stream->get_next(stream, &batch);
        if (code != 0) return stream_failure(stream, code, "next batch", in->err);
        if (batch.release == NULL) return COF_OK; /* the end of the stream */
        cof_status status = put_batch(in, &batch);
        batch.release(&batch);
        if (status != COF_OK) return status;
    }
}

cof_status cof_table_from_arrow_stream(const cof_env *lent, struct ArrowArrayStream *stream, cof_table **out,
                                       cof_error *err)
{
    if (out == NULL || stream == NULL || stream->release == NULL || stream->get_schema == NULL ||
        stream->get_next == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "the Arrow stream is NULL or was already released, or there is no place for the "
                         "table");
    cof_env env = cofi_env_resolve(lent);
    arrow_import in;
    struct ArrowSchema schema = {0};
    int code = stream->get_schema(stream, &schema);
    if (code != 0) return stream_failure(stream, code, "schema", err);
    cof_status status = open_import(&in, &env, &schema, err);
    if (status == COF_OK) status = put_stream(&in, stream);
    if (status == COF_OK) status = finish_import(&in, out);
    close_import(&in);
    if (schema.release != NULL) schema.release(&schema);
    return status;
}
