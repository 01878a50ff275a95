/* A small table of results, formatted for a terminal, as Markdown or as LaTeX. */
#include "grid.h"

#include <ctype.h>
#include <stdarg.h>

#include "../complain.h"

enum { INDENT = 2 };

grid grid_make(size_t n_rows, size_t n_columns)
{
    return (grid){n_rows, n_columns, keep(n_rows * n_columns, sizeof(cell))};
}

cell *grid_at(const grid *g, size_t row, size_t column)
{
    return &g->cell[row * g->n_columns + column];
}

void grid_put(const grid *g, size_t row, size_t column, const char *format, ...)
{
    cell *c = grid_at(g, row, column);
    va_list args;
    va_start(args, format);
    vsnprintf(c->text, sizeof c->text, format, args);
    va_end(args);
}

/* ---- Terminal ------------------------------------------------------------------------------------ */

static int text_width(const cell *c)
{
    return show_text(c->text, 1000).width;
}

static bool is_marked(const grid *g, size_t column)
{
    for (size_t i = 0; i < g->n_rows; i++)
        if (grid_at(g, i, column)->mark == MARK_BEST || grid_at(g, i, column)->mark == MARK_SECOND)
            return true;
    return false;
}

static int column_width(const grid *g, size_t column)
{
    int widest = 0;
    for (size_t i = 0; i < g->n_rows; i++) {
        int own = text_width(grid_at(g, i, column));
        if (own > widest) widest = own;
    }
    return widest;
}

static int gap_before(const grid *g, size_t column)
{
    return column == 0 ? INDENT : grid_at(g, 0, column)->tight ? 1 : 2;
}

int grid_width(const grid *g)
{
    int width = 0;
    for (size_t j = 0; j < g->n_columns; j++)
        width += gap_before(g, j) + column_width(g, j) + is_marked(g, j);
    return width;
}

static void put_cell(const page *p, const cell *c, int width, bool left, bool marked)
{
    const char *sign = c->mark == MARK_BEST ? "*" : c->mark == MARK_SECOND ? "+" : " ";
    shown s = show_text(c->text, 1000);
    if (!left) put_repeated(p->out, " ", width - s.width);
    if (c->mark == MARK_BEST || c->mark == MARK_STRONG) fputs(bold(p), p->out);
    if (c->mark == MARK_FAINT) fputs(dim(p), p->out);
    if (c->mark == MARK_SECOND && p->colour) fputs("\033[4m", p->out);
    put_drawing(file_sink, p->out, s.text, strlen(s.text));
    fputs(c->mark == MARK_NONE ? "" : plain(p), p->out);
    if (marked) fputs(sign, p->out);
    if (left) put_repeated(p->out, " ", width - s.width);
}

void grid_text(const grid *g, const page *p)
{
    for (size_t i = 0; i < g->n_rows; i++) {
        if (i == 0) fputs(dim(p), p->out);
        for (size_t j = 0; j < g->n_columns; j++) {
            bool last = j + 1 == g->n_columns, marked = is_marked(g, j);
            const cell *c = grid_at(g, i, j);
            put_repeated(p->out, " ", gap_before(g, j));
            put_cell(p, c, column_width(g, j), j == 0, marked && !(last && c->mark == MARK_NONE));
        }
        fprintf(p->out, "%s\n", i == 0 ? plain(p) : "");
    }
}

/* ---- Markdown ------------------------------------------------------------------------------------ */

void put_markdown(FILE *out, const char *text)
{
    for (shown s = show_text(text, 200); *text != '\0'; text = "")
        for (const char *c = s.text; *c != '\0'; c++) {
            if (strchr("|*_`<>\\", *c) != NULL) fputc('\\', out);
            fputc(*c, out);
        }
}

void grid_markdown(const grid *g, FILE *out)
{
    static const char *const sign[] = {[MARK_NONE] = "", [MARK_BEST] = "**", [MARK_SECOND] = "*"};
    for (size_t i = 0; i < g->n_rows; i++) {
        fputs("|", out);
        for (size_t j = 0; j < g->n_columns; j++) {
            const cell *c = grid_at(g, i, j);
            fprintf(out, " %s", sign[c->mark]);
            put_markdown(out, c->text + strspn(c->text, " "));
            fprintf(out, "%s |", sign[c->mark]);
        }
        fputc('\n', out);
        for (size_t j = 0; i == 0 && j < g->n_columns; j++) fputs(j == 0 ? "|---|" : "---:|", out);
        if (i == 0) fputc('\n', out);
    }
}

/* ---- LaTeX --------------------------------------------------------------------------------------- */

static const struct {
    const char *from, *to;
} latex_escapes[] = {{"±", "$\\pm$"},
                     {"\\", "\\textbackslash{}"},
                     {"~", "\\textasciitilde{}"},
                     {"^", "\\textasciicircum{}"},
                     {"&", "\\&"},
                     {"%", "\\%"},
                     {"$", "\\$"},
                     {"#", "\\#"},
                     {"_", "\\_"},
                     {"{", "\\{"},
                     {"}", "\\}"}};

/* A dash before a digit is a minus sign; one alone stands for nothing. */
void put_latex(FILE *out, const char *text)
{
    const size_t n = sizeof latex_escapes / sizeof *latex_escapes;
    shown s = show_text(text, 200);
    if (strcmp(s.text, "-") == 0) fputc('-', out);
    for (const char *c = s.text; *c != '\0';) {
        size_t i = 0;
        while (i < n && strncmp(c, latex_escapes[i].from, strlen(latex_escapes[i].from)) != 0) i++;
        bool minus = c == s.text && *c == '-' && isdigit((unsigned char)c[1]);
        if (i < n)
            fputs(latex_escapes[i].to, out);
        else if (minus)
            fputs("$-$", out);
        else
            fputc(*c, out);
        c += i < n ? strlen(latex_escapes[i].from) : 1;
    }
}

void grid_latex(const grid *g, FILE *out)
{
    static const char *const before[] = {
        [MARK_NONE] = "", [MARK_BEST] = "\\textbf{", [MARK_SECOND] = "\\underline{"};
    fputs("\\begin{tabular}{l", out);
    put_repeated(out, "r", (int)g->n_columns - 1);
    fputs("}\n\\toprule\n", out);
    for (size_t i = 0; i < g->n_rows; i++) {
        for (size_t j = 0; j < g->n_columns; j++) {
            const cell *c = grid_at(g, i, j);
            fprintf(out, "%s%s", j == 0 ? "" : " & ", before[c->mark]);
            put_latex(out, c->text + strspn(c->text, " "));
            if (c->mark != MARK_NONE) fputc('}', out);
        }
        fputs(" \\\\\n", out);
        if (i == 0) fputs("\\midrule\n", out);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", out);
}
