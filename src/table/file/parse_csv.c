/* RFC 4180 in two ways that agree. walk_line goes through one line byte by byte, knows every rule, and says what is wrong.
 * mark_lines finds the ends of the cells of many lines at once, 64 bytes at a time, as long as all lines have as many
 * cells as there are columns and every quote is where it belongs; it leaves other lines to walk_line.
 *
 * The cells of marked lines become ids column by column, so that one dictionary at a time is in the cache. Parsing a line
 * twice has no effect, so a line whose end is not there yet is simply parsed again when it is. */
#include "parse_csv.h"

#include "../../core/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    N_RECENT = 32,         /* per column; a power of two, see cofi_place_of */
    SHORT_BYTES = 8,       /* of a text that may be a recent one */
    MOST_RECENT = 1 << 16, /* columns; with more, they share one cache */
    N_STOPS = 1 << 13,     /* cells that are marked together: their texts and ends stay in the cache */
    NO_WORD = 1            /* cofi_word_of no text */
};

/* ---- Sentences ---------------------------------------------------------------------------------- */

typedef struct place {
    char text[320];
} place;

/* The position of the current cell, for example "zoo.csv, line 7, column 3 ("legs")". */
static place where(const cofi_parser *ps, uint64_t line)
{
    place p;
    char name[64];
    const cofi_csv *csv = ps->csv;
    size_t c = ps->column;
    snprintf(p.text, sizeof p.text, "%s, line %" PRIu64 ", column %zu", csv->name, line, c + 1);
    if (c < csv->names.n_values) {
        size_t n = strlen(p.text);
        cofi_utf8_show(name, sizeof name, csv->names.text + csv->names.offset[c]);
        snprintf(p.text + n, sizeof p.text - n, " (\"%s\")", name);
    }
    return p;
}

static cof_status nul_byte(const cofi_parser *ps, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA,
                     "%s: a NUL byte; the file is damaged, is UTF-16 text, or is not a table at all",
                     where(ps, ps->line).text);
}

static cof_status not_utf8(const cofi_parser *ps, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA,
                     "%s: the text is not valid UTF-8; read it with --charset latin1 if it is Latin-1, or "
                     "convert it, for example with `iconv -f latin1 -t utf-8 old.csv > new.csv`",
                     where(ps, ps->cell_line).text);
}

static cof_status too_long(const cofi_parser *ps, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA,
                     "%s: the cell is longer than 1 MiB; is it a quote that is never closed?",
                     where(ps, ps->cell_line).text);
}

static cof_status lone_return(const cofi_parser *ps, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA,
                     "%s, line %" PRIu64
                     ": a carriage return that no newline follows; if the lines end as on old "
                     "Macs, convert the file with `tr '\\r' '\\n' < old.csv > new.csv`",
                     ps->csv->name, ps->line);
}

typedef struct delimiter_name {
    char text[8];
} delimiter_name;

static delimiter_name name_of(char delimiter)
{
    delimiter_name name = {"a tab"};
    bool printable = delimiter >= ' ' && delimiter < 127;
    if (delimiter != '\t') snprintf(name.text, sizeof name.text, printable ? "'%c'" : "0x%02x", delimiter);
    return name;
}

static cof_status ragged(const cofi_parser *ps, cof_error *err)
{
    const cofi_csv *csv = ps->csv;
    const char *advice = ps->column > csv->n_columns ? "a cell that holds the delimiter must be quoted"
                                                     : "an empty cell still needs its delimiter";
    return cofi_fail(err, COF_ERR_DATA, "%s, line %" PRIu64 " has %zu cell%s where the %s has %zu; %s (%s)",
                     csv->name, ps->row_line, ps->column, ps->column == 1 ? "" : "s",
                     csv->dialect.no_header ? "first line" : "header", csv->n_columns, advice,
                     name_of(csv->dialect.delimiter).text);
}

static cof_status encoder_failure(const cofi_parser *ps, cof_status status, cof_error *err)
{
    if (status == COF_ERR_MEMORY) return cofi_no_memory(err);
    return cofi_fail(err, status, "%s: the column has too many distinct values; leave it out",
                     where(ps, ps->cell_line).text);
}

/* ---- Cells -------------------------------------------------------------------------------------- */

/* Stores the ids of n rows, in bytes until the dictionary needs more. */
static void store_ids(cofi_parser *ps, size_t c, const uint32_t *id, size_t n)
{
    uint8_t *bytes = cofi_parser_ids(ps, c);
    uint32_t *words = (uint32_t *)bytes;
    size_t row = ps->n_rows;
    assert(row + n <= ps->most_rows);
    if (ps->width[c] == 1 && ps->encoder[c].n_values > 256) {
        for (size_t i = row; i-- > 0;) words[i] = bytes[i];
        ps->width[c] = sizeof *words;
    }
    if (ps->width[c] == 1)
        for (size_t i = 0; i < n; i++) bytes[row + i] = (uint8_t)id[i];
    else
        memcpy(words + row, id, n * sizeof *id);
}

/* Replaces a text by its copy in which every doubled quote is one. */
static cof_status undouble(cofi_parser *ps, const char **text, size_t *n)
{
    const char *from = *text, *end = from + *n;
    if (!cofi_make_room(&ps->csv->env, &ps->scratch, &ps->scratch_bytes, *n + COFI_TEXT_TAIL, 1))
        return COF_ERR_MEMORY;
    char *to = ps->scratch;
    while (from < end) {
        from += *from == '"';
        *to++ = *from++;
    }
    *text = ps->scratch;
    *n = (size_t)(to - ps->scratch);
    return COF_OK;
}

/* ---- One line, byte by byte --------------------------------------------------------------------- */

typedef cof_status (*put_function)(cofi_parser *ps, const char *text, size_t n, cof_error *err);

static cof_status count_cell(cofi_parser *ps, const char *text, size_t n, cof_error *err)
{
    (void)text;
    (void)n;
    if (ps->column < COFI_MAX_COLUMNS) return COF_OK;
    return cofi_fail(err, COF_ERR_DATA, "%s, line %" PRIu64 " has more than %zu cells; is %s the delimiter?",
                     ps->csv->name, ps->row_line, COFI_MAX_COLUMNS, name_of(ps->csv->dialect.delimiter).text);
}

/* Names a column: by the text, or by its number if the table has no names or this one is empty, as R and pandas write for
 * row numbers. */
static cof_status put_name(cofi_parser *ps, const char *text, size_t n, cof_error *err)
{
    char made[32];
    cofi_encoder *names = &ps->csv->names;
    bool bare = ps->csv->dialect.no_header;
    uint32_t id;
    ps->cell_line = ps->row_line;
    if (!cofi_utf8_valid(text, n)) return not_utf8(ps, err);
    if (bare || n == 0) {
        n = (size_t)snprintf(made, sizeof made, bare ? "V%zu" : "column%zu", ps->column + 1);
        text = made;
    }
    cof_status status = cofi_encoder_intern(names, text, n, &id);
    if (status != COF_OK) return encoder_failure(ps, status, err);
    if (id == ps->column) return COF_OK;
    char shown[64];
    return cofi_fail(err, COF_ERR_DATA,
                     "%s, line %" PRIu64 ": columns %zu and %zu are both named \"%s\"; rename one",
                     ps->csv->name, ps->row_line, (size_t)id + 1, ps->column + 1,
                     cofi_utf8_show(shown, sizeof shown, names->text + names->offset[id]));
}

static cof_status put_cell(cofi_parser *ps, const char *text, size_t n, cof_error *err)
{
    uint32_t id;
    if (ps->column >= ps->csv->n_columns) return COF_OK; /* a surplus cell is only counted */
    if (!cofi_utf8_valid(text, n)) return not_utf8(ps, err);
    cof_status status = cofi_encoder_intern(&ps->encoder[ps->column], text, n, &id);
    if (status != COF_OK) return encoder_failure(ps, status, err);
    store_ids(ps, ps->column, &id, 1);
    return COF_OK;
}

/* Finds the text of the quoted cell at *at. *at is then the byte after the closing quote, or the end of the text if the quote
 * is not closed within it. */
static cof_status walk_quoted(cofi_parser *ps, const char **at, const char **text, size_t *n, cof_error *err)
{
    const char *p = *at + 1;
    size_t n_doubled = 0;
    for (*text = p;; p++) {
        while (!ps->csv->ends_quoted[(unsigned char)*p]) p++;
        if (*p == '\n') {
            ps->line++;
        } else if (*p == '"' && p[1] == '"') {
            n_doubled++;
            p++;
        } else {
            break;
        }
    }
    *n = (size_t)(p - *text);
    *at = p;
    if (*p == '\0' && p < ps->end) return nul_byte(ps, err);
    if (p == ps->end && *n - n_doubled > COFI_CELL_BYTES) return too_long(ps, err);
    if (p == ps->end && ps->last)
        return cofi_fail(err, COF_ERR_DATA, "%s: the quote that begins this cell is never closed",
                         where(ps, ps->cell_line).text);
    *at += p < ps->end;
    return n_doubled == 0 || undouble(ps, text, n) == COF_OK ? COF_OK : cofi_no_memory(err);
}

/* Gives the cells of the line at `at` to `put` and moves to the next line. `column` is then the number of cells, 0 for a blank
 * line. *whole is false, and nothing moves, if the line does not end within the text. */
static cof_status walk_line(cofi_parser *ps, put_function put, bool *whole, cof_error *err)
{
    const bool *ends_plain = ps->csv->ends_plain;
    const char *p = ps->at, delimiter = ps->csv->dialect.delimiter;
    char byte;
    ps->column = 0;
    ps->row_line = ps->line;
    do {
        const char *text = p;
        size_t n;
        bool quoted = *p == '"';
        ps->cell_line = ps->line;
        if (quoted) {
            COFI_TRY(walk_quoted(ps, &p, &text, &n, err));
        } else {
            while (!ends_plain[(unsigned char)*p]) p++;
            n = (size_t)(p - text);
        }
        bool ended = p == ps->end;
        byte = ended ? '\n' : *p; /* the last line may lack its newline */
        if (!ends_plain[(unsigned char)byte])
            return cofi_fail(err, COF_ERR_DATA,
                             "%s: text after the closing quote of the cell that began in line %" PRIu64
                             "; write a quote inside a quoted cell as \"\"",
                             where(ps, ps->line).text, ps->cell_line);
        if (byte == '\0') return nul_byte(ps, err);
        if (n > COFI_CELL_BYTES) return too_long(ps, err);
        *whole = !ended || ps->last;
        if (*whole && (n > 0 || quoted || ps->column > 0 || byte == delimiter)) {
            COFI_TRY(put(ps, text, n, err));
            ps->column++;
        }
        if (*whole && byte == '\r') {
            *whole = ++p < ps->end || ps->last;
            if (*whole && (p == ps->end || *p != '\n')) return lone_return(ps, err);
        }
        if (!*whole) {
            ps->line = ps->row_line;
            return COF_OK;
        }
        p += !ended;
    } while (byte == delimiter);
    ps->line++;
    ps->at = p;
    return COF_OK;
}

/* A blank line is a row of a table of one column. */
static cof_status walk_row(cofi_parser *ps, bool *whole, cof_error *err)
{
    COFI_TRY(walk_line(ps, put_cell, whole, err));
    if (!*whole) return COF_OK;
    if (ps->column == 0 && ps->csv->n_columns > 1) return COF_OK;
    if (ps->column == 0)
        COFI_TRY(put_cell(ps, "", 0, err));
    else if (ps->column != ps->csv->n_columns)
        return ragged(ps, err);
    ps->n_rows++;
    return COF_OK;
}

cof_status cofi_csv_head(cofi_parser *ps, cof_error *err)
{
    const char *begin = ps->at, *head = begin;
    uint64_t line = ps->line;
    bool whole = true;
    ps->column = 0;
    while (whole && ps->column == 0 && ps->at < ps->end) {
        head = ps->at;
        COFI_TRY(walk_line(ps, count_cell, &whole, err));
    }
    size_t n_columns = whole ? ps->column : 0;
    if (n_columns > 0) {
        ps->at = head;
        ps->line = ps->row_line;
        COFI_TRY(walk_line(ps, put_name, &whole, err));
        ps->csv->n_columns = n_columns;
    }
    if (n_columns == 0 || ps->csv->dialect.no_header) {
        ps->at = begin;
        ps->line = line;
    }
    return COF_OK;
}

/* ---- Many lines --------------------------------------------------------------------------------- */

typedef struct marks { /* a bit per byte */
    uint64_t ends, newlines, returns, quotes, nuls;
} marks;

static inline marks marks_of(const char *p, char delimiter)
{
    marks m = {0, 0, 0, 0, 0};
#ifdef __SSE2__
    for (int part = 0; part < 4; part++) {
        __m128i x = _mm_loadu_si128((const __m128i *)p + part);
#define COFI_MARKS(byte)                                                                                     \
    ((uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(byte))) << 16 * part)
        m.ends |= COFI_MARKS(delimiter);
        m.newlines |= COFI_MARKS('\n');
        m.returns |= COFI_MARKS('\r');
        m.quotes |= COFI_MARKS('"');
        m.nuls |= COFI_MARKS('\0');
    }
#else
    for (int i = 0; i < 64; i++) {
        m.ends |= (uint64_t)(p[i] == delimiter) << i;
        m.newlines |= (uint64_t)(p[i] == '\n') << i;
        m.returns |= (uint64_t)(p[i] == '\r') << i;
        m.quotes |= (uint64_t)(p[i] == '"') << i;
        m.nuls |= (uint64_t)(p[i] == '\0') << i;
    }
#endif
    m.ends |= m.newlines;
    return m;
}

/* Whether the bytes before a block are inside quotes (all bits), and what the byte before it was (bit 0). */
typedef struct carry {
    uint64_t within, end, closed, returned;
} carry;

/* Removes the marks of bytes inside quotes. False if a quote or a carriage return is not where it belongs. */
static inline bool unmark_quoted(cofi_parser *ps, marks *m, carry *before)
{
    uint64_t within = m->quotes, opens, closes, closed;
    if ((m->quotes | before->within | before->closed) != 0) {
        for (int shift = 1; shift < 64; shift *= 2) within ^= within << shift;
        within ^= before->within;
        opens = m->quotes & within;
        closes = m->quotes & ~within;
        closed = closes << 1 | before->closed;
        m->ends &= ~within;
        m->newlines &= ~within;
        m->returns &= ~within;
        if ((opens & ~(m->ends << 1 | before->end | closed)) != 0) return false;
        if ((closed & ~(m->ends | m->returns | opens)) != 0) return false;
        ps->quoted = true;
        ps->doubled |= (opens & closed) != 0;
        before->within = (uint64_t)0 - (within >> 63);
        before->closed = closes >> 63;
    }
    if (((m->returns << 1 | before->returned) & ~m->newlines) != 0) return false;
    ps->returns |= m->returns != 0;
    before->returned = m->returns >> 63;
    before->end = m->ends >> 63;
    return true;
}

/* Marks where the cells of whole lines end, up to the first line that begins at `limit` or later, or that has another number
 * of cells or something else that only walk_line understands. Returns the number of lines. */
static size_t mark_lines(cofi_parser *ps, const char *limit)
{
    size_t n_columns = ps->csv->n_columns, n = 0, n_lines = 0, most = ps->most_rows - ps->n_rows;
    carry before = {.end = 1};
    ps->quoted = ps->doubled = ps->returns = false;
    ps->stop[0] = UINT32_MAX;
    for (const char *p = ps->at; p < ps->end && n + 64 < ps->n_stops; p += 64) {
        marks m = marks_of(p, ps->csv->dialect.delimiter);
        uint32_t at = (uint32_t)(p - ps->at);
        if (ps->end - p < 64) m.nuls &= (UINT64_C(1) << (ps->end - p)) - 1; /* the tail is NUL bytes */
        if (m.nuls != 0 || p - ps->at > INT32_MAX || !unmark_quoted(ps, &m, &before)) break;
        for (; m.ends != 0; m.ends &= m.ends - 1) ps->stop[++n] = at + (uint32_t)__builtin_ctzll(m.ends);
        for (uint64_t bits = m.newlines; bits != 0; bits &= bits - 1) {
            size_t last = (n_lines + 1) * n_columns; /* the cell with which this line should end */
            uint32_t newline = at + (uint32_t)__builtin_ctzll(bits);
            if (last > n || ps->stop[last] != newline) return n_lines;
            if (++n_lines == most || ps->at + newline + 1 >= limit) return n_lines;
        }
    }
    return n_lines;
}

/* Removes the quotes around a cell and the carriage return after it. */
static cof_status trim(cofi_parser *ps, bool ends_line, const char **text, size_t *n)
{
    if (ends_line && *n > 0 && (*text)[*n - 1] == '\r') --*n;
    if (*n == 0 || **text != '"') return COF_OK;
    ++*text;
    *n -= 2;
    return ps->doubled && memchr(*text, '"', *n) != NULL ? undouble(ps, text, n) : COF_OK;
}

/* The id of a text that is not among the recent ones of its column. Values repeat, so UTF-8 is checked only when a value first
 * appears. */
static __attribute__((noinline)) cof_status intern(cofi_encoder *e, cofi_recent *recent, const char *text,
                                                   size_t n, uint32_t *id)
{
    uint32_t n_values = e->n_values;
    if (n > COFI_CELL_BYTES) return COF_ERR_DATA;
    COFI_TRY(cofi_encoder_intern(e, text, n, id));
    if (e->n_values > n_values && !cofi_utf8_valid(text, n)) return COF_ERR_DATA;
    if (n > SHORT_BYTES) return COF_OK;
    uint64_t word = cofi_word_of(text, n);
    recent[cofi_place_of(word)] = (cofi_recent){word, *id};
    return COF_OK;
}

/* Turns the cells of one column in marked lines into ids. Most values repeat in nearly every row: a cache of recent short
 * texts, which are compared as numbers, finds their ids without hashing and searching. */
static cof_status put_column(cofi_parser *ps, size_t c, size_t n_lines)
{
    size_t n_columns = ps->csv->n_columns;
    bool shared = n_columns > MOST_RECENT, bare = !ps->quoted && !ps->returns;
    cofi_recent *recent = ps->recent + (shared ? 0 : c * N_RECENT);
    const uint32_t *stop = ps->stop + c;
    const char *first = ps->at;
    uint32_t *id = ps->id;
    for (size_t i = 0; shared && i < N_RECENT; i++) recent[i].word = NO_WORD;
    for (size_t i = 0; i < n_lines; i++, stop += n_columns) {
        const char *text = first + (uint32_t)(stop[0] + 1);
        size_t n = (uint32_t)(stop[1] - stop[0] - 1);
        if (!bare) COFI_TRY(trim(ps, c + 1 == n_columns, &text, &n));
        if (n <= SHORT_BYTES) {
            uint64_t word = cofi_word_of(text, n);
            const cofi_recent *r = &recent[cofi_place_of(word)];
            id[i] = r->id;
            if (r->word == word) continue;
        }
        COFI_TRY(intern(&ps->encoder[c], recent, text, n, &id[i]));
    }
    store_ids(ps, c, id, n_lines);
    return COF_OK;
}

static cof_status put_lines(cofi_parser *ps, size_t n_lines)
{
    const char *next = ps->at + ps->stop[n_lines * ps->csv->n_columns] + 1;
    assert(next[-1] == '\n' && next <= ps->end);
    for (size_t c = 0; c < ps->csv->n_columns; c++) COFI_TRY(put_column(ps, c, n_lines));
    ps->n_rows += n_lines;
    ps->line += n_lines;
    if (ps->quoted) { /* cells may hold newlines */
        ps->line -= n_lines;
        for (const char *p = ps->at; p < next; p++) ps->line += *p == '\n';
    }
    ps->at = next;
    return COF_OK;
}

cof_status cofi_parser_run(cofi_parser *ps, const char *limit, cof_error *err)
{
    bool whole = true;
    while (whole && ps->at < limit && ps->n_rows < ps->most_rows) {
        size_t n_lines = ps->strict ? 0 : mark_lines(ps, limit);
        cof_status status = n_lines > 0 ? put_lines(ps, n_lines) : walk_row(ps, &whole, err);
        if (status == COF_OK) continue;
        if (status == COF_ERR_MEMORY) return cofi_no_memory(err);
        if (n_lines == 0) return status;
        ps->strict = true;
    }
    return COF_OK;
}

void *cofi_parser_ids(const cofi_parser *ps, size_t column)
{
    return ps->ids + column * ps->most_rows;
}

/* ---- The parser --------------------------------------------------------------------------------- */

void cofi_csv_init(cofi_csv *csv, const cof_env *env, const char *name, const cofi_dialect *dialect)
{
    *csv = (cofi_csv){.env = *env, .name = name, .dialect = *dialect};
    csv->ends_plain['\0'] = csv->ends_plain['\n'] = csv->ends_plain['\r'] = true;
    csv->ends_plain[(unsigned char)dialect->delimiter] = true;
    csv->ends_quoted['\0'] = csv->ends_quoted['\n'] = csv->ends_quoted['"'] = true;
    cofi_encoder_init(&csv->names, env);
}

void cofi_csv_free(cofi_csv *csv)
{
    cofi_encoder_free(&csv->names);
}

bool cofi_csv_is_missing(const cofi_csv *csv, const char *text)
{
    for (size_t i = 0; i < csv->dialect.n_na; i++)
        if (strcmp(csv->dialect.na[i], text) == 0) return true;
    return false;
}

/* The same text may get several ids, which finishing the column makes one. */
void cofi_parser_forget(cofi_parser *ps, size_t column)
{
    cofi_encoder_free(&ps->encoder[column]);
    ps->encoder[column].may_repeat = true;
    ps->width[column] = 1;
    for (size_t i = 0; i < N_RECENT && ps->csv->n_columns <= MOST_RECENT; i++)
        ps->recent[column * N_RECENT + i].word = NO_WORD;
}

cof_status cofi_parser_open(cofi_parser *ps, size_t most_rows, cof_error *err)
{
    size_t n = ps->csv->n_columns;
    cofi_blocks *blocks = &ps->blocks;
    blocks->env = ps->csv->env;
    ps->most_rows = most_rows;
    ps->n_stops = (n > N_STOPS ? n : N_STOPS) + 128;
    ps->ids = cofi_blocks_add(blocks, n * most_rows, sizeof(uint32_t));
    ps->width = cofi_blocks_add(blocks, n, 1);
    ps->recent = cofi_blocks_add(blocks, (n <= MOST_RECENT ? n : 1) * N_RECENT, sizeof *ps->recent);
    ps->stop = cofi_blocks_add(blocks, ps->n_stops, sizeof *ps->stop);
    ps->id = cofi_blocks_add(blocks, ps->n_stops, sizeof *ps->id);
    ps->encoder = cofi_blocks_add(blocks, n, sizeof *ps->encoder);
    for (size_t c = 0; ps->encoder != NULL && c < n; c++) cofi_encoder_init(&ps->encoder[c], &blocks->env);
    COFI_TRY(cofi_blocks_status(blocks, err));
    for (size_t c = 0; c < n; c++) cofi_parser_forget(ps, c);
    return COF_OK;
}

void cofi_parser_free(cofi_parser *ps)
{
    for (size_t c = 0; ps->encoder != NULL && c < ps->csv->n_columns; c++) cofi_encoder_free(&ps->encoder[c]);
    cofi_release(&ps->csv->env, ps->scratch);
    cofi_blocks_release(&ps->blocks);
}
