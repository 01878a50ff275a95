/* coforest_extra.h: what fewer programs need. The rules of coforest.h hold here too, but what this header declares may
 * still change between minor versions; CHANGELOG.md lists such changes. It has four parts, by who needs them:
 *
 *   1. Tables: programs that check, cut, tidy, write or make tables
 *   2. Results: programs that ask a model more than its labels, profiles and trees
 *   3. Bindings: bindings and programs that show all options and results without lists of their own
 *   4. Around the library: what coforest itself writes files, texts and JSON with */
#ifndef COFOREST_EXTRA_H
#define COFOREST_EXTRA_H

#include "coforest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* =========================================================================================================
 * 1. Tables: for programs that check, cut, tidy, write or make tables
 * ======================================================================================================== */

/* ---- Columns: advice, cutting, tidying, writing ------------------------------------------------------ */

/* What the values of a column seem to be. */
typedef enum cof_kind {
    COF_KIND_CATEGORY = 0,
    /* Numbers, dates or times: more than 20 distinct ones, or more than 10 if any has a fraction, or nearly as
     * many as rows. None begins with a zero as codes do. */
    COF_KIND_QUANTITY = 1,
    /* Nearly every row has its own value (at least 9 in 10 of 16 or more rows): a text, or whole numbers with
     * hardly a gap. */
    COF_KIND_IDENTIFIER = 2,
    COF_KIND_CONSTANT = 3 /* one value in every row */
} cof_kind;

typedef struct cof_advice { /* set struct_size first */
    size_t struct_size;
    int32_t kind;    /* cof_kind */
    char why[120];   /* the reason, for people */
    int32_t numbers; /* nonzero: all values are numbers, dates or times, so that cof_table_cut can cut them */
} cof_advice;

/* What a column seems to be, whatever its role. `missing` is a cof_missing: missing cells that are a value of their own
 * keep a column from being constant. Time is proportional to the column's values; nothing is allocated. */
COF_API cof_status cof_column_advise(const cof_table *table, size_t column, int32_t missing,
                                     cof_advice *advice, cof_error *err);

/* What somebody said about a column. */
typedef enum cof_rule {
    COF_RULE_NONE = 0,
    COF_RULE_NUMERIC = 1, /* a quantity, however few values it has */
    COF_RULE_CATEGORICAL = 2,
    COF_RULE_CUT = 3, /* a quantity with edges to cut it at */
    COF_RULE_ORDINAL = 4
} cof_rule;

/* What becomes of quantities. */
typedef enum cof_quantities {
    COF_QUANTITIES_CUT = 0,    /* bins, which are ordered categories */
    COF_QUANTITIES_SCALED = 1, /* numbers beside the categories */
    COF_QUANTITIES_VALUES = 2  /* every number is a category */
} cof_quantities;

/* What a column becomes before a fit. */
typedef enum cof_treatment {
    COF_TREAT_VALUES = 0,    /* its values are categories */
    COF_TREAT_BINS = 1,      /* cof_table_cut */
    COF_TREAT_NUMBERS = 2,   /* COF_ROLE_NUMERIC */
    COF_TREAT_IDENTIFIER = 3 /* COF_ROLE_IDENTIFIER */
} cof_treatment;

/* The treatment of a column that has this advice, as the program and the Python package decide it: quantities are the columns
 * that a rule calls so, and those without a rule that look like it. A running number is an identifier, or a quantity where
 * the column was `chosen` to take part. */
COF_API int32_t cof_column_treatment(const cof_advice *advice, int32_t rule, int32_t quantities, int chosen);
/* Text of a cell as it was read, also where the column is cut. Lent. The indices are not checked. */
COF_API const char *cof_table_cell(const cof_table *table, size_t row, size_t column);
/* Nonzero if a column of that name is meant by the pattern, in which * stands for any text and ? for one byte. */
COF_API int32_t cof_name_matches(const char *pattern, const char *name);
/* The weights of the rows, n of them: those of the column with role weight, otherwise 1 each. COF_ERR_DATA if one is no
 * number >= 0. Time is proportional to the rows. */
COF_API cof_status cof_table_weights(const cof_table *table, double *weights, size_t n, cof_error *err);
/* How many rows hold each value. rows has room for n = n_values + 1; the last one counts the missing cells. Time is
 * proportional to the rows. */
COF_API cof_status cof_column_count(const cof_table *table, size_t column, uint64_t *rows, size_t n,
                                    cof_error *err);

typedef struct cof_cut_options {
    size_t struct_size;
    uint32_t bins; /* bins of equal share; 0 -> 16, at most 4096 */
    /* Where to cut instead, ascending, written as the column's values or plainly; a value equal to an edge lies
     * above it. */
    const char *const *edges;
    size_t n_edges;
} cof_cut_options;

/* Cuts a quantity: the column becomes ordinal with its bins as values, named by the range they hold ("38..42"). "nan"
 * and infinities become missing; equal numbers share a bin, and bins without rows vanish. What was cut is kept beside
 * the bins, so that a column can be cut again. options may be NULL. COF_ERR_DATA if the values are neither numbers nor
 * dates. Time is proportional to rows and values. */
COF_API cof_status cof_table_cut(cof_table *table, size_t column, const cof_cut_options *options,
                                 cof_error *err);
/* Where the column was cut, ascending; dates in seconds since 1970. Lent; NULL and 0 if it was not. */
COF_API const double *cof_table_edges(const cof_table *table, size_t column, size_t *n_edges);
/* Where the columns of a table were cut, a line each: name=edge,edge,... as `coforest fit --cut` reads it. COF_ERR_IO if
 * the sink refuses. */
COF_API cof_status cof_table_write_cuts(const cof_table *table, cof_sink sink, void *ctx, cof_error *err);

typedef enum cof_suspicion {
    COF_SUSPECT_MISSING = 1, /* a text that people write for "nothing", but that counts as a value */
    COF_SUSPECT_SPELLING = 2 /* two values that differ by letter case or surrounding blanks only */
} cof_suspicion;

typedef struct cof_suspect { /* frozen */
    int32_t suspicion;       /* cof_suspicion */
    uint32_t value, other;   /* value ids; the same one where the suspicion is about one */
} cof_suspect;

/* Values of a column that look like mistakes: the first `most` of them into list, and how many there are into *n. Time
 * is proportional to the column's values, memory too. */
COF_API cof_status cof_column_suspects(const cof_table *table, size_t column, cof_suspect *list, size_t most,
                                       size_t *n, cof_error *err);
typedef enum cof_tidy {
    COF_TIDY_TRIM = 1, /* blanks around texts, those of column names too */
    COF_TIDY_CASE = 2  /* letter case, of ASCII and Latin-1 */
} cof_tidy;

/* Joins the values of each column that are the same without what `tidying`, a sum of cof_tidy, names; the most frequent
 * spelling stays. A trimmed text that is one of `na` becomes missing; NULL: "", "?" and "NA". From then on the values of
 * a model are found in the table by these rules as well. Cuts are undone. Time is proportional to rows and values. */
COF_API cof_status cof_table_tidy(cof_table *table, uint32_t tidying, const char *const *na, size_t n_na,
                                  cof_error *err);
/* Distinct rows over the columns with role attribute, of fewer than 2^32 - 1 rows. Time and memory are proportional to
 * the cells. */
COF_API cof_status cof_table_count_distinct(const cof_table *table, uint64_t *n_distinct, cof_error *err);
/* A table of n rows of this one, with its columns, values and roles: one row out of each of n equal stretches, in their order;
 * all rows if there are no more than n. It uses names and values of the table, so free it first. */
COF_API cof_status cof_table_sample(const cof_table *table, size_t n, cof_table **out, cof_error *err);
/* The number that a row has in the table that was read, from 0 on: another one than `row` in a sample. */
COF_API uint64_t cof_table_row_number(const cof_table *table, size_t row);
/* Writes CSV, all columns, missing cells as they were; path "-" is standard output. Fails with COF_ERR_IO. */
COF_API cof_status cof_table_write(const cof_table *table, const char *path, cof_error *err);

/* ---- Large tables: pieces and encoded files ---------------------------------------------------------- */

/* Receives the next rows of a table that comes in pieces. The piece has rows first_row, first_row + 1, ... and those of its
 * values that these rows hold, or more; it is valid until the call returns. Any other status than COF_OK ends the
 * reading with that status. */
typedef cof_status (*cof_piece)(void *ctx, const cof_table *piece, uint64_t first_row, cof_error *err);

/* Nonzero: the table is an encoded one (below), in which delimiter, header and missing texts are settled; options about
 * them have no effect. */
COF_API int32_t cof_table_is_encoded(const cof_table *table);
/* As cof_table_read, in memory that does not depend on the number of rows: pieces have at most 65,536 rows. */
COF_API cof_status cof_table_read_pieces(const cof_env *env, const char *path,
                                         const cof_read_options *options, cof_piece visit, void *ctx,
                                         cof_error *err);

/* Writes an encoded table (docs/encoded-format.md), which cof_table_read maps into memory instead of reading it: the
 * rows may then be more than memory holds. Open, add the pieces in order, finish, free. Columns are kept as they were
 * read, before any cut; roles and stated orders are left out. Memory holds a piece and every distinct value; a file
 * without a name beside `path` takes as much space as the result. path "-" is standard output. */
typedef struct cof_encoding cof_encoding;
COF_API cof_status cof_encoding_open(const cof_env *env, const char *path, cof_encoding **out,
                                     cof_error *err);
/* COF_ERR_DATA if the columns have other names than those of the first piece, COF_ERR_IO if the disk is full. After a
 * failure the encoding can only be freed. */
COF_API cof_status cof_encoding_add(cof_encoding *encoding, const cof_table *piece, cof_error *err);
COF_API cof_status cof_encoding_piece(void *encoding, const cof_table *piece, uint64_t first_row,
                                      cof_error *err);                          /* the same, as a cof_piece */
COF_API cof_status cof_encoding_finish(cof_encoding *encoding, cof_error *err); /* the file appears */
COF_API void cof_encoding_free(cof_encoding *encoding); /* NULL is accepted; removes what is not finished */

/* ---- Synthetic tables -------------------------------------------------------------------------------- */

typedef enum cof_generator {
    COF_GENERATE_UNIFORM = 0, /* independent, uniform values: the paper's efficiency tables */
    COF_GENERATE_PLANTED = 1, /* clusters around modes; a label column "class" is added */
    COF_GENERATE_MIXED = 2    /* 4 categories of 2 to 6 values beside 4 numbers, and "class" */
} cof_generator;

/* What a mixed table is like. Where a column carries structure, a category is its class's mode with chance 0.6, and the
 * means of neighbouring classes are 2.5 standard deviations apart. */
typedef enum cof_mixed_family {
    COF_MIXED_BOTH = 0,       /* categories and numbers carry structure */
    COF_MIXED_CATEGORIES = 1, /* the categories alone */
    COF_MIXED_NUMBERS = 2,    /* the numbers alone */
    COF_MIXED_SKEWED = 3,     /* both, the numbers nearly log-normal */
    COF_MIXED_OUTLIERS = 4,   /* both, 2 numbers in 100 far away */
    COF_MIXED_NOISE = 5,      /* both, but every other number is noise */
    COF_MIXED_NONLINEAR = 6,  /* both, the distance of a number from 0 tells the class */
    COF_MIXED_IMBALANCE = 7   /* both, each class takes 0.7 of the rows that are left */
} cof_mixed_family;

typedef struct cof_generate_options {
    size_t struct_size;
    int32_t kind;       /* cof_generator */
    uint64_t n_rows;    /* 0 -> 1000 */
    uint32_t n_columns; /* attributes; 0 -> 20 */
    uint32_t n_values;  /* of each attribute; 0 -> 5 */
    uint32_t k;         /* planted clusters; 0 -> 5 */
    double noise;       /* planted: chance that a cell is drawn at random; 0 -> 0.3, below 0 -> none */
    uint64_t seed;
    int32_t
        family; /* cof_mixed_family; a mixed table reads k (0 -> 3 or 4, by the seed) and n_rows beside it */
} cof_generate_options;

/* Makes a synthetic table; the same options give the same table everywhere. Time and memory are proportional to the
 * cells. */
COF_API cof_status cof_table_generate(const cof_env *env, const cof_generate_options *options,
                                      cof_table **out, cof_error *err);
/* The same table in pieces, in memory for one of them; a mixed table is one piece. */
COF_API cof_status cof_table_generate_pieces(const cof_env *env, const cof_generate_options *options,
                                             cof_piece visit, void *ctx, cof_error *err);

/* =========================================================================================================
 * 2. Results: for programs that ask a model more than its labels, profiles and trees
 * ======================================================================================================== */

/* ---- How a model was found --------------------------------------------------------------------------- */

COF_API int32_t cof_model_variant(const cof_model *model); /* cof_variant */
COF_API int32_t cof_model_missing(const cof_model *model); /* cof_missing */
COF_API int32_t
cof_model_select(const cof_model *model); /* cof_select: what the kept restart was chosen by */
typedef enum cof_refiner {
    COF_REFINED_BY_METHOD = 0, /* every row is in the cluster that the method's distance makes the nearest */
    COF_REFINED_BY_LIKELIHOOD = 1 /* every row is in its likeliest cluster */
} cof_refiner;
/* cof_refiner: what the kept restart was refined by. New rows, distances and margins go by the same. Only the portfolio
 * of coforest has restarts of the second kind. */
COF_API int32_t cof_model_refined_by(const cof_model *model);
/* Share of the rows (by weight; of up to 65,536 evenly spaced ones) that lie nearer to another cluster along the trees.
 * NaN unless the likelihood refined the kept restart, and for a model file of an earlier version. */
COF_API double cof_model_nearer_other(const cof_model *model);
typedef struct cof_alternative { /* fixed; it may grow at its end */
    const cof_model *model;      /* the other partition, with its labels and trees; lent */
    uint32_t restart;            /* the restart that found it, from 0 */
    uint32_t keep;               /* the value of cof_fit_options.keep that makes it the model */
    double agreement;            /* adjusted Rand index with the kept partition, over up to 65,536 rows */
    double log_likelihood;       /* as in cof_fit_info */
} cof_alternative;

/* Another partition that is nearly as good and differs: the best restart by one of the gains that decide (likelihood,
 * likelihood beside dependent columns, tightness), if the geometric mean of its gains is at least nine tenths of that of
 * the kept one, and its agreement with the kept one below 0.8. The nearest first; at most two; NULL past the last. Only a
 * fit of the portfolio that balance or mixture decides has them, and only while it is not saved and loaded. Lent. */
COF_API const cof_alternative *cof_model_alternative(const cof_model *model, size_t number);
/* The restart that was kept, from 0: an index into cof_model_restarts. */
COF_API size_t cof_model_best_restart(const cof_model *model);

typedef struct cof_pass_record { /* frozen */
    uint32_t restart;            /* from 0 */
    uint32_t rebuild;            /* forests rebuilt before this pass, Algorithm 1's outer counter */
    uint32_t pass;               /* from 1 within the restart, its inner counter */
    double objective; /* L; minus the log-likelihood of the rows in a start refined by the likelihood */
    uint64_t moved;   /* rows that changed cluster, each counted once whatever its weight */
} cof_pass_record;

/* Every pass of every restart. Lent; NULL and 0 for a loaded model. */
COF_API const cof_pass_record *cof_model_history(const cof_model *model, size_t *n_records);

typedef struct cof_restart_record { /* frozen */
    double objective;
    double log_likelihood;
    uint32_t rebuilds, passes;
    int32_t stop_reason; /* cof_stop */
    double criterion;    /* what the restarts were compared by; larger is better */
    /* Nonzero: rows went to their likeliest cluster, not the nearest, and the objectives of its passes are in
     * those units. */
    int32_t by_likelihood;
} cof_restart_record;

/* Every finished restart. Lent. */
COF_API const cof_restart_record *cof_model_restarts(const cof_model *model, size_t *n_records);
#define COF_SAME_MAXIMUM 0.01 /* objectives of lca that differ by no more count as one maximum */
/* How many restarts, the kept one among them, reached its likelihood (its objective, where that decides), and so almost
 * certainly its partition. Time is proportional to the restarts. */
COF_API size_t cof_model_n_same(const cof_model *model);
/* How far each restart agrees with the kept one: the adjusted Rand index of their partitions over up to 65,536 rows, 1
 * for the kept one itself. As many as cof_model_restarts tells. Lent; NULL where there was one restart. */
COF_API const double *cof_model_agreement(const cof_model *model);
/* The mean over the other restarts; NaN where there was only one. Time is proportional to the restarts. */
COF_API double cof_model_mean_agreement(const cof_model *model);
/* How far the restarts agree about each cluster: the rows that it has in common with its best match over the rows of
 * either (Jaccard), mean over the other good restarts. Good are those whose likelihood gained nine tenths of what the
 * kept one gained over a single cluster. One for each of the k clusters. Lent; NULL where there was no such restart or k
 * is above 1024. n_good may be NULL. */
COF_API const double *cof_model_cluster_agreement(const cof_model *model, uint32_t *n_good);

#define COF_GOOD_AGREEMENT 0.8 /* where halves agree less on the number kept, it is uncertain */
typedef struct cof_k_record {  /* frozen */
    uint32_t k;
    double log_likelihood; /* the greatest of its restarts */
    /* of halves of the table: mean adjusted Rand index; NaN where it was not measured, because it is measured from the
     * number downward that is likeliest where columns may depend on each other, until the choice is certain */
    double agreement;
} cof_k_record;

/* Every number of clusters that cof_fit_auto tried, ascending. Lent; NULL and 0 where k was given. */
COF_API const cof_k_record *cof_model_k_curve(const cof_model *model, size_t *n_records);
/* Nonzero: the likeliest number is the least or the greatest that was tried, so that a wider range may hold a likelier
 * one. */
COF_API int32_t cof_model_k_at_edge(const cof_model *model);
/* The likeliest number of clusters among those tried, apart from the one kept; 0: there is none. */
COF_API uint32_t cof_model_k_runner_up(const cof_model *model);

/* ---- Distances and margins --------------------------------------------------------------------------- */

/* Distances between the values of each column, for a method that computes them once, before it clusters: lsm, cbdm, udm,
 * hdc, adc. distances[c] receives those of table column c, o x o, where o is its n_values, one more if it has missing
 * cells and they count as a value; zero for a column that is constant or no attribute. NULL: not wanted.
 * COF_ERR_ARGUMENT for other methods, COF_ERR_NO_COLUMNS, COF_ERR_NO_RESULT. Forests learn their distances: ask
 * cof_model_distance. Cost as of the method's preparation, docs/methods.md. */
COF_API cof_status cof_value_distances(const cof_table *table, const cof_fit_options *options,
                                       double *const *distances, cof_error *err);

/* Nonzero: the model can label rows, so that cof_model_predict does not fail with COF_ERR_NO_PREDICTION. */
COF_API int32_t cof_model_predicts(const cof_model *model);
/* Weight of the rows of a cluster that hold the value. 0 out of range. */
COF_API double cof_model_count(const cof_model *model, size_t attribute, uint32_t value, uint32_t cluster);
/* The most frequent value of a cluster, of equals the first; -1 where the attribute takes no part or the cluster has no
 * value. Time is proportional to the values of the attribute. */
COF_API int64_t cof_model_mode(const cof_model *model, size_t attribute, uint32_t cluster);

/* The classes of a mixture: a model of lca, or one that the likelihood refined. The share of all rows that the class
 * has, and the probability that a row of the class holds the value, both as EM left them (refined by the likelihood: of a
 * further row given the counts). Not to be confused with cof_model_sizes and cof_model_profile, which count the rows that
 * are labelled with the class. NaN for other models and out of range. */
COF_API double cof_model_class_share(const cof_model *model, uint32_t cluster);
COF_API double cof_model_class_probability(const cof_model *model, size_t attribute, uint32_t value,
                                           uint32_t cluster);

/* Which of an attribute's values every row of a table holds, a missing cell and a bin of a quantity included; -1 for a
 * value the model never met. COF_ERR_ARGUMENT if the attribute takes no part or n_values is not the table's rows;
 * COF_ERR_DATA if the table lacks a column. Time and memory in proportion to the rows. */
COF_API cof_status cof_model_values(const cof_model *model, const cof_table *table, size_t attribute,
                                    int32_t *values, size_t n_values, cof_error *err);

typedef struct cof_unseen { /* frozen */
    size_t attribute, column;
    const char *text; /* lent by the table; the missing text for cells that are missing */
    int32_t missing;  /* nonzero: missing cells, which the model never met */
    int32_t like;     /* value of the model that differs only by letter case or blanks; -1: none */
    uint64_t rows;
} cof_unseen;

/* The values of a table that the model does not know: the first `most` into list, and how many there are into *n.
 * COF_ERR_DATA if the table lacks a column. Time is proportional to rows x attributes. */
COF_API cof_status cof_model_unseen(const cof_model *model, const cof_table *table, cof_unseen *list,
                                    size_t most, size_t *n, cof_error *err);

typedef struct cof_margin { /* frozen: tables of many rows have one for each */
    float own;              /* distance to the row's own cluster; NaN for a row without one */
    float other;            /* distance to the nearest other cluster; infinity if there is none */
    int32_t second;         /* that cluster; -1 if there is none */
} cof_margin;

/* How clearly every row belongs to its cluster, one margin for each row; labels are the clusters of the rows. n_margins
 * must be the number of rows. Errors and cost as of cof_model_predict. */
COF_API cof_status cof_model_margins(const cof_model *model, const cof_table *table, const int32_t *labels,
                                     uint32_t threads, cof_margin *margins, size_t n_margins, cof_error *err);
/* 1 - own / other: 0 on the border between two clusters, 1 for a row that fits its own exactly, 0 for a row without a
 * cluster. A row whose lead is below COF_CLOSE_LEAD is called close. */
#define COF_CLOSE_LEAD 0.05
COF_API double cof_margin_lead(const cof_margin *margin);

/* ---- Memberships ------------------------------------------------------------------------------------- */

/* The clusters as classes of a mixture within which attributes are independent: class shares, and for every class and
 * attribute the probability of each value. For lca it is the mixture that was fitted. Otherwise the probabilities are
 * those of a further row given the counts of the partition and a prior of 1/2 per value, the bins of a quantity smoothed;
 * a partition that the likelihood refined is labelled by them too. Numeric columns are normal with one spread (Laplace
 * for ek-prototypes). docs/memberships.md has the formulas and how well memberships are calibrated. */
typedef struct cof_posterior cof_posterior;

/* Prepares the memberships of a table's rows. The model and the table must outlive the handle, which one thread may use
 * at a time; threads 0: all cores. Fails with COF_ERR_MISSING, COF_ERR_DATA as cof_model_predict does, and with
 * COF_ERR_NO_PREDICTION for a model with numeric columns from an older version. Time is proportional to values x k, and
 * for cut columns to the rows. */
COF_API cof_status cof_posterior_open(const cof_model *model, const cof_table *table, uint32_t threads,
                                      cof_posterior **out, cof_error *err);
/* The rows from `first` on, n of them. memberships receives n x k probabilities, row-major, that add up to 1 in every
 * row; log_likelihoods receives n natural logarithms of the rows' probabilities. Either may be NULL. A dropped row has
 * NaN, a cluster without rows 0. A value that the model does not know changes no membership and counts 1/2 / (N + (o +
 * 1) / 2) in the likelihood, where N rows of the fit hold one of the attribute's o values. The cluster with the greatest
 * membership, of equals the first, is the label of cof_model_predict if the model is of lca or was refined by the
 * likelihood. The bits do not depend on threads, nor on how the rows are divided into calls. COF_ERR_ARGUMENT if there
 * are no such rows. Time is proportional to n x (attributes x k). */
COF_API cof_status cof_posterior_rows(cof_posterior *posterior, size_t first, size_t n, double *memberships,
                                      double *log_likelihoods, cof_error *err);
COF_API void cof_posterior_free(cof_posterior *posterior); /* NULL is accepted */

/* A row whose largest membership is below this is called shared between clusters. */
#define COF_SHARED_MEMBERSHIP 0.8
/* Sets mixture_log_likelihood, n_parameters, bic, aic, icl, n_shared and the members after gamma of info for the rows of a table, which need not be
 * the one fitted; the other members stay. Parameters are k - 1 class shares and, in every class, one less than the values
 * that occur for each attribute and a mean for each numeric column, and one spread of these. bic is n_parameters x log(n)
 * - 2 x log-likelihood, aic has 2 instead of log(n), icl is bic plus twice the entropy of the memberships. weights: one for
 * each row; NULL: the weight column, or 1 each. Errors as of cof_posterior_open, and COF_ERR_DATA for weights that are no
 * numbers. Time is proportional to rows x attributes x k. */
COF_API cof_status cof_model_criteria(const cof_model *model, const cof_table *table, const double *weights,
                                      uint32_t threads, cof_fit_info *info, cof_error *err);

/* ---- How latent classes fit ----------------------------------------------------------------------- */

/* Beside cof_model_criteria, which tells the fit in numbers: the cells of the table, the parts of the misfit, and standard
 * errors. The model is one of lca. */
typedef struct cof_class_study cof_class_study;
typedef struct cof_class_cell { /* frozen */
    uint64_t row;               /* the first of equal rows that have no missing cell */
    double observed, expected;  /* weight of these rows, and what the model expects */
} cof_class_cell;
enum { COF_STUDY_ERRORS = 1, COF_STUDY_RESIDUALS = 2 };

/* Compares a model with the rows of a table, in general those it was fitted to; `wanted` is a sum of COF_STUDY_..., 0: the
 * cells alone. weights: one for each row; NULL: the weight column, or 1 each. The model must outlive the handle, the table
 * need not. COF_ERR_NO_RESULT for another method; otherwise errors as of cof_posterior_open. Time is proportional to rows
 * x attributes, with errors also to distinct rows x (k x values)^2 + (k x values)^3, with residuals to distinct rows x
 * attributes^2. */
COF_API cof_status cof_class_study_open(const cof_model *model, const cof_table *table, const double *weights,
                                        uint32_t wanted, cof_class_study **out, cof_error *err);
COF_API void cof_class_study_free(cof_class_study *study); /* NULL is accepted */
COF_API const cof_class_cell *cof_class_study_cells(const cof_class_study *study, size_t *n_cells); /* lent */
/* Standard errors of a class's share and of a probability in it, from the observed information (the products of the rows'
 * scores). NaN where they were not asked for, are out of range, columns have weights, or there are more than 1500 values
 * x k; 0, which means little, for a probability of 0 or 1. */
COF_API double cof_class_study_share_error(const cof_class_study *study, uint32_t cluster);
COF_API double cof_class_study_probability_error(const cof_class_study *study, size_t attribute,
                                                 uint32_t value, uint32_t cluster);
/* The bivariate residual of two attributes: X squared of their table, observed and expected, over its degrees of freedom.
 * Far above 1: they depend on each other inside classes. NaN where there is none. */
COF_API double cof_class_study_residual(const cof_class_study *study, size_t one, size_t other);

/* ---- Quantities of a model ------------------------------------------------------------------------ */

/* Where an attribute that is a quantity was cut, ascending: value b, except a missing one, holds the points from edge
 * b - 1 up to but not including edge b. Dates are in seconds since 1970. Lent; NULL and 0 if it is no quantity. */
COF_API const double *cof_model_cut(const cof_model *model, size_t attribute, size_t *n_edges);

/* Five numbers of a quantity in a cluster. */
typedef enum cof_five {
    COF_FIVE_LEAST = 0,
    COF_FIVE_QUARTER = 1,
    COF_FIVE_MEDIAN = 2,
    COF_FIVE_THREE_QUARTERS = 3,
    COF_FIVE_MOST = 4,
    COF_N_FIVE = 5
} cof_five;

/* COF_N_FIVE numbers by cof_five, from up to 65,536 rows of the table fitted; NaN where the cluster has no value. Lent;
 * NULL if the attribute is no quantity. */
COF_API const double *cof_model_five(const cof_model *model, size_t attribute, uint32_t cluster);
/* A point of a quantity as text: 38.5, $12, 2024-03-31. Writes at most `room` bytes, at least 1, and returns text. */
COF_API const char *cof_model_show_point(const cof_model *model, size_t attribute, double point, char *text,
                                         size_t room);

/* Quantities that were kept as numbers (COF_ROLE_NUMERIC), in the order of their columns. */
COF_API size_t cof_model_n_numeric(const cof_model *model);
COF_API const char *cof_model_numeric_name(const cof_model *model,
                                           size_t quantity); /* lent; NULL out of range */
/* The mean of a cluster, by which rows are labelled; dates are in seconds since 1970. NaN if it is unknown. */
COF_API double cof_model_numeric_mean(const cof_model *model, size_t quantity, uint32_t cluster);
/* The same as text: 38.5, $12, 2024-03-31; "" if it is unknown. Writes at most `room` bytes, at least 1, and returns
 * text. */
COF_API const char *cof_model_show_mean(const cof_model *model, size_t quantity, uint32_t cluster, char *text,
                                        size_t room);

/* How much an attribute counted in distances and in the choice: 1 unless cof_fit_options.column_weights said so. */
COF_API double cof_model_column_weight(const cof_model *model, size_t attribute);

/* ---- What distinguishes the clusters ----------------------------------------------------------------- */

typedef enum cof_trait_side {
    COF_TRAIT_MORE = 0, /* values that a cluster holds more often than the table does */
    COF_TRAIT_LESS = 1  /* values that it holds less often */
} cof_trait_side;

typedef struct cof_trait { /* frozen */
    size_t attribute;
    uint32_t value, last; /* of a quantity the bins from value to last; otherwise the same one */
    double here, cluster; /* weight of the cluster's rows with the value, and of all its rows */
    double anywhere, all; /* the same in the table */
    double evidence;      /* G statistic of value against cluster; by chance it exceeds 10.8 once in 1000 */
} cof_trait;

/* The values of a trait as text: "red"; of joined bins "17..27". Writes at most `room` bytes, at least 1, and returns
 * text. */
COF_API const char *cof_trait_text(const cof_model *model, const cof_trait *trait, char *text, size_t room);
/* The values that distinguish each cluster, neighbouring bins of a quantity joined, at most `most` of them, most evidence first: those of cluster j begin at
 * traits[j * most], n_traits[j] of them. Time is proportional to values x k. */
COF_API cof_status cof_model_traits(const cof_model *model, int32_t side, size_t most, cof_trait *traits,
                                    size_t *n_traits, cof_error *err);
/* For every attribute the share of the uncertainty about the cluster that it removes, 0 to 1, corrected for chance:
 * mutual information over the entropy of the clusters. Time is proportional to values x k. */
COF_API cof_status cof_model_importance(const cof_model *model, double *importance, size_t n_attributes,
                                        cof_error *err);

/* ---- A map of the rows ------------------------------------------------------------------------------- */

typedef struct cof_map cof_map; /* rows of a table, placed by cof_embed */

typedef struct cof_map_point { /* frozen */
    uint64_t row;              /* the first row of the table that it stands for */
    uint64_t n_rows;           /* equal rows, among those looked at */
    double x, y;
} cof_map_point;

typedef struct cof_embed_options {
    size_t struct_size;
    uint64_t seed;
    double perplexity;    /* neighbours that matter to a point; 0 -> 30, never above a third of the points */
    uint32_t most_points; /* of more distinct rows a sample is placed; 0 -> 1500, fewer for many attributes */
    uint32_t steps;       /* of t-SNE; 0 -> 600 */
    uint32_t threads;     /* 0 -> all cores */
    uint64_t most_cells;  /* of a table with more, only a sample of rows is looked at; 0 -> 40 million */
} cof_embed_options;

/* Places the distinct rows of a table that has the model's attributes in the plane, by t-SNE on the distances that the
 * model learned. If it is stopped, it keeps the places reached so far. COF_ERR_DATA if an attribute is not in the table.
 * Time is proportional to steps x points^2, memory to points^2. */
COF_API cof_status cof_embed(const cof_model *model, const cof_table *table, const cof_embed_options *options,
                             cof_map **out, cof_error *err);
COF_API const cof_map_point *cof_map_points(const cof_map *map, size_t *n_points); /* lent */
COF_API uint64_t cof_map_n_distinct(const cof_map *map); /* distinct rows; 0: not counted */
COF_API void cof_map_free(cof_map *map);                 /* NULL is accepted */
/* The map as SVG, coloured by cluster; labels are those of the table's rows, a negative one is grey. COF_ERR_IO if the
 * sink refuses. */
COF_API cof_status cof_map_draw(const cof_map *map, const cof_model *model, const cof_table *table,
                                const int32_t *labels, cof_sink sink, void *ctx, cof_error *err);

/* ---- Comparing methods ------------------------------------------------------------------------------- */

typedef struct cof_index { /* fixed; it may grow at its end */
    const char *key;       /* as in JSON: "ari" */
    const char *name;      /* for people: "ARI" */
    const char *about;     /* one line of text */
} cof_index;
/* The indices of cof_indices in the order to show them; NULL past the last. */
COF_API const cof_index *cof_index_at(size_t index);
/* The value of that index, which must be one that cof_index_at knows. */
COF_API double cof_index_value(const cof_indices *indices, size_t index);
/* cof_evaluate where rows have weights, finite and >= 0. Whole weights say how often a row counts; others are scaled so
 * that their mean is 1, and what a cluster and a class have in common is rounded to whole rows. NULL: 1 each. */
COF_API cof_status cof_evaluate_weighted(const cof_env *env, const int32_t *clusters, const int32_t *classes,
                                         const double *weights, size_t n, cof_indices *out, cof_error *err);
/* The matching behind the index ca: class_of[j] is the class matched with cluster j, -1 for none. The table is n_clusters
 * x n_classes, row-major, of counts. Time is proportional to clusters x classes x the smaller of both. */
COF_API cof_status cof_match(const cof_env *env, const uint64_t *table, uint32_t n_clusters,
                             uint32_t n_classes, int32_t *class_of, cof_error *err);

typedef struct cof_friedman_result { /* set struct_size first */
    size_t struct_size;
    double chi_square, p;           /* of Friedman's test, p of its chi-square with df degrees of freedom */
    double chi_square_tied, p_tied; /* corrected for ties; NaN and 1 if every dataset ties all methods */
    double f, p_f;                  /* Iman and Davenport's form, from the uncorrected chi-square */
    uint32_t df, f_df1, f_df2;
} cof_friedman_result;

/* Do methods differ over datasets? value is n_datasets x n_methods, row-major; NaN is missing and ranks last. mean_rank
 * receives n_methods ranks, 1 the best, ties averaged; it and out may be NULL. Time is proportional to n_datasets x
 * n_methods^2. */
COF_API cof_status cof_friedman(const cof_env *env, const double *value, size_t n_datasets, size_t n_methods,
                                int32_t larger_is_better, double *mean_rank, cof_friedman_result *out,
                                cof_error *err);
/* Bonferroni and Dunn: how far a mean rank must lie from the control's to differ at level alpha. */
COF_API double cof_critical_difference(size_t n_datasets, size_t n_methods, double alpha);

/* =========================================================================================================
 * 3. Bindings: for bindings and programs that show all options and results without lists of their own
 * ======================================================================================================== */

/* ---- Tables from Arrow ------------------------------------------------------------------------------- */

/* The Arrow C data interface, as published with the Arrow format. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* Makes a table of a struct array, one child for each column: dictionary, string (plain, large, view), integer, boolean
 * and null columns. An ordered dictionary keeps its order and makes the column ordinal. Everything is copied; you keep
 * both structs and release them. COF_ERR_DATA for a type that is not listed or an array that contradicts its schema.
 * Time and memory are proportional to the cells. */
COF_API cof_status cof_table_from_arrow(const cof_env *env, const struct ArrowSchema *schema,
                                        const struct ArrowArray *array, cof_table **out, cof_error *err);
/* The same for all batches of a stream. Batches are released as they are read; the stream itself is yours to release.
 * COF_ERR_IO if the stream reports an error. */
COF_API cof_status cof_table_from_arrow_stream(const cof_env *env, struct ArrowArrayStream *stream,
                                               cof_table **out, cof_error *err);

/* ---- Options of a fit, one by one -------------------------------------------------------------------- */

typedef enum cof_option_type {
    COF_OPTION_COUNT = 0,  /* uint32_t */
    COF_OPTION_NUMBER = 1, /* uint64_t */
    COF_OPTION_REAL = 2,   /* double; the word in place i, if there are words, stands for -1 - i */
    COF_OPTION_WORD = 3,   /* int32_t, the place of a word */
    COF_OPTION_NAME = 4    /* const char *, a word itself; NULL stands for the first one */
} cof_option_type;

typedef struct cof_option { /* fixed; it may grow at its end */
    const char *name;       /* as on the command line; bindings write _ for - */
    const char *arg;        /* how help calls its value */
    int32_t type;           /* cof_option_type, which also says what the member of cof_fit_options is */
    size_t offset;          /* of that member */
    double least, most; /* bounds of a number besides 0, the default; least DBL_MIN: above 0; most 0: none */
    double usual;       /* what programs set where the user gives nothing */
    const char *about;  /* one or two sentences; ends with a colon if words follow */
} cof_option;

typedef struct cof_word { /* frozen */
    const char *name, *about;
} cof_word;

/* The options of a fit but for k, in the order to show them; NULL past the last. Parsers, help and bindings for other
 * languages walk this table, so that a new option appears everywhere. */
COF_API const cof_option *cof_fit_option(size_t option);
/* A word that the option may be; a NULL name past the last. */
COF_API cof_word cof_fit_option_word(size_t option, size_t place);

/* Nonzero: an order that cof_table_set_order states changes what this method finds. NULL: "coforest". coforest and cof1
 * make the tree of such a column a line; with quantities or a likelihood that decides, it matters less. */
COF_API int32_t cof_method_uses_order(const char *method);
/* Nonzero: models of this method label new rows (cof_model_predict, cof_model_transform). NULL: "coforest". */
COF_API int32_t cof_method_predicts(const char *method);

/* ---- Results, field by field ------------------------------------------------------------------------- */

typedef enum cof_field_type {
    COF_FIELD_COUNT = 0,
    COF_FIELD_INDEX = 1, /* a count from 0; programs for people add 1 */
    COF_FIELD_REAL = 2,
    COF_FIELD_TEXT = 3,
    COF_FIELD_FLAG = 4,   /* count is 0 or 1 */
    COF_FIELD_OBJECT = 5, /* has no value itself; its members follow in the table */
    COF_FIELD_RECORDS = 6 /* a list of such objects */
} cof_field_type;

typedef struct cof_field { /* fixed; it may grow at its end */
    const char *key;       /* as in JSON */
    const char *inside;    /* key of the object or list it is a member of; NULL: of the result */
    int32_t type;          /* cof_field_type */
    int32_t per_cluster;   /* nonzero: a list of k values */
    const char *about;     /* one line of text */
} cof_field;

typedef struct cof_field_value { /* frozen; the member that fits the type is set */
    int32_t known;               /* zero: null */
    uint64_t count;
    double real;
    const char *text; /* lent by the model */
} cof_field_value;

/* What is known of a model and its fit, in the order to show it; NULL past the last. Writers of JSON, manuals and
 * bindings for other languages walk this table, so that a new field appears everywhere. */
COF_API const cof_field *cof_result_field(size_t field);
/* A word that the field's value may be, in the place of its number; a NULL name past the last. */
COF_API cof_word cof_result_word(size_t field, size_t place);
/* How many values the field has: 1, k, or the number of records; 0: this result does not have it. For a member of a
 * list, values of one record. info may be NULL, as for a loaded model. */
COF_API size_t cof_result_length(const cof_model *model, const cof_fit_info *info, size_t field);
/* `at` counts clusters or records. Not known where it is not below the length of the field, or of the list it is a
 * member of. */
COF_API cof_field_value cof_result_value(const cof_model *model, const cof_fit_info *info, size_t field,
                                         size_t at);

/* =========================================================================================================
 * 4. Around the library: what coforest itself writes files, texts and JSON with
 * ======================================================================================================== */

/* ---- Machine, files, texts, JSON --------------------------------------------------------------------- */

/* The cores that this process may use, at least 1: those of its affinity mask, limited by the processor quotas of
 * its control groups on Linux, which are read once. Where a number of threads may be 0, it stands for this number. */
COF_API uint32_t cof_n_cores(void);
/* The bytes of memory that this process may use: those of the machine, limited by its control groups on Linux. */
COF_API uint64_t cof_memory(void);

/* Files that appear under their names only when they are complete. Each one waits in its target's folder under a
 * random name, with the permissions of the file it replaces; a crash leaves at most such a hidden file, which the
 * next output opened in that folder removes. A link to a file stays, and the file it leads to is replaced; a link to
 * nothing is refused. path "-" is standard output, whose stdio stream the caller flushes before; it, devices and pipes are
 * written directly and never wait. All of these fail with COF_ERR_IO. */
typedef struct cof_output cof_output;
COF_API cof_status cof_output_open(const cof_env *env, const char *path, cof_output **out, cof_error *err);
COF_API cof_status cof_output_write(cof_output *output, const void *bytes, size_t n_bytes, cof_error *err);
/* Brings all bytes to the disk; nothing can be written afterwards. Publishing finishes what is not finished, so this
 * is for programs that want to hear of a full disk file by file. */
COF_API cof_status cof_output_finish(cof_output *output, cof_error *err);
/* The next three end the handles; NULL among them is accepted. Publish gives all files their names together: if one
 * cannot have its name, the others get back what they were before (where the file system can link files), and all
 * are discarded. Commit publishes one. Discard leaves nothing behind. */
COF_API cof_status cof_output_publish(cof_output *const *outputs, size_t n, cof_error *err);
COF_API cof_status cof_output_commit(cof_output *output, cof_error *err);
COF_API void cof_output_discard(cof_output *output);

/* Makes a text fit to show on one line of a screen: control characters, direction marks and bytes that are not UTF-8
 * are spelled out (\n, \x1b, \u202e), and a longer text ends with an ellipsis. At most `columns` wide and `size`
 * bytes, of which there are at least 16. Returns the columns it takes: 2 for East Asian wide, 0 for combining marks. */
COF_API unsigned cof_text_show(char *to, size_t size, const char *text, unsigned columns);
enum { COF_NUMBER_BYTES = 40 };
/* The fewest digits that read back as the same number, with a decimal point in every locale; returns `to`. */
COF_API const char *cof_text_number(char *to, size_t size, double number);
/* Writes a text as a cell of a CSV file, in quotes if it needs them. The delimiter is an ASCII character; 0: none of those
 * that readers guess may stand outside quotes. `harmless`: a text that a spreadsheet would compute gets a ' before it, and
 * control characters become \x1b and the like. What the sink returns. */
COF_API int cof_text_cell(cof_sink sink, void *ctx, const char *text, char delimiter, int harmless);

/* JSON, written piece by piece to a sink: one object or array inside another, at most 31 deep; commas and indentation
 * are added. `key` is NULL inside an array. Bytes that are not UTF-8 become U+FFFD; a text that is NULL and a number
 * that is not finite become null. The struct is yours, usually on the stack; frozen. */
typedef struct cof_json {
    cof_sink sink;
    void *ctx;
    int32_t refused; /* nonzero: the sink refused a piece, and the rest is dropped */
    uint32_t depth, filled, on_line;
} cof_json;
COF_API void cof_json_begin(cof_json *json, cof_sink sink, void *ctx);
COF_API void cof_json_open(cof_json *json, const char *key, char bracket); /* '{' or '[' */
COF_API void cof_json_open_line(cof_json *json, const char *key,
                                char bracket);             /* the same, all on one line */
COF_API void cof_json_close(cof_json *json, char bracket); /* '}' or ']' */
COF_API void cof_json_text(cof_json *json, const char *key, const char *text);
COF_API void cof_json_count(cof_json *json, const char *key, uint64_t n);
COF_API void cof_json_real(cof_json *json, const char *key, double number);
COF_API void cof_json_flag(cof_json *json, const char *key, int flag);
COF_API int cof_json_end(cof_json *json); /* a line break; returns `refused` */

/* The q-quantile of n numbers by linear interpolation, 0.5 the median; sorts them in place. NaN for none. */
COF_API double cof_quantile(double *numbers, size_t n, double q);

#ifdef __cplusplus
}
#endif
#endif
