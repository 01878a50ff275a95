/* Writes a table as RFC 4180 text that gives the same table when read. */
#include "dialect.h"
#include "../table.h"

typedef struct writer {
    cof_output *output;
    char delimiter;
    const char *special; /* texts with one of these characters are quoted */
    bool one_column;
} writer;

static cof_status put(writer *w, const char *text, size_t n, cof_error *err)
{
    return cof_output_write(w->output, text, n, err);
}

static cof_status put_quoted(writer *w, const char *text, cof_error *err)
{
    cof_status status = put(w, "\"", 1, err);
    while (status == COF_OK && *text != '\0') {
        size_t n = strcspn(text, "\"");
        bool quote = text[n] == '"';
        status = put(w, text, n + quote, err);
        if (status == COF_OK && quote) status = put(w, "\"", 1, err);
        text += n + quote;
    }
    return status == COF_OK ? put(w, "\"", 1, err) : status;
}

/* In a table of one column, an empty cell would be a blank line, which is easily lost. */
static cof_status put_cell(writer *w, const char *text, cof_error *err)
{
    size_t n = strcspn(text, w->special);
    if (text[n] != '\0' || (n == 0 && w->one_column)) return put_quoted(w, text, err);
    return put(w, text, n, err);
}

static cof_status put_end(writer *w, bool last, cof_error *err)
{
    return put(w, last ? "\n" : &w->delimiter, 1, err);
}

static cof_status put_rows(writer *w, const cof_table *table, cof_error *err)
{
    cof_status status = COF_OK;
    size_t last = table->n_columns - 1;
    for (size_t c = 0; c <= last && status == COF_OK; c++) {
        status = put_cell(w, table->column[c].name, err);
        if (status == COF_OK) status = put_end(w, c == last, err);
    }
    size_t some = 1 + 64 * 65536 / table->n_columns; /* rows between two checks for a stop */
    for (size_t i = 0; i < table->n_rows && status == COF_OK; i++) {
        if (i % some == 0 && cofi_should_stop(&table->env))
            return cofi_fail(err, COF_ERR_STOPPED, "stopped before the table was written");
        for (size_t c = 0; c <= last && status == COF_OK; c++) {
            status = put_cell(w, cofi_column_cell(&table->column[c], i), err);
            if (status == COF_OK) status = put_end(w, c == last, err);
        }
    }
    return status;
}

cof_status cof_table_write(const cof_table *table, const char *path, cof_error *err)
{
    writer w = {.one_column = table->n_columns == 1};
    if (path == NULL) return cofi_fail(err, COF_ERR_ARGUMENT, "cof_table_write needs a path");
    /* The same rule as for reading, so that a .tsv file is read back with tabs. */
    w.delimiter = cofi_delimiter_of_name(path) == '\t' ? '\t' : ',';
    w.special = w.delimiter == '\t' ? "\"\n\r\t" : "\"\n\r,";
    /* A single column name must not look like several when the delimiter is guessed. */
    if (w.one_column) w.special = "\"\n\r,\t;|";
    COFI_TRY(cof_output_open(&table->env, path, &w.output, err));
    cof_status status = put_rows(&w, table, err);
    if (status == COF_OK) return cof_output_commit(w.output, err);
    cof_output_discard(w.output);
    return status;
}
