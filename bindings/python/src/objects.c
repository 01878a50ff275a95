/* What the module owns, and its types: all hold one thing of the library. */
#include "core.h"

core_state *core_state_of(PyObject *self)
{
    PyObject *module = PyModule_Check(self) ? self : ((core_object *)self)->module;
    return PyModule_GetState(module);
}

static void release(core_kind kind, void *handle)
{
    if (kind == CORE_TABLE)
        cof_table_free(handle);
    else if (kind == CORE_MODEL)
        cof_model_free(handle);
    else if (kind == CORE_SCHEMA)
        cof_schema_free(handle);
    else
        cof_shard_free(handle);
}

PyObject *core_wrap(PyObject *module, core_kind kind, void *handle, PyObject *kept)
{
    PyTypeObject *type = core_state_of(module)->type[kind];
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_object *self = (core_object *)alloc(type, 0);
    if (self == NULL) {
        release(kind, handle);
        return NULL;
    }
    self->kind = kind;
    self->handle = handle;
    Py_INCREF(module);
    self->module = module;
    Py_XINCREF(kept);
    self->kept = kept;
    return (PyObject *)self;
}

PyObject *core_finish(core_call *call, cof_status status, const cof_error *err, PyObject *module,
                      core_kind kind, void *handle)
{
    if (core_end(call) == 0)
        return status == COF_OK ? core_wrap(module, kind, handle, NULL) : core_raise(module, status, err);
    if (status == COF_OK) release(kind, handle);
    return NULL;
}

void *core_handle(PyObject *self, core_kind kind, PyObject *object)
{
    PyTypeObject *type = core_state_of(self)->type[kind];
    if (PyObject_TypeCheck(object, type)) return ((core_object *)object)->handle;
    PyErr_Format(PyExc_TypeError, "coforest._core: an object of %R is needed, not of %R", type,
                 Py_TYPE(object));
    return NULL;
}

static void dealloc(PyObject *self)
{
    core_object *object = (core_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc free_object = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object->kind, object->handle);
    Py_XDECREF(object->kept);
    Py_XDECREF(object->module);
    free_object(self);
    Py_DECREF(type);
}

static PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)args;
    (void)keywords;
    return PyErr_Format(PyExc_TypeError, "cannot create %R instances", type);
}

static int add_object(PyObject *module, const char *name, PyObject *object)
{
    Py_XINCREF(object);
    if (object != NULL && PyModule_AddObject(module, name, object) == 0) return 0;
    Py_XDECREF(object);
    return -1;
}

static int add_type(PyObject *module, core_kind kind, const char *name, const char *doc, PyMethodDef *methods,
                    PyGetSetDef *getset)
{
    PyType_Slot slots[] = {{Py_tp_doc, (void *)doc}, {Py_tp_dealloc, dealloc}, {Py_tp_methods, methods},
                           {Py_tp_new, refuse_new},  {Py_tp_getset, getset},   {0, NULL}};
    PyType_Spec spec = {name, sizeof(core_object), 0, Py_TPFLAGS_DEFAULT, slots};
    PyObject *type = PyType_FromSpec(&spec);
    core_state_of(module)->type[kind] = (PyTypeObject *)type;
    return add_object(module, strrchr(name, '.') + 1, type);
}

static int add_exceptions(PyObject *module)
{
    core_state *state = core_state_of(module);
    state->error = PyErr_NewExceptionWithDoc(
        "coforest.CoforestError",
        "What the library could not do, in its own sentence; `status` is its cof_status.", PyExc_ValueError,
        NULL);
    if (add_object(module, "CoforestError", state->error) != 0) return -1;
    PyObject *bases = PyTuple_Pack(2, state->error, PyExc_OSError);
    if (bases == NULL) return -1;
    state->io_error = PyErr_NewExceptionWithDoc("coforest.CoforestIOError",
                                                "A file could not be opened, read or written.", bases, NULL);
    Py_DECREF(bases);
    return add_object(module, "CoforestIOError", state->io_error);
}

int core_add_objects(PyObject *module)
{
    if (add_exceptions(module) != 0 ||
        add_type(module, CORE_TABLE, "coforest._core.Table", "An encoded table.", core_table_methods,
                 core_table_getset) != 0 ||
        add_type(module, CORE_MODEL, "coforest._core.Model", "A fitted or loaded model.", core_model_methods,
                 core_model_getset) != 0 ||
        add_type(module, CORE_SCHEMA, "coforest._core.Schema", "What a table holds apart from its rows.",
                 core_schema_methods, core_schema_getset) != 0)
        return -1;
    return add_type(module, CORE_SHARD, "coforest._core.Shard", "Some rows of a table, ready for requests.",
                    core_shard_methods, core_shard_getset);
}

int core_visit_objects(PyObject *module, visitproc visit, void *arg)
{
    core_state *state = core_state_of(module);
    Py_VISIT(state->error);
    Py_VISIT(state->io_error);
    for (int kind = 0; kind < CORE_N_KINDS; kind++) Py_VISIT(state->type[kind]);
    return 0;
}

int core_clear_objects(PyObject *module)
{
    core_state *state = core_state_of(module);
    Py_CLEAR(state->error);
    Py_CLEAR(state->io_error);
    for (int kind = 0; kind < CORE_N_KINDS; kind++) Py_CLEAR(state->type[kind]);
    return 0;
}
