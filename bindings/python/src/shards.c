/* Tables in several places: schemas, shards, and the driver's questions. */
#include "core.h"

#include "coforest_shard.h"

#include <stdlib.h>
#include <string.h>

static cof_schema *schema_of(PyObject *self)
{
    return ((core_object *)self)->handle;
}

/* ---- Schema ------------------------------------------------------------------------------------------ */

static PyObject *make_schema(PyObject *self, PyObject *args)
{
    PyObject *table_arg;
    unsigned long long first_row;
    if (!PyArg_ParseTuple(args, "OK", &table_arg, &first_row)) return NULL;
    const cof_table *table = core_handle(self, CORE_TABLE, table_arg);
    if (table == NULL) return NULL;
    core_call call;
    cof_error err = {{0}};
    cof_schema *schema = NULL;
    core_begin(&call, NULL);
    cof_status status = cof_schema_of(table, first_row, &schema, &err);
    return core_finish(&call, status, &err, self, CORE_SCHEMA, schema);
}

static PyObject *schema_read(PyObject *self, PyObject *bytes)
{
    char *text;
    Py_ssize_t n;
    cof_error err = {{0}};
    cof_schema *schema = NULL;
    if (PyBytes_AsStringAndSize(bytes, &text, &n) != 0) return NULL;
    cof_status status = cof_schema_read(&core_env, text, (size_t)n, &schema, &err);
    return status == COF_OK ? core_wrap(self, CORE_SCHEMA, schema, NULL) : core_raise(self, status, &err);
}

static PyObject *schema_to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_pieces p = {0};
    cof_error err = {{0}};
    cof_status status = cof_schema_write(schema_of(self), core_collect, &p, &err);
    if (p.failed) status = COF_ERR_MEMORY;
    PyObject *bytes = status == COF_OK ? PyBytes_FromStringAndSize(p.bytes, (Py_ssize_t)p.n)
                                       : core_raise(self, status, &err);
    free(p.bytes);
    return bytes;
}

static PyObject *schema_merge(PyObject *self, PyObject *arg)
{
    const cof_schema *more = core_handle(self, CORE_SCHEMA, arg);
    cof_error err = {{0}};
    if (more == NULL) return NULL;
    return core_none(self, cof_schema_merge(schema_of(self), more, &err), &err);
}

static PyObject *schema_shape(PyObject *self, void *closure)
{
    (void)closure;
    const cof_schema *schema = schema_of(self);
    return Py_BuildValue("Kn", (unsigned long long)cof_schema_n_rows(schema),
                         (Py_ssize_t)cof_table_n_columns(cof_schema_table(schema)));
}

/* ---- Shard ------------------------------------------------------------------------------------------- */

static PyObject *shard_open(PyObject *self, PyObject *args)
{
    PyObject *table_arg, *schema_arg;
    unsigned long long first_row;
    unsigned int threads;
    if (!PyArg_ParseTuple(args, "OOKI", &table_arg, &schema_arg, &first_row, &threads)) return NULL;
    const cof_table *table = table_arg == Py_None ? NULL : core_handle(self, CORE_TABLE, table_arg);
    const cof_schema *schema = core_handle(self, CORE_SCHEMA, schema_arg);
    if (schema == NULL || (table == NULL && table_arg != Py_None)) return NULL;
    core_call call;
    cof_error err = {{0}};
    cof_shard *shard = NULL;
    core_begin(&call, NULL);
    cof_status status = cof_shard_open(&core_env, table, schema, first_row, threads, &shard, &err);
    PyObject *made = core_finish(&call, status, &err, self, CORE_SHARD, shard);
    if (made != NULL) {
        Py_INCREF(table_arg); /* the shard reads it */
        ((core_object *)made)->kept = table_arg;
    }
    return made;
}

/* What answer and labels share: the request and an array to fill. */
static PyObject *ask_shard(PyObject *self, PyObject *args, const char *kind, int itemsize, int for_labels)
{
    PyObject *request, *array;
    char *bytes;
    Py_ssize_t n_bytes;
    core_array out;
    if (!PyArg_ParseTuple(args, "SO", &request, &array)) return NULL;
    if (PyBytes_AsStringAndSize(request, &bytes, &n_bytes) != 0) return NULL;
    if (core_array_open(&out, array, kind, itemsize, 1, CORE_WRITABLE | CORE_CONTIGUOUS) != 0) return NULL;
    core_call call;
    cof_error err = {{0}};
    cof_shard *shard = ((core_object *)self)->handle;
    core_begin(&call, NULL);
    cof_status status = for_labels
                            ? cof_shard_labels(shard, bytes, (size_t)n_bytes, (int32_t *)(void *)out.data,
                                               (size_t)out.shape[0], &err)
                            : cof_shard_answer(shard, bytes, (size_t)n_bytes, (uint64_t *)(void *)out.data,
                                               (size_t)out.shape[0], &err);
    int raised = core_end(&call);
    core_array_close(&out);
    return raised ? NULL : core_none(self, status, &err);
}

static PyObject *shard_answer(PyObject *self, PyObject *args)
{
    return ask_shard(self, args, "u", 8, 0);
}

static PyObject *shard_labels(PyObject *self, PyObject *args)
{
    return ask_shard(self, args, "i", 4, 1);
}

static PyObject *request_words(PyObject *self, PyObject *request)
{
    char *bytes;
    Py_ssize_t n;
    if (PyBytes_AsStringAndSize(request, &bytes, &n) != 0) return NULL;
    return PyLong_FromSize_t(cof_request_words(bytes, (size_t)n));
}

/* ---- Driver ------------------------------------------------------------------------------------------ */

enum { WRITABLE = 0x200 }; /* PyBUF_WRITE, which the limited interface knows only later */

typedef struct asking {
    core_call *call;
    PyObject *ask;
} asking;

/* Calls ask(request, sum), where sum is a writable view of the words, 0 at first. */
static int ask_python(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    const asking *a = ctx;
    if (a->call->raised) return -1;
    core_resume(a->call);
    PyObject *view =
        PyMemoryView_FromMemory((char *)(void *)sum, (Py_ssize_t)(n_words * sizeof *sum), WRITABLE);
    PyObject *answer =
        view != NULL ? PyObject_CallFunction(a->ask, "y#O", (const char *)request, (Py_ssize_t)n_bytes, view)
                     : NULL;
    /* The words are valid during the call alone. */
    PyObject *released = answer != NULL ? PyObject_CallMethod(view, "release", NULL) : NULL;
    a->call->raised = answer == NULL || released == NULL;
    Py_XDECREF(released);
    Py_XDECREF(answer);
    Py_XDECREF(view);
    core_leave(a->call);
    return a->call->raised ? -1 : 0;
}

cof_status core_fit_shards(core_call *call, core_asking ask, const cof_schema *schema,
                           const cof_fit_options *options, unsigned int k_min, unsigned int k_max,
                           cof_model **model, cof_fit_info *info, cof_error *err)
{
    asking a = {call, ask.ask};
    cof_shards shards = {
        .struct_size = sizeof shards, .ask = ask_python, .ctx = &a, .together = ask.together};
    return options->k > 0
               ? cof_fit_shards(&core_env, schema, options, &shards, model, info, err)
               : cof_fit_shards_auto(&core_env, schema, options, k_min, k_max, &shards, model, info, err);
}

/* ---- The types --------------------------------------------------------------------------------------- */

PyMethodDef core_shard_functions[] = {
    {"schema_of", make_schema, METH_VARARGS, "schema_of(table, first_row) -> Schema"},
    {"schema_read", schema_read, METH_O, "schema_read(bytes) -> Schema"},
    {"shard_open", shard_open, METH_VARARGS,
     "shard_open(table or None, schema, first_row, threads) -> Shard"},
    {"request_words", request_words, METH_O, "request_words(request) -> words of an answer; 0: no request"},
    {NULL, NULL, 0, NULL}};

PyMethodDef core_schema_methods[] = {
    {"column", core_column, METH_O, "column(c) -> dict of what cof_column says"},
    {"merge", schema_merge, METH_O, "merge(schema): adds the rows of another part"},
    {"set_role", core_set_role, METH_VARARGS, "set_role(c, role)"},
    {"set_order", core_set_order, METH_VARARGS, "set_order(c, [value, ...])"},
    {"cut", core_cut, METH_VARARGS,
     "cut(c, bins, [edge, ...]): into bins, or at the edges if there are some"},
    {"to_bytes", schema_to_bytes, METH_NOARGS, "to_bytes() -> bytes for schema_read"},
    {NULL, NULL, 0, NULL}};
PyGetSetDef core_schema_getset[] = {{"shape", schema_shape, NULL, "(rows, columns)", NULL},
                                    {NULL, NULL, NULL, NULL, NULL}};
PyMethodDef core_shard_methods[] = {
    {"answer", shard_answer, METH_VARARGS, "answer(request, uint64 sum): adds the shard's answer"},
    {"labels", shard_labels, METH_VARARGS, "labels(request, int32 out): labels of the shard's rows"},
    {NULL, NULL, 0, NULL}};
PyGetSetDef core_shard_getset[] = {{NULL, NULL, NULL, NULL, NULL}};
