/* Handles, errors, interrupts, and the list of functions that R may call. */
#include "glue.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include <stdio.h>
#include <time.h>

/* ---- Interrupts and progress ----------------------------------------------------------------------- */

/* R has one thread, and the library calls back on that thread alone. A table outlives the call it was made in, so what the
 * library asks is answered from here and not from the frame of a call. */
static struct {
    bool active, interrupted, progress;
    double told_s;
} host;

static void check_interrupt(void *unused)
{
    (void)unused;
    R_CheckUserInterrupt();
}

static int should_stop(void *unused)
{
    (void)unused;
    if (host.active && !host.interrupted && !R_ToplevelExec(check_interrupt, NULL)) host.interrupted = true;
    return host.interrupted;
}

static void print_progress(void *about)
{
    const cof_progress *p = about;
    if (p->k > 0)
        REprintf("\rk = %u, restart %u of %u, %.1f s ", p->k, p->restart, p->restarts, p->elapsed_s);
    R_FlushConsole();
}

static void show_progress(void *unused, const cof_progress *progress)
{
    (void)unused;
    if (!host.active || !host.progress || progress->elapsed_s - host.told_s < 0.5) return;
    host.told_s = progress->elapsed_s;
    cof_progress copy = *progress;
    R_ToplevelExec(print_progress, &copy);
}

const cof_env *glue_env(void)
{
    static const cof_env env = {
        .struct_size = sizeof env, .should_stop = should_stop, .progress = show_progress};
    return &env;
}

void glue_begin(bool progress)
{
    host.active = true;
    host.interrupted = false;
    host.progress = progress;
    host.told_s = 0;
}

bool glue_interrupted(void)
{
    if (host.progress && host.told_s > 0) REprintf("\n");
    host.active = false;
    bool was = host.interrupted;
    host.interrupted = false;
    return was;
}

/* ---- Errors and values ----------------------------------------------------------------------------- */

void glue_check(cof_status status, const cof_error *err)
{
    if (status == COF_OK) return;
    host.active = host.interrupted = false;
    Rf_error("%s", err->text[0] != '\0' ? err->text : cof_status_text(status));
}

SEXP glue_named_list(int n, const char *const *names)
{
    SEXP list = PROTECT(Rf_allocVector(VECSXP, n)), keys = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) SET_STRING_ELT(keys, i, Rf_mkChar(names[i]));
    Rf_setAttrib(list, R_NamesSymbol, keys);
    UNPROTECT(2);
    return list;
}

SEXP glue_text(const char *text)
{
    return text == NULL ? Rf_ScalarString(NA_STRING) : Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8));
}

static void free_table(SEXP pointer)
{
    cof_table_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

SEXP glue_wrap_table(cof_table *table)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(table, Rf_install("coforest_table"), R_NilValue));
    R_RegisterCFinalizerEx(pointer, free_table, TRUE);
    UNPROTECT(1);
    return pointer;
}

const cof_table *glue_table(SEXP pointer)
{
    const cof_table *table = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
    if (table == NULL) Rf_error("this table is gone; make it again from the data frame");
    return table;
}

/* ---- Registration ---------------------------------------------------------------------------------- */

#define CALL(name, n)                                                                                        \
    {                                                                                                        \
#name, (DL_FUNC)(void (*)(void)) & name, n                                                           \
    }

static const R_CallMethodDef calls[] = {
    CALL(C_table, 3),      CALL(C_advise, 4), CALL(C_roles, 2),   CALL(C_cut, 3),       CALL(C_fit, 7),
    CALL(C_attributes, 1), CALL(C_model, 1),  CALL(C_predict, 3), CALL(C_distances, 3), CALL(C_posterior, 3),
    CALL(C_criteria, 4),   CALL(C_study, 3),  CALL(C_unseen, 2),  CALL(C_write, 1),     CALL(C_read, 1),
    CALL(C_evaluate, 3),   CALL(C_report, 4), CALL(C_methods, 0), CALL(C_options, 0),   {NULL, NULL, 0}};

attribute_visible void R_init_coforest(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, calls, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
