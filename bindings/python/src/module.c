/* The module: names for the header's numbers, and the functions of the other files. */
#include "core.h"

static PyMethodDef own_functions[] = {
    {"encode_objects", core_encode_objects, METH_VARARGS, core_encode_objects_doc},
    {"encode_fixed", core_encode_fixed, METH_VARARGS, core_encode_fixed_doc},
    {NULL, NULL, 0, NULL}};

static int add_dict(PyObject *module, const char *name, PyObject *dict)
{
    if (dict != NULL && PyModule_AddObject(module, name, dict) == 0) return 0;
    Py_XDECREF(dict);
    return -1;
}

/* What the library says of its options, for checks and for lists of words. */
static PyObject *fit_options(void)
{
    static const char *const types[] = {[COF_OPTION_COUNT] = "count",
                                        [COF_OPTION_NUMBER] = "number",
                                        [COF_OPTION_REAL] = "real",
                                        [COF_OPTION_WORD] = "word",
                                        [COF_OPTION_NAME] = "name"};
    PyObject *dict = PyDict_New();
    const cof_option *o;
    for (size_t i = 0; dict != NULL && (o = cof_fit_option(i)) != NULL; i++) {
        PyObject *words = PyList_New(0);
        cof_word word;
        for (size_t w = 0; words != NULL && (word = cof_fit_option_word(i, w)).name != NULL; w++) {
            PyObject *name = PyUnicode_FromString(word.name);
            if (name == NULL || PyList_Append(words, name) != 0) Py_CLEAR(words);
            Py_XDECREF(name);
        }
        PyObject *about = words == NULL
                              ? NULL
                              : Py_BuildValue("{s:s,s:d,s:d,s:N,s:s}", "type", types[o->type], "least",
                                              o->least, "most", o->most, "words", words, "about", o->about);
        PyObject *dashed = PyUnicode_FromString(o->name);
        PyObject *name = dashed == NULL ? NULL : PyObject_CallMethod(dashed, "replace", "ss", "-", "_");
        if (about == NULL || name == NULL || PyDict_SetItem(dict, name, about) != 0) Py_CLEAR(dict);
        Py_XDECREF(about);
        Py_XDECREF(dashed);
        Py_XDECREF(name);
    }
    return dict;
}

/* The words of the command line for the header's numbers. */
static int add_names(PyObject *module)
{
    if (add_dict(module, "FIT_OPTIONS", fit_options()) != 0 ||
        add_dict(module, "ROLES",
                 Py_BuildValue("{s:i,s:i,s:i,s:i,s:i,s:i}", "attribute", COF_ROLE_ATTRIBUTE, "label",
                               COF_ROLE_LABEL, "identifier", COF_ROLE_IDENTIFIER, "weight", COF_ROLE_WEIGHT,
                               "ignored", COF_ROLE_IGNORED, "numeric", COF_ROLE_NUMERIC)) != 0 ||
        add_dict(module, "KINDS",
                 Py_BuildValue("{s:i,s:i,s:i,s:i}", "category", COF_KIND_CATEGORY, "quantity",
                               COF_KIND_QUANTITY, "identifier", COF_KIND_IDENTIFIER, "constant",
                               COF_KIND_CONSTANT)) != 0 ||
        add_dict(module, "PHASES",
                 Py_BuildValue("{i:s,i:s,i:s}", COF_PHASE_READ, "read", COF_PHASE_START, "start",
                               COF_PHASE_FIT, "fit")) != 0)
        return -1;
    if (add_dict(module, "RULES",
                 Py_BuildValue("{s:i,s:i,s:i,s:i}", "numeric", COF_RULE_NUMERIC, "categorical",
                               COF_RULE_CATEGORICAL, "cut", COF_RULE_CUT, "ordinal", COF_RULE_ORDINAL)) !=
            0 ||
        add_dict(module, "QUANTITIES",
                 Py_BuildValue("{s:i,s:i,s:i}", "cut", COF_QUANTITIES_CUT, "scaled", COF_QUANTITIES_SCALED,
                               "values", COF_QUANTITIES_VALUES)) != 0 ||
        PyModule_AddIntConstant(module, "TREAT_BINS", COF_TREAT_BINS) != 0 ||
        PyModule_AddIntConstant(module, "TREAT_NUMBERS", COF_TREAT_NUMBERS) != 0)
        return -1;
    return add_dict(module, "DRAWINGS",
                    Py_BuildValue("{s:i,s:i,s:i,s:i}", "text", COF_DRAW_TEXT, "dot", COF_DRAW_DOT, "svg",
                                  COF_DRAW_SVG, "json", COF_DRAW_JSON));
}

static int fill(PyObject *module)
{
    if (PyModule_AddFunctions(module, own_functions) != 0 ||
        PyModule_AddFunctions(module, core_table_functions) != 0 ||
        PyModule_AddFunctions(module, core_model_functions) != 0 ||
        PyModule_AddFunctions(module, core_shard_functions) != 0 || core_add_objects(module) != 0 ||
        add_names(module) != 0 || PyModule_AddIntConstant(module, "ERR_FEW_ROWS", COF_ERR_FEW_ROWS) != 0)
        return -1;
    if (PyModule_AddStringConstant(module, "version", cof_version()) != 0) return -1;
    return PyModule_AddStringConstant(module, "build_info", cof_build_info());
}

static void free_module(void *module)
{
    core_clear_objects(module);
}

/* Handles of the library are read from many threads or changed from one, and only the thread that makes a table or
 * schema changes it, so that no lock is needed. */
static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "coforest._core",       .m_size = sizeof(core_state),
    .m_slots = slots,      .m_traverse = core_visit_objects, .m_clear = core_clear_objects,
    .m_free = free_module};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
