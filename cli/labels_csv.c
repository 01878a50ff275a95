/* The labels file, the margins file and the history file. */
#include "labels_csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "complain.h"

/* RFC 4180: a cell with a comma, a quote or a line break is quoted, quotes inside doubled. */
static void put_cell(outfile *f, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        outfile_put(f, text, strlen(text));
        return;
    }
    outfile_put(f, "\"", 1);
    for (; *text != '\0'; text++) {
        if (*text == '"') outfile_put(f, "\"", 1);
        outfile_put(f, text, 1);
    }
    outfile_put(f, "\"", 1);
}

static void put_header(outfile *f, const cof_table *table, size_t names, const char *more)
{
    cof_column view;
    outfile_print(f, "row,cluster%s", more);
    if (names != SIZE_MAX && cof_table_column(table, names, &view) == COF_OK) {
        outfile_put(f, ",", 1);
        put_cell(f, view.name);
    }
    outfile_put(f, "\n", 1);
}

/* Decimal digits of n before `end`; where they begin. Millions of rows are written this way, for which printf takes
 * longer than clustering them. */
static char *digits_before(char *end, uint64_t n)
{
    do *--end = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    return end;
}

static void put_row(outfile *f, size_t row, int32_t label)
{
    char text[48], *end = text + sizeof text, *at = end;
    if (label >= 0) at = digits_before(at, (uint64_t)label + 1);
    *--at = ',';
    at = digits_before(at, (uint64_t)row + 1);
    outfile_put(f, at, (size_t)(end - at));
}

static void put_name(outfile *f, const cof_table *table, size_t row, size_t names)
{
    if (names == SIZE_MAX) return;
    outfile_put(f, ",", 1);
    put_cell(f, cof_table_value(table, names, cof_table_code(table, row, names)));
}

int write_labels(outfile *f, const cof_table *table, size_t names, const int32_t *labels)
{
    size_t n_rows = cof_table_n_rows(table);
    int code = outfile_open(f);
    if (code != CODE_DONE) return code;
    put_header(f, table, names, "");
    for (size_t i = 0; i < n_rows && f->status == COF_OK; i++) {
        put_row(f, i, labels[i]);
        put_name(f, table, i, names);
        outfile_put(f, "\n", 1);
    }
    return outfile_finish(f);
}

static void put_distance(outfile *f, float distance)
{
    if (isfinite(distance))
        outfile_print(f, ",%.7g", (double)distance);
    else
        outfile_put(f, ",", 1);
}

int write_margins(outfile *f, const cof_table *table, size_t names, const int32_t *labels,
                  const cof_margin *margin)
{
    size_t n_rows = cof_table_n_rows(table);
    int code = outfile_open(f);
    if (code != CODE_DONE) return code;
    put_header(f, table, names, ",next,distance,next_distance,lead");
    for (size_t i = 0; i < n_rows && f->status == COF_OK; i++) {
        put_row(f, i, labels[i]);
        outfile_put(f, ",", 1);
        if (margin[i].second >= 0) outfile_print(f, "%" PRId32, margin[i].second + 1);
        put_distance(f, margin[i].own);
        put_distance(f, margin[i].other);
        if (labels[i] < 0)
            outfile_put(f, ",", 1);
        else
            outfile_print(f, ",%.6g", cof_margin_lead(&margin[i]));
        put_name(f, table, i, names);
        outfile_put(f, "\n", 1);
    }
    return outfile_finish(f);
}

int write_history(outfile *f, const cof_model *model)
{
    size_t n = 0;
    const cof_pass_record *record = cof_model_history(model, &n);
    int code = outfile_open(f);
    if (code != CODE_DONE) return code;
    for (size_t i = 0; i < n && f->status == COF_OK; i++) {
        cof_json j;
        cof_json_begin(&j, outfile_sink, f);
        cof_json_open_line(&j, NULL, '{');
        cof_json_count(&j, "restart", record[i].restart + 1u);
        cof_json_count(&j, "rebuild", record[i].rebuild);
        cof_json_count(&j, "pass", record[i].pass);
        cof_json_real(&j, "objective", record[i].objective);
        cof_json_count(&j, "moved", record[i].moved);
        cof_json_close(&j, '}');
        cof_json_end(&j);
    }
    return outfile_finish(f);
}
