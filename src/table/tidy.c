/* Joins values that differ only by surrounding blanks or letter case. */
#include "tidy.h"

#include "encode.h"

/* Bytes of a blank, the no-break space of U+00A0 included; 0: another character. */
static size_t blank_bytes(const char *text)
{
    if (text[0] == '\xC2' && text[1] == '\xA0') return 2;
    return *text == ' ' || (*text >= '\t' && *text <= '\r');
}

/* The text of *n bytes without blanks around it. */
static const char *trim(const char *text, size_t *n)
{
    size_t end = 0, blank;
    while ((blank = blank_bytes(text)) > 0) text += blank;
    for (size_t i = 0; text[i] != '\0'; i += blank > 0 ? blank : 1)
        if ((blank = blank_bytes(text + i)) == 0) end = i + 1;
    *n = end;
    return text;
}

const char *cofi_spelling(const char *text, uint32_t tidying, char *buffer, size_t *n)
{
    *n = strlen(text);
    if ((tidying & COF_TIDY_TRIM) != 0) text = trim(text, n);
    if ((tidying & COF_TIDY_CASE) == 0 || *n > COFI_SPELLING_BYTES) return text;
    for (size_t i = 0; i < *n; i++) {
        unsigned char byte = (unsigned char)text[i];
        /* A to Z, and after 0xC3 the letters of Latin-1 from U+00C0 on, without the multiplication sign */
        bool upper = (byte >= 'A' && byte <= 'Z') ||
                     (i > 0 && text[i - 1] == '\xC3' && byte >= 0x80 && byte <= 0x9E && byte != 0x97);
        buffer[i] = (char)(upper ? byte + 0x20 : byte);
    }
    return buffer;
}

typedef struct joining {
    cof_table *table;
    uint32_t tidying;
    const char *const *na;
    size_t n_na;
    char buffer[COFI_SPELLING_BYTES];
} joining;

static bool is_missing(const joining *j, const char *text, size_t n)
{
    for (size_t i = 0; i < j->n_na; i++)
        if (strlen(j->na[i]) == n && memcmp(j->na[i], text, n) == 0) return true;
    return false;
}

/* group[v]: the values that are one with v share it; best[group]: the one of them with the most rows. *changed tells
 * whether any text or any group is new. */
static cof_status group_values(joining *j, const cofi_column *c, const uint64_t *rows, uint32_t *group,
                               uint32_t *best, bool *changed)
{
    cofi_encoder known;
    cof_status status = COF_OK;
    cofi_encoder_init(&known, &j->table->env);
    for (uint32_t v = 0; status == COF_OK && v < c->n_values; v++) {
        uint32_t n_known = known.n_values;
        size_t n;
        const char *text = cofi_column_text(c, v), *plain = cofi_spelling(text, j->tidying, j->buffer, &n);
        status = cofi_encoder_intern(&known, plain, n, &group[v]);
        if (status != COF_OK) break;
        bool first = group[v] == n_known;
        if (first || rows[v] > rows[best[group[v]]]) best[group[v]] = v;
        trim(text, &n);
        *changed = *changed || !first || ((j->tidying & COF_TIDY_TRIM) != 0 && text[n] != '\0');
    }
    cofi_encoder_free(&known);
    return status;
}

/* The column with one value for each group, spelled as `best` is; it must have been freed by then. */
static cof_status recode(joining *j, const cofi_column *c, const uint32_t *group, const uint32_t *best,
                         uint32_t *id, cofi_column *out)
{
    cofi_encoder e;
    cof_status status = COF_OK;
    cofi_encoder_init(&e, &j->table->env);
    for (uint32_t v = 0; status == COF_OK && v < c->n_values; v++) {
        size_t n;
        const char *text =
            cofi_spelling(cofi_column_text(c, best[group[v]]), j->tidying & COF_TIDY_TRIM, j->buffer, &n);
        if (is_missing(j, text, n))
            id[v] = COFI_ID_MISSING;
        else
            status = cofi_encoder_intern(&e, text, n, &id[v]);
    }
    if (status == COF_OK) {
        e.missing_text = cofi_copy_text(&e.env, c->missing_text, strlen(c->missing_text));
        if (e.missing_text == NULL) status = COF_ERR_MEMORY;
    }
    for (size_t i = 0; status == COF_OK && i < j->table->n_rows; i++) {
        uint32_t code = cofi_column_code(c, i);
        status = cofi_encoder_append(&e, code < c->n_values ? id[code] : COFI_ID_MISSING);
    }
    if (status == COF_OK)
        status = cofi_encoder_finish(&e, c->ordinal ? COFI_ORDER_AS_INTERNED : COFI_ORDER_SORTED, out);
    cofi_encoder_free(&e);
    return status;
}

static cof_status tidy_column(joining *j, cofi_column *c, cof_error *err)
{
    bool changed = false;
    size_t n = (size_t)c->n_values + 1;
    cofi_column made = {.name = c->name, .number = c->number, .role = c->role, .ordinal = c->ordinal};
    cofi_blocks blocks = {.env = j->table->env};
    uint64_t *rows = cofi_blocks_add(&blocks, n, sizeof *rows);
    uint32_t *group = cofi_blocks_add(&blocks, n, sizeof *group);
    uint32_t *best = cofi_blocks_add(&blocks, n, sizeof *best);
    uint32_t *id = cofi_blocks_add(&blocks, n, sizeof *id);
    cof_status status = cofi_blocks_status(&blocks, NULL);
    if (status == COF_OK) status = cof_column_count(j->table, c->number, rows, n, NULL);
    if (status == COF_OK) status = group_values(j, c, rows, group, best, &changed);
    if (status == COF_OK && changed) status = recode(j, c, group, best, id, &made);
    if (status == COF_OK && changed) {
        cofi_column_free_values(&j->table->env, c);
        *c = made;
    }
    cofi_blocks_release(&blocks);
    return status == COF_OK ? COF_OK : cofi_no_memory(err);
}

/* Models find columns by name, so a name that another column has already is left as it is. */
static cof_status tidy_name(cof_table *table, cofi_column *c, cof_error *err)
{
    size_t n;
    const char *text = trim(c->name, &n);
    if (n == 0 || n == strlen(c->name)) return COF_OK;
    char *name = cofi_copy_text(&table->env, text, n);
    if (name == NULL) return cofi_no_memory(err);
    bool taken = cof_table_find(table, name) != SIZE_MAX;
    cofi_release(&table->env, taken ? name : c->name);
    if (!taken) c->name = name;
    return COF_OK;
}

cof_status cof_table_tidy(cof_table *table, uint32_t tidying, const char *const *na, size_t n_na,
                          cof_error *err)
{
    static const char *const usual[] = {"", "?", "NA"};
    cof_status status = COF_OK;
    joining *j = cofi_alloc(&table->env, 1, sizeof *j);
    if (j == NULL) return cofi_no_memory(err);
    j->table = table;
    j->tidying = tidying;
    j->na = na != NULL ? na : usual;
    j->n_na = na != NULL ? n_na : sizeof usual / sizeof *usual;
    table->tidying |= tidying;
    for (size_t c = 0; status == COF_OK && c < table->n_columns; c++) {
        cofi_column_uncut(&table->env, &table->column[c]);
        if ((tidying & COF_TIDY_TRIM) != 0) status = tidy_name(table, &table->column[c], err);
        if (status == COF_OK) status = tidy_column(j, &table->column[c], err);
    }
    cofi_release(&table->env, j);
    return status;
}
