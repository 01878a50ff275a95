/* Maps of AC under the value distances of CBDM, ADC and COForest, coloured by true class. */
#include "reproduce.h"

#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "complain.h"

enum { N_MAPS = 3, NEIGHBOURS = 10 };
static const char *const ids[N_MAPS] = {"cbdm", "adc", "coforest"};
static const char *const words[N_MAPS] = {"CBDM", "ADC", "COForest"};

static void describe(const rep_job *job, char *settings, size_t n)
{
    (void)job;
    snprintf(settings, n, "coforest %s, t-SNE seed 1, perplexity 30", cof_version());
}

static size_t list(const rep_job *job, rep_unit *units)
{
    const rep_table *t = rep_find_table(job, "AC");
    if (t == NULL) return 0;
    for (size_t i = 0; i < N_MAPS; i++) {
        units[i] = (rep_unit){.seconds = 0};
        snprintf(units[i].name, sizeof units[i].name, "%s", ids[i]);
        snprintf(units[i].key, sizeof units[i].key, "%s", t->key);
    }
    return N_MAPS;
}

/* ---- Distances --------------------------------------------------------------------------------------- */

static size_t values_of(const cof_table *table, size_t column)
{
    cof_column view;
    if (cof_table_column(table, column, &view) != COF_OK || view.role != COF_ROLE_ATTRIBUTE) return 0;
    return view.n_values + (view.n_missing > 0 ? 1u : 0u);
}

/* Of the model, by column; only columns clustered on are in it, in their order. */
static cof_status forest_distances(const rep_table *t, double *const *distances, cof_error *err)
{
    cof_fit_options o = {.struct_size = sizeof o, .k = t->about->k, .seed = 1};
    cof_model *model = NULL;
    cof_status status = cof_fit(t->table, &o, &model, NULL, err);
    size_t n = status == COF_OK ? cof_table_n_columns(t->table) : 0, attribute = 0;
    for (size_t c = 0; c < n; c++) {
        uint32_t values = (uint32_t)values_of(t->table, c);
        if (values == 0) continue;
        for (uint32_t u = 0; u < values; u++)
            for (uint32_t v = 0; v < values; v++) {
                double d = cof_model_distance(model, attribute, u, v);
                distances[c][u * values + v] = isnan(d) ? 0 : d;
            }
        attribute++;
    }
    cof_model_free(model);
    return status;
}

static cof_status value_distances(const rep_table *t, const char *method, double *const *distances,
                                  cof_error *err)
{
    cof_fit_options o = {.struct_size = sizeof o, .k = t->about->k, .threads = 1, .method = method};
    if (strcmp(method, "coforest") == 0) return forest_distances(t, distances, err);
    return cof_value_distances(t->table, &o, distances, err);
}

static void add_column(const rep_table *t, size_t column, const double *d, double *between)
{
    size_t o = values_of(t->table, column), n = t->n_rows;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            between[i * n + j] +=
                d[cof_table_code(t->table, i, column) * o + cof_table_code(t->table, j, column)];
}

/* Sum over the attributes, row against row. */
static int row_distances(const rep_table *t, const char *method, double *between)
{
    enum { MOST_COLUMNS = 64 };
    double *distances[MOST_COLUMNS] = {NULL};
    size_t n_columns = cof_table_n_columns(t->table);
    cof_error err = {""};
    cof_status status = n_columns <= MOST_COLUMNS ? COF_OK : COF_ERR_ARGUMENT;
    for (size_t c = 0; status == COF_OK && c < n_columns; c++) {
        size_t o = values_of(t->table, c);
        if (o == 0) continue;
        distances[c] = calloc(o * o, sizeof(double));
        if (distances[c] == NULL) status = COF_ERR_MEMORY;
    }
    if (status == COF_OK) status = value_distances(t, method, distances, &err);
    for (size_t c = 0; c < n_columns && c < MOST_COLUMNS; c++) {
        if (status == COF_OK && distances[c] != NULL) add_column(t, c, distances[c], between);
        free(distances[c]);
    }
    return status == COF_OK ? CODE_DONE : complain_status(status, TASK_FIT, &err);
}

/* ---- Does a map keep classes together? ------------------------------------------------------------------ */

/* The share of a row's nearest rows that are of its class, over all rows. Ties at the edge count by their
 * share, so that the order of equal rows does not matter. */
static double agreement_at(const rep_table *t, const double *from, size_t i, double *sorted)
{
    double nearer = 0, nearer_own = 0, edge = 0, edge_own = 0;
    size_t n = 0;
    for (size_t j = 0; j < t->n_rows; j++)
        if (j != i) sorted[n++] = from[j];
    rep_sort(sorted, n);
    double limit = sorted[NEIGHBOURS - 1];
    for (size_t j = 0; j < t->n_rows; j++) {
        if (j == i || from[j] > limit + 1e-12) continue;
        bool own = t->classes[j] == t->classes[i], at_edge = from[j] >= limit - 1e-12;
        nearer += !at_edge;
        nearer_own += own && !at_edge;
        edge += at_edge;
        edge_own += own && at_edge;
    }
    return (nearer_own + edge_own / edge * (NEIGHBOURS - nearer)) / NEIGHBOURS;
}

/* by distances, or by the map where between is NULL */
static double agreement(const rep_table *t, const double *between, const double *xy)
{
    size_t n = t->n_rows;
    double sum = 0, *work = malloc(2 * n * sizeof *work);
    if (work == NULL) return (double)NAN;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            work[j] = between != NULL ? between[i * n + j]
                                      : hypot(xy[2 * i] - xy[2 * j], xy[2 * i + 1] - xy[2 * j + 1]);
        sum += agreement_at(t, work, i, work + n);
    }
    free(work);
    return sum / (double)n;
}

static int place_rows(rep_job *job, const rep_table *t, const char *method, double *between, double *xy,
                      rep_results *results)
{
    cof_tsne_options o = {.struct_size = sizeof o, .seed = 1, .threads = job->threads};
    cof_error err;
    char class[24];
    size_t label = cof_table_find(t->table, "class");
    int code = row_distances(t, method, between);
    if (code != CODE_DONE) return code;
    cof_status status = cof_tsne(&job->env, between, t->n_rows, &o, xy, &err);
    if (interrupted()) return CODE_INTERRUPTED;
    if (status != COF_OK) return complain_status(status, TASK_FIT, &err);
    for (size_t i = 0; code == CODE_DONE && i < t->n_rows; i++) {
        snprintf(class, sizeof class, "%s", cof_table_value(t->table, label, (uint32_t)t->classes[i]));
        code = rep_add(results, method, class, (double)i + 1, xy[2 * i], xy[2 * i + 1], t->classes[i]);
    }
    if (code != CODE_DONE) return code;
    return rep_add(results, method, "agreement", NEIGHBOURS, agreement(t, between, NULL),
                   agreement(t, NULL, xy), (double)NAN);
}

static int run(rep_job *job, const rep_unit *unit, rep_results *results)
{
    const rep_table *t = rep_find_table(job, "AC");
    double *between = calloc(t->n_rows * t->n_rows, sizeof *between), *xy = calloc(t->n_rows, 2 * sizeof *xy);
    int code = between == NULL || xy == NULL || t->n_rows <= NEIGHBOURS
                   ? complain_memory()
                   : place_rows(job, t, unit->name, between, xy, results);
    free(between);
    free(xy);
    return code;
}

/* ---- Picture and words ----------------------------------------------------------------------------------- */

static bool is_point(const rep_record *record, const char *unit)
{
    return strcmp(record->unit, unit) == 0 && strcmp(record->series, "agreement") != 0;
}

static void draw_map(FILE *out, const rep_results *r, size_t map)
{
    plot p = {.out = out, .left = 12 + 330 * (double)map, .top = 44, .width = 306, .height = 306};
    p.x0 = p.y0 = INFINITY;
    p.x1 = p.y1 = -INFINITY;
    for (size_t i = 0; i < r->n; i++) {
        if (!is_point(&r->record[i], ids[map])) continue;
        p.x0 = fmin(p.x0, r->record[i].value[0]);
        p.x1 = fmax(p.x1, r->record[i].value[0]);
        p.y0 = fmin(p.y0, r->record[i].value[1]);
        p.y1 = fmax(p.y1, r->record[i].value[1]);
    }
    plot_title(&p, "%s @ AC", words[map]);
    for (size_t i = 0; i < r->n; i++) {
        const rep_record *at = &r->record[i];
        if (!is_point(at, ids[map])) continue;
        chart_mark(out, at->value[2] > 0 ? "f1 point" : "f0 point",
                   at->value[2] > 0 ? MARK_DIAMOND : MARK_DOT, plot_x(&p, at->value[0]),
                   plot_y(&p, at->value[1]), at->value[2] > 0 ? 3.6 : 2.8);
    }
}

static int draw(const rep_job *job, const rep_results *r)
{
    rep_file f;
    int code = rep_file_open(job, "tsne.svg", &f);
    if (code != CODE_DONE) return code;
    chart_open(f.out, 1000, 366, "Maps of AC under three value distances");
    chart_mark(f.out, "f0", MARK_DOT, 20, 14, 4);
    chart_text(f.out, "n", 30, 18, "rejected (class 0)");
    chart_mark(f.out, "f1", MARK_DIAMOND, 150, 14, 5);
    chart_text(f.out, "n", 160, 18, "approved (class 1)");
    for (size_t map = 0; map < N_MAPS; map++) draw_map(f.out, r, map);
    chart_close(f.out);
    return rep_file_close(&f);
}

static void tell(const rep_job *job, const rep_results *r, FILE *page)
{
    fputs(
        "<p>Rows of AC, placed by t-SNE on the sum over the attributes of each method's value distances. "
        "COForest's come from a fit with our defaults, which sees no class. How many of a row's ten nearest "
        "rows have its class:</p>\n<div class=\"wide\"><table>\n<tr><th></th><th>by distance</th>"
        "<th>on the map</th></tr>\n",
        page);
    for (size_t map = 0; map < N_MAPS; map++) {
        double by_distance = (double)NAN, on_map = (double)NAN;
        rep_collect(r, ids[map], "agreement", 0, &by_distance, 1);
        rep_collect(r, ids[map], "agreement", 1, &on_map, 1);
        fprintf(page, "<tr><th scope=\"row\">%s</th>", words[map]);
        rep_number_cell(page, "", "%.1f %%", 100 * by_distance);
        rep_number_cell(page, "", "%.1f %%", 100 * on_map);
        fputs("</tr>\n", page);
    }
    fputs("</table></div>\n<p>Equal shares mean that the maps differ in looks more than in what they keep "
          "together.</p>\n",
          page);
    rep_inline(job, "tsne.svg", page);
}

const rep_experiment rep_tsne = {.name = "tsne",
                                 .title = "Maps of AC by t-SNE",
                                 .columns = {"method", "class", "row", "x", "y", "class_id", NULL},
                                 .needs_data = true,
                                 .describe = describe,
                                 .list = list,
                                 .run = run,
                                 .draw = draw,
                                 .tell = tell};
