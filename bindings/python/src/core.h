/* coforest._core: unwrap, call, raise. Every function here turns Python arguments into those of one call of
 * coforest.h and its outcome into objects or an exception; what the call means is said there. */
#ifndef COFOREST_PYTHON_CORE_H
#define COFOREST_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <pyconfig.h>
#ifndef Py_GIL_DISABLED
#define Py_LIMITED_API 0x03090000 /* one binary for Python 3.9 and everything after */
#endif
#include <Python.h>

#include "coforest_shard.h"

#include <string.h>

/* ---- call.c: what the library is lent while it works, and how its failures are raised ------------------- */

extern const cof_env core_env;

/* One call into the library with the interpreter let go. The callback may be NULL. */
typedef struct core_call {
    PyObject *callback;    /* called with the nine numbers of cof_progress; true ends the call */
    PyThreadState *thread; /* where the interpreter was let go */
    struct core_call *outer;
    double asked_s; /* when signals were last looked at */
    int stop;       /* the callback said so */
    int raised;     /* an exception waits in the thread state */
} core_call;

void core_begin(core_call *call, PyObject *callback);
/* Takes the interpreter back. 0: judge the status; -1: an exception is set, from a signal or a callback. */
int core_end(core_call *call);
/* In a callback of the library: takes the interpreter for a while, and lets it go again. */
void core_resume(core_call *call);
void core_leave(core_call *call);
/* Sets the exception that belongs to a status and gives NULL. self is the module or an object of its types. */
PyObject *core_raise(PyObject *self, cof_status status, const cof_error *err);
PyObject *core_none(PyObject *self, cof_status status, const cof_error *err); /* None, or raises */

/* ---- objects.c: what the module owns, and its types ------------------------------------------------------- */

typedef enum core_kind { CORE_TABLE, CORE_MODEL, CORE_SCHEMA, CORE_SHARD, CORE_N_KINDS } core_kind;

typedef struct core_state { /* every interpreter that imports the module has its own */
    PyObject *error, *io_error;
    PyTypeObject *type[CORE_N_KINDS];
} core_state;

typedef struct core_object {
    PyObject_HEAD core_kind kind;
    void *handle;     /* a cof_table, cof_model, cof_schema or cof_shard */
    PyObject *module; /* Python 3.9 leads from a type to no module */
    PyObject *kept;   /* NULL, or the object whose memory the handle reads */
} core_object;

core_state *core_state_of(PyObject *self);
/* Takes over the handle, also where it fails. */
PyObject *core_wrap(PyObject *module, core_kind kind, void *handle, PyObject *kept);
/* Ends a call that made a handle, and wraps it or raises. */
PyObject *core_finish(core_call *call, cof_status status, const cof_error *err, PyObject *module,
                      core_kind kind, void *handle);
/* What an object holds; raises TypeError and gives NULL where it is of another type. */
void *core_handle(PyObject *self, core_kind kind, PyObject *object);
int core_add_objects(PyObject *module);
int core_visit_objects(PyObject *module, visitproc visit, void *arg);
int core_clear_objects(PyObject *module);

/* ---- arrays.c: NumPy's arrays by their array interface, without its headers ------------------------------ */

typedef struct core_array {
    PyObject *owner; /* keeps the memory */
    char kind;       /* 'i', 'u', 'f', 'O', ... */
    int itemsize;
    int contiguous; /* in C order */
    Py_ssize_t n_dims, shape[2], stride[2];
    char *data;
} core_array;

enum { CORE_WRITABLE = 1, CORE_CONTIGUOUS = 2 };

/* kinds: those allowed, NULL for any; itemsize 0: any. Raises and gives -1 where it does not fit. */
int core_array_open(core_array *a, PyObject *object, const char *kinds, int itemsize, int n_dims, int flags);
void core_array_close(core_array *a);

/* ---- encode.c -------------------------------------------------------------------------------------------- */

extern const char core_encode_objects_doc[], core_encode_fixed_doc[];
PyObject *core_encode_objects(PyObject *self, PyObject *args);
PyObject *core_encode_fixed(PyObject *self, PyObject *args);

/* ---- fields.c -------------------------------------------------------------------------------------------- */

PyObject *core_result_field(const cof_model *model, const char *key); /* KeyError if there is no such field */
PyObject *core_result_dict(const cof_model *model, const cof_fit_info *info);

/* ---- What the library writes, in one piece of memory, for the caller to free; in model.c -------------------- */

typedef struct core_pieces {
    char *bytes;
    size_t n, room;
    int failed; /* there was no memory */
} core_pieces;

int core_collect(void *pieces, const char *text, size_t n_bytes); /* a cof_sink */

/* ---- table.c, model.c ------------------------------------------------------------------------------------- */

extern PyMethodDef core_table_functions[], core_table_methods[], core_model_functions[], core_model_methods[];
extern PyGetSetDef core_table_getset[], core_model_getset[];
/* Methods of tables and of schemas. */
PyObject *core_set_role(PyObject *self, PyObject *args);
PyObject *core_set_order(PyObject *self, PyObject *args);
PyObject *core_cut(PyObject *self, PyObject *args);
PyObject *core_column(PyObject *self, PyObject *arg);

/* ---- shards.c --------------------------------------------------------------------------------------------- */

extern PyMethodDef core_shard_functions[], core_schema_methods[], core_shard_methods[];
extern PyGetSetDef core_schema_getset[], core_shard_getset[];
/* How shards are asked: ask(request, sum) is called for every request, which may be that of several restarts. */
typedef struct core_asking {
    PyObject *ask;
    unsigned int together; /* as in cof_shards */
} core_asking;

/* Within a call. */
cof_status core_fit_shards(core_call *call, core_asking ask, const cof_schema *schema,
                           const cof_fit_options *options, unsigned int k_min, unsigned int k_max,
                           cof_model **model, cof_fit_info *info, cof_error *err);

#endif
