/* One page with everything: no script, no network, light and dark, fit for paper. */
#include "reproduce.h"

#include "chart.h"
#include "complain.h"
#include "term.h"

static const char STYLE[] =
    "<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{margin:0 auto;max-width:1040px;padding:1rem;font:16px/1.5 system-ui,-apple-system,\"Segoe UI\","
    "\"DejaVu Sans\",sans-serif;color:#1a1a1a;background:#fff}\n"
    "h1{font-size:1.7rem;line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid #8886}\n"
    "p{max-width:46rem}small{opacity:.8}\n"
    "figure{margin:1rem 0;overflow-x:auto}figure svg{max-width:100%;height:auto;min-width:640px}\n"
    ".wide{overflow-x:auto;margin:1rem 0}\n"
    "table{border-collapse:collapse;font-size:.82rem;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;padding:.3rem 0;max-width:46rem}\n"
    "th,td{padding:.2rem .5rem;text-align:right;border-bottom:1px solid #8884;white-space:nowrap}\n"
    "th[scope=row]{text-align:left}.best{font-weight:700}.own{background:#56b4e933}.second{text-decoration:"
    "underline}\n"
    ".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:1rem}\n"
    ".pair figure svg{min-width:0}h4{margin:.5rem 0 0}\n"
    "nav a{margin-right:1rem}a{color:inherit}\n"
    "@media screen and (prefers-color-scheme:dark){body{color:#e6e6e6;background:#16181c}}\n"
    "@media print{body{max-width:none}figure svg{min-width:0}h2{break-before:page}}\n"
    "</style>\n";

static void open_page(FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<title>COForest's experiments, run again</title>\n",
          out);
    fputs(STYLE, out);
    fputs(
        "</head>\n<body>\n<h1>COForest's experiments, run again</h1>\n<p>The experiments of “Learning Order "
        "Forest for Qualitative-Attribute Data Clustering” (ECAI 2024) and its supplement, from the data up, "
        "beside the printed figures. Everything below is made from the numbers in the CSV and JSON files "
        "next to this page.</p>\n",
        out);
}

/* Which parts the page has, and what it took to make them. */
static void put_section(const rep_job *job, const rep_experiment *e, const rep_results *r, FILE *out)
{
    fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", e->name, e->title);
    e->tell(job, r, out);
    fputs("<p><small>Settings: ", out);
    chart_escape(out, r->settings);
    fprintf(out, ". Parts: ");
    for (size_t i = 0; i < r->n_units; i++) fprintf(out, "%s%s", i == 0 ? "" : ", ", r->unit[i].name);
    fprintf(out,
            ". Took %s. Data: <a href=\"%s.csv\">%s.csv</a>, <a href=\"%s.json\">%s.json</a>.</small></p>\n",
            show_seconds(rep_seconds(r)).text, e->name, e->name, e->name, e->name);
    fputs("</section>\n", out);
}

int rep_write_page(const rep_job *job, const rep_experiment *const *experiments)
{
    rep_file f;
    int code = rep_file_open(job, "index.html", &f);
    if (code != CODE_DONE) return code;
    open_page(f.out);
    fputs("<nav>", f.out);
    for (size_t i = 0; experiments[i] != NULL; i++)
        fprintf(f.out, "<a href=\"#%s\">%s</a>\n", experiments[i]->name, experiments[i]->name);
    fputs("</nav>\n", f.out);
    for (size_t i = 0; experiments[i] != NULL; i++) {
        const rep_experiment *e = experiments[i];
        rep_results r;
        rep_load(job, e, NULL, &r);
        if (r.n_units > 0)
            put_section(job, e, &r, f.out);
        else
            fprintf(
                f.out,
                "<section id=\"%s\">\n<h2>%s</h2>\n<p>Not run yet: <code>coforest reproduce %s</code>.</p>\n"
                "</section>\n",
                e->name, e->title, e->name);
        rep_results_free(&r);
    }
    fputs("</body>\n</html>\n", f.out);
    return rep_file_close(&f);
}
