/* A comparison for people: on a terminal, and as tables for a document. */
#include <math.h>

#include "../verbs/compare.h"
#include "../complain.h"
#include "../verbs/fit_job.h"
#include "grid.h"

/* ---- Cells --------------------------------------------------------------------------------------- */

typedef struct digits { /* after the point */
    int mean, deviation;
} digits;

static digits digits_for(const comparison *c, size_t x, digits usual)
{
    return strcmp(c->index[x].key, "objective") == 0 ? (digits){1, 1} : usual;
}

static void put_mean(const grid *g, size_t row, size_t column, const entry *e, size_t x, digits d)
{
    if (isnan(e->mean[x]))
        grid_put(g, row, column, "-");
    else if (isnan(e->deviation[x]))
        grid_put(g, row, column, "%.*f", d.mean, e->mean[x]);
    else
        grid_put(g, row, column, "%.*f±%.*f", d.mean, e->mean[x], d.deviation, e->deviation[x]);
}

/* How the k-th smallest of the ranks is marked: all that share the least are best, then the next ones are
 * second. Where nothing tells the methods apart, nothing is marked. */
static mark mark_for(const double *rank, size_t n, size_t own)
{
    double least = INFINITY, next = INFINITY, mine = rank[own];
    for (size_t i = 0; i < n; i++) least = fmin(least, rank[i]);
    for (size_t i = 0; i < n; i++)
        if (rank[i] > least) next = fmin(next, rank[i]);
    if (isinf(next) || isnan(mine)) return MARK_NONE;
    return mine == least ? MARK_BEST : mine == next ? MARK_SECOND : MARK_NONE;
}

static mark mark_of(const comparison *c, const contest *at, size_t x, size_t method)
{
    double *rank = keep(c->n_methods + 1, sizeof *rank);
    for (size_t i = 0; i < c->n_methods; i++) rank[i] = at->entry[i].rank[x];
    return isnan(at->entry[method].mean[x]) ? MARK_NONE : mark_for(rank, c->n_methods, method);
}

/* Three digits and a fixed width, so that what stands beside it does not depend on the clock. */
static void put_time(const grid *g, size_t row, size_t column, double seconds)
{
    double ms = 1e3 * seconds;
    char text[32] = "-";
    if (!isnan(ms)) snprintf(text, sizeof text, "%.*f ms", ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0, ms);
    grid_put(g, row, column, "%7s", ms < 999.5 || isnan(ms) ? text : show_seconds(seconds).text);
}

/* ---- One table ----------------------------------------------------------------------------------- */

static size_t count_ranked(const comparison *c)
{
    size_t n = 0;
    for (size_t x = 0; x < N_INDICES; x++) n += c->index[x].ranked;
    return n;
}

/* A line a method: every index with its rank, and the time. */
static grid make_contest_grid(const comparison *c, const contest *at, digits usual)
{
    size_t column = 1;
    grid g = grid_make(c->n_methods + 1, 2 + N_INDICES + count_ranked(c));
    grid_put(&g, 0, 0, "method");
    for (size_t m = 0; m < c->n_methods; m++) grid_put(&g, m + 1, 0, "%s", contender(c, m));
    for (size_t x = 0; x < N_INDICES; x++) {
        grid_put(&g, 0, column, "%s", c->index[x].title);
        for (size_t m = 0; m < c->n_methods; m++) {
            put_mean(&g, m + 1, column, &at->entry[m], x, digits_for(c, x, usual));
            grid_at(&g, m + 1, column)->mark = mark_of(c, at, x, m);
        }
        column++;
        if (!c->index[x].ranked) continue;
        grid_put(&g, 0, column, "rank");
        grid_at(&g, 0, column)->tight = true;
        for (size_t m = 0; m < c->n_methods; m++) { /* 1.5, but 2 rather than 2.0 */
            double rank = at->entry[m].rank[x];
            if (!isnan(rank)) grid_put(&g, m + 1, column, "%.*f", rank == floor(rank) ? 0 : 1, rank);
        }
        column++;
    }
    grid_put(&g, 0, column, "time");
    for (size_t m = 0; m < c->n_methods; m++) put_time(&g, m + 1, column, at->entry[m].fit_s);
    return g;
}

/* ---- Several tables ------------------------------------------------------------------------------ */

/* A line a method: its average rank by every index. */
static grid make_rank_grid(const comparison *c)
{
    size_t column = 1;
    grid g = grid_make(c->n_methods + 1, 1 + count_ranked(c));
    grid_put(&g, 0, 0, "method");
    for (size_t m = 0; m < c->n_methods; m++) grid_put(&g, m + 1, 0, "%s", contender(c, m));
    for (size_t x = 0; x < N_INDICES; x++) {
        if (!c->index[x].ranked) continue;
        grid_put(&g, 0, column, "%s", c->index[x].title);
        for (size_t m = 0; m < c->n_methods; m++) {
            grid_put(&g, m + 1, column, "%.2f", c->verdict[x].mean_rank[m]);
            grid_at(&g, m + 1, column)->mark = mark_for(c->verdict[x].mean_rank, c->n_methods, m);
        }
        column++;
    }
    return g;
}

static void put_p(const grid *g, size_t row, size_t column, double p)
{
    grid_put(g, row, column, p >= 0.001 ? "%.4f" : "%.2g", p);
}

/* A line a figure of the tests. */
static grid make_test_grid(const comparison *c)
{
    size_t column = 1;
    grid g = grid_make(9, 1 + count_ranked(c));
    for (size_t x = 0; x < N_INDICES; x++) {
        const cof_friedman_result *t = &c->verdict[x].test;
        if (!c->index[x].ranked) continue;
        if (column == 1) {
            grid_put(&g, 1, 0, "Friedman's chi-square, %u df", t->df);
            grid_put(&g, 3, 0, "chi-square corrected for ties");
            grid_put(&g, 5, 0, "Iman and Davenport's F, %u and %u df", t->f_df1, t->f_df2);
            for (size_t row = 2; row < 7; row += 2) grid_put(&g, row, 0, "p of it");
            for (size_t l = 0; l < 2; l++)
                grid_put(&g, 7 + l, 0, "critical difference at %.2f", compare_levels[l]);
        }
        grid_put(&g, 0, column, "%s", c->index[x].title);
        grid_put(&g, 1, column, "%.2f", t->chi_square);
        put_p(&g, 2, column, t->p);
        grid_put(&g, 3, column, isnan(t->chi_square_tied) ? "-" : "%.2f", t->chi_square_tied);
        put_p(&g, 4, column, t->p_tied);
        grid_put(&g, 5, column, "%.2f", t->f);
        put_p(&g, 6, column, t->p_f);
        for (size_t l = 0; l < 2; l++) grid_put(&g, 7 + l, column, "%.2f", c->difference[l]);
        column++;
    }
    return g;
}

/* "worse at 0.05: kmodes, lsm; worse at 0.10: jdm", or "none"; each method at the strictest level only. */
static void list_differing(const comparison *c, size_t x, char *text, size_t n)
{
    static const char *const side[] = {"better", "", "worse"};
    *text = '\0';
    for (size_t l = 0; l < 2; l++)
        for (int way = 1; way >= -1; way -= 2) {
            size_t listed = 0;
            for (size_t m = 0; m < c->n_methods; m++) {
                bool told = l > 0 && differs(c, x, m, 0) != 0;
                if (told || differs(c, x, m, l) != way) continue;
                size_t used = strlen(text);
                if (listed++ == 0)
                    snprintf(text + used, n - used, "%s%s at %.2f: %s", used > 0 ? "; " : "", side[way + 1],
                             compare_levels[l], contender(c, m));
                else
                    snprintf(text + used, n - used, ", %s", contender(c, m));
            }
        }
    if (*text == '\0') snprintf(text, n, "none");
}

/* ---- Terminal ------------------------------------------------------------------------------------ */

static void put_line(const page *p, int indent, const char *text)
{
    fputs("  ", p->out);
    flow f = flow_begin(p, indent, 2);
    flow_words(&f, text);
    flow_end(&f);
}

/* What else was left out needs no word: it was asked for. */
static void show_columns(const contest *at, const page *p)
{
    size_t n_constant = 0, n_names = 0;
    char text[512] = "left out: ";
    for (size_t i = 0; i < at->columns.n; i++) {
        n_constant += at->columns.why[i] == LEFT_CONSTANT;
        if (at->columns.why[i] == LEFT_IDENTIFIER && n_names++ < 3)
            append(text, sizeof text, "%s%s (an identifier)", n_names == 1 ? "" : ", ",
                   show_name(column_of(at->table, i).name, 40).text);
    }
    if (n_names > 3) append(text, sizeof text, " and %zu more identifiers", n_names - 3);
    if (n_constant > 0)
        append(text, sizeof text, "%s%zu constant column%s", n_names > 0 ? ", " : "", n_constant,
               plural(n_constant));
    if (n_names + n_constant > 0) put_line(p, 2, text);
    if (at->columns.n_cut == 0) return;
    put_line(p, 2, keep_text("cut into bins: %s", cut_names(at->table, &at->columns).text));
}

static void show_reasons(const comparison *c, const contest *at, const page *p)
{
    for (size_t m = 0; m < c->n_methods; m++) {
        const entry *e = &at->entry[m];
        if (e->n_results == c->s.runs) continue;
        put_line(p, 4,
                 e->n_results == 0 ? keep_text("- %s", e->reason)
                                   : keep_text("%s: only %u of %u runs have a result: %s", contender(c, m),
                                               e->n_results, c->s.runs, e->reason));
    }
}

static void show_contest(const comparison *c, const contest *at, const page *p)
{
    static const digits tries[] = {{4, 3}, {3, 3}, {3, 2}};
    grid g = {.cell = NULL};
    fprintf(p->out, "\n%s%s%s: %s row%s, %s column%s, %u cluster%s\n", bold(p), show_text(at->file, 60).text,
            plain(p), show_count(at->n_rows).text, plural(at->n_rows), show_count(at->columns.n_used).text,
            plural(at->columns.n_used), at->k, plural(at->k));
    show_columns(at, p);
    for (size_t i = 0; i < 3; i++) {
        g = make_contest_grid(c, at, tries[i]);
        if (grid_width(&g) <= p->width) break;
    }
    fputc('\n', p->out);
    grid_text(&g, p);
    show_reasons(c, at, p);
}

static void show_verdict(const comparison *c, const page *p)
{
    char text[1024];
    fprintf(p->out, "\n%sOver all %zu tables%s: average ranks\n\n", bold(p), c->n_contests, plain(p));
    grid g = make_rank_grid(c);
    grid_text(&g, p);
    fprintf(p->out, "\n%sDo the methods differ?%s\n\n", bold(p), plain(p));
    g = make_test_grid(c);
    grid_text(&g, p);
    fprintf(p->out, "\n%sWhich differ from %s%s, by Bonferroni and Dunn\n\n", bold(p),
            contender(c, c->control), plain(p));
    for (size_t x = 0; x < N_INDICES; x++) {
        if (!c->index[x].ranked) continue;
        fprintf(p->out, "  %-11s  ", c->index[x].title);
        list_differing(c, x, text, sizeof text);
        put_words(p, 15, text);
    }
}

static const char *describe_runs(const comparison *c)
{
    bool several = c->n_methods > 1;
    unsigned long long first = c->s.fit.seed, last = c->s.fit.seed + c->s.runs - 1;
    const char *seeds =
        c->s.runs > 1 ? keep_text("seeds %llu to %llu", first, last) : keep_text("seed %llu", first);
    const char *how = c->s.as_fit ? "; each run is the best of the restarts of \"fit\""
                      : several   ? "; all methods of a run begin with the same partition"
                                  : "";
    return keep_text("%zu method%s, %u run%s%s, %s%s (--init %s)", c->n_methods, plural(c->n_methods),
                     c->s.runs, plural(c->s.runs), several ? " each" : "", seeds, how,
                     cof_start_name((size_t)c->s.fit.init));
}

void write_compare_text(const comparison *c, FILE *out)
{
    page p = page_for(out == stdout ? stdout : stderr);
    if (out != stdout) p = (page){.out = out, .width = 80};
    fputs("Compared:  ", p.out);
    put_words(&p, 11, describe_runs(c));
    for (size_t i = 0; i < c->n_contests; i++) show_contest(c, &c->contest[i], &p);
    if (c->has_verdict) show_verdict(c, &p);
    fputc('\n', p.out);
    for (size_t x = 0; x < N_INDICES; x++) fprintf(p.out, "  %s: %s\n", c->index[x].title, c->index[x].what);
    put_line(&p, 2,
             keep_text("%s%srank 1 is the best mean%s; time is the median of one fit",
                       c->s.runs > 1 ? sign_of("±") : "", c->s.runs > 1 ? ": deviation over the runs; " : "",
                       c->n_methods > 1 ? " (marked *, the second best +)" : ""));
    fprintf(p.out, "  %s fit%s in %s\n", show_count(c->n_fits).text, plural(c->n_fits),
            show_seconds(c->elapsed_s).text);
}

/* ---- Documents ----------------------------------------------------------------------------------- */

typedef struct document {
    FILE *out;
    bool latex;
} document;

static void put_escaped(const document *d, const char *before, const char *text, const char *after)
{
    fputs(before, d->out);
    (d->latex ? put_latex : put_markdown)(d->out, text);
    fputs(after, d->out);
}

static void put_grid(const document *d, const char *heading, grid g)
{
    put_escaped(d, d->latex ? "\n\\paragraph{" : "\n### ", heading, d->latex ? "}\n" : "\n\n");
    (d->latex ? grid_latex : grid_markdown)(&g, d->out);
}

/* As the paper sets them: a line a table, a column a method; `more` lines below. */
static grid make_table_grid(const comparison *c, size_t more)
{
    grid g = grid_make(c->n_contests + 1 + more, c->n_methods + 1);
    grid_put(&g, 0, 0, "table");
    for (size_t m = 0; m < c->n_methods; m++) grid_put(&g, 0, m + 1, "%s", contender(c, m));
    for (size_t i = 0; i < c->n_contests; i++) grid_put(&g, i + 1, 0, "%s", c->contest[i].short_name);
    return g;
}

/* Average ranks stand below. */
static grid make_index_grid(const comparison *c, size_t x)
{
    bool ranks = c->has_verdict && c->index[x].ranked;
    grid g = make_table_grid(c, ranks);
    for (size_t i = 0; i < c->n_contests; i++)
        for (size_t m = 0; m < c->n_methods; m++) {
            put_mean(&g, i + 1, m + 1, &c->contest[i].entry[m], x, digits_for(c, x, (digits){4, 2}));
            grid_at(&g, i + 1, m + 1)->mark = mark_of(c, &c->contest[i], x, m);
        }
    if (!ranks) return g;
    grid_put(&g, c->n_contests + 1, 0, "average rank");
    for (size_t m = 0; m < c->n_methods; m++) {
        grid_put(&g, c->n_contests + 1, m + 1, "%.4f", c->verdict[x].mean_rank[m]);
        grid_at(&g, c->n_contests + 1, m + 1)->mark = mark_for(c->verdict[x].mean_rank, c->n_methods, m);
    }
    return g;
}

static void put_several(const comparison *c, const document *d)
{
    for (size_t x = 0; x < N_INDICES; x++)
        put_grid(d, keep_text("%s: %s", c->index[x].title, c->index[x].what), make_index_grid(c, x));
    grid times = make_table_grid(c, 0);
    for (size_t i = 0; i < c->n_contests; i++)
        for (size_t m = 0; m < c->n_methods; m++)
            put_time(&times, i + 1, m + 1, c->contest[i].entry[m].fit_s);
    put_grid(d, "Median time of one fit", times);
    if (!c->has_verdict) return;
    put_grid(d, "Do the methods differ?", make_test_grid(c));
    for (size_t x = 0; x < N_INDICES; x++) {
        char list[1024];
        if (!c->index[x].ranked) continue;
        list_differing(c, x, list, sizeof list);
        put_escaped(
            d, "\n",
            keep_text("Different from %s by %s: %s.", contender(c, c->control), c->index[x].title, list),
            "\n");
    }
}

void write_compare_document(const comparison *c, FILE *out)
{
    document d = {.out = out, .latex = c->s.format == FORMAT_LATEX};
    const contest *at = &c->contest[0];
    if (d.latex) fprintf(out, "%% made by coforest %s; needs \\usepackage{booktabs}\n", cof_version());
    fprintf(out, "%s%s\n", d.latex ? "% " : "", describe_runs(c));
    if (c->n_contests == 1)
        put_grid(&d,
                 keep_text("%.64s: %s row%s, %s column%s, %u cluster%s", at->short_name,
                           show_count(at->n_rows).text, plural(at->n_rows),
                           show_count(at->columns.n_used).text, plural(at->columns.n_used), at->k,
                           plural(at->k)),
                 make_contest_grid(c, at, (digits){4, 2}));
    else
        put_several(c, &d);
    for (; at < c->contest + c->n_contests; at++)
        for (size_t m = 0; m < c->n_methods; m++)
            if (at->entry[m].n_results == 0)
                put_escaped(&d, "\n", keep_text("%s: %s.", at->short_name, at->entry[m].reason), "\n");
}
