/* The CSV reader: every rule, every sentence, every block boundary, every failing allocation.
 *
 * A table is compared as text: names and then rows, one a line, cells between bars; a missing cell is its
 * text in angle brackets. Every input is read from a file and from memory, in order and in stretches, and with
 * blocks of 1, 2, 3, 7 and many bytes, and must come out the same. */
#include "../../src/table/file/parse_csv.h"
#include "../../src/table/file/read_csv.h"
#include "../../src/table/table.h"
#include "alloc_helper.h"
#include "cases_helper.h"
#include "unit_helper.h"

#include <sys/stat.h>
#include <unistd.h>

static const size_t block_sizes[] = {0, 1, 2, 3, 7, 64};

/* ---- Reading and showing ------------------------------------------------------------------------- */

typedef struct outcome {
    cof_status status;
    char text[4096]; /* the table, or the sentence */
} outcome;

static void add(outcome *o, const char *text)
{
    assert_true(strlen(o->text) + strlen(text) < sizeof o->text);
    strcat(o->text, text);
}

static void show_cell(outcome *o, const cof_table *table, size_t row, size_t column)
{
    uint32_t code = cof_table_code(table, row, column);
    cof_column view = {.struct_size = sizeof view};
    assert_int_equal(cof_table_column(table, column, &view), COF_OK);
    if (code == view.n_values) add(o, "<");
    add(o, cof_table_value(table, column, code));
    if (code == view.n_values) add(o, ">");
}

static void show_table(outcome *o, const cof_table *table)
{
    size_t n_columns = cof_table_n_columns(table);
    for (size_t c = 0; c < n_columns; c++) {
        cof_column view = {.struct_size = sizeof view};
        cof_table_column(table, c, &view);
        add(o, view.name);
        add(o, c + 1 < n_columns ? "|" : "\n");
    }
    for (size_t i = 0; i < cof_table_n_rows(table); i++) {
        for (size_t c = 0; c < n_columns; c++) {
            show_cell(o, table, i, c);
            add(o, c + 1 < n_columns ? "|" : "\n");
        }
    }
}

static outcome read_source(const cofi_source *source, const cof_read_options *options)
{
    outcome o = {.text = ""};
    cof_table *table = NULL;
    cof_error err = {""};
    o.status = cofi_read_csv(NULL, source, options, &table, &err);
    if (o.status == COF_OK)
        show_table(&o, table);
    else
        add(&o, err.text);
    cof_table_free(table);
    return o;
}

static void write_file(const char *path, const void *bytes, size_t n_bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
    assert_int_equal(fclose(file), 0);
}

static void expect(const char *name, const char *bytes, size_t n_bytes, const cof_read_options *options,
                   cof_status status, const char *text)
{
    write_file(name, bytes, n_bytes);
    for (size_t b = 0; b < 2 * COUNT(block_sizes); b++) {
        cofi_source memory = {name, bytes, n_bytes, block_sizes[b / 2], b % 2};
        cofi_source file = {name, NULL, 0, block_sizes[b / 2], b % 2};
        outcome from_memory = read_source(&memory, options), from_file = read_source(&file, options);
        assert_string_equal(from_memory.text, text);
        assert_int_equal(from_memory.status, status);
        assert_string_equal(from_file.text, text);
        assert_int_equal(from_file.status, status);
    }
    unlink(name);
}

/* For literals, which may hold NUL bytes. */
#define READS(csv, table)               expect("t.csv", csv, sizeof(csv) - 1, NULL, COF_OK, table)
#define READS_WITH(options, csv, table) expect("t.csv", csv, sizeof(csv) - 1, options, COF_OK, table)
#define READS_AS(name, csv, table)      expect(name, csv, sizeof(csv) - 1, NULL, COF_OK, table)
#define REFUSES(csv, sentence)          expect("t.csv", csv, sizeof(csv) - 1, NULL, COF_ERR_DATA, sentence)
#define REFUSES_WITH(options, csv, sentence)                                                                 \
    expect("t.csv", csv, sizeof(csv) - 1, options, COF_ERR_DATA, sentence)

/* ---- Lines and cells ----------------------------------------------------------------------------- */

static void plain(void **state)
{
    (void)state;
    READS("a,b\n1,2\n3,4\n", "a|b\n1|2\n3|4\n");
    READS("a,b\n1,2\n3,4", "a|b\n1|2\n3|4\n");
    READS("a\n1\n", "a\n1\n");
    READS("a,b\nlonger than eight bytes,exactly8\n longer than eight bytes , exactly8\n",
          "a|b\nlonger than eight bytes|exactly8\n longer than eight bytes | exactly8\n");
    READS("a,b\n1,\n,2\n,\n", "a|b\n1|<>\n<>|2\n<>|<>\n");
    READS("a,b\n1,2\n3,", "a|b\n1|2\n3|<>\n");
}

static void value_ids_are_sorted(void **state)
{
    (void)state;
    const char csv[] = "n,t\n10,b\n9,a\n-1,10\n10,9\n";
    cof_table *table;
    assert_int_equal(cof_table_read_memory(NULL, "t.csv", csv, sizeof csv - 1, NULL, &table, NULL), COF_OK);
    assert_string_equal(cof_table_value(table, 0, 0), "-1");
    assert_string_equal(cof_table_value(table, 0, 1), "9");
    assert_string_equal(cof_table_value(table, 0, 2), "10");
    assert_string_equal(cof_table_value(table, 1, 0), "10");
    assert_string_equal(cof_table_value(table, 1, 1), "9");
    assert_string_equal(cof_table_value(table, 1, 3), "b");
    assert_int_equal(cof_table_code(table, 3, 0), 2);
    cof_table_free(table);
}

static void line_ends(void **state)
{
    (void)state;
    READS("a,b\r\n1,2\r\n3,4\r\n", "a|b\n1|2\n3|4\n");
    READS("a,b\r\n1,2\n3,4", "a|b\n1|2\n3|4\n");
    READS("a,b\r\n\"1\",\"2\"\r\n\"3\",\"4\"\r\n", "a|b\n1|2\n3|4\n");
    READS("a,b\r\n1,\r\n", "a|b\n1|<>\n");
#define MAC                                                                                                  \
    ": a carriage return that no newline follows; if the lines end as on old Macs, convert the file with "   \
    "`tr '\\r' '\\n' < old.csv > new.csv`"
    REFUSES("a,b\r1,2\r", "t.csv, line 1" MAC);
    REFUSES("a,b\n1,2\n3,4\r5,6", "t.csv, line 3" MAC);
    REFUSES("a,b\n1,2\r\r\n", "t.csv, line 2" MAC);
    REFUSES("a,b\n1,2\r", "t.csv, line 2" MAC);
    REFUSES("a,b\n\"1\",\"2\"\r", "t.csv, line 2" MAC);
    READS("a,b\n\"1\r2\",3\n", "a|b\n1\r2|3\n");
}

static void blank_lines(void **state)
{
    (void)state;
    const cof_read_options bare = {.struct_size = sizeof bare, .no_header = 1};
    READS("\n\r\na,b\n\n1,2\r\n\r\n\n3,4\n\n\n", "a|b\n1|2\n3|4\n");
    READS("a\n1\n\n2\n", "a\n1\n<>\n2\n");
    READS("a\r\n1\r\n\r\n2\r\n", "a\n1\n<>\n2\n");
    READS("a\n\n", "a\n<>\n");
    READS("a\n1\n\"\"\n", "a\n1\n<>\n");
    READS("\n\na\n1\n", "a\n1\n");
    READS_WITH(&bare, "\n\r\nx\n\ny\n", "V1\n<>\n<>\nx\n<>\ny\n");
    READS_WITH(&bare, "\n\nx,y\n", "V1|V2\nx|y\n");
    REFUSES("a,b\n1,2\n \n",
            "t.csv, line 3 has 1 cell where the header has 2; an empty cell still needs its delimiter (',')");
    REFUSES("a,b\n1,2\n\"\"\n",
            "t.csv, line 3 has 1 cell where the header has 2; an empty cell still needs its delimiter (',')");
}

static void quotes(void **state)
{
    (void)state;
    READS("a,b\n\"1\",\"2\"\n", "a|b\n1|2\n");
    READS("a,b\n\"x,y\",\"p\nq\"\n", "a|b\nx,y|p\nq\n");
    READS("a,b\n\"say \"\"hi\"\"\",\"\"\"\"\n", "a|b\nsay \"hi\"|\"\n");
    READS("a,b\n\"\"\"\"\"\",\"\"\"x\"\n", "a|b\n\"\"|\"x\n");
    READS("a,b\n5\" disk,x\"y\"\n", "a|b\n5\" disk|x\"y\"\n");
    READS("a,b\n\"\",\"?\"\n\"NA\",\"\"", "a|b\n<>|<?>\n<>|<?>\n");
    READS("\"a\",\"b \"\"c\"\"\"\n1,2\n", "a|b \"c\"\n1|2\n");
    READS("\"a\nz\",b\n1,2\n", "a\nz|b\n1|2\n");
    READS("a,b\n\"1\r\n2\",\"3\"", "a|b\n1\r\n2|3\n");
}

static void quote_errors(void **state)
{
    (void)state;
#define AFTER(line)                                                                                          \
    ": text after the closing quote of the cell that began in line " line                                    \
    "; write a quote inside a quoted cell as \"\""
    REFUSES("a,b\n1,\"2\"x\n", "t.csv, line 2, column 2 (\"b\")" AFTER("2"));
    REFUSES("a,b\n1,\"2\n\n3\" \n", "t.csv, line 4, column 2 (\"b\")" AFTER("2"));
    REFUSES("a,b\n1,2\n\"3\"\"\"4\",5\n", "t.csv, line 3, column 1 (\"a\")" AFTER("3"));
    REFUSES("a,\"b\"c\n1,2\n", "t.csv, line 1, column 2" AFTER("1"));
#define OPEN ": the quote that begins this cell is never closed"
    REFUSES("a,b\n1,2\n3,\"4\n5,6\n7,8\n", "t.csv, line 3, column 2 (\"b\")" OPEN);
    REFUSES("a,b\n1,2\n\"", "t.csv, line 3, column 1 (\"a\")" OPEN);
    REFUSES("a,b\n1,2\n3,\"4\"\"", "t.csv, line 3, column 2 (\"b\")" OPEN);
    REFUSES("a,\"b\n1,2\n", "t.csv, line 1, column 2" OPEN);
    REFUSES("a,b\n\"1\n2\n3\",\"4\n5", "t.csv, line 4, column 2 (\"b\")" OPEN);
}

/* ---- Shape --------------------------------------------------------------------------------------- */

static void ragged_rows(void **state)
{
    (void)state;
    const cof_read_options bare = {.struct_size = sizeof bare, .no_header = 1};
    const cof_read_options tab = {.struct_size = sizeof tab, .delimiter = '\t'};
    const cof_read_options bell = {.struct_size = sizeof bell, .delimiter = '\a'};
    REFUSES(
        "a,b,c,d,e\n1,2,3,4,5\n1,2,3,4\n",
        "t.csv, line 3 has 4 cells where the header has 5; an empty cell still needs its delimiter (',')");
    REFUSES("a,b\n1,2\n3,4,5\n", "t.csv, line 3 has 3 cells where the header has 2; a cell that holds the "
                                 "delimiter must be quoted (',')");
    REFUSES("a,b\n1,2,", "t.csv, line 2 has 3 cells where the header has 2; a cell that holds the delimiter "
                         "must be quoted (',')");
    REFUSES("a,b\n1,2\n3", "t.csv, line 3 has 1 cell where the header has 2; an empty cell still needs its "
                           "delimiter (',')");
    REFUSES("a,b\r\n\"1\n2\",3\r\n\r\n\"4\n5\"\r\n6,7",
            "t.csv, line 5 has 1 cell where the header has 2; an empty cell still needs its delimiter (',')");
    REFUSES_WITH(&bare, "1,2\n3\n",
                 "t.csv, line 2 has 1 cell where the first line has 2; an empty cell still "
                 "needs its delimiter (',')");
    REFUSES_WITH(&tab, "a\tb\n1\n",
                 "t.csv, line 2 has 1 cell where the header has 2; an empty cell still "
                 "needs its delimiter (a tab)");
    REFUSES_WITH(&bell, "a\ab\n1\n",
                 "t.csv, line 2 has 1 cell where the header has 2; an empty cell still "
                 "needs its delimiter (0x07)");
}

static void empty_tables(void **state)
{
    (void)state;
    const cof_read_options bare = {.struct_size = sizeof bare, .no_header = 1};
    const char empty[] = "t.csv is empty; a table needs a header line and rows";
    REFUSES("", empty);
    REFUSES("\n\r\n\n", empty);
    REFUSES("\xEF\xBB\xBF", empty);
    REFUSES_WITH(&bare, "\n\n", empty);
    REFUSES("a,b", "t.csv has a header but no rows; there is nothing to cluster");
    REFUSES("a,b\r\n", "t.csv has a header but no rows; there is nothing to cluster");
    REFUSES("a,b\n\n\n", "t.csv has a header but no rows; there is nothing to cluster");
}

static void headers(void **state)
{
    (void)state;
    const cof_read_options bare = {.struct_size = sizeof bare, .no_header = 1};
    READS(",a,\"\"\n1,2,3\n", "column1|a|column3\n1|2|3\n");
    READS("a,\n1,2\n", "a|column2\n1|2\n");
    READS(" a ,A\n1,2\n", " a |A\n1|2\n");
    READS_WITH(&bare, "a,?\n3,4", "V1|V2\na|<?>\n3|4\n");
    REFUSES("x,age,y,\"age\"\n1,2,3,4\n",
            "t.csv, line 1: columns 2 and 4 are both named \"age\"; rename one");
    REFUSES("\n\nx,x\n1,2\n", "t.csv, line 3: columns 1 and 2 are both named \"x\"; rename one");
    REFUSES("column2,\n1,2\n", "t.csv, line 1: columns 1 and 2 are both named \"column2\"; rename one");
    REFUSES("\"a\nb\",\"a\nb\"\n1,2\n", "t.csv, line 1: columns 1 and 2 are both named \"a b\"; rename one");
}

/* A long name is cut between characters, in the table it is whole. */
static void long_names_in_sentences(void **state)
{
    (void)state;
    char csv[512] = "x", name[256] = "";
    for (int i = 0; i < 40; i++) strcat(name, "\u00e4\u00f6");
    int n = snprintf(csv, sizeof csv, "x%s,b\n1\n", name);
    cof_error err;
    cof_table *table;
    assert_int_equal(cof_table_read_memory(NULL, "t.csv", csv, (size_t)n, NULL, &table, &err), COF_ERR_DATA);
    n = snprintf(csv, sizeof csv, "x%s,b\n\"1\n", name);
    assert_int_equal(cof_table_read_memory(NULL, "t.csv", csv, (size_t)n, NULL, &table, &err), COF_ERR_DATA);
    char expected[512];
    name[58] = '\0';
    snprintf(expected, sizeof expected, "t.csv, line 2, column 1 (\"x%s...\")" OPEN, name);
    assert_string_equal(err.text, expected);
}

/* ---- Bytes --------------------------------------------------------------------------------------- */

static void byte_order_marks(void **state)
{
    (void)state;
    READS("\xEF\xBB\xBF"
          "a,b\n1,2\n",
          "a|b\n1|2\n");
    READS("\xEF\xBB\xBF\"a\",b\n1,2\n", "a|b\n1|2\n");
    READS("\xEF\xBB\xBF"
          "a;b\n1;2\n",
          "a|b\n1|2\n");
#define CONVERT(name)                                                                                        \
    "t.csv is " name " text, not UTF-8; convert it with `iconv -f " name " -t UTF-8 old.csv > new.csv`"
    REFUSES("\xFF\xFE"
            "a\0,\0b\0\n\0",
            CONVERT("UTF-16"));
    REFUSES("\xFE\xFF\0a\0,\0b\0\n", CONVERT("UTF-16"));
    REFUSES("\xFF\xFE\0\0a\0\0\0", CONVERT("UTF-32"));
    REFUSES("\0\0\xFE\xFF\0\0\0a", CONVERT("UTF-32"));
    REFUSES("\xFF\xFE", CONVERT("UTF-16"));
}

static void utf8(void **state)
{
    (void)state;
    READS("\u00e4,\u6f22\n\U0001F600,\uFFFD\n\xC2\x80,\U0010FFFF\n",
          "\u00e4|\u6f22\n\U0001F600|\uFFFD\n\xC2\x80|\U0010FFFF\n");
#define LATIN                                                                                                \
    ": the text is not valid UTF-8; read it with --charset latin1 if it is Latin-1, or convert it, for "     \
    "example with `iconv -f latin1 -t utf-8 old.csv > "                                                      \
    "new.csv`"
    REFUSES("a,b\n1,2\n3,caf\xE9\n", "t.csv, line 3, column 2 (\"b\")" LATIN);
    REFUSES("a,b\n\xE9,2\n3,4\n", "t.csv, line 2, column 1 (\"a\")" LATIN);
    REFUSES("a,b\n1,2\n\"x\n\xE9\",4\n", "t.csv, line 3, column 1 (\"a\")" LATIN);
    REFUSES("a,na\xEFve\n1,2\n", "t.csv, line 1, column 2" LATIN);
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xE0\x9F\xBF",
                                      "\xED\xA0\x80",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xC3",
                                      "\xE2\x82",
                                      "\xE2\x28\xA1",
                                      "\xF0\x9F\x98",
                                      "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        char csv[64];
        int n = snprintf(csv, sizeof csv, "a,b\n1,x\n2,%s\n", bad[i]);
        expect("t.csv", csv, (size_t)n, NULL, COF_ERR_DATA, "t.csv, line 3, column 2 (\"b\")" LATIN);
    }
}

static void nul_bytes(void **state)
{
    (void)state;
#define NUL ": a NUL byte; the file is damaged, is UTF-16 text, or is not a table at all"
    REFUSES("a,b\n1,2\n3,x\0y\n", "t.csv, line 3, column 2 (\"b\")" NUL);
    REFUSES("a,b\n1,2\n\0", "t.csv, line 3, column 1 (\"a\")" NUL);
    REFUSES("a,b\n1,\"2\n\0\"\n", "t.csv, line 3, column 2 (\"b\")" NUL);
    REFUSES("a,b\n1,\"2\"\0\n", "t.csv, line 2, column 2 (\"b\")" NUL);
    REFUSES("a,b\0\n1,2\n", "t.csv, line 1, column 2" NUL);
    REFUSES("a\0,\0b\0\n\0", "t.csv, line 1, column 1" NUL);
}

static void large_cells(void **state)
{
    (void)state;
    const size_t most = COFI_CELL_BYTES;
    static const char *const begin[] = {"a,b\n1,2\n3,", "a,b\n1,2\n3,\""}, *const end[] = {"\n", "\"\n"};
    char *csv = malloc(most + 64);
    for (int quoted = 0; quoted < 2; quoted++) {
        for (size_t extra = 0; extra < 2; extra++) {
            size_t n = strlen(begin[quoted]);
            memcpy(csv, begin[quoted], n);
            memset(csv + n, 'x', most + extra);
            memcpy(csv + n + most + extra, end[quoted], strlen(end[quoted]));
            n += most + extra + strlen(end[quoted]);
            for (size_t block = 0; block < 5; block++) {
                cof_error err = {""};
                cof_table *table = NULL;
                size_t block_bytes = (size_t[]){0, 1000, 4 * most, 1000, 100000}[block];
                cofi_source source = {"t.csv", csv, n, block_bytes, block < 3};
                cof_status status = cofi_read_csv(NULL, &source, NULL, &table, &err);
                assert_int_equal(status, extra == 0 ? COF_OK : COF_ERR_DATA);
                if (extra == 0) assert_int_equal(strlen(cof_table_value(table, 1, 1)), most);
                if (extra == 1)
                    assert_string_equal(err.text,
                                        "t.csv, line 3, column 2 (\"b\"): the cell is longer than 1 "
                                        "MiB; is it a quote that is never closed?");
                cof_table_free(table);
            }
        }
    }
    free(csv);
}

/* ---- Many columns -------------------------------------------------------------------------------- */

static void too_many_columns(void **state)
{
    (void)state;
    size_t n = COFI_MAX_COLUMNS;
    char *csv = malloc(n + 3);
    memset(csv, ',', n);
    memcpy(csv + n, "\n1", 3);
    cof_error err = {""};
    cof_table *table = NULL;
    assert_int_equal(cof_table_read_memory(NULL, "t.csv", csv, n + 2, NULL, &table, &err), COF_ERR_DATA);
    assert_string_equal(err.text, "t.csv, line 1 has more than 1048576 cells; is ',' the delimiter?");
    free(csv);
}

/* 20,000 names, of which the last repeats the first: found without comparing all pairs. */
static void many_columns(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *csv = malloc(20 * N);
    for (int twice = 0; twice < 2; twice++) {
        size_t n = 0;
        for (int c = 0; c < N; c++)
            n += (size_t)sprintf(csv + n, "c%d%s", twice && c == N - 1 ? 0 : c, c < N - 1 ? "," : "\n");
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < N; c++) n += (size_t)sprintf(csv + n, "%d%s", c % 7, c < N - 1 ? "," : "\n");
        cof_error err = {""};
        cof_table *table = NULL;
        cof_status status = cof_table_read_memory(NULL, "t.csv", csv, n, NULL, &table, &err);
        if (twice) {
            assert_string_equal(err.text,
                                "t.csv, line 1: columns 1 and 20000 are both named \"c0\"; rename one");
        } else {
            assert_int_equal(status, COF_OK);
            assert_int_equal(cof_table_n_columns(table), N);
            assert_string_equal(cof_table_value(table, 9999, cof_table_code(table, 2, 9999)), "3");
        }
        cof_table_free(table);
    }
    free(csv);
}

/* Above 65,536 columns the reader does without its table of recent values. */
static void very_many_columns(void **state)
{
    (void)state;
    enum { N = (1 << 16) + 1 };
    char *csv = malloc(4 * N);
    for (int c = 0; c < N; c++) {
        csv[2 * c] = "xyz"[c % 3];
        csv[2 * c + 1] = c + 1 < N ? ',' : '\n';
    }
    memcpy(csv + 2 * N, csv, 2 * N);
    cof_read_options bare = {.struct_size = sizeof bare, .no_header = 1};
    cof_table *table;
    assert_int_equal(cof_table_read_memory(NULL, "t.csv", csv, 4 * N, &bare, &table, NULL), COF_OK);
    assert_int_equal(cof_table_n_rows(table), 2);
    assert_string_equal(cof_table_value(table, N - 1, cof_table_code(table, 1, N - 1)), "y");
    cof_table_free(table);
    free(csv);
}

/* Values that share a place among the recent ones, and texts that begin alike. */
static void many_short_values(void **state)
{
    (void)state;
    enum { N = 5000 };
    char *csv = malloc(16 * N);
    size_t n = (size_t)sprintf(csv, "a,b\n");
    for (int i = 0; i < N; i++)
        n += (size_t)sprintf(csv + n, "%d,%.*s\n", i * 7919 % 1000, 1 + i % 9, "aaaaaaaaa");
    for (size_t b = 0; b < 6; b++) {
        cofi_source source = {"t.csv", csv, n, (size_t[]){0, 13, 1000}[b / 2], b % 2};
        cof_table *table;
        assert_int_equal(cofi_read_csv(NULL, &source, NULL, &table, NULL), COF_OK);
        for (int i = 0; i < N; i++) {
            char text[16];
            snprintf(text, sizeof text, "%d", i * 7919 % 1000);
            assert_string_equal(cof_table_value(table, 0, cof_table_code(table, (size_t)i, 0)), text);
            assert_int_equal(strlen(cof_table_value(table, 1, cof_table_code(table, (size_t)i, 1))),
                             1 + i % 9);
        }
        cof_table_free(table);
    }
    free(csv);
}

/* ---- Options ------------------------------------------------------------------------------------- */

static void delimiters(void **state)
{
    (void)state;
    const cof_read_options semicolon = {.struct_size = sizeof semicolon, .delimiter = ';'};
    const cof_read_options space = {.struct_size = sizeof space, .delimiter = ' '};
    READS_WITH(&semicolon, "a,x;b\n1;2\n", "a,x|b\n1|2\n");
    READS_WITH(&space, "a b\n1 \"2 3\"\n", "a|b\n1|2 3\n");
    READS("a\tb\n1\t2\n", "a|b\n1|2\n");
    READS("a;b\n1;2\n", "a|b\n1|2\n");
    READS("a|b\n1|2\n", "a|b\n1|2\n");
    READS("a;b;c\td\n1;2;3\n", "a|b|c\td\n1|2|3\n");
    READS("a;b;c,d\n1,2\n", "a;b;c|d\n1|2\n");
    READS("\"a,x\";\"b\"\"|\"\n1;2\n", "a,x|b\"|\n1|2\n");
    READS("5\" disk|\"b,c\"\n1|2\n", "5\" disk|b,c\n1|2\n");
    READS("a\n1;2\n", "a\n1;2\n");
    READS("\n\r\na;b\n1;2\n", "a|b\n1|2\n");
    READS_AS("t.tsv", "a,x\tb\n1\t2\n", "a,x|b\n1|2\n");
    READS_AS("t.TAB", "a,x\tb\n1\t2\n", "a,x|b\n1|2\n");
    READS_AS("t.tsv.gz", "a,x\tb\n1\t2\n", "a,x|b\n1|2\n");
    READS_AS("t.tab.zst", "a,x\tb\n1\t2\n", "a,x|b\n1|2\n");
    READS_AS("t.tsv.txt", "a,b\n1,2\n", "a|b\n1|2\n");
}

/* A first line longer than what is looked at. */
static void delimiter_of_a_long_line(void **state)
{
    (void)state;
    enum { N = 300000 };
    char *csv = malloc(5 * N + 8);
    for (int i = 0; i < N; i++) memcpy(csv + 5 * i, "abcd;", 5);
    memcpy(csv + 5 * N, ",x\n1\n", 5);
    for (size_t b = 0; b < 6; b++) {
        cofi_source source = {"t.csv", csv, 5 * N + 5, (size_t[]){0, 4096, 777}[b / 2], b % 2};
        cof_error err = {""};
        cof_table *table;
        assert_int_equal(cofi_read_csv(NULL, &source, NULL, &table, &err), COF_ERR_DATA);
        assert_string_equal(err.text, "t.csv, line 1: columns 1 and 2 are both named \"abcd\"; rename one");
    }
    free(csv);
}

static void refused_options(void **state)
{
    (void)state;
    static const char refused[] = {'"', '\n', '\r', '\x80', '\xE9', '\xFF'};
    cof_table *table = NULL;
    cof_error err;
    for (size_t i = 0; i < COUNT(refused); i++) {
        cof_read_options options = {.struct_size = sizeof options, .delimiter = refused[i]};
        assert_int_equal(cof_table_read_memory(NULL, "t.csv", "a\n1", 3, &options, &table, &err),
                         COF_ERR_ARGUMENT);
        assert_string_equal(err.text,
                            "the delimiter must be one ASCII character, and not a quote or a line end");
    }
    const char *const na[] = {"x", "\xE9"}, *const gap[] = {NULL};
    cof_read_options options = {.struct_size = sizeof options, .na = na, .n_na = 2};
    assert_int_equal(cof_table_read_memory(NULL, "t.csv", "a\n1", 3, &options, &table, &err),
                     COF_ERR_ARGUMENT);
    assert_string_equal(err.text, "text 2 of those that mean \"missing\" is not UTF-8");
    options.na = gap;
    options.n_na = 1;
    assert_int_equal(cof_table_read_memory(NULL, "t.csv", "a\n1", 3, &options, &table, &err),
                     COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_read_memory(NULL, NULL, "a\n1", 3, NULL, &table, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_read_memory(NULL, "t", NULL, 3, NULL, &table, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_read_memory(NULL, "t", "a\n1", 3, NULL, NULL, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_read(NULL, NULL, NULL, &table, &err), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_read(NULL, "t", NULL, NULL, NULL), COF_ERR_ARGUMENT);
    assert_int_equal(cof_table_read_memory(NULL, "t", NULL, 0, NULL, &table, &err), COF_ERR_DATA);
    assert_null(table);
}

static void missing_texts(void **state)
{
    (void)state;
    const char *const own[] = {"none", "n/a", "-"}, *const nothing[] = {"x"};
    const cof_read_options some = {.struct_size = sizeof some, .na = own, .n_na = 3};
    const cof_read_options no = {.struct_size = sizeof no, .na = nothing, .n_na = 0};
    READS("a,b\n?,NA\nNAN,N\n??,\n", "a|b\n<?>|<NA>\nNAN|N\n??|<NA>\n");
    READS_WITH(&some, "a,b\nnone,no\nn/a,nonee\n-,\n?,NA\n", "a|b\n<none>|no\n<none>|nonee\n<none>|\n?|NA\n");
    READS_WITH(&no, "a,b\n?,NA\n,x\n", "a|b\n?|NA\n|x\n");
    READS_WITH(&no, "a\n1\n\n", "a\n1\n\n");
}

/* ---- Stopping, progress, memory ------------------------------------------------------------------ */

typedef struct watch {
    int calls_left; /* before should_stop says so; below 0: never */
    int n_reports;
    cof_progress last;
} watch;

static int stop_after(void *ctx)
{
    watch *w = ctx;
    return w->calls_left >= 0 && w->calls_left-- == 0;
}

static void note(void *ctx, const cof_progress *progress)
{
    watch *w = ctx;
    assert_true(progress->done >= w->last.done && progress->elapsed_s >= w->last.elapsed_s);
    w->last = *progress;
    w->n_reports++;
}

static void progress_and_stop(void **state)
{
    (void)state;
    const char csv[] = "a,b\n1,2\n3,4\n5,6\n";
    watch w = {.calls_left = -1};
    cof_env env = {.struct_size = sizeof env, .should_stop = stop_after, .progress = note, .ctx = &w};
    const char longer[] = "a rather long name,b\n1,2\n3,4\n5,6\n";
    cofi_source source = {"t.csv", csv, sizeof csv - 1, 4, true};
    cofi_source stretches = {"t.csv", longer, sizeof longer - 1, 4, false};
    cof_table *table = NULL;
    cof_error err = {""};
    assert_int_equal(cofi_read_csv(&env, &source, NULL, &table, &err), COF_OK);
    cof_table_free(table);
    assert_int_equal(w.n_reports, 5); /* four blocks and the end */
    assert_int_equal(w.last.phase, COF_PHASE_READ);
    assert_int_equal(w.last.done, sizeof csv - 1);
    assert_int_equal(w.last.total, sizeof csv - 1);
    assert_int_equal(w.last.restart, 0);
    for (int i = 0; i < 5; i++) {
        w = (watch){.calls_left = i};
        table = NULL;
        assert_int_equal(cofi_read_csv(&env, &source, NULL, &table, &err), COF_ERR_STOPPED);
        assert_string_equal(err.text, "stopped reading t.csv");
        assert_null(table);
    }
    const cof_read_options one = {.struct_size = sizeof one, .threads = 1};
    w = (watch){.calls_left = -1};
    assert_int_equal(cofi_read_csv(&env, &stretches, &one, &table, &err), COF_OK);
    cof_table_free(table);
    assert_int_equal(w.n_reports, 9); /* six blocks with the first line, and three stretches */
    assert_int_equal(w.last.done, sizeof longer - 1);
    for (int i = 0; i < 9; i++) {
        w = (watch){.calls_left = i};
        table = NULL;
        assert_int_equal(cofi_read_csv(&env, &stretches, &one, &table, &err), COF_ERR_STOPPED);
        assert_string_equal(err.text, "stopped reading t.csv");
        assert_null(table);
    }
}

static void truncate_file(void *ctx, const cof_progress *progress)
{
    (void)progress;
    assert_int_equal(truncate(ctx, 1000), 0);
}

static void file_that_becomes_shorter(void **state)
{
    enum { N = (size_t)3 << 20 };
    char *csv = malloc(N), path[] = "t.csv";
    cof_env env = {.struct_size = sizeof env, .progress = truncate_file, .ctx = path};
    cof_table *table = NULL;
    cof_error err = {""};
    (void)state;
    for (size_t i = 0; i < N; i += 2) memcpy(csv + i, "1\n", 2);
    write_file(path, csv, N);
    assert_int_equal(cof_table_read(&env, path, NULL, &table, &err), COF_ERR_IO);
    assert_string_equal(err.text, "cannot read t.csv: it became shorter while it was read");
    assert_null(table);
    unlink(path);
    free(csv);
}

/* Every path that allocates: names, values, scratch, growth of each. */
static size_t fill_csv(char *csv)
{
    size_t n = (size_t)sprintf(csv, "id,\"a \"\"long\"\" name\",,d\n");
    for (int i = 0; i < 300; i++)
        n += (size_t)sprintf(csv + n, "%d,\"v \"\"%d\"\"\",%s,x\n", i, i % 11, i % 5 ? "yes" : "?");
    return n;
}

static void failing_memory(const cofi_source *source, const cof_read_options *options)
{
    cof_read_options one = options != NULL ? *options : (cof_read_options){.struct_size = sizeof one};
    one.threads = 1; /* the meter is not locked */
    for (size_t at = 0;; at++) {
        alloc_meter meter = {.fail_at = at};
        cof_env env = alloc_env(&meter);
        cof_table *table = NULL;
        cof_error err = {""};
        cof_status status = cofi_read_csv(&env, source, &one, &table, &err);
        cof_table_free(table);
        assert_int_equal(meter.live, 0);
        if (status == COF_OK) break;
        assert_int_equal(status, COF_ERR_MEMORY);
        assert_null(table);
        assert_non_null(strstr(err.text, "out of memory"));
        assert_true(at < 10000);
    }
}

/* Also where a block ends between the bytes of a character. */
static void latin1_becomes_utf8(void **state)
{
    (void)state;
    const cof_read_options latin1 = {.struct_size = sizeof latin1, .charset = COF_CHARSET_LATIN1};
    const cof_read_options wrong = {.struct_size = sizeof wrong, .charset = 2};
    READS_WITH(
        &latin1, "caf\xE9,b\nth\xE9,\xFC\xFF\n\x80 5,\x93x\x94\n\x80\x80\x80\x80,plain\n",
        "caf\u00e9|b\nth\u00e9|\u00fc\u00ff\n\u20ac 5|\u201cx\u201d\n\u20ac\u20ac\u20ac\u20ac|plain\n");
    READS_WITH(&latin1, "a;b\n\xE9;2\n", "a|b\n\u00e9|2\n");
    REFUSES_WITH(
        &latin1, "a,b\n\xE9\n",
        "t.csv, line 2 has 1 cell where the header has 2; an empty cell still needs its delimiter (',')");
    expect("t.csv", "a\n1\n", 4, &wrong, COF_ERR_ARGUMENT, "there is no charset 2");
}

static void every_failing_allocation(void **state)
{
    (void)state;
    static char csv[16384];
    size_t n = fill_csv(csv);
    const cof_read_options bare = {.struct_size = sizeof bare, .no_header = 1};
    const cof_read_options latin1 = {.struct_size = sizeof latin1, .charset = COF_CHARSET_LATIN1};
    write_file("t.csv", csv, n);
    for (size_t b = 0; b <= COUNT(block_sizes); b++) {
        bool stretches = b == COUNT(block_sizes);
        size_t block_bytes = stretches ? 2000 : block_sizes[b];
        failing_memory(&(cofi_source){"t.csv", csv, n, block_bytes, !stretches}, NULL);
        failing_memory(&(cofi_source){"t.csv", csv, n, block_bytes, !stretches}, &bare);
        failing_memory(&(cofi_source){"t.csv", csv, n, block_bytes, !stretches}, &latin1);
        failing_memory(&(cofi_source){"t.csv", NULL, 0, block_bytes, !stretches}, NULL);
    }
    unlink("t.csv");
}

static void errors_leak_nothing(void **state)
{
    (void)state;
    static const char *const bad[] = {"",          "a,b\n1\n",        "a,a\n", "a\n\"x",
                                      "a\n\xE9\n", "a,b\n1,\"2\"3\n", "a\r1"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        for (size_t b = 0; b < 2 * COUNT(block_sizes); b++) {
            alloc_meter meter = {.fail_at = ALLOC_NEVER_FAILS};
            cof_env env = alloc_env(&meter);
            cofi_source source = {"t.csv", bad[i], strlen(bad[i]), block_sizes[b / 2], b % 2};
            const cof_read_options one = {.struct_size = sizeof one, .threads = 1};
            cof_table *table = NULL;
            assert_int_equal(cofi_read_csv(&env, &source, &one, &table, NULL), COF_ERR_DATA);
            assert_null(table);
            assert_int_equal(meter.live, 0);
        }
    }
}

/* ---- In order and in stretches ------------------------------------------------------------------- */

typedef struct text {
    char *at;
    size_t n, capacity;
} text;

static void put(text *t, const char *bytes, size_t n)
{
    if (t->capacity - t->n < n) {
        t->capacity = 2 * t->capacity + n;
        t->at = realloc(t->at, t->capacity);
        assert_non_null(t->at);
    }
    memcpy(t->at + t->n, bytes, n);
    t->n += n;
}

static void put_text(text *t, const char *string)
{
    put(t, string, strlen(string));
}

/* What a random file looks like. */
typedef struct look {
    size_t n_columns, n_values, n_bytes;
    const char *line_end;
    bool mark, header, ended, blanks, missing, long_cells, huge_cells;
    uint32_t quoted; /* of three cells */
} look;

static void put_content(text *t, const look *l, cofi_rng *rng, size_t c)
{
    char cell[64];
    static const char *const na[] = {"", "?", "NA"};
    if (l->missing && below(rng, 7) == 0) {
        put_text(t, l->n_columns > 1 || below(rng, 2) == 0 ? na[below(rng, 3)] : "?");
        return;
    }
    if (l->huge_cells && below(rng, 5000) == 0)
        for (int part = 0; part < 60; part++)
            put_text(t, "a text that is not postponed but looked up at once");
    size_t v = below(rng, c % 3 == 0 ? l->n_values : 1 + l->n_values / 3);
    if (l->long_cells && v % 3 == 0)
        snprintf(cell, sizeof cell, "a rather long text, number %zu \xc3\xa4", v);
    else
        snprintf(cell, sizeof cell, c % 2 == 0 ? "%zu" : "N%zu", v); /* begins like NA */
    for (char *p = cell; *p != '\0'; p++) *p = *p == ',' ? ';' : *p;
    put_text(t, cell);
}

static void put_random_cell(text *t, const look *l, cofi_rng *rng, size_t c)
{
    bool quoted = below(rng, 3) < l->quoted;
    if (quoted) put_text(t, "\"");
    put_content(t, l, rng, c);
    if (quoted) put_text(t, "\"");
}

static text make_file(const look *l, cofi_rng *rng)
{
    text t = {NULL, 0, 0};
    if (l->mark) put_text(&t, "\xEF\xBB\xBF");
    for (size_t c = 0; l->header && c < l->n_columns; c++) {
        char name[32];
        snprintf(name, sizeof name, l->quoted > 0 ? "%s\"c%zu\"" : "%sc%zu", c > 0 ? "," : "", c);
        put_text(&t, name);
    }
    if (l->header) put_text(&t, l->line_end);
    while (t.n < l->n_bytes) {
        for (size_t c = 0; c < l->n_columns; c++) {
            if (c > 0) put_text(&t, ",");
            put_random_cell(&t, l, rng, c);
        }
        put_text(&t, l->line_end);
        if (l->blanks && below(rng, 50) == 0) put_text(&t, l->line_end);
    }
    if (!l->ended) t.n -= strlen(l->line_end);
    return t;
}

static void assert_same_table(const cof_table *a, const cof_table *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    for (size_t c = 0; c < a->n_columns; c++) {
        const cofi_column *x = &a->column[c], *y = &b->column[c];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->width, y->width);
        assert_int_equal(x->n_values, y->n_values);
        assert_int_equal(x->n_missing, y->n_missing);
        assert_string_equal(x->missing_text, y->missing_text);
        for (uint32_t v = 0; v < x->n_values; v++)
            assert_string_equal(cofi_column_text(x, v), cofi_column_text(y, v));
        assert_memory_equal(x->codes, y->codes, a->n_rows * x->width);
    }
}

/* Reads the bytes in order, and in stretches with some threads. */
static void compare_with(const text *t, bool header, size_t stretch_bytes, uint32_t threads)
{
    cof_read_options options = {.struct_size = sizeof options, .no_header = !header, .threads = threads};
    cofi_source in_order = {
        .name = "a.csv", .bytes = t->at, .n_bytes = t->n, .block_bytes = 100000, .in_order = true};
    cofi_source stretches = {.name = "a.csv", .bytes = t->at, .n_bytes = t->n, .block_bytes = stretch_bytes};
    cof_error expected_err, err;
    cof_table *expected = NULL, *got = NULL;
    cof_status status = cofi_read_csv(NULL, &in_order, &options, &expected, &expected_err);
    assert_int_equal(cofi_read_csv(NULL, &stretches, &options, &got, &err), status);
    if (status == COF_OK)
        assert_same_table(expected, got);
    else
        assert_string_equal(expected_err.text, err.text);
    cof_table_free(expected);
    cof_table_free(got);
}

static void compare(const text *t, bool header)
{
    compare_with(t, header, 0, 3);
    compare_with(t, header, 5000, 2);
}

/* Lines of one shape, and others between them. */
static void lines_of_one_shape(void **state)
{
    static const char *const between[] = {"12,3,4\n",  "?,,4\n",   "\"1\",2,3\n", "\n",
                                          "1,2,3\r\n", "1,2,\r\n", "x,y,z\n",     "\xc3\xa4,2,3\n"};
    (void)state;
    for (uint64_t seed = 0; seed < 2 * COUNT(between) + 2; seed += one_in()) {
        cofi_rng rng = dice(seed);
        size_t one_of = seed % 2 == 0 ? 100 : 5000, n_values = seed < 16 ? 9 : 60;
        text t = {NULL, 0, 0};
        put_text(&t, "a,b,c\n");
        while (t.n < (size_t)5 << 19) {
            static const char *const kept[] = {"", "v", "value a", "\xc3\xa9", "NA12345"};
            char line[64], code[3];
            for (size_t c = 0; c < 3; c++) {
                size_t v = below(&rng, n_values);
                code[c] = (char)(v < 9 ? '1' + v : 'A' + v - 9 + (v > 34) * 6);
            }
            snprintf(line, sizeof line, "%s%c,%s%c,%c%s", kept[seed % COUNT(kept)], code[0],
                     kept[seed / 3 % COUNT(kept)], code[1], code[2], seed % 7 == 3 ? "\r\n" : "\n");
            put_text(&t, line);
            if (below(&rng, one_of) == 0) put_text(&t, between[seed / 2 % COUNT(between)]);
        }
        compare(&t, true);
        compare_with(&t, true, 0, 1);
        free(t.at);
    }
}

/* One thread takes all stretches, so that it knows from the second on which columns have many values. */
static void many_values(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed += one_in()) {
        cofi_rng rng = dice(seed);
        look l = {.n_columns = 4,
                  .n_values = 30000,
                  .n_bytes = (size_t)6 << 20,
                  .line_end = "\n",
                  .header = true,
                  .ended = true,
                  .missing = seed == 1,
                  .long_cells = seed % 2 == 0,
                  .huge_cells = seed >= 2};
        text t = make_file(&l, &rng);
        compare_with(&t, true, 0, 1);
        free(t.at);
    }
}

static void the_same_table(void **state)
{
    static const size_t columns[] = {1, 2, 3, 20, 300}, values[] = {2, 40, 300, 5000, 200000};
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed += one_in()) {
        cofi_rng rng = dice(seed);
        look l = {.n_columns = columns[below(&rng, 5)],
                  .n_values = values[below(&rng, 5)],
                  .n_bytes = ((size_t)1 << 20) + below(&rng, (size_t)3 << 20),
                  .line_end = below(&rng, 3) == 0 ? "\r\n" : "\n",
                  .mark = below(&rng, 4) == 0,
                  .header = below(&rng, 4) != 0,
                  .ended = below(&rng, 2) == 0,
                  .blanks = below(&rng, 3) == 0,
                  .missing = below(&rng, 2) == 0,
                  .long_cells = below(&rng, 2) == 0,
                  .quoted = seed % 2 == 0 ? 0 : (uint32_t)below(&rng, 4)};
        text t = make_file(&l, &rng);
        compare(&t, l.header);
        free(t.at);
    }
}

/* One unusual or wrong thing somewhere in a large file. */
static void the_same_complaint(void **state)
{
    static const char *const wrong[] = {"\"quoted, with a comma\",1,2\n",
                                        "\"quoted \"\"twice\"\"\",1,2\n",
                                        "\"two\nlines\",1,2\n",
                                        "\"\"\"\",1,2\n",
                                        "\",\",1,2\n",
                                        "\"1\"\",\"\"2\",1,2\n",
                                        "\"1\" ,1,2\n",
                                        "1,2,\"\n",
                                        "1,2\n",
                                        "1,2,3,4\n",
                                        "1,\xFF,3\n",
                                        "1,2\r,3\n",
                                        "a\"b,1,2\n",
                                        "\"open,1,2\n",
                                        "1,2,3\r"};
    (void)state;
    for (uint64_t seed = 0; seed < 2 * COUNT(wrong) + 2; seed += one_in()) {
        cofi_rng rng = dice(seed);
        look l = {.n_columns = 3,
                  .n_values = 9,
                  .n_bytes = (size_t)2 << 20,
                  .line_end = "\n",
                  .header = true,
                  .ended = true};
        text t = make_file(&l, &rng), with = {NULL, 0, 0};
        size_t at = 100 + below(&rng, t.n - 200);
        if (seed % 3 == 0) at = t.n;
        while (at < t.n && t.at[at - 1] != '\n') at++;
        put(&with, t.at, at);
        if (seed < 2 * COUNT(wrong))
            put_text(&with, wrong[seed / 2]);
        else
            put(&with, "1,\0,3\n", 6);
        put(&with, t.at + at, t.n - at);
        compare(&with, true);
        free(t.at);
        free(with.at);
    }
}

/* The first bytes are a table, the rest up to 4 GiB and as many bytes again is a hole. A size of 32 bits made the
 * reader take the first bytes for the whole file; without offsets of 64 bits it does not open. */
static void a_file_above_4_gib(void **state)
{
    static const char *const path = "above_4_gib.csv";
    cofi_rng rng = dice(3);
    look l = {.n_columns = 3,
              .n_values = 9,
              .n_bytes = (size_t)1 << 20,
              .line_end = "\n",
              .header = true,
              .ended = true};
    text t = make_file(&l, &rng);
    cof_table *table = NULL;
    cof_error err;
    (void)state;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(t.at, 1, t.n, file), t.n);
    bool made = fflush(file) == 0 && ftruncate(fileno(file), ((off_t)1 << 32) + (off_t)t.n) == 0;
    assert_int_equal(fclose(file), 0);
    if (made) { /* not every file system has holes */
        assert_status(cof_table_read(NULL, path, NULL, &table, &err), COF_ERR_DATA, &err);
        assert_non_null(strstr(err.text, "UTF-16")); /* the sentence about a byte 0 */
    }
    unlink(path);
    free(t.at);
}

/* ---- The table that is built in ------------------------------------------------------------------ */

static void demo(void **state)
{
    (void)state;
    cof_table *table;
    cof_error err;
    assert_int_equal(cof_table_demo(NULL, &table, &err), COF_OK);
    assert_int_equal(cof_table_n_rows(table), 101);
    assert_int_equal(cof_table_n_columns(table), 18);
    assert_int_equal(cof_table_find(table, "class"), 17);
    assert_string_equal(cof_table_value(table, 0, cof_table_code(table, 100, 0)), "wren");
    cof_table_free(table);
}

static int enter_folder(void **state)
{
    static char folder[] = "/tmp/coforest-read-XXXXXX";
    *state = folder;
    return mkdtemp(folder) != NULL ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
    return chdir("/") == 0 ? rmdir(*state) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(value_ids_are_sorted),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(blank_lines),
        cmocka_unit_test(quotes),
        cmocka_unit_test(quote_errors),
        cmocka_unit_test(ragged_rows),
        cmocka_unit_test(empty_tables),
        cmocka_unit_test(headers),
        cmocka_unit_test(long_names_in_sentences),
        cmocka_unit_test(byte_order_marks),
        cmocka_unit_test(utf8),
        cmocka_unit_test(nul_bytes),
        cmocka_unit_test(large_cells),
        cmocka_unit_test(too_many_columns),
        cmocka_unit_test(many_columns),
        cmocka_unit_test(very_many_columns),
        cmocka_unit_test(many_short_values),
        cmocka_unit_test(delimiters),
        cmocka_unit_test(delimiter_of_a_long_line),
        cmocka_unit_test(refused_options),
        cmocka_unit_test(missing_texts),
        cmocka_unit_test(progress_and_stop),
        cmocka_unit_test(file_that_becomes_shorter),
        cmocka_unit_test(latin1_becomes_utf8),
        cmocka_unit_test(every_failing_allocation),
        cmocka_unit_test(errors_leak_nothing),
        cmocka_unit_test(the_same_table),
        cmocka_unit_test(lines_of_one_shape),
        cmocka_unit_test(many_values),
        cmocka_unit_test(the_same_complaint),
        cmocka_unit_test(a_file_above_4_gib),
        cmocka_unit_test(demo),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
