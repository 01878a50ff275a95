/* What sixty columns such as people have are taken for. Every column has 240 rows. */
#include "unit_helper.h"

#include "../../src/table/recognise.h"

enum { ROWS = 240, CELL = 48 };

/* The i-th cell; an empty text is a missing cell. x is a number that looks random, from 0 to 9999. */
typedef void (*writer)(char *cell, int i, int x);

typedef struct tricky {
    const char *name;
    writer write;
    int32_t kind;
    const char *why; /* a part of the reason */
} tricky;

#define COLUMN(function, ...)                                                                                \
    static void function(char *cell, int i, int x)                                                           \
    {                                                                                                        \
        (void)i, (void)x;                                                                                    \
        snprintf(cell, CELL, __VA_ARGS__);                                                                   \
    }

/* scales and scores */
COLUMN(likert_5, "%d", 1 + x % 5)
COLUMN(likert_7, "%d", 1 + x % 7)
COLUMN(likert_decimal, "%d.0", 1 + x % 5)
COLUMN(stars_half, "%g", 0.5 * (x % 10 + 1))
COLUMN(score_10, "%d", x % 11)
COLUMN(score_20, "%d", x % 20)
COLUMN(score_21, "%d", x % 21)
COLUMN(score_100, "%d", x % 101)
COLUMN(grade_points, "%.1f", 1 + 0.3 * (x % 11))
COLUMN(years, "%d", 1960 + x % 60)
COLUMN(few_years, "%d", 2015 + x % 9)
COLUMN(counts, "%d", x % 7 * (x % 11))
COLUMN(zero_counts, "%d", x % 3 == 0 ? x % 90 : 0)
COLUMN(ages, "%d", 17 + x % 74)
/* measurements */
COLUMN(centimetres, "%.1f", 150 + x % 450 / 10.0)
COLUMN(all_different, "%.4f", x / 10000.0 + i)
COLUMN(negative, "%d", x % 200 - 100)
COLUMN(plus_signs, "%+d", x % 200 - 100)
COLUMN(scientific, "%.3e", (x % 97 + 1) * 1e-7)
COLUMN(scientific_short, "%de%d", 1 + x % 9, x % 7)
COLUMN(blanks_around, "  %d ", x % 80)
COLUMN(no_leading_zero, ".%03d", x % 500)
COLUMN(with_nan, i % 9 == 0 ? "nan" : "%d", x % 90)
COLUMN(infinities, i % 9 == 0 ? "-inf" : "%d", x % 90)
COLUMN(only_nan, "nan")
COLUMN(some_missing, i % 4 == 0 ? "%c" : "%d", i % 4 == 0 ? 0 : x % 300) /* a NUL: an empty cell */
COLUMN(all_missing, "%s", "")
COLUMN(huge, "%d%015d", 1 + x % 9, x)
/* identifiers and codes */
COLUMN(running, "%d", i + 1)
COLUMN(running_from_zero, "%d", i)
COLUMN(running_few_gaps, "%d", i + i / 10)
COLUMN(id_with_gaps, "%d", 1000 + 37 * i)
COLUMN(id_text, "u-%d", i)
COLUMN(uuid, "%08x-%04x-4000", (unsigned)(x * 2654435761u + (unsigned)i), (unsigned)i)
COLUMN(zip_codes, "%d", 10000 + x % 60 * 1373)
COLUMN(zip_zero, "%05d", x % 60 * 1373)
COLUMN(leading_zeros, "%03d", x % 40)
COLUMN(product_code, "A%03d", x % 40)
COLUMN(hexadecimal, "0x%02X", (unsigned)(x % 64))
COLUMN(hex_digits, "%02x", (unsigned)(160 + x % 64))
COLUMN(phone, "+49 %d", 300000 + x % 100)
COLUMN(version, "1.%d.%d", x % 9, x % 7)
COLUMN(address, "10.0.%d.%d", x % 7, x % 50)
/* dates and times */
COLUMN(iso_dates, "20%02d-%02d-%02d", 10 + x % 14, 1 + x % 12, 1 + x % 28)
COLUMN(iso_times, "2024-%02d-%02dT%02d:%02d:00Z", 1 + x % 12, 1 + x % 28, x % 24, x % 60)
COLUMN(months, "20%02d-%02d", x % 20, 1 + x % 12)
COLUMN(day_first, "%02d/%02d/2023", 1 + x % 31 % 28, 1 + x % 12)
COLUMN(month_first, "%d/%d/2023", 1 + x % 12, 1 + x % 28)
COLUMN(german_dates, "%02d.%02d.19%02d", 1 + x % 28, 1 + x % 12, x % 100)
COLUMN(named_months, "%d %s 2021", 1 + x % 28, x % 2 ? "Mar" : "October")
COLUMN(unclear_dates, "%02d/%02d/2023", 1 + x % 12, 1 + x / 12 % 12)
COLUMN(clock, "%02d:%02d", x % 24, x / 24 % 60)
COLUMN(clock_noon, "%d:%02d %s", 1 + x % 12, x % 60, x % 2 ? "AM" : "pm")
COLUMN(not_dates, "2023-%02d-%02d", 1 + x % 14, 1 + x % 28)
/* signs and separators */
COLUMN(percentages, "%d%%", x % 101)
COLUMN(percent_fraction, "%.1f %%", x % 400 / 10.0)
COLUMN(dollars, "$%d.%02d", x % 300, x % 100)
COLUMN(dollars_negative, "%s$%d", x % 2 ? "-" : "", x % 300)
COLUMN(euros, "%d,%02d €", x % 300, x % 100)
COLUMN(decimal_commas, "%d,%d", x % 50, x % 10)
COLUMN(thousands, "%d,%03d", 1 + x / 1000, x % 1000)
COLUMN(thousands_blank, "%d %03d", 1 + x / 100, x % 1000)
COLUMN(thousands_german, "%d.%03d,5", 1 + x / 100, x % 1000)
COLUMN(mixed_signs, x % 2 ? "%d%%" : "%d", x % 101)
COLUMN(mixed_money, x % 2 ? "$%d" : "€%d", x % 300)
/* words and numbers */
COLUMN(booleans, "%s", x % 2 ? "true" : "false")
COLUMN(zero_one, "%d", x % 2)
COLUMN(words_and_numbers, x % 10 == 0 ? "none" : "%d", x % 80)
COLUMN(ranges, "%d-%d", x % 9 * 10, x % 9 * 10 + 9)
COLUMN(units, "%d kg", x % 120)
COLUMN(constant, "7")

static const tricky columns[] = {
    {"likert_5", likert_5, COF_KIND_CATEGORY, "5 distinct numbers"},
    {"likert_7", likert_7, COF_KIND_CATEGORY, "7 distinct numbers"},
    {"likert_decimal", likert_decimal, COF_KIND_CATEGORY, "5 distinct numbers"},
    {"stars_half", stars_half, COF_KIND_CATEGORY, "10 distinct numbers"},
    {"score_10", score_10, COF_KIND_CATEGORY, "11 distinct numbers"},
    {"score_20", score_20, COF_KIND_CATEGORY, "20 distinct numbers"},
    {"score_21", score_21, COF_KIND_QUANTITY, "21 distinct numbers from 0 to 20"},
    {"score_100", score_100, COF_KIND_QUANTITY, "numbers from 0 to"},
    {"grade_points", grade_points, COF_KIND_QUANTITY, "11 distinct numbers from 1 to 4"},
    {"years", years, COF_KIND_QUANTITY, "numbers from 1960 to 2019"},
    {"few_years", few_years, COF_KIND_CATEGORY, "9 distinct numbers"},
    {"counts", counts, COF_KIND_QUANTITY, "numbers from 0"},
    {"zero_counts", zero_counts, COF_KIND_QUANTITY, "numbers from 0"},
    {"ages", ages, COF_KIND_QUANTITY, "numbers from 17"},
    {"centimetres", centimetres, COF_KIND_QUANTITY, "numbers from 150"},
    {"all_different", all_different, COF_KIND_QUANTITY, "240 distinct numbers"},
    {"negative", negative, COF_KIND_QUANTITY, "numbers from -100"},
    {"plus_signs", plus_signs, COF_KIND_QUANTITY, "numbers from -100"},
    {"scientific", scientific, COF_KIND_QUANTITY, "to 9.7e-06"},
    {"scientific_short", scientific_short, COF_KIND_QUANTITY, "numbers from 1 to 9000000"},
    {"blanks_around", blanks_around, COF_KIND_QUANTITY, "numbers from 0 to 79"},
    {"no_leading_zero", no_leading_zero, COF_KIND_QUANTITY, "numbers from 0"},
    {"with_nan", with_nan, COF_KIND_QUANTITY, "numbers from 0"},
    {"infinities", infinities, COF_KIND_QUANTITY, "numbers from 0"},
    {"only_nan", only_nan, COF_KIND_CONSTANT, "the same value"},
    {"some_missing", some_missing, COF_KIND_QUANTITY, "numbers from"},
    {"all_missing", all_missing, COF_KIND_CONSTANT, "the same value"},
    {"huge", huge, COF_KIND_QUANTITY, "distinct numbers"},
    {"running", running, COF_KIND_IDENTIFIER, "running numbers"},
    {"running_from_zero", running_from_zero, COF_KIND_IDENTIFIER, "running numbers"},
    {"running_few_gaps", running_few_gaps, COF_KIND_IDENTIFIER, "running numbers"},
    {"id_with_gaps", id_with_gaps, COF_KIND_QUANTITY, "240 distinct numbers"},
    {"id_text", id_text, COF_KIND_IDENTIFIER, "its own value"},
    {"uuid", uuid, COF_KIND_IDENTIFIER, "its own value"},
    {"zip_codes", zip_codes, COF_KIND_QUANTITY, "distinct numbers from 10000"},
    {"zip_zero", zip_zero, COF_KIND_CATEGORY, "codes"},
    {"leading_zeros", leading_zeros, COF_KIND_CATEGORY, "codes"},
    {"product_code", product_code, COF_KIND_CATEGORY, "values"},
    {"hexadecimal", hexadecimal, COF_KIND_CATEGORY, "values"},
    {"hex_digits", hex_digits, COF_KIND_CATEGORY, "values"},
    {"phone", phone, COF_KIND_CATEGORY, "values"},
    {"version", version, COF_KIND_CATEGORY, "values"},
    {"address", address, COF_KIND_CATEGORY, "values"},
    {"iso_dates", iso_dates, COF_KIND_QUANTITY, "dates from 2010-"},
    {"iso_times", iso_times, COF_KIND_QUANTITY, "dates from 2024-01-"},
    {"months", months, COF_KIND_QUANTITY, "dates from 2000-"},
    {"day_first", day_first, COF_KIND_QUANTITY, "dates from 2023-"},
    {"month_first", month_first, COF_KIND_QUANTITY, "dates from 2023-"},
    {"german_dates", german_dates, COF_KIND_QUANTITY, "dates from 1900-"},
    {"named_months", named_months, COF_KIND_QUANTITY, "dates from 2021-03-"},
    {"unclear_dates", unclear_dates, COF_KIND_CATEGORY, "the day or the month first"},
    {"clock", clock, COF_KIND_QUANTITY, "times from 00:"},
    {"clock_noon", clock_noon, COF_KIND_QUANTITY, "times from 00:"},
    {"not_dates", not_dates, COF_KIND_CATEGORY, "values"},
    {"percentages", percentages, COF_KIND_QUANTITY, "numbers from 0% to"},
    {"percent_fraction", percent_fraction, COF_KIND_QUANTITY, "numbers from 0"},
    {"dollars", dollars, COF_KIND_QUANTITY, "numbers from $"},
    {"dollars_negative", dollars_negative, COF_KIND_QUANTITY, "numbers from $-"},
    {"euros", euros, COF_KIND_QUANTITY, "numbers from €"},
    {"decimal_commas", decimal_commas, COF_KIND_QUANTITY, "numbers from 0"},
    {"thousands", thousands, COF_KIND_QUANTITY, "numbers from 1"},
    {"thousands_blank", thousands_blank, COF_KIND_QUANTITY, "to 99"},
    {"thousands_german", thousands_german, COF_KIND_QUANTITY, "to 99"},
    {"mixed_signs", mixed_signs, COF_KIND_CATEGORY, "values"},
    {"mixed_money", mixed_money, COF_KIND_CATEGORY, "values"},
    {"booleans", booleans, COF_KIND_CATEGORY, "2 values"},
    {"zero_one", zero_one, COF_KIND_CATEGORY, "2 distinct numbers"},
    {"words_and_numbers", words_and_numbers, COF_KIND_CATEGORY, "values"},
    {"ranges", ranges, COF_KIND_CATEGORY, "9 values"},
    {"units", units, COF_KIND_CATEGORY, "values"},
    {"constant", constant, COF_KIND_CONSTANT, "the same value"},
};

static cof_table *write_column(const tricky *t)
{
    static char text[ROWS][CELL];
    const char *cells[ROWS];
    cof_table *table = NULL;
    cof_error err;
    cofi_rng rng = dice(5);
    for (int i = 0; i < ROWS; i++) {
        t->write(text[i], i, (int)below(&rng, 10000));
        cells[i] = text[i][0] == '\0' ? NULL : text[i];
    }
    assert_status(cof_table_from_strings(NULL, cells, ROWS, 1, &t->name, &table, &err), COF_OK, &err);
    return table;
}

static void tricky_columns_are_taken_for_what_they_are(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(columns); c++) {
        const tricky *t = &columns[c];
        cof_table *table = write_column(t);
        cof_advice advice = {.struct_size = sizeof advice};
        cof_error err;
        assert_status(cof_column_advise(table, 0, COF_MISSING_VALUE, &advice, &err), COF_OK, &err);
        if (advice.kind != t->kind || strstr(advice.why, t->why) == NULL)
            fail_msg("%s: kind %d instead of %d, because \"%s\", not \"%s\"", t->name, advice.kind, t->kind,
                     advice.why, t->why);
        cof_table_free(table);
    }
}

/* Every quantity among them can be cut; the rest of the cells is missing. */
static void quantities_can_be_cut(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(columns); c++) {
        if (columns[c].kind != COF_KIND_QUANTITY) continue;
        cof_table *table = write_column(&columns[c]);
        cof_column before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
        cof_error err;
        cof_table_column(table, 0, &before);
        assert_status(cof_table_cut(table, 0, NULL, &err), COF_OK, &err);
        cof_table_column(table, 0, &after);
        assert_true(after.n_values >= 2 && after.n_values <= 16);
        assert_true(after.n_missing >= before.n_missing && after.n_missing < ROWS / 2);
        cof_table_free(table);
    }
}

static void assert_same_column(const cof_table *a, const cof_table *b)
{
    const cofi_column *x = &a->column[0], *y = &b->column[0];
    cof_advice one = {.struct_size = sizeof one}, other = {.struct_size = sizeof other};
    assert_int_equal(cof_column_advise(a, 0, COF_MISSING_VALUE, &one, NULL), COF_OK);
    assert_int_equal(cof_column_advise(b, 0, COF_MISSING_VALUE, &other, NULL), COF_OK);
    assert_int_equal(one.kind, other.kind);
    assert_string_equal(one.why, other.why);
    assert_int_equal(x->n_values, y->n_values);
    for (uint32_t v = 0; v < x->n_values; v++)
        assert_string_equal(cofi_column_text(x, v), cofi_column_text(y, v));
}

/* What was recognised in advance is what is recognised when it is asked for; changed values are looked at again. */
static void what_is_known_stays_true(void **state)
{
    cof_error err;
    (void)state;
    for (size_t c = 0; c < COUNT(columns); c++) {
        cof_table *known = write_column(&columns[c]), *fresh = write_column(&columns[c]);
        assert_status(cofi_table_recognise(known, &err), COF_OK, &err);
        assert_same_column(known, fresh);
        assert_int_equal(cof_table_tidy(known, COF_TIDY_CASE, NULL, 0, &err),
                         cof_table_tidy(fresh, COF_TIDY_CASE, NULL, 0, &err));
        assert_same_column(known, fresh);
        assert_int_equal(cof_table_cut(known, 0, NULL, &err), cof_table_cut(fresh, 0, NULL, &err));
        assert_same_column(known, fresh);
        assert_int_equal(
            cof_table_cut(known, 0, &(cof_cut_options){.struct_size = sizeof(cof_cut_options), .bins = 5},
                          &err),
            cof_table_cut(fresh, 0, &(cof_cut_options){.struct_size = sizeof(cof_cut_options), .bins = 5},
                          &err));
        assert_same_column(known, fresh);
        cof_table_free(known);
        cof_table_free(fresh);
    }
}

static void an_ordered_column_is_looked_at_again(void **state)
{
    static const char *const cells[] = {"1.5", "2.5", "10", "2.5"}, *const order[] = {"10", "2.5", "1.5"},
                             *const name = "x";
    cof_table *table;
    cof_error err;
    (void)state;
    assert_status(cof_table_from_strings(NULL, cells, COUNT(cells), 1, &name, &table, &err), COF_OK, &err);
    assert_status(cofi_table_recognise(table, &err), COF_OK, &err);
    assert_status(cof_table_set_order(table, 0, order, COUNT(order), &err), COF_OK, &err);
    assert_status(cof_table_cut(table, 0, NULL, &err), COF_OK, &err);
    assert_string_equal(cofi_column_text(&table->column[0], 0), "1.5");
    assert_string_equal(cofi_column_text(&table->column[0], 2), "10");
    assert_int_equal(cofi_column_code(&table->column[0], 2), 2);
    cof_table_free(table);
}

/* ---- Single texts ---------------------------------------------------------------------------------- */

static void assert_point(cofi_reading reading, const char *text, double expected)
{
    double point = 0;
    if (!cofi_reading_parse(&reading, text, &point)) fail_msg("\"%s\" was not read", text);
    if (point != expected) fail_msg("\"%s\" is %.17g, not %.17g", text, point, expected);
}

static void assert_no_point(cofi_reading reading, const char *text)
{
    double point = 0;
    if (cofi_reading_parse(&reading, text, &point)) fail_msg("\"%s\" was read as %.17g", text, point);
}

static void numbers_are_read_exactly(void **state)
{
    const cofi_reading plain = {.line = COFI_LINE_NUMBER, .decimal = '.'};
    const char *texts[] = {"0.1",
                           "123456789012345678",
                           "1e23",
                           "4.9e-324",
                           "1.7976931348623157e308",
                           "5e-5",
                           "-0",
                           "0.30000000000000004",
                           "9007199254740993",
                           "1e22",
                           "123.456e-7"};
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) assert_point(plain, texts[i], strtod(texts[i], NULL));
    const char *bad[] = {"", ".", "-", "1e", "1e+", "1.2.3", "0x10", "1 2", "12a", "--1", "e5", "1,2"};
    for (size_t i = 0; i < COUNT(bad); i++) assert_no_point(plain, bad[i]);
}

static void separators_must_stand_in_their_places(void **state)
{
    const cofi_reading comma = {.line = COFI_LINE_NUMBER, .decimal = '.', .thousands = ','};
    const cofi_reading blank = {.line = COFI_LINE_NUMBER, .decimal = ',', .thousands = ' '};
    (void)state;
    assert_point(comma, "1,234,567.5", 1234567.5);
    assert_point(comma, "-12,000", -12000);
    assert_point(comma, "999", 999);
    assert_point(blank, "1 234,5", 1234.5);
    assert_point(blank,
                 "1\xC2\xA0"
                 "234",
                 1234);
    assert_point(blank,
                 "1\xE2\x80\xAF"
                 "234",
                 1234);
    const char *bad[] = {"1,23", "1234,567", ",123", "1,2345", "1,234,5", "1,234,56.0", "1,,234"};
    for (size_t i = 0; i < COUNT(bad); i++) assert_no_point(comma, bad[i]);
}

static void money_and_percent(void **state)
{
    const cofi_reading dollar = {.line = COFI_LINE_NUMBER, .decimal = '.', .thousands = ',', .affix = "$"};
    const cofi_reading percent = {.line = COFI_LINE_NUMBER, .decimal = '.', .affix = "%"};
    (void)state;
    assert_point(dollar, "$1,200.50", 1200.5);
    assert_point(dollar, "-$3", -3);
    assert_point(dollar, "$-3", -3);
    assert_point(dollar, "3 $", 3);
    assert_no_point(dollar, "3");
    assert_no_point(dollar, "-$-3");
    assert_point(percent, "12.5 %", 12.5);
    assert_no_point(percent, "12");
}

static void dates_are_counted_in_seconds(void **state)
{
    const cofi_reading iso = {.line = COFI_LINE_DATE, .order = COFI_DATE_YMD};
    const cofi_reading european = {.line = COFI_LINE_DATE, .order = COFI_DATE_DMY};
    const cofi_reading american = {.line = COFI_LINE_DATE, .order = COFI_DATE_MDY};
    const cofi_reading clock = {.line = COFI_LINE_TIME};
    (void)state;
    assert_point(iso, "1970-01-01", 0);
    assert_point(iso, "1969-12-31", -86400);
    assert_point(iso, "2000-03-01", 951868800);
    assert_point(iso, "2024-02-29T12:30:15.5+02:00", 1709202615.5);
    assert_point(iso, "2024-02", 1706745600);
    assert_point(european, "29.02.2024", 1709164800);
    assert_point(european, "29 Feb 2024 01:00", 1709168400);
    assert_point(american, "February 29, 2024", 1709164800);
    assert_point(american, "2/29/2024 1:00 PM", 1709211600);
    assert_point(clock, "12:05 am", 300);
    assert_point(clock, "23:59:59", 86399);
    const char *bad[] = {"2023-02-29", "2023-13-01",  "2023-00-01",       "23-01-01",     "2023-1-32",
                         "2023",       "2023-01-01x", "2023-01-01T25:00", "2023-01-01 12"};
    for (size_t i = 0; i < COUNT(bad); i++) assert_no_point(iso, bad[i]);
    assert_no_point(clock, "24:00");
    assert_no_point(clock, "13:00 pm");
    assert_no_point(clock, "12:3");
    assert_no_point(clock, "12:30:5");
}

static void dates_are_shown_as_they_were(void **state)
{
    const cofi_reading iso = {.line = COFI_LINE_DATE, .order = COFI_DATE_YMD};
    const char *texts[] = {"1970-01-01", "1969-12-31", "2000-02-29",         "1900-03-01",
                           "0001-01-01", "9999-12-31", "2024-03-31 23:59:58"};
    char shown[COFI_POINT_BYTES];
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        double point;
        assert_true(cofi_reading_parse(&iso, texts[i], &point));
        assert_string_equal(cofi_reading_show(&iso, point, 6, shown), texts[i]);
    }
    assert_string_equal(cofi_reading_show(&iso, (double)NAN, 6, shown), "");
}

/* Most numbers are written by exact integers: the same texts as by printing and reading until it is the same number. */
static void numbers_are_written_as_printf_would(void **state)
{
    (void)state;
    cofi_rng rng = dice(8);
    char text[COFI_POINT_BYTES], printed[64];
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = cofi_rng_next(&rng);
        double x = i % 4 == 0   ? ldexp((double)(bits >> 11), (int)below(&rng, 70) - 70)
                   : i % 4 == 1 ? (double)(bits % 2000000) / 100
                   : i % 4 == 2 ? ldexp(1, (int)(bits % 64) - 14) * (bits >> 40 & 1 ? 1 : 1 - 0x1p-53)
                                : (double)(int64_t)bits * 0x1p-50;
        int digits = 15;
        if (x == floor(x) && fabs(x) < 0x1p63)
            snprintf(printed, sizeof printed, "%.0f", x);
        else
            do snprintf(printed, sizeof printed, "%.*g", digits, x);
            while (strtod(printed, NULL) != x && digits++ < 17);
        size_t n = cofi_number_write(x, text);
        assert_string_equal(text, printed);
        assert_int_equal(n, strlen(text));
        float f = (float)x;
        if (f == floorf(f)) continue;
        digits = 3;
        do snprintf(printed, sizeof printed, "%.*g", digits, (double)f);
        while (strtof(printed, NULL) != f && digits++ < 9);
        if (fabsf(f) < 1000) { /* %g would switch to an exponent */
            cofi_float_write(f, text);
            assert_string_equal(text, printed);
        }
    }
    cofi_number_write(-0.0, text);
    assert_string_equal(text, "0");
    cofi_float_write(1e15f, text);
    assert_string_equal(text, "999999986991104");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tricky_columns_are_taken_for_what_they_are),
        cmocka_unit_test(quantities_can_be_cut),
        cmocka_unit_test(what_is_known_stays_true),
        cmocka_unit_test(an_ordered_column_is_looked_at_again),
        cmocka_unit_test(numbers_are_read_exactly),
        cmocka_unit_test(separators_must_stand_in_their_places),
        cmocka_unit_test(money_and_percent),
        cmocka_unit_test(dates_are_counted_in_seconds),
        cmocka_unit_test(dates_are_shown_as_they_were),
        cmocka_unit_test(numbers_are_written_as_printf_would),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
