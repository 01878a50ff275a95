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
 * This header holds what most programs need, and it changes rarely. coforest_extra.h holds the rest and includes this
 * one; what it declares may still change between minor versions.
 *
 * Arguments come in the order subject, inputs, options, outputs, error. Outputs are written only on COF_OK. Rows,
 * columns, values and clusters count from 0.
 *
 * Structs. One that starts with `struct_size` can grow at its end: set struct_size to sizeof the struct before the
 * call. In options set the rest to zero, which always means "the default". Structs without struct_size are frozen:
 * arrays of them pass between you and the library, so that their layout never changes.
 *
 * Ownership. A function with `cof_thing **out` makes a handle that you end with cof_thing_free, which accepts NULL. A
 * pointer that a function returns is lent: it belongs to the handle, is valid until the handle is changed or freed,
 * and must not be freed. What you pass in is copied where it is needed after the call.
 *
 * Errors. A function that returns cof_status can return COF_ERR_ARGUMENT for a call that makes no sense and
 * COF_ERR_MEMORY; a long one also COF_ERR_STOPPED, if you asked it to stop. Comments name the other failures. Handles
 * must not be NULL except where a comment says so.
 *
 * Cost. A function without a stated cost takes constant time and allocates nothing.
 *
 * Threads. No state lives outside the handles. Any number of threads may use a handle at the same time through
 * functions that take it as const; a function that changes a handle needs it alone. Results do not depend on the number
 * of threads. Each handle keeps a copy of the cof_env it was made with. */
#ifndef COFOREST_H
#define COFOREST_H

#include <stddef.h>
#include <stdint.h>

#define COF_VERSION_MAJOR 0
#define COF_VERSION_MINOR 2
#define COF_VERSION_PATCH 0

#if defined(_WIN32) || !defined(__GNUC__)
#define COF_API
#else
#define COF_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status and errors ------------------------------------------------------------------------------ */

/* 0 is success, negative numbers are failures, grouped by tens. A released number never changes its meaning. */
typedef enum cof_status {
    COF_OK = 0,
    COF_ERR_MEMORY = -1,         /* the allocator returned NULL */
    COF_ERR_ARGUMENT = -2,       /* the call itself is wrong: an option, a column name, a size */
    COF_ERR_IO = -10,            /* the system failed to open, read or write a file */
    COF_ERR_DATA = -11,          /* the input is not a table, or lacks what the call needs */
    COF_ERR_MODEL = -12,         /* not a model file, or a damaged one */
    COF_ERR_TOO_NEW = -13,       /* a model file of a later format than this library knows */
    COF_ERR_UNSUPPORTED = -14,   /* this build lacks what the input needs, for example gzip or zstd */
    COF_ERR_NO_PREDICTION = -15, /* the model has no distances from rows to clusters: it labels no rows */
    COF_ERR_FEW_ROWS = -20,      /* fewer distinct rows than clusters */
    COF_ERR_NO_COLUMNS = -21,    /* no column is left that tells rows apart */
    COF_ERR_MISSING = -22,       /* a missing value where COF_MISSING_ERROR forbids one */
    COF_ERR_NO_RESULT = -23,     /* the method has no result for this table; the error text says why */
    COF_ERR_BACKEND = -30,       /* threads or a device failed */
    COF_ERR_NO_BACKEND = -31,    /* a backend was asked for that this build or machine lacks */
    COF_ERR_STOPPED = -40        /* should_stop ended the call before there was a result to keep */
} cof_status;

/* A fixed text for a status; never NULL, also for numbers that are no status. */
COF_API const char *cof_status_text(cof_status status);
/* The version of the library that is linked, "major.minor.patch". Fixed text. */
COF_API const char *cof_version(void);
/* Optional parts that were built in, for example "gzip, zstd". Fixed text. */
COF_API const char *cof_build_info(void);

/* One sentence about a failure: what, where, what to do. You own it, usually on the stack. NULL is accepted wherever
 * one is taken. Its text is written only when a call fails. */
typedef struct cof_error {
    char text[512];
} cof_error;

/* ---- What the host lends ---------------------------------------------------------------------------- */

typedef enum cof_phase {
    COF_PHASE_READ = 1,
    COF_PHASE_START = 2,
    COF_PHASE_FIT = 3,
    COF_PHASE_GENERATE = 4
} cof_phase;

/* How far a long call has come. The library makes it, and it may grow at its end. */
typedef struct cof_progress {
    int32_t phase;     /* cof_phase */
    uint32_t restart;  /* the one running, from 1; 0 where nothing is fitted */
    uint32_t restarts; /* how many there will be */
    uint32_t rebuild;  /* forests rebuilt so far in this restart */
    uint32_t pass;     /* passes so far in this restart */
    /* Reading: bytes (total 0: unknown). Generating: rows. Benchmarking: things timed. Fitting: rows that moved in the
     * latest pass, and rows. */
    uint64_t done, total;
    double elapsed_s;  /* since the call began */
    double rows_per_s; /* rows visited in a second, over the whole call */
    uint32_t k;        /* clusters being made; 0 where nothing is fitted */
} cof_progress;

/* Memory, progress and cancellation. A NULL env, or a NULL member: the C library's memory, no progress, never stop.
 *
 * Set both alloc and release or neither. Worker threads call them too, so both must be thread-safe. should_stop and
 * progress are called only on the thread that made the call, between passes over the rows or blocks of input. No
 * callback may call back into a handle that is being changed, and none may leave by longjmp or an exception. */
typedef struct cof_env {
    size_t struct_size;
    void *(*alloc)(void *ctx, size_t bytes); /* may return NULL; aligned as malloc's blocks are */
    void (*release)(void *ctx, void *block); /* never called with NULL */
    int (*should_stop)(void *ctx);           /* nonzero ends the call */
    void (*progress)(void *ctx, const cof_progress *progress);
    void *ctx;
} cof_env;

/* ---- Tables ------------------------------------------------------------------------------------------- */

/* Rows as value ids, with one dictionary for each column. Values are numbered in numeric order if every value of the
 * column is an integer, otherwise in byte order of their text. A missing cell has the id after the last value. */
typedef struct cof_table cof_table;

/* How the characters of a file are written. */
typedef enum cof_charset {
    COF_CHARSET_UTF8 = 0,
    COF_CHARSET_LATIN1 = 1 /* ISO 8859-1, or Windows-1252, which has characters where that has none */
} cof_charset;

typedef struct cof_read_options {
    size_t struct_size;
    char delimiter;        /* 0: tab for .tsv and .tab, otherwise guessed from the first line */
    int32_t no_header;     /* nonzero: the first line is data, columns are named V1, V2, ... */
    const char *const *na; /* texts that mean "missing"; NULL: "", "?" and "NA" */
    size_t n_na;           /* length of na; 0 with a non-NULL na: no text means "missing" */
    uint32_t threads;      /* 0 -> all cores that the process may use */
    int32_t charset;       /* cof_charset */
    uint64_t
        first_row;   /* of an encoded table: read n_rows rows from this one on; other rows are left alone */
    uint64_t n_rows; /* 0: all that follow first_row */
} cof_read_options;

/* Reads CSV or TSV: RFC 4180 quoting, UTF-8 with or without a byte order mark or Latin-1, LF or CRLF. gzip, zstd and
 * encoded tables (coforest_extra.h) are recognised by their first bytes. path "-" is standard input. options may be NULL.
 * Error texts name file, line and column.
 * Fails with COF_ERR_IO, COF_ERR_DATA, COF_ERR_UNSUPPORTED (also for some rows of a table that is not encoded), and with
 * COF_ERR_ARGUMENT if the table does not have the rows asked for. Time and memory are proportional to the file; the table
 * keeps 1, 2 or 4 bytes for each cell and every distinct value once. */
COF_API cof_status cof_table_read(const cof_env *env, const char *path, const cof_read_options *options,
                                  cof_table **out, cof_error *err);
/* The same from bytes in memory, which may be freed afterwards; `name` stands for the file in error texts. */
COF_API cof_status cof_table_read_memory(const cof_env *env, const char *name, const void *bytes,
                                         size_t n_bytes, const cof_read_options *options, cof_table **out,
                                         cof_error *err);
/* Makes a table of integer codes, row-major, any integers; a negative one is missing. names may be NULL (V1, V2, ...).
 * A value's text is its code in decimal. Everything is copied. Time and memory are proportional to the cells. */
COF_API cof_status cof_table_from_codes(const cof_env *env, const int32_t *codes, size_t n_rows,
                                        size_t n_columns, const char *const *names, cof_table **out,
                                        cof_error *err);
/* Makes a table of texts, column after column: cells[c * n_rows + i]; a NULL cell is missing. Everything is copied.
 * Time and memory are proportional to the bytes. */
COF_API cof_status cof_table_from_strings(const cof_env *env, const char *const *cells, size_t n_rows,
                                          size_t n_columns, const char *const *names, cof_table **out,
                                          cof_error *err);
/* The table that is compiled into the library, for trying things out: UCI Zoo, 101 animals. */
COF_API cof_status cof_table_demo(const cof_env *env, cof_table **out, cof_error *err);
COF_API void cof_table_free(cof_table *table); /* NULL is accepted */

/* What a column is used for. */
typedef enum cof_role {
    COF_ROLE_ATTRIBUTE = 0,  /* clustered on */
    COF_ROLE_LABEL = 1,      /* true classes: compared with the clusters, never clustered on */
    COF_ROLE_IDENTIFIER = 2, /* names the rows */
    COF_ROLE_WEIGHT = 3,     /* how often each row counts, a number >= 0 */
    COF_ROLE_IGNORED = 4,    /* takes no part */
    COF_ROLE_NUMERIC = 5     /* a quantity, for the methods that can use one */
} cof_role;

typedef struct cof_column { /* set struct_size first; the texts are lent by the table */
    size_t struct_size;
    const char *name;
    int32_t role;             /* cof_role */
    int32_t ordinal;          /* nonzero: value ids follow a stated order */
    uint32_t n_values;        /* distinct values, missing not counted */
    uint64_t n_missing;       /* rows without a value */
    const char *missing_text; /* the text of the first missing cell; "" for an empty one */
} cof_column;

COF_API size_t cof_table_n_rows(const cof_table *table);
COF_API size_t cof_table_n_columns(const cof_table *table);
/* Describes a column. COF_ERR_ARGUMENT if there is no such column, or struct_size is not set. */
COF_API cof_status cof_table_column(const cof_table *table, size_t column, cof_column *about);
/* Index of the column of that name, or SIZE_MAX. Looks at one column after the other. */
COF_API size_t cof_table_find(const cof_table *table, const char *name);
/* Text of a value id. Lent, ends with NUL. The missing id gives the column's missing_text. NULL out of range. */
COF_API const char *cof_table_value(const cof_table *table, size_t column, uint32_t value);
/* Value id of a cell; n_values for a missing one. The indices are not checked. */
COF_API uint32_t cof_table_code(const cof_table *table, size_t row, size_t column);
/* Says what a column is used for. Whether its values suit the role is checked by the fit. */
COF_API cof_status cof_table_set_role(cof_table *table, size_t column, int32_t role, cof_error *err);
/* Makes the column ordinal: its values are numbered in the order given. Names that do not occur are skipped.
 * COF_ERR_ARGUMENT if a value that occurs is not named. Time is proportional to the rows. */
COF_API cof_status cof_table_set_order(cof_table *table, size_t column, const char *const *values,
                                       size_t n_values, cof_error *err);

/* ---- Fitting ------------------------------------------------------------------------------------------ */

typedef enum cof_variant {
    COF_VARIANT_PAPER = 0,  /* the paper's equations: every attribute weighs 1, a zero weight is a length 0 */
    COF_VARIANT_AUTHORS = 1 /* the authors' released scaling: 1 / (values - 1), zero weights 1e-8 */
} cof_variant;

typedef enum cof_init {
    /* Two kinds of start in turn: one-hot k-means refined by COForest, and rows far apart refined by the
     * likelihood, each after a few rounds of EM; on a sample first if the table is large. For coforest on
     * categories; other methods use COF_INIT_KMEANS instead, and k-prototypes COF_INIT_RANDOM. */
    COF_INIT_PORTFOLIO = 0,
    COF_INIT_KMEANS = 1,   /* one-hot k-means from k-means++ seeds */
    COF_INIT_FARTHEST = 2, /* k-modes from rows far apart */
    COF_INIT_RANDOM = 3,   /* k-modes from distinct random rows: the paper's start */
    COF_INIT_MODESPP = 4,  /* k-modes from rows drawn by distance to the nearest one chosen */
    COF_INIT_CAO = 5,      /* k-modes from dense rows far apart (Cao, Liang and Bai 2009); deterministic */
    COF_INIT_HUANG = 6     /* k-modes from the rows nearest to values drawn by frequency (Huang 1998) */
} cof_init;

typedef enum cof_select {
    COF_SELECT_AUTO =
        0, /* portfolio: mixture if a quantity was cut, else balance; other starts: objective for lca, kmodes,
              k-prototypes and with numeric columns, else likelihood */
    COF_SELECT_BALANCE = 1,    /* gains in likelihood and in tightness, docs/choices.md */
    COF_SELECT_LIKELIHOOD = 2, /* the greatest integrated likelihood */
    COF_SELECT_OBJECTIVE = 3,  /* the least L; for lca the greatest posterior of EM's parameters */
    COF_SELECT_MIXTURE =
        4 /* the greatest likelihood of the rows when clusters are classes of a mixture, within which
                                  columns are independent and neighbouring bins are alike */
} cof_select;

typedef enum cof_missing {
    COF_MISSING_VALUE = 0,  /* a value of its own, after the others in order */
    COF_MISSING_IGNORE = 1, /* the cell adds nothing to any distance */
    COF_MISSING_DROP = 2,   /* the row takes no part and gets label -1 */
    COF_MISSING_ERROR = 3   /* the fit fails with COF_ERR_MISSING */
} cof_missing;

typedef enum cof_stop {
    COF_STOP_CONVERGED = 0, /* the partition that the forest was built from came back */
    COF_STOP_CYCLE = 1,   /* an earlier partition came back. Of forests the best partition met is kept; within
                               the passes of one forest, the one that running up to max_passes would end with */
    COF_STOP_CAP = 2,     /* max_passes or max_rebuilds was reached */
    COF_STOP_STOPPED = 3, /* should_stop ended the fit; the best result so far is kept */
    COF_STOP_TIME = 4     /* time_limit_s ended the fit; the best result so far is kept */
} cof_stop;

enum { COF_MOST_CLUSTERS = 65535 };

/* How quantities with COF_ROLE_NUMERIC are measured. */
typedef enum cof_scale {
    COF_SCALE_AUTO = 0,  /* deviations for k-prototypes, else the range */
    COF_SCALE_RANGE = 1, /* from 0 to 1 over the table */
    COF_SCALE_Z = 2,     /* from the mean, in standard deviations */
    COF_SCALE_NONE = 3   /* as they are */
} cof_scale;

typedef struct cof_fit_options {
    size_t struct_size;
    uint32_t k; /* clusters wanted, 1 to COF_MOST_CLUSTERS; the one member without a default */
    /* 0 -> 10. For the portfolio 20 below 2^20 cells; more, up to 100, on the smallest tables, 2^21 / (cells x
     * k), and with many clusters, 4 k but at most 2^26 / (cells x k).
     * Always 1 with init_rows or COF_INIT_CAO. */
    uint32_t restarts;
    uint64_t seed;             /* 0 is an ordinary seed */
    int32_t variant;           /* cof_variant */
    int32_t init;              /* cof_init */
    int32_t select;            /* cof_select: which restart is kept */
    int32_t missing;           /* cof_missing */
    uint32_t max_rebuilds;     /* forests in a restart; 0 -> 51 */
    uint32_t max_passes;       /* passes with one forest, and of the start; 0 -> 51 */
    uint32_t threads;          /* 0 -> all cores */
    const uint64_t *init_rows; /* k distinct rows as first modes of k-modes, cluster j from the j-th */
    const double *weights;     /* one for each row, finite, >= 0; NULL: the weight column, or 1 each */
    const char *method;        /* one of cof_method_name; NULL: "coforest" */
    int32_t scale;             /* cof_scale */
    /* Weight of a differing category beside the squared differences of quantities, above 0; or one of COF_GAMMA_...,
     * with k-prototypes. 0 -> 0.5, for ek-prototypes 1, for k-prototypes with COF_SCALE_NONE COF_GAMMA_KMODES. */
    double gamma;
    /* How much each column of the table counts in distances and in the choice of a restart, finite, >= 0, one for each
     * column; NULL: 1 each. COF_ERR_ARGUMENT with a method that does not add up columns. */
    const double *column_weights;
    /* The fit ends when so many seconds have passed, but not before its first restart has ended; 0: no limit. Then the
     * result depends on the speed of the machine. */
    double time_limit_s;
    /* 2 or 3: of the partitions that are nearly as good, the second or third becomes the model (cof_model_alternative);
     * COF_ERR_NO_RESULT if there is none. 0 -> 1. */
    uint32_t keep;
    int32_t
        no_alternatives; /* nonzero: other partitions are not looked for, which saves a restart for each */
    /* The rest is for lca. Pseudo-rows of the overall distribution that smooth each class, at most 1e6; 0 -> 1; COF_PRIOR_NONE:
     * none, so that the parameters have the greatest likelihood. */
    double prior;
    /* EM of the kept restart ends when a round adds less to its objective, the log-likelihood and the smoothing; 0 -> 1e-9.
     * The other restarts end at the share 1e-9 of it. */
    double tolerance;
    /* Rounds of EM of a restart, with those that polish the kept one; 0 -> max_passes if that is set, else 500, and up to
     * 100,000 that polish, fewer for large tables. */
    uint32_t max_rounds;
    /* Where one restart begins, instead of a partition: for each attribute in the order of the columns, and each of its values
     * in the order of their ids (missing last, if it is one), the probabilities in the k classes; n_init_probabilities of
     * them. Classes keep this order; otherwise they are numbered by falling share. */
    const double *init_probabilities;
    size_t n_init_probabilities;
} cof_fit_options;
/* Estimated: half the mean standard deviation of the scaled quantities, as the Python package kmodes does (0.5 for
 * COF_SCALE_Z); or their mean variance over the mean chance that two rows differ in a category, as the R package
 * clustMixType does. */
#define COF_PRIOR_NONE         (-1.0)
#define COF_GAMMA_KMODES       (-1.0)
#define COF_GAMMA_CLUSTMIXTYPE (-2.0)

typedef struct cof_fit_info { /* set struct_size first */
    size_t struct_size;
    double objective;          /* L of the paper, summed over rows and their weights */
    double log_likelihood;     /* integrated likelihood of the partition, natural logarithm */
    uint32_t best_restart;     /* the one kept, from 0 */
    uint32_t n_restarts;       /* finished */
    uint32_t rebuilds, passes; /* of the one kept */
    int32_t
        stop_reason; /* cof_stop, of the one kept; COF_STOP_STOPPED or COF_STOP_TIME if restarts were cut short */
    uint32_t n_empty;         /* clusters without rows */
    uint64_t n_rows;          /* rows clustered */
    uint64_t n_dropped;       /* rows left out for missing values */
    uint64_t n_distinct_rows; /* 0: not counted, because in a large table few rows seemed to be equal */
    uint32_t threads;         /* used */
    const char *kernel;       /* the code that walked the rows; fixed text */
    uint64_t row_visits;      /* rows labelled over all restarts and passes, skipped ones included */
    double prepare_s, start_s, pass_s, forest_s, fit_s; /* seconds; fit_s is the whole call */
    double mixture_log_likelihood, bic; /* of the class model, least BIC is best; NaN where nobody asked */
    uint32_t restarts;                  /* planned */
    int32_t init, select; /* what was used: never COF_SELECT_AUTO, nor a portfolio that is impossible */
    /* Of all rows in one cluster. If log_likelihood is not above it, no structure was found. NaN where columns
     * are numeric, which it does not cover. */
    double log_likelihood_of_one;
    /* Where no structure was found with the k given: a number of clusters that is likelier than one. 0: none of 2 to 5 is,
     * or it was not looked for (another choice of restarts than the default, a large table, a time limit). */
    uint32_t k_instead;
    /* Of the class model, as cof_model_criteria computes them; NaN where nobody asked. The fit of lca sets them but for
     * icl. */
    double aic, icl, n_parameters;
    uint64_t n_shared; /* rows shared between clusters, where icl is known */
    double gamma;      /* weight of a differing category beside quantities; NaN where no method uses one */
    /* As cof_model_criteria computes them; NaN where nobody asked. aic3: three times the parameters instead of twice;
     * bic_adjusted: (n + 2) / 24 instead of n rows; entropy_r_squared: 1 - entropy of the memberships / (n log k). */
    double aic3, bic_adjusted, entropy_r_squared;
    /* Of lca: G and X squared of the cells of the table (of its rows without missing cells), their degrees of freedom, the
     * lesser of the rows and the possible cells less one, less the parameters, and their p values by chi-square. */
    double g_squared, x_squared, df, p_g_squared, p_x_squared;
} cof_fit_info;

/* Forest, profiles, dictionaries, and the labels if it was just fitted. It does not need its table any more. */
typedef struct cof_model cof_model;

/* Clusters the rows of a table on its attribute columns. info may be NULL. If it is stopped, it keeps the best
 * result so far, and fails with COF_ERR_STOPPED only where there is none.
 * Fails with COF_ERR_FEW_ROWS, COF_ERR_NO_COLUMNS, COF_ERR_MISSING, COF_ERR_DATA (weights or quantities that are no
 * numbers), COF_ERR_NO_RESULT, COF_ERR_BACKEND. Time is proportional to restarts x passes x rows x attributes x k;
 * memory to rows x attributes plus values x k. docs/methods.md has the cost of the other methods. */
COF_API cof_status cof_fit(const cof_table *table, const cof_fit_options *options, cof_model **out,
                           cof_fit_info *info, cof_error *err);

/* The same with k unknown: fits every k from k_min (0 -> 1) to k_max, and goes down from the one whose likeliest restart
 * has the greatest integrated likelihood together with a tree of columns that depend on each other inside clusters (of
 * equals the least k) to the first on which halves of the table agree nearly as well as on any smaller one: at least 0.85
 * times as well. The numbers are compared with few restarts, and the one kept is fitted as if it had been given. 1 means
 * that no structure was found: no number is likelier than one cluster. options->k is not read.
 * With k_max 0 it goes upward until COF_AUTO_STALE numbers in a row were no better, at most COF_AUTO_MOST of them. A k
 * above the number of distinct rows ends the search; it is an error only for the first k. Times and row visits in info
 * are those of all fits. */
#define COF_AUTO_STALE 4
#define COF_AUTO_MOST  64
COF_API cof_status cof_fit_auto(const cof_table *table, const cof_fit_options *options, uint32_t k_min,
                                uint32_t k_max, cof_model **out, cof_fit_info *info, cof_error *err);

/* The methods, in the order to show them: name as in cof_fit_options, and a title for people. Fixed texts; NULL past the
 * last. */
COF_API size_t cof_method_count(void);
COF_API const char *cof_method_name(size_t method);
COF_API const char *cof_method_title(size_t method);
/* The starts, numbered as in cof_init, with names as --init says them. NULL past the last. */
COF_API size_t cof_start_count(void);
COF_API const char *cof_start_name(size_t start);
COF_API const char *cof_start_title(size_t start);

/* ---- Models ------------------------------------------------------------------------------------------- */

COF_API void cof_model_free(cof_model *model); /* NULL is accepted */
COF_API uint32_t cof_model_k(const cof_model *model);
COF_API const char *cof_model_method(const cof_model *model);
/* Labels of the fitted table's rows, 0..k-1, -1 for a dropped row. Lent. NULL and 0 for a loaded model. n_labels may be
 * NULL. */
COF_API const int32_t *cof_model_labels(const cof_model *model, size_t *n_labels);
/* The sums of the row weights of the k clusters. Lent. */
COF_API const double *cof_model_sizes(const cof_model *model);

typedef struct cof_attribute { /* set struct_size first; the name is lent by the model */
    size_t struct_size;
    const char *name;
    uint32_t n_values;   /* values of the tree; missing is one of them under COF_MISSING_VALUE */
    int32_t used;        /* zero: constant, so it takes no part and has no tree */
    int32_t ordinal;     /* nonzero: value ids follow a stated order */
    int32_t has_missing; /* nonzero: the last value stands for missing cells */
} cof_attribute;

typedef struct cof_edge { /* of an order tree; frozen */
    uint32_t u, v;        /* value ids; u joined the tree before v */
    double length;        /* in [0, sqrt 2] under COF_VARIANT_PAPER */
} cof_edge;

COF_API size_t cof_model_n_attributes(const cof_model *model);
/* Describes an attribute. COF_ERR_ARGUMENT if there is no such attribute, or struct_size is not set. */
COF_API cof_status cof_model_attribute(const cof_model *model, size_t attribute, cof_attribute *about);
/* Text of a value. Lent, ends with NUL. NULL out of range. */
COF_API const char *cof_model_value(const cof_model *model, size_t attribute, uint32_t value);
/* p(v|C_j), the share of a cluster's rows that hold the value. NaN out of range, and for a cluster without rows. Time is
 * proportional to the values of the attribute. */
COF_API double cof_model_profile(const cof_model *model, size_t attribute, uint32_t value, uint32_t cluster);
/* Edges of the attribute's order tree in the order they were found. Lent; NULL and 0 if it has no tree. n_edges may be
 * NULL. */
COF_API const cof_edge *cof_model_edges(const cof_model *model, size_t attribute, size_t *n_edges);
/* Length of the path between two values of a tree; NaN if one is out of range or not in the tree. Time is proportional
 * to the edges of the path. */
COF_API double cof_model_distance(const cof_model *model, size_t attribute, uint32_t u, uint32_t v);

typedef struct cof_predict_info { /* set struct_size first */
    size_t struct_size;
    uint64_t n_unseen_cells; /* cells with a value that the model does not know: they add nothing */
    uint64_t n_unseen_rows;  /* rows with at least one such cell */
    uint64_t n_dropped;      /* rows left out for missing values, label -1 */
    uint64_t n_blank_rows;   /* rows of which the model knows nothing: every cluster is equally near */
} cof_predict_info;

/* Labels the rows of a table that has the model's attributes, found by name. A value that the model does not know adds
 * nothing to any distance; an attribute of 0 and 1 knows true and false, and the other way round. Of equally near
 * clusters the lowest number wins. labels has room for n_labels, which must be the number of rows. threads 0: all cores.
 * info may be NULL.
 * Fails with COF_ERR_NO_PREDICTION, COF_ERR_MISSING, COF_ERR_DATA (an attribute is not in the table). Time is
 * proportional to rows x attributes x k. */
COF_API cof_status cof_model_predict(const cof_model *model, const cof_table *table, uint32_t threads,
                                     int32_t *labels, size_t n_labels, cof_predict_info *info,
                                     cof_error *err);
/* Distance of every row to every cluster, n_rows x k, row-major, so that n_distances must be rows x k. NaN for a dropped
 * row and for one of which the model knows no cell (a mixture knows its classes' shares), infinity for a cluster that can take no rows. Errors and cost as of cof_model_predict. */
COF_API cof_status cof_model_transform(const cof_model *model, const cof_table *table, uint32_t threads,
                                       double *distances, size_t n_distances, cof_error *err);

/* Receives text or bytes in pieces; nonzero ends the writer with COF_ERR_IO. */
typedef int (*cof_sink)(void *ctx, const char *text, size_t n_bytes);

/* Saves a model; docs/model-format.md describes the file. It is written beside `path` and renamed, so that `path` is
 * never half-written. Fails with COF_ERR_IO. Time is proportional to the file. */
COF_API cof_status cof_model_save(const cof_model *model, const char *path, cof_error *err);
/* The same bytes into a sink, for cof_model_load_memory. */
COF_API cof_status cof_model_write(const cof_model *model, cof_sink sink, void *ctx, cof_error *err);
/* Reads a model file of this or an earlier version. Fails with COF_ERR_IO, COF_ERR_MODEL, COF_ERR_TOO_NEW. */
COF_API cof_status cof_model_load(const cof_env *env, const char *path, cof_model **out, cof_error *err);
/* The same from bytes in memory, which may be freed afterwards; `name` stands for the file in error texts. */
COF_API cof_status cof_model_load_memory(const cof_env *env, const char *name, const void *bytes,
                                         size_t n_bytes, cof_model **out, cof_error *err);

typedef enum cof_drawing {
    COF_DRAW_TEXT = 0, /* lines of UTF-8 */
    COF_DRAW_DOT = 1,  /* for Graphviz */
    COF_DRAW_SVG = 2,
    COF_DRAW_JSON = 3
} cof_drawing;

/* Draws the tree of one attribute, or its values alone where it has no tree. Fails with COF_ERR_IO if the sink
 * refuses. */
COF_API cof_status cof_model_draw_tree(const cof_model *model, size_t attribute, int32_t drawing,
                                       cof_sink sink, void *ctx, cof_error *err);

/* ---- Comparing with classes --------------------------------------------------------------------------- */

typedef struct cof_indices { /* set struct_size first */
    size_t struct_size;
    uint64_t n; /* items compared: those with both labels >= 0 */
    uint32_t n_clusters, n_classes;
    double ca;            /* accuracy under the best one-to-one matching */
    double ari, nmi, ami; /* nmi by sqrt(H(C) H(Y)); ami by the arithmetic mean */
    double purity;
    double homogeneity, completeness, v_measure;
} cof_indices;

/* Compares a clustering with classes, n labels each. Labels are any integers; negative ones are left out. If both
 * partitions are trivial, ari, nmi and ami are 1 for equal ones, else 0. COF_ERR_ARGUMENT if no item has both labels.
 * Time is proportional to n plus the matching behind ca: clusters x classes x the smaller of both. */
COF_API cof_status cof_evaluate(const cof_env *env, const int32_t *clusters, const int32_t *classes, size_t n,
                                cof_indices *out, cof_error *err);

/* ---- The report --------------------------------------------------------------------------------------- */

typedef struct cof_report_fact { /* frozen */
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
    const char *const *notes; /* warnings for the reader */
    size_t n_notes;
    uint64_t seed;            /* of the map */
    double perplexity;        /* of the map, as in cof_embed_options */
    uint32_t most_points;     /* of the map, as in cof_embed_options */
    uint32_t threads;         /* 0 -> all cores */
    uint64_t n_distinct_rows; /* from cof_fit_info; 0: counted if the table is not too large */
    /* what clusters and classes have in common, of all rows if the table is a sample; NULL: of the table's rows */
    const cof_indices *scores;
} cof_report_options;

/* Writes a page about a model: one HTML file that needs no other file, no network and no script. With a table (roles as
 * they were set for the fit) it shows rows, their map and, where there is a label column, indices; without one (NULL)
 * what the model's counts tell. options may be NULL. Fails with COF_ERR_IO if the sink refuses, and as
 * cof_model_predict where labels are predicted. Time is proportional to the table, plus the map: at most a few seconds
 * for 1,500 points. */
COF_API cof_status cof_report_write(const cof_model *model, const cof_table *table,
                                    const cof_report_options *options, cof_sink sink, void *ctx,
                                    cof_error *err);

#ifdef __cplusplus
}
#endif
#endif
