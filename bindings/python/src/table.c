/* Tables: columns of arrays handed over as Arrow structs that point into them, Arrow streams, codes. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static cof_table *table_of(PyObject *self)
{
    return ((core_object *)self)->handle;
}

/* ---- Columns ----------------------------------------------------------------------------------------- */

/* One column as Arrow sees it. Codes below 0 are missing, which Arrow says with bits. */
typedef struct column {
    core_array cells;
    PyObject *name, *format; /* bytes; format is NULL for the format of the cells' type */
    uint8_t *valid;          /* a bit a row; NULL: all are there */
    int32_t *text_offset;
    char *text;
    uint8_t *text_valid;
    struct ArrowSchema schema, values_schema;
    struct ArrowArray array, values;
    const void *buffers[2], *values_buffers[3];
} column;

static void keep_schema(struct ArrowSchema *schema)
{
    (void)schema;
}

static void keep_array(struct ArrowArray *array)
{
    (void)array;
}

static void close_column(column *c)
{
    core_array_close(&c->cells);
    Py_XDECREF(c->name);
    Py_XDECREF(c->format);
    free(c->valid);
    free(c->text_offset);
    free(c->text);
    free(c->text_valid);
}

static int no_memory(void)
{
    PyErr_NoMemory();
    return -1;
}

#define ANY_NEGATIVE(type)                                                                                   \
    static int any_negative_##type(const void *codes, Py_ssize_t n)                                          \
    {                                                                                                        \
        const type *code = codes;                                                                            \
        type low = 0;                                                                                        \
        for (Py_ssize_t i = 0; i < n; i++) low = code[i] < low ? code[i] : low;                              \
        return low < 0;                                                                                      \
    }                                                                                                        \
    static void mark_valid_##type(const void *codes, Py_ssize_t n, uint8_t *valid)                           \
    {                                                                                                        \
        const type *code = codes;                                                                            \
        for (Py_ssize_t i = 0; i < n; i++) valid[i / 8] |= (uint8_t)((code[i] >= 0) << (i % 8));             \
    }
ANY_NEGATIVE(int8_t)
ANY_NEGATIVE(int16_t)
ANY_NEGATIVE(int32_t)
ANY_NEGATIVE(int64_t)

static const struct {
    int (*any_negative)(const void *codes, Py_ssize_t n);
    void (*mark_valid)(const void *codes, Py_ssize_t n, uint8_t *valid);
    const char *format, *unsigned_format;
} width_of[] = {[1] = {any_negative_int8_t, mark_valid_int8_t, "c", "C"},
                [2] = {any_negative_int16_t, mark_valid_int16_t, "s", "S"},
                [4] = {any_negative_int32_t, mark_valid_int32_t, "i", "I"},
                [8] = {any_negative_int64_t, mark_valid_int64_t, "l", "L"}};

/* missing: an array with one byte a row, true where there is no value. */
static int mark_given(column *c, PyObject *missing)
{
    core_array bytes;
    Py_ssize_t n = c->cells.shape[0];
    if (core_array_open(&bytes, missing, "b", 1, 1, CORE_CONTIGUOUS) != 0) return -1;
    c->valid = bytes.shape[0] == n ? calloc(1, (size_t)n / 8 + 1) : NULL;
    for (Py_ssize_t i = 0; c->valid != NULL && i < n; i++)
        c->valid[i / 8] |= (uint8_t)((bytes.data[i] == 0) << (i % 8));
    core_array_close(&bytes);
    c->array.null_count = -1; /* not counted */
    return c->valid != NULL ? 0 : no_memory();
}

static int mark_missing(column *c)
{
    Py_ssize_t n = c->cells.shape[0];
    int width = c->cells.itemsize;
    if (!width_of[width].any_negative(c->cells.data, n)) return 0;
    c->valid = calloc(1, (size_t)n / 8 + 1);
    if (c->valid == NULL) return no_memory();
    width_of[width].mark_valid(c->cells.data, n, c->valid);
    c->array.null_count = -1; /* not counted */
    return 0;
}

/* The texts of a list of str and None, end to end. */
static int copy_texts(column *c, PyObject *list, Py_ssize_t n)
{
    size_t room = 0;
    c->text_offset = calloc((size_t)n + 1, sizeof *c->text_offset);
    c->text_valid = calloc(1, (size_t)n / 8 + 1);
    if (c->text_offset == NULL || c->text_valid == NULL) return no_memory();
    for (Py_ssize_t v = 0; v < n; v++) {
        PyObject *value = PyList_GetItem(list, v); /* borrowed */
        c->text_offset[v + 1] = c->text_offset[v];
        if (value == NULL) return -1;
        if (value == Py_None) continue;
        PyObject *bytes = PyUnicode_AsUTF8String(value);
        if (bytes == NULL) return -1;
        size_t at = (size_t)c->text_offset[v], length = (size_t)PyBytes_Size(bytes);
        if (at + length > INT32_MAX) {
            Py_DECREF(bytes);
            PyErr_SetString(PyExc_ValueError, "the values of one column take more than 2 GiB of text");
            return -1;
        }
        if (at + length >= room) {
            size_t more = (at + length) * 2 + 64;
            char *text = realloc(c->text, more);
            if (text == NULL) {
                Py_DECREF(bytes);
                return no_memory();
            }
            c->text = text;
            room = more;
        }
        memcpy(c->text + at, PyBytes_AsString(bytes), length);
        Py_DECREF(bytes);
        c->text_offset[v + 1] = (int32_t)(at + length);
        c->text_valid[v / 8] |= (uint8_t)(1 << (v % 8));
    }
    return 0;
}

static int open_dictionary(column *c, PyObject *list, int ordered)
{
    Py_ssize_t n = PyList_Size(list);
    if (n < 0 || copy_texts(c, list, n) != 0 || mark_missing(c) != 0) return -1;
    c->values_schema = (struct ArrowSchema){.format = "u", .name = "", .release = keep_schema};
    c->values_buffers[0] = c->text_valid;
    c->values_buffers[1] = c->text_offset;
    c->values_buffers[2] = c->text != NULL ? c->text : "";
    c->values = (struct ArrowArray){
        .length = n, .null_count = -1, .n_buffers = 3, .buffers = c->values_buffers, .release = keep_array};
    c->schema.dictionary = &c->values_schema;
    c->array.dictionary = &c->values;
    if (ordered) c->schema.flags |= ARROW_FLAG_DICTIONARY_ORDERED;
    return 0;
}

/* item: (name, cells, values, ordered, missing). values: texts that the cells number; a format of Arrow, if the cells are points
 * in time; None: the cells are numbers that stand for themselves. missing: which rows have no value, or None. */
static int open_column(column *c, PyObject *item, Py_ssize_t n_rows)
{
    static const char *const float_format[] = {[2] = "e", [4] = "f", [8] = "g"};
    PyObject *name, *cells, *values, *missing;
    int ordered;
    if (!PyArg_ParseTuple(item, "UOOpO", &name, &cells, &values, &ordered, &missing)) return -1;
    int has_format = PyUnicode_Check(values), has_texts = PyList_Check(values);
    c->name = PyUnicode_AsUTF8String(name);
    if (c->name != NULL && has_format) c->format = PyUnicode_AsUTF8String(values);
    if (c->name == NULL || (has_format && c->format == NULL)) return -1;
    if (core_array_open(&c->cells, cells, has_texts || has_format ? "i" : "iuf", has_format ? 8 : 0, 1,
                        CORE_CONTIGUOUS) != 0)
        return -1;
    if (c->cells.shape[0] != n_rows) {
        PyErr_SetString(PyExc_ValueError, "all columns must have the same number of rows");
        return -1;
    }
    int width = c->cells.itemsize, kind = c->cells.kind;
    c->schema = (struct ArrowSchema){.format = has_format    ? PyBytes_AsString(c->format)
                                               : kind == 'f' ? float_format[width]
                                               : kind == 'u' ? width_of[width].unsigned_format
                                                             : width_of[width].format,
                                     .name = PyBytes_AsString(c->name),
                                     .flags = ARROW_FLAG_NULLABLE,
                                     .release = keep_schema};
    c->array =
        (struct ArrowArray){.length = n_rows, .n_buffers = 2, .buffers = c->buffers, .release = keep_array};
    if (has_texts && open_dictionary(c, values, ordered) != 0) return -1;
    if (!has_texts && missing != Py_None && mark_given(c, missing) != 0) return -1;
    c->buffers[0] = c->valid;
    c->buffers[1] = c->cells.data;
    return 0;
}

static PyObject *import_columns(PyObject *self, column *columns, Py_ssize_t n_columns, Py_ssize_t n_rows)
{
    PyObject *result = NULL;
    struct ArrowSchema **schemas = calloc((size_t)n_columns + 1, sizeof *schemas);
    struct ArrowArray **arrays = calloc((size_t)n_columns + 1, sizeof *arrays);
    if (schemas == NULL || arrays == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t c = 0; c < n_columns; c++) {
        schemas[c] = &columns[c].schema;
        arrays[c] = &columns[c].array;
    }
    const void *no_validity[1] = {NULL};
    struct ArrowSchema schema = {
        .format = "+s", .name = "", .n_children = n_columns, .children = schemas, .release = keep_schema};
    struct ArrowArray array = {.length = n_rows,
                               .n_buffers = 1,
                               .buffers = no_validity,
                               .n_children = n_columns,
                               .children = arrays,
                               .release = keep_array};
    core_call call;
    cof_error err = {{0}};
    cof_table *table = NULL;
    core_begin(&call, NULL);
    cof_status status = cof_table_from_arrow(&core_env, &schema, &array, &table, &err);
    result = core_finish(&call, status, &err, self, CORE_TABLE, table);
done:
    free(schemas);
    free(arrays);
    return result;
}

static PyObject *table_from_columns(PyObject *self, PyObject *args)
{
    Py_ssize_t n_rows, n_columns, opened = 0;
    PyObject *list, *result = NULL;
    if (!PyArg_ParseTuple(args, "nO!", &n_rows, &PyList_Type, &list)) return NULL;
    n_columns = PyList_Size(list);
    column *columns = calloc((size_t)n_columns + 1, sizeof *columns);
    if (columns == NULL) return PyErr_NoMemory();
    for (; opened < n_columns; opened++)
        if (open_column(&columns[opened], PyList_GetItem(list, opened), n_rows) != 0) break;
    if (opened == n_columns) result = import_columns(self, columns, n_columns, n_rows);
    for (Py_ssize_t c = 0; c < n_columns && c <= opened; c++) close_column(&columns[c]);
    free(columns);
    return result;
}

/* The texts of a list, each in a bytes object. */
typedef struct texts {
    PyObject **bytes;
    const char **text;
    Py_ssize_t n;
} texts;

static void close_texts(texts *t)
{
    for (Py_ssize_t v = 0; t->bytes != NULL && v < t->n; v++) Py_XDECREF(t->bytes[v]);
    free(t->bytes);
    free(t->text);
}

/* -1 with an exception set. */
static int open_texts(texts *t, PyObject *list)
{
    Py_ssize_t n = PyList_Size(list);
    *t = (texts){calloc((size_t)n + 1, sizeof *t->bytes), calloc((size_t)n + 1, sizeof *t->text), 0};
    if (t->bytes == NULL || t->text == NULL) PyErr_NoMemory();
    for (; !PyErr_Occurred() && t->n < n; t->n++) {
        t->bytes[t->n] = PyUnicode_AsUTF8String(PyList_GetItem(list, t->n));
        if (t->bytes[t->n] == NULL) break;
        t->text[t->n] = PyBytes_AsString(t->bytes[t->n]);
    }
    if (!PyErr_Occurred()) return 0;
    close_texts(t);
    return -1;
}

/* ---- Codes and streams ------------------------------------------------------------------------------- */

static PyObject *table_from_codes(PyObject *self, PyObject *args)
{
    PyObject *array, *list, *result = NULL;
    core_array codes;
    texts names;
    if (!PyArg_ParseTuple(args, "OO!", &array, &PyList_Type, &list)) return NULL;
    if (core_array_open(&codes, array, "i", 4, 2, CORE_CONTIGUOUS) != 0) return NULL;
    if (open_texts(&names, list) != 0) goto done;
    if (names.n == codes.shape[1]) {
        core_call call;
        cof_error err = {{0}};
        cof_table *table = NULL;
        core_begin(&call, NULL);
        cof_status status =
            cof_table_from_codes(&core_env, (const int32_t *)(const void *)codes.data, (size_t)codes.shape[0],
                                 (size_t)names.n, names.text, &table, &err);
        result = core_finish(&call, status, &err, self, CORE_TABLE, table);
    } else
        PyErr_SetString(PyExc_ValueError, "every column needs a name");
    close_texts(&names);
done:
    core_array_close(&codes);
    return result;
}

static PyObject *table_from_stream(PyObject *self, PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream == NULL) return NULL;
    core_call call;
    cof_error err = {{0}};
    cof_table *table = NULL;
    core_begin(&call, NULL);
    cof_status status = cof_table_from_arrow_stream(&core_env, stream, &table, &err);
    if (stream->release != NULL) stream->release(stream);
    return core_finish(&call, status, &err, self, CORE_TABLE, table);
}

static PyObject *table_read(PyObject *self, PyObject *arg)
{
    PyObject *path;
    core_call call;
    cof_error err = {{0}};
    cof_table *table = NULL;
    if (!PyUnicode_FSConverter(arg, &path)) return NULL;
    core_begin(&call, NULL);
    cof_status status = cof_table_read(&core_env, PyBytes_AsString(path), NULL, &table, &err);
    PyObject *result = core_finish(&call, status, &err, self, CORE_TABLE, table);
    Py_DECREF(path);
    return result;
}

/* Adds a Table, or a file that the library reads; -1: an exception is set. */
static int encode_one(PyObject *self, cof_encoding *encoding, PyObject *item)
{
    PyObject *path = NULL;
    const cof_table *table = NULL;
    const char *name = NULL;
    if (PyObject_TypeCheck(item, core_state_of(self)->type[CORE_TABLE]))
        table = table_of(item);
    else if (PyUnicode_FSConverter(item, &path))
        name = PyBytes_AsString(path);
    if (table == NULL && name == NULL) return -1;
    core_call call;
    cof_error err = {{0}};
    core_begin(&call, NULL);
    cof_status status =
        table != NULL ? cof_encoding_add(encoding, table, &err)
                      : cof_table_read_pieces(&core_env, name, NULL, cof_encoding_piece, encoding, &err);
    int raised = core_end(&call);
    Py_XDECREF(path);
    if (raised == 0 && status != COF_OK) core_raise(self, status, &err);
    return raised == 0 && status == COF_OK ? 0 : -1;
}

static PyObject *encode_tables(PyObject *self, PyObject *args)
{
    PyObject *path, *iterable, *item;
    cof_encoding *encoding = NULL;
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "O&O", PyUnicode_FSConverter, &path, &iterable)) return NULL;
    PyObject *items = PyObject_GetIter(iterable);
    cof_status status = COF_OK;
    if (items != NULL) status = cof_encoding_open(&core_env, PyBytes_AsString(path), &encoding, &err);
    int failed = items == NULL || status != COF_OK;
    while (!failed && (item = PyIter_Next(items)) != NULL) {
        failed = encode_one(self, encoding, item) != 0;
        Py_DECREF(item);
    }
    failed |= PyErr_Occurred() != NULL;
    if (!failed) status = cof_encoding_finish(encoding, &err);
    cof_encoding_free(encoding);
    Py_XDECREF(items);
    Py_DECREF(path);
    if (status != COF_OK) return core_raise(self, status, &err);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

/* What a column of this kind becomes; the caller chose it to take part. */
static PyObject *column_treatment(PyObject *module, PyObject *args)
{
    int kind, numbers, rule, quantities;
    (void)module;
    if (!PyArg_ParseTuple(args, "ipii", &kind, &numbers, &rule, &quantities)) return NULL;
    cof_advice advice = {.struct_size = sizeof advice, .kind = kind, .numbers = numbers};
    return PyLong_FromLong(cof_column_treatment(&advice, rule, quantities, 1));
}

PyMethodDef core_table_functions[] = {
    {"table_read", table_read, METH_O, "table_read(path of a CSV, TSV or encoded file) -> Table"},
    {"encode_tables", encode_tables, METH_VARARGS,
     "encode_tables(path, [Table or path of a file, ...]): writes an encoded table"},
    {"table_from_columns", table_from_columns, METH_VARARGS,
     "table_from_columns(n_rows, [(name, cells, values, format or None, ordered, missing), ...]) -> Table"},
    {"table_from_codes", table_from_codes, METH_VARARGS, "table_from_codes(int32 rows, names) -> Table"},
    {"table_from_stream", table_from_stream, METH_O,
     "table_from_stream(arrow_array_stream capsule) -> Table"},
    {"column_treatment", column_treatment, METH_VARARGS,
     "column_treatment(kind, numbers, rule, quantities): TREAT_BINS, TREAT_NUMBERS or another number"},
    {NULL, NULL, 0, NULL}};

/* ---- Asking ------------------------------------------------------------------------------------------ */

static PyObject *table_shape(PyObject *self, void *closure)
{
    (void)closure;
    const cof_table *table = table_of(self);
    return Py_BuildValue("nn", (Py_ssize_t)cof_table_n_rows(table), (Py_ssize_t)cof_table_n_columns(table));
}

static int is_schema(PyObject *self)
{
    return ((core_object *)self)->kind == CORE_SCHEMA;
}

PyObject *core_column(PyObject *self, PyObject *arg)
{
    cof_advice advice = {.struct_size = sizeof advice};
    cof_column view = {.struct_size = sizeof view};
    void *handle = ((core_object *)self)->handle;
    const cof_table *table = is_schema(self) ? cof_schema_table(handle) : handle;
    size_t c = PyLong_AsSize_t(arg);
    if (PyErr_Occurred()) return NULL;
    if (cof_table_column(table, c, &view) != COF_OK) {
        PyErr_SetString(PyExc_IndexError, "there is no such column");
        return NULL;
    }
    if (is_schema(self))
        cof_schema_advise(handle, c, COF_MISSING_VALUE, &advice, NULL);
    else
        cof_column_advise(table, c, COF_MISSING_VALUE, &advice, NULL);
    return Py_BuildValue("{s:s,s:i,s:N,s:I,s:K,s:i,s:s,s:N}", "name", view.name, "role", (int)view.role,
                         "ordinal", PyBool_FromLong(view.ordinal), "n_values", view.n_values, "n_missing",
                         (unsigned long long)view.n_missing, "kind", (int)advice.kind, "why", advice.why,
                         "numbers", PyBool_FromLong(advice.numbers));
}

static PyObject *table_count_distinct(PyObject *self, PyObject *unused)
{
    (void)unused;
    uint64_t n = 0;
    cof_error err = {{0}};
    cof_status status = cof_table_count_distinct(table_of(self), &n, &err);
    return status == COF_OK ? PyLong_FromUnsignedLongLong(n) : core_raise(self, status, &err);
}

PyObject *core_set_role(PyObject *self, PyObject *args)
{
    Py_ssize_t c;
    int role;
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "ni", &c, &role)) return NULL;
    void *handle = ((core_object *)self)->handle;
    cof_status status = is_schema(self) ? cof_schema_set_role(handle, (size_t)c, role, &err)
                                        : cof_table_set_role(handle, (size_t)c, role, &err);
    return core_none(self, status, &err);
}

PyObject *core_set_order(PyObject *self, PyObject *args)
{
    Py_ssize_t c;
    PyObject *list;
    texts values;
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "nO!", &c, &PyList_Type, &list) || open_texts(&values, list) != 0)
        return NULL;
    void *handle = ((core_object *)self)->handle;
    cof_status status = is_schema(self)
                            ? cof_schema_set_order(handle, (size_t)c, values.text, (size_t)values.n, &err)
                            : cof_table_set_order(handle, (size_t)c, values.text, (size_t)values.n, &err);
    close_texts(&values);
    return core_none(self, status, &err);
}

PyObject *core_cut(PyObject *self, PyObject *args)
{
    Py_ssize_t c;
    PyObject *list;
    texts edges;
    unsigned int bins;
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "nIO!", &c, &bins, &PyList_Type, &list) || open_texts(&edges, list) != 0)
        return NULL;
    cof_cut_options o = {
        .struct_size = sizeof o, .bins = bins, .edges = edges.text, .n_edges = (size_t)edges.n};
    void *handle = ((core_object *)self)->handle;
    cof_status status = is_schema(self) ? cof_schema_cut(handle, (size_t)c, &o, &err)
                                        : cof_table_cut(handle, (size_t)c, &o, &err);
    close_texts(&edges);
    return core_none(self, status, &err);
}

static PyObject *table_codes(PyObject *self, PyObject *args)
{
    const cof_table *table = table_of(self);
    Py_ssize_t c;
    PyObject *array;
    core_array out;
    if (!PyArg_ParseTuple(args, "nO", &c, &array)) return NULL;
    if (core_array_open(&out, array, "i", 4, 1, CORE_WRITABLE | CORE_CONTIGUOUS) != 0) return NULL;
    cof_column view = {.struct_size = sizeof view};
    if (c < 0 || cof_table_column(table, (size_t)c, &view) != COF_OK ||
        out.shape[0] != (Py_ssize_t)cof_table_n_rows(table)) {
        core_array_close(&out);
        PyErr_SetString(PyExc_IndexError, "there is no such column, or the array does not fit");
        return NULL;
    }
    int32_t *code = (int32_t *)(void *)out.data;
    for (Py_ssize_t i = 0; i < out.shape[0]; i++) {
        uint32_t value = cof_table_code(table, (size_t)i, (size_t)c);
        code[i] = value < view.n_values ? (int32_t)value : -1;
    }
    core_array_close(&out);
    PyObject *list = PyList_New(view.n_values);
    for (uint32_t v = 0; list != NULL && v < view.n_values; v++) {
        PyObject *text = PyUnicode_FromString(cof_table_value(table, (size_t)c, v));
        if (text == NULL || PyList_SetItem(list, v, text) != 0) Py_CLEAR(list);
    }
    return list;
}

PyMethodDef core_table_methods[] = {
    {"column", core_column, METH_O, "column(c) -> dict of what cof_column says"},
    {"count_distinct", table_count_distinct, METH_NOARGS, "count_distinct() -> distinct rows"},
    {"set_role", core_set_role, METH_VARARGS, "set_role(c, role)"},
    {"set_order", core_set_order, METH_VARARGS, "set_order(c, [value, ...])"},
    {"cut", core_cut, METH_VARARGS,
     "cut(c, bins, [edge, ...]): into bins, or at the edges if there are some"},
    {"codes", table_codes, METH_VARARGS, "codes(c, int32 out) -> the column's values; missing is -1"},
    {NULL, NULL, 0, NULL}};
PyGetSetDef core_table_getset[] = {{"shape", table_shape, NULL, "(rows, columns)", NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
