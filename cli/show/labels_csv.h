/* The labels file, the margins file, memberships, the file of value distances and the history file. */
#pragma once

#include "coforest_shard.h"
#include "../outfiles.h"

/* Where labels come from: an array, or shards and the model fitted over them. */
typedef struct label_source {
    const int32_t *labels; /* NULL: ask the shards */
    const cof_model *model;
    const cof_schema *schema;
    const cof_shards *shards;
} label_source;

/* In all CSV files, unless the outfile is raw: a text that a spreadsheet would compute gets a ' before it, control
 * characters become \\x1b and the like.
 *
 * row,cluster and, if `names` is a column, its cells; rows and clusters from 1, an empty cluster for a
 * dropped row. Exit codes. */
int write_labels(outfile *f, const cof_table *table, size_t names, label_source from);
/* The same in pieces: begin, put the rows of each piece, finish the outfile. */
int begin_labels(outfile *f, const cof_table *table, size_t names);
void put_labels(outfile *f, const cof_table *piece, size_t names, uint64_t first_row, const int32_t *labels,
                size_t n);
/* The same with a column alternative_1 and so on for each alternative of the model, before the names. */
int write_alternatives(outfile *f, const cof_table *table, size_t names, const cof_model *model);
/* The same with the next cluster, both distances and the lead of every row. */
int write_margins(outfile *f, const cof_table *table, size_t names, const int32_t *labels,
                  const cof_margin *margin);
/* The same with the memberships of every row, empty for a dropped one; they are computed and written in blocks. */
int write_memberships(outfile *f, const cof_table *table, size_t names, const int32_t *labels,
                      const cof_model *model, uint32_t threads);
/* row,log_likelihood: of every row under the clusters as classes of a mixture, empty for a dropped one. */
int write_scores(outfile *f, const cof_table *table, const cof_model *model, uint32_t threads);
/* The table as it was read, with a column "cluster" at the end; "cluster_2" and so on where it has one already. */
int write_table(outfile *f, const cof_table *table, const int32_t *labels);
int begin_table(outfile *f, const cof_table *table); /* the same in pieces */
void put_table(outfile *f, const cof_table *piece, const int32_t *labels);
/* cluster,rows and the columns of the model: the most frequent value of each. */
int write_modes(outfile *f, const cof_model *model);
/* column,value,cluster,rows,share: every value of every column in every cluster. */
int write_profiles(outfile *f, const cof_model *model);
/* column,value,other,distance: every pair of values of every column, as the model measures it. */
int write_distances(outfile *f, const cof_table *table, const cof_model *model);
/* One text, quoted where CSV needs it. */
void put_cell(outfile *f, const char *text);
/* One JSON object a line and pass. */
int write_history(outfile *f, const cof_model *model);
