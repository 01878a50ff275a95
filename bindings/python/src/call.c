/* Calls: Ctrl-C, progress, and what is raised. */
#include "core.h"

#include <time.h>

#define SIGNAL_CHECK_S 0.02 /* nobody presses Ctrl-C faster, and taking the interpreter costs a switch */

/* The library calls back on the thread that made the call, so the call that is under way can be found there;
 * tables and models outlive it and must not point at it. */
static _Thread_local core_call *current;

static double now_s(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void core_resume(core_call *call)
{
    PyEval_RestoreThread(call->thread);
}

void core_leave(core_call *call)
{
    call->thread = PyEval_SaveThread();
}

static int should_stop(void *ctx)
{
    (void)ctx;
    core_call *call = current;
    if (call == NULL) return 0;
    if (call->stop || call->raised) return 1;
    double now = now_s();
    if (now - call->asked_s < SIGNAL_CHECK_S && now >= call->asked_s) return 0;
    call->asked_s = now;
    core_resume(call);
    if (PyErr_CheckSignals() != 0) call->raised = 1;
    core_leave(call);
    return call->raised;
}

static void progress(void *ctx, const cof_progress *p)
{
    (void)ctx;
    core_call *call = current;
    if (call == NULL || call->callback == NULL || call->raised || call->stop) return;
    core_resume(call);
    PyObject *answer = PyObject_CallFunction(call->callback, "iIIIIKKddI", (int)p->phase, p->restart,
                                             p->restarts, p->rebuild, p->pass, (unsigned long long)p->done,
                                             (unsigned long long)p->total, p->elapsed_s, p->rows_per_s, p->k);
    int truth = answer != NULL ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    call->raised = truth < 0;
    call->stop = truth > 0;
    core_leave(call);
}

const cof_env core_env = {.struct_size = sizeof core_env, .should_stop = should_stop, .progress = progress};

void core_begin(core_call *call, PyObject *callback)
{
    *call = (core_call){.callback = callback == Py_None ? NULL : callback, .outer = current};
    call->asked_s = now_s();
    current = call;
    call->thread = PyEval_SaveThread();
}

int core_end(core_call *call)
{
    PyEval_RestoreThread(call->thread);
    current = call->outer;
    /* A Ctrl-C that came after the last look is honoured too. */
    if (!call->raised && PyErr_CheckSignals() != 0) call->raised = 1;
    return call->raised ? -1 : 0;
}

PyObject *core_raise(PyObject *self, cof_status status, const cof_error *err)
{
    if (status == COF_ERR_MEMORY) return PyErr_NoMemory();
    const char *text = err != NULL && err->text[0] != '\0' ? err->text : cof_status_text(status);
    const core_state *state = core_state_of(self);
    PyObject *type = status == COF_ERR_IO ? state->io_error : state->error;
    /* A sentence may quote a path, and that may be any bytes. */
    PyObject *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
    PyObject *error = words != NULL ? PyObject_CallFunction(type, "N", words) : NULL;
    PyObject *code = error != NULL ? PyLong_FromLong(status) : NULL;
    if (code != NULL && PyObject_SetAttrString(error, "status", code) == 0) PyErr_SetObject(type, error);
    Py_XDECREF(code);
    Py_XDECREF(error);
    return NULL;
}

PyObject *core_none(PyObject *self, cof_status status, const cof_error *err)
{
    if (status != COF_OK) return core_raise(self, status, err);
    Py_RETURN_NONE;
}
