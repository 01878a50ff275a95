/* Reads a table from a file or from memory: passes blocks from the input to the parser, after it has found
 * the encoding from the first bytes and the delimiter from the first line. */
#include "read_csv.h"

#include "../../core/utf8.h"
#include "dialect.h"
#include "encoded.h"
#include "../recognise.h"
#include "parse_csv.h"
#include "scan_csv.h"

enum { LATIN1_ROOM = 3 }; /* bytes of UTF-8 that a byte of Latin-1 may need */

typedef struct reader {
    cof_env env;
    double began_s;
    cofi_input *in;
    char *block;
    size_t block_bytes, capacity;
    size_t n_held; /* bytes in the block */
    size_t n_mark; /* bytes of a byte order mark at the beginning */
    bool ended, latin1;
    cof_piece visit; /* who gets the rows in pieces; NULL: they become one table */
    void *ctx;
} reader;

static void report(const reader *rd)
{
    cof_progress progress = {.phase = COF_PHASE_READ};
    if (rd->env.progress == NULL) return;
    progress.done = cofi_input_done(rd->in);
    progress.total = cofi_input_total(rd->in);
    progress.elapsed_s = cofi_now_s() - rd->began_s;
    rd->env.progress(rd->env.ctx, &progress);
}

static cof_status make_room(reader *rd, cof_error *err)
{
    if (rd->capacity - rd->n_held >= rd->block_bytes) return COF_OK;
    size_t capacity = 2 * rd->capacity + rd->block_bytes;
    char *block = cofi_regrow(&rd->env, rd->block, rd->n_held, capacity + COFI_BLOCK_TAIL, 1);
    if (block == NULL) return cofi_no_memory(err);
    rd->block = block;
    rd->capacity = capacity;
    return COF_OK;
}

/* The character of a byte. Latin-1 has none from 0x80 to 0x9F; most files that claim to be Latin-1 are Windows-1252, which
 * has. */
static uint32_t latin1_character(unsigned char byte)
{
    static const uint16_t windows[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                         0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                         0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                         0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
    return byte >= 0x80 && byte < 0xA0 ? windows[byte - 0x80] : byte;
}

/* n bytes of Latin-1 as UTF-8. `to` may lie 2 n bytes before `from`: what is written never reaches what is not read
 * yet. Returns the number of bytes. */
static size_t latin1_to_utf8(char *to, const char *from, size_t n)
{
    size_t n_written = 0;
    for (size_t i = 0; i < n; i++) {
        char character[5];
        size_t n_bytes = cofi_utf8_put(character, latin1_character((unsigned char)from[i]));
        memcpy(to + n_written, character, n_bytes);
        n_written += n_bytes;
    }
    return n_written;
}

/* One read, appended to the bytes in the block. */
static cof_status read_more(reader *rd, cof_error *err)
{
    size_t got, n = rd->latin1 ? rd->block_bytes / LATIN1_ROOM : rd->block_bytes;
    if (cofi_should_stop(&rd->env))
        return cofi_fail(err, COF_ERR_STOPPED, "stopped reading %s", cofi_input_name(rd->in));
    cof_status status = make_room(rd, err);
    if (status != COF_OK) return status;
    char *to = rd->block + rd->n_held, *from = to + rd->block_bytes - n;
    COFI_TRY(cofi_input_read(rd->in, from, n, &got, err));
    rd->n_held += rd->latin1 ? latin1_to_utf8(to, from, got) : got;
    rd->ended = got == 0;
    memset(rd->block + rd->n_held, 0, COFI_BLOCK_TAIL);
    report(rd);
    return COF_OK;
}

/* A byte order mark tells the encoding. */
static cof_status check_mark(reader *rd, cof_error *err)
{
    static const struct {
        const char *bytes;
        size_t n_bytes;
        const char *encoding;
    } foreign[] = {{"\xFF\xFE\0\0", 4, "UTF-32"},
                   {"\0\0\xFE\xFF", 4, "UTF-32"},
                   {"\xFF\xFE", 2, "UTF-16"},
                   {"\xFE\xFF", 2, "UTF-16"}};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (rd->n_held >= foreign[i].n_bytes && memcmp(rd->block, foreign[i].bytes, foreign[i].n_bytes) == 0)
            return cofi_fail(
                err, COF_ERR_DATA,
                "%s is %s text, not UTF-8; convert it with `iconv -f %s -t UTF-8 old.csv > new.csv`",
                cofi_input_name(rd->in), foreign[i].encoding, foreign[i].encoding);
    if (rd->n_held >= 3 && memcmp(rd->block, "\xEF\xBB\xBF", 3) == 0) rd->n_mark = 3;
    return COF_OK;
}

static cof_status read_mark(reader *rd, cof_error *err)
{
    const size_t longest = 4;
    cof_status status = COF_OK;
    while (status == COF_OK && !rd->ended && rd->n_held < longest) status = read_more(rd, err);
    return status == COF_OK ? check_mark(rd, err) : status;
}

/* Reads until the first line has ended. A line of 1 MiB has shown its delimiter; always looking at that
 * much makes the result independent of the block size. */
static cof_status guess_delimiter(reader *rd, char *delimiter, cof_error *err)
{
    const size_t most = (size_t)1 << 20;
    cofi_guess guess = {0};
    for (size_t fed = rd->n_mark;;) {
        size_t known = rd->n_held < most ? rd->n_held : most;
        if (cofi_guess_feed(&guess, rd->block + fed, known - fed) || rd->ended || known == most) break;
        fed = known;
        COFI_TRY(read_more(rd, err));
    }
    *delimiter = cofi_guess_delimiter(&guess);
    return COF_OK;
}

static cof_status feed_all(reader *rd, cofi_parser *ps, cof_error *err)
{
    cof_status status = cofi_parser_feed(ps, rd->block + rd->n_mark, rd->block + rd->n_held, err);
    while (status == COF_OK && !rd->ended) {
        rd->n_held = 0;
        status = read_more(rd, err);
        if (status == COF_OK) status = cofi_parser_feed(ps, rd->block, rd->block + rd->n_held, err);
    }
    return status;
}

static cof_status read_table(reader *rd, cofi_dialect *dialect, cof_table **out, cof_error *err)
{
    cofi_parser parser;
    cof_status status = read_mark(rd, err);
    if (status == COF_OK && dialect->delimiter == 0) status = guess_delimiter(rd, &dialect->delimiter, err);
    if (status != COF_OK) return status;
    cofi_parser_init(&parser, &rd->env, cofi_input_name(rd->in), dialect);
    parser.visit = rd->visit;
    parser.ctx = rd->ctx;
    status = feed_all(rd, &parser, err);
    if (status == COF_OK) status = cofi_parser_finish(&parser, out, err);
    cofi_parser_free(&parser);
    return status;
}

static cof_status check_dialect(const cofi_dialect *dialect, cof_error *err)
{
    char delimiter = dialect->delimiter;
    if (delimiter == '"' || delimiter == '\n' || delimiter == '\r' || (unsigned char)delimiter > 127)
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "the delimiter must be one ASCII character, and not a quote or a line end");
    if (dialect->charset < COF_CHARSET_UTF8 || dialect->charset > COF_CHARSET_LATIN1)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no charset %d", dialect->charset);
    for (size_t i = 0; i < dialect->n_na; i++)
        if (dialect->na[i] == NULL || !cofi_utf8_valid(dialect->na[i], strlen(dialect->na[i])))
            return cofi_fail(err, COF_ERR_ARGUMENT, "text %zu of those that mean \"missing\" is not UTF-8",
                             i + 1);
    return COF_OK;
}

static cofi_dialect choose_dialect(const cof_read_options *options, const char *name)
{
    static const char *const usual_na[] = {"", "?", "NA"};
    cof_read_options own;
    COFI_COPY_OPTIONS(&own, options);
    cofi_dialect dialect = {
        .delimiter = own.delimiter, .no_header = own.no_header != 0, .charset = own.charset};
    dialect.na = own.na != NULL ? own.na : usual_na;
    dialect.n_na = own.na != NULL ? own.n_na : sizeof usual_na / sizeof usual_na[0];
    if (dialect.delimiter == 0) dialect.delimiter = cofi_delimiter_of_name(name);
    return dialect;
}

static uint32_t n_threads(const cof_read_options *options)
{
    cof_read_options own;
    COFI_COPY_OPTIONS(&own, options);
    return own.threads;
}

static cof_status read_source(reader *rd, const cofi_source *source, cofi_dialect *dialect, cof_table **out,
                              cof_error *err)
{
    rd->began_s = cofi_now_s();
    rd->latin1 = dialect->charset == COF_CHARSET_LATIN1;
    rd->block_bytes = source->block_bytes > 0 ? source->block_bytes : COFI_BLOCK_BYTES;
    if (rd->latin1) rd->block_bytes *= LATIN1_ROOM;
    cof_status status = cofi_input_open(&rd->env, source, &rd->in, err);
    if (status == COF_OK) status = read_table(rd, dialect, out, err);
    if (status == COF_OK && out != NULL && cofi_table_recognise(*out, err) != COF_OK) {
        cof_table_free(*out);
        *out = NULL;
        status = COF_ERR_MEMORY;
    }
    cofi_release(&rd->env, rd->block);
    cofi_input_close(rd->in);
    return status;
}

cof_status cofi_read_csv(const cof_env *env, const cofi_source *source, const cof_read_options *options,
                         cof_table **out, cof_error *err)
{
    cofi_dialect dialect = choose_dialect(options, source->name);
    reader rd = {.env = cofi_env_resolve(env)};
    cof_table *table;
    COFI_TRY(check_dialect(&dialect, err));
    COFI_TRY(cofi_encoded_read(&rd.env, source, options, &table, err));
    if (table == NULL && dialect.charset == COF_CHARSET_UTF8)
        table = cofi_scan_csv(&rd.env, source, &dialect, n_threads(options));
    if (table == NULL) return read_source(&rd, source, &dialect, out, err);
    *out = table;
    return COF_OK;
}

/* Gives an encoded table in pieces: views, whose columns begin at a later row. */
static cof_status give_views(const cof_table *whole, cof_piece visit, void *ctx, cof_error *err)
{
    cof_status status = COF_OK;
    for (size_t first = 0; first < whole->n_rows && status == COF_OK; first += COFI_PIECE_ROWS) {
        size_t left = whole->n_rows - first;
        cof_table view;
        COFI_TRY(cofi_table_view(whole, first, left < COFI_PIECE_ROWS ? left : COFI_PIECE_ROWS, &view, err));
        for (size_t c = 0; c < whole->n_columns; c++) {
            cofi_column *column = &view.column[c];
            column->n_missing = 0;
            for (size_t i = 0; whole->column[c].n_missing > 0 && i < view.n_rows; i++)
                column->n_missing += cofi_column_code(column, i) == column->n_values;
        }
        status = cofi_should_stop(&whole->env) ? cofi_fail(err, COF_ERR_STOPPED, "stopped reading the table")
                                               : visit(ctx, &view, first, err);
        cofi_table_view_close(&view);
    }
    return status;
}

cof_status cof_table_read_pieces(const cof_env *env, const char *path, const cof_read_options *options,
                                 cof_piece visit, void *ctx, cof_error *err)
{
    if (path == NULL || visit == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "cof_table_read_pieces needs a path and a function");
    cofi_source source = {.name = path};
    cofi_dialect dialect = choose_dialect(options, path);
    reader rd = {.env = cofi_env_resolve(env), .visit = visit, .ctx = ctx};
    cof_table *table;
    COFI_TRY(check_dialect(&dialect, err));
    COFI_TRY(cofi_encoded_read(&rd.env, &source, options, &table, err));
    if (table == NULL) return read_source(&rd, &source, &dialect, NULL, err);
    cof_status status = give_views(table, visit, ctx, err);
    cof_table_free(table);
    return status;
}

cof_status cof_table_read(const cof_env *env, const char *path, const cof_read_options *options,
                          cof_table **out, cof_error *err)
{
    if (path == NULL || out == NULL)
        return cofi_fail(err, COF_ERR_ARGUMENT, "cof_table_read needs a path and a place for the table");
    return cofi_read_csv(env, &(cofi_source){.name = path}, options, out, err);
}

cof_status cof_table_read_memory(const cof_env *env, const char *name, const void *bytes, size_t n_bytes,
                                 const cof_read_options *options, cof_table **out, cof_error *err)
{
    if (name == NULL || out == NULL || (bytes == NULL && n_bytes > 0))
        return cofi_fail(err, COF_ERR_ARGUMENT,
                         "cof_table_read_memory needs a name, bytes and a place for the table");
    cofi_source source = {.name = name, .bytes = bytes != NULL ? bytes : "", .n_bytes = n_bytes};
    return cofi_read_csv(env, &source, options, out, err);
}
