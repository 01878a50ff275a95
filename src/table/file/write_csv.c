/* Writes cells as RFC 4180 text, and tables that are the same when read. */
#include "../table.h"
#include "dialect.h"

#include <stdio.h>

/* What a spreadsheet would compute. Signs before anything but a call or a reference are left alone: "-5", "+", "- none"
 * are values people have, and do no harm. */
static bool is_formula(const char *text)
{
    if (*text == '=') return text[1] != '\0';
    return *text != '\0' && strchr("+-@\t\r", *text) != NULL && text[strcspn(text, "(|!#")] != '\0';
}

/* Bytes of the control character that begins here, such as the one that begins commands to a terminal; 0: none. Those
 * that tables do use, tab and line breaks, are not meant. */
static size_t control_bytes(const unsigned char *at)
{
    if (at[0] == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0) return 2; /* U+0080 to U+009F */
    return (at[0] < 0x20 && strchr("\t\r\n", at[0]) == NULL) || at[0] == 0x7F;
}

/* Most texts have nothing to look after, and there may be millions. */
static bool is_plain(const char *text, char delimiter, bool harmless)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at >= 0x20 && *at != '"' && *at != (unsigned char)delimiter && *at != 0x7F && *at != 0xC2) at++;
    return *at == '\0' && delimiter != '\0' && !(harmless && is_formula(text));
}

int cof_text_cell(cof_sink sink, void *ctx, const char *text, char delimiter, int harmless)
{
    if (is_plain(text, delimiter, harmless)) return sink(ctx, text, strlen(text));
    const char special[] = {'"', '\r', '\n', delimiter != '\0' ? delimiter : ',', '\0'};
    bool quoted = text[strcspn(text, delimiter != '\0' ? special : "\"\r\n,\t;|")] != '\0';
    int stopped = quoted ? sink(ctx, "\"", 1) : 0;
    if (stopped == 0 && harmless && is_formula(text)) stopped = sink(ctx, "'", 1);
    while (stopped == 0 && *text != '\0') {
        size_t n = 0, n_control = 0;
        char shown[8];
        while (text[n] != '\0' && text[n] != '"' && n_control == 0) {
            n_control = harmless ? control_bytes((const unsigned char *)text + n) : 0;
            n += n_control == 0;
        }
        stopped = n > 0 ? sink(ctx, text, n) : 0;
        text += n + n_control;
        if (stopped == 0 && n_control > 0) {
            snprintf(shown, sizeof shown, "\\x%02x", (unsigned char)text[-1]);
            stopped = sink(ctx, shown, strlen(shown));
        } else if (stopped == 0 && *text == '"') {
            stopped = sink(ctx, "\"\"", 2);
            text++;
        }
    }
    return stopped == 0 && quoted ? sink(ctx, "\"", 1) : stopped;
}

typedef struct writer {
    cof_output *output;
    char delimiter;
    bool one_column;
    cof_status status;
    cof_error *err;
} writer;

static int write_text(void *ctx, const char *text, size_t n)
{
    writer *w = ctx;
    w->status = cof_output_write(w->output, text, n, w->err);
    return w->status != COF_OK;
}

/* Writes a cell and what follows it; nonzero after a failure. In a table of one column, an empty cell would be a blank line,
 * which is easily lost, and a name must not look like several when the delimiter is guessed. */
static int put_cell(writer *w, const char *text, bool last)
{
    int stopped = w->one_column && *text == '\0'
                      ? write_text(w, "\"\"", 2)
                      : cof_text_cell(write_text, w, text, w->one_column ? '\0' : w->delimiter, 0);
    return stopped != 0 ? stopped : write_text(w, last ? "\n" : &w->delimiter, 1);
}

static cof_status put_rows(writer *w, const cof_table *table)
{
    size_t last = table->n_columns - 1;
    for (size_t c = 0; c <= last; c++)
        if (put_cell(w, table->column[c].name, c == last)) return w->status;
    size_t some = 1 + 64 * 65536 / table->n_columns; /* rows between two checks for a stop */
    for (size_t i = 0; i < table->n_rows; i++) {
        if (i % some == 0 && cofi_should_stop(&table->env))
            return cofi_fail(w->err, COF_ERR_STOPPED, "stopped before the table was written");
        for (size_t c = 0; c <= last; c++)
            if (put_cell(w, cofi_column_cell(&table->column[c], i), c == last)) return w->status;
    }
    return COF_OK;
}

cof_status cof_table_write(const cof_table *table, const char *path, cof_error *err)
{
    writer w = {.one_column = table->n_columns == 1, .err = err};
    if (path == NULL) return cofi_fail(err, COF_ERR_ARGUMENT, "cof_table_write needs a path");
    /* The same rule as for reading, so that a .tsv file is read back with tabs. */
    w.delimiter = cofi_delimiter_of_name(path) == '\t' ? '\t' : ',';
    COFI_TRY(cof_output_open(&table->env, path, &w.output, err));
    cof_status status = put_rows(&w, table);
    if (status == COF_OK) return cof_output_commit(w.output, err);
    cof_output_discard(w.output);
    return status;
}
