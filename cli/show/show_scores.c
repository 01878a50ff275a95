/* Scores of one labelling against another, for people and as JSON. */
#include "show_scores.h"

#include "../column_choice.h"
#include "../complain.h"
#include "grid.h"

enum { MOST_LABELS = 40, NAME_WIDTH = 14 };

int32_t *column_labels(const cof_table *table, size_t column)
{
    size_t n_rows = cof_table_n_rows(table);
    uint32_t n_values = column_of(table, column).n_values;
    int32_t *label = keep(n_rows + 1, sizeof *label);
    for (size_t i = 0; i < n_rows; i++) {
        uint32_t code = cof_table_code(table, i, column);
        label[i] = code < n_values ? (int32_t)code : -1;
    }
    return label;
}

int row_weights(const cof_table *table, size_t column, double **weights)
{
    size_t n = cof_table_n_rows(table);
    *weights = NULL;
    if (column == SIZE_MAX) return CODE_DONE;
    *weights = keep(n + 1, sizeof **weights);
    return complain_status(cof_table_weights(table, *weights, n, &said), TASK_TABLE);
}

size_t count_both(const int32_t *a, const int32_t *b, size_t n)
{
    size_t both = 0;
    for (size_t i = 0; i < n; i++) both += a[i] >= 0 && b[i] >= 0;
    return both;
}

void show_scores(const page *p, const cof_indices *scores)
{
    const cof_index *s;
    for (size_t i = 0; (s = cof_index_at(i)) != NULL; i++)
        fprintf(p->out, "  %-12s  %s%7.4f%s  %s%s%s\n", s->name, bold(p), cof_index_value(scores, i),
                plain(p), dim(p), s->about, plain(p));
}

void json_scores(cof_json *j, const cof_indices *scores)
{
    const cof_index *s;
    for (size_t i = 0; (s = cof_index_at(i)) != NULL; i++)
        cof_json_real(j, s->key, cof_index_value(scores, i));
}

static shown label_name(const labelling *side, uint32_t label)
{
    char number[16];
    if (side->table != NULL) return show_name(cof_table_value(side->table, side->column, label), NAME_WIDTH);
    snprintf(number, sizeof number, "%u", label + 1);
    return show_text(number, NAME_WIDTH);
}

/* Matched columns in the order of their rows, the others behind, so that what agrees is the diagonal. */
static void order_columns(const int32_t *match, uint32_t n_rows, uint32_t n_columns, uint32_t *order)
{
    bool placed[MOST_LABELS] = {false};
    uint32_t n = 0;
    for (uint32_t j = 0; j < n_rows; j++)
        if (match[j] >= 0) {
            order[n++] = (uint32_t)match[j];
            placed[match[j]] = true;
        }
    for (uint32_t c = 0; c < n_columns; c++)
        if (!placed[c]) order[n++] = c;
}

int show_confusion(const page *p, const labelling *rows, const labelling *across, size_t n)
{
    int32_t match[MOST_LABELS];
    uint32_t order[MOST_LABELS];
    if (rows->n_labels == 0 || across->n_labels == 0) return CODE_DONE;
    if (rows->n_labels > MOST_LABELS || across->n_labels > MOST_LABELS) return CODE_DONE;
    uint64_t *count = keep((size_t)rows->n_labels * across->n_labels, sizeof *count);
    for (size_t i = 0; i < n; i++)
        if (rows->label[i] >= 0 && across->label[i] >= 0)
            count[(size_t)rows->label[i] * across->n_labels + (size_t)across->label[i]]++;
    TRY(complain_status(cof_match(NULL, count, rows->n_labels, across->n_labels, match, &said), TASK_FIT));
    order_columns(match, rows->n_labels, across->n_labels, order);
    grid g = grid_make(rows->n_labels + 1, across->n_labels + 1);
    grid_put(&g, 0, 0, "%s", show_text(rows->title, NAME_WIDTH).text);
    for (uint32_t c = 0; c < across->n_labels; c++)
        grid_put(&g, 0, c + 1, "%s", label_name(across, order[c]).text);
    for (uint32_t j = 0; j < rows->n_labels; j++) {
        grid_put(&g, j + 1, 0, "%s", label_name(rows, j).text);
        for (uint32_t c = 0; c < across->n_labels; c++) {
            uint64_t both = count[(size_t)j * across->n_labels + order[c]];
            grid_put(&g, j + 1, c + 1, "%s", both == 0 ? sign_of("·") : show_count(both).text);
            grid_at(&g, j + 1, c + 1)->mark =
                both > 0 && match[j] == (int32_t)order[c] ? MARK_STRONG : MARK_FAINT;
        }
    }
    if (grid_width(&g) > p->width) return CODE_DONE;
    fputc('\n', p->out);
    grid_text(&g, p);
    return CODE_DONE;
}
