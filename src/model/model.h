/* The result of a fit. */
#pragma once

#include "../core/env.h"
#include "../core/shape.h"
#include "../table/table.h"

enum { COFI_METHOD_BYTES = 64 };

/* A column that was clustered on, or is constant: its domain and its tree. */
typedef struct cofi_model_attr {
    cofi_column domain; /* its texts and arrays are in the blocks of the model */
    uint32_t n_values;  /* those of the domain, and the missing one after them if has_missing */
    bool used;          /* false: the attribute is constant, has no tree and is not clustered on */
    bool has_missing;   /* missing is a value of this attribute */
    uint32_t first;     /* flat id of its first value, if used */
    uint32_t n_edges;
    cof_edge *edge;
    /* per value: parent towards the root; UINT32_MAX at the root and outside the tree */
    uint32_t *parent;
    double *up;     /* per value: length of the edge to the parent */
    uint32_t *hops; /* per value: number of edges to the root; UINT32_MAX outside the tree */
    double *five;   /* k x COF_N_FIVE points; NULL if the attribute is not cut or no row was read */
} cofi_model_attr;

/* A quantity that was kept as a number. */
typedef struct cofi_model_numeric {
    char *name;
    cofi_reading reading;
    double origin, unit;  /* the point of a scaled value is origin + unit * value */
    double least, most;   /* of the scaled values of the table fitted */
    double column_weight; /* in distances */
    double *mean;         /* k scaled means; NaN: unknown */
} cofi_model_numeric;

struct cof_model {
    cof_env env;
    cofi_blocks own; /* everything but the models of the alternatives */
    uint32_t k;
    int32_t variant, missing;
    char method[COFI_METHOD_BYTES]; /* name of the method, NUL-terminated */
    bool no_scores;                 /* new rows cannot be labelled */
    size_t n_attrs;
    cofi_model_attr *attr;
    uint32_t n_flat;    /* number of values of the used attributes */
    uint64_t *count;    /* n_flat x k: summed weight of cluster j's rows that hold value g, in units */
    double unit;        /* units in a weight of 1 */
    double *size;       /* k */
    cofi_scores scores; /* value: n_flat x stride */
    size_t n_numeric;
    cofi_model_numeric *numeric;
    bool absolute;         /* they add differences to their means, not squares */
    double *column_weight; /* n_attrs; NULL: all weigh 1 */
    size_t n_labels;
    int32_t *label; /* labels of the fitted table; NULL if the model was loaded, or fitted over shards */
    unsigned char *label_request; /* the request that makes them, if fitted over shards */
    size_t n_label_request;
    cof_pass_record *history;
    size_t n_history;
    cof_restart_record *restart;
    size_t n_restarts;
    size_t kept;         /* number of the kept restart */
    int32_t select;      /* the criterion by which it was kept */
    int32_t refined_by;  /* cof_refiner */
    double nearer_other; /* share of the rows nearer to another cluster along the trees; NaN: unknown */
    cof_alternative *alternative; /* other partitions that are nearly as good; it owns their models */
    size_t n_alternatives;
    cof_k_record *k_curve; /* every k that was tried; NULL if k was given */
    size_t n_k_curve;
    bool k_at_edge;            /* the likeliest k is at an end of the range */
    double *cluster_agreement; /* k; NULL if there is nothing to compare */
    uint32_t n_good;           /* number of good restarts behind cluster_agreement */
    /* per restart: agreement with the kept one; NULL if there was only one */
    double *agreement;
};

/* Whether the scores of the model are minus the logarithms of probabilities. */
bool cofi_model_is_mixture(const cof_model *model);
/* Returns false if the name is too long, or has other characters than small letters, digits and :_- */
bool cofi_model_set_method(cof_model *model, const char *name, size_t n_bytes);
/* An empty model. The functions below add to its blocks; model->own tells whether memory was short. */
cof_status cofi_model_new(const cof_env *env, cof_model **out, cof_error *err);
void cofi_model_set_shape(cof_model *model, uint32_t k, size_t n_attrs, uint32_t n_flat);
/* Room for the tree of an attribute with n_values values and n_edges edges. */
void cofi_model_set_tree(cof_model *model, cofi_model_attr *attr);
/* Fills parent, up and hops from the edges; false if the edges are not a tree that grows from the first
 * edge's u. */
bool cofi_model_root_tree(cofi_model_attr *attr);
/* Copies the curve. */
cof_status cofi_model_set_k_curve(cof_model *model, const cof_k_record *curve, size_t n, cof_error *err);
