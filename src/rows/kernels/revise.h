/* Passes in which the scores of at most half of the clusters changed.
 *
 * Every row keeps the 16-bit sum of its own cluster and a lower bound of the sums of all others. Only the clusters whose
 * scores changed are scored. A row whose least sum then leads the others and the bound by enough has its cluster, and the
 * other rows are scored in full. The tables keep their step and what was subtracted from each cell, so that old and new sums
 * can be compared. */
#pragma once

#include "lookup.h"

typedef struct cofi_revision {
    cofi_blocks own;
    int64_t *value, *base; /* the scores of the previous pass, with their scale */
    double scale;
    uint64_t *difference; /* stride: bits that differ in some score of each cluster */
    cofi_label *list;     /* the clusters whose scores changed, which are scored */
    cofi_label *place;    /* k: place in the list, or COFI_UNCHANGED */
    cofi_plan scored;     /* the plan, with the tables of the scored clusters only */
    uint16_t *table, *start;
    bool valid;   /* sums, tables and labels are those of the previous pass */
    bool changes; /* some scores changed since the previous pass */
    bool revises; /* this pass scores only some clusters */
} cofi_revision;

enum { COFI_UNCHANGED = COFI_NO_LABEL };

/* Whether revising can save time, and the plan has the form that it needs. */
bool cofi_revision_saves_time(const cofi_plan *plan);
/* Also sets the members of the plan that a revision needs. */
cof_status cofi_revision_open(const cof_env *env, cofi_plan *plan, cofi_revision *revision);
void cofi_revision_close(cofi_revision *revision); /* allowed after a failed open */
/* Prepares the plan for a pass with these scores, and decides whether the pass revises. */
void cofi_revision_advance(cofi_revision *revision, cofi_plan *plan, const cofi_scores *scores);
/* Bytes of scratch memory for cofi_lookup_revise. */
size_t cofi_revision_scratch(const cofi_plan *plan);
/* Revises the labels of rows begin..begin+n-1, n <= COFI_BLOCK_ROWS. */
void cofi_lookup_revise(const cofi_plan *plan, const cofi_revision *revision, const cofi_lanes *lanes,
                        size_t begin, size_t n, cofi_label *label, void *scratch);
