/* coforest.h: cluster rows of categories with learned order trees.
 *
 * Read a table, fit, ask the model, free both:
 *
 *     cof_table *table;
 *     cof_model *model;
 *     cof_error err;
 *     cof_fit_options fit = {.struct_size = sizeof fit, .k = 7};
 *     if (cof_table_read(NULL, "table.csv", NULL, &table, &err) != COF_OK) ...
 *     if (cof_fit(table, &fit, &model, NULL, &err) != COF_OK) ...
 *     const int32_t *labels = cof_model_labels(model, NULL);
 *
 * No state lives outside the handles. A handle may be read from many threads or changed from one; it
 * keeps a copy of the cof_env it was made with. Arguments come in the order subject, inputs, options,
 * outputs, error; outputs are written only on COF_OK. Rows, columns, values and clusters count from 0.
 * Structs that grow with the library start with `struct_size`: set it to sizeof the struct and the
 * rest to zero, which always means "the default". */
#ifndef COFOREST_H
#define COFOREST_H

#include <stddef.h>
#include <stdint.h>

#define COF_VERSION_MAJOR 0
#define COF_VERSION_MINOR 1
#define COF_VERSION_PATCH 0

#if defined(_WIN32) || !defined(__GNUC__)
#define COF_API
#else
#define COF_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status, errors, what the host lends ------------------------------------------------------ */

/* 0 is success, negatives are failures by tens; a released number never changes meaning. */
typedef enum cof_status {
    COF_OK = 0,
    COF_ERR_MEMORY = -1,       /* the allocator said no */
    COF_ERR_ARGUMENT = -2,     /* the call itself is wrong: an option, a column name, a size */
    COF_ERR_IO = -10,          /* the system failed to open, read or write a file */
    COF_ERR_DATA = -11,        /* a table that cannot be read as one */
    COF_ERR_MODEL = -12,       /* not a model file, or a damaged one */
    COF_ERR_TOO_NEW = -13,     /* a model file of a later format than this library knows */
    COF_ERR_UNSUPPORTED = -14, /* this build lacks what the input needs, gzip or zstd for example */
    COF_ERR_NO_PREDICTION =
        -15,                  /* the model has no distances from rows to clusters, so it cannot label rows */
    COF_ERR_FEW_ROWS = -20,   /* fewer distinct rows than clusters */
    COF_ERR_NO_COLUMNS = -21, /* no column is left that tells rows apart */
    COF_ERR_NO_RESULT = -23,  /* the method has none for this table, and says why */
    COF_ERR_MISSING = -22,    /* a missing value where COF_MISSING_ERROR forbids one */
    COF_ERR_BACKEND = -30,    /* threads or a device failed */
    COF_ERR_NO_BACKEND = -31, /* asked for one this build or host lacks */
    COF_ERR_STOPPED = -40     /* should_stop said so before there was a result to keep */
} cof_status;

COF_API const char *cof_status_text(cof_status status); /* fixed text, never NULL */
COF_API const char *cof_version(void);                  /* of the library linked, "major.minor.patch" */
COF_API const char *cof_build_info(void);               /* optional parts built in, e.g. "gzip, zstd" */

/* One sentence about a failure: what, where, what to do. Yours, on the stack; NULL is fine wherever
 * one is taken. */
typedef struct cof_error {
    char text[512];
} cof_error;

typedef enum cof_phase {
    COF_PHASE_READ = 1,
    COF_PHASE_START = 2,
    COF_PHASE_FIT = 3,
    COF_PHASE_GENERATE = 4,
    COF_PHASE_MEASURE = 5
} cof_phase;

/* Where long work stands. Sent on the calling thread, at most once a pass or a block of input. */
typedef struct cof_progress {
    int32_t phase;     /* cof_phase */
    uint32_t restart;  /* the one running, from 1; 0 where nothing is fitted */
    uint32_t restarts; /* of how many */
    uint32_t rebuild;  /* forests rebuilt so far in this restart */
    uint32_t pass;     /* passes so far in this restart */
    /* Reading: bytes (total 0: unknown). Generating: rows. Measuring: things timed. Else rows moved, and rows. */
    uint64_t done, total;
    double elapsed_s;  /* since the call began */
    double rows_per_s; /* row visits a second, over the whole call */
    uint32_t k;        /* clusters being made; 0 where nothing is fitted */
} cof_progress;

/* What the host lends us. NULL env or NULL member: the C library's memory, silence, never stop.
 * Give both of alloc and release or neither. All but alloc and release are called only from the
 * thread that made the call. */
typedef struct cof_env {
    size_t struct_size;
    void *(*alloc)(void *ctx, size_t bytes); /* may return NULL; alignment as malloc's */
    void (*release)(void *ctx, void *block); /* never called with NULL */
    int (*should_stop)(void *ctx);           /* nonzero ends the call; asked between passes and blocks */
    void (*progress)(void *ctx, const cof_progress *progress);
    void *ctx;
} cof_env;

/* ---- Tables ------------------------------------------------------------------------------------ */

/* Rows as value ids, with one dictionary per column. Values are numbered in numeric order if every
 * value of the column is an integer, otherwise in byte order of their text; a missing cell has the id
 * after the last value. */
typedef struct cof_table cof_table;

typedef struct cof_read_options {
    size_t struct_size;
    char delimiter;        /* 0: tab for .tsv and .tab, otherwise guessed from the first line */
    int32_t no_header;     /* nonzero: the first line is data, columns are named V1, V2, ... */
    const char *const *na; /* texts that mean "missing"; NULL: "", "?" and "NA" */
    size_t n_na;           /* length of na; 0 with a non-NULL na: no text does */
    uint32_t threads;      /* 0 -> all cores; the table does not depend on it */
} cof_read_options;

/* CSV or TSV: RFC 4180 quoting, UTF-8 with or without BOM, LF or CRLF; gzip and zstd are recognised by
 * their first bytes; path "-" is standard input. Complaints name file, line and column. */
COF_API cof_status cof_table_read(const cof_env *env, const char *path, const cof_read_options *options,
                                  cof_table **out, cof_error *err);
/* The same from bytes in memory; `name` stands for the file in complaints. */
COF_API cof_status cof_table_read_memory(const cof_env *env, const char *name, const void *bytes,
                                         size_t n_bytes, const cof_read_options *options, cof_table **out,
                                         cof_error *err);
/* Integer codes, row-major, any integers; a negative one is missing. names may be NULL (V1, V2, ...).
 * The codes are copied; a value's text is its code in decimal. */
COF_API cof_status cof_table_from_codes(const cof_env *env, const int32_t *codes, size_t n_rows,
                                        size_t n_columns, const char *const *names, cof_table **out,
                                        cof_error *err);
/* Text cells, column after column (cells[c * n_rows + i]); a NULL cell is missing. Copied. */
COF_API cof_status cof_table_from_strings(const cof_env *env, const char *const *cells, size_t n_rows,
                                          size_t n_columns, const char *const *names, cof_table **out,
                                          cof_error *err);
/* The table compiled into the library, for trying things out: UCI Zoo, 101 animals. */
COF_API cof_status cof_table_demo(const cof_env *env, cof_table **out, cof_error *err);
COF_API void cof_table_free(cof_table *table); /* NULL is fine */

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

/* A struct array, one child a column: dictionary, string (plain, large, view), integer, boolean and null
 * columns. An ordered dictionary keeps its order and makes the column ordinal. Everything is copied; the
 * caller keeps both structs and releases them. */
COF_API cof_status cof_table_from_arrow(const cof_env *env, const struct ArrowSchema *schema,
                                        const struct ArrowArray *array, cof_table **out, cof_error *err);
/* All batches of a stream. Batches are released as they are read, the stream itself by the caller. */
COF_API cof_status cof_table_from_arrow_stream(const cof_env *env, struct ArrowArrayStream *stream,
                                               cof_table **out, cof_error *err);

/* What a column is used for. */
typedef enum cof_role {
    COF_ROLE_ATTRIBUTE = 0,  /* clustered on */
    COF_ROLE_LABEL = 1,      /* true classes: scored against, never clustered on */
    COF_ROLE_IDENTIFIER = 2, /* names the rows */
    COF_ROLE_WEIGHT = 3,     /* how often each row counts, a number >= 0 */
    COF_ROLE_IGNORED = 4,
    COF_ROLE_NUMERIC = 5 /* a quantity, for the methods that can use one */
} cof_role;

typedef struct cof_column { /* a view; dies with its table */
    const char *name;
    int32_t role;             /* cof_role */
    int32_t ordinal;          /* nonzero: value ids follow a stated order */
    uint32_t n_values;        /* distinct values, missing not counted */
    uint64_t n_missing;       /* rows without a value */
    const char *missing_text; /* what stood in the first missing cell; "" where nothing did */
} cof_column;

COF_API size_t cof_table_n_rows(const cof_table *table);
COF_API size_t cof_table_n_columns(const cof_table *table);
COF_API cof_status cof_table_column(const cof_table *table, size_t column, cof_column *view);
/* Index of the column of that name, or SIZE_MAX. */
COF_API size_t cof_table_find(const cof_table *table, const char *name);
/* Text of a value id, NUL-terminated; the missing id gives the column's missing_text. NULL out of range. */
COF_API const char *cof_table_value(const cof_table *table, size_t column, uint32_t value);
/* Value id of a cell; n_values for a missing one. Indices must be in range. */
COF_API uint32_t cof_table_code(const cof_table *table, size_t row, size_t column);
COF_API cof_status cof_table_set_role(cof_table *table, size_t column, int32_t role, cof_error *err);
/* Makes the column ordinal: its values are numbered in the order given. Every value that occurs must be
 * named; names that do not occur are skipped. */
COF_API cof_status cof_table_set_order(cof_table *table, size_t column, const char *const *values,
                                       size_t n_values, cof_error *err);

/* What the values of a column seem to be. */
typedef enum cof_kind {
    COF_KIND_CATEGORY = 0,
    COF_KIND_QUANTITY =
        1, /* numbers, dates or times: more than 20 distinct ones, or more than 10 if any has a
                                fraction, or nearly as many as rows; none begins with a zero as codes do */
    COF_KIND_IDENTIFIER =
        2, /* nearly every row has its own value (at least 9 in 10 of 16 or more rows): a text, or
                                whole numbers with hardly a gap */
    COF_KIND_CONSTANT = 3 /* one value in every row */
} cof_kind;

typedef struct cof_advice { /* set struct_size first */
    size_t struct_size;
    int32_t kind;    /* cof_kind */
    char why[120];   /* the reason, for people */
    int32_t numbers; /* nonzero: all values are numbers, dates or times, so that cof_table_cut can cut them */
} cof_advice;

/* What a column seems to be, whatever its role. `missing` is a cof_missing: missing cells that are a value of their own
 * keep a column from being constant. Time and no memory in proportion to the column's values. */
COF_API cof_status cof_column_advise(const cof_table *table, size_t column, int32_t missing,
                                     cof_advice *advice, cof_error *err);
/* How many rows hold each value; rows has room for n = n_values + 1, the last one counts the missing cells. */
COF_API cof_status cof_column_count(const cof_table *table, size_t column, uint64_t *rows, size_t n,
                                    cof_error *err);

typedef struct cof_cut_options {
    size_t struct_size;
    uint32_t bins; /* bins of equal share; 0 -> 16, at most 4096 */
    const char *const
        *edges; /* where to cut instead, ascending, written as the column's values or plainly; a value
                                 equal to an edge lies above it */
    size_t n_edges;
} cof_cut_options;

/* Cuts a quantity: the column becomes ordinal with its bins as values, named by the range they hold ("38..42"). "nan"
 * and infinities become missing; equal numbers share a bin, and bins without rows vanish. What was cut is kept beside
 * the bins, so that a column can be cut again. options may be NULL. Time in proportion to rows and values.
 * COF_ERR_DATA if the values are neither numbers nor dates. */
COF_API cof_status cof_table_cut(cof_table *table, size_t column, const cof_cut_options *options,
                                 cof_error *err);
/* Where the column was cut, ascending; dates in seconds since 1970. Lent; NULL and 0 if it was not. */
COF_API const double *cof_table_edges(const cof_table *table, size_t column, size_t *n_edges);

typedef enum cof_suspicion {
    COF_SUSPECT_MISSING = 1, /* a text that people write for "nothing", but that counts as a value */
    COF_SUSPECT_SPELLING = 2 /* two values that differ by letter case or surrounding blanks only */
} cof_suspicion;

typedef struct cof_suspect {
    int32_t suspicion;     /* cof_suspicion */
    uint32_t value, other; /* value ids; the same one where the suspicion is about one */
} cof_suspect;

/* Values of a column that look like mistakes: the first `most` of them into list, and how many there are into *n. */
COF_API cof_status cof_column_suspects(const cof_table *table, size_t column, cof_suspect *list, size_t most,
                                       size_t *n, cof_error *err);
/* Distinct rows over the columns with role attribute. */
COF_API cof_status cof_table_count_distinct(const cof_table *table, uint64_t *n_distinct, cof_error *err);
/* Writes CSV, all columns, missing cells as they were; path "-" is standard output. */
COF_API cof_status cof_table_write(const cof_table *table, const char *path, cof_error *err);

typedef enum cof_generator {
    COF_GENERATE_UNIFORM = 0, /* independent, uniform values: the paper's efficiency tables */
    COF_GENERATE_PLANTED = 1  /* clusters around modes; a label column "class" is added */
} cof_generator;

typedef struct cof_generate_options {
    size_t struct_size;
    int32_t kind;       /* cof_generator */
    uint64_t n_rows;    /* 0 -> 1000 */
    uint32_t n_columns; /* attributes; 0 -> 20 */
    uint32_t n_values;  /* per attribute; 0 -> 5 */
    uint32_t k;         /* planted clusters; 0 -> 5 */
    double noise;       /* planted: chance that a cell is drawn at random; 0 -> 0.3, below 0 -> none */
    uint64_t seed;
} cof_generate_options;

COF_API cof_status cof_table_generate(const cof_env *env, const cof_generate_options *options,
                                      cof_table **out, cof_error *err);

/* ---- Fitting ----------------------------------------------------------------------------------- */

typedef enum cof_variant {
    COF_VARIANT_PAPER = 0,  /* the paper's equations: every attribute weighs 1, a zero weight is a length 0 */
    COF_VARIANT_AUTHORS = 1 /* the authors' released scaling: 1 / (values - 1), zero weights 1e-8 */
} cof_variant;

typedef enum cof_init {
    COF_INIT_PORTFOLIO = 0, /* by turns: one-hot k-means refined by COForest, rows far apart refined by the
                               likelihood, each after a few rounds of EM; on a sample first if the table is large.
                               For coforest on categories; elsewhere COF_INIT_KMEANS */
    COF_INIT_KMEANS = 1,    /* one-hot k-means from k-means++ seeds */
    COF_INIT_FARTHEST = 2,  /* k-modes from rows far apart */
    COF_INIT_RANDOM = 3,    /* k-modes from distinct random rows: the paper's start */
    COF_INIT_MODESPP = 4,   /* k-modes from rows drawn by distance to the nearest one chosen */
    COF_INIT_CAO = 5        /* k-modes from dense rows far apart (Cao, Liang and Bai 2009); no chance in it */
} cof_init;

typedef enum cof_select {
    COF_SELECT_AUTO = 0,       /* balance for the portfolio, likelihood for other starts */
    COF_SELECT_BALANCE = 1,    /* gains in likelihood and in tightness, docs/choices.md */
    COF_SELECT_LIKELIHOOD = 2, /* the greatest integrated likelihood */
    COF_SELECT_OBJECTIVE = 3   /* the least L */
} cof_select;

typedef enum cof_missing {
    COF_MISSING_VALUE = 0,  /* a value of its own, after the others in order */
    COF_MISSING_IGNORE = 1, /* the cell adds nothing to any distance */
    COF_MISSING_DROP = 2,   /* the row takes no part and gets label -1 */
    COF_MISSING_ERROR = 3
} cof_missing;

typedef enum cof_stop {
    COF_STOP_CONVERGED = 0, /* the forest's own partition came back */
    COF_STOP_CYCLE = 1,     /* an earlier partition came back; the best one met is kept */
    COF_STOP_CAP = 2,       /* max_passes or max_rebuilds was reached */
    COF_STOP_STOPPED = 3    /* should_stop said so; what was reached by then is kept */
} cof_stop;

enum { COF_MOST_CLUSTERS = 65535 };

typedef struct cof_fit_options {
    size_t struct_size;
    uint32_t k; /* clusters wanted, 1 to COF_MOST_CLUSTERS; the one member without a default */
    uint32_t
        restarts; /* 0 -> 10. Of the portfolio 20 below 2^20 cells; more, up to 100, on the smallest tables, 2^21 /
                          (cells x k), and with many clusters, 4 k but no more than 2^26 / (cells x k); rows that are
                          folded count once. Always 1 with init_rows or COF_INIT_CAO */
    uint64_t seed;         /* 0 is an ordinary seed */
    int32_t variant;       /* cof_variant */
    int32_t init;          /* cof_init */
    int32_t select;        /* cof_select: which restart is kept */
    int32_t missing;       /* cof_missing */
    uint32_t max_rebuilds; /* forests per restart; 0 -> 51 */
    uint32_t max_passes;   /* passes per forest, and of the start; 0 -> 51 */
    uint32_t threads;      /* 0 -> all cores; labels do not depend on it */
    const uint64_t
        *init_rows;        /* k distinct rows as first modes of the k-modes start, cluster j from the j-th */
    const double *weights; /* one per row, finite, >= 0; NULL: the weight column, or 1 each */
    const char *method;    /* one of cof_method_name; NULL: "coforest" */
} cof_fit_options;

typedef struct cof_fit_info { /* set struct_size first */
    size_t struct_size;
    double objective;          /* L of the paper, summed over rows and their weights */
    double log_likelihood;     /* integrated likelihood of the partition, natural logarithm */
    uint32_t best_restart;     /* the one kept, from 0 */
    uint32_t n_restarts;       /* run to the end */
    uint32_t rebuilds, passes; /* of the one kept */
    int32_t stop_reason;       /* cof_stop, of the one kept; COF_STOP_STOPPED if restarts were cut short */
    uint32_t n_empty;          /* clusters without rows */
    uint64_t n_rows;           /* rows clustered */
    uint64_t n_dropped;        /* rows left out for missing values */
    uint64_t n_distinct_rows;  /* 0: not counted, because in a large table few rows seemed to be equal */
    uint32_t threads;          /* used */
    const char *kernel;        /* the pass that walked the rows; fixed text */
    uint64_t row_visits;       /* rows labelled, over all restarts and passes, known ones included */
    double prepare_s, start_s, pass_s, forest_s, fit_s; /* seconds; fit_s is the whole call */
    double mixture_log_likelihood, bic; /* of the lca mixture, least BIC is best; NaN for other methods */
    uint32_t restarts;                  /* planned */
    int32_t init, select; /* what was done: COF_SELECT_AUTO and a portfolio that cannot be are resolved */
    double
        log_likelihood_of_one; /* of all rows in one cluster; log_likelihood not above it: no structure was found. NaN where
                                     columns are numeric, which it does not count */
} cof_fit_info;

typedef struct cof_model cof_model; /* forest, profiles, dictionaries, and the labels if it was just fitted */

/* The table may be freed afterwards. info may be NULL. */
COF_API cof_status cof_fit(const cof_table *table, const cof_fit_options *options, cof_model **out,
                           cof_fit_info *info, cof_error *err);

/* The same with k unknown: fits every k from k_min (0 -> 1) to k_max and keeps the one whose likeliest restart has the
 * greatest integrated likelihood; of equals the least. 1 means that no structure was found. options->k is not read.
 * With k_max 0 it goes upward until COF_AUTO_STALE numbers in a row were no better, at most COF_AUTO_MOST of them. A k
 * that the distinct rows do not allow ends the search; the first one failing is an error. Times and row visits in info
 * are those of all fits. */
#define COF_AUTO_STALE 4
#define COF_AUTO_MOST  64
COF_API cof_status cof_fit_auto(const cof_table *table, const cof_fit_options *options, uint32_t k_min,
                                uint32_t k_max, cof_model **out, cof_fit_info *info, cof_error *err);
COF_API void cof_model_free(cof_model *model); /* NULL is fine */

/* ---- What a model knows ------------------------------------------------------------------------ */

typedef struct cof_attribute { /* a view; dies with its model */
    const char *name;
    uint32_t n_values; /* values of the tree; a missing value counts under COF_MISSING_VALUE */
    int32_t used;      /* zero: constant, so it takes no part and has no tree */
    int32_t ordinal;
} cof_attribute;

typedef struct cof_edge { /* of an order tree */
    uint32_t u, v;        /* value ids; u joined the tree before v */
    double length;        /* in [0, sqrt 2] under COF_VARIANT_PAPER */
} cof_edge;

typedef struct cof_pass_record {
    uint32_t restart; /* from 0 */
    uint32_t rebuild; /* forests rebuilt before this pass, Algorithm 1's outer counter */
    uint32_t pass;    /* from 1 within the restart, its inner counter */
    double objective; /* L; in a start refined by the likelihood minus the logarithm of that of its rows */
    uint64_t moved;   /* rows that changed cluster, by weight 1 each */
} cof_pass_record;

typedef struct cof_restart_record {
    double objective, log_likelihood;
    uint32_t rebuilds, passes;
    int32_t stop_reason;
    double criterion; /* what the choice between them went by, larger is better */
    int32_t
        by_likelihood; /* nonzero: rows went to their likeliest cluster, not the nearest, and the objectives of
                              its passes are in those units */
} cof_restart_record;

/* The methods, in the order to show them; NULL past the last. */
#define COF_HAVE_METHODS 1
COF_API size_t cof_method_count(void);
COF_API const char *cof_method_name(size_t method);
COF_API const char *cof_method_title(size_t method);

/* How far apart the values of each column are to a method that measures them once, before it clusters: lsm,
 * cbdm, udm, hdc, adc. distances[c] receives those of table column c, o x o, where o is its n_values, one more
 * if it has missing cells and they count as a value; zero for a column that is constant or no attribute; NULL:
 * not wanted. COF_ERR_ARGUMENT for other methods. Forests learn theirs: ask cof_model_distance. */
COF_API cof_status cof_value_distances(const cof_table *table, const cof_fit_options *options,
                                       double *const *distances, cof_error *err);

COF_API uint32_t cof_model_k(const cof_model *model);
COF_API const char *cof_model_method(const cof_model *model);
COF_API int32_t cof_model_variant(const cof_model *model);
COF_API int32_t cof_model_missing(const cof_model *model);
/* Labels of the fitted table's rows, 0..k-1, -1 for a dropped row. Lent. NULL and 0 for a loaded model. */
COF_API const int32_t *cof_model_labels(const cof_model *model, size_t *n_labels);
COF_API const double *cof_model_sizes(const cof_model *model); /* k sums of row weights. Lent. */
COF_API size_t cof_model_n_attributes(const cof_model *model);
COF_API cof_status cof_model_attribute(const cof_model *model, size_t attribute, cof_attribute *view);
COF_API const char *cof_model_value(const cof_model *model, size_t attribute,
                                    uint32_t value); /* NULL out of range */
/* p(v|C_j). NaN out of range, and for a cluster without rows. */
COF_API double cof_model_profile(const cof_model *model, size_t attribute, uint32_t value, uint32_t cluster);
/* Weight of the rows of cluster j that hold the value. 0 out of range. */
COF_API double cof_model_count(const cof_model *model, size_t attribute, uint32_t value, uint32_t cluster);
/* Edges of the attribute's order tree in the order they were found. Lent; NULL and 0 if it has none. */
COF_API const cof_edge *cof_model_edges(const cof_model *model, size_t attribute, size_t *n_edges);
/* Length of the trace between two values; NaN if one is out of range or not in the tree. */
COF_API double cof_model_distance(const cof_model *model, size_t attribute, uint32_t u, uint32_t v);

/* Where an attribute that is a quantity was cut, ascending: value b, but for a missing one, holds the points from edge
 * b - 1 up to but not including edge b. Dates are in seconds since 1970. Lent; NULL and 0 if it is none. */
COF_API const double *cof_model_cut(const cof_model *model, size_t attribute, size_t *n_edges);

typedef enum cof_five { /* five numbers of a quantity in a cluster */
                        COF_FIVE_LEAST = 0,
                        COF_FIVE_QUARTER = 1,
                        COF_FIVE_MEDIAN = 2,
                        COF_FIVE_THREE_QUARTERS = 3,
                        COF_FIVE_MOST = 4,
                        COF_N_FIVE = 5
} cof_five;

/* COF_N_FIVE numbers by cof_five, from up to 65,536 rows of the table fitted; NaN where the cluster has no value.
 * Lent; NULL if the attribute is no quantity. */
COF_API const double *cof_model_five(const cof_model *model, size_t attribute, uint32_t cluster);
/* A point of a quantity as text: 38.5, $12, 2024-03-31. Writes at most `room` bytes, at least 1, and returns text. */
COF_API const char *cof_model_show_point(const cof_model *model, size_t attribute, double point, char *text,
                                         size_t room);

COF_API const cof_pass_record *cof_model_history(const cof_model *model, size_t *n_records);
/* How far each restart agrees with the kept one: the adjusted Rand index of their partitions over up to 65,536
 * rows, 1 for the kept one itself. As many as cof_model_restarts tells; lent; NULL where there was one restart. */
COF_API const double *cof_model_agreement(const cof_model *model);
/* The mean over the other restarts; NaN where there was only one. */
COF_API double cof_model_mean_agreement(const cof_model *model);
/* How far the restarts agree about each cluster: the rows it has in common with its nearest counterpart over the rows of
 * either (Jaccard), mean over the other good restarts, those whose likelihood gained nine tenths of what the kept one
 * gained over a single cluster. k of them; lent; NULL where there was no such restart or k is above 1024. n_good may be
 * NULL. */
COF_API const double *cof_model_cluster_agreement(const cof_model *model, uint32_t *n_good);
COF_API const cof_restart_record *cof_model_restarts(const cof_model *model, size_t *n_records);
/* How many restarts, the kept one among them, came to its likelihood (its objective, where that decides), and so in all
 * likelihood to its partition. */
COF_API size_t cof_model_n_alike(const cof_model *model);

typedef struct cof_k_record {
    uint32_t k;
    double log_likelihood; /* the greatest of its restarts */
} cof_k_record;

/* Every number of clusters that cof_fit_auto tried, ascending. Lent; NULL and 0 where k was given. */
COF_API const cof_k_record *cof_model_k_curve(const cof_model *model, size_t *n_records);
/* The likeliest of them but for the one kept; 0: there is none. */
COF_API uint32_t cof_model_k_runner_up(const cof_model *model);
COF_API size_t cof_model_kept(const cof_model *model);    /* which of them it is, from 0 */
COF_API int32_t cof_model_select(const cof_model *model); /* cof_select: what it was kept by */

/* ---- Results, field by field ------------------------------------------------------------------- */

typedef enum cof_field_type {
    COF_FIELD_COUNT = 0,
    COF_FIELD_INDEX = 1, /* a count from 0; programs for people add 1 */
    COF_FIELD_REAL = 2,
    COF_FIELD_TEXT = 3,
    COF_FIELD_FLAG = 4,   /* count is 0 or 1 */
    COF_FIELD_OBJECT = 5, /* has no value itself; its members follow in the table */
    COF_FIELD_RECORDS = 6 /* a list of such objects */
} cof_field_type;

typedef struct cof_field {
    const char *key;     /* as in JSON */
    const char *inside;  /* key of the object or list it is a member of; NULL: of the result */
    int32_t type;        /* cof_field_type */
    int32_t per_cluster; /* nonzero: a list of k values */
    const char *about;   /* one line of text */
} cof_field;

typedef struct cof_field_value { /* the member that fits the type is set */
    int32_t known;               /* zero: null */
    uint64_t count;
    double real;
    const char *text; /* dies with the model */
} cof_field_value;

/* What is known of a model and its fit, in the order to show it; NULL past the last. Writers of JSON, manuals and
 * bindings for other languages walk this table, so that a new field appears everywhere. */
COF_API const cof_field *cof_result_field(size_t field);
/* How many values the field has: 1, k, or the number of records; 0: this result does not have it. For a member of a
 * list, values of one record. info may be NULL, as for a loaded model. */
COF_API size_t cof_result_length(const cof_model *model, const cof_fit_info *info, size_t field);
/* `at` counts clusters or records; below the length of the field, or of the list it is a member of. */
COF_API cof_field_value cof_result_value(const cof_model *model, const cof_fit_info *info, size_t field,
                                         size_t at);

/* ---- Labelling rows ------------------------------------------------------------------------------ */

typedef struct cof_predict_info { /* set struct_size first */
    size_t struct_size;
    uint64_t n_unseen_cells; /* cells with a value the model never met: they add nothing */
    uint64_t n_unseen_rows;  /* rows with at least one such cell */
    uint64_t n_dropped;      /* rows left out for missing values, label -1 */
} cof_predict_info;

/* Labels for the rows of a table that has the model's attributes, found by name. A value the model never
 * met adds the same to every cluster, that is nothing; ties go to the lowest cluster. info may be NULL. */
COF_API cof_status cof_model_predict(const cof_model *model, const cof_table *table, uint32_t threads,
                                     int32_t *labels, size_t n_labels, cof_predict_info *info,
                                     cof_error *err);
/* Distance of every row to every cluster, n_rows x k, row-major; NaN for a dropped row, infinity for a
 * cluster that can take no rows. */
COF_API cof_status cof_model_transform(const cof_model *model, const cof_table *table, uint32_t threads,
                                       double *distances, size_t n_distances, cof_error *err);

typedef struct cof_margin {
    float own;      /* distance to the row's own cluster; NaN for a row without one */
    float other;    /* to the nearest other cluster; infinity if there is none */
    int32_t second; /* that one; -1 if there is none */
} cof_margin;

/* How clearly every row belongs where it is, one margin a row; labels are the clusters the rows are in. */
COF_API cof_status cof_model_margins(const cof_model *model, const cof_table *table, const int32_t *labels,
                                     uint32_t threads, cof_margin *margins, size_t n_margins, cof_error *err);
/* 1 - own / other: 0 on the border between two clusters, 1 for a row that fits its own exactly; 0 without one. Below
 * COF_CLOSE_LEAD we call it close. */
#define COF_CLOSE_LEAD 0.05
COF_API double cof_margin_lead(const cof_margin *margin);

/* Receives text or bytes in pieces; nonzero stops the writer with COF_ERR_IO. */
typedef int (*cof_sink)(void *ctx, const char *text, size_t n_bytes);

/* Where the columns of a table were cut, a line each: name=edge,edge,... as `coforest fit --cut` reads it. */
COF_API cof_status cof_table_write_cuts(const cof_table *table, cof_sink sink, void *ctx, cof_error *err);

/* The file format is described in docs/model-format.md. Saving writes a temporary file beside `path` and
 * renames it, so `path` is never half-written. */
COF_API cof_status cof_model_save(const cof_model *model, const char *path, cof_error *err);
/* The same bytes into a sink: for cof_model_load_memory later. */
COF_API cof_status cof_model_write(const cof_model *model, cof_sink sink, void *ctx, cof_error *err);
COF_API cof_status cof_model_load(const cof_env *env, const char *path, cof_model **out, cof_error *err);
COF_API cof_status cof_model_load_memory(const cof_env *env, const char *name, const void *bytes,
                                         size_t n_bytes, cof_model **out, cof_error *err);

typedef enum cof_drawing {
    COF_DRAW_TEXT = 0,
    COF_DRAW_DOT = 1,
    COF_DRAW_SVG = 2,
    COF_DRAW_JSON = 3
} cof_drawing;

/* Draws the tree of one attribute. */
COF_API cof_status cof_model_draw_tree(const cof_model *model, size_t attribute, int32_t drawing,
                                       cof_sink sink, void *ctx, cof_error *err);

/* ---- Scores ------------------------------------------------------------------------------------ */

typedef struct cof_scores { /* set struct_size first */
    size_t struct_size;
    uint64_t n; /* items compared: those with both labels >= 0 */
    uint32_t n_clusters, n_classes;
    double ca;            /* accuracy under the best one-to-one matching */
    double ari, nmi, ami; /* nmi by sqrt(H(C) H(Y)); ami by the arithmetic mean */
    double purity;
    double homogeneity, completeness, v_measure;
} cof_scores;

/* Compares a clustering with classes. Labels are any integers below 2^31; negative ones are left out.
 * Both partitions trivial: ari, nmi and ami are 1 if they are equal, else 0. */
COF_API cof_status cof_evaluate(const cof_env *env, const int32_t *clusters, const int32_t *classes, size_t n,
                                cof_scores *out, cof_error *err);
typedef struct cof_score {
    const char *key;   /* as in JSON: "ari" */
    const char *name;  /* for people: "ARI" */
    const char *about; /* one line of text */
} cof_score;
/* The scores in the order to show them; NULL past the last. */
COF_API const cof_score *cof_score_at(size_t score);
COF_API double cof_score_value(const cof_scores *scores, size_t score);
/* The matching behind ca: class_of[j] is the class matched with cluster j, -1 for none. Both arrays hold
 * labels 0..n-1; the table is n_clusters x n_classes, row-major, of counts. */
COF_API cof_status cof_match(const cof_env *env, const uint64_t *table, uint32_t n_clusters,
                             uint32_t n_classes, int32_t *class_of, cof_error *err);

/* ---- For programs around the library ------------------------------------------------------------ */

/* Files that appear under their names only when they are complete. Each one waits in its target's folder under a
 * random name, with the permissions of the file it replaces; a crash leaves at most such a hidden file, which the
 * next output opened in that folder removes. A link to a file stays, and the file it leads to is replaced; a link to
 * nothing is refused. path "-" is standard output; it, devices and pipes are written directly and never wait. */
typedef struct cof_output cof_output;
COF_API cof_status cof_output_open(const cof_env *env, const char *path, cof_output **out, cof_error *err);
COF_API cof_status cof_output_write(cof_output *output, const void *bytes, size_t n_bytes, cof_error *err);
/* Brings all bytes to the disk; nothing can be written afterwards. Publishing finishes what is not finished, so this
 * is for programs that want to hear of a full disk file by file. */
COF_API cof_status cof_output_finish(cof_output *output, cof_error *err);
/* The next three end the handles, NULL among them being fine. Publish gives all files their names together: if one
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

/* JSON, written piece by piece to a sink: one object or array inside another, at most 31 deep; commas and
 * indentation are added here. `key` is NULL inside an array. Bytes that are not UTF-8 become U+FFFD, a text that is
 * NULL and a number that is not finite become null. */
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

/* ---- What a partition says ------------------------------------------------------------------------ */

typedef enum cof_trait_side {
    COF_TRAIT_MORE = 0, /* values a cluster holds more often than the table does */
    COF_TRAIT_LESS = 1
} cof_trait_side;

typedef struct cof_trait {
    size_t attribute;
    uint32_t value;
    double here, cluster; /* weight of the cluster's rows with the value, and of all its rows */
    double anywhere, all; /* the same in the table */
    double evidence;      /* G statistic of value against cluster; at 10.8 chance would do it once in 1000 */
} cof_trait;

/* The values that mark each cluster, at most `most` of them, most evidence first: those of cluster j begin
 * at traits[j * most], n_traits[j] of them. */
COF_API cof_status cof_model_traits(const cof_model *model, int32_t side, size_t most, cof_trait *traits,
                                    size_t *n_traits, cof_error *err);
/* For every attribute the share of the uncertainty about the cluster that it removes, 0 to 1, less what
 * chance alone would: mutual information over the clusters' entropy. */
COF_API cof_status cof_model_importance(const cof_model *model, double *importance, size_t n_attributes,
                                        cof_error *err);

/* ---- A map of the rows ---------------------------------------------------------------------------- */

typedef struct cof_map cof_map; /* rows of a table, placed by cof_embed */

typedef struct cof_map_point {
    uint64_t row;    /* of the table: the first of those it stands for */
    uint64_t n_rows; /* equal rows, among those looked at */
    double x, y;
} cof_map_point;

typedef struct cof_embed_options {
    size_t struct_size;
    uint64_t seed;
    double perplexity;    /* neighbours that matter to a point; 0 -> 30, never above a third of the points */
    uint32_t most_points; /* distinct rows beyond it are sampled; 0 -> 1500, fewer if attributes are many */
    uint32_t steps, threads;
    uint64_t most_cells; /* of a table with more, only a sample of rows is looked at; 0 -> 40 million */
} cof_embed_options;

/* Places the distinct rows of a table that has the model's attributes, by the distances the model learned. */
COF_API cof_status cof_embed(const cof_model *model, const cof_table *table, const cof_embed_options *options,
                             cof_map **out, cof_error *err);
COF_API const cof_map_point *cof_map_points(const cof_map *map, size_t *n_points); /* Lent. */
COF_API uint64_t cof_map_n_distinct(const cof_map *map);                           /* 0: not counted */
COF_API void cof_map_free(cof_map *map);                                           /* NULL is fine */
/* The map as SVG, coloured by cluster; labels are those of the table's rows, a negative one is grey. */
COF_API cof_status cof_map_draw(const cof_map *map, const cof_model *model, const cof_table *table,
                                const int32_t *labels, cof_sink sink, void *ctx, cof_error *err);

/* ---- The report ----------------------------------------------------------------------------------- */

typedef struct cof_report_fact {
    const char *name, *value;
} cof_report_fact;

typedef struct cof_report_options {
    size_t struct_size;
    const char *source;    /* what the table is called; NULL: not said */
    const int32_t *labels; /* clusters of the table's rows; NULL: the model's own, or predicted */
    size_t n_labels;
    const char *const *left_out;  /* for every column of the table why it takes no part, NULL where it does;
                                     NULL: told from the columns' roles */
    const cof_report_fact *facts; /* further lines on how the model was made */
    size_t n_facts;
    const char *const *notes; /* what a reader should be warned of */
    size_t n_notes;
    uint64_t seed; /* of the map */
    double perplexity;
    uint32_t most_points; /* of the map, as in cof_embed_options */
    uint32_t threads;
    uint64_t n_distinct_rows; /* as cof_fit_info has it; 0: counted if the table is not too large */
} cof_report_options;

/* A page to look at: one HTML file that needs nothing else, neither a network nor a script. With a table
 * (roles as they were set for the fit) it shows rows, their map and, where there is a label column, scores; without
 * one what the model's counts tell. */
COF_API cof_status cof_report_write(const cof_model *model, const cof_table *table,
                                    const cof_report_options *options, cof_sink sink, void *ctx,
                                    cof_error *err);

/* ---- How fast it is here ------------------------------------------------------------------------ */

typedef enum cof_work {
    COF_WORK_READ = 0,  /* every code read once: what no pass can beat */
    COF_WORK_FIRST = 1, /* a pass that labels and counts every row */
    COF_WORK_AGAIN = 2  /* a pass that scores every row, and none moves */
} cof_work;

typedef struct cof_speed {
    int32_t work;           /* cof_work */
    const char *kernel;     /* what walked the rows; fixed text; NULL for reading */
    int32_t chosen;         /* nonzero: a fit of this table would take that kernel */
    uint32_t threads;       /* used */
    double elapsed_s;       /* median of the rounds, by the clock */
    double least_s, most_s; /* the quickest round and the slowest */
    double processor_s;     /* median, all threads together: other work on the machine counts less */
} cof_speed;

typedef struct cof_measure_options {
    size_t struct_size;
    uint32_t k;          /* 0 -> 5; at most COF_MOST_CLUSTERS */
    uint32_t threads;    /* 0 -> all cores; where there are more than one, one alone is measured too */
    uint32_t rounds;     /* 0 -> 5; each times everything once, and one more goes before them */
    uint64_t seed;       /* of the scores */
    int32_t chosen_only; /* nonzero: leave out the kernels that a fit of this table would not take */
} cof_measure_options;

enum { COF_MOST_SPEEDS = 32 };

/* Times passes over a table's attributes with every kernel this processor has. `speeds` has room for
 * COF_MOST_SPEEDS; first come those of all threads, then those of one, each time reading before the kernels and the
 * fastest kernel before the others. COF_ERR_BACKEND if two kernels give different labels, which must not happen. */
COF_API cof_status cof_measure(const cof_table *table, const cof_measure_options *options, cof_speed *speeds,
                               size_t *n_speeds, cof_error *err);

/* ---- Comparing methods --------------------------------------------------------------------------- */

typedef struct cof_friedman_result { /* set struct_size first */
    size_t struct_size;
    double chi_square, p;           /* of Friedman's test, p of its chi-square with df degrees of freedom */
    double chi_square_tied, p_tied; /* corrected for ties; NaN and 1 if every dataset ties all methods */
    double f, p_f;                  /* Iman and Davenport's form, from the uncorrected chi-square */
    uint32_t df, f_df1, f_df2;
} cof_friedman_result;

/* Do methods differ over datasets? value is n_datasets x n_methods, row-major; NaN is missing and ranks
 * last. mean_rank receives n_methods ranks, 1 the best, ties averaged; it and out may be NULL. */
COF_API cof_status cof_friedman(const cof_env *env, const double *value, size_t n_datasets, size_t n_methods,
                                int32_t larger_is_better, double *mean_rank, cof_friedman_result *out,
                                cof_error *err);
/* Bonferroni and Dunn: how far a mean rank must lie from the control's to differ at level alpha. */
COF_API double cof_critical_difference(size_t n_datasets, size_t n_methods, double alpha);

#ifdef __cplusplus
}
#endif
#endif
