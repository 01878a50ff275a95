/* Classifies columns by their dictionaries, and finds values that look like mistakes. */
#include "encode.h"
#include "recognise.h"
#include "tidy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

enum {
    MANY_NUMBERS = 20,  /* more distinct numbers than a rating scale has */
    FEW_FRACTIONS = 10, /* fractions indicate measurements, so fewer of them suffice */
    FEW_ROWS = 16       /* in fewer rows all values may differ by chance */
};

/* ---- Kinds --------------------------------------------------------------------------------------- */

static bool is_constant(const cofi_column *c, int32_t missing)
{
    return c->n_values + (missing == COF_MISSING_VALUE && c->n_missing > 0 ? 1 : 0) <= 1;
}

/* Nearly every row has its own value. */
static bool is_crowded(const cofi_column *c, size_t n_rows)
{
    return n_rows >= FEW_ROWS && c->n_values >= n_rows - n_rows / 10;
}

/* Consecutive numbers: whole, with hardly any gap between the least and the greatest. */
static bool is_gapless(const cofi_recognition *r)
{
    return r->reading.line == COFI_LINE_NUMBER && r->whole && r->most - r->least + 1 <= 1.2 * r->n_points;
}

static bool is_quantity(const cofi_recognition *r, bool crowded)
{
    if (r->reading.line == COFI_LINE_NONE || r->codes) return false;
    return crowded || r->n_points > (r->whole ? MANY_NUMBERS : FEW_FRACTIONS);
}

__attribute__((format(__printf__, 4, 5))) static void advise(cof_advice *out, int32_t kind, bool numbers,
                                                             const char *why, ...)
{
    cof_advice made = {.kind = kind, .numbers = numbers};
    va_list args;
    va_start(args, why);
    vsnprintf(made.why, sizeof made.why, why, args);
    va_end(args);
    cofi_return_struct(out, &made, sizeof made);
}

static void advise_quantity(const cofi_recognition *r, cof_advice *advice)
{
    static const char *const nouns[] = {
        [COFI_LINE_NUMBER] = "numbers", [COFI_LINE_DATE] = "dates", [COFI_LINE_TIME] = "times"};
    char least[COFI_POINT_BYTES], most[COFI_POINT_BYTES];
    advise(advice, COF_KIND_QUANTITY, true, "%u distinct %s from %s to %s", r->n_points,
           nouns[r->reading.line], cofi_reading_show(&r->reading, r->least, 6, least),
           cofi_reading_show(&r->reading, r->most, 6, most));
}

static void advise_on_values(const cofi_column *c, bool crowded, cof_advice *advice)
{
    cofi_recognition r = cofi_recognise(c, NULL);
    bool numbers = r.reading.line != COFI_LINE_NONE;
    if (crowded && is_gapless(&r) && !r.codes)
        advise(advice, COF_KIND_IDENTIFIER, numbers, "running numbers, one for nearly every row");
    else if (is_quantity(&r, crowded))
        advise_quantity(&r, advice);
    else if (crowded)
        advise(advice, COF_KIND_IDENTIFIER, numbers, "nearly every row has its own value");
    else if (r.codes)
        advise(advice, COF_KIND_CATEGORY, numbers, "%u codes: numbers that begin with a zero", c->n_values);
    else if (r.unclear)
        advise(advice, COF_KIND_CATEGORY, numbers,
               "%u dates that can be read with the day or the month first", c->n_values);
    else
        advise(advice, COF_KIND_CATEGORY, numbers, "%u %s", c->n_values,
               r.reading.line == COFI_LINE_NUMBER ? "distinct numbers" : "values");
}

cof_status cof_column_advise(const cof_table *table, size_t column, int32_t missing, cof_advice *advice,
                             cof_error *err)
{
    if (column >= table->n_columns)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no column number %zu; the table has %zu",
                         column + 1, table->n_columns);
    const cofi_column *c = &table->column[column];
    if (c->ordinal)
        advise(advice, is_constant(c, missing) ? COF_KIND_CONSTANT : COF_KIND_CATEGORY, c->cut != NULL,
               c->cut != NULL ? "%u bins of a quantity" : "%u values in a stated order", c->n_values);
    else if (is_constant(c, missing))
        advise(advice, COF_KIND_CONSTANT, false, "the same value in every row");
    else
        advise_on_values(c, is_crowded(c, table->n_rows), advice);
    return COF_OK;
}

int32_t cof_column_treatment(const cof_advice *advice, int32_t rule, int32_t quantities, int chosen)
{
    bool named = rule == COF_RULE_NUMERIC || rule == COF_RULE_CUT;
    bool running = advice->kind == COF_KIND_IDENTIFIER && advice->numbers;
    if (!named && advice->kind == COF_KIND_IDENTIFIER && !chosen) return COF_TREAT_IDENTIFIER;
    if (!named && (rule != COF_RULE_NONE || quantities == COF_QUANTITIES_VALUES)) return COF_TREAT_VALUES;
    if (!named && advice->kind != COF_KIND_QUANTITY && !running) return COF_TREAT_VALUES;
    if (rule == COF_RULE_CUT || quantities == COF_QUANTITIES_CUT) return COF_TREAT_BINS;
    return quantities == COF_QUANTITIES_SCALED ? COF_TREAT_NUMBERS : COF_TREAT_VALUES;
}

/* ---- Weights ------------------------------------------------------------------------------------- */

const cofi_column *cofi_table_weight_column(const cof_table *table)
{
    for (size_t c = 0; c < table->n_columns; c++)
        if (table->column[c].role == COF_ROLE_WEIGHT) return &table->column[c];
    return NULL;
}

/* Blanks before a number are allowed. */
cof_status cofi_weights_parse(const cofi_column *c, double *value, cof_error *err)
{
    if (c->n_missing > 0)
        return cofi_fail(err, COF_ERR_DATA,
                         "the weight column '%s' has %llu missing cells; every row needs a weight", c->name,
                         (unsigned long long)c->n_missing);
    for (uint32_t v = 0; v < c->n_values; v++) {
        const char *text = cofi_column_text(c, v), *number = text + strspn(text, " \t");
        if (!cofi_number_parse(number, strlen(number), &value[v]) || !(value[v] >= 0) || !isfinite(value[v]))
            return cofi_fail(err, COF_ERR_DATA,
                             "the weight column '%s' holds '%s', which is not a number >= 0", c->name, text);
    }
    return COF_OK;
}

cof_status cof_table_weights(const cof_table *table, double *weights, size_t n, cof_error *err)
{
    const cofi_column *c = cofi_table_weight_column(table);
    if (n != table->n_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT, "room for %zu weights was given, but the table has %zu rows",
                         n, table->n_rows);
    double *value = cofi_alloc(&table->env, c != NULL ? c->n_values : 0, sizeof *value);
    if (value == NULL) return cofi_no_memory(err);
    cof_status status = c != NULL ? cofi_weights_parse(c, value, err) : COF_OK;
    for (size_t i = 0; status == COF_OK && i < n; i++)
        weights[i] = c != NULL ? value[cofi_column_code(c, i)] : 1;
    cofi_release(&table->env, value);
    return status;
}

/* ---- Values that look like mistakes -------------------------------------------------------------- */

cof_status cof_column_count(const cof_table *table, size_t column, uint64_t *rows, size_t n, cof_error *err)
{
    if (column >= table->n_columns || n != (size_t)table->column[column].n_values + 1)
        return cofi_fail(err, COF_ERR_ARGUMENT, "room for %zu counts does not fit column number %zu", n,
                         column + 1);
    memset(rows, 0, n * sizeof *rows);
    for (size_t i = 0; i < table->n_rows; i++) rows[cofi_column_code(&table->column[column], i)]++;
    return COF_OK;
}

static bool means_nothing(const char *text)
{
    static const char *const words[] = {"n/a", "n.a.", "na", "#n/a", "nan",    "null",
                                        "?",   "-",    ".",  "",     "missing"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strcasecmp(text, words[w]) == 0) return true;
    return false;
}

static void put_suspect(cof_suspect *list, size_t most, size_t *n, cof_suspect suspect)
{
    if (*n < most) list[*n] = suspect;
    ++*n;
}

/* Finds values that differ only in spelling, and pairs each with an earlier one. */
static cof_status find_spellings(const cofi_column *c, const cof_env *env, cof_suspect *list, size_t most,
                                 size_t *n)
{
    char plain[COFI_SPELLING_BYTES];
    cofi_encoder known;
    cofi_encoder_init(&known, env);
    uint32_t *last = cofi_alloc(env, c->n_values, sizeof *last), id;
    cof_status status = last == NULL ? COF_ERR_MEMORY : COF_OK;
    for (uint32_t v = 0; status == COF_OK && v < c->n_values; v++) {
        uint32_t n_known = known.n_values;
        size_t n_bytes;
        const char *text =
            cofi_spelling(cofi_column_text(c, v), COF_TIDY_TRIM | COF_TIDY_CASE, plain, &n_bytes);
        status = cofi_encoder_intern(&known, text, n_bytes, &id);
        if (status != COF_OK) break;
        if (id < n_known) put_suspect(list, most, n, (cof_suspect){COF_SUSPECT_SPELLING, last[id], v});
        last[id] = v;
    }
    cofi_encoder_free(&known);
    cofi_release(env, last);
    return status;
}

cof_status cof_column_suspects(const cof_table *table, size_t column, cof_suspect *list, size_t most,
                               size_t *n, cof_error *err)
{
    cof_advice advice = {.struct_size = sizeof advice};
    size_t found = 0;
    cof_status status = cof_column_advise(table, column, COF_MISSING_VALUE, &advice, err);
    if (status != COF_OK) return status;
    const cofi_column *c = &table->column[column];
    for (uint32_t v = 0; v < c->n_values; v++)
        if (means_nothing(cofi_column_text(c, v)))
            put_suspect(list, most, &found, (cof_suspect){COF_SUSPECT_MISSING, v, v});
    if (advice.kind != COF_KIND_IDENTIFIER && advice.kind != COF_KIND_QUANTITY)
        status = find_spellings(c, &table->env, list, most, &found);
    if (status != COF_OK) return cofi_no_memory(err);
    *n = found;
    return COF_OK;
}
