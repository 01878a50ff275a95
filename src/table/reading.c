/* Parses texts as points on a line, by one given notation. */
#include "reading.h"

#include "../core/env.h"

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Numbers ------------------------------------------------------------------------------------- */

/* The C library converts all digits as a whole number, so that no locale's decimal point matters. No more than 767 digits
 * decide how a double is rounded; of the rest it matters whether all are zero. */
static double convert_long(const char *text, size_t n, int64_t exponent)
{
    enum { MOST_DIGITS = 768 };
    char plain[MOST_DIGITS + 32];
    size_t made = 0;
    for (size_t at = 0; at < n && text[at] != 'e' && text[at] != 'E'; at++) {
        if (text[at] < '0' || text[at] > '9' || (made == 0 && text[at] == '0')) continue;
        if (made < MOST_DIGITS)
            plain[made++] = text[at];
        else
            exponent++;
        if (made == MOST_DIGITS && text[at] != '0') plain[made - 1] |= 1; /* an odd digit is not half way */
    }
    if (made == 0) return 0;
    snprintf(plain + made, sizeof plain - made, "e%" PRId64, exponent);
    return strtod(plain, NULL);
}

/* Correctly rounded if mantissa and power of ten are exact in a double. */
static double assemble(bool negative, uint64_t digits, bool all_digits, int64_t exponent, const char *text,
                       size_t n)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value;
    if (all_digits && digits < UINT64_C(1) << 53 && exponent >= -22 && exponent <= 22) {
        value = exponent < 0 ? (double)digits / power[-exponent] : (double)digits * power[exponent];
    } else {
        value = convert_long(text, n, exponent);
    }
    return negative ? -value : value;
}

bool cofi_number_parse(const char *text, size_t n, double *number)
{
    size_t at = 0, n_digits = 0;
    uint64_t digits = 0;
    int64_t exponent = 0;
    bool negative = n > 0 && text[0] == '-', all_digits = true, point = false;
    if (n > 0 && (text[0] == '-' || text[0] == '+')) at++;
    for (; at < n; at++) {
        if (text[at] == '.' && !point) {
            point = true;
            continue;
        }
        if (text[at] < '0' || text[at] > '9') break;
        if (digits < UINT64_C(1) << 59)
            digits = 10 * digits + (uint64_t)(text[at] - '0');
        else
            all_digits = false;
        n_digits++;
        exponent -= point;
    }
    if (n_digits == 0) return false;
    if (at < n && (text[at] == 'e' || text[at] == 'E')) {
        bool down = ++at < n && text[at] == '-';
        int64_t shift = 0;
        if (at < n && (text[at] == '-' || text[at] == '+')) at++;
        if (at == n) return false;
        for (; at < n && text[at] >= '0' && text[at] <= '9'; at++)
            if (shift < 100000) shift = 10 * shift + (text[at] - '0');
        exponent += down ? -shift : shift;
    }
    if (at < n) return false;
    *number = assemble(negative, digits, all_digits, exponent, text, n);
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length in bytes of the thousands separator at this place; a blank may be a no-break space (U+00A0,
 * U+202F). */
static size_t separator_at(char thousands, const char *text, size_t n)
{
    if (thousands == '\0') return 0;
    if (*text == thousands) return 1;
    if (thousands != ' ') return 0;
    if (n >= 2 && memcmp(text, "\xC2\xA0", 2) == 0) return 2;
    return n >= 3 && memcmp(text, "\xE2\x80\xAF", 3) == 0 ? 3 : 0;
}

/* Copies a number without its thousands separators and with a decimal point; returns 0 if a separator is
 * at a wrong place. */
static size_t normalise(const cofi_reading *r, const char *text, size_t n, char *plain, size_t room)
{
    size_t made = 0, since = 0; /* digits since the last separator */
    bool grouped = false, whole = true;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        size_t separator = whole ? separator_at(r->thousands, text + i, n - i) : 0;
        if (made + 1 >= room) return 0;
        if (separator > 0) {
            if (since == 0 || since > 3 || (grouped && since != 3)) return 0;
            grouped = true;
            since = 0;
            i += separator - 1;
            continue;
        }
        if (whole && !is_digit(c) && i > 0) { /* the end of the integer part */
            if (grouped && since != 3) return 0;
            whole = false;
        }
        if (c == '.' && r->decimal != '.') return 0;
        since += is_digit(c);
        plain[made++] = c == r->decimal ? '.' : c;
    }
    return grouped && whole && since != 3 ? 0 : made;
}

static void skip_blanks(const char **text, size_t *n)
{
    while (*n > 0 && isspace((unsigned char)**text)) ++*text, --*n;
    while (*n > 0 && isspace((unsigned char)(*text)[*n - 1])) --*n;
}

/* Removes the affix from either end; false if it is at neither. */
static bool drop_affix(const char *affix, const char **text, size_t *n)
{
    size_t length = strlen(affix);
    if (*n < length) return false;
    if (memcmp(*text, affix, length) == 0)
        *text += length;
    else if (memcmp(*text + *n - length, affix, length) != 0)
        return false;
    *n -= length;
    skip_blanks(text, n);
    return true;
}

static bool parse_number(const cofi_reading *r, const char *text, size_t n, double *number)
{
    char plain[400];
    size_t sign = 0;
    if (r->affix[0] != '\0') { /* a sign may precede it: -$5 */
        if (n > 0 && (*text == '-' || *text == '+')) plain[0] = *text, sign = 1, text++, n--;
        if (!drop_affix(r->affix, &text, &n)) return false;
        if (sign == 1 && n > 0 && !is_digit(*text) && *text != r->decimal) return false;
    }
    if (r->thousands == '\0' && r->decimal == '.' && sign == 0) return cofi_number_parse(text, n, number);
    size_t made = normalise(r, text, n, plain + sign, sizeof plain - sign);
    return made > 0 && cofi_number_parse(plain, sign + made, number);
}

static bool is_no_number(const char *text, size_t n)
{
    static const char *const words[] = {"nan", "inf", "infinity", "nat"};
    if (n > 0 && (*text == '-' || *text == '+')) text++, n--;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strlen(words[w]) == n && strncasecmp(text, words[w], n) == 0) return true;
    return false;
}

/* ---- Dates and times ----------------------------------------------------------------------------- */

/* Reads at least `least` and at most `most` digits. */
static bool take_digits(const char **text, int least, int most, int *out)
{
    int n = 0, x = 0;
    for (; n < most && is_digit((*text)[n]); n++) x = 10 * x + ((*text)[n] - '0');
    if (n < least) return false;
    *text += n;
    *out = x;
    return true;
}

static bool take_char(const char **text, const char *of)
{
    if (**text == '\0' || strchr(of, **text) == NULL) return false;
    ++*text;
    return true;
}

/* Reads a number from 1 to 12, or the English name of a month or its first three letters. */
static bool take_month(const char **text, int *month)
{
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    if (is_digit(**text)) return take_digits(text, 1, 2, month);
    for (int m = 0; m < 12; m++) {
        size_t n = 0;
        while (isalpha((unsigned char)(*text)[n])) n++;
        if ((n != 3 && n != strlen(names[m])) || strncasecmp(*text, names[m], n) != 0) continue;
        *text += n;
        *month = m + 1;
        return true;
    }
    return false;
}

/* Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant's algorithm: years begin in March). */
static int64_t days_from(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year, era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_day(int year, int month, int day)
{
    static const int length[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month < 1 || month > 12 || day < 1 || day > length[month - 1]) return false;
    return month != 2 || day < 29 || leap;
}

static bool take_date(cofi_date_order order, const char **text, double *seconds)
{
    static const char separators[] = "-/. ";
    int year, month, day = 1;
    bool ok;
    if (order == COFI_DATE_YMD) {
        ok = take_digits(text, 4, 4, &year) && take_char(text, separators) && take_month(text, &month);
        if (ok && take_char(text, separators)) ok = take_digits(text, 1, 2, &day);
    } else {
        ok = order == COFI_DATE_DMY
                 ? take_digits(text, 1, 2, &day) && take_char(text, separators) && take_month(text, &month)
                 : take_month(text, &month) && take_char(text, separators) && take_digits(text, 1, 2, &day);
        if (ok) take_char(text, ","); /* for example Mar 3, 2024 */
        ok = ok && take_char(text, separators) && take_digits(text, 4, 4, &year);
    }
    if (!ok || is_digit(**text) || !is_day(year, month, day)) return false;
    *seconds = (double)days_from(year, month, day) * 86400;
    return true;
}

static bool take_fraction(const char **text, double *seconds)
{
    double unit = 0.1;
    if (**text != '.') return true;
    for (++*text; is_digit(**text); ++*text, unit /= 10) *seconds += (**text - '0') * unit;
    return unit < 0.1;
}

static bool take_noon(const char **text, int *hour)
{
    const char *at = **text == ' ' ? *text + 1 : *text;
    bool after = strncasecmp(at, "pm", 2) == 0;
    if (!after && strncasecmp(at, "am", 2) != 0) return true; /* 24-hour notation */
    *text = at + 2;
    if (*hour < 1 || *hour > 12) return false;
    *hour = *hour % 12 + (after ? 12 : 0);
    return true;
}

static bool take_time(const char **text, double *seconds)
{
    int hour, minute, second = 0;
    double part = 0;
    if (!take_digits(text, 1, 2, &hour) || !take_char(text, ":") || !take_digits(text, 2, 2, &minute))
        return false;
    if (take_char(text, ":") && (!take_digits(text, 2, 2, &second) || !take_fraction(text, &part)))
        return false;
    if (!take_noon(text, &hour) || hour > 23 || minute > 59 || second > 60) return false;
    *seconds += hour * 3600.0 + minute * 60.0 + second + part;
    return true;
}

static bool take_zone(const char **text, double *seconds)
{
    int hour, minute = 0;
    bool west = **text == '-';
    if (take_char(text, "Zz") || **text == '\0') return true;
    if (!take_char(text, "+-") || !take_digits(text, 2, 2, &hour)) return false;
    take_char(text, ":");
    if (is_digit(**text) && !take_digits(text, 2, 2, &minute)) return false;
    *seconds += (west ? 1 : -1) * (hour * 3600.0 + minute * 60.0);
    return true;
}

static bool parse_date(const cofi_reading *r, const char *text, double *seconds)
{
    if (!take_date((cofi_date_order)r->order, &text, seconds)) return false;
    if (*text == '\0') return true;
    if (!take_char(&text, "Tt ") || !take_time(&text, seconds)) return false;
    return take_zone(&text, seconds) && *text == '\0';
}

bool cofi_reading_parse(const cofi_reading *r, const char *text, double *point)
{
    size_t n = strlen(text);
    bool plain =
        r->line == COFI_LINE_NUMBER && r->affix[0] == '\0' && r->thousands == '\0' && r->decimal == '.';
    if (plain && cofi_number_parse(text, n, point)) { /* nearly always, so it comes first */
        if (!isfinite(*point)) *point = NAN;
        return true;
    }
    skip_blanks(&text, &n);
    *point = NAN;
    if (is_no_number(text, n)) return true;
    if (r->line == COFI_LINE_NUMBER) {
        if (!parse_number(r, text, n, point)) return false;
        if (!isfinite(*point)) *point = NAN;
        return true;
    }
    char word[64];
    if (n >= sizeof word) return false;
    memcpy(word, text, n);
    word[n] = '\0';
    *point = 0;
    if (r->line == COFI_LINE_DATE) return parse_date(r, word, point);
    const char *at = word;
    return r->line == COFI_LINE_TIME && take_time(&at, point) && *at == '\0';
}

/* ---- Showing ------------------------------------------------------------------------------------- */

size_t cofi_date_write(int64_t seconds, int64_t part, int64_t parts, char text[COFI_POINT_BYTES])
{
    int64_t days = seconds / 86400 - (seconds % 86400 < 0), left = seconds - days * 86400;
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t m = (5 * of_year + 2) / 153, month = m < 10 ? m + 3 : m - 9;
    int digits = 0, n = snprintf(text, COFI_POINT_BYTES, "%04" PRId64 "-%02d-%02d",
                                 year_of_era + era * 400 + (month <= 2 ? 1 : 0), (int)month,
                                 (int)(of_year - (153 * m + 2) / 5 + 1));
    if (left == 0 && part == 0) return (size_t)n;
    n += snprintf(text + n, (size_t)(COFI_POINT_BYTES - n), " %02d:%02d:%02d", (int)(left / 3600),
                  (int)(left / 60 % 60), (int)(left % 60));
    for (; part != 0 && part % 10 == 0; parts /= 10) part /= 10; /* the unit must not show */
    for (; parts > 1; parts /= 10) digits++;
    if (part != 0) n += snprintf(text + n, (size_t)(COFI_POINT_BYTES - n), ".%0*" PRId64, digits, part);
    return (size_t)n;
}

size_t cofi_time_write(int64_t s, char text[COFI_POINT_BYTES])
{
    return (size_t)snprintf(text, COFI_POINT_BYTES, s % 60 == 0 ? "%02d:%02d" : "%02d:%02d:%02d",
                            (int)(s / 3600 % 100), (int)(s / 60 % 60), (int)(s % 60));
}

/* In plain notation for numbers of ordinary size, with a point in every locale. */
static size_t show_number(double number, int digits, char *text, size_t room)
{
    bool whole = number == floor(number) || (digits < 15 && fabs(number) >= pow(10, digits));
    int n = whole && fabs(number) < (digits < 15 ? 1e15 : 0x1p63)
                ? snprintf(text, room, "%.0f", number == 0 ? 0.0 : number)
                : snprintf(text, room, "%.*g", digits, number);
    char *point = strchr(text, localeconv()->decimal_point[0]);
    if (point != NULL) *point = '.';
    return (size_t)n;
}

__extension__ typedef unsigned __int128 wide;

/* The last step of write_common: `digits` are n of them, the first has the value of 10 to the power of `exponent`. */
static size_t write_digits(uint64_t digits, int n, int exponent, bool negative, char *text)
{
    char digit[20] = {0}, *to = text;
    for (int i = n; i-- > 0; digits /= 10) digit[i] = (char)('0' + digits % 10);
    while (n > 1 && n > exponent + 1 && digit[n - 1] == '0') n--;
    if (negative) *to++ = '-';
    if (exponent < 0) {
        *to++ = '0';
        *to++ = '.';
        for (int i = exponent + 1; i < 0; i++) *to++ = '0';
    }
    for (int i = 0; i < n; i++) {
        if (i > 0 && i == exponent + 1) *to++ = '.';
        *to++ = digit[i];
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* Writes most numbers of so many bits by exact integers: whole ones, and others from 1e-4 to below 1e15. 0 for the rest. Printing
 * the digits and reading them again takes five times as long, and tables of numbers have many. */
static size_t write_common(double number, int bits, char *text)
{
    static const double powers[] = {1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,  1e3,  1e4,  1e5,
                                    1e6,  1e7,  1e8,  1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    double x = fabs(number);
    if (!(x < 1e15) || (x < 1e-4 && x > 0)) return 0;
    int exponent = x < 1 && x > 0 ? -4 : 0, shift;
    for (size_t p = exponent < 0 ? 0 : 4; p < sizeof powers / sizeof *powers && x >= powers[p]; p++)
        exponent++;
    if (x == floor(x)) return write_digits((uint64_t)x, exponent + 1, exponent, number < 0, text);
    uint64_t whole = (uint64_t)ldexp(frexp(x, &shift), DBL_MANT_DIG); /* x = whole / 2^shift */
    shift = DBL_MANT_DIG - shift;
    /* x 10^(16 - exponent) = product / 2^shift has 17 digits before the point. It fits, as 10^20 < 2^67. */
    wide unit = 1;
    for (int i = exponent; i < 16; i++) unit *= 10;
    wide product = whole * unit;
    uint64_t all = (uint64_t)(product >> shift), lost = 1, limit = UINT64_C(100000000000000000);
    wide half = (wide)1 << (shift - 1), rest = product & (2 * half - 1);
    int n = bits == DBL_MANT_DIG ? 15 : 3, most = bits == DBL_MANT_DIG ? 17 : 9;
    for (int i = n; i < 17; i++) lost *= 10, limit /= 10;
    for (;; n++, lost /= 10, limit *= 10) {
        uint64_t digits = all / lost, after = all % lost;
        bool odd = digits % 2 == 1, tie = lost > 1 ? after == lost / 2 && rest == 0 : rest == half;
        digits += tie ? odd : lost > 1 ? after >= lost / 2 : rest > half;
        /* What is nearer to x than half the step to the next number of so many bits is read as x. */
        wide given = (wide)(digits * lost) << shift;
        wide apart = given > product ? given - product : product - given;
        wide reach = (given < product && whole == UINT64_C(1) << 52 ? unit / 4 : unit / 2)
                     << (DBL_MANT_DIG - bits);
        bool even = (whole >> (DBL_MANT_DIG - bits)) % 2 == 0;
        if (n < most && (apart > reach || (apart == reach && !even))) continue;
        bool more = digits == limit; /* rounded up to one digit more */
        return write_digits(more ? digits / 10 : digits, n, exponent + more, number < 0, text);
    }
}

size_t cofi_number_write(double number, char text[COFI_POINT_BYTES])
{
    double again;
    size_t n = write_common(number, DBL_MANT_DIG, text);
    for (int digits = 15; n == 0 && digits < 18; digits++) {
        size_t n_shown = show_number(number, digits, text, COFI_POINT_BYTES);
        if (digits == 17 || (cofi_number_parse(text, n_shown, &again) && again == number)) n = n_shown;
    }
    return n;
}

size_t cofi_float_write(float number, char text[COFI_POINT_BYTES])
{
    double again;
    if (number == floorf(number)) return cofi_number_write((double)number, text);
    size_t n = write_common((double)number, FLT_MANT_DIG, text);
    for (int digits = 3; n == 0 && digits < 10; digits++) {
        size_t n_shown = show_number((double)number, digits, text, COFI_POINT_BYTES);
        if (digits == 9 || (cofi_number_parse(text, n_shown, &again) && (float)again == number)) n = n_shown;
    }
    return n;
}

const char *cofi_reading_show(const cofi_reading *r, double point, int digits, char text[COFI_POINT_BYTES])
{
    char number[28];
    if (isnan(point)) {
        snprintf(text, COFI_POINT_BYTES, "%s", "");
    } else if (r->line == COFI_LINE_DATE) {
        cofi_date_write((int64_t)floor(point), 0, 1, text);
    } else if (r->line == COFI_LINE_TIME) {
        cofi_time_write((int64_t)point, text);
    } else {
        bool after = strcmp(r->affix, "%") == 0 || isalpha((unsigned char)r->affix[0]);
        show_number(point, digits, number, sizeof number);
        snprintf(text, COFI_POINT_BYTES, "%s%s%s%s", after ? "" : r->affix, number,
                 after && r->affix[0] != '%' && r->affix[0] != '\0' ? " " : "", after ? r->affix : "");
    }
    return text;
}
