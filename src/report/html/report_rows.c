/* Rows: their map, and the typical and odd ones of every cluster. */
#include "../svg/draw_map.h"
#include "report.h"

#include <stdio.h>

enum { MOST_SHOWN = 6 /* attributes of a row */, MOST_MEMBERS = 200, MOST_LISTED = 6000 };

/* ---- Map --------------------------------------------------------------------------------------------- */

static void map_legend(cofi_report *r)
{
    enum { MOST = 100 };
    cofi_out *out = &r->out;
    cofi_out_text(out, "<ul class=\"legend\" aria-label=\"Clusters on the map\">\n");
    for (uint32_t j = 0; j < r->k && j < MOST; j++) {
        cofi_html(out,
                  "<li><button type=\"button\" data-script hidden data-cluster=\"%u\" "
                  "aria-pressed=\"false\">%k</button>",
                  j + 1, j);
        if (j < COFI_COLOURS) cofi_html(out, "<noscript>%k</noscript>", j);
        cofi_out_text(out, "</li>\n");
    }
    cofi_out_text(out, "</ul>\n");
    if (r->k > COFI_COLOURS)
        cofi_out_format(
            out,
            "<p class=\"soft\">Colours repeat after %d clusters; point at a circle or press a button to "
            "tell them apart.</p>\n",
            (int)COFI_COLOURS);
}

void cofi_report_map(cofi_report *r)
{
    cofi_out *out = &r->out;
    size_t n = 0;
    if (r->map == NULL || r->n_rows == 0) return;
    cof_map_points(r->map, &n);
    cofi_map_drawing d = {.map = r->map, .table = r->table, .label = r->label, .k = r->k, .names = r->names};
    cofi_html_section(out, "map", "Map of the rows");
    cofi_out_format(out,
                    "<p>Every circle is a distinct row. Rows that are similar by %s lie together (t-SNE); "
                    "the distance between "
                    "groups means little. ",
                    r->has_trees ? "the learned distances" : "the number of columns they agree in");
    if (n < r->n_distinct || cof_map_n_distinct(r->map) == 0) {
        cofi_html(out, "A sample of %c", (uint64_t)n);
        if (r->n_distinct > 0) cofi_html(out, " of %c", r->n_distinct);
        cofi_out_text(out, " distinct rows is shown. ");
    }
    cofi_out_text(out, "A larger circle stands for more equal rows; point at it to see which.</p>\n");
    map_legend(r);
    cofi_out_text(out, "<figure class=\"map\">");
    cofi_draw_map(out, &d);
    cofi_out_text(out, "</figure></section>\n");
}

/* ---- Examples ---------------------------------------------------------------------------------------- */

static void row_name(cofi_report *r, size_t row)
{
    if (r->names == SIZE_MAX) {
        cofi_out_format(&r->out, "row %llu", (unsigned long long)cof_table_row_number(r->table, row) + 1);
        return;
    }
    uint32_t code = cof_table_code(r->table, row, r->names);
    cofi_html(&r->out, "%30n <span class=\"soft\">(row %z)</span>", cof_table_value(r->table, r->names, code),
              (size_t)cof_table_row_number(r->table, row) + 1);
}

/* The table column of the i-th most telling attribute. */
static size_t column_of(const cofi_report *r, size_t i)
{
    for (size_t a = 0; a < r->values.n; a++)
        if (r->values.attribute[a] == r->ranked[i]) return r->values.column[a];
    return SIZE_MAX;
}

static size_t n_shown(const cofi_report *r)
{
    return r->n_ranked < MOST_SHOWN ? r->n_ranked : MOST_SHOWN;
}

static void example_line(cofi_report *r, const char *kind, size_t row)
{
    cofi_out *out = &r->out;
    const cof_margin *m = &r->margin[row];
    cofi_out_text(out, "<tr><th scope=\"row\">");
    row_name(r, row);
    cofi_html(out, "<td class=\"nw\">%s%2d%d %%<td>", kind, (double)m->own, 100 * cof_margin_lead(m));
    if (m->second >= 0) cofi_html_cluster(out, (uint32_t)m->second);
    for (size_t i = 0; i < n_shown(r); i++) {
        size_t column = column_of(r, i);
        bool whole = column != SIZE_MAX && r->table->column[column].cut != NULL; /* dates are not broken */
        cofi_out_text(out, whole ? "<td class=\"nw\">" : "<td>");
        if (column == SIZE_MAX) continue;
        cofi_html_name(out, cof_table_cell(r->table, row, column), 20);
    }
    cofi_out_text(out, "</tr>\n");
}

/* In a small cluster the same row may be the most and the least typical. */
static bool was_told(const cofi_cluster_rows *c, int kind, size_t row)
{
    for (int before = 0; before < kind; before++)
        for (size_t i = 0; i < c->n_examples[before]; i++)
            if (c->example[before][i].row == row) return true;
    return false;
}

static void example_table(cofi_report *r, uint32_t j)
{
    static const char *const kind[] = {"typical", "atypical", "close call"};
    cofi_out *out = &r->out;
    char caption[100];
    snprintf(caption, sizeof caption, "Rows of cluster %u, with the most important columns", j + 1);
    cofi_html_table(out, "", true, caption);
    cofi_out_text(out, "<thead><tr><th scope=\"col\">row<th scope=\"col\">why<th scope=\"col\" "
                       "class=\"n\">distance<th scope=\"col\" class=\"n\">lead<th scope=\"col\">next");
    for (size_t i = 0; i < n_shown(r); i++)
        cofi_html(out, "<th scope=\"col\">%16n", r->model->attr[r->ranked[i]].domain.name);
    cofi_out_text(out, "</tr></thead><tbody>\n");
    for (int which = 0; which < COFI_KINDS; which++)
        for (size_t i = 0; i < r->rows[j].n_examples[which]; i++)
            if (!was_told(&r->rows[j], which, r->rows[j].example[which][i].row))
                example_line(r, kind[which], r->rows[j].example[which][i].row);
    cofi_out_text(out, "</tbody>");
    cofi_html_table_end(out);
}

/* Where rows have names and are few, all of them. */
static void members(cofi_report *r, uint32_t j)
{
    cofi_out *out = &r->out;
    size_t told = 0;
    if (r->names == SIZE_MAX || r->n_clustered > MOST_LISTED || r->sampled) return;
    cofi_out_text(out, "<p><b>Rows:</b> ");
    for (size_t i = 0; i < r->n_rows && told < MOST_MEMBERS; i++) {
        if (r->label[i] != (int32_t)j) continue;
        if (told++ > 0) cofi_out_text(out, ", ");
        uint32_t code = cof_table_code(r->table, i, r->names);
        cofi_html_name(out, cof_table_value(r->table, r->names, code), 24);
    }
    if (told < r->rows[j].n) cofi_html(out, " and %c more", r->rows[j].n - told);
    cofi_out_text(out, "</p>\n");
}

void cofi_report_rows(cofi_report *r)
{
    enum { MOST = 200 };
    cofi_out *out = &r->out;
    if (!cofi_report_has_rows(r) || r->margin == NULL) return;
    cofi_html_section(out, "rows", "Typical and atypical rows");
    cofi_out_text(out, "<p>Typical rows lie nearest to their cluster, atypical ones farthest. A close call "
                       "is almost as near to "
                       "the next cluster. Equal rows are shown once.</p>\n");
    for (uint32_t j = 0; j < r->k && j < MOST; j++) {
        if (r->rows[j].n == 0) continue;
        cofi_html(out, "<details class=\"screen\"%s><summary><h3>%wCluster %u</h3></summary>\n",
                  r->k <= COFI_REPORT_OPEN ? " open" : "", j, j + 1);
        members(r, j);
        example_table(r, j);
        cofi_out_text(out, "</details>\n");
    }
    cofi_out_text(out, "</section>\n");
}
