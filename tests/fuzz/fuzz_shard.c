/* Hostile schemas, requests and answers. The first byte says which; the others are used as they are and with magic,
 * version and checksum put right, so that what is behind them is reached. */
#include "../../src/rows/shards/request.h"
#include "coforest_shard.h"
#include "fuzz_helper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_ROWS = 24, N_COLUMNS = 5, HEAD = 12, END = 8 };

/* Three categories, one with missing cells; a quantity; weights. */
static cof_table *make_table(void)
{
    int32_t codes[N_ROWS * N_COLUMNS];
    cof_table *table = NULL;
    for (int32_t i = 0; i < N_ROWS; i++) {
        int32_t row[N_COLUMNS] = {i % 3, i % 7 == 0 ? -1 : i / 6, i * i % 5, i * 37 % 101, i % 4};
        memcpy(codes + i * N_COLUMNS, row, sizeof row);
    }
    require(cof_table_from_codes(NULL, codes, N_ROWS, N_COLUMNS, NULL, &table, NULL) == COF_OK, "a table");
    return table;
}

static cof_schema *make_schema(const cof_table *table)
{
    cof_schema *schema = NULL;
    cof_cut_options bins = {.struct_size = sizeof bins, .bins = 3};
    require(cof_schema_of(table, 0, &schema, NULL) == COF_OK, "a schema");
    require(cof_schema_cut(schema, 3, &bins, NULL) == COF_OK, "a cut");
    require(cof_schema_set_role(schema, 4, COF_ROLE_WEIGHT, NULL) == COF_OK, "a weight");
    return schema;
}

/* Magic and version at the front, the checksum at the end. Room for both is needed. */
static uint8_t *seal(const uint8_t *data, size_t size, const char *magic, uint8_t version)
{
    uint8_t *sealed = malloc(size); /* its own block: one byte too far is seen */
    memcpy(sealed, data, size);
    memcpy(sealed, magic, 8);
    memcpy(sealed + 8, (uint8_t[4]){version}, 4);
    uint64_t sum = cofi_checksum(sealed, size - END);
    for (int i = 0; i < END; i++) sealed[size - END + (size_t)i] = (uint8_t)(sum >> (8 * i));
    return sealed;
}

static int count_bytes(void *ctx, const char *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)ctx += n;
    return 0;
}

static void use_schema(const uint8_t *data, size_t size)
{
    cof_schema *schema = NULL;
    cof_shard *shard = NULL;
    size_t n = 0;
    if (cof_schema_read(NULL, data, size, &schema, NULL) != COF_OK) return;
    const cof_table *table = cof_schema_table(schema);
    for (size_t c = 0; c < cof_table_n_columns(table); c++) {
        cof_advice advice = {.struct_size = sizeof advice};
        cof_schema_advise(schema, c, 0, &advice, NULL);
        cof_schema_cut(schema, c, NULL, NULL);
    }
    require(cof_schema_write(schema, count_bytes, &n, NULL) == COF_OK && n > 0, "a schema can be written");
    require(cof_shard_open(NULL, NULL, schema, 0, 1, &shard, NULL) == COF_OK, "an empty shard can be opened");
    cof_shard_free(shard);
    cof_schema_free(schema);
}

static void use_request(cof_shard *shard, const uint8_t *data, size_t size)
{
    int32_t label[N_ROWS];
    size_t n = cof_request_words(data, size);
    uint64_t *sum = calloc(n + 1, sizeof *sum);
    if (sum == NULL) return;
    cof_shard_answer(shard, data, size, sum, n, NULL);
    cof_shard_labels(shard, data, size, label, N_ROWS, NULL);
    free(sum);
}

typedef struct liar {
    const uint8_t *data;
    size_t size, at;
    cof_shard *shard;
} liar;

/* The true answer, of which the bytes change some words; the last two are put right. */
static int lie(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    liar *l = ctx;
    if (l->at >= l->size) return 1;
    if (cof_shard_answer(l->shard, request, n_bytes, sum, n_words, NULL) != COF_OK) return 1;
    for (uint8_t changes = l->data[l->at++] % 4; changes > 0 && l->at + 4 <= l->size; changes--, l->at += 4) {
        size_t word = (l->data[l->at] | (size_t)l->data[l->at + 1] << 8) % n_words;
        sum[word] += (uint64_t)(int8_t)l->data[l->at + 2] << (l->data[l->at + 3] % 64);
    }
    sum[n_words - 2] = N_ROWS;
    sum[n_words - 1] = 0;
    for (size_t i = 0; i + 1 < n_words; i++)
        sum[n_words - 1] += sum[i] * (2 * (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + 1);
    return 0;
}

static void use_answers(cof_shard *shard, const cof_schema *schema, const uint8_t *data, size_t size)
{
    static const char *const methods[] = {"coforest", "lca", "udm", "kmodes"};
    liar l = {data, size, 2, shard};
    cof_shards shards = {.struct_size = sizeof shards, .ask = lie, .ctx = &l};
    cof_model *model = NULL;
    if (size < 3) return;
    cof_fit_options o = {
        .struct_size = sizeof o, .k = 1 + data[0] % 4, .threads = 1, .restarts = 2, .max_passes = 4};
    o.init = (data[0] >> 2) % (int32_t)cof_start_count();
    o.missing = data[1] % 3;
    o.method = methods[(data[1] >> 2) % 4];
    shards.together = 1 + (data[1] >> 4) % 2; /* a lie in a joined answer is noticed at once */
    if (cof_fit_shards(NULL, schema, &o, &shards, &model, NULL, NULL) == COF_OK) cof_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cof_table *table;
    static cof_schema *schema;
    if (table == NULL) {
        table = make_table();
        schema = make_schema(table);
    }
    if (size < 1 + HEAD + END) return 0;
    uint8_t what = data[0] % 3;
    data++, size--;
    cof_shard *shard = NULL;
    require(cof_shard_open(NULL, table, schema, 0, 1, &shard, NULL) == COF_OK, "a shard");
    uint8_t *sealed =
        seal(data, size, what == 0 ? "COFSCHEM" : "COFREQST", what == 0 ? 1 : COFI_REQUEST_VERSION);
    for (int right = 0; right < 2 && what < 2; right++) {
        if (what == 0)
            use_schema(right ? sealed : data, size);
        else
            use_request(shard, right ? sealed : data, size);
    }
    if (what == 2) use_answers(shard, schema, data, size);
    free(sealed);
    cof_shard_free(shard);
    return 0;
}
