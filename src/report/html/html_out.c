/* Names, figures, bars and tables of the report. */
#include "html_out.h"

#include <math.h>
#include <stdio.h>

enum { HOVER_COLUMNS = 200 };

void cofi_html_attribute(cofi_out *out, const char *name, const char *text)
{
    cofi_out_put(out, " %s=\"%x\"", name, text);
}

/* A range such as 2024-03-01..2024-05-31 may be broken after its dots. */
static void put_breakable(cofi_out *out, char *shown)
{
    char *dots = strstr(shown, "..");
    if (dots == NULL || dots == shown || dots[2] == '.' || dots[2] == '\0') {
        cofi_out_xml(out, shown);
        return;
    }
    char kept = dots[2];
    dots[2] = '\0';
    cofi_out_xml(out, shown);
    cofi_out_text(out, "<wbr>");
    dots[2] = kept;
    cofi_out_xml(out, dots + 2);
}

void cofi_html_name(cofi_out *out, const char *text, unsigned columns)
{
    char shown[COFI_SHOWN_BYTES], longer[COFI_SHOWN_BYTES];
    cofi_shown(shown, text, columns);
    cofi_shown(longer, text, HOVER_COLUMNS);
    cofi_out_text(out, "<bdi");
    if (strcmp(shown, longer) != 0) cofi_html_attribute(out, "title", longer);
    cofi_out_text(out, ">");
    put_breakable(out, shown);
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
    cofi_svg(out, "<i aria-hidden=\"true\" class=\"sw %k\"></i>", cluster);
}

void cofi_html_cluster(cofi_out *out, uint32_t cluster)
{
    cofi_html(out, "<span class=\"nw\">%wcluster %u</span>", cluster, cluster + 1);
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
    if (!isfinite(number)) {
        cofi_out_text(out, "<td class=\"n\">\u2013");
        return;
    }
    cofi_out_put(out, "<td class=\"n\" data-v=\"%g\">", number);
    cofi_out_fixed(out, number, 0, decimals);
}

void cofi_html_count_cell(cofi_out *out, double amount)
{
    cofi_html(out, "<td class=\"n\" data-v=\"%g\">%a", amount, amount);
}

void cofi_html_table(cofi_out *out, const char *classes, bool sortable, const char *caption)
{
    cofi_out_put(out,
                 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%x\"><table "
                 "class=\"%s\"%s><caption>%x</caption>\n",
                 caption, classes, sortable ? " data-sort" : "", caption);
}

void cofi_html_table_end(cofi_out *out)
{
    cofi_out_text(out, "</table></div>\n");
}

void cofi_html_body(cofi_out *out, const char *classes, const char *caption, const char *heads)
{
    cofi_html_table(out, classes, true, caption);
    cofi_out_text(out, "<thead><tr>");
    while (*heads != '\0') {
        size_t n = strcspn(heads, "#|");
        cofi_out_put(out, "<th scope=\"col\"%s>", heads[n] == '#' ? " class=\"n\"" : "");
        cofi_out_bytes(out, heads, n);
        heads += strcspn(heads, "|");
        heads += *heads == '|';
    }
    cofi_out_text(out, "</tr></thead>\n<tbody>\n");
}

void cofi_html_body_end(cofi_out *out)
{
    cofi_out_text(out, "</tbody></table></div>\n");
}

void cofi_html_section(cofi_out *out, const char *id, const char *heading)
{
    cofi_out_format(out, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2>\n", id, id, heading);
}

static void put_letter(cofi_out *out, char letter, int number, va_list *args)
{
    if (letter == 'n') {
        cofi_html_name(out, va_arg(*args, const char *), (unsigned)number);
    } else if (letter == 'c') {
        cofi_html_count(out, va_arg(*args, uint64_t));
    } else if (letter == 'w') {
        cofi_html_swatch(out, va_arg(*args, uint32_t));
    } else if (letter == 'k') {
        cofi_html_cluster(out, va_arg(*args, uint32_t));
    } else {
        double x = va_arg(*args, double);
        if (letter == 'a') cofi_html_amount(out, x);
        if (letter == 'm') cofi_html_count_cell(out, x);
        if (letter == 'd') cofi_html_number(out, x, number);
        if (letter == 'p') cofi_html_share(out, x, va_arg(*args, double));
        if (letter == 'b' || letter == 'B')
            cofi_html_bar(out, letter == 'B' ? "wide" : "", x, va_arg(*args, double));
    }
}

void cofi_html(cofi_out *out, const char *template, ...)
{
    va_list args;
    va_start(args, template);
    cofi_out_fill(out, template, &args, put_letter);
    va_end(args);
}
