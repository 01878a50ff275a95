/* Bytes of requests and words of answers. */
#include "request.h"

#include "../../core/rng.h"

#include <math.h>

static const char magic[] = "COFREQST";
enum { WORDS_AT = 16, END_BYTES = 8 };

void cofi_request_begin(cofi_writer *w, cofi_ask kind, const cofi_frame *f)
{
    w->n = 0;
    cofi_put_bytes(w, magic, sizeof magic - 1);
    cofi_put_u32(w, COFI_REQUEST_VERSION);
    cofi_put_u32(w, kind);
    cofi_put_u64(w, 0); /* the words of the answer, at WORDS_AT */
    cofi_put_u32(w, (uint32_t)f->missing);
    cofi_put_u32(w, f->n_attrs);
    cofi_put_u32(w, f->half);
    cofi_put_f64(w, f->unit);
    cofi_put_u64(w, f->n_rows);
    cofi_put_u64(w, f->total_weight);
    for (uint32_t r = 0; r < f->n_attrs; r++) cofi_put_u32(w, f->column[r]);
}

void cofi_request_end(cofi_writer *w, uint64_t n_words)
{
    cofi_fill_u64(w, WORDS_AT, n_words);
    if (!w->failed) cofi_put_u64(w, cofi_checksum(w->bytes, w->n));
}

static void read_frame(cofi_reader *r, uint32_t *column, size_t most_attrs, cofi_frame *f)
{
    f->missing = (int32_t)cofi_get_u32(r);
    f->n_attrs = cofi_get_u32(r);
    f->half = cofi_get_u32(r);
    f->unit = cofi_get_f64(r);
    f->n_rows = cofi_get_u64(r);
    f->total_weight = cofi_get_u64(r);
    f->column = column;
    r->failed |= f->missing < 0 || f->missing > COF_MISSING_ERROR || f->n_attrs == 0 ||
                 f->half > 2 * COFI_N_SPLITS || f->n_attrs > most_attrs || !(f->unit > 0) ||
                 !isfinite(f->unit) || f->total_weight == 0 || f->total_weight >> 44 != 0;
    for (uint32_t a = 0; !r->failed && a < f->n_attrs; a++) {
        column[a] = cofi_get_u32(r);
        r->failed |= column[a] >= most_attrs || (a > 0 && column[a] <= column[a - 1]);
    }
}

cof_status cofi_request_read(const void *bytes, size_t n_bytes, uint32_t *column, size_t most_attrs,
                             cofi_request *q, cof_error *err)
{
    cofi_reader r = {.bytes = bytes, .n = n_bytes};
    const unsigned char *head = cofi_get_bytes(&r, sizeof magic - 1);
    *q = (cofi_request){.kind = 0};
    if (head == NULL || memcmp(head, magic, sizeof magic - 1) != 0)
        return cofi_fail(err, COF_ERR_DATA, "these bytes are not a request");
    uint32_t version = cofi_get_u32(&r);
    if (version != COFI_REQUEST_VERSION)
        return cofi_fail(
            err, COF_ERR_TOO_NEW,
            "the request has version %u, but this shard answers version %d; driver and shards need the "
            "same version of the library",
            version, COFI_REQUEST_VERSION);
    q->kind = cofi_get_u32(&r);
    q->n_words = cofi_get_u64(&r);
    size_t frame_at = r.at;
    read_frame(&r, column, most_attrs, &q->frame);
    cofi_reader end = {.bytes = bytes, .n = n_bytes, .at = n_bytes < END_BYTES ? 0 : n_bytes - END_BYTES};
    if (r.failed || r.at + END_BYTES > n_bytes ||
        cofi_get_u64(&end) != cofi_checksum(bytes, n_bytes - END_BYTES))
        return cofi_fail(err, COF_ERR_DATA, "the request is damaged, or is about another table");
    q->frame_key = cofi_checksum((const char *)bytes + frame_at, r.at - frame_at);
    r.n -= END_BYTES;
    q->body = r;
    return COF_OK;
}

/* ---- Answers ------------------------------------------------------------------------------------- */

static uint64_t weigh_words(const uint64_t *answer, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += answer[i] * (2 * (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) + 1);
    return sum;
}

void cofi_answer_end(uint64_t *answer, size_t n, uint64_t n_rows)
{
    answer[n - 2] = n_rows;
    answer[n - 1] = weigh_words(answer, n - 1);
}

cof_status cofi_answer_check(const uint64_t *answer, size_t n, uint64_t n_rows, cof_error *err)
{
    if (answer[n - 1] != weigh_words(answer, n - 1))
        return cofi_fail(err, COF_ERR_DATA, "the answer of the shards is damaged: its checksum is wrong");
    if (answer[n - 2] == n_rows) return COF_OK;
    return cofi_fail(
        err, COF_ERR_DATA,
        "the shards answered for %llu rows, but the table has %llu; every shard must answer once",
        (unsigned long long)answer[n - 2], (unsigned long long)n_rows);
}

/* ---- Lists of rows ------------------------------------------------------------------------------- */

void cofi_put_range(cofi_writer *w, uint64_t first, uint64_t n)
{
    cofi_put_u64(w, n);
    cofi_put_u64(w, first);
    cofi_put_u64(w, n);
}

uint64_t cofi_next_row(cofi_listed *list)
{
    return list->listed ? cofi_get_u64(&list->rows) : cofi_next_stretch(&list->spaced);
}

static bool is_spaced(const uint64_t *row, size_t n, uint64_t span)
{
    cofi_stretches wanted = cofi_stretches_at(0, n, span);
    for (size_t i = 0; row != NULL && i < n; i++)
        if (row[i] != cofi_next_stretch(&wanted)) return false;
    return n > 0;
}

void cofi_put_rows(cofi_writer *w, const uint64_t *row, size_t n, uint64_t n_table_rows)
{
    bool spaced = is_spaced(row, n, n_table_rows);
    cofi_put_u64(w, n);
    cofi_put_u64(w, 0);
    cofi_put_u64(w, spaced ? n_table_rows : 0);
    if (!spaced) cofi_put_words(w, row, n);
}

size_t cofi_cell_places(const cofi_problem *p, cofi_cell_place *place)
{
    uint32_t word = 0, shift = 0;
    for (size_t r = 0; r < p->n_attrs; r++) {
        uint32_t n_ids = p->first[r + 1] - p->first[r];
        uint32_t bits = n_ids <= 1 << 8 ? 8 : n_ids <= 1 << 16 ? 16 : 32;
        if (shift + bits > 64) {
            word++;
            shift = 0;
        }
        if (place != NULL) place[r] = (cofi_cell_place){word, shift, bits};
        shift += bits;
    }
    return word + 2;
}

bool cofi_get_rows(cofi_reader *body, cofi_listed *list)
{
    uint64_t n = cofi_get_u64(body), first = cofi_get_u64(body), span = cofi_get_u64(body);
    if (body->failed || first > UINT64_MAX - span) return false;
    *list =
        (cofi_listed){.n = n, .listed = span == 0, .rows = *body, .spaced = cofi_stretches_at(0, n, span)};
    list->spaced.row = first;
    size_t n_left = body->n - body->at;
    return span > 0 ? n_left == 0 : n_left % sizeof(uint64_t) == 0 && n == n_left / sizeof(uint64_t);
}

/* ---- Questions ----------------------------------------------------------------------------------- */

static const char does_not_fit[] = "a question does not fit the rows";

static void code_rows(cofi_codec *c, const cofi_problem *p, cofi_question *q, cofi_listed *listed)
{
    if (c->to != NULL) {
        cofi_put_rows(c->to, q->rows.row, q->rows.n, p->n_table_rows);
        return;
    }
    bool good = cofi_get_rows(&c->from, listed) && listed->n <= COFI_MOST_WORDS;
    q->rows.n = good ? (size_t)listed->n : 0;
    cofi_code_check(c, good, does_not_fit);
}

static bool all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) < 1e9)) return false;
    return true;
}

static void code_expectation(cofi_codec *c, const cofi_problem *p, cofi_expectation *e)
{
    uint64_t step = e->step;
    uint32_t coarse = e->coarse;
    COFI_CODE(c, &e->k);
    COFI_CODE(c, &step);
    COFI_CODE(c, &e->membership);
    COFI_CODE(c, &coarse);
    COFI_CODE(c, &e->surprise);
    e->step = (size_t)step;
    e->coarse = coarse != 0;
    e->stride = cofi_stride(e->k);
    bool good = e->k > 0 && e->k <= COF_MOST_CLUSTERS && e->step > 0 && e->membership > 0 &&
                e->membership <= (e->coarse ? 0x1p20 : 0x1p50) &&
                !(e->coarse && e->membership * (double)p->total_weight > 0x1p31) && e->surprise >= 0 &&
                e->surprise < 1e12;
    size_t n = (size_t)cofi_n_flat(p) * e->stride;
    if (!cofi_code_check(c, good, does_not_fit)) return;
    cofi_code_array(c, &e->log_pi, e->stride);
    cofi_code_array(c, &e->log_theta, n);
    if (c->to == NULL && cofi_codec_status(c) == COF_OK)
        cofi_code_check(c, all_finite(e->log_pi, e->stride) && all_finite(e->log_theta, n), does_not_fit);
}

void cofi_code_question(cofi_codec *c, const cofi_problem *p, cofi_question *q, cofi_listed *listed)
{
    switch (q->kind) {
    case COFI_ASK_POINTS: {
        uint32_t column = (uint32_t)q->points.column;
        COFI_CODE(c, &column);
        q->points.column = column;
        code_rows(c, p, q, listed);
        break;
    }
    case COFI_ASK_CELLS:
    case COFI_ASK_LABELS:
        code_rows(c, p, q, listed);
        break;
    case COFI_ASK_PAIRS:
        COFI_CODE(c, &q->pairs.begin);
        COFI_CODE(c, &q->pairs.end);
        COFI_CODE(c, &q->pairs.before_only);
        cofi_code_check(c, q->pairs.begin < q->pairs.end && q->pairs.end <= p->n_attrs, does_not_fit);
        break;
    case COFI_ASK_EXPECT:
        code_expectation(c, p, q->expect);
        break;
    case COFI_ASK_MASS: {
        bool by_merit;
        COFI_CODE(c, &q->mass.by);
        COFI_CODE(c, &q->mass.key);
        COFI_CODE(c, &q->mass.begin);
        COFI_CODE(c, &q->mass.end);
        by_merit = q->mass.by == COFI_MASS_MERIT;
        cofi_code_check(c, q->mass.begin < q->mass.end && (q->mass.by <= COFI_NEAREST || by_merit),
                        does_not_fit);
        if (by_merit) cofi_code_array(c, &q->mass.total, cofi_n_flat(p));
        break;
    }
    case COFI_ASK_MERIT:
        COFI_CODE(c, &q->merit.shift);
        COFI_CODE(c, &q->merit.first);
        cofi_code_check(c, q->merit.shift < 64, does_not_fit);
        cofi_code_array(c, &q->merit.total, cofi_n_flat(p));
        break;
    case COFI_ASK_CLASSES:
        COFI_CODE(c, &q->classes.column);
        COFI_CODE(c, &q->classes.unit);
        cofi_code_check(c,
                        c->to != NULL || (q->classes.column < p->table->n_columns && q->classes.unit > 0 &&
                                          isfinite(q->classes.unit)),
                        does_not_fit);
        break;
    default: /* says nothing more */
        break;
    }
}

static uint64_t pair_words(const cofi_question *q, const cofi_problem *p)
{
    uint64_t sum = 0;
    for (uint32_t t = q->pairs.begin; t < q->pairs.end; t++)
        for (uint32_t r = 0; r < (q->pairs.before_only ? t : p->n_attrs); r++)
            sum += (uint64_t)p->n_values[t] * p->n_values[r];
    return sum;
}

uint64_t cofi_question_words(const cofi_question *q, const cofi_problem *p, uint32_t k)
{
    uint64_t n_flat = cofi_n_flat(p), stride = cofi_stride(k);
    switch (q->kind) {
    case COFI_ASK_CENSUS:
        return COFI_CENSUS_HEAD + n_flat;
    case COFI_ASK_TOTALS:
        return n_flat;
    case COFI_ASK_CELLS:
        return q->rows.n * cofi_cell_places(p, NULL);
    case COFI_ASK_POINTS:
        return q->rows.n;
    case COFI_ASK_PAIRS:
        return pair_words(q, p);
    case COFI_ASK_PASS: /* counts, sizes, how many rows moved, hash */
        return n_flat * stride + k + 2;
    case COFI_ASK_LABELS:
        return cofi_label_words(q->rows.n);
    case COFI_ASK_EXPECT: /* counts, sizes, weight, surprise */
        return (n_flat + 1) * stride + 2;
    case COFI_ASK_NEAR:
        return cofi_seed_reach(p) + 1;
    case COFI_ASK_MASS:
        return COFI_MASS_PARTS;
    case COFI_ASK_MERIT:
        return COFI_MERIT_BUCKETS;
    case COFI_ASK_CLASSES:
        return (uint64_t)k * p->table->column[q->classes.column].n_values + 1;
    default:
        return 0;
    }
}

/* ---- Score tables -------------------------------------------------------------------------------- */

enum { KEY_AT = 8, AFTER_KEY = 16 };

void cofi_put_scores(cofi_writer *w, const cofi_scores *s, uint32_t n_flat)
{
    size_t begin = w->n, n = (size_t)n_flat * s->stride;
    cofi_put_u32(w, s->k);
    cofi_put_u32(w, s->plain != NULL);
    cofi_put_u64(w, 0);
    cofi_put_f64(w, s->scale);
    cofi_put_words(w, s->base, s->stride);
    for (uint32_t g = 0; g < n_flat; g++) cofi_put_words(w, cofi_score_of(s, g), s->stride);
    if (s->plain != NULL) cofi_put_words(w, s->plain, n);
    if (w->failed) return;
    uint64_t key = cofi_checksum(w->bytes + begin + AFTER_KEY, w->n - begin - AFTER_KEY);
    cofi_fill_u64(w, begin + KEY_AT, key | 1); /* 0 means that there are no labels yet */
}

/* The sum of a row's scores must stay below 2^60. */
static bool sums_are_small(const cofi_scores *s, const cofi_problem *p)
{
    const int64_t limit = INT64_C(1) << COFI_SUM_BITS;
    int64_t sum = 0;
    for (uint32_t j = 0; j < s->stride; j++) {
        if (s->base[j] < 0 || (s->base[j] > limit && s->base[j] != COFI_NEVER)) return false;
        if (j >= s->k && s->base[j] != COFI_NEVER) return false;
        if (s->base[j] != COFI_NEVER && s->base[j] > sum) sum = s->base[j];
    }
    for (size_t r = 0; r < p->n_attrs; r++) {
        int64_t most = 0, any = 0;
        for (size_t at = (size_t)p->first[r] * s->stride; at < (size_t)p->first[r + 1] * s->stride; at++) {
            any |= s->value[at];
            most = s->value[at] > most ? s->value[at] : most;
        }
        if (any < 0 || most > limit - sum) return false;
        sum += most;
    }
    return true;
}

static bool make_room(const cof_env *env, cofi_score_room *room, uint32_t k, uint32_t n_flat)
{
    if (room->k == k && room->n_flat == n_flat) return true;
    cofi_blocks_release(&room->own);
    *room = (cofi_score_room){.own = {.env = *env}};
    uint32_t stride = cofi_stride(k);
    size_t n = (size_t)n_flat * stride;
    room->scores = (cofi_scores){.k = k, .stride = stride};
    room->scores.base = cofi_blocks_add(&room->own, stride, sizeof *room->scores.base);
    room->scores.value = cofi_blocks_add(&room->own, n, sizeof *room->scores.value);
    room->plain = cofi_blocks_add(&room->own, n, sizeof *room->plain);
    if (room->own.short_of_memory) return false;
    room->k = k;
    room->n_flat = n_flat;
    return true;
}

bool cofi_get_scores(cofi_reader *r, const cofi_problem *p, cofi_score_room *room)
{
    uint32_t k = cofi_get_u32(r), has_plain = cofi_get_u32(r), n_flat = cofi_n_flat(p);
    uint64_t key = cofi_get_u64(r);
    double scale = cofi_get_f64(r);
    r->failed |= k == 0 || k > COF_MOST_CLUSTERS || has_plain > 1;
    if (r->failed ||
        (r->n - r->at) / sizeof(uint64_t) < ((uint64_t)n_flat * (1 + has_plain) + 1) * cofi_stride(k)) {
        r->failed = true;
        return true;
    }
    if (!make_room(&p->env, room, k, n_flat)) return false;
    size_t n = (size_t)n_flat * room->scores.stride;
    cofi_get_words(r, room->scores.base, room->scores.stride);
    cofi_get_words(r, room->scores.value, n);
    if (has_plain) cofi_get_words(r, room->plain, n);
    room->scores.plain = has_plain ? room->plain : NULL;
    room->scores.scale = scale;
    room->key = key;
    for (size_t at = 0; has_plain && at < n; at++) r->failed |= !isfinite(room->plain[at]);
    r->failed |= key == 0 || !isfinite(scale) || !sums_are_small(&room->scores, p);
    return true;
}
