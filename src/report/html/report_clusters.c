/* Clusters: their sizes, how certain they are, and the values that mark each one. */
#include "../../core/utf8.h"
#include "../svg/chart.h"
#include "report.h"

#include <math.h>

enum { CHART_LEFT = 2, CHART_RIGHT = COFI_CHART_WIDTH - CHART_LEFT };

/* ---- Sizes ------------------------------------------------------------------------------------------- */

static void put_sizes(cofi_report *r)
{
    cofi_page *p = &r->page;
    const double *size = cof_model_sizes(r->model), *agreement = cof_model_cluster_agreement(r->model, NULL);
    cofi_page_flag(p, "leads", r->margin != NULL);
    cofi_page_flag(p, "agreements", agreement != NULL);
    if (r->n_filled < r->k) cofi_page_put(p, "n_empty", "%u", r->k - r->n_filled);
    for (uint32_t j = 0; j < r->k; j++) {
        const cofi_cluster_rows *c = &r->rows[j];
        double n = (double)c->n;
        cofi_page_open_cluster(p, "sizes", j);
        cofi_page_count(p, "size", size[j]);
        cofi_page_bar(p, "share", size[j], r->total);
        if (r->margin != NULL) {
            cofi_page_number(p, "lead", c->n > 0 ? 100 * c->lead / n : (double)NAN, 0);
            cofi_page_flag(p, "measured", c->n > 0);
            cofi_page_count(p, "close", (double)c->n_close);
            cofi_page_bar(p, "of_cluster", (double)c->n_close, n);
        }
        if (agreement != NULL) cofi_page_number(p, "agreement", agreement[j], 2);
        cofi_page_close(p);
    }
}

/* How far ahead rows are, in twentieths. */
static void draw_leads(const cofi_report *r, cofi_out *out)
{
    enum { HEIGHT = 80, TOP = 6 };
    double width = ((double)CHART_RIGHT - CHART_LEFT) / COFI_LEAD_BINS;
    uint64_t most = 1;
    for (int b = 0; b < COFI_LEAD_BINS; b++)
        if (r->lead_bin[b] > most) most = r->lead_bin[b];
    cofi_svg_open(out, COFI_CHART_WIDTH, TOP + HEIGHT + 22,
                  "Number of rows by their lead over the next cluster", false);
    for (int b = 0; b < COFI_LEAD_BINS; b++) {
        double height = HEIGHT * (double)r->lead_bin[b] / (double)most, x = CHART_LEFT + width * b;
        if (r->lead_bin[b] > 0) height = fmax(height, 1.5);
        cofi_out_format(out, "<g><title>lead %d to %d percent: ", b * 5, b * 5 + 5);
        cofi_out_count(out, r->lead_bin[b]);
        cofi_out_text(out, " rows</title>");
        cofi_svg_rectangle(out, b == 0 ? 5 : 0, x + 1, TOP + HEIGHT - height, width - 2, height);
        cofi_out_text(out, "</g>");
        if (b % 4 != 0) continue;
        cofi_svg_text_start(out, "cof-note", x, TOP + HEIGHT + 16);
        cofi_out_format(out, "%d %%</text>", b * 5);
    }
    cofi_svg_text(out, "cof-note cof-end", CHART_RIGHT, TOP + HEIGHT + 16, "100 %");
    cofi_svg_line(out, NULL, CHART_LEFT, TOP + HEIGHT, CHART_RIGHT, TOP + HEIGHT);
    cofi_svg_close(out);
}

static void put_boundary(cofi_report *r)
{
    cofi_page *p = &r->page;
    uint64_t n_close = 0;
    if (!cofi_report_has_rows(r) || r->margin == NULL || r->n_filled < 2) return;
    for (uint32_t j = 0; j < r->k; j++) n_close += r->rows[j].n_close;
    cofi_page_open(p, "boundary");
    cofi_page_put(p, "n_close", "%c", n_close);
    cofi_page_put(p, "n_clustered", "%c", r->n_clustered);
    cofi_page_put(p, "share", "%p", (double)n_close, (double)r->n_clustered);
    cofi_page_put(p, "close_lead", "%u", (unsigned)(100 * COF_CLOSE_LEAD));
    cofi_page_put(p, "n_shared", "%c", r->n_shared);
    cofi_page_put(p, "shared_membership", "%u", (unsigned)(100 * COF_SHARED_MEMBERSHIP));
    draw_leads(r, cofi_page_write(p));
    cofi_page_written(p, "leads_chart");
    cofi_page_close(p);
}

/* ---- What makes each one different ------------------------------------------------------------------- */

static double share_of(const cof_trait *t)
{
    return t->here / t->cluster;
}

static const char *word_for(const cof_trait *t, bool more)
{
    double share = share_of(t);
    if (!more)
        return share <= 0 ? "never" : share <= 0.1 ? "hardly ever" : share <= 0.3 ? "seldom" : "less often";
    return share >= 1      ? "always"
           : share >= 0.9  ? "almost always"
           : share >= 0.5  ? "mostly"
           : share >= 0.25 ? "often"
                           : "more often";
}

/* The column and the value of a trait. A short one is never broken into two lines, a long one only after the sign. */
static void put_trait(cofi_report *r, const cof_trait *t)
{
    enum { SHORT = 16 };
    char text[512];
    const char *name = r->model->attr[t->attribute].domain.name;
    const char *value = cof_trait_text(r->model, t, text, sizeof text);
    cofi_page_name(&r->page, "column", name, 24);
    cofi_page_name(&r->page, "value", value, 24);
    cofi_page_flag(&r->page, "short", cofi_utf8_columns(name) + cofi_utf8_columns(value) <= SHORT);
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
        if (is_about(said, n_said, from[i].attribute)) continue;
        size_t at = kept++;
        for (; at > 0 &&
               (up ? share_of(to[at - 1]) < share_of(&from[i]) : share_of(to[at - 1]) > share_of(&from[i]));
             at--)
            to[at] = to[at - 1];
        to[at] = &from[i];
    }
    return kept;
}

/* "always feathers = 1, eggs = 1; mostly airborne = 1": a word is said once for all it fits. */
static void put_words(cofi_report *r, const cof_trait *const *t, size_t n, bool more)
{
    for (size_t i = 0; i < n; i++) {
        const char *word = word_for(t[i], more);
        bool same = i > 0 && strcmp(word, word_for(t[i - 1], more)) == 0;
        cofi_page_open(&r->page, "said");
        cofi_page_put(&r->page, "word", "%s", same ? "" : word);
        put_trait(r, t[i]);
        cofi_page_close(&r->page);
    }
}

static void put_traits(cofi_report *r, const char *table, const cof_trait *t, size_t n)
{
    cofi_page *p = &r->page;
    if (n == 0) return;
    cofi_page_open(p, table);
    for (size_t i = 0; i < n; i++) {
        double lift = share_of(&t[i]) / (t[i].anywhere / t[i].all);
        cofi_page_open(p, "traits");
        put_trait(r, &t[i]);
        cofi_page_count(p, "rows", t[i].here);
        cofi_page_bar(p, "here", t[i].here, t[i].cluster);
        cofi_page_bar(p, "all", t[i].anywhere, t[i].all);
        cofi_page_number(p, "lift", lift, lift < 10 ? 2 : 0);
        cofi_page_close(p);
    }
    cofi_page_close(p);
}

static void put_marks(cofi_report *r, uint32_t j)
{
    enum { MORE = 4, LESS = 2 };
    cofi_page *p = &r->page;
    const cof_trait *all_more[COFI_REPORT_TRAITS], *more[MORE], *less[LESS];
    cof_trait *from_more = r->more + j * COFI_REPORT_TRAITS, *from_less = r->less + j * COFI_REPORT_TRAITS;
    double size = cof_model_sizes(r->model)[j];
    size_t n = 0;
    for (size_t i = 0; i < r->n_more[j]; i++) all_more[i] = &from_more[i];
    for (size_t i = 0; i < r->n_less[j]; i++) { /* of two values, less of one is more of the other */
        bool mirror = r->model->attr[from_less[i].attribute].n_values == 2 &&
                      is_about(all_more, r->n_more[j], from_less[i].attribute);
        if (!mirror) from_less[n++] = from_less[i];
    }
    r->n_less[j] = n;
    size_t n_more = pick_traits(from_more, r->n_more[j], MORE, NULL, 0, true, more);
    size_t n_less = pick_traits(from_less, r->n_less[j], LESS, more, n_more, false, less);
    cofi_page_open_cluster(p, "marks", j);
    cofi_page_put(p, "size", "%a", size);
    cofi_page_put(p, "share", "%p", size, r->total);
    put_words(r, more, n_more, true);
    put_words(r, less, n_less, false);
    cofi_page_flag(p, "figures", r->n_more[j] + r->n_less[j] > 0);
    put_traits(r, "more", from_more, r->n_more[j]);
    put_traits(r, "less", from_less, r->n_less[j]);
    cofi_page_close(p);
}

void cofi_report_clusters(cofi_report *r)
{
    enum { MOST = 200 };
    put_sizes(r);
    put_boundary(r);
    for (uint32_t j = 0; j < r->k && j < MOST; j++) put_marks(r, j);
    if (r->k > MOST) cofi_page_put(&r->page, "n_more_marks", "%u", r->k - MOST);
}

/* ---- Other partitions -------------------------------------------------------------------------------- */

enum { OTHER_TRAITS = 3, OTHER_CLUSTERS = 60 };

static cof_status put_other(cofi_report *r, const cof_alternative *a, size_t number, cof_error *err)
{
    cofi_page *p = &r->page;
    const cof_model *m = a->model;
    cof_trait *trait = cofi_blocks_add(&r->own, (size_t)m->k * OTHER_TRAITS, sizeof *trait);
    size_t *n = cofi_blocks_add(&r->own, m->k, sizeof *n);
    COFI_TRY(cofi_blocks_status(&r->own, err));
    COFI_TRY(cof_model_traits(m, COF_TRAIT_MORE, OTHER_TRAITS, trait, n, err));
    cofi_page_open(p, "alternatives");
    cofi_page_put(p, "number", "%z", number);
    cofi_page_put(p, "agreement", "%3f", a->agreement);
    cofi_page_put(p, "by", "%s", m->refined_by == COF_REFINED_BY_LIKELIHOOD ? "likelihood" : "COForest");
    cofi_page_put(p, "log_likelihood", "%2f", a->log_likelihood);
    cofi_page_put(p, "keep", "%u", (unsigned)a->keep);
    for (uint32_t j = 0; j < m->k && j < OTHER_CLUSTERS; j++) {
        double size = cof_model_sizes(m)[j];
        cofi_page_open_cluster(p, "clusters", j);
        cofi_page_count(p, "size", size);
        cofi_page_bar(p, "share", size, r->total);
        for (size_t i = 0; i < n[j]; i++) {
            const cof_trait *t = &trait[j * OTHER_TRAITS + i];
            char value[COFI_SHOWN_BYTES];
            cofi_page_open(p, "traits");
            cofi_page_name(p, "column", m->attr[t->attribute].domain.name, 24);
            cofi_page_name(p, "value", cof_trait_text(m, t, value, sizeof value), 24);
            cofi_page_put(p, "here", "%p", t->here, t->cluster);
            cofi_page_close(p);
        }
        cofi_page_close(p);
    }
    cofi_page_close(p);
    return COF_OK;
}

cof_status cofi_report_others(cofi_report *r, cof_error *err)
{
    const cof_alternative *a = cof_model_alternative(r->model, 0);
    if (a == NULL) return COF_OK;
    cofi_page_open(&r->page, "others");
    for (size_t number = 1; a != NULL; a = cof_model_alternative(r->model, number++))
        COFI_TRY(put_other(r, a, number, err));
    cofi_page_close(&r->page);
    return COF_OK;
}
