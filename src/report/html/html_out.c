/* Names, figures, bars and tables of the report. */
#include "html_out.h"

#include <math.h>
#include <stdio.h>

enum { HOVER_COLUMNS = 200 };

void cofi_html_attribute(cofi_out *out, const char *name, const char *text)
{
    cofi_out_format(out, " %s=\"", name);
    cofi_out_xml(out, text);
    cofi_out_text(out, "\"");
}

void cofi_html_name(cofi_out *out, const char *text, unsigned columns)
{
    char shown[COFI_SHOWN_BYTES], longer[COFI_SHOWN_BYTES];
    cofi_shown(shown, text, columns);
    cofi_shown(longer, text, HOVER_COLUMNS);
    cofi_out_text(out, "<bdi");
    if (strcmp(shown, longer) != 0) cofi_html_attribute(out, "title", longer);
    cofi_out_text(out, ">");
    cofi_out_xml(out, shown);
    cofi_out_text(out, "</bdi>");
}

void cofi_html_count(cofi_out *out, uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    for (int i = 0; i < length; i++) {
        cofi_out_bytes(out, digits + i, 1);
        if ((length - 1 - i) % 3 == 0 && i + 1 < length) cofi_out_text(out, ",");
    }
}

void cofi_html_amount(cofi_out *out, double n)
{
    if (n == floor(n) && n >= 0 && n < 1e18)
        cofi_html_count(out, (uint64_t)n);
    else
        cofi_out_fixed(out, n, 0, fabs(n) < 1000 ? 2 : 0);
}

/* Whole percents; the ends only where they are exact. */
static int percent_of(double part, double whole)
{
    if (!(whole > 0) || !(part > 0)) return 0;
    int percent = (int)lround(100 * part / whole);
    if (percent >= 100) return part >= whole ? 100 : 99;
    return percent < 1 ? 1 : percent;
}

void cofi_html_share(cofi_out *out, double part, double whole)
{
    if (part > 0 && whole > 0 && 100 * part / whole < 0.5)
        cofi_out_text(out, "&lt;1\u00a0%");
    else
        cofi_out_format(out, "%d\u00a0%%", percent_of(part, whole));
}

void cofi_html_swatch(cofi_out *out, uint32_t cluster)
{
    cofi_out_text(out, "<i aria-hidden=\"true\" class=\"sw ");
    cofi_svg_cluster(out, cluster);
    cofi_out_text(out, "\"></i>");
}

void cofi_html_cluster(cofi_out *out, uint32_t cluster)
{
    cofi_out_text(out, "<span class=\"nw\">");
    cofi_html_swatch(out, cluster);
    cofi_out_format(out, "cluster %u</span>", cluster + 1);
}

void cofi_html_bar(cofi_out *out, const char *classes, double part, double whole)
{
    int percent = percent_of(part, whole);
    cofi_out_format(out, "<td class=\"b%s%s", *classes != '\0' ? " " : "", classes);
    if (percent > 0) cofi_out_format(out, " p%d", percent);
    cofi_out_format(out, "\">%s%d", part > 0 && whole > 0 && 100 * part / whole < 0.5 ? "&lt;" : "", percent);
}

void cofi_html_number(cofi_out *out, double number, int decimals)
{
    cofi_out_text(out, "<td class=\"n\"");
    if (!isfinite(number)) {
        cofi_out_text(out, ">\u2013");
        return;
    }
    cofi_out_text(out, " data-v=\"");
    cofi_out_number(out, number);
    cofi_out_text(out, "\">");
    cofi_out_fixed(out, number, 0, decimals);
}

void cofi_html_count_cell(cofi_out *out, double amount)
{
    cofi_out_text(out, "<td class=\"n\" data-v=\"");
    cofi_out_number(out, amount);
    cofi_out_text(out, "\">");
    cofi_html_amount(out, amount);
}

void cofi_html_table(cofi_out *out, const char *classes, bool sortable, const char *caption)
{
    cofi_out_text(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    cofi_html_attribute(out, "aria-label", caption);
    cofi_out_format(out, "><table class=\"%s\"%s><caption>", classes, sortable ? " data-sort" : "");
    cofi_out_xml(out, caption);
    cofi_out_text(out, "</caption>\n");
}

void cofi_html_table_end(cofi_out *out)
{
    cofi_out_text(out, "</table></div>\n");
}

/* numeric has a letter for each heading: 'n' for a column of numbers. */
void cofi_html_heads(cofi_out *out, const char *const *names, const char *numeric, size_t n)
{
    cofi_out_text(out, "<thead><tr>");
    for (size_t i = 0; i < n; i++) {
        cofi_out_text(out, numeric[i] == 'n' ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
        cofi_out_xml(out, names[i]);
    }
    cofi_out_text(out, "</tr></thead>\n");
}

void cofi_html_section(cofi_out *out, const char *id, const char *heading)
{
    cofi_out_format(out, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2>\n", id, id, heading);
}
