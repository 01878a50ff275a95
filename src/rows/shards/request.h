/* Requests of a driver to its shards, and their answers, as bytes and words.
 *
 * A request is, little-endian: "COFREQST", u32 version, u32 kind, u64 words of the answer, the frame (u32 missing, u32
 * attributes, u32 half, f64 unit, u64 rows, u64 total weight, u32 per attribute: its column), a body that depends on the kind, and
 * u64 checksum. An answer is an array of words. Its last two are the number of rows that it is about and a sum of all
 * words times factors; both may be added like the other words, so that the driver notices damage, and shards that are
 * missing or were counted twice. docs/shards.md describes the bodies. */
#pragma once

#include "../../core/bytes.h"
#include "../rows.h"

enum {
    COFI_REQUEST_VERSION = 3,
    COFI_ANSWER_END = 2,       /* words at the end of every answer */
    COFI_MOST_WORDS = 1 << 24, /* of an answer */
    COFI_MOST_TOGETHER = 128   /* restarts whose requests are joined */
};

typedef struct cofi_request {
    uint32_t kind;
    uint64_t n_words;
    cofi_frame frame;   /* frame.column is the caller's, with room for most_attrs */
    uint64_t frame_key; /* equal frames have equal keys */
    cofi_reader body;
} cofi_request;

/* Begins a request in an empty writer; the body follows, then the end. */
void cofi_request_begin(cofi_writer *writer, cofi_ask kind, const cofi_frame *frame);
void cofi_request_end(cofi_writer *writer, uint64_t n_words);
/* Checks everything but the body. */
cof_status cofi_request_read(const void *bytes, size_t n_bytes, uint32_t *column, size_t most_attrs,
                             cofi_request *request, cof_error *err);

/* Fills in the last two words of an answer of n words. */
void cofi_answer_end(uint64_t *answer, size_t n, uint64_t n_rows);
cof_status cofi_answer_check(const uint64_t *answer, size_t n, uint64_t n_rows, cof_error *err);

/* ---- Lists of rows ------------------------------------------------------------------------------- */

/* u64 n, u64 first, u64 span; row number i is first + i span / n, or if span is 0, the row numbers follow. The list ends the
 * body of a request. `row` NULL: the rows are evenly spaced in the table. */
void cofi_put_rows(cofi_writer *writer, const uint64_t *row, size_t n, uint64_t n_table_rows);
void cofi_put_range(cofi_writer *writer, uint64_t first, uint64_t n); /* consecutive rows */
enum { COFI_EMPTY_RANGE_BYTES = 24 };

typedef struct cofi_listed {
    uint64_t n;
    bool listed;
    cofi_reader rows;      /* what is left of the listed row numbers */
    cofi_stretches spaced; /* the others */
} cofi_listed;

bool cofi_get_rows(cofi_reader *body, cofi_listed *list); /* false: the body does not end with a list */
uint64_t cofi_next_row(cofi_listed *list);                /* at most n calls */

/* A row in an answer: the ids of its cells, each in as many bytes of one word as all ids of its attribute need, then a word
 * for its weight. */
typedef struct cofi_cell_place {
    uint32_t word, shift, bits;
} cofi_cell_place;

/* Sets the places of all attributes, unless `place` is NULL, and returns the words of a row. */
size_t cofi_cell_places(const cofi_problem *problem, cofi_cell_place *place);

/* Labels in an answer: each takes COFI_LABEL_BITS of a word, as label + 2; 1 is a dropped row, and 0 a row that no shard has. */
enum { COFI_LABEL_BITS = 21, COFI_WORD_LABELS = 64 / COFI_LABEL_BITS };
static inline uint64_t cofi_label_words(uint64_t n_labels)
{
    return (n_labels + COFI_WORD_LABELS - 1) / COFI_WORD_LABELS;
}

/* ---- Questions ----------------------------------------------------------------------------------- */

/* What a question says besides the labels or seeds that it is about. Reading checks it as far as the problem allows, makes
 * arrays of the codec's blocks, and leaves the list of rows in `listed`, which is not used in writing. */
void cofi_code_question(cofi_codec *codec, const cofi_problem *problem, cofi_question *question,
                        cofi_listed *listed);
/* Words of its answer; `k`: clusters of the partition that it is about. */
uint64_t cofi_question_words(const cofi_question *question, const cofi_problem *problem, uint32_t k);

/* ---- Score tables -------------------------------------------------------------------------------- */

enum { COFI_SCORES_HEAD = 24 }; /* bytes before the base */
/* u32 k, u32 whether `plain` follows, u64 key, f64 scale, base, value, plain. */
void cofi_put_scores(cofi_writer *writer, const cofi_scores *scores, uint32_t n_flat);

typedef struct cofi_score_room {
    uint32_t n_flat, k;
    cofi_scores scores; /* points into the blocks */
    double *plain;
    uint64_t key;
    cofi_blocks own;
} cofi_score_room;

/* Reads a table for these attributes; fails the reader if a sum of a row's scores could be too large. False: no
 * memory. */
bool cofi_get_scores(cofi_reader *reader, const cofi_problem *problem, cofi_score_room *room);
