/* Fitting, and everything a model can be asked. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const cof_model *model_of(PyObject *self)
{
    return ((core_object *)self)->handle;
}

/* ---- Fitting ----------------------------------------------------------------------------------------- */

/* k 0: to be found, from k_min to k_max. */
static PyObject *run_fit(PyObject *self, const cof_table *table, const cof_schema *schema, core_asking ask,
                         const cof_fit_options *options, unsigned int k_min, unsigned int k_max,
                         PyObject *callback)
{
    core_call call;
    cof_error err = {{0}};
    cof_model *model = NULL;
    cof_fit_info info = {.struct_size = sizeof info};
    core_begin(&call, callback);
    cof_status status = schema != NULL
                            ? core_fit_shards(&call, ask, schema, options, k_min, k_max, &model, &info, &err)
                        : options->k > 0 ? cof_fit(table, options, &model, &info, &err)
                                         : cof_fit_auto(table, options, k_min, k_max, &model, &info, &err);
    if (core_end(&call) != 0) {
        if (status == COF_OK) cof_model_free(model);
        return NULL;
    }
    if (status != COF_OK) return core_raise(self, status, &err);
    PyObject *wrapped = core_wrap(self, CORE_MODEL, model, NULL);
    if (wrapped == NULL) return NULL;
    return Py_BuildValue("NN", wrapped, core_result_dict(model, &info));
}

/* The place of a word of the library's option; -1: it has no such word. */
static int word_place(size_t option, PyObject *value)
{
    const char *name;
    if (!PyUnicode_Check(value)) return -1;
    for (int i = 0; (name = cof_fit_option_word(option, (size_t)i).name) != NULL; i++)
        if (PyUnicode_CompareWithASCIIString(value, name) == 0) return i;
    return -1;
}

/* Raises what the library says of a word that it does not know. */
static void raise_word(PyObject *self, const char *name, PyObject *value)
{
    cof_error err = {{0}};
    PyObject *text = PyObject_Str(value), *bytes = text != NULL ? PyUnicode_AsUTF8String(text) : NULL;
    if (bytes != NULL) {
        snprintf(err.text, sizeof err.text, "there is no %s '%.200s'", name, PyBytes_AsString(bytes));
        core_raise(self, COF_ERR_ARGUMENT, &err);
    }
    Py_XDECREF(bytes);
    Py_XDECREF(text);
}

/* Sets a member of cof_fit_options, or an exception. */
static void set_option(PyObject *self, cof_fit_options *options, size_t place, PyObject *value)
{
    const cof_option *option = cof_fit_option(place);
    char *member = (char *)options + option->offset;
    int word = word_place(place, value), takes_words = cof_fit_option_word(place, 0).name != NULL;
    int32_t number = word;
    double real = -1 - word;
    if (word < 0 && takes_words && (PyUnicode_Check(value) || option->type != COF_OPTION_REAL)) {
        raise_word(self, option->name, value);
    } else if (option->type == COF_OPTION_COUNT) {
        uint32_t count = (uint32_t)PyLong_AsUnsignedLong(value);
        memcpy(member, &count, sizeof count);
    } else if (option->type == COF_OPTION_NUMBER) {
        uint64_t large = PyLong_AsUnsignedLongLong(value);
        memcpy(member, &large, sizeof large);
    } else if (option->type == COF_OPTION_REAL) {
        if (word < 0) real = PyFloat_AsDouble(value);
        memcpy(member, &real, sizeof real);
    } else if (option->type == COF_OPTION_WORD) {
        memcpy(member, &number, sizeof number);
    } else {
        const char *name = cof_fit_option_word(place, (size_t)word).name;
        memcpy(member, &name, sizeof name);
    }
}

/* The library's option that a keyword names, with _ for -; SIZE_MAX: none. */
static size_t option_of(PyObject *keyword)
{
    const cof_option *option;
    for (size_t i = 0; (option = cof_fit_option(i)) != NULL; i++) {
        char name[64];
        size_t n = 0;
        for (; option->name[n] != '\0' && n + 1 < sizeof name; n++)
            name[n] = option->name[n] == '-' ? '_' : option->name[n];
        name[n] = '\0';
        if (PyUnicode_CompareWithASCIIString(keyword, name) == 0) return i;
    }
    return SIZE_MAX;
}

/* Moves the keywords that are options of the library out of `keywords`, into *options. */
static int take_options(PyObject *self, PyObject *keywords, cof_fit_options *options)
{
    PyObject *names = PyDict_Keys(keywords);
    for (Py_ssize_t i = 0; names != NULL && i < PyList_Size(names) && !PyErr_Occurred(); i++) {
        PyObject *name = PyList_GetItem(names, i);
        size_t place = option_of(name);
        if (place == SIZE_MAX) continue;
        set_option(self, options, place, PyDict_GetItem(keywords, name));
        if (!PyErr_Occurred()) PyDict_DelItem(keywords, name);
    }
    Py_XDECREF(names);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *core_fit(PyObject *self, PyObject *args, PyObject *given)
{
    static char *names[] = {"table", "k",     "init_rows", "weights",  "column_weights", "callback",
                            "k_min", "k_max", "ask",       "together", "start",          NULL};
    PyObject *table_arg, *rows_arg = Py_None, *weights_arg = Py_None, *callback = Py_None,
                         *columns_arg = Py_None, *ask = Py_None, *start_arg = Py_None, *result = NULL;
    unsigned int k = 0, k_min = 0, k_max = 0, together = 0;
    core_array rows = {0}, weights = {0}, columns = {0}, start = {0};
    cof_fit_options options = {.struct_size = sizeof options, .seed = 1};
    PyObject *keywords = given != NULL ? PyDict_Copy(given) : PyDict_New();
    if (keywords == NULL || take_options(self, keywords, &options) != 0 ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "OI|OOOOIIOIO", names, &table_arg, &k, &rows_arg,
                                     &weights_arg, &columns_arg, &callback, &k_min, &k_max, &ask, &together,
                                     &start_arg))
        goto done;
    options.k = k;
    /* With ask, rows are elsewhere and the first argument is their schema. */
    const cof_schema *schema = ask != Py_None ? core_handle(self, CORE_SCHEMA, table_arg) : NULL;
    const cof_table *table = ask == Py_None   ? core_handle(self, CORE_TABLE, table_arg)
                             : schema != NULL ? cof_schema_table(schema)
                                              : NULL;
    if (table == NULL) goto done;
    if (rows_arg != Py_None && core_array_open(&rows, rows_arg, "u", 8, 1, CORE_CONTIGUOUS) != 0) goto done;
    if (weights_arg != Py_None && core_array_open(&weights, weights_arg, "f", 8, 1, CORE_CONTIGUOUS) != 0)
        goto done;
    if (columns_arg != Py_None && core_array_open(&columns, columns_arg, "f", 8, 1, CORE_CONTIGUOUS) != 0)
        goto done;
    if (columns.owner != NULL && columns.shape[0] != (Py_ssize_t)cof_table_n_columns(table)) {
        PyErr_SetString(PyExc_ValueError, "column_weights needs one number per column");
        goto done;
    }
    if ((rows.owner != NULL && rows.shape[0] != (Py_ssize_t)k) ||
        (weights.owner != NULL && weights.shape[0] != (Py_ssize_t)cof_table_n_rows(table))) {
        PyErr_SetString(PyExc_ValueError, "init needs one row per cluster, sample_weight one number per row");
        goto done;
    }
    if (start_arg != Py_None && core_array_open(&start, start_arg, "f", 8, 1, CORE_CONTIGUOUS) != 0)
        goto done;
    options.init_probabilities = (const double *)(const void *)start.data;
    options.n_init_probabilities = start.owner != NULL ? (size_t)start.shape[0] : 0;
    options.init_rows = (const uint64_t *)(const void *)rows.data;
    options.weights = (const double *)(const void *)weights.data;
    options.column_weights = (const double *)(const void *)columns.data;
    result = run_fit(self, table, schema, (core_asking){ask, together}, &options, k_min, k_max, callback);
done:
    core_array_close(&rows);
    core_array_close(&weights);
    core_array_close(&columns);
    core_array_close(&start);
    Py_XDECREF(keywords);
    return result;
}

/* ---- Predicting -------------------------------------------------------------------------------------- */

static PyObject *model_predict(PyObject *self, PyObject *args)
{
    PyObject *table_arg, *array;
    unsigned int threads = 0;
    core_array out;
    if (!PyArg_ParseTuple(args, "OIO", &table_arg, &threads, &array)) return NULL;
    const cof_table *table = core_handle(self, CORE_TABLE, table_arg);
    if (table == NULL) return NULL;
    if (core_array_open(&out, array, "i", 4, 1, CORE_WRITABLE | CORE_CONTIGUOUS) != 0) return NULL;
    core_call call;
    cof_error err = {{0}};
    cof_predict_info info = {.struct_size = sizeof info};
    core_begin(&call, NULL);
    cof_status status = cof_model_predict(model_of(self), table, threads, (int32_t *)(void *)out.data,
                                          (size_t)out.shape[0], &info, &err);
    int raised = core_end(&call);
    core_array_close(&out);
    if (raised) return NULL;
    if (status != COF_OK) return core_raise(self, status, &err);
    return Py_BuildValue("{s:K,s:K,s:K}", "n_unseen_cells", (unsigned long long)info.n_unseen_cells,
                         "n_unseen_rows", (unsigned long long)info.n_unseen_rows, "n_dropped",
                         (unsigned long long)info.n_dropped);
}

static PyObject *model_transform(PyObject *self, PyObject *args)
{
    PyObject *table_arg, *array;
    core_array out;
    unsigned int threads;
    if (!PyArg_ParseTuple(args, "OIO", &table_arg, &threads, &array)) return NULL;
    const cof_table *table = core_handle(self, CORE_TABLE, table_arg);
    if (table == NULL) return NULL;
    if (core_array_open(&out, array, "f", 8, 2, CORE_WRITABLE | CORE_CONTIGUOUS) != 0) return NULL;
    core_call call;
    cof_error err = {{0}};
    core_begin(&call, NULL);
    cof_status status = cof_model_transform(model_of(self), table, threads, (double *)(void *)out.data,
                                            (size_t)(out.shape[0] * out.shape[1]), &err);
    int raised = core_end(&call);
    core_array_close(&out);
    if (raised) return NULL;
    return core_none(self, status, &err);
}

/* Own distance, that to the next cluster, and lead of every row, and that cluster. */
static cof_status rate_rows(const cof_model *model, const cof_table *table, unsigned int threads,
                            double *memberships, double *log_likelihoods, cof_error *err)
{
    cof_posterior *posterior = NULL;
    cof_status status = cof_posterior_open(model, table, threads, &posterior, err);
    if (status == COF_OK)
        status = cof_posterior_rows(posterior, 0, cof_table_n_rows(table), memberships, log_likelihoods, err);
    cof_posterior_free(posterior);
    return status;
}

static PyObject *model_rate(PyObject *self, PyObject *args)
{
    PyObject *table_arg, *shares_arg, *scores_arg;
    core_array shares = {0}, scores = {0};
    unsigned int threads;
    if (!PyArg_ParseTuple(args, "OIOO", &table_arg, &threads, &shares_arg, &scores_arg)) return NULL;
    const cof_table *table = core_handle(self, CORE_TABLE, table_arg);
    if (table == NULL) return NULL;
    const int flags = CORE_WRITABLE | CORE_CONTIGUOUS;
    Py_ssize_t n = (Py_ssize_t)cof_table_n_rows(table), k = (Py_ssize_t)cof_model_k(model_of(self));
    if (core_array_open(&shares, shares_arg, "f", 8, 2, flags) != 0 ||
        core_array_open(&scores, scores_arg, "f", 8, 1, flags) != 0) {
        core_array_close(&shares);
        return NULL;
    }
    core_call call;
    cof_error err = {{0}};
    cof_status status = COF_ERR_ARGUMENT;
    core_begin(&call, NULL);
    if (shares.shape[0] == n && shares.shape[1] == k && scores.shape[0] == n)
        status = rate_rows(model_of(self), table, threads, (double *)(void *)shares.data,
                           (double *)(void *)scores.data, &err);
    int raised = core_end(&call);
    core_array_close(&shares);
    core_array_close(&scores);
    if (raised) return NULL;
    return core_none(self, status, &err);
}

static PyObject *model_criteria(PyObject *self, PyObject *args)
{
    PyObject *table_arg, *weights_arg;
    core_array weights = {0};
    unsigned int threads;
    if (!PyArg_ParseTuple(args, "OIO", &table_arg, &threads, &weights_arg)) return NULL;
    const cof_table *table = core_handle(self, CORE_TABLE, table_arg);
    if (table == NULL) return NULL;
    if (weights_arg != Py_None && core_array_open(&weights, weights_arg, "f", 8, 1, CORE_CONTIGUOUS) != 0)
        return NULL;
    core_call call;
    cof_error err = {{0}};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_status status = COF_ERR_ARGUMENT;
    core_begin(&call, NULL);
    if (weights.owner == NULL || weights.shape[0] == (Py_ssize_t)cof_table_n_rows(table))
        status = cof_model_criteria(model_of(self), table, (const double *)(const void *)weights.data,
                                    threads, &info, &err);
    int raised = core_end(&call);
    core_array_close(&weights);
    if (raised) return NULL;
    if (status != COF_OK) return core_raise(self, status, &err);
    return Py_BuildValue("{sdsdsdsdsdsdsdsdsdsdsdsdsdsK}", "log_likelihood", info.mixture_log_likelihood,
                         "n_parameters", info.n_parameters, "bic", info.bic, "aic", info.aic, "icl", info.icl,
                         "aic3", info.aic3, "bic_adjusted", info.bic_adjusted, "entropy_r_squared",
                         info.entropy_r_squared, "g_squared", info.g_squared, "x_squared", info.x_squared,
                         "df", info.df, "p_g_squared", info.p_g_squared, "p_x_squared", info.p_x_squared,
                         "n_shared", (unsigned long long)info.n_shared);
}

/* Appends a new number; -1 after a failure. */
static int add_number(PyObject *list, double x)
{
    PyObject *number = PyFloat_FromDouble(x);
    int failed = list == NULL || number == NULL || PyList_Append(list, number) != 0;
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

/* The parameters of classes and what is known of them: share, share_error, probability and probability_error (k x values
 * of every attribute in turn), residual (attributes x attributes), and cell (row, observed, expected of each). */
static PyObject *model_classes(PyObject *self, PyObject *args)
{
    enum { SHARE, SHARE_ERROR, PROBABILITY, PROBABILITY_ERROR, RESIDUAL, CELL, N };
    static const char *const keys[N] = {"share",    "share_error", "probability", "probability_error",
                                        "residual", "cell"};
    const cof_model *model = model_of(self);
    PyObject *table_arg, *weights_arg, *list[N] = {NULL}, *result = NULL;
    core_array weights = {0};
    cof_class_study *study = NULL;
    cof_error err = {{0}};
    size_t n = cof_model_n_attributes(model), n_cells = 0;
    uint32_t k = cof_model_k(model);
    int failed = 0;
    if (!PyArg_ParseTuple(args, "OO", &table_arg, &weights_arg)) return NULL;
    if (table_arg != Py_None) {
        const cof_table *table = core_handle(self, CORE_TABLE, table_arg);
        if (table == NULL) return NULL;
        if (weights_arg != Py_None && core_array_open(&weights, weights_arg, "f", 8, 1, CORE_CONTIGUOUS) != 0)
            return NULL;
        cof_status status =
            weights.owner != NULL && weights.shape[0] != (Py_ssize_t)cof_table_n_rows(table)
                ? COF_ERR_ARGUMENT
                : cof_class_study_open(model, table, (const double *)(const void *)weights.data,
                                       COF_STUDY_ERRORS | COF_STUDY_RESIDUALS, &study, &err);
        core_array_close(&weights);
        if (status != COF_OK) return core_raise(self, status, &err);
    }
    for (int i = 0; i < N; i++) failed |= (list[i] = PyList_New(0)) == NULL;
    for (uint32_t j = 0; j < k && !failed; j++) {
        failed |= add_number(list[SHARE], cof_model_class_share(model, j));
        if (study != NULL) failed |= add_number(list[SHARE_ERROR], cof_class_study_share_error(study, j));
    }
    for (size_t a = 0; a < n && !failed; a++) {
        cof_attribute about = {.struct_size = sizeof about};
        failed |= cof_model_attribute(model, a, &about) != COF_OK;
        for (uint32_t j = 0; j < k && !failed; j++)
            for (uint32_t v = 0; v < about.n_values; v++) {
                failed |= add_number(list[PROBABILITY], cof_model_class_probability(model, a, v, j));
                if (study != NULL)
                    failed |= add_number(list[PROBABILITY_ERROR],
                                         cof_class_study_probability_error(study, a, v, j));
            }
        for (size_t b = 0; study != NULL && b < n && !failed; b++)
            failed |= add_number(list[RESIDUAL], cof_class_study_residual(study, a, b));
    }
    const cof_class_cell *cell = study != NULL ? cof_class_study_cells(study, &n_cells) : NULL;
    for (size_t c = 0; c < n_cells && !failed; c++)
        failed |= add_number(list[CELL], (double)cell[c].row) | add_number(list[CELL], cell[c].observed) |
                  add_number(list[CELL], cell[c].expected);
    cof_class_study_free(study);
    if (!failed) result = PyDict_New();
    for (int i = 0; i < N; i++) {
        if (result != NULL && PyDict_SetItemString(result, keys[i], list[i]) != 0) Py_CLEAR(result);
        Py_XDECREF(list[i]);
    }
    return result;
}

static cof_status measure_margins(const cof_model *model, const cof_table *table, unsigned int threads,
                                  const core_array *labels, const core_array *out, const core_array *next,
                                  cof_error *err)
{
    size_t n = cof_table_n_rows(table);
    cof_margin *margin = malloc((n + 1) * sizeof *margin);
    double(*row)[3] = (double(*)[3])(void *)out->data;
    int32_t *second = (int32_t *)(void *)next->data;
    if (margin == NULL) return COF_ERR_MEMORY;
    cof_status status =
        cof_model_margins(model, table, (const int32_t *)(void *)labels->data, threads, margin, n, err);
    for (size_t i = 0; status == COF_OK && i < n; i++) {
        row[i][0] = (double)margin[i].own;
        row[i][1] = (double)margin[i].other;
        row[i][2] = isnan(margin[i].own) ? (double)NAN : cof_margin_lead(&margin[i]);
        second[i] = margin[i].second;
    }
    free(margin);
    return status;
}

static PyObject *model_margins(PyObject *self, PyObject *args)
{
    PyObject *table_arg, *labels_arg, *out_arg, *next_arg;
    unsigned int threads = 0;
    core_array labels = {0}, out = {0}, next = {0};
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "OIOOO", &table_arg, &threads, &labels_arg, &out_arg, &next_arg)) return NULL;
    const cof_table *table = core_handle(self, CORE_TABLE, table_arg);
    if (table == NULL) return NULL;
    Py_ssize_t n = (Py_ssize_t)cof_table_n_rows(table);
    cof_status status = COF_ERR_ARGUMENT;
    int raised = core_array_open(&labels, labels_arg, "i", 4, 1, CORE_CONTIGUOUS) != 0 ||
                 core_array_open(&out, out_arg, "f", 8, 2, CORE_WRITABLE | CORE_CONTIGUOUS) != 0 ||
                 core_array_open(&next, next_arg, "i", 4, 1, CORE_WRITABLE | CORE_CONTIGUOUS) != 0;
    if (!raised && (labels.shape[0] != n || out.shape[0] != n || out.shape[1] != 3 || next.shape[0] != n)) {
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit the table");
        raised = 1;
    }
    if (!raised) {
        core_call call;
        core_begin(&call, NULL);
        status = measure_margins(model_of(self), table, threads, &labels, &out, &next, &err);
        raised = core_end(&call);
    }
    core_array_close(&labels);
    core_array_close(&out);
    core_array_close(&next);
    if (raised) return NULL;
    return core_none(self, status, &err);
}

/* ---- Asking ------------------------------------------------------------------------------------------ */

/* 0, or -1 with an exception set. */
static int copy_labels(const cof_model *model, PyObject *array)
{
    size_t n = 0;
    core_array out;
    const int32_t *labels = cof_model_labels(model, &n);
    if (core_array_open(&out, array, "i", 4, 1, CORE_WRITABLE | CORE_CONTIGUOUS) != 0) return -1;
    int fits = labels != NULL && out.shape[0] == (Py_ssize_t)n;
    if (fits) memcpy(out.data, labels, n * sizeof *labels);
    core_array_close(&out);
    if (fits) return 0;
    PyErr_SetString(PyExc_ValueError, "the model has no labels, or the array does not fit them");
    return -1;
}

/* The request with which shards give labels. */
static PyObject *model_label_request(PyObject *self, PyObject *unused)
{
    (void)unused;
    size_t n = 0;
    const void *request = cof_model_label_request(model_of(self), &n);
    if (request != NULL) return PyBytes_FromStringAndSize(request, (Py_ssize_t)n);
    Py_RETURN_NONE;
}

static PyObject *model_labels(PyObject *self, PyObject *array)
{
    if (copy_labels(model_of(self), array) != 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *doubles(const double *x, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *item = PyFloat_FromDouble(x[i]);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *model_alternative(PyObject *self, PyObject *args)
{
    unsigned int number = 0;
    PyObject *array = NULL;
    if (!PyArg_ParseTuple(args, "IO", &number, &array)) return NULL;
    const cof_alternative *other = cof_model_alternative(model_of(self), number);
    if (other == NULL) {
        PyErr_SetString(PyExc_IndexError, "the model has no such alternative");
        return NULL;
    }
    if (copy_labels(other->model, array) != 0) return NULL;
    return doubles(cof_model_sizes(other->model), cof_model_k(other->model));
}

static PyObject *model_values(const cof_model *model, size_t r, uint32_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (uint32_t v = 0; list != NULL && v < n; v++) {
        const char *text = cof_model_value(model, r, v);
        PyObject *item = PyUnicode_FromString(text != NULL ? text : "");
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)v, item) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *model_edges(const cof_model *model, size_t r)
{
    size_t n = 0;
    const cof_edge *edge = cof_model_edges(model, r, &n);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *item = Py_BuildValue("IId", edge[i].u, edge[i].v, edge[i].length);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

static int attribute_index(PyObject *arg, const cof_model *model, size_t *r)
{
    *r = PyLong_AsSize_t(arg);
    if (PyErr_Occurred()) return -1;
    if (*r < cof_model_n_attributes(model)) return 0;
    PyErr_SetString(PyExc_IndexError, "there is no such attribute");
    return -1;
}

/* Where a quantity was cut; None for categories. */
static PyObject *model_cut(const cof_model *model, size_t r)
{
    size_t n = 0;
    const double *edge = cof_model_cut(model, r, &n);
    if (edge == NULL) Py_RETURN_NONE;
    return doubles(edge, n);
}

/* Least, quartiles and greatest of a quantity in every cluster; None for categories. */
static PyObject *model_five(const cof_model *model, size_t r)
{
    uint32_t k = cof_model_k(model);
    if (cof_model_five(model, r, 0) == NULL) Py_RETURN_NONE;
    PyObject *list = PyList_New(k);
    for (uint32_t j = 0; list != NULL && j < k; j++) {
        PyObject *five = doubles(cof_model_five(model, r, j), COF_N_FIVE);
        if (five == NULL || PyList_SetItem(list, j, five) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *model_attribute(PyObject *self, PyObject *arg)
{
    const cof_model *model = model_of(self);
    cof_attribute view = {.struct_size = sizeof view};
    size_t r;
    if (attribute_index(arg, model, &r) != 0) return NULL;
    cof_status status = cof_model_attribute(model, r, &view);
    if (status != COF_OK) return core_raise(self, status, NULL);
    return Py_BuildValue("{s:s,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "name", view.name, "used",
                         PyBool_FromLong(view.used), "ordinal", PyBool_FromLong(view.ordinal), "has_missing",
                         PyBool_FromLong(view.has_missing), "values", model_values(model, r, view.n_values),
                         "edges", model_edges(model, r), "cut_at", model_cut(model, r), "five",
                         model_five(model, r));
}

static PyObject *unseen_list(const cof_unseen *list, size_t n)
{
    PyObject *result = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; result != NULL && i < n; i++) {
        PyObject *item =
            Py_BuildValue("nziK", (Py_ssize_t)list[i].attribute, list[i].missing ? NULL : list[i].text,
                          (int)list[i].like, (unsigned long long)list[i].rows);
        if (item == NULL || PyList_SetItem(result, (Py_ssize_t)i, item) != 0) Py_CLEAR(result);
    }
    return result;
}

static PyObject *model_unseen(PyObject *self, PyObject *arg)
{
    const cof_table *table = core_handle(self, CORE_TABLE, arg);
    cof_unseen *list = NULL;
    cof_error err = {{0}};
    size_t n = 0;
    if (table == NULL) return NULL;
    cof_status status = cof_model_unseen(model_of(self), table, NULL, 0, &n, &err);
    if (status == COF_OK && n > 0) {
        list = calloc(n, sizeof *list);
        status = list != NULL ? cof_model_unseen(model_of(self), table, list, n, &n, &err) : COF_ERR_MEMORY;
    }
    PyObject *result = status == COF_OK ? unseen_list(list, n) : core_raise(self, status, &err);
    free(list);
    return result;
}

static PyObject *model_codes(PyObject *self, PyObject *args)
{
    PyObject *table_arg, *index, *array;
    core_array out;
    size_t r;
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "OOO", &table_arg, &index, &array)) return NULL;
    const cof_table *table = core_handle(self, CORE_TABLE, table_arg);
    if (table == NULL) return NULL;
    if (attribute_index(index, model_of(self), &r) != 0) return NULL;
    if (core_array_open(&out, array, "i", 4, 1, CORE_WRITABLE | CORE_CONTIGUOUS) != 0) return NULL;
    cof_status status =
        cof_model_values(model_of(self), table, r, (int32_t *)(void *)out.data, (size_t)out.shape[0], &err);
    core_array_close(&out);
    return core_none(self, status, &err);
}

static PyObject *model_profile(PyObject *self, PyObject *args)
{
    const cof_model *model = model_of(self);
    PyObject *index, *array;
    cof_attribute view = {.struct_size = sizeof view};
    core_array out;
    size_t r;
    if (!PyArg_ParseTuple(args, "OO", &index, &array)) return NULL;
    if (attribute_index(index, model, &r) != 0) return NULL;
    cof_status status = cof_model_attribute(model, r, &view);
    if (status != COF_OK) return core_raise(self, status, NULL);
    if (core_array_open(&out, array, "f", 8, 2, CORE_WRITABLE | CORE_CONTIGUOUS) != 0) return NULL;
    uint32_t k = cof_model_k(model);
    double *x = (double *)(void *)out.data;
    int fits = out.shape[0] == (Py_ssize_t)k && out.shape[1] == (Py_ssize_t)view.n_values;
    for (uint32_t j = 0; fits && j < k; j++)
        for (uint32_t v = 0; v < view.n_values; v++)
            x[(size_t)j * view.n_values + v] = cof_model_profile(model, r, v, j);
    core_array_close(&out);
    if (fits) Py_RETURN_NONE;
    PyErr_SetString(PyExc_ValueError, "the array does not fit the profile");
    return NULL;
}

/* [(cluster, attribute, text, share here, share anywhere, rows here, evidence), ...] */
static PyObject *trait_list(const cof_model *model, const cof_trait *traits, const size_t *n, size_t most)
{
    PyObject *list = PyList_New(0);
    char text[256];
    for (uint32_t j = 0; list != NULL && j < cof_model_k(model); j++)
        for (size_t i = 0; list != NULL && i < n[j]; i++) {
            const cof_trait *t = &traits[j * most + i];
            PyObject *item = Py_BuildValue("Insdddd", j, (Py_ssize_t)t->attribute,
                                           cof_trait_text(model, t, text, sizeof text), t->here / t->cluster,
                                           t->anywhere / t->all, t->here, t->evidence);
            if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
            Py_XDECREF(item);
        }
    return list;
}

static PyObject *model_traits(PyObject *self, PyObject *args)
{
    const cof_model *model = model_of(self);
    int side;
    unsigned int most;
    cof_error err = {{0}};
    if (!PyArg_ParseTuple(args, "iI", &side, &most)) return NULL;
    size_t k = cof_model_k(model);
    cof_trait *traits = calloc(k * most + 1, sizeof *traits);
    size_t *n = calloc(k + 1, sizeof *n);
    cof_status status =
        traits != NULL && n != NULL ? cof_model_traits(model, side, most, traits, n, &err) : COF_ERR_MEMORY;
    PyObject *list = status == COF_OK ? trait_list(model, traits, n, most) : core_raise(self, status, &err);
    free(traits);
    free(n);
    return list;
}

static PyObject *model_importance(PyObject *self, PyObject *unused)
{
    (void)unused;
    size_t n = cof_model_n_attributes(model_of(self));
    cof_error err = {{0}};
    double *share = calloc(n + 1, sizeof *share);
    cof_status status = share != NULL ? cof_model_importance(model_of(self), share, n, &err) : COF_ERR_MEMORY;
    PyObject *list = status == COF_OK ? doubles(share, n) : core_raise(self, status, &err);
    free(share);
    return list;
}

static PyObject *model_distance(PyObject *self, PyObject *args)
{
    Py_ssize_t r;
    unsigned int u, v;
    if (!PyArg_ParseTuple(args, "nII", &r, &u, &v)) return NULL;
    return PyFloat_FromDouble(cof_model_distance(model_of(self), (size_t)r, u, v));
}

static PyObject *model_result(PyObject *self, PyObject *arg)
{
    PyObject *key = PyUnicode_AsUTF8String(arg);
    if (key == NULL) return NULL;
    PyObject *value = core_result_field(model_of(self), PyBytes_AsString(key));
    Py_DECREF(key);
    return value;
}

/* ---- Text and bytes ---------------------------------------------------------------------------------- */

int core_collect(void *ctx, const char *text, size_t n_bytes)
{
    core_pieces *p = ctx;
    if (p->n + n_bytes > p->room) {
        size_t room = (p->n + n_bytes) * 2;
        char *bytes = realloc(p->bytes, room);
        p->failed = bytes == NULL;
        if (p->failed) return 1;
        p->bytes = bytes;
        p->room = room;
    }
    memcpy(p->bytes + p->n, text, n_bytes);
    p->n += n_bytes;
    return 0;
}

static PyObject *model_draw(PyObject *self, PyObject *args)
{
    Py_ssize_t r;
    int drawing;
    if (!PyArg_ParseTuple(args, "ni", &r, &drawing)) return NULL;
    core_pieces p = {0};
    cof_error err = {{0}};
    cof_status status = cof_model_draw_tree(model_of(self), (size_t)r, drawing, core_collect, &p, &err);
    if (p.failed) status = COF_ERR_MEMORY;
    PyObject *text = status == COF_OK ? PyUnicode_FromStringAndSize(p.n > 0 ? p.bytes : "", (Py_ssize_t)p.n)
                                      : core_raise(self, status, &err);
    free(p.bytes);
    return text;
}

static PyObject *model_to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    core_pieces p = {0};
    cof_error err = {{0}};
    cof_status status = cof_model_write(model_of(self), core_collect, &p, &err);
    if (p.failed) status = COF_ERR_MEMORY;
    PyObject *bytes = status == COF_OK ? PyBytes_FromStringAndSize(p.bytes, (Py_ssize_t)p.n)
                                       : core_raise(self, status, &err);
    free(p.bytes);
    return bytes;
}

enum { MOST_FACTS = 16 };

/* Names and values in turn, as bytes that the list keeps. -1 with an exception set. */
static int read_facts(PyObject *list, cof_report_fact *facts)
{
    Py_ssize_t n = PyList_Size(list) / 2;
    for (Py_ssize_t f = 0; f < n && f < MOST_FACTS; f++) {
        facts[f].name = PyBytes_AsString(PyList_GetItem(list, 2 * f));
        facts[f].value = PyBytes_AsString(PyList_GetItem(list, 2 * f + 1));
        if (facts[f].name == NULL || facts[f].value == NULL) return -1;
    }
    return (int)(n < MOST_FACTS ? n : MOST_FACTS);
}

static PyObject *model_report(PyObject *self, PyObject *args)
{
    PyObject *table_arg, *list;
    const char *source;
    unsigned long long seed;
    unsigned int threads;
    cof_report_fact facts[MOST_FACTS];
    if (!PyArg_ParseTuple(args, "OzKIO!", &table_arg, &source, &seed, &threads, &PyList_Type, &list))
        return NULL;
    const cof_table *table = table_arg != Py_None ? core_handle(self, CORE_TABLE, table_arg) : NULL;
    int n_facts = read_facts(list, facts);
    if (PyErr_Occurred()) return NULL;
    cof_report_options options = {.struct_size = sizeof options,
                                  .source = source,
                                  .facts = facts,
                                  .n_facts = (size_t)n_facts,
                                  .seed = seed,
                                  .threads = threads};
    core_pieces p = {0};
    core_call call;
    cof_error err = {{0}};
    PyObject *bytes = NULL;
    core_begin(&call, NULL);
    cof_status status = cof_report_write(model_of(self), table, &options, core_collect, &p, &err);
    int raised = core_end(&call);
    if (p.failed) status = COF_ERR_MEMORY;
    if (!raised)
        bytes = status == COF_OK ? PyBytes_FromStringAndSize(p.bytes, (Py_ssize_t)p.n)
                                 : core_raise(self, status, &err);
    free(p.bytes);
    return bytes;
}

/* The points of a map: (row, equal rows, x, y) each. */
static PyObject *map_points(const cof_map *map)
{
    size_t n = 0;
    const cof_map_point *point = cof_map_points(map, &n);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *item = Py_BuildValue("KKdd", (unsigned long long)point[i].row,
                                       (unsigned long long)point[i].n_rows, point[i].x, point[i].y);
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *model_embed(PyObject *self, PyObject *args)
{
    PyObject *table_arg, *list = NULL;
    unsigned long long seed;
    unsigned int threads;
    if (!PyArg_ParseTuple(args, "OKI", &table_arg, &seed, &threads)) return NULL;
    const cof_table *table = core_handle(self, CORE_TABLE, table_arg);
    if (table == NULL) return NULL;
    cof_embed_options options = {.struct_size = sizeof options, .seed = seed, .threads = threads};
    core_call call;
    cof_error err = {{0}};
    cof_map *map = NULL;
    core_begin(&call, NULL);
    cof_status status = cof_embed(model_of(self), table, &options, &map, &err);
    int raised = core_end(&call);
    if (!raised) list = status == COF_OK ? map_points(map) : core_raise(self, status, &err);
    if (status == COF_OK) cof_map_free(map);
    return list;
}

static PyObject *model_save(PyObject *self, PyObject *arg)
{
    PyObject *path;
    cof_error err = {{0}};
    if (!PyUnicode_FSConverter(arg, &path)) return NULL;
    cof_status status = cof_model_save(model_of(self), PyBytes_AsString(path), &err);
    Py_DECREF(path);
    return core_none(self, status, &err);
}

static PyObject *core_model_from_bytes(PyObject *self, PyObject *arg)
{
    char *bytes;
    Py_ssize_t n;
    cof_error err = {{0}};
    cof_model *model = NULL;
    if (PyBytes_AsStringAndSize(arg, &bytes, &n) != 0) return NULL;
    cof_status status = cof_model_load_memory(&core_env, "the model", bytes, (size_t)n, &model, &err);
    return status == COF_OK ? core_wrap(self, CORE_MODEL, model, NULL) : core_raise(self, status, &err);
}

static PyObject *core_model_load(PyObject *self, PyObject *arg)
{
    PyObject *path;
    cof_error err = {{0}};
    cof_model *model = NULL;
    if (!PyUnicode_FSConverter(arg, &path)) return NULL;
    cof_status status = cof_model_load(&core_env, PyBytes_AsString(path), &model, &err);
    Py_DECREF(path);
    return status == COF_OK ? core_wrap(self, CORE_MODEL, model, NULL) : core_raise(self, status, &err);
}

static PyObject *model_reduce(PyObject *self, PyObject *unused)
{
    PyObject *maker = PyObject_GetAttrString(((core_object *)self)->module, "model_from_bytes");
    PyObject *bytes = maker != NULL ? model_to_bytes(self, unused) : NULL;
    PyObject *result = bytes != NULL ? Py_BuildValue("O(N)", maker, bytes) : NULL;
    Py_XDECREF(maker);
    return result;
}

/* ---- Scores ------------------------------------------------------------------------------------------ */

static PyObject *score_dict(const cof_indices *s)
{
    PyObject *dict = Py_BuildValue("{s:K,s:I,s:I}", "n", (unsigned long long)s->n, "n_clusters",
                                   s->n_clusters, "n_classes", s->n_classes);
    for (size_t i = 0; dict != NULL && cof_index_at(i) != NULL; i++) {
        PyObject *value = PyFloat_FromDouble(cof_index_value(s, i));
        int failed = value == NULL || PyDict_SetItemString(dict, cof_index_at(i)->key, value) != 0;
        Py_XDECREF(value);
        if (failed) Py_CLEAR(dict);
    }
    return dict;
}

static PyObject *core_evaluate(PyObject *self, PyObject *args)
{
    PyObject *first, *second, *result = NULL;
    core_array a = {0}, b = {0};
    if (!PyArg_ParseTuple(args, "OO", &first, &second)) return NULL;
    if (core_array_open(&a, first, "i", 4, 1, CORE_CONTIGUOUS) != 0) return NULL;
    if (core_array_open(&b, second, "i", 4, 1, CORE_CONTIGUOUS) != 0) goto done;
    if (a.shape[0] != b.shape[0]) {
        PyErr_SetString(PyExc_ValueError, "both labelings must have the same length");
        goto done;
    }
    core_call call;
    cof_error err = {{0}};
    cof_indices s = {.struct_size = sizeof s};
    core_begin(&call, NULL);
    cof_status status = cof_evaluate(&core_env, (const int32_t *)(const void *)a.data,
                                     (const int32_t *)(const void *)b.data, (size_t)a.shape[0], &s, &err);
    if (core_end(&call) != 0) goto done;
    if (status != COF_OK)
        core_raise(self, status, &err);
    else
        result = score_dict(&s);
done:
    core_array_close(&a);
    core_array_close(&b);
    return result;
}

/* ---- Comparing methods ------------------------------------------------------------------------------- */

static PyObject *core_friedman(PyObject *self, PyObject *args)
{
    PyObject *array, *result = NULL;
    int larger = 1;
    core_array value;
    if (!PyArg_ParseTuple(args, "Op", &array, &larger)) return NULL;
    if (core_array_open(&value, array, "f", 8, 2, CORE_CONTIGUOUS) != 0) return NULL;
    size_t n = (size_t)value.shape[0], k = (size_t)value.shape[1];
    cof_error err = {{0}};
    cof_friedman_result r = {.struct_size = sizeof r};
    double *rank = calloc(k + 1, sizeof *rank);
    cof_status status = rank == NULL ? COF_ERR_MEMORY
                                     : cof_friedman(&core_env, (const double *)(const void *)value.data, n, k,
                                                    larger, rank, &r, &err);
    if (status == COF_OK)
        result = Py_BuildValue("{s:N,s:d,s:d,s:d,s:d,s:d,s:d}", "mean_ranks", doubles(rank, k), "chi2",
                               r.chi_square, "p", r.p, "chi2_ties", r.chi_square_tied, "p_ties", r.p_tied,
                               "f", r.f, "p_f", r.p_f);
    else
        core_raise(self, status, &err);
    free(rank);
    core_array_close(&value);
    return result;
}

static PyObject *core_critical_difference(PyObject *self, PyObject *args)
{
    Py_ssize_t n_datasets, n_methods;
    double alpha;
    if (!PyArg_ParseTuple(args, "nnd", &n_datasets, &n_methods, &alpha)) return NULL;
    return PyFloat_FromDouble(cof_critical_difference((size_t)n_datasets, (size_t)n_methods, alpha));
}

static PyObject *core_methods(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New((Py_ssize_t)cof_method_count());
    for (size_t m = 0; list != NULL && m < cof_method_count(); m++) {
        PyObject *item = Py_BuildValue("ss", cof_method_name(m), cof_method_title(m));
        if (item == NULL || PyList_SetItem(list, (Py_ssize_t)m, item) != 0) Py_CLEAR(list);
    }
    return list;
}

/* What can be asked about a method before it has fitted. */
static PyObject *core_method_facts(PyObject *self, PyObject *args)
{
    const char *method;
    if (!PyArg_ParseTuple(args, "s", &method)) return NULL;
    return Py_BuildValue("{s:N,s:N}", "uses_order", PyBool_FromLong(cof_method_uses_order(method)),
                         "predicts", PyBool_FromLong(cof_method_predicts(method)));
}

static PyObject *core_n_cores(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(cof_n_cores());
}

PyMethodDef core_model_functions[] = {
    {"fit", (PyCFunction)(void (*)(void))core_fit, METH_VARARGS | METH_KEYWORDS,
     "fit(table, k, **options, callback) -> (Model, info); FIT_OPTIONS lists the options"},
    {"model_from_bytes", core_model_from_bytes, METH_O, "model_from_bytes(bytes) -> Model"},
    {"model_load", core_model_load, METH_O, "model_load(path) -> Model"},
    {"evaluate", core_evaluate, METH_VARARGS, "evaluate(clusters, classes) -> dict of cof_indices"},
    {"friedman", core_friedman, METH_VARARGS, "friedman(values, larger_is_better) -> dict"},
    {"critical_difference", core_critical_difference, METH_VARARGS,
     "critical_difference(n_datasets, n_methods, alpha) -> float"},
    {"methods", core_methods, METH_NOARGS, "methods() -> [(name, title), ...]"},
    {"method_facts", core_method_facts, METH_VARARGS, "method_facts(method) -> dict: uses_order, predicts"},
    {"n_cores", core_n_cores, METH_NOARGS, "n_cores() -> cores that the process may use"},
    {NULL, NULL, 0, NULL}};

/* ---- The type ---------------------------------------------------------------------------------------- */

static PyObject *model_k(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLong(cof_model_k(model_of(self)));
}

static PyObject *model_kept(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(cof_model_best_restart(model_of(self)));
}

static PyObject *model_n_attributes(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(cof_model_n_attributes(model_of(self)));
}

static PyObject *model_sizes(PyObject *self, void *closure)
{
    (void)closure;
    return doubles(cof_model_sizes(model_of(self)), cof_model_k(model_of(self)));
}

static PyObject *model_variant(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(cof_model_variant(model_of(self)));
}

static PyObject *model_missing(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLong(cof_model_missing(model_of(self)));
}

static PyObject *model_method(PyObject *self, void *closure)
{
    (void)closure;
    return PyUnicode_FromString(cof_model_method(model_of(self)));
}

static PyObject *model_predicts(PyObject *self, void *closure)
{
    (void)closure;
    return PyBool_FromLong(cof_model_predicts(model_of(self)));
}

/* [(name of a column, [mean of every cluster])] of the quantities that were kept as numbers. */
static PyObject *model_means(PyObject *self, void *closure)
{
    const cof_model *model = model_of(self);
    uint32_t k = cof_model_k(model);
    (void)closure;
    PyObject *list = PyList_New(0);
    for (size_t c = 0; list != NULL && c < cof_model_n_numeric(model); c++) {
        PyObject *means = PyList_New(k);
        for (uint32_t j = 0; means != NULL && j < k; j++) {
            PyObject *mean = PyFloat_FromDouble(cof_model_numeric_mean(model, c, j));
            if (mean == NULL || PyList_SetItem(means, j, mean) != 0) Py_CLEAR(means);
        }
        PyObject *pair =
            means != NULL ? Py_BuildValue("(sN)", cof_model_numeric_name(model, c), means) : NULL;
        if (pair == NULL || PyList_Append(list, pair) != 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

PyMethodDef core_model_methods[] = {
    {"predict", model_predict, METH_VARARGS,
     "predict(table, threads, int32 out) -> dict of cof_predict_info"},
    {"transform", model_transform, METH_VARARGS, "transform(table, float64 out)"},
    {"rate", model_rate, METH_VARARGS,
     "rate(table, threads, float64 out of rows x k, float64 out of rows): memberships, log-likelihoods"},
    {"criteria", model_criteria, METH_VARARGS, "criteria(table, threads, weights or None) -> dict"},
    {"margins", model_margins, METH_VARARGS,
     "margins(table, threads, int32 labels, float64 out of rows x 3, int32 next out)"},
    {"label_request", model_label_request, METH_NOARGS, "label_request() -> bytes for Shard.labels, or None"},
    {"labels", model_labels, METH_O, "labels(int32 out)"},
    {"alternative", model_alternative, METH_VARARGS, "alternative(number, int32 labels out) -> sizes"},
    {"attribute", model_attribute, METH_O,
     "attribute(r) -> dict: name, used, ordinal, has_missing, values, edges, cut_at, five"},
    {"values", model_codes, METH_VARARGS, "values(table, r, int32 out): ids of the attribute's values"},
    {"unseen", model_unseen, METH_O,
     "unseen(table) -> [(attribute, text or None for missing, value alike or -1, rows), ...]"},
    {"classes", model_classes, METH_VARARGS, "classes(table or None, weights) -> dict of lists"},
    {"profile", model_profile, METH_VARARGS, "profile(r, float64 out of k x values)"},
    {"traits", model_traits, METH_VARARGS,
     "traits(side, most) -> [(cluster, attribute, text, share here, share anywhere, rows here, evidence), "
     "...]"},
    {"importance", model_importance, METH_NOARGS, "importance() -> a number for every attribute"},
    {"distance", model_distance, METH_VARARGS, "distance(r, u, v) -> float"},
    {"result", model_result, METH_O,
     "result(key) -> a field of cof_result_field, None if the model has it not"},
    {"draw", model_draw, METH_VARARGS, "draw(r, drawing) -> str"},
    {"to_bytes", model_to_bytes, METH_NOARGS, "to_bytes() -> bytes of a model file"},
    {"report", model_report, METH_VARARGS, "report(table or None, source, seed, threads, facts) -> HTML"},
    {"embed", model_embed, METH_VARARGS, "embed(table, seed, threads) -> [(row, equal rows, x, y), ...]"},
    {"save", model_save, METH_O, "save(path)"},
    {"__reduce__", model_reduce, METH_NOARGS, "pickles as a model file; labels are not part of one"},
    {NULL, NULL, 0, NULL}};
PyGetSetDef core_model_getset[] = {{"k", model_k, NULL, NULL, NULL},
                                   {"n_attributes", model_n_attributes, NULL, NULL, NULL},
                                   {"kept", model_kept, NULL, NULL, NULL},
                                   {"sizes", model_sizes, NULL, NULL, NULL},
                                   {"variant", model_variant, NULL, NULL, NULL},
                                   {"missing", model_missing, NULL, NULL, NULL},
                                   {"method", model_method, NULL, NULL, NULL},
                                   {"predicts", model_predicts, NULL, NULL, NULL},
                                   {"means", model_means, NULL, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
