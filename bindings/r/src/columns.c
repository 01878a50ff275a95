/* A data frame on its way into the library, as an Arrow struct array over R's own vectors.
 *
 * R code has brought every column to one of these: list("factor", codes from 1, levels, ordered), list("integer", x),
 * list("double", x), list("date", days), list("time", seconds). Memory of this call is R's and ends with it. */
#include "glue.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct child {
    struct ArrowSchema schema, dictionary_schema;
    struct ArrowArray array, dictionary;
    const void *buffers[3], *dictionary_buffers[3];
} child;

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    array->release = NULL;
}

/* A bit for every element: whether it is there. */
static uint8_t *bitmap(R_xlen_t n)
{
    uint8_t *bits = (uint8_t *)R_alloc((size_t)n / 8 + 1, 1);
    memset(bits, 0, (size_t)n / 8 + 1);
    return bits;
}

static const uint8_t *present_integers(const int *x, R_xlen_t n)
{
    uint8_t *bits = bitmap(n);
    for (R_xlen_t i = 0; i < n; i++) bits[i / 8] |= (uint8_t)((x[i] != NA_INTEGER) << (i % 8));
    return bits;
}

static const uint8_t *present_doubles(const double *x, R_xlen_t n)
{
    uint8_t *bits = bitmap(n);
    for (R_xlen_t i = 0; i < n; i++) bits[i / 8] |= (uint8_t)(!ISNAN(x[i]) << (i % 8));
    return bits;
}

/* The levels as a dictionary in which entry 0 is missing, because R's codes count from 1. */
static void add_levels(child *c, SEXP levels)
{
    R_xlen_t n = XLENGTH(levels);
    size_t n_bytes = 0;
    const char **text = (const char **)R_alloc((size_t)n + 1, sizeof *text);
    for (R_xlen_t i = 0; i < n; i++) {
        text[i] = Rf_translateCharUTF8(STRING_ELT(levels, i));
        n_bytes += strlen(text[i]);
    }
    int64_t *offset = (int64_t *)(void *)R_alloc((size_t)n + 2, sizeof *offset);
    char *bytes = R_alloc(n_bytes + 1, 1);
    uint8_t *bits = bitmap(n + 1);
    size_t at = 0;
    offset[0] = offset[1] = 0;
    for (R_xlen_t i = 0; i < n; i++) {
        size_t length = strlen(text[i]);
        memcpy(bytes + at, text[i], length);
        at += length;
        offset[i + 2] = (int64_t)at;
        bits[(i + 1) / 8] |= (uint8_t)(1 << ((i + 1) % 8));
    }
    c->dictionary_schema = (struct ArrowSchema){
        .format = "U", .name = "", .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    c->dictionary =
        (struct ArrowArray){.length = n + 1, .null_count = 1, .n_buffers = 3, .release = release_array};
    c->dictionary_buffers[0] = bits;
    c->dictionary_buffers[1] = offset;
    c->dictionary_buffers[2] = bytes;
    c->dictionary.buffers = c->dictionary_buffers;
}

static const char *add_integers(child *c, SEXP x)
{
    c->buffers[0] = present_integers(INTEGER(x), XLENGTH(x));
    c->buffers[1] = INTEGER(x);
    return "i";
}

static const char *add_days(child *c, SEXP x)
{
    R_xlen_t n = XLENGTH(x);
    const double *days = REAL(x);
    int32_t *whole = (int32_t *)(void *)R_alloc((size_t)n + 1, sizeof *whole);
    for (R_xlen_t i = 0; i < n; i++) whole[i] = ISNAN(days[i]) ? 0 : (int32_t)floor(days[i]);
    c->buffers[0] = present_doubles(days, n);
    c->buffers[1] = whole;
    return "tdD";
}

static const char *add_times(child *c, SEXP x)
{
    R_xlen_t n = XLENGTH(x);
    const double *seconds = REAL(x);
    int64_t *micro = (int64_t *)(void *)R_alloc((size_t)n + 1, sizeof *micro);
    for (R_xlen_t i = 0; i < n; i++) micro[i] = ISNAN(seconds[i]) ? 0 : (int64_t)floor(seconds[i] * 1e6 + .5);
    c->buffers[0] = present_doubles(seconds, n);
    c->buffers[1] = micro;
    return "tsu:";
}

static void add_column(child *c, SEXP column, const char *name)
{
    const char *kind = CHAR(STRING_ELT(VECTOR_ELT(column, 0), 0)), *format;
    SEXP x = VECTOR_ELT(column, 1);
    int64_t flags = ARROW_FLAG_NULLABLE;
    bool factor = strcmp(kind, "factor") == 0;
    if (factor || strcmp(kind, "integer") == 0) {
        format = add_integers(c, x);
    } else if (strcmp(kind, "date") == 0) {
        format = add_days(c, x);
    } else if (strcmp(kind, "time") == 0) {
        format = add_times(c, x);
    } else {
        c->buffers[0] = present_doubles(REAL(x), XLENGTH(x));
        c->buffers[1] = REAL(x);
        format = "g";
    }
    if (factor) {
        add_levels(c, VECTOR_ELT(column, 2));
        if (Rf_asLogical(VECTOR_ELT(column, 3))) flags |= ARROW_FLAG_DICTIONARY_ORDERED;
    }
    c->schema = (struct ArrowSchema){.format = format,
                                     .name = name,
                                     .flags = flags,
                                     .dictionary = factor ? &c->dictionary_schema : NULL,
                                     .release = release_schema};
    c->array = (struct ArrowArray){.length = XLENGTH(x),
                                   .null_count = -1,
                                   .n_buffers = 2,
                                   .buffers = c->buffers,
                                   .dictionary = factor ? &c->dictionary : NULL,
                                   .release = release_array};
}

SEXP C_table(SEXP columns, SEXP names, SEXP n_rows)
{
    size_t n = (size_t)XLENGTH(columns);
    child *c = (child *)(void *)R_alloc(n + 1, sizeof *c);
    struct ArrowSchema **schemas = (struct ArrowSchema **)(void *)R_alloc(n + 1, sizeof *schemas);
    struct ArrowArray **arrays = (struct ArrowArray **)(void *)R_alloc(n + 1, sizeof *arrays);
    memset(c, 0, (n + 1) * sizeof *c);
    for (size_t i = 0; i < n; i++) {
        add_column(&c[i], VECTOR_ELT(columns, (R_xlen_t)i),
                   Rf_translateCharUTF8(STRING_ELT(names, (R_xlen_t)i)));
        schemas[i] = &c[i].schema;
        arrays[i] = &c[i].array;
    }
    const void *no_buffer[1] = {NULL};
    struct ArrowSchema schema = {
        .format = "+s", .name = "", .n_children = (int64_t)n, .children = schemas, .release = release_schema};
    struct ArrowArray array = {.length = (int64_t)Rf_asReal(n_rows),
                               .n_buffers = 1,
                               .buffers = no_buffer,
                               .n_children = (int64_t)n,
                               .children = arrays,
                               .release = release_array};
    cof_table *table = NULL;
    cof_error err = {{0}};
    glue_check(cof_table_from_arrow(glue_env(), &schema, &array, &table, &err), &err);
    return glue_wrap_table(table);
}

/* What the library thinks of every column, and what becomes of it under these rules (cof_rule, one a column). */
SEXP C_advise(SEXP pointer, SEXP missing, SEXP rules, SEXP quantities)
{
    static const char *const names[] = {"kind", "why", "numbers", "treatment"};
    const cof_table *table = glue_table(pointer);
    R_xlen_t n = (R_xlen_t)cof_table_n_columns(table);
    SEXP out = PROTECT(glue_named_list(4, names));
    for (int i = 0; i < 4; i++)
        SET_VECTOR_ELT(out, i, Rf_allocVector(i == 1 ? STRSXP : i == 2 ? LGLSXP : INTSXP, n));
    for (R_xlen_t c = 0; c < n; c++) {
        cof_advice advice = {.struct_size = sizeof advice};
        cof_error err = {{0}};
        glue_check(cof_column_advise(table, (size_t)c, Rf_asInteger(missing), &advice, &err), &err);
        INTEGER(VECTOR_ELT(out, 0))[c] = advice.kind;
        SET_STRING_ELT(VECTOR_ELT(out, 1), c, Rf_mkCharCE(advice.why, CE_UTF8));
        LOGICAL(VECTOR_ELT(out, 2))[c] = advice.numbers != 0;
        INTEGER(VECTOR_ELT(out, 3))
        [c] = cof_column_treatment(&advice, INTEGER(rules)[c], Rf_asInteger(quantities), 0);
    }
    UNPROTECT(1);
    return out;
}

SEXP C_roles(SEXP pointer, SEXP roles)
{
    cof_table *table = (cof_table *)glue_table(pointer);
    cof_error err = {{0}};
    for (R_xlen_t c = 0; c < XLENGTH(roles); c++)
        glue_check(cof_table_set_role(table, (size_t)c, INTEGER(roles)[c], &err), &err);
    return R_NilValue;
}

SEXP C_cut(SEXP pointer, SEXP column, SEXP bins)
{
    cof_table *table = (cof_table *)glue_table(pointer);
    cof_cut_options options = {.struct_size = sizeof options, .bins = (uint32_t)Rf_asInteger(bins)};
    cof_error err = {{0}};
    glue_check(cof_table_cut(table, (size_t)Rf_asInteger(column), &options, &err), &err);
    return R_NilValue;
}
