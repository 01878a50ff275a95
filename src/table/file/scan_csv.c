/* Parallel reading. Threads take stretches of about 1 MiB. Each finds the ends of cells 64 bytes at a time
 * and turns texts into ids of its own dictionaries; when all are done, the dictionaries are merged and the
 * cells renumbered, column by column.
 *
 * Errors are not explained here. Anything except a regular table of cells without inner quotes sets `odd`,
 * and the serial parser reads the file again from the start. */
#include "scan_csv.h"

#include "../../core/rng.h"
#include "../../core/team.h"
#include "../../core/utf8.h"
#include "../recognise.h"
#include "dialect.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    STRETCH = 1 << 20,      /* bytes of a task; it reads the lines that begin there */
    SLACK = 1 << 18,        /* bytes after the stretch within which its last line must end */
    HEAD = 1 << 20,         /* bytes within which the first line must end */
    TAIL = 64,              /* bytes after the text that may be read */
    SMALLEST = 1 << 20,     /* smaller files are read serially, because threads cost more */
    PART = 1 << 11,         /* bytes that scan_part gets at a time, to the end of a line */
    TOGETHER = 32,          /* lines that scan_alike takes together, */
    MOST_BYTES = 8,         /* with cells of up to so many bytes */
    UNKNOWN = 0x80,         /* in scanner.short_cell */
    N_RECENT = 32,          /* recent short texts per column: see place_of */
    MOST_COLUMNS = 1 << 14, /* for more columns, lines are too long for stretches */
    NARROW = 255            /* with more values, the cells of a column are four bytes wide */
};

typedef struct recent {
    uint64_t word;
    uint32_t cell;
} recent;

typedef struct piece { /* the cells of one column in one stretch */
    void *cells;
    uint8_t width; /* 1 or 4 */
} piece;

typedef struct stretch {
    size_t n_rows, first_row;
    uint32_t scanner; /* the scanner whose ids the cells hold */
    piece *column;
} stretch;

typedef struct scanner { /* the state of one thread */
    char *text;          /* SLACK + STRETCH + TAIL bytes, and one byte before */
    uint32_t *cells;     /* [column][most rows of a stretch], of either width */
    uint64_t *asked;     /* [column][most rows of a stretch]: postponed texts */
    cofi_encoder *encoder;
    recent *recent;
    uint8_t *short_cell; /* [column][byte]: the cell of a text of one byte; UNKNOWN: not seen yet */
    size_t n_wide;       /* columns whose cells have four bytes */
    /* of a line: its length, 0: none was noted; its delimiters and end, where `fixed` is 0xFF; the widths of its cells */
    size_t line_bytes;
    uint8_t *line, *fixed, *cell_bytes;
    uint32_t *empty;    /* per column: the cell of an empty text; UINT32_MAX: not seen yet */
    uint8_t *wide;      /* per column: cells have four bytes */
    uint8_t *later;     /* per column: texts are postponed, see look_up_all */
    size_t *first;      /* per column: the first row that is postponed */
    size_t *missing_at; /* per column: the stretch of the first missing cell; SIZE_MAX: none */
    uint32_t **rank;    /* per column: final id of each id, while columns are finished */
} scanner;

typedef struct scan {
    cof_env env;
    cofi_dialect dialect;
    bool begins_na[256];
    int fd; /* -1: memory */
    const char *bytes;
    size_t begin, end; /* range of the lines with data */
    bool closed;       /* the last line ends with a newline */
    size_t n_columns, n_stretches, most_rows;
    stretch *stretches;
    uint32_t n_scanners;
    scanner *scanner;
    cof_table *table;
    atomic_bool odd;
    double began_s;
} scan;

/* ---- Cells -------------------------------------------------------------------------------------- */

static bool is_missing(const scan *sc, const char *text, size_t n)
{
    if (n == 0) return sc->begins_na[0];
    if (!sc->begins_na[(unsigned char)*text]) return false;
    for (size_t i = 0; i < sc->dialect.n_na; i++)
        if (strncmp(sc->dialect.na[i], text, n) == 0 && sc->dialect.na[i][n] == '\0') return true;
    return false;
}

/* Finds the cell of a text: its id plus one, 0 for missing. False if the text is not valid or memory is
 * short. */
static bool find_cell(const scan *sc, scanner *s, size_t at, size_t c, const char *text, size_t n,
                      uint32_t *cell)
{
    cofi_encoder *e = &s->encoder[c];
    uint32_t n_values = e->n_values, id;
    if (is_missing(sc, text, n)) {
        if (s->missing_at[c] == SIZE_MAX) {
            e->missing_text = cofi_copy_text(&sc->env, text, n);
            if (e->missing_text == NULL) return false;
            s->missing_at[c] = at;
        }
        *cell = 0;
        return true;
    }
    if (cofi_encoder_intern(e, text, n, &id) != COF_OK) return false;
    *cell = id + 1;
    return e->n_values == n_values || cofi_utf8_valid(text, n);
}

/* Short texts are compared as numbers with a cache of recent ones, because most values repeat in nearly
 * every row. */
static inline bool cell_of(const scan *sc, scanner *s, size_t at, size_t c, const char *text, size_t n,
                           uint32_t *cell)
{
    if (n - 1 < 8) {
        uint64_t word = cofi_word_of(text, n);
        recent *r = &s->recent[c * N_RECENT + cofi_place_of(word)];
        if (r->word != word) { /* 0 is not the number of any text */
            if (!find_cell(sc, s, at, c, text, n, cell)) return false;
            *r = (recent){word, *cell};
            if (n == 1 && *cell <= N_RECENT) s->short_cell[c * 256 + (unsigned char)*text] = (uint8_t)*cell;
        }
        *cell = r->cell;
        return true;
    }
    if (n == 0 && s->empty[c] != UINT32_MAX) {
        *cell = s->empty[c];
        return true;
    }
    if (!find_cell(sc, s, at, c, text, n, cell)) return false;
    if (n == 0) s->empty[c] = *cell;
    return true;
}

/* ---- Lines -------------------------------------------------------------------------------------- */

typedef struct marks { /* bitmaps of 64 bytes */
    uint64_t ends, returns, quotes, odd;
} marks;

#ifdef __SSE2__
static inline marks marks_of(const char *p, char delimiter)
{
    marks m = {0, 0, 0, 0};
    for (int part = 0; part < 4; part++) {
        __m128i x = _mm_loadu_si128((const __m128i *)p + part);
        __m128i ends =
            _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8(delimiter)), _mm_cmpeq_epi8(x, _mm_set1_epi8('\n')));
        __m128i quotes = _mm_cmpeq_epi8(x, _mm_set1_epi8('"')), odd = _mm_cmpeq_epi8(x, _mm_setzero_si128());
        __m128i returns = _mm_cmpeq_epi8(x, _mm_set1_epi8('\r'));
        m.ends |= (uint64_t)(uint32_t)_mm_movemask_epi8(ends) << 16 * part;
        m.quotes |= (uint64_t)(uint32_t)_mm_movemask_epi8(quotes) << 16 * part;
        m.odd |= (uint64_t)(uint32_t)_mm_movemask_epi8(odd) << 16 * part;
        m.returns |= (uint64_t)(uint32_t)_mm_movemask_epi8(returns) << 16 * part;
    }
    return m;
}
#else
static inline marks marks_of(const char *p, char delimiter)
{
    marks m = {0, 0, 0, 0};
    for (int i = 0; i < 64; i++) {
        m.ends |= (uint64_t)(p[i] == delimiter || p[i] == '\n') << i;
        m.quotes |= (uint64_t)(p[i] == '"') << i;
        m.odd |= (uint64_t)(p[i] == '\0') << i;
        m.returns |= (uint64_t)(p[i] == '\r') << i;
    }
    return m;
}
#endif

/* Makes the column's cells four bytes wide. */
static void widen(scanner *s, size_t c, uint32_t *cells, size_t n_rows)
{
    for (size_t i = n_rows; i-- > 0;) cells[i] = ((const uint8_t *)cells)[i];
    s->wide[c] = 1;
    s->n_wide++;
}

/* A postponed text of 1 to 7 bytes is its key, whose highest byte is 0; of another one place and length are kept. */
static inline uint64_t postpone(const scanner *s, const char *text, size_t n)
{
    if (n - 1 < COFI_SHORT_BYTES) return cofi_short_key(text, n);
    return UINT64_C(1) << 63 | (uint64_t)(text - s->text) << 32 | n;
}

/* Finds a short text that is known; keys of others are hashes. */
static inline bool find_key(const cofi_encoder *e, uint64_t key, uint64_t hash, uint32_t *cell)
{
    size_t mask = e->n_slots - 1;
    if (key >> 63 != 0) return false;
    for (size_t at = hash & mask; e->slot[at] != 0 && !e->loose; at = (at + 1) & mask) {
        *cell = e->slot[at];
        if (e->key[*cell - 1] == key) return true;
    }
    return false;
}

/* The cell of a postponed text that find_key does not find. */
static bool find_postponed(const scan *sc, scanner *s, size_t at, size_t c, uint64_t asked, uint32_t *cell)
{
    char word[8];
    if (asked >> 63 != 0)
        return find_cell(sc, s, at, c, s->text + (asked >> 32 & INT32_MAX), (uint32_t)asked, cell);
    size_t n = 0;
    for (; asked != 0; asked >>= 8) word[n++] = (char)(asked & 0xFF);
    return find_cell(sc, s, at, c, word, n, cell);
}

/* Turns the postponed texts of a column into cells, in batches, so that misses of the cache overlap. */
static bool look_up(const scan *sc, scanner *s, size_t at, size_t c, size_t n_rows)
{
    enum { BATCH = 32 };
    const uint64_t *asked = s->asked + c * sc->most_rows;
    uint32_t *cells = s->cells + c * sc->most_rows;
    const cofi_encoder *e = &s->encoder[c];
    uint64_t hash[BATCH];
    for (size_t i = s->first[c]; i < n_rows; i += BATCH) {
        size_t n = n_rows - i < BATCH ? n_rows - i : BATCH;
        for (size_t j = 0; j < n; j++) {
            hash[j] = cofi_mix64(asked[i + j]);
            __builtin_prefetch(&e->slot[hash[j] & (e->n_slots - 1)]);
        }
        for (size_t j = 0; j < n; j++)
            if (!find_key(e, asked[i + j], hash[j], &cells[i + j]) &&
                !find_postponed(sc, s, at, c, asked[i + j], &cells[i + j]))
                return false;
    }
    return true;
}

/* Columns with more values than are kept as recent ones are looked up when the lines of a stretch have been scanned, one
 * after the other: a dictionary then stays in the cache, which all dictionaries together leave. */
static bool look_up_all(const scan *sc, scanner *s, size_t at, size_t n_rows)
{
    for (size_t c = 0; c < sc->n_columns; c++)
        if (s->later[c] && !look_up(sc, s, at, c, n_rows)) return false;
    return true;
}

static inline bool put_cell(const scan *sc, scanner *s, size_t at, size_t c, size_t row, const char *text,
                            size_t n)
{
    uint32_t cell;
    if (row >= sc->most_rows || c >= sc->n_columns || n > COFI_CELL_BYTES) return false;
    if (s->later[c]) {
        s->asked[c * sc->most_rows + row] = postpone(s, text, n);
        return true;
    }
    uint32_t *cells = s->cells + c * sc->most_rows;
    if (!cell_of(sc, s, at, c, text, n, &cell)) return false;
    if (!s->wide[c] && cell > N_RECENT) {
        widen(s, c, cells, row);
        s->later[c] = 1;
        s->first[c] = row + 1;
    }
    if (s->wide[c])
        cells[row] = cell;
    else
        ((uint8_t *)cells)[row] = (uint8_t)cell;
    return true;
}

/* Scans whole lines from `text` to `end`, of any kind; TAIL bytes after it may be read. False if something is odd. A
 * quoted cell loses its quotes; if the number of quotes does not match in the end, some cell holds a
 * quote, a delimiter or a newline. */
static bool scan_part(const scan *sc, scanner *s, size_t at, const char *text, const char *end,
                      size_t *n_rows)
{
    const char *cell = text;
    size_t c = 0, row = *n_rows, n_returns = 0, n_quotes = 0;
    for (const char *p = text; p < end; p += 64) {
        marks m = marks_of(p, sc->dialect.delimiter);
        if (end - p < 64) { /* bytes past the end do not count */
            uint64_t within = (UINT64_C(1) << (end - p)) - 1;
            m = (marks){m.ends & within, m.returns & within, m.quotes & within, m.odd & within};
        }
        if (m.odd != 0) return false;
        n_returns += (size_t)__builtin_popcountll(m.returns);
        n_quotes += (size_t)__builtin_popcountll(m.quotes);
        for (uint64_t bits = m.ends; bits != 0; bits &= bits - 1) {
            const char *stop = p + __builtin_ctzll(bits);
            size_t n = (size_t)(stop - cell);
            bool last = *stop == '\n';
            if (last && n > 0 && stop[-1] == '\r') {
                n--;
                n_returns--;
            }
            if (!(last && n == 0 && c == 0 && sc->n_columns > 1)) { /* otherwise it is a blank line */
                if (*cell == '"' && n > 0) {
                    if (n < 2 || cell[n - 1] != '"') return false;
                    n_quotes -= 2;
                    cell++;
                    n -= 2;
                }
                if (!put_cell(sc, s, at, c, row, cell, n)) return false;
                c++;
            }
            cell = stop + 1;
            if (!last) continue;
            if (c != sc->n_columns && c != 0) return false;
            row += c != 0;
            c = 0;
        }
    }
    *n_rows = row;
    return cell == end && n_returns == 0 && n_quotes == 0;
}

/* Notes where the line at `text` has its delimiters and its end. False: as before, or a cell is empty or longer than eight
 * bytes. */
static bool take_shape(const scan *sc, scanner *s, const char *text, const char *end)
{
    size_t n = 0, n_before = s->line_bytes;
    bool differs = false;
    s->line_bytes = 0;
    for (size_t c = 0; c < sc->n_columns; c++) {
        bool last = c + 1 == sc->n_columns;
        char stop = last ? '\n' : sc->dialect.delimiter;
        uint8_t width = 0;
        while (width < MOST_BYTES + 2 && text + width < end && text[width] != stop) width++;
        if (text + width == end || text[width] != stop) return false;
        const char *next = text + width + 1;
        if (last && width > 1 && text[width - 1] == '\r') width--;
        if (width == 0 || width > MOST_BYTES) return false;
        differs |= s->cell_bytes[c] != width;
        s->cell_bytes[c] = width;
        memset(s->fixed + n, 0, width);
        for (text += width, n += width; text < next; text++, n++) {
            s->line[n] = (uint8_t)*text;
            s->fixed[n] = 0xFF;
        }
    }
    s->line_bytes = n;
    return differs || n != n_before;
}

/* Cells of one column in TOGETHER lines, the first at `text`. False: some text is not among the recent ones. What may not
 * stand in a cell never is. */
static bool find_alike(const scanner *s, size_t c, const char *text, uint8_t *cells)
{
    const uint8_t *cell_of_byte = s->short_cell + c * 256;
    const recent *known = s->recent + c * N_RECENT;
    size_t length = s->line_bytes, width = s->cell_bytes[c];
    uint64_t differs = 0;
    for (size_t l = 0; width == 1 && l < TOGETHER; l++, text += length) {
        cells[l] = cell_of_byte[(uint8_t)*text];
        differs |= cells[l] & UNKNOWN;
    }
    for (size_t l = 0; width > 1 && l < TOGETHER; l++, text += length) {
        uint64_t word = cofi_word_of(text, width);
        const recent *r = &known[cofi_place_of(word)];
        cells[l] = (uint8_t)r->cell;
        differs |= r->word ^ word;
    }
    return differs == 0;
}

/* Scans TOGETHER lines if all have the shape of the line noted last and only cells that have been seen, as in tables of codes:
 * then no ends of cells need to be looked for. */
static bool scan_alike(const scan *sc, scanner *s, const char *text, const char *end, size_t row)
{
    size_t length = s->line_bytes, at = 0;
    const uint8_t *bytes = (const uint8_t *)text;
    uint8_t differs = 0;
    if (length == 0 || s->n_wide > 0 || (size_t)(end - text) < length * TOGETHER ||
        row + TOGETHER > sc->most_rows)
        return false;
    for (size_t l = 0; l < TOGETHER; l++, bytes += length) {
        for (size_t i = 0; i < length; i++) differs |= (bytes[i] ^ s->line[i]) & s->fixed[i];
        if (differs != 0) return false;
    }
    for (size_t c = 0; c < sc->n_columns; at += s->cell_bytes[c++] + 1u)
        if (!find_alike(s, c, text + at, (uint8_t *)(s->cells + c * sc->most_rows) + row)) return false;
    return true;
}

/* Scans whole lines from `text` to `end`. False if something is odd. */
static bool scan_lines(const scan *sc, scanner *s, size_t at, const char *text, const char *end,
                       size_t *n_rows)
{
    while (text < end) {
        if (scan_alike(sc, s, text, end, *n_rows) ||
            (s->n_wide == 0 && take_shape(sc, s, text, end) && scan_alike(sc, s, text, end, *n_rows))) {
            *n_rows += TOGETHER;
            text += s->line_bytes * TOGETHER;
            continue;
        }
        const char *stop = end - text > PART ? memchr(text + PART, '\n', (size_t)(end - text) - PART) : NULL;
        stop = stop != NULL ? stop + 1 : end;
        if (!scan_part(sc, s, at, text, stop, n_rows)) return false;
        text = stop;
    }
    return true;
}

/* ---- Stretches ---------------------------------------------------------------------------------- */

static bool read_at(const scan *sc, char *to, size_t from, size_t n)
{
    if (sc->fd < 0) {
        memcpy(to, sc->bytes + from, n);
        return true;
    }
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(sc->fd, to + done, n - done, (off_t)(from + done));
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

/* The lines that begin within the stretch: from after its first newline (from its start if it is the first
 * stretch) to the first newline at or after its end. The byte before the stretch is read too, because a
 * line may begin exactly at its start. */
static bool take_lines(const scan *sc, scanner *s, size_t at, const char **text, const char **end)
{
    size_t from = sc->begin + at * STRETCH, to = from + STRETCH < sc->end ? from + STRETCH : sc->end;
    size_t most = to + SLACK < sc->end ? to + SLACK : sc->end, before = at > 0;
    size_t n = most - (from - before);
    if (!read_at(sc, s->text, from - before, n)) return false;
    if (most == sc->end && !sc->closed) s->text[n++] = '\n';
    memset(s->text + n, 0, TAIL);
    *text = s->text;
    if (before) {
        const char *newline = memchr(s->text, '\n', n);
        if (newline == NULL) return false;
        *text = newline + 1;
    }
    const char *last = s->text + (to - (from - before)) - 1; /* the last byte of the stretch */
    if (to == sc->end) {
        *end = s->text + n;
        return *text <= *end;
    }
    const char *newline = memchr(last, '\n', n - (size_t)(last - s->text));
    if (newline == NULL) return false;
    *end = newline + 1;
    return *text <= *end;
}

static bool keep_cells(const scan *sc, const scanner *s, size_t n_rows, stretch *st)
{
    st->n_rows = n_rows;
    st->column = cofi_alloc_zero(&sc->env, sc->n_columns, sizeof *st->column);
    if (st->column == NULL) return false;
    for (size_t c = 0; c < sc->n_columns; c++) {
        piece *p = &st->column[c];
        const uint32_t *cells = s->cells + c * sc->most_rows;
        p->width = s->encoder[c].n_values > NARROW ? 4 : 1;
        p->cells = cofi_alloc(&sc->env, n_rows, p->width);
        if (p->cells == NULL) return false;
        if (s->wide[c] && p->width == 1)
            for (size_t i = 0; i < n_rows; i++) ((uint8_t *)p->cells)[i] = (uint8_t)cells[i];
        else
            memcpy(p->cells, cells, n_rows * p->width);
    }
    return true;
}

static void tell(scan *sc, size_t at)
{
    cof_progress progress = {.phase = COF_PHASE_READ, .done = sc->begin + at * STRETCH, .total = sc->end};
    progress.elapsed_s = cofi_now_s() - sc->began_s;
    if (sc->env.progress != NULL) sc->env.progress(sc->env.ctx, &progress);
    if (cofi_should_stop(&sc->env)) /* the serial parser will also be told, and reports it */
        atomic_store_explicit(&sc->odd, true, memory_order_relaxed);
}

static void scan_task(void *ctx, uint32_t worker, size_t at)
{
    scan *sc = ctx;
    scanner *s = &sc->scanner[worker];
    const char *text, *end;
    size_t n_rows = 0;
    if (worker == 0) tell(sc, at);
    if (atomic_load_explicit(&sc->odd, memory_order_relaxed)) return;
    sc->stretches[at].scanner = worker;
    for (size_t c = 0; c < sc->n_columns; c++) s->later[c] = s->wide[c], s->first[c] = 0;
    bool plain = take_lines(sc, s, at, &text, &end) && scan_lines(sc, s, at, text, end, &n_rows) &&
                 look_up_all(sc, s, at, n_rows) && keep_cells(sc, s, n_rows, &sc->stretches[at]);
    if (!plain) atomic_store_explicit(&sc->odd, true, memory_order_relaxed);
}

/* ---- Columns ------------------------------------------------------------------------------------ */

/* Merges the values of the other scanners into the first one's dictionary; rank[t][id] is the new id. */
static bool merge_values(const scan *sc, size_t c)
{
    cofi_encoder *all = &sc->scanner[0].encoder[c];
    size_t first_missing = sc->scanner[0].missing_at[c];
    for (uint32_t t = 1; t < sc->n_scanners; t++) {
        scanner *s = &sc->scanner[t];
        cofi_encoder *e = &s->encoder[c];
        s->rank[c] = cofi_alloc(&sc->env, e->n_values, sizeof *s->rank[c]);
        if (s->rank[c] == NULL) return false;
        for (uint32_t id = 0; id < e->n_values; id++) {
            const char *text = e->text + e->offset[id];
            if (cofi_encoder_intern(all, text, strlen(text), &s->rank[c][id]) != COF_OK) return false;
        }
        if (s->missing_at[c] < first_missing) {
            char *text = all->missing_text;
            all->missing_text = e->missing_text;
            e->missing_text = text;
            first_missing = s->missing_at[c];
        }
    }
    return true;
}

static bool rank_values(const scan *sc, size_t c, cofi_column *column)
{
    cofi_encoder *all = &sc->scanner[0].encoder[c];
    uint32_t *rank = cofi_alloc(&sc->env, all->n_values, sizeof *rank);
    sc->scanner[0].rank[c] = rank;
    if (rank == NULL || cofi_encoder_finish_values(all, rank, column) != COF_OK) return false;
    for (uint32_t t = 1; t < sc->n_scanners; t++)
        for (uint32_t id = 0; id < sc->scanner[t].encoder[c].n_values; id++)
            sc->scanner[t].rank[c][id] = rank[sc->scanner[t].rank[c][id]];
    return true;
}

static void put_code(cofi_column *column, size_t row, uint32_t code)
{
    if (column->width == 1)
        ((uint8_t *)column->codes)[row] = (uint8_t)code;
    else if (column->width == 2)
        ((uint16_t *)column->codes)[row] = (uint16_t)code;
    else
        ((uint32_t *)column->codes)[row] = code;
}

/* Writes the codes of one stretch; the cells are ids plus one of the scanner to which the ranks belong. */
static void put_codes(const stretch *st, const piece *from, const uint32_t *rank, uint32_t n_ranks,
                      cofi_column *column)
{
    uint64_t n_missing = 0;
    if (from->width == 1 && column->width == 1) {
        uint8_t code[256] = {(uint8_t)column->n_values};
        uint8_t *to = (uint8_t *)column->codes + st->first_row;
        const uint8_t *cell = from->cells;
        for (uint32_t id = 0; id < n_ranks && id < 255; id++) code[id + 1] = (uint8_t)rank[id];
        for (size_t i = 0; i < st->n_rows; i++) n_missing += cell[i] == 0;
        for (size_t i = 0; i < st->n_rows; i++) to[i] = code[cell[i]];
    } else {
        for (size_t i = 0; i < st->n_rows; i++) {
            uint32_t cell =
                from->width == 1 ? ((const uint8_t *)from->cells)[i] : ((const uint32_t *)from->cells)[i];
            n_missing += cell == 0;
            put_code(column, st->first_row + i, cell == 0 ? column->n_values : rank[cell - 1]);
        }
    }
    column->n_missing += n_missing;
}

static bool make_column(const scan *sc, size_t c)
{
    cofi_column *column = &sc->table->column[c];
    if (!merge_values(sc, c) || !rank_values(sc, c, column)) return false;
    column->width = column->n_values <= UINT8_MAX ? 1 : column->n_values <= UINT16_MAX ? 2 : 4;
    column->codes = cofi_alloc_column(&sc->env, c, sc->table->n_rows, column->width, &column->block);
    if (column->codes == NULL) return false;
    for (size_t at = 0; at < sc->n_stretches; at++) {
        const stretch *st = &sc->stretches[at];
        const scanner *s = &sc->scanner[st->scanner];
        put_codes(st, &st->column[c], s->rank[c], s->encoder[c].n_values, column);
        /* frees the cells early, so that the table is not in memory twice */
        cofi_release(&sc->env, st->column[c].cells);
        st->column[c].cells = NULL;
    }
    for (uint32_t t = 0; t < sc->n_scanners; t++) {
        scanner *s = &sc->scanner[t];
        cofi_encoder_free(&s->encoder[c]);
        cofi_release(&sc->env, s->rank[c]);
        s->rank[c] = NULL;
    }
    return cofi_column_recognise(&sc->env, column) == COF_OK;
}

static void column_task(void *ctx, uint32_t worker, size_t c)
{
    scan *sc = ctx;
    if (!make_column(sc, c)) atomic_store_explicit(&sc->odd, true, memory_order_relaxed);
}

/* ---- The file ----------------------------------------------------------------------------------- */

static bool open_source(scan *sc, const cofi_source *source)
{
    struct stat about;
    sc->fd = -1;
    sc->bytes = source->bytes;
    sc->end = source->n_bytes;
    if (source->block_bytes != 0) return false; /* a test of the serial parser */
    if (source->bytes != NULL) return sc->end >= SMALLEST;
    if (strcmp(source->name, "-") == 0) return false;
    sc->fd = open(source->name, O_RDONLY | O_CLOEXEC);
    if (sc->fd < 0 || fstat(sc->fd, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    if ((uint64_t)about.st_size > SIZE_MAX)
        return false; /* on 32-bit processors; the serial parser needs no size */
    sc->end = (size_t)about.st_size;
    return sc->end >= SMALLEST;
}

/* Whether the first bytes show another encoding or another format; the serial parser checks the same. */
static bool foreign(const char *head)
{
    static const char *const magic[] = {"\xFF\xFE", "\xFE\xFF", "\x1F\x8B", "\x28\xB5\x2F\xFD"};
    for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
        if (memcmp(head, magic[i], strlen(magic[i])) == 0) return true;
    return head[0] == '\0';
}

static size_t count_quotes(const char *text, size_t n)
{
    size_t n_quotes = 0;
    for (size_t i = 0; i < n; i++) n_quotes += text[i] == '"';
    return n_quotes;
}

/* The first line determines the delimiter, the number of columns and their names; the serial parser reads
 * it. */
static bool read_head(scan *sc, cofi_parser *names, const char *shown)
{
    char *head = cofi_alloc(&sc->env, HEAD + COFI_BLOCK_TAIL, 1), last = 0;
    size_t n = sc->end < HEAD ? sc->end : HEAD, mark = 0;
    bool good =
        head != NULL && read_at(sc, head, 0, n) && read_at(sc, &last, sc->end - 1, 1) && !foreign(head);
    if (good && memcmp(head, "\xEF\xBB\xBF", 3) == 0) mark = 3;
    const char *newline = good ? memchr(head + mark, '\n', n - mark) : NULL;
    if (newline != NULL) {
        size_t line = (size_t)(newline + 1 - head);
        cofi_guess guess = {0};
        cofi_guess_feed(&guess, head + mark, line - mark);
        if (sc->dialect.delimiter == 0) sc->dialect.delimiter = cofi_guess_delimiter(&guess);
        memset(head + line, 0, COFI_BLOCK_TAIL);
        cofi_parser_init(names, &sc->env, shown, &sc->dialect);
        /* with an odd number of quotes, the line does not end here */
        good = count_quotes(head + mark, line - mark) % 2 == 0 &&
               cofi_parser_feed(names, head + mark, head + line, NULL) == COF_OK && names->n_columns > 0 &&
               names->n_columns <= MOST_COLUMNS;
        sc->begin = sc->dialect.no_header ? mark : line;
    }
    cofi_release(&sc->env, head);
    sc->closed = last == '\n';
    return good && newline != NULL && sc->begin < sc->end && last != '\r';
}

static bool open_scanner(const scan *sc, scanner *s)
{
    const cof_env *env = &sc->env;
    size_t n = sc->n_columns;
    s->text = cofi_alloc(env, STRETCH + SLACK + TAIL + 2, 1);
    s->cells = cofi_alloc(env, n * sc->most_rows, sizeof *s->cells);
    s->asked = cofi_alloc(env, n * sc->most_rows, sizeof *s->asked);
    s->encoder = cofi_alloc(env, n, sizeof *s->encoder);
    s->recent = cofi_alloc_zero(env, n * N_RECENT, sizeof *s->recent);
    s->short_cell = cofi_alloc(env, n, 256);
    s->line = cofi_alloc_zero(env, n + 1, MOST_BYTES + 1);
    s->fixed = cofi_alloc_zero(env, n + 1, MOST_BYTES + 1);
    s->cell_bytes = cofi_alloc_zero(env, n, 1);
    s->empty = cofi_alloc(env, n, sizeof *s->empty);
    s->wide = cofi_alloc_zero(env, n, 1);
    s->later = cofi_alloc_zero(env, n, 1);
    s->first = cofi_alloc_zero(env, n, sizeof *s->first);
    s->missing_at = cofi_alloc(env, n, sizeof *s->missing_at);
    s->rank = cofi_alloc_zero(env, n, sizeof *s->rank);
    for (size_t c = 0; s->encoder != NULL && c < n; c++) {
        cofi_encoder_init(&s->encoder[c], env);
        s->encoder[c].may_repeat = true;
    }
    if (s->short_cell != NULL) memset(s->short_cell, UNKNOWN, n * 256);
    if (s->empty != NULL) memset(s->empty, 0xFF, n * sizeof *s->empty);
    if (s->missing_at != NULL) memset(s->missing_at, 0xFF, n * sizeof *s->missing_at);
    return s->text != NULL && s->cells != NULL && s->asked != NULL && s->encoder != NULL &&
           s->recent != NULL && s->short_cell != NULL && s->line != NULL && s->fixed != NULL &&
           s->cell_bytes != NULL && s->empty != NULL && s->wide != NULL && s->later != NULL &&
           s->first != NULL && s->missing_at != NULL && s->rank != NULL;
}

static void close_scanner(const scan *sc, scanner *s)
{
    for (size_t c = 0; s->encoder != NULL && c < sc->n_columns; c++) cofi_encoder_free(&s->encoder[c]);
    for (size_t c = 0; s->rank != NULL && c < sc->n_columns; c++) cofi_release(&sc->env, s->rank[c]);
    void *owned[] = {s->text,       s->cells, s->asked, s->encoder,    s->recent,
                     s->short_cell, s->line,  s->fixed, s->cell_bytes, s->empty,
                     s->wide,       s->later, s->first, s->missing_at, s->rank};
    for (size_t b = 0; b < sizeof owned / sizeof *owned; b++) cofi_release(&sc->env, owned[b]);
}

static bool open_scan(scan *sc, const cofi_parser *names, uint32_t n_scanners)
{
    sc->n_columns = names->n_columns;
    sc->n_stretches = (sc->end - sc->begin + STRETCH - 1) / STRETCH;
    sc->most_rows = (STRETCH + SLACK) / sc->n_columns + 2; /* a line has at least one byte per cell */
    sc->stretches = cofi_alloc_zero(&sc->env, sc->n_stretches, sizeof *sc->stretches);
    sc->scanner = cofi_alloc_zero(&sc->env, n_scanners, sizeof *sc->scanner);
    if (sc->stretches == NULL || sc->scanner == NULL) return false;
    sc->n_scanners = n_scanners;
    for (uint32_t t = 0; t < n_scanners; t++)
        if (!open_scanner(sc, &sc->scanner[t])) return false;
    for (size_t i = 0; i < sc->dialect.n_na; i++) sc->begins_na[(unsigned char)sc->dialect.na[i][0]] = true;
    return true;
}

static void close_scan(scan *sc)
{
    for (size_t at = 0; sc->stretches != NULL && at < sc->n_stretches; at++) {
        stretch *st = &sc->stretches[at];
        for (size_t c = 0; st->column != NULL && c < sc->n_columns; c++)
            cofi_release(&sc->env, st->column[c].cells);
        cofi_release(&sc->env, st->column);
    }
    for (uint32_t t = 0; sc->scanner != NULL && t < sc->n_scanners; t++) close_scanner(sc, &sc->scanner[t]);
    COFI_RELEASE_ALL(&sc->env, sc->stretches, sc->scanner);
    if (sc->fd >= 0) close(sc->fd);
}

static bool make_table(scan *sc, const cofi_parser *names, cofi_team *team)
{
    size_t n_rows = 0;
    for (size_t at = 0; at < sc->n_stretches; at++) {
        sc->stretches[at].first_row = n_rows;
        n_rows += sc->stretches[at].n_rows;
    }
    if (n_rows == 0 || n_rows > COFI_MOST_ROWS ||
        cofi_table_new(&sc->env, sc->n_columns, &sc->table, NULL) != COF_OK)
        return false;
    sc->table->n_rows = n_rows;
    for (size_t c = 0; c < sc->n_columns; c++) {
        const char *name = names->names.text + names->names.offset[c];
        sc->table->column[c].name = cofi_copy_text(&sc->env, name, strlen(name));
        if (sc->table->column[c].name == NULL) return false;
    }
    cofi_team_run(team, column_task, sc, sc->n_columns);
    return !atomic_load(&sc->odd);
}

cof_table *cofi_scan_csv(const cof_env *env, const cofi_source *source, const cofi_dialect *dialect,
                         uint32_t threads)
{
    scan sc = {.env = *env, .dialect = *dialect, .began_s = cofi_now_s()};
    cofi_parser names;
    cofi_team *team = NULL;
    cofi_parser_init(&names, env, source->name, dialect);
    bool good = open_source(&sc, source) && read_head(&sc, &names, source->name) &&
                cofi_team_open(env, threads, &team, NULL) == COF_OK &&
                open_scan(&sc, &names, cofi_team_size(team));
    if (good) {
        cofi_team_run(team, scan_task, &sc, sc.n_stretches);
        good = !atomic_load(&sc.odd) && make_table(&sc, &names, team);
    }
    if (!good) {
        cof_table_free(sc.table);
        sc.table = NULL;
    }
    close_scan(&sc);
    cofi_parser_free(&names);
    cofi_team_close(team);
    return sc.table;
}
