/* The fields of a result as Python objects, walked from the library's table of them. */
#include "core.h"

#include <string.h>

static PyObject *value_object(int32_t type, cof_field_value value)
{
    if (!value.known) Py_RETURN_NONE;
    if (type == COF_FIELD_REAL) return PyFloat_FromDouble(value.real);
    if (type == COF_FIELD_TEXT) return PyUnicode_FromString(value.text);
    if (type == COF_FIELD_FLAG) return PyBool_FromLong(value.count != 0);
    return PyLong_FromUnsignedLongLong(value.count);
}

/* Takes over the item. */
static int put_item(PyObject *dict, const char *key, PyObject *item)
{
    int failed = item == NULL || PyDict_SetItemString(dict, key, item) != 0;
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

/* One record of a list, or an object. */
static PyObject *members(const cof_model *model, const cof_fit_info *info, size_t list, size_t at)
{
    PyObject *dict = PyDict_New();
    const cof_field *member;
    for (size_t f = list + 1; dict != NULL && (member = cof_result_field(f)) != NULL; f++) {
        if (member->inside == NULL || strcmp(member->inside, cof_result_field(list)->key) != 0) break;
        if (cof_result_length(model, info, f) == 0) continue;
        PyObject *item = value_object(member->type, cof_result_value(model, info, f, at));
        if (put_item(dict, member->key, item) != 0) Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *field_object(const cof_model *model, const cof_fit_info *info, size_t f)
{
    const cof_field *field = cof_result_field(f);
    size_t n = cof_result_length(model, info, f);
    int records = field->type == COF_FIELD_RECORDS;
    if (field->type == COF_FIELD_OBJECT) return members(model, info, f, 0);
    if (!records && !field->per_cluster)
        return value_object(field->type, cof_result_value(model, info, f, 0));
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *item = records ? members(model, info, f, i)
                                 : value_object(field->type, cof_result_value(model, info, f, i));
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

PyObject *core_result_field(const cof_model *model, const char *key)
{
    const cof_field *field;
    for (size_t f = 0; (field = cof_result_field(f)) != NULL; f++) {
        if (field->inside != NULL || strcmp(field->key, key) != 0) continue;
        if (cof_result_length(model, NULL, f) == 0 && field->type != COF_FIELD_RECORDS) Py_RETURN_NONE;
        return field_object(model, NULL, f);
    }
    PyErr_SetString(PyExc_KeyError, key);
    return NULL;
}

/* Lists of records are left out: they may be long, and core_result_field gives them. */
PyObject *core_result_dict(const cof_model *model, const cof_fit_info *info)
{
    PyObject *dict = PyDict_New();
    const cof_field *field;
    for (size_t f = 0; dict != NULL && (field = cof_result_field(f)) != NULL; f++) {
        if (field->inside != NULL || field->type == COF_FIELD_RECORDS) continue;
        if (cof_result_length(model, info, f) == 0) continue;
        if (put_item(dict, field->key, field_object(model, info, f)) != 0) Py_CLEAR(dict);
    }
    if (dict != NULL && put_item(dict, "init", PyUnicode_FromString(cof_start_name((size_t)info->init))) != 0)
        Py_CLEAR(dict);
    return dict;
}
