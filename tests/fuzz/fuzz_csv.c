/* Any bytes as a table: no crash, no leak, and the same outcome whatever the block size, in order and in stretches.
 *
 * The first byte chooses the options, the rest is the file. */
#include "../../src/table/file/read_csv.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void require(int holds)
{
    if (!holds) abort();
}

static void compare(const cof_table *a, const cof_table *b)
{
    require(cof_table_n_rows(a) == cof_table_n_rows(b) && cof_table_n_columns(a) == cof_table_n_columns(b));
    for (size_t c = 0; c < cof_table_n_columns(a); c++) {
        cof_column x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
        require(cof_table_column(a, c, &x) == COF_OK && cof_table_column(b, c, &y) == COF_OK);
        require(strcmp(x.name, y.name) == 0 && x.n_values == y.n_values && x.n_missing == y.n_missing);
        for (uint32_t v = 0; v <= x.n_values; v++)
            require(strcmp(cof_table_value(a, c, v), cof_table_value(b, c, v)) == 0);
        for (size_t i = 0; i < cof_table_n_rows(a); i++) {
            require(cof_table_code(a, i, c) <= x.n_values);
            require(cof_table_code(a, i, c) == cof_table_code(b, i, c));
        }
    }
}

static int is_compressed(const uint8_t *bytes, size_t n)
{
    return n >= 2 && ((bytes[0] == 0x1F && bytes[1] == 0x8B) || (bytes[0] == 0x28 && bytes[1] == 0xB5) ||
                      (bytes[0] >> 4 == 5 && bytes[1] == 0x2A));
}

static cof_read_options choose(uint8_t byte)
{
    static const char delimiters[] = {0, ',', ';', '\t'};
    static const char *const na[] = {"-", "none", ""};
    cof_read_options options = {.struct_size = sizeof options};
    options.delimiter = delimiters[byte & 3];
    options.no_header = byte >> 2 & 1;
    if (byte & 8) options.na = na;
    options.n_na = byte >> 4 & 3;
    options.charset = byte >> 5 & byte & 1;
    return options;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    if (n_bytes == 0) return 0;
    cof_read_options options = choose(data[0]);
    cof_table *whole = NULL;
    cof_error err = {""};
    cof_status status =
        cof_table_read_memory(NULL, "fuzz.csv", data + 1, n_bytes - 1, &options, &whole, &err);
    for (int in_order = 0; in_order < 2; in_order++) {
        cof_table *parts = NULL;
        cof_error again = {""};
        cofi_source source = {"fuzz.csv", data + 1, n_bytes - 1, 1 + (data[0] >> 6), in_order};
        require(cofi_read_csv(NULL, &source, &options, &parts, &again) == status);
        /* In a damaged compressed file, small blocks may show a bad cell before the damage. */
        require(strcmp(err.text, again.text) == 0 || is_compressed(data + 1, n_bytes - 1));
        if (status == COF_OK) compare(whole, parts);
        cof_table_free(parts);
    }
    require((status == COF_OK) == (whole != NULL));
    if (status == COF_OK) require(cof_table_write(whole, "/dev/null", &err) == COF_OK);
    cof_table_free(whole);
    return 0;
}
