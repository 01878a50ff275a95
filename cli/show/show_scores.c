/* Scores of one labelling against another, for people and as JSON. */
#include "show_scores.h"

#include "../column_choice.h"
#include "../complain.h"

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

typedef struct crossing {
    const labelling *rows, *columns;
    uint64_t *count; /* rows x columns */
    int32_t match[MOST_LABELS];
    uint32_t order[MOST_LABELS];
    int width[MOST_LABELS]; /* of each column as ordered */
    int head;               /* of the row names */
} crossing;

static uint64_t *count_crossing(const labelling *rows, const labelling *across, size_t n)
{
    uint64_t *count = keep((size_t)rows->n_labels * across->n_labels, sizeof *count);
    for (size_t i = 0; i < n; i++)
        if (rows->label[i] >= 0 && across->label[i] >= 0)
            count[(size_t)rows->label[i] * across->n_labels + (size_t)across->label[i]]++;
    return count;
}

/* Widths of the columns; true if the whole fits the page. */
static bool fits_page(const page *p, crossing *x)
{
    int total = 2;
    x->head = show_text(x->rows->title, NAME_WIDTH).width;
    for (uint32_t j = 0; j < x->rows->n_labels; j++) {
        int width = label_name(x->rows, j).width;
        if (width > x->head) x->head = width;
    }
    for (uint32_t c = 0; c < x->columns->n_labels; c++) {
        x->width[c] = label_name(x->columns, x->order[c]).width;
        for (uint32_t j = 0; j < x->rows->n_labels; j++) {
            int width = show_count(x->count[(size_t)j * x->columns->n_labels + x->order[c]]).width;
            if (width > x->width[c]) x->width[c] = width;
        }
        total += x->width[c] + 2;
    }
    return total + x->head <= p->width;
}

static void draw_crossing(const page *p, const crossing *x)
{
    shown title = show_text(x->rows->title, NAME_WIDTH);
    fputs("  ", p->out);
    put_left(p->out, &title, x->head);
    for (uint32_t c = 0; c < x->columns->n_labels; c++) {
        shown name = label_name(x->columns, x->order[c]);
        fputs("  ", p->out);
        put_right(p->out, &name, x->width[c]);
    }
    fputc('\n', p->out);
    for (uint32_t j = 0; j < x->rows->n_labels; j++) {
        shown name = label_name(x->rows, j);
        fputs("  ", p->out);
        put_left(p->out, &name, x->head);
        for (uint32_t c = 0; c < x->columns->n_labels; c++) {
            uint64_t n = x->count[(size_t)j * x->columns->n_labels + x->order[c]];
            shown count = n == 0 ? show_text(sign_of("·"), 1) : show_count(n);
            bool matched = n > 0 && x->match[j] == (int32_t)x->order[c];
            fprintf(p->out, "  %s", matched ? bold(p) : dim(p));
            put_right(p->out, &count, x->width[c]);
            fputs(plain(p), p->out);
        }
        fputc('\n', p->out);
    }
}

int show_confusion(const page *p, const labelling *rows, const labelling *across, size_t n)
{
    crossing x = {.rows = rows, .columns = across};
    if (rows->n_labels == 0 || across->n_labels == 0) return CODE_DONE;
    if (rows->n_labels > MOST_LABELS || across->n_labels > MOST_LABELS) return CODE_DONE;
    x.count = count_crossing(rows, across, n);
    TRY(complain_status(cof_match(NULL, x.count, rows->n_labels, across->n_labels, x.match, &said),
                        TASK_FIT));
    order_columns(x.match, rows->n_labels, across->n_labels, x.order);
    if (!fits_page(p, &x)) return CODE_DONE;
    fputc('\n', p->out);
    draw_crossing(p, &x);
    return CODE_DONE;
}
