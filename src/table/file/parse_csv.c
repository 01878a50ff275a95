/* RFC 4180 as a small state machine over blocks of bytes.
 *
 * A cell is interned in its column's dictionary directly from the block. It is copied first only if it is not
 * in one piece: if it crosses into the next block, or has doubled quotes. Every block is followed by NUL
 * bytes, which no cell holds, so the loops over bytes need no second condition.
 *
 * The first line is collected until it ends, because only then the number of columns is known. */
#include "parse_csv.h"

#include "../../core/utf8.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    N_RECENT = 32, /* entries per column; a power of two, see place_of */
    SHORT_BYTES = 8,
    MOST_RECENT = 1 << 16, /* columns; for more, the caches would take more memory than the table */
    PIECE_CELLS = 1 << 21
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
    size_t c = ps->column;
    snprintf(p.text, sizeof p.text, "%s, line %" PRIu64 ", column %zu", ps->name, line, c + 1);
    if (c < ps->names.n_values) {
        size_t n = strlen(p.text);
        cofi_utf8_show(name, sizeof name, ps->names.text + ps->names.offset[c]);
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

static cof_status never_closed(const cofi_parser *ps, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA, "%s: the quote that begins this cell is never closed",
                     where(ps, ps->cell_line).text);
}

static cof_status text_after_quote(const cofi_parser *ps, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA,
                     "%s: text after the closing quote of the cell that began in line %" PRIu64
                     "; write a quote inside a quoted cell as \"\"",
                     where(ps, ps->line).text, ps->cell_line);
}

static cof_status lone_return(const cofi_parser *ps, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA,
                     "%s, line %" PRIu64
                     ": a carriage return that no newline follows; if the lines end as on old "
                     "Macs, convert the file with `tr '\\r' '\\n' < old.csv > new.csv`",
                     ps->name, ps->line);
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
    const char *advice = ps->column > ps->n_columns ? "a cell that holds the delimiter must be quoted"
                                                    : "an empty cell still needs its delimiter";
    return cofi_fail(err, COF_ERR_DATA, "%s, line %" PRIu64 " has %zu cell%s where the %s has %zu; %s (%s)",
                     ps->name, ps->row_line, ps->column, ps->column == 1 ? "" : "s",
                     ps->dialect.no_header ? "first line" : "header", ps->n_columns, advice,
                     name_of(ps->dialect.delimiter).text);
}

static cof_status too_many_columns(const cofi_parser *ps, cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA, "%s, line %" PRIu64 " has more than %zu cells; is %s the delimiter?",
                     ps->name, ps->row_line, COFI_MAX_COLUMNS, name_of(ps->dialect.delimiter).text);
}

static cof_status same_name(const cofi_parser *ps, uint32_t first, cof_error *err)
{
    char name[64];
    return cofi_fail(err, COF_ERR_DATA,
                     "%s, line %" PRIu64 ": columns %zu and %zu are both named \"%s\"; rename one", ps->name,
                     ps->row_line, (size_t)first + 1, ps->column + 1,
                     cofi_utf8_show(name, sizeof name, ps->names.text + ps->names.offset[first]));
}

static cof_status encoder_failure(const cofi_parser *ps, cof_status status, cof_error *err)
{
    if (status == COF_ERR_MEMORY) return cofi_no_memory(err);
    return cofi_fail(err, status, "%s: the column has too many distinct values; leave it out",
                     where(ps, ps->cell_line).text);
}

/* ---- Cells -------------------------------------------------------------------------------------- */

static cof_status append(const cof_env *env, cofi_bytes *to, const char *text, size_t n, cof_error *err)
{
    if (to->capacity - to->n < n) {
        size_t capacity = 2 * to->capacity + n + 64;
        char *at = cofi_regrow(env, to->at, to->n, capacity, 1);
        if (at == NULL) return cofi_no_memory(err);
        to->at = at;
        to->capacity = capacity;
    }
    if (n > 0) memcpy(to->at + to->n, text, n);
    to->n += n;
    return COF_OK;
}

static bool is_missing(const cofi_parser *ps, const char *text, size_t n)
{
    if (n == 0) return ps->begins_na[0];
    if (!ps->begins_na[(unsigned char)*text]) return false;
    for (size_t i = 0; i < ps->dialect.n_na; i++)
        if (strncmp(ps->dialect.na[i], text, n) == 0 && ps->dialect.na[i][n] == '\0') return true;
    return false;
}

/* A cell without a column: one of the first line, or a surplus cell of a row, which is only counted. */
static cof_status put_beyond(cofi_parser *ps, const char *text, size_t n, cof_error *err)
{
    cof_status status = COF_OK;
    if (ps->n_columns == 0) {
        if (ps->column == COFI_MAX_COLUMNS) return too_many_columns(ps, err);
        status = append(&ps->env, &ps->first_line, text, n, err);
        if (status == COF_OK) status = append(&ps->env, &ps->first_line, "", 1, err);
    }
    ps->column++;
    return status;
}

static cof_status put_id(cofi_parser *ps, uint32_t id, cof_error *err)
{
    if (cofi_encoder_append(&ps->encoder[ps->column], id) != COF_OK) return cofi_no_memory(err);
    ps->column++;
    return COF_OK;
}

/* Values repeat, so UTF-8 is checked only when a value first appears. */
static cof_status intern(cofi_parser *ps, const char *text, size_t n, uint32_t *id, cof_error *err)
{
    cofi_encoder *e = &ps->encoder[ps->column];
    uint32_t n_values = e->n_values;
    cof_status status = cofi_encoder_intern(e, text, n, id);
    if (status != COF_OK) return encoder_failure(ps, status, err);
    return e->n_values == n_values || cofi_utf8_valid(text, n) ? COF_OK : not_utf8(ps, err);
}

static cof_status put_cell(cofi_parser *ps, const char *text, size_t n, cof_error *err)
{
    uint32_t id;
    if (n > COFI_CELL_BYTES) return too_long(ps, err);
    if (ps->column >= ps->n_columns) return put_beyond(ps, text, n, err);
    if (is_missing(ps, text, n)) {
        if (cofi_encoder_put_missing(&ps->encoder[ps->column], text, n) != COF_OK) return cofi_no_memory(err);
        ps->column++;
        return COF_OK;
    }
    cof_status status = intern(ps, text, n, &id, err);
    return status == COF_OK ? put_id(ps, id, err) : status;
}

/* A cache of recent short values: most values repeat in nearly every row, and one comparison finds the id,
 * where hashing and searching would take most of the reading time. */
static inline cof_status put_short(cofi_parser *ps, const char *text, size_t n, cof_error *err)
{
    uint64_t word = cofi_word_of(text, n);
    cofi_recent *recent = &ps->recent[ps->column * N_RECENT + cofi_place_of(word)];
    if (!recent->used || recent->word != word) {
        uint32_t id;
        if (is_missing(ps, text, n)) return put_cell(ps, text, n, err);
        COFI_TRY(intern(ps, text, n, &id, err));
        *recent = (cofi_recent){.word = word, .id = id, .used = true};
    }
    return put_id(ps, recent->id, err);
}

/* Copies the bytes of the pending cell that are in the block to the scratch buffer. */
static cof_status stash(cofi_parser *ps, cof_error *err)
{
    size_t n = (size_t)(ps->to - ps->from);
    if (ps->scratch.n + n > COFI_CELL_BYTES) return too_long(ps, err);
    cof_status status = append(&ps->env, &ps->scratch, ps->from, n, err);
    ps->from = ps->to;
    return status;
}

static cof_status put_pending(cofi_parser *ps, cof_error *err)
{
    cof_status status;
    if (ps->scratch.n == 0) return put_cell(ps, ps->from, (size_t)(ps->to - ps->from), err);
    status = stash(ps, err);
    if (status == COF_OK) status = put_cell(ps, ps->scratch.at, ps->scratch.n, err);
    ps->scratch.n = 0;
    return status;
}

/* ---- The first line ----------------------------------------------------------------------------- */

static cof_status put_name(cofi_parser *ps, const char *text, cof_error *err)
{
    char made[32];
    uint32_t id;
    if (!cofi_utf8_valid(text, strlen(text))) return not_utf8(ps, err);
    if (*text == '\0') { /* R and pandas write no name for row numbers */
        snprintf(made, sizeof made, "column%zu", ps->column + 1);
        text = made;
    }
    cof_status status = cofi_encoder_intern(&ps->names, text, strlen(text), &id);
    if (status != COF_OK) return encoder_failure(ps, status, err);
    return id == ps->column ? COF_OK : same_name(ps, id, err);
}

static cof_status take_names(cofi_parser *ps, cof_error *err)
{
    cof_status status = COF_OK;
    const char *text = ps->first_line.at;
    for (ps->column = 0; ps->column < ps->n_columns && status == COF_OK; ps->column++) {
        status = put_name(ps, text, err);
        text += strlen(text) + 1;
    }
    return status;
}

static cof_status make_names(cofi_parser *ps, cof_error *err)
{
    cof_status status = COF_OK;
    for (size_t c = 0; c < ps->n_columns && status == COF_OK; c++) {
        char made[32];
        uint32_t id;
        int n = snprintf(made, sizeof made, "V%zu", c + 1);
        status = cofi_encoder_intern(&ps->names, made, (size_t)n, &id);
    }
    return status == COF_OK ? COF_OK : cofi_no_memory(err);
}

static cof_status put_blank(cofi_parser *ps, cof_error *err)
{
    cof_status status = put_cell(ps, "", 0, err);
    ps->n_rows++;
    ps->column = 0;
    return status;
}

/* Uses the first line as data. In a table of one column, blank lines before it are rows too. */
static cof_status take_first_row(cofi_parser *ps, cof_error *err)
{
    cof_status status = COF_OK;
    const char *text = ps->first_line.at;
    ps->column = 0;
    for (size_t i = 0; ps->n_columns == 1 && i < ps->n_blank && status == COF_OK; i++)
        status = put_blank(ps, err);
    for (size_t c = 0; c < ps->n_columns && status == COF_OK; c++) {
        status = put_cell(ps, text, strlen(text), err);
        text += strlen(text) + 1;
    }
    ps->n_rows++;
    return status;
}

static cof_status make_columns(cofi_parser *ps, size_t n_columns, cof_error *err)
{
    ps->encoder = cofi_alloc(&ps->env, n_columns, sizeof *ps->encoder);
    if (ps->encoder == NULL) return cofi_no_memory(err);
    for (size_t c = 0; c < n_columns; c++) {
        cofi_encoder_init(&ps->encoder[c], &ps->env);
        ps->encoder[c].may_repeat = true;
    }
    ps->n_columns = n_columns;
    size_t most = PIECE_CELLS / n_columns;
    if (ps->visit != NULL) ps->piece_rows = most < COFI_PIECE_ROWS ? most : COFI_PIECE_ROWS;
    if (n_columns > MOST_RECENT) return COF_OK;
    ps->recent = cofi_alloc_zero(&ps->env, n_columns * N_RECENT, sizeof *ps->recent);
    return ps->recent != NULL ? COF_OK : cofi_no_memory(err);
}

static cof_status end_first_line(cofi_parser *ps, cof_error *err)
{
    cof_status status = make_columns(ps, ps->column, err);
    if (status != COF_OK) return status;
    ps->cell_line = ps->row_line;
    if (ps->dialect.no_header) {
        status = take_first_row(ps, err);
        if (status == COF_OK) status = make_names(ps, err);
    } else {
        status = take_names(ps, err);
    }
    cofi_release(&ps->env, ps->first_line.at);
    ps->first_line = (cofi_bytes){0};
    return status;
}

/* ---- Rows --------------------------------------------------------------------------------------- */

static cof_status end_row(cofi_parser *ps, cof_error *err)
{
    cof_status status = COF_OK;
    if (ps->column == 0 && ps->n_columns == 0)
        ps->n_blank++;
    else if (ps->column == 0)
        status = ps->n_columns == 1 ? put_blank(ps, err) : COF_OK;
    else if (ps->n_columns == 0)
        status = end_first_line(ps, err);
    else if (ps->column != ps->n_columns)
        status = ragged(ps, err);
    else
        ps->n_rows++;
    if (ps->n_rows > COFI_MOST_ROWS && status == COF_OK) status = cofi_too_many_rows(err);
    ps->line++;
    ps->row_line = ps->cell_line = ps->line;
    ps->column = 0;
    ps->state = ps->n_rows - ps->n_given < ps->piece_rows ? COFI_AT_CELL : COFI_AFTER_PIECE;
    return status;
}

/* Handles the byte that ended a cell. */
static cof_status after_cell(cofi_parser *ps, char byte, cof_error *err)
{
    ps->cell_line = ps->line;
    ps->state = byte == '\r' ? COFI_AFTER_CR : COFI_AT_CELL;
    return byte == '\n' ? end_row(ps, err) : COF_OK;
}

/* Handles a cell and the byte that ended it, both in the block. An empty line has no cell. */
static inline cof_status put_whole(cofi_parser *ps, const char *cell, const char *end, cof_error *err)
{
    size_t n = (size_t)(end - cell);
    if (n == 0 && ps->column == 0 && *end != ps->dialect.delimiter) return COF_OK;
    if (n - 1 < SHORT_BYTES && ps->column < ps->n_columns && ps->recent != NULL)
        return put_short(ps, cell, n, err);
    return put_cell(ps, cell, n, err);
}

/* ---- Parser states: one function each, called with at least one byte ----------------------------- */

/* Stores the state of the cell that begins at `cell` and has not ended at `p`, for the other states to
 * continue. */
static void suspend(cofi_parser *ps, cofi_csv_state state, const char *cell, const char *p)
{
    ps->state = state;
    ps->from = cell;
    ps->at = ps->to = p;
}

/* Unquoted cells that are entirely in the block, one after another. Nearly all bytes go through this loop. */
static cof_status at_cell(cofi_parser *ps, cof_error *err)
{
    cof_status status = COF_OK;
    while (status == COF_OK && ps->state == COFI_AT_CELL && ps->at < ps->end) {
        const char *cell = ps->at, *p = cell;
        if (*p == '"') {
            suspend(ps, COFI_IN_QUOTES, p + 1, p + 1);
            break;
        }
        while (!ps->ends_plain[(unsigned char)*p]) p++;
        if (*p == '\0') {
            suspend(ps, COFI_IN_PLAIN, cell, p);
            break;
        }
        ps->at = p + 1;
        status = put_whole(ps, cell, p, err);
        if (status == COF_OK && *p != ps->dialect.delimiter) status = after_cell(ps, *p, err);
    }
    return status;
}

static cof_status in_plain(cofi_parser *ps, cof_error *err)
{
    const char *p = ps->at;
    while (!ps->ends_plain[(unsigned char)*p]) p++;
    ps->at = ps->to = p;
    if (p == ps->end) return COF_OK;
    if (*p == '\0') return nul_byte(ps, err);
    ps->at++;
    cof_status status = put_pending(ps, err);
    return status == COF_OK ? after_cell(ps, *p, err) : status;
}

static cof_status in_quotes(cofi_parser *ps, cof_error *err)
{
    const char *p = ps->at;
    for (;; p++) {
        while (!ps->ends_quoted[(unsigned char)*p]) p++;
        if (*p != '\n') break;
        ps->line++;
    }
    ps->at = ps->to = p;
    if (p == ps->end) return COF_OK;
    if (*p == '\0') return nul_byte(ps, err);
    ps->at++;
    ps->state = COFI_AFTER_QUOTE;
    return COF_OK;
}

static cof_status after_quote(cofi_parser *ps, cof_error *err)
{
    char byte = *ps->at++;
    cof_status status;
    if (byte == '"') { /* a doubled quote: the text continues with this quote */
        status = stash(ps, err);
        suspend(ps, COFI_IN_QUOTES, ps->at - 1, ps->at);
        return status;
    }
    if (!ps->ends_plain[(unsigned char)byte]) return text_after_quote(ps, err);
    if (byte == '\0') return nul_byte(ps, err);
    status = put_pending(ps, err);
    return status == COF_OK ? after_cell(ps, byte, err) : status;
}

static cof_status after_cr(cofi_parser *ps, cof_error *err)
{
    if (*ps->at++ != '\n') return lone_return(ps, err);
    return end_row(ps, err);
}

static cof_status make_table(cofi_parser *ps, cof_table **out, cof_error *err)
{
    const char **name = cofi_alloc(&ps->env, ps->n_columns, sizeof *name);
    if (name == NULL) return cofi_no_memory(err);
    for (size_t c = 0; c < ps->n_columns; c++) name[c] = ps->names.text + ps->names.offset[c];
    cof_status status =
        cofi_table_from_encoders(&ps->env, ps->encoder, ps->n_columns, name, COFI_ORDER_SORTED, out, err);
    cofi_release(&ps->env, name);
    return status;
}

/* Gives the rows since the last piece away; the dictionaries begin anew, so memory stays bounded. */
static cof_status give_piece(cofi_parser *ps, cof_error *err)
{
    cof_table *piece;
    COFI_TRY(make_table(ps, &piece, err));
    cof_status status = ps->visit(ps->ctx, piece, ps->n_given, err);
    cof_table_free(piece);
    if (ps->recent != NULL) memset(ps->recent, 0, ps->n_columns * N_RECENT * sizeof *ps->recent);
    ps->n_given = ps->n_rows;
    ps->state = COFI_AT_CELL;
    return status;
}

static bool is_pending(const cofi_parser *ps)
{
    return ps->state == COFI_IN_PLAIN || ps->state == COFI_IN_QUOTES || ps->state == COFI_AFTER_QUOTE;
}

static cof_status step(cofi_parser *ps, cof_error *err)
{
    switch (ps->state) {
    case COFI_IN_PLAIN:
        return in_plain(ps, err);
    case COFI_IN_QUOTES:
        return in_quotes(ps, err);
    case COFI_AFTER_QUOTE:
        return after_quote(ps, err);
    case COFI_AFTER_CR:
        return after_cr(ps, err);
    case COFI_AFTER_PIECE:
        return give_piece(ps, err);
    default:
        return at_cell(ps, err);
    }
}

cof_status cofi_parser_feed(cofi_parser *ps, const char *block, const char *end, cof_error *err)
{
    cof_status status = COF_OK;
    ps->at = ps->from = ps->to = block;
    ps->end = end;
    while (status == COF_OK && ps->at < ps->end) status = step(ps, err);
    return status == COF_OK && is_pending(ps) ? stash(ps, err) : status;
}

/* The last line may lack its newline. */
static cof_status end_input(cofi_parser *ps, cof_error *err)
{
    if (ps->state == COFI_IN_QUOTES) return never_closed(ps, err);
    if (ps->state == COFI_AFTER_CR) return lone_return(ps, err);
    if (ps->state == COFI_AFTER_PIECE || (ps->state == COFI_AT_CELL && ps->column == 0)) return COF_OK;
    ps->from = ps->to = "";
    cof_status status = put_pending(ps, err);
    return status == COF_OK ? end_row(ps, err) : status;
}

/* ---- The parser --------------------------------------------------------------------------------- */

void cofi_parser_init(cofi_parser *ps, const cof_env *env, const char *name, const cofi_dialect *dialect)
{
    *ps = (cofi_parser){.env = *env, .name = name, .dialect = *dialect, .piece_rows = SIZE_MAX};
    for (size_t i = 0; i < dialect->n_na; i++) ps->begins_na[(unsigned char)dialect->na[i][0]] = true;
    ps->ends_plain['\0'] = ps->ends_plain['\n'] = ps->ends_plain['\r'] = true;
    ps->ends_plain[(unsigned char)dialect->delimiter] = true;
    ps->ends_quoted['\0'] = ps->ends_quoted['\n'] = ps->ends_quoted['"'] = true;
    ps->line = ps->row_line = ps->cell_line = 1;
    cofi_encoder_init(&ps->names, env);
}

cof_status cofi_parser_finish(cofi_parser *ps, cof_table **out, cof_error *err)
{
    COFI_TRY(end_input(ps, err));
    if (ps->n_columns == 0)
        return cofi_fail(err, COF_ERR_DATA, "%s is empty; a table needs a header line and rows", ps->name);
    if (ps->n_rows == 0)
        return cofi_fail(err, COF_ERR_DATA, "%s has a header but no rows; there is nothing to cluster",
                         ps->name);
    if (ps->visit == NULL) return make_table(ps, out, err);
    return ps->n_rows > ps->n_given ? give_piece(ps, err) : COF_OK;
}

void cofi_parser_free(cofi_parser *ps)
{
    for (size_t c = 0; c < ps->n_columns; c++) cofi_encoder_free(&ps->encoder[c]);
    cofi_release(&ps->env, ps->encoder);
    cofi_release(&ps->env, ps->recent);
    cofi_encoder_free(&ps->names);
    cofi_release(&ps->env, ps->first_line.at);
    cofi_release(&ps->env, ps->scratch.at);
}
