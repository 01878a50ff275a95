/* NumPy's `__array_struct__`: where an array lies and how. The stable ABI of Python 3.9 has no buffer protocol,
 * and NumPy's own headers would tie the binary to a NumPy. */
#include "core.h"

#include <string.h>

enum { IS_ALIGNED = 0x100, IS_NATIVE = 0x200, IS_WRITABLE = 0x400 };

typedef struct array_interface { /* as published in NumPy's documentation */
    int two;
    int nd;
    char typekind;
    int itemsize;
    int flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *descr;
} array_interface;

static int refuse(const char *why)
{
    PyErr_Format(PyExc_TypeError, "coforest._core: the array %s", why);
    return -1;
}

static int fits(const core_array *a, const array_interface *f, const char *kinds, int itemsize, int n_dims,
                int flags)
{
    if (f->two != 2) return refuse("has an unknown interface version");
    if (f->nd != n_dims) return refuse("has the wrong number of dimensions");
    if (kinds != NULL && strchr(kinds, f->typekind) == NULL) return refuse("has the wrong kind of items");
    if (itemsize != 0 && f->itemsize != itemsize) return refuse("has items of the wrong size");
    if (!(f->flags & IS_NATIVE) || !(f->flags & IS_ALIGNED)) return refuse("is not aligned and native");
    if (flags & CORE_WRITABLE && !(f->flags & IS_WRITABLE)) return refuse("is read-only");
    if (flags & CORE_CONTIGUOUS && !a->contiguous) return refuse("is not contiguous");
    return 0;
}

int core_array_open(core_array *a, PyObject *object, const char *kinds, int itemsize, int n_dims, int flags)
{
    *a = (core_array){0};
    PyObject *capsule = PyObject_GetAttrString(object, "__array_struct__");
    if (capsule == NULL) return -1;
    const array_interface *f = PyCapsule_GetPointer(capsule, NULL);
    if (f == NULL) {
        Py_DECREF(capsule);
        return -1;
    }
    Py_ssize_t step = f->itemsize;
    a->contiguous = 1;
    for (int d = f->nd - 1; d >= 0; d--) {
        if (f->shape[d] > 1 && f->strides[d] != step) a->contiguous = 0;
        step *= f->shape[d];
    }
    if (fits(a, f, kinds, itemsize, n_dims, flags) != 0) {
        Py_DECREF(capsule);
        return -1;
    }
    a->kind = f->typekind;
    a->itemsize = f->itemsize;
    a->n_dims = f->nd;
    for (int d = 0; d < f->nd && d < 2; d++) {
        a->shape[d] = f->shape[d];
        a->stride[d] = f->strides[d];
    }
    a->data = f->data;
    a->owner = capsule; /* holds the array */
    return 0;
}

void core_array_close(core_array *a)
{
    Py_CLEAR(a->owner);
}
