/* coforest._core: unwrap, call, raise. Every function here turns Python arguments into those of one call of
 * coforest.h and its outcome into objects or an exception; what the call means is said there. */
#ifndef COFOREST_PYTHON_CORE_H
#define COFOREST_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000 /* one binary for Python 3.9 and everything after */
#include <Python.h>

#include "coforest_shard.h"

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
/* Sets the exception that belongs to a status and gives NULL. */
PyObject *core_raise(cof_status status, const cof_error *err);
int core_add_exceptions(PyObject *module);
/* tp_new of types that only this module makes. */
PyObject *core_refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords);

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

extern PyTypeObject *core_table_type, *core_model_type;
int core_add_table(PyObject *module);
int core_add_model(PyObject *module);
const cof_table *core_table_of(PyObject *object); /* raises TypeError and gives NULL */
PyObject *core_column_dict(const cof_table *table, size_t c, const cof_advice *advice);

/* The texts of a list, each in a bytes object. */
typedef struct core_texts {
    PyObject **bytes;
    const char **text;
    Py_ssize_t n;
} core_texts;

int core_texts_open(core_texts *t, PyObject *list); /* -1 with an exception set */
void core_texts_close(core_texts *t);

/* ---- shards.c --------------------------------------------------------------------------------------------- */

int core_add_shards(PyObject *module);
const cof_schema *core_schema_of(PyObject *object); /* raises TypeError and gives NULL */
/* Within a call. ask(request, sum) is called for every request. */
cof_status core_fit_shards(core_call *call, PyObject *ask, const cof_schema *schema,
                           const cof_fit_options *options, unsigned int k_min, unsigned int k_max,
                           cof_model **model, cof_fit_info *info, cof_error *err);

extern PyMethodDef core_table_functions[], core_model_functions[], core_shard_functions[];

#endif
