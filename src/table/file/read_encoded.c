/* Reads an encoded table. Its columns stay in the mapped file; a change of codes, as for a stated order, copies the pages
 * in question (MAP_PRIVATE). Every byte that is used is checked first, because kernels use codes as indices without a look. */
#include "encoded.h"

#include "../../core/system/system.h"
#include "../../core/team.h"
#include "../../core/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct checking {
    cof_schema *schema;
    unsigned char *bytes;
    const uint64_t *begin; /* per column */
    uint64_t sums;         /* where the checksums begin */
    uint64_t first, end;   /* the rows that are wanted */
    cof_env env;
    uint64_t *rows; /* per worker: n_counts of them */
    size_t n_counts;
    atomic_int status;
} checking;

static cof_status damaged(const char *name, const char *how, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA, "%s is a damaged encoded table: %s; encode the table again", name,
                     how);
}

/* Adds up how many of the rows from..end-1 hold each code; false if a code is too large. */
static bool count_codes(const unsigned char *codes, uint8_t width, size_t from, size_t end, uint32_t most,
                        uint64_t *rows)
{
    uint32_t greatest = 0;
    for (size_t i = from; i < end; i++) {
        uint32_t code = cofi_code_at(codes, width, i);
        greatest = code > greatest ? code : greatest;
    }
    if (greatest > most) return false;
    for (size_t i = from; i < end; i++) rows[cofi_code_at(codes, width, i)]++;
    return true;
}

/* The codes must be those that the schema counted, block by block. Only blocks with rows that are wanted are read. */
static void check_column(void *ctx, uint32_t worker, size_t c)
{
    checking *k = ctx;
    cofi_column *column = &k->schema->table.column[c];
    uint32_t n_values = column->n_values;
    uint8_t width = cofi_code_width(n_values);
    uint64_t n_rows = k->schema->n_rows, n_blocks = (n_rows + COFI_ENCODED_BLOCK - 1) / COFI_ENCODED_BLOCK;
    uint64_t *rows = k->rows + worker * k->n_counts;
    cof_status status = COF_OK;
    memset(rows, 0, ((size_t)n_values + 1) * sizeof *rows);
    for (uint64_t b = k->first / COFI_ENCODED_BLOCK; b * COFI_ENCODED_BLOCK < k->end && status == COF_OK;
         b++) {
        uint64_t first = b * COFI_ENCODED_BLOCK, left = n_rows - first;
        size_t n = left < COFI_ENCODED_BLOCK ? (size_t)left : COFI_ENCODED_BLOCK;
        unsigned char *codes = k->bytes + k->begin[c] + first * width;
        uint64_t sum = cofi_word_at(k->bytes + k->sums + 8 * (c * n_blocks + b));
        bool whole = sum == cofi_checksum(codes, n * width);
        cofi_encoded_swap(codes, width, n);
        size_t from = k->first > first ? (size_t)(k->first - first) : 0;
        size_t end = k->end - first < n ? (size_t)(k->end - first) : n;
        if (!whole || !count_codes(codes, width, from, end, n_values, rows))
            status = COF_ERR_DATA;
        else if (atomic_load(&k->status) != COF_OK || (worker == 0 && cofi_should_stop(&k->env)))
            status = COF_ERR_STOPPED;
    }
    bool all = k->end - k->first == n_rows;
    for (uint32_t v = 0; v < n_values && status == COF_OK; v++)
        if (all ? rows[v] != column->rows_of[v] : rows[v] > column->rows_of[v]) status = COF_ERR_DATA;
    column->n_missing = rows[n_values];
    int expected = COF_OK;
    if (status != COF_OK) atomic_compare_exchange_strong(&k->status, &expected, (int)status);
}

static cof_status check_codes(checking *k, const char *name, uint32_t threads, cof_error *err)
{
    enum { FEW_CELLS = 1 << 22 }; /* below, threads cost more than they save */
    const cof_schema *s = k->schema;
    cofi_team *team;
    for (size_t c = 0; c < s->table.n_columns; c++)
        if (s->table.column[c].n_values >= k->n_counts) k->n_counts = (size_t)s->table.column[c].n_values + 1;
    COFI_TRY(cofi_team_open(&k->env, s->n_rows * s->table.n_columns < FEW_CELLS ? 1 : threads, &team, err));
    k->rows = cofi_alloc(&k->env, cofi_team_size(team) * k->n_counts, sizeof *k->rows);
    if (k->rows != NULL) cofi_team_run(team, check_column, k, s->table.n_columns);
    cofi_team_close(team);
    if (k->rows == NULL) return cofi_no_memory(err);
    cofi_release(&k->env, k->rows);
    int status = atomic_load(&k->status);
    if (status == COF_ERR_STOPPED) return cofi_fail(err, COF_ERR_STOPPED, "stopped reading %s", name);
    return status == COF_OK ? COF_OK : damaged(name, "a column does not have the codes it should have", err);
}

static bool is_plain(const cof_schema *s)
{
    for (size_t c = 0; c < s->table.n_columns; c++)
        if (s->table.column[c].role != COF_ROLE_ATTRIBUTE || s->table.column[c].ordinal ||
            s->table.column[c].cut != NULL)
            return false;
    return s->n_rows > 0 && s->table.n_columns > 0 && s->table.n_columns <= COFI_MOST_COLUMNS;
}

/* The places of the columns; false if the file does not have the size that follows from them. */
static bool lay_out(const cof_schema *s, uint64_t end, size_t n_bytes, uint64_t *begin, uint64_t *sums)
{
    uint64_t n_blocks = (s->n_rows + COFI_ENCODED_BLOCK - 1) / COFI_ENCODED_BLOCK;
    for (size_t c = 0; c < s->table.n_columns; c++) { /* 2^20 columns of 2^32 rows fit 64 bits */
        uint64_t n = s->n_rows * cofi_code_width(s->table.column[c].n_values);
        begin[c] = cofi_encoded_place(end, c, n);
        end = begin[c] + n;
    }
    *sums = end;
    return end + 8 * n_blocks * s->table.n_columns == n_bytes;
}

/* Moves the columns of the schema into the table. */
static void move_columns(cof_schema *s, const checking *k, cof_table *table)
{
    cofi_column *none = table->column;
    table->column = s->table.column;
    table->n_columns = s->table.n_columns;
    table->n_rows = (size_t)(k->end - k->first);
    s->table.column = none;
    s->table.n_columns = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
        cofi_column *column = &table->column[c];
        column->width = cofi_code_width(column->n_values);
        column->codes = k->bytes + k->begin[c] + k->first * column->width;
        cofi_release(&table->env, column->rows_of);
        column->rows_of = NULL;
        column->first_missing = 0;
    }
}

static cof_status open_columns(cof_table *table, unsigned char *bytes, size_t n_bytes, const char *name,
                               const cof_read_options *o, cof_error *err)
{
    const cof_env *env = &table->env;
    cofi_encoded_head head;
    cofi_codec c = {.from = {.bytes = bytes, .n = n_bytes}};
    cofi_code_encoded_head(&c, &head);
    uint64_t sum = cofi_get_u64(&c.from);
    if (c.from.failed) return damaged(name, "it is cut off", err);
    if (head.version > COFI_ENCODED_VERSION)
        return cofi_fail(err, COF_ERR_TOO_NEW,
                         "%s has format %u, but this program knows encoded tables up to format %d; use a "
                         "newer program, or encode the table again",
                         name, head.version, COFI_ENCODED_VERSION);
    if (head.version == 0 || sum != cofi_checksum(bytes, COFI_ENCODED_HEAD - 8) ||
        head.block != COFI_ENCODED_BLOCK)
        return damaged(name, "its first bytes are wrong", err);
    if (head.n_schema > n_bytes - COFI_ENCODED_HEAD) return damaged(name, "it is cut off", err);
    cof_schema *s;
    cof_error why = {{0}};
    cof_status status = cof_schema_read(env, bytes + COFI_ENCODED_HEAD, (size_t)head.n_schema, &s, &why);
    if (status == COF_ERR_MEMORY) return cofi_no_memory(err);
    if (status != COF_OK) return damaged(name, why.text, err);
    uint64_t *begin = cofi_alloc(env, s->table.n_columns, sizeof *begin);
    checking k = {.schema = s, .bytes = bytes, .begin = begin, .env = *env, .first = o->first_row};
    k.end = o->n_rows > 0 ? o->first_row + o->n_rows : s->n_rows;
    if (begin == NULL)
        status = cofi_no_memory(err);
    else if (s->n_rows != head.n_rows || s->table.n_columns != head.n_columns || !is_plain(s))
        status = damaged(name, "its parts contradict each other", err);
    else if (!lay_out(s, COFI_ENCODED_HEAD + head.n_schema, n_bytes, begin, &k.sums))
        status = damaged(name, "it has too few or too many bytes", err);
    else if (o->first_row >= s->n_rows || o->n_rows > s->n_rows - o->first_row)
        status = cofi_fail(err, COF_ERR_ARGUMENT, "rows from %llu on were asked for, but %s has %llu rows",
                           (unsigned long long)o->first_row + 1, name, (unsigned long long)s->n_rows);
    if (status == COF_OK) status = check_codes(&k, name, o->threads, err);
    if (status == COF_OK) move_columns(s, &k, table);
    cofi_release(env, begin);
    cof_schema_free(s);
    return status;
}

/* Maps the file if it is a regular one that begins with the magic. */
static cof_status map_file(const cofi_source *source, const char *name, cof_table *table, cof_error *err)
{
    struct stat about;
    char head[sizeof COFI_ENCODED_MAGIC - 1];
    bool standard = strcmp(source->name, "-") == 0;
    if ((standard ? fstat(STDIN_FILENO, &about) : stat(source->name, &about)) != 0 || !S_ISREG(about.st_mode))
        return COF_OK;
    int fd = standard ? STDIN_FILENO : open(source->name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
        memcmp(head, COFI_ENCODED_MAGIC, sizeof head) == 0 && fstat(fd, &about) == 0 &&
        (uint64_t)about.st_size <= SIZE_MAX) {
        void *file = cofi_map(fd, (size_t)about.st_size);
        int number = errno;
        if (file != NULL) table->file = file, table->n_mapped = (size_t)about.st_size;
        table->streamed = table->n_mapped > cof_memory() / 4;
        if (!standard) close(fd);
        if (file != NULL) return COF_OK;
        return cofi_fail(err, COF_ERR_IO, "cannot map %s into memory: %s", name, strerror(number));
    }
    if (fd >= 0 && !standard) close(fd);
    return COF_OK;
}

cof_status cofi_encoded_read(const cof_env *env, const cofi_source *source, const cof_read_options *options,
                             cof_table **out, cof_error *err)
{
    cof_read_options own;
    COFI_COPY_OPTIONS(&own, options);
    char name[160];
    cof_table *table;
    bool standard = strcmp(source->name, "-") == 0;
    cofi_utf8_show_tail(name, sizeof name, standard ? "standard input" : source->name);
    *out = NULL;
    size_t n_magic = sizeof COFI_ENCODED_MAGIC - 1;
    cof_status status = COF_OK;
    COFI_TRY(cofi_table_new(env, 0, &table, err));
    if (source->bytes == NULL) {
        status = map_file(source, name, table, err);
    } else if (source->n_bytes >= n_magic && memcmp(source->bytes, COFI_ENCODED_MAGIC, n_magic) == 0) {
        table->file = cofi_alloc(env, source->n_bytes, 1);
        if (table->file == NULL) status = cofi_no_memory(err);
        if (status == COF_OK) memcpy(table->file, source->bytes, source->n_bytes);
    }
    if (status == COF_OK && table->file != NULL) {
        status = open_columns(table, table->file, table->n_mapped > 0 ? table->n_mapped : source->n_bytes,
                              name, &own, err);
        if (status == COF_OK) *out = table;
    } else if (status == COF_OK && (own.first_row > 0 || own.n_rows > 0) &&
               (source->bytes != NULL || standard || access(source->name, R_OK) == 0)) {
        status =
            cofi_fail(err, COF_ERR_UNSUPPORTED,
                      "some rows of %s cannot be read by themselves, because it is not an encoded table; run "
                      "\"coforest encode\" first",
                      name);
    }
    if (*out == NULL) cof_table_free(table);
    return status;
}

int32_t cof_table_is_encoded(const cof_table *table)
{
    return table->file != NULL;
}
