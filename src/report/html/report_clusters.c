/* Clusters: their sizes, how certain they are, and the values that mark each one. */
#include "../../core/utf8.h"
#include "../svg/chart.h"
#include "report.h"

#include <math.h>
#include <stdio.h>

enum { CHART_LEFT = 2, CHART_RIGHT = COFI_CHART_WIDTH - CHART_LEFT };

/* ---- Sizes ------------------------------------------------------------------------------------------- */

static void size_line(cofi_report *r, uint32_t j)
{
    cofi_out *out = &r->out;
    double size = cof_model_sizes(r->model)[j];
    const cofi_cluster_rows *c = &r->rows[j];
    const double *agreement = cof_model_cluster_agreement(r->model, NULL);
    cofi_html(out, "<tr><th scope=\"row\" data-v=\"%u\">%k%m%B %%", j + 1, j, size, size, r->total);
    if (r->margin != NULL)
        cofi_html(out, "%d%s%m%b %%", c->n > 0 ? 100 * c->lead / (double)c->n : (double)NAN,
                  c->n > 0 ? " %" : "", (double)c->n_close, (double)c->n_close, (double)c->n);
    if (agreement != NULL) cofi_html_number(out, agreement[j], 2);
    cofi_out_text(out, "</tr>\n");
}

static void size_table(cofi_report *r)
{
    char heads[120];
    snprintf(heads, sizeof heads, "cluster|rows#|share of all%s%s",
             r->margin != NULL ? "|mean lead#|close to boundary#|of the cluster" : "",
             cof_model_cluster_agreement(r->model, NULL) != NULL ? "|agreement#" : "");
    cofi_html_body(&r->out, "full", "Clusters, their sizes, and how clearly their rows belong to them",
                   heads);
    for (uint32_t j = 0; j < r->k; j++) size_line(r, j);
    cofi_html_body_end(&r->out);
}

/* ---- How sure ---------------------------------------------------------------------------------------- */

static double criterion(const cofi_report *r, size_t restart)
{
    const cof_restart_record *record = &r->restarts[restart];
    int32_t select = cof_model_select(r->model);
    if (select == COF_SELECT_BALANCE || select == COF_SELECT_MIXTURE) return record->criterion;
    return select == COF_SELECT_OBJECTIVE ? record->objective : record->log_likelihood;
}

static void restart_line(cofi_report *r, size_t i)
{
    static const char *const how[] = {[COF_STOP_CONVERGED] = "converged",
                                      [COF_STOP_CYCLE] = "an earlier partition came back",
                                      [COF_STOP_CAP] = "limit reached",
                                      [COF_STOP_STOPPED] = "interrupted"};
    cofi_out *out = &r->out;
    const cof_restart_record *record = &r->restarts[i];
    int32_t stop = record->stop_reason;
    bool known = stop >= 0 && stop <= COF_STOP_STOPPED;
    bool best = i == r->best_restart;
    cofi_html(out, "<tr%s><th scope=\"row\" data-v=\"%z\">%z%s%2d%2d", best ? " class=\"best\"" : "", i + 1,
              i + 1, best ? " (kept)" : "", record->log_likelihood, record->objective);
    if (cof_model_select(r->model) == COF_SELECT_BALANCE) cofi_html_number(out, record->criterion, 3);
    cofi_html(out, "<td>%s%m%m<td>%s</tr>\n", record->by_likelihood ? "likelihood" : "trees",
              (double)record->rebuilds, (double)record->passes, known ? how[stop] : "unknown");
}

static void restart_table(cofi_report *r)
{
    bool balance = cof_model_select(r->model) == COF_SELECT_BALANCE;
    enum { MOST = 200 };
    cofi_out_text(&r->out, "<details><summary>All restarts in figures</summary>\n");
    cofi_html_body(&r->out, "", "The result of every restart",
                   balance ? "restart|log-likelihood#|objective#|balance#|refined by|rebuilds#|passes#|end"
                           : "restart|log-likelihood#|objective#|refined by|rebuilds#|passes#|end");
    for (size_t i = 0; i < r->n_restarts; i++)
        if (i < MOST || i == r->best_restart) restart_line(r, i);
    cofi_html_body_end(&r->out);
    cofi_out_text(&r->out, "</details>\n");
}

enum { STRIP_MOST = 200, STRIP_COLUMNS = 92, DOT = 3, STRIP_HEIGHT = 56 };

typedef struct strip {
    double least, most;
    unsigned char height[STRIP_COLUMNS + 1]; /* dots in the column */
    double step;                             /* between two of them; in tall columns they overlap */
    double base;                             /* y of the lowest */
} strip;

static unsigned strip_column(const strip *s, double value)
{
    return (unsigned)lround((value - s->least) / (s->most - s->least) * STRIP_COLUMNS);
}

static strip lay_out_strip(const cofi_report *r)
{
    strip s = {.least = INFINITY, .most = -INFINITY};
    unsigned tallest = 1;
    for (size_t i = 0; i < r->n_restarts; i++) {
        s.least = fmin(s.least, criterion(r, i));
        s.most = fmax(s.most, criterion(r, i));
    }
    for (size_t i = 0; s.most > s.least && i < r->n_restarts && i < STRIP_MOST; i++) {
        unsigned column = strip_column(&s, criterion(r, i));
        if (++s.height[column] > tallest) tallest = s.height[column];
    }
    s.step = fmin(2 * DOT + 1, (double)STRIP_HEIGHT / tallest);
    s.base = 2 * DOT + s.step * tallest;
    memset(s.height, 0, sizeof s.height);
    return s;
}

static void strip_dot(cofi_report *r, strip *s, size_t i)
{
    unsigned column = strip_column(s, criterion(r, i)), level = s->height[column]++;
    bool best = i == r->best_restart;
    double x = CHART_LEFT + 2 * DOT + (CHART_RIGHT - CHART_LEFT - 4 * DOT) * (double)column / STRIP_COLUMNS;
    cofi_svg_circle_start(&r->out, best ? 5 : 0, x, s->base - s->step * level, DOT);
    cofi_out_put(&r->out, "<title>restart %z%s: %2f</title></circle>", i + 1, best ? ", kept" : "",
                 criterion(r, i));
}

/* One dot for every restart on the axis of the criterion; those of nearly the same value are piled up. */
static void restart_strip(cofi_report *r)
{
    cofi_out *out = &r->out;
    strip s = lay_out_strip(r);
    if (!(s.most - s.least > 1e-9 * fabs(s.most))) return; /* all the same but for rounding */
    cofi_out_text(out, "<figure class=\"fit\">");
    cofi_svg_open(out, COFI_CHART_WIDTH, s.base + 26,
                  "What decided, for every restart, on an axis; the table below has the figures", false);
    cofi_svg_line(out, NULL, CHART_LEFT, s.base + DOT + 2, CHART_RIGHT, s.base + DOT + 2);
    for (size_t i = 0; i < r->n_restarts && i < STRIP_MOST; i++)
        if (i != r->best_restart) strip_dot(r, &s, i);
    strip_dot(r, &s, r->best_restart); /* on top */
    cofi_svg_text_start(out, "cof-note", CHART_LEFT, s.base + 21);
    cofi_out_put(out, "%2f</text>", s.least);
    cofi_svg_text_start(out, "cof-note cof-end", CHART_RIGHT, s.base + 21);
    cofi_out_put(out, "%2f</text>", s.most);
    cofi_svg_close(out);
    cofi_out_format(out,
                    "<figcaption>Every restart by its %s, %s is better; orange: the one that was "
                    "kept</figcaption></figure>\n",
                    cofi_report_criterion(r),
                    cof_model_select(r->model) == COF_SELECT_OBJECTIVE ? "smaller" : "larger");
}

const char *cofi_report_criterion(const cofi_report *r)
{
    static const char *const named[] = {[COF_SELECT_AUTO] = "log-likelihood",
                                        [COF_SELECT_BALANCE] = "balance of likelihood and tightness",
                                        [COF_SELECT_LIKELIHOOD] = "log-likelihood",
                                        [COF_SELECT_OBJECTIVE] = "objective",
                                        [COF_SELECT_MIXTURE] = "log-likelihood of the mixture"};
    int32_t select = cof_model_select(r->model);
    return named[select >= 0 && select <= COF_SELECT_MIXTURE ? select : COF_SELECT_AUTO];
}

/* The other restarts: the smallest, mean and largest agreement with the kept one. */
static void tell_agreement(cofi_report *r)
{
    const double *ari = cof_model_agreement(r->model);
    double least = 1, most = -1;
    uint32_t n_good = 0;
    if (ari == NULL) return;
    for (size_t i = 0; i < r->n_restarts; i++) {
        if (i == r->best_restart) continue;
        least = ari[i] < least ? ari[i] : least;
        most = ari[i] > most ? ari[i] : most;
    }
    cofi_out_put(
        &r->out,
        "<p>The partitions of the other restarts agree with the kept one to <strong>%3f</strong> on "
        "average (adjusted Rand index, from %3f to %3f; 1 is the same partition, 0 what chance would "
        "give).",
        cof_model_mean_agreement(r->model), least, most);
    if (cof_model_cluster_agreement(r->model, &n_good) != NULL)
        cofi_out_put(&r->out,
                     " <b>Agreement</b> in the table above is the overlap of a cluster with the most similar "
                     "cluster of another restart: shared rows over rows of either, averaged over the %u "
                     "restart%s that %s nearly as likely as the kept one.",
                     n_good, n_good == 1 ? "" : "s", n_good == 1 ? "is" : "are");
    cofi_out_text(&r->out, "</p>\n");
}

/* Why the kept restart was kept. */
static void tell_choice(cofi_report *r)
{
    cofi_out *out = &r->out;
    bool less = cof_model_select(r->model) == COF_SELECT_OBJECTIVE;
    cofi_out_put(
        out,
        "<p>Restart <span data-key=\"best_restart\">%z</span> of %z was kept because its %s, %3f, is "
        "the %s.",
        r->best_restart + 1, r->n_restarts, cofi_report_criterion(r), criterion(r, r->best_restart),
        less ? "smallest" : "largest");
    if (cof_model_select(r->model) == COF_SELECT_BALANCE)
        cofi_out_text(
            out,
            " The balance compares a partition with a single cluster: by how much likelier it is, and by "
            "how much closer its rows lie together.");
    cofi_out_format(out, " %zu of %zu restarts ended in this partition.</p>\n", cof_model_n_same(r->model),
                    r->n_restarts);
}

/* Only coforest has restarts of two kinds. */
static void tell_refiner(cofi_report *r)
{
    cofi_out *out = &r->out;
    double nearer = cof_model_nearer_other(r->model);
    if (strcmp(cof_model_method(r->model), "coforest") != 0) return;
    bool likely = cof_model_refined_by(r->model) == COF_REFINED_BY_LIKELIHOOD;
    cofi_out_format(out, "<p>The clusters are refined by <b data-key=\"refined_by\">%s</b>: ",
                    likely ? "likelihood" : "COForest");
    if (!likely)
        cofi_out_text(out, "rows go to the nearest cluster along the order trees.</p>\n");
    else if (isnan(nearer))
        cofi_out_text(out,
                      "every row belongs to its likeliest cluster, so some rows may be nearer to another "
                      "cluster along the order trees.</p>\n");
    else
        cofi_out_put(
            out,
            "every row belongs to its likeliest cluster, and %1f %% of the rows lie nearer to another "
            "cluster along the order trees. New rows, distances and leads go by likelihood too.</p>\n",
            100 * nearer);
}

static void tell_restarts(cofi_report *r)
{
    if (r->k > 1) tell_refiner(r);
    if (r->n_restarts == 0 || r->k == 1) return; /* one cluster is the same whatever it began with */
    cofi_out_text(&r->out, "<h3>Restarts</h3>\n");
    if (r->n_restarts == 1) {
        cofi_out_text(
            &r->out, "<p>There was only one restart, so it is unknown how much the result depends on chance. "
                     "Use <code>--restarts</code> to run more.</p>\n");
    } else {
        tell_choice(r);
        tell_agreement(r);
        restart_strip(r);
    }
    restart_table(r);
}

/* How far ahead rows are, in twentieths. */
static void lead_histogram(cofi_report *r)
{
    cofi_out *out = &r->out;
    enum { HEIGHT = 80, TOP = 6 };
    double width = ((double)CHART_RIGHT - CHART_LEFT) / COFI_LEAD_BINS;
    uint64_t most = 1;
    for (int b = 0; b < COFI_LEAD_BINS; b++)
        if (r->lead_bin[b] > most) most = r->lead_bin[b];
    cofi_out_text(out, "<figure class=\"fit\">");
    cofi_svg_open(out, COFI_CHART_WIDTH, TOP + HEIGHT + 22,
                  "Number of rows by their lead over the next cluster", false);
    for (int b = 0; b < COFI_LEAD_BINS; b++) {
        double height = HEIGHT * (double)r->lead_bin[b] / (double)most, x = CHART_LEFT + width * b;
        if (r->lead_bin[b] > 0) height = fmax(height, 1.5);
        cofi_html(out, "<g><title>lead %u to %u percent: %c rows</title>", b * 5, b * 5 + 5, r->lead_bin[b]);
        cofi_svg_rectangle(out, b == 0 ? 5 : 0, x + 1, TOP + HEIGHT - height, width - 2, height);
        cofi_out_text(out, "</g>");
        if (b % 4 != 0) continue;
        cofi_svg_text_start(out, "cof-note", x, TOP + HEIGHT + 16);
        cofi_out_format(out, "%d %%</text>", b * 5);
    }
    cofi_svg_text_start(out, "cof-note cof-end", CHART_RIGHT, TOP + HEIGHT + 16);
    cofi_out_text(out, "100 %</text>");
    cofi_svg_line(out, NULL, CHART_LEFT, TOP + HEIGHT, CHART_RIGHT, TOP + HEIGHT);
    cofi_svg_close(out);
    cofi_out_text(out,
                  "<figcaption>Rows by their lead; orange: close to the boundary</figcaption></figure>\n");
}

static void tell_boundary(cofi_report *r)
{
    cofi_out *out = &r->out;
    uint64_t n_close = 0;
    if (!cofi_report_has_rows(r) || r->margin == NULL || r->n_filled < 2) return;
    for (uint32_t j = 0; j < r->k; j++) n_close += r->rows[j].n_close;
    cofi_html(
        out,
        "<h3>Rows close to the boundary</h3>\n<p><span data-key=\"n_close\">%c</span> of %c rows (%p) lie "
        "close to the boundary of two clusters: their lead is below %u\u00a0%%. The lead says how much "
        "nearer a row is to its own cluster than to the next one; 0\u00a0%% is a tie. "
        "<span data-key=\"n_shared\">%c</span> row%s shared between clusters: no membership reaches "
        "%u\u00a0%%.</p>\n",
        n_close, r->n_clustered, (double)n_close, (double)r->n_clustered, (unsigned)(100 * COF_CLOSE_LEAD),
        r->n_shared, r->n_shared == 1 ? " is" : "s are", (unsigned)(100 * COF_SHARED_MEMBERSHIP));
    lead_histogram(r);
}

void cofi_report_clusters(cofi_report *r)
{
    cofi_html_section(&r->out, "clusters", "Clusters, and how certain they are");
    if (r->n_filled < r->k)
        cofi_out_format(&r->out, "<p class=\"say\"><b>Note:</b> %u of %u clusters have no rows.</p>\n",
                        r->k - r->n_filled, r->k);
    size_table(r);
    tell_boundary(r);
    tell_restarts(r);
    cofi_out_text(&r->out, "</section>\n");
}

/* ---- What makes each one different ------------------------------------------------------------------- */

static const char *word_for_more(double share)
{
    return share >= 1      ? "always"
           : share >= 0.9  ? "almost always"
           : share >= 0.5  ? "mostly"
           : share >= 0.25 ? "often"
                           : "more often";
}

static const char *word_for_less(double share)
{
    return share <= 0 ? "never" : share <= 0.1 ? "hardly ever" : share <= 0.3 ? "seldom" : "less often";
}

/* A short one is never broken into two lines, a long one only after the sign. */
static void put_trait(cofi_report *r, const cof_trait *t)
{
    enum { SHORT = 16 };
    char text[512];
    const char *name = r->model->attr[t->attribute].domain.name;
    const char *value = cof_trait_text(r->model, t, text, sizeof text);
    bool whole = cofi_utf8_columns(name) + cofi_utf8_columns(value) <= SHORT;
    cofi_html(&r->out, "%24n\u00a0=%s%24n", name, whole ? "\u00a0" : " ", value);
}

/* "always feathers = 1, eggs = 1; mostly airborne = 1": a word is said once for all it fits. */
static size_t put_words(cofi_report *r, const cof_trait *const *t, size_t n, const char *(*word)(double),
                        size_t told)
{
    const char *last = "";
    for (size_t i = 0; i < n; i++) {
        const char *own = word(t[i]->here / t[i]->cluster);
        bool same = strcmp(own, last) == 0;
        cofi_out_text(&r->out, same ? ", " : told > 0 ? "; " : " ");
        if (!same) cofi_out_format(&r->out, "%s ", own);
        put_trait(r, t[i]);
        last = own;
        told++;
    }
    return told;
}

static bool is_about(const cof_trait *const *t, size_t n, size_t attribute)
{
    for (size_t i = 0; i < n; i++)
        if (t[i]->attribute == attribute) return true;
    return false;
}

/* The first `most` traits whose column is not among `said`, ordered by their share, so that equal words stand
 * together; up: the largest first. */
static size_t pick_traits(const cof_trait *from, size_t n, size_t most, const cof_trait *const *said,
                          size_t n_said, bool up, const cof_trait **to)
{
    size_t kept = 0;
    for (size_t i = 0; i < n && kept < most; i++) {
        double share = from[i].here / from[i].cluster;
        size_t at = kept++;
        if (is_about(said, n_said, from[i].attribute)) kept--;
        if (kept == at) continue;
        for (; at > 0; at--) {
            double before = to[at - 1]->here / to[at - 1]->cluster;
            if (up ? before >= share : before <= share) break;
            to[at] = to[at - 1];
        }
        to[at] = &from[i];
    }
    return kept;
}

/* A line to paste into a slide. */
static void put_sentence(cofi_report *r, uint32_t j)
{
    enum { MORE = 4, LESS = 2 };
    cofi_out *out = &r->out;
    const cof_trait *more[MORE], *less[LESS];
    double size = cof_model_sizes(r->model)[j];
    size_t n_more = pick_traits(r->more + j * COFI_REPORT_TRAITS, r->n_more[j], MORE, NULL, 0, true, more);
    size_t n_less =
        pick_traits(r->less + j * COFI_REPORT_TRAITS, r->n_less[j], LESS, more, n_more, false, less);
    cofi_html(out, "<p class=\"say\">Cluster %u (%a row%s, %p):", j + 1, size, size == 1 ? "" : "s", size,
              r->total);
    size_t told = put_words(r, more, n_more, word_for_more, 0);
    told = put_words(r, less, n_less, word_for_less, told);
    if (told == 0) cofi_out_text(out, size > 0 ? " nothing stands out" : " empty");
    cofi_out_text(out, ".</p>\n");
}

static void trait_line(cofi_report *r, const cof_trait *t)
{
    cofi_out *out = &r->out;
    double lift = t->here / t->cluster / (t->anywhere / t->all);
    cofi_out_text(out, "<tr><th scope=\"row\">");
    put_trait(r, t);
    cofi_html(out, "%m%b %%%b %%", t->here, t->here, t->cluster, t->anywhere, t->all);
    cofi_html_number(out, lift, lift < 10 ? 2 : 0);
    cofi_out_text(out, "</tr>\n");
}

/* Where a column has two values, more of one is less of the other; that need not be said twice. */
static bool is_mirror(const cofi_report *r, uint32_t j, const cof_trait *t)
{
    if (r->model->attr[t->attribute].n_values != 2) return false;
    for (size_t i = 0; i < r->n_more[j]; i++)
        if (r->more[j * COFI_REPORT_TRAITS + i].attribute == t->attribute) return true;
    return false;
}

static void drop_mirrors(cofi_report *r, uint32_t j)
{
    cof_trait *less = r->less + j * COFI_REPORT_TRAITS;
    size_t kept = 0;
    for (size_t i = 0; i < r->n_less[j]; i++)
        if (!is_mirror(r, j, &less[i])) less[kept++] = less[i];
    r->n_less[j] = kept;
}

static void trait_table(cofi_report *r, const cof_trait *t, size_t n, const char *caption)
{
    if (n == 0) return;
    cofi_html_body(&r->out, "full", caption, "value|rows here#|share here|share of all|lift#");
    for (size_t i = 0; i < n; i++) trait_line(r, &t[i]);
    cofi_html_body_end(&r->out);
}

static void mark_card(cofi_report *r, uint32_t j)
{
    cofi_out *out = &r->out;
    char caption[80];
    drop_mirrors(r, j);
    cofi_html(out, "<div class=\"card\"><h3>%wCluster %u</h3>\n", j, j + 1);
    put_sentence(r, j);
    if (r->n_more[j] + r->n_less[j] > 0) {
        cofi_out_format(out, "<details class=\"screen\"%s><summary>In figures</summary>\n",
                        r->k <= COFI_REPORT_OPEN ? " open" : "");
        snprintf(caption, sizeof caption, "Cluster %u: more often than elsewhere", j + 1);
        trait_table(r, r->more + j * COFI_REPORT_TRAITS, r->n_more[j], caption);
        snprintf(caption, sizeof caption, "Cluster %u: less often than elsewhere", j + 1);
        trait_table(r, r->less + j * COFI_REPORT_TRAITS, r->n_less[j], caption);
        cofi_out_text(out, "</details>");
    }
    cofi_out_text(out, "</div>\n");
}

void cofi_report_marks(cofi_report *r)
{
    enum { MOST = 200 };
    cofi_html_section(&r->out, "marks", "What makes each cluster different");
    cofi_out_text(
        &r->out,
        "<p>The values that most set a cluster apart from the whole table. <b>Lift</b> is the share of "
        "the cluster's rows with the value over the share of all rows with it: above 1 the cluster has "
        "more of it.</p>\n<div class=\"cards\">\n");
    for (uint32_t j = 0; j < r->k && j < MOST; j++) mark_card(r, j);
    cofi_out_text(&r->out, "</div>\n");
    if (r->k > MOST) cofi_out_format(&r->out, "<p>and %u more clusters</p>\n", r->k - MOST);
    cofi_out_text(&r->out, "</section>\n");
}
