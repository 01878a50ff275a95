/* The result of a fit, for people: what was read, what came out, what it means, what to do next. */
#include <float.h>
#include <math.h>
#include <stdarg.h>

#include "../complain.h"
#include "../verbs/fit_job.h"
#include "../method_list.h"
#include "show_scores.h"

enum {
    BAR_WIDTH = 24,
    MOST_NAMES = 24,    /* columns listed before "and n more" */
    MOST_CLUSTERS = 60, /* described one by one */
    MOST_TELLING = 5,
    MOST_TREES = 3,   /* drawn here; `trees` draws the rest */
    MOST_VALUES = 24, /* of a tree worth drawing here */
    VALUE_WIDTH = 24,
    MAX_TRAITS = 8
};

/* ---- What the partition says, from the model's counts alone --------------------------------------- */

typedef struct traits {
    const cof_trait *best; /* most evidence first */
    size_t n;
} traits;

typedef struct insight {
    traits *of_cluster; /* k: values the cluster holds more often than the table does */
    double *tells;      /* one an attribute: see cof_model_importance */
} insight;

static int insight_find(const cof_model *model, insight *out)
{
    uint32_t k = cof_model_k(model);
    size_t n = cof_model_n_attributes(model), *found = keep((size_t)k + 1, sizeof *found);
    cof_trait *all = keep((size_t)k * MAX_TRAITS + 1, sizeof *all);
    *out = (insight){keep((size_t)k + 1, sizeof *out->of_cluster), keep(n + 1, sizeof *out->tells)};
    TRY(complain_status(cof_model_importance(model, out->tells, n, &said), TASK_FIT));
    TRY(complain_status(cof_model_traits(model, COF_TRAIT_MORE, MAX_TRAITS, all, found, &said), TASK_FIT));
    for (uint32_t j = 0; j < k; j++) {
        traits *of = &out->of_cluster[j];
        of->best = all + (size_t)j * MAX_TRAITS;
        of->n = found[j];
    }
    return CODE_DONE;
}

/* At most `most` attributes with that many values, those that tell most first; their number. */
static size_t insight_rank(const cof_model *model, const insight *in, uint32_t min_values,
                           uint32_t max_values, size_t most, size_t *attribute)
{
    size_t n = 0;
    for (size_t r = 0; r < cof_model_n_attributes(model); r++) {
        cof_attribute about = attribute_of(model, r);
        if (!about.used || about.n_values < min_values || about.n_values > max_values) continue;
        if (in->tells[r] <= 0) continue;
        size_t at = n;
        while (at > 0 && in->tells[attribute[at - 1]] < in->tells[r]) at--;
        if (at == most) continue;
        size_t last = n < most ? n : most - 1;
        memmove(attribute + at + 1, attribute + at, (last - at) * sizeof *attribute);
        attribute[at] = r;
        n = last + 1;
    }
    return n;
}

static void heading(const page *p, const char *text)
{
    fprintf(p->out, "\n%s%s%s\n", bold(p), text, plain(p));
}

/* ---- What was read ------------------------------------------------------------------------------- */

/* Whether there are any. */
static bool list_columns(const fit_job *job, const page *p, left_out why, const char *title)
{
    size_t n = 0, listed = 0;
    for (size_t c = 0; c < job->columns.n; c++) n += job->columns.why[c] == why;
    if (n == 0) return false;
    fprintf(p->out, "%-11s", title);
    flow f = flow_begin(p, 11, 11);
    for (size_t c = 0; c < job->columns.n && listed < MOST_NAMES; c++) {
        if (job->columns.why[c] != why) continue;
        shown name = show_name(column_of(job->table, c).name, 40);
        listed++;
        flow_piece(&f, accent(p), name.text, name.width + (listed < n), plain(p));
        if (listed < n) fputc(',', p->out);
    }
    if (listed < n) {
        char rest[40];
        snprintf(rest, sizeof rest, "and %zu more", n - listed);
        flow_words(&f, rest);
    }
    char reason[120];
    snprintf(reason, sizeof reason, "(%s)", left_out_sentence(why));
    flow_words(&f, reason);
    flow_end(&f);
    return true;
}

static void show_missing(const fit_job *job, const page *p)
{
    uint64_t cells = 0;
    size_t n = 0;
    static const char *const how[] = {[COF_MISSING_VALUE] = "counted as a value of their own",
                                      [COF_MISSING_IGNORE] = "ignored in all distances",
                                      [COF_MISSING_DROP] = "whose rows are left out",
                                      [COF_MISSING_ERROR] = ""};
    for (size_t c = 0; c < job->columns.n; c++) {
        uint64_t missing = job->columns.why[c] == USED ? column_of(job->table, c).n_missing : 0;
        cells += missing;
        n += missing > 0;
    }
    if (cells > 0)
        fprintf(p->out, "Missing:   %s cell%s in %zu column%s, %s (--missing)\n", show_count(cells).text,
                plural(cells), n, plural(n), how[job->s.fit.missing]);
}

void show_table_read(const fit_job *job, const page *p)
{
    const char *title = "Left out:";
    size_t n_rows = cof_table_n_rows(job->table);
    fprintf(p->out, "Read:      %s%s%s, %s row%s, %s column%s, in %s\n", bold(p),
            show_text(job->file, 60).text, plain(p), show_count(n_rows).text, plural(n_rows),
            show_count(job->columns.n).text, plural(job->columns.n), show_seconds(job->read_s).text);
    for (left_out why = LEFT_LABEL; why <= LEFT_NOT_CHOSEN; why++)
        if (list_columns(job, p, why, title)) title = "";
    list_columns(job, p, AS_NUMBER, "Numeric:");
    if (job->columns.n_cut > 0) {
        fprintf(p->out, "%-11s", "Cut:");
        put_words(p, 11,
                  keep_text("%s (into bins; --quantities values undoes it)",
                            cut_names(job->table, &job->columns).text));
    }
    show_missing(job, p);
    fflush(p->out); /* something to read while the fit runs */
}

/* ---- Clusters ------------------------------------------------------------------------------------ */

/* Eighths of a column, so that small differences show. */
static void put_bar(const page *p, double share)
{
    static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int parts = (int)lround(share * BAR_WIDTH * 8);
    if (parts == 0 && share > 0) parts = 1;
    fputs(accent(p), p->out);
    put_repeated(p->out, sign_of("█"), parts / 8);
    fprintf(p->out, "%s%s", parts % 8 > 0 ? sign_of(eighth[parts % 8]) : "", plain(p));
}

static void show_sizes(const fit_job *job, const page *p)
{
    const double *size = cof_model_sizes(job->model);
    bool weighted = job->columns.weights != SIZE_MAX;
    double total = 0, most = 0;
    int width = 6;
    for (uint32_t j = 0; j < job->s.fit.k; j++) {
        int own = show_amount(size[j]).width;
        total += size[j];
        if (size[j] > most) most = size[j];
        if (own > width) width = own;
    }
    shown title = show_text(weighted ? "weight" : "rows", 10);
    fprintf(p->out, "\n  %scluster  ", dim(p));
    put_right(p->out, &title, width);
    fprintf(p->out, "  share%s\n", plain(p));
    for (uint32_t j = 0; j < job->s.fit.k; j++) {
        shown amount = show_amount(size[j]), share = show_share(size[j], total);
        fprintf(p->out, "  %7u  ", j + 1);
        put_right(p->out, &amount, width);
        fputs("  ", p->out);
        put_right(p->out, &share, 5);
        fputs("  ", p->out);
        put_bar(p, most > 0 ? size[j] / most : 0);
        fputc('\n', p->out);
    }
}

/* ---- What is known of the result, a line each ----------------------------------------------------- */

__attribute__((format(__printf__, 3, 4))) static void put_fact(const page *p, const char *name,
                                                               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(p->out, "  %-14s ", name);
    vfprintf(p->out, format, args);
    fputc('\n', p->out);
    va_end(args);
}

/* How many restarts there were, and how far they agree. */
static void show_restarts(const fit_job *job, const page *p)
{
    uint32_t n_good = 0, least = 0;
    double mean = cof_model_mean_agreement(job->model);
    const double *agreement = cof_model_cluster_agreement(job->model, &n_good);
    if (!isnan(mean))
        put_fact(p, "Agreement", "%.3f with the other restarts (mean adjusted Rand index)", mean);
    if (agreement == NULL) return;
    for (uint32_t j = 1; j < job->s.fit.k; j++) least = agreement[j] < agreement[least] ? j : least;
    if (agreement[least] < 0.995) /* the cluster that they agree least about */
        put_fact(p, "Least certain", "cluster %u: overlap %.2f with its counterpart in %u good restart%s",
                 least + 1, agreement[least], n_good, plural(n_good));
}

/* The class model, where it was asked for or is the method. */
static void show_mixture(const cof_fit_info *info, const page *p)
{
    if (isnan(info->icl)) {
        if (!isnan(info->bic))
            put_fact(p, "Mixture", "log-likelihood %.2f, BIC %.2f (smaller is better)",
                     info->mixture_log_likelihood, info->bic);
        return;
    }
    put_fact(p, "Mixture", "log-likelihood %.2f with %.0f parameters", info->mixture_log_likelihood,
             info->n_parameters);
    put_fact(p, "Criteria", "BIC %.2f, AIC %.2f, ICL %.2f (smaller is better)", info->bic, info->aic,
             info->icl);
    if (!isnan(info->g_squared))
        put_fact(p, "Cells", "G squared %.2f, X squared %.2f with %.0f degrees of freedom", info->g_squared,
                 info->x_squared, info->df);
    if (!isnan(info->df))
        put_fact(p, "", "adjusted BIC %.2f, AIC3 %.2f, entropy R squared %.3f", info->bic_adjusted,
                 info->aic3, info->entropy_r_squared);
    put_fact(p, "Shared", "%s row%s between clusters: no membership reaches %.1f",
             show_count(info->n_shared).text, plural(info->n_shared), COF_SHARED_MEMBERSHIP);
}

static void show_structure(const fit_job *job, const page *p)
{
    if (!(job->info.log_likelihood <= job->info.log_likelihood_of_one)) return;
    if (job->s.fit.k > 1 && job->info.k_instead > 0)
        put_fact(p, "Structure", "%u clusters explain the rows no better than one; %u would", job->s.fit.k,
                 job->info.k_instead);
    else if (job->s.fit.k > 1)
        put_fact(p, "Structure", "none found: a single cluster explains the rows as well");
    else if (cof_model_k_curve(job->model, NULL) != NULL)
        put_fact(p, "Structure", "none found: no larger number of clusters explains the rows better");
}

/* The rows above are counted by their likeliest class. */
static void show_class_shares(const fit_job *job, const page *p)
{
    if (strcmp(cof_model_method(job->model), "lca") != 0) return;
    fprintf(p->out, "  %-14s", "Class shares");
    for (uint32_t j = 0; j < job->s.fit.k && j < MOST_CLUSTERS; j++)
        fprintf(p->out, "%s %.1f %%", j > 0 ? "," : "", 100 * cof_model_class_share(job->model, j));
    fputc('\n', p->out);
}

static void show_facts(const fit_job *job, const page *p)
{
    const cof_fit_info *info = &job->info;
    int32_t select = job->s.fit.select, stop = info->stop_reason;
    bool likelihood = select != COF_SELECT_OBJECTIVE;
    char kept[120] = "", rebuilds[40] = "";
    size_t n = 0;
    /* The kept restart may have converged long before the run was interrupted. */
    const cof_restart_record *record = cof_model_restarts(job->model, &n);
    if (info->best_restart < n) stop = record[info->best_restart].stop_reason;
    cof_word why = cof_result_word(field_place("stop_reason"), (size_t)stop);
    if (info->n_restarts > 1)
        snprintf(kept, sizeof kept, "; %s %u restarts, reached by %zu of them",
                 select == COF_SELECT_BALANCE || select == COF_SELECT_MIXTURE ? "kept from" : "the best of",
                 info->n_restarts, cof_model_n_same(job->model));
    if (info->rebuilds > 0 || has_trees(job->model))
        snprintf(rebuilds, sizeof rebuilds, "%u rebuild%s and ", info->rebuilds, plural(info->rebuilds));
    fputc('\n', p->out);
    put_fact(p, likelihood ? "Log-likelihood" : "Objective", "%.2f%s",
             likelihood ? info->log_likelihood : info->objective, kept);
    show_restarts(job, p);
    put_fact(p, likelihood ? "Objective" : "Log-likelihood", "%.2f; %s after %s%u pass%s",
             likelihood ? info->objective : info->log_likelihood,
             stop == COF_STOP_CONVERGED ? why.name : why.about, rebuilds, info->passes,
             info->passes == 1 ? "" : "es");
    if (strcmp(cof_model_method(job->model), "coforest") == 0 && job->s.fit.k > 1) {
        if (cof_model_refined_by(job->model) == COF_REFINED_BY_LIKELIHOOD)
            put_fact(p, "Refined by",
                     "likelihood: %s of the rows lie nearer to another cluster along the trees",
                     show_share(cof_model_nearer_other(job->model), 1).text);
        else
            put_fact(p, "Refined by", "COForest");
    }
    show_class_shares(job, p);
    show_mixture(info, p);
    show_structure(job, p);
}

/* The likelihood of every k tried, as a bar between the least and the greatest, and how far halves of the table agree. */
static void show_curve(const fit_job *job, const page *p)
{
    size_t n = 0;
    const cof_k_record *record = cof_model_k_curve(job->model, &n);
    uint32_t second = cof_model_k_runner_up(job->model), likeliest = 0;
    double least = INFINITY, most = -INFINITY;
    const cof_k_record *kept = NULL;
    bool measured = false; /* agreement on a number above the one kept */
    if (record == NULL) return;
    heading(p, "Number of clusters: log-likelihood, agreement of halves where measured");
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, record[i].log_likelihood);
        if (record[i].log_likelihood > most) likeliest = record[i].k;
        most = fmax(most, record[i].log_likelihood);
        if (record[i].k == job->s.fit.k) kept = &record[i];
    }
    for (size_t i = 0; i < n; i++) {
        const cof_k_record *r = &record[i];
        char halves[16] = "";
        if (!isnan(r->agreement)) snprintf(halves, sizeof halves, "%.2f", r->agreement);
        fprintf(p->out, "  %7u  %14.2f  %5s  ", r->k, r->log_likelihood, halves);
        put_bar(p, most > least ? (r->log_likelihood - least) / (most - least) : 1);
        fputs(r->k == job->s.fit.k ? "  kept\n" : r->k == second ? "  runner-up\n" : "\n", p->out);
        measured = measured || (r->k > job->s.fit.k && !isnan(r->agreement));
    }
    if (kept != NULL && kept->agreement < COF_GOOD_AGREEMENT)
        fputs("  The halves of the table agree well on no number, so the one kept is uncertain.\n", p->out);
    else if (kept != NULL && kept->k < likeliest)
        fputs(measured
                  ? "  On larger numbers the halves of the table agree less.\n"
                  : "  Likelier numbers only split clusters inside which columns depend on each other.\n",
              p->out);
    if (cof_model_k_at_edge(job->model))
        fprintf(p->out, "  The likeliest number, %u, is at the edge of the range; try a wider one.\n",
                likeliest);
}

/* Names the two columns whose importance differs most between the kept partition and the first alternative. */
static void show_alternative(const fit_job *job, const page *p, const insight *in)
{
    const cof_alternative *a = cof_model_alternative(job->model, 0);
    size_t n = cof_model_n_attributes(job->model), first = 0, second = 0;
    double *tells = keep(n + 1, sizeof *tells);
    if (a == NULL || cof_model_importance(a->model, tells, n, NULL) != COF_OK) return;
    for (size_t r = 0; r < n; r++) {
        tells[r] = fabs(tells[r] - in->tells[r]);
        if (tells[r] > tells[first]) first = r;
    }
    if (first == 0) second = n - 1;
    for (size_t r = 0; r < n; r++)
        if (r != first && tells[r] > tells[second]) second = r;
    char text[1400];
    shown name = show_name(attribute_of(job->model, first).name, VALUE_WIDTH);
    shown next = show_name(attribute_of(job->model, second).name, VALUE_WIDTH);
    snprintf(text, sizeof text,
             "another partition is nearly as good; it differs in %s%s%s (agreement %.2f; --keep %u)",
             name.text, n > 1 ? " and " : "", n > 1 ? next.text : "", a->agreement, a->keep);
    fprintf(p->out, "  %-14s ", "Alternative");
    put_words(p, 17, text);
}

/* ---- What marks a cluster ------------------------------------------------------------------------ */

static void put_trait(const fit_job *job, const page *p, flow *f, const cof_trait *t, bool last)
{
    char shares[640];
    shown name = show_name(attribute_of(job->model, t->attribute).name, VALUE_WIDTH);
    char value_text[512];
    shown value = show_name(cof_trait_text(job->model, t, value_text, sizeof value_text), VALUE_WIDTH);
    shown here = show_share(t->here, t->cluster), anywhere = show_share(t->anywhere, t->all);
    char text[1280];
    snprintf(shares, sizeof shares, "%s (%s)%s", here.text, anywhere.text, last ? "" : ",");
    snprintf(text, sizeof text, "%s=%s%s%s %s", name.text, accent(p), value.text, plain(p), shares);
    flow_piece(f, "", text, name.width + value.width + 2 + (int)strlen(shares), "");
}

/* As many names as fill one line. */
static void show_names(const fit_job *job, const page *p, uint32_t cluster)
{
    size_t n = 0, listed = 0;
    const int32_t *label = cof_model_labels(job->model, &n);
    flow f = flow_begin(p, 12, 12);
    for (size_t i = 0; i < n; i++) {
        if (label[i] != (int32_t)cluster) continue;
        shown name = show_name(cof_table_value(job->table, job->columns.names,
                                               cof_table_code(job->table, i, job->columns.names)),
                               24);
        if (listed > 0 && !flow_fits(&f, name.width + 5)) {
            fprintf(p->out, ", %s", sign_of("…"));
            break;
        }
        if (listed == 0) fprintf(p->out, "     %ssuch as", dim(p));
        fputs(listed == 0 ? " " : ",", p->out);
        flow_piece(&f, "", name.text, name.width + (listed > 0), "");
        listed++;
    }
    if (listed > 0) fprintf(p->out, "%s\n", plain(p));
}

static void show_traits(const fit_job *job, const page *p, const insight *in)
{
    const double *size = cof_model_sizes(job->model);
    heading(p, "What distinguishes each cluster: share of its rows (share of all rows)");
    for (uint32_t j = 0; j < job->s.fit.k && j < MOST_CLUSTERS; j++) {
        const traits *t = &in->of_cluster[j];
        flow f = flow_begin(p, 5, 5);
        fprintf(p->out, " %s%3u%s ", bold(p), j + 1, plain(p));
        size_t most = t->n < 5 ? t->n : 5;
        for (size_t i = 0; i < most; i++) put_trait(job, p, &f, &t->best[i], i + 1 == most);
        if (t->n == 0)
            flow_words(&f, size[j] > 0                                        ? "nothing stands out"
                           : strcmp(cof_model_method(job->model), "lca") == 0 ? "no row's likeliest class"
                                                                              : "no rows");
        flow_end(&f);
        if (job->columns.names != SIZE_MAX) show_names(job, p, j);
    }
    if (job->s.fit.k > MOST_CLUSTERS)
        fprintf(p->out, "     and %u more clusters\n", job->s.fit.k - MOST_CLUSTERS);
}

/* ---- Quantities ---------------------------------------------------------------------------------- */

/* The name of a quantity; what is known of it follows. */
static flow put_name(const page *p, const char *text, int width)
{
    shown name = show_name(text, VALUE_WIDTH);
    fprintf(p->out, "  %s", accent(p));
    put_left(p->out, &name, width);
    fputs(plain(p), p->out);
    return flow_begin(p, width + 2, width + 2);
}

static void show_quantities(const fit_job *job, const page *p, const insight *in)
{
    enum { MOST_SHOWN = 8 };
    size_t found[MOST_SHOWN], n = 0, all = 0;
    int name_width = 4;
    for (size_t r = 0; r < cof_model_n_attributes(job->model); r++) {
        if (cof_model_five(job->model, r, 0) == NULL) continue;
        size_t at = n < MOST_SHOWN ? n++ : MOST_SHOWN - 1;
        if (all++ >= MOST_SHOWN && in->tells[found[at]] >= in->tells[r]) continue;
        for (; at > 0 && in->tells[found[at - 1]] < in->tells[r]; at--) found[at] = found[at - 1];
        found[at] = r;
        int width = show_name(attribute_of(job->model, r).name, VALUE_WIDTH).width;
        if (width > name_width) name_width = width;
    }
    if (n == 0) return;
    heading(p, "Quantities: median of each cluster (and its quartiles)");
    for (size_t i = 0; i < n; i++) {
        flow f = put_name(p, attribute_of(job->model, found[i]).name, name_width);
        for (uint32_t j = 0; j < job->s.fit.k && j < MOST_CLUSTERS; j++) {
            char text[3][48];
            const double *five = cof_model_five(job->model, found[i], j);
            if (five == NULL || isnan(five[COF_FIVE_MEDIAN])) continue;
            for (int q = 0; q < 3; q++)
                cof_model_show_point(job->model, found[i], five[COF_FIVE_QUARTER + q], text[q], sizeof *text);
            char *all_three = keep_text(" %u: %s (%s..%s)", j + 1, text[1], text[0], text[2]);
            flow_piece(&f, "", all_three, (int)strlen(all_three), "");
        }
        flow_end(&f);
    }
    if (all > n) fprintf(p->out, "  and %zu more\n", all - n);
}

/* Means of the quantities that were kept as numbers. */
static void show_means(const fit_job *job, const page *p)
{
    size_t n = cof_model_n_numeric(job->model);
    int name_width = 4;
    if (n == 0) return;
    for (size_t c = 0; c < n; c++) {
        int width = show_name(cof_model_numeric_name(job->model, c), VALUE_WIDTH).width;
        if (width > name_width) name_width = width;
    }
    heading(p, "Quantities: mean of each cluster");
    for (size_t c = 0; c < n; c++) {
        flow f = put_name(p, cof_model_numeric_name(job->model, c), name_width);
        for (uint32_t j = 0; j < job->s.fit.k && j < MOST_CLUSTERS; j++) {
            char mean[48], text[80];
            snprintf(text, sizeof text, " %u: %s", j + 1,
                     cof_model_show_mean(job->model, c, j, mean, sizeof mean));
            flow_piece(&f, "", text, (int)strlen(text), "");
        }
        flow_end(&f);
    }
}

/* ---- Trees --------------------------------------------------------------------------------------- */

typedef struct indenter {
    FILE *out;
    bool at_start;
} indenter;

static int put_indented(void *ctx, const char *text, size_t n_bytes)
{
    indenter *to = ctx;
    for (size_t i = 0; i < n_bytes; i++) {
        if (to->at_start && text[i] != '\n') fputs("  ", to->out);
        to->at_start = text[i] == '\n';
        fputc(text[i], to->out);
    }
    return 0;
}

/* How much a column alone tells about the cluster, most first. */
static void show_telling(const fit_job *job, const page *p, const insight *in)
{
    size_t attribute[MOST_TELLING];
    size_t n = insight_rank(job->model, in, 2, UINT32_MAX, MOST_TELLING, attribute);
    if (n == 0) return;
    heading(p, "Most important columns: share of the uncertainty about the cluster removed");
    fputs("  ", p->out);
    flow f = flow_begin(p, 2, 2);
    for (size_t i = 0; i < n; i++) {
        char text[600];
        shown name = show_name(attribute_of(job->model, attribute[i]).name, 30);
        shown share = show_share(in->tells[attribute[i]], 1);
        snprintf(text, sizeof text, "%s%s%s %s%s", accent(p), name.text, plain(p), share.text,
                 i + 1 < n ? "," : "");
        flow_piece(&f, "", text, name.width + share.width + 1 + (i + 1 < n), "");
    }
    flow_end(&f);
}

static int put_indented_drawing(void *ctx, const char *text, size_t n_bytes)
{
    return put_drawing(put_indented, ctx, text, n_bytes);
}

/* A tree of two values is a single edge, so those of three and more come first. */
static int show_trees(const fit_job *job, const page *p, const insight *in)
{
    size_t attribute[MOST_TREES];
    if (!has_trees(job->model)) return CODE_DONE;
    size_t n = insight_rank(job->model, in, 3, MOST_VALUES, MOST_TREES, attribute);
    if (n == 0) n = insight_rank(job->model, in, 2, MOST_VALUES, 1, attribute);
    if (n == 0) return CODE_DONE;
    heading(p, "Order trees: a short edge joins values that occur in the same clusters");
    for (size_t i = 0; i < n; i++) {
        indenter to = {.out = p->out, .at_start = true};
        if (i > 0) fputc('\n', p->out);
        TRY(complain_status(
            cof_model_draw_tree(job->model, attribute[i], COF_DRAW_TEXT, put_indented_drawing, &to, &said),
            TASK_OUTPUT));
    }
    if (job->columns.n_used <= n) return CODE_DONE;
    fprintf(p->out, "\n  %s%zu of %zu trees; %s trees %s shows all%s%s\n", dim(p), n, job->columns.n_used,
            show_shell_word(program_name).text,
            job->s.out[OUT_MODEL].path == NULL ? "MODEL" : show_shell_word(job->s.out[OUT_MODEL].path).text,
            job->s.out[OUT_MODEL].path == NULL ? " (--model-out MODEL saves one)" : "", plain(p));
    return CODE_DONE;
}

/* ---- Scores, files, and what next ---------------------------------------------------------------- */

static int show_comparison(const fit_job *job, const page *p)
{
    size_t n = 0;
    if (!job->scored) return CODE_DONE;
    cof_column view = column_of(job->table, job->columns.label);
    labelling clusters = {
        .label = cof_model_labels(job->model, &n), .n_labels = job->s.fit.k, .title = "cluster"};
    labelling classes = {.label = job->classes,
                         .n_labels = view.n_values,
                         .title = view.name,
                         .table = job->table,
                         .column = job->columns.label};
    fprintf(p->out, "\n%sCompared with %s%s: %u class%s, %s row%s%s\n", bold(p),
            show_name(view.name, 40).text, plain(p), job->scores.n_classes,
            job->scores.n_classes == 1 ? "" : "es", show_count(job->scores.n).text, plural(job->scores.n),
            job->weights != NULL ? ", with their weights" : "");
    show_scores(p, &job->scores);
    return job->classes != NULL ? show_confusion(p, &clusters, &classes, n) : CODE_DONE;
}

static void show_next(const fit_job *job, const page *p)
{
    const char *model = job->s.out[OUT_MODEL].path;
    fputc('\n', p->out);
    show_outfiles(p, job->s.out, N_OUT, fit_outputs);
    fputs("Next:      ", p->out);
    if (model != NULL && !job->s.demo && cof_model_predicts(job->model))
        fprintf(p->out, "%s predict %s NEW.csv%s --table-out new-labelled.csv\n           ",
                show_shell_word(program_name).text, show_shell_word(model).text,
                reading_words(&job->s.reading, NULL, 0).text);
    if (model != NULL && has_trees(job->model))
        fprintf(p->out, "%s trees %s\n", show_shell_word(program_name).text, show_shell_word(model).text);
    else if (model != NULL && !job->s.demo)
        fprintf(p->out, "%s compare %s -k %u\n", show_shell_word(program_name).text,
                show_shell_word(job->file).text, job->s.fit.k);
    else if (job->s.demo)
        fputs("coforest fit YOUR.csv -k 5 --labels-out labels.csv --model-out model.cof\n", p->out);
    else if (job->s.out[OUT_LABELS].path != NULL)
        fputs("add --model-out model.cof to label new rows later\n", p->out);
    else
        fputs("add --labels-out labels.csv --model-out model.cof to save the result\n", p->out);
}

int show_fit(const fit_job *job, const page *p)
{
    insight in;
    size_t method = 0;
    TRY(insight_find(job->model, &in));
    fprintf(p->out, "\n%s%u cluster%s%s of %s row%s", bold(p), job->s.fit.k, plural(job->s.fit.k), plain(p),
            show_count(job->info.n_rows).text, plural(job->info.n_rows));
    if (job->info.n_distinct_rows > 0)
        fprintf(p->out, " (%s distinct)", show_count(job->info.n_distinct_rows).text);
    fprintf(p->out, " on %s column%s, in %s\n", show_count(job->columns.n_used).text,
            plural(job->columns.n_used), show_seconds(job->info.fit_s).text);
    while (strcmp(cof_method_name(method), job->s.fit.method) != 0) method++;
    if (method > 0) /* the program has the name of its own method, which needs no words */
        fprintf(p->out, "by %s%s%s: %s\n", bold(p), cof_method_name(method), plain(p),
                cof_method_title(method));
    show_sizes(job, p);
    show_facts(job, p);
    show_alternative(job, p, &in);
    /* that of an interruption is said at the end */
    for (size_t i = 0; i < job->n_warnings - (job->info.stop_reason == COF_STOP_STOPPED); i++) {
        fprintf(p->out, "%s  %sNote:%s ", i == 0 ? "\n" : "", bold(p), plain(p));
        put_words(p, 8, job->warning[i]);
    }
    show_curve(job, p);
    show_traits(job, p, &in);
    show_quantities(job, p, &in);
    show_means(job, p);
    show_telling(job, p, &in);
    TRY(show_trees(job, p, &in));
    TRY(show_comparison(job, p));
    show_next(job, p);
    return CODE_DONE;
}
