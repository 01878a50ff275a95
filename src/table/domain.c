/* Domains of columns: copied, coded as bytes, and matched. */
#include "encode.h"
#include "tidy.h"

#include <assert.h>
#include <math.h>

void cofi_domain_copy(cofi_blocks *own, const cofi_column *from, cofi_column *to)
{
    size_t n_text = 0;
    for (uint32_t v = 0; v < from->n_values; v++) n_text += strlen(cofi_column_text(from, v)) + 1;
    *to = (cofi_column){.role = from->role, .ordinal = from->ordinal, .n_values = from->n_values};
    to->name = cofi_blocks_copy(own, from->name, strlen(from->name) + 1, 1);
    to->missing_text = cofi_blocks_copy(own, from->missing_text, strlen(from->missing_text) + 1, 1);
    to->offset = cofi_blocks_add(own, from->n_values, sizeof *to->offset);
    to->text = cofi_blocks_add(own, n_text, 1);
    if (from->cut != NULL && (to->cut = cofi_blocks_copy(own, from->cut, 1, sizeof *to->cut)) != NULL)
        to->cut->edge = cofi_blocks_copy(own, from->cut->edge, from->cut->n_edges, sizeof *to->cut->edge);
    size_t at = 0;
    for (uint32_t v = 0; v < from->n_values && !own->short_of_memory; v++) {
        const char *text = cofi_column_text(from, v);
        to->offset[v] = at;
        at += strlen(strcpy(to->text + at, text)) + 1;
    }
}

/* ---- Bytes --------------------------------------------------------------------------------------- */

/* Bytes of the next n texts with a NUL each; SIZE_MAX if they are not there. */
static size_t measure_texts(cofi_reader r, uint32_t n, bool counted)
{
    size_t sum = 0;
    for (uint32_t v = 0; v < n && !r.failed; v++) {
        uint32_t n_bytes = cofi_get_u32(&r);
        cofi_get_bytes(&r, n_bytes);
        if (counted) cofi_get_u64(&r);
        sum += (size_t)n_bytes + 1;
    }
    return r.failed ? SIZE_MAX : sum;
}

void cofi_code_values(cofi_codec *c, cofi_column *column, uint32_t n, bool counted)
{
    size_t at = 0, n_text = c->to == NULL ? measure_texts(c->from, n, counted) : 0;
    bool room = cofi_code_check(c, n_text < SIZE_MAX, NULL) &&
                cofi_code_room(c, &column->offset, n, sizeof *column->offset) &&
                cofi_code_room(c, &column->text, n_text, 1) &&
                (!counted || cofi_code_room(c, &column->rows_of, (uint64_t)n + 1, sizeof *column->rows_of));
    for (uint32_t v = 0; v < n && room; v++) {
        if (c->to != NULL) {
            cofi_put_text(c->to, cofi_column_text(column, v));
        } else {
            uint32_t n_bytes;
            const char *text = cofi_get_text(&c->from, &n_bytes);
            column->offset[v] = at;
            if (text == NULL) return;
            memcpy(column->text + at, text, n_bytes); /* the NUL is there */
            at += (size_t)n_bytes + 1;
        }
        if (counted) COFI_CODE(c, &column->rows_of[v]);
    }
}

/* ---- Matching ------------------------------------------------------------------------------------ */

/* Finds the texts that have no value yet by their spelling; of equal spellings the first counts. */
static cof_status match_spellings(const cof_env *env, const cofi_column *known, const cofi_column *other,
                                  uint32_t tidying, uint32_t *value)
{
    char buffer[COFI_SPELLING_BYTES];
    cofi_encoder spelt;
    size_t n;
    uint32_t id, *value_of = cofi_alloc(env, known->n_values, sizeof *value_of);
    cof_status status = value_of != NULL ? COF_OK : COF_ERR_MEMORY;
    cofi_encoder_init(&spelt, env);
    for (uint32_t v = 0; status == COF_OK && v < known->n_values; v++) {
        uint32_t n_before = spelt.n_values;
        const char *text = cofi_spelling(cofi_column_text(known, v), tidying, buffer, &n);
        status = cofi_encoder_intern(&spelt, text, n, &id);
        if (status == COF_OK && id == n_before) value_of[id] = v;
    }
    uint32_t n_spelt = spelt.n_values;
    for (uint32_t v = 0; status == COF_OK && v < other->n_values; v++) {
        if (value[v] != COFI_NONE) continue;
        const char *text = cofi_spelling(cofi_column_text(other, v), tidying, buffer, &n);
        status = cofi_encoder_intern(&spelt, text, n, &id);
        if (status == COF_OK && id < n_spelt) value[v] = value_of[id];
    }
    cofi_encoder_free(&spelt);
    cofi_release(env, value_of);
    return status;
}

/* 1 and 0 for yes and no as programs write them, -1 for other texts. */
static int truth_of(const char *text)
{
    static const char *const words[] = {"0", "1", "false", "true", "False", "True", "FALSE", "TRUE"};
    for (int w = 0; w < 8; w++)
        if (strcmp(text, words[w]) == 0) return w % 2;
    return -1;
}

static void match_truths(const cofi_column *known, const cofi_column *other, uint32_t *value)
{
    uint32_t value_of[2] = {COFI_NONE, COFI_NONE};
    if (known->n_values > 2) return;
    for (uint32_t v = 0; v < known->n_values; v++) {
        int truth = truth_of(cofi_column_text(known, v));
        if (truth < 0) return;
        value_of[truth] = v;
    }
    for (uint32_t v = 0; v < other->n_values; v++) {
        int truth = value[v] == COFI_NONE ? truth_of(cofi_column_text(other, v)) : -1;
        if (truth >= 0) value[v] = value_of[truth];
    }
}

cof_status cofi_domain_match(const cof_env *env, const cofi_column *known, const cofi_column *other,
                             uint32_t tidying, uint32_t *value)
{
    const cofi_cut *cut = known->cut;
    cof_status status = COF_OK;
    for (uint32_t v = 0; v < other->n_values; v++) {
        double point;
        value[v] = COFI_NONE;
        if (cut != NULL && cofi_reading_parse(&cut->reading, cofi_column_text(other, v), &point))
            value[v] = isnan(point) ? known->n_values : cofi_cut_bin(cut, point);
    }
    assert(known->n_values < COFI_NONE && (cut == NULL || known->n_values == cut->n_edges + 1));
    value[other->n_values] = known->n_values;
    if (cut != NULL) return COF_OK;
    status = match_spellings(env, known, other, 0, value);
    if (status == COF_OK && (tidying & ~COFI_MATCH_TRUTHS) != 0)
        status = match_spellings(env, known, other, tidying, value);
    if ((tidying & COFI_MATCH_TRUTHS) != 0) match_truths(known, other, value);
    return status;
}
