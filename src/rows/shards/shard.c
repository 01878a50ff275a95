/* A shard: rows in memory that answer requests.
 *
 * An answer depends on the rows and the request alone. What is remembered between requests saves time: the rows as the
 * latest frame wants them, the labels of the latest score tables, and the distances to the latest seeds. */
#include "../../core/rng.h"
#include "../../table/schema.h"
#include "remote.h"
#include "request.h"

#include <math.h>

enum {
    MOST_SLOTS = COFI_MOST_TOGETHER,
    SLOT_BYTES = 4, /* a row: its label and its key */
    WANTED_ROWS = 64
};
#define USUAL_MEMORY ((uint64_t)SLOT_BYTES * COF_SHARD_LABELS)

/* A partition and the key of the score table that made its labels; 0: no labels. */
typedef struct slot {
    cofi_partition partition;
    uint64_t key, used;
} slot;

/* Distances to the nearest of n seeds. */
typedef struct seed_slot {
    cofi_partition partition;
    uint32_t
        *seed; /* what a difference adds in each column, then the cells of the seeds; NULL: no distances */
    uint32_t n_seeds;
    uint64_t used;
} seed_slot;

struct cof_shard {
    cof_env env;
    cof_schema *schema;
    cof_table rows;        /* codes as the schema numbers them; texts are the schema's */
    void **block;          /* per column: its codes, if they are not the table's own */
    double **point;        /* per column: point of every code as read, if it is cut */
    const cof_table *read; /* the table as it was read; NULL: no rows */
    size_t *read_column;
    uint64_t first_row;
    cofi_team *team;
    uint32_t *column; /* room for a frame */
    /* for the latest frame */
    bool open;
    uint64_t frame_key;
    cofi_problem problem;
    cofi_rows *local;
    slot slot[MOST_SLOTS];
    seed_slot seeds[MOST_SLOTS];
    uint32_t n_slots, n_seed_slots, most_slots; /* most_slots: of both kinds together */
    uint32_t n_together; /* most requests in one so far: more slots would only be cold memory */
    uint64_t n_used;
    cofi_score_room scores;
    uint64_t *answer;
    size_t answer_room;
};

/* A request that is being answered. */
typedef struct job {
    cof_shard *s;
    cofi_request q;
    uint64_t *word; /* the answer without its end */
    size_t n_words;
    cof_error *err;
} job;

static cof_status bad_request(cof_error *err)
{
    return cofi_fail(err, COF_ERR_DATA, "the request does not fit the rows of this shard, or is damaged");
}

/* ---- Opening ------------------------------------------------------------------------------------- */

/* code[v] becomes the schema's number of value v of the table; the last one is that of a missing cell. */
static cof_status match_values(const cof_env *env, const cofi_column *whole, const cofi_column *read,
                               uint32_t *code, cof_error *err)
{
    if (cofi_domain_match(env, cofi_column_as_read(whole), read, 0, code) != COF_OK)
        return cofi_no_memory(err);
    for (uint32_t v = 0; v < read->n_values; v++)
        if (code[v] == COFI_NONE)
            return cofi_fail(
                err, COF_ERR_DATA,
                "column '%s' of the shard holds a value that the schema does not have; merge the schema of "
                "these rows too",
                whole->name);
    if (whole->cut == NULL) return COF_OK;
    cofi_domain_match(env, whole, read, 0, code); /* allocates nothing */
    for (uint32_t v = 0; v < read->n_values; v++)
        if (code[v] == COFI_NONE) code[v] = whole->n_values;
    return COF_OK;
}

static bool recode(cof_shard *s, size_t c, const cofi_column *read, const uint32_t *code)
{
    cofi_column *to = &s->rows.column[c];
    to->width = cofi_code_width(to->n_values);
    bool same = read->n_values == to->n_values && read->width == to->width;
    for (uint32_t v = 0; v <= read->n_values; v++) same = same && code[v] == v;
    if (same) {
        to->codes = read->codes;
        return true;
    }
    char *codes = cofi_alloc_column(&s->env, c, s->rows.n_rows, to->width, &s->block[c]);
    if (codes == NULL) return false;
    for (size_t i = 0; i < s->rows.n_rows; i++)
        cofi_code_set(codes, to->width, i, code[cofi_column_code(read, i)]);
    to->codes = codes;
    return true;
}

static cof_status open_column(cof_shard *s, size_t c, cof_error *err)
{
    const cofi_column *whole = &s->schema->table.column[c];
    size_t at = cof_table_find(s->read, whole->name);
    if (at == SIZE_MAX)
        return cofi_fail(err, COF_ERR_DATA, "the shard has no column '%s', which the schema names",
                         whole->name);
    const cofi_column *read = cofi_column_as_read(&s->read->column[at]);
    uint32_t *code = cofi_alloc(&s->env, (size_t)read->n_values + 1, sizeof *code);
    s->read_column[c] = at;
    if (code == NULL) return cofi_no_memory(err);
    const cofi_column *own = &s->read->column[at];
    bool same = whole->cut != NULL && own->cut != NULL && cofi_cut_equal(whole->cut, own->cut);
    cof_status status = match_values(&s->env, whole, read, code, err);
    if (status == COF_OK && same)
        s->rows.column[c].codes = own->codes, s->rows.column[c].width = own->width;
    else if (status == COF_OK && !recode(s, c, read, code))
        status = cofi_no_memory(err);
    if (status == COF_OK && whole->cut != NULL) {
        s->point[c] = cofi_alloc(&s->env, (size_t)read->n_values + 1, sizeof(double));
        if (s->point[c] == NULL) status = cofi_no_memory(err);
    }
    cofi_release(&s->env, code);
    if (status != COF_OK || whole->cut == NULL) return status;
    for (uint32_t v = 0; v < read->n_values; v++) {
        double point = NAN;
        cofi_reading_parse(&whole->cut->reading, cofi_column_text(read, v), &point);
        s->point[c][v] = point;
    }
    s->point[c][read->n_values] = NAN;
    return COF_OK;
}

static cof_status copy_schema(const cof_env *env, const cof_schema *from, cof_schema **to, cof_error *err)
{
    cofi_writer w = {.env = *env};
    cofi_schema_put(&w, from);
    cof_status status = w.failed ? cofi_no_memory(err) : cof_schema_read(env, w.bytes, w.n, to, err);
    cofi_release(env, w.bytes);
    return status;
}

static cof_status open_shard(cof_shard *s, uint32_t threads, cof_error *err)
{
    size_t n = s->schema->table.n_columns;
    s->column = cofi_alloc(&s->env, n, sizeof *s->column);
    s->block = cofi_alloc_zero(&s->env, n, sizeof *s->block);
    s->point = cofi_alloc_zero(&s->env, n, sizeof *s->point);
    s->read_column = cofi_alloc(&s->env, n, sizeof *s->read_column);
    s->rows = s->schema->table;
    s->rows.n_rows = 0;
    if (s->read != NULL) {
        s->rows.n_rows = s->read->n_rows;
        s->rows.file = s->read->file;
        s->rows.n_mapped = s->read->n_mapped;
        s->rows.streamed = s->read->streamed;
    }
    s->rows.column = cofi_alloc(&s->env, n, sizeof *s->rows.column);
    if (s->column == NULL || s->block == NULL || s->point == NULL || s->read_column == NULL ||
        s->rows.column == NULL)
        return cofi_no_memory(err);
    if (n > 0) memcpy(s->rows.column, s->schema->table.column, n * sizeof *s->rows.column);
    cof_status status = cofi_team_open(&s->env, threads, &s->team, err);
    for (size_t c = 0; status == COF_OK && s->read != NULL && c < n; c++) status = open_column(s, c, err);
    return status;
}

void cofi_shard_set_memory(cof_shard *s, size_t n_rows, uint64_t memory)
{
    uint64_t most = memory / SLOT_BYTES / (n_rows + 1);
    s->n_together = 1;
    s->most_slots = most < 1 ? 1 : most < MOST_SLOTS ? (uint32_t)most : MOST_SLOTS;
}

cof_status cof_shard_open(const cof_env *lent, const cof_table *table, const cof_schema *schema,
                          uint64_t first_row, uint32_t threads, cof_shard **out, cof_error *err)
{
    cof_env env = cofi_env_resolve(lent);
    cof_shard *s = cofi_alloc_zero(&env, 1, sizeof *s);
    if (s == NULL) return cofi_no_memory(err);
    s->env = env;
    s->first_row = first_row;
    cofi_shard_set_memory(s, table != NULL ? table->n_rows : 0, USUAL_MEMORY);
    s->read = table != NULL && table->n_rows > 0 ? table : NULL;
    cof_status status = copy_schema(&env, schema, &s->schema, err);
    if (status == COF_OK) status = open_shard(s, threads, err);
    uint64_t n = s->read != NULL ? s->read->n_rows : 0;
    if (status == COF_OK && (first_row > schema->n_rows || n > schema->n_rows - first_row))
        status = cofi_fail(err, COF_ERR_ARGUMENT, "rows %llu to %llu are not in a table of %llu rows",
                           (unsigned long long)first_row + 1, (unsigned long long)(first_row + n),
                           (unsigned long long)schema->n_rows);
    if (status == COF_OK)
        *out = s;
    else
        cof_shard_free(s);
    return status;
}

/* ---- Frames and what is remembered ----------------------------------------------------------------- */

static void close_slots(cof_shard *s)
{
    for (uint32_t t = 0; t < s->n_slots; t++) cofi_partition_close(&s->slot[t].partition);
    s->n_slots = 0;
}

static void close_seeds(cof_shard *s)
{
    for (uint32_t t = 0; t < s->n_seed_slots; t++) {
        cofi_partition_close(&s->seeds[t].partition);
        cofi_release(&s->env, s->seeds[t].seed);
    }
    s->n_seed_slots = 0;
    s->problem.seed_units = NULL;
}

/* How many slots there may be of one kind. */
static uint32_t most_slots(const cof_shard *s)
{
    return s->n_together < s->most_slots ? s->n_together : s->most_slots;
}

static void close_frame(cof_shard *s)
{
    close_slots(s);
    close_seeds(s);
    cofi_rows_close(s->local);
    s->local = NULL;
    cofi_problem_close(&s->problem);
    s->open = false;
}

void cof_shard_free(cof_shard *s)
{
    if (s == NULL) return;
    cof_env env = s->env;
    close_frame(s);
    size_t n = s->schema != NULL ? s->schema->table.n_columns : 0;
    for (size_t c = 0; s->block != NULL && c < n; c++) cofi_release(&env, s->block[c]);
    for (size_t c = 0; s->point != NULL && c < n; c++) cofi_release(&env, s->point[c]);
    cofi_blocks_release(&s->scores.own);
    cofi_team_close(s->team);
    COFI_RELEASE_ALL(&env, s->column, s->block, s->point, s->read_column,
                     s->schema != NULL ? s->rows.column : NULL, s->answer);
    cof_schema_free(s->schema);
    cofi_release(&env, s);
}

static cof_status set_frame(job *j)
{
    cof_shard *s = j->s;
    bool fold = j->q.kind != COFI_ASK_CENSUS;
    uint64_t key = j->q.frame_key + fold;
    if (s->open && s->frame_key == key) return COF_OK;
    close_frame(s);
    if (j->q.frame.n_rows != s->schema->n_rows) return bad_request(j->err);
    for (uint32_t a = 0; a < j->q.frame.n_attrs; a++)
        if (s->rows.column[j->q.frame.column[a]].role != COF_ROLE_ATTRIBUTE) return bad_request(j->err);
    cof_status status =
        cofi_rows_open_part(&s->rows, &j->q.frame, s->first_row, fold, &s->problem, &s->local, j->err);
    s->open = status == COF_OK;
    s->frame_key = key;
    if (!s->open) close_frame(s);
    return status;
}

/* The slot with these labels, else a new one or the one that was not used for longest. */
static cof_status find_slot(cof_shard *s, uint32_t k, uint64_t key, slot **out, cof_error *err)
{
    uint32_t most = most_slots(s);
    slot *oldest = NULL;
    for (uint32_t t = 0; t < s->n_slots; t++) {
        slot *here = &s->slot[t];
        if (here->partition.k == k && here->key == key) {
            *out = here;
            here->used = ++s->n_used;
            return COF_OK;
        }
        if (oldest == NULL || here->used < oldest->used) oldest = here;
    }
    if (s->n_slots < most && s->n_slots + s->n_seed_slots >= s->most_slots) close_seeds(s);
    if (s->n_slots < most)
        oldest = &s->slot[s->n_slots];
    else if (oldest->partition.k != k)
        cofi_partition_close(&oldest->partition);
    if (s->n_slots < most || oldest->partition.rows == NULL) {
        *oldest = (slot){.key = 0};
        cof_status status = cofi_partition_open(s->local, k, s->team, &oldest->partition, err);
        if (status != COF_OK) {
            cofi_partition_close(&oldest->partition);
            if (s->n_slots == most) *oldest = s->slot[--s->n_slots];
            return status;
        }
        if (s->n_slots < most) s->n_slots++;
    }
    if (oldest->key != 0) cofi_partition_forget(&oldest->partition);
    oldest->key = 0;
    oldest->used = ++s->n_used;
    *out = oldest;
    return COF_OK;
}

static cof_status run_pass(slot *at, const cofi_score_room *t, uint64_t *moved, cof_error *err)
{
    cofi_question q = {.kind = COFI_ASK_PASS, .partition = &at->partition, .pass = {.scores = &t->scores}};
    COFI_TRY(at->partition.rows->ops->ask(at->partition.rows, &q, err));
    at->partition.known = true;
    *moved = q.pass.moved;
    at->key = t->key;
    return COF_OK;
}

static cof_status get_scores(job *j)
{
    if (!cofi_get_scores(&j->q.body, &j->s->problem, &j->s->scores)) return cofi_no_memory(j->err);
    return j->q.body.failed ? bad_request(j->err) : COF_OK;
}

/* The slot with the labels of the next table in the body. */
static cof_status read_labels(job *j, slot **out)
{
    uint64_t moved;
    cof_status status = get_scores(j);
    if (status == COF_OK) status = find_slot(j->s, j->s->scores.k, j->s->scores.key, out, j->err);
    if (status == COF_OK && (*out)->key == 0) status = run_pass(*out, &j->s->scores, &moved, j->err);
    return status;
}

/* ---- Answers ------------------------------------------------------------------------------------- */

enum { PIECE_ROWS = 4096, PIECE_CELLS = 1 << 18 };

/* Listed rows that this shard has, and their places in the list. */
typedef struct piece {
    uint64_t row[PIECE_ROWS], at[PIECE_ROWS];
    size_t n;
} piece;

/* The next at most `most` of them; false: there are no more. Other shards have the others. */
static bool next_piece(const cof_shard *s, cofi_listed *list, uint64_t *done, size_t most, piece *p)
{
    for (p->n = 0; *done < list->n && p->n < most; ++*done) {
        uint64_t row = cofi_next_row(list) - s->first_row;
        if (row >= s->rows.n_rows) continue;
        p->row[p->n] = row;
        p->at[p->n++] = *done;
    }
    return p->n > 0;
}

static cof_status answer_cells(job *j, cofi_listed *list)
{
    const cof_shard *s = j->s;
    size_t n_attrs = s->problem.n_attrs, most = PIECE_CELLS / n_attrs + 1;
    cofi_blocks own = {.env = s->env};
    cofi_cell_place *place = cofi_blocks_add(&own, n_attrs, sizeof *place);
    if (most > PIECE_ROWS) most = PIECE_ROWS;
    piece *p = cofi_blocks_add(&own, 1, sizeof *p);
    uint32_t *cell = cofi_blocks_add(&own, most * n_attrs, sizeof *cell);
    uint64_t *weight = cofi_blocks_add(&own, most, sizeof *weight), done = 0;
    cof_status status = cofi_blocks_status(&own, j->err);
    size_t n_words = status == COF_OK ? cofi_cell_places(&s->problem, place) : 0;
    while (status == COF_OK && next_piece(s, list, &done, most, p)) {
        status = cofi_rows_fetch(s->local, NULL, p->row, p->n, cell, weight, j->err);
        for (size_t i = 0; i < p->n; i++) {
            uint64_t *to = j->word + p->at[i] * n_words;
            for (size_t r = 0; r < n_attrs; r++)
                to[place[r].word] |= (uint64_t)cell[i * n_attrs + r] << place[r].shift;
            to[n_words - 1] = weight[i];
        }
    }
    cofi_blocks_release(&own);
    return status;
}

static cof_status answer_points(job *j, size_t column, cofi_listed *list)
{
    const cof_shard *s = j->s;
    if (column >= s->rows.n_columns || s->point[column] == NULL) return bad_request(j->err);
    const cofi_column *read = cofi_column_as_read(&s->read->column[s->read_column[column]]);
    for (uint64_t i = 0; i < list->n; i++) {
        uint64_t row = cofi_next_row(list) - s->first_row;
        if (row >= s->rows.n_rows) continue;
        memcpy(&j->word[i], &s->point[column][cofi_column_code(read, (size_t)row)], sizeof *j->word);
    }
    return COF_OK;
}

/* Receives the tables of one pair after the other, on one thread. */
typedef struct pair_writer {
    uint64_t *word;
    const cofi_problem *p;
} pair_writer;

static void put_pair(void *ctx, uint32_t worker, size_t t, size_t r, double *count)
{
    pair_writer *w = ctx;
    const double most = 0x1p62; /* no sum of weights is larger, but a hostile unit may be anything */
    for (size_t i = 0; i < (size_t)w->p->n_values[t] * w->p->n_values[r]; i++)
        *w->word++ = (uint64_t)fmin(fmax(count[i] * w->p->unit, 0), most);
}

static cof_status answer_pairs(job *j, cofi_question *q)
{
    const cof_shard *s = j->s;
    pair_writer w = {j->word, &s->problem};
    cofi_pair_visitor v = {.ctx = &w, .pair = put_pair, .before_only = q->pairs.before_only != 0};
    cofi_team *alone;
    q->pairs.visitor = &v;
    COFI_TRY(cofi_team_open(&s->env, 1, &alone, j->err));
    q->team = alone;
    cof_status status = s->local->ops->ask(s->local, q, j->err);
    cofi_team_close(alone);
    return status;
}

/* The labels before the pass, then its own. The weights of a part do not add up to the total, so this is not
 * cofi_partition_pass. */
static cof_status answer_pass(job *j)
{
    cof_shard *s = j->s;
    slot *at;
    uint64_t moved = 0, before = 0;
    uint32_t n = cofi_get_u32(&j->q.body), known = cofi_get_u32(&j->q.body);
    if (j->q.body.failed || n != 1) return bad_request(j->err);
    if (known) {
        COFI_TRY(read_labels(j, &at));
        before = at->key;
    }
    COFI_TRY(get_scores(j));
    COFI_TRY(find_slot(s, s->scores.k, before, &at, j->err));
    const cofi_partition *p = &at->partition;
    cofi_question q = {.kind = COFI_ASK_PASS};
    size_t n_counts = (size_t)cofi_n_flat(&s->problem) * p->stride;
    if (at->key != before || j->n_words != cofi_question_words(&q, &s->problem, p->k))
        return bad_request(j->err);
    COFI_TRY(run_pass(at, &s->scores, &moved, j->err));
    uint64_t *word = j->word;
    memcpy(word, p->count, n_counts * sizeof *word);
    memcpy(word + n_counts, p->size, p->k * sizeof *word);
    word[n_counts + p->k] = moved;
    word[n_counts + p->k + 1] = cofi_mix64(p->hash + cofi_mix64(s->first_row + 1));
    return COF_OK;
}

static cof_status answer_labels(job *j, const cofi_partition *partition, cofi_listed *list)
{
    cofi_blocks own = {.env = j->s->env};
    piece *p = cofi_blocks_add(&own, 1, sizeof *p);
    int32_t *label = cofi_blocks_add(&own, PIECE_ROWS, sizeof *label);
    cof_status status = cofi_blocks_status(&own, j->err);
    for (uint64_t done = 0; status == COF_OK && next_piece(j->s, list, &done, PIECE_ROWS, p);) {
        status = cofi_partition_labels(partition, p->row, p->n, label, j->err);
        for (size_t i = 0; i < p->n; i++)
            j->word[p->at[i] / COFI_WORD_LABELS] |= (uint64_t)(label[i] + 2)
                                                    << (p->at[i] % COFI_WORD_LABELS * COFI_LABEL_BITS);
    }
    cofi_blocks_release(&own);
    return status;
}

/* Units of each value of the weight column, and 0 for a missing weight; NULL in *units: there is none. */
static cof_status weight_units(const cof_shard *s, double unit, uint64_t **units, cof_error *err)
{
    const cofi_column *c = cofi_table_weight_column(&s->rows);
    *units = NULL;
    if (c == NULL) return COF_OK;
    double *value = cofi_alloc(&s->env, c->n_values, sizeof *value);
    *units = cofi_alloc_zero(&s->env, (size_t)c->n_values + 1, sizeof **units);
    cof_status status =
        value != NULL && *units != NULL ? cofi_weights_parse(c, value, err) : cofi_no_memory(err);
    for (uint32_t v = 0; status == COF_OK && v < c->n_values; v++)
        (*units)[v] = (uint64_t)fmin(value[v] * unit + 0.5, 0x1p62);
    cofi_release(&s->env, value);
    if (status == COF_OK) return COF_OK;
    cofi_release(&s->env, *units);
    return status;
}

static cof_status answer_classes(job *j, const cofi_partition *p, const cofi_question *q)
{
    const cof_shard *s = j->s;
    const cofi_column *c = &s->rows.column[q->classes.column], *weights = cofi_table_weight_column(&s->rows);
    size_t n_rows = s->rows.n_rows, n = (size_t)p->k * c->n_values;
    uint64_t *units;
    COFI_TRY(weight_units(s, q->classes.unit, &units, j->err));
    int32_t *label = cofi_alloc(&s->env, n_rows, sizeof *label);
    cof_status status =
        label != NULL ? cofi_partition_labels(p, NULL, n_rows, label, j->err) : cofi_no_memory(j->err);
    for (size_t i = 0; status == COF_OK && i < n_rows; i++) {
        uint32_t class = cofi_column_code(c, i);
        uint64_t here = units != NULL ? units[cofi_column_code(weights, i)] : 1;
        if (class == c->n_values || here == 0 || label[i] < 0) continue;
        j->word[(size_t)label[i] * c->n_values + class] += here;
        j->word[n]++;
    }
    COFI_RELEASE_ALL(&s->env, units, label);
    return status;
}

/* The labels of all rows by a label request, -1 for a dropped row. It may change the frame. */
static cof_status copy_labels(job *j, const void *request, size_t n_bytes, int32_t *label, uint32_t *k)
{
    cof_shard *s = j->s;
    job own = {.s = s, .err = j->err};
    slot *at;
    COFI_TRY(cofi_request_read(request, n_bytes, s->column, s->rows.n_columns, &own.q, j->err));
    if (own.q.kind != COFI_ASK_LABELS) return bad_request(j->err);
    COFI_TRY(set_frame(&own));
    COFI_TRY(read_labels(&own, &at));
    *k = at->partition.k;
    return cofi_partition_labels(&at->partition, NULL, s->rows.n_rows, label, j->err);
}

/* How many rows each pair of clusters of two partitions shares. */
static cof_status answer_agree(job *j)
{
    const cof_shard *s = j->s;
    cofi_reader r = j->q.body;
    uint64_t n_bytes = cofi_get_u64(&r);
    const void *one = n_bytes <= r.n ? cofi_get_bytes(&r, (size_t)n_bytes) : NULL;
    uint32_t k[2];
    if (one == NULL) return bad_request(j->err);
    int32_t *label = cofi_alloc(&s->env, s->rows.n_rows, 2 * sizeof *label);
    if (label == NULL) return cofi_no_memory(j->err);
    int32_t *other = label + s->rows.n_rows;
    cof_status status = copy_labels(j, one, (size_t)n_bytes, label, &k[0]);
    if (status == COF_OK) status = copy_labels(j, r.bytes + r.at, r.n - r.at, other, &k[1]);
    if (status == COF_OK && j->n_words != (size_t)k[0] * k[1] + 1) status = bad_request(j->err);
    for (size_t i = 0; status == COF_OK && i < s->rows.n_rows; i++) {
        if (label[i] < 0 || other[i] < 0) continue;
        j->word[(size_t)label[i] * k[1] + (size_t)other[i]]++;
        j->word[(size_t)k[0] * k[1]]++;
    }
    cofi_release(&s->env, label);
    return status;
}

/* The E step needs memory for k classes, not labels. */
static cof_status any_slot(cof_shard *s, uint32_t k, slot **out, cof_error *err)
{
    for (uint32_t t = 0; t < s->n_slots; t++) {
        *out = &s->slot[t];
        if ((*out)->partition.k == k) return COF_OK;
    }
    return find_slot(s, k, 0, out, err);
}

/* ---- Seeds --------------------------------------------------------------------------------------- */

/* What a difference adds in each column, then the cells of n seeds. */
static cof_status read_units(job *j, uint32_t *n, uint32_t **seed)
{
    cofi_reader *r = &j->q.body;
    size_t n_attrs = j->s->problem.n_attrs;
    *n = cofi_get_u32(r);
    if (r->failed || *n >= (r->n - r->at) / 4 / n_attrs) return bad_request(j->err);
    *seed = cofi_alloc(&j->s->env, ((size_t)*n + 1) * n_attrs, sizeof **seed);
    if (*seed == NULL) return cofi_no_memory(j->err);
    bool refused = false;
    for (size_t i = 0; i < ((size_t)*n + 1) * n_attrs; i++) {
        (*seed)[i] = cofi_get_u32(r);
        refused |= i < n_attrs && ((*seed)[i] == 0 || (*seed)[i] > COFI_MOST_SEED_UNITS);
    }
    if (!refused) return COF_OK;
    cofi_release(&j->s->env, *seed);
    return bad_request(j->err);
}

/* Whether the slot has the distances to the first of these n seeds. */
static bool begins_with(const cof_shard *s, const seed_slot *at, const uint32_t *seed, uint32_t n)
{
    return at->seed != NULL && at->n_seeds <= n &&
           memcmp(at->seed, seed, (at->n_seeds + 1) * s->problem.n_attrs * sizeof *seed) == 0;
}

/* The slot with the distances to most of these seeds, else a new one or the one that was not used for longest. */
static cof_status find_seeds(cof_shard *s, const uint32_t *seed, uint32_t n, seed_slot **out, cof_error *err)
{
    seed_slot *best = NULL, *oldest = NULL;
    for (uint32_t t = 0; t < s->n_seed_slots; t++) {
        seed_slot *here = &s->seeds[t];
        if (begins_with(s, here, seed, n) && (best == NULL || here->n_seeds > best->n_seeds)) best = here;
        if (oldest == NULL || here->used < oldest->used) oldest = here;
    }
    *out = best != NULL ? best : oldest;
    if (best != NULL || s->n_seed_slots >= most_slots(s)) return COF_OK;
    if (s->n_slots + s->n_seed_slots >= s->most_slots) close_slots(s);
    seed_slot *new = *out = &s->seeds[s->n_seed_slots];
    *new = (seed_slot){.seed = NULL};
    cof_status status = cofi_partition_open(s->local, 1, s->team, &new->partition, err);
    if (status != COF_OK) cofi_partition_close(&new->partition);
    s->n_seed_slots += status == COF_OK;
    return status;
}

/* Distances to the listed seeds; those to seeds that came before are still there. */
static cof_status read_seeds(job *j, seed_slot **out)
{
    cof_shard *s = j->s;
    size_t n_attrs = s->problem.n_attrs;
    uint32_t n = 0, *seed = NULL;
    seed_slot *at;
    COFI_TRY(read_units(j, &n, &seed));
    cof_status status = find_seeds(s, seed, n, &at, j->err);
    if (status != COF_OK) {
        cofi_release(&s->env, seed);
        return status;
    }
    s->problem.seed_units = seed;
    if (cofi_seed_reach(&s->problem) == n_attrs) s->problem.seed_units = NULL; /* the faster way */
    bool more = begins_with(s, at, seed, n);
    if (!more) status = cofi_partition_add_seed(&at->partition, NULL, j->err);
    for (uint32_t t = more ? at->n_seeds : 0; status == COF_OK && t < n; t++)
        status = cofi_partition_add_seed(&at->partition, seed + (t + 1) * n_attrs, j->err);
    cofi_release(&s->env, at->seed);
    at->seed = status == COF_OK ? seed : NULL;
    at->n_seeds = n;
    at->used = ++s->n_used;
    *out = at;
    if (status != COF_OK) {
        cofi_release(&s->env, seed);
        s->problem.seed_units = NULL;
    }
    return status;
}

/* ---- Calls --------------------------------------------------------------------------------------- */

/* A digest of rows: the sum of a number for each, which depends on the texts of its cells as they were read and on its place
 * in the whole table, but not on the shard it is in. */
typedef struct digest {
    const cof_shard *s;
    uint64_t **mark; /* per column and code a number made of the text */
    uint64_t *part;  /* per block of rows */
} digest;

enum { DIGEST_ROWS = 2048 };

static void digest_block(void *ctx, uint32_t worker, size_t block)
{
    const digest *d = ctx;
    const cof_shard *s = d->s;
    size_t begin = block * DIGEST_ROWS, end = begin + DIGEST_ROWS;
    uint64_t row[DIGEST_ROWS] = {0}, sum = 0;
    (void)worker;
    if (end > s->rows.n_rows) end = s->rows.n_rows;
    for (size_t c = 0; c < s->rows.n_columns; c++) {
        const cofi_column *read = cofi_column_as_read(&s->read->column[s->read_column[c]]);
        for (size_t i = begin; i < end; i++) row[i - begin] += d->mark[c][cofi_column_code(read, i)];
    }
    for (size_t i = begin; i < end; i++) sum += cofi_mix64(row[i - begin] ^ cofi_mix64(s->first_row + i));
    d->part[block] = sum;
}

static cof_status answer_digest(job *j)
{
    const cof_shard *s = j->s;
    size_t n_blocks = (s->rows.n_rows + DIGEST_ROWS - 1) / DIGEST_ROWS;
    cofi_blocks own = {.env = s->env};
    digest d = {.s = s,
                .mark = cofi_blocks_add(&own, s->rows.n_columns, sizeof *d.mark),
                .part = cofi_blocks_add(&own, n_blocks, sizeof *d.part)};
    for (size_t c = 0; !own.short_of_memory && c < s->rows.n_columns; c++) {
        const cofi_column *read = cofi_column_as_read(&s->read->column[s->read_column[c]]);
        d.mark[c] = cofi_blocks_add(&own, (size_t)read->n_values + 1, sizeof **d.mark);
        for (uint32_t v = 0; !own.short_of_memory && v < read->n_values; v++) {
            const char *text = cofi_column_text(read, v);
            d.mark[c][v] = cofi_mix64(cofi_checksum(text, strlen(text)) + cofi_mix64(c + 1));
        }
        if (!own.short_of_memory) d.mark[c][read->n_values] = cofi_mix64(~(uint64_t)c);
    }
    cof_status status = own.short_of_memory ? cofi_no_memory(j->err) : COF_OK;
    if (j->n_words != 1) status = bad_request(j->err);
    if (status == COF_OK) cofi_team_run(s->team, digest_block, &d, n_blocks);
    for (size_t b = 0; status == COF_OK && b < n_blocks; b++) *j->word += d.part[b];
    cofi_blocks_release(&own);
    return status;
}

/* ---- Calls --------------------------------------------------------------------------------------- */

/* Reads a question, finds the labels or seeds that it is about, and lets the rows answer it. */
static cof_status answer_question(job *j, cofi_blocks *own)
{
    cof_shard *s = j->s;
    cofi_expectation e = {.step = 0};
    cofi_question q = {.kind = (cofi_ask)j->q.kind, .team = s->team, .word = j->word, .total = j->word};
    cofi_listed list;
    slot *labels = NULL;
    seed_slot *seeds = NULL;
    if (q.kind == COFI_ASK_EXPECT) q.expect = &e;
    if (q.kind == COFI_ASK_LABELS) COFI_TRY(read_labels(j, &labels));
    if (q.kind == COFI_ASK_NEAR || q.kind == COFI_ASK_MASS || q.kind == COFI_ASK_MERIT)
        COFI_TRY(read_seeds(j, &seeds));
    cofi_codec body = {.from = j->q.body, .own = own};
    cofi_code_question(&body, &s->problem, &q, &list);
    cof_status status = cofi_codec_status(&body);
    if (status != COF_OK) return status == COF_ERR_MEMORY ? cofi_no_memory(j->err) : bad_request(j->err);
    j->q.body = body.from;
    if (q.kind == COFI_ASK_CLASSES) COFI_TRY(read_labels(j, &labels));
    /* The E step needs memory for k classes, not labels. */
    if (q.kind == COFI_ASK_EXPECT) COFI_TRY(any_slot(s, e.k, &labels, j->err));
    bool needs_seed = q.kind == COFI_ASK_NEAR ||
                      (q.kind == COFI_ASK_MASS && q.mass.by != COFI_ANY_ROW && q.mass.by != COFI_MASS_MERIT);
    q.partition = labels != NULL ? &labels->partition : seeds != NULL ? &seeds->partition : NULL;
    if ((needs_seed && seeds->n_seeds == 0) || (q.kind == COFI_ASK_MASS && q.mass.end > s->schema->n_rows) ||
        cofi_question_words(&q, &s->problem, labels != NULL ? labels->partition.k : 1) != j->n_words)
        return bad_request(j->err);
    switch (q.kind) {
    case COFI_ASK_CELLS:
        return answer_cells(j, &list);
    case COFI_ASK_POINTS:
        return answer_points(j, q.points.column, &list);
    case COFI_ASK_LABELS:
        return answer_labels(j, q.partition, &list);
    case COFI_ASK_PAIRS:
        return answer_pairs(j, &q);
    case COFI_ASK_CLASSES:
        return answer_classes(j, q.partition, &q);
    case COFI_ASK_EXPECT:
        e.count = j->word;
        e.size = j->word + j->n_words - 2 - e.stride;
        status = s->local->ops->ask(s->local, &q, j->err);
        j->word[j->n_words - 2] = e.weight;
        j->word[j->n_words - 1] = e.surprise_units;
        return status;
    default:
        return s->local->ops->ask(s->local, &q, j->err);
    }
}

static cof_status answer(job *j)
{
    cofi_blocks own = {.env = j->s->env};
    if (j->q.kind == 0 || j->q.kind == COFI_ASK_SEVERAL || j->q.kind > COFI_ASK_DIGEST)
        return bad_request(j->err);
    if (j->s->read == NULL) return COF_OK; /* no rows, all words 0 */
    if (j->q.kind == COFI_ASK_DIGEST) return answer_digest(j);
    COFI_TRY(set_frame(j));
    if (j->q.kind == COFI_ASK_PASS) return answer_pass(j);
    if (j->q.kind == COFI_ASK_AGREE) return answer_agree(j);
    cof_status status = answer_question(j, &own);
    cofi_blocks_release(&own);
    return status;
}

/* Requests that were joined: their answers one after another. */
static cof_status answer_several(job *all)
{
    cof_shard *s = all->s;
    cofi_reader *r = &all->q.body;
    uint32_t n = cofi_get_u32(r);
    if (n > s->n_together) s->n_together = n;
    for (uint32_t t = 0; t < n; t++) {
        job j = {.s = s, .err = all->err, .word = all->word};
        uint64_t n_bytes = cofi_get_u64(r);
        const void *bytes = n_bytes <= r->n ? cofi_get_bytes(r, (size_t)n_bytes) : NULL;
        if (r->failed || bytes == NULL) return bad_request(j.err);
        COFI_TRY(cofi_request_read(bytes, (size_t)n_bytes, s->column, s->rows.n_columns, &j.q, j.err));
        if (j.q.n_words < COFI_ANSWER_END || j.q.n_words > all->n_words) return bad_request(j.err);
        j.n_words = (size_t)j.q.n_words - COFI_ANSWER_END;
        COFI_TRY(answer(&j));
        cofi_answer_end(j.word, (size_t)j.q.n_words, s->rows.n_rows);
        all->word += j.q.n_words;
        all->n_words -= (size_t)j.q.n_words;
    }
    return r->failed || all->n_words > 0 ? bad_request(all->err) : COF_OK;
}

size_t cof_request_words(const void *request, size_t n_bytes)
{
    enum { WORDS_AT = 16 };
    cofi_reader r = {.bytes = request, .n = n_bytes, .at = n_bytes < WORDS_AT ? n_bytes : WORDS_AT};
    uint64_t n = cofi_get_u64(&r);
    return r.failed || n > COFI_MOST_WORDS + COFI_ANSWER_END ? 0 : (size_t)n;
}

cof_status cof_shard_answer(cof_shard *s, const void *request, size_t n_bytes, uint64_t *sum, size_t n_words,
                            cof_error *err)
{
    job j = {.s = s, .err = err};
    COFI_TRY(cofi_request_read(request, n_bytes, s->column, s->rows.n_columns, &j.q, err));
    if (j.q.n_words != n_words || n_words < COFI_ANSWER_END || n_words > COFI_MOST_WORDS + COFI_ANSWER_END)
        return bad_request(err);
    if (!cofi_make_room(&s->env, &s->answer, &s->answer_room, n_words, sizeof *s->answer))
        return cofi_no_memory(err);
    memset(s->answer, 0, n_words * sizeof *s->answer);
    j.word = s->answer;
    j.n_words = n_words - COFI_ANSWER_END;
    COFI_TRY(j.q.kind == COFI_ASK_SEVERAL ? answer_several(&j) : answer(&j));
    cofi_answer_end(s->answer, n_words, s->rows.n_rows);
    for (size_t i = 0; i < n_words; i++) sum[i] += s->answer[i];
    return COF_OK;
}

cof_status cof_shard_labels(cof_shard *s, const void *request, size_t n_bytes, int32_t *labels, size_t n,
                            cof_error *err)
{
    job j = {.s = s, .err = err};
    uint32_t k;
    if (n != s->rows.n_rows)
        return cofi_fail(err, COF_ERR_ARGUMENT, "room for %zu labels was given, but the shard has %zu rows",
                         n, s->rows.n_rows);
    return n == 0 ? COF_OK : copy_labels(&j, request, n_bytes, labels, &k);
}
