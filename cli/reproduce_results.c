/* Measurements, kept as JSON so that finished parts need not be run again, and as CSV for everybody else. */
#include "reproduce.h"
#include "term.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"

int rep_add(rep_results *r, const char *unit, const char *series, double x, double a, double b, double c)
{
    if (r->n == r->capacity) {
        size_t capacity = r->capacity == 0 ? 1024 : 2 * r->capacity;
        rep_record *grown = realloc(r->record, capacity * sizeof *grown);
        if (grown == NULL) return complain_memory();
        r->record = grown;
        r->capacity = capacity;
    }
    rep_record *record = &r->record[r->n++];
    *record = (rep_record){.x = x, .value = {a, b, c}};
    snprintf(record->unit, sizeof record->unit, "%s", unit);
    snprintf(record->series, sizeof record->series, "%s", series);
    return CODE_DONE;
}

void rep_results_free(rep_results *r)
{
    free(r->record);
    *r = (rep_results){.n = 0};
}

size_t rep_collect(const rep_results *r, const char *unit, const char *series, int value, double *out,
                   size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n && n < most; i++) {
        const rep_record *record = &r->record[i];
        if (strcmp(record->unit, unit) != 0 || strcmp(record->series, series) != 0) continue;
        double found = value < 0 ? record->x : record->value[value];
        if (!isnan(found)) out[n++] = found;
    }
    return n;
}

const rep_unit *rep_find_unit(const rep_results *r, const char *name)
{
    for (size_t i = 0; i < r->n_units; i++)
        if (strcmp(r->unit[i].name, name) == 0) return &r->unit[i];
    return NULL;
}

double rep_seconds(const rep_results *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->n_units; i++) sum += r->unit[i].seconds;
    return sum;
}

uint32_t rep_runs_of(const rep_results *r)
{
    unsigned runs = PAPER_RUNS;
    sscanf(r->settings, "coforest %*s %u runs a mean", &runs);
    return runs > 0 ? runs : PAPER_RUNS;
}

/* ---- Files ----------------------------------------------------------------------------------------- */

int rep_file_open(const rep_job *job, const char *name, rep_file *f)
{
    *f = (rep_file){.n = 0};
    if (snprintf(f->path, sizeof f->path, "%s/%s", job->out, name) >= (int)sizeof f->path)
        return complain(CODE_USAGE, "--out is too long: %s", job->out);
    f->out = open_memstream(&f->text, &f->n);
    return f->out != NULL ? CODE_DONE : complain_memory();
}

int rep_file_close(rep_file *f)
{
    cof_error err;
    cof_output *output = NULL;
    bool whole = ferror(f->out) == 0;
    whole = fclose(f->out) == 0 && whole;
    cof_status status = whole ? cof_output_open(NULL, f->path, &output, &err) : COF_ERR_MEMORY;
    if (status == COF_OK) {
        status = cof_output_write(output, f->text, f->n, &err);
        if (status == COF_OK)
            status = cof_output_commit(output, &err);
        else
            cof_output_discard(output);
    }
    free(f->text);
    if (!whole) return complain_memory();
    return status == COF_OK ? CODE_DONE : complain_status(status, TASK_OUTPUT, &err);
}

void rep_inline(const rep_job *job, const char *name, FILE *pg)
{
    char path[1024], block[4096];
    size_t n;
    if (snprintf(path, sizeof path, "%s/%s", job->out, name) >= (int)sizeof path) return;
    FILE *in = fopen(path, "rb");
    if (in == NULL) return;
    fputs("<figure>\n", pg);
    while ((n = fread(block, 1, sizeof block, in)) > 0) fwrite(block, 1, n, pg);
    fputs("</figure>\n", pg);
    fclose(in);
}

/* ---- Writing ---------------------------------------------------------------------------------------- */

static size_t count_values(const rep_experiment *e)
{
    size_t n = 0;
    while (e->columns[n] != NULL) n++;
    return n - 3;
}

static void write_json(const rep_experiment *e, const rep_results *r, FILE *out)
{
    cof_json j;
    cof_json_begin(&j, file_sink, out);
    cof_json_open(&j, NULL, '{');
    cof_json_text(&j, "experiment", e->name);
    cof_json_text(&j, "settings", r->settings);
    cof_json_open_line(&j, "columns", '[');
    for (size_t i = 0; e->columns[i] != NULL; i++) cof_json_text(&j, NULL, e->columns[i]);
    cof_json_close(&j, ']');
    cof_json_open(&j, "parts", '[');
    for (size_t i = 0; i < r->n_units; i++) {
        cof_json_open_line(&j, NULL, '[');
        cof_json_text(&j, NULL, r->unit[i].name);
        cof_json_text(&j, NULL, r->unit[i].key);
        cof_json_real(&j, NULL, r->unit[i].seconds);
        cof_json_close(&j, ']');
    }
    cof_json_close(&j, ']');
    cof_json_open(&j, "rows", '[');
    for (size_t i = 0; i < r->n; i++) {
        cof_json_open_line(&j, NULL, '[');
        cof_json_text(&j, NULL, r->record[i].unit);
        cof_json_text(&j, NULL, r->record[i].series);
        cof_json_real(&j, NULL, r->record[i].x);
        for (size_t v = 0; v < count_values(e); v++) cof_json_real(&j, NULL, r->record[i].value[v]);
        cof_json_close(&j, ']');
    }
    cof_json_close(&j, ']');
    cof_json_close(&j, '}');
    cof_json_end(&j);
}

static void write_csv(const rep_experiment *e, const rep_results *r, FILE *out)
{
    for (size_t i = 0; e->columns[i] != NULL; i++) fprintf(out, "%s%s", i == 0 ? "" : ",", e->columns[i]);
    fputc('\n', out);
    for (size_t i = 0; i < r->n; i++) {
        const rep_record *record = &r->record[i];
        char digits[COF_NUMBER_BYTES];
        fprintf(out, "%s,%s,%s", record->unit, record->series,
                cof_text_number(digits, sizeof digits, record->x));
        for (size_t v = 0; v < count_values(e); v++)
            fprintf(out, ",%s",
                    isfinite(record->value[v]) ? cof_text_number(digits, sizeof digits, record->value[v])
                                               : "");
        fputc('\n', out);
    }
}

int rep_save(const rep_job *job, const rep_experiment *e, const rep_results *r)
{
    char name[64];
    rep_file f;
    snprintf(name, sizeof name, "%s.csv", e->name);
    int code = rep_file_open(job, name, &f);
    if (code != CODE_DONE) return code;
    write_csv(e, r, f.out);
    code = rep_file_close(&f);
    snprintf(name, sizeof name, "%s.json", e->name);
    if (code == CODE_DONE) code = rep_file_open(job, name, &f);
    if (code != CODE_DONE) return code;
    write_json(e, r, f.out);
    return rep_file_close(&f);
}

/* ---- Reading back what we wrote ---------------------------------------------------------------------- */

/* The text in quotes at *at, which moves behind it; ours have no escapes. */
static bool take_text(const char **at, char *text, size_t n)
{
    const char *from = strchr(*at, '"'), *to = from == NULL ? NULL : strchr(from + 1, '"');
    if (to == NULL) return false;
    snprintf(text, n, "%.*s", (int)(to - from - 1), from + 1);
    *at = to + 1;
    return true;
}

static double take_number(const char **at)
{
    char *end;
    *at += strspn(*at, ", ");
    double x = strtod(*at, &end);
    if (end == *at) x = (double)NAN; /* null, or the end */
    *at += strcspn(*at, ",]");
    return x;
}

static void take_unit(rep_results *r, const char *at)
{
    rep_unit *u = &r->unit[r->n_units];
    if (r->n_units == MOST_UNITS || !take_text(&at, u->name, sizeof u->name)) return;
    if (!take_text(&at, u->key, sizeof u->key)) return;
    u->seconds = take_number(&at);
    r->n_units++;
}

static int take_record(rep_results *r, const char *at)
{
    char unit[24], series[24];
    if (!take_text(&at, unit, sizeof unit) || !take_text(&at, series, sizeof series)) return CODE_DONE;
    double x = take_number(&at), a = take_number(&at), b = take_number(&at), c = take_number(&at);
    return rep_add(r, unit, series, x, a, b, c);
}

/* Line by line, as write_json lays them out. False if the file is not whole. */
static bool read_json(FILE *in, rep_results *r)
{
    enum { HEAD, PARTS, ROWS } where = HEAD;
    char line[512];
    while (fgets(line, sizeof line, in) != NULL) {
        const char *at = line + strspn(line, " ");
        if (strncmp(at, "\"settings\": ", 12) == 0) {
            at += 11;
            if (!take_text(&at, r->settings, sizeof r->settings)) return false;
        } else if (strncmp(at, "\"parts\":", 8) == 0) {
            where = PARTS;
        } else if (strncmp(at, "\"rows\":", 7) == 0) {
            where = ROWS;
        } else if (*at == '[' && where == PARTS) {
            take_unit(r, at);
        } else if (*at == '[' && where == ROWS && take_record(r, at) != CODE_DONE) {
            return false;
        } else if (line[0] == '}') {
            return where == ROWS;
        }
    }
    return false;
}

void rep_load(const rep_job *job, const rep_experiment *e, const char *settings, rep_results *r)
{
    char path[1024];
    *r = (rep_results){.n = 0};
    if (snprintf(path, sizeof path, "%s/%s.json", job->out, e->name) < (int)sizeof path) {
        FILE *in = fopen(path, "r");
        if (in != NULL) {
            if (!read_json(in, r)) rep_results_free(r); /* made anew */
            fclose(in);
        }
    }
    if (settings == NULL || strcmp(r->settings, settings) == 0) return;
    rep_results_free(r);
    snprintf(r->settings, sizeof r->settings, "%s", settings);
}
