/* Synthetic tables from a seed: the uniform ones of the paper, and planted clusters. */
#include "encode.h"
#include "generate_mixed.h"

#include "../core/rng.h"

#include <stdio.h>

typedef struct plan {
    cof_generate_options o;
    cofi_rng rng;
    uint32_t *mode;  /* k x n_columns: the most frequent value of each planted cluster */
    cof_piece visit; /* who gets the rows in pieces; NULL: they become one table */
    void *ctx;
    uint64_t n_given;
} plan;

static cof_status check_plan(plan *p, cof_error *err)
{
    cof_generate_options *o = &p->o;
    if (o->kind < COF_GENERATE_UNIFORM || o->kind > COF_GENERATE_MIXED)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no kind %d of synthetic table", (int)o->kind);
    if (!(o->noise <= 1)) {
        char noise[COF_NUMBER_BYTES];
        return cofi_fail(err, COF_ERR_ARGUMENT, "the noise is a chance, at most 1, not %s",
                         cof_text_number(noise, sizeof noise, o->noise));
    }
    if (o->n_rows > COFI_MOST_ROWS) return cofi_too_many_rows(err);
    if (o->n_columns > COFI_MOST_COLUMNS)
        return cofi_fail(err, COF_ERR_ARGUMENT, "a synthetic table has at most %zu columns",
                         COFI_MOST_COLUMNS);
    if (o->family < COF_MIXED_BOTH || o->family > COF_MIXED_IMBALANCE)
        return cofi_fail(err, COF_ERR_ARGUMENT, "there is no family %d of mixed tables", (int)o->family);
    if (o->k > COF_MOST_CLUSTERS)
        return cofi_fail(err, COF_ERR_ARGUMENT, "at most %d clusters can be planted", COF_MOST_CLUSTERS);
    if (o->kind == COF_GENERATE_MIXED) {
        o->n_columns = COFI_MIXED_CATEGORIES + COFI_MIXED_NUMBERS;
        if (o->k == 0) o->k = 3 + o->seed % 2;
    }
    if (o->n_rows == 0) o->n_rows = 1000;
    if (o->n_columns == 0) o->n_columns = 20;
    if (o->n_values == 0) o->n_values = 5;
    if (o->k == 0) o->k = 5;
    if (o->noise == 0) o->noise = 0.3;
    cofi_rng_seed(&p->rng, o->seed, 0);
    return COF_OK;
}

/* A value is the mode of its cluster, or drawn at random where there are no clusters or noise replaces it. */
static cof_status draw_row(plan *p, cofi_encoder *encoder)
{
    const cof_generate_options *o = &p->o;
    bool planted = o->kind == COF_GENERATE_PLANTED;
    uint32_t cluster = planted ? (uint32_t)cofi_rng_below(&p->rng, o->k) : 0;
    cof_status status = COF_OK;
    for (uint32_t c = 0; c < o->n_columns && status == COF_OK; c++) {
        bool at_random = !planted || cofi_rng_unit(&p->rng) < o->noise;
        status = cofi_encoder_append(&encoder[c], at_random ? (uint32_t)cofi_rng_below(&p->rng, o->n_values)
                                                            : p->mode[(size_t)cluster * o->n_columns + c]);
    }
    if (status == COF_OK && planted) status = cofi_encoder_append(&encoder[o->n_columns], cluster);
    return status;
}

/* The rows drawn so far as a table; the encoders are empty afterwards. */
static cof_status make_table(const plan *p, cofi_encoder *encoder, size_t n_columns, cof_table **out,
                             cof_error *err)
{
    enum { SPACE = 16 };
    const cof_env *env = &encoder[0].env;
    bool mixed = p->o.kind == COF_GENERATE_MIXED;
    const char **names = cofi_alloc(env, n_columns, sizeof *names + SPACE);
    if (names == NULL) return cofi_no_memory(err);
    char *text = (char *)(names + n_columns);
    for (size_t c = 0; c < n_columns; c++, text += SPACE) {
        bool number = mixed && c >= COFI_MIXED_CATEGORIES;
        snprintf(text, SPACE, number ? "x%u" : "a%u",
                 (unsigned)(number ? c - COFI_MIXED_CATEGORIES + 1 : c + 1));
        names[c] = c < p->o.n_columns ? text : "class";
    }
    cof_status status = cofi_table_from_encoders(env, encoder, n_columns, names, COFI_ORDER_SORTED, out, err);
    if (status == COF_OK && n_columns > p->o.n_columns) (*out)->column[n_columns - 1].role = COF_ROLE_LABEL;
    cofi_release(env, names);
    return status;
}

static cof_status give_piece(plan *p, cofi_encoder *encoder, size_t n_columns, cof_error *err)
{
    cof_table *piece;
    COFI_TRY(make_table(p, encoder, n_columns, &piece, err));
    cof_status status = p->visit(p->ctx, piece, p->n_given, err);
    p->n_given += piece->n_rows;
    cof_table_free(piece);
    return status;
}

/* Values are named 1, 2, ... and interned before any row, so that each cell is one append. */
static cof_status begin_piece(const plan *p, cofi_encoder *encoder, size_t n_columns)
{
    for (size_t c = 0; c < n_columns; c++) {
        uint32_t n_values = c < p->o.n_columns ? p->o.n_values : p->o.k, id;
        for (uint32_t v = 0; v < n_values; v++) {
            char text[16];
            int n_bytes = snprintf(text, sizeof text, "%u", v + 1);
            COFI_TRY(cofi_encoder_intern(&encoder[c], text, (size_t)n_bytes, &id));
        }
    }
    return COF_OK;
}

static cof_status draw_rows(plan *p, cofi_encoder *encoder, size_t n_columns, cof_error *err)
{
    const cof_generate_options *o = &p->o;
    const cof_env *env = &encoder[0].env;
    cof_progress now = {.phase = COF_PHASE_GENERATE, .total = o->n_rows};
    double began_s = cofi_now_s();
    cof_status status = begin_piece(p, encoder, n_columns);
    for (size_t at = 0; p->mode != NULL && at < (size_t)o->k * o->n_columns; at++)
        p->mode[at] = (uint32_t)cofi_rng_below(&p->rng, o->n_values);
    /* rows between two checks for a stop */
    uint64_t some = n_columns < 64 ? 65536 : 1 + 64 * 65536 / n_columns;
    for (uint64_t i = 0; i < o->n_rows && status == COF_OK; i++) {
        if (i % some == 0 && cofi_should_stop(env))
            return cofi_fail(err, COF_ERR_STOPPED, "stopped before the table was complete");
        if (i % 65536 == 0 && env->progress != NULL) {
            now.done = i;
            now.elapsed_s = cofi_now_s() - began_s;
            env->progress(env->ctx, &now);
        }
        status = draw_row(p, encoder);
        if (p->visit == NULL || (i + 1) % COFI_PIECE_ROWS != 0 || status != COF_OK) continue;
        COFI_TRY(give_piece(p, encoder, n_columns, err));
        status = begin_piece(p, encoder, n_columns);
    }
    return status == COF_ERR_MEMORY ? cofi_no_memory(err) : status;
}

static cof_status build(plan *p, cofi_encoder *encoder, size_t n_columns, cof_table **out, cof_error *err)
{
    const cof_env *env = &encoder[0].env;
    if (p->o.kind == COF_GENERATE_MIXED) {
        cof_status status = cofi_generate_mixed(env, &p->o, encoder);
        if (status == COF_ERR_STOPPED) return cofi_fail(err, status, "stopped before the table was complete");
        if (status != COF_OK) return cofi_no_memory(err);
    } else {
        COFI_TRY(draw_rows(p, encoder, n_columns, err));
    }
    if (p->visit == NULL) return make_table(p, encoder, n_columns, out, err);
    return p->n_given < p->o.n_rows ? give_piece(p, encoder, n_columns, err) : COF_OK;
}

static cof_status generate(const cof_env *lent, const cof_generate_options *options, plan *p, cof_table **out,
                           cof_error *err)
{
    cof_env env = cofi_env_resolve(lent);
    COFI_COPY_OPTIONS(&p->o, options);
    cof_status status = check_plan(p, err);
    if (status != COF_OK) return status;
    bool planted = p->o.kind == COF_GENERATE_PLANTED, with_class = p->o.kind != COF_GENERATE_UNIFORM;
    size_t n_columns = (size_t)p->o.n_columns + (with_class ? 1 : 0);
    cofi_encoder *encoder = cofi_alloc(&env, n_columns, sizeof *encoder);
    if (planted) p->mode = cofi_alloc(&env, (size_t)p->o.k * p->o.n_columns, sizeof *p->mode);
    if (encoder == NULL || (planted && p->mode == NULL)) {
        status = cofi_no_memory(err);
    } else {
        for (size_t c = 0; c < n_columns; c++) cofi_encoder_init(&encoder[c], &env);
        status = build(p, encoder, n_columns, out, err);
        for (size_t c = 0; c < n_columns; c++) cofi_encoder_free(&encoder[c]);
    }
    COFI_RELEASE_ALL(&env, encoder, p->mode);
    return status;
}

cof_status cof_table_generate(const cof_env *env, const cof_generate_options *options, cof_table **out,
                              cof_error *err)
{
    plan p = {.visit = NULL};
    return generate(env, options, &p, out, err);
}

cof_status cof_table_generate_pieces(const cof_env *env, const cof_generate_options *options, cof_piece visit,
                                     void *ctx, cof_error *err)
{
    plan p = {.visit = visit, .ctx = ctx};
    if (visit == NULL) return cofi_fail(err, COF_ERR_ARGUMENT, "cof_table_generate_pieces needs a function");
    return generate(env, options, &p, NULL, err);
}
