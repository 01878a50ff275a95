/* The labels file, the margins file, memberships, the file of value distances and the history file. */
#include "labels_csv.h"

#include <inttypes.h>
#include <math.h>

#include "../complain.h"
#include "../method_list.h"
#include "../verbs/fit_job.h"

void put_cell(outfile *f, const char *text)
{
    cof_text_cell(outfile_sink, f, text, ',', !f->raw);
}

/* ---- Rows ----------------------------------------------------------------------------------------- */

/* Decimal digits of n before `end`; where they begin. Millions of rows are written this way, for which printf takes
 * longer than clustering them. */
static char *digits_before(char *end, uint64_t n)
{
    do *--end = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    return end;
}

/* ",7", the cluster from 1; "," for none. */
static char *cluster_before(char *end, int32_t label)
{
    if (label >= 0) end = digits_before(end, (uint64_t)label + 1);
    *--end = ',';
    return end;
}

static void put_cluster(outfile *f, int32_t label)
{
    char text[16], *end = text + sizeof text, *at = cluster_before(end, label);
    outfile_put(f, at, (size_t)(end - at));
}

static void put_header(outfile *f, const cof_table *table, size_t names, const char *more)
{
    outfile_print(f, "row,cluster");
    outfile_put(f, more, strlen(more));
    if (names != SIZE_MAX) {
        outfile_put(f, ",", 1);
        put_cell(f, column_of(table, names).name);
    }
    outfile_put(f, "\n", 1);
}

/* The cells of a row between its cluster and its name; exit codes. */
typedef int (*put_more)(outfile *f, void *ctx, size_t row);

/* n rows: `first` is the first one's place in the table, and `number` its number from 0. */
static int put_rows(outfile *f, const cof_table *table, size_t names, size_t first, uint64_t number,
                    const int32_t *labels, size_t n, put_more more, void *ctx)
{
    int code = CODE_DONE;
    for (size_t i = 0; i < n && f->status == COF_OK && code == CODE_DONE; i++) {
        char text[48], *end = text + sizeof text, *at = cluster_before(end, labels[i]);
        at = digits_before(at, number + i + 1);
        outfile_put(f, at, (size_t)(end - at));
        if (more != NULL) code = more(f, ctx, i);
        if (names != SIZE_MAX) {
            outfile_put(f, ",", 1);
            put_cell(f, cof_table_value(table, names, cof_table_code(table, first + i, names)));
        }
        outfile_put(f, "\n", 1);
    }
    return code;
}

static int write_rows(outfile *f, const cof_table *table, size_t names, const int32_t *labels,
                      const char *heads, put_more more, void *ctx)
{
    TRY(outfile_open(f));
    put_header(f, table, names, heads);
    TRY(put_rows(f, table, names, 0, 0, labels, cof_table_n_rows(table), more, ctx));
    return outfile_finish(f);
}

int begin_labels(outfile *f, const cof_table *table, size_t names)
{
    TRY(outfile_open(f));
    put_header(f, table, names, "");
    return CODE_DONE;
}

void put_labels(outfile *f, const cof_table *piece, size_t names, uint64_t first_row, const int32_t *labels,
                size_t n)
{
    put_rows(f, piece, names, 0, first_row, labels, n, NULL, NULL);
}

int write_labels(outfile *f, const cof_table *table, size_t names, label_source from)
{
    enum { PIECE = 1 << 14 };
    size_t n_rows = cof_table_n_rows(table);
    if (from.labels != NULL) return write_rows(f, table, names, from.labels, "", NULL, NULL);
    int32_t *piece = keep(PIECE, sizeof *piece);
    TRY(begin_labels(f, table, names));
    for (size_t first = 0; first < n_rows && f->status == COF_OK; first += PIECE) {
        size_t n = n_rows - first < PIECE ? n_rows - first : PIECE;
        f->status = cof_label_shards(from.model, from.schema, from.shards, first, piece, n, &f->err);
        put_rows(f, table, names, first, first, piece, n, NULL, NULL);
    }
    return outfile_finish(f);
}

static int put_alternatives(outfile *f, void *ctx, size_t row)
{
    const cof_model *model = ctx;
    for (size_t a = 0; cof_model_alternative(model, a) != NULL; a++)
        put_cluster(f, cof_model_labels(cof_model_alternative(model, a)->model, NULL)[row]);
    return CODE_DONE;
}

int write_alternatives(outfile *f, const cof_table *table, size_t names, const cof_model *model)
{
    char heads[80] = "";
    for (size_t n = 0; cof_model_alternative(model, n) != NULL; n++)
        append(heads, sizeof heads, ",alternative_%zu", n + 1);
    return write_rows(f, table, names, cof_model_labels(model, NULL), heads, put_alternatives, (void *)model);
}

static void put_distance(outfile *f, float distance)
{
    if (isfinite(distance))
        outfile_print(f, ",%.7g", (double)distance);
    else
        outfile_put(f, ",", 1);
}

typedef struct labelled_margins {
    const int32_t *labels;
    const cof_margin *margin;
} labelled_margins;

static int put_margin(outfile *f, void *ctx, size_t row)
{
    const labelled_margins *all = ctx;
    const cof_margin *margin = &all->margin[row];
    put_cluster(f, margin->second);
    put_distance(f, margin->own);
    put_distance(f, margin->other);
    if (all->labels[row] < 0)
        outfile_put(f, ",", 1);
    else
        outfile_print(f, ",%.6g", cof_margin_lead(margin));
    return CODE_DONE;
}

int write_margins(outfile *f, const cof_table *table, size_t names, const int32_t *labels,
                  const cof_margin *margin)
{
    labelled_margins all = {labels, margin};
    return write_rows(f, table, names, labels, ",next,distance,next_distance,lead", put_margin, &all);
}

/* ---- Memberships ---------------------------------------------------------------------------------- */

/* The memberships or log-likelihoods of a block of rows; a million rows of many clusters do not fit memory at once. */
typedef struct rated_block {
    cof_posterior *posterior;
    size_t most, first, n, n_rows; /* n rows from the first on */
    uint32_t k;
    double *share, *log_likelihood; /* of `most` rows; the one that is not wanted is NULL */
} rated_block;

static int open_block(rated_block *b, const cof_table *table, const cof_model *model, bool shares,
                      uint32_t threads)
{
    enum { MOST_ROWS = 1 << 16, MOST_NUMBERS = 1 << 20 };
    *b = (rated_block){.n_rows = cof_table_n_rows(table), .k = cof_model_k(model)};
    b->most = b->k < MOST_NUMBERS / MOST_ROWS ? MOST_ROWS : MOST_NUMBERS / b->k;
    if (shares)
        b->share = keep(b->most * b->k, sizeof *b->share);
    else
        b->log_likelihood = keep(b->most, sizeof *b->log_likelihood);
    return complain_status(cof_posterior_open(model, table, threads, &b->posterior, &said), TASK_PREDICT);
}

/* Rates the rows of the next block when the first one of them is asked for; exit codes. */
static int rate_row(rated_block *b, size_t row)
{
    if (row < b->first + b->n) return CODE_DONE;
    b->first = row;
    b->n = b->n_rows - row < b->most ? b->n_rows - row : b->most;
    return complain_status(cof_posterior_rows(b->posterior, row, b->n, b->share, b->log_likelihood, &said),
                           TASK_PREDICT);
}

/* ",0.123456"; "," for NaN */
static void put_share(outfile *f, double share)
{
    enum { DECIMALS = 6, WHOLE = 1000000 };
    char text[24], *end = text + sizeof text, *at = end;
    if (!isnan(share)) {
        uint64_t units = (uint64_t)llround(share * WHOLE);
        at = digits_before(at, units % WHOLE);
        while (end - at < DECIMALS) *--at = '0';
        *--at = '.';
        at = digits_before(at, units / WHOLE);
    }
    *--at = ',';
    outfile_put(f, at, (size_t)(end - at));
}

static int put_memberships(outfile *f, void *ctx, size_t row)
{
    rated_block *b = ctx;
    TRY(rate_row(b, row));
    for (uint32_t j = 0; j < b->k; j++) put_share(f, b->share[(row - b->first) * b->k + j]);
    return CODE_DONE;
}

int write_memberships(outfile *f, const cof_table *table, size_t names, const int32_t *labels,
                      const cof_model *model, uint32_t threads)
{
    rated_block b;
    int code = open_block(&b, table, model, true, threads);
    if (code == CODE_DONE) {
        enum { HEAD_BYTES = 16 };
        char *heads = keep(HEAD_BYTES * (size_t)b.k + 1, 1), *end = heads;
        for (uint32_t j = 0; j < b.k; j++) end += snprintf(end, HEAD_BYTES, ",p%" PRIu32, j + 1);
        code = write_rows(f, table, names, labels, heads, put_memberships, &b);
    }
    cof_posterior_free(b.posterior);
    return code;
}

int write_scores(outfile *f, const cof_table *table, const cof_model *model, uint32_t threads)
{
    rated_block b;
    char digits[COF_NUMBER_BYTES];
    int code = open_block(&b, table, model, false, threads);
    if (code == CODE_DONE) code = outfile_open(f);
    if (code == CODE_DONE) outfile_print(f, "row,log_likelihood\n");
    for (size_t i = 0; i < b.n_rows && f->status == COF_OK && code == CODE_DONE; i++) {
        code = rate_row(&b, i);
        if (code != CODE_DONE) break;
        double here = b.log_likelihood[i - b.first];
        outfile_print(f, "%zu,%s\n", i + 1, isnan(here) ? "" : cof_text_number(digits, sizeof digits, here));
    }
    if (code == CODE_DONE) code = outfile_finish(f);
    cof_posterior_free(b.posterior);
    return code;
}

/* ---- The table, modes and profiles ---------------------------------------------------------------- */

static void name_cluster_column(const cof_table *table, char *name, size_t room)
{
    snprintf(name, room, "cluster");
    for (unsigned i = 2; cof_table_find(table, name) != SIZE_MAX; i++) snprintf(name, room, "cluster_%u", i);
}

int begin_table(outfile *f, const cof_table *table)
{
    size_t n_columns = cof_table_n_columns(table);
    char name[32];
    TRY(outfile_open(f));
    for (size_t c = 0; c < n_columns; c++) {
        put_cell(f, column_of(table, c).name);
        outfile_put(f, ",", 1);
    }
    name_cluster_column(table, name, sizeof name);
    outfile_print(f, "%s\n", name);
    return CODE_DONE;
}

void put_table(outfile *f, const cof_table *piece, const int32_t *labels)
{
    size_t n_columns = cof_table_n_columns(piece);
    for (size_t i = 0; i < cof_table_n_rows(piece) && f->status == COF_OK; i++) {
        for (size_t c = 0; c < n_columns; c++) {
            put_cell(f, cof_table_cell(piece, i, c));
            outfile_put(f, ",", 1);
        }
        if (labels[i] >= 0) outfile_print(f, "%" PRId32, labels[i] + 1);
        outfile_put(f, "\n", 1);
    }
}

int write_table(outfile *f, const cof_table *table, const int32_t *labels)
{
    TRY(begin_table(f, table));
    put_table(f, table, labels);
    return outfile_finish(f);
}

static void put_amount(outfile *f, double amount)
{
    char digits[COF_NUMBER_BYTES];
    outfile_print(f, "%s", cof_text_number(digits, sizeof digits, amount));
}

int write_modes(outfile *f, const cof_model *model)
{
    TRY(outfile_open(f));
    outfile_print(f, "cluster,rows");
    for (size_t a = 0; a < cof_model_n_attributes(model); a++) {
        cof_attribute about = attribute_of(model, a);
        if (!about.used) continue;
        outfile_put(f, ",", 1);
        put_cell(f, about.name);
    }
    for (uint32_t j = 0; j < cof_model_k(model); j++) {
        outfile_print(f, "\n%" PRIu32 ",", j + 1);
        put_amount(f, cof_model_sizes(model)[j]);
        for (size_t a = 0; a < cof_model_n_attributes(model); a++) {
            int64_t mode = cof_model_mode(model, a, j);
            if (!attribute_of(model, a).used) continue;
            outfile_put(f, ",", 1);
            if (mode >= 0) put_cell(f, cof_model_value(model, a, (uint32_t)mode));
        }
    }
    outfile_put(f, "\n", 1);
    return outfile_finish(f);
}

int write_profiles(outfile *f, const cof_model *model)
{
    TRY(outfile_open(f));
    outfile_print(f, "column,value,cluster,rows,share\n");
    for (size_t a = 0; a < cof_model_n_attributes(model); a++) {
        cof_attribute about = attribute_of(model, a);
        for (uint32_t v = 0; about.used && v < about.n_values; v++)
            for (uint32_t j = 0; j < cof_model_k(model); j++) {
                double count = cof_model_count(model, a, v, j), size = cof_model_sizes(model)[j];
                put_cell(f, about.name);
                outfile_put(f, ",", 1);
                put_cell(f, cof_model_value(model, a, v));
                outfile_print(f, ",%" PRIu32 ",", j + 1);
                put_amount(f, count);
                outfile_print(f, ",%.6g\n", size > 0 ? count / size : 0);
            }
    }
    return outfile_finish(f);
}

/* ---- Distances between values -------------------------------------------------------------------- */

static void put_pair(outfile *f, const char *column, const char *value, const char *other, double distance)
{
    const char *const cell[] = {column, value, other};
    char digits[COF_NUMBER_BYTES];
    for (size_t i = 0; i < 3; i++) {
        put_cell(f, cell[i]);
        outfile_put(f, ",", 1);
    }
    outfile_print(f, "%s\n", cof_text_number(digits, sizeof digits, distance));
}

/* Distances along the trees of a model. */
static void put_tree_distances(outfile *f, const cof_model *model)
{
    for (size_t a = 0; a < cof_model_n_attributes(model); a++) {
        cof_attribute about = attribute_of(model, a);
        for (uint32_t u = 0; about.used && u < about.n_values; u++)
            for (uint32_t v = u + 1; v < about.n_values; v++)
                put_pair(f, about.name, cof_model_value(model, a, u), cof_model_value(model, a, v),
                         cof_model_distance(model, a, u, v));
    }
}

/* Values of a column that take part, one more for missing cells that count as a value; 0: it takes no part. */
static size_t values_of(const cof_table *table, const cof_model *model, size_t column)
{
    cof_column view = column_of(table, column);
    if (view.role != COF_ROLE_ATTRIBUTE) return 0;
    return view.n_values + (view.n_missing > 0 && cof_model_missing(model) == COF_MISSING_VALUE ? 1u : 0u);
}

/* Distances of a method that measures them once, before it clusters. */
static cof_status put_method_distances(outfile *f, const cof_table *table, const cof_model *model)
{
    cof_fit_options o = {
        .struct_size = sizeof o, .method = cof_model_method(model), .missing = cof_model_missing(model)};
    size_t n = cof_table_n_columns(table);
    double **distance = keep(n + 1, sizeof *distance);
    for (size_t c = 0; c < n; c++) {
        size_t n_values = values_of(table, model, c);
        if (n_values > 0) distance[c] = keep(n_values * n_values, sizeof **distance);
    }
    cof_status status = cof_value_distances(table, &o, distance, &said);
    for (size_t c = 0; status == COF_OK && c < n; c++) {
        size_t n_values = values_of(table, model, c);
        for (uint32_t u = 0; u < n_values; u++)
            for (uint32_t v = u + 1; v < n_values; v++)
                put_pair(f, column_of(table, c).name, cof_table_value(table, c, u),
                         cof_table_value(table, c, v), distance[c][u * n_values + v]);
    }
    return status;
}

int write_distances(outfile *f, const cof_table *table, const cof_model *model)
{
    cof_status status = COF_OK;
    TRY(outfile_open(f));
    outfile_print(f, "column,value,other,distance\n");
    if (has_trees(model))
        put_tree_distances(f, model);
    else
        status = put_method_distances(f, table, model);
    if (status == COF_ERR_ARGUMENT)
        return complain(CODE_USAGE,
                        "--distances-out has nothing to write: %s has no distances between values that "
                        "hold for the whole table; leave it out",
                        cof_model_method(model));
    return status == COF_OK ? outfile_finish(f) : complain_status(status, TASK_FIT);
}

int write_history(outfile *f, const cof_model *model)
{
    size_t list = field_place("history"), n = cof_result_length(model, NULL, list);
    TRY(outfile_open(f));
    for (size_t i = 0; i < n && f->status == COF_OK; i++) {
        cof_json j;
        cof_json_begin(&j, outfile_sink, f);
        cof_json_open_line(&j, NULL, '{');
        json_members(&j, model, NULL, list, i);
        cof_json_close(&j, '}');
        cof_json_end(&j);
    }
    return outfile_finish(f);
}
