/* Tries notations of numbers and dates one after the other; a notation is accepted only if every value
 * fits. */
#include "recognise.h"

#include <ctype.h>
#include <math.h>

/* A number with leading zeros: 01234 or -007, but neither 0 nor 0.5. */
static bool is_code(const char *text)
{
    if (*text == '-' || *text == '+') text++;
    return text[0] == '0' && isdigit((unsigned char)text[1]);
}

/* Whether every value can be read in this notation, and properties of the points. */
static bool fits(const cofi_column *c, const cofi_reading *reading, double *points, cofi_recognition *out)
{
    cofi_recognition r = {.reading = *reading, .whole = true, .least = INFINITY, .most = -INFINITY};
    for (uint32_t v = 0; v < c->n_values; v++) {
        const char *text = cofi_column_text(c, v);
        double point;
        if (!cofi_reading_parse(reading, text, &point)) return false;
        if (points != NULL) points[v] = point;
        if (isnan(point)) continue;
        r.n_points++;
        r.whole = r.whole && point == floor(point);
        r.codes = r.codes || (reading->line == COFI_LINE_NUMBER && is_code(text));
        r.least = point < r.least ? point : r.least;
        r.most = point > r.most ? point : r.most;
    }
    if (r.n_points == 0) return false;
    *out = r;
    return true;
}

/* The percent or currency sign at the beginning or end of a text; "" if there is none. */
static const char *affix_of(const char *text)
{
    static const char *const known[] = {"%",   "US$", "$",   "€",   "£",   "¥",   "₹",   "USD",
                                        "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD",
                                        "SEK", "NOK", "DKK", "PLN", "kr",  "zł"};
    size_t n = strlen(text);
    if (*text == '-' || *text == '+') text++, n--;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i]);
        if (n > length &&
            (memcmp(text, known[i], length) == 0 || memcmp(text + n - length, known[i], length) == 0))
            return known[i];
    }
    return "";
}

/* Whether a number of a thousand or more is written without a comma; then commas do not group digits in
 * this column. */
static bool has_bare_thousand(const cofi_column *c, const cofi_reading *reading)
{
    for (uint32_t v = 0; v < c->n_values; v++) {
        double point;
        const char *text = cofi_column_text(c, v);
        if (strchr(text, ',') == NULL && cofi_reading_parse(reading, text, &point) && fabs(point) >= 1000)
            return true;
    }
    return false;
}

static bool fits_number(const cofi_column *c, const char *affix, double *points, cofi_recognition *out)
{
    static const struct {
        char decimal, thousands;
    } ways[] = {{'.', '\0'}, {'.', ','}, {',', '\0'}, {',', '.'}, {'.', ' '}, {',', ' '}, {'.', '\''}};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        cofi_reading r = {
            .line = COFI_LINE_NUMBER, .decimal = ways[w].decimal, .thousands = ways[w].thousands};
        memcpy(r.affix, affix, strlen(affix) + 1);
        if (!fits(c, &r, points, out)) continue;
        /* 1,234 is read as a thousand, unless numbers such as 1234 or 01 also occur: then the comma is a
         * decimal mark */
        bool doubtful = ways[w].thousands == ',' && (out->codes || has_bare_thousand(c, &r));
        if (!doubtful) return true;
    }
    return false;
}

static bool fits_date(const cofi_column *c, double *points, cofi_recognition *out)
{
    cofi_reading r = {.line = COFI_LINE_DATE, .order = COFI_DATE_YMD, .decimal = '.'};
    cofi_recognition other;
    if (fits(c, &r, points, out)) return true;
    r.order = COFI_DATE_DMY;
    bool day_first = fits(c, &r, points, out);
    r.order = COFI_DATE_MDY;
    bool month_first = fits(c, &r, day_first ? NULL : points, day_first ? &other : out);
    if (!day_first || !month_first) return day_first || month_first;
    *out = (cofi_recognition){.unclear = true};
    return false;
}

static const char *first_text(const cofi_column *c)
{
    const cofi_reading number = {.line = COFI_LINE_NUMBER, .decimal = '.'};
    for (uint32_t v = 0; v < c->n_values; v++) {
        double point;
        const char *text = cofi_column_text(c, v);
        if (!cofi_reading_parse(&number, text, &point) || !isnan(point)) return text;
    }
    return NULL;
}

static cofi_recognition recognise(const cofi_column *c, double *points)
{
    cofi_recognition none = {.codes = false}, r = none;
    const char *text = first_text(c);
    if (text == NULL || strpbrk(text, "0123456789") == NULL) return none;
    if (fits_number(c, "", points, &r)) return r;
    const char *affix = affix_of(text);
    if (*affix != '\0' && fits_number(c, affix, points, &r)) return r;
    r = none;
    if (fits_date(c, points, &r) || r.unclear) return r;
    cofi_reading time = {.line = COFI_LINE_TIME, .decimal = '.'};
    return fits(c, &time, points, &r) ? r : none;
}

cofi_recognition cofi_recognise(const cofi_column *c, double *points)
{
    if (c->known == NULL) return recognise(c, points);
    cofi_recognition r = c->known->found;
    if (points == NULL || r.reading.line == COFI_LINE_NONE) return r;
    if (c->known->point != NULL)
        memcpy(points, c->known->point, c->n_values * sizeof *points);
    else
        fits(c, &c->known->found.reading, points, &r);
    return r;
}

double *cofi_recognise_points(const cof_env *env, cofi_column *c, cofi_recognition *found)
{
    double *point = c->known != NULL ? c->known->point : NULL;
    if (point != NULL) {
        *found = c->known->found;
        c->known->point = NULL;
        return point;
    }
    point = cofi_alloc(env, (size_t)c->n_values + 1, sizeof *point);
    if (point == NULL) return NULL;
    *found = cofi_recognise(c, point);
    point[c->n_values] = NAN;
    return point;
}

/* Points are kept only where a column may be a quantity. */
cof_status cofi_column_recognise(const cof_env *env, cofi_column *c)
{
    cofi_known *known = cofi_alloc_zero(env, 1, sizeof *known);
    double *point = known != NULL ? cofi_recognise_points(env, c, &known->found) : NULL;
    if (point == NULL) {
        cofi_release(env, known);
        return COF_ERR_MEMORY;
    }
    if (known->found.reading.line != COFI_LINE_NONE && !known->found.codes)
        known->point = point;
    else
        cofi_release(env, point);
    c->known = known;
    return COF_OK;
}

cof_status cofi_table_recognise(cof_table *table, cof_error *err)
{
    for (size_t c = 0; c < table->n_columns; c++)
        if (cofi_column_recognise(&table->env, &table->column[c]) != COF_OK) return cofi_no_memory(err);
    return COF_OK;
}

void cofi_column_forget(const cof_env *env, cofi_column *c)
{
    if (c->known == NULL) return;
    cofi_release(env, c->known->point);
    cofi_release(env, c->known);
    c->known = NULL;
}
