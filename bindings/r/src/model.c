/* Fitting, and everything a model can be asked. */
#include "glue.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void free_model(SEXP pointer)
{
    cof_model_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* The pointer is made before the model, because making it may fail. */
static SEXP empty_model(void)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, Rf_install("coforest_model"), R_NilValue));
    R_RegisterCFinalizerEx(pointer, free_model, TRUE);
    UNPROTECT(1);
    return pointer;
}

static const cof_model *model_of(SEXP pointer)
{
    const cof_model *model = TYPEOF(pointer) == EXTPTRSXP ? R_ExternalPtrAddr(pointer) : NULL;
    if (model == NULL) Rf_error("this model is gone; read it again");
    return model;
}

/* ---- Results, field by field ----------------------------------------------------------------------- */

static SEXP value_of(int32_t type, cof_field_value value)
{
    if (type == COF_FIELD_TEXT) return glue_text(value.known ? value.text : NULL);
    if (type == COF_FIELD_FLAG) return Rf_ScalarLogical(value.known ? value.count != 0 : NA_LOGICAL);
    if (type == COF_FIELD_REAL) return Rf_ScalarReal(value.known ? value.real : NA_REAL);
    return Rf_ScalarReal(value.known ? (double)value.count + (type == COF_FIELD_INDEX ? 1 : 0) : NA_REAL);
}

/* n values of one field as a vector. */
static SEXP values_of(const cof_model *model, const cof_fit_info *info, size_t f, size_t n)
{
    int32_t type = cof_result_field(f)->type;
    SEXP out = PROTECT(Rf_allocVector(type == COF_FIELD_TEXT ? STRSXP : REALSXP, (R_xlen_t)n));
    for (size_t i = 0; i < n; i++) {
        SEXP one = PROTECT(value_of(type, cof_result_value(model, info, f, i)));
        if (type == COF_FIELD_TEXT)
            SET_STRING_ELT(out, (R_xlen_t)i, STRING_ELT(one, 0));
        else
            REAL(out)[i] = Rf_asReal(one);
        UNPROTECT(1);
    }
    UNPROTECT(1);
    return out;
}

/* Where the members of the object or list at `f` end. */
static size_t end_of_members(size_t f)
{
    const cof_field *owner = cof_result_field(f), *member;
    size_t end = f + 1;
    while ((member = cof_result_field(end)) != NULL && member->inside != NULL &&
           strcmp(member->inside, owner->key) == 0)
        end++;
    return end;
}

static SEXP members_of(const cof_model *model, const cof_fit_info *info, size_t f)
{
    const cof_field *owner = cof_result_field(f);
    size_t end = end_of_members(f), n = cof_result_length(model, info, f);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)(end - f - 1))),
         names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)(end - f - 1)));
    for (size_t m = f + 1; m < end; m++) {
        R_xlen_t at = (R_xlen_t)(m - f - 1);
        SET_STRING_ELT(names, at, Rf_mkChar(cof_result_field(m)->key));
        SET_VECTOR_ELT(list, at, values_of(model, info, m, owner->type == COF_FIELD_RECORDS ? n : 1));
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

/* All that is known of a fit, named as in the program's JSON. */
static SEXP result_of(const cof_model *model, const cof_fit_info *info)
{
    R_xlen_t n = 0, at = 0;
    const cof_field *field;
    for (size_t f = 0; (field = cof_result_field(f)) != NULL; f++) n += field->inside == NULL;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, n)), names = PROTECT(Rf_allocVector(STRSXP, n));
    for (size_t f = 0; (field = cof_result_field(f)) != NULL; f++) {
        if (field->inside != NULL) continue;
        size_t length = cof_result_length(model, info, f);
        bool group = field->type == COF_FIELD_OBJECT || field->type == COF_FIELD_RECORDS;
        SET_STRING_ELT(names, at, Rf_mkChar(field->key));
        if (length > 0)
            SET_VECTOR_ELT(list, at, group ? members_of(model, info, f) : values_of(model, info, f, length));
        at++;
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

/* ---- Fitting --------------------------------------------------------------------------------------- */

/* The place of a text among the words of an option; -1: it is none of them. */
static int place_of(size_t option, const char *text)
{
    const char *name;
    for (int i = 0; (name = cof_fit_option_word(option, (size_t)i).name) != NULL; i++)
        if (strcmp(name, text) == 0) return i;
    return -1;
}

static void refuse_option(const char *name, size_t option)
{
    char words[400] = "";
    const char *word;
    for (size_t i = 0; (word = cof_fit_option_word(option, i).name) != NULL && strlen(words) < 350; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s\"%s\"", i > 0 ? ", " : "", word);
    Rf_error(words[0] != '\0' ? "%s must be one of %s" : "%s must be a number%s", name, words);
}

/* Sets the member of *o that the library's table of options names. */
static void set_option(cof_fit_options *o, size_t option, const char *name, SEXP value)
{
    const cof_option *about = cof_fit_option(option);
    char *member = (char *)o + about->offset;
    bool is_text = TYPEOF(value) == STRSXP && XLENGTH(value) == 1;
    int place = is_text ? place_of(option, CHAR(STRING_ELT(value, 0))) : -1;
    if (XLENGTH(value) != 1 || (is_text && place < 0)) refuse_option(name, option);
    double number = is_text ? -1 - place : Rf_asReal(value);
    if (about->type == COF_OPTION_REAL && !ISNAN(number)) {
        memcpy(member, &number, sizeof number);
    } else if (about->type == COF_OPTION_WORD && is_text) {
        int32_t word = place;
        memcpy(member, &word, sizeof word);
    } else if (about->type == COF_OPTION_NAME && is_text) {
        const char *word = cof_fit_option_word(option, (size_t)place).name;
        memcpy(member, &word, sizeof word);
    } else if (about->type == COF_OPTION_COUNT && !is_text && number >= 0 && number <= 4294967295.0) {
        uint32_t count = (uint32_t)number;
        memcpy(member, &count, sizeof count);
    } else if (about->type == COF_OPTION_NUMBER && !is_text && number >= 0) {
        uint64_t count = (uint64_t)number;
        memcpy(member, &count, sizeof count);
    } else {
        refuse_option(name, option);
    }
}

/* The name of an option as R writes it: with _ for -. */
static const char *r_name(const cof_option *about, char to[64])
{
    size_t n = strlen(about->name);
    if (n > 63) n = 63;
    for (size_t i = 0; i < n; i++) to[i] = about->name[i] == '-' ? '_' : about->name[i];
    to[n] = '\0';
    return to;
}

static void set_options(cof_fit_options *o, SEXP options)
{
    SEXP names = Rf_getAttrib(options, R_NamesSymbol);
    char text[64];
    for (R_xlen_t i = 0; i < XLENGTH(options); i++) {
        const char *name = CHAR(STRING_ELT(names, i));
        size_t at = 0;
        while (cof_fit_option(at) != NULL && strcmp(r_name(cof_fit_option(at), text), name) != 0) at++;
        if (cof_fit_option(at) == NULL) Rf_error("unused argument (%s)", name);
        if (VECTOR_ELT(options, i) != R_NilValue) set_option(o, at, name, VECTOR_ELT(options, i));
    }
}

/* All options of a fit: their names, what they may be, and a sentence. */
SEXP C_options(void)
{
    static const char *const names[] = {"option", "words", "about"};
    R_xlen_t n = 0;
    char text[64];
    while (cof_fit_option((size_t)n) != NULL) n++;
    SEXP list = PROTECT(glue_named_list(3, names));
    for (int i = 0; i < 3; i++) SET_VECTOR_ELT(list, i, Rf_allocVector(i == 1 ? VECSXP : STRSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        const cof_option *about = cof_fit_option((size_t)i);
        R_xlen_t n_words = 0;
        while (cof_fit_option_word((size_t)i, (size_t)n_words).name != NULL) n_words++;
        SEXP words = Rf_allocVector(STRSXP, n_words);
        SET_VECTOR_ELT(VECTOR_ELT(list, 1), i, words);
        for (R_xlen_t w = 0; w < n_words; w++)
            SET_STRING_ELT(words, w, Rf_mkChar(cof_fit_option_word((size_t)i, (size_t)w).name));
        SET_STRING_ELT(VECTOR_ELT(list, 0), i, Rf_mkChar(r_name(about, text)));
        SET_STRING_ELT(VECTOR_ELT(list, 2), i, Rf_mkCharCE(about->about, CE_UTF8));
    }
    UNPROTECT(1);
    return list;
}

static int32_t *copy_labels(const cof_model *model, SEXP out)
{
    size_t n;
    const int32_t *label = cof_model_labels(model, &n);
    for (size_t i = 0; i < n; i++) INTEGER(out)[i] = label[i] < 0 ? NA_INTEGER : label[i] + 1;
    return INTEGER(out);
}

SEXP C_fit(SEXP table_pointer, SEXP k, SEXP k_max, SEXP options, SEXP weights, SEXP column_weights,
           SEXP progress)
{
    static const char *const names[] = {"model", "cluster", "result", "interrupted"};
    const cof_table *table = glue_table(table_pointer);
    SEXP out = PROTECT(glue_named_list(4, names));
    SET_VECTOR_ELT(out, 0, empty_model());
    SET_VECTOR_ELT(out, 1, Rf_allocVector(INTSXP, (R_xlen_t)cof_table_n_rows(table)));
    cof_fit_options o = {.struct_size = sizeof o,
                         .k = (uint32_t)Rf_asReal(k),
                         .weights = weights == R_NilValue ? NULL : REAL(weights),
                         .column_weights = column_weights == R_NilValue ? NULL : REAL(column_weights)};
    set_options(&o, options);
    uint32_t most = (uint32_t)Rf_asReal(k_max);
    cof_model *model = NULL;
    cof_fit_info info = {.struct_size = sizeof info};
    cof_error err = {{0}};
    glue_begin(Rf_asLogical(progress) == TRUE);
    cof_status status = most > 0 ? cof_fit_auto(table, &o, o.k, most, &model, &info, &err)
                                 : cof_fit(table, &o, &model, &info, &err);
    bool interrupted = glue_interrupted();
    if (status == COF_OK) R_SetExternalPtrAddr(VECTOR_ELT(out, 0), model);
    SET_VECTOR_ELT(out, 3, Rf_ScalarLogical(interrupted));
    if (!interrupted) {
        glue_check(status, &err);
        copy_labels(model, VECTOR_ELT(out, 1));
        SET_VECTOR_ELT(out, 2, result_of(model, &info));
    }
    UNPROTECT(1);
    return out;
}

/* ---- What a model holds ---------------------------------------------------------------------------- */

/* A matrix of k x values: shares of the clusters' rows, or the probabilities in the classes of a mixture. */
static SEXP matrix_of(const cof_model *model, size_t attribute, uint32_t n_values,
                      double (*of)(const cof_model *, size_t, uint32_t, uint32_t))
{
    uint32_t k = cof_model_k(model);
    SEXP share = PROTECT(Rf_allocMatrix(REALSXP, (int)k, (int)n_values));
    for (uint32_t v = 0; v < n_values; v++)
        for (uint32_t j = 0; j < k; j++) REAL(share)[(R_xlen_t)v * k + j] = of(model, attribute, v, j);
    UNPROTECT(1);
    return share;
}

static SEXP edges_of(const cof_model *model, size_t attribute)
{
    static const char *const names[] = {"from", "to", "length"};
    size_t n = 0;
    const cof_edge *edge = cof_model_edges(model, attribute, &n);
    SEXP list = PROTECT(glue_named_list(3, names));
    SET_VECTOR_ELT(list, 0, Rf_allocVector(INTSXP, (R_xlen_t)n));
    SET_VECTOR_ELT(list, 1, Rf_allocVector(INTSXP, (R_xlen_t)n));
    SET_VECTOR_ELT(list, 2, Rf_allocVector(REALSXP, (R_xlen_t)n));
    for (size_t e = 0; e < n; e++) {
        INTEGER(VECTOR_ELT(list, 0))[e] = (int)edge[e].u + 1;
        INTEGER(VECTOR_ELT(list, 1))[e] = (int)edge[e].v + 1;
        REAL(VECTOR_ELT(list, 2))[e] = edge[e].length;
    }
    UNPROTECT(1);
    return list;
}

static SEXP reals(const double *x, size_t n)
{
    SEXP out = Rf_allocVector(REALSXP, (R_xlen_t)n);
    if (n > 0) memcpy(REAL(out), x, n * sizeof *x);
    return out;
}

static SEXP attribute_of(const cof_model *model, size_t a, double importance)
{
    static const char *const names[] = {"name",  "used", "ordered",    "missing", "values", "profile",
                                        "edges", "cut",  "importance", "five",    "weight", "probability"};
    cof_attribute about = {.struct_size = sizeof about};
    cof_error err = {{0}};
    size_t n_edges = 0;
    uint32_t k = cof_model_k(model);
    if (cof_model_attribute(model, a, &about) != COF_OK) Rf_error("%s", err.text);
    SEXP list = PROTECT(glue_named_list(12, names));
    SET_VECTOR_ELT(list, 0, glue_text(about.name));
    SET_VECTOR_ELT(list, 1, Rf_ScalarLogical(about.used != 0));
    SET_VECTOR_ELT(list, 2, Rf_ScalarLogical(about.ordinal != 0));
    SET_VECTOR_ELT(list, 3, Rf_ScalarLogical(about.has_missing != 0));
    SEXP values = Rf_allocVector(STRSXP, about.n_values);
    SET_VECTOR_ELT(list, 4, values);
    for (uint32_t v = 0; v < about.n_values; v++)
        SET_STRING_ELT(values, v,
                       about.has_missing && v + 1 == about.n_values
                           ? NA_STRING
                           : Rf_mkCharCE(cof_model_value(model, a, v), CE_UTF8));
    SET_VECTOR_ELT(list, 5, matrix_of(model, a, about.n_values, cof_model_profile));
    SET_VECTOR_ELT(list, 11, matrix_of(model, a, about.n_values, cof_model_class_probability));
    SET_VECTOR_ELT(list, 6, edges_of(model, a));
    const double *cut = cof_model_cut(model, a, &n_edges);
    if (cut != NULL) SET_VECTOR_ELT(list, 7, reals(cut, n_edges));
    SET_VECTOR_ELT(list, 8, Rf_ScalarReal(importance));
    if (cut != NULL && cof_model_five(model, a, 0) != NULL) {
        SEXP five = Rf_allocMatrix(REALSXP, (int)k, COF_N_FIVE);
        SET_VECTOR_ELT(list, 9, five);
        for (uint32_t j = 0; j < k; j++)
            for (uint32_t q = 0; q < COF_N_FIVE; q++) REAL(five)[q * k + j] = cof_model_five(model, a, j)[q];
    }
    SET_VECTOR_ELT(list, 10, Rf_ScalarReal(cof_model_column_weight(model, a)));
    UNPROTECT(1);
    return list;
}

SEXP C_attributes(SEXP pointer)
{
    const cof_model *model = model_of(pointer);
    size_t n = cof_model_n_attributes(model);
    cof_error err = {{0}};
    double *importance = (double *)(void *)R_alloc(n + 1, sizeof *importance);
    glue_check(cof_model_importance(model, importance, n, &err), &err);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t)n));
    for (size_t a = 0; a < n; a++) SET_VECTOR_ELT(list, (R_xlen_t)a, attribute_of(model, a, importance[a]));
    UNPROTECT(1);
    return list;
}

/* Sizes, means of numeric columns, method. */
SEXP C_model(SEXP pointer)
{
    static const char *const names[] = {"size", "means", "method", "agreement", "share"};
    const cof_model *model = model_of(pointer);
    uint32_t k = cof_model_k(model);
    size_t n = cof_model_n_numeric(model);
    SEXP list = PROTECT(glue_named_list(5, names));
    SET_VECTOR_ELT(list, 4, Rf_allocVector(REALSXP, k));
    for (uint32_t j = 0; j < k; j++) REAL(VECTOR_ELT(list, 4))[j] = cof_model_class_share(model, j);
    SET_VECTOR_ELT(list, 0, reals(cof_model_sizes(model), k));
    SEXP means = PROTECT(Rf_allocMatrix(REALSXP, (int)k, (int)n)),
         labels = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n)), both = PROTECT(Rf_allocVector(VECSXP, 2));
    for (size_t q = 0; q < n; q++) {
        SET_STRING_ELT(labels, (R_xlen_t)q, Rf_mkCharCE(cof_model_numeric_name(model, q), CE_UTF8));
        for (uint32_t j = 0; j < k; j++) REAL(means)[q * k + j] = cof_model_numeric_mean(model, q, j);
    }
    SET_VECTOR_ELT(both, 1, labels);
    Rf_setAttrib(means, R_DimNamesSymbol, both);
    SET_VECTOR_ELT(list, 1, means);
    SET_VECTOR_ELT(list, 2, glue_text(cof_model_method(model)));
    SET_VECTOR_ELT(list, 3, Rf_ScalarReal(cof_model_mean_agreement(model)));
    UNPROTECT(4);
    return list;
}

/* ---- Rows ------------------------------------------------------------------------------------------ */

static uint32_t threads_of(SEXP threads)
{
    return (uint32_t)Rf_asInteger(threads);
}

SEXP C_predict(SEXP pointer, SEXP table_pointer, SEXP threads)
{
    const cof_model *model = model_of(pointer);
    const cof_table *table = glue_table(table_pointer);
    R_xlen_t n = (R_xlen_t)cof_table_n_rows(table);
    SEXP out = PROTECT(Rf_allocVector(INTSXP, n));
    cof_error err = {{0}};
    glue_check(cof_model_predict(model, table, threads_of(threads), INTEGER(out), (size_t)n, NULL, &err),
               &err);
    for (R_xlen_t i = 0; i < n; i++) INTEGER(out)[i] = INTEGER(out)[i] < 0 ? NA_INTEGER : INTEGER(out)[i] + 1;
    UNPROTECT(1);
    return out;
}

static SEXP matrix_of_rows(R_xlen_t n, uint32_t k)
{
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n * k)), dim = PROTECT(Rf_allocVector(REALSXP, 2));
    REAL(dim)[0] = (double)n;
    REAL(dim)[1] = k;
    Rf_setAttrib(out, R_DimSymbol, dim);
    UNPROTECT(2);
    return out;
}

SEXP C_distances(SEXP pointer, SEXP table_pointer, SEXP threads)
{
    const cof_model *model = model_of(pointer);
    const cof_table *table = glue_table(table_pointer);
    uint32_t k = cof_model_k(model);
    R_xlen_t n = (R_xlen_t)cof_table_n_rows(table);
    SEXP out = PROTECT(matrix_of_rows(n, k));
    double *rows = (double *)(void *)R_alloc((size_t)n + 1, k * sizeof *rows);
    cof_error err = {{0}};
    glue_check(cof_model_transform(model, table, threads_of(threads), rows, (size_t)n * k, &err), &err);
    for (R_xlen_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < k; j++) REAL(out)[j * n + i] = rows[i * k + j];
    UNPROTECT(1);
    return out;
}

static void free_posterior(SEXP pointer)
{
    cof_posterior_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* Memberships by cluster, and the log-likelihood of every row. */
SEXP C_posterior(SEXP pointer, SEXP table_pointer, SEXP threads)
{
    enum { AT_ONCE = 4096 };
    static const char *const names[] = {"posterior", "log_likelihood"};
    const cof_model *model = model_of(pointer);
    const cof_table *table = glue_table(table_pointer);
    uint32_t k = cof_model_k(model);
    R_xlen_t n = (R_xlen_t)cof_table_n_rows(table);
    SEXP list = PROTECT(glue_named_list(2, names)),
         handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, table_pointer));
    R_RegisterCFinalizerEx(handle, free_posterior, TRUE);
    SET_VECTOR_ELT(list, 0, matrix_of_rows(n, k));
    SET_VECTOR_ELT(list, 1, Rf_allocVector(REALSXP, n));
    double *share = REAL(VECTOR_ELT(list, 0)), *log_likelihood = REAL(VECTOR_ELT(list, 1));
    double *rows = (double *)(void *)R_alloc(AT_ONCE, k * sizeof *rows);
    cof_posterior *posterior = NULL;
    cof_error err = {{0}};
    glue_check(cof_posterior_open(model, table, threads_of(threads), &posterior, &err), &err);
    R_SetExternalPtrAddr(handle, posterior);
    for (R_xlen_t first = 0; first < n; first += AT_ONCE) {
        R_xlen_t now = n - first < AT_ONCE ? n - first : AT_ONCE;
        glue_check(
            cof_posterior_rows(posterior, (size_t)first, (size_t)now, rows, log_likelihood + first, &err),
            &err);
        for (R_xlen_t i = 0; i < now; i++)
            for (uint32_t j = 0; j < k; j++) share[j * n + first + i] = rows[i * k + j];
    }
    free_posterior(handle);
    UNPROTECT(2);
    return list;
}

SEXP C_criteria(SEXP pointer, SEXP table_pointer, SEXP weights, SEXP threads)
{
    cof_fit_info info = {.struct_size = sizeof info};
    cof_error err = {{0}};
    glue_check(cof_model_criteria(model_of(pointer), glue_table(table_pointer),
                                  weights == R_NilValue ? NULL : REAL(weights), threads_of(threads), &info,
                                  &err),
               &err);
    static const char *const names[] = {"logLik",      "npar",         "aic",
                                        "bic",         "icl",          "n_shared",
                                        "aic3",        "bic_adjusted", "entropy_r_squared",
                                        "g_squared",   "x_squared",    "df",
                                        "p_g_squared", "p_x_squared"};
    const double values[] = {info.mixture_log_likelihood,
                             info.n_parameters,
                             info.aic,
                             info.bic,
                             info.icl,
                             (double)info.n_shared,
                             info.aic3,
                             info.bic_adjusted,
                             info.entropy_r_squared,
                             info.g_squared,
                             info.x_squared,
                             info.df,
                             info.p_g_squared,
                             info.p_x_squared};
    enum { N = sizeof values / sizeof *values };
    SEXP list = PROTECT(glue_named_list(N, names));
    for (int i = 0; i < N; i++) SET_VECTOR_ELT(list, i, Rf_ScalarReal(values[i]));
    UNPROTECT(1);
    return list;
}

static void free_study(SEXP pointer)
{
    cof_class_study_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* Standard errors of shares and probabilities, and the cells of the table with what the model expects. */
SEXP C_study(SEXP pointer, SEXP table_pointer, SEXP weights)
{
    static const char *const names[] = {"share", "probability", "row", "observed", "expected"};
    const cof_model *model = model_of(pointer);
    const cof_table *table = glue_table(table_pointer);
    uint32_t k = cof_model_k(model);
    size_t n_attributes = cof_model_n_attributes(model), n_cells = 0;
    SEXP list = PROTECT(glue_named_list(5, names)),
         handle = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, table_pointer));
    R_RegisterCFinalizerEx(handle, free_study, TRUE);
    cof_class_study *study = NULL;
    cof_error err = {{0}};
    glue_check(cof_class_study_open(model, table, weights == R_NilValue ? NULL : REAL(weights),
                                    COF_STUDY_ERRORS, &study, &err),
               &err);
    R_SetExternalPtrAddr(handle, study);
    SEXP share = Rf_allocVector(REALSXP, k);
    SET_VECTOR_ELT(list, 0, share);
    for (uint32_t j = 0; j < k; j++) REAL(share)[j] = cof_class_study_share_error(study, j);
    SEXP errors = Rf_allocVector(VECSXP, (R_xlen_t)n_attributes);
    SET_VECTOR_ELT(list, 1, errors);
    for (size_t a = 0; a < n_attributes; a++) {
        cof_attribute about = {.struct_size = sizeof about};
        glue_check(cof_model_attribute(model, a, &about), &err);
        SEXP matrix = Rf_allocMatrix(REALSXP, (int)k, (int)about.n_values);
        SET_VECTOR_ELT(errors, (R_xlen_t)a, matrix);
        for (uint32_t v = 0; v < about.n_values; v++)
            for (uint32_t j = 0; j < k; j++)
                REAL(matrix)[(R_xlen_t)v * k + j] = cof_class_study_probability_error(study, a, v, j);
    }
    const cof_class_cell *cell = cof_class_study_cells(study, &n_cells);
    for (int i = 2; i < 5; i++) SET_VECTOR_ELT(list, i, Rf_allocVector(REALSXP, (R_xlen_t)n_cells));
    for (size_t c = 0; c < n_cells; c++) {
        REAL(VECTOR_ELT(list, 2))[c] = (double)cell[c].row + 1;
        REAL(VECTOR_ELT(list, 3))[c] = cell[c].observed;
        REAL(VECTOR_ELT(list, 4))[c] = cell[c].expected;
    }
    free_study(handle);
    UNPROTECT(2);
    return list;
}

/* Values of a table that the model does not know. */
SEXP C_unseen(SEXP pointer, SEXP table_pointer)
{
    enum { MOST = 8 };
    static const char *const names[] = {"column", "value", "rows", "n"};
    cof_unseen list[MOST];
    size_t n = 0;
    cof_error err = {{0}};
    const cof_model *model = model_of(pointer);
    const cof_table *table = glue_table(table_pointer);
    glue_check(cof_model_unseen(model, table, list, MOST, &n, &err), &err);
    R_xlen_t shown = n < MOST ? (R_xlen_t)n : MOST;
    SEXP out = PROTECT(glue_named_list(4, names));
    SET_VECTOR_ELT(out, 0, Rf_allocVector(STRSXP, shown));
    SET_VECTOR_ELT(out, 1, Rf_allocVector(STRSXP, shown));
    SET_VECTOR_ELT(out, 2, Rf_allocVector(REALSXP, shown));
    SET_VECTOR_ELT(out, 3, Rf_ScalarReal((double)n));
    for (R_xlen_t i = 0; i < shown; i++) {
        cof_column column = {.struct_size = sizeof column};
        glue_check(cof_table_column(table, list[i].column, &column), &err);
        SET_STRING_ELT(VECTOR_ELT(out, 0), i, Rf_mkCharCE(column.name, CE_UTF8));
        SET_STRING_ELT(VECTOR_ELT(out, 1), i,
                       list[i].missing ? NA_STRING : Rf_mkCharCE(list[i].text, CE_UTF8));
        REAL(VECTOR_ELT(out, 2))[i] = (double)list[i].rows;
    }
    UNPROTECT(1);
    return out;
}

/* ---- Files ----------------------------------------------------------------------------------------- */

typedef struct bytes {
    unsigned char *at;
    size_t n; /* written, or wanted while `at` is NULL */
} bytes;

static int put(void *ctx, const char *text, size_t n)
{
    bytes *to = ctx;
    if (to->at != NULL) memcpy(to->at + to->n, text, n);
    to->n += n;
    return 0;
}

/* The model file as a raw vector: it is written twice, the first time to know its length. */
SEXP C_write(SEXP pointer)
{
    const cof_model *model = model_of(pointer);
    bytes to = {NULL, 0};
    cof_error err = {{0}};
    glue_check(cof_model_write(model, put, &to, &err), &err);
    SEXP out = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)to.n));
    to = (bytes){RAW(out), 0};
    glue_check(cof_model_write(model, put, &to, &err), &err);
    UNPROTECT(1);
    return out;
}

SEXP C_read(SEXP raw)
{
    SEXP pointer = PROTECT(empty_model());
    cof_model *model = NULL;
    cof_error err = {{0}};
    glue_check(cof_model_load_memory(glue_env(), "the model", RAW(raw), (size_t)XLENGTH(raw), &model, &err),
               &err);
    R_SetExternalPtrAddr(pointer, model);
    UNPROTECT(1);
    return pointer;
}

static int put_file(void *ctx, const char *text, size_t n)
{
    return cof_output_write(ctx, text, n, NULL) != COF_OK;
}

SEXP C_report(SEXP pointer, SEXP table_pointer, SEXP file, SEXP source)
{
    const cof_model *model = model_of(pointer);
    const cof_table *table = table_pointer == R_NilValue ? NULL : glue_table(table_pointer);
    cof_report_options options = {
        .struct_size = sizeof options, .source = Rf_translateCharUTF8(STRING_ELT(source, 0)), .threads = 2};
    cof_output *out = NULL;
    cof_error err = {{0}};
    glue_check(cof_output_open(glue_env(), Rf_translateChar(STRING_ELT(file, 0)), &out, &err), &err);
    cof_status status = cof_report_write(model, table, &options, put_file, out, &err);
    if (status == COF_OK)
        status = cof_output_commit(out, &err);
    else
        cof_output_discard(out);
    glue_check(status, &err);
    return R_NilValue;
}

/* ---- Comparing ------------------------------------------------------------------------------------- */

SEXP C_evaluate(SEXP a, SEXP b, SEXP weights)
{
    cof_indices indices = {.struct_size = sizeof indices};
    cof_error err = {{0}};
    glue_check(cof_evaluate_weighted(glue_env(), INTEGER(a), INTEGER(b),
                                     weights == R_NilValue ? NULL : REAL(weights), (size_t)XLENGTH(a),
                                     &indices, &err),
               &err);
    R_xlen_t n = 0;
    while (cof_index_at((size_t)n) != NULL) n++;
    SEXP out = PROTECT(Rf_allocVector(REALSXP, n)), names = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t i = 0; i < n; i++) {
        REAL(out)[i] = cof_index_value(&indices, (size_t)i);
        SET_STRING_ELT(names, i, Rf_mkChar(cof_index_at((size_t)i)->key));
    }
    Rf_setAttrib(out, R_NamesSymbol, names);
    UNPROTECT(2);
    return out;
}

SEXP C_methods(void)
{
    static const char *const names[] = {"method", "title", "predicts", "start", "start_title"};
    R_xlen_t n = (R_xlen_t)cof_method_count(), n_starts = (R_xlen_t)cof_start_count();
    SEXP list = PROTECT(glue_named_list(5, names));
    for (int i = 0; i < 5; i++)
        SET_VECTOR_ELT(list, i, Rf_allocVector(i == 2 ? LGLSXP : STRSXP, i < 3 ? n : n_starts));
    for (R_xlen_t m = 0; m < n; m++) {
        SET_STRING_ELT(VECTOR_ELT(list, 0), m, Rf_mkChar(cof_method_name((size_t)m)));
        SET_STRING_ELT(VECTOR_ELT(list, 1), m, Rf_mkCharCE(cof_method_title((size_t)m), CE_UTF8));
        LOGICAL(VECTOR_ELT(list, 2))[m] = cof_method_predicts(cof_method_name((size_t)m)) != 0;
    }
    for (R_xlen_t s = 0; s < n_starts; s++) {
        SET_STRING_ELT(VECTOR_ELT(list, 3), s, Rf_mkChar(cof_start_name((size_t)s)));
        SET_STRING_ELT(VECTOR_ELT(list, 4), s, Rf_mkCharCE(cof_start_title((size_t)s), CE_UTF8));
    }
    UNPROTECT(1);
    return list;
}
