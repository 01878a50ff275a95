/* Tables in several places: schemas, shards, and the driver's questions. */
#include "core.h"

#include "coforest_shard.h"

#include <stdlib.h>
#include <string.h>

static PyTypeObject *schema_type, *shard_type;

typedef struct schema_object {
    PyObject_HEAD cof_schema *schema;
} schema_object;

typedef struct shard_object {
    PyObject_HEAD cof_shard *shard;
    PyObject *table; /* kept, since the shard reads it */
} shard_object;

static PyObject *wrap_schema(cof_schema *schema)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(schema_type, Py_tp_alloc);
    schema_object *self = (schema_object *)alloc(schema_type, 0);
    if (self == NULL)
        cof_schema_free(schema);
    else
        self->schema = schema;
    return (PyObject *)self;
}

const cof_schema *core_schema_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, schema_type)) return ((schema_object *)object)->schema;
    PyErr_SetString(PyExc_TypeError, "coforest._core: not a Schema");
    return NULL;
}

static PyObject *none_or_raise(cof_status status, const cof_error *err)
{
    if (status != COF_OK) return core_raise(status, err);
    Py_RETURN_NONE;
}

/* ---- Schema ------------------------------------------------------------------------------------------ */

static PyObject *schema_of(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *table_arg;
    unsigned long long first_row;
    if (!PyArg_ParseTuple(args, "OK", &table_arg, &first_row)) return NULL;
    const cof_table *table = core_table_of(table_arg);
    if (table == NULL) return NULL;
    core_call call;
    cof_error err = {{0}};
    cof_schema *schema = NULL;
    core_begin(&call, NULL);
    cof_status status = cof_schema_of(table, first_row, &schema, &err);
    if (core_end(&call) != 0) {
        if (status == COF_OK) cof_schema_free(schema);
        return NULL;
    }
    return status == COF_OK ? wrap_schema(schema) : core_raise(status, &err);
}

static PyObject *schema_read(PyObject *module, PyObject *bytes)
{
    (void)module;
    char *text;
    Py_ssize_t n;
    cof_error err = {{0}};
    cof_schema *schema = NULL;
    if (PyBytes_AsStringAndSize(bytes, &text, &n) != 0) return NULL;
    cof_status status = cof_schema_read(&core_env, text, (size_t)n, &schema, &err);
    return status == COF_OK ? wrap_schema(schema) : core_raise(status, &err);
}

static PyObject *schema_to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_pieces p = {0};
    cof_error err = {{0}};
    cof_status status = cof_schema_write(((schema_object *)self)->schema, core_collect, &p, &err);
    if (p.failed) status = COF_ERR_MEMORY;
    PyObject *bytes =
        status == COF_OK ? PyBytes_FromStringAndSize(p.bytes, (Py_ssize_t)p.n) : core_raise(status, &err);
    free(p.bytes);
    return bytes;
}

static PyObject *schema_merge(PyObject *self, PyObject *arg)
{
    const cof_schema *more = core_schema_of(arg);
    cof_error err = {{0}};
    if (more == NULL) return NULL;
    return none_or_raise(cof_schema_merge(((schema_object *)self)->schema, more, &err), &err);
}

static PyObject *schema_shape(PyObject *self, void *closure)
{
    (void)closure;
    const cof_schema *schema = ((schema_object *)self)->schema;
    return Py_BuildValue("Kn", (unsigned long long)cof_schema_n_rows(schema),
                         (Py_ssize_t)cof_table_n_columns(cof_schema_table(schema)));
}

static PyObject *schema_column(PyObject *self, PyObject *arg)
{
    const cof_schema *schema = ((schema_object *)self)->schema;
    cof_advice advice = {.struct_size = sizeof advice};
    size_t c = PyLong_AsSize_t(arg);
    if (PyErr_Occurred()) return NULL;
    cof_schema_advise(schema, c, COF_MISSING_VALUE, &advice, NULL);
    return core_column_dict(cof_schema_table(schema), c, &advice);
}

static PyObject *schema_set_role(PyObject *self, PyObject *args)
{
    Py_ssize_t c;
    int role;
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "ni", &c, &role)) return NULL;
    return none_or_raise(cof_schema_set_role(((schema_object *)self)->schema, (size_t)c, role, &err), &err);
}

static PyObject *schema_set_order(PyObject *self, PyObject *args)
{
    Py_ssize_t c;
    PyObject *list;
    core_texts values;
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "nO!", &c, &PyList_Type, &list) || core_texts_open(&values, list) != 0)
        return NULL;
    cof_status status =
        cof_schema_set_order(((schema_object *)self)->schema, (size_t)c, values.text, (size_t)values.n, &err);
    core_texts_close(&values);
    return none_or_raise(status, &err);
}

static PyObject *schema_cut(PyObject *self, PyObject *args)
{
    Py_ssize_t c;
    PyObject *list;
    core_texts edges;
    unsigned int bins;
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "nIO!", &c, &bins, &PyList_Type, &list) || core_texts_open(&edges, list) != 0)
        return NULL;
    cof_cut_options o = {
        .struct_size = sizeof o, .bins = bins, .edges = edges.text, .n_edges = (size_t)edges.n};
    cof_status status = cof_schema_cut(((schema_object *)self)->schema, (size_t)c, &o, &err);
    core_texts_close(&edges);
    return none_or_raise(status, &err);
}

static void schema_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    cof_schema_free(((schema_object *)self)->schema);
    release(self);
    Py_DECREF(type);
}

/* ---- Shard ------------------------------------------------------------------------------------------- */

static PyObject *shard_open(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *table_arg, *schema_arg;
    unsigned long long first_row;
    unsigned int threads;
    if (!PyArg_ParseTuple(args, "OOKI", &table_arg, &schema_arg, &first_row, &threads)) return NULL;
    const cof_table *table = table_arg == Py_None ? NULL : core_table_of(table_arg);
    const cof_schema *schema = core_schema_of(schema_arg);
    if (schema == NULL || (table == NULL && table_arg != Py_None)) return NULL;
    core_call call;
    cof_error err = {{0}};
    cof_shard *shard = NULL;
    core_begin(&call, NULL);
    cof_status status = cof_shard_open(&core_env, table, schema, first_row, threads, &shard, &err);
    int raised = core_end(&call);
    if (!raised && status != COF_OK) return core_raise(status, &err);
    allocfunc alloc = (allocfunc)PyType_GetSlot(shard_type, Py_tp_alloc);
    shard_object *self = raised ? NULL : (shard_object *)alloc(shard_type, 0);
    if (self == NULL) {
        if (status == COF_OK) cof_shard_free(shard);
        return NULL;
    }
    self->shard = shard;
    Py_INCREF(table_arg);
    self->table = table_arg;
    return (PyObject *)self;
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
    cof_shard *shard = ((shard_object *)self)->shard;
    core_begin(&call, NULL);
    cof_status status = for_labels
                            ? cof_shard_labels(shard, bytes, (size_t)n_bytes, (int32_t *)(void *)out.data,
                                               (size_t)out.shape[0], &err)
                            : cof_shard_answer(shard, bytes, (size_t)n_bytes, (uint64_t *)(void *)out.data,
                                               (size_t)out.shape[0], &err);
    int raised = core_end(&call);
    core_array_close(&out);
    return raised ? NULL : none_or_raise(status, &err);
}

static PyObject *shard_answer(PyObject *self, PyObject *args)
{
    return ask_shard(self, args, "u", 8, 0);
}

static PyObject *shard_labels(PyObject *self, PyObject *args)
{
    return ask_shard(self, args, "i", 4, 1);
}

static void shard_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    cof_shard_free(((shard_object *)self)->shard);
    Py_XDECREF(((shard_object *)self)->table);
    release(self);
    Py_DECREF(type);
}

static PyObject *request_words(PyObject *module, PyObject *request)
{
    (void)module;
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

cof_status core_fit_shards(core_call *call, PyObject *ask, const cof_schema *schema,
                           const cof_fit_options *options, unsigned int k_min, unsigned int k_max,
                           cof_model **model, cof_fit_info *info, cof_error *err)
{
    asking a = {call, ask};
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask_python, .ctx = &a};
    return options->k > 0
               ? cof_fit_shards(&core_env, schema, options, &shards, model, info, err)
               : cof_fit_shards_auto(&core_env, schema, options, k_min, k_max, &shards, model, info, err);
}

/* ---- The types --------------------------------------------------------------------------------------- */

PyMethodDef core_shard_functions[] = {
    {"schema_of", schema_of, METH_VARARGS, "schema_of(table, first_row) -> Schema"},
    {"schema_read", schema_read, METH_O, "schema_read(bytes) -> Schema"},
    {"shard_open", shard_open, METH_VARARGS,
     "shard_open(table or None, schema, first_row, threads) -> Shard"},
    {"request_words", request_words, METH_O, "request_words(request) -> words of an answer; 0: no request"},
    {NULL, NULL, 0, NULL}};

static PyMethodDef schema_methods[] = {
    {"column", schema_column, METH_O, "column(c) -> dict of what cof_column says"},
    {"merge", schema_merge, METH_O, "merge(schema): adds the rows of another part"},
    {"set_role", schema_set_role, METH_VARARGS, "set_role(c, role)"},
    {"set_order", schema_set_order, METH_VARARGS, "set_order(c, [value, ...])"},
    {"cut", schema_cut, METH_VARARGS,
     "cut(c, bins, [edge, ...]): into bins, or at the edges if there are some"},
    {"to_bytes", schema_to_bytes, METH_NOARGS, "to_bytes() -> bytes for schema_read"},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef schema_getset[] = {{"shape", schema_shape, NULL, "(rows, columns)", NULL},
                                      {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot schema_slots[] = {{Py_tp_doc, "What a table holds apart from its rows."},
                                     {Py_tp_dealloc, schema_dealloc},
                                     {Py_tp_methods, schema_methods},
                                     {Py_tp_getset, schema_getset},
                                     {Py_tp_new, core_refuse_new},
                                     {0, NULL}};
static PyType_Spec schema_spec = {"coforest._core.Schema", sizeof(schema_object), 0, Py_TPFLAGS_DEFAULT,
                                  schema_slots};

static PyMethodDef shard_methods[] = {
    {"answer", shard_answer, METH_VARARGS, "answer(request, uint64 sum): adds the shard's answer"},
    {"labels", shard_labels, METH_VARARGS, "labels(request, int32 out): labels of the shard's rows"},
    {NULL, NULL, 0, NULL}};
static PyType_Slot shard_slots[] = {{Py_tp_doc, "Some rows of a table, ready for requests."},
                                    {Py_tp_dealloc, shard_dealloc},
                                    {Py_tp_methods, shard_methods},
                                    {Py_tp_new, core_refuse_new},
                                    {0, NULL}};
static PyType_Spec shard_spec = {"coforest._core.Shard", sizeof(shard_object), 0, Py_TPFLAGS_DEFAULT,
                                 shard_slots};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(spec);
    if (type == NULL) return NULL;
    Py_INCREF(type);
    return PyModule_AddObject(module, name, (PyObject *)type) == 0 ? type : NULL;
}

int core_add_shards(PyObject *module)
{
    schema_type = add_type(module, &schema_spec, "Schema");
    shard_type = schema_type != NULL ? add_type(module, &shard_spec, "Shard") : NULL;
    return shard_type != NULL ? 0 : -1;
}
