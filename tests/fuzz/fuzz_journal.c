/* Hostile journals: bytes behind a true head, or a true journal with changes, whose checksums are put right or not. */
#include "../../src/core/bytes.h"
#include "coforest_shard.h"
#include "fuzz_helper.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_ROWS = 24, N_COLUMNS = 3, HEAD = 48, RECORD_HEAD = 16, RECORD_END = 8, MOST_BYTES = 1 << 18 };

typedef struct world {
    cof_table *table;
    cof_schema *schema;
    cof_shard *shard;
    char path[64];
    uint8_t *journal; /* that of a fit without trouble */
    size_t n;
    double objective;
} world;

static int ask(void *ctx, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words)
{
    return cof_shard_answer(ctx, request, n_bytes, sum, n_words, NULL) != COF_OK;
}

/* A fit through the journal at the path; false if it was refused. */
static bool fit(const world *w, double *objective)
{
    cof_shards shards = {.struct_size = sizeof shards, .ask = ask, .ctx = w->shard};
    cof_fit_options o = {.struct_size = sizeof o, .k = 2, .threads = 1, .restarts = 1, .max_passes = 4};
    cof_fit_info info = {.struct_size = sizeof info};
    cof_journal *journal = NULL;
    cof_model *model = NULL;
    if (cof_journal_open(NULL, w->path, w->schema, &shards, &journal, NULL) != COF_OK) return false;
    shards = cof_journal_shards(journal);
    bool fitted = cof_fit_shards(NULL, w->schema, &o, &shards, &model, &info, NULL) == COF_OK;
    *objective = info.objective;
    cof_model_free(model);
    cof_journal_free(journal);
    return fitted;
}

static void write_file(const char *path, const uint8_t *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    require(f != NULL && fwrite(bytes, 1, n, f) == n && fclose(f) == 0, "a file can be written");
}

static void open_world(world *w)
{
    int32_t codes[N_ROWS * N_COLUMNS];
    for (int32_t i = 0; i < N_ROWS; i++) {
        int32_t row[N_COLUMNS] = {i % 3, i % 7 == 0 ? -1 : i / 6, i * i % 5};
        memcpy(codes + i * N_COLUMNS, row, sizeof row);
    }
    snprintf(w->path, sizeof w->path, "/tmp/coforest-fuzz-journal-%ld", (long)getpid());
    require(cof_table_from_codes(NULL, codes, N_ROWS, N_COLUMNS, NULL, &w->table, NULL) == COF_OK, "a table");
    require(cof_schema_of(w->table, 0, &w->schema, NULL) == COF_OK, "a schema");
    require(cof_shard_open(NULL, w->table, w->schema, 0, 1, &w->shard, NULL) == COF_OK, "a shard");
    require(fit(w, &w->objective), "a fit");
    FILE *f = fopen(w->path, "rb");
    w->journal = malloc(MOST_BYTES);
    w->n = f != NULL ? fread(w->journal, 1, MOST_BYTES, f) : 0;
    require(w->n > HEAD && w->n < MOST_BYTES, "a journal");
    fclose(f);
}

/* Puts the checksums of all records right, as far as there are whole ones. */
static void seal(uint8_t *bytes, size_t n)
{
    for (size_t at = HEAD; n - at >= RECORD_HEAD + RECORD_END;) {
        uint64_t n_words = cofi_word_at(bytes + at + 8);
        if (n_words > (n - at - RECORD_HEAD - RECORD_END) / 8) return;
        size_t length = RECORD_HEAD + 8 * (size_t)n_words;
        uint64_t sum = cofi_checksum(bytes + at, length);
        for (size_t i = 0; i < RECORD_END; i++) bytes[at + length + i] = (uint8_t)(sum >> (8 * i));
        at += length + RECORD_END;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static world w;
    if (w.table == NULL) open_world(&w);
    if (size < 2 || size > 4096) return 0;
    bool changes = data[0] & 1, sealed = data[0] & 2;
    size_t n = changes ? w.n - data[1] % 64 : HEAD + size - 2;
    uint8_t *bytes = malloc(w.n + size);
    double objective;
    memcpy(bytes, w.journal, w.n);
    if (!changes) memcpy(bytes + HEAD, data + 2, size - 2);
    for (size_t at = 2; changes && at + 3 <= size; at += 3)
        bytes[(data[at] | (size_t)data[at + 1] << 8) % n] ^= data[at + 2];
    if (sealed) seal(bytes, n);
    write_file(w.path, bytes, n);
    if (fit(&w, &objective) && !sealed) require(objective == w.objective, "what is damaged is asked again");
    unlink(w.path);
    free(bytes);
    return 0;
}
