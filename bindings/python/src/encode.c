/* Columns of Python objects, and of fixed-width items, to codes in order of first appearance. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 64, REMEMBERED = 1024 };

const char core_encode_objects_doc[] =
    "encode_objects(values, codes) -> list of distinct objects; None and NaN get code -1";
const char core_encode_fixed_doc[] =
    "encode_fixed(values, codes) -> list of the rows where a value came first";

/* An open table from hashes to codes; what a code stands for is the caller's. */
typedef struct slot {
    uint64_t hash;
    int32_t code; /* -1: free */
} slot;

typedef struct code_set {
    slot *slots;
    size_t n_slots; /* a power of two */
    int32_t n_codes;
} code_set;

static slot *make_slots(size_t n)
{
    slot *slots = malloc(n * sizeof *slots);
    for (size_t s = 0; slots != NULL && s < n; s++) slots[s].code = -1;
    return slots;
}

static int set_open(code_set *set)
{
    *set = (code_set){.slots = make_slots(FIRST_SLOTS), .n_slots = FIRST_SLOTS};
    return set->slots != NULL ? 0 : -1;
}

static slot *free_slot(slot *slots, size_t n_slots, uint64_t hash)
{
    size_t s = (size_t)hash & (n_slots - 1);
    while (slots[s].code >= 0) s = (s + 1) & (n_slots - 1);
    return &slots[s];
}

/* Adds a hash that is not there under the next code; grows at two thirds. */
static int32_t set_add(code_set *set, uint64_t hash)
{
    if ((size_t)set->n_codes * 3 >= set->n_slots * 2) {
        size_t n = set->n_slots * 2;
        slot *slots = make_slots(n);
        if (slots == NULL || set->n_codes > INT32_MAX - 2) {
            free(slots);
            return -1;
        }
        for (size_t s = 0; s < set->n_slots; s++)
            if (set->slots[s].code >= 0) *free_slot(slots, n, set->slots[s].hash) = set->slots[s];
        free(set->slots);
        set->slots = slots;
        set->n_slots = n;
    }
    *free_slot(set->slots, set->n_slots, hash) = (slot){hash, set->n_codes};
    return set->n_codes++;
}

/* Python's hashes of small integers, and words with few bits, need spreading. */
static uint64_t mix(uint64_t h)
{
    h = (h ^ (h >> 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ (h >> 29);
}

/* ---- Objects ----------------------------------------------------------------------------------------- */

/* Most columns hold the same few objects over and over: an object met at this address is known unseen. */
typedef struct memory {
    PyObject *object;
    int32_t code;
} memory;

typedef struct object_encoder {
    code_set set;
    PyObject *distinct; /* list; owns what the codes stand for */
    memory known[REMEMBERED];
} object_encoder;

static int is_nan(PyObject *object)
{
    if (!PyFloat_Check(object)) return 0;
    double x = PyFloat_AsDouble(object);
    return x != x;
}

static int same_value(PyObject *a, PyObject *b)
{
    if (a == b) return 1;
    if (Py_TYPE(a) != Py_TYPE(b)) return 0; /* 1, True and 1.0 are told apart here */
    if (PyUnicode_CheckExact(a)) return PyUnicode_Compare(a, b) == 0;
    return PyObject_RichCompareBool(a, b, Py_EQ);
}

/* Code of an object that is not missing; -2 with an exception set. */
static int32_t object_code(object_encoder *e, PyObject *object)
{
    Py_hash_t hashed = PyObject_Hash(object);
    if (hashed == -1) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "argument must be a string or a number, not %R", Py_TYPE(object));
        return -2;
    }
    uint64_t hash = mix((uint64_t)hashed);
    size_t s = (size_t)hash & (e->set.n_slots - 1);
    for (; e->set.slots[s].code >= 0; s = (s + 1) & (e->set.n_slots - 1)) {
        if (e->set.slots[s].hash != hash) continue;
        int same = same_value(object, PyList_GetItem(e->distinct, e->set.slots[s].code));
        if (same < 0) return -2;
        if (same) return e->set.slots[s].code;
    }
    int32_t code = set_add(&e->set, hash);
    if (code < 0) {
        PyErr_NoMemory();
        return -2;
    }
    return PyList_Append(e->distinct, object) == 0 ? code : -2;
}

static int encode_object(object_encoder *e, PyObject *object, int32_t *code)
{
    memory *m = &e->known[((uintptr_t)object >> 4) % REMEMBERED];
    if (m->object != object) {
        int32_t found = -1;
        if (object != NULL && object != Py_None && !is_nan(object)) found = object_code(e, object);
        if (found == -2) return -1;
        *m = (memory){object, found};
    }
    *code = m->code;
    return 0;
}

PyObject *core_encode_objects(PyObject *self, PyObject *args)
{
    PyObject *values_arg, *codes_arg, *result = NULL;
    core_array values = {0}, codes = {0};
    object_encoder *e = calloc(1, sizeof *e);
    if (e == NULL) return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "OO", &values_arg, &codes_arg)) goto done;
    if (core_array_open(&values, values_arg, "O", 0, 1, 0) != 0) goto done;
    if (core_array_open(&codes, codes_arg, "i", 4, 1, CORE_WRITABLE | CORE_CONTIGUOUS) != 0) goto done;
    e->distinct = PyList_New(0);
    if (e->distinct == NULL) goto done;
    if (set_open(&e->set) != 0 || codes.shape[0] != values.shape[0]) {
        PyErr_NoMemory();
        goto done;
    }
    for (size_t m = 0; m < REMEMBERED; m++) e->known[m].code = -1; /* NumPy's NULL is None */
    const char *at = values.data;
    int32_t *out = (int32_t *)(void *)codes.data;
    for (Py_ssize_t i = 0; i < values.shape[0]; i++, at += values.stride[0]) {
        PyObject *object;
        memcpy(&object, at, sizeof object);
        if (encode_object(e, object, &out[i]) != 0) goto done;
    }
    result = e->distinct;
    e->distinct = NULL;
done:
    core_array_close(&values);
    core_array_close(&codes);
    Py_XDECREF(e->distinct);
    free(e->set.slots);
    free(e);
    return result;
}

/* ---- Items of fixed width ---------------------------------------------------------------------------- */

static uint64_t hash_item(const char *item, size_t n_bytes)
{
    uint64_t hash = n_bytes, word;
    for (; n_bytes >= sizeof word; item += sizeof word, n_bytes -= sizeof word) {
        memcpy(&word, item, sizeof word);
        hash = mix(hash ^ word);
    }
    word = 0;
    memcpy(&word, item, n_bytes);
    return mix(hash ^ word);
}

typedef struct item_encoder {
    code_set set;
    Py_ssize_t *first; /* row where the code's item came first */
    size_t room;
} item_encoder;

static int32_t add_item(item_encoder *e, uint64_t hash, Py_ssize_t i)
{
    if ((size_t)e->set.n_codes == e->room) {
        size_t room = e->room == 0 ? FIRST_SLOTS : e->room * 2;
        Py_ssize_t *first = realloc(e->first, room * sizeof *first);
        if (first == NULL) return -1;
        e->first = first;
        e->room = room;
    }
    int32_t code = set_add(&e->set, hash);
    if (code >= 0) e->first[code] = i;
    return code;
}

static int encode_items(item_encoder *e, const core_array *values, int32_t *codes)
{
    size_t n_bytes = (size_t)values->itemsize;
    for (Py_ssize_t i = 0; i < values->shape[0]; i++) {
        const char *item = values->data + i * values->stride[0];
        uint64_t hash = hash_item(item, n_bytes);
        size_t s = (size_t)hash & (e->set.n_slots - 1);
        for (; e->set.slots[s].code >= 0; s = (s + 1) & (e->set.n_slots - 1)) {
            const slot *at = &e->set.slots[s];
            if (at->hash == hash &&
                memcmp(item, values->data + e->first[at->code] * values->stride[0], n_bytes) == 0)
                break;
        }
        codes[i] = e->set.slots[s].code >= 0 ? e->set.slots[s].code : add_item(e, hash, i);
        if (codes[i] < 0) return -1;
    }
    return 0;
}

PyObject *core_encode_fixed(PyObject *self, PyObject *args)
{
    PyObject *values_arg, *codes_arg, *result = NULL;
    core_array values = {0}, codes = {0};
    item_encoder e = {0};
    int failed;
    if (!PyArg_ParseTuple(args, "OO", &values_arg, &codes_arg)) return NULL;
    if (core_array_open(&values, values_arg, "biufcUSMm", 0, 1, 0) != 0) goto done;
    if (core_array_open(&codes, codes_arg, "i", 4, 1, CORE_WRITABLE | CORE_CONTIGUOUS) != 0) goto done;
    if (set_open(&e.set) != 0 || codes.shape[0] != values.shape[0]) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS failed = encode_items(&e, &values, (int32_t *)(void *)codes.data);
    Py_END_ALLOW_THREADS if (failed)
    {
        PyErr_NoMemory();
        goto done;
    }
    result = PyList_New(e.set.n_codes);
    for (int32_t c = 0; result != NULL && c < e.set.n_codes; c++) {
        PyObject *row = PyLong_FromSsize_t(e.first[c]);
        if (row == NULL || PyList_SetItem(result, c, row) != 0) Py_CLEAR(result);
    }
done:
    core_array_close(&values);
    core_array_close(&codes);
    free(e.set.slots);
    free(e.first);
    return result;
}
