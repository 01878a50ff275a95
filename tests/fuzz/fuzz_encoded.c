/* Encoded tables made from hostile bytes: as they are, and with magic, version and all checksums put right, so that what
 * is behind them is reached. Whatever is read is used like any other table. */
#include "../../src/table/file/encoded.h"
#include "coforest_shard.h"
#include "fuzz_helper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const uint8_t *data, size_t size)
{
    cof_error err = {{0}};
    cof_table *table = NULL;
    cof_status status = cof_table_read_memory(NULL, "t.cofe", data, size, NULL, &table, &err);
    require(status == COF_OK || (err.text[0] != '\0' && strchr(err.text, '\n') == NULL), "one sentence");
    if (status != COF_OK) return;
    size_t n_rows = cof_table_n_rows(table), n_columns = cof_table_n_columns(table);
    require(n_rows > 0 && n_columns > 0, "rows and columns");
    for (size_t c = 0; c < n_columns; c++) {
        cof_column about = {.struct_size = sizeof about};
        cof_advice advice = {.struct_size = sizeof advice};
        require(cof_table_column(table, c, &about) == COF_OK, "a column");
        cof_column_advise(table, c, COF_MISSING_VALUE, &advice, NULL);
        for (size_t i = 0; i < n_rows; i++)
            require(strlen(cof_table_cell(table, i, c)) < size, "a text of the file");
    }
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .threads = 1, .restarts = 2};
    cof_model *model = NULL;
    if (n_rows * n_columns < 1 << 14 && cof_fit(table, &o, &model, NULL, NULL) == COF_OK)
        cof_model_free(model);
    cof_table_free(table);
}

static void put_word(uint8_t *to, uint64_t word)
{
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(word >> (8 * i));
}

/* The checksums of all blocks, as far as the bytes reach. */
static void seal_columns(uint8_t *bytes, size_t size, const cof_schema *schema, uint64_t end)
{
    uint64_t n_rows = cof_schema_n_rows(schema), begin[8];
    size_t n_columns = cof_table_n_columns(cof_schema_table(schema));
    if (n_rows > COFI_ENCODED_BLOCK || n_columns > 8) return;
    uint8_t width[8];
    for (size_t c = 0; c < n_columns; c++) {
        cof_column about = {.struct_size = sizeof about};
        cof_table_column(cof_schema_table(schema), c, &about);
        width[c] = cofi_code_width(about.n_values);
        begin[c] = cofi_encoded_place(end, c, n_rows * width[c]);
        end = begin[c] + n_rows * width[c];
    }
    if (end + 8 * n_columns > size) return;
    for (size_t c = 0; c < n_columns; c++)
        put_word(bytes + end + 8 * c, cofi_checksum(bytes + begin[c], (size_t)n_rows * width[c]));
}

static void seal(uint8_t *bytes, size_t size)
{
    cof_schema *schema = NULL;
    memcpy(bytes, COFI_ENCODED_MAGIC "\1\0\0\0\0\0\1", 16);
    put_word(bytes + COFI_ENCODED_HEAD - 8, cofi_checksum(bytes, COFI_ENCODED_HEAD - 8));
    uint64_t n = cofi_word_at(bytes + 32);
    if (n < 24 || n > size - COFI_ENCODED_HEAD) return;
    uint8_t *own = bytes + COFI_ENCODED_HEAD;
    memcpy(own, "COFSCHEM\1\0\0", 12);
    put_word(own + n - 8, cofi_checksum(own, (size_t)n - 8));
    if (cof_schema_read(NULL, own, (size_t)n, &schema, NULL) != COF_OK) return;
    seal_columns(bytes, size, schema, COFI_ENCODED_HEAD + n);
    cof_schema_free(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use(data, size);
    if (size < COFI_ENCODED_HEAD + 24) return 0;
    uint8_t *sealed = malloc(size); /* its own block: one byte too far is seen */
    memcpy(sealed, data, size);
    seal(sealed, size);
    use(sealed, size);
    free(sealed);
    return 0;
}
