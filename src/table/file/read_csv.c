/* Reads a table from a file or from memory. The text comes in stretches, each of which becomes ids of its parser's
 * dictionaries; in the end the dictionaries of all parsers are merged and the ids become codes, column by column.
 *
 * A source that can be read at any place is read by several threads. A stretch then begins after the first newline at its
 * place, which is a guess, because that newline may lie within quotes: where the stretch before ended elsewhere, the stretch
 * is parsed again from there. So the table and what is said about a bad one never depend on the stretches. */
#include "read_csv.h"

#include "../../core/team.h"
#include "../../core/utf8.h"
#include "../recognise.h"
#include "dialect.h"
#include "encoded.h"
#include "parse_csv.h"

#include <assert.h>

enum {
    LATIN1_ROOM = 3,   /* bytes of UTF-8 that a byte of Latin-1 may need */
    STRETCH = 1 << 20, /* least bytes of a stretch; smaller sources are read in order: threads cost more */
    COLUMN_BYTES = 64, /* and at least so many for each column */
    WAVE = 256,        /* stretches that are parsed before errors in them are reported */
    MOST_SHARED = 1 << 14, /* columns; with more, a dictionary for each thread takes too much memory */
    PIECE_CELLS = 1 << 21  /* most cells of a piece, and of a stretch that is read in order */
};

typedef struct text { /* a part of the source */
    char *at;
    size_t room;
    size_t begin, end; /* of the bytes that are not parsed yet */
    size_t offset;     /* place of at[0] in a source that is not read in order */
    bool ended;        /* the source ends with it */
} text;

typedef struct reading_thread { /* the state of one thread */
    cofi_parser parser;
    text text;
} reading_thread;

typedef struct stretch { /* the ids of some consecutive rows */
    size_t n_rows;
    void **ids; /* per column; NULL before and after use */
    uint8_t *width;
    uint32_t thread;   /* whose dictionaries they belong to */
    cof_status status; /* of parsing */
    size_t begin, end; /* of its lines in the source; SIZE_MAX: no line begins in it */
    uint64_t n_lines;
} stretch;

typedef struct reader {
    cof_env env;
    double began_s;
    cofi_input *in;
    bool latin1;
    size_t block_bytes;
    cofi_csv csv;
    cofi_team *team; /* NULL: the source is read in order */
    reading_thread *thread;
    uint32_t n_threads;
    stretch *stretch;
    size_t n_stretches, stretch_room;
    size_t n_rows;                     /* of all stretches, and of pieces that were given */
    size_t from, stretch_bytes, first; /* place of the first stretch; bytes of a stretch; first of the wave */
    bool guessed_wrong;                /* the dictionaries may have values that no row has */
    atomic_bool stopped, failed;
    cof_table *table; /* that is being made */
    cof_piece visit;  /* who gets the rows in pieces; NULL: they become one table */
    void *ctx;
    size_t n_given;
} reader;

static void report(const reader *rd, uint64_t done)
{
    cof_progress progress = {.phase = COF_PHASE_READ, .done = done, .total = cofi_input_total(rd->in)};
    progress.elapsed_s = cofi_now_s() - rd->began_s;
    if (rd->env.progress != NULL) rd->env.progress(rd->env.ctx, &progress);
}

static cof_status was_stopped(const reader *rd, cof_error *err)
{
    return cofi_fail(err, COF_ERR_STOPPED, "stopped reading %s", cofi_input_name(rd->in));
}

/* ---- Text --------------------------------------------------------------------------------------- */

/* Makes room for n more bytes at the end, by dropping what is parsed and growing. */
static cof_status make_room(const reader *rd, text *t, size_t n, cof_error *err)
{
    if (t->begin > 0) memmove(t->at, t->at + t->begin, t->end - t->begin);
    t->offset += t->begin;
    t->end -= t->begin;
    t->begin = 0;
    if (t->room >= t->end + n + COFI_TEXT_TAIL) return COF_OK;
    size_t room = 2 * t->end + n + COFI_TEXT_TAIL;
    char *at = cofi_regrow(&rd->env, t->at, t->end, room, 1);
    if (at == NULL) return cofi_no_memory(err);
    t->at = at;
    t->room = room;
    return COF_OK;
}

static void end_text(text *t, size_t n_more)
{
    t->end += n_more;
    memset(t->at + t->end, 0, COFI_TEXT_TAIL);
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

/* Reads the next block, and further ones until there are at least n more bytes. */
static cof_status read_blocks(reader *rd, text *t, size_t n, cof_error *err)
{
    size_t n_asked = rd->latin1 ? rd->block_bytes / LATIN1_ROOM : rd->block_bytes, got;
    COFI_TRY(make_room(rd, t, n + rd->block_bytes, err));
    for (size_t wanted = t->end + n; t->end <= wanted && !t->ended;) {
        char *to = t->at + t->end, *from = to + rd->block_bytes - n_asked;
        if (cofi_should_stop(&rd->env)) return was_stopped(rd, err);
        COFI_TRY(cofi_input_read(rd->in, from, n_asked, &got, err));
        end_text(t, rd->latin1 ? latin1_to_utf8(to, from, got) : got);
        t->ended = got == 0;
        report(rd, cofi_input_done(rd->in));
    }
    return COF_OK;
}

/* Reads n more bytes of a source that is not read in order, or those that there are. */
static cof_status read_bytes(const reader *rd, text *t, size_t n, cof_error *err)
{
    COFI_TRY(make_room(rd, t, n, err));
    size_t at = t->offset + t->end, left = cofi_input_size(rd->in) - at;
    if (n > left) n = left;
    COFI_TRY(cofi_input_read_at(rd->in, at, t->at + t->end, n, err));
    end_text(t, n);
    t->ended = n == left;
    return COF_OK;
}

/* A byte order mark tells the encoding. */
static cof_status check_mark(const reader *rd, text *t, cof_error *err)
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
        if (t->end >= foreign[i].n_bytes && memcmp(t->at, foreign[i].bytes, foreign[i].n_bytes) == 0)
            return cofi_fail(
                err, COF_ERR_DATA,
                "%s is %s text, not UTF-8; convert it with `iconv -f %s -t UTF-8 old.csv > new.csv`",
                cofi_input_name(rd->in), foreign[i].encoding, foreign[i].encoding);
    if (t->end >= 3 && memcmp(t->at, "\xEF\xBB\xBF", 3) == 0) t->begin = 3;
    return COF_OK;
}

/* Reads until the first line has ended. A line of 1 MiB has shown its delimiter; always looking at that
 * much makes the result independent of the block size. */
static cof_status guess_delimiter(reader *rd, text *t, char *delimiter, cof_error *err)
{
    const size_t most = (size_t)1 << 20;
    cofi_guess guess = {0};
    for (size_t fed = 0;;) {
        size_t n = t->end - t->begin, known = n < most ? n : most;
        if (cofi_guess_feed(&guess, t->at + t->begin + fed, known - fed) || t->ended || known == most) break;
        fed = known;
        COFI_TRY(read_blocks(rd, t, 0, err));
    }
    *delimiter = cofi_guess_delimiter(&guess);
    return COF_OK;
}

/* Shows the parser the bytes that are not parsed yet. */
static cofi_parser *show_text(reading_thread *thread)
{
    cofi_parser *ps = &thread->parser;
    const text *t = &thread->text;
    ps->at = t->at + t->begin;
    ps->end = t->at + t->end;
    ps->last = t->ended;
    return ps;
}

/* Finds the encoding from the first bytes, and delimiter and columns from the first line. */
static cof_status read_head(reader *rd, cofi_dialect *dialect, cof_error *err)
{
    const size_t longest_mark = 4;
    cofi_parser *ps = &rd->thread[0].parser;
    text *t = &rd->thread[0].text;
    while (!t->ended && t->end < longest_mark) COFI_TRY(read_blocks(rd, t, 0, err));
    COFI_TRY(check_mark(rd, t, err));
    if (dialect->delimiter == 0) COFI_TRY(guess_delimiter(rd, t, &dialect->delimiter, err));
    cofi_csv_init(&rd->csv, &rd->env, cofi_input_name(rd->in), dialect);
    for (ps->line = 1;;) {
        COFI_TRY(cofi_csv_head(show_text(&rd->thread[0]), err));
        if (rd->csv.n_columns > 0 || t->ended) break;
        COFI_TRY(read_blocks(rd, t, t->end - t->begin, err));
    }
    t->begin = (size_t)(ps->at - t->at);
    if (rd->csv.n_columns == 0)
        return cofi_fail(err, COF_ERR_DATA, "%s is empty; a table needs a header line and rows",
                         rd->csv.name);
    return COF_OK;
}

/* ---- Columns ------------------------------------------------------------------------------------ */

/* Merges the values of all parsers into the dictionary of the first one. id[t] becomes the merged id of each id of worker t;
 * rank has an entry per merged id, not 0 if some row may have it. */
static cof_status merge_values(const reader *rd, size_t c, uint32_t **id, uint32_t *rank)
{
    cofi_encoder *all = &rd->thread[0].parser.encoder[c];
    for (uint32_t v = 0; v < all->n_values; v++) id[0][v] = v;
    for (uint32_t t = 1; t < rd->n_threads; t++) {
        const cofi_encoder *e = &rd->thread[t].parser.encoder[c];
        for (uint32_t v = 0; v < e->n_values; v++) {
            const char *here = e->text + e->offset[v];
            COFI_TRY(cofi_encoder_intern(all, here, strlen(here), &id[t][v]));
        }
    }
    for (uint32_t v = 0; v < all->n_values; v++) rank[v] = !rd->guessed_wrong;
    for (size_t at = 0; at < rd->n_stretches && rd->guessed_wrong; at++) {
        const stretch *st = &rd->stretch[at];
        for (size_t i = 0; i < st->n_rows; i++)
            rank[id[st->thread][cofi_code_at(st->ids[c], st->width[c], i)]] = 1;
    }
    return COF_OK;
}

/* Texts that mean "missing" were values so far: sets their ranks to 0, and keeps the text of the first such cell. */
static cof_status drop_missing(const reader *rd, size_t c, uint32_t *const *id, uint32_t *rank)
{
    cofi_encoder *all = &rd->thread[0].parser.encoder[c];
    bool any = false, found = false;
    for (uint32_t v = 0; v < all->n_values; v++) {
        if (!cofi_csv_is_missing(&rd->csv, all->text + all->offset[v])) continue;
        rank[v] = 0;
        any = true;
    }
    for (size_t at = 0; at < rd->n_stretches && any && !found; at++) {
        const stretch *st = &rd->stretch[at];
        for (size_t i = 0; i < st->n_rows && !found; i++) {
            uint32_t v = id[st->thread][cofi_code_at(st->ids[c], st->width[c], i)];
            found = rank[v] == 0;
            if (!found) continue;
            const char *shown = all->text + all->offset[v];
            all->missing_text = cofi_copy_text(&rd->env, shown, strlen(shown));
            if (all->missing_text == NULL) return COF_ERR_MEMORY;
        }
    }
    return COF_OK;
}

/* Writes the codes of one stretch from its first row on; code[id] is that of its worker's ids. */
static void put_codes(const stretch *st, size_t c, const uint32_t *code, size_t n_ids, cofi_column *to,
                      size_t row)
{
    const uint8_t *ids = st->ids[c];
    uint64_t n_missing = 0;
    if (st->width[c] == 1 && to->width == 1) { /* nearly all columns */
        uint8_t short_code[256] = {0}, *codes = (uint8_t *)to->codes + row;
        for (size_t v = 0; v < n_ids && v < 256; v++) short_code[v] = (uint8_t)code[v];
        for (size_t i = 0; i < st->n_rows; i++) codes[i] = short_code[ids[i]];
        for (size_t i = 0; i < st->n_rows; i++) n_missing += codes[i] == to->n_values;
    } else {
        for (size_t i = 0; i < st->n_rows; i++) {
            uint32_t here = code[cofi_code_at(ids, st->width[c], i)];
            cofi_code_set(to->codes, to->width, row + i, here);
            n_missing += here == to->n_values;
        }
    }
    to->n_missing += n_missing;
}

static cof_status make_column(reader *rd, size_t c)
{
    cofi_column *column = &rd->table->column[c];
    cofi_blocks blocks = {.env = rd->env};
    size_t n_ids = 0, row = 0;
    for (uint32_t t = 0; t < rd->n_threads; t++) n_ids += rd->thread[t].parser.encoder[c].n_values;
    uint32_t *rank = cofi_blocks_add(&blocks, n_ids, sizeof *rank);
    uint32_t **id = cofi_blocks_add(&blocks, rd->n_threads, sizeof *id);
    uint32_t *ids = cofi_blocks_add(&blocks, n_ids, sizeof *ids);
    const char *name = rd->csv.names.text + rd->csv.names.offset[c];
    column->name = cofi_copy_text(&rd->env, name, strlen(name));
    cof_status status = column->name == NULL ? COF_ERR_MEMORY : cofi_blocks_status(&blocks, NULL);
    for (uint32_t t = 0; t < rd->n_threads && status == COF_OK; t++) {
        id[t] = ids;
        ids += rd->thread[t].parser.encoder[c].n_values;
    }
    if (status == COF_OK) status = merge_values(rd, c, id, rank);
    if (status == COF_OK) status = drop_missing(rd, c, id, rank);
    if (status == COF_OK) status = cofi_encoder_finish_some(&rd->thread[0].parser.encoder[c], rank, column);
    if (status == COF_OK) {
        column->width = cofi_code_width(column->n_values);
        column->codes = cofi_alloc_column(&rd->env, c, rd->table->n_rows, column->width, &column->block);
        if (column->codes == NULL) status = COF_ERR_MEMORY;
        for (uint32_t *v = id[0]; v < id[0] + n_ids; v++)
            *v = rank[*v] == UINT32_MAX ? column->n_values : rank[*v];
    }
    for (size_t at = 0; at < rd->n_stretches && status == COF_OK; at++) {
        stretch *st = &rd->stretch[at];
        if (st->n_rows == 0) continue;
        put_codes(st, c, id[st->thread], rd->thread[st->thread].parser.encoder[c].n_values, column, row);
        row += st->n_rows;
        cofi_release(&rd->env, st->ids[c]); /* now, so that the table is not in memory twice */
        st->ids[c] = NULL;
    }
    assert(status != COF_OK || row == rd->table->n_rows);
    for (uint32_t t = 0; t < rd->n_threads && status == COF_OK; t++)
        cofi_parser_forget(&rd->thread[t].parser, c);
    cofi_blocks_release(&blocks);
    return status == COF_OK && rd->visit == NULL ? cofi_column_recognise(&rd->env, column) : status;
}

static void column_task(void *ctx, uint32_t worker, size_t c)
{
    reader *rd = ctx;
    (void)worker;
    if (make_column(rd, c) != COF_OK) atomic_store_explicit(&rd->failed, true, memory_order_relaxed);
}

static void free_ids(const reader *rd, stretch *st)
{
    for (size_t c = 0; st->ids != NULL && c < rd->csv.n_columns; c++) cofi_release(&rd->env, st->ids[c]);
    COFI_RELEASE_ALL(&rd->env, st->ids, st->width);
    st->ids = NULL;
    st->width = NULL;
    st->n_rows = 0;
}

/* Makes a table of the rows of all stretches, which are then gone. */
static cof_status make_table(reader *rd, cof_table **out, cof_error *err)
{
    COFI_TRY(cofi_table_new(&rd->env, rd->csv.n_columns, &rd->table, err));
    for (size_t at = 0; at < rd->n_stretches; at++) rd->table->n_rows += rd->stretch[at].n_rows;
    if (rd->team != NULL)
        cofi_team_run(rd->team, column_task, rd, rd->csv.n_columns);
    else
        for (size_t c = 0; c < rd->csv.n_columns && !rd->failed; c++) column_task(rd, 0, c);
    for (size_t at = 0; at < rd->n_stretches; at++) free_ids(rd, &rd->stretch[at]);
    rd->n_stretches = 0;
    *out = rd->table;
    rd->table = NULL;
    if (!rd->failed) return COF_OK;
    cof_table_free(*out);
    *out = NULL;
    return cofi_no_memory(err);
}

/* ---- Rows --------------------------------------------------------------------------------------- */

/* Moves the parser's rows to a stretch. */
static cof_status keep_rows(reader *rd, uint32_t worker, stretch *st)
{
    cofi_parser *ps = &rd->thread[worker].parser;
    size_t n = rd->csv.n_columns;
    st->thread = worker;
    st->n_rows = ps->n_rows;
    ps->n_rows = 0;
    st->ids = cofi_alloc_zero(&rd->env, n, sizeof *st->ids);
    st->width = cofi_alloc(&rd->env, n, 1);
    if (st->ids == NULL || st->width == NULL) return COF_ERR_MEMORY;
    for (size_t c = 0; c < n; c++) {
        st->width[c] = ps->width[c];
        st->ids[c] = cofi_alloc(&rd->env, st->n_rows, st->width[c]);
        if (st->ids[c] == NULL) return COF_ERR_MEMORY;
        memcpy(st->ids[c], cofi_parser_ids(ps, c), st->n_rows * st->width[c]);
    }
    return COF_OK;
}

static cof_status count_rows(reader *rd, size_t n, cof_error *err)
{
    rd->n_rows += n;
    return rd->n_rows > COFI_MOST_ROWS ? cofi_too_many_rows(err) : COF_OK;
}

/* Ends a stretch of a source that is read in order, and gives its rows away if they are a piece. */
static cof_status end_stretch(reader *rd, cof_error *err)
{
    cof_table *piece;
    if (rd->n_stretches == rd->stretch_room) {
        size_t room = 2 * rd->stretch_room + 4;
        stretch *grown = cofi_regrow(&rd->env, rd->stretch, rd->n_stretches, room, sizeof *grown);
        if (grown == NULL) return cofi_no_memory(err);
        rd->stretch = grown;
        rd->stretch_room = room;
    }
    stretch *st = &rd->stretch[rd->n_stretches++];
    *st = (stretch){0};
    if (keep_rows(rd, 0, st) != COF_OK) return cofi_no_memory(err);
    COFI_TRY(count_rows(rd, st->n_rows, err));
    if (rd->visit == NULL) return COF_OK;
    COFI_TRY(make_table(rd, &piece, err));
    cof_status status = rd->visit(rd->ctx, piece, rd->n_given, err);
    cof_table_free(piece);
    rd->n_given = rd->n_rows;
    return status;
}

static cof_status read_in_order(reader *rd, cof_error *err)
{
    text *t = &rd->thread[0].text;
    cofi_parser *ps = &rd->thread[0].parser;
    size_t most = PIECE_CELLS / rd->csv.n_columns, size = cofi_input_size(rd->in);
    if (rd->visit != NULL && most > COFI_PIECE_ROWS) most = COFI_PIECE_ROWS;
    if (rd->visit == NULL && size > 0 && most > size / rd->csv.n_columns + 2)
        most = size / rd->csv.n_columns + 2;
    COFI_TRY(cofi_parser_open(ps, most, err));
    for (;;) {
        show_text(&rd->thread[0]);
        COFI_TRY(cofi_parser_run(ps, ps->end, err));
        t->begin = (size_t)(ps->at - t->at);
        if (ps->n_rows == most)
            COFI_TRY(end_stretch(rd, err));
        else if (t->ended)
            break;
        else
            COFI_TRY(read_blocks(rd, t, t->end - t->begin, err));
    }
    return ps->n_rows > 0 ? end_stretch(rd, err) : COF_OK;
}

/* ---- Stretches ---------------------------------------------------------------------------------- */

static size_t stretch_end(const reader *rd, size_t at)
{
    size_t size = cofi_input_size(rd->in), from = rd->from + at * rd->stretch_bytes;
    return size - from > rd->stretch_bytes ? from + rd->stretch_bytes : size;
}

/* Parses the lines that begin at byte `from` or later and before byte `to`. With `guess`, a line may begin before `from`, and
 * the first newline is taken for the end of a line. The parser's `line` is that of the first line. */
static cof_status read_stretch(reader *rd, uint32_t worker, stretch *st, size_t from, size_t to, bool guess,
                               cof_error *err)
{
    text *t = &rd->thread[worker].text;
    cofi_parser *ps = &rd->thread[worker].parser;
    uint64_t line = ps->line;
    t->begin = t->end = 0;
    t->offset = from - guess;
    st->begin = st->end = guess ? SIZE_MAX : from;
    COFI_TRY(read_bytes(rd, t, to - t->offset + rd->stretch_bytes / 4, err));
    if (guess) {
        const char *newline = memchr(t->at, '\n', to - from);
        if (newline == NULL) return COF_OK;
        t->begin = (size_t)(newline + 1 - t->at);
        st->begin = t->offset + t->begin;
    }
    for (ps->n_rows = 0;;) {
        show_text(&rd->thread[worker]);
        COFI_TRY(cofi_parser_run(ps, t->at + (to - t->offset), err));
        assert(ps->n_rows < ps->most_rows); /* a line has at least as many bytes as there are columns */
        t->begin = (size_t)(ps->at - t->at);
        if (t->ended || t->offset + t->begin >= to) break;
        COFI_TRY(read_bytes(rd, t, t->end - t->begin, err));
    }
    st->end = t->offset + t->begin;
    st->n_lines = ps->line - line;
    return keep_rows(rd, worker, st) == COF_OK ? COF_OK : cofi_no_memory(err);
}

static void stretch_task(void *ctx, uint32_t worker, size_t task)
{
    reader *rd = ctx;
    size_t at = rd->first + task;
    stretch *st = &rd->stretch[at];
    /* only the caller's thread may ask whether to stop */
    if (worker == 0 && cofi_should_stop(&rd->env))
        atomic_store_explicit(&rd->stopped, true, memory_order_relaxed);
    if (atomic_load_explicit(&rd->stopped, memory_order_relaxed)) return;
    rd->thread[worker].parser.line = 1;
    st->status =
        read_stretch(rd, worker, st, rd->from + at * rd->stretch_bytes, stretch_end(rd, at), at > 0, NULL);
    if (worker == 0) report(rd, stretch_end(rd, at));
}

/* Reads a source that can be read at any place. What is wrong in a stretch is only known where it begins where the one before
 * ended, and which line that is; so such a stretch is parsed once more to say it. */
static cof_status read_stretches(reader *rd, cof_error *err)
{
    size_t size = cofi_input_size(rd->in), next = rd->from,
           n = (size - next + rd->stretch_bytes - 1) / rd->stretch_bytes;
    uint64_t line = rd->thread[0].parser.line;
    rd->stretch = cofi_alloc_zero(&rd->env, n, sizeof *rd->stretch);
    if (rd->stretch == NULL) return cofi_no_memory(err);
    rd->n_stretches = n;
    for (uint32_t t = 0; t < rd->n_threads; t++)
        COFI_TRY(cofi_parser_open(&rd->thread[t].parser, rd->stretch_bytes / rd->csv.n_columns + 2, err));
    for (size_t at = 0; at < n; at++) {
        stretch *st = &rd->stretch[at];
        if (at % WAVE == 0) {
            rd->first = at;
            cofi_team_run(rd->team, stretch_task, rd, n - at < WAVE ? n - at : WAVE);
        }
        if (rd->stopped) return was_stopped(rd, err);
        if (st->status == COF_ERR_MEMORY) return cofi_no_memory(err);
        size_t to = stretch_end(rd, at);
        bool covered = next >= to; /* by a line that began before */
        if (covered ? st->begin != SIZE_MAX : st->begin != next || st->status != COF_OK) {
            rd->guessed_wrong = true;
            free_ids(rd, st);
            rd->thread[0].parser.line = line;
            if (!covered) COFI_TRY(read_stretch(rd, 0, st, next, to, false, err));
        }
        if (covered) continue;
        next = st->end;
        line += st->n_lines;
        COFI_TRY(count_rows(rd, st->n_rows, err));
    }
    assert(next == size);
    return COF_OK;
}

/* ---- The table ---------------------------------------------------------------------------------- */

static cof_status open_team(reader *rd, uint32_t threads, cof_error *err)
{
    reading_thread one = rd->thread[0];
    COFI_TRY(cofi_team_open(&rd->env, rd->csv.n_columns > MOST_SHARED ? 1 : threads, &rd->team, err));
    reading_thread *all = cofi_alloc_zero(&rd->env, cofi_team_size(rd->team), sizeof *all);
    if (all == NULL) return cofi_no_memory(err);
    cofi_release(&rd->env, rd->thread);
    rd->thread = all;
    rd->n_threads = cofi_team_size(rd->team);
    all[0] = one;
    for (uint32_t t = 1; t < rd->n_threads; t++) all[t].parser.csv = &rd->csv;
    return COF_OK;
}

static cof_status read_table(reader *rd, const cofi_source *source, cofi_dialect *dialect, uint32_t threads,
                             cof_table **out, cof_error *err)
{
    rd->latin1 = dialect->charset == COF_CHARSET_LATIN1;
    rd->block_bytes = source->block_bytes > 0 ? source->block_bytes : COFI_BLOCK_BYTES;
    if (rd->latin1) rd->block_bytes *= LATIN1_ROOM;
    rd->n_threads = 1;
    rd->thread = cofi_alloc_zero(&rd->env, 1, sizeof *rd->thread);
    if (rd->thread == NULL) return cofi_no_memory(err);
    rd->thread[0].parser.csv = &rd->csv;
    cofi_csv_init(&rd->csv, &rd->env, source->name, dialect);
    text *t = &rd->thread[0].text;
    COFI_TRY(cofi_input_open(&rd->env, source, &rd->in, err));
    COFI_TRY(read_head(rd, dialect, err));
    size_t size = cofi_input_size(rd->in), least = COLUMN_BYTES * rd->csv.n_columns;
    rd->stretch_bytes = source->block_bytes > 0 ? source->block_bytes : least > STRETCH ? least : STRETCH;
    rd->from = t->offset + t->begin;
    if (rd->visit == NULL && !rd->latin1 && size > rd->from && size - rd->from >= rd->stretch_bytes) {
        COFI_TRY(open_team(rd, threads, err));
        COFI_TRY(read_stretches(rd, err));
    } else {
        COFI_TRY(read_in_order(rd, err));
    }
    if (rd->n_rows == 0)
        return cofi_fail(err, COF_ERR_DATA, "%s has a header but no rows; there is nothing to cluster",
                         rd->csv.name);
    return rd->visit == NULL ? make_table(rd, out, err) : COF_OK;
}

static cof_status read_source(reader *rd, const cofi_source *source, cofi_dialect *dialect, uint32_t threads,
                              cof_table **out, cof_error *err)
{
    rd->began_s = cofi_now_s();
    cof_status status = read_table(rd, source, dialect, threads, out, err);
    for (size_t at = 0; at < rd->n_stretches; at++) free_ids(rd, &rd->stretch[at]);
    for (uint32_t t = 0; rd->thread != NULL && t < rd->n_threads; t++) {
        cofi_parser_free(&rd->thread[t].parser);
        cofi_release(&rd->env, rd->thread[t].text.at);
    }
    COFI_RELEASE_ALL(&rd->env, rd->stretch, rd->thread);
    cofi_csv_free(&rd->csv);
    cofi_team_close(rd->team);
    cofi_input_close(rd->in);
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

static cofi_dialect choose_dialect(const cof_read_options *options, const char *name, uint32_t *threads)
{
    static const char *const usual_na[] = {"", "?", "NA"};
    cof_read_options own;
    COFI_COPY_OPTIONS(&own, options);
    cofi_dialect dialect = {
        .delimiter = own.delimiter, .no_header = own.no_header != 0, .charset = own.charset};
    dialect.na = own.na != NULL ? own.na : usual_na;
    dialect.n_na = own.na != NULL ? own.n_na : sizeof usual_na / sizeof usual_na[0];
    if (dialect.delimiter == 0) dialect.delimiter = cofi_delimiter_of_name(name);
    *threads = own.threads;
    return dialect;
}

cof_status cofi_read_csv(const cof_env *env, const cofi_source *source, const cof_read_options *options,
                         cof_table **out, cof_error *err)
{
    uint32_t threads;
    cofi_dialect dialect = choose_dialect(options, source->name, &threads);
    reader rd = {.env = cofi_env_resolve(env)};
    cof_table *table;
    COFI_TRY(check_dialect(&dialect, err));
    COFI_TRY(cofi_encoded_read(&rd.env, source, options, &table, err));
    if (table == NULL) return read_source(&rd, source, &dialect, threads, out, err);
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
    uint32_t threads;
    cofi_dialect dialect = choose_dialect(options, path, &threads);
    reader rd = {.env = cofi_env_resolve(env), .visit = visit, .ctx = ctx};
    cof_table *table;
    COFI_TRY(check_dialect(&dialect, err));
    COFI_TRY(cofi_encoded_read(&rd.env, &source, options, &table, err));
    if (table == NULL) return read_source(&rd, &source, &dialect, threads, NULL, err);
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
